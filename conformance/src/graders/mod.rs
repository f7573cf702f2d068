//! Cases about graders: their inputs to calls of `karat_graders`, one file per folder there.

mod arena;
mod quality;
mod trace;
mod trust;
mod workflow;

use serde_json::Value;

use crate::judge::Answer;

/// Returns the answer of the function called `name`.
pub fn answer(name: &str, input: &Value) -> Answer {
    [arena::answer, quality::answer, trace::answer, trust::answer, workflow::answer]
        .iter()
        .find_map(|answer| answer(name, input))
        .unwrap_or(Answer::Unknown)
}
