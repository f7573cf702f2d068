//! Primitives, submissions, trajectories, evaluators and what they print.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use karat_graders::arena::{
    Attempt, Constraints, Evaluator, ExactMatch, FuzzyString, Harness, MatchOptions, MatchStatus,
    NumericTolerance, OverlapMeasure, STEPS_MAX, Scope, Seen, SetOverlap, TrajectoryOptions, Usage, Window,
    WithoutModelCall, api_call_efficiency, breakdown, constraint_violations, coverage_ratio, efficiency,
    exact_match, exact_match_ratio, fuzzy_string, grade_match, harness_warning, numeric_tolerance,
    numeric_tolerance_list, parse_evaluator_output, replay_log, set_overlap, submission, time_decay,
    validate_flat_answers, validate_required_strings, validate_trajectory,
};
use serde_json::{Map, Value, json};

use super::{DEEP, HALF_PAIRS, SCRIPTS, deep, deep_texts, ends, ten_megabytes};

const MANY: usize = 100_000;
const DEEPLY: ExactMatch = ExactMatch { case_sensitive: false, deep: true };

#[test]
fn texts_of_ten_megabytes() {
    for script in SCRIPTS.into_iter().step_by(4) {
        ends(move || {
            let long = ten_megabytes(script);
            let options = FuzzyString { case_sensitive: true, ..FuzzyString::default() };
            assert_eq!(fuzzy_string(&long, &long, options).unwrap().value, 1.0);
            let less: String = long.chars().skip(1).collect();
            assert!(fuzzy_string(&long, &less, options).is_err() || long.len() < 20_000_000);
            let refused = fuzzy_string(&long, &ten_megabytes("\u{7f}"), options).unwrap_err();
            assert!(refused.to_string().contains("UTF-16 code units"));
        });
    }
    ends(|| {
        let long = ten_megabytes(" \u{feff}");
        let normal = FuzzyString { normalize_white_space: true, ..FuzzyString::default() };
        assert_eq!(fuzzy_string(&long, "", normal).unwrap().value, 1.0);
        let [a, b] = ["İ", "i\u{307}"].map(ten_megabytes).map(Value::from);
        assert!(exact_match(&a, &a, ExactMatch::default()).value == 1.0);
        let grade = exact_match(&a, &b, ExactMatch::default());
        assert!(grade.value == 0.0 && grade.detail().to_string().len() < 1000);
    });
}

#[test]
fn texts_of_the_most_cells() {
    for (a, b) in [("ab", "ba"), ("狗猫", "猫狗"), ("🦀x", "x🦁")] {
        ends(move || {
            let [a, b] = [a.repeat(16_000), b.repeat(16_000)];
            let grade = fuzzy_string(&a, &b, FuzzyString::default()).unwrap();
            assert!((0.0..1.0).contains(&grade.value), "{}", grade.value);
        });
    }
    // One text short, the other long.
    ends(|| {
        let grade = fuzzy_string(&"狗".repeat(3_000_000), &"猫".repeat(500), FuzzyString::default());
        assert_eq!(grade.unwrap().value, 0.0);
    });
}

#[test]
fn scripts_are_themselves_and_nothing_else() {
    for (at, script) in SCRIPTS.into_iter().enumerate() {
        for (other_at, other) in SCRIPTS.into_iter().enumerate() {
            let is_same = at == other_at;
            let [a, b] = [json!(script), json!(other)];
            assert_eq!(exact_match(&a, &b, ExactMatch::default()).value == 1.0, is_same);
            assert_eq!(fuzzy_string(script, other, FuzzyString::default()).unwrap().value == 1.0, is_same);
            assert_eq!(set_overlap(&[a], &[b], SetOverlap::default()).unwrap().value == 1.0, is_same);
        }
    }
}

