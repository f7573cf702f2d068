//! Fair matches: instances that no one chooses and that are rated once, logs that were made for their match, and digests that
//! tell nothing.

use std::collections::BTreeSet;

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_server::Options;
use karat_store::log::Signer;
use serde_json::{Value, json};

use crate::arena::{Arena, answer, challenge, llm_call, payload, rating, signed, truth, with_log};
use crate::common::Answer;

const JSON: &str = "application/json";

/// Returns a challenge with this many instances.
pub fn of_many(slug: &str, instances: usize) -> Value {
    let mut challenge = challenge(slug, "contender");
    let instance =
        |number: usize| json!({"seed": number, "input": {"number": number}, "ground_truth": truth()});
    challenge["instances"] = (1..=instances).map(instance).collect();
    challenge
}

fn instance(entered: &Answer) -> u64 {
    entered.at("/draw/instance").as_u64().unwrap()
}

fn sha256(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// Recomputes from public answers which instance a match had to be played at.
fn drawn(game: &Value, unused: &[u64]) -> u64 {
    let text = |name: &str| game.pointer(name).and_then(Value::as_str).unwrap_or_default();
    let (agent, id, draw) = (text("/agent_id"), text("/match_id"), text("/draw/draw"));
    assert_eq!(text("/draw/commitment"), sha256(&format!("karat/arena-draw/1\n{agent}\n{draw}\n")));
    let nonce = text("/draw/agent_nonce");
    let hash = sha256(&format!("karat/arena-instance/1\n{id}\n{draw}\n{nonce}\n"));
    let number = u128::from_str_radix(&hash["sha256:".len()..][..32], 16).unwrap();
    unused[usize::try_from(number % unused.len() as u128).unwrap()]
}

/// Forty replays of one known answer moved a rating from 1000 to 1601.
#[test]
fn a_known_answer_is_rated_once_per_instance() {
    let it = Arena::new();
    let key = it.register("bee");
    let mut seen = BTreeSet::new();
    let mut refused = 0;
    for attempt in 1..=40 {
        let entered = it.enter(&key, "documented", false);
        if attempt > 2 {
            let detail = entered.is_problem(409, "conflict").at("/detail");
            let told = "has 2 instances: each is rated once per agent, and `bee` entered all of them; an administrator";
            assert!(detail.as_str().unwrap().contains(told), "{detail}");
            refused += 1;
            continue;
        }
        assert!(seen.insert(instance(entered.is(201))));
        let id = format!("bee.documented.{attempt}");
        it.submit(&key, &id, &payload(answer(10, 100, 25))).is(201);
    }
    assert_eq!((seen.len(), refused), (2, 38));
    let agent = it.server.get("/v1/arena/agents/bee");
    assert_eq!(agent.at("/career/match_count"), 2);
    assert!(agent.at("/career/rating_points").as_i64().unwrap() <= 1032, "{}", agent.body);
    // Another challenge is open to it, and this one to others.
    it.enter(&key, "easy", false).is(201);
    it.enter(&it.register("wasp"), "documented", false).is(201);
}

#[test]
fn peeking_uses_an_instance_up() {
    let it = Arena::new();
    it.publish(&of_many("many", 5)).is(201);
    let key = it.register("bee");
    let mut seen = BTreeSet::new();
    for attempt in 0..5 {
        it.at(1000 * attempt);
        let entered = it.enter(&key, "many", false);
        assert!(seen.insert(instance(entered.is(201))), "{seen:?}");
        assert_eq!(entered.at("/draw/among"), 5 - attempt);
        // Entering again before it is over gives the same match, not another draw.
        assert_eq!(instance(it.enter(&key, "many", false).is(200)), instance(&entered));
    }
    it.at(10_000);
    it.enter(&key, "many", false).is_problem(409, "conflict");
    let (admin, clock) = (it.server.admin.clone(), it.clock.clone());
    let folder = it.server.stop();
    let server = crate::common::Running::with_clock(
        "127.0.0.1:0",
        folder,
        Options::default(),
        Some(admin),
        clock.clone(),
    );
    let it = Arena { server, clock };
    it.enter(&key, "many", false).is_problem(409, "conflict");
}

#[test]
fn anybody_can_recompute_which_instance_it_had_to_be() {
    let it = Arena::new();
    it.publish(&of_many("many", 8)).is(201);
    let mut firsts = BTreeSet::new();
    for name in ["ant", "bee", "cat", "dog", "elk", "fox"] {
        let key = it.register(name);
        let mut unused: Vec<u64> = (1..=8).collect();
        for attempt in 1..=3 {
            let agent = it.server.get(&format!("/v1/arena/agents/{name}"));
            let commitment = agent.at("/next_commitment");
            let body = json!({"challenge": "many", "nonce": format!("n-{attempt}")}).to_string();
            let entered = it.server.post("/v1/arena/matches", Some(&key), JSON, body);
            assert_eq!(entered.is(201).at("/draw/commitment"), commitment);
            assert_eq!(entered.at("/draw/committed_before"), true);
            let id = format!("{name}.many.{attempt}");
            // Until it is over the draw is in no public answer, nor is the next one committed to.
            for path in [format!("matches/{id}"), format!("agents/{name}"), String::from("matches")] {
                let shown = it.server.get(&format!("/v1/arena/{path}"));
                assert!(!shown.is(200).body.contains("open_draw") && !shown.body.contains("next_draw"));
            }
            assert_eq!(it.server.get(&format!("/v1/arena/matches/{id}")).at("/draw/draw"), Value::Null);
            assert_eq!(
                it.server.get(&format!("/v1/arena/agents/{name}")).at("/next_commitment"),
                Value::Null
            );
            let scored = it.submit(&key, &id, &payload(answer(attempt, 0, 0)));
            let game = scored.is(201).json();
            assert_eq!(drawn(&game, &unused), instance(&entered), "{game}");
            assert_eq!(game["draw"]["among"], unused.len());
            unused.retain(|number| *number != instance(&entered));
            if attempt == 1 {
                firsts.insert(instance(&entered));
            }
            let next = it.server.get(&format!("/v1/arena/agents/{name}")).at("/next_commitment");
            assert_eq!(scored.at("/next_commitment"), next);
            assert_ne!(next, commitment, "every match has its own draw");
        }
    }
    assert!(firsts.len() > 2, "the first instance is not the same for all: {firsts:?}");
    let body = |nonce: &str| json!({"challenge": "easy", "nonce": nonce}).to_string();
    let key = it.register("gnu");
    for nonce in ["", "a b", "\u{e9}", &"a".repeat(65)] {
        let refused = it.server.post("/v1/arena/matches", Some(&key), JSON, body(nonce));
        assert_eq!(refused.is_problem(400, "bad-request").at("/field"), "$.nonce");
    }
}

#[test]
fn an_expired_match_shows_its_draw() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "documented", false).is(201);
    it.at(1000);
    let game = it.server.get("/v1/arena/matches/bee.documented.1").is(200).json();
    assert_eq!(game["state"], "expired");
    assert_eq!(game["draw"]["instance"], drawn(&game, &[1, 2]));
}

