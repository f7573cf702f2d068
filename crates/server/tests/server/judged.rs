//! Matches whose challenge runs code: what is judged, what waits, what is void, and what is never shown.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_server::clock::Clock;
use karat_server::content::Stored as _;
use karat_server::judging::JudgeOptions;
use karat_server::{Options, arena};
use serde_json::{Value, json};

use crate::arena::START;
use crate::common::{Answer, Folder, Running};

const JSON: &str = "application/json";
/// Expected values and arguments that no answer may have.
const SECRETS: [&str; 3] = ["secret-argument", "secret-result", "secret-reference"];

const CASES: &str = r#"
function = "solve"

[[case]]
name   = "first"
args   = ["secret-argument"]
expect = "secret-result"

[[case]]
name   = "second"
args   = [2]
expect = 4
"#;

fn card() -> String {
    let digest = Digest::of(CASES.as_bytes());
    format!(
        r#"
schema  = "karat/scorecard/1"
id      = "coded"
version = "1.0.0"
title   = "A challenge that runs code"
about   = "Cases decide."
base    = "arena@1.0.0"

[dims]
correctness  = 0.6
completeness = 0.4

[submission]
runtime = "python"
files   = {{ "solution.py" = "/code" }}

[[evaluator.correctness]]
primitive = "tests"
cases     = "coded.cases.toml"
digest    = "{digest}"

[[evaluator.completeness]]
primitive = "tests"
cases     = "coded.cases.toml"
digest    = "{digest}"
"#
    )
}

fn challenge(slug: &str) -> Value {
    json!({
        "slug": slug, "title": "Code", "briefing": "Write `solve`.", "card": "coded@1.0.0", "category": "coding",
        "difficulty": "contender", "time_limit_seconds": 100, "files": {"coded.cases.toml": CASES},
        "instances": [{"seed": 7, "ground_truth": {}}, {"seed": 8, "ground_truth": {}}, {"seed": 9, "ground_truth": {}}],
    })
}

/// A judge that passes as many cases as the submission says `pass`. It does what the file `mood` says: `die`, `slow`, `broken`.
const JUDGE: &str = r#"#!/usr/bin/env python3
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
judge = {"engine": "fake 1.0", "version": "0.1.0", "runtime": "python", "runtime_digest": "sha256:" + "a" * 64}
def say(line):
    print(json.dumps(line), flush=True)
say({"karat-judge": 1, "version": "0.1.0", "engine": "fake 1.0", "runtimes": {"python": "sha256:" + "a" * 64}})
for line in sys.stdin:
    asked = json.loads(line)
    mood = open(os.path.join(here, "mood")).read()
    if mood == "die": sys.exit("out of memory")
    if mood == "slow": time.sleep(5)
    if mood == "broken":
        fault = {"file": "coded.cases.toml", "place": "case first", "found": "secret-result", "expected": "sense"}
        say({"id": asked["id"], "refused": [fault]})
        continue
    passes = asked["job"]["files"]["solution.py"].count("pass")
    results = []
    for task in asked["job"]["tasks"]:
        cases = [{"name": case["name"], "value": float(place < passes), "fuel": 100 + place,
                  "verdict": "pass" if place < passes else "fail"} for place, case in enumerate(task["cases"])]
        for case in cases:
            if case["verdict"] == "fail": case["reason"] = "exception: ValueError"
        results.append({"kind": "cases", "cases": cases})
    say({"id": asked["id"], "report": {"judge": judge, "results": results}})
"#;

struct Judged {
    server: Running,
    clock: Clock,
    bee: String,
    judge: tempfile::TempDir,
}

