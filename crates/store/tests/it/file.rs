//! A store in a file: clear errors, tools that work on the file, and changes that do not stay hidden.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::common::{Folder, at, evidence, record, signer};
use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_store::log::Tile;
use karat_store::port::{Backend as _, Commit, Head, Order, Row};
use karat_store::sqlite::{self, Sqlite};
use karat_store::{Entry, Error, Kind, Limits, NewItem, Reader, Store, Term};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use rusqlite::Connection;
use rusqlite::backup::Backup;

/// The size of a page of the database.
const PAGE_BYTES: usize = 4096;

fn open(path: &Path) -> Result<Store, Error> {
    Store::open(Arc::new(Sqlite::open(path)?), signer(), Limits::default())
}

/// Makes a store with some hundred items, stopped.
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

/// Returns random numbers that are the same every time.
fn draws(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |at: u64| {
        let mut x = (seed << 32 ^ at).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    })
}

/// Everything that a store answers.
#[derive(Debug, PartialEq)]
struct Answers {
    head: Head,
    rows: Vec<Row>,
    found: Vec<[Vec<u64>; 2]>,
    tiles: Vec<Vec<u8>>,
    receipts: Vec<Vec<u8>>,
}

/// Asks the store at `path` everything; `ids` are terms that find something, and some that do not.
fn answers(path: &Path, terms: &[Term]) -> Result<Answers, Error> {
    let store = Sqlite::open(path)?;
    let mut read = store.reader()?;
    let head = read.head()?.ok_or(Error::Stopped)?;
    let rows = read.rows(0..u64::MAX)?;
    let mut found = |order| {
        let positions = |term: &Term| read.positions(*term, 0..u64::MAX, order, usize::MAX);
        terms.iter().map(positions).collect::<Result<Vec<_>, _>>()
    };
    let found = found(Order::Oldest)?.into_iter().zip(found(Order::Newest)?).map(<[_; 2]>::from).collect();
    let tiles = Tile::of_tree(head.size).map(|tile| read.tile(tile)).collect::<Result<_, _>>()?;
    let mut reader = Reader::new(read);
    let receipts =
        (0..head.size).map(|at| Ok(reader.receipt(at)?.to_json())).collect::<Result<_, Error>>()?;
    Ok(Answers { head, rows, found, tiles, receipts })
}

/// Makes a store with every sort of thing in it, stopped, and terms to ask it for.
fn varied(folder: &Folder) -> (PathBuf, Vec<Term>) {
    let path = made(folder, 150);
    let store = open(&path).unwrap();
    let corrected =
        NewItem { replaces: Some(String::from("run-7")), ..evidence("run-7-corrected", "better") };
    let review = |id: &str| NewItem { kind: Kind::Review, ..evidence(id, "asked") };
    store.append(at(200), vec![corrected, review("one"), review("two")]).unwrap();
    store.stop().unwrap();
    let reader = Sqlite::open(&path).unwrap().reader().unwrap();
    let items = Reader::new(reader).items(0..u64::MAX).unwrap();
    let mut terms: Vec<Term> = items.iter().flat_map(|item| item.entry.terms()).collect();
    terms.push(Term::id(Kind::Evidence, "not there"));
    (path, terms)
}

/// Checks that a flip does nothing or is found. Returns whether it was found.
fn found_or_harmless(path: &Path, terms: &[Term], good: &Answers) -> Result<bool, TestCaseError> {
    if verify(path).is_err() {
        return Ok(true);
    }
    let answers = answers(path, terms);
    prop_assert_eq!(answers.as_ref(), Ok(good));
    Ok(false)
}

