//! Weights from outside: the member `weights` of a standing and of a leaderboard, and the history of
//! `GET /v1/scorecards/{card}/weights`.

use std::collections::BTreeMap;

use karat_core::number::Decimal;
use karat_standing::overrides::{OverrideDecision, OverrideLog, ProposalRecord};
use serde::{Deserialize, Serialize};

use super::{ProposalStatus, WeightsVerdict};
use crate::standing::written;

/// The largest number of refused proposals that a standing names, the newest.
const REFUSED: usize = 5;

/// The weights from outside that are in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeightsInForce {
    /// The id of the proposal.
    pub id: String,
    /// The proposer: a name, or on a server the id of a key.
    pub proposer: String,
    /// The one who accepted them: a name, or the id of a key.
    pub accepted_by: String,
    /// The time from which they are in force.
    pub since: String,
    /// The weights, by dimension, that replace those of the scorecard.
    pub weights: BTreeMap<String, f64>,
}

/// The state of the weights from outside at a moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeightsState {
    /// The weights in force; null while those of the scorecard are.
    pub in_force: Option<WeightsInForce>,
    /// The proposals that the check refused, newest first; at most five.
    pub refused: Vec<RefusedWeights>,
}

/// A proposal that the check refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RefusedWeights {
    /// The id of the proposal.
    pub id: String,
    /// The time of the proposal.
    pub time: String,
    /// The reason of the refusal.
    pub reason: String,
}

/// A proposal of weights from outside, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeightsProposal {
    /// The id of the proposal.
    pub id: String,
    /// The status.
    pub status: ProposalStatus,
    /// The proposer: a name, or on a server the id of a key.
    pub proposer: String,
    /// The time of the proposal.
    pub time: String,
    /// The reason of the proposal.
    pub reason: String,
    /// The weights, by dimension, that replace those of the scorecard.
    pub weights: BTreeMap<String, f64>,
    /// The sum of all weights with these in place of those of the scorecard; null if they do not fit the scorecard.
    pub merged_sum: Option<f64>,
    /// The reason why the check refused it; null if it did not.
    pub check_refusal: Option<String>,
    /// The decisions, in order.
    pub decisions: Vec<WeightsDecision>,
}

/// A decision on a proposal of weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeightsDecision {
    /// The decision.
    pub decision: WeightsVerdict,
    /// The one who decided: a name, or on a server the id of a key.
    pub decider: String,
    /// The time of the decision.
    pub time: String,
    /// The reason of the decision.
    pub reason: String,
}

impl WeightsInForce {
    /// Returns the weights in force; None while those of the scorecard are.
    pub fn of(log: &OverrideLog) -> Option<Self> {
        let ProposalRecord { proposal, decisions, .. } = log.proposals.get(log.in_force.as_ref()?)?;
        let accepted = decisions.first()?;
        Some(Self {
            id: proposal.id.clone(),
            proposer: proposal.proposer.clone(),
            accepted_by: accepted.decider.clone(),
            since: written(accepted.at_seconds),
            weights: numbers(&proposal.weights),
        })
    }
}

impl WeightsState {
    /// Returns the state of the weights; None if there are no proposals.
    pub fn of(log: &OverrideLog) -> Option<Self> {
        let refused = |record: &&ProposalRecord| record.check_refusal.is_some();
        let refused = newest(log).into_iter().filter(refused).take(REFUSED).map(|record| RefusedWeights {
            id: record.proposal.id.clone(),
            time: written(record.proposal.at_seconds),
            reason: record.check_refusal.clone().unwrap_or_default(),
        });
        (!log.proposals.is_empty())
            .then(|| Self { in_force: WeightsInForce::of(log), refused: refused.collect() })
    }
}

impl WeightsProposal {
    /// Returns every proposal, newest first.
    pub fn all(log: &OverrideLog) -> Vec<Self> {
        newest(log).into_iter().map(Self::of).collect()
    }

    /// Returns a proposal.
    pub fn of(record: &ProposalRecord) -> Self {
        let ProposalRecord { proposal, status, merged_sum, check_refusal, decisions } = record;
        let status = *status;
        let first = match status {
            ProposalStatus::Refused => WeightsVerdict::Refuse,
            _ => WeightsVerdict::Accept,
        };
        // What was accepted may be revoked later; there are no other decisions.
        let verdicts = [first, WeightsVerdict::Revoke];
        let decision = |(decision, taken): (WeightsVerdict, &OverrideDecision)| WeightsDecision {
            decision,
            decider: taken.decider.clone(),
            time: written(taken.at_seconds),
            reason: taken.reason.clone(),
        };
        Self {
            id: proposal.id.clone(),
            status,
            proposer: proposal.proposer.clone(),
            time: written(proposal.at_seconds),
            reason: proposal.reason.clone(),
            weights: numbers(&proposal.weights),
            merged_sum: merged_sum.map(Decimal::to_f64),
            check_refusal: check_refusal.clone(),
            decisions: verdicts.into_iter().zip(decisions).map(decision).collect(),
        }
    }
}

/// Returns the proposals, newest first.
fn newest(log: &OverrideLog) -> Vec<&ProposalRecord> {
    let mut all: Vec<&ProposalRecord> = log.proposals.values().collect();
    all.sort_by_key(|record| std::cmp::Reverse((record.proposal.at_seconds, &record.proposal.id)));
    all
}

fn numbers(weights: &[(String, Decimal)]) -> BTreeMap<String, f64> {
    weights.iter().map(|(name, weight)| (name.clone(), weight.to_f64())).collect()
}
