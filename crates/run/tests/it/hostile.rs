//! Recordings that someone has been at: attempts shuffled, left out, doubled, crossed with others, bytes changed. With the digest
//! made to fit again, so that only the replay can tell.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::Path;

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_run::{Job, Recording};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/run").join(name);
    fs::read_to_string(path).unwrap()
}

fn job() -> Job {
    Job::new(example("plan.json").as_bytes(), example("task.json").as_bytes(), None, None).unwrap().0
}

/// Returns head and attempts of the recording of the example.
fn lines() -> Vec<Value> {
    let text = example("recording.jsonl");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.pop();
    lines
}

/// Returns the text of a recording with these lines, with the digest that fits.
fn sealed(lines: &[Value]) -> String {
    let body: String = lines.iter().map(|line| canonical_json(line) + "\n").collect();
    format!("{body}{{\"digest\":\"{}\"}}\n", Digest::of(body.as_bytes()))
}

/// Returns what is wrong with a recording of the example; empty if it replays.
fn faults(text: &str) -> Vec<String> {
    let shown = |faults: Vec<karat_run::Fault>| faults.iter().map(ToString::to_string).collect();
    match Recording::parse(text) {
        Err(faults) => shown(faults),
        Ok(recording) => job().replay(&recording).err().map(shown).unwrap_or_default(),
    }
}

/// A change of the attempts, each of which must be seen.
#[derive(Debug, Clone)]
enum Change {
    Swap(Index, Index),
    Drop(Index),
    Double(Index, Index),
    /// A member of one attempt in another.
    Cross(Index, Index, &'static str),
    /// An attempt that the run does not make.
    Foreign(Index, Index),
    Renumber(Index, u64),
    Stopped,
    Of(&'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        (at(), at()).prop_map(|(one, other)| Change::Swap(one, other)),
        at().prop_map(Change::Drop),
        (at(), at()).prop_map(|(one, other)| Change::Double(one, other)),
        (at(), at(), proptest::sample::select(vec!["key", "step", "attempt"]))
            .prop_map(|(one, other, member)| Change::Cross(one, other, member)),
        (at(), at()).prop_map(|(one, other)| Change::Foreign(one, other)),
        (at(), 0u64..5).prop_map(|(at, number)| Change::Renumber(at, number)),
        Just(Change::Stopped),
        proptest::sample::select(vec!["plan", "task"]).prop_map(Change::Of),
    ]
}

fn apply(lines: &mut Vec<Value>, change: &Change) {
    let count = lines.len() - 1;
    if count == 0 {
        return;
    }
    let place = |at: &Index| 1 + at.index(count);
    match change {
        Change::Swap(one, other) => lines.swap(place(one), place(other)),
        Change::Drop(at) => drop(lines.remove(place(at))),
        Change::Double(one, other) => {
            let copy = lines[place(one)].clone();
            lines.insert(place(other), copy);
        }
        Change::Cross(one, other, member) => {
            let from = lines[place(one)][*member].clone();
            lines[place(other)][*member] = from;
        }
        Change::Foreign(one, other) => {
            let mut foreign = lines[place(one)].clone();
            foreign["step"] = json!("foreign");
            foreign["key"] = json!(Digest::of(b"foreign").to_string());
            lines.insert(place(other), foreign);
        }
        Change::Renumber(at, number) => lines[place(at)]["attempt"] = json!(number),
        Change::Stopped => lines[0]["ended"] = json!("stopped"),
        Change::Of(what) => lines[0][*what] = json!(Digest::of(b"other").to_string()),
    }
}

#[test]
fn the_example_replays() {
    assert_eq!(faults(&example("recording.jsonl")), Vec::<String>::new());
    assert_eq!(faults(&sealed(&lines())), Vec::<String>::new());
    assert_eq!(lines().len(), 10);
}

#[test]
fn every_attempt_is_missed_and_every_double_is_seen() {
    for at in 1..lines().len() {
        let mut without = lines();
        let gone = without.remove(at);
        let said = faults(&sealed(&without)).join("\n");
        let (step, number) = (gone["step"].as_str().unwrap(), &gone["attempt"]);
        assert!(said.contains(&format!("step `{step}`, attempt {number} is not in the recording")), "{said}");
        let mut doubled = lines();
        doubled.insert(at, gone.clone());
        let said = faults(&sealed(&doubled)).join("\n");
        assert!(
            said.contains(&format!("step `{step}`, attempt {number} is in the recording a second time")),
            "{said}"
        );
        for other in (1..lines().len()).filter(|other| *other != at) {
            let mut crossed = lines();
            crossed[at]["key"] = crossed[other]["key"].clone();
            assert!(!faults(&sealed(&crossed)).is_empty(), "{at} with the key of {other}");
            let mut swapped = lines();
            swapped.swap(at, other);
            assert!(!faults(&sealed(&swapped)).is_empty(), "{at} in the place of {other}");
        }
    }
}

#[test]
fn what_no_live_run_makes_is_not_replayed() {
    let at = |step: &str, number: u64| {
        let is_it = |line: &Value| line["step"] == step && line["attempt"] == number;
        lines().iter().position(is_it).unwrap()
    };
    let retry = lines().iter().position(|line| line["attempt"] == 2).unwrap();
    let step = lines()[retry]["step"].as_str().unwrap().to_owned();
    let mut overlapping = lines();
    let before = &lines()[at(&step, 1)];
    let end =
        before["start_microseconds"].as_u64().unwrap() + before["duration_microseconds"].as_u64().unwrap();
    overlapping[retry]["start_microseconds"] = json!(end - 1);
    let said = faults(&sealed(&overlapping)).join("\n");
    assert!(said.contains("attempt 2 begins before the attempt before it has ended"), "{said}");

    let plan: Value = serde_json::from_str(&example("plan.json")).unwrap();
    let handling = &plan["workflow_plan"]["error_handling"];
    let mut stopped = lines();
    let failed = stopped.iter_mut().skip(1).find(|line| {
        line["outcome"] != "success" && handling[line["step"].as_str().unwrap()]["timeout_seconds"].is_null()
    });
    let failed = failed.unwrap();
    (failed["outcome"], failed["reason"]) = (json!("timeout"), Value::Null);
    let said = faults(&sealed(&stopped)).join("\n");
    assert!(said.contains("is stopped for its time, and the plan sets no limit for the step"), "{said}");
}

/// Returns a text once for each of its bytes, and each of four changes there.
fn changed_bytes(text: &str) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let change = move |at: usize, how: usize| {
        let mut bytes = text.as_bytes().to_vec();
        match how {
            0 => bytes[at] ^= 1,
            1 => bytes[at] = b'0' + (bytes[at] + 1) % 10,
            2 => bytes.insert(at, b'1'),
            _ => drop(bytes.remove(at)),
        }
        (at, bytes)
    };
    (0..text.len()).flat_map(move |at| (0..4).map(move |how| change(at, how)))
}

