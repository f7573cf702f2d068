//! The choice of vector instructions at run time: the one place with `unsafe` in the core.
//!
//! All functions carry out the same loops. The wide ones are compiled for processors with AVX2 or AVX-512, where a column
//! of four or eight doubles is one instruction; they must not run elsewhere, and only this module decides. The bits are
//! the same: a test compares them. Nothing is fused, as the compiler does not do that by itself.

use super::run::{self, Input, run};
use super::{Code, Registers, Scores};

/// Choice of vector instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instructions(Set);

/// INVARIANT: what is not portable is only made by [`Instructions::all`], after the processor was asked.
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
    /// Returns what every processor of the architecture has.
    pub(crate) const fn portable() -> Self {
        Self(Set::Portable)
    }

    /// Returns the widest instructions of this processor.
    pub(crate) fn best() -> Self {
        Self::all().last().unwrap_or(Self::portable())
    }

    /// Returns all that this processor can carry out, the widest last.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let sets = [
            Some(Set::Portable),
            #[cfg(target_arch = "x86_64")]
            avx2::get().then_some(Set::Avx2),
            #[cfg(target_arch = "x86_64")]
            avx512::get().then_some(Set::Avx512),
        ];
        sets.into_iter().flatten().map(Self)
    }

    /// Returns their name.
    pub(crate) const fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }
}

/// Carries out a plan over one block: see [`run`].
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls functions compiled for instructions that the processor was found to have"
    )
)]
pub(crate) fn execute(
    instructions: Instructions,
    code: &Code,
    registers: &mut Registers,
    input: &Input<'_>,
    rows: usize,
) -> bool {
    match instructions.0 {
        Set::Portable => run(code, registers, input, rows),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx2` is only made after the processor was asked.
        Set::Avx2 => unsafe { run_avx2(code, registers, input, rows) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx512` is only made after the processor was asked.
        Set::Avx512 => unsafe { run_avx512(code, registers, input, rows) },
    }
}

/// Copies the results of a block to their columns.
#[cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "calls functions compiled for instructions that the processor was found to have"
    )
)]
pub(crate) fn hand_over(
    instructions: Instructions,
    code: &Code,
    registers: &Registers,
    out: &mut Scores<'_>,
    rows: usize,
) {
    match instructions.0 {
        Set::Portable => run::hand_over(code, registers, out, rows),
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx2` is only made after the processor was asked.
        Set::Avx2 => unsafe { hand_over_avx2(code, registers, out, rows) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Avx512` is only made after the processor was asked.
        Set::Avx512 => unsafe { hand_over_avx512(code, registers, out, rows) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn run_avx2(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    run(code, registers, input, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
fn run_avx512(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    run(code, registers, input, rows)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn hand_over_avx2(code: &Code, registers: &Registers, out: &mut Scores<'_>, rows: usize) {
    run::hand_over(code, registers, out, rows);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2")]
fn hand_over_avx512(code: &Code, registers: &Registers, out: &mut Scores<'_>, rows: usize) {
    run::hand_over(code, registers, out, rows);
}

/// Asks the memory for the line in which a column begins, as it is needed soon. A hint: it reads nothing and changes nothing.
#[inline(always)]
pub(super) fn fetch(column: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a prefetch has no safe form")]
        // SAFETY: every x86-64 processor has the instruction, and the address lies in a slice.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(column.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = column;
}
