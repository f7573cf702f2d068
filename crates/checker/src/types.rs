//! Types and units: a condition where a condition is needed, and nothing added to seconds but seconds. Where a number is
//! needed a condition is 1 or 0. Facts without a unit that are added or compared are looked at by the same walk (KC309).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::findings::{Findings, Site, quoted};
use karat_core::diagnostic::Code;
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol, Unary};
use karat_core::scorecard::{FactDeclaration, FactType, Scorecard};

/// The type of a formula's result.
#[derive(Debug, Clone, PartialEq)]
enum Type {
    Number(Unit),
    Flag,
    /// Already complained about.
    Unknown,
}

impl Type {
    /// Returns the unit of the number; a condition as a number is 1 or 0 and has none.
    fn as_number(&self) -> Option<Unit> {
        match self {
            Self::Number(unit) => Some(unit.clone()),
            Self::Flag => Some(Unit::NONE),
            Self::Unknown => None,
        }
    }
}

/// The unit of a number.
#[derive(Debug, Clone, PartialEq)]
enum Unit {
    /// A literal: it takes the unit of what it meets.
    Any,
    /// Names with their exponents, sorted; empty is dimensionless.
    Product(Vec<(String, f64)>),
}

impl Unit {
    const NONE: Self = Self::Product(Vec::new());

    fn named(unit: &str) -> Self {
        match unit {
            "" | "1" | "count" | "ratio" => Self::NONE,
            name => Self::Product([(name.to_string(), 1.0)].into()),
        }
    }

    fn is_none(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Product(factors) => factors.is_empty(),
        }
    }

    fn factors(&self) -> &[(String, f64)] {
        match self {
            Self::Any => &[],
            Self::Product(factors) => factors,
        }
    }

    /// Returns the unit of `self * other^power`.
    fn times(&self, other: &Self, power: f64) -> Self {
        if matches!((self, other), (Self::Any, Self::Any)) {
            return Self::Any;
        }
        Self::Product(product(self.factors(), other.factors(), power))
    }

    fn root(&self) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Product(factors) => {
                Self::Product(factors.iter().map(|(name, exponent)| (name.clone(), exponent / 2.0)).collect())
            }
        }
    }

    /// Returns the unit of a sum, a minimum or a choice; `None` if the two do not fit.
    fn meet(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, unit) | (unit, Self::Any) => Some(unit.clone()),
            (a, b) => (a == b).then(|| a.clone()),
        }
    }
}

impl core::fmt::Display for Unit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.factors().is_empty() {
            return f.write_str("no unit");
        }
        for (place, (name, exponent)) in self.factors().iter().enumerate() {
            f.write_str(if place == 0 { "" } else { " " })?;
            f.write_str(name)?;
            if (exponent - 1.0).abs() > 0.0 {
                write!(f, "^{exponent}")?;
            }
        }
        Ok(())
    }
}

/// Checks every formula; gives those that are wrong, so that no other check trips over them.
pub(super) fn check(card: &Scorecard, findings: &mut Findings<'_>) -> Vec<Site> {
    for fact in &card.facts {
        let whole = fact.max_fact.and_then(|at| card.facts.get(at));
        if let Some(whole) = whole
            && Unit::named(&fact.unit) != Unit::named(&whole.unit)
        {
            let message = format!(
                "`{}` is in {}, but its `max`, `{}`, is in {}",
                fact.name,
                Unit::named(&fact.unit),
                whole.name,
                Unit::named(&whole.unit)
            );
            let (span, help) = (fact.span.clone(), "give both one unit");
            findings.error(Code::UnitMismatch, span, message, "unlike units", help);
        }
    }
    let mut lets: Vec<Type> = Vec::with_capacity(card.lets.len());
    let mut wrong = Vec::new();
    for (site, formula) in Site::all(card) {
        let mut inference = Inference { card, lets: &lets, formula, findings, sound: true, unstated: None };
        let found = inference.infer(&formula.expr);
        match site {
            Site::Let(_) => {}
            Site::Applies(_) | Site::When(_) | Site::RuleWhen(_) | Site::GateWhen(_) => {
                inference.expect_flag(&formula.expr, &found);
            }
            Site::Value(_) | Site::Set(_) => {
                if let Some(unit) = found.as_number()
                    && !unit.is_none()
                {
                    let help = inference.references(&[&unit]);
                    let message = format!("the value is in {unit}, but a score has no unit");
                    let label = format!("in {unit}");
                    inference.complain(Code::UnitMismatch, &formula.expr, message, &label, &help);
                }
            }
        }
        let sound = inference.sound;
        if !sound {
            wrong.push(site);
        }
        if matches!(site, Site::Let(_)) {
            lets.push(if sound { found } else { Type::Unknown });
        } else if sound && reads_unknown(&formula.expr, &lets) {
            wrong.push(site);
        }
    }
    wrong
}

