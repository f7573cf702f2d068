//! The items of one subject in order, and their result at a moment.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::input::{Counted, Reading, Subject};
use super::value::DimensionStanding;
use crate::confidence::{Backing, Evidence, confidence};
use crate::decay::DecayRule;
use crate::gate::{self, GateFacts, Gated};
use crate::ratio::Ratio;
use crate::tiers::TierFacts;
use crate::verdict::{Measured, Situation, VerdictError, VerdictRules, verdict};
use karat_core::number::{BILLION, Decimal, MILLION, UNITS_PER_ONE, round_ratio};
use karat_core::record::Published;
use karat_core::scorecard::{Scorecard, Standing, StandingScore};
use karat_core::weights::OverrideUse;

const DAY_SECONDS: i64 = 86_400;

/// The weights in force: each from its moment on.
#[derive(Debug, Default)]
pub(super) struct Weights(Vec<(i64, Option<OverrideUse>)>);

impl Weights {
    pub(super) fn set(&mut self, card: &Scorecard, at_seconds: i64, weights: Option<&[(String, Decimal)]>) {
        self.0.push((at_seconds, weights.and_then(|weights| OverrideUse::new(card, weights).ok())));
    }

    pub(super) fn at(&self, at_seconds: i64) -> Option<&OverrideUse> {
        let from = self.0.partition_point(|(from, _)| *from <= at_seconds);
        self.0.get(from.checked_sub(1)?)?.1.as_ref()
    }

    pub(super) fn moments(&self) -> impl Iterator<Item = i64> {
        self.0.iter().map(|(from, _)| *from)
    }
}

/// Places of the items that count, in order.
#[derive(Debug)]
pub(super) enum Places {
    /// All from the first to before the second.
    Range(usize, usize),
    /// These.
    Each(Vec<usize>),
}

impl Places {
    fn len(&self) -> usize {
        match self {
            Self::Range(from, to) => to.saturating_sub(*from),
            Self::Each(each) => each.len(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        let (range, each) = match self {
            Self::Range(from, to) => (*from..*to, [].as_slice()),
            Self::Each(each) => (0..0, each.as_slice()),
        };
        range.chain(each.iter().copied())
    }
}

/// The newest item of each task so far, for a window in which each task counts once.
#[derive(Debug, Default)]
pub(super) struct Newest<'a> {
    /// The place of each.
    of_task: BTreeMap<&'a str, usize>,
    places: BTreeSet<usize>,
    /// Number of items taken in.
    count: usize,
}

impl<'a> Newest<'a> {
    /// Takes in the items up to the first `count`.
    pub(super) fn take_in(&mut self, items: &[&Counted<'a>], count: usize) {
        for (place, counted) in items.iter().enumerate().take(count).skip(self.count) {
            if let Some(before) = self.of_task.insert(counted.item.task, place) {
                self.places.remove(&before);
            }
            self.places.insert(place);
        }
        self.count = count;
    }
}

/// A moment, and what is known of the subject beside its items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub at_seconds: i64,
    pub has_incident: bool,
    pub is_on_hold: bool,
    pub canonical_points: Option<i64>,
}

/// The sums over the items up to a moment. They hold until another one comes, or one leaves the window.
#[derive(Debug, Clone)]
pub(super) struct Summary {
    /// Number of counted items up to the moment.
    pub count: usize,
    /// The number of them that a warm-up counts: of their tasks, if each counts once.
    pub tasks: usize,
    /// The time of the first item.
    pub first_seconds: Option<i64>,
    /// The moment from which one of them is too old for the window; none in a window without a time.
    pub until_seconds: Option<i64>,
    /// Number of the items in the window, and the sums over them.
    items: i128,
    scores: i128,
    coverages: i128,
    /// Days on which the items took place, and runners that are not the operator.
    days: u64,
    runners: u64,
    /// The time of the oldest of the newest items that make a full batch.
    batch_seconds: Option<i64>,
    /// By dimension.
    parts: Vec<Part>,
}

/// The sums over the items in one dimension.
#[derive(Debug, Clone, Copy)]
struct Part {
    measured: Option<i64>,
    /// Number of items within the window that measured it.
    items: u64,
    /// True if an item within the window says that it does not apply.
    is_absent: bool,
    /// The time of the newest item that measured it, and the age that its evidence had then.
    newest_seconds: Option<i64>,
    age_seconds: i64,
}

/// A card and its rules for standings.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'s> {
    pub card: &'s Scorecard,
    pub rules: &'s Standing,
}

