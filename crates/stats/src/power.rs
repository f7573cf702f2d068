//! The number of tasks that a paired comparison needs to see a difference, and the smallest that its tasks can show.
//!
//! For a mean of paired differences that spread by `spread`, tested at a level on both sides: `n = (z + w)^2 spread^2 /
//! difference^2 + z^2 / 2`, where `z` is the normal quantile of the level and `w` that of the power. The last term makes up
//! for Student's t: Guenther, "Sample size formulas for normal theory t tests", The American Statistician 35 (1981).

use super::special::normal_quantile;
use super::{StatisticsError, outside};

/// The chance to see a difference that is there, where no other is asked for: Cohen, "Statistical power analysis for the
/// behavioral sciences" (1988), section 2.4.
pub const POWER: f64 = 0.8;

/// Returns the normal quantiles of a level on both sides, and of a power.
fn quantiles(level: f64, power: f64) -> Result<(f64, f64), StatisticsError> {
    let tail = outside(level)? / 2.0;
    outside(power)?;
    Ok((-normal_quantile(tail), normal_quantile(power)))
}

/// Returns how many tasks are needed to see a mean difference of this size (its sign does not matter) with the chance
/// `power`, if differences spread by the deviation `spread`. None for a difference or a spread of 0, and for more than 10^15.
///
/// # Errors
/// If `level` or `power` is not between 0 and 1.
pub fn tasks_needed(
    spread: f64,
    difference: f64,
    level: f64,
    power: f64,
) -> Result<Option<u64>, StatisticsError> {
    let (z, w) = quantiles(level, power)?;
    let ratio = (z + w).max(0.0) * spread / difference.abs();
    let tasks = libm::ceil(ratio * ratio + z * z / 2.0);
    let is_known = spread > 0.0 && difference != 0.0 && tasks < 1e15;
    Ok(is_known.then_some((tasks as u64).max(2)))
}

/// Returns how many tasks are needed to show, with the chance `power`, that what does not differ on average is not worse by
/// `margin`, by the bound of [`super::compare::Differences::bound`]: beside the tasks that were seen it weighs one that is lost
/// entirely, by an exponential variable. That and the normal sum of the others come to about `1 + sqrt(z^2 spread^2 n + e^2)` at
/// the level, exactly where there is only one of them. None for a margin of 0, and for more than 10^15.
///
/// # Errors
/// If `level` or `power` is not between 0 and 1.
pub fn tasks_not_worse(
    spread: f64,
    margin: f64,
    level: f64,
    power: f64,
) -> Result<Option<u64>, StatisticsError> {
    let (z, w) = quantiles(level, power)?;
    let alone = -libm::log(outside(level)? / 2.0) - 1.0;
    let is_shown = |tasks: u64| {
        let deviation = spread * libm::sqrt(tasks as f64);
        tasks as f64 * margin >= w.max(0.0) * deviation + 1.0 + libm::hypot(z * deviation, alone)
    };
    let (mut low, mut high) = (2, 1_000_000_000_000_000);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_shown(middle) { high = middle } else { low = middle + 1 }
    }
    Ok((margin > 0.0 && is_shown(low)).then_some(low))
}

/// Returns how many tasks are needed so that, with the chance `power`, at least `fewest` of them differ, if the share
/// `differing` of all tasks does: by the normal approximation of the binomial distribution, with its correction for
/// continuity. None if none differs, and for more than 10^15.
///
/// # Errors
/// If `power` is not between 0 and 1.
pub fn tasks_to_differ(differing: f64, fewest: u64, power: f64) -> Result<Option<u64>, StatisticsError> {
    outside(power)?;
    let is_known = differing > 0.0 && differing <= 1.0;
    let w = normal_quantile(power).max(0.0);
    let spread = w * libm::sqrt(differing * (1.0 - differing));
    // `differing n - spread sqrt(n) = fewest - 1/2`, solved for the root of n.
    let root =
        (spread + libm::sqrt(spread * spread + 4.0 * differing * (fewest as f64 - 0.5))) / (2.0 * differing);
    let tasks = libm::ceil(root * root);
    Ok((is_known && tasks < 1e15).then_some((tasks as u64).max(fewest)))
}

