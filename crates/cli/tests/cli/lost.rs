//! Evidence that is lost, hidden or passed over: no gate passes by it without a word.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Folder, Run};

/// A card whose official score is the mean over the last three tasks.
const WINDOW: &str = r#"
schema = "karat/scorecard/1"
id = "window"
version = "0.1.0"
title = "Window"
evidence = "facts"
mean = "weighted-mean"
scale = { max = 100, publish = "half-up", places = 1 }
[facts]
solved = { unit = "1", min = 0, max = 1, from = "harness" }
[[dimension]]
key = "solved"
weight = 1
formula = "solved"
missing = "withhold"
[standing]
score = "window"
window = { tasks = 3 }
"#;

fn lines(items: impl IntoIterator<Item = Value>) -> String {
    items.into_iter().map(|item| format!("{item}\n")).collect()
}

/// Returns runs of `bot` at twenty tasks, each solved or not.
fn runs(solved: u8) -> String {
    lines((0..20).map(|task| json!({"subject": "bot", "task": format!("t{task}"), "id": format!("{task}"), "solved": solved})))
}

fn project(folder: &Folder, inputs: &str, gate: &str) -> Run {
    let baseline = if gate.contains("worse") { "baseline = \"base.jsonl\"\n" } else { "" };
    folder
        .write("karat.toml", &format!("card = \"run\"\ninputs = [\"{inputs}\"]\n{baseline}[gate]\n{gate}\n"));
    folder.karat(&["check", "--table"])
}

#[test]
fn the_low_end_opens_no_gate_that_the_score_does_not() {
    let folder = Folder::new();
    folder.write("window.toml", WINDOW);
    let item = |day: u32| json!({"subject": "a", "task": format!("t{day}"), "id": day, "time": format!("2026-01-{day:02}T00:00:00Z"), "solved": u8::from(day < 18)});
    folder.write("runs.jsonl", &lines((1..=20).map(item)));
    let gate = |more: &[&str]| {
        folder.karat(
            &[&["leaderboard", "-c", "window.toml", "runs.jsonl", "--fail-under", "60"], more].concat(),
        )
    };
    assert_eq!((gate(&[]).status, gate(&["--on", "low"]).status), (10, 10));
    assert!(
        gate(&["--on", "low"]).stderr.contains("`a` has 0.0, below 60"),
        "{}",
        gate(&["--on", "low"]).stderr
    );
    let alone = folder.karat(&["leaderboard", "-c", "window.toml", "runs.jsonl", "--on", "low"]);
    alone.ends(2, "--fail-under");
    let negative = folder.karat(&["leaderboard", "-c", "window.toml", "runs.jsonl", "--fail-under", "-1"]);
    negative.ends(2, "points are not negative");
}

#[test]
fn a_subject_without_a_score_passes_no_gate() {
    let folder = Folder::new();
    let dead = (0..3)
        .map(|at| json!({"subject": "dead", "task": format!("t{at}"), "id": at, "outcome": "no-verdict"}));
    folder.write("runs.jsonl", &(runs(1) + &lines(dead)));
    let found = folder.karat(&["leaderboard", "-c", "run", "--fail-under", "60", "runs.jsonl"]);
    found.ends(12, "`dead` has no score");
    let found = project(&folder, "runs.jsonl", "fail_under = 60");
    found.ends(12, "`dead` has no score");
}

#[test]
fn an_empty_log_is_named_and_one_alone_refused() {
    let folder = Folder::new();
    folder.write("empty.xml", "<testsuites/>");
    folder.write("runs.xml", "<testsuite name='s'><testcase name='a'/><testcase name='b'/></testsuite>");
    for arguments in [
        &["score", "-c", "run", "--fail-under", "50"][..],
        &["leaderboard", "-c", "run"],
        &["standing", "-c", "run", "--as-of", "2026-01-01"],
        &["export", "--to", "otel", "-c", "run"],
        &["import"],
    ] {
        let alone = folder.karat(&[arguments, &["empty.xml"]].concat());
        alone.ends(1, "`empty.xml` has no run in it");
        if arguments != ["import"] {
            let both = folder.karat(&[arguments, &["runs.xml", "empty.xml"]].concat());
            both.ends(0, "`empty.xml` has no run in it");
        }
    }
}

