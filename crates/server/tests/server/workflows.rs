//! The promises of workflows: what is secret and until when, the median of recordings, receipts that cover the recording, and
//! that a restart changes nothing.

use std::fs;
use std::path::Path;

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_server::arena::Draw;
use karat_server::clock::Clock;
use karat_server::replay::Replayed;
use karat_server::{Options, flows};
use karat_store::Receipt;
use karat_store::log::Signer;
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
/// 2026-11-23T10:00:00Z: the recording of the example began an hour later.
const START: Timestamp = Timestamp { milliseconds: 1_795_428_000_000 };
const MINUTE: i64 = 60;

pub struct Market {
    pub server: Running,
    pub clock: Clock,
}

impl Market {
    /// Starts with as many recorders, `v1` and so on.
    pub fn new(recorders: u8) -> Self {
        let clock = Clock::fixed(START);
        let server =
            Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock.clone());
        let it = Self { server, clock };
        for number in 1..=recorders {
            it.register(&format!("v{number}"), &signer(number).verifying_key().to_string()).is(201);
        }
        it
    }

    pub fn register(&self, id: &str, key: &str) -> Answer {
        let body = json!({"recorder_id": id, "key": key}).to_string();
        self.server.post("/v1/workflows/recorders", Some(&self.server.admin), JSON, body)
    }

    /// Posts a task whose plans are accepted for half an hour, and recordings for another hour.
    pub fn post(&self, task: &Value, more: &Value) -> Answer {
        let mut request = json!({
            "task": task, "card": "workflow@1.0.0",
            "plans_until": "2026-11-23T10:30:00Z", "recordings_until": "2026-11-23T11:30:00Z",
        });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.server.post("/v1/workflows/tasks", Some(&self.server.admin), JSON, request.to_string())
    }

    /// Makes the key of a miner.
    pub fn miner(&self, name: &str) -> String {
        self.server.key(&json!({"name": name, "scopes": ["write:evidence"], "subject": name}))
    }

    pub fn hand_in(&self, key: &str, task: &str, plan: &str) -> Answer {
        self.server.post(&format!("/v1/workflows/tasks/{task}/plans"), Some(key), JSON, plan)
    }

    /// Hands in the plan of [`plan`] for `t` in time, and goes on to when recordings are accepted.
    pub fn with_plan(&self, miner: &str) {
        self.hand_in(&self.miner(miner), "t", &plan().to_string()).is(201);
        self.at(35 * MINUTE);
    }

    pub fn deliver(&self, task: &str, miner: &str, body: impl AsRef<[u8]>) -> Answer {
        let path = format!("/v1/workflows/tasks/{task}/plans/{miner}/recordings");
        self.server.post(&path, Some(&self.server.admin), LINES, body)
    }

    pub fn show(&self, task: &str, miner: &str) -> Answer {
        self.server.get(&format!("/v1/workflows/tasks/{task}/plans/{miner}"))
    }

    /// Returns the numbers of the recorders that were drawn for a plan.
    pub fn drawn(&self, miner: &str) -> Vec<u8> {
        let drawn = self.show("t", miner).is(200).at("/drawn");
        let names = drawn.as_array().unwrap().iter();
        names.map(|name| name.as_str().unwrap()[1..].parse().unwrap()).collect()
    }

    /// Sets the clock to this many seconds after the start.
    pub fn at(&self, seconds: i64) {
        self.clock.put(Timestamp { milliseconds: START.milliseconds + 1000 * seconds });
    }

    /// Returns the run of the plan of a miner for `t` with one attempt at that cost in nano-TAO.
    pub fn made(&self, miner: &str, cost: u64) -> Made {
        let file = |path: &str| self.server.get(path).is(200).body.clone();
        Made::new(
            &file(&format!("/v1/workflows/tasks/t/plans/{miner}/plan")),
            &file("/v1/workflows/tasks/t/task"),
            cost,
        )
    }

    /// Returns every view of workflows, and the records.
    fn views(&self) -> Vec<Value> {
        let paths = [
            "/v1/workflows/tasks", "/v1/workflows/tasks/t", "/v1/workflows/recorders",
            "/v1/records?limit=100", "/v1/leaderboards?card=workflow@1.0.0",
        ];
        paths.map(|path| self.server.get(path).json()).to_vec()
    }

    /// Stops and starts again, with the cache of the index or without.
    pub fn restarted(self, without_cache: bool) -> Self {
        let (admin, clock) = (self.server.admin.clone(), self.clock.clone());
        let folder = self.server.stop();
        if without_cache {
            fs::remove_file(folder.path().join("index.cache")).unwrap();
        }
        let server =
            Running::with_clock("127.0.0.1:0", folder, Options::default(), Some(admin), clock.clone());
        Self { server, clock }
    }
}

