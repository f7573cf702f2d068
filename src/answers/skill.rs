//! The skill of agents under Glicko-2, beside the rating of the arena: `karat rate --arena`, and the agents of a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use karat_core::timestamp::Timestamp;
use karat_stats::rating::arena::{self as rules, Played, SkillRules};
use karat_stats::rating::{Glicko2Rating, Outcome};
use serde::{Deserialize, Serialize};

use super::arena::Settled;

/// The skill of an agent, as of the end of the last match of all agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AgentSkill))]
pub struct Skill {
    /// The rating if every match counts in full.
    pub full: SkillRating,
    /// The rating if the k-th match at the same challenge counts 1/k.
    pub discounted: SkillRating,
    /// The time for which both are computed; null if no match has a time.
    pub as_of: Option<String>,
}

/// A Glicko-2 rating.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SkillRating {
    /// The rating, to 6 decimal places.
    pub points: f64,
    /// Its standard deviation: the skill is within two of them with 95 %.
    pub deviation_points: f64,
    /// The movement of the skill in five days, in units of 173.7178 points.
    pub volatility: f64,
    /// True if the deviation is above 110 points: too uncertain to compare by.
    pub provisional: bool,
}

/// The skills of all agents, from their matches in the order in which they ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Skills {
    of: BTreeMap<Arc<str>, Arc<rules::Skill>>,
    last_milliseconds: Option<i64>,
}

impl Skills {
    /// Adds a match that was settled, and returns the skill after it. One in which nothing was played moves no rating.
    pub fn add(
        &mut self,
        agent: &str,
        challenge: &str,
        settled: &Settled,
        outcome: Outcome,
        at: Option<Timestamp>,
    ) -> SkillRating {
        let rules = SkillRules::default();
        let at_milliseconds = at.map(|at| at.milliseconds);
        self.last_milliseconds = self.last_milliseconds.max(at_milliseconds);
        let skill = self.of.entry(agent.into()).or_insert_with(|| Arc::new(rules.newcomer()));
        if settled.rating.expected.is_some() {
            let opponent_points = settled.rating.opponent_points as f64;
            let played = Played { challenge, opponent_points, outcome, at_milliseconds };
            *skill = Arc::new(rules.after(skill, &played));
        }
        SkillRating::of(&rules, &skill.full)
    }

    /// Returns the skill of an agent: the skill of a newcomer if it has played no match.
    pub fn of(&self, agent: &str) -> Skill {
        let rules = SkillRules::default();
        let known = self.of.get(agent).map_or_else(|| rules.newcomer(), |known| rules::Skill::clone(known));
        let now = self.last_milliseconds.map_or(known.clone(), |last| rules.at(&known, last));
        Skill {
            full: SkillRating::of(&rules, &now.full),
            discounted: SkillRating::of(&rules, &now.discounted),
            as_of: self.last_milliseconds.map(|milliseconds| Timestamp { milliseconds }.to_string()),
        }
    }
}

impl SkillRating {
    fn of(rules: &SkillRules, rating: &Glicko2Rating) -> Self {
        let shown = |number: f64| (number * 1e6).round_ties_even() / 1e6;
        Self {
            points: shown(rating.points),
            deviation_points: shown(rating.deviation),
            volatility: shown(rating.volatility),
            provisional: rules.is_provisional(rating),
        }
    }
}
