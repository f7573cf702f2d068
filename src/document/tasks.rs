//! The document of tasks: what to look at first, then all of them, then which could be left out.

use super::leaderboard::{cards, items};
use super::{Cell, Column, Document, Kind, Part, Row, Table, about};
use crate::answers::basis::Measure;
use crate::answers::tasks::{FlakyProposal, FlakyVerdict, TaskReport, TaskSubset, Tasks};
use crate::estimate::{Writing, percent, whole_percent};
use crate::text::{Tone, count, named, short};

/// Kendall's tau from which on an order is kept.
const KEPT: f64 = 0.9;
/// The largest number of pairs and groups that are listed.
const LISTED: usize = 20;

/// Returns the document of an answer about tasks, with the sentences on items that are odd.
pub fn of_tasks(answer: &Tasks, gaps: &[String]) -> Document {
    let all = count(answer.tasks.len(), "task");
    let mut document = Document {
        name: "tasks",
        title: format!("{}: {all}", cards(&answer.basis)),
        lines: vec![
            items(&answer.basis, false),
            format!("{} intervals over subjects", percent(answer.basis.level)),
        ],
        about: about(&answer.basis),
        headline: crate::headline::tasks(answer),
        ..Document::default()
    };
    let (suspect, flaky, idle) = (suspect(answer), flaky(answer), idle(answer));
    document.note(Tone::Care, suspect.into_iter().chain(flaky));
    document.note(Tone::Plain, idle);
    document.note(Tone::Plain, answer.subset.iter().map(subset));
    document.note(Tone::Care, gaps.iter().cloned());
    document.note(Tone::Plain, answer.unanswered.iter().cloned());
    document.parts.push(Part::Table(reports(answer)));
    document.parts.extend(redundant(answer).map(Part::Table));
    document
}

fn names<'a>(tasks: impl Iterator<Item = &'a TaskReport>) -> Vec<String> {
    tasks.map(|it| short(&it.task)).collect()
}

fn suspect(answer: &Tasks) -> Option<String> {
    let suspects = names(answer.tasks.iter().filter(|it| it.is_suspect == Some(true)));
    let rate = whole_percent(answer.rate);
    let who = named(&suspects)?;
    Some(format!(
        "strong subjects fail and weak ones pass {who}: look at the keys (of such findings {rate} are chance at most)"
    ))
}

fn flaky(answer: &Tasks) -> Option<String> {
    let flaky = answer.tasks.iter().filter(|it| it.repeats.verdict == FlakyVerdict::Flaky);
    if answer.subjects_vary {
        return Some(format!(
            "outcomes change by themselves at {} of {}: that is the subjects, not the tasks; rank them by several attempts",
            flaky.count(),
            count(answer.tasks.len(), "task")
        ));
    }
    let proposed = flaky.filter(|it| it.repeats.proposal == FlakyProposal::Quarantine);
    let who = named(&names(proposed))?;
    Some(format!("the outcome changes while nothing changed: {who}; quarantine them until they are repaired"))
}

fn idle(answer: &Tasks) -> Option<String> {
    let idle = names(answer.tasks.iter().filter(|it| it.decides_nothing));
    let who = named(&idle)?;
    Some(format!(
        "{} of {} decide nothing, as all subjects have the same result: {who}",
        idle.len(),
        answer.tasks.len()
    ))
}

fn subset(found: &TaskSubset) -> String {
    let tau = |tau: Option<f64>| tau.map_or_else(|| String::from("nothing"), |tau| format!("{tau:.2}"));
    let (size, all) = (found.tasks.len(), count(found.of_tasks as usize, "task"));
    let (checked, random) = (tau(found.tau_checked), tau(found.tau_random));
    let on = found.checked_on.name();
    if found.tau_checked.is_none_or(|tau| tau < KEPT) {
        return format!(
            "no small set of tasks keeps the order: Kendall's tau of the best is {checked} on other {on}, with {size} of {all}"
        );
    }
    let wider = found.width_of_subset / found.width_of_all.max(f64::MIN_POSITIVE);
    format!(
        "{size} of {all} keep the order of the subjects: Kendall's tau {checked} on other {on}, {random} of random tasks as many; \
         intervals become {wider:.1} times as wide"
    )
}

pub(super) fn measured(measure: Option<Measure>) -> Cell {
    let ends = measure.and_then(|it| it.interval());
    Cell::interval(measure.map(|it| it.value), ends, Writing::shares(), false)
}

fn reports(answer: &Tasks) -> Table {
    let row = |it: &TaskReport| -> Row {
        let repeats = &it.repeats;
        let tone = if repeats.verdict == FlakyVerdict::Flaky { Tone::Care } else { Tone::Plain };
        let verdict = repeats.verdict.name();
        let suspect = match it.is_suspect {
            Some(true) => Cell::Mark(Tone::Care, "suspect", "suspect"),
            Some(false) => Cell::Word("not-shown", "-"),
            None => Cell::Absent,
        };
        vec![
            Cell::text(&it.task),
            measured(Some(it.difficulty)),
            Cell::of_number(it.discrimination, |it| format!("{it:+.2}")),
            suspect,
            Cell::of_number(it.p, |p| format!("{p:.4}")),
            Cell::Flag(it.decides_nothing),
            Cell::Mark(tone, verdict, verdict),
            Cell::text(format!("{} of {}", repeats.passes, repeats.attempts)),
            measured(repeats.change),
            Cell::of_share(repeats.change_at_most),
            Cell::Word(repeats.proposal.name(), repeats.proposal.name()),
            Cell::Count(it.subjects),
        ]
        .into()
    };
    let interval = |key| Column::new(key, Kind::Interval { sides: None, level: answer.basis.level });
    let repeats =
        answer.tasks.iter().any(|it| it.repeats.change.is_some() || it.repeats.change_at_most.is_some());
    let columns = vec![
        Column::name("task"),
        interval("difficulty").labelled("mean"),
        Column::number("discrimination").explained(),
        Column::text("suspect").shown_if(answer.tasks.iter().any(|it| it.is_suspect.is_some())),
        Column::number("p").hidden(),
        Column::text("decides_nothing").explained(),
        Column::text("outcome").shown_if(repeats),
        Column::text("passes").shown_if(repeats),
        interval("change").labelled("chance of a change").shown_if(repeats),
        Column::new("change_at_most", Kind::Share).hidden(),
        Column::text("proposal").shown_if(repeats),
        Column::number("subjects"),
    ];
    let rows = answer.tasks.iter().map(row).collect();
    let table = Table::new("Tasks, the doubtful ones first", columns, rows);
    Table { is_list: true, ..table }
}

fn redundant(answer: &Tasks) -> Option<Table> {
    let identical = answer.identical.iter().flatten().take(LISTED).map(|group| {
        let rest: Vec<String> = group.iter().skip(1).map(|it| short(it)).collect();
        let first = group.first().map_or("", String::as_str);
        vec![Cell::text(first), Cell::of_text(named(&rest)), Cell::Number(1.0, String::from("the same"))]
            .into()
    });
    let near = answer.near.iter().flatten().take(LISTED).map(|it| {
        vec![
            Cell::text(&it.first),
            Cell::text(&it.second),
            Cell::Number(it.correlation, format!("{:.2}", it.correlation)),
        ]
        .into()
    });
    let rows: Vec<Row> = identical.chain(near).collect();
    let columns = vec![Column::name("task"), Column::text("others"), Column::number("correlation")];
    let caption = "Tasks of which one would do for these subjects; that this holds for others is not shown";
    (!rows.is_empty()).then(|| Table::new(caption, columns, rows))
}
