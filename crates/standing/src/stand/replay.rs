//! The history of one subject, moment by moment: its scores, their reviews, the tier that it holds.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Interval;
use super::input::{Change, Counted, StandError, Subject};
use super::series::{Look, Now, Series, Weights};
use super::value::{Counts, Point, ReviewStanding, SubjectStanding, TierHeld, WarmUpStanding};
use crate::certification::{Certificate, Certified, Recomputation, TierChange};
use crate::review::{Candidate, Event, History, Refusal, Transition};
use crate::tiers::{TierFacts, tier};
use crate::verdict::VerdictError;
use karat_core::number::{BILLION, round_ratio};
use karat_core::scorecard::{Scorecard, Standing, StandingScore};
use karat_stats::StatisticsError;
use karat_stats::bootstrap::{Draws, Ends, Estimate};
use karat_stats::outcome::{OutcomeCounts, Treatment};
use karat_stats::table::{Observation, TaskTable};

/// Up to when the history goes, and how intervals are drawn at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub as_of_seconds: i64,
    pub by_id: bool,
    pub interval: Interval,
}

/// Returns the standing of a subject from all its items and events.
pub(super) fn replay(
    card: &Scorecard,
    rules: &Standing,
    weights: &Weights,
    until: Until,
    subject: &str,
    own: &Subject<'_>,
) -> Result<SubjectStanding, Vec<StandError>> {
    let wrong = |errors: Vec<VerdictError>| -> Vec<StandError> {
        let told = |error| StandError::Verdict { subject: subject.to_string(), error };
        errors.into_iter().map(told).collect()
    };
    let series = Series::new(card, rules, own);
    let mut run = Run {
        rules,
        weights,
        series: &series,
        own,
        history: History::new(own.operator.unwrap_or_default().to_string()),
        transitions: Vec::new(),
        refusals: Vec::new(),
        certificate: Certificate::default(),
        changes: Vec::new(),
        points: Vec::new(),
        incidents: BTreeSet::new(),
        is_on_hold: false,
        count: 0,
        next_change: 0,
        next_decision: 0,
    };
    // Where no item has a time all of them are of one moment.
    let as_of_seconds = if until.by_id { 0 } else { until.as_of_seconds };
    for at_seconds in run.moments().into_iter().filter(|at| *at < as_of_seconds) {
        run.keep_deadline(at_seconds).map_err(wrong)?;
        run.step(at_seconds, false).map_err(wrong)?;
    }
    run.keep_deadline(as_of_seconds).map_err(wrong)?;
    let (look, facts, certified) = run.step(as_of_seconds, true).map_err(wrong)?;
    let window = series.window(as_of_seconds, run.count);
    let counted = series.items.get(window.0..window.1).unwrap_or_default();
    let span = |of: Option<&&Counted<'_>>| of.filter(|_| !until.by_id).map(|item| item.at_seconds);
    let interval =
        estimate(rules, counted, until.interval).map_err(|error| alloc::vec![StandError::Interval(error)])?;
    let earned = tier(&rules.tiers, &facts);
    let held = if rules.certification.is_some() { run.certificate.tier } else { earned.reached };
    let name = held.checked_sub(1).and_then(|at| rules.tiers.get(at)).map(|rule| rule.name.clone());
    Ok(SubjectStanding {
        subject: subject.to_string(),
        operator: own.operator.map(String::from),
        counts: counts(rules, own, run.count, counted),
        window: counted.iter().map(|item| item.place).collect(),
        items: own.items.iter().map(|item| item.place).collect(),
        span_seconds: span(counted.first()).zip(span(counted.last())),
        interval,
        warm_up: warm_up(rules, &series, run.count, as_of_seconds),
        has_incident_gate: run.has_incident_gate(),
        incidents: run.incidents.iter().map(|id| (*id).to_string()).collect(),
        is_on_hold: run.is_on_hold,
        changes: own.changes.iter().map(|(at, change)| (*at, (*change).clone())).collect(),
        points: run.standing_points(&look),
        gating_points: facts.points,
        tier: (!rules.tiers.is_empty()).then_some(TierHeld {
            name,
            held,
            earned,
            certificate: certified.map(|certified| (run.certificate, certified)),
            changes: run.changes,
        }),
        review: rules.review.map(|_| ReviewStanding {
            history: run.history,
            transitions: run.transitions,
            refusals: run.refusals,
        }),
        score: look.score,
        ungated: look.ungated,
        gated: look.gated,
        dimensions: look.dimensions,
        facts,
        share: None,
        history: run.points,
    })
}

/// A history on its way.
struct Run<'r, 's, 'a> {
    rules: &'r Standing,
    weights: &'r Weights,
    series: &'r Series<'s, 'a>,
    own: &'r Subject<'a>,
    history: History,
    transitions: Vec<Transition>,
    refusals: Vec<(usize, Refusal)>,
    certificate: Certificate,
    changes: Vec<(i64, TierChange)>,
    points: Vec<Point>,
    incidents: BTreeSet<&'r str>,
    is_on_hold: bool,
    count: usize,
    next_change: usize,
    next_decision: usize,
}

