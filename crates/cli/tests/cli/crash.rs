//! A server that is killed at any moment loses nothing that it acknowledged, and keeps nothing twice.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use karat_stats::random::Random;
use karat_store::log::{Signer, VerifyingKey};
use karat_store::sqlite::{self, Sqlite};
use karat_store::{Kind, Limits, Store};

use crate::common::Folder;
use crate::serve::{Server, ask};

const KILLS: u64 = 20;
const SENDERS: u32 = 4;
/// Most items of a sender until the server is killed.
const ITEMS_MAX: u32 = 200;

fn item(number: u32) -> String {
    let (agent, score) = (number % 7, number % 1000);
    format!(
        r#"{{"match_id": "m-{number}", "agent_id": "agent-{agent}", "scores": {{"correctness": {score}}}}}"#
    )
}

/// Returns the ids of an item in the store.
fn ids(number: u32) -> [(Kind, String); 2] {
    let evidence = format!("agent-{}/m-{number}", number % 7);
    [(Kind::Record, format!("{evidence}/log-forensics@1.0.0")), (Kind::Evidence, evidence)]
}

const PATH: &str = "/v1/evidence?card=log-forensics";

#[test]
fn what_was_acknowledged_is_there_once_however_the_server_ends() {
    let folder = Folder::new();
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let next = Arc::new(AtomicU32::new(0));
    let mut chance = Random::new(20);
    let mut key = String::new();
    for _ in 0..KILLS {
        let mut server = Server::new(folder.path(), &["scores"]);
        if let Some(first) = server.started["admin_key"].as_str() {
            key = first.to_owned();
        }
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| {
                let (acknowledged, next) = (Arc::clone(&acknowledged), Arc::clone(&next));
                let (address, key) = (server.address().to_owned(), key.clone());
                std::thread::spawn(move || {
                    for _ in 0..ITEMS_MAX {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        match ask(&address, &key, "POST", PATH, &item(number)) {
                            Some((201, _)) => acknowledged.lock().unwrap().push(number),
                            Some((status, body)) => panic!("{status} {body}"),
                            None => break,
                        }
                    }
                })
            })
            .collect();
        // Killed at any moment of a stream, however busy the machine is: not before some items were answered.
        let some = chance.next_u64() % 40;
        let enough = acknowledged.lock().unwrap().len() as u64 + some;
        while (acknowledged.lock().unwrap().len() as u64) < enough
            && !senders.iter().all(JoinHandle::is_finished)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(chance.next_u64() % 10_000));
        server.kill();
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    }

    let acknowledged = acknowledged.lock().unwrap();
    assert!(acknowledged.len() > 100, "{} items are no stream", acknowledged.len());
    // The last start finds all of it, and an item that is sent again changes nothing.
    let server = Server::new(folder.path(), &["scores"]);
    for number in acknowledged.iter().step_by(50) {
        let (status, body) = ask(server.address(), &key, "POST", PATH, &item(*number)).unwrap();
        assert_eq!(status, 200, "{body}");
    }
    assert_eq!(server.end("TERM").0, Some(0));

    let file = |name: &str| folder.path().join("scores").join(name);
    let verifying: VerifyingKey = std::fs::read_to_string(file("log.pub")).unwrap().trim().parse().unwrap();
    let audit = sqlite::verify(&file("karat.db"), &verifying, &[]).unwrap();
    assert!(audit.holds(), "{audit}");
    let mut found: BTreeMap<(Kind, String), u32> = BTreeMap::new();
    let text = std::fs::read_to_string(file("log.key")).unwrap();
    let (name, digits) = text.trim().split_once('\n').unwrap();
    let secret: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap()).collect();
    let signer = Signer::new(name, secret.as_slice().try_into().unwrap()).unwrap();
    let backend = Arc::new(Sqlite::open(&file("karat.db")).unwrap());
    let store = Store::open(backend, signer, Limits::default()).unwrap();
    let mut reader = store.reader().unwrap();
    let size = reader.head().unwrap().size;
    for item in reader.items(0..size).unwrap() {
        *found.entry((item.entry.kind, item.entry.id)).or_default() += 1;
    }
    for number in acknowledged.iter() {
        for id in ids(*number) {
            assert_eq!(found.get(&id), Some(&1), "{id:?}");
        }
    }
    // An item that was sent and not acknowledged is stored completely or not at all.
    for number in 0..next.load(Ordering::Relaxed) {
        let [record, evidence] = ids(number).map(|id| found.get(&id).copied().unwrap_or(0));
        assert_eq!((record, record <= 1), (evidence, true), "{number}");
    }
}
