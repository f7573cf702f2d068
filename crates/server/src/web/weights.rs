//! Weights from outside on the page of a scorecard: those in force, and the proposals with what became of them.

use karat::answers::WeightsVerdict;
use karat::answers::notes::in_force;
use karat::answers::weights::{WeightsDecision, WeightsInForce, WeightsProposal};
use karat::page::figure;
use karat::page::model::{Cell, Column, Figure, Kind, Row, Table};
use karat::text::list;
use karat_standing::overrides::OverrideLog;
use maud::{Markup, html};

use super::layout::words;
use crate::cards::ScorerPool;

/// The number of proposals that are shown; the API has all of them.
const SHOWN: usize = 20;

/// Shows the proposals for a scorecard; nothing for one that accepts no weights from outside.
pub fn section(pool: &ScorerPool, log: &OverrideLog) -> Markup {
    let card = &pool.card;
    if card.override_policy.is_none() {
        return html! {};
    }
    let all = WeightsProposal::all(log);
    html! {
        section aria-labelledby="weights" {
            h2 id="weights" { "Weights from outside" }
            @match WeightsInForce::of(log) {
                Some(weights) => p.care { (words(&in_force(&weights))) "." },
                None => p { "The weights of the scorecard are in force." }
            }
            @if !all.is_empty() { (figure("weights-figure", &Figure::Table(table(&all)))) }
        }
    }
}

fn table(all: &[WeightsProposal]) -> Table {
    let row = |it: &WeightsProposal| Row {
        cells: vec![
            Cell::Text(it.id.clone()),
            Cell::Text(it.status.name().to_owned()),
            Cell::Text(list(&given(it))),
            Cell::Text(format!("by {} at {}: {}", it.proposer, it.time, it.reason)),
            outcome(it),
        ],
        group: None,
    };
    let column = |label: &str, kind| Column { label: label.to_owned(), kind };
    let shown = match all.len() {
        0..=SHOWN => String::from("The proposals, the newest first"),
        more => format!("The newest {SHOWN} of {more} proposals"),
    };
    Table {
        caption: format!("{shown}. Another key than that of the proposal accepts or refuses it"),
        columns: vec![
            column("proposal", Kind::Name),
            column("state", Kind::Text),
            column("weights", Kind::Text),
            column("proposed", Kind::Text),
            column("decided", Kind::Text),
        ],
        rows: all.iter().take(SHOWN).map(row).collect(),
    }
}

fn given(proposal: &WeightsProposal) -> Vec<String> {
    proposal.weights.iter().map(|(name, weight)| format!("{name} {weight}")).collect()
}

/// Returns why the check refused a proposal, or who decided on it.
fn outcome(proposal: &WeightsProposal) -> Cell {
    if let Some(reason) = &proposal.check_refusal {
        return Cell::Text(format!("refused by the check: {reason}"));
    }
    let decided: Vec<String> = proposal.decisions.iter().map(decision).collect();
    if decided.is_empty() { Cell::Absent(String::from("no one yet")) } else { Cell::Text(list(&decided)) }
}

fn decision(it: &WeightsDecision) -> String {
    let what = match it.decision {
        WeightsVerdict::Accept => "accepted",
        WeightsVerdict::Refuse => "refused",
        WeightsVerdict::Revoke => "revoked",
    };
    format!("{what} by {} at {}: {}", it.decider, it.time, it.reason)
}
