//! `karat standing`: screens, JSON, and every problem that items and events can have.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Run, example, karat, karat_reading, root};

const CARD: &str = "examples/cards/support-agent.toml";
const AGENTS: &str = "examples/standing/agents.jsonl";
const EVENTS: &str = "examples/standing/events.jsonl";
const MOMENT: &str = "2026-03-10T00:00:00Z";

fn standing(arguments: &[&str]) -> Run {
    karat(&[&["standing", "-c", CARD, "--as-of", MOMENT], arguments].concat())
}

/// Runs `karat standing` with evaluations on standard input.
fn reading(arguments: &[&str], text: &str) -> Run {
    karat_reading(&[&["standing", "-c", CARD, "--as-of", MOMENT], arguments].concat(), text)
}

fn lines(run: &Run) -> Vec<Value> {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn fits(run: &Run) {
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.trim_end() == line), "{}", run.stdout);
}

#[test]
fn one_subject_is_shown_in_full_at_once_and_from_its_line() {
    let folder = Folder::new();
    let written = standing(&["--json", "--events", EVENTS, AGENTS]);
    folder.write("standings.jsonl", &written.stdout);
    let path = folder.path().join("standings.jsonl");
    let path = path.to_str().unwrap();
    for subject in ["heron", "ibis", "kestrel", "wren"] {
        let run = standing(&["--table", "--events", EVENTS, "-s", subject, AGENTS]);
        fits(&run);
        insta::assert_snapshot!(format!("detail_{subject}"), run.screen());
        let explained = karat(&["explain", "--table", path, "-s", subject]);
        let kept = "as it was written; `karat standing` with the same items computes it again\n";
        assert!(explained.stdout.contains(kept), "{}", explained.stdout);
        assert!(explained.stdout.replace(kept, "").starts_with(&run.stdout), "{}", explained.stdout);
        let json = karat(&["explain", "--json", path, "-s", subject]);
        assert!(written.stdout.contains(&json.stdout), "the same line");
    }
    let blocked = karat(&["explain", "--table", path, "-s", "heron"]).stdout;
    assert!(
        blocked.contains("Not gold yet, for one reason\n  number of evaluations is 4, needs 5 or more\n")
    );
}

