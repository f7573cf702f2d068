//! The items of one subject in order of time, as they become known, and their result at a moment.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::input::{Counted, Reading, Subject, is_plain};
use super::spread::{Sample, Spread};
use super::sums::Sums;
use super::value::DimensionStanding;
use crate::confidence::{Backing, Evidence, confidence};
use crate::decay::{DecayRule, decay_dimensions};
use crate::gate::{self, GateFacts, Gated};
use crate::ratio::Ratio;
use crate::review::Basis;
use crate::tiers::TierFacts;
use karat_core::number::{BILLION, Decimal, MILLION, UNITS_PER_ONE, round_ratio};
use karat_core::record::Published;
use karat_core::scorecard::{Dimension, Scorecard, Standing, StandingScore};
use karat_core::weights::OverrideUse;

const DAY_SECONDS: i64 = 86_400;

/// The weights in force: each from its moment on.
#[derive(Debug, Default)]
pub(super) struct Weights(Vec<(i64, Option<OverrideUse>)>);

impl Weights {
    pub(super) fn set(&mut self, card: &Scorecard, at_seconds: i64, weights: Option<&[(String, Decimal)]>) {
        self.0.push((at_seconds, weights.and_then(|weights| OverrideUse::new(card, weights).ok())));
    }

    /// Returns the number of changes up to a moment.
    pub(super) fn until(&self, at_seconds: i64) -> usize {
        self.0.partition_point(|(from, _)| *from <= at_seconds)
    }

    /// Returns the weights after a number of changes; none for those of the card.
    fn after(&self, changes: usize) -> Option<&OverrideUse> {
        self.0.get(changes.checked_sub(1)?)?.1.as_ref()
    }

    pub(super) fn moments(&self) -> impl Iterator<Item = i64> {
        self.0.iter().map(|(from, _)| *from)
    }
}

/// Places of the items that count.
#[derive(Debug)]
pub(super) enum Places {
    /// All that are known, from this one on.
    From(usize),
    /// These.
    Each(Vec<usize>),
}

/// The common multiple of 1 to 28, in units of which the mean of a task is written: exact for up to 28 items.
const TASK_UNITS: i128 = 80_313_433_200;

/// The known items by task, where the score is the mean over tasks.
#[derive(Debug, Default)]
pub(super) struct ByTask<'a> {
    /// The sum of the scores and the number of the items of each task.
    of_task: BTreeMap<&'a str, (i128, i128)>,
    /// The sum of their means.
    sum: i128,
}

impl<'a> ByTask<'a> {
    fn enter(&mut self, task: &'a str, units: i128) {
        let (sum, items) = self.of_task.entry(task).or_default();
        let mean = |sum: i128, items: i128| round_ratio(sum * TASK_UNITS, items.max(1));
        self.sum -= mean(*sum, *items);
        (*sum, *items) = (*sum + units, *items + 1);
        self.sum += mean(*sum, *items);
    }

    fn mean(&self) -> Option<Ratio> {
        const MOST: i128 = 10i128.pow(24);
        let (of_units, one) = (self.of_task.len() as i128 * TASK_UNITS, i128::from(UNITS_PER_ONE));
        let mean = Ratio::new(self.sum, of_units * one)?;
        // A fraction that is too long to be worked with is rounded to the grid of scores.
        if mean.denominator() < MOST { Some(mean) } else { Ratio::new(round_ratio(self.sum, of_units), one) }
    }
}

/// The newest known item of each task, for a window in which each task counts once.
#[derive(Debug, Default)]
struct Newest<'a> {
    /// The place of each.
    of_task: BTreeMap<&'a str, usize>,
    places: BTreeSet<usize>,
}

impl<'a> Newest<'a> {
    fn enter(&mut self, task: &'a str, place: usize) {
        let newest = self.of_task.entry(task).or_insert(place);
        if *newest < place {
            self.places.remove(newest);
            *newest = place;
        }
        self.places.insert(*newest);
    }
}

