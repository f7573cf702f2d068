//! Carrying out a plan over one block of rows.

use alloc::vec::Vec;

use super::mean::{Member, MemberColumn, mean_of_row, means_of_block};
use super::{BLOCK, Code, Column, Operation, Part, Register, Scores, kernel};

/// The columns of a plan, reused from block to block.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    /// One column after another.
    values: Vec<f64>,
    /// The rows that a column has room for.
    rows_max: usize,
}

/// The inputs of a block.
pub(crate) struct Input<'a> {
    pub facts: Facts<'a>,
    /// The seconds from the time of the items to the moment of the score.
    pub elapsed_seconds: Part<'a>,
    /// The profile of every row, where `profiles` is empty.
    pub profile: u32,
    /// The profile of each row.
    pub profiles: &'a [u32],
    /// Weight in the composite and in the coverage: by member, then by profile.
    pub weights: &'a [Vec<(f64, f64)>],
}

/// The facts of a block.
pub(crate) enum Facts<'a> {
    /// Columns as long as the table, one per fact of the card, and the first row of the block.
    Table(&'a [Column<'a>], usize),
    /// One row: a number per fact.
    Row(&'a [f64]),
}

impl<'a> Facts<'a> {
    /// Returns the values of a fact in this block.
    #[inline(always)]
    fn column(&self, fact: usize, rows: usize) -> Part<'a> {
        match self {
            Self::Table(columns, start) => {
                columns.get(fact).map_or(Part::Constant(f64::NAN), |column| column.part(*start, rows))
            }
            Self::Row(row) => Part::Constant(row.get(fact).copied().unwrap_or(f64::NAN)),
        }
    }
}

impl Input<'_> {
    /// Returns whether all rows have the same weights.
    #[inline(always)]
    fn has_one_weight(&self) -> bool {
        self.profiles.is_empty()
    }

    #[inline(always)]
    fn weights(&self, member: usize, row: usize) -> (f64, f64) {
        let table = self.weights.get(member).map_or(&[][..], Vec::as_slice);
        if let &[same] = table {
            return same;
        }
        let profile = self.profiles.get(row).copied().unwrap_or(self.profile);
        table.get(profile as usize).copied().unwrap_or_default()
    }
}

impl Registers {
    /// Makes room for the columns of `code`, of one row.
    pub(crate) fn of_item(code: &Code) -> Self {
        Self::new(code, 1)
    }

    /// Makes room for the columns of `code`, of a block of rows.
    pub(crate) fn of_block(code: &Code) -> Self {
        Self::new(code, BLOCK)
    }

    fn new(code: &Code, rows_max: usize) -> Self {
        let mut registers = Self { values: alloc::vec![0.0; code.registers * rows_max], rows_max };
        for &(register, value) in &code.constants {
            registers.column_mut(register, rows_max).fill(value);
        }
        registers
    }

    /// Returns the first `rows` rows of a column.
    #[inline(always)]
    fn column(&self, register: Register, rows: usize) -> &[f64] {
        let start = register as usize * self.rows_max;
        self.values.get(start..start + rows).unwrap_or_default()
    }

    #[inline(always)]
    fn column_mut(&mut self, register: Register, rows: usize) -> &mut [f64] {
        let start = register as usize * self.rows_max;
        self.values.get_mut(start..start + rows).unwrap_or_default()
    }

    #[inline(always)]
    fn at(&self, register: Register, row: usize) -> f64 {
        self.values.get(register as usize * self.rows_max + row).copied().unwrap_or(f64::NAN)
    }

    /// Returns the value of the first row.
    #[inline(always)]
    pub(crate) fn value(&self, register: Register) -> f64 {
        self.at(register, 0)
    }
}

