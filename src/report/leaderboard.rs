//! The report of a leaderboard: a row and a test case for each subject, and a finding for each that fails a gate.

use super::{Case, CaseResult, Column, Finding, Level, Report, Sheet, Value};
use crate::answers::basis::{Basis, Estimate};
use crate::answers::leaderboard::notes::notes;
use crate::answers::leaderboard::{Leaderboard, LeaderboardAnswer, LeaderboardRow, MEAN, OFFICIAL};
use crate::answers::{IntervalMethod, LeaderboardMethod, Outcome};
use crate::estimate::{Writing, percent, ranks, whole_percent};
use crate::gate::Failing;
use crate::text::{NAMED, Tone, count, list};
use karat_core::facts::Outcome as CoreOutcome;

/// Returns the report of leaderboards, with the subjects that fail a gate.
#[must_use]
pub fn leaderboard(answer: &LeaderboardAnswer, failing: &[Failing]) -> Report {
    let sheet = Sheet { caption: String::new(), columns: columns(answer), rows: rows(answer) };
    let mut findings: Vec<Finding> = failing
        .iter()
        .map(|it| {
            Finding::new(if it.is_open { Level::Warning } else { Level::Error }, "gate", it.line.clone())
        })
        .collect();
    findings.sort_by_key(|finding| finding.level);
    for board in &answer.leaderboards {
        for (tone, line) in notes(&answer.basis, answer.method, board) {
            let level = if tone == Tone::Plain { Level::Notice } else { Level::Warning };
            findings.push(Finding::new(level, "leaderboard", line));
        }
    }
    let mut cases = Vec::new();
    for board in &answer.leaderboards {
        cases.extend(board.rows.iter().map(|row| case(answer, board, row, failing)));
        for it in failing.iter().filter(|it| it.group == board.group) {
            if board.rows.iter().all(|row| row.subject != it.subject) {
                cases.push(Case { result: CaseResult::Error(it.line.clone()), ..bare(board, &it.subject) });
            }
        }
    }
    Report {
        title: head(answer),
        lines: vec![items(&answer.basis, has_intervals(answer))],
        sheets: vec![sheet],
        cases,
        findings,
    }
}

/// Returns the scorecards, and what ranks are by.
fn head(answer: &LeaderboardAnswer) -> String {
    let first = answer.leaderboards.first();
    format!("{} {}", cards(&answer.basis), first.map_or_else(String::new, by))
}

/// Returns the first scorecards.
#[must_use]
pub fn cards(basis: &Basis) -> String {
    let cards = basis.card_names();
    let shown: Vec<&str> = cards.iter().take(NAMED).map(String::as_str).collect();
    let more = if cards.len() > NAMED { " and more" } else { "" };
    format!("{}{more}", list(&shown))
}

/// Returns what the ranks of a leaderboard are by.
#[must_use]
pub fn by(board: &Leaderboard) -> String {
    match (board.by.as_str(), &board.as_of, &board.fact) {
        (OFFICIAL, Some(as_of), _) => format!("by official score at {as_of}"),
        (OFFICIAL, None, _) => String::from("by official score"),
        (MEAN, _, _) => String::from("by mean of runs"),
        (key, _, Some(fact)) => {
            format!("by {key}, {} first", if fact.lower_is_better { "lowest" } else { "highest" })
        }
        (key, _, None) => format!("by {key}"),
    }
}

/// Returns true if intervals come from tasks.
#[must_use]
pub fn has_intervals(answer: &LeaderboardAnswer) -> bool {
    let is_of_tasks = |row: &LeaderboardRow| {
        row.mean().and_then(|it| it.method).is_some_and(|method| method != IntervalMethod::Wilson)
    };
    answer.leaderboards.iter().any(|board| board.rows.iter().any(is_of_tasks))
}

/// Returns the number of items, and the method of intervals if there are any.
#[must_use]
pub fn items(basis: &Basis, has_intervals: bool) -> String {
    let items = &basis.items;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut line =
        format!("{} of {}", count(size(items.count), "item"), count(size(items.subjects), "subject"));
    if has_intervals {
        line.push_str(&format!("; {} intervals from {}", percent(basis.level), resamples(basis)));
    }
    for (number, what) in [(items.left_out, "left out"), (items.repeated, "given again, which count once")] {
        if let Some(number) = number.filter(|number| *number > 0) {
            line.push_str(&format!("; {} {what}", count(size(number), "item")));
        }
    }
    line
}

/// Returns the source of intervals.
#[must_use]
pub fn resamples(basis: &Basis) -> String {
    match basis.resamples.zip(basis.seed) {
        Some((resamples, seed)) => format!("{resamples} resamples of tasks, seed {seed}"),
        None => String::from("the spread of tasks (Student)"),
    }
}

/// Returns a share on a scale with all the digits that it has: answers are rounded to billionths.
pub(super) fn points(share: f64, scale: f64) -> f64 {
    let digits = 1e9 / scale.max(1.0);
    let value = share * scale;
    let rounded = if value.abs() * digits < 1e15 { (value * digits).round() / digits } else { value };
    if rounded == 0.0 { 0.0 } else { rounded }
}

/// The scale on which the numbers of a leaderboard are written.
fn writing(answer: &LeaderboardAnswer, board: &Leaderboard) -> (Writing, f64) {
    let scale = if board.is_of_scores() { f64::from(answer.basis.scale) } else { 1.0 };
    (board.writing(answer.basis.scale), scale)
}

