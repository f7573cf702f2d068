//! Files of entries of every kind that a tool writes: each entry is an item or is left out aloud, with the value that was put
//! in; and the numbers that a file states of itself follow from its items, or stand beside theirs with the reason.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::inspect::{Packing, archive};
use super::{Options, Summary};
use crate::{IMPORTERS, ImportError, Input, Samples, Verdicts, detect, import};

/// The tools; the file says what its lines are.
const TOOLS: &str = include_str!("whole.txt");

#[derive(Default)]
struct Tool {
    name: String,
    id: String,
    entry: String,
    /// Letter, value and text of each.
    kinds: Vec<(char, String, String)>,
    again: String,
    left: Vec<String>,
    more: u64,
    files: Vec<(String, String)>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: usize,
    task: usize,
    turn: usize,
    kind: char,
    /// The kind as which it is written.
    shown: char,
}

/// The numbers that a file states, of which the one at `wrong` is too large; and the mean among them, with the member of the items
/// over which it is one.
#[derive(Default)]
struct Says {
    next: Cell<usize>,
    wrong: Option<usize>,
    mean: Cell<Option<(f64, &'static str)>>,
}

impl Says {
    fn number(&self, value: f64, more: f64) -> String {
        let at = self.next.replace(self.next.get() + 1);
        (if self.wrong == Some(at) { value + more } else { value }).to_string()
    }
}

fn tools() -> Vec<Tool> {
    let kind = |kind: &str| {
        let mut parts = kind.splitn(3, ' ').chain(["", ""]).map(str::to_owned);
        let mut next = || parts.next().unwrap();
        (next().chars().next().unwrap(), next(), next())
    };
    let tool = |block: &str| {
        let (name, id) = block.lines().next().unwrap().split_once(' ').unwrap();
        let mut tool = Tool { name: name.to_owned(), id: id.to_owned(), ..Tool::default() };
        for (what, text) in block.lines().skip(1).map(|line| line.split_once(' ').unwrap()) {
            match what {
                "entry" => tool.entry = text.to_owned(),
                "kinds" => tool.kinds = text.split(" | ").map(kind).collect(),
                "again" => tool.again = text.to_owned(),
                "left" => tool.left = text.split(" / ").map(str::to_owned).collect(),
                "more" => tool.more = text.parse().unwrap(),
                "file" => tool
                    .files
                    .extend(text.split_once(' ').map(|(name, text)| (name.to_owned(), text.to_owned()))),
                _ => {}
            }
        }
        tool
    };
    TOOLS.replace("\n  ", " ").split("\ntool ").skip(1).map(tool).collect()
}

impl Tool {
    fn kind(&self, letter: char) -> &(char, String, String) {
        self.kinds.iter().find(|(own, ..)| *own == letter).unwrap()
    }

    /// Returns the value of an entry: that of the first of its task and turn.
    fn value(&self, it: &Entry) -> Option<f64> {
        self.kind(if it.kind == 'a' { it.shown } else { it.kind }).1.parse().ok()
    }

    /// Returns entries of its kinds, of each task one turn after the other.
    fn entries(&self, picks: &[(usize, usize)]) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for (at, (task, pick)) in picks.iter().enumerate() {
            let own = || entries.iter().filter(|it| it.task == *task && it.kind != 'a');
            let (kind, turn) = (self.kinds[pick % self.kinds.len()].0, own().count());
            let entry = match own().rfind(|it| kind == 'a' && it.kind != 'k') {
                Some(first) => Entry { at, kind, ..*first },
                None if kind == 'a' => Entry { at, task: *task, turn, kind: 'r', shown: 'r' },
                None => Entry { at, task: *task, turn, kind, shown: kind },
            };
            entries.push(entry);
        }
        for at in 0..entries.len() {
            let Entry { task, turn, kind, .. } = entries[at];
            let is_last = !entries[at + 1..].iter().any(|it| (it.task, it.turn) == (task, turn));
            match self.again.chars().next() {
                None => entries[at].shown = kind,
                Some(again) if again != '=' && !is_last => entries[at].shown = again,
                _ => {}
            }
        }
        entries
    }

