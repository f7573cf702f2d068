//! Formulas over intervals (`docs/guide/formula.md`, Over intervals): every value that a formula can take.
//!
//! Two users: the checker, over the ranges that a card declares, and the bounds of one item, over what its missing
//! facts could still be. They differ in their [`Surroundings`] alone.
//!
//! Ends are computed with the same IEEE operations as values, without rounding outwards, and still hold every computed
//! value: `+ - * / sqrt` are the exact result rounded once, rounding never swaps the order of two numbers, so the
//! computed value at a point lies between the computed values at the ends. `min max abs floor ceil` are exact. Only
//! `exp ln log2 pow` are not proved to be monotone to the last bit; they are within one unit of it, a millionth of the grid
//! on which readings live.

use crate::formula::{Binary, Expr, ExprKind, Function, Symbol, Unary};

/// All numbers from `low` to `high`, both included; ends may be infinite, never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lowest number.
    pub low: f64,
    /// Highest number.
    pub high: f64,
}

/// Every value that a formula can take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// A number.
    Number(Interval),
    /// True, false, or undecided.
    Flag(Option<bool>),
}

/// The certainty that a formula has a value, as far as missing facts are concerned: it may still fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Known {
    /// It has.
    Surely,
    /// It may be missing.
    Perhaps,
    /// It is missing.
    Never,
}

/// The surroundings of a formula.
pub trait Surroundings {
    /// Returns the values that a symbol can take where it has one, and whether it surely has one.
    fn range(&self, symbol: Symbol) -> (Range, Known);

    /// Returns whether `part` is a fact declared with `min = 0` and `max = "whole"`.
    fn is_part(&self, part: Symbol, whole: Symbol) -> bool;

    /// Evaluates one branch of an `if` that may go either way; `None` if it cannot be reached after all.
    ///
    /// Here a checker that knows more inside a branch says so.
    fn branch(&self, condition: &Expr<Symbol>, truth: bool, branch: &Expr<Symbol>) -> Option<(Range, Known)> {
        let _ = (condition, truth);
        Some(evaluate_known(branch, self))
    }
}

impl Interval {
    /// Every number.
    pub const EVERYTHING: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
    /// The interval from 0 to 1.
    pub const UNIT: Self = Self { low: 0.0, high: 1.0 };

    /// Returns the interval of one number.
    pub const fn point(value: f64) -> Self {
        Self { low: value, high: value }
    }

    /// Returns the interval from `low` to `high`; an end that is NaN (from infinity minus infinity) is open.
    fn new(low: f64, high: f64) -> Self {
        Self {
            low: if low.is_nan() { f64::NEG_INFINITY } else { low },
            high: if high.is_nan() { f64::INFINITY } else { high },
        }
    }

    /// Returns whether `value` is among the numbers.
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns the smallest interval that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns the numbers in both, if there are any.
    #[must_use]
    pub fn intersect(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// Returns the single number, if there is only one.
    fn single(self) -> Option<f64> {
        (self.low >= self.high).then_some(self.low)
    }

    /// Returns the range of a rising function over the numbers.
    #[must_use]
    pub fn map(self, monotone: impl Fn(f64) -> f64) -> Self {
        Self::new(monotone(self.low), monotone(self.high))
    }

    /// Returns every sum of two numbers.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }

    fn negate(self) -> Self {
        Self::new(-self.high, -self.low)
    }

    /// Returns every difference of two numbers.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::new(self.low - other.high, self.high - other.low)
    }

    /// Returns the hull of what `corner` gives for the four pairs of ends.
    fn corners(self, other: Self, corner: impl Fn(f64, f64) -> Self) -> Self {
        corner(self.low, other.low)
            .hull(corner(self.low, other.high))
            .hull(corner(self.high, other.low))
            .hull(corner(self.high, other.high))
    }

