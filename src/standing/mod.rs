//! What subjects stand for at a moment, from all their scored items.
//!
//! `items` turns rows into what the engine takes, `events` reads what happened beside the evaluations, `notes` says
//! what to know about them. `tasks` looks at the same items by task.

pub mod events;
pub mod items;
pub mod notes;
pub mod tasks;

use karat_core::diagnostic::nearest;
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::{Interval, Standings, SubjectStanding};

use self::events::Events;
use crate::error::{Code, Error};
use crate::rows::Rows;
use crate::text::{clean, short};

/// Most problems that are listed.
const LISTED: usize = 20;

/// The standings, and what they were made of and by.
pub struct Answer<'a> {
    /// The rule.
    pub card: &'a Scorecard,
    /// The scored items.
    pub rows: &'a Rows,
    /// What they make.
    pub standings: &'a Standings,
    /// The moment of the verdict.
    pub as_of: Timestamp,
    /// How intervals were drawn.
    pub interval: Interval,
    /// What happened beside the evaluations.
    pub events: &'a Events,
}

/// The standing of the subject of this name.
pub fn subject<'s>(standings: &'s Standings, name: &str) -> Result<&'s SubjectStanding, Error> {
    let found = standings.subjects.iter().find(|subject| subject.subject == name);
    found.ok_or_else(|| {
        let known = || standings.subjects.iter().map(|subject| subject.subject.as_str());
        let failure =
            Error::new(Code::NoItems, format!("there is no item of `{}` up to this moment", clean(name)));
        match nearest(name, known()) {
            Some(near) => failure.hint(format!("did you mean `{}`?", clean(near))),
            None => failure
                .hint(format!("there are: {}", known().take(8).map(short).collect::<Vec<_>>().join(", "))),
        }
    })
}

/// Returns a timestamp of whole seconds since 1970 in UTC, as people read it.
pub fn written(at_seconds: i64) -> String {
    Timestamp::from_seconds(at_seconds).to_string()
}

/// All that is wrong, as one failure.
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
