//! Scores to shares: weights that sum to 1, none above a cap (workflow document, 3.2, "capped at 15% max weight").

use alloc::vec::Vec;
use core::cmp::Reverse;

use karat_core::number::{Decimal, MILLION, Score, UNITS_PER_ONE, apportion, round_ratio};
pub use karat_core::scorecard::{ShareRules, TooFew};

/// The shares of all subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shares {
    /// The shares in the order of the scores. Together with `unassigned` they sum to exactly 1 on the grid of 1e-15, unless no
    /// score is above zero.
    pub shares: Vec<Score>,
    /// The case that applied.
    pub case: ShareCase,
    /// Number of subjects that have a score above zero.
    pub positive: usize,
    /// Number of subjects that get the cap because their part would have been larger.
    pub capped: usize,
    /// The part that stays unassigned.
    pub unassigned: Score,
}

karat_core::words! {
    /// The way in which the whole was divided.
    pub enum ShareCase {
        /// No score is above zero, and all shares are zero.
        NothingToShare = "nothing-to-share",
        /// In proportion to the scores; no subject gets more than the cap.
        Proportional = "proportional",
        /// Some were held at the cap, and the rest went to the others in proportion.
        Redistributed = "redistributed",
        /// Too few subjects: the cap was raised, and all with a score got the same.
        CapRaised = "cap-raised",
        /// Too few subjects: all with a score get the cap, and the rest is unassigned.
        RestLeft = "rest-left",
    }
}

/// The reason why there are no shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// The cap is not above 0 and at most 1.
    #[error("the cap is {0}, expected above 0 and at most 1")]
    Cap(
        /// The cap, as given.
        Decimal,
    ),
    /// A score is below zero.
    #[error("score {at} is {score}, expected 0 or more")]
    Negative {
        /// Its index.
        at: usize,
        /// The score.
        score: Score,
    },
}

/// Shares the whole out in proportion to `scores`, none above the cap.
///
/// A subject that would get more than the cap gets the cap, and the excess goes to the others in proportion to their
/// scores, until none is above it. Done exactly: the order of the scores is the order of the shares, and a score of
/// zero stays zero. Shares lie on the grid of 1e-15, rounded by largest remainder; where equal scores cannot have equal
/// shares to the last unit, the first gets the extra unit, so pass subjects in a fixed order, such as by name.
///
/// # Errors
/// If there are problems: every [`ShareError`].
pub fn shares(scores: &[Score], rules: &ShareRules) -> Result<Shares, Vec<ShareError>> {
    let cap = rules.cap.millionths();
    let negative = scores.iter().enumerate().filter(|(_, score)| **score < Score::ZERO);
    let mut errors: Vec<ShareError> =
        negative.map(|(at, &score)| ShareError::Negative { at, score }).collect();
    if !(1..=MILLION).contains(&cap) {
        errors.insert(0, ShareError::Cap(rules.cap));
    }
    if !errors.is_empty() {
        return Err(errors);
    }

    let mut largest_first: Vec<usize> = (0..scores.len()).filter(|&at| units(scores, at) > 0).collect();
    largest_first.sort_by_key(|&at| Reverse(units(scores, at)));
    let positive = largest_first.len();
    // All of `capped` get `share`, and the others share `rest` in proportion.
    let give = |case, capped: &[usize], share, rest| {
        let mut shared = Shares {
            shares: proportional(scores, capped, rest),
            case,
            positive,
            capped: capped.len(),
            unassigned: Score::ZERO,
        };
        for &at in capped {
            if let Some(slot) = shared.shares.get_mut(at) {
                *slot = Score::from_units(share);
            }
        }
        Ok(shared)
    };
    // The cap in units of 1e-15, and what is left of the whole when some shares are capped.
    let cap_units = cap * (UNITS_PER_ONE / MILLION);
    let rest_beside = |capped: usize| (capped as i64).checked_mul(cap_units).map(|held| UNITS_PER_ONE - held);
    match rest_beside(positive) {
        _ if positive == 0 => give(ShareCase::NothingToShare, &[], 0, 0),
        Some(rest) if rest > 0 => match rules.too_few {
            // The units that do not divide go to the largest, or the order would be reversed by one unit.
            TooFew::RaiseCap => {
                let mut shared =
                    give(ShareCase::CapRaised, &largest_first, UNITS_PER_ONE / positive as i64, 0)?;
                for &at in largest_first.iter().take(UNITS_PER_ONE as usize % positive) {
                    if let Some(share) = shared.shares.get_mut(at) {
                        *share = Score::from_units(share.units() + 1);
                    }
                }
                Ok(shared)
            }
            TooFew::LeaveRest => {
                let held = give(ShareCase::RestLeft, &largest_first, cap_units, 0)?;
                Ok(Shares { unassigned: Score::from_units(rest), ..held })
            }
        },
        _ => {
            // The largest are held at the cap until the next one fits below it: s * (1 - k cap) <= cap * (sum of the rest).
            // One share is always left to give, or all would be capped before.
            let mut sum: i128 = largest_first.iter().map(|&at| units(scores, at)).sum();
            let mut held = 0;
            for &at in &largest_first {
                let rest = i128::from(MILLION) - held as i128 * i128::from(cap);
                if units(scores, at) * rest <= sum * i128::from(cap) {
                    break;
                }
                sum -= units(scores, at);
                held += 1;
            }
            let case = if held == 0 { ShareCase::Proportional } else { ShareCase::Redistributed };
            let capped = largest_first.get(..held).unwrap_or_default();
            give(case, capped, cap_units, rest_beside(held).unwrap_or_default())
        }
    }
}