/// A small run: its plan, its task, and a recording of it.
fn small() -> (String, String, String) {
    let plan = json!({"miner_uid": 7, "total_estimated_cost": 0.01, "workflow_plan": {
        "nodes": [{"id": "a", "subnet": "sn1", "action": "do", "params": {"q": "x"}}], "edges": [],
        "error_handling": {"a": {"retry_count": 1, "timeout_seconds": 2}}}});
    let task = json!({"task_id": "t", "task_type": "agent", "constraints": {"max_budget_tao": 1,
        "max_latency_seconds": 30, "allowed_subnets": ["sn1"]}, "reference": {"goal_checklist": [{"text": "done"}]}});
    let attempt = |number: u64, outcome: &str, output: Value, reason: Value| {
        let request =
            json!({"step": "a", "attempt": number, "subnet": "sn1", "action": "do", "params": {"q": "x"}});
        json!({"key": Digest::of(canonical_json(&request).as_bytes()).to_string(), "step": "a", "attempt": number,
            "outcome": outcome, "output": output, "reason": reason, "cost_nano_tao": 1000,
            "start_microseconds": 2_000_000 * (number - 1) + 10, "duration_microseconds": 1000})
    };
    let (plan, task) = (plan.to_string(), task.to_string());
    let job = Job::new(plan.as_bytes(), task.as_bytes(), None, None).unwrap().0;
    let head = json!({"schema": "karat/recording/1", "plan": job.plan_digest().to_string(),
        "task": job.task_digest().to_string(), "ended": "complete", "started_microseconds": 1_795_428_000_000_000_u64});
    let first = attempt(1, "failed", Value::Null, json!("no"));
    let second = attempt(2, "success", json!({"text": "done"}), Value::Null);
    (plan, task, sealed(&[head, first, second]))
}