impl<'r> Run<'r, '_, '_> {
    /// Returns every moment at which something happens.
    fn moments(&self) -> BTreeSet<i64> {
        let items = self.series.items.iter().map(|item| item.at_seconds);
        let decisions = self.own.decisions.iter().map(|(_, decision)| decision.at_seconds);
        let changes = self.own.changes.iter().map(|(at, _)| *at);
        items.chain(decisions).chain(changes).chain(self.weights.moments()).collect()
    }

    /// Ends what waits if a deadline passes before `at_seconds`; the consequence happens at that deadline.
    fn keep_deadline(&mut self, at_seconds: i64) -> Result<(), Vec<VerdictError>> {
        let deadline = self.history.held.as_ref().map(|held| held.deadline_seconds.saturating_add(1));
        match deadline.filter(|passed| *passed < at_seconds) {
            Some(passed) => self.step(passed, false).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Takes one moment: what is new is scored, decisions are taken, the tier follows. At the last moment what is not
    /// held is scored again, for time alone may have moved it.
    fn step(
        &mut self,
        at_seconds: i64,
        is_last: bool,
    ) -> Result<(Look, TierFacts, Option<Certified>), Vec<VerdictError>> {
        let cause = self.take_in(at_seconds);
        let now = Now {
            at_seconds,
            count: self.count,
            has_incident: !self.incidents.is_empty() || self.has_incident_gate(),
            is_on_hold: self.is_on_hold,
            canonical_points: self.history.canonical.as_ref().map(|canonical| canonical.points),
        };
        let look = self.series.look(&now, self.weights.at(at_seconds))?;
        if self.rules.review.is_some() {
            let has_moved = look.gated.map(|gated| gated.points) != now.canonical_points;
            let aged = (is_last && has_moved && !self.history.is_under_review()).then_some("decay");
            self.review(&look, cause.or(aged), at_seconds);
        }
        let facts = self.seen(&look.facts);
        let undecayed = self.seen(&look.undecayed);
        let certified = self.rules.certification.as_ref().and_then(|rules| {
            let recomputation = Recomputation { at_seconds, facts: facts.clone(), undecayed };
            // Moments come in order, so none is refused.
            let (next, certified) = self.certificate.next(&self.rules.tiers, rules, &recomputation).ok()?;
            self.certificate = next;
            self.changes.extend(certified.changes.iter().map(|change| (at_seconds, *change)));
            Some(certified)
        });
        let held = match &certified {
            Some(_) => self.certificate.tier,
            None => tier(&self.rules.tiers, &facts).reached,
        };
        self.points.push(Point {
            at_seconds,
            points: look.gated.map(|gated| gated.points),
            canonical: self.standing_points(&look),
            score: look.score,
            tier: (!self.rules.tiers.is_empty()).then_some(held),
        });
        Ok((look, facts, certified))
    }

    /// Takes in the items and changes up to a moment; says what a new score comes from, if there can be one.
    fn take_in(&mut self, at_seconds: i64) -> Option<&'static str> {
        let count = self.series.items.partition_point(|item| item.at_seconds <= at_seconds);
        let mut cause = (count > self.count).then_some("evaluation");
        self.count = count;
        while let Some((_, change)) =
            self.own.changes.get(self.next_change).filter(|(at, _)| *at <= at_seconds)
        {
            match change {
                Change::IncidentOpened(id) => _ = self.incidents.insert(id),
                Change::IncidentClosed(id) => _ = self.incidents.remove(id.as_str()),
                Change::Held => self.is_on_hold = true,
                Change::Released => self.is_on_hold = false,
            }
            self.next_change += 1;
            cause = cause.or(Some("gate"));
        }
        cause.or_else(|| self.weights.moments().any(|moment| moment == at_seconds).then_some("weights"))
    }

    /// Returns whether the newest item says that an incident is open.
    fn has_incident_gate(&self) -> bool {
        let name = self.rules.gate.as_ref().and_then(|gate| gate.incident_gate.as_deref());
        let newest = self.count.checked_sub(1).and_then(|at| self.series.items.get(at));
        name.zip(newest).is_some_and(|(name, newest)| newest.item.gates.contains(&name))
    }

    fn review(&mut self, look: &Look, cause: Option<&str>, at_seconds: i64) {
        let candidate = cause.zip(look.gated).map(|(cause, gated)| {
            let facts = TierFacts { points: Some(gated.points), ..look.facts.clone() };
            let tiers = self.rules.tiers.len();
            let newest = self.count.checked_sub(1).and_then(|at| self.series.items.get(at));
            Candidate {
                at_seconds,
                points: gated.points,
                is_into_top: tiers > 0
                    && self.certificate.tier < tiers
                    && tier(&self.rules.tiers, &facts).reached == tiers,
                runner: newest.and_then(|item| item.item.runner).unwrap_or_default().to_string(),
                cause: cause.to_string(),
            }
        });
        self.happen(candidate.map_or(Event::Passed { at_seconds }, Event::Scored), None);
        while let Some((place, decision)) = self
            .own
            .decisions
            .get(self.next_decision)
            .filter(|(_, decision)| decision.at_seconds <= at_seconds)
        {
            self.next_decision += 1;
            self.happen(Event::Decided((*decision).clone()), Some(*place));
        }
    }

    fn happen(&mut self, event: Event, place: Option<usize>) {
        let Some(rules) = &self.rules.review else { return };
        let history = core::mem::replace(&mut self.history, History::new(String::new()));
        let (next, outcome) = history.next(rules, event);
        self.history = next;
        self.transitions.extend(outcome.transitions);
        self.refusals.extend(place.zip(outcome.refusal));
    }

    /// Returns what tiers see: the facts, but with no higher score than the official one and a held one.
    fn seen(&self, facts: &TierFacts) -> TierFacts {
        let points = match self.rules.review {
            None => facts.points,
            Some(_) => facts.points.zip(self.history.gating_points()).map(|(now, gating)| now.min(gating)),
        };
        TierFacts { points, ..facts.clone() }
    }

    /// Returns the official score: the one accepted under review, else that of the moment.
    fn standing_points(&self, look: &Look) -> Option<i64> {
        match self.rules.review {
            None => look.gated.map(|gated| gated.points),
            Some(_) => self.history.canonical.as_ref().map(|canonical| canonical.points),
        }
    }
}

fn counts(rules: &Standing, own: &Subject<'_>, seen: usize, window: &[&Counted<'_>]) -> Counts {
    let is_excluded = |item: &&Counted<'_>| {
        item.item.outcome.is_some_and(|outcome| rules.outcomes.treatment(outcome) == Treatment::Excluded)
    };
    let excluded = own.items.iter().filter(is_excluded).count();
    let mut tasks: BTreeMap<&str, u64> = BTreeMap::new();
    if rules.score == StandingScore::Window {
        for item in window {
            *tasks.entry(item.item.task).or_default() += 1;
        }
    }
    Counts {
        seen: seen as u64,
        in_window: window.len() as u64,
        distinct_tasks: tasks.len() as u64,
        largest_task_items: tasks.values().copied().max().unwrap_or_default(),
        window_tasks: rules.window.tasks.map(core::num::NonZeroU32::get),
        outcomes: OutcomeCounts::of(own.items.iter().filter_map(|item| item.item.outcome)),
        outcome_unstated: own.items.iter().filter(|item| item.item.outcome.is_none()).count() as u64,
        excluded: excluded as u64,
        unscored: own.items.len().saturating_sub(seen).saturating_sub(excluded) as u64,
    }
}

