//! Names of subjects: those that look like another's are named, and those from right to left are isolated.

use serde_json::{Value, json};

use crate::common::{Folder, Run, example};

const CARD: [&str; 2] = ["-c", "support-agent.toml"];
const MOMENT: [&str; 2] = ["--as-of", "2026-03-10T00:00:00Z"];

/// Returns a folder with items of these subjects.
fn items(subjects: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.write("support-agent.toml", &example("cards/support-agent.toml"));
    let line = |(at, subject): (usize, &&str)| {
        let item = json!({"subject": subject, "id": at.to_string(), "task": format!("t{}", at % 3),
            "time": format!("2026-03-0{}T09:00:00Z", at % 7 + 1), "outcome": "succeeded",
            "accuracy": 0.5, "safety": 0.5, "patience": 0.5, "incident_open": false});
        format!("{item}\n")
    };
    let lines = subjects.iter().cycle().enumerate().take(4 * subjects.len());
    folder.write("items.jsonl", &lines.map(line).collect::<String>());
    folder
}

fn asked(folder: &Folder, verb: &str, flags: &[&str]) -> Run {
    let moment: &[&str] = if verb == "standing" { &MOMENT } else { &[] };
    let run = folder.karat(&[&[verb], flags, &CARD, moment, &["items.jsonl"]].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{verb}");
    run
}

#[test]
fn names_that_look_alike_are_named() {
    let folder = items(&["paypal", "ebay", "paypa1", "p\u{430}ypal"]);
    let expected = |name: &str| match name {
        "ebay" => Value::Null,
        _ => json!(
            ["paypa1", "paypal", "p\u{430}ypal"].into_iter().filter(|it| *it != name).collect::<Vec<_>>()
        ),
    };
    let board: Value = serde_json::from_str(&asked(&folder, "leaderboard", &["--json"]).stdout).unwrap();
    let standings = asked(&folder, "standing", &["--json"]).stdout;
    let standings: Vec<Value> = standings.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rows = board["leaderboards"][0]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), standings.len()), (4, 4));
    for row in rows.iter().chain(&standings) {
        let name = row["subject"].as_str().unwrap();
        assert_eq!(row["looks_like"], expected(name), "{name}");
    }
    let said = "these names look alike: `paypa1`, `paypal`, `p\u{430}ypal` (p\\u{430}ypal)";
    for (verb, flags) in [("leaderboard", vec![]), ("standing", vec![]), ("standing", vec!["-s", "paypal"])] {
        let screen = asked(&folder, verb, &[flags.as_slice(), &["--table"]].concat()).stdout;
        let whole = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(whole.contains(said), "{verb}: {screen}");
    }
    for verb in ["leaderboard", "standing"] {
        asked(&folder, verb, &["--html", "page.html"]);
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        assert!(page.contains(said), "{verb}");
    }
    let plain = items(&["bee", "ebay"]);
    for verb in ["leaderboard", "standing"] {
        assert!(!asked(&plain, verb, &["--table"]).stdout.contains("look alike"));
        assert!(!asked(&plain, verb, &["--json"]).stdout.contains("looks_like"));
    }
}

#[test]
fn names_from_right_to_left_are_isolated_on_pages_and_left_alone_for_programs() {
    let name = "\u{5d0}\u{5d1} 12 (\u{5d3}) 5";
    let folder = items(&[name, "bee"]);
    for verb in ["leaderboard", "standing"] {
        let written = asked(&folder, verb, &["--json", "--html", "page.html"]).stdout;
        assert!(written.contains(name) && !written.contains('\u{2068}'), "{written}");
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        let shown = "<bdi>\u{5d0}\u{5d1} 12 (\u{5d3}</bdi>) 5";
        assert!(page.contains(shown), "{verb}: {page}");
        assert!(!page.contains(name), "{verb}: not isolated");
    }
}
