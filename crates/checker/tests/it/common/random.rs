//! Random cards and random facts, as proptest strategies.

use karat_core::facts::Fact;
use karat_core::mean::Mean;
use karat_core::scorecard::{EvidenceAge, FactType, Scorecard};
use proptest::collection::vec;
use proptest::prelude::*;

/// A card file in pieces, so that its tables can be written in another order of keys or with other weights.
#[derive(Debug, Clone)]
pub struct CardText {
    /// The lines before the first table, and those of `[facts]`.
    pub head: Vec<String>,
    pub facts: Vec<String>,
    /// Dimensions, groups, rules, gates, bands: the header and its lines, in the order of the file.
    pub tables: Vec<(&'static str, Vec<String>)>,
    /// The weight of each dimension and group, by table.
    pub weights: Vec<Option<u32>>,
}

impl CardText {
    /// Returns the file, every weight times `scale`.
    pub fn text(&self, scale: u32) -> String {
        let mut text = self.head.join("\n");
        text += &format!("\n[facts]\n{}\n", self.facts.join("\n"));
        for ((header, lines), weight) in self.tables.iter().zip(&self.weights) {
            text += &format!("[[{header}]]\n{}\n", lines.join("\n"));
            if let Some(weight) = weight {
                let millionths = u64::from(*weight) * u64::from(scale);
                text += &format!("weight = {}.{:06}\n", millionths / 1_000_000, millionths % 1_000_000);
            }
        }
        text
    }

    /// Returns the same card with every table written backwards, with comments and other white space.
    pub fn rewritten(&self) -> String {
        let mut other = self.clone();
        other.head.reverse();
        other.facts.reverse();
        other.tables.iter_mut().for_each(|(_, lines)| lines.reverse());
        let text = other.text(1).replace(" = ", "   =\t");
        let lines = text.lines().map(|line| format!("  {line} # a comment\n\n"));
        lines.collect()
    }
}

/// Facts that random cards declare.
const FACTS: [&str; 11] = [
    "a = { min = 0, max = 1 }", "b = { min = 0, max = 1, unit = \"ratio\" }",
    "c = { min = 0, max = 1, unknown = -1 }", "x = { min = -2, max = 8 }",
    "part = { min = 0, max = \"whole\", integer = true }", "whole = { min = 0, max = 30, integer = true }",
    "open = { min = 0 }", "yes = { type = \"boolean\" }", "no = { type = \"boolean\" }",
    "old = { unit = \"s\", min = 0 }", "older = { unit = \"s\", min = 0, max = 90000 }",
];

/// Makes a number formula over facts and the readings of the first `known` dimensions.
fn number(known: usize) -> BoxedStrategy<String> {
    let mut names: Vec<String> = [
        "a", "b", "c", "x", "part", "whole", "open", "0.25", "0.5", "2", "7", "share", "root", "yes", "no",
        "limit", "half", "on",
    ]
    .map(String::from)
    .to_vec();
    names.extend((0..known).map(|at| format!("d{at}")));
    let leaf = prop::sample::select(names).boxed();
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let condition = condition_over(inner.clone());
        prop_oneof![
            (inner.clone(), prop::sample::select(vec!["+", "-", "*", "/"]), inner.clone())
                .prop_map(|(x, operator, y)| format!("({x} {operator} {y})")),
            (prop::sample::select(vec!["abs", "floor", "ceil", "sqrt", "ln", "exp"]), inner.clone())
                .prop_map(|(function, x)| format!("{function}({x})")),
            (
                prop::sample::select(vec!["min", "max", "coalesce", "coalesce", "pow"]),
                inner.clone(),
                inner.clone()
            )
                .prop_map(|(function, x, y)| format!("{function}({x}, {y})")),
            (condition, inner.clone(), inner).prop_map(|(c, x, y)| format!("if({c}, {x}, {y})")),
        ]
    })
    .boxed()
}

fn condition_over(number: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let comparison = (number.clone(), prop::sample::select(vec!["<", "<=", ">", ">="]), number.clone())
        .prop_map(|(x, operator, y)| format!("{x} {operator} {y}"));
    prop_oneof![
        3 => comparison,
        2 => prop::sample::select(vec!["yes", "no", "not no", "coalesce(yes, true)", "coalesce(no, yes, false)"])
            .prop_map(String::from),
        1 => number.prop_map(|x| format!("not is_missing({x})")),
        1 => Just("yes and not (no or a > 0.5)".to_string()),
    ]
    .boxed()
}

fn condition(known: usize) -> BoxedStrategy<String> {
    condition_over(number(known))
}

fn share(known: usize) -> BoxedStrategy<String> {
    prop_oneof![
        1 => prop::sample::select(vec!["a", "b", "c", "1 - a", "a * b"]).prop_map(String::from),
        3 => number(known).prop_map(|value| format!("clamp({value}, 0, 1)")),
    ]
    .boxed()
}

