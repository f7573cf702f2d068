//! JSON lines: an object for each row, with the keys of the columns; no value is null.

use serde_json::{Map, Value as Json};

use super::{Sheet, Value};
use crate::answers;

/// Returns a line for each row.
#[must_use]
pub fn lines(sheet: &Sheet) -> String {
    let mut text = String::new();
    for row in &sheet.rows {
        let members = sheet.columns.iter().zip(row).map(|(column, value)| (column.key.clone(), json(value)));
        text.push_str(&answers::write(&Json::Object(members.collect::<Map<_, _>>())));
        text.push('\n');
    }
    text
}

fn json(value: &Value) -> Json {
    match value {
        Value::Absent => Json::Null,
        Value::Text(text) => Json::from(text.as_str()),
        Value::Number(number, _) => Json::from(*number),
        Value::Count(count) => Json::from(*count),
        Value::Flag(flag) => Json::from(*flag),
    }
}
