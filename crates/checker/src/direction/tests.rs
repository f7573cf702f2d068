//! Directions against points: what is proved to rise never falls.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::super::tests::checked;
use super::*;
use crate::range_tests::{Dice, Value, flag_formula, number_formula, value};

const FACTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// Returns the text of a formula over the facts, and over the score where `score` says so for fact `d`.
fn text(formula: &Expr<Symbol>, score: bool) -> String {
    let named = formula.map_names::<String, ()>(&mut |symbol, _| match symbol {
        Symbol::Fact(3) if score => Ok("score".to_string()),
        Symbol::Fact(at) => Ok(FACTS[*at].to_string()),
        _ => Err(()),
    });
    named.unwrap().to_string()
}

fn with_score(formula: &Expr<Symbol>) -> Expr<Symbol> {
    let named = formula.map_names::<Symbol, ()>(&mut |symbol, _| {
        Ok(if *symbol == Symbol::Fact(3) { Symbol::Score } else { *symbol })
    });
    named.unwrap()
}

/// Returns the score at a point, or nothing where something fails.
fn score(card: &Formulas, point: &[Value]) -> Option<f64> {
    let unit = |value| if let Value::Number(x) = value { Some(x.clamp(0.0, 1.0)) } else { None };
    let open = match value(&card.when, point) {
        Value::Flag(open) => open,
        _ => return None,
    };
    let reading = if open { unit(value(&card.value, point))? } else { 0.0 };
    let mut point = point.to_vec();
    point.push(Value::Number(reading));
    match value(&card.rule_when, &point) {
        Value::Flag(true) => unit(value(&card.set, &point)),
        Value::Flag(false) => Some(reading),
        _ => None,
    }
}

struct Formulas {
    value: Expr<Symbol>,
    when: Expr<Symbol>,
    rule_when: Expr<Symbol>,
    set: Expr<Symbol>,
}

#[test]
fn what_is_proved_to_rise_never_falls() {
    let mut dice = Dice(3);
    let (mut proved, mut compared) = (0, 0);
    for case in 0..1500 {
        let depth = 1 + case % 3;
        let card = Formulas {
            value: number_formula(&mut dice, depth),
            when: flag_formula(&mut dice, case % 2),
            rule_when: with_score(&flag_formula(&mut dice, case % 3)),
            set: with_score(&number_formula(&mut dice, depth - 1)),
        };
        let plain = |formula: &Expr<Symbol>| {
            formula.map_names::<Symbol, ()>(&mut |symbol, _| {
                Ok(if *symbol == Symbol::Score { Symbol::Fact(3) } else { *symbol })
            })
        };
        let body = format!(
            "[facts]\na = {{ min = 0, max = \"b\" }}\nb = {{ min = 0, max = 3 }}\nc = {{ min = -2, max = 2 }}\nd = {{ min = 0.5, max = 9 }}\n\
             e = {{ type = \"boolean\" }}\nf = {{ type = \"boolean\" }}\n\
             [[dimension]]\nkey = \"r\"\nweight = 1\nformula = \"clamp({}, 0, 1)\"\nwhen = \"{}\"\n\
             [[rule]]\nname = \"s\"\nwhen = \"{}\"\nset = \"clamp({}, 0, 1)\"\n",
            text(&card.value, false),
            text(&card.when, false),
            text(&plain(&card.rule_when).unwrap(), true),
            text(&plain(&card.set).unwrap(), true),
        );
        let Some(report) = checked(&body).report else { panic!("{:#?}", checked(&body).diagnostics) };
        for (at, (name, direction)) in report.directions.iter().enumerate() {
            if *direction == Direction::Both {
                continue;
            }
            proved += 1;
            for _ in 0..24 {
                let (mut lower, mut higher) = two_points(&mut dice, at);
                let (Value::Number(whole), Value::Number(other)) = (lower[1], higher[1]) else { panic!() };
                for point in [&mut lower, &mut higher] {
                    let Value::Number(part) = point[0] else { panic!() };
                    if at != 0 {
                        point[0] = Value::Number(part.min(whole).min(other));
                    } else {
                        point[0] = Value::Number(part.min(whole));
                    }
                }
                let (Some(before), Some(after)) = (score(&card, &lower), score(&card, &higher)) else {
                    continue;
                };
                compared += u32::from(before != after);
                let holds = match direction {
                    Direction::Flat => before == after,
                    Direction::Up => before <= after,
                    _ => before >= after,
                };
                assert!(
                    holds,
                    "`{name}` {direction:?}, but {before} at {lower:?}, {after} at {higher:?}\n{body}"
                );
            }
        }
    }
    assert!(proved > 3000 && compared > 1500, "the test saw too little: {proved}, {compared}");
}

