//! Explanations: the smallest change of one reading that reaches the next band or tier.
//!
//! No separate formula computes anything here. For each dimension the card is compiled once more with the value of
//! that dimension as a fact, and the engine scores candidate readings: all other formulas, gates and rules stay live,
//! so a gate over the reading opens and closes as it would.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::evaluate::{Column, Columns, Scorer, Scores, Workspace};
use crate::facts::Fact;
use crate::formula::{Expr, ExprKind, Formula, Symbol};
use crate::number::{BILLION, Score, round};
use crate::record::{Published, Record, ValueStatus};
use crate::scorecard::{EvidenceAge, FactDeclaration, FactType, Reporter, Scorecard};

/// Distance of the readings that are tried first, in billionths. Between two of them, and the thresholds written in the
/// card, a dimension is taken to cross each line at most once.
const COARSE_STEP: usize = 1_000_000;
/// Parts into which a stretch is cut, again and again, until its ends are neighbours on the grid: one block of the engine.
const PARTS: i64 = 256;

/// The next level that a score can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level<'a> {
    /// Band or tier.
    pub kind: LevelKind,
    /// Its name in the card.
    pub name: &'a str,
    /// Its place in the card.
    place: usize,
}

crate::words! {
    /// The next level that a score can reach.
    pub enum LevelKind {
        /// A named range of the published score.
        Band = "band",
        /// A certified level with its own conditions.
        Tier = "tier",
    }
}

impl LevelKind {
    /// Returns the levels of this kind in a card, lowest first.
    fn names(self, card: &Scorecard) -> impl DoubleEndedIterator<Item = &str> {
        let (bands, tiers) = match self {
            Self::Band => (card.bands.as_slice(), &[][..]),
            Self::Tier => (&[][..], card.tiers.as_slice()),
        };
        bands.iter().map(|band| band.name.as_str()).chain(tiers.iter().map(|tier| tier.name.as_str()))
    }
}

/// A change of one reading, everything else as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The dimension.
    pub dimension: &'a str,
    /// The label for people.
    pub label: &'a str,
    /// The reading now, in billionths; none if it was not measured.
    pub from: Option<i64>,
    /// The reading that is enough, in billionths.
    pub to: i64,
    /// The band or tier reached by it: the next one, or one above.
    pub reaches: &'a str,
    /// Band or tier.
    pub kind: LevelKind,
    /// The score with this change.
    pub published: Published,
}

/// Returns the next tier above the one reached; for a card without tiers, or at the highest, the next band. None at the top.
pub fn next_level<'a>(record: &Record<'a>) -> Option<Level<'a>> {
    let card = record.card;
    let reached = record.tier.as_ref().and_then(|tier| tier.name);
    let tier = card.tiers.iter().position(|tier| Some(tier.name.as_str()) == reached).map_or(0, |at| at + 1);
    let band =
        card.bands.iter().take_while(|band| record.published.is_some_and(|it| it.reaches(band.from))).count();
    [(LevelKind::Tier, tier), (LevelKind::Band, band)]
        .into_iter()
        .find_map(|(kind, place)| kind.names(card).nth(place).map(|name| Level { kind, name, place }))
}

/// Returns the smallest change of one reading that reaches [`next_level`]; among equal ones the first in card order,
/// upwards before downwards. None at the top, and where no single reading is enough. `record` must be one that `scorer` made.
///
/// A dimension that does not apply is left alone, and one behind a closed gate stays at 0 whatever its value. For one that
/// was not measured the distance counts from the reading that is used in its place, or from 0.
pub fn nearest_change<'a>(scorer: &Scorer, record: &Record<'a>) -> Option<Change<'a>> {
    let next = next_level(record)?;
    let mut nearest: Option<(u64, Change<'a>)> = None;
    for (at, (dimension, now)) in record.card.dimensions.iter().zip(&record.dimensions).enumerate() {
        if now.status == ValueStatus::NotApplicable {
            continue;
        }
        let Some(mut trial) = Trial::new(scorer, record, at, next) else { continue };
        let start = now.reading.unwrap_or(0);
        let Some(reached) = trial.nearest(start, candidates(record, start)) else { continue };
        let distance = reached.reading.abs_diff(start);
        if nearest.as_ref().is_some_and(|&(least, _)| least <= distance) {
            continue;
        }
        let measured = matches!(now.status, ValueStatus::Scored | ValueStatus::Gated);
        let change = Change {
            dimension: &dimension.key,
            label: &dimension.label,
            from: now.reading.filter(|_| measured),
            to: reached.reading,
            reaches: next.kind.names(record.card).nth(reached.place).unwrap_or(next.name),
            kind: next.kind,
            published: record.card.scale.publish(reached.score),
        };
        nearest = Some((distance, change));
    }
    nearest.map(|(_, change)| change)
}

