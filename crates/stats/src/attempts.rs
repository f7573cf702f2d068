//! Metrics of numbered attempts of many subjects at one challenge, the score of a track of challenges, and the direction
//! of recent scores, as the arena document counts them.
//!
//! They look at the first attempts only, so a subject that tries more often gains nothing. An attempt that was entered and
//! never finished keeps its number: give the finished ones, and leave the number of the other out.

use alloc::vec::Vec;

use super::StatisticsError;
use super::proportion::{Proportion, half_up};
use karat_core::number::{Decimal, MILLION};

/// A finished attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// The subject: any number that identifies it.
    pub subject: usize,
    /// The how manieth attempt of the subject at this challenge, from 1.
    pub number: u32,
    /// Whole points.
    pub points: u32,
    /// True if it was a win.
    pub won: bool,
}

/// Checked attempts, in the order of subjects and numbers.
#[derive(Debug, Clone)]
pub struct Attempts {
    ordered: Vec<Attempt>,
}

/// With fewer subjects than this, best-of-k and pass^k over the first attempts are not shown.
pub const FEWEST_SUBJECTS: u64 = 3;

/// The subjects whose best counts in [`Attempts::best_of_first_k`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eligible {
    /// All who made one of the first k attempts: what the arena computes. Fewer attempts mean fewer chances.
    Any,
    /// Only those who made all of the first k attempts: what the arena's guide says.
    All,
}

/// A sum of points over some subjects or attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanPoints {
    /// The sum of the points.
    pub sum: u64,
    /// Number of values that were added.
    pub count: u64,
}

impl MeanPoints {
    /// Adds up points.
    pub fn of(points: impl IntoIterator<Item = u32>) -> Self {
        points.into_iter().fold(Self::default(), |mean, points| Self {
            sum: mean.sum.saturating_add(u64::from(points)),
            count: mean.count + 1,
        })
    }

    /// Returns the mean to one place, half up; none without points.
    pub fn mean(self) -> Option<Decimal> {
        half_up(i128::from(self.sum), i128::from(self.count), 1)
    }
}

impl Attempts {
    /// Checks and orders attempts, given in any order.
    ///
    /// # Errors
    /// If an attempt has the number 0, or a subject has two attempts of one number.
    pub fn new(attempts: &[Attempt]) -> Result<Self, StatisticsError> {
        let mut places: Vec<usize> = (0..attempts.len()).collect();
        let key = |&place: &usize| attempts.get(place).map(|attempt| (attempt.subject, attempt.number));
        places.sort_by_key(key);
        if let Some(row) = attempts.iter().position(|attempt| attempt.number == 0) {
            let expected = "a number from 1 on";
            return Err(StatisticsError::Row { row, part: "number of the attempt", found: 0, expected });
        }
        for pair in places.windows(2) {
            if let &[first, second] = pair
                && key(&first) == key(&second)
            {
                return Err(StatisticsError::Twice {
                    what: "the same attempt of one subject",
                    first,
                    second,
                });
            }
        }
        Ok(Self { ordered: places.iter().filter_map(|&place| attempts.get(place).copied()).collect() })
    }

    /// Returns how many subjects made attempts.
    pub fn subjects(&self) -> usize {
        self.by_subject().count()
    }

    /// Returns pass@1: of the subjects with a first attempt, those that won it.
    pub fn pass_at_1(&self) -> Proportion {
        Proportion::of(self.ordered.iter().filter(|attempt| attempt.number == 1).map(|attempt| attempt.won))
    }

    /// Returns pass^k in the arena's form: of the subjects that made all of the first `k` attempts, those that won
    /// every one.
    ///
    /// The arena shows it for [`FEWEST_SUBJECTS`] such subjects or more ([`enough`]). It is another quantity than
    /// [`super::trials::Trials::pass_hat_k`], which uses every trial, and whose unit is the task.
    pub fn pass_hat_first_k(&self, k: u32) -> Proportion {
        let complete = self.first(k).filter(|first| first.len() as u64 == u64::from(k) && k > 0);
        Proportion::of(complete.map(|first| first.iter().all(|attempt| attempt.won)))
    }

    /// Returns best-of-k: the highest points of each subject among its first `k` attempts, for the mean over the
    /// subjects.
    ///
    /// The arena shows it for [`FEWEST_SUBJECTS`] such subjects or more.
    pub fn best_of_first_k(&self, k: u32, eligible: Eligible) -> MeanPoints {
        let counted = self.first(k).filter(|first| match eligible {
            Eligible::Any => true,
            Eligible::All => first.len() as u64 == u64::from(k),
        });
        MeanPoints::of(counted.filter_map(|first| first.iter().map(|attempt| attempt.points).max()))
    }

    /// Returns the learning curve: the points of all first attempts, of all second ones, and so on to the attempt `last`.
    pub fn learning_curve(&self, last: u16) -> Vec<MeanPoints> {
        let mut curve = alloc::vec![MeanPoints::default(); usize::from(last)];
        for attempt in &self.ordered {
            let place = usize::try_from(attempt.number - 1).ok().and_then(|at| curve.get_mut(at));
            if let Some(mean) = place {
                mean.sum = mean.sum.saturating_add(u64::from(attempt.points));
                mean.count += 1;
            }
        }
        curve
    }

    fn by_subject(&self) -> impl Iterator<Item = &[Attempt]> {
        self.ordered.chunk_by(|a, b| a.subject == b.subject)
    }

