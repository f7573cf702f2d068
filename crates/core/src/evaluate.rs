//! The pipeline: a checked scorecard, one evidence item and a moment in, a record out.
//!
//! This file is the table of contents of the engine. The order of steps is stated here and nowhere else:
//!
//! 1. **Facts** are taken in and checked against their declarations; a fact out of its range refuses the item.
//! 2. **Readings**: lets, then each dimension: does it apply, is its gate open, what is its value.
//! 3. **Weights**: the profile that the evidence asks for, or the override.
//! 4. **Mean** over what has a reading; coverage.
//! 5. **Rules** in the order of the file.
//! 6. **Gates**: caps.
//! 7. **Publish** on the scale of the card.
//! 8. **Band** and **tier**.
//! 9. **Bounds**: what the missing parts could still make of it.
//!
//! Steps 1, 2 and 4 to 8 are instructions of one plan (`plan/`), the weights of step 3 its input
//! ([`crate::weights`]). `facts_check.rs` says why an item is refused, `account.rs` what became of each part of a score,
//! `bounds.rs` does step 9.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::account;
use crate::facts::{Fact, Item};
pub use crate::facts_check::FactError;
use crate::formula::Symbol;
use crate::number::Decimal;
pub use crate::plan::Column;
use crate::plan::vector::{Instructions, execute, hand_over};
use crate::plan::{BLOCK, Code, FactColumns, Input, Known, Registers};
use crate::record::{ProfileUse, Record};
use crate::scorecard::{FactType, Scorecard};
use crate::timestamp::WrittenTimestamp;
use crate::weights::{NoOverride, OverrideUse, Weighting};

/// A card ready to score, compiled once.
#[derive(Debug, Clone)]
pub struct Scorer {
    pub(crate) card: Scorecard,
    pub(crate) plan: Code,
    pub(crate) weighting: Weighting,
    pub(crate) override_use: Option<OverrideUse>,
    /// For each dimension what it needs, lets opened: to name what is missing.
    pub(crate) needs: Vec<Vec<Symbol>>,
}

/// A family is a palette: its challenges are scored, not the family itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotScoreable(
    /// The family.
    pub String,
);

impl fmt::Display for NotScoreable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is a family of challenges: name one of its challenges", self.0)
    }
}

/// Bytes in a page of memory on most machines, and in a block of a column.
const PAGE_BYTES: usize = 4096;

/// What is given besides the evidence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The time of the verdict; its text is written into the record.
    pub as_of: Option<WrittenTimestamp<'a>>,
}

/// Room for the intermediate results of one scorer, reused from item to item. Not shared between threads.
#[derive(Debug, Clone)]
pub struct Workspace {
    instructions: Instructions,
    single: Registers,
    table: Option<Table>,
    row: Vec<f64>,
}

/// Code for a table, and the columns for its blocks.
#[derive(Debug, Clone)]
struct Table {
    known: Known,
    code: Code,
    block: Registers,
}

impl Table {
    fn new(card: &Scorecard, known: Known) -> Self {
        let code = Code::for_table(card, &known);
        Self { known, block: Registers::new(&code), code }
    }
}

impl Workspace {
    /// Room for `scorer`, with the fastest instructions that this processor has.
    #[must_use]
    pub fn new(scorer: &Scorer) -> Self {
        Self::with(scorer, Instructions::best())
    }

    /// Room for `scorer`, with instructions that every processor has. The results are the same.
    #[must_use]
    pub fn portable(scorer: &Scorer) -> Self {
        Self::with(scorer, Instructions::portable())
    }

    fn with(scorer: &Scorer, instructions: Instructions) -> Self {
        Self { instructions, single: Registers::new(&scorer.plan), table: None, row: Vec::new() }
    }
}

/// Many items as columns.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// One column per fact of the card, in its order; a text fact is a constant NaN.
    pub facts: &'a [Column<'a>],
    /// The profile of each row by its place in the card; empty for the fallback throughout, or a card without profiles.
    pub profiles: &'a [u32],
}

