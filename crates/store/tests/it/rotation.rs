//! Changes of the key of a log: at each point of interruption one key opens it, what was signed before stays valid, and
//! who follows the log from outside notices everything else.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::cell::RefCell;
use std::sync::Arc;

use crate::common::{Folder, at, backends, evidence, open, record, signer};
use karat_store::follow::{Departure, FollowError, Followed, Shown, follow, is_earlier};
use karat_store::log::{Checkpoint, Hash, Keys, NoteError, ProofError, Rotation, Signer, VerifyingKey};
use karat_store::port::Backend;
use karat_store::{Error, Kind, Limits, NewItem, Reader, Receipt, Store, audit, rotate};

fn next(secret: u8) -> Signer {
    Signer::new("karat.example/test", &[secret; 32]).unwrap()
}

fn key(signer: &Signer) -> &VerifyingKey {
    signer.verifying_key()
}

fn change(backend: &Arc<dyn Backend>, old: Signer, new: Signer) -> Result<u64, Error> {
    rotate(&**backend, (old, new), (at(7), "server"), || Ok(()), || Ok(()))
}

fn write(backend: &Arc<dyn Backend>, signer: Signer, ids: &[&str]) {
    let store = Store::open(Arc::clone(backend), signer, Limits::default()).unwrap();
    for id in ids {
        let item = evidence(id, &format!("{{\"id\":\"{id}\"}}"));
        store.append(at(5), vec![item.clone(), record(&item)]).unwrap();
    }
    store.stop().unwrap();
}

/// A log of three keys: five entries of the first, five more with the change of it, and so on.
fn three_keys(backend: &Arc<dyn Backend>) -> Vec<String> {
    let heads = RefCell::new(Vec::new());
    let mark = || heads.borrow_mut().push(reader(backend).head().unwrap().checkpoint);
    write(backend, signer(), &["a", "b"]);
    mark();
    assert_eq!(change(backend, signer(), next(2)), Ok(4));
    mark();
    write(backend, next(2), &["c", "d"]);
    mark();
    assert_eq!(change(backend, next(2), next(3)), Ok(9));
    mark();
    write(backend, next(3), &["e"]);
    mark();
    heads.into_inner()
}

fn reader(backend: &Arc<dyn Backend>) -> Reader {
    Reader::new(backend.reader().unwrap())
}

fn rotations(reader: &mut Reader) -> Vec<Receipt> {
    let size = reader.head().unwrap().size;
    let found = reader.rotations(size).unwrap();
    found.iter().map(|(position, _)| reader.receipt(*position).unwrap()).collect()
}

fn each_backend(name: &str, test: impl Fn(&Arc<dyn Backend>)) {
    let folder = Folder::new(name);
    for (_, backend) in backends(&folder) {
        test(&backend);
    }
}

#[test]
fn at_each_point_of_interruption_exactly_one_key_opens_the_log() {
    each_backend("points", |backend| {
        write(backend, signer(), &["a"]);
        let opens = |expected: u8| {
            let first = Store::open(Arc::clone(backend), signer(), Limits::default()).map(drop);
            let second = Store::open(Arc::clone(backend), next(2), Limits::default()).map(drop);
            match expected {
                1 => {
                    assert_eq!(first, Ok(()));
                    assert!(matches!(second, Err(Error::Key(NoteError::NotSigned { .. }))), "{second:?}");
                }
                _ => {
                    assert!(matches!(first, Err(Error::KeyReplaced(_) | Error::Key(_))), "{first:?}");
                    assert_eq!(second, Ok(()));
                }
            }
        };
        let stop = || Err(Error::Failed(String::from("stopped")));
        let interrupted = |prepare: Result<(), Error>, finish: Result<(), Error>| {
            rotate(&**backend, (signer(), next(2)), (at(6), "server"), || prepare, || finish)
        };
        opens(1);
        // Before anything is written.
        assert!(interrupted(stop(), Ok(())).is_err());
        opens(1);
        assert_eq!(reader(backend).head().unwrap().size, 2);
        // After the commit, before the secret is in its place.
        assert!(interrupted(Ok(()), stop()).is_err());
        opens(2);
        assert_eq!(reader(backend).head().unwrap().size, 3);
        // The old key changes nothing more, not even by another change.
        assert!(matches!(change(backend, signer(), next(9)), Err(Error::KeyReplaced(_))));
        write(backend, next(2), &["b"]);
        opens(2);
        assert!(matches!(change(backend, signer(), next(9)), Err(Error::Key(_))));
    });
}

#[test]
fn while_a_server_writes_the_key_stays() {
    each_backend("busy", |backend| {
        let store = open(backend);
        let prepared = RefCell::new(false);
        let refused = rotate(
            &**backend,
            (signer(), next(2)),
            (at(6), "server"),
            || {
                prepared.replace(true);
                Ok(())
            },
            || Ok(()),
        );
        assert!(matches!(refused, Err(Error::Locked(_))), "{refused:?}");
        assert!(!prepared.into_inner(), "no secret is written for nothing");
        store.append(at(7), vec![evidence("run", "{}")]).unwrap();
    });
}

