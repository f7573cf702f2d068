//! The direction in which each fact moves the score.
//!
//! "Up" is a proof: with every other fact fixed and present, a higher value (true after false) never lowers the score.
//! What is not proved is "both". Means are monotone in their readings, whatever the weights, so it is enough to follow
//! formulas, rules and gates.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::declared::{Declared, Narrowed, formulas};
use super::readings::may_fail;
use super::roots::{Roots, let_roots, roots_of};
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol, Unary};
use karat_core::range::{Interval, Known, Range, evaluate, evaluate_known};
use karat_core::scorecard::{DecayScope, Dimension, EvidenceAge, FactType, Scorecard};

/// The movement of the score when a fact grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It has no effect.
    Flat,
    /// Never down.
    Up,
    /// Never up.
    Down,
    /// Either way, or not proved.
    Both,
}

impl Direction {
    /// Returns the direction of something that is moved by both.
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Flat, other) => other,
            (this, Self::Flat) => this,
            (this, other) if this == other => this,
            _ => Self::Both,
        }
    }

    fn flip(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            other => other,
        }
    }

    /// Returns it unchanged where the other factor is not negative, reversed where it is not positive.
    fn scaled_by(self, factor: Interval) -> Self {
        match self {
            Self::Flat => Self::Flat,
            _ if factor.low >= 0.0 => self,
            _ if factor.high <= 0.0 => self.flip(),
            _ => Self::Both,
        }
    }

    fn is_within(self, limit: Self) -> bool {
        self.join(limit) == limit
    }
}

/// Returns the direction of every number and condition among the facts.
pub(super) fn directions(card: &Scorecard, declared: &Declared<'_>) -> Vec<(String, Direction)> {
    let reach = Reaches::new(card);
    let facts = card.facts.iter().enumerate().filter(|(_, fact)| fact.kind != FactType::Text);
    facts.map(|(at, fact)| (fact.name.clone(), of_fact(declared, at, &reach))).collect()
}

/// The part of the card that each fact can reach: most facts reach little of it.
pub(super) struct Reaches {
    /// The symbols that lets and dimensions rest on, through lets and dimensions.
    lets: Vec<Roots>,
    dimensions: Vec<Roots>,
    /// The dimensions whose values lets read.
    read_by_lets: Vec<bool>,
    has_weight: Vec<bool>,
}

impl Reaches {
    pub(super) fn new(card: &Scorecard) -> Self {
        let mut reach = Self {
            lets: let_roots(card),
            dimensions: card.dimensions.iter().map(|_| Roots::none(card)).collect(),
            read_by_lets: Vec::new(),
            has_weight: (0..card.dimensions.len()).map(|at| has_weight(card, at)).collect(),
        };
        let read = |at: usize| reach.lets.iter().any(|roots| roots.contains(Symbol::Reading(at)));
        reach.read_by_lets = (0..card.dimensions.len()).map(read).collect();
        for &at in &card.order {
            let Some(dimension) = card.dimensions.get(at) else { continue };
            let mut found = Roots::none(card);
            if let EvidenceAge::Fact(age) = dimension.age {
                found.insert(Symbol::Fact(age));
            }
            for formula in formulas(dimension) {
                for root in roots_of(formula, &reach.lets) {
                    found.insert(root);
                    if let Symbol::Reading(other) = root
                        && let Some(below) = reach.dimensions.get(other)
                    {
                        found.extend(below);
                    }
                }
            }
            reach.dimensions.get_mut(at).into_iter().for_each(|slot| *slot = found.clone());
        }
        reach
    }

    /// Returns the facts and readings that a formula rests on, through lets.
    pub(super) fn roots_of(&self, formula: &Expr<Symbol>) -> Vec<Symbol> {
        roots_of(formula, &self.lets)
    }

    /// Returns the facts that formulas rest on, through lets and dimensions, in the order of the card.
    pub(super) fn facts_of(&self, formulas: &[&Expr<Symbol>]) -> Vec<usize> {
        let mut facts = BTreeSet::new();
        let mut note =
            |symbol: Symbol| facts.extend(if let Symbol::Fact(at) = symbol { Some(at) } else { None });
        for root in formulas.iter().flat_map(|formula| roots_of(formula, &self.lets)) {
            note(root);
            if let Symbol::Reading(at) = root {
                self.dimensions.get(at).into_iter().flat_map(Roots::iter).for_each(&mut note);
            }
        }
        facts.into_iter().collect()
    }

