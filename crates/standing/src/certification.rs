//! The tier that a subject holds over time: promotion that waits, demotion that does not wait without cause.
//!
//! [`tier`] says which tier a moment earns. A subject at a line would gain and lose one with every score,
//! so what it holds follows with hysteresis.

use alloc::vec::Vec;

use super::tiers::{Condition, Requirement, TierFacts, TierRule, TierStanding, conditions, tier};
pub use karat_core::scorecard::CertificationRules;

/// The facts of a subject at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recomputation {
    /// The moment.
    pub at_seconds: i64,
    /// The facts that gates and tiers see, decayed.
    pub facts: TierFacts,
    /// The same as if all evidence were of now: score, readings and confidence that age has not touched. Shows whether a tier
    /// is lost to age alone.
    pub undecayed: TierFacts,
}

/// The tier that a subject holds, and what it waits for. A value of plain parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Certificate {
    /// Number of tiers that are held: 0 for none.
    pub tier: usize,
    /// The time at which it last went up.
    pub promoted_seconds: Option<i64>,
    /// Since when a higher tier has been earned without a break.
    pub rising_since_seconds: Option<i64>,
    /// Since when decay alone has kept the score below the tier.
    pub at_risk_since_seconds: Option<i64>,
    /// Number of tiers that the present silence has taken.
    pub lost_to_silence: usize,
    /// The moment of the last recomputation.
    pub latest_seconds: Option<i64>,
}

karat_core::words! {
    /// The cause of a change of tier.
    pub enum TierCause {
        /// A higher one was earned and confirmed.
        Promotion = "promotion",
        /// The security gate shut it.
        Gate = "gate",
        /// The measured values no longer earn it.
        Evidence = "evidence",
        /// Decay kept it unearned for longer than the notice.
        Decay = "decay",
        /// No full batch of evaluations for too long.
        Silence = "silence",
    }
}

/// One change of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierChange {
    /// The tiers held before.
    pub from: usize,
    /// The tiers held after.
    pub to: usize,
    /// The reason.
    pub cause: TierCause,
}

/// The result of a recomputation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// The earned tier, and what blocks the next.
    pub earned: TierStanding,
    /// The changes, in order.
    pub changes: Vec<TierChange>,
    /// The first moment at which a tier that is earned now can be held, if it stays earned.
    pub promotion_from_seconds: Option<i64>,
    /// The moment from which a tier that only decay denies will be lost.
    pub at_risk_until_seconds: Option<i64>,
}

/// A recomputation before the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the recomputation is of second {at_seconds}, expected {latest_seconds} or later; give them in order of time"
)]
pub struct OutOfOrder {
    /// Its moment.
    pub at_seconds: i64,
    /// The moment of the last one.
    pub latest_seconds: i64,
}

impl Certificate {
    /// Returns the certificate after a recomputation, by the tiers of the card (lowest first) and the rules of certification.
    ///
    /// # Errors
    /// If the moment is before the last one: [`OutOfOrder`], and the certificate is unchanged.
    pub fn next(
        self,
        tiers: &[TierRule],
        rules: &CertificationRules,
        now: &Recomputation,
    ) -> Result<(Self, Certified), OutOfOrder> {
        let at_seconds = now.at_seconds;
        if let Some(latest_seconds) = self.latest_seconds.filter(|latest| at_seconds < *latest) {
            return Err(OutOfOrder { at_seconds, latest_seconds });
        }
        let mut next = Self { latest_seconds: Some(at_seconds), tier: self.tier.min(tiers.len()), ..self };
        let mut changes = Vec::new();
        let earned = tier(tiers, &now.facts);

        let open = now.facts.open_tiers.unwrap_or(usize::MAX);
        next.fall_to(open, TierCause::Gate, &mut changes);
        next.fall_to(earned_when_fresh(tiers, &now.undecayed), TierCause::Evidence, &mut changes);
        next.watch_decay(rules, earned_when_fresh(tiers, &now.facts), at_seconds, &mut changes);
        next.watch_silence(tiers, rules, now.facts.newest_batch_seconds, &mut changes);
        let promotion_from_seconds = if changes.is_empty() {
            next.watch_rise(rules, earned.reached, at_seconds, &mut changes)
        } else {
            next.rising_since_seconds = None;
            None
        };
        let at_risk_until_seconds =
            next.at_risk_since_seconds.map(|since| since.saturating_add(i64::from(rules.at_risk_seconds)));
        Ok((next, Certified { earned, changes, promotion_from_seconds, at_risk_until_seconds }))
    }

