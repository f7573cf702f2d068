//! The output of every command of README and guide in every format: a change shows here what else it moves.
//! `INSTA_UPDATE=always` writes the files again.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use karat_core::facts::Digest;
use serde_json::Value;

use crate::common::{Folder, Run, karat, root};
use crate::docs::{Block, DATA, RUN, blocks, command, copy, read};
use crate::help::paste;
use crate::store;

/// A command as it is written, then in every format: also in those that it refuses.
const FORMATS: [&str; 9] = ["", "table", "json", "jsonl", "csv", "markdown", "html", "junit", "github"];

/// Parts of commands that tell how long a run took.
const TIMED: [&str; 2] = ["--executors", " run.json"];

/// Parts of commands that leave files for those after them.
const LEAVE: [&str; 7] = [">", "init", "--update-baseline", " new ", "-out", "--out", "backup"];

/// Returns true if a command leaves files for those after it.
fn leaves(command: &str) -> bool {
    LEAVE.iter().any(|part| command.contains(part))
}

/// The most lines of an output that are kept beside its digest.
const LINES: usize = 400;

/// The outputs of a command by format, in their order.
type Outputs = BTreeMap<usize, String>;

/// A page, and its commands with whether this is the first place of each: only there is what it writes kept.
type Page = (String, Vec<(String, bool)>);

