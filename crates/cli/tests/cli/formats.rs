//! Every verb in every form: what it gives, what it refuses, and that all forms say the same.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, Run, finish, karat, program, root};

const CARD: &str = "examples/cards/task-run.toml";
const RUNS: &str = "examples/leaderboard/runs.csv";

/// A verb with arguments that work.
const VERBS: [(&str, &[&str]); 9] = [
    ("score", &["-c", CARD, RUNS]),
    ("leaderboard", &["-c", CARD, RUNS]),
    ("compare", &["heron", "ibis", "-c", CARD, RUNS]),
    ("standing", &["-c", CARD, "--as-of", "2026-06-01T00:00:00Z", RUNS]),
    (
        "standing",
        &[
            "--tasks", "-c", "examples/cards/practice.toml", "--as-of", "2026-06-09T00:00:00Z",
            "examples/standing/practice.csv",
        ],
    ),
    ("rate", &["--system", "glicko2", "examples/matches/season.csv"]),
    (
        "rate",
        &["--system", "bradley-terry", "--covariates", "length,headers", "examples/matches/answers.csv"],
    ),
    ("stress", &["-c", CARD, RUNS]),
    ("explain", &["-c", "trust@1.1.0", "examples/trust/agent.json"]),
];

const FORMATS: [&str; 8] = ["table", "json", "jsonl", "csv", "markdown", "junit", "github", "html"];

fn run(verb: &str, arguments: &[&str], more: &[&str]) -> Run {
    karat(&[&[verb], arguments, more].concat())
}

#[test]
fn every_verb_gives_every_format_that_the_help_names() {
    let help = karat(&["leaderboard", "--help"]).stdout;
    assert!(help.contains(&FORMATS.join(" ")), "{help}");
    for (verb, arguments) in VERBS {
        for format in FORMATS {
            let run = run(verb, arguments, &["--format", format]);
            assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{verb} {format}");
            let text = run.stdout;
            match format {
                "json" | "jsonl" => {
                    assert!(
                        text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()),
                        "{verb} {text}"
                    );
                }
                "csv" => {
                    let columns = text.lines().next().unwrap().split(',').count();
                    assert!(
                        columns > 5 && text.lines().count() > 1 && text.contains("\r\n"),
                        "{verb} {text}"
                    );
                }
                "markdown" => assert!(text.starts_with("## ") && text.contains("| --- |"), "{verb} {text}"),
                "junit" => assert!(text.starts_with("<?xml") && text.contains("<testcase "), "{verb} {text}"),
                "github" => assert!(text.contains("::notice title=karat::"), "{verb} {text}"),
                "html" => assert!(text.starts_with("<!DOCTYPE html>"), "{verb}"),
                _ => assert!(!text.is_empty()),
            }
        }
    }
}

#[test]
fn the_environment_chooses_where_no_flag_does_and_changes_no_number() {
    let with = |value: &str, more: &[&str]| {
        let arguments = [&["leaderboard", "-c", CARD, RUNS, "--fail-under", "60"], more].concat();
        finish(program(&root()).args(arguments).env("KARAT_FORMAT", value), "")
    };
    let plain = karat(&["leaderboard", "-c", CARD, RUNS, "--fail-under", "60"]);
    assert_eq!(with("csv", &[]).stdout, with("", &["--format", "csv"]).stdout);
    assert_eq!(with("csv", &["--json"]).stdout, plain.stdout);
    assert_eq!(with("", &[]).stdout, plain.stdout);
    for format in FORMATS {
        let found = with(format, &[]);
        assert_eq!((found.status, &found.stderr), (plain.status, &plain.stderr), "{format}");
    }
    let wrong = with("xml", &[]);
    assert_eq!(wrong.status, 1);
    assert!(wrong.stderr.contains("KARAT_FORMAT: there is no format `xml`"), "{}", wrong.stderr);
}

#[test]
fn rows_are_those_of_the_json_with_all_their_digits() {
    let json: Value =
        serde_json::from_str(&run("leaderboard", &["-c", CARD, RUNS], &["--json"]).stdout).unwrap();
    let rows = run("leaderboard", &["-c", CARD, RUNS], &["--format", "jsonl"]).stdout;
    let boards = json["leaderboards"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.lines().count(), boards.len());
    for (line, row) in rows.lines().zip(boards) {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["subject"], row["subject"]);
        let full = row["mean"]["mean"].as_f64().unwrap();
        assert!((line["mean"].as_f64().unwrap() - full).abs() < 1e-9, "{line}");
        assert_eq!(line["official"], row["official"]["points"]);
        assert_eq!(line["tasks"], row["tasks"]);
    }
}

