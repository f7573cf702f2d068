//! Standings: from all scored items of all subjects to the standing of each at one moment, under the section
//! `[standing]` of a card.
//!
//! | module | contents |
//! |---|---|
//! | `input` | items and events; what is refused in them; the order in which they count |
//! | `series` | the items of one subject, and their result at a moment: score, dimensions, facts for tiers |
//! | `spread` | the tasks behind a score, and its interval |
//! | `sums` | sums over items that become known in any order |
//! | `fold` | what has happened to a subject so far: reviews, certification; and its standing at any later moment |
//! | `replay` | the fold over all items and events of a subject, moment by moment |
//! | `ladder` | every tier with what it asks, and when time alone takes it |
//! | `kept` | the fold at the end of a log, kept to answer at later moments |
//! | `value` | the results |
//! | `tasks` | the same items by task: difficulty, and the life of tasks |
//!
//! Nothing depends on the order in which items and events are given.

mod fold;
mod input;
mod kept;
mod ladder;
mod replay;
mod series;
mod spread;
mod sums;
mod tasks;
mod value;

use alloc::vec::Vec;

pub use self::input::{Change, Event, Happening, Item, Reading, StandError, is_plain};
use self::input::{Ordered, order};
pub use self::kept::{Kept, keep};
use self::replay::replay;
use self::series::{View, Weights};
pub use self::spread::{ScoreInterval, Spread};
pub use self::tasks::{Calibrated, Lived, Period, Rate, Results, TaskStanding, TaskStandings, tasks};
pub use self::value::{
    Counts, DimensionStanding, OfficialDimension, OfficialParts, Point, ReviewStanding, ShareStanding,
    Shared, Standings, SubjectStanding, TierHeld, WarmUpStanding,
};
use crate::overrides::OverrideLog;
use crate::shares::{shares, sixteen_bit_shares, whole_shares};
use karat_core::number::Score;
use karat_core::scorecard::{Scorecard, Standing, WholeShares};

/// Returns the standing of every subject at `as_of_seconds`.
///
/// Items after that moment are left out and counted; so are items given twice. Items of one second count together, and where it
/// is known when an item arrived, that is its second: what was dated back is not history.
/// Under a [plain](is_plain) card items count whether they say when they took place or not. Under another those of a subject
/// without any time count in the order of their ids, unless the card asks for their age; a subject with both sorts has no score.
///
/// # Errors
/// If there are problems: everything that is wrong with the items and events, or that the card has no section `[standing]`.
pub fn stand(
    card: &Scorecard,
    items: &[Item<'_>],
    events: &[Event],
    as_of_seconds: i64,
) -> Result<Standings, Vec<StandError>> {
    stand_as(card, items, events, as_of_seconds, true)
}

/// Returns the same without the ladder of tiers, which takes many looks at each subject.
///
/// # Errors
/// As [`stand`].
pub fn stand_in_brief(
    card: &Scorecard,
    items: &[Item<'_>],
    events: &[Event],
    as_of_seconds: i64,
) -> Result<Standings, Vec<StandError>> {
    stand_as(card, items, events, as_of_seconds, false)
}

fn stand_as(
    card: &Scorecard,
    items: &[Item<'_>],
    events: &[Event],
    as_of_seconds: i64,
    has_ladder: bool,
) -> Result<Standings, Vec<StandError>> {
    let Some(rules) = &card.standing else { return Err(alloc::vec![StandError::NoSection(card.name())]) };
    let ordered = order(card, rules, items, events, as_of_seconds)?;
    let (overrides, weights, override_refusals) = weights(card, &ordered);
    let view = View { card, rules, weights: &weights, has_ladder };
    let subjects = ordered.subjects.iter().map(|(subject, own)| replay(view, as_of_seconds, subject, own));
    let mut subjects: Vec<SubjectStanding> = subjects.collect();
    let scores: Vec<Score> = subjects.iter().map(|subject| subject.shared_score(card.scale.max)).collect();
    let shared = share_out(rules, &scores).map_err(|error| alloc::vec![error])?;
    let shared = shared.map(|(shared, each)| {
        subjects.iter_mut().zip(each).for_each(|(subject, share)| subject.share = Some(share));
        shared
    });
    Ok(Standings {
        subjects,
        shared,
        overrides,
        override_refusals,
        repeated: ordered.repeated,
        after: ordered.after,
        events_after: ordered.events_after,
        without_time: ordered.without_time,
        by_id: ordered.by_id,
    })
}

/// The log of proposed weights, those in force from each moment on, and what was refused.
type InForce = (OverrideLog, Weights, Vec<(usize, crate::overrides::OverrideRefusal)>);

fn weights(card: &Scorecard, ordered: &Ordered<'_>) -> InForce {
    let mut log = OverrideLog::new(card);
    let (mut changes, mut refusals) = (Weights::default(), Vec::new());
    for (place, at_seconds, event) in &ordered.overrides {
        let before = log.in_force.clone();
        let (next, refusal) = log.next(card, (*event).clone());
        log = next;
        refusals.extend(refusal.map(|refusal| (*place, refusal)));
        if log.in_force != before {
            changes.set(card, *at_seconds, log.weights());
        }
    }
    (log, changes, refusals)
}

/// Returns the log of proposed weights at `as_of_seconds`, from the events up to then in the order in which a
/// [standing](stand) takes them.
pub fn overrides(card: &Scorecard, events: &[Event], as_of_seconds: i64) -> OverrideLog {
    let (log, _, _) = weights(card, &Ordered::of_weights(events, as_of_seconds));
    log
}

/// Returns the share of each subject, from the [scores](SubjectStanding::shared_score) that shares are made of; none for rules
/// without shares.
///
/// # Errors
/// If there are no shares.
pub fn share_out(
    rules: &Standing,
    scores: &[Score],
) -> Result<Option<(Shared, Vec<ShareStanding>)>, StandError> {
    let Some(policy) = rules.shares else { return Ok(None) };
    let wrong = |errors: Vec<crate::shares::ShareError>| match errors.first() {
        Some(error) => StandError::Share(*error),
        None => StandError::Share(crate::shares::ShareError::Cap(policy.rules.cap)),
    };
    let shared = shares(scores, &policy.rules).map_err(wrong)?;
    let whole: Vec<u64> = match policy.whole {
        None => Vec::new(),
        Some(WholeShares::Sum(total)) => {
            // What no subject may have takes its part of the whole numbers as well.
            let mut all = shared.shares.clone();
            all.push(shared.unassigned);
            whole_shares(&all, total).map_err(wrong)?.into_iter().map(u64::from).collect()
        }
        Some(WholeShares::SixteenBit) => {
            sixteen_bit_shares(&shared.shares).map_err(wrong)?.into_iter().map(u64::from).collect()
        }
    };
    let share = |(at, share): (usize, &Score)| ShareStanding { share: *share, whole: whole.get(at).copied() };
    let each = shared.shares.iter().enumerate().map(share).collect();
    let sum = Shared {
        case: shared.case,
        positive: shared.positive,
        capped: shared.capped,
        unassigned: shared.unassigned,
    };
    Ok(Some((sum, each)))
}

#[cfg(test)]
mod tests;
