//! Hostile names in every format: each is what it is where it is read back, and nothing more.

use karat_graders::quality::{TestCase, TestResults, TestVerdict};
use proptest::prelude::*;

use super::*;
use crate::badge::{Badge, Color};
use crate::document::{Case, CaseResult, Cell, Column, Finding, Level, Part, Place, Table};
use crate::text::clean;

/// Names that an attacker would try.
const HOSTILE: [&str; 18] = [
    "=cmd()",
    "+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "'=1",
    "a,b\"c\r\nd;e",
    "a|b\\|c",
    "`code` <script>alert(1)</script> &lt; ![x](http://e/) **b** @user #1 www.e.com",
    "::error::x",
    "x\n::set-output name=a::b",
    "%0A::error::y",
    "]]> <failure/> \u{0} \u{b} \u{fffe} \u{1b}[31m",
    "\u{202e}gpj.exe",
    "日本語 \u{5d0}\u{5d1}",
    "",
    " ",
    "$(rm -rf /)",
];

/// Returns a document that has `name` in every place.
fn document(name: &str) -> Document {
    let text = || name.to_owned();
    let finding = |level| Finding {
        place: Some(Place { file: text(), line: Some(3) }),
        ..Finding::new(level, name, text())
    };
    let case = |result| Case {
        class: text(),
        name: text(),
        result,
        seconds: Some(0.5),
        place: Some(Place { file: text(), line: Some(3) }),
        output: vec![text()],
    };
    let results = [
        CaseResult::Passed,
        CaseResult::Failed(text()),
        CaseResult::Error(text()),
        CaseResult::Skipped(text()),
    ];
    Document {
        title: text(),
        lines: vec![text()],
        parts: vec![Part::Table(Table::new(
            text(),
            vec![
                Column::name("name"),
                Column::number("number"),
                Column::text("other"),
                Column::number(name).labelled(name),
            ],
            vec![
                vec![
                    Cell::Text(text()),
                    Cell::Number(0.1 + 0.2, String::from("0.3")),
                    Cell::Absent,
                    Cell::Count(7),
                ]
                .into(),
            ],
        ))],
        cases: results.into_iter().map(case).collect(),
        findings: [Level::Error, Level::Warning, Level::Notice].map(finding).to_vec(),
        ..Document::default()
    }
}

/// Reads CSV as RFC 4180 has it.
fn read_csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut signs = text.chars().peekable();
    while let Some(c) = signs.next() {
        match (c, is_quoted) {
            ('"', true) if signs.peek() == Some(&'"') => {
                signs.next();
                field.push('"');
            }
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => row.push(std::mem::take(&mut field)),
            ('\r', false) if signs.peek() == Some(&'\n') => {
                signs.next();
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            (c, _) => field.push(c),
        }
    }
    assert!(row.is_empty() && field.is_empty() && !is_quoted, "{text:?}");
    rows
}

fn check_csv(name: &str) {
    let text = csv::table(&document(name).main());
    let rows = read_csv(&text);
    assert_eq!(rows.len(), 2, "{text:?}");
    assert_eq!(rows[0][..3], ["name", "number", "other"]);
    let [found, number, other, seven] = rows[1].as_slice() else { panic!("{rows:?}") };
    assert_eq!((seven.as_str(), rows[0].len()), ("7", 4));
    assert_eq!(number.parse::<f64>().unwrap(), 0.1 + 0.2, "all the digits");
    assert_eq!(other, "");
    for found in [found, &rows[0][3]] {
        assert!(!found.trim_start().starts_with(['=', '+', '-', '@']), "{found:?} is a formula");
        // What was put in front is known, so that the name can be had again.
        assert_eq!(if found == name { found } else { found.strip_prefix('\'').unwrap() }, name);
        assert!(found != name || !name.starts_with('\''), "two names would be one: {name:?}");
    }
}

