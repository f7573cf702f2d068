//! The effect of a solo match of the arena on a career: rating, category rating, counters, streaks, titles.
//!
//! The opponent is the challenge, whose rating comes from its difficulty and does not move. After the arena document,
//! "Impact on Elo" and its table of trust tiers. `skill`: the same matches under Glicko-2, beside it.

mod skill;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::bounds::{OutOfRange, POINTS_LIMIT};
use super::elo::{Elo, EloRating, Rounding};
use super::outcome::Outcome;
use super::system::System;
use super::title::{self, Deeds, Title};
use karat_core::number::{Decimal, MILLION};
pub use skill::{Played, Skill, SkillRules};

/// The arena's rules of rating. The default is the published ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Arena {
    /// The movement of points. They are whole here, whatever its rounding says.
    pub elo: Elo,
    /// Rating of a challenge by the name of its difficulty, in points.
    pub difficulties: Vec<(String, i64)>,
    /// Rating of a challenge whose difficulty has another name, in points; none refuses it.
    pub unlisted_difficulty: Option<i64>,
    /// Factor of a gain in a verified match.
    pub verified_factor: Decimal,
    /// Factor of a gain in a match that is verified, memoryless and a first attempt.
    pub benchmark_grade_factor: Decimal,
    /// The treatment of a draw against a stronger challenge.
    pub draws: DrawBonus,
    /// Score of a match from which it is won, in points.
    pub win_from_points: f64,
    /// Score of a match from which it is drawn, in points.
    pub draw_from_points: f64,
    /// The titles, the highest first.
    pub titles: Vec<Title>,
}

/// The gains that a factor multiplies: the document's sentence says positive changes, its list says wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawBonus {
    /// Every gain.
    Given,
    /// Only the gain of a win.
    Withheld,
}

impl Default for Arena {
    fn default() -> Self {
        let difficulties = [("newcomer", 800), ("contender", 1000), ("veteran", 1200), ("legendary", 1400)];
        Self {
            elo: Elo::ARENA,
            difficulties: difficulties.map(|(name, points)| (name.to_owned(), points)).to_vec(),
            unlisted_difficulty: Some(1000),
            verified_factor: Decimal::from_millionths(1_100_000),
            benchmark_grade_factor: Decimal::from_millionths(1_200_000),
            draws: DrawBonus::Given,
            win_from_points: 700.0,
            draw_from_points: 400.0,
            titles: title::ARENA.to_vec(),
        }
    }
}

/// An agent's career so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Career {
    /// Rating, in points.
    pub elo: i64,
    /// Matches that count for the factor: those of every category, before the next one.
    pub match_count: u64,
    /// Matches won.
    pub win_count: u64,
    /// Matches drawn.
    pub draw_count: u64,
    /// Matches lost.
    pub loss_count: u64,
    /// Wins in a row, or losses in a row as a negative number; 0 after a draw.
    pub current_streak: i64,
    /// The most wins in a row.
    pub best_streak: i64,
    /// Rating in each category that has been played, in points.
    pub category_elo: BTreeMap<String, i64>,
    /// Challenges written and approved.
    pub challenges_authored: u64,
}

/// The challenge of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge<'a> {
    /// Its category.
    pub category: &'a str,
    /// The difficulty its author gave it.
    pub difficulty: &'a str,
    /// The difficulty that matches showed, once there were enough: it goes before the author's.
    pub calibrated_difficulty: Option<&'a str>,
}

/// A match as it was played, with its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The agent's how manieth attempt at this challenge, from 1.
    pub attempt_number: u64,
    /// True if the agent's memory was hidden during the match.
    pub memoryless: bool,
    /// True if the match has a valid trajectory.
    pub verified: bool,
    /// The outcome for the agent.
    pub outcome: Outcome,
}

/// The trust in a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// No valid trajectory.
    Unverified,
    /// A valid trajectory.
    Verified,
    /// A valid trajectory, memoryless, first attempt.
    BenchmarkGrade,
}

impl Attempt {
    /// Returns the trust tier of the match.
    pub const fn grade(&self) -> Grade {
        match (self.verified, self.memoryless && self.attempt_number == 1) {
            (false, _) => Grade::Unverified,
            (true, false) => Grade::Verified,
            (true, true) => Grade::BenchmarkGrade,
        }
    }
}

