//! Drawings of standings for pages: the numbers that matter most, and the course of scores.

use std::collections::BTreeMap;

use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::SubjectStanding;

use super::figure::{Fact, History, Point, Series};
use crate::answers::ReviewState;
use crate::answers::standing::Standing;
use crate::estimate::{Writing, percent, plain};
use crate::standing::Answer;
use crate::text::count;

/// Returns the numbers of a standing that matter most.
pub(super) fn facts(it: &Standing) -> Vec<Fact> {
    let fact = |label: &str, value: String, note: String, pointer: &str| Fact {
        label: label.to_owned(),
        value,
        note,
        pointer: pointer.to_owned(),
        is_stamp: false,
    };
    let score = it.points.map_or_else(|| String::from("none"), plain);
    let mut facts = vec![fact("official score", score, format!("of {}", it.scale), "/points")];
    facts.extend(it.tier.as_ref().map(|tier| {
        let next =
            tier.next.as_ref().map_or_else(|| String::from("the highest"), |next| format!("next: {next}"));
        let held = tier.held.clone().unwrap_or_else(|| String::from("none"));
        let pointer = if tier.held.is_some() { "/tier/held" } else { "" };
        Fact { is_stamp: tier.held.is_some(), ..fact("tier", held, next, pointer) }
    }));
    facts.extend(it.interval.as_ref().map(|found| {
        let ends = Writing::points(it.scale).ends(Some((found.low, found.high)));
        let of = count(usize::try_from(found.tasks).unwrap_or(usize::MAX), "task");
        fact(&format!("{} interval", percent(found.level)), ends, format!("over {of}"), "")
    }));
    let seen = format!("of {} seen", it.items.seen);
    facts.push(fact("items that count", it.items.in_window.to_string(), seen, "/items/in_window"));
    facts
}

pub(super) fn history(answer: &Answer<'_>, shown: &[SubjectStanding]) -> History {
    let writing = Writing::of(answer.card.scale.max);
    let series = |standing: &SubjectStanding| {
        let lines = standing.review.iter().flat_map(|review| &review.transitions);
        let lines = lines.filter(|line| line.state != ReviewState::Committed);
        // The last of a moment counts.
        let lines: BTreeMap<i64, _> = lines.map(|line| (line.at_seconds, line)).collect();
        let flag = |at_seconds: i64| {
            let line = lines.get(&at_seconds)?;
            Some(format!("{} points {}", line.candidate.points, line.state.name().replace('_', " ")))
        };
        // The history ends with what happened last, and the line with what is left of it now.
        let now = karat_standing::stand::Point {
            at_seconds: answer.as_of.seconds(),
            points: standing.gated.map(|gated| gated.points),
            is_lowered: standing.gated.zip(standing.ungated).is_some_and(|(gated, it)| gated.lowers(it)),
            canonical: standing.points,
            score: standing.score,
            tier: None,
        };
        let is_later = |last: &karat_standing::stand::Point| last.at_seconds < now.at_seconds;
        let now = standing.history.last().is_some_and(is_later).then_some(&now);
        let points = standing.history.iter().chain(now).map(|point| Point {
            time: Some(Timestamp { milliseconds: point.at_seconds.saturating_mul(1000) }),
            value: point.score.map(|score| writing.value(score.to_f64())),
            // Without a review, the official score is the score itself, unless a gate capped it.
            line: match (&standing.review, point.points.filter(|_| point.is_lowered)) {
                (Some(_), _) => point.canonical.map(|points| points as f64),
                (None, Some(points)) => Some(points as f64),
                (None, _) => point.score.map(|score| writing.value(score.to_f64())),
            },
            flag: flag(point.at_seconds),
            ..Point::default()
        });
        Series { name: standing.subject.clone(), points: points.collect() }
    };
    History {
        caption: "The score at each time, and the official score after it".to_owned(),
        value_label: "score".to_owned(),
        line_label: "official score".to_owned(),
        range: Some((0.0, writing.value(1.0))),
        decimals: writing.decimals(),
        levels: levels(answer.card),
        series: shown.iter().map(series).collect(),
    }
}

/// Returns the scores that tiers need, in points.
fn levels(card: &Scorecard) -> Vec<(String, f64)> {
    let tiers = card.standing.iter().flat_map(|rules| rules.tiers.iter());
    tiers.map(|tier| (tier.name.clone(), tier.points as f64)).collect()
}
