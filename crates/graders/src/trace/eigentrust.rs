//! EigenTrust: how far agents trust one another, from their votes on each other's work.
//!
//! Trust is the share of time that a walker spends with an agent that follows votes from validator to target, and with
//! probability `alpha` goes back to any agent. Sources: Kamvar, Schlosser and Garcia-Molina, "The EigenTrust Algorithm
//! for Reputation Management in P2P Networks" (2003), algorithm 2; the constants come from KnowledgePulse's
//! reputation service. Only the published vectors call it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::problems::shown;
use karat_evidence::json::problem::Problems;

/// Vote of one agent on a piece of another one's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// The voting agent.
    pub validator: String,
    /// The agent whose work it is. A vote on one's own work makes one known and counts for nothing else.
    pub target: String,
    /// True if the work is right.
    pub is_valid: bool,
}

/// Options for computing trust. The walk stops when no score changes by `epsilon` or more, or after `iterations_max`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// The probability of going back, 0 to 1.
    pub alpha: f64,
    /// From 0 on.
    pub epsilon: f64,
    /// 0 gives the scores that the walk begins with.
    pub iterations_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { alpha: 0.1, epsilon: 0.001, iterations_max: 50 }
    }
}

/// The trust in every agent that votes or is voted on.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenTrust {
    /// Agents and their shares of all trust, in the order in which the agents first appear, validator before target.
    pub scores: Vec<(String, f64)>,
    /// Iterations done.
    pub iterations: u32,
    /// True if the walk did not stop at the iteration cap.
    pub is_converged: bool,
}

