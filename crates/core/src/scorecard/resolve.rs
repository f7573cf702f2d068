//! A draft to a checked scorecard: names bound, formulas parsed, sums and orders checked.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use super::family::{self, Description};
use super::fields::{Report, Text};
use super::source::{Draft, DraftDimension};
use super::{
    Band, Dimension, FactDeclaration, Family, Gate, Group, Let, Mean, OverridePolicy, Profiles, Publish,
    Rule, Scale, Scorecard, Tier, WeightSum,
};
use crate::diagnostic::{Code, nearest};
use crate::facts::Digest;
use crate::formula::{Expr, ExprKind, Formula, Symbol, parse};
use crate::number::{Decimal, MILLION};

/// The largest sum of weights, in units of their greatest common divisor, for which quotients are exact (decision 0001).
const MOST_WEIGHT_UNITS: i64 = 8_000_000;

/// Builds a card of its own. Problems are reported; the card is only good if none is an error.
pub(super) fn resolve(draft: Draft, digest: Digest, report: &mut Report<'_>) -> Option<Scorecard> {
    for (there, name) in [(!draft.dims.is_empty(), "dims"), (!draft.describe.is_empty(), "describe")] {
        if there {
            let message = format!("`{name}` belongs to a challenge");
            report.error(
                Code::BadValue,
                draft.head.clone(),
                message,
                "name the family with `base = \"arena@1.0.0\"`",
            );
        }
    }
    if draft.evidence.is_none() {
        report.error(
            Code::MissingField,
            draft.head.clone(),
            "a scorecard needs `evidence`".to_string(),
            "evidence = \"facts\"",
        );
    }
    if draft.dimensions.is_empty() {
        report.error(
            Code::DimensionCount,
            draft.head.clone(),
            "a scorecard needs a `[[dimension]]`".to_string(),
            "",
        );
    }
    let mean = draft.mean.unwrap_or(Mean::WeightedMean);
    let scale = draft.scale.unwrap_or(Scale { max: 1, publish: Publish::Exact, places: 0 });
    let facts = resolve_facts(&draft, report);
    let names = Names::new(&draft, report);
    let lets = names.lets(&draft, report);
    let (dimensions, order) = resolve_dimensions(&draft, &names, report);
    let groups = resolve_groups(&draft, mean, report);
    let family = draft.family.as_ref().map(|family| Family {
        pick_min: family.pick.0,
        pick_max: family.pick.1,
        extra: family.extra.iter().filter_map(|key| dimension_at(&draft.dimensions, key, report)).collect(),
    });
    let weight_sum = draft.weight_sum.or_else(|| {
        (mean == Mean::WeightedSum).then_some(WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO })
    });
    let tiers = resolve_tiers(&draft, scale, report);
    let mut facts_by_name: Vec<usize> = (0..facts.len()).collect();
    facts_by_name.sort_by(|&a, &b| {
        let name = |at: usize| facts.get(at).map(|fact| fact.name.encode_utf16().collect::<Vec<u16>>());
        name(a).cmp(&name(b))
    });
    let mut card = Scorecard {
        facts_by_name,
        rules: resolve_rules(&draft, &names, report),
        gates: resolve_gates(&draft, &names, scale, report),
        bands: resolve_bands(&draft, scale, report),
        profiles: None,
        id: draft.id,
        version: draft.version,
        title: draft.title,
        source: draft.source,
        about: draft.about,
        evidence: draft.evidence.map_or_else(String::new, |evidence| evidence.value),
        base: None,
        family,
        mean,
        scale,
        weight_sum,
        facts,
        lets,
        dimensions,
        order,
        groups,
        override_policy: draft.override_tolerance.map(|tolerance| OverridePolicy { tolerance }),
        tiers,
        keeps: draft.keeps,
        digest,
    };
    if let Some(profiles) = &draft.profiles {
        resolve_profiles(profiles, &mut card, report);
    }
    if card.profiles.is_some() && card.override_policy.is_some() {
        let message =
            "`override` and `profiles` do not go together: which weights would be overridden?".to_string();
        report.error(Code::BadValue, draft.head.clone(), message, "remove one of them");
    }
    if card.family.is_none() {
        check_weights(&card, &draft.dimensions, &draft.head, report);
    }
    (!report.failed()).then_some(card)
}

