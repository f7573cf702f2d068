//! States that only the writer itself can be brought into: between its steps, and as a killed process leaves them.

use std::ops::Range;
use std::path::PathBuf;

use rusqlite::OpenFlags;

use super::super::Sqlite;
use super::*;
use crate::item::{Kind, Moment, NewItem, Prepared, Term};
use crate::port::{Commit, Head, Order, Read, Row};

/// A new folder, removed with everything in it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("karat-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn writer(backend: &Sqlite) -> SqliteWriter {
    let connection = backend.place.connect(OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    SqliteWriter::open(backend.tables(connection), backend.place.lock().unwrap()).unwrap()
}

fn commit(range: Range<u64>) -> Commit {
    let (mut rows, mut postings) = (Vec::new(), Vec::new());
    for position in range.clone() {
        let item = NewItem {
            kind: Kind::Review,
            id: format!("run-{position}"),
            subject: Some(format!("agent-{}", position % 7)),
            sources: Vec::new(),
            replaces: None,
            content: Vec::new(),
        };
        let Prepared { bytes: entry, terms, content, .. } = Prepared::new(item, Moment(0));
        postings.extend(terms.into_iter().map(|term| (term, position)));
        rows.push(Row { position, known: Moment(0), entry, content });
    }
    let head = Head { size: range.end, checkpoint: String::new() };
    Commit { after: (range.start > 0).then_some(range.start), rows, postings, tiles: Vec::new(), head }
}

fn check(read: &mut dyn Read, rows: u64) {
    for position in 0..rows + 10 {
        let id = Term::id(Kind::Review, &format!("run-{position}"));
        let found = read.positions(id, 0..rows, Order::Oldest, 2).unwrap();
        assert_eq!(found, Vec::from_iter((position < rows).then_some(position)), "{position} of {rows}");
    }
    for subject in 0..7 {
        let term = Term::subject(Kind::Review, &format!("agent-{subject}"));
        let found = read.positions(term, 3..rows, Order::Newest, 1000).unwrap();
        assert!(found.into_iter().eq((3..rows).rev().filter(|at| at % 7 == subject)), "{rows}");
    }
}

#[test]
fn a_block_that_was_taken_back_is_not_read_again() {
    let folder = Folder::new("taken-back");
    let backend = Sqlite::create(&folder.0.join("store.db")).unwrap();
    let mut writer = writer(&backend);
    let tables = &mut writer.tables;
    let taken_back = tables.transaction(|tables| {
        tables.write(&commit(0..300))?;
        assert_eq!(tables.rows(0..400)?, commit(0..300).rows);
        assert_eq!(tables.rows(299..400)?.len(), 1);
        Err::<(), _>(Error::Stopped)
    });
    assert_eq!(taken_back, Err(Error::Stopped));
    assert!(tables.rows(299..300).unwrap().is_empty());
    tables.transaction(|tables| tables.write(&commit(0..5))).unwrap();
    tables.transaction(|tables| tables.write(&commit(5..300))).unwrap();
    // Within one block and beyond it, back and forth.
    for range in [0..1, 3..4, 1..3, 4..7, 5..6, 0..300, 290..300, 2..400, 300..301, 299..u64::MAX] {
        let expected = commit(range.start.min(300)..range.end.min(300)).rows;
        assert_eq!(tables.rows(range).unwrap(), expected);
    }
    drop(writer);
}

