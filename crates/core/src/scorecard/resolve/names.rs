//! The names of a card: the meaning of each, and the order in which formulas can be computed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use crate::diagnostic::{Code, nearest};
use crate::formula::{Expr, ExprKind, Formula, Symbol, parse};
use crate::scorecard::Let;
use crate::scorecard::fields::{Report, Text};
use crate::scorecard::source::Draft;

/// Reports a name that nothing has.
pub(super) fn unknown<'a>(
    name: &Text,
    known: impl Iterator<Item = &'a str> + Clone,
    what: &str,
    report: &Report<'_>,
) {
    let help = match nearest(&name.value, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is {}", known.take(12).collect::<Vec<_>>().join(", ")),
    };
    let message = format!("there is no {what} `{}`", name.value);
    report.error_if_whole(Code::UnknownName, name.span.clone(), message, help);
}

pub(super) fn unique<'a>(names: impl Iterator<Item = &'a Text>, what: &str, report: &Report<'_>) {
    let mut seen: BTreeMap<&str, ()> = BTreeMap::new();
    for name in names {
        if seen.insert(&name.value, ()).is_some() {
            report.error(
                Code::DuplicateName,
                name.span.clone(),
                format!("{what} `{}` is there twice", name.value),
                "rename one",
            );
        }
    }
}

/// The place of a formula, which decides the names it may use.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    Let,
    /// The own formula of the dimension at this place.
    OwnFormula(usize),
    Condition,
    /// Rules and gates, where the score exists.
    Verdict,
}

/// The names of a card, and the order in which lets can be computed.
pub(super) struct Names {
    pub facts: BTreeMap<String, usize>,
    /// The place and the number of each constant.
    constants: BTreeMap<String, (usize, f64)>,
    lets: BTreeMap<String, usize>,
    readings: BTreeMap<String, usize>,
    /// Places of the lets in the draft, each after the lets it needs.
    let_order: Vec<usize>,
    /// Places of the dimensions, each after those whose readings it needs.
    pub reading_order: Vec<usize>,
}

impl Names {
    pub(super) fn new(draft: &Draft, report: &Report<'_>) -> Self {
        let mut taken: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
        let constants = draft.constants.iter().map(|constant| &constant.name);
        let lets = draft.lets.iter().map(|(name, _)| name);
        let named = draft.facts.iter().map(|fact| &fact.name).chain(constants.clone()).chain(lets.clone());
        for name in named {
            if taken.insert(&name.value, &name.span).is_some() {
                report.error(
                    Code::DuplicateName,
                    name.span.clone(),
                    format!("`{}` is there twice", name.value),
                    "rename one",
                );
            }
        }
        let mut keys: BTreeMap<&str, ()> = BTreeMap::new();
        let groups = draft.groups.iter().map(|group| &group.key);
        let not_keys: BTreeSet<&str> = constants.chain(lets).map(|name| name.value.as_str()).collect();
        for key in draft.dimensions.iter().map(|dimension| &dimension.key).chain(groups) {
            if keys.insert(&key.value, ()).is_some() || not_keys.contains(key.value.as_str()) {
                report.error(
                    Code::DuplicateName,
                    key.span.clone(),
                    format!("`{}` is there twice", key.value),
                    "rename one",
                );
            }
        }
        let mut names = Self {
            facts: places(draft.facts.iter().map(|fact| fact.name.value.clone())),
            constants: draft
                .constants
                .iter()
                .enumerate()
                .map(|(at, constant)| (constant.name.value.clone(), (at, constant.value)))
                .collect(),
            lets: places(draft.lets.iter().map(|(name, _)| name.value.clone())),
            readings: places(draft.dimensions.iter().map(|dimension| dimension.key.value.clone())),
            let_order: Vec::new(),
            reading_order: Vec::new(),
        };
        names.find_order(draft, report);
        // Symbols count lets in the order in which they can be computed.
        let order: BTreeMap<usize, usize> =
            names.let_order.iter().enumerate().map(|(new, &old)| (old, new)).collect();
        names.lets.values_mut().for_each(|place| *place = order.get(place).copied().unwrap_or(0));
        names
    }