#[test]
fn what_is_passed_over_in_a_folder_is_named() {
    let folder = Folder::new();
    let log = |value: &str| {
        format!(
            r#"{{"eval": {{"task": "t", "model": "m"}}, "samples": [{{"id": 1, "epoch": 1, "scores": {{"s": {{"value": "{value}"}}}}}}]}}"#
        )
    };
    fs::create_dir_all(folder.path().join("runs/agent")).unwrap();
    folder.write("runs/a.json", &log("C"));
    folder.write("runs/broken.json", &format!("x{}", log("I")));
    // No trial of Harbor, so what lies in the folder of its agent is not part of one.
    folder.write("runs/result.json", "{}");
    folder.write("runs/agent/b.json", &log("I"));
    let mut passed = vec!["broken.json", "result.json"];
    #[cfg(unix)]
    {
        folder.write("elsewhere.json", &log("I"));
        std::os::unix::fs::symlink("../elsewhere.json", folder.path().join("runs/link.json")).unwrap();
        passed.push("link.json");
    }
    for arguments in
        [&["leaderboard", "-c", "run", "runs"][..], &["score", "-c", "run", "runs"], &["import", "runs"]]
    {
        let found = folder.karat(arguments);
        let told = found.stderr.lines().find(|line| line.contains("no log")).unwrap_or_default();
        assert!(
            passed.iter().all(|name| told.contains(name)) && !told.contains("b.json"),
            "{}",
            found.stderr
        );
    }
    let found = project(&folder, "runs", "fail_under = 10");
    assert_eq!(found.stderr.matches("broken.json").count(), 1, "{}", found.stderr);
}

#[test]
fn no_file_stands_for_the_pattern_of_its_name() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("runs")).unwrap();
    folder.write("base.jsonl", &runs(1));
    folder.write("runs/r.jsonl", &runs(0));
    assert_eq!(project(&folder, "runs/*.jsonl", "fail_if_worse = 2").status, 16);
    #[cfg(unix)]
    {
        folder.write("runs/*.jsonl", &runs(1));
        let found = project(&folder, "runs/*.jsonl", "fail_if_worse = 2");
        found.ends(1, "a pattern for others");
        fs::remove_file(folder.path().join("runs/r.jsonl")).unwrap();
        assert_eq!(project(&folder, "runs/*.jsonl", "fail_if_worse = 2").status, 0, "alone it is itself");
    }
}

#[test]
fn attempts_that_are_gone_are_told_and_no_strict_gate_passes_by_them() {
    let folder = Folder::new();
    let attempts = |solved: u32, lost: Option<&str>| {
        let all = (0..30).flat_map(move |task| (0..5).map(move |attempt| (task, attempt)));
        lines(all.filter_map(|(task, attempt)| {
            let is_solved = attempt < solved;
            let mut item =
                json!({"subject": "bot", "task": format!("t{task}"), "id": format!("{task}-{attempt}")});
            match (is_solved, lost) {
                (true, _) => item["solved"] = json!(1),
                (false, None) => item["solved"] = json!(0),
                (false, Some("gone")) => return None,
                (false, Some(outcome)) => item["outcome"] = json!(outcome),
            }
            Some(item)
        }))
    };
    folder.write("base.jsonl", &attempts(3, None));
    for (name, lost, statuses) in
        [("honest", None, [16, 16]), ("nv", Some("no-verdict"), [12, 12]), ("gone", Some("gone"), [12, 12])]
    {
        folder.write("new.jsonl", &attempts(1, lost));
        for (strict, status) in [&[][..], &["--strict"]].into_iter().zip(statuses) {
            let gate = ["compare", "base.jsonl", "new.jsonl", "-c", "run", "--fail-if-worse=2"];
            let found = folder.karat(&[&gate[..], strict].concat());
            assert_eq!(found.status, status, "{name} {}", found.stderr);
            let is_told =
                found.stderr.contains("at 30 tasks") && found.stderr.contains("fewer results that count");
            assert_eq!(is_told, lost.is_some(), "{name} {}", found.stderr);
            if lost.is_some() {
                let answer: Value = serde_json::from_str(&found.stdout).unwrap();
                assert_eq!(answer["changes"]["fewer"].as_array().map(Vec::len), Some(30));
            }
        }
    }
    // With more attempts nothing is gone.
    let other = folder.karat(&["compare", "new.jsonl", "base.jsonl", "-c", "run", "--fail-if-worse=50"]);
    assert!(!other.stderr.contains("fewer"), "{}", other.stderr);
}

