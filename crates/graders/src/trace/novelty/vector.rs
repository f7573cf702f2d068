//! The loops for each set of vector instructions; holds the only `unsafe` of the novelty cache.
//!
//! All functions carry out the same loops. The wide ones are compiled for processors with AVX2 or AVX-512; they must
//! not run elsewhere: `instructions` has asked the processor. The bits are the same: a test compares them.

use std::ops::Range;

use super::search::{self, Best, Rows};
use crate::instructions::{Instructions, Set};

/// The best of `rows`: see [`search::nearest`].
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls functions compiled for instructions that the processor was found to have"
    )
)]
pub(super) fn nearest(
    instructions: Instructions,
    all: &Rows,
    rows: Range<usize>,
    query: &[f32],
    skipped: &[usize],
) -> Option<Best> {
    match instructions.set() {
        Set::Portable => search::nearest(all, rows, query, skipped),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx2` is only made after the processor was asked.
        Set::Avx2 => unsafe { nearest_avx2(all, rows, query, skipped) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx512` is only made after the processor was asked.
        Set::Avx512 => unsafe { nearest_avx512(all, rows, query, skipped) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn nearest_avx2(all: &Rows, rows: Range<usize>, query: &[f32], skipped: &[usize]) -> Option<Best> {
    search::nearest(all, rows, query, skipped)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
fn nearest_avx512(all: &Rows, rows: Range<usize>, query: &[f32], skipped: &[usize]) -> Option<Best> {
    search::nearest(all, rows, query, skipped)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Searches without the quick pass: every cosine, the first highest of them.
    fn by_brute_force(
        vectors: &[Vec<f32>],
        rows: Range<usize>,
        query: &[f32],
        skipped: &[usize],
    ) -> Option<Best> {
        let mut best: Option<Best> = None;
        for row in rows.filter(|row| !skipped.contains(row)) {
            let vector = &vectors[row];
            let similarity = search::cosine(query, search::norm(query), vector, search::norm(vector));
            if best.is_none_or(|best| similarity > best.similarity) {
                best = Some(Best { row, similarity });
            }
        }
        best
    }

    /// Checks the search. On a machine without wide instructions fewer ways are compared; `scripts/cross` compares
    /// machines.
    fn check(vectors: &[Vec<f32>], rows: Range<usize>, query: &[f32], skipped: &[usize]) {
        let mut all = Rows::new(query.len());
        vectors.iter().for_each(|vector| all.push(vector));
        let bits = |best: Option<Best>| best.map(|best| (best.row, best.similarity.to_bits()));
        let expected = bits(by_brute_force(vectors, rows.clone(), query, skipped));
        for instructions in Instructions::all() {
            let found = bits(nearest(instructions, &all, rows.clone(), query, skipped));
            assert_eq!(found, expected, "{instructions:?} {vectors:?} {query:?}");
        }
    }

    /// Numbers of every size, many of them small and whole so that ties and zero vectors occur.
    fn number() -> impl Strategy<Value = f32> {
        prop_oneof![
            3 => (-2_i8..=2).prop_map(f32::from),
            3 => -1.0_f32..1.0,
            1 => any::<f32>().prop_filter("finite", |number| number.is_finite()),
        ]
    }

    proptest! {
        #[test]
        fn the_search_is_brute_force_bit_for_bit(
            (vectors, query, from, to, skipped) in (1_usize..70, 0_usize..40).prop_flat_map(|(dimension, count)| (
                vec(vec(number(), dimension), count),
                vec(number(), dimension),
                0..=count,
                0..=count,
                vec(0..=count, 0..4),
            ))
        ) {
            let mut skipped = skipped;
            skipped.sort_unstable();
            skipped.dedup();
            skipped.retain(|&row| (from.min(to)..from.max(to)).contains(&row));
            check(&vectors, from.min(to)..from.max(to), &query, &skipped);
        }

        /// Vectors that differ from the query in the last bits: no code of one byte can distinguish them.
        #[test]
        fn vectors_that_codes_cannot_tell_apart_are_told_apart(
            (query, changes) in (1_usize..400).prop_flat_map(|dimension| (
                vec(-1.0_f32..1.0, dimension),
                vec((0..dimension, -3_i32..=3), 1..30),
            ))
        ) {
            let changed = |&(at, bits): &(usize, i32)| {
                let mut vector = query.clone();
                vector[at] = f32::from_bits(vector[at].to_bits().saturating_add_signed(bits));
                vector
            };
            let vectors: Vec<Vec<f32>> = changes.iter().map(changed).collect();
            check(&vectors, 0..vectors.len(), &query, &[]);
        }
    }

    /// One large number makes the steps of the codes coarse, and all others lie where rounding loses the most.
    #[test]
    fn vectors_made_to_lose_the_most_are_not_lost() {
        for dimension in [2, 3, 64, 65, 384, 1000] {
            let made = |half: f32, sign: f32| -> Vec<f32> {
                let tail = (1..dimension).map(|at| if at % 2 == 0 { half } else { sign * half });
                std::iter::once(127.0).chain(tail).collect()
            };
            let just_below = [0.499_999, 0.499_99, 0.5, 0.500_001, 1.5, 1.499_999, 2.499_9];
            let vectors: Vec<Vec<f32>> =
                just_below.iter().flat_map(|&half| [1.0, -1.0].map(|sign| made(half, sign))).collect();
            for query in &vectors {
                check(&vectors, 0..vectors.len(), query, &[]);
                let turned: Vec<f32> = query.iter().rev().copied().collect();
                check(&vectors, 0..vectors.len(), &turned, &[]);
            }
        }
    }

    /// Ascending similarities keep raising the bound; equal vectors are all candidates, and the first one wins.
    #[test]
    fn orders_that_help_least_give_the_same() {
        let query: Vec<f32> = (0..384).map(|at| ((at * 37 % 101) as f32 - 50.0) / 50.0).collect();
        let blend = |share: f32| -> Vec<f32> {
            query.iter().enumerate().map(|(at, number)| number * share + ((at % 7) as f32 - 3.0)).collect()
        };
        let ascending: Vec<Vec<f32>> = (0..300).map(|at| blend(at as f32 / 50.0)).collect();
        check(&ascending, 0..300, &query, &[]);
        check(&ascending, 0..300, &query, &[297, 298, 299]);
        let equal = vec![query.clone(); 50];
        check(&equal, 0..50, &query, &[]);
        let zero = vec![vec![0.0; 384]; 3];
        check(&zero, 0..3, &query, &[]);
        check(&ascending, 0..300, &vec![0.0; 384], &[]);
    }

    /// Codes are exact here and the cosines equal, but the ratios of scale to length round to either side.
    #[test]
    fn the_rounding_of_an_estimate_decides_nothing() {
        let vectors = [[127.0, 58.0, 10.0, 3.0], [127.0, 127.0, 0.0, 0.0], [127.0, 22.0, 19.0, 18.0]];
        let vectors = vectors.map(|vector| vector.to_vec());
        check(&vectors, 0..3, &[1.0; 4], &[]);
        check(&vectors.iter().rev().cloned().collect::<Vec<_>>(), 0..3, &[1.0; 4], &[]);
    }
}
