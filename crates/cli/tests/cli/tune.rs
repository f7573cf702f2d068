//! `karat tune`: weights that predict an outcome, what they gain, the files that propose them, and every refusal.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use serde_json::Value;

use crate::common::{Folder, example, karat};

const CARD: &str = "examples/tune/desk.toml";
const RUNS: &str = "examples/tune/runs.csv";
const WINS: &str = "examples/tune/wins.csv";

/// Returns a folder with the example.
fn folder() -> Folder {
    let folder = Folder::new();
    for name in ["desk.toml", "runs.csv", "wins.csv"] {
        folder.write(name, &example(&format!("tune/{name}")));
    }
    folder
}

fn tuned(folder: &Folder, flags: &[&str]) -> Value {
    let run = folder.karat(&[&["tune", "-c", "desk.toml", "--json"], flags].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{flags:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn made_weights_are_found_by_outcomes_and_by_pairs() {
    // The outcomes of the example follow these.
    let truth = [("accuracy", 0.65), ("tone", 0.25), ("brevity", 0.1)];
    for target in [["--outcome", "kept"], ["--wins", WINS]] {
        let run = karat(&[&["tune", "--json", "-c", CARD, RUNS], &target[..]].concat());
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        let dimensions = found["dimensions"].as_array().unwrap();
        for (dimension, (key, weight)) in dimensions.iter().zip(truth) {
            let fitted = &dimension["fitted"];
            assert_eq!(dimension["key"], key);
            let ends = [&fitted["low"], &fitted["high"]].map(|end| end.as_f64().unwrap());
            assert!((ends[0]..=ends[1]).contains(&weight), "{target:?} {dimension}");
        }
        assert_eq!((&found["unit"], &found["measure"]), (&"task".into(), &"concordance".into()));
        assert!(found["gain"]["low"].as_f64().unwrap() > 0.0 && found["proposal"].is_object(), "{found}");
        let sum: f64 = dimensions.iter().map(|it| it["tuned"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}

#[test]
fn what_is_written_is_taken_by_score_and_standing() {
    let folder = folder();
    let flags = ["--outcome", "kept", "runs.csv", "--as-of", "2026-06-01T00:00:00Z", "--proposer", "loop"];
    let files = ["--override-out", "weights.json", "--proposal-out", "proposal.jsonl"];
    let found = tuned(&folder, &[&flags[..], &files].concat());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let weights: Value = serde_json::from_str(&read("weights.json")).unwrap();
    assert_eq!(weights, found["proposal"]["weights"]);

    let scored = folder.karat(&["score", "-c", "desk.toml", "--override", "weights.json", "runs.csv"]);
    let record: Value = serde_json::from_str(scored.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&record["override"]["outcome"], &record["override"]["merged_sum"]),
        (&"applied".into(), &1.into())
    );

    // Someone else accepts the proposal, and the standing follows from the new weights.
    let proposal = read("proposal.jsonl");
    let event: Value = serde_json::from_str(&proposal).unwrap();
    assert_eq!((&event["event"], &event["proposer"]), (&"weights-proposed".into(), &"loop".into()));
    assert_eq!((&event["id"], &event["weights"]), (&found["proposal"]["id"], &weights));
    let accepted = serde_json::json!({
        "event": "weights-accepted", "time": "2026-06-01T00:00:01Z", "id": event["id"], "decider": "ann", "reason": "checked",
    });
    folder.write("events.jsonl", &format!("{proposal}{accepted}\n"));
    let text = example("tune/runs.csv");
    let timed = text.lines().map(|row| match row.strip_prefix("subject,") {
        Some(columns) => format!("time,subject,{columns}\n"),
        None => format!("2026-05-01T00:00:00Z,{row}\n"),
    });
    folder.write("runs.csv", &timed.collect::<String>());
    let standing = "\n[standing]\nscore = \"latest\"\n";
    folder.write("desk.toml", &(example("tune/desk.toml") + standing));
    let stand = |events: &[&str]| {
        let flags = ["standing", "--json", "-c", "desk.toml", "--as-of", "2026-06-02T00:00:00Z", "runs.csv"];
        let run = folder.karat(&[&flags[..], events].concat());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        serde_json::from_str::<Value>(run.stdout.lines().next().unwrap()).unwrap()["points"].clone()
    };
    assert_ne!(stand(&["--events", "events.jsonl"]), stand(&[]));
}

#[test]
fn chance_is_not_proposed() {
    let folder = folder();
    // The outcome goes round regardless of the answer.
    let text = example("tune/runs.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let turned = rows.lines().enumerate().map(|(at, row)| {
        let (values, _) = row.rsplit_once(',').unwrap();
        format!("{values},{}\n", u8::from(at * 7919 % 13 < 6))
    });
    folder.write("runs.csv", &format!("{header}\n{}", turned.collect::<String>()));
    let found = tuned(&folder, &["--outcome", "kept", "runs.csv", "--override-out", "weights.json"]);
    assert_eq!(found["proposal"], Value::Null);
    assert!(found["gain"]["low"].as_f64().unwrap() <= 0.0);
    assert!(!folder.path().join("weights.json").exists());
    let run = folder.karat(&["tune", "-c", "desk.toml", "--table", "--outcome", "kept", "runs.csv"]);
    assert!(run.status == 0 && run.stdout.contains("nothing is proposed"), "{}", run.stdout);
}

#[test]
fn the_order_of_rows_changes_no_byte_and_the_seed_changes_the_split() {
    let folder = folder();
    let flags = ["--outcome", "kept", "runs.csv"];
    let before = tuned(&folder, &flags);
    let text = example("tune/runs.csv");
    let (header, rows) = text.split_once('\n').unwrap();
    let backwards: Vec<&str> = rows.lines().rev().collect();
    folder.write("runs.csv", &format!("{header}\n{}\n", backwards.join("\n")));
    assert_eq!(tuned(&folder, &flags), before);
    let other = tuned(&folder, &[&flags[..], &["--seed", "2"]].concat());
    assert_ne!(other["held_out"], before["held_out"]);
}

#[test]
fn pairs_of_subjects_and_of_other_tasks_are_clusters_by_themselves() {
    let folder = folder();
    // Subjects by their mean values: twenty agents, and each wins against those with a lower accuracy.
    let agent = |at: usize| format!("a{at:02}");
    let rows: String =
        (0..20).map(|at| format!("{},{},{},0.5\n", agent(at), agent(at), at as f64 / 20.0)).collect();
    folder.write("agents.csv", &format!("subject,id,accuracy,tone\n{rows}"));
    let pairs = (0..20usize).flat_map(|high| (0..high).map(move |low| (high, low)));
    let wins: String = pairs.map(|(high, low)| format!("{},{}\n", agent(high), agent(low))).collect();
    folder.write("wins.csv", &format!("winner,loser\n{wins}"));
    let found = tuned(&folder, &["--wins", "wins.csv", "agents.csv"]);
    assert_eq!(found["unit"], "pair");
    assert_eq!(found["tuned_concordance"], 1);
    let cases = ["learned", "held_out"].map(|part| found[part]["cases"].as_u64().unwrap());
    assert_eq!(cases.iter().sum::<u64>(), 190);
}
