//! The choice of vector instructions at run time; holds the only `unsafe` of the novelty cache.
//!
//! All functions carry out the same loops. The wide ones are compiled for processors with AVX2 or AVX-512; they must
//! not run elsewhere, and only this module decides. The bits are the same: a test compares them.

use std::ops::Range;

use super::search::{self, Best, Rows};

/// Which instructions to use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instructions(Set);

/// INVARIANT: what is not portable is only made after the processor was asked.
#[derive(Debug, Clone, Copy)]
enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(avx2, "avx2");
#[cfg(target_arch = "x86_64")]
cpufeatures::new!(avx512, "avx512f", "avx512vl", "avx512dq", "avx512bw", "avx2");

impl Instructions {
    /// The widest instructions of this processor.
    pub fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if avx512::get() {
                return Self(Set::Avx512);
            }
            if avx2::get() {
                return Self(Set::Avx2);
            }
        }
        Self(Set::Portable)
    }
}

/// The best of `rows`: see [`search::nearest`].
#[expect(
    unsafe_code,
    reason = "calls functions compiled for instructions that the processor was found to have"
)]
pub(super) fn nearest(
    instructions: Instructions,
    all: &Rows,
    rows: Range<usize>,
    query: &[f32],
    skipped: &[usize],
) -> Option<Best> {
    match instructions.0 {
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
