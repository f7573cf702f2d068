//! Notes on standings, in sentences.

use karat_core::number::{BILLION, UNITS_PER_ONE};
use karat_standing::stand::SubjectStanding;

use crate::estimate::tenth_percent;
use crate::rows::Rows;
use crate::standing::written;
use crate::text::{Tone, clean, count};

/// Returns the notes on one subject.
pub fn notes(standing: &SubjectStanding) -> Vec<(Tone, String)> {
    let next = standing.tier.as_ref().and_then(|tier| Some((tier, tier.earned.next.as_ref()?)));
    let next = next.map(|(tier, next)| {
        let missing: Vec<String> = tier.earned.missing.iter().map(ToString::to_string).collect();
        let why = match missing.as_slice() {
            [only] => format!("only {only}"),
            [first, rest @ ..] => format!("{first}; and {} more", rest.len()),
            [] => String::new(),
        };
        (Tone::Plain, format!("not {}: {why}", clean(next)))
    });
    let states = states(standing).into_iter().chain(one_task(standing));
    states.chain(next).chain(changes_ahead(standing)).collect()
}

/// Returns a note where one task has most of the window: the items count alike, and not the tasks.
fn one_task(standing: &SubjectStanding) -> Option<(Tone, String)> {
    let counts = &standing.counts;
    let (largest, items) = (counts.largest_task_items, counts.in_window);
    let is_most = largest > 1 && largest * 2 > items;
    let tasks = count(counts.distinct_tasks as usize, "task");
    is_most.then(|| {
        (
            Tone::Care,
            format!(
                "{largest} of the {items} items that count are of one task, of {tasks}; items count alike, unless the card has \
                 `distinct = true` in its window"
            ),
        )
    })
}

/// Returns what limits the score or makes it less certain: a review, an incident, a hold, a gate, late items.
pub fn states(standing: &SubjectStanding) -> Vec<(Tone, String)> {
    let mut notes = Vec::new();
    let held = standing.review.as_ref().and_then(|review| review.history.held.as_ref());
    if let Some(held) = held {
        let delta = held.flags.delta.map_or(String::new(), |delta| format!(" ({delta:+})"));
        notes.push((
            Tone::Care,
            format!(
                "under review until {}: {} points{delta}; gates see {}",
                written(held.deadline_seconds),
                held.candidate.points,
                standing.gating_points.map_or_else(|| "none".to_owned(), |points| points.to_string())
            ),
        ));
    } else if let Some((points, gating)) = standing.points.zip(standing.gating_points)
        && gating < points
    {
        notes.push((Tone::Care, format!("gates see {gating} points")));
    }
    if standing.has_incident_gate || !standing.incidents.is_empty() {
        let names: Vec<String> = standing.incidents.iter().map(|id| format!(" `{}`", clean(id))).collect();
        notes.push((Tone::Bad, format!("a critical incident is open{}", names.join(","))));
    }
    if standing.is_on_hold {
        notes.push((Tone::Bad, "on hold".to_owned()));
    }
    if let Some(gated) = standing.gated.filter(|gated| gated.points < gated.ungated_points) {
        notes.push((Tone::Bad, format!("the gate caps {} points at {}", gated.ungated_points, gated.points)));
    }
    let counts = &standing.counts;
    if counts.late > 0 {
        notes.push((Tone::Care, late(counts.late, counts.late_excluded, counts.late_after_seconds)));
    }
    notes
}

/// Returns what time alone will change: a tier that is confirmed or lost, a share that counts in part.
pub fn changes_ahead(standing: &SubjectStanding) -> Vec<(Tone, String)> {
    let mut notes = Vec::new();
    if let Some(tier) = &standing.tier {
        let from = tier.certificate.as_ref().and_then(|(_, shown)| shown.promotion_from_seconds);
        notes.extend(
            from.map(|from| {
                (Tone::Plain, format!("a tier up from {} on, if it stays earned", written(from)))
            }),
        );
        let until = tier.certificate.as_ref().and_then(|(_, shown)| shown.at_risk_until_seconds);
        notes.extend(
            until.map(|until| (Tone::Care, format!("the tier is lost to decay at {}", written(until)))),
        );
    }
    if let Some(warm_up) = standing.warm_up.filter(|it| it.factor < BILLION) {
        notes.push((Tone::Plain, format!("warm-up: {} of {} tasks seen", warm_up.seen, warm_up.needed)));
    }
    notes
}

/// Says that items arrived late: `3 items arrived more than 7 days after they took place`.
pub fn late(items: u64, excluded: u64, after_seconds: u32) -> String {
    let days = count((after_seconds / 86_400) as usize, "day");
    let they = if items == 1 { "it" } else { "they" };
    let excluded = if excluded > 0 { format!("; {excluded} left out for it") } else { String::new() };
    format!("{} arrived more than {days} after {they} took place{excluded}", count(items as usize, "item"))
}

/// Names the items that are left out because they have no time; None if all have one.
pub fn untimed(rows: &Rows, places: &[usize]) -> Option<String> {
    let names = places.iter().filter_map(|place| Some(rows.id(rows.rows.get(*place)?)));
    (!places.is_empty()).then(|| left_out(places.len(), names))
}

/// Names `items` items that are left out because they have no time, by the ids of the first.
pub(crate) fn left_out<'i>(items: usize, ids: impl Iterator<Item = &'i str>) -> String {
    const NAMED: usize = 3;
    let names: Vec<String> = ids.take(NAMED).map(|id| format!("`{}`", clean(id))).collect();
    let more = items.saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("left out for want of a time: {}, {}{more}", count(items, "item"), names.join(", "))
}

/// Formats a share in units of 1e-15.
pub fn percent(units: i64) -> String {
    tenth_percent(units as f64 / UNITS_PER_ONE as f64)
}
