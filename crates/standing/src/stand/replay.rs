//! The history of one subject, moment by moment: its scores, their reviews, the tier that it holds.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Interval;
use super::input::{Change, Counted, StandError, Subject};
use super::series::{Look, Now, Series, Summary, View, Weights};
use super::value::{Counts, Point, ReviewStanding, SubjectStanding, TierHeld, WarmUpStanding};
use crate::certification::{Certificate, Certified, Recomputation, TierChange};
use crate::review::{Candidate, Decision, Event, History, Refusal, Transition};
use crate::tiers::{TierFacts, tier};
use crate::verdict::VerdictError;
use karat_core::number::{BILLION, round_ratio};
use karat_core::scorecard::{LateTreatment, Standing, StandingScore};
use karat_core::weights::OverrideUse;
use karat_stats::StatisticsError;
use karat_stats::estimate::Estimate;
use karat_stats::outcome::{OutcomeCounts, Treatment};
use karat_stats::table::{Observation, TaskTable};

/// The cause of a score that time alone has moved.
const DECAY: &str = "decay";

/// Up to when the history goes, and how intervals are drawn at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Until {
    pub as_of_seconds: i64,
    pub by_id: bool,
    pub interval: Option<Interval>,
}

/// Returns the standing of a subject from all its items and events.
pub(super) fn replay(
    view: View<'_>,
    weights: &Weights,
    until: Until,
    subject: &str,
    own: &Subject<'_>,
) -> Result<SubjectStanding, Vec<StandError>> {
    let wrong = |errors| in_subject(subject, errors);
    let mut run = Run::new(view, weights, own);
    // Where no item has a time all of them are of one moment.
    let as_of_seconds = if until.by_id { 0 } else { until.as_of_seconds };
    for at_seconds in run.moments().into_iter().filter(|at| *at < as_of_seconds) {
        run.advance(at_seconds).map_err(wrong)?;
    }
    run.keep_deadline(as_of_seconds).map_err(wrong)?;
    let settled = run.step(as_of_seconds, true).map_err(wrong)?;
    let counted = run.series.counted(as_of_seconds);
    let span = |of: Option<&&Counted<'_>>| of.filter(|_| !until.by_id).map(|item| item.at_seconds);
    let interval = match until.interval {
        Some(interval) => estimate(view.rules, &counted, interval)
            .map_err(|error| alloc::vec![StandError::Interval(error)])?,
        None => None,
    };
    let summary = run.summary(as_of_seconds);
    let counts = counts(view.rules, own, run.series.count, &counted);
    let mut items: Vec<&Counted<'_>> = own.items.iter().collect();
    items.sort_by_key(|item| (item.at_seconds, item.item.id));
    Ok(SubjectStanding {
        counts,
        window: counted.iter().map(|item| item.place).collect(),
        items: items.into_iter().map(|item| item.place).collect(),
        span_seconds: span(counted.first()).zip(span(counted.last())),
        interval,
        changes: own.changes.iter().map(|(at, change)| (*at, (*change).clone())).collect(),
        ..standing(view, subject, run.state, &summary, settled, as_of_seconds)
    })
}

/// Returns the errors of a subject.
pub(super) fn in_subject(subject: &str, errors: Vec<VerdictError>) -> Vec<StandError> {
    let told = |error| StandError::Verdict { subject: subject.to_string(), error };
    errors.into_iter().map(told).collect()
}

/// Returns the standing that a state gives, without items, counts and interval.
pub(super) fn standing(
    view: View<'_>,
    subject: &str,
    state: State,
    summary: &Summary,
    Settled { look, facts, certified }: Settled,
    as_of_seconds: i64,
) -> SubjectStanding {
    let rules = view.rules;
    let earned = tier(&rules.tiers, &facts);
    let held = if rules.certification.is_some() { state.certificate.tier } else { earned.reached };
    let name = held.checked_sub(1).and_then(|at| rules.tiers.get(at)).map(|rule| rule.name.clone());
    SubjectStanding {
        subject: subject.to_string(),
        operator: Some(state.history.operator.clone()).filter(|operator| !operator.is_empty()),
        counts: Counts::default(),
        window: Vec::new(),
        items: Vec::new(),
        span_seconds: None,
        interval: None,
        warm_up: warm_up(rules, summary, as_of_seconds),
        has_incident_gate: state.has_incident_gate,
        incidents: state.incidents.iter().cloned().collect(),
        is_on_hold: state.is_on_hold,
        changes: Vec::new(),
        points: state.standing_points(rules, &look),
        gating_points: facts.points,
        tier: (!rules.tiers.is_empty()).then_some(TierHeld {
            name,
            held,
            earned,
            certificate: certified.map(|certified| (state.certificate, certified)),
            changes: state.changes,
        }),
        review: rules.review.map(|_| ReviewStanding {
            history: state.history,
            transitions: state.transitions,
            refusals: state.refusals,
        }),
        score: look.score,
        undecayed_score: look.undecayed_score,
        ungated: look.ungated,
        gated: look.gated,
        dimensions: look.dimensions,
        facts,
        share: None,
        history: state.points,
    }
}

