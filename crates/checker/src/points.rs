//! Points: one setting of the inputs of a formula, through everything that it rests on.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::declared::{fill, to_grid};
use super::reach::Reach;
use karat_core::formula::{Binary, Expr, ExprKind, Symbol};
use karat_core::range::{Interval, Known, Range, Surroundings, evaluate_known};
use karat_core::scorecard::{Dimension, FactType, Scorecard};

/// The inputs of some formulas, and the lets and dimensions between, each after what it needs.
pub(super) struct Cone {
    pub(super) inputs: Vec<Symbol>,
    order: Vec<Symbol>,
    /// Bytes of the formulas between.
    pub(super) size: usize,
}

impl Cone {
    /// Takes every fact for an input, and nothing between.
    pub(super) fn of_facts(card: &Scorecard) -> Self {
        Self { inputs: (0..card.facts.len()).map(Symbol::Fact).collect(), order: Vec::new(), size: 0 }
    }

    /// Follows formulas down to facts; to the values of dimensions unless those are opened.
    pub(super) fn new(card: &Scorecard, formulas: &[&Expr<Symbol>], opens_readings: bool) -> Self {
        let mut cone = Self { inputs: Vec::new(), order: Vec::new(), size: 0 };
        let mut seen: BTreeSet<Symbol> = BTreeSet::new();
        let symbols = |formula: &Expr<Symbol>| formula.symbols().into_iter().map(|symbol| (symbol, false));
        let mut waiting: Vec<(Symbol, bool)> = formulas.iter().flat_map(|formula| symbols(formula)).collect();
        while let Some((symbol, is_ready)) = waiting.pop() {
            if is_ready {
                cone.order.push(symbol);
                continue;
            }
            if !seen.insert(symbol) {
                continue;
            }
            let below: Vec<&Expr<Symbol>> = match symbol {
                Symbol::Let(at) => card.lets.get(at).map(|named| &named.formula.expr).into_iter().collect(),
                Symbol::Reading(at) if opens_readings => card.dimensions.get(at).map_or(Vec::new(), parts_of),
                _ => Vec::new(),
            };
            if below.is_empty() {
                cone.inputs.push(symbol);
                continue;
            }
            cone.size += below.iter().map(|formula| formula.span.len()).sum::<usize>();
            waiting.push((symbol, true));
            waiting.extend(below.into_iter().flat_map(symbols));
        }
        cone.inputs.sort_unstable();
        cone
    }
}

/// Returns the formula of a dimension and its gate.
fn parts_of(dimension: &Dimension) -> Vec<&Expr<Symbol>> {
    dimension.when.iter().chain([&dimension.formula]).map(|formula| &formula.expr).collect()
}

/// One setting of the inputs.
#[derive(Clone)]
pub(super) struct Point<'p, 'c> {
    pub(super) reach: &'p Reach<'p, 'c>,
    cone: &'p Cone,
    values: BTreeMap<Symbol, (Range, Known)>,
}

