//! Proof that every reading and every new score stays within 0..1, and what may have no value on the way.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::declared::{Declared, LETS_DEEP, Narrowed};
use super::findings::{Findings, Site};
use super::types::is_taken;
use karat_core::diagnostic::Code;
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol};
use karat_core::range::{Interval, evaluate};
use karat_core::scorecard::Scorecard;

/// Checks every value that must lie within 0..1; `wrong` are formulas that have no type.
pub(super) fn check(card: &Scorecard, declared: &Declared<'_>, wrong: &[Site], findings: &mut Findings<'_>) {
    for (at, dimension) in card.dimensions.iter().enumerate() {
        if wrong.contains(&Site::Value(at)) {
            continue;
        }
        let Some(inside) = declared.scored(dimension) else { continue };
        let value = evaluate(&dimension.formula.expr, &inside).number();
        let what = format!("the value of `{}`", dimension.key);
        prove(&what, value, &dimension.formula, findings);
    }
    for (at, rule) in card.rules.iter().enumerate() {
        if wrong.contains(&Site::Set(at)) {
            continue;
        }
        let Some(inside) = declared.assuming([&rule.when.expr]) else { continue };
        let value = evaluate(&rule.set.expr, &inside).number();
        prove(&format!("the score set by `{}`", rule.name), value, &rule.set, findings);
    }
    let mut partial = Partial { declared, findings, seen: Vec::new(), lets: LETS_DEEP };
    for (site, formula) in Site::all(card) {
        // A let is looked at where it is used: there a condition may guard it.
        let inside = match site {
            Site::Let(_) => None,
            Site::Value(at) => card.dimensions.get(at).and_then(|dimension| declared.scored(dimension)),
            Site::Set(at) => card.rules.get(at).and_then(|rule| declared.assuming([&rule.when.expr])),
            _ => Some(declared.plain()),
        };
        if let Some(inside) = inside.filter(|_| !wrong.contains(&site)) {
            partial.visit(formula, &formula.expr, &inside, site.name(card));
        }
    }
}

/// Refuses a value that may leave 0..1. What rounding brings back into it is not outside: a sum of decimals may exceed 1
/// by a unit in the last place, far below both grids.
fn prove(what: &str, value: Interval, formula: &Formula, findings: &mut Findings<'_>) {
    if value.low >= -f64::EPSILON && value.high <= 1.0 + 2.0 * f64::EPSILON {
        return;
    }
    let found = format!("{} to {}", number(value.low), number(value.high));
    let help = if value.high.is_infinite() || value.low.is_infinite() {
        "declare `min` and `max` of its facts, or write `clamp(..., 0, 1)` around it"
    } else {
        "write `clamp(..., 0, 1)` around it, or correct the ranges of its facts"
    };
    findings.error(
        Code::OutOfRange,
        formula.place(&formula.expr.span),
        format!("{what} is not proved to stay within 0 to 1: over the declared ranges it is {found}"),
        &found,
        help,
    );
}

/// Returns an end of an interval for a reader.
pub(super) fn number(end: f64) -> String {
    if end.is_finite() {
        format!("{end}")
    } else {
        (if end > 0.0 { "infinity" } else { "-infinity" }).to_string()
    }
}

/// Looks for operations that may have no result.
struct Partial<'p, 'c, 'f> {
    declared: &'p Declared<'c>,
    findings: &'p mut Findings<'f>,
    /// Lets that were looked at without any condition: what is unguarded there needs no second look.
    seen: Vec<usize>,
    /// Depth of lets that is left to look into.
    lets: u32,
}