/// A career after a match, and every step of the way there.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// The career after the match.
    pub career: Career,
    /// Rating of the challenge, in points.
    pub opponent_elo: i64,
    /// The score that was expected, 0 to 1; none if nothing was played.
    pub expected: Option<f64>,
    /// The factor K of the agent, by its matches before this one; 0 if nothing was played.
    pub factor_points: f64,
    /// The rating before the match.
    pub elo_before: i64,
    /// The points for the result, rounded.
    pub play_points: i64,
    /// The points that the floor gave back.
    pub floor_points: i64,
    /// The factor of the trust tier on a gain.
    pub bonus_factor: Decimal,
    /// The points that the trust tier added.
    pub bonus_points: i64,
    /// The rating after the match less that before: the sum of the three.
    pub elo_change: i64,
    /// The change of the rating in the category; none if nothing was played.
    pub category: Option<CategoryChange>,
    /// The titles held now, the highest first.
    pub titles: Vec<Title>,
}

/// The change of a rating in a category. No trust tier adds to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CategoryChange {
    /// The category.
    pub name: String,
    /// The rating before the match.
    pub elo_before: i64,
    /// The rating after it.
    pub elo_after: i64,
}

/// The reason why a match cannot be settled. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettleError {
    /// The difficulty has no rating, and the rules give unlisted ones none.
    #[error("`{found}` is not a difficulty, expected `{}`", .expected.join("`, `"))]
    UnlistedDifficulty {
        /// The difficulty.
        found: String,
        /// The difficulties with a rating.
        expected: Vec<String>,
    },
    /// A rating of the career is beyond a million points.
    #[error("rating `{name}` is `{found}`, expected -1000000 to 1000000 points")]
    Rating {
        /// Its place: `elo`, or the category.
        name: String,
        /// The rating.
        found: i64,
    },
    /// Attempts are counted from 1.
    #[error("`attempt_number` is `0`, expected 1 for the first attempt")]
    AttemptNumber,
    /// A setting of the rules is outside its range.
    #[error(transparent)]
    Setting(OutOfRange),
}

/// The change of one rating by one match.
struct Change {
    expected: f64,
    play: i64,
    floor: i64,
}

impl Arena {
    /// Returns the career of an agent that has played no match.
    pub fn newcomer(&self) -> Career {
        Career {
            elo: self.elo.initial_points as i64,
            match_count: 0,
            win_count: 0,
            draw_count: 0,
            loss_count: 0,
            current_streak: 0,
            best_streak: 0,
            category_elo: BTreeMap::new(),
            challenges_authored: 0,
        }
    }

    /// Returns how a match of this score ended; both bounds belong to the better result.
    pub fn outcome(&self, score_points: f64) -> Outcome {
        if score_points >= self.win_from_points {
            Outcome::Win
        } else if score_points >= self.draw_from_points {
            Outcome::Draw
        } else {
            Outcome::Loss
        }
    }

    /// Returns the career after a match, and how it came about. The factor of the category's rating is the factor of all
    /// matches, and no trust tier adds to it.
    ///
    /// # Errors
    /// If the match cannot be settled: every [`SettleError`].
    pub fn settle(
        &self,
        career: &Career,
        challenge: &Challenge<'_>,
        attempt: &Attempt,
    ) -> Result<Settlement, Vec<SettleError>> {
        let initial = self.elo.initial_points as i64;
        let category_before = career.category_elo.get(challenge.category).copied().unwrap_or(initial);
        let mut errors: Vec<_> = self.elo.settings_outside().into_iter().map(SettleError::Setting).collect();
        for (name, found) in [("elo", career.elo), (challenge.category, category_before)] {
            if found.unsigned_abs() > POINTS_LIMIT as u64 {
                errors.push(SettleError::Rating { name: name.to_owned(), found });
            }
        }
        if attempt.attempt_number == 0 {
            errors.push(SettleError::AttemptNumber);
        }
        let opponent_elo = match self.opponent(challenge) {
            Ok(opponent) if errors.is_empty() => opponent,
            Ok(_) => return Err(errors),
            Err(error) => {
                errors.push(error);
                return Err(errors);
            }
        };

        let matches = career.match_count;
        let Change { expected, play, floor } =
            self.change(career.elo, matches, opponent_elo, attempt.outcome);
        let grade = attempt.grade();
        // A factor below 1 takes from a gain; it takes no rating below the floor either.
        let after = career.elo + play + floor;
        let least = self.elo.floor_points.map_or(i64::MIN, |floor| libm::ceil(floor) as i64);
        let bonus = self.bonus(play + floor, grade, attempt.outcome).max(least.saturating_sub(after).min(0));
        let in_category = self.change(category_before, matches, opponent_elo, attempt.outcome);
        let elo_change = play + floor + bonus;

        let mut career = career.clone();
        career.elo += elo_change;
        let category_after = category_before + in_category.play + in_category.floor;
        career.category_elo.insert(challenge.category.to_owned(), category_after);
        career.count(attempt.outcome);
        Ok(Settlement {
            titles: title::held(&self.titles, &career.deeds()).into_iter().copied().collect(),
            elo_before: career.elo - elo_change,
            career,
            opponent_elo,
            expected: Some(expected),
            factor_points: self.elo.factor_after(u32::try_from(matches).unwrap_or(u32::MAX)),
            play_points: play,
            floor_points: floor,
            bonus_factor: self.factor(grade),
            bonus_points: bonus,
            elo_change,
            category: Some(CategoryChange {
                name: challenge.category.to_owned(),
                elo_before: category_before,
                elo_after: category_after,
            }),
        })
    }

