//! One scorecard for people: its weights, the conditions that hold a score back, the findings of the checker.

use std::sync::Arc;

use axum::http::HeaderMap;
use karat::card_words::{conditions, effect, form, range, shared_policy, standing, without_evidence};
use karat::estimate::whole_percent;
use karat::leaderboard::stress::weights;
use karat::number::cut;
use karat::page::model::{Cell, Column, Figure, Kind, Row, Table};
use karat::page::{figure, scrolling};
use karat_core::diagnostic::Diagnostic;
use karat_core::scorecard::{Dimension, Scorecard};
use maud::{Markup, html};

use super::layout::{Sheet, heading, words};
use super::weights::section as weights_section;
use super::what_if::{self, Asked};
use crate::cards::ScorerPool;
use crate::params::{Answer, Get, Named, Params};

/// Shows the page.
pub async fn show(
    Get(app, caller): Get,
    headers: HeaderMap,
    Named(name): Named<String>,
    Params(asked): Params<Asked>,
) -> Answer {
    let pool = app.memory.cards().find(&name)?;
    let what_if = what_if::section(&app, &pool, &asked, &headers).await?;
    let (title, lead) = (pool.name(), pool.card.title.clone());
    let proposed = weights_section(&pool, &app.memory.weights().now(&pool));
    let checked = Arc::clone(&app);
    let (above, below) = app
        .checked(move || {
            let found = checked.memory.cards().check(pool.card.text()).diagnostics;
            Ok((rules(&pool), behind(&pool, &found)))
        })
        .await?;
    Ok(Sheet { title: &title, part: "/scorecards", caller: Some(&caller) }.answer(html! {
        (heading(&[("/scorecards", "Scorecards")], &title, &lead))
        (above)
        (proposed)
        (what_if)
        (below)
    }))
}

/// Shows the weights, and the steps from values to a score.
fn rules(pool: &ScorerPool) -> Markup {
    let card = &pool.card;
    html! {
        @if !card.about.is_empty() { p { (card.about) } }
        ul.sentences {
            @for line in form(card) { li { (line) } }
            @if !card.source.is_empty() { li { "source: " (card.source) } }
        }
        dl.about {
            div { dt { "digest" } dd { (card.digest) } }
            div { dt { "from" } dd { @if pool.card.is_released() { "karat" } @else { "published here" } } }
        }
        (dimensions(card))
        (adjustments(card))
        (badges(card))
        @if let Some(section) = &card.standing {
            section aria-labelledby="standing" {
                h2 id="standing" { "Standing" }
                p { "How the scores of a subject become its official score." }
                ul.sentences { @for line in standing::lines(card, section) { li { (line) } } }
            }
        }
    }
}

/// Shows the parts of the card.
fn behind(pool: &ScorerPool, found: &[Diagnostic]) -> Markup {
    html! {
        (facts(&pool.card))
        (checked(found))
        section aria-labelledby="file" {
            h2 id="file" { "The file" }
            details { summary { "Show the TOML" } pre tabindex="0" { code { (pool.card.text()) } } }
        }
    }
}

fn column(label: &str, kind: Kind) -> Column {
    Column { label: label.to_owned(), kind }
}

fn dimensions(card: &Scorecard) -> Markup {
    let shares = weights(card);
    let total: i64 = shares.iter().map(|weight| weight.millionths()).sum();
    let shared = shared_policy(card);
    let row = |(at, dimension): (usize, &Dimension)| {
        let weight = shares.get(at).map_or(0, |weight| weight.millionths());
        let share = if total > 0 { weight as f64 / total as f64 } else { 0.0 };
        let group =
            dimension.group.and_then(|at| card.groups.get(at)).map(|group| format!(" in {}", group.key));
        let share = match card.family {
            Some(_) => Cell::Absent(String::from("by challenge")),
            None => Cell::Share(share, whole_percent(share)),
        };
        let mut rules: Vec<String> = Vec::new();
        rules.extend((!dimension.description.is_empty()).then(|| dimension.description.clone()));
        rules.extend(dimension.applies.as_ref().map(|it| format!("applies when {}", it.text)));
        rules.extend(dimension.when.as_ref().map(|it| format!("only when {}; otherwise 0", it.text)));
        rules.extend(shared.is_none().then(|| without_evidence(dimension.missing)));
        let cells = vec![
            Cell::Text(format!("{}{}", dimension.label, group.unwrap_or_default())),
            share,
            Cell::Text(dimension.formula.text.clone()),
            if rules.is_empty() {
                Cell::Text(String::from("as it is"))
            } else {
                Cell::Text(rules.join("; "))
            },
        ];
        Row { cells, group: None }
    };
    let caption = match shared {
        Some(policy) => format!("Each value is 0 to 1; {}", without_evidence(policy)),
        None => String::from("Each value is 0 to 1"),
    };
    let table = Table {
        caption,
        columns: vec![
            column("dimension", Kind::Name),
            column("weight", Kind::Share),
            column("formula", Kind::Text),
            column("how", Kind::Text),
        ],
        rows: card.dimensions.iter().enumerate().map(row).collect(),
    };
    html! {
        section aria-labelledby="dimensions" {
            h2 id="dimensions" { "Dimensions" }
            (figure("dimensions-figure", &Figure::Table(table)))
            @if !card.groups.is_empty() {
                ul.sentences {
                    @for group in &card.groups { li { "group " b { (group.key) } ": " (group.weight) ", " (group.mean.name()) } }
                }
            }
            @if !card.lets.is_empty() || !card.constants.is_empty() {
                p { "Where:" }
                ul.sentences {
                    @for constant in &card.constants {
                        li { code { (constant.name) " = " (constant.value) @if let Some(unit) = &constant.unit { " " (unit) } } }
                    }
                    @for named in &card.lets { li { code { (named.name) " = " (named.formula.text) } } }
                }
            }
            (profiles(card))
            @if let Some(policy) = &card.override_policy {
                p { "Weights may be given from outside; their sum must be within " (policy.tolerance) " of 1." }
            }
        }
    }
}