impl Judged {
    fn new() -> Self {
        let judge = tempfile::tempdir().unwrap();
        let program = judge.path().join("judge");
        fs::write(&program, JUDGE).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(judge.path().join("mood"), "well").unwrap();
        let clock = Clock::fixed(START);
        let server = start(Folder::new(), Some(program), None, &clock);
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", card()).is(201);
        let it = Self { server, clock, bee: String::new(), judge };
        it.publish(&challenge("coded")).is(201);
        let body = json!({"agent_id": "bee"}).to_string();
        let made = it.server.post("/v1/arena/agents", Some(&it.server.admin), JSON, body);
        let bee = made.is(201).at("/secret").as_str().unwrap().to_owned();
        Self { bee, ..it }
    }

    fn mood(&self, mood: &str) {
        fs::write(self.judge.path().join("mood"), mood).unwrap();
    }

    fn publish(&self, challenge: &Value) -> Answer {
        self.server.post("/v1/arena/challenges", Some(&self.server.admin), JSON, challenge.to_string())
    }

    fn enter(&self) -> Answer {
        let body = json!({"challenge": "coded"}).to_string();
        self.server.post("/v1/arena/matches", Some(&self.bee), JSON, body)
    }

    fn submit(&self, attempt: u32, code: &str) -> Answer {
        let path = format!("/v1/arena/matches/bee.coded.{attempt}/submission");
        self.server.post(&path, Some(&self.bee), JSON, json!({"answer": {"code": code}}).to_string())
    }

    fn game(&self, attempt: u32) -> Value {
        self.server.get(&format!("/v1/arena/matches/bee.coded.{attempt}")).is(200).json()
    }

    /// Waits until the match is in this state.
    #[track_caller]
    fn becomes(&self, attempt: u32, state: &str) {
        let until = Instant::now() + Duration::from_secs(30);
        while self.game(attempt)["state"] != state && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(self.game(attempt)["state"], state);
    }

    /// Restarts the server, with or without its judge.
    fn restart(self, with_judge: bool) -> Self {
        let Self { server, clock, bee, judge } = self;
        let (admin, folder) = (server.admin.clone(), server.stop());
        let program = if with_judge { judge.path().join("judge") } else { judge.path().join("gone") };
        let server = start(folder, Some(program), Some(admin), &clock);
        Self { server, clock, bee, judge }
    }

    fn at(&self, seconds: i64) {
        self.clock.put(Timestamp { milliseconds: START.milliseconds + 1000 * seconds });
    }
}

fn start(folder: Folder, program: Option<PathBuf>, admin: Option<String>, clock: &Clock) -> Running {
    let judge = JudgeOptions { program, answer_within: Duration::from_secs(2), ..JudgeOptions::default() };
    let options = Options { judge, ..Options::default() };
    Running::with_clock("127.0.0.1:0", folder, options, admin, clock.clone())
}

#[test]
fn an_answer_is_run_and_each_case_has_a_verdict_and_a_reason() {
    let it = Judged::new();
    it.enter().is(201);
    let scored = it.submit(1, "pass # once");
    assert_eq!(scored.is(201).at("/score"), 500.0, "{}", scored.body);
    let again = it.submit(1, "pass # once");
    assert_eq!(again.is(200).at("/record_position"), scored.at("/record_position"));
    it.submit(1, "pass pass").is_problem(409, "conflict");
    let position = scored.at("/record_position").as_u64().unwrap();
    let record = it.server.get(&format!("/v1/records/{position}"));
    let execution = record.is(200).at("/record/grading/execution");
    assert_eq!(execution["seed"], scored.at("/seed"));
    assert_eq!(execution["judge"]["engine"], "fake 1.0", "{}", record.body);
    assert_eq!(execution["tasks"][0]["cases"][0]["verdict"], "pass");
    assert_eq!(execution["tasks"][0]["cases"][1]["reason"], "exception: ValueError");
    assert_eq!(scored.at("/execution/tasks/0/cases/1/fuel"), 101, "{}", scored.body);
    // The evidence of the match gives the same bytes to the library.
    let evidence = it.server.get(&format!("/v1/evidence/{}", position - 1));
    let library = |name: &str| karat::cards::library(name);
    let text = karat::cards::CardText { name: String::from("coded"), text: card() };
    let compiled = karat::card::CompiledCard::checked(&text, &library).unwrap();
    let mut engine = karat::engine::Engine::new(compiled, karat::engine::Options::default()).unwrap();
    let mut bytes = Vec::new();
    let given = evidence.is(200).at("/content").to_string();
    engine.visit(given.as_bytes(), |scored| scored.write(&mut bytes)).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&bytes).unwrap(), record.at("/record"));
    let receipt = it.server.get(scored.at("/receipt").as_str().unwrap());
    assert!(receipt.is(200).body.contains("fake 1.0"), "{}", receipt.body);
    assert_eq!(it.server.get("/healthz").at("/judge/engine"), "fake 1.0");
}

