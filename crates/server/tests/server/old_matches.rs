//! Matches from before draws and nonces: they are read, and neither believed nor reported as damage.

use karat_evidence::canonical_json;
use karat_server::arena::Content;
use karat_server::clock::Clock;
use karat_server::content::Stored as _;
use karat_server::effect::Effect;
use karat_server::keys::SERVER;
use karat_server::replay::Replayed;
use karat_server::scoring::How;
use karat_server::state::Submission;
use karat_server::{Options, Server, play};
use serde_json::{Value, json};

use crate::arena::{START, answer, llm_call, payload};
use crate::common::Folder;
use crate::fair::of_many;

/// Items of a log from before instances were drawn still count.
#[test]
fn matches_from_before_are_read() {
    let folder = Folder::new();
    let clock = Clock::fixed(START);
    let address = "127.0.0.1:0".parse().unwrap();
    let server =
        Server::bind_at(folder.path(), None, address, Options::default(), clock, &mut |_, _| {}).unwrap();
    let app = &server.app;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let career = json!({"rating_points": 1016, "category_points": {"reasoning": 1016}, "match_count": 1, "win_count": 1,
        "draw_count": 0, "loss_count": 0, "current_streak": 1, "best_streak": 1});
    let settled = json!({"career": career, "titles": ["Seasoned"], "rating": {"before_points": 1000, "after_points": 1016,
        "change_points": 16, "opponent_points": 1000, "expected": 0.5, "factor_points": 32.0, "play_points": 16,
        "floor_points": 0, "bonus_factor": 1.0, "bonus_points": 0, "category": null}});
    let game = json!({"schema": "karat/arena-match/1", "match_id": "bee.many.1", "agent_id": "bee", "challenge": "many",
        "attempt_number": 1, "memoryless": true, "seed": 1, "started_at": "2025-12-01T00:00:00Z",
        "expires_at": "2025-12-01T00:01:40Z", "state": "entered"});
    let with = |more: Value| {
        let mut state = game.clone();
        state.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        state
    };
    let mut scored = with(
        json!({"state": "scored", "submitted_at": "2025-12-01T00:00:10Z", "submission": "sha256:00",
        "evidence": "e", "record": "r", "score": 900.0, "score_breakdown": {}, "result": "win", "verified": true,
        "benchmark_grade": true}),
    );
    scored.as_object_mut().unwrap().extend(settled.as_object().unwrap().clone());
    let mut stored = of_many("many", 3);
    stored["schema"] = json!("karat/arena-challenge/1");
    stored["blind"] = json!("00");
    let agent = json!({"schema": "karat/arena-agent/1", "agent_id": "bee", "harness_id": null,
        "registered_at": "2025-11-01T00:00:00Z"});
    let submitted = with(json!({"state": "submitted", "submitted_at": "2025-12-01T00:00:10Z",
        "payload": payload(answer(9, 69, 19))}));
    for item in [stored, agent, game.clone(), submitted, scored] {
        let content = Content::parse(item.to_string().as_bytes()).unwrap();
        let new = content.item().unwrap();
        if item["state"] != "scored" {
            let content = String::from_utf8(new.content.clone()).unwrap();
            assert_eq!(content, canonical_json(&item), "the same bytes");
        }
        let batch = Submission::from_sender(SERVER).with(new, Some(Effect::Arena(Box::new(content))));
        runtime.block_on(app.append_one(batch)).unwrap();
    }
    let enter = |nonce| {
        let entry = play::Entry { agent: "bee", challenge: "many", memoryless: false, nonce };
        runtime.block_on(play::enter(app, SERVER, entry)).unwrap().value
    };
    // The first attempt played the first instance; there was no commitment to the next draw, and the match says so.
    let second = enter(Some("mine"));
    let draw = second.draw.as_ref().unwrap();
    assert!(!draw.committed_before && draw.instance > 1 && draw.among == 2, "{draw:?}");
    assert_eq!(second.match_id, "bee.many.2");
    app.clock.put(karat_core::timestamp::Timestamp { milliseconds: START.milliseconds + 1_000_000 });
    runtime.block_on(play::expire_overdue(app)).unwrap();
    assert!(enter(None).draw.as_ref().unwrap().committed_before);
    let skill = app.memory.arena.state().skill("bee");
    assert!(skill.full.points > 1000.0 && skill.full == skill.discounted, "{skill:?}");
}

