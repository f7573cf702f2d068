//! The check of a challenge: whether its cases tell a right answer from answers with a small fault.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use karat::card::CompiledCard;
use karat_run::judge::Judges;
use serde_json::{Value, json};

use super::mutants::mutants;
use super::submission::{Submission, Submissions};
use super::{engine, execution, no_verdict, refused};
use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Screen, lines};
use crate::progress::Progress;
use crate::render::judged;

/// Everything that runs have in common.
pub struct Bench<'a> {
    pub card: &'a Arc<CompiledCard>,
    pub submissions: &'a Submissions<'a>,
    pub judges: &'a Arc<Judges>,
    pub cli: &'a Cli,
}

/// A place that can tell answers from each other: a case, a test, or the points of a script for a dimension.
type Signal = (String, f64);

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
struct Ran {
    score: Option<f64>,
    signals: Vec<Signal>,
    /// True if the source was not even a program.
    is_no_program: bool,
    /// The judge, if it was asked.
    judge: Value,
}

/// A mutant, and the places of the signals that noticed it.
struct Noticed {
    file: String,
    line: usize,
    from: String,
    to: String,
    by: BTreeSet<usize>,
}

/// Runs the reference, an empty answer and mutants, and reports.
///
/// # Errors
///
/// If the judge has no verdict, or the challenge is refused.
pub fn run(bench: &Bench<'_>, reference: &Submission, most: usize, as_json: bool) -> Result<Exit, Failure> {
    let submissions = bench.submissions;
    let mut tried = vec![submissions.item(reference), submissions.item(&submissions.emptied(reference))];
    let mut made = Vec::new();
    let sources = submissions.sources(reference);
    for (place, (path, text)) in sources.iter().enumerate() {
        // Every file gets its part of what is left.
        let part = (most - made.len()).div_ceil(sources.len() - place);
        for mutant in mutants(path, text, part) {
            tried.push(submissions.item(&submissions.with_source(reference, path, &mutant.text)));
            made.push((path.clone(), mutant));
        }
    }
    let ran = run_all(bench, &tried, as_json)?;
    let [right, empty, of_mutants @ ..] = ran.as_slice() else {
        return Err(Failure::new("nothing was run"));
    };
    let mut noticed = Vec::new();
    let mut not_programs = 0;
    for ((file, mutant), ran) in made.into_iter().zip(of_mutants) {
        if ran.is_no_program {
            not_programs += 1;
            continue;
        }
        let by = found(right, ran);
        noticed.push(Noticed { file, line: mutant.line, from: mutant.from, to: mutant.to, by });
    }
    let check = Check { right, empty, noticed, not_programs };
    let answer = check.answer(bench.card);
    if as_json {
        let mut out = lines();
        writeln!(out, "{answer}")?;
        out.flush()?;
    } else {
        let mut screen = Screen::stdout(bench.cli.color);
        let text = judged::check(bench.card, &answer, screen.width);
        write!(screen, "{text}")?;
        screen.flush()?;
    }
    Ok(if check.is_sound() { Exit::Done } else { Exit::CardRefused })
}

/// Returns the places at which an answer is worse than the right one.
fn found(right: &Ran, other: &Ran) -> BTreeSet<usize> {
    let value = |place: usize| other.signals.get(place).map_or(0.0, |(_, value)| *value);
    let signals = right.signals.iter().enumerate();
    signals.filter(|(place, (_, expected))| value(*place) < *expected).map(|(place, _)| place).collect()
}

/// Runs every item, as many at a time as there are judges. The results are in the order of the items.
fn run_all(bench: &Bench<'_>, items: &[Value], is_hidden: bool) -> Result<Vec<Ran>, Failure> {
    let progress = Progress::of_items(is_hidden);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<Option<Result<Ran, Failure>>>> = Mutex::new(items.iter().map(|_| None).collect());
    let work = || -> Result<(), Failure> {
        let judge: Arc<Judges> = Arc::clone(bench.judges);
        let mut engine = engine(bench.card, judge, bench.cli)?;
        while let Some((place, item)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            items.get(place).map(|item| (place, item))
        } {
            let ran = engine.visit(item.to_string().as_bytes(), |scored| {
                let execution = execution(scored);
                let score =
                    scored.record.score.is_some().then(|| scored.record.published.map(|it| it.to_f64()));
                ran(&execution, score.flatten())
            });
            let ran = ran.map_err(refused).and_then(|ran| ran);
            let is_failed = ran.is_err();
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(result) = results.get_mut(place) {
                *result = Some(ran);
            }
            drop(results);
            progress.reached(1 + done.fetch_add(1, Ordering::Relaxed) as u64, items.len() as u64);
            if is_failed {
                // Nothing is reported of the rest.
                next.store(items.len(), Ordering::Relaxed);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let count = bench.judges.processes().clamp(1, items.len().max(1));
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(Failure::new("a thread of karat ended too early")))
        })
    })?;
    drop(progress);
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.into_iter().flatten().collect()
}

