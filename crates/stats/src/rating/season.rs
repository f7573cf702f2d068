//! A season: many matches, checked, in the order in which they count.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::outcome::{Match, Outcome};

/// A match as it is reported: the competitors, the time and the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// The id of the match, different from every other.
    pub id: &'a str,
    /// The time at which it was over, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_milliseconds: i64,
    /// Name of the first competitor.
    pub first: &'a str,
    /// Name of the second competitor.
    pub second: &'a str,
    /// The outcome, seen from the first.
    pub outcome: Outcome,
}

impl Event<'_> {
    /// Returns why the event can be no match, by itself.
    pub(super) fn problem(&self) -> Option<EventError> {
        let id = self.id.to_owned();
        if self.first.is_empty() || self.second.is_empty() {
            Some(EventError::Nameless { id })
        } else if self.first == self.second {
            Some(EventError::AgainstOneself { id, name: self.first.to_owned() })
        } else {
            None
        }
    }
}

/// The place of a match in the order of all matches: by time, and at one time by id (byte by byte).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Applied {
    /// The time at which the match was over, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_milliseconds: i64,
    /// Its id.
    pub id: String,
}

impl From<&Event<'_>> for Applied {
    fn from(event: &Event<'_>) -> Self {
        Self { at_milliseconds: event.at_milliseconds, id: event.id.to_owned() }
    }
}

/// The reason why an event cannot count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// A competitor without a name.
    #[error("match `{id}`: a competitor has no name, expected two names")]
    Nameless {
        /// Id of the match.
        id: String,
    },
    /// Both sides are the same competitor.
    #[error("match `{id}`: `{name}` meets `{name}`, expected two different competitors")]
    AgainstOneself {
        /// Id of the match.
        id: String,
        /// The competitor.
        name: String,
    },
    /// One id is given to two different matches.
    #[error(
        "match `{id}`: the events at places {first_place} and {second_place} differ under one id, \
                 expected one content; correct one of them or give it its own id"
    )]
    TwoContents {
        /// The id.
        id: String,
        /// Place of the first event with this id, from 0.
        first_place: usize,
        /// Place of an event that says something else.
        second_place: usize,
    },
}

/// Everything that keeps events from being a season.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeasonErrors {
    /// The first [`SeasonErrors::LISTED`], in the order of the events; none if there were no events at all.
    pub list: Vec<EventError>,
    /// Number of more.
    pub omitted: usize,
}

impl SeasonErrors {
    /// The most that are listed; others are only counted.
    pub const LISTED: usize = 100;
}

impl fmt::Display for SeasonErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.list.is_empty() {
            return f.write_str("there is no match, expected at least one");
        }
        for (place, error) in self.list.iter().enumerate() {
            let separator = if place == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        if self.omitted > 0 {
            write!(f, "\nand {} more", self.omitted)?;
        }
        Ok(())
    }
}

impl core::error::Error for SeasonErrors {}

/// Matches in the order in which they count, that of [`Applied`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Season {
    /// The competitors, sorted by name; a [`Match`] has indices into this list.
    pub names: Vec<String>,
    /// The matches in order.
    pub matches: Vec<Match>,
    /// The time at which each match was over, in milliseconds since 1970-01-01T00:00:00Z.
    pub at_milliseconds: Vec<i64>,
    /// The index of each match among the given events.
    pub places: Vec<usize>,
    /// Events that repeat another one, id and content: each match counts once.
    pub repeated: usize,
    /// The first event of the season.
    pub first: Applied,
    /// The last one.
    pub last: Applied,
}

