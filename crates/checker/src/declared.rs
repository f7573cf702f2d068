//! A card over ranges of its facts: what each let, reading and score can be, and what a condition says about them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use karat_core::formula::{Binary, Expr, ExprKind, Symbol, Unary};
use karat_core::number::{BILLION, round};
use karat_core::range::{Interval, Known, Range, Surroundings, evaluate_known};
use karat_core::scorecard::{
    DecayScope, Dimension, FactDeclaration, FactType, Let, MissingPolicy, Scorecard,
};

/// Bytes of formulas that may be evaluated again inside branches; beyond it, ranges are wider but still hold.
pub(super) const FUEL: u32 = 4_000_000;

/// Depth of lets to which a condition or a possible failure is followed.
pub(super) const LETS_DEEP: u32 = 8;

/// The ranges of a card's symbols.
pub(super) struct Declared<'a> {
    pub(super) card: &'a Scorecard,
    facts: Vec<(Range, Known)>,
    lets: Vec<(Range, Known)>,
    /// The lets that each let names.
    lets_below: Vec<Vec<usize>>,
    /// Value of each dimension where it is scored, before rounding.
    pub(super) values: Vec<Interval>,
    readings: Vec<Interval>,
    fuel: Cell<u32>,
}

impl<'a> Declared<'a> {
    /// Starts from the declared ranges; these facts are present, any other may be missing.
    pub(super) fn with(card: &'a Scorecard, is_present: impl Fn(usize) -> bool) -> Self {
        let known = |at| if is_present(at) { Known::Surely } else { Known::Perhaps };
        let facts = card.facts.iter().enumerate().map(|(at, fact)| (declared_range(card, fact), known(at)));
        Self::over(card, FUEL, facts.collect())
    }

    /// Starts from ranges of the caller's choice.
    pub(super) fn over(card: &'a Scorecard, fuel: u32, facts: Vec<(Range, Known)>) -> Self {
        let readings = card.dimensions.iter().map(|_| Interval::UNIT).collect();
        let values = card.dimensions.iter().map(|_| Interval::UNIT).collect();
        let below = |named: &Let| {
            let symbols = named.formula.expr.symbols().into_iter();
            symbols.filter_map(|symbol| if let Symbol::Let(at) = symbol { Some(at) } else { None }).collect()
        };
        let lets_below = card.lets.iter().map(below).collect();
        let mut declared =
            Self { card, facts, lets: Vec::new(), lets_below, values, readings, fuel: Cell::new(fuel) };
        // Lets may name readings and readings lets: any reading is within 0..1, which bounds the lets, which bound the
        // readings, which bound the lets more closely.
        declared.bound_lets();
        for &at in &card.order {
            if let Some(dimension) = card.dimensions.get(at) {
                let (value, reading) = declared.bound_dimension(dimension);
                declared.values.get_mut(at).into_iter().for_each(|slot| *slot = value);
                declared.readings.get_mut(at).into_iter().for_each(|slot| *slot = reading);
            }
        }
        declared.bound_lets();
        declared
    }

    fn bound_lets(&mut self) {
        self.lets = Vec::with_capacity(self.card.lets.len());
        for named in &self.card.lets {
            let range = evaluate_known(&named.formula.expr, self);
            self.lets.push(range);
        }
    }

    fn bound_dimension(&self, dimension: &Dimension) -> (Interval, Interval) {
        let scored = self.scored(dimension).map(|inside| evaluate_known(&dimension.formula.expr, &inside));
        let value = scored.map_or(Interval::point(0.0), |(range, _)| range.number());
        let mut reading = Interval { low: to_grid(value.low), high: to_grid(value.high) };
        let gate = dimension.when.as_ref().map(|when| evaluate_known(&when.expr, self).0.flag());
        if !matches!(gate, None | Some(Some(true))) {
            reading = reading.hull(Interval::point(0.0));
        }
        if let Some(fill) = fill(dimension) {
            reading = reading.hull(Interval::point(fill));
        }
        if self.card.decay().is_some_and(|rule| rule.scope == DecayScope::Dimension) {
            reading.low = 0.0;
        }
        (value, reading)
    }

