//! Two subjects side by side, as a page: the answer, the differences, both over time.

use karat::answers::ComparisonVerdict;
use karat::answers::changes::{ItemAt, TaskAttempts, TaskChange};
use karat::answers::comparison::{ComparedPair, Comparison, Comparisons, Difference};
use karat::estimate::Writing;
use karat::leaderboard::Settings;
use karat::page::model::{Axis, Cell, Figure, Kind, Page, Row, Section, Table};
use karat::pages::{axis, column, estimate, history, page, text};
use karat::rows::Rows;
use karat::text::{count, named, short};

use crate::render::compare::{few_tasks, names, notes, verdict};

/// Returns the page of `karat compare`.
pub fn compare(rows: &Rows, answer: &Comparison, settings: &Settings) -> Page {
    let (first, second) = names(answer);
    let mut page = page("Comparison", rows, &answer.basis, settings);
    page.title = format!("{first} and {second}");
    page.subtitle = verdict(answer);
    page.notes.extend(few_tasks(answer));
    page.sections.push(Section {
        heading: String::from("Differences"),
        text: notes(answer),
        figures: differences(rows, answer).into_iter().map(Figure::Table).collect(),
    });
    let subjects: Vec<usize> =
        [&answer.pair.first, &answer.pair.second].iter().filter_map(|it| rows.subject(&it.subject)).collect();
    page.sections.extend(changes(&answer.pair, answer.basis.scale));
    page.sections.extend(history(rows, &subjects, settings));
    page
}

/// Returns the page of the comparisons of the subjects of two files.
pub fn comparisons(rows: &Rows, answer: &Comparisons, settings: &Settings) -> Page {
    let mut page = page("Comparison", rows, &answer.basis, settings);
    page.title = format!("{} and {}", short(&answer.first_file), short(&answer.second_file));
    for (file, names) in answer.unpaired() {
        let names = named(&names).unwrap_or_default();
        page.notes.push(format!("only in {}, so not compared: {names}", short(file)));
    }
    let all: Vec<(&str, &Difference)> =
        answer.comparisons.iter().map(|it| (it.first.subject.as_str(), &it.difference)).collect();
    page.sections.push(Section {
        heading: String::from("Differences"),
        text: Vec::new(),
        figures: vec![Figure::Table(table(&all, Writing::of(answer.basis.scale), answer.basis.level))],
    });
    page.sections.extend(answer.comparisons.iter().flat_map(|it| changes(it, answer.basis.scale)));
    page
}

/// Returns the tasks that got worse and those that got better, all of them.
fn changes(pair: &ComparedPair, scale: u32) -> Vec<Section> {
    let writing = Writing::of(scale);
    let places = |side: &TaskAttempts| side.items.iter().map(ItemAt::place).collect::<Vec<_>>().join(", ");
    let passed = |side: &TaskAttempts| format!("{} of {}", side.passed, side.items.len());
    let row = |change: &TaskChange| Row {
        cells: vec![
            text(change.task.clone()),
            text(writing.number(change.first.mean)),
            text(writing.number(change.second.mean)),
            text(passed(&change.first)),
            text(passed(&change.second)),
            text(change.p.map_or_else(String::new, |p| format!("{p:.3}"))),
            text(places(&change.first)),
            text(places(&change.second)),
        ],
        group: None,
    };
    let section = |(what, all): (&str, &Vec<TaskChange>)| {
        let table = Table {
            caption: String::from("Mean, attempts that pass, the chance of such a difference, and the items"),
            columns: vec![
                column("task", Kind::Name),
                column("first", Kind::Number),
                column("second", Kind::Number),
                column("first passed", Kind::Text),
                column("second passed", Kind::Text),
                column("p", Kind::Number),
                column("first items", Kind::Text),
                column("second items", Kind::Text),
            ],
            rows: all.iter().map(row).collect(),
        };
        Section {
            heading: format!("{}: {what} at {}", short(&pair.second.subject), count(all.len(), "task")),
            text: Vec::new(),
            figures: vec![Figure::Table(table)],
        }
    };
    let lists = [("worse", &pair.changes.regressed), ("better", &pair.changes.fixed)];
    lists.into_iter().filter(|(_, all)| !all.is_empty()).map(section).collect()
}

/// Returns the difference of the scores in points, and those of the dimensions, if any, as shares.
fn differences(rows: &Rows, answer: &Comparison) -> Vec<Table> {
    let of_key = |key: &str| answer.pair.dimensions.get(key).and_then(Option::as_ref);
    let measured = rows.dimensions.iter().filter_map(|(key, _)| Some((key.as_str(), of_key(key)?)));
    let measured: Vec<(&str, &Difference)> = measured.collect();
    let level = answer.basis.level;
    let mut tables =
        vec![table(&[("score", &answer.pair.difference)], Writing::of(answer.basis.scale), level)];
    if !measured.is_empty() {
        tables.push(table(&measured, Writing::shares(), level));
    }
    tables
}

fn table(all: &[(&str, &Difference)], writing: Writing, level: f64) -> Table {
    let ends = all.iter().filter_map(|(_, found)| found.estimate.interval());
    let ends = ends.flat_map(|(low, high)| [low, high]);
    // The same length on both sides of 0, so that the middle means no difference.
    let reach = writing.value(ends.map(f64::abs).fold(0.0, f64::max));
    let axis = Axis { reference: Some(0.0), range: Some((-reach, reach)), ..axis(writing, level) };
    let row = |(label, found): &(&str, &Difference)| Row {
        cells: vec![
            text(*label),
            Cell::Interval(estimate(&found.estimate, writing)),
            text(match found.verdict {
                ComparisonVerdict::FirstAhead => "first",
                ComparisonVerdict::SecondAhead => "second",
                ComparisonVerdict::NotDistinguishable => "tied",
                ComparisonVerdict::TooFewSharedTasks => "too few shared tasks",
            }),
            text(found.estimate.tasks.to_string()),
        ],
        group: None,
    };
    Table {
        caption: String::from(
            "First minus second, over the tasks that both have: right of the middle the first is ahead",
        ),
        columns: vec![
            column("what", Kind::Name),
            column("difference", Kind::Interval(axis)),
            column("ahead", Kind::Text),
            column("tasks", Kind::Number),
        ],
        rows: all.iter().map(row).collect(),
    }
}
