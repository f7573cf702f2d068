//! Factors that work on one side of a threshold only (KC311): what is gained there is not lost again in the same measure,
//! so that sums drift.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::direction::is_same;
use super::findings::{Findings, Site, quoted};
use super::roots::{Roots, let_roots, roots_of};
use karat_core::diagnostic::Code;
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol, Unary};
use karat_core::scorecard::Scorecard;

/// Finds them in every formula and rule.
pub(super) fn check(card: &Scorecard, findings: &mut Findings<'_>) {
    let roots = let_roots(card);
    for (site, formula) in Site::all(card) {
        let mut told: Vec<core::ops::Range<usize>> = Vec::new();
        formula.expr.walk(&mut |node| {
            let found = match &node.kind {
                ExprKind::Call(Function::If, arguments) => match arguments.as_slice() {
                    [condition, yes, no] => in_choice(card, condition, yes, no, &roots),
                    _ => None,
                },
                ExprKind::Call(Function::Max | Function::Min, arguments) => match arguments.as_slice() {
                    [a, b] => in_extreme(card, a, b),
                    _ => None,
                },
                ExprKind::Binary(Binary::Multiply | Binary::Divide, ..) => in_product(card, node, &roots),
                ExprKind::Binary(Binary::Add | Binary::Subtract, ..) => in_sum(card, node),
                _ => None,
            };
            // A part of what was found is found again.
            let is_told = told.iter().any(|of| of.start <= node.span.start && node.span.end <= of.end);
            if let Some(found) = found.filter(|_| !is_told) {
                told.push(node.span.clone());
                complain(card, site, formula, &node.span, &found, findings);
            }
        });
    }
    let score = Expr { kind: ExprKind::Name(Symbol::Score), span: 0..0 };
    for (at, rule) in card.rules.iter().enumerate() {
        if let Some(found) = in_choice(card, &rule.when.expr, &rule.set.expr, &score, &roots) {
            complain(card, Site::Set(at), &rule.set, &rule.set.expr.span, &found, findings);
        }
    }
}

/// The thing that is multiplied, and by what on each side.
struct OneSided {
    what: Vec<Symbol>,
    factors: [String; 2],
}

fn complain(
    card: &Scorecard,
    site: Site,
    formula: &Formula,
    span: &core::ops::Range<usize>,
    found: &OneSided,
    findings: &mut Findings<'_>,
) {
    let names: Vec<&str> = found.what.iter().map(|&symbol| card.symbol_name(symbol)).collect();
    let [here, there] = &found.factors;
    let about: Vec<&str> = names.iter().copied().chain([site.name(card)]).collect();
    let message = format!(
        "{} counts by a factor of {here} on one side of a threshold and of {there} on the other: a rise and a fall of one \
             size do not cancel, so sums drift",
        quoted(&names, " and ")
    );
    let help = "multiply by the same factor on both sides, or keep it and say why";
    findings.warn(Code::OneSided, formula.place(span), &about, message, "one side only", help);
}

/// Returns the factors by which the branches of a choice differ, if the choice asks for what they multiply.
fn in_choice(
    card: &Scorecard,
    condition: &Expr<Symbol>,
    yes: &Expr<Symbol>,
    no: &Expr<Symbol>,
    lets: &[Roots],
) -> Option<OneSided> {
    in_branches(card, condition, factors(within(yes)), factors(within(no)), lets)
}

/// Does the same for a choice of a factor: `x * if(x > 0, 1.2, 1)`, also by the name of a let.
fn in_product(card: &Scorecard, product: &Expr<Symbol>, lets: &[Roots]) -> Option<OneSided> {
    let all = factors(product);
    all.iter().enumerate().filter(|(_, factor)| !factor.divides).find_map(|(place, factor)| {
        let named = match factor.expr.kind {
            ExprKind::Name(Symbol::Let(at)) => card.lets.get(at).map(|named| &named.formula.expr),
            _ => None,
        };
        let ExprKind::Call(Function::If, arguments) = &named.unwrap_or(factor.expr).kind else { return None };
        let [condition, yes, no] = arguments.as_slice() else { return None };
        // A factor of 0 is a gate, which is reported as one.
        if [yes, no].iter().any(|branch| number_of(&factors(branch)).is_some_and(|it| it.abs() <= 0.0)) {
            return None;
        }
        let with = |branch| {
            let others = all.iter().enumerate().filter(|&(other, _)| other != place).map(|(_, other)| *other);
            others.chain(factors(branch)).collect()
        };
        in_branches(card, condition, with(yes), with(no), lets)
    })
}