fn columns(answer: &LeaderboardAnswer) -> Vec<Column> {
    let boards = &answer.leaderboards;
    let any = |is: &dyn Fn(&LeaderboardRow) -> bool| boards.iter().any(|board| board.rows.iter().any(is));
    let unless = |is_shown: bool, column: Column| if is_shown { column } else { column.hidden() };
    let is_official = any(&|row| row.official.is_some());
    let has_letters = any(&|row| !row.ties().is_empty());
    let has_chances = any(&|row| row.chance_of_rank_1.is_some());
    let mut columns = vec![
        unless(boards.iter().any(|board| board.group.is_some()), Column::text("group")),
        Column::number("rank"),
        Column::number("rank_worst").hidden(),
        unless(has_letters, Column::text("tied")),
        Column::text("subject"),
        unless(is_official, Column::number("official")),
        unless(any(&|row| row.official.as_ref().is_some_and(|it| it.tier.is_some())), Column::text("tier")),
        Column::number("mean").labelled(if is_official { "runs" } else { "score" }),
        Column::number("low"),
        Column::number("high"),
        unless(has_chances, Column::number("chance_of_rank_1")),
        Column::number("tasks"),
        Column::number("items").hidden(),
    ];
    columns.extend(CoreOutcome::ALL.iter().map(|outcome| Column::number(outcome.name()).hidden()));
    columns.extend(
        dimensions(answer).into_iter().map(|key| Column::number(&format!("dimension.{key}")).hidden()),
    );
    columns.extend(extras(answer).into_iter().map(|key| Column::number(&key).labelled(&key)));
    columns
}

/// Returns the dimensions of all leaderboards.
fn dimensions(answer: &LeaderboardAnswer) -> Vec<String> {
    let rows = answer.leaderboards.iter().flat_map(|board| &board.rows);
    let keys = rows.filter_map(|row| row.dimensions.as_ref()).flat_map(|all| all.keys().cloned());
    keys.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Returns the columns that were asked for, in that order.
fn extras(answer: &LeaderboardAnswer) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for key in answer.leaderboards.iter().flat_map(|board| &board.columns) {
        if !all.contains(key) {
            all.push(key.clone());
        }
    }
    all
}

fn rows(answer: &LeaderboardAnswer) -> Vec<Vec<Value>> {
    let (dimensions, extras) = (dimensions(answer), extras(answer));
    let row = |board: &Leaderboard, row: &LeaderboardRow| {
        let (writing, scale) = writing(answer, board);
        let share = |share: f64| Value::Number(points(share, scale), writing.number(share));
        let of = |value: Option<f64>| value.map_or(Value::Absent, share);
        let mean = row.mean();
        let official = row.official.as_ref();
        let [best, worst] = row.shown_ranks();
        let mut values = vec![
            Value::of_text(board.group.clone()),
            Value::Number(best.into(), ranks([best, worst])),
            Value::Count(worst.into()),
            Value::of_text(Some(row.ties()).filter(|ties| !ties.is_empty())),
            Value::Text(row.subject.clone()),
            official.map_or(Value::Absent, |it| Value::Number(it.points, writing.number(row.score.mean))),
            Value::of_text(official.and_then(|it| it.tier.clone())),
            of(mean.map(|it| it.mean)),
            of(mean.and_then(|it| it.low)),
            of(mean.and_then(|it| it.high)),
            Value::of_number(row.chance_of_rank_1, whole_percent),
            Value::Count(row.tasks),
            Value::Count(row.items),
        ];
        let counts = |outcome: &CoreOutcome| {
            row.outcomes.map_or(Value::Absent, |it| Value::Count(it.count(Outcome::from(*outcome))))
        };
        values.extend(CoreOutcome::ALL.iter().map(counts));
        let dimension = |key: &String| row.dimensions.as_ref()?.get(key).copied().flatten();
        values.extend(dimensions.iter().map(|key| {
            Value::of_number(dimension(key).map(|it: Estimate| it.mean), |it| Writing::shares().number(it))
        }));
        values.extend(extras.iter().map(|key| Value::of_number(row.column(key), crate::estimate::plain)));
        values
    };
    answer.leaderboards.iter().flat_map(|board| board.rows.iter().map(move |it| row(board, it))).collect()
}

fn bare(board: &Leaderboard, subject: &str) -> Case {
    Case {
        class: board.group.clone().unwrap_or_else(|| String::from("leaderboard")),
        name: subject.to_owned(),
        result: CaseResult::Passed,
        seconds: None,
        place: None,
        output: Vec::new(),
    }
}

fn case(answer: &LeaderboardAnswer, board: &Leaderboard, row: &LeaderboardRow, failing: &[Failing]) -> Case {
    let own: Vec<&Failing> =
        failing.iter().filter(|it| it.subject == row.subject && it.group == board.group).collect();
    let lines = |is_open| {
        let lines = own.iter().filter(|it| it.is_open == is_open).map(|it| it.line.as_str());
        lines.collect::<Vec<_>>().join("\n")
    };
    let result = match own.as_slice() {
        [] => CaseResult::Passed,
        own if own.iter().any(|it| !it.is_open) => CaseResult::Failed(lines(false)),
        _ => CaseResult::Error(lines(true)),
    };
    let (writing, _) = writing(answer, board);
    let mean = row.mean().map_or_else(|| String::from("no mean"), |it| writing.number(it.mean));
    let interval = match answer.method {
        LeaderboardMethod::Census => String::new(),
        _ => format!(", {} interval {}", percent(answer.basis.level), row.ends(writing)),
    };
    let official = row
        .official
        .as_ref()
        .map_or_else(String::new, |_| format!("official score {}, ", writing.number(row.score.mean)));
    let said = format!(
        "rank {}, {official}mean {mean}{interval} over {}",
        ranks(row.shown_ranks()),
        count(usize::try_from(row.tasks).unwrap_or(usize::MAX), "task")
    );
    Case { result, output: vec![said], ..bare(board, &row.subject) }
}
