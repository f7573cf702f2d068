//! Seeded random numbers that are the same on every machine: whole numbers only.

/// xoshiro256++ of Blackman and Vigna (2021), seeded through SplitMix64 as they advise.
#[derive(Debug, Clone)]
pub(super) struct Generator {
    state: [u64; 4],
}

impl Generator {
    /// The generator of stream number `stream` of a seed: the streams of one seed are unrelated.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut first = seed;
        let mut second = stream ^ 0x6a09_e667_f3bc_c909;
        Self {
            state: core::array::from_fn(|_| split_mix(&mut first) ^ split_mix(&mut second).rotate_left(32)),
        }
    }

    /// The next 64 random bits.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// How many of `trials` succeed if each does with probability `numerator / denominator`: a binomial draw, exact.
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

    /// How many of `coins` fair coins show heads.
    #[inline]
    fn heads(&mut self, coins: u64) -> u64 {
        let mut heads = 0;
        for _ in 0..coins / 64 {
            heads += u64::from(self.next().count_ones());
        }
        let rest = coins % 64;
        if rest > 0 {
            heads += u64::from((self.next() >> (64 - rest)).count_ones());
        }
        heads
    }
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_published_sequences_come_out() {
        let mut generator = Generator { state: [1, 2, 3, 4] };
        let drawn: Vec<u64> = (0..5).map(|_| generator.next()).collect();
        assert_eq!(
            drawn,
            [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205]
        );
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(split_mix(&mut state), 3_203_168_211_198_807_973);
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, stream| Generator::new(seed, stream).next();
        let drawn = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
        assert!((0..4).all(|at| drawn[at + 1..].iter().all(|other| *other != drawn[at])));
    }

    #[test]
    fn binomial_draws_have_the_distribution_they_claim() {
        let mut generator = Generator::new(7, 0);
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
