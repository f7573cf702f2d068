//! Every format of logs by the same table: from the files to scores, a leaderboard, a gate, an explanation and a project, in
//! one command each.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::{Path, PathBuf};

use karat_core::facts::Digest;
use karat_importers::{IMPORTERS, Importer, Input, Options, Role, check, detect, import};
use serde_json::Value;

use crate::common::Folder;
use crate::project::alone;

/// Tasks of a log.
const TASKS: usize = 12;

/// Fixtures of an importer: each has twelve tasks, of which every second one is lost in `half` and none in `all`.
fn fixture(importer: &Importer, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../importers/tests/fixtures");
    folder.join(importer.name).join(name)
}

/// Returns whether something says which tasks were solved: the log, or a report beside it.
fn is_judged(importer: &Importer) -> bool {
    fixture(importer, "all").exists()
}

/// The importers whose items are scored.
fn scored() -> impl Iterator<Item = &'static Importer> {
    IMPORTERS.iter().copied().filter(|importer| !importer.is_matches())
}

/// Copies a fixture into a folder of that name, and returns the names of its files.
fn write(folder: &Folder, name: &str, importer: &Importer, fixture_name: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (from, mut folders) = (fixture(importer, fixture_name), vec![PathBuf::new()]);
    while let Some(inner) = folders.pop() {
        fs::create_dir_all(folder.path().join(name).join(&inner)).unwrap();
        for entry in fs::read_dir(from.join(&inner)).unwrap() {
            let path = inner.join(entry.unwrap().file_name());
            if from.join(&path).is_dir() {
                folders.push(path);
            } else if !path.ends_with("items.jsonl") {
                fs::copy(from.join(&path), folder.path().join(name).join(&path)).unwrap();
                names.push(format!("{name}/{}", path.display()).replace('\\', "/"));
            }
        }
    }
    names.sort();
    names
}

/// Returns those of the files that are read by the importer itself, and not beside it.
fn own(folder: &Folder, names: Vec<String>, importer: &Importer) -> Vec<String> {
    let is_own = |name: &String| {
        let found = detect(&Input::file(folder.path().join(name)));
        found.is_ok_and(|found| found.is_some_and(|found| found == importer))
    };
    names.into_iter().filter(is_own).collect()
}