/// Makes a dimension whose formulas may name the readings of those before it.
fn dimension(at: usize) -> impl Strategy<Value = (Vec<String>, u32, bool)> {
    let policies = ["\"exclude\"", "\"exclude\"", "\"zero\"", "\"withhold\"", "{ default = 0.625 }"];
    (
        share(at),
        prop::option::weighted(0.25, condition(at)),
        prop::option::weighted(0.25, condition(at)),
        prop::sample::select(policies.to_vec()),
        prop_oneof![Just(0u32), 1..2_000u32, Just(100_000u32), Just(250_000u32)],
        any::<bool>(),
        prop::sample::select(vec!["", "old", "older"]),
    )
        .prop_map(move |(formula, when, applies, policy, weight, grouped, age)| {
            let mut lines = vec![format!("key = \"d{at}\""), format!("formula = \"{formula}\"")];
            lines.push(format!("missing = {policy}"));
            lines.extend(when.map(|when| format!("when = \"{when}\"")));
            lines.extend(applies.map(|applies| format!("applies = \"{applies}\"")));
            lines.extend((!age.is_empty()).then(|| format!("age = \"{age}\"")));
            (lines, weight, grouped)
        })
}

/// Rules and gates, in the order of the file.
fn verdicts(dimensions: usize) -> impl Strategy<Value = Vec<(&'static str, Vec<String>)>> {
    let when = || {
        prop_oneof![
            2 => condition(dimensions),
            1 => prop::sample::select(vec!["score > 0.5", "coverage < 0.75", "composite <= score and a > 0.2"])
                .prop_map(String::from),
        ]
    };
    let set = prop_oneof![
        prop::sample::select(vec!["min(1, score + 0.1)", "max(0, score - 0.2)", "score * coverage", "0.1"])
            .prop_map(String::from),
        share(dimensions),
    ];
    let rule = (when(), set)
        .prop_map(|(when, set)| ("rule", vec![format!("when = \"{when}\""), format!("set = \"{set}\"")]));
    let gate = (when(), 0..100u32)
        .prop_map(|(when, cap)| ("gate", vec![format!("when = \"{when}\""), format!("cap = {cap}")]));
    (vec(rule, 0..3), vec(gate, 0..3)).prop_map(|(rules, gates)| {
        let mut tables: Vec<(&'static str, Vec<String>)> = rules.into_iter().chain(gates).collect();
        for (at, (_, lines)) in tables.iter_mut().enumerate() {
            lines.push(format!("name = \"verdict {at}\""));
        }
        tables
    })
}

/// Makes the rule of a decay that takes something within seconds; empty for none.
fn decay() -> impl Strategy<Value = &'static str> {
    const RULES: [&str; 4] = [
        "grace_days = 0, period_days = 1, points_per_period = 1000000",
        "grace_days = 0, period_days = 1, points_per_period = 300, periods = \"whole\"",
        "grace_days = 0, period_days = 2, points_per_period = 1000000, scope = \"composite\"",
        "grace_days = 1, period_days = 1, points_per_period = 1000000, point = 0.1",
    ];
    prop_oneof![4 => Just(""), 3 => prop::sample::select(RULES.to_vec())]
}

/// Makes a card that passes the checks: any mean that rescales, up to five dimensions, perhaps a group, rules, gates,
/// bands.
pub fn card_text() -> impl Strategy<Value = CardText> {
    let dimensions = (1..=5usize)
        .prop_flat_map(|count| (0..count).map(|at| dimension(at).boxed()).collect::<Vec<BoxedStrategy<_>>>());
    let rescales = |mean: &Mean| !mean.takes_weights_as_given();
    let means: Vec<&str> = Mean::ALL.into_iter().filter(rescales).map(Mean::name).collect();
    let mean = move || prop::sample::select(means.clone());
    dimensions.prop_flat_map(move |dimensions| {
        let verdicts = verdicts(dimensions.len());
        let scale = prop::sample::select(vec!["exact", "floor", "half-up"]);
        (Just(dimensions), mean(), mean(), verdicts, (scale, decay())).prop_map(
            |(mut dimensions, mut mean, inner, verdicts, (publish, decay))| {
                // The first is never in the group and always has a weight, so that every card has something to score.
                dimensions[0].1 += 1;
                dimensions[0].2 = false;
                if !decay.is_empty() {
                    // The newest readings of each dimension go with one weighted mean.
                    mean = Mean::WeightedMean.name();
                    dimensions.iter_mut().for_each(|(_, _, grouped)| *grouped = false);
                }
                let group = dimensions.iter().any(|(_, weight, grouped)| *grouped && *weight > 0);
                let mut card = CardText {
                    head: ["schema = \"karat/scorecard/1\"", "id = \"random\"", "version = \"1.0.0\""]
                        .map(String::from)
                        .to_vec(),
                    facts: FACTS.map(String::from).to_vec(),
                    tables: Vec::new(),
                    weights: Vec::new(),
                };
                card.head.extend(["title = \"Random\"".to_string(), "evidence = \"facts\"".to_string()]);
                card.head.push(format!("mean = \"{mean}\""));
                card.head.push(format!("scale = {{ max = 100, publish = \"{publish}\" }}"));
                card.head.push("const.limit = { value = 3.5, unit = \"count\" }".to_string());
                card.head.push("const.half = 0.5".to_string());
                card.head.push("const.on = true".to_string());
                card.head.push("let.root = \"sqrt(x)\"".to_string());
                card.head.push("let.share = \"part / whole\"".to_string());
                if decay.is_empty() {
                    let is_age = |line: &String| line.starts_with("age");
                    dimensions.iter_mut().for_each(|(lines, ..)| lines.retain(|line| !is_age(line)));
                } else {
                    card.head.push(format!("standing = {{ score = \"latest\", decay = {{ {decay} }} }}"));
                }
                for (mut lines, weight, grouped) in dimensions {
                    if grouped && group {
                        lines.push("group = \"g\"".to_string());
                    }
                    card.tables.push(("dimension", lines));
                    card.weights.push(Some(weight));
                }
                if group {
                    let lines = vec!["key = \"g\"".to_string(), format!("mean = \"{inner}\"")];
                    card.tables.push(("group", lines));
                    card.weights.push(Some(300));
                }
                card.tables.extend(verdicts);
                for (name, from) in [("low", 0), ("middle", 40), ("high", 90)] {
                    card.tables.push(("band", vec![format!("name = \"{name}\""), format!("from = {from}")]));
                }
                card.weights.resize(card.tables.len(), None);
                card
            },
        )
    })
}

