//! A store on a disk that fails at any call: what was answered is there, what was not answered is there whole or not at all.
//! A disk that lies about its syncs can lose what was answered; then the store is damaged and says so, or it is an older
//! state of itself, which a checkpoint kept elsewhere shows.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of a test may stop it")]

#[path = "../it/common/mod.rs"]
mod common;
mod disk;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{Folder, at, evidence, record, signer};
use disk::{Disk, Fault, Kept};
use karat_store::log::VerifyingKey;
use karat_store::sqlite::{self, Sqlite};
use karat_store::{Error, Kind, Limits, NewItem, Store};

const STORE: &str = "store.db";
/// The batches that are there before anything fails.
const BEFORE: usize = 1;

/// Returns the batches of the workload: small ones, one of many pages, one that corrects.
fn batches() -> Vec<Vec<NewItem>> {
    let item = |batch: usize, number: usize, length: usize| {
        let content = format!("{batch}-{number} ").repeat(length);
        let item = evidence(&format!("run-{batch}-{number}"), &content);
        [record(&item), item]
    };
    let batch = |batch: usize, count: usize, length: usize| -> Vec<NewItem> {
        (0..count).flat_map(|number| item(batch, number, length)).collect()
    };
    let correction =
        NewItem { replaces: Some(String::from("run-0-0")), ..evidence("run-0-0-again", "better") };
    vec![batch(0, 3, 20), batch(1, 1, 5), batch(2, 12, 1500), vec![correction], batch(4, 2, 40)]
}

fn open(path: &Path) -> Result<Store, Error> {
    Store::open(Arc::new(Sqlite::open(path)?), signer(), Limits::default())
}

fn key() -> VerifyingKey {
    signer().verifying_key().clone()
}

/// The answers of a run, and the newest checkpoint that a client could have.
#[derive(Debug, Default)]
struct Answered {
    batches: Vec<bool>,
    checkpoint: Option<String>,
}

/// Opens the store and hands in the batches, and opens it again for the last one.
fn work(disk: &Disk, path: &Path) -> Answered {
    let all = batches();
    let mut answered = Answered { batches: vec![true; BEFORE], checkpoint: None };
    let (most, last) = all.split_at(all.len() - 1);
    for part in [&most[BEFORE..], last] {
        let store = open(path);
        for (number, batch) in part.iter().enumerate() {
            let outcome = store
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|store| store.append(at(10 + number as i64), batch.clone()));
            assert!(!matches!(outcome, Err(Error::Stopped)), "the writer broke down");
            if outcome.is_ok()
                && let Ok(store) = &store
            {
                let head = disk.paused(|| store.reader().and_then(|mut reader| reader.head()));
                answered.checkpoint = head.ok().map(|head| head.checkpoint);
            }
            answered.batches.push(outcome.is_ok());
        }
        if let Ok(store) = store {
            store.stop().expect("the writer does not break down");
        }
    }
    answered
}

/// The state of a store after a run: whole, damaged and saying so, or without what was answered.
enum Found {
    Whole,
    Damaged(String),
    Lost(String),
}

fn look(path: &Path, answered: &Answered, known: &[String]) -> Found {
    let store = match open(path) {
        Ok(store) => store,
        Err(error) => return Found::Damaged(format!("cannot be opened: {error}")),
    };
    match sqlite::verify(path, &key(), known) {
        Ok(audit) if audit.holds() => {}
        Ok(audit) => return Found::Damaged(audit.to_string()),
        Err(error) => return Found::Damaged(error.to_string()),
    }
    let mut reader = store.reader().unwrap();
    let size = reader.head().unwrap().size;
    for (batch, was_answered) in batches().iter().zip(&answered.batches) {
        let is_there = |item: &NewItem| {
            let found = reader.find(item.kind, &item.id, size).unwrap();
            found.is_some_and(|found| found.content == item.content)
        };
        let there = batch.iter().map(is_there).filter(|is_there| *is_there).count();
        let id = &batch[0].id;
        if there != 0 && there != batch.len() {
            return Found::Lost(format!("{there} of {} items of the batch of {id}", batch.len()));
        }
        if *was_answered && there == 0 {
            return Found::Lost(format!("the batch of {id} was answered and is not there"));
        }
    }
    // It goes on: what is handed in again is there once.
    for batch in batches() {
        store.append(at(99), batch).unwrap();
    }
    let all: usize = batches().iter().map(Vec::len).sum();
    let size = store.reader().unwrap().head().unwrap().size;
    if size != all as u64 {
        return Found::Lost(format!("{size} entries, expected {all}"));
    }
    store.stop().unwrap();
    match sqlite::verify(path, &key(), &[]) {
        Ok(audit) if audit.holds() => Found::Whole,
        Ok(audit) => Found::Lost(format!("after it went on: {audit}")),
        Err(error) => Found::Lost(format!("after it went on: {error}")),
    }
}

/// A store with the first batch, to be copied.
fn template(folder: &Folder) -> PathBuf {
    let path = folder.file("template.db");
    drop(Sqlite::create(&path).unwrap());
    let store = open(&path).unwrap();
    batches().into_iter().take(BEFORE).for_each(|batch| _ = store.append(at(1), batch).unwrap());
    store.stop().unwrap();
    path
}

