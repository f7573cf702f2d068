//! Every verb in every form: what it gives, what it refuses, and that all forms say the same.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, Run, finish, karat, program, root};

const CARD: &str = "examples/cards/task-run.toml";
const RUNS: &str = "examples/leaderboard/runs.csv";

/// A verb with arguments that work.
const VERBS: [(&str, &[&str]); 8] = [
    ("score", &["-c", CARD, RUNS]),
    ("leaderboard", &["-c", CARD, RUNS]),
    ("compare", &["heron", "ibis", "-c", CARD, RUNS]),
    ("standing", &["-c", CARD, "--as-of", "2026-06-01T00:00:00Z", RUNS]),
    (
        "standing",
        &[
            "--tasks",
            "-c",
            "examples/cards/practice.toml",
            "--as-of",
            "2026-06-09T00:00:00Z",
            "examples/standing/practice.csv",
        ],
    ),
    ("rate", &["--system", "glicko2", "examples/matches/season.csv"]),
    ("stress", &[CARD, RUNS]),
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
        "compare",
        "examples/compare/base.csv",
        "examples/compare/new.csv",
        "-c",
        CARD,
        "--fail-if-worse",
        "--format",
        "github",
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
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        run("leaderboard", &["-c", CARD, RUNS], &["--format", "html"]).stdout
    );
}