    /// Returns a text with what is wanted of an entry.
    fn of(&self, text: &str, it: &Entry, says: &Says) -> String {
        let texts = [
            ("$kind", self.kind(it.shown).2.clone()),
            ("$name", format!("{}-{}", it.task, it.turn)),
            ("$task", it.task.to_string()),
            ("$turn", it.turn.to_string()),
            ("$epoch", (it.turn + 1).to_string()),
            ("$at", it.at.to_string()),
            ("$hex", format!("{:032x}", it.task * 16 + it.turn + 1)),
            ("$sort", String::from(if it.kind == 'k' { "http.route" } else { "gen_ai.operation.name" })),
        ];
        let text = texts.iter().fold(text.to_owned(), |text, (mark, own)| text.replace(mark, own));
        self.fill(&text, "", &[], says)
    }

    /// Returns a text with entries and the numbers that it states.
    fn fill(&self, text: &str, between: &str, entries: &[Entry], says: &Says) -> String {
        let marks = ['«', '#', '~', '%', '^'];
        let Some((before, rest)) = text.split_once(marks) else { return text.to_owned() };
        let mark = text.chars().find(|it| marks.contains(it)).unwrap();
        let (inner, rest) = rest.split_once('»').filter(|_| mark == '«').unwrap_or(("", rest));
        let (letters, rest) = rest.split_once(';').unwrap();
        let wanted = entries.iter().filter(|it| letters.is_empty() || letters.contains(it.kind));
        let filled = match mark {
            '«' => {
                let form = if inner == "*" { &self.entry } else { inner };
                wanted.map(|it| self.of(form, it, says)).collect::<Vec<_>>().join(between)
            }
            '#' => says.number(wanted.count() as f64, 1.0),
            '^' => says.number(letters.parse().unwrap(), 1.0),
            mark => {
                let key = |it: &Entry| (it.task, if mark == '%' { it.at } else { 0 });
                let scored = wanted.filter(|it| letters.contains(it.shown));
                let mean = mean(scored.map(|it| (key(it), self.value(it).unwrap_or_default())));
                says.mean.set(mean.map(|mean| (mean, if mark == '%' { "id" } else { "task" })));
                // No two means of so few are that far apart.
                mean.map_or_else(|| String::from("null"), |mean| says.number(mean, 0.11))
            }
        };
        format!("{before}{filled}{}", self.fill(rest, between, entries, says))
    }

    /// Returns the files of entries.
    fn make(&self, entries: &[Entry], says: &Says) -> Vec<(String, Vec<u8>)> {
        let (mut files, mut members) = (Vec::new(), Vec::new());
        for (name, text) in &self.files {
            let between = if name.ends_with(".json") { "," } else { "\n" };
            let all = if name.contains('$') { entries.chunks(1).collect() } else { vec![entries] };
            for part in all {
                let of = |text: &str| self.of(text, &part[0], says);
                let (name, text) = (of(name), of(&self.fill(text, between, part, says)));
                match name.split_once('!') {
                    Some((_, member)) if !text.is_empty() => members.push((member.to_owned(), text)),
                    Some(_) => {}
                    None => files.push((name, text.replace("\\n", "\n").into_bytes())),
                }
            }
        }
        if !members.is_empty() {
            let members: Vec<(&str, &str)> = members.iter().map(|(name, text)| (&**name, &**text)).collect();
            files.push((String::from("x.eval"), archive(&members, Packing::Deflate)));
        }
        files
    }

