//! `docs/coverage.md`: every place and every test that it names is there, and only what may be left out is.

use std::fs;

use crate::common::root;

/// The reason for which a row may name nothing.
const REASON: &str = "none: packages for other languages";

/// A row of the page, by its cells.
struct Row<'p> {
    name: &'p str,
    states: &'p str,
    places: &'p str,
    tests: &'p str,
}

/// Returns the tables of a page, or what is not a row.
fn tables(page: &str) -> Result<Vec<Vec<Row<'_>>>, String> {
    let mut tables = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with('|') {
            continue;
        }
        if line != "| | section | states | done by | shown by |" {
            return Err(format!("another table: {line}"));
        }
        let row = |line| {
            let cells: Vec<&str> = str::split(line, '|').map(str::trim).collect();
            match cells.as_slice() {
                ["", name, section, states, places, tests, ""] if !section.is_empty() => {
                    Ok(Row { name, states, places, tests })
                }
                _ => Err(format!("no row: {line}")),
            }
        };
        let rows = lines.by_ref().skip(1).take_while(|line| line.starts_with('|'));
        tables.push(rows.map(row).collect::<Result<Vec<_>, _>>()?);
    }
    Ok(tables)
}

/// Returns whether a file has the test: a Rust function behind `#[test]`, a method of a Python class, or a sentence in
/// JavaScript.
fn has_test(file: &str, name: &str) -> bool {
    let Ok(text) = fs::read_to_string(root().join(file)) else { return false };
    if file.ends_with(".test.mjs") {
        return text.contains(&format!("\ntest(\"{name}\""));
    }
    if let Some((class, method)) = name.split_once('.') {
        let class = text.split(&format!("class {class}(")).nth(1).unwrap_or_default();
        return class.split("\nclass ").next().unwrap_or_default().contains(&format!("def {method}(self"));
    }
    text.match_indices(&format!("fn {name}(")).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let lines = before.lines().rev().take_while(|line| {
            let line = line.trim();
            line.starts_with("#[") || line.starts_with("//")
        });
        lines.into_iter().any(|line| line.trim() == "#[test]")
    })
}

/// Returns what is wrong with a row.
fn problems(row: &Row<'_>) -> Vec<String> {
    if row.places == REASON {
        let is_bare = row.tests.is_empty() && !row.states.is_empty();
        return if is_bare {
            Vec::new()
        } else {
            vec![format!("{}: a reason to name nothing, and a test", row.name)]
        };
    }
    let mut found = Vec::new();
    let places: Vec<&str> =
        row.places.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let tests: Vec<&str> = row.tests.split('`').skip(1).step_by(2).collect();
    if row.states.is_empty() || places.is_empty() || tests.is_empty() {
        found.push(format!("{}: an empty cell", row.name));
    }
    for place in places {
        if !root().join("docs").join(place).is_file() {
            found.push(format!("{}: there is no `{place}`", row.name));
        }
    }
    for test in tests {
        let is_there = test.split_once("::").is_some_and(|(file, name)| has_test(file, name));
        if !is_there {
            found.push(format!("{}: there is no test `{test}`", row.name));
        }
    }
    found
}

#[test]
fn every_sentence_has_a_place_and_a_test() {
    let page = fs::read_to_string(root().join("docs/coverage.md")).unwrap();
    let tables = tables(&page).unwrap();
    let sizes: Vec<usize> = tables.iter().map(Vec::len).collect();
    assert!(sizes.len() == 4 && sizes.iter().all(|&size| size >= 30), "{sizes:?}");
    let mut found = Vec::new();
    for table in &tables {
        let letter = table[0].name.trim_end_matches(char::is_numeric);
        for (at, row) in table.iter().enumerate() {
            if row.name != format!("{letter}{}", at + 1) {
                found.push(format!("{}: expected {letter}{}", row.name, at + 1));
            }
            found.extend(problems(row));
        }
    }
    let readings = page.split("\n## Readings\n").nth(1).unwrap_or_default().split("\n- ").skip(1);
    let named: Vec<&str> = readings
        .flat_map(|reading| reading.split(':').next().unwrap_or_default().split([' ', ',']))
        .filter(|word| !["", "to"].contains(word))
        .collect();
    let names: Vec<&str> = tables.iter().flatten().map(|row| row.name).collect();
    found.extend(named.iter().filter(|name| !names.contains(name)).map(|name| format!("no row {name}")));
    assert!(found.is_empty() && named.len() > 10, "{}", found.join("\n"));
}

#[test]
fn a_row_that_is_not_true_is_told() {
    fn row(places: &str, tests: &str) -> usize {
        problems(&Row { name: "X1", states: "something", places, tests }).len()
    }
    let place = "[card](../scorecards/trust/1.0.0.toml)";
    let test = "`crates/cli/tests/cli/documents/coverage.rs::a_row_that_is_not_true_is_told`";
    let python = "`reference/test_model.py::Documents.test_workflow_example`";
    assert_eq!(row(place, test), 0);
    assert_eq!(row(place, &format!("{python}, {test}")), 0);
    assert_eq!(row(REASON, ""), 0);
    // A function that is not a test, one that is not there, a method of another class, a file that is not there.
    for wrong in [
        "documents/coverage.rs::row", "documents/coverage.rs::has_test", "documents/coverage.rs::none",
        "none.rs::x",
    ] {
        assert_eq!(row(place, &format!("{test}, `crates/cli/tests/cli/{wrong}`")), 1, "{wrong}");
    }
    assert_eq!(row(place, "`reference/test_model.py::Means.test_workflow_example`"), 1);
    for (places, tests) in [
        ("[card](../scorecards/none.toml)", test),
        ("", test),
        (place, ""),
        ("none", ""),
        ("none: no time", test),
    ] {
        assert!(row(places, tests) > 0, "{places} {tests}");
    }
    assert_eq!(row(REASON, test), 1);
    assert!(tables("| a | b |\n").is_err());
}
