//! Ratings between two seasons, as a file.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_stats::rating::{Applied, League};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::online::Stored;
use super::settings::{Chosen, described};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::read_text;
use crate::output;

/// The format that the file names.
const FORMAT: &str = "karat/league/1";
/// Its first bytes, in any version.
const MARK: &[u8] = br#"{"format":"karat/league/"#;

/// The leagues by category; the one of all matches has no category.
pub type Leagues<R> = BTreeMap<Option<String>, League<R>>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<E> {
    format: String,
    system: String,
    settings: Value,
    leagues: Vec<Entry<E>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry<E> {
    category: Option<String>,
    matches: u64,
    last: Option<Last>,
    competitors: BTreeMap<String, E>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last {
    time: String,
    id: String,
}

/// Reads the file at `path`.
///
/// # Errors
/// If it is not such a file, of another system or other settings, or has a rating out of range.
pub fn read<S: Stored>(path: &str, system: &S, chosen: &Chosen) -> Result<Leagues<S::Rating>, Failure> {
    let text = read_text(path, "a file of ratings", Exit::CouldNotRun)?;
    let refuse = |why: String| {
        Failure::new(format!("`{path}` is not a file of ratings to continue from: {why}"))
            .help("--state reads what --state-out wrote")
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
    let member = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    if member("format") != FORMAT {
        return Err(refuse(format!("`format` is `{}`, expected `{FORMAT}`", member("format"))));
    }
    if member("system") != chosen.name() {
        let why = format!("its ratings are of `{}`, expected `{}`", member("system"), chosen.name());
        return Err(refuse(why));
    }
    // Compared in written form: a whole number has one form there, and two in memory.
    let found = value.get("settings").cloned().unwrap_or_default();
    if canonical_json(&found) != canonical_json(&chosen.settings()) {
        let why =
            format!("its settings are {}, expected {}", described(&found), described(&chosen.settings()));
        return Err(refuse(why).help("give the same settings, or rate all matches again"));
    }
    let file: File<S::Entry> = serde_json::from_value(value).map_err(|error| refuse(error.to_string()))?;
    let mut leagues = Leagues::new();
    for entry in file.leagues {
        let mut competitors = BTreeMap::new();
        for (name, rating) in entry.competitors {
            let rating = S::rating(rating);
            if let Some(problem) = system.rating_outside(&rating).first() {
                return Err(refuse(format!("of `{name}`, {problem}")));
            }
            competitors.insert(name, rating);
        }
        let last = entry.last.map(|Last { time, id }| match Timestamp::parse(&time) {
            Ok(Timestamp { milliseconds }) => Ok(Applied { at_milliseconds: milliseconds, id }),
            Err(error) => Err(refuse(format!("`time` is `{time}`, {error}"))),
        });
        let last = last.transpose()?;
        let league = League { competitors, last, matches: entry.matches };
        if leagues.insert(entry.category.clone(), league).is_some() {
            return Err(refuse(format!("category `{}` is given twice", entry.category.unwrap_or_default())));
        }
    }
    Ok(leagues)
}

/// Writes the file at `path`; at every moment it is either the old one or the new one, complete.
///
/// # Errors
/// If it cannot be written, or exists and is not a file of ratings.
pub fn write<S: Stored>(path: &str, chosen: &Chosen, leagues: &Leagues<S::Rating>) -> Result<(), Failure> {
    let entry = |(category, league): (&Option<String>, &League<S::Rating>)| Entry {
        category: category.clone(),
        matches: league.matches,
        last: league.last.as_ref().map(|last| Last {
            time: Timestamp { milliseconds: last.at_milliseconds }.to_string(),
            id: last.id.clone(),
        }),
        competitors: league
            .competitors
            .iter()
            .map(|(name, rating)| (name.clone(), S::entry(rating)))
            .collect(),
    };
    let file = File {
        format: FORMAT.to_owned(),
        system: chosen.name().to_owned(),
        settings: chosen.settings(),
        leagues: leagues.iter().map(entry).collect(),
    };
    let value = serde_json::to_value(file).map_err(|error| Failure::new(error.to_string()))?;
    let mut text = canonical_json(&value);
    text.push('\n');
    output::replace_own(path, text.as_bytes(), MARK, "a file of ratings")
}
