//! Names that an attacker chooses, through every verb in every format: the output has the structure that it has with plain
//! names, and no sign that steers a terminal.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;

use crate::common::{Folder, Run, finish, program};

/// Names of subjects, tasks, ids and groups that would end a cell, a tag, a line, a command or a text, or begin a formula,
/// markup, a mention or a template. What the readers of evidence refuse is not here: line ends and control characters.
const HOSTILE: [&str; 12] = [
    "=HYPERLINK(\"http://e\",\"x\")", "+1|-2", "@SUM(A1) @octocat #1", "a,b;c\"d'e", "| a | b |",
    "\\|`code`\\", "<script>alert(1)</script>", "\"/><img src=x onerror=alert(1)>", "]]><failure/>&lt;&#60;",
    "![x](http://e) **b** _i_ ~s~", "::error::x,title=y::%0A::set-output name=a::b",
    "$(rm -rf /);{{7*7}}${{secrets.X}}",
];

/// Plain names that sort alike.
fn plain(at: usize) -> String {
    format!("plain-{at:02}")
}

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "odd"
version = "1.0.0"
title = "TITLE"
evidence = "facts"
scale = { max = 100, publish = "half-up", places = 2 }
[facts]
solved = { type = "boolean" }
share = { min = 0, max = 1 }
[[dimension]]
key = "solved"
label = "LABEL"
weight = 0.75
formula = "solved"
[[dimension]]
key = "share"
weight = 0.25
formula = "share"
[standing]
score = "latest"
"#;

/// Writes a card, items and a project with these names.
fn folder(name: impl Fn(usize) -> String) -> Folder {
    let folder = Folder::new();
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let card = CARD.replace("\"TITLE\"", &text(&name(0))).replace("\"LABEL\"", &text(&name(1)));
    folder.write("odd.toml", &card);
    for (file, worse) in [("base.jsonl", 0), ("new.jsonl", 1)] {
        let mut items = String::new();
        for subject in 0..HOSTILE.len() {
            for task in 0..8 {
                let number = subject * 5 + task * 3;
                let item = serde_json::json!({
                    "subject": name(subject), "task": name((task + 4) % 12), "id": format!("{}/{task}", name(subject)),
                    "time": format!("2026-05-0{}T00:00:00Z", task + 1), "solved": (number + worse * task) % 3 != 0,
                    "share": (number % 8) as f64 / 8.0, "kind": name(task % 2), name(9): task,
                });
                items.push_str(&format!("{item}\n"));
            }
        }
        folder.write(file, &items);
    }
    folder.write(
        "karat.toml",
        "card = \"odd.toml\"\ninputs = \"new.jsonl\"\nbaseline = \"base.jsonl\"\n[gate]\nfail_if_worse = true\nfail_under = 90\n",
    );
    let matches = (0..40).map(|at| {
        let (first, second) = (at % 12, (at * 7 + 1) % 12);
        let result = ["first", "second", "draw"][at % 3];
        let row = serde_json::json!({"first": name(first), "second": name((second + usize::from(first == second)) % 12), "result": result});
        format!("{row}\n")
    });
    folder.write("matches.jsonl", &matches.collect::<String>());
    folder
}

/// Returns how often each part of the structure of an output is there.
fn structure(format: &str, text: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut see = |part: String| *found.entry(part).or_default() += 1;
    match format {
        "json" | "jsonl" => text.lines().for_each(|line| {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(value.is_object());
            see(String::from("line"));
        }),
        "csv" => {
            let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            for row in rows.records() {
                // The reader refuses a row of another length.
                let row = row.unwrap();
                let is_number = |cell: &str| cell.parse::<f64>().is_ok();
                let formula =
                    row.iter().find(|cell| cell.starts_with(['=', '+', '-', '@']) && !is_number(cell));
                assert_eq!(formula, None);
                see(format!("row of {}", row.len()));
            }
        }
        "markdown" => text.lines().for_each(|line| {
            let mut before = ' ';
            let mut bars = 0;
            // After each `@` stands an empty comment, so that no one is mentioned.
            let line = line.replace("@<!-- -->", "@");
            for c in line.chars() {
                assert!(before == '\\' || !matches!(c, '<' | '`' | '['), "{line}");
                bars += usize::from(c == '|' && before != '\\');
                before = if c == '\\' && before == '\\' { ' ' } else { c };
            }
            see(format!("{bars} bars"));
        }),
        "github" => text.lines().for_each(|line| {
            // `::command key=value,key=value::message`: what follows the second `::` is text.
            let parts = line.strip_prefix("::").and_then(|it| it.split_once("::"));
            let (head, _) = parts.unwrap_or_else(|| panic!("no command: {line}"));
            let (command, properties) = head.split_once(' ').unwrap_or((head, ""));
            assert!(["error", "warning", "notice"].contains(&command), "{line}");
            let keys: Vec<&str> =
                properties.split(',').map(|it| it.split_once('=').map_or(it, |(key, _)| key)).collect();
            see(format!("{command} {}", keys.join(" ")));
        }),
        "junit" | "html" | "svg" => {
            // A name that is escaped has no `<`; text from right to left is isolated by an element.
            let tags = text
                .split('<')
                .skip(1)
                .map(|part| part.split([' ', '>', '/', '\n']).next().unwrap_or_default());
            tags.filter(|tag| !tag.is_empty() && *tag != "bdi").for_each(|tag| see(tag.to_owned()));
        }
        _ => see(String::from("screen")),
    }
    found
}