/// Returns whether the card uses a name.
pub(super) fn is_taken(card: &Scorecard, name: &str) -> bool {
    card.facts.iter().any(|fact| fact.name == name)
        || card.lets.iter().any(|named| named.name == name)
        || card.constants.iter().any(|constant| constant.name == name)
        || card.dimensions.iter().any(|dimension| dimension.key == name)
}

fn reads_unknown(expr: &Expr<Symbol>, lets: &[Type]) -> bool {
    let is_unknown = |at: usize| lets.get(at) == Some(&Type::Unknown);
    expr.symbols().iter().any(|symbol| matches!(symbol, Symbol::Let(at) if is_unknown(*at)))
}

/// Finds facts without a unit that are added to, subtracted from or compared with others (KC309); `wrong` are formulas that have
/// no type.
pub(super) fn check_unstated(card: &Scorecard, wrong: &[Site], findings: &mut Findings<'_>) {
    let mut lets: Vec<Type> = Vec::with_capacity(card.lets.len());
    for (site, formula) in Site::all(card) {
        let unstated = Some(site.name(card));
        let mut inference = Inference { card, lets: &lets, formula, findings, sound: true, unstated };
        let is_wrong = wrong.contains(&site);
        let found = if is_wrong { Type::Number(Unit::NONE) } else { inference.infer(&formula.expr) };
        lets.extend(matches!(site, Site::Let(_)).then_some(found));
    }
}

/// Returns the unit of a fact where only those that are not stated count. Whole numbers count something, what stays within -1 to
/// 1 is a share, and a part has the unit of its whole.
fn unstated_unit(card: &Scorecard, fact: &FactDeclaration) -> Unit {
    if fact.has_unit || fact.integer || (fact.min >= -1.0 && fact.max <= 1.0) {
        return Unit::NONE;
    }
    let mut whole = fact;
    for _ in 0..card.facts.len() {
        let Some(next) = whole.max_fact.and_then(|at| card.facts.get(at)) else { break };
        whole = next;
    }
    Unit::Product([(whole.name.clone(), 1.0)].into())
}

struct Inference<'i, 'c, 'f> {
    card: &'c Scorecard,
    lets: &'i [Type],
    formula: &'c Formula,
    findings: &'i mut Findings<'f>,
    sound: bool,
    /// The name of what is looked at, where units that are not stated are: each such fact has its own, and all others have none.
    unstated: Option<&'c str>,
}

