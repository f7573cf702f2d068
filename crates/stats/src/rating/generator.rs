//! Binomial random numbers, exact: the counts of a resampled league.

use crate::random::Random;

impl Random {
    /// Returns how many of `trials` succeed if each does with probability `numerator / denominator`: a binomial draw, exact.
    ///
    /// Every trial compares a uniform number with the probability, binary digit by digit, until they differ, which takes
    /// two digits in the mean; the next digit of all trials that are still equal is drawn at once. Only counts and whole
    /// numbers are used, so the distribution has no rounding in it. `numerator` must not be above `denominator`, nor
    /// `denominator` above 2^63.
    pub(super) fn binomial(&mut self, trials: u64, numerator: u64, denominator: u64) -> u64 {
        if numerator >= denominator {
            return trials;
        }
        let (mut equal, mut rest, mut successes) = (trials, numerator, 0);
        // Once no digit of the probability is left, no trial can fall below it.
        while equal > 0 && rest > 0 {
            let ones = self.heads(equal);
            let zeros = equal - ones;
            rest *= 2;
            // All ones where the digit of the probability is 1: no processor guesses a random branch.
            let digit = u64::from(rest >= denominator).wrapping_neg();
            rest -= denominator & digit;
            successes += zeros & digit;
            equal = (ones & digit) | (zeros & !digit);
        }
        successes
    }

    /// Returns how many of `coins` fair coins show heads.
    #[inline]
    fn heads(&mut self, coins: u64) -> u64 {
        let mut heads = 0;
        for _ in 0..coins / 64 {
            heads += u64::from(self.next_u64().count_ones());
        }
        let rest = coins % 64;
        if rest > 0 {
            heads += u64::from((self.next_u64() >> (64 - rest)).count_ones());
        }
        heads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn binomial_draws_have_the_distribution_they_claim() {
        let mut generator = Random::stream(7, 0);
        assert_eq!(generator.binomial(10, 0, 3), 0);
        assert_eq!(generator.binomial(10, 3, 3), 10);
        assert_eq!(generator.binomial(0, 1, 3), 0);
        // Five trials at 2/7, compared with the exact probabilities by chi-squared (5 degrees: 20.5 at 0.001).
        const DRAWS: u32 = 40_000;
        let mut counts = [0u32; 6];
        for _ in 0..DRAWS {
            counts[generator.binomial(5, 2, 7) as usize] += 1;
        }
        let ways = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
        let mut chi_squared = 0.0;
        for (successes, (&count, ways)) in (0..).zip(counts.iter().zip(ways)) {
            let power = |base: f64, times: i32| (0..times).fold(1.0, |product, _| product * base);
            let expected =
                f64::from(DRAWS) * ways * power(2.0 / 7.0, successes) * power(5.0 / 7.0, 5 - successes);
            chi_squared += (f64::from(count) - expected) * (f64::from(count) - expected) / expected;
        }
        assert!(chi_squared < 20.5, "{chi_squared}");
        // Mean and variance of a large one: 3 standard errors of 1000 draws.
        let draws: Vec<f64> = (0..1000).map(|_| generator.binomial(100_000, 1, 3) as f64).collect();
        let mean = draws.iter().sum::<f64>() / 1000.0;
        let variance = draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / 999.0;
        assert!((mean - 100_000.0 / 3.0).abs() < 15.0, "{mean}");
        assert!((variance / (100_000.0 * 2.0 / 9.0) - 1.0).abs() < 0.15, "{variance}");
    }
}
