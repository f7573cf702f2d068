//! Declarative evaluators: what a challenge compares, field by field, for each dimension.
//!
//! A challenge file carries one as tables beside its dimensions:
//!
//! ```toml
//! [[evaluator.correctness]]          # each entry is a part of the dimension; its score is the weighted mean of its parts
//! primitive = "numeric_tolerance"
//! field     = "cause_count"          # of the submission; `/report/hosts/0` is a JSON Pointer
//! truth     = "causes"               # of the ground truth; the same as `field` if it is left out
//! tolerance = 1                      # an option of the primitive
//! weight    = 2                      # 1 if it is left out
//!
//! [[evaluator.speed]]
//! primitive   = "time_decay"         # reads the clock of the arena, no field
//! needs_score = true                 # 0 unless some field scored
//!
//! [format]
//! required_strings = ["summary"]     # missing or no text: an error
//! flat_answers     = ["cause_count"] # an array or object: an error
//!
//! [format.dimensions]                # what an error makes 0, where it is not what reads the field
//! summary = ["methodology"]
//! ```
//!
//! | primitive | compares | options |
//! |---|---|---|
//! | `exact_match` | any values | `case_sensitive`, `deep` |
//! | `exact_match_ratio` | lists | `case_sensitive`, `deep` |
//! | `numeric_tolerance` | numbers, or lists of them | `tolerance`, `all_or_nothing` |
//! | `fuzzy_string` | texts | `case_sensitive`, `normalize_white_space` |
//! | `set_overlap` | lists as sets | `measure` (`jaccard` or `recall`), `ignore_case` |
//! | `coverage_ratio` | a count and a total, or lists as sets | |
//! | `time_decay` | time used and its limit | `needs_score` |
//! | `api_call_efficiency` | calls counted by the arena | `optimal`, `max` |
//! | `tests` | runs of submitted code | `cases` or `suite`, `digest` |
//! | `script` | whatever a script of the challenge looks at | `file`, `digest` |
//!
//! The last two are for a [judge](crate::execution::Judge): their files and limits are read in `files`, what is asked and
//! answered is in `judged`.
//!
//! The deployed arena gives every dimension the same score and leaves a missing field out of the mean, so that one easy
//! answer earns full marks. Here every dimension has its own fields ("scores each dimension independently"), and a missing
//! field scores 0.

mod answer;
mod field;
mod files;
mod grade;
mod judged;
mod read;
#[cfg(test)]
mod tests;
mod toml;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::primitives::{ExactMatch, FuzzyString, NumericTolerance, Seen, SetOverlap};
use super::warnings::{
    SubmissionWarning, assign_dimensions, validate_flat_answers, validate_required_strings,
};
use crate::execution::FileReader;
pub use answer::AnswerField;
use field::Field;
use files::{Judged, JudgedPart};
pub use judged::{ExecutionEnd, ExecutionGrade, Judging, TaskGrade};
use karat_evidence::json::problem::Problems;
pub(crate) use read::comparison;

/// A checked evaluator.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluator {
    dimensions: Vec<Dimension>,
    format: Format,
    /// Files and limits of the parts that a judge grades, if there are any.
    judged: Option<Arc<Judged>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Dimension {
    key: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
struct Part {
    test: Test,
    weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Fields { comparison: Comparison, field: Field, truth: Field },
    Time { needs_score: bool },
    Calls { optimal: f64, max: f64 },
    Judged(JudgedPart),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Comparison {
    ExactMatch(ExactMatch),
    ExactMatchRatio(ExactMatch),
    NumericTolerance(NumericTolerance),
    FuzzyString(FuzzyString),
    SetOverlap(SetOverlap),
    CoverageRatio,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Format {
    required_strings: Vec<String>,
    flat_answers: Vec<String>,
    dimensions: BTreeMap<String, BTreeSet<String>>,
}

/// Submission to be evaluated, and its surroundings.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The answer.
    pub submission: &'a Value,
    /// The correct answer.
    pub ground_truth: &'a Value,
    /// Seconds from start to submission by the clock of the arena.
    pub used_seconds: f64,
    /// Seconds given.
    pub limit_seconds: f64,
    /// Calls to the services of the challenge as the arena counted them; none if it did not.
    pub api_calls: Option<u64>,
}

/// Scores of an attempt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// Each dimension that the evaluator scores, in the order of their keys.
    pub dimensions: Vec<DimensionGrade>,
    /// The account of what was executed, if the evaluator has parts that a judge grades.
    #[serde(skip)]
    pub execution: Option<ExecutionGrade>,
}

/// Score of one dimension.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DimensionGrade {
    /// Its key.
    pub dimension: String,
    /// Weighted mean of its parts, 0 to 1; none if a part of it has no verdict.
    pub value: Option<f64>,
    /// Its parts, in the order of the file.
    pub parts: Vec<PartGrade>,
}

/// Score of one part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartGrade {
    /// Name of the primitive.
    pub primitive: &'static str,
    /// The field of the submission as it was written; none where the primitive reads none.
    pub field: Option<String>,
    /// The file of the challenge that it was judged by; none where a field or a clock was compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its share of the dimension is this by the sum of the weights.
    pub weight: f64,
    /// 0 to 1; none without a verdict.
    pub value: Option<f64>,
    /// Result of the part.
    pub outcome: Outcome,
}

/// Result of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Compared.
    Graded(Seen),
    /// The submission has no such field: 0.
    Missing,
    /// The submission has something there that cannot be compared: 0. Found and expected.
    Unfit(String),
    /// A comparison would be beyond this limit: 0.
    Limit(String),
    /// The part waits for something that scores, and nothing did: 0.
    NothingScored,
    /// Run against cases or a suite.
    Tested {
        /// Cases or tests that passed in full.
        passed: usize,
        /// All of them.
        tests: usize,
    },
    /// Scored by a script.
    Scripted {
        /// Points, 0 to 1000.
        points: f64,
    },
    /// There was no judge, or it failed: neither 0 nor anything else.
    NoVerdict,
}

