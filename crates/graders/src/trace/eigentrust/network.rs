//! Votes as shares of trust between numbered agents, and the walk along them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Stop, Vote};

/// Trust between agents. Agents are numbered by the order of their names, so that sums do not depend on the order of votes.
pub(super) struct Network<'a> {
    /// Number and name of the agents, in the order of their first appearance.
    pub appearance: Vec<(usize, &'a str)>,
    /// Number of agents given as trusted beforehand.
    pub pre_trusted: usize,
    /// Agents whose trust in all is 0.
    pub trust_nobody: Vec<usize>,
    pub self_votes: usize,
    /// Shares of trust above 0, ordered by validator and target.
    edges: Vec<Edge>,
    /// Trust beforehand, by agent; the sum is 1.
    beforehand: Vec<f64>,
    /// Trust put into each agent, before it is divided; none if no agent trusts another.
    received: Option<Vec<f64>>,
}

struct Edge {
    validator: usize,
    target: usize,
    share: f64,
}

/// The result of a walk.
pub(super) struct Walk {
    pub trust: Vec<f64>,
    pub iterations: u32,
    pub is_converged: bool,
    pub distance_max: f64,
}

impl<'a> Network<'a> {
    pub fn new(votes: &'a [Vote], pre_trusted: &BTreeSet<&str>) -> Self {
        let names: BTreeSet<&str> =
            votes.iter().flat_map(|vote| [vote.validator.as_str(), &vote.target]).collect();
        let numbers: BTreeMap<&str, usize> =
            names.iter().enumerate().map(|(number, &name)| (name, number)).collect();
        let count = numbers.len();

        let mut appearance = Vec::with_capacity(count);
        let mut is_seen = vec![false; count];
        let mut self_votes = 0;
        // In halves of a vote, and so exact.
        let mut sums: BTreeMap<(usize, usize), i64> = BTreeMap::new();
        for vote in votes {
            let [validator, target] = [vote.validator.as_str(), &vote.target].map(|name| {
                let number = numbers.get(name).copied().unwrap_or(0);
                if let Some(is_seen @ false) = is_seen.get_mut(number) {
                    *is_seen = true;
                    appearance.push((number, name));
                }
                number
            });
            if validator == target {
                self_votes += 1;
            } else {
                *sums.entry((validator, target)).or_insert(0) += if vote.is_valid { 2 } else { -1 };
            }
        }
        sums.retain(|_, halves| *halves > 0);

        let mut given = vec![0.0; count];
        let mut received = vec![0.0; count];
        for (&(validator, target), &halves) in &sums {
            add(&mut given, validator, halves as f64);
            add(&mut received, target, halves as f64);
        }
        let edge = |(&(validator, target), &halves): (&(usize, usize), &i64)| {
            let share = halves as f64 / given.get(validator).copied().unwrap_or(1.0);
            Edge { validator, target, share }
        };
        let edges: Vec<Edge> = sums.iter().map(edge).collect();
        let nobody = given.iter().enumerate().filter(|&(_, &given)| given == 0.0);
        let trust_nobody = nobody.map(|(agent, _)| agent).collect();

        let is_pre_trusted = |name: &&&str| pre_trusted.contains(**name);
        let trusted = names.iter().filter(is_pre_trusted).count();
        let beforehand = if trusted == 0 {
            vec![1.0 / count as f64; count]
        } else {
            names.iter().map(|name| if is_pre_trusted(&name) { 1.0 / trusted as f64 } else { 0.0 }).collect()
        };
        let received = if edges.is_empty() { None } else { Some(received) };
        Self { appearance, pre_trusted: trusted, trust_nobody, self_votes, edges, beforehand, received }
    }

    /// Returns the shares with which the walk begins.
    pub fn start(&self) -> Vec<f64> {
        match &self.received {
            Some(received) if self.pre_trusted == 0 => {
                let all: f64 = received.iter().sum();
                received.iter().map(|received| received / all).collect()
            }
            _ => self.beforehand.clone(),
        }
    }

    /// Walks on from `trust`, whose sum is 1.
    pub fn walk(&self, mut trust: Vec<f64>, alpha: f64, stop: Stop) -> Walk {
        let iterations_max = match stop {
            // Ends long before: `far` shrinks with every iteration.
            Stop::Settled { .. } => u32::MAX,
            Stop::Unchanged { iterations_max, .. } => iterations_max,
        };
        if trust.is_empty() {
            return Walk { trust, iterations: 0, is_converged: true, distance_max: 0.0 };
        }
        let keep = 1.0 - alpha;
        // Two distributions are at most 2 apart, and an iteration leaves `keep` of it.
        let mut far = 2.0;
        let mut distance_max = far;
        for iterations in 1..=iterations_max {
            let next = self.step(&trust, alpha);
            let changes = || trust.iter().zip(&next).map(|(before, after)| (after - before).abs());
            let (largest, all) = (changes().fold(0.0, f64::max), changes().sum::<f64>());
            trust = next;
            far *= keep;
            // What is still to come is `all * keep`, then `keep` of that, and so on: a geometric series.
            distance_max = if alpha > 0.0 { far.min(all * keep / alpha) } else { far };
            let is_converged = match stop {
                Stop::Settled { tolerance } => distance_max < tolerance,
                Stop::Unchanged { epsilon, .. } => largest < epsilon,
            };
            if is_converged {
                return Walk { trust, iterations, is_converged, distance_max };
            }
        }
        Walk { trust, iterations: iterations_max, is_converged: false, distance_max }
    }

    fn step(&self, trust: &[f64], alpha: f64) -> Vec<f64> {
        let mut next = vec![0.0; trust.len()];
        let of = |agent: usize| trust.get(agent).copied().unwrap_or(0.0);
        for edge in &self.edges {
            add(&mut next, edge.target, edge.share * of(edge.validator));
        }
        let back: f64 = self.trust_nobody.iter().map(|&agent| of(agent)).sum();
        let place = |(next, beforehand): (&f64, &f64)| {
            (1.0 - alpha) * (next + back * beforehand) + alpha * beforehand
        };
        next.iter().zip(&self.beforehand).map(place).collect()
    }
}

fn add(sums: &mut [f64], agent: usize, number: f64) {
    if let Some(sum) = sums.get_mut(agent) {
        *sum += number;
    }
}
