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
//! Steps 1, 2 and 4 to 8 are instructions of one plan ([`crate::plan`]); what this file adds is the account of them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use crate::bounds;
use crate::facts::{Fact, Item};
use crate::formula::Symbol;
use crate::number::Score;
pub use crate::plan::Column;
use crate::plan::vector::{Instructions, execute};
use crate::plan::{BLOCK, FactColumns, Input, Plan, Registers, state};
use crate::record::{
    Blocker, Condition, DimensionRecord, ProfileUse, Published, ReadingStatus, Reason, Record, Status, Step,
    StepKind, TierRecord, Warning,
};
use crate::scorecard::{FactDeclaration, FactType, Mean, MissingPolicy, Scorecard, Tier};
use crate::shares::share_out;
use crate::weights::{NoOverride, OverrideUse, Weighting};

/// A card ready to score, compiled once.
#[derive(Debug, Clone)]
pub struct Scorer {
    pub(crate) card: Scorecard,
    pub(crate) plan: Plan,
    pub(crate) weighting: Weighting,
    override_use: Option<OverrideUse>,
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

/// What is given besides the evidence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The moment of the verdict, as RFC 3339; it is written into the record.
    pub as_of: Option<&'a str>,
}

/// A fact that breaks its declaration: the item is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactError {
    /// The fact.
    pub fact: String,
    /// What the evidence says.
    pub found: String,
    /// What the card declares.
    pub expected: String,
}

impl fmt::Display for FactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fact `{}` is {}, expected {}", self.fact, self.found, self.expected)
    }
}

