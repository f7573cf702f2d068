//! The document of a scorecard, as a person reads it.

use karat_core::number::Decimal;
use karat_core::scorecard::{Dimension, MissingPolicy, Reporter, Scorecard};

use super::{Cell, Column, Document, Entry, Kind, Part, Row, Table};
use crate::card::words::{conditions, effect, form, range, shared_policy, standing, without_evidence};
use crate::text::Tone;

/// Returns the document of a scorecard.
#[must_use]
pub fn scorecard(card: &Scorecard) -> Document {
    let source = (!card.source.is_empty()).then(|| format!("source: {}", card.source));
    let about = (!card.about.is_empty()).then(|| card.about.clone());
    let mut document = Document {
        name: "card",
        title: format!("{}  {}", card.name(), card.title),
        lines: source.into_iter().chain(about).chain(form(card)).collect(),
        about: vec![(String::from("digest"), card.digest.to_string())],
        ..Document::default()
    };
    dimensions(card, &mut document);
    let rules = card
        .rules
        .iter()
        .map(|it| entry(&it.name, format!("when {}, score = {}", it.when.text, it.set.text)));
    section(&mut document, "Rules, in this order", rules);
    let gates =
        card.gates.iter().map(|it| entry(&it.name, format!("when {}, {}", it.when.text, effect(it, card))));
    section(&mut document, "Gates", gates);
    section(&mut document, "Bands", card.bands.iter().map(|it| entry(&it.name, format!("from {}", it.from))));
    section(&mut document, "Tiers", card.tiers.iter().map(|it| entry(&it.name, conditions(it, card))));
    let lines = card.standing.as_ref().map(|section| standing::lines(card, section));
    let lines = lines.into_iter().flatten().map(|line| entry("", line));
    section(&mut document, "Standing, of many scores of a subject", lines);
    facts(card, &mut document);
    let keeps =
        card.keeps.iter().map(|keep| entry(format!("{} {}", keep.code, keep.at).trim_end(), &keep.why));
    section(&mut document, "Kept by choice", keeps);
    document.note(Tone::Plain, [card.digest.to_string()]);
    document
}

fn weight(weight: &Decimal) -> Cell {
    Cell::Number(weight.to_f64(), weight.to_string())
}

fn entry(name: &str, text: impl Into<String>) -> Entry {
    Entry { depth: 0, name: name.to_owned(), text: text.into() }
}

/// Adds a list below a heading, if there is anything in it.
fn section(document: &mut Document, heading: &str, entries: impl Iterator<Item = Entry>) {
    let entries: Vec<Entry> = entries.collect();
    if !entries.is_empty() {
        document.parts.extend([Part::Heading(heading.to_owned()), Part::List(entries)]);
    }
}

fn dimensions(card: &Scorecard, document: &mut Document) {
    let shared = shared_policy(card);
    let row = |dimension: &Dimension| {
        let group = dimension.group.and_then(|at| card.groups.get(at)).map(|group| group.key.clone());
        Row::from(vec![
            Cell::text(&dimension.key),
            if card.family.is_some() { Cell::Absent } else { weight(&dimension.weight) },
            Cell::of_text(group),
            Cell::Notes(rules(dimension, shared)),
        ])
    };
    let group = Column::text("group").shown_if(!card.groups.is_empty());
    let columns =
        vec![Column::name("dimension"), Column::number("weight"), group, Column::new("how", Kind::Notes)];
    document.parts.push(Part::Heading(String::from("Dimensions")));
    document.parts.push(Part::Table(Table::new("", columns, card.dimensions.iter().map(row).collect())));
    document.note(Tone::Plain, shared.map(|policy| format!("any of them {}", without_evidence(policy))));
    let groups =
        card.groups.iter().map(|it| entry(&it.key, format!("weight {}, {}", it.weight, it.mean.name())));
    section(document, "Groups", groups);
    let constants = card.constants.iter().map(|it| {
        let unit = it.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        entry(&it.name, format!("= {}{unit}", it.value))
    });
    let lets = card.lets.iter().map(|it| entry(&it.name, format!("= {}", it.formula.text)));
    section(document, "Where", constants.chain(lets));
    if let Some(profiles) = &card.profiles {
        let by = card.facts.get(profiles.by).map_or("", |fact| &fact.name);
        let weights = card.dimensions.iter().map(|it| Column::number(&it.key));
        let row = |(at, (name, weights)): (usize, &(String, Vec<Decimal>))| {
            let fallback = if at == profiles.fallback { " (else)" } else { "" };
            let mut cells = vec![Cell::Text(format!("{name}{fallback}"))];
            cells.extend(weights.iter().map(weight));
            Row::from(cells)
        };
        let rows = profiles.list.iter().enumerate().map(row).collect();
        let columns = std::iter::once(Column::name(by)).chain(weights).collect();
        document.parts.push(Part::Table(Table::new(format!("Weights by {by}"), columns, rows)));
    }
    let policy = card.override_policy.as_ref();
    let sum = |tolerance: Decimal| {
        format!("weights may be overridden; the merged sum must be within {tolerance} of 1")
    };
    document.note(Tone::Plain, policy.map(|policy| sum(policy.tolerance)));
}

fn rules(dimension: &Dimension, shared: Option<MissingPolicy>) -> Vec<(Tone, String)> {
    let formula = (dimension.formula.text != dimension.key).then(|| dimension.formula.text.clone());
    let applies = dimension.applies.as_ref().map(|it| format!("applies when {}", it.text));
    let when = dimension.when.as_ref().map(|it| format!("only when {}; otherwise 0", it.text));
    let missing = shared.is_none().then(|| without_evidence(dimension.missing));
    let all = [formula, applies, when, missing].into_iter().flatten();
    all.map(|rule| (Tone::Plain, rule)).collect()
}

fn facts(card: &Scorecard, document: &mut Document) {
    let rows = card.facts.iter().map(|fact| {
        let from = (fact.from != Reporter::Unstated).then(|| fact.from.name());
        let path = fact.path.as_ref().map(ToString::to_string);
        Row::from(vec![
            Cell::text(&fact.name),
            Cell::Text(range(fact, card)),
            Cell::of_text(from),
            Cell::of_text(path),
        ])
    });
    let has = |is: bool, name| Column::text(name).shown_if(is);
    let columns = vec![
        Column::name("fact"),
        Column::text("range"),
        has(card.facts.iter().any(|it| it.from != Reporter::Unstated), "from"),
        has(card.facts.iter().any(|it| it.path.is_some()), "path"),
    ];
    document.parts.push(Part::Heading(String::from("Facts that the evidence supplies")));
    document.parts.push(Part::Table(Table::new("", columns, rows.collect())));
}
