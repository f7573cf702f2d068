//! `karat judge doctor`: every layer is named, in JSON and in a table, and the status follows from them.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::common::{Folder, Run, finish, program};

const LAYERS: [&str; 10] =
    ["user", "processes", "files", "landlock", "network", "ipc", "memory", "tasks", "limits", "calls"];
/// A program that says what a judge says of itself, and waits.
const JUDGE: &str = "#!/bin/sh\necho '{\"karat-judge\":1,\"version\":\"9.8.7\",\"engine\":\"toy 1\",\"runtimes\":\
    {\"wasm\":\"sha256:00\"}}'\nread line\n";

fn doctor(folder: &Folder, arguments: &[&str]) -> Run {
    let mut command = program(folder.path());
    for name in ["KARAT_JUDGE", "KARAT_RUNTIMES", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
        command.env_remove(name);
    }
    // Nothing of this machine but its layers.
    command.env("HOME", folder.path()).env("PATH", "/usr/bin:/bin");
    finish(command.args(["judge", "doctor"]).args(arguments), "")
}

#[test]
fn every_layer_holds_or_is_missing_with_a_reason_and_a_remedy() {
    let folder = Folder::new();
    let run = doctor(&folder, &["--judge", "no-such-judge"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let layers = found["sandbox"]["layers"].as_array().unwrap();
    assert_eq!(layers.iter().map(|it| it["layer"].as_str().unwrap()).collect::<Vec<_>>(), LAYERS);
    let mut is_whole = true;
    for layer in layers {
        let said = |name: &str| layer[name].as_str().is_some_and(|text| !text.is_empty());
        let holds = layer["holds"].as_bool().unwrap();
        assert!(if holds { said("means") } else { said("why") && said("remedy") }, "{layer}");
        is_whole &= holds;
    }
    assert_eq!(found["sandbox"]["strict"], is_whole);
    assert_eq!(doctor(&folder, &["--strict"]).status, if is_whole { 0 } else { 1 });
    let fault = found["judge"]["fault"].as_str().unwrap();
    assert!(found["judge"]["program"].is_null() && fault.contains("no-such-judge"), "{fault}");
    assert_eq!(found["cache"]["exists"], false);

    let table = doctor(&folder, &["--table"]).stdout;
    for name in LAYERS {
        assert!(table.lines().any(|line| line.contains(&format!(" {name} "))), "{name}: {table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 80 || line.contains("/")), "{table}");
    assert_eq!(table.contains("a strict sandbox can be had"), is_whole, "{table}");
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
