//! The document of standings: a row for each subject, or for each task.

use super::{Case, CaseResult, Cell, Column, Document, Finding, Level, Part, Table};
use crate::answers::points;
use crate::answers::standing::Standing;
use crate::answers::task::Task;
use crate::estimate::{Writing, tenth_percent};
use crate::text::count;

/// Returns the document of the standings of subjects, with the `notes` on all of them.
#[must_use]
pub fn standings(standings: &[Standing], notes: &[String]) -> Document {
    let first = standings.first();
    let title = first
        .map_or_else(|| String::from("Standings"), |it| format!("{} at {}", it.scorecard.name(), it.as_of));
    let row = |it: &Standing| {
        let writing = Writing::of(it.scale);
        let it_scale = it.scale;
        let scale = f64::from(it.scale);
        let shown = |points: f64| writing.number(points / scale);
        let share = |share: Option<f64>| {
            share.map_or(Cell::Absent, |it| Cell::Number(points(it, it_scale), writing.number(it)))
        };
        let tier = it.tier.as_ref();
        vec![
            Cell::Text(it.subject.clone()),
            Cell::of_number(it.points, shown),
            share(it.interval.as_ref().map(|it| it.low)),
            share(it.interval.as_ref().map(|it| it.high)),
            share(it.score.as_ref().map(|it| it.value)),
            Cell::of_text(tier.and_then(|it| it.held.clone())),
            Cell::of_text(tier.and_then(|it| it.earned.clone())),
            Cell::of_text(tier.and_then(|it| it.single_blocker.clone())),
            Cell::of_number(it.share.as_ref().map(|it| it.share), tenth_percent),
            Cell::Flag(it.on_hold),
            Cell::Count(it.incidents.len() as u64),
            Cell::Count(it.items.in_window),
            Cell::Count(it.evaluations),
            Cell::of_number(Some(it.coverage), tenth_percent),
        ]
    };
    let any = |is: &dyn Fn(&Standing) -> bool| standings.iter().any(is);
    let unless = |is_shown: bool, column: Column| column.shown_if(is_shown);
    let has_tiers = any(&|it| it.tier.is_some());
    let columns = vec![
        Column::name("subject"),
        Column::number("official"),
        Column::number("low"),
        Column::number("high"),
        Column::number("score").hidden(),
        unless(has_tiers, Column::text("tier")),
        Column::text("earned_tier").hidden(),
        unless(has_tiers, Column::text("blocked_by")),
        unless(any(&|it| it.share.is_some()), Column::number("share")),
        unless(any(&|it| it.on_hold), Column::text("on_hold")),
        unless(any(&|it| !it.incidents.is_empty()), Column::number("incidents")),
        Column::number("items"),
        Column::number("evaluations").hidden(),
        Column::number("coverage").hidden(),
    ];
    let mut findings = Vec::new();
    let mut cases = Vec::new();
    for it in standings {
        let held = it.on_hold.then(|| format!("{} is on hold", it.subject));
        let open = (!it.incidents.is_empty())
            .then(|| format!("{} has {} open", it.subject, count(it.incidents.len(), "incident")));
        let lines: Vec<String> = held.into_iter().chain(open).collect();
        let result = match (lines.is_empty(), it.points) {
            (false, _) => CaseResult::Failed(lines.join("\n")),
            (true, None) => CaseResult::Error(String::from("there is no official score")),
            (true, Some(_)) => CaseResult::Passed,
        };
        let output = it.points.map(|points| format!("official score {points}")).into_iter().collect();
        cases.push(Case {
            class: String::from("standing"),
            name: it.subject.clone(),
            result,
            seconds: None,
            place: None,
            output,
        });
        findings.extend(lines.into_iter().map(|line| Finding::new(Level::Warning, "standing", line)));
    }
    findings.extend(notes.iter().map(|line| Finding::new(Level::Notice, "standing", line.clone())));
    let rows = standings.iter().map(|it| row(it).into()).collect();
    Document {
        name: "standing",
        title,
        lines: vec![count(standings.len(), "subject")],
        parts: vec![Part::Table(Table::new("", columns, rows))],
        cases,
        findings,
        ..Document::default()
    }
}

/// Returns the document of the standings of tasks.
#[must_use]
pub fn tasks(tasks: &[Task]) -> Document {
    let first = tasks.first();
    let title =
        first.map_or_else(|| String::from("Tasks"), |it| format!("{} at {}", it.scorecard.name(), it.as_of));
    let row = |it: &Task| {
        let rate = |of: fn(&crate::answers::task::Rate) -> f64| {
            Cell::of_number(it.win_rate.as_ref().map(of), tenth_percent)
        };
        vec![
            Cell::Text(it.task.clone()),
            Cell::Count(it.subjects),
            Cell::Count(it.items.attempts),
            Cell::Count(it.completed),
            Cell::Count(it.won),
            Cell::Count(it.drawn),
            Cell::Count(it.lost),
            rate(|it| it.value),
            rate(|it| it.low),
            rate(|it| it.high),
            Cell::of_text(it.calibration.as_ref().and_then(|it| it.difficulty).map(|it| it.name())),
            Cell::of_text(it.lifecycle.as_ref().map(|it| it.status.name())),
        ]
    };
    let columns = ["subjects", "attempts", "completed", "won", "drawn", "lost", "win_rate", "low", "high"];
    let columns = [Column::name("task")]
        .into_iter()
        .chain(columns.map(Column::number))
        .chain(["difficulty", "status"].map(Column::text));
    let rows = tasks.iter().map(|it| row(it).into()).collect();
    Document {
        name: "standing",
        title,
        lines: vec![count(tasks.len(), "task")],
        parts: vec![Part::Table(Table::new("", columns.collect(), rows))],
        ..Document::default()
    }
}
