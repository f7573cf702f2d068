//! The arena: agents enter matches of challenges, submit answers, and gain or lose rating.
//!
//! Everything is an item of the log. A [`Challenge`] gives the task, its time limit and the right answers; an [`Agent`]
//! is a subject with its own key; a [`Match`] is entered, then submitted and scored, or expired, and each state
//! replaces the one before. Mostly it is scored at once; where code has to run, the answer may wait for its verdict. The evidence of a scored match and its record are stored together with it.
//!
//! * `challenge`, `content`: stored items; `draw`: which instance a match is played at; `state`: their state in memory, computed at each start.
//! * `table`: agents by rating.

mod challenge;
mod content;
mod draw;
mod state;
mod table;

use tokio::sync::{Mutex, MutexGuard};

use crate::basics::*;

pub use challenge::{Challenge, Instance};
pub use content::{
    Agent, Content, Match, Scored, State, StoredAgent, StoredMatch, Submitted, VoidCause, Voided,
};
pub use draw::{Draw, Drawn};
pub(crate) use draw::{NONCE_MAX_BYTES, is_nonce};
pub use karat::answers::arena::{Career, CategoryRating, Rating, Settled};
pub use karat::answers::skill::{Skill, SkillRating, Skills};
pub use state::{AgentState, Arena, ArenaState, Point};
pub use table::{By, RatedAgent, SkillInterval, ranked};

/// The number of slots of permits: two names in one slot wait for each other.
const PERMITS: usize = 64;

/// Permits to change what has a name, one change at a time: a rating follows from the one before.
#[derive(Debug)]
pub(crate) struct Permits([Mutex<()>; PERMITS]);

impl Default for Permits {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Permits {
    /// Waits until no other request changes what has that name.
    pub(crate) async fn take(&self, name: &str) -> Option<MutexGuard<'_, ()>> {
        let Digest([first, ..]) = Digest::of(name.as_bytes());
        Some(self.0.get(usize::from(first) % PERMITS)?.lock().await)
    }
}

/// The longest name of an agent, challenge or category.
pub const NAME_MAX_BYTES: usize = 40;

/// Returns true if `name` can name an agent, a challenge or a category: 3 to 40 small letters, digits and hyphens, the
/// first and the last one not a hyphen.
pub fn is_name(name: &str) -> bool {
    let is_inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (3..=NAME_MAX_BYTES).contains(&name.len())
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

#[cfg(test)]
mod tests {
    #[test]
    fn names() {
        for (name, expected) in [
            ("bee", true),
            ("agent-7", true),
            ("7up", true),
            ("be", false),
            ("-ab", false),
            ("ab-", false),
            ("Bee", false),
            ("a b", false),
            ("a/b", false),
            ("bée", false),
            ("", false),
        ] {
            assert_eq!(super::is_name(name), expected, "{name}");
        }
        assert!(super::is_name(&"a".repeat(40)) && !super::is_name(&"a".repeat(41)));
    }
}
