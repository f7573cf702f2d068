//! The loops for each set of vector instructions; holds the only `unsafe` of the embedder.
//!
//! All functions carry out the same loops. The wide ones are compiled for processors with AVX2 or AVX-512; they must
//! not run elsewhere: `instructions` has asked the processor. The bits are the same: a test compares them.

use super::forward;
use super::weights::Weights;
use crate::instructions::{Instructions, Set};

/// The vector of a text: see [`forward::encode`].
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls functions compiled for instructions that the processor was found to have"
    )
)]
pub(super) fn encode(instructions: Instructions, weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    match instructions.set() {
        Set::Portable => forward::encode(weights, tokens),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx2` is only made after the processor was asked.
        Set::Avx2 => unsafe { encode_avx2(weights, tokens) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx512` is only made after the processor was asked.
        Set::Avx512 => unsafe { encode_avx512(weights, tokens) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn encode_avx2(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    forward::encode(weights, tokens)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
fn encode_avx512(weights: &Weights, tokens: &[u32]) -> Vec<f32> {
    forward::encode(weights, tokens)
}

#[cfg(test)]
mod tests {
    use super::super::weights::tests::{SMALL, model};
    use super::*;

    /// On a machine without wide instructions this compares nothing; `scripts/cross` compares machines.
    #[test]
    fn wide_instructions_give_the_bits_of_the_portable_ones() {
        let weights = model(1.0);
        for tokens in 1..=SMALL.positions {
            let tokens: Vec<u32> = (0..tokens).map(|at| (at * at * 7 % SMALL.vocabulary) as u32).collect();
            let bits = |instructions| -> Vec<u32> {
                encode(instructions, &weights, &tokens).iter().map(|value| value.to_bits()).collect()
            };
            let portable = bits(Instructions::portable());
            assert!(Instructions::all().all(|instructions| bits(instructions) == portable), "{tokens:?}");
        }
    }
}
