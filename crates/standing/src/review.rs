//! Swings and their review: which score is official, which is held, and what gates see meanwhile (trust document,
//! section 3, "Anomaly detection").

mod records;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use karat_core::facts::Digest;
pub use karat_core::scorecard::ReviewRules;
pub use records::{Flags, Outcome, Refusal, ReviewState, Transition};

/// A change from one score to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swing {
    /// Points up or down; none for a first score.
    pub delta: Option<i64>,
    /// True when it is strictly more than the limit. A first score never is.
    pub was_anomalous: bool,
}

/// Returns the change between two published scores, in whole points, so that anyone can recompute it from published history.
pub fn swing(previous: Option<i64>, next: i64, limit_points: u32) -> Swing {
    let delta = previous.map(|previous| next.saturating_sub(previous));
    let was_anomalous = previous.is_some_and(|previous| previous.abs_diff(next) > u64::from(limit_points));
    Swing { delta, was_anomalous }
}

/// A new score, in whole points of the card's scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The moment of the verdict.
    pub at_seconds: i64,
    /// The published score.
    pub points: i64,
    /// True if it would lift the subject into the highest tier.
    pub is_into_top: bool,
    /// The party that ran the evaluation.
    pub runner: String,
    /// The cause of the change, such as `evaluation`, `weights`, `engine`, `gate`: written down, so that reviews of one cause
    /// can be decided together.
    pub cause: String,
    /// The digest of the evidence since the score that was official before it came.
    pub evidence: Digest,
    /// The basis of it.
    pub basis: Basis,
}

/// The basis of a score, so that it can be computed at any later moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Basis {
    /// The number of items, in the order in which they became known.
    pub items: usize,
    /// The number of changes of the weights.
    pub weights: usize,
    /// True if an incident was open.
    pub has_incident: bool,
    /// True if the subject was on hold.
    pub is_on_hold: bool,
}

impl Candidate {
    /// Returns the digest that a decision names: of the score, its moment and its cause, and of the evidence since the official
    /// score.
    pub fn digest(&self) -> Digest {
        let Self { at_seconds, points, cause, evidence, .. } = self;
        Digest::of(format!("karat/held/1\n{at_seconds} {points} {cause}\n{evidence}\n").as_bytes())
    }
}

/// A reviewer's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its time.
    pub at_seconds: i64,
    /// The reviewer.
    pub reviewer: String,
    /// The decision whether the score may become official.
    pub verdict: ReviewVerdict,
    /// The reason, as a code or in words; not empty.
    pub reason: String,
    /// The held score that the reviewer saw.
    pub seen: Seen,
    /// Digests of what else the reviewer looked at.
    pub evidence: Vec<String>,
}

/// A held score that a decision names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Seen {
    /// None, so that nothing is decided.
    #[default]
    Nothing,
    /// The one with this [digest](Candidate::digest).
    Score(Digest),
    /// Any: the decision is in a log from before decisions named one.
    Any,
}

karat_core::words! {
    /// A decision of a reviewer.
    #[expect(missing_docs, reason = "the names say it")]
    pub enum ReviewVerdict {
        Approve = "approve",
        Reject = "reject",
    }
}

/// An event in the scores of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A new score.
    Scored(Candidate),
    /// Age has left this of the official score: no swing of the subject, so nothing is held, and no line is written.
    Aged {
        /// The moment.
        at_seconds: i64,
        /// The points that are left; no more than before count.
        points: i64,
    },
    /// A reviewer decides on the held score.
    Decided(Decision),
    /// Time passes: deadlines come.
    Passed {
        /// The moment.
        at_seconds: i64,
    },
}

impl Event {
    /// Its moment.
    pub const fn at_seconds(&self) -> i64 {
        match self {
            Self::Scored(candidate) => candidate.at_seconds,
            Self::Decided(decision) => decision.at_seconds,
            Self::Aged { at_seconds, .. } | Self::Passed { at_seconds } => *at_seconds,
        }
    }
}

/// The scores of one subject: the official one, and one that may be held. A value of plain parts: what is written out
/// and read back goes on as if nothing had happened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The party that operates the subject: never its reviewer.
    pub operator: String,
    /// The official score; none before the first.
    pub canonical: Option<Canonical>,
    /// The score that waits for a decision.
    pub held: Option<Held>,
    /// The last rising score without a decision: its runner cannot bring up another, until a different one has.
    pub expired: Option<Expired>,
    /// The official scores within the time that cumulative swings look back, as far as nothing later was lower; oldest
    /// first.
    pub lows: VecDeque<Past>,
    /// Likewise, as far as nothing later was higher.
    pub highs: VecDeque<Past>,
    /// The moment of the last event; none before the first.
    pub latest_seconds: Option<i64>,
}

/// An official score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical {
    /// The published score: the accepted one, less what age has taken since.
    pub points: i64,
    /// The basis of it.
    pub basis: Basis,
    /// The time at which it became official.
    pub since_seconds: i64,
}

