//! The official score on leaderboards: its moment, its parts, and selections without one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use serde_json::Value;

use crate::common::{Run, karat};

const AGENTS: [&str; 3] = ["-c", "examples/cards/support-agent.toml", "examples/standing/agents.jsonl"];
const EVENTS: [&str; 2] = ["--events", "examples/standing/events.jsonl"];

fn ranked(flags: &[&str]) -> Run {
    karat(&[&["leaderboard"], &AGENTS[..], flags].concat())
}

fn board(flags: &[&str]) -> Value {
    let run = ranked(&[flags, &["--json"]].concat());
    let found: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.screen()));
    found["leaderboards"][0].clone()
}

fn rows(board: &Value) -> Vec<(String, f64)> {
    let row =
        |row: &Value| (row["subject"].as_str().unwrap().into(), row["official"]["points"].as_f64().unwrap());
    board["rows"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn the_official_score_is_the_standing_at_every_moment() {
    for as_of in
        ["2026-01-15T00:00:00Z", "2026-03-10T00:00:00Z", "2026-06-30T00:00:00Z", "2031-01-01T00:00:00Z"]
    {
        let flags = [&EVENTS[..], &["--as-of", as_of]].concat();
        let board = board(&flags);
        assert_eq!((&board["by"], &board["as_of"]), (&"official".into(), &as_of.into()));
        let lines = karat(&[&["standing"], &AGENTS[..], &flags, &["--json"]].concat()).stdout;
        let mut standings: Vec<(String, f64)> = lines
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter_map(|it| Some((it["subject"].as_str()?.to_owned(), it["points"].as_f64()?)))
            .collect();
        standings.sort_by(|one, two| two.1.total_cmp(&one.1));
        assert_eq!(rows(&board), standings, "{as_of}");
        for row in board["rows"].as_array().unwrap() {
            let bridge = row["official"]["bridge"].as_array().unwrap();
            assert_eq!(bridge[0]["step"], "runs");
            assert_eq!(bridge.last().unwrap()["points"], row["official"]["points"]);
        }
    }
}

#[test]
fn without_a_moment_it_is_that_of_the_newest_item() {
    let newest = board(&EVENTS)["as_of"].as_str().unwrap().to_owned();
    assert_eq!(newest, "2026-03-08T09:00:00Z");
    let said = board(&[&EVENTS[..], &["--as-of", &newest]].concat());
    assert_eq!(rows(&board(&EVENTS)), rows(&said));
}

/// A part of the items, groups of them, or other rules: another number, which is not the official one.
#[test]
fn a_selection_is_ranked_by_the_mean_of_runs_and_says_so() {
    let selections: [&[&str]; 5] = [
        &["--where", "subject!=ibis"],
        &["--since", "2026-01-01T00:00:00Z"],
        &["--until", "2026-03-01T00:00:00Z"],
        &["--group-by", "subject"],
        &["--count", "no-verdict=failure"],
    ];
    for selection in selections {
        let found = board(selection);
        assert_eq!(found["by"], "mean", "{selection:?}");
        assert_eq!(found["rows"][0]["official"], Value::Null);
        let why = found["without_official"].as_str().unwrap();
        assert!(why.starts_with("an official score "), "{selection:?}: {why}");
        let shown = ranked(&[selection, &["--table"]].concat()).stdout;
        assert!(shown.contains("by the mean of runs and not by official score"), "{shown}");
        let refused = ranked(&[selection, &["--by", "official"]].concat());
        assert_eq!(refused.status, 1);
        assert!(refused.stderr.contains("--by mean"), "{}", refused.stderr);
    }
    let mean = board(&["--by", "mean"]);
    assert_eq!((&mean["by"], &mean["without_official"]), (&"mean".into(), &Value::Null));
}

#[test]
fn a_card_without_standings_has_none() {
    let trace = ["-c", "trace", "examples/trace/error-recovery.json"];
    let plain = karat(&[&["leaderboard", "--json"], &trace[..]].concat());
    let found: Value = serde_json::from_str(&plain.stdout).unwrap();
    let board = &found["leaderboards"][0];
    assert_eq!((&board["by"], &board["without_official"]), (&"mean".into(), &Value::Null));
    let refused = karat(&[&["leaderboard", "--by", "official"], &trace[..]].concat());
    assert!(refused.stderr.contains("no section [standing]"), "{}", refused.stderr);
}

/// The trust card needs to know when; these items do not say.
#[test]
fn without_any_time_runs_are_ranked_and_the_reason_is_given() {
    let trust = ["leaderboard", "-c", "trust", "examples/trust/security.jsonl", "--json"];
    let found: Value = serde_json::from_str(&karat(&trust).stdout).unwrap();
    let board = &found["leaderboards"][0];
    assert_eq!(board["by"], "mean");
    assert!(
        board["without_official"].as_str().unwrap().contains("no item says when it took place"),
        "{board}"
    );
}