fn warm_up(
    rules: &Standing,
    series: &Series<'_, '_>,
    seen: usize,
    now_seconds: i64,
) -> Option<WarmUpStanding> {
    let rule = rules.warm_up?;
    let first = series.items.first().map(|item| item.at_seconds);
    let is_over = rule
        .period_seconds
        .zip(first)
        .is_some_and(|(period, first)| i128::from(now_seconds) - i128::from(first) >= i128::from(period));
    let counted = (seen as i128).min(i128::from(rule.tasks));
    let part = round_ratio(counted * i128::from(BILLION), i128::from(rule.tasks.max(1))) as i64;
    Some(WarmUpStanding {
        seen: seen as u64,
        needed: rule.tasks,
        factor: if is_over { BILLION } else { part },
    })
}

/// Returns the interval of the mean over the window, by resampling tasks; none where there are not two tasks, or no
/// mean is taken.
fn estimate(
    rules: &Standing,
    counted: &[&Counted<'_>],
    interval: Interval,
) -> Result<Option<Estimate>, StatisticsError> {
    if rules.score != StandingScore::Window {
        return Ok(None);
    }
    let mut tasks: BTreeMap<&str, usize> = BTreeMap::new();
    for item in counted {
        let next = tasks.len();
        tasks.entry(item.item.task).or_insert(next);
    }
    if tasks.len() < 2 {
        return Ok(None);
    }
    let observation = |item: &&Counted<'_>| {
        let value = round_ratio(i128::from(item.score?.units()), 1_000_000) as i64;
        Some(Observation { subject: 0, task: *tasks.get(item.item.task)?, value })
    };
    let observations: Vec<Observation> = counted.iter().filter_map(observation).collect();
    // Every item of the window counts alike, however many there are of its task.
    let table = TaskTable::weighing_trials(1, &observations)?;
    Draws::new(&table, interval.plan)?.estimate(0, interval.level, Ends::Percentile).map(Some)
}