/// A held score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The score.
    pub candidate: Candidate,
    /// The flags that hold it.
    pub flags: Flags,
    /// The moment up to which it can be decided on. A score that follows a held one in the same direction keeps its deadline,
    /// or fresh scores could put it off for ever.
    pub deadline_seconds: i64,
    /// The lowest score that was held since the last official one. Gates see no more than this.
    pub lowest_points: i64,
    /// The approvals so far.
    pub approvals: Vec<Decision>,
}

/// A rising score without a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// The score.
    pub points: i64,
    /// The party that ran its evaluation.
    pub runner: String,
}

/// A score that was canonical.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Past {
    /// The score.
    pub points: i64,
    /// The time at which the next one replaced it; none while it is official.
    pub until_seconds: Option<i64>,
}

impl History {
    /// Returns a subject without scores.
    pub fn new(operator: String) -> Self {
        Self { operator, ..Self::default() }
    }

    /// Returns the score that gates and tiers see: the official one, or the lowest held against it if that is lower.
    /// So a swing up opens nothing before it is approved, and a swing down closes at once what it should.
    pub fn gating_points(&self) -> Option<i64> {
        let canonical = self.canonical.as_ref()?.points;
        Some(self.held.as_ref().map_or(canonical, |held| held.lowest_points.min(canonical)))
    }

    /// Returns true while a score waits for a decision.
    pub const fn is_under_review(&self) -> bool {
        self.held.is_some()
    }

    /// Takes in one event; deadlines that came before it are kept first.
    #[must_use]
    pub fn next(mut self, rules: &ReviewRules, event: Event) -> (Self, Outcome) {
        let mut outcome = Outcome::default();
        let at_seconds = event.at_seconds();
        if let Some(latest_seconds) = self.latest_seconds.filter(|latest| at_seconds < *latest) {
            outcome.refusal = Some(Refusal::OutOfOrder { at_seconds, latest_seconds });
            return (self, outcome);
        }
        self.latest_seconds = Some(at_seconds);
        self.keep_deadline(at_seconds, &mut outcome.transitions);
        match event {
            Event::Scored(candidate) => self.score(rules, candidate, &mut outcome.transitions),
            Event::Aged { points, .. } => self.age(points),
            Event::Decided(decision) => {
                outcome.refusal = self.decide(rules, decision, &mut outcome.transitions).err();
            }
            Event::Passed { .. } => {}
        }
        (self, outcome)
    }

    /// Ends a held score whose deadline has passed: one that falls becomes official, one that rises expires.
    fn keep_deadline(&mut self, now_seconds: i64, transitions: &mut Vec<Transition>) {
        let Some(held) = self.held.take_if(|held| held.deadline_seconds < now_seconds) else { return };
        let at_seconds = held.deadline_seconds;
        if held.flags.rises() {
            let (points, runner) = (held.candidate.points, held.candidate.runner.clone());
            self.expired = Some(Expired { points, runner });
            transitions.push(held.into_transition(at_seconds, ReviewState::Expired));
        } else {
            self.forget_swings();
            self.commit(&held.candidate, at_seconds);
            transitions.push(held.into_transition(at_seconds, ReviewState::Committed));
        }
    }

    fn score(&mut self, rules: &ReviewRules, candidate: Candidate, transitions: &mut Vec<Transition>) {
        let at_seconds = candidate.at_seconds;
        let flags = self.flags(rules, candidate.points, at_seconds);
        let is_held = flags.was_anomalous || (flags.was_cumulative && rules.cumulative_holds);
        let is_rise = is_held && flags.rises();
        if is_rise && self.expired.as_ref().is_some_and(|expired| expired.runner == candidate.runner) {
            transitions.push(Transition::new(candidate, flags, ReviewState::Expired));
            return;
        }
        let before = self.held.take();
        transitions
            .extend(before.clone().map(|held| held.into_transition(at_seconds, ReviewState::Superseded)));
        if !is_held {
            self.commit(&candidate, at_seconds);
            transitions.push(Transition::new(candidate, flags, ReviewState::Committed));
            return;
        }
        if is_rise {
            self.expired = None;
        }
        let deadline = at_seconds.saturating_add(i64::from(rules.deadline_seconds));
        let (lowest, points) = (before.as_ref().map(|held| held.lowest_points), candidate.points);
        let same_direction = before.filter(|held| held.flags.rises() == flags.rises());
        self.held = Some(Held {
            candidate: candidate.clone(),
            flags,
            deadline_seconds: same_direction.map_or(deadline, |held| held.deadline_seconds),
            lowest_points: lowest.map_or(points, |lowest| lowest.min(points)),
            approvals: Vec::new(),
        });
        transitions.push(Transition::new(candidate, flags, ReviewState::PendingReview));
    }

