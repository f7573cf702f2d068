//! The document of items that were sent to a server.

use super::{Cell, Column, Document, Part, Row, Table};
use crate::answers::push::Pushed;

/// Returns the document of what a server took.
pub fn pushed(pushed: &Pushed) -> Document {
    let Pushed { accepted, repeated, refused, .. } = pushed;
    let mut document = Document {
        name: "push",
        title: format!("{}  to {}", pushed.card, pushed.to),
        lines: vec![format!("{accepted} accepted, {repeated} already there, {refused} refused")],
        ..Document::default()
    };
    if !pushed.problems.is_empty() {
        let rows = pushed.problems.iter().map(|it| {
            let first = it.places.first().cloned().unwrap_or_default();
            let more = if it.items > 1 { format!(" and {} more", it.items - 1) } else { String::new() };
            Row::from(vec![Cell::text(first + &more), Cell::text(&it.reason)])
        });
        let columns = vec![Column::name("places"), Column::new("reason", super::Kind::Sentence)];
        let table = Table { is_list: true, ..Table::new("Refused", columns, rows.collect()) };
        document.parts.push(Part::Table(table));
    }
    document
}
