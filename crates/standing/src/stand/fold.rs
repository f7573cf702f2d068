//! The fold over the log of one subject: what has happened so far, and what follows from it at any later moment.
//!
//! What happens has its own moment: an entry of the log, a deadline, the second from which a tier is earned for long enough.
//! The moment of a question is not among them: it reads.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::series::{Look, Summary, View};
use super::value::{OfficialParts, Point, ReviewStanding, SubjectStanding, TierHeld, WarmUpStanding};
use crate::certification::{Certificate, Certified, Recomputation, TierChange};
use crate::review::{Basis, Candidate, Decision, Event, History, Refusal, Seen, Transition};
use crate::tiers::{TierFacts, tier};
use karat_core::facts::Digest;
use karat_core::number::{BILLION, round_ratio};
use karat_core::scorecard::Standing;

/// The cause of a score that new items bring.
pub(super) const EVALUATION: &str = "evaluation";

/// The state after what has happened so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Fold {
    pub subject: String,
    pub history: History,
    pub transitions: Vec<Transition>,
    pub refusals: Vec<(usize, Refusal)>,
    pub certificate: Certificate,
    pub changes: Vec<(i64, TierChange)>,
    pub points: Vec<Point>,
    pub incidents: BTreeSet<String>,
    pub is_on_hold: bool,
    /// The runner of the item that became known last; empty if it is not known.
    pub runner: String,
    /// The sums over the items: all that are known, then those behind the held and the official score, if they are fewer.
    pub evidence: Vec<Summary>,
    /// The digest of the items since the official score; none before the first item.
    pub digest: Option<Digest>,
    /// The moment of the last that happened; none before the first.
    pub at_seconds: Option<i64>,
}

/// The score of a moment and the official one.
pub(super) struct Shown {
    pub look: Look,
    /// The official score, less what age has taken.
    pub official: Option<i64>,
}

impl Fold {
    pub(super) fn new(subject: &str, operator: Option<&str>) -> Self {
        let history = History::new(operator.unwrap_or_default().to_string());
        Self { subject: subject.to_string(), history, ..Self::default() }
    }

    /// Returns the state without what has been told: points, transitions, changes.
    pub(super) fn without_past(self) -> Self {
        let (transitions, refusals) = (Vec::new(), Vec::new());
        Self { transitions, refusals, changes: Vec::new(), points: Vec::new(), ..self }
    }

    /// Returns the numbers of items behind the held and the official score.
    pub(super) fn counts(&self) -> [Option<usize>; 2] {
        let History { held, canonical, .. } = &self.history;
        [held.as_ref().map(|held| held.candidate.basis), canonical.as_ref().map(|official| official.basis)]
            .map(|basis| basis.map(|basis| basis.items))
    }

    /// Returns what the score of a moment follows from: the evidence of the score that waits, else of the official one, so that
    /// what was refused does not count; and all that is known where nothing is reviewed.
    pub(super) fn basis(&self, view: View<'_>, at_seconds: i64) -> Basis {
        let known = self.evidence.first().map_or(0, |known| known.count);
        Basis {
            items: self.counts().into_iter().flatten().next().unwrap_or(known),
            weights: view.weights.until(at_seconds),
            has_incident: !self.incidents.is_empty(),
            is_on_hold: self.is_on_hold,
        }
    }

    /// Returns the digest of no items.
    pub(super) fn digest_of_none(&self) -> Digest {
        Digest::of(self.subject.as_bytes())
    }

    fn look(&self, view: View<'_>, basis: &Basis, at_seconds: i64) -> Look {
        view.look(self.behind(basis).unwrap_or(&Summary::default()), basis, at_seconds)
    }

    /// Returns what the items come to that a score follows from.
    fn behind(&self, basis: &Basis) -> Option<&Summary> {
        self.evidence.iter().find(|summary| summary.count == basis.items)
    }

    /// Returns what there is to see at a moment, no earlier than the last that happened; `ready` is its look, if it is known. Its
    /// facts are those that gates and tiers see: with no higher score than the official one and a held one.
    fn see(&self, view: View<'_>, basis: &Basis, at_seconds: i64, ready: Option<Look>) -> Shown {
        let mut look = ready.unwrap_or_else(|| self.look(view, basis, at_seconds));
        let points = |look: &Look| (look.facts.points, look.undecayed.points);
        let (official, if_fresh) = match &self.history.canonical {
            Some(canonical) => {
                let (left, if_fresh) = match canonical.basis == *basis {
                    true => points(&look),
                    false => points(&self.look(view, &canonical.basis, at_seconds)),
                };
                // Time takes and gives nothing.
                (Some(left.map_or(canonical.points, |left| left.min(canonical.points))), if_fresh.or(left))
            }
            None if view.rules.review.is_some() => (None, None),
            None => points(&look),
        };
        let held = self.history.held.as_ref().map(|held| held.lowest_points);
        for (facts, official) in [(&mut look.facts, official), (&mut look.undecayed, if_fresh)] {
            let points = facts.points.zip(official).map(|(now, official)| now.min(official));
            facts.points = points.map(|points| held.map_or(points, |held| held.min(points)));
        }
        Shown { look, official }
    }

