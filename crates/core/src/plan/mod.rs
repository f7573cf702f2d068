//! The plan: a card compiled to a list of instructions over columns of numbers.
//!
//! The same list scores one item (a block of one row) and a table (blocks of [`BLOCK`] rows).
//! `compile` builds it, `run` carries it out, `kernel` and `mean` hold the loops, `vectors` compiles them for wide vectors as well.

mod compile;
mod kernel;
mod mean;
mod run;
mod vectors;

use alloc::vec::Vec;

pub(crate) use compile::{fill, units};
pub(crate) use mean::mean_of_points;
pub(crate) use run::{Facts, Input, Registers, hand_over};
pub(crate) use vectors::run;

use crate::decay::Loss;
use crate::scorecard::Mean;

/// Rows that are worked on together: few enough that all columns lie in a near cache, many enough to hide the dispatch.
pub(crate) const BLOCK: usize = 128;

/// "No value", as NaNs whose payload says why. Higher payloads win where operands differ. Only moved and selected,
/// never computed.
pub(crate) mod state {
    const fn nan(code: u64) -> f64 {
        f64::from_bits(0x7ff8_0000_0000_0000 | code)
    }

    /// A needed fact is missing.
    pub(crate) const MISSING: f64 = nan(1);
    /// The dimension, or every member of the group, does not apply.
    pub(crate) const NOT_APPLICABLE: f64 = nan(2);
    /// A dimension that must be there is not: no score.
    pub(crate) const WITHHELD: f64 = nan(3);
    /// Division by zero.
    pub(crate) const DIVISION: f64 = nan(8);
    /// A root or logarithm of a number outside its domain.
    pub(crate) const DOMAIN: f64 = nan(9);
    /// A result too large for a number.
    pub(crate) const OVERFLOW: f64 = nan(10);

    /// Returns true for exactly this state.
    #[inline(always)]
    pub(crate) fn is(value: f64, state: f64) -> bool {
        value.to_bits() == state.to_bits()
    }

    /// Returns why a formula failed, if it did.
    pub(crate) fn failure(value: f64) -> Option<&'static str> {
        if is(value, DIVISION) {
            Some("division by zero")
        } else if is(value, DOMAIN) {
            Some("root or logarithm of a number outside its domain")
        } else if is(value, OVERFLOW) {
            Some("a result too large for a number")
        } else {
            None
        }
    }
}

/// The values of one fact over many items, NaN where it is missing; 0 and 1 for booleans.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// A value per row.
    Values(&'a [f64]),
    /// One value for all rows: NaN for a fact that no row has.
    Constant(f64),
    /// Values in another form, read a block at a time.
    Source(&'a dyn Source),
}

/// The values of one fact over many items, in whatever form they have: buffers of another library, narrower numbers, bits.
pub trait Source: core::fmt::Debug + Sync {
    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Writes the values of the rows from `start` on, as many as `out` has room for: NaN where one is missing, 0 and 1 for
    /// booleans.
    fn read(&self, start: usize, out: &mut [f64]);
}

impl<'a> Scores<'a> {
    /// Returns room for the scores alone.
    pub fn new(
        score: &'a mut [f64],
        coverage: &'a mut [f64],
        band: &'a mut [u8],
        tier: &'a mut [u8],
    ) -> Self {
        Self { score, coverage, band, tier, readings: &mut [], gates: &mut [] }
    }

    /// Takes away everything that a row has.
    pub(crate) fn clear(&mut self, row: usize) {
        for numbers in [&mut *self.score, &mut *self.coverage]
            .into_iter()
            .chain(self.readings.iter_mut().map(Vec::as_mut_slice))
        {
            numbers.iter_mut().skip(row).take(1).for_each(|number| *number = f64::NAN);
        }
        for counts in
            [&mut *self.band, &mut *self.tier].into_iter().chain(self.gates.iter_mut().map(Vec::as_mut_slice))
        {
            counts.iter_mut().skip(row).take(1).for_each(|count| *count = 0);
        }
    }
}

/// The rows of a column in one block.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'a> {
    Values(&'a [f64]),
    Constant(f64),
    /// From this row on.
    Source(&'a dyn Source, usize),
}

/// Many items as columns.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// One column per fact of the card, in its order; a text fact is a constant NaN.
    pub facts: &'a [Column<'a>],
    /// The profile of each row by its place in the card; empty for the fallback throughout, or a card without profiles.
    pub profiles: &'a [u32],
    /// The seconds from the time of each item to the moment of its score, NaN where one of the two is not known. Only a
    /// card with decay reads them.
    pub elapsed_seconds: Column<'a>,
}