/// Returns the unlike factors of the larger or smaller of two multiples of what can be below 0: `max(x, 1.2 * x)`.
fn in_extreme(card: &Scorecard, a: &Expr<Symbol>, b: &Expr<Symbol>) -> Option<OneSided> {
    let (mut here, mut there) = (factors(a), factors(b));
    let common = take_common(&mut here, &mut there);
    let (one, other) = (number_of(&here)?, number_of(&there)?);
    let is_ever_below_0 = common.iter().flat_map(|part| part.parts()).any(|node| match node.kind {
        ExprKind::Binary(Binary::Subtract, ..) | ExprKind::Unary(Unary::Negate, _) => true,
        ExprKind::Name(Symbol::Fact(at)) => card.facts.get(at).is_some_and(|fact| fact.min < 0.0),
        _ => false,
    });
    let is_one_sided = is_ever_below_0 && one > 0.0 && other > 0.0 && (one - other).abs() > 0.0;
    let what = common.iter().flat_map(|part| part.symbols()).collect();
    is_one_sided.then(|| OneSided { what, factors: [one.to_string(), other.to_string()] })
}

/// Returns the unlike factors of two branches, if the condition asks for what both multiply.
fn in_branches<'e>(
    card: &Scorecard,
    condition: &Expr<Symbol>,
    mut here: Vec<Factor<'e>>,
    mut there: Vec<Factor<'e>>,
    lets: &[Roots],
) -> Option<OneSided> {
    let common = take_common(&mut here, &mut there);
    let mut what: Vec<Symbol> = Vec::new();
    for symbol in common.iter().flat_map(|part| part.symbols()) {
        if !what.contains(&symbol) {
            what.push(symbol);
        }
    }
    let factors = [product(card, &here), product(card, &there)];
    if what.is_empty() || factors[0] == factors[1] {
        return None;
    }
    let roots: Vec<Symbol> = common.iter().flat_map(|part| roots_of(part, lets)).collect();
    let asks = condition.parts().any(|node| {
        matches!(&node.kind, ExprKind::Binary(operator, ..) if operator.is_inequality())
            && roots_of(node, lets).iter().any(|root| roots.contains(root))
    });
    asks.then_some(OneSided { what, factors })
}

/// Returns the unlike factors of what exceeds and what falls short of a threshold: `1.2 * max(0, x) - max(0, -x)`.
fn in_sum(card: &Scorecard, sum: &Expr<Symbol>) -> Option<OneSided> {
    let mut terms = Vec::new();
    terms_of(sum, 1.0, &mut terms);
    for (place, (sign, term)) in terms.iter().enumerate() {
        for (other_sign, other) in terms.iter().skip(place + 1) {
            let (mut here, mut there) = (factors(term), factors(other));
            let (above, below) = match (take_excess(&mut here), take_excess(&mut there)) {
                (Some(above), Some(below)) => (above, below),
                (Some(above), None) => {
                    match beside(&above, sign * number_or_nan(&here), *other_sign, there) {
                        Some(found) => return Some(found),
                        None => continue,
                    }
                }
                (None, Some(below)) => {
                    match beside(&below, other_sign * number_or_nan(&there), *sign, here) {
                        Some(found) => return Some(found),
                        None => continue,
                    }
                }
                (None, None) => continue,
            };
            let cancels = sign * above.sign * other_sign * below.sign < 0.0;
            if !cancels || !above.mirrors(&below) {
                continue;
            }
            take_common(&mut here, &mut there);
            let factors = [product(card, &here), product(card, &there)];
            if factors[0] != factors[1] {
                return Some(OneSided { what: above.of.symbols(), factors });
            }
        }
    }
    None
}

/// Returns the factors of a number that counts, and beside it once more on one side: `x + 0.2 * max(0, x)`.
fn beside(excess: &Excess<'_>, times: f64, sign: f64, mut whole: Vec<Factor<'_>>) -> Option<OneSided> {
    let place = whole.iter().position(|factor| !factor.divides && is_same(factor.expr, excess.of))?;
    whole.remove(place);
    let there = sign * number_of(&whole)?;
    // `max(0, x)` and `min(0, x)` grow with x, `max(0, -x)` and `min(0, -x)` fall.
    let grows = if excess.is_of_negative == (excess.sign < 0.0) { times } else { -times };
    let here = there + grows;
    let is_one_sided = here.abs() > 1e-12 && there.abs() > 0.0 && grows.abs() > 0.0;
    let factors = [here.to_string(), there.to_string()];
    is_one_sided.then(|| OneSided { what: excess.of.symbols(), factors })
}

/// The part of a number above 0, or of its negative.
struct Excess<'e> {
    of: &'e Expr<Symbol>,
    is_of_negative: bool,
    sign: f64,
}

impl Excess<'_> {
    /// Returns whether one is above 0 where the other is not.
    fn mirrors(&self, other: &Self) -> bool {
        let is_swapped = match (&self.of.kind, &other.of.kind) {
            (ExprKind::Binary(Binary::Subtract, a, b), ExprKind::Binary(Binary::Subtract, c, d)) => {
                is_same(a, d) && is_same(b, c)
            }
            _ => false,
        };
        let (mine, others) = (self.is_of_negative, other.is_of_negative);
        (is_same(self.of, other.of) && mine != others) || (is_swapped && mine == others)
    }
}

