//! Carrying out a plan over one block of rows.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::kernel::{self, Values};
use super::mean::{self, Loaded, Member, MemberWeights, Sums};
use super::prefetch::Prefetch;
use super::{BLOCK, Code, Column, Instruction, Register, Rows, Scores, load};

/// The columns of a plan, reused from block to block.
#[derive(Debug, Clone)]
pub(crate) struct Registers {
    /// `None` while a column is written.
    columns: Vec<Option<Box<Rows>>>,
    /// The value of a column that holds one value throughout.
    constants: Vec<Option<f64>>,
    sums: Option<Box<Sums>>,
}

/// The inputs of a block besides its columns.
pub(crate) struct Input<'a> {
    pub facts: FactColumns<'a>,
    /// The seconds from the time of the items to the moment of the score.
    pub elapsed_seconds: Column<'a>,
    /// The profile of every row, where `profiles` is empty.
    pub profile: u32,
    /// The profile of each row.
    pub profiles: &'a [u32],
    /// The destinations of the results of the block.
    pub results: &'a [&'a [f64]],
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
    /// Returns the values of a fact in this block.
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
}

impl Registers {
    /// Columns for `code`.
    pub(crate) fn new(code: &Code) -> Self {
        let mut columns: Vec<Option<Box<Rows>>> = (0..code.registers).map(|_| Some(Box::default())).collect();
        let mut constants = alloc::vec![None; code.registers];
        for &(register, value) in &code.constants {
            if let (Some(column), Some(constant)) =
                (columns.get_mut(register as usize), constants.get_mut(register as usize))
            {
                *column = Some(Box::new(Rows([value; BLOCK])));
                *constant = Some(value);
            }
        }
        Self { columns, constants, sums: Some(Box::default()) }
    }

