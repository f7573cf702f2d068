//! Two subjects side by side, as a page: the answer, the differences, both over time.

use karat_stats::compare::{Difference, Verdict};

use crate::render::compare::{FEW_TASKS, answer, names, notes};
use karat_report::board::Settings;
use karat_report::board::pair::Pair;
use karat_report::estimate::Writing;
use karat_report::page::model::{Axis, Cell, Figure, Kind, Page, Row, Section, Table};
use karat_report::pages::{axis, column, estimate, history, page, text};
use karat_report::rows::Rows;

/// The page of `karat compare`.
pub fn compare(rows: &Rows, pair: &Pair, settings: &Settings) -> Page {
    let (first, second) = names(rows, pair);
    let mut page = page("Comparison", rows, settings);
    page.title = format!("{first} and {second}");
    page.subtitle = answer(rows, pair, settings);
    if !pair.score.enough_tasks {
        page.notes.push(FEW_TASKS.to_owned());
    }
    page.sections.push(Section {
        heading: String::from("Differences"),
        text: notes(pair, &first, &second),
        figures: vec![Figure::Table(differences(rows, pair, settings))],
    });
    page.sections.extend(history(rows, &[pair.first, pair.second], settings));
    page
}

fn differences(rows: &Rows, pair: &Pair, settings: &Settings) -> Table {
    let writing = Writing::shares();
    let measured = rows.dimensions.iter().zip(&pair.dimensions);
    let measured = measured.filter_map(|((key, _), found)| Some((key.as_str(), found.as_ref()?)));
    let all: Vec<(&str, &Difference)> = std::iter::once(("score", &pair.score)).chain(measured).collect();
    let ends = all.iter().flat_map(|(_, found)| [found.estimate.interval.low, found.estimate.interval.high]);
    // The same length on both sides of 0, so that the middle means: no difference.
    let reach = ends.map(f64::abs).fold(0.0, f64::max);
    let axis = Axis { reference: Some(0.0), range: Some((-reach, reach)), ..axis(writing, settings) };
    let row = |(label, found): &(&str, &Difference)| Row {
        cells: vec![
            text(*label),
            Cell::Interval(estimate(&found.estimate, writing)),
            text(match found.verdict {
                Verdict::FirstAhead => "first",
                Verdict::SecondAhead => "second",
                Verdict::NotDistinguishable => "cannot be told apart",
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