/// A history on its way: what has happened so far, and what follows from it.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) history: History,
    pub(super) transitions: Vec<Transition>,
    pub(super) refusals: Vec<(usize, Refusal)>,
    pub(super) certificate: Certificate,
    pub(super) changes: Vec<(i64, TierChange)>,
    pub(super) points: Vec<Point>,
    pub(super) incidents: BTreeSet<String>,
    pub(super) is_on_hold: bool,
    /// True if a gate of the newest item says that an incident is open.
    pub(super) has_incident_gate: bool,
    /// The runner of the item that became known last; empty if it is not known.
    pub(super) runner: String,
}

/// The results of a moment.
pub(super) struct Settled {
    pub(super) look: Look,
    pub(super) facts: TierFacts,
    pub(super) certified: Option<Certified>,
}

impl State {
    fn new(operator: Option<&str>) -> Self {
        Self {
            history: History::new(operator.unwrap_or_default().to_string()),
            transitions: Vec::new(),
            refusals: Vec::new(),
            certificate: Certificate::default(),
            changes: Vec::new(),
            points: Vec::new(),
            incidents: BTreeSet::new(),
            is_on_hold: false,
            has_incident_gate: false,
            runner: String::new(),
        }
    }

    /// Returns the state without what has been told: points, transitions, changes.
    pub(super) fn without_past(self) -> Self {
        let (transitions, refusals) = (Vec::new(), Vec::new());
        Self { transitions, refusals, changes: Vec::new(), points: Vec::new(), ..self }
    }

    /// Returns the moment after the deadline of a score that waits.
    pub(super) fn deadline_seconds(&self) -> Option<i64> {
        self.history.held.as_ref().map(|held| held.deadline_seconds.saturating_add(1))
    }

    /// Settles one moment: what is new, from `cause`, is scored, `decisions` are taken, the tier follows. At the last moment
    /// what is not held is scored again, for time alone may have moved it.
    pub(super) fn settle(
        &mut self,
        view: View<'_>,
        summary: &Summary,
        weights: Option<&OverrideUse>,
        at_seconds: i64,
        (cause, is_last): (Option<&str>, bool),
        decisions: &[(usize, &Decision)],
    ) -> Result<Settled, Vec<VerdictError>> {
        let now = Now {
            at_seconds,
            has_incident: !self.incidents.is_empty() || self.has_incident_gate,
            is_on_hold: self.is_on_hold,
            canonical_points: self.history.canonical.as_ref().map(|canonical| canonical.points),
        };
        let rules = view.rules;
        let look = view.look(summary, &now, weights)?;
        if rules.review.is_some() {
            let has_moved = look.gated.map(|gated| gated.points) != now.canonical_points;
            let aged = (is_last && has_moved && !self.history.is_under_review()).then_some(DECAY);
            self.review(rules, &look, cause.or(aged), at_seconds);
            for (place, decision) in decisions {
                self.happen(rules, Event::Decided((*decision).clone()), Some(*place));
            }
        }
        let facts = self.seen(rules, &look.facts);
        let undecayed = self.seen(rules, &look.undecayed);
        let certified = rules.certification.as_ref().and_then(|certification| {
            let recomputation = Recomputation { at_seconds, facts: facts.clone(), undecayed };
            // Moments come in order, so none is refused.
            let (next, certified) =
                self.certificate.next(&rules.tiers, certification, &recomputation).ok()?;
            self.certificate = next;
            self.changes.extend(certified.changes.iter().map(|change| (at_seconds, *change)));
            Some(certified)
        });
        let held = match &certified {
            Some(_) => self.certificate.tier,
            None => tier(&rules.tiers, &facts).reached,
        };
        self.points.push(Point {
            at_seconds,
            points: look.gated.map(|gated| gated.points),
            canonical: self.standing_points(rules, &look),
            score: look.score,
            tier: (!rules.tiers.is_empty()).then_some(held),
        });
        Ok(Settled { look, facts, certified })
    }