/// Takes `max(0, x)` or `min(0, x)` out of some factors.
fn take_excess<'e>(factors: &mut Vec<Factor<'e>>) -> Option<Excess<'e>> {
    let is_zero = |part: &Expr<Symbol>| matches!(part.kind, ExprKind::Number(number) if number.abs() <= 0.0);
    let found =
        factors.iter().enumerate().filter(|(_, factor)| !factor.divides).find_map(|(place, factor)| {
            let ExprKind::Call(function @ (Function::Max | Function::Min), operands) = &factor.expr.kind
            else {
                return None;
            };
            let [a, b] = operands.as_slice() else { return None };
            let of = if is_zero(a) {
                b
            } else if is_zero(b) {
                a
            } else {
                return None;
            };
            // `min(0, x)` is `-max(0, -x)`.
            let is_min = *function == Function::Min;
            let (of, is_negated) = match &of.kind {
                ExprKind::Unary(Unary::Negate, inner) => (&**inner, true),
                _ => (of, false),
            };
            Some((
                place,
                Excess { of, is_of_negative: is_min != is_negated, sign: if is_min { -1.0 } else { 1.0 } },
            ))
        });
    let (place, excess) = found?;
    factors.remove(place);
    Some(excess)
}

/// Collects the terms of a sum with their signs.
fn terms_of<'e>(expr: &'e Expr<Symbol>, sign: f64, terms: &mut Vec<(f64, &'e Expr<Symbol>)>) {
    match &expr.kind {
        ExprKind::Binary(Binary::Add, left, right) => {
            terms_of(left, sign, terms);
            terms_of(right, sign, terms);
        }
        ExprKind::Binary(Binary::Subtract, left, right) => {
            terms_of(left, sign, terms);
            terms_of(right, -sign, terms);
        }
        ExprKind::Unary(Unary::Negate, operand) => terms_of(operand, -sign, terms),
        _ => terms.push((sign, expr)),
    }
}

/// Returns what a value is before it is cut to 0..1.
fn within(expr: &Expr<Symbol>) -> &Expr<Symbol> {
    let is_number = |part: &Expr<Symbol>| matches!(part.kind, ExprKind::Number(_));
    match &expr.kind {
        ExprKind::Call(Function::Min | Function::Max, operands) => match operands.as_slice() {
            [a, b] if is_number(a) => within(b),
            [a, b] if is_number(b) => within(a),
            _ => expr,
        },
        ExprKind::Call(Function::Clamp, operands) => operands.first().map_or(expr, within),
        _ => expr,
    }
}

/// A factor of a product, or what the product is divided by.
#[derive(Clone, Copy)]
struct Factor<'e> {
    expr: &'e Expr<Symbol>,
    divides: bool,
}

/// Returns the factors of a product.
fn factors(expr: &Expr<Symbol>) -> Vec<Factor<'_>> {
    match &expr.kind {
        ExprKind::Binary(Binary::Multiply, left, right) => [factors(left), factors(right)].concat(),
        ExprKind::Binary(Binary::Divide, left, right) => {
            let below = factors(right).into_iter();
            let below = below.map(|factor| Factor { divides: !factor.divides, ..factor });
            factors(left).into_iter().chain(below).collect()
        }
        _ => [Factor { expr, divides: false }].into(),
    }
}

/// Takes the factors that both have out of both.
fn take_common<'e>(here: &mut Vec<Factor<'e>>, there: &mut Vec<Factor<'e>>) -> Vec<&'e Expr<Symbol>> {
    let mut common = Vec::new();
    here.retain(|part| {
        let found =
            there.iter().position(|other| part.divides == other.divides && is_same(part.expr, other.expr));
        if let Some(place) = found {
            there.remove(place);
            common.push(part.expr);
        }
        found.is_none()
    });
    common
}

/// Returns the product of factors that are all numbers.
fn number_of(factors: &[Factor<'_>]) -> Option<f64> {
    factors.iter().try_fold(1.0, |product, factor| match factor.expr.kind {
        ExprKind::Number(value) if factor.divides => Some(product / value),
        ExprKind::Number(value) => Some(product * value),
        _ => None,
    })
}

/// Does the same, and returns no number where one of them is a name: then nothing is found.
fn number_or_nan(factors: &[Factor<'_>]) -> f64 {
    number_of(factors).unwrap_or(f64::NAN)
}

/// Returns the product of factors for a reader: its number, or the names that are in it.
fn product(card: &Scorecard, factors: &[Factor<'_>]) -> String {
    let mut number = 1.0;
    let mut parts: Vec<String> = Vec::new();
    for factor in factors {
        match &factor.expr.kind {
            ExprKind::Number(value) if factor.divides => number /= value,
            ExprKind::Number(value) => number *= value,
            _ => {
                let sign = if factor.divides { "1/" } else { "" };
                let symbols = factor.expr.symbols();
                parts.extend(symbols.iter().map(|&symbol| format!("{sign}`{}`", card.symbol_name(symbol))));
            }
        }
    }
    if parts.is_empty() || (number - 1.0_f64).abs() > 0.0 {
        parts.insert(0, number.to_string());
    }
    parts.join(" times ")
}
