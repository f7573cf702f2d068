//! Questions about many items as one JSON document, for packages in other languages: a name, texts of files, settings; out
//! come the bytes that the command line prints with `--format json`. A package may also hand over [sources](Feed) of items, such as
//! data frames and paths.

mod questions;
mod receipts;
mod settings;
mod trial;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;
use std::ops::{ControlFlow, Deref};
use std::path::Path;
use std::sync::Arc;

use karat_evidence::source::Layout;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ask::answer::invalid;
use crate::ask::{Fields, Grid, Items, Judges, Stress, Tasks, Trend};
use crate::card::CompiledCard;
use crate::cards;
use crate::document::Document;
use crate::engine::{Options, Wanted, each_item};
use crate::error::{Code, Error, Place};
use crate::inputs::{Inputs, Silent};
use crate::loaded::{Loaded, Loading};
use crate::rows::Selection;
use crate::text::clean;

pub use receipts::{verified, verify};
pub use trial::{GivenSubjects, what_if};

/// A question as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asking {
    /// leaderboard, compare, gate, rate, standing, stress, judges, tasks, trend or grid.
    question: String,
    /// The items, or the matches.
    files: Vec<File>,
    /// The items of the run to compare with, for a gate.
    #[serde(default)]
    baseline: Vec<File>,
    /// The items of earlier runs, for a gate on their trend.
    #[serde(default)]
    history: Vec<File>,
    /// The text of the scorecard, if it is not a released one.
    card_text: Option<String>,
    /// The settings, under the names that the flags have; of a gate what `karat.toml` has.
    #[serde(default)]
    settings: Map<String, Value>,
}

/// The text of a file, and the name that answers and errors call it by; its ending says what it holds. Without a text it is the
/// source that was handed over under this name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    text: Option<String>,
}

/// A source of items other than a text, such as a data frame.
pub trait Feed {
    /// Hands each item to `visit`, with its place or the error found there, until it breaks; returns what there is to know
    /// of all of them.
    ///
    /// # Errors
    /// If the source cannot be read at all.
    fn each(&self, wanted: &Wanted, visit: &mut Visit<'_>) -> Result<Vec<String>, Error>;

    /// Returns the files that its items are of, as their places name them; an empty list if that is its own name.
    fn files(&self) -> &[String] {
        &[]
    }
}

/// The function that takes each item, or the error in its place.
pub type Visit<'v> = dyn FnMut(&Place, Result<&[u8], Error>) -> ControlFlow<()> + 'v;
/// Sources by their names.
pub type Feeds<'f> = BTreeMap<String, &'f dyn Feed>;

/// Files, folders and patterns, with all that a command reads under such paths: tables, JSON, and logs of other tools.
pub struct Paths {
    inputs: Inputs,
}

impl Paths {
    /// Finds the files that are meant; without a path, standard input.
    ///
    /// # Errors
    /// If a file does not exist or is given twice.
    pub fn new(paths: &[String]) -> Result<Self, Error> {
        Ok(Self { inputs: Inputs::new(paths)? })
    }
}

impl Feed for Paths {
    fn each(&self, wanted: &Wanted, visit: &mut Visit<'_>) -> Result<Vec<String>, Error> {
        Ok(self.inputs.each(wanted, &Silent, |place, item| Ok::<_, Error>(visit(place, item)))?.notes)
    }

    fn files(&self) -> &[String] {
        self.inputs.paths()
    }
}

/// An answer, for machines and for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The document that the command prints with `--format json`.
    pub json: Vec<u8>,
    /// The document that the command shows on a screen.
    pub document: Document,
}

impl Answered {
    fn of(answer: impl FnOnce(&mut Document) -> Result<Vec<u8>, Error>) -> Result<Self, Error> {
        let mut document = Document::default();
        Ok(Self { json: answer(&mut document)?, document })
    }
}

/// A taker of the document of an answer.
trait See {
    fn see(&mut self, document: impl FnOnce() -> Document);
}

/// A taker that asks for no document, so that a program has no code for any.
struct Unseen;

impl See for Unseen {
    fn see(&mut self, _document: impl FnOnce() -> Document) {}
}

impl See for Document {
    fn see(&mut self, document: impl FnOnce() -> Document) {
        *self = document();
    }
}

/// Answers a question: the document that the command of its name prints with `--format json`.
///
/// ```
/// let asked = br#"{"question": "leaderboard", "settings": {"card": "trust"}, "files": [{"name": "agents.jsonl",
///     "text": "{\"id\": \"a\", \"dimensions\": {\"accuracy\": 0.9}}\n{\"id\": \"b\", \"dimensions\": {\"accuracy\": 0.7}}"}]}"#;
/// let answer: serde_json::Value = serde_json::from_slice(&karat::json::answer(asked)?).unwrap();
/// assert_eq!(answer["leaderboards"][0]["rows"][0]["subject"], "a");
/// # Ok::<(), karat::Error>(())
/// ```
///
/// # Errors
/// If it is not a question, a setting is unknown or wrong, an item is refused, or there are too few of them.
pub fn answer(question: &[u8]) -> Result<Vec<u8>, Error> {
    answer_to(question, &Feeds::new(), &mut Unseen)
}

/// Answers a question with its document, from sources of items beside the texts.
///
/// # Errors
/// As [`answer`]; if a file has no text and no source has its name.
pub fn answered(question: &[u8], feeds: &Feeds<'_>) -> Result<Answered, Error> {
    Answered::of(|document| answer_to(question, feeds, document))
}

