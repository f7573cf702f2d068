//! Functions of probability: the normal distribution, the tail of a fair binomial.

use core::f64::consts::{PI, SQRT_2};

/// Returns the chance that a standard normal number is at most `z`.
pub(super) fn normal_cumulative(z: f64) -> f64 {
    0.5 * libm::erfc(-z / SQRT_2)
}

/// Returns the `z` at which [`normal_cumulative`] reaches `chance`; infinite at 0 and 1.
///
/// By halving: some seventy calls, and no table of coefficients to trust.
pub(super) fn normal_quantile(chance: f64) -> f64 {
    if chance > 0.5 {
        // 1 - chance is exact here, and the left tail has the finer numbers.
        return -normal_quantile(1.0 - chance);
    }
    if chance <= 0.0 {
        return f64::NEG_INFINITY;
    }
    halve(-40.0, 0.0, |z| normal_cumulative(z) >= chance)
}

/// Returns the smallest double, up to neighbours, between `low` and `high` for which `reached` holds; it must hold from some
/// number on.
pub(super) fn halve(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if !(low < middle && middle < high) {
            return high;
        }
        if reached(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// Returns the chance of `k` successes in `n` trials that succeed with chance `p` (above 0, below 1): Loader, "Fast
/// and accurate computation of binomial probabilities" (2000). It keeps its digits where the difference of three large
/// logarithms of factorials would lose them.
pub(super) fn binomial_mass(k: f64, n: f64, p: f64) -> f64 {
    let failed = n - k;
    if k <= 0.0 || failed <= 0.0 {
        return libm::exp(k * libm::log(p) + failed * libm::log1p(-p));
    }
    let excess = stirling_error(n) - stirling_error(k) - stirling_error(failed);
    let deviance = half_deviance(k, n * p) + half_deviance(failed, n * (1.0 - p));
    libm::exp(excess - deviance) * libm::sqrt(n / (2.0 * PI * k * failed))
}

/// Returns `log n!` minus Stirling's formula for it, for whole `n` from 1 on. DLMF 5.11.1.
fn stirling_error(n: f64) -> f64 {
    if n < 16.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - libm::log(2.0 * PI) / 2.0;
    }
    let square = n * n;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / (1188.0 * square)) / square) / square)
            / square)
        / n
}

/// Returns `x log(x / m) + m - x`, without the cancellation where `x` is near `m`: there by the series of the logarithm
/// in `(x - m) / (x + m)`.
fn half_deviance(x: f64, m: f64) -> f64 {
    let apart = x - m;
    if apart.abs() > 0.1 * (x + m) {
        return x * libm::log(x / m) - apart;
    }
    let ratio = apart / (x + m);
    let (mut sum, mut power, mut odd) = (apart * ratio, 2.0 * x * ratio, 1.0);
    loop {
        power *= ratio * ratio;
        odd += 2.0;
        let next = sum + power / odd;
        if next.to_bits() == sum.to_bits() {
            return sum;
        }
        sum = next;
    }
}

/// Returns, of `count` throws of a fair coin, the chance of exactly `heads`, and of at most `heads`. `heads` may be
/// half of `count` at most.
///
/// Above 1e9 throws by the normal distribution, which is then off by a billionth at most; the exact sum would be long.
pub(super) fn fair_tail(count: u64, heads: u64) -> (f64, f64) {
    let (n, k) = (count as f64, heads as f64);
    if n > 1e9 {
        let deviation = libm::sqrt(n) / 2.0;
        let z = (k - n / 2.0) / deviation;
        let exactly = libm::exp(-z * z / 2.0) / (deviation * libm::sqrt(2.0 * PI));
        return (exactly, normal_cumulative(z + 0.5 / deviation));
    }
    let exactly = binomial_mass(k, n, 0.5);
    let (mut term, mut tail, mut left) = (exactly, exactly, k);
    // Each term is the one before times k / (n - k + 1), which falls: below a rounding error nothing more is added.
    while left > 0.0 && term > tail * f64::EPSILON / 4.0 {
        term *= left / (n - left + 1.0);
        tail += term;
        left -= 1.0;
    }
    (exactly, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_quantiles_of_the_tables() {
        for (chance, z) in [
            (0.975, 1.959_963_984_540_054),
            (0.95, 1.644_853_626_951_472_7),
            (0.995, 2.575_829_303_548_901),
            (1e-10, -6.361_340_902_404_056),
            (0.5, 0.0),
        ] {
            assert!((normal_quantile(chance) - z).abs() < 1e-9, "{chance}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(5e-324).is_finite());
    }

    #[test]
    fn a_chance_keeps_its_digits() {
        // C(n, n / 2) / 2^n = sqrt(2 / (pi n)) (1 - 1 / (4 n) + ...).
        for n in [100.0, 1e3, 1e6, 1e9, 1e15] {
            let expected = libm::sqrt(2.0 / (PI * n)) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (32.0 * n * n));
            assert!(
                (binomial_mass(n / 2.0, n, 0.5) / expected - 1.0).abs() < 1.0 / (n * n * n) + 1e-14,
                "{n}"
            );
        }
        // 40 of 100 at 0.3, from exact fractions.
        assert!((binomial_mass(40.0, 100.0, 0.3) / 0.008_490_168_837_486_48 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_tail_of_fair_throws() {
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let (exactly, tail) = fair_tail(8, 1);
        assert!(near(exactly, 8.0 / 256.0) && near(tail, 9.0 / 256.0));
        let (exactly, tail) = fair_tail(22, 6);
        assert!(near(exactly, 74_613.0 / 4_194_304.0) && near(tail, 110_056.0 / 4_194_304.0));
        let (exactly, tail) = fair_tail(0, 0);
        assert!(near(exactly, 1.0) && near(tail, 1.0));
        let (_, tail) = fair_tail(1_000_000_000, 499_960_000);
        assert!((tail - 0.005_7).abs() < 1e-4, "2.53 deviations below the mean: {tail}");
        let (near, far) = (fair_tail(1_000_000_000, 499_960_000), fair_tail(1_000_000_002, 499_960_001));
        assert!(
            (near.0 / far.0 - 1.0).abs() < 1e-7 && (near.1 / far.1 - 1.0).abs() < 1e-7,
            "{near:?} {far:?}"
        );
        assert!((fair_tail(u64::MAX, u64::MAX / 2).1 - 0.5).abs() < 1e-9);
    }
}
