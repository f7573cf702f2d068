//! The headlines of one score, and of the checks that a stored one passed.

use karat_core::number::Score;
use karat_core::record::{Record, StepKind};

use super::{Headline, capital, name};
use crate::answers::{ChangedPart, CheckOutcome, VerificationStatus};
use crate::estimate::Writing;
use crate::explanation::words::gap;
use crate::explanation::{Part, Row, open, rows};
use crate::number::published;
use crate::text::list;
use crate::verification::{Check, causes, status};

/// The most dimensions that a sentence tells the points of.
const TOLD: usize = 4;

/// Returns the headline of a score: what holds it down, or what cost most.
pub fn record(record: &Record<'_>) -> Headline {
    let missing = gap(record).map(|gap| format!("Not measured: {gap}"));
    let Some(found) = record.published else {
        let open = open(record).count();
        let why = if open == 0 { "nothing of it applies" } else { "too little was measured" };
        return Headline::new(format!("{} has no score: {why}", name(record.item.subject))).and(missing);
    };
    let (scale, shown) = (record.card.scale, published(found));
    let writing = Writing::of(scale.max);
    let short = |share: f64| short(writing, share);
    let rows = rows(record);
    let is_cap = |row: &&Row<'_>| matches!(row.part, Part::Gate { .. }) && row.after < row.before;
    let most = rows.iter().map(|row| (row, lost(row))).max_by_key(|(_, lost)| *lost);
    let text = match (rows.iter().rev().find(is_cap), most) {
        (Some(cap), _) => {
            let before = published(scale.publish(cap.before));
            format!("{shown}: it would be {before}, but the gate “{}” holds", name(cap.name))
        }
        (None, Some((row, lost))) if lost > Score::ZERO => {
            let what = match row.part {
                Part::Rule { .. } => format!("the rule “{}”", name(row.name)),
                Part::Decay => String::from("old evidence"),
                _ => name(row.name).to_lowercase(),
            };
            format!("{shown} of {}: most was lost on {what}, {} points", scale.max, short(lost.to_f64()))
        }
        _ => format!("{shown} of {}: nothing was lost", scale.max),
    };
    Headline::new(text).and(given(&rows, writing)).and(moved(record, writing)).and(missing)
}

/// Writes points without a decimal that says nothing.
fn short(writing: Writing, share: f64) -> String {
    writing.number(share).trim_end_matches(".0").to_owned()
}

/// Returns what a part took from the score: of a dimension, what it could have given.
fn lost(row: &Row<'_>) -> Score {
    match &row.part {
        Part::Dimension(it) => Score::from_billionths(it.effective_weight).minus(it.contribution),
        // What another mean takes belongs to no part.
        Part::Mean => Score::ZERO,
        _ => row.before.minus(row.after),
    }
}

/// Says what each dimension gave of what it could; nothing where the parts are not added, or there are many.
fn given(rows: &[Row<'_>], writing: Writing) -> Option<String> {
    let parts: Vec<String> = rows
        .iter()
        .filter_map(|row| match &row.part {
            Part::Dimension(it) if it.effective_weight > 0 => {
                let most = it.effective_weight as f64 / 1e9;
                let [gave, most] = [it.contribution.to_f64(), most].map(|points| short(writing, points));
                Some(format!("{} {gave} of {most}", name(row.name).to_lowercase()))
            }
            _ => None,
        })
        .collect();
    let is_sum = !rows.iter().any(|row| matches!(row.part, Part::Mean));
    (is_sum && (2..=TOLD).contains(&parts.len())).then(|| capital(&format!("{} points", list(&parts))))
}

/// Says which steps after the sum moved the score.
fn moved(record: &Record<'_>, writing: Writing) -> Option<String> {
    let told = record.steps.iter().filter(|step| step.kind != StepKind::Mean && step.before != step.after);
    let told: Vec<String> = told
        .map(|step| {
            let [from, to] = [step.before, step.after].map(|score| short(writing, score.to_f64()));
            let what = match step.kind {
                StepKind::Decay => String::from("the age of the evidence"),
                kind => format!("the {} “{}”", kind.name(), name(step.name)),
            };
            format!("{what} takes it from {from} to {to}")
        })
        .collect();
    (!told.is_empty()).then(|| capital(&list(&told)))
}

/// Returns the headline of the checks of a record by the server that keeps it, and says what they cannot prove.
pub fn verification(checks: &[Check]) -> Headline {
    let proves = "It does not prove that what the evidence says is true, nor that the key is the operator's: compare the key \
                  with what the operator publishes elsewhere";
    match status(checks) {
        VerificationStatus::Verified => Headline::new("Genuine, by the key of this server").and([
            String::from(
                "The log signed it, nothing was changed since, and the score follows from the evidence",
            ),
            proves.to_owned(),
        ]),
        VerificationStatus::Consistent => {
            let lacking = checks.iter().filter(|it| it.shown.outcome == CheckOutcome::Inconclusive);
            let lacking: Vec<&str> = lacking.map(|it| it.shown.name.as_ref()).collect();
            let was = if lacking.len() == 1 { "was" } else { "were" };
            Headline::new(format!("Nothing contradicts it, but {} {was} not checked", list(&lacking)))
                .and([proves.to_owned()])
        }
        VerificationStatus::Failed => {
            let causes: Vec<&str> = causes(checks).into_iter().map(what_changed).collect();
            let why = if causes.is_empty() { String::from("a check failed") } else { list(&causes) };
            Headline::new(format!("Not genuine: {why}"))
        }
    }
}

/// Returns the changed part in words.
pub(crate) const fn what_changed(changed: ChangedPart) -> &'static str {
    match changed {
        ChangedPart::Text => "the text was changed since it was kept",
        ChangedPart::Scorecard => "the scorecard differs",
        ChangedPart::Evidence => "the evidence differs",
        ChangedPart::Engine => "the engine gives another record for the same scorecard and facts",
    }
}
