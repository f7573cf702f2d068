//! The check of a project, `karat/check/2`: its gates, the leaderboard, the comparison with the baseline, the runs over time, and the
//! tasks in quarantine.

use serde::{Deserialize, Serialize};

use super::answer;
use super::comparison::ComparisonAnswer;
use super::leaderboard::LeaderboardAnswer;
use super::tasks::Repeats;
use super::trend::Trend;

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
    /// The runs over time, if a gate is on them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// The tasks in quarantine: no gate but that on official scores has them, and the leaderboard leaves them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantine: Vec<QuarantinedTask>,
    /// The day of the verdict, by which a quarantine has ended or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub today: Option<String>,
    /// The tasks to put in quarantine, as their outcome changes while nothing changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaky: Vec<FlakyTask>,
    /// The tasks that pass only because they were tried again until they did; their first attempts fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_by_retry: Vec<String>,
}

/// A task in quarantine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct QuarantinedTask {
    /// The task.
    pub task: String,
    /// The reason that `karat.toml` gives.
    pub reason: String,
    /// Its last day.
    pub until: String,
    /// True if that is over, for which the check fails.
    pub has_ended: bool,
    /// The number of its items in the run.
    pub items: u64,
    /// The number of those that pass.
    pub passes: u64,
    /// Its outcomes in the history and the run, since the day that `karat.toml` names; null if it has none.
    pub repeats: Option<Repeats>,
    /// True if it has been stable for so long that it may come back.
    pub comes_back: bool,
}

/// A task whose outcome changes while nothing changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct FlakyTask {
    /// The task.
    pub task: String,
    /// Its outcomes in the history and the run.
    pub repeats: Repeats,
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
    /// The status that it alone would have: 0, 10 below, 11 held by a gate of the scorecard or a quarantine that ended, 12 inconclusive, 16 worse.
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
