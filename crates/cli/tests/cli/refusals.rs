//! Bad input of every kind: a message for the person who must act, the right status, and nothing on standard output.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::process::Command;

use crate::common::{Folder, Run, example, finish, karat, karat_reading, program, root};
use insta::assert_snapshot;
use serde_json::Value;

/// Returns a text that a row gives: itself, or what a command prints or an example has, with changes.
fn text(given: &Value) -> String {
    if let Some(text) = given.as_str() {
        return text.to_owned();
    }
    let mut text = match (given["of"].as_str(), given["example"].as_str()) {
        (Some(line), _) => karat(&line.split_whitespace().collect::<Vec<_>>()).stdout,
        (_, Some(path)) => example(path),
        _ => given["text"].as_str().unwrap().repeat(given["times"].as_u64().unwrap() as usize),
    };
    for change in given["replace"].as_array().into_iter().flatten() {
        let [from, to] = [0, 1].map(|at| change[at].as_str().unwrap());
        assert!(text.contains(from), "there is no `{from}`");
        text = text.replace(from, to);
    }
    if given["is_line"] == true {
        text = text.lines().map(str::trim).collect::<String>() + "\n";
    }
    if let Some(length) = given["cut"].as_u64() {
        text.truncate(length as usize);
    }
    text
}

/// A row without `says` has its screen in a snapshot. Where a row has files, the command runs beside them alone.
#[test]
fn each_command_is_refused_as_told() {
    let rows: Value = serde_json::from_str(include_str!("refusals.json")).unwrap();
    for row in rows.as_array().unwrap() {
        let name = row["name"].as_str().unwrap();
        let folder = Folder::new();
        for (file, given) in row["files"].as_object().into_iter().flatten() {
            folder.write(file, &text(given));
        }
        let place = if row["files"].is_null() { root() } else { folder.path().to_owned() };
        let input = if row["stdin"].is_null() { String::new() } else { text(&row["stdin"]) };
        let run = finish(program(&place).args(row["line"].as_str().unwrap().split_whitespace()), &input);
        assert_eq!(i64::from(run.status), row["status"].as_i64().unwrap_or(1), "{name}: {}", run.screen());
        assert!(row["has_output"] == true || run.stdout.is_empty(), "{name}: {}", run.stdout);
        assert!(!run.stderr.contains("panicked"), "{name}: {}", run.stderr);
        match row["says"].as_array() {
            None => assert_snapshot!(name, run.screen()),
            Some(parts) => {
                for part in parts.iter().map(|part| part.as_str().unwrap()) {
                    assert!(
                        format!("{}{}", run.stdout, run.stderr).contains(part),
                        "{name}: {}",
                        run.screen()
                    );
                }
            }
        }
    }
}

/// Scores `text` as a file of JSON lines, in a separate folder.
fn score(card: &str, text: &str) -> Run {
    let folder = Folder::new();
    folder.write("runs.jsonl", text);
    folder.karat(&["score", "--card", card, "runs.jsonl"])
}

/// Returns a sound workflow run on one line.
fn good_run() -> String {
    example("workflow/closed-gate.json").lines().map(str::trim).collect::<String>() + "\n"
}

/// Returns the screen of a command that refused everything.
fn refused(run: &Run, status: i32) -> String {
    assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.screen()
}

#[test]
fn the_first_bad_item_stops_and_the_good_ones_before_it_are_whole() {
    let good = good_run();
    let run = score("workflow", &format!("{good}{{\"broken\"\n{good}"));
    assert_eq!((run.status, run.stdout.lines().count()), (1, 1));
    assert!(run.stdout.ends_with("}\n"), "{}", run.stdout);
    assert_snapshot!(run.stderr);
}

