//! The range of a value over a box of facts, and of its change while one of them moves: interval arithmetic on both.

use karat_core::formula::{Binary, Function};
use karat_core::range::Interval;

/// The range of a value over a box, and of its change between two points of the box that differ in one input.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) range: Interval,
    pub(super) change: Interval,
}

impl Moved {
    pub(super) const ANYTHING: Self = Self { range: Interval::EVERYTHING, change: Interval::EVERYTHING };
    pub(super) const ZERO: Self = Self::fixed(Interval::point(0.0));
    pub(super) const ONE: Self = Self::fixed(Interval::point(1.0));

    pub(super) const fn fixed(range: Interval) -> Self {
        Self { range, change: Interval::point(0.0) }
    }

    pub(super) fn moves(self) -> bool {
        self.change.low < 0.0 || self.change.high > 0.0
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { range: self.range.minus(other.range), change: self.change.minus(other.change) }
    }

    /// Returns the quotient, whose range is known: `a'/b' - a/b = (da - a/b db) / b'`.
    pub(super) fn over(self, by: Self, quotient: Interval) -> Self {
        if !self.moves() && !by.moves() {
            return Self::fixed(quotient);
        }
        let change = self.change.minus(quotient.multiply(by.change)).divide(by.range);
        Self { range: quotient, change }
    }

    pub(super) fn binary(self, operator: Binary, other: Self) -> Self {
        match operator {
            Binary::Add => {
                Self { range: self.range.plus(other.range), change: self.change.plus(other.change) }
            }
            Binary::Subtract => self.minus(other),
            Binary::Multiply => {
                let parts = (self.range.multiply(other.change), self.change.multiply(other.range));
                Self { range: self.range.multiply(other.range), change: parts.0.plus(parts.1) }
            }
            Binary::Divide => self.over(other, self.range.divide(other.range)),
            Binary::And => self.min(other),
            Binary::Or => self.max(other),
            _ => {
                let decided = self.range.compare(operator, other.range);
                let range =
                    decided.map_or(Interval::UNIT, |holds| Interval::point(f64::from(u8::from(holds))));
                let turns = decided.is_none() && (self.moves() || other.moves());
                let most = if turns { 1.0 } else { 0.0 };
                Self { range, change: Interval { low: -most, high: most } }
            }
        }
    }

    pub(super) fn min(self, other: Self) -> Self {
        let change = if self.range.high <= other.range.low {
            self.change
        } else if other.range.high <= self.range.low {
            other.change
        } else {
            self.change.hull(other.change)
        };
        Self { range: self.range.min(other.range), change }
    }

    pub(super) fn max(self, other: Self) -> Self {
        let change = if self.range.low >= other.range.high {
            self.change
        } else if other.range.low >= self.range.high {
            other.change
        } else {
            self.change.hull(other.change)
        };
        Self { range: self.range.max(other.range), change }
    }

    pub(super) fn choose(self, yes: Self, no: Self) -> Self {
        if self.range.low > 0.5 {
            return yes;
        }
        if self.range.high < 0.5 {
            return no;
        }
        let mut change = yes.change.hull(no.change);
        if self.moves() {
            change = change.hull(yes.range.minus(no.range)).hull(no.range.minus(yes.range));
        }
        Self { range: yes.range.hull(no.range), change }
    }

    /// Returns a function of it whose slope lies within `slope`.
    pub(super) fn through(self, range: Interval, slope: Interval) -> Self {
        let change = if self.moves() { slope.multiply(self.change) } else { Interval::point(0.0) };
        Self { range, change }
    }

    pub(super) fn unary(self, function: Function) -> Self {
        let x = self.range;
        let above = |end: f64| end.max(0.0);
        match function {
            Function::Abs => {
                let slope = Interval {
                    low: if x.low < 0.0 { -1.0 } else { 1.0 },
                    high: if x.high > 0.0 { 1.0 } else { -1.0 },
                };
                self.through(x.abs(), slope)
            }
            Function::Floor | Function::Ceil => {
                let range = x.map(if function == Function::Floor { libm::floor } else { libm::ceil });
                let change =
                    Interval { low: libm::floor(self.change.low), high: libm::ceil(self.change.high) };
                Self { range, change }
            }
            Function::Exp => {
                let range = x.map(libm::exp);
                self.through(range, range)
            }
            Function::Sqrt => {
                let range = x.map(|end| libm::sqrt(above(end)));
                self.through(range, range.map_falling(|end| 0.5 / end))
            }
            Function::Ln => {
                self.through(x.map(|end| libm::log(above(end))), x.map_falling(|end| 1.0 / above(end)))
            }
            Function::Log2 => self.through(
                x.map(|end| libm::log2(above(end))),
                x.map_falling(|end| core::f64::consts::LOG2_E / above(end)),
            ),
            _ => Self::ANYTHING,
        }
    }

    pub(super) fn pow(self, exponent: Self) -> Self {
        let range = self.range.pow(exponent.range);
        if !self.moves() && !exponent.moves() {
            return Self::fixed(range);
        }
        if self.range.low < 0.0 {
            return Self { range, change: Interval::EVERYTHING };
        }
        let less_one = exponent.range.minus(Interval::point(1.0));
        let in_base = exponent.range.multiply(self.range.pow(less_one)).multiply(self.change);
        let logarithm = self.range.map(|end| libm::log(end.max(0.0)));
        let in_exponent = range.multiply(logarithm).multiply(exponent.change);
        Self { range, change: in_base.plus(in_exponent) }
    }
}