/// Where the results of [`Scorer::score_columns`] go; all slices are as long as the columns.
#[derive(Debug)]
pub struct Scores<'a> {
    /// The score in units of 1e-15; NaN where there is none.
    pub score: &'a mut [f64],
    /// The coverage in billionths.
    pub coverage: &'a mut [f64],
    /// How many bands start at or below the published score: 0 for none, else the place of the band plus 1.
    pub band: &'a mut [u8],
    /// How many tiers are reached.
    pub tier: &'a mut [u8],
}

impl Scores<'_> {
    /// Rows `start` to `end`.
    fn part(&mut self, start: usize, end: usize) -> Scores<'_> {
        Scores {
            score: self.score.get_mut(start..end).unwrap_or_default(),
            coverage: self.coverage.get_mut(start..end).unwrap_or_default(),
            band: self.band.get_mut(start..end).unwrap_or_default(),
            tier: self.tier.get_mut(start..end).unwrap_or_default(),
        }
    }
}

/// A table that cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnsError {
    /// Columns, profiles and results are not all as long as each other, or a column is not there.
    Length,
    /// A row asks for a profile that the card does not have.
    Profile {
        /// The row, from 0.
        row: usize,
    },
    /// A value breaks the declaration of its fact.
    Fact {
        /// The row, from 0.
        row: usize,
        /// What is wrong with it.
        error: FactError,
    },
}

impl fmt::Display for ColumnsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the columns are not all there, or not of one length"),
            Self::Profile { row } => write!(f, "row {row}: the card has no profile of this number"),
            Self::Fact { row, error } => write!(f, "row {row}: {error}"),
        }
    }
}

impl Scorer {
    /// Compiles a card.
    ///
    /// # Errors
    /// [`NotScoreable`] for a family.
    pub fn new(card: Scorecard) -> Result<Self, NotScoreable> {
        if card.family.is_some() {
            return Err(NotScoreable(card.name()));
        }
        let needs = (0..card.dimensions.len()).map(|at| account::needs(&card, at)).collect();
        Ok(Self {
            plan: Code::for_items(&card),
            weighting: Weighting::new(&card, None),
            override_use: None,
            needs,
            card,
        })
    }

    /// The same card under weights from outside; whether they were accepted stands in [`Scorer::override_use`] and in every record.
    ///
    /// # Errors
    /// [`NoOverride`] when the card does not take overrides.
    pub fn with_override(&self, given: &[(String, Decimal)]) -> Result<Self, NoOverride> {
        let used = OverrideUse::new(&self.card, given)?;
        let weighting = Weighting::new(&self.card, Some(&used.effective));
        Ok(Self { weighting, override_use: Some(used), ..self.clone() })
    }

    /// The card.
    #[must_use]
    pub const fn card(&self) -> &Scorecard {
        &self.card
    }

    /// What became of the weights from outside, if any were given.
    #[must_use]
    pub const fn override_use(&self) -> Option<&OverrideUse> {
        self.override_use.as_ref()
    }

