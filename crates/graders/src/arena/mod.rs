//! Graders of matches of the arena: primitives, submissions, trajectories.

mod breakdown;
mod cases;
mod chain;
mod challenge;
mod constraints;
mod dimensions;
mod efficiency;
mod evaluator;
mod evaluator_output;
mod gate;
mod harness;
mod harness_statement;
mod match_grade;
mod members;
mod payload;
mod played;
mod primitives;
mod standing;
mod text;
mod trajectory;
mod warnings;

use serde::Serialize;
use serde_json::Value;

pub use breakdown::{Breakdown, WeightedScore, breakdown};
pub use cases::CaseFile;
pub use chain::chain;
pub use challenge::Challenge;
pub use constraints::{Constraints, Scope, Usage, Violation, constraint_violations};
pub use dimensions::validate_dimensions;
pub use efficiency::{Efficiency, EfficiencyBasis, EfficiencyGrade, WithoutModelCall, efficiency};
pub use evaluator::{
    AnswerField, Attempt, DimensionGrade, Evaluation, Evaluator, ExecutionEnd, ExecutionGrade, Judging,
    Outcome, PartGrade, TaskGrade,
};
pub use evaluator_output::{EvaluatorOutput, parse_evaluator_output};
pub use gate::{Arrival, Gate, MatchStatus, submission_gate};
pub use harness::{Harness, harness_warning};
pub use harness_statement::{HarnessStatement, StatementError};
pub use match_grade::{HarnessWord, MatchGrade, MatchOptions, grade_match};
pub use payload::{
    Action, RESPONSE_TEXT_MAX, STEPS_MAX, Step, Submission, TOOL_TEXT_MAX, replay_log, submission,
};
pub use primitives::{
    CELLS_MAX, ExactMatch, FuzzyString, Grade, Listing, NumericTolerance, OverlapMeasure, Seen, SetOverlap,
    api_call_efficiency, coverage_ratio, exact_match, exact_match_ratio, fuzzy_string, numeric_tolerance,
    numeric_tolerance_list, set_overlap, time_decay,
};
pub use standing::{Standing, Voucher};
pub use trajectory::{
    TrajectoryCheck, TrajectoryGrade, TrajectoryOptions, TrajectoryWarning, Window, validate_trajectory,
};
pub use warnings::{Severity, SubmissionWarning, validate_flat_answers, validate_required_strings};

/// Returns what a grader saw, as JSON with the names of its fields.
fn detail(seen: &impl Serialize) -> Value {
    // The types of this folder have texts as keys and finite or absent numbers, so each of them has a JSON form.
    serde_json::to_value(seen).unwrap_or_default()
}
