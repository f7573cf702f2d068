//! All scorecards: their purposes, and the number of records of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use karat::page::figure;
use karat::page::model::{Cell, Column, Figure, Kind, Row, Table};
use maud::html;

use super::layout::{Sheet, heading};
use super::{address, items};
use crate::params::{Answer, Get};

/// Shows the page.
pub async fn show(Get(app, caller): Get) -> Answer {
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
            Cell::Text(card.title.clone()),
            Cell::Text(what),
            Cell::Text(card.evidence.clone()),
            Cell::Text(String::from(if pool.card.is_released() { "karat" } else { "published here" })),
            Cell::Text(records.to_string()),
        ];
        Row { cells, group: None }
    };
    let column = |label: &str, kind| Column { label: label.to_owned(), kind };
    let table = Table {
        caption: String::from("A released scorecard never changes: a change is a new version"),
        columns: vec![
            column("scorecard", Kind::Name),
            column("what for", Kind::Text),
            column("kind", Kind::Text),
            column("evidence", Kind::Text),
            column("from", Kind::Text),
            column("records", Kind::Number),
        ],
        rows: cards.iter().map(row).collect(),
    };
    drop(cards);
    let sheet = Sheet { title: "Scorecards", part: "/scorecards", caller: Some(&caller) };
    Ok(sheet.answer(html! {
        (heading(&[], "Scorecards", "A scorecard says which facts it reads, how much each dimension weighs, and what caps a score."))
        (figure("cards", &Figure::Table(table)))
        p { "A scorecard is published with " code { "POST /v1/scorecards" } " and a key with the scope " code { "admin" } "." }
    }))
}