/// A choice of a fact from its declared range: in which way, and how far along.
pub type Choice = (u8, f64);

/// Choices for the facts of any card.
pub fn choices() -> impl Strategy<Value = Vec<Choice>> {
    vec((any::<u8>(), 0.0..=1.0), 32)
}

/// Facts within their declarations. One in four is missing unless `complete`.
pub fn facts<'a>(card: &'a Scorecard, choices: &[Choice], complete: bool) -> Vec<Fact<'a>> {
    let none: Vec<Fact<'_>> = card.facts.iter().map(|_| Fact::Missing).collect();
    let chosen = fill(card, &none, choices);
    // Bounds leave aside what an age that is not known would take.
    let is_age = |at: usize| card.dimensions.iter().any(|dimension| dimension.age == EvidenceAge::Fact(at));
    let missing = |at: usize| !complete && !is_age(at) && choices[at % choices.len()].0 < 64;
    chosen.into_iter().enumerate().map(|(at, fact)| if missing(at) { Fact::Missing } else { fact }).collect()
}

/// Returns the same facts with something chosen for everything that is missing.
pub fn fill<'a>(card: &'a Scorecard, facts: &[Fact<'a>], choices: &[Choice]) -> Vec<Fact<'a>> {
    let mut filled = facts.to_vec();
    // Those that bound others first, within what those others already say.
    let bounds = |at: usize| card.facts.iter().any(|fact| fact.max_fact == Some(at));
    let mut order: Vec<usize> = (0..card.facts.len()).collect();
    order.sort_by_key(|&at| !bounds(at));
    for at in order {
        if !super::is_missing(card, at, filled[at]) {
            continue;
        }
        let (way, along) = choices[at % choices.len()];
        filled[at] = match card.facts[at].kind {
            FactType::Boolean => Fact::Flag(along < 0.5),
            FactType::Text => match &card.profiles {
                Some(profiles) if way % 4 != 0 => {
                    Fact::Text(&profiles.list[(along * 0.999 * profiles.list.len() as f64) as usize].0)
                }
                _ => Fact::Text("unheard of"),
            },
            FactType::Number => Fact::Number(number_within(card, at, &filled, way, along)),
        };
    }
    filled
}

fn number_within(card: &Scorecard, at: usize, facts: &[Fact<'_>], way: u8, along: f64) -> f64 {
    let declared = &card.facts[at];
    let given = |other: usize| match facts[other] {
        Fact::Number(value) if !super::is_missing(card, other, facts[other]) => Some(value),
        _ => None,
    };
    let low = lowest(card, at, &given);
    let bound = declared.max_fact.and_then(given).unwrap_or(f64::INFINITY);
    let high = declared.max.min(bound);
    let high = if high.is_finite() { high } else { low + 20.0 };
    let value = match way % 8 {
        0 => low,
        1 => high,
        2 => (low + along * (high - low)).floor().clamp(low, high),
        3 => ((low + along * (high - low)) * 4.0).round() / 4.0,
        _ => low + along * (high - low),
    };
    let value = if declared.integer { value.floor() } else { value }.clamp(low, high);
    // The value that the source uses for "not measured" would be missing.
    if declared.unknown == Some(value) { high } else { value }
}

/// Returns the lowest number that a fact can be, given those that may not exceed it.
fn lowest(card: &Scorecard, at: usize, given: &dyn Fn(usize) -> Option<f64>) -> f64 {
    let min = card.facts[at].min;
    let bounded = card.facts.iter().enumerate().filter(|(_, fact)| fact.max_fact == Some(at));
    let parts = bounded.map(|(other, _)| given(other).unwrap_or_else(|| lowest(card, other, given)));
    parts.fold(if min.is_finite() { min } else { -10.0 }, f64::max)
}
