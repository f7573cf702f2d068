//! The rules and gates behind a score with what each did, the facts that count for it, and the formulas.

use karat_core::facts::Fact;
use karat_core::formula::{Formula, Symbol};
use karat_core::record::{Record, StepKind};
use karat_core::scorecard::{Dimension, Reporter, Rule, Scorecard};

use super::{Cell, Column, Kind, Part, Row, Table};
use crate::card::words::effect;
use crate::number::published;
use crate::text::list;

/// Returns what is behind a score, under headings: what each rule and gate did, and the facts that count for it.
pub fn behind(record: &Record<'_>) -> Vec<Part> {
    let conditions =
        Some(("Rules and gates", conditions(record))).filter(|(_, table)| !table.rows.is_empty());
    let all = conditions.into_iter().chain([("What the evidence said, and who said it", facts(record))]);
    all.flat_map(|(heading, table)| [Part::Heading(heading.to_owned()), Part::Table(table)]).collect()
}

/// Returns every rule and gate of the scorecard, with its effect on the score.
fn conditions(record: &Record<'_>) -> Table {
    let card = record.card;
    let row = |kind: StepKind, name: &str, what: String| {
        let moved = record.steps.iter().find(|step| step.kind == kind && step.name == name);
        let did = match moved {
            Some(step) => {
                let [from, to] = [step.before, step.after].map(|score| published(card.scale.publish(score)));
                &format!("it holds, and takes the score from {from} to {to}")
            }
            None if record.undecided.contains(&name) => {
                "it could not be decided, as something it needs is missing"
            }
            None if record.gates.contains(&name) => "it holds, and does not lower the score",
            None => "it does not hold",
        };
        Row::from(vec![Cell::text(format!("{} {name}", kind.name())), Cell::text(what), Cell::text(did)])
    };
    let becomes = |rule: &Rule| format!("the score becomes {}", rule.set.text);
    let rules = card.rules.iter().map(|rule| row(StepKind::Rule, &rule.name, becomes(rule)));
    let gates = card.gates.iter().map(|gate| row(StepKind::Gate, &gate.name, effect(gate, card)));
    let columns =
        vec![Column::name("name"), Column::text("while it holds"), Column::new("here", Kind::Sentence)];
    Table::new("What each does to this score", columns, rules.chain(gates).collect())
}

/// Returns the facts that dimensions read, directly or through `let`, each with whose word it is.
fn facts(record: &Record<'_>) -> Table {
    let card = record.card;
    let mut used: Vec<(usize, Vec<&str>)> = Vec::new();
    for dimension in &card.dimensions {
        for at in read_by(card, dimension) {
            match used.iter_mut().find(|(known, _)| *known == at) {
                Some((_, readers)) => readers.push(&dimension.label),
                None => used.push((at, vec![&dimension.label])),
            }
        }
    }
    let row = |(at, readers): (usize, Vec<&str>)| {
        let (fact, value) = (card.facts.get(at)?, record.item.facts.get(at)?);
        let said = (!fact.is_missing(value)).then(|| written(value) + &unit(&fact.unit));
        let from = Some(fact.from).filter(|from| *from != Reporter::Unstated);
        let or =
            |text: Option<&str>, why: &str| text.map_or_else(|| Cell::Without(why.to_owned()), Cell::text);
        Some(Row::from(vec![
            Cell::text(&fact.name),
            or(said.as_deref(), "missing"),
            or(from.map(Reporter::name), "anyone"),
            Cell::text(list(&readers)),
            or(Some(fact.about.as_str()).filter(|about| !about.is_empty()), "not said"),
        ]))
    };
    let columns = vec![
        Column::name("fact"),
        Column::text("value"),
        Column::text("on the word of"),
        Column::text("counts for"),
        Column::new("what it is", Kind::Sentence),
    ];
    Table::new("", columns, used.into_iter().filter_map(row).collect())
}

/// Returns the formulas of the scorecard, as its file has them.
pub fn formulas(record: &Record<'_>) -> Table {
    let card = record.card;
    let row =
        |name: &str, formula: &str| Row::from(vec![Cell::text(name), Cell::text(format!("`{formula}`"))]);
    let named = card.lets.iter().map(|it| row(&it.name, &it.formula.text));
    let dimensions = card.dimensions.iter().map(|it| row(&it.label, &it.formula.text));
    let set = |rule: &Rule| format!("{} when {}", rule.set.text, rule.when.text);
    let rules = card.rules.iter().map(|it| row(&format!("rule {}", it.name), &set(it)));
    let gates = card.gates.iter().map(|it| row(&format!("gate {}", it.name), &it.when.text));
    let caption = format!("The values are brought together by their {}", card.mean.name().replace('-', " "));
    let columns = vec![Column::name("name"), Column::new("formula", Kind::Sentence)];
    Table::new(caption, columns, named.chain(dimensions).chain(rules).chain(gates).collect())
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
fn read_by(card: &Scorecard, dimension: &Dimension) -> Vec<usize> {
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