/// The score of the items at a moment.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub score: Option<Ratio>,
    /// The score as if all evidence were of now; none for a mean over a window.
    pub undecayed_score: Option<Ratio>,
    pub ungated: Option<Published>,
    pub gated: Option<Gated>,
    pub dimensions: Vec<DimensionStanding>,
    /// With the score after the gate as its points.
    pub facts: TierFacts,
    /// The same as if all evidence were of now.
    pub undecayed: TierFacts,
}

/// The items of a subject that count, and sums over them.
pub(super) struct Series<'s, 'a> {
    rules: &'s Standing,
    pub items: Vec<&'s Counted<'a>>,
    /// Sum of the scores of the first n.
    scores: Vec<i128>,
    /// Sum of the coverages of the first n.
    coverages: Vec<i128>,
    /// Days on which the first n took place, and runners that are not the operator.
    days: Vec<u64>,
    runners: Vec<u64>,
    columns: Vec<Column>,
}

/// The readings of one dimension.
#[derive(Default)]
struct Column {
    /// Places of the items that measured it, in order.
    measured: Vec<usize>,
    /// Sum of the first n readings.
    sums: Vec<i128>,
    /// Places of the items that say that it does not apply.
    absent: Vec<usize>,
}

impl<'s, 'a> Series<'s, 'a> {
    pub(super) fn new(view: View<'s>, own: &'s Subject<'a>) -> Self {
        let items: Vec<&Counted<'_>> = own.items.iter().filter(|item| item.is_counted).collect();
        let sums = |of: &dyn Fn(&Counted<'_>) -> i128| {
            let mut sum = 0;
            let next = items.iter().map(|item| {
                sum += of(item);
                sum
            });
            core::iter::once(0).chain(next).collect::<Vec<i128>>()
        };
        let scores = sums(&|item| item.score.map_or(0, |score| i128::from(score.units())));
        let coverages = sums(&|item| i128::from(item.item.coverage));
        let (mut days, mut runners) = (alloc::vec![0], alloc::vec![0]);
        let (mut seen_days, mut seen_runners) = (BTreeSet::new(), BTreeSet::new());
        for counted in &items {
            seen_days.insert(counted.at_seconds.div_euclid(DAY_SECONDS));
            let runner =
                counted.item.runner.filter(|runner| !runner.is_empty() && Some(*runner) != own.operator);
            seen_runners.extend(runner);
            days.push(seen_days.len() as u64);
            runners.push(seen_runners.len() as u64);
        }
        let column = |dimension: usize| {
            let mut column = Column { sums: alloc::vec![0], ..Column::default() };
            for (place, counted) in items.iter().enumerate() {
                match counted.item.readings.get(dimension) {
                    Some(Reading::Measured { reading, .. }) => {
                        column.measured.push(place);
                        let sum = column.sums.last().copied().unwrap_or_default();
                        column.sums.push(sum + i128::from(*reading));
                    }
                    Some(Reading::NotApplicable) => column.absent.push(place),
                    Some(Reading::Missing) | None => {}
                }
            }
            column
        };
        let columns = (0..view.card.dimensions.len()).map(column).collect();
        Self { rules: view.rules, items, scores, coverages, days, runners, columns }
    }

