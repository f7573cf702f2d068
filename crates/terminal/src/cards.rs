//! Scorecards named on the command line: found, checked, and refused with their errors.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use karat::card::CompiledCard;
pub use karat::cards::{CardText, EMBEDDED, check, library, released};
use karat::cards::{Embedded, for_item, has_kinds, has_versions, of_kind, unknown};
use karat::inputs::Inputs;
use karat_core::scorecard::Scorecard;
use karat_reader::Kind;

use crate::diagnostics::refuse;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::output::{CARE, Color, Screen};

/// Finds a scorecard by released id (the last of [`EMBEDDED`], if no version is named) or path.
pub fn find(wanted: &str) -> Result<CardText, Failure> {
    if let Some(card) = released(wanted) {
        return Ok(CardText { name: card.name.to_owned(), text: card.text.to_owned() });
    }
    if is_path(wanted) {
        let text = input::read_text(wanted, "a scorecard", Exit::CardRefused)?;
        if text.trim_start().starts_with('{') {
            let message = format!("`{wanted}` is JSON, and a scorecard is a TOML file");
            return Err(Failure::with_exit(Exit::CardRefused, message)
                .help("evidence goes after the options: karat score --card CARD EVIDENCE"));
        }
        return Ok(CardText { name: wanted.to_owned(), text });
    }
    Err(unknown(wanted).into())
}

/// Returns true for a name that is looked for on this machine: a released scorecard or a path.
pub fn is_here(wanted: &str) -> bool {
    released(wanted).is_some() || is_path(wanted)
}

fn is_path(wanted: &str) -> bool {
    wanted == "-" || wanted.contains(['/', '\\']) || wanted.ends_with(".toml") || Path::new(wanted).exists()
}

/// Returns the name with the version that it means for these files, by the first item in them, and says which where that
/// was to choose. One command has one card: what follows of another kind is refused.
fn named<'w>(wanted: &'w str, inputs: &Inputs, color: Color) -> Result<Cow<'w, str>, Failure> {
    if !has_versions(wanted) {
        return Ok(Cow::Borrowed(wanted));
    }
    let item = inputs.first_item().unwrap_or_default();
    named_by(wanted, for_item(wanted, &item), color)
}

/// Returns the name with the version that it means for a kind of evidence, and says which where that was to choose.
pub fn named_of_kind<'w>(wanted: &'w str, kind: Kind, color: Color) -> Result<Cow<'w, str>, Failure> {
    named_by(wanted, of_kind(wanted, Some(kind)), color)
}

fn named_by<'w>(
    wanted: &'w str,
    meant: Option<&'static Embedded>,
    color: Color,
) -> Result<Cow<'w, str>, Failure> {
    let Some(card) = meant.filter(|_| has_versions(wanted)) else { return Ok(Cow::Borrowed(wanted)) };
    if has_kinds(wanted) {
        let note = format!("for this evidence `{wanted}` means `{}`", card.name);
        writeln!(Screen::stderr(color), "{CARE}note{CARE:#}: {note}")?;
    }
    Ok(Cow::Borrowed(card.name))
}

/// Returns a scorecard that can be used; if it is refused, its errors go to standard error.
pub fn load(wanted: &str, color: Color) -> Result<Scorecard, Failure> {
    parse(&find(wanted)?, color)
}

/// Does the same as [`load`] for a text that is already read.
pub fn parse(card: &CardText, color: Color) -> Result<Scorecard, Failure> {
    let checked = check(card);
    match checked.card {
        Some(sound) => Ok(sound),
        None => {
            refuse(card, &checked.diagnostics, color)?;
            Err(Failure::Shown(Exit::CardRefused))
        }
    }
}

/// Returns the scorecard that a name means for these inputs, ready to score.
pub fn for_inputs(wanted: &str, inputs: &Inputs, color: Color) -> Result<Arc<CompiledCard>, Failure> {
    compiled(&named(wanted, inputs, color)?, color)
}

/// Returns a scorecard that is ready to score.
pub fn compiled(wanted: &str, color: Color) -> Result<Arc<CompiledCard>, Failure> {
    of_text(&find(wanted)?, color)
}

/// Does the same as [`compiled`] for a text that is already read.
pub fn of_text(text: &CardText, color: Color) -> Result<Arc<CompiledCard>, Failure> {
    let card = CompiledCard::new(&text.text, parse(text, color)?)?;
    card.scorer()?;
    Ok(Arc::new(card.with_files_of(folder(text))))
}

/// Returns the folder where the hidden files of a challenge lie: that of its card.
pub fn folder(card: &CardText) -> &Path {
    Path::new(&card.name).parent().unwrap_or(Path::new(""))
}
