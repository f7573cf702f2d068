//! Scorecards for people: all of them, and one with its weights, those from outside, the conditions that hold a score back, and the
//! findings of the checker.

use axum::http::Uri;
use karat::answers::WeightsVerdict;
use karat::answers::notes::in_force;
use karat::answers::weights::{WeightsDecision, WeightsInForce, WeightsProposal};
use karat::card::words::{ladder, standing_rules};
use karat::document::what_if::FIELD;
use karat::document::{self, Part};
use karat::headline;
use karat::text::list;
use karat::text::whole_percent;
use karat::write::html::parts;
use karat_core::diagnostic::Diagnostic;
use karat_standing::overrides::OverrideLog;

use super::items;
use super::layout::*;
use crate::prelude::*;

pub async fn show_all(Get(app, caller): Get) -> Answer {
    let used = items::used_cards(&app).await?.into_iter();
    let used: BTreeMap<String, usize> = used.map(|(pool, records)| (pool.name(), records)).collect();
    let cards = app.memory.cards();
    let row = |pool: &Arc<ScorerPool>| {
        let (card, name) = (&pool.card, pool.name());
        let records = used.get(&name).copied().unwrap_or(0);
        let what = match (&card.family, &card.base) {
            (Some(_), _) => String::from("family of challenges"),
            (None, Some(base)) => format!("challenge of {base}"),
            (None, None) => String::from("scorecard"),
        };
        let from = if card.is_released() { "karat" } else { "published here" };
        let name = link(&name, address::scorecard(&name));
        line([name, text(&card.title), text(what), text(&card.evidence), text(from), text(records)])
    };
    let columns = "=scorecard | what for | kind | evidence | from | #records";
    let table = grid("Those with scores are in use here", columns, cards.iter().map(row).collect());
    drop(cards);
    let title = match (used.len(), table.rows.len()) {
        (0, all) => format!("{all} scorecards, none with scores yet"),
        (used, all) => format!("{used} of {all} scorecards have scores"),
    };
    let lead = "A scorecard says which facts it reads, how much each dimension weighs, and what caps a score. A released one never \
                changes: a change is a new version.";
    Ok(Sheet { title: &title, part: "/scorecards", caller: Some(&caller) }.answer(html! {
        (heading(&[("/", "Home")], &title, lead))
        (figure("cards", &table))
        p { "Publish one of your own: " a href="/api#publish_scorecard" { code { "POST /v1/scorecards" } } ", with the key of an administrator." }
        (acts(&[(String::from("/v1/scorecards"), "JSON")]))
    }))
}

pub async fn show(
    Get(app, caller): Get,
    uri: Uri,
    Named(name): Named<String>,
    Params(asked): Params<BTreeMap<String, String>>,
) -> Answer {
    let pool = app.memory.cards().find(&name)?;
    let path = address::scorecard(&pool.name());
    if let Some(other) = asked.keys().next() {
        // Weights on trial had this address once.
        if asked.keys().all(|name| name.starts_with(FIELD)) {
            return see_other(&format!("{path}/what-if?{}", uri.query().unwrap_or_default()));
        }
        let why = "there are no fields; weights on trial have their own page";
        let detail = format!("unknown field `{}`, {why}", other.escape_debug());
        return Err(Problem::new(Code::BadRequest, detail).at("query"));
    }
    let (told, name) = (headline::card(&pool.card), pool.name());
    let proposed = proposals(&pool, &app.memory.weights().now(&pool));
    let (shared, card) = (Arc::clone(&app), Arc::clone(&pool));
    // As long as a scorecard is: it is checked, and put into words.
    let drawn = app.checked(move || {
        let found = shared.memory.cards().check(card.card.text()).diagnostics;
        Ok((rules(&card), behind(&card, &found)))
    });
    let (rules, behind) = drawn.await?;
    let from = if pool.card.is_released() { "comes with karat" } else { "published here" };
    Ok(Sheet { title: &told.text, part: "/scorecards", caller: Some(&caller) }.answer(html! {
        (above(&[("/scorecards", "Scorecards")], html! { span { (&name) } span { (from) } }))
        (heading(&[], &told.text, &told.lead.join(" ")))
        (rules)
        (proposed)
        (behind)
        (acts(&[
            (address::query("/leaderboards", &[("card", &name)]), "Leaderboard"),
            (format!("{path}/what-if"), "Other weights"),
            (format!("/v1{path}"), "JSON"),
            (format!("/v1{path}/text"), "TOML"),
        ]))
    }))
}

