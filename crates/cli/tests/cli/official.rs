//! The official score on leaderboards: its moment, its parts, and selections without one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use serde_json::Value;

use crate::common::{Folder, Run, karat};

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

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "solved"
version = "1.0.0"
title = "Solved"
evidence = "facts"
facts = { solved = { min = 0, max = 1 } }
dimension = [{ key = "solved", weight = 1 }]
standing = { score = "window", window = WINDOW }
"#;

/// A card whose window is by number follows order; a plain one does not, and has the mean over tasks. No number is of a part.
#[test]
fn items_without_a_time_count_or_their_subject_has_no_score_at_any_door() {
    let folder = Folder::new();
    let some = "id,subject,time,solved\na1,ant,2026-01-01T00:00:00Z,0.2\na2,ant,,1\nb1,bee,2026-01-02T00:00:00Z,0.4\n";
    let all = some.replace(",,", ",2026-01-01T00:00:00Z,");
    let none = some.replace("2026-01-01T00:00:00Z", "").replace("2026-01-02T00:00:00Z", "");
    for window in ["{ tasks = 100 }", "{}"] {
        folder.write("card.toml", &CARD.replace("WINDOW", window));
        for (table, is_mixed) in [(some, true), (&all, false), (&none, false)] {
            folder.write("runs.csv", table);
            let json = folder.karat(&["leaderboard", "-c", "card.toml", "runs.csv", "--json"]).stdout;
            let found: Value = serde_json::from_str(&json).unwrap();
            let board = &found["leaderboards"][0];
            assert_eq!(board["by"], "official", "{board}");
            let shown = folder
                .karat(&["leaderboard", "-c", "card.toml", "runs.csv", "--table", "--html", "page.html"]);
            let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
            let standing =
                ["standing", "-c", "card.toml", "runs.csv", "--table", "--as-of", "2026-02-01T00:00:00Z"];
            let standing = folder.karat(&standing).stdout;
            let is_spoilt = is_mixed && window != "{}";
            for door in [&shown.stdout, &page, &standing] {
                let text = door.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(text.contains("items of it have no time"), is_spoilt, "{door}");
            }
            let of_ant = board["rows"].as_array().unwrap().iter().find(|row| row["subject"] == "ant");
            match of_ant {
                Some(row) => assert_eq!((&row["official"]["points"], is_spoilt), (&0.6.into(), false)),
                None => assert_eq!((&board["unranked"][0]["why"], is_spoilt), (&"without-time".into(), true)),
            }
        }
    }
}

