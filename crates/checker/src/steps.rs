//! The step of a formula where one of its comparisons turns: found by moving one input across the threshold.
//!
//! Intervals would only bound the step, and far too high where the same input is on both sides; points show it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::declared::Declared;
use super::reach::Reach;
use super::roots::{Roots, let_roots, roots_of};
use karat_core::formula::{Binary, Expr, ExprKind, Symbol};
use karat_core::range::{Interval, Known, Range, Surroundings, evaluate, evaluate_known};
use karat_core::scorecard::{FactType, Scorecard};

/// Number of settings of the other inputs that are tried.
const SAMPLES: u64 = 48;
/// The same, where a card has very many comparisons.
const FEWEST_SAMPLES: u64 = 3;
/// Halvings until two neighbours of a threshold are found: more than the bits of a double.
const HALVINGS: u32 = 80;
/// Bytes of formulas evaluated for one card, at most.
const BUDGET: usize = 30_000_000;

/// Looks for steps, as long as its budget lasts.
pub(super) struct Steps<'d, 'c> {
    declared: &'d Declared<'c>,
    reach: &'d Reach<'d, 'c>,
    hints: Hints,
    /// The symbols that each let rests on.
    roots: Vec<Roots>,
    /// Bytes of formulas that may still be evaluated.
    budget: usize,
    /// Comparisons that still wait for their part of the budget.
    waiting: usize,
}

impl<'d, 'c> Steps<'d, 'c> {
    /// Prepares for a number of comparisons.
    pub(super) fn new(reach: &'d Reach<'d, 'c>, comparisons: usize) -> Self {
        let declared = reach.declared;
        Self {
            declared,
            reach,
            hints: Hints::new(declared.card),
            roots: let_roots(declared.card),
            budget: BUDGET,
            waiting: comparisons.max(1),
        }
    }

    /// Returns whether there is nothing left to look with.
    pub(super) fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// Returns the largest step found in `formula` where `comparison`, a part of it or of one of its `lets`, turns because one
    /// of the inputs `moved` changes. `None` if it was never seen to turn.
    pub(super) fn largest(
        &mut self,
        comparison: &Expr<Symbol>,
        moved: &[Symbol],
        formula: &Expr<Symbol>,
        lets: &[usize],
    ) -> Option<f64> {
        if self.is_spent() {
            return None;
        }
        let named = lets.iter().filter_map(|&at| self.declared.card.lets.get(at));
        let below = named.map(|named| named.formula.text.len()).sum::<usize>();
        let cost = (comparison.span.len() + below + 1) * HALVINGS as usize + 4 * formula.span.len();
        let samples = self.budget / self.waiting / cost / moved.len().max(1);
        let samples = (samples as u64).clamp(FEWEST_SAMPLES, SAMPLES);
        self.waiting = self.waiting.saturating_sub(1).max(1);
        let symbols = roots_of(formula, &self.roots);
        let mut largest: Option<f64> = None;
        for &symbol in moved {
            let Some((low, high)) = span(self.reach, symbol) else { continue };
            for sample in 0..samples {
                if self.budget == 0 {
                    return largest;
                }
                self.budget = self.budget.saturating_sub(cost);
                let mut point = Point::draw(self.reach, sample, &symbols, lets, &self.hints);
                let step = step_at(&mut point, comparison, symbol, (low, high), formula);
                largest = step.map_or(largest, |step| Some(largest.map_or(step, |known| known.max(step))));
            }
        }
        largest
    }
}

