//! `karat log`: a sound database, a changed one, and files that are not databases.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use insta::assert_snapshot;
use karat_server::backfill::Backfill;
use karat_server::keys::KeyRequest;
use serde_json::{Value, json};

use crate::common::{Folder, Run};
#[cfg(unix)]
use crate::serve::{Server, ask};
use crate::store::{SENDER, file, items, moment, receipt, season, season_file, sent, signer};

const RECORD: &str = "17/run-worked-example/workflow@1.0.0";

/// Returns a folder with the season, and the public key of its log in `log.key`.
fn folder() -> Folder {
    let folder = Folder::new();
    season_file(folder.path());
    folder.write("log.key", &format!("{}\n", signer().verifying_key()));
    folder
}

fn answer(run: &Run, status: i32) -> Value {
    assert_eq!((run.status, run.stderr.as_str()), (status, ""), "{}", run.stdout);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn what_a_key_sent_is_listed() {
    let folder = Folder::new();
    file(&folder.path().join("scores.db"), items().into_iter().chain([sent()]).collect());
    let shown = answer(&folder.karat(&["log", "show", "scores.db"]), 0);
    assert_eq!((&shown["senders"], &shown["without_sender"]), (&json!({SENDER: 2}), &json!(12)));
    let run = folder.karat(&["log", "show", "scores.db", "--sender", SENDER]);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = lines.iter().map(|it| (it["position"].as_u64(), it["kind"].as_str())).collect();
    assert_eq!(found, [(Some(12), Some("evidence")), (Some(13), Some("record"))]);
    assert!(lines.iter().all(|it| it["sender"] == SENDER && it["subject"] == "17"), "{lines:?}");
    let none = folder.karat(&["log", "show", "scores.db", "--sender", "0000000000000000"]);
    assert_eq!((none.status, none.stdout.as_str()), (0, ""));
    assert_snapshot!(folder.karat(&["log", "show", "scores.db", "--sender", SENDER, "--table"]).screen());
    assert_snapshot!(folder.karat(&["log", "show", "scores.db", "--table"]).screen());
    let verified = answer(&folder.karat(&["log", "verify", "scores.db"]), 12);
    assert_eq!(verified["entries"], 14);
}

#[test]
fn what_was_backfilled_is_shown_with_key_and_reason() {
    let folder = Folder::new();
    let key = KeyRequest::admin("mover").make([7; 32]).unwrap().key;
    let mark =
        Backfill::new(&key.id, "moved here", vec![RECORD.to_owned(), String::from("17/2/workflow@1.0.0")]);
    let all = [(moment(0), vec![mark.item()])].into_iter().chain(items());
    file(&folder.path().join("scores.db"), all.collect());
    let shown = answer(&folder.karat(&["log", "show", "scores.db"]), 0);
    let expected = json!([{
        "key": key.id, "moment": moment(0).to_string(), "reason": "moved here",
        "records": [RECORD, "17/2/workflow@1.0.0"],
    }]);
    assert_eq!(shown["backfilled"], expected);
    let screen = folder.karat(&["log", "show", "scores.db", "--table"]).screen();
    let line = format!("{}: 2 records backfilled by {}: moved here", moment(0), key.id);
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&line), "{screen}");
}