/// Shows the scorecard: what counts how much, what each tier needs, how a standing is made, and then all of it in full.
fn rules(pool: &ScorerPool) -> Markup {
    let card = &pool.card;
    let mut document = document::card(card);
    let mut is_left_out = false;
    // They are shown apart.
    document.parts.retain(|part| {
        if let Part::Heading(heading) = part {
            is_left_out = matches!(heading.as_str(), "Tiers" | "Standing");
        }
        !is_left_out
    });
    let weights = headline::weights(card);
    let rules = standing_rules(card);
    let rules: Vec<_> = rules.iter().map(|(topic, said)| line([text(topic), text(said)])).collect();
    html! {
        @if weights.len() > 1 {
            (parts(&weights))
            p.s { @for (at, (label, share)) in weights.iter().enumerate() { @if at > 0 { ", " } (label) " " b { (whole_percent(*share)) } } }
        }
        ul.sentences { @for line in &document.lines { li { (with_capital(line)) } } }
        @if !card.tiers.is_empty() {
            (section("tiers", "What each tier needs", html! {
                ul.ladder {
                    @for (name, score, needs) in ladder(card) {
                        li {
                            h3 { span { (name) } span { "from " (score) } }
                            ul { @for need in needs { li { (need) } } }
                        }
                    }
                }
            }))
        }
        @if !rules.is_empty() {
            (table_section("standing", "How many scores become an official one", grid("", "=rule | &in words", rules)))
        }
        (body("part", &document))
    }
}

/// Shows what the checker finds, an allowed finding with its reason, and the file.
fn behind(pool: &ScorerPool, found: &[Diagnostic]) -> Markup {
    html! {
        (section("checked", "What the checker finds", html! {
            @if found.is_empty() { p { "The checker finds nothing." } }
            ul.sentences {
                @for it in found {
                    li {
                        b { (it.severity.name()) " " (it.code.as_str()) } ": " (words(&it.message))
                        @if !it.help.is_empty() { "; " (words(&it.help)) }
                    }
                }
            }
        }))
        (section("file", "The file", html! {
            details { summary { "Show the TOML" } pre tabindex="0" { code { (pool.card.text()) } } }
            p { "Its digest: " code { (pool.card.digest) } }
        }))
    }
}

/// The number of proposals that are shown; the API has all of them.
const SHOWN: usize = 20;

/// Shows the proposals for a scorecard; nothing for one that accepts no weights from outside.
fn proposals(pool: &ScorerPool, log: &OverrideLog) -> Markup {
    if pool.card.override_policy.is_none() {
        return html! {};
    }
    let all = WeightsProposal::all(log);
    let content = html! {
        @match WeightsInForce::of(log) {
            Some(weights) => p.care { (words(&in_force(&weights))) "." },
            None => p { "The weights of the scorecard are in force." }
        }
        @if !all.is_empty() { (figure("weights-figure", &proposal_table(&all))) }
    };
    section("weights", "Weights from outside", content)
}

fn proposal_table(all: &[WeightsProposal]) -> Table {
    let rows = all.iter().take(SHOWN).map(|it| {
        let weights: Vec<_> = it.weights.iter().map(|(name, weight)| format!("{name} {weight}")).collect();
        let proposed = format!("by {} at {}: {}", it.proposer, it.time, it.reason);
        line([text(&it.id), text(it.status.name()), text(list(&weights)), text(proposed), outcome(it)])
    });
    let shown = match all.len() {
        0..=SHOWN => String::from("The proposals, the newest first"),
        more => format!("The newest {SHOWN} of {more} proposals"),
    };
    let caption = format!("{shown}. Another key than that of the proposal accepts or refuses it");
    grid(caption, "=proposal | state | weights | proposed | decided", rows.collect())
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
