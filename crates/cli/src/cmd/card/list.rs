//! `karat card list`: the scorecards that come with karat.

use std::io::Write as _;

use karat_core::scorecard::Scorecard;
use serde_json::json;

use crate::args::ListArgs;
use crate::cards::{EMBEDDED, library};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{FAINT, STRONG, Screen};
use karat::text::fit;

/// Prints one line per card.
pub fn run(args: &ListArgs, screen: &mut Screen) -> Result<Exit, Failure> {
    let cards: Vec<Scorecard> =
        EMBEDDED.iter().filter_map(|card| karat_checker::parse(card.text, &library).ok()).collect();
    if args.json {
        let list: Vec<_> = cards
            .iter()
            .map(|card| {
                json!({
                    "id": card.id,
                    "version": card.version,
                    "title": card.title,
                    "base": card.base,
                    "evidence": card.evidence,
                    "scored": card.family.is_none(),
                    "digest": card.digest.to_string(),
                })
            })
            .collect();
        writeln!(screen, "{}", json!(list))?;
        return Ok(Exit::Done);
    }
    let name = cards.iter().map(|card| card.name().len()).max().unwrap_or(0);
    for card in &cards {
        let kind = if card.family.is_some() { "family" } else { card.evidence.as_str() };
        let title = screen.width.saturating_sub(name + 18 + 4).max(12);
        let row = format!(
            "{STRONG}{}{STRONG:#}  {FAINT}{}{FAINT:#}  {}",
            fit(&card.name(), name),
            fit(kind, 18),
            fit(&card.title, title)
        );
        writeln!(screen, "{}", row.trim_end())?;
    }
    writeln!(screen, "\n{FAINT}`karat card show ID` shows one in full{FAINT:#}")?;
    Ok(Exit::Done)
}
