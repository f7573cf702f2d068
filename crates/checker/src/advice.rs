//! Hints that can be followed as they are: formulas and constants with the numbers and units of the card at hand.

use alloc::format;
use alloc::string::{String, ToString};

use super::declared::Declared;
use super::slopes::Place;
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Symbol};
use karat_core::range::{Interval, Range, Surroundings};
use karat_core::scorecard::{Gate, Rule, Scorecard};

/// The part of a range over which a value should move.
const GENTLE: f64 = 0.1;
/// The fewest numbers of a count over which it should.
const GENTLE_COUNT: f64 = 6.0;
/// The last words of a hint about a trap.
const OR_KEEP: &str = ", or keep it and say why";

/// Returns where a steep place lies, for a reader: `` `q` goes from 0.7 to 0.700001 ``.
pub(super) fn place(card: &Scorecard, input: Symbol, place: &Place) -> String {
    let name = card.symbol_name(input);
    let width = place.to - place.from;
    let size = place.from.abs().max(place.to.abs());
    if width <= size * 1e-12 {
        return format!("`{name}` reaches {}", number(place.to, size * 1e-9));
    }
    format!("`{name}` goes from {} to {}", number(place.from, width), number(place.to, width))
}

/// Returns a number for a reader, exact to a tenth of `width`.
pub(super) fn number(value: f64, width: f64) -> String {
    let places = if width > 0.0 { 1.0 - libm::floor(libm::log10(width)) } else { 6.0 };
    let places = places.clamp(0.0, 15.0) as usize;
    let text = format!("{value:.places$}");
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_string() } else { text.to_string() }
}

/// A threshold that a name is compared with.
struct Threshold {
    symbol: Symbol,
    at: f64,
    /// A value above it passes.
    rises: bool,
}

/// Returns the threshold of a comparison of a name with a number.
fn threshold(comparison: &Expr<Symbol>) -> Option<Threshold> {
    let ExprKind::Binary(operator, left, right) = &comparison.kind else { return None };
    let (symbol, at, is_left) = match (&left.kind, &right.kind) {
        (ExprKind::Name(symbol), _) => (*symbol, right.literal()?, true),
        (_, ExprKind::Name(symbol)) => (*symbol, left.literal()?, false),
        _ => return None,
    };
    match operator {
        Binary::Greater | Binary::GreaterOrEqual => Some(Threshold { symbol, at, rises: is_left }),
        Binary::Less | Binary::LessOrEqual => Some(Threshold { symbol, at, rises: !is_left }),
        _ => None,
    }
}

/// A formula that goes from 0 to 1 along a number, and the constants that it needs.
struct Ramp {
    formula: String,
    /// ` with ... in [const]`, or nothing.
    constants: String,
    /// The end at which it is 1.
    full: String,
}

/// Returns a line between `low` and `low + width`.
fn ramp(declared: &Declared<'_>, symbol: Symbol, low: f64, width: f64, rises: bool) -> Ramp {
    let card = declared.card;
    let name = card.symbol_name(symbol);
    let high = low + width;
    let (start, end) = (number(low, width), number(high, width));
    let width_text = number(width, width);
    let start_or_end = if rises { &start } else { &end };
    let full = if rises { end.clone() } else { start.clone() };
    let unit = match symbol {
        Symbol::Fact(at) => card.facts.get(at).map_or("", |fact| fact.unit.as_str()),
        _ => "",
    };
    let line = |from: &str, width: &str| match (rises, from) {
        (true, "0") => format!("clamp({name} / {width}, 0, 1)"),
        (true, from) if from.starts_with('-') => format!("clamp(({name} - ({from})) / {width}, 0, 1)"),
        (true, from) => format!("clamp(({name} - {from}) / {width}, 0, 1)"),
        (false, from) => format!("clamp(({from} - {name}) / {width}, 0, 1)"),
    };
    if matches!(unit, "" | "1" | "count" | "ratio") {
        return Ramp { formula: line(start_or_end, &width_text), constants: String::new(), full };
    }
    let (from, span) = (format!("{name}_from"), format!("{name}_span"));
    // A range that starts at 0 needs no constant for its start.
    let is_zero = rises && start_or_end == "0";
    let formula = if is_zero { line("0", &span) } else { line(&from, &span) };
    let of = |name: &str, value: &str| format!("`{name} = {{ value = {value}, unit = \"{unit}\" }}`");
    let constants = if is_zero {
        format!(" with {} in `[const]`", of(&span, &width_text))
    } else {
        format!(" with {} and {} in `[const]`", of(&from, start_or_end), of(&span, &width_text))
    };
    Ramp { formula, constants, full }
}

