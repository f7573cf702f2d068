//! The window: the last N scores of a subject, or those of the last days, with equal weight (workflow document, 3.2).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;

use super::ratio::Ratio;
use karat_core::number::Score;
pub use karat_core::scorecard::WindowLimits;

/// One score in a window. Entries are ordered by moment; those of one moment by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When it was earned, in seconds since 1970-01-01T00:00:00Z.
    pub at_seconds: i64,
    /// What it was earned for: each id enters once.
    pub id: String,
    /// The score.
    pub score: Score,
}

/// The scores that count now, and how many there ever were. A value: it can be written out by its parts and read back
/// with [`Window::restore`].
///
/// Equal states are equal in every part, however their entries came together: one by one in any order, or as windows of
/// the parts of any partition, merged in any order.
///
/// ```
/// use core::num::NonZeroU32;
/// use karat_core::number::Score;
/// use karat_standing::window::{Entry, Window, WindowLimits};
///
/// let mut window = Window::new(WindowLimits { tasks: NonZeroU32::new(2), span_seconds: None });
/// for (at_seconds, id, billionths) in [(10, "a", 0), (20, "b", 500_000_000), (30, "c", 1_000_000_000)] {
///     let score = Score::from_billionths(billionths);
///     (window, _) = window.next(Entry { at_seconds, id: id.into(), score });
/// }
/// assert_eq!((window.count(), window.seen()), (2, 3));
/// assert_eq!(window.mean().unwrap().to_string(), "3/4");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    limits: WindowLimits,
    /// By moment and id.
    scores: BTreeMap<(i64, String), Score>,
    /// INVARIANT: the ids of `scores`, each with its moment.
    moments: BTreeMap<String, i64>,
    /// INVARIANT: the sum of `scores`, in units of 1e-15. Fits: fewer than 2^63 numbers of 64 bits.
    sum: i128,
    seen: u64,
    /// The latest moment that an entry or [`Window::at`] has named.
    latest_seconds: Option<i64>,
}

/// What became of a score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrival {
    /// It counts.
    Entered {
        /// How many older ones left the window.
        left: usize,
    },
    /// It is older than all the window reaches: only counted as seen.
    TooOld,
    /// The same entry is there already; nothing changed.
    Duplicate,
    /// Another entry has this id; nothing changed.
    Conflict(Conflict),
}

/// Two entries of one id that are not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The one in the window.
    pub held: Entry,
    /// The other.
    pub other: Entry,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { held, other } = self;
        write!(
            f,
            "`{}` scored {} at second {} and {} at second {}, expected one score of each id; give a correction an id of its own",
            held.id, held.score, held.at_seconds, other.score, other.at_seconds
        )
    }
}

impl Error for Conflict {}

/// Why windows cannot be one, or parts no window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WindowError {
    /// They reach back differently.
    Limits {
        /// The limits of the first.
        first: WindowLimits,
        /// The limits of the second.
        second: WindowLimits,
    },
    /// One id stands for two entries.
    Conflict(Conflict),
    /// More entries than were ever seen.
    Seen {
        /// Scores ever seen, as given.
        seen: u64,
        /// Entries given.
        entries: usize,
    },
    /// An entry lies after the latest moment.
    Latest {
        /// The entry.
        entry: Entry,
        /// The latest moment, as given.
        latest_seconds: Option<i64>,
    },
    /// There are more entries than the limits allow: the parts are of another window.
    Outside {
        /// How many do not belong.
        entries: usize,
    },
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limits { first, second } => {
                write!(
                    f,
                    "the windows reach back differently, {first} and {second}, expected the same limits"
                )
            }
            Self::Conflict(conflict) => conflict.fmt(f),
            Self::Seen { seen, entries } => {
                write!(f, "`seen` is {seen}, expected at least the number of entries, {entries}")
            }
            Self::Latest { entry, latest_seconds: Some(latest) } => {
                write!(
                    f,
                    "`{}` is of second {}, expected at most the latest one, {latest}",
                    entry.id, entry.at_seconds
                )
            }
            Self::Latest { entry, latest_seconds: None } => {
                write!(
                    f,
                    "the latest second is not given, expected at least that of `{}`, {}",
                    entry.id, entry.at_seconds
                )
            }
            Self::Outside { entries } => {
                write!(
                    f,
                    "{entries} entries lie outside of the limits, expected none; restore with the limits of the window"
                )
            }
        }
    }
}

impl Error for WindowError {}

impl Window {
    /// An empty window.
    #[must_use]
    pub const fn new(limits: WindowLimits) -> Self {
        Self {
            limits,
            scores: BTreeMap::new(),
            moments: BTreeMap::new(),
            sum: 0,
            seen: 0,
            latest_seconds: None,
        }
    }

    /// A window from the parts that [`Window::entries`], [`Window::seen`] and [`Window::latest_seconds`] gave; entries in
    /// any order.
    ///
    /// # Errors
    /// [`WindowError`] when these are not the parts of a window with these limits.
    pub fn restore(
        limits: WindowLimits,
        seen: u64,
        latest_seconds: Option<i64>,
        entries: Vec<Entry>,
    ) -> Result<Self, WindowError> {
        if seen < entries.len() as u64 {
            return Err(WindowError::Seen { seen, entries: entries.len() });
        }
        let mut window = Self { seen, latest_seconds, ..Self::new(limits) };
        for entry in entries {
            if latest_seconds.is_none_or(|latest| latest < entry.at_seconds) {
                return Err(WindowError::Latest { entry, latest_seconds });
            }
            if let Some(held) = window.held(&entry.id) {
                return Err(WindowError::Conflict(Conflict { held, other: entry }));
            }
            window.insert(entry);
        }
        match window.trim() {
            0 => Ok(window),
            entries => Err(WindowError::Outside { entries }),
        }
    }

