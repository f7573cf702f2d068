//! `karat verify`: a sound receipt, and every way to change one.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use insta::assert_snapshot;
use karat_store::Kind;
use serde_json::Value;

use crate::common::{Folder, Run, example, karat, karat_reading, root};
use crate::store::{SENDER, file, moment, receipt, scored, sent_receipt, signer};

const RECORD: &str = "17/run-worked-example/workflow@1.0.0";
const RECEIPT: &str = "examples/receipt/receipt.json";
const SENT: &str = "examples/receipt/sent.json";
const KEY: &str = "examples/receipt/log.key";
const EVIDENCE: &str = "examples/workflow/worked-example.json";

/// Checks `receipt` with the key, and more arguments.
fn verify(receipt: &str, more: &[&str]) -> Run {
    karat_reading(&[&["verify", "-", "--key", KEY], more].concat(), receipt)
}

/// Returns the status, the failed checks, and the changed parts.
fn answer(run: &Run) -> (String, Vec<String>, Vec<String>) {
    assert_eq!(run.stderr, "");
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["schema"], "karat/verification/1");
    let texts = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let failing = answer["checks"].as_array().unwrap().iter().filter(|it| it["outcome"] == "failed");
    let failing = failing.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
    let status = answer["status"].as_str().unwrap().to_owned();
    let exit = match status.as_str() {
        "verified" => 0,
        "consistent" => 12,
        _ => 14,
    };
    assert_eq!(run.status, exit, "{}", run.stdout);
    (status, failing, texts(&answer["changed"]))
}

/// Fails with these checks, for these causes.
fn fails(run: &Run, checks: &[&str], causes: &[&str]) {
    let (status, failing, changed) = answer(run);
    assert_eq!((status.as_str(), failing, changed), ("failed", own(checks), own(causes)), "{}", run.stdout);
}

fn own(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The folder of the example has what the store gives; `KARAT_WRITE_EXAMPLES=1` writes it again.
#[test]
fn the_example_is_what_a_store_gives() {
    let key = format!("{}\n", signer().verifying_key());
    for (path, text) in [(RECEIPT, receipt(Kind::Record, RECORD)), (SENT, sent_receipt()), (KEY, key)] {
        let path = root().join(path);
        if std::env::var_os("KARAT_WRITE_EXAMPLES").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == text, "{} has drifted; KARAT_WRITE_EXAMPLES=1 writes it again", path.display());
    }
}

#[test]
fn a_sound_receipt_is_verified_with_and_without_its_evidence() {
    let whole = ["verify", RECEIPT, "--key", KEY, "--evidence", EVIDENCE];
    assert_eq!(answer(&karat(&whole)), ("verified".to_owned(), own(&[]), own(&[])));
    assert_snapshot!(karat(&[&whole[..], &["--table"]].concat()).screen());
    let key = fs::read_to_string(root().join(KEY)).unwrap();
    let plain = karat(&["verify", RECEIPT, "--key", key.trim(), "--card", "workflow"]);
    assert_eq!(answer(&plain).0, "verified");
    let twice = karat(&["verify", RECEIPT, RECEIPT, "--key", KEY]);
    assert_eq!((twice.status, twice.stdout.lines().count()), (0, 2));
}

#[test]
fn a_receipt_says_who_sent_the_item_if_its_entry_does() {
    for (path, sender) in [(RECEIPT, Value::Null), (SENT, Value::from(SENDER))] {
        let run = karat(&["verify", path, "--key", KEY]);
        assert_eq!(answer(&run).0, "verified");
        assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["entry"]["sender"], sender, "{path}");
    }
    let screen = karat(&["verify", SENT, "--key", KEY, "--table"]).screen();
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&format!("2026-03-04T21:00:00Z by {SENDER}")), "{screen}");
    let sound = sent_receipt();
    // Another sender is another entry; neither form of an entry may lack or add a member.
    fails(&verify(&sound.replace(SENDER, "0123456789abcdee"), &[]), &["inclusion"], &[]);
    for changed in [
        sound.replace("karat/entry/2", "karat/entry/1"),
        sound.replace(&format!("\"sender\":\"{SENDER}\","), ""),
        receipt(Kind::Record, RECORD).replace("\"replaces\":null,\"schema\"", "\"schema\""),
        receipt(Kind::Record, RECORD).replace("karat/entry/1\"", "karat/entry/1\",\"sender\":null"),
    ] {
        assert!(changed != sound && changed != receipt(Kind::Record, RECORD));
        let (status, failing, _) = answer(&verify(&changed, &[]));
        assert_eq!((status.as_str(), failing.as_slice()), ("failed", &own(&["receipt"])[..]), "{changed}");
    }
}