/// Verbs with arguments that work; those that end with the status of a gate say so.
const VERBS: [(&[&str], &[&str]); 12] = [
    (
        &["score", "-c", "odd.toml", "new.jsonl"],
        &["table", "json", "jsonl", "csv", "markdown", "junit", "github"],
    ),
    (
        &["leaderboard", "-c", "odd.toml", "new.jsonl", "--fail-under", "90"],
        &["table", "json", "jsonl", "csv", "markdown", "junit", "github", "html"],
    ),
    (
        &["leaderboard", "-c", "odd.toml", "new.jsonl", "--group-by", "kind", "--with", "kind:counts"],
        &["table", "json", "jsonl", "csv", "markdown", "junit", "github", "html"],
    ),
    (
        &["compare", "base.jsonl", "new.jsonl", "-c", "odd.toml", "--fail-if-worse"],
        &["table", "json", "jsonl", "csv", "markdown", "junit", "github", "html"],
    ),
    (
        &["compare", "NAME-0", "NAME-1", "-c", "odd.toml", "new.jsonl"],
        &["table", "json", "jsonl", "csv", "markdown", "junit", "github", "html"],
    ),
    (
        &["standing", "-c", "odd.toml", "--as-of", "2026-06-01T00:00:00Z", "new.jsonl"],
        &["table", "json", "jsonl", "csv", "markdown", "junit", "github", "html"],
    ),
    (
        &["explain", "-c", "odd.toml", "-i", "NAME-6/3", "new.jsonl"],
        &["table", "json", "csv", "markdown", "github"],
    ),
    (
        &["stress", "-c", "odd.toml", "new.jsonl"],
        &["table", "json", "jsonl", "csv", "markdown", "github", "html"],
    ),
    (
        &["rate", "--system", "glicko2", "matches.jsonl"],
        &["table", "json", "jsonl", "csv", "markdown", "github", "html"],
    ),
    (&["check"], &["table", "json", "jsonl", "csv", "markdown", "junit", "github"]),
    (&["badge", "-c", "odd.toml", "-s", "NAME-7", "new.jsonl"], &["svg"]),
    (&["card", "show", "odd.toml"], &["table"]),
];

fn asked(folder: &Folder, verb: &[&str], format: &str, name: &dyn Fn(usize) -> String) -> (Run, String) {
    let verb: Vec<String> = verb
        .iter()
        .map(|word| match word.strip_prefix("NAME-") {
            None => (*word).to_owned(),
            Some(rest) => {
                let (at, rest) =
                    rest.split_once('/').map_or((rest, String::new()), |(at, rest)| (at, format!("/{rest}")));
                format!("{}{rest}", name(at.parse().unwrap()))
            }
        })
        .collect();
    let summary = folder.path().join("summary.md");
    let mut command = program(folder.path());
    command.args(&verb).env("GITHUB_STEP_SUMMARY", &summary);
    if !matches!(format, "svg") && verb[0] != "card" {
        command.args(["--format", format]);
    }
    let run = finish(&mut command, "");
    let written = std::fs::read_to_string(&summary).unwrap_or_default();
    let _ = std::fs::remove_file(&summary);
    (run, written)
}

#[test]
fn no_name_of_an_attacker_changes_the_structure_of_any_format() {
    let hostile_name = |at: usize| HOSTILE[at].to_owned();
    let (calm, hostile) = (folder(plain), folder(hostile_name));
    for (verb, formats) in VERBS {
        for format in formats {
            let about = format!("{verb:?} as {format}");
            let (expected, plain_summary) = asked(&calm, verb, format, &plain);
            let (found, summary) = asked(&hostile, verb, format, &hostile_name);
            assert!(matches!(expected.status, 0 | 10 | 16), "{about}: {}", expected.stderr);
            assert_eq!(found.status, expected.status, "{about}: {}", found.stderr);
            let steers = |text: &str| text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r'));
            let is_page = *format == "html";
            assert!(is_page || steers(&found.stdout).is_none(), "{about}: {}", found.stdout);
            assert_eq!(steers(&found.stderr), None, "{about}");
            assert_eq!(
                structure(format, &found.stdout),
                structure(format, &expected.stdout),
                "{about}\n{}",
                found.stdout
            );
            assert_eq!(summary.is_empty(), *format != "github", "{about}");
            assert_eq!(
                structure("markdown", &summary),
                structure("markdown", &plain_summary),
                "{about}\n{summary}"
            );
        }
    }
}
