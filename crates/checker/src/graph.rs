//! A dimension as a graph of operations over facts, every let and every value of another dimension opened. It gives a value
//! at a point, and over a box of facts the range of the value and of its change while one fact moves.
//!
//! Operations come after their operands, so both are one pass without recursion, however deep lets are nested.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::moved::Moved;
use karat_core::formula::{Binary, Expr, ExprKind, Function, Symbol, Unary};
use karat_core::number::BILLION;
use karat_core::range::Interval;
use karat_core::scorecard::{FactType, MissingPolicy, Scorecard};

/// Most operations of a graph. What is larger has grown by opening dimensions within dimensions.
const MOST_NODES: usize = 4000;

/// Most changes between lets that need dimensions and dimensions that need lets.
const MOST_TURNS: u32 = 32;

/// An operation, and the places of its operands.
#[derive(Clone, Copy)]
enum Node {
    Number(f64),
    /// An input, by its place among [`Graph::inputs`].
    Input(usize),
    Negate(usize),
    Not(usize),
    Binary(Binary, usize, usize),
    /// A quotient that is at most 1, as its numerator is declared as a part of its denominator.
    Share(usize, usize),
    Min(usize, usize),
    Max(usize, usize),
    If(usize, usize, usize),
    Unary(Function, usize),
    Pow(usize, usize),
    Coalesce(usize, usize),
    IsMissing(usize),
    /// The value of a dimension: within 0..1, and another number where it has none.
    Reading(usize, f64),
}

impl Node {
    /// Returns the places of its operands.
    fn operands(self) -> impl Iterator<Item = usize> {
        let places = match self {
            Self::Number(_) | Self::Input(_) => [None; 3],
            Self::Negate(a) | Self::Not(a) | Self::Unary(_, a) | Self::IsMissing(a) | Self::Reading(a, _) => {
                [Some(a), None, None]
            }
            Self::Binary(_, a, b)
            | Self::Share(a, b)
            | Self::Min(a, b)
            | Self::Max(a, b)
            | Self::Pow(a, b)
            | Self::Coalesce(a, b) => [Some(a), Some(b), None],
            Self::If(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        places.into_iter().flatten()
    }
}

/// A number, or the reason why it is missing: [`MISSING`] or [`FAILED`].
pub(super) type Value = Result<f64, f64>;
const MISSING: f64 = 0.0;
const FAILED: f64 = 1.0;

/// A formula with everything that it rests on.
pub(super) struct Graph<'c> {
    card: &'c Scorecard,
    nodes: Vec<Node>,
    /// The symbols that the formula rests on: facts, and in rules the score and the values of dimensions.
    pub(super) inputs: Vec<Symbol>,
    places: BTreeMap<Symbol, usize>,
    /// The conditions under which the formula counts.
    conditions: Vec<usize>,
    /// Comparisons of the formula itself, its lets and conditions, which are looked at by themselves.
    comparisons: Vec<usize>,
    result: usize,
    /// The facts that are taken for missing.
    absent: Vec<usize>,
    /// The operations that are missing because of them.
    missing: Vec<bool>,
    is_whole: bool,
}

impl<'c> Graph<'c> {
    /// Opens a formula under its conditions. `None` if it is too large.
    pub(super) fn new(
        card: &'c Scorecard,
        formula: &Expr<Symbol>,
        conditions: &[&Expr<Symbol>],
        opens_readings: bool,
        absent: Vec<usize>,
    ) -> Option<Self> {
        let mut graph = Self {
            card,
            nodes: Vec::new(),
            inputs: Vec::new(),
            places: BTreeMap::new(),
            conditions: Vec::new(),
            comparisons: Vec::new(),
            result: 0,
            absent,
            missing: Vec::new(),
            is_whole: true,
        };
        let roots: Vec<&Expr<Symbol>> = conditions.iter().copied().chain([formula]).collect();
        graph.open(&roots, opens_readings);
        for condition in conditions {
            let at = graph.add(condition, true);
            graph.conditions.push(at);
        }
        graph.result = graph.add(formula, true);
        graph.find_missing();
        graph.is_whole.then_some(graph)
    }

    fn find_missing(&mut self) {
        for node in &self.nodes {
            let of = |at: usize| self.missing.get(at) == Some(&true);
            let is_missing = match *node {
                Node::Input(at) => self.is_absent(at),
                Node::Coalesce(a, b) => of(a) && of(b),
                Node::If(condition, yes, no) => of(condition) || (of(yes) && of(no)),
                Node::Reading(a, fill) => fill.is_nan() && of(a),
                Node::IsMissing(_) => false,
                node => node.operands().any(of),
            };
            self.missing.push(is_missing);
        }
    }