/// A process that is killed leaves the file, its checksums and the log as a copy has them.
#[test]
fn the_log_is_carried_over_beside_commits_and_every_page_is_noted_before() {
    let folder = Folder::new("carry");
    let copy = folder.0.join("copy");
    std::fs::create_dir_all(&copy).unwrap();
    let backend = Sqlite::create(&folder.0.join("store.db")).unwrap();
    let mut writer = writer(&backend);
    let (mut rows, mut beside, mut shortest) = (0, 0, u64::MAX);
    for round in 0..150 {
        writer.commit(&mut |_| Ok(Some(commit(rows..rows + 150)))).unwrap();
        rows += 150;
        let waiting = |writer: &SqliteWriter| {
            let Tables { place, connection, .. } = &writer.tables;
            let (all, carried_over) = carry::log_pages(place, connection).unwrap();
            all - carried_over
        };
        let before = waiting(&writer);
        writer.carrying.go_on(&backend.place, CARRY_PAGES).unwrap();
        match writer.carrying {
            Carrying::Beside(_) => beside += 1,
            _ => shortest = shortest.min(waiting(&writer)),
        }
        assert!(before < 1000, "{before}");
        if round % 5 == 0 {
            for suffix in ["", "-wal", "-pages"] {
                let name = format!("store.db{suffix}");
                std::fs::copy(folder.0.join(&name), copy.join(&name)).unwrap();
            }
            let place = super::super::Place { path: copy.join("store.db") };
            assert_eq!(super::super::pages::check(&place), Ok(Vec::new()), "round {round}");
            let left = Sqlite::open(&copy.join("store.db")).unwrap();
            let mut left = left.tables(left.place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap());
            assert_eq!(left.rows(0..u64::MAX).unwrap().len() as u64, rows);
            assert!(left.damage().unwrap().is_empty());
        }
    }
    assert!(beside > 0 && shortest == 0, "{beside} {shortest}");
    // Most notes were left behind on the way.
    let notes = std::fs::metadata(folder.0.join("store.db-pages")).unwrap().len() / 8;
    let pages = std::fs::metadata(folder.0.join("store.db")).unwrap().len() / 4096;
    assert!(notes < 2 * pages + 150, "{notes} notes of {pages} pages");
    drop(writer);
    assert_eq!(std::fs::metadata(folder.0.join("store.db-wal")).unwrap().len(), 0);
    assert_eq!(super::super::pages::check(&backend.place), Ok(Vec::new()));
}

#[test]
fn notes_are_not_left_behind_while_a_reader_needs_the_old_pages() {
    let folder = Folder::new("noted");
    let backend = Sqlite::create(&folder.0.join("store.db")).unwrap();
    let mut writer = writer(&backend);
    writer.commit(&mut |_| Ok(Some(commit(0..300)))).unwrap();
    writer.carrying = Carrying::open(&backend.place).unwrap();
    let reader = backend.place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let read = backend.tables(reader).together(&mut |read| {
        assert_eq!(read.rows(0..400)?.len(), 300);
        // Far more notes than pages, and none of these pages may go into the file yet.
        for start in 300..800 {
            writer.commit(&mut |_| Ok(Some(commit(start..start + 1))))?;
        }
        writer.carrying = Carrying::open(&backend.place)?;
        assert_eq!(super::super::pages::check(&backend.place), Ok(Vec::new()));
        Ok(())
    });
    assert_eq!(read, Ok(()));
    drop(writer);
}