impl Season {
    /// Orders and checks `events`, which may come in any order.
    ///
    /// # Errors
    /// If there is no event, a competitor meets itself or has no name, or an id has two contents: [`SeasonErrors`].
    pub fn new(events: &[Event<'_>]) -> Result<Self, SeasonErrors> {
        let mut errors = SeasonErrors { list: Vec::new(), omitted: 0 };
        let mut names: Vec<&str> = events.iter().flat_map(|event| [event.first, event.second]).collect();
        names.sort_unstable();
        names.dedup();
        let place_of: BTreeMap<&str, u32> = names.iter().copied().zip(0..).collect();

        let mut found: Vec<(usize, EventError)> = Vec::new();
        let wrong = |(place, event): (usize, &Event<'_>)| event.problem().map(|error| (place, error));
        found.extend(events.iter().enumerate().filter_map(wrong));
        let (kept, repeated) = distinct(events, &mut found);
        found.sort_by_key(|&(place, _)| place);
        errors.omitted = found.len().saturating_sub(SeasonErrors::LISTED);
        errors.list.extend(found.into_iter().take(SeasonErrors::LISTED).map(|(_, error)| error));
        let (Some((_, first)), Some((_, last)), true) = (kept.first(), kept.last(), errors.list.is_empty())
        else {
            return Err(errors);
        };
        let (first, last) = (Applied::from(*first), Applied::from(*last));
        let found = |&(_, event): &(usize, &Event<'_>)| {
            let (first, second) = (*place_of.get(event.first)?, *place_of.get(event.second)?);
            Some(Match { first, second, outcome: event.outcome })
        };
        Ok(Self {
            matches: kept.iter().filter_map(found).collect(),
            at_milliseconds: kept.iter().map(|(_, event)| event.at_milliseconds).collect(),
            places: kept.iter().map(|&(place, _)| place).collect(),
            names: names.into_iter().map(str::to_owned).collect(),
            repeated,
            first,
            last,
        })
    }
}

/// Returns each id once with its first place, by time and id; and how many events only repeat another one.
fn distinct<'e, 'a>(
    events: &'e [Event<'a>],
    found: &mut Vec<(usize, EventError)>,
) -> (Vec<(usize, &'e Event<'a>)>, usize) {
    let mut by_id: Vec<(usize, &Event<'a>)> = events.iter().enumerate().collect();
    by_id.sort_unstable_by_key(|&(place, event)| (event.id, place));
    let mut kept: Vec<(usize, &Event<'a>)> = Vec::with_capacity(by_id.len());
    let mut repeated = 0;
    for (place, event) in by_id {
        match kept.last() {
            Some((_, same)) if same == &event => repeated += 1,
            Some(&(first_place, same)) if same.id == event.id => {
                let id = event.id.to_owned();
                found.push((place, EventError::TwoContents { id, first_place, second_place: place }));
            }
            _ => kept.push((place, event)),
        }
    }
    kept.sort_unstable_by_key(|&(_, event)| (event.at_milliseconds, event.id));
    (kept, repeated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn event<'a>(id: &'a str, at_milliseconds: i64, first: &'a str, second: &'a str) -> Event<'a> {
        Event { id, at_milliseconds, first, second, outcome: Outcome::Win }
    }

    #[test]
    fn time_orders_and_ids_order_what_time_does_not() {
        let events = [event("m10", 7, "a", "b"), event("m9", 7, "b", "c"), event("z", -1, "a", "c")];
        let season = Season::new(&events).unwrap();
        assert_eq!(season.places, [2, 0, 1], "ids are texts: `m10` comes before `m9`");
        assert_eq!(season.at_milliseconds, [-1, 7, 7]);
    }

    #[test]
    fn an_event_told_twice_counts_once() {
        let events = [event("m", 1, "a", "b"), event("n", 2, "a", "b"), event("m", 1, "a", "b")];
        let season = Season::new(&events).unwrap();
        assert_eq!((season.matches.len(), season.repeated), (2, 1));
    }

    #[test]
    fn every_wrong_event_is_named() {
        let events = [
            event("m", 1, "a", "b"),
            event("s", 1, "a", "a"),
            event("m", 2, "a", "b"),
            event("e", 1, "", "b"),
        ];
        let errors = Season::new(&events).unwrap_err();
        assert_eq!(errors.list.len(), 3);
        let told = errors.to_string();
        assert!(told.contains("match `s`: `a` meets `a`"), "{told}");
        assert!(told.contains("match `m`: the events at places 0 and 2 differ"), "{told}");
        assert!(told.contains("match `e`: a competitor has no name"), "{told}");
        assert!(Season::new(&[]).unwrap_err().to_string().contains("there is no match"));
        let many: Vec<_> = (0..150).map(|at| event("x", at, "a", "a")).collect();
        let errors = Season::new(&many).unwrap_err();
        assert_eq!((errors.list.len(), errors.omitted), (100, 199));
    }

    proptest! {
        #[test]
        fn the_order_of_the_events_changes_nothing(
            order in Just((0..40usize).collect::<Vec<_>>()).prop_shuffle(),
            times in prop::collection::vec(0i64..5, 40),
        ) {
            let ids: Vec<String> = (0..40).map(|id| alloc::format!("m{id}")).collect();
            let names = ["a", "b", "c", "d"];
            let events: Vec<_> = ids
                .iter()
                .zip(&times)
                .enumerate()
                .map(|(at, (id, &time))| event(id, time, names[at % 4], names[(at / 4 + at + 1) % 4]))
                .filter(|event| event.first != event.second)
                .collect();
            let shuffled: Vec<_> = order.iter().filter_map(|&at| events.get(at).copied()).collect();
            let (one, other) = (Season::new(&events).unwrap(), Season::new(&shuffled).unwrap());
            prop_assert_eq!((&one.names, &one.matches), (&other.names, &other.matches));
        }
    }
}
