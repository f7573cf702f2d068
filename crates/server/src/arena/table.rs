//! The table of agents by rating.

use super::{ArenaState, Career, Skill};
use crate::basics::*;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct RatedAgent {
    /// The rank from 1; agents of the same rating share a rank, and the next rank counts all of them.
    pub rank: usize,
    /// The agent.
    pub agent_id: String,
    /// The rating by which the table is sorted.
    pub points: i64,
    /// The highest title.
    pub title: Option<String>,
    /// The results so far.
    pub career: Career,
    /// The skill under Glicko-2, over all categories.
    pub skill: Skill,
}

/// Returns the agents that have played, the highest rating first, equal ones by name.
pub fn ranked(state: &ArenaState, category: Option<&str>, matches_min: u64) -> Vec<RatedAgent> {
    let points = |career: &Career| match category {
        None => Some(career.rating_points),
        Some(name) => career.category_points.get(name).copied(),
    };
    let least = matches_min.max(1);
    let mut rows: Vec<RatedAgent> = state
        .agents()
        .filter(|it| it.career.match_count >= least)
        .filter_map(|it| {
            Some(RatedAgent {
                rank: 0,
                agent_id: it.agent.agent_id.clone(),
                points: points(&it.career)?,
                title: it.titles.first().cloned(),
                career: it.career.clone(),
                skill: state.skill(&it.agent.agent_id),
            })
        })
        .collect();
    // Agents come by name, and the sort keeps that order among equals.
    rows.sort_by_key(|row| std::cmp::Reverse(row.points));
    let points: Vec<i64> = rows.iter().map(|row| row.points).collect();
    for row in &mut rows {
        row.rank = points.partition_point(|other| *other > row.points) + 1;
    }
    rows
}
