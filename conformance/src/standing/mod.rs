//! Cases about standing: their inputs turned into calls of the core, one file per folder there.

mod over_time;
mod rating;
mod statistics;

use serde_json::Value;

use crate::judge::Answer;

/// Returns the answer of the function called `name`; `None` if it is not about standing.
pub fn answer(name: &str, input: &Value) -> Option<Answer> {
    [over_time::answer, rating::answer, statistics::answer].iter().find_map(|answer| answer(name, input))
}
