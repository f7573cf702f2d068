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
    for part in &mut document.parts {
        // A note says how exact it is.
        if let Part::Table(table) = part
            && let Some((what, _)) = table.caption.split_once("; ")
        {
            table.caption = what.to_owned();
        }
    }
    // The headline names gates, and so does the table below.
    document.findings.clear();
    document.parts.insert(0, Part::Heading(String::from("How the score adds up")));
    document.parts.extend(conditions(record));
    document.parts.push(Part::Heading(String::from("What the evidence said, and who said it")));
    document.parts.push(Part::Table(facts(record)));
    html! {
        (body("part", &document))
        (about(record))
        details { summary { "Exactly how" } (figure("exactly", &formulas(record))) }
    }
}

fn about(record: &Record<'_>) -> Markup {
    let context = &record.item.context;
    html! {
        dl.about {
            @if let Some(task) = context.task { div { dt { "task" } dd { (task) } } }
            @if let Some(time) = context.time { div { dt { "took place" } dd { (words(&time.to_string())) } } }
            @if let Some(outcome) = context.outcome { div { dt { "ended" } dd { (outcome.name()) } } }
            @if let Some(as_of) = record.as_of { div { dt { "judged as of" } dd { (words(as_of)) } } }
            @if let Some(profile) = record.profile { div { dt { "weights" } dd { "profile " (profile.name) } } }
            @if let Some(used) = record.override_use { div { dt { "weights" } dd { (override_words(used)) } } }
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
    let row = |kind: &str, name: &str, what: String, did: String| {
        line([Cell::Text(format!("{kind} {name}")), Cell::Text(what), Cell::Text(did)])
    };
    let rules = card.rules.iter().map(|rule| {
        let what = format!("the score becomes {}", rule.set.text);
        row("rule", &rule.name, what, did(&rule.name, StepKind::Rule))
    });
    let gates = card
        .gates
        .iter()
        .map(|gate| row("gate", &gate.name, effect(gate, card), did(&gate.name, StepKind::Gate)));
    let rows: Vec<Row> = rules.chain(gates).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let table = grid("What each does to this score", "=name | while it holds | &here", rows);
    vec![Part::Heading(String::from("Rules and gates")), Part::Table(table)]
}

/// Lists the facts that dimensions read, directly or through `let`.
fn facts(record: &Record<'_>) -> Table {
    let card = record.card;
    let mut used: Vec<(usize, Vec<&str>)> = Vec::new();
    for dimension in &card.dimensions {
        for at in behind(card, dimension) {
            match used.iter_mut().find(|(known, _)| *known == at) {
                Some((_, read_by)) => read_by.push(&dimension.label),
                None => used.push((at, vec![&dimension.label])),
            }
        }
    }
    let row = |(at, read_by): (usize, Vec<&str>)| {
        let (fact, value) = (card.facts.get(at)?, record.item.facts.get(at)?);
        let said = (!fact.is_missing(value)).then(|| written(value) + &unit(&fact.unit));
        let from = Some(fact.from).filter(|from| *from != Reporter::Unstated);
        Some(line([
            text(&fact.name),
            text_or(said, "missing"),
            text_or(from.map(Reporter::name), "anyone"),
            text(list(&read_by)),
            text_or(Some(&fact.about).filter(|about| !about.is_empty()), "not said"),
        ]))
    };
    let rows = used.into_iter().filter_map(row).collect();
    grid("", "=fact | value | on the word of | counts for | &what it is", rows)
}

/// Lists the formulas of the scorecard, as its file has them.
fn formulas(record: &Record<'_>) -> Table {
    let card = record.card;
    let row = |name: &str, formula: &str| line([text(name), Cell::Text(format!("`{formula}`"))]);
    let named = card.lets.iter().map(|it| row(&it.name, &it.formula.text));
    let dimensions = card.dimensions.iter().map(|it| row(&it.label, &it.formula.text));
    let rules = card
        .rules
        .iter()
        .map(|it| row(&format!("rule {}", it.name), &format!("{} when {}", it.set.text, it.when.text)));
    let gates = card.gates.iter().map(|it| row(&format!("gate {}", it.name), &it.when.text));
    let caption = format!("The values are brought together by their {}", card.mean.name().replace('-', " "));
    grid(caption, "=name | &formula", named.chain(dimensions).chain(rules).chain(gates).collect())
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
