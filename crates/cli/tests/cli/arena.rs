//! The arena on the command line: challenges from a family, the answer in every record of a match, careers.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Folder, finish, karat, karat_reading, root};

fn rated(text: &str) -> Value {
    let run = karat_reading(&["rate", "--system", "elo", "--arena", "--json"], text);
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the rating of the only agent.
fn rating(text: &str) -> i64 {
    let found = rated(text);
    assert_eq!(found["arena"]["agents"].as_array().unwrap().len(), 1, "{found}");
    let points = found["arena"]["agents"][0]["career"]["rating_points"].as_i64().unwrap();
    assert_eq!(found["boards"][0]["competitors"][0]["points"], points, "the board has the same");
    points
}

fn refused(text: &str, flags: &[&str]) -> String {
    let run = karat_reading(&[&["rate", "--system", "elo", "--arena"], flags].concat(), text);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{text}");
    run.stderr
}

#[test]
fn difficulty_trust_and_attempt_move_a_career() {
    let head = "agent,challenge,difficulty,result,verified,memoryless,attempt_number\n";
    for (row, expected) in [
        ("ann,maze,contender,win,true,true,1", 1019),
        ("ann,maze,contender,win,true,true,2", 1018),
        ("ann,maze,contender,win,true,false,1", 1018),
        ("ann,maze,contender,win,false,true,1", 1016),
        ("ann,maze,contender,win,1,yes,1", 1019),
        ("ann,maze,contender,win,,,", 1016),
        ("ann,maze,contender,win,true,true,", 1018),
        ("ann,maze,newcomer,win,false,false,1", 1008),
        ("ann,maze,veteran,win,true,true,1", 1029),
        ("ann,maze,legendary,win,true,true,1", 1035),
        ("ann,maze,legendary,draw,true,false,1", 1014),
        ("ann,maze,contender,draw,true,true,1", 1000),
        ("ann,maze,contender,loss,true,true,1", 984),
        ("ann,maze,legendary,loss,true,true,1", 997),
        ("ann,maze,legendary,expired,true,true,1", 1000),
        ("ann,maze,,win,true,true,1", 1019),
    ] {
        assert_eq!(rating(&format!("{head}{row}\n")), expected, "{row}");
    }
}

#[test]
fn claims_are_said_to_be_claims() {
    let head = "agent,challenge,difficulty,result,memoryless,attempt_number,verified,verified_by,harness_memoryless\n";
    for (rest, expected, by, is_claim) in [
        ("true,,", 1019, json!("claimed"), true),
        ("true,claimed,", 1019, json!("claimed"), true),
        ("true,claimed,false", 1019, json!("claimed"), true),
        ("true,checked,", 1018, json!("checked"), false),
        ("true,checked,false", 1018, json!("checked"), false),
        ("true,harness,false", 1018, json!("harness"), false),
        ("true,harness,true", 1019, json!("harness"), false),
        ("false,,true", 1016, Value::Null, false),
    ] {
        let text = format!("{head}ann,maze,contender,win,true,1,{rest}\n");
        assert_eq!(rating(&text), expected, "{rest}");
        let arena = &rated(&text)["arena"];
        assert_eq!(arena["matches"][0]["verified_by"], by, "{rest}");
        let told = arena["notes"].to_string().contains("claims of the rows, which nothing here checked");
        assert_eq!(told, is_claim, "{rest}");
    }
    for (rest, told) in [
        ("true,someone,", "`verified_by` is `someone`, expected `claimed`, `checked` or `harness`"),
        ("false,checked,", "`verified_by` names someone, where `verified` is not `true`"),
        ("true,harness,maybe", "`harness_memoryless` is `maybe`"),
    ] {
        let error = refused(&format!("{head}ann,maze,contender,win,true,1,{rest}\n"), &[]);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_challenge_is_told_in_many_shapes() {
    for text in [
        "first,second,result,verified,memoryless,attempt_number\nann,bob,win,true,true,1\n",
        "first,second,score,verified,memoryless,attempt_number\nann,maze,700,true,true,1\n",
        "agent_id,difficulty,score,verified,memoryless,attempt_number\nann,contender,1000,true,true,1\n",
        "agent,second,result,verified,memoryless,attempt_number\nann,contender,first,true,true,1\n",
        "agent,difficulty,calibrated_difficulty,result,verified,memoryless,attempt_number\n\
         ann,legendary,contender,win,true,true,1\n",
        "{\"match_id\": \"m\", \"agent_id\": \"ann\", \"challenge\": \"maze\", \"state\": \"scored\", \"score\": 823, \
         \"result\": \"win\", \"verified\": true, \"memoryless\": true, \"attempt_number\": 1}\n",
    ] {
        assert_eq!(rating(text), 1019, "{text}");
    }
    let mapped = ["--columns", "first=who,second=task,difficulty=level,verified=proof"];
    let text = "who,task,level,result,proof\nann,maze,veteran,win,true\n";
    let run = karat_reading(&[&["rate", "--system", "elo", "--arena", "--json"], &mapped[..]].concat(), text);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["boards"][0]["competitors"][0]["points"], 1026);
    // Two competitors without any of this still meet each other.
    let found = rated("first,second,result\nann,bob,win\n");
    assert_eq!(found["boards"][0]["competitors"].as_array().unwrap().len(), 2);
    assert_eq!(found.get("arena"), None);
}

#[test]
fn each_step_is_told_in_json_and_on_the_screen() {
    let text = "id,agent,challenge,difficulty,category,result,verified,memoryless,attempt_number\n\
                m1,ann,maze,contender,logic,win,true,true,1\nm2,ann,maze,contender,logic,expired,,true,2\n";
    let found = rated(text);
    let steps = &found["arena"]["matches"];
    let expected = json!({
        "before_points": 1000, "after_points": 1019, "change_points": 19, "opponent_points": 1000, "expected": 0.5,
        "factor_points": 32, "play_points": 16, "floor_points": 0, "bonus_factor": 1.2, "bonus_points": 3,
        "category": {"name": "logic", "before_points": 1000, "after_points": 1016},
    });
    assert_eq!(steps[0]["rating"], expected);
    assert_eq!((&steps[1]["result"], &steps[1]["rating"]["change_points"]), (&json!("expired"), &json!(0)));
    let run = karat_reading(&["rate", "--system", "elo", "--arena", "--table"], text);
    for line in [
        "m1     ann    maze           1000  win        1000      32     0.500   +16",
        "m2     ann    maze           1000  expired    1019       0         -    +0",
        "expired: a draw that moves no rating: `m2`",
    ] {
        assert!(run.stdout.contains(line), "{line}\n{}", run.stdout);
    }
}

#[test]
fn columns_that_nothing_reads_are_named() {
    let text = "first,second,result,verified,venue\nann,bob,win,true,hall\n";
    let run = karat_reading(&["rate", "--system", "elo", "--json"], text);
    run.tells("note: columns that nothing reads: `venue` and `verified`");
    assert!(run.stderr.contains("--system elo --arena"), "{}", run.stderr);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["unread_columns"], json!(["venue", "verified"]));
    let run = karat_reading(&["rate", "--system", "elo", "--arena", "--json"], text);
    assert_eq!(run.stderr.trim(), "note: columns that nothing reads: `venue`");
}

#[test]
fn a_match_that_is_not_over_does_not_count() {
    let head = "id,agent,challenge,difficulty,result,score,state,verified,memoryless,attempt_number\n";
    // A match that is not over does not count, and a repeated row counts once.
    let open =
        "m1,ann,maze,veteran,,,entered,,,\nm2,ann,maze,veteran,win,,,,,\nm2,ann,maze,veteran,win,,,,,\n";
    let found = rated(&format!("{head}{open}"));
    assert_eq!(
        (&found["skipped_rows"], &found["boards"][0]["input"]["repeated_rows"]),
        (&json!(1), &json!(1))
    );
}

/// A match that karat did not see is graded after the document, and what it says of itself is a claim; with the nonce of a server,
/// the same code checks the log as there.
#[test]
fn the_log_of_a_match_is_checked_as_on_a_server() {
    let text = std::fs::read_to_string(root().join("examples/raw/match.json")).unwrap();
    let plain: Value = serde_json::from_str(&text).unwrap();
    let steps = plain["payload"]["metadata"]["replay_log"].as_array().unwrap().clone();
    let with_log = |nonce: Value, log: Vec<Value>| {
        let mut item = plain.clone();
        item["match_nonce"] = nonce;
        item["payload"]["metadata"]["replay_log"] = log.into();
        item
    };
    let chained = karat_graders::arena::chain("5f0c1d", steps.clone());
    let mut changed = chained.clone();
    changed[1]["output_tokens"] = json!(1);
    let mut free = steps.clone();
    free[1]["input_tokens"] = json!(0);
    free[1]["output_tokens"] = json!(0);
    let mut late = steps.clone();
    late.swap(0, 2);
    let mut short = steps.clone();
    short[0]["duration_ms"] = json!(-1);
    let nonce = || json!("5f0c1d");
    let tied = |steps| karat_graders::arena::chain("5f0c1d", steps);
    for (item, verified_by, failed) in [
        (plain.clone(), json!("claimed"), json!([])),
        (with_log(nonce(), chained.clone()), json!("checked"), json!([])),
        (with_log(json!("other"), chained), Value::Null, json!(["chained"])),
        (with_log(nonce(), steps), Value::Null, json!(["chained"])),
        (with_log(nonce(), changed), Value::Null, json!(["chained"])),
        (with_log(nonce(), tied(free)), Value::Null, json!(["tokens_counted"])),
        (with_log(nonce(), tied(late)), Value::Null, json!(["times_in_order"])),
        (with_log(nonce(), tied(short)), Value::Null, json!(["durations_possible"])),
    ] {
        let run = karat_reading(&["score", "-c", "incident-review", "--json"], &item.to_string());
        assert_eq!(run.status, 0, "{}", run.stderr);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
        let (standing, validation) =
            (&record["grading"]["standing"], &record["grading"]["trajectory_validation"]);
        assert_eq!(standing["verified_by"], verified_by, "{record}");
        assert_eq!(
            (&validation["failed_checks"], &standing["verified"]),
            (&failed, &json!(!verified_by.is_null()))
        );
        // Without a harness, only a match after the document takes the word of the agent.
        let is_claim = verified_by == "claimed";
        assert_eq!(
            standing["memoryless_by"],
            if is_claim { json!("claimed") } else { Value::Null },
            "{record}"
        );
        assert_eq!(standing["benchmark_grade"], is_claim);
    }
}

/// A match that was graded elsewhere says who vouches, or it is a claim; and never that someone vouches for what is not so.
#[test]
fn a_match_graded_elsewhere_names_its_voucher() {
    let text = std::fs::read_to_string(root().join("examples/arena/documented-823.json")).unwrap();
    let mut item: Value = serde_json::from_str(&text).unwrap();
    for name in ["verified", "verified_by", "memoryless", "memoryless_by", "trajectory_validation"] {
        item.as_object_mut().unwrap().remove(name);
    }
    let scored = |more: Value| {
        let mut item = item.clone();
        item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let run = karat_reading(&["score", "-c", "log-forensics", "--json"], &item.to_string());
        (run.status, run.stdout, run.stderr)
    };
    for (more, standing) in [
        (json!({}), Value::Null),
        (json!({"verified": false, "memoryless": false}), Value::Null),
        (json!({"verified": true}), json!({"verified_by": "claimed"})),
        (json!({"verified": true, "verified_by": "checked"}), json!({"verified_by": "checked"})),
        (
            json!({"verified": true, "verified_by": "harness", "memoryless": true, "memoryless_by": "harness"}),
            json!({"memoryless_by": "harness", "verified_by": "harness"}),
        ),
    ] {
        let (status, stdout, stderr) = scored(more.clone());
        assert_eq!(status, 0, "{more}: {stderr}");
        let record: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(record["grading"].get("standing").unwrap_or(&Value::Null), &standing, "{more}");
    }
    for (more, told) in [
        (json!({"verified": false, "verified_by": "checked"}), "a voucher of a match that is not `verified`"),
        (json!({"memoryless_by": "harness"}), "a voucher of a match that is not `memoryless`"),
        (json!({"verified": true, "verified_by": "me"}), "`claimed`"),
    ] {
        let (status, _, stderr) = scored(more.clone());
        assert!(status != 0 && stderr.contains(told), "{more}: {stderr}");
    }
}

#[test]
fn the_guide_chains_a_log() {
    let guide = std::fs::read_to_string(root().join("docs/guide/arena.md")).unwrap();
    let (_, rest) = guide.split_once("```python\n").unwrap();
    let (code, _) = rest.split_once("```").unwrap();
    let step = |text: &str| json!({"type": "tool_call", "ts": "2026-01-01T00:00:00Z", "tool": "say", "input": text, "duration_ms": 12});
    let steps = vec![step("one"), step("zw\u{f6}lf \"\u{1f980}\"\n"), step("")];
    let given = serde_json::to_string(&steps).unwrap();
    let code =
        format!("import sys\n{code}\nprint(json.dumps(chained('5f0c1d', json.loads(sys.stdin.read()))))\n");
    let run = finish(Command::new("python3").arg("-c").arg(code), &given);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let log: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(log, karat_graders::arena::chain("5f0c1d", steps));
}

#[test]
fn a_challenge_is_written_from_its_family() {
    let folder = Folder::new();
    let dims = "correctness=0.40,methodology=0.25,speed=0.15,completeness=0.20";
    let texts = [
        "--describe", "correctness=Say \"why\"\nand how", "--label", "speed=Pace", "--dim-color",
        "speed=coral",
    ];
    let flags = ["card", "new", "my-task", "--base", "arena", "--dims", dims, "--out", "my-task.toml"];
    let run = folder.karat(&[&flags[..], &texts].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let checked = folder.karat(&["card", "check", "my-task.toml"]);
    assert!(checked.stdout.contains("my-task@0.1.0: usable, 0 errors, 0 warnings"), "{}", checked.stdout);
    let text = std::fs::read_to_string(folder.path().join("my-task.toml")).unwrap();
    for part in
        ["correctness  = 0.4\n", "description = \"Say \\\"why\\\"\\nand how\"", "label       = \"Pace\""]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let item = r#"{"match_id": "m", "agent_id": "a", "scores": {"correctness": 1000}, "time_used_secs": 0,
        "time_limit_secs": 10}"#;
    folder.write("match.json", &item.replace('\n', " "));
    let scored = folder.karat(&["score", "-c", "my-task.toml", "match.json"]);
    let record: Value = serde_json::from_str(&scored.stdout).unwrap();
    assert_eq!(record["match"]["score"], 550);
}

#[test]
fn a_choice_that_is_not_allowed_is_not_written() {
    let new = |dims: &str, more: &[&str]| {
        karat(&[&["card", "new", "my-task", "--base", "arena", "--dims", dims], more].concat())
    };
    for (dims, more, told) in [
        ("speed=1", &[][..], "1 dimensions are picked, it must be 2 to 6"),
        ("speed=0.5,analysis=0.4", &[], "the weights sum to 0.9"),
        ("speed=0.5,analysis=0.501", &[], "the weights sum to 1.001"),
        ("speed=0.5,speed=0.5", &[], "`speed` is picked twice"),
        ("speed=0.5,pace=0.5", &[], "the palette has no `pace`"),
        ("speed=NaN,analysis=0.5", &[], "the weight of `speed` is `NaN`, expected a number"),
        ("speed=true,analysis=0.5", &[], "is `true`, expected a number"),
        ("speed=0.3333333,analysis=0.6666667", &[], "at most six decimals"),
        ("speed=-0.5,analysis=1.5", &[], "the weight of `speed` is -0.5"),
        ("speed,analysis=1", &[], "`speed` is not a weight"),
        ("", &[], "is not a weight"),
        ("speed=0.5,analysis=0.5", &["--label", "speed="], "the label of `speed` is 0 long"),
        ("speed=0.5,analysis=0.5", &["--dim-color", "speed=red"], "the color of `speed` is `red`"),
        ("speed=0.5,analysis=0.5", &["--describe", "speed"], "is not a text of a dimension"),
        ("speed=0.5,analysis=0.5", &["--label", "speed=a", "--label", "speed=b"], "gives `speed` twice"),
    ] {
        let run = new(dims, more);
        assert_eq!((run.status, run.stdout.as_str()), (13, ""), "{dims}");
        assert!(run.stderr.contains(told), "{dims}: {}", run.stderr);
    }
    let long = format!("speed={}", "d".repeat(201));
    assert!(new("speed=0.5,analysis=0.5", &["--describe", &long]).stderr.contains("is 201 long"));
    // Texts of what is not picked are left out, and told.
    let run = new("speed=0.5,analysis=0.5", &["--label", "precision=Exact"]);
    assert!(run.status == 0 && !run.stdout.contains("Exact"), "{}", run.stdout);
    assert!(run.stderr.contains("`precision` is described and not picked"), "{}", run.stderr);
    let run = karat(&["card", "new", "x", "--base", "workflow", "--dims", "speed=1"]);
    assert!(run.stderr.contains("`workflow@1.0.0` is not a family"), "{}", run.stderr);
    assert_eq!(karat(&["card", "new", "x", "--dims", "speed=1"]).status, 2);
}

const GRADED: &str = r#"{"match_id": "m1", "agent_id": "bee", "scores": {"correctness": 900, "methodology": 500},
    "time_used_secs": 10, "time_limit_secs": 100, "verified": true, "harness_warning": "another harness",
    "constraint_violations": ["maxLlmCalls: 5 of 3"],
    "submission_warnings": [{"severity": "error", "field": "x", "message": "bad \"x\"", "dimension": "speed"},
        {"severity": "warning", "field": "coverage", "message": "2 missing"}]}"#;

