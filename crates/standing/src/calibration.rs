//! Difficulty of a challenge from the matches played on it (arena rules, "Difficulty calibration").

use alloc::vec::Vec;

use super::ratio::Ratio;
use karat_core::number::Decimal;
pub use karat_core::scorecard::{CalibrationRules, CalibrationStep, Difficulty};

/// Returns the difficulty that these rates mean; none with too few completed matches. `current` is the calibrated
/// difficulty so far, which stays where the rates have not passed a threshold by the margin.
pub fn difficulty(
    rules: &CalibrationRules,
    win_rate: Decimal,
    completion_rate: Decimal,
    completed: u64,
    current: Option<Difficulty>,
) -> Option<Difficulty> {
    if completed < rules.completed_min {
        return None;
    }
    // With the thresholds `raised`, how hard is it?
    let by = |raised: i64| {
        let reaches = |rate: Decimal, threshold: Decimal| {
            i128::from(rate.millionths()) >= i128::from(threshold.millionths()) + i128::from(raised)
        };
        let meets = |step: &&CalibrationStep| {
            reaches(win_rate, step.win_rate) && reaches(completion_rate, step.completion_rate)
        };
        rules.steps.iter().find(meets).map_or(Difficulty::Legendary, |step| step.difficulty)
    };
    let margin = rules.margin.millionths().saturating_abs();
    Some(match current {
        None => by(0),
        // It becomes easier only by raised thresholds, harder only by lowered ones.
        Some(current) => current.min(by(margin)).max(by(-margin)),
    })
}

/// Returns the difficulty that these counts mean, by their rates to three places, halves up: wins among `completed`, completed
/// among `all`.
pub(crate) fn difficulty_of_counts(
    rules: &CalibrationRules,
    wins: u64,
    completed: u64,
    all: u64,
    current: Option<Difficulty>,
) -> Option<Difficulty> {
    difficulty(rules, rate(wins, completed), rate(completed, all), completed, current)
}

/// Calibrates a challenge by all matches ever played on it; `time_limit_seconds` limits one match.
pub fn calibrate(
    rules: &CalibrationRules,
    matches: &[PlayedMatch],
    time_limit_seconds: Decimal,
    current: Option<Difficulty>,
) -> Calibration {
    let completed = || matches.iter().filter(|played| played.is_completed);
    let count = |list: &mut dyn Iterator<Item = &PlayedMatch>| list.count() as u64;
    let (all, finished) = (matches.len() as u64, count(&mut completed()));
    let wins = count(&mut completed().filter(|played| played.is_win));
    let win_rate = rate(wins, finished);
    let completion_rate = rate(finished, all);
    let mut points: Vec<i64> = completed().filter_map(|played| played.points).collect();
    points.sort_unstable();
    let durations: Vec<Decimal> = completed().filter_map(|played| played.duration_seconds).collect();
    let seconds: i128 = durations.iter().map(|duration| i128::from(duration.millionths())).sum();
    let limits = i128::from(time_limit_seconds.millionths()).checked_mul(durations.len() as i128);
    Calibration {
        difficulty: difficulty_of_counts(rules, wins, finished, all, current),
        matches: all,
        completed: finished,
        wins,
        scored: points.len() as u64,
        timed: durations.len() as u64,
        win_rate,
        completion_rate,
        median_points: median_half_up(&points),
        time_utilization: limits.and_then(|limits| Ratio::new(seconds, limits)).map(thousandths),
    }
}

/// The facts of a match that calibration reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayedMatch {
    /// True if it was played to its end. What expired or still runs counts among the matches, and for nothing else.
    pub is_completed: bool,
    /// True if it was won.
    pub is_win: bool,
    /// Its published score, in points.
    pub points: Option<i64>,
    /// The duration.
    pub duration_seconds: Option<Decimal>,
}

/// A difficulty and the counts that led to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calibration {
    /// The difficulty; none with too few completed matches.
    pub difficulty: Option<Difficulty>,
    /// All matches.
    pub matches: u64,
    /// Matches played to their end: the sample.
    pub completed: u64,
    /// The number of them that were won.
    pub wins: u64,
    /// Completed matches with a score.
    pub scored: u64,
    /// Completed matches with a duration.
    pub timed: u64,
    /// Wins among completed matches, rounded to three places, halves up, before it is compared; 0 with none.
    pub win_rate: Decimal,
    /// Completed among all matches, rounded likewise; 0 with none.
    pub completion_rate: Decimal,
    /// The median score of completed matches; of two in the middle their mean, halves up. For people: it decides nothing.
    pub median_points: Option<i64>,
    /// Mean duration over the time limit, rounded likewise; none without a limit or a duration. For people: it decides
    /// nothing.
    pub time_utilization: Option<Decimal>,
}

