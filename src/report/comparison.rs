//! The report of a comparison: the differences, the tasks that changed, and the gate as a test case.

use super::leaderboard::{cards, items, points};
use super::{Case, CaseResult, Column, Finding, Level, Place, Report, Sheet, Value};
use crate::answers::basis::Basis;
use crate::answers::changes::{TaskAttempts, TaskChange};
use crate::answers::comparison::{ComparedPair, Comparison, Comparisons, Difference};
use crate::answers::{ComparisonVerdict, GateChange};
use crate::estimate::{Writing, percent};
use crate::text::{count, named, short};

/// Returns the report of a comparison; `failed` says why the gate of a pair fails.
#[must_use]
pub fn comparison(answer: &Comparison, failed: &dyn Fn(&ComparedPair) -> Option<String>) -> Report {
    let pairs = std::slice::from_ref(&answer.pair);
    let title = verdict(&answer.pair);
    Report { title, ..of_pairs(&answer.basis, pairs, failed) }
}

/// Returns the report of the subjects of two files.
#[must_use]
pub fn comparisons(answer: &Comparisons, failed: &dyn Fn(&ComparedPair) -> Option<String>) -> Report {
    let mut report = of_pairs(&answer.basis, &answer.comparisons, failed);
    report.title = format!("{} against {}", answer.second_file, answer.first_file);
    for (file, names) in answer.unpaired() {
        let names: Vec<String> = names.into_iter().map(|name| format!("`{}`", short(name))).collect();
        let text = format!("only in {file}, so not compared: {}", names.join(", "));
        report.findings.push(Finding::new(Level::Warning, "compare", text));
    }
    report
}

/// Says which of the two is ahead.
fn verdict(pair: &ComparedPair) -> String {
    let (first, second) = (short(&pair.first.subject), short(&pair.second.subject));
    if pair.first.subject == pair.second.subject {
        return match pair.difference.verdict {
            ComparisonVerdict::FirstAhead => format!("{second} is worse than before"),
            ComparisonVerdict::SecondAhead => format!("{second} is better than before"),
            ComparisonVerdict::TooFewSharedTasks => format!("{second} has too few tasks of before"),
            ComparisonVerdict::NotDistinguishable => format!("{second} is not separated from before"),
        };
    }
    match pair.difference.verdict {
        ComparisonVerdict::FirstAhead => format!("{first} is ahead of {second}"),
        ComparisonVerdict::SecondAhead => format!("{second} is ahead of {first}"),
        ComparisonVerdict::TooFewSharedTasks => format!("{first} and {second} share too few tasks"),
        ComparisonVerdict::NotDistinguishable => format!("{first} and {second} are not separated"),
    }
}

fn of_pairs(
    basis: &Basis,
    pairs: &[ComparedPair],
    failed: &dyn Fn(&ComparedPair) -> Option<String>,
) -> Report {
    let mut findings = Vec::new();
    let mut cases = Vec::new();
    for pair in pairs {
        let line = failed(pair);
        let is_worse = pair.gate.is_some_and(|gate| gate.finding == GateChange::Worse);
        if let Some(line) = &line {
            let level = if is_worse { Level::Error } else { Level::Warning };
            findings.push(Finding::new(level, "regression", line.clone()));
        }
        // Where the gate is undecided its sentence names them.
        let lacks = [
            (&pair.changes.missing, "missing", "without a result", "that counts"),
            (&pair.changes.fewer, "fewer", "with fewer results", "that count"),
        ];
        for (tasks, kind, what, which) in lacks.into_iter().filter(|_| line.is_none() || is_worse) {
            let names: Vec<&str> = tasks.iter().map(String::as_str).collect();
            let Some(list) = named(&names) else { continue };
            let (tasks, who) = (count(names.len(), "task"), short(&pair.second.subject));
            let text = format!("{tasks} {what} of {who} {which}: {list}");
            findings.push(Finding::new(Level::Warning, kind, text));
        }
        let result = match line {
            None => CaseResult::Passed,
            Some(line) if is_worse => CaseResult::Failed(line),
            Some(line) => CaseResult::Error(line),
        };
        let name = match pair.first.subject == pair.second.subject {
            true => pair.second.subject.clone(),
            false => format!("{} against {}", pair.second.subject, pair.first.subject),
        };
        let estimate = &pair.difference.estimate;
        let writing = Writing::of(basis.scale);
        let ends = |(low, high): (f64, f64)| format!("{} to {}", writing.signed(-high), writing.signed(-low));
        let change = estimate.interval().map_or_else(|| writing.ends(None), ends);
        let output = vec![
            verdict(pair),
            format!(
                "change {}, {} interval {} over {}",
                writing.signed(-estimate.mean),
                percent(basis.level),
                change,
                count(usize::try_from(estimate.tasks).unwrap_or(usize::MAX), "task")
            ),
        ];
        cases.push(Case { class: String::from("compare"), name, result, seconds: None, place: None, output });
        // A task that got worse is no failure alone: the gate decides over all of them.
        findings.extend(pair.changes.regressed.iter().map(|change| regressed(basis, pair, change)));
    }
    findings.sort_by_key(|finding| finding.level);
    Report {
        title: String::new(),
        lines: vec![cards(basis), items(basis, true)],
        sheets: vec![differences(basis, pairs), tasks(basis, pairs)],
        cases,
        findings,
    }
}