    /// Returns, by subject, the attempts numbered 1 to `k`, if there are any.
    fn first(&self, k: u32) -> impl Iterator<Item = &[Attempt]> {
        let first = move |all: &'_ [Attempt]| all.partition_point(|attempt| attempt.number <= k);
        self.by_subject().filter_map(move |all| all.get(..first(all))).filter(|first| !first.is_empty())
    }
}

/// Returns a figure over `subjects`, withheld if they are fewer than [`FEWEST_SUBJECTS`].
pub fn enough<T>(figure: Option<T>, subjects: u64) -> Option<T> {
    figure.filter(|_| subjects >= FEWEST_SUBJECTS)
}

/// The rule by which the best scores of a track become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrackMethod {
    /// The sum of them.
    Sum,
    /// The mean of them.
    Average,
    /// The lowest of them.
    Min,
}

/// Returns the score of a track in points, from the best scores of one subject; 0 without scores. Challenges without a
/// best score do not count, so a subject that attempts only what it is good at has a higher mean.
pub fn track_score(best: impl IntoIterator<Item = Decimal>, method: TrackMethod) -> f64 {
    let (mut sum, mut count, mut lowest) = (0i128, 0u64, None::<Decimal>);
    for points in best {
        sum += i128::from(points.millionths());
        count += 1;
        lowest = Some(lowest.map_or(points, |lowest| lowest.min(points)));
    }
    // One division of whole numbers, so one rounding.
    match method {
        TrackMethod::Sum => sum as f64 / MILLION as f64,
        TrackMethod::Average if count == 0 => 0.0,
        TrackMethod::Average => sum as f64 / (count as f64 * MILLION as f64),
        TrackMethod::Min => lowest.map_or(0.0, Decimal::to_f64),
    }
}

/// Number of scores that are looked at.
pub const WINDOW: usize = 3;
/// Scores that lie no further apart than this many points make a plateau.
pub const PLATEAU_POINTS: Decimal = Decimal::from_millionths(50_000_000);

karat_core::words! {
    /// The direction of recent scores. It does not say whether the direction could be chance.
    pub enum Trend {
        /// No score is below the one before.
        Improving = "improving",
        /// No score is above the one before.
        Declining = "declining",
        /// The scores are close together, or go up and down.
        Plateau = "plateau",
    }
}

/// Returns the direction of the last [`WINDOW`] of `scores` (points, oldest first); none of fewer than two scores.
///
/// Scores within [`PLATEAU_POINTS`] are a plateau, whatever their order.
pub fn score_trend(scores: &[Decimal]) -> Option<Trend> {
    if scores.len() < 2 {
        return None;
    }
    let recent = scores.get(scores.len().saturating_sub(WINDOW)..)?;
    let (lowest, highest) = (recent.iter().min()?, recent.iter().max()?);
    let is_close =
        highest.millionths().abs_diff(lowest.millionths()) <= PLATEAU_POINTS.millionths().unsigned_abs();
    Some(if is_close {
        Trend::Plateau
    } else if recent.is_sorted() {
        Trend::Improving
    } else if recent.iter().rev().is_sorted() {
        Trend::Declining
    } else {
        Trend::Plateau
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(subject: usize, number: u32, points: u32) -> Attempt {
        Attempt { subject, number, points, won: points >= 700 }
    }

    #[test]
    fn an_attempt_that_stands_twice_is_refused() {
        let list = [attempt(4, 2, 1), attempt(5, 2, 1), attempt(4, 2, 900)];
        let refused = Attempts::new(&list).unwrap_err();
        assert_eq!(
            alloc::format!("{refused}"),
            "rows 0 and 2 are both the same attempt of one subject; keep one of them"
        );
        let refused = Attempts::new(&[attempt(1, 0, 1)]).unwrap_err();
        assert!(alloc::format!("{refused}").starts_with("row 0: the number of the attempt is 0"));
    }

    #[test]
    fn few_subjects_are_withheld() {
        assert_eq!((enough(Some(1), 2), enough(Some(1), 3)), (None, Some(1)));
        assert_eq!(MeanPoints { sum: 1294, count: 2 }.mean().unwrap().to_f64(), 647.0);
        assert_eq!(MeanPoints { sum: 9_761, count: 20 }.mean().unwrap().to_f64(), 488.1, "488.05, half up");
    }

    #[test]
    fn directions() {
        let trend = |points: &[i64]| {
            let points: Vec<Decimal> =
                points.iter().map(|p| Decimal::from_millionths(p * 1_000_000)).collect();
            score_trend(&points)
        };
        assert_eq!(trend(&[]), None);
        assert_eq!(trend(&[700, 750]), Some(Trend::Plateau), "50 apart is close");
        assert_eq!(trend(&[700, 751]), Some(Trend::Improving));
        assert_eq!(trend(&[751, 751, 700]), Some(Trend::Declining));
        assert_eq!(trend(&[100, 900, 100]), Some(Trend::Plateau), "up and down");
        assert_eq!(trend(&[1000, 100, 500, 500]), Some(Trend::Improving), "the first is too old");
        let extreme = [Decimal::from_millionths(i64::MIN), Decimal::from_millionths(i64::MAX)];
        assert_eq!(score_trend(&extreme), Some(Trend::Improving));
    }

    #[test]
    fn the_score_of_a_track_is_rounded_once() {
        let best = [800, 600, 701].map(|points| Decimal::from_millionths(points * 1_000_000));
        let scores =
            [TrackMethod::Sum, TrackMethod::Average, TrackMethod::Min].map(|it| track_score(best, it));
        assert_eq!(scores, [2101.0, 2101.0 / 3.0, 600.0]);
        assert_eq!(track_score([], TrackMethod::Average), 0.0);
    }
}