#[test]
fn a_flipped_byte_is_found_or_changes_no_answer() {
    let folder = Folder::new("flips");
    let (path, terms) = varied(&folder);
    verify(&path).unwrap();
    let (bytes, good) = (fs::read(&path).unwrap(), answers(&path, &terms).unwrap());
    let flipped = |flips: &[(usize, u8)]| {
        let mut bad = bytes.clone();
        flips.iter().for_each(|(at, bit)| bad[at % bytes.len()] ^= 1 << bit);
        fs::write(&path, &bad).unwrap();
        found_or_harmless(&path, &terms, &good)
    };
    let (header, definitions) = (0..100, 100..108);
    for offset in header.chain(definitions) {
        flipped(&[(offset, (offset % 8) as u8)]).unwrap();
    }
    let (found, tried) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let mut runner = TestRunner::new(ProptestConfig { failure_persistence: None, ..Default::default() });
    let flips = proptest::collection::vec((any::<usize>(), 0u8..8), 1..4);
    let checked = runner.run(&flips, |flips| {
        found.set(found.get() + u32::from(flipped(&flips)?));
        tried.set(tried.get() + 1);
        Ok(())
    });
    checked.unwrap();
    let (found, tried) = (found.get(), tried.get());
    assert!(tried > 0 && found > tried / 3 * 2, "of {tried} only {found} were found");
    for end in [0, 1, 100, PAGE_BYTES, bytes.len() - PAGE_BYTES, bytes.len() - 1] {
        fs::write(&path, &bytes[..end]).unwrap();
        found_or_harmless(&path, &terms, &good).unwrap();
    }
    fs::write(&path, &bytes).unwrap();
    verify(&path).unwrap();
}

#[test]
fn a_changed_content_is_named() {
    let folder = Folder::new("tampered");
    let path = made(&folder, 100);
    // What does not repeat itself is in the file as it is.
    let marks: Vec<String> = draws(5).take(40).map(|draw| format!("{draw:x}")).collect();
    let store = open(&path).unwrap();
    store
        .append(at(100), marks.iter().map(|mark| evidence(&format!("m{}", &mark[..5]), mark)).collect())
        .unwrap();
    store.stop().unwrap();
    let good = fs::read(&path).unwrap();
    let place = |mark: &String| good.windows(6).position(|it| it == &mark.as_bytes()[mark.len() - 6..]);
    let found: Vec<_> = marks.iter().filter_map(place).collect();
    assert!(found.len() > 10);
    for offset in found.into_iter().step_by(9) {
        let mut bad = good.clone();
        bad[offset] = if bad[offset] == b'7' { b'8' } else { b'7' };
        fs::write(&path, &bad).unwrap();
        let problem = verify(&path).unwrap_err();
        assert!(problem.contains("its content has the digest"), "{problem}");
    }
}

/// Copies the files of a store as a killed process leaves them: while it is open. The item `last` is in the
/// write-ahead log alone. Returns the copy and the head.
fn killed(folder: &Folder, copy: &Folder) -> (PathBuf, String) {
    let store = open(&made(folder, 100)).unwrap();
    store.append(at(1_000), vec![evidence("last", "x")]).unwrap();
    for suffix in ["", "-wal"] {
        fs::copy(folder.file(&format!("store.db{suffix}")), copy.file(&format!("store.db{suffix}"))).unwrap();
    }
    assert!(fs::metadata(copy.file("store.db-wal")).unwrap().len() > 0);
    (copy.file("store.db"), store.reader().unwrap().head().unwrap().checkpoint)
}

#[test]
fn any_tool_of_sqlite_leaves_a_store_that_verifies_and_serves() {
    type Tool = fn(&Connection, &Path) -> rusqlite::Result<()>;
    let tools: [(&str, Tool); 8] = [
        ("nothing", |_, _| Ok(())),
        // The last connection that closes carries the write-ahead log over and removes it.
        ("select", |tool, _| tool.query_row("SELECT count(*) FROM block", [], |_| Ok(()))),
        ("checkpoint", |tool, _| tool.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))),
        ("vacuum", |tool, _| tool.execute_batch("VACUUM")),
        ("analyze", |tool, _| tool.execute_batch("ANALYZE")),
        ("another journal", |tool, _| tool.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))),
        ("vacuum into", |tool, copy| tool.execute("VACUUM INTO ?1", [copy.to_str()]).map(drop)),
        ("backup", |tool, copy| {
            Backup::new(tool, &mut Connection::open(copy)?)?.run_to_completion(5, Duration::ZERO, None)
        }),
    ];
    for (name, tool) in tools {
        let (folder, left) = (Folder::new("tools"), Folder::new("tools-left"));
        let (mut path, head) = killed(&folder, &left);
        let copy = left.file("copy.db");
        if name != "nothing" {
            tool(&Connection::open(&path).unwrap(), &copy).unwrap();
        }
        if copy.exists() {
            path = copy;
        }
        let checked = sqlite::verify(&path, signer().verifying_key(), std::slice::from_ref(&head)).unwrap();
        assert!(checked.holds(), "{name}: {checked}");
        let store = open(&path).unwrap();
        assert!(store.append(at(1_001), vec![evidence("last", "x")]).unwrap()[0].repeated, "{name}");
        store.append(at(1_001), vec![evidence("next", "x")]).unwrap();
        assert!(store.reader().unwrap().find(Kind::Evidence, "next", 202).unwrap().is_some(), "{name}");
        store.stop().unwrap();
        let checked = sqlite::verify(&path, signer().verifying_key(), &[head]).unwrap();
        assert!(checked.holds(), "{name}: {checked}");
    }
}