impl Evaluation {
    /// Points of each dimension, 0 to 1000, not rounded. A dimension without a verdict has none.
    pub fn scores(&self) -> BTreeMap<&str, f64> {
        let points = |grade: &DimensionGrade| grade.value.map(|value| 1000.0 * value);
        self.dimensions.iter().filter_map(|it| Some((it.dimension.as_str(), points(it)?))).collect()
    }

    /// Returns the reason for which there is no verdict on what had to be executed, where it is so.
    pub fn no_verdict(&self) -> Option<&str> {
        match &self.execution.as_ref()?.end {
            ExecutionEnd::NoVerdict(why) => Some(why),
            _ => None,
        }
    }
}

impl Evaluator {
    /// Most parts of an evaluator.
    pub const PARTS_MAX: usize = 256;

    /// Reads the tables `evaluator` and `format` of a challenge file; everything else in it is the card's. `dimensions` are the
    /// keys that the challenge picks.
    ///
    /// # Errors
    ///
    /// If the text is not TOML or has no `evaluator`; and, all at once and each with its line, for dimensions that are not
    /// picked or that the trajectory scores, primitives and options that are not known or do not fit, invalid fields,
    /// weights outside 0 to 1000 or that sum to 0, more than [`Evaluator::PARTS_MAX`] parts.
    pub fn from_toml(challenge: &str, dimensions: &[&str]) -> Result<Self, Problems> {
        toml::read(challenge, dimensions, None)
    }

    /// Reads the same, and loads the files that the parts name: `files` has their bytes.
    ///
    /// # Errors
    ///
    /// If [`Evaluator::from_toml`] or [`Evaluator::with_files`] would fail. Where a digest is not given, the hint has it.
    pub fn from_toml_with(
        challenge: &str,
        dimensions: &[&str],
        files: FileReader<'_>,
    ) -> Result<Self, Problems> {
        toml::read(challenge, dimensions, Some(files))
    }

    /// Reads the same from `{"evaluator": {DIMENSION: [{"primitive", "field", ...}]}, "format"?, "submission"?, "limits"?}`.
    ///
    /// # Errors
    ///
    /// If [`Evaluator::from_toml`] would fail, with JSON paths in place of lines.
    pub fn from_json(challenge: &Value, dimensions: &[&str]) -> Result<Self, Problems> {
        read::read(challenge, dimensions, None)
    }

    /// Scores an attempt. Fields that the submission lacks, or that cannot be compared, score 0 and are reported. What has to be
    /// executed has no verdict.
    ///
    /// # Errors
    ///
    /// If the ground truth lacks fields, or has fields of a type that the primitive cannot compare: every one. The
    /// challenge is broken then, and no agent should pay for it. If a time is not finite. If a part is to be executed and the
    /// files of the challenge are not loaded.
    pub fn evaluate(&self, attempt: &Attempt<'_>) -> Result<Evaluation, Problems> {
        self.evaluate_by(attempt, &Judging::default())
    }

    /// Does the same with a judge for the parts that have to be executed.
    ///
    /// # Errors
    ///
    /// If [`Evaluator::evaluate`] fails, or the judge finds a fault of the challenge.
    pub fn evaluate_by(&self, attempt: &Attempt<'_>, judging: &Judging<'_>) -> Result<Evaluation, Problems> {
        grade::evaluate(self, attempt, judging)
    }

    /// Returns true if parts of it have to be executed by a judge.
    pub fn runs_code(&self) -> bool {
        self.judged.is_some()
    }

    /// Returns the dimensions that this scores, in the order of their keys.
    pub fn dimensions(&self) -> impl Iterator<Item = &str> {
        self.dimensions.iter().map(|dimension| dimension.key.as_str())
    }

    /// Checks the form of an answer: [`validate_required_strings`], then [`validate_flat_answers`], each on the fields that the
    /// challenge names. An error makes the dimensions 0 that `[format.dimensions]` names for its field, or else those that
    /// read it.
    pub fn check_format(&self, answer: &Map<String, Value>) -> Vec<SubmissionWarning> {
        let mut warnings = validate_required_strings(&self.format.required_strings, answer);
        if !self.format.flat_answers.is_empty() {
            warnings.extend(validate_flat_answers(&self.format.flat_answers, answer));
        }
        let mut readers = BTreeMap::<String, BTreeSet<String>>::new();
        for dimension in &self.dimensions {
            for part in &dimension.parts {
                if let Test::Fields { field, .. } = &part.test {
                    readers.entry(field.top()).or_default().insert(dimension.key.clone());
                }
            }
        }
        readers.extend(self.format.dimensions.clone());
        assign_dimensions(warnings, &readers)
    }
}

impl Test {
    fn primitive(&self) -> &'static str {
        match self {
            Self::Judged(part) => part.primitive(),
            Self::Time { .. } => "time_decay",
            Self::Calls { .. } => "api_call_efficiency",
            Self::Fields { comparison, .. } => match comparison {
                Comparison::ExactMatch(_) => "exact_match",
                Comparison::ExactMatchRatio(_) => "exact_match_ratio",
                Comparison::NumericTolerance(_) => "numeric_tolerance",
                Comparison::FuzzyString(_) => "fuzzy_string",
                Comparison::SetOverlap(_) => "set_overlap",
                Comparison::CoverageRatio => "coverage_ratio",
            },
        }
    }
}
