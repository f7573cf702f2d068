//! Screens, as reviewed snapshots.

use crate::common::{Folder, Run, example, finish, karat, karat_reading, program};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Runs a command line without quotes.
fn line(text: &str) -> Run {
    karat(&text.split_whitespace().collect::<Vec<_>>())
}

macro_rules! screen {
    ($text:literal) => {
        assert_snapshot!(line($text).screen())
    };
}

#[test]
fn the_help() {
    screen!("--help");
}

#[test]
fn the_waterfall_of_a_match() {
    screen!("explain --table --card log-forensics examples/arena/documented-823.json");
}

#[test]
fn the_waterfall_of_a_rule_and_a_default() {
    screen!("explain --table --card trace examples/trace/error-recovery.json");
}

#[test]
fn the_waterfall_of_narrow_coverage() {
    screen!("explain --table --card trust examples/trust/coverage.jsonl --subject agent-four-of-sixteen");
}

#[test]
fn the_waterfall_where_no_reading_is_enough() {
    screen!("explain --table --card trust examples/trust/security.jsonl --subject agent-critical-incident");
}

const LEVELS: &str = r#"
schema = "karat/scorecard/1"
id = "levels"
version = "1.0.0"
title = "Levels"
evidence = "facts"
mean = "weighted-sum"
scale = { max = 100, publish = "floor", places = 1 }
[facts]
quality = { min = 0, max = 1 }
speed = { min = 0, max = 1 }
[[dimension]]
key = "quality"
label = "Quality of work"
weight = 0.7
missing = "zero"
[[dimension]]
key = "speed"
weight = 0.3
[[gate]]
name = "hasty"
when = "speed > 0.9"
cap = 60
[[band]]
name = "draw"
from = 0
[[band]]
name = "win"
from = 70
"#;

#[test]
fn the_nearest_change_in_words() {
    let folder = Folder::new();
    folder.write("card.toml", LEVELS);
    let nearest = |quality: &str, speed: &str| {
        let item = format!("{{\"subject\":\"a\",\"quality\":{quality},\"speed\":{speed}}}\n");
        folder.write("item.jsonl", &item);
        let run = folder.karat(&["explain", "--table", "--card", "card.toml", "item.jsonl"]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        let (_, after) = run.stdout.split_once("Nearest\n")?;
        after.lines().next().map(|line| line.trim().to_owned())
    };
    // 0.7 q + 0.27 reaches 0.7 at 0.43 / 0.7, rounded up to the grid.
    let raise = "raise Quality of work from 0.6 to 0.614285715 for 70, band win";
    assert_eq!(nearest("0.6", "0.9").as_deref(), Some(raise));
    assert_eq!(nearest("0.8", "0.95").as_deref(), Some("lower speed from 0.95 to 0.9 for 83, band win"));
    let measure = "measure Quality of work at 0.614285715 for 70, band win";
    assert_eq!(nearest("null", "0.9").as_deref(), Some(measure));
    assert_eq!(nearest("0.1", "0.95").as_deref(), Some("no single dimension can reach win"));
    assert_eq!(nearest("1", "0.5"), None);
}

#[test]
fn the_nearest_change_as_json() {
    let run = line("explain --json --card trust examples/trust/security.jsonl --subject agent-security-weak");
    let explanation: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = json!({
        "key": "security", "name": "security", "from": 0.4, "to": 0.5,
        "kind": "tier", "reaches": "silver", "published": 826,
    });
    assert_eq!(explanation["change"], expected);
}

#[test]
fn a_record_is_compared_with_its_evidence() {
    let folder = Folder::new();
    folder.write("agents.jsonl", &example("trust/coverage.jsonl"));
    folder.write("weights.json", r#"{"accuracy": 0.10, "safety": 0.10}"#);
    let given = ["--override", "weights.json", "--as-of", "2026-01-31T12:00:00Z", "agents.jsonl"];
    let records = folder.karat(&[&["score", "-c", "trust"], &given[..]].concat()).stdout;
    // The second of two: found by its digest.
    folder.write("record.json", records.lines().last().unwrap());
    let screen = folder.karat(&["explain", "--table", "record.json", "--evidence", "agents.jsonl"]);
    assert_eq!((screen.status, screen.stderr.as_str()), (0, ""));
    let says = "the facts in the record\n  those of the evidence: agents.jsonl:2 gives the same\n";
    assert!(screen.stdout.contains(says), "{}", screen.stdout);

    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("bots.csv", "bot,solved,asked,cost_usd,budget_usd\nbot-7,41,50,3.2,5\n");
    let card = ["--card", "mine.toml", "--subject-field", "bot"];
    folder.write("record.json", &folder.karat(&[&["score", "bots.csv"], &card[..]].concat()).stdout);
    for (evidence, expected) in [(&["--evidence", "bots.csv"][..], json!(true)), (&[], json!(null))] {
        let run = folder.karat(&[&["explain", "record.json"], evidence, &card].concat());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        let explanation: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&explanation["verified"], &explanation["from_evidence"]), (&json!(true), &expected));
    }
}

