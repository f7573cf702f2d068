//! The scorecards that come with karat, and what a text must be to be one.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use karat_checker::{Checked, check_text};
use karat_core::diagnostic::{Code, Diagnostic, Severity, nearest};
use karat_core::scorecard::{FactType, Scorecard};
use karat_graders::arena::Evaluator;
use karat_graders::execution::FileReader;
use karat_graders::trust::jury::JuryRules;
use karat_reader::{Kind, Reader, ReaderOptions};

use crate::error::{Code as ErrorCode, Error};
use crate::record::Record;

/// A scorecard inside the program.
#[derive(Debug)]
pub struct Embedded {
    /// `id@version`
    pub name: &'static str,
    /// The file.
    pub text: &'static str,
}

macro_rules! embedded {
    ($($name:literal: $path:literal,)*) => {
        &[$(Embedded { name: $name, text: include_str!(concat!("../", $path)) },)*]
    };
}

/// Every scorecard that comes with karat. An id alone means its last card here, which has its document word for word; with
/// evidence the last that takes its kind ([`for_item`]). Other versions are asked for by name.
pub const EMBEDDED: &[Embedded] = embedded! {
    "workflow@1.1.0": "scorecards/workflow/1.1.0.toml",
    "workflow@1.0.0": "scorecards/workflow/1.0.0.toml",
    "trace@1.0.0": "scorecards/trace/1.0.0.toml",
    "run@1.0.0": "scorecards/run/1.0.0.toml",
    "trust@1.1.0": "scorecards/trust/1.1.0.toml",
    "trust@1.0.0": "scorecards/trust/1.0.0.toml",
    "arena@1.0.0": "scorecards/arena/1.0.0.toml",
    "cipher-relay@1.0.0": "scorecards/arena/challenges/cipher-relay.toml",
    "incident-review@1.0.0": "scorecards/arena/challenges/incident-review.toml",
    "lean-refactor@1.0.0": "scorecards/arena/challenges/lean-refactor.toml",
    "log-forensics@1.0.0": "scorecards/arena/challenges/log-forensics.toml",
};

/// The text of a scorecard, and what to call it in messages.
#[derive(Debug)]
pub struct CardText {
    /// The path, or `id@version`.
    pub name: String,
    /// The file.
    pub text: String,
}

/// The text of the base `id@version`, for challenges.
pub fn library(name: &str) -> Option<String> {
    EMBEDDED.iter().find(|card| card.name == name).map(|card| card.text.to_owned())
}

/// The released card with this id, or `id@version`.
pub fn released(wanted: &str) -> Option<&'static Embedded> {
    EMBEDDED.iter().rev().find(|card| card.name == wanted || id(card) == wanted)
}

/// The released cards with this id, in the order of [`EMBEDDED`].
pub fn versions(wanted: &str) -> impl Iterator<Item = &'static Embedded> {
    EMBEDDED.iter().filter(move |card| id(card) == wanted)
}

/// Returns true for the id, without a version, of several released cards: which of them is meant, evidence decides.
pub fn has_versions(wanted: &str) -> bool {
    EMBEDDED.iter().filter(|card| id(card) == wanted).count() > 1
}

/// Returns true for the id of released cards that take several kinds of evidence.
pub fn has_kinds(wanted: &str) -> bool {
    let mut kinds = EMBEDDED.iter().filter(|card| id(card) == wanted).map(kind_of);
    kinds.next().is_some_and(|first| kinds.any(|kind| kind != first))
}

fn kind_of(card: &Embedded) -> Option<Kind> {
    karat_checker::parse(card.text, &library).ok().and_then(|card| Kind::from_name(&card.evidence))
}

/// Returns the released card that `wanted` means for a record or an item of evidence. An id without a version means the
/// very card that a record names; for evidence see [`newest`].
pub fn for_item(wanted: &str, item: &[u8]) -> Option<&'static Embedded> {
    if !has_versions(wanted) {
        return released(wanted);
    }
    let record = Record::parse(item).ok().flatten();
    let named = record.and_then(|record| released(&record.document().scorecard.name()));
    named.filter(|card| id(card) == wanted).or_else(|| of_kind(wanted, Kind::of_item(item)))
}

/// Returns the released card that `wanted` means for evidence of a kind.
pub fn of_kind(wanted: &str, kind: Option<Kind>) -> Option<&'static Embedded> {
    if !has_versions(wanted) {
        return released(wanted);
    }
    newest(EMBEDDED.iter().filter(|card| id(card) == wanted), |card| kind_of(card), kind)
}

