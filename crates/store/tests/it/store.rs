//! The promises of a store, for every backend: nothing twice, nothing half, corrections, the past as it was known,
//! proofs and receipts.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::sync::mpsc;
use std::sync::{Arc, Barrier};

use crate::common::{Folder, at, backends, evidence, open, record, signer};
use karat_core::facts::Digest;
use karat_store::log::{Checkpoint, Hash, Signer, Tile, TilePath, verify_consistency, verify_inclusion};
use karat_store::port::{Backend, Order};
use karat_store::{Entry, Error, Kind, Limits, NewItem, Problem, Receipt, Store, Term, audit};
use proptest::prelude::*;

fn each_backend(name: &str, test: impl Fn(&str, &Arc<dyn Backend>)) {
    let folder = Folder::new(name);
    for (name, backend) in backends(&folder) {
        test(name, &backend);
        sound(&backend);
    }
}

fn sound(backend: &Arc<dyn Backend>) {
    let store = open(backend);
    let checked = audit(&mut store.reader().unwrap(), store.verifying_key(), &[]).unwrap();
    assert!(checked.holds(), "{checked}");
}

fn problems(error: Error) -> Vec<Problem> {
    match error {
        Error::Refused(refusals) => refusals.into_iter().map(|refusal| refusal.problem).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_stored_is_there_after_opening_again() {
    each_backend("again", |name, backend| {
        let item = evidence("run-1", r#"{"score":1}"#);
        let store = open(backend);
        let [first, second] = store.append(at(5), vec![item.clone(), record(&item)]).unwrap()[..] else {
            panic!("{name}")
        };
        assert_eq!((first.position, second.position, first.repeated), (0, 1, false));
        store.stop().unwrap();
        let mut reader = open(backend).reader().unwrap();
        let found = reader.find(Kind::Evidence, "run-1", 2).unwrap().unwrap();
        assert_eq!(found.content, item.content);
        assert_eq!(found.entry.content, Digest::of(&item.content));
        assert_eq!((found.entry.moment, found.entry.subject.as_deref()), (at(5), Some("agent")));
        assert_eq!(reader.items(0..9).unwrap().len(), 2);
        assert!(reader.find(Kind::Record, "run-1", 2).unwrap().is_none());
        assert!(reader.item(2).is_err());
    });
}

#[test]
fn the_same_again_changes_nothing_and_other_content_is_a_conflict() {
    each_backend("idempotent", |name, backend| {
        let store = open(backend);
        let item = evidence("run-1", "a");
        let first = store.append(at(1), vec![item.clone()]).unwrap();
        let head = store.reader().unwrap().head().unwrap();
        // Within one batch, in a separate batch, and at another moment.
        let again = store.append(at(2), vec![item.clone(), item.clone()]).unwrap();
        assert!(again.iter().all(|it| it.repeated && it.position == 0 && it.moment == at(1)), "{name}");
        assert_eq!(again[0].content, first[0].content);
        assert_eq!(store.reader().unwrap().head().unwrap(), head);

        let other = NewItem { content: b"b".to_vec(), ..item.clone() };
        let renamed = NewItem { subject: None, ..item.clone() };
        let refused = store.append(at(3), vec![other, evidence("run-2", "c"), renamed]).unwrap_err();
        let text = refused.to_string();
        assert!(
            text.contains(&Digest::of(b"a").to_string()) && text.contains(&Digest::of(b"b").to_string()),
            "{text}"
        );
        let (stored, given) = (Digest::of(b"a"), Digest::of(b"b"));
        assert_eq!(
            problems(refused),
            [
                Problem::Conflict { member: "content", stored, given },
                Problem::Conflict { member: "subject", stored, given: stored },
            ]
        );
        // Nothing of the refused batch is there.
        assert_eq!(store.reader().unwrap().head().unwrap(), head);
        // The same id under another kind is another item.
        store.append(at(3), vec![NewItem { kind: Kind::Match, ..item }]).unwrap();
    });
}

#[test]
fn batches_handed_in_together_stand_or_fall_alone() {
    each_backend("each", |name, backend| {
        let store = open(backend);
        let empty = NewItem { id: String::new(), ..evidence("x", "x") };
        let batches = vec![
            vec![evidence("a", "1")],
            vec![empty],
            vec![evidence("b", "1"), evidence("a", "2")],
            vec![evidence("b", "2"), evidence("a", "1")],
            vec![],
        ];
        let outcomes = store.append_each(at(1), batches).unwrap();
        let [first, malformed, conflict, last, none] = &outcomes[..] else { panic!("{name}") };
        assert_eq!(first.as_ref().unwrap()[0].position, 0);
        assert!(matches!(&problems(malformed.clone().unwrap_err())[..], [Problem::Malformed(_)]));
        assert!(matches!(&problems(conflict.clone().unwrap_err())[..], [Problem::Conflict { .. }]));
        let positions: Vec<_> = last.as_ref().unwrap().iter().map(|it| (it.position, it.repeated)).collect();
        assert_eq!(positions, [(1, false), (0, true)]);
        assert_eq!(none.as_ref().unwrap(), &[]);
        assert_eq!(store.reader().unwrap().head().unwrap().size, 2);
    });
}

#[test]
fn a_correction_names_the_old_item_and_comes_once() {
    each_backend("corrections", |name, backend| {
        let store = open(backend);
        let replacing = |id: &str, old: &str| NewItem { replaces: Some(old.to_owned()), ..evidence(id, id) };
        store.append(at(1), vec![evidence("a", "a"), replacing("b", "a")]).unwrap();
        store.append(at(2), vec![replacing("c", "b")]).unwrap();
        store.append(at(2), vec![replacing("c", "b")]).unwrap();
        let refused = store.append(at(3), vec![replacing("d", "a"), replacing("e", "z")]).unwrap_err();
        assert_eq!(
            problems(refused),
            [
                Problem::ReplacedBefore { old: "a".to_owned(), by: "b".to_owned() },
                Problem::NothingToReplace("z".to_owned()),
            ]
        );
        let itself = store.append(at(3), vec![replacing("f", "f")]).unwrap_err();
        assert_eq!(problems(itself), [Problem::NothingToReplace("f".to_owned())], "{name}");
        let twice = store.append(at(3), vec![replacing("g", "c"), replacing("h", "c")]).unwrap_err();
        assert_eq!(problems(twice), [Problem::ReplacedBefore { old: "c".to_owned(), by: "g".to_owned() }]);

        let mut reader = store.reader().unwrap();
        let mut replacement = |old| {
            let found = [1, 2, 3].map(|size| reader.replacement(Kind::Evidence, old, size).unwrap());
            found.map(|item| item.map(|item| item.entry.id))
        };
        assert_eq!(replacement("a"), [None, Some("b"), Some("b")].map(|id| id.map(str::to_owned)));
        assert_eq!(replacement("b"), [None, None, Some("c")].map(|id| id.map(str::to_owned)));
    });
}

#[test]
fn the_past_is_read_as_it_was_known() {
    each_backend("past", |name, backend| {
        let store = open(backend);
        // The clock is put back between the second and the third.
        for (id, moment) in [("a", 10), ("b", 20), ("c", 15), ("d", 20), ("e", 30)] {
            store.append(at(moment), vec![NewItem { kind: Kind::Review, ..evidence(id, id) }]).unwrap();
        }
        let mut reader = store.reader().unwrap();
        let sizes = [i64::MIN, 9, 10, 19, 20, 29, 30, i64::MAX].map(|it| reader.size_at(at(it)).unwrap());
        assert_eq!(sizes, [0, 0, 1, 1, 4, 4, 5, 5], "{name}");
        assert!(reader.find(Kind::Review, "c", 2).unwrap().is_none());
        let moment = reader.find(Kind::Review, "c", 4).unwrap().unwrap().entry.moment;
        assert_eq!(moment, at(20), "the time of the log does not fall");
        let subject = Term::subject(Kind::Review, "agent");
        let newest = reader.list(subject, 0..4, Order::Newest, 2).unwrap();
        assert_eq!(newest.iter().map(|item| item.position).collect::<Vec<_>>(), [3, 2]);
    });
}

#[test]
fn lists_are_for_the_kinds_that_are_listed() {
    each_backend("kinds", |_, backend| {
        let store = open(backend);
        let of = |kind: Kind| NewItem { kind, ..evidence("x", "x") };
        store.append(at(1), Kind::ALL.map(of).to_vec()).unwrap();
        let mut reader = store.reader().unwrap();
        for kind in Kind::ALL {
            let size = Kind::ALL.len();
            let mut found = |term| reader.list(term, 0..size as u64, Order::Oldest, size).unwrap().len();
            let many = [Term::kind(kind), Term::subject(kind, "agent"), Term::subject(kind, "nobody")]
                .map(&mut found);
            let listed = usize::from(kind.is_listed());
            assert_eq!(many, [listed, listed, 0], "{kind}");
        }
    });
}

#[test]
fn everything_is_proven_against_every_head() {
    each_backend("proofs", |name, backend| {
        let store = open(backend);
        let mut heads = vec![store.reader().unwrap().head().unwrap()];
        for round in 0..20 {
            let items = (0..=round * 3).map(|n| evidence(&format!("{round}-{n}"), "x")).collect();
            store.append(at(round), items).unwrap();
            heads.push(store.reader().unwrap().head().unwrap());
        }
        let mut reader = store.reader().unwrap();
        let opened: Vec<_> = heads
            .iter()
            .map(|head| Checkpoint::open(&head.checkpoint, store.verifying_key()).unwrap())
            .collect();
        for (head, checkpoint) in heads.iter().zip(&opened) {
            assert_eq!(
                (head.size, reader.root(head.size).unwrap()),
                (checkpoint.size, checkpoint.root),
                "{name}"
            );
            for old in &opened[..=opened.iter().position(|it| it == checkpoint).unwrap()] {
                let path = reader.consistency(old.size, checkpoint.size).unwrap();
                verify_consistency(old.size, checkpoint.size, &path, old.root, checkpoint.root).unwrap();
            }
            for position in (0..head.size).step_by(37) {
                let leaf = Hash::of_leaf(&reader.item(position).unwrap().entry.to_json());
                let path = reader.inclusion(position, head.size).unwrap();
                verify_inclusion(leaf, position, head.size, &path, checkpoint.root).unwrap();
            }
        }
        let notes: Vec<_> = heads.iter().map(|head| head.checkpoint.clone()).collect();
        assert!(audit(&mut reader, store.verifying_key(), &notes).unwrap().holds());
        assert!(reader.inclusion(heads.last().unwrap().size, heads.last().unwrap().size).is_err());
    });
}

#[test]
fn tiles_and_bundles_are_those_of_the_format() {
    each_backend("tiles", |name, backend| {
        let store = open(backend);
        store.append(at(0), (0..300).map(|n| evidence(&n.to_string(), "x")).collect()).unwrap();
        let mut reader = store.reader().unwrap();
        let mut get = |path: &str| reader.resource(path.parse::<TilePath>().unwrap()).unwrap();
        let leaves = get("tile/0/000").unwrap();
        assert_eq!(leaves.len(), 8192, "{name}");
        assert_eq!(get("tile/0/001.p/44").unwrap().len(), 44 * 32);
        assert_eq!(get("tile/0/001.p/7").unwrap(), get("tile/0/001.p/44").unwrap()[..7 * 32]);
        assert_eq!(get("tile/1/000.p/1").unwrap().len(), 32);
        for path in [
            "tile/0/001", "tile/0/001.p/45", "tile/0/002.p/1", "tile/2/000.p/1", "tile/entries/001",
            "tile/63/000",
        ] {
            assert_eq!(get(path), None, "{path}");
        }
        // Each entry of a bundle hashes to its place in the tile.
        let bundle = get("tile/entries/000").unwrap();
        let (mut rest, mut count) = (&bundle[..], 0);
        while let Some((length, tail)) = rest.split_first_chunk::<2>() {
            let (entry, tail) = tail.split_at(usize::from(u16::from_be_bytes(*length)));
            assert_eq!(Hash::of_leaf(entry).0, leaves[count * 32..][..32]);
            assert_eq!(Entry::parse(entry).unwrap().id, count.to_string());
            (rest, count) = (tail, count + 1);
        }
        assert_eq!(count, 256);
        assert_eq!(Tile::of_tree(300).count(), 3);
    });
}

#[test]
fn a_receipt_holds_and_one_that_was_changed_says_where() {
    each_backend("receipts", |name, backend| {
        let store = open(backend);
        let item = evidence("run", r#"{"a":"é"}"#);
        let card = NewItem { kind: Kind::Scorecard, subject: None, ..evidence("card@1", "x = 1\n") };
        store.append(at(1), vec![item.clone(), record(&item), card]).unwrap();
        let mut reader = store.reader().unwrap();
        for position in 0..3 {
            let receipt = reader.receipt(position).unwrap();
            assert!(receipt.verify(store.verifying_key()).holds(), "{name} {position}");
            let json = receipt.to_json();
            assert_eq!(Receipt::parse(&json).unwrap(), receipt);
            let value: serde_json::Value = serde_json::from_slice(&json).unwrap();
            assert_eq!(serde_json::to_vec(&value).unwrap(), json, "canonical");
            let spaced = serde_json::to_vec_pretty(&value).unwrap();
            assert_eq!(Receipt::parse(&spaced).unwrap(), receipt, "white space does not matter");
        }
        let good = reader.receipt(1).unwrap();
        let wrong = |change: &dyn Fn(&mut Receipt)| {
            let mut changed = good.clone();
            change(&mut changed);
            let verification = changed.verify(store.verifying_key());
            verification.problems().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let other = record(&evidence("other", "other"));
        assert_eq!(
            wrong(&|it| it.content = String::from_utf8(other.content.clone()).unwrap()),
            ["content", "evidence"]
        );
        assert_eq!(wrong(&|it| it.content.push(' ')), ["content"]);
        assert_eq!(wrong(&|it| it.entry.moment = at(2)), ["inclusion"]);
        assert_eq!(wrong(&|it| it.entry.sources.clear()), ["inclusion", "evidence"]);
        assert_eq!(wrong(&|it| it.index = 0), ["inclusion"]);
        assert_eq!(wrong(&|it| it.index = u64::MAX), ["inclusion"]);
        assert_eq!(wrong(&|it| it.path.clear()), ["inclusion"]);
        assert_eq!(
            wrong(&|it| it.checkpoint = it.checkpoint.replacen('3', "4", 1)),
            ["signature", "inclusion"]
        );
        let stranger = Signer::new("karat.example/test", &[43; 32]).unwrap();
        assert!(good.verify(stranger.verifying_key()).checkpoint.is_err());
    });
}

#[test]
fn what_is_no_receipt_is_refused() {
    let folder = Folder::new("no-receipt");
    let (_, backend) = backends(&folder).remove(0);
    let store = open(&backend);
    store.append(at(1), vec![evidence("run", "x")]).unwrap();
    let json = String::from_utf8(store.reader().unwrap().receipt(0).unwrap().to_json()).unwrap();
    for (from, to) in [
        ("receipt/1", "receipt/2"),
        ("\"index\":0", "\"index\":-1"),
        ("\"index\":0", "\"index\":0.5"),
        ("\"path\":[]", "\"path\":[\"AA\"]"),
        ("\"path\":[]", "\"path\":{}"),
        ("\"content\"", "\"contents\""),
        ("sha256:", "sha1:"),
        ("{", "["),
    ] {
        assert!(json.contains(from), "{from}");
        assert!(Receipt::parse(json.replacen(from, to, 1).as_bytes()).is_err(), "{to}");
    }
    for end in 0..json.len() {
        assert!(Receipt::parse(&json.as_bytes()[..end]).is_err());
    }
}

#[test]
fn many_threads_write_and_each_item_is_there_once() {
    each_backend("many", |name, backend| {
        let store = open(backend);
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let store = &store;
                scope.spawn(move || {
                    for round in 0..25 {
                        // Two threads each send the same.
                        let id = format!("{}-{round}", thread / 2);
                        store.append(at(round), vec![evidence(&id, &id)]).unwrap();
                    }
                });
            }
        });
        let mut reader = store.reader().unwrap();
        let mut ids: Vec<_> = reader.items(0..999).unwrap().into_iter().map(|item| item.entry.id).collect();
        assert_eq!(ids.len(), 8 * 25, "{name}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 8 * 25);
    });
}

#[test]
fn a_full_queue_turns_away_and_a_stop_answers_what_waits() {
    each_backend("queue", |name, backend| {
        let limits = Limits { queue_jobs: 2, commit_items: 1, ..Limits::default() };
        let (held, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
        let (there, go) = (Arc::clone(&held), Arc::clone(&release));
        let (sender, receiver) = mpsc::channel();
        let follow = move |answers: Vec<(&'static str, Vec<_>)>| {
            for (ticket, outcomes) in answers {
                if ticket == "held" {
                    there.wait();
                    go.wait();
                }
                sender.send((ticket, outcomes.len())).unwrap();
            }
        };
        let store = Store::open_with(Arc::clone(backend), signer(), limits, follow).unwrap();
        let submit = |id| store.submit(at(0), vec![vec![evidence(id, id)]], id);
        submit("held").unwrap();
        held.wait(); // the writing thread is busy with this answer
        submit("a").unwrap();
        submit("b").unwrap();
        let refused = submit("c");
        assert_eq!(refused, Err(Error::Busy), "{name}");
        release.wait();
        store.stop().unwrap();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [("held", 1), ("a", 1), ("b", 1)]);
        let mut reader = open(backend).reader().unwrap();
        assert_eq!(reader.head().unwrap().size, 3);
        assert!(reader.find(Kind::Evidence, "c", 3).unwrap().is_none());
    });
}

#[test]
fn another_key_is_refused() {
    each_backend("key", |name, backend| {
        open(backend).stop().unwrap();
        for (origin, secret) in [("karat.example/test", [43; 32]), ("karat.example/other", [42; 32])] {
            let signer = Signer::new(origin, &secret).unwrap();
            let refused = Store::open(Arc::clone(backend), signer, Limits::default());
            assert!(matches!(refused, Err(Error::Key(_))), "{name}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_backend_says_the_same(
        batches in proptest::collection::vec(
            proptest::collection::vec((0u8..12, 0u8..3, proptest::option::of(0u8..12), -5i64..5), 0..6),
            0..12,
        )
    ) {
        let folder = Folder::new("same");
        let mut seen = Vec::new();
        for (_, backend) in backends(&folder) {
            let store = open(&backend);
            let mut outcomes = Vec::new();
            for batch in &batches {
                let moment = batch.first().map_or(0, |(_, _, _, moment)| *moment);
                let items = batch.iter().map(|(id, content, replaces, _)| NewItem {
                    replaces: replaces.map(|old| old.to_string()),
                    ..evidence(&id.to_string(), &content.to_string())
                });
                outcomes.push(store.append(at(moment), items.collect()));
            }
            let mut reader = store.reader().unwrap();
            let checked = audit(&mut reader, store.verifying_key(), &[]).unwrap();
            prop_assert!(checked.holds(), "{}", checked);
            let sizes: Vec<_> = (-6..6).map(|moment| reader.size_at(at(moment)).unwrap()).collect();
            seen.push((outcomes, reader.head().unwrap(), checked.root, sizes));
        }
        prop_assert_eq!(&seen[0], &seen[1]);
    }
}
