//! Sorting networks: comparisons in a fixed order, so that small panels are sorted in registers and without branches.
//!
//! Batcher, "Sorting networks and their applications" (1968): odd-even merge sort.

/// Puts the smaller of two places first, for each pair of places in turn. The places are literals: the compiler refuses one
/// that is outside of the array.
macro_rules! exchange {
    ($keys:ident: $($low:literal $high:literal,)+) => {
        $(
            let (low, high) = ($keys[$low], $keys[$high]);
            $keys[$low] = low.min(high);
            $keys[$high] = low.max(high);
        )+
    };
}

/// Sorts eight keys.
#[inline]
pub(super) fn sort_8(keys: &mut [u64; 8]) {
    exchange! { keys:
        0 1, 2 3, 0 2, 1 3, 1 2, 4 5, 6 7, 4 6, 5 7, 5 6, 0 4, 2 6,
        2 4, 1 5, 3 7, 3 5, 1 2, 3 4, 5 6,
    }
}

/// Sorts sixteen keys.
#[inline]
pub(super) fn sort_16(keys: &mut [u64; 16]) {
    exchange! { keys:
        0 1, 2 3, 0 2, 1 3, 1 2, 4 5, 6 7, 4 6, 5 7, 5 6, 0 4, 2 6,
        2 4, 1 5, 3 7, 3 5, 1 2, 3 4, 5 6, 8 9, 10 11, 8 10, 9 11, 9 10,
        12 13, 14 15, 12 14, 13 15, 13 14, 8 12, 10 14, 10 12, 9 13, 11 15, 11 13, 9 10,
        11 12, 13 14, 0 8, 4 12, 4 8, 2 10, 6 14, 6 10, 2 4, 6 8, 10 12, 1 9,
        5 13, 5 9, 3 11, 7 15, 7 11, 3 5, 7 9, 11 13, 1 2, 3 4, 5 6, 7 8,
        9 10, 11 12, 13 14,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network that sorts every sequence of zeros and ones sorts every sequence (Knuth, volume 3, 5.3.4).
    #[test]
    fn every_sequence_of_zeros_and_ones_is_sorted() {
        for bits in 0..1u32 << 16 {
            let mut keys: [u64; 16] = std::array::from_fn(|at| u64::from(bits >> at & 1));
            sort_16(&mut keys);
            assert!(keys.is_sorted(), "{bits:b}");
        }
        for bits in 0..1u32 << 8 {
            let mut keys: [u64; 8] = std::array::from_fn(|at| u64::from(bits >> at & 1));
            sort_8(&mut keys);
            assert!(keys.is_sorted(), "{bits:b}");
        }
    }
}