fn units(scores: &[Score], at: usize) -> i128 {
    scores.get(at).map_or(0, |score| i128::from(score.units()))
}

/// Shares `total` units in proportion to the scores, without those in `left_out`.
fn proportional(scores: &[Score], left_out: &[usize], total: i64) -> Vec<Score> {
    let mut parts: Vec<i128> = scores.iter().map(|score| i128::from(score.units())).collect();
    for &at in left_out {
        if let Some(part) = parts.get_mut(at) {
            *part = 0;
        }
    }
    let sum = parts.iter().sum();
    // Below 2^63 times 2^50.
    parts.iter_mut().for_each(|part| *part *= i128::from(total));
    apportion(total, &parts, sum).into_iter().map(Score::from_units).collect()
}

/// Shares as whole numbers that sum to `total`, by largest remainder (Hamilton's method); shares may be of any size. All
/// zero where no share is above zero.
///
/// # Errors
/// If shares are below zero: every one.
pub fn whole_shares(shares: &[Score], total: u32) -> Result<Vec<u32>, Vec<ShareError>> {
    refuse_negative(shares)?;
    let whole = proportional(shares, &[], i64::from(total));
    Ok(whole.into_iter().map(|share| u32::try_from(share.units()).unwrap_or(total)).collect())
}

/// Shares as the chain takes them: the largest is 65,535, the others in proportion, ties to even; zero where a share is less
/// than half a unit. They have no fixed sum. All zero where no share is above zero.
///
/// # Errors
/// If shares are below zero: every one.
pub fn sixteen_bit_shares(shares: &[Score]) -> Result<Vec<u16>, Vec<ShareError>> {
    refuse_negative(shares)?;
    let largest = shares.iter().map(|share| i128::from(share.units())).max().unwrap_or_default().max(1);
    let scaled = |share: &Score| round_ratio(i128::from(share.units()) * i128::from(u16::MAX), largest);
    Ok(shares.iter().map(|share| u16::try_from(scaled(share)).unwrap_or(u16::MAX)).collect())
}

fn refuse_negative(shares: &[Score]) -> Result<(), Vec<ShareError>> {
    let negative = shares.iter().enumerate().filter(|(_, share)| **share < Score::ZERO);
    let errors: Vec<ShareError> = negative.map(|(at, &score)| ShareError::Negative { at, score }).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Returns true if shares are to be handed in again: when at least `tempo_blocks` and at least `rate_limit_blocks`
/// have passed since the last time. A chain that is behind its own last time is not due.
pub const fn is_due(current_block: u64, last_block: u64, tempo_blocks: u64, rate_limit_blocks: u64) -> bool {
    match current_block.checked_sub(last_block) {
        Some(passed) => passed >= tempo_blocks && passed >= rate_limit_blocks,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn of(scores: &[Score], rules: ShareRules) -> Shares {
        shares(scores, &rules).unwrap()
    }

    fn sum(shares: &[Score]) -> i64 {
        shares.iter().map(|share| share.units()).sum()
    }

    #[test]
    fn the_largest_of_all_scores_do_not_overflow() {
        let scores = vec![Score::from_units(i64::MAX); 300];
        let shared = of(&scores, ShareRules::default());
        assert_eq!(sum(&shared.shares), UNITS_PER_ONE);
        assert_eq!(sixteen_bit_shares(&scores).unwrap(), vec![u16::MAX; 300]);
        assert_eq!(
            whole_shares(&scores, u32::MAX).unwrap().iter().map(|&share| u64::from(share)).sum::<u64>(),
            u64::from(u32::MAX)
        );
        assert_eq!(sixteen_bit_shares(&[Score::ZERO]), Ok(vec![0]));
        assert_eq!(whole_shares(&[], 10), Ok(vec![]));
    }

    #[test]
    fn many_subjects_take_no_time_out_of_proportion() {
        let scores: Vec<Score> =
            (0..100_000).map(|at| Score::from_units(1_000_003 + at * at % 7919)).collect();
        assert_eq!(sum(&of(&scores, ShareRules::default()).shares), UNITS_PER_ONE);
    }
}
