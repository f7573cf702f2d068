//! The actions of workflows: register recorders, post, hand in, deliver, settle. Each is written to the log before the answer
//! is sent.

mod deliver;
mod hand_in;
mod publish;
mod recorders;
mod settle;

use std::future::Future;

use karat_run::Fault;
use karat_store::Accepted;

use crate::effect::Effect;
use crate::flows::Content;
use crate::problem::{Code, Problem, ProblemPart};
use crate::state::{App, Submission};

pub use deliver::{Delivered, deliver};
pub use hand_in::hand_in;
pub(crate) use hand_in::stored as plan;
pub use publish::{TaskRequest, publish};
pub use recorders::{register_recorder, revoke_recorder};
pub use settle::settle_due;
pub(crate) use settle::settle_on_time;
pub(crate) use settle::text as recording_text;

/// The largest number of retries that a task lets a step declare.
pub const RETRIES_MAX: u64 = 10;
/// The most bytes of a recording, with evidence.
pub const RECORDING_BYTES_MAX: usize = 16 << 20;
/// The most bytes of a plan.
pub const PLAN_BYTES_MAX: usize = 256 << 10;

/// Writes items of workflows to the log.
async fn write(app: &App, contents: Vec<Content>, batch: Submission) -> Result<Vec<Accepted>, Problem> {
    app.append_one(with(batch, contents)?).await
}

/// Adds items of workflows to a batch.
fn with(mut batch: Submission, contents: Vec<Content>) -> Result<Submission, Problem> {
    for content in contents {
        let item = content.item().map_err(|error| Problem::internal(&error))?;
        batch = batch.with(item, Some(Effect::Workflow(Box::new(content))));
    }
    Ok(batch)
}

/// Runs to the end even if the client disconnects, so that no other request gets the permit before memory is updated.
async fn uninterrupted<T: Send + 'static>(
    work: impl Future<Output = Result<T, Problem>> + Send + 'static,
) -> Result<T, Problem> {
    tokio::spawn(work).await.map_err(|error| Problem::internal(&error))?
}

/// Returns the problem of a name that nothing has.
pub(crate) fn unknown(what: &str, name: &str, hint: &str) -> Problem {
    Problem::not_found(format!("there is no {what} `{}`; {hint}", name.escape_debug()))
}

/// Returns the problem of a task that no one has posted.
pub(crate) fn no_task(name: &str) -> Problem {
    unknown("task", name, "GET /v1/workflows/tasks lists them all")
}

/// Returns the problem of a plan that was not handed in.
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
