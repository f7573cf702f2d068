//! Scorecards for people: all of them, and one with its weights, those from outside, the conditions that hold a score back, and the
//! findings of the checker.

use karat::answers::WeightsVerdict;
use karat::answers::notes::in_force;
use karat::answers::weights::{WeightsDecision, WeightsInForce, WeightsProposal};
use karat::document;
use karat::text::list;
use karat_core::diagnostic::Diagnostic;
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
        (figure("cards", &table))
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
    Ok(Sheet { title: &title, part: "/scorecards", caller: Some(&caller) }.answer_computing(html! {
        (heading(&[("/scorecards", "Scorecards")], &title, &lead))
        (above)
        (proposed)
        (what_if)
        (below)
    }))
}

/// Shows the scorecard, and where it comes from.
fn rules(pool: &ScorerPool) -> Markup {
    let document = document::card(&pool.card);
    html! {
        ul.sentences { @for line in &document.lines { li { (line) } } }
        dl.about {
            @for (label, value) in &document.about { div { dt { (label) } dd { (value) } } }
            div { dt { "from" } dd { @if pool.card.is_released() { "karat" } @else { "published here" } } }
        }
        (body("part", &document))
    }
}

/// Shows what the checker finds, and the file.
fn behind(pool: &ScorerPool, found: &[Diagnostic]) -> Markup {
    html! {
        (checked(found))
        section aria-labelledby="file" {
            h2 id="file" { "The file" }
            details { summary { "Show the TOML" } pre tabindex="0" { code { (pool.card.text()) } } }
        }
    }
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
            @if !all.is_empty() { (figure("weights-figure", &proposal_table(&all))) }
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