    /// Returns what tiers see at a moment, no earlier than the last that happened.
    pub(super) fn facts(&self, view: View<'_>, at_seconds: i64) -> TierFacts {
        self.see(view, &self.basis(view, at_seconds), at_seconds, None).look.facts
    }

    /// Lets time pass before `until_seconds`: deadlines, and changes of the tier that is held, each at its moment.
    pub(super) fn pass(&mut self, view: View<'_>, until_seconds: i64) {
        let has_tiers = view.rules.certification.is_some();
        let has_ages = view.rules.review.is_some()
            && (view.rules.decay.is_some() || view.rules.window.span_seconds.is_some());
        while let Some(from_seconds) = self.at_seconds {
            let deadline = self.history.held.as_ref().map(|held| held.deadline_seconds.saturating_add(1));
            let deadline = deadline.filter(|deadline| *deadline < until_seconds);
            let last_seconds = deadline.unwrap_or(until_seconds).saturating_sub(1);
            if last_seconds > from_seconds && (has_tiers || has_ages) {
                let basis = self.basis(view, from_seconds);
                let shown = self.see(view, &basis, last_seconds, None);
                let official = shown.official;
                if self.changes(view, shown, last_seconds) {
                    let at_seconds = self.first_change(view, &basis, from_seconds, last_seconds);
                    self.settle(view, at_seconds, None);
                    continue;
                }
                if let Some(points) = official.filter(|_| has_ages && deadline.is_none()) {
                    self.happen(view, Event::Aged { at_seconds: last_seconds, points }, None);
                }
            }
            match deadline {
                Some(deadline) => self.settle(view, deadline, None),
                None => break,
            }
        }
    }

    /// Returns the first second after `from_seconds` at which the certificate changes, as it does at `last_seconds`. Time alone only
    /// takes: once there is cause for a change, there is.
    fn first_change(
        &self,
        view: View<'_>,
        basis: &Basis,
        mut from_seconds: i64,
        mut last_seconds: i64,
    ) -> i64 {
        while last_seconds - from_seconds > 1 {
            let middle = from_seconds + (last_seconds - from_seconds) / 2;
            match self.changes(view, self.see(view, basis, middle, None), middle) {
                true => last_seconds = middle,
                false => from_seconds = middle,
            }
        }
        last_seconds
    }

    /// Returns true if a recomputation changes the certificate.
    fn changes(&self, view: View<'_>, shown: Shown, at_seconds: i64) -> bool {
        let Look { facts, undecayed, .. } = shown.look;
        let latest_seconds = self.certificate.latest_seconds;
        self.certify(view, &Recomputation { at_seconds, facts, undecayed })
            .is_some_and(|(next, _)| Certificate { latest_seconds, ..next } != self.certificate)
    }

    /// Returns the certificate after a recomputation, and what that shows; none for a card without certification.
    fn certify(&self, view: View<'_>, now: &Recomputation) -> Option<(Certificate, Certified)> {
        // Moments come in order, so none is refused.
        self.certificate.next(&view.rules.tiers, view.rules.certification.as_ref()?, now).ok()
    }

    /// Settles a moment at which something happened: the tier follows, and the history has a row. `ready` is the look of a basis
    /// at this moment, if one is known.
    pub(super) fn settle(&mut self, view: View<'_>, at_seconds: i64, ready: Option<(Basis, Look)>) {
        self.happen(view, Event::Passed { at_seconds }, None);
        let basis = self.basis(view, at_seconds);
        let ready = ready.filter(|(of, _)| *of == basis).map(|(_, look)| look);
        let Shown { look, official: canonical } = self.see(view, &basis, at_seconds, ready);
        let (points, score) = (look.gated.map(|gated| gated.points), look.score);
        let now = Recomputation { at_seconds, facts: look.facts, undecayed: look.undecayed };
        let held = match self.certify(view, &now) {
            Some((next, certified)) => {
                self.certificate = next;
                self.changes.extend(certified.changes.iter().map(|change| (at_seconds, *change)));
                next.tier
            }
            None => tier(&view.rules.tiers, &now.facts).reached,
        };
        let tier = (!view.rules.tiers.is_empty()).then_some(held);
        let is_lowered = look.gated.zip(look.ungated).is_some_and(|(gated, it)| gated.lowers(it));
        self.points.push(Point { at_seconds, points, is_lowered, canonical, score, tier });
        self.at_seconds = Some(at_seconds);
    }

    /// Takes in a new score, and returns the look that it is of.
    pub(super) fn score(
        &mut self,
        view: View<'_>,
        cause: &str,
        basis: Basis,
        at_seconds: i64,
    ) -> (Basis, Look) {
        let rules = view.rules;
        let look = self.look(view, &basis, at_seconds);
        let Some(points) = look.facts.points.filter(|_| rules.review.is_some()) else {
            return (basis, look);
        };
        let tiers = rules.tiers.len();
        let candidate = Candidate {
            at_seconds,
            points,
            is_into_top: tiers > 0
                && self.certificate.tier < tiers
                && tier(&rules.tiers, &look.facts).reached == tiers,
            runner: self.runner.clone(),
            cause: cause.to_string(),
            evidence: self.digest.unwrap_or_else(|| self.digest_of_none()),
            basis,
        };
        self.happen(view, Event::Scored(candidate), None);
        (basis, look)
    }