    /// Scores one item and accounts for every point of it.
    ///
    /// # Errors
    /// Every fact that breaks its declaration.
    pub fn score<'a>(
        &'a self,
        work: &mut Workspace,
        item: &Item<'a>,
        context: &Context<'a>,
    ) -> Result<Record<'a>, Vec<FactError>> {
        let profile = self.profile(item);
        self.run(work, item, profile.map_or(0, |(place, _)| place))?;
        Ok(self.account(&work.single, item, context, profile))
    }

    /// The value that a let of the card had for the item that `work` scored last; a condition is 0 or 1. None if it is
    /// missing or failed, if nothing in the card reads it, or if the card has no let of this name.
    #[must_use]
    pub fn value_of_let(&self, work: &Workspace, name: &str) -> Option<f64> {
        let at = self.card.lets.iter().position(|named| named.name == name)?;
        let register = (*self.plan.places.lets.get(at)?)?;
        Some(work.single.value(register)).filter(|value| !value.is_nan())
    }

    /// Scores a table, a block of rows at a time.
    ///
    /// # Errors
    /// [`ColumnsError`]; results before the row that is named are there, the others mean nothing.
    pub fn score_columns(
        &self,
        work: &mut Workspace,
        columns: &Columns<'_>,
        scores: &mut Scores<'_>,
    ) -> Result<(), ColumnsError> {
        let rows = scores.score.len();
        let fits = columns.facts.len() == self.card.facts.len()
            && columns
                .facts
                .iter()
                .all(|column| !matches!(column, Column::Values(values) if values.len() != rows))
            && [scores.coverage.len(), scores.band.len(), scores.tier.len()].iter().all(|&len| len == rows)
            && (columns.profiles.is_empty() || columns.profiles.len() == rows);
        if !fits {
            return Err(ColumnsError::Length);
        }
        let profiles = self.card.profiles.as_ref().map_or(0, |profiles| profiles.list.len());
        if let Some(row) = columns.profiles.iter().position(|&profile| profile as usize >= profiles) {
            return Err(ColumnsError::Profile { row });
        }
        let profile = self.card.profiles.as_ref().map_or(0, |profiles| profiles.fallback as u32);
        let known = Known::new(columns.facts, &self.weighting.table);
        let table = match work.table.take_if(|table| table.known == known) {
            Some(table) => table,
            None => Table::new(&self.card, known),
        };
        let Table { code, block, .. } = work.table.insert(table);
        let mut start = 0;
        let mut end = rows.min(first_block(columns.facts));
        while start < rows {
            let profiles = columns.profiles.get(start..end).unwrap_or_default();
            let facts = FactColumns::Table { columns: columns.facts, start, rows: end - start };
            let mut part = scores.part(start, end);
            let results = [&*part.score, &*part.coverage];
            let input = Input { facts, profile, profiles, results: &results, weights: &self.weighting.table };
            if execute(work.instructions, code, block, &input, end - start) {
                return Err(self.broken_row(columns, start, end));
            }
            hand_over(work.instructions, code, block, &mut part, end - start);
            start = end;
            end = rows.min(start + BLOCK);
        }
        Ok(())
    }

    /// The profile that an item asks for: its place and whether the fallback stands in.
    fn profile<'a>(&'a self, item: &Item<'a>) -> Option<(usize, ProfileUse<'a>)> {
        let profiles = self.card.profiles.as_ref()?;
        let asked = match item.facts.get(profiles.by) {
            Some(Fact::Text(text)) => Some(*text),
            _ => None,
        };
        let found = profiles.list.iter().position(|(name, _)| Some(name.as_str()) == asked);
        let place = found.unwrap_or(profiles.fallback);
        let name = profiles.list.get(place).map_or("", |(name, _)| name.as_str());
        Some((place, ProfileUse { name, asked, fallback: found.is_none() }))
    }

    /// Steps 1 to 8 for one item, as a block of one row.
    pub(crate) fn run(
        &self,
        work: &mut Workspace,
        item: &Item<'_>,
        profile: usize,
    ) -> Result<(), Vec<FactError>> {
        work.row.clear();
        work.row.extend(item.facts.iter().map(|fact| match fact {
            Fact::Number(value) => *value,
            Fact::Flag(flag) => f64::from(u8::from(*flag)),
            Fact::Missing | Fact::Text(_) => f64::NAN,
        }));
        let fits = item.facts.len() == self.card.facts.len()
            && self.card.facts.iter().zip(item.facts).all(|(declared, fact)| match fact {
                Fact::Missing => true,
                Fact::Number(value) => declared.kind == FactType::Number && value.is_finite(),
                Fact::Flag(_) => declared.kind == FactType::Boolean,
                Fact::Text(_) => declared.kind == FactType::Text,
            });
        let row = core::mem::take(&mut work.row);
        let facts = FactColumns::Row(&row);
        let weights = &self.weighting.table;
        let input = Input { facts, profile: profile as u32, profiles: &[], results: &[], weights };
        let broken = execute(work.instructions, &self.plan, &mut work.single, &input, 1);
        let errors = if broken || !fits { self.check_facts(item, &row) } else { Vec::new() };
        work.row = row;
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Rows of the first block: so many that the next one begins where a page of memory does, if the columns can be in step. Then a
/// block of a column is one page, and vectors never lie across two lines of the cache.
fn first_block(facts: &[Column<'_>]) -> usize {
    let ahead = facts.iter().find_map(|column| match column {
        Column::Values(values) => Some(values.as_ptr().align_offset(PAGE_BYTES)),
        Column::Constant(_) => None,
    });
    ahead.filter(|rows| (1..=BLOCK).contains(rows)).unwrap_or(BLOCK)
}