#[test]
fn a_report_of_tests_is_read_back_with_what_failed() {
    let folder = Folder::new();
    let report = run("score", &["-c", CARD, RUNS], &["--format", "junit"]).stdout;
    folder.write("scored.xml", &report);
    let items = folder.karat(&["import", "--quiet", "scored.xml"]).stdout;
    let count = |outcome: &str| {
        let of = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["outcome"] == outcome;
        items.lines().filter(of).count()
    };
    let table = fs::read_to_string(root().join(RUNS)).unwrap();
    let given = |outcomes: &[&str]| {
        table
            .lines()
            .filter(|line| outcomes.iter().any(|outcome| line.split(',').any(|it| it == *outcome)))
            .count()
    };
    assert_eq!(items.lines().count(), table.lines().count() - 1);
    assert_eq!(count("failed"), given(&["failed", "refused"]));
    assert_eq!(count("no-verdict"), given(&["no-verdict", "stopped"]));
    assert_eq!(count("succeeded"), given(&["succeeded"]));
    let limited =
        run("score", &["-c", CARD, RUNS], &["--format", "junit", "--sort", "worst", "--limit", "7"]).stdout;
    assert!(limited.contains("tests=\"7\""), "{limited}");
    assert_eq!(limited.matches("<testcase ").count(), 7);
}

#[test]
fn a_step_of_github_gets_a_summary_and_annotations() {
    let folder = Folder::new();
    let summary = folder.path().join("summary.md");
    fs::write(&summary, "before\n").unwrap();
    let step = |arguments: &[&str]| {
        finish(program(&root()).args(arguments).env("GITHUB_STEP_SUMMARY", &summary), "")
    };
    let found = step(&[
        "compare", "examples/compare/base.csv", "examples/compare/new.csv", "-c", CARD, "--fail-if-worse",
        "--format", "github",
    ]);
    assert_eq!(found.status, 16);
    assert!(
        found.stdout.starts_with("::error title=regression::`ibis` is worse than before"),
        "{}",
        found.stdout
    );
    assert!(found.stdout.contains("::notice file=examples/compare/new.csv,line="), "{}", found.stdout);
    let written = fs::read_to_string(&summary).unwrap();
    assert!(
        written.starts_with("before\n## ") && written.contains("**ibis worse than before at 20 tasks"),
        "{written}"
    );
}

#[test]
fn a_brief_record_names_the_full_one() {
    let arguments = ["-c", CARD, RUNS];
    let (full, brief) =
        (run("score", &arguments, &["--json"]).stdout, run("score", &arguments, &["--brief"]).stdout);
    assert_eq!(full.lines().count(), brief.lines().count());
    for (full, brief) in full.lines().zip(brief.lines()) {
        let digest = karat_core::facts::Digest::of(full.as_bytes()).to_string();
        let (full, brief): (Value, Value) =
            (serde_json::from_str(full).unwrap(), serde_json::from_str(brief).unwrap());
        assert_eq!(brief["record"], digest);
        assert_eq!(brief["evidence"], full["evidence"]["digest"]);
        assert_eq!((&brief["id"], &brief["subject"]), (&full["evidence"]["id"], &full["subject"]));
        assert_eq!(brief["score"], full["score"]["published"]);
        assert_eq!((&brief["band"], &brief["gates"]), (&full["band"], &full["gates"]));
        assert_eq!(brief["time"], full["evidence"]["time"]);
    }
    assert!(brief.len() * 2 < full.len(), "{} {}", brief.len(), full.len());
}

#[test]
fn an_explanation_that_could_be_of_several_names_each_subject_once() {
    let found = karat(&["explain", "-c", CARD, RUNS]);
    assert_eq!(found.status, 1);
    assert_eq!(found.stderr.matches("`ibis` (48 items)").count(), 1, "{}", found.stderr);
    let first = karat(&["explain", "-c", CARD, RUNS, "-s", "ibis", "--table"]);
    assert_eq!(first.status, 0);
    assert!(first.stderr.contains("another: --subject 'ibis' --item '"), "{}", first.stderr);
    let other = karat(&["explain", "-c", CARD, RUNS, "-i", "ibis-air-03-1", "--json"]);
    assert_eq!((other.status, other.stderr.as_str()), (0, ""));
    assert!(other.stdout.contains("\"id\":\"ibis-air-03-1\""), "{}", other.stdout);
}

