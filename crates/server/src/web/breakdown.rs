//! The explanation of a record: the bars that add up to its score, the facts behind them, rules and gates in words.

use super::layout::*;
use karat::card::words::effect;
use karat::document::{Part, Row, account};
use karat::text::{list, published};
use karat_core::explain::Change;
use karat_core::facts::Fact;
use karat_core::formula::{Formula, Symbol};
use karat_core::record::{Record, StepKind};
use karat_core::scorecard::{Dimension, Reporter, Scorecard};
use karat_core::weights::OverrideUse;

/// Returns the explanation of `record`; `change` is the nearest one that would reach the next level.
pub fn record(record: &Record<'_>, change: Option<&Change<'_>>) -> Markup {
    let mut document = account(record, change);
    // A table of a score that is not there says nothing.
    document.parts.retain(|part| !matches!(part, Part::Table(table) if table.is_detail));
    document.parts.insert(0, Part::Heading(String::from("How the score adds up")));
    document.parts.extend(conditions(record));
    document.parts.push(Part::Heading(String::from("The facts behind each bar")));
    document.parts.push(Part::Table(facts(record)));
    html! {
        p { (document.title) }
        (about(record))
        (body("part", &document))
    }
}

fn about(record: &Record<'_>) -> Markup {
    let context = &record.item.context;
    html! {
        dl.about {
            @if let Some(task) = context.task { div { dt { "task" } dd { (task) } } }
            @if let Some(time) = context.time { div { dt { "took place" } dd { time { (time.to_string()) } } } }
            @if let Some(outcome) = context.outcome { div { dt { "ended" } dd { (outcome.name()) } } }
            @if let Some(as_of) = record.as_of { div { dt { "judged as of" } dd { time { (as_of) } } } }
            @if let Some(profile) = record.profile { div { dt { "weights" } dd { "profile " (profile.name) } } }
            @if let Some(used) = record.override_use { div { dt { "weights" } dd { (override_words(used)) } } }
            div { dt { "mean" } dd { (record.card.mean.name()) } }
        }
    }
}

/// Names the weights from outside, or says why they do not count.
fn override_words(used: &OverrideUse) -> String {
    match &used.reason {
        None => {
            let given: Vec<String> =
                used.given.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
            format!("from outside: {}", list(&given))
        }
        Some(reason) => format!("of the scorecard; those from outside are refused: {reason}"),
    }
}

/// Lists every rule and gate of the scorecard, with its effect here.
fn conditions(record: &Record<'_>) -> Vec<Part> {
    let card = record.card;
    let did = |name: &str, kind: StepKind| {
        let moved = record.steps.iter().find(|step| step.kind == kind && step.name == name);
        match moved {
            Some(step) => {
                let [from, to] = [step.before, step.after].map(|score| published(card.scale.publish(score)));
                format!("it holds, and takes the score from {from} to {to}")
            }
            None if record.undecided.contains(&name) => {
                String::from("it could not be decided, as something it needs is missing")
            }
            None if record.gates.contains(&name) => String::from("it holds, and does not lower the score"),
            None => String::from("it does not hold"),
        }
    };
    let row = |kind: &str, name: &str, when: &str, what: String, did: String| {
        line([Cell::Text(format!("{kind} {name}")), text(when), Cell::Text(what), Cell::Text(did)])
    };
    let rules = card.rules.iter().map(|rule| {
        let what = format!("the score becomes {}", rule.set.text);
        row("rule", &rule.name, &rule.when.text, what, did(&rule.name, StepKind::Rule))
    });
    let gates = card.gates.iter().map(|gate| {
        row("gate", &gate.name, &gate.when.text, effect(gate, card), did(&gate.name, StepKind::Gate))
    });
    let rows: Vec<Row> = rules.chain(gates).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let table = grid("What each does to this score", "=name | when | effect | here", rows);
    vec![Part::Heading(String::from("Rules and gates")), Part::Table(table)]
}

/// Lists the facts that each dimension reads, directly or through `let`.
fn facts(record: &Record<'_>) -> Table {
    let card = record.card;
    let row = |dimension: &Dimension| {
        let facts = behind(card, dimension).into_iter().filter_map(|at| {
            let (fact, value) = (card.facts.get(at)?, record.item.facts.get(at)?);
            let shown = if fact.is_missing(value) {
                String::from("missing")
            } else {
                written(value) + &unit(&fact.unit)
            };
            let from = match fact.from {
                Reporter::Unstated => String::new(),
                from => format!(" from {}", from.name()),
            };
            Some(format!("{} = {shown}{from}", fact.name))
        });
        let facts: Vec<String> = facts.collect();
        line([text(&dimension.label), text(&dimension.formula.text), Cell::Text(facts.join("; "))])
    };
    let rows = card.dimensions.iter().map(row).collect();
    grid("What the evidence said, and who said it", "=dimension | formula | facts", rows)
}

fn written(fact: &Fact<'_>) -> String {
    match fact {
        Fact::Missing => String::from("missing"),
        Fact::Number(number) => number.to_string(),
        Fact::Flag(flag) => flag.to_string(),
        Fact::Text(text) => format!("“{text}”"),
    }
}

fn unit(unit: &str) -> String {
    if matches!(unit, "" | "1" | "count" | "ratio") { String::new() } else { format!(" {unit}") }
}

/// Returns the indexes of the facts that a dimension reads, in the order in which its formulas name them.
fn behind(card: &Scorecard, dimension: &Dimension) -> Vec<usize> {
    let own = [Some(&dimension.formula), dimension.when.as_ref(), dimension.applies.as_ref()];
    let mut waiting: Vec<&Formula> = own.into_iter().flatten().rev().collect();
    let (mut facts, mut seen) = (Vec::new(), Vec::new());
    while let Some(formula) = waiting.pop() {
        for symbol in formula.expr.symbols() {
            if seen.contains(&symbol) {
                continue;
            }
            seen.push(symbol);
            match symbol {
                Symbol::Fact(at) => facts.push(at),
                // A `let` only names those before it, so this ends.
                Symbol::Let(at) => waiting.extend(card.lets.get(at).map(|named| &named.formula)),
                Symbol::Reading(_) | Symbol::Score | Symbol::Composite | Symbol::Coverage => {}
            }
        }
    }
    facts
}
