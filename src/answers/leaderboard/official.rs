//! Ranks by official scores: the standings of a moment, each with the way to it from the mean of the runs.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use karat_stats::ranks::ranks;
use serde::{Deserialize, Serialize};

use super::method::Page;
use super::{Leaderboard, LeaderboardRow, OFFICIAL, UnrankedSubject, medians};
use crate::answers::basis::Estimate;
use crate::answers::leaderboard::officials::{OfficialScore, Officials};
use crate::answers::standing::interval;
use crate::answers::{BridgeStep, IntervalOf, UnrankedReason, from_billionths, share};
use crate::estimate::Writing;

/// The reason not to rank a selection of items by official scores.
const OF_A_PART: &str = "an official score is of all items, and these are selected ones";
/// The reason not to rank by official scores under other rules for outcomes.
const OF_OTHER_OUTCOMES: &str =
    "an official score counts outcomes as the scorecard does, and here others are asked for";
/// The reason not to rank groups of items by official scores.
const OF_A_GROUP: &str = "an official score is of all items, and each leaderboard is of a group of them";

/// The reason not to rank first attempts by official scores of a card that looks at more than their mean.
const OF_FIRST_ATTEMPTS: &str =
    "an official score of this scorecard is of all attempts, and here the first of each task counts alone";

/// The parts of a question that leave it without official scores.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// True if items are selected.
    pub is_selection: bool,
    /// True if there is a leaderboard for each group of items.
    pub is_grouped: bool,
    /// True if outcomes are treated otherwise than by the scorecard.
    pub has_other_outcomes: bool,
    /// True if only first attempts count, and the scorecard looks at more than their mean.
    pub is_of_firsts: bool,
}

impl Asked {
    /// Returns the reason why the answer has no official scores; none if it has them.
    pub const fn without_official(self) -> Option<&'static str> {
        match self {
            Self { is_selection: true, .. } => Some(OF_A_PART),
            Self { is_grouped: true, .. } => Some(OF_A_GROUP),
            Self { has_other_outcomes: true, .. } => Some(OF_OTHER_OUTCOMES),
            Self { is_of_firsts: true, .. } => Some(OF_FIRST_ATTEMPTS),
            _ => None,
        }
    }
}

/// The official score of a subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Official {
    /// The official score in points of the scale.
    pub points: f64,
    /// The score that the interval is of, or why it is missing; null in a census.
    #[serde(default)]
    pub interval_of: Option<IntervalOf>,
    /// The levels from the mean of the runs to the official score, in order. A step that changes nothing is left out.
    pub bridge: Vec<BridgeLevel>,
    /// The tier that is held, if any.
    pub tier: Option<String>,
    /// True while a newer score is held for review.
    pub under_review: bool,
    /// Its values by dimension after decay, null if nothing was measured. Null as a whole where the official score is the mean of the
    /// runs, whose values the row has.
    #[serde(default)]
    pub dimensions: Option<BTreeMap<String, Option<f64>>>,
}

/// A score on the way to the official one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BridgeLevel {
    /// The step that leads to it.
    pub step: BridgeStep,
    /// The score after the step, in points of the scale.
    pub points: f64,
}

/// A subject, its official score, and the row of its mean, if it has one.
type Found<'f> = (&'f str, &'f OfficialScore, Option<LeaderboardRow>);

/// Replaces the ranks of `board`, which are by the means of runs, by those of official scores, and keeps a page of them.
/// `board` has every subject that has a mean; a subject needs `tasks_min` tasks for a rank. Without a `level` there are no intervals.
pub(super) fn rank_by_official(
    board: &mut Leaderboard,
    officials: &Officials,
    tasks_min: usize,
    level: Option<f64>,
    page: Page,
) {
    let named = |row: LeaderboardRow| (row.subject.clone(), row);
    let mut means: BTreeMap<String, LeaderboardRow> =
        mem::take(&mut board.rows).into_iter().map(named).collect();
    let unranked = board.unranked.take().into_iter().flatten().map(|it| (it.subject.clone(), it));
    let mut unranked: BTreeMap<String, UnrankedSubject> = unranked.collect();
    let mut found: Vec<Found<'_>> = Vec::new();
    for (subject, official) in &officials.subjects {
        let mean = means.remove(subject);
        let is_short = |it: &UnrankedSubject| it.why == UnrankedReason::TooFewTasks;
        match official {
            Some(official) if mean.is_some() || !unranked.get(subject).map_or(tasks_min > 1, is_short) => {
                unranked.remove(subject);
                found.push((subject, official, mean));
            }
            Some(_) => {}
            None if unranked.contains_key(subject) => {}
            None => unranked.extend([without_official(subject, mean.as_ref(), officials)]),
        }
    }
    // What is left has items, but none up to the moment.
    unranked.extend(means.iter().map(|(subject, mean)| without_official(subject, Some(mean), officials)));
    board.medians = medians(found.iter().flat_map(|(_, official, mean)| {
        let own = official.values.iter().flat_map(|all| officials.dimensions.iter().zip(all));
        let own = own.filter_map(|(key, value)| Some((key.as_str(), share(from_billionths((*value)?)))));
        let of_runs = mean.iter().filter(|_| official.values.is_none()).flat_map(LeaderboardRow::values);
        own.chain(of_runs)
    }));
    let order: Vec<Option<i64>> = found.iter().map(|(_, official, _)| Some(official.order())).collect();
    let mut ranked: Vec<_> = ranks(&order).into_iter().flatten().map(super::ranks).zip(found).collect();
    // The subjects are in the order of their names, and stay so among equal scores.
    ranked.sort_by_key(|(rank, _)| *rank);
    board.by = String::from(OFFICIAL);
    board.as_of = officials.as_of.map(|as_of| as_of.to_string());
    board.weights.clone_from(&officials.weights);
    board.ranked = ranked.len() as u64;
    let shown = ranked.into_iter().skip(page.skip).take(page.limit);
    let row = |(rank, found)| LeaderboardRow { rank, ..row(found, officials, level) };
    board.rows = shown.map(row).collect();
    board.unranked = Some(unranked.into_values().collect());
}