    fn of_dimension(&self, at: usize, fact: usize) -> bool {
        self.dimensions.get(at).is_some_and(|roots| roots.contains(Symbol::Fact(fact)))
    }
}

fn of_fact(declared: &Declared<'_>, fact: usize, reach: &Reaches) -> Direction {
    let card = declared.card;
    let mut trace = Trace {
        declared,
        fact,
        lets: Vec::new(),
        // Until it is known, a reading that the fact reaches may move either way.
        readings: (0..card.dimensions.len())
            .map(|at| if reach.of_dimension(at, fact) { Direction::Both } else { Direction::Flat })
            .collect(),
        score: Direction::Flat,
        composite: Direction::Flat,
        coverage: Direction::Flat,
    };
    trace.follow_lets(reach);
    for &at in card.order.iter().filter(|&&at| reach.of_dimension(at, fact)) {
        let Some(dimension) = card.dimensions.get(at) else { continue };
        let found = trace.of_dimension(dimension);
        trace.readings.get_mut(at).into_iter().for_each(|slot| *slot = found);
        if reach.read_by_lets.get(at) == Some(&true) {
            trace.follow_lets(reach);
        }
    }
    let everywhere = declared.plain();
    for (at, dimension) in card.dimensions.iter().enumerate() {
        if reach.has_weight.get(at) == Some(&true) && reach.of_dimension(at, fact) {
            let reading = trace.readings.get(at).copied().unwrap_or(Direction::Both);
            trace.composite = trace.composite.join(reading);
            if reading == Direction::Both {
                // The fact may decide whether there is a reading.
                trace.coverage = Direction::Both;
            }
            let applies = dimension.applies.as_ref();
            let applies = applies.map_or(Direction::Flat, |applies| trace.of_formula(applies, &everywhere));
            if applies != Direction::Flat {
                (trace.composite, trace.coverage) = (Direction::Both, Direction::Both);
            }
        }
    }
    if card.is_age(fact) && card.decay().is_some_and(|rule| rule.scope == DecayScope::Composite) {
        trace.composite = trace.composite.join(Direction::Down);
    }
    trace.score = trace.composite;
    let score = Expr { kind: ExprKind::Name(Symbol::Score), span: 0..1 };
    for rule in &card.rules {
        let parts = [&rule.when.expr, &rule.set.expr];
        let applied = trace.of_choice(&rule.when.expr, &rule.set.expr, &score, &everywhere);
        trace.score = if !parts.iter().any(|part| may_lack_value(part, &everywhere)) {
            applied
        } else if parts.iter().any(|part| trace.of(part, &everywhere) == Direction::Both) {
            Direction::Both
        } else {
            // What proves a direction other than "both" also proves that the fact does not decide whether there is a value:
            // the rule runs, or the score stays, for all of its values.
            applied.join(trace.score)
        };
    }
    for gate in card.gates.iter().filter(|gate| gate.cap.is_some()) {
        // A cap never raises the score, and what is capped moves as the score does.
        trace.score = trace.score.join(trace.of_formula(&gate.when, &everywhere).flip());
    }
    trace.score
}

/// Returns whether a formula may be missing or fail, so that the rule, gate or dimension does without it.
pub(super) fn may_lack_value(expr: &Expr<Symbol>, inside: &Narrowed<'_>) -> bool {
    evaluate_known(expr, inside).1 != Known::Surely || may_fail(expr, inside)
}

/// Returns whether a dimension can count at all.
pub(super) fn has_weight(card: &Scorecard, at: usize) -> bool {
    let own = card.dimensions.get(at).map(|dimension| dimension.weight);
    let profiles = card.profiles.iter().flat_map(|profiles| &profiles.list);
    let mut weights = profiles.filter_map(|(_, weights)| weights.get(at)).copied().chain(own);
    card.override_policy.is_some() || card.family.is_some() || weights.any(|weight| weight.millionths() > 0)
}

