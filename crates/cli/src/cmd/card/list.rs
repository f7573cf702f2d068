//! `karat card list`: the scorecards that come with karat.

use karat::document::{Cell, Column, Document, Part, Row, Table};
use karat_core::scorecard::Scorecard;
use karat_terminal::cards::{EMBEDDED, library};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::{Chosen, show};
use karat_terminal::output::Color;
use serde_json::{Value, json};

use crate::args::ListArgs;

/// Shows a row for each card.
pub fn run(args: &ListArgs, color: Color) -> Result<Exit, Failure> {
    let cards: Vec<Scorecard> =
        EMBEDDED.iter().filter_map(|card| karat_checker::parse(card.text, &library).ok()).collect();
    let list = cards.iter().map(|card| {
        json!({
            "id": card.id,
            "version": card.version,
            "title": card.title,
            "base": card.base,
            "evidence": card.evidence,
            "scored": card.family.is_none(),
            "digest": card.digest.to_string(),
        })
    });
    let row = |card: &Scorecard| {
        let kind = if card.family.is_some() { "family" } else { card.evidence.as_str() };
        let cells = [card.name(), kind.to_owned(), card.title.clone()].map(Cell::Text);
        Row::from(cells.to_vec())
    };
    let columns = vec![Column::name("scorecard"), Column::text("evidence"), Column::text("title")];
    let document = Document {
        name: "card",
        title: String::from("Scorecards that come with karat"),
        lines: vec![String::from("`karat card show ID` shows one in full")],
        parts: vec![Part::Table(Table::new("", columns, cards.iter().map(row).collect()))],
        ..Document::default()
    };
    let chosen = args.format.chosen_or(Chosen::Screen)?;
    show(&list.collect::<Vec<Value>>(), &document, chosen, (usize::MAX, ""), color)?;
    Ok(Exit::Done)
}