#[test]
fn every_byte_of_a_recording_counts() {
    let (plan, task, text) = small();
    let job = Job::new(plan.as_bytes(), task.as_bytes(), None, None).unwrap().0;
    let own = job.replay(&Recording::parse(&text).unwrap()).unwrap().evidence;
    let body = text.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    let (mut refused, mut others) = (0, 0);
    for (at, bytes) in changed_bytes(&text) {
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        let said = Recording::parse(&changed).map(|_| ()).expect_err(&format!("byte {at}: {changed}"));
        let has_place = |fault: &karat_run::Fault| fault.to_string().contains("line ");
        assert!(said.iter().all(has_place), "byte {at}: {said:?}");
        refused += 1;
    }
    for (at, bytes) in changed_bytes(&body) {
        let Ok(changed) = String::from_utf8(bytes) else { continue };
        let digest = Digest::of(changed.as_bytes());
        if changed == body {
            continue;
        }
        match Recording::parse(&format!("{changed}{{\"digest\":\"{digest}\"}}\n")) {
            Err(faults) => assert!(!faults.is_empty(), "byte {at}"),
            Ok(recording) => match job.replay(&recording) {
                Err(faults) => assert!(faults.iter().all(|it| !it.to_string().is_empty()), "byte {at}"),
                Ok(run) => {
                    assert_ne!(run.evidence, own, "byte {at}: {changed}");
                    assert!(run.evidence.contains(&digest.to_string()), "byte {at}: it is named");
                    others += 1;
                }
            },
        }
    }
    // Costs, times, texts of outputs can differ; that is what a signature is for.
    assert!(refused > 2 * text.len() && others > 0, "{refused} {others}");
}

#[test]
fn every_byte_of_plan_and_task_counts() {
    let (plan, task, text) = small();
    let recording = Recording::parse(&text).unwrap();
    let meaning = |text: &[u8]| serde_json::from_slice::<Value>(text).ok();
    let mut replayed = 0;
    for (of, is_plan) in [(&plan, true), (&task, false)] {
        for (at, bytes) in changed_bytes(of) {
            let (plan, task) = if is_plan { (&*bytes, task.as_bytes()) } else { (plan.as_bytes(), &*bytes) };
            let Ok((job, _)) = Job::new(plan, task, None, None) else { continue };
            match job.replay(&recording) {
                Ok(_) => {
                    assert_eq!(meaning(&bytes), meaning(of.as_bytes()), "byte {at}");
                    replayed += 1;
                }
                Err(faults) => {
                    let said = faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
                    let what = if is_plan { "plan" } else { "task" };
                    assert!(said.contains(what) || said.contains("step `"), "byte {at}: {said}");
                }
            }
        }
    }
    assert!(replayed < 20, "{replayed}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_change_of_the_attempts_replays(changes in proptest::collection::vec(change(), 1..5)) {
        let mut changed = lines();
        changes.iter().for_each(|change| apply(&mut changed, change));
        let is_stopped = changed[0]["ended"] == "stopped";
        let said = faults(&sealed(&changed));
        if changed == lines() {
            prop_assert!(said.is_empty(), "{:?}", said);
        } else if is_stopped && said.is_empty() {
            // A run that was stopped lacks what had not ended: its recording is the beginning of this one, and says so. It gives
            // evidence of a run that was stopped, and no recorder may deliver it.
            let recording = Recording::parse(&sealed(&changed)).unwrap();
            let run = job().replay(&recording).unwrap();
            prop_assert!(run.is_stopped && run.evidence.contains("\"outcome\":\"stopped\""));
            prop_assert!(changed.len() < lines().len());
        } else {
            prop_assert!(!said.is_empty(), "{:?}", changes);
            prop_assert!(said.iter().all(|line| !line.is_empty() && line.len() < 1000));
        }
    }

    #[test]
    fn a_changed_byte_is_another_recording_or_none(
        changes in proptest::collection::vec((any::<Index>(), any::<u8>(), 0u8..3), 1..4),
    ) {
        let text = example("recording.jsonl");
        let mut bytes = text.clone().into_bytes();
        for (place, byte, how) in changes {
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let Ok(changed) = String::from_utf8(bytes) else { return Ok(()) };
        if let Ok(recording) = Recording::parse(&changed) {
            // Only the note can have changed, and it is checked by who trusts it.
            let own = Recording::parse(&text).unwrap();
            prop_assert_eq!(recording.digest(), own.digest());
            prop_assert_eq!(recording.lines(), own.lines());
        }
    }
}