    /// Adds the lets and dimensions that some formulas rest on, each after those it needs.
    fn open(&mut self, roots: &[&Expr<Symbol>], opens_readings: bool) {
        let card = self.card;
        // Needed lets and dimensions, and whether they were reached without passing through a dimension.
        let mut waiting: Vec<(Symbol, bool)> = Vec::new();
        let mut needs: BTreeMap<Symbol, bool> = BTreeMap::new();
        let note = |expr: &Expr<Symbol>, own: bool, waiting: &mut Vec<(Symbol, bool)>| {
            let opens = |symbol: &Symbol| match symbol {
                Symbol::Let(_) => true,
                Symbol::Reading(_) => opens_readings,
                _ => false,
            };
            waiting.extend(expr.symbols().into_iter().filter(opens).map(|symbol| (symbol, own)));
        };
        roots.iter().for_each(|root| note(root, true, &mut waiting));
        while let Some((symbol, own)) = waiting.pop() {
            match needs.get_mut(&symbol) {
                Some(known) if *known || !own => continue,
                Some(known) => *known = true,
                None => {
                    needs.insert(symbol, own);
                }
            }
            match symbol {
                Symbol::Let(at) => {
                    card.lets
                        .get(at)
                        .into_iter()
                        .for_each(|named| note(&named.formula.expr, own, &mut waiting));
                }
                Symbol::Reading(at) => {
                    let Some(dimension) = card.dimensions.get(at) else { continue };
                    let conditions = [dimension.applies.as_ref(), dimension.when.as_ref()];
                    for formula in conditions.into_iter().flatten().chain([&dimension.formula]) {
                        note(&formula.expr, false, &mut waiting);
                    }
                }
                _ => {}
            }
        }
        // Lets and dimensions may need each other, but never in a circle: what is ready is added, until nothing is left.
        let mut left: Vec<(Symbol, bool)> = needs.into_iter().collect();
        for turn in 0.. {
            if left.is_empty() {
                return;
            }
            let before = left.len();
            left.retain(|&(symbol, own)| !self.add_symbol(symbol, own, opens_readings));
            if left.len() == before || self.nodes.len() > MOST_NODES || turn > MOST_TURNS {
                self.is_whole = false;
                return;
            }
        }
    }

    /// Adds a let or a dimension if everything that it needs is there.
    fn add_symbol(&mut self, symbol: Symbol, own: bool, opens_readings: bool) -> bool {
        let card = self.card;
        let is_ready = |graph: &Self, expr: &Expr<Symbol>| {
            expr.symbols().iter().all(|needed| match needed {
                Symbol::Let(_) => graph.places.contains_key(needed),
                Symbol::Reading(_) => !opens_readings || graph.places.contains_key(needed),
                _ => true,
            })
        };
        let place = match symbol {
            Symbol::Let(at) => {
                let Some(named) = card.lets.get(at) else { return false };
                if !is_ready(self, &named.formula.expr) {
                    return false;
                }
                self.add(&named.formula.expr, own)
            }
            Symbol::Reading(at) => {
                let Some(dimension) = card.dimensions.get(at) else { return false };
                let conditions = [dimension.applies.as_ref(), dimension.when.as_ref()];
                let mut formulas = conditions.into_iter().flatten().chain([&dimension.formula]);
                if !formulas.all(|formula| is_ready(self, &formula.expr)) {
                    return false;
                }
                let mut value = self.add(&dimension.formula.expr, false);
                if let Some(when) = &dimension.when {
                    let when = self.add(&when.expr, false);
                    let zero = self.push(Node::Number(0.0));
                    value = self.push(Node::If(when, value, zero));
                }
                let fill = match dimension.missing {
                    MissingPolicy::Zero => 0.0,
                    MissingPolicy::Default(billionths) => billionths as f64 / BILLION as f64,
                    MissingPolicy::Exclude | MissingPolicy::Withhold => f64::NAN,
                };
                self.push(Node::Reading(value, fill))
            }
            _ => return true,
        };
        self.places.insert(symbol, place);
        true
    }

    fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    fn input(&mut self, symbol: Symbol) -> usize {
        if let Some(&place) = self.places.get(&symbol) {
            return place;
        }
        self.inputs.push(symbol);
        let place = self.push(Node::Input(self.inputs.len() - 1));
        self.places.insert(symbol, place);
        place
    }