#[test]
fn gates_on_official_scores_name_the_items_that_no_score_has() {
    let folder = Folder::new();
    let item = |task: u32, time: Option<&str>| {
        let mut item =
            json!({"subject": "bot", "task": format!("t{task}"), "id": task, "solved": u8::from(task < 10)});
        item["time"] = json!(time);
        item
    };
    let last = "last.toml";
    folder.write(
        last,
        "schema = \"karat/scorecard/1\"\nid = \"last\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n\
         scale = { max = 100 }\nfacts = { solved = { min = 0, max = 1 } }\ndimension = [{ key = \"solved\", weight = 1 }]\n\
         standing = { score = \"window\", window = { tasks = 50 } }\n",
    );
    // Under a card that follows order a subject of both sorts has no score; under one that does not all of it counts.
    for (card, other, words, status) in [
        ("run", Some("2036-05-01T00:00:00Z"), "30 items after 2026-06-01", 0),
        (last, Some("2036-05-01T00:00:00Z"), "30 items after 2026-06-01", 0),
        ("run", None, "25", 10),
        (last, None, "no official score", 12),
    ] {
        let time = |task: u32| if task < 10 { Some("2026-05-01T00:00:00Z") } else { other };
        folder.write("r.jsonl", &lines((0..40).map(|task| item(task, time(task)))));
        for arguments in [&["leaderboard"][..], &["standing"]] {
            let more = ["-c", card, "--as-of", "2026-06-01T00:00:00Z", "--fail-under", "60", "r.jsonl"];
            let found = folder.karat(&[arguments, &more].concat());
            assert!(found.stderr.contains(words), "{card} {arguments:?} {}", found.stderr);
            // Nothing to compare does not pass.
            assert_eq!(found.status, status, "{card} {arguments:?} {}", found.stderr);
        }
        if other.is_none() {
            continue;
        }
        folder.write("karat.toml", &format!("card = \"{card}\"\ninputs = [\"r.jsonl\"]\nas_of = \"2026-06-01T00:00:00Z\"\n[gate]\nfail_under = 60\n[gate.standing]\nfail_under = 60\n"));
        let found = folder.karat(&["check", "--format", "json"]);
        let answer: Value = serde_json::from_str(&found.stdout).unwrap();
        let notes: Vec<&str> = answer["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(notes.iter().filter(|note| note.contains(words)).count(), 1, "{notes:?}");
    }
}

#[test]
fn two_items_of_one_id_are_refused_where_an_id_must_name_one() {
    let folder = Folder::new();
    folder.write(
        "ids.jsonl",
        &lines([
            json!({"id": "1", "subject": "a", "task": "t1", "solved": 1}),
            json!({"id": "1", "subject": "b", "task": "t1", "solved": 0}),
        ]),
    );
    let found = folder.karat(&["explain", "-c", "run", "ids.jsonl", "--item", "1"]);
    found.ends(1, "choose one with --subject: `a` and `b`");
    let found = folder.karat(&["explain", "-c", "run", "ids.jsonl", "--item", "1", "-s", "b", "--table"]);
    assert!(found.status == 0 && found.stderr.is_empty(), "{}", found.stderr);
    let found = folder.karat(&["explain", "-c", "run", "ids.jsonl", "--item", "1", "-s", "c"]);
    assert!(found.stderr.contains("no item `1` of `c`"), "{}", found.stderr);
    folder.write(
        "dup.jsonl",
        &lines([
            json!({"id": "1", "subject": "a", "task": "t1", "solved": 1}),
            json!({"id": "1", "subject": "a", "task": "t1", "solved": 0}),
        ]),
    );
    let found = folder.karat(&["explain", "-c", "run", "dup.jsonl", "--item", "1"]);
    found.ends(0, "2 items are called `1`");
    for target in ["otel", "inspect", "every-eval-ever"] {
        let found = folder.karat(&["export", "--to", target, "-c", "run", "dup.jsonl"]);
        assert!(
            found.status == 1 && found.stderr.contains("two items `1` that differ"),
            "{target} {}",
            found.stderr
        );
    }
    folder
        .write("twice.jsonl", &lines(vec![json!({"id": "1", "subject": "a", "task": "t1", "solved": 1}); 2]));
    let found = folder.karat(&["export", "--to", "otel", "-c", "run", "twice.jsonl"]);
    found.ends(0, "1 item in 1 file");
}

#[test]
fn each_subject_of_two_files_says_which_tasks_one_alone_has() {
    let folder = Folder::new();
    let of = |subject: &str, tasks: std::ops::Range<u32>| {
        let subject = subject.to_owned();
        tasks.map(move |task| json!({"subject": subject, "task": format!("t{task}"), "id": format!("{subject}{task}"), "solved": task % 2})).collect::<Vec<_>>()
    };
    folder.write("base.jsonl", &lines([of("a", 0..10), of("b", 0..10)].concat()));
    folder.write("new.jsonl", &lines([of("a", 0..7), of("b", 0..12)].concat()));
    let found = folder.karat(&["compare", "base.jsonl", "new.jsonl", "-c", "run", "--table"]);
    let text = found.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        "a: left out, as only one run has them: 3 tasks of before, 0 tasks of after",
        "b: left out, as only one run has them: 0 tasks of before, 2 tasks of after",
    ] {
        assert!(text.contains(line), "{}", found.stdout);
    }
}

