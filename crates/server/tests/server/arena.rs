//! The promises of the arena: who may submit, when and how often, the scores, and that a restart changes nothing.

use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_graders::arena::{HarnessStatement, HarnessWord, chain};
use karat_server::clock::Clock;
use karat_server::{Options, arena};
use karat_store::log::Signer;
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};

/// The weights of the example in the document: 0.5, 0.2, 0.15 and 0.15.
pub const CARD: &str = r#"
schema  = "karat/scorecard/1"
id      = "documented"
version = "1.0.0"
title   = "The documented example"
about   = "Weights of the example of a score breakdown."
base    = "arena@1.0.0"

[dims]
correctness  = 0.5
speed        = 0.2
methodology  = 0.15
completeness = 0.15

[[evaluator.correctness]]
primitive = "exact_match_ratio"
field     = "parts"

[[evaluator.methodology]]
primitive = "exact_match_ratio"
field     = "steps"

[[evaluator.completeness]]
primitive = "exact_match_ratio"
field     = "targets"

[format]
required_strings = ["summary"]

[format.dimensions]
summary = ["methodology"]
"#;
pub const START: Timestamp = Timestamp { milliseconds: 1_767_225_600_000 };
const JSON: &str = "application/json";

pub struct Arena {
    pub server: Running,
    pub clock: Clock,
}

impl Arena {
    /// Starts with the challenges `documented`, a contender of 100 seconds, and `easy`, a newcomer.
    pub fn new() -> Self {
        let clock = Clock::fixed(START);
        let server =
            Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock.clone());
        let it = Self { server, clock };
        it.server.post("/v1/scorecards", Some(&it.server.admin), "application/toml", CARD).is(201);
        it.publish(&challenge("documented", "contender")).is(201);
        it.publish(&challenge("easy", "newcomer")).is(201);
        it
    }

    pub fn publish(&self, challenge: &Value) -> Answer {
        self.server.post("/v1/arena/challenges", Some(&self.server.admin), JSON, challenge.to_string())
    }

    /// Registers an agent and returns its key.
    pub fn register(&self, name: &str) -> String {
        let body = json!({"agent_id": name, "harness_id": "loop-1"}).to_string();
        let made = self.server.post("/v1/arena/agents", Some(&self.server.admin), JSON, body);
        made.is(201).at("/secret").as_str().unwrap().to_owned()
    }

    /// Registers the harness `loop-1`.
    pub fn register_harness(&self) -> Signer {
        let signer = Signer::new("loop-1", &[9; 32]).unwrap();
        let body = json!({"harness_id": "loop-1", "key": signer.verifying_key().to_string()}).to_string();
        self.server.post("/v1/arena/harnesses", Some(&self.server.admin), JSON, body).is(201);
        signer
    }

    pub fn enter(&self, key: &str, challenge: &str, memoryless: bool) -> Answer {
        let body = json!({"challenge": challenge, "memoryless": memoryless}).to_string();
        self.server.post("/v1/arena/matches", Some(key), JSON, body)
    }

    pub fn submit(&self, key: &str, id: &str, payload: &Value) -> Answer {
        let path = format!("/v1/arena/matches/{id}/submission");
        self.server.post(&path, Some(key), JSON, payload.to_string())
    }

    /// Sets the clock to this many seconds after the start.
    pub fn at(&self, seconds: i64) {
        self.clock.put(Timestamp { milliseconds: START.milliseconds + 1000 * seconds });
    }

    /// Returns every view of the arena.
    fn views(&self) -> Vec<Value> {
        ["challenges", "matches", "ratings", "ratings?category=reasoning", "agents/bee"]
            .map(|path| self.server.get(&format!("/v1/arena/{path}")).is(200).json())
            .to_vec()
    }
}

pub fn challenge(slug: &str, difficulty: &str) -> Value {
    json!({
        "slug": slug, "title": "The documented example", "briefing": "Name all parts.", "card": "documented@1.0.0",
        "category": "reasoning", "difficulty": difficulty, "time_limit_seconds": 100,
        "constraints": {"tokenBudget": 1000},
        "instances": [
            {"seed": 7, "input": {"hint": 1}, "workspace_files": {"a.txt": "text"}, "ground_truth": truth()},
            {"seed": 8, "input": {"hint": 2}, "workspace_files": {"a.txt": "text"}, "ground_truth": truth()},
        ],
    })
}