/// The sums over the items up to a moment. They hold until another one comes, or one leaves the window.
#[derive(Debug, Clone, Default)]
pub(super) struct Summary {
    /// Number of counted items that are known at the moment.
    pub count: usize,
    /// The number of them that a warm-up counts: of their tasks, if each counts once.
    pub tasks: usize,
    /// The moment from which the first item is known.
    pub first_seconds: Option<i64>,
    /// The moment from which one of them is too old for the window; none in a window without a time.
    pub until_seconds: Option<i64>,
    /// Number of the items in the window, and the sums over them.
    items: i128,
    scores: i128,
    coverages: i128,
    /// The mean over tasks; none unless it is the score.
    mean: Option<Ratio>,
    /// Days on which an item became known, and runners that are not the operator.
    days: u64,
    runners: u64,
    /// The time of the oldest of the newest items that make a full batch.
    batch_seconds: Option<i64>,
    /// True if a gate of the newest item says that an incident is open.
    pub has_incident_gate: bool,
    /// By dimension.
    parts: Vec<Part>,
    /// The tasks in the window; none but at the last moment, and for a mean over them.
    sample: Option<Arc<Sample>>,
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

/// A card, its rules for standings, and the weights in force.
#[derive(Debug, Clone, Copy)]
pub(super) struct View<'s> {
    pub card: &'s Scorecard,
    pub rules: &'s Standing,
    pub weights: &'s Weights,
    /// True if the ladder of tiers is asked for, with what lies ahead.
    pub has_ladder: bool,
}

/// The score of the items at a moment.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub score: Option<Ratio>,
    /// The score as if all evidence were of now; none for a mean over a window.
    pub undecayed_score: Option<Ratio>,
    pub spread: Option<Spread>,
    pub ungated: Option<Published>,
    pub gated: Option<Gated>,
    pub dimensions: Vec<DimensionStanding>,
    /// With the score after the gate as its points.
    pub facts: TierFacts,
    /// The same as if all evidence were of now.
    pub undecayed: TierFacts,
}

/// The items of a subject that count, and sums over those that are known so far.
pub(super) struct Series<'s, 'a> {
    rules: &'s Standing,
    operator: Option<&'a str>,
    /// The gate of items that says that an incident is open.
    incident_gate: Option<&'s str>,
    /// The items by time and id; an index here is the place of an item.
    items: Vec<&'s Counted<'a>>,
    /// The places in the order in which the items become known.
    entries: Vec<usize>,
    /// Number of items that are known.
    pub count: usize,
    /// 1 at the place of each known item.
    known: Sums,
    scores: Sums,
    coverages: Sums,
    /// Days on which an item became known, and runners that are not the operator.
    days: BTreeSet<i64>,
    runners: BTreeSet<&'a str>,
    /// For a window in which each task counts once.
    newest: Option<Newest<'a>>,
    /// For a plain card.
    by_task: Option<ByTask<'a>>,
    columns: Vec<Column>,
}

/// The known readings of one dimension.
struct Column {
    /// Number of the items that measured it, their places and the sum of their readings.
    counts: Sums,
    measured: BTreeSet<usize>,
    readings: Sums,
    /// Places of the items that say that it does not apply.
    absent: BTreeSet<usize>,
}

impl<'s, 'a> Series<'s, 'a> {
    /// Returns the items of a subject, of which none is known yet.
    pub(super) fn new(view: View<'s>, own: &'s Subject<'a>) -> Self {
        let mut items: Vec<&Counted<'_>> = own.items.iter().filter(|item| item.is_counted).collect();
        items.sort_by_key(|item| (item.at_seconds, item.item.id));
        let mut entries: Vec<usize> = (0..items.len()).collect();
        let entered = |place: &usize| items.get(*place).map(|item| item.entered_seconds);
        // Those of one moment stay in the order of their times.
        entries.sort_by_key(entered);
        let sums = || Sums::new(items.len());
        let column = |_| Column {
            counts: sums(),
            measured: BTreeSet::new(),
            readings: sums(),
            absent: BTreeSet::new(),
        };
        Self {
            rules: view.rules,
            operator: own.operator,
            incident_gate: view.rules.gate.as_ref().and_then(|gate| gate.incident_gate.as_deref()),
            count: 0,
            known: sums(),
            scores: sums(),
            coverages: sums(),
            days: BTreeSet::new(),
            runners: BTreeSet::new(),
            newest: view.rules.window.is_distinct.then(Newest::default),
            by_task: is_plain(view.rules).then(ByTask::default),
            columns: (0..view.card.dimensions.len()).map(column).collect(),
            items,
            entries,
        }
    }