    /// Returns the places of the items that count at a moment: of the first `count`, or of the newest of each task.
    pub(super) fn window(&self, at_seconds: i64, count: usize, newest: Option<&Newest<'_>>) -> Places {
        let limits = self.rules.window;
        let most = limits.tasks.map_or(usize::MAX, |tasks| tasks.get() as usize);
        let first = limits.span_seconds.map_or(0, |span| {
            let is_too_old = |item: &&Counted<'_>| {
                i128::from(at_seconds) - i128::from(item.at_seconds) >= i128::from(span.get())
            };
            self.items.partition_point(is_too_old)
        });
        match newest {
            None => Places::Range(first.max(count.saturating_sub(most)).min(count), count),
            Some(newest) => {
                let mut each: Vec<usize> = newest.places.range(first..).rev().take(most).copied().collect();
                each.reverse();
                Places::Each(each)
            }
        }
    }

    /// Returns what the items up to a moment come to: the first `count`.
    pub(super) fn summary(&self, at_seconds: i64, count: usize, newest: Option<&Newest<'_>>) -> Summary {
        let window = self.window(at_seconds, count, newest);
        let sum = |sums: &[i128]| {
            // A sum over the first n has one more entry than there are items.
            let before = |place: usize| sums.get(place).copied().unwrap_or_default();
            match &window {
                Places::Range(from, to) => before(*to) - before(*from),
                Places::Each(each) => each.iter().map(|place| before(place + 1) - before(*place)).sum(),
            }
        };
        let oldest = window.iter().next().and_then(|place| self.items.get(place));
        let span = self.rules.window.span_seconds;
        let batch = count.checked_sub(self.rules.batch_evaluations as usize);
        let dimension = |(at, column)| self.part(at, column, &window);
        Summary {
            count,
            tasks: newest.map_or(count, |newest| newest.places.len()),
            first_seconds: self.items.first().map(|item| item.at_seconds),
            until_seconds: oldest
                .zip(span)
                .map(|(item, span)| item.at_seconds.saturating_add(i64::from(span.get()))),
            items: window.len() as i128,
            scores: sum(&self.scores),
            coverages: sum(&self.coverages),
            days: self.days.get(count).copied().unwrap_or_default(),
            runners: self.runners.get(count).copied().unwrap_or_default(),
            batch_seconds: batch.and_then(|first| self.items.get(first)).map(|item| item.at_seconds),
            parts: self.columns.iter().enumerate().map(dimension).collect(),
        }
    }

    fn part(&self, at: usize, column: &Column, window: &Places) -> Part {
        let (items, sum, newest, is_absent) = match window {
            Places::Range(from, to) => {
                let first = column.measured.partition_point(|place| place < from);
                let last = column.measured.partition_point(|place| place < to);
                let sum = |at: usize| column.sums.get(at).copied().unwrap_or_default();
                let newest = last.checked_sub(1).filter(|newest| *newest >= first);
                let absent = column.absent.partition_point(|place| place < to).checked_sub(1);
                (
                    last.saturating_sub(first),
                    sum(last) - sum(first),
                    newest.and_then(|at| column.measured.get(at).copied()),
                    absent.and_then(|at| column.absent.get(at)).is_some_and(|place| place >= from),
                )
            }
            Places::Each(each) => {
                let measured = |place: &usize| match self.items.get(*place)?.item.readings.get(at) {
                    Some(Reading::Measured { reading, .. }) => Some((*place, i128::from(*reading))),
                    _ => None,
                };
                let found = || each.iter().filter_map(measured);
                (
                    found().count(),
                    found().map(|(_, reading)| reading).sum(),
                    found().next_back().map(|(place, _)| place),
                    each.iter().any(|place| column.absent.binary_search(place).is_ok()),
                )
            }
        };
        let newest = newest.and_then(|place| self.items.get(place));
        let newest_reading = newest.and_then(|item| item.item.readings.get(at));
        let measured = match self.rules.score {
            StandingScore::Window => (items > 0).then(|| round_ratio(sum, items as i128) as i64),
            StandingScore::Latest => newest_reading.and_then(|found| match found {
                Reading::Measured { reading, .. } => Some(*reading),
                Reading::NotApplicable | Reading::Missing => None,
            }),
        };
        Part {
            measured,
            items: items as u64,
            is_absent,
            newest_seconds: newest.map(|item| item.at_seconds),
            // An item may be about evidence that was old when it was made.
            age_seconds: match newest_reading {
                Some(Reading::Measured { age_seconds, .. }) => *age_seconds,
                _ => 0,
            },
        }
    }
}

