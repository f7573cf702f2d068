//! `karat judge doctor`: what the judge says, and what is said where a program is missing.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::common::{Folder, Run, finish, program};

/// A program that says what a judge says of itself, and waits.
const JUDGE: &str = "#!/bin/sh\necho '{\"karat-judge\":1,\"version\":\"9.8.7\",\"engine\":\"toy 1\",\"runtimes\":\
    {\"wasm\":\"sha256:00\"}}'\nread line\n";

fn doctor(folder: &Folder, arguments: &[&str]) -> Run {
    let mut command = program(folder.path());
    for name in ["KARAT_JUDGE", "KARAT_RUNNER", "KARAT_RUNTIMES", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env_remove(name);
    }
    // Nothing of this machine but its layers.
    command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin");
    finish(command.args(["judge", "doctor"]).args(arguments), "")
}

#[test]
fn without_the_runner_nothing_is_known_of_layers() {
    let folder = Folder::new();
    let run = doctor(&folder, &["--judge", "no-such-judge"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let why = found["sandbox"]["fault"].as_str().unwrap();
    assert!(found["sandbox"]["layers"].is_null() && why.contains("runner/Cargo.toml"), "{why}");
    assert_eq!(doctor(&folder, &["--strict"]).status, 1);
    let fault = found["judge"]["fault"].as_str().unwrap();
    assert!(found["judge"]["program"].is_null() && fault.contains("no-such-judge"), "{fault}");
    assert_eq!(found["cache"]["exists"], false);
    assert!(doctor(&folder, &["--table"]).stdout.contains("there is no `karat-runner`"));
}

#[test]
fn the_judge_says_what_it_is() {
    let folder = Folder::new();
    folder.write("karat-judge", JUDGE);
    let path = folder.path().join("karat-judge");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = path.to_str().unwrap();
    let run = doctor(&folder, &["--judge", path]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let judge = &found["judge"];
    assert_eq!((&judge["version"], &judge["engine"]), (&"9.8.7".into(), &"toy 1".into()), "{found}");
    assert_eq!(judge["runtimes"]["wasm"], "sha256:00");
    let table = doctor(&folder, &["--judge", path, "--table"]).stdout;
    for said in ["9.8.7, toy 1", "sha256:00", "make it with scripts/build-runtime"] {
        assert!(table.contains(said), "{said}: {table}");
    }
}
