//! Carrying out a plan over one block of rows.

use alloc::vec::Vec;

use super::kernel::{self, MeanOutput, Member, MemberWeights};
use super::{BLOCK, Code, Instruction, Register};

/// The columns of a plan, reused from block to block.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    columns: Vec<Vec<f64>>,
}

/// What a block reads besides its columns.
pub(crate) struct Input<'a> {
    pub facts: FactColumns<'a>,
    /// The profile of every row, where `profiles` is empty.
    pub profile: u32,
    /// The profile of each row.
    pub profiles: &'a [u32],
    /// Weight in the composite and in the coverage: by member, then by profile.
    pub weights: &'a [Vec<(f64, f64)>],
}

/// The facts of a block.
pub(crate) enum FactColumns<'a> {
    /// One column per fact of the card, each as long as the block; those of text facts may be empty.
    Columns(&'a [&'a [f64]]),
    /// One row: a number per fact.
    Row(&'a [f64]),
}

impl<'a> FactColumns<'a> {
    #[inline(always)]
    fn column(&self, fact: usize) -> &'a [f64] {
        match self {
            Self::Columns(columns) => columns.get(fact).copied().unwrap_or_default(),
            Self::Row(row) => row.get(fact..=fact).unwrap_or_default(),
        }
    }
}

impl Registers {
    /// Columns for `code`, for blocks of up to `rows` rows.
    pub(crate) fn new(code: &Code, rows: usize) -> Self {
        let mut columns: Vec<Vec<f64>> =
            (0..code.registers).map(|_| alloc::vec![0.0; rows.min(BLOCK)]).collect();
        for &(register, value) in &code.constants {
            if let Some(column) = columns.get_mut(register as usize) {
                column.fill(value);
            }
        }
        Self { columns }
    }

    /// The first `rows` rows of a column.
    #[inline(always)]
    pub(crate) fn column(&self, register: Register, rows: usize) -> &[f64] {
        self.columns.get(register as usize).and_then(|column| column.get(..rows)).unwrap_or_default()
    }

    /// The value of a block of one row.
    #[inline(always)]
    pub(crate) fn value(&self, register: Register) -> f64 {
        self.columns.get(register as usize).and_then(|column| column.first()).copied().unwrap_or(f64::NAN)
    }

    /// Lets `write` fill a column while it reads the others.
    #[inline(always)]
    fn write(&mut self, to: Register, rows: usize, write: impl FnOnce(&Self, &mut [f64])) {
        let Some(column) = self.columns.get_mut(to as usize) else { return };
        let mut column = core::mem::take(column);
        write(self, column.get_mut(..rows).unwrap_or_default());
        if let Some(slot) = self.columns.get_mut(to as usize) {
            *slot = column;
        }
    }
}

/// Carries out all instructions over `rows` rows. True if some fact breaks its declaration; the results of such rows mean nothing.
#[inline(always)]
pub(super) fn run(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    let fact = |at: usize| input.facts.column(at);
    let mut broken = false;
    for instruction in &code.instructions {
        match instruction {
            Instruction::Load { fact: at, limits, to } => registers.write(*to, rows, |_, out| {
                broken |= kernel::load(out, fact(*at), limits.max_fact.map(fact), *limits);
            }),
            Instruction::Unary { operator, x, to } => {
                registers.write(*to, rows, |all, out| kernel::unary(*operator, out, all.column(*x, rows)));
            }
            Instruction::Binary { operator, x, y, to } => registers.write(*to, rows, |all, out| {
                kernel::binary(*operator, out, all.column(*x, rows), all.column(*y, rows));
            }),
            Instruction::Select { c, a, b, to } => registers.write(*to, rows, |all, out| {
                kernel::select(out, all.column(*c, rows), all.column(*a, rows), all.column(*b, rows));
            }),
            Instruction::Reading { value, when, applies, to } => registers.write(*to, rows, |all, out| {
                let optional =
                    |register: &Option<Register>| register.map(|register| all.column(register, rows));
                kernel::reading(out, all.column(*value, rows), optional(when), optional(applies));
            }),
            Instruction::Mean { mean, top, items, to, coverage } => {
                let Some(slot) = registers.columns.get_mut(*coverage as usize) else { continue };
                let mut coverage_column = core::mem::take(slot);
                registers.write(*to, rows, |all, out| {
                    let members: Vec<Member<'_>> = items
                        .iter()
                        .map(|item| Member {
                            item: *item,
                            reading: all.column(item.reading, rows),
                            coverage: item.coverage.map(|register| all.column(register, rows)),
                            weights: weights_of(input, item.weight),
                        })
                        .collect();
                    let coverage = coverage_column.get_mut(..rows).unwrap_or_default();
                    let output = MeanOutput { composite: out, coverage };
                    kernel::mean(*mean, *top, &members, input.profiles, output);
                });
                if let Some(slot) = registers.columns.get_mut(*coverage as usize) {
                    *slot = coverage_column;
                }
            }
            Instruction::Rule { when, set, score, to } => registers.write(*to, rows, |all, out| {
                kernel::rule(out, all.column(*when, rows), all.column(*set, rows), all.column(*score, rows));
            }),
            Instruction::Cap { when, cap, score, to } => registers.write(*to, rows, |all, out| {
                kernel::cap(out, all.column(*when, rows), all.column(*score, rows), *cap);
            }),
            Instruction::Publish { rounding, score, to } => {
                registers
                    .write(*to, rows, |all, out| kernel::publish(out, all.column(*score, rows), *rounding));
            }
            Instruction::Band { thresholds, published, to } => {
                registers
                    .write(*to, rows, |all, out| kernel::band(out, all.column(*published, rows), thresholds));
            }
            Instruction::Tiers { tiers, gates, published, coverage, to } => {
                registers.write(*to, rows, |all, out| {
                    out.fill(0.0);
                    for (below, tier) in tiers.iter().enumerate() {
                        let level = (below + 1) as f64;
                        kernel::tier(
                            out,
                            level,
                            tier,
                            all.column(*published, rows),
                            all.column(*coverage, rows),
                        );
                        for &(reading, floor) in &tier.floors {
                            kernel::tier_floor(out, level, all.column(reading, rows), floor);
                        }
                    }
                    for &(when, limit) in gates {
                        kernel::tier_limit(out, all.column(when, rows), limit);
                    }
                })
            }
        }
    }
    broken
}

#[inline(always)]
fn weights_of<'a>(input: &Input<'a>, member: usize) -> MemberWeights<'a> {
    let table = input.weights.get(member).map_or(&[][..], Vec::as_slice);
    match table {
        &[(weight, cover)] => MemberWeights::Uniform(weight, cover),
        table if input.profiles.is_empty() => {
            let (weight, cover) = table.get(input.profile as usize).copied().unwrap_or((0.0, 0.0));
            MemberWeights::Uniform(weight, cover)
        }
        table => MemberWeights::ByProfile(table),
    }
}
