//! The check of a project, `karat/check/2`: its gates, the leaderboard, and the comparison with the baseline.

use serde::{Deserialize, Serialize};

use super::answer;
use super::comparison::ComparisonAnswer;
use super::leaderboard::LeaderboardAnswer;

/// The check of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ProjectCheck {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: CheckSchema,
    /// The status with which `karat check` ends: 0, or that of the gravest gate that fails.
    pub status: u8,
    /// The gates, in the order in which they were asked.
    pub gates: Vec<AskedGate>,
    /// Sentences about what is missing for a verdict, such as a baseline, and about what no gate has seen.
    pub notes: Vec<String>,
    /// The subjects by rank.
    pub leaderboard: LeaderboardAnswer,
    /// The comparison with the baseline; null without one.
    pub comparison: Option<ComparisonAnswer>,
}

answer!(ProjectCheck, CheckSchema = "karat/check/2", "the check of a project");

/// A gate of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct AskedGate {
    /// The condition in words.
    pub gate: String,
    /// True if it lets the run pass.
    pub passed: bool,
    /// The reasons why it fails, a sentence each.
    pub failures: Vec<String>,
    /// The status that it alone would have: 0, 10 below, 11 held by a gate of the scorecard, 12 inconclusive, 16 worse.
    pub status: u8,
}

impl AskedGate {
    /// The status of a gate that nothing decides.
    pub const INCONCLUSIVE: u8 = 12;

    /// Returns how it ended in a word.
    pub fn word(&self) -> &'static str {
        match self.status {
            _ if self.passed => "passed",
            Self::INCONCLUSIVE => "inconclusive",
            _ => "failed",
        }
    }
}
