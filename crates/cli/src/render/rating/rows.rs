//! Ratings as a report: a row for each competitor of each pool.

use karat::estimate::plain;
use karat::report::{Column, Finding, Level, Report, Sheet, Value};

use super::{notes, rated};
use karat::ratings::{Board, Competitor, Rating};

/// Returns the report of ratings.
pub fn report(ratings: &Rating) -> Report {
    let row = |board: &Board, line: &Competitor| {
        let number = |number: Option<f64>| Value::of_number(number, plain);
        vec![
            Value::of_text(board.category.clone()),
            Value::Count(line.rank.into()),
            line.rank_range.map_or(Value::Absent, |range| Value::Count(range.best.into())),
            line.rank_range.map_or(Value::Absent, |range| Value::Count(range.worst.into())),
            line.group.map_or(Value::Absent, |group| Value::Count(group.into())),
            Value::Text(line.name.clone()),
            number(Some(line.points)),
            number(line.interval.map(|ends| ends.low)),
            number(line.interval.map(|ends| ends.high)),
            number(line.deviation_points),
            Value::Count(line.matches.matches()),
            Value::Count(line.matches.won),
            Value::Count(line.matches.drawn),
            Value::Count(line.matches.lost),
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
    let rows =
        ratings.boards.iter().flat_map(|board| board.competitors.iter().map(move |line| row(board, line)));
    Report {
        title: format!("Ratings: {}", ratings.system.name()),
        lines: vec![rated(&ratings.boards), ratings.described_settings()],
        sheets: vec![Sheet { caption: String::new(), columns, rows: rows.collect() }],
        cases: Vec::new(),
        findings: notes(ratings).into_iter().map(|note| Finding::new(Level::Notice, "rate", note)).collect(),
    }
}
