//! A leaderboard of more records or subjects than tasks are drawn anew for: the same means out of the index, page by page,
//! with intervals from the spread of the tasks.

use std::sync::Arc;

use karat_core::number::Score;
use karat_report::estimate::{Writing, percent, places as left_open};
use karat_report::page::figure;
use karat_report::page::model::{Axis, Cell, Column, Estimate, Figure, Kind, Row, Table};
use karat_stats::ranks::RankRange;
use maud::{Markup, html};

use super::address;
use super::leaderboard::ROWS;
use crate::api::leaderboards::{BoardParams, DRAWN_MAX, LEVEL};
use crate::api::ranked::{Ranked, ranked};
use crate::cards::Rule;
use crate::problem::Problem;
use crate::quick::Place;
use crate::rows::RECORDS_MAX;
use crate::state::App;

/// The board; `turn` links to the pages before and after.
///
/// # Errors
/// That it is asked for what only small boards have.
pub async fn board(
    app: &Arc<App>,
    rule: &Arc<Rule>,
    params: &BoardParams,
    size: u64,
    page: usize,
    turn: impl FnOnce(usize, usize) -> Markup,
) -> Result<Markup, Problem> {
    if params.condition.is_some() || params.group_by.is_some() {
        return Ok(html! {
            p.care {
                "Boards by field and other conditions are of at most " (DRAWN_MAX) " subjects and " (RECORDS_MAX)
                " records: narrow this one by tasks, time or facts."
            }
        });
    }
    let skip = (page - 1).saturating_mul(ROWS);
    let Ranked { places, subjects, .. } = ranked(app, params, size, skip, ROWS).await?;
    Ok(html! {
        section aria-labelledby="places" {
            h2 id="places" { "Places" }
            p {
                "So many are ranked by their means alone, with intervals from the spread of their tasks (Student). Narrow the board by "
                "tasks, time or facts for groups that cannot be told apart."
            }
            (figure("places-figure", &Figure::Table(table(&places, rule))))
            @if subjects > ROWS { (turn(page, subjects)) }
        }
    })
}

fn table(places: &[(String, Place)], rule: &Rule) -> Table {
    let writing = Writing::of(rule.card.scale);
    let range = |(best, worst): (usize, usize)| RankRange {
        best: u32::try_from(best).unwrap_or(u32::MAX),
        worst: u32::try_from(worst).unwrap_or(u32::MAX),
    };
    let card = rule.name();
    let row = |(name, place): &(String, Place)| {
        let address = address::subject(name, Some(&card));
        let ends =
            |interval: &karat_stats::Interval| (writing.value(interval.low), writing.value(interval.high));
        let mean = Score::from_billionths(place.standing.mean).to_f64();
        let estimate = Estimate { point: writing.value(mean), interval: place.interval.as_ref().map(ends) };
        Row {
            cells: vec![
                Cell::Text(left_open(range(place.rank_range))),
                Cell::Link(name.clone(), address),
                Cell::Interval(estimate),
                Cell::Text(place.standing.tasks.to_string()),
            ],
            group: None,
        }
    };
    let axis = Axis {
        interval_label: format!("{} interval", percent(LEVEL)),
        range: None,
        reference: None,
        decimals: writing.decimals(),
    };
    let column = |label: &str, kind| Column { label: label.to_owned(), kind };
    Table {
        caption: String::from("Subjects by mean; the places are those that their intervals leave open"),
        columns: vec![
            column("place", Kind::Number),
            column("subject", Kind::Name),
            column("score", Kind::Interval(axis)),
            column("tasks", Kind::Number),
        ],
        rows: places.iter().map(row).collect(),
    }
}
