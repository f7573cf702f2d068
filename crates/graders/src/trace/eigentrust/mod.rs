//! EigenTrust: how far agents trust one another, from their votes on each other's work.
//!
//! Trust is the share of time that a walker spends with an agent that follows votes from validator to target, and with
//! probability `alpha` goes back to an agent that is trusted beforehand. `network` has the votes as shares and the
//! walk.
//!
//! Sources: Kamvar, Schlosser and Garcia-Molina, "The EigenTrust Algorithm for Reputation Management in P2P Networks"
//! (2003), algorithm 2; the constants of votes and [`Options::published`] come from KnowledgePulse's reputation
//! service.

mod network;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use self::network::{Network, Walk};
use super::problems::{problem, shown};
use karat_evidence::json::problem::{Problem, Problems};

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

/// Options for computing trust.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The probability of going back to those who are trusted beforehand, 0 to 1.
    pub alpha: f64,
    /// Agents trusted beforehand, all alike; without any, every agent is.
    ///
    /// Trusting all agents rewards invented identities: a group whose members vote only for one another gets its share of
    /// the heads, so more heads get more trust. With agents given, trust reaches only those whom their votes reach.
    pub pre_trusted: Vec<String>,
    /// Condition for stopping.
    pub stop: Stop,
}

/// Condition for stopping.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// Stops when the scores, wherever the walk had begun, are together less than `tolerance` away from those of a walk
    /// without end.
    ///
    /// Each iteration shrinks the distance of two walks to `1 - alpha` of what it was, so this is proven and not observed.
    /// `alpha` must be at least [`Stop::ALPHA_MIN`].
    Settled {
        /// From [`Stop::TOLERANCE_MIN`] to 1; rounding alone can make that much.
        tolerance: f64,
    },
    /// Stops when no score changes by `epsilon` or more, or after `iterations_max`. The start of the walk can still be seen.
    Unchanged {
        /// From 0 on.
        epsilon: f64,
        /// The most iterations; 0 gives the scores that the walk begins with.
        iterations_max: u32,
    },
}

impl Stop {
    /// The least `alpha` that settles in a bounded number of iterations: about 2,800 for the least tolerance.
    pub const ALPHA_MIN: f64 = 0.01;
    /// The least tolerance.
    pub const TOLERANCE_MIN: f64 = 1e-12;
}

impl Default for Options {
    /// Defaults to `alpha` 0.1, no agent trusted beforehand, settled to 1e-9: the grid of readings.
    fn default() -> Self {
        Self { alpha: 0.1, pre_trusted: Vec::new(), stop: Stop::Settled { tolerance: 1e-9 } }
    }
}

impl Options {
    /// Returns the settings of the published service: `alpha` 0.1, `epsilon` 0.001, 50 iterations, no agent trusted
    /// beforehand.
    pub fn published() -> Self {
        Self { stop: Stop::Unchanged { epsilon: 0.001, iterations_max: 50 }, ..Self::default() }
    }

    fn check(&self) -> Problems {
        let mut problems = Problems::default();
        let mut range = |name: &str, found: f64, least: f64, most: f64, hint: &str| {
            if !(least..=most).contains(&found) {
                let most = if most.is_finite() { format!(" to {most}") } else { " or more".to_owned() };
                problems.add(|| Problem {
                    hint: hint.to_owned(),
                    ..problem(
                        &format!("$.{name}"),
                        found.to_string(),
                        &format!("a number from {least}{most}"),
                    )
                });
            }
        };
        match self.stop {
            Stop::Settled { tolerance } => {
                let hint = "without going back, trust depends on where one begins";
                range("alpha", self.alpha, Stop::ALPHA_MIN, 1.0, hint);
                range("tolerance", tolerance, Stop::TOLERANCE_MIN, 1.0, "");
            }
            Stop::Unchanged { epsilon, .. } => {
                range("alpha", self.alpha, 0.0, 1.0, "");
                range("epsilon", epsilon, 0.0, f64::INFINITY, "");
            }
        }
        problems
    }
}

/// The trust in one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTrust {
    /// The agent.
    pub agent: String,
    /// Its share of all trust, 0 to 1.
    pub score: f64,
    /// True if it is trusted beforehand, as one of those given.
    pub is_pre_trusted: bool,
}

/// The trust in every agent that votes or is voted on, and what was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenTrust {
    /// The scores in the order in which the agents first appear, the validator of a vote before its target. The sum is
    /// 1.
    pub scores: Vec<AgentTrust>,
    /// Iterations done.
    pub iterations: u32,
    /// True if the walk stopped for the reason that it should, and not at the iteration cap.
    pub is_converged: bool,
    /// The most by which all scores together can differ from those of a walk without end, 0 to 2.
    pub distance_max: f64,
    /// Votes on the voter's own work, which do not count.
    pub self_votes: usize,
    /// Number of agents that trust no other: from them the walker goes to those trusted beforehand.
    pub trust_nobody: usize,
    /// Pre-trusted agents that neither vote nor are voted on; they take no part.
    pub unseen_pre_trusted: Vec<String>,
}

