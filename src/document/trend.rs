//! The document of runs over time: the alarms, then each subject with its runs.

use std::collections::BTreeSet;

use karat_core::timestamp::Timestamp;

use super::figure::{Figure, History, Point, Series};
use super::leaderboard::{cards, items};
use super::{Cell, Column, Document, Kind, Part, Row, Table, about};
use crate::answers::basis::{Estimate, Measure};
use crate::answers::trend::{ChangedTask, FILE, RunOrder, SubjectTrend, Trend, TrendChange, TrendRun};
use crate::estimate::{Writing, percent};
use crate::text::{Tone, count, short};

/// The caption of the subjects with the course of each.
pub const COURSES: &str = "Subjects";

/// Returns the document of an answer about runs over time, with the sentences on items that are odd.
pub fn trend(answer: &Trend, gaps: &[String]) -> Document {
    let basis = &answer.basis;
    let alarms = answer.subjects.iter().filter(|it| it.alarm.is_some()).count();
    let title = match alarms {
        0 => format!("{}: no alarm", cards(basis)),
        alarms => format!("{}: {}", cards(basis), count(alarms, "alarm")),
    };
    let order = match answer.order {
        RunOrder::Time => "in order of time",
        RunOrder::Name => "in order of their names, as not all items have a time",
    };
    let baseline = match answer.baseline {
        1 => String::from("run is"),
        runs => format!("{runs} runs are"),
    };
    let mut document = Document {
        name: "trend",
        title,
        lines: vec![
            items(basis, false),
            format!("runs by {}, {order}; the first {baseline} the baseline", short(&answer.runs_by)),
            format!(
                "an alarm at {}: of subjects that never change, at most {} ever raise one, however often they are looked at",
                answer.direction.name(),
                percent(1.0 - basis.level)
            ),
        ],
        about: about(basis),
        headline: crate::headline::trend(answer),
        ..Document::default()
    };
    for (tone, text) in answer.subjects.iter().filter_map(sentence) {
        document.note(tone, [text]);
    }
    document.note(Tone::Care, gaps.iter().cloned().chain(days(answer)));
    document.parts.push(Figure::History(courses(answer)).into());
    document.parts.push(Part::Table(runs(answer)));
    document.parts.push(Part::Table(subjects(answer)));
    for subject in &answer.subjects {
        let tasks = subject.change.as_ref().filter(|it| !it.tasks.is_empty());
        document.parts.extend(tasks.map(|it| Part::Table(changed(it, &subject.subject, basis.scale))));
    }
    document
}

/// Says that runs by file may be runs by day.
fn days(answer: &Trend) -> Option<String> {
    let runs: BTreeSet<&str> =
        answer.subjects.iter().flat_map(|it| &it.runs).map(|run| run.run.as_str()).collect();
    let days = answer.days.filter(|days| answer.runs_by == FILE && *days > runs.len() as u64)?;
    let (runs, days) = (count(runs.len(), "file"), count(usize::try_from(days).unwrap_or(usize::MAX), "day"));
    Some(format!(
        "each of {runs} is one run, though they hold items of {days}: `--run day` makes each day a run"
    ))
}

/// Says what became of a subject.
fn sentence(it: &SubjectTrend) -> Option<(Tone, String)> {
    let name = short(&it.subject);
    if let Some(reason) = &it.reason {
        return Some((Tone::Plain, format!("no alarm can be raised for {name}: {reason}")));
    }
    let alarm = it.alarm.as_ref()?;
    let Some(change) = &it.change else {
        return Some((Tone::Bad, format!("{name}: alarm at {}", short(alarm))));
    };
    let between = match (change.plausible.first(), change.plausible.last()) {
        (Some(first), Some(last)) if first != last => {
            format!(" (from {} to {} all may be it)", short(first), short(last))
        }
        _ => String::new(),
    };
    let tasks = match change.tasks.len() {
        0 => String::from("no single task carries it"),
        tasks => format!("carried by {}", count(tasks, "task")),
    };
    Some((
        Tone::Bad,
        format!(
            "{name}: alarm at {}; most likely since {}{between}, from {:.1} to {:.1} points, {tasks}",
            short(alarm),
            short(&change.first),
            change.before,
            change.after
        ),
    ))
}

fn estimate(found: &Estimate, scale: u32) -> Cell {
    Cell::interval(Some(found.mean), found.interval(), Writing::points(scale), false)
}

fn difference(found: Option<Measure>, scale: u32) -> Cell {
    let ends = found.and_then(|it| it.interval());
    Cell::interval(found.map(|it| it.value), ends, Writing::points(scale), true)
}