fn check_json(name: &str) {
    let text = jsonl::lines(&document(name).main());
    assert_eq!(text.lines().count(), 1);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    if ["name", "number", "other"].contains(&name) {
        return;
    }
    assert_eq!(value["name"].as_str(), Some(name));
    assert_eq!(value[name], 7);
    assert_eq!(value["number"].as_f64(), Some(0.1 + 0.2));
    assert!(value["other"].is_null());
}

fn check_markdown(name: &str) {
    let text = markdown::document(&document(name), 10);
    let plain = markdown::document(&document("x"), 10);
    // Without a caption its line and the empty one after it are not there.
    let lines = plain.lines().count() - if name.is_empty() { 2 } else { 0 };
    assert_eq!(text.lines().count(), lines, "a name makes no line: {text:?}");
    let cells = |line: &str| {
        let mut before = ' ';
        line.chars().filter(|c| std::mem::replace(&mut before, *c) != '\\' && *c == '|').count()
    };
    let tables = |text: &str| text.lines().map(cells).filter(|cells| *cells > 0).collect::<Vec<_>>();
    assert_eq!(tables(&text), tables(&plain), "a name makes no cell: {text:?}");
    let escaped = markdown::escaped(name);
    let mut signs = escaped.replace("@<!-- -->", "@").replace("&amp;", "+").chars().collect::<Vec<_>>();
    signs.insert(0, ' ');
    for pair in signs.windows(2) {
        let is_active = matches!(pair[1], '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '~');
        assert!(!is_active || pair[0] == '\\', "{escaped:?}");
    }
    assert!(!escaped.chars().any(karat_core::diagnostic::steers_terminal), "{escaped:?}");
    // Nothing but escapes was added.
    let back: String = {
        let text = escaped.replace("@<!-- -->", "@").replace("&amp;", "&");
        let mut out = String::new();
        let mut signs = text.chars();
        while let Some(c) = signs.next() {
            out.push(if c == '\\' { signs.next().unwrap() } else { c });
        }
        out
    };
    assert_eq!(back, clean(name), "{escaped:?}");
}

fn check_junit(name: &str) {
    let text = junit::document(&document(name));
    let mut verdicts = Vec::new();
    let mut names = Vec::new();
    TestResults::visit_junit(&text, &mut |case: TestCase<'_>| {
        verdicts.push(case.verdict);
        names.push(case.name.to_owned());
        assert_eq!(case.seconds, Some(0.5));
        true
    })
    .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    assert!(
        matches!(
            verdicts.as_slice(),
            [TestVerdict::Passed, TestVerdict::Failed, TestVerdict::Error, TestVerdict::Skipped]
        ),
        "{name:?}"
    );
    let is_xml = |c: char| !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    assert!(text.chars().all(is_xml), "{name:?}");
    let kept: String = name.chars().map(|c| if is_xml(c) { c } else { '\u{fffd}' }).collect();
    let full = if kept.is_empty() { String::new() } else { format!("{kept}.{kept}") };
    assert_eq!(names, vec![full; 4], "{text}");
}