pub fn truth() -> Value {
    json!({"parts": vec![1; 10], "steps": vec![1; 100], "targets": vec![1; 25]})
}

/// Returns an answer with these numbers of right parts, steps and targets.
pub fn answer(parts: usize, steps: usize, targets: usize) -> Value {
    let list = |right: usize, all: usize| -> Vec<u8> { (0..all).map(|at| u8::from(at < right)).collect() };
    json!({
        "parts": list(parts, 10), "steps": list(steps, 100), "targets": list(targets, 25), "summary": "all of them",
    })
}

pub fn payload(answer: Value) -> Value {
    json!({"answer": answer, "metadata": {"harness_id": "loop-1"}})
}

pub fn llm_call(at: &str) -> Value {
    json!({"type": "llm_call", "ts": at, "model": "m", "input_tokens": 10, "output_tokens": 5, "duration_ms": 3})
}

/// Adds a log of these steps, made for the match that was entered.
pub fn with_log(entered: &Answer, answer: Value, steps: Vec<Value>) -> Value {
    let nonce = entered.at("/match_nonce");
    let log = chain(nonce.as_str().unwrap(), steps);
    json!({"answer": answer, "metadata": {"harness_id": "loop-1", "replay_log": log}})
}

/// Adds what the harness signs about the match that was entered, its log and its answer.
pub fn signed(signer: &Signer, entered: &Answer, mut payload: Value, memoryless: bool) -> Value {
    let [id, nonce] = ["/match_id", "/match_nonce"].map(|name| entered.at(name).as_str().unwrap().to_owned());
    let log = payload["metadata"]["replay_log"].as_array().cloned().unwrap_or_default();
    let text = HarnessStatement::of(&id, &nonce, &payload["answer"], &log).text(HarnessWord { memoryless });
    payload["metadata"]["harness_statement"] = signer.sign(&text).unwrap().into();
    payload
}

pub fn rating(answer: &Answer) -> [i64; 4] {
    ["before_points", "play_points", "bonus_points", "after_points"]
        .map(|name| answer.at(&format!("/rating/{name}")).as_i64().unwrap())
}

#[test]
fn a_match_is_scored_and_settled_as_documented() {
    let it = Arena::new();
    let key = it.register("bee");
    let entered = it.enter(&key, "documented", false);
    assert_eq!(entered.is(201).at("/match_id"), "bee.documented.1");
    assert_eq!(entered.at("/expires_at"), "2026-01-01T00:01:40Z");
    let instance = entered.at("/draw/instance").as_i64().unwrap();
    assert_eq!((entered.at("/seed"), entered.at("/input/hint")), (json!(6 + instance), json!(instance)));
    assert_eq!(entered.at("/workspace_files/a.txt"), "text");
    assert!(!entered.body.contains("ground_truth"));

    it.at(22);
    let scored = it.submit(&key, "bee.documented.1", &payload(answer(9, 69, 19)));
    scored.is(201);
    // 900 x 0.5 + 780 x 0.2 + 690 x 0.15 + 760 x 0.15 = 823.5
    assert_eq!((scored.at("/score"), scored.at("/result")), (json!(823.0), json!("win")));
    let part = |score: f64, weight: f64, weighted: f64| json!({"score": score, "weight": weight, "weighted": weighted});
    assert_eq!(
        scored.at("/score_breakdown"),
        json!({
            "correctness": part(900.0, 0.5, 450.0), "speed": part(780.0, 0.2, 156.0),
            "methodology": part(690.0, 0.15, 103.5), "completeness": part(760.0, 0.15, 114.0),
        })
    );
    assert_eq!(rating(&scored), [1000, 16, 0, 1016]);
    assert_eq!(scored.at("/rating/factor_points"), 32.0);
    assert_eq!(scored.at("/rating/category/after_points"), 1016);
    assert_eq!(scored.at("/career/win_count"), 1);

    let record = it.server.get(&format!("/v1/records/{}", scored.at("/record_position")));
    assert_eq!(record.is(200).at("/record/score/published"), 823, "{}", record.body);
    it.server.get(scored.at("/receipt").as_str().unwrap()).is(200);
    assert!(!record.body.contains("ground_truth"));
}

