//! A store in a file: what stands in its way is told clearly, and not a byte of it changes unseen.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{Folder, at, evidence, record, signer};
use karat_store::port::Backend as _;
use karat_store::sqlite::{self, Sqlite};
use karat_store::{Error, Kind, Limits, Store};

/// The size of a page of the database.
const PAGE_BYTES: usize = 4096;

fn open(path: &Path) -> Result<Store, Error> {
    Store::open(Arc::new(Sqlite::open(path)?), signer(), Limits::default())
}

/// A store with some hundred items, stopped.
fn made(folder: &Folder, items: u64) -> PathBuf {
    let path = folder.file("store.db");
    drop(Sqlite::create(&path).unwrap());
    let store = open(&path).unwrap();
    for start in (0..items).step_by(50) {
        let batch = (start..start + 50).flat_map(|number| {
            let item =
                evidence(&format!("run-{number}"), &format!("{number}").repeat(1 + number as usize % 700));
            [record(&item), item]
        });
        store.append(at(start as i64), batch.collect()).unwrap();
    }
    store.stop().unwrap();
    path
}

fn verify(path: &Path) -> Result<(), String> {
    match sqlite::verify(path, signer().verifying_key(), &[]) {
        Ok(audit) if audit.holds() => Ok(()),
        Ok(audit) => Err(audit.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Random numbers that are the same every time.
fn draws(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |at: u64| {
        let mut x = (seed << 32 ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    })
}

#[test]
fn every_flipped_byte_of_the_file_is_found() {
    let folder = Folder::new("flips");
    let path = made(&folder, 150);
    verify(&path).unwrap();
    let good = fs::read(&path).unwrap();
    let mut draws = draws(1);
    let header = 0..100;
    let offsets = header.chain(draws.by_ref().take(150).map(|draw| draw as usize % good.len()));
    for (offset, draw) in offsets.zip(self::draws(2)) {
        let mut bad = good.clone();
        bad[offset] ^= 1 << (draw % 8);
        fs::write(&path, &bad).unwrap();
        assert!(verify(&path).is_err(), "byte {offset} of {}", good.len());
    }
    fs::write(&path, &good).unwrap();
    verify(&path).unwrap();
    for end in [0, 1, 100, PAGE_BYTES, good.len() - PAGE_BYTES, good.len() - 1] {
        fs::write(&path, &good[..end]).unwrap();
        assert!(verify(&path).is_err(), "{end} of {}", good.len());
    }
}

#[test]
fn what_was_changed_with_its_checksums_is_found_by_the_log() {
    let folder = Folder::new("tampered");
    let path = made(&folder, 100);
    // What does not repeat itself stands in the file as it is.
    let marks: Vec<String> = draws(5).take(40).map(|draw| format!("{draw:x}")).collect();
    let store = open(&path).unwrap();
    store
        .append(at(100), marks.iter().map(|mark| evidence(&format!("m{}", &mark[..5]), mark)).collect())
        .unwrap();
    store.stop().unwrap();
    let pages = folder.file("store.db-pages");
    let (good, sums) = (fs::read(&path).unwrap(), fs::read(&pages).unwrap());
    // One digit of the content of an item, wherever it stands: whoever can write the file can write its checksums.
    let place = |mark: &String| good.windows(6).position(|it| it == &mark.as_bytes()[mark.len() - 6..]);
    let found: Vec<_> = marks.iter().filter_map(place).collect();
    assert!(found.len() > 10);
    for offset in found.into_iter().step_by(9) {
        let mut bad = good.clone();
        bad[offset] = if bad[offset] == b'7' { b'8' } else { b'7' };
        fs::write(&path, &bad).unwrap();
        let page = offset / PAGE_BYTES;
        let sum = crc32fast::hash(&bad[page * PAGE_BYTES..][..PAGE_BYTES]);
        let note = [(page as u32 + 1).to_be_bytes(), sum.to_be_bytes()].concat();
        fs::write(&pages, [sums.clone(), note].concat()).unwrap();
        let problem = verify(&path).unwrap_err();
        assert!(problem.contains("its content has the digest"), "{problem}");
    }
}

#[test]
fn a_store_is_verified_while_its_write_ahead_log_is_full() {
    let folder = Folder::new("wal");
    let path = made(&folder, 100);
    // As a process leaves it that was killed: copied while it is open.
    let store = open(&path).unwrap();
    store.append(at(1_000), vec![evidence("last", "x")]).unwrap();
    let copy = Folder::new("wal-copy");
    for suffix in ["", "-wal", "-pages"] {
        fs::copy(folder.file(&format!("store.db{suffix}")), copy.file(&format!("store.db{suffix}"))).unwrap();
    }
    let path = copy.file("store.db");
    verify(&path).unwrap();
    let reader = open(&path).unwrap().reader().unwrap().find(Kind::Evidence, "last", 201).unwrap();
    assert!(reader.is_some());
    verify(&path).unwrap();
}

#[test]
fn every_flipped_byte_of_the_write_ahead_log_is_found_but_in_the_mark_of_its_last_page() {
    let folder = Folder::new("ahead");
    let path = made(&folder, 0);
    let store = open(&path).unwrap();
    for number in 0..20 {
        store.append(at(number), vec![evidence(&number.to_string(), &"x".repeat(3000))]).unwrap();
    }
    let copy = Folder::new("ahead-copy");
    for suffix in ["", "-wal", "-pages"] {
        fs::copy(folder.file(&format!("store.db{suffix}")), copy.file(&format!("store.db{suffix}"))).unwrap();
    }
    let (path, ahead) = (copy.file("store.db"), copy.file("store.db-wal"));
    let good = fs::read(&ahead).unwrap();
    let frame = 24 + PAGE_BYTES;
    assert_eq!((good.len() - 32) % frame, 0);
    let marks_of_last = good.len() - frame + 8..good.len() - frame + 16;
    let offsets = (0..64).chain(draws(3).take(60).map(|draw| draw as usize % good.len()));
    for offset in offsets.chain([good.len() - 1, good.len() - frame, good.len() - frame - 1]) {
        let mut bad = good.clone();
        bad[offset] ^= 0x10;
        fs::write(&ahead, &bad).unwrap();
        assert!(verify(&path).is_err() || marks_of_last.contains(&offset), "byte {offset} of {}", good.len());
    }
    // A page that no end of a commit follows was being written when a process was killed: no part of the store.
    for (ends_commit, is_sound) in [(0, true), (9, false)] {
        let mut half = good.clone();
        half.extend_from_within(good.len() - frame..);
        half[good.len() + 4..good.len() + 8].copy_from_slice(&u32::to_be_bytes(ends_commit));
        half[good.len() + 24..].fill(7);
        fs::write(&ahead, &half).unwrap();
        assert_eq!(verify(&path).is_ok(), is_sound);
    }
    fs::write(&ahead, &good).unwrap();
    verify(&path).unwrap();
}

#[test]
fn a_log_that_was_rewritten_shows_against_a_checkpoint_from_before() {
    let folder = Folder::new("rewritten");
    let path = made(&folder, 50);
    let before = open(&path).unwrap().reader().unwrap().head().unwrap().checkpoint;
    let known = [before];
    assert!(sqlite::verify(&path, signer().verifying_key(), &known).unwrap().holds());
    // Another store with the same key, sound in itself.
    let other = Folder::new("rewritten-other");
    let path = made(&other, 100);
    verify(&path).unwrap();
    let store = open(&path).unwrap();
    store.append(at(0), vec![evidence("more", "x")]).unwrap();
    store.stop().unwrap();
    assert!(
        sqlite::verify(&path, signer().verifying_key(), &known).unwrap().holds(),
        "it goes on from the first"
    );
    let third = Folder::new("rewritten-third");
    let path = third.file("store.db");
    drop(Sqlite::create(&path).unwrap());
    open(&path).unwrap().append(at(0), (0..200).map(|n| evidence(&n.to_string(), "x")).collect()).unwrap();
    let audit = sqlite::verify(&path, signer().verifying_key(), &known).unwrap();
    assert!(audit.problems[0].contains("does not go on from"), "{audit}");
    let shorter = sqlite::verify(&made(&Folder::new("shorter"), 0), signer().verifying_key(), &known);
    assert!(shorter.is_err() || !shorter.unwrap().holds());
}

#[test]
fn what_is_no_store_is_refused() {
    let folder = Folder::new("foreign");
    let path = folder.file("x.db");
    assert_eq!(Sqlite::open(&path).err(), Some(Error::Missing(path.clone())));
    assert!(
        matches!(Sqlite::create(&folder.file("no/such/x.db")), Err(Error::Failed(text)) if text.contains("does not exist"))
    );
    for (name, bytes) in [("empty", Vec::new()), ("text", b"hello, this is no database at all".repeat(200))] {
        let path = folder.file(name);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(Sqlite::open(&path).err(), Some(Error::Foreign(path.clone())), "{name}");
        assert_eq!(Sqlite::create(&path).err(), Some(Error::Exists(path.clone())));
        assert_eq!(fs::read(&path).unwrap(), bytes, "left as it was");
    }
    // A database of something else.
    let other = folder.file("other.db");
    rusqlite::Connection::open(&other).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    assert_eq!(Sqlite::open(&other).err(), Some(Error::Foreign(other.clone())));
    assert!(matches!(Sqlite::open(folder.path()), Err(Error::Failed(_) | Error::Foreign(_))));
}

#[test]
fn a_store_from_the_future_is_refused() {
    let folder = Folder::new("newer");
    let path = made(&folder, 50);
    rusqlite::Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    let refused = Sqlite::open(&path).err();
    assert_eq!(refused, Some(Error::Newer { path, found: 7, known: 1 }));
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let folder = Folder::new("second");
    let path = made(&folder, 50);
    let first = open(&path).unwrap();
    let second = open(&path).err();
    assert_eq!(second, Some(Error::Locked(path.clone())));
    let mut reader = karat_store::Reader::new(Sqlite::open(&path).unwrap().reader().unwrap());
    first.append(at(0), vec![evidence("x", "x")]).unwrap();
    assert!(reader.find(Kind::Evidence, "x", 101).unwrap().is_some());
    first.stop().unwrap();
    open(&path).unwrap().stop().unwrap();
}

#[test]
fn a_file_that_may_not_grow_refuses_whole_batches_and_goes_on_when_it_may() {
    let folder = Folder::new("full");
    let path = made(&folder, 50);
    let backend = Sqlite::open(&path).unwrap().with_pages_at_most(80);
    let store = Store::open(Arc::new(backend), signer(), Limits::default()).unwrap();
    let mut kept = Vec::new();
    let refused = loop {
        let id = format!("big-{}", kept.len());
        // Nothing in it repeats itself, so it takes what it has.
        let noise: String = draws(kept.len() as u64).take(800).map(|draw| format!("{draw:016x}")).collect();
        let batch = vec![evidence(&id, &noise), evidence(&format!("{id}-b"), &id)];
        match store.append(at(9), batch) {
            Ok(_) => kept.push(id),
            Err(error) => break error,
        }
        assert!(kept.len() < 100);
    };
    assert_eq!(refused, Error::Full(path.clone()));
    // Small things still fit, and nothing of what was refused is there.
    store.append(at(9), vec![evidence("small", "x")]).unwrap();
    let mut reader = store.reader().unwrap();
    let size = reader.head().unwrap().size;
    assert_eq!(size as usize, 100 + 2 * kept.len() + 1);
    assert!(reader.find(Kind::Evidence, &format!("big-{}-b", kept.len()), size).unwrap().is_none());
    drop(reader);
    store.stop().unwrap();
    verify(&path).unwrap();
    open(&path).unwrap().append(at(9), vec![evidence("now", &"x".repeat(20_000))]).unwrap();
    verify(&path).unwrap();
}