/// Two points of the facts that differ in one of them only.
fn two_points(dice: &mut Dice, at: usize) -> (Vec<Value>, Vec<Value>) {
    let ranges = [(0.0, 3.0), (0.0, 3.0), (-2.0, 2.0), (0.5, 9.0)];
    let mut draw = |place: usize| match ranges.get(place) {
        Some((low, high)) => Value::Number(match dice.roll(4) {
            0 => *low,
            1 => *high,
            2 => (low + (high - low) * dice.fraction()).round(),
            _ => low + (high - low) * dice.fraction(),
        }),
        None => Value::Flag(dice.roll(2) == 0),
    };
    let lower: Vec<Value> = (0..6).map(&mut draw).collect();
    let other = draw(at);
    let mut higher = lower.clone();
    higher[at] = other;
    let swap = match (lower[at], other) {
        (Value::Number(a), Value::Number(b)) => a > b,
        (a, _) => a == Value::Flag(true),
    };
    if swap { (higher, lower) } else { (lower, higher) }
}

#[test]
fn directions_of_a_budget() {
    let expected = [
        ("quality", Direction::Up),
        ("spent", Direction::Down),
        ("budget", Direction::Up),
        ("steps", Direction::Up),
        ("ok", Direction::Up),
    ];
    for used in ["spent / budget", "min(spent, budget) / budget", "min(budget, spent) / budget"] {
        let body = format!(
            "scale = {{ max = 1000 }}\n\
             [facts]\nquality = {{ min = 0, max = 1 }}\nspent = {{ min = 0 }}\nbudget = {{ min = 0 }}\nsteps = {{ min = 0, integer = true }}\n\
             ok = {{ type = \"boolean\" }}\n\
             [[dimension]]\nkey = \"success\"\nweight = 0.5\nformula = \"quality\"\n\
             [[dimension]]\nkey = \"thrift\"\nweight = 0.5\nwhen = \"success > 0.7\"\nformula = \"if(budget > 0, max(0, 1 - {used}), 0)\"\n\
             [[rule]]\nname = \"bonus\"\nwhen = \"steps > 2 and ok\"\nset = \"min(1, score + 0.1)\"\n\
             [[gate]]\nname = \"veto\"\nwhen = \"quality < 0.2\"\ncap = 100\n"
        );
        let directions = checked(&body).report.unwrap().directions;
        assert_eq!(directions, expected.map(|(name, direction)| (name.to_string(), direction)), "{used}");
    }
}

#[test]
fn a_share_that_is_cut_moves_as_the_share() {
    use Direction::{Both, Down, Up};
    // Of `x / y` cut at 1 the sign of `y` does not matter; the last two are nothing of the sort.
    let (above, below) = ("min = 1, max = 4", "min = -4, max = -1");
    for (formula, range_of_y, x, y) in [
        ("min(x, y) / y", above, Up, Down),
        ("max(y, x) / y", above, Up, Down),
        ("min(x, y) / y", below, Down, Down),
        ("min(x, y) / x", above, Down, Up),
        ("x / max(x, y)", above, Both, Down),
        ("min(x, y) / (y + 0)", above, Up, Both),
    ] {
        let body = format!(
            "[facts]\nx = {{ min = 1, max = 4 }}\ny = {{ {range_of_y} }}\n\
             [[dimension]]\nkey = \"r\"\nweight = 1\nformula = \"clamp(({formula}) / 8, 0, 1)\"\n"
        );
        let directions = checked(&body).report.unwrap().directions;
        assert_eq!(directions, [("x".to_string(), x), ("y".to_string(), y)], "{formula}, {range_of_y}");
    }
}
