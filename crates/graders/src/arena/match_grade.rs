//! A whole match: from what was handed in to the evidence that a challenge's card scores.

use serde_json::{Map, Value, json};

use super::breakdown::evidence_score;
use super::chain::check_made_for;
use super::constraints::{Scope, Usage, Violation, constraint_violations};
use super::efficiency::{Efficiency, EfficiencyBasis, WithoutModelCall, efficiency};
use super::evaluator::{Evaluation, Evaluator, Judging, Outcome};
use super::harness::harness_warning;
use super::played::Played;
use super::primitives::Seen;
use super::standing::{Standing, Voucher};
use super::trajectory::{TrajectoryGrade, TrajectoryOptions, validate_trajectory};
use super::warnings::SubmissionWarning;
use crate::execution::Judge;
use karat_evidence::json::document::EXACT;
use karat_evidence::json::problem::Problems;

/// Options of [`grade_match`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchOptions {
    /// Options for checking trajectories.
    pub trajectory: TrajectoryOptions,
    /// Limits that are looked at.
    pub scope: Scope,
    /// Efficiency of a trajectory without a model call, or without a token.
    pub without_model_call: WithoutModelCall,
    /// The word of a harness about this match, whose signature the caller has checked.
    pub harness: Option<HarnessWord>,
}

/// The word of a harness about a match, beside that the log is what it saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HarnessWord {
    /// True if the agent played without its memory.
    pub memoryless: bool,
}

/// Everything that was found out about a match.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchGrade {
    /// Scores of the answer.
    pub evaluation: Evaluation,
    /// Problems of its form.
    pub submission_warnings: Vec<SubmissionWarning>,
    /// The checks of the trajectory, if there is one.
    pub trajectory: Option<TrajectoryGrade>,
    /// Usage of the trajectory, if there is one.
    pub usage: Option<Usage>,
    /// Efficiency of the trajectory.
    pub efficiency: Efficiency,
    /// Limits that were not kept.
    pub constraint_violations: Vec<Violation>,
    /// Set if the agent played with a harness that is not the registered one.
    pub harness_warning: Option<String>,
    /// Value of the match as a benchmark.
    pub standing: Standing,
    /// The match as evidence of the kind `match`, for the card of the challenge.
    pub evidence: Value,
}

/// The members of a match that scripts do not get as such: they are arguments by themselves, or a secret of the server.
const OWN_ARGUMENTS: [&str; 3] = ["payload", "ground_truth", "match_nonce"];

