//! Notes on standings, in sentences.

use karat_core::number::UNITS_PER_ONE;

use crate::estimate::tenth_percent;
use crate::rows::Rows;
use crate::text::{clean, count};

/// Says that items arrived late: `3 items arrived more than 7 days after they took place`.
pub(crate) fn late(items: u64, excluded: u64, after_seconds: u32) -> String {
    let days = count((after_seconds / 86_400) as usize, "day");
    let they = if items == 1 { "it" } else { "they" };
    let excluded = if excluded > 0 { format!("; {excluded} left out for it") } else { String::new() };
    format!("{} arrived more than {days} after {they} took place{excluded}", count(items as usize, "item"))
}

/// The reason why a subject has no official score, and the remedies.
pub(crate) const UNTIMED: &str = "items of it have no time and the card follows time or order (give them a `time`, or rank by the mean of runs, --by mean)";

/// Names the items without a time for which their subjects have no score; None without such an item.
pub(crate) fn untimed(rows: &Rows, places: &[usize]) -> Option<String> {
    const NAMED: usize = 3;
    let names =
        places.iter().filter_map(|place| Some(format!("`{}`", clean(rows.id(rows.rows.get(*place)?)))));
    let names: Vec<String> = names.take(NAMED).collect();
    let more = places.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let items = count(places.len(), "item");
    (!places.is_empty())
        .then(|| format!("no official score, as {UNTIMED}: {items}, {}{more}", names.join(", ")))
}

/// Formats a share in units of 1e-15.
pub(crate) fn percent(units: i64) -> String {
    tenth_percent(units as f64 / UNITS_PER_ONE as f64)
}
