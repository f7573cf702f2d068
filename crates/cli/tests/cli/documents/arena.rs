//! The document of arena matches.

use karat::card::CompiledCard;
use serde_json::{Value, json};

use super::{alike, published, record, refusal, value};
use crate::common::{Folder, example, karat_reading};

/// Key, label, description and color of the core dimensions.
const CORE: [[&str; 4]; 7] = [
    ["correctness", "Correctness", "Accuracy of the primary answer or identification", "emerald"],
    ["completeness", "Completeness", "Coverage of all required targets, actions, or parts", "gold"],
    ["precision", "Precision", "Fraction of reported findings that are genuine", "coral"],
    ["methodology", "Methodology", "Quality of reasoning, investigation, and reporting", "purple"],
    ["speed", "Speed", "Time efficiency relative to the time limit", "sky"],
    ["code_quality", "Code Quality", "Quality of generated, modified, or optimized code", "coral"],
    ["analysis", "Analysis", "Depth of evidence gathering and source investigation", "gold"],
];

fn played(challenge: &str, changes: Value) -> Value {
    let mut item = json!({"match_id": "m", "agent_id": "a", "challenge": challenge, "verified": false});
    for (name, value) in changes.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

#[test]
fn the_core_dimensions_are_the_seven_of_the_table() {
    let card = CompiledCard::released("arena").unwrap();
    let found: Vec<[&str; 4]> = card
        .dimensions
        .iter()
        .map(|it| [it.key.as_str(), it.label.as_str(), it.description.as_str(), it.color.as_str()])
        .filter(|it| !it[0].ends_with("_efficiency"))
        .collect();
    assert_eq!(found, CORE);
    assert_eq!(card.dimensions.len(), 9, "and two of efficiency");
}

#[test]
fn a_challenge_picks_two_to_six_dimensions_whose_weights_sum_to_one() {
    let folder = Folder::new();
    let keys = CORE.map(|row| row[0]);
    for (weights, is_taken) in [
        (vec![1.0], false),
        (vec![0.4, 0.6], true),
        (vec![0.1, 0.2, 0.3, 0.1, 0.2, 0.1], true),
        (vec![0.1, 0.2, 0.2, 0.1, 0.2, 0.1, 0.1], false),
        (vec![0.4, 0.5], false),
        (vec![0.5, 0.6], false),
    ] {
        let dims: Vec<String> =
            keys.iter().zip(&weights).map(|(key, weight)| format!("{key} = {weight}")).collect();
        let card = format!(
            "schema = \"karat/scorecard/1\"\nid = \"own\"\nversion = \"1.0.0\"\ntitle = \"Own\"\n\
             base = \"arena@1.0.0\"\n[dims]\n{}\n",
            dims.join("\n")
        );
        folder.write("own.toml", &card);
        let run = folder.karat(&["card", "check", "own.toml"]);
        assert_eq!(run.status == 0, is_taken, "{weights:?}\n{}", run.screen());
    }
}

#[test]
fn a_total_is_the_sum_of_weighted_scores_rounded_down() {
    for scores in
        [[900, 780, 690, 760], [0, 0, 0, 0], [1000, 1000, 1000, 1000], [1, 1, 1, 1], [333, 667, 501, 998]]
    {
        let keys = ["correctness", "speed", "methodology", "completeness"];
        let given: serde_json::Map<String, Value> =
            keys.iter().zip(scores).map(|(key, score)| ((*key).to_owned(), json!(score))).collect();
        let record = record("log-forensics", &played("log-forensics", json!({"scores": given})));
        let total: u32 = scores.iter().zip([50, 20, 15, 15]).map(|(score, weight)| score * weight).sum();
        assert_eq!(published(&record), f64::from(total / 100), "{scores:?}");
        let answer = &record["match"];
        assert_eq!(answer["score"], total / 100);
        for ((key, score), weight) in keys.iter().zip(scores).zip([0.5, 0.2, 0.15, 0.15]) {
            let part = &answer["score_breakdown"][key];
            assert_eq!(
                (part["score"].as_f64(), part["weight"].as_f64()),
                (Some(f64::from(score)), Some(weight))
            );
            assert!(alike(part["weighted"].as_f64().unwrap(), f64::from(score) * weight), "{part}");
        }
    }
    // A dimension ends at 1000, and so does the total.
    for wrong in [1001.0, -1.0] {
        let given = played("log-forensics", json!({"scores": {"correctness": wrong}}));
        assert!(refusal("log-forensics", &given).contains("$.scores.correctness"));
    }
}

#[test]
fn a_result_is_a_loss_below_400_and_a_win_from_700() {
    for (score, total, result) in [
        (0.0, 0.0, "loss"),
        (399.0, 399.0, "loss"),
        (399.999, 399.0, "loss"),
        (400.0, 400.0, "draw"),
        (699.0, 699.0, "draw"),
        (699.5, 699.0, "draw"),
        (700.0, 700.0, "win"),
        (1000.0, 1000.0, "win"),
    ] {
        let keys = ["correctness", "speed", "methodology", "completeness"];
        let given: serde_json::Map<String, Value> =
            keys.iter().map(|key| ((*key).to_owned(), json!(score))).collect();
        let record = record("log-forensics", &played("log-forensics", json!({"scores": given})));
        assert_eq!((published(&record), record["band"].as_str()), (total, Some(result)), "{score}");
    }
}

/// Returns the value of speed, and the total with these other scores.
fn timed(used: f64, limit: f64, correctness: f64) -> (f64, f64) {
    let item = played(
        "cipher-relay",
        json!({"scores": {"correctness": correctness}, "time_used_secs": used, "time_limit_secs": limit}),
    );
    let record = record("cipher-relay", &item);
    (value(&record, "speed").unwrap(), published(&record))
}

#[test]
fn speed_falls_in_a_line_with_the_time_used() {
    for (used, limit, speed) in
        [(0.0, 300.0, 1.0), (150.0, 300.0, 0.5), (270.0, 300.0, 0.1), (300.0, 300.0, 0.0)]
    {
        assert_eq!(timed(used, limit, 1000.0).0, speed, "{used} of {limit}");
    }
}

#[test]
fn most_of_an_answer_early_beats_all_of_it_late() {
    let (early, late) = (timed(30.0, 300.0, 900.0), timed(300.0, 300.0, 1000.0));
    assert!(early.1 > late.1, "{early:?} {late:?}");
}

fn efficient(changes: Value) -> Value {
    let mut item = played(
        "lean-refactor",
        json!({"scores": {"correctness": 1000}, "time_used_secs": 1, "time_limit_secs": 10, "verified": true,
            "constraints": {"tokenBudget": 1000, "maxToolCalls": 10, "maxLlmCalls": 4},
            "trajectory": {"total_input_tokens": 200, "total_output_tokens": 50, "total_llm_calls": 1,
                "total_tool_calls": 5}}),
    );
    for (name, value) in changes.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

#[test]
fn efficiency_needs_a_verified_trajectory_and_limits() {
    let values = |item: Value| {
        let record = record("lean-refactor", &item);
        ["token_efficiency", "call_efficiency"].map(|key| value(&record, key).unwrap())
    };
    // A quarter of the tokens; half of the tool calls is the tighter of the two limits of calls.
    assert_eq!(values(efficient(json!({}))), [0.75, 0.5]);
    assert_eq!(values(efficient(json!({"verified": false}))), [0.0, 0.0]);
    assert_eq!(values(efficient(json!({"trajectory": null}))), [0.0, 0.0]);
    assert_eq!(values(efficient(json!({"constraints": {}}))), [0.0, 0.0]);
    assert_eq!(values(efficient(json!({"constraints": {"tokenBudget": 1000}}))), [0.75, 0.0]);
    assert_eq!(values(efficient(json!({"constraints": {"tokenBudget": 200, "maxLlmCalls": 1}}))), [0.0, 0.0]);
}

#[test]
fn a_warning_of_severity_error_makes_its_dimension_zero_and_another_is_advice() {
    let scored = |severity: &str| {
        let warnings = json!([{"severity": severity, "dimension": "methodology", "field": "why", "message": "not given"}]);
        let scores = json!({"correctness": 900, "speed": 780, "methodology": 690, "completeness": 760});
        let item = json!({"scores": scores, "submission_warnings": warnings});
        record("log-forensics", &played("log-forensics", item))
    };
    let (error, warning) = (scored("error"), scored("warning"));
    assert_eq!((published(&warning), published(&error)), (823.0, 720.0));
    assert_eq!((value(&warning, "methodology"), value(&error, "methodology")), (Some(0.69), Some(0.0)));
    for record in [&error, &warning] {
        assert_eq!(record["match"]["submission_warnings"][0]["field"], "why", "{record}");
    }
}

#[test]
fn only_the_result_moves_the_rating_and_verified_gains_grow() {
    let head = "agent,challenge,difficulty,score,verified,memoryless,attempt_number";
    let points = |row: &str| {
        let text = format!("{head}\nann,maze,contender,{row}\n");
        let run = karat_reading(&["rate", "--system", "elo", "--arena", "--json"], &text);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        found["boards"][0]["competitors"][0]["points"].as_f64().unwrap() - 1000.0
    };
    let base = points("1000,false,false,1");
    assert!(base > 0.0);
    for (row, gain) in [
        ("700,false,false,1", base),
        ("823,false,true,1", base),
        ("1000,true,false,1", (base * 1.1).round()),
        ("700,true,true,2", (base * 1.1).round()),
        ("700,true,true,1", (base * 1.2).round()),
    ] {
        assert_eq!(points(row), gain, "{row}");
    }
    assert_eq!(points("399,true,true,1"), points("0,false,false,1"), "a loss has no bonus");
    assert!(points("0,false,false,1") < 0.0);
}

#[test]
fn the_same_submission_has_the_same_score() {
    let folder = Folder::new();
    let lines: Vec<String> = (0..40)
        .map(|at| {
            let mut item: Value = serde_json::from_str(&example("raw/match.json")).unwrap();
            item["match_id"] = json!(format!("m-{at}"));
            item.to_string()
        })
        .collect();
    folder.write("matches.jsonl", &lines.join("\n"));
    let run = |jobs: &str| {
        folder.karat(&["score", "-c", "incident-review", "--jobs", jobs, "matches.jsonl"]).stdout
    };
    let (one, three) = (run("1"), run("3"));
    assert_eq!(one, three);
    let scores: Vec<Value> =
        one.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["match"].take()).collect();
    assert!(scores.len() == 40 && scores.iter().all(|score| *score == scores[0]), "{}", scores[0]);
}
