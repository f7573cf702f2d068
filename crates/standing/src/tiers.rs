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

/// One thing that a tier asks and a subject lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The requirement.
    pub requirement: Requirement,
    /// The least that is needed, in the unit of the requirement: points, billionths, a count, seconds.
    pub needed: i64,
    /// The value found; none if it was never measured.
    pub found: Option<i64>,
}

impl fmt::Display for Missing {
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
    pub missing: Vec<Missing>,
}

impl TierStanding {
    /// Returns the one thing in the way of the next tier, if it is only one.
    pub fn single_blocker(&self) -> Option<&Missing> {
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
        let missing = missing(rule, at, facts);
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

/// Returns what the tier with this index asks and `facts` lack.
pub(super) fn missing(rule: &TierRule, place: usize, facts: &TierFacts) -> Vec<Missing> {
    let mut list = Vec::new();
    let mut ask = |requirement: Requirement, needed: i64, found: Option<i64>| {
        if found.is_none_or(|found| found < needed) {
            list.push(Missing { requirement, needed, found });
        }
    };
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    ask(Requirement::Points, rule.points, facts.points);
    ask(Requirement::Coverage, rule.coverage, Some(facts.coverage));
    for (key, floor) in &rule.floors {
        let found = facts.readings.get(key).copied();
        // A name is copied only where it is shown.
        if found.is_none_or(|found| found < *floor) {
            ask(Requirement::Dimension(key.clone()), *floor, found);
        }
    }
    ask(Requirement::Evaluations, count(rule.evaluations), Some(count(facts.evaluations)));
    ask(Requirement::DistinctDays, count(rule.distinct_days), Some(count(facts.distinct_days)));
    if rule.confidence > 0 {
        ask(Requirement::Confidence, rule.confidence, facts.confidence);
    }
    let runners = (rule.independent_runners, facts.independent_runners);
    ask(Requirement::IndependentRunners, count(runners.0), Some(count(runners.1)));
    if let Some(needed) = rule.newest_batch_seconds
        && facts.newest_batch_seconds.is_none_or(|age| age > needed)
    {
        list.push(Missing { requirement: Requirement::Freshness, needed, found: facts.newest_batch_seconds });
    }
    if facts.open_tiers.is_some_and(|open| open <= place) {
        list.push(Missing { requirement: Requirement::Gate, needed: 0, found: None });
    }
    list
}

#[cfg(test)]
mod tests;
