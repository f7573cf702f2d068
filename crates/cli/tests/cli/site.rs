//! `karat site`: pages that lead to each other and nowhere else, the same bytes each time, never over files of others.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use scraper::{Html, Selector};

use crate::common::{Folder, example, root};
use crate::docs::copy;
use crate::serve::Server;

const RUNS: &str = "-c examples/cards/task-run.toml examples/leaderboard/runs.csv";

fn folder() -> Folder {
    let folder = Folder::new();
    copy(&root().join("examples"), &folder.path().join("examples"));
    folder
}

/// Returns the files below a folder.
fn read(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => open.push(path),
                path => {
                    drop(files.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(path).unwrap()))
                }
            }
        }
    }
    files
}

fn texts(page: &[u8], selector: &str) -> Vec<String> {
    let document = Html::parse_document(std::str::from_utf8(page).unwrap());
    document.select(&Selector::parse(selector).unwrap()).map(|it| it.text().collect()).collect()
}

/// Checks that each link of a site leads to one of its files, and that each page is led to.
fn leads_nowhere_else(files: &BTreeMap<PathBuf, Vec<u8>>) {
    let mut led = vec![PathBuf::from("index.html")];
    for (path, bytes) in files.iter().filter(|(path, _)| path.extension().is_some_and(|it| it == "html")) {
        let text = std::str::from_utf8(bytes).unwrap();
        let document = Html::parse_document(text);
        assert_eq!(document.errors.len(), 0, "{path:?} {:?}", document.errors);
        assert!(!text.contains("<style") && !text.contains(" style="), "{path:?}");
        for name in ["href", "src"] {
            for element in document.select(&Selector::parse(&format!("[{name}]")).unwrap()) {
                let target = element.attr(name).unwrap();
                let mut goal = path.parent().unwrap().to_path_buf();
                for part in target.split('#').next().unwrap().split('/') {
                    if part == ".." { assert!(goal.pop(), "{path:?} {target}") } else { goal.push(part) }
                }
                assert!(target.starts_with('#') || files.contains_key(&goal), "{path:?}: {target}");
                led.push(goal);
            }
        }
        assert!(text.contains("default-src 'none'") && text.contains("base-uri 'none'"), "{path:?}");
    }
    let is_page = |path: &&PathBuf| path.extension().is_some_and(|it| it == "html");
    let lost: Vec<_> = files.keys().filter(is_page).filter(|path| !led.contains(path)).collect();
    assert!(lost.is_empty(), "no page leads to {lost:?}");
}

