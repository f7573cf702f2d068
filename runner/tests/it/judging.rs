//! `karat judge`, with a judge that is a small script.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::karat::{Folder, Run, finish, program, read, root};

/// Returns a folder with a challenge, a match, and a judge with this engine; `gone` ends it.
fn folder(engine: &str) -> Folder {
    let folder = Folder::new();
    for file in fs::read_dir(root().join("crates/cli/tests/clamp")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder.write("engine", engine);
    let reference = read("crates/cli/tests/clamp/reference.py");
    folder.write("wrong.py", &reference.replace("return high", "raise ValueError(high)"));
    folder
}

/// Checks an answer by its JSON Schema.
fn satisfies(name: &str, answer: &str) {
    let schema = finish(program(&root()).args(["schema", name])).stdout;
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let found: Vec<String> =
        validator.iter_errors(&serde_json::from_str(answer).unwrap()).map(|it| it.to_string()).collect();
    assert_eq!(found, Vec::<String>::new(), "{name}: {answer}");
}

fn karat(folder: &Folder, arguments: &[&str]) -> Run {
    let judge = folder.path().join("judge");
    finish(program(folder.path()).env("KARAT_JUDGE", judge).args(arguments))
}

fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn each_case_has_a_row_and_the_score_its_account() {
    let folder = folder("fake 1.0");
    let run = karat(&folder, &["judge", "clamp.toml", "wrong.py", "--table"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(run.screen());
    let reference = read("crates/cli/tests/clamp/reference.py");
    let right = record(&karat(&folder, &["judge", "clamp.toml", "reference.py"]));
    assert_eq!(right["score"]["published"], 1000);
    let scored = karat(&folder, &["score", "-c", "clamp.toml", "match.json"]);
    assert_eq!(karat(&folder, &["judge", "clamp.toml", "match.json"]).stdout, scored.stdout);
    // An answer as JSON, alone or as it is submitted, and a folder are the same submission.
    folder.write("answer.json", &json!({"code": reference}).to_string());
    folder.write("payload.json", &json!({"answer": {"code": reference}}).to_string());
    fs::create_dir(folder.path().join("sent")).unwrap();
    folder.write("sent/solution.py", &reference);
    for path in ["answer.json", "payload.json", "sent"] {
        assert_eq!(record(&karat(&folder, &["judge", "clamp.toml", path])), right, "{path}");
    }
}

#[test]
fn without_a_judge_there_is_no_verdict() {
    let folder = folder("gone");
    let run = karat(&folder, &["judge", "clamp.toml", "reference.py"]);
    run.ends(12, "no engine");
    // A runner with nothing beside it.
    let alone = folder.path().join("karat-runner");
    fs::copy(env!("CARGO_BIN_EXE_karat-runner"), &alone).unwrap();
    let nowhere = |arguments: &[&str]| {
        let mut command = program(folder.path());
        command.env("PATH", "").env("KARAT_RUNNER", &alone).env_remove("KARAT_JUDGE");
        finish(command.args(arguments))
    };
    let run = nowhere(&["judge", "clamp.toml", "reference.py"]);
    run.ends(12, "--judge PATH");
    let run = nowhere(&["judge", "clamp.toml", "reference.py", "--judge", "cases.toml"]);
    run.ends(12, "may not be executed");
    // Nothing to run needs no judge.
    folder.write("empty.json", "{}");
    let empty = nowhere(&["judge", "clamp.toml", "empty.json"]);
    assert_eq!((empty.status, &record(&empty)["score"]["published"]), (0, &json!(0)));
}

#[test]
fn a_self_check_tells_the_reference_from_nothing() {
    let folder = folder("fake 1.0");
    let check = ["judge", "clamp.toml", "--self-check", "--reference"];
    let run = karat(&folder, &[&check[..], &["reference.py", "--table"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(run.screen());
    let answer = record(&karat(&folder, &[&check[..], &["reference.py", "--json"]].concat()));
    assert_eq!(answer["is_sound"], true);
    satisfies("judge-check", &answer.to_string());
    let wrong = karat(&folder, &[&check[..], &["wrong.py", "--json"]].concat());
    assert_eq!(wrong.status, 13);
    assert_eq!(record(&wrong)["reference"]["failed"], json!(["cases.toml: above"]));
    folder.write("engine", "gone");
    assert_eq!(karat(&folder, &[&check[..], &["reference.py"]].concat()).status, 12);
}

#[test]
fn what_cannot_be_judged_is_refused_with_a_hint() {
    let folder = folder("fake 1.0");
    let refused = |arguments: &[&str], status: i32, expected: &str| {
        let run = karat(&folder, arguments);
        assert_eq!(run.status, status, "{}", run.stderr);
        assert!(run.stderr.contains(expected), "{expected}: {}", run.stderr);
    };
    refused(&["judge", "incident-review", "reference.py"], 1, "runs nothing");
    refused(&["judge", "clamp.toml", "none.py"], 1, "none.py");
    refused(&["judge", "clamp.toml"], 2, "SUBMISSION");
    refused(&["judge", "clamp.toml", "--self-check"], 2, "--reference");
    refused(&["judge", "clamp.toml", "match.json", "--truth", "match.json"], 1, "leave out --truth");
    refused(&["judge", "-", "-"], 1, "only once");
    folder.write("list.json", "[1]");
    refused(&["judge", "clamp.toml", "list.json"], 1, "expected an object");
    folder.write("bad.py", "x");
    fs::write(folder.path().join("bad.py"), [0xff, 0xfe]).unwrap();
    refused(&["judge", "clamp.toml", "bad.py"], 1, "not UTF-8");
    folder.write("cases.toml", &read("crates/cli/tests/clamp/cases.toml").replace("11", "12"));
    refused(&["judge", "clamp.toml", "reference.py"], 13, "cases.toml");
}

#[test]
fn every_help_fits_a_screen() {
    for verb in [&["judge"][..], &["judge", "doctor"]] {
        let text = finish(program(&root()).args([verb, &["--help"]].concat())).stdout;
        assert_eq!(finish(program(&root()).args([&["help"], verb].concat())).stdout, text);
        assert!(text.contains(&format!("Usage: karat {} ", verb.join(" "))), "{text}");
        assert!(text.lines().count() <= 40 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

/// A program that says what a judge says of itself, and waits.
const JUDGE: &str = "#!/bin/sh\necho '{\"karat-judge\":1,\"version\":\"9.8.7\",\"engine\":\"toy 1\",\"runtimes\":\
    {\"wasm\":\"sha256:00\"}}'\nread line\n";

#[test]
fn the_doctor_says_what_the_judge_is() {
    let folder = Folder::new();
    let doctor = |arguments: &[&str]| {
        let mut command = program(folder.path());
        for name in ["KARAT_JUDGE", "KARAT_RUNTIMES", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env_remove(name);
        }
        // Nothing of this machine but its layers.
        command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin");
        finish(command.args(["judge", "doctor"]).args(arguments))
    };
    let run = doctor(&["--judge", "no-such-judge"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let found = record(&run);
    let fault = found["judge"]["fault"].as_str().unwrap();
    assert!(found["judge"]["program"].is_null() && fault.contains("no-such-judge"), "{fault}");
    assert_eq!(found["cache"]["exists"], false);
    satisfies("judge-doctor", &run.stdout);

    folder.write("karat-judge", JUDGE);
    let path = folder.path().join("karat-judge");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let path = path.to_str().unwrap();
    let run = doctor(&["--judge", path]);
    let found = record(&run);
    let judge = &found["judge"];
    assert_eq!((&judge["version"], &judge["engine"]), (&"9.8.7".into(), &"toy 1".into()), "{found}");
    assert_eq!(judge["runtimes"]["wasm"], "sha256:00");
    let table = doctor(&["--judge", path, "--table"]).stdout;
    for said in ["9.8.7, toy 1", "sha256:00", "make it with scripts/build-runtime"] {
        assert!(table.contains(said), "{said}: {table}");
    }
}
