//! Comparisons of numbers: tolerance, time, calls, coverage.

use super::{Grade, Listing, Seen, all_or_nothing};
use karat_evidence::json::problem::{Problems, quoted};

/// Options of [`numeric_tolerance`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NumericTolerance {
    /// Distance that is still perfect, from 0.
    pub tolerance: f64,
    /// Gives nothing beyond the tolerance, where the plain form falls to 0 at five times as much.
    pub all_or_nothing: bool,
}

impl Default for NumericTolerance {
    /// Defaults to the plain form with the tolerance that the arena has if none is given.
    fn default() -> Self {
        Self { tolerance: 0.01, all_or_nothing: false }
    }
}

impl NumericTolerance {
    fn check(self) -> Result<(), Problems> {
        if self.tolerance.is_finite() && self.tolerance >= 0.0 {
            return Ok(());
        }
        let found = quoted(&self.tolerance.to_string());
        Err(Problems::one("$.tolerance", found, "a number not below 0", ""))
    }

    /// Returns distance and value; a distance that is not a number is worth nothing.
    fn compare(self, submitted: f64, expected: f64) -> (f64, f64) {
        let distance = (submitted - expected).abs();
        let Self { tolerance, all_or_nothing } = self;
        let value = if distance <= tolerance {
            1.0
        } else if all_or_nothing || distance.is_nan() || distance >= 5.0 * tolerance {
            0.0
        } else {
            1.0 - (distance - tolerance) / (4.0 * tolerance)
        };
        (distance, value)
    }
}

/// Returns 1 within the tolerance, 0 from five times the tolerance on, a straight line between. What is not a number is
/// worth 0.
///
/// # Errors
///
/// If the tolerance is below 0 or not finite.
pub fn numeric_tolerance(
    submitted: f64,
    expected: f64,
    options: NumericTolerance,
) -> Result<Grade, Problems> {
    options.check()?;
    let (difference, value) = options.compare(submitted, expected);
    Ok(Grade { value, seen: Seen::Difference { difference, tolerance: options.tolerance } })
}

/// Returns the mean of [`numeric_tolerance`] over two lists of the same length, place by place; under `all_or_nothing`
/// 1 if every place is within the tolerance and else 0. Lists of different lengths score 0, two empty ones 1.
///
/// # Errors
///
/// If [`numeric_tolerance`] would fail.
pub fn numeric_tolerance_list(
    submitted: &[f64],
    expected: &[f64],
    options: NumericTolerance,
) -> Result<Grade, Problems> {
    options.check()?;
    let mut outside = Listing::default();
    let mut sum = 0.0;
    for (at, (&submitted, &expected)) in submitted.iter().zip(expected).enumerate() {
        let (distance, value) = options.compare(submitted, expected);
        sum += value;
        if distance.is_nan() || distance > options.tolerance {
            outside.add(|| at);
        }
    }
    let within = submitted.len().min(expected.len()) - outside.count;
    let value = if submitted.len() != expected.len() {
        0.0
    } else if expected.is_empty() {
        1.0
    } else if options.all_or_nothing {
        all_or_nothing(outside.count == 0)
    } else {
        sum / expected.len() as f64
    };
    let (submitted, expected) = (submitted.len(), expected.len());
    Ok(Grade { value, seen: Seen::Differences { within, submitted, expected, outside } })
}

/// Returns the share of the time that is left: 1 if none is used, 0 if all or more is, a straight line between
/// (Scoring, "Speed Dimension"). A limit of 0 leaves 1 if nothing is used.
///
/// # Errors
///
/// If a number is not finite.
pub fn time_decay(used_seconds: f64, limit_seconds: f64) -> Result<Grade, Problems> {
    finite(&[("used_seconds", used_seconds), ("limit_seconds", limit_seconds)])?;
    let value = if used_seconds <= 0.0 {
        1.0
    } else if used_seconds >= limit_seconds {
        0.0
    } else {
        (limit_seconds - used_seconds) / limit_seconds
    };
    Ok(Grade { value, seen: Seen::Time { used_seconds, limit_seconds } })
}

/// Returns 1 up to `optimal` calls, 0 from `max` calls on, a straight line between. Where `optimal` is not below `max`,
/// 1 up to `optimal` and 0 beyond.
///
/// # Errors
///
/// If a number is not finite.
pub fn api_call_efficiency(calls: f64, optimal: f64, max: f64) -> Result<Grade, Problems> {
    finite(&[("calls", calls), ("optimal", optimal), ("max", max)])?;
    let value = if calls <= optimal {
        1.0
    } else if calls >= max {
        0.0
    } else {
        1.0 - (calls - optimal) / (max - optimal)
    };
    Ok(Grade { value, seen: Seen::Calls { calls, optimal, max } })
}

/// Returns `found / total`, within 0 and 1. Where there is nothing to find, 1 if nothing was found and else 0.
///
/// # Errors
///
/// If a number is not finite.
pub fn coverage_ratio(found: f64, total: f64) -> Result<Grade, Problems> {
    finite(&[("found", found), ("total", total)])?;
    let value = if total <= 0.0 { all_or_nothing(found <= 0.0) } else { (found / total).clamp(0.0, 1.0) };
    Ok(Grade { value, seen: Seen::Coverage { found, total } })
}