    fn fall_to(&mut self, tier: usize, cause: TierCause, changes: &mut Vec<TierChange>) {
        if tier < self.tier {
            changes.push(TierChange { from: self.tier, to: tier, cause });
            self.tier = tier;
        }
    }

    /// Tracks decay; `earned` is what is earned with decay, whatever the age of the newest batch.
    fn watch_decay(
        &mut self,
        rules: &CertificationRules,
        earned: usize,
        now_seconds: i64,
        changes: &mut Vec<TierChange>,
    ) {
        if earned >= self.tier {
            self.at_risk_since_seconds = None;
            return;
        }
        let since = *self.at_risk_since_seconds.get_or_insert(now_seconds);
        if has_passed(since, rules.at_risk_seconds, now_seconds) {
            self.at_risk_since_seconds = None;
            self.fall_to(earned, TierCause::Decay, changes);
        }
    }

    fn watch_silence(
        &mut self,
        tiers: &[TierRule],
        rules: &CertificationRules,
        newest_batch_seconds: Option<i64>,
        changes: &mut Vec<TierChange>,
    ) {
        // Without any batch the silence has no beginning, and all that asks for one is lost.
        let periods = newest_batch_seconds.map_or(usize::MAX, |age| {
            usize::try_from(age / i64::from(rules.silence_seconds.max(1))).unwrap_or(0)
        });
        // A new batch begins a new silence.
        self.lost_to_silence = self.lost_to_silence.min(periods);
        let held = self.tier;
        while self.lost_to_silence < periods
            && let Some(place) = self.tier.checked_sub(1)
            && let Some(limit) = tiers.get(place).and_then(|rule| rule.newest_batch_seconds)
            && newest_batch_seconds.is_none_or(|age| age > limit)
        {
            self.tier = place;
            self.lost_to_silence += 1;
        }
        if self.tier < held {
            changes.push(TierChange { from: held, to: self.tier, cause: TierCause::Silence });
        }
    }

    /// Gives the moment from which the next tier can be held, if it is earned and must wait.
    fn watch_rise(
        &mut self,
        rules: &CertificationRules,
        earned: usize,
        now_seconds: i64,
        changes: &mut Vec<TierChange>,
    ) -> Option<i64> {
        if earned <= self.tier {
            self.rising_since_seconds = None;
            return None;
        }
        let since = *self.rising_since_seconds.get_or_insert(now_seconds);
        let after = |from: i64, seconds: u32| from.saturating_add(i64::from(seconds));
        let confirmed = after(since, rules.confirm_seconds);
        let allowed = self.promoted_seconds.map_or(confirmed, |last| after(last, rules.promotion_seconds));
        let from = confirmed.max(allowed);
        if now_seconds < from {
            return Some(from);
        }
        changes.push(TierChange { from: self.tier, to: self.tier + 1, cause: TierCause::Promotion });
        self.tier += 1;
        self.promoted_seconds = Some(now_seconds);
        self.rising_since_seconds = (earned > self.tier).then_some(now_seconds);
        self.rising_since_seconds
            .map(|since| after(since, rules.confirm_seconds).max(after(now_seconds, rules.promotion_seconds)))
    }
}

/// Returns the tier that these facts earn if gates are left aside and the newest batch is of now.
fn earned_when_fresh(tiers: &[TierRule], facts: &TierFacts) -> usize {
    let is_aside = |it: &Condition| matches!(it.requirement, Requirement::Freshness | Requirement::Gate);
    tiers.iter().take_while(|rule| conditions(rule, 0, facts, false).iter().all(is_aside)).count()
}

fn has_passed(since_seconds: i64, seconds: u32, now_seconds: i64) -> bool {
    now_seconds.saturating_sub(since_seconds) >= i64::from(seconds)
}

#[cfg(test)]
mod tests;
