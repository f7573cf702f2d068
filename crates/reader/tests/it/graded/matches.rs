//! Matches as they were played.

use karat_graders::arena::Evaluator;
use karat_reader::{Graders, Kind};
use serde_json::{Value, json};

use super::{Read, example, read, reader};

const CHALLENGE: &str = include_str!("../../../../../scorecards/arena/challenges/incident-review.toml");

fn graders() -> Graders {
    let picked = ["correctness", "methodology", "speed", "completeness"];
    let evaluator = Evaluator::from_toml(CHALLENGE, &picked).unwrap();
    Graders { evaluator: Some(evaluator), ..Graders::default() }
}

fn play(item: &Value) -> Result<Read, String> {
    read(&mut reader(Kind::Match, graders()), &item.to_string())
}

fn played() -> Value {
    example("match.json").remove(0)
}

/// Returns the match with one value changed.
fn with(pointer: &str, value: Value) -> Value {
    let mut item = played();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    item.pointer_mut(parent).unwrap()[name] = value;
    item
}

#[test]
fn an_evaluator_scores_what_was_submitted() {
    let seen = play(&played()).unwrap();
    for (name, value) in [
        ("correctness_score", json!(950.0)),
        ("completeness_score", json!(750.0)),
        ("methodology_score", json!(666.666667)),
        ("speed_score", Value::Null),
        ("precision_score", Value::Null),
        ("time_used_seconds", json!(270.0)),
        ("time_limit_seconds", json!(900.0)),
        ("verified", json!(true)),
        ("total_tokens", json!(5200.0)),
        ("llm_calls", json!(2.0)),
    ] {
        assert_eq!(seen.facts[name], value, "{name}");
    }
    let mut names: Vec<_> = seen.grading.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["efficiency", "evaluation", "standing", "trajectory_validation", "usage"]);
    assert_eq!(seen.notes, [""; 0]);
}

#[test]
fn an_error_of_form_makes_its_dimension_zero_and_says_where() {
    let seen = play(&with("/payload/answer/summary", json!({"text": "It expired"}))).unwrap();
    assert_eq!(seen.facts["methodology_score"], 0.0);
    assert_eq!(seen.grading["submission_warnings"][0]["field"], "summary");
    let note = "$.payload.answer.summary: `summary` is an object, expected a text; an error of the submission \
                makes `methodology` 0";
    assert_eq!(seen.notes, [note]);
    // Correctness reads the field, so an error of it makes that 0.
    let mut item = played();
    item["payload"]["answer"].as_object_mut().unwrap().remove("cause").unwrap();
    let seen = play(&item).unwrap();
    assert_eq!(seen.facts["correctness_score"], 0.0);
    assert!(seen.notes[0].starts_with("$.payload.answer.cause: `cause` is missing"), "{:?}", seen.notes);
}

#[test]
fn what_the_arena_would_not_take_has_no_score() {
    for (item, expected) in [
        (
            with("/submitted_at", json!("2026-03-18T09:45:00.001Z")),
            "$.submitted_at: found 900.001 s of 900 s",
        ),
        (with("/status", json!("expired")), "$.submitted_at: found 270 s of 900 s: the match has expired"),
        (with("/status", json!("completed")), "$.status: found `completed`"),
        (with("/requester_id", json!("agent-magpie")), "$.requester_id: found `agent-magpie`"),
        (with("/submitted_at", json!("2026-03-18T09:29:59Z")), "$.submitted_at"),
    ] {
        let problem = play(&item).unwrap_err();
        assert!(problem.starts_with(expected), "{problem}");
    }
    // The last moment is in time.
    let last = play(&with("/submitted_at", json!("2026-03-18T09:45:00Z"))).unwrap();
    assert_eq!(last.facts["time_used_seconds"], 900.0);
}

