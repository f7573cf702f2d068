//! The highest cosine of a vector against many: a quick pass over codes of one byte, then the exact pass over what is left.
//!
//! **The exact pass.** `cosine = q·v / (|q| |v|)`, 0 where a vector is zero. Numbers are 32-bit; a product of two of
//! them is exact in 64 bits, and the sums run in [`LANES`] lanes of fixed order, so that the bits are the same everywhere.
//!
//! **The quick pass** never drops the best match. A vector `v` is kept as whole numbers `c` from -127 to 127 and a scale
//! `s`, with the part that got lost, `r = v - s c`, measured: `error = |r| / |v|`. The query likewise is `q = t d + e`.
//! Then `q·v = t s (d·c) + q·r - e·r + e·v`, and by the inequality of Cauchy and Schwarz
//!
//! ```text
//! |cosine - (t / |q|) (s / |v|) (d·c)|  <=  error(v) + error(q) + error(q) error(v)
//! ```
//!
//! `d·c` is a whole number, so it has no rounding, whatever the instructions. A vector whose upper bound lies below the
//! lower bound of another cannot be the best one; all others go through the exact pass. [`SLACK`] covers what is rounded
//! on the way.

use std::ops::Range;

/// Sums of the exact pass that run side by side: 8 doubles are one wide register. Part of the definition of a cosine.
const LANES: usize = 8;

/// Codes of a row are filled up with zeros to a multiple of this, so that every row is whole wide registers.
const STRIDE: usize = 64;

/// More than all rounding errors between a computed bound and a computed cosine.
///
/// An estimate is below 4 and has two roundings to 32 bits and three to 64; a bound has two to 32 bits: together below
/// 4e-7. Sums of 65,536 products in 64 bits are off by less than 1e-11 of the product of the lengths.
const SLACK: f64 = 1e-6;

/// Vectors of one dimension, in the order in which they came, with what the quick pass needs.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    dimension: usize,
    stride: usize,
    /// Rows before this one have been removed; their places are freed from time to time.
    first: usize,
    vectors: Vec<f32>,
    norms: Vec<f64>,
    codes: Vec<i8>,
    /// `s / |v|` of each row, 0 for a zero vector.
    ratios: Vec<f32>,
    /// `|r| / |v|` of each row, 0 for a zero vector.
    errors: Vec<f32>,
}

/// The row with the highest cosine, the first one of equals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Best {
    pub row: usize,
    pub similarity: f64,
}

impl Rows {
    /// Makes it without rows. `dimension` is at most 65,536, so that a product of codes stays below 2^31.
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            stride: dimension.next_multiple_of(STRIDE),
            first: 0,
            vectors: Vec::new(),
            norms: Vec::new(),
            codes: Vec::new(),
            ratios: Vec::new(),
            errors: Vec::new(),
        }
    }

    pub fn len(&self) -> usize {
        self.norms.len() - self.first
    }

    /// Returns the vector of a row; none beyond the last one.
    pub fn get(&self, row: usize) -> Option<&[f32]> {
        self.vectors.chunks_exact(self.dimension).nth(self.first + row)
    }

    /// Adds a row. `vector` has the dimension, and is finite.
    pub fn push(&mut self, vector: &[f32]) {
        let code = Code::of(vector, norm(vector));
        self.vectors.extend_from_slice(vector);
        self.norms.push(code.norm);
        self.codes.extend(code.codes.iter().map(|&code| code as i8));
        self.codes.resize(self.norms.len() * self.stride, 0);
        self.ratios.push(code.ratio as f32);
        self.errors.push(code.error as f32);
    }

    /// Removes the `count` oldest rows. Costs as much as adding them did, on average.
    pub(crate) fn remove_first(&mut self, count: usize) {
        self.first += count.min(self.len());
        if self.first * 2 > self.norms.len() {
            self.vectors.drain(..self.first * self.dimension);
            self.codes.drain(..self.first * self.stride);
            self.norms.drain(..self.first);
            self.ratios.drain(..self.first);
            self.errors.drain(..self.first);
            self.first = 0;
        }
    }
}