#[test]
fn keep_going_scores_the_good_and_lists_the_bad() {
    let good = good_run();
    let folder = Folder::new();
    folder.write("runs.jsonl", &format!("{good}nonsense\n{good}{}{good}", good.replace("0.65", "6.5")));
    let run = folder.karat(&["score", "--card", "workflow", "--keep-going", "runs.jsonl"]);
    assert_eq!((run.status, run.stdout.lines().count()), (1, 3));
    assert_snapshot!(run.stderr);
}

#[test]
fn an_item_that_never_ends() {
    let mut endless = program(&root());
    endless.args(["score", "--card", "workflow", "/dev/zero"]);
    assert!(refused(&finish(&mut endless, ""), 1).contains("a device, which has no end"));
    let mut endless = program(&root());
    endless.args(["score", "--card", "workflow", "-"]).stdin(std::fs::File::open("/dev/zero").unwrap());
    let told = endless.output().unwrap();
    assert!(String::from_utf8_lossy(&told.stderr).contains("an item of more than"), "{told:?}");
}

#[test]
fn a_card_with_more_problems_than_anyone_reads() {
    let text: String = (0..50_000).map(|n| format!("k{n} = 1\n")).collect();
    let run = karat_reading(&["card", "check", "-"], &text);
    assert_eq!(run.status, 13);
    assert!(run.stdout.contains("more problems from here on are not listed"));
    assert!(run.stdout.ends_with("refused, 101 errors, 0 warnings, 0 notes\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_not_done() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_karat")).arg("--help").stdout(full).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn a_card_that_is_not_text() {
    let folder = Folder::new();
    folder.write("item.jsonl", "{\"subject\": \"a\"}\n");
    std::fs::write(folder.path().join("binary.toml"), b"id = \"\xff\"").unwrap();
    folder.write("large.toml", &"#".repeat((16 << 20) + 1));
    for (file, why) in [
        ("binary.toml", "`binary.toml` is not a scorecard: byte 6 is not UTF-8 text"),
        ("large.toml", "`large.toml` is larger than 16777216 bytes, so it is not a scorecard"),
    ] {
        for arguments in [&["card", "check", file][..], &["score", "-c", file, "item.jsonl"]] {
            let screen = refused(&folder.karat(arguments), 13);
            assert!(screen.contains(why), "{screen}");
        }
    }
    // A missing file, or one that cannot be opened, is not refused: it could not be read.
    assert_eq!(folder.karat(&["card", "check", "absent.toml"]).status, 1);
}

#[test]
fn weights_from_outside_that_are_no_weights() {
    let folder = Folder::new();
    folder.write("a.json", r#"{"accuracy": "0.5"}"#);
    folder.write("b.json", "[]");
    folder.write("c.json", "{\"accuracy\": 0.1");
    folder.write("d.json", r#"{"accuracy": 0.1, "accuracy": 0.2}"#);
    folder.write("agents.jsonl", &example("trust/coverage.jsonl"));
    let screens: Vec<String> = ["a.json", "b.json", "c.json", "d.json"]
        .iter()
        .map(|file| refused(&folder.karat(&["score", "-c", "trust", "--override", file, "agents.jsonl"]), 1))
        .collect();
    assert_snapshot!(screens.join("\n"));
    folder.write("w.json", r#"{"success": 0.5}"#);
    assert_snapshot!(refused(
        &folder.karat(&["score", "-c", "workflow", "--override", "w.json", "agents.jsonl"]),
        1
    ));
}

#[test]
fn a_record_that_its_evidence_does_not_give() {
    let folder = Folder::new();
    let run = example("workflow/closed-gate.json");
    folder.write("run.json", &run);
    folder.write("better.json", &run.replace("\"output_quality\": 0.65", "\"output_quality\": 0.95"));
    let record = |file: &str| folder.karat(&["score", "--card", "workflow", file]).stdout;
    let digest = |record: &str| record.split("sha256:").nth(1).unwrap().get(..64).unwrap().to_owned();
    let (sound, better) = (record("run.json"), record("better.json"));
    // A record of other facts that names the digest of the run: nothing in it contradicts itself.
    folder.write("forged.json", &better.replace(&digest(&better), &digest(&sound)));
    assert_eq!(folder.karat(&["explain", "forged.json"]).status, 0);
    let forged = refused(&folder.karat(&["explain", "forged.json", "--evidence", "run.json"]), 14);
    assert_snapshot!(forged, @r"
    exit status 14
    --- errors
    error: the record of `8` is not what run.json:1 gives
      different: facts and score; the same: subject, id, digest, task and warnings
      facts.output_quality: the record says 0.95, by the evidence it is 0.65
      score.exact: the record says 0.875, by the evidence it is 0.405
      score.published: the record says 0.875, by the evidence it is 0.405
    ");
    // A field that nothing reads still makes another item.
    folder.write("noted.json", &run.replacen('{', "{\"note\": 1,", 1));
    folder.write("record.json", &sound);
    let noted = refused(&folder.karat(&["explain", "record.json", "--evidence", "noted.json"]), 14);
    assert!(
        noted.contains("\n  different: digest; the same: subject, id, task, facts, score and warnings\n"),
        "{noted}"
    );
    // An item of another subject is compared only if it is alone.
    let other = example("workflow/worked-example.json");
    folder.write("other.json", &other);
    let other = refused(&folder.karat(&["explain", "record.json", "--evidence", "other.json"]), 14);
    assert!(
        other.contains("\n  different: subject, id, digest, facts and score; the same: task and warnings\n"),
        "{other}"
    );
    folder.write("others.jsonl", &example("workflow/retries.jsonl"));
    let others = refused(&folder.karat(&["explain", "record.json", "--evidence", "others.jsonl"]), 14);
    assert!(others.contains("`others.jsonl` does not have the evidence of this record of `8`"), "{others}");
}

#[test]
fn the_bar_of_a_release() {
    let bar = |points: &str, card: &str, file: &str| {
        karat(&["score", "--table", "--fail-under", points, "-c", card, file]).status
    };
    assert_eq!(bar("0.4", "workflow", "examples/workflow/closed-gate.json"), 0);
    assert_eq!(
        bar("0.405", "workflow", "examples/workflow/closed-gate.json"),
        0,
        "at the bar is not below it"
    );
    assert_eq!(bar("0.405001", "workflow", "examples/workflow/closed-gate.json"), 10);
    assert_eq!(bar("100", "trust", "examples/trust/security.jsonl"), 11, "a gate held");
    assert_eq!(bar("100", "trust", "examples/trust/coverage.jsonl"), 0);
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("runs.jsonl", "{\"subject\": \"a\"}\n");
    let run = folder.karat(&["score", "--table", "-c", "mine.toml", "--fail-under", "1", "runs.jsonl"]);
    assert_eq!(run.status, 12);
    assert_snapshot!(run.screen());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let program = program(&root()).get_program().to_owned();
    for verb in ["demo", "card show trust", "score -c workflow examples/workflow/retries.jsonl"] {
        let script = format!("\"$KARAT\" {verb} | true; exit \"${{PIPESTATUS[0]}}\"");
        let mut shell = Command::new("bash");
        let run = finish(shell.args(["-c", &script]).env("KARAT", &program).current_dir(root()), "");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{verb}");
    }
}

#[test]
fn a_field_that_may_be_a_misspelt_fact() {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("runs.csv", "subject,solvd,asked,cost_usd,budget_usd\na,41,50,3.2,5\n");
    let run = folder.karat(&["score", "--json", "--card", "mine.toml", "runs.csv"]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stderr);
    // A field similar to a fact that is given needs no question.
    folder.write("runs.csv", "subject,solved,solved_1,asked,cost_usd,budget_usd\na,41,40,50,3.2,5\n");
    let run = folder.karat(&["score", "--json", "--card", "mine.toml", "runs.csv"]);
    assert_snapshot!(run.stderr);
}
