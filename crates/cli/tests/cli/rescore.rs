//! `karat rescore`: old and new side by side, parts that add up, the store as of a moment, and nothing written.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use karat_core::facts::Digest;
use karat_core::timestamp::Timestamp;
use karat_server::keys::{Key, Withdrawal};
use karat_store::{Kind, NewItem};
use serde_json::Value;

use crate::common::{Folder, Run, example, root};
use crate::store::{SENDER, file, items, moment, scored, season_file, sent};

const DATABASE: [&str; 2] = ["rescore", "scores.db"];

/// Returns a folder with the season and the stricter card.
fn folder() -> Folder {
    let folder = Folder::new();
    season_file(folder.path());
    fs::copy(root().join("examples/receipt/stricter.toml"), folder.path().join("stricter.toml")).unwrap();
    folder
}

fn rescore(folder: &Folder, more: &[&str]) -> Run {
    folder.karat(&[&DATABASE[..], more].concat())
}

/// Returns the lines of records, and the last line.
fn lines(run: &Run) -> (Vec<Value>, Value) {
    let mut lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.pop().unwrap();
    assert_eq!(last["schema"], "karat/rescore-summary/1");
    assert!(lines.iter().all(|line| line["schema"] == "karat/rescore/2"));
    (lines, last)
}

/// Returns the digest of the database.
fn files(folder: &Path) -> Digest {
    Digest::of(&fs::read(folder.join("scores.db")).unwrap())
}

#[test]
fn old_and_new_stand_side_by_side() {
    let folder = folder();
    let before = files(folder.path());
    let stricter = ["--card", "stricter.toml", "--of", "workflow"];
    let run = rescore(&folder, &[&stricter[..], &["--table"]].concat());
    assert_snapshot!(run.screen());
    let run = rescore(&folder, &stricter);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let (records, summary) = lines(&run);
    assert_eq!((records.len(), &summary["records"]), (5, &Value::from(5)));
    for record in &records {
        // The scale of these cards is 1.
        let part = |name: &str| record["parts"][name].as_f64().unwrap();
        let sum = part("engine") + part("evidence") + part("scorecard");
        let side = |name: &str| record[name]["exact"].as_f64().unwrap();
        for other in [record["difference"].as_f64().unwrap(), side("after") - side("before")] {
            assert!((sum - other).abs() < 1e-8, "{record}");
        }
        assert_eq!(part("engine"), 0.0, "{record}");
        assert_eq!(part("evidence") != 0.0, record["corrected"] == true, "{record}");
    }
    // 0.5 x 0.7125 + 0.25 x 0.75 + 0.15 x 0.5 + 0.1 x 0.5; in the corrected run, success is 0.75, not above it.
    let corrected = records.iter().find(|record| record["corrected"] == true).unwrap();
    assert_eq!(
        (corrected["before"]["exact"].as_f64(), corrected["after"]["exact"].as_f64()),
        (Some(0.66875), Some(0.475))
    );
    assert_eq!(corrected["parts"]["evidence"].as_f64(), Some(0.01875));
    assert_eq!(files(folder.path()), before, "the database was written");
}

#[test]
fn the_same_card_moves_only_what_was_corrected() {
    let folder = folder();
    let (records, _) = lines(&rescore(&folder, &["--card", "workflow"]));
    let moved: Vec<&Value> = records.iter().filter(|record| record["difference"] != 0.0).collect();
    assert_eq!(moved.len(), 1);
    assert_eq!(moved[0]["parts"]["scorecard"], 0.0);
    // Before the correction arrived, nothing moves.
    let then = rescore(&folder, &["--card", "workflow", "--known-at", "2026-03-03T09:00:00Z"]);
    assert!(lines(&then).0.iter().all(|record| record["difference"] == 0.0));
    let early = rescore(&folder, &["--card", "workflow", "--known-at", "2026-03-02T10:30:00Z"]);
    assert_eq!(lines(&early).0.len(), 1);
    let one = rescore(&folder, &["--card", "workflow", "--subject", "17"]);
    assert_eq!(lines(&one).0[0]["subject"], "17");
}

