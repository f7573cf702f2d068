//! `karat log verify --authority`: logs in which a sender did what its key does not allow, each with its entry.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::path::Path;
use std::sync::Arc;

use karat_server::folder;
use karat_server::keys::{Key, KeyRequest, SERVER, Scope, Withdrawal};
use karat_store::port::Backend;
use karat_store::{Limits, NewItem, Store};

use crate::common::{Folder, example};
use crate::store::{moment, scored};

/// A log in the making, with the keys `first`, of an administrator, and `other`, which may send evidence.
pub struct Log {
    store: Store,
    next: u8,
    pub first: Key,
    pub other: Key,
}

impl Log {
    fn new(at: &Path) -> Self {
        let (sqlite, signer) = folder::open(at, Some("karat.example/authority")).unwrap();
        let backend: Arc<dyn Backend> = Arc::new(sqlite);
        let store = Store::open(backend, signer, Limits::default()).unwrap();
        let made = |request: KeyRequest, number| request.make([number; 32]).unwrap().key;
        let first = made(KeyRequest::admin("first"), 1);
        let other = made(request("other", Scope::WriteEvidence), 2);
        let mut log = Self { store, next: 3, first: first.clone(), other: other.clone() };
        log.add(SERVER, first.item(false));
        log.add(&first.id, other.item(false));
        log
    }

    fn add(&mut self, sender: &str, item: NewItem) {
        let item = NewItem { sender: Some(sender.to_owned()), ..item };
        self.store.append(moment(i64::from(self.next)), vec![item]).unwrap();
    }

    fn key(&mut self, by: &str, request: KeyRequest) -> Key {
        self.next += 1;
        let key = request.make([self.next; 32]).unwrap().key;
        self.add(by, key.item(false));
        key
    }

    fn revoke(&mut self, by: &str, key: &Key) {
        self.add(by, key.item(true));
    }

    /// Adds a run of the subject 17, with its record.
    fn run(&mut self, by: &str, id: &str, replaces: Option<&str>) {
        let text = example("workflow/worked-example.json").replace("run-worked-example", id);
        for item in scored(&text) {
            let old = replaces.map(|old| item.id.replace(id, old));
            self.add(by, NewItem { replaces: old, ..item });
        }
    }
}

fn request(name: &str, scope: Scope) -> KeyRequest {
    KeyRequest { scopes: [scope].into(), ..KeyRequest::admin(name) }
}

fn of_subject(subject: &str) -> KeyRequest {
    let reports = Some(["subject".to_owned()].into());
    KeyRequest { subject: Some(subject.to_owned()), reports, ..request("of a subject", Scope::WriteEvidence) }
}

type Case = (&'static str, fn(&mut Log), Option<&'static str>);

