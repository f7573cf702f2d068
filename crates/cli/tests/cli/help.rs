//! Every verb has a help that fits a screen, with examples that work unchanged.

use std::path::Path;
use std::process::Command;

use crate::common::{Folder, Run, finish, karat, root};
use crate::docs::copy;
use crate::store;

const VERBS: &[&[&str]] = &[
    &[],
    &["init"],
    &["check"],
    &["import"],
    &["score"],
    &["explain"],
    &["card"],
    &["card", "list"],
    &["card", "show"],
    &["card", "check"],
    &["card", "new"],
    &["card", "diff"],
    &["grade"],
    &["cache"],
    &["cache", "show"],
    &["cache", "new"],
    &["rate"],
    &["leaderboard"],
    &["compare"],
    &["stress"],
    &["tune"],
    &["run"],
    &["verify"],
    &["log"],
    &["log", "show"],
    &["log", "verify"],
    &["log", "receipt"],
    &["rescore"],
    &["serve"],
    &["site"],
    &["export"],
    &["badge"],
    &["demo"],
    &["help"],
    &["push"],
    &["schema"],
    &["completions"],
    &["man"],
];

/// Verbs whose examples other tests run: a server goes on until it is stopped, and one has to be there to push to.
const APART: [&[&str]; 2] = [&["serve"], &["push"]];

/// Rows and columns of a screen.
const SCREEN: (usize, usize) = (40, 80);

fn help(verb: &[&str]) -> String {
    karat(&[verb, &["--help"]].concat()).stdout
}

/// Runs a line as a person pastes it, with the program on the path.
pub fn paste(line: &str, folder: &Path) -> Run {
    let program = Path::new(env!("CARGO_BIN_EXE_karat"));
    let own = program.parent().map(|folder| folder.display().to_string()).unwrap_or_default();
    let path = format!("{own}:{}", std::env::var("PATH").unwrap_or_default());
    finish(
        Command::new("bash")
            .args(["-c", &format!("set -o pipefail; {line}")])
            .env("PATH", path)
            .env("KARAT_RUNNER", "/nowhere/karat-runner")
            .current_dir(folder),
        "",
    )
}

fn fits(what: &str, text: &str) {
    assert!(text.lines().count() <= SCREEN.0, "{what}: {} lines", text.lines().count());
    let widest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    assert!(widest <= SCREEN.1, "{what}: {widest} columns");
}

#[test]
fn every_help_fits_a_screen() {
    for verb in VERBS {
        let text = help(verb);
        fits(&format!("{verb:?}"), &text);
        // A word alone on a line was pushed off the end of the line above, unless a backslash says that it goes on
        // there.
        let alone = text.replace("\\\n", "");
        let alone = alone.lines().find(|line| line.split_whitespace().count() == 1 && !line.ends_with(':'));
        assert_eq!(alone, None, "{verb:?}");
    }
}

#[test]
fn every_example_in_the_help_works() {
    for verb in VERBS.iter().filter(|verb| !verb.is_empty()) {
        // A long command goes on behind a backslash, as in a shell.
        let text = help(verb).replace("\\\n", " ");
        let examples: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("karat ") && !line.contains('`') && !line.contains('<'))
            .collect();
        assert!(!examples.is_empty(), "{verb:?} has no example");
        for example in examples.into_iter().filter(|_| !APART.contains(verb)) {
            // Commands that write files run in a separate folder.
            let folder = Folder::new();
            let here = if [&["cache", "new"][..], &["man"], &["site"]].contains(verb) {
                copy(&root().join("examples"), &folder.path().join("examples"));
                folder.path().to_owned()
            } else {
                root()
            };
            // A database comes from a server; its examples name one that is made here.
            let own = folder.path().join("scores.db").display().to_string();
            if example.contains("scores.db") {
                let items = store::items().into_iter().chain([store::sent()]).collect();
                store::file(&folder.path().join("scores.db"), items);
            }
            let run = paste(&example.replace("scores.db", &own), &here);
            if example.contains("--executors") {
                // The tests of the runner carry this out; here it is named, with the command that builds it.
                assert_eq!(run.status, 1, "{example}");
                assert!(run.stderr.contains("`karat-runner`"), "{example}: {}", run.stderr);
                continue;
            }
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{example}");
            assert!(!run.stdout.is_empty(), "{example}");
        }
    }
}

#[test]
fn what_the_demo_proposes_works() {
    let folder = Folder::new();
    let demo = karat(&["demo"]).stdout;
    let lines: Vec<&str> = demo
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("karat ") || line.starts_with("echo "))
        .collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for line in lines {
        let run = paste(line, folder.path());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{line}");
    }
}

#[test]
fn the_help_of_a_command_is_the_same_by_both_ways() {
    for verb in VERBS.iter().filter(|verb| !verb.is_empty()) {
        let asked = karat(&[&["help"], *verb].concat());
        assert_eq!((asked.status, asked.stdout.trim_end()), (0, help(verb).trim_end()), "{verb:?}");
    }
}

#[test]
fn every_topic_fits_a_screen_and_is_listed() {
    let list = karat(&["help"]).stdout;
    let topics: Vec<&str> = list
        .lines()
        .filter(|line| line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(topics.contains(&"exit-status"), "{list}");
    for topic in topics {
        let page = karat(&["help", topic]);
        assert_eq!((page.status, page.stderr.as_str()), (0, ""), "{topic}");
        fits(topic, &page.stdout);
    }
}

#[test]
fn a_topic_that_is_not_there_is_answered_with_the_nearest() {
    for (words, near) in [
        (&["exit-statuses"][..], "exit-status"),
        (&["leaderbord"], "leaderboard"),
        (&["card", "chek"], "check"),
    ] {
        let run = karat(&[&["help"], words].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{words:?}");
        assert!(run.stderr.contains(&format!("did you mean `{near}`?")), "{}", run.stderr);
    }
    assert!(!karat(&["help", "qqqqqq"]).stderr.contains("did you mean"));
}
