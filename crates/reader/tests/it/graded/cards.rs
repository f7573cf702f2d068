//! Matches as they were played, to their score by the card of the challenge.

use karat_core::evaluate::{Context, Scorer, Workspace};
use proptest::prelude::*;

use karat_graders::arena::{Evaluator, MatchGrade, MatchOptions, breakdown, grade_match};
use karat_reader::{Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

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
    let card = karat_checker::parse(CHALLENGE, &|_| Some(PALETTE.to_owned())).unwrap();
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
        let expected = breakdown(&weights, &scores, 1000.0).total;
        prop_assert_eq!(scored(&grade.evidence).0, expected);
    }
}