/// Returns the key of the recorder with that number.
pub fn signer(number: u8) -> Signer {
    Signer::new(&format!("v{number}.example"), &[number; 32]).unwrap()
}

pub fn task(id: &str) -> Value {
    json!({
        "task_id": id, "task_type": "agent", "description": "Greet.",
        "constraints": {"max_budget_tao": 1, "max_latency_seconds": 10, "allowed_subnets": ["sn1"]},
        "available_tools": {"sn1": {"type": "text"}},
        "reference": {"goal_checklist": [{"type": "keyword", "text": "hello"}]},
    })
}

pub fn plan() -> Value {
    json!({"nodes": [{"id": "a", "subnet": "sn1", "action": "greet", "params": {"whom": "you"}}]})
}

/// A recording, written from the guide.
#[derive(Clone)]
pub struct Made {
    pub head: Value,
    pub attempts: Vec<Value>,
}

impl Made {
    pub fn new(plan: &str, task: &str, cost: u64) -> Self {
        let request = json!({
            "step": "a", "attempt": 1, "subnet": "sn1", "action": "greet", "params": {"whom": "you"},
        });
        let head = json!({
            "schema": "karat/recording/1", "plan": Digest::of(plan.as_bytes()).to_string(),
            "task": Digest::of(task.as_bytes()).to_string(), "ended": "complete",
            "started_microseconds": (START.milliseconds + 31 * 60_000) * 1000,
        });
        let attempt = json!({
            "key": Digest::of(canonical_json(&request).as_bytes()).to_string(), "step": "a", "attempt": 1,
            "outcome": "success", "output": {"text": "hello you"}, "reason": null, "cost_nano_tao": cost,
            "start_microseconds": 10, "duration_microseconds": 1_000_000,
        });
        Self { head, attempts: vec![attempt] }
    }

    pub fn lines(&self) -> String {
        let all = std::iter::once(&self.head).chain(&self.attempts);
        all.map(|line| canonical_json(line) + "\n").collect()
    }

    pub fn digest(&self) -> String {
        Digest::of(self.lines().as_bytes()).to_string()
    }

    /// Returns the recording, signed by the recorder with that number.
    pub fn signed(&self, number: u8) -> String {
        let digest = self.digest();
        let note = signer(number).sign(&format!("karat/recording/1\n{digest}\n")).unwrap();
        format!("{}{}\n", self.lines(), canonical_json(&json!({"digest": digest, "note": note})))
    }
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/run").join(name);
    fs::read_to_string(path).unwrap()
}