#[test]
fn every_problem_has_its_path_and_line_in_the_item() {
    for (item, expected) in [
        (with("/constraints/tokenBudget", json!(1.5)), "$.constraints.tokenBudget: found the number `1.5`"),
        (with("/constraints/oddity", json!(1)), "$.constraints.oddity: found `oddity`"),
        (
            with("/constraints/tokenBudget", json!(9_007_199_254_740_993_u64)),
            "$.constraints.tokenBudget: found ",
        ),
        (with("/attempt_number", json!(9_007_199_254_740_993_u64)), "$.attempt_number: found "),
        (with("/agent_id", json!("  ")), "$.agent_id: found the text `  `"),
        (with("/agent_id", Value::Null), "$.agent_id: found nothing"),
        (with("/payload/answer", json!([1])), "$.payload.answer: found "),
        (with("/ground_truth/services", json!(4)), "$.ground_truth.services: found "),
        (with("/scores", json!({"correctness": 1000})), "$.scores: found `scores`"),
    ] {
        let text = serde_json::to_string_pretty(&item).unwrap();
        let problem = read(&mut reader(Kind::Match, graders()), &text).unwrap_err();
        assert!(problem.starts_with(expected) && problem.lines().count() == 1, "{problem}");
        let (path, rest) = problem.split_once(": found ").unwrap();
        let (_, place) = rest.split_once(" (line ").unwrap();
        let line: usize = place.split(',').next().unwrap().parse().unwrap();
        let name = path.rsplit('.').next().unwrap();
        let there = text.lines().nth(line - 1).unwrap();
        assert!(there.contains(&format!("\"{name}\": ")), "{problem}: {there}");
    }
}

#[test]
fn without_an_evaluator_a_played_match_is_refused() {
    let problem = read(&mut reader(Kind::Match, Graders::default()), &played().to_string()).unwrap_err();
    assert!(problem.starts_with("$.payload: found a match as it was played, expected a match with `scores`"));
    assert!(problem.contains("whose card has an `evaluator`"), "{problem}");
}

/// `null` means what is not there, so this match was graded elsewhere.
#[test]
fn a_match_with_scores_is_read_with_or_without_an_evaluator() {
    let graded =
        json!({"agent_id": "a", "payload": null, "scores": {"correctness": 500}, "seed": 4}).to_string();
    for graders in [graders(), Graders::default()] {
        let seen = read(&mut reader(Kind::Match, graders), &graded).unwrap();
        assert_eq!((&seen.facts["correctness_score"], &seen.grading), (&json!(500.0), &Value::Null));
    }
}

#[test]
fn a_claim_of_the_agent_is_no_trajectory() {
    let mut item = played();
    item["payload"]["metadata"].as_object_mut().unwrap().remove("replay_log").unwrap();
    let seen = play(&item).unwrap();
    assert_eq!(seen.facts["verified"], false);
    assert_eq!((&seen.facts["total_tokens"], &seen.facts["llm_calls"]), (&Value::Null, &Value::Null));
    assert_eq!(seen.grading["trajectory_validation"], Value::Null);
}

/// A reader uses its memory again: nothing of one match is left for the next one.
#[test]
fn one_match_leaves_nothing_to_the_next() {
    let mut reader = reader(Kind::Match, graders());
    let first = read(&mut reader, &played().to_string()).unwrap();
    let error = with("/payload/answer/summary", json!(7));
    assert_eq!(read(&mut reader, &error.to_string()).unwrap().notes.len(), 1);
    read(&mut reader, &with("/status", json!("expired")).to_string()).unwrap_err();
    let graded = json!({"agent_id": "a", "scores": {"correctness": 500}}).to_string();
    assert_eq!(read(&mut reader, &graded).unwrap().grading, Value::Null);
    assert_eq!(read(&mut reader, &played().to_string()).unwrap(), first);
}