/// Returns the card with the value of one of its dimensions as a fact, the last: any reading can be put in, and all
/// else stays live. None if there is no such dimension.
///
/// A measured dimension applies. Its gate depends on other evidence and is left unchanged.
pub fn with_reading_as_fact(card: &Scorecard, dimension: usize) -> Option<Scorecard> {
    let mut card = card.clone();
    let fact = ExprKind::Name(Symbol::Fact(card.facts.len()));
    let dimension = card.dimensions.get_mut(dimension)?;
    dimension.formula = Formula {
        text: String::new(),
        span: 0..0,
        expr: Expr { kind: fact, span: 0..0 },
        constants: Vec::new(),
    };
    dimension.applies = None;
    dimension.age = EvidenceAge::Now;
    card.facts.push(FactDeclaration {
        name: dimension.key.clone(),
        path: None,
        kind: FactType::Number,
        has_unit: true,
        unit: String::new(),
        min: 0.0,
        max: 1.0,
        max_fact: None,
        integer: false,
        unknown: None,
        from: Reporter::Unstated,
        about: String::new(),
        span: 0..0,
    });
    Some(card)
}

/// The item of a record, scored again with the value of one dimension put in from outside.
struct Trial {
    scorer: Scorer,
    work: Workspace,
    /// The facts of the item, as columns hold them.
    facts: Vec<f64>,
    profile: Option<u32>,
    elapsed_seconds: f64,
    next: usize,
    kind: LevelKind,
}

/// A reading that is enough.
#[derive(Clone, Copy)]
struct Reached {
    reading: i64,
    /// The place of the highest level reached.
    place: usize,
    score: Score,
}

impl Trial {
    fn new(scorer: &Scorer, record: &Record<'_>, at: usize, next: Level<'_>) -> Option<Self> {
        let card = with_reading_as_fact(scorer.card(), at)?;
        let facts = record.item.facts.iter().map(|fact| match fact {
            Fact::Number(value) => *value,
            Fact::Flag(flag) => f64::from(u8::from(*flag)),
            Fact::Missing | Fact::Text(_) => f64::NAN,
        });
        let profile = card.profiles.as_ref().zip(record.profile).and_then(|(profiles, used)| {
            let place = profiles.list.iter().position(|(name, _)| name == used.name)?;
            u32::try_from(place).ok()
        });
        let mut forced = Scorer::new(card).ok()?;
        // The weights in force, an override included.
        forced.weighting = scorer.weighting.clone();
        Some(Self {
            work: Workspace::new(&forced),
            scorer: forced,
            facts: facts.collect(),
            profile,
            elapsed_seconds: record.elapsed_seconds,
            next: next.place,
            kind: next.kind,
        })
    }

    /// Returns the reading nearest to `start` that is enough, `candidates` being sorted and `start` among them.
    fn nearest(&mut self, start: i64, candidates: Vec<i64>) -> Option<Reached> {
        let found = self.score(&candidates);
        let down = found.iter().zip(&candidates).rev().find_map(|(found, &it)| found.filter(|_| it < start));
        let up = found.iter().zip(&candidates).find_map(|(found, &it)| found.filter(|_| it >= start));
        let neighbour = |reached: &Reached| {
            let at = candidates.binary_search(&reached.reading).ok()?;
            let at = if reached.reading > start { at.checked_sub(1)? } else { at + 1 };
            candidates.get(at).copied()
        };
        let mut ends = Vec::new();
        for reached in [up, down].into_iter().flatten() {
            let short = if reached.reading == start { None } else { neighbour(&reached) };
            ends.push(short.map_or(reached, |short| self.refine(short, reached)));
        }
        ends.into_iter().min_by_key(|reached| (reached.reading.abs_diff(start), Reverse(reached.reading)))
    }