#[test]
fn the_example_is_recorded_and_scored_as_on_the_command_line() {
    let it = Market::new(0);
    it.register("validator-1", example("recorder.key").trim()).is(201);
    let task: Value = serde_json::from_str(&example("task.json")).unwrap();
    let posted = it.post(&task, &json!({}));
    assert_eq!(posted.is(201).at("/phase"), "plans");
    assert_eq!(it.post(&task, &json!({})).is(200).at("/commitment"), posted.at("/commitment"));

    // While plans are accepted, the reference, the draw and the plans are secret.
    let key = it.miner("21");
    let handed = it.hand_in(&key, "ferry-7", &example("plan.json"));
    assert_eq!(handed.is(201).at("/repeated"), false);
    assert_eq!(it.hand_in(&key, "ferry-7", &example("plan.json")).is(200).at("/repeated"), true);
    let shown = it.server.get("/v1/workflows/tasks/ferry-7");
    assert_eq!((shown.at("/plan_count"), shown.at("/plans")), (json!(1), json!([])));
    assert_eq!((shown.at("/draw"), shown.at("/task_digest")), (Value::Null, Value::Null));
    assert!(!shown.body.contains("north harbour") && !shown.body.contains("tides"), "{}", shown.body);
    it.server.get("/v1/workflows/tasks/ferry-7/task").is_problem(409, "conflict");
    for miner in ["21", "nobody"] {
        it.show("ferry-7", miner).is_problem(409, "conflict");
        it.server.get(&format!("/v1/workflows/tasks/ferry-7/plans/{miner}/plan")).is_problem(409, "conflict");
    }
    it.deliver("ferry-7", "21", example("recording.jsonl")).is_problem(409, "conflict");

    it.at(56 * MINUTE);
    let shown = it.show("ferry-7", "21");
    assert_eq!(shown.is(200).at("/drawn"), json!(["validator-1"]));
    assert_eq!((shown.at("/delivered"), shown.at("/result")), (json!([]), Value::Null));
    let digest = handed.at("/plan_digest").as_str().unwrap().to_owned();
    let file = it.server.get("/v1/workflows/tasks/ferry-7/plans/21/plan").is(200).body.clone();
    assert_eq!(Digest::of(file.as_bytes()).to_string(), digest);
    let file = it.server.get("/v1/workflows/tasks/ferry-7/task").is(200).body.clone();
    assert_eq!(file, canonical_json(&task));

    let body = example("recording.jsonl") + &example("evidence.json");
    let delivered = it.deliver("ferry-7", "21", &body);
    let result = delivered.is(201).at("/result");
    assert_eq!((&result["verdict"], &result["score"]), (&json!("scored"), &json!(0.736_683_163_5)));
    assert_eq!(it.deliver("ferry-7", "21", &body).is(200).at("/repeated"), true);

    // The command line gives the same evidence.
    let recording = delivered.at("/recording").as_str().unwrap().to_owned();
    let (evidence, record) = (result["evidence"].as_str().unwrap(), result["record"].as_str().unwrap());
    assert_eq!((evidence, record), (&*format!("21/{recording}"), &*format!("21/{recording}/workflow@1.0.0")));
    let shown = it.server.get(&format!("/v1/evidence/{}", part(evidence)));
    assert_eq!(
        shown.is(200).at("/content"),
        serde_json::from_str::<Value>(&example("evidence.json")).unwrap()
    );
    assert_eq!(shown.at("/sources/2"), json!(recording));
    assert!(shown.body.contains(example("evidence.json").trim()), "byte for byte");
    // Its receipt names evidence and recording.
    let receipt = it.server.get(&format!("/v1/receipts/{}", part(record))).is(200).body.clone();
    let kept = Receipt::parse(receipt.as_bytes()).unwrap();
    let key = it.server.get("/v1/log").at("/key").as_str().unwrap().parse().unwrap();
    let verified = kept.verify(&key);
    assert!(
        verified.content.is_ok() && verified.inclusion.is_ok() && verified.evidence.is_ok(),
        "{verified:?}"
    );
    let sources: Vec<String> = kept.entry.sources.iter().map(ToString::to_string).collect();
    let of_evidence = Digest::of(example("evidence.json").trim().as_bytes()).to_string();
    assert_eq!(sources, [of_evidence, recording.clone()]);
    // The library gives the same record.
    let item = example("evidence.json");
    let row = it.server.get(&format!("/v1/records/{}", part(record)));
    assert_eq!(row.is(200).at("/trust"), "measured", "{}", row.body);
    assert_eq!(kept.content, scored(&item));

    // The recording is what was delivered.
    let file = it.server.get(&format!("/v1/workflows/recordings/{recording}"));
    assert_eq!(file.is(200).body, example("recording.jsonl"));
    assert_eq!(file.header("content-type"), Some(LINES));
}