#[test]
fn verified_gains_are_multiplied_and_losses_are_not() {
    let it = Arena::new();
    let (key, signer) = (it.register("bee"), it.register_harness());
    let right = || answer(10, 100, 25);
    let entered = it.enter(&key, "documented", true);
    it.at(10);
    let sent = with_log(entered.is(201), right(), vec![llm_call("2026-01-01T00:00:01Z")]);
    let verified = it.submit(&key, "bee.documented.1", &sent);
    assert_eq!(
        (rating(verified.is(201)), verified.at("/rating/bonus_factor")),
        ([1000, 16, 2, 1018], json!(1.1))
    );
    // What the agent says of its memory moves nothing.
    assert_eq!((verified.at("/memoryless"), verified.at("/benchmark_grade")), (json!(true), json!(false)));
    assert_eq!(
        (verified.at("/verified_by"), verified.at("/harness_memoryless")),
        (json!("checked"), Value::Null)
    );

    let key = it.register("wasp");
    it.at(20);
    let entered = it.enter(&key, "documented", false);
    it.at(30);
    let sent = with_log(entered.is(201), right(), vec![llm_call("2026-01-01T00:00:21Z")]);
    let graded = it.submit(&key, "wasp.documented.1", &signed(&signer, &entered, sent, true));
    assert_eq!(
        (rating(graded.is(201)), graded.at("/rating/bonus_factor")),
        ([1000, 16, 3, 1019], json!(1.2))
    );
    assert_eq!((graded.at("/benchmark_grade"), graded.at("/verified_by")), (json!(true), json!("harness")));

    it.at(200);
    let entered = it.enter(&key, "documented", true);
    let second = with_log(entered.is(201), answer(0, 0, 0), vec![llm_call("2026-01-01T00:03:20Z")]);
    let lost = it.submit(&key, "wasp.documented.2", &signed(&signer, &entered, second, true));
    assert_eq!((lost.is(201).at("/result"), lost.at("/verified")), (json!("loss"), json!(true)));
    assert_eq!((lost.at("/benchmark_grade"), lost.at("/rating/bonus_points")), (json!(false), json!(0)));
    assert_ne!(lost.at("/seed"), graded.at("/seed"), "the second attempt is at another instance");
}

#[test]
fn warnings_come_with_the_breakdown() {
    let it = Arena::new();
    let key = it.register("bee");
    let entered = it.enter(&key, "documented", false);
    let mut call = llm_call("2026-01-01T00:00:00Z");
    call["input_tokens"] = json!(5000);
    let mut spent = with_log(entered.is(201), answer(10, 100, 25), vec![call]);
    spent["answer"]["summary"] = json!(7);
    spent["metadata"]["harness_id"] = json!("loop-2");
    let scored = it.submit(&key, "bee.documented.1", &spent);
    scored.is(201);
    assert_eq!(scored.at("/submission_warnings/0/severity"), "error");
    assert_eq!(scored.at("/submission_warnings/0/dimension"), "methodology");
    assert_eq!(scored.at("/score_breakdown/methodology/score"), 0.0);
    assert_eq!(scored.at("/score"), 850.0);
    assert!(
        scored.at("/constraint_violations/0").as_str().unwrap().contains("tokenBudget"),
        "{}",
        scored.body
    );
    assert!(scored.at("/harness_warning").as_str().unwrap().contains("loop-2"));
    assert_eq!(scored.at("/trajectory_validation/valid"), true);
    // The record of the match says the same, member by member.
    let record = it.server.get(&format!("/v1/records/{}", scored.at("/record_position")));
    let answer = record.is(200).at("/record/match");
    for (name, value) in answer.as_object().unwrap() {
        let told = scored.at(&format!("/{name}"));
        assert_eq!(canonical_json(value), canonical_json(&told), "{name}");
    }
    assert_eq!(answer.as_object().unwrap().len(), 5);
}