/// The slices that [`crate::evaluate::Scorer::score_columns`] fills; all are as long as the columns.
#[derive(Debug)]
pub struct Scores<'a> {
    /// The score in units of 1e-15; NaN without one.
    pub score: &'a mut [f64],
    /// The coverage in billionths.
    pub coverage: &'a mut [f64],
    /// Number of bands that start at or below the published score: 0 for none, else the place of the band plus 1.
    pub band: &'a mut [u8],
    /// Number of tiers that are reached.
    pub tier: &'a mut [u8],
    /// The reading of each dimension in billionths, NaN without one; empty for none.
    pub readings: &'a mut [Vec<f64>],
    /// 1 where a gate holds, for each gate; empty for none.
    pub gates: &'a mut [Vec<u8>],
}

impl<'a> Column<'a> {
    /// Returns the column from row `start`, `rows` rows of it.
    #[inline(always)]
    pub(crate) fn part(self, start: usize, rows: usize) -> Part<'a> {
        match self {
            Column::Values(values) => Part::Values(values.get(start..start + rows).unwrap_or_default()),
            Column::Constant(value) => Part::Constant(value),
            Column::Source(source) => Part::Source(source, start),
        }
    }

    /// Returns the number of rows, if the column has one.
    pub(crate) fn rows(self) -> Option<usize> {
        match self {
            Column::Values(values) => Some(values.len()),
            Column::Constant(_) => None,
            Column::Source(source) => Some(source.rows()),
        }
    }

    /// Returns the value of a row; NaN beyond the end.
    pub(crate) fn row(self, row: usize) -> f64 {
        match self.part(row, 1) {
            Part::Values(values) => values.first().copied().unwrap_or(f64::NAN),
            Part::Constant(value) => value,
            Part::Source(source, start) => {
                let mut value = [f64::NAN];
                source.read(start, &mut value);
                value[0]
            }
        }
    }
}

impl Part<'_> {
    /// Writes the values.
    #[inline(always)]
    pub(crate) fn read(self, out: &mut [f64]) {
        match self {
            Part::Values(values) => out.iter_mut().zip(values).for_each(|(out, &value)| *out = value),
            Part::Constant(value) => out.fill(value),
            Part::Source(source, start) => source.read(start, out),
        }
    }
}

/// The place of a column.
pub(crate) type Register = u32;

/// One instruction, and the column that it writes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Instruction {
    pub to: Register,
    pub operation: Operation,
}

/// The work of an instruction: it reads columns and writes one (a mean: two).
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    /// A fact from outside, checked against its declaration; NaN and the `unknown` value become missing.
    Load {
        fact: usize,
        limits: Limits,
    },
    Unary {
        operator: UnaryOperator,
        x: Register,
    },
    Binary {
        operator: BinaryOperator,
        x: Register,
        y: Register,
    },
    /// `if c { a } else { b }`.
    Select {
        c: Register,
        a: Register,
        b: Register,
    },
    /// A value in 0..1 to a reading in whole billionths; `applies` and `when` first.
    Reading {
        value: Register,
        when: Option<Register>,
        applies: Option<Register>,
    },
    /// The seconds from the time of the item to the moment of its score.
    Elapsed,
    /// The age that evidence had at the time of the item, and what has elapsed since, as far as they are known.
    Age {
        stated: Register,
        elapsed: Register,
    },
    /// The lowest age of those whose reading is there: reading and age of each.
    Newest {
        items: Vec<(Register, Register)>,
    },
    /// A reading (or composite) less what its age takes.
    Decay {
        value: Register,
        age: Register,
        loss: Loss,
    },
    /// The mean of a group or of the top level, and its coverage in billionths.
    Mean {
        mean: Mean,
        top: bool,
        items: Vec<MeanItem>,
        coverage: Register,
    },
    /// A rule: where `when` holds and `set` has a value, the score becomes `set`, on the grid.
    Rule {
        when: Register,
        set: Register,
        score: Register,
    },
    /// A gate: where `when` holds, the score is at most `cap` units.
    Cap {
        when: Register,
        cap: f64,
        score: Register,
    },
    /// The score in published digits.
    Publish {
        rounding: Rounding,
        score: Register,
    },
    /// Number of the ascending `thresholds` that the published score reaches.
    Band {
        thresholds: Vec<f64>,
        published: Register,
    },
    /// Number of tiers that are reached.
    Tiers {
        tiers: Vec<TierLevel>,
        gates: Vec<(Register, f64)>,
        published: Register,
        coverage: Register,
    },
}