/// Every second task is lost.
fn half() -> Vec<bool> {
    (0..TASKS).map(|at| at % 2 == 0).collect()
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_format_comes_from_a_file_to_scores_and_a_leaderboard() {
    for format in scored() {
        let folder = Folder::new();
        write(&folder, "run", format, "half");
        let score = alone(folder.path(), &["score", "--json", "--card", "run", "run"]);
        assert_eq!(score.status, 0, "{format}: {}", score.stderr);
        // Of what else a log says no more than that nothing reads it.
        let is_note = |line: &str| {
            line.starts_with("note: fields that nothing reads: ") || line.contains("its verdicts went to 12 ")
        };
        let left_out = alone(folder.path(), &["import", "run"]).stderr;
        let is_note = |line: &str| is_note(line) || left_out.lines().any(|it| it == line);
        assert!(score.stderr.lines().all(is_note), "{format}: {}", score.stderr);
        let found = records(&score.stdout);
        let scores: Vec<Option<f64>> = found.iter().map(|record| record["composite"].as_f64()).collect();
        let items = fs::read_to_string(fixture(format, "half").join("items.jsonl")).unwrap();
        let items =
            records(&items).into_iter().filter(|item| item["source"].is_object() && item["@type"].is_null());
        let wanted: Vec<Option<f64>> = if is_judged(format) {
            half().iter().map(|it| Some(if *it { 1.0 } else { 0.0 })).collect()
        } else {
            items.map(|item| item["solved"].as_f64()).collect()
        };
        assert_eq!(scores, wanted, "{format}");
        let board = alone(folder.path(), &["leaderboard", "--json", "--card", "run", "run"]);
        if wanted.iter().all(Option::is_none) {
            // Nothing says what was solved, so nothing is ranked by it.
            assert_eq!(board.status, 12, "{format}: {}", board.stdout);
            assert!(board.stderr.contains("no item has a value of `solved`"), "{format}: {}", board.stderr);
            continue;
        }
        assert_eq!(board.status, 0, "{format}: {}", board.stderr);
        let board: Value = serde_json::from_str(&board.stdout).unwrap();
        let row = &board["leaderboards"][0]["rows"][0];
        assert_eq!(row["score"]["mean"].as_f64(), Some(50.0), "{format}: {row}");
        assert!(!is_judged(format) || row["tasks"] == TASKS, "{format}");
    }
}

#[test]
fn a_format_that_a_file_is_not_of_is_refused() {
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for written in IMPORTERS.iter().copied() {
        let names = write(&folder, written.name, written, "half");
        let file = own(&folder, names, written).swap_remove(0);
        let input = Input::file(folder.path().join(&file));
        assert_eq!(check(&input, written), Ok(()), "{written}");
        for other in IMPORTERS.iter().copied().filter(|other| *other != written) {
            match check(&input, other) {
                Ok(()) => wrong.push(format!("{written} as {other}")),
                Err(error) => assert!(error.to_string().contains(written.words), "{error}"),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What shows no format is refused by the readers themselves.
    let none = [
        r#"{"a": {"resolved_by": 1}}"#, r#"{"total": 3}"#, r#"[{"x": 1}]"#, "{}", "[]", "1\n2\n",
        "a,b\n1,2\n", "- a: 1\n",
    ];
    for (at, text) in none.iter().enumerate() {
        let input = Input::memory(format!("{at}.json"), text.as_bytes());
        for asked in IMPORTERS.iter().copied() {
            let read = import(&input, asked, &Options::default(), &mut |item| {
                panic!("{asked} made {} of {text}", String::from_utf8_lossy(item.json));
            });
            assert!(read.is_err() || read.is_ok_and(|summary| summary.items == 0));
        }
    }
}

/// Returns the text of the place in a file that an item names.
fn at_place(file: &str, place: &str) -> String {
    if let Some(rest) = place.strip_prefix("line ") {
        let number: usize = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap().parse().unwrap();
        // A record of Aider has several lines.
        return file.lines().skip(number - 1).take(3).collect::<Vec<_>>().join("\n");
    }
    let text: Value = serde_json::from_str(file).unwrap();
    let mut value = &text;
    for step in place.strip_prefix('$').unwrap().split(['.', '[']).filter(|step| !step.is_empty()) {
        value = match step.strip_suffix(']') {
            Some(number) => &value[number.parse::<usize>().unwrap()],
            None => &value[step],
        };
    }
    assert!(!value.is_null(), "{place}");
    value.to_string()
}

#[test]
fn each_explanation_names_the_file_and_the_place_in_it() {
    for format in scored() {
        let folder = Folder::new();
        let names = write(&folder, "run", format, "half");
        let names = own(&folder, names, format);
        for kind in ["facts", "trace"] {
            if kind == "trace" && !format.has_traces {
                continue;
            }
            let card = if kind == "facts" { "run" } else { "trace" };
            let name = names.last().unwrap();
            let imported = alone(folder.path(), &["import", "--quiet", "--as", kind, name]);
            assert_eq!(imported.status, 0, "{format}: {}", imported.stderr);
            let items = records(&imported.stdout);
            for item in [items.first(), items.last()].into_iter().flatten() {
                let id = item["id"].as_str().unwrap();
                let shown = alone(folder.path(), &["explain", "--table", "--card", card, name, "--item", id]);
                assert_eq!(shown.status, 0, "{format} {id}: {}", shown.stderr);
                let source = shown.stdout.split("\nSource\n").nth(1).unwrap_or_default();
                let place = item["source"]["place"].as_str().unwrap();
                let bytes = fs::read(folder.path().join(name)).unwrap();
                let wanted = format!("{name}, {place}\nread as {}\n{}\n", format.name, Digest::of(&bytes));
                // Long lines are broken.
                let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat(source).starts_with(flat(&wanted).trim()), "{format}: {source}{wanted}");
                // What lies there is about this item.
                let text = at_place(&String::from_utf8(bytes).unwrap(), place);
                let tail = |value: &Value| {
                    let word = value.as_str()?.split_whitespace().next()?.rsplit([':', '/', '.']).next()?;
                    Some(if word.len() < 3 { format!(":{word}") } else { word.to_owned() })
                };
                let task = if item["task"].is_string() { &item["task"] } else { &item["task"]["id"] };
                // A trajectory of SWE-agent has the name of its task in that of its file alone.
                let ending = matches!(format.role, Role::Trajectory).then(|| String::from("ubmitted"));
                let marks: Vec<String> =
                    [tail(task), tail(&item["id"]), ending].into_iter().flatten().collect();
                assert!(
                    marks.iter().any(|mark| text.contains(mark)),
                    "{format}: {marks:?} at {place}: {text}"
                );
            }
        }
    }
}
