//! The contract of a database that stores a log, run for every backend.

use std::sync::Arc;

use crate::common::{Folder, backends};
use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_store::log::Tile;
use karat_store::port::{Backend, Commit, Head, Order, Row, Totals, Write};
use karat_store::{Entry, Error, Kind, Term};

fn each_backend(name: &str, test: impl Fn(&str, &Arc<dyn Backend>)) {
    let folder = Folder::new(name);
    for (name, backend) in backends(&folder) {
        test(name, &backend);
    }
}

fn entry(position: u64) -> Entry {
    Entry {
        kind: Kind::Review,
        id: position.to_string(),
        subject: Some((position % 3).to_string()),
        sources: Vec::new(),
        replaces: None,
        sender: None,
        content: Digest::of(b""),
        moment: Timestamp { milliseconds: position as i64 },
    }
}

fn row(position: u64) -> Row {
    Row {
        position,
        known: Timestamp { milliseconds: position as i64 * 10 },
        entry: entry(position).to_json(),
        content: vec![position as u8; position as usize % 5 * 2000],
    }
}

/// Returns the term of all rows.
fn all() -> Term {
    Term::kind(Kind::Review)
}

/// Returns the term of every third row.
fn third(number: u64) -> Term {
    Term::subject(Kind::Review, &number.to_string())
}

/// Rows `start..end`, each found by its id, by the term of all, and by one of three.
fn commit(start: u64, end: u64) -> Commit {
    Commit {
        after: Some(start),
        rows: (start..end).map(row).collect(),
        postings: (start..end).flat_map(|at| entry(at).terms().into_iter().map(move |it| (it, at))).collect(),
        tiles: vec![(Tile { level: 0, number: 0 }, vec![7; end as usize * 32])],
        head: Head { size: end, checkpoint: format!("head of {end}\n") },
    }
}

fn first(end: u64) -> Commit {
    Commit { after: None, ..commit(0, end) }
}

fn write(writer: &mut Box<dyn Write>, commit: Commit) -> Result<(), Error> {
    writer.commit(&mut |_| Ok(Some(commit.clone())))
}

