//! Two subjects side by side, as a page: the answer, the differences, both over time.

use karat::answers::ComparisonVerdict;
use karat::answers::comparison::{Comparison, Difference};
use karat::estimate::Writing;
use karat::leaderboard::Settings;
use karat::page::model::{Axis, Cell, Figure, Kind, Page, Row, Section, Table};
use karat::pages::{axis, column, estimate, history, page, text};
use karat::rows::Rows;

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
        [&answer.first, &answer.second].iter().filter_map(|it| rows.subject(&it.subject)).collect();
    page.sections.extend(history(rows, &subjects, settings));
    page
}

/// Returns the difference of the scores in points, and those of the dimensions, if any, as shares.
fn differences(rows: &Rows, answer: &Comparison) -> Vec<Table> {
    let of_key = |key: &str| answer.dimensions.get(key).and_then(Option::as_ref);
    let measured = rows.dimensions.iter().filter_map(|(key, _)| Some((key.as_str(), of_key(key)?)));
    let measured: Vec<(&str, &Difference)> = measured.collect();
    let level = answer.basis.level;
    let mut tables = vec![table(&[("score", &answer.difference)], Writing::of(answer.basis.scale), level)];
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