#[test]
fn a_page_says_what_the_screen_says() {
    let folder = Folder::new();
    let path = folder.path().join("page.html");
    let path = path.to_str().unwrap();
    let run = standing(&["--table", "--events", EVENTS, "--html", path, AGENTS]);
    assert_eq!((run.status, run.stdout), (0, standing(&["--table", "--events", EVENTS, AGENTS]).stdout));
    let page = fs::read_to_string(path).unwrap();
    for part in ["only number of evaluations is 4, needs 5 or more", "925 points pending review", "Over time"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_line_says_all_that_it_takes_to_compute_it_again() {
    let found = lines(&standing(&["--events", EVENTS, AGENTS]));
    let ibis = found.iter().find(|line| line["subject"] == "ibis").unwrap();
    assert_eq!(ibis["schema"], "karat/standing/2");
    assert_eq!(ibis["as_of"], MOMENT);
    assert_eq!((&ibis["points"], &ibis["gating_points"]), (&json!(573), &json!(573)));
    assert_eq!(ibis["review"]["held"]["points"], 925);
    assert_eq!(ibis["review"]["refusals"][0]["line"], 4);
    let digest = karat_core::facts::Digest::of(&fs::read(root().join(EVENTS)).unwrap());
    assert_eq!(ibis["events_digest"], digest.to_string());
    let window: Vec<&str> =
        ibis["window"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(window, ["ibis-1", "ibis-2", "ibis-3"]);
    let lines: String = ibis["window"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| format!("{} {}\n", it["digest"].as_str().unwrap(), it["id"]))
        .collect();
    assert_eq!(ibis["items"]["digest"], karat_core::facts::Digest::of(lines.as_bytes()).to_string());
}

#[test]
fn a_decision_lets_a_held_score_pass() {
    let folder = Folder::new();
    let held = lines(&standing(&["-s", "ibis", AGENTS]))[0]["review"]["held"].clone();
    let path = folder.path().join("events.jsonl");
    let decided = |seen: Value| {
        let mut decision = json!({
            "event": "decided", "subject": "ibis", "time": "2026-03-09T10:00:00Z", "reviewer": "board",
            "verdict": "approve", "reason": "seen again on new tickets",
        });
        decision["seen"] = seen;
        folder.write("events.jsonl", &decision.to_string());
        lines(&standing(&["--events", path.to_str().unwrap(), "-s", "ibis", AGENTS]))
    };
    let other = karat_core::facts::Digest::of(b"another score").to_string();
    for (seen, why) in [(Value::Null, "does not say which score"), (json!(other), "another score waits")] {
        let review = decided(seen)[0]["review"].clone();
        assert_eq!((&review["held"], &review["refusals"][0]["line"]), (&held, &json!(1)));
        assert!(review["refusals"][0]["reason"].as_str().unwrap().contains(why), "{review}");
    }
    let found = decided(held["digest"].clone());
    assert_eq!((&found[0]["points"], &found[0]["tier"]["held"]), (&json!(925), &json!("silver")));
    let states: Vec<&str> = found[0]["review"]["transitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["committed", "committed", "pending_review", "approved", "committed"]);
}

#[test]
fn items_after_the_moment_are_left_out_and_told() {
    let run = karat(&[
        "standing", "-c", CARD, "--as-of", "2026-02-11T00:00:00Z", "--events", EVENTS, "--table", AGENTS,
    ]);
    assert!(run.stdout.contains("7 items left out, after the moment"), "{}", run.stdout);
    assert!(run.stdout.contains("2 events after this time left out"), "{}", run.stdout);
    assert!(!run.stdout.contains("wren"), "none of its items is there yet");
}

#[test]
fn what_is_wrong_with_items_is_told() {
    let item = |id: &str, rest: &str| format!("{{\"subject\":\"a\",\"id\":\"{id}\",\"accuracy\":0.5{rest}}}");
    let timeless = reading(&[], &item("1", ""));
    assert_eq!(timeless.status, 1);
    assert!(timeless.stderr.contains("no item says when it took place"), "{}", timeless.stderr);
    let time = ",\"time\":\"2026-01-01T00:00:00Z\"";
    let mixed = reading(&[], &format!("{}\n{}", item("1", time), item("2", "")));
    assert_eq!(mixed.status, 0, "{}", mixed.stderr);
    let lines: Value = serde_json::from_str(&mixed.stdout).unwrap();
    assert_eq!(
        (&lines["items"]["given"], &lines["items"]["without_time"]),
        (&1.into(), &serde_json::json!(["2"]))
    );
    let twice = reading(&[], &format!("{}\n{}", item("1", time), item("1", &format!("{time},\"safety\":1"))));
    assert!(twice.stderr.contains("two items `1` that differ"), "{}", twice.stderr);
    let trace = karat(&["standing", "-c", "trace", "--as-of", MOMENT, "examples/trace/finance-demo.json"]);
    assert_eq!((trace.status, trace.stdout.as_str()), (1, ""));
    let missing = standing(&["-s", "hern", AGENTS]);
    assert!(missing.stderr.contains("did you mean `heron`?"), "{}", missing.stderr);
    let without = karat(&["standing", "-c", CARD, AGENTS]);
    assert_eq!(without.status, 2);
    assert!(without.stderr.contains("--as-of"), "{}", without.stderr);
    let few = standing(&["-c", "examples/cards/task-run.toml", "examples/leaderboard/runs.csv"]);
    assert_ne!(few.status, 0);
}

#[test]
fn what_is_wrong_with_events_is_told_at_once() {
    let folder = Folder::new();
    let text = [
        "{\"event\":\"decided\",\"subject\":\"ibis\"}",
        "{\"event\":\"decidd\"}",
        "not JSON",
        "{\"event\":\"hold-placed\",\"subject\":\"ibis\",\"time\":\"yesterday\"}",
        "",
        "{\"event\":\"operated\",\"subject\":\"ibis\",\"operator\":\"acme\",\"since\":1}",
        "{\"event\":\"weights-proposed\",\"time\":\"2026-01-01T00:00:00Z\",\"id\":\"p\",\"proposer\":\"x\",\"reason\":\"r\",\"weights\":{\"accuracy\":0.12345678}}",
    ];
    folder.write("events.jsonl", &text.join("\n"));
    let path = folder.path().join("events.jsonl");
    let run = standing(&["--events", path.to_str().unwrap(), AGENTS]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""));
    insta::assert_snapshot!(run.stderr.replace(path.to_str().unwrap(), "events.jsonl"));

    let text = [
        "{\"event\":\"operated\",\"subject\":\"hern\",\"operator\":\"acme\"}",
        "{\"event\":\"operated\",\"subject\":\"ibis\",\"operator\":\"acme\"}",
        "{\"event\":\"operated\",\"subject\":\"ibis\",\"operator\":\"other\"}",
    ];
    folder.write("events.jsonl", &text.join("\n"));
    let run = standing(&["--events", path.to_str().unwrap(), AGENTS]);
    assert!(run.stderr.contains("there is no item of `hern`; did you mean `heron`?"), "{}", run.stderr);
    assert!(run.stderr.contains("`ibis` is operated by `acme` and by `other`"), "{}", run.stderr);
    folder.write("events.jsonl", "{\"event\":\"ran\",\"subject\":\"ibis\",\"id\":\"x\",\"runner\":\"lab\"}");
    let run = standing(&["--events", path.to_str().unwrap(), AGENTS]);
    assert!(run.stderr.contains("events.jsonl:1: `ibis` has no item `x`"), "{}", run.stderr);
}

#[test]
fn a_name_cannot_steer_the_terminal_and_another_version_is_refused() {
    let item = "{\"subject\":\"red\",\"id\":\"1\",\"accuracy\":0.5,\"time\":\"2026-01-01T00:00:00Z\"}";
    let hidden = item.replace("red", "\\u001b[31mred");
    let refused = reading(&["--table"], &hidden);
    assert!(refused.status == 1 && !refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
    // A record may say anything.
    let record = karat_reading(&["score", "--card", "examples/cards/support-agent.toml"], item).stdout;
    let run = reading(&["--table"], &record.replace("\"red\"", "\"\\u001b[31mred\""));
    assert!(run.status == 0 && !run.stdout.contains('\u{1b}'), "{}{}", run.stdout, run.stderr);
    let other =
        karat_reading(&["explain", "--table", "-"], "{\"schema\":\"karat/standing/9\",\"subject\":\"a\"}");
    assert_eq!(other.status, 1);
    assert!(other.stderr.contains("this version of karat reads `karat/standing/2`"), "{}", other.stderr);
    let odd = karat_reading(
        &["explain", "--table", "-"],
        "{\"schema\":\"karat/standing/2\",\"tier\":7,\"history\":{}}",
    );
    assert_eq!(odd.status, 1);
    assert!(odd.stderr.contains("this is not a standing of `karat/standing/2`"), "{}", odd.stderr);
}

#[test]
fn items_that_cannot_count_are_told() {
    let card = "examples/cards/task-run.toml";
    let runs = example("leaderboard/runs.csv").replacen("solved", "solvd", 1);
    let run = karat_reading(
        &["standing", "-c", card, "--as-of", "2026-06-01T00:00:00Z", "--table", "--level", "0.57"],
        &runs,
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    for said in [
        "; 57% intervals (Gaffke)", "no item has a value of `solved`, `thrift` and `speed`",
        "not counted for want of a score: 231 items",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
}
