//! Names in tables that lead to pages.

use super::figure::Figure;
use super::{Cell, Document, Kind, Part, Table};

impl Table {
    /// Makes the names of its rows lead to their pages, where there is one.
    pub fn link(&mut self, address: impl Fn(&str) -> Option<String>) {
        let names = self.columns.iter().position(|column| column.kind == Kind::Name);
        for cell in self.rows.iter_mut().filter_map(|row| row.cells.get_mut(names?)) {
            if let Cell::Text(name) = &*cell
                && let Some(address) = address(name)
            {
                *cell = Cell::Link(name.clone(), address);
            }
        }
    }
}

impl Document {
    /// Returns the tables to be changed, drawn ones among them.
    pub fn tables_mut(&mut self) -> impl Iterator<Item = &mut Table> {
        self.parts.iter_mut().filter_map(|part| match part {
            Part::Table(table) => Some(table),
            Part::Figure(figure) => match figure.as_mut() {
                Figure::Table(table) => Some(table),
                _ => None,
            },
            _ => None,
        })
    }
}