#[test]
fn only_the_arena_writes_its_ids_and_scorecards() {
    let it = Arena::new();
    let key = it.register("ant");
    let all = it.server.key(&json!({"name": "all", "scopes": ["write:evidence"]}));
    let sent = |id: &str, key: &str, query: &str| {
        let (challenge, _) = query.split_once('@').unwrap();
        let item = json!({
            "match_id": id, "agent_id": "ant", "challenge": challenge, "challenge_slug": challenge,
            "started_at": "2026-01-01T00:00:00Z", "submitted_at": "2026-01-01T00:00:10Z",
            "time_limit_secs": 100, "attempt_number": 1, "memoryless": true,
            "ground_truth": truth(), "payload": payload(answer(10, 100, 25)),
        });
        let path = format!("/v1/evidence?card={query}");
        it.server.post(&path, Some(key), JSON, item.to_string())
    };
    let other = CARD.replace("\"documented\"", "\"unplayed\"");
    it.server.post("/v1/scorecards", Some(&it.server.admin), "application/toml", other).is(201);
    // By id, also of a match that was not entered; by scorecard, also under another id; by an administrator, too.
    for id in ["ant.documented.1", "ant.documented.7", "ant.not-yet.1", "m-1"] {
        for key in [&all, &it.server.admin] {
            sent(id, key, "documented@1.0.0").is_problem(403, "forbidden");
        }
    }
    sent("ant.documented.1", &all, "unplayed@1.0.0").is_problem(403, "forbidden");
    // A challenge that no one plays here is like any other scorecard.
    sent("m-1", &all, "unplayed@1.0.0").is(201);

    it.enter(&key, "documented", false).is(201);
    it.submit(&key, "ant.documented.1", &payload(answer(1, 1, 1))).is(201);
    let corrected = sent("m-2", &it.server.admin, "unplayed@1.0.0&replaces=ant.documented.1");
    corrected.is_problem(403, "forbidden");
    let records = it.server.get("/v1/records?subject=ant&card=documented").at("/records");
    assert_eq!(records.as_array().unwrap().len(), 1, "{records}");
}

#[test]
fn only_the_agent_that_entered_may_submit() {
    let it = Arena::new();
    let (bee, wasp) = (it.register("bee"), it.register("wasp"));
    it.enter(&bee, "documented", false).is(201);
    let right = payload(answer(10, 100, 25));
    it.submit(&wasp, "bee.documented.1", &right).is_problem(403, "forbidden");
    it.submit(&it.server.admin, "bee.documented.1", &right).is_problem(403, "forbidden");
    it.submit("karat_no", "bee.documented.1", &right).is_problem(401, "unauthenticated");
    let reader = it.server.key(&json!({"name": "reader", "scopes": ["read"], "subject": "bee"}));
    it.submit(&reader, "bee.documented.1", &right).is_problem(403, "forbidden");
    assert_eq!(it.server.get("/v1/arena/matches/bee.documented.1").at("/state"), "entered");
    it.submit(&bee, "bee.documented.1", &right).is(201);
}

#[test]
fn an_answer_counts_until_the_last_moment_and_not_after_it() {
    let it = Arena::new();
    let (bee, wasp) = (it.register("bee"), it.register("wasp"));
    for key in [&bee, &wasp] {
        it.enter(key, "documented", false).is(201);
    }
    it.at(100);
    let right = payload(answer(10, 100, 25));
    assert_eq!(it.submit(&bee, "bee.documented.1", &right).is(201).at("/score_breakdown/speed/score"), 0.0);
    it.clock.put(Timestamp { milliseconds: START.milliseconds + 100_001 });
    it.submit(&wasp, "wasp.documented.1", &right).is_problem(410, "expired");
    it.submit(&wasp, "wasp.documented.1", &right).is_problem(410, "expired");

    // An expired match is a draw that changes no rating.
    let agent = it.server.get("/v1/arena/agents/wasp");
    assert_eq!(agent.at("/career/rating_points"), 1000);
    assert_eq!((agent.at("/career/match_count"), agent.at("/career/draw_count")), (json!(1), json!(1)));
    assert_eq!(agent.at("/history/0/rating_points"), 1000);
    // Nor does it move the skill; a match that was played does, and makes it surer.
    let skill = |it: &Answer| [it.at("/history/0/skill_points"), it.at("/history/0/skill_deviation_points")];
    let played = it.server.get("/v1/arena/agents/bee");
    let [points, deviation] = skill(&played).map(|it| it.as_f64().unwrap());
    assert_eq!(skill(&agent), [json!(1000.0), json!(350.0)]);
    assert!(points > 1000.0 && deviation < 350.0, "{points} {deviation}");
    // It counts as an entry: the next one is the second attempt.
    assert_eq!(it.enter(&wasp, "documented", true).is(201).at("/attempt_number"), 2);
}

#[test]
fn a_match_that_nobody_submits_expires_when_somebody_asks() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "documented", false).is(201);
    it.at(1000);
    let listed = it.server.get("/v1/arena/matches?agent=bee&state=expired");
    assert_eq!(listed.is(200).at("/matches/0/match_id"), "bee.documented.1");
    assert_eq!(it.server.get("/v1/arena/ratings").at("/ratings/0/career/draw_count"), 1);
}

