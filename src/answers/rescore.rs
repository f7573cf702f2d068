//! Records beside what another scorecard makes of the same items, `karat/rescore/1` and `karat/rescore-summary/1`.

use karat_core::number::Score;
use serde::{Deserialize, Serialize};

use super::{RecordStatus, answer};
use crate::rescore::{self, Rescored, Verdict};

/// A record and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RescoredRecord {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: RescoreSchema,
    /// The id of the record in the log.
    pub record: String,
    /// The subject.
    pub subject: String,
    /// The id of the item of evidence.
    pub item: String,
    /// The old scorecard, `id@version`.
    pub scorecard: String,
    /// What the record says.
    pub before: RescoredSide,
    /// What the new scorecard gives.
    pub after: RescoredSide,
    /// How far the exact score moved; null where there is none before or after.
    pub difference: Option<f64>,
    /// Where the difference comes from; null where one of the scores on the way does not exist.
    pub parts: Option<DifferenceParts>,
    /// Whether the evidence was corrected since.
    pub corrected: bool,
}

answer!(RescoredRecord, RescoreSchema = "karat/rescore/1", "a rescored record");

/// The score of an item by one scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RescoredSide {
    /// Whether there is a score.
    pub status: RecordStatus,
    /// The exact score as a share; null without a score.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub exact: Option<f64>,
    /// The published score; null without a score.
    pub published: Option<f64>,
    /// The band or tier; null for none.
    pub badge: Option<String>,
}

/// Where a difference comes from. The three parts add up to it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DifferenceParts {
    /// The engine: what it makes of the facts in the record under the old scorecard, less what the record says.
    pub engine: f64,
    /// The evidence: what its correction changes under the old scorecard.
    pub evidence: f64,
    /// The scorecard: what the new one gives, less what the old one gives, of the evidence as it is now.
    pub scorecard: f64,
}

/// All records that were scored again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RescoreSummary {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: RescoreSummarySchema,
    /// The id of the old scorecards.
    pub of: String,
    /// The new scorecard, `id@version`.
    pub card: String,
    /// The number of records.
    pub records: u64,
    /// Records with a higher score than before.
    pub up: u64,
    /// Records with a lower score than before.
    pub down: u64,
    /// Records without a score before or after.
    pub unscored: u64,
    /// The number of subjects that have scores before and after.
    pub subjects: u64,
    /// The subjects whose rank by the mean changes, the best new rank first.
    pub ranks: Vec<RankChange>,
    /// Changes of band or tier.
    pub badges: Vec<BadgeChange>,
}

answer!(RescoreSummary, RescoreSummarySchema = "karat/rescore-summary/1", "a summary of rescored records");

/// A change of rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankChange {
    /// The subject.
    pub subject: String,
    /// The rank before, from 1; equal means share one.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub before: u64,
    /// The rank after.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub after: u64,
}

/// A change of band or tier; `-` is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BadgeChange {
    /// The band or tier before.
    pub before: String,
    /// The band or tier after.
    pub after: String,
    /// The number of records.
    pub records: u64,
}

impl RescoredRecord {
    /// Returns what became of the record with the id `record`, which `scorecard` made of `item`.
    #[must_use]
    pub fn new(record: &str, subject: &str, item: &str, scorecard: &str, moved: &Rescored) -> Self {
        Self {
            schema: RescoreSchema::V1,
            record: record.to_owned(),
            subject: subject.to_owned(),
            item: item.to_owned(),
            scorecard: scorecard.to_owned(),
            before: (&moved.before).into(),
            after: (&moved.after).into(),
            difference: moved.difference().map(Score::to_f64),
            parts: moved.parts.map(DifferenceParts::from),
            corrected: moved.is_corrected,
        }
    }
}

impl From<&Verdict> for RescoredSide {
    fn from(verdict: &Verdict) -> Self {
        Self {
            status: verdict.status,
            exact: verdict.score.map(Score::to_f64),
            published: verdict.published,
            badge: verdict.badge.clone(),
        }
    }
}

impl From<rescore::Parts> for DifferenceParts {
    fn from(parts: rescore::Parts) -> Self {
        Self {
            engine: parts.engine.to_f64(),
            evidence: parts.evidence.to_f64(),
            scorecard: parts.rule.to_f64(),
        }
    }
}
