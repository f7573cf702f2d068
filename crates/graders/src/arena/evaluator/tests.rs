//! Evaluators: what is refused, what is missing, what each primitive takes.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const PICKED: [&str; 3] = ["correctness", "completeness", "speed"];

fn load(text: &str) -> Result<Evaluator, Problems> {
    Evaluator::from_toml(text, &PICKED)
}

fn attempt<'a>(submission: &'a Value, ground_truth: &'a Value) -> Attempt<'a> {
    Attempt { submission, ground_truth, used_seconds: 30.0, limit_seconds: 60.0, api_calls: Some(9) }
}

#[test]
fn numbers_are_read_in_every_spelling_of_toml() {
    let evaluator = |number: &str| {
        load(&format!(
            "[[evaluator.speed]]\nprimitive = 'numeric_tolerance'\nfield = 'f'\ntolerance = {number}\n"
        ))
    };
    let json = json!({"evaluator": {"speed": [{"primitive": "numeric_tolerance", "field": "f", "tolerance": 1000}]}});
    let wanted = Evaluator::from_json(&json, &PICKED);
    for number in ["1000", "1_000", "+1000", "0x3e8", "0o1750", "1e3", "1_000.0", "1_0e2"] {
        assert_eq!(evaluator(number), wanted, "{number}");
    }
    for number in ["nan", "-1", "'1000'", "99999999999999999999", "2026-01-01"] {
        assert!(evaluator(number).is_err(), "{number}");
    }
}

#[test]
fn too_many_parts_are_refused() {
    let list = |count: usize| {
        let part = json!({"primitive": "exact_match", "field": "f"});
        Evaluator::from_json(&json!({"evaluator": {"correctness": vec![part; count]}}), &PICKED)
    };
    assert!(list(Evaluator::PARTS_MAX).is_ok());
    assert!(list(Evaluator::PARTS_MAX + 1).unwrap_err().to_string().contains("at most 256 parts"));
    assert!(list(0).is_err());
}

#[test]
fn an_easy_answer_alone_does_not_earn_full_marks() {
    let evaluator = load(
        "[[evaluator.correctness]]\nprimitive = 'exact_match'\nfield = 'easy'\n\
         [[evaluator.correctness]]\nprimitive = 'exact_match'\nfield = 'hard'\n\
         [[evaluator.completeness]]\nprimitive = 'exact_match'\nfield = 'hard'\n",
    )
    .unwrap();
    let truth = json!({"easy": 1, "hard": 2});
    let evaluation = evaluator.evaluate(&attempt(&json!({"easy": 1}), &truth)).unwrap();
    let scores: Vec<_> = evaluation.scores().into_iter().collect();
    // Each dimension on its own, and what is missing counts.
    assert_eq!(scores, [("completeness", 0.0), ("correctness", 500.0)]);
    assert_eq!(serde_json::json!(evaluation)["dimensions"][0]["parts"][0]["outcome"], "missing");
}

#[test]
fn a_broken_ground_truth_is_no_fault_of_the_agent() {
    let evaluator =
        load("[[evaluator.speed]]\nprimitive = 'exact_match'\nfield = 'a'\ntruth = '/b/0'\n").unwrap();
    let problems = evaluator.evaluate(&attempt(&json!({"a": 1}), &json!({"a": 1}))).unwrap_err();
    assert_eq!(problems.to_string(), "$.ground_truth.b[0]: found nothing, expected a value to compare with");
}

#[test]
fn time_and_calls_are_those_of_the_arena() {
    let text = "[[evaluator.correctness]]\nprimitive = 'exact_match'\nfield = 'f'\n\
                [[evaluator.completeness]]\nprimitive = 'api_call_efficiency'\noptimal = 3\nmax = 15\n\
                [[evaluator.speed]]\nprimitive = 'time_decay'\nneeds_score = true\n";
    let evaluator = load(text).unwrap();
    let truth = json!({"f": 1});
    let right = evaluator.evaluate(&attempt(&truth, &truth)).unwrap();
    assert_eq!(right.scores().into_values().collect::<Vec<_>>(), [500.0, 1000.0, 500.0]);
    // Speed waits for a field that scores: a low number of calls is not enough.
    let wrong = evaluator.evaluate(&attempt(&json!({"f": 2}), &truth)).unwrap();
    assert_eq!(wrong.scores().into_values().collect::<Vec<_>>(), [500.0, 0.0, 0.0]);
    assert_eq!(wrong.dimensions[2].parts[0].outcome, Outcome::NothingScored);
    let uncounted = Attempt { api_calls: None, ..attempt(&truth, &truth) };
    assert_eq!(evaluator.evaluate(&uncounted).unwrap().scores()["completeness"], 0.0);
    let no_time = Attempt { used_seconds: f64::NAN, ..attempt(&truth, &truth) };
    assert!(evaluator.evaluate(&no_time).is_err());
}

#[test]
fn errors_of_form_reach_the_dimensions_that_read_the_field() {
    let evaluator = load(
        "[[evaluator.correctness]]\nprimitive = 'exact_match'\nfield = '/report/cause'\n\
         [format]\nrequired_strings = ['report', 'summary']\nflat_answers = ['q1', 'report']\n\
         dimensions = { summary = ['completeness', 'speed'] }\n",
    )
    .unwrap();
    let answer = json!({"report": {"cause": 1}});
    let warnings = evaluator.check_format(answer.as_object().unwrap());
    let told: Vec<_> =
        warnings.iter().map(|warning| (warning.field.as_str(), warning.dimension.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("report", Some("correctness")),
            ("summary", Some("completeness")),
            ("summary", Some("speed")),
            ("report", Some("correctness")),
            ("coverage", None),
        ]
    );
}

proptest! {
    #[test]
    fn a_score_is_between_the_worst_and_the_best_part(weights in prop::collection::vec(1u32..1000, 2..6), right in any::<u8>()) {
        let name = |at: usize| format!("f{at}");
        let parts: Vec<Value> = weights.iter().enumerate()
            .map(|(at, weight)| json!({"primitive": "exact_match", "field": name(at), "weight": weight})).collect();
        let evaluator = Evaluator::from_json(&json!({"evaluator": {"correctness": parts}}), &PICKED).unwrap();
        let truth: Value = (0..weights.len()).map(|at| (name(at), json!(1))).collect::<Map<_, _>>().into();
        let is_right = |at: usize| right & (1 << at) != 0;
        let given: Value = (0..weights.len()).map(|at| (name(at), json!(i32::from(is_right(at))))).collect::<Map<_, _>>().into();
        let evaluation = evaluator.evaluate(&attempt(&given, &truth)).unwrap();
        let earned: u32 = weights.iter().enumerate().filter(|(at, _)| is_right(*at)).map(|(_, weight)| weight).sum();
        let expected = f64::from(earned) / f64::from(weights.iter().sum::<u32>());
        prop_assert_eq!(evaluation.dimensions[0].value, Some(expected));
    }

    #[test]
    fn no_document_panics(text in "(evaluator|format|\\[|\\]|\\.|=|'|a|1|\\{|\\}|,|\n| ){0,40}") {
        let _ = load(&text);
    }
}