/// One fact on its way through the card.
struct Trace<'d, 'c> {
    declared: &'d Declared<'c>,
    fact: usize,
    lets: Vec<Direction>,
    readings: Vec<Direction>,
    score: Direction,
    composite: Direction,
    coverage: Direction,
}

impl Trace<'_, '_> {
    fn follow_lets(&mut self, reach: &Reaches) {
        self.lets = Vec::with_capacity(self.declared.card.lets.len());
        let everywhere = self.declared.plain();
        for (named, roots) in self.declared.card.lets.iter().zip(&reach.lets) {
            // A let reads the fact itself, or something that moves with it.
            let is_reached = roots.contains(Symbol::Fact(self.fact)) || roots.reads_values();
            let found =
                if is_reached { self.of_formula(&named.formula, &everywhere) } else { Direction::Flat };
            self.lets.push(found);
        }
    }

    /// Returns the direction of a reading: of its value where the gate is open, and of the step from 0 at the gate.
    fn of_dimension(&self, dimension: &Dimension) -> Direction {
        let everywhere = self.declared.plain();
        let of = |condition: &Option<Formula>| {
            condition.as_ref().map_or(Direction::Flat, |formula| self.of_formula(formula, &everywhere))
        };
        let (applies, gate) = (of(&dimension.applies), of(&dimension.when));
        let Some(inside) = self.declared.scored(dimension) else {
            // Never scored: gated, out, or without a value where a condition has none.
            let fixed = applies == Direction::Flat && gate == Direction::Flat;
            return if fixed { Direction::Flat } else { Direction::Both };
        };
        let value = self.of_formula(&dimension.formula, &inside);
        if applies != Direction::Flat
            || (gate != Direction::Flat && may_fail(&dimension.formula.expr, &inside))
        {
            return Direction::Both;
        }
        let has_age = dimension.age == EvidenceAge::Fact(self.fact);
        let decays = self.declared.card.decay().is_some_and(|rule| rule.scope == DecayScope::Dimension);
        gate.join(value).join(if has_age && decays { Direction::Down } else { Direction::Flat })
    }

    fn of_symbol(&self, symbol: Symbol) -> Direction {
        match symbol {
            Symbol::Fact(at) if at == self.fact => Direction::Up,
            Symbol::Fact(_) => Direction::Flat,
            Symbol::Let(at) => self.lets.get(at).copied().unwrap_or(Direction::Both),
            Symbol::Reading(at) => self.readings.get(at).copied().unwrap_or(Direction::Both),
            Symbol::Score => self.score,
            Symbol::Composite => self.composite,
            Symbol::Coverage => self.coverage,
        }
    }

    fn moves(&self, expr: &Expr<Symbol>) -> bool {
        expr.parts().any(
            |node| matches!(node.kind, ExprKind::Name(symbol) if self.of_symbol(symbol) != Direction::Flat),
        )
    }

    /// Returns the direction of a whole formula. Most do not read the fact at all.
    fn of_formula(&self, formula: &Formula, inside: &Narrowed<'_>) -> Direction {
        if self.moves(&formula.expr) { self.of(&formula.expr, inside) } else { Direction::Flat }
    }

    fn of(&self, expr: &Expr<Symbol>, inside: &Narrowed<'_>) -> Direction {
        if !self.declared.pay(expr.span.len()) {
            return Direction::Both;
        }
        if !self.moves(expr) {
            return Direction::Flat;
        }
        let number = |part: &Expr<Symbol>| evaluate(part, inside).number();
        match &expr.kind {
            ExprKind::Number(_) | ExprKind::Flag(_) => Direction::Flat,
            ExprKind::Name(symbol) => self.of_symbol(*symbol),
            ExprKind::Unary(Unary::Negate | Unary::Not, operand) => self.of(operand, inside).flip(),
            ExprKind::Binary(operator, left, right) => {
                let left = if *operator == Binary::Divide { uncut(left, right) } else { left };
                let (a, b) = (self.of(left, inside), self.of(right, inside));
                match operator {
                    Binary::Add | Binary::And | Binary::Or => a.join(b),
                    Binary::Subtract | Binary::Greater | Binary::GreaterOrEqual => a.join(b.flip()),
                    Binary::Less | Binary::LessOrEqual => a.flip().join(b),
                    Binary::Multiply => a.scaled_by(number(right)).join(b.scaled_by(number(left))),
                    Binary::Divide => {
                        let by = number(right);
                        if b != Direction::Flat && by.contains(0.0) {
                            return Direction::Both;
                        }
                        a.scaled_by(by).join(b.flip().scaled_by(number(left)))
                    }
                    Binary::Equal | Binary::NotEqual => Direction::Both,
                }
            }
            ExprKind::Call(function, arguments) => self.of_call(*function, arguments, inside),
        }
    }

