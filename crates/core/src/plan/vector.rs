//! The choice of vector instructions at run time: the one place with `unsafe` in the core.
//!
//! Both functions carry out the same loops. The second is compiled for processors with AVX-512, where a column of
//! eight doubles is one instruction; it must not run elsewhere, and only this module decides. The bits are the same: a
//! test compares them.

use super::run::{self, Input, run};
use super::{Code, Registers, Scores};

/// The instructions of the processor to use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instructions {
    /// AVX-512. INVARIANT: only set by [`Instructions::best`], on a processor that has it.
    #[cfg(target_arch = "x86_64")]
    wide: bool,
}

#[cfg(target_arch = "x86_64")]
cpufeatures::new!(wide, "avx512f", "avx512vl", "avx512dq", "avx512bw", "avx2");

impl Instructions {
    /// Returns what every processor of the architecture has.
    pub(crate) const fn portable() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            wide: false,
        }
    }

    /// Returns the widest instructions of this processor.
    pub(crate) fn best() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            wide: wide::get(),
        }
    }
}

/// Carries out a plan over one block: see [`run`].
pub(crate) fn execute(
    instructions: Instructions,
    code: &Code,
    registers: &mut Registers,
    input: &Input<'_>,
    rows: usize,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if instructions.wide {
        #[expect(
            unsafe_code,
            reason = "calls a function compiled for the instructions that `best` has found"
        )]
        // SAFETY: `wide` is only set by `best`, after the processor was asked.
        return unsafe { run_wide(code, registers, input, rows) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let Instructions {} = instructions;
    run(code, registers, input, rows)
}

/// Copies the results of a block to their columns.
pub(crate) fn hand_over(
    instructions: Instructions,
    code: &Code,
    registers: &Registers,
    out: &mut Scores<'_>,
    rows: usize,
) {
    #[cfg(target_arch = "x86_64")]
    if instructions.wide {
        #[expect(
            unsafe_code,
            reason = "calls a function compiled for the instructions that `best` has found"
        )]
        // SAFETY: `wide` is only set by `best`, after the processor was asked.
        return unsafe { hand_over_wide(code, registers, out, rows) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let Instructions {} = instructions;
    run::hand_over(code, registers, out, rows);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
fn hand_over_wide(code: &Code, registers: &Registers, out: &mut Scores<'_>, rows: usize) {
    run::hand_over(code, registers, out, rows);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
fn run_wide(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    run(code, registers, input, rows)
}

/// Asks the memory for the line in which a column begins, as it is needed soon. A hint: it reads nothing and changes nothing.
#[inline(always)]
pub(super) fn fetch(column: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a prefetch has no safe form")]
        // SAFETY: every x86-64 processor has the instruction, and the address is that of a slice.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(column.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = column;
}
