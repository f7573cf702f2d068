//! The highest value of something over all facts of a card: the ranges with the highest bound are halved until a point
//! reaches the bound, or the budget is spent. A bound that no point reached still holds.

use alloc::vec::Vec;
use core::cell::Cell;

use super::declared::{Declared, FUEL, fill};
use super::direction::{Direction, Reaches};
use super::findings::Site;
use super::reach::Reach;
use super::roots::lets_of;
use karat_core::formula::{Expr, ExprKind, Function, Symbol};
use karat_core::range::{Interval, Known, Range, Surroundings, evaluate};
use karat_core::scorecard::{FactType, MissingPolicy, Scorecard};

/// Bytes of formulas that are evaluated for one card, and for one bound.
const BUDGET: usize = 8_000_000;
const BUDGET_OF_ONE: usize = 600_000;
/// Boxes for one bound, at most.
const BOXES: usize = 500;
/// Distance from a bound at which it is reached.
const NEAR: f64 = 1e-9;
/// Facts without an end are tried up to here.
const FAR: f64 = 1e9;

/// The searches for the highest values of a card.
pub(super) struct Tops<'t, 'c> {
    card: &'c Scorecard,
    pub(super) reach: &'t Reach<'t, 'c>,
    reaches: &'t Reaches,
    directions: &'t [Direction],
    /// Bytes of all formulas.
    size: usize,
    left: Cell<usize>,
    /// The highest final score, once it is known.
    of_score: Cell<Option<Top>>,
}

/// A bound, and the highest value that a point showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Top {
    /// Nothing is higher.
    pub at_most: f64,
    /// Some facts, all of them present, give this.
    pub reached: f64,
}

/// A range for every fact, and whether it is there.
type Facts = Vec<(Range, Known)>;

impl<'t, 'c> Tops<'t, 'c> {
    pub(super) fn new(reach: &'t Reach<'t, 'c>, reaches: &'t Reaches, directions: &'t [Direction]) -> Self {
        let card = reach.declared.card;
        let size = Site::all(card).map(|(_, formula)| formula.text.len() + 64).sum();
        let (left, of_score) = (Cell::new(BUDGET), Cell::new(None));
        Self { card, reach, reaches, directions, size, left, of_score }
    }

    /// Returns the highest final score.
    pub(super) fn of_score(&self) -> Top {
        let of = |reach: &Reach<'_, '_>| Some(reach.last().high);
        let none = Top { at_most: 0.0, reached: 0.0 };
        let found = || self.highest(f64::INFINITY, &[], &|at| self.weight(at), &of).unwrap_or(none);
        let top = self.of_score.get().unwrap_or_else(found);
        self.of_score.set(Some(top));
        top
    }

    /// Returns the highest score before a gate where it holds; `None` if it never does.
    pub(super) fn where_holds(&self, site: Site, condition: &Expr<Symbol>) -> Option<Top> {
        let focus = self.reaches.facts_of(&[condition]);
        let weight = |at: usize| if focus.contains(&at) { 1.0 } else { self.weight(at) };
        let sure = needed(self.card, self.reaches, condition);
        self.highest(f64::INFINITY, &sure, &weight, &|reach| {
            let before = reach.before(site);
            let inside = before.and(condition, true)?;
            let holds = evaluate(condition, &before).flag() != Some(false);
            holds.then(|| inside.range_of_number(Symbol::Score).high)
        })
    }

