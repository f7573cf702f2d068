//! The documentation is true: commands run, screens are as printed, links have targets, tables are complete.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use karat_reader::Kind;
use serde_json::Value;

use crate::common::{Folder, karat, karat_reading, root};
use crate::help::paste;
use crate::store;

/// Pages whose `sh` blocks run, each in its own folder.
const PAGES: [&str; 2] = ["README.md", "docs/guide/command-line.md"];

/// Pages with commands, with or without screens.
const OTHERS: &[&str] = &[
    "docs/guide/record.md", "docs/guide/ratings.md", "docs/guide/leaderboards.md", "docs/guide/outputs.md",
    "docs/guide/gate-a-pull-request.md", "docs/guide/publish-a-leaderboard.md",
    "docs/guide/rate-an-arena.md", "docs/guide/run-a-registry.md", "docs/guide/use-as-a-library.md",
    "docs/guide/site.md", "docs/guide/gates.md", "docs/guide/project.md", "examples/project/README.md",
    "docs/guide/comparison.md", "docs/guide/standing.md", "docs/guide/tuning.md",
    "examples/leaderboard/README.md", "docs/guide/receipt.md", "examples/receipt/README.md",
    "docs/guide/execution.md", "examples/run/README.md", "docs/guide/import.md", "examples/import/README.md",
    "docs/guide/sql.md", "examples/nightly-project/README.md",
];

/// The folders that the commands of a page may use.
pub const DATA: [&str; 3] = ["examples", "scorecards", "vectors"];

/// Beginnings of the lines that are run. The others build, or take long: `.ci/run` has those that must pass.
pub const RUN: [&str; 4] = ["karat", "echo", "printf", "sed"];

/// A command of a checkout that builds karat and runs it.
const BUILT: &str = "cargo run --release --locked -- ";

/// Verbs that show a screen on a terminal, and JSON in a pipe.
const SCREENS: [&str; 17] = [
    "karat leaderboard", "karat compare", "karat stress", "karat tune", "karat rate", "karat standing",
    "karat score", "karat explain", "karat grade", "karat cache show", "karat verify", "karat log show",
    "karat log verify", "karat rescore", "karat run", "karat trend", "karat tasks",
];

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// A fenced block of a page.
pub struct Block<'p> {
    pub language: &'p str,
    line: usize,
    pub lines: Vec<&'p str>,
}

pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            if inside {
                blocks.push(Block { language, line: number + 1, lines: Vec::new() });
            }
        } else if inside {
            blocks.last_mut().unwrap().lines.push(line);
        }
    }
    assert!(!inside, "a block without an end");
    blocks
}

/// Returns a command and the status in its comment, 0 without one.
pub fn command(line: &str) -> (&str, i32) {
    match line.split_once("# exit status ") {
        Some((command, status)) => (command.trim(), status.trim().parse().unwrap()),
        None => (line.split(" # ").next().unwrap_or(line).trim(), 0),
    }
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap();
        }
    }
}

/// Returns true if `shown` was printed, line by line and but for blanks at their ends; `...` matches any lines.
fn is_shown(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"...", rest)), _) => (0..=printed.len()).any(|skipped| is_shown(rest, &printed[skipped..])),
        (Some((line, shown)), Some((found, printed))) => {
            line.trim_end() == found.trim_end() && is_shown(shown, printed)
        }
        _ => false,
    }
}

