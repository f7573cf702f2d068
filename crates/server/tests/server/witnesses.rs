//! Cosignatures of witnesses, and changes of the key of the log.

use std::fs;
use std::path::Path;

use karat_core::timestamp::Timestamp;
use karat_server::folder::{self, COSIGNED, NEXT, PUBLIC, SECRET, STORE};
use karat_server::secret::draw;
use karat_server::{Options, Server};
use karat_store::log::{Checkpoint, Hash, Keys, Signer, VerifyingKey, Witness};
use karat_store::port::Backend as _;
use karat_store::secret::Secret;
use karat_store::sqlite::{Sqlite, verify};
use karat_store::{Error, Limits, Reader, Receipt, Store, rotate};
use serde_json::Value;

use crate::common::{Answer, Folder, Running};

const WORKED: &str = include_str!("../../../../examples/workflow/worked-example.json");
const PLAIN: &str = "text/plain; charset=utf-8";
/// 2027-01-01T00:00:00Z.
const NOW: Timestamp = Timestamp { milliseconds: 1_798_761_600_000 };

fn witness(number: u8) -> Witness {
    Witness::new(&format!("witness.example/{number}"), &[number; 32]).unwrap()
}

fn options(witnesses: &[u8]) -> Options {
    let witnesses = witnesses.iter().map(|number| witness(*number).verifying_key().clone()).collect();
    Options { witnesses, ..Options::default() }
}

fn post(server: &Running, note: &str) -> Answer {
    server.post("/v1/log/cosignatures", None, PLAIN, note)
}

/// Returns the page that verifies the record with that receipt.
fn page_of(receipt: &str) -> String {
    receipt.replace("/v1/receipts/", "/records/") + "/verify"
}

fn head(server: &Running) -> String {
    server.get("/checkpoint").is(200).body.clone()
}

fn log_key(server: &Running) -> VerifyingKey {
    server.get("/v1/log").at("/key").as_str().unwrap().parse().unwrap()
}

fn signer(folder: &Path) -> Signer {
    Secret::read(&folder.join(SECRET)).unwrap().unwrap().signer().unwrap()
}

#[test]
fn what_trusted_witnesses_cosign_is_kept_and_shown() {
    let server = Running::with(options(&[1, 2]));
    server.get("/v1/log/cosigned").is_problem(404, "not-found");
    assert_eq!(server.get("/v1/log").at("/cosignatures"), Value::from(Vec::<Value>::new()));
    let first = head(&server);
    let cosigned = witness(2).cosign(&witness(1).cosign(&first, 1_798_761_600).unwrap(), 1_798_761_601);
    // A witness that is not trusted is left out.
    let cosigned = witness(3).cosign(&cosigned.unwrap(), 1_798_761_602).unwrap();
    let taken = post(&server, &cosigned);
    assert_eq!(taken.is(200).at("/cosignatures/0/moment"), "2027-01-01T00:00:00Z");
    let sent = server.send("card=workflow@1.0.0", WORKED);
    let second = head(&server);
    let newer = witness(1).cosign(&second, 1_798_761_700).unwrap();
    post(&server, &newer).is(200);
    let shown = |server: &Running| {
        let log = server.get("/v1/log");
        let of = |at: usize, name: &str| log.at(&format!("/cosignatures/{at}/{name}"));
        assert_eq!(of(0, "witness"), witness(1).verifying_key().to_string());
        assert_eq!((of(0, "size"), of(0, "moment")), (log.at("/size"), Value::from("2027-01-01T00:01:40Z")));
        assert_eq!(of(1, "witness"), witness(2).verifying_key().to_string());
        assert!(of(1, "size").as_u64() < of(0, "size").as_u64() && of(2, "size").is_null());
        assert_eq!(server.get("/v1/log/cosigned").body, newer);
        let both = server.get("/v1/log/cosigned?witnesses=2").is(200).body.clone();
        assert!(cosigned.starts_with(&both) && cosigned != both, "{both}");
        server.get("/v1/log/cosigned?witnesses=3").is_problem(404, "not-found");
        server.get("/v1/log/cosigned?witnesses=0").is_problem(400, "bad-request");
        // The receipt of the record is of the newest head; the one that both cosigned does not cover it.
        let path = sent.at("/receipt").as_str().unwrap().to_owned();
        let receipt = server.get(&format!("{path}?witnesses=1"));
        let receipt = Receipt::parse(receipt.is(200).body.as_bytes()).unwrap();
        assert!(receipt.verify(&log_key(server)).holds());
        assert_eq!(witness(1).verifying_key().open(&receipt.checkpoint), Ok(1_798_761_700));
        let plain = Receipt::parse(server.get(&path).body.as_bytes()).unwrap();
        assert!(witness(1).verifying_key().open(&plain.checkpoint).is_err());
        let early = server.get(&format!("{path}?witnesses=2"));
        assert!(early.is_problem(404, "not-found").body.contains("try again"), "{}", early.body);
        server.get(&format!("{path}?witnesses=0")).is_problem(400, "bad-request");
        let page = server.get(&page_of(&path)).body;
        assert!(
            page.contains("`witness.example/1` cosigned") || page.contains("witness.example/1"),
            "{page}"
        );
    };
    shown(&server);
    // The same after a start, and what is no longer trusted is forgotten.
    let admin = server.admin.clone();
    let server = Running::in_folder(server.stop(), options(&[1, 2]), Some(admin.clone()));
    shown(&server);
    let server = Running::in_folder(server.stop(), options(&[2]), Some(admin));
    let log = server.get("/v1/log");
    assert_eq!(log.at("/cosignatures/0/witness"), witness(2).verifying_key().to_string());
    assert!(log.at("/cosignatures/1").is_null(), "{}", log.body);
}