#[test]
fn a_site_has_what_the_leaderboard_says_and_every_link_is_in_it() {
    let folder = folder();
    assert_eq!(folder.line(&format!("site out {RUNS}")).status, 0);
    let files = read(&folder.path().join("out"));
    leads_nowhere_else(&files);
    assert_eq!(folder.line(&format!("leaderboard {RUNS} --html board.html --format json")).status, 0);
    let board = fs::read(folder.path().join("board.html")).unwrap();
    let index = &files[Path::new("index.html")];
    for selector in ["h1", "p.lead", "td.point", "th.name"] {
        let (one, other) = (texts(index, selector), texts(&board, selector));
        assert_eq!(one, other.into_iter().take(one.len()).collect::<Vec<_>>(), "{selector}");
    }
    let json = folder.line(&format!("leaderboard {RUNS} --format json")).stdout;
    assert_eq!(files[Path::new("leaderboard.json")], json.as_bytes());
    let csv = folder.line(&format!("leaderboard {RUNS} --format csv")).stdout;
    assert_eq!(files[Path::new("leaderboard.csv")], csv.as_bytes());
    // A record of it is verified as any other.
    let record = files
        .keys()
        .find(|path| path.starts_with("records") && path.extension().is_some_and(|it| it == "json"))
        .unwrap();
    let run = folder.karat(&[
        "explain",
        &format!("out/{}", record.display()),
        "-c",
        "examples/cards/task-run.toml",
    ]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(folder.line(&format!("site out {RUNS}")).status, 0, "over the one before");
    assert!(read(&folder.path().join("out")) == files, "other bytes");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left beside it");
}

#[test]
fn a_folder_of_others_is_not_replaced() {
    let folder = folder();
    fs::create_dir(folder.path().join("mine")).unwrap();
    folder.write("mine/thesis.txt", "work");
    folder.line(&format!("site mine {RUNS}")).ends(1, "not a site of karat");
    folder.line(&format!("site .. {RUNS}")).ends(1, "not a site of karat");
    assert_eq!(folder.line(&format!("site out {RUNS}")).status, 0);
    folder.write("out/CNAME", "scores.example.org");
    folder.line(&format!("site out {RUNS}")).ends(1, "would be lost");
    assert!(folder.path().join("out/CNAME").exists() && folder.path().join("mine/thesis.txt").exists());
    folder.line("site new -c examples/cards/task-run.toml -").ends(1, "read twice");
    folder.line("site new --from http://127.0.0.1:9 --where domain=shop").ends(1, "a server takes");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn names_from_outside_are_safe_names_of_files() {
    let folder = folder();
    let hostile = fs::read_to_string(root().join("crates/server/tests/hostile.jsonl")).unwrap();
    folder.write("hostile.jsonl", &hostile);
    let run = folder.line("site out -c examples/cards/support-agent.toml hostile.jsonl");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let files = read(&folder.path().join("out"));
    leads_nowhere_else(&files);
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.@~/\\".contains(c);
    for path in files.keys().map(|path| path.display().to_string()) {
        assert!(path.chars().all(is_plain) && path.len() < 100, "{path}");
    }
    assert!(files.keys().filter(|path| path.starts_with("subjects")).count() >= 4);
    for (path, bytes) in files.iter().filter(|(path, _)| path.extension().is_some_and(|it| it == "html")) {
        assert_eq!(texts(bytes, "script:not([src]), img, iframe"), Vec::<String>::new(), "{path:?}");
    }
}

#[test]
fn a_server_gives_the_site_that_its_items_in_files_give() {
    let folder = folder();
    let server = Server::new(folder.path(), &["data"]);
    let card = example("cards/task-run.toml");
    assert_eq!(server.post("application/toml", "/v1/scorecards", &card).0, 201);
    let items = folder.line("score -c examples/cards/task-run.toml examples/leaderboard/runs.csv").stdout;
    let ids = items.lines().count();
    folder.write("key.txt", server.started["admin_key"].as_str().unwrap());
    let to = format!("http://{}", server.address());
    let pushed = folder
        .line(&format!("push -c task-run@1.0.0 --to {to} --key-file key.txt examples/leaderboard/runs.csv"));
    assert_eq!(pushed.status, 0, "{}", pushed.stderr);
    let run = folder.line(&format!("site online --from {to} -c task-run@1.0.0 --by mean"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(folder.line(&format!("site offline {RUNS} --by mean")).status, 0);
    let (online, offline) = (read(&folder.path().join("online")), read(&folder.path().join("offline")));
    leads_nowhere_else(&online);
    assert_eq!(online.keys().collect::<Vec<_>>(), offline.keys().collect::<Vec<_>>());
    assert_eq!(online.keys().filter(|path| path.starts_with("records")).count(), 2 * ids);
    for (path, bytes) in online.iter().filter(|(path, _)| path.extension().is_some_and(|it| it == "html")) {
        for selector in ["h1", "p.lead", "td.point", "td.number", "th.name"] {
            assert_eq!(texts(bytes, selector), texts(&offline[path], selector), "{path:?} {selector}");
        }
    }
    // Without a card each leaderboard is a tile.
    let run = folder.line(&format!("site all --from {to} --by mean"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    folder.line(&format!("site none --from {to} -c trust")).ends(1, "has no record");
}