/// Under every rule the leaderboard has the interval of the standing, it holds the number beside it, and `--on low` looks at it alone.
#[test]
fn a_number_has_one_interval_at_every_door() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..24)
        .map(|at| {
            let (subject, task) = (["ant", "bee", "cow"][at % 3], [0, 0, 1, 2, 3, 3, 4, 5][at / 3]);
            let task = if subject == "cow" { 0 } else { task };
            let solved = if at % 5 == 0 { "0.25" } else { "0.9" };
            format!("{at},{subject},t{task},2026-01-{:02}T00:00:00Z,{solved}\n", at + 1)
        })
        .collect();
    folder.write("runs.csv", &format!("id,subject,task,time,solved\n{}", rows.concat()));
    for (rules, of) in [
        ("window = {}", "official"),
        ("window = { tasks = 5 }", "official"),
        ("window = { tasks = 4, distinct = true }", "official"),
        (
            "window = { days = 12 }\ngate = { dimension = \"solved\", step = [{ below = 0.99, cap = 61 }] }",
            "official",
        ),
        ("window = {}\nreview = { swing_points = 50 }", "candidate"),
        ("score = \"latest\"\ndecay = {}", "newest-values"),
    ] {
        let score = if rules.starts_with("score") { "" } else { "score = \"window\"\n" };
        let (head, _) = CARD.split_once("standing = ").unwrap();
        let scale = "scale = { max = 100, publish = \"half-up\", places = 2 }";
        folder.write("card.toml", &format!("{head}{scale}\n[standing]\n{score}{rules}\n"));
        let asked = |words: &str| {
            let words = format!("{words} -c card.toml runs.csv --as-of 2026-01-25T00:00:00Z");
            folder.karat(&words.split_whitespace().collect::<Vec<_>>())
        };
        let stands = asked("standing --json").stdout;
        for method in ["pairs", "means"] {
            let found: Value =
                serde_json::from_str(&asked(&format!("leaderboard --json --method {method}")).stdout)
                    .unwrap();
            let rows = found["leaderboards"][0]["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 3, "{rules}: {found}");
            for line in stands.lines() {
                let standing: Value = serde_json::from_str(line).unwrap();
                let row = rows.iter().find(|row| row["subject"] == standing["subject"]).unwrap();
                let of = if standing["subject"] == "cow" && of != "newest-values" { "few-tasks" } else { of };
                assert_eq!(
                    (&row["official"]["interval_of"], &standing["interval_of"]),
                    (&of.into(), &of.into()),
                    "{rules}"
                );
                let interval = &standing["interval"];
                assert_eq!(
                    (&row["score"]["low"], &row["score"]["high"]),
                    (&interval["low"], &interval["high"]),
                    "{rules}"
                );
                let number = |value: &Value| value.as_f64();
                if of == "official" {
                    let points = number(&standing["points"]).unwrap();
                    assert!(
                        number(&interval["low"]).unwrap() <= points
                            && points <= number(&interval["high"]).unwrap()
                    );
                }
                // At the low end itself it passes, and a hundredth above it fails; without an interval nothing is known.
                let name = standing["subject"].as_str().unwrap();
                let points = number(&standing["points"]).unwrap();
                let low = number(&interval["low"]).map(|low| low.min(points));
                let gate = |least: f64| {
                    asked(&format!(
                        "leaderboard --method {method} --subject {name} --on low --fail-under {least:.2}"
                    ))
                    .status
                };
                match low {
                    Some(low) => assert_eq!((gate(low), gate(low + 0.01)), (0, 10), "{rules}: {row}"),
                    None => assert_eq!((gate(points), gate(points + 0.01)), (12, 10), "{rules}: {row}"),
                }
            }
        }
    }
}

#[test]
fn a_card_may_ask_for_distinct_tasks() {
    let folder = Folder::new();
    folder.write(
        "runs.jsonl",
        "{\"subject\":\"ant\",\"id\":\"1\",\"task\":\"hard\",\"solved\":0}\n\
         {\"subject\":\"ant\",\"id\":\"2\",\"task\":\"easy\",\"solved\":0.5}\n\
         {\"subject\":\"ant\",\"id\":\"3\",\"task\":\"easy\",\"solved\":1}\n\
         {\"subject\":\"ant\",\"id\":\"4\",\"task\":\"easy\",\"solved\":0.9}\n",
    );
    // The last three are (0.5 + 1 + 0.9) / 3; by task the newest of both, (0 + 0.9) / 2.
    for (window, points, step) in
        [("{ tasks = 3 }", 0.8, "window"), ("{ tasks = 3, distinct = true }", 0.45, "tasks")]
    {
        folder.write("card.toml", &CARD.replace("WINDOW", window));
        let check = folder.karat(&["card", "check", "card.toml"]);
        assert_eq!(check.status, 0, "{}", check.screen());
        let json = folder.karat(&["leaderboard", "-c", "card.toml", "runs.jsonl", "--json"]).stdout;
        let found: Value = serde_json::from_str(&json).unwrap();
        let official = &found["leaderboards"][0]["rows"][0]["official"];
        assert_eq!(
            (&official["points"], &official["bridge"][1]["step"]),
            (&points.into(), &step.into()),
            "{official}"
        );
        let standing =
            folder.line("standing -c card.toml runs.jsonl --json --as-of 2026-02-01T00:00:00Z").stdout;
        let standing: Value = serde_json::from_str(standing.lines().next().unwrap()).unwrap();
        assert_eq!(standing["score"]["published"], points, "{standing}");
        // Nowhere else is it cut to whole points.
        for place in ["/points", "/gating_points", "/gate/points", "/history/0/points", "/history/0/official"]
        {
            assert_eq!(standing.pointer(place).and_then(Value::as_f64), Some(points), "{place}");
        }
    }
}

