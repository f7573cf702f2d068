//! The actions of workflows: post, hand in, deliver, settle. Each is written to the log before the answer
//! is sent.

mod deliver;
mod hand_in;
mod publish;
mod settle;

use karat_run::Fault;

use crate::prelude::*;

pub use deliver::{Delivered, deliver};
pub use hand_in::hand_in;
pub(crate) use hand_in::stored as plan;
pub use publish::{TaskRequest, publish};
pub use settle::settle_due;
pub(crate) use settle::settle_on_time;
pub(crate) use settle::text as recording_text;

/// The largest number of retries that a task lets a step declare.
pub const RETRIES_MAX: u64 = 10;
pub const RECORDING_BYTES_MAX: usize = 16 << 20;
pub const PLAN_BYTES_MAX: usize = 256 << 10;

pub(crate) fn no_task(name: &str) -> Problem {
    Problem::unknown("task", name, "GET /v1/workflows/tasks lists them all")
}

pub(crate) fn no_plan(task: &str, miner: &str) -> Problem {
    let (task, miner) = (task.escape_debug(), miner.escape_debug());
    Problem::not_found(format!("there is no plan of `{miner}` for the task `{task}`"))
}

/// Returns faults that `karat run` would show as one problem. The first is the summary.
fn refused(code: Code, field: &str, faults: &[Fault]) -> Problem {
    let part = |fault: &Fault| {
        let hint = if fault.hint.is_empty() { String::new() } else { format!("; {}", fault.hint) };
        ProblemPart {
            field: Some(field.to_owned()),
            detail: format!("{}{hint}", fault.message),
            line: fault.place.map(|(line, _)| line),
            column: fault.place.map(|(_, column)| column),
        }
    };
    let parts: Vec<ProblemPart> = faults.iter().take(100).map(part).collect();
    let detail = match parts.as_slice() {
        [] => String::from("it was refused"),
        [only] => only.detail.clone(),
        [first, ..] => format!("{} faults, the first: {}", faults.len(), first.detail),
    };
    Problem::new(code, detail).at(field).with_parts(parts)
}