    /// Returns the items that count, known or not, in the order of their times.
    pub(super) fn items(&self) -> &[&'s Counted<'a>] {
        &self.items
    }

    /// Returns the item that becomes known after `count` others.
    pub(super) fn entry(&self, count: usize) -> Option<&'s Counted<'a>> {
        self.items.get(*self.entries.get(count)?).copied()
    }

    /// Takes in the items that are known at a moment.
    pub(super) fn take_in(&mut self, at_seconds: i64) {
        while self.entry(self.count).is_some_and(|next| next.entered_seconds <= at_seconds) {
            self.take(self.count + 1);
        }
    }

    /// Takes in items until `count` are known.
    pub(super) fn take(&mut self, count: usize) {
        while self.count < count
            && let Some(&place) = self.entries.get(self.count)
            && let Some(&counted) = self.items.get(place)
        {
            self.count += 1;
            self.enter(place, counted);
        }
    }

    fn enter(&mut self, place: usize, counted: &'s Counted<'a>) {
        let item = counted.item;
        let units = counted.score.map_or(0, |score| i128::from(score.units()));
        self.known.add(place, 1);
        self.scores.add(place, units);
        if let Some(by_task) = &mut self.by_task {
            by_task.enter(item.task, units);
        }
        self.coverages.add(place, i128::from(item.coverage));
        self.days.insert(counted.entered_seconds.div_euclid(DAY_SECONDS));
        let runner = item.runner.filter(|runner| !runner.is_empty() && Some(*runner) != self.operator);
        self.runners.extend(runner);
        if let Some(newest) = &mut self.newest {
            newest.enter(item.task, place);
        }
        for (column, reading) in self.columns.iter_mut().zip(&item.readings) {
            match reading {
                Reading::Measured { reading, .. } => {
                    column.counts.add(place, 1);
                    column.measured.insert(place);
                    column.readings.add(place, i128::from(*reading));
                }
                Reading::NotApplicable => _ = column.absent.insert(place),
                Reading::Missing => {}
            }
        }
    }

    /// Returns the known item of the newest time.
    fn newest(&self) -> Option<&'s Counted<'a>> {
        self.items.get(self.nth(self.count.checked_sub(1)?)).copied()
    }

    /// Returns the place of the known item before which there are `count` known ones.
    fn nth(&self, count: usize) -> usize {
        self.known.first_above(count as i128)
    }