    /// Lowers the official score to what age has left of it, in the lists of the past too: what time takes is not a swing.
    fn age(&mut self, points: i64) {
        let Some(official) = self.canonical.as_mut().filter(|official| points < official.points) else {
            return;
        };
        official.points = points;
        self.highs.back_mut().into_iter().for_each(|last| last.points = points);
        // The lowest of those that count is the first of its list.
        if let Some(last) = self.lows.pop_back() {
            while self.lows.back().is_some_and(|before| before.points >= points) {
                self.lows.pop_back();
            }
            self.lows.push_back(Past { points, ..last });
        }
    }

    fn decide(
        &mut self,
        rules: &ReviewRules,
        decision: Decision,
        transitions: &mut Vec<Transition>,
    ) -> Result<(), Refusal> {
        let held = self.held.as_mut().ok_or(Refusal::NothingHeld)?;
        let (at_seconds, reviewer) = (decision.at_seconds, decision.reviewer.clone());
        if reviewer.trim().is_empty() {
            return Err(Refusal::NoReviewer);
        }
        if reviewer == self.operator {
            return Err(Refusal::OwnOperator(reviewer));
        }
        if decision.reason.trim().is_empty() {
            return Err(Refusal::NoReason);
        }
        let digest = held.candidate.digest();
        match decision.seen {
            Seen::Nothing => return Err(Refusal::NoScore(digest)),
            Seen::Score(seen) if seen != digest => return Err(Refusal::OtherScore(digest)),
            Seen::Score(_) | Seen::Any => {}
        }
        if held.approvals.iter().any(|approval| approval.reviewer == reviewer)
            && decision.verdict == ReviewVerdict::Approve
        {
            return Err(Refusal::ApprovedBefore(reviewer));
        }
        let verdict = decision.verdict;
        held.approvals.push(decision);
        let needed = match (held.flags.rises(), held.candidate.is_into_top) {
            (false, _) => 1,
            (true, false) => rules.approvals,
            (true, true) => rules.approvals_into_top,
        };
        if verdict == ReviewVerdict::Approve && (held.approvals.len() as u64) < u64::from(needed) {
            return Ok(());
        }
        let Some(held) = self.held.take() else { return Err(Refusal::NothingHeld) };
        if verdict == ReviewVerdict::Reject {
            transitions.push(held.into_transition(at_seconds, ReviewState::Rejected));
            return Ok(());
        }
        self.forget_swings();
        self.commit(&held.candidate, at_seconds);
        transitions.push(held.clone().into_transition(at_seconds, ReviewState::Approved));
        transitions.push(held.into_transition(at_seconds, ReviewState::Committed));
        Ok(())
    }

    /// Returns how far `points` lie from the official score and from those of the last days.
    fn flags(&mut self, rules: &ReviewRules, points: i64, now_seconds: i64) -> Flags {
        let look_back = i128::from(now_seconds) - i128::from(rules.cumulative_seconds);
        for past in [&mut self.lows, &mut self.highs] {
            while past.front().is_some_and(|oldest| oldest.is_over_before(look_back)) {
                past.pop_front();
            }
        }
        let is_far = |past: &VecDeque<Past>| {
            let far = |past: &Past| past.points.abs_diff(points) > u64::from(rules.cumulative_points);
            past.front().is_some_and(far)
        };
        let Swing { delta, was_anomalous } =
            swing(self.canonical.as_ref().map(|canonical| canonical.points), points, rules.swing_points);
        Flags { delta, was_anomalous, was_cumulative: is_far(&self.lows) || is_far(&self.highs) }
    }

    fn commit(&mut self, candidate: &Candidate, at_seconds: i64) {
        let (points, basis) = (candidate.points, candidate.basis);
        // Only a score that nothing later undercuts can be the lowest of those that count: so the first of the list always is.
        let put = |past: &mut VecDeque<Past>, is_undercut: fn(i64, i64) -> bool| {
            if let Some(last) = past.back_mut() {
                last.until_seconds = Some(at_seconds);
            }
            while past.back().is_some_and(|last| is_undercut(last.points, points)) {
                past.pop_back();
            }
            past.push_back(Past { points, until_seconds: None });
        };
        put(&mut self.lows, |last, next| last >= next);
        put(&mut self.highs, |last, next| last <= next);
        self.canonical = Some(Canonical { points, basis, since_seconds: at_seconds });
    }

    /// Forgets a swing that has had its review: as a part of the next one, every score after it would be held as well.
    fn forget_swings(&mut self) {
        self.lows.clear();
        self.highs.clear();
    }
}

impl Past {
    /// Returns true if the next score replaced it before this moment.
    fn is_over_before(&self, seconds: i128) -> bool {
        self.until_seconds.is_some_and(|until| i128::from(until) < seconds)
    }
}

impl Held {
    fn into_transition(self, at_seconds: i64, state: ReviewState) -> Transition {
        Transition {
            at_seconds,
            candidate: self.candidate,
            flags: self.flags,
            state,
            decisions: self.approvals,
        }
    }
}

#[cfg(test)]
mod tests;
