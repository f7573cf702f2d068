//! Ratings as a page: a table for each pool, predictions, judges beside people.

use karat_core::record::ENGINE_VERSION;
use karat_core::timestamp::Timestamp;
use karat_stats::proportion::Proportion;

use crate::rating::{Agreement, Board, Forecaster, Holdout, Intervals, Judged, Line, Report, described};
use crate::render::rating::below::{about_forecasts, about_judges};
use crate::render::rating::table::{decimals, ranks};
use crate::render::rating::{about_pool, notes, rated, title};
use karat::estimate::percent;
use karat::page::model::{Axis, Cell, Estimate, Figure, Kind, Page, Row, Section, Table};
use karat::pages::{column, text};
use karat::text::count;

/// Returns the page of `karat rate`.
pub fn rate(report: &Report) -> Page {
    let mut about = vec![(String::from("system"), report.chosen.name().to_owned())];
    let mut tell = |label: &str, value: String| about.push((label.to_owned(), value));
    tell("settings", described(&report.chosen.settings()));
    for board in &report.boards {
        tell(&labelled("matches", board), board.input.digest.to_string());
        if let Some((first, last)) = board.input.milliseconds {
            let time = |milliseconds| Timestamp { milliseconds }.to_string();
            tell(&labelled("played", board), format!("{} to {}", time(first), time(last)));
        }
    }
    tell("level", report.level.to_string());
    if let Intervals::Bootstrap { resamples, seed, of_pairs } = report.intervals {
        tell("resamples", format!("{resamples} of {}", if of_pairs { "pairs" } else { "matches" }));
        tell("seed", seed.to_string());
    }
    tell("engine", ENGINE_VERSION.to_owned());
    let competitors: usize = report.boards.iter().map(|board| board.lines.len()).sum();
    let pools = report.boards.iter().flat_map(|board| {
        let predicted = board.holdout.as_ref().map(|holdout| predictions(holdout, board, report.level));
        std::iter::once(pool(report, board)).chain(predicted)
    });
    let judges = report.agreement.as_ref().map(|agreement| judges(agreement, report.level));
    Page {
        title: format!("Ratings: {}", report.chosen.name()),
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

fn pool(report: &Report, board: &Board) -> Section {
    let places = decimals(board.lines.iter());
    let axis = Axis { decimals: places, ..percent_axis(report.level) };
    let group = |line: &Line| match line.group {
        Some(group) => text(group.to_string()),
        None => Cell::Absent(String::from("not known")),
    };
    let row = |line: &Line| Row {
        cells: vec![
            group(line),
            text(ranks(line)),
            text(line.name.clone()),
            Cell::Interval(Estimate { point: line.estimate.points, interval: line.estimate.interval }),
            text(line.tally.won.to_string()),
            text(line.tally.drawn.to_string()),
            text(line.tally.lost.to_string()),
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
        rows: board.lines.iter().map(row).collect(),
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
    let predicted = holdout.forecasts.iter().filter(|_| holdout.predicted > 0);
    let rows = predicted.map(|Forecaster { name, forecast, beside_elo, .. }| Row {
        cells: vec![
            text(*name),
            text(format!("{:.4}", forecast.log_loss)),
            text(format!("{:.4}", forecast.brier)),
            match *beside_elo {
                Some((point, low, high)) => Cell::Interval(Estimate { point, interval: Some((low, high)) }),
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
        figures: if holdout.predicted > 0 { vec![Figure::Table(table)] } else { Vec::new() },
    }
}

fn judges(agreement: &Agreement, level: f64) -> Section {
    let share = |proportion: Proportion| match (proportion.share(), proportion.wilson(level)) {
        (Some(share), Ok(interval)) => Cell::Interval(Estimate {
            point: 100.0 * share,
            interval: Some((100.0 * interval.low, 100.0 * interval.high)),
        }),
        _ => Cell::Absent(String::from("none")),
    };
    let row = |name: String, judged: &Judged| Row {
        cells: vec![
            text(name),
            text(judged.votes.matches().to_string()),
            text(judged.votes.drawn.to_string()),
            share(judged.same.proportion()),
            share(judged.same_winner.proportion()),
        ],
        group: None,
    };
    let people = row(format!("each of {}", agreement.people), &agreement.among_people);
    let others = agreement.judges.iter().map(|(name, judged)| row(name.clone(), judged));
    let table = Table {
        caption: format!("Agreement of each with the majority of {}, in per cent", agreement.people),
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
