//! Floors of a leaderboard.

use karat_core::timestamp::Timestamp;

use super::{Failing, Verdict, failing, floors, judge_floors, outside, slight};
use crate::answers::leaderboard::LeaderboardAnswer;
use crate::ask::answer::gaps_of;
use crate::ask::leaderboard::{Door, ranked};
use crate::ask::{Floors, Leaderboard};
use crate::document::{self, Document, LeaderboardView, Part};
use crate::error::Error;
use crate::leaderboard::Settings;
use crate::leaderboard::evidence::Named;
use crate::look_alikes::LookAlikes;
use crate::rows::Rows;
use crate::standing::events::Events;
use crate::sums::Sums;

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

impl Sums {
    /// Ranks the subjects: the answer is that for the items, but for what [`SumsUsed::without`] lists.
    ///
    /// [`SumsUsed::without`]: crate::answers::leaderboard::SumsUsed::without
    ///
    /// # Errors
    /// If a key names nothing, something is asked that sums do not tell, or the items are too few.
    pub fn leaderboard(&self, ask: &Leaderboard) -> Result<LeaderboardAnswer, Error> {
        Ok(judge_sums(ask, &Floors::default(), self)?.answer)
    }
}

impl JudgedLeaderboard {
    /// Returns its document, with the figures of each leaderboard that need its items.
    pub fn document(&self, rows: &Rows, figures: Vec<Vec<Part>>) -> Document {
        let gaps = gaps_of(rows, self.settings.by);
        document::leaderboard(&self.answer, self.view(rows, &gaps, figures))
    }

    /// Returns its document, if it is of sums.
    pub fn document_of_sums(&self, sums: &Sums) -> Document {
        let (failing, dimensions, gaps) = (&self.failing, sums.dimensions(), sums.gaps());
        let view = LeaderboardView { failing, dimensions, gaps: &gaps, figures: Vec::new() };
        document::leaderboard(&self.answer, view)
    }

    pub(super) fn view<'v>(
        &'v self,
        rows: &'v Rows,
        gaps: &'v [String],
        figures: Vec<Vec<Part>>,
    ) -> LeaderboardView<'v> {
        LeaderboardView { failing: &self.failing, dimensions: &rows.dimensions, gaps, figures }
    }
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
    let (answer, settings) = ranked(ask, door, rows, events)?;
    // Scores are official by one moment, whatever the group.
    let as_of = answer.leaderboards.iter().find_map(|board| Timestamp::parse(board.as_of.as_deref()?).ok());
    let as_of = as_of.filter(|_| !asked_floors.fail_under.is_empty());
    judged((answer, settings), asked_floors, rows, as_of.into_iter().flat_map(|as_of| outside(rows, as_of)))
}

/// Ranks the subjects of sums, and asks the gates.
///
/// # Errors
/// If a key names nothing, something is asked that sums do not tell, or the items are too few.
pub fn judge_sums(ask: &Leaderboard, asked_floors: &Floors, sums: &Sums) -> Result<JudgedLeaderboard, Error> {
    let needs_dimensions = asked_floors.all().any(|it| it.dimension.is_some());
    judged(sums.ranked(ask, needs_dimensions)?, asked_floors, sums, [])
}

fn judged(
    (mut answer, settings): (LeaderboardAnswer, Settings),
    asked_floors: &Floors,
    rows: &impl Named,
    warnings: impl IntoIterator<Item = String>,
) -> Result<JudgedLeaderboard, Error> {
    answer.mark_look_alikes(&LookAlikes::among(rows.subjects().iter().map(String::as_str)));
    let failing = failing(&floors(asked_floors, rows, settings.by)?, asked_floors, &answer);
    let mut verdict = judge_floors(&failing);
    warnings.into_iter().for_each(|line| verdict.warn(line));
    let of_score = asked_floors.all().filter(|it| it.dimension.is_none());
    let slight = of_score.filter_map(|floor| slight("a floor", floor.least, rows.scale().max, 1));
    slight.for_each(|line| verdict.warn(line));
    Ok(JudgedLeaderboard { verdict, answer, failing, settings })
}
