//! Standings as a page: score and interval, tier and what blocks the next, share, dimensions, history with held scores.

use karat_core::timestamp::Timestamp;
use karat_standing::ratio::Ratio;
use karat_standing::review::State;
use karat_standing::stand::SubjectStanding;

use super::{axis, column, estimate, page, text};
use crate::answers::basis::{Basis, Estimate};
use crate::answers::notes::foot;
use crate::answers::standing::official_points;
use crate::estimate::Writing;
use crate::estimate::whole_percent;
use crate::leaderboard::Settings;
use crate::number::cut;
use crate::page::model::{
    self, Axis, Cell, Dimension, Figure, History, Kind, Page, Point, Profile, Profiles, Reading, Section,
    Series, Table,
};
use crate::standing::Answer;
use crate::standing::notes::notes;

/// Returns the page of the standings `shown`.
pub fn standing(answer: &Answer<'_>, shown: &[SubjectStanding]) -> Page {
    let settings = Settings {
        level: answer.interval.level,
        plan: answer.interval.plan,
        ..Settings::usual_for(Some(answer.card))
    };
    // A standing decays its evidence to its own moment.
    let basis = Basis { decay: None, ..Basis::new(answer.rows, &settings) };
    let mut page = page("Standing", answer.rows, &basis, &settings);
    page.about.insert(0, ("as of".to_owned(), answer.as_of.to_string()));
    page.about.extend(answer.events.digest.map(|digest| ("events".to_owned(), digest.to_string())));
    page.notes = foot(answer);
    page.sections = vec![
        Section {
            heading: "Standing".to_owned(),
            text: Vec::new(),
            figures: std::iter::once(table(answer, shown, &settings))
                .chain(details(shown))
                .map(Figure::Table)
                .collect(),
        },
        Section {
            heading: "Dimensions".to_owned(),
            text: vec!["Values after decay. A dimension that was not measured has no number.".to_owned()],
            figures: vec![Figure::Profiles(profiles(shown))],
        },
    ];
    if !answer.standings.by_id {
        page.sections.push(Section {
            heading: "Over time".to_owned(),
            text: Vec::new(),
            figures: vec![Figure::History(history(answer, shown))],
        });
    }
    page
}

fn table(answer: &Answer<'_>, shown: &[SubjectStanding], settings: &Settings) -> Table {
    let writing = Writing::of(answer.card.scale.max);
    let absent = |why: &str| Cell::Absent(why.to_owned());
    // Without intervals the dots use the whole scale.
    let has_interval = shown.iter().any(|standing| standing.interval.is_some());
    let range = (!has_interval).then(|| (0.0, writing.value(1.0)));
    let axis = Axis { range, ..axis(writing, settings.level) };
    let has_share = shown.iter().any(|standing| standing.share.is_some());
    let has_tier = shown.iter().any(|standing| standing.tier.is_some());
    let row = |standing: &SubjectStanding| {
        let drawn = standing.score.map(|score| {
            let point = writing.value(score.to_f64());
            let interval =
                standing.interval.as_ref().and_then(|it| estimate(&Estimate::from(it), writing).interval);
            Cell::Interval(model::Estimate { point, interval })
        });
        let points =
            |points: Option<f64>| points.map_or_else(|| absent("none"), |points| text(points.to_string()));
        let mut cells = vec![
            text(standing.subject.clone()),
            drawn.unwrap_or_else(|| absent("no score")),
            points(official_points(standing)),
            points(standing.gating_points.map(|points| points as f64)),
        ];
        let tier = || standing.tier.as_ref().and_then(|tier| tier.name.clone());
        cells.extend(has_tier.then(|| tier().map_or_else(|| absent("none"), text)));
        let share = standing.share.map(|it| it.share.to_f64()).unwrap_or_default();
        cells.extend(has_share.then(|| Cell::Share(share, whole_percent(share))));
        cells.push(text(standing.counts.in_window.to_string()));
        model::Row { cells, group: None }
    };
    let mut columns = vec![
        column("subject", Kind::Name),
        column("score", Kind::Interval(axis)),
        column("official score", Kind::Number),
        column("score for gates", Kind::Number),
    ];
    columns.extend(has_tier.then(|| column("tier", Kind::Text)));
    columns.extend(has_share.then(|| column("share", Kind::Share)));
    columns.push(column("items", Kind::Number));
    let caption =
        "The current score, the official score in points, and the one that gates, tiers and shares use";
    Table { caption: caption.to_owned(), columns, rows: shown.iter().map(row).collect() }
}

