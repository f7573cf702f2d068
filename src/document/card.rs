//! The document of a scorecard: its dimensions, the steps from their values to a score, and the facts that it reads.

use karat_core::scorecard::{Dimension, FactDeclaration, Reporter, Scorecard};

use super::{Cell, Column, Document, Entry, Kind, Part, Row, Table};
use crate::card::words::{conditions, effect, form, range, shared_policy, standing, without_evidence};
use crate::leaderboard::stress::weights;
use crate::number::cut;
use crate::text::Tone;

/// Returns the document of a scorecard.
pub fn card(card: &Scorecard) -> Document {
    let source = (!card.source.is_empty()).then(|| format!("source: {}", card.source));
    let about = Some(card.about.clone()).filter(|about| !about.is_empty());
    let mut document = Document {
        name: "scorecard",
        title: format!("{}  {}", card.name(), card.title),
        lines: source.into_iter().chain(about).chain(form(card)).collect(),
        about: vec![(String::from("digest"), card.digest.to_string())],
        ..Document::default()
    };
    document.parts.extend([Part::Heading(String::from("Dimensions")), Part::Table(dimensions(card))]);
    let shared = shared_policy(card).map(|policy| format!("any of them {}", without_evidence(policy)));
    document.note(Tone::Plain, shared);
    let groups = card.groups.iter().map(|it| entry(&it.key, format!("{}, {}", it.weight, it.mean.name())));
    document.list("Groups", groups);
    let constants = card.constants.iter().map(|it| {
        let unit = it.unit.as_ref().map_or_else(String::new, |unit| format!(" {unit}"));
        entry("", format!("{} = {}{unit}", it.name, it.value))
    });
    let named = card.lets.iter().map(|it| entry("", format!("{} = {}", it.name, it.formula.text)));
    document.list("Where", constants.chain(named));
    document.parts.extend(profiles(card).map(Part::Table));
    let policy = card.override_policy.as_ref();
    document.note(
        Tone::Plain,
        policy.map(|it| {
            format!("weights may be given from outside; their sum must be within {} of 1", it.tolerance)
        }),
    );
    let rules = card
        .rules
        .iter()
        .map(|it| entry(&it.name, format!("when {}, score = {}", it.when.text, it.set.text)));
    document.list("Rules, in this order", rules);
    let gates =
        card.gates.iter().map(|it| entry(&it.name, format!("when {}, {}", it.when.text, effect(it, card))));
    document.list("Gates", gates);
    document.list("Bands", card.bands.iter().map(|it| entry(&it.name, format!("from {}", it.from))));
    document.list("Tiers", card.tiers.iter().map(|it| entry(&it.name, conditions(it, card))));
    if let Some(section) = &card.standing {
        document
            .list("Standing", standing::lines(card, section).into_iter().map(|(_, line)| entry("", line)));
    }
    document.parts.extend([Part::Heading(String::from("Facts")), Part::Table(facts(card))]);
    let keeps = card.keeps.iter().map(|it| {
        let at = if it.at.is_empty() { String::new() } else { format!(" {}", it.at) };
        entry(&format!("{}{at}", it.code), it.why.clone())
    });
    document.list("Kept by choice", keeps);
    document
}

/// Returns a sentence, with its topic before it if it has one.
fn entry(topic: &str, text: String) -> Entry {
    let text = if topic.is_empty() { text } else { format!("{topic}: {text}") };
    Entry { depth: 0, name: String::new(), text }
}

/// Returns the dimensions with their weights; a challenge of a family chooses its own.
fn dimensions(card: &Scorecard) -> Table {
    let weights = weights(card);
    let total: i64 = weights.iter().map(|weight| weight.millionths()).sum();
    let shared = shared_policy(card);
    let row = |(at, dimension): (usize, &Dimension)| {
        let weight = weights.get(at).filter(|_| card.family.is_none()).map(|weight| weight.millionths());
        let group = dimension.group.and_then(|at| card.groups.get(at));
        let formula = &dimension.formula.text;
        let rules = [
            Some(formula.clone()).filter(|formula| *formula != dimension.key),
            dimension.applies.as_ref().map(|it| format!("applies when {}", it.text)),
            dimension.when.as_ref().map(|it| format!("only when {}; otherwise 0", it.text)),
            shared.is_none().then(|| without_evidence(dimension.missing)),
        ];
        let cells = vec![
            Cell::text(&dimension.key),
            Cell::of_text(group.map(|group| group.key.as_str())),
            weight.map_or(Cell::Absent, |it| Cell::Number(it as f64 / 1e6, cut(it, 6, 6))),
            Cell::of_share(weight.filter(|_| total > 0).map(|it| it as f64 / total as f64)),
            Cell::of_text(Some(&dimension.description).filter(|it| !it.is_empty())),
        ];
        Row { notes: rules.into_iter().flatten().map(|it| (Tone::Plain, it)).collect(), ..cells.into() }
    };
    let is_weighted = card.family.is_none();
    let columns = vec![
        Column::name("dimension"),
        Column::text("group").shown_if(!card.groups.is_empty()),
        Column::number("weight").shown_if(is_weighted),
        Column::new("share", Kind::Share).shown_if(is_weighted),
        Column::text("about").wide().labelled("what it is"),
    ];
    let rows = card.dimensions.iter().enumerate().map(row).collect();
    Table { is_titled: true, ..Table::new("Each value is 0 to 1", columns, rows) }
}

/// Returns the weights by the value of a fact, if there are several.
fn profiles(card: &Scorecard) -> Option<Table> {
    let profiles = card.profiles.as_ref()?;
    let by = card.facts.get(profiles.by).map_or("", |fact| fact.name.as_str());
    let rows = profiles.list.iter().enumerate().map(|(at, (name, weights))| {
        let usual = if at == profiles.fallback { " (else)" } else { "" };
        let weights = weights.iter().map(|it| Cell::Number(it.to_f64(), cut(it.millionths(), 6, 4)));
        std::iter::once(Cell::Text(format!("{name}{usual}"))).chain(weights).collect::<Vec<_>>().into()
    });
    let keys = card.dimensions.iter().map(|it| Column::number(&it.key).labelled(&it.key));
    let columns = std::iter::once(Column::name("profile").labelled(by)).chain(keys).collect();
    Some(Table::new(format!("Weights by {by}"), columns, rows.collect()))
}

fn facts(card: &Scorecard) -> Table {
    let row = |fact: &FactDeclaration| {
        vec![
            Cell::text(&fact.name),
            Cell::Text(range(fact, card)),
            Cell::of_text((fact.from != Reporter::Unstated).then(|| fact.from.name())),
            Cell::of_text(fact.path.is_some().then(|| fact.field())),
            Cell::text(&fact.about),
        ]
        .into()
    };
    let columns = vec![
        Column::name("fact"),
        Column::text("range"),
        Column::text("from").shown_if(card.facts.iter().any(|fact| fact.from != Reporter::Unstated)),
        Column::text("field").shown_if(card.facts.iter().any(|fact| fact.path.is_some())),
        Column::text("about").wide().labelled("what it is"),
    ];
    let caption = "What the evidence supplies, and who says so";
    Table { is_titled: true, ..Table::new(caption, columns, card.facts.iter().map(row).collect()) }
}