    /// Returns every product of two numbers.
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        // An infinite end means finite numbers without bound, and zero times each of those is zero.
        self.corners(other, |a, b| {
            let product = a * b;
            Self::point(if product.is_nan() { 0.0 } else { product })
        })
    }

    /// Returns every quotient of two numbers.
    #[must_use]
    pub fn divide(self, other: Self) -> Self {
        if other.contains(0.0) {
            return Self::EVERYTHING;
        }
        self.corners(other, |a, b| {
            let quotient = a / b;
            if !quotient.is_nan() {
                Self::point(quotient)
            } else if a.is_sign_positive() == b.is_sign_positive() {
                Self { low: 0.0, high: f64::INFINITY }
            } else {
                Self { low: f64::NEG_INFINITY, high: 0.0 }
            }
        })
    }

    /// Returns every smaller one of two numbers.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// Returns every larger one of two numbers.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// Returns every amount without its sign.
    #[must_use]
    pub fn abs(self) -> Self {
        let (low, high) = (self.low.abs(), self.high.abs());
        Self { low: if self.contains(0.0) { 0.0 } else { low.min(high) }, high: low.max(high) }
    }

    /// Returns every power.
    #[must_use]
    pub fn pow(self, exponent: Self) -> Self {
        if self.low < 0.0 {
            return Self::EVERYTHING;
        }
        // For a fixed exponent monotone in the base, for a fixed base monotone in the exponent: extremes are corners.
        self.corners(exponent, |base, exponent| {
            // A base of -0 would turn a power without bound to the wrong side.
            let power = libm::pow(base + 0.0, exponent);
            Self::new(power, power)
        })
    }

    /// Returns the answer of a comparison, if it is the same for all numbers.
    pub fn compare(self, operator: Binary, other: Self) -> Option<bool> {
        let settle = |surely: bool, never: bool| match (surely, never) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let apart = self.intersect(other).is_none();
        let same = self.single().is_some() && self.single() == other.single();
        match operator {
            Binary::Less => settle(self.high < other.low, self.low >= other.high),
            Binary::LessOrEqual => settle(self.high <= other.low, self.low > other.high),
            Binary::Greater => settle(self.low > other.high, self.high <= other.low),
            Binary::GreaterOrEqual => settle(self.low >= other.high, self.high < other.low),
            Binary::Equal => settle(same, apart),
            Binary::NotEqual => settle(apart, same),
            _ => None,
        }
    }
}

impl Range {
    /// Returns the numbers; of a condition 1 where it is true and 0 where it is false.
    pub fn number(self) -> Interval {
        match self {
            Self::Number(interval) => interval,
            Self::Flag(Some(flag)) => Interval::point(f64::from(u8::from(flag))),
            Self::Flag(None) => Interval::UNIT,
        }
    }

    /// Returns true, false or undecided; a number is undecided.
    pub fn flag(self) -> Option<bool> {
        match self {
            Self::Flag(flag) => flag,
            Self::Number(_) => None,
        }
    }

    /// Returns the smallest range that holds both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => Self::Number(a.hull(b)),
            (Self::Flag(a), Self::Flag(b)) => Self::Flag(if a == b { a } else { None }),
            (a, b) => Self::Number(a.number().hull(b.number())),
        }
    }
}

impl Known {
    /// Returns whether both are there.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Returns every value that `formula` can take. Where it is missing or fails it has none.
pub fn evaluate<S: Surroundings + ?Sized>(formula: &Expr<Symbol>, around: &S) -> Range {
    evaluate_known(formula, around).0
}

/// Does what [`evaluate`] does, and returns whether the formula surely is not missing.
pub fn evaluate_known<S: Surroundings + ?Sized>(formula: &Expr<Symbol>, around: &S) -> (Range, Known) {
    match &formula.kind {
        ExprKind::Number(value) => (Range::Number(Interval::point(*value)), Known::Surely),
        ExprKind::Flag(value) => (Range::Flag(Some(*value)), Known::Surely),
        ExprKind::Name(symbol) => around.range(*symbol),
        ExprKind::Unary(operator, operand) => {
            let (range, known) = evaluate_known(operand, around);
            let range = match operator {
                Unary::Negate => Range::Number(range.number().negate()),
                Unary::Not => Range::Flag(range.flag().map(|flag| !flag)),
            };
            (range, known)
        }
        ExprKind::Binary(operator, left, right) => {
            let (a, a_known) = evaluate_known(left, around);
            let (b, b_known) = evaluate_known(right, around);
            let mut range = binary(*operator, a, b);
            if let (Binary::Divide, ExprKind::Name(part), ExprKind::Name(whole)) =
                (operator, &left.kind, &right.kind)
                && around.is_part(*part, *whole)
            {
                range = Range::Number(range.number().intersect(Interval::UNIT).unwrap_or(Interval::UNIT));
            }
            (range, a_known.and(b_known))
        }
        ExprKind::Call(function, arguments) => call(*function, arguments, around),
    }
}

fn binary(operator: Binary, a: Range, b: Range) -> Range {
    let numbers =
        |operation: fn(Interval, Interval) -> Interval| Range::Number(operation(a.number(), b.number()));
    match operator {
        Binary::Add => numbers(Interval::plus),
        Binary::Subtract => numbers(Interval::minus),
        Binary::Multiply => numbers(Interval::multiply),
        Binary::Divide => numbers(Interval::divide),
        Binary::And => Range::Flag(match (a.flag(), b.flag()) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }),
        Binary::Or => Range::Flag(match (a.flag(), b.flag()) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }),
        _ => Range::Flag(match (a, b) {
            (Range::Flag(a), Range::Flag(b)) => match (a, b) {
                (Some(a), Some(b)) => Some((a == b) == (operator == Binary::Equal)),
                _ => None,
            },
            _ => a.number().compare(operator, b.number()),
        }),
    }
}

