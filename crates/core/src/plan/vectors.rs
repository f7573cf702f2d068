//! The loops over tables a second time, for processors with vectors of four doubles; holds the only `unsafe` of the core.
//!
//! The bits are the same: the same operations in the same order, none of them fused. A test compares them.

use super::Code;
use super::run::{Input, Registers, carry_out};

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(has_avx2, "avx2");

/// Carries out all instructions over `rows` rows: see [`carry_out`].
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls a function compiled for instructions that the processor was found to have"
    )
)]
pub(crate) fn run(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if rows > 1 && has_avx2::get() {
        // SAFETY: the processor was asked.
        return unsafe { run_wide(code, registers, input, rows) };
    }
    carry_out(code, registers, input, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_wide(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    carry_out(code, registers, input, rows)
}
