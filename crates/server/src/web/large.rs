//! A leaderboard of more records or subjects than tasks are drawn anew for: the same means out of the index, page by page,
//! with intervals from the spread of the tasks.

use std::sync::Arc;

use karat_core::number::Score;
use karat_core::statistics::ranks::RankRange;
use karat_report::estimate::{Writing, places};
use karat_report::page::figure;
use karat_report::page::model::{Axis, Cell, Column, Estimate, Figure, Kind, Row, Table};
use maud::{Markup, html};

use super::address;
use super::leaderboard::ROWS;
use crate::api::leaderboards::{BoardParams, DRAWN_MAX};
use crate::cards::Rule;
use crate::problem::Problem;
use crate::quick::{Counted, Place, Quick};
use crate::rows::{RECORDS_MAX, policy, refused};
use crate::select::Wish;
use crate::state::App;

/// The confidence of the intervals.
const LEVEL: f64 = 0.95;

/// The board; `turn` links to the pages before and after.
///
/// # Errors
/// That it is asked for what only small boards have.
pub async fn board(
    app: &Arc<App>,
    rule: &Arc<Rule>,
    params: &BoardParams,
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
    let (shared, asked, rule) = (Arc::clone(app), params.clone(), Arc::clone(rule));
    let (table, all) = app
        .checked(move || {
            let counted = {
                let index = shared.memory.index();
                let (wish, _) = Wish::new(&shared, &index, &asked.wanted())?;
                let rows = index.rows(u64::MAX).filter(|row| wish.admits(row));
                Counted::of(rows, index.names(), policy(&rule))
            };
            let quick = Quick::new(counted, asked.min_tasks.unwrap_or(1), LEVEL);
            let quick = quick.map_err(|error| refused(&error))?;
            let shown = quick.places((page - 1).saturating_mul(ROWS), ROWS);
            let index = shared.memory.index();
            let name = |place: &Place| index.name(place.standing.subject).to_owned();
            Ok((table(&shown, name, &rule), quick.len()))
        })
        .await?;
    Ok(html! {
        section aria-labelledby="places" {
            h2 id="places" { "Places" }
            p {
                "So many are ranked by their means alone, with intervals from the spread of their tasks (Student). Narrow the board by "
                "tasks, time or facts for groups that cannot be told apart."
            }
            (figure("places-figure", &Figure::Table(table)))
            @if all > ROWS { (turn(page, all)) }
        }
    })
}

fn table(shown: &[Place], name: impl Fn(&Place) -> String, rule: &Rule) -> Table {
    let writing = Writing::of(rule.card.scale);
    let range = |(best, worst): (usize, usize)| RankRange {
        best: u32::try_from(best).unwrap_or(u32::MAX),
        worst: u32::try_from(worst).unwrap_or(u32::MAX),
    };
    let card = rule.name();
    let row = |place: &Place| {
        let name = name(place);
        let address = address::subject(&name, Some(&card));
        let ends = |interval: &karat_core::statistics::Interval| {
            (writing.value(interval.low), writing.value(interval.high))
        };
        let mean = Score::from_billionths(place.standing.mean).to_f64();
        let estimate = Estimate { point: writing.value(mean), interval: place.interval.as_ref().map(ends) };
        Row {
            cells: vec![
                Cell::Text(places(range(place.rank_range))),
                Cell::Link(name, address),
                Cell::Interval(estimate),
                Cell::Text(place.standing.tasks.to_string()),
            ],
            group: None,
        }
    };
    let axis = Axis {
        interval_label: String::from("95% interval"),
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
        rows: shown.iter().map(row).collect(),
    }
}