#[test]
fn everything_else_is_refused_and_changes_nothing() {
    let server = Running::with(options(&[1]));
    server.send("card=workflow@1.0.0", WORKED).is(201);
    let now = head(&server);
    let good = witness(1).cosign(&now, 1_798_761_600).unwrap();
    let own = signer(server.folder.path());
    let stranger = Signer::new(own.verifying_key().name(), &[9; 32]).unwrap();
    let (_, Checkpoint { size, root }) = Checkpoint::claimed(&now).unwrap();
    let signed = |size, root, by: &Signer| {
        witness(1).cosign(&Checkpoint { size, root }.sign(by).unwrap(), 1_798_761_600).unwrap()
    };
    let line = good.strip_prefix(now.as_str()).unwrap();
    for (note, status, code, says) in [
        (String::new(), 400, "bad-request", "not a signed note"),
        (own.sign("no checkpoint\n").unwrap(), 400, "bad-request", "the size of a tree"),
        (now.clone(), 403, "forbidden", "expected a cosignature of witness.example/1"),
        (witness(2).cosign(&now, 1).unwrap(), 403, "forbidden", "no trusted witness cosigned the head"),
        (signed(size, root, &stranger), 403, "forbidden", "this log did not sign the head"),
        (
            good.replace(line, &line.replace("AAAA", "AAAB")),
            403,
            "forbidden",
            "in the name of `witness.example/1`",
        ),
        (signed(size, Hash([1; 32]), &own), 409, "conflict", "its key signed two histories"),
        (signed(size + 1, root, &own), 409, "conflict", "it went back"),
        (format!("{}{good}", "x".repeat(70_000)), 413, "too-large", ""),
    ] {
        let answer = post(&server, &note);
        assert!(answer.is_problem(status, code).body.contains(says), "{}: {says}", answer.body);
    }
    server
        .post("/v1/log/cosignatures", None, "application/json", &good)
        .is_problem(415, "unsupported-media-type");
    server.post("/v1/log/cosignatures", None, PLAIN, [0xff, 0xfe]).is_problem(400, "bad-request");
    assert_eq!(server.get("/v1/log").at("/cosignatures"), Value::from(Vec::<Value>::new()));
    assert!(!server.folder.path().join(COSIGNED).exists());
    post(&server, &good).is(200);
    // A server that trusts no witness says how one is named.
    let bare = Running::new();
    let note = witness(1).cosign(&head(&bare), 1).unwrap();
    assert!(post(&bare, &note).is_problem(403, "forbidden").body.contains("--witness"));
}