impl<'p, 'c> Point<'p, 'c> {
    /// Returns a repeatable draw: ends of the ranges first, then points between.
    pub(super) fn draw(reach: &'p Reach<'p, 'c>, cone: &'p Cone, sample: u64, hints: &Hints) -> Self {
        let mut dice = sample.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
        let mut roll = move || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            dice >> 33
        };
        let mut point = Self { reach, cone, values: BTreeMap::new() };
        for &symbol in &cone.inputs {
            let (chosen, other) = (roll(), roll());
            let drawn = match symbol {
                Symbol::Fact(at) => {
                    let Some(fact) = reach.declared.card.facts.get(at) else { continue };
                    if fact.kind == FactType::Number {
                        point.draw_number(symbol, fact.integer, (chosen, other), hints)
                    } else {
                        Range::Flag(Some(chosen % 3 > 0))
                    }
                }
                Symbol::Reading(at) => {
                    let Interval { low, high } = reach.declared.reading(at);
                    number(if chosen.is_multiple_of(2) { high } else { low })
                }
                Symbol::Score | Symbol::Composite => {
                    let Interval { low, high } = reach.anywhere(symbol).number();
                    number(low + (high - low) * (chosen % 5) as f64 / 4.0)
                }
                Symbol::Coverage => number(1.0),
                Symbol::Let(_) => continue,
            };
            point.values.insert(symbol, (drawn, Known::Surely));
        }
        point.follow();
        point
    }

    fn draw_number(
        &self,
        symbol: Symbol,
        is_integer: bool,
        (chosen, other): (u64, u64),
        hints: &Hints,
    ) -> Range {
        let Some((low, high)) = span(self.reach, symbol, 1e6) else { return Range::Flag(None) };
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
        number(value)
    }

    /// Sets an input, if the formulas have it.
    pub(super) fn set(&mut self, symbol: Symbol, value: f64) {
        if let Some(slot) = self.values.get_mut(&symbol) {
            let is_flag = matches!(slot.0, Range::Flag(_));
            slot.0 = if is_flag { Range::Flag(Some(value > 0.5)) } else { number(value) };
            slot.1 = if value.is_nan() { Known::Never } else { Known::Surely };
            self.follow();
        }
    }

    /// Moves every input to a part of its range; one without an end to where quantities usually lie.
    pub(super) fn spread(&mut self, part: impl Fn(Symbol) -> f64) {
        for symbol in self.cone.inputs.clone() {
            let (low, high) = span(self.reach, symbol, 20.0).unwrap_or((0.0, 1.0));
            let value = low + (high - low) * part(symbol);
            match self.values.get_mut(&symbol) {
                Some((Range::Number(slot), _)) => {
                    let is_whole = self.reach.declared.is_integer(symbol);
                    *slot = Interval::point(if is_whole { libm::floor(value) } else { value });
                }
                Some((Range::Flag(slot), _)) => *slot = Some(part(symbol) >= 0.5),
                None => {}
            }
        }
        self.follow();
    }

    /// Returns a fact as a column holds it: NaN where it is missing.
    pub(super) fn fact(&self, at: usize) -> f64 {
        let (range, known) = self.range(Symbol::Fact(at));
        let number = range.number();
        if known == Known::Surely && number.low >= number.high { number.high } else { f64::NAN }
    }

    /// Takes an input away.
    pub(super) fn forget(&mut self, symbol: Symbol) {
        if let Some(slot) = self.values.get_mut(&symbol) {
            slot.1 = Known::Never;
        }
    }

    /// Returns the bounds of an input here: its whole, its parts, and what is declared.
    pub(super) fn limits(&self, symbol: Symbol) -> Interval {
        let mut limits = self.reach.anywhere(symbol).number();
        let Symbol::Fact(at) = symbol else { return limits };
        let card = self.reach.declared.card;
        let value = |at: usize| self.values.get(&Symbol::Fact(at)).map(|(range, _)| range.number().high);
        let whole = card.facts.get(at).and_then(|fact| fact.max_fact).and_then(value);
        limits.high = whole.map_or(limits.high, |whole| limits.high.min(whole));
        for (part, _) in card.facts.iter().enumerate().filter(|(_, fact)| fact.max_fact == Some(at)) {
            limits.low = value(part).map_or(limits.low, |part| limits.low.max(part));
        }
        limits
    }

    /// Lowers every part to its whole.
    pub(super) fn fit(&mut self) {
        for _ in 0..3 {
            for &symbol in &self.cone.inputs {
                let Symbol::Fact(at) = symbol else { continue };
                let whole = self.reach.declared.card.facts.get(at).and_then(|fact| fact.max_fact);
                let most = whole
                    .and_then(|whole| self.values.get(&Symbol::Fact(whole)))
                    .map(|most| most.0.number().high);
                if let (Some(most), Some(slot)) =
                    (most.filter(|most| !most.is_nan()), self.values.get_mut(&symbol))
                {
                    slot.0 = number(slot.0.number().high.min(most));
                }
            }
        }
        self.follow();
    }

    /// Returns the value of a formula, if it has one here.
    pub(super) fn value(&self, formula: &Expr<Symbol>) -> Option<f64> {
        let (range, known) = evaluate_known(formula, self);
        let found = range.number();
        (found.low >= found.high && found.low.is_finite() && known != Known::Never).then_some(found.low)
    }

    fn follow(&mut self) {
        for &symbol in &self.cone.order {
            let card = self.reach.declared.card;
            let found = match symbol {
                Symbol::Let(at) => card.lets.get(at).map(|named| evaluate_known(&named.formula.expr, self)),
                Symbol::Reading(at) => card.dimensions.get(at).map(|dimension| self.reading(dimension)),
                _ => None,
            };
            self.values.extend(found.map(|found| (symbol, found)));
        }
    }

    fn reading(&self, dimension: &Dimension) -> (Range, Known) {
        let gate = dimension.when.as_ref().map_or(Some(1.0), |when| self.value(&when.expr));
        let value = match gate {
            Some(open) if open > 0.5 => self.value(&dimension.formula.expr).map(to_grid),
            other => other.map(|_| 0.0),
        };
        value
            .or(fill(dimension))
            .map_or((Range::Number(Interval::UNIT), Known::Never), |value| (number(value), Known::Surely))
    }
}

fn number(value: f64) -> Range {
    Range::Number(Interval::point(value))
}

/// Returns the ends of the range of a number; one without an end reaches as far as `far`.
pub(super) fn span(reach: &Reach<'_, '_>, symbol: Symbol, far: f64) -> Option<(f64, f64)> {
    let Range::Number(Interval { low, high }) = reach.anywhere(symbol) else { return None };
    let low = if low.is_finite() { low } else { high.min(far) - 2.0 * far };
    Some((low, if high.is_finite() { high } else { low + far }))
}

impl Surroundings for Point<'_, '_> {
    fn range(&self, symbol: Symbol) -> (Range, Known) {
        let nothing = (Range::Number(Interval::EVERYTHING), Known::Perhaps);
        self.values.get(&symbol).copied().unwrap_or(nothing)
    }

    fn is_part(&self, _: Symbol, _: Symbol) -> bool {
        false
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