    /// Takes in one score, in whatever order scores arrive. The time it takes grows with the logarithm of the window, and not
    /// with the history.
    ///
    /// The same entry again changes nothing while it is still in the window; later nobody can tell.
    #[must_use]
    pub fn next(mut self, entry: Entry) -> (Self, Arrival) {
        if let Some(held) = self.held(&entry.id) {
            let is_same = held == entry;
            let arrival =
                if is_same { Arrival::Duplicate } else { Arrival::Conflict(Conflict { held, other: entry }) };
            return (self, arrival);
        }
        self.seen = self.seen.saturating_add(1);
        self.latest_seconds = self.latest_seconds.max(Some(entry.at_seconds));
        let key = (entry.at_seconds, entry.id.clone());
        self.insert(entry);
        let left = self.trim();
        let arrival =
            if self.scores.contains_key(&key) { Arrival::Entered { left } } else { Arrival::TooOld };
        (self, arrival)
    }

    /// The window at a later moment: what has become too old leaves. An earlier moment changes nothing.
    #[must_use]
    pub fn at(mut self, at_seconds: i64) -> Self {
        self.latest_seconds = self.latest_seconds.max(Some(at_seconds));
        self.trim();
        self
    }

    /// One window from two of the same limits: as if every score had arrived at one of them. Entries that stand in both are
    /// counted once.
    ///
    /// # Errors
    /// [`WindowError`] when the limits differ, or an id stands for another score in each.
    pub fn merge(self, other: Self) -> Result<Self, WindowError> {
        if self.limits != other.limits {
            return Err(WindowError::Limits { first: self.limits, second: other.limits });
        }
        let (mut into, from) = if self.count() >= other.count() { (self, other) } else { (other, self) };
        into.seen = into.seen.saturating_add(from.seen);
        into.latest_seconds = into.latest_seconds.max(from.latest_seconds);
        for entry in from.entries() {
            match into.held(&entry.id) {
                None => into.insert(entry),
                Some(held) if held == entry => into.seen = into.seen.saturating_sub(1),
                Some(held) => return Err(WindowError::Conflict(Conflict { held, other: entry })),
            }
        }
        into.trim();
        Ok(into)
    }

    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> WindowLimits {
        self.limits
    }

    /// The scores that count, oldest first; those of one moment by id.
    pub fn entries(&self) -> impl Iterator<Item = Entry> {
        self.scores.iter().map(|((at_seconds, id), &score)| Entry {
            at_seconds: *at_seconds,
            id: id.clone(),
            score,
        })
    }

    /// How many scores count.
    #[must_use]
    pub fn count(&self) -> usize {
        self.scores.len()
    }

    /// How many scores there ever were.
    #[must_use]
    pub const fn seen(&self) -> u64 {
        self.seen
    }

    /// The latest moment known, in seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn latest_seconds(&self) -> Option<i64> {
        self.latest_seconds
    }

    /// True when it holds as many scores as it may.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.limits.tasks.is_some_and(|tasks| self.count() >= tasks.get() as usize)
    }

    /// The exact mean of the scores that count, each with the same weight; none if there are none. A window that is not full
    /// is divided by what is there.
    #[must_use]
    pub fn mean(&self) -> Option<Ratio> {
        Ratio::new(self.sum, (self.count() as i128).checked_mul(SCORE_UNITS)?)
    }

    /// The entry of this id, if it counts.
    fn held(&self, id: &str) -> Option<Entry> {
        let (id, &at_seconds) = self.moments.get_key_value(id)?;
        let key = (at_seconds, id.clone());
        let score = *self.scores.get(&key)?;
        Some(Entry { at_seconds, id: key.1, score })
    }

    /// Adds an entry of a new id, wherever it lies.
    fn insert(&mut self, entry: Entry) {
        self.sum += i128::from(entry.score.units());
        self.moments.insert(entry.id.clone(), entry.at_seconds);
        self.scores.insert((entry.at_seconds, entry.id), entry.score);
    }

    /// Lets go of what the limits do not reach; gives how many.
    fn trim(&mut self) -> usize {
        let most = self.limits.tasks.map_or(usize::MAX, |tasks| tasks.get() as usize);
        let mut left = 0;
        while let Some((&(at_seconds, _), _)) = self.scores.first_key_value()
            && (self.count() > most || self.is_too_old(at_seconds))
            && let Some(((_, id), score)) = self.scores.pop_first()
        {
            self.moments.remove(&id);
            self.sum -= i128::from(score.units());
            left += 1;
        }
        left
    }

    fn is_too_old(&self, at_seconds: i64) -> bool {
        let (Some(latest), Some(span)) = (self.latest_seconds, self.limits.span_seconds) else {
            return false;
        };
        i128::from(latest) - i128::from(at_seconds) >= i128::from(span.get())
    }
}

const SCORE_UNITS: i128 = Score::ONE.units() as i128;

#[cfg(test)]
mod tests;