#[test]
fn an_expired_match_is_a_draw_wherever_it_is_told() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "easy", false).is(201);
    it.at(1000);
    let shown = it.server.get("/v1/arena/matches/bee.easy.1");
    let rating = |name: &str| shown.at(&format!("/rating/{name}"));
    assert_eq!(
        (shown.at("/state"), shown.at("/score"), shown.at("/result")),
        (json!("expired"), Value::Null, Value::Null)
    );
    assert_eq!(
        (rating("change_points"), rating("opponent_points"), rating("expected")),
        (json!(0), json!(800), Value::Null)
    );
    let counts = |career: Value| {
        ["win_count", "draw_count", "loss_count", "current_streak"].map(|it| career[it].clone())
    };
    let drawn = [0, 1, 0, 0].map(Value::from);
    assert_eq!(counts(shown.at("/career")), drawn);
    assert_eq!(counts(it.server.get("/v1/arena/agents/bee").at("/career")), drawn);
    assert_eq!(counts(it.server.get("/v1/arena/ratings").at("/ratings/0/career")), drawn);
    assert_eq!(it.server.get("/v1/arena/challenges/easy").at("/win_count"), 0);
    // It has no score, so no record, and none of its outcomes is a failure.
    assert_eq!(it.server.get("/v1/records?subject=bee").at("/records"), json!([]));
    for (path, told) in [
        ("/arena/matches/bee.easy.1", "counts as a draw, and does not change the rating"),
        ("/arena/agents/bee", "drew 1"),
        ("/arena/agents/bee", "expired: a draw"),
    ] {
        let page = it.server.get(path);
        assert!(page.is(200).body.contains(told), "{path}: {}", page.body);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
    for (file, told) in [
        ("docs/guide/server.md", "An expired match counts as a draw that moves no rating"),
        ("docs/guide/ratings.md", "An expired match is a draw that moves no rating"),
        ("docs/decisions/0014-arena.md", "An expired match is a draw that moves no rating"),
        ("docs/openapi.json", "an expired match counts as one"),
    ] {
        let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
        assert!(text.contains(told), "{file}");
    }
    let card = it.server.get("/v1/scorecards/arena@1.0.0/text").is(200).body.clone();
    assert!(!card.contains("is lost") && card.contains("a draw that moves no rating"), "{card}");
}

#[test]
fn a_submission_counts_once() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "documented", false).is(201);
    it.at(10);
    let first = it.submit(&key, "bee.documented.1", &payload(answer(9, 69, 19)));
    it.at(20);
    let again = it.submit(&key, "bee.documented.1", &payload(answer(9, 69, 19)));
    assert_eq!(again.is(200).json(), first.is(201).json(), "the same answer, and the time of the first");
    it.submit(&key, "bee.documented.1", &payload(answer(10, 100, 25))).is_problem(409, "conflict");
    assert_eq!(it.server.get("/v1/arena/agents/bee").at("/career/match_count"), 1);
    assert_eq!(it.server.get("/v1/records?subject=bee").at("/records").as_array().unwrap().len(), 1);
}

#[test]
fn at_once_it_counts_once_too() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "documented", false).is(201);
    let right = payload(answer(9, 69, 19));
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = || it.submit(&key, "bee.documented.1", &right).status;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(send)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 201].contains(status)), "{statuses:?}");
    assert_eq!(it.server.get("/v1/arena/agents/bee").at("/career/match_count"), 1);
}

#[test]
fn an_agent_plays_one_match_at_a_time() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "documented", false).is(201);
    let again = it.enter(&key, "documented", true);
    assert_eq!(
        (again.is(200).at("/match_id"), again.at("/repeated")),
        (json!("bee.documented.1"), json!(true))
    );
    it.enter(&key, "easy", false).is_problem(409, "conflict");
    it.submit(&key, "bee.documented.1", &payload(answer(9, 69, 19))).is(201);
    it.enter(&key, "easy", false).is(201);
}