#[test]
fn means_that_are_not_decayed_say_so_at_every_door() {
    let said = "not decayed to one moment";
    let verbs: [&[&str]; 4] = [
        &["leaderboard", "--by", "mean"],
        &["leaderboard", "--by", "accuracy"],
        &["leaderboard"],
        &["compare", "ibis", "kestrel"],
    ];
    for verb in verbs {
        for (moment, decay, is_said) in [(None, "own", true), (Some("2026-06-30T00:00:00Z"), "as-of", false)]
        {
            let moment: Vec<&str> = moment.iter().flat_map(|at| ["--as-of", at]).collect();
            let ask = |flags: &[&str]| karat(&[verb, &AGENTS[..], &moment, flags].concat());
            let json: Value = serde_json::from_str(&ask(&["--json"]).stdout).unwrap();
            assert_eq!(json["decay"], decay, "{verb:?}");
            let shown = ask(&["--table"]).stdout;
            assert_eq!(shown.contains(said), is_said, "{verb:?} {moment:?}: {shown}");
        }
    }
    // A card without decay says nothing of it.
    let runs = ["leaderboard", "-c", "examples/cards/task-run.toml", "examples/leaderboard/runs.csv"];
    assert!(!karat(&[&runs[..], &["--table"]].concat()).stdout.contains(said));
    let json: Value = serde_json::from_str(&karat(&[&runs[..], &["--json"]].concat()).stdout).unwrap();
    assert_eq!(json["decay"], Value::Null);
}

/// The values by dimension beside an official score are parts of that score, also while another one is held; the middle over the
/// field is of them, and by the mean of runs of the means.
#[test]
fn values_by_dimension_and_their_middle_are_of_the_number_that_is_ranked() {
    let middle = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
    };
    let as_of = ["--as-of", "2026-03-10T00:00:00Z"];
    let flags = [&EVENTS[..], &as_of].concat();
    let lines = karat(&[&["standing"], &AGENTS[..], &flags, &["--json"]].concat()).stdout;
    let standings: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(standings.iter().any(|it| !it["review"]["held"].is_null()), "a score is held");
    let (by_official, by_mean) = (board(&flags), board(&["--by", "mean"]));
    let ranked = |board: &Value| board["rows"].as_array().unwrap().clone();
    for row in ranked(&by_official) {
        let standing = standings.iter().find(|it| it["subject"] == row["subject"]).unwrap();
        let official = &standing["review"]["official"];
        let parts = official["dimensions"].as_array().unwrap();
        for part in parts {
            assert_eq!(row["official"]["dimensions"][part["key"].as_str().unwrap()], part["value"]);
        }
        let points: i64 = parts.iter().map(|part| part["points"].as_i64().unwrap()).sum();
        let points = points + official["gate_points"].as_i64().unwrap();
        assert_eq!(
            (Some(points), row["official"]["points"].as_f64()),
            (official["points"].as_i64(), Some(points as f64))
        );
    }
    let values = |board: &Value, of: &dyn Fn(&Value) -> Option<f64>| -> Vec<f64> {
        ranked(board).iter().filter_map(of).collect()
    };
    for key in ["accuracy", "safety", "patience"] {
        let official = values(&by_official, &|row| row["official"]["dimensions"][key].as_f64());
        let means = values(&by_mean, &|row| row["dimensions"][key]["mean"].as_f64());
        assert_ne!(official, means);
        for (board, values) in [(&by_official, official), (&by_mean, means)] {
            let found = board["medians"][key].as_f64().unwrap();
            assert!((found - middle(&values)).abs() < 1e-9, "{key}: {found} of {values:?}");
        }
    }
    // Without comparisons the official score still has its values, and a mean has none.
    let means = board(&[&flags[..], &["--method", "means"]].concat());
    assert_eq!(means["medians"], by_official["medians"]);
    assert_eq!(board(&["--by", "mean", "--method", "means"])["medians"], Value::Null);
}

/// Over files no one vouches for an item.
#[test]
fn items_of_files_are_claimed() {
    let run = ranked(&["--json"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let (items, claimed) = (&found["items"]["count"], &found["items"]["trust"]["claimed"]);
    assert!(items == claimed && items.as_u64() > Some(0), "{items} {claimed}");
}