#[test]
fn an_instance_may_be_for_one_agent_only() {
    let it = Arena::new();
    let mut once = of_many("once", 3);
    once["single_use"] = json!(true);
    it.publish(&once).is(201);
    assert_eq!(it.server.get("/v1/arena/challenges/once").at("/single_use"), true);
    let keys: Vec<String> = (0..6).map(|at| it.register(&format!("agent-{at}"))).collect();
    let statuses: Vec<(u16, u64)> = std::thread::scope(|scope| {
        let enter = |key: &String| {
            let entered = it.enter(key, "once", false);
            (entered.status, entered.at("/draw/instance").as_u64().unwrap_or_default())
        };
        let threads: Vec<_> = keys.iter().map(|key| scope.spawn(move || enter(key))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let played: BTreeSet<u64> = statuses.iter().filter(|(status, _)| *status == 201).map(|it| it.1).collect();
    assert_eq!(played, [1, 2, 3].into(), "{statuses:?}");
    assert_eq!(statuses.iter().filter(|(status, _)| *status == 409).count(), 3, "{statuses:?}");
    let refused = it.enter(&it.register("late"), "once", false);
    assert!(
        refused.is_problem(409, "conflict").at("/detail").as_str().unwrap().contains("for one agent only")
    );
}

#[test]
fn the_same_instance_twice_is_refused() {
    let it = Arena::new();
    let mut twice = of_many("twice", 3);
    twice["instances"][2] = twice["instances"][0].clone();
    assert_eq!(it.publish(&twice).is_problem(400, "bad-request").at("/field"), "$.instances[2]");
}

/// One invented model call and `memoryless` earned the bonus of 1.2.
#[test]
fn verified_is_what_the_server_checked() {
    let it = Arena::new();
    it.publish(&of_many("many", 40)).is(201);
    it.enter(&it.register("bee"), "many", false).is(201);
    let other = it.enter(&it.register("wasp"), "many", false);
    let call = || llm_call("2026-01-01T00:00:01Z");
    let with = |mut step: Value, name: &str, value: Value| {
        step[name] = value;
        step
    };
    let free = || with(with(call(), "input_tokens", json!(0)), "output_tokens", json!(0));
    let read = json!({"type": "tool_call", "ts": "2026-01-01T00:00:01Z", "tool": "read_file", "input": "b.txt", "output": "made up", "duration_ms": 1});
    type Log = Box<dyn Fn(&Answer) -> Value>;
    let chained = |steps: Vec<Value>| -> Log {
        Box::new(move |entered| with_log(entered, answer(10, 100, 25), steps.clone()))
    };
    let changed = |change: fn(&mut Vec<Value>)| -> Log {
        let steps = vec![call(), llm_call("2026-01-01T00:00:02Z"), llm_call("2026-01-01T00:00:03Z")];
        Box::new(move |entered| {
            let mut sent = with_log(entered, answer(10, 100, 25), steps.clone());
            change(sent["metadata"]["replay_log"].as_array_mut().unwrap());
            sent
        })
    };
    let of_other = with_log(&other, answer(10, 100, 25), vec![call()]);
    let bare = json!({"answer": answer(10, 100, 25), "metadata": {"replay_log": [call()]}});
    let cases: Vec<(&str, Log, &[&str])> = vec![
        ("sound", chained(vec![call(), call()]), &[]),
        ("as it was accepted before", Box::new(move |_| bare.clone()), &["chained"]),
        ("of another match", Box::new(move |_| of_other.clone()), &["chained"]),
        ("a step changed", changed(|log| log[0]["output_tokens"] = json!(1)), &["chained"]),
        ("a step left out", changed(|log| drop(log.remove(1))), &["chained"]),
        ("steps exchanged", changed(|log| log.swap(0, 1)), &["chained", "times_in_order"]),
        ("cut off at the end", changed(|log| drop(log.pop())), &[]),
        ("back in time", chained(vec![llm_call("2026-01-01T00:00:02Z"), call()]), &["times_in_order"]),
        ("before the match", chained(vec![llm_call("2025-12-31T23:59:00Z")]), &["timestamps_in_bounds"]),
        ("without tokens", chained(vec![free()]), &["tokens_counted"]),
        ("a failed call without tokens", chained(vec![call(), with(free(), "error", json!(true))]), &[]),
        ("less than no time", chained(vec![with(call(), "duration_ms", json!(-3))]), &["durations_possible"]),
        (
            "longer than the match",
            chained(vec![with(call(), "duration_ms", json!(1e9))]),
            &["durations_possible"],
        ),
        ("a file that is not there", chained(vec![read]), &["tool_replay_consistent"]),
        ("nothing", chained(vec![]), &["non_empty"]),
    ];
    for (name, log, failed) in cases {
        // Each begins at the same time.
        let it = Arena::new();
        it.publish(&of_many("many", 40)).is(201);
        let key = it.register("bee");
        let entered = it.enter(&key, "many", true);
        it.at(10);
        let sent = log(entered.is(201));
        let scored = it.submit(&key, "bee.many.1", &sent);
        let validation = scored.is(201).at("/trajectory_validation");
        assert_eq!(validation["failed_checks"], json!(failed), "{name}: {validation}");
        let is_sound = failed.is_empty();
        assert_eq!(scored.at("/verified"), is_sound, "{name}");
        let by = if is_sound { json!("checked") } else { Value::Null };
        assert_eq!(
            (scored.at("/verified_by"), scored.at("/benchmark_grade")),
            (by.clone(), json!(false)),
            "{name}"
        );
        assert_eq!(scored.at("/rating/bonus_factor"), if is_sound { 1.1 } else { 1.0 }, "{name}");
        let record = it.server.get(&format!("/v1/records/{}", scored.at("/record_position")));
        let standing = record.is(200).at("/record/grading/standing");
        assert_eq!(standing.get("verified_by").cloned().unwrap_or_default(), by, "{name}: {standing}");
        assert_eq!(standing.get("memoryless_by"), None, "the claim of the agent counts for nothing");
    }
}

#[test]
fn the_word_of_a_harness_counts_and_no_other() {
    let it = Arena::new();
    it.publish(&of_many("many", 40)).is(201);
    let (key, signer) = (it.register("bee"), it.register_harness());
    let stranger = Signer::new("loop-1", &[8; 32]).unwrap();
    let entered = it.enter(&key, "many", true);
    let other = it.enter(&it.register("wasp"), "many", true);
    let sent = with_log(entered.is(201), answer(10, 100, 25), vec![llm_call("2026-01-01T00:00:00Z")]);
    let good = signed(&signer, &entered, sent.clone(), true);
    let with = |path: &str, value: Value| {
        let mut changed = good.clone();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    let note = good.pointer("/metadata/harness_statement").unwrap().as_str().unwrap();
    for (wrong, told) in [
        (signed(&stranger, &entered, sent.clone(), true), "no signature is by the trusted key"),
        (signed(&signer, &other, sent.clone(), true), "line 2 of the statement"),
        (with("/metadata/harness_id", json!("loop-9")), "no harness `loop-9`"),
        (
            with("/metadata/harness_statement", json!(note.replace("true", "false"))),
            "or the text was changed",
        ),
        (with("/metadata/harness_statement", json!("memoryless true")), "not a signed note"),
        (with("/metadata/harness_statement", json!(7)), "expected a text"),
        (with("/metadata/replay_log/0/output_tokens", json!(4)), "line 4 of the statement"),
        // The log of an honest run does not vouch for an answer from elsewhere.
        (with("/answer", answer(9, 100, 25)), "line 5 of the statement"),
    ] {
        let refused = it.submit(&key, "bee.many.1", &wrong);
        let field = refused.is_problem(422, "evidence-refused").at("/field");
        assert_eq!(field, "$.payload.metadata.harness_statement", "{}", refused.body);
        assert!(refused.at("/detail").as_str().unwrap().contains(told), "{told}: {}", refused.body);
    }
    let scored = it.submit(&key, "bee.many.1", &good);
    assert_eq!(
        (scored.is(201).at("/verified_by"), scored.at("/benchmark_grade")),
        (json!("harness"), json!(true))
    );
    let record = it.server.get(&format!("/v1/records/{}", scored.at("/record_position")));
    let standing = json!({"memoryless_by": "harness", "verified_by": "harness"});
    assert_eq!(record.at("/record/grading/standing"), standing);

    // It says that the agent had its memory, whatever the agent says; and it vouches for a log without a chain.
    let bare = json!({"answer": answer(10, 100, 25), "metadata": {"replay_log": [llm_call("2026-01-01T00:00:00Z")]}});
    let entered = it.enter(&key, "many", true);
    let scored = it.submit(&key, "bee.many.2", &signed(&signer, &entered, bare.clone(), false));
    assert_eq!(
        (scored.is(201).at("/verified"), scored.at("/harness_memoryless")),
        (json!(true), json!(false))
    );
    // But for no file that is not as it says.
    let entered = it.enter(&key, "many", true);
    let read = json!({"type": "tool_call", "ts": "2026-01-01T00:00:00Z", "tool": "read", "input": "b.txt", "output": "x", "duration_ms": 1});
    let forged = json!({"answer": answer(10, 100, 25), "metadata": {"replay_log": [read]}});
    let scored = it.submit(&key, "bee.many.3", &signed(&signer, &entered, forged, true));
    assert_eq!((scored.is(201).at("/verified"), scored.at("/benchmark_grade")), (json!(false), json!(false)));

    it.server.delete("/v1/arena/harnesses/loop-1", &it.server.admin).is(204);
    it.server.delete("/v1/arena/harnesses/loop-1", &it.server.admin).is_problem(404, "not-found");
    let entered = it.enter(&key, "many", true);
    let late = it.submit(&key, "bee.many.4", &signed(&signer, &entered, bare, true));
    late.is_problem(422, "evidence-refused");
    let listed = it.server.get("/v1/arena/harnesses");
    assert_eq!(listed.is(200).at("/harnesses/0/revoked_at"), "2026-01-01T00:00:00Z");
}

/// A harness may have signed the one, and the server grade the other.
#[test]
fn what_two_readers_read_as_two_things_is_refused() {
    let it = Arena::new();
    let key = it.register("bee");
    it.enter(&key, "documented", false).is(201);
    let path = "/v1/arena/matches/bee.documented.1/submission";
    let twice = "found the key a second time";
    for (body, name, told) in [
        (r#"{"answer": {"exit": 10}, "answer": {"exit": 0}}"#, "$.answer", twice),
        (r#"{"answer": {"exit": 10, "exit": 0}}"#, "$.answer.exit", twice),
        (
            r#"{"answer": {}, "metadata": {"replay_log": [{"prev": "a", "\u0070rev": "b"}]}}"#,
            "$.metadata.replay_log[0].prev",
            twice,
        ),
        (r#"{"answer": {"exit": [18446744073709551617]}}"#, "$.answer.exit[0]", "18446744073709551617"),
    ] {
        let refused = it.server.post(path, Some(&key), JSON, body);
        let problem = refused.is_problem(400, "bad-request");
        assert!(problem.at("/detail").as_str().unwrap().contains(told), "{body}");
        assert_eq!(problem.at("/field"), name, "{body}");
    }
    it.submit(&key, "bee.documented.1", &payload(answer(10, 100, 25))).is(201);
}

/// A match with thousands of findings had 430 kB in memory and in every list.
#[test]
fn a_match_keeps_few_of_many_findings() {
    let it = Arena::new();
    let key = it.register("bee");
    let entered = it.enter(&key, "documented", false);
    let read = |number: usize| {
        json!({"type": "tool_call", "ts": "2001-01-01T00:00:00Z", "tool": "read", "input": format!("{number}/none"),
            "output": "x", "duration_ms": -1})
    };
    let sent = with_log(entered.is(201), answer(10, 100, 25), (0..1000).map(read).collect());
    let scored = it.submit(&key, "bee.documented.1", &sent);
    assert_eq!(scored.is(201).at("/verified"), false);
    let checks = scored.at("/trajectory_validation");
    let count = |name: &str| checks[name].as_array().unwrap().len();
    assert!(count("warnings") > 10 && count("unknown_files") > 10, "{checks}");
    let kept = count("warnings") + count("unknown_files");
    assert!(
        checks.to_string().len() < 20_000 && checks["left_out"].as_u64().unwrap() > kept as u64,
        "{checks}"
    );
    let id = scored.at("/evidence").as_str().unwrap().replace('/', "%2F");
    let evidence = it.server.get(&format!("/v1/evidence/{id}"));
    let all = evidence.is(200).at("/content/trajectory_validation");
    let all = ["warnings", "unknown_files"].map(|name| all[name].as_array().unwrap().len());
    assert_eq!(all.iter().sum::<usize>() as u64, kept as u64 + checks["left_out"].as_u64().unwrap());
}

#[test]
fn keys_of_harnesses_are_checked() {
    let it = Arena::new();
    let key = it.register("bee");
    let register = |by: &str, id: &str, public: &str| {
        let body = json!({"harness_id": id, "key": public}).to_string();
        it.server.post("/v1/arena/harnesses", Some(by), JSON, body)
    };
    let public = |seed: u8| Signer::new("loop", &[seed; 32]).unwrap().verifying_key().to_string();
    register(&key, "loop-1", &public(1)).is_problem(403, "forbidden");
    let admin = &it.server.admin;
    for id in ["", "a/b", "a b"] {
        assert_eq!(
            register(admin, id, &public(1)).is_problem(400, "bad-request").at("/field"),
            "$.harness_id"
        );
    }
    for wrong in ["", "loop", &public(1)[1..]] {
        assert_eq!(register(admin, "loop-1", wrong).is_problem(400, "bad-request").at("/field"), "$.key");
    }
    register(admin, "loop-1", &public(1)).is(201);
    register(admin, "loop-1", &public(1)).is(200);
    register(admin, "loop-1", &public(2)).is_problem(409, "conflict");
}

/// A public digest of a submission told an answer of a few bits.
#[test]
fn no_public_digest_tells_an_answer() {
    const BITS: u32 = 8;
    let it = Arena::new();
    let mut short = of_many("short", 3);
    short["card"] = json!("bits@1.0.0");
    for instance in short["instances"].as_array_mut().unwrap() {
        instance["ground_truth"] = json!({"bits": 3});
    }
    let card = "schema = \"karat/scorecard/1\"\nid = \"bits\"\nversion = \"1.0.0\"\ntitle = \"Bits\"\nabout = \"A few bits.\"\n\
                base = \"arena@1.0.0\"\n[dims]\ncorrectness = 0.5\nspeed = 0.5\n[[evaluator.correctness]]\n\
                primitive = \"exact_match\"\nfield = \"bits\"\n";
    it.server.post("/v1/scorecards", Some(&it.server.admin), "application/toml", card).is(201);
    it.publish(&short).is(201);
    let key = it.register("bee");
    let sent = |bits: u32| json!({"answer": {"bits": bits}, "metadata": {"harness_id": "loop-1"}});
    it.enter(&key, "short", false).is(201);
    let scored = it.submit(&key, "bee.short.1", &sent(77));
    let (position, blind) = (scored.is(201).at("/record_position"), scored.at("/blind"));
    it.submit(&key, "bee.short.1", &sent(78)).is_problem(409, "conflict");
    assert_eq!(it.submit(&key, "bee.short.1", &sent(77)).is(200).at("/blind"), blind, "it was recognised");
    // With its blind the agent can show what it sent.
    let told = canonical_json(&json!({"blind": blind, "payload": sent(77)}));
    assert_eq!(scored.at("/submission"), sha256(&told));

    let mut public: Vec<String> = [
        "/v1/arena/matches".to_owned(),
        "/v1/arena/matches/bee.short.1".to_owned(),
        "/v1/arena/agents/bee".to_owned(),
        "/v1/arena/ratings".to_owned(),
        "/v1/records?subject=bee".to_owned(),
        format!("/v1/records/{position}"),
        format!("/v1/records/{position}/explanation"),
        format!("/v1/receipts/{position}"),
        "/v1/subjects/bee/history?card=bits".to_owned(),
        "/v1/evidence/bee%2Fbee.short.1".to_owned(),
        "/arena".to_owned(),
        "/arena/matches/bee.short.1".to_owned(),
        "/v1/log".to_owned(),
        "/checkpoint".to_owned(),
    ]
    .map(|path| it.server.get(&path).body)
    .into();
    assert!(public[0].contains("bee.short.1") && public[7].contains("sources"), "{}", public[7]);
    let size: u64 = it.server.get("/checkpoint").body.lines().nth(1).unwrap().parse().unwrap();
    public.push(it.server.get(&format!("/tile/entries/000.p/{size}")).is(200).body.clone());
    for at in 0..size {
        public.push(it.server.get(&format!("/v1/receipts/{at}")).body);
        public.push(it.server.get(&format!("/v1/records/{at}")).body);
        public.push(it.server.get(&format!("/v1/evidence/{at}")).body);
    }
    let all = public.join("\n");
    assert!(!all.contains(blind.as_str().unwrap()), "the blind is for the agent alone");
    let game: Value = serde_json::from_str(&public[1]).unwrap();
    // All of the stored submission is public now, but for its blind.
    let stored = |bits: u32| {
        let mut stored =
            json!({"schema": "karat/arena-match/1", "state": "submitted", "payload": sent(bits)});
        for name in [
            "agent_id", "attempt_number", "challenge", "expires_at", "match_id", "match_nonce", "memoryless",
            "draw", "seed", "started_at", "submitted_at",
        ] {
            stored[name] = game[name].clone();
        }
        stored["open_draw"] = stored["draw"]["draw"].take();
        stored
    };
    let mut known = stored(77);
    known["blind"] = blind.clone();
    assert!(
        all.contains(&sha256(&canonical_json(&known))),
        "with the blind it is the item that evidence names: {known}"
    );
    for bits in 0..1 << BITS {
        let answer = json!({"bits": bits});
        // All that could be digested: the submission, the answer, the item of the log without its blind.
        let mut item = game.clone();
        item["state"] = json!("submitted");
        item["payload"] = sent(bits);
        for candidate in [sent(bits), answer.clone(), json!({"answer": answer}), item, stored(bits)] {
            let digest = sha256(&canonical_json(&candidate));
            let digits = digest.trim_start_matches("sha256:");
            assert!(!all.contains(digits), "{bits}: {candidate}");
        }
    }
}

/// A refusal may tell nothing of the right answer: the match goes on.
#[test]
fn refusals_do_not_depend_on_the_right_answer() {
    let it = Arena::new();
    for (slug, part) in [("one", 1), ("two", 0)] {
        let mut other = of_many(slug, 1);
        other["instances"][0]["ground_truth"] =
            json!({"parts": vec![part; 10], "steps": vec![part; 3], "targets": vec![part; 5]});
        it.publish(&other).is(201);
    }
    let (bee, wasp) = (it.register("bee"), it.register("wasp"));
    it.enter(&bee, "one", false).is(201);
    it.enter(&wasp, "two", false).is(201);
    for wrong in [
        json!({}),
        json!([]),
        json!({"answer": [1, 1]}),
        json!({"answer": null}),
        json!({"answer": answer(10, 100, 25), "metadata": []}),
        json!({"answer": answer(10, 100, 25), "metadata": {"harness_id": 7}}),
        json!({"answer": answer(10, 100, 25), "metadata": {"token_count": "x", "replay_log": {}}}),
        json!({"answer": answer(10, 100, 25), "metadata": {"replay_log": [{"type": "sleep"}, {}]}}),
        json!({"answer": answer(10, 100, 25), "metadata": {"replay_log": vec![llm_call("x"); 1001]}}),
        json!({"answer": answer(0, 0, 0), "metadata": {"harness_statement": "x", "harness_id": "none"}}),
    ] {
        let [one, two] = [(&bee, "bee.one.1"), (&wasp, "wasp.two.1")].map(|(key, id)| {
            let mut problem = it.submit(key, id, &wrong).is_problem(422, "evidence-refused").json();
            problem.as_object_mut().unwrap().remove("instance");
            problem
        });
        assert_eq!(one, two, "{wrong}");
    }
    // A fault within the answer is part of its score, which is shown when the match is over.
    for (key, id) in [(&bee, "bee.one.1"), (&wasp, "wasp.two.1")] {
        it.submit(key, id, &payload(json!({"parts": "x", "steps": 7}))).is(201);
        it.submit(key, id, &payload(answer(10, 100, 25))).is_problem(409, "conflict");
    }
}

#[test]
fn ratings_show_how_sure_they_are() {
    let it = Arena::new();
    it.publish(&of_many("many", 40)).is(201);
    let key = it.register("bee");
    for attempt in 1..=12 {
        it.at(1000 * attempt);
        it.enter(&key, "many", false).is(201);
        it.submit(&key, &format!("bee.many.{attempt}"), &payload(answer(10, 100, 25))).is(201);
    }
    let row = it.server.get("/v1/arena/ratings").is(200).at("/ratings/0");
    let agent = it.server.get("/v1/arena/agents/bee");
    assert_eq!(agent.is(200).at("/skill"), row["skill"]);
    let of = |name: &str| row.pointer(&format!("/skill/{name}")).and_then(Value::as_f64).unwrap();
    assert!(of("full/points") > of("discounted/points") && of("discounted/points") > 1000.0, "{row}");
    assert!(of("full/deviation_points") < of("discounted/deviation_points"), "{row}");
    assert_eq!(row["skill"]["discounted"]["provisional"], true);
    assert_eq!(row["skill"]["as_of"], "2026-01-01T03:20:00Z");
    // Elo stays as the document has it.
    assert_eq!(rating(&it.server.get("/v1/arena/matches/bee.many.1"))[0..2], [1000, 16]);
    let page = it.server.get("/arena").is(200).body.clone();
    let [full, twice] = [of("full/points"), 2.0 * of("full/deviation_points")].map(|it| it.round_ties_even());
    assert!(
        page.contains(&format!("{full}\u{a0}±\u{a0}{twice}")) && page.contains(", provisional"),
        "{page}"
    );
    let game = it.server.get("/arena/matches/bee.many.1").is(200).body.clone();
    for told in ["drawn from 40", "the draw is public once the match is over", "not verified"] {
        assert!(game.contains(told), "{told}: {game}");
    }
}