/// A match that was open while the server was replaced was believed; an id that was taken before gave digests of scores; and the
/// record of a verified match was reported as false.
#[test]
fn what_was_stored_before_is_neither_believed_nor_reported() {
    let folder = Folder::new();
    let address = "127.0.0.1:0".parse().unwrap();
    let server = Server::bind_at(
        folder.path(),
        None,
        address,
        Options::default(),
        Clock::fixed(START),
        &mut |_, _| {},
    )
    .unwrap();
    let app = &server.app;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let store = |batch: Submission| drop(runtime.block_on(app.append_one(batch)).unwrap());
    let scored = |item: Value| {
        let pool = app.memory.scorer("log-forensics@1.0.0").unwrap();
        How { pool: &pool, as_of: None, holder: None, name: None }.score(item.to_string().as_bytes()).unwrap()
    };
    let scores = json!({"correctness": 900, "speed": 700, "methodology": 700, "completeness": 700});
    let mut old = scored(json!({"match_id": "m-1", "agent_id": "cat", "scores": scores, "verified": true}));
    let mut record: Value = serde_json::from_slice(&old.record.content).unwrap();
    assert_eq!(record["grading"], json!({"standing": {"verified_by": "claimed"}}));
    record["grading"] = Value::Null;
    old.record.content = canonical_json(&record).into_bytes();
    store(Submission::from_sender(SERVER).with(old.evidence, None).with(old.record, None));
    let taken = scored(json!({"match_id": "ant.many.1", "agent_id": "ant", "scores": scores}));
    store(Submission::from_sender(SERVER).with(taken.evidence, None));

    let mut challenge = of_many("many", 3);
    challenge["schema"] = json!("karat/arena-challenge/1");
    challenge["card"] = json!("incident-review@1.0.0");
    for instance in challenge["instances"].as_array_mut().unwrap() {
        instance["ground_truth"] = json!({"cause": "expired certificate", "outage_minutes": 42, "log_lines": ["gateway:118"],
            "services": ["gateway"]});
    }
    let mut items = vec![challenge];
    for agent in ["ant", "bee"] {
        items.push(json!({"schema": "karat/arena-agent/1", "agent_id": agent, "harness_id": null,
            "registered_at": "2025-11-01T00:00:00Z"}));
        items.push(
            json!({"schema": "karat/arena-match/1", "match_id": format!("{agent}.many.1"), "agent_id": agent,
            "challenge": "many", "attempt_number": 1, "memoryless": true, "seed": 1,
            "started_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-01T00:01:40Z", "state": "entered"}),
        );
    }
    for item in items {
        let content = Content::parse(item.to_string().as_bytes()).unwrap();
        let new = content.item().unwrap();
        store(Submission::from_sender(SERVER).with(new, Some(Effect::Arena(Box::new(content)))));
    }
    let sent = json!({"answer": answer(10, 100, 25), "metadata": {"replay_log": [llm_call("2026-01-01T00:00:00Z")]}});
    let submit = |id: &str| runtime.block_on(play::submit(app, SERVER, id, sent.clone(), START));
    let played = submit("bee.many.1").unwrap().value.game;
    let karat_server::arena::State::Scored(played) = played.state else { panic!("{played:?}") };
    assert!(!played.verified && !played.benchmark_grade && played.verified_by.is_none(), "{played:?}");
    let refused = serde_json::to_value(submit("ant.many.1").unwrap_err()).unwrap();
    assert!(refused["detail"].as_str().unwrap().contains("from before the arena"), "{refused}");
    assert!(!refused.to_string().contains("sha256:"), "{refused}");
    drop(server);
    assert_eq!(crate::traces::replayed(&folder), [Replayed::SameButEngine, Replayed::Same]);
}