#[test]
fn a_log_that_went_back_behind_a_cosigned_head_does_not_start() {
    let server = Running::with(options(&[1]));
    let folder = server.stop();
    let back = Folder::new();
    folder::back_up(&folder.path().join(STORE), &back.path().join("copy"), true).unwrap();
    let server = Running::in_folder(folder, options(&[1]), Some(String::new()));
    let clock = server.get("/checkpoint").body.clone();
    post(&server, &witness(1).cosign(&clock, 1_798_761_600).unwrap()).is(200);
    let folder = server.stop();
    // The copy without the last entries: here, a store that begins again with the same key.
    let fresh = back.path().join("fresh");
    fs::create_dir(&fresh).unwrap();
    fs::copy(folder.path().join(SECRET), fresh.join(SECRET)).unwrap();
    fs::copy(folder.path().join(COSIGNED), fresh.join(COSIGNED)).unwrap();
    let bind = || Server::bind(&fresh, None, "127.0.0.1:0".parse().unwrap(), options(&[1]));
    let Err(refused) = bind() else { panic!("it began again") };
    assert!(
        refused.to_string().contains("it went back") && refused.to_string().contains("delete it"),
        "{refused}"
    );
    fs::write(fresh.join(COSIGNED), "{}").unwrap();
    assert!(bind().unwrap_err().to_string().contains("log.cosigned"));
    fs::remove_file(fresh.join(COSIGNED)).unwrap();
    drop(bind().unwrap());
    // A backup has the heads, and they are of its store.
    folder::back_up(&folder.path().join(STORE), &back.path().join("whole"), true).unwrap();
    assert!(back.path().join("whole").join(COSIGNED).exists());
    let whole = Server::bind(&back.path().join("whole"), None, "127.0.0.1:0".parse().unwrap(), options(&[1]));
    drop(whole.unwrap());
}

#[test]
fn a_server_goes_on_with_a_new_key() {
    let server = Running::with(options(&[1]));
    let sent = server.send("card=workflow@1.0.0", WORKED);
    let path = sent.at("/receipt").as_str().unwrap().to_owned();
    let (old, before) = (log_key(&server), server.get(&path).body);
    post(&server, &witness(1).cosign(&head(&server), 1_798_761_600).unwrap()).is(200);
    let cosigned = server.get("/v1/log/cosigned").body;
    assert_eq!(server.get("/v1/log/rotations").at("/rotations"), Value::from(Vec::<Value>::new()));
    let admin = server.admin.clone();
    let refused = folder::rotate(server.folder.path(), NOW);
    assert!(matches!(refused, Err(Error::Locked(_))), "{refused:?}");
    let folder = server.stop();
    let rotated = folder::rotate(folder.path(), NOW).unwrap();
    assert_eq!(rotated.old, old);
    assert!(!folder.path().join(NEXT).exists());
    let server = Running::in_folder(folder, options(&[1]), Some(admin));
    let new = log_key(&server);
    assert_eq!((&rotated.new, server.get("/v1/log").at("/rotations")), (&new, Value::from(1)));
    // Keys of callers still work, and the log goes on.
    server.send("card=workflow@1.0.0", &WORKED.replace("run-worked-example", "run-2")).is(201);
    let list = server.get("/v1/log/rotations");
    let change = Receipt::parse(list.is(200).at("/rotations/0").to_string().as_bytes()).unwrap();
    assert_eq!(change.entry.sender.as_deref(), Some("server"));
    let after = server.get(&path).body;
    for (trusted, expected) in [(&old, &old), (&new, &new)] {
        let keys = Receipt::keys(trusted, std::slice::from_ref(&change)).unwrap();
        for receipt in [&before, &after] {
            assert!(Receipt::parse(receipt.as_bytes()).unwrap().verify_with(&keys).holds());
        }
        assert_eq!(Receipt::parse(before.as_bytes()).unwrap().verify(trusted).holds(), expected == &old);
    }
    // What was cosigned before is one of its heads, and new ones are taken.
    assert_eq!(server.get("/v1/log/cosigned").body, cosigned);
    post(&server, &witness(1).cosign(&head(&server), 1_798_761_700).unwrap()).is(200);
    let page = server.get(&page_of(&path));
    assert!(page.is(200).body.contains("Genuine"), "{}", page.body);
    let database = server.folder.path().join(STORE);
    assert!(verify(&database, &old, &[cosigned]).unwrap().holds());
}