#[test]
fn the_whole_log_is_sound_whichever_of_its_keys_is_trusted() {
    each_backend("sound", |backend| {
        let heads = three_keys(backend);
        for secret in [signer(), next(2), next(3)] {
            let found = audit(&mut reader(backend), key(&secret), &heads).unwrap();
            assert!(found.holds(), "{found}");
            let positions: Vec<u64> = found.rotations.iter().map(|(position, _)| *position).collect();
            assert_eq!(positions, [4, 9]);
        }
        let stranger = audit(&mut reader(backend), key(&next(4)), &[]).unwrap();
        assert!(!stranger.holds());
        // A thief of the first key signs a head after the change, and one with another past.
        let size = reader(backend).head().unwrap().size;
        for (thief, size) in [(signer(), size), (next(2), size), (next(3), 4), (signer(), 4)] {
            let root = if size == 4 { Hash([1; 32]) } else { reader(backend).root(size).unwrap() };
            let stolen = Checkpoint { size, root }.sign(&thief).unwrap();
            let found = audit(&mut reader(backend), key(&signer()), &[stolen]).unwrap();
            assert_eq!(found.problems.len(), 1, "{found}");
        }
    });
}

#[test]
fn a_change_that_does_not_follow_is_a_problem_of_the_log() {
    each_backend("unsound", |backend| {
        let item = |content: Vec<u8>, id: &str| NewItem {
            kind: Kind::Key,
            id: id.to_owned(),
            content,
            subject: None,
            ..evidence("", "")
        };
        let store = open(backend);
        let other = |id: &str, old: &Signer, new: &Signer| item(Rotation::state(old, new).unwrap(), id);
        let changed = String::from_utf8(Rotation::state(&signer(), &next(2)).unwrap()).unwrap();
        let changed = changed.replace("signature_by_new\":\"", "signature_by_new\":\"AA");
        store.append(at(6), vec![item(changed.into_bytes(), "log-key/9")]).unwrap();
        store.append(at(6), vec![other("log-key/7", &next(5), &next(6))]).unwrap();
        store.append(at(6), vec![evidence("run", "{}")]).unwrap();
        store.stop().unwrap();
        let found = audit(&mut reader(backend), key(&signer()), &[]).unwrap().to_string();
        assert!(found.contains("entry 0: the change of the key is not signed by its key"), "{found}");
        assert!(found.contains("entry 1: the change of the key has the id `log-key/7`"), "{found}");
    });
}

#[test]
fn receipts_from_before_and_after_a_change_verify_with_any_key_and_the_receipts_of_the_changes() {
    each_backend("receipts", |backend| {
        write(backend, signer(), &["a"]);
        let before = reader(backend).receipt(1).unwrap();
        change(backend, signer(), next(2)).unwrap();
        let first = reader(backend).receipt(2).unwrap();
        write(backend, next(2), &["b"]);
        let between = reader(backend).receipt(1).unwrap();
        change(backend, next(2), next(3)).unwrap();
        write(backend, next(3), &["c"]);
        let after = reader(backend).receipt(1).unwrap();
        let changes = rotations(&mut reader(backend));
        // With the key of its time as ever.
        for (receipt, signer) in [(&before, signer()), (&between, next(2)), (&after, next(3))] {
            assert!(receipt.verify(key(&signer)).holds());
        }
        for trusted in [signer(), next(2), next(3)] {
            let keys = Receipt::keys(key(&trusted), &changes).unwrap();
            for receipt in [&before, &between, &after] {
                assert!(receipt.verify_with(&keys).holds());
            }
        }
        // The receipt that was taken right after the change, and only what is needed of the chain.
        let half = Receipt::keys(key(&signer()), std::slice::from_ref(&first)).unwrap();
        assert!(between.verify_with(&half).holds() && !after.verify_with(&half).holds());
        let half = Receipt::keys(key(&next(3)), &changes[1..]).unwrap();
        assert!(between.verify_with(&half).holds() && !before.verify_with(&half).holds());
        // Without the receipt of the change, a receipt by the other key fails.
        assert!(!before.verify(key(&next(2))).holds() && !after.verify(key(&signer())).holds());
        // A gap, a receipt of something else, and a stranger.
        let gap = Receipt::keys(key(&next(2)), std::slice::from_ref(&before)).unwrap_err();
        assert!(gap.contains("it is the receipt of another item, the record"), "{gap}");
        let stranger = Receipt::keys(key(&next(4)), &changes).unwrap_err();
        assert!(stranger.contains("do not lead to or from the trusted key"), "{stranger}");
    });
}