fn rest(parts: &Value) -> Value {
    let members = parts.as_object().into_iter().flatten();
    let members = members.filter(|(name, _)| !OWN_ARGUMENTS.contains(&name.as_str()));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Grades a match from its raw parts, an object of
///
/// - `match_id`, `agent_id`, and `requester_id` where another agent may have submitted;
/// - `status` (`active` if left out), `started_at`, `submitted_at`, `time_limit_secs`;
/// - `attempt_number` (entries, this one included), `memoryless`, `harness_id` (the registered one), `constraints`;
/// - `match_nonce`, where the match was entered at a server that draws one;
/// - `payload`: what was submitted, see [`submission`](super::submission);
/// - `ground_truth`, `workspace_files` (path to text), `api_calls` (as the arena counted them).
///
/// The checks come in the order of the document ("Submission Validation"): ownership, time limit, format. Speed is left to the
/// card, which knows the times, unless the evaluator scores it otherwise. Tokens and calls reach the card from a valid
/// trajectory only, and from none without a model call.
///
/// A match with a `match_nonce` is verified if its log was made for it (a chain from the nonce on, moments in order, possible
/// durations, tokens of every model call), or if [`MatchOptions::harness`] says that a harness signed the log; it is
/// memoryless if that harness says so. Without a nonce both are as the item states them, after the document:
/// [`Standing::verified_by`] says which.
///
/// # Errors
///
/// If something is wrong with the parts or the payload: everything; if a submission is not accepted, which has no
/// score; if a ground truth does not fit the evaluator; if the challenge runs code and `judge` finds a fault in its files.
/// Without a judge, or with one that fails, what has to be executed has no verdict, and the outcome is `no-verdict`.
pub fn grade_match(
    parts: &Value,
    evaluator: &Evaluator,
    options: &MatchOptions,
    judge: Option<&dyn Judge>,
) -> Result<MatchGrade, Problems> {
    let mut problems = Problems::default();
    let played = Played::read(parts, &mut problems).filter(|_| problems.is_empty()).ok_or(problems)?;
    played.accepted()?;
    let rest = evaluator.runs_code().then(|| rest(parts));
    let judging = Judging { judge, seed: played.seed, rest: rest.as_ref() };
    let evaluation = evaluator.evaluate_by(&played.attempt, &judging)?;
    let submission_warnings = evaluator.check_format(played.submission.answer);
    let steps = played.submission.replay_log.as_deref();
    let files = played.workspace_files.as_ref();
    let trajectory = steps.map(|steps| {
        let mut grade = validate_trajectory(steps, played.window, files, &options.trajectory);
        if let (Some(nonce), None) = (played.match_nonce, options.harness) {
            let log = played.submission.log;
            check_made_for(&mut grade, log, steps, nonce, played.window, &options.trajectory);
        }
        grade
    });
    let usage = steps.map(Usage::of);
    let verified = trajectory.as_ref().is_some_and(|trajectory| trajectory.valid);
    let (vouched, memoryless_by) = match (options.harness, played.match_nonce) {
        (Some(word), _) => (Voucher::Harness, word.memoryless.then_some(Voucher::Harness)),
        (None, Some(_)) => (Voucher::Checked, None),
        (None, None) => (Voucher::Claimed, played.memoryless.then_some(Voucher::Claimed)),
    };
    let constraint_violations = usage.as_ref().map_or_else(Vec::new, |usage| {
        constraint_violations(&played.constraints, verified, usage, options.scope)
    });
    let mut grade = MatchGrade {
        efficiency: efficiency(&played.constraints, verified, usage.as_ref(), options.without_model_call),
        harness_warning: harness_warning(played.harness_id, played.submission.harness_id),
        standing: Standing::new(verified.then_some(vouched), memoryless_by, played.attempt_number),
        evaluation,
        submission_warnings,
        trajectory,
        usage,
        constraint_violations,
        evidence: Value::Null,
    };
    grade.evidence = grade.to_evidence(&played, options);
    Ok(grade)
}

impl MatchGrade {
    /// Returns everything but the evidence, as JSON. `submission_warnings`, `constraint_violations` and `harness_warning`
    /// are left out if they are empty, as in the response of the arena.
    pub fn detail(&self) -> Value {
        let mut detail = json!({
            "evaluation": self.evaluation,
            "trajectory_validation": self.trajectory.as_ref().map(TrajectoryGrade::detail),
            "usage": self.usage,
            "efficiency": self.efficiency,
            "standing": self.standing,
        });
        if let Some(execution) = &self.evaluation.execution {
            detail["execution"] = execution.detail();
        }
        self.add_warnings(&mut detail);
        detail
    }

    fn add_warnings(&self, object: &mut Value) {
        let Value::Object(members) = object else { return };
        if !self.submission_warnings.is_empty() {
            members.insert("submission_warnings".to_owned(), json!(self.submission_warnings));
        }
        if !self.constraint_violations.is_empty() {
            let list =
                self.constraint_violations.iter().map(|violation| violation.message.as_str()).collect();
            members.insert("constraint_violations".to_owned(), list);
        }
        if let Some(warning) = &self.harness_warning {
            members.insert("harness_warning".to_owned(), warning.as_str().into());
        }
    }

    fn to_evidence(&self, played: &Played<'_>, options: &MatchOptions) -> Value {
        let scores = self.evaluation.scores().into_iter();
        let mut scores: Map<String, Value> =
            scores.map(|(dimension, points)| (dimension.to_owned(), evidence_score(points).into())).collect();
        let mut evidence = json!({
            "match_id": played.match_id,
            "agent_id": played.agent_id,
            "started_at": played.started_at,
            "submitted_at": played.submitted_at,
            "verified": self.standing.verified,
            "verified_by": self.standing.verified_by,
            "memoryless": self.standing.memoryless,
            "memoryless_by": self.standing.memoryless_by,
            "memoryless_claimed": played.memoryless,
            "attempt_number": played.attempt_number,
            "trajectory_validation": self.trajectory.as_ref().map(TrajectoryGrade::detail),
        });
        for (name, value) in &played.named {
            evidence[*name] = (*value).clone();
        }
        if let Some(execution) = &self.evaluation.execution {
            evidence["execution"] = execution.detail();
            if self.evaluation.no_verdict().is_some() {
                evidence["outcome"] = karat_core::facts::Outcome::NoVerdict.name().into();
            }
        }
        if self.speed_is_time() {
            scores.remove("speed");
            evidence["time_limit_secs"] = played.attempt.limit_seconds.into();
        }
        evidence["scores"] = Value::Object(scores);
        if let Some(constraints) = played.constraints_given {
            evidence["constraints"] = constraints.clone();
        }
        let counts = |usage: &&Usage| {
            usage.llm_calls > 0 || options.without_model_call == WithoutModelCall::Everything
        };
        if let Some(usage) = self.usage.as_ref().filter(|_| self.standing.verified).filter(counts) {
            // Beyond what a double can hold every count is as much over its limit as this one.
            let most = |count: u64| count.min(EXACT as u64);
            evidence["trajectory"] = json!({
                "total_input_tokens": most(usage.input_tokens),
                "total_output_tokens": most(usage.output_tokens),
                "total_llm_calls": usage.llm_calls,
                "total_tool_calls": usage.tool_calls,
            });
            if self.efficiency.token_efficiency.basis == EfficiencyBasis::NoTokens {
                evidence["trajectory"]["total_input_tokens"] = Value::Null;
            }
        }
        self.add_warnings(&mut evidence);
        evidence
    }

    /// Returns whether speed is the share of the time that is left, and nothing else: then the card scores it from the
    /// times.
    fn speed_is_time(&self) -> bool {
        let speed = self.evaluation.dimensions.iter().find(|grade| grade.dimension == "speed");
        speed.is_none_or(|speed| {
            speed.parts.iter().all(|part| matches!(part.outcome, Outcome::Graded(Seen::Time { .. })))
        })
    }
}
