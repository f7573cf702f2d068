//! The arena: agents enter matches of challenges, submit answers, and gain or lose rating.
//!
//! Everything is an item of the log. A [`Challenge`] gives the task, its time limit and the right answers; an [`Agent`]
//! is a subject with its own key; a [`Match`] is entered, then submitted and scored, or expired, and each state
//! replaces the one before. Mostly it is scored at once; where code has to run, the answer may wait for its verdict. The evidence of a scored match and its record are stored together with it.
//!
//! * `challenge`, `content`, `harness`: stored items; `draw`: which instance a match is played at; `state`: their state in memory, computed at each start.
//! * `table`: agents by rating.
//! * `permits`: one change at a time for each agent.

mod challenge;
mod content;
mod draw;
mod harness;
mod permits;
mod state;
mod table;

pub use challenge::{Challenge, Instance};
pub use content::{
    Agent, Content, Match, Scored, State, StoredAgent, StoredMatch, Submitted, VoidCause, Voided,
};
pub use draw::{Draw, Drawn, NONCE_MAX_BYTES, is_nonce};
pub use harness::{HARNESS_MAX_BYTES, Harness, is_harness};
pub use karat::answers::arena::{Career, CategoryRating, Rating, Settled};
pub use karat::answers::skill::{Skill, SkillRating, Skills};
pub(crate) use permits::Permits;
pub use state::{AgentState, Arena, ArenaState, Point};
pub use table::{RatedAgent, ranked};

/// The longest name of an agent, challenge or category.
pub const NAME_MAX_BYTES: usize = 40;

/// Returns true if `name` can name an agent, a challenge or a category: 3 to 40 small letters, digits and hyphens, the
/// first and the last one not a hyphen.
#[must_use]
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