#[cfg(unix)]
#[test]
fn no_name_of_a_file_is_a_command_of_a_runner_and_no_device_is_read() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("d")).unwrap();
    folder.write(
        "d/b\n::error title=x::y\n.json",
        r#"{"eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "scores": {"s": "#,
    );
    folder.write("karat.toml", "card = \"r\\n  ::error::y\"\ninputs = [\"a\\n::error::x\"]\n");
    for arguments in [
        &["leaderboard", "-c", "run", "d", "--format", "github"][..],
        &["import", "d"],
        &["score", "-c", "a\n::error::x", "d"],
        &["compare", "a\n::error::x", "b\r::warning::x", "-c", "run", "d"],
        &["check", "--format", "github"],
    ] {
        let found = folder.karat(arguments);
        let is_command = |line: &&str| line.trim_start().starts_with("::");
        assert_eq!(found.stderr.lines().find(is_command), None, "{arguments:?} {}", found.stderr);
        assert!(!found.stderr.contains('\r'), "{}", found.stderr);
    }
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("z.json")).unwrap();
    for arguments in [
        &["leaderboard", "-c", "run"][..],
        &["score", "-c", "run"],
        &["standing", "-c", "run", "--as-of", "2026-01-01"],
        &["compare", "z.json", "d", "-c", "run"],
        &["stress", "-c", "run"],
        &["badge", "-c", "run"],
        &["import"],
        &["rate", "--system", "elo"],
    ] {
        let found = folder.karat(&[arguments, &["z.json"]].concat());
        assert_eq!(found.status, 1, "{arguments:?} {}", found.stderr);
    }
}