    /// Returns the surroundings in which a dimension's formula counts: it applies and its gate is open. `None`: never.
    pub(super) fn scored(&self, dimension: &Dimension) -> Option<Narrowed<'_>> {
        let conditions = [&dimension.applies, &dimension.when];
        self.assuming(conditions.into_iter().flatten().map(|condition| &condition.expr))
    }

    /// Returns the surroundings in which all `conditions` hold. `None`: never.
    pub(super) fn assuming<'e>(
        &self,
        conditions: impl IntoIterator<Item = &'e Expr<Symbol>>,
    ) -> Option<Narrowed<'_>> {
        let mut inside = self.plain();
        conditions.into_iter().all(|condition| inside.assume(condition, true, LETS_DEEP)).then_some(inside)
    }

    /// Returns the surroundings in which nothing more is known.
    pub(super) fn plain(&self) -> Narrowed<'_> {
        Narrowed { declared: self, known: Vec::new(), lets: RefCell::default() }
    }

    /// Returns the reading of a dimension as others see it.
    pub(super) fn reading(&self, at: usize) -> Interval {
        self.readings.get(at).copied().unwrap_or(Interval::UNIT)
    }

    /// Returns whether a symbol takes whole numbers only.
    pub(super) fn is_integer(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Fact(at) if self.card.facts.get(at).is_some_and(|fact| fact.integer))
    }

    /// Pays for evaluating `formula` once more; false if there is nothing left.
    pub(super) fn pay(&self, cost: usize) -> bool {
        let left = self.fuel.get().checked_sub(u32::try_from(cost).unwrap_or(u32::MAX));
        self.fuel.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Returns the range that a card declares for a fact.
fn declared_range(card: &Scorecard, fact: &FactDeclaration) -> Range {
    if fact.kind == FactType::Number { Range::Number(limits(card, fact)) } else { Range::Flag(None) }
}

/// Returns the range that a card declares for a number.
pub(super) fn limits(card: &Scorecard, fact: &FactDeclaration) -> Interval {
    let whole = fact.max_fact.and_then(|at| card.facts.get(at)).map_or(f64::INFINITY, |whole| whole.max);
    Interval { low: fact.min, high: fact.max.min(whole).max(fact.min) }
}

/// Returns a value as a reading: on the grid of 1e-9, within 0..1.
pub(super) fn to_grid(value: f64) -> f64 {
    round(value.clamp(0.0, 1.0) * BILLION as f64) / BILLION as f64
}

/// Returns what takes the place of a missing value.
pub(super) fn fill(dimension: &Dimension) -> Option<f64> {
    match dimension.missing {
        MissingPolicy::Zero => Some(0.0),
        MissingPolicy::Default(billionths) => Some(billionths as f64 / BILLION as f64),
        MissingPolicy::Exclude | MissingPolicy::Withhold => None,
    }
}

/// Returns every formula of a dimension: `applies`, `when` and that of its value.
pub(super) fn formulas(dimension: &Dimension) -> Vec<&Expr<Symbol>> {
    let conditions = dimension.applies.iter().chain(&dimension.when);
    conditions.chain([&dimension.formula]).map(|formula| &formula.expr).collect()
}

fn is_part(card: &Scorecard, part: Symbol, whole: Symbol) -> bool {
    match (part, whole) {
        (Symbol::Fact(part), Symbol::Fact(whole)) => {
            card.facts.get(part).is_some_and(|fact| fact.min >= 0.0 && fact.max_fact == Some(whole))
        }
        _ => false,
    }
}

impl Surroundings for Declared<'_> {
    fn range(&self, symbol: Symbol) -> (Range, Known) {
        let unit = (Range::Number(Interval::UNIT), Known::Perhaps);
        match symbol {
            Symbol::Fact(at) => self.facts.get(at).copied(),
            Symbol::Let(at) => self.lets.get(at).copied(),
            Symbol::Reading(at) => Some((Range::Number(self.reading(at)), Known::Perhaps)),
            Symbol::Score | Symbol::Composite | Symbol::Coverage => Some((unit.0, Known::Surely)),
        }
        .unwrap_or((Range::Number(Interval::EVERYTHING), Known::Perhaps))
    }

    fn is_part(&self, part: Symbol, whole: Symbol) -> bool {
        is_part(self.card, part, whole)
    }

    fn branch(&self, condition: &Expr<Symbol>, truth: bool, branch: &Expr<Symbol>) -> Option<(Range, Known)> {
        let mut inside = self.plain();
        inside.assume(condition, truth, LETS_DEEP).then(|| evaluate_known(branch, &inside))
    }
}

