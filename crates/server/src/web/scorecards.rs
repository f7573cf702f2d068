//! Scorecards for people: all of them, and one with its weights, those from outside, the conditions that hold a score back, and the
//! findings of the checker.

use karat::answers::WeightsVerdict;
use karat::answers::notes::in_force;
use karat::answers::weights::{WeightsDecision, WeightsInForce, WeightsProposal};
use karat::card::words::{conditions, effect, form, range, shared_policy, standing, without_evidence};
use karat::leaderboard::stress::weights;
use karat::page::scrolling;
use karat::text::{cut, list};
use karat_core::diagnostic::Diagnostic;
use karat_core::scorecard::{Dimension, Scorecard};
use karat_standing::overrides::OverrideLog;

use super::items;
use super::layout::*;
use super::what_if::{self, Asked};
use crate::prelude::*;

pub async fn show_all(Get(app, caller): Get) -> Answer {
    let used = items::used_cards(&app).await?;
    let used: BTreeMap<String, usize> =
        used.into_iter().map(|(pool, records)| (pool.name(), records)).collect();
    let cards = app.memory.cards();
    let row = |pool: &Arc<crate::cards::ScorerPool>| {
        let card = &pool.card;
        let records = used.get(&pool.name()).copied().unwrap_or(0);
        let what = match (&card.family, &card.base) {
            (Some(_), _) => String::from("family of challenges"),
            (None, Some(base)) => format!("challenge of {base}"),
            (None, None) => String::from("scorecard"),
        };
        let cells = vec![
            Cell::Link(pool.name(), address::scorecard(&pool.name())),
            text(&card.title),
            Cell::Text(what),
            text(&card.evidence),
            Cell::Text(String::from(if pool.card.is_released() { "karat" } else { "published here" })),
            text(records),
        ];
        line(cells)
    };
    let table = grid(
        "A released scorecard never changes: a change is a new version",
        "=scorecard | what for | kind | evidence | from | #records",
        cards.iter().map(row).collect(),
    );
    drop(cards);
    let sheet = Sheet { title: "Scorecards", part: "/scorecards", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        (heading(&[], "Scorecards", "A scorecard says which facts it reads, how much each dimension weighs, and what caps a score."))
        (figure("cards", &Figure::Table(table)))
        p { "A scorecard is published with " code { "POST /v1/scorecards" } " and a key with the scope " code { "admin" } "." }
    }))
}

pub async fn show(
    Get(app, caller): Get,
    headers: HeaderMap,
    Named(name): Named<String>,
    Params(asked): Params<Asked>,
) -> Answer {
    let pool = app.memory.cards().find(&name)?;
    let what_if = what_if::section(&app, &pool, &asked, &headers).await?;
    let (title, lead) = (pool.name(), pool.card.title.clone());
    let proposed = proposals(&pool, &app.memory.weights().now(&pool));
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
            Some(_) => absent("by challenge"),
            None => Cell::Share(share),
        };
        let mut rules: Vec<String> = Vec::new();
        rules.extend((!dimension.description.is_empty()).then(|| dimension.description.clone()));
        rules.extend(dimension.applies.as_ref().map(|it| format!("applies when {}", it.text)));
        rules.extend(dimension.when.as_ref().map(|it| format!("only when {}; otherwise 0", it.text)));
        rules.extend(shared.is_none().then(|| without_evidence(dimension.missing)));
        let cells = vec![
            Cell::Text(format!("{}{}", dimension.label, group.unwrap_or_default())),
            share,
            text(&dimension.formula.text),
            if rules.is_empty() { text("as it is") } else { Cell::Text(rules.join("; ")) },
        ];
        line(cells)
    };
    let caption = match shared {
        Some(policy) => format!("Each value is 0 to 1; {}", without_evidence(policy)),
        None => String::from("Each value is 0 to 1"),
    };
    let table = grid(
        caption,
        "=dimension | %weight | formula | how",
        card.dimensions.iter().enumerate().map(row).collect(),
    );
    section(
        "dimensions",
        "Dimensions",
        html! {
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
        },
    )
}

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
    section(
        "rules",
        "Rules and gates",
        html! {
            p { "After the mean, in this order." }
            ul.sentences {
                @for rule in &card.rules {
                    li { b { (rule.name) } ": when " code { (rule.when.text) } ", the score becomes " code { (rule.set.text) } }
                }
                @for gate in &card.gates {
                    li { b { (gate.name) } ": when " code { (gate.when.text) } ", " (effect(gate, card)) }
                }
            }
        },
    )
}

