//! Tiers of a standing: what each asks, what a subject has, what is in the way of the next (trust document, section 2,
//! "Breadth requirement", and section 5, steps 5 and 6).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use karat_core::number::plain;
pub use karat_core::scorecard::TierRule;

const DAY_SECONDS: i64 = 86_400;

/// The facts of a subject that tiers compare.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TierFacts {
    /// The score that gates see, in points; none without a score.
    pub points: Option<i64>,
    /// Share of the applicable weight that was measured, by the card's own weights, in billionths.
    pub coverage: i64,
    /// Decayed readings by dimension, in billionths; those not measured are left out.
    pub readings: BTreeMap<String, i64>,
    /// Completed evaluations.
    pub evaluations: u64,
    /// Days on which they were completed.
    pub distinct_days: u64,
    /// Confidence, in billionths; none if it is not known.
    pub confidence: Option<i64>,
    /// Independent runners.
    pub independent_runners: u64,
    /// Age of the newest full batch; none if there never was one.
    pub newest_batch_seconds: Option<i64>,
    /// Number of tiers, from the lowest, that the security gate leaves open; none for all.
    pub open_tiers: Option<usize>,
    /// The smallest number that it could leave open; none for a card without such a gate.
    pub least_open_tiers: Option<usize>,
}

/// A kind of requirement of a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Requirement {
    /// A published score, in points.
    Points,
    /// A coverage.
    Coverage,
    /// A measured dimension, with a least reading.
    Dimension(String),
    /// A number of evaluations.
    Evaluations,
    /// A number of days.
    DistinctDays,
    /// A confidence.
    Confidence,
    /// A number of runners.
    IndependentRunners,
    /// A batch of evaluations that is not older.
    Freshness,
    /// A gate that leaves it open.
    Gate,
}

/// One thing that a tier asks, and what a subject has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The requirement.
    pub requirement: Requirement,
    /// The least that is needed, in the unit of the requirement: points, billionths, a count; of freshness the most seconds.
    pub needed: i64,
    /// The value found; none if it was never measured, and for a gate.
    pub found: Option<i64>,
    /// True if that is enough.
    pub is_met: bool,
}

/// A tier with everything that it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// Its name.
    pub name: String,
    /// True if everything is there that it and those below it ask.
    pub is_reached: bool,
    /// Everything that it asks itself, and the moment at which time alone takes it; none if it is not met, if it never lapses
    /// so, and if the moment is not known.
    pub conditions: Vec<(Condition, Option<i64>)>,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = |f: &mut fmt::Formatter<'_>, name: &str, places| {
            let needed = plain(self.needed, places);
            match self.found {
                Some(found) => write!(f, "{name} is {}, needs {needed} or more", plain(found, places)),
                None => write!(f, "{name} is not measured, needs {needed} or more"),
            }
        };
        match &self.requirement {
            Requirement::Points => least(f, "score", 0),
            Requirement::Coverage => least(f, "coverage", 9),
            Requirement::Dimension(key) => least(f, key, 9),
            Requirement::Evaluations => least(f, "number of evaluations", 0),
            Requirement::DistinctDays => least(f, "number of distinct days", 0),
            Requirement::Confidence => least(f, "confidence", 9),
            Requirement::IndependentRunners => least(f, "number of independent runners", 0),
            Requirement::Freshness => {
                let days = self.needed / DAY_SECONDS;
                match self.found {
                    Some(found) => {
                        let old = (found - 1).max(0) / DAY_SECONDS + 1;
                        write!(f, "newest full batch is {old} days old, needs {days} or less")
                    }
                    None => {
                        write!(f, "there is no full batch of evaluations, needs one of the last {days} days")
                    }
                }
            }
            Requirement::Gate if self.is_met => f.write_str("the security gate leaves the tier open"),
            Requirement::Gate => f.write_str("the security gate keeps the tier shut"),
        }
    }
}

