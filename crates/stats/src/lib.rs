//! Statistics of many scores: estimates with their intervals, comparisons, and how much a rank depends on the rule.
//!
//! All are pure functions of their arguments. Scores are whole billionths ([`karat_core::number`]), so that means of items do
//! not depend on their order; shares, intervals and correlations are doubles, computed in a fixed order with `libm`.
//! Random numbers come from [`random`], by a seed that is in the result beside how many were drawn; no interval and no
//! comparison needs any.
//!
//! | module | contents |
//! |---|---|
//! | [`random`] | a seeded generator that gives the same numbers on every machine |
//! | [`proportion`] | a share with its interval: Wilson, Clopper-Pearson |
//! | [`trials`] | pass@k, pass^k and best-of-k from repeated trials of a task |
//! | [`attempts`] | the same from numbered attempts, as the arena document counts them; learning curve |
//! | [`distribution`] | middle, spread and shape of scores; what happened at a challenge |
//! | [`table`], [`estimate`] | results by subject and task; means over tasks with their intervals |
//! | [`cases`] | results that are themselves shares of a number of cases |
//! | [`compare`], [`verdicts`] | two subjects on the same tasks: which is ahead, or not distinguishable; all pairs |
//! | [`power`] | how many tasks a comparison needs, and what its tasks can show |
//! | [`permutation`] | two groups of attempts at one task: whether they differ by more than chance |
//! | [`agreement`] | raters of the same items, and the errors and biases of a judge |
//! | [`prediction`] | means from few labels and many verdicts of a judge, valid though it errs |
//! | [`trend`] | the nights of one subject: an alarm that is rarely ever false, and what has changed |
//! | [`ranks`], [`letters`], [`leaderboard`] | ranks, their ranges, letters for ties |
//! | [`means`] | ranks of very many subjects by their means |
//! | [`outcome`] | what each kind of ending counts as, and whether the ranking depends on it |
//! | [`composite`], [`robustness`] | composites under other weights, dimensions and means, and what becomes of the ranks |
//! | [`correlation`], [`drivers`] | what moves together, and what really moves the composite |
//! | [`influence`] | the fewest items whose removal changes who is first |
//! | [`tasks`] | the tasks themselves: difficulty, what they decide, wrong keys, which could be left out |
//! | [`flaky`] | tasks whose outcome changes while nothing changed; what retries hide |
//! | [`front`] | quality against cost: the Pareto front, the cost of a solved task |
//! | [`tune`] | weights that predict an outcome, judged on cases that they have not seen |

#![no_std]
#![warn(unreachable_pub)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod agreement;
pub mod attempts;
pub mod cases;
pub mod compare;
pub mod composite;
pub mod correlation;
pub mod distribution;
pub mod drivers;
pub mod estimate;
pub mod flaky;
mod flips;
mod fractions;
pub mod front;
mod gaffke;
pub mod influence;
pub mod leaderboard;
pub mod letters;
mod mean;
pub mod means;
pub mod outcome;
pub mod permutation;
pub mod power;
pub mod prediction;
pub mod proportion;
pub mod random;
pub mod ranks;
pub mod rating;
pub mod robustness;
mod special;
pub mod table;
pub mod tasks;
pub mod trend;
pub mod trials;
pub mod tune;
pub mod verdicts;

/// A range that covers what is estimated in `level` of all cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, not below `low`.
    pub high: f64,
    /// The confidence, above 0 and below 1: 0.95 for 95 %.
    pub level: f64,
    /// The method that gave the ends.
    pub method: IntervalMethod,
}

