//! `karat log witness`, `monitor` and `rotate`: followers of a log that grows, changes its key, goes back or splits.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::Path;

use karat_server::folder::{COSIGNED, SECRET};
use karat_store::log::{Checkpoint, WitnessKey};
use karat_store::secret::Secret;
use serde_json::Value;

use crate::common::{Folder, Run};
use crate::serve::{Server, ask};

const WITNESS: [&str; 6] = ["--key", "w.key", "--state", "w.json", "--log-key", "scores/log.pub"];

fn item(number: u32) -> String {
    format!(r#"{{"match_id": "m-{number}", "agent_id": "bee", "scores": {{"correctness": {number}}}}}"#)
}

fn send(server: &Server, number: u32) {
    send_with(server, server.started["admin_key"].as_str().unwrap(), number);
}

fn send_with(server: &Server, key: &str, number: u32) {
    let (status, body) =
        ask(server.address(), key, "POST", "/v1/evidence?card=log-forensics", &item(number)).unwrap();
    assert_eq!(status, 201, "{body}");
}

fn address(server: &Server) -> String {
    format!("http://{}", server.address())
}

fn cosign(folder: &Folder, log: &str, more: &[&str]) -> Run {
    folder.karat(&[&["log", "witness", log], &WITNESS[..], more].concat())
}

fn watch(folder: &Folder, log: &str, more: &[&str]) -> Run {
    folder.karat(&[&["log", "monitor", log, "--once", "--state", "m.json"], more].concat())
}

/// Returns the public key of the witness in `w.key`.
fn key(folder: &Folder) -> WitnessKey {
    let secret = Secret::read(&folder.path().join("w.key")).unwrap().unwrap();
    secret.witness().unwrap().verifying_key().clone()
}

fn size(note: &str) -> u64 {
    Checkpoint::claimed(note).unwrap().1.size
}

fn parsed(run: &Run) -> Value {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Copies the folder of a stopped server.
fn copy(folder: &Folder, from: &str, to: &str) {
    let (from, to) = (folder.path().join(from), folder.path().join(to));
    fs::create_dir(&to).unwrap();
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

#[test]
fn a_witness_cosigns_what_follows_and_a_receipt_shows_it() {
    let folder = Folder::new();
    // The witness makes its key, at a database, before any server knows of it.
    let server = Server::new(folder.path(), &["scores"]);
    let admin = server.started["admin_key"].as_str().unwrap().to_owned();
    send(&server, 0);
    server.end("INT");
    let made = cosign(&folder, "scores", &["--name", "witness.example/1"]);
    assert_eq!(made.status, 0, "{}", made.stderr);
    let key = key(&folder);
    assert!(
        made.stderr.contains(&key.to_string()) && made.stderr.contains("made the secret key"),
        "{}",
        made.stderr
    );
    assert!(key.open(&made.stdout).is_ok(), "{}", made.stdout);
    let server = Server::new(folder.path(), &["scores", "--witness", &key.to_string()]);
    let log = address(&server);
    send_with(&server, &admin, 1);
    let sent = cosign(&folder, &log, &["--send"]);
    assert_eq!(sent.status, 0, "{}", sent.stderr);
    assert!(sent.stderr.contains("sent to") && size(&sent.stdout) > size(&made.stdout), "{}", sent.stderr);
    assert_eq!(server.ask("GET", "/v1/log/cosigned", "").1, sent.stdout);
    // The same head again is cosigned again, at its time.
    assert_eq!(size(&cosign(&folder, &log, &["--send"]).stdout), size(&sent.stdout));
    let id = "bee/m-1/log-forensics@1.0.0";
    let receipt = ["log", "receipt", "scores", id, "--out", "r.json"];
    assert_eq!(folder.karat(&[&receipt[..], &["--witnesses", "1"]].concat()).status, 0);
    let verify = ["verify", "r.json", "--key", "scores/log.pub"];
    let verified = folder.karat(&[&verify[..], &["--witness", &key.to_string(), "--table"]].concat());
    assert!(verified.status == 0 && verified.stdout.contains("✓  witness"), "{}", verified.stdout);
    assert!(verified.stdout.contains("`witness.example/1` cosigned that head at 20"), "{}", verified.stdout);
    assert_eq!(folder.karat(&verify).status, 0, "a cosignature disturbs no one");
    // Another witness did not cosign it, and a receipt without cosignatures has none.
    let other = karat_store::log::Witness::new("witness.example/2", &[2; 32]).unwrap();
    let other = other.verifying_key().to_string();
    let failed = folder.karat(&[&verify[..], &["--witness", &other]].concat());
    assert!(failed.status == 14 && failed.stdout.contains("witness.example/2"), "{}", failed.stdout);
    assert_eq!(folder.karat(&receipt).status, 0);
    assert_eq!(folder.karat(&verify).status, 0);
    assert_eq!(folder.karat(&[&verify[..], &["--witness", &key.to_string()]].concat()).status, 14);
    // Two witnesses did not cosign anything, and the next record is not in a cosigned head.
    let two = folder.karat(&[&receipt[..], &["--witnesses", "2"]].concat());
    two.ends(1, "cosigned by 2 witnesses");
    send_with(&server, &admin, 2);
    let late = ["log", "receipt", "scores", "bee/m-2/log-forensics@1.0.0", "--witnesses", "1"];
    let late = folder.karat(&late);
    late.ends(1, "try again once the witnesses");
    let log_key = fs::read_to_string(folder.path().join("scores/log.pub")).unwrap();
    let swapped = folder.karat(&["verify", "r.json", "--key", &key.to_string(), "--witness", log_key.trim()]);
    swapped.ends(1, "expected one of a log");
}

#[test]
fn a_log_that_went_back_or_split_is_cosigned_by_no_one_and_noticed() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    send(&server, 1);
    server.end("INT");
    copy(&folder, "scores", "early");
    let server = Server::new(folder.path(), &["scores"]);
    assert_eq!(server.started["admin_key"], Value::Null);
    server.end("INT");
    // From here on without a server: the databases are looked at.
    let grow = |at: &str, ids: &[&str]| {
        use karat_store::port::Backend;
        let folder = folder.path().join(at);
        let (sqlite, signer) = karat_server::folder::open(&folder, None).unwrap();
        let backend: std::sync::Arc<dyn Backend> = std::sync::Arc::new(sqlite);
        let store = karat_store::Store::open(backend, signer, karat_store::Limits::default()).unwrap();
        for id in ids {
            let [evidence, _] = crate::store::scored(&crate::common::example("workflow/worked-example.json"));
            store
                .append(
                    crate::store::moment(1),
                    vec![karat_store::NewItem { id: (*id).to_owned(), ..evidence }],
                )
                .unwrap();
        }
        store.stop().unwrap();
    };
    grow("scores", &["one"]);
    let seen = cosign(&folder, "scores", &[]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    let first = parsed(&watch(&folder, "scores", &["--key", "scores/log.pub"]));
    assert_eq!((first["size"].as_u64(), &first["grown"]), (Some(size(&seen.stdout)), &Value::Null));
    assert_eq!(first["is_key_from_log"], false);
    let state = |name: &str| fs::read(folder.path().join(name)).unwrap();
    let kept = (state("w.json"), state("m.json"));
    let refused = |log: &str, says: &str| {
        for run in [cosign(&folder, log, &[]), watch(&folder, log, &[])] {
            assert_eq!((run.status, run.stdout.as_str()), (14, ""), "{log}: {}", run.stderr);
            assert!(run.stderr.contains(says), "{log}: {}", run.stderr);
        }
        assert_eq!((state("w.json"), state("m.json")), kept, "what was seen is not forgotten");
    };
    refused("early", "the log went back");
    grow("early", &["another", "two"]);
    refused("early", "the log does not go on from its head of");
    // Both heads are kept, signed, for anyone to check.
    let heads: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("head-"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(heads.len(), 3, "{heads:?}");
    let log_key = karat_server::folder::open(&folder.path().join("scores"), None).unwrap().1;
    assert!(heads.iter().all(|head| Checkpoint::open(head, log_key.verifying_key()).is_ok()));
    // A log by another key.
    let stranger = Server::new(folder.path(), &["other"]);
    stranger.end("INT");
    refused("other", "no signature is by the trusted key");
    // And on with the true one.
    grow("scores", &["three"]);
    assert_eq!(cosign(&folder, "scores", &[]).status, 0);
    let grown = parsed(&watch(&folder, "scores", &[]));
    assert_eq!(
        (grown["grown"].as_u64(), grown["size"].as_u64()),
        (Some(1), first["size"].as_u64().map(|it| it + 1))
    );
}

#[test]
fn followers_go_through_a_change_of_the_key_and_say_so() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    send(&server, 1);
    let log = address(&server);
    let first_key = server.started["admin_key"].as_str().unwrap().to_owned();
    assert_eq!(cosign(&folder, &log, &["--name", "w"]).status, 0);
    let first = parsed(&watch(&folder, &log, &[]));
    assert_eq!(first["is_key_from_log"], true);
    let id = "bee/m-1/log-forensics@1.0.0";
    assert_eq!(folder.karat(&["log", "receipt", "scores", id, "--out", "before.json"]).status, 0);
    let old = fs::read_to_string(folder.path().join("scores/log.pub")).unwrap();
    fs::copy(folder.path().join("scores/log.pub"), folder.path().join("old.pub")).unwrap();
    let (_, head) = server.ask("GET", "/checkpoint", "");
    folder.write("head.txt", &head);
    let busy = folder.karat(&["log", "rotate", "scores"]);
    busy.ends(1, "another process has");
    server.end("INT");
    let rotated = parsed(&folder.karat(&["log", "rotate", "scores"]));
    assert_eq!(
        (&rotated["schema"], rotated["old"].as_str()),
        (&Value::from("karat/log-rotation/1"), Some(old.trim()))
    );
    let position = rotated["position"].to_string();
    let run = folder.karat(&["log", "receipt", "scores", &position, "--kind", "key", "--out", "change.json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let witness = key(&folder).to_string();
    let server = Server::new(folder.path(), &["scores", "--witness", &witness]);
    let log = address(&server);
    assert_eq!(server.started["log_key"], rotated["new"]);
    send_with(&server, &first_key, 2);
    let cosigned = cosign(&folder, &log, &["--send"]);
    cosigned.ends(0, "the log has changed its key");
    let again = cosign(&folder, &log, &["--send"]);
    assert!(again.status == 0 && !again.stderr.contains("changed"), "{}", again.stderr);
    let looked = parsed(&watch(&folder, &log, &["--witness", &witness]));
    assert_eq!((&looked["has_new_key"], &looked["key"]), (&Value::from(true), &rotated["new"]));
    assert_eq!(looked["witnesses"][0]["name"], "w");
    assert_eq!(parsed(&watch(&folder, &log, &[]))["has_new_key"], false);
    let screen = watch(&folder, &log, &["--table", "--witness", &witness]);
    assert!(screen.stdout.contains("entries +0") && screen.stdout.contains("cosigned"), "{}", screen.stdout);
    // Receipts of before verify as ever; with the change, with either key.
    assert_eq!(folder.karat(&["log", "receipt", "scores", id, "--out", "after.json"]).status, 0);
    let verify = |receipt: &str, more: &[&str]| folder.karat(&[&["verify", receipt], more].concat()).status;
    let new = rotated["new"].as_str().unwrap();
    assert_eq!((verify("before.json", &["--key", "old.pub"]), verify("after.json", &["--key", new])), (0, 0));
    assert_eq!(
        (verify("before.json", &["--key", new]), verify("after.json", &["--key", "old.pub"])),
        (14, 14)
    );
    for trusted in ["old.pub", new] {
        for receipt in ["before.json", "after.json", "change.json"] {
            assert_eq!(
                verify(receipt, &["--key", trusted, "--rotation", "change.json"]),
                0,
                "{trusted} {receipt}"
            );
        }
        assert_eq!(verify("before.json", &["--key", trusted, "--rotation", "before.json"]), 14);
        assert_eq!(verify("before.json", &["--key", trusted, "--rotation", "nothing.json"]), 1);
        let log = folder.karat(&["log", "verify", "scores", "--key", trusted, "--head", "head.txt"]);
        let log = parsed(&log);
        assert_eq!((&log["status"], &log["new_key"]), (&Value::from("verified"), &rotated["new"]));
    }
    assert_eq!(verify("before.json", &["--rotation", "change.json"]), 2, "it goes with a key");
    let told = folder.karat(&["log", "verify", "scores", "--key", "old.pub", "--table"]).stdout;
    assert!(told.contains("the key that followed that key, 1 change"), "{told}");
    let shown =
        folder.karat(&["verify", "before.json", "--key", new, "--rotation", "change.json", "--table"]).stdout;
    assert!(shown.contains("✓  rotation"), "{shown}");
}

#[test]
fn a_monitor_goes_on_until_a_head_does_not_follow() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    let log = address(&server);
    let mut command = crate::common::program(folder.path());
    command.args(["log", "monitor", &log, "--every", "1", "--state", "m.json"]);
    let mut monitor = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(monitor.stdout.take().unwrap()).lines().map(|line| {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        (line["size"].as_u64().unwrap(), line["grown"].as_u64())
    });
    let (start, none) = lines.next().unwrap();
    assert_eq!(none, None);
    send(&server, 1);
    let grown = lines.find(|(size, _)| *size > start).unwrap();
    assert_eq!(grown, (start + 2, Some(2)));
    let other = folder.karat(&["log", "monitor", &log, "--once", "--state", "m.json"]);
    other.ends(1, "another process works with");
    // It goes on while the server is away, and ends with 14 when another log is at the address.
    let address = server.address().to_owned();
    server.end("INT");
    let mut stranger = crate::common::program(folder.path());
    stranger.args(["serve", "other", "--listen", &address, "--log", "quiet"]).stdout(Stdio::null());
    let mut stranger = stranger.spawn().unwrap();
    let ended = monitor.wait().unwrap();
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    assert_eq!(ended.code(), Some(14));
}

#[test]
fn what_followers_cannot_do_is_told() {
    let folder = Folder::new();
    Server::new(folder.path(), &["scores"]).end("INT");
    folder.write("bad.json", "{}");
    folder.write("bad.key", "name\nx\n");
    let database = folder.path().join("scores/karat.db");
    assert!(Path::new(&database).exists());
    for (arguments, says) in [
        (vec!["witness", "scores", "--key", "w.key", "--state", "w.json"], "needs the public key of the log"),
        (
            vec!["witness", "scores", "--key", "w.key", "--state", "bad.json", "--log-key", "scores/log.pub"],
            "is not what this command keeps",
        ),
        (
            vec!["witness", "scores", "--key", "bad.key", "--state", "w.json", "--log-key", "scores/log.pub"],
            "is not a secret key",
        ),
        (
            vec![
                "witness", "scores", "--key", "w.key", "--state", "w.json", "--log-key", "scores/log.pub",
                "--send",
            ],
            "--send needs the address",
        ),
        (
            vec![
                "witness", "scores", "--key", "w.key", "--state", "w.json", "--log-key", "scores/log.pub",
                "--name", "a b",
            ],
            "cannot name a key",
        ),
        (
            vec![
                "witness", "ftp://127.0.0.1:1", "--key", "w.key", "--state", "w.json", "--log-key",
                "scores/log.pub",
            ],
            "is neither `https://` nor `http://`",
        ),
        (
            vec![
                "witness", "http://127.0.0.1:1", "--key", "w.key", "--state", "w.json", "--log-key",
                "scores/log.pub",
            ],
            "cannot reach",
        ),
        (vec!["monitor", "http://127.0.0.1:1"], "cannot reach"),
        (vec!["monitor", "scores", "--once", "--api-key", "bad.json"], "--api-key goes with"),
        (vec!["monitor", "scores", "--once", "--state", "bad.json"], "is not what this command keeps"),
        (
            vec!["monitor", "scores", "--once", "--witness", "nonsense"],
            "neither the public key of a witness nor a file",
        ),
        (vec!["monitor", "nothing", "--once"], "there is no such file"),
        (vec!["rotate", "nothing"], "there is no such file"),
        (vec!["rotate", "."], "it is a folder without"),
    ] {
        let run = folder.karat(&[&["log"], arguments.as_slice()].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{arguments:?}: {}", run.stderr);
    }
    assert!(!folder.path().join("w.json").exists() && !folder.path().join("scores").join(COSIGNED).exists());
    let witness = folder.karat(&["serve", "scores", "--witness", "nonsense", "--listen", "127.0.0.1:0"]);
    witness.ends(1, "witness");
    // A copy without the secret key of the log cannot change it.
    copy(&folder, "scores", "public");
    fs::remove_file(folder.path().join("public").join(SECRET)).unwrap();
    let run = folder.karat(&["log", "rotate", "public"]);
    run.ends(1, "with `log.key` in it");
}