    fn of_call(&self, function: Function, arguments: &[Expr<Symbol>], inside: &Narrowed<'_>) -> Direction {
        let number = |part: &Expr<Symbol>| evaluate(part, inside).number();
        match (function, arguments) {
            (Function::If, [condition, yes, no]) => self.of_choice(condition, yes, no, inside),
            (Function::Min | Function::Max | Function::Clamp, operands) => operands
                .iter()
                .fold(Direction::Flat, |direction, operand| direction.join(self.of(operand, inside))),
            (Function::Floor | Function::Ceil | Function::Exp, [x]) => self.of(x, inside),
            (Function::Abs, [x]) => self.of(x, inside).scaled_by(number(x)),
            (Function::Sqrt, [x]) if number(x).low >= 0.0 => self.of(x, inside),
            (Function::Ln | Function::Log2, [x]) if number(x).low > 0.0 => self.of(x, inside),
            (Function::Pow, [base, exponent]) => {
                let (bases, exponents) = (number(base), number(exponent));
                if bases.low < 0.0 || (bases.low <= 0.0 && exponents.low < 0.0) {
                    return Direction::Both;
                }
                let below_one = Interval { low: bases.low - 1.0, high: bases.high - 1.0 };
                self.of(base, inside)
                    .scaled_by(exponents)
                    .join(self.of(exponent, inside).scaled_by(below_one))
            }
            // Every fact is present, so the first operand has a value, unless it rests on a reading that may have none.
            (Function::Coalesce, [first, ..]) if evaluate_known(first, inside).1 == Known::Surely => {
                self.of(first, inside)
            }
            (Function::IsMissing, [x])
                if evaluate_known(x, inside).1 == Known::Surely && !may_fail(x, inside) =>
            {
                Direction::Flat
            }
            _ => Direction::Both,
        }
    }

    /// Returns the direction of `if(condition, yes, no)`: of each branch where it holds, and of the step between them.
    fn of_choice(
        &self,
        condition: &Expr<Symbol>,
        yes: &Expr<Symbol>,
        no: &Expr<Symbol>,
        inside: &Narrowed<'_>,
    ) -> Direction {
        let switch = self.of(condition, inside);
        // Where the condition has no value neither branch is taken, whatever its interval says.
        if switch == Direction::Both && may_lack_value(condition, inside) {
            return Direction::Both;
        }
        match evaluate(condition, inside).flag() {
            Some(true) => return self.of(yes, inside),
            Some(false) => return self.of(no, inside),
            None => {}
        }
        let (Some(when_true), Some(when_false)) = (inside.and(condition, true), inside.and(condition, false))
        else {
            return Direction::Both;
        };
        let branches = self.of(yes, &when_true).join(self.of(no, &when_false));
        if switch == Direction::Flat {
            return branches;
        }
        if may_fail(yes, &when_true) || may_fail(no, &when_false) {
            return Direction::Both;
        }
        let (high, low) = (evaluate(yes, &when_true), evaluate(no, &when_false));
        // Seen from false to true. Where only the two branches at one point can be compared, one of them must move
        // the same way on both sides of the switch.
        let goes = |way: Direction| self.of(yes, inside).is_within(way) || self.of(no, inside).is_within(way);
        let way = |up: Direction| if switch == Direction::Down { up.flip() } else { up };
        let up = is_above(high, low) || (self.is_at_least(yes, no, inside) && goes(way(Direction::Up)));
        let down = is_above(low, high) || (self.is_at_least(no, yes, inside) && goes(way(Direction::Down)));
        let step = match (up, down) {
            (true, true) => Direction::Flat,
            _ if switch == Direction::Both => Direction::Both,
            (true, false) => way(Direction::Up),
            (false, true) => way(Direction::Down),
            (false, false) => Direction::Both,
        };
        branches.join(step)
    }