fn rate(part: u64, whole: u64) -> Decimal {
    Ratio::new(i128::from(part), i128::from(whole)).map_or(Decimal::ZERO, thousandths)
}

/// Rounds to three places, halves up.
fn thousandths(ratio: Ratio) -> Decimal {
    let (numerator, denominator) = (ratio.numerator(), ratio.denominator());
    let doubled = numerator.checked_mul(2000).and_then(|doubled| doubled.checked_add(denominator));
    let rounded = doubled.zip(denominator.checked_mul(2)).map_or(0, |(above, below)| above.div_euclid(below));
    Decimal::from_millionths(i64::try_from(rounded).unwrap_or(i64::MAX).saturating_mul(1000))
}

/// Returns the median of sorted whole numbers; of two in the middle their mean, halves up.
fn median_half_up(sorted: &[i64]) -> Option<i64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    if !sorted.len().is_multiple_of(2) {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    let mean = (i128::from(lower) + i128::from(upper) + 1).div_euclid(2);
    i64::try_from(mean).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn won(points: i64) -> PlayedMatch {
        PlayedMatch {
            is_completed: true,
            is_win: true,
            points: Some(points),
            duration_seconds: Some(seconds(30)),
        }
    }

    fn seconds(seconds: i64) -> Decimal {
        Decimal::from_millionths(seconds * 1_000_000)
    }

    fn millionths(value: i64) -> Decimal {
        Decimal::from_millionths(value)
    }

    #[test]
    fn the_counts_stand_beside_the_difficulty() {
        let lost = PlayedMatch { is_win: false, ..won(101) };
        let expired =
            PlayedMatch { is_completed: false, is_win: false, points: None, duration_seconds: None };
        let mut matches = vec![won(900); 13];
        matches.extend([lost; 7]);
        matches.push(expired);
        let found = calibrate(&CalibrationRules::default(), &matches, seconds(60), None);
        assert_eq!((found.matches, found.completed, found.wins), (21, 20, 13));
        assert_eq!((found.win_rate, found.completion_rate), (millionths(650_000), millionths(952_000)));
        assert_eq!(found.difficulty, Some(Difficulty::Newcomer));
        assert_eq!((found.median_points, found.time_utilization), (Some(900), Some(millionths(500_000))));
    }

    #[test]
    fn a_rate_is_rounded_before_it_is_compared() {
        // 1299 of 2000 is 0.6495: up, and at the threshold.
        let mut matches = vec![won(800); 1299];
        matches.extend(vec![PlayedMatch { is_win: false, ..won(0) }; 701]);
        let found = calibrate(&CalibrationRules::default(), &matches, seconds(60), None);
        assert_eq!(found.win_rate, millionths(650_000));
        assert_eq!(found.difficulty, Some(Difficulty::Newcomer));
    }

    #[test]
    fn nothing_played_and_no_limit_divide_by_nothing() {
        let none = calibrate(&CalibrationRules::default(), &[], seconds(60), None);
        assert_eq!((none.win_rate, none.difficulty, none.median_points), (Decimal::ZERO, None, None));
        assert_eq!(none.time_utilization, None);
        let unlimited = calibrate(&CalibrationRules::default(), &[won(5)], Decimal::ZERO, None);
        assert_eq!(unlimited.time_utilization, None);
    }

    #[test]
    fn a_median_between_two_is_rounded_up() {
        assert_eq!(median_half_up(&[1, 2]), Some(2));
        assert_eq!(median_half_up(&[i64::MAX, i64::MAX]), Some(i64::MAX));
        assert_eq!(median_half_up(&[i64::MIN, i64::MIN]), Some(i64::MIN));
    }

    #[test]
    fn a_margin_keeps_a_difficulty_at_a_threshold() {
        let rules = CalibrationRules { margin: millionths(20_000), ..CalibrationRules::default() };
        let at = |win, current| difficulty(&rules, millionths(win), millionths(900_000), 50, current);
        assert_eq!(at(640_000, Some(Difficulty::Newcomer)), Some(Difficulty::Newcomer));
        assert_eq!(at(629_000, Some(Difficulty::Newcomer)), Some(Difficulty::Contender));
        assert_eq!(at(660_000, Some(Difficulty::Contender)), Some(Difficulty::Contender));
        assert_eq!(at(670_000, Some(Difficulty::Contender)), Some(Difficulty::Newcomer));
        assert_eq!(
            at(640_000, None),
            Some(Difficulty::Contender),
            "the first calibration has nothing to keep"
        );
    }

    proptest! {
        #[test]
        fn more_wins_never_make_it_harder(win in 0i64..=1_000_000, more in 0i64..100_000, completion in 0i64..=1_000_000) {
            let rules = CalibrationRules::default();
            let at = |win| difficulty(&rules, millionths(win), millionths(completion), 20, None);
            prop_assert!(at(win + more) <= at(win));
        }
    }
}
