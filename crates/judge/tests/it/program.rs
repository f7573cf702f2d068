//! The program: lines in, lines out.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::*;

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_karat-judge"))
        .args(arguments)
        .arg("--runtimes")
        .arg(runtimes())
        .arg("--cache")
        .arg(cache())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    output
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_line_is_answered_whatever_it_is() {
    let good = json!({"id": 1, "job": job("def solve(): return 1", vec![case("a", call(&[]), json!(1))])});
    let mut other = good.clone();
    other["id"] = json!("two");
    other["job"]["runtime_digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    let mut unknown = good.clone();
    unknown["job"]["runtime"] = json!("cobol");
    let mut broken = good.clone();
    broken["job"]["tasks"][0]["cases"][0]["compare"]["primitive"] = json!("guess");
    let large = good.to_string().replace("\"expect\":1", "\"expect\":99999999999999999999");
    let input = [
        good.to_string(),
        other.to_string(),
        unknown.to_string(),
        broken.to_string(),
        large,
        "nonsense".to_owned(),
        "{\"id\": 7}".to_owned(),
        String::new(),
        good.to_string(),
    ]
    .join("\n");
    let mut bytes = input.into_bytes();
    bytes.extend(b"\n\xff\xfe\n");
    let found = lines(&run(&[], &bytes));
    assert_eq!(found[0]["karat-judge"], 1);
    assert_eq!(found[0]["engine"], "wasmtime 48.0.8");
    assert!(found[0]["runtimes"]["python"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(found[1]["report"]["results"][0]["cases"][0]["verdict"], "pass");
    assert_eq!(found[1]["report"]["judge"]["runtime_digest"], found[0]["runtimes"]["python"]);
    assert_eq!(found[2]["id"], "two");
    assert!(found[2]["no_verdict"].as_str().unwrap().contains("scripts/build-runtime"));
    assert!(found[3]["no_verdict"].as_str().unwrap().contains("cobol"));
    assert_eq!(found[4]["refused"][0]["file"], "hidden.toml");
    assert!(found[5]["no_verdict"].as_str().unwrap().contains("99999999999999999999"));
    assert!(found[6]["no_verdict"].as_str().unwrap().contains("no request"));
    assert_eq!(found[7]["id"], 7);
    assert_eq!(found[8], found[1]);
    assert!(found[9]["no_verdict"].is_string());
    assert_eq!(found.len(), 10);
}

#[test]
fn both_engines_print_the_same_bytes() {
    let jobs = [
        "def solve(): return 1",
        "def solve(): return [",
        "import random\ndef solve(): return random.random()",
    ];
    let input: String = jobs
        .iter()
        .enumerate()
        .map(|(id, code)| {
            format!("{}\n", json!({"id": id, "job": job(code, vec![case("a", call(&[]), json!(1))])}))
        })
        .collect();
    let outputs = ["cranelift", "pulley"].map(|engine| run(&["--engine", engine], input.as_bytes()).stdout);
    assert!(outputs[0] == outputs[1] && !outputs[0].is_empty());
    assert_eq!(run(&["--open"], input.as_bytes()).stdout, outputs[0]);
}

#[test]
fn options() {
    assert_eq!(lines(&run(&["--list"], b"")).len(), 1);
    let test = run(&["--self-test"], b"");
    assert!(test.status.success());
    assert_eq!(String::from_utf8_lossy(&test.stdout).matches("ok    ").count(), 3);
    let help = String::from_utf8(run(&["--help"], b"").stdout).unwrap();
    assert!(help.lines().count() <= 40);
    for (arguments, words) in [
        (&["--engine", "jit"][..], "unknown engine `jit`"),
        (&["--engine"], "karat-judge: "),
        (&["--fast"], "unknown option `--fast`"),
    ] {
        let output = run(arguments, b"");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words));
    }
}

/// A cache that someone else could write to is not used, and damaged code is compiled again.
#[cfg(unix)]
#[test]
fn the_cache_is_private_and_checked() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_karat-judge"))
        .arg("--self-test")
        .arg("--runtimes")
        .arg(runtimes())
        .arg("--cache")
        .arg(&open)
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("chmod 700"));
    let none = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_karat-judge"))
        .arg("--self-test")
        .arg("--runtimes")
        .arg(none.path())
        .arg("--cache")
        .arg(cache())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("scripts/build-runtime makes it"));
}