impl View<'_> {
    /// Returns the score of the items at a moment.
    pub(super) fn look(
        self,
        summary: &Summary,
        now: &Now,
        weights: Option<&OverrideUse>,
    ) -> Result<Look, Vec<VerdictError>> {
        let mut dimensions = self.dimensions(summary, now, weights);
        let mut undecayed_score = None;
        let (score, ungated, gated, undecayed_points, undecayed) = match self.rules.score {
            StandingScore::Window => {
                let (score, ungated, gated) = self.mean(summary, now, &dimensions);
                (score, ungated, gated, gated, readings(&dimensions, |part| part.measured))
            }
            StandingScore::Latest => {
                let fresh = self.verdict(now, &dimensions, weights, true)?;
                let aged = self.verdict(now, &dimensions, weights, false)?;
                for (part, decayed) in dimensions.iter_mut().zip(&aged.decayed.dimensions) {
                    part.reading = decayed.reading;
                    part.points_lost = decayed.points;
                }
                let undecayed = readings(&dimensions, |part| part.measured);
                undecayed_score = fresh.decayed.composite;
                (aged.decayed.composite, aged.ungated, aged.gated, fresh.gated, undecayed)
            }
        };
        let (sure, sure_if_fresh) = self.confidence(&mut dimensions);
        let facts = TierFacts {
            points: gated.map(|gated| gated.points),
            coverage: self.coverage(summary, &dimensions),
            readings: readings(&dimensions, |part| part.reading),
            evaluations: summary.count as u64,
            distinct_days: summary.days,
            confidence: sure,
            independent_runners: summary.runners,
            newest_batch_seconds: summary.batch_seconds.map(|batch| now.at_seconds.saturating_sub(batch)),
            open_tiers: gated.and_then(|gated| gated.open_tiers),
        };
        let undecayed = TierFacts {
            points: undecayed_points.map(|gated| gated.points),
            readings: undecayed,
            confidence: sure_if_fresh,
            ..facts.clone()
        };
        Ok(Look { score, undecayed_score, ungated, gated, dimensions, facts, undecayed })
    }

    fn dimensions(
        self,
        summary: &Summary,
        now: &Now,
        weights: Option<&OverrideUse>,
    ) -> Vec<DimensionStanding> {
        let part = |(at, (dimension, part)): (usize, (&karat_core::scorecard::Dimension, &Part))| {
            let age = |newest: i64| now.at_seconds.saturating_sub(newest).saturating_add(part.age_seconds);
            DimensionStanding {
                key: dimension.key.clone(),
                weight: weights.and_then(|used| used.effective.get(at)).copied().unwrap_or(dimension.weight),
                // What was once measured stays in the mean, or evidence could be lost on purpose.
                applies: part.measured.is_some() || !part.is_absent,
                measured: part.measured,
                reading: part.measured,
                points_lost: None,
                age_seconds: part.newest_seconds.map(age),
                items: part.items,
                confidence: None,
            }
        };
        self.card.dimensions.iter().zip(&summary.parts).enumerate().map(part).collect()
    }

    /// Returns the mean over the window, and the gate on it.
    fn mean(
        self,
        summary: &Summary,
        now: &Now,
        dimensions: &[DimensionStanding],
    ) -> (Option<Ratio>, Option<Published>, Option<Gated>) {
        let score = Ratio::new(summary.scores, summary.items * i128::from(UNITS_PER_ONE));
        let ungated = score.map(|score| score.publish(self.card.scale));
        let gated = ungated.map(|published| {
            let points = published.value.div_euclid(10i64.saturating_pow(published.places));
            let open = Gated { ungated_points: points, points, open_tiers: None };
            self.rules.gate.as_ref().map_or(open, |gate| {
                let reading = dimensions.iter().find(|part| part.key == gate.dimension);
                let facts = GateFacts {
                    reading: reading.and_then(|part| part.reading),
                    has_critical_incident: now.has_incident,
                    is_on_hold: now.is_on_hold,
                };
                gate::apply(&gate.rule, points, &facts)
            })
        });
        (score, ungated, gated)
    }

    /// Returns the verdict on the newest readings; `fresh` as if all were of now.
    fn verdict(
        self,
        now: &Now,
        dimensions: &[DimensionStanding],
        weights: Option<&OverrideUse>,
        fresh: bool,
    ) -> Result<crate::verdict::Verdict, Vec<VerdictError>> {
        let never = DecayRule { points_per_period: 0, ..DecayRule::default() };
        let measured = dimensions.iter().filter_map(|part| {
            let age_seconds = if fresh { 0 } else { part.age_seconds.unwrap_or_default() };
            Some((part.key.clone(), Measured { reading: part.measured?, age_seconds }))
        });
        let situation = Situation {
            measured: measured.collect(),
            canonical_points: now.canonical_points,
            has_critical_incident: now.has_incident,
            is_on_hold: now.is_on_hold,
        };
        let rules = VerdictRules {
            decay: self.rules.decay.unwrap_or(never),
            gate: self.rules.gate.as_ref().map(|gate| (&gate.rule, gate.dimension.as_str())),
            ..VerdictRules::default()
        };
        verdict(self.card, weights, &situation, &rules)
    }

    /// Returns the share of the applicable weight that was measured, by the card's own weights; over a window the mean
    /// of its items.
    fn coverage(self, summary: &Summary, dimensions: &[DimensionStanding]) -> i64 {
        if self.rules.score == StandingScore::Window {
            return round_ratio(summary.coverages, summary.items.max(1)) as i64;
        }
        let weight = |is: fn(&DimensionStanding) -> bool| {
            let own = self.card.dimensions.iter().zip(dimensions).filter(|(_, part)| is(part));
            own.map(|(dimension, _)| i128::from(dimension.weight.millionths())).sum::<i128>()
        };
        let applicable = weight(|part| part.applies);
        let covered = weight(|part| part.measured.is_some());
        if applicable == 0 { 0 } else { round_ratio(covered * i128::from(BILLION), applicable) as i64 }
    }

    /// Returns how sure the dimensions are, as they are and if all were of now.
    fn confidence(self, dimensions: &mut [DimensionStanding]) -> (Option<i64>, Option<i64>) {
        let Some(rule) = &self.rules.confidence else { return (None, None) };
        let backings = |fresh: bool| -> Vec<Backing> {
            let own = self.card.dimensions.iter().zip(dimensions.iter());
            own.map(|(dimension, part)| Backing {
                key: part.key.clone(),
                weight: if part.applies { dimension.weight } else { Decimal::ZERO },
                evidence: part.measured.map(|_| Evidence::Sample {
                    effective_items: Decimal::from_millionths((part.items as i64).saturating_mul(MILLION)),
                    needed_items: rule.items_by.get(&part.key).copied().unwrap_or(rule.items),
                }),
                age_seconds: if fresh { 0 } else { part.age_seconds.unwrap_or_default() },
                is_carried: false,
            })
            .collect()
        };
        let (aged, fresh) =
            (confidence(&backings(false), rule.freshness), confidence(&backings(true), rule.freshness));
        for (part, sure) in dimensions.iter_mut().zip(&aged.dimensions) {
            part.confidence = Some(*sure);
        }
        (aged.value, fresh.value)
    }
}

fn readings(
    dimensions: &[DimensionStanding],
    of: fn(&DimensionStanding) -> Option<i64>,
) -> BTreeMap<String, i64> {
    dimensions.iter().filter_map(|part| Some((part.key.clone(), of(part)?))).collect()
}