/// The same card where some conditions are known to hold or not to hold.
#[derive(Clone)]
pub(super) struct Narrowed<'a> {
    pub(super) declared: &'a Declared<'a>,
    known: Vec<(Symbol, Range)>,
    /// The lets evaluated so far.
    lets: RefCell<BTreeMap<usize, (Range, Known)>>,
}

impl<'a> Narrowed<'a> {
    /// Returns the same surroundings, where `condition` is also `truth`. `None`: that cannot be.
    pub(super) fn and(&self, condition: &Expr<Symbol>, truth: bool) -> Option<Self> {
        let mut inside = Self { known: self.known.clone(), lets: RefCell::default(), ..*self };
        inside.assume(condition, truth, LETS_DEEP).then_some(inside)
    }

    /// Returns whether nothing is known beyond the declared ranges.
    pub(super) fn is_plain(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns the same surroundings, where `symbol` has the given range.
    pub(super) fn with(&self, symbol: Symbol, range: Range) -> Self {
        let mut inside = Self { known: self.known.clone(), lets: RefCell::default(), ..*self };
        inside.set(symbol, range);
        inside
    }

    /// Returns what a number can be here.
    pub(super) fn range_of_number(&self, symbol: Symbol) -> Interval {
        self.range(symbol).0.number()
    }

    /// Narrows by `condition` being `truth`, looked up through at most `lets` lets; false if that cannot be.
    fn assume(&mut self, condition: &Expr<Symbol>, truth: bool, lets: u32) -> bool {
        match &condition.kind {
            ExprKind::Name(symbol) => {
                let possible = self.range(*symbol).0.flag() != Some(!truth);
                self.set(*symbol, Range::Flag(Some(truth)));
                let definition = match symbol {
                    Symbol::Let(at) => self.declared.card.lets.get(*at).map(|named| &named.formula),
                    _ => None,
                };
                let deeper = definition.filter(|formula| lets > 0 && self.declared.pay(formula.text.len()));
                possible
                    && deeper.is_none_or(|formula| self.assume(&formula.expr, truth, lets.saturating_sub(1)))
            }
            ExprKind::Unary(Unary::Not, operand) => self.assume(operand, !truth, lets),
            ExprKind::Binary(Binary::And, left, right) if truth => {
                self.assume(left, true, lets) && self.assume(right, true, lets)
            }
            ExprKind::Binary(Binary::Or, left, right) if !truth => {
                self.assume(left, false, lets) && self.assume(right, false, lets)
            }
            ExprKind::Binary(operator, left, right) => {
                let Some(operator) = comparison(*operator, truth) else { return true };
                // Both sides are evaluated once more: nested conditions would double the work at every level.
                if !self.declared.pay(condition.span.len()) {
                    return true;
                }
                let (Range::Number(a), Range::Number(b)) =
                    (evaluate_known(left, self).0, evaluate_known(right, self).0)
                else {
                    return true;
                };
                self.narrow(left, operator, b) && self.narrow(right, mirrored(operator), a)
            }
            _ => true,
        }
    }

    /// Narrows a symbol that is a side of `operator` to some value within `other`; false if nothing is left.
    fn narrow(&mut self, side: &Expr<Symbol>, operator: Binary, other: Interval) -> bool {
        let ExprKind::Name(symbol) = side.kind else { return true };
        let (Range::Number(mut range), _) = self.range(symbol) else { return true };
        match operator {
            Binary::Less => range.high = range.high.min(other.high.next_down()),
            Binary::LessOrEqual => range.high = range.high.min(other.high),
            Binary::Greater => range.low = range.low.max(other.low.next_up()),
            Binary::GreaterOrEqual => range.low = range.low.max(other.low),
            Binary::Equal => match range.intersect(other) {
                Some(both) => range = both,
                None => return false,
            },
            // Unlike one number only takes away an end of the range.
            Binary::NotEqual if other.low >= other.high => {
                if range.low == other.low {
                    range.low = range.low.next_up();
                }
                if range.high == other.high {
                    range.high = range.high.next_down();
                }
            }
            _ => {}
        }
        if self.declared.is_integer(symbol) {
            range = Interval { low: libm::ceil(range.low), high: libm::floor(range.high) };
        }
        self.set(symbol, Range::Number(range));
        range.low <= range.high
    }

    fn set(&mut self, symbol: Symbol, range: Range) {
        self.lets.borrow_mut().clear();
        match self.known.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, slot)) => *slot = range,
            None => self.known.push((symbol, range)),
        }
    }

    /// Returns a let under these conditions. What it needs comes first, so that a chain of lets does not nest calls.
    fn let_range(&self, at: usize) -> (Range, Known) {
        if self.declared.fuel.get() == 0 {
            return self.declared.range(Symbol::Let(at));
        }
        let mut waiting = Vec::from([at]);
        while let Some(&next) = waiting.last() {
            let Some(named) = self.declared.card.lets.get(next) else { break };
            if self.lets.borrow().contains_key(&next) {
                waiting.pop();
                continue;
            }
            // A let only names lets before it.
            let before = waiting.len();
            let below = self.declared.lets_below.get(next).into_iter().flatten();
            waiting.extend(below.filter(|below| !self.lets.borrow().contains_key(below)));
            if waiting.len() > before {
                continue;
            }
            let range = if self.declared.pay(named.formula.text.len()) {
                evaluate_known(&named.formula.expr, self)
            } else {
                self.declared.range(Symbol::Let(next))
            };
            self.lets.borrow_mut().insert(next, range);
        }
        let found = self.lets.borrow().get(&at).copied();
        found.unwrap_or_else(|| self.declared.range(Symbol::Let(at)))
    }
}

