//! Logs of other tools: imported, scored as they are, and recognised where other evidence is expected.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::io::Write as _;

use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use crate::common::{Folder, Run, karat, karat_reading, root};

const REPORT: &str = "examples/import/report.xml";
const SWE_BENCH: &str = "examples/import/swe-bench.json";

fn items(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_was_left_out_is_told() {
    let run = karat(&["import", REPORT]);
    assert_eq!(run.status, 0);
    let found: Vec<String> = items(&run.stdout)
        .iter()
        .map(|item| {
            format!("{} {} {} {}", item["id"], item["outcome"], item["solved"], item["source"]["place"])
        })
        .collect();
    assert_snapshot!(found.join("\n"), @r#"
    "report/cart.adds an item" "succeeded" 1 "line 4, test `cart.adds an item`"
    "report/cart.keeps the price" "failed" 0 "line 5, test `cart.keeps the price`"
    "report/cart.survives a restart" "succeeded" 1 "line 6, test `cart.survives a restart`"
    "report/pay.asks the bank" "no-verdict" null "line 7, test `pay.asks the bank`"
    "report/pay.refunds" "not-applicable" null "line 8, test `pay.refunds`"
    "#);
    assert_snapshot!(run.stderr, @r#"
    5 runs from 1 file (junit)
    left out:
           1  no result of a test that ended in an error: it has no verdict
           1  no result of a test that was skipped: it does not apply
           1  no time of a test
    "#);
    assert_eq!(karat(&["import", "--quiet", REPORT]).stderr, "");
}

#[test]
fn a_log_and_its_items_give_the_same_records() {
    for (file, name) in [(REPORT, "x.xml"), (SWE_BENCH, "x.json")] {
        let imported = karat(&["import", "--quiet", file]);
        let score = ["score", "--json", "--card", "run"];
        let direct = karat(&[&score[..], &[file]].concat());
        let piped = karat_reading(&score, &imported.stdout);
        assert_eq!((direct.status, &direct.stdout), (0, &piped.stdout), "{file}");
        // Each way says the same of what the log has and no item has.
        let told = karat(&["import", file]).stderr;
        let (_, left_out) = told.split_once('\n').unwrap();
        assert_eq!(direct.stderr, left_out, "{file}");
        for other in [
            &["leaderboard", "--json", "--card", "run", file][..],
            &["compare", "--json", "--card", "run", file, "examples/import/pr.json"],
            &["export", "--to", "otel", "--card", "run", file],
        ] {
            let stderr = karat(other).stderr;
            assert!(stderr.starts_with(left_out), "{other:?}: {stderr}");
            assert_eq!(stderr.matches("left out:").count(), 1, "{other:?}: {stderr}");
        }
        // A stream has no name, so subjects are called by the digits of it; the scores are the same.
        let text = fs::read_to_string(root().join(file)).unwrap();
        let streamed = karat_reading(&score, &text);
        let scores = |text: &str| items(text).iter().map(|it| it["score"].clone()).collect::<Vec<_>>();
        assert_eq!(scores(&streamed.stdout), scores(&direct.stdout), "{name}: {}", streamed.stderr);
        for verb in [&["leaderboard"][..], &["standing", "--as-of", "2026-11-23T00:00:00Z"]] {
            let verb = [verb, &["--json", "--card", "run"]].concat();
            let direct = karat(&[&verb[..], &[file]].concat());
            let piped = karat_reading(&[&verb[..], &["-"]].concat(), &imported.stdout);
            // Items do not carry what there is to know of their log.
            let without = |run: &Run| {
                let mut all = items(&run.stdout);
                for answer in &mut all {
                    answer["items"].as_object_mut().map(|it| it.remove("notes"));
                }
                (run.status, all)
            };
            assert_eq!(without(&direct), (0, without(&piped).1), "{verb:?} {}", direct.stderr);
        }
    }
}

#[test]
fn a_record_names_the_file_and_the_place() {
    let explained =
        karat(&["explain", "--table", "--card", "run", REPORT, "--item", "report/cart.keeps the price"]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    let shown = explained.stdout.split("\nSource\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(shown, @r#"
    examples/import/report.xml, line 5, test `cart.keeps the price`
    read as junit
    sha256:9be2863c329b4dd462d2d6698ad6b86abe0584c2a3d66bda07f7eb3efe3ed617
    "#);
    let records = karat(&["score", "--json", "--card", "run", REPORT]).stdout;
    let record: Value = serde_json::from_str(records.lines().nth(1).unwrap()).unwrap();
    assert_eq!(record["grading"]["source"]["file"], REPORT);
    // The record is what the log gives, and a changed log does not give it.
    let explain = |evidence: &str| {
        karat_reading(&["explain", "--table", "--evidence", evidence], records.lines().nth(1).unwrap())
    };
    let same = explain(REPORT);
    assert!(same.status == 0 && same.stdout.contains("report.xml: line 5"), "{}{}", same.stdout, same.stderr);
}

#[test]
fn a_log_that_was_not_asked_for_is_recognised() {
    let run = karat(&["score", "--card", "workflow", REPORT]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stderr, @r#"
    error: `examples/import/report.xml` looks like a JUnit report, not like evidence of kind `workflow-run`
      score it with a card for facts: karat score --card run examples/import/report.xml
      or look at its runs: karat import examples/import/report.xml
    "#);
    let run = karat(&["leaderboard", REPORT]);
    assert_eq!(run.status, 1);
    assert_snapshot!(run.stderr, @r#"
    error: examples/import/report.xml: line 4, test `cart.adds an item`: this is not a record, so it needs a scorecard
      say how to score it: --card run
      `karat card list` names the scorecards that come with karat
    "#);
}

#[test]
fn folders_patterns_and_packed_files() {
    let folder = Folder::new();
    let logs = folder.path().join("logs/deep");
    fs::create_dir_all(&logs).unwrap();
    let report = fs::read(root().join(REPORT)).unwrap();
    fs::write(logs.join("a.xml"), &report).unwrap();
    fs::write(logs.join("notes.txt"), "no log").unwrap();
    fs::write(logs.join("empty.xml"), "<testsuite/>").unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&report).unwrap();
    fs::write(folder.path().join("logs/b.xml.gz"), packed.finish().unwrap()).unwrap();
    // A trial of Harbor: its trajectory is the same run.
    fs::create_dir_all(folder.path().join("logs/trial/agent")).unwrap();
    fs::write(
        folder.path().join("logs/trial/result.json"),
        r#"{"task_name": "t", "trial_name": "t__1", "agent_info": {"name": "a"}, "verifier_result": {"rewards": {"reward": 1}}}"#,
    )
    .unwrap();
    fs::write(
        folder.path().join("logs/trial/agent/trajectory.json"),
        r#"{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a"}, "steps": [{"source": "agent"}]}"#,
    )
    .unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let run = karat(&["import", &path("logs")]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let found = items(&run.stdout);
    assert_eq!(found.len(), 11, "{}", run.stderr);
    assert!(run.stderr.starts_with("11 runs from 3 files (harbor, junit)\n"), "{}", run.stderr);
    assert!(run.stderr.contains("no log: ") && run.stderr.contains("notes.txt"), "{}", run.stderr);
    let subjects: Vec<&str> = found.iter().map(|item| item["subject"].as_str().unwrap()).collect();
    assert!(subjects.contains(&"a") && subjects.contains(&"b"), "{subjects:?}");
    let pattern = karat(&["import", "--quiet", &path("logs/*/*.xml")]);
    assert_eq!(
        (pattern.status, items(&pattern.stdout).len()),
        (1, 5),
        "an empty report that is named is no log"
    );
    assert!(pattern.stderr.contains("has no run in it"), "{}", pattern.stderr);
    let board = karat(&["leaderboard", "--json", "--card", "run", &path("logs")]);
    assert_eq!(board.status, 0, "{}", board.stderr);
    let none = karat(&["import", &path("nothing/*.xml")]);
    none.ends(1, "there is no such file");
}

#[test]
fn a_stream_and_another_name() {
    let text = fs::read_to_string(root().join(SWE_BENCH)).unwrap();
    let run = karat_reading(&["import", "--subject", "bot-7", "--format", "swe-bench"], &text);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        items(&run.stdout).iter().all(|item| item["subject"] == "bot-7" && item["source"]["file"] == "-")
    );
    let refused = |args: &[&str]| {
        let run = karat(&[&["import"], args].concat());
        assert_eq!(run.status, 1);
        run.stderr
    };
    assert_snapshot!(refused(&["--format", "junti", REPORT]), @r#"
    error: there is no format `junti`
      did you mean `junit`?
      there are: atif, inspect, promptfoo, tau2, tau-bench, swe-bench, lm-eval, every-eval-ever, swe-agent, mini-swe-agent, langfuse, harbor, battles, otlp, jaeger, openinference, junit, aider
    "#);
    assert_snapshot!(refused(&["--format", "inspect", SWE_BENCH]), @r#"
    error: examples/import/swe-bench.json: found a report of SWE-bench, expected an Inspect log
      leave out the format, or ask for `swe-bench`
    "#);
    assert_snapshot!(refused(&["README.md"]), @r#"
    error: `README.md` is of no format that karat knows
      if it is of one of those in `karat import --help`, name that: --format FORMAT
      a table or JSON lines of your own need no import: karat score --card CARD FILE
    "#);
}

const TRAJECTORY: &str = "examples/import/fix-17.traj";

#[test]
fn a_log_and_its_traces_give_the_same_records() {
    let imported = karat(&["import", "--as", "trace", TRAJECTORY]);
    assert_eq!(imported.status, 0);
    assert_snapshot!(imported.stderr, @r"
    1 trace from 1 file (swe-agent)
    left out:
           1  `confidence` of a trace: the log has none
           1  `success` of a trace: the log does not say it
           1  no time of the run
    ");
    let score = ["score", "--json", "--card", "trace"];
    let direct = karat(&[&score[..], &[TRAJECTORY]].concat());
    let piped = karat_reading(&score, &imported.stdout);
    assert_eq!((direct.status, &direct.stdout), (0, &piped.stdout), "{}", direct.stderr);
    let explained = karat(&["explain", "--table", "--card", "trace", TRAJECTORY]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    let shown = explained.stdout.split("\nSource\n").nth(1).unwrap().split("\n\n").next().unwrap();
    assert_snapshot!(shown, @r"
    examples/import/fix-17.traj, $.info
    read as swe-agent
    sha256:e464a0a0eabc828216f16212dcbe2af07f9b8b140fb973ff5f584e29c06aafc3
    ");
    // The same run as facts.
    let facts = karat(&["import", "--quiet", TRAJECTORY]);
    assert_eq!(items(&facts.stdout)[0]["tokens"], 4420);
}

#[test]
fn a_log_without_steps_is_no_trace() {
    let score = karat(&["score", "--card", "trace", REPORT]);
    assert_eq!(score.status, 1);
    assert_snapshot!(score.stderr, @r"
    error: `examples/import/report.xml` looks like a JUnit report, not like evidence of kind `reasoning-trace`
      score it with a card for facts: karat score --card run examples/import/report.xml
      or look at its runs: karat import examples/import/report.xml
    ");
    let import = karat(&["import", "--as", "trace", REPORT]);
    assert_eq!(import.status, 1);
    assert_snapshot!(import.stderr, @r"
    error: examples/import/report.xml: found a JUnit report, expected a log with the steps of an agent
      it has runs, for cards of facts
    ");
    let domain = karat(&["import", "--domain", "code", REPORT]);
    assert_eq!(domain.status, 1);
    assert_snapshot!(domain.stderr, @r"
    error: `--domain` is for traces
      add `--as trace`, or leave it out
    ");
}

#[test]
fn battles_are_rated_as_they_are() {
    let folder = Folder::new();
    let file = folder.path().join("battles.csv");
    let rows = "model_a,model_b,winner,language\nx,y,model_a,English\ny,x,tie (bothbad),English\nx,y,model_b,German\nx,y,,German\nx,x,model_a,German\nz,y,,German\n";
    fs::write(&file, rows).unwrap();
    let file = file.display().to_string();
    let rate = ["rate", "--system", "elo", "--json"];
    let direct = karat(&[&rate[..], &[&file]].concat());
    let imported = karat(&["import", &file]);
    let piped = karat_reading(&rate, &imported.stdout);
    // Both say the same, beside the count of an import.
    assert_eq!(direct.status, 0);
    assert_eq!(Some(direct.stderr.as_str()), imported.stderr.split_once('\n').map(|it| it.1));
    assert_snapshot!(direct.stderr, @r"
    left out:
           2  a battle without a vote
           1  a battle of a model against itself
    note: votes that both answers are bad count as draws, as at LMArena
    ");
    let streamed = karat_reading(&[&rate[..], &["-"]].concat(), rows);
    assert_eq!((streamed.status, &streamed.stderr), (0, &direct.stderr));
    let ratings = |text: &str| serde_json::from_str::<Value>(text).unwrap()["ratings"].clone();
    assert_eq!(ratings(&direct.stdout), ratings(&piped.stdout));
}

#[test]
fn an_instance_counts_once_and_one_without_a_report_is_told() {
    let folder = Folder::new();
    for run in ["run.1", "2"] {
        for (id, is_resolved) in [("a", Some(true)), ("b", Some(false)), ("c", None)] {
            let instance = folder.path().join(format!("logs/run_evaluation/{run}/m/{id}"));
            fs::create_dir_all(&instance).unwrap();
            fs::write(instance.join("run_instance.log"), "").unwrap();
            let report = is_resolved.map_or(String::new(), |resolved| {
                format!(r#"{{"{id}": {{"patch_successfully_applied": true, "resolved": {resolved}}}}}"#)
            });
            fs::write(instance.join("report.json"), report).unwrap();
        }
    }
    let path = folder.path().display().to_string();
    let run = karat(&["import", &path]);
    let ids: Vec<String> = items(&run.stdout).iter().map(|it| it["id"].to_string()).collect();
    assert_eq!(ids, [r#""2/m/a""#, r#""2/m/b""#, r#""run.1/m/a""#, r#""run.1/m/b""#]);
    assert!(run.stderr.contains("no report on 1 of its instances, the first `c`"), "{}", run.stderr);
    let report = r#"{"submitted_ids": ["a", "b", "c"], "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}"#;
    fs::write(folder.path().join("m.run.1.json"), report).unwrap();
    let run = karat(&["import", &path]);
    let ids: Vec<String> = items(&run.stdout).iter().map(|it| it["id"].to_string()).collect();
    assert_eq!(ids, [r#""2/m/a""#, r#""2/m/b""#, r#""m.run.1/a""#, r#""m.run.1/b""#, r#""m.run.1/c""#]);
    assert!(run.stderr.contains("2  a verdict that the report of the run has too"), "{}", run.stderr);
}

#[test]
fn only_a_report_says_that_a_trajectory_is_solved() {
    let folder = Folder::new();
    let log = |status: &str| {
        format!(
            r#"{{"trajectory": [{{"action": "ls", "observation": "", "thought": "t"}}], "history": [], "info": {{"exit_status": "{status}", "model_stats": {{"instance_cost": 0.5}}}}}}"#
        )
    };
    fs::create_dir(folder.path().join("trajs")).unwrap();
    for (name, status) in [
        ("a", "submitted"),
        ("b", "submitted"),
        ("c", "submitted (exit_cost)"),
        ("d", "submitted"),
        ("e", "exit_cost"),
    ] {
        fs::write(folder.path().join(format!("trajs/{name}.traj")), log(status)).unwrap();
    }
    let report = r#"{"submitted_ids": ["a", "b", "c", "e", "f"], "resolved_ids": ["a", "c"], "unresolved_ids": ["b"], "empty_patch_ids": ["e"], "error_ids": [], "total_instances": 9}"#;
    fs::write(folder.path().join("report.json"), report).unwrap();
    let [trajs, report] = ["trajs", "report.json"].map(|name| folder.path().join(name).display().to_string());
    let found = |text: &str| -> Vec<String> {
        items(text).iter().map(|it| format!("{} {} {}", it["task"], it["outcome"], it["solved"])).collect()
    };
    let alone = karat(&["import", "--quiet", &trajs]);
    assert!(items(&alone.stdout).iter().all(|item| item["solved"].is_null()));
    let joined = karat(&["import", &trajs, &report]);
    assert_snapshot!(found(&joined.stdout).join("\n"), @r#"
    "a" "succeeded" 1
    "b" "failed" 0
    "c" "succeeded" 1
    "d" null null
    "e" "stopped" 0
    "f" "no-verdict" null
    "#);
    assert!(joined.stderr.contains("1  the verdict on an instance that no report has"), "{}", joined.stderr);
    let direct = karat(&["score", "--json", "--card", "run", &trajs, &report]);
    let piped = karat_reading(&["score", "--json", "--card", "run"], &joined.stdout);
    assert_eq!((direct.status, &direct.stdout), (0, &piped.stdout), "{}", direct.stderr);
    // What no trajectory took is shown by every command.
    for told in [&joined.stderr, &direct.stderr] {
        assert!(
            told.contains("has 1 verdict without a trajectory (1 no-verdict): `f`; they count as runs of `"),
            "{told}"
        );
        assert!(told.contains("names no model; its verdicts went to 4 trajectories without one\n"), "{told}");
    }
    let traces = karat(&["import", "--quiet", "--as", "trace", &trajs, &report]);
    let success: Vec<Value> =
        items(&traces.stdout).iter().map(|it| it["metadata"]["success"].clone()).collect();
    assert_eq!(success, [true.into(), false.into(), true.into(), Value::Null, false.into()]);
    // A report on one instance, in its folder.
    fs::create_dir_all(folder.path().join("logs/model-x/a")).unwrap();
    let single = r#"{"a": {"patch_exists": true, "patch_successfully_applied": true, "resolved": true, "tests_status": {}}}"#;
    fs::write(folder.path().join("logs/model-x/a/report.json"), single).unwrap();
    let alone = karat(&["import", "--quiet", &folder.path().join("logs").display().to_string()]);
    let item = &items(&alone.stdout)[0];
    assert_eq!(
        (&item["subject"], &item["task"], &item["solved"]),
        (&"model-x".into(), &"a".into(), &1.into())
    );
}

/// Beside logs a folder may hold links in circles and to nowhere, pipes, sockets: they are never opened.
#[cfg(unix)]
#[test]
fn what_is_no_file_in_a_folder_is_never_opened() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    let folder = Folder::new();
    let logs = folder.path().join("logs");
    fs::create_dir_all(logs.join("deep")).unwrap();
    fs::copy(root().join(REPORT), logs.join("deep/a.xml")).unwrap();
    symlink("..", logs.join("deep/up")).unwrap();
    symlink("self", logs.join("self")).unwrap();
    symlink("/nowhere", logs.join("gone.xml")).unwrap();
    symlink(root().join(REPORT), logs.join("linked.xml")).unwrap();
    let pipe = logs.join("pipe.xml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(logs.join("socket")).unwrap();
    fs::write(logs.join("empty.json"), "").unwrap();
    let run = folder.karat(&["import", "logs"]);
    assert_eq!((run.status, items(&run.stdout).len()), (0, 5), "{}", run.stderr);
    run.tells("no log: logs/deep/up, logs/empty.json, logs/gone.xml and 2 more\n");
    let board = folder.karat(&["leaderboard", "--json", "--card", "run", "logs"]);
    assert_eq!(board.status, 0, "{}", board.stderr);
    // A pipe that is named is read, a device is not; a link to a file is that file.
    let text = fs::read(root().join(REPORT)).unwrap();
    let writer = std::thread::spawn(move || fs::write(pipe, text).unwrap());
    let piped = folder.karat(&["import", "--quiet", "logs/pipe.xml"]);
    writer.join().unwrap();
    assert_eq!((piped.status, items(&piped.stdout).len()), (0, 5), "{}", piped.stderr);
    assert_eq!(folder.karat(&["import", "--quiet", "logs/linked.xml"]).status, 0);
    let device = folder.karat(&["import", "--format", "junit", "/dev/zero"]);
    assert_eq!(device.status, 1);
    assert_snapshot!(device.stderr, @r"
    error: `/dev/zero` is neither a file nor a pipe
      name the log itself
    ");
    for name in ["logs/gone.xml", "logs/self"] {
        let gone = folder.karat(&["import", name]);
        gone.ends(1, name);
    }
}

#[test]
fn a_damaged_log_in_a_folder_is_refused_by_every_command() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("logs")).unwrap();
    fs::copy(root().join(REPORT), folder.path().join("logs/a.xml")).unwrap();
    fs::write(folder.path().join("logs/b.eval"), b"PK\x03\x04 and no more").unwrap();
    for verb in [&["import"][..], &["score", "--card", "run"], &["leaderboard", "--card", "run"]] {
        let run = folder.karat(&[verb, &["logs"]].concat());
        assert!(
            run.status == 1 && run.stderr.contains("logs/b.eval: the archive: "),
            "{verb:?} {}",
            run.stderr
        );
    }
    // A folder beside others: its README is left out of a comparison.
    fs::remove_file(folder.path().join("logs/b.eval")).unwrap();
    fs::write(folder.path().join("logs/README.md"), "# Logs\n").unwrap();
    fs::create_dir(folder.path().join("new")).unwrap();
    fs::copy(root().join(REPORT), folder.path().join("new/a.xml")).unwrap();
    let run = folder.karat(&["compare", "--json", "--card", "run", "logs", "new"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let told = "note: no log, so passed over: `logs/README.md`\nleft out:\n";
    assert!(run.stderr.starts_with(told), "{}", run.stderr);
}

#[test]
fn the_field_of_tasks_is_known_to_every_command_that_reads_facts() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"subject\": \"a\", \"case\": \"c1\", \"solved\": 1, \"id\": \"1\"}\n");
    let named = folder.karat(&["score", "--json", "--card", "run", "--task-field", "case", "a.jsonl"]);
    assert_eq!(named.status, 0, "{}", named.stderr);
    folder.write("record.json", &named.stdout);
    let with = |more: &[&str]| folder.karat(&[more, &["--task-field", "case"]].concat());
    let explained = with(&["explain", "--json", "--card", "run", "a.jsonl"]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    assert!(explained.stdout.contains("\"c1\""), "{}", explained.stdout);
    assert_eq!(with(&["explain", "--json", "--evidence", "a.jsonl", "record.json"]).status, 0);
    // Without it the evidence does not give the record: it has no task.
    assert_ne!(folder.karat(&["explain", "--json", "--evidence", "a.jsonl", "record.json"]).status, 0);
    let moved = with(&["card", "diff", "run", "run", "a.jsonl", "--json"]);
    assert_eq!(moved.status, 0, "{}", moved.stderr);
    let refused = folder.karat(&["score", "--card", "workflow", "--task-field", "case", "a.jsonl"]);
    refused.ends(1, "leave out --task-field");
}

/// The items that a folder gives: subject, task and score of each.
fn counted(text: &str) -> Vec<String> {
    let mut all: Vec<String> = items(text)
        .iter()
        .map(|it| format!("{} {} {} {}", it["subject"], it["task"], it["outcome"], it["solved"]))
        .collect();
    all.sort();
    all
}

#[test]
fn sums_beside_their_samples_count_once() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("lm/model-x")).unwrap();
    let row = |doc: u8| {
        format!(
            "{{\"doc_id\": {doc}, \"doc\": {{}}, \"target\": \"t\", \"arguments\": [], \"resps\": [], \"filtered_resps\": [], \"acc\": {}}}\n",
            doc % 2
        )
    };
    fs::write(path("lm/model-x/samples_arc_2026-01-21T03-44-18.jsonl"), row(0) + &row(1)).unwrap();
    let sums = r#"{"results": {"arc": {"acc,none": 0.5}, "all": {"acc,none": 0.5}, "piqa": {"acc,none": 1}}, "group_subtasks": {"all": ["arc"], "arc": []}, "configs": {}, "lm_eval_version": "0.4", "model_name": "m"}"#;
    fs::write(path("lm/model-x/results_2026-01-21T03-44-18.json"), sums).unwrap();
    let run = folder.karat(&["import", "lm"]);
    assert_eq!((run.status, items(&run.stdout).len()), (0, 2), "{}", run.stderr);
    run.tells("2  a mean or sum of samples that are read from another file");
    assert!(run.stderr.contains("has sums without samples of `piqa`"), "{}", run.stderr);
    let board = folder.karat(&["leaderboard", "--json", "--card", "run", "lm"]);
    board.ends(0, "without samples of `piqa`");
    let alone = folder.karat(&["import", "lm/model-x/results_2026-01-21T03-44-18.json"]);
    alone.ends(1, "--log_samples");
    // Every Eval Ever, out and in again.
    let mut runs = String::new();
    for at in 0..40 {
        let end = if at % 2 == 0 {
            "\"solved\": 1, \"outcome\": \"succeeded\""
        } else {
            "\"outcome\": \"stopped\""
        };
        runs += &format!("{{\"subject\": \"a/b\", \"task\": \"bench/{at}\", \"id\": \"{at}\", {end}}}\n");
    }
    folder.write("runs.jsonl", &runs);
    let export =
        folder.karat(&["export", "--to", "every-eval-ever", "--card", "run", "--out", "out", "runs.jsonl"]);
    assert_eq!(export.status, 0, "{}", export.stderr);
    let back = folder.karat(&["import", "out"]);
    assert_eq!((back.status, counted(&back.stdout)), (0, counted(&runs)), "{}", back.stderr);
    let board = |from: &str| {
        let run = folder.karat(&["leaderboard", "--json", "--card", "run", from]);
        let value: Value = serde_json::from_str(&run.stdout).unwrap();
        let row = &value["rows"][0];
        (run.status, row["score"].clone(), row["tasks"].clone(), row["mean"].clone())
    };
    assert_eq!(board("out"), board("runs.jsonl"));
    // The record alone has the means; samples that are gone are missed.
    let files: Vec<_> = fs::read_dir(path("out")).unwrap().map(|it| it.unwrap().path()).collect();
    let of = |end: &str| files.iter().find(|it| it.display().to_string().ends_with(end)).unwrap();
    let record = karat(&["import", "--quiet", &of(".json").display().to_string()]);
    assert_eq!(items(&record.stdout)[0]["solved"], 0.5);
    assert_eq!(items(&record.stdout)[0]["n"], 40);
    let kept: String =
        fs::read_to_string(of(".jsonl")).unwrap().lines().take(30).flat_map(|line| [line, "\n"]).collect();
    fs::write(of(".jsonl"), kept).unwrap();
    let fewer = folder.karat(&["import", "out"]);
    assert!(fewer.stderr.contains("says that it has 40 samples; 30 are here"), "{}", fewer.stderr);
}

/// A file with several names counts once, or is refused.
#[cfg(unix)]
#[test]
fn no_file_counts_twice() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let deep = folder.path().join("logs/deep");
    fs::create_dir_all(&deep).unwrap();
    fs::copy(root().join(REPORT), deep.join("a.xml")).unwrap();
    fs::copy(root().join(REPORT), folder.path().join("logs/b.xml")).unwrap();
    symlink("..", deep.join("up")).unwrap();
    symlink("deep/a.xml", folder.path().join("logs/c.xml")).unwrap();
    for given in ["logs", "logs/**/*.xml", "**/*.xml", "logs/**"] {
        let run = folder.karat(&["import", given]);
        assert_eq!((run.status, items(&run.stdout).len()), (0, 10), "{given}: {}", run.stderr);
        let board = folder.karat(&["leaderboard", "--json", "--card", "run", given]);
        assert_eq!(board.status, 0, "{given}: {}", board.stderr);
    }
    for twice in [["logs", "logs/b.xml"], ["logs/b.xml", "./logs/b.xml"], ["logs/c.xml", "logs/deep/a.xml"]] {
        let run = folder.karat(&["import", twice[0], twice[1]]);
        assert_eq!((run.status, run.stdout.as_str()), (1, ""));
        run.tells("is given twice, so each of its items would count twice");
    }
}

#[test]
fn a_copy_of_a_log_is_called_a_copy_and_another_try_is_not() {
    let folder = Folder::new();
    let log = |success: bool, cost: f64| {
        format!(
            r#"{{"id":"r1","promptIdx":0,"testIdx":0,"success":{success},"cost":{cost},"provider":"p","vars":{{"n":1}}}}"#
        ) + "\n"
    };
    folder.write("a.jsonl", &log(true, 0.5));
    folder.write("copy.jsonl", &log(true, 0.5));
    folder.write("other.jsonl", &log(true, 0.6));
    let board = |other: &str| folder.karat(&["leaderboard", "--card", "run", "a.jsonl", other]);
    board("copy.jsonl").ends(1, "`copy.jsonl` is a copy of `a.jsonl`");
    board("other.jsonl").ends(1, "`p` has two items `r1` that differ");
}

#[test]
fn a_format_that_is_not_read_is_called_by_its_name() {
    let folder = Folder::new();
    folder.write("run.json", r#"{"testCases": [{"name": "c", "success": true}], "testPassed": 1}"#);
    folder.write(
        "out.csv",
        "Description,[m] Say {{n}},Status,Score,Named Scores,Grader Reason,Comment\na,b,PASS,1,{},x,\n",
    );
    folder.write("ragas.csv", "user_input,response,retrieved_contexts,subject,solved\nq,a,[],s,1\n");
    for (file, words) in [("run.json", "a test run of DeepEval"), ("out.csv", "the table of promptfoo")] {
        for command in [&["import"][..], &["leaderboard", "--card", "run"], &["score", "--card", "run"]] {
            let run = folder.karat(&[command, &[file]].concat());
            run.ends(1, format!("`{file}` is {words}, which is not read"));
        }
    }
    // A table may be the user's own.
    folder.karat(&["import", "ragas.csv"]).ends(1, "a table of Ragas");
    assert_eq!(folder.karat(&["leaderboard", "--card", "run", "ragas.csv"]).status, 0);
    // Among others it is passed over.
    folder.write("r.xml", &fs::read_to_string(root().join(REPORT)).unwrap());
    folder.karat(&["import", "."]).ends(0, "no log: ");
}

#[test]
fn results_of_evaluations_in_another_file_go_to_their_traces() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("logs")).unwrap();
    let about = |name: &str, value: &str| format!(r#"{{"key": "{name}", "value": {value}}}"#);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let chat = about("gen_ai.operation.name", r#"{"stringValue": "chat"}"#);
    folder.write("logs/traces.json", &format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"traceId": "{trace}", "spanId": "00f067aa0ba902b7", "name": "chat", "attributes": [{chat}]}}]}}]}}]}}"#));
    let name = about("gen_ai.evaluation.name", r#"{"stringValue": "solved"}"#);
    let label = about("gen_ai.evaluation.score.label", r#"{"stringValue": "pass"}"#);
    folder.write("logs/events.json", &format!(r#"{{"resourceLogs": [{{"scopeLogs": [{{"logRecords": [{{"traceId": "{trace}", "eventName": "gen_ai.evaluation.result", "attributes": [{name}, {label}]}}]}}]}}]}}"#));
    let run = folder.karat(&["import", "logs"]);
    assert_eq!((run.status, items(&run.stdout)[0]["solved"].as_u64()), (0, Some(1)), "{}", run.stderr);
    let board = folder.karat(&["leaderboard", "--json", "--card", "run", "logs"]);
    assert_eq!(board.status, 0, "{}", board.stderr);
    folder.karat(&["import", "logs/events.json"]).ends(1, "give the file of their spans, too");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn the_order_of_files_changes_no_item(order in Just((0..7usize).collect::<Vec<_>>()).prop_shuffle()) {
        let folder = Folder::new();
        let log = r#"{"info": {"exit_status": "Submitted", "config": {"model": {"model_name": "org/m"}}}, "messages": [{"role": "user", "content": "u"}], "trajectory_format": "mini-swe-agent-1"}"#;
        let sample = |id: u8| format!(r#"{{"evaluation_id": "e", "model_id": "m", "evaluation_name": "n", "sample_id": "{id}", "evaluation": {{"score": 1, "is_correct": true}}}}"#);
        let files = [
            ("r.xml", fs::read_to_string(root().join(REPORT)).unwrap()),
            ("x__y-1.traj.json", log.to_owned()),
            ("x__y-2.traj.json", log.to_owned()),
            ("org__m.run.json", r#"{"submitted_ids": ["x__y-1", "x__y-2"], "resolved_ids": ["x__y-1"], "unresolved_ids": ["x__y-2"]}"#.to_owned()),
            ("e.json", r#"{"evaluation_id": "e", "model_info": {"id": "m"}, "evaluation_results": [{"evaluation_name": "n", "metric_config": {"min_score": 0, "max_score": 1}, "score_details": {"score": 1}}]}"#.to_owned()),
            ("e1.jsonl", sample(1)),
            ("e2.jsonl", sample(2)),
        ];
        files.iter().for_each(|(name, text)| folder.write(name, text));
        let given = |order: &[usize]| -> Vec<String> {
            let names: Vec<&str> = order.iter().map(|at| files[*at].0).collect();
            let run = folder.karat(&[&["import"][..], &names].concat());
            assert_eq!(run.status, 0, "{}", run.stderr);
            let mut lines: Vec<String> = run.stdout.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let first = given(&[0, 1, 2, 3, 4, 5, 6]);
        prop_assert_eq!(first.len(), 9);
        prop_assert_eq!(given(&order), first);
    }
}