#[test]
fn a_record_that_was_replaced_is_history() {
    let folder = Folder::new();
    let mut all = items();
    let correction = all[6].1[0].clone();
    let [_, record] = scored(std::str::from_utf8(&correction.content).unwrap());
    let replaced = record.id.clone();
    all.push((
        moment(50),
        vec![NewItem { id: format!("{replaced}-corrected"), replaces: Some(replaced), ..record }],
    ));
    file(&folder.path().join("scores.db"), all);
    let (records, summary) = lines(&rescore(&folder, &["--card", "workflow"]));
    assert_eq!((records.len(), &summary["up"], &summary["down"]), (5, &Value::from(0), &Value::from(0)));
}

#[test]
fn what_was_withdrawn_is_not_scored_and_corrects_nothing() {
    let mut all = items();
    let correction = all[6].1[0].clone();
    let [_, record] = scored(std::str::from_utf8(&correction.content).unwrap());
    let replaced = record.id.clone();
    let by = |item: NewItem| NewItem { sender: Some(SENDER.to_owned()), ..item };
    // The correction of the season, and its record, came from a key.
    all[6].1[0] = by(correction);
    let record = NewItem { id: format!("{replaced}-corrected"), replaces: Some(replaced), ..record };
    all.push((moment(50), vec![by(record.clone())]));
    all.push(sent());
    let done = |all: &[(Timestamp, Vec<NewItem>)]| {
        let folder = Folder::new();
        file(&folder.path().join("scores.db"), all.to_vec());
        let (records, _) = lines(&rescore(&folder, &["--card", "workflow"]));
        let moved = records.iter().filter(|record| record["difference"] != 0.0).count();
        (records.len(), moved)
    };
    let withdrawal = |from: u64| {
        let revoked = NewItem {
            kind: Kind::Key,
            id: Key::revocation(SENDER),
            subject: None,
            sources: Vec::new(),
            replaces: None,
            content: b"{}".to_vec(),
            ..record.clone()
        };
        vec![revoked, Withdrawal::new(SENDER, "2026-03-04T09:00:00Z", from, "it leaked").item()]
    };
    assert_eq!(done(&all), (6, 0));
    // All of it: neither the correction nor what came after it counts, and the old record is again that of its evidence.
    let with = |from| [&all[..], &[(moment(70), withdrawal(from))]].concat();
    assert_eq!(done(&with(0)), (5, 0));
    // The last record and its evidence only.
    assert_eq!(done(&with(13)), (5, 0));
    // The record of the correction, but not its evidence: the old record counts, and its evidence was corrected.
    assert_eq!(done(&with(12)), (5, 1));
}

#[test]
fn what_cannot_be_scored_again_is_told_and_the_rest_is_done() {
    let folder = Folder::new();
    let [evidence, record] = scored(&example("workflow/worked-example.json"));
    let false_card = String::from_utf8(record.content.clone())
        .unwrap()
        .replace("\"digest\":\"sha256:", "\"digest\":\"sha256:0");
    let false_card = false_card
        .replace("sha256:0", "sha256:")
        .replace("\"scorecard\":{\"digest\":\"sha256:", "\"scorecard\":{\"digest\":\"sha256:f");
    let broken = NewItem { id: String::from("broken"), content: false_card.into_bytes(), ..record.clone() };
    let nonsense = NewItem { id: String::from("nonsense"), content: b"[]".to_vec(), ..record.clone() };
    file(&folder.path().join("scores.db"), vec![(moment(0), vec![evidence, record, broken, nonsense])]);
    let run = rescore(&folder, &["--card", "workflow", "--table"]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.screen());
}

#[test]
fn what_is_refused_and_how_it_is_mended() {
    let folder = folder();
    let none = rescore(&folder, &["--card", "stricter.toml"]);
    let nobody = rescore(&folder, &["--card", "workflow", "--subject", "nobody"]);
    let kind = rescore(&folder, &["--card", "trust", "--of", "workflow"]);
    for run in [&none, &nobody, &kind] {
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    }
    assert_snapshot!([none, nobody, kind].map(|run| run.screen()).join("\n"));
}
