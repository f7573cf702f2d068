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
use crate::json::document::EXACT;
use crate::json::problem::Problems;

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

/// Returns the rest of a match.
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
            "evaluation": self.evaluation.detail(),
            "trajectory_validation": self.trajectory.as_ref().map(TrajectoryGrade::detail),
            "usage": self.usage.as_ref().map(Usage::detail),
            "efficiency": self.efficiency.detail(),
            "standing": self.standing.detail(),
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
            let list = self.submission_warnings.iter().map(SubmissionWarning::detail).collect();
            members.insert("submission_warnings".to_owned(), list);
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
        let mut scores: Map<String, Value> = Map::new();
        for (dimension, points) in self.evaluation.scores() {
            scores.insert(dimension.to_owned(), evidence_score(points).into());
        }
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

#[cfg(test)]
mod tests {
    use karat_core::evaluate::{Context, Scorer, Workspace};
    use karat_core::scorecard::Scorecard;
    use proptest::prelude::*;

    use super::*;
    use crate::{Kind, Reader, ReaderOptions};

    const PALETTE: &str = include_str!("../../../../../scorecards/arena/1.0.0.toml");
    const CHALLENGE: &str = include_str!("../../../../../scorecards/arena/challenges/lean-refactor.toml");
    const EVALUATOR: &str = "
        [[evaluator.correctness]]
        primitive = 'exact_match_ratio'
        field = 'tests'
        [[evaluator.code_quality]]
        primitive = 'numeric_tolerance'
        field = 'lints'
        tolerance = 3
        [[evaluator.analysis]]
        primitive = 'fuzzy_string'
        field = 'summary'
        [format]
        required_strings = ['summary']
    ";

    fn evaluator() -> Evaluator {
        let picked =
            ["correctness", "code_quality", "precision", "analysis", "token_efficiency", "call_efficiency"];
        Evaluator::from_toml(EVALUATOR, &picked).unwrap()
    }

    fn parts() -> Value {
        json!({
            "match_id": "m-1", "agent_id": "crab",
            "started_at": "2026-03-01T12:00:00Z", "submitted_at": "2026-03-01T12:01:00Z", "time_limit_secs": 60,
            "attempt_number": 1, "memoryless": true, "harness_id": "h-1",
            "constraints": {"tokenBudget": 1000, "maxLlmCalls": 4},
            "ground_truth": {"tests": [true, true, true], "lints": 0, "summary": "dead code"},
            "workspace_files": {"main.rs": "fn main() {}"},
            "payload": {
                "answer": {"tests": [true, false, true], "lints": 6, "summary": "dead code"},
                "metadata": {"token_count": 1, "harness_id": "h-2", "replay_log": [
                    {"type": "tool_call", "ts": "2026-03-01T12:00:01Z", "tool": "read", "input": "main.rs",
                     "output": "fn main() {}", "duration_ms": 3},
                    {"type": "llm_call", "ts": "2026-03-01T12:00:02Z", "model": "m", "input_tokens": 300,
                     "output_tokens": 100, "duration_ms": 900},
                ]},
            },
        })
    }

    fn grade(parts: &Value) -> MatchGrade {
        grade_match(parts, &evaluator(), &MatchOptions::default(), None).unwrap()
    }