    /// Returns the items of files that are read together, and their summary.
    fn read(&self, files: &[(String, Vec<u8>)]) -> Result<(Vec<Value>, Summary), ImportError> {
        let (folder, mut inputs) = (tempfile::tempdir().unwrap(), Vec::new());
        let (mut verdicts, mut samples) = (Verdicts::default(), Samples::default());
        for (name, bytes) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            let input = Input::file(path).named(name);
            let importer = detect(&input)?.unwrap_or_else(|| panic!("{name}: no known format"));
            samples.add(&input, importer)?;
            if name == "m.r.json" {
                verdicts.add(&input)?;
            }
            inputs.push((input, importer));
        }
        let score = (self.name == "langfuse").then(|| String::from("v"));
        let verdicts = self.name.ends_with("-agent").then(|| Arc::new(verdicts));
        let options = Options { score, verdicts, samples: Some(Arc::new(samples)), ..Options::default() };
        let (mut items, mut summary) = (Vec::new(), Summary::default());
        for (input, importer) in &inputs {
            summary.add(import(input, importer, &options, &mut |item| {
                items.push(serde_json::from_slice(item.json).unwrap());
                ControlFlow::Continue(())
            })?);
        }
        Ok((items, summary))
    }

    fn holds(&self, entries: &[Entry]) {
        let says = Says::default();
        let files = self.make(entries, &says);
        let text =
            |(name, bytes): &(String, Vec<u8>)| format!("{name}: {}\n", String::from_utf8_lossy(bytes));
        let what = format!("{} {}", self.name, files.iter().map(text).collect::<String>());
        let (items, summary) = self.read(&files).unwrap_or_else(|error| panic!("{error}: {what}"));
        let what = format!("{what}{summary:?}");
        // No item twice, and each with its value.
        let mut found: Vec<String> = items.iter().map(|it| format!("{} {:?}", it["id"], value(it))).collect();
        let there = entries.iter().filter(|it| self.kind(it.kind).1 != "left");
        let expected = there.map(|it| format!("\"{}\" {:?}", self.of(&self.id, it, &says), self.value(it)));
        let mut expected: Vec<String> = expected.collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{what}");
        // All entries are items, or the summary names them.
        let is_left = |words: &str| self.left.iter().any(|left| words.contains(left));
        let noted = |note: &String| note.split(' ').next().unwrap().parse::<u64>().unwrap();
        let notes = summary.notes.iter().filter(|note| is_left(note)).map(noted);
        let reasons = summary.left_out.iter().filter(|(reason, _)| is_left(reason)).map(|(_, count)| *count);
        let told = items.len() as u64 + notes.chain(reasons).sum::<u64>();
        assert_eq!(told, entries.len() as u64 + self.more, "{what}");
        // A mean of the file follows from the items, or both are shown with the reason.
        let is_other = |(stated, over): (f64, &str)| {
            let own = mean(items.iter().filter_map(|it| Some((it[over].as_str()?, value(it)?))));
            own.is_none_or(|own| (own - stated).abs() > 1e-9)
        };
        let is_twice = entries.iter().any(|it| self.kind(it.kind).1 == "twice");
        let is_told = says.mean.get().is_some_and(is_other) || is_twice;
        assert_eq!(summary.contradictions.is_empty(), !is_told, "{what}");
        assert!(!summary.notes.iter().any(|it| it.contains("does not say why")), "{what}");
        // What has entries twice contradicts itself, whatever it states.
        for wrong in (0..says.next.get()).filter(|_| !is_twice) {
            let files = self.make(entries, &Says { wrong: Some(wrong), ..Says::default() });
            let Ok((_, other)) = self.read(&files) else { continue };
            let is_new = other.notes.iter().any(|note| !summary.notes.contains(note));
            assert!(is_new || other.left_out != summary.left_out, "number {wrong} may be wrong: {what}");
        }
    }
}

/// Returns the mean over tasks of the means of their values.
fn mean<T: Ord>(values: impl Iterator<Item = (T, f64)>) -> Option<f64> {
    let mut tasks: BTreeMap<T, (f64, f64)> = BTreeMap::new();
    for (task, value) in values {
        let (sum, count) = tasks.entry(task).or_default();
        (*sum, *count) = (*sum + value, *count + 1.0);
    }
    let sum: f64 = tasks.values().map(|(sum, count)| sum / count).sum();
    (!tasks.is_empty()).then_some(sum / tasks.len() as f64)
}

/// Returns what an item is worth; of a match that of the first side.
fn value(item: &Value) -> Option<f64> {
    match item["result"].as_str() {
        Some(result) => Some(["second", "draw", "first"].iter().position(|it| *it == result)? as f64 / 2.0),
        None => item["solved"].as_f64(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn each_entry_of_a_file_is_an_item_or_told_to_be_left_out_and_what_it_states_follows(
        picks in prop::collection::vec((0..3usize, 0..9usize), 1..10)
    ) {
        tools().iter().for_each(|tool| tool.holds(&tool.entries(&picks)));
    }
}

#[test]
fn each_importer_has_files_of_entries() {
    let names: BTreeSet<String> = tools().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, IMPORTERS.iter().map(|importer| importer.name.to_owned()).collect());
}