fn without_official(
    subject: &str,
    mean: Option<&LeaderboardRow>,
    officials: &Officials,
) -> (String, UnrankedSubject) {
    let tasks = mean.map_or(0, |row| row.tasks);
    let is_untimed = officials.untimed.contains(subject);
    let why = if is_untimed { UnrankedReason::WithoutTime } else { UnrankedReason::NoOfficialScore };
    (subject.to_owned(), UnrankedSubject { subject: subject.to_owned(), tasks, why, detail: None })
}

/// Returns the row of a subject from that of its mean, if it has one.
fn row((subject, official, mean): Found<'_>, officials: &Officials, level: Option<f64>) -> LeaderboardRow {
    let scale = officials.scale;
    let runs = mean.as_ref().map(|row| row.score);
    let of_scale = |points: f64| share(points / f64::from(scale));
    let found = level.map(|level| interval(official.spread.as_ref(), level));
    let ends = found.and_then(|(ends, _)| ends);
    let score = Estimate {
        mean: of_scale(official.points),
        low: ends.map(|it| of_scale(it.low)),
        high: ends.map(|it| of_scale(it.high)),
        method: ends.map(|it| it.method),
        tasks: official.spread.as_ref().map_or(0, |it| it.tasks() as u64),
    };
    let first =
        runs.map(|runs| BridgeLevel { step: BridgeStep::Runs, points: share(runs.mean * f64::from(scale)) });
    let mut bridge: Vec<BridgeLevel> = first.into_iter().chain(official.levels.iter().copied()).collect();
    bridge.dedup_by(|next, last| next.points == last.points);
    let official = Official {
        points: official.points,
        interval_of: found.map(|(_, of)| of),
        bridge,
        tier: official.tier.clone(),
        under_review: official.is_under_review,
        dimensions: official.values.as_ref().map(|all| {
            let value = |value: &Option<i64>| value.map(from_billionths);
            officials.dimensions.iter().cloned().zip(all.iter().map(value)).collect()
        }),
    };
    let own = mean.unwrap_or_else(|| LeaderboardRow::without_runs(subject));
    LeaderboardRow { score, official: Some(official), mean: runs, ..own }
}

impl Leaderboard {
    /// Returns the steps by which the official scores differ from the means of runs as they are written, in their order.
    pub fn bridge_steps(&self, writing: Writing) -> Vec<BridgeStep> {
        let officials = self.rows.iter().filter_map(|row| row.official.as_ref());
        let changes = officials.flat_map(|official| official.changes(writing));
        let steps = changes.filter(|(_, change)| *change != 0).map(|(step, _)| step);
        steps.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl Official {
    /// Returns what each step changes, in units of the last decimal that is written, so that the changes as written add up.
    fn changes(&self, writing: Writing) -> impl Iterator<Item = (BridgeStep, i64)> {
        let units = move |level: &BridgeLevel| writing.units(level.points / writing.value(1.0));
        let pairs = self.bridge.iter().zip(self.bridge.iter().skip(1));
        pairs.map(move |(before, after)| (after.step, units(after) - units(before)))
    }

    /// Writes what a step changes, with a sign; none if it changes nothing that is written.
    pub fn change(&self, step: BridgeStep, writing: Writing) -> Option<String> {
        let (_, change) = self.changes(writing).find(|(other, change)| *other == step && *change != 0)?;
        Some(writing.signed(change as f64 / writing.units(1.0) as f64))
    }
}
