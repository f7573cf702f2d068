//! The pipeline: a checked scorecard, one evidence item and a moment in, a record out.
//!
//! This file is the table of contents of the engine. The order of steps is stated here and nowhere else:
//!
//! 1. **Facts** are taken in and checked against their declarations; a fact out of its range refuses the item.
//! 2. **Readings**: lets, then each dimension: does it apply, is its gate open, what is its value.
//! 3. **Weights**: the profile that the evidence asks for, or the override.
//! 4. **Decay** of each reading by the age of its evidence.
//! 5. **Mean** over what has a reading; coverage.
//! 6. **Rules** in the order of the file.
//! 7. **Gates**: caps.
//! 8. **Publish** on the scale of the card.
//! 9. **Band** and **tier**.
//! 10. **Bounds**: the range in which the missing parts could still move it.
//!
//! Steps 1, 2 and 4 to 9 are instructions of one plan (`plan/`), the weights of step 3 its input
//! ([`crate::weights`]). `facts_check.rs` says why an item is refused, `breakdown.rs` what became of each part of a score,
//! `bounds.rs` does step 10.

use alloc::vec::Vec;

use crate::facts::{Fact, Item};
pub use crate::facts_check::{BrokenRow, ColumnsError, FactError};
use crate::plan::{BLOCK, Facts, Input, Part, Registers, fill, hand_over, run, state};
pub use crate::plan::{Column, Columns, Scores, Source};
use crate::record::{ProfileUse, Record, RecordStatus};
use crate::scorecard::FactType;
pub use crate::scorer::{Context, NotScoreable, Scorer};

/// Room for the intermediate results of one scorer, reused from item to item. Not shared between threads.
#[derive(Debug, Clone)]
pub struct Workspace {
    item: Registers,
    /// The columns for the blocks of a table.
    block: Option<Registers>,
    row: Vec<f64>,
}

impl Workspace {
    /// Makes room for `scorer`.
    pub fn new(scorer: &Scorer) -> Self {
        Self { item: Registers::of_item(&scorer.plan), block: None, row: Vec::new() }
    }
}

/// Returns the status of a score in a table: of one that [`Scores::score`] has, of a row that is not broken.
pub fn status(score: f64) -> RecordStatus {
    match score.is_nan() {
        false => RecordStatus::Scored,
        true if state::is(score, state::WITHHELD) => RecordStatus::Withheld,
        true => RecordStatus::Unscored,
    }
}

impl Scorer {
    /// Scores one item and accounts for every point of it.
    ///
    /// # Errors
    /// If facts break their declarations: every one.
    pub fn score<'a>(
        &'a self,
        work: &mut Workspace,
        item: &Item<'a>,
        context: &Context<'a>,
    ) -> Result<Record<'a>, Vec<FactError>> {
        let profile = self.profile(item);
        let elapsed_seconds = context.elapsed_seconds(item);
        self.run(work, item, profile.map_or(0, |(place, _)| place), elapsed_seconds)?;
        Ok(self.breakdown(&work.item, item, context, profile))
    }

    /// Returns the value that a let of the card had for the item that `work` scored last; a condition is 0 or 1. None if it is
    /// missing or failed, if nothing in the card reads it, or if the card has no let of this name.
    pub fn value_of_let(&self, work: &Workspace, name: &str) -> Option<f64> {
        let at = self.card.lets.iter().position(|named| named.name == name)?;
        let register = (*self.plan.places.lets.get(at)?)?;
        Some(work.item.value(register)).filter(|value| !value.is_nan())
    }

    /// Scores a table, a block of rows at a time. Returns the rows that break a declaration, each with the first fact that does:
    /// they have no score and no coverage (NaN), and the others have theirs.
    ///
    /// # Errors
    /// If the columns do not fit: [`ColumnsError`].
    pub fn score_columns(
        &self,
        work: &mut Workspace,
        columns: &Columns<'_>,
        scores: &mut Scores<'_>,
    ) -> Result<Vec<BrokenRow>, ColumnsError> {
        let rows = scores.score.len();
        let given = columns.facts.iter().chain([&columns.elapsed_seconds]);
        let fits = columns.facts.len() == self.card.facts.len()
            && given.filter_map(|column| column.rows()).all(|len| len == rows)
            && [scores.coverage.len(), scores.band.len(), scores.tier.len()].iter().all(|&len| len == rows)
            && scores
                .readings
                .iter()
                .map(Vec::len)
                .chain(scores.gates.iter().map(Vec::len))
                .all(|len| len == rows)
            && (columns.profiles.is_empty() || columns.profiles.len() == rows);
        if !fits {
            return Err(ColumnsError::Length);
        }
        let profiles = self.card.profiles.as_ref().map_or(0, |profiles| profiles.list.len());
        if let Some(row) = columns.profiles.iter().position(|&profile| profile as usize >= profiles) {
            return Err(ColumnsError::Profile { row });
        }
        let profile = self.card.profiles.as_ref().map_or(0, |profiles| profiles.fallback as u32);
        let mut broken = Vec::new();
        let block = work.block.get_or_insert_with(|| Registers::of_block(&self.plan));
        for start in (0..rows).step_by(BLOCK) {
            let end = rows.min(start + BLOCK);
            let input = Input {
                facts: Facts::Table(columns.facts, start),
                elapsed_seconds: columns.elapsed_seconds.part(start, end - start),
                profile,
                profiles: columns.profiles.get(start..end).unwrap_or_default(),
                weights: &self.weighting.table,
            };
            let is_broken = run(&self.plan, block, &input, end - start);
            hand_over(&self.plan, block, scores, start, end);
            self.fill(scores, start, end);
            if is_broken {
                let known = broken.len();
                broken.extend(self.broken_rows(columns, start, end));
                broken.iter().skip(known).for_each(|found| scores.clear(found.row));
            }
        }
        Ok(broken)
    }

    /// Puts the readings in place that stand for missing ones.
    fn fill(&self, scores: &mut Scores<'_>, start: usize, end: usize) {
        for (dimension, readings) in self.card.dimensions.iter().zip(scores.readings.iter_mut()) {
            let fill = fill(dimension);
            let missing =
                |reading: &&mut f64| reading.is_nan() && !state::is(**reading, state::NOT_APPLICABLE);
            let readings = readings.get_mut(start..end).unwrap_or_default();
            readings.iter_mut().filter(missing).for_each(|reading| *reading = fill);
        }
    }

    /// Returns the profile that an item asks for: its index, and whether the fallback is used instead.
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

    /// Steps 1 to 9 for one item, as a block of one row.
    pub(crate) fn run(
        &self,
        work: &mut Workspace,
        item: &Item<'_>,
        profile: usize,
        elapsed_seconds: f64,
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
        let input = Input {
            facts: Facts::Row(&row),
            elapsed_seconds: Part::Constant(elapsed_seconds),
            profile: profile as u32,
            profiles: &[],
            weights: &self.weighting.table,
        };
        let broken = run(&self.plan, &mut work.item, &input, 1);
        let errors = if broken || !fits { self.check_facts(item, &row) } else { Vec::new() };
        work.row = row;
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}
