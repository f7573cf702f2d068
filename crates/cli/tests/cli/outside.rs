//! A project file of strangers: what lies outside of its folder is neither read, quoted nor written.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::common::{Folder, Run, program, root};

const CARD: &str = "schema = \"karat/scorecard/1\"\nid = \"own\"\nversion = \"1.0.0\"\ntitle = \"Own\"\nevidence = \"facts\"\n\
    [facts]\nx = { min = 0, max = 9 }\n[[dimension]]\nkey = \"x\"\nweight = 1\nformula = \"x / 9\"\n";
const RUNS: &str = "{\"subject\": \"s\", \"id\": \"a\", \"x\": 1}\n";
/// In every file outside: no byte of it may be shown.
const SECRET: &str = "hunter2-7f3a";

/// Makes a folder with secrets, and a project in a folder inside of it.
fn place() -> (Folder, std::path::PathBuf) {
    let outer = Folder::new();
    let inner = outer.path().join("project");
    fs::create_dir_all(outer.path().join("logs")).unwrap();
    fs::create_dir_all(inner.join("runs")).unwrap();
    for name in ["secret", "secret.toml", "secret.jsonl", "logs/secret.json"] {
        fs::write(outer.path().join(name), format!("{SECRET} = {SECRET}\n")).unwrap();
    }
    fs::write(inner.join("card.toml"), CARD).unwrap();
    fs::write(inner.join("runs/a.jsonl"), RUNS).unwrap();
    (outer, inner)
}

fn run(folder: &Path, line: &str) -> Run {
    let output = program(folder).args(line.split_whitespace()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status.code().unwrap() }
}

#[track_caller]
fn works(folder: &Path, line: &str) {
    let run = run(folder, line);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

/// Every file below a folder, with its bytes.
fn all(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(all(&entry.path())),
            kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).unwrap())),
            _ => {}
        }
    }
    found.sort();
    found
}

#[test]
fn no_member_of_a_project_leads_out_of_its_folder() {
    let (outer, inner) = place();
    symlink("../secret.toml", inner.join("card-link.toml")).unwrap();
    symlink("../secret.jsonl", inner.join("link.jsonl")).unwrap();
    symlink("../logs", inner.join("logs-link")).unwrap();
    symlink("../new.jsonl", inner.join("to-be.jsonl")).unwrap();
    symlink("../new.sha256", inner.join("kept.jsonl.sha256")).unwrap();
    let absolute = outer.path().canonicalize().unwrap().display().to_string();
    let (card, inputs) = ("card = \"card.toml\"", "inputs = \"runs/*.jsonl\"");
    let cases = [
        (format!("card = \"{absolute}/secret\"\n{inputs}"), "`card`", "secret`"),
        (format!("card = \"../secret.toml\"\n{inputs}"), "`card`", "../secret.toml`"),
        (format!("card = \"card-link.toml\"\n{inputs}"), "`card`", "card-link.toml`"),
        (format!("{card}\ninputs = [\"runs/a.jsonl\", \"{absolute}/secret\"]"), "`inputs`", "secret`"),
        (format!("{card}\ninputs = [\"../secret.jsonl\"]"), "`inputs`", "../secret.jsonl`"),
        (format!("{card}\ninputs = \"runs/../../secret.jsonl\""), "`inputs`", "../secret.jsonl`"),
        (format!("{card}\ninputs = \"*/../../secret.jsonl\""), "`inputs`", "secret.jsonl`"),
        (format!("{card}\ninputs = \"../*\""), "`inputs`", "../*`"),
        (format!("{card}\ninputs = \"link.jsonl\""), "`inputs`", "link.jsonl`"),
        (format!("{card}\ninputs = \"l*.jsonl\""), "`inputs`", "link.jsonl`"),
        (format!("{card}\ninputs = \"logs-link\""), "`inputs`", "logs-link`"),
        (format!("{card}\ninputs = \"*/secret.json\""), "`inputs`", "secret.json`"),
        (format!("{card}\n{inputs}\nbaseline = \"../secret.jsonl\""), "`baseline`", "../secret.jsonl`"),
        (format!("{card}\n{inputs}\nbaseline = \"{absolute}/new.jsonl\""), "`baseline`", "new.jsonl`"),
        (format!("{card}\n{inputs}\nbaseline = \"gone/../../new.jsonl\""), "`baseline`", "new.jsonl`"),
        (format!("{card}\n{inputs}\nbaseline = \"logs-link/new.jsonl\""), "`baseline`", "new.jsonl`"),
        (format!("{card}\n{inputs}\nbaseline = \"to-be.jsonl\""), "`baseline`", "to-be.jsonl`"),
        (format!("{card}\n{inputs}\nbaseline = \"kept.jsonl\""), "`baseline`", "kept.jsonl.sha256`"),
    ];
    for (text, member, path) in cases {
        fs::write(inner.join("karat.toml"), &text).unwrap();
        let before = all(outer.path());
        for line in [
            "check", "check --format github", "check --format json", "check --update-baseline",
            "check --watch --times 1", "score", "leaderboard", "standing --as-of 2026-01-01T00:00:00Z",
            "compare s t",
        ] {
            let run = run(&inner, line);
            let told = format!("{}{}", run.stdout, run.stderr);
            assert_eq!(run.status, 1, "{line}: {text}: {told}");
            for part in [member, path, "lies outside of the folder", "--allow-outside"] {
                assert!(told.contains(part), "{part}: {line}: {text}: {told}");
            }
            assert!(!told.contains(SECRET) && !told.contains("hunter"), "{line}: {text}: {told}");
        }
        assert_eq!(all(outer.path()), before, "{text}");
    }
}

