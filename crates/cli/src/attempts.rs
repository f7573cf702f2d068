//! A run as a document: one row for each entry of its log, and what it came to.

use karat::document::{Cell, Column, Document, Kind, Part, Row, Table};
use karat::text::{Tone, count, fit};
use karat::write::screen::style;
use karat_run::{Attempt, Event, Job, Outcome, Recording, Run};

/// Returns the line of an attempt that has just ended.
pub fn ended(attempt: &Attempt) -> String {
    let style = style(tone(attempt.outcome));
    let (step, outcome) = (fit(&attempt.step, 16), fit(attempt.outcome.name(), 9));
    let (number, seconds) = (attempt.number, attempt.duration_microseconds as f64 / 1e6);
    let cost = tao(attempt.cost_nano_tao);
    format!("{step} {number:>7}  {style}{outcome}{style:#} {seconds:>9.3} s {cost:>12} TAO\n")
}

fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Success => Tone::Good,
        Outcome::Failed => Tone::Bad,
        Outcome::Timeout => Tone::Care,
    }
}

/// Returns an amount without trailing zeros.
fn tao(nano_tao: u64) -> String {
    let text = format!("{}.{:09}", nano_tao / 1_000_000_000, nano_tao % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns the log of a run with what it came to.
pub fn document(job: &Job, run: &Run, recording: &Recording) -> Document {
    let columns = vec![
        Column::name("step"),
        Column::number("attempt"),
        Column::text("outcome"),
        Column::number("seconds"),
        Column::number("cost_tao").labelled("TAO"),
        Column::new("reason", Kind::Notes),
    ];
    let (account, plan) = (&run.account, count(job.plan().steps().len(), "step"));
    let spent: u64 = recording.attempts().iter().map(|attempt| attempt.cost_nano_tao).sum();
    let (done, seconds) = (account.steps_completed, account.actual_seconds.unwrap_or_default());
    let mut title = format!("{done} of {plan} completed, {seconds:.3} s, {} TAO", tao(spent));
    let counts = [
        (account.actual_retries, ["retry", "retries"]),
        (account.timeouts.unwrap_or_default(), ["timeout", "timeouts"]),
        (account.hard_failures, ["hard failure", "hard failures"]),
    ];
    for (number, [one, many]) in counts.into_iter().filter(|(number, _)| *number > 0) {
        title.push_str(&format!(", {number} {}", if number == 1 { one } else { many }));
    }
    let rows = run.events.iter().map(row).collect();
    let mut document = Document {
        name: "run",
        title,
        lines: vec![format!("recording {}", recording.digest())],
        parts: vec![Part::Table(Table::new("", columns, rows))],
        ..Document::default()
    };
    document.note(Tone::Care, run.is_stopped.then(|| String::from("stopped before its end")));
    document
}

fn row(event: &Event) -> Row {
    let untried = |step: &str, number, tone, reason: &str| {
        let outcome = Cell::Mark(tone, "not-tried", "not tried");
        (step.to_owned(), number, outcome, [Cell::Absent, Cell::Absent], reason.to_owned())
    };
    let (step, number, outcome, [seconds, cost], reason) = match event {
        Event::Attempt(attempt) => {
            let name = attempt.outcome.name();
            let (seconds, cost) = (attempt.duration_microseconds as f64 / 1e6, attempt.cost_nano_tao);
            let numbers =
                [Cell::Number(seconds, format!("{seconds:.3}")), Cell::Number(cost as f64 / 1e9, tao(cost))];
            let reason = attempt.reason.clone().unwrap_or_default();
            (
                attempt.step.clone(),
                Some(attempt.number),
                Cell::Mark(tone(attempt.outcome), name, name),
                numbers,
                reason,
            )
        }
        Event::Unresolved { step, reason } => untried(step, None, Tone::Bad, reason),
        Event::BudgetAbort { step, number } => {
            untried(step, Some(*number), Tone::Care, "the budget is used up")
        }
    };
    let reason = (!reason.is_empty()).then_some((Tone::Plain, reason));
    let number = number.map_or(Cell::Absent, Cell::Count);
    Row::from(vec![
        Cell::Text(step),
        number,
        outcome,
        seconds,
        cost,
        Cell::Notes(reason.into_iter().collect()),
    ])
}
