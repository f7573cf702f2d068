//! Notes on standings, in sentences.

use karat_core::number::{BILLION, UNITS_PER_ONE};
use karat_core::scorecard::{Standing, StandingScore};
use karat_standing::shares::ShareCase;
use karat_standing::stand::SubjectStanding;

use super::Answer;
use crate::answers::weights::{WeightsInForce, WeightsState};
use crate::estimate::tenth_percent;
use crate::rows::Rows;
use crate::rows::gaps::gaps;
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

/// Returns what limits the score: a review, an incident, a hold, a gate.
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

/// Returns the notes on all subjects.
pub fn foot(answer: &Answer<'_>) -> Vec<String> {
    let mut notes = gaps(answer.rows);
    notes.extend(untimed(answer.rows, &answer.standings.without_time));
    let is_window = |rules: &Standing| rules.score == StandingScore::Window;
    let bare = answer.rows.without_score();
    if bare > 0 && answer.card.standing.as_ref().is_some_and(is_window) {
        notes.push(format!("not counted for want of a score: {}", count(bare, "item")));
    }
    let cap = answer.card.standing.as_ref().and_then(|rules: &Standing| rules.shares);
    if let Some((shared, policy)) = answer.standings.shared.zip(cap) {
        let cap = policy.rules.cap;
        notes.extend(match shared.case {
            ShareCase::NothingToShare => Some("no score is above 0, so there is nothing to share".to_owned()),
            ShareCase::Proportional => None,
            ShareCase::Redistributed => {
                Some(format!("{} at the cap of {cap}", count(shared.capped, "subject")))
            }
            ShareCase::CapRaised => Some(format!(
                "a cap of {cap} is too low for {}: it was raised, and all with a score get the same",
                count(shared.positive, "subject")
            )),
            ShareCase::RestLeft => Some(format!(
                "a cap of {cap} is too low for {}: {} of the whole is left over",
                count(shared.positive, "subject"),
                percent(shared.unassigned.units())
            )),
        });
    }
    let state = WeightsState::of(&answer.standings.overrides);
    notes.extend(state.iter().flat_map(of_weights));
    let weights = answer.standings.override_refusals.iter().map(|(at, why)| (*at, why.to_string()));
    let reviews = answer.standings.subjects.iter().filter_map(|subject| subject.review.as_ref());
    let reviews = reviews.flat_map(|review| review.refusals.iter().map(|(at, why)| (*at, why.to_string())));
    for (at, why) in weights.chain(reviews) {
        let line = answer.events.lines.get(at).copied().unwrap_or_default();
        notes.push(format!("line {line} of the events: {}", clean(&why)));
    }
    if answer.standings.events_after > 0 {
        let number = answer.standings.events_after as usize;
        notes.push(format!("{} after this time left out", count(number, "event")));
    }
    notes
}

/// Returns a sentence on the weights from outside that are in force, and on each proposal that the check refused.
pub fn of_weights(state: &WeightsState) -> Vec<String> {
    let refused = state.refused.iter().map(|refused| {
        format!("the weights `{}` are refused: {}", clean(&refused.id), clean(&refused.reason))
    });
    state.in_force.iter().map(in_force).chain(refused).collect()
}

/// Names the weights from outside that are in force.
pub fn in_force(weights: &WeightsInForce) -> String {
    let WeightsInForce { id, proposer, accepted_by, since, .. } = weights;
    format!(
        "the weights `{}` are in force since {since}, proposed by {}, accepted by {}",
        clean(id),
        clean(proposer),
        clean(accepted_by)
    )
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
