//! The step of a formula where one of its comparisons turns: found by moving one input across the threshold.
//!
//! Intervals would only bound the step, and far too high where the same input is on both sides; points show it.

use super::points::{Cone, Hints, Point, span};
use super::reach::Reach;
use karat_core::formula::{Binary, Expr, ExprKind, Symbol};
use karat_core::range::evaluate;

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
    reach: &'d Reach<'d, 'c>,
    hints: Hints,
    /// Bytes of formulas that may still be evaluated.
    budget: usize,
    /// Comparisons that still wait for their part of the budget.
    waiting: usize,
}

impl<'d, 'c> Steps<'d, 'c> {
    /// Prepares for a number of comparisons.
    pub(super) fn new(reach: &'d Reach<'d, 'c>, comparisons: usize) -> Self {
        Self { reach, hints: Hints::new(reach.declared.card), budget: BUDGET, waiting: comparisons.max(1) }
    }

    /// Returns whether there is nothing left to look with.
    pub(super) fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// Returns the largest step found in `formula` where `comparison`, a part of it or of one of its lets, turns because one of the
    /// inputs `moved` changes. `None` if it was never seen to turn.
    pub(super) fn largest(
        &mut self,
        comparison: &Expr<Symbol>,
        moved: &[Symbol],
        formula: &Expr<Symbol>,
    ) -> Option<f64> {
        let cone = Cone::new(self.reach.declared.card, &[formula], false);
        let cost = (comparison.span.len() + cone.size + 1) * HALVINGS as usize + 4 * formula.span.len();
        let samples = self.budget / self.waiting / cost / moved.len().max(1);
        let samples = (samples as u64).clamp(FEWEST_SAMPLES, SAMPLES);
        self.waiting = self.waiting.saturating_sub(1).max(1);
        let mut largest: Option<f64> = None;
        for &symbol in moved {
            let Some(ends) = span(self.reach, symbol, 1e6) else { continue };
            for sample in 0..samples {
                self.budget = self.budget.saturating_sub(cost);
                let mut point = Point::draw(self.reach, &cone, sample, &self.hints);
                let step = step_at(&mut point, comparison, symbol, ends, formula);
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
    let whole = point.reach.declared.is_integer(symbol);
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
        point.value(formula)
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
