//! Problems of values in evidence.

use serde_json::Value;

use karat_evidence::json::problem::quoted;

/// Returns a value as messages show it; `None` is one that is not there.
pub(super) fn shown(value: Option<&Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Array(_)) => "an array".to_owned(),
        Some(Value::Object(_)) => "an object".to_owned(),
        Some(Value::String(text)) => quoted(text),
        Some(scalar) => scalar.to_string(),
    }
}