#[test]
fn without_a_key_nobody_vouches() {
    let run = karat(&["verify", RECEIPT, "--table"]);
    assert_eq!(run.status, 12);
    assert_snapshot!(run.screen());
    assert_eq!(answer(&karat(&["verify", RECEIPT])).0, "consistent");
    // The proof is checked nevertheless.
    let receipt = receipt(Kind::Record, RECORD).replace("\"index\":2", "\"index\":3");
    fails(&karat_reading(&["verify", "-"], &receipt), &["inclusion"], &[]);
}

#[test]
fn one_byte_of_the_content() {
    let sound = receipt(Kind::Record, RECORD);
    let changed = sound.replace("\\\"composite\\\":0.84,", "\\\"composite\\\":0.94,");
    assert_ne!(sound, changed);
    fails(&verify(&changed, &[]), &["content", "score"], &["text"]);
    assert_snapshot!(verify(&changed, &["--table"]).screen());
}

#[test]
fn one_byte_of_the_evidence() {
    let folder = Folder::new();
    let evidence = example("workflow/worked-example.json")
        .replace("\"output_quality\": 0.875", "\"output_quality\": 0.975");
    folder.write("evidence.json", &evidence);
    let path = folder.path().join("evidence.json");
    let run = verify(&receipt(Kind::Record, RECORD), &["--evidence", path.to_str().unwrap()]);
    fails(&run, &["evidence"], &["evidence"]);
    folder.write("evidence.json", "{\"run_id\"");
    fails(
        &verify(&receipt(Kind::Record, RECORD), &["--evidence", path.to_str().unwrap()]),
        &["evidence"],
        &[],
    );
}