/// Returns the record that the library computes from an item.
fn scored(item: &str) -> String {
    use karat::engine::{Engine, Options};
    let card = karat::card::CompiledCard::released("workflow").unwrap();
    let mut engine = Engine::new(card, Options::default()).unwrap();
    let write = |scored: &karat::engine::Scored<'_>| {
        let mut bytes = Vec::new();
        scored.write(&mut bytes);
        Ok::<_, karat::error::Error>(String::from_utf8(bytes).unwrap())
    };
    engine.try_visit_named(None, item.trim().as_bytes(), write).unwrap()
}

fn part(name: &str) -> String {
    name.replace('%', "%25").replace('/', "%2F").replace(':', "%3A")
}

#[test]
fn the_median_of_the_recordings_counts() {
    // Costs in nano-TAO, as they are delivered, and the one whose recording counts.
    let cases: [(&[u64], u64); 5] = [
        (&[100_000_000], 100_000_000),
        (&[100_000_000, 500_000_000], 500_000_000),
        (&[900_000_000, 100_000_000, 300_000_000], 300_000_000),
        (&[100_000_000, 200_000_000, 300_000_000, 400_000_000], 300_000_000),
        (&[500_000_000, 400_000_000, 300_000_000, 200_000_000, 100_000_000], 300_000_000),
    ];
    for (costs, expected) in cases {
        let it = Market::new(7);
        it.post(&task("t"), &json!({"recordings": 1, "recorders": costs.len()})).is(201);
        it.with_plan("bee");
        let drawn = it.drawn("bee");
        assert_eq!(drawn.len(), costs.len());
        for (number, cost) in drawn.iter().zip(costs) {
            let shown = it.show("t", "bee");
            assert_eq!(shown.at("/result"), Value::Null, "{costs:?}");
            let made = it.made("bee", *cost);
            let accepted = it.deliver("t", "bee", made.signed(*number));
            accepted.is(201);
            if accepted.at("/result").is_null() {
                // Secret until all have delivered.
                let path = format!("/v1/workflows/recordings/{}", made.digest());
                it.server.get(&path).is_problem(404, "not-found");
            }
        }
        let result = it.show("t", "bee").at("/result");
        assert_eq!(result["counted"], json!(it.made("bee", expected).digest()), "{costs:?}: {result}");
        let scores: Vec<f64> =
            result["recordings"].as_array().unwrap().iter().map(|it| it["score"].as_f64().unwrap()).collect();
        assert!(scores.is_sorted() && scores.len() == costs.len(), "{scores:?}");
        // All are kept; one counts.
        for cost in costs {
            it.server.get(&format!("/v1/workflows/recordings/{}", it.made("bee", *cost).digest())).is(200);
        }
        let records = it.server.get("/v1/records?subject=bee").at("/records");
        assert_eq!(records.as_array().unwrap().len(), 1, "{records}");
        assert_eq!(
            it.server
                .get("/v1/leaderboards?card=workflow@1.0.0")
                .at("/leaderboards/0/rows")
                .as_array()
                .unwrap()
                .len(),
            1
        );
    }
}