    /// Returns the reading nearest to `short`, which is not enough, up to `reached`, which is.
    fn refine(&mut self, mut short: i64, mut reached: Reached) -> Reached {
        while short.abs_diff(reached.reading) > 1 {
            let length = reached.reading - short;
            let parts = PARTS.min(length.abs());
            let steps: Vec<i64> = (1..=parts).map(|part| short + length * part / parts).collect();
            let found = self.score(&steps);
            let Some(first) = found.iter().position(Option::is_some) else { return reached };
            short = first.checked_sub(1).and_then(|before| steps.get(before)).copied().unwrap_or(short);
            reached = found.get(first).copied().flatten().unwrap_or(reached);
        }
        reached
    }

    /// Returns for each reading whether it is enough.
    fn score(&mut self, readings: &[i64]) -> Vec<Option<Reached>> {
        let rows = readings.len();
        let values: Vec<f64> = readings.iter().map(|&reading| reading as f64 / BILLION as f64).collect();
        let facts = self.facts.iter().map(|&fact| Column::Constant(fact));
        let facts: Vec<Column<'_>> = facts.chain([Column::Values(&values)]).collect();
        let profiles = alloc::vec![self.profile.unwrap_or(0); if self.profile.is_some() { rows } else { 0 }];
        let (mut score, mut coverage) = (alloc::vec![0.0; rows], alloc::vec![0.0; rows]);
        let (mut band, mut tier) = (alloc::vec![0u8; rows], alloc::vec![0u8; rows]);
        let columns = Columns {
            facts: &facts,
            profiles: &profiles,
            elapsed_seconds: Column::Constant(self.elapsed_seconds),
        };
        let mut scores = Scores::new(&mut score, &mut coverage, &mut band, &mut tier);
        if self.scorer.score_columns(&mut self.work, &columns, &mut scores).is_err() {
            return alloc::vec![None; rows];
        }
        let levels = match self.kind {
            LevelKind::Band => band,
            LevelKind::Tier => tier,
        };
        let reached = readings.iter().zip(score).zip(levels).map(|((&reading, score), level)| {
            let place = usize::from(level).checked_sub(1).filter(|&place| place >= self.next)?;
            Some(Reached { reading, place, score: Score::from_units(score as i64) })
        });
        reached.collect()
    }
}

/// Returns the readings that are tried first, sorted: an even grid, and whatever the card may compare a reading with,
/// from both sides.
fn candidates(record: &Record<'_>, start: i64) -> Vec<i64> {
    let card = record.card;
    let dimensions = card.dimensions.iter();
    let formulas = dimensions
        .flat_map(|dimension| [Some(&dimension.formula), dimension.when.as_ref(), dimension.applies.as_ref()])
        .flatten()
        .chain(card.lets.iter().map(|named| &named.formula))
        .chain(card.rules.iter().flat_map(|rule| [&rule.when, &rule.set]))
        .chain(card.gates.iter().map(|gate| &gate.when));
    let mut lines: Vec<i64> = record.dimensions.iter().filter_map(|dimension| dimension.reading).collect();
    lines.extend(card.tiers.iter().flat_map(|tier| &tier.floors).map(|&(_, floor)| floor));
    formulas.for_each(|formula| numbers(&formula.expr, &mut lines));
    let around = lines.iter().flat_map(|&line| [line - 1, line, line + 1]);
    let mut readings: Vec<i64> = (0..=BILLION).step_by(COARSE_STEP).chain(around).chain([start]).collect();
    readings.retain(|reading| (0..=BILLION).contains(reading));
    readings.sort_unstable();
    readings.dedup();
    readings
}

/// Collects the numbers of a formula that a reading could be compared with, in billionths.
fn numbers(expr: &Expr<Symbol>, found: &mut Vec<i64>) {
    match &expr.kind {
        ExprKind::Number(value) if (0.0..=1.0).contains(value) => {
            found.push(round(value * BILLION as f64) as i64)
        }
        ExprKind::Number(_) | ExprKind::Flag(_) | ExprKind::Name(_) => {}
        ExprKind::Unary(_, x) => numbers(x, found),
        ExprKind::Binary(_, x, y) => [x, y].into_iter().for_each(|operand| numbers(operand, found)),
        ExprKind::Call(_, arguments) => arguments.iter().for_each(|argument| numbers(argument, found)),
    }
}