#[test]
fn every_record_of_a_match_has_the_answer_of_the_arena() {
    let folder = Folder::new();
    folder.write("match.json", &GRADED.replace('\n', " "));
    let score = |card: &str, file: &str| {
        let run = folder.karat(&["score", "-c", card, file]);
        (serde_json::from_str::<Value>(&run.stdout).unwrap(), run.stdout)
    };
    let example = root().join("examples/arena/documented-823.json").display().to_string();
    let expected = json!({
        "score": 823,
        "score_breakdown": {
            "correctness": {"score": 900, "weight": 0.5, "weighted": 450},
            "speed": {"score": 780, "weight": 0.2, "weighted": 156},
            "methodology": {"score": 690, "weight": 0.15, "weighted": 103.5},
            "completeness": {"score": 760, "weight": 0.15, "weighted": 114},
        },
    });
    assert_eq!(score("log-forensics", &example).0["match"], expected);
    let (record, text) = score("log-forensics", "match.json");
    let found = &record["match"];
    assert_eq!(
        found["submission_warnings"],
        json!([
            {"severity": "error", "field": "x", "message": "bad \"x\"", "dimension": "speed"},
            {"severity": "warning", "field": "coverage", "message": "2 missing"},
        ])
    );
    assert_eq!(found["constraint_violations"], json!(["maxLlmCalls: 5 of 3"]));
    assert_eq!(found["harness_warning"], "another harness");
    assert_eq!(found["score_breakdown"]["speed"], json!({"score": 0, "weight": 0.2, "weighted": 0}));
    // It follows from the rest of the record, and is verified with it.
    folder.write("record.json", &text);
    let explained = folder.karat(&["explain", "--json", "record.json", "--evidence", "match.json"]);
    let explained: Value = serde_json::from_str(&explained.stdout).unwrap();
    assert_eq!((&explained["record"]["match"], &explained["verified"]), (found, &json!(true)));
    let screen = folder.karat(&["explain", "--table", "record.json"]).stdout;
    for line in
        ["Breakdown", "error at x: bad \"x\"; it makes speed 0", "maxLlmCalls: 5 of 3", "another harness"]
    {
        assert!(screen.contains(line), "{line}\n{screen}");
    }
    for (whole, changed) in [
        ("\"weighted\":450", "\"weighted\":451"),
        ("\"harness_warning\":\"another harness\",\"score\"", "\"score\""),
        ("\"score\":525", "\"score\":925"),
    ] {
        assert!(text.contains(whole), "{whole}\n{text}");
        folder.write("changed.json", &text.replacen(whole, changed, 1));
        assert_eq!(folder.karat(&["explain", "changed.json"]).status, 14, "{whole}");
    }
    let (other, _) =
        score("workflow", &root().join("examples/workflow/worked-example.json").display().to_string());
    assert_eq!(other.get("match"), None, "only matches have one");
}

#[test]
fn a_match_as_played_has_the_findings_of_its_grader() {
    let text = std::fs::read_to_string(root().join("examples/raw/match.json")).unwrap();
    let mut played: Value = serde_json::from_str(&text).unwrap();
    played["payload"]["answer"].as_object_mut().unwrap().remove("summary");
    played["payload"]["metadata"]["harness_id"] = json!("another");
    played["constraints"]["maxLlmCalls"] = json!(1);
    let run = karat_reading(&["score", "-c", "incident-review", "-"], &played.to_string());
    let record: Value = serde_json::from_str(&run.stdout).unwrap();
    let found = &record["match"];
    assert_eq!(found["submission_warnings"][0]["dimension"], "methodology");
    assert!(found["constraint_violations"][0].as_str().unwrap().starts_with("maxLlmCalls: 2 model calls"));
    assert!(found["harness_warning"].as_str().unwrap().contains("`another`"));
    assert_eq!(found["score_breakdown"]["methodology"]["score"], 0);
    let run = karat_reading(&["score", "--table", "-c", "incident-review", "-"], &played.to_string());
    assert!(run.stdout.contains("warning: maxLlmCalls: 2 model calls"), "{}", run.stdout);
}