karat_core::words! {
    /// The method of an interval.
    pub enum IntervalMethod {
        /// Score interval of a share ([`proportion::Proportion::wilson`]), or of a sum or difference of shares ([`cases`]).
        Wilson = "wilson",
        /// Exact interval of a share: Clopper and Pearson, Biometrika 26 (1934).
        ClopperPearson = "clopper-pearson",
        /// Gaffke's bound on a mean of values of which only the range is known ([`estimate`]).
        Gaffke = "gaffke",
        /// The differences that a permutation test of signs does not reject ([`compare`]).
        SignFlip = "sign-flip",
        /// Student's t interval over tasks of the `atanh` of a coefficient from -1 to 1 ([`agreement`]).
        FisherZ = "fisher-z",
        /// Standard errors over tasks times the quantile of Student's t ([`agreement`], [`prediction`]).
        ClusterT = "cluster-t",
        /// Standard errors times the quantile of the normal distribution ([`prediction`]).
        Normal = "normal",
        /// Interval of the logarithm of a ratio of two means ([`front`]).
        LogRatio = "log-ratio",
        /// Intervals that hold at once whenever they are looked at ([`trend::ConfidenceSequence`]).
        Betting = "betting",
        /// The slopes that a test of Kendall's rank correlation does not reject ([`trend::Slope`]).
        TheilSen = "theil-sen",
    }
}

/// The reason why there is no answer: what was found, what was expected, how to fix it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// A confidence that is not between 0 and 1.
    #[error("the confidence is {found}, expected a number above 0 and below 1, such as 0.95")]
    Level {
        /// The confidence given.
        found: f64,
    },
    /// Too few resamples for the ends of an interval at this confidence.
    #[error("{found} resamples are too few for this confidence, expected {needed} or more")]
    Draws {
        /// The number that was asked for.
        found: u32,
        /// The number that is needed.
        needed: u32,
    },
    /// A concentration of drawn weights that is not above 0 and finite.
    #[error("the concentration of the weights is {found}, expected a number above 0, such as 100")]
    Concentration {
        /// The concentration given.
        found: f64,
    },
    /// Too few of something to estimate from.
    #[error("found {found} {}, expected {needed} or more", counted(what, *found))]
    TooFew {
        /// The thing that is too few, such as `tasks`.
        what: &'static str,
        /// Number of there that are.
        found: usize,
        /// The number that is needed.
        needed: usize,
    },
    /// More of something than can be counted exactly.
    #[error("found {found} {what}, expected {most} at most")]
    TooMany {
        /// The thing that is too many, such as `tasks`.
        what: &'static str,
        /// Number of there that are.
        found: u64,
        /// Number of there that may be.
        most: u64,
    },
    /// A row that cannot be used.
    #[error("row {row}: the {part} is {found}, expected {expected}")]
    Row {
        /// Its index in the slice given.
        row: usize,
        /// The part of it, such as `value`.
        part: &'static str,
        /// The value found.
        found: i64,
        /// The expected value.
        expected: &'static str,
    },
    /// A row with a number that cannot be used.
    #[error("row {row}: the {part} is {found}, expected {expected}")]
    Value {
        /// Its index in the slice given.
        row: usize,
        /// The part of it, such as `label`.
        part: &'static str,
        /// The number found.
        found: f64,
        /// The expected number.
        expected: &'static str,
    },
    /// Two rows with the same identity.
    #[error("rows {first} and {second} are both {what}; keep one of them")]
    Twice {
        /// The thing that is given twice, such as `attempt 2 of a subject`.
        what: &'static str,
        /// The index of the first.
        first: usize,
        /// The index of the second.
        second: usize,
    },
}

/// Returns the share of cases outside of an interval, 1 - `level`.
fn outside(level: f64) -> Result<f64, StatisticsError> {
    if level > 0.0 && level < 1.0 { Ok(1.0 - level) } else { Err(StatisticsError::Level { found: level }) }
}

/// Returns a noun in the plural, or for one in the singular if it is the first word.
fn counted(what: &str, found: usize) -> alloc::string::String {
    let (noun, rest) = what.split_at(what.find(' ').unwrap_or(what.len()));
    match noun.strip_suffix('s').filter(|_| found == 1) {
        Some(one) => alloc::format!("{one}{rest}"),
        None => what.into(),
    }
}
