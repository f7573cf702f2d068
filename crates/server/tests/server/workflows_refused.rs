//! Everything that workflows refuse, with place and reason, and that nothing of it is written.

use karat_evidence::canonical_json;
use karat_store::log::Signer;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Answer, Running};
use crate::workflows::{Made, Market, plan, signer, task};

/// Returns the places of the faults of an answer.
fn places(answer: &Answer) -> Vec<String> {
    let problems = answer.at("/problems");
    let listed = problems.as_array().into_iter().flatten();
    listed.map(|it| it["field"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns the number of entries of the log.
fn size(server: &Running) -> Value {
    server.get("/v1/log").at("/size")
}

#[test]
fn a_task_that_no_plan_could_be_scored_for_is_refused_with_every_reason() {
    let it = Market::new(2);
    let before = size(&it.server);
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut task = task("t");
        change(&mut task);
        task
    };
    let all: [(Value, Value, &[&str]); 15] = [
        (task("t"), json!({"card": "workflow"}), &["$.card"]),
        (task("t"), json!({"card": "trust@1.1.0"}), &["$.card"]),
        (task("a/b"), json!({}), &["$.task.task_id"]),
        (changed(&|it| it["task_id"] = Value::Null), json!({}), &["$.task.task_id"]),
        (
            changed(&|it| it["reference"] = json!({"goal_checklist": []})),
            json!({}),
            &["$.task.reference.goal_checklist"],
        ),
        (changed(&|it| it["reference"] = Value::Null), json!({}), &["$.task"]),
        (changed(&|it| it["task_type"] = json!(7)), json!({}), &["$.task.task_type"]),
        (
            changed(&|it| it["constraints"]["max_budget_tao"] = json!(-1)),
            json!({}),
            &["$.task.constraints.max_budget_tao"],
        ),
        (changed(&|it| it["constraints"] = json!({})), json!({}), &["$.task"]),
        (task("t"), json!({"plans_until": "2026-11-23T10:00:00Z"}), &["$.plans_until"]),
        (
            task("t"),
            json!({"plans_until": "soon", "recordings_until": "later"}),
            &["$.plans_until", "$.recordings_until"],
        ),
        (task("t"), json!({"recordings_until": "2026-11-23T10:30:00Z"}), &["$.recordings_until"]),
        (task("t"), json!({"recordings_until": "2030-01-01T00:00:00Z"}), &["$.recordings_until"]),
        (task("t"), json!({"recordings": 3}), &["$.recorders"]),
        (
            task("t"),
            json!({"may_record": ["v1", "v9", "v1"], "recordings": 2, "recorders": 1, "retries_max": 99}),
            &["$.retries_max"],
        ),
    ];
    for (task, more, expected) in &all {
        let answer = it.post(task, more);
        assert_eq!(
            places(answer.is_problem(400, "bad-request")),
            *expected,
            "{task} {more}: {}",
            answer.body
        );
    }
    let answer =
        it.post(&task("t"), &json!({"may_record": ["v1", "v9", "v1"], "recordings": 2, "recorders": 1}));
    assert_eq!(places(&answer), ["$.may_record[1]", "$.may_record[2]", "$.recorders"]);
    it.post(&task("t"), &json!({"recordings": 0})).is_problem(400, "bad-request");
    it.post(&task("t"), &json!({"card": "none@1.0.0"})).is_problem(404, "not-found");
    it.post(&task("t"), &json!({"n": 1})).is_problem(400, "bad-request");
    assert_eq!((size(&it.server), it.server.get("/v1/workflows/tasks").at("/tasks")), (before, json!([])));

    it.post(&task("t"), &json!({})).is(201);
    it.post(&task("t"), &json!({"recorders": 2})).is_problem(409, "conflict");
    it.post(&changed(&|it| it["description"] = json!("Greet!")), &json!({})).is_problem(409, "conflict");
    // The same is the same, also when it is too late for plans.
    it.at(86_400);
    it.post(&task("t"), &json!({})).is(200);
}

#[test]
fn recorders_have_one_id_and_one_key_for_good() {
    let it = Market::new(1);
    let [one, two] = [1, 2].map(|number| signer(number).verifying_key().to_string());
    assert_eq!(it.register("v1", &one).status, 200);
    it.register("v1", &two).is_problem(409, "conflict");
    assert_eq!(it.register("twin", &one).is_problem(409, "conflict").at("/field"), "$.key");
    // Its bytes count, and not the name in front of them.
    let renamed = Signer::new("other.example", &[1; 32]).unwrap().verifying_key().to_string();
    assert_eq!(it.register("twin", &renamed).is_problem(409, "conflict").at("/field"), "$.key");
    it.register("a/b", &two).is_problem(400, "bad-request");
    it.register("v2", "nonsense").is_problem(400, "bad-request");
    let revoke = |id: &str| it.server.delete(&format!("/v1/workflows/recorders/{id}"), &it.server.admin);
    revoke("v1").is(204);
    revoke("v1").is_problem(404, "not-found");
    it.register("v1", &one).is_problem(409, "conflict");
    // Who was revoked is drawn no more.
    it.post(&task("t"), &json!({})).is_problem(400, "bad-request");
}

#[test]
fn what_a_revoked_recorder_signs_counts_no_more() {
    let it = Market::new(1);
    it.post(&task("t"), &json!({})).is(201);
    it.with_plan("bee");
    it.server.delete("/v1/workflows/recorders/v1", &it.server.admin).is(204);
    let refused = it.deliver("t", "bee", it.made("bee", 1).signed(1));
    assert!(refused.is_problem(422, "evidence-refused").body.contains("whose key was revoked"));
}

#[test]
fn a_plan_is_refused_with_everything_that_karat_run_says() {
    let it = Market::new(1);
    it.post(&task("t"), &json!({"retries_max": 2})).is(201);
    let bee = it.miner("bee");
    let before = size(&it.server);
    let node = |id: &str, more: &str| format!(r#"{{"id": "{id}", "subnet": "sn1", "action": "x"{more}}}"#);
    let nodes = |all: &[String], rest: &str| format!(r#"{{"nodes": [{}]{rest}}}"#, all.join(", "));
    let [a, b] = ["a", "b"].map(|id| node(id, ""));
    let eleven: Vec<String> = (0..11).map(|at| node(&format!("s{at}"), "")).collect();
    let cycle = r#", "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "a"}]"#;
    let reference = node("b", r#", "params": {"q": "${a.output.text}"}"#);
    let nowhere = node("b", r#", "params": {"q": "${c.output.text}"}"#);
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let cases = [
        (nodes(&[], ""), "nodes"),
        (nodes(&[a.clone(), b.clone()], cycle), "edges"),
        (nodes(&[a.clone(), a.clone()], ""), "nodes[1].id"),
        (nodes(std::slice::from_ref(&a), r#", "edges": [{"from": "a", "to": "z"}]"#), "edges[0].to"),
        (nodes(&[a.clone(), reference], ""), "params"),
        (nodes(&[a.clone(), nowhere], ""), "params"),
        (nodes(&eleven, ""), "nodes"),
        (nodes(&[a.replace("sn1", "sn7")], ""), "subnet"),
        (nodes(std::slice::from_ref(&a), r#", "error_handling": {"a": {"retry_count": 3}}"#), "retry_count"),
        (nodes(&[node("a", &format!(r#", "params": {{"q": {deep}}}"#))], ""), ""),
        (String::from("[]"), ""),
        (String::from("{"), ""),
        (String::from("\u{0}"), ""),
    ];
    for (plan, place) in &cases {
        let answer = it.hand_in(&bee, "t", plan);
        answer.is_problem(422, "evidence-refused");
        assert!(answer.body.contains(place), "{plan}: {}", answer.body);
    }
    // Several at once, each with its line.
    let two = "{\"nodes\": [\n{\"id\": \"a\", \"subnet\": \"sn9\", \"action\": \"x\"},\n{\"id\": \"b\", \"subnet\": \"sn8\"}]}";
    let problems = it.hand_in(&bee, "t", two).at("/problems");
    let lines: Vec<&Value> = problems.as_array().unwrap().iter().map(|it| &it["line"]).collect();
    assert!(lines.contains(&&json!(2)) && lines.contains(&&json!(3)), "{problems}");
    // The plan of someone else, or for another task.
    let answer = |member: &str, value: Value| json!({"workflow_plan": plan(), member: value}).to_string();
    for (member, value) in [("subject", json!("ant")), ("miner_uid", json!(7)), ("task_id", json!("u"))] {
        it.hand_in(&bee, "t", &answer(member, value)).is_problem(422, "evidence-refused");
    }
    let long = json!({"workflow_plan": plan(), "reasoning": "x".repeat(300 << 10)}).to_string();
    it.hand_in(&bee, "t", &long).is_problem(413, "too-large");
    it.hand_in(&bee, "none", &plan().to_string()).is_problem(404, "not-found");
    assert_eq!(size(&it.server), before, "nothing was written");

    it.hand_in(&bee, "t", &plan().to_string()).is(201);
    let other = plan().to_string().replace("greet", "wave");
    it.hand_in(&bee, "t", &other).is_problem(409, "conflict");
    it.at(30 * 60 + 1);
    it.hand_in(&bee, "t", &plan().to_string()).is(200);
    it.hand_in(&it.miner("ant"), "t", &plan().to_string()).is_problem(410, "expired");
    it.deliver("t", "ant", "").is_problem(404, "not-found");
    // No one records its own plan, so no recorder is left for this one.
    let it = Market::new(1);
    it.post(&task("t"), &json!({})).is(201);
    it.hand_in(&it.miner("v1"), "t", &plan().to_string()).is_problem(409, "conflict");
}

/// Returns a market with the plan of `bee`, and the only recorder that is drawn for it.
fn with_two_recorders() -> (Market, u8, u8) {
    let it = Market::new(2);
    it.post(&task("t"), &json!({})).is(201);
    it.with_plan("bee");
    let drawn = it.drawn("bee")[0];
    (it, drawn, 3 - drawn)
}

#[test]
fn a_recording_is_refused_by_name_and_nothing_of_it_is_kept() {
    let (it, drawn, other) = with_two_recorders();
    let before = size(&it.server);
    let good = it.made("bee", 1000);
    let changed = |change: &dyn Fn(&mut Made)| {
        let mut made = good.clone();
        change(&mut made);
        made.signed(drawn)
    };
    let text = good.signed(drawn);
    let unsigned = format!("{}{{\"digest\":\"{}\"}}\n", good.lines(), good.digest());
    let digest = |text: &str| json!(karat_core::facts::Digest::of(text.as_bytes()).to_string());
    let evidence = |change: &dyn Fn(&mut Value)| {
        let mut item = json!({"id": good.digest()});
        change(&mut item);
        format!("{text}{item}")
    };
    let not_drawn = format!("it is signed by `v{other}`; expected one of those that were drawn");
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "this is not a recording"),
        (String::from("nonsense\n"), "this is not a recording"),
        (text.replace("hello", "hullo"), "the recording was changed"),
        (text.replace('\n', "\r\n"), "not canonical JSON"),
        (good.lines(), "breaks off before its last line"),
        (unsigned, "it is not signed"),
        (good.signed(other), &not_drawn),
        (good.signed(9), "no recorder that is registered here signed it"),
        (changed(&|it| it.head["ended"] = json!("stopped")), "the run was stopped"),
        (changed(&|it| it.head["plan"] = digest("other")), "the recording is of another plan"),
        (changed(&|it| it.head["task"] = digest("other")), "the recording is of another task"),
        (changed(&|it| it.attempts.clear()), "step `a`, attempt 1 is not in the recording"),
        (
            changed(&|it| it.attempts.push(it.attempts[0].clone())),
            "step `a`, attempt 1 is in the recording a second time",
        ),
        (
            changed(&|it| {
                let mut foreign = it.attempts[0].clone();
                (foreign["step"], foreign["key"]) = (json!("b"), digest("b"));
                it.attempts.push(foreign);
            }),
            "step `b`, attempt 1 is in the recording, and this run does not make it",
        ),
        (
            changed(&|it| it.attempts[0]["key"] = digest("other")),
            "has it with another subnet, action or parameters",
        ),
        (
            changed(&|it| it.head["started_microseconds"] = json!(1_700_000_000_000_000_u64)),
            "when no one could know the plan",
        ),
        (
            changed(&|it| it.head["started_microseconds"] = json!(1_900_000_000_000_000_u64)),
            "ahead of the clock of the server",
        ),
        (evidence(&|_| {}), "the evidence does not follow from plan, task and recording"),
        (evidence(&|it| it["id"] = json!("other")), "$.id: found `\\\"other\\\"`"),
        (format!("{text}[]"), "the evidence does not follow"),
    ];
    for (body, said) in &cases {
        let answer = it.deliver("t", "bee", body);
        answer.is_problem(422, "evidence-refused");
        assert!(answer.body.contains(said), "{said}: {}", answer.body);
    }
    it.deliver("t", "bee", b"{\"ended\":\xff").is_problem(422, "evidence-refused");
    it.deliver("t", "bee", format!("{text}{{")).is_problem(400, "bad-request");
    it.deliver("none", "bee", &text).is_problem(404, "not-found");
    it.deliver("t", "ant", &text).is_problem(404, "not-found");
    let shown = it.show("t", "bee");
    assert_eq!((shown.at("/delivered"), size(&it.server)), (json!([]), before), "nothing was written");
    // And then it is taken, once.
    it.deliver("t", "bee", &text).is(201);
    it.deliver("t", "bee", &text).is(200);
    it.deliver("t", "bee", it.made("bee", 2000).signed(drawn)).is_problem(409, "conflict");
}

#[test]
fn a_recording_that_is_declared_too_long_is_not_read() {
    let (it, ..) = with_two_recorders();
    for path in ["plans/bee/recordings", "plans"] {
        let head = format!(
            "POST /v1/workflows/tasks/t/{path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {}\r\n\
             content-type: {}\r\ncontent-length: 1099511627776\r\nconnection: close\r\n\r\n{{",
            it.server.address.port(),
            if path == "plans" { it.miner("cat") } else { it.server.admin.clone() },
            if path == "plans" { "application/json" } else { "application/x-ndjson" },
        );
        assert!(it.server.raw(head.as_bytes()).starts_with("HTTP/1.1 413"), "{path}");
    }
}

#[test]
fn a_recorder_delivers_no_recording_of_another() {
    let it = Market::new(2);
    it.post(&task("t"), &json!({"recordings": 2})).is(201);
    it.with_plan("bee");
    let made = it.made("bee", 1);
    it.deliver("t", "bee", made.signed(1)).is(201);
    let copied = it.deliver("t", "bee", made.signed(2));
    assert!(copied.is_problem(409, "conflict").body.contains("every recorder runs the plan itself"));
    // Nor one for another plan.
    let ant = Made { ..it.made("bee", 1) };
    it.deliver("t", "ant", ant.signed(2)).is_problem(404, "not-found");
}

#[test]
fn runs_for_a_task_that_was_posted_here_are_scored_from_recordings_alone() {
    let (it, drawn, _) = with_two_recorders();
    let made = it.made("bee", 1);
    let accepted = it.deliver("t", "bee", made.signed(drawn));
    let id = accepted.is(201).at("/result/evidence").as_str().unwrap().to_owned();
    let shown = it.server.get(&format!("/v1/evidence/{}", id.replace('/', "%2F").replace(':', "%3A")));
    let item = shown.is(200).at("/content");
    let before = size(&it.server);
    // The same, another of the same task, under this scorecard or another.
    let mut other = item.clone();
    other["id"] = json!("mine");
    for item in [&item, &other] {
        let refused = it.server.send("card=workflow@1.0.0", &canonical_json(item));
        refused.is_problem(403, "forbidden");
    }
    let miner = it
        .server
        .key(&json!({"name": "x", "scopes": ["write:evidence"], "reports": ["harness", "task", "subject"]}));
    let send = |query: &str, item: &Value| {
        it.server.post(&format!("/v1/evidence?{query}"), Some(&miner), "application/json", item.to_string())
    };
    send("card=workflow@1.0.0", &other).is_problem(403, "forbidden");
    // A correction takes nothing away.
    other["task"]["task_id"] = json!("elsewhere");
    other.as_object_mut().unwrap().remove("task_id");
    send(&format!("card=workflow@1.0.0&replaces={}", made.digest()), &other).is_problem(403, "forbidden");
    it.server
        .send(&format!("card=workflow@1.0.0&replaces={}", made.digest()), &other.to_string())
        .is_problem(403, "forbidden");
    assert_eq!(it.server.get("/v1/records?subject=bee").at("/records").as_array().unwrap().len(), 1);
    // Only the keys were written.
    assert_eq!(size(&it.server).as_u64().unwrap(), before.as_u64().unwrap() + 1);
    // Elsewhere, evidence of runs is sent as ever.
    send("card=workflow@1.0.0", &other).is(201);
}

#[test]
fn no_evidence_of_others_takes_the_place_of_a_run() {
    let it = Market::new(3);
    it.post(&task("t"), &json!({"recordings": 3})).is(201);
    it.with_plan("bee");
    let ant = it.server.key(
        &json!({"name": "ant", "scopes": ["write:evidence"], "reports": ["harness", "task", "subject"]}),
    );
    // A run of another task, from before the clock of this server.
    let run = include_str!("../../../../examples/run/evidence.json").replace("2026-11-23T", "2026-11-22T");
    let squat = |id: String| {
        let mut item: Value = serde_json::from_str(&run).unwrap();
        (item["id"], item["subject"]) = (json!(id), json!("bee"));
        item.as_object_mut().unwrap().remove("miner_uid");
        let path = "/v1/evidence?card=workflow@1.0.0";
        it.server.post(path, Some(&ant), "application/json", item.to_string())
    };
    // After the delivery the id names a recording, and before it the delivery says so.
    it.deliver("t", "bee", it.made("bee", 1).signed(1)).is(201);
    squat(it.made("bee", 1).digest()).is_problem(403, "forbidden");
    squat(it.made("bee", 2).digest()).is(201);
    it.deliver("t", "bee", it.made("bee", 2).signed(2)).is_problem(409, "conflict");
    it.deliver("t", "bee", it.made("bee", 3).signed(2)).is(201);
    let last = it.deliver("t", "bee", it.made("bee", 4).signed(3));
    assert_eq!(last.is(201).at("/result/verdict"), "scored", "{}", last.body);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_are_refused_or_mean_the_same(
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0u8..3), 24),
    ) {
        let (it, drawn, _) = with_two_recorders();
        let made = it.made("bee", 1000);
        let text = made.signed(drawn).into_bytes();
        let mut before = size(&it.server);
        for (place, byte, how) in changes {
            let mut body = text.clone();
            let at = place.index(body.len());
            match how {
                0 => body[at] = byte,
                1 => body.insert(at, byte),
                _ => drop(body.remove(at)),
            }
            if body == text {
                continue;
            }
            let answer = it.deliver("t", "bee", &body);
            if answer.status == 201 || answer.status == 200 {
                // The same recording: a byte outside of it was changed, such as white space after its end.
                prop_assert_eq!(answer.at("/recording"), json!(made.digest()));
                before = size(&it.server);
            } else {
                prop_assert!(matches!(answer.status, 400 | 422), "{}", answer.body);
                prop_assert_eq!(size(&it.server), before.clone());
            }
        }
    }
}