#[test]
fn a_change_that_was_interrupted_is_complete_or_did_not_happen() {
    let folder = Folder::new();
    let path = folder.path();
    drop(folder::open(path, Some("log")).unwrap());
    let key = || folder::open(path, None).unwrap().1.verifying_key().clone();
    let opens = || {
        let (sqlite, signer) = folder::open(path, None).unwrap();
        Store::open(std::sync::Arc::new(sqlite), signer, Limits::default()).map(drop)
    };
    opens().unwrap();
    let first = key();
    // The new secret was written, and nothing else.
    let lost = draw(Some("log")).unwrap();
    lost.write(&path.join(NEXT)).unwrap();
    assert_eq!((key(), opens()), (first.clone(), Ok(())));
    // A secret that was written in part is reported, and changes nothing.
    fs::write(path.join(NEXT), "log\n12").unwrap();
    assert!(folder::open(path, None).unwrap_err().to_string().contains(NEXT));
    lost.write(&path.join(NEXT)).unwrap();
    // The change was committed, and the process ended before the secret was in its place.
    let (sqlite, old) = folder::open(path, None).unwrap();
    let secret = draw(Some("log")).unwrap();
    let new = secret.signer().unwrap();
    let ended = rotate(
        &sqlite,
        (old.clone(), new.clone()),
        (NOW, "server"),
        || secret.write(&path.join(NEXT)),
        || Err(Error::Failed(String::from("ended"))),
    );
    assert_eq!(ended, Err(Error::Failed(String::from("ended"))));
    assert_eq!(signer(path).verifying_key(), &first);
    let refused = Store::open(std::sync::Arc::new(sqlite), old, Limits::default()).map(drop);
    assert_eq!(refused, Err(Error::KeyReplaced(new.verifying_key().to_string())));
    assert_eq!((&key(), opens()), (new.verifying_key(), Ok(())));
    assert!(!path.join(NEXT).exists());
    assert_eq!(signer(path).verifying_key(), new.verifying_key());
    // The secret was in its place, and the public key was not.
    fs::write(path.join(PUBLIC), format!("{first}\n")).unwrap();
    assert_eq!(&key(), new.verifying_key());
    assert_eq!(fs::read_to_string(path.join(PUBLIC)).unwrap(), format!("{}\n", new.verifying_key()));
    // And on, with all of it in the log.
    let second = folder::rotate(path, NOW).unwrap();
    assert_eq!((&second.old, second.position), (new.verifying_key(), 1));
    assert_eq!((key(), opens()), (second.new.clone(), Ok(())));
    let mut reader = Reader::new(Sqlite::open(&path.join(STORE)).unwrap().reader().unwrap());
    let changes = reader.rotations(2).unwrap();
    assert_eq!(Keys::follow(&first, &changes).unwrap().newest(), Some(&second.new));
    assert!(verify(&path.join(STORE), &first, &[]).unwrap().holds());
}

#[test]
fn only_the_folder_of_a_server_with_its_key_gets_a_new_key() {
    let folder = Folder::new();
    assert!(matches!(folder::rotate(folder.path(), NOW), Err(Error::Missing(_))));
    drop(folder::open(folder.path(), None).unwrap());
    fs::remove_file(folder.path().join(SECRET)).unwrap();
    assert!(folder::rotate(folder.path(), NOW).unwrap_err().to_string().contains("without the key"));
}