/// A log in which any check failed is worth no more than none, and the record says which and where.
#[test]
fn a_failed_check_leaves_nothing_of_a_trajectory() {
    let files = json!({"notes.txt": "the text"});
    let step = |path: &str, output: &str| {
        json!({"type": "tool_call", "ts": "2026-03-18T09:30:05Z", "tool": "read", "input": path, "output": output,
               "duration_ms": 1})
    };
    let with_step = |step: Value| {
        let mut item = played();
        item["workspace_files"] = files.clone();
        item["memoryless"] = true.into();
        item["attempt_number"] = 1.into();
        let log = item.pointer_mut("/payload/metadata/replay_log").unwrap().as_array_mut().unwrap();
        log.retain(|step| step["type"] == "llm_call");
        log.insert(0, step);
        play(&item).unwrap()
    };
    let good = with_step(step("notes.txt", "the text"));
    assert_eq!(good.suspicions, [""; 0]);
    assert_eq!((&good.facts["verified"], &good.facts["llm_calls"]), (&json!(true), &json!(2.0)));
    assert_eq!(good.grading["standing"]["benchmark_grade"], true);
    let late = json!({"type": "tool_call", "ts": "2027-03-18T09:30:05Z", "tool": "ls", "input": "", "duration_ms": 1});
    for (step, why) in [
        (step("notes.txt", "forged"), "what was read is not the text of `notes.txt`"),
        (step("ghost.txt", "anything"), "`ghost.txt` is not in the workspace"),
        (late, "`2027-03-18T09:30:05Z` is "),
    ] {
        let seen = with_step(step);
        assert_eq!(seen.facts["verified"], false, "{why}");
        for fact in ["total_tokens", "llm_calls", "tool_calls"] {
            assert_eq!(seen.facts[fact], Value::Null, "{fact}: {why}");
        }
        assert_eq!(seen.grading["standing"]["benchmark_grade"], false);
        let expected = format!("$.payload.metadata.replay_log[0]: not verified: {why}");
        assert!(
            seen.suspicions.len() == 1 && seen.suspicions[0].starts_with(&expected),
            "{:?}",
            seen.suspicions
        );
    }
}

/// A double next to another would be full points for the wrong id.
#[test]
fn whole_numbers_are_told_apart_or_the_match_is_refused() {
    let long = ["9007199254740993", "1795794098088241123", "-1795794098088241123", "18446744073709551617"];
    for (primitive, options, form) in [
        ("exact_match", json!({}), "ID"),
        ("exact_match", json!({"deep": true}), r#"{"a": [{"b": ID}]}"#),
        ("exact_match_ratio", json!({"deep": true}), "[[ID]]"),
        ("numeric_tolerance", json!({"tolerance": 0}), "ID"),
        ("set_overlap", json!({}), "[ID]"),
        ("coverage_ratio", json!({}), "[ID]"),
    ] {
        let mut part = json!({"primitive": primitive, "field": "id"});
        part.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let evaluator =
            Evaluator::from_json(&json!({"evaluator": {"correctness": [part]}}), &["correctness"]).unwrap();
        let play = |answer: &str, truth: &str| {
            let graders = Graders { evaluator: Some(evaluator.clone()), ..Graders::default() };
            let mut item = played();
            item["payload"] = json!({"answer": {"id": "ANSWER"}});
            item["ground_truth"] = json!({"id": "TRUTH"});
            let form = |id: &str| form.replace("ID", id);
            let text =
                item.to_string().replace("\"ANSWER\"", &form(answer)).replace("\"TRUTH\"", &form(truth));
            read(&mut reader(Kind::Match, graders), &text)
                .map(|read| read.grading["evaluation"]["dimensions"][0]["value"].as_f64().unwrap())
        };
        for number in long {
            let (answer, truth) = (play(number, "1").unwrap_err(), play("1", number).unwrap_err());
            assert!(
                answer.contains(&format!("found `{number}`")) && answer.contains("$.payload.answer.id"),
                "{answer}"
            );
            assert!(truth.contains("$.ground_truth.id"), "{truth}");
        }
        for (answer, truth) in
            [("9007199254740992", "9007199254740994"), ("1795794098088241200", "1795794098088241400")]
        {
            assert_eq!(play(answer, answer), Ok(1.0), "{primitive} {answer}");
            assert!(play(answer, truth).unwrap() < 1.0, "{primitive} {answer} {truth}");
        }
        // As a text with all its digits it is another one.
        let text = format!("\"{}\"", long[1]);
        assert!(play(&text, "1795794098088241200").unwrap() < 1.0, "{primitive}");
        if form == "ID" {
            let twice = play("1, \"id\": 1", "1").unwrap_err();
            assert!(twice.contains("$.payload.answer.id: found the key a second time"), "{twice}");
        }
    }
}