fn answer_to(question: &[u8], feeds: &Feeds<'_>, seen: &mut impl See) -> Result<Vec<u8>, Error> {
    let asking: Asking = serde_json::from_slice(question).map_err(|error| {
        invalid(format!("this is not a question: {error}")).hint("expected question and files")
    })?;
    let asked = Asked { asking: &asking, feeds };
    match asking.question.as_str() {
        "leaderboard" => questions::leaderboard(&asked, seen),
        "compare" => questions::compare(&asked, seen),
        "gate" => questions::gate(&asked, seen),
        "rate" => questions::rate(&asked, seen),
        "standing" => questions::standing(&asked, seen),
        "stress" => questions::ask::<Stress>(&asked, seen),
        "judges" => questions::ask::<Judges>(&asked, seen),
        "tasks" => questions::ask::<Tasks>(&asked, seen),
        "trend" => questions::ask::<Trend>(&asked, seen),
        "grid" => questions::ask::<Grid>(&asked, seen),
        other => Err(invalid(format!("there is no question `{}`", clean(other))).hint(
            "there are: leaderboard, compare, gate, rate, standing, stress, judges, tasks, trend, grid",
        )),
    }
}

/// A question, and the sources of its items other than texts.
struct Asked<'a> {
    asking: &'a Asking,
    feeds: &'a Feeds<'a>,
}

impl Deref for Asked<'_> {
    type Target = Asking;

    fn deref(&self) -> &Asking {
        self.asking
    }
}

impl Asked<'_> {
    /// Returns the source of a file without a text.
    fn feed(&self, file: &File) -> Option<&dyn Feed> {
        self.feeds.get(&file.name).filter(|_| file.text.is_none()).copied()
    }

    /// Returns the names of a file in the places of its items.
    fn files<'f>(&'f self, file: &'f File) -> &'f [String] {
        let files = self.feed(file).map_or(&[][..], Feed::files);
        if files.is_empty() { std::slice::from_ref(&file.name) } else { files }
    }

    /// Hands each item of a file to `visit`; returns what there is to know of all of them.
    fn each(&self, file: &File, wanted: &Wanted, visit: &mut Visit<'_>) -> Result<Vec<String>, Error> {
        match (&file.text, self.feed(file)) {
            (Some(text), _) => {
                let layout = Layout::of_path(Path::new(&file.name));
                let _ = each_item(&file.name, Cursor::new(text), layout, wanted, visit);
                Ok(Vec::new())
            }
            (None, Some(feed)) => feed.each(wanted, visit),
            (None, None) => Err(invalid(format!("`{}` has no text", clean(&file.name)))),
        }
    }

    /// Returns the scorecard: the one that is given as a text, or the released one of this name; an id of several for the evidence
    /// that the first item is.
    fn card(&self, name: Option<&str>) -> Result<Option<Arc<CompiledCard>>, Error> {
        let Some(family) = name.filter(|name| self.card_text.is_none() && cards::has_kinds(name)) else {
            return self.asking.card(name);
        };
        let mut first = None;
        for file in &self.asking.files {
            self.each(file, &Wanted::nothing(), &mut |_, item| {
                first = item.ok().map(<[u8]>::to_vec);
                ControlFlow::Break(())
            })?;
            if first.is_some() {
                break;
            }
        }
        CompiledCard::open_for(family, &first.unwrap_or_default()).map(Some)
    }

    fn load<'f>(
        &self,
        selection: Selection<'_>,
        card: Option<Arc<CompiledCard>>,
        items: &Items,
        files: impl IntoIterator<Item = &'f File>,
    ) -> Result<Loaded, Error> {
        let Fields { subject_field, task_field } = items.fields.clone();
        let options = Options { subject_field, task_field, ..Options::default() };
        let mut loading = Loading::new(selection, card.map(|card| (card, options)), items.as_of.as_ref())?;
        let (mut read, mut notes) = (BTreeSet::new(), Vec::new());
        for file in files {
            for name in self.files(file) {
                if !read.insert(name.clone()) {
                    return Err(Error::new(
                        Code::InvalidOption,
                        format!("two files are called `{}`", clean(name)),
                    ));
                }
            }
            let wanted = loading.wanted();
            let mut end = Ok(());
            let told = self.each(file, &wanted, &mut |place, bytes| match loading.take(place, bytes) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    end = Err(error);
                    ControlFlow::Break(())
                }
            })?;
            end?;
            for note in told {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        let mut loaded = loading.finish()?;
        loaded.both.iter_mut().chain([&mut loaded.rows]).for_each(|rows| rows.notes.clone_from(&notes));
        Ok(loaded)
    }
}

fn written(answer: &impl Serialize) -> Vec<u8> {
    crate::answers::write(answer).into_bytes()
}

/// An error as JSON, for packages in other languages.
#[derive(Debug, Serialize)]
pub struct Failure<'e> {
    code: &'static str,
    message: &'e str,
    /// File and line.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    problems: Vec<Fault<'e>>,
    hints: &'e [String],
}

#[derive(Debug, Serialize)]
struct Fault<'e> {
    path: &'e str,
    /// The value found, the value expected, and what to do.
    detail: &'e str,
}

impl<'e> From<&'e Error> for Failure<'e> {
    fn from(error: &'e Error) -> Self {
        let fault = |problem: &'e crate::Problem| Fault { path: &problem.path, detail: &problem.detail };
        Self {
            code: error.code().name(),
            message: error.message(),
            place: error.place().map(ToString::to_string),
            problems: error.problems().iter().map(fault).collect(),
            hints: error.hints(),
        }
    }
}