    fn review(&mut self, rules: &Standing, look: &Look, cause: Option<&str>, at_seconds: i64) {
        let canonical = self.history.canonical.as_ref().map(|canonical| canonical.points);
        let candidate = cause.zip(look.gated).map(|(cause, gated)| {
            let facts = TierFacts { points: Some(gated.points), ..look.facts.clone() };
            let tiers = rules.tiers.len();
            Candidate {
                at_seconds,
                points: gated.points,
                is_into_top: tiers > 0
                    && self.certificate.tier < tiers
                    && tier(&rules.tiers, &facts).reached == tiers,
                runner: self.runner.clone(),
                cause: cause.to_string(),
            }
        });
        let event = match candidate {
            None => Event::Passed { at_seconds },
            // What time takes away is not a swing of the subject: a fall that no new evidence caused does not wait.
            Some(aged) if aged.cause == DECAY && Some(aged.points) < canonical => Event::Aged(aged),
            Some(candidate) => Event::Scored(candidate),
        };
        self.happen(rules, event, None);
    }

    fn happen(&mut self, rules: &Standing, event: Event, place: Option<usize>) {
        let Some(rules) = &rules.review else { return };
        let history = core::mem::replace(&mut self.history, History::new(String::new()));
        let (next, outcome) = history.next(rules, event);
        self.history = next;
        self.transitions.extend(outcome.transitions);
        self.refusals.extend(place.zip(outcome.refusal));
    }

    /// Returns what tiers see: the facts, but with no higher score than the official one and a held one.
    fn seen(&self, rules: &Standing, facts: &TierFacts) -> TierFacts {
        let points = match rules.review {
            None => facts.points,
            Some(_) => facts.points.zip(self.history.gating_points()).map(|(now, gating)| now.min(gating)),
        };
        TierFacts { points, ..facts.clone() }
    }

    /// Returns the official score: the one accepted under review, else that of the moment.
    fn standing_points(&self, rules: &Standing, look: &Look) -> Option<i64> {
        match rules.review {
            None => look.gated.map(|gated| gated.points),
            Some(_) => self.history.canonical.as_ref().map(|canonical| canonical.points),
        }
    }
}

/// The items and events of a subject, taken in moment by moment.
pub(super) struct Run<'r, 'a> {
    view: View<'r>,
    weights: &'r Weights,
    series: Series<'r, 'a>,
    own: &'r Subject<'a>,
    pub(super) state: State,
    next_change: usize,
    next_decision: usize,
}

impl<'r, 'a> Run<'r, 'a> {
    pub(super) fn new(view: View<'r>, weights: &'r Weights, own: &'r Subject<'a>) -> Self {
        let (series, state) = (Series::new(view, own), State::new(own.operator));
        Self { view, weights, series, own, state, next_change: 0, next_decision: 0 }
    }

    /// Returns every moment at which something happens.
    pub(super) fn moments(&self) -> BTreeSet<i64> {
        let items = self.series.moments();
        let decisions = self.own.decisions.iter().map(|(_, decision)| decision.at_seconds);
        let changes = self.own.changes.iter().map(|(at, _)| *at);
        items.chain(decisions).chain(changes).chain(self.weights.moments()).collect()
    }

    /// Returns what the items that were taken in come to at a moment.
    pub(super) fn summary(&self, at_seconds: i64) -> Summary {
        self.series.summary(at_seconds)
    }

    /// Takes in what happens at a moment that is not the last.
    pub(super) fn advance(&mut self, at_seconds: i64) -> Result<(), Vec<VerdictError>> {
        self.keep_deadline(at_seconds)?;
        self.step(at_seconds, false).map(|_| ())
    }

