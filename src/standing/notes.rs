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

/// Says for which items without a time their subjects have no score; None without such an item.
pub(crate) fn untimed(rows: &Rows, places: &[usize]) -> Option<String> {
    let names = places.iter().filter_map(|place| Some(rows.id(rows.rows.get(*place)?)));
    (!places.is_empty()).then(|| without_time(places.len(), names))
}

/// Says that there is no official score for want of the times of a number of items, by the ids of the first.
pub(crate) fn without_time<'i>(items: usize, ids: impl Iterator<Item = &'i str>) -> String {
    const NAMED: usize = 3;
    let names: Vec<String> = ids.take(NAMED).map(|id| format!("`{}`", clean(id))).collect();
    let more = items.saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "no official score of a subject with items without a time, as the card follows time or order: {}, {}{more}; give them a \
         `time`, or take the mean of runs (--by mean)",
        count(items, "item"),
        names.join(", ")
    )
}

/// Formats a share in units of 1e-15.
pub(crate) fn percent(units: i64) -> String {
    tenth_percent(units as f64 / UNITS_PER_ONE as f64)
}