    fn add(&mut self, expr: &Expr<Symbol>, own: bool) -> usize {
        match &expr.kind {
            ExprKind::Number(value) => self.push(Node::Number(*value)),
            ExprKind::Flag(value) => self.push(Node::Number(f64::from(u8::from(*value)))),
            ExprKind::Name(symbol) => self.input(*symbol),
            ExprKind::Unary(operator, operand) => {
                let operand = self.add(operand, own);
                self.push(if *operator == Unary::Negate { Node::Negate(operand) } else { Node::Not(operand) })
            }
            ExprKind::Binary(operator, left, right) => {
                let (a, b) = (self.add(left, own), self.add(right, own));
                let node = match (operator, &left.kind, &right.kind) {
                    (
                        Binary::Divide,
                        ExprKind::Name(Symbol::Fact(part)),
                        ExprKind::Name(Symbol::Fact(whole)),
                    ) if self.is_part(*part, *whole) => Node::Share(a, b),
                    _ => Node::Binary(*operator, a, b),
                };
                let place = self.push(node);
                if own && operator.is_comparison() {
                    self.comparisons.push(place);
                }
                place
            }
            ExprKind::Call(function, arguments) => {
                let places: Vec<usize> = arguments.iter().map(|argument| self.add(argument, own)).collect();
                self.call(*function, &places)
            }
        }
    }

    fn call(&mut self, function: Function, places: &[usize]) -> usize {
        let fold = |graph: &mut Self, node: fn(usize, usize) -> Node| {
            let mut rest = places.iter().copied();
            let first = rest.next().unwrap_or(0);
            rest.fold(first, |a, b| graph.push(node(a, b)))
        };
        match (function, places) {
            (Function::If, &[condition, yes, no]) => self.push(Node::If(condition, yes, no)),
            (Function::Min, _) => fold(self, Node::Min),
            (Function::Max, _) => fold(self, Node::Max),
            (Function::Clamp, &[x, low, high]) => {
                let raised = self.push(Node::Max(x, low));
                self.push(Node::Min(raised, high))
            }
            (Function::Pow, &[base, exponent]) => self.push(Node::Pow(base, exponent)),
            (Function::Coalesce, _) => {
                let mut rest = places.iter().rev().copied();
                let last = rest.next().unwrap_or(0);
                rest.fold(last, |rest, first| self.push(Node::Coalesce(first, rest)))
            }
            (Function::IsMissing, &[x]) => self.push(Node::IsMissing(x)),
            (_, &[x]) => self.push(Node::Unary(function, x)),
            // The parser has counted the arguments.
            _ => self.push(Node::Number(f64::NAN)),
        }
    }

    fn is_part(&self, part: usize, whole: usize) -> bool {
        self.card.facts.get(part).is_some_and(|fact| fact.min >= 0.0 && fact.max_fact == Some(whole))
    }

    /// Returns the number of operations.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the facts that are replaced where they are missing.
    pub(super) fn replaceable(&self) -> Vec<usize> {
        let mut marked: Vec<bool> = self.nodes.iter().map(|_| false).collect();
        for node in &self.nodes {
            if let Node::Coalesce(at, _) | Node::IsMissing(at) = node
                && let Some(slot) = marked.get_mut(*at)
            {
                *slot = true;
            }
        }
        let mut facts = Vec::new();
        // Operands come before their operation.
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if marked.get(at) != Some(&true) {
                continue;
            }
            if let Node::Input(input) = node
                && let Some(Symbol::Fact(fact)) = self.inputs.get(*input)
            {
                facts.push(*fact);
            }
            for operand in node.operands() {
                marked.get_mut(operand).into_iter().for_each(|slot| *slot = true);
            }
        }
        facts
    }

    /// Returns whether an input is divided by another, or divides one: what is small then shows in proportion only.
    pub(super) fn is_measured(&self, input: usize) -> bool {
        let mut rests: Vec<(bool, bool)> = Vec::with_capacity(self.nodes.len());
        let mut measured = false;
        for node in &self.nodes {
            let of = |at: usize| rests.get(at).copied().unwrap_or_default();
            if let Node::Binary(Binary::Divide, a, b) | Node::Share(a, b) = node {
                let (a, b) = (of(*a), of(*b));
                measured |= (a.0 && b.1) || (b.0 && a.1);
            }
            let mut found = match node {
                Node::Input(at) => (*at == input, *at != input),
                _ => (false, false),
            };
            for operand in node.operands() {
                let (moving, other) = of(operand);
                found = (found.0 || moving, found.1 || other);
            }
            rests.push(found);
        }
        measured
    }

    /// Returns whether some input is missing by assumption.
    pub(super) fn is_absent(&self, input: usize) -> bool {
        matches!(self.inputs.get(input), Some(Symbol::Fact(at)) if self.absent.contains(at))
    }