/// Room for the intermediate results of one scorer, reused from item to item. Not shared between threads.
#[derive(Debug, Clone)]
pub struct Workspace {
    instructions: Instructions,
    single: Registers,
    block: Registers,
    row: Vec<f64>,
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
        Self {
            instructions,
            single: Registers::new(&scorer.plan.full, 1),
            block: Registers::new(&scorer.plan.compact, BLOCK),
            row: Vec::new(),
        }
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

/// A table that cannot be scored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnsError {
    /// Columns, profiles and results are not all as long as each other, or a column is not there.
    Length,
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
        let needs = (0..card.dimensions.len()).map(|at| needs(&card, at)).collect();
        Ok(Self {
            plan: Plan::compile(&card),
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
    pub fn with_override(&self, given: &[(String, crate::number::Decimal)]) -> Result<Self, NoOverride> {
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
        let register = (*self.plan.full.places.lets.get(at)?)?;
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
        let profile = self.card.profiles.as_ref().map_or(0, |profiles| profiles.fallback as u32);
        let mut start = 0;
        while start < rows {
            let end = rows.min(start + BLOCK);
            let profiles = columns.profiles.get(start..end).unwrap_or_default();
            let facts = FactColumns::Table { columns: columns.facts, start, rows: end - start };
            let input = Input { facts, profile, profiles, weights: &self.weighting.table };
            if execute(work.instructions, &self.plan.compact, &mut work.block, &input, end - start) {
                return Err(self.broken_row(columns, start, end));
            }
            let places = &self.plan.compact.places;
            let copy = |out: &mut [f64], register| {
                if let Some(out) = out.get_mut(start..end) {
                    out.copy_from_slice(work.block.column(register, end - start));
                }
            };
            copy(scores.score, places.score);
            copy(scores.coverage, places.coverage);
            for (out, register) in [(&mut *scores.band, places.band), (&mut *scores.tier, places.tier)] {
                let column = work.block.column(register, end - start);
                for (out, &count) in out.get_mut(start..end).unwrap_or_default().iter_mut().zip(column) {
                    *out = count as u8;
                }
            }
            start = end;
        }
        Ok(())
    }

    /// The first row of a block that breaks a declaration.
    fn broken_row(&self, columns: &Columns<'_>, start: usize, end: usize) -> ColumnsError {
        for row in start..end {
            let at = |fact: usize| match columns.facts.get(fact) {
                Some(Column::Values(values)) => values.get(row).copied().unwrap_or(f64::NAN),
                Some(Column::Constant(value)) => *value,
                None => f64::NAN,
            };
            let error = self.card.facts.iter().enumerate().find_map(|(place, fact)| {
                if fact.kind == FactType::Text { None } else { self.check_number(fact, at(place), &at) }
            });
            if let Some(error) = error {
                return ColumnsError::Fact { row, error };
            }
        }
        ColumnsError::Length
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
        let input = Input { facts, profile: profile as u32, profiles: &[], weights: &self.weighting.table };
        let broken = execute(work.instructions, &self.plan.full, &mut work.single, &input, 1);
        let errors = if broken || !fits { self.check_facts(item, &row) } else { Vec::new() };
        work.row = row;
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn check_facts(&self, item: &Item<'_>, row: &[f64]) -> Vec<FactError> {
        let mut errors = Vec::new();
        let at = |place: usize| row.get(place).copied().unwrap_or(f64::NAN);
        for (place, declared) in self.card.facts.iter().enumerate() {
            let expected = match declared.kind {
                FactType::Number => "a number",
                FactType::Boolean => "true or false",
                FactType::Text => "a text",
            };
            let error = |found: String| FactError {
                fact: declared.name.clone(),
                found,
                expected: expected.to_string(),
            };
            match (item.facts.get(place), declared.kind) {
                (None | Some(Fact::Missing), _)
                | (Some(Fact::Flag(_)), FactType::Boolean)
                | (Some(Fact::Text(_)), FactType::Text) => {}
                (Some(Fact::Number(value)), FactType::Number) if !value.is_finite() => {
                    errors.push(error("not a finite number".to_string()));
                }
                (Some(Fact::Number(_)), FactType::Number) => {
                    errors.extend(self.check_number(declared, at(place), &at));
                }
                (Some(Fact::Number(value)), _) => errors.push(error(format!("the number {value}"))),
                (Some(Fact::Flag(flag)), _) => errors.push(error(format!("{flag}"))),
                (Some(Fact::Text(text)), _) => errors.push(error(format!("the text `{text}`"))),
            }
        }
        errors
    }

    /// What is wrong with a number, if anything.
    fn check_number(
        &self,
        declared: &FactDeclaration,
        value: f64,
        at: &dyn Fn(usize) -> f64,
    ) -> Option<FactError> {
        if value.is_nan() || Some(value) == declared.unknown {
            return None;
        }
        let measured = |&(other, bound): &(usize, f64)| {
            self.card.facts.get(other).is_some_and(|fact| fact.unknown != Some(bound))
        };
        let bound = declared.max_fact.map(|other| (other, at(other))).filter(measured);
        let whole = declared.kind == FactType::Boolean || declared.integer;
        let (min, max) =
            if declared.kind == FactType::Boolean { (0.0, 1.0) } else { (declared.min, declared.max) };
        let expected = if !value.is_finite() {
            "a finite number".to_string()
        } else if value < min {
            format!("at least {min}")
        } else if value > max {
            format!("at most {max}")
        } else if whole && value != libm::trunc(value) {
            "a whole number".to_string()
        } else if let Some((other, bound)) = bound.filter(|&(_, bound)| value > bound) {
            let name = self.card.facts.get(other).map_or("", |fact| &fact.name);
            format!("at most `{name}`, which is {bound}")
        } else {
            return None;
        };
        Some(FactError { fact: declared.name.clone(), found: format!("{value}"), expected })
    }

    /// The record of what the registers hold.
    fn account<'a>(
        &'a self,
        registers: &Registers,
        item: &Item<'a>,
        context: &Context<'a>,
        profile: Option<(usize, ProfileUse<'a>)>,
    ) -> Record<'a> {
        let (card, places) = (&self.card, &self.plan.full.places);
        let profile_place = profile.map_or(0, |(place, _)| place);
        let raw_score = registers.value(places.score);
        let status = if state::is(raw_score, state::WITHHELD) {
            Status::Withheld
        } else if raw_score.is_nan() {
            Status::Unscored
        } else {
            Status::Scored
        };
        let scored = status == Status::Scored;
        let to_score = |units: f64| scored.then(|| Score::from_units(units as i64));
        let score = to_score(raw_score);
        let composite = to_score(registers.value(places.composite));
        let published = score.map(|score| card.scale.publish(score));
        let mut warnings = Vec::new();
        if let Some((_, used)) = profile
            && used.fallback
        {
            warnings.push(Warning::ProfileFallback { asked: used.asked, used: used.name });
        }
        self.warn_about_override(&mut warnings);
        let mut dimensions = self.dimension_records(registers, item, profile_place, &mut warnings);
        let group_reading =
            |at: usize| places.groups.get(at).map_or(f64::NAN, |&group| registers.value(group));
        let weighted = share_out(self, profile_place, scored, &mut dimensions, &group_reading);
        let mut steps = Vec::new();
        if let (Some(weighted), Some(composite)) = (weighted, composite)
            && (!matches!(card.mean, Mean::WeightedSum | Mean::WeightedMean) || weighted != composite)
        {
            steps.push(Step {
                kind: StepKind::Mean,
                name: card.mean.name(),
                before: weighted,
                after: composite,
            });
        }
        let mut undecided = Vec::new();
        let mut before = registers.value(places.composite);
        for (rule, &(when, set, after)) in card.rules.iter().zip(&places.rules) {
            let (when, set, after) = (registers.value(when), registers.value(set), registers.value(after));
            if when.is_nan() || (when == 1.0 && set.is_nan()) {
                undecided.push(rule.name.as_str());
            } else if when == 1.0 {
                steps.extend(step(StepKind::Rule, &rule.name, to_score(before), to_score(after)));
            }
            before = after;
        }
        let mut gates = Vec::new();
        for (gate, &(when, after)) in card.gates.iter().zip(&places.gates) {
            let (when, after) = (registers.value(when), registers.value(after));
            if when.is_nan() {
                undecided.push(gate.name.as_str());
            } else if when == 1.0 {
                gates.push(gate.name.as_str());
                if gate.cap.is_some() {
                    steps.extend(step(StepKind::Gate, &gate.name, to_score(before), to_score(after)));
                }
            }
            before = after;
        }
        warnings.extend(undecided.iter().map(|&name| Warning::Undecided { name }));
        let band = (registers.value(places.band) as usize).checked_sub(1).filter(|_| scored);
        let coverage = registers.value(places.coverage) as i64;
        let tier = (!card.tiers.is_empty()).then(|| {
            let reached = if scored { registers.value(places.tier) as usize } else { 0 };
            self.tier_record(registers, reached, published, coverage)
        });
        let mut record = Record {
            card,
            item: *item,
            as_of: context.as_of,
            status,
            score,
            published,
            composite,
            coverage,
            bounds: None,
            profile: profile.map(|(_, used)| used),
            override_use: self.override_use.as_ref(),
            dimensions,
            steps,
            undecided,
            gates,
            band: band.and_then(|at| card.bands.get(at)).map(|band| band.name.as_str()),
            tier,
            warnings,
        };
        record.bounds = bounds::of(self, &record, profile_place);
        record
    }

    fn warn_about_override<'a>(&'a self, warnings: &mut Vec<Warning<'a>>) {
        let Some(used) = &self.override_use else { return };
        if !used.applied {
            warnings.push(Warning::OverrideRejected);
            return;
        }
        let mandatory = |at: usize| {
            self.card.tiers.iter().any(|tier| tier.floors.iter().any(|&(dimension, _)| dimension == at))
        };
        for (at, (dimension, weight)) in self.card.dimensions.iter().zip(&used.effective).enumerate() {
            if mandatory(at) && weight.millionths() * 10 < dimension.weight.millionths() {
                warnings.push(Warning::WeakMandatory { dimension: &dimension.key });
            }
        }
    }

    fn dimension_records<'a>(
        &'a self,
        registers: &Registers,
        item: &Item<'a>,
        profile: usize,
        warnings: &mut Vec<Warning<'a>>,
    ) -> Vec<DimensionRecord<'a>> {
        let mut records = Vec::with_capacity(self.card.dimensions.len());
        for (at, (dimension, places)) in
            self.card.dimensions.iter().zip(&self.plan.full.places.dimensions).enumerate()
        {
            let reading = registers.value(places.reading);
            let value = registers.value(places.value);
            let closed = places.when.is_some_and(|when| registers.value(when) == 0.0);
            let failure = state::failure(reading);
            let status = if state::is(reading, state::NOT_APPLICABLE) {
                ReadingStatus::NotApplicable
            } else if failure.is_some() {
                ReadingStatus::Failed
            } else if reading.is_nan() {
                ReadingStatus::Missing
            } else if closed {
                ReadingStatus::Gated
            } else {
                ReadingStatus::Scored
            };
            let condition = |formula: &'a Option<crate::formula::Formula>| {
                Reason::ConditionFalse(formula.as_ref().map_or("", |formula| &formula.text))
            };
            let reason = match status {
                ReadingStatus::Scored => Reason::None,
                ReadingStatus::Gated => condition(&dimension.when),
                ReadingStatus::NotApplicable => condition(&dimension.applies),
                ReadingStatus::Missing => self.missing_need(at, registers, item),
                ReadingStatus::Failed => Reason::Failure(failure.unwrap_or("no result")),
            };
            let unknown = matches!(status, ReadingStatus::Missing | ReadingStatus::Failed);
            let filled = match dimension.missing {
                MissingPolicy::Zero if unknown => Some(0),
                MissingPolicy::Default(billionths) if unknown => {
                    warnings.push(Warning::DefaultUsed { dimension: &dimension.key });
                    Some(billionths)
                }
                _ => None,
            };
            records.push(DimensionRecord {
                key: &dimension.key,
                status,
                reading: if reading.is_nan() { filled } else { Some(reading as i64) },
                value: (!value.is_nan()).then_some(value),
                weight: self.weighting.weight(at, profile),
                effective_weight: 0,
                contribution: Score::ZERO,
                reason,
                group: dimension
                    .group
                    .and_then(|at| self.card.groups.get(at))
                    .map(|group| group.key.as_str()),
            });
        }
        records
    }

    /// Whether the card puts a reading in where a dimension has none.
    fn is_filled(&self, dimension: usize) -> bool {
        let policy = self.card.dimensions.get(dimension).map(|dimension| dimension.missing);
        matches!(policy, Some(MissingPolicy::Zero | MissingPolicy::Default(_)))
    }

    /// The first thing a dimension needs that is not there.
    fn missing_need<'a>(&'a self, dimension: usize, registers: &Registers, item: &Item<'a>) -> Reason<'a> {
        let places = &self.plan.full.places.dimensions;
        let absent = |symbol: &Symbol| match *symbol {
            Symbol::Fact(at) => match item.facts.get(at) {
                Some(Fact::Number(value)) => {
                    self.card.facts.get(at).is_some_and(|fact| fact.unknown == Some(*value))
                }
                Some(Fact::Missing) | None => true,
                Some(_) => false,
            },
            // A policy that puts a reading in leaves nothing to need, except where the dimension does not apply.
            Symbol::Reading(at) => {
                places.get(at).map(|place| registers.value(place.reading)).is_some_and(|reading| {
                    reading.is_nan() && (state::is(reading, state::NOT_APPLICABLE) || !self.is_filled(at))
                })
            }
            _ => false,
        };
        let needs = self.needs.get(dimension).map_or(&[][..], Vec::as_slice);
        match needs.iter().copied().find(absent) {
            Some(symbol) => Reason::Needs(self.card.symbol_name(symbol)),
            None => Reason::None,
        }
    }

    fn tier_record(
        &self,
        registers: &Registers,
        reached: usize,
        published: Option<Published>,
        coverage: i64,
    ) -> TierRecord<'_> {
        let card = &self.card;
        let next = card.tiers.get(reached);
        let blocked_by =
            next.map_or_else(Vec::new, |tier| self.blockers(registers, reached, tier, published, coverage));
        TierRecord {
            name: reached.checked_sub(1).and_then(|at| card.tiers.get(at)).map(|tier| tier.name.as_str()),
            next: next.map(|tier| tier.name.as_str()),
            blocked_by,
        }
    }

    fn blockers<'a>(
        &'a self,
        registers: &Registers,
        reached: usize,
        tier: &'a Tier,
        published: Option<Published>,
        coverage: i64,
    ) -> Vec<Blocker<'a>> {
        let (card, places) = (&self.card, &self.plan.full.places);
        let mut blockers = Vec::new();
        if !published.is_some_and(|published| published.reaches(tier.score)) {
            blockers.push(Blocker { condition: Condition::Score, needed: tier.score, found: published });
        }
        let share = |billionths: i64| Published { value: billionths, places: 9 };
        if coverage < tier.coverage.millionths() * 1000 {
            blockers.push(Blocker {
                condition: Condition::Coverage,
                needed: tier.coverage,
                found: Some(share(coverage)),
            });
        }
        for &(at, floor) in &tier.floors {
            let reading = places.dimensions.get(at).map_or(f64::NAN, |place| registers.value(place.reading));
            if reading >= floor as f64 {
                continue;
            }
            let key = card.dimensions.get(at).map_or("", |dimension| &dimension.key);
            let found = (!reading.is_nan()).then(|| share(reading as i64));
            let needed = crate::number::Decimal::from_millionths(floor / 1000);
            blockers.push(Blocker { condition: Condition::Dimension(key), needed, found });
        }
        for (gate, &(when, _)) in card.gates.iter().zip(&places.gates) {
            if registers.value(when) == 1.0 && gate.tier_limit.is_some_and(|limit| limit <= reached) {
                let needed = crate::number::Decimal::ZERO;
                blockers.push(Blocker { condition: Condition::Gate(&gate.name), needed, found: None });
            }
        }
        blockers
    }
}

fn step(kind: StepKind, name: &str, before: Option<Score>, after: Option<Score>) -> Option<Step<'_>> {
    Some(Step { kind, name, before: before?, after: after? })
}

/// What a dimension reads, lets opened: `applies` first, then `when`, then the formula.
fn needs(card: &Scorecard, dimension: usize) -> Vec<Symbol> {
    let mut found = Vec::new();
    let Some(dimension) = card.dimensions.get(dimension) else { return found };
    let formulas = [dimension.applies.as_ref(), dimension.when.as_ref(), Some(&dimension.formula)];
    for formula in formulas.into_iter().flatten() {
        open(card, &formula.expr, &mut found);
    }
    found
}

fn open(card: &Scorecard, expr: &crate::formula::Expr<Symbol>, found: &mut Vec<Symbol>) {
    for symbol in expr.symbols() {
        if found.contains(&symbol) {
            continue;
        }
        found.push(symbol);
        if let Symbol::Let(at) = symbol
            && let Some(named) = card.lets.get(at)
        {
            open(card, &named.formula.expr, found);
        }
    }
}