/// Carries out all instructions over `rows` rows. True if some fact breaks its declaration; the results of such rows
/// mean nothing.
#[inline(always)]
pub(super) fn carry_out(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    let mut broken = false;
    let (mut block, mut coverages) = ([0.0; BLOCK], [0.0; BLOCK]);
    let (out, coverages) = (block.get_mut(..rows).unwrap_or_default(), &mut coverages);
    for instruction in &code.instructions {
        let column = |register: Register| registers.column(register, rows);
        match &instruction.operation {
            Operation::Load { fact, limits } => {
                input.facts.column(*fact, rows).read(out);
                let bound = limits.max_fact.map(|bound| {
                    let bounds = coverages.get_mut(..rows).unwrap_or_default();
                    input.facts.column(bound, rows).read(bounds);
                    &*bounds
                });
                broken |= kernel::load(out, bound, *limits);
            }
            Operation::Unary { operator, x } => kernel::unary(*operator, out, column(*x)),
            Operation::Binary { operator, x, y } => kernel::binary(*operator, out, column(*x), column(*y)),
            Operation::Select { c, a, b } => kernel::select(out, column(*c), column(*a), column(*b)),
            Operation::Reading { value, when, applies } => {
                kernel::reading(out, column(*value), when.map(column), applies.map(column));
            }
            Operation::Elapsed => input.elapsed_seconds.read(out),
            Operation::Age { stated, elapsed } => kernel::age(out, column(*stated), column(*elapsed)),
            Operation::Newest { items } => {
                out.fill(f64::NAN);
                for &(reading, age) in items {
                    kernel::newer(out, column(reading), column(age));
                }
            }
            Operation::Decay { value, age, loss } => kernel::decay(out, column(*value), column(*age), *loss),
            Operation::Mean { mean, top, items, coverage }
                if rows > 1 && mean.is_linear() && input.has_one_weight() =>
            {
                let members = items.iter().map(|item| MemberColumn {
                    reading: column(item.reading),
                    coverage: item.coverage.map(column),
                    fill: item.fill,
                    withhold: item.withhold,
                    weights: input.weights(item.weight, 0),
                });
                means_of_block((*mean, *top), members, out, coverages);
                let to = registers.column_mut(*coverage, rows);
                to.iter_mut().zip(&*coverages).for_each(|(to, covered)| *to = *covered);
            }
            Operation::Mean { mean, top, items, coverage } => {
                for (row, (out, covered)) in out.iter_mut().zip(coverages.iter_mut()).enumerate() {
                    let members = items.iter().map(|item| Member {
                        reading: registers.at(item.reading, row),
                        coverage: item.coverage.map(|coverage| registers.at(coverage, row)),
                        fill: item.fill,
                        withhold: item.withhold,
                        weights: input.weights(item.weight, row),
                    });
                    (*out, *covered) = mean_of_row(*mean, *top, members);
                }
                let to = registers.column_mut(*coverage, rows);
                to.iter_mut().zip(&*coverages).for_each(|(to, covered)| *to = *covered);
            }
            Operation::Rule { when, set, score } => {
                kernel::rule(out, column(*when), column(*set), column(*score));
            }
            Operation::Cap { when, cap, score } => kernel::cap(out, column(*when), column(*score), *cap),
            Operation::Publish { rounding, score } => kernel::publish(out, column(*score), *rounding),
            Operation::Band { thresholds, published } => kernel::band(out, column(*published), thresholds),
            Operation::Tiers { tiers, gates, published, coverage } => {
                for (row, out) in out.iter_mut().enumerate() {
                    let reaches = |register: Register, least: f64| registers.at(register, row) >= least;
                    let reached = tiers.iter().take_while(|tier| {
                        reaches(*published, tier.published)
                            && reaches(*coverage, tier.coverage)
                            && tier.floors.iter().all(|&(reading, floor)| reaches(reading, floor))
                    });
                    *out = reached.count() as f64;
                    for &(when, limit) in gates {
                        *out = if registers.at(when, row) == 1.0 && *out > limit { limit } else { *out };
                    }
                }
            }
        }
        registers.column_mut(instruction.to, rows).copy_from_slice(out);
    }
    broken
}

/// Copies the results of a block to their columns, at rows `start` to `end`.
pub(crate) fn hand_over(code: &Code, registers: &Registers, out: &mut Scores<'_>, start: usize, end: usize) {
    let (places, rows) = (&code.places, end - start);
    let numbers = |out: &mut [f64], place: Register| {
        let out = out.get_mut(start..end).unwrap_or_default();
        out.iter_mut().zip(registers.column(place, rows)).for_each(|(out, &value)| *out = value);
    };
    let counts = |out: &mut [u8], place: Register| {
        let out = out.get_mut(start..end).unwrap_or_default();
        out.iter_mut().zip(registers.column(place, rows)).for_each(|(out, &count)| *out = count as u8);
    };
    numbers(out.score, places.score);
    numbers(out.coverage, places.coverage);
    counts(out.band, places.band);
    counts(out.tier, places.tier);
    for (out, dimension) in out.readings.iter_mut().zip(&places.dimensions) {
        numbers(out, dimension.reading);
    }
    for (out, &(when, _)) in out.gates.iter_mut().zip(&places.gates) {
        counts(out, when);
    }
}