#[test]
fn of_equal_scores_the_digest_decides_and_not_who_was_first() {
    let mut results = Vec::new();
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let it = Market::new(3);
        it.post(&task("t"), &json!({"recordings": 2, "recorders": 3})).is(201);
        it.with_plan("bee");
        for at in order {
            let mut made = it.made("bee", 100_000_000);
            // Another run with the same score.
            made.attempts[0]["start_microseconds"] = json!(at);
            it.deliver("t", "bee", made.signed(it.drawn("bee")[at])).is(201);
        }
        let result = it.show("t", "bee").at("/result");
        let listed: Vec<String> = result["recordings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["recording"].as_str().unwrap().to_owned())
            .collect();
        assert!(listed.is_sorted() && result["counted"] == json!(listed[1]), "{result}");
        results.push(listed);
    }
    assert!(results.iter().all(|listed| *listed == results[0]));
}

#[test]
fn fewer_recordings_than_wanted_are_no_verdict_and_never_0() {
    let it = Market::new(3);
    it.post(&task("t"), &json!({"recordings": 2, "recorders": 3})).is(201);
    let (ant, cat) = (it.miner("ant"), it.miner("cat"));
    it.hand_in(&ant, "t", &plan().to_string()).is(201);
    it.hand_in(&cat, "t", &plan().to_string()).is(201);
    it.with_plan("bee");
    let drawn = it.drawn("bee");
    it.deliver("t", "bee", it.made("bee", 100).signed(drawn[0])).is(201);
    for (at, cost) in [100, 700_000_000].into_iter().enumerate() {
        let number = it.drawn("cat")[at];
        it.deliver("t", "cat", it.made("cat", cost).signed(number)).is(201);
    }
    let late = it.made("bee", 200).signed(drawn[1]);
    it.at(90 * MINUTE + 1);
    it.deliver("t", "bee", late).is_problem(410, "expired");
    let task = it.server.get("/v1/workflows/tasks/t");
    assert_eq!(task.at("/phase"), "over");
    let result = |miner: &str| it.show("t", miner).is(200).at("/result");
    for (miner, found) in [("ant", 0), ("bee", 1)] {
        let result = result(miner);
        assert_eq!(result["verdict"], "no-verdict", "{result}");
        let reason = format!("{found} of 2 recordings with a score until 2026-11-23T11:30:00Z");
        assert_eq!(result["reason"], json!(reason));
        assert_eq!(result["recordings"].as_array().unwrap().len(), found);
        assert_eq!(it.server.get(&format!("/v1/records?subject={miner}")).at("/records"), json!([]));
    }
    // Two of three are enough, and of two the lower counts.
    assert_eq!(result("cat")["counted"], json!(it.made("cat", 700_000_000).digest()));
    let rows = it.server.get("/v1/leaderboards?card=workflow@1.0.0").at("/leaderboards/0/rows");
    assert_eq!(rows.as_array().unwrap().len(), 1, "{rows}");
}

#[test]
fn recorders_are_drawn_by_bytes_that_were_committed_to_before_any_plan() {
    let it = Market::new(6);
    it.post(&task("t"), &json!({"recordings": 1, "recorders": 2})).is(201);
    let commitment = it.server.get("/v1/workflows/tasks/t").at("/commitment");
    for miner in ["ant", "cat", "v3"] {
        it.hand_in(&it.miner(miner), "t", &plan().to_string()).is(201);
    }
    it.with_plan("bee");
    let shown = it.server.get("/v1/workflows/tasks/t").json();
    let bytes = data_encoding(shown["draw"].as_str().unwrap());
    let draw = Draw::new(bytes);
    assert_eq!(json!(flows::commitment(&draw, "t")), commitment);
    assert_eq!(shown["commitment"], commitment);
    let pool: Vec<String> = (1..=6).map(|number| format!("v{number}")).collect();
    let mut seen = Vec::new();
    for row in shown["plans"].as_array().unwrap() {
        let (miner, digest) = (row["miner"].as_str().unwrap(), row["plan_digest"].as_str().unwrap());
        let expected = flows::drawn(&draw, "t", miner, digest, &pool, 2);
        assert_eq!(row["drawn"], json!(expected));
        assert!(!expected.iter().any(|name| name == miner));
        seen.push(expected);
    }
    assert!(seen.iter().any(|drawn| *drawn != seen[0]), "each plan has its own draw: {seen:?}");
}