/// `INSTA_UPDATE=always` writes the screens again, but those of which a part is left out.
#[test]
fn commands_run_and_screens_are_what_they_print() {
    let is_written = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    for page in PAGES.iter().chain(OTHERS) {
        let mut moved: Vec<(usize, usize, String)> = Vec::new();
        let folder = Folder::new();
        for data in DATA {
            copy(&root().join(data), &folder.path().join(data));
        }
        let text = read(page).replace(BUILT, "karat ");
        if text.contains("scores.db") {
            store::season_file(folder.path());
        }
        let blocks = blocks(&text);
        let (mut commands, mut screens) = (0, 0);
        for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block.language == "sh") {
            let is_run = |line: &&&str| RUN.contains(&line.split(' ').next().unwrap_or_default());
            let lines: Vec<&str> = block.lines.iter().filter(is_run).copied().collect();
            let screen = blocks.get(at + 1).filter(|next| next.language == "text");
            for (number, line) in lines.iter().enumerate() {
                let (command, status) = command(line);
                let screen = screen.filter(|_| number + 1 == lines.len());
                let last = command.rsplit(" | ").next().unwrap_or_default();
                let asks = ["--table", "--json", "--emit"].iter().any(|flag| last.contains(flag));
                let is_plain = !asks && !command.contains('>');
                let has_screen = is_plain && SCREENS.iter().any(|verb| last.starts_with(verb));
                let table = if screen.is_some() && has_screen { " --table" } else { "" };
                let run = paste(&format!("{command}{table}"), folder.path());
                let place = format!("{page}:{}: {command}", block.line);
                assert_eq!(run.status, status, "{place}\n{}{}", run.stdout, run.stderr);
                commands += 1;
                if let Some(screen) = screen {
                    let printed = format!("{}{}", run.stdout, run.stderr);
                    let printed: Vec<&str> = printed.trim_end().lines().collect();
                    let shown: Vec<&str> = screen.lines.clone();
                    screens += 1;
                    if is_written && !is_shown(&shown, &printed) && !shown.contains(&"...") {
                        moved.push((screen.line, shown.len(), printed.join("\n")));
                        continue;
                    }
                    assert!(is_shown(&shown, &printed), "{place}\nprints\n{}", printed.join("\n"));
                }
            }
        }
        if !moved.is_empty() {
            let whole = read(page);
            let mut lines: Vec<&str> = whole.lines().collect();
            for (line, count, printed) in moved.iter().rev() {
                lines.splice(*line..line + count, printed.lines());
            }
            fs::write(root().join(page), lines.join("\n") + "\n").unwrap();
        }
        let (least_commands, least_screens) = if PAGES.contains(page) { (6, 4) } else { (1, 0) };
        assert!(commands >= least_commands, "{page}: {commands} commands");
        assert!(screens >= least_screens, "{page}: {screens} screens");
    }
}

#[test]
fn what_lands_has_passed_the_test_command_of_the_readme() {
    let stages = read(".ci/run");
    let command = "cargo test --locked --workspace";
    assert!(read("README.md").contains(&format!("`{command}`")), "README.md does not name `{command}`");
    assert!(stages.lines().any(|line| line.trim() == command), ".ci/run does not run `{command}`");
}