#[test]
fn lists_of_a_hundred_thousand() {
    ends(|| {
        let list = |prefix: &str| -> Vec<Value> {
            (0..MANY).map(|at| json!(format!("{prefix}{}{at}", "x".repeat(50)))).collect()
        };
        let [a, b] = [list(""), list("y")];
        for options in
            [SetOverlap::default(), SetOverlap { measure: OverlapMeasure::Recall, ignore_case: true }]
        {
            assert_eq!(set_overlap(&a, &a, options).unwrap().value, 1.0);
            let apart = set_overlap(&a, &b, options).unwrap();
            assert!(apart.value == 0.0 && apart.detail().to_string().len() < 10_000);
        }
        let same = vec![json!("a"); MANY];
        assert_eq!(set_overlap(&same, &same[..1], SetOverlap::default()).unwrap().value, 1.0);
        let structures = vec![json!([1]); MANY];
        assert_eq!(set_overlap(&structures, &same, SetOverlap::default()).unwrap().value, 0.0);
        assert_eq!(set_overlap(&same, &structures, SetOverlap::default()).unwrap_err().len(), MANY);
        assert_eq!(exact_match_ratio(&a, &a, DEEPLY).value, 1.0);
        assert_eq!(exact_match(&json!(a), &json!(b), DEEPLY).value, 0.0);
        let numbers = vec![f64::NAN; MANY];
        let grade = numeric_tolerance_list(&numbers, &numbers, NumericTolerance::default()).unwrap();
        assert!(grade.value == 0.0 && matches!(grade.seen, Seen::Differences { within: 0, .. }));
    });
}

#[test]
fn numbers_from_one_end_to_the_other() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, -5e-324, 0.0, 1.0];
    let is_share = |value: f64| (0.0..=1.0).contains(&value);
    for a in odd {
        for b in odd {
            for c in odd {
                for all_or_nothing in [false, true] {
                    let options = NumericTolerance { tolerance: c, all_or_nothing };
                    assert!(
                        numeric_tolerance(a, b, options).is_ok_and(|grade| is_share(grade.value))
                            || !(c >= 0.0 && c.is_finite())
                    );
                }
                assert!(
                    api_call_efficiency(a, b, c).map_or(true, |grade| is_share(grade.value)),
                    "{a} {b} {c}"
                );
            }
            assert!(time_decay(a, b).map_or(true, |grade| is_share(grade.value)), "{a} {b}");
            assert!(coverage_ratio(a, b).map_or(true, |grade| is_share(grade.value)), "{a} {b}");
            let scores = BTreeMap::from([("d", a)]);
            let _ = breakdown(&[("d".to_owned(), b)], &scores, 1000.0).detail();
        }
    }
}

/// Returns the parts of a match that is taken, with one of them replaced.
fn parts(replaced: &str, by: Value) -> Value {
    let mut parts = json!({
        "match_id": "m", "agent_id": "a", "started_at": "2026-03-18T09:30:00Z",
        "submitted_at": "2026-03-18T09:31:00Z", "time_limit_secs": 60, "attempt_number": 1, "memoryless": true,
        "match_nonce": "n", "ground_truth": {"q": 1}, "workspace_files": {"f": "x"}, "constraints": {"tokenBudget": 1},
        "payload": {"answer": {"q": 1}, "metadata": {"replay_log": [{"type": "llm_call", "model": "m",
            "ts": "2026-03-18T09:30:30Z", "input_tokens": 1, "output_tokens": 0, "duration_ms": 1, "metadata": {}, "prev": "n"}],
            "harness_statement": "x"}},
    });
    *parts.pointer_mut(replaced).unwrap() = by;
    parts
}

fn evaluator() -> Evaluator {
    let tables = json!({"evaluator": {
        "correctness": [{"primitive": "exact_match", "field": "q", "deep": true}],
        "speed": [{"primitive": "time_decay"}],
    }});
    Evaluator::from_json(&tables, &["correctness", "speed"]).unwrap()
}