/// A vector as whole numbers.
struct Code {
    /// Codes from -127 to 127. As 16-bit numbers, because two of them are multiplied and added by one instruction.
    codes: Vec<i16>,
    ratio: f64,
    error: f64,
    norm: f64,
}

impl Code {
    #[inline(always)]
    fn of(vector: &[f32], norm: f64) -> Self {
        let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if largest == 0.0 {
            return Self { codes: vec![0; vector.len()], ratio: 0.0, error: 0.0, norm };
        }
        let scale = f64::from(largest) / 127.0;
        let codes = vector.iter().map(|&value| (f64::from(value) / scale).round_ties_even() as i16);
        let codes: Vec<i16> = codes.collect();
        let lost =
            vector.iter().zip(&codes).map(|(&value, &code)| f64::from(value) - f64::from(code) * scale);
        let lost: f64 = lost.map(|lost| lost * lost).sum();
        Self { codes, ratio: scale / norm, error: lost.sqrt() / norm, norm }
    }
}

/// Returns the best of `rows`; none if no row is left. `skipped` is ascending and some of `rows`; these are left out.
///
/// Bit for bit what [`cosine`] of every row and the first highest of them would give.
#[inline(always)]
pub(super) fn nearest(all: &Rows, rows: Range<usize>, query: &[f32], skipped: &[usize]) -> Option<Best> {
    let code = Code::of(query, norm(query));
    let places = all.first + rows.start..all.first + rows.end;
    let left = candidates(all, places.clone(), &code, skipped.iter().map(|row| all.first + row));
    let mut best: Option<Best> = None;
    for Candidate { place, highest } in left {
        if best.is_some_and(|best| highest < best.similarity) {
            continue;
        }
        let start = place * all.dimension;
        let vector = all.vectors.get(start..start + all.dimension)?;
        let similarity = cosine(query, code.norm, vector, *all.norms.get(place)?);
        if best.is_none_or(|best| similarity > best.similarity) {
            best = Some(Best { row: place - all.first, similarity });
        }
    }
    best
}

/// A row that may be the best one.
struct Candidate {
    place: usize,
    /// Its cosine is not above this.
    highest: f64,
}

/// Makes the quick pass: returns all rows that may be the best one, in their order.
#[inline(always)]
fn candidates(
    all: &Rows,
    places: Range<usize>,
    query: &Code,
    skipped: impl Iterator<Item = usize>,
) -> Vec<Candidate> {
    let mut skipped = skipped.peekable();
    let mut left: Vec<Candidate> = Vec::new();
    let mut lowest_best = f64::NEG_INFINITY;
    let mut codes = vec![0_i16; all.stride];
    codes.iter_mut().zip(&query.codes).for_each(|(to, from)| *to = *from);
    let rows = all.codes.get(places.start * all.stride..).unwrap_or_default().chunks_exact(all.stride);
    let ratios = all.ratios.get(places.clone()).unwrap_or_default();
    let errors = all.errors.get(places.clone()).unwrap_or_default();
    for (place, ((row, &ratio), &error)) in places.zip(rows.zip(ratios).zip(errors)) {
        if skipped.next_if_eq(&place).is_some() {
            continue;
        }
        let estimate = f64::from(product(row, &codes)) * (f64::from(ratio) * query.ratio);
        let error = f64::from(error);
        let bound = error + query.error + query.error * error + SLACK;
        if estimate + bound >= lowest_best {
            left.push(Candidate { place, highest: estimate + bound });
            lowest_best = lowest_best.max(estimate - bound);
        }
    }
    left.retain(|candidate| candidate.highest >= lowest_best);
    left
}