#[test]
fn the_quick_start_is_two_commands() {
    let page = read("README.md");
    assert!(page.lines().count() <= 150, "{} lines", page.lines().count());
    let section = page.split("\n## Quick start\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let blocks = blocks(section);
    let shell: Vec<_> = blocks.iter().filter(|block| block.language == "sh").collect();
    let [block] = shell.as_slice() else { panic!("{} blocks", shell.len()) };
    let [run, test] = block.lines.as_slice() else { panic!("{:?}", block.lines) };
    assert!(run.starts_with(BUILT), "{run}");
    assert_eq!(*test, "cargo test --locked --workspace");
}

#[test]
fn a_screen_that_is_not_what_is_printed_is_told() {
    assert!(is_shown(&["a", "...", "c"], &["a", "b", "b", "c"]));
    assert!(is_shown(&["a", "..."], &["a"]));
    assert!(!is_shown(&["a", "...", "c"], &["a", "b"]));
    assert!(!is_shown(&["a"], &["a", "b"]));
    assert!(!is_shown(&["a", "b"], &["a"]));
    assert_eq!(command("karat demo    # exit status 13"), ("karat demo", 13));
    assert_eq!(command("karat demo    # the tour"), ("karat demo", 0));
}

/// Returns the commands in a page: those in its blocks, each in one line, and those within its prose.
fn named_commands(page: &str) -> Vec<String> {
    let inside: Vec<String> =
        blocks(page).into_iter().map(|block| block.lines.join("\n").replace("\\\n", " ")).collect();
    let prose = prose(page).replace('\n', " ");
    let spans = prose.split('`').skip(1).step_by(2).map(str::to_owned);
    let lines = inside.iter().flat_map(|block| block.lines()).map(str::to_owned);
    let parts: Vec<String> = lines.chain(spans).collect();
    let parts = parts
        .iter()
        .flat_map(|line| line.split(" # ").next())
        .flat_map(|line| line.split(['|', ';', '&', '$', '(']));
    parts.filter_map(|part| part.trim().strip_prefix("karat ")).map(str::to_owned).collect()
}

/// Returns the options of a command that the program does not have.
fn unknown_options(command: &str, known: &mut BTreeMap<Vec<String>, bool>) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_verb = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let verbs: Vec<&str> =
        words.iter().take(2).take_while(is_verb).take_while(|it| !it.starts_with('-')).copied().collect();
    let options = words.iter().map(|word| word.trim_start_matches('[')).filter(|word| word.starts_with("--"));
    let mut unknown = Vec::new();
    for option in options {
        let name: String = option.chars().take_while(|it| *it == '-' || it.is_ascii_lowercase()).collect();
        if name.len() < 4 {
            continue;
        }
        // The second word may be a file.
        let is_there = (1..=verbs.len()).any(|count| {
            let asked: Vec<String> = verbs
                .iter()
                .take(count)
                .map(|word| (*word).to_owned())
                .chain([name.clone(), "--help".to_owned()])
                .collect();
            *known.entry(asked.clone()).or_insert_with(|| {
                let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
                let run = karat(&asked);
                !["unexpected argument", "unrecognized subcommand"]
                    .iter()
                    .any(|what| run.stderr.contains(what))
            })
        });
        if !is_there && !verbs.is_empty() {
            unknown.push(name);
        }
    }
    unknown
}

#[test]
fn every_option_of_a_command_in_a_page_is_there() {
    let mut found = Vec::new();
    pages(&root(), &mut found);
    let (mut known, mut problems, mut count) = (BTreeMap::new(), Vec::new(), 0);
    // What was once there stays in the list of changes.
    for page in found.iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        for command in named_commands(&fs::read_to_string(page).unwrap()) {
            count += command.matches(" --").count();
            for option in unknown_options(&command, &mut known) {
                problems.push(format!("{}: no `{option}` in `karat {command}`", page.display()));
            }
        }
    }
    assert!(count > 200, "{count}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let mut known = BTreeMap::new();
    for (page, unknown) in [
        ("see `karat log show --kind spans`", &["--kind"][..]),
        ("see `karat log\nshow --sender KEY`", &[]),
        ("```sh\nx | karat score -c run \\\n  --nothing a --json\n```", &["--nothing"]),
        ("`karat nothing --table`", &["--table"]),
    ] {
        let found: Vec<String> =
            named_commands(page).iter().flat_map(|command| unknown_options(command, &mut known)).collect();
        assert_eq!(found, unknown, "{page}");
    }
}