#[test]
fn a_judge_that_fails_costs_nothing_and_the_answer_waits() {
    let it = Judged::new();
    it.enter().is(201);
    it.mood("die");
    let waits = it.submit(1, "pass pass");
    assert_eq!(waits.is(202).at("/state"), "submitted", "{}", waits.body);
    assert!(waits.header("retry-after").is_some() && waits.at("/blind").is_string());
    assert!(waits.at("/payload").is_null() && waits.at("/score").is_null());
    // Long after the time limit it has neither expired nor lost.
    it.at(10_000);
    assert_eq!(it.game(1)["state"], "submitted");
    it.submit(1, "pass").is_problem(409, "conflict");
    it.enter().is(200);
    let agent = it.server.get("/v1/arena/agents/bee");
    assert_eq!((agent.at("/open_match"), agent.at("/history")), (json!("bee.coded.1"), json!([])));
    it.submit(1, "pass pass").is(202);

    // A restart forgets nothing, and a judge that is well again decides.
    let it = it.restart(false);
    assert_eq!(it.game(1)["state"], "submitted");
    it.submit(1, "pass pass").is(202);
    it.mood("well");
    let it = it.restart(true);
    it.becomes(1, "scored");
    let game = it.game(1);
    assert_eq!((&game["score"], &game["submitted_at"]), (&json!(1000.0), &json!("2026-01-01T00:00:00Z")));
    it.submit(1, "pass pass").is(200);
}

#[test]
fn an_agent_does_not_wait_for_a_slow_judge_and_gets_its_verdict_later() {
    let it = Judged::new();
    it.enter().is(201);
    it.mood("slow");
    let began = Instant::now();
    assert_eq!(it.submit(1, "pass pass").is(202).at("/state"), "submitted");
    assert!(began.elapsed() < Duration::from_millis(4500), "{:?}", began.elapsed());
    it.becomes(1, "scored");
    assert_eq!(it.submit(1, "pass pass").is(200).at("/score"), 1000.0);
}

#[test]
fn a_broken_challenge_makes_the_match_void_and_an_administrator_can() {
    let it = Judged::new();
    it.enter().is(201);
    it.mood("broken");
    let void = it.submit(1, "pass");
    assert_eq!((void.is(202).at("/state"), void.at("/cause")), (json!("void"), json!("challenge")));
    assert!(void.header("retry-after").is_none());
    assert_eq!(it.submit(1, "pass").is(202).at("/state"), "void");
    let agent = it.server.get("/v1/arena/agents/bee");
    assert_eq!((agent.at("/open_match"), agent.at("/history")), (Value::Null, json!([])));
    assert!(agent.at("/next_commitment").is_string(), "{}", agent.body);

    it.enter().is(201);
    let path = "/v1/arena/matches/bee.coded.2/void";
    it.server.post(path, Some(&it.server.admin), JSON, "").is_problem(409, "conflict");
    it.mood("die");
    it.submit(2, "pass").is(202);
    it.server.post(path, Some(&it.bee), JSON, "").is_problem(403, "forbidden");
    assert_eq!(it.server.post(path, Some(&it.server.admin), JSON, "").is(200).at("/cause"), "operator");
    it.server.post(path, Some(&it.server.admin), JSON, "").is(200);
    it.mood("well");
    it.enter().is(201);
    assert_eq!(it.submit(3, "pass pass").is(201).at("/score"), 1000.0);
    assert_eq!(it.server.get("/v1/arena/matches?state=void").at("/matches").as_array().unwrap().len(), 2);
    let it = it.restart(true);
    assert_eq!([1, 2, 3].map(|attempt| it.game(attempt)["state"].clone()), ["void", "void", "scored"]);
}