#[test]
fn the_receipt_of_a_change_is_of_a_head_that_the_new_key_signed() {
    each_backend("stolen", |backend| {
        write(backend, signer(), &["a"]);
        change(backend, signer(), next(2)).unwrap();
        let genuine = reader(backend).receipt(2).unwrap();
        // A thief of the old key moves the change to where it has more heads to sign.
        let folder = Folder::new("thief");
        let fake: Arc<dyn Backend> = backends(&folder).remove(0).1;
        write(&fake, signer(), &["x", "y", "z"]);
        let entry = NewItem {
            kind: Kind::Key,
            id: genuine.entry.id.clone(),
            subject: None,
            content: genuine.content.clone().into_bytes(),
            ..evidence("", "")
        };
        let store = open(&fake);
        let position = store.append(at(7), vec![entry]).unwrap()[0].position;
        store.stop().unwrap();
        let moved = reader(&fake).receipt(position).unwrap();
        assert!(moved.rotation().is_ok(), "by itself it holds");
        let refused = Receipt::keys(key(&next(2)), &[moved]).unwrap_err();
        assert!(refused.contains("no signature is by the trusted key"), "{refused}");
        assert!(Receipt::keys(key(&next(2)), &[genuine]).is_ok());
    });
}

fn followed(
    backend: &Arc<dyn Backend>,
    trusted: &Signer,
    kept: Option<&str>,
) -> Result<Followed, FollowError<Error>> {
    let mut reader = reader(backend);
    let head = reader.head().unwrap().checkpoint;
    let rotations = rotations(&mut reader);
    let mut tiles = backend.reader().unwrap();
    follow(key(trusted), kept, Shown { head: &head, rotations: &rotations }, |tile| tiles.tile(tile))
}

#[test]
fn a_log_is_followed_through_changes_of_its_key() {
    each_backend("followed", |backend| {
        let heads = three_keys(backend);
        for trusted in [signer(), next(2), next(3)] {
            for kept in heads.iter().map(|head| Some(head.as_str())).chain([None]) {
                let found = followed(backend, &trusted, kept).unwrap();
                assert_eq!((found.checkpoint.size, &found.key), (12, key(&next(3))));
                let mut tiles = backend.reader().unwrap();
                for head in &heads {
                    assert!(is_earlier(&found, head, |tile| tiles.tile(tile)).is_ok());
                }
            }
        }
        assert!(matches!(
            followed(backend, &next(4), None),
            Err(FollowError::Departed(Departure::Rotation(_)))
        ));
    });
}

#[test]
fn a_log_that_went_back_or_has_another_past_is_not_followed() {
    each_backend("departed", |backend| {
        write(backend, signer(), &["a", "b"]);
        let folder = Folder::new("other");
        let other: Arc<dyn Backend> = backends(&folder).remove(0).1;
        write(&other, signer(), &["a", "x", "c"]);
        let head = |backend| reader(backend).head().unwrap().checkpoint;
        let departed = |found| match found {
            Err(FollowError::Departed(departure)) => departure,
            other => panic!("{other:?}"),
        };
        let back = departed(followed(backend, &signer(), Some(&head(&other))));
        assert_eq!(back, Departure::WentBack { kept: 6, shown: 4 });
        let fork = departed(followed(&other, &signer(), Some(&head(backend))));
        let Departure::Forked { kept: 4, shown: 6, .. } = fork else { panic!("{fork:?}") };
        // Of the same size, and by another key.
        write(backend, signer(), &["c"]);
        let same = departed(followed(&other, &signer(), Some(&head(backend))));
        assert!(matches!(same, Departure::Forked { kept: 6, shown: 6, .. }), "{same:?}");
        assert!(matches!(departed(followed(&other, &next(2), None)), Departure::Shown(_)));
        let stranger = Checkpoint { size: 1, root: Hash([1; 32]) }.sign(&next(2)).unwrap();
        assert!(matches!(
            departed(followed(&other, &signer(), Some(&stranger))),
            Departure::Kept(NoteError::NotSigned { .. })
        ));
    });
}

#[test]
fn who_followed_a_change_is_not_led_back_by_the_old_key() {
    each_backend("back", |backend| {
        write(backend, signer(), &["a"]);
        let old = reader(backend).head().unwrap().checkpoint;
        change(backend, signer(), next(2)).unwrap();
        let kept = reader(backend).head().unwrap().checkpoint;
        // The old key goes on from the head before the change, without it.
        let folder = Folder::new("fork");
        let fork: Arc<dyn Backend> = backends(&folder).remove(0).1;
        write(&fork, signer(), &["a", "b", "c"]);
        assert!(followed(&fork, &signer(), Some(&old)).is_ok(), "nothing tells this one apart");
        for trusted in [signer(), next(2)] {
            assert!(matches!(followed(&fork, &trusted, Some(&kept)), Err(FollowError::Departed(_))));
        }
        // Tiles that lie, and tiles that are cut.
        let mut reader = reader(&fork);
        let (head, old) = (reader.head().unwrap().checkpoint, &old);
        let shown = Shown { head: &head, rotations: &[] };
        let lie = follow(key(&signer()), Some(old), shown, |_| Ok::<_, ProofError>(vec![7; 256 * 32]));
        assert!(matches!(lie, Err(FollowError::Departed(Departure::Forked { .. }))), "{lie:?}");
        let cut = follow(key(&signer()), Some(old), shown, |_| Ok::<_, ProofError>(vec![7; 31]));
        assert!(matches!(cut, Err(FollowError::Unread(_))), "{cut:?}");
        let keys = Keys::from(key(&signer()).clone());
        assert!(keys.open(&head).is_ok());
    });
}
