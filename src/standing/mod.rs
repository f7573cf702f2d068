//! The standings of subjects at a time, from all their scored items.
//!
//! `items` converts rows for the engine, `events` reads events beside the evaluations, `notes` writes the notes.
//! `tasks` computes the standings of tasks from the same items.

pub mod events;
pub mod items;
pub(crate) mod notes;
pub mod tasks;

use karat_core::diagnostic::nearest;
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::{Standings, SubjectStanding};

use self::events::Events;
use crate::error::{Code, Error};
use crate::look_alikes::LookAlikes;
use crate::rows::Rows;
use crate::text::{clean, short};

/// The largest number of problems listed.
const LISTED: usize = 20;

/// The standings with their inputs.
pub struct Answer<'a> {
    /// The scorecard.
    pub card: &'a Scorecard,
    /// The scored items.
    pub rows: &'a Rows,
    /// The standings.
    pub standings: &'a Standings,
    /// The time of the standings.
    pub as_of: Timestamp,
    /// The confidence of intervals.
    pub level: f64,
    /// The events beside the evaluations.
    pub events: &'a Events,
    /// The subjects whose names look like others.
    pub look_alikes: &'a LookAlikes,
}

/// Returns the standing of the subject with this name.
pub fn subject<'s>(standings: &'s Standings, name: &str) -> Result<&'s SubjectStanding, Error> {
    let found = standings.subjects.iter().find(|subject| subject.subject == name);
    found.ok_or_else(|| {
        let known = || standings.subjects.iter().map(|subject| subject.subject.as_str());
        let failure =
            Error::new(Code::NoItems, format!("there is no item of `{}` up to this time", clean(name)));
        match nearest(name, known()) {
            Some(near) => failure.hint(format!("did you mean `{}`?", clean(near))),
            None => failure
                .hint(format!("there are: {}", known().take(8).map(short).collect::<Vec<_>>().join(", "))),
        }
    })
}

/// Returns the refusal of items whose scorecards have other rules for standings.
pub fn several_cards() -> Error {
    Error::new(
        Code::InvalidOption,
        "the items are scored by several scorecards, each with other rules for standings",
    )
    .hint("give the items of one scorecard, or of the challenges of one family")
}

/// Formats whole seconds since 1970 as a timestamp in UTC.
pub fn written(at_seconds: i64) -> String {
    Timestamp::from_seconds(at_seconds).to_string()
}

/// Combines all problems into one error.
pub fn refused<E: ToString>(errors: &[E]) -> Error {
    let text = |error: &E| clean(&error.to_string()).into_owned();
    let failure = match errors {
        [] => Error::new(Code::NoItems, "there are no standings"),
        [only] => return Error::new(Code::EvidenceRefused, text(only)),
        several => Error::new(
            Code::EvidenceRefused,
            format!("there are no standings, for {} reasons", several.len()),
        ),
    };
    let failure = errors.iter().take(LISTED).fold(failure, |failure, error| failure.hint(text(error)));
    match errors.len().saturating_sub(LISTED) {
        0 => failure,
        more => failure.hint(format!("and {more} more")),
    }
}