#[test]
fn every_part_of_a_match_is_deep() {
    for replaced in [
        "/match_id", "/started_at", "/time_limit_secs", "/constraints", "/constraints/tokenBudget",
        "/ground_truth", "/ground_truth/q", "/workspace_files", "/workspace_files/f", "/payload",
        "/payload/answer", "/payload/answer/q", "/payload/metadata", "/payload/metadata/replay_log",
        "/payload/metadata/replay_log/0", "/payload/metadata/replay_log/0/ts",
        "/payload/metadata/replay_log/0/metadata", "/payload/metadata/replay_log/0/prev",
        "/payload/metadata/harness_statement", "/match_nonce", "",
    ] {
        ends(move || {
            for key in [None, Some("q")] {
                let parts = ManuallyDrop::new(parts(replaced, deep(json!(1), key)));
                if let Ok(grade) = grade_match(&parts, &evaluator(), &MatchOptions::default(), None) {
                    assert!(grade.detail().to_string().len() + grade.evidence.to_string().len() < 10_000);
                }
                let _ = Constraints::read(&parts).map_err(|problems| problems.to_string());
                let _ = (submission(&parts), replay_log(&parts), Evaluator::from_json(&parts, &["q"]));
            }
        });
    }
    ends(|| {
        let [one, other] = [1, 2].map(|bottom| ManuallyDrop::new(deep(json!(bottom), Some("a"))));
        assert_eq!(exact_match(&one, &one, DEEPLY).value, 1.0);
        let Seen::Match { difference: Some(difference) } = exact_match(&one, &other, DEEPLY).seen else {
            panic!("the bottom differs");
        };
        assert!(difference.ends_with("the number `1` is not the number `2`"));
    });
}

#[test]
fn trajectories_of_the_most_steps() {
    ends(|| {
        let text = "🦀".repeat(2500);
        let step = |at: usize| {
            json!({"type": "tool_call", "ts": "2026-03-18T09:30:30Z", "tool": "read", "input": format!(" f{} ", at % 500),
                   "output": text, "duration_ms": 1})
        };
        let log = |count: usize| -> Value { (0..count).map(step).collect() };
        let steps = log(STEPS_MAX);
        let steps = replay_log(&steps).unwrap();
        let long = ten_megabytes("🦀");
        let files: BTreeMap<String, &str> = (0..500).map(|at| (format!("f{at}"), long.as_str())).collect();
        let files: BTreeMap<&str, &str> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let window = Window::parse("2026-03-18T09:30:00Z", "2026-03-18T09:31:00Z").unwrap();
        let options = TrajectoryOptions::default();
        assert!(validate_trajectory(&steps, window, Some(&files), &options).tool_replay_consistent);
        let nothing = BTreeMap::new();
        let options = TrajectoryOptions { require_known_files: true, ..options };
        let grade = validate_trajectory(&steps, window, Some(&nothing), &options);
        assert_eq!((grade.warnings.len(), grade.unknown_files.len()), (STEPS_MAX, 500));
        assert!(replay_log(&log(STEPS_MAX + 1)).unwrap_err().to_string().contains("at most 1000 steps"));
        assert!(replay_log(&json!(vec![json!({}); MANY])).is_err());
        assert_eq!(replay_log(&json!(vec![json!({}); STEPS_MAX])).unwrap_err().len(), STEPS_MAX);
    });
    ends(|| {
        // Names without a limit, and counts beyond what can be added.
        let names: Vec<String> = (0..STEPS_MAX).map(|at| format!("{}{at}", "क".repeat(3000))).collect();
        let call = |name: &String| {
            json!({"type": "llm_call", "ts": "", "model": name, "input_tokens": 9_007_199_254_740_991_u64,
                   "output_tokens": 9_007_199_254_740_991_u64, "duration_ms": -1e308})
        };
        let log: Value = names.iter().map(call).collect();
        let usage = Usage::of(&replay_log(&log).unwrap());
        assert_eq!(usage.total_tokens(), 2 * 9_007_199_254_740_991 * STEPS_MAX as u64);
        let constraints = json!({"tokenBudget": 1, "allowedModels": vec!["x"; MANY], "maxLlmCalls": 1});
        let constraints = Constraints::read(&constraints).unwrap();
        let violations = constraint_violations(&constraints, true, &usage, Scope::Trajectory);
        assert_eq!(violations.len(), 3);
        assert!(violations.iter().all(|violation| violation.message.len() < 500_000));
        let earned = efficiency(&constraints, true, Some(&usage), WithoutModelCall::Nothing);
        assert_eq!(earned.token_efficiency.value + earned.call_efficiency.value, 0.0);
    });
}