fn check_github(name: &str) {
    let text = github::annotations(&document(name));
    let lines: Vec<&str> = text.split('\n').collect();
    assert_eq!(lines.len(), 5, "a name makes no command: {text:?}");
    let unescaped = |text: &str| text.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%");
    let safe: String = name
        .chars()
        .map(|c| match c {
            '\n' | '\r' => c,
            c => clean(&c.to_string()).chars().next().unwrap(),
        })
        .collect();
    for (line, word) in lines.iter().zip(["error", "warning", "notice"]) {
        assert!(!line.contains('\r'));
        let (command, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let properties = command.strip_prefix(word).unwrap().strip_prefix(' ').unwrap();
        let properties: Vec<&str> = properties.split(',').collect();
        assert_eq!(properties.len(), 3, "{line:?}");
        let value = properties[0].strip_prefix("file=").unwrap();
        let (file, within) = github::parts(&safe);
        assert_eq!(unescaped(&value.replace("%3A", ":").replace("%2C", ",")), file);
        assert_eq!(properties[1], "line=3");
        let within = if within.is_empty() { String::new() } else { format!(" ({within})") };
        assert_eq!(unescaped(message), format!("{safe}{within}"), "{line:?}");
    }
}

fn check_screen(name: &str) {
    let layout = screen::Layout { width: 80, most: 10, all: "" };
    let text = screen::document(&document(name), layout);
    let own = text.replace("\u{1b}[", "");
    assert!(own.lines().all(|line| !line.chars().any(karat_core::diagnostic::steers_terminal)), "{text:?}");
}

fn check_html(name: &str) {
    let text = html::document(&document(name));
    assert_eq!(text.matches("<script").count(), 1, "{name:?}");
    // Text from right to left is isolated by signs of the page itself.
    let own = text.replace(['\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'], "");
    assert!(own.lines().all(|line| !line.chars().any(karat_core::diagnostic::steers_terminal)), "{name:?}");
}

fn check_badge(name: &str) {
    let link = String::from("https://scores.example.org/subjects/a?card=b&c=\"");
    let badge = Badge { label: name.to_owned(), value: name.to_owned(), color: Color::Green, link };
    let svg = badge.svg();
    assert_eq!(svg, badge.svg(), "the same bytes");
    assert!(!svg.contains("<script") && svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    let is_xml = |c: char| c == '\n' || !c.is_control();
    assert!(svg.chars().all(is_xml), "{svg:?}");
    let endpoint: serde_json::Value = serde_json::from_str(&badge.endpoint()).unwrap();
    assert_eq!(endpoint["schemaVersion"], 1);
    assert!(!endpoint["message"].as_str().unwrap().is_empty());
}

fn check(name: &str) {
    for check in [
        check_csv, check_json, check_markdown, check_junit, check_github, check_screen, check_html,
        check_badge,
    ] {
        check(name);
    }
}

#[test]
fn an_annotation_names_the_file_and_then_the_place_in_it() {
    let text = github::annotations(&document("log.json: $.samples[3]"));
    assert!(text.starts_with("::error file=log.json,line=3,title="), "{text}");
    assert!(text.contains("($.samples[3])\n"), "{text}");
    assert_eq!(github::parts("runs.csv"), ("runs.csv", ""));
    assert_eq!(github::parts(": a"), (": a", ""));
}

#[test]
fn no_name_breaks_a_format() {
    HOSTILE.iter().for_each(|name| check(name));
}

proptest! {
    #[test]
    fn no_text_breaks_a_format(name in any::<String>()) {
        check(&name);
    }

    #[test]
    fn no_signs_of_the_formats_break_one(name in "[-=+@'\"|`<>&\\\\#*_~:%,;\r\n\t\\]\\[.w0-9 a]{0,12}") {
        check(&name);
    }
}

#[test]
fn the_colour_of_a_band_goes_from_the_worst_to_the_best() {
    let of = |bands: usize| (0..bands).map(|at| Color::of_band(at, bands).name()).collect::<Vec<_>>();
    assert_eq!(of(1), ["blue"]);
    assert_eq!(of(2), ["red", "brightgreen"]);
    assert_eq!(of(3), ["red", "yellow", "brightgreen"]);
    assert_eq!(of(5), ["red", "orange", "yellow", "green", "brightgreen"]);
}

#[test]
fn more_findings_than_github_shows_are_counted() {
    let findings = (0..25).map(|at| Finding::new(Level::Error, "gate", at.to_string())).collect();
    let text = github::annotations(&Document { findings, ..Document::default() });
    assert_eq!(text.matches("::error").count(), github::MOST);
    assert!(text.contains("::error title=karat::and 16 more\n"), "{text}");
    let rows = vec![vec![Cell::Text("x".repeat(500))].into(); 5000];
    let table = Part::Table(Table::new("", vec![Column::text("name")], rows));
    let long = Document { lines: vec!["y".repeat(2_000_000)], parts: vec![table], ..Document::default() };
    let summary = github::summary(&long);
    assert!(summary.len() < 1 << 20 && summary.contains("left out"), "{}", summary.len());
}