#[test]
fn what_is_wrong_is_refused_and_can_be_mended_in_time() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "nothing", false).is_problem(404, "not-found");
    it.submit(&key, "bee.documented.9", &payload(json!({}))).is_problem(404, "not-found");
    it.enter(&it.server.admin, "documented", false).is_problem(403, "forbidden");
    it.enter(&key, "documented", false).is(201);
    for (wrong, field) in [
        (json!({"metadata": {}}), "$.payload.answer"),
        (json!({"answer": [1]}), "$.payload.answer"),
        (
            json!({"answer": {}, "metadata": {"replay_log": [{"type": "sleep"}]}}),
            "$.payload.metadata.replay_log[0].type",
        ),
    ] {
        let refused = it.submit(&key, "bee.documented.1", &wrong);
        assert_eq!(refused.is_problem(422, "evidence-refused").at("/field"), field);
    }
    it.server
        .post("/v1/arena/matches/bee.documented.1/submission", Some(&key), JSON, "{")
        .is_problem(400, "bad-request");
    it.submit(&key, "bee.documented.1", &payload(json!({}))).is(201);
}

#[test]
fn challenges_and_agents_are_checked() {
    let it = Arena::new();
    it.publish(&challenge("documented", "contender")).is(200);
    it.publish(&challenge("documented", "veteran")).is_problem(409, "conflict");
    for (member, value, field) in [
        ("slug", json!("No"), "$.slug"),
        ("difficulty", json!("hard"), "$.difficulty"),
        ("time_limit_seconds", json!(0), "$.time_limit_seconds"),
        ("card", json!("workflow@1.0.0"), "$.card"),
        ("card", json!("documented"), "$.card"),
        ("instances", json!([]), "$.instances"),
        ("instances", json!([{"ground_truth": {"parts": [1]}}]), "$.instances[0].ground_truth.targets"),
        ("constraints", json!({"tokenBudget": -1}), "$.constraints.tokenBudget"),
    ] {
        let mut wrong = challenge("other", "contender");
        wrong[member] = value;
        assert_eq!(it.publish(&wrong).is_problem(400, "bad-request").at("/field"), field);
    }
    let key = it.register("bee");
    let admin = it.server.admin.clone();
    let register = |key: &str, name: &str| {
        it.server.post("/v1/arena/agents", Some(key), JSON, json!({"agent_id": name}).to_string())
    };
    register(&admin, "bee").is_problem(409, "conflict");
    register(&admin, "a/b").is_problem(400, "bad-request");
    register(&key, "wasp").is_problem(403, "forbidden");
    assert!(arena::is_name("bee") && !arena::is_name("a/b"));
}

#[test]
fn equal_ratings_share_a_rank() {
    let it = Arena::new();
    for name in ["bee", "ant", "wasp"] {
        let key = it.register(name);
        it.enter(&key, "documented", false).is(201);
        let right = if name == "wasp" { 0 } else { 10 };
        it.submit(&key, &format!("{name}.documented.1"), &payload(answer(right, 100, 25))).is(201);
    }
    let table = it.server.get("/v1/arena/ratings");
    let rows: Vec<(i64, String)> = table
        .at("/ratings")
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["rank"].as_i64().unwrap(), row["agent_id"].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(rows, [(1, "ant".to_owned()), (1, "bee".to_owned()), (3, "wasp".to_owned())]);
    assert_eq!(it.server.get("/v1/arena/ratings?category=coding").at("/ratings"), json!([]));
    it.server.get("/v1/arena/ratings?categry=coding").is_problem(400, "bad-request");
}

#[test]
fn a_restart_changes_nothing() {
    let it = Arena::new();
    let (bee, wasp) = (it.register("bee"), it.register("wasp"));
    it.enter(&bee, "documented", true).is(201);
    it.submit(&bee, "bee.documented.1", &payload(answer(9, 69, 19))).is(201);
    it.enter(&bee, "easy", false).is(201);
    it.enter(&wasp, "easy", false).is(201);
    it.at(101);
    it.server.get("/v1/arena/ratings").is(200);
    it.enter(&wasp, "documented", false).is(201);
    let before = it.views();
    let (admin, clock) = (it.server.admin.clone(), it.clock.clone());
    let folder = it.server.stop();
    let server = Running::with_clock("127.0.0.1:0", folder, Options::default(), Some(admin), clock.clone());
    let it = Arena { server, clock };
    assert_eq!(it.views(), before);
    it.submit(&wasp, "wasp.documented.1", &payload(answer(10, 100, 25))).is(201);
    it.submit(&bee, "bee.easy.1", &payload(answer(10, 100, 25))).is_problem(410, "expired");
}
