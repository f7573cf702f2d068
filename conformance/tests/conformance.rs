//! The engine against the published cases and against the second implementation, and the output of the runner.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value, json};

const VECTORS: [&str; 4] =
    ["vectors/workflow.jsonl", "vectors/arena.jsonl", "vectors/trace.jsonl", "vectors/trust.jsonl"];

/// The functions that the engine has.
const KNOWN: [&str; 75] = [
    "workflow.score", "dims", "dims.custom_key", "validate_dimensions", "weighted_total",
    "finalize_breakdown", "score_to_result", "speed_score", "evaluate", "weights_guard", "effective_weights",
    "composite_covered", "to_thousand", "quality.rag", "quality.rag_tokens", "quality.agent",
    "quality.data_transform", "quality.code_graded", "quality.code_patterns", "quality.dispatch",
    "dag.validate", "dataref.resolve", "execute.account", "warmup.scale", "audit.jump", "exact_match",
    "exact_match_ratio", "numeric_tolerance", "fuzzy_string", "fuzzy_string.astral", "time_decay",
    "api_call_efficiency", "coverage_ratio", "set_overlap", "declarative_score", "efficiency",
    "efficiency_from_replay", "constraint_violations", "validate_trajectory", "validate_submission_payload",
    "submission_gate", "harness_warning", "validate_required_strings", "validate_flat_answers",
    "parse_evaluator_output", "structural_hash", "cache", "eigentrust", "jury_trim_median",
    "workflow.window", "weights.cap", "weights.proportional_cap", "weights.quantise", "weights.due",
    "lifecycle.run", "calibrate_difficulty", "calibrate_from_matches", "anomaly_flag", "score_pipeline",
    "decay_points_whole_weeks", "decay_points_fractional_weeks", "decay_composite_whole_weeks",
    "decay_composite_fractional_weeks", "decay_per_dimension_whole_1000",
    "decay_per_dimension_fractional_1000", "decay_per_dimension_whole_100",
    "decay_per_dimension_fractional_100", "elo_update", "settle_match", "settle_match.draw_bonus", "title",
    "benchmark_metrics", "challenge_stats", "score_trend", "track_score",
];