/// Finds every page below `folder`, except in the output of a build.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if path.is_dir() && !["target", "node_modules"].contains(&&*name) && !name.starts_with('.') {
            pages(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Returns the parts of a page outside its blocks.
fn prose(page: &str) -> String {
    let mut inside = false;
    let lines = page.lines().filter(|line| {
        let is_fence = line.starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the anchors of the headings of a page.
fn anchors(page: &str) -> Vec<String> {
    let headings = prose(page);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let name = |line: &str| line.trim_start_matches('#').trim().to_lowercase();
    headings.map(|line| name(line).chars().filter(kept).collect::<String>().replace(' ', "-")).collect()
}

/// Paths in code spans, from the root or near the path before; a name in capitals, such as NAME, stands for any.
#[test]
fn files_of_the_pages_on_adding_are_there() {
    let mut found = Vec::new();
    pages(&root().join("docs/how-to-add"), &mut found);
    let (mut problems, mut count) = (Vec::new(), 0);
    for page in found {
        let text = prose(&fs::read_to_string(&page).unwrap());
        let mut last = root();
        for path in text.split('`').skip(1).step_by(2).filter(|it| it.contains('/') && !it.contains(' ')) {
            let is_any = |part: &&str| part.len() > 1 && part.starts_with(|c: char| c.is_ascii_uppercase());
            let known: PathBuf = path.split('/').take_while(|part| !is_any(part)).collect();
            count += 1;
            let near = [root()].into_iter().chain(last.ancestors().map(Path::to_path_buf));
            match near.map(|folder| folder.join(&known)).find(|place| place.exists()) {
                Some(place) => last = place,
                None => problems.push(format!("{}: {path}", page.display())),
            }
        }
    }
    assert!(count > 60, "{count}");
    assert!(problems.is_empty(), "files that are not there:\n{}", problems.join("\n"));
}

/// Returns the files with which the numbered steps of a page on adding begin.
fn steps(page: &str) -> Vec<String> {
    let text = read(&format!("docs/how-to-add/{page}.md"));
    let steps = text.lines().filter_map(|line| line.split_once(". `"));
    let steps = steps.filter(|(number, _)| number.parse::<u8>().is_ok());
    steps.filter_map(|(_, rest)| rest.split('`').next().map(str::to_owned)).collect()
}

/// Returns the product files in `folders` with one of `words`; those about `other` are left out.
fn naming(words: &[&str], folders: &[&str], other: &str) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
                found.push(path);
            }
        }
    }
    let mut files = Vec::new();
    folders.iter().for_each(|folder| walk(&root().join(folder), &mut files));
    let is_naming = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        words.iter().any(|word| code.contains(word))
    };
    let name = |path: PathBuf| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    let mut names: Vec<String> = files.into_iter().filter(is_naming).map(name).collect();
    names.retain(|name| other.is_empty() || !name.contains(other));
    names.sort();
    names
}

#[test]
fn a_column_is_its_member_its_value_and_its_place_in_the_document() {
    let [member, value, document] = [
        "src/answers/leaderboard/mod.rs", "src/answers/leaderboard/method.rs", "src/document/leaderboard.rs",
    ];
    assert_eq!(steps("column"), [member, value, document, "docs/openapi.json"]);
    let words = ["too_few_shared_tasks:", ".too_few_shared_tasks"];
    let found = naming(&words, &["src", "crates/cli/src", "crates/server/src"], "stress");
    assert_eq!(found, [member, "src/answers/leaderboard/notes.rs"]);
}

#[test]
fn a_flag_is_a_field_of_its_question_and_what_the_answer_does_with_it() {
    let [question, answer] = ["src/ask.rs", "src/ask/leaderboard.rs"];
    assert_eq!(steps("flag"), [question, answer, "docs/guide/leaderboards.md", "docs/openapi.json"]);
    let of_sums = "src/sums/answer.rs";
    let naming = naming(&["min_tasks:", ".min_tasks"], &["src", "crates/cli/src"], "");
    assert_eq!(naming, [question, answer, of_sums]);
}

#[test]
fn a_page_is_a_document_and_its_command_or_a_handler_and_its_route() {
    let report = ["src/document/NAME.rs", "crates/cli/src/cmd/NAME.rs"];
    let [handler, route, check] =
        ["crates/server/src/web/NAME.rs", "crates/server/src/web/mod.rs", "scripts/browser-checks/main.cjs"];
    assert_eq!(steps("page"), [&report[..], &[handler, route, check]].concat());
    let named = report.map(|file| file.replace("NAME", "tune"));
    assert!(named.iter().all(|file| root().join(file).exists()), "{named:?}");
    assert_eq!(naming(&["document::tune("], &["crates/cli/src"], ""), [named[1].as_str()]);
    assert!(root().join(handler.replace("NAME", "reviews")).exists());
    assert_eq!(naming(&["\"/reviews\", get("], &["crates/server/src"], ""), [route]);
    assert!(read(check).contains("\"/reviews\""));
}

/// The pages of one question each.
const QUESTIONS: [&str; 8] =
    ["cost.md", "grid.md", "judges.md", "nightly.md", "site.md", "tasks.md", "trend.md", "webhooks.md"];