    /// Returns the career after a match whose time limit passed before an answer came: it counts as a draw, ends a streak and
    /// moves no rating, whatever the difficulty. The arena document leaves this open, and the deployed arena does so.
    ///
    /// # Errors
    /// If the difficulty has no rating, and the rules give unlisted ones none.
    pub fn expire(&self, career: &Career, challenge: &Challenge<'_>) -> Result<Settlement, SettleError> {
        let opponent_elo = self.opponent(challenge)?;
        let elo_before = career.elo;
        let mut career = career.clone();
        career.count(Outcome::Draw);
        Ok(Settlement {
            titles: title::held(&self.titles, &career.deeds()).into_iter().copied().collect(),
            elo_before,
            career,
            opponent_elo,
            expected: None,
            factor_points: 0.0,
            play_points: 0,
            floor_points: 0,
            bonus_factor: Decimal::ONE,
            bonus_points: 0,
            elo_change: 0,
            category: None,
        })
    }

    /// Returns the rating of a challenge.
    fn opponent(&self, challenge: &Challenge<'_>) -> Result<i64, SettleError> {
        let found = challenge.calibrated_difficulty.unwrap_or(challenge.difficulty);
        let listed = self.difficulties.iter().find(|(name, _)| name == found);
        match (listed, self.unlisted_difficulty) {
            (Some((_, points)), _) => Ok(*points),
            (None, Some(points)) => Ok(points),
            (None, None) => Err(SettleError::UnlistedDifficulty {
                found: found.to_owned(),
                expected: self.difficulties.iter().map(|(name, _)| name.clone()).collect(),
            }),
        }
    }

    fn change(&self, elo: i64, matches: u64, opponent_elo: i64, outcome: Outcome) -> Change {
        let rules = Elo { rounding: Rounding::HalfUp, ..self.elo };
        let (points, matches) = (elo as f64, u32::try_from(matches).unwrap_or(u32::MAX));
        let expected = rules.expected_score(points, opponent_elo as f64);
        let played = rules.unfloored(&EloRating { points, matches }, outcome.score() - expected);
        let after = rules.floor_points.map_or(played, |floor| played.max(floor));
        Change { expected, play: (played - points) as i64, floor: (after - played) as i64 }
    }

    /// Returns the factor of a trust tier.
    const fn factor(&self, grade: Grade) -> Decimal {
        match grade {
            Grade::Unverified => Decimal::ONE,
            Grade::Verified => self.verified_factor,
            Grade::BenchmarkGrade => self.benchmark_grade_factor,
        }
    }

    /// Returns what the trust tier adds to a gain: the gain times the factor, rounded with halves up, less the gain.
    fn bonus(&self, gain: i64, grade: Grade, outcome: Outcome) -> i64 {
        let factor = self.factor(grade);
        let withheld = outcome != Outcome::Win && self.draws == DrawBonus::Withheld;
        if gain <= 0 || withheld {
            return 0;
        }
        // In whole numbers, so that 5 times 1.1 is a half and not a little more or less.
        let million = i128::from(MILLION);
        let product = i128::from(gain) * i128::from(factor.millionths());
        let rounded = (2 * product + million).div_euclid(2 * million);
        let most = POINTS_LIMIT as i64;
        i64::try_from(rounded - i128::from(gain)).unwrap_or(most).clamp(-most, most)
    }
}

impl Career {
    /// Counts a match that ended so.
    fn count(&mut self, outcome: Outcome) {
        self.match_count = self.match_count.saturating_add(1);
        let (count, streak) = match outcome {
            Outcome::Win => (&mut self.win_count, self.current_streak.max(0).saturating_add(1)),
            Outcome::Draw => (&mut self.draw_count, 0),
            Outcome::Loss => (&mut self.loss_count, self.current_streak.min(0).saturating_sub(1)),
        };
        *count = count.saturating_add(1);
        self.current_streak = streak;
        self.best_streak = self.best_streak.max(streak);
    }

    /// Returns the counts that titles are given for.
    pub const fn deeds(&self) -> Deeds {
        Deeds {
            elo: self.elo,
            match_count: self.match_count,
            win_count: self.win_count,
            challenges_authored: self.challenges_authored,
        }
    }
}

#[cfg(test)]
mod tests;