#[test]
fn tools_may_work_beside_a_store_that_is_written_to() {
    let folder = Folder::new("beside");
    let path = made(&folder, 50);
    let store = open(&path).unwrap();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for number in 0..300 {
                store.append(at(100), vec![evidence(&format!("more-{number}"), "x")]).unwrap();
            }
        });
        let mut copies = 0;
        while !writing.is_finished() || copies == 0 {
            let tool = Connection::open(&path).unwrap();
            tool.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
            let copy = folder.file(&format!("copy-{copies}.db"));
            sqlite::copy(&path, &copy).unwrap();
            verify(&copy).unwrap();
            copies += 1;
        }
    });
    store.stop().unwrap();
    verify(&path).unwrap();
}

#[test]
fn a_copy_is_refused_where_something_is() {
    let folder = Folder::new("copy");
    let path = made(&folder, 50);
    let copy = folder.file("copy.db");
    sqlite::copy(&path, &copy).unwrap();
    verify(&copy).unwrap();
    assert_eq!(sqlite::copy(&path, &copy), Err(Error::Exists(copy)));
    let (none, foreign) = (folder.file("none.db"), folder.file("text"));
    assert_eq!(sqlite::copy(&none, &folder.file("of-none")), Err(Error::Missing(none)));
    fs::write(&foreign, b"hello, this is no database at all".repeat(200)).unwrap();
    assert_eq!(sqlite::copy(&foreign, &folder.file("of-foreign")), Err(Error::Foreign(foreign)));
}

/// SQLite takes the first page of the log whose checksum is wrong for the end of it, as it must after a loss of power.
#[test]
fn a_damaged_write_ahead_log_reads_as_its_end_and_a_head_from_elsewhere_shows_it() {
    let (folder, copy) = (Folder::new("ahead"), Folder::new("ahead-copy"));
    let path = made(&folder, 0);
    let store = open(&path).unwrap();
    let mut heads = vec![store.reader().unwrap().head().unwrap()];
    for number in 0..20 {
        store.append(at(number), vec![evidence(&number.to_string(), &"x".repeat(3000))]).unwrap();
        heads.push(store.reader().unwrap().head().unwrap());
    }
    for suffix in ["", "-wal"] {
        fs::copy(folder.file(&format!("store.db{suffix}")), copy.file(&format!("store.db{suffix}"))).unwrap();
    }
    let (path, ahead) = (copy.file("store.db"), copy.file("store.db-wal"));
    let (good, last) = (fs::read(&ahead).unwrap(), heads[20].checkpoint.clone());
    let mut sizes = std::collections::BTreeSet::new();
    for offset in (0..64).step_by(7).chain(draws(3).take(60).map(|draw| draw as usize % good.len())) {
        let mut bad = good.clone();
        bad[offset] ^= 0x10;
        fs::write(&ahead, &bad).unwrap();
        // An index of the log that an earlier reader left is of the undamaged one.
        let _ = fs::remove_file(copy.file("store.db-shm"));
        let Ok(read) = sqlite::verify(&path, signer().verifying_key(), &[]) else { continue };
        assert!(read.holds(), "byte {offset}: {read}");
        let size = read.totals.rows;
        assert_eq!(heads[size as usize].size, size);
        let known = sqlite::verify(&path, signer().verifying_key(), std::slice::from_ref(&last)).unwrap();
        assert_eq!(known.holds(), size == 20, "byte {offset}: {known}");
        sizes.insert(size);
    }
    assert!(sizes.len() > 10, "{sizes:?}");
}