/// Returns the trust in every agent that votes or is voted on. The order of the votes decides the order of the scores and
/// not one bit of them.
///
/// 1. A validator's trust in a target is the number of votes that say valid, less half the number of those that do not,
///    and not below 0; then it is divided by the validator's trust in all.
/// 2. The walk begins with every agent by the trust that is put into it.
/// 3. Each iteration takes `(1 - alpha)` of the trust to the targets of those who have it, and `alpha` to all alike. An
///    agent that trusts no other trusts all.
///
/// # Errors
///
/// If an option is out of its range.
pub fn eigentrust(votes: &[Vote], options: &Options) -> Result<EigenTrust, Problems> {
    let Options { alpha, epsilon, iterations_max } = *options;
    let mut problems = Problems::default();
    if !(0.0..=1.0).contains(&alpha) {
        problems.refuse("$.alpha", alpha.to_string(), "a number from 0 to 1", "");
    }
    if epsilon.is_nan() || epsilon < 0.0 {
        problems.refuse("$.epsilon", epsilon.to_string(), "a number from 0 or more", "");
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    // Numbered by name, so that sums do not depend on the order of votes.
    let names: BTreeSet<&str> = votes.iter().flat_map(|vote| [&*vote.validator, &*vote.target]).collect();
    let numbers: BTreeMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let count = names.len();
    let mut appearance = Vec::with_capacity(count);
    let mut is_seen = vec![false; count];
    // In halves of a vote, and so exact.
    let mut sums: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    for vote in votes {
        let [validator, target] = [&*vote.validator, &*vote.target].map(|name| {
            let number = numbers.get(name).copied().unwrap_or_default();
            if let Some(is_seen @ false) = is_seen.get_mut(number) {
                *is_seen = true;
                appearance.push((number, name));
            }
            number
        });
        if validator != target {
            *sums.entry((validator, target)).or_default() += if vote.is_valid { 2 } else { -1 };
        }
    }
    sums.retain(|_, halves| *halves > 0);
    let edges = || sums.iter().map(|(&(validator, target), &halves)| (validator, target, halves as f64));
    let (mut given, mut received) = (vec![0.0; count], vec![0.0; count]);
    for (validator, target, halves) in edges() {
        add(&mut given, validator, halves);
        add(&mut received, target, halves);
    }
    let all_received: f64 = received.iter().sum();
    let evenly = 1.0 / count as f64;
    let mut trust: Vec<f64> =
        received.iter().map(|it| if all_received > 0.0 { it / all_received } else { evenly }).collect();
    let (mut iterations, mut is_converged) = (0, count == 0);
    while !is_converged && iterations < iterations_max {
        let mut followed = vec![0.0; count];
        for (validator, target, halves) in edges() {
            add(&mut followed, target, halves / of(&given, validator) * of(&trust, validator));
        }
        let of_nobody = given.iter().zip(&trust).filter(|(given, _)| **given <= 0.0);
        let back: f64 = of_nobody.map(|(_, trust)| trust).sum();
        let step = |next: &f64| (1.0 - alpha) * (next + back * evenly) + alpha * evenly;
        let next: Vec<f64> = followed.iter().map(step).collect();
        let change = trust.iter().zip(&next).map(|(before, after)| (after - before).abs());
        is_converged = change.fold(0.0, f64::max) < epsilon;
        trust = next;
        iterations += 1;
    }
    let scores = appearance.into_iter().map(|(agent, name)| (name.to_owned(), of(&trust, agent))).collect();
    Ok(EigenTrust { scores, iterations, is_converged })
}

fn of(numbers: &[f64], agent: usize) -> f64 {
    numbers.get(agent).copied().unwrap_or_default()
}

fn add(sums: &mut [f64], agent: usize, number: f64) {
    if let Some(sum) = sums.get_mut(agent) {
        *sum += number;
    }
}

/// Reads the votes in evidence at the JSON path `path`: an array of objects with the texts `validatorId` and `targetId`
/// and the boolean `valid`. Other members (unit, moment) do not count.
///
/// # Errors
///
/// If votes lack one of these, or have a blank id: every one.
pub fn votes(value: &Value, path: &str) -> Result<Vec<Vote>, Problems> {
    let Some(elements) = value.as_array() else {
        return Err(Problems::one(path, shown(Some(value)), "an array of votes", ""));
    };
    let mut problems = Problems::default();
    let mut votes = Vec::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        let mut refuse = |member: &str, expected: &str| {
            let place = format!("{path}[{at}].{member}");
            problems.refuse(place, shown(element.get(member)), expected, "");
        };
        let [validator, target] = ["validatorId", "targetId"].map(|member| {
            let text = element.get(member).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            if text.is_none() {
                refuse(member, "the id of an agent, a text that is not blank");
            }
            text.map(str::to_owned)
        });
        let is_valid = element.get("valid").and_then(Value::as_bool);
        if is_valid.is_none() {
            refuse("valid", "true or false");
        }
        if let (Some(validator), Some(target), Some(is_valid)) = (validator, target, is_valid) {
            votes.push(Vote { validator, target, is_valid });
        }
    }
    if problems.is_empty() { Ok(votes) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn options_out_of_their_range_are_refused_together() {
        let refused = eigentrust(&[], &Options { alpha: 1.5, epsilon: -1.0, iterations_max: 1 });
        assert_eq!(
            refused.unwrap_err().to_string(),
            "$.alpha: found 1.5, expected a number from 0 to 1\n\
             $.epsilon: found -1, expected a number from 0 or more"
        );
        assert!(eigentrust(&[], &Options { alpha: f64::NAN, ..Options::default() }).is_err());
    }

    #[test]
    fn votes_in_evidence_are_checked_one_by_one() {
        let good =
            json!([{"validatorId": "a", "targetId": "b", "unitId": "u", "valid": false, "timestamp": "?"}]);
        let vote = Vote { validator: "a".to_owned(), target: "b".to_owned(), is_valid: false };
        assert_eq!(votes(&good, "$").unwrap(), [vote]);
        let bad = json!([{"validatorId": " ", "targetId": 3}, [], {"validatorId": "a", "targetId": "b", "valid": "no"}]);
        let wrong = votes(&bad, "$.votes").unwrap_err();
        assert_eq!(
            wrong.to_string().lines().next(),
            Some("$.votes[0].validatorId: found ` `, expected the id of an agent, a text that is not blank")
        );
        let paths: Vec<&str> = wrong.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!((paths.len(), paths.last()), (7, Some(&"$.votes[2].valid")));
        assert!(votes(&json!({}), "$.votes").is_err());
    }

    proptest! {
        #[test]
        fn trust_is_a_distribution_and_the_order_of_votes_changes_no_bit(
            votes in vec((0_u8..7, 0_u8..7, any::<bool>()), 1..40), turn in 0_usize..40,
        ) {
            let vote = |&(from, to, is_valid): &(u8, u8, bool)| {
                Vote { validator: from.to_string(), target: to.to_string(), is_valid }
            };
            let mut votes: Vec<Vote> = votes.iter().map(vote).collect();
            let sorted = |votes: &[Vote]| {
                let mut scores = eigentrust(votes, &Options::default()).unwrap().scores;
                scores.sort_by(|a, b| a.0.cmp(&b.0));
                scores
            };
            let scores = sorted(&votes);
            prop_assert!(scores.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
            prop_assert!((scores.iter().map(|(_, score)| score).sum::<f64>() - 1.0).abs() < 1e-12);
            let turn = turn.min(votes.len());
            votes.rotate_left(turn);
            prop_assert_eq!(scores, sorted(&votes));
        }
    }
}