#[test]
fn a_project_file_that_is_a_link_out_of_its_folder_is_not_quoted() {
    let (_outer, inner) = place();
    symlink("../secret.toml", inner.join("karat.toml")).unwrap();
    for line in ["check", "check --format github", "score", "check --project karat.toml"] {
        let run = run(&inner, line);
        run.ends(1, "`karat.toml` is a link out of its folder");
        assert!(!run.stdout.contains("hunter") && !run.stderr.contains("hunter"), "{line}: {}", run.stderr);
    }
}

#[test]
fn what_the_command_line_names_and_what_is_trusted_is_read_anywhere() {
    let (outer, inner) = place();
    fs::write(outer.path().join("card.toml"), CARD).unwrap();
    fs::write(outer.path().join("more.jsonl"), RUNS).unwrap();
    // A link within the folder stays one, and so does a folder that is reached through one.
    symlink("runs", inner.join("same")).unwrap();
    fs::write(inner.join("karat.toml"), "card = \"card.toml\"\ninputs = \"same/a.jsonl\"\n").unwrap();
    works(&inner, "check");
    works(&inner, "score ../more.jsonl");
    fs::write(
        inner.join("karat.toml"),
        "card = \"../card.toml\"\ninputs = \"../more.jsonl\"\nbaseline = \"../kept.jsonl\"\n",
    )
    .unwrap();
    works(&inner, "check --allow-outside");
    works(&inner, "check --update-baseline --allow-outside");
    assert!(outer.path().join("kept.jsonl").exists());
    works(&inner, "score --allow-outside");
    works(&inner, "score -c ../card.toml ../more.jsonl");
    // A new project says how it is run.
    let more = "{\"subject\": \"t\", \"id\": \"b\", \"x\": 5}\n";
    fs::write(outer.path().join("more.jsonl"), format!("{RUNS}{more}")).unwrap();
    let made = run(&inner, "init --yes --higher x --force ../more.jsonl");
    assert!(made.stdout.contains("karat check --allow-outside"), "{}{}", made.stdout, made.stderr);
}

#[test]
fn a_file_beside_a_log_that_is_a_link_is_not_read() {
    let (outer, inner) = place();
    let name = "2026-01-21T03-44-18.458309";
    let samples = format!("samples_sums_{name}.jsonl");
    let from = root().join("crates/importers/tests/fixtures/lm-eval/samples/org__model").join(&samples);
    fs::copy(from, inner.join("runs").join(samples)).unwrap();
    fs::write(
        outer.path().join("named.json"),
        format!("{{\"model_name\": \"{SECRET}\", \"results\": {{}}}}"),
    )
    .unwrap();
    fs::write(inner.join("karat.toml"), "card = \"run\"\ninputs = \"runs\"\n").unwrap();
    let beside = inner.join("runs").join(format!("results_{name}.json"));
    symlink("../../named.json", &beside).unwrap();
    let linked = run(&inner, "check");
    assert_eq!(linked.status, 0, "{}", linked.stderr);
    assert!(!format!("{}{}", linked.stdout, linked.stderr).contains("hunter"), "{}", linked.stdout);
    // A file there gives the name.
    fs::remove_file(&beside).unwrap();
    fs::copy(outer.path().join("named.json"), &beside).unwrap();
    let own = run(&inner, "check");
    assert!(own.stdout.contains("hunter"), "{}{}", own.stdout, own.stderr);
}
