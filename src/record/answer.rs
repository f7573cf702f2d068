//! The answer of the arena to a submission, as the record of a match has it.

use std::collections::BTreeMap;

use karat_core::record::Record as Scoring;
use serde::{Deserialize, Serialize};

/// The score of a match and the findings on what was submitted, in the shape of the arena's answer ("Score Breakdown",
/// "Submission Validation"). What there is nothing to say of is left out.
// Its members are also among those of a match of the arena, so it refuses no others; a record with others does not verify.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MatchAnswer {
    /// Limits of the challenge that were exceeded, each with its name first. They change no score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraint_violations: Vec<String>,
    /// A warning if the agent played with another harness than the registered one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub harness_warning: Option<String>,
    /// The total as published, 0 to 1000 in the arena; null without a score.
    pub score: Option<f64>,
    /// The score of each dimension, its weight, and the points that it adds.
    pub score_breakdown: BTreeMap<String, DimensionScore>,
    /// Findings on the form of the submission. An `error` makes its dimension 0, a `warning` is advice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submission_warnings: Vec<SubmissionWarning>,
}

/// The result of one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DimensionScore {
    /// The value in points, 0 to 1000 in the arena; 0 without a value.
    pub score: f64,
    /// Its share of the total.
    pub weight: f64,
    /// Score times weight, in points and not rounded.
    pub weighted: f64,
}

/// A finding on the form of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SubmissionWarning {
    /// `error` or `warning`.
    pub severity: String,
    /// The field of the submission.
    pub field: String,
    /// The finding in words.
    pub message: String,
    /// The dimension that an error makes 0, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub dimension: Option<String>,
}

impl MatchAnswer {
    /// Returns the answer in a record that was made just now; none if the record is not about a match.
    pub fn of(record: &Scoring<'_>) -> Option<Self> {
        let mut bytes = Vec::new();
        record.is_match().then(|| record.write_match(&mut bytes))?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Returns true if there is a finding besides the score.
    pub fn has_findings(&self) -> bool {
        !self.submission_warnings.is_empty()
            || !self.constraint_violations.is_empty()
            || self.harness_warning.is_some()
    }

    /// Returns the texts of the findings.
    pub fn findings(&self) -> impl Iterator<Item = &str> {
        let warnings = self.submission_warnings.iter().map(|warning| warning.message.as_str());
        warnings
            .chain(self.constraint_violations.iter().map(String::as_str))
            .chain(self.harness_warning.as_deref())
    }

    /// Returns the findings in sentences, those that change a score first.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        for warning in &self.submission_warnings {
            let SubmissionWarning { severity, field, message, dimension } = warning;
            let effect = match dimension {
                Some(dimension) if severity == "error" => format!("; it makes {dimension} 0"),
                _ => String::new(),
            };
            sentences.push(format!("{severity} at {field}: {message}{effect}"));
        }
        sentences.extend(self.constraint_violations.iter().cloned());
        sentences.extend(self.harness_warning.clone());
        sentences
    }
}