fn data_encoding(digits: &str) -> [u8; 32] {
    let byte = |at: usize| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    std::array::from_fn(byte)
}

#[test]
fn a_restart_changes_nothing_with_or_without_the_cache() {
    let mut it = Market::new(4);
    it.post(&task("t"), &json!({"recordings": 2, "recorders": 3})).is(201);
    it.hand_in(&it.miner("ant"), "t", &plan().to_string()).is(201);
    it.hand_in(&it.miner("cat"), "t", &plan().to_string()).is(201);
    it = it.restarted(false);
    it.with_plan("bee");
    for number in it.drawn("bee") {
        it.deliver("t", "bee", it.made("bee", 1000 * u64::from(number)).signed(number)).is(201);
    }
    let cat = it.drawn("cat");
    it.deliver("t", "cat", it.made("cat", 5).signed(cat[0])).is(201);
    let views = it.views();
    for without_cache in [false, true] {
        it = it.restarted(without_cache);
        assert_eq!(it.views(), views);
    }
    // What was delivered before still counts, and a verdict that fell due while it was stopped is given.
    it.deliver("t", "cat", it.made("cat", 6).signed(cat[1])).is(201);
    it.deliver("t", "cat", it.made("cat", 5).signed(cat[0])).is(200);
    it.deliver("t", "cat", it.made("cat", 7).signed(cat[0])).is_problem(409, "conflict");
    it.at(100 * MINUTE);
    it = it.restarted(true);
    assert_eq!(it.show("t", "cat").at("/result/verdict"), "scored");
    assert_eq!(it.show("t", "ant").at("/result/verdict"), "no-verdict");
    let records = it.server.get("/v1/records?limit=100").at("/records");
    let trusts: Vec<&str> =
        records.as_array().unwrap().iter().map(|it| it["trust"].as_str().unwrap()).collect();
    assert_eq!(trusts, ["measured", "measured"], "{records}");
    let views = it.views();
    it = it.restarted(true);
    assert_eq!(it.views(), views);
    // The records of verdicts are scored again from the log, like any other.
    assert_eq!(crate::traces::replayed(&it.server.stop()), [Replayed::Same, Replayed::Same]);
}

#[test]
fn the_page_of_a_task_shows_what_is_public_and_no_more() {
    let it = Market::new(2);
    let page = |path: &str| it.server.get(path).is(200).body.clone();
    assert!(page("/workflows").contains("There is no task yet"));
    it.post(&task("t"), &json!({"recordings": 2})).is(201);
    it.hand_in(&it.miner("a<b>"), "t", &plan().to_string()).is(201);
    let early = page("/workflows/t");
    assert!(early.contains("1 plan so far, all secret") && early.contains("secret while plans are accepted"));
    assert!(!early.contains("a&lt;b&gt;") && !early.contains("hello"), "{early}");
    it.with_plan("bee");
    let waiting = page("/workflows/t");
    assert!(waiting.contains("a&lt;b&gt;") && waiting.contains("0 of 2 recordings came"), "{waiting}");
    let draw = it.server.get("/v1/workflows/tasks/t").at("/draw");
    assert!(waiting.contains(draw.as_str().unwrap()));
    for number in [1, 2] {
        it.deliver("t", "bee", it.made("bee", 1000 * u64::from(number)).signed(number)).is(201);
    }
    it.at(90 * MINUTE + 1);
    let over = page("/workflows/t");
    assert!(
        over.contains("the median: it counts") && over.contains("not the median") && over.contains("not yet"),
        "{over}"
    );
    assert!(page("/workflows").contains("/workflows/t"));
    it.server.get("/workflows/none").is(404);
}