/// The output of a run.
struct Run {
    stdout: String,
    stderr: String,
    status: i32,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs the runner in a folder, with `input` on its standard input.
fn run_in(folder: &Path, arguments: &[&str], input: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karat-conformance"));
    finish(command.current_dir(folder).args(arguments), input)
}

fn finish(command: &mut Command, input: &str) -> Run {
    let streams = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = streams.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // A program that refuses its arguments does not read its input.
    drop(writer.join());
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

/// Returns the published cases, line by line.
fn cases() -> Vec<Value> {
    let text = VECTORS.map(|file| fs::read_to_string(root().join(file)).unwrap()).concat();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_refused(case: &Value) -> bool {
    case["tags"].as_array().is_some_and(|tags| tags.contains(&json!("schema_invalid")))
}

fn is_known(case: &Value) -> bool {
    KNOWN.iter().any(|name| case["fn"] == *name)
}

fn run(flags: &[&str], cases: &[Value]) -> Run {
    let input: String = cases.iter().map(|case| format!("{case}\n")).collect();
    run_in(&root(), &[&["-"], flags].concat(), &input)
}

fn summary(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

fn answers(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_published_case_of_a_known_function_passes() {
    let mut wanted: BTreeMap<String, [u64; 4]> = BTreeMap::new();
    for case in cases() {
        let place = if !is_known(&case) { 3 } else { usize::from(is_refused(&case)) * 2 };
        wanted.entry(case["fn"].as_str().unwrap().to_owned()).or_default()[place] += 1;
    }
    assert!(KNOWN.iter().all(|name| wanted.contains_key(*name)), "a function without a case");
    for flags in [&["--json"][..], &["--json", "--portable"]] {
        let run = run_in(&root(), &[flags, &VECTORS].concat(), "");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
        let counts =
            |row: &Value| ["passed", "failed", "refused", "unknown"].map(|name| row[name].as_u64().unwrap());
        let functions = summary(&run)["functions"].as_array().unwrap().clone();
        let found: BTreeMap<String, [u64; 4]> =
            functions.iter().map(|row| (row["fn"].as_str().unwrap().to_owned(), counts(row))).collect();
        assert_eq!(found, wanted);
    }
}

#[test]
fn a_refusal_says_why() {
    let refused: Vec<Value> = cases().into_iter().filter(is_refused).collect();
    let summary = summary(&run(&["--json"], &refused));
    let reasons: Vec<&str> =
        summary["refusals"].as_array().unwrap().iter().map(|row| row["reason"].as_str().unwrap()).collect();
    assert_eq!(reasons.len(), 3);
    for (reason, place) in reasons.iter().zip(["$.steps:", "$.steps[0].tool.name:", "$.steps[4].type:"]) {
        assert!(reason.starts_with(place), "{reason}");
    }
}

/// Cases that come out in every way there is.
fn mixed() -> Vec<Value> {
    vec![
        json!({"id": "win", "fn": "score_to_result", "input": {"score": 700}, "expected": {"result": "win"}}),
        json!({"id": "draw", "fn": "score_to_result", "input": {"score": 699.999}, "expected": {"result": "draw"}}),
        json!({"id": "wrong", "fn": "score_to_result", "input": {"score": 399}, "expected": {"result": "win"}}),
        json!({"id": "beyond", "fn": "score_to_result", "input": {"score": 1001}, "expected": {"result": "win"}}),
        json!({"id": "later", "fn": "mulberry32", "input": {"seed": 1}, "expected": {"values": []}}),
        json!({
            "id": "parts",
            "fn": "weighted_total",
            "input": {
                "dimensions": [{"key": "correctness", "weight": 0.5}, {"key": "speed", "weight": 0.5}],
                "raw": {"correctness": 699, "speed": 699, "style": 7},
            },
            "expected": {"weighted": {"correctness": 350, "style": 1}, "total": 700, "result": "draw"},
        }),
    ]
}

#[test]
fn the_table_counts_by_function_and_says_what_is_wrong() {
    let run = run(&[], &mixed());
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stdout, @r#"
    function          passed   failed  refused  unknown
    score_to_result        2        1        1        -
    mulberry32             -        -        -        1
    weighted_total         -        1        -        -
    total                  2        2        1        1

    failed wrong (score_to_result) standard input:3
      result: expected "win", found "loss"
    failed parts (weighted_total) standard input:6
      total: expected 700, found 699
      weighted.correctness: expected 350, found 349.5
      weighted.style: expected 1, found nothing

    refused beyond (score_to_result) standard input:4
      `input.score` is `1001`, expected a number from 0 to 1000
    "#);
}

#[test]
fn the_summary_names_the_path_of_what_is_wrong() {
    let run = run(&["--json"], &mixed());
    assert_eq!(run.status, 1);
    let summary = summary(&run);
    assert_eq!(
        summary["failures"],
        json!([
            {
                "id": "wrong", "fn": "score_to_result", "place": "standard input:3",
                "differences": [{"path": "result", "expected": "win", "found": "loss"}],
            },
            {
                "id": "parts", "fn": "weighted_total", "place": "standard input:6",
                "differences": [
                    {"path": "total", "expected": 700, "found": 699},
                    {"path": "weighted.correctness", "expected": 350, "found": 349.5},
                    {"path": "weighted.style", "expected": 1},
                ],
            },
        ])
    );
    let counts = ["passed", "failed", "refused", "unknown", "bad_lines"].map(|name| summary[name].as_u64());
    assert_eq!(counts, [Some(2), Some(2), Some(1), Some(1), Some(0)]);
}

#[test]
fn emit_prints_one_line_per_case_in_order_and_compares_nothing() {
    let mut cases = mixed();
    for case in &mut cases {
        case.as_object_mut().unwrap().remove("expected");
    }
    let run = run(&["--emit"], &cases);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.stdout.lines().take(5).collect::<Vec<_>>(),
        [
            r#"{"id":"win","fn":"score_to_result","output":{"result":"win"}}"#,
            r#"{"id":"draw","fn":"score_to_result","output":{"result":"draw"}}"#,
            r#"{"id":"wrong","fn":"score_to_result","output":{"result":"loss"}}"#,
            r#"{"id":"beyond","fn":"score_to_result","refused":"`input.score` is `1001`, expected a number from 0 to 1000"}"#,
            r#"{"id":"later","fn":"mulberry32","refused":"unknown function `mulberry32`"}"#,
        ]
    );
}

#[test]
fn emit_answers_every_published_case() {
    let run = run_in(&root(), &[&["--emit"][..], &VECTORS].concat(), "");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let (answers, cases) = (answers(&run), cases());
    assert_eq!(answers.len(), cases.len());
    for (answer, case) in answers.iter().zip(&cases) {
        assert_eq!((&answer["id"], &answer["fn"]), (&case["id"], &case["fn"]));
        let member = if is_known(case) && !is_refused(case) { "output" } else { "refused" };
        assert_eq!(answer.as_object().unwrap().len(), 3, "{answer}");
        assert!(answer.get(member).is_some(), "{answer}");
    }
}

#[test]
fn a_wrong_expectation_fails_wherever_it_stands() {
    // Every number, text and flag of every expectation is made wrong once.
    let mut wrong = Vec::new();
    for case in cases().iter().filter(|case| is_known(case) && !is_refused(case)) {
        for (name, value) in case["expected"].as_object().unwrap() {
            let other = match value {
                Value::Number(number) => json!(number.as_f64().unwrap() + 0.001),
                Value::Bool(flag) => json!(!flag),
                Value::String(text) => json!(format!("{text}1/7")),
                Value::Array(_) => json!(["neither"]),
                Value::Object(_) => json!({"no such member": 1}),
                Value::Null => json!(0),
            };
            let mut case = case.clone();
            case["expected"][name] = other;
            case["id"] = json!(name);
            wrong.push(case);
        }
    }
    let run = run(&["--json"], &wrong);
    assert_eq!(run.status, 1);
    let summary = summary(&run);
    assert_eq!((summary["passed"].as_u64(), summary["failed"].as_u64()), (Some(0), Some(wrong.len() as u64)));
    for failure in summary["failures"].as_array().unwrap() {
        let (name, path) =
            (failure["id"].as_str().unwrap(), failure["differences"][0]["path"].as_str().unwrap());
        assert!(path.starts_with(name), "{failure}");
    }
}

#[test]
fn a_case_may_say_how_far_its_numbers_may_be_off() {
    let case = |expected: Value, tolerance: Value| {
        let mut case =
            json!({"id": "a", "fn": "speed_score", "input": {"elapsed_secs": 150, "limit_secs": 300}});
        case["expected"] = json!({ "score": expected });
        if !tolerance.is_null() {
            case["tolerance"] = tolerance;
        }
        run(&[], &[case]).status
    };
    assert_eq!(case(json!(500.000_000_001), Value::Null), 0);
    assert_eq!(case(json!(500.001), Value::Null), 1);
    assert_eq!(case(json!(500.001), json!(0.01)), 0);
    assert_eq!(case(json!(500.000_000_001), json!(0)), 1);
    assert_eq!(case(json!("1000/2"), json!(0)), 0, "a fraction is the number that it is");
    assert_eq!(case(json!("1001/2"), Value::Null), 1);
    assert_eq!(case(json!(500), json!(-1)), 1, "not a tolerance");
}

#[test]
fn a_line_without_a_case_is_told_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let good =
        r#"{"id": "x", "fn": "score_to_result", "input": {"score": 0}, "expected": {"result": "loss"}}"#;
    let lines = [
        "{\"id\": ",
        good,
        "",
        "[1]",
        "{\"fn\": \"dims\"}",
        "{\"id\": \"y\"}",
        "{\"id\": \"z\", \"fn\": \"score_to_result\", \"input\": {\"score\": 0}}",
        good,
    ];
    fs::write(folder.path().join("cases.jsonl"), lines.join("\r\n")).unwrap();
    let run = run_in(folder.path(), &["--json", "cases.jsonl"], "");
    assert_snapshot!(run.stderr, @r"
    error: cases.jsonl:1: this is not JSON: EOF while parsing a value, at column 6
    error: cases.jsonl:4: expected an object with `id`, `fn` and `input`
    error: cases.jsonl:5: `id` is not given, expected a text
    error: cases.jsonl:6: `fn` is not given, expected the name of a function
    error: cases.jsonl:7: `expected` is not given; --emit needs none
    ");
    let summary = summary(&run);
    let counts = ["passed", "failed", "bad_lines"].map(|name| summary[name].as_u64());
    assert_eq!((run.status, counts), (1, [Some(2), Some(0), Some(5)]));
    assert_eq!(summary["problems"].as_array().unwrap().len(), 5);

    let run = run_in(folder.path(), &["--emit", "cases.jsonl"], "");
    assert_eq!(
        (run.status, run.stdout.lines().count()),
        (1, 3),
        "what has no `expected` is answered all the same"
    );
    assert_eq!(run.stderr.lines().count(), 4);
}

#[test]
fn nothing_to_check_is_not_a_pass() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.jsonl"), "").unwrap();
    assert_eq!(run_in(folder.path(), &["empty.jsonl"], "").status, 1);
    assert_eq!(run_in(folder.path(), &["absent.jsonl"], "").status, 1);
    assert_eq!(run_in(folder.path(), &[], "").status, 2);
    // A name that the engine does not have, and an input that has no answer: neither says that anything is right.
    let cases = [mixed().remove(3), mixed().remove(4)];
    for flags in [&[][..], &["--json"]] {
        let run = run(flags, &cases);
        assert_eq!(run.status, 1, "{}", run.stdout);
        assert!(!flags.is_empty() || run.stdout.ends_with("\nno case passed, so nothing was checked\n"));
    }
    assert_eq!(run(&["--emit"], &cases).status, 0, "nothing is compared");
    let one_passes = [mixed().remove(0), mixed().remove(4)];
    assert_eq!(run(&[], &one_passes).status, 0);
}

#[test]
fn inputs_of_another_shape_are_refused_with_their_place() {
    let refused = |name: &str, input: Value| {
        let run = run(&["--emit"], &[json!({"id": "a", "fn": name, "input": input})]);
        answers(&run)[0]["refused"].as_str().unwrap_or_else(|| panic!("{name}: {}", run.stdout)).to_owned()
    };
    for name in KNOWN {
        for input in [json!(null), json!([]), json!("x")] {
            assert!(refused(name, input).starts_with("`input`"), "{name}");
        }
    }
    let custom =
        json!({"dimensions": [{"key": "speed", "weight": 0.5}, {"key": "style", "weight": 0.5}], "raw": {}});
    for (name, input, reason) in [
        ("workflow.score", json!({"output_quality": 2}), "facts.output_quality: found 2, expected at most 1"),
        ("workflow.score", json!({"timeouts": 0.5}), "facts.timeouts: found 0.5, expected a whole number"),
        ("workflow.score", json!({"timeouts": []}), "`input.timeouts` is `[]`, expected a number"),
        ("weighted_total", custom, "the palette has no `style`"),
        (
            "dims",
            json!({"weights": [["speed"]]}),
            "`input.weights[0]` is `[\"speed\"]`, expected a key and a weight",
        ),
        ("speed_score", json!({"elapsed_secs": 1}), "`input.limit_secs` is not given"),
        ("evaluate", json!({"trace": 1}), "`input.trace` is `1`, expected an object"),
        ("to_thousand", json!({"composite": "3/2"}), "expected a number from 0 to 1"),
        ("to_thousand", json!({"composite": "-1/2"}), "expected a number not below 0"),
        ("weights_guard", json!({"weights": {"accuracy": "0.1234567"}}), "at most six decimals"),
        ("composite_covered", json!({"dimensions": {"accurcy": "0.5"}}), "did you mean `accuracy`?"),
        ("composite_covered", json!({"dimensions": {"accuracy": "1.5"}}), "$.dimensions.accuracy"),
        (
            "composite_covered",
            json!({"dimensions": {"accuracy": "0.5"}, "weights": {"accuracy": "0.5"}}),
            "the merged weights sum to 1.39",
        ),
    ] {
        let found = refused(name, input);
        assert!(found.contains(reason), "{name}: {found}");
    }
}

#[test]
fn what_a_trace_says_of_its_own_novelty_does_not_count() {
    let mut case = cases().into_iter().find(|case| case["id"] == "shared-evaluate-0003").unwrap();
    assert_eq!(case["input"]["max_similarity"], Value::Null);
    case["input"]["trace"]["novelty"] = json!(1);
    assert_eq!(run(&[], &[case.clone()]).status, 0);
    for (similarity, novelty) in [(json!(0.25), 0.75), (json!(1.000_000_1), 0.0), (json!(-0.5), 1.0)] {
        case["input"]["max_similarity"] = similarity;
        let answer = &answers(&run(&["--emit"], &[case.clone()]))[0]["output"]["novelty"];
        assert_eq!(answer.as_f64(), Some(novelty));
    }
}

#[test]
fn the_second_implementation_gives_the_same_answers() {
    let model = finish(
        Command::new("python3").current_dir(root()).args(["reference/model.py", "conform"]).args(VECTORS),
        "",
    );
    assert_eq!(model.status, 0, "{}", model.stderr);
    let cases = cases();
    let (mut compared, mut refused) = (Vec::new(), Vec::new());
    for (case, answer) in cases.iter().zip(answers(&model)) {
        assert_eq!(answer["id"], case["id"]);
        let case = json!({
            "id": case["id"], "fn": case["fn"], "input": case["input"],
            "expected": answer["output"], "tolerance": 1e-12,
        });
        match answer["refused"].as_str() {
            None => compared.push(case),
            Some(why) if !why.starts_with("unknown fn") => refused.push(case),
            Some(_) => {}
        }
    }
    let of = |cases: &[Value]| {
        let run = run(&["--json"], cases);
        let summary = summary(&run);
        (run.status, summary["passed"].as_u64(), summary["refused"].as_u64(), summary["failures"].to_string())
    };
    assert!(compared.len() >= 80, "only {} cases", compared.len());
    assert_eq!(of(&compared), (0, Some(compared.len() as u64), Some(0), String::from("[]")));
    assert_eq!(of(&refused), (1, Some(0), Some(refused.len() as u64), String::from("[]")));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut command = Command::new("bash");
    let line = format!("{} --emit {} | head -n 1", env!("CARGO_BIN_EXE_karat-conformance"), VECTORS[0]);
    let run = finish(command.current_dir(root()).args(["-o", "pipefail", "-c", &line]), "");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout.lines().count(), 1);
}
