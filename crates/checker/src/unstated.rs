//! Facts without a unit that are added to, subtracted from or compared with others (KC309): nothing shows whether a share
//! and a time are put together.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::findings::{Findings, Site};
use super::types::product;
use karat_core::diagnostic::Code;
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol};
use karat_core::scorecard::{FactDeclaration, FactType, Scorecard};

/// The units of a number that the card does not state.
#[derive(Clone, PartialEq)]
enum Origin {
    /// A number in the formula, which takes the unit of what it meets.
    Literal,
    /// Facts without a unit, with their exponents; empty if every unit is stated.
    Facts(Vec<(usize, f64)>),
}

impl Origin {
    const STATED: Self = Self::Facts(Vec::new());

    fn facts(&self) -> &[(usize, f64)] {
        match self {
            Self::Literal => &[],
            Self::Facts(facts) => facts,
        }
    }

    /// Returns the units of `self * other^power`. What has as many of them above the line as below is taken for a share.
    fn times(&self, other: &Self, power: f64) -> Self {
        if matches!((self, other), (Self::Literal, Self::Literal)) {
            return Self::Literal;
        }
        let facts = product(self.facts(), other.facts(), power);
        let sum: f64 = facts.iter().map(|(_, exponent)| exponent).sum();
        if sum.abs() < 1e-9 { Self::STATED } else { Self::Facts(facts) }
    }
}

/// Finds them in every formula; `wrong` are formulas that have no type.
pub(super) fn check(card: &Scorecard, wrong: &[Site], findings: &mut Findings<'_>) {
    let mut lets: Vec<Origin> = Vec::with_capacity(card.lets.len());
    for (site, formula) in Site::all(card) {
        if wrong.contains(&site) {
            lets.extend(matches!(site, Site::Let(_)).then_some(Origin::STATED));
            continue;
        }
        let mut search = Search { card, lets: &lets, formula, name: site.name(card), findings };
        let found = search.origin(&formula.expr);
        lets.extend(matches!(site, Site::Let(_)).then_some(found));
    }
}

/// Returns whether nothing says what a number measures. Whole numbers count something, and what stays within -1 to 1 is a
/// share.
fn is_unstated(fact: &FactDeclaration) -> bool {
    let is_share = fact.min >= -1.0 && fact.max <= 1.0;
    fact.kind == FactType::Number && !fact.has_unit && !fact.integer && !is_share
}

/// Returns the fact whose unit all facts that bound each other have: a part has the unit of its whole.
fn whole_of(card: &Scorecard, fact: usize) -> usize {
    let mut at = fact;
    for _ in 0..card.facts.len() {
        match card.facts.get(at).and_then(|fact| fact.max_fact) {
            Some(whole) if whole != fact => at = whole,
            _ => break,
        }
    }
    at
}

struct Search<'s, 'c, 'f> {
    card: &'c Scorecard,
    lets: &'s [Origin],
    formula: &'c Formula,
    name: &'c str,
    findings: &'s mut Findings<'f>,
}

impl Search<'_, '_, '_> {
    fn origin(&mut self, expr: &Expr<Symbol>) -> Origin {
        match &expr.kind {
            ExprKind::Number(_) => {
                let constant = self.formula.constants.iter().find(|(span, _)| *span == expr.span);
                let constant = constant.and_then(|(_, at)| self.card.constants.get(*at));
                let is_stated = constant.is_some_and(|constant| constant.unit.is_some());
                if is_stated { Origin::STATED } else { Origin::Literal }
            }
            ExprKind::Name(Symbol::Let(at)) => self.lets.get(*at).cloned().unwrap_or(Origin::STATED),
            ExprKind::Name(Symbol::Fact(at)) if self.card.facts.get(*at).is_some_and(is_unstated) => {
                Origin::Facts([(whole_of(self.card, *at), 1.0)].into())
            }
            ExprKind::Flag(_) | ExprKind::Name(_) => Origin::STATED,
            ExprKind::Unary(_, operand) => self.origin(operand),
            ExprKind::Binary(Binary::Multiply, left, right) => {
                let (a, b) = (self.origin(left), self.origin(right));
                a.times(&b, 1.0)
            }
            ExprKind::Binary(Binary::Divide, left, right) => {
                let (a, b) = (self.origin(left), self.origin(right));
                a.times(&b, -1.0)
            }
            ExprKind::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let _ = operator;
                self.origin(left);
                self.origin(right);
                Origin::STATED
            }
            ExprKind::Binary(operator, left, right) => {
                let met = self.meet(expr, &[left, right]);
                let is_number = matches!(operator, Binary::Add | Binary::Subtract);
                if is_number { met } else { Origin::STATED }
            }
            ExprKind::Call(function, arguments) => self.of_call(expr, *function, arguments),
        }
    }

    fn of_call(&mut self, expr: &Expr<Symbol>, function: Function, arguments: &[Expr<Symbol>]) -> Origin {
        let all: Vec<&Expr<Symbol>> = arguments.iter().collect();
        match (function, all.as_slice()) {
            (Function::If, [condition, branches @ ..]) => {
                self.origin(condition);
                self.meet(expr, branches)
            }
            (Function::Min | Function::Max | Function::Clamp | Function::Coalesce, operands) => {
                self.meet(expr, operands)
            }
            (Function::Abs | Function::Floor | Function::Ceil, [operand]) => self.origin(operand),
            (Function::Sqrt, [operand]) => match self.origin(operand) {
                Origin::Literal => Origin::Literal,
                found => Origin::STATED.times(&found, 0.5),
            },
            (_, operands) => {
                operands.iter().for_each(|operand| {
                    self.origin(operand);
                });
                Origin::STATED
            }
        }
    }

    /// Returns the common units of numbers that are put together, and tells of those that nothing shows to be alike.
    fn meet(&mut self, expr: &Expr<Symbol>, operands: &[&Expr<Symbol>]) -> Origin {
        let found: Vec<Origin> = operands.iter().map(|operand| self.origin(operand)).collect();
        let mut units = found.into_iter().filter(|origin| *origin != Origin::Literal);
        let Some(first) = units.next() else { return Origin::Literal };
        let rest: Vec<Origin> = units.filter(|other| *other != first).collect();
        if rest.is_empty() {
            return first;
        }
        let mut facts: Vec<usize> =
            rest.iter().chain([&first]).flat_map(|origin| origin.facts().iter().map(|(at, _)| *at)).collect();
        facts.sort_unstable();
        facts.dedup();
        if !facts.is_empty() {
            self.complain(expr, &facts);
        }
        Origin::STATED
    }

    fn complain(&mut self, expr: &Expr<Symbol>, facts: &[usize]) {
        let names: Vec<&str> =
            facts.iter().filter_map(|&at| self.card.facts.get(at)).map(|fact| fact.name.as_str()).collect();
        let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let verb = if names.len() == 1 { "has" } else { "have" };
        let text = self.formula.text.get(expr.span.clone()).unwrap_or(&self.formula.text);
        let about: Vec<&str> = names.iter().copied().chain([self.name]).collect();
        self.findings.warn(
            Code::UnitlessFacts,
            self.formula.place(&expr.span),
            &about,
            format!(
                "{} {verb} no unit: nothing shows that `{text}` puts together what is alike",
                list.join(" and ")
            ),
            "no unit",
            "declare the unit of each: `unit = \"s\"`, or `unit = \"1\"` for a pure number",
        );
    }
}