    /// Returns the places of the items that count at a moment: of all that are known, or of the newest of each task.
    fn window(&self, at_seconds: i64) -> Places {
        let limits = self.rules.window;
        let most = limits.tasks.map_or(usize::MAX, |tasks| tasks.get() as usize);
        let first = limits.span_seconds.map_or(0, |span| {
            let is_too_old = |item: &&Counted<'_>| {
                i128::from(at_seconds) - i128::from(item.at_seconds) >= i128::from(span.get())
            };
            self.items.partition_point(is_too_old)
        });
        match &self.newest {
            None => Places::From(first.max(self.nth(self.count.saturating_sub(most)))),
            Some(newest) => {
                let mut each: Vec<usize> = newest.places.range(first..).rev().take(most).copied().collect();
                each.reverse();
                Places::Each(each)
            }
        }
    }

    /// Returns the items that count at a moment, oldest first.
    pub(super) fn counted(&self, at_seconds: i64) -> Vec<&'s Counted<'a>> {
        let places = match self.window(at_seconds) {
            Places::From(first) => {
                let mut known: Vec<usize> = self.entries.iter().take(self.count).copied().collect();
                known.retain(|place| *place >= first);
                known.sort_unstable();
                known
            }
            Places::Each(each) => each,
        };
        places.into_iter().filter_map(|place| self.items.get(place).copied()).collect()
    }

    /// Returns what the known items come to at a moment.
    pub(super) fn summary(&self, at_seconds: i64) -> Summary {
        let window = self.window(at_seconds);
        let sum = |sums: &Sums| match &window {
            Places::From(first) => sums.from(*first),
            Places::Each(each) => each.iter().map(|place| sums.before(place + 1) - sums.before(*place)).sum(),
        };
        let oldest = match &window {
            Places::From(first) => self.nth(usize::try_from(self.known.before(*first)).unwrap_or(usize::MAX)),
            Places::Each(each) => each.first().copied().unwrap_or(usize::MAX),
        };
        let span = self.rules.window.span_seconds;
        let batch = self.count.checked_sub(self.rules.batch_evaluations as usize);
        let dimension = |(at, column)| self.part(at, column, &window);
        let item = |place: usize| self.items.get(place);
        Summary {
            count: self.count,
            tasks: self.newest.as_ref().map_or(self.count, |newest| newest.places.len()),
            first_seconds: self
                .entries
                .first()
                .and_then(|place| item(*place))
                .map(|item| item.entered_seconds),
            until_seconds: item(oldest)
                .zip(span)
                .map(|(item, span)| item.at_seconds.saturating_add(i64::from(span.get()))),
            items: sum(&self.known),
            scores: sum(&self.scores),
            coverages: sum(&self.coverages),
            mean: self.by_task.as_ref().and_then(ByTask::mean),
            days: self.days.len() as u64,
            runners: self.runners.len() as u64,
            batch_seconds: batch.and_then(|first| item(self.nth(first))).map(|item| item.at_seconds),
            has_incident_gate: self
                .incident_gate
                .zip(self.newest())
                .is_some_and(|(gate, newest)| newest.item.gates.contains(&gate)),
            parts: self.columns.iter().enumerate().map(dimension).collect(),
            sample: None,
        }
    }

    /// Returns the same with the tasks that an interval is of.
    pub(super) fn conclusion(&self, at_seconds: i64) -> Summary {
        let is_mean = self.rules.score == StandingScore::Window;
        let has_cases = self.items.iter().all(|it| it.item.cases.is_some());
        let sample = is_mean.then(|| match &self.by_task {
            Some(by_task) if !has_cases => Sample::of_sums(by_task.of_task.values().copied()),
            by_task => Sample::new(&self.counted(at_seconds), by_task.is_some()),
        });
        Summary { sample: sample.map(Arc::new), ..self.summary(at_seconds) }
    }

    fn part(&self, at: usize, column: &Column, window: &Places) -> Part {
        let (items, sum, newest, is_absent) = match window {
            Places::From(first) => (
                column.counts.from(*first),
                column.readings.from(*first),
                column.measured.range(first..).next_back().copied(),
                column.absent.range(first..).next().is_some(),
            ),
            Places::Each(each) => {
                let measured = |place: &usize| match self.items.get(*place)?.item.readings.get(at) {
                    Some(Reading::Measured { reading, .. }) => Some((*place, i128::from(*reading))),
                    _ => None,
                };
                let found = || each.iter().filter_map(measured);
                (
                    found().count() as i128,
                    found().map(|(_, reading)| reading).sum(),
                    found().next_back().map(|(place, _)| place),
                    each.iter().any(|place| column.absent.contains(place)),
                )
            }
        };
        let newest = newest.and_then(|place| self.items.get(place));
        let newest_reading = newest.and_then(|item| item.item.readings.get(at));
        let measured = match self.rules.score {
            StandingScore::Window => (items > 0).then(|| round_ratio(sum, items) as i64),
            StandingScore::Latest => newest_reading.and_then(|found| match found {
                Reading::Measured { reading, .. } => Some(*reading),
                Reading::NotApplicable | Reading::Missing => None,
            }),
        };
        Part {
            measured,
            items: u64::try_from(items).unwrap_or_default(),
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
    pub(super) fn look(self, summary: &Summary, basis: &Basis, at_seconds: i64) -> Look {
        let basis = Basis { has_incident: basis.has_incident || summary.has_incident_gate, ..*basis };
        let mut dimensions = self.dimensions(summary, &basis, at_seconds);
        let undecayed = readings(&dimensions, |part| part.measured);
        let (score, undecayed_score) = match self.rules.score {
            StandingScore::Window => {
                let of_items = || Ratio::new(summary.scores, summary.items * i128::from(UNITS_PER_ONE));
                (summary.mean.or_else(of_items), None)
            }
            StandingScore::Latest => {
                let never = DecayRule { points_per_period: 0, ..DecayRule::default() };
                let decayed = |rule: DecayRule| {
                    let measured = |part: &DimensionStanding| part.measured.zip(part.age_seconds);
                    let parts: Vec<_> = dimensions.iter().map(|part| (part.weight, measured(part))).collect();
                    decay_dimensions(rule, &parts)
                };
                let (fresh, _) = decayed(never);
                let (score, left) = decayed(self.rules.decay.unwrap_or(never));
                for (part, left) in dimensions.iter_mut().zip(left) {
                    part.reading = left.map(|(reading, _)| reading);
                    part.points_lost = left.map(|(_, points)| points);
                }
                (score, fresh)
            }
        };
        let ungated = score.map(|score| score.publish(self.card.scale));
        let gated = ungated.map(|published| self.gated(published, &basis, &dimensions, |part| part.reading));
        let spread = summary.sample.as_ref().zip(score.zip(gated)).map(|(sample, (score, gated))| Spread {
            sample: Arc::clone(sample),
            score,
            scale: self.card.scale,
            gated,
            is_candidate: self.rules.review.is_some(),
        });
        let if_fresh = undecayed_score.map(|score| score.publish(self.card.scale));
        let if_fresh = if_fresh.map(|it| self.gated(it, &basis, &dimensions, |part| part.measured));
        let (sure, sure_if_fresh) = self.confidence(&mut dimensions);
        let facts = TierFacts {
            points: gated.map(|gated| gated.points),
            coverage: self.coverage(summary, &dimensions),
            readings: readings(&dimensions, |part| part.reading),
            evaluations: summary.count as u64,
            distinct_days: summary.days,
            confidence: sure,
            independent_runners: summary.runners,
            newest_batch_seconds: summary.batch_seconds.map(|batch| at_seconds.saturating_sub(batch)),
            open_tiers: gated.and_then(|gated| gated.open_tiers),
            least_open_tiers: self.rules.gate.as_ref().map(|gate| gate::least_open_tiers(&gate.rule)),
        };
        let undecayed = TierFacts {
            points: if_fresh.or(gated).map(|gated| gated.points),
            readings: undecayed,
            confidence: sure_if_fresh,
            ..facts
        };
        Look { score, undecayed_score, spread, ungated, gated, dimensions, facts, undecayed }
    }

    fn dimensions(self, summary: &Summary, basis: &Basis, at_seconds: i64) -> Vec<DimensionStanding> {
        let weights = self.weights.after(basis.weights);
        let part = |(at, (dimension, part)): (usize, (&Dimension, &Part))| {
            let age = |newest: i64| at_seconds.saturating_sub(newest).saturating_add(part.age_seconds);
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

    /// Returns what the gate leaves of a published score.
    fn gated(
        self,
        published: Published,
        basis: &Basis,
        dimensions: &[DimensionStanding],
        of: fn(&DimensionStanding) -> Option<i64>,
    ) -> Gated {
        let points = published.value.div_euclid(10i64.saturating_pow(published.places));
        let Some(gate) = &self.rules.gate else {
            return Gated { ungated_points: points, points, cap_points: None, open_tiers: None };
        };
        let reading = dimensions.iter().find(|part| part.key == gate.dimension);
        let facts = GateFacts {
            reading: reading.and_then(of),
            has_critical_incident: basis.has_incident,
            is_on_hold: basis.is_on_hold,
        };
        gate::apply(&gate.rule, points, &facts)
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
