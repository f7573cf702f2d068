//! Graders of the quality of an output: code, text, checklists, data.
//!
//! [`Task`] chooses the grader by the type of a task. The graders can also be used by themselves: [`code()`] over
//! [`TestResults`], [`Reference`] for ROUGE-L, [`Checklist`], [`Transform`].

mod checklist;
mod code;
pub(crate) mod json;
mod lcs;
mod rouge;
mod schema;
pub(crate) use json::is_nested;
pub(crate) use schema::Schema;
mod stem;
mod task;
mod tokens;
mod transform;

use serde_json::Value;

use karat_evidence::json::problem::{Problem, Problems, quoted};

pub use checklist::{Checklist, ChecklistGrade, CriterionGrade, UnknownCriterion};
pub use code::{CodeGrade, Patterns, PatternsGrade, code, code_patterns};
pub use karat_evidence::report::{TestCase, TestResults, TestVerdict};
pub use rouge::{Overlap, Reference, RougeL};
pub use task::{CodeEvidence, Evidence, Grade, Grading, Options, Task};
pub use tokens::Tokenizer;
pub use transform::{KeyCounts, PartialCredit, Transform, TransformGrade, TransformOutcome};

fn refuse(path: &str, found: String, expected: &str, hint: &str) -> Problems {
    Problem::at(path, found, expected, hint).into()
}

fn described(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => format!("`{flag}`"),
        Value::Number(number) => format!("`{number}`"),
        Value::String(text) => quoted(text),
        Value::Array(elements) => format!("an array of {}", elements.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests;