    /// Computes every operation at a point; `values` holds the results.
    pub(super) fn compute(&self, point: &[f64], values: &mut Vec<Value>) {
        values.clear();
        for node in &self.nodes {
            let of = |at: usize| values.get(at).copied().unwrap_or(Err(FAILED));
            let value = self.value(*node, point, &of);
            values.push(value);
        }
    }

    fn value(&self, node: Node, point: &[f64], of: &dyn Fn(usize) -> Value) -> Value {
        let flag = |holds: bool| f64::from(u8::from(holds));
        let both = |a: usize, b: usize, operation: &dyn Fn(f64, f64) -> f64| match (of(a), of(b)) {
            (Ok(a), Ok(b)) => Some(operation(a, b)).filter(|result| result.is_finite()).ok_or(FAILED),
            (Err(a), Err(b)) => Err(a.max(b)),
            (Err(why), _) | (_, Err(why)) => Err(why),
        };
        match node {
            Node::Number(value) => Ok(value),
            Node::Input(at) if self.is_absent(at) => Err(MISSING),
            Node::Input(at) => point.get(at).copied().ok_or(FAILED),
            Node::Negate(a) => of(a).map(|a| -a),
            Node::Not(a) => of(a).map(|a| 1.0 - a),
            Node::Share(a, b) => both(a, b, &|a, b| a / b),
            Node::Min(a, b) => both(a, b, &f64::min),
            Node::Max(a, b) => both(a, b, &f64::max),
            Node::Pow(a, b) => both(a, b, &libm::pow),
            Node::Binary(operator, a, b) => both(a, b, &|a, b| match operator {
                Binary::Add => a + b,
                Binary::Subtract => a - b,
                Binary::Multiply => a * b,
                Binary::Divide => a / b,
                Binary::Less => flag(a < b),
                Binary::LessOrEqual => flag(a <= b),
                Binary::Greater => flag(a > b),
                Binary::GreaterOrEqual => flag(a >= b),
                Binary::Equal => flag(a == b),
                Binary::NotEqual => flag(a != b),
                Binary::And => a * b,
                Binary::Or => a.max(b),
            }),
            Node::If(condition, yes, no) => {
                of(condition).and_then(|holds| of(if holds > 0.5 { yes } else { no }))
            }
            Node::Unary(function, a) => of(a).and_then(|a| {
                let result = match function {
                    Function::Abs => a.abs(),
                    Function::Floor => libm::floor(a),
                    Function::Ceil => libm::ceil(a),
                    Function::Exp => libm::exp(a),
                    Function::Sqrt => libm::sqrt(a),
                    Function::Ln => libm::log(a),
                    Function::Log2 => libm::log2(a),
                    _ => f64::NAN,
                };
                Some(result).filter(|result| result.is_finite()).ok_or(FAILED)
            }),
            Node::Coalesce(first, rest) => match of(first) {
                Err(why) if why < FAILED => of(rest),
                found => found,
            },
            Node::IsMissing(a) => match of(a) {
                Ok(_) => Ok(0.0),
                Err(why) if why < FAILED => Ok(1.0),
                failed => failed,
            },
            Node::Reading(a, fill) => match of(a) {
                Ok(value) => Ok(value.clamp(0.0, 1.0)),
                Err(_) if !fill.is_nan() => Ok(fill),
                Err(_) => Err(MISSING),
            },
        }
    }

    /// Returns the result among computed values, if it counts at this point and has a value.
    pub(super) fn result(&self, values: &[Value]) -> Option<f64> {
        let of = |at: usize| values.get(at).copied().and_then(Result::ok);
        let counts = self.conditions.iter().all(|&at| of(at).is_some_and(|holds| holds > 0.5));
        of(self.result).filter(|_| counts).map(|value| value.clamp(0.0, 1.0))
    }

    /// Returns whether two points lie on the same side of every comparison that is looked at by itself.
    pub(super) fn is_same_side(&self, a: &[Value], b: &[Value]) -> bool {
        let of = |values: &[Value], at: usize| values.get(at).copied().unwrap_or(Err(FAILED));
        self.comparisons.iter().chain(&self.conditions).all(|&at| of(a, at) == of(b, at))
    }