fn badges(card: &Scorecard) -> Markup {
    if card.bands.is_empty() && card.tiers.is_empty() {
        return html! {};
    }
    section(
        "levels",
        "Bands and tiers",
        html! {
            ul.sentences {
                @for band in &card.bands { li { "band " b { (band.name) } ": from " (band.from) } }
                @for tier in &card.tiers { li { "tier " b { (tier.name) } ": " (conditions(tier, card)) } }
            }
        },
    )
}

fn facts(card: &Scorecard) -> Markup {
    let has_paths = card.facts.iter().any(|fact| fact.path.is_some());
    let row = |fact: &karat_core::scorecard::FactDeclaration| {
        line(
            [text(&fact.name), Cell::Text(range(fact, card)), text(fact.from.name())]
                .into_iter()
                .chain(has_paths.then(|| Cell::Text(fact.field())))
                .chain([text(&fact.about)]),
        )
    };
    let field = if has_paths { " | field" } else { "" };
    let table = grid(
        "What the evidence supplies, and who says so",
        &format!("=fact | range | from{field} | what it is"),
        card.facts.iter().map(row).collect(),
    );
    table_section("facts", "Facts", table)
}

/// Shows the findings of the checker; an allowed one says why.
fn checked(found: &[Diagnostic]) -> Markup {
    section(
        "checked",
        "What the checker finds",
        html! {
            @if found.is_empty() { p { "The checker finds nothing." } }
            ul.sentences {
                @for it in found {
                    li {
                        b { (it.severity.name()) " " (it.code.as_str()) } ": " (words(&it.message))
                        @if !it.help.is_empty() { "; " (words(&it.help)) }
                    }
                }
            }
        },
    )
}

/// The number of proposals that are shown; the API has all of them.
const SHOWN: usize = 20;

/// Shows the proposals for a scorecard; nothing for one that accepts no weights from outside.
fn proposals(pool: &ScorerPool, log: &OverrideLog) -> Markup {
    let card = &pool.card;
    if card.override_policy.is_none() {
        return html! {};
    }
    let all = WeightsProposal::all(log);
    section(
        "weights",
        "Weights from outside",
        html! {
            @match WeightsInForce::of(log) {
                Some(weights) => p.care { (words(&in_force(&weights))) "." },
                None => p { "The weights of the scorecard are in force." }
            }
            @if !all.is_empty() { (figure("weights-figure", &Figure::Table(proposal_table(&all)))) }
        },
    )
}

fn proposal_table(all: &[WeightsProposal]) -> Table {
    let row = |it: &WeightsProposal| {
        line([
            text(&it.id),
            text(it.status.name()),
            Cell::Text(list(&weights_of(it))),
            Cell::Text(format!("by {} at {}: {}", it.proposer, it.time, it.reason)),
            outcome(it),
        ])
    };
    let shown = match all.len() {
        0..=SHOWN => String::from("The proposals, the newest first"),
        more => format!("The newest {SHOWN} of {more} proposals"),
    };
    grid(
        format!("{shown}. Another key than that of the proposal accepts or refuses it"),
        "=proposal | state | weights | proposed | decided",
        all.iter().take(SHOWN).map(row).collect(),
    )
}

fn weights_of(proposal: &WeightsProposal) -> Vec<String> {
    proposal.weights.iter().map(|(name, weight)| format!("{name} {weight}")).collect()
}

/// Returns why the check refused a proposal, or who decided on it.
fn outcome(proposal: &WeightsProposal) -> Cell {
    if let Some(reason) = &proposal.check_refusal {
        return Cell::Text(format!("refused by the check: {reason}"));
    }
    let decided: Vec<String> = proposal.decisions.iter().map(decided_by).collect();
    if decided.is_empty() { absent("no one yet") } else { Cell::Text(list(&decided)) }
}

fn decided_by(it: &WeightsDecision) -> String {
    let what = match it.decision {
        WeightsVerdict::Accept => "accepted",
        WeightsVerdict::Refuse => "refused",
        WeightsVerdict::Revoke => "revoked",
    };
    format!("{what} by {} at {}: {}", it.decider, it.time, it.reason)
}
