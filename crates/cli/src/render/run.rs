//! A run as a table: one row for each entry of its log, and what it came to.

use std::fmt::Write as _;

use karat::text::{clean, count, fit, wrap};
use karat_run::{Attempt, Event, Job, Outcome, Recording, Run};

use karat_terminal::output::{CARE, FAINT, GAIN, LOSS, STRONG};

/// Columns of the name of a step.
const STEP: usize = 16;
/// Columns before a reason.
const LEAD: usize = 2;

/// Returns the line of an attempt that has just ended.
pub fn ended(attempt: &Attempt) -> String {
    row(attempt)
}

fn row(attempt: &Attempt) -> String {
    let style = match attempt.outcome {
        Outcome::Success => GAIN,
        Outcome::Failed => LOSS,
        Outcome::Timeout => CARE,
    };
    let outcome = fit(attempt.outcome.name(), 9);
    format!(
        "{} {:>7}  {style}{outcome}{style:#} {:>9.3} s {:>12} TAO\n",
        fit(&attempt.step, STEP),
        attempt.number,
        attempt.duration_microseconds as f64 / 1e6,
        tao(attempt.cost_nano_tao),
    )
}

/// Returns an amount without trailing zeros.
fn tao(nano_tao: u64) -> String {
    let text = format!("{}.{:09}", nano_tao / 1_000_000_000, nano_tao % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the log of a run with what it came to.
pub fn table(job: &Job, run: &Run, recording: &Recording, width: usize) -> String {
    let mut text = format!(
        "{FAINT}{} {:>7}  {:<9} {:>11} {:>16}{FAINT:#}\n",
        fit("step", STEP),
        "attempt",
        "outcome",
        "time",
        "cost"
    );
    for event in &run.events {
        let reason = match event {
            Event::Attempt(attempt) => {
                text.push_str(&row(attempt));
                attempt.reason.as_deref().unwrap_or_default()
            }
            Event::Unresolved { step, reason } => {
                let _ = writeln!(text, "{} {:>7}  {LOSS}not tried{LOSS:#}", fit(step, STEP), "-");
                reason
            }
            Event::BudgetAbort { step, number } => {
                let _ = writeln!(text, "{} {number:>7}  {CARE}not tried{CARE:#}", fit(step, STEP));
                "the budget is used up"
            }
        };
        if !reason.is_empty() {
            for line in wrap(&clean(reason), width.saturating_sub(LEAD)) {
                let _ = writeln!(text, "{:LEAD$}{FAINT}{line}{FAINT:#}", "");
            }
        }
    }
    let account = &run.account;
    let spent: u64 = recording.attempts().iter().map(|attempt| attempt.cost_nano_tao).sum();
    let _ = write!(
        text,
        "\n{STRONG}{} of {}{STRONG:#} completed, {:.3} s, {} TAO",
        account.steps_completed,
        count(job.plan().steps().len(), "step"),
        account.actual_seconds.unwrap_or_default(),
        tao(spent),
    );
    let counts = [
        (account.actual_retries, "retry"),
        (account.timeouts.unwrap_or_default(), "timeout"),
        (account.hard_failures, "hard failure"),
    ];
    for (number, noun) in counts.into_iter().filter(|(number, _)| *number > 0) {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let words =
            if noun == "retry" && number != 1 { format!("{number} retries") } else { count(number, noun) };
        let _ = write!(text, ", {words}");
    }
    text.push('\n');
    if run.is_stopped {
        let _ = writeln!(text, "{CARE}stopped before its end{CARE:#}");
    }
    let _ = writeln!(text, "{FAINT}recording {}{FAINT:#}", recording.digest());
    text
}