    /// Returns whether `a >= b` at every point: by their intervals, or by how one is made from the other.
    fn is_at_least(&self, a: &Expr<Symbol>, b: &Expr<Symbol>, inside: &Narrowed<'_>) -> bool {
        if !self.declared.pay(a.span.len() + b.span.len()) {
            return false;
        }
        let number = |part: &Expr<Symbol>| evaluate(part, inside).number();
        if is_above(evaluate(a, inside), evaluate(b, inside)) || is_same(a, b) {
            return true;
        }
        let from_a = match &a.kind {
            ExprKind::Call(Function::Min, parts) => {
                parts.iter().all(|part| self.is_at_least(part, b, inside))
            }
            ExprKind::Call(Function::Max, parts) => {
                parts.iter().any(|part| self.is_at_least(part, b, inside))
            }
            ExprKind::Call(Function::Clamp, parts) => match parts.as_slice() {
                [x, low, high] => {
                    self.is_at_least(high, b, inside)
                        && (self.is_at_least(x, b, inside) || self.is_at_least(low, b, inside))
                }
                _ => false,
            },
            ExprKind::Binary(Binary::Add, left, right) => {
                (number(right).low >= 0.0 && self.is_at_least(left, b, inside))
                    || (number(left).low >= 0.0 && self.is_at_least(right, b, inside))
            }
            _ => false,
        };
        from_a
            || match &b.kind {
                ExprKind::Call(Function::Min, parts) => {
                    parts.iter().any(|part| self.is_at_least(a, part, inside))
                }
                ExprKind::Call(Function::Max, parts) => {
                    parts.iter().all(|part| self.is_at_least(a, part, inside))
                }
                ExprKind::Binary(Binary::Subtract, left, right) => {
                    number(right).low >= 0.0 && self.is_at_least(a, left, inside)
                }
                ExprKind::Binary(Binary::Multiply, left, right) => {
                    let shrinks = |factor: &Expr<Symbol>, rest: &Expr<Symbol>| {
                        number(factor).low >= 0.0 && number(factor).high <= 1.0 && number(rest).low >= 0.0
                    };
                    (shrinks(right, left) && self.is_at_least(a, left, inside))
                        || (shrinks(left, right) && self.is_at_least(a, right, inside))
                }
                _ => false,
            }
    }
}

/// Returns what `part / whole` moves with: `min(x, whole) / whole` is `x / whole` cut at 1, and so is `max`.
fn uncut<'e>(part: &'e Expr<Symbol>, whole: &Expr<Symbol>) -> &'e Expr<Symbol> {
    match &part.kind {
        ExprKind::Call(Function::Min | Function::Max, operands) => match operands.as_slice() {
            [x, other] if is_same(other, whole) => x,
            [other, x] if is_same(other, whole) => x,
            _ => part,
        },
        _ => part,
    }
}

/// Returns whether every value of `a` is at least every value of `b`; true is above false.
fn is_above(a: Range, b: Range) -> bool {
    match (a, b) {
        (Range::Number(a), Range::Number(b)) => a.low >= b.high,
        (Range::Flag(a), Range::Flag(b)) => a == Some(true) || b == Some(false),
        _ => false,
    }
}

/// Returns whether two formulas are written alike.
pub(super) fn is_same(a: &Expr<Symbol>, b: &Expr<Symbol>) -> bool {
    let alike = match (&a.kind, &b.kind) {
        (ExprKind::Unary(x, _), ExprKind::Unary(y, _)) => x == y,
        (ExprKind::Binary(x, ..), ExprKind::Binary(y, ..)) => x == y,
        (ExprKind::Call(x, left), ExprKind::Call(y, right)) => x == y && left.len() == right.len(),
        (ExprKind::Number(x), ExprKind::Number(y)) => x.to_bits() == y.to_bits(),
        (ExprKind::Flag(x), ExprKind::Flag(y)) => x == y,
        (ExprKind::Name(x), ExprKind::Name(y)) => x == y,
        _ => false,
    };
    alike && a.operands().zip(b.operands()).all(|(a, b)| is_same(a, b))
}

#[cfg(test)]
mod tests;
