//! `karat standing`: what subjects stand for at a moment, from all their scored items.
//!
//! `items` turns rows into what the engine takes, `events` reads what happened beside the evaluations, `json` writes the
//! lines of `karat/standing/1`. `tasks` looks at the same items by task.

mod events;
mod items;
pub mod json;
pub mod tasks;

use std::borrow::Cow;
use std::io::Write as _;

use karat_core::diagnostic::nearest;
use karat_core::scorecard::Scorecard;
use karat_core::standing::stand::{Interval, Standings, SubjectStanding, stand};
use karat_core::statistics::bootstrap::Plan;
use karat_evidence::{Moment, canonical_json};
use serde_json::Value;

use self::events::Events;
use super::many;
use crate::args::{Cli, StandingArgs};
use crate::cards;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Screen, lines};
use crate::page;
use crate::render::page::standing as page_of;
use crate::render::standing::table;
use crate::render::standing_detail::detail;
use crate::render::text::{clean, short};
use crate::rows::Rows;

/// Most problems that are listed.
const LISTED: usize = 20;

/// The standings, and what they were made of and by.
pub struct Answer<'a> {
    pub card: &'a Scorecard,
    pub rows: &'a Rows,
    pub standings: &'a Standings,
    pub as_of: Moment,
    pub interval: Interval,
    pub events: &'a Events,
}

/// Shows what subjects stand for.
pub fn run(args: &StandingArgs, cli: &Cli) -> Result<Exit, Failure> {
    let Some(as_of) = args.items.as_of.as_deref().and_then(Moment::parse) else {
        return Err(Failure::new("a standing is of a moment").help("--as-of 2026-01-31T12:00:00Z"));
    };
    let rows = many::rows(&args.items, args.card.as_deref(), &args.files, &[], cli)?;
    let card = card_of(&rows, cli)?;
    if args.tasks {
        return tasks::run(args, &rows, &card, as_of, cli);
    }
    let events = events::read(args.events.as_deref())?;
    let items = items::items(&rows, &card, &events)?;
    let interval = Interval { plan: Plan { draws: args.draws, seed: args.seed }, level: args.level };
    let as_of_seconds = as_of.milliseconds.div_euclid(1000);
    let standings =
        stand(&card, &items, &events.events, as_of_seconds, interval).map_err(|errors| refused(&errors))?;
    let answer = Answer { card: &card, rows: &rows, standings: &standings, as_of, interval, events: &events };
    let shown = match &args.subject {
        Some(name) => std::slice::from_ref(subject(&standings, name)?),
        None => standings.subjects.as_slice(),
    };
    if let Some(path) = &args.form.html {
        page::save(path, &page_of::standing(&answer, shown))?;
    }
    if many::wants_json(&args.form) {
        let mut out = lines();
        for subject in shown {
            writeln!(out, "{}", canonical_json(&json::subject(&answer, subject)))?;
        }
        out.flush()?;
        return Ok(Exit::Done);
    }
    let mut out = Screen::stdout(cli.color);
    let screen = match (&args.subject, shown) {
        (Some(_), [only]) => detail(&json::subject(&answer, only), out.width),
        _ => table(&answer, out.width),
    };
    write!(out, "{screen}")?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The card whose section counts: that of the items, or the family of their challenges.
fn card_of<'r>(rows: &'r Rows, cli: &Cli) -> Result<Cow<'r, Scorecard>, Failure> {
    if let Some(card) = rows.only_card() {
        return Ok(Cow::Borrowed(card));
    }
    let base = rows.scorers.first().and_then(|scorer| scorer.card().base.as_deref());
    Ok(Cow::Owned(cards::load(base.unwrap_or_default(), cli.color)?))
}

fn subject<'s>(standings: &'s Standings, name: &str) -> Result<&'s SubjectStanding, Failure> {
    let found = standings.subjects.iter().find(|subject| subject.subject == name);
    found.ok_or_else(|| {
        let known = || standings.subjects.iter().map(|subject| subject.subject.as_str());
        let failure = Failure::new(format!("there is no item of `{}` up to this moment", clean(name)));
        match nearest(name, known()) {
            Some(near) => failure.help(format!("did you mean `{}`?", clean(near))),
            None => failure
                .help(format!("there are: {}", known().take(8).map(short).collect::<Vec<_>>().join(", "))),
        }
    })
}

/// All that is wrong, as one failure.
fn refused<E: ToString>(errors: &[E]) -> Failure {
    let text = |error: &E| clean(&error.to_string()).into_owned();
    let failure = match errors {
        [] => Failure::new("there are no standings"),
        [only] => return Failure::new(text(only)),
        several => Failure::new(format!("there are no standings, for {} reasons", several.len())),
    };
    let failure = errors.iter().take(LISTED).fold(failure, |failure, error| failure.help(text(error)));
    match errors.len().saturating_sub(LISTED) {
        0 => failure,
        more => failure.help(format!("and {more} more")),
    }
}

/// The standing in a line, if it is one of these. Fails for one of another version.
pub fn parse(bytes: &[u8]) -> Result<Option<Value>, Failure> {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else { return Ok(None) };
    match value.get("schema").and_then(Value::as_str) {
        Some(json::SCHEMA) => Ok(Some(value)),
        Some(other) if other.starts_with("karat/standing/") => {
            Err(Failure::new(format!("this is a standing of `{}`", clean(other)))
                .help(format!("this version of karat reads `{}`", json::SCHEMA)))
        }
        _ => Ok(None),
    }
}

/// A moment in whole seconds, as people read it.
pub fn moment(at_seconds: i64) -> String {
    Moment { milliseconds: at_seconds.saturating_mul(1000) }.to_string()
}
