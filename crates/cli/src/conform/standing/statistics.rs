//! Cases about estimates over many runs.

use serde_json::Value;

use super::super::Answer;

/// The answer of the function called `name`; none if it is not of this file.
pub fn answer(_name: &str, _input: &Value) -> Option<Answer> {
    None
}
