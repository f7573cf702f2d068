//! Cases about standing: their inputs to calls of the core, one file per folder there.

mod over_time;
mod rating;
mod statistics;

use serde_json::Value;

use crate::functions::Answer;

/// The answer of the function called `name`; none if it is not about standing.
pub fn answer(name: &str, input: &Value) -> Option<Answer> {
    [over_time::answer, rating::answer, statistics::answer].iter().find_map(|answer| answer(name, input))
}