/// Returns the commands of README and guide by page, each where it is first, and those again that leave files for others.
fn pages() -> Vec<Page> {
    let guide = fs::read_dir(root().join("docs/guide")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = guide.map(|name| format!("docs/guide/{}", name.to_str().unwrap())).collect();
    names.sort();
    names.insert(0, "README.md".to_owned());
    let mut known = BTreeSet::new();
    let mut commands = |name: &String| -> Vec<(String, bool)> {
        let text = read(name);
        let lines =
            blocks(&text).into_iter().filter(|it| it.language == "sh").flat_map(|it: Block<'_>| it.lines);
        let run = lines.filter(|line| RUN.contains(&line.split(' ').next().unwrap()));
        let marked = run.map(|line| command(line).0.to_owned()).map(|it| (it.clone(), known.insert(it)));
        marked.filter(|(command, is_first)| *is_first || leaves(command)).collect()
    };
    let pages: Vec<_> = names.iter().map(|name| (name.clone(), commands(name))).collect();
    pages.into_iter().filter(|(_, commands)| !commands.is_empty()).collect()
}

/// Returns a command without the format that it asks for, if its last part is a program that can be asked for one.
fn without_format(command: &str, has_formats: &mut BTreeMap<String, bool>) -> Option<String> {
    let last = command.rsplit([';', '|', '&']).next().unwrap().trim();
    let verb = last.strip_prefix("karat ")?.split(' ').next().unwrap();
    let asks = || karat(&[verb, "--help"]).stdout.contains("--format ");
    if command.contains('>') || !*has_formats.entry(verb.to_owned()).or_insert_with(asks) {
        return None;
    }
    let mut words = Vec::new();
    let mut all = command.split(' ');
    while let Some(word) = all.next() {
        match word {
            "--table" | "--json" => {}
            "--format" => assert!(all.next().is_some(), "{command}"),
            _ => words.push(word),
        }
    }
    Some(words.join(" "))
}

/// Runs the commands of a page in one format, and keeps what they write.
fn run((name, commands): &Page, format: usize, data: &Path, found: &Mutex<BTreeMap<String, Outputs>>) {
    let folder = Folder::new();
    for name in DATA {
        link(&data.join(name), &folder.path().join(name));
    }
    if read(name).contains("scores.db") {
        store::season_file(folder.path());
    }
    let mut has_formats = BTreeMap::new();
    for (command, is_first) in commands {
        let bare = without_format(command, &mut has_formats);
        let is_timed = TIMED.iter().any(|part| command.contains(part));
        let is_asked = bare.is_some() == (format > 0) && !is_timed && command.contains("karat ");
        let is_kept = *is_first && is_asked;
        if !is_kept && !leaves(command) {
            continue;
        }
        let line = match &bare {
            Some(bare) if format > 0 => format!("{bare} --format {}", FORMATS[format]),
            _ => command.clone(),
        };
        let run = paste(&format!("export GITHUB_STEP_SUMMARY=summary.md; {line}"), folder.path());
        let summary = folder.path().join("summary.md");
        let written = fs::read_to_string(&summary).unwrap_or_default();
        let _ = fs::remove_file(summary);
        if is_kept {
            let output = told(&run, &written, FORMATS[format]);
            found.lock().unwrap().entry(bare.unwrap_or(line)).or_default().insert(format, output);
        }
    }
}

fn told(run: &Run, summary: &str, format: &str) -> String {
    let mut told = format!("==== {format}: exit status {}\n", run.status);
    let output = if format == "html" { text_of(&run.stdout) } else { spread(&run.stdout) };
    for (name, text) in [("", &output), ("errors", &run.stderr), ("summary", &summary.to_owned())] {
        if text.is_empty() {
            continue;
        }
        if !name.is_empty() {
            told.push_str(&format!("---- {name}\n"));
        }
        for line in text.lines().take(LINES) {
            told.push_str(line.trim_end());
            told.push('\n');
        }
        let count = text.lines().count();
        if count > LINES || (format == "html" && name.is_empty()) {
            told.push_str(&format!("[{count} lines, {}]\n", Digest::of(run.stdout.as_bytes())));
        }
    }
    told
}

/// Puts each member of JSON on a line.
fn spread(text: &str) -> String {
    let objects: Option<Vec<Value>> =
        text.lines().map(|line| serde_json::from_str(line).ok().filter(Value::is_object)).collect();
    let pretty = |value: &Value| format!("{}\n", serde_json::to_string_pretty(value).unwrap());
    objects.map_or_else(|| text.to_owned(), |objects| objects.iter().map(pretty).collect())
}

/// Returns the text of a page: a line for each heading, paragraph and row.
fn text_of(page: &str) -> String {
    let mut shown = page.to_owned();
    for (from, to) in [("<style", "</style>"), ("<script", "</script>")] {
        let parts = shown.split(from).enumerate();
        let after = |(at, part): (usize, &str)| {
            part.split_once(to).filter(|_| at > 0).map_or(part.to_owned(), |it| it.1.to_owned())
        };
        shown = parts.map(after).collect();
    }
    let mut text = String::new();
    for part in shown.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap_or((part, ""));
        let name = tag.trim_start_matches('/').split(' ').next().unwrap();
        let is_cell = ["td", "th"].contains(&name);
        if tag.starts_with('/') && is_cell {
            text.push_str(" | ");
        } else if !is_cell && !["a", "b", "code", "em", "span", "strong", "abbr"].contains(&name) {
            text.push('\n');
        }
        text.push_str(&after.replace('\n', " "));
    }
    let lines = text.lines().map(|line| line.trim().trim_end_matches('|').trim_end());
    lines.filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

/// Gives the files of a folder another place: a link would lead out of the folder of a project.
fn link(from: &Path, to: &Path) {
    if !from.is_dir() {
        return fs::hard_link(from, to).unwrap();
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        link(&entry.path(), &to.join(entry.file_name()));
    }
}

/// Returns a command as the name of a file.
fn slug(command: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || ".+".contains(c);
    let words = command.trim_start_matches("karat ").replace("examples/", "").replace(".toml", "");
    let words: Vec<&str> = words.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let name = words.join("-");
    let short: String = name.chars().take(90).collect();
    if short == name { name } else { format!("{short}-{}", &Digest::of(name.as_bytes()).to_string()[7..13]) }
}

#[test]
fn every_command_writes_in_every_format_what_it_wrote() {
    let found = Mutex::new(BTreeMap::new());
    let pages = pages();
    let data = Folder::new();
    for name in DATA {
        copy(&root().join(name), &data.path().join(name));
    }
    let jobs: Vec<(usize, usize)> =
        (0..pages.len()).flat_map(|page| (0..FORMATS.len()).map(move |format| (page, format))).collect();
    let jobs = Mutex::new(jobs);
    let work = || {
        while let Some((page, format)) = { jobs.lock().unwrap().pop() } {
            run(&pages[page], format, data.path(), &found);
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let is_written = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    let mut files: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (command, outputs) in found.into_inner().unwrap() {
        let text: Vec<String> = outputs.into_values().collect();
        let path = golden.join(format!("{}.txt", slug(&command)));
        let other = files.insert(path, format!("$ {command}\n\n{}", text.join("\n")));
        assert_eq!(other, None, "two commands with one name: {command}");
    }
    assert!(files.len() > 60, "{}", files.len());
    fs::create_dir_all(&golden).unwrap();
    let kept: BTreeSet<PathBuf> = fs::read_dir(&golden).unwrap().map(|entry| entry.unwrap().path()).collect();
    let mut moved = Vec::new();
    for path in kept.iter().filter(|path| !files.contains_key(*path)) {
        moved.push(format!("{}: no page has its command", path.display()));
        if is_written {
            fs::remove_file(path).unwrap();
        }
    }
    for (path, text) in &files {
        let before = fs::read_to_string(path).unwrap_or_default();
        if before != *text {
            let mut lines = before.lines().chain([""; 1]).zip(text.lines());
            let at = lines.clone().position(|(before, now)| before != now).unwrap_or_default();
            let (was, now) = lines.nth(at).unwrap_or_default();
            moved.push(format!("{}:{}:\n- {was}\n+ {now}", path.display(), at + 1));
        }
        if is_written && before != *text {
            fs::write(path, text).unwrap();
        }
    }
    assert!(
        is_written || moved.is_empty(),
        "outputs moved; INSTA_UPDATE=always keeps them:\n{}",
        moved.join("\n")
    );
}
