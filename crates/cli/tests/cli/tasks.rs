//! `karat standing --tasks`: the screen, the lines, challenges of a family, and what is refused.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use serde_json::{Value, json};

use crate::common::{Run, karat, karat_reading, root};

const CARD: &str = "examples/cards/practice.toml";
const RUNS: &str = "examples/standing/practice.csv";
const MOMENT: &str = "2026-06-09T00:00:00Z";

fn standing(arguments: &[&str]) -> Run {
    karat(&[&["standing", "--tasks", "--as-of", MOMENT], arguments].concat())
}

fn reading(arguments: &[&str], text: &str) -> Run {
    karat_reading(&[&["standing", "--tasks", "--as-of", MOMENT], arguments].concat(), text)
}

fn lines(run: &Run) -> Vec<Value> {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn fits(run: &Run) {
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.trim_end() == line), "{}", run.stdout);
}

/// Returns 30 matches at a challenge; every tenth ran out of time, and of those played every second is won.
fn matches(challenge: &str) -> String {
    let one = |number: u32| {
        let is_stopped = number % 10 == 9;
        let points = if number.is_multiple_of(2) { 900 } else { 500 };
        let mut item = json!({
            "match_id": format!("{challenge}-{number}"), "agent_id": format!("agent-{}", number % 3),
            "challenge_slug": challenge, "submitted_at": format!("2026-05-{:02}T10:00:00Z", number + 1),
            "scores": {"correctness": points, "speed": 800}, "verified": false, "memoryless": false,
            "attempt_number": 1,
        });
        if is_stopped {
            item["outcome"] = json!("stopped");
            item["scores"] = json!({});
        }
        item.to_string() + "\n"
    };
    (0..30).map(one).collect()
}

#[test]
fn every_task_has_a_row_and_what_comes_next() {
    let run = standing(&["--table", "-c", CARD, RUNS]);
    fits(&run);
    insta::assert_snapshot!(run.screen());
    // The week is over, and nothing else is known.
    let later = karat(&[
        "standing", "--tasks", "--table", "-c", CARD, "--as-of", "2026-06-11T00:00:00Z", "--where",
        "task=cache-flush", RUNS,
    ]);
    assert!(later.stdout.contains("deprecated since 2026-06-11T00:00:00Z"), "{}", later.stdout);
}

#[test]
fn a_line_has_the_counts_that_led_to_it() {
    let found = lines(&standing(&["-c", CARD, "--level", "0.9", RUNS]));
    let text = fs::read_to_string(root().join(RUNS)).unwrap();
    for line in &found {
        let task = line["task"].as_str().unwrap();
        let of = |outcome: &str| {
            text.lines().filter(|row| row.contains(task) && row.contains(outcome)).count() as u64
        };
        assert_eq!(line["schema"], "karat/task/1");
        assert_eq!(line["won"], of(",succeeded,"), "{task}");
        assert_eq!(line["lost"], of(",failed,"), "{task}");
        assert_eq!(line["items"]["excluded"], of(",no-verdict,"), "{task}");
        assert_eq!(line["items"]["attempts"], of(",stopped,") + of(",succeeded,") + of(",failed,"), "{task}");
        assert_eq!(line["win_rate"]["level"], 0.9);
    }
    let names: Vec<&str> = found.iter().map(|line| line["task"].as_str().unwrap()).collect();
    assert_eq!(names, ["cache-flush", "date-shift", "lock-order", "new-format", "old-build", "parse-log"]);
    assert_eq!(found[3]["calibration"]["difficulty"], Value::Null);
    assert_eq!(found[3]["calibration"]["completed_missing"], 11);
    assert_eq!(found[4]["lifecycle"]["ahead"], json!({"by": "failed", "periods": 4, "status": "deprecated"}));
    let periods = found[5]["lifecycle"]["periods"].as_array().unwrap();
    let after: Vec<&str> = periods.iter().map(|period| period["after"].as_str().unwrap()).collect();
    assert_eq!(after, ["active", "active", "deprecated", "deprecated", "deprecated"]);
}

#[test]
fn challenges_of_a_family_are_judged_by_its_section() {
    let score = |card: &str| karat_reading(&["score", "-c", card], &matches(card)).stdout;
    let (relay, forensics) = (score("cipher-relay"), score("log-forensics"));
    let both = reading(&["--table"], &format!("{relay}{forensics}"));
    fits(&both);
    insta::assert_snapshot!(both.screen());
    assert_eq!(reading(&["--table"], &format!("{forensics}{relay}")).stdout, both.stdout);
    let [only] = lines(&reading(&[], &relay)).try_into().unwrap();
    // 500 and 900 points of correctness and 800 of speed: 620 draws, 860 wins.
    assert_eq!((&only["won"], &only["drawn"], &only["lost"]), (&json!(15), &json!(12), &json!(0)));
    assert_eq!(only["calibration"]["difficulty"], "contender");
    assert_eq!(only["lifecycle"], Value::Null);
}

#[test]
fn without_times_there_are_no_periods_and_that_is_said() {
    let text = fs::read_to_string(root().join(RUNS)).unwrap();
    let cut: Vec<String> = text
        .lines()
        .map(|row| {
            row.split(',')
                .enumerate()
                .filter(|(at, _)| *at != 3)
                .map(|(_, it)| it)
                .collect::<Vec<_>>()
                .join(",")
        })
        .collect();
    let run = reading(&["-c", CARD, "--table", "--where", "task=date-shift"], &cut.join("\n"));
    fits(&run);
    assert!(run.stdout.contains("no item has a time, so periods are unknown"), "{}", run.stdout);
    let [line] =
        lines(&reading(&["-c", CARD, "--where", "task=date-shift"], &cut.join("\n"))).try_into().unwrap();
    assert_eq!((&line["lifecycle"], &line["items"]["by_id"]), (&Value::Null, &json!(true)));
    assert_eq!(line["calibration"]["difficulty"], "contender");
}

#[test]
fn the_help_fits_a_screen() {
    let help = karat(&["standing", "--help"]).stdout;
    assert!(help.lines().count() <= 40 && help.contains("--tasks"), "{help}");
    fits(&karat(&["standing", "--help"]));
}