#[test]
fn a_badge_has_the_score_and_the_colour_of_its_band() {
    let badge = |subject: &str, more: &[&str]| {
        let arguments =
            ["badge", "-s", subject, "-c", "examples/cards/test-report.toml", "examples/tests/reports.jsonl"];
        karat(&[&arguments[..], more].concat())
    };
    let endpoint =
        |subject: &str| -> Value { serde_json::from_str(&badge(subject, &["--endpoint"]).stdout).unwrap() };
    assert_eq!(endpoint("complete")["color"], "brightgreen");
    assert_eq!(endpoint("lenient")["color"], "red");
    assert_eq!(endpoint("one_way")["color"], "yellow");
    let svg = badge("complete", &[]);
    assert_eq!((svg.status, &svg.stdout), (0, &badge("complete", &[]).stdout));
    assert!(svg.stdout.starts_with("<svg ") && svg.stdout.contains(">100.0<"), "{}", svg.stdout);
    let several = karat(&["badge", "-c", CARD, RUNS]);
    assert!(several.stderr.contains("choose one with --subject"), "{}", several.stderr);
}

#[test]
fn an_export_is_read_back_and_gives_the_same_leaderboard() {
    let folder = Folder::new();
    let means = |files: &[&str]| {
        let arguments = [&["leaderboard", "-c", CARD, "--by", "mean", "--format", "csv"], files].concat();
        let found = finish(program(&root()).args(arguments), "");
        assert_eq!(found.status, 0, "{}", found.stderr);
        let rows = found.stdout.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
        rows.map(|row| (row[4].to_owned(), row[7].to_owned())).collect::<Vec<_>>()
    };
    let given = means(&[RUNS]);
    for target in ["inspect", "otel"] {
        let out = folder.path().join(target).display().to_string();
        let found = karat(&["export", "--to", target, "-c", CARD, "--out", &out, RUNS]);
        assert_eq!(found.status, 0, "{}", found.stderr);
        assert!(found.stderr.starts_with("240 items in "), "{}", found.stderr);
        assert_eq!(means(&[&out]), given, "{target}");
        let again = karat(&["export", "--to", target, "-c", CARD, "--out", &out, RUNS]);
        assert!(again.stderr.contains("has files in it"), "{}", again.stderr);
    }
    // An empty folder is as good as none, and nothing lies beside either.
    let beside = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut beside: Vec<_> = beside.map(|name| name.into_string().unwrap()).collect();
    beside.sort();
    assert_eq!(beside, ["inspect", "otel"]);
    let empty = folder.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    let found = karat(&["export", "--to", "inspect", "-c", CARD, "--out", &format!("{empty}/"), RUNS]);
    assert_eq!((found.status, means(&[&empty])), (0, given), "{}", found.stderr);
    let here = karat(&["export", "--to", "inspect", "-c", CARD, "--out", ".", RUNS]);
    here.ends(1, "name a new folder");
    let several = karat(&["export", "--to", "inspect", "-c", CARD, RUNS]);
    assert!(several.stderr.contains("--out DIR"), "{}", several.stderr);
}

#[test]
fn a_page_has_the_items_behind_its_ranks() {
    let page = run("leaderboard", &["-c", CARD, RUNS], &["--format", "html"]).stdout;
    let page = scraper::Html::parse_document(&page);
    let of = |selector: &str| page.select(&scraper::Selector::parse(selector).unwrap()).count();
    assert_eq!(of("td a[href^='./examples/leaderboard/runs.csv#L']"), 240);
    assert_eq!(of("details > .box tr:has(a)"), 240);
    let same = Folder::new();
    let file = same.path().join("page.html").display().to_string();
    karat(&["leaderboard", "-c", CARD, RUNS, "--html", &file, "--json"]);
    // All but the command, which they name.
    let without = |page: &str| {
        let (before, after) = page.split_once("<pre><code>karat leaderboard").unwrap();
        [before, after.split_once("</code>").unwrap().1].concat()
    };
    let printed = run("leaderboard", &["-c", CARD, RUNS], &["--format", "html"]).stdout;
    assert_eq!(without(&fs::read_to_string(&file).unwrap()), without(&printed));
}

