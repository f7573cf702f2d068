//! The quantiles of Student's t.

use core::f64::consts::{FRAC_PI_2, PI};

use super::StatisticsError;
use super::special::{halve, normal_quantile};

/// From this many degrees of freedom on the expansion for many is exact to the last digits that are ever shown.
const MANY_DEGREES: u64 = 1000;

/// Returns how many standard errors the interval of a mean of `count` values reaches to either side: the quantile of
/// Student's t with `count - 1` degrees of freedom (W. S. Gosset, "The probable error of a mean", 1908). None of fewer
/// than two values.
///
/// # Errors
/// If the level is not above 0 and below 1.
pub(super) fn student_t(count: u64, level: f64) -> Result<Option<f64>, StatisticsError> {
    if !(level > 0.0 && level < 1.0) {
        return Err(StatisticsError::Level { found: level });
    }
    if count < 2 {
        return Ok(None);
    }
    let degrees = count - 1;
    if degrees > MANY_DEGREES {
        return Ok(Some(of_many(degrees as f64, normal_quantile(0.5 + level / 2.0))));
    }
    let angle = halve(0.0, FRAC_PI_2, |angle| within(angle, degrees) >= level);
    Ok(Some(libm::sqrt(degrees as f64) * libm::tan(angle)))
}

/// Returns the chance that |t| is below `sqrt(degrees) tan(angle)`: a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(angle: f64, degrees: u64) -> f64 {
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let is_odd = degrees % 2 == 1;
    let (mut term, mut sum) = if is_odd { (cosine, 0.0) } else { (1.0, 0.0) };
    let mut below = if is_odd { 1 } else { 0 };
    while below + 2 <= degrees {
        sum += term;
        below += 2;
        term *= cosine * cosine * (below - 1) as f64 / below as f64;
    }
    if is_odd { 2.0 / PI * (angle + sine * sum) } else { sine * sum }
}

/// Returns the quantile for many degrees of freedom from the normal one (Abramowitz and Stegun, 26.7.5).
fn of_many(degrees: f64, z: f64) -> f64 {
    let square = z * z;
    let terms = [
        (square + 1.0) / 4.0,
        ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92160.0,
    ];
    z * (1.0 + terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_of_the_tables() {
        for (degrees, level, reach) in [
            (1, 0.95, 12.706_204_736),
            (2, 0.95, 4.302_652_730),
            (3, 0.95, 3.182_446_305),
            (4, 0.99, 4.604_094_871),
            (10, 0.95, 2.228_138_852),
            (30, 0.95, 2.042_272_456),
            (100, 0.95, 1.983_971_519),
            (1000, 0.95, 1.962_339_081),
        ] {
            let found = student_t(degrees + 1, level).unwrap().unwrap();
            assert!((found - reach).abs() < 2e-9, "{degrees}: {found}");
        }
    }

    #[test]
    fn both_ways_agree_where_they_meet() {
        for level in [0.5, 0.9, 0.95, 0.999, 0.999_999] {
            let exact = student_t(MANY_DEGREES + 1, level).unwrap().unwrap();
            let expanded = of_many(MANY_DEGREES as f64, normal_quantile(0.5 + level / 2.0));
            assert!((exact - expanded).abs() < 1e-9, "{level}: {exact} {expanded}");
        }
    }
}
