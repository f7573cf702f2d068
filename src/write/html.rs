//! A page in one file: the document with its tables drawn, for a browser without network.

use crate::document::figure::{Figure, Page, Section};
use crate::document::{Cell, Column, Document, Entry, Level, Part, Row, Table};
use crate::text::Tone;

/// Returns the page.
#[must_use]
pub fn document(document: &Document) -> String {
    crate::page::html(&page(document))
}

/// Returns the data of the page: notes that matter first, then a section for each heading.
#[must_use]
pub fn page(document: &Document) -> Page {
    let mut page = Page {
        title: document.title.clone(),
        subtitle: document.lines.join("; "),
        about: document.about.clone(),
        ..Page::default()
    };
    let graver = document.findings.iter().filter(|it| it.level < Level::Notice);
    page.notes.extend(graver.map(|it| it.text.clone()));
    let mut name = document.name.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let mut section = Section { heading: name, text: Vec::new(), figures: Vec::new() };
    for part in &document.parts {
        match part {
            Part::Heading(heading) => {
                let next = Section { heading: heading.clone(), text: Vec::new(), figures: Vec::new() };
                push(&mut page.sections, std::mem::replace(&mut section, next));
            }
            Part::Note(Tone::Plain | Tone::Good, text) => section.text.push(text.clone()),
            Part::Note(_, text) => page.notes.push(text.clone()),
            // What got worse or better is read on its own.
            Part::Table(table) if table.tone != Tone::Plain => {
                let next = Section { heading: table.caption.clone(), text: Vec::new(), figures: Vec::new() };
                push(&mut page.sections, std::mem::replace(&mut section, next));
                let table = Table { caption: String::from("Tasks"), ..table.clone() };
                section.figures.extend(by_unit(&table).into_iter().map(Figure::Table));
            }
            Part::Table(table) => section.figures.extend(by_unit(table).into_iter().map(Figure::Table)),
            Part::List(entries) => section.figures.push(Figure::Table(list(entries))),
            Part::Figure(figure) => section.figures.push((**figure).clone()),
        }
    }
    push(&mut page.sections, section);
    let told = document.findings.iter().filter(|it| it.level == Level::Notice && it.place.is_none());
    let text: Vec<String> = told.map(|it| it.text.clone()).collect();
    push(&mut page.sections, Section { heading: String::from("Notes"), text, figures: Vec::new() });
    page
}

fn push(sections: &mut Vec<Section>, section: Section) {
    if !section.text.is_empty() || !section.figures.is_empty() {
        sections.push(section);
    }
}

/// Returns a list as a table of two columns, with what is in an entry further in.
fn list(entries: &[Entry]) -> Table {
    let row = |it: &Entry| {
        let name = format!("{}{}", "\u{2003}".repeat(it.depth), it.name);
        Row::from(vec![Cell::Text(name), Cell::text(&it.text)])
    };
    let columns = vec![Column::name("name"), Column::text("value")];
    Table::new("", columns, entries.iter().map(row).collect())
}

/// Returns a table for each unit of its estimates, as each has its own axis.
fn by_unit(table: &Table) -> Vec<Table> {
    let mut units: Vec<Option<f64>> = Vec::new();
    for unit in table.rows.iter().map(unit) {
        if !units.contains(&unit) {
            units.push(unit);
        }
    }
    let of = |wanted: &Option<f64>| -> Vec<Row> {
        table.rows.iter().filter(|row| unit(row) == *wanted).cloned().collect()
    };
    units.iter().map(|unit| Table { rows: of(unit), ..table.clone() }).collect()
}

/// Returns the highest value on the scale of the first estimate of a row.
fn unit(row: &Row) -> Option<f64> {
    row.cells.iter().find_map(|cell| match cell {
        Cell::Interval(span) => Some(span.writing.value(1.0)),
        _ => None,
    })
}
