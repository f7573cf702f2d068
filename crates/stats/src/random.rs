//! A seeded generator of random numbers, the same on every machine, and the few distributions that are drawn from.

use core::num::NonZeroU64;

/// The generator xoshiro256++ 1.0 of Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM
/// Transactions on Mathematical Software 47 (2021). Not for secrets.
///
/// The state is public data: written out and read back, it goes on where it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    /// The state; all zeros gives nothing but zeros.
    pub state: [u64; 4],
}

impl Random {
    /// Starts from a seed, spread over the state by the generator splitmix64 (Steele, Lea and Flood, OOPSLA 2014), as
    /// the authors of xoshiro recommend: near seeds give unrelated numbers, and no seed gives a state of zeros.
    pub fn new(seed: u64) -> Self {
        let mut at = seed;
        Self { state: core::array::from_fn(|_| splitmix64(&mut at)) }
    }

    /// Starts stream number `stream` of a seed: the streams of one seed are unrelated, so that rounds can be drawn apart.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut first = seed;
        // Any constant does that keeps a stream from being the seed of the same number.
        let mut second = stream ^ 0x6a09_e667_f3bc_c909;
        Self {
            state: core::array::from_fn(|_| splitmix64(&mut first) ^ splitmix64(&mut second).rotate_left(32)),
        }
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Returns a whole number from 0 to below `bound`, each as likely as every other: Lemire, "Fast random integer
    /// generation in an interval", ACM Transactions on Modeling and Computer Simulation 29 (2019).
    pub fn below(&mut self, bound: NonZeroU64) -> u64 {
        let bound = bound.get();
        let mut product = u128::from(self.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            // The lowest 2^64 mod bound products would make some results more likely than others.
            let rejected = bound.wrapping_neg() % bound;
            while (product as u64) < rejected {
                product = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Returns a number above 0 and below 1, from a grid of 2^52 equally likely ones: both ends have a logarithm.
    pub fn open_unit(&mut self) -> f64 {
        const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
        ((self.next_u64() >> 12) as f64 + 0.5) / TWO_TO_52
    }

    /// Returns a draw of the normal distribution with mean 0 and deviation 1: the polar method of Marsaglia and Bray,
    /// SIAM Review 6 (1964). The second number of each pair is not used, so that the state says all there is to say.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.open_unit() - 1.0, 2.0 * self.open_unit() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }

    /// Returns the logarithm of a draw of the gamma distribution with the given shape (above 0) and scale 1: Marsaglia
    /// and Tsang,
    /// "A simple method for generating gamma variables", ACM Transactions on Mathematical Software 26 (2000). The
    /// logarithm, because a draw of a small shape is often too small for a double.
    fn log_gamma_draw(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let draw = self.log_gamma_draw(shape + 1.0);
            // Of a shape below 1e-307 even the logarithm can be too large.
            return (draw + libm::log(self.open_unit()) / shape).max(f64::MIN);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let x = self.normal();
            let root = 1.0 + c * x;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            if libm::log(self.open_unit()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
                return libm::log(d) + libm::log(v);
            }
        }
    }

    /// Fills `shares` with a draw of the Dirichlet distribution: numbers from 0 that sum to 1.
    ///
    /// `shapes` are as many, finite and not negative; a shape of 0 gives a share of exactly 0. Shapes of 1 draw every
    /// point of the simplex alike (as exponentials over their sum: Devroye, "Non-uniform random variate generation",
    /// 1986, V.2); shapes `c w` have the mean `w / sum w` and stay the closer to it the larger `c` is. Without a shape
    /// above 0 all shares are 0.
    pub(crate) fn dirichlet(&mut self, shapes: &[f64], shares: &mut [f64]) {
        let mut largest = f64::NEG_INFINITY;
        for (share, &shape) in shares.iter_mut().zip(shapes) {
            *share = if shape > 0.0 { self.log_gamma_draw(shape) } else { f64::NEG_INFINITY };
            largest = largest.max(*share);
        }
        let mut sum = 0.0;
        for share in shares.iter_mut() {
            // Relative to the largest: the others may be too small, the sum never is.
            *share = if *share > f64::NEG_INFINITY { libm::exp(*share - largest) } else { 0.0 };
            sum += *share;
        }
        if sum > 0.0 {
            shares.iter_mut().for_each(|share| *share /= sum);
        }
    }
}

fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    scattered(*state)
}

/// Returns a number whose every bit depends on every bit of another one: the last steps of splitmix64.
pub(super) fn scattered(number: u64) -> u64 {
    let mut z = number;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn the_published_sequences() {
        // The reference implementations at prng.di.unimi.it, from the state 1, 2, 3, 4 and the seed 0.
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..6).map(|_| random.next_u64()).collect();
        let expected = [
            41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386, 9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(first, expected);
        let mut seed = 0;
        let spread = [splitmix64(&mut seed), splitmix64(&mut seed), splitmix64(&mut seed)];
        assert_eq!(spread, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn streams_and_seeds_differ() {
        let first = |seed, stream| Random::stream(seed, stream).next_u64();
        let drawn = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
        assert!((0..4).all(|at| drawn[at + 1..].iter().all(|other| *other != drawn[at])));
    }

    #[test]
    fn the_same_bits_everywhere() {
        // The first three from another implementation, on another library of logarithms.
        let mut random = Random::new(42);
        let draws = [random.open_unit(), -libm::log(random.open_unit()), random.normal()];
        let mut shares = [0.0; 2];
        random.dirichlet(&[0.5, 3.0], &mut shares);
        assert_eq!(
            draws.map(f64::to_bits),
            [4_605_509_828_241_559_245, 4_607_826_998_012_415_499, 4_608_715_109_237_900_042]
        );
        assert_eq!(shares.map(f64::to_bits), [4_592_235_901_932_029_821, 4_606_235_983_641_409_297]);
    }

    #[test]
    fn a_state_goes_on_where_it_was() {
        let mut random = Random::new(3);
        random.normal();
        let mut again = Random { state: random.state };
        assert_eq!(random.normal().to_bits(), again.normal().to_bits());
    }

    #[test]
    fn whole_numbers_are_alike_and_below_their_bound() {
        let mut random = Random::new(1);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(NonZeroU64::new(7).unwrap()) as usize] += 1;
        }
        // Chi-square with 6 degrees of freedom: 22.5 is the quantile at 0.999.
        let chi_square: f64 =
            counts.iter().map(|&count| (f64::from(count) - 1e4) * (f64::from(count) - 1e4) / 1e4).sum();
        assert!(chi_square < 22.5, "{counts:?}");
        let huge = NonZeroU64::new(u64::MAX / 2 + 2).unwrap();
        assert!((0..100).all(|_| random.below(huge) < huge.get()), "half of all products are rejected");
        assert_eq!(random.below(NonZeroU64::MIN), 0);
    }

    #[test]
    fn draws_have_their_moments() {
        let mut random = Random::new(2);
        let count = 40_000;
        let moments = |draw: &mut dyn FnMut() -> f64| {
            let draws: Vec<f64> = (0..count).map(|_| draw()).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(count);
            (mean, draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(count))
        };
        let near = |(mean, variance): (f64, f64), expected: (f64, f64)| {
            assert!((mean - expected.0).abs() < 0.03, "{mean} {expected:?}");
            assert!((variance - expected.1).abs() < 0.1 * expected.1, "{variance} {expected:?}");
        };
        near(moments(&mut || random.normal()), (0.0, 1.0));
        for shape in [0.5, 1.0, 2.5] {
            near(moments(&mut || libm::exp(random.log_gamma_draw(shape))), (shape, shape));
        }
        // Mean w, variance w (1 - w) / (c + 1).
        let mut shares = [0.0; 3];
        let first = moments(&mut || {
            random.dirichlet(&[10.0, 6.0, 4.0], &mut shares);
            shares[0]
        });
        near(first, (0.5, 0.25 / 21.0));
    }

    #[test]
    fn shares_sum_to_one_however_small_the_shapes() {
        let mut random = Random::new(4);
        let mut shares = [0.0; 4];
        for scale in [5e-324, 1e-300, 1e-3, 1.0, 1e12, 1e300] {
            random.dirichlet(&[scale, 0.0, 2.0 * scale, scale], &mut shares);
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
            assert_eq!(shares[1].to_bits(), 0);
        }
        random.dirichlet(&[0.0; 4], &mut shares);
        assert_eq!(shares, [0.0; 4]);
    }
}
