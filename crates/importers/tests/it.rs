//! Each importer over its logs: `fixtures/TOOL/CASE/` has the files of a log, and in `items.jsonl` the items that they give.
//!
//! `KARAT_WRITE_FIXTURES=1 cargo test -p karat-importers --test it` writes `items.jsonl` again; read the difference.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use karat_importers::{IMPORTERS, Importer, Input, Items, Options, detect, import};
use karat_reader::{Kind, Reader, ReaderOptions};
use serde_json::json;

const EXPECTED: &str = "items.jsonl";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn entries(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Returns the files of a log, wherever they lie below the folder of the case.
fn logs(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { logs(&path) } else { vec![path] };
    entries(folder).into_iter().flat_map(below).filter(|path| !path.ends_with(EXPECTED)).collect()
}

/// Returns the items of a file, one line each, and then what was left out of them or why they are refused.
fn items(path: &Path, name: &str, importer: &'static Importer, items: Items) -> String {
    let kind = if items == Items::Traces { Kind::ReasoningTrace } else { Kind::Facts };
    let mut reader = Reader::new(kind, &[], ReaderOptions::default()).unwrap();
    let mut lines = String::new();
    let options = Options { items, ..Options::default() };
    let summary = import(&Input::file(path).named(name), importer, &options, &mut |item| {
        let evidence = reader.read(item.json);
        assert!(importer.is_matches() || evidence.is_ok(), "{name}: {}", evidence.unwrap_err());
        lines += std::str::from_utf8(item.json).unwrap();
        lines.push('\n');
        ControlFlow::Continue(())
    });
    let end = match summary {
        Ok(summary) => json!({"left_out": summary.left_out, "notes": summary.notes}),
        Err(error) => json!({"refused": error.to_string()}),
    };
    format!("{lines}{end}\n")
}

#[test]
fn each_log_gives_the_items_beside_it() {
    let folders = entries(&fixtures());
    let names: BTreeSet<PathBuf> = IMPORTERS.iter().map(|importer| fixtures().join(importer.name)).collect();
    assert_eq!(folders, names, "a folder for each importer");
    let mut wrong = Vec::new();
    for importer in IMPORTERS.iter().copied() {
        let cases = entries(&fixtures().join(importer.name));
        assert!(!cases.is_empty(), "{importer} has no fixture");
        for case in cases {
            let (mut found, mut is_own) = (String::new(), false);
            for path in logs(&case) {
                let name = path.strip_prefix(&case).unwrap().to_str().unwrap().replace('\\', "/");
                // Beside a log may be a report on it, or the trajectory of the same run.
                let Ok(Some(own)) = detect(&Input::file(&path).named(&name)) else {
                    panic!("{}: no known format", path.display());
                };
                is_own |= own == importer;
                found += &items(&path, &name, own, Items::Runs);
                if own.has_traces {
                    found += &items(&path, &name, own, Items::Traces);
                }
            }
            assert!(is_own, "{}: no log of {importer}", case.display());
            let expected = case.join(EXPECTED);
            if std::env::var_os("KARAT_WRITE_FIXTURES").is_some() {
                fs::write(&expected, &found).unwrap();
            }
            let written = fs::read_to_string(&expected).unwrap_or_default();
            if let Some((line, _)) =
                found.lines().chain([""]).zip(written.lines().chain([""])).find(|(it, other)| it != other)
            {
                wrong.push(format!("{}: {line}", expected.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries(folder)
        .into_iter()
        .flat_map(below)
        .filter(|path| path.extension().is_some_and(|it| it == "rs"))
        .collect()
}

/// The page on how to add one says so; what else reads logs takes names from the table.
#[test]
fn an_importer_is_its_file_a_line_its_fixtures_and_its_rows_in_the_guide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = |path: &Path| fs::read_to_string(path).unwrap();
    let page = text(&root.join("docs/how-to-add/importer.md"));
    let steps = page.lines().filter_map(|line| line.split_once(". `"));
    let steps = steps.filter(|(number, _)| number.parse::<u8>().is_ok());
    let files: Vec<&str> = steps.filter_map(|(_, rest)| rest.split('`').next()).collect();
    let listed =
        ["src/TOOL.rs", "src/lib.rs", "tests/fixtures/TOOL/"].map(|file| format!("crates/importers/{file}"));
    assert_eq!(files, [listed.each_ref().map(String::as_str).as_slice(), &["docs/guide/import.md"]].concat());

    let own: Vec<String> =
        sources(&root.join("crates/importers/src")).iter().map(|path| text(path)).collect();
    let callers: Vec<String> = ["src", "crates/cli/src", "crates/server/src"]
        .iter()
        .flat_map(|folder| sources(&root.join(folder)))
        .map(|path| text(&path))
        .filter(|text| text.contains("karat_importers"))
        .collect();
    assert!(callers.len() > 5);
    let guide = text(&root.join("docs/guide/import.md"));
    for importer in IMPORTERS {
        let quoted = format!("\"{importer}\"");
        let statics = own.iter().map(|text| text.matches(&format!(" name: {quoted},")).count());
        assert_eq!(statics.sum::<usize>(), 1, "{importer}");
        assert!(!callers.iter().any(|text| text.contains(&quoted)), "{importer} is named beside the table");
        let is_about = |line: &&str| {
            line.strip_prefix("| ")
                .and_then(|row| row.split('|').next())
                .is_some_and(|cell| cell.contains(&format!("`{importer}`")))
        };
        assert!(guide.lines().filter(is_about).count() >= 2, "{importer} lacks a row in the guide");
    }
}