#[test]
fn colour_is_there_when_asked_for() {
    let run = line("--color always explain --table -c log-forensics examples/arena/documented-823.json");
    assert!(run.stdout.contains("\u{1b}[1m"), "{}", run.stdout);
    let plain = line("--color never explain --table -c log-forensics examples/arena/documented-823.json");
    assert!(!plain.stdout.contains('\u{1b}'), "{}", plain.stdout);
}

#[test]
fn the_list_of_cards() {
    screen!("card list");
}

#[test]
fn a_card_in_full() {
    screen!("card show trust");
}

#[test]
fn a_card_as_its_file() {
    let run = karat(&["card", "show", "--toml", "workflow"]);
    let file = std::fs::read_to_string(crate::common::root().join("scorecards/workflow/1.0.0.toml")).unwrap();
    assert_eq!((run.status, run.stdout), (0, file));
}

#[test]
fn a_new_card_is_written_once() {
    let folder = Folder::new();
    let first = folder.karat(&["card", "new", "my-bot", "--out", "my-bot.toml"]);
    assert_eq!((first.status, first.stderr.as_str()), (0, ""), "{}", first.stdout);
    let second = folder.karat(&["card", "new", "my-bot", "--out", "my-bot.toml"]);
    assert_snapshot!(second.screen());
}

#[test]
fn unread_fields_are_named_once() {
    let folder = Folder::new();
    folder.write("card.toml", &karat(&["card", "new", "mine"]).stdout);
    let line = "{\"subject\":\"a\",\"solved\":1,\"asked\":2,\"solvd\":1}\n";
    folder.write("a.jsonl", &line.repeat(3));
    let run = folder.karat(&["score", "-c", "card.toml", "a.jsonl"]);
    assert_eq!(run.stdout.lines().count(), 3);
    assert_snapshot!(run.stderr);
}

#[test]
fn weights_from_outside() {
    let folder = Folder::new();
    folder.write("weights.json", r#"{"accuracy": 0.10, "safety": 0.10}"#);
    folder.write("heavy.json", r#"{"accuracy": 0.50}"#);
    folder.write("agents.jsonl", &example("trust/coverage.jsonl"));
    let run = folder.line("score --table -c trust@1.0.0 --override weights.json agents.jsonl");
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    assert_snapshot!(
        folder
            .karat(&["score", "--table", "-c", "trust@1.0.0", "--override", "heavy.json", "agents.jsonl"])
            .screen()
    );
    let record =
        folder.karat(&["score", "-c", "trust@1.0.0", "--override", "weights.json", "agents.jsonl"]).stdout;
    let first = record.lines().next().unwrap();
    let verified = karat_reading(&["explain", "--table"], first);
    assert!(verified.stdout.contains("verified"), "{}", verified.screen());
}

#[test]
fn the_portable_instructions_give_the_same_bytes() {
    let arguments =
        ["score", "--card", "trust", "examples/trust/coverage.jsonl", "examples/trust/security.jsonl"];
    let portable = karat(&[&arguments[..], &["--portable"]].concat());
    assert_eq!(portable.status, 0, "{}", portable.stderr);
    assert_eq!(portable.stdout, karat(&arguments).stdout);
}

#[test]
fn the_moment_goes_into_the_record_and_is_verified_with_it() {
    let moment = "2026-01-31T12:00:00Z";
    let record =
        karat(&["score", "--as-of", moment, "-c", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    assert!(record.contains(&format!("{{\"as_of\":\"{moment}\"")), "{record}");
    assert_eq!(karat_reading(&["explain"], &record).status, 0);
}

#[test]
fn a_table_of_ones_own_scores_as_its_json() {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("bots.csv", "subject,solved,asked,cost_usd,budget_usd\nbot-7,41,50,3.2,5\nbot-8,,50,,5\n");
    let run = folder.karat(&["score", "--table", "-c", "mine.toml", "bots.csv"]);
    assert_snapshot!(run.screen());
}

#[test]
fn what_a_reader_remarks_is_told_in_a_pipe_and_in_a_table() {
    let folder = Folder::new();
    let text = example("workflow/closed-gate.json");
    let without_budget = text.replace("\"max_budget_tao\": 0.05", "\"max_budget_tao\": 0");
    assert_ne!(text, without_budget);
    folder.write("run.json", &without_budget);
    let piped = folder.karat(&["score", "-c", "workflow", "run.json"]);
    assert_eq!((piped.status, piped.stdout.lines().count()), (0, 1));
    let table = folder.karat(&["score", "--table", "-c", "workflow", "run.json"]);
    assert_snapshot!(format!("{}\n{}", piped.stderr, table.screen()));
}

#[test]
fn a_table_may_come_through_a_pipe() {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    let table = "subject,solved,asked,cost_usd,budget_usd\nbot-7,41,50,3.2,5\n";
    folder.write("bots.csv", table);
    let from_file = folder.karat(&["score", "--json", "--card", "mine.toml", "bots.csv"]);
    let piped = finish(program(folder.path()).args(["score", "--json", "--card", "mine.toml", "-"]), table);
    // A row without an id is named by where it stands, so that is all that differs.
    let renamed = from_file.stdout.replace("\"id\":\"bots.csv:2\"", "\"id\":\"-:2\"");
    assert_ne!(renamed, from_file.stdout);
    assert_eq!((piped.status, piped.stdout.as_str()), (0, renamed.as_str()), "{}", piped.stderr);
}
