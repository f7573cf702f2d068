//! A small store that was kept over some days: the runs of `examples/workflow`, with fixed keys and moments.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_store::log::Signer;
use karat_store::memory::Memory;
use karat_store::port::Backend;
use karat_store::sqlite::Sqlite;
use karat_store::{Error, Kind, Limits, NewItem, Reader, Store};
use serde_json::Value;

use crate::common::{example, karat_reading};

/// The evidence in the order of arrival.
const RUNS: [&str; 4] = [
    "workflow/worked-example.json", "workflow/partial-dag.json", "workflow/closed-gate.json",
    "workflow/retries.jsonl",
];
/// 2026-03-02T09:00:00Z, and the time from one item to the next.
const START: Timestamp = Timestamp { milliseconds: 1_772_442_000_000 };
const HOUR_MILLISECONDS: i64 = 3_600_000;

/// Returns the key of the log.
pub fn signer() -> Signer {
    Signer::new("scores.example.org/main", &[7; 32]).unwrap()
}

/// Returns an item of evidence and its record by the released card of workflows.
pub fn scored(text: &str) -> [NewItem; 2] {
    let run: Value = serde_json::from_str(text).unwrap();
    let content = canonical_json(&run).into_bytes();
    let record = karat_reading(&["score", "-c", "workflow"], text).stdout.trim_end().to_owned();
    let (subject, id) = (run["miner_uid"].to_string(), run["run_id"].as_str().unwrap());
    let digest = Digest::of(&content);
    let evidence = NewItem {
        kind: Kind::Evidence,
        id: format!("{subject}/{id}"),
        subject: Some(subject.clone()),
        sources: Vec::new(),
        replaces: None,
        sender: None,
        content,
    };
    let record = NewItem {
        kind: Kind::Record,
        id: format!("{subject}/{id}/workflow@1.0.0"),
        sources: vec![digest],
        content: record.into_bytes(),
        ..evidence.clone()
    };
    [evidence, record]
}

/// Returns the moment of the item with number `place`.
pub fn moment(place: i64) -> Timestamp {
    Timestamp { milliseconds: START.milliseconds + place * HOUR_MILLISECONDS }
}

/// Returns every item with its moment: the card, runs and their records, then a correction of the second run that was
/// not scored again.
pub fn items() -> Vec<(Timestamp, Vec<NewItem>)> {
    let card = NewItem {
        kind: Kind::Scorecard,
        id: String::from("workflow@1.0.0"),
        subject: None,
        sources: Vec::new(),
        replaces: None,
        sender: None,
        content: include_bytes!("../../../../scorecards/workflow/1.0.0.toml").to_vec(),
    };
    let mut all = vec![(moment(0), vec![card])];
    let runs: Vec<String> = RUNS
        .iter()
        .flat_map(|path| {
            let text = example(path);
            // A file of one item, or of one item per line.
            if path.ends_with(".jsonl") { text.lines().map(str::to_owned).collect() } else { vec![text] }
        })
        .collect();
    for (place, run) in (1..).zip(&runs) {
        all.push((moment(place), scored(run).to_vec()));
    }
    let [evidence, _] = scored(&runs[1]);
    let mut better: Value = serde_json::from_slice(&evidence.content).unwrap();
    better["output_quality"] = Value::from(1.0);
    let correction = NewItem {
        id: format!("{}-corrected", evidence.id),
        replaces: Some(evidence.id.clone()),
        content: canonical_json(&better).into_bytes(),
        ..evidence
    };
    all.push((moment(48), vec![correction]));
    all
}

/// Opens a store, again while it is locked: a process started by another test has the lock until it runs its program.
fn patient<T>(open: impl Fn() -> Result<T, Error>) -> T {
    for _ in 0..1000 {
        match open() {
            Err(Error::Locked(_)) => std::thread::sleep(Duration::from_millis(2)),
            opened => return opened.unwrap(),
        }
    }
    open().unwrap()
}

fn fill(backend: &Arc<dyn Backend>, items: Vec<(Timestamp, Vec<NewItem>)>) {
    let store = patient(|| Store::open(Arc::clone(backend), signer(), Limits::default()));
    for (moment, items) in items {
        store.append(moment, items).unwrap();
    }
    store.stop().unwrap();
}

/// Returns the season in memory.
pub fn season() -> Reader {
    let backend: Arc<dyn Backend> = Arc::new(Memory::new());
    fill(&backend, items());
    Reader::new(backend.reader().unwrap())
}

/// The key that sends [`sent`].
pub const SENDER: &str = "0123456789abcdef";

/// Returns a run and its record that came after the season, from a key: entries before have no sender.
pub fn sent() -> (Timestamp, Vec<NewItem>) {
    let run = example("workflow/worked-example.json").replace("run-worked-example", "run-sent-by-a-key");
    let by_key = |item: NewItem| NewItem { sender: Some(SENDER.to_owned()), ..item };
    (moment(60), scored(&run).map(by_key).to_vec())
}

/// Returns the receipt of the record of [`sent`], from the log of the season and what came after it.
pub fn sent_receipt() -> String {
    let backend: Arc<dyn Backend> = Arc::new(Memory::new());
    fill(&backend, items().into_iter().chain([sent()]).collect());
    let mut reader = Reader::new(backend.reader().unwrap());
    let last = reader.head().unwrap().size - 1;
    String::from_utf8(reader.receipt(last).unwrap().to_json()).unwrap() + "\n"
}

/// Writes the season as a database `scores.db` in `folder`.
pub fn season_file(folder: &Path) -> PathBuf {
    let path = folder.join("scores.db");
    file(&path, items());
    path
}

/// Writes a database of `items` at `path`.
pub fn file(path: &Path, items: Vec<(Timestamp, Vec<NewItem>)>) {
    let backend: Arc<dyn Backend> = Arc::new(patient(|| Sqlite::create(path)));
    fill(&backend, items);
}

/// Returns the receipt of the item with that id, as of the whole season.
pub fn receipt(kind: Kind, id: &str) -> String {
    let mut reader = season();
    let size = reader.head().unwrap().size;
    let position = reader.find(kind, id, size).unwrap().unwrap().position;
    let receipt = reader.receipt(position).unwrap().to_json();
    String::from_utf8(receipt).unwrap() + "\n"
}
