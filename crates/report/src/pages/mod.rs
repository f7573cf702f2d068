//! What answers say on pages: they fill in the data of [`crate::page::model`], with the words of the terminal.

pub mod leaderboard;
pub mod standing;
pub mod stress;

use std::num::NonZeroU32;

use karat_core::number::Score;
use karat_core::record::ENGINE_VERSION;
use karat_standing::rolling::RollingMean;
use karat_stats::bootstrap::Estimate;

use crate::board::stress::weights;
use crate::board::{Board, By, Settings, counted};
use crate::estimate::{Writing, percent};
use crate::number::cut;
use crate::page::model::{
    self, Axis, Cell, Column, Dimension, Figure, History, Kind, Page, Point, Profile, Profiles, Reading,
    Section, Series,
};
use crate::rows::Rows;
use crate::rows::gaps::{all_or_nothing, gaps};
use crate::text::{count, list};

/// Tasks of the rolling mean.
const WINDOW: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// A page without sections: what is judged, by what, and how to make it again.
pub fn page(what: &str, rows: &Rows, settings: &Settings) -> Page {
    let names = rows.card_names();
    let cards = rows.scorers.iter().map(|scorer| scorer.card());
    let mut about: Vec<(String, String)> =
        cards.map(|card| (format!("scorecard {}", card.name()), card.digest.to_string())).collect();
    let mut tell = |label: &str, value: String| about.push((label.to_owned(), value));
    tell("items", rows.digest.to_string());
    tell("level", settings.level.to_string());
    tell("draws", settings.plan.draws.to_string());
    tell("seed", settings.plan.seed.to_string());
    tell("engine", ENGINE_VERSION.to_owned());
    let mut subtitle =
        format!("{} of {}", count(rows.rows.len(), "item"), count(rows.subjects.len(), "subject"));
    if rows.filtered > 0 {
        subtitle.push_str(&format!("; {} left out", count(rows.filtered as usize, "item")));
    }
    if rows.repeated > 0 {
        subtitle
            .push_str(&format!("; {} given again, which count once", count(rows.repeated as usize, "item")));
    }
    let bare = all_or_nothing(rows).filter(|_| settings.by == By::Score);
    Page {
        title: format!("{what}: {}", list(&names)),
        subtitle,
        about,
        notes: gaps(rows).into_iter().chain(bare).collect(),
        sections: Vec::new(),
    }
}

/// A column of a table.
pub fn column(label: &str, kind: Kind) -> Column {
    Column { label: label.to_owned(), kind }
}

/// The axis of a column of intervals that are written so.
pub fn axis(writing: Writing, settings: &Settings) -> Axis {
    Axis {
        interval_label: format!("{} interval", percent(settings.level)),
        range: None,
        reference: None,
        decimals: writing.decimals(),
    }
}

/// An estimate on the scale on which it is written.
pub fn estimate(found: &Estimate, writing: Writing) -> model::Estimate {
    model::Estimate {
        point: writing.value(found.mean),
        interval: Some((writing.value(found.interval.low), writing.value(found.interval.high))),
    }
}

/// The name of a subject, by its place.
pub fn name(rows: &Rows, subject: usize) -> String {
    rows.subjects.get(subject).cloned().unwrap_or_default()
}

/// A cell of words.
pub fn text(text: impl Into<String>) -> Cell {
    Cell::Text(text.into())
}

/// The mean readings of the subjects with a place, in the order of the board. None where nothing is measured.
pub fn profiles(rows: &Rows, board: &Board) -> Option<Section> {
    if rows.dimensions.is_empty() {
        return None;
    }
    let weights = rows.only_card().map(weights).unwrap_or_default();
    let weight = |at: usize| weights.get(at).map(|weight| cut(weight.millionths(), 6, 4));
    let dimensions = rows.dimensions.iter().enumerate();
    let dimensions = dimensions.map(|(at, (key, _))| Dimension { name: key.clone(), weight: weight(at) });
    let reading = |found: &Option<Estimate>| match found {
        Some(found) => Reading::Value(estimate(found, Writing::shares())),
        None => Reading::Absent(String::from("missing")),
    };
    let subjects = board.leaderboard.rows.iter().map(|row| Profile {
        name: name(rows, row.subject),
        readings: board.profiles.get(row.subject).into_iter().flatten().map(reading).collect(),
    });
    let figure = Figure::Profiles(Profiles {
        caption: String::from("Mean reading by subject and dimension, 0 to 1"),
        dimensions: dimensions.collect(),
        subjects: subjects.collect(),
    });
    Some(Section {
        heading: String::from("Dimensions"),
        text: vec![String::from(
            "What was measured, over the tasks of each subject. What was not measured has no number.",
        )],
        figures: vec![figure],
    })
}

/// What the items count over time, by subject. None where no item says when it took place.
pub fn history(rows: &Rows, subjects: &[usize], settings: &Settings) -> Option<Section> {
    let writing = Writing::of(rows.scale);
    let rolling = RollingMean::new(WINDOW);
    let series = subjects.iter().filter_map(|&subject| {
        // Items stand by time, those without one first.
        let items = rows.rows.iter().filter(|row| row.subject == subject);
        let scored: Vec<_> =
            items.filter_map(|row| Some((row.time?, counted(row, settings.policy)?))).collect();
        let scores: Vec<Score> = scored.iter().map(|&(_, score)| score).collect();
        let mut means = vec![Score::ZERO; scores.len()];
        rolling.column(&scores, &mut means).ok()?;
        let shown = |score: Score| writing.value(score.billionths() as f64 / 1e9);
        let points = scored.iter().zip(means).map(|(&(time, score), mean)| Point {
            time: Some(time),
            value: Some(shown(score)),
            line: Some(shown(mean)),
            flag: None,
        });
        Some(Series { name: name(rows, subject), points: points.collect() })
            .filter(|it| !it.points.is_empty())
    });
    let series: Vec<Series> = series.collect();
    let figure = Figure::History(History {
        caption: String::from("What each item counts, and the mean of the window after it"),
        value_label: String::from("score"),
        line_label: format!("mean of the last {WINDOW}"),
        range: Some((0.0, writing.value(1.0))),
        decimals: writing.decimals(),
        series,
    });
    let is_empty = matches!(&figure, Figure::History(it) if it.series.is_empty());
    (!is_empty).then(|| Section {
        heading: String::from("Over time"),
        text: Vec::new(),
        figures: vec![figure],
    })
}