#[test]
fn an_answer_with_nothing_to_run_scores_nothing_and_a_bad_one_can_be_corrected() {
    let it = Judged::new();
    it.mood("die");
    it.enter().is(201);
    // Refused before anything is kept: it may be sent again.
    let path = "/v1/arena/matches/bee.coded.1/submission";
    it.server
        .post(path, Some(&it.bee), JSON, json!({"answer": [1]}).to_string())
        .is_problem(422, "evidence-refused");
    assert_eq!(it.game(1)["state"], "entered");
    // Nothing to run needs no judge.
    let empty = it.server.post(path, Some(&it.bee), JSON, json!({"answer": {}}).to_string());
    assert_eq!(empty.is(201).at("/score"), 0.0, "{}", empty.body);
}

#[test]
fn hidden_values_are_never_shown() {
    let it = Judged::new();
    let mut with_reference = challenge("with-reference");
    with_reference["reference"] = json!({"code": "pass pass # secret-reference"});
    it.publish(&with_reference).is(201);
    it.enter().is(201);
    it.submit(1, "").is(201);
    it.mood("broken");
    it.enter().is(201);
    it.submit(2, "").is(202);
    let log = it.server.get("/v1/log").json();
    let size = log["size"].as_u64().unwrap_or(40);
    let paths =
        ["challenges", "challenges/coded", "challenges/with-reference", "matches", "agents/bee", "ratings"];
    let mut seen: Vec<String> = paths.iter().map(|path| format!("/v1/arena/{path}")).collect();
    seen.extend(
        ["/arena", "/arena/matches/bee.coded.1", "/arena/matches/bee.coded.2", "/healthz"].map(str::to_owned),
    );
    seen.extend((0..size).map(|position| format!("/v1/receipts/{position}")));
    for path in &seen {
        let body = it.server.get(path).body;
        for secret in SECRETS {
            assert!(!body.contains(secret), "{path} has `{secret}`: {body}");
        }
    }
    assert!(seen.len() > 20);
}

#[test]
fn a_challenge_is_published_with_its_files_and_a_reference_that_is_right() {
    let it = Judged::new();
    let refused = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut changed = challenge("changed");
        change(&mut changed);
        let answer = it.publish(&changed);
        answer.is_problem(400, "bad-request");
        assert!(answer.body.contains(expected), "{}", answer.body);
        assert!(!answer.body.contains("secret-result"), "{}", answer.body);
    };
    refused(&|it| it["files"] = json!({}), "coded.cases.toml");
    refused(&|it| it["files"]["coded.cases.toml"] = json!("[[case]]"), "digest");
    refused(&|it| it["files"]["other.py"] = json!(""), "other.py");
    refused(&|it| it["reference"] = json!({"code": "pass"}), "second");
    refused(&|it| it["reference"] = json!({}), "solution.py");
    it.mood("die");
    let mut right = challenge("right");
    right["reference"] = json!({"code": "pass pass"});
    it.publish(&right).is_problem(503, "no-verdict");
    it.mood("well");
    it.publish(&right).is(201);
    it.publish(&right).is(200);
    let content = arena::Content::parse(json!({"schema": "karat/arena-challenge/1"}).to_string().as_bytes());
    assert!(content.is_err());
}