/// Shows the weights of each profile.
fn profiles(card: &Scorecard) -> Markup {
    let Some(profiles) = &card.profiles else { return html! {} };
    let by = card.facts.get(profiles.by).map_or("", |fact| fact.name.as_str());
    let content = html! {
        thead {
            tr {
                th.name scope="col" { (by) }
                @for dimension in &card.dimensions { th.number scope="col" { (dimension.key) } }
            }
        }
        tbody {
            @for (at, (name, weights)) in profiles.list.iter().enumerate() {
                tr {
                    th.name scope="row" { span { (name) @if at == profiles.fallback { " (else)" } } }
                    @for weight in weights { td.number { (cut(weight.millionths(), 6, 4)) } }
                }
            }
        }
    };
    scrolling("profiles", &format!("Weights by {by}"), content)
}

fn adjustments(card: &Scorecard) -> Markup {
    if card.rules.is_empty() && card.gates.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="rules" {
            h2 id="rules" { "Rules and gates" }
            p { "After the mean, in this order." }
            ul.sentences {
                @for rule in &card.rules {
                    li { b { (rule.name) } ": when " code { (rule.when.text) } ", the score becomes " code { (rule.set.text) } }
                }
                @for gate in &card.gates {
                    li { b { (gate.name) } ": when " code { (gate.when.text) } ", " (effect(gate, card)) }
                }
            }
        }
    }
}

fn badges(card: &Scorecard) -> Markup {
    if card.bands.is_empty() && card.tiers.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="levels" {
            h2 id="levels" { "Bands and tiers" }
            ul.sentences {
                @for band in &card.bands { li { "band " b { (band.name) } ": from " (band.from) } }
                @for tier in &card.tiers { li { "tier " b { (tier.name) } ": " (conditions(tier, card)) } }
            }
        }
    }
}

fn facts(card: &Scorecard) -> Markup {
    let has_paths = card.facts.iter().any(|fact| fact.path.is_some());
    let row = |fact: &karat_core::scorecard::FactDeclaration| Row {
        cells: [
            Cell::Text(fact.name.clone()),
            Cell::Text(range(fact, card)),
            Cell::Text(fact.from.name().to_owned()),
        ]
        .into_iter()
        .chain(has_paths.then(|| Cell::Text(fact.field())))
        .chain([Cell::Text(fact.about.clone())])
        .collect(),
        group: None,
    };
    let table = Table {
        caption: String::from("What the evidence supplies, and who says so"),
        columns: [column("fact", Kind::Name), column("range", Kind::Text), column("from", Kind::Text)]
            .into_iter()
            .chain(has_paths.then(|| column("field", Kind::Text)))
            .chain([column("what it is", Kind::Text)])
            .collect(),
        rows: card.facts.iter().map(row).collect(),
    };
    html! {
        section aria-labelledby="facts" {
            h2 id="facts" { "Facts" }
            (figure("facts-figure", &Figure::Table(table)))
        }
    }
}

/// Shows the findings of the checker; an allowed one says why.
fn checked(found: &[Diagnostic]) -> Markup {
    html! {
        section aria-labelledby="checked" {
            h2 id="checked" { "What the checker finds" }
            @if found.is_empty() { p { "The checker finds nothing." } }
            ul.sentences {
                @for it in found {
                    li {
                        b { (it.severity.name()) " " (it.code.as_str()) } ": " (words(&it.message))
                        @if !it.help.is_empty() { "; " (words(&it.help)) }
                    }
                }
            }
        }
    }
}