impl Partial<'_, '_, '_> {
    fn visit(&mut self, formula: &Formula, expr: &Expr<Symbol>, inside: &Narrowed<'_>, name: &str) {
        match &expr.kind {
            ExprKind::Name(Symbol::Let(at)) => {
                if let Some(named) = self.declared.card.lets.get(*at)
                    && !self.seen.contains(at)
                    && self.lets > 0
                    && self.declared.pay(named.formula.text.len())
                {
                    if inside.is_plain() {
                        self.seen.push(*at);
                    }
                    self.lets -= 1;
                    self.visit(&named.formula, &named.formula.expr, inside, &named.name);
                    self.lets += 1;
                }
            }
            ExprKind::Call(Function::If, arguments) => {
                let [condition, yes, no] = arguments.as_slice() else { return };
                self.visit(formula, condition, inside, name);
                let decision = evaluate(condition, inside).flag();
                for (truth, branch) in [(true, yes), (false, no)] {
                    if decision == Some(!truth) {
                        continue;
                    }
                    if let Some(inside) = inside.and(condition, truth) {
                        self.visit(formula, branch, &inside, name);
                    }
                }
            }
            _ => {
                expr.operands().for_each(|operand| self.visit(formula, operand, inside, name));
                self.complain(formula, expr, inside, name);
            }
        }
    }

    fn complain(&mut self, formula: &Formula, expr: &Expr<Symbol>, inside: &Narrowed<'_>, name: &str) {
        let Some((part, label)) = without_result(expr, inside) else { return };
        let text = |part: &Expr<Symbol>| formula.text.get(part.span.clone()).unwrap_or_default();
        let (whole, operand) = (text(expr), text(part));
        let help = match &expr.kind {
            ExprKind::Call(Function::Sqrt, _) => format!("write `sqrt(max(0, {operand}))`"),
            ExprKind::Call(Function::Pow, parts) => {
                let exponent = parts.get(1).unwrap_or(expr);
                let is_root = evaluate(exponent, inside).number().low >= 0.0;
                let least = if is_root { "0" } else { "0.001" };
                format!("keep its base above 0: `pow(max({least}, {operand}), {})`", text(exponent))
            }
            // Only a name is known to be above 0 inside of a guard.
            _ if !matches!(part.kind, ExprKind::Name(_)) => {
                let is_free = |name: &&str| !is_taken(self.declared.card, name);
                let name = ["divisor", "operand", "guarded"].into_iter().find(is_free);
                let name = name.unwrap_or("guarded_operand");
                let guarded = match &expr.kind {
                    ExprKind::Binary(_, left, _) => format!("{} / {name}", text(left)),
                    ExprKind::Call(function, _) => format!("{}({name})", function.name()),
                    _ => String::from(whole),
                };
                format!("with `{name} = \"{operand}\"` in `[let]` guard it: `if({name} > 0, {guarded}, 0)`")
            }
            _ => format!("guard it: `if({operand} > 0, {whole}, 0)`"),
        };
        let roots = part.symbols();
        let mut about: Vec<&str> =
            roots.iter().map(|&symbol| self.declared.card.symbol_name(symbol)).collect();
        about.push(name);
        let message = format!(
            "`{}` has no value where `{}` {}",
            text(expr),
            text(part),
            label.replacen("may be", "is", 1)
        );
        self.findings.warn(Code::MayFail, formula.place(&part.span), &about, message, label, &help);
    }
}

/// Returns the operand for which an operation may have no result, and what that operand may be.
fn without_result<'e>(
    expr: &'e Expr<Symbol>,
    inside: &Narrowed<'_>,
) -> Option<(&'e Expr<Symbol>, &'static str)> {
    let number = |part: &Expr<Symbol>| evaluate(part, inside).number();
    match &expr.kind {
        ExprKind::Binary(Binary::Divide, _, by) => number(by).contains(0.0).then_some((&**by, "may be 0")),
        ExprKind::Call(function, arguments) => match (function, arguments.as_slice()) {
            (Function::Sqrt, [x]) => (number(x).low < 0.0).then_some((x, "may be negative")),
            (Function::Ln | Function::Log2, [x]) => (number(x).low <= 0.0).then_some((x, "may be 0 or less")),
            (Function::Pow, [base, exponent]) => {
                let low = number(base).low;
                (low < 0.0 || (low <= 0.0 && number(exponent).low < 0.0))
                    .then_some((base, "may be 0 or less"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether some operation of a formula may have no result. Overflow aside, a formula that may not fail never does.
pub(super) fn may_fail(expr: &Expr<Symbol>, inside: &Narrowed<'_>) -> bool {
    may_fail_within(expr, inside, LETS_DEEP)
}

fn may_fail_within(expr: &Expr<Symbol>, inside: &Narrowed<'_>, lets: u32) -> bool {
    if !inside.declared.pay(expr.span.len()) {
        return true;
    }
    let may_fail = |part: &Expr<Symbol>, inside: &Narrowed<'_>| may_fail_within(part, inside, lets);
    match &expr.kind {
        ExprKind::Name(Symbol::Let(at)) => inside
            .declared
            .card
            .lets
            .get(*at)
            .is_some_and(|named| lets == 0 || may_fail_within(&named.formula.expr, inside, lets - 1)),
        ExprKind::Call(Function::If, arguments) => {
            let [condition, branches @ ..] = arguments.as_slice() else { return true };
            let decision = evaluate(condition, inside).flag();
            may_fail(condition, inside)
                || [true, false].into_iter().zip(branches).any(|(truth, branch)| {
                    let reached = if decision == Some(!truth) { None } else { inside.and(condition, truth) };
                    reached.is_some_and(|inside| may_fail(branch, &inside))
                })
        }
        _ => {
            without_result(expr, inside).is_some() || expr.operands().any(|operand| may_fail(operand, inside))
        }
    }
}