impl Inference<'_, '_, '_> {
    fn complain(&mut self, code: Code, part: &Expr<Symbol>, message: String, label: &str, help: &str) {
        self.sound = false;
        self.findings.error(code, self.formula.place(&part.span), message, label, help);
    }

    fn text(&self, part: &Expr<Symbol>) -> String {
        self.formula.text.get(part.span.clone()).unwrap_or(&self.formula.text).to_string()
    }

    fn expect_flag(&mut self, part: &Expr<Symbol>, found: &Type) {
        if matches!(found, Type::Number(_)) {
            let text = self.text(part);
            let is_whole = !matches!(part.kind, ExprKind::Binary(..));
            let compared = if is_whole { format!("{text} > 0") } else { format!("({text}) > 0") };
            let help =
                format!("multiply by it, so that it counts in proportion; a condition would be `{compared}`");
            let message = format!("`{text}` is a number, but a condition is needed here");
            self.complain(Code::TypeMismatch, part, message, "a number", &help);
        }
    }

    /// Returns how numbers lose their units: divided by a fact, or by a constant in the same unit.
    fn references(&self, units: &[&Unit]) -> String {
        let mut constants: Vec<String> = Vec::new();
        for unit in units {
            let [(name, exponent)] = unit.factors() else { continue };
            if (exponent - 1.0).abs() > 0.0 {
                continue;
            }
            let value = self.plain_divisor().unwrap_or(1.0);
            constants.push(format!("`{} = {{ value = {value}, unit = \"{name}\" }}`", self.free_name(name)));
        }
        if constants.is_empty() {
            return String::from(
                "divide each fact by a reference in its own unit first: a fact, or a constant with a unit",
            );
        }
        let constants = constants.join(" and ");
        let each = if units.len() > 1 {
            "divide each by a reference in its own unit first"
        } else {
            "divide by a reference in the same unit"
        };
        format!("{each}: a fact such as a budget, or in `[const]` {constants}")
    }

    /// Returns a number by which the formula divides: what should have a unit.
    fn plain_divisor(&self) -> Option<f64> {
        self.formula.expr.parts().find_map(|node| match &node.kind {
            ExprKind::Binary(Binary::Divide, _, by) => {
                if let ExprKind::Number(value) = by.kind {
                    Some(value)
                } else {
                    None
                }
            }
            _ => None,
        })
    }

    /// Returns a name for a constant in a unit that the card does not use.
    fn free_name(&self, unit: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        let mut name: String = unit.chars().map(plain).take(30).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            name.insert_str(0, "in_");
        }
        name.push_str("_limit");
        if is_taken(self.card, &name) { format!("{name}_constant") } else { name }
    }

    fn infer(&mut self, expr: &Expr<Symbol>) -> Type {
        match &expr.kind {
            ExprKind::Number(_) => Type::Number(self.unit_of_number(expr)),
            ExprKind::Flag(_) => Type::Flag,
            ExprKind::Name(symbol) => self.infer_name(expr, *symbol),
            ExprKind::Unary(Unary::Negate, operand) => {
                self.number(operand).map_or(Type::Unknown, Type::Number)
            }
            ExprKind::Unary(Unary::Not, operand) => self.flags(&[&**operand]),
            ExprKind::Binary(operator, left, right) => self.infer_binary(expr, *operator, left, right),
            ExprKind::Call(function, arguments) => self.infer_call(expr, *function, arguments),
        }
    }

    fn infer_name(&mut self, expr: &Expr<Symbol>, symbol: Symbol) -> Type {
        match symbol {
            Symbol::Let(at) => self.lets.get(at).cloned().unwrap_or(Type::Unknown),
            Symbol::Reading(_) | Symbol::Score | Symbol::Composite | Symbol::Coverage => {
                Type::Number(Unit::NONE)
            }
            Symbol::Fact(at) => match self.card.facts.get(at) {
                Some(fact) if fact.kind == FactType::Number => Type::Number(match self.unstated {
                    Some(_) => unstated_unit(self.card, fact),
                    None => Unit::named(&fact.unit),
                }),
                Some(fact) if fact.kind == FactType::Boolean => Type::Flag,
                Some(fact) => {
                    let message = format!("`{}` is a text, which no formula can read", fact.name);
                    let help = "a text only chooses a weight profile: declare a boolean fact for what the formula needs";
                    self.complain(Code::TypeMismatch, expr, message, "a text", help);
                    Type::Unknown
                }
                None => Type::Unknown,
            },
        }
    }

    fn number(&mut self, operand: &Expr<Symbol>) -> Option<Unit> {
        self.infer(operand).as_number()
    }

    /// Returns the unit of a number: that of the constant that it is, or nothing.
    fn unit_of_number(&self, expr: &Expr<Symbol>) -> Unit {
        let named = self.formula.constants.iter().find(|(span, _)| *span == expr.span);
        let constant = named.and_then(|(_, at)| self.card.constants.get(*at));
        let unit = constant.and_then(|constant| constant.unit.as_deref());
        unit.map_or(Unit::Any, |unit| if self.unstated.is_some() { Unit::NONE } else { Unit::named(unit) })
    }

    fn flags(&mut self, operands: &[&Expr<Symbol>]) -> Type {
        for operand in operands {
            let found = self.infer(operand);
            self.expect_flag(operand, &found);
        }
        Type::Flag
    }

    /// Numbers that must share one unit.
    fn alike(&mut self, expr: &Expr<Symbol>, what: &str, operands: &[&Expr<Symbol>]) -> Option<Unit> {
        let units: Vec<Option<Unit>> = operands.iter().map(|operand| self.number(operand)).collect();
        if let Some(name) = self.unstated {
            return Some(self.meet(expr, name, &units));
        }
        let mut shared = Unit::Any;
        for unit in units {
            let unit = unit?;
            match shared.meet(&unit) {
                Some(both) => shared = both,
                None => {
                    let help = self.references(&[&shared, &unit]);
                    let message = format!("{shared} and {unit} cannot be {what}");
                    let label = format!("{shared} and {unit}");
                    self.complain(Code::UnitMismatch, expr, message, &label, &help);
                    return None;
                }
            }
        }
        Some(shared)
    }

    /// Returns the common unit of numbers that are put together, and tells of those that nothing shows to be alike.
    fn meet(&mut self, expr: &Expr<Symbol>, name: &str, units: &[Option<Unit>]) -> Unit {
        let mut units = units.iter().flatten().filter(|unit| **unit != Unit::Any);
        let Some(first) = units.next() else { return Unit::Any };
        let rest: Vec<&Unit> = units.filter(|other| *other != first).collect();
        if rest.is_empty() {
            return first.clone();
        }
        let is_met = |name: &&str| {
            rest.iter().chain([&first]).any(|unit| unit.factors().iter().any(|it| it.0 == *name))
        };
        let names: Vec<&str> = self.card.facts.iter().map(|fact| fact.name.as_str()).filter(is_met).collect();
        if !names.is_empty() {
            let (list, verb) = (quoted(&names, " and "), if names.len() == 1 { "has" } else { "have" });
            let text = self.text(expr);
            let message =
                format!("{list} {verb} no unit: nothing shows that `{text}` puts together what is alike");
            let about: Vec<&str> = names.into_iter().chain([name]).collect();
            let help = "declare the unit of each: `unit = \"s\"`, or `unit = \"1\"` for a pure number";
            let span = self.formula.place(&expr.span);
            self.findings.warn(Code::UnitlessFacts, span, &about, message, "no unit", help);
        }
        Unit::NONE
    }

    fn infer_binary(
        &mut self,
        expr: &Expr<Symbol>,
        operator: Binary,
        left: &Expr<Symbol>,
        right: &Expr<Symbol>,
    ) -> Type {
        match operator {
            Binary::And | Binary::Or => self.flags(&[left, right]),
            Binary::Add => self.alike(expr, "added", &[left, right]).map_or(Type::Unknown, Type::Number),
            Binary::Subtract => {
                self.alike(expr, "subtracted", &[left, right]).map_or(Type::Unknown, Type::Number)
            }
            Binary::Multiply | Binary::Divide => {
                let (a, b) = (self.number(left), self.number(right));
                let power = if operator == Binary::Multiply { 1.0 } else { -1.0 };
                match (a, b) {
                    (Some(a), Some(b)) => {
                        let unit = a.times(&b, power);
                        // What has as many of them above the line as below is taken for a share.
                        let sum: f64 = unit.factors().iter().map(|(_, exponent)| exponent).sum();
                        let is_share = self.unstated.is_some() && unit != Unit::Any && sum.abs() < 1e-9;
                        Type::Number(if is_share { Unit::NONE } else { unit })
                    }
                    _ => Type::Unknown,
                }
            }
            Binary::Equal | Binary::NotEqual
                if [left, right].iter().all(|side| self.infer_quietly(side) == Type::Flag) =>
            {
                self.flags(&[left, right])
            }
            _ => {
                self.alike(expr, "compared", &[left, right]);
                Type::Flag
            }
        }
    }

    /// Returns the outermost type alone, without looking for mistakes below.
    fn infer_quietly(&self, expr: &Expr<Symbol>) -> Type {
        let is_flag = match &expr.kind {
            ExprKind::Flag(_) | ExprKind::Unary(Unary::Not, _) => true,
            ExprKind::Name(Symbol::Fact(at)) => {
                self.card.facts.get(*at).is_some_and(|fact| fact.kind == FactType::Boolean)
            }
            ExprKind::Name(Symbol::Let(at)) => self.lets.get(*at) == Some(&Type::Flag),
            ExprKind::Binary(operator, ..) => {
                !matches!(operator, Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide)
            }
            ExprKind::Call(Function::IsMissing, _) => true,
            ExprKind::Call(Function::If, arguments) => {
                arguments.iter().skip(1).all(|branch| self.infer_quietly(branch) == Type::Flag)
            }
            ExprKind::Call(Function::Coalesce, arguments) => {
                arguments.iter().all(|choice| self.infer_quietly(choice) == Type::Flag)
            }
            _ => false,
        };
        if is_flag { Type::Flag } else { Type::Unknown }
    }

    fn infer_call(&mut self, expr: &Expr<Symbol>, function: Function, arguments: &[Expr<Symbol>]) -> Type {
        let all: Vec<&Expr<Symbol>> = arguments.iter().collect();
        match (function, all.as_slice()) {
            (Function::If, [condition, branches @ ..]) => {
                self.flags(&[condition]);
                self.choice(expr, branches)
            }
            (Function::Coalesce, choices) => self.choice(expr, choices),
            (Function::IsMissing, operands) => {
                for operand in operands {
                    self.infer(operand);
                }
                Type::Flag
            }
            (Function::Min | Function::Max | Function::Clamp, operands) => {
                self.alike(expr, "compared", operands).map_or(Type::Unknown, Type::Number)
            }
            (Function::Abs | Function::Floor | Function::Ceil, [operand]) => {
                self.number(operand).map_or(Type::Unknown, Type::Number)
            }
            (Function::Sqrt, [operand]) => {
                self.number(operand).map_or(Type::Unknown, |unit| Type::Number(unit.root()))
            }
            (_, operands) => {
                for operand in operands {
                    if let Some(unit) = self.number(operand)
                        && !unit.is_none()
                        && self.unstated.is_none()
                    {
                        let message =
                            format!("`{}` takes a number without a unit, not {unit}", function.name());
                        let help = self.references(&[&unit]);
                        self.complain(Code::UnitMismatch, operand, message, &format!("in {unit}"), &help);
                    }
                }
                Type::Number(Unit::NONE)
            }
        }
    }

    /// Alternatives that must all be conditions, or all numbers of one unit.
    fn choice(&mut self, expr: &Expr<Symbol>, choices: &[&Expr<Symbol>]) -> Type {
        if choices.iter().all(|choice| self.infer_quietly(choice) == Type::Flag) {
            self.flags(choices)
        } else {
            self.alike(expr, "alternatives of one value", choices).map_or(Type::Unknown, Type::Number)
        }
    }
}

/// Returns `one * other^power` of factors with their exponents, in order; those that cancel are left out.
fn product<T: Ord + Clone>(one: &[(T, f64)], other: &[(T, f64)], power: f64) -> Vec<(T, f64)> {
    let mut factors = one.to_vec();
    for (factor, exponent) in other {
        match factors.iter_mut().find(|(known, _)| known == factor) {
            Some((_, sum)) => *sum += exponent * power,
            None => factors.push((factor.clone(), exponent * power)),
        }
    }
    factors.retain(|(_, exponent)| exponent.abs() > 0.0);
    factors.sort_by(|a, b| a.0.cmp(&b.0));
    factors
}
