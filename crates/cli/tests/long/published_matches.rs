//! Published matches and votes, read unchanged.
//!
//! Expected values were computed from the files without the program: majorities and agreement by counting, strengths by
//! plain gradient ascent, Elo by its formula.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::path::Path;

use serde_json::Value;

use crate::common::{finish, program};
use crate::published::data;

/// Returns the answer of `karat rate` in the folder of the data.
fn rated(folder: &Path, arguments: &[&str]) -> Value {
    let run = finish(program(folder).args(["rate", "--json"]).args(arguments), "");
    let notes = run.stderr.lines().filter(|line| !line.starts_with("note: columns that nothing reads: "));
    assert_eq!((run.status, notes.collect::<Vec<_>>()), (0, vec![]));
    serde_json::from_str(&run.stdout).unwrap()
}

fn is_near(found: &Value, expected: f64) -> bool {
    found.as_f64().is_some_and(|found| (found - expected).abs() < 1e-6)
}

const VOTES: [&str; 9] = [
    "--judge",
    "@file",
    "--people",
    "crowd-comparisons",
    "--columns",
    "id=@file+id+worker,pair=id,first=left,second=right,result=winner",
    "crowd-comparisons.csv",
    "gpt3-crowd-comparisons.csv",
    "gpt4-crowd-comparisons.csv",
];

#[test]
fn votes_on_language_models() {
    let folder = data("llmfao");
    let found = rated(&folder, &[&["--system", "bradley-terry"], &VOTES[..]].concat());
    let board = &found["boards"][0];
    let competitors = board["competitors"].as_array().unwrap();
    assert_eq!((competitors.len(), &board["input"]["matches"]), (59, &4866.into()));
    for (line, (name, points)) in competitors.iter().zip([
        ("GPT 4", 1_882.428_782),
        ("Platypus-2 Instruct (70B)", 1_758.084_826),
        ("GPT 3.5 Turbo", 1_748.955_340),
    ]) {
        assert!(line["name"] == name && is_near(&line["points"], points), "{line}");
        assert!(line["group"] == 1 && line["interval"]["low"].as_f64() < Some(points), "{line}");
    }
    assert!(is_near(&board["tie"], 1.913_999));
    let judges = &found["judges"];
    assert_eq!((&judges["pairs"], &judges["pairs_without_majority"]), (&1165.into(), &145.into()));
    let counts = |judge: &Value| {
        ["same_outcome", "same_winner"].map(|share| {
            let count = |name: &str| judge[share][name].as_u64().unwrap();
            (count("agreed"), count("compared"))
        })
    };
    assert_eq!(counts(&judges["people"]), [(2695, 4092), (1308, 1656)]);
    assert_eq!(counts(&judges["judges"][0]), [(338, 1020), (290, 463)]);
    assert_eq!(counts(&judges["judges"][1]), [(393, 1020), (370, 493)]);
}

#[test]
fn votes_on_one_pair_of_answers_go_together() {
    let folder = data("llmfao");
    let width = |flags: &[&str]| {
        let found = rated(&folder, &[&["--system", "bradley-terry"], flags, &VOTES[..]].concat());
        let interval = found["boards"][0]["competitors"][0]["interval"].clone();
        interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap()
    };
    let share = width(&["--bootstrap", "--resamples", "200"]) / width(&[]);
    assert!((1.1..1.5).contains(&share), "{share}");
}

#[test]
fn games_of_chess() {
    let folder = data("lichess-encounters");
    let columns = ["--columns", "first=white,second=black,time=utc_date_time", "encounters.csv"];
    for system in ["glicko2", "weng-lin", "bradley-terry"] {
        let part: &[&str] = if system == "bradley-terry" { &["--component", "largest"] } else { &[] };
        let found = rated(&folder, &[&["--system", system, "--holdout", "0.2"], part, &columns[..]].concat());
        let board = &found["boards"][0];
        let left_out = board["left_out"]["competitors"].as_array().unwrap().len();
        assert_eq!(board["competitors"].as_array().unwrap().len() + left_out, 177);
        let holdout = &board["holdout"];
        let counts = ["predicted_matches", "skipped_unknown", "skipped_incomparable"];
        assert_eq!(counts.iter().map(|name| holdout[name].as_u64().unwrap()).sum::<u64>(), 100);
        assert_eq!((&holdout["trained_matches"], &holdout["skipped_unknown"]), (&400.into(), &40.into()));
    }
}

#[test]
fn results_of_football() {
    let folder = data("international-football");
    let columns = "first=home_team,second=away_team,first_score=home_score,second_score=away_score,time=date";
    let rated = |system: &str| {
        rated(&folder, &["--system", system, "--holdout", "0.2", "--columns", columns, "results.csv"])
    };
    let found = rated("glicko2");
    let holdout = &found["boards"][0]["holdout"];
    assert_eq!((&holdout["trained_matches"], &holdout["predicted_matches"]), (&5325.into(), &1300.into()));
    let forecasts = holdout["forecasts"].as_array().unwrap();
    assert!(is_near(&forecasts[0]["log_loss"], 0.678_650), "{holdout}");
    assert!(is_near(&forecasts[1]["log_loss"], 0.633_101), "{holdout}");
    assert!(forecasts[2]["beside_elo"]["high"].as_f64() < Some(0.0), "{holdout}");

    // Some teams never lost, some never won a point: not every team has a strength.
    let arguments = ["rate", "--system", "bradley-terry", "--columns", columns, "results.csv"];
    let run = finish(program(&folder).args(arguments), "");
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("of 294 competitors, at most 277 can be rated together"), "{}", run.stderr);
}
