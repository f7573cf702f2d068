//! The check of a challenge: whether its cases tell a right answer from an empty one.

use std::sync::Arc;

use karat::card::CompiledCard;
use karat::document::{Case, CaseResult, Cell, Column, Document, Part, Row, Table, judge_identity};
use karat::text::{Tone, count, plain};
use karat_process::Judges;
use serde_json::{Value, json};

use super::submission::{Submission, Submissions};
use super::{engine, execution, no_verdict};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::Color;

/// A place that can tell answers from each other: a case, a test, or the points of a script for a dimension.
type Signal = (String, f64);

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
struct Ran {
    score: Option<f64>,
    signals: Vec<Signal>,
    /// The judge, if it was asked.
    judge: Value,
}

/// Runs the reference and an empty answer, and reports.
///
/// # Errors
///
/// If the judge has no verdict, or the challenge is refused.
pub fn run(
    card: &Arc<CompiledCard>,
    judges: Arc<Judges>,
    (submissions, reference): (&Submissions<'_>, &Submission),
    color: Color,
    chosen: Chosen,
) -> Result<Exit, Failure> {
    let mut engine = engine(card, judges)?;
    let mut run = |submission: &Submission| {
        let item = submissions.item(submission).to_string();
        let ran = engine.visit(item.as_bytes(), |scored| {
            let score = scored.record.score.is_some().then(|| scored.record.published.map(|it| it.to_f64()));
            ran(&execution(scored), score.flatten())
        });
        ran.map_err(Failure::from).and_then(|ran| ran)
    };
    let check = Check { right: run(reference)?, empty: run(&submissions.emptied(reference))? };
    let answer = check.answer(card);
    format::show(&answer, &check.document(card), chosen, (usize::MAX, ""), color)?;
    Ok(if check.is_sound() { Exit::Done } else { Exit::CardRefused })
}

/// Reads what a run gave.
fn ran(execution: &Value, score: Option<f64>) -> Result<Ran, Failure> {
    if let Some(why) = no_verdict(execution) {
        return Err(Failure::with_exit(Exit::Inconclusive, format!("there is no verdict: {why}")));
    }
    let mut signals = Vec::new();
    for task in execution.get("tasks").and_then(Value::as_array).into_iter().flatten() {
        let file = task.get("file").and_then(Value::as_str).unwrap_or_default();
        for case in task.get("cases").and_then(Value::as_array).into_iter().flatten() {
            let name = case.get("name").and_then(Value::as_str).unwrap_or_default();
            let value = case.get("value").and_then(Value::as_f64).unwrap_or_default();
            signals.push((format!("{file}: {name}"), value));
        }
        for (name, points) in task.get("scores").and_then(Value::as_object).into_iter().flatten() {
            signals.push((format!("{file}: {name}"), points.as_f64().unwrap_or_default()));
        }
    }
    let judge = execution.get("judge").cloned().unwrap_or_default();
    Ok(Ran { score, signals, judge })
}

/// The result of a check.
struct Check {
    right: Ran,
    empty: Ran,
}

impl Check {
    /// Returns the names of the cases that the reference does not pass. What a script gives is its own measure.
    fn failed(&self) -> Vec<&str> {
        let cases = self.right.signals.iter().filter(|(_, value)| *value < 1.0);
        cases.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the number of places at which an empty answer is worse than the reference.
    fn noticed(&self) -> usize {
        let value = |place: usize| self.empty.signals.get(place).map_or(0.0, |(_, value)| *value);
        let signals = self.right.signals.iter().enumerate();
        signals.filter(|(place, (_, expected))| value(*place) < *expected).count()
    }

    /// Returns whether the challenge can tell the reference from nothing.
    fn is_sound(&self) -> bool {
        self.failed().is_empty() && self.noticed() > 0
    }

    /// Returns the check as a document.
    fn document(&self, card: &CompiledCard) -> Document {
        let failed = self.failed();
        let cases = count(self.right.signals.len(), "case");
        let row = |name: &str, (is_right, words): (bool, String), score: Option<f64>| {
            let (result, class) = (words.clone(), String::from("self-check"));
            let result = if is_right { CaseResult::Passed } else { CaseResult::Failed(result) };
            let case =
                Case { class, name: name.to_owned(), result, seconds: None, place: None, output: vec![] };
            let score = score.map_or_else(|| Cell::text("no score"), |it| Cell::Number(it, plain(it)));
            (Row::from(vec![Cell::text(name), Cell::Text(words), score]), case)
        };
        let right = match failed.len() {
            0 => (true, String::from("passes everything")),
            many => (false, format!("fails at {many} of {cases}")),
        };
        let empty = match self.noticed() {
            0 => (false, String::from("is as good as the reference")),
            many => (true, format!("fails at {many} of {cases}")),
        };
        let rows = [row("reference", right, self.right.score), row("empty answer", empty, self.empty.score)];
        let (rows, cases) = rows.into_iter().unzip();
        let columns = vec![Column::name("answer"), Column::text("result"), Column::number("score")];
        let mut document = Document {
            name: "judge",
            title: format!("{}: {}", card.name(), card.title),
            lines: self
                .right
                .judge
                .is_object()
                .then(|| judge_identity(&self.right.judge))
                .into_iter()
                .collect(),
            parts: vec![Part::Table(Table::new("", columns, rows))],
            cases,
            ..Document::default()
        };
        document.note(Tone::Bad, failed.iter().map(|name| format!("the reference fails at {name}")));
        document
    }

    /// Returns the check as JSON.
    fn answer(&self, card: &CompiledCard) -> Value {
        let cases = self.right.signals.iter().map(|(name, value)| json!({"name": name, "reference": value}));
        json!({
            "schema": "karat/challenge-check/2",
            "challenge": card.name(),
            "judge": self.right.judge,
            "is_sound": self.is_sound(),
            "reference": {"score": self.right.score, "failed": self.failed()},
            "empty": {"score": self.empty.score, "noticed_by": self.noticed()},
            "cases": cases.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(values: &[f64]) -> Ran {
        let signals = values.iter().enumerate().map(|(place, value)| (place.to_string(), *value)).collect();
        Ran { score: None, signals, judge: Value::Null }
    }

    #[test]
    fn a_challenge_is_sound_if_the_reference_passes_and_an_empty_answer_is_noticed() {
        let check = |right: &[f64], empty: &[f64]| Check { right: ran(right), empty: ran(empty) };
        let sound = check(&[1.0, 1.0, 700.0], &[1.0, 0.5, 800.0]);
        assert_eq!((sound.noticed(), sound.is_sound()), (1, true));
        assert_eq!(check(&[1.0, 1.0, 700.0], &[]).noticed(), 3);
        assert!(!check(&[1.0], &[1.0]).is_sound(), "an empty answer is as good");
        assert!(!check(&[1.0, 0.9], &[]).is_sound());
    }
}