/// Moves `symbol` from one end to the other; the step where the comparison turns.
fn step_at(
    point: &mut Point<'_, '_>,
    comparison: &Expr<Symbol>,
    symbol: Symbol,
    (mut low, mut high): (f64, f64),
    formula: &Expr<Symbol>,
) -> Option<f64> {
    let holds = |point: &mut Point<'_, '_>, value: f64| {
        point.set(symbol, value);
        evaluate(comparison, point).flag()
    };
    let before = holds(point, low)?;
    if holds(point, high)? == before {
        // An equality turns and turns back: look on its two sides.
        let ExprKind::Binary(Binary::Equal | Binary::NotEqual, _, other) = &comparison.kind else {
            return None;
        };
        let at = evaluate(other, point).number().low;
        if at <= low || at >= high || holds(point, at)? == before {
            return None;
        }
        high = at;
    }
    let whole = point.is_whole(symbol);
    for _ in 0..HALVINGS {
        let middle = if whole { libm::floor(low + (high - low) / 2.0) } else { low + (high - low) / 2.0 };
        if middle <= low || middle >= high {
            break;
        }
        if holds(point, middle)? == before {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut value = |value: f64| {
        point.set(symbol, value);
        let found = evaluate(formula, point).number();
        (found.low >= found.high && found.low.is_finite()).then_some(found.low)
    };
    let step = (value(high)? - value(low)?).abs();
    if !whole {
        // What is left of a steep slope between two neighbours is not a step.
        return Some(if step > 1e-9 { step } else { 0.0 });
    }
    // From one whole number to the next a formula moves anyway: only what exceeds its slope is a step.
    // An equality turns back at once.
    let is_equality = matches!(comparison.kind, ExprKind::Binary(Binary::Equal | Binary::NotEqual, ..));
    let after = if is_equality { high } else { high + 1.0 };
    let slope = [(low - 1.0, low), (high, after)].map(|(a, b)| match (value(a), value(b)) {
        (Some(a), Some(b)) => (b - a).abs(),
        _ => 0.0,
    });
    Some((step - slope.into_iter().fold(0.0, f64::max)).max(0.0))
}

/// Returns the range over which an input is moved.
fn span(reach: &Reach<'_, '_>, symbol: Symbol) -> Option<(f64, f64)> {
    let Range::Number(Interval { low, high }) = reach.anywhere(symbol) else { return None };
    let low = if low.is_finite() { low } else { high.min(1e6) - 2e6 };
    Some((low, if high.is_finite() { high } else { low + 1e6 }))
}

/// One setting of the inputs of a formula.
struct Point<'p, 'c> {
    declared: &'p Declared<'c>,
    inputs: BTreeMap<Symbol, Range>,
    /// The lets that are needed, lowest first, and what each gives.
    lets: Vec<(usize, (Range, Known))>,
}

impl<'p, 'c> Point<'p, 'c> {
    /// Returns a repeatable draw: ends of the ranges first, then points between.
    fn draw(reach: &Reach<'p, 'c>, sample: u64, symbols: &[Symbol], lets: &[usize], hints: &Hints) -> Self {
        let mut dice = sample.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
        let mut roll = move || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            dice >> 33
        };
        let declared = reach.declared;
        let mut inputs = BTreeMap::new();
        for &symbol in symbols {
            let (chosen, other) = (roll(), roll());
            let number = |value: f64| Range::Number(Interval::point(value));
            let drawn = match symbol {
                Symbol::Fact(at) => {
                    let Some(fact) = declared.card.facts.get(at) else { continue };
                    if fact.kind == FactType::Number {
                        Self::draw_number(reach, symbol, fact.integer, (chosen, other), hints)
                            .map_or(Range::Flag(None), number)
                    } else {
                        Range::Flag(Some(chosen % 3 > 0))
                    }
                }
                Symbol::Reading(at) => {
                    let Interval { low, high } = declared.reading(at);
                    number(if chosen.is_multiple_of(2) { high } else { low })
                }
                Symbol::Score | Symbol::Composite => {
                    let Interval { low, high } = reach.anywhere(symbol).number();
                    number(low + (high - low) * (chosen % 5) as f64 / 4.0)
                }
                Symbol::Coverage => number(1.0),
                Symbol::Let(_) => continue,
            };
            inputs.insert(symbol, drawn);
        }
        let nothing = (Range::Number(Interval::EVERYTHING), Known::Perhaps);
        let lets = lets.iter().map(|&at| (at, nothing)).collect();
        let mut point = Self { declared, inputs, lets };
        point.follow_lets();
        point
    }

    fn draw_number(
        reach: &Reach<'_, '_>,
        symbol: Symbol,
        is_integer: bool,
        (chosen, other): (u64, u64),
        hints: &Hints,
    ) -> Option<f64> {
        let (low, high) = span(reach, symbol)?;
        // Open ranges are explored near their start, where quantities usually lie.
        let end = if high - low >= 1e6 { low + 20.0 } else { high };
        let mut value = low + (end - low) * (chosen % 5) as f64 / 4.0;
        if is_integer {
            value = libm::floor(value);
        }
        // Half of the draws lie where the card compares, or just beyond.
        let thresholds = hints.thresholds(symbol);
        if let Some(threshold) = thresholds.get(other as usize % (2 * thresholds.len()).max(1)) {
            value = threshold.clamp(low, high);
        }
        if hints.divisors.contains(&symbol) && value.abs() <= 0.0 {
            value = end;
        }
        Some(value)
    }

    fn is_whole(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Fact(at) if self.declared.card.facts.get(at).is_some_and(|fact| fact.integer))
    }

    fn set(&mut self, symbol: Symbol, value: f64) {
        if let Some(slot) = self.inputs.get_mut(&symbol) {
            *slot = Range::Number(Interval::point(value));
            self.follow_lets();
        }
    }

    fn follow_lets(&mut self) {
        for place in 0..self.lets.len() {
            let at = self.lets.get(place).map_or(usize::MAX, |(at, _)| *at);
            let Some(named) = self.declared.card.lets.get(at) else { continue };
            let range = evaluate_known(&named.formula.expr, self);
            self.lets.get_mut(place).into_iter().for_each(|slot| slot.1 = range);
        }
    }
}

