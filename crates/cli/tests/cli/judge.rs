//! Commands that score matches of challenges that run code, with a judge that is a small script.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat_process::{Judges, Options as JudgeOptions};
use serde_json::{Value, json};

use crate::common::{Folder, Run, finish, program, root};

/// Returns a folder with a challenge, a match, and a judge with this engine; `gone` ends it.
fn folder(engine: &str) -> Folder {
    let folder = Folder::new();
    for file in fs::read_dir(root().join("crates/cli/tests/clamp")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    folder.write("engine", engine);
    folder
}

fn played(folder: &Folder) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.path().join("match.json")).unwrap()).unwrap()
}

fn karat(folder: &Folder, arguments: &[&str]) -> Run {
    let judge = folder.path().join("judge");
    finish(program(folder.path()).env("KARAT_JUDGE", judge).args(arguments), "")
}

fn record(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_same_match_gives_the_same_bytes_by_every_way() {
    let folder = folder("fake 1.0");
    let by_score = karat(&folder, &["score", "-c", "clamp.toml", "match.json"]);
    assert_eq!((by_score.status, by_score.stderr.as_str()), (0, ""));
    let card = CompiledCard::from_file(&folder.path().join("clamp.toml")).unwrap();
    let judges = Judges::found(Some(&folder.path().join("judge")), JudgeOptions::default());
    let options = Options { judge: Some(Arc::new(judges)), ..Options::default() };
    let mut engine = Engine::new(card, options).unwrap();
    let mut bytes = Vec::new();
    engine.visit(played(&folder).to_string().as_bytes(), |scored| scored.write(&mut bytes)).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), by_score.stdout.trim_end());
    // With four threads as with one.
    let many: String = (0..12)
        .map(|number| {
            let mut one = played(&folder);
            one["match_id"] = format!("m-{number}").into();
            format!("{one}\n")
        })
        .collect();
    folder.write("many.jsonl", &many);
    let jobs = |jobs: &str| karat(&folder, &["score", "-c", "clamp.toml", "--jobs", jobs, "many.jsonl"]);
    assert_eq!(jobs("1").stdout, jobs("4").stdout);
    for command in ["explain", "leaderboard"] {
        let run = karat(&folder, &[command, "-c", "clamp.toml", "match.json", "--json"]);
        assert!(run.status == 0 && run.stdout.contains("1000"), "{command}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn a_record_is_judged_again_and_another_judge_decides_nothing() {
    let folder = folder("fake 1.0");
    folder.write("record.json", &karat(&folder, &["score", "-c", "clamp.toml", "match.json"]).stdout);
    let again = || {
        karat(&folder, &["verify", "--rerun", "match.json", "--card", "clamp.toml", "record.json", "--json"])
    };
    let verified = again();
    assert_eq!(
        (verified.status, record(&verified)["status"].clone()),
        (0, json!("verified")),
        "{}",
        verified.stdout
    );
    folder.write("engine", "fake 2.0");
    let other = again();
    assert_eq!(other.status, 12, "{}", other.stdout);
    assert!(other.stdout.contains("fake 1.0") && other.stdout.contains("fake 2.0"), "{}", other.stdout);
    folder.write("engine", "gone");
    let gone = again();
    assert!(gone.status == 12 && gone.stdout.contains("there is no verdict here"), "{}", gone.stdout);
    folder.write("engine", "fake 1.0");
    folder.write("match.json", &played(&folder).to_string().replace("return high", "return low"));
    assert_eq!(again().status, 14);
    folder.write("match.json", "{}");
    assert_eq!(again().status, 1);
}

#[test]
fn without_a_judge_there_is_no_score() {
    let folder = folder("gone");
    let scored = record(&karat(&folder, &["score", "-c", "clamp.toml", "match.json"]));
    assert_eq!((&scored["score"], &scored["evidence"]["outcome"]), (&Value::Null, &json!("no-verdict")));
}

/// Pipelines tell a broken challenge from a bad answer by the status.
#[test]
fn an_error_keeps_its_kind_whatever_the_command() {
    let doors: [&[&str]; 11] = [
        &["score"],
        &["score", "--keep-going"],
        &["score", "--keep-going", "--jobs", "3"],
        &["score", "--brief"],
        &["score", "--fail-under", "1"],
        &["score", "--format", "csv"],
        &["explain"],
        &["leaderboard"],
        &["leaderboard", "--fail-under", "1"],
        &["leaderboard", "--json"],
        &["standing", "--as-of", "2026-02-01T00:00:00Z"],
    ];
    type Way = (&'static str, fn(&Folder), i32, &'static str);
    let ways: [Way; 3] = [
        ("raises", |_| (), 13, "ValueError"),
        ("fake 1.0", |folder| folder.write("cases.toml", "case = []"), 13, "digest"),
        (
            "fake 1.0",
            |folder| fs::remove_file(folder.path().join("cases.toml")).unwrap(),
            13,
            "cannot be read",
        ),
    ];
    for (engine, change, status, told) in ways {
        let folder = folder(engine);
        change(&folder);
        // Many items as one.
        let item = fs::read_to_string(folder.path().join("match.json")).unwrap();
        folder.write("many.jsonl", &format!("{0}\n{0}\n", item.trim().replace('\n', " ")));
        for (door, file) in doors.iter().flat_map(|door| [(door, "match.json"), (door, "many.jsonl")]) {
            let run = karat(&folder, &[door, &["-c", "clamp.toml", file][..]].concat());
            let said = format!("{door:?} {file}: {}{}", run.stdout, run.stderr);
            assert!(
                run.status == status && (status == 1 || run.stderr.contains(told)),
                "{} {said}",
                run.status
            );
            assert!(!said.contains("the others were scored"), "{said}");
        }
    }
}

#[test]
fn a_judge_that_nothing_asks_for_is_refused() {
    let folder = folder("fake 1.0");
    karat(&folder, &["score", "-c", "workflow", "--judge", "judge", "match.json"])
        .ends(1, "--judge is for evidence of kind `match`");
    karat(&folder, &["serve", "--judge", "nowhere"]).ends(1, "--judge");
}

#[test]
fn without_the_runner_it_is_named_with_the_command_that_builds_it() {
    for arguments in [&["judge", "clamp.toml", "reference.py"][..], &["judge", "--help"], &["help", "judge"]]
    {
        let run = finish(program(&root()).env("PATH", "").env_remove("KARAT_RUNNER").args(arguments), "");
        run.ends(1, "--manifest-path runner/Cargo.toml");
        assert!(run.stdout.is_empty() && run.stderr.contains("there is no `karat-runner`"), "{}", run.stderr);
    }
}

/// The runner gets the arguments, and its status and output are what karat ends with.
#[test]
fn the_runner_takes_the_place_of_karat() {
    let folder = Folder::new();
    folder.write("runner", "#!/bin/sh\necho \"$@\"\nexit 12\n");
    let runner = folder.path().join("runner");
    fs::set_permissions(&runner, fs::Permissions::from_mode(0o755)).unwrap();
    for (arguments, told) in [
        (&["judge", "a.toml", "b.py", "--self-check"][..], "--color=auto judge a.toml b.py --self-check\n"),
        (&["--color", "never", "judge", "doctor", "--json"], "--color=never judge doctor --json\n"),
        (&["judge", "-h"], "--color=auto judge -h\n"),
        (&["help", "judge", "doctor"], "judge doctor --help\n"),
    ] {
        let run = finish(program(folder.path()).env("KARAT_RUNNER", &runner).args(arguments), "");
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (12, told, ""));
    }
}
