//! Pages for a browser: written beside the answer, the same bytes each time, safe with any name, never in part.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use scraper::{Html, Selector};

use crate::common::{Folder, example};

const RUNS: [&str; 3] = ["-c", "task-run.toml", "runs.csv"];

/// Returns a folder with runs of agents, and their scorecard.
fn runs() -> Folder {
    let folder = Folder::new();
    folder.write("task-run.toml", &example("cards/task-run.toml"));
    folder.write("runs.csv", &example("leaderboard/runs.csv"));
    folder.write("season.csv", &example("matches/season.csv"));
    folder.write("votes.jsonl", &example("matches/votes.jsonl"));
    folder
}

/// Writes `page.html` beside the answer, which it does not change, and reads it.
fn page(folder: &Folder, arguments: &[&str]) -> String {
    let without = folder.karat(arguments);
    let run = folder.karat(&[arguments, &["--html", "page.html"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(run.stdout, without.stdout);
    fs::read_to_string(folder.path().join("page.html")).unwrap()
}

fn texts(text: &str, selector: &str) -> Vec<String> {
    let document = Html::parse_document(text);
    assert_eq!(document.errors.len(), 0, "{:?}", document.errors);
    document.select(&Selector::parse(selector).unwrap()).map(|it| it.text().collect()).collect()
}

#[test]
fn a_leaderboard_has_all_its_parts() {
    let folder = runs();
    let arguments = [&["leaderboard", "--robustness", "--attempts", "2"][..], &RUNS].concat();
    let text = page(&folder, &arguments);
    assert_eq!(texts(&text, "h1"), ["ibis leads, but kite and heron are too close to call"]);
    assert_eq!(texts(&text, ".kick"), ["task-run@1.0.0 by official score at 2 May 2026, 04:00 UTC"]);
    let command = "karat leaderboard --robustness --attempts 2 -c task-run.toml runs.csv --html page.html";
    assert_eq!(texts(&text, "pre"), [command]);
    let parts = [
        "Leaderboard", "Dimensions", "Other weights", "Other choices", "What drives the composite", "Rank 1",
        "Over time", "Items", "Reproduce this",
    ];
    assert_eq!(texts(&text, "h2"), parts);
    // The numbers of the terminal, in its order.
    let screen = folder.karat(&[&arguments[..], &["--table"]].concat()).stdout;
    let rows: Vec<&str> = screen.lines().skip(4).take(5).collect();
    let names = texts(&text, "section:nth-of-type(1) .figure:nth-of-type(1) th.name[scope=row]");
    let points = texts(&text, "section:nth-of-type(1) td.point b");
    assert_eq!(names.len(), 5);
    for ((row, name), points) in rows.iter().zip(&names).zip(&points) {
        assert!(row.contains(name.as_str()) && row.contains(points.as_str()), "{row}: {name} {points}");
    }
    assert_eq!(texts(&text, "figure figcaption"), names, "one history for each");
    assert_eq!(text, page(&folder, &arguments), "the same bytes, over the page before");
    assert!(!text.contains("://"));
}

/// Returns the mean at the end of each history on the page.
fn last_means(page: &str) -> Vec<f64> {
    let told = texts(page, "desc");
    let mean = |text: &String| text.split("mean of the last 100: ").nth(1)?.split(' ').next()?.parse().ok();
    told.iter().filter_map(mean).collect()
}

#[test]
fn a_history_counts_items_as_the_board_does() {
    let folder = Folder::new();
    folder.write("task-run.toml", &example("cards/task-run.toml"));
    let rows = "subject,task,id,time,outcome,solved\n\
        a,t1,1,2026-05-01T00:00:00Z,succeeded,1\n\
        a,t2,2,2026-05-02T00:00:00Z,stopped,0.8\n\
        a,t3,3,2026-05-03T00:00:00Z,no-verdict,0.6\n";
    folder.write("runs.csv", rows);
    let means = |flags: &[&str]| last_means(&page(&folder, &[&["leaderboard"], flags, &RUNS].concat()));
    assert_eq!(means(&[]), [50.0], "what was stopped failed, and what has no verdict is left out");
    assert_eq!(means(&["--count", "stopped=scored"]), [90.0]);
    assert_eq!(means(&["--count", "stopped=excluded", "--count", "no-verdict=failure"]), [50.0]);
    assert_eq!(means(&["--count", "stopped=scored", "--count", "no-verdict=scored"]), [80.0]);
}

#[test]
fn evidence_is_never_replaced_by_a_page() {
    let folder = runs();
    for (name, verb) in [
        ("runs.csv", &["leaderboard"][..]),
        ("task-run.toml", &["standing", "--as-of", "2026-06-01T00:00:00Z"]),
    ] {
        let before = fs::read(folder.path().join(name)).unwrap();
        let run = folder.karat(&[verb, &RUNS, &["--html", name]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""));
        assert!(run.stderr.contains(&format!("`{name}` exists and is not a page")), "{}", run.stderr);
        assert_eq!(fs::read(folder.path().join(name)).unwrap(), before);
    }
    let ratings = folder.karat(&["rate", "--system", "elo", "--state-out", "season.csv", "season.csv"]);
    assert_eq!(ratings.status, 1);
    ratings.tells("`season.csv` exists and is not a file of ratings");
    assert_eq!(fs::read_to_string(folder.path().join("season.csv")).unwrap(), example("matches/season.csv"));
    // An empty file has nothing to lose.
    folder.write("empty.html", "");
    let run = folder.karat(&[&["leaderboard"], &RUNS[..], &["--html", "empty.html"]].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        folder.karat(&[&["leaderboard"], &RUNS[..], &["--html", "-"]].concat()).stderr.contains("found `-`")
    );
}

#[test]
fn a_page_that_cannot_be_written_says_so_and_leaves_nothing() {
    let folder = runs();
    for place in ["none/page.html", "."] {
        let run = folder.karat(&[&["leaderboard", "--html", place][..], &RUNS].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""));
        assert!(run.stderr.starts_with("error: cannot write `"), "{}", run.stderr);
    }
    folder.write("page.html", "kept");
    let run = folder.karat(&["leaderboard", "--html", "page.html", "-c", "task-run.toml", "none.csv"]);
    assert_eq!(run.status, 1);
    assert_eq!(fs::read_to_string(folder.path().join("page.html")).unwrap(), "kept");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5);
}

#[test]
fn a_page_of_receipts_has_everything_to_check_them_again() {
    let folder = Folder::new();
    folder.write("receipt.json", &example("receipt/receipt.json"));
    folder.write("<b>.json", &example("receipt/receipt.json").replace("\"index\":", "\"index\":1"));
    folder.write("log.key", &example("receipt/log.key"));
    let one = ["verify", "receipt.json", "--key", "log.key"];
    let text = page(&folder, &one);
    assert_eq!(
        texts(&text, "h2"),
        ["Verify", "Checked again in this browser", "Check another receipt", "Reproduce this"]
    );
    assert!(
        texts(&text, "section")[0].contains("verified: it was kept as given here"),
        "{:?}",
        texts(&text, "section")
    );
    assert!(texts(&text, "[data-without-script]")[0].contains("karat verify"));
    assert!(
        text.contains("'wasm-unsafe-eval'; base-uri 'none'; form-action 'none'") && !text.contains("'unsafe")
    );
    // The name of a kind of element looks like an address.
    assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("://"));
    let given: serde_json::Value = serde_json::from_str(&texts(&text, "#given")[0]).unwrap();
    assert_eq!(given[0]["text"], example("receipt/receipt.json"));
    assert_eq!(given[0]["key"], example("receipt/log.key").trim());
    assert_eq!(text, page(&folder, &one), "the same bytes, over the page before");

    let both = ["verify", "receipt.json", "<b>.json", "--key", "log.key", "--html", "page.html"];
    assert_eq!(folder.karat(&both).status, 14);
    let text = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(texts(&text, "b").is_empty() && text.contains("\\u003cb>.json"), "a name is no element");
    let given: serde_json::Value = serde_json::from_str(&texts(&text, "#given")[0]).unwrap();
    assert_eq!(given[1]["name"], "<b>.json");
}