/// Columns whose value JSON nests: the command, the column, and the end of its path.
const NESTED: &[(&str, &str, &str)] = &[
    ("leaderboard", "rank_worst", "rank_range"),
    ("compare", "first_mean", "first.mean"),
    ("compare", "second_mean", "second.mean"),
    ("compare", "difference", "estimate.mean"),
    ("rate", "rank_without_covariates", "without_covariates.rank"),
    ("rate", "points_without_covariates", "without_covariates.points"),
    ("standing", "score", "score.value"),
    ("stress", "chance_of_same_rank_any_weights", "weights_any.subjects.chance_of_same_rank"),
    ("stress", "chance_of_rank_1_any_weights", "weights_any.subjects.chance_of_rank_1"),
];

/// Columns that count what JSON lists.
const COUNTED: &[(&str, &str)] = &[("standing", "incidents"), ("rate", "matches")];

/// Adds the numbers in `value` with the names of the members that lead to them, joined by dots.
fn numbers(value: &Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                numbers(inner, &format!("{path}.{name}"), found);
            }
        }
        Value::Array(all) => all.iter().for_each(|inner| numbers(inner, path, found)),
        _ => found.extend(value.as_f64().map(|number| (path.to_owned(), number))),
    }
}

/// Returns whether `shown`, a number as people read it, is `full` with the decimals that it has, at most `most` of
/// the last one away. `40/50` is 40 of 50.
fn is_rounded(shown: &str, full: f64, most: f64) -> bool {
    let shown = shown.split('/').next().unwrap_or_default();
    let (digits, factor) = shown.strip_suffix('%').map_or((shown, 1.0), |digits| (digits, 100.0));
    let Ok(number) = digits.trim_start_matches('+').parse::<f64>() else { return false };
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    format!("{most}e-{decimals}").parse::<f64>().is_ok_and(|step| (number - full * factor).abs() <= step)
}

/// Returns the tables of a page or a text of Markdown: each a list of rows of cells, the names of the columns first.
fn tables(format: &str, text: &str) -> Vec<Vec<Vec<String>>> {
    if format == "html" {
        let inner = |text: &str| {
            let mut bare = String::new();
            let mut is_tag = false;
            for c in text.chars() {
                is_tag = c == '<' || (is_tag && c != '>');
                if !is_tag && c != '>' {
                    bare.push(c);
                }
            }
            bare.trim().to_owned()
        };
        let cells = |row: &str| -> Vec<String> {
            let cell = |part: &str| part.split_once('>').map(|(_, rest)| inner(rest));
            row.replace("<th", "<td").split("<td").skip(1).filter_map(cell).collect()
        };
        let own = |table: &'_ str| table.split("</table>").next().unwrap_or_default().to_owned();
        let rows = |table: &str| own(table).split("<tr").skip(1).map(cells).collect();
        return text.split("<table").skip(1).map(rows).collect();
    }
    let cells = |line: &str| {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('\\', "")).collect::<Vec<_>>()
    };
    let mut found = vec![Vec::new()];
    for line in text.lines() {
        match line.starts_with('|') {
            true if !line.starts_with("| -") => {
                found.iter_mut().last().into_iter().for_each(|it| it.push(cells(line)))
            }
            true => {}
            false => found.push(Vec::new()),
        }
    }
    found.retain(|table| !table.is_empty());
    found
}