/// A log begins anew at its start and keeps what was behind, so a page may be half a new one and half an old one.
#[test]
fn a_commit_that_broke_off_is_no_damage_and_one_that_is_noted_is() {
    let folder = Folder::new("broke-off");
    let copy = super::super::Place { path: folder.0.join("copy").join("store.db") };
    std::fs::create_dir_all(folder.0.join("copy")).unwrap();
    let backend = Sqlite::create(&folder.0.join("store.db")).unwrap();
    let mut writer = writer(&backend);
    let read = |suffix| std::fs::read(backend.place.beside(suffix)).unwrap();
    let salts = |log: &[u8]| log.get(16..24).map(<[u8]>::to_vec);
    let (mut rows, mut firsts, mut cuts) = (0, 0, 0);
    for round in 0..40 {
        if round % 8 == 7 {
            while !matches!(writer.carrying, Carrying::Beside(_)) {
                writer.carrying.go_on(&backend.place, CARRY_PAGES).unwrap();
            }
            while matches!(writer.carrying, Carrying::Beside(_)) {
                writer.carrying.go_on(&backend.place, 0).unwrap();
            }
        }
        for suffix in ["", "-pages", "-lock"] {
            std::fs::copy(backend.place.beside(suffix), copy.beside(suffix)).unwrap();
        }
        let before = read(AHEAD);
        writer.commit(&mut |_| Ok(Some(commit(rows..rows + 50)))).unwrap();
        rows += 50;
        let (pages, _) = carry::log_pages(&writer.tables.place, &writer.tables.connection).unwrap();
        let end = 32 + 4120 * pages as usize;
        let mut log = before.clone();
        log.resize(end.max(before.len()), 0);
        log[..end].copy_from_slice(&read(AHEAD)[..end]);
        let mut broke_off = Vec::new();
        for cut in (end - 4096..end).filter(|at| at % 4096 == 0 || *at == end - 4096) {
            // Of a file that did not reach so far, nothing of the page is there.
            if before.len() >= end && before[cut..end] != log[cut..end] {
                broke_off.push([&log[..cut], &before[cut..]].concat());
            }
        }
        let is_first = salts(&before).is_some() && salts(&before) != salts(&log);
        let found = |log: &[u8]| {
            std::fs::write(copy.beside(AHEAD), log).unwrap();
            super::super::pages::check(&copy).unwrap().len()
        };
        for log in &broke_off {
            (firsts, cuts) = (firsts + usize::from(is_first), cuts + 1);
            assert_eq!(found(log), 0, "round {round}");
        }
        writer.tidy().unwrap();
        std::fs::copy(backend.place.beside("-lock"), copy.beside("-lock")).unwrap();
        assert_eq!(found(&log), 0, "round {round}");
        let marks = log[..end - 4120 + 8].iter().chain(&[7; 8]).chain(&log[end - 4112..]).copied().collect();
        for log in broke_off.into_iter().chain([marks, log[..end - 1].to_vec()]) {
            assert_eq!(found(&log), 1, "round {round}");
        }
    }
    assert!(firsts > 1 && cuts > 30, "{firsts} {cuts}");
    drop(writer);
}

/// Every state between is looked at, by the writer, by a reader beside it, and after a start in the middle.
#[test]
fn postings_are_found_whichever_part_of_them_is_in_the_table() {
    let folder = Folder::new("indexing");
    let path = folder.0.join("store.db");
    let mut backend = Sqlite::create(&path).unwrap();
    let mut rows = 0;
    for round in 0..2 {
        let mut writer = writer(&backend);
        for end in [100, 110, 140, 330, 345].map(|more| rows + more) {
            let reader = backend.place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
            let mut reader = backend.tables(reader);
            writer.commit(&mut |_| Ok(Some(commit(rows..end)))).unwrap();
            rows = end;
            writer.start_indexing(150);
            for tables in [&mut writer.tables, &mut reader] {
                check(tables, rows);
                assert_eq!(tables.totals().unwrap().postings, 3 * rows);
            }
            if round % 2 == 1 {
                writer.sweep().unwrap();
            }
        }
        drop(writer);
        backend = Sqlite::open(&path).unwrap();
    }
    let mut last = writer(&backend);
    assert!(last.tables.sizes().unwrap().unwrap().indexed > rows / 2);
    last.start_indexing(1);
    let reader = backend.place.connect(OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let moved_meanwhile = backend.tables(reader).together(&mut |read| {
        check(read, rows);
        last.commit(&mut |_| Ok(Some(commit(rows..rows + 1000))))?;
        assert_eq!(last.tables.sizes()?.map(|sizes| sizes.indexed), Some(rows));
        check(read, rows);
        Ok(())
    });
    assert_eq!(moved_meanwhile, Ok(()));
    assert!(last.tables.damage().unwrap().is_empty());
    drop(last);
}