#[test]
fn moments_of_every_age_and_zone() {
    for text in [
        "+275760-09-13T00:00:00Z", "-271821-04-20T00:00:00Z", "2016-12-31T23:59:60Z", "2026-03-18T09:30:00",
        "",
    ] {
        assert!(Window::parse(text, "2026-03-18T09:30:00Z").is_err(), "{text}");
        assert!(Window::parse("0000-01-01T00:00:00Z", text).is_err(), "{text}");
    }
    let ages = Window::parse("0000-01-01T23:59:00+23:59", "9999-12-31T00:00:59.999-23:59").unwrap();
    assert_eq!(ages.used_seconds(), 315_569_519_999.999);
    for limit in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let _ = ages.is_past(limit);
    }
    let zones = Window::parse("2026-03-18T15:15:00+05:45", "2026-03-17T21:30:00.5-12:00").unwrap();
    assert_eq!(zones.used_seconds(), 0.5);
    let long = ends(|| Window::parse(&ten_megabytes("2026"), &ten_megabytes("9")).unwrap_err().to_string());
    assert!(long.len() < 1000);
}

#[test]
fn what_an_evaluator_prints() {
    let parse = |text: String| {
        ends(move || parse_evaluator_output(&text, Some(0)).map_err(|problems| problems.to_string()))
    };
    for text in deep_texts() {
        assert!(parse(text.clone()).is_err());
        assert!(parse(format!("{{\"scores\": {{\"a\": {text}}}}}")).is_err());
    }
    let result = "{\"scores\": {\"a\": 1}}\n";
    assert_eq!(parse(ten_megabytes(result)).unwrap().other_results, 10_000_000 / result.len() - 1);
    assert_eq!(parse(format!("{result}{}", ten_megabytes("{\"scores\":"))).unwrap().line, 1);
    assert_eq!(parse(format!("{result}{}", "{\n".repeat(1_000_000))).unwrap().line, 1);
    let many: Map<String, Value> = (0..MANY).map(|at| (format!("d{at}"), json!(-1))).collect();
    assert!(parse(json!({"scores": many}).to_string()).unwrap_err().ends_with("and 99900 more"));
    let long = parse(json!({"scores": {ten_megabytes("क"): "x"}}).to_string()).unwrap_err();
    assert!(long.len() < 1000, "a key is cut in messages");
    for half in HALF_PAIRS {
        assert!(parse(format!("{{\"scores\": {{{half}: 1}}}}")).is_err(), "{half}");
    }
    for number in ["1e999", "NaN", "Infinity", "-0.5", "\"1\"", "null"] {
        assert!(parse(format!("{{\"scores\": {{\"a\": {number}}}}}")).is_err(), "{number}");
    }
}

