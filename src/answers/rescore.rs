//! Records beside the scores of the same items by another scorecard: `karat/rescore/2`, `karat/rescore-summary/1`.

use karat_core::number::Score;
use serde::{Deserialize, Serialize};

use super::{RecordStatus, answer, points};
use crate::rescore::{self, Rescored, Verdict};

/// A record and its score by another scorecard.
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
    /// The result in the record.
    pub before: RescoredSide,
    /// The result of the new scorecard.
    pub after: RescoredSide,
    /// The difference of the exact scores, in points of the new scorecard; null if either score is missing.
    pub difference: Option<f64>,
    /// The parts of the difference; null if one of the intermediate scores does not exist.
    pub parts: Option<DifferenceParts>,
    /// True if the evidence was corrected after the record was made.
    pub corrected: bool,
}

answer!(RescoredRecord, RescoreSchema = "karat/rescore/2", "a rescored record");

/// The score of an item by one scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RescoredSide {
    /// The status of the score.
    pub status: RecordStatus,
    /// The exact score as a share of the scale; null without a score.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub exact: Option<f64>,
    /// The published score; null without a score.
    pub published: Option<f64>,
    /// The band or tier; null if it has neither.
    pub badge: Option<String>,
}

/// The three sources of a difference, in points of the new scorecard; they add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DifferenceParts {
    /// The engine: the score it gives now to the facts of the record by the old scorecard, minus the recorded score.
    pub engine: f64,
    /// The evidence: the effect of its correction under the old scorecard.
    pub evidence: f64,
    /// The scorecard: the score of the current evidence by the new one, minus that by the old one.
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

/// A change of band or tier; `-` if there is no band or tier.
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
    /// Returns the change of the record with the id `record`, in which `scorecard` scored `item`.
    pub fn new(record: &str, subject: &str, item: &str, scorecard: &str, moved: &Rescored) -> Self {
        Self {
            schema: RescoreSchema::V1,
            record: record.to_owned(),
            subject: subject.to_owned(),
            item: item.to_owned(),
            scorecard: scorecard.to_owned(),
            before: (&moved.before).into(),
            after: (&moved.after).into(),
            difference: moved.difference().map(|it| points(it.to_f64(), moved.scale)),
            parts: moved.parts.map(|it| DifferenceParts::of(it, moved.scale)),
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

impl DifferenceParts {
    fn of(parts: rescore::Parts, scale: u32) -> Self {
        let [engine, evidence, scorecard] =
            [parts.engine, parts.evidence, parts.scorecard].map(|it| points(it.to_f64(), scale));
        Self { engine, evidence, scorecard }
    }
}
