//! Intervals against points: whatever a formula gives at a point of a box, its interval over the box holds.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use karat_core::formula::{Binary, Expr, ExprKind, Function, Symbol, Unary};
use karat_core::range::*;

/// Small and repeatable (splitmix64).
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % sides
    }

    pub(crate) fn fraction(&mut self) -> f64 {
        self.roll(1 << 53) as f64 / (1u64 << 53) as f64
    }

    /// Draws awkward numbers more often than a uniform generator would.
    fn number(&mut self) -> f64 {
        match self.roll(8) {
            0 => 0.0,
            1 => 1.0,
            2 => -1.0,
            3 => self.fraction(),
            4 => (self.fraction() - 0.5) * 1e3,
            5 => (self.fraction() - 0.5) * 1e300,
            6 => (self.fraction() - 0.5) * 1e-300,
            _ => self.roll(7) as f64 - 3.0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Flag(bool),
    Missing,
    Failed,
}

/// Returns the language at one point, written from the guide and sharing nothing with the interval version.
pub(crate) fn value(expr: &Expr<Symbol>, facts: &[Value]) -> Value {
    let number = |x: f64| if x.is_finite() { Value::Number(x) } else { Value::Failed };
    let strict = |operands: &[&Expr<Symbol>], then: &dyn Fn(&[Value]) -> Value| {
        let values: Vec<Value> = operands.iter().map(|operand| value(operand, facts)).collect();
        if values.contains(&Value::Failed) {
            Value::Failed
        } else if values.contains(&Value::Missing) {
            Value::Missing
        } else {
            then(&values)
        }
    };
    match &expr.kind {
        ExprKind::Number(x) => Value::Number(*x),
        ExprKind::Flag(x) => Value::Flag(*x),
        ExprKind::Name(Symbol::Fact(at)) => facts[*at],
        // A formula about the score finds it after the facts.
        ExprKind::Name(Symbol::Score) => facts[facts.len() - 1],
        ExprKind::Name(_) => Value::Missing,
        ExprKind::Unary(operator, operand) => strict(&[&**operand], &|values| match (operator, values) {
            (Unary::Negate, [Value::Number(x)]) => Value::Number(-x),
            (Unary::Not, [Value::Flag(x)]) => Value::Flag(!x),
            other => panic!("{other:?}"),
        }),
        ExprKind::Binary(operator, left, right) => {
            strict(&[&**left, &**right], &|values| match (values, operator) {
                ([Value::Number(a), Value::Number(b)], operator) => match operator {
                    Binary::Add => number(a + b),
                    Binary::Subtract => number(a - b),
                    Binary::Multiply => number(a * b),
                    Binary::Divide => number(a / b),
                    Binary::Less => Value::Flag(a < b),
                    Binary::LessOrEqual => Value::Flag(a <= b),
                    Binary::Greater => Value::Flag(a > b),
                    Binary::GreaterOrEqual => Value::Flag(a >= b),
                    Binary::Equal => Value::Flag(a == b),
                    Binary::NotEqual => Value::Flag(a != b),
                    other => panic!("{other:?}"),
                },
                ([Value::Flag(a), Value::Flag(b)], operator) => Value::Flag(match operator {
                    Binary::And => *a && *b,
                    Binary::Or => *a || *b,
                    Binary::Equal => a == b,
                    Binary::NotEqual => a != b,
                    other => panic!("{other:?}"),
                }),
                other => panic!("{other:?}"),
            })
        }
        ExprKind::Call(Function::If, arguments) => match value(&arguments[0], facts) {
            Value::Flag(true) => value(&arguments[1], facts),
            Value::Flag(false) => value(&arguments[2], facts),
            other => other,
        },
        ExprKind::Call(Function::Coalesce, arguments) => arguments
            .iter()
            .map(|argument| value(argument, facts))
            .find(|value| *value != Value::Missing)
            .unwrap_or(Value::Missing),
        ExprKind::Call(Function::IsMissing, arguments) => match value(&arguments[0], facts) {
            Value::Failed => Value::Failed,
            other => Value::Flag(other == Value::Missing),
        },
        ExprKind::Call(function, arguments) => {
            let operands: Vec<&Expr<Symbol>> = arguments.iter().collect();
            strict(&operands, &|values| {
                let x: Vec<f64> = values
                    .iter()
                    .map(|value| if let Value::Number(x) = value { *x } else { panic!("{value:?}") })
                    .collect();
                number(match function {
                    Function::Min => x.iter().copied().fold(f64::INFINITY, f64::min),
                    Function::Max => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    Function::Clamp => x[0].max(x[1]).min(x[2]),
                    Function::Abs => x[0].abs(),
                    Function::Floor => x[0].floor(),
                    Function::Ceil => x[0].ceil(),
                    Function::Sqrt => x[0].sqrt(),
                    Function::Exp => libm::exp(x[0]),
                    Function::Ln => libm::log(x[0]),
                    Function::Log2 => libm::log2(x[0]),
                    _ => libm::pow(x[0], x[1]),
                })
            })
        }
    }
}

fn node(kind: ExprKind<Symbol>) -> Expr<Symbol> {
    Expr { kind, span: 0..0 }
}

/// Facts 0 to 3 are numbers, 0 a part of 1; 4 and 5 are conditions.
pub(crate) fn number_formula(dice: &mut Dice, depth: u32) -> Expr<Symbol> {
    let below = |dice: &mut Dice| number_formula(dice, depth.saturating_sub(1));
    if depth == 0 {
        return node(if dice.roll(3) == 0 {
            ExprKind::Number(dice.number())
        } else {
            ExprKind::Name(Symbol::Fact(dice.roll(4) as usize))
        });
    }
    node(match dice.roll(10) {
        0..=4 => {
            let operators = [Binary::Add, Binary::Subtract, Binary::Multiply, Binary::Divide];
            let operator = operators[dice.roll(4) as usize];
            ExprKind::Binary(operator, Box::new(below(dice)), Box::new(below(dice)))
        }
        5 => ExprKind::Unary(Unary::Negate, Box::new(below(dice))),
        6 => {
            let (yes, no) = (below(dice), below(dice));
            ExprKind::Call(Function::If, vec![flag_formula(dice, depth - 1), yes, no])
        }
        _ => {
            let function = Function::ALL[1 + dice.roll(12) as usize];
            let (fewest, most) = function.arguments();
            let count = fewest + dice.roll(1 + (most - fewest).min(2) as u64) as usize;
            ExprKind::Call(function, (0..count).map(|_| below(dice)).collect())
        }
    })
}

pub(crate) fn flag_formula(dice: &mut Dice, depth: u32) -> Expr<Symbol> {
    if depth == 0 {
        return node(if dice.roll(4) == 0 {
            ExprKind::Flag(dice.roll(2) == 0)
        } else {
            ExprKind::Name(Symbol::Fact(4 + dice.roll(2) as usize))
        });
    }
    let flag = |dice: &mut Dice| Box::new(flag_formula(dice, depth - 1));
    node(match dice.roll(8) {
        0 => ExprKind::Unary(Unary::Not, flag(dice)),
        1 => ExprKind::Binary(Binary::And, flag(dice), flag(dice)),
        2 => ExprKind::Binary(Binary::Or, flag(dice), flag(dice)),
        3 => ExprKind::Binary(Binary::Equal, flag(dice), flag(dice)),
        4 => ExprKind::Call(Function::IsMissing, vec![number_formula(dice, depth - 1)]),
        _ => {
            let operators = [
                Binary::Less,
                Binary::LessOrEqual,
                Binary::Greater,
                Binary::GreaterOrEqual,
                Binary::Equal,
                Binary::NotEqual,
            ];
            let operator = operators[dice.roll(6) as usize];
            let number = |dice: &mut Dice| Box::new(number_formula(dice, depth - 1));
            ExprKind::Binary(operator, number(dice), number(dice))
        }
    })
}

struct Facts(Vec<(Range, Known)>);

impl Surroundings for Facts {
    fn range(&self, symbol: Symbol) -> (Range, Known) {
        match symbol {
            Symbol::Fact(at) => self.0[at],
            _ => (Range::Number(Interval::EVERYTHING), Known::Perhaps),
        }
    }

    fn is_part(&self, part: Symbol, whole: Symbol) -> bool {
        (part, whole) == (Symbol::Fact(0), Symbol::Fact(1))
    }
}

fn random_box(dice: &mut Dice) -> Facts {
    let known = |dice: &mut Dice| if dice.roll(2) == 0 { Known::Surely } else { Known::Perhaps };
    let mut facts: Vec<(Range, Known)> = (0..4)
        .map(|at| {
            let (a, b) = (dice.number(), dice.number());
            // The part and its whole are not negative; the part is declared from 0.
            let (a, b) = if at < 2 { (a.abs(), b.abs()) } else { (a, b) };
            let low = if at == 0 { 0.0 } else { a.min(b) };
            (Range::Number(Interval { low, high: a.max(b) }), known(dice))
        })
        .collect();
    for _ in 0..2 {
        let flag = [None, None, Some(true), Some(false)][dice.roll(4) as usize];
        facts.push((Range::Flag(flag), known(dice)));
    }
    Facts(facts)
}

fn random_point(dice: &mut Dice, facts: &Facts) -> Vec<Value> {
    let mut point: Vec<Value> = facts
        .0
        .iter()
        .map(|&(range, known)| {
            if known == Known::Perhaps && dice.roll(4) == 0 {
                return Value::Missing;
            }
            match range {
                Range::Flag(flag) => Value::Flag(flag.unwrap_or_else(|| dice.roll(2) == 0)),
                Range::Number(Interval { low, high }) => Value::Number(match dice.roll(4) {
                    0 => low,
                    1 => high,
                    _ => (low + (high - low) * dice.fraction()).clamp(low, high),
                }),
            }
        })
        .collect();
    if let (Value::Number(part), Value::Number(whole)) = (point[0], point[1]) {
        point[0] = Value::Number(part.min(whole));
    }
    point
}

#[test]
fn an_interval_holds_every_value() {
    let mut dice = Dice(1);
    let (mut numbers, mut decided) = (0, 0);
    for case in 0..60_000 {
        let depth = 1 + case % 4;
        let formula =
            if case % 5 == 0 { flag_formula(&mut dice, depth) } else { number_formula(&mut dice, depth) };
        let facts = random_box(&mut dice);
        let (range, known) = evaluate_known(&formula, &facts);
        for _ in 0..8 {
            let point = random_point(&mut dice, &facts);
            let found = value(&formula, &point);
            match (found, range) {
                (Value::Number(x), Range::Number(interval)) => {
                    numbers += 1;
                    assert!(interval.contains(x), "{formula:?} at {point:?}: {x} is not in {interval:?}");
                }
                (Value::Flag(x), Range::Flag(flag)) => {
                    decided += u32::from(flag.is_some());
                    assert!(flag.is_none_or(|flag| flag == x), "{formula:?} at {point:?}: not {flag:?}");
                }
                (Value::Missing, _) => assert_eq!(known, Known::Perhaps, "{formula:?} at {point:?}"),
                (Value::Failed, _) => {}
                other => panic!("{formula:?}: {other:?}"),
            }
        }
    }
    assert!(numbers > 100_000 && decided > 5_000, "the test saw too little: {numbers}, {decided}");
}

#[test]
fn where_everything_is_known_the_interval_is_the_value() {
    let mut dice = Dice(2);
    let mut seen = 0;
    for case in 0..20_000 {
        let formula = number_formula(&mut dice, 1 + case % 4);
        let boxed = random_box(&mut dice);
        let point: Vec<Value> = random_point(
            &mut dice,
            &Facts(boxed.0.iter().map(|&(range, _)| (range, Known::Surely)).collect()),
        );
        let facts = point
            .iter()
            .map(|value| match value {
                Value::Number(x) => (Range::Number(Interval::point(*x)), Known::Surely),
                Value::Flag(x) => (Range::Flag(Some(*x)), Known::Surely),
                other => panic!("{other:?}"),
            })
            .collect();
        if let Value::Number(x) = value(&formula, &point) {
            // Over intervals, the power of a negative base is anything.
            let mut powers = false;
            formula.walk(&mut |part| powers |= matches!(part.kind, ExprKind::Call(Function::Pow, _)));
            seen += u32::from(!powers);
            let interval = evaluate(&formula, &Facts(facts)).number();
            assert!(powers || interval == Interval::point(x), "{formula:?}: {interval:?} is not {x}");
        }
    }
    assert!(seen > 5_000);
}

#[test]
fn the_rules_of_the_guide() {
    let range = |text: &str| {
        let parsed = karat_core::formula::parse(text).unwrap();
        let names = ["part", "whole", "any", "unit", "yes"];
        let formula = parsed
            .map_names::<_, ()>(&mut |name, _| {
                Ok(Symbol::Fact(names.iter().position(|known| known == name).unwrap()))
            })
            .unwrap();
        let number = |low, high| (Range::Number(Interval { low, high }), Known::Perhaps);
        let everything = f64::INFINITY;
        evaluate(
            &formula,
            &Facts(vec![
                number(0.0, everything),
                number(0.0, everything),
                number(-everything, everything),
                number(0.0, 1.0),
                (Range::Flag(None), Known::Perhaps),
            ]),
        )
    };
    let number = |low, high| Range::Number(Interval { low, high });
    let infinity = f64::INFINITY;
    assert_eq!(range("part / whole"), number(0.0, 1.0));
    assert_eq!(range("1 - part / whole"), number(0.0, 1.0));
    assert_eq!(range("whole / part"), number(-infinity, infinity), "only a part is below its whole");
    assert_eq!(range("0 * any"), number(0.0, 0.0));
    assert_eq!(range("1 / (1 + whole)"), number(0.0, 1.0));
    assert_eq!(range("whole / (1 + whole)"), number(0.0, infinity));
    assert_eq!(range("exp(-whole)"), number(0.0, 1.0));
    assert_eq!(range("sqrt(any)"), number(0.0, infinity));
    assert_eq!(range("ln(unit)"), number(-infinity, 0.0));
    assert_eq!(range("pow(unit, whole)"), number(0.0, 1.0));
    assert_eq!(range("pow(any, 2)"), number(-infinity, infinity));
    assert_eq!(range("clamp(any, 0, 1)"), number(0.0, 1.0));
    assert_eq!(range("abs(unit - 0.5)"), number(0.0, 0.5));
    assert_eq!(range("if(yes, 0.2, unit)"), number(0.0, 1.0));
    assert_eq!(range("if(unit >= 0, 0.2, any)"), number(0.2, 0.2));
    assert_eq!(range("coalesce(unit, 3)"), number(0.0, 3.0));
    assert_eq!(range("coalesce(0.5, any)"), number(0.5, 0.5));
    assert_eq!(range("yes and unit > 1"), Range::Flag(Some(false)));
    assert_eq!(range("yes or unit <= 1"), Range::Flag(Some(true)));
    assert_eq!(range("yes and unit > 0"), Range::Flag(None));
    assert_eq!(range("is_missing(3)"), Range::Flag(Some(false)));
    assert_eq!(range("is_missing(any)"), Range::Flag(None));
}