#[test]
fn evaluators_of_hostile_challenges() {
    let read = |text: String| {
        ends(move || Evaluator::from_toml(&text, &["a"]).map_err(|problems| problems.to_string()))
    };
    for text in [
        format!("evaluator{} = 1", ".a".repeat(DEEP)),
        format!("[evaluator{}]", ".a".repeat(DEEP)),
        format!("evaluator.a = {}", "[".repeat(DEEP)),
        format!("evaluator.a = {}{}", "[".repeat(DEEP), "]".repeat(DEEP)),
        format!("evaluator.a = {}{}", "{a=".repeat(DEEP), "}".repeat(DEEP)),
        format!("[evaluator]\n{} = [{}]", "k".repeat(1_000_000), "{},".repeat(10_000)),
        format!("[evaluator]\na = [{}]", "{primitive='exact_mach',field='/~2'},".repeat(5_000)),
        (0..5_000).map(|at| format!("[[evaluator.a{at}]]\nx{at} = nan\n")).collect(),
        format!("[[evaluator.a]]\nprimitive = '{}'", "e".repeat(1_000_000)),
        format!("[[evaluator.a]]\nprimitive = 'exact_match'\nfield = '{}2'", "/~".repeat(1_000_000)),
        format!("[[evaluator.a]]\n[format]\nrequired_strings = [{}]", "1,".repeat(20_000)),
        ten_megabytes("["),
        "\"".repeat(1_000_000),
        "a.".repeat(1_000_000),
    ] {
        let refused = read(text).unwrap_err();
        assert!(refused.len() < 100_000, "{refused:.200}");
    }
    // A pointer of a megabyte is read, and leads nowhere.
    let field = format!(
        "[[evaluator.a]]\nprimitive = 'exact_match'\nfield = '{}'\ntruth = 'q'",
        "/a".repeat(500_000)
    );
    ends(move || {
        let evaluator = Evaluator::from_toml(&field, &["a"]).unwrap();
        let [submission, ground_truth] = [json!({"a": {"a": 1}}), json!({"q": 1})];
        let attempt = Attempt {
            submission: &submission,
            ground_truth: &ground_truth,
            used_seconds: 1.0,
            limit_seconds: 0.0,
            api_calls: None,
        };
        assert_eq!(evaluator.evaluate(&attempt).unwrap().scores()["a"], 0.0);
    });
}

#[test]
fn forms_and_names_of_ten_megabytes() {
    ends(|| {
        let long = ten_megabytes("क");
        let ids: Vec<String> = (0..MANY).map(|at| format!("q{at}")).collect();
        let answer: Map<String, Value> = ids.iter().map(|id| (id.clone(), json!([long.len()]))).collect();
        assert_eq!(validate_required_strings(&ids, &answer).len(), MANY);
        assert_eq!(validate_flat_answers(&ids, &answer).len(), MANY);
        let one = Map::from_iter([(long.clone(), json!({}))]);
        let warnings = validate_required_strings(&[&long], &one);
        assert!(warnings[0].message.len() < 1000);
        assert!(harness_warning(Some("h"), Some(&long)).unwrap().len() < 1000);
        assert!(MatchStatus::parse(&long).unwrap_err().to_string().len() < 1000);
        let tools = (0..MANY).map(|at| format!("🦀{}", MANY - at)).collect();
        let harness = Harness { base_framework: Some(long), tools: Some(tools), ..Harness::default() };
        assert_eq!(harness.structural_hash().len(), 16);
    });
    for script in SCRIPTS {
        let harness = Harness { base_framework: Some(script.to_owned()), ..Harness::default() };
        assert!(harness.structural_hash().bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}

#[test]
fn payloads_of_many_unknown_members() {
    ends(|| {
        let unknown: Map<String, Value> = (0..MANY).map(|at| (format!("match_i{at}"), json!(1))).collect();
        let refused =
            grade_match(&Value::Object(unknown.clone()), &evaluator(), &MatchOptions::default(), None);
        assert!(refused.unwrap_err().len() >= MANY);
        assert!(Constraints::read(&Value::Object(unknown)).unwrap_err().len() >= MANY);
        let long = parts("/payload/answer", json!({"q": ten_megabytes("x"), ten_megabytes("y"): 1}));
        let grade = grade_match(&long, &evaluator(), &MatchOptions::default(), None).unwrap();
        assert!(grade.detail().to_string().len() < 10_000, "answers are cut in what was seen");
    });
}