fn runs(answer: &Trend) -> Table {
    let scale = answer.basis.scale;
    let is_several = answer.subjects.len() > 1;
    let row = |subject: &SubjectTrend, it: &TrendRun| -> Row {
        let mark = if subject.alarm.as_ref() == Some(&it.run) {
            Cell::Mark(Tone::Care, "alarm", "alarm")
        } else if it.is_left_out {
            Cell::Word("left-out", "left out")
        } else {
            Cell::Absent
        };
        vec![
            Cell::text(&it.run),
            Cell::text(&subject.subject),
            mark,
            estimate(&it.score, scale),
            Cell::Number(it.chance, chance(it.chance)),
            difference(it.since_first, scale),
            difference(it.since_last, scale),
            Cell::Count(it.items),
            Cell::Count(it.missing),
            Cell::of_text(it.time.as_deref()),
        ]
        .into()
    };
    let level = answer.basis.level;
    let sides = Some(("worse", "better"));
    let columns = vec![
        Column::name("run"),
        Column::text("subject").shown_if(is_several),
        Column::text("alarm"),
        Column::new("score", Kind::Interval { sides: None, level }),
        Column::number("chance").labelled("chance if nothing changed"),
        Column::new("since_first", Kind::Interval { sides, level }).labelled("since the first").wide(),
        Column::new("since_last", Kind::Interval { sides, level }).labelled("since the last").hidden(),
        Column::number("items").wide(),
        Column::number("missing").labelled("tasks missing").hidden(),
        Column::text("time").hidden(),
    ];
    let rows = answer.subjects.iter().flat_map(|subject| subject.runs.iter().map(move |it| row(subject, it)));
    Table::new("The runs of each subject, the oldest first", columns, rows.collect())
}

fn subjects(answer: &Trend) -> Table {
    let (scale, level) = (answer.basis.scale, answer.basis.level);
    let row = |it: &SubjectTrend| -> Row {
        let latest = it.runs.last().map_or(Cell::Absent, |run| estimate(&run.score, scale));
        let history = it.runs.iter().map(|run| run.score.mean).collect();
        vec![
            Cell::text(&it.subject),
            Cell::Trend(history),
            latest,
            difference(it.slope, scale),
            Cell::of_text(it.alarm.as_deref()),
            Cell::of_text(it.change.as_ref().map(|change| change.first.as_str())),
            Cell::Count(it.runs.len() as u64),
            Cell::of_text(it.reason.as_deref()),
        ]
        .into()
    };
    let decimals = Writing::points(scale).decimals();
    let columns = vec![
        Column::name("subject"),
        Column::new("history", Kind::Trend { range: (0.0, scale.into()), decimals }),
        Column::new("latest", Kind::Interval { sides: None, level }),
        Column::new("slope", Kind::Interval { sides: Some(("falls", "rises")), level })
            .labelled("points per run"),
        Column::text("alarm"),
        Column::text("since"),
        Column::number("runs"),
        Column::text("reason").shown_if(answer.subjects.iter().any(|it| it.reason.is_some())),
    ];
    Table::new(COURSES, columns, answer.subjects.iter().map(row).collect())
}

/// Returns the scores of the runs over time, with the means before and after a change.
fn courses(answer: &Trend) -> History {
    let series = |subject: &SubjectTrend| {
        let change = subject.change.as_ref();
        let first = change.and_then(|change| subject.runs.iter().position(|run| run.run == change.first));
        let all =
            subject.runs.iter().map(|run| run.score.mean).sum::<f64>() / subject.runs.len().max(1) as f64;
        let mean = |at: usize| match (change, first) {
            (Some(change), Some(first)) => {
                if at < first {
                    change.before
                } else {
                    change.after
                }
            }
            _ => all,
        };
        let point = |(at, run): (usize, &TrendRun)| Point {
            time: run.time.as_ref().and_then(|time| Timestamp::parse(time).ok()),
            value: Some(run.score.mean),
            line: Some(mean(at)),
            flag: (subject.alarm.as_ref() == Some(&run.run)).then(|| String::from("alarm")),
            ..Point::default()
        };
        Series { name: subject.subject.clone(), points: subject.runs.iter().enumerate().map(point).collect() }
    };
    History {
        caption: String::from("Scores over time"),
        value_label: String::from("score of a run"),
        line_label: String::from("mean, before and after a change"),
        range: None,
        decimals: Writing::points(answer.basis.scale).decimals(),
        levels: Vec::new(),
        series: answer.subjects.iter().map(series).collect(),
    }
}

/// Formats the chance of an alarm: below the level it counts in powers of ten.
fn chance(chance: f64) -> String {
    if chance >= 0.0001 { format!("{chance:.4}") } else { format!("{chance:.0e}") }
}

fn changed(change: &TrendChange, subject: &str, scale: u32) -> Table {
    let writing = Writing::points(scale);
    let row = |it: &ChangedTask| -> Row {
        let by = it.before.zip(it.after).map(|(before, after)| after - before);
        vec![
            Cell::text(&it.task),
            Cell::of_number(it.before, |it| writing.number(it)),
            Cell::of_number(it.after, |it| writing.number(it)),
            Cell::of_number(by, |it| writing.signed(it)),
            Cell::of_number(it.p, |p| format!("{p:.4}")),
        ]
        .into()
    };
    let columns = vec![
        Column::name("task"),
        Column::number("before"),
        Column::number("after"),
        Column::number("change"),
        Column::number("p").wide(),
    ];
    let caption = format!("Tasks that carry the change of {}", short(subject));
    Table::new(caption, columns, change.tasks.iter().map(row).collect())
}
