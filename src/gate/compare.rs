//! The gate on a change: the second of two is not worse than the first.

use karat_core::number::Decimal;
use karat_core::scorecard::Scale;

use super::{Status, Verdict, slight};
use crate::answers::changes::Gate;
use crate::answers::comparison::{ComparedPair, ComparisonAnswer};
use crate::answers::{ComparisonVerdict, GateChange};
use crate::ask::answer::gaps_of;
use crate::document::{self, ComparisonView, Document};
use crate::estimate::{Writing, percent};
use crate::leaderboard::By;
use crate::rows::Rows;
use crate::text::{count, named, short};

/// Returns the document of a comparison of `rows`.
pub fn document(answer: &ComparisonAnswer, rows: &Rows) -> Document {
    let gaps = gaps_of(rows, By::Score);
    let failed = |pair: &ComparedPair| failed(pair, rows.scale.max);
    let view =
        ComparisonView { dimensions: &rows.dimensions, gaps: &gaps, failed: &failed, is_listed: &|_| true };
    document::comparison(answer, &view)
}

/// Returns why the gates of a comparison fail, and what they did not see; `margin` is the one that was asked for.
pub fn judge(answer: &ComparisonAnswer, margin: Decimal, scale: Scale) -> Verdict {
    let (pairs, scale_max) = (answer.pairs(), scale.max);
    let lines = |is_meant: fn(GateChange) -> bool| {
        let meant = pairs.iter().filter(|it| it.gate.is_some_and(|gate| is_meant(gate.finding)));
        meant.filter_map(|pair| failed(pair, scale_max)).collect()
    };
    let mut verdict = Verdict::default();
    verdict.add(Status::Worse, lines(|finding| finding == GateChange::Worse));
    verdict.add(Status::Inconclusive, lines(|finding| finding != GateChange::Worse));
    let gone = answer.gone().iter();
    let gone = gone.map(|name| format!("`{}` is only in the first, so nothing of it is shown", short(name)));
    verdict.add(Status::Inconclusive, gone.collect());
    // The sentence of a gate that is undecided names what is gone.
    let is_named = |gate: &Gate| !gate.passed && gate.finding != GateChange::Worse;
    let others = pairs.iter().filter(|pair| !pair.gate.as_ref().is_some_and(is_named));
    others.filter_map(missing).for_each(|line| verdict.warn(line));
    slight("a margin", margin, scale_max, 10).into_iter().for_each(|line| verdict.warn(line));
    verdict
}

/// Formats a size on the scale of a card: `5.5 points`, `0.055`.
fn points(points: f64, scale: u32) -> String {
    let number = Writing::points(scale).number(points.abs());
    if scale == 1 { number } else { format!("{number} points") }
}

/// Counts things.
fn counted(number: u64, of: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), of)
}

/// Formats the margin, which may be finer than scores are shown.
fn margin(gate: &Gate, scale: u32) -> String {
    let number = (gate.margin * 1e6).round() / 1e6;
    if scale == 1 { format!("{number}") } else { format!("{number} points") }
}

/// Returns why the gate of a comparison fails; none if it does not.
pub fn failed(pair: &ComparedPair, scale: u32) -> Option<String> {
    let gate = pair.gate.filter(|gate| !gate.passed)?;
    let writing = Writing::points(scale);
    let tasks = counted(pair.difference.estimate.tasks, "task");
    let interval = gate.low.zip(gate.high).map_or_else(
        || String::from("no interval"),
        |(low, high)| {
            format!(
                "{} interval {} to {}",
                percent(round(gate.level)),
                writing.signed_end(low),
                writing.signed_end(high)
            )
        },
    );
    let who = short(&pair.second.subject);
    let than = first_of(pair);
    let counts = format!("{} worse, {} better", pair.changes.regressed.len(), pair.changes.fixed.len());
    if gate.finding == GateChange::Worse {
        let allowed = if gate.margin > 0.0 {
            format!(", and {} are allowed", margin(&gate, scale))
        } else {
            String::new()
        };
        return Some(format!(
            "`{who}` is worse than {than} by {} over {tasks} ({interval}; {counts}){allowed}",
            points(gate.difference, scale)
        ));
    }
    if let Some(needed) = gate.results_needed {
        let (results, tasks) = (counted(gate.missing_results, "result"), missing(pair).unwrap_or_default());
        let them = if gate.missing_results == 1 { "it" } else { "them" };
        return Some(format!(
            "whether `{who}` is worse than {than} depends on {results} that it lacks: with the worst of {them} it would \
             fail; {needed} as good as before would settle it; {tasks}"
        ));
    }
    let gone = missing(pair).map_or_else(String::new, |missing| format!("; {missing}"));
    if pair.difference.verdict == ComparisonVerdict::TooFewSharedTasks {
        return Some(format!(
            "`{who}` and {than} share {tasks}, too few to show that it is not worse ({interval}; {counts}){gone}"
        ));
    }
    let by = if gate.margin > 0.0 { format!(" by {}", margin(&gate, scale)) } else { String::new() };
    let needed = gate.tasks_needed.filter(|needed| *needed > pair.difference.estimate.tasks);
    let needed =
        needed.map(|needed| format!("; if both are alike it takes about {needed} tasks to show that"));
    // Above it stands the interval of the difference, which says worse or better.
    let room = if gate.low == pair.difference.estimate.low {
        ""
    } else {
        ", with room for a task that loses everything"
    };
    Some(format!(
        "it is not shown that `{who}` is not worse than {than}{by}: the difference is {} over {tasks} ({interval}{room}; {counts}){}{gone}",
        writing.signed(gate.difference),
        needed.unwrap_or_default()
    ))
}

/// Returns which tasks of the first have no result of the second, or fewer; none if all have as many.
fn missing(pair: &ComparedPair) -> Option<String> {
    let all = [without(pair), with_fewer(pair)];
    let all: Vec<String> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns the name of the first; of one subject in two files that it was before.
fn first_of(pair: &ComparedPair) -> String {
    match pair.first.subject == pair.second.subject {
        true => String::from("before"),
        false => format!("`{}`", short(&pair.first.subject)),
    }
}

/// Returns at which tasks the second has fewer results than the first: those that are gone may have failed.
fn with_fewer(pair: &ComparedPair) -> Option<String> {
    let all: Vec<&str> = pair.changes.fewer.iter().map(String::as_str).collect();
    let names = named(&all)?;
    let than = first_of(pair);
    let (tasks, second) = (count(all.len(), "task"), short(&pair.second.subject));
    Some(format!("at {tasks} `{second}` has fewer results that count than {than}: {names}"))
}

fn without(pair: &ComparedPair) -> Option<String> {
    let all: Vec<&str> = pair.changes.missing.iter().map(String::as_str).collect();
    let names = named(&all)?;
    let of = pair.difference.estimate.tasks.saturating_add(all.len() as u64);
    let first = first_of(pair);
    Some(format!(
        "{} of {of} of {first} {} no result of `{}` that counts: {names}",
        count(all.len(), "task"),
        if all.len() == 1 { "has" } else { "have" },
        short(&pair.second.subject)
    ))
}

/// Rounds a confidence to what is worth showing.
fn round(level: f64) -> f64 {
    (level * 1e4).round() / 1e4
}
