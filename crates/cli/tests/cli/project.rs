//! The project file and `karat check`: the gates of flags, the baseline, the watch, the faults of the file.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Folder, Run, example, program, root};

/// Runs the program as a terminal or a scheduler starts it: with nothing piped in.
pub fn alone(folder: &Path, arguments: &[&str]) -> Run {
    let output = program(folder).args(arguments).stdin(Stdio::null()).output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

/// A project of the examples: two agents on 28 tasks, and the run before, in which `ibis` was better.
fn project(gate: &str) -> Folder {
    let folder = Folder::new();
    folder.write("card.toml", &example("cards/task-run.toml"));
    folder.write("base.csv", &example("compare/base.csv"));
    folder.write("new.csv", &example("compare/new.csv"));
    write_project(&folder, gate);
    folder
}

fn write_project(folder: &Folder, gate: &str) {
    let head = "card = \"card.toml\"\ninputs = [\"new*.csv\"]\nbaseline = \"base.csv\"\n";
    folder.write("karat.toml", &format!("{head}{gate}"));
}

#[test]
fn each_gate_fails_with_the_status_and_the_line_of_its_flag() {
    let folder = project("");
    let cases = [
        ("", 0, ""),
        ("[gate]\nfail_if_worse = true\n", 16, "`ibis` is worse than before by 22.2 points"),
        ("[gate]\nfail_if_worse = 60\n", 12, "`kite` is only in the first"),
        ("[gate]\nfail_if_worse = 2\nstrict = true\n", 16, "status 12"),
        ("[gate]\nfail_under = 60\n", 10, "`ibis` has 53.4, below 60"),
        ("[gate]\nfail_under = 60\nsubjects = [\"heron\"]\n", 0, ""),
        ("[gate]\nfail_under = 60\non = \"low\"\nsubjects = [\"heron\"]\n", 10, "the lower end"),
        ("[gate.dimensions]\nsolved = 0.99\n", 10, "solved"),
        ("[gate.items]\nfail_under = 50\n", 10, "below 50; in all"),
        ("as_of = \"2026-12-31T00:00:00Z\"\n[gate.standing]\nfail_under = 60\n", 10, "official score"),
    ];
    for (gate, status, line) in cases {
        write_project(&folder, gate);
        let run = alone(folder.path(), &["check"]);
        assert_eq!(run.status, status, "{gate}: {}{}", run.stdout, run.stderr);
        assert!(run.stderr.contains(line), "{gate}: {}", run.stderr);
        assert_eq!(run.stderr.contains("; status "), status != 0, "{gate}: {}", run.stderr);
        // `kite` is in the baseline alone.
        assert_eq!(
            run.stderr.contains("`kite` is only in"),
            gate.contains("worse"),
            "{gate}: {}",
            run.stderr
        );
        let word = match status {
            0 => "passed",
            12 => "inconclusive",
            _ => "failed",
        };
        assert!(gate.is_empty() || run.stdout.contains(word), "{gate}: {}", run.stdout);
    }
    assert!(alone(folder.path(), &["check"]).stdout.contains("new*.csv"));
}

/// A pipe would be waited for, and a device read for ever.
#[cfg(unix)]
#[test]
fn a_project_reads_files_alone() {
    let folder = project("");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in ["pipe", "/dev/zero"] {
        for (inputs, baseline) in [(path, "base.csv"), ("new.csv", path)] {
            let text = format!("card = \"card.toml\"\ninputs = [\"{inputs}\"]\nbaseline = \"{baseline}\"\n");
            folder.write("karat.toml", &text);
            let run = alone(folder.path(), &["check", "--allow-outside"]);
            run.ends(1, "is neither a file nor a folder");
        }
    }
}

#[test]
fn a_check_gives_the_answers_of_leaderboard_and_compare() {
    let folder = project("[gate]\nfail_if_worse = true\nfail_under = 60\n");
    let run = alone(folder.path(), &["check", "--json"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((run.status, &answer["status"]), (16, &Value::from(16)));
    let board =
        alone(folder.path(), &["leaderboard", "-c", "card.toml", "new.csv", "--json", "--fail-under", "60"]);
    assert_eq!(answer["leaderboard"], serde_json::from_str::<Value>(&board.stdout).unwrap());
    assert!(run.stderr.contains(board.stderr.lines().next().unwrap()), "{}{}", run.stderr, board.stderr);
    let line = ["compare", "base.csv", "new.csv", "-c", "card.toml", "--json", "--fail-if-worse"];
    let pair = alone(folder.path(), &line);
    let pairs = serde_json::from_str::<Value>(&pair.stdout).unwrap();
    assert_eq!(answer["comparison"]["comparisons"], pairs["comparisons"]);
    assert!(pair.stderr.lines().all(|line| run.stderr.contains(line)), "{}{}", run.stderr, pair.stderr);
    assert_eq!(answer["gates"].as_array().unwrap().len(), 2);
}

#[test]
fn a_baseline_is_written_whole_with_its_digest_and_guarded_by_it() {
    let folder = project("");
    let text = "card = \"card.toml\"\ninputs = \"new.csv\"\nbaseline = \"main.jsonl\"\n[gate]\nfail_if_worse = true\n";
    folder.write("karat.toml", text);
    let missing = alone(folder.path(), &["check"]);
    assert_eq!(missing.status, 12);
    assert_eq!(
        missing.stderr,
        "inconclusive: there is no baseline `main.jsonl`; `karat check --update-baseline` keeps this run; status 12\n"
    );
    let written = alone(folder.path(), &["check", "--update-baseline"]);
    assert_eq!((written.status, written.stderr.as_str()), (0, ""));
    assert!(written.stdout.contains("main.jsonl with 84 items, sha256:"), "{}", written.stdout);
    let (file, beside) = (folder.path().join("main.jsonl"), folder.path().join("main.jsonl.sha256"));
    let first = fs::read_to_string(&file).unwrap();
    assert_eq!(first.lines().count(), 84);
    let same = alone(folder.path(), &["check"]);
    assert_eq!(same.status, 0, "{}{}", same.stdout, same.stderr);
    // What is refused leaves both files as they are.
    let digest = fs::read_to_string(&beside).unwrap();
    folder.write("new.csv", "subject,task,solved\na,b,much\n");
    let refused = alone(folder.path(), &["check", "--update-baseline"]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("expected a number"), "{}", refused.stderr);
    assert_eq!(
        (fs::read_to_string(&file).unwrap(), fs::read_to_string(&beside).unwrap()),
        (first.clone(), digest)
    );
    // A baseline that was changed by hand is not compared with.
    folder.write("new.csv", &example("compare/new.csv"));
    folder.write("main.jsonl", &first.replacen("ibis", "kite", 1));
    let changed = alone(folder.path(), &["check"]);
    assert_eq!(changed.status, 1);
    assert!(changed.stderr.contains("is not the one that `main.jsonl.sha256` names"), "{}", changed.stderr);
    // Nor with one that a pattern finds, or whose digest cannot be read.
    folder.write("karat.toml", &text.replace("\"main.jsonl\"", "\"main*.jsonl\""));
    let found = alone(folder.path(), &["check"]);
    found.ends(1, "is not the one that");
    folder.write("karat.toml", text);
    folder.write("main.jsonl", &first);
    fs::remove_file(&beside).unwrap();
    fs::create_dir(&beside).unwrap();
    let unread = alone(folder.path(), &["check"]);
    unread.ends(1, "main.jsonl.sha256");
    fs::remove_dir(&beside).unwrap();
    assert_eq!(alone(folder.path(), &["check", "--update-baseline"]).status, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), first);
    let entries = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(entries, 6, "nothing is left over");
}

#[test]
fn other_commands_take_card_and_inputs_and_say_so() {
    let folder = project("where = [\"subject=ibis\"]\n");
    fs::create_dir(folder.path().join("deep")).unwrap();
    let deep = folder.path().join("deep");
    for (here, name) in [(folder.path(), "karat.toml"), (&deep, "../karat.toml")] {
        for line in [&["score"][..], &["leaderboard"], &["standing", "--as-of", "2026-12-31T00:00:00Z"]] {
            let run = alone(here, line);
            assert_eq!(run.status, 0, "{line:?}: {}", run.stderr);
            assert_eq!(
                run.stderr.lines().next(),
                Some(format!("card and inputs from {name}").as_str()),
                "{line:?}"
            );
            assert!(run.stdout.contains("ibis"), "{line:?}");
            assert_eq!(run.stdout.contains("heron"), line == ["score"], "a filter is for subjects: {line:?}");
        }
    }
    let compared = alone(folder.path(), &["compare", "base.csv", "new.csv"]);
    assert_eq!((compared.status, compared.stderr.as_str()), (0, "card from karat.toml\n"));
    let named = alone(folder.path(), &["leaderboard", "-c", "card.toml", "new.csv"]);
    assert_eq!((named.status, named.stderr.as_str()), (0, ""));
    // Records name their own scorecard, from a file and from a pipe.
    let records = alone(folder.path(), &["score", "-c", "card.toml", "new.csv"]).stdout;
    folder.write("records.jsonl", &records);
    let ranked = folder.karat(&["leaderboard", "-c", "card.toml", "records.jsonl"]);
    assert_eq!((ranked.status, ranked.stderr.as_str()), (0, ""));
    folder.write(
        "workflow.jsonl",
        &alone(&root(), &["score", "-c", "workflow", "examples/workflow/partial-dag.json"]).stdout,
    );
    let own = alone(folder.path(), &["leaderboard", "workflow.jsonl"]);
    assert_eq!((own.status, own.stderr.as_str()), (0, ""));
    // Without a project.
    let empty = Folder::new();
    let without = alone(empty.path(), &["score", "x.csv"]);
    assert_eq!(without.status, 2);
    assert!(without.stderr.contains("karat init FILE"), "{}", without.stderr);
    let nowhere = alone(empty.path(), &["check"]);
    nowhere.tells("there is no `karat.toml` here or in a folder above");
}

#[test]
fn every_fault_of_the_file_is_told_at_once_with_its_place() {
    let folder = project("");
    folder.write(
        "karat.toml",
        "crad = \"x\"\ninputs = []\n[gate]\nfail-under = 80\nstrict = true\n[gate.dimensions]\nsafety = 99\n",
    );
    let run = alone(folder.path(), &["check"]);
    insta::assert_snapshot!(run.screen(), @r#"
    exit status 1
    --- errors
    error[KC002]: karat.toml has no key `crad`
     --> karat.toml:1:1
      |
    1 | crad = "x"
      | ^^^^
      |
      = help: did you mean `card`?

    error[KC005]: `inputs` names no file
     --> karat.toml:2:10
      |
    2 | inputs = []
      |          ^^
      |
      = help: inputs = ["runs/*.jsonl"]

    error[KC002]: [gate] has no key `fail-under`
     --> karat.toml:4:1
      |
    4 | fail-under = 80
      | ^^^^^^^^^^
      |
      = help: did you mean `fail_under`?

    error[KC003]: `strict` needs `fail_if_worse`
     --> karat.toml:5:10
      |
    5 | strict = true
      |          ^^^^
      |
      = help: fail_if_worse = 2, the points by which it may be worse

    error[KC005]: the value of a dimension is 0 to 1
     --> karat.toml:7:10
      |
    7 | safety = 99
      |          ^^
      |
      = help: write 0.99 for 99 %

    karat.toml: refused, 5 errors
    "#);
}

#[test]
fn a_field_that_no_item_has_names_nothing() {
    let folder = project("");
    let asked = ["leaderboard", "-c", "card.toml", "new.csv"];
    for (flag, field, near) in [("--task-field", "tesk", "task"), ("--subject-field", "subjct", "subject")] {
        let run = alone(folder.path(), &[&asked[..], &[flag, field]].concat());
        let found = format!("{flag}: no item has a field `{field}`");
        run.ends(1, &found);
        assert!(run.stderr.contains(&format!("did you mean `{near}`?")), "{}", run.stderr);
        assert!(run.stderr.contains("there are: ") && run.stdout.is_empty(), "{}", run.stderr);
    }
    let verbs: [&[&str]; 4] = [
        &["score"],
        &["export", "--to", "inspect"],
        &["explain", "--item", "heron-air-01-new"],
        &["card", "diff", "card.toml", "card.toml"],
    ];
    for verb in verbs {
        let card: &[&str] = if verb.contains(&"diff") { &[] } else { &["-c", "card.toml"] };
        let run = alone(folder.path(), &[verb, card, &["new.csv"], &["--task-field", "tesk"]].concat());
        let found = "--task-field: no item has a field `tesk`";
        assert!(run.status == 1 && run.stderr.contains(found), "{verb:?}: {}", run.stderr);
        assert!(!verb.contains(&"score") || run.stdout.is_empty(), "{}", run.stdout);
    }
    let named = alone(folder.path(), &[&asked[..], &["--task-field", "task"]].concat());
    assert_eq!(named.stdout, alone(folder.path(), &asked).stdout);
    let text = fs::read_to_string(folder.path().join("karat.toml")).unwrap();
    folder.write("karat.toml", &format!("task = \"tesk\"\n{text}"));
    let check = alone(folder.path(), &["check"]);
    check.ends(1, "no item has a field `tesk`");
}

#[test]
fn nested_facts_and_fields_of_names_are_read_through_every_door() {
    let folder = Folder::new();
    for name in ["karat.toml", "scorecard.toml", "runs.jsonl", "baseline.jsonl", "baseline.jsonl.sha256"] {
        folder.write(name, &example(&format!("project/{name}")));
    }
    let run = alone(folder.path(), &["check"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let by_flags = ["--subject-field", "$.agent.name", "--task-field", "case"];
    let flags = alone(
        folder.path(),
        &[&["leaderboard", "-c", "scorecard.toml", "runs.jsonl"][..], &by_flags].concat(),
    );
    assert_eq!(alone(folder.path(), &["leaderboard"]).stdout, flags.stdout);
    assert!(flags.stdout.contains("\"tasks\":14"), "{}", flags.stdout);
    // The same data, flat in a table with tabs.
    let mut table =
        String::from("agent.name\tcase\tid\tmetrics.solved\tmetrics.cost\tmetrics.latency_ms\tchannel\n");
    for line in example("project/runs.jsonl").lines() {
        let item: Value = serde_json::from_str(line).unwrap();
        let text = |value: &Value| {
            value.as_str().map_or_else(
                || if value.is_null() { "NA".to_owned() } else { value.to_string() },
                str::to_owned,
            )
        };
        let metrics = &item["metrics"];
        let cells = [
            &item["agent"]["name"], &item["case"], &item["id"], &metrics["solved"], &metrics["cost"],
            &metrics["latency_ms"], &item["channel"],
        ];
        table += &(cells.map(text).join("\t") + "\n");
    }
    folder.write("runs.tsv", &table);
    let flat =
        alone(folder.path(), &[&["score", "-c", "scorecard.toml", "runs.tsv"][..], &by_flags].concat());
    let nested =
        alone(folder.path(), &[&["score", "-c", "scorecard.toml", "runs.jsonl"][..], &by_flags].concat());
    let scores = |run: &Run| -> Vec<Value> {
        let records = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records
            .map(|record| serde_json::json!([record["subject"], record["score"], record["facts"]]))
            .collect()
    };
    assert_eq!(scores(&flat), scores(&nested));
    assert_eq!(scores(&flat).len(), 56);
    // What was scored can be explained, and a fact's error names its path.
    let explained = folder
        .line("explain -c scorecard.toml runs.jsonl --item finch-01-1 --subject-field $.agent.name --table");
    assert!(
        explained.stdout.contains("71.6 of 100, coverage 100%"),
        "{}{}",
        explained.stdout,
        explained.stderr
    );
    folder.write("bad.jsonl", "{\"agent\": {\"name\": \"a\"}, \"metrics\": {\"cost\": \"4%\"}}\n");
    let bad =
        alone(folder.path(), &[&["score", "-c", "scorecard.toml", "bad.jsonl"][..], &by_flags].concat());
    assert!(bad.stderr.contains("$.metrics.cost: found the text `4%`, expected a number"), "{}", bad.stderr);
}

#[test]
fn a_watch_checks_again_and_ends_with_the_status_of_the_last_check() {
    let folder = project("[gate]\nfail_under = 20\n");
    let mut child = program(folder.path())
        .args(["check", "--watch"])
        .stdin(Stdio::null())
        .stdout(fs::File::create(folder.path().join("out")).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let shown = |count: usize| {
        let from = Instant::now();
        loop {
            let text = fs::read_to_string(folder.path().join("out")).unwrap_or_default();
            if text.matches("checked at").count() >= count {
                return text;
            }
            assert!(from.elapsed() < Duration::from_secs(60), "{count}: {text}");
            sleep(Duration::from_millis(50));
        }
    };
    assert!(shown(1).contains("status 0;"));
    // An input of the pattern that was not there, and then a project file that is broken, and then sound.
    let mut rows = fs::OpenOptions::new().append(true).open(folder.path().join("new.csv")).unwrap();
    rows.write_all(b"jay,air-01,jay-1,2026-05-02T04:00:00Z,failed,airline,0,0.1,10\n").unwrap();
    assert!(shown(2).contains("status 10;"));
    folder.write("karat.toml", "card = 7\n");
    assert!(shown(3).contains("status 1;"));
    write_project(&folder, "[gate]\nfail_under = 20\n");
    shown(4);
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(10));
}