/// Returns the smallest mean difference that this many tasks show with the chance `power`: the other way of
/// [`tasks_needed`]. None for a spread of 0, and for so few tasks that they show none at this level.
///
/// # Errors
/// If `level` or `power` is not between 0 and 1.
pub fn smallest_difference(
    spread: f64,
    tasks: u64,
    level: f64,
    power: f64,
) -> Result<Option<f64>, StatisticsError> {
    let (z, w) = quantiles(level, power)?;
    let left = tasks as f64 - z * z / 2.0;
    let is_known = spread > 0.0 && left > 0.0 && tasks > 1;
    Ok(is_known.then(|| (z + w).max(0.0) * spread / libm::sqrt(left)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_numbers_of_the_tables() {
        // Exact for the paired t-test at 5 % on both sides and a power of 80 %, by effect size: 34, 52, 90 and 199 (Cohen 1988
        // and G*Power).
        for (effect, tasks) in [(0.5, 34), (0.4, 52), (0.315, 82), (0.2, 199)] {
            let found = tasks_needed(1.0, effect, 0.95, 0.8).unwrap().unwrap();
            assert!(found.abs_diff(tasks) <= 1, "{effect}: {found}");
        }
    }

    #[test]
    fn as_many_tasks_differ_as_the_binomial_distribution_says() {
        for share in [0.05, 0.2, 0.5, 0.9] {
            let tasks = tasks_to_differ(share, 6, 0.9).unwrap().unwrap();
            // The chance that fewer than six of this many tasks differ.
            let fewer = |tasks: u64| {
                let (mut term, mut below) = (libm::pow(1.0 - share, tasks as f64), 0.0);
                for count in 0..6 {
                    below += term;
                    term *= (tasks - count) as f64 / (count + 1) as f64 * share / (1.0 - share);
                }
                below
            };
            // One task of a few is a large step.
            let (below, before) = (fewer(tasks), fewer(tasks - 1));
            assert!(below < 0.15 && before > 0.05, "{share}: {tasks} {below} {before}");
        }
        assert_eq!(tasks_to_differ(0.0, 6, 0.9), Ok(None));
    }

    #[test]
    fn a_bound_leaves_room_for_what_was_not_seen() {
        // Of tasks that are all equal, exactly ln(.025) / ln(1 - margin): 6, 17, 101 and 368.
        for (margin, tasks) in [(0.5, 8), (0.2, 19), (0.036, 103), (0.01, 369)] {
            assert_eq!(tasks_not_worse(0.0, margin, 0.95, 0.8), Ok(Some(tasks)), "{margin}");
        }
        // Of tasks that spread far it is about the number of the t-test.
        let (own, other) = (tasks_not_worse(1.0, 0.05, 0.95, 0.8), tasks_needed(1.0, 0.05, 0.95, 0.8));
        let (own, other) = (own.unwrap().unwrap() as f64, other.unwrap().unwrap() as f64);
        assert!((1.0..1.03).contains(&(own / other)), "{own} {other}");
        assert_eq!(tasks_not_worse(0.1, 0.0, 0.95, 0.8), Ok(None));
        assert_eq!(tasks_not_worse(0.1, 1e-300, 0.95, 0.8), Ok(None));
        assert!(tasks_not_worse(0.1, 0.1, 1.0, 0.8).is_err());
    }

    #[test]
    fn nothing_is_said_without_a_spread() {
        assert_eq!(tasks_needed(0.0, 0.1, 0.95, 0.8), Ok(None));
        assert_eq!(tasks_needed(0.1, 0.0, 0.95, 0.8), Ok(None));
        assert_eq!(tasks_needed(0.5, 1e-12, 0.95, 0.8), Ok(None));
        assert_eq!(smallest_difference(0.5, 1, 0.95, 0.8), Ok(None));
        assert_eq!(smallest_difference(0.0, 50, 0.95, 0.8), Ok(None));
        assert!(tasks_needed(0.5, 0.1, 1.0, 0.8).is_err() && smallest_difference(0.5, 9, 0.9, 0.0).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn one_is_the_other_way_round(spread in 0.01f64..1.0, tasks in 6u64..100_000, level in 0.5f64..0.999) {
            let smallest = smallest_difference(spread, tasks, level, POWER).unwrap();
            if let Some(smallest) = smallest {
                let needed = tasks_needed(spread, smallest, level, POWER).unwrap().unwrap();
                prop_assert!(needed.abs_diff(tasks) <= 1, "{needed} {tasks}");
                let more = tasks_needed(spread, smallest / 2.0, level, POWER).unwrap().unwrap();
                prop_assert!(more > tasks);
            }
        }
    }
}
