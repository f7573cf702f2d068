//! `karat run`: replays, and live runs without the program that they need; `karat verify --rerun`. Live runs are tested in `runner/`.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, finish, karat, karat_reading, program, root};

const PLAN: &str = "examples/run/plan.json";
const TASK: &str = "examples/run/task.json";
const RECORDING: &str = "examples/run/recording.jsonl";
const EVIDENCE: &str = "examples/run/evidence.json";
const KEY: &str = "examples/run/recorder.key";

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

#[test]
fn the_example_replays_to_its_evidence_and_its_score() {
    let replayed = karat(&["run", PLAN, "--task", TASK, "--replay", RECORDING, "--key", KEY]);
    assert_eq!((replayed.status, replayed.stderr.as_str()), (0, ""));
    assert_eq!(replayed.stdout, read(EVIDENCE));
    let scored = karat_reading(&["score", "-c", "workflow"], &replayed.stdout);
    let record: Value = serde_json::from_str(&scored.stdout).unwrap();
    assert_eq!(record["score"]["published"], 0.736_683_163_5);
    assert_eq!(record["facts"]["steps_completed"], 6);
    assert_snapshot!(karat(&["run", PLAN, "--task", TASK, "--replay", RECORDING, "--table"]).screen());
}

/// `scripts/check-judge` runs its steps again.
#[test]
fn the_recorded_steps_of_code_replay_to_their_evidence() {
    let folder = "examples/run/sandbox";
    let [plan, task, recording] =
        ["plan.json", "task.json", "recording.jsonl"].map(|name| format!("{folder}/{name}"));
    let replayed = karat(&["run", &plan, "--task", &task, "--replay", &recording]);
    assert_eq!((replayed.status, replayed.stderr.as_str()), (0, ""));
    assert_eq!(replayed.stdout, read(&format!("{folder}/evidence.json")));
    let item: Value = serde_json::from_str(&replayed.stdout).unwrap();
    let text = item["result"]["final_output"]["text"].as_str().unwrap();
    assert_eq!(text, "Aster - Birk - Esk - Calm - Dove - Aster: 26.0 nm");
}

#[test]
fn evidence_that_is_not_of_the_recording_is_told_member_by_member() {
    let folder = Folder::new();
    let changed = |name: &str, from: &str, to: &str| {
        let text = read(EVIDENCE);
        assert!(text.contains(from), "{from}");
        folder.write(name, &text.replacen(from, to, 1));
        let path = folder.path().join(name).display().to_string();
        let run = karat(&["verify", "--rerun", RECORDING, &path, "--key", KEY]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        let check = &answer["checks"][2];
        assert_eq!((run.status, &check["name"]), (14, &Value::from("evidence")));
        let details = check["details"].as_array().unwrap().iter().map(|it| it.as_str().unwrap());
        let all =
            std::iter::once(check["says"].as_str().unwrap()).chain(details).collect::<Vec<_>>().join("\n");
        all.split("sha256:")
            .map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
            .collect::<Vec<_>>()
            .join("[digest]")
    };
    assert_snapshot!(changed("cost", "\"cost\":0.001", "\"cost\":0.0001"), @r"
    the replay gives other evidence
    `result.attempts` differs
    ");
    assert_snapshot!(changed("text", "Tomorrow", "Today"), @r"
    the replay gives other evidence
    `result.final_output` differs
    ");
    assert_snapshot!(changed("plan", "\"retry_count\":1", "\"retry_count\":2"), @r"
    step `translate`, attempt 3 is not in the recording
    the recording is of another plan: of [digest], and this is [digest]; give the plan that was recorded
    ");
    assert_snapshot!(changed("task", "max_budget_tao\":0.02", "max_budget_tao\":0.2"), @"the recording is of another task: of [digest], and this is [digest]; give the task that was recorded");
    assert_snapshot!(changed("quality", "\"result\"", "\"output_quality\":1,\"result\""), @"$.output_quality: found `output_quality`, expected a member of an answer with a plan (line 1, column 34)");
    assert_snapshot!(changed("time", "\"time\":\"2026", "\"time\":\"2027"), @r"
    the replay gives other evidence
    `time` differs
    ");
    assert_snapshot!(changed("space", "{\"id\"", "{ \"id\""), @r"
    the replay gives other evidence
    the members are the same: keep the line as `karat run` wrote it
    ");
    assert_snapshot!(changed("none", "{\"id\"", "[\"id\""), @r"
    the file is not one item of evidence
    $[1]: found `:`, expected `,` or `]` (line 1, column 6)
    ");
}

#[test]
fn a_changed_recording_is_refused_and_nothing_is_written() {
    let folder = Folder::new();
    folder.write("changed.jsonl", &read(RECORDING).replace("no dictionary", "a dictionary"));
    let path = folder.path().join("changed.jsonl").display().to_string();
    let refused = karat(&["run", PLAN, "--task", TASK, "--replay", &path]);
    assert_eq!((refused.status, refused.stdout.as_str()), (14, ""));
    assert!(refused.stderr.contains("the recording was changed: it says sha256:"), "{}", refused.stderr);
    assert_eq!(karat(&["verify", "--rerun", &path, EVIDENCE, "--key", KEY]).status, 14);
}

#[test]
fn a_live_run_names_the_program_that_it_needs_and_how_to_build_it() {
    let mut command = program(&root());
    command.env("PATH", "").env_remove("KARAT_RUNNER").args(["run", PLAN, "--task", TASK, "--executors"]);
    let run = finish(command.arg("examples/run/executors.toml"), "");
    assert_snapshot!(run.screen(), @r"
    exit status 1
    --- errors
    error: there is no `karat-runner` beside this program or in PATH
      build it with `cargo build --release --locked --manifest-path runner/Cargo.toml`, and name it: KARAT_RUNNER
    ");
}