/// Builds the card of a challenge on its family.
pub(super) fn resolve_challenge(
    draft: Draft,
    base: &Scorecard,
    digest: Digest,
    report: &mut Report<'_>,
) -> Option<Scorecard> {
    let place = draft.base.as_ref().map_or_else(|| draft.head.clone(), |base| base.span.clone());
    if base.family.is_none() {
        report.error(
            Code::UnknownBase,
            place.clone(),
            format!("`{}` is not a family", base.name()),
            "it has no `[family]`",
        );
    }
    let own = [
        (draft.mean.is_some(), "mean"),
        (draft.scale.is_some(), "scale"),
        (!draft.facts.is_empty(), "facts"),
        (!draft.lets.is_empty(), "let"),
        (!draft.dimensions.is_empty(), "dimension"),
        (!draft.groups.is_empty(), "group"),
        (draft.profiles.is_some(), "profiles"),
        (!draft.rules.is_empty(), "rule"),
        (!draft.gates.is_empty(), "gate"),
        (!draft.bands.is_empty(), "band"),
        (!draft.tiers.is_empty(), "tier"),
        (draft.family.is_some(), "family"),
        (draft.weight_sum.is_some(), "weights"),
        (draft.override_tolerance.is_some(), "override"),
        (draft.evidence.is_some(), "evidence"),
    ];
    for (_, name) in own.into_iter().filter(|&(there, _)| there) {
        let message = format!("a challenge takes `{name}` from its base");
        report.error(
            Code::BadValue,
            draft.head.clone(),
            message,
            format!("remove `{name}`, or write a card without `base`"),
        );
    }
    let keys = || base.dimensions.iter().map(|dimension| dimension.key.as_str());
    for (key, ..) in draft.dims.iter().filter(|(key, ..)| !keys().any(|known| known == key.value)) {
        let near = nearest(&key.value, keys());
        let help = near.map_or_else(
            || format!("it has {}", keys().collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        report.error(
            Code::UnknownName,
            key.span.clone(),
            format!("`{}` has no dimension `{}`", base.name(), key.value),
            help,
        );
    }
    let descriptions: Vec<Description> = draft
        .describe
        .iter()
        .map(|other| {
            if !draft.dims.iter().any(|(key, ..)| key.value == other.key.value) {
                let message = format!("`{}` is described but not picked in `[dims]`", other.key.value);
                report.warn(Code::Unused, other.key.span.clone(), message, "");
            }
            Description {
                key: other.key.value.clone(),
                label: other.label.clone(),
                description: other.description.clone(),
                color: other.color.clone(),
            }
        })
        .collect();
    let weights: Vec<(String, Decimal)> =
        draft.dims.iter().map(|(key, weight, _)| (key.value.clone(), *weight)).collect();
    let chosen = family::dims(base, &weights, &descriptions);
    let dims_place = match (draft.dims.first(), draft.dims.last()) {
        (Some((first, ..)), Some((.., last))) => first.span.start..last.end,
        _ => draft.head.clone(),
    };
    for problem in family::problems(base, &chosen) {
        let code = if problem.contains("sum to") { Code::WeightSum } else { Code::DimensionCount };
        report.error(code, dims_place.clone(), problem, "change the weights in `[dims]`");
    }
    if report.failed() {
        return None;
    }
    let mut card = family::challenge(base, &chosen).ok()?;
    for (dimension, (key, _, weight_span)) in card.dimensions.iter_mut().zip(&draft.dims) {
        dimension.span = key.span.clone();
        dimension.weight_span = weight_span.clone();
    }
    // What comes from the base is meant by the line that names the base.
    for formula in card.formulas_mut() {
        formula.span = place.clone();
    }
    card.facts.iter_mut().for_each(|fact| fact.span = place.clone());
    card.rules.iter_mut().for_each(|rule| rule.span = place.clone());
    card.gates.iter_mut().for_each(|gate| gate.span = place.clone());
    card.bands.iter_mut().for_each(|band| band.span = place.clone());
    card.tiers.iter_mut().for_each(|tier| tier.span = place.clone());
    card.keeps.iter_mut().for_each(|keep| keep.span = place.clone());
    card.keeps.extend(draft.keeps);
    let about = if draft.about.is_empty() { card.about } else { draft.about };
    let source = if draft.source.is_empty() { card.source } else { draft.source };
    Some(Scorecard {
        id: draft.id,
        version: draft.version,
        title: draft.title,
        about,
        source,
        digest,
        ..card
    })
}

fn resolve_facts(draft: &Draft, report: &mut Report<'_>) -> Vec<FactDeclaration> {
    let at = |name: &str| draft.facts.iter().position(|fact| fact.name.value == name);
    draft
        .facts
        .iter()
        .map(|fact| FactDeclaration {
            name: fact.name.value.clone(),
            kind: fact.kind,
            unit: fact.unit.clone(),
            min: fact.min,
            max: fact.max,
            max_fact: fact.max_fact.as_ref().and_then(|name| {
                let found = at(&name.value).filter(|_| name.value != fact.name.value);
                if found.is_none() {
                    unknown(name, draft.facts.iter().map(|fact| fact.name.value.as_str()), "fact", report);
                }
                found
            }),
            integer: fact.integer,
            unknown: fact.unknown,
            from: fact.from,
            about: fact.about.clone(),
            span: fact.name.span.clone(),
        })
        .collect()
}

/// Reports a name that nothing has.
fn unknown<'a>(
    name: &Text,
    known: impl Iterator<Item = &'a str> + Clone,
    what: &str,
    report: &mut Report<'_>,
) {
    let help = match nearest(&name.value, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there is {}", known.take(12).collect::<Vec<_>>().join(", ")),
    };
    report.error(Code::UnknownName, name.span.clone(), format!("there is no {what} `{}`", name.value), help);
}

fn dimension_at(dimensions: &[DraftDimension], key: &Text, report: &mut Report<'_>) -> Option<usize> {
    let found = dimensions.iter().position(|dimension| dimension.key.value == key.value);
    if found.is_none() {
        unknown(key, dimensions.iter().map(|dimension| dimension.key.value.as_str()), "dimension", report);
    }
    found
}

/// Where a formula stands decides which names it may use.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Let,
    /// The own formula of the dimension at this place.
    OwnFormula(usize),
    Condition,
    /// Rules and gates, where the score exists.
    Verdict,
}

