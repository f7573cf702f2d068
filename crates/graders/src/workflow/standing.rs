//! Adjustments of a score beside the formula: warm-up scaling of a new participant, and the flag on a jump.

use serde::Serialize;

use karat_evidence::json::check::digits;
use karat_evidence::json::problem::{Problem, Problems};

/// Tasks after which a new participant's score counts in full (C-SWON documentation).
pub(crate) const WARM_UP_TASKS: u64 = 20;

/// A score and what the warm-up leaves of it. Both are kept, because a scaled score that entered a window of scores would
/// lower its mean long after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WarmUp {
    /// The score as it was earned.
    pub raw_score: f64,
    /// The part of it that counts, 0 to 1.
    pub factor: f64,
    /// `raw_score * factor`.
    pub score: f64,
}

/// Scales the score of a participant within its immunity period by the tasks it has seen: `min(1, tasks_seen / 20)`.
/// Afterwards the score counts in full, however few they were.
///
/// `raw_score` is 0 to 1. Periods are in blocks of the chain.
///
/// # Errors
/// If a score is out of its range.
pub fn warm_up(
    raw_score: f64,
    tasks_seen: u64,
    blocks_since_registration: u64,
    immunity_period_blocks: u64,
) -> Result<WarmUp, Problems> {
    if let Some(problem) = out_of_range("$.raw_score", raw_score) {
        return Err(problem.into());
    }
    let is_immune = blocks_since_registration < immunity_period_blocks;
    let factor = if is_immune { (tasks_seen as f64 / WARM_UP_TASKS as f64).min(1.0) } else { 1.0 };
    Ok(WarmUp { raw_score, factor, score: raw_score * factor })
}

/// The most earlier scores that are compared with (C-SWON validator).
pub(crate) const JUMP_HISTORY: usize = 10;
/// The fewest earlier scores with which a jump is flagged (C-SWON validator).
pub(crate) const JUMP_HISTORY_MIN: usize = 3;
/// A rise of more than this is flagged (C-SWON validator).
pub(crate) const JUMP_MIN: f64 = 0.5;

/// A score that lies far above those before it. It is for a reviewer to look at and changes no score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Jump {
    /// The score.
    pub score: f64,
    /// The mean of the scores before it, of the last ten at most.
    pub previous_mean: f64,
    /// `score - previous_mean`.
    pub rise: f64,
}

/// Returns the jump of `score` over its `history` (oldest first), if there is one: more than 0.5 above the mean of the
/// last ten scores, of which there are at least three. A fall is not a jump.
///
/// # Errors
/// If scores are not numbers from 0 to 1: every one.
pub fn jump(history: &[f64], score: f64) -> Result<Option<Jump>, Problems> {
    let mut problems = Problems::default();
    let places = history.iter().enumerate().map(|(at, &earlier)| (format!("$.history[{at}]"), earlier));
    for (path, score) in places.chain([("$.score".to_owned(), score)]) {
        if let Some(problem) = out_of_range(&path, score) {
            problems.add(|| problem);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let recent = history.get(history.len().saturating_sub(JUMP_HISTORY)..).unwrap_or_default();
    if recent.len() < JUMP_HISTORY_MIN {
        return Ok(None);
    }
    let previous_mean = recent.iter().sum::<f64>() / recent.len() as f64;
    let rise = score - previous_mean;
    Ok((rise > JUMP_MIN).then_some(Jump { score, previous_mean, rise }))
}

impl Jump {
    /// Returns score, mean and rise to four decimals, as the published flag has them.
    pub fn published(&self) -> (f64, f64, f64) {
        (four_decimals(self.score), four_decimals(self.previous_mean), four_decimals(self.rise))
    }
}

/// Returns the nearest number of four decimals; of two that are equally near the one whose last digit is even.
fn four_decimals(number: f64) -> f64 {
    // Formatting works on the exact value, which a multiplication by 10,000 would round before its time.
    format!("{number:.4}").parse().unwrap_or(number)
}

fn out_of_range(path: &str, score: f64) -> Option<Problem> {
    if (0.0..=1.0).contains(&score) {
        return None;
    }
    let found = if score.is_finite() { digits(score) } else { score.to_string() };
    Some(Problem::at(path, found, "a number from 0 to 1", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn warm_up_ends_with_the_tasks_or_the_period() {
        let score = |tasks, blocks| warm_up(0.9, tasks, blocks, 5000).unwrap().score;
        assert_eq!(
            [score(0, 0), score(19, 4999), score(20, 0), score(u64::MAX, 0)],
            [0.0, 0.9 * 0.95, 0.9, 0.9]
        );
        assert_eq!([score(0, 5000), score(0, u64::MAX)], [0.9, 0.9]);
        let refused = warm_up(f64::NAN, 1, 1, 1).unwrap_err().to_string();
        assert_eq!(refused, "$.raw_score: found NaN, expected a number from 0 to 1");
        assert!(warm_up(1.1, 1, 1, 1).is_err() && warm_up(-0.1, 1, 1, 1).is_err());
    }

    #[test]
    fn a_jump_is_strict_upward_and_over_the_last_ten() {
        assert_eq!(jump(&[0.25, 0.25, 0.25], 0.75), Ok(None), "exactly half");
        assert!(jump(&[0.25, 0.25, 0.25], 0.750_001).unwrap().is_some());
        assert_eq!(jump(&[0.9, 0.9, 0.9], 0.1), Ok(None), "a fall");
        let mut history = vec![1.0; 5];
        history.extend([0.0; 10]);
        assert_eq!(jump(&history, 0.6).unwrap().unwrap().previous_mean, 0.0);
        assert_eq!(jump(&[], 1.0), Ok(None));
        let refused = jump(&[0.1, f64::INFINITY, -0.5], 2.0).unwrap_err().to_string();
        insta::assert_snapshot!(refused, @r"
        $.history[1]: found inf, expected a number from 0 to 1
        $.history[2]: found -0.5, expected a number from 0 to 1
        $.score: found 2, expected a number from 0 to 1
        ");
    }

    #[test]
    fn four_decimals_are_those_of_the_exact_value() {
        // Ties that a double holds exactly go to the even digit; the others lie on one side of the tie.
        assert_eq!(four_decimals(0.03125), 0.0312);
        assert_eq!(four_decimals(0.09375), 0.0938);
        assert_eq!(four_decimals(0.12345), 0.1235);
        assert_eq!(four_decimals(0.00015), 0.0001);
        assert_eq!(four_decimals(0.7 + 0.1), 0.8);
    }

    proptest! {
        #[test]
        fn warm_up_never_raises_a_score(raw in 0.0..=1.0f64, tasks in 0u64..40, blocks in 0u64..20) {
            let scaled = warm_up(raw, tasks, blocks, 10).unwrap();
            prop_assert!((0.0..=raw).contains(&scaled.score));
            prop_assert!(blocks < 10 || scaled.score == raw);
        }

        #[test]
        fn scores_before_the_last_ten_do_not_matter(
            old in prop::collection::vec(0.0..=1.0f64, 0..20),
            recent in prop::collection::vec(0.0..=1.0f64, 10),
            score in 0.0..=1.0f64,
        ) {
            let history: Vec<_> = old.into_iter().chain(recent.iter().copied()).collect();
            prop_assert_eq!(jump(&history, score), jump(&recent, score));
        }
    }
}