    /// Computes the range of every operation over a box, and of its change while input `moving` rises by at most `step`;
    /// gives those of the result.
    pub(super) fn over(
        &self,
        within: &[Interval],
        moving: usize,
        step: f64,
        ranges: &mut Vec<Moved>,
    ) -> Moved {
        ranges.clear();
        for node in &self.nodes {
            let of = |at: usize| ranges.get(at).copied().unwrap_or(Moved::ANYTHING);
            let mut moved = self.moved(*node, within, moving, step, &of);
            // Both ends of a change are values.
            let most = moved.range.high - moved.range.low;
            moved.change.low = moved.change.low.max(-most);
            moved.change.high = moved.change.high.min(most);
            ranges.push(moved);
        }
        let found = ranges.get(self.result).copied().unwrap_or(Moved::ANYTHING);
        found.min(Moved::ONE).max(Moved::ZERO)
    }

    fn moved(
        &self,
        node: Node,
        within: &[Interval],
        moving: usize,
        step: f64,
        of: &dyn Fn(usize) -> Moved,
    ) -> Moved {
        match node {
            Node::Number(value) => Moved::fixed(Interval::point(value)),
            Node::Input(at) if self.is_absent(at) => Moved::ANYTHING,
            Node::Input(at) => {
                let range = within.get(at).copied().unwrap_or(Interval::EVERYTHING);
                let high = if at == moving { step } else { 0.0 };
                Moved { range, change: Interval { low: 0.0, high } }
            }
            Node::Negate(a) => Moved::fixed(Interval::point(0.0)).minus(of(a)),
            Node::Not(a) => Moved::ONE.minus(of(a)),
            Node::Share(a, b) => {
                let (a, b) = (of(a), of(b));
                let quotient = a.range.divide(b.range).intersect(Interval::UNIT).unwrap_or(Interval::UNIT);
                a.over(b, quotient)
            }
            Node::Min(a, b) => of(a).min(of(b)),
            Node::Max(a, b) => of(a).max(of(b)),
            Node::Pow(a, b) => of(a).pow(of(b)),
            Node::Binary(operator, a, b) => of(a).binary(operator, of(b)),
            Node::If(condition, yes, no) => {
                let (yes, no) = if self.is_missing(yes) {
                    (of(no), of(no))
                } else if self.is_missing(no) {
                    (of(yes), of(yes))
                } else {
                    (of(yes), of(no))
                };
                of(condition).choose(yes, no)
            }
            Node::Unary(function, a) => of(a).unary(function),
            Node::Coalesce(first, rest) if self.is_missing(first) => of(rest),
            Node::Coalesce(first, rest) => {
                // Missing or not: a fact that is here stays here, but what rests on others may fail to be.
                let (a, b) = (of(first), of(rest));
                Moved { range: a.range.hull(b.range), change: a.change.hull(b.change) }
            }
            Node::IsMissing(a) if self.is_missing(a) => Moved::ONE,
            Node::IsMissing(_) => Moved::fixed(Interval::UNIT),
            Node::Reading(a, fill) => {
                let mut moved = of(a).min(Moved::ONE).max(Moved::ZERO);
                if !fill.is_nan() {
                    moved.range = moved.range.hull(Interval::point(fill));
                }
                moved
            }
        }
    }

    fn is_missing(&self, node: usize) -> bool {
        self.missing.get(node) == Some(&true)
    }

    /// Returns the declared range of an input.
    pub(super) fn declared(&self, input: usize) -> Interval {
        match self.inputs.get(input) {
            Some(Symbol::Fact(at)) => self.card.facts.get(*at).map_or(Interval::EVERYTHING, |fact| {
                if fact.kind == FactType::Number {
                    super::declared::limits(self.card, fact)
                } else {
                    Interval::UNIT
                }
            }),
            _ => Interval::UNIT,
        }
    }

    /// Returns the place of the input that bounds this one from above.
    pub(super) fn bound_of(&self, input: usize) -> Option<usize> {
        let Some(Symbol::Fact(at)) = self.inputs.get(input) else { return None };
        let whole = self.card.facts.get(*at)?.max_fact?;
        self.inputs.iter().position(|other| *other == Symbol::Fact(whole))
    }

    /// Returns whether an input is a number with something between its ends, and not missing by assumption.
    pub(super) fn can_move(&self, input: usize) -> bool {
        let is_number = match self.inputs.get(input) {
            Some(Symbol::Fact(at)) => {
                self.card.facts.get(*at).is_some_and(|fact| fact.kind == FactType::Number)
            }
            symbol => symbol.is_some(),
        };
        let declared = self.declared(input);
        is_number && declared.low < declared.high && !self.is_absent(input)
    }

    /// Returns whether an input only takes whole numbers; conditions are 0 or 1.
    pub(super) fn is_integer(&self, input: usize) -> bool {
        matches!(self.inputs.get(input), Some(Symbol::Fact(at))
            if self.card.facts.get(*at).is_some_and(|fact| fact.integer || fact.kind != FactType::Number))
    }
}