impl EigenTrust {
    /// Returns it for a record: `scores` (`agent`, `score`, `pre_trusted`), `iterations`, `converged`, `distance_max`,
    /// `self_votes`, `trust_nobody`, `unseen_pre_trusted`.
    pub fn detail(&self) -> Value {
        let score = |trust: &AgentTrust| json!({"agent": trust.agent, "score": trust.score, "pre_trusted": trust.is_pre_trusted});
        json!({
            "scores": self.scores.iter().map(score).collect::<Vec<_>>(),
            "iterations": self.iterations,
            "converged": self.is_converged,
            "distance_max": self.distance_max,
            "self_votes": self.self_votes,
            "trust_nobody": self.trust_nobody,
            "unseen_pre_trusted": self.unseen_pre_trusted,
        })
    }
}

/// Returns the trust in every agent that votes or is voted on. No votes give no scores. The order of the votes decides
/// the order of the scores and not one bit of them.
///
/// 1. A validator's trust in a target is the number of votes that say valid, less half the number of those that do not,
///    and not below 0; then it is divided by the validator's trust in all.
/// 2. The walk begins with those trusted beforehand or, without any, with every agent by the trust that is put
///    into them.
/// 3. Each iteration takes `(1 - alpha)` of the trust to the targets of those who have it, and `alpha` to those trusted
///    beforehand. An agent that trusts no other trusts those.
///
/// ```
/// use karat_graders::trace::eigentrust::{Options, Vote, eigentrust};
///
/// let vote = |validator: &str, target: &str| Vote { validator: validator.into(), target: target.into(), is_valid: true };
/// let votes = [vote("ann", "bob"), vote("bob", "ann"), vote("fake 1", "fake 2"), vote("fake 2", "fake 1")];
/// let scores = |options: &Options| eigentrust(&votes, options).unwrap().scores.iter().map(|s| s.score).collect::<Vec<_>>();
///
/// assert_eq!(scores(&Options::default()), [0.25, 0.25, 0.25, 0.25]);
/// let anchored = scores(&Options { pre_trusted: vec!["ann".into()], ..Options::default() });
/// assert!(anchored[0] > 0.5 && anchored[1] > 0.4);
/// assert_eq!(anchored[2..], [0.0, 0.0]);
/// ```
///
/// # Errors
///
/// If an option is out of its range, or none of the pre-trusted votes or is voted on.
pub fn eigentrust(votes: &[Vote], options: &Options) -> Result<EigenTrust, Problems> {
    let mut problems = options.check();
    let pre_trusted: BTreeSet<&str> = options.pre_trusted.iter().map(String::as_str).collect();
    let network = Network::new(votes, &pre_trusted);
    if network.pre_trusted == 0 && !pre_trusted.is_empty() && !votes.is_empty() {
        problems.add(|| Problem {
            hint: "name voters as the votes do".to_owned(),
            ..problem(
                "$.pre_trusted",
                "no agent that votes or is voted on".to_owned(),
                "at least one such agent",
            )
        });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let Walk { trust, iterations, is_converged, distance_max } =
        network.walk(network.start(), options.alpha, options.stop);
    let scores = network.appearance.iter().filter_map(|&(agent, name)| {
        let score = *trust.get(agent)?;
        Some(AgentTrust { agent: name.to_owned(), score, is_pre_trusted: pre_trusted.contains(name) })
    });
    let scores: Vec<AgentTrust> = scores.collect();
    let seen: BTreeSet<&str> = scores.iter().map(|score| score.agent.as_str()).collect();
    Ok(EigenTrust {
        iterations,
        is_converged,
        distance_max,
        self_votes: network.self_votes,
        trust_nobody: network.trust_nobody.len(),
        unseen_pre_trusted: pre_trusted.difference(&seen).map(|&name| name.to_owned()).collect(),
        scores,
    })
}

/// Reads the votes in evidence at the JSON path `path`: an array of objects with the texts `validatorId` and `targetId`
/// and the boolean `valid`. Other members (unit, moment) do not count.
///
/// # Errors
///
/// If votes lack one of these, or have a blank id: every one.
pub fn votes(value: &Value, path: &str) -> Result<Vec<Vote>, Problems> {
    let Some(elements) = value.as_array() else {
        return Err(problem(path, shown(Some(value)), "an array of votes").into());
    };
    let mut problems = Problems::default();
    let mut votes = Vec::with_capacity(elements.len());
    for (at, element) in elements.iter().enumerate() {
        let name = |member: &str| {
            element
                .get(member)
                .and_then(Value::as_str)
                .filter(|text| !text.trim().is_empty())
                .map(str::to_owned)
        };
        let (validator, target) = (name("validatorId"), name("targetId"));
        let is_valid = element.get("valid").and_then(Value::as_bool);
        let is_there = [
            ("validatorId", validator.is_some(), "the id of an agent, a text that is not blank"),
            ("targetId", target.is_some(), "the id of an agent, a text that is not blank"),
            ("valid", is_valid.is_some(), "true or false"),
        ];
        for (member, _, expected) in is_there.iter().filter(|(_, is_there, _)| !is_there) {
            problems.add(|| problem(&format!("{path}[{at}].{member}"), shown(element.get(member)), expected));
        }
        if let (Some(validator), Some(target), Some(is_valid)) = (validator, target, is_valid) {
            votes.push(Vote { validator, target, is_valid });
        }
    }
    if problems.is_empty() { Ok(votes) } else { Err(problems) }
}