/// The names of a card, and the order in which lets can be computed.
struct Names {
    facts: BTreeMap<String, usize>,
    lets: BTreeMap<String, usize>,
    readings: BTreeMap<String, usize>,
    /// Places of the lets in the draft, each after the lets it needs.
    let_order: Vec<usize>,
    /// Places of the dimensions, each after those whose readings it needs.
    reading_order: Vec<usize>,
}

impl Names {
    fn new(draft: &Draft, report: &mut Report<'_>) -> Self {
        let mut taken: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
        let named = draft.facts.iter().map(|fact| &fact.name).chain(draft.lets.iter().map(|(name, _)| name));
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
        for key in draft.dimensions.iter().map(|dimension| &dimension.key).chain(groups) {
            let is_let = draft.lets.iter().any(|(name, _)| name.value == key.value);
            if keys.insert(&key.value, ()).is_some() || is_let {
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

    /// Depth-first over lets and dimensions together; a cycle is reported once, with its members.
    fn find_order(&mut self, draft: &Draft, report: &mut Report<'_>) {
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

    fn lets(&self, draft: &Draft, report: &mut Report<'_>) -> Vec<Let> {
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
    fn formula(&self, text: &Text, place: Place, report: &mut Report<'_>) -> Option<Formula> {
        let parsed = match parse(&text.value) {
            Ok(parsed) => parsed,
            Err(error) => {
                let formula = Formula { text: text.value.clone(), span: text.span.clone(), expr: nothing() };
                report.error(error.code, formula.place(&error.span), error.message, error.help);
                return None;
            }
        };
        let mut failed = false;
        let place_of = |part: &Range<usize>| {
            Formula { text: text.value.clone(), span: text.span.clone(), expr: nothing() }.place(part)
        };
        let bound: Result<Expr<Symbol>, ()> = parsed.map_names(&mut |name, span| {
            Ok(self.symbol(name, place).unwrap_or_else(|help| {
                failed = true;
                report.error(
                    Code::UnknownName,
                    place_of(span),
                    format!("there is no fact, let or dimension `{name}`"),
                    help,
                );
                Symbol::Coverage
            }))
        });
        let expr = bound.ok().filter(|_| !failed)?;
        Some(Formula { text: text.value.clone(), span: text.span.clone(), expr })
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
                    self.facts.keys().chain(self.lets.keys()).chain(self.readings.keys()).map(String::as_str)
                };
                Err(nearest(name, all()).map_or_else(
                    || "declare it in `[facts]`".to_string(),
                    |near| format!("did you mean `{near}`?"),
                ))
            }
        }
    }
}

fn nothing() -> Expr<Symbol> {
    Expr { kind: ExprKind::Flag(false), span: 0..0 }
}

fn places(names: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    names.enumerate().map(|(place, name)| (name, place)).collect()
}

fn resolve_dimensions(draft: &Draft, names: &Names, report: &mut Report<'_>) -> (Vec<Dimension>, Vec<usize>) {
    let mut dimensions = Vec::new();
    for (place, dimension) in draft.dimensions.iter().enumerate() {
        let formula = match &dimension.formula {
            Some(text) => names.formula(text, Place::OwnFormula(place), report),
            None if names.facts.contains_key(&dimension.key.value) => {
                names.formula(&dimension.key, Place::OwnFormula(place), report)
            }
            None => {
                let message = format!("dimension `{}` needs `formula`", dimension.key.value);
                let help = "or declare a fact of the same name";
                report.error(Code::MissingField, dimension.key.span.clone(), message, help);
                None
            }
        };
        let mut condition = |text: &Option<Text>| {
            text.as_ref().and_then(|text| names.formula(text, Place::Condition, report))
        };
        let (when, applies) = (condition(&dimension.when), condition(&dimension.applies));
        let group = dimension.group.as_ref().and_then(|key| group_at(draft, key, report));
        let Some(formula) = formula else { continue };
        dimensions.push(Dimension {
            key: dimension.key.value.clone(),
            label: dimension.label.clone(),
            description: dimension.description.clone(),
            color: dimension.color.clone(),
            weight: dimension.weight.unwrap_or(Decimal::ZERO),
            formula,
            when,
            applies,
            missing: dimension.missing,
            group,
            span: dimension.key.span.clone(),
            weight_span: dimension.weight_span.clone(),
        });
    }
    (dimensions, names.reading_order.clone())
}

fn group_at(draft: &Draft, key: &Text, report: &mut Report<'_>) -> Option<usize> {
    let found = draft.groups.iter().position(|group| group.key.value == key.value);
    if found.is_none() {
        unknown(key, draft.groups.iter().map(|group| group.key.value.as_str()), "group", report);
    }
    found
}

fn resolve_groups(draft: &Draft, mean: Mean, report: &mut Report<'_>) -> Vec<Group> {
    let mut groups = Vec::new();
    for (place, group) in draft.groups.iter().enumerate() {
        let parent = group.parent.as_ref().and_then(|key| group_at(draft, key, report));
        if let (Some(parent), Some(name)) = (parent, &group.parent)
            && parent >= place
        {
            let message = format!("group `{}` stands before its parent `{}`", group.key.value, name.value);
            report.error(Code::Cycle, name.span.clone(), message, "a parent stands before its members");
        }
        let has_member =
            draft.dimensions.iter().any(|d| d.group.as_ref().is_some_and(|g| g.value == group.key.value))
                || draft.groups.iter().any(|g| g.parent.as_ref().is_some_and(|p| p.value == group.key.value));
        if !has_member {
            report.error(
                Code::DimensionCount,
                group.key.span.clone(),
                format!("group `{}` has no member", group.key.value),
                "",
            );
        }
        groups.push(Group {
            key: group.key.value.clone(),
            label: group.label.clone(),
            weight: group.weight,
            mean: group.mean.unwrap_or(mean),
            parent,
            span: group.key.span.clone(),
        });
    }
    groups
}

fn resolve_rules(draft: &Draft, names: &Names, report: &mut Report<'_>) -> Vec<Rule> {
    unique(draft.rules.iter().map(|rule| &rule.name), "rule", report);
    let mut rules = Vec::new();
    for rule in &draft.rules {
        let when = names.formula(&rule.when, Place::Verdict, report);
        let set = names.formula(&rule.set, Place::Verdict, report);
        if let (Some(when), Some(set)) = (when, set) {
            rules.push(Rule { name: rule.name.value.clone(), when, set, span: rule.name.span.clone() });
        }
    }
    rules
}

fn unique<'a>(names: impl Iterator<Item = &'a Text>, what: &str, report: &mut Report<'_>) {
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

/// Points must be within the scale, and where scores are published on a grid, on that grid.
fn check_points(points: Decimal, name: &Text, what: &str, scale: Scale, report: &mut Report<'_>) {
    if points.millionths() > i64::from(scale.max) * MILLION {
        let message = format!("{what} `{}` is at {points}, the scale ends at {}", name.value, scale.max);
        report.error(Code::BadValue, name.span.clone(), message, "");
    }
    let step = MILLION / 10i64.pow(scale.places.min(6));
    if scale.publish != Publish::Exact && points.millionths() % step != 0 {
        let message = format!(
            "{what} `{}` is at {points}, published scores have {} decimals",
            name.value, scale.places
        );
        report.error(Code::BadValue, name.span.clone(), message, "round it, or give the scale more `places`");
    }
}

fn resolve_gates(draft: &Draft, names: &Names, scale: Scale, report: &mut Report<'_>) -> Vec<Gate> {
    unique(draft.gates.iter().map(|gate| &gate.name), "gate", report);
    let mut gates = Vec::new();
    for gate in &draft.gates {
        if let Some(cap) = gate.cap {
            check_points(cap, &gate.name, "the cap of gate", scale, report);
        }
        let tier_limit = gate.tier.as_ref().and_then(|tier| {
            let found = if tier.value == "none" {
                Some(0)
            } else {
                draft.tiers.iter().position(|known| known.name.value == tier.value).map(|at| at + 1)
            };
            if found.is_none() {
                let known = draft.tiers.iter().map(|tier| tier.name.value.as_str()).chain(["none"]);
                unknown(tier, known, "tier", report);
            }
            found
        });
        if let Some(when) = names.formula(&gate.when, Place::Verdict, report) {
            gates.push(Gate {
                name: gate.name.value.clone(),
                when,
                cap: gate.cap,
                tier_limit,
                span: gate.name.span.clone(),
            });
        }
    }
    gates
}

fn resolve_bands(draft: &Draft, scale: Scale, report: &mut Report<'_>) -> Vec<Band> {
    unique(draft.bands.iter().map(|(name, _)| name), "band", report);
    for (place, (name, from)) in draft.bands.iter().enumerate() {
        check_points(*from, name, "band", scale, report);
        match place.checked_sub(1).and_then(|before| draft.bands.get(before)) {
            None if *from != Decimal::ZERO => {
                let message = format!("scores below {from} have no band");
                report.error(Code::BandGap, name.span.clone(), message, "the first band starts at 0");
            }
            Some((before, lower)) if from <= lower => {
                let message = format!(
                    "band `{}` starts at {from}, not above `{}` at {lower}",
                    name.value, before.value
                );
                report.error(
                    Code::BandGap,
                    name.span.clone(),
                    message,
                    "order the bands from the lowest to the highest",
                );
            }
            _ => {}
        }
    }
    draft
        .bands
        .iter()
        .map(|(name, from)| Band { name: name.value.clone(), from: *from, span: name.span.clone() })
        .collect()
}

fn resolve_tiers(draft: &Draft, scale: Scale, report: &mut Report<'_>) -> Vec<Tier> {
    unique(draft.tiers.iter().map(|tier| &tier.name), "tier", report);
    let mut tiers: Vec<Tier> = Vec::new();
    let mut mandatory: Vec<usize> = Vec::new();
    for tier in &draft.tiers {
        check_points(tier.score, &tier.name, "tier", scale, report);
        let above_one =
            [tier.coverage, tier.floor].into_iter().chain(tier.require.iter().map(|&(_, floor)| floor));
        for share in above_one.filter(|&share| share > Decimal::ONE) {
            let message =
                format!("tier `{}` asks for {share}, a share of 1 is all there is", tier.name.value);
            report.error(
                Code::BadValue,
                tier.name.span.clone(),
                message,
                "coverage and floors are between 0 and 1",
            );
        }
        if let Some(lower) = tiers.last()
            && (tier.score < lower.score || tier.coverage < lower.coverage)
        {
            let message = format!("tier `{}` asks less than `{}`", tier.name.value, lower.name);
            report.error(
                Code::TierOrder,
                tier.name.span.clone(),
                message,
                "order the tiers from the lowest to the highest",
            );
        }
        for key in &tier.mandatory {
            mandatory
                .extend(dimension_at(&draft.dimensions, key, report).filter(|at| !mandatory.contains(at)));
        }
        let mut floors: Vec<(usize, i64)> =
            mandatory.iter().map(|&at| (at, tier.floor.millionths() * 1000)).collect();
        for (key, floor) in &tier.require {
            let Some(at) = dimension_at(&draft.dimensions, key, report) else { continue };
            let floor = floor.millionths() * 1000;
            match floors.iter_mut().find(|(known, _)| *known == at) {
                Some((_, known)) => *known = floor.max(*known),
                None => floors.push((at, floor)),
            }
        }
        tiers.push(Tier {
            name: tier.name.value.clone(),
            score: tier.score,
            coverage: tier.coverage,
            floors,
            span: tier.name.span.clone(),
        });
    }
    tiers
}

fn resolve_profiles(draft: &super::source::DraftProfiles, card: &mut Scorecard, report: &mut Report<'_>) {
    let by = draft.by.as_ref().and_then(|name| {
        let found =
            card.facts.iter().position(|fact| fact.name == name.value && fact.kind == super::FactType::Text);
        if found.is_none() {
            let known = card
                .facts
                .iter()
                .filter(|fact| fact.kind == super::FactType::Text)
                .map(|fact| fact.name.as_str());
            unknown(name, known, "text fact", report);
        }
        found
    });
    let fallback = draft.fallback.as_ref().and_then(|name| {
        let found = draft.list.iter().position(|(known, _)| known.value == name.value);
        if found.is_none() {
            unknown(name, draft.list.iter().map(|(known, _)| known.value.as_str()), "profile", report);
        }
        found
    });
    unique(draft.list.iter().map(|(name, _)| name), "profile", report);
    if draft.list.is_empty() {
        let help = "add `[profiles.weights.default]`";
        report.error(Code::ProfileWeights, draft.span.clone(), "profiles without weights".to_string(), help);
    }
    let mut list = Vec::new();
    for (name, weights) in &draft.list {
        for (key, _) in weights.iter().filter(|(key, _)| !card.dimensions.iter().any(|d| d.key == key.value))
        {
            unknown(key, card.dimensions.iter().map(|dimension| dimension.key.as_str()), "dimension", report);
        }
        let mut values = Vec::new();
        for dimension in &card.dimensions {
            match weights.iter().find(|(key, _)| key.value == dimension.key) {
                Some((_, weight)) => values.push(*weight),
                None => {
                    let message = format!("profile `{}` has no weight for `{}`", name.value, dimension.key);
                    report.error(Code::ProfileWeights, name.span.clone(), message, "give it one, if only 0");
                }
            }
        }
        list.push((name.value.clone(), values));
    }
    if let (Some(by), Some(fallback)) = (by, fallback) {
        if let Some((_, weights)) = list.get(fallback) {
            for (dimension, weight) in card.dimensions.iter_mut().zip(weights) {
                dimension.weight = *weight;
            }
        }
        card.profiles = Some(Profiles { by, fallback, list });
    }
}

fn check_weights(card: &Scorecard, drafts: &[DraftDimension], head: &Range<usize>, report: &mut Report<'_>) {
    for draft in drafts {
        if card.profiles.is_none() && draft.weight.is_none() {
            let message = format!("dimension `{}` needs `weight`", draft.key.value);
            report.error(Code::MissingField, draft.key.span.clone(), message, "weight = 0.25");
        } else if card.profiles.is_some() && draft.weight.is_some() {
            let message = format!("the profiles give `{}` its weight", draft.key.value);
            report.error(Code::ProfileWeights, draft.weight_span.clone(), message, "remove `weight`");
        }
    }
    let base: Vec<Decimal> = card.dimensions.iter().map(|dimension| dimension.weight).collect();
    let sets: Vec<(Option<&str>, &[Decimal])> = match &card.profiles {
        Some(profiles) => {
            profiles.list.iter().map(|(name, weights)| (Some(name.as_str()), weights.as_slice())).collect()
        }
        None => alloc::vec![(None, base.as_slice())],
    };
    for (profile, weights) in sets {
        for node in core::iter::once(None).chain((0..card.groups.len()).map(Some)) {
            check_node(card, profile, weights, node, head, report);
        }
    }
}

/// Checks the weights of the members of one group, or of the top level.
fn check_node(
    card: &Scorecard,
    profile: Option<&str>,
    weights: &[Decimal],
    node: Option<usize>,
    head: &Range<usize>,
    report: &mut Report<'_>,
) {
    let members = card.dimensions.iter().zip(weights).filter(|(dimension, _)| dimension.group == node);
    let member_groups = card.groups.iter().filter(|group| group.parent == node);
    let all: Vec<Decimal> =
        members.clone().map(|(_, &weight)| weight).chain(member_groups.map(|group| group.weight)).collect();
    let group = node.and_then(|at| card.groups.get(at));
    let place = match (group, members.clone().next(), members.clone().last()) {
        (Some(group), ..) => group.span.clone(),
        (None, Some((first, _)), Some((last, _))) if first.weight_span.start < last.weight_span.end => {
            first.weight_span.start..last.weight_span.end
        }
        _ => head.clone(),
    };
    let whose = match (profile, group) {
        (Some(profile), _) => format!("the weights of profile `{profile}`"),
        (None, Some(group)) => format!("the weights in group `{}`", group.key),
        (None, None) => "the weights".to_string(),
    };
    let sum = crate::weights::sum(all.iter().copied()).unwrap_or(Decimal::from_millionths(i64::MAX));
    let one = WeightSum { target: Decimal::ONE, tolerance: Decimal::ZERO };
    let guard = match group {
        Some(group) => (group.mean == Mean::WeightedSum).then_some(one),
        None => card.weight_sum,
    };
    if let Some(guard) = guard.filter(|guard| !guard.accepts(sum)) {
        let apart = if sum > guard.target { "too much" } else { "too little" };
        let off = Decimal::from_millionths(sum.millionths().saturating_sub(guard.target.millionths()).abs());
        let message = format!("{whose} sum to {sum}, they must sum to {}", guard.target);
        report.error(Code::WeightSum, place, message, format!("that is {off} {apart}"));
    } else if sum == Decimal::ZERO {
        report.error(Code::WeightSum, place, format!("{whose} are all zero"), "give a dimension a weight");
    } else {
        let unit = all.iter().fold(0, |unit, weight| gcd(unit, weight.millionths())).max(1);
        if sum.millionths() / unit > MOST_WEIGHT_UNITS {
            let message = format!(
                "{whose} are too fine for their size: {} units of {}",
                sum.millionths() / unit,
                Decimal::from_millionths(unit)
            );
            report.error(
                Code::WeightPrecision,
                place,
                message,
                "scale them to sum to 1, or use fewer places",
            );
        }
    }
}

/// Greatest common divisor.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

impl Scorecard {
    /// Every formula of the card.
    fn formulas_mut(&mut self) -> impl Iterator<Item = &mut Formula> {
        let lets = self.lets.iter_mut().map(|named| &mut named.formula);
        let dimensions = self
            .dimensions
            .iter_mut()
            .flat_map(|dimension| {
                [Some(&mut dimension.formula), dimension.when.as_mut(), dimension.applies.as_mut()]
            })
            .flatten();
        let rules = self.rules.iter_mut().flat_map(|rule| [&mut rule.when, &mut rule.set]);
        let gates = self.gates.iter_mut().map(|gate| &mut gate.when);
        lets.chain(dimensions).chain(rules).chain(gates)
    }
}