impl Surroundings for Narrowed<'_> {
    fn range(&self, symbol: Symbol) -> (Range, Known) {
        let (range, known) = match symbol {
            Symbol::Let(at) => self.let_range(at),
            _ => self.declared.range(symbol),
        };
        let narrowed = self.known.iter().find(|(known, _)| *known == symbol);
        (narrowed.map_or(range, |(_, narrowed)| *narrowed), known)
    }

    fn is_part(&self, part: Symbol, whole: Symbol) -> bool {
        is_part(self.declared.card, part, whole)
    }

    fn branch(&self, condition: &Expr<Symbol>, truth: bool, branch: &Expr<Symbol>) -> Option<(Range, Known)> {
        self.and(condition, truth).map(|inside| evaluate_known(branch, &inside))
    }
}

/// Returns the comparison that is true where `operator` gives `truth`; `None` if it is not a comparison.
fn comparison(operator: Binary, truth: bool) -> Option<Binary> {
    let opposite = match operator {
        Binary::Less => Binary::GreaterOrEqual,
        Binary::LessOrEqual => Binary::Greater,
        Binary::Greater => Binary::LessOrEqual,
        Binary::GreaterOrEqual => Binary::Less,
        Binary::Equal => Binary::NotEqual,
        Binary::NotEqual => Binary::Equal,
        _ => return None,
    };
    Some(if truth { operator } else { opposite })
}

/// Returns the comparison with its sides exchanged.
fn mirrored(operator: Binary) -> Binary {
    match operator {
        Binary::Less => Binary::Greater,
        Binary::LessOrEqual => Binary::GreaterOrEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterOrEqual => Binary::LessOrEqual,
        other => other,
    }
}