    /// Searches lets and dimensions together, depth first; a cycle is reported once, with its members.
    fn find_order(&mut self, draft: &Draft, report: &Report<'_>) {
        let lets = draft.lets.len();
        let needs: Vec<Vec<usize>> = (0..lets + draft.dimensions.len())
            .map(|node| {
                let mut needed = Vec::new();
                let mut add = |formula: Option<&Text>, own: Option<&str>| {
                    let Some(expr) = formula.and_then(|text| parse(&text.value).ok()) else { return };
                    expr.walk(&mut |part| {
                        let ExprKind::Name(name) = &part.kind else { return };
                        if own == Some(name.as_str()) && self.facts.contains_key(name) {
                            return;
                        }
                        needed.extend(self.lets.get(name).copied());
                        needed.extend(self.readings.get(name).map(|at| at + lets));
                    });
                };
                match (draft.lets.get(node), node.checked_sub(lets).and_then(|at| draft.dimensions.get(at))) {
                    (Some((_, formula)), _) => add(Some(formula), None),
                    (None, Some(dimension)) => {
                        add(dimension.formula.as_ref(), Some(&dimension.key.value));
                        add(dimension.when.as_ref(), None);
                        add(dimension.applies.as_ref(), None);
                    }
                    (None, None) => {}
                }
                needed
            })
            .collect();
        let name_of = |node: usize| match draft.lets.get(node) {
            Some((name, _)) => Some(name),
            None => {
                node.checked_sub(lets).and_then(|at| draft.dimensions.get(at)).map(|dimension| &dimension.key)
            }
        };
        let mut done = alloc::vec![false; needs.len()];
        for start in 0..needs.len() {
            // The path from `start`, with how many needs of each node were looked at.
            let mut path: Vec<(usize, usize)> = alloc::vec![(start, 0)];
            while let Some(&mut (node, ref mut next)) = path.last_mut() {
                if done.get(node).copied().unwrap_or(true) {
                    path.pop();
                    continue;
                }
                let Some(&need) = needs.get(node).and_then(|needs| needs.get(*next)) else {
                    if let Some(slot) = done.get_mut(node) {
                        *slot = true;
                    }
                    if node < lets {
                        self.let_order.push(node)
                    } else {
                        self.reading_order.push(node - lets)
                    }
                    path.pop();
                    continue;
                };
                *next += 1;
                if let Some(from) = path.iter().position(|&(on_path, _)| on_path == need) {
                    let members: Vec<&str> = path
                        .iter()
                        .skip(from)
                        .filter_map(|&(node, _)| name_of(node))
                        .map(|name| name.value.as_str())
                        .collect();
                    if let Some(name) = name_of(need) {
                        let message =
                            format!("formulas need each other: {} -> {}", members.join(" -> "), name.value);
                        report.error(
                            Code::Cycle,
                            name.span.clone(),
                            message,
                            "break the cycle: one of them must not use the other",
                        );
                    }
                    continue;
                }
                path.push((need, 0));
            }
        }
    }

    pub(super) fn lets(&self, draft: &Draft, report: &Report<'_>) -> Vec<Let> {
        let mut lets = Vec::new();
        for (name, text) in self.let_order.iter().filter_map(|&at| draft.lets.get(at)) {
            lets.extend(
                self.formula(text, Place::Let, report)
                    .map(|formula| Let { name: name.value.clone(), formula }),
            );
        }
        lets
    }

    /// Parses a formula and binds its names; every unknown name is reported.
    pub(super) fn formula(&self, text: &Text, place: Place, report: &Report<'_>) -> Option<Formula> {
        let parsed = match parse(&text.value) {
            Ok(parsed) => parsed,
            Err(error) => {
                report.error(error.code, unresolved(text).place(&error.span), error.message, error.help);
                return None;
            }
        };
        let mut failed = false;
        let mut constants = Vec::new();
        let bound: Result<Expr<Symbol>, ()> = parsed.put_for_names(&mut |name, span| {
            if let Some(&(at, value)) = self.constants.get(name) {
                constants.push((span.clone(), at));
                return Ok(ExprKind::Number(value));
            }
            let symbol = self.symbol(name, place).unwrap_or_else(|help| {
                failed = true;
                report.error_if_whole(
                    Code::UnknownName,
                    unresolved(text).place(span),
                    format!("there is no fact, constant, let or dimension `{name}`"),
                    help,
                );
                Symbol::Coverage
            });
            Ok(ExprKind::Name(symbol))
        });
        let expr = bound.ok().filter(|_| !failed)?;
        Some(Formula { expr, constants, ..unresolved(text) })
    }

    fn symbol(&self, name: &str, place: Place) -> Result<Symbol, String> {
        let fact = self.facts.get(name).map(|&at| Symbol::Fact(at));
        let reading = self.readings.get(name).map(|&at| Symbol::Reading(at));
        if let (Place::OwnFormula(own), Some(Symbol::Reading(at))) = (place, reading)
            && own == at
        {
            return fact.ok_or_else(|| "a dimension cannot use its own reading".to_string());
        }
        let known = reading.or(fact).or_else(|| self.lets.get(name).map(|&at| Symbol::Let(at)));
        let verdict = match name {
            "score" => Some(Symbol::Score),
            "composite" => Some(Symbol::Composite),
            "coverage" => Some(Symbol::Coverage),
            _ => None,
        };
        match (known.or(verdict.filter(|_| place == Place::Verdict)), verdict) {
            (Some(symbol), _) => Ok(symbol),
            (None, Some(_)) => Err(format!("`{name}` exists in rules and gates only")),
            (None, None) => {
                let all = || {
                    let formulas = self.lets.keys().chain(self.readings.keys());
                    self.facts.keys().chain(self.constants.keys()).chain(formulas).map(String::as_str)
                };
                Err(nearest(name, all()).map_or_else(
                    || "declare it in `[facts]`, or in `[const]` if it is a number".to_string(),
                    |near| format!("did you mean `{near}`?"),
                ))
            }
        }
    }
}

/// Returns a formula of which only the text and its place are known.
fn unresolved(text: &Text) -> Formula {
    let expr = Expr { kind: ExprKind::Flag(false), span: 0..0 };
    Formula { text: text.value.clone(), span: text.span.clone(), expr, constants: Vec::new() }
}

fn places(names: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    names.enumerate().map(|(place, name)| (name, place)).collect()
}
