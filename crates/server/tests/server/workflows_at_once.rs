//! Workflows under many requests at once, by several keys and in wrong orders: a plan and a recording count once or not at all,
//! a receipt covers the recording that it names, and the result does not depend on the order in which anything arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_server::replay::Replayed;
use karat_store::Receipt;
use serde_json::{Value, json};

use crate::common::Answer;
use crate::workflows::{Market, plan, signer, task};

const MINUTE: i64 = 60;
const LINES: &str = "application/x-ndjson";

/// Numbers that look like any, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.next(at + 1));
        }
    }
}

/// A recording that someone delivers.
struct Sent {
    miner: &'static str,
    recorder: u8,
    digest: String,
    body: String,
}

/// Makes a key of the kind that recorders deliver with, and returns it with its id.
fn recorder_key(it: &Market, name: &str) -> (String, String) {
    let key = it.server.key(&json!({"name": name, "scopes": ["write:evidence"]}));
    let keys = it.server.get_with("/v1/keys", Some(&it.server.admin)).at("/keys");
    let mut found = keys.as_array().unwrap().iter().filter(|key| key["name"] == name);
    (key, found.next().unwrap()["id"].as_str().unwrap().to_owned())
}

fn deliver(it: &Market, key: &str, sent: &Sent) -> Answer {
    let path = format!("/v1/workflows/tasks/t/plans/{}/recordings", sent.miner);
    it.server.post(&path, Some(key), LINES, &sent.body)
}