/// The limits of a loaded fact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    pub min: f64,
    pub max: f64,
    pub max_fact: Option<usize>,
    /// The value that says that the bounding fact was not measured: then nothing is bounded.
    pub bound_unknown: f64,
    pub integer: bool,
    pub unknown: f64,
}

impl Limits {
    /// The values of a condition: 0 or 1.
    const FLAG: Self = Self {
        min: 0.0,
        max: 1.0,
        max_fact: None,
        bound_unknown: f64::NAN,
        integer: true,
        unknown: f64::NAN,
    };
}

/// One member of a mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeanItem {
    /// Its reading in billionths, or why it has no reading.
    pub reading: Register,
    /// Coverage of a group; a dimension is covered or not.
    pub coverage: Option<Register>,
    /// The reading that replaces a missing one, in billionths; NaN for none.
    pub fill: f64,
    /// Withhold the score when missing.
    pub withhold: bool,
    /// Its place in the weight table.
    pub weight: usize,
}

/// The rounding of the published digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rounding {
    Exact,
    /// Down, to multiples of this many units.
    Floor(f64),
    /// To the nearest multiple of this many units, halves up.
    HalfUp(f64),
}

/// The conditions of one tier.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TierLevel {
    pub published: f64,
    pub coverage: f64,
    /// Readings that must reach a floor, in billionths.
    pub floors: Vec<(Register, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UnaryOperator {
    Negate,
    Not,
    Abs,
    Floor,
    Ceil,
    Sqrt,
    Exp,
    Ln,
    Log2,
    IsMissing,
    /// Billionths to a value in 0..1; what does not apply counts as missing.
    FromBillionths,
    /// Units of 1e-15 to a value in 0..1.
    FromUnits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BinaryOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
    Pow,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Coalesce,
    /// A reading, or its substitute where it is missing or failed; not where the dimension does not apply.
    Fill,
}

/// A compiled card: instructions and where their results lie.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub instructions: Vec<Instruction>,
    /// Number of columns.
    pub registers: usize,
    /// Columns that hold one value throughout.
    pub constants: Vec<(Register, f64)>,
    pub places: Places,
}

/// The registers of the results.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Places {
    /// The lets that something reads.
    pub lets: Vec<Option<Register>>,
    pub dimensions: Vec<DimensionPlaces>,
    pub groups: Vec<Register>,
    /// The mean before decay, and the age that it decays by, where the composite decays as a whole.
    pub aged: Option<(Register, Register)>,
    pub composite: Register,
    pub coverage: Register,
    /// Condition, formula and result of each rule.
    pub rules: Vec<(Register, Register, Register)>,
    /// Condition and result of each gate.
    pub gates: Vec<(Register, Register)>,
    pub score: Register,
    pub published: Register,
    pub band: Register,
    pub tier: Register,
}

/// The registers of the parts of a dimension.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct DimensionPlaces {
    pub value: Register,
    pub when: Option<Register>,
    pub applies: Option<Register>,
    /// The reading before decay.
    pub measured: Register,
    /// The age of its evidence, for a card with decay.
    pub age: Option<Register>,
    pub reading: Register,
}