    /// Returns whether a condition is the same everywhere.
    pub(super) fn constant(&self, site: Site, condition: &Expr<Symbol>) -> Option<bool> {
        let known = self.reach.decided(site, condition);
        // Points have every fact: nothing more is found where a missing one decides.
        let asks = |node: &Expr<Symbol>| {
            matches!(node.kind, ExprKind::Call(Function::IsMissing | Function::Coalesce, _))
        };
        if known.is_some() || any_part(self.card, condition, &asks) {
            return known;
        }
        let focus = self.reaches.facts_of(&[condition]);
        let weight = |at: usize| if focus.contains(&at) { 1.0 } else { self.weight(at) };
        let is_ever = |truth: bool| {
            let of = |reach: &Reach<'_, '_>| {
                let found = reach.decided(site, condition);
                (found != Some(!truth)).then(|| if found == Some(truth) { 1.0 } else { 2.0 })
            };
            // Where it surely is `truth` somewhere, there is nothing more to look for.
            self.highest(1.0, &[], &weight, &of).is_some()
        };
        match (is_ever(true), is_ever(false)) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Returns the highest value of a dimension; `None` if it is never scored.
    pub(super) fn of_dimension(&self, at: usize) -> Option<Top> {
        let of = |reach: &Reach<'_, '_>| {
            let declared = reach.declared;
            let dimension = declared.card.dimensions.get(at)?;
            declared.scored(dimension)?;
            declared.values.get(at).map(|value| value.high.min(1.0))
        };
        let formula = &self.card.dimensions.get(at)?.formula.expr;
        let focus = self.reaches.facts_of(&[formula]);
        self.highest(f64::INFINITY, &[], &|at| if focus.contains(&at) { 1.0 } else { 0.0 }, &of)
    }

    /// Returns the bound over a box, if there is a score in it.
    fn bound(&self, facts: &Facts, of: &dyn Fn(&Reach<'_, '_>) -> Option<f64>) -> Option<f64> {
        let fuel = u32::try_from(8 * self.size).unwrap_or(FUEL).min(FUEL);
        let declared = Declared::over(self.card, fuel, facts.clone());
        let reach = Reach::new(&declared);
        of(&reach).filter(|_| reach.is_scored)
    }

    /// Returns how much is won by halving a fact: what can only help or harm is at its end already.
    fn weight(&self, at: usize) -> f64 {
        match self.directions.get(at) {
            Some(Direction::Flat) => 0.0,
            Some(Direction::Up | Direction::Down) => 1e-3,
            _ => 1.0,
        }
    }

    /// Looks for the highest value as long as a point does not reach `enough`.
    fn highest(
        &self,
        enough: f64,
        sure: &[usize],
        weight: &dyn Fn(usize) -> f64,
        of: &dyn Fn(&Reach<'_, '_>) -> Option<f64>,
    ) -> Option<Top> {
        let mut all: Facts =
            (0..self.card.facts.len()).map(|at| self.reach.declared.range(Symbol::Fact(at))).collect();
        sure.iter().for_each(|&at| all.get_mut(at).into_iter().for_each(|slot| slot.1 = Known::Surely));
        let mut boxes = Vec::from([(of(self.reach)?, all)]);
        let mut reached = f64::NEG_INFINITY;
        let mut budget = BUDGET_OF_ONE;
        for _ in 0..BOXES {
            let highest = boxes.iter().enumerate().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
            let (place, at_most) = highest.map(|(place, (upper, _))| (place, *upper))?;
            let cost = 5 * self.size;
            if budget < cost || self.left.get() < cost {
                return Some(Top { at_most, reached });
            }
            budget -= cost;
            self.left.set(self.left.get() - cost);
            let (_, facts) = boxes.get(place)?;
            for part in [0.5, 0.0] {
                let found = self.bound(&self.corner(facts, part), of);
                reached = found.map_or(reached, |found| reached.max(found.min(at_most)));
            }
            let halves =
                if reached >= enough.min(at_most - NEAR) { None } else { self.halves(facts, weight) };
            let Some(halves) = halves else { return Some(Top { at_most, reached }) };
            boxes.swap_remove(place);
            for half in halves {
                if let Some(upper) = self.bound(&half, of) {
                    boxes.push((upper.min(at_most), half));
                }
            }
            // Nowhere: every half was impossible.
            if boxes.is_empty() {
                return None;
            }
        }
        let at_most = boxes.iter().map(|(upper, _)| *upper).reduce(f64::max)?;
        Some(Top { at_most, reached })
    }

    /// Returns a point of a box at which the score is highest, as far as directions tell.
    fn corner(&self, facts: &Facts, part: f64) -> Facts {
        let way = |at: usize| self.directions.get(at).copied().unwrap_or(Direction::Both);
        let ends = facts.iter().enumerate().map(|(at, (range, known))| {
            let is_gone = *known == Known::Never;
            (at_end(*range, way(at), part), if is_gone { Known::Never } else { Known::Surely })
        });
        let mut point: Facts = ends.collect();
        for (at, fact) in self.card.facts.iter().enumerate() {
            let whole =
                fact.max_fact.and_then(|whole| point.get(whole)).map(|(whole, _)| whole.number().high);
            let value = point.get(at).map_or(0.0, |(value, _)| value.number().high);
            let value = if fact.integer { libm::floor(value) } else { value };
            if let (FactType::Number, Some(slot)) = (fact.kind, point.get_mut(at)) {
                slot.0 = Range::Number(Interval::point(whole.map_or(value, |whole| value.min(whole))));
            }
        }
        point
    }

    /// Returns a box in two halves, across the fact that takes most of its range.
    fn halves(&self, facts: &Facts, weight: &dyn Fn(usize) -> f64) -> Option<[Facts; 2]> {
        let width = |at: usize| match facts.get(at)? {
            (_, Known::Perhaps) => Some(0.5),
            (_, Known::Never) | (Range::Flag(Some(_)), _) => None,
            (Range::Flag(None), _) => Some(0.4),
            (Range::Number(range), _) if range.high - range.low == f64::INFINITY => Some(2.0),
            (Range::Number(range), _) => {
                let all = self.reach.declared.range(Symbol::Fact(at)).0.number();
                let of = all.high - all.low;
                let of = if of.is_finite() { of } else { 1.0 + range.low.abs() };
                Some((range.high - range.low) / of).filter(|width| *width > 1e-7)
            }
        };
        let widths = (0..facts.len()).filter_map(|at| Some((width(at)? * weight(at), at)));
        let widths = widths.filter(|(width, _)| *width > 0.0);
        let (_, at) = widths.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))?;
        let (range, known) = facts.get(at).copied()?;
        let with = |range: Range, known: Known| {
            let mut half = facts.clone();
            half.get_mut(at).into_iter().for_each(|slot| *slot = (range, known));
            half
        };
        if known == Known::Perhaps {
            return Some([with(range, Known::Surely), with(range, Known::Never)]);
        }
        let Range::Number(Interval { low, high }) = range else {
            return Some([true, false].map(|flag| with(Range::Flag(Some(flag)), known)));
        };
        let middle = match (low.is_finite(), high.is_finite()) {
            (true, true) => low + (high - low) / 2.0,
            (true, false) => low.max(0.0) * 2.0 + 1.0,
            (false, true) => high.min(0.0) * 2.0 - 1.0,
            (false, false) => 0.0,
        };
        let is_integer = self.reach.declared.is_integer(Symbol::Fact(at));
        let (end, start) =
            if is_integer { (libm::floor(middle), libm::floor(middle) + 1.0) } else { (middle, middle) };
        let number = |low: f64, high: f64| with(Range::Number(Interval { low, high }), known);
        (low <= end && start <= high).then(|| [number(low, end), number(start, high)])
    }
}

