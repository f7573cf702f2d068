//! Floors of a leaderboard.

use karat_core::timestamp::Timestamp;

use super::{Failing, Verdict, failing, floors, judge_floors, outside, slight};
use crate::answers::leaderboard::LeaderboardAnswer;
use crate::ask::leaderboard::{Door, ranked};
use crate::ask::{Floors, Leaderboard};
use crate::error::Error;
use crate::leaderboard::Settings;
use crate::look_alikes::LookAlikes;
use crate::rows::Rows;
use crate::standing::events::Events;

/// The answer, and what its gates found.
#[derive(Debug)]
pub struct JudgedLeaderboard {
    /// The answer.
    pub answer: LeaderboardAnswer,
    /// The findings.
    pub verdict: Verdict,
    /// The subjects that fail a floor.
    pub failing: Vec<Failing>,
    /// The settings.
    pub settings: Settings,
}

/// Ranks the subjects, and asks the gates.
///
/// # Errors
/// If a key names nothing, options exclude each other, or the items are too few.
pub fn judge_leaderboard(
    ask: &Leaderboard,
    asked_floors: &Floors,
    rows: &mut Rows,
    events: &Events,
) -> Result<JudgedLeaderboard, Error> {
    let needs_dimensions = asked_floors.all().any(|it| it.dimension.is_some());
    let door = Door { needs_dimensions, ..Door::default() };
    let (mut answer, settings) = ranked(ask, door, rows, events)?;
    answer.mark_look_alikes(&LookAlikes::among(rows.subjects.iter().map(String::as_str)));
    let failing = failing(&floors(asked_floors, rows, settings.by)?, asked_floors, &answer);
    let mut verdict = judge_floors(&failing);
    // Scores are official by one moment, whatever the group.
    let as_of = answer.leaderboards.iter().find_map(|board| Timestamp::parse(board.as_of.as_deref()?).ok());
    if let Some(as_of) = as_of.filter(|_| !asked_floors.fail_under.is_empty()) {
        outside(rows, as_of).into_iter().for_each(|line| verdict.warn(line));
    }
    let of_score = asked_floors.all().filter(|it| it.dimension.is_none());
    let slight = of_score.filter_map(|floor| slight("a floor", floor.least, rows.scale.max, 1));
    slight.for_each(|line| verdict.warn(line));
    Ok(JudgedLeaderboard { verdict, answer, failing, settings })
}