/// The statements of a card about the numbers that matter.
pub(super) struct Hints {
    /// The facts by which something is divided.
    divisors: BTreeSet<Symbol>,
    /// The numbers with which names are compared, and those next to them.
    thresholds: BTreeMap<Symbol, Vec<f64>>,
}

impl Hints {
    pub(super) fn new(card: &Scorecard) -> Self {
        let mut hints = Self { divisors: BTreeSet::new(), thresholds: BTreeMap::new() };
        for (_, formula) in super::findings::Site::all(card) {
            formula.expr.walk(&mut |node| match &node.kind {
                ExprKind::Binary(Binary::Divide, _, by) => hints.divisors.extend(by.symbols()),
                ExprKind::Binary(_, left, right) => {
                    let (name, number) = match (&left.kind, &right.kind) {
                        (ExprKind::Name(name), _) => (*name, right.literal()),
                        (_, ExprKind::Name(name)) => (*name, left.literal()),
                        _ => return,
                    };
                    let Some(number) = number else { return };
                    let known = hints.thresholds.entry(name).or_default();
                    if known.len() < 12 && !known.contains(&number) {
                        known.extend([number, number + 1.0, number - 1.0]);
                    }
                }
                _ => {}
            });
        }
        hints
    }

    /// Returns the numbers at and next to which something happens to a name.
    pub(super) fn thresholds(&self, name: Symbol) -> &[f64] {
        self.thresholds.get(&name).map_or(&[], Vec::as_slice)
    }
}

impl Surroundings for Point<'_, '_> {
    fn range(&self, symbol: Symbol) -> (Range, Known) {
        let nothing = (Range::Number(Interval::EVERYTHING), Known::Perhaps);
        match symbol {
            Symbol::Let(at) => self
                .lets
                .binary_search_by_key(&at, |(known, _)| *known)
                .ok()
                .and_then(|place| self.lets.get(place))
                .map(|(_, range)| *range),
            _ => self.inputs.get(&symbol).map(|&range| (range, Known::Surely)),
        }
        .unwrap_or(nothing)
    }

    fn is_part(&self, _: Symbol, _: Symbol) -> bool {
        false
    }
}