/// A tier, and what is in the way of the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierStanding {
    /// Number of tiers that are reached: 0 for none.
    pub reached: usize,
    /// The name of the highest one reached.
    pub name: Option<String>,
    /// The name of the next.
    pub next: Option<String>,
    /// Everything that the next asks and the subject lacks.
    pub missing: Vec<Condition>,
}

impl TierStanding {
    /// Returns the one thing in the way of the next tier, if it is only one.
    pub fn single_blocker(&self) -> Option<&Condition> {
        match self.missing.as_slice() {
            [missing] => Some(missing),
            _ => None,
        }
    }
}

/// Returns the tier that `facts` reach among `rules`, lowest first. A tier is reached when everything that it and
/// those below it ask is there, so more of anything never leads to a lower one.
pub fn tier(rules: &[TierRule], facts: &TierFacts) -> TierStanding {
    let mut reached = 0;
    for (at, rule) in rules.iter().enumerate() {
        let missing = conditions(rule, at, facts, false);
        if !missing.is_empty() {
            let name = at.checked_sub(1).and_then(|at| rules.get(at)).map(|rule| rule.name.clone());
            return TierStanding { reached, name, next: Some(rule.name.clone()), missing };
        }
        reached = at + 1;
    }
    TierStanding {
        reached,
        name: rules.last().map(|rule| rule.name.clone()),
        next: None,
        missing: Vec::new(),
    }
}

/// Returns every tier with everything that it asks, in the order of `rules`. When something lapses is not known yet.
pub(super) fn ladder(rules: &[TierRule], facts: &TierFacts) -> Vec<Rung> {
    let reached = tier(rules, facts).reached;
    let rung = |(at, rule): (usize, &TierRule)| Rung {
        name: rule.name.clone(),
        is_reached: at < reached,
        conditions: conditions(rule, at, facts, true).into_iter().map(|it| (it, None)).collect(),
    };
    rules.iter().enumerate().map(rung).collect()
}

/// Returns what the tier with this index asks: everything, or only what `facts` lack.
pub(super) fn conditions(rule: &TierRule, place: usize, facts: &TierFacts, is_all: bool) -> Vec<Condition> {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let is_enough = |needed: i64, found: Option<i64>| found.is_some_and(|found| found >= needed);
    let mut list = Vec::new();
    let mut ask = |requirement: Requirement, needed: i64, found: Option<i64>, is_met: bool| {
        if is_all || !is_met {
            list.push(Condition { requirement, needed, found, is_met });
        }
    };
    ask(Requirement::Points, rule.points, facts.points, is_enough(rule.points, facts.points));
    if rule.coverage > 0 {
        let found = Some(facts.coverage);
        ask(Requirement::Coverage, rule.coverage, found, is_enough(rule.coverage, found));
    }
    for (key, floor) in &rule.floors {
        let found = facts.readings.get(key).copied();
        let is_met = is_enough(*floor, found);
        // A name is copied only where it is shown.
        if is_all || !is_met {
            ask(Requirement::Dimension(key.clone()), *floor, found, is_met);
        }
    }
    let rest = [
        (Requirement::Evaluations, count(rule.evaluations), Some(count(facts.evaluations))),
        (Requirement::DistinctDays, count(rule.distinct_days), Some(count(facts.distinct_days))),
        (Requirement::Confidence, rule.confidence, facts.confidence),
        (
            Requirement::IndependentRunners,
            count(rule.independent_runners),
            Some(count(facts.independent_runners)),
        ),
    ];
    for (requirement, needed, found) in rest.into_iter().filter(|(_, needed, _)| *needed > 0) {
        ask(requirement, needed, found, is_enough(needed, found));
    }
    if let Some(needed) = rule.newest_batch_seconds {
        let found = facts.newest_batch_seconds;
        ask(Requirement::Freshness, needed, found, found.is_some_and(|age| age <= needed));
    }
    let is_shut = |open: Option<usize>| open.is_some_and(|open| open <= place);
    if is_shut(facts.open_tiers) || is_shut(facts.least_open_tiers) {
        ask(Requirement::Gate, 0, None, !is_shut(facts.open_tiers));
    }
    list
}

#[cfg(test)]
mod tests;