/// Of the versions of an id returns the last that takes evidence of `kind`. Where the kind is not known, or none takes it: the
/// last of all, whose refusal says what it reads.
pub fn newest<T>(
    mut versions: impl DoubleEndedIterator<Item = T> + Clone,
    evidence: impl Fn(&T) -> Option<Kind>,
    kind: Option<Kind>,
) -> Option<T> {
    let mut fitting = versions.clone().rev().filter(|card| kind.is_some() && evidence(card) == kind);
    fitting.next().or_else(|| versions.next_back())
}

fn id(card: &Embedded) -> &'static str {
    card.name.split('@').next().unwrap_or_default()
}

/// Returns the error that no released card has this name, with the names that there are.
pub fn unknown(wanted: &str) -> Error {
    let (asked, version) = wanted.split_once('@').unwrap_or((wanted, ""));
    let versions: Vec<&str> =
        EMBEDDED.iter().filter(|card| id(card) == asked).map(|card| card.name).collect();
    if !versions.is_empty() {
        let message = format!("there is no version `{version}` of `{asked}`");
        return Error::new(ErrorCode::UnknownScorecard, message)
            .hint(format!("there are: {}", versions.join(", ")));
    }
    let error = Error::new(ErrorCode::UnknownScorecard, format!("there is no scorecard `{wanted}`"));
    let error = match nearest(asked, EMBEDDED.iter().map(id)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    };
    let names: Vec<&str> = EMBEDDED.iter().map(|card| card.name).collect();
    error.hint(format!("there are: {}", names.join(", "))).hint("for a scorecard of your own give its path")
}

/// Checks a card as the engine does, and that its kind of evidence supplies the facts it reads.
pub fn check(card: &CardText) -> Checked {
    check_with(card, &library)
}

/// Does the same, and checks the files that a challenge which runs code names: they lie in this folder.
pub fn check_in(card: &CardText, folder: &Path) -> Checked {
    checked(card, &library, Some(&files_of(folder)))
}

/// Returns a reader of the files in a folder, for the hidden files of challenges.
pub(crate) fn files_of(folder: &Path) -> impl Fn(&str) -> Result<Vec<u8>, String> {
    /// No file of a challenge is longer.
    const MAX_BYTES: u64 = 16 << 20;
    move |path| {
        let path = folder.join(path);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(|error| format!("`{}`: {error}", path.display()))
    }
}

/// Returns a card, or its errors; its traps are not looked for, which takes longer than everything else.
pub(crate) fn sound(
    card: &CardText,
    library: &dyn Fn(&str) -> Option<String>,
) -> Result<Scorecard, Vec<Diagnostic>> {
    let sound = karat_checker::parse(&card.text, library)?;
    let found = unfit(&sound, &card.text, None);
    if found.is_empty() { Ok(sound) } else { Err(found) }
}

/// Finds what does not fit evidence: an unknown kind, facts that it does not supply, an evaluator that cannot be used.
fn unfit(card: &Scorecard, text: &str, files: Option<FileReader<'_>>) -> Vec<Diagnostic> {
    let mut found = unsupplied(card);
    found.extend(unknown_kind(card, text));
    found.extend(unfit_evaluator(card, text, files));
    found
}

/// As [`check`], with another `library`: the text of the base `id@version`, for challenges.
pub fn check_with(card: &CardText, library: &dyn Fn(&str) -> Option<String>) -> Checked {
    checked(card, library, None)
}

fn checked(
    card: &CardText,
    library: &dyn Fn(&str) -> Option<String>,
    files: Option<FileReader<'_>>,
) -> Checked {
    let mut checked = check_text(&card.text, library);
    if let Some(sound) = &checked.card {
        let found = unfit(sound, &card.text, files);
        if !found.is_empty() {
            checked.card = None;
            checked.diagnostics.extend(found);
            checked.diagnostics.sort_by_key(|found| (found.span.start, found.span.end, found.code));
        }
    }
    checked
}

/// Finds a kind of evidence that karat does not have. A challenge has that of its family, which was checked there.
fn unknown_kind(card: &Scorecard, text: &str) -> Option<Diagnostic> {
    if card.base.is_some() || Kind::from_name(&card.evidence).is_some() {
        return None;
    }
    let start = table(text, &["evidence"]);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let names = Kind::ALL.map(Kind::name);
    let near =
        nearest(&card.evidence, names).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    Some(Diagnostic {
        code: Code::BadValue,
        severity: Severity::Error,
        span: start..start + line.trim_end().len(),
        message: format!("there is no kind of evidence `{}`", card.evidence.escape_debug()),
        label: String::new(),
        help: format!("{near}there are {}; facts of your own are of kind `facts`", names.join(", ")),
    })
}

