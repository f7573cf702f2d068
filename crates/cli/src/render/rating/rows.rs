//! Ratings as a report: a row for each competitor of each pool.

use karat::estimate::plain;
use karat::report::{Column, Finding, Level, Report, Sheet, Value};

use super::{notes, rated};
use crate::rating::{Board, Line, Report as Ratings, described};

/// Returns the report of ratings.
pub fn report(ratings: &Ratings) -> Report {
    let row = |board: &Board, line: &Line| {
        let estimate = &line.estimate;
        let number = |number: Option<f64>| Value::of_number(number.map(shown), plain);
        vec![
            Value::of_text(board.category.clone()),
            Value::Count(line.rank.into()),
            line.range.map_or(Value::Absent, |range| Value::Count(range.best.into())),
            line.range.map_or(Value::Absent, |range| Value::Count(range.worst.into())),
            line.group.map_or(Value::Absent, |group| Value::Count(group.into())),
            Value::Text(line.name.clone()),
            number(Some(estimate.points)),
            number(estimate.interval.map(|(low, _)| low)),
            number(estimate.interval.map(|(_, high)| high)),
            number(estimate.deviation),
            Value::Count(line.tally.matches()),
            Value::Count(line.tally.won),
            Value::Count(line.tally.drawn),
            Value::Count(line.tally.lost),
        ]
    };
    let has_groups = ratings.boards.iter().any(|board| board.groups.is_some());
    let has_categories = ratings.boards.iter().any(|board| board.category.is_some());
    let unless = |is_shown: bool, column: Column| if is_shown { column } else { column.hidden() };
    let columns = vec![
        unless(has_categories, Column::text("category")),
        Column::number("rank"),
        Column::number("rank_best").hidden(),
        Column::number("rank_worst").hidden(),
        unless(has_groups, Column::number("group")),
        Column::text("competitor"),
        Column::number("rating"),
        Column::number("low"),
        Column::number("high"),
        Column::number("deviation").hidden(),
        Column::number("matches"),
        Column::number("won"),
        Column::number("drawn"),
        Column::number("lost"),
    ];
    let rows = ratings.boards.iter().flat_map(|board| board.lines.iter().map(move |line| row(board, line)));
    Report {
        title: format!("Ratings: {}", ratings.chosen.name()),
        lines: vec![rated(&ratings.boards), described(&ratings.chosen.settings())],
        sheets: vec![Sheet { caption: String::new(), columns, rows: rows.collect() }],
        cases: Vec::new(),
        findings: notes(ratings).into_iter().map(|note| Finding::new(Level::Notice, "rate", note)).collect(),
    }
}

/// Returns a number with the digits that the JSON has.
fn shown(number: f64) -> f64 {
    (number * 1e6).round_ties_even() / 1e6
}