/// Carries out all, from several threads at once, each with its own key. Returns what was answered, in the given order.
fn at_once(
    it: &Market,
    keys: &[String],
    all: &[Sent],
    dice: &mut Dice,
    begins: &(impl Fn(&Sent) + Sync),
) -> Vec<Answer> {
    let mut order: Vec<usize> = (0..all.len()).collect();
    dice.shuffle(&mut order);
    let mut answers: BTreeMap<usize, Answer> = thread::scope(|scope| {
        let parts: Vec<_> = (0..keys.len())
            .map(|part| {
                let own: Vec<usize> = order.iter().copied().skip(part).step_by(keys.len()).collect();
                let key = &keys[part];
                scope.spawn(move || {
                    let send = |at: usize| {
                        begins(&all[at]);
                        (at, deliver(it, key, &all[at]))
                    };
                    own.into_iter().map(send).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    (0..all.len()).map(|at| answers.remove(&at).unwrap()).collect()
}

/// Hands in the plans of miners, each several times at once, one of them changed. Returns the miners.
fn hand_in(it: &Market) -> [&'static str; 4] {
    let miners = ["ant", "bee", "cat", "dog"];
    thread::scope(|scope| {
        for miner in miners {
            let key = it.miner(miner);
            scope.spawn(move || {
                let mut other = plan();
                other["nodes"][0]["params"]["whom"] = json!("all");
                let other = other.to_string();
                let texts = [plan().to_string(), plan().to_string(), plan().to_string()];
                it.hand_in(&key, "t", &texts[0]).is(201);
                let answers = thread::scope(|scope| {
                    let threads = [&texts[1], &texts[2], &other]
                        .map(|text| scope.spawn(|| it.hand_in(&key, "t", text).status));
                    threads.map(|thread| thread.join().unwrap())
                });
                assert_eq!(answers, [200, 200, 409], "{miner}: one plan, for good");
            });
        }
    });
    miners
}

/// Checks what must be so whatever has happened. Returns, for each miner, the digests of its recordings and the one that counts.
fn check(it: &Market, miners: &[&str], taken: &[(&str, &str)]) -> BTreeMap<String, (Vec<String>, Value)> {
    let log = it.server.get("/v1/log").at("/key").as_str().unwrap().parse().unwrap();
    let mut results = BTreeMap::new();
    let mut scored = 0;
    for &miner in miners {
        let result = it.show("t", miner).is(200).at("/result");
        let rows = result["recordings"].as_array().unwrap();
        let all = |member: &str| -> Vec<String> {
            rows.iter().map(|row| row[member].as_str().unwrap().to_owned()).collect()
        };
        let (recordings, recorders) = (all("recording"), all("recorder"));
        for list in [&recordings, &recorders] {
            assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), rows.len(), "{miner}: {result}");
        }
        // What was taken is what counts, no more and no less.
        let own: BTreeSet<&str> = taken.iter().filter(|it| it.0 == miner).map(|it| it.1).collect();
        assert_eq!(recordings.iter().map(String::as_str).collect::<BTreeSet<_>>(), own, "{miner}: {result}");
        let drawn: Vec<String> = it.drawn(miner).iter().map(|number| format!("v{number}")).collect();
        assert!(recorders.iter().all(|recorder| drawn.contains(recorder)), "{miner}: {result}");
        let records = it.server.get(&format!("/v1/records?subject={miner}")).at("/records");
        let records = records.as_array().unwrap();
        if result["verdict"] == "scored" {
            scored += 1;
            assert_eq!(records.len(), 1, "{miner}: {records:?}");
            let counted = result["counted"].as_str().unwrap();
            assert_eq!(counted, recordings[(recordings.len() - 1) / 2], "{miner}: {result}");
            assert!(recordings.len() >= 2);
            let part = |name: &str| name.replace('%', "%25").replace('/', "%2F").replace(':', "%3A");
            let record = result["record"].as_str().unwrap();
            let receipt = it.server.get(&format!("/v1/receipts/{}", part(record))).is(200).body.clone();
            let receipt = Receipt::parse(receipt.as_bytes()).unwrap();
            let verified = receipt.verify(&log);
            assert!(verified.content.is_ok() && verified.inclusion.is_ok() && verified.evidence.is_ok());
            let evidence =
                it.server.get(&format!("/v1/evidence/{}", part(result["evidence"].as_str().unwrap())));
            let content = Digest::of(canonical_json(&evidence.is(200).at("/content")).as_bytes());
            let sources: Vec<String> = receipt.entry.sources.iter().map(ToString::to_string).collect();
            assert_eq!(sources, [content.to_string(), counted.to_owned()], "{miner}");
            assert_eq!(evidence.at("/sources/2"), counted);
            assert_eq!(evidence.at("/content/id"), counted);
        } else {
            assert!(recordings.len() < 2 && records.is_empty(), "{miner}: {result} {records:?}");
        }
        results.insert(miner.to_owned(), (recordings, result["counted"].clone()));
    }
    let boards = it.server.get("/v1/leaderboards?card=workflow@1.0.0").at("/leaderboards/0/rows");
    assert_eq!(boards.as_array().map_or(0, Vec::len), scored);
    results
}

#[test]
fn the_result_does_not_depend_on_the_order_of_arrival() {
    let mut first = None;
    for round in 0..4 {
        let mut dice = Dice(round);
        let it = Market::new(5);
        it.post(&task("t"), &json!({"recordings": 2, "recorders": 3})).is(201);
        let miners = hand_in(&it);
        it.at(35 * MINUTE);
        let keys: Vec<String> =
            (0..=round).map(|number| recorder_key(&it, &format!("recorder {number}")).0).collect();
        let mut all = Vec::new();
        for (of_miner, miner) in miners.into_iter().enumerate() {
            for (at, recorder) in it.drawn(miner).into_iter().enumerate().take(4 - of_miner) {
                // Some scores are equal.
                let mut made = it.made(miner, [100_000_000, 100_000_000, 400_000_000][at]);
                made.attempts[0]["start_microseconds"] = json!(at);
                let (digest, body) = (made.digest(), made.signed(recorder));
                // Twice.
                for _ in 0..2 {
                    all.push(Sent { miner, recorder, digest: digest.clone(), body: body.clone() });
                }
            }
        }
        let answers = at_once(&it, &keys, &all, &mut dice, &|_| {});
        for (pair, sent) in answers.chunks(2).zip(all.chunks(2)) {
            let mut statuses = [pair[0].status, pair[1].status];
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 201], "{}: {}", sent[0].miner, pair[0].body);
        }
        it.at(90 * MINUTE + 1);
        let taken: Vec<(&str, &str)> = all.iter().map(|sent| (sent.miner, sent.digest.as_str())).collect();
        let results = check(&it, &miners, &taken);
        assert_eq!(results.values().filter(|(_, counted)| counted.is_null()).count(), 1, "{results:?}");
        assert_eq!(*first.get_or_insert_with(|| results.clone()), results, "round {round}");
    }
}

#[test]
fn what_is_taken_counts_once_whatever_happens_at_the_same_time() {
    for round in 0..3 {
        let mut dice = Dice(100 + round);
        let it = Market::new(5);
        it.post(&task("t"), &json!({"recordings": 2, "recorders": 3})).is(201);
        let miners = hand_in(&it);
        it.at(35 * MINUTE);
        let keys: Vec<(String, String)> =
            (0..4).map(|number| recorder_key(&it, &format!("recorder {number}"))).collect();
        let mut all = Vec::new();
        for miner in miners {
            let drawn = it.drawn(miner);
            let mut add = |recorder: u8, of: &str, cost: u64| {
                let made = it.made(of, cost);
                all.push(Sent { miner, recorder, digest: made.digest(), body: made.signed(recorder) });
            };
            for (at, &recorder) in drawn.iter().enumerate() {
                add(recorder, miner, 1000 * (at as u64 + 1));
                add(recorder, miner, 1000 * (at as u64 + 1));
                // It would like to choose, and to copy.
                add(recorder, miner, 7000 + at as u64);
                add(recorder, miner, 1000 * (((at + 1) % 3) as u64 + 1));
                add(recorder, miners[(at + 1) % 4], 5000);
            }
            let stranger = (1..=5).find(|number| !drawn.contains(number)).unwrap();
            add(stranger, miner, 9000);
            add(9, miner, 9001);
        }
        let (is_over, is_revoked) = (AtomicBool::new(false), AtomicBool::new(false));
        let late = Mutex::new(BTreeSet::new());
        let names: Vec<String> = keys.iter().map(|(key, _)| key.clone()).collect();
        let answers = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    for path in ["/v1/workflows/tasks/t", "/v1/workflows/tasks/t/plans/ant", "/workflows/t"] {
                        assert!(it.server.get(path).status < 500);
                    }
                }
            });
            scope.spawn(|| {
                thread::sleep(std::time::Duration::from_millis(60 + 40 * round));
                it.server.delete("/v1/workflows/recorders/v5", &it.server.admin).is(204);
                is_revoked.store(true, Ordering::SeqCst);
                it.server.delete(&format!("/v1/keys/{}", keys[3].1), &it.server.admin).is(204);
                thread::sleep(std::time::Duration::from_millis(150));
                it.at(90 * MINUTE + 1);
            });
            let begins = |sent: &Sent| {
                if is_revoked.load(Ordering::SeqCst) {
                    late.lock().unwrap().insert(std::ptr::from_ref(sent).addr());
                }
            };
            let answers = at_once(&it, &names, &all, &mut dice, &begins);
            is_over.store(true, Ordering::Relaxed);
            answers
        });
        it.at(90 * MINUTE + 2);
        let mut taken = Vec::new();
        for (sent, answer) in all.iter().zip(&answers) {
            let allowed = [200, 201, 401, 403, 409, 410, 422];
            assert!(allowed.contains(&answer.status), "{} {}", answer.status, answer.body);
            if answer.status < 300 {
                assert!(it.drawn(sent.miner).contains(&sent.recorder), "{}", answer.body);
            }
            if answer.status == 201 {
                taken.push((sent.miner, sent.digest.as_str()));
            }
        }
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), taken.len(), "nothing is taken twice");
        check(&it, &miners, &taken);
        // Once a revocation is answered, nothing of that recorder is taken.
        let begun = late.into_inner().unwrap();
        let recorders = it.server.get("/v1/workflows/recorders").at("/recorders/4");
        assert!(!recorders["revoked_at"].is_null(), "{recorders}");
        for (sent, answer) in all.iter().zip(&answers) {
            let is_late = begun.contains(&std::ptr::from_ref(sent).addr()) && sent.recorder == 5;
            assert!(!is_late || answer.status != 201, "{}", answer.body);
        }
        let replayed = crate::traces::replayed(&it.server.stop());
        assert!(replayed.iter().all(|it| *it == Replayed::Same), "{replayed:?}");
    }
}

#[test]
fn a_recording_counts_for_one_plan_alone() {
    let it = Market::new(3);
    it.post(&task("t"), &json!({"recordings": 1, "recorders": 1, "may_record": ["v1"]})).is(201);
    for miner in ["ant", "bee"] {
        it.hand_in(&it.miner(miner), "t", &plan().to_string()).is(201);
    }
    it.at(35 * MINUTE);
    let made = it.made("ant", 1000);
    assert_eq!(signer(1).verifying_key().to_string().split('+').next(), Some("v1.example"));
    it.deliver("t", "bee", made.signed(1)).is_problem(422, "evidence-refused");
    it.deliver("t", "ant", made.signed(1)).is(201);
    it.deliver("t", "bee", made.signed(1)).is_problem(422, "evidence-refused");
    assert_eq!(it.show("t", "bee").at("/result"), Value::Null);
}