/// Logs: what is done in each, and what is said of it if that is not allowed.
pub const CASES: &[Case] = &[
    (
        "all is well",
        |log| {
            let (first, other) = (log.first.clone(), log.other.clone());
            log.run(&other.id, "run-1", None);
            log.run(&other.id, "run-2", Some("run-1"));
            log.revoke(&first.id, &other);
            log.add(&first.id, Withdrawal::new(&other.id, "2026-01-01T00:00:00Z", 2, "lost").item());
            let twin = log.key(&first.id, request("other", Scope::Admin));
            log.revoke(&twin.id, &first);
        },
        None,
    ),
    (
        "a revoked key sends",
        |log| {
            let (first, other) = (log.first.clone(), log.other.clone());
            log.revoke(&first.id, &other);
            log.run(&other.id, "run-1", None);
        },
        Some("entry 4, record `17/run-1/workflow@1.0.0`: the key was revoked"),
    ),
    (
        "an unknown key sends",
        |log| log.run("0123456789abcdef", "run-1", None),
        Some("entry 3, record `17/run-1/workflow@1.0.0`"),
    ),
    (
        "no administrator makes a key",
        |log| {
            let other = log.other.clone();
            log.key(&other.id, request("more", Scope::Read));
        },
        Some("entry 2, key"),
    ),
    (
        "two keys of one name",
        |log| {
            let first = log.first.clone();
            log.key(&first.id, request("other", Scope::Read));
        },
        Some("there is already a key named `other`"),
    ),
    (
        "the last administrator goes",
        |log| {
            let first = log.first.clone();
            log.revoke(&first.id, &first);
        },
        Some("last key of an administrator"),
    ),
    (
        "what a key in force sent is withdrawn",
        |log| {
            let (first, other) = (log.first.clone(), log.other.clone());
            // The store asks for a revocation, which it takes from any sender.
            log.add(&other.id, other.item(true));
            log.add(&first.id, Withdrawal::new(&other.id, "2026-01-01T00:00:00Z", 2, "lost").item());
        },
        Some("entry 2, key"),
    ),
    (
        "a key of another subject",
        |log| {
            let first = log.first.clone();
            let bee = log.key(&first.id, of_subject("bee"));
            log.run(&bee.id, "run-1", None);
        },
        Some("`bee` only, and this is about `17`"),
    ),
    (
        "facts of others",
        |log| {
            let first = log.first.clone();
            let own = log.key(&first.id, of_subject("17"));
            log.run(&own.id, "run-1", None);
        },
        Some("this key may not report facts from"),
    ),
    (
        "a correction of what another key sent",
        |log| {
            let (first, other) = (log.first.clone(), log.other.clone());
            log.run(&other.id, "run-1", None);
            let own = log.key(&first.id, of_subject("17"));
            log.run(&own.id, "run-2", Some("run-1"));
        },
        Some("another key sent this item"),
    ),
    (
        "a card of no administrator",
        |log| {
            let other = log.other.clone();
            let (_, mut items) = crate::store::items().swap_remove(0);
            log.add(&other.id, items.remove(0));
        },
        Some("entry 2, scorecard"),
    ),
];

/// Writes the log of a case into a folder.
pub fn write(at: &Path, case: fn(&mut Log)) {
    let mut log = Log::new(at);
    case(&mut log);
    log.store.stop().unwrap();
}

#[test]
fn what_a_sender_might_not_do_is_found_in_the_log() {
    for (name, case, expected) in CASES {
        let folder = Folder::new();
        write(&folder.path().join("log"), *case);
        let key = std::fs::read_to_string(folder.path().join("log").join(folder::PUBLIC)).unwrap();
        let run = folder.karat(&["log", "verify", "log", "--key", key.trim(), "--authority", "--table"]);
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        match expected {
            None => {
                assert!(run.status == 0 && text.contains("by senders in force and allowed"), "{name}: {text}")
            }
            Some(why) => assert!(run.status == 14 && text.contains(why), "{name}: {} {text}", run.status),
        }
        let plain = folder.karat(&["log", "verify", "log", "--key", key.trim()]);
        assert_eq!(plain.status, 0, "{name}: hashes alone do not tell");
    }
}

/// A log from before entries had senders is sound, and says what it cannot show.
#[test]
fn a_log_without_senders_shows_nothing_of_them() {
    let folder = Folder::new();
    let at = folder.path().join("log");
    let (sqlite, signer) = folder::open(&at, Some("karat.example/authority")).unwrap();
    let store = Store::open(Arc::new(sqlite) as Arc<dyn Backend>, signer, Limits::default()).unwrap();
    for item in scored(&example("workflow/worked-example.json")) {
        store.append(moment(1), vec![item]).unwrap();
    }
    store.stop().unwrap();
    let run = folder.karat(&["log", "verify", "log", "--authority", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&said["senders"]["without_sender"], &said["senders"]["refused"]), (&2.into(), &0.into()));
    let run = folder.karat(&["log", "verify", "log", "--authority", "--table"]);
    assert!(run.stdout.contains("2 entries without a sender"), "{}", run.stdout);
}