/// Returns an end of a range, or a part of the way through it where nothing says which.
fn at_end(range: Range, way: Direction, part: f64) -> Range {
    let Range::Number(Interval { low, high }) = range else {
        return Range::Flag(Some(range.flag().unwrap_or(way == Direction::Up)));
    };
    let (low, high) = (if low.is_finite() { low } else { high.min(FAR) - 2.0 * FAR }, high);
    let high = if high.is_finite() { high } else { low.max(0.0) + FAR };
    let value = match way {
        Direction::Up => high,
        Direction::Down => low,
        Direction::Flat | Direction::Both => low + (high - low) * part,
    };
    Range::Number(Interval::point(value))
}

/// Returns facts without which a formula has no value.
fn needed(card: &Scorecard, reaches: &Reaches, formula: &Expr<Symbol>) -> Vec<usize> {
    let is_lenient = |node: &Expr<Symbol>| {
        matches!(node.kind, ExprKind::Call(Function::If | Function::IsMissing | Function::Coalesce, _))
    };
    let mut facts = Vec::new();
    let mut waiting = Vec::from([formula]);
    while let Some(formula) = waiting.pop() {
        if any_part(card, formula, &is_lenient) {
            continue;
        }
        for root in reaches.roots_of(formula) {
            match root {
                Symbol::Fact(at) => facts.push(at),
                // Where a dimension is named that nothing replaces, it was scored.
                Symbol::Reading(at) => {
                    let dimension = card.dimensions.get(at);
                    let dimension = dimension.filter(|it| it.when.is_none() && fill(it).is_none());
                    waiting.extend(dimension.map(|it| &it.formula.expr));
                }
                _ => {}
            }
        }
    }
    facts
}

/// Returns the facts without which a card has no score.
pub(super) fn needed_for_a_score(card: &Scorecard, reaches: &Reaches) -> Vec<usize> {
    let withheld = card.dimensions.iter().filter(|dimension| {
        let is_sure = dimension.when.is_none() && dimension.applies.is_none();
        is_sure && dimension.missing == MissingPolicy::Withhold
    });
    withheld.flat_map(|dimension| needed(card, reaches, &dimension.formula.expr)).collect()
}

/// Returns whether a formula has such a part, itself or in a let.
pub(super) fn any_part(
    card: &Scorecard,
    formula: &Expr<Symbol>,
    is_such: &dyn Fn(&Expr<Symbol>) -> bool,
) -> bool {
    let lets = lets_of(card, formula).into_iter().filter_map(|at| card.lets.get(at));
    lets.map(|named| &named.formula.expr).chain([formula]).any(|formula| formula.parts().any(is_such))
}