/// Returns how wide a gentle line is for a number around `at`, and the range of the number.
fn gentle(declared: &Declared<'_>, symbol: Symbol, at: f64) -> Option<(Interval, f64)> {
    let Range::Number(range) = declared.range(symbol).0 else { return None };
    let whole = range.high - range.low;
    let width = if whole.is_finite() {
        whole * GENTLE
    } else if at.abs() > 0.0 {
        at.abs() / 2.0
    } else {
        1.0
    };
    let width = if declared.is_integer(symbol) { libm::ceil(width).max(GENTLE_COUNT) } else { width };
    let width = width.min(whole);
    (width > 0.0).then_some((range, width))
}

/// Returns a line from the threshold on, on the side that passes.
fn beyond(declared: &Declared<'_>, threshold: &Threshold) -> Option<Ramp> {
    let (range, width) = gentle(declared, threshold.symbol, threshold.at)?;
    let room = if threshold.rises { range.high - threshold.at } else { threshold.at - range.low };
    let width = width.min(room);
    let low = if threshold.rises { threshold.at } else { threshold.at - width };
    (width > 0.0).then(|| ramp(declared, threshold.symbol, low, width, threshold.rises))
}

/// Returns the hint for a steep place: the same way over more of the range.
pub(super) fn over_more(declared: &Declared<'_>, input: Symbol, place: &Place) -> String {
    let middle = place.from + (place.to - place.from) / 2.0;
    let Some((range, width)) = gentle(declared, input, middle) else { return general() };
    let low = (middle - width / 2.0).min(range.high - width).max(range.low);
    let low = if declared.is_integer(input) { libm::floor(low) } else { low };
    let ramp = ramp(declared, input, low, width, place.change > 0.0);
    format!("let it move over more of the range: `{}`{}{OR_KEEP}", ramp.formula, ramp.constants)
}

fn general() -> String {
    format!("let the value grow over a part of the range instead of turning at one point{OR_KEEP}")
}

/// Returns the hint for a gate of dimensions.
pub(super) fn for_gate(declared: &Declared<'_>, when: &Expr<Symbol>) -> String {
    let ramp = threshold(when).and_then(|threshold| beyond(declared, &threshold));
    ramp.map_or_else(general, |ramp| {
        format!(
            "multiply `formula` by `{}`{}, so that it grows from the threshold on{OR_KEEP}",
            ramp.formula, ramp.constants
        )
    })
}

/// Returns the hint for a comparison in the condition of an `if`.
pub(super) fn for_choice(
    declared: &Declared<'_>,
    formula: &Formula,
    comparison: &Expr<Symbol>,
    arguments: &[Expr<Symbol>],
) -> String {
    let found = threshold(comparison).and_then(|threshold| beyond(declared, &threshold));
    let (Some(ramp), [condition, yes, no]) = (found, arguments) else { return general() };
    if condition.span != comparison.span {
        return general();
    }
    let text = |part: &Expr<Symbol>| formula.text.get(part.span.clone()).unwrap_or_default();
    let is_number = |part: &Expr<Symbol>, number: f64| matches!(part.kind, ExprKind::Number(value) if (value - number).abs() <= 0.0);
    let (yes_text, no_text) = (text(yes), text(no));
    let line = if is_number(no, 0.0) && is_number(yes, 1.0) {
        ramp.formula
    } else if is_number(no, 0.0) {
        format!("({yes_text}) * {}", ramp.formula)
    } else {
        format!("clamp({no_text} + ({yes_text} - ({no_text})) * {}, 0, 1)", ramp.formula)
    };
    format!("in place of the `if` write `{line}`{}{OR_KEEP}", ramp.constants)
}

/// Returns the hint for the condition of a rule.
pub(super) fn for_rule(declared: &Declared<'_>, rule: &Rule) -> String {
    let ramp = threshold(&rule.when.expr).and_then(|threshold| beyond(declared, &threshold));
    ramp.map_or_else(general, |ramp| {
        format!(
            "let it set in from the threshold on: `set = \"clamp(score + ({} - score) * {}, 0, 1)\"`{}{OR_KEEP}",
            rule.set.text, ramp.formula, ramp.constants
        )
    })
}

/// Returns the hint for a cap, which is `cap` of a perfect score.
pub(super) fn for_cap(declared: &Declared<'_>, gate: &Gate, cap: f64) -> String {
    let found = threshold(&gate.when.expr).and_then(|threshold| {
        // The score is free again from the far end of the line on.
        let opposite = Threshold { rises: !threshold.rises, ..threshold };
        Some((beyond(declared, &opposite)?, opposite))
    });
    found.map_or_else(general, |(ramp, opposite)| {
        let name = declared.card.symbol_name(opposite.symbol);
        let sign = if opposite.rises { "<" } else { ">" };
        let (cap, rest) = (number(cap, 1e-5), number(1.0 - cap, 1e-5));
        format!(
            "let a rule lower it step by step: `when = \"{name} {sign} {}\"`, `set = \"min(score, {cap} + {rest} * {})\"`{}{OR_KEEP}",
            ramp.full, ramp.formula, ramp.constants
        )
    })
}