/// The guide is short enough to be read; what `--help` and `karat schema` say it does not say again. The pages of languages are
/// counted apart: their users read no other, and others do not read them; so are the pages of single questions, which are short.
#[test]
fn the_guide_has_at_most_45_000_words() {
    let mut found = Vec::new();
    pages(&root().join("docs/guide"), &mut found);
    let words = |page: &PathBuf| fs::read_to_string(page).unwrap().split_whitespace().count();
    let is_of_language = |page: &PathBuf| {
        ["python.md", "scale.md", "sql.md", "typescript.md"].iter().any(|name| page.ends_with(name))
    };
    let of_languages: Vec<PathBuf> = found.extract_if(.., |page| is_of_language(page)).collect();
    assert_eq!(of_languages.len(), 4);
    assert!(of_languages.iter().all(|page| words(page) <= 1500));
    let is_of_question = |page: &PathBuf| QUESTIONS.iter().any(|name| page.ends_with(name));
    let of_questions: Vec<PathBuf> = found.extract_if(.., |page| is_of_question(page)).collect();
    assert_eq!(of_questions.len(), QUESTIONS.len());
    assert!(of_questions.iter().all(|page| words(page) <= 900));
    let words = found.iter().map(words);
    let words: usize = words.sum();
    assert!(words <= 45_000, "{words} words");
}