/// Reads what a run gave.
fn ran(execution: &Value, score: Option<f64>) -> Result<Ran, Failure> {
    if let Some(why) = no_verdict(execution) {
        return Err(Failure::with_exit(Exit::Inconclusive, format!("there is no verdict: {why}")));
    }
    let mut signals = Vec::new();
    let mut reasons = Vec::new();
    for task in execution.get("tasks").and_then(Value::as_array).into_iter().flatten() {
        let file = task.get("file").and_then(Value::as_str).unwrap_or_default();
        for case in task.get("cases").and_then(Value::as_array).into_iter().flatten() {
            let name = case.get("name").and_then(Value::as_str).unwrap_or_default();
            let value = case.get("value").and_then(Value::as_f64).unwrap_or_default();
            signals.push((format!("{file}: {name}"), value));
            reasons.push(case.get("reason").and_then(Value::as_str).unwrap_or_default());
        }
        for (name, points) in task.get("scores").and_then(Value::as_object).into_iter().flatten() {
            signals.push((format!("{file}: {name}"), points.as_f64().unwrap_or_default()));
        }
    }
    let is_syntax = |reason: &&str| ["SyntaxError", "IndentationError"].iter().any(|it| reason.contains(it));
    let is_no_program = !reasons.is_empty() && reasons.iter().all(is_syntax);
    let judge = execution.get("judge").cloned().unwrap_or_default();
    Ok(Ran { score, signals, is_no_program, judge })
}

/// The result of a check.
struct Check<'a> {
    right: &'a Ran,
    empty: &'a Ran,
    noticed: Vec<Noticed>,
    not_programs: usize,
}

impl Check<'_> {
    /// Returns the names of the cases that the reference does not pass. What a script gives is its own measure.
    fn failed(&self) -> Vec<&str> {
        let cases = self.right.signals.iter().filter(|(_, value)| *value < 1.0);
        cases.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns whether the challenge can tell the reference from nothing.
    fn is_sound(&self) -> bool {
        self.failed().is_empty() && !found(self.right, self.empty).is_empty()
    }

    /// Returns a smallest set of signals that notice every mutant that any notices, found step by step: always the one that
    /// notices most of those left, the first of several.
    fn needed(&self) -> BTreeSet<usize> {
        let mut left: Vec<&BTreeSet<usize>> =
            self.noticed.iter().map(|it| &it.by).filter(|by| !by.is_empty()).collect();
        let mut needed = BTreeSet::new();
        while !left.is_empty() {
            let count = |place: usize| left.iter().filter(|by| by.contains(&place)).count();
            let best = (0..self.right.signals.len()).max_by_key(|place| (count(*place), usize::MAX - place));
            let Some(best) = best.filter(|best| count(*best) > 0) else { break };
            left.retain(|by| !by.contains(&best));
            needed.insert(best);
        }
        needed
    }

    /// Returns the check as JSON.
    fn answer(&self, card: &CompiledCard) -> Value {
        let needed = self.needed();
        let cases = self.right.signals.iter().enumerate().map(|(place, (name, value))| {
            let of_it = self.noticed.iter().filter(|mutant| mutant.by.contains(&place));
            let alone = of_it.clone().filter(|mutant| mutant.by.len() == 1).count();
            json!({"name": name, "reference": value, "mutants": of_it.count(), "alone": alone,
                "needed": needed.contains(&place)})
        });
        let told = |mutant: &Noticed| json!({"file": mutant.file, "line": mutant.line, "from": mutant.from, "to": mutant.to});
        let survivors: Vec<Value> = self.noticed.iter().filter(|it| it.by.is_empty()).map(told).collect();
        json!({
            "schema": "karat/challenge-check/1",
            "challenge": card.name(),
            "judge": self.right.judge,
            "is_sound": self.is_sound(),
            "reference": {"score": self.right.score, "failed": self.failed()},
            "empty": {"score": self.empty.score, "noticed_by": found(self.right, self.empty).len()},
            "mutants": {"run": self.noticed.len(), "noticed": self.noticed.len() - survivors.len(),
                "no_programs": self.not_programs, "survivors": survivors},
            "cases": cases.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(values: &[f64]) -> Ran {
        let signals = values.iter().enumerate().map(|(place, value)| (place.to_string(), *value)).collect();
        Ran { score: None, signals, is_no_program: false, judge: Value::Null }
    }

    fn noticed(by: &[usize]) -> Noticed {
        let (from, to) = ("<".to_owned(), "<=".to_owned());
        Noticed { file: "a.py".to_owned(), line: 1, from, to, by: by.iter().copied().collect() }
    }

    #[test]
    fn what_is_worse_than_the_reference_is_noticed() {
        let right = ran(&[1.0, 1.0, 700.0]);
        assert_eq!(found(&right, &ran(&[1.0, 0.5, 800.0])), BTreeSet::from([1]));
        assert_eq!(found(&right, &ran(&[])).len(), 3);
    }

    #[test]
    fn cases_are_needed_for_mutants_that_no_other_notices() {
        let (right, empty) = (ran(&[1.0; 4]), ran(&[]));
        let of = |sets: &[&[usize]]| Check {
            right: &right,
            empty: &empty,
            noticed: sets.iter().map(|by| noticed(by)).collect(),
            not_programs: 0,
        };
        assert_eq!(of(&[]).needed(), BTreeSet::new());
        assert_eq!(of(&[&[], &[0, 1, 2, 3]]).needed(), BTreeSet::from([0]));
        // The case 1 notices two of them first; then 0, the first of those that are left, and 3.
        assert_eq!(of(&[&[0, 2], &[1, 2], &[1], &[3]]).needed(), BTreeSet::from([0, 1, 3]));
        let sets: [&[usize]; 3] = [&[2], &[2, 3], &[1, 2]];
        let check = of(&sets);
        assert_eq!(check.needed(), BTreeSet::from([2]));
        assert!(check.is_sound());
        let weak = Check { empty: &right, ..of(&sets) };
        assert!(!weak.is_sound(), "an empty answer is as good");
        let wrong = ran(&[1.0, 0.9]);
        assert!(!Check { right: &wrong, ..of(&sets) }.is_sound());
    }
}
