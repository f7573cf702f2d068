//! `karat judge`, and every command that scores matches of challenges that run code, with a judge that is a small script.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat_core::facts::Digest;
use karat_process::{Judges, Options as JudgeOptions};
use serde_json::{Value, json};

use crate::common::{Folder, Run, finish, program};
use crate::schema::satisfies;

/// A judge that runs Python by Python. Its engine is in the file `engine` beside it; `gone` there ends it.
const JUDGE: &str = r#"#!/usr/bin/env python3
import json, os, sys
here = os.path.dirname(os.path.abspath(__file__))
engine = open(os.path.join(here, "engine")).read()
digest = "sha256:" + "a" * 64
judge = {"engine": engine, "version": "0.1.0", "runtime": "python", "runtime_digest": digest}
def say(line):
    print(json.dumps(line), flush=True)
say({"karat-judge": 1, "version": "0.1.0", "engine": engine, "runtimes": {"python": digest}})
def ran(files, case):
    report = {"name": case["name"], "value": 0.0, "verdict": "fail", "fuel": 1234567}
    try:
        names = {}
        exec(compile(files["solution.py"], "solution.py", "exec"), names)
        if names[case["run"]["call"]["function"]](*case["run"]["call"]["args"]) == case["expect"]:
            report.update(value=1.0, verdict="pass")
    except Exception as error:
        report["reason"] = "exception: " + type(error).__name__
    return report
for line in sys.stdin:
    if engine == "gone": sys.exit("no engine")
    asked = json.loads(line)
    job = asked["job"]
    results = [{"kind": "cases", "cases": [ran(job["files"], case) for case in task["cases"]]} for task in job["tasks"]]
    say({"id": asked["id"], "report": {"judge": judge, "results": results}})
"#;

const CASES: &str = r#"
function = "clamp"

[[case]]
name   = "below"
args   = [-5, 0, 10]
expect = 0

[[case]]
name   = "far below"
args   = [-500, 0, 10]
expect = 0

[[case]]
name   = "above"
args   = [11, 0, 10]
expect = 10

[[case]]
name   = "between"
args   = [5, 0, 10]
expect = 5
"#;

const REFERENCE: &str = "\
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
";

fn card() -> String {
    let digest = Digest::of(CASES.as_bytes());
    let part = |dimension: &str| {
        format!(
            "[[evaluator.{dimension}]]\nprimitive = \"tests\"\ncases = \"cases.toml\"\ndigest = \"{digest}\"\n"
        )
    };
    format!(
        "schema = \"karat/scorecard/1\"\nid = \"clamp\"\nversion = \"1.0.0\"\ntitle = \"Clamp\"\nabout = \"Keep a number within.\"\n\
         base = \"arena@1.0.0\"\n[dims]\ncorrectness = 0.7\ncompleteness = 0.3\n[submission]\nruntime = \"python\"\n\
         files = {{ \"solution.py\" = \"/code\" }}\n{}{}",
        part("correctness"),
        part("completeness")
    )
}

fn played(code: &str) -> Value {
    json!({
        "match_id": "m-1", "agent_id": "bee", "started_at": "2026-01-01T00:00:00Z",
        "submitted_at": "2026-01-01T00:00:10Z", "time_limit_secs": 60, "attempt_number": 1, "memoryless": false,
        "ground_truth": {}, "payload": {"answer": {"code": code}},
    })
}

/// A folder with a challenge and a judge.
fn folder(engine: &str) -> Folder {
    let folder = Folder::new();
    folder.write("judge", JUDGE);
    fs::set_permissions(folder.path().join("judge"), fs::Permissions::from_mode(0o755)).unwrap();
    folder.write("engine", engine);
    folder.write("clamp.toml", &card());
    folder.write("cases.toml", CASES);
    folder.write("reference.py", REFERENCE);
    folder.write("wrong.py", &REFERENCE.replace("return high", "raise ValueError(high)"));
    folder.write("match.json", &played(REFERENCE).to_string());
    folder
}

fn karat(folder: &Folder, arguments: &[&str]) -> Run {
    let judge = folder.path().join("judge");
    finish(program(folder.path()).env("KARAT_JUDGE", judge).args(arguments), "")
}

fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn each_case_has_a_row_and_the_score_its_account() {
    let folder = folder("fake 1.0");
    let run = karat(&folder, &["judge", "clamp.toml", "wrong.py", "--table"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(run.screen());
    let right = record(&karat(&folder, &["judge", "clamp.toml", "reference.py"]));
    assert_eq!(right["score"]["published"], 1000);
    // An answer as JSON, alone or as it is submitted, and a folder are the same submission.
    folder.write("answer.json", &json!({"code": REFERENCE}).to_string());
    folder.write("payload.json", &json!({"answer": {"code": REFERENCE}}).to_string());
    fs::create_dir(folder.path().join("sent")).unwrap();
    folder.write("sent/solution.py", REFERENCE);
    for path in ["answer.json", "payload.json", "sent"] {
        assert_eq!(record(&karat(&folder, &["judge", "clamp.toml", path])), right, "{path}");
    }
}

#[test]
fn the_same_match_gives_the_same_bytes_by_every_way() {
    let folder = folder("fake 1.0");
    let by_score = karat(&folder, &["score", "-c", "clamp.toml", "match.json"]);
    assert_eq!((by_score.status, by_score.stderr.as_str()), (0, ""));
    let by_judge = karat(&folder, &["judge", "clamp.toml", "match.json"]);
    assert_eq!(by_score.stdout, by_judge.stdout);
    let card = CompiledCard::from_file(&folder.path().join("clamp.toml")).unwrap();
    let judges = Judges::found(Some(&folder.path().join("judge")), JudgeOptions::default());
    let options = Options { judge: Some(Arc::new(judges)), ..Options::default() };
    let mut engine = Engine::new(card, options).unwrap();
    let mut bytes = Vec::new();
    engine.visit(played(REFERENCE).to_string().as_bytes(), |scored| scored.write(&mut bytes)).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), by_score.stdout.trim_end());
    // With four threads as with one.
    let many: String = (0..12)
        .map(|number| {
            let mut one = played(REFERENCE);
            one["match_id"] = format!("m-{number}").into();
            format!("{one}\n")
        })
        .collect();
    folder.write("many.jsonl", &many);
    let jobs = |jobs: &str| karat(&folder, &["score", "-c", "clamp.toml", "--jobs", jobs, "many.jsonl"]);
    assert_eq!(jobs("1").stdout, jobs("4").stdout);
    for command in ["explain", "leaderboard"] {
        let run = karat(&folder, &[command, "-c", "clamp.toml", "match.json", "--json"]);
        assert!(run.status == 0 && run.stdout.contains("1000"), "{command}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_record_is_judged_again_and_another_judge_decides_nothing() {
    let folder = folder("fake 1.0");
    folder.write("record.json", &karat(&folder, &["score", "-c", "clamp.toml", "match.json"]).stdout);
    let again = || {
        karat(&folder, &["verify", "--rerun", "match.json", "--card", "clamp.toml", "record.json", "--json"])
    };
    let verified = again();
    assert_eq!(
        (verified.status, record(&verified)["status"].clone()),
        (0, json!("verified")),
        "{}",
        verified.stdout
    );
    folder.write("engine", "fake 2.0");
    let other = again();
    assert_eq!(other.status, 12, "{}", other.stdout);
    assert!(other.stdout.contains("fake 1.0") && other.stdout.contains("fake 2.0"), "{}", other.stdout);
    folder.write("engine", "gone");
    let gone = again();
    assert!(gone.status == 12 && gone.stdout.contains("there is no verdict here"), "{}", gone.stdout);
    folder.write("engine", "fake 1.0");
    folder.write("match.json", &played(&REFERENCE.replace("return high", "return low")).to_string());
    assert_eq!(again().status, 14);
    folder.write("match.json", "{}");
    assert_eq!(again().status, 1);
}

#[test]
fn without_a_judge_there_is_no_verdict_and_no_score() {
    let folder = folder("gone");
    let run = karat(&folder, &["judge", "clamp.toml", "reference.py"]);
    run.ends(12, "no engine");
    let scored = record(&karat(&folder, &["score", "-c", "clamp.toml", "match.json"]));
    assert_eq!((&scored["score"], &scored["evidence"]["outcome"]), (&Value::Null, &json!("no-verdict")));
    let nowhere = |arguments: &[&str]| {
        finish(program(folder.path()).env("PATH", "").env_remove("KARAT_JUDGE").args(arguments), "")
    };
    let run = nowhere(&["judge", "clamp.toml", "reference.py"]);
    run.ends(12, "--judge PATH");
    let run = nowhere(&["judge", "clamp.toml", "reference.py", "--judge", "cases.toml"]);
    run.ends(12, "may not be executed");
    // Nothing to run needs no judge.
    folder.write("empty.json", "{}");
    let empty = nowhere(&["judge", "clamp.toml", "empty.json"]);
    assert_eq!((empty.status, &record(&empty)["score"]["published"]), (0, &json!(0)));
}

#[test]
fn a_self_check_tells_the_reference_from_nothing() {
    let folder = folder("fake 1.0");
    let check = ["judge", "clamp.toml", "--self-check", "--reference"];
    let run = karat(&folder, &[&check[..], &["reference.py", "--table"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(run.screen());
    let answer = record(&karat(&folder, &[&check[..], &["reference.py", "--json"]].concat()));
    assert_eq!(answer["is_sound"], true);
    satisfies("judge-check", &answer.to_string());
    let wrong = karat(&folder, &[&check[..], &["wrong.py", "--json"]].concat());
    assert_eq!(wrong.status, 13);
    assert_eq!(record(&wrong)["reference"]["failed"], json!(["cases.toml: above"]));
    folder.write("engine", "gone");
    assert_eq!(karat(&folder, &[&check[..], &["reference.py"]].concat()).status, 12);
}

#[test]
fn what_cannot_be_judged_is_refused_with_a_hint() {
    let folder = folder("fake 1.0");
    let refused = |arguments: &[&str], status: i32, expected: &str| {
        let run = karat(&folder, arguments);
        assert_eq!(run.status, status, "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    };
    refused(&["judge", "incident-review", "reference.py"], 1, "runs nothing");
    refused(&["judge", "clamp.toml", "none.py"], 1, "none.py");
    refused(&["judge", "clamp.toml"], 2, "SUBMISSION");
    refused(&["judge", "clamp.toml", "--self-check"], 2, "--reference");
    refused(&["judge", "clamp.toml", "match.json", "--truth", "match.json"], 1, "leave out --truth");
    refused(&["judge", "-", "-"], 1, "only once");
    folder.write("list.json", "[1]");
    refused(&["judge", "clamp.toml", "list.json"], 1, "expected an object");
    folder.write("bad.py", "x");
    fs::write(folder.path().join("bad.py"), [0xff, 0xfe]).unwrap();
    refused(&["judge", "clamp.toml", "bad.py"], 1, "not UTF-8");
    folder.write("cases.toml", &CASES.replace("11", "12"));
    refused(&["judge", "clamp.toml", "reference.py"], 13, "cases.toml");
    refused(
        &["score", "-c", "workflow", "--judge", "judge", "match.json"],
        1,
        "--judge is for evidence of kind `match`",
    );
    refused(&["serve", "--judge", "nowhere"], 1, "--judge");
}
