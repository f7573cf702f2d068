//! Ratings as a document: a row for each competitor of each pool.

use karat::document::{Cell, Column, Document, Finding, Level, Part, Table};
use karat::estimate::plain;

use super::{notes, rated};
use karat::ratings::{Board, Competitor, Rating};

/// Returns the document of ratings.
pub fn document(ratings: &Rating) -> Document {
    let row = |board: &Board, line: &Competitor| {
        let number = |number: Option<f64>| Cell::of_number(number, plain);
        vec![
            Cell::of_text(board.category.clone()),
            Cell::Count(line.rank.into()),
            line.rank_range.map_or(Cell::Absent, |range| Cell::Count(range.best.into())),
            line.rank_range.map_or(Cell::Absent, |range| Cell::Count(range.worst.into())),
            line.group.map_or(Cell::Absent, |group| Cell::Count(group.into())),
            Cell::Text(line.name.clone()),
            number(Some(line.points)),
            number(line.interval.map(|ends| ends.low)),
            number(line.interval.map(|ends| ends.high)),
            number(line.deviation_points),
            Cell::Count(line.matches.matches()),
            Cell::Count(line.matches.won),
            Cell::Count(line.matches.drawn),
            Cell::Count(line.matches.lost),
        ]
    };
    let has_groups = ratings.boards.iter().any(|board| board.groups.is_some());
    let has_categories = ratings.boards.iter().any(|board| board.category.is_some());
    let unless = |is_shown: bool, column: Column| column.shown_if(is_shown);
    let columns = vec![
        unless(has_categories, Column::text("category")),
        Column::number("rank"),
        Column::number("rank_best").hidden(),
        Column::number("rank_worst").hidden(),
        unless(has_groups, Column::number("group")),
        Column::name("competitor"),
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
    Document {
        name: "rate",
        title: format!("Ratings: {}", ratings.system.name()),
        lines: vec![rated(&ratings.boards), ratings.described_settings()],
        parts: vec![Part::Table(Table::new("", columns, rows.map(Into::into).collect()))],
        findings: notes(ratings).into_iter().map(|note| Finding::new(Level::Notice, "rate", note)).collect(),
        ..Document::default()
    }
}