    /// Ends what waits if a deadline passes before `at_seconds`; the consequence happens at that deadline.
    fn keep_deadline(&mut self, at_seconds: i64) -> Result<(), Vec<VerdictError>> {
        match self.state.deadline_seconds().filter(|passed| *passed < at_seconds) {
            Some(passed) => self.step(passed, false).map(|_| ()),
            None => Ok(()),
        }
    }

    fn step(&mut self, at_seconds: i64, is_last: bool) -> Result<Settled, Vec<VerdictError>> {
        let cause = self.take_in(at_seconds);
        let first = self.next_decision;
        let due = |(_, decision): &(usize, &Decision)| decision.at_seconds <= at_seconds;
        self.next_decision = first + self.own.decisions.iter().skip(first).take_while(|it| due(it)).count();
        let decisions = self.own.decisions.get(first..self.next_decision).unwrap_or_default();
        let summary = self.summary(at_seconds);
        let weights = self.weights.at(at_seconds);
        self.state.settle(self.view, &summary, weights, at_seconds, (cause, is_last), decisions)
    }

    /// Takes in the items and changes up to a moment; says what a new score comes from, if there can be one.
    fn take_in(&mut self, at_seconds: i64) -> Option<&'static str> {
        let known = self.series.count;
        self.series.take_in(at_seconds);
        let mut cause = (self.series.count > known).then_some("evaluation");
        let state = &mut self.state;
        while let Some((_, change)) =
            self.own.changes.get(self.next_change).filter(|(at, _)| *at <= at_seconds)
        {
            match change {
                Change::IncidentOpened(id) => _ = state.incidents.insert(id.clone()),
                Change::IncidentClosed(id) => _ = state.incidents.remove(id.as_str()),
                Change::Held => state.is_on_hold = true,
                Change::Released => state.is_on_hold = false,
            }
            self.next_change += 1;
            cause = cause.or(Some("gate"));
        }
        let newest = self.series.newest();
        let gate = self.view.rules.gate.as_ref().and_then(|gate| gate.incident_gate.as_deref());
        state.has_incident_gate =
            gate.zip(newest).is_some_and(|(name, newest)| newest.item.gates.contains(&name));
        // An older time does not hide who brings a score up.
        let runner = self.series.latest().and_then(|item| item.item.runner).unwrap_or_default();
        if state.runner != runner {
            state.runner = runner.to_string();
        }
        cause.or_else(|| self.weights.moments().any(|moment| moment == at_seconds).then_some("weights"))
    }
}

fn counts(rules: &Standing, own: &Subject<'_>, seen: usize, window: &[&Counted<'_>]) -> Counts {
    let is_excluded = |item: &&Counted<'_>| {
        item.item.outcome.is_some_and(|outcome| rules.outcomes.treatment(outcome) == Treatment::Excluded)
    };
    let excluded = own.items.iter().filter(is_excluded).count();
    let late = own.items.iter().filter(|item| item.is_late);
    let late_excluded = match rules.late.treatment {
        LateTreatment::Excluded => late.clone().filter(|item| !is_excluded(item)).count(),
        LateTreatment::AsStated | LateTreatment::AsArrived => 0,
    };
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
        late: late.clone().count() as u64,
        late_excluded: late_excluded as u64,
        late_after_seconds: rules.late.after_seconds,
        unscored: own.items.len().saturating_sub(seen + excluded + late_excluded) as u64,
    }
}

fn warm_up(rules: &Standing, summary: &Summary, now_seconds: i64) -> Option<WarmUpStanding> {
    let rule = rules.warm_up?;
    let is_over = rule
        .period_seconds
        .zip(summary.first_seconds)
        .is_some_and(|(period, first)| i128::from(now_seconds) - i128::from(first) >= i128::from(period));
    let counted = (summary.tasks as i128).min(i128::from(rule.tasks));
    let part = round_ratio(counted * i128::from(BILLION), i128::from(rule.tasks.max(1))) as i64;
    Some(WarmUpStanding {
        seen: summary.tasks as u64,
        needed: rule.tasks,
        factor: if is_over { BILLION } else { part },
    })
}

/// Returns the interval of the mean over the window, each task with as much weight as it has items there; none where there
/// are not two tasks, or no mean is taken.
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
    Estimate::new(&TaskTable::weighing_trials(1, &observations)?, 0, interval.level).map(Some)
}