/// The facts that the card reads and its kind of evidence does not have. A challenge reads those of its family, which
/// were checked there.
fn unsupplied(card: &Scorecard) -> Vec<Diagnostic> {
    let (None, Some(kind)) = (&card.base, Kind::from_name(&card.evidence)) else { return Vec::new() };
    let Err(unknown) = Reader::new(kind, &wanted_facts(card), ReaderOptions::default()) else {
        return Vec::new();
    };
    unknown
        .iter()
        .map(|fact| Diagnostic {
            code: if fact.fact_type.is_some() { Code::WrongType } else { Code::UnknownName },
            severity: Severity::Error,
            span: card
                .facts
                .iter()
                .find(|known| known.name == fact.name)
                .map_or(0..0, |known| known.span.clone()),
            message: match fact.fact_type {
                Some(fact_type) => format!(
                    "`{}` is a {} in evidence of kind `{}`",
                    fact.name,
                    fact_type.name(),
                    card.evidence
                ),
                None => format!("evidence of kind `{}` has no fact `{}`", card.evidence, fact.name),
            },
            label: String::new(),
            help: match (fact.fact_type, fact.nearest) {
                (Some(fact_type), _) => format!("declare it with type = \"{}\"", fact_type.name()),
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => String::from("facts of your own go into evidence of kind `facts`"),
            },
        })
        .collect()
}

/// Finds what is wrong with the tables for graders, in the places of the file.
fn unfit_evaluator(card: &Scorecard, text: &str, files: Option<FileReader<'_>>) -> Vec<Diagnostic> {
    let Some(tables) = &card.evaluator else { return Vec::new() };
    let tables: serde_json::Value = serde_json::from_str(tables).unwrap_or_default();
    let wrong = |span, message: String, help: &str| Diagnostic {
        code: Code::BadValue,
        severity: Severity::Error,
        span,
        message,
        label: String::new(),
        help: help.to_owned(),
    };
    let kind = Kind::from_name(&card.evidence);
    let of_others: &[&str] = match kind {
        Some(Kind::Match) => &["jury"],
        Some(Kind::AgentEvidence) => &["evaluator", "format", "submission", "limits"],
        _ => &["evaluator", "format", "submission", "limits", "jury"],
    };
    if let Some(name) = of_others.iter().find(|name| tables.get(name).is_some()) {
        let start = table(text, of_others);
        let message = format!("evidence of kind `{}` is not graded by a table `{name}`", card.evidence);
        return vec![wrong(start..start, message, &format!("remove `{}`", of_others.join("`, `")))];
    }
    if kind == Some(Kind::AgentEvidence) {
        let start = table(text, &["jury"]);
        let refused = JuryRules::from_json(&tables).err().unwrap_or_default();
        return refused.iter().map(|problem| wrong(start..start, problem.to_string(), "")).collect();
    }
    let keys: Vec<&str> = card.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
    let read = match files {
        Some(files) => Evaluator::from_toml_with(text, &keys, files),
        None => Evaluator::from_toml(text, &keys),
    };
    let Err(problems) = read else { return Vec::new() };
    problems
        .iter()
        .map(|problem| {
            let start = offset(text, problem.line.unwrap_or(1), problem.column.unwrap_or(1));
            let path = problem.path.trim_start_matches("$.");
            let message = format!("`{path}`: found {}, expected {}", problem.found, problem.expected);
            wrong(start..start, message, &problem.hint)
        })
        .collect()
}

/// The byte where the first of some tables begins, at its header or at a line that sets it.
fn table(text: &str, names: &[&str]) -> usize {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let rest = line.trim_start_matches([' ', '\t', '[', '"', '\'']);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if names.contains(&rest.split(|c| !is_name(c)).next().unwrap_or_default()) {
            return start;
        }
        start += line.len();
    }
    0
}

/// The byte at a line and a column, both from 1.
fn offset(text: &str, line: u64, column: u64) -> usize {
    let before = |lines: u64| text.split_inclusive('\n').take(lines as usize).map(str::len).sum::<usize>();
    let start = before(line.saturating_sub(1));
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at)
}
/// The facts of a scorecard, as a reader wants them: each by the field that gives it.
pub(crate) fn wanted_facts(card: &Scorecard) -> Vec<(String, FactType)> {
    card.facts.iter().map(|fact| (fact.field(), fact.kind)).collect()
}
