//! Drawings of answers that are for pages alone: profiles, histories, items.

pub mod items;

use std::num::NonZeroU32;

use karat_core::number::Score;
use karat_standing::rolling::rolling_means;

use crate::answers::basis::Estimate;
use crate::answers::leaderboard::{Leaderboard, LeaderboardRow};
use crate::document::figure::{
    self, Dimension, Figure, History, Point, Profile, Profiles, Reading, Section, Series,
};
use crate::estimate::Writing;
use crate::leaderboard::stress::weights;
use crate::leaderboard::{Settings, counted};
use crate::number::cut;
use crate::rows::Rows;

/// The number of tasks in the rolling mean.
const WINDOW: NonZeroU32 = NonZeroU32::new(100).unwrap();

/// Returns an estimate on the scale of `writing`.
pub fn estimate(found: &Estimate, writing: Writing) -> figure::Estimate {
    let ends = |(low, high)| (writing.value(low), writing.value(high));
    figure::Estimate { point: writing.value(found.mean), interval: found.interval().map(ends) }
}

/// Returns the mean values of the ranked subjects by dimension, in the order of the leaderboard. None if no dimension
/// has a value.
pub fn profiles(rows: &Rows, board: &Leaderboard) -> Option<Section> {
    if rows.dimensions.is_empty() || board.rows.iter().all(|row| row.dimensions.is_none()) {
        return None;
    }
    let weights = rows.only_card().map(weights).unwrap_or_default();
    let weight = |at: usize| weights.get(at).map(|weight| cut(weight.millionths(), 6, 4));
    let dimensions = rows.dimensions.iter().enumerate();
    let dimensions = dimensions.map(|(at, (key, _))| Dimension { name: key.clone(), weight: weight(at) });
    let value = |row: &LeaderboardRow, key: &str| match row
        .dimensions
        .as_ref()
        .and_then(|all| all.get(key))
        .and_then(Option::as_ref)
    {
        Some(found) => Reading::Value(estimate(found, Writing::shares())),
        None => Reading::Absent(String::from("missing")),
    };
    let subjects = board.rows.iter().map(|row| Profile {
        name: row.subject.clone(),
        readings: rows.dimensions.iter().map(|(key, _)| value(row, key)).collect(),
    });
    let figure = Figure::Profiles(Profiles {
        caption: String::from("Mean value by subject and dimension, 0 to 1"),
        dimensions: dimensions.collect(),
        subjects: subjects.collect(),
    });
    Some(Section {
        heading: String::from("Dimensions"),
        text: vec![String::from(
            "Mean values over the tasks of each subject. A dimension that was not measured has no number.",
        )],
        figures: vec![figure],
    })
}

/// Returns the values of the items over time, by subject. None if no item has a time.
pub fn history(rows: &Rows, subjects: &[usize], settings: &Settings) -> Option<Section> {
    let writing = Writing::of(rows.scale.max);
    let series = subjects.iter().filter_map(|&subject| {
        // Items are in order of time, those without one first.
        let items = rows.rows.iter().filter(|row| row.subject == subject);
        let scored: Vec<_> =
            items.filter_map(|row| Some((row.time()?, counted(row, settings.policy)?))).collect();
        let scores: Vec<Score> = scored.iter().map(|&(_, score)| score).collect();
        let means = rolling_means(&scores, WINDOW);
        let shown = |score: Score| writing.value(score.billionths() as f64 / 1e9);
        let points = scored.iter().zip(means).map(|(&(time, score), mean)| Point {
            time: Some(time),
            value: Some(shown(score)),
            line: Some(shown(mean)),
            flag: None,
        });
        Some(Series { name: rows.subject_name(subject).to_owned(), points: points.collect() })
            .filter(|it| !it.points.is_empty())
    });
    let series: Vec<Series> = series.collect();
    let figure = Figure::History(History {
        caption: String::from("The score of each item, and the mean of the window after it"),
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
