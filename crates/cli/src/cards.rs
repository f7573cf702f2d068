//! The scorecards that come with karat, and how a name on the command line finds one.

use std::path::Path;

use karat_core::check::{Checked, check_text};
use karat_core::diagnostic::{Severity, nearest};
use karat_core::scorecard::Scorecard;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;

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
        &[$(Embedded { name: $name, text: include_str!(concat!("../../../", $path)) },)*]
    };
}

/// Every scorecard that comes with karat; the versions of one id stand in order.
pub const EMBEDDED: &[Embedded] = embedded! {
    "workflow@1.0.0": "scorecards/workflow/1.0.0.toml",
    "trace@1.0.0": "scorecards/trace/1.0.0.toml",
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

/// Finds a scorecard by released id (its newest version, if none is named) or path.
pub fn find(wanted: &str) -> Result<CardText, Failure> {
    if let Some(card) = released(wanted) {
        return Ok(CardText { name: card.name.to_owned(), text: card.text.to_owned() });
    }
    let is_path = wanted.contains(['/', '\\']) || wanted.ends_with(".toml") || Path::new(wanted).exists();
    if is_path {
        let text = input::read_text(wanted, "a scorecard")?;
        return Ok(CardText { name: wanted.to_owned(), text });
    }
    Err(unknown(wanted))
}

/// The released card with this id, or `id@version`.
pub fn released(wanted: &str) -> Option<&'static Embedded> {
    EMBEDDED.iter().rev().find(|card| card.name == wanted || id(card) == wanted)
}

fn id(card: &Embedded) -> &'static str {
    card.name.split('@').next().unwrap_or_default()
}

fn unknown(wanted: &str) -> Failure {
    let asked = wanted.split('@').next().unwrap_or_default();
    let failure = Failure::new(format!("there is no scorecard `{wanted}`"));
    let failure = match nearest(asked, EMBEDDED.iter().map(id)) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure,
    };
    let names: Vec<&str> = EMBEDDED.iter().map(|card| card.name).collect();
    failure
        .help(format!("there are: {}", names.join(", ")))
        .help("for a card of your own give its path; `karat card new` writes one to start from")
}

/// A scorecard that can be used; if it is refused, its diagnostics go to standard error.
pub fn load(wanted: &str, color: crate::output::Color) -> Result<Scorecard, Failure> {
    let text = find(wanted)?;
    parse(&text, color)
}

/// As [`load`], for a text that is already there.
pub fn parse(card: &CardText, color: crate::output::Color) -> Result<Scorecard, Failure> {
    let Checked { card: checked, diagnostics, .. } = check_text(&card.text, &library);
    match checked {
        Some(checked) if diagnostics.iter().all(|found| found.severity != Severity::Error) => Ok(checked),
        _ => {
            crate::cmd::card::check::refuse(card, &diagnostics, color)?;
            Err(Failure::Told(Exit::CardRefused))
        }
    }
}
