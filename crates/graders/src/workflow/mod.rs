//! Graders of workflow runs: plans, attempts, accounts (C-SWON, Scoring Formula v1.0.0).
//!
//! | file | what |
//! |---|---|
//! | `plan` | a plan is read, checked to be a graph without cycles, and put into tiers |
//! | `graph` | the tiers, the cycles, and what lies before what |
//! | `reference` | `${step.output.path}` in the parameters of a step; `python` writes what is put in |
//! | `attempts` | the event log of a run: every attempt at a step |
//! | `order` | whether a log respects the edges and references of its plan |
//! | `account` | what the log amounts to, step by step |
//! | `run` | the totals of a run, from its log, from the harness, or from both |
//! | `dry_run` | what a plan comes to if every step succeeds at its estimated cost |
//! | `standing` | warm-up scaling and jumps of a score |

mod account;
mod attempts;
mod dry_run;
mod graph;
mod order;
mod plan;
mod python;
mod reference;
mod run;
mod standing;

pub use account::{Account, Seen, StepAccount, StepState, account};
pub use attempts::read as read_log;
pub use attempts::{Attempt, Log, LogTime, Outcome};
pub use dry_run::{Budget, DryRun, DryState, dry_run};
pub use plan::read as read_plan;
pub use plan::{Plan, PlanRules, References, Step};
pub use reference::{RESOLVED_BYTES_MAX, Reference, StepResult, resolve};
pub use run::{Contradiction, Totals, budget_stopped, impossible, settle};
pub use standing::{Jump, WarmUp, jump, warm_up};

use karat_evidence::json::canonical::Canonical;
use karat_evidence::json::check::{Check, UnknownFields};
use karat_evidence::json::document::{Node, Tape};
use karat_evidence::json::note::Note;
use karat_evidence::json::parse;
use karat_evidence::json::problem::Problems;

/// Reads a JSON text by `read`, unless there is a problem with it.
fn from_json<T>(
    text: &[u8],
    read: impl FnOnce(Node<'_>, &mut Check<'_>) -> T,
) -> Result<(T, Vec<Note>), Problems> {
    from_json_counting(text, &mut UnknownFields::default(), read)
}

/// Reads a JSON text by `read`, unless there is a problem with it, and counts in `unread` the fields that it does not know.
pub fn from_json_counting<T>(
    text: &[u8],
    unread: &mut UnknownFields,
    read: impl FnOnce(Node<'_>, &mut Check<'_>) -> T,
) -> Result<(T, Vec<Note>), Problems> {
    let mut tape = Tape::default();
    let document = parse::parse(&mut tape, text, &parse::Limits::default())?;
    let mut notes = Vec::new();
    let mut check = Check::new(&mut notes, unread);
    let mut canonical = Canonical::default();
    canonical.write(document);
    check.refuse_duplicates(document, canonical.duplicates());
    // The digest of a plan or a task is of all that it says.
    check.refuse_inexact(document.root());
    let value = read(document.root(), &mut check);
    let suspicions = check.take_suspicions();
    check.pass_on(suspicions);
    let problems = check.problems;
    if problems.is_empty() { Ok((value, notes)) } else { Err(problems.in_order()) }
}
