//! The table of agents by rating or by skill.

use super::{ArenaState, Career, Skill};
use crate::basics::*;

/// The measure by which agents are ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
#[schema(as = RankedBy)]
pub enum By {
    /// The rating of the arena, overall or in a category.
    #[default]
    Rating,
    /// The skill in full, to whole points, with the ranks that its deviation allows.
    Skill,
}

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RatedAgent {
    /// The rank from 1; equal agents share a rank, and the next rank counts all of them.
    pub rank: usize,
    /// The best and the worst rank among agents whose intervals overlap; null unless they are ranked by skill.
    pub rank_range: Option<[usize; 2]>,
    /// The agent.
    pub agent_id: String,
    /// The rating, overall or in the category.
    pub points: i64,
    /// The highest title.
    pub title: Option<String>,
    /// The results so far.
    pub career: Career,
    /// The skill under Glicko-2, over all categories.
    pub skill: Skill,
    /// Two standard deviations to each side of the skill in full, which is there with 95 %.
    pub interval: SkillInterval,
}

/// Both ends of the interval of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct SkillInterval {
    pub low: f64,
    pub high: f64,
}

impl SkillInterval {
    fn of(skill: &Skill) -> Self {
        let end = |side: f64| {
            let end = skill.full.points + side * 2.0 * skill.full.deviation_points;
            (end * 1e6).round_ties_even() / 1e6
        };
        Self { low: end(-1.0), high: end(1.0) }
    }
}

/// Returns the agents that have played, the highest first, equal ones by name.
pub fn ranked(state: &ArenaState, by: By, category: Option<&str>, matches_min: u64) -> Vec<RatedAgent> {
    let points = |career: &Career| match category {
        None => Some(career.rating_points),
        Some(name) => career.category_points.get(name).copied(),
    };
    let least = matches_min.max(1);
    let mut rows: Vec<RatedAgent> = state
        .agents()
        .filter(|it| it.career.match_count >= least)
        .filter_map(|it| {
            let skill = state.skill(&it.agent.agent_id);
            Some(RatedAgent {
                rank: 0,
                rank_range: None,
                agent_id: it.agent.agent_id.clone(),
                points: points(&it.career)?,
                title: it.titles.first().cloned(),
                career: it.career.clone(),
                interval: SkillInterval::of(&skill),
                skill,
            })
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "points are small")]
    let value = |row: &RatedAgent| match by {
        By::Rating => row.points as f64,
        // The rest is noise: a deviation is seldom below fifty points.
        By::Skill => row.skill.full.points.round_ties_even(),
    };
    // Agents come by name, and the sort keeps that order among equals.
    rows.sort_by(|one, other| value(other).total_cmp(&value(one)));
    let values: Vec<f64> = rows.iter().map(value).collect();
    let sorted = |end: fn(&RatedAgent) -> f64| {
        let mut ends: Vec<f64> = rows.iter().map(end).collect();
        ends.sort_by(f64::total_cmp);
        ends
    };
    let (lows, highs) = (sorted(|row| row.interval.low), sorted(|row| row.interval.high));
    for row in &mut rows {
        row.rank = values.partition_point(|other| *other > value(row)) + 1;
        let ahead = lows.len() - lows.partition_point(|low| *low <= row.interval.high);
        let behind = highs.partition_point(|high| *high < row.interval.low);
        row.rank_range = (by == By::Skill).then_some([ahead + 1, highs.len() - behind]);
    }
    rows
}