#[test]
fn the_signature_and_the_key() {
    let sound = receipt(Kind::Record, RECORD);
    let value: Value = serde_json::from_str(&sound).unwrap();
    let note = value["checkpoint"].as_str().unwrap();
    let tail = &note[note.len() - 9..note.len() - 1];
    let flipped = if tail.starts_with('A') { "B" } else { "A" };
    let changed = sound.replace(tail, &format!("{flipped}{}", &tail[1..]));
    fails(&verify(&changed, &[]), &["signature", "inclusion"], &[]);
    let other = karat_store::log::Signer::new("scores.example.org/main", &[8; 32]).unwrap();
    let other = other.verifying_key().to_string();
    fails(&karat_reading(&["verify", "-", "--key", &other], &sound), &["signature", "inclusion"], &[]);
    for key in ["nonsense", "scores.example.org/main+00000000+AAAA", "examples", RECEIPT] {
        let run = karat(&["verify", RECEIPT, "--key", key]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{key}");
        assert!(run.stderr.contains(key), "{}", run.stderr);
    }
}

#[test]
fn what_is_no_receipt() {
    let sound = receipt(Kind::Record, RECORD);
    let record = karat(&["score", "-c", "workflow", EVIDENCE]).stdout;
    for text in
        ["", "nonsense", "[]", &sound[..sound.len() / 2], &record, &sound.replace("receipt/1", "receipt/2")]
    {
        fails(&verify(text, &[]), &["receipt"], &[]);
    }
    assert_snapshot!(verify(&sound[..400], &["--table"]).screen());
    let none = karat(&["verify", "nothing.json"]);
    assert_eq!((none.status, none.stdout.as_str()), (1, ""));
    let twice = karat(&["verify", "-", "--evidence", "-"]);
    assert_eq!((twice.status, twice.stdout.as_str()), (1, ""));
}

#[test]
fn the_receipt_of_what_is_no_record() {
    let evidence = receipt(Kind::Evidence, "17/run-worked-example");
    assert_eq!(answer(&verify(&evidence, &[])).0, "verified");
    let run = verify(&evidence, &["--evidence", EVIDENCE]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    let card = receipt(Kind::Scorecard, "workflow@1.0.0");
    assert_snapshot!(verify(&card, &["--table"]).screen());
}

/// Returns the receipt of a changed record that a log kept: signature and proof do not tell whether it is true.
fn kept(change: impl Fn(String) -> String) -> String {
    let folder = Folder::new();
    let [evidence, mut record] = scored(&example("workflow/worked-example.json"));
    let text = String::from_utf8(record.content).unwrap();
    let changed = change(text.clone());
    assert_ne!(text, changed);
    record.content = changed.into_bytes();
    let database = folder.path().join("own.db");
    file(&database, vec![(moment(0), vec![evidence, record])]);
    let run = karat(&["log", "receipt", database.to_str().unwrap(), RECORD]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    run.stdout
}

#[test]
fn a_record_that_was_false_from_the_start() {
    let false_score = kept(|text| text.replace("\"exact\":0.84,", "\"exact\":0.94,"));
    fails(&verify(&false_score, &[]), &["score"], &["engine"]);
    let false_facts = kept(|text| text.replace("\"timeouts\":0", "\"timeouts\":1"));
    fails(&verify(&false_facts, &["--evidence", EVIDENCE]), &["score", "evidence"], &["evidence", "engine"]);
    let no_record = kept(|_| String::from("[]"));
    fails(&verify(&no_record, &[]), &["sources", "score"], &[]);
}

#[test]
fn a_record_of_another_version_of_karat() {
    let engine = format!("\"engine\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let older = kept(|text| text.replace(&engine, "\"engine\":\"0.0.7\""));
    let run = verify(&older, &["--evidence", EVIDENCE, "--table"]);
    assert!(run.status == 0 && run.stdout.contains("made by karat 0.0.7"), "{}", run.screen());
    let other = kept(|text| text.replace(&engine, "\"engine\":\"0.0.7\"").replace(":0.84,", ":0.83,"));
    let run = verify(&other, &[]);
    fails(&run, &["score"], &["engine"]);
    assert!(run.stdout.contains("makes another record of them than 0.0.7 did"), "{}", run.stdout);
}

#[test]
fn a_record_whose_card_is_not_at_hand_is_not_verified() {
    // A log of another operator, with its own card.
    let folder = Folder::new();
    let card = fs::read_to_string(root().join("scorecards/workflow/1.0.0.toml")).unwrap();
    folder.write("own.toml", &card.replace("id       = \"workflow\"", "id       = \"own\""));
    let path = folder.path().join("own.toml");
    let record = karat(&["score", "-c", path.to_str().unwrap(), EVIDENCE]).stdout;
    let receipt = kept(|_| record.trim_end().to_owned());
    assert_eq!(answer(&verify(&receipt, &[])).0, "consistent");
    assert_eq!(answer(&verify(&receipt, &["--card", path.to_str().unwrap()])).0, "verified");
}

#[test]
fn every_kind_of_item_of_the_log_is_known_elsewhere() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let line = |path: &str, start: &str| {
        read(path).lines().find(|line| line.starts_with(start)).unwrap_or_default().to_owned()
    };
    let guide = line("docs/guide/receipt.md", "| `kind` |");
    let reference = line("reference/verify.py", "KINDS = ");
    for kind in Kind::ALL {
        let name = kind.name();
        assert!(guide.contains(&format!("`{name}`")), "{name}: {guide}");
        assert!(reference.contains(&format!("\"{name}\"")), "{name}: {reference}");
    }
}
