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

/// A moment, and what is known of the subject beside its items.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub at_seconds: i64,
    /// Number of counted items up to the moment.
    pub count: usize,
    pub has_incident: bool,
    pub is_on_hold: bool,
    pub canonical_points: Option<i64>,
}

/// The score of the items at a moment.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub score: Option<Ratio>,
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
    card: &'s Scorecard,
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
    pub(super) fn new(card: &'s Scorecard, rules: &'s Standing, own: &'s Subject<'a>) -> Self {
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
        let columns = (0..card.dimensions.len()).map(column).collect();
        Self { card, rules, items, scores, coverages, days, runners, columns }
    }

    /// Places of the items that count at a moment: from, to.
    pub(super) fn window(&self, at_seconds: i64, count: usize) -> (usize, usize) {
        let limits = self.rules.window;
        let by_tasks = limits.tasks.map_or(0, |tasks| count.saturating_sub(tasks.get() as usize));
        let by_time = limits.span_seconds.map_or(0, |span| {
            let is_too_old = |item: &&Counted<'_>| {
                i128::from(at_seconds) - i128::from(item.at_seconds) >= i128::from(span.get())
            };
            self.items.partition_point(is_too_old)
        });
        (by_tasks.max(by_time).min(count), count)
    }

    /// Returns the score of the items at a moment.
    pub(super) fn look(&self, now: &Now, weights: Option<&OverrideUse>) -> Result<Look, Vec<VerdictError>> {
        let window = self.window(now.at_seconds, now.count);
        let mut dimensions = self.dimensions(now, window, weights);
        let (score, ungated, gated, undecayed_points, undecayed) = match self.rules.score {
            StandingScore::Window => {
                let (score, ungated, gated) = self.mean(now, window, &dimensions);
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
                (aged.decayed.composite, aged.ungated, aged.gated, fresh.gated, undecayed)
            }
        };
        let (sure, sure_if_fresh) = self.confidence(&mut dimensions);
        let facts = TierFacts {
            points: gated.map(|gated| gated.points),
            coverage: self.coverage(window, &dimensions),
            readings: readings(&dimensions, |part| part.reading),
            evaluations: now.count as u64,
            distinct_days: self.days.get(now.count).copied().unwrap_or_default(),
            confidence: sure,
            independent_runners: self.runners.get(now.count).copied().unwrap_or_default(),
            newest_batch_seconds: self.newest_batch(now),
            open_tiers: gated.and_then(|gated| gated.open_tiers),
        };
        let undecayed = TierFacts {
            points: undecayed_points.map(|gated| gated.points),
            readings: undecayed,
            confidence: sure_if_fresh,
            ..facts.clone()
        };
        Ok(Look { score, ungated, gated, dimensions, facts, undecayed })
    }

    /// Returns the age of the oldest of the newest items that make a full batch.
    fn newest_batch(&self, now: &Now) -> Option<i64> {
        let first = now.count.checked_sub(self.rules.batch_evaluations as usize)?;
        Some(now.at_seconds.saturating_sub(self.items.get(first)?.at_seconds))
    }

    fn dimensions(
        &self,
        now: &Now,
        (from, to): (usize, usize),
        weights: Option<&OverrideUse>,
    ) -> Vec<DimensionStanding> {
        let part = |(at, (dimension, column)): (usize, (&karat_core::scorecard::Dimension, &Column))| {
            let first = column.measured.partition_point(|place| *place < from);
            let last = column.measured.partition_point(|place| *place < to);
            let items = last.saturating_sub(first);
            let newest =
                last.checked_sub(1).filter(|_| items > 0).and_then(|at| column.measured.get(at).copied());
            let newest_reading = newest.and_then(|place| self.items.get(place)?.item.readings.get(at));
            let measured = match self.rules.score {
                StandingScore::Window => {
                    let sum = |at: usize| column.sums.get(at).copied().unwrap_or_default();
                    (items > 0).then(|| round_ratio(sum(last) - sum(first), items as i128) as i64)
                }
                StandingScore::Latest => newest_reading.and_then(|found| match found {
                    Reading::Measured { reading, .. } => Some(*reading),
                    Reading::NotApplicable | Reading::Missing => None,
                }),
            };
            let absent = column.absent.partition_point(|place| *place < to).checked_sub(1);
            let is_absent = absent.and_then(|at| column.absent.get(at)).is_some_and(|place| *place >= from);
            // An item may be about evidence that was old when it was made.
            let stated = match newest_reading {
                Some(Reading::Measured { age_seconds, .. }) => *age_seconds,
                _ => 0,
            };
            let at_seconds = newest.and_then(|place| self.items.get(place)).map(|item| item.at_seconds);
            let age = |at: i64| now.at_seconds.saturating_sub(at).saturating_add(stated);
            DimensionStanding {
                key: dimension.key.clone(),
                weight: weights.and_then(|used| used.effective.get(at)).copied().unwrap_or(dimension.weight),
                // What was once measured stays in the mean, or evidence could be lost on purpose.
                applies: measured.is_some() || !is_absent,
                measured,
                reading: measured,
                points_lost: None,
                age_seconds: at_seconds.map(age),
                items: items as u64,
                confidence: None,
            }
        };
        self.card.dimensions.iter().zip(&self.columns).enumerate().map(part).collect()
    }

    /// Returns the mean over the window, and the gate on it.
    fn mean(
        &self,
        now: &Now,
        (from, to): (usize, usize),
        dimensions: &[DimensionStanding],
    ) -> (Option<Ratio>, Option<Published>, Option<Gated>) {
        let sum = |at: usize| self.scores.get(at).copied().unwrap_or_default();
        let items = to.saturating_sub(from) as i128;
        let score = Ratio::new(sum(to) - sum(from), items * i128::from(UNITS_PER_ONE));
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
        &self,
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
    fn coverage(&self, (from, to): (usize, usize), dimensions: &[DimensionStanding]) -> i64 {
        if self.rules.score == StandingScore::Window {
            let sum = |at: usize| self.coverages.get(at).copied().unwrap_or_default();
            let items = to.saturating_sub(from).max(1);
            return round_ratio(sum(to) - sum(from), items as i128) as i64;
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
    fn confidence(&self, dimensions: &mut [DimensionStanding]) -> (Option<i64>, Option<i64>) {
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
