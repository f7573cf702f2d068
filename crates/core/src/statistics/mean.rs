//! Intervals of a mean from the spread of what it is the mean of, where there are too many means to draw samples anew.

use super::special::beta_quantile;
use super::{Interval, Method, StatisticsError};

/// How many standard errors the interval of a mean of `count` values reaches to either side: the quantile of Student's t
/// with `count - 1` degrees of freedom (W. S. Gosset, "The probable error of a mean", 1908). None of fewer than two values.
///
/// ```
/// use karat_core::statistics::mean::student_t;
/// let reach = student_t(11, 0.95)?.unwrap();
/// assert!((reach - 2.228_138_852).abs() < 1e-8);
/// assert_eq!(student_t(1, 0.95)?, None);
/// # Ok::<(), karat_core::statistics::StatisticsError>(())
/// ```
///
/// # Errors
/// A level that is not above 0 and below 1.
pub fn student_t(count: u64, level: f64) -> Result<Option<f64>, StatisticsError> {
    if !(level > 0.0 && level < 1.0) {
        return Err(StatisticsError::Level { found: level });
    }
    if count < 2 {
        return Ok(None);
    }
    let degrees = (count - 1) as f64;
    // P(|T| > t) is the regularised incomplete beta function at v / (v + t^2) with parameters v/2 and 1/2.
    let x = beta_quantile(1.0 - level, degrees / 2.0, 0.5);
    Ok(Some(libm::sqrt(degrees * (1.0 - x) / x)))
}

/// The interval of a mean of shares, each from 0 to 1: `reach` standard errors to either side, cut to what a mean can be.
/// `squares` is the sum of the squared differences from the mean, of `count` values, at least two.
///
/// ```
/// use karat_core::statistics::mean::{share_interval, student_t};
/// let (count, mean, squares) = (4, 0.5, 0.2);
/// let reach = student_t(count, 0.95)?.unwrap();
/// let interval = share_interval(mean, squares, count, reach, 0.95);
/// assert!((interval.high - 0.910_872).abs() < 1e-6);
/// # Ok::<(), karat_core::statistics::StatisticsError>(())
/// ```
#[must_use]
pub fn share_interval(mean: f64, squares: f64, count: u64, reach: f64, level: f64) -> Interval {
    let count = count.max(2) as f64;
    let error = libm::sqrt(squares / (count - 1.0) / count);
    let (low, high) = ((mean - reach * error).max(0.0), (mean + reach * error).min(1.0));
    Interval { low, high, level, method: Method::Student }
}