/// Returns the product of two vectors of codes. Whole numbers: the order of the sum is free.
#[inline(always)]
fn product(row: &[i8], query: &[i16]) -> i32 {
    row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

#[inline(always)]
pub(super) fn norm(vector: &[f32]) -> f64 {
    dot(vector, vector).sqrt()
}

/// Returns the cosine of two vectors whose lengths are known. It can be one rounding step above 1.
#[inline(always)]
pub(super) fn cosine(a: &[f32], a_norm: f64, b: &[f32], b_norm: f64) -> f64 {
    let lengths = a_norm * b_norm;
    if lengths == 0.0 { 0.0 } else { dot(a, b) / lengths }
}

/// Computes the dot product: lane `k` adds the products at `k`, `k + 8`, ... in their order; then halves are added to
/// halves.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0_f64; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut add = |a: &[f32], b: &[f32]| {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(a) * f64::from(b);
        }
    };
    for (a, b) in a.iter().zip(b) {
        add(a, b);
    }
    add(a_rest, b_rest);
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(count: usize) -> Vec<Vec<f32>> {
        let mut state = 1_u32;
        let mut number = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 8_388_608.0 - 1.0
        };
        (0..count).map(|_| (0..384).map(|_| number()).collect()).collect()
    }

    #[test]
    fn the_quick_pass_leaves_few() {
        let vectors = vectors(2_001);
        let mut all = Rows::new(384);
        vectors.iter().skip(1).for_each(|vector| all.push(vector));
        let query = Code::of(&vectors[0], norm(&vectors[0]));
        let left = candidates(&all, 0..2_000, &query, std::iter::empty());
        assert!((1..=100).contains(&left.len()), "{}", left.len());
    }

    #[test]
    fn a_bound_holds_and_is_narrow() {
        let vectors = vectors(100);
        for pair in vectors.windows(2) {
            let [a, b] = [&pair[0], &pair[1]].map(|vector| Code::of(vector, norm(vector)));
            let product: i32 = a.codes.iter().zip(&b.codes).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
            let estimate = f64::from(product) * a.ratio * b.ratio;
            let bound = a.error + b.error + a.error * b.error;
            let exact = cosine(&pair[0], a.norm, &pair[1], b.norm);
            assert!((exact - estimate).abs() <= bound && bound < 0.012, "{exact} {estimate} {bound}");
        }
    }

    #[test]
    fn the_longest_vectors_of_the_largest_codes_do_not_overflow() {
        let dimension = super::super::Settings::DIMENSION_MAX;
        let mut all = Rows::new(dimension);
        all.push(&vec![1.0; dimension]);
        all.push(&vec![-1.0; dimension]);
        let best = nearest(&all, 0..2, &vec![1.0; dimension], &[]);
        assert_eq!(best, Some(Best { row: 0, similarity: 1.0 }));
    }

    #[test]
    fn sizes_that_32_bits_cannot_square_compare() {
        for size in [f32::from_bits(1), f32::MIN_POSITIVE, 1e-25, 1e30, f32::MAX] {
            let (a, b) = ([size, 0.0], [size, size]);
            let cosine = cosine(&a, norm(&a), &b, norm(&b));
            assert!((cosine - 0.5_f64.sqrt()).abs() < 1e-15, "{size}: {cosine}");
        }
    }

    #[test]
    fn rows_that_were_removed_are_forgotten() {
        let mut all = Rows::new(1);
        for at in 0..100 {
            all.push(&[at as f32]);
            if all.len() > 3 {
                all.remove_first(1);
            }
        }
        assert_eq!(
            (0..4).map(|row| all.get(row)).collect::<Vec<_>>(),
            [Some(&[97.0][..]), Some(&[98.0]), Some(&[99.0]), None]
        );
        assert!(all.norms.len() <= 7, "{}", all.norms.len());
        all.remove_first(10);
        assert_eq!((all.len(), all.get(0)), (0, None));
    }
}