    /// Returns the first `rows` rows of a column.
    #[inline(always)]
    pub(crate) fn column(&self, register: Register, rows: usize) -> &[f64] {
        match self.columns.get(register as usize) {
            Some(Some(column)) => column.0.get(..rows).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Returns an operand: a column, or the one value that it holds throughout.
    #[inline(always)]
    fn values(&self, register: Register, rows: usize) -> Values<'_> {
        match self.constants.get(register as usize) {
            Some(Some(value)) => Values::All(*value),
            _ => Values::Each(self.column(register, rows)),
        }
    }

    /// Returns the value of a block of one row.
    #[inline(always)]
    pub(crate) fn value(&self, register: Register) -> f64 {
        self.column(register, 1).first().copied().unwrap_or(f64::NAN)
    }

    /// Takes a column out, to be written while others are read; [`Self::put`] brings it back.
    #[inline(always)]
    fn take(&mut self, to: Register) -> Option<Box<Rows>> {
        self.columns.get_mut(to as usize)?.take()
    }

    #[inline(always)]
    fn put(&mut self, to: Register, column: Option<Box<Rows>>) {
        if let Some(slot) = self.columns.get_mut(to as usize) {
            *slot = column;
        }
    }
}

/// Returns the first `rows` rows of a column that was taken out.
#[inline(always)]
fn cut(column: &mut Option<Box<Rows>>, rows: usize) -> &mut [f64] {
    column.as_mut().and_then(|column| column.0.get_mut(..rows)).unwrap_or_default()
}

/// Carries out all instructions over `rows` rows. True if some fact breaks its declaration; the results of such rows
/// mean nothing.
#[inline(always)]
pub(super) fn run(code: &Code, registers: &mut Registers, input: &Input<'_>, rows: usize) -> bool {
    // No closures around the kernels: one would be compiled once, without the instructions of its caller.
    let mut broken = false;
    let mut sums = registers.sums.take();
    let mut prefetch = Prefetch::new(code, input);
    for instruction in &code.instructions {
        if !matches!(instruction, Instruction::LoadMembers { .. }) {
            prefetch.step();
        }
        let to = instruction.to();
        let mut column = registers.take(to);
        let out = cut(&mut column, rows);
        match instruction {
            Instruction::Load { fact, limits, .. } | Instruction::LoadReading { fact, limits, .. } => {
                let bound = limits.max_fact.map(|bound| input.facts.column(bound));
                let column = input.facts.column(*fact);
                broken |= match instruction {
                    Instruction::Load { .. } => load::load(out, column, bound, *limits),
                    _ => load::load_reading(out, column, bound, *limits),
                };
            }
            Instruction::Unary { operator, x, .. } => {
                kernel::unary(*operator, out, registers.column(*x, rows))
            }
            Instruction::Binary { operator, x, y, .. } => {
                kernel::binary(*operator, out, registers.values(*x, rows), registers.values(*y, rows));
            }
            Instruction::Within { operator, x, y, low, high, .. } => {
                let (x, y) = (registers.values(*x, rows), registers.values(*y, rows));
                kernel::within(*operator, out, x, y, *low, *high);
            }
            Instruction::Select { c, a, b, .. } => {
                let (a, b) = (registers.values(*a, rows), registers.values(*b, rows));
                kernel::select(out, registers.column(*c, rows), a, b);
            }
            Instruction::SelectAbove { x, limit, a, b, .. } => {
                let (a, b) = (registers.values(*a, rows), registers.values(*b, rows));
                kernel::select_above(out, registers.column(*x, rows), *limit, a, b);
            }
            Instruction::Reading { value, when, applies, .. } => {
                let when = when.map(|when| registers.column(when, rows));
                let applies = applies.map(|applies| registers.column(applies, rows));
                kernel::reading(out, registers.column(*value, rows), when, applies);
            }
            Instruction::Elapsed { .. } => load::copy(out, input.elapsed_seconds),
            Instruction::Age { stated, elapsed, .. } => {
                kernel::age(out, registers.values(*stated, rows), registers.values(*elapsed, rows));
            }
            Instruction::Newest { items, .. } => {
                out.fill(f64::NAN);
                for (reading, age) in items {
                    kernel::newer(out, registers.column(*reading, rows), registers.values(*age, rows));
                }
            }
            Instruction::Decay { value, age, loss, .. } => {
                kernel::decay(out, registers.column(*value, rows), registers.values(*age, rows), *loss);
            }
            Instruction::LoadMembers { members, first } => {
                let [_, others @ ..] = members;
                let mut columns = others.map(|member| registers.take(member.to));
                let [b, c, d] = &mut columns;
                let out = [out, cut(b, rows), cut(c, rows), cut(d, rows)];
                let loaded = members.map(|member| Loaded {
                    min: member.min,
                    max: member.max,
                    // A fact that is the same in every row is not loaded but known.
                    fact: match input.facts.column(member.fact) {
                        Column::Values(values) => values,
                        Column::Constant(_) => &[],
                    },
                    weight: match weights_of(input, member.weight) {
                        MemberWeights::Uniform(weight, _) => weight,
                        MemberWeights::ByProfile(..) => 0.0,
                    },
                });
                if let Some(sums) = &mut sums {
                    broken |= if *first {
                        mean::load_members::<true>(out, &loaded, sums, &mut prefetch)
                    } else {
                        mean::load_members::<false>(out, &loaded, sums, &mut prefetch)
                    };
                }
                for (member, column) in others.iter().zip(columns) {
                    registers.put(member.to, column);
                }
            }
            Instruction::Mean { mean, top, items, begun, coverage, .. } => {
                let mut coverage_column = registers.take(*coverage);
                let (before, items) = items.split_at((*begun).min(items.len()));
                let begun = before.iter().map(|item| match weights_of(input, item.weight) {
                    MemberWeights::Uniform(weight, _) => weight,
                    MemberWeights::ByProfile(..) => 0.0,
                });
                let begun = (!before.is_empty()).then(|| begun.sum());
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
                let coverage_out = cut(&mut coverage_column, rows);
                if let Some(sums) = &mut sums {
                    mean::mean(*mean, *top, begun, &members, sums, out, coverage_out);
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
                    if !kernel::tier(out, level, tier, published, coverage) {
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

/// Copies the results of a block to their columns.
#[inline(always)]
pub(super) fn hand_over(code: &Code, registers: &Registers, out: &mut Scores<'_>, rows: usize) {
    let places = &code.places;
    kernel::hand_over(out.score, registers.column(places.score, rows));
    kernel::hand_over(out.coverage, registers.column(places.coverage, rows));
    kernel::hand_over_counts(out.band, registers.values(places.band, rows));
    kernel::hand_over_counts(out.tier, registers.values(places.tier, rows));
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