    /// Takes the decisions of a moment: at `first` those on the score that waits, then all; returns the others.
    pub(super) fn decide<'d>(
        &mut self,
        view: View<'_>,
        at_seconds: i64,
        decisions: Vec<(usize, &'d Decision)>,
        is_first: bool,
    ) -> Vec<(usize, &'d Decision)> {
        self.happen(view, Event::Passed { at_seconds }, None);
        let held = self.history.held.as_ref().filter(|_| is_first).map(|held| held.candidate.digest());
        let held = held.map(Seen::Score);
        let is_on_held = |decision: &Decision| !is_first || held.is_some_and(|held| decision.seen == held);
        let (now, later): (Vec<_>, Vec<_>) =
            decisions.into_iter().partition(|(_, decision)| is_on_held(decision));
        for (place, decision) in now {
            self.happen(view, Event::Decided(decision.clone()), Some(place));
        }
        later
    }

    pub(super) fn happen(&mut self, view: View<'_>, event: Event, place: Option<usize>) {
        let Some(rules) = &view.rules.review else { return };
        let history = core::mem::take(&mut self.history);
        let (next, outcome) = history.next(rules, event);
        self.history = next;
        self.transitions.extend(outcome.transitions);
        self.refusals.extend(place.zip(outcome.refusal));
    }

    /// Returns the standing at a moment, without items and counts. `ahead` is what the items come to with those that
    /// became known later: the score of the moment is theirs, and nothing happened by them.
    pub(super) fn read(
        mut self,
        view: View<'_>,
        as_of_seconds: i64,
        ahead: Option<&Summary>,
    ) -> SubjectStanding {
        let rules = view.rules;
        self.pass(view, as_of_seconds.saturating_add(1));
        let mut basis = self.basis(view, as_of_seconds);
        let mut shown = self.see(view, &basis, as_of_seconds, None);
        let (facts, undecayed) = (shown.look.facts.clone(), shown.look.undecayed.clone());
        let now = Recomputation { at_seconds: as_of_seconds, facts, undecayed };
        let certified = self.certify(view, &now).map(|(_, certified)| certified);
        if let Some(points) = shown.official {
            self.happen(view, Event::Aged { at_seconds: as_of_seconds, points }, None);
        }
        if let Some(all) = ahead {
            basis.items = all.count;
            self.evidence.push(all.clone());
            // As if it were one score of this moment, of which nothing is written and nothing waits.
            let (held, transitions) = (self.history.held.clone(), self.transitions.clone());
            self.score(view, EVALUATION, basis, as_of_seconds);
            shown = self.see(view, &basis, as_of_seconds, None);
            (self.history.held, self.transitions) = (held, transitions);
        }
        let Shown { look, official } = shown;
        let parts = self.history.canonical.as_ref().zip(official).map(|(canonical, points)| {
            let own = (canonical.basis != basis).then(|| self.look(view, &canonical.basis, as_of_seconds));
            OfficialParts::new(rules, own.as_ref().unwrap_or(&look), points)
        });
        let earned = tier(&rules.tiers, &look.facts);
        let ladder = match view.has_ladder {
            true => self.ladder(view, as_of_seconds, &look.facts, ahead.is_none()),
            false => Vec::new(),
        };
        let held = certified.as_ref().map_or(earned.reached, |_| self.certificate.tier);
        let name = held.checked_sub(1).and_then(|at| rules.tiers.get(at)).map(|rule| rule.name.clone());
        let known = ahead.or(self.evidence.first());
        let has_incident_gate = self.behind(&basis).is_some_and(|summary| summary.has_incident_gate);
        SubjectStanding {
            warm_up: known.and_then(|known| warm_up(rules, known, as_of_seconds)),
            operator: Some(self.history.operator.clone()).filter(|operator| !operator.is_empty()),
            subject: self.subject,
            has_incident_gate,
            incidents: self.incidents.iter().cloned().collect(),
            is_on_hold: self.is_on_hold,
            points: official,
            gating_points: look.facts.points,
            tier: (!rules.tiers.is_empty()).then_some(TierHeld {
                name,
                held,
                earned,
                ladder,
                certificate: certified.map(|certified| (self.certificate, certified)),
                changes: self.changes,
            }),
            review: rules.review.map(|_| ReviewStanding {
                history: self.history,
                transitions: self.transitions,
                refusals: self.refusals,
                official: parts,
            }),
            score: look.score,
            undecayed_score: look.undecayed_score,
            spread: look.spread,
            ungated: look.ungated,
            gated: look.gated,
            dimensions: look.dimensions,
            facts: look.facts,
            history: self.points,
            ..SubjectStanding::default()
        }
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