fn call<S: Surroundings + ?Sized>(
    function: Function,
    arguments: &[Expr<Symbol>],
    around: &S,
) -> (Range, Known) {
    // The parser has counted the arguments; a formula built otherwise gives the range that says nothing.
    let nothing = (Range::Number(Interval::EVERYTHING), Known::Perhaps);
    match (function, arguments) {
        (Function::If, [condition, yes, no]) => conditional(condition, yes, no, around),
        (Function::Coalesce, [first, rest @ ..]) => {
            let (mut range, mut known) = evaluate_known(first, around);
            for argument in rest {
                if known == Known::Surely {
                    break;
                }
                let next = evaluate_known(argument, around);
                if next.1 != Known::Never {
                    range = if known == Known::Never { next.0 } else { range.hull(next.0) };
                    known = next.1;
                }
            }
            (range, known)
        }
        (Function::IsMissing, [operand]) => {
            let (_, known) = evaluate_known(operand, around);
            (Range::Flag((known != Known::Perhaps).then_some(known == Known::Never)), Known::Surely)
        }
        (Function::Clamp, [x, low, high]) => {
            let ((x, x_known), (low, low_known)) = (evaluate_known(x, around), evaluate_known(low, around));
            let (high, high_known) = evaluate_known(high, around);
            let range = x.number().max(low.number()).min(high.number());
            (Range::Number(range), x_known.and(low_known).and(high_known))
        }
        (Function::Pow, [base, exponent]) => {
            let ((base, a), (exponent, b)) = (evaluate_known(base, around), evaluate_known(exponent, around));
            (Range::Number(base.number().pow(exponent.number())), a.and(b))
        }
        (Function::Min | Function::Max, [first, rest @ ..]) => {
            let (range, mut known) = evaluate_known(first, around);
            let mut range = range.number();
            for argument in rest {
                let (next, next_known) = evaluate_known(argument, around);
                known = known.and(next_known);
                range = match function {
                    Function::Min => range.min(next.number()),
                    _ => range.max(next.number()),
                };
            }
            (Range::Number(range), known)
        }
        (_, [operand]) => {
            let (range, known) = evaluate_known(operand, around);
            let x = range.number();
            let range = match function {
                Function::Abs => x.abs(),
                Function::Floor => x.map(libm::floor),
                Function::Ceil => x.map(libm::ceil),
                Function::Exp => x.map(libm::exp),
                Function::Sqrt => x.map(|end| libm::sqrt(end.max(0.0))),
                Function::Ln => x.map(|end| libm::log(end.max(0.0))),
                Function::Log2 => x.map(|end| libm::log2(end.max(0.0))),
                _ => return nothing,
            };
            (Range::Number(range), known)
        }
        _ => nothing,
    }
}

fn conditional<S: Surroundings + ?Sized>(
    condition: &Expr<Symbol>,
    yes: &Expr<Symbol>,
    no: &Expr<Symbol>,
    around: &S,
) -> (Range, Known) {
    let (decision, condition_known) = evaluate_known(condition, around);
    let (range, known) = match decision.flag() {
        Some(true) => evaluate_known(yes, around),
        Some(false) => evaluate_known(no, around),
        None => match (around.branch(condition, true, yes), around.branch(condition, false, no)) {
            (Some((a, a_known)), Some((b, b_known))) if a_known == b_known => (a.hull(b), a_known),
            (Some((a, _)), Some((b, _))) => (a.hull(b), Known::Perhaps),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => (Range::Number(Interval::EVERYTHING), Known::Perhaps),
        },
    };
    (range, condition_known.and(known))
}
