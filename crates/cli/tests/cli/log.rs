//! `karat log`: a sound database, one that somebody changed, and what is none.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, Run};
use crate::store::{file, items, receipt, season, season_file, signer};

const RECORD: &str = "17/run-worked-example/workflow@1.0.0";

/// A folder with the season, and the public key of its log in `log.key`.
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
fn a_sound_database_is_shown_and_verified() {
    let folder = folder();
    assert_snapshot!(folder.karat(&["log", "show", "scores.db", "--table"]).screen());
    assert_snapshot!(folder.karat(&["log", "verify", "scores.db", "--key", "log.key", "--table"]).screen());
    let shown = answer(&folder.karat(&["log", "show", "scores.db"]), 0);
    assert_eq!((&shown["entries"], &shown["kinds"]["record"]), (&Value::from(12), &Value::from(5)));
    let verified = answer(&folder.karat(&["log", "verify", "scores.db", "--key", "log.key"]), 0);
    assert_eq!((&verified["status"], &verified["root"]), (&Value::from("verified"), &shown["root"]));
    let unsigned = answer(&folder.karat(&["log", "verify", "scores.db"]), 12);
    assert_eq!(unsigned["status"], "consistent");
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
    assert!(again.status == 1 && again.stderr.contains("is not a receipt"), "{}", again.stderr);
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
    for (from, to) in [("scores.db", "karat.db"), ("scores.db-pages", "karat.db-pages")] {
        fs::copy(folder.path().join(from), data.join(to)).unwrap();
    }
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
    // In the first page, in the middle and at the end: every byte counts.
    for at in [40, sound.len() / 2, sound.len() - 1] {
        let mut changed = sound.clone();
        changed[at] ^= 1;
        fs::write(&path, &changed).unwrap();
        let run = folder.karat(&["log", "verify", "scores.db", "--key", "log.key"]);
        let answer = answer(&run, 14);
        assert_eq!(answer["status"], "failed");
        assert!(!answer["problems"].as_array().unwrap().is_empty());
    }
    let screen = folder.karat(&["log", "verify", "scores.db", "--key", "log.key", "--table"]).screen();
    assert!(screen.contains("✗ content") && screen.contains("page"), "{screen}");
    assert!(!screen.contains('✓'), "{screen}");
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
    assert!(run.status == 0 && run.stdout.contains("✓ history"), "{}", run.screen());
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
    // Nothing was made beside them.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}