#[test]
fn an_empty_store_has_nothing() {
    each_backend("empty", |name, backend| {
        let mut reader = backend.reader().unwrap();
        assert_eq!(reader.head().unwrap(), None, "{name}");
        assert!(reader.rows(0..10).unwrap().is_empty());
        assert!(reader.positions(all(), 0..10, Order::Oldest, 10).unwrap().is_empty());
        assert!(reader.tile(Tile { level: 0, number: 0 }).unwrap().is_empty());
        assert_eq!(reader.totals().unwrap(), Totals { rows: 0, postings: 0, tiles: 0 });
        assert_eq!(reader.damage().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn what_is_committed_is_read_by_writer_and_readers() {
    each_backend("read", |name, backend| {
        let mut before = backend.reader().unwrap();
        let mut writer = backend.writer().unwrap();
        write(&mut writer, first(5)).unwrap();
        write(&mut writer, commit(5, 8)).unwrap();
        let mut after = backend.reader().unwrap();
        for reader in [&mut before, &mut after] {
            assert_eq!(reader.head().unwrap(), Some(commit(5, 8).head), "{name}");
            assert_eq!(reader.rows(0..8).unwrap(), (0..8).map(row).collect::<Vec<_>>());
            assert_eq!(reader.rows(6..100).unwrap(), [row(6), row(7)]);
            assert!(reader.rows(8..9).unwrap().is_empty());
            assert_eq!(reader.rows(4..u64::MAX).unwrap().len(), 4);
            assert_eq!(reader.tile(Tile { level: 0, number: 0 }).unwrap(), [7; 256]);
            assert!(reader.tile(Tile { level: 1, number: 0 }).unwrap().is_empty());
            assert_eq!(reader.totals().unwrap(), Totals { rows: 8, postings: 24, tiles: 1 });
            assert_eq!(reader.damage().unwrap(), Vec::<String>::new());
        }
    });
}

#[test]
fn positions_come_in_either_order_within_their_range() {
    each_backend("positions", |name, backend| {
        let mut writer = backend.writer().unwrap();
        write(&mut writer, first(10)).unwrap();
        let mut reader = backend.reader().unwrap();
        let mut found = |term, range, order, limit| reader.positions(term, range, order, limit).unwrap();
        assert_eq!(found(third(1), 0..10, Order::Oldest, 9), [1, 4, 7], "{name}");
        assert_eq!(found(third(1), 0..10, Order::Newest, 9), [7, 4, 1]);
        assert_eq!(found(third(1), 0..10, Order::Newest, 2), [7, 4]);
        assert_eq!(found(third(1), 1..7, Order::Oldest, 9), [1, 4]);
        assert!(found(third(1), 5..5, Order::Oldest, 9).is_empty());
        assert_eq!(found(all(), 3..u64::MAX, Order::Oldest, 2), [3, 4]);
        assert!(found(all(), 0..10, Order::Oldest, 0).is_empty());
        assert!(found(third(9), 0..10, Order::Oldest, 9).is_empty());
    });
}

#[test]
fn positions_stay_in_order_when_there_are_many() {
    each_backend("many", |name, backend| {
        let mut writer = backend.writer().unwrap();
        let mut start = 0;
        for end in [20_000, 40_000, 40_100] {
            let tiles = Vec::new();
            let commit = Commit { after: (start > 0).then_some(start), tiles, ..commit(start, end) };
            let rows = commit.rows.into_iter().map(|row| Row { content: Vec::new(), ..row }).collect();
            write(&mut writer, Commit { rows, ..commit }).unwrap();
            start = end;
        }
        let mut reader = backend.reader().unwrap();
        let found = reader.positions(third(0), 0..50_000, Order::Oldest, 50_000).unwrap();
        assert_eq!(found, (0..40_100).filter(|at| at % 3 == 0).collect::<Vec<_>>(), "{name}");
        let newest = reader.positions(third(0), 0..50_000, Order::Newest, 14_000).unwrap();
        assert!(newest.iter().eq(found.iter().rev().take(14_000)), "{name}");
        assert_eq!(reader.totals().unwrap().postings, 120_300);
    });
}

#[test]
fn what_is_read_together_is_there_and_whole() {
    each_backend("together", |name, backend| {
        let mut writer = backend.writer().unwrap();
        write(&mut writer, first(5)).unwrap();
        let mut reader = backend.reader().unwrap();
        let mut sizes = Vec::new();
        let done = reader.together(&mut |read| {
            for end in [6, 7] {
                assert_eq!(read.positions(all(), 0..5, Order::Newest, 9)?, [4, 3, 2, 1, 0], "{name}");
                assert_eq!(read.rows(0..5)?.len(), 5);
                write(&mut writer, commit(end - 1, end))?;
            }
            sizes.extend(read.head()?.map(|head| head.size));
            Ok(())
        });
        assert_eq!(done, Ok(()));
        assert!(matches!(sizes[..], [5..=7]), "{name}: {sizes:?}");
        assert_eq!(reader.positions(all(), 0..9, Order::Newest, 1).unwrap(), [6]);
        assert_eq!(reader.together(&mut |_| Err(Error::Stopped)), Err(Error::Stopped));
        assert_eq!(reader.head().unwrap().map(|head| head.size), Some(7), "{name}");
    });
}

#[test]
fn a_commit_that_does_not_go_on_from_the_head_changes_nothing() {
    each_backend("overtaken", |name, backend| {
        let mut writer = backend.writer().unwrap();
        write(&mut writer, first(5)).unwrap();
        for (wrong, expected) in [(first(3), 0), (commit(4, 6), 4), (commit(6, 7), 6)] {
            let refused = write(&mut writer, wrong).unwrap_err();
            assert_eq!(refused, Error::Overtaken { expected, found: 5 }, "{name}");
        }
        assert_eq!(backend.reader().unwrap().head().unwrap(), Some(first(5).head));
        assert_eq!(backend.reader().unwrap().totals().unwrap(), Totals { rows: 5, postings: 15, tiles: 1 });
        write(&mut writer, commit(5, 6)).unwrap();
    });
}

#[test]
fn there_is_one_writer_and_after_it_the_next() {
    each_backend("one", |name, backend| {
        let mut writer = backend.writer().unwrap();
        write(&mut writer, first(1)).unwrap();
        assert!(matches!(backend.writer().err(), Some(Error::Locked(_))), "{name}");
        drop(writer);
        let mut next = backend.writer().unwrap();
        assert_eq!(backend.reader().unwrap().head().unwrap(), Some(first(1).head));
        write(&mut next, commit(1, 2)).unwrap();
    });
}

#[test]
fn readers_in_other_threads_see_whole_commits_and_hold_nobody_up() {
    each_backend("threads", |name, backend| {
        let mut writer = backend.writer().unwrap();
        write(&mut writer, first(1)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut reader = backend.reader().unwrap();
                    let mut last = 0;
                    while last < 200 {
                        let size = reader.head().unwrap().unwrap().size;
                        assert!(size >= last, "{name}");
                        assert_eq!(reader.rows(0..size).unwrap().len() as u64, size);
                        let found = reader.positions(all(), 0..size, Order::Oldest, 1000).unwrap();
                        assert_eq!(found.len() as u64, size);
                        last = size;
                    }
                });
            }
            for size in 1..200 {
                write(&mut writer, commit(size, size + 1)).unwrap();
            }
        });
    });
}