fn regressed(basis: &Basis, pair: &ComparedPair, change: &TaskChange) -> Finding {
    let writing = Writing::of(basis.scale);
    let noise = match change.outside_noise {
        Some(true) => ", more than chance",
        Some(false) => ", within chance",
        None => "",
    };
    let text = format!(
        "{}: {} was {} and is {}{noise}",
        change.task,
        short(&pair.second.subject),
        writing.number(change.first.mean),
        writing.number(change.second.mean)
    );
    Finding { place: place(&change.second), ..Finding::new(Level::Notice, "regressed", text) }
}

fn place(attempts: &TaskAttempts) -> Option<Place> {
    attempts.items.first().map(|item| Place { file: item.file.clone(), line: item.line })
}

fn differences(basis: &Basis, pairs: &[ComparedPair]) -> Sheet {
    let row = |pair: &ComparedPair, key: &str, means: [Option<f64>; 2], scale: u32, it: &Difference| {
        let writing = if scale == 0 { Writing::shares() } else { Writing::of(scale) };
        let full = |share: f64| points(share, f64::from(scale.max(1)));
        let plain = |share: Option<f64>| {
            share.map_or(Value::Absent, |it| Value::Number(full(it), writing.number(it)))
        };
        let change = |share: Option<f64>| {
            share.map_or(Value::Absent, |it| Value::Number(full(-it), writing.signed(-it)))
        };
        vec![
            Value::Text(pair.first.subject.clone()),
            Value::Text(pair.second.subject.clone()),
            Value::Text(key.to_owned()),
            plain(means[0]),
            plain(means[1]),
            change(Some(it.estimate.mean)),
            change(it.estimate.high),
            change(it.estimate.low),
            Value::Count(it.estimate.tasks),
            Value::Count(it.second_ahead_tasks),
            Value::Count(it.first_ahead_tasks),
            Value::Text(it.verdict.name().to_owned()),
        ]
    };
    let mut rows = Vec::new();
    for pair in pairs {
        let means = [pair.first.mean, pair.second.mean];
        rows.push(row(pair, "score", means, basis.scale, &pair.difference));
        let measured = pair.dimensions.iter().filter_map(|(key, it)| Some((key, it.as_ref()?)));
        rows.extend(measured.map(|(key, it)| row(pair, key, [None, None], 0, it)));
    }
    let is_one = pairs.len() == 1;
    let name = |column: Column| if is_one { column } else { column.hidden() };
    Sheet {
        caption: String::from("Change from the first to the second; below 0 is worse"),
        columns: vec![
            name(Column::text("first")),
            Column::text("second"),
            Column::text("of"),
            Column::number("first_mean"),
            Column::number("second_mean"),
            Column::number("change"),
            Column::number("low"),
            Column::number("high"),
            Column::number("tasks"),
            Column::number("better_tasks"),
            Column::number("worse_tasks"),
            Column::text("ahead"),
        ],
        rows,
    }
}

fn tasks(basis: &Basis, pairs: &[ComparedPair]) -> Sheet {
    let writing = Writing::of(basis.scale);
    let scale = f64::from(basis.scale);
    let number = |share: f64| Value::Number(points(share, scale), writing.number(share));
    let at = |attempts: &TaskAttempts| {
        let places: Vec<String> = attempts.items.iter().take(3).map(|item| item.place()).collect();
        Value::Text(places.join(", "))
    };
    let row = |pair: &ComparedPair, word: &str, change: &TaskChange| {
        vec![
            Value::Text(word.to_owned()),
            Value::Text(pair.second.subject.clone()),
            Value::Text(change.task.clone()),
            number(change.first.mean),
            number(change.second.mean),
            Value::of_number(change.p, |p| format!("{p:.3}")),
            at(&change.first),
            at(&change.second),
        ]
    };
    let of = |pair: &ComparedPair| -> Vec<Vec<Value>> {
        let worse = pair.changes.regressed.iter().map(|it| row(pair, "regressed", it));
        worse.chain(pair.changes.fixed.iter().map(|it| row(pair, "fixed", it))).collect()
    };
    Sheet {
        caption: String::from("Tasks that changed"),
        columns: vec![
            Column::text("change"),
            Column::text("subject"),
            Column::text("task"),
            Column::number("before"),
            Column::number("after"),
            Column::number("p"),
            Column::text("evidence_before"),
            Column::text("evidence_after"),
        ],
        rows: pairs.iter().flat_map(of).collect(),
    }
}
