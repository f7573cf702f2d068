//! Requirements of tiers: as a table, and as a ladder.

use super::figure::Rung;
use super::standing::number;
use super::{Cell, Column, Row, Table};
use crate::answers::tier::{TierRequirement, TierRung};

/// The caption of the table.
pub(super) const TIERS: &str = "Tiers";

/// Returns everything that each tier asks, the highest first.
pub(super) fn tiers(rungs: &[TierRung]) -> Table {
    let row = |(rung, it): (&TierRung, &TierRequirement)| -> Row {
        let value = |value: Option<f64>| Cell::of_number(value.filter(|_| it.requirement != "gate"), number);
        vec![
            Cell::text(&rung.tier),
            Cell::text(&it.requirement),
            value(Some(it.needed)),
            value(it.found),
            Cell::Flag(it.is_met),
            Cell::of_text(it.until.clone()),
        ]
        .into()
    };
    let columns = vec![
        Column::name("tier"),
        Column::text("requirement"),
        Column::number("needed"),
        Column::number("found"),
        Column::text("met"),
        Column::text("until"),
    ];
    let rows = rungs.iter().rev().flat_map(|rung| rung.requirements.iter().map(move |it| (rung, it)));
    Table { is_detail: true, ..Table::new(TIERS, columns, rows.map(row).collect()) }
}

/// Returns the tiers as a ladder, the highest first: what is missing as a sentence, what is met with the time that it lasts.
pub(super) fn ladder(held: Option<&str>, rungs: &[TierRung]) -> Vec<Rung> {
    let ask = |it: &TierRequirement| {
        let until = it.until.as_ref().map_or_else(String::new, |until| format!(", until {until}"));
        let text = match (it.requirement.as_str(), it.found) {
            ("gate" | "newest_batch_seconds", _) | (_, None) => it.text.clone(),
            _ if !it.is_met => it.text.clone(),
            (what, Some(_)) if it.needed <= 0.0 => format!("{} measured", what.replace('_', " ")),
            (what, Some(found)) => {
                let found = (found * 1e3 + 1e-6).floor() / 1e3;
                format!("{} {found}, needs {}", what.replace('_', " "), number(it.needed))
            }
        };
        (it.is_met, format!("{text}{until}"))
    };
    let rung = |it: &TierRung| Rung {
        name: it.tier.clone(),
        is_held: held == Some(it.tier.as_str()),
        asks: it.requirements.iter().map(ask).collect(),
    };
    rungs.iter().rev().map(rung).collect()
}
