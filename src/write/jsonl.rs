//! JSON lines: an object for each row, with the keys of the columns; no value is null.

use serde_json::{Map, Value as Json};

use crate::answers;
use crate::document::{Cell, Table};

/// Returns a line for each row.
pub(crate) fn lines(table: &Table) -> String {
    let mut text = String::new();
    for row in &table.rows {
        let members =
            table.columns.iter().zip(&row.cells).map(|(column, value)| (column.key.clone(), json(value)));
        text.push_str(&answers::write(&Json::Object(members.collect::<Map<_, _>>())));
        text.push('\n');
    }
    text
}

fn json(value: &Cell) -> Json {
    match value {
        Cell::Absent | Cell::Without(_) | Cell::Trend(_) => Json::Null,
        Cell::Text(text) | Cell::Link(text, _) => Json::from(text.as_str()),
        Cell::Word(word, _) | Cell::Mark(_, word, _) => Json::from(*word),
        Cell::Places(places) => Json::from(places.join(", ")),
        Cell::Number(number, _) | Cell::Share(number) => Json::from(*number),
        Cell::Count(count) => Json::from(*count),
        Cell::Flag(flag) => Json::from(*flag),
        Cell::Interval(span) => Json::from(span.point),
        Cell::Total(total) => Json::from(total.after),
        Cell::Notes(_) => value.full().map_or(Json::Null, Json::from),
    }
}
