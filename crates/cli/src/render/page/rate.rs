//! Ratings as a page: a table for each pool, predictions, judges beside people.

use karat_core::record::ENGINE_VERSION;

use crate::render::rating::below::{about_forecasts, about_judges};
use crate::render::rating::table::{decimals, ranks};
use crate::render::rating::{about_pool, notes, rated, title};
use karat::estimate::percent;
use karat::page::model::{Axis, Cell, Estimate, Figure, Kind, Page, Row, Section, Table};
use karat::pages::{column, text};
use karat::ratings::{Agreement, Board, Competitor, Drawn, Forecaster, Holdout, Judge, Rating, Share};
use karat::text::count;

/// Returns the page of `karat rate`.
pub fn rate(report: &Rating) -> Page {
    let mut about = vec![(String::from("system"), report.system.name().to_owned())];
    let mut tell = |label: &str, value: String| about.push((label.to_owned(), value));
    tell("settings", report.described_settings());
    for board in &report.boards {
        tell(&labelled("matches", board), board.input.digest.clone());
        if let (Some(first), Some(last)) = (&board.input.first_time, &board.input.last_time) {
            tell(&labelled("played", board), format!("{first} to {last}"));
        }
    }
    tell("level", report.level.to_string());
    if let (Some(resamples), Some(seed)) = (report.resamples, report.seed) {
        let unit = if report.drawn == Some(Drawn::Pairs) { "pairs" } else { "matches" };
        tell("resamples", format!("{resamples} of {unit}"));
        tell("seed", seed.to_string());
    }
    tell("engine", ENGINE_VERSION.to_owned());
    let competitors: usize = report.boards.iter().map(|board| board.competitors.len()).sum();
    let pools = report.boards.iter().flat_map(|board| {
        let predicted = board.holdout.as_ref().map(|holdout| predictions(holdout, board, report.level));
        std::iter::once(pool(report, board)).chain(predicted)
    });
    let judges = report.judges.as_ref().map(|agreement| judges(agreement, report.level));
    Page {
        title: format!("Ratings: {}", report.system.name()),
        subtitle: format!("{} after {}", count(competitors, "competitor"), rated(&report.boards)),
        about,
        notes: notes(report),
        sections: pools.chain(judges).collect(),
    }
}

/// Returns `label` with the category.
fn labelled(label: &str, board: &Board) -> String {
    match &board.category {
        Some(category) => format!("{label}, {category}"),
        None => label.to_owned(),
    }
}

fn pool(report: &Rating, board: &Board) -> Section {
    let places = decimals(board.competitors.iter());
    let axis = Axis { decimals: places, ..percent_axis(report.level) };
    let group = |line: &Competitor| match line.group {
        Some(group) => text(group.to_string()),
        None => Cell::Absent(String::from("not known")),
    };
    let row = |line: &Competitor| Row {
        cells: vec![
            group(line),
            text(ranks(line)),
            text(line.name.clone()),
            Cell::Interval(Estimate {
                point: line.points,
                interval: line.interval.map(|ends| (ends.low, ends.high)),
            }),
            text(line.matches.won.to_string()),
            text(line.matches.drawn.to_string()),
            text(line.matches.lost.to_string()),
        ],
        group: line.group,
    };
    let mut table = Table {
        caption: String::from("Competitors by rating; shaded and unshaded neighbours are groups"),
        columns: vec![
            column("group", Kind::Number),
            column("rank", Kind::Number),
            column("competitor", Kind::Name),
            column("rating", Kind::Interval(axis)),
            column("won", Kind::Number),
            column("drawn", Kind::Number),
            column("lost", Kind::Number),
        ],
        rows: board.competitors.iter().map(row).collect(),
    };
    if board.groups.is_none() {
        table.caption = String::from("Competitors by rating");
        table.columns.remove(0);
        table.rows.iter_mut().for_each(|row| drop(row.cells.remove(0)));
    }
    Section {
        heading: title(report, board),
        text: about_pool(board, places),
        figures: vec![Figure::Table(table)],
    }
}

fn predictions(holdout: &Holdout, board: &Board, level: f64) -> Section {
    let rows = holdout.forecasts.iter().map(|Forecaster { name, log_loss, brier, beside_elo, .. }| Row {
        cells: vec![
            text(name.clone()),
            text(format!("{:.4}", log_loss)),
            text(format!("{:.4}", brier)),
            match *beside_elo {
                Some(loss) => {
                    Cell::Interval(Estimate { point: loss.log_loss, interval: Some((loss.low, loss.high)) })
                }
                None => Cell::Absent(String::from("-")),
            },
        ],
        group: None,
    });
    let beside = Axis { decimals: 4, reference: Some(0.0), ..percent_axis(level) };
    let table = Table {
        caption: String::from("Predictions of the last matches from those before; lower is better"),
        columns: vec![
            column("forecast", Kind::Name),
            column("log-loss, nats", Kind::Number),
            column("Brier", Kind::Number),
            column("log-loss minus Elo", Kind::Interval(beside)),
        ],
        rows: rows.collect(),
    };
    Section {
        heading: labelled("Predicted", board),
        text: about_forecasts(holdout),
        figures: if holdout.predicted_matches > 0 { vec![Figure::Table(table)] } else { Vec::new() },
    }
}

fn judges(agreement: &Agreement, level: f64) -> Section {
    let share = |found: Share| match (found.share, found.interval) {
        (Some(share), Some(interval)) => Cell::Interval(Estimate {
            point: 100.0 * share,
            interval: Some((100.0 * interval.low, 100.0 * interval.high)),
        }),
        _ => Cell::Absent(String::from("none")),
    };
    let row = |name: String, judged: &Judge| Row {
        cells: vec![
            text(name),
            text(judged.votes.matches().to_string()),
            text(judged.votes.drawn.to_string()),
            share(judged.same_outcome),
            share(judged.same_winner),
        ],
        group: None,
    };
    let people = row(format!("each of {}", agreement.people.name), &agreement.people);
    let others = agreement.judges.iter().map(|judge| row(judge.name.clone(), judge));
    let table = Table {
        caption: format!("Agreement of each with the majority of {}, in per cent", agreement.people.name),
        columns: vec![
            column("judge", Kind::Name),
            column("votes", Kind::Number),
            column("draws", Kind::Number),
            column("same outcome", Kind::Interval(percent_axis(level))),
            column("same winner", Kind::Interval(percent_axis(level))),
        ],
        rows: std::iter::once(people).chain(others).collect(),
    };
    Section {
        heading: String::from("Judges"),
        text: vec![about_judges(agreement, level)],
        figures: vec![Figure::Table(table)],
    }
}

/// Returns an axis of numbers with one decimal.
fn percent_axis(level: f64) -> Axis {
    Axis { interval_label: format!("{} interval", percent(level)), range: None, reference: None, decimals: 1 }
}