#[test]
fn links_lead_somewhere() {
    let mut found = Vec::new();
    pages(&root(), &mut found);
    assert!(found.len() > 20, "{found:?}");
    let mut problems = Vec::new();
    for page in found {
        let text = fs::read_to_string(&page).unwrap();
        let prose = prose(&text);
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let goal = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let is_there = match anchor {
                "" => goal.exists(),
                _ => fs::read_to_string(&goal).is_ok_and(|text| anchors(&text).iter().any(|it| it == anchor)),
            };
            if !is_there {
                problems.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(problems.is_empty(), "links to nowhere:\n{}", problems.join("\n"));
}

#[test]
fn released_cards_are_what_they_were() {
    let page = read("scorecards/README.md");
    let cards: Value = serde_json::from_str(&karat(&["card", "list", "--json"]).stdout).unwrap();
    let cards = cards.as_array().unwrap();
    assert!(cards.len() >= 8);
    for card in cards {
        let text = |name: &str| card[name].as_str().unwrap();
        let row = format!("| `{}@{}` | `{}` |", text("id"), text("version"), text("digest"));
        assert!(page.lines().any(|line| line == row), "scorecards/README.md has no line\n{row}");
    }
    let rows = page.lines().filter(|line| line.contains("| `sha256:")).count();
    assert_eq!(rows, cards.len(), "a row of a card that is gone: a released card stays");
}

#[test]
fn the_exit_statuses_are_those_of_the_help() {
    let help = karat(&["help", "exit-status"]).stdout;
    let listed = help.split("Exit status:\n").nth(1).unwrap().lines().filter(|line| !line.trim().is_empty());
    let listed: Vec<(&str, &str)> = listed.map(|line| line.trim().split_once("  ").unwrap()).collect();
    assert_eq!(listed.len(), 10);
    for page in PAGES {
        let text = read(page).replace('`', "");
        for (status, meaning) in &listed {
            let row = format!("| {status} | {meaning}");
            assert!(text.lines().any(|line| line.starts_with(&row)), "{page} has no line `{row}`");
        }
    }
}

#[test]
fn verified_means_the_same_everywhere() {
    let record = karat(&["score", "-c", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    let screen = karat_reading(&["explain", "--table"], &record).stdout;
    let pages = [PAGES[0], PAGES[1], OTHERS[0]].map(read);
    for text in pages.iter().chain([&screen]) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        for says in [
            "the score follows from the facts in the record", "whose facts they are, only the evidence shows",
        ] {
            assert!(text.contains(says), "{text}");
        }
    }
}

#[test]
fn the_guide_has_every_fact_of_every_kind() {
    let page = read("docs/guide/evidence.md");
    for kind in Kind::ALL {
        let section = page.split(&format!("## `{}`\n", kind.name())).nth(1).unwrap_or_default();
        let section = section.split("\n## ").next().unwrap_or_default();
        assert!(!section.is_empty(), "no section `{}`", kind.name());
        for fact in kind.vocabulary() {
            let is_derived =
                ["_age_seconds", "_applies", "_heuristic_only"].iter().any(|end| fact.name.ends_with(end));
            let row = format!("| `{}` | {} |", fact.name, fact.unit);
            let is_there = section.lines().any(|line| line.starts_with(&row));
            assert!(is_derived || is_there, "{}: no line `{row}`", kind.name());
        }
    }
}

/// Keys of free tables in the answers of the test below: facts and dimensions.
const FREE_KEYS: [&str; 6] = ["cost_usd", "domain", "seconds", "solved", "speed", "thrift"];

/// Collects the members that a schema has, at any depth, and those of them without a description.
fn members(schema: &Value, all: &Value, found: &mut BTreeSet<String>, mute: &mut Vec<String>) {
    fn is_described(member: &Value, all: &Value) -> bool {
        let named = member["$ref"].as_str().and_then(|it| all.pointer(it.trim_start_matches('#')));
        let others = ["oneOf", "anyOf", "allOf"].iter().filter_map(|key| member[*key].as_array()).flatten();
        member["description"].is_string()
            || named.is_some_and(|it| it["description"].is_string())
            || others.into_iter().any(|it| is_described(it, all))
    }
    match schema {
        Value::Object(parts) => {
            for (key, member) in parts.get("properties").and_then(Value::as_object).into_iter().flatten() {
                found.insert(key.clone());
                if !is_described(member, all) {
                    mute.push(key.clone());
                }
            }
            parts.values().for_each(|part| members(part, all, found, mute));
        }
        Value::Array(list) => list.iter().for_each(|part| members(part, all, found, mute)),
        _ => {}
    }
}

/// Collects the keys of every object in an answer.
fn keys(answer: &Value, found: &mut BTreeSet<String>) {
    match answer {
        Value::Object(object) => {
            found.extend(object.keys().filter(|key| !FREE_KEYS.contains(&key.as_str())).cloned());
            object.values().for_each(|value| keys(value, found));
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

/// The guide leaves the members of these answers, and the fields of evidence, to `karat schema`.
#[test]
fn every_member_of_evidence_and_of_answers_about_items_is_described_in_its_schema() {
    let runs = ["-c", "examples/cards/task-run.toml", "examples/leaderboard/runs.csv", "--json"];
    let with = |verb: &[&'static str]| [verb, &runs[..]].concat();
    let files = ["examples/compare/base.csv", "examples/compare/new.csv"];
    let mut count = 0;
    for (name, command) in [
        ("record", with(&["score"])[..4].to_vec()),
        ("leaderboard", with(&["leaderboard", "--attempts", "2", "--robustness", "--min-tasks", "2"])),
        ("compare", with(&["compare", "heron", "ibis", "--fail-if-worse=50"])),
        ("compare-files", [&["compare"][..], &files[..], &runs[..2]].concat()),
        ("stress", with(&["stress"])),
    ] {
        let schema: Value = serde_json::from_str(&karat(&["schema", name]).stdout).unwrap();
        let (mut described, mut mute) = (BTreeSet::new(), Vec::new());
        members(&schema, &schema, &mut described, &mut mute);
        assert_eq!(mute, Vec::<String>::new(), "{name}: members without a description");
        let run = karat(&command);
        let mut given = BTreeSet::new();
        for answer in run.stdout.lines() {
            keys(&serde_json::from_str(answer).unwrap(), &mut given);
        }
        let unknown: Vec<&String> = given.difference(&described).collect();
        assert!(given.len() > 20 && unknown.is_empty(), "{name}: {unknown:?} {}", run.stderr);
        count += described.len();
    }
    for kind in Kind::ALL {
        let name = format!("evidence-{}", kind.name());
        let schema: Value = serde_json::from_str(&karat(&["schema", &name]).stdout).unwrap();
        let (mut described, mut mute) = (BTreeSet::new(), Vec::new());
        members(&schema, &schema, &mut described, &mut mute);
        assert_eq!(mute, Vec::<String>::new(), "{name}: members without a description");
        count += described.len();
    }
    assert!(count > 500, "{count}");
}