#[test]
fn a_receipt_is_the_one_that_the_store_gives() {
    let folder = folder();
    let written = folder.karat(&["log", "receipt", "scores.db", RECORD]);
    assert_eq!(written.stdout, receipt(karat_store::Kind::Record, RECORD));
    let saved = folder.karat(&["log", "receipt", "scores.db", RECORD, "--out", "receipt.json"]);
    assert_eq!((saved.status, saved.screen().lines().count()), (0, 1));
    assert_eq!(fs::read_to_string(folder.path().join("receipt.json")).unwrap(), written.stdout);
    let again = folder.karat(&["log", "receipt", "scores.db", RECORD, "--out", "log.key"]);
    again.ends(1, "is not a receipt");
    for (id, kind) in [("nobody", "record"), (RECORD, "evidence"), (RECORD, "mouse")] {
        let run = folder.karat(&["log", "receipt", "scores.db", id, "--kind", kind]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    }
}

#[test]
fn the_folder_of_a_server_and_a_place_in_the_log_are_names_too() {
    let folder = folder();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::copy(folder.path().join("scores.db"), data.join("karat.db")).unwrap();
    let verified = answer(&folder.karat(&["log", "verify", "data", "--key", "log.key"]), 0);
    assert_eq!((&verified["database"], &verified["entries"]), (&Value::from("data"), &Value::from(12)));
    let by_id = folder.karat(&["log", "receipt", "data", RECORD]);
    let place = serde_json::from_str::<Value>(&by_id.stdout).unwrap()["index"].to_string();
    assert_eq!(folder.karat(&["log", "receipt", "data", &place]).stdout, by_id.stdout);
    for (place, kind) in [("12", "record"), (place.as_str(), "evidence"), ("-1", "record")] {
        let run = folder.karat(&["log", "receipt", "data", "--kind", kind, "--", place]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    }
}

#[test]
fn a_changed_database_is_not_verified() {
    let folder = folder();
    let path = folder.path().join("scores.db");
    let sound = fs::read(&path).unwrap();
    let verify = ["log", "verify", "scores.db", "--key", "log.key"];
    // In the definitions of the tables, and in the content that is written last.
    let place = |text: &str| sound.windows(text.len()).rposition(|it| it == text.as_bytes()).unwrap();
    for at in [place("CREATE TABLE tile"), place("workflow@1.0.0")] {
        let mut changed = sound.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let answer = answer(&folder.karat(&verify), 14);
        assert_eq!(answer["status"], "failed");
        assert!(!answer["problems"].as_array().unwrap().is_empty());
    }
    let screen = folder.karat(&[&verify[..], &["--table"]].concat()).screen();
    assert!(screen.contains("✗  content") && screen.contains("entr"), "{screen}");
    assert!(!screen.contains('✓'), "{screen}");
}

#[cfg(unix)]
#[test]
fn a_backup_of_a_server_that_is_written_to_verifies_and_serves() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    let (address, key) =
        (server.address().to_owned(), server.started["admin_key"].as_str().unwrap().to_owned());
    let path = "/v1/evidence?card=log-forensics";
    let item = |number: u32| {
        format!(r#"{{"match_id": "m-{number}", "agent_id": "bee", "scores": {{"correctness": {number}}}}}"#)
    };
    let log_key = server.started["log_key"].as_str().unwrap().to_owned();
    let verified = |copy: &str| answer(&folder.karat(&["log", "verify", copy, "--key", &log_key]), 0);
    std::thread::scope(|scope| {
        let (address, key) = (&address, &key);
        let writing = scope.spawn(move || {
            for number in 0..200 {
                assert_eq!(ask(address, key, "POST", path, &item(number)).unwrap().0, 201);
            }
        });
        let mut copies = 0;
        while !writing.is_finished() || copies == 0 {
            let copy = format!("copy-{copies}");
            let made = answer(&folder.karat(&["log", "backup", "scores", &copy]), 0);
            let verified = verified(&copy);
            assert_eq!((&made["entries"], &made["root"]), (&verified["entries"], &verified["root"]));
            assert!(!folder.path().join(&copy).join("log.key").exists(), "the key is a secret");
            copies += 1;
        }
    });
    let run = folder.karat(&["log", "backup", "scores", "copy-0", "--with-key"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    assert!(
        run.stderr.contains("`copy-0` is not empty") && run.stderr.contains("an empty one"),
        "{}",
        run.stderr
    );
    fs::create_dir(folder.path().join("last")).unwrap();
    let screen = folder.karat(&["log", "backup", "scores", "last/", "--with-key", "--table"]).screen();
    assert!(screen.contains("log.key                  copied: keep"), "{screen}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &fs::metadata(folder.path().join("last/log.key")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(server.end("TERM").0, Some(0));
    let server = Server::new(folder.path(), &["last"]);
    assert_eq!(server.started["log_key"], log_key.as_str());
    assert_eq!(ask(server.address(), &key, "POST", path, &item(7)).unwrap().0, 200, "it exists already");
    assert_eq!(ask(server.address(), &key, "POST", path, &item(900)).unwrap().0, 201);
    assert_eq!(server.end("TERM").0, Some(0));
    verified("last");
    // A copy without the key names the missing key.
    let run = folder.karat(&["serve", "copy-0", "--listen", "127.0.0.1:0"]);
    run.ends(1, "log.key");
    assert!(
        fs::read_dir(folder.path())
            .unwrap()
            .all(|it| { !it.unwrap().file_name().to_string_lossy().ends_with("-draft") })
    );
}

#[test]
fn a_backup_that_cannot_be_made_leaves_nothing() {
    let folder = folder();
    folder.write("text.db", &"nothing of the sort\n".repeat(400));
    for (database, copy) in
        [("text.db", "new"), ("none.db", "new"), ("scores.db", "no/such"), ("scores.db", "..")]
    {
        let run = folder.karat(&["log", "backup", database, copy]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{database} {copy}: {}", run.stderr);
    }
    // A folder without the key that is to be copied.
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::copy(folder.path().join("scores.db"), folder.path().join("data/karat.db")).unwrap();
    let run = folder.karat(&["log", "backup", "data", "new", "--with-key"]);
    run.ends(1, "log.key");
    assert!(!folder.path().join("new").exists() && !folder.path().join("new-draft").exists());
}

#[test]
fn a_log_that_was_rewritten_shows_against_a_head_from_before() {
    let folder = Folder::new();
    folder.write("log.key", &signer().verifying_key().to_string());
    folder.write("head", &season().head().unwrap().checkpoint);
    let mut other = items();
    let _ = other[2].1.pop();
    file(&folder.path().join("scores.db"), other);
    let plain = ["log", "verify", "scores.db", "--key", "log.key"];
    assert_eq!(answer(&folder.karat(&plain), 0)["status"], "verified");
    let known = answer(&folder.karat(&[&plain[..], &["--head", "head"]].concat()), 14);
    assert!(known["problems"][0].as_str().unwrap().contains("from elsewhere"), "{known}");
}

#[test]
fn a_head_that_was_kept_holds_for_the_log_it_is_of() {
    let folder = folder();
    folder.write("head", &season().head().unwrap().checkpoint);
    let run = folder.karat(&["log", "verify", "scores.db", "--key", "log.key", "--head", "head", "--table"]);
    assert!(run.status == 0 && run.stdout.contains("✓  history"), "{}", run.screen());
}

#[test]
fn what_is_no_database() {
    let folder = Folder::new();
    folder.write("text.db", &"nothing of the sort\n".repeat(400));
    folder.write("empty.db", "");
    fs::create_dir(folder.path().join("folder")).unwrap();
    for verb in ["show", "verify"] {
        for path in ["none.db", "text.db", "empty.db", "folder"] {
            let run = folder.karat(&["log", verb, path]);
            assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{verb} {path}: {}", run.stderr);
            assert!(run.stderr.contains(path) && !run.stderr.contains("SQL"), "{}", run.stderr);
        }
    }
    // No other file was made.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}