    /// Returns the published score of the evidence under the challenge's card.
    fn scored(evidence: &Value) -> (f64, Vec<(String, f64)>) {
        let card = Scorecard::parse(CHALLENGE, &|_| Some(PALETTE.to_owned())).unwrap();
        let wanted: Vec<_> = card.facts.iter().map(|fact| (fact.name.clone(), fact.kind)).collect();
        let mut reader = Reader::new(Kind::Match, &wanted, ReaderOptions::default()).unwrap();
        let text = evidence.to_string();
        let read = reader.read(text.as_bytes()).unwrap();
        let item = read.item();
        let scorer = Scorer::new(card).unwrap();
        let mut workspace = Workspace::new(&scorer);
        let record = scorer.score(&mut workspace, &item, &Context::default()).unwrap();
        let value = |part: &karat_core::record::DimensionRecord<'_>| {
            (part.key.to_owned(), part.value.unwrap_or_default())
        };
        (record.published.unwrap().to_f64(), record.dimensions.iter().map(value).collect())
    }

    #[test]
    fn a_match_becomes_evidence() {
        let grade = grade(&parts());
        assert!(grade.standing.benchmark_grade);
        assert!(grade.harness_warning.is_some());
        // 400 x 2/3 + 200 x 0.75 + 100 x 1 + 100 x 0.6 + 100 x 0.75
        let (published, _) = scored(&grade.evidence);
        assert_eq!(published, 651.0);
        let detail = grade.detail();
        assert_eq!(detail["standing"]["verified"], true);
        assert!(detail.get("submission_warnings").is_none() && detail.get("constraint_violations").is_none());
    }

    #[test]
    fn an_error_of_form_makes_its_dimension_zero() {
        let mut parts = parts();
        parts["payload"]["answer"]["summary"] = json!({"text": "dead code"});
        let grade = grade(&parts);
        assert_eq!(grade.submission_warnings[0].dimension.as_deref(), Some("analysis"));
        assert_eq!(scored(&grade.evidence).0, 551.0);
    }

    #[test]
    fn one_tool_call_earns_no_efficiency() {
        let mut parts = parts();
        parts["payload"]["metadata"]["replay_log"].as_array_mut().unwrap().truncate(1);
        parts["constraints"]["maxToolCalls"] = json!(100);
        let grade = grade(&parts);
        assert!(grade.standing.verified);
        for (key, value) in scored(&grade.evidence).1 {
            assert!(!key.ends_with("efficiency") || value == 0.0, "{key} {value}");
        }
    }

    #[test]
    fn what_the_agent_claims_counts_for_nothing() {
        let mut parts = parts();
        parts["payload"]["metadata"]["replay_log"][1]["ts"] = json!("2027-03-01T12:00:02Z");
        parts["payload"]["metadata"]["wall_clock_secs"] = json!(0);
        let grade = grade(&parts);
        assert!(!grade.standing.verified && grade.evidence.get("trajectory").is_none());
        assert_eq!(grade.evidence["time_limit_secs"], 60.0);
    }

    #[test]
    fn what_is_not_accepted_has_no_score() {
        for (name, value, path) in [
            ("requester_id", json!("lobster"), "$.requester_id"),
            ("status", json!("completed"), "$.status"),
            ("status", json!("expired"), "$.submitted_at"),
            ("submitted_at", json!("2026-03-01T12:01:00.001Z"), "$.submitted_at"),
            ("status", json!("done"), "$.status"),
            ("attempt_number", json!(0), "$.attempt_number"),
            ("payload", json!({"answer": 1}), "$.payload.answer"),
            ("ground_truth", json!({"tests": [], "lints": 1}), "$.ground_truth.summary"),
            ("atempt_number", json!(1), "$.atempt_number"),
        ] {
            let mut parts = parts();
            parts[name] = value;
            let problems = grade_match(&parts, &evaluator(), &MatchOptions::default(), None).unwrap_err();
            assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), [path]);
        }
    }

    #[test]
    fn speed_that_waits_for_a_score_reaches_the_card() {
        let text = "[[evaluator.correctness]]\nprimitive = 'exact_match'\nfield = 'a'\n\
                    [[evaluator.speed]]\nprimitive = 'time_decay'\nneeds_score = true\n";
        let evaluator = Evaluator::from_toml(text, &["correctness", "speed"]).unwrap();
        let mut parts = parts();
        parts["submitted_at"] = json!("2026-03-01T12:00:30Z");
        parts["ground_truth"] = json!({"a": 1});
        let evidence =
            |parts: &Value| grade_match(parts, &evaluator, &MatchOptions::default(), None).unwrap().evidence;
        assert_eq!(evidence(&parts)["scores"], json!({"correctness": 0.0, "speed": 0.0}));
        assert!(evidence(&parts).get("time_limit_secs").is_none());
        parts["payload"]["answer"] = json!({"a": 1});
        assert_eq!(evidence(&parts)["scores"], json!({"correctness": 1000.0}));
        assert_eq!(evidence(&parts)["time_limit_secs"], 60.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The card and the breakdown of the arena say the same, down to sums that are whole only as fractions.
        #[test]
        fn the_card_gives_the_total_of_the_breakdown(
            tests in prop::collection::vec(any::<bool>(), 1..8),
            lints in 0u32..20,
            summary in "[a-d]{0,9}",
            tokens in 0u32..1100,
        ) {
            let mut parts = parts();
            parts["ground_truth"]["tests"] = vec![true; tests.len()].into();
            parts["payload"]["answer"] = json!({"tests": tests, "lints": lints, "summary": summary});
            parts["payload"]["metadata"]["replay_log"][1]["input_tokens"] = tokens.into();
            let grade = grade(&parts);
            let weights = [("correctness", 0.4), ("code_quality", 0.2), ("precision", 0.1), ("analysis", 0.1),
                ("token_efficiency", 0.1), ("call_efficiency", 0.1)].map(|(key, weight)| (key.to_owned(), weight));
            let mut scores = grade.evaluation.scores();
            scores.extend(grade.efficiency.scores());
            let expected = super::super::breakdown(&weights, &scores, 1000.0).total;
            prop_assert_eq!(scored(&grade.evidence).0, expected);
        }
    }
}