#[test]
fn a_store_of_version_1_is_carried_over_by_its_writer() {
    let folder = Folder::new("version-1");
    let path = folder.file("store.db");
    fs::write(&path, include_bytes!("../data/store-version-1.db")).unwrap();
    fs::write(folder.file("store.db-pages"), [7; 200]).unwrap();
    fs::write(folder.file("store.db-lock"), [7; 16]).unwrap();
    let backend = Sqlite::open(&path).unwrap();
    assert_eq!(backend.reader().err(), Some(Error::Older(path.clone())));
    assert!(verify(&path).unwrap_err().contains("karat serve"));
    let store = open(&path).unwrap();
    verify(&path).unwrap();
    let mut reader = store.reader().unwrap();
    let size = reader.head().unwrap().size;
    assert_eq!(size, 123);
    for run in 0..60 {
        assert!(reader.find(Kind::Evidence, &format!("run-{run}"), size).unwrap().is_some(), "{run}");
    }
    let corrected = reader.replacement(Kind::Evidence, "run-7", size).unwrap().unwrap();
    assert_eq!(corrected.content, b"better");
    let reviews = reader.list(Term::kind(Kind::Review), 0..size, Order::Newest, 9).unwrap();
    assert_eq!(reviews.len(), 2);
    let again = NewItem { kind: Kind::Review, ..evidence("review-2", "asked") };
    assert!(store.append(at(200), vec![again]).unwrap()[0].repeated);
    store.append(at(200), vec![evidence("new", "x")]).unwrap();
    store.stop().unwrap();
    verify(&path).unwrap();
    assert!(!folder.file("store.db-pages").exists());
    assert_eq!(fs::metadata(folder.file("store.db-lock")).unwrap().len(), 0);
}

/// Between 3.7.0 and 3.51.2 a checkpoint on one connection beside a commit on another could lose what was committed.
#[test]
fn sqlite_is_one_that_loses_nothing_to_a_checkpoint() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

/// The file has 64 bits of each term, and terms that share them can be made.
#[test]
fn terms_that_share_their_first_bits_are_told_apart() {
    const ROWS: u64 = 50;
    let folder = Folder::new("collision");
    let backend = Sqlite::create(&folder.file("store.db")).unwrap();
    let item = |at: u64| Entry {
        kind: Kind::Evidence,
        id: at.to_string(),
        subject: None,
        sources: Vec::new(),
        replaces: None,
        sender: None,
        content: Digest::of(b""),
        moment: Timestamp { milliseconds: 0 },
    };
    let real = item(30).terms()[0];
    let mut crafted = real;
    crafted.0[15] ^= 1;
    let row = |position| Row {
        position,
        known: Timestamp { milliseconds: 0 },
        entry: item(position).to_json(),
        content: vec![],
    };
    let commit = Commit {
        after: None,
        rows: (0..ROWS).map(row).collect(),
        postings: (0..ROWS).map(|at| (if at == 30 { real } else { crafted }, at)).collect(),
        tiles: Vec::new(),
        head: Head { size: ROWS, checkpoint: String::new() },
    };
    let mut writer = backend.writer().unwrap();
    writer.commit(&mut |_| Ok(Some(commit.clone()))).unwrap();
    for backend in [backend, Sqlite::open(&folder.file("store.db")).unwrap()] {
        let mut reader = backend.reader().unwrap();
        for (term, found) in [(real, vec![30]), (crafted, vec![])] {
            for (order, limit) in [(Order::Oldest, 1), (Order::Newest, 1), (Order::Oldest, 9)] {
                assert_eq!(reader.positions(term, 0..u64::MAX, order, limit).unwrap(), found);
            }
        }
        assert!(reader.positions(real, 0..30, Order::Newest, 9).unwrap().is_empty());
    }
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
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    assert_eq!(Sqlite::open(&other).err(), Some(Error::Foreign(other.clone())));
    assert!(matches!(Sqlite::open(folder.path()), Err(Error::Failed(_) | Error::Foreign(_))));
}

#[test]
fn a_store_from_the_future_is_refused() {
    let folder = Folder::new("newer");
    let path = made(&folder, 50);
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 7").unwrap();
    let refused = Sqlite::open(&path).err();
    assert_eq!(refused, Some(Error::Newer { path, found: 7, known: 2 }));
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let folder = Folder::new("second");
    let path = made(&folder, 50);
    let first = open(&path).unwrap();
    let second = open(&path).err();
    assert_eq!(second, Some(Error::Locked(path.clone())));
    let mut reader = Reader::new(Sqlite::open(&path).unwrap().reader().unwrap());
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