#[test]
fn every_format_has_equal_numbers_under_equal_names() {
    for (verb, arguments) in VERBS {
        let text = |format: &str| run(verb, arguments, &["--format", format]).stdout;
        let mut json = Vec::new();
        for line in text("json").lines() {
            numbers(&serde_json::from_str(line).unwrap(), "", &mut json);
        }
        let csv = text("csv");
        let cells = |line: &str| -> Vec<String> {
            // A comma between quotes does not end a cell.
            let parts = line.split('"').enumerate();
            let marked =
                parts.map(|(at, part)| if at % 2 == 0 { part.replace(',', "\0") } else { part.to_owned() });
            marked.collect::<String>().split('\0').map(str::to_owned).collect()
        };
        let mut lines = csv.lines();
        let heads = cells(lines.next().unwrap());
        let rows: Vec<Vec<String>> = lines.map(cells).collect();
        assert!(rows.iter().all(|row| row.len() == heads.len()), "{csv}");
        assert!(!rows.is_empty(), "{verb}: {csv}");
        // A range of ranks is text: `1` or `1-2`.
        let full = |row: &[String], head: &str| {
            if head.starts_with("rank_range") {
                return None;
            }
            let at = heads.iter().position(|it| *it == head)?;
            row.get(at)?.parse::<f64>().ok()
        };
        // Rows have all digits, so JSON has the very same numbers.
        let mut compared = 0;
        for row in &rows {
            for head in &heads {
                let Some(number) = full(row, head) else { continue };
                if COUNTED.contains(&(verb, head.as_str())) {
                    continue;
                }
                let nested = NESTED.iter().find(|(of, column, _)| (*of, *column) == (verb, head.as_str()));
                let end = nested.map_or(head.as_str(), |(_, _, end)| *end).rsplit_once("dimension.");
                let end = end.map_or(nested.map_or(head.as_str(), |(_, _, end)| *end), |(_, key)| key);
                let has = json.iter().any(|(path, other)| {
                    path.ends_with(&format!(".{end}")) && (number - other).abs() < 1e-9
                        || nested.is_none()
                            && path.rsplit('.').nth(1) == Some(end)
                            && (number - other).abs() < 1e-9
                });
                assert!(has, "{verb}: JSON has no `{end}` of {number}, the `{head}` of {row:?}");
                compared += 1;
            }
        }
        let given = text("jsonl");
        if let Ok(first) = serde_json::from_str::<Value>(given.lines().next().unwrap())
            && heads.iter().all(|head| first.get(head.as_str()).is_some())
        {
            for (line, row) in given.lines().zip(&rows) {
                let line: Value = serde_json::from_str(line).unwrap();
                for head in &heads {
                    assert_eq!(line[head.as_str()].as_f64(), full(row, head), "{verb} jsonl {head}: {line}");
                }
            }
        }
        // What people read is the same, rounded.
        for format in ["markdown", "html"] {
            let text = text(format);
            let main = tables(format, &text).into_iter().find(|table| {
                let names = table.first().map(|row| row.iter().map(|it| it.replace(' ', "_")));
                names.is_some_and(|mut names| names.any(|name| name != "subject" && heads.contains(&name)))
            });
            let main = main.unwrap_or_else(|| panic!("{verb} {format}: {text}"));
            let names: Vec<String> = main[0].iter().map(|it| it.replace(' ', "_")).collect();
            for (shown, row) in main[1..].iter().zip(&rows) {
                for (cell, name) in shown.iter().zip(&names) {
                    if let Some(number) = full(row, name).filter(|_| !cell.contains("to") && cell != "–") {
                        // The parts of a score are cut, so that none is shown above what it is.
                        let cut = if verb == "explain" { 1.0 } else { 0.5001 };
                        assert!(is_rounded(cell, number, cut), "{verb} {format} {name}: {cell} of {row:?}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 20, "{verb}: {compared}");
        // A screen, a case and an annotation have no number that the whole text has not.
        let markdown = text("markdown").replace('\\', "");
        let is_said = |format: &str, line: &str| match format {
            "junit" => line.contains("system-out"),
            "github" => line.starts_with("::"),
            // The heads have the ends of an axis among them, and notes are not numbers of a row.
            _ => {
                !line.starts_with("  ")
                    && line.split_whitespace().filter(|word| heads.iter().any(|head| head == word)).count()
                        < 2
            }
        };
        for format in ["table", "junit", "github"] {
            for line in text(format).lines().filter(|line| is_said(format, line)) {
                let said = line.replace("</system-out>", " ").replace("%25", "%");
                let said = said.rsplit_once("::").map_or(said.as_str(), |(_, said)| said);
                for word in said.split([' ', ',', ';', '(', ')', '>', ':']) {
                    if word.contains('.') && word.trim_end_matches(['.', '%']).parse::<f64>().is_ok() {
                        let word = word.trim_end_matches('.');
                        assert!(markdown.contains(word), "{verb} {format}: {word} in {line}");
                    }
                }
            }
        }
    }
}