/// Returns the notes on each subject, one per row; None without notes.
fn details(shown: &[SubjectStanding]) -> Option<Table> {
    let row =
        |subject: &str, note: String| model::Row { cells: vec![text(subject), text(note)], group: None };
    let rows = shown
        .iter()
        .flat_map(|standing| notes(standing).into_iter().map(|(_, note)| row(&standing.subject, note)));
    let rows: Vec<model::Row> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        caption: "Scores under review, and what the next tier needs".to_owned(),
        columns: vec![column("subject", Kind::Name), column("what", Kind::Text)],
        rows,
    })
}

fn profiles(shown: &[SubjectStanding]) -> Profiles {
    let parts = shown.first().map_or(&[][..], |standing| &standing.dimensions);
    let dimension = |part: &karat_standing::stand::DimensionStanding| Dimension {
        name: part.key.clone(),
        weight: Some(cut(part.weight.millionths(), 6, 4)),
    };
    let reading = |part: &karat_standing::stand::DimensionStanding| match part.reading {
        Some(reading) => Reading::Value(model::Estimate { point: reading as f64 / 1e9, interval: None }),
        None if part.applies => Reading::Absent("missing".to_owned()),
        None => Reading::Absent("does not apply".to_owned()),
    };
    Profiles {
        caption: "Value by subject and dimension, 0 to 1".to_owned(),
        dimensions: parts.iter().map(dimension).collect(),
        subjects: shown
            .iter()
            .map(|standing| Profile {
                name: standing.subject.clone(),
                readings: standing.dimensions.iter().map(reading).collect(),
            })
            .collect(),
    }
}

fn history(answer: &Answer<'_>, shown: &[SubjectStanding]) -> History {
    let writing = Writing::of(answer.card.scale.max);
    let whole = |score: Ratio| {
        let published = score.publish(answer.card.scale);
        published.value.div_euclid(10i64.saturating_pow(published.places))
    };
    let series = |standing: &SubjectStanding| {
        let flag = |at_seconds: i64| {
            let lines = standing.review.iter().flat_map(|review| &review.transitions);
            let mut lines =
                lines.filter(|line| line.at_seconds == at_seconds && line.state != State::Committed);
            let line = lines.next_back()?;
            Some(format!("{} points {}", line.candidate.points, line.state.name().replace('_', " ")))
        };
        let points = standing.history.iter().map(|point| Point {
            time: Some(Timestamp { milliseconds: point.at_seconds.saturating_mul(1000) }),
            value: point.score.map(|score| writing.value(score.to_f64())),
            // Without a review, the official score is the score itself, unless a gate capped it.
            line: match (&standing.review, point.score.zip(point.points)) {
                (Some(_), _) => point.canonical.map(|points| points as f64),
                (None, Some((score, points))) if points < whole(score) => Some(points as f64),
                (None, _) => point.score.map(|score| writing.value(score.to_f64())),
            },
            flag: flag(point.at_seconds),
        });
        Series { name: standing.subject.clone(), points: points.collect() }
    };
    History {
        caption: "The score at each time, and the official score after it".to_owned(),
        value_label: "score".to_owned(),
        line_label: "official score".to_owned(),
        range: Some((0.0, writing.value(1.0))),
        decimals: writing.decimals(),
        series: shown.iter().map(series).collect(),
    }
}