fn finite(numbers: &[(&str, f64)]) -> Result<(), Problems> {
    let mut problems = Problems::default();
    for (name, number) in numbers.iter().filter(|(_, number)| !number.is_finite()) {
        problems.refuse(format!("$.{name}"), quoted(&number.to_string()), "a finite number", "");
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tolerance(tolerance: f64) -> NumericTolerance {
        NumericTolerance { tolerance, all_or_nothing: false }
    }

    fn near(submitted: f64, expected: f64, options: NumericTolerance) -> f64 {
        numeric_tolerance(submitted, expected, options).unwrap().value
    }

    #[test]
    fn tolerance_falls_to_five_times_itself() {
        for (submitted, value) in
            [(10.0, 1.0), (11.0, 1.0), (12.0, 0.75), (13.0, 0.5), (15.0, 0.0), (5.0, 0.0)]
        {
            assert_eq!(near(submitted, 10.0, tolerance(1.0)), value, "{submitted}");
        }
        assert_eq!(near(10.0, 10.0, tolerance(0.0)), 1.0);
        assert_eq!(near(10.000_1, 10.0, tolerance(0.0)), 0.0);
        assert_eq!(near(f64::NAN, 10.0, tolerance(1.0)), 0.0);
        assert_eq!(near(f64::MAX, f64::MIN, tolerance(1.0)), 0.0);
        assert_eq!(near(12.0, 10.0, NumericTolerance { all_or_nothing: true, ..tolerance(1.0) }), 0.0);
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let problems = numeric_tolerance(1.0, 1.0, tolerance(bad)).unwrap_err();
            assert!(problems.to_string().starts_with("$.tolerance: "), "{problems}");
        }
    }

    #[test]
    fn lists_of_numbers() {
        let list = |submitted: &[f64], expected: &[f64], all_or_nothing| {
            let options = NumericTolerance { tolerance: 1.0, all_or_nothing };
            numeric_tolerance_list(submitted, expected, options).unwrap().value
        };
        assert_eq!(list(&[1.0, 13.0], &[1.0, 10.0], false), 0.75);
        assert_eq!(list(&[1.0, 13.0], &[1.0, 10.0], true), 0.0);
        assert_eq!(list(&[1.0, 11.0], &[1.0, 10.0], true), 1.0);
        assert_eq!(list(&[1.0], &[1.0, 10.0], false), 0.0);
        assert_eq!(list(&[1.0, 10.0, 3.0], &[1.0, 10.0], true), 0.0);
        assert_eq!(list(&[], &[], true), 1.0);
    }

    #[test]
    fn time_calls_and_coverage_at_their_ends() {
        let time = |used, limit| time_decay(used, limit).unwrap().value;
        assert_eq!(
            [time(0.0, 0.0), time(0.1, 0.0), time(-1.0, 60.0), time(60.0, 60.0), time(30.0, 60.0)],
            [1.0, 0.0, 1.0, 0.0, 0.5]
        );
        let calls = |calls, optimal, max| api_call_efficiency(calls, optimal, max).unwrap().value;
        assert_eq!([calls(3.0, 3.0, 15.0), calls(9.0, 3.0, 15.0), calls(15.0, 3.0, 15.0)], [1.0, 0.5, 0.0]);
        assert_eq!([calls(5.0, 5.0, 2.0), calls(6.0, 5.0, 2.0)], [1.0, 0.0]);
        let coverage = |found, total| coverage_ratio(found, total).unwrap().value;
        assert_eq!([coverage(7.0, 10.0), coverage(12.0, 10.0), coverage(-1.0, 10.0)], [0.7, 1.0, 0.0]);
        assert_eq!([coverage(0.0, 0.0), coverage(1.0, 0.0), coverage(0.0, -1.0)], [1.0, 0.0, 1.0]);
        assert_eq!(time_decay(f64::NAN, f64::INFINITY).unwrap_err().len(), 2);
    }

    proptest! {
        #[test]
        fn a_larger_error_never_scores_more(a in -1e6..1e6f64, b in -1e6..1e6f64, t in 0.0..1e3f64) {
            let (near_value, far_value) = (near(a, 0.0, tolerance(t)), near(b, 0.0, tolerance(t)));
            prop_assert!((0.0..=1.0).contains(&near_value));
            if a.abs() <= b.abs() {
                prop_assert!(near_value >= far_value);
            }
        }

        #[test]
        fn less_time_never_scores_less(a in -10.0..1e4f64, b in -10.0..1e4f64, limit in 0.0..1e4f64) {
            let [early, late] = if a <= b { [a, b] } else { [b, a] };
            let value = |used| time_decay(used, limit).unwrap().value;
            prop_assert!(value(early) >= value(late) && (0.0..=1.0).contains(&value(a)));
        }
    }
}
