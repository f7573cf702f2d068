//! Helpers of the tests: cards from files, facts from JSON.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::path::{Path, PathBuf};

pub mod random;
pub mod reference;

use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use karat_core::scorecard::{FactType, Scorecard};
use serde_json::{Map, Value};

/// Returns the root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder of the cards made for these tests.
pub fn cards() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cards")
}

/// Reads the text of a file.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Reads a card; `library` is the folder in which families are found.
pub fn card(path: &Path, library: &Path) -> Scorecard {
    card_of(&read(path), library).unwrap_or_else(|message| panic!("{}:\n{message}", path.display()))
}

/// Reads what [`card`] reads, from text; the error lists everything that is wrong.
pub fn card_of(text: &str, library: &Path) -> Result<Scorecard, String> {
    let found = |name: &str| {
        let (id, version) = name.split_once('@')?;
        std::fs::read_to_string(library.join(id).join(format!("{version}.toml"))).ok()
    };
    karat_checker::parse(text, &found).map_err(|diagnostics| {
        diagnostics.iter().map(|it| format!("{} {}", it.code, it.message)).collect::<Vec<_>>().join("\n")
    })
}

/// Returns every file of that ending under a folder, sorted.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the facts of a card from a JSON object; what the card does not declare is ignored.
pub fn facts<'a>(card: &Scorecard, given: &'a Map<String, Value>) -> Vec<Fact<'a>> {
    let fact = |value: &'a Value| match value {
        Value::Null => Fact::Missing,
        Value::Bool(flag) => Fact::Flag(*flag),
        Value::Number(number) => Fact::Number(number.as_f64().unwrap()),
        Value::String(text) => Fact::Text(text),
        other => panic!("`{other}` is no fact"),
    };
    card.facts.iter().map(|declared| given.get(&declared.name).map_or(Fact::Missing, fact)).collect()
}

/// Returns an item of these facts.
pub fn item<'a>(facts: &'a [Fact<'a>]) -> Item<'a> {
    Item {
        subject: "subject",
        id: "item",
        context: ItemContext::default(),
        digest: Digest([7; 32]),
        facts,
        grading: None,
        suspicions: &[],
    }
}

/// Returns the bytes of the record; none if the item is refused.
pub fn record_bytes(scorer: &Scorer, work: &mut Workspace, facts: &[Fact<'_>]) -> Option<Vec<u8>> {
    // A record may not outlive its facts, and its card must outlive it: so the bytes, not the record, are handed out.
    let context = Context { as_of: None };
    let mut bytes = Vec::new();
    scorer.score(work, &item(facts), &context).ok()?.write(&mut bytes);
    Some(bytes)
}

/// Returns whether a fact is missing, or says "not measured" in the source's way.
pub fn is_missing(card: &Scorecard, at: usize, fact: Fact<'_>) -> bool {
    match fact {
        Fact::Missing => true,
        Fact::Number(value) => card.facts[at].unknown == Some(value),
        _ => false,
    }
}

/// Numbers in formulas: a fact as a column holds it.
pub fn in_column(kind: FactType, fact: Fact<'_>) -> f64 {
    match (kind, fact) {
        (_, Fact::Number(value)) => value,
        (_, Fact::Flag(flag)) => f64::from(u8::from(flag)),
        _ => f64::NAN,
    }
}