/// Runs the workload with a fault at every call in turn, and gives `check` the store after it and what power loss leaves.
fn each(
    name: &str,
    fault: impl Fn(u64) -> Fault,
    kept: impl Fn(u64) -> Option<Kept>,
    check: impl Fn(u64, &Path, &Answered),
) {
    let disk = Disk::take();
    let folder = Folder::new(name);
    let template = template(&folder);
    let run = |number: u64| {
        let here = folder.file(&format!("run-{number}"));
        fs::create_dir_all(&here).unwrap();
        fs::copy(&template, here.join(STORE)).unwrap();
        disk.set((number != u64::MAX).then(|| (fault(number), number)));
        let answered = work(&disk, &here.join(STORE));
        let calls = disk.repair();
        let there = match kept(number) {
            None => here.clone(),
            Some(kept) => {
                let there = folder.file(&format!("left-{number}"));
                fs::create_dir_all(&there).unwrap();
                // A file that was never opened is unchanged.
                fs::copy(&template, there.join(STORE)).unwrap();
                disk.lose_power(&there, kept);
                there
            }
        };
        check(number, &there.join(STORE), &answered);
        let _ = (fs::remove_dir_all(&here), fs::remove_dir_all(&there));
        calls
    };
    let calls = run(u64::MAX);
    let numbers = (0..).zip(&calls).filter(|(number, call)| fault(*number).matters_at(**call));
    let numbers: Vec<u64> = numbers.map(|(number, _)| number).collect();
    assert!(numbers.len() >= 5, "{name}: {} of {} calls", numbers.len(), calls.len());
    numbers.into_iter().for_each(|number| _ = run(number));
}

fn honest(number: u64, path: &Path, answered: &Answered) {
    match look(path, answered, &[]) {
        Found::Whole => {}
        Found::Damaged(why) | Found::Lost(why) => panic!("call {number}: {why}\n{answered:?}"),
    }
}

#[test]
fn a_call_that_fails_loses_nothing() {
    each("fails", |_| Fault::Fails, |_| None, honest);
}

#[test]
fn a_call_that_fails_before_the_power_is_lost_loses_nothing() {
    each("fails-power", |_| Fault::Fails, |number| Some(Kept::Some(number)), honest);
}

#[test]
fn a_write_that_is_torn_loses_nothing() {
    each("torn", |_| Fault::Torn, |_| None, honest);
    each("torn-power", |_| Fault::Torn, |_| Some(Kept::Everything), honest);
}

#[test]
fn a_full_disk_loses_nothing() {
    each("full", |_| Fault::Full, |_| None, honest);
    each("full-power", |_| Fault::Full, |_| Some(Kept::Nothing), honest);
}

#[test]
fn a_sync_that_fails_loses_nothing() {
    each("unsynced", |_| Fault::Unsynced, |_| None, honest);
    each("unsynced-power", |_| Fault::Unsynced, |_| Some(Kept::Nothing), honest);
}

#[test]
fn power_that_is_lost_loses_nothing() {
    for (name, kept) in [("nothing", Kept::Nothing), ("everything", Kept::Everything)] {
        each(name, |_| Fault::Power(kept), |_| Some(kept), honest);
    }
    for seed in 1..3 {
        let kept = move |number: u64| Kept::Some(number << 8 | seed);
        each("some", |number| Fault::Power(kept(number)), |number| Some(kept(number)), honest);
    }
}

/// A disk loses what it said it had kept: the store says that it is damaged, or the last checkpoint shows it.
#[test]
fn a_sync_that_lies_loses_nothing_in_silence() {
    let lost = Cell::new(0);
    for later in [5, 40, u64::MAX] {
        let check = |number: u64, path: &Path, answered: &Answered| {
            let bytes: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(path.parent().unwrap())
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .map(|path| (path.clone(), fs::read(&path).unwrap()))
                .collect();
            let Found::Lost(why) = look(path, answered, &[]) else { return };
            bytes.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
            lost.set(lost.get() + 1);
            let known: Vec<String> = answered.checkpoint.iter().cloned().collect();
            match look(path, answered, &known) {
                Found::Damaged(_) => {}
                Found::Whole | Found::Lost(_) => panic!("call {number}: {why}, in silence"),
            }
        };
        each("lies", |_| Fault::Lies(later), |number| Some(Kept::Some(number)), check);
    }
    assert!(lost.get() > 0, "the disk has lost nothing");
}

#[test]
fn a_store_that_cannot_be_made_is_not_there() {
    let disk = Disk::take();
    for fault in [Fault::Fails, Fault::Torn, Fault::Full, Fault::Unsynced] {
        let folder = Folder::new("made");
        disk.set(None);
        drop(Sqlite::create(&folder.file(STORE)).unwrap());
        let calls = disk.repair();
        let numbers = (0..).zip(&calls).filter(|(_, call)| fault.matters_at(**call));
        for number in numbers.map(|(number, _)| number) {
            let folder = Folder::new("made");
            let path = folder.file(STORE);
            disk.set(Some((fault, number)));
            let made = Sqlite::create(&path);
            disk.repair();
            match made {
                Ok(_) => assert!(open(&path).is_ok(), "{fault:?} at {number}"),
                Err(error) => {
                    assert!(!path.exists(), "{fault:?} at {number}: {error}");
                    drop(Sqlite::create(&path).unwrap());
                }
            }
            let store = open(&path).unwrap();
            store.append(at(1), vec![evidence("a", "b")]).unwrap();
            assert!(store.reader().unwrap().find(Kind::Evidence, "a", 1).unwrap().is_some());
        }
    }
}
