//! Carrying out a plan over one block of rows.

use alloc::vec::Vec;

use super::kernel::{self, Member, MemberWeights, Sums};
use super::{BLOCK, Code, Column, Instruction, Register};

/// The columns of a plan, reused from block to block.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    columns: Vec<Vec<f64>>,
    sums: Option<Sums>,
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
    /// Columns as long as the table, one per fact of the card; the block is `rows` rows from row `start`.
    Table { columns: &'a [Column<'a>], start: usize, rows: usize },
    /// One row: a number per fact.
    Row(&'a [f64]),
}

impl<'a> FactColumns<'a> {
    /// The values of a fact in this block.
    #[inline(always)]
    fn column(&self, fact: usize) -> Column<'a> {
        match self {
            Self::Table { columns, start, rows } => match columns.get(fact) {
                Some(Column::Values(column)) => {
                    Column::Values(column.get(*start..start + rows).unwrap_or_default())
                }
                Some(Column::Constant(value)) => Column::Constant(*value),
                None => Column::Constant(f64::NAN),
            },
            Self::Row(row) => Column::Values(row.get(fact..=fact).unwrap_or_default()),
        }
    }

    /// Asks the memory for the same column of the next block, so that it comes while this block is computed.
    #[inline(always)]
    fn fetch_next(&self, fact: usize) {
        if let Self::Table { columns, start, rows } = self
            && let Some(Column::Values(column)) = columns.get(fact)
        {
            super::vector::fetch(column.get(start + rows..start + 2 * rows).unwrap_or_default());
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
        Self { columns, sums: Some(Sums::new(rows.min(BLOCK))) }
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

    /// Takes a column out, to be written while others are read; [`Self::put`] brings it back.
    #[inline(always)]
    fn take(&mut self, to: Register) -> Vec<f64> {
        self.columns.get_mut(to as usize).map(core::mem::take).unwrap_or_default()
    }

    #[inline(always)]
    fn put(&mut self, to: Register, column: Vec<f64>) {
        if let Some(slot) = self.columns.get_mut(to as usize) {
            *slot = column;
        }
    }
}

/// Carries out all instructions over `rows` rows. True if some fact breaks its declaration; the results of such rows mean nothing.
#[inline(always)]
pub(super) fn run(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    // No closures around the kernels: one would be compiled once, without the instructions of its caller.
    let mut broken = false;
    let mut sums = registers.sums.take();
    for instruction in &code.instructions {
        let to = instruction.to();
        let mut column = registers.take(to);
        let out = column.get_mut(..rows).unwrap_or_default();
        match instruction {
            Instruction::Load { fact, limits, .. } | Instruction::LoadReading { fact, limits, .. } => {
                let bound = match limits.max_fact {
                    Some(bound) => Some(input.facts.column(bound)),
                    None => None,
                };
                let column = input.facts.column(*fact);
                broken |= match instruction {
                    Instruction::Load { .. } => kernel::load(out, column, bound, *limits),
                    _ => kernel::load_reading(out, column, bound, *limits),
                };
                input.facts.fetch_next(*fact);
            }
            Instruction::Unary { operator, x, .. } => {
                kernel::unary(*operator, out, registers.column(*x, rows))
            }
            Instruction::Binary { operator, x, y, .. } => {
                kernel::binary(*operator, out, registers.column(*x, rows), registers.column(*y, rows));
            }
            Instruction::Select { c, a, b, .. } => {
                let (c, a, b) =
                    (registers.column(*c, rows), registers.column(*a, rows), registers.column(*b, rows));
                kernel::select(out, c, a, b);
            }
            Instruction::Reading { value, when, applies, .. } => {
                kernel::reading(out, registers.column(*value, rows));
                if let Some(when) = when {
                    kernel::gate(out, registers.column(*when, rows));
                }
                if let Some(applies) = applies {
                    kernel::apply(out, registers.column(*applies, rows));
                }
            }
            Instruction::Mean { mean, top, items, coverage, .. } => {
                let mut coverage_column = registers.take(*coverage);
                let mut members: Vec<Member<'_>> = Vec::with_capacity(items.len());
                for item in items {
                    members.push(Member {
                        item: *item,
                        reading: registers.column(item.reading, rows),
                        coverage: match item.coverage {
                            Some(coverage) => Some(registers.column(coverage, rows)),
                            None => None,
                        },
                        weights: weights_of(input, item.weight),
                    });
                }
                let coverage_out = coverage_column.get_mut(..rows).unwrap_or_default();
                if let Some(sums) = &mut sums {
                    kernel::mean(*mean, *top, &members, sums, out, coverage_out);
                }
                drop(members);
                registers.put(*coverage, coverage_column);
            }
            Instruction::Rule { when, set, score, .. } => {
                let (when, set) = (registers.column(*when, rows), registers.column(*set, rows));
                kernel::rule(out, when, set, registers.column(*score, rows));
            }
            Instruction::Cap { when, cap, score, .. } => {
                kernel::cap(out, registers.column(*when, rows), registers.column(*score, rows), *cap);
            }
            Instruction::Publish { rounding, score, .. } => {
                kernel::publish(out, registers.column(*score, rows), *rounding);
            }
            Instruction::Band { thresholds, published, .. } => {
                kernel::band(out, registers.column(*published, rows), thresholds);
            }
            Instruction::Tiers { tiers, gates, published, coverage, .. } => {
                out.fill(0.0);
                let mut level = 0.0;
                for tier in tiers {
                    level += 1.0;
                    let (published, coverage) =
                        (registers.column(*published, rows), registers.column(*coverage, rows));
                    kernel::tier(out, level, tier, published, coverage);
                    if !kernel::some_reach(out, level) {
                        break;
                    }
                    for floors in tier.floors.chunks(4) {
                        let Some(&last) = floors.last() else { break };
                        // A short group is filled up with its last floor.
                        let mut four = [last; 4];
                        for (slot, &floor) in four.iter_mut().zip(floors) {
                            *slot = floor;
                        }
                        let [a, b, c, d] = four;
                        let column =
                            [a, b, c, d].map(|(reading, floor)| (registers.column(reading, rows), floor));
                        kernel::tier_floors(out, level, column);
                    }
                }
                for &(when, limit) in gates {
                    kernel::tier_limit(out, registers.column(when, rows), limit);
                }
            }
        }
        registers.put(to, column);
    }
    registers.sums = sums;
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
        table => MemberWeights::ByProfile(table, input.profiles),
    }
}
