//! Notes on standings that rest on answers, in sentences.

use karat_core::scorecard::{Standing, StandingScore};

use karat_standing::shares::ShareCase;

use super::standing::Standing as Answered;
use super::tier::Certificate;
use super::weights::{WeightsInForce, WeightsState};
use crate::look_alikes;
use crate::rows::gaps::gaps;
use crate::standing::Answer;
use crate::standing::notes::{percent, untimed};
use crate::text::{Tone, clean, count};

/// Returns the notes on the standing of one subject: what limits its score or makes it less certain, what the next tier needs,
/// and what time alone will change. Under rules that are `plain` tasks count alike, and not items.
pub fn notes(standing: &Answered, plain: bool) -> Vec<(Tone, String)> {
    let held = standing.review.as_ref().and_then(|review| review.held.as_ref()).map(|held| {
        let delta = held.flags.delta.map_or_else(String::new, |delta| format!(" ({delta:+})"));
        let gating = standing.gating_points.map_or_else(|| "none".to_owned(), |points| points.to_string());
        let line = format!(
            "under review until {}: {} points{delta}; gates see {gating}",
            held.deadline, held.points
        );
        (Tone::Care, line)
    });
    let tier = standing.tier.as_ref();
    let next = tier.and_then(|tier| {
        let why = match tier.missing.as_slice() {
            [] => String::new(),
            [only] => format!("only {}", only.text),
            [first, rest @ ..] => format!("{}; and {} more", first.text, rest.len()),
        };
        Some((Tone::Plain, format!("not {}: {why}", clean(tier.next.as_ref()?))))
    });
    let states = held.or_else(|| gating(standing)).into_iter().chain(limits(standing));
    let states = states.chain(one_task(standing).filter(|_| !plain)).chain(next);
    let certificate = tier.and_then(|tier| tier.certificate.as_ref());
    states.chain(certificate.into_iter().flat_map(of_certificate)).chain(warm_up(standing)).collect()
}

/// Returns the score that gates use, if it is not the official one.
pub fn gating(standing: &Answered) -> Option<(Tone, String)> {
    let (points, gating) = standing.points.zip(standing.gating_points)?;
    (points != gating).then(|| (Tone::Care, format!("gates, tiers and shares use {gating} points, the lowest of the official, the held and the current score")))
}

/// Returns what limits the score or makes it less certain: an incident, a hold, a gate, late items.
pub fn limits(standing: &Answered) -> Vec<(Tone, String)> {
    let mut notes = Vec::new();
    if standing.incident_gate || !standing.incidents.is_empty() {
        let names: Vec<String> = standing.incidents.iter().map(|id| format!(" `{}`", clean(id))).collect();
        notes.push((Tone::Bad, format!("a critical incident is open{}", names.join(","))));
    }
    if standing.on_hold {
        notes.push((Tone::Bad, "on hold: it runs something other than it declares".to_owned()));
    }
    if let Some(gate) = standing.gate.as_ref().filter(|gate| gate.points < gate.ungated_points) {
        notes.push((Tone::Bad, format!("the gate caps {} points at {}", gate.ungated_points, gate.points)));
    }
    notes.extend(standing.items.late.map(|late| (Tone::Care, late.sentence())));
    notes
}

/// Returns a note where one task has most of the window: the items count alike, and not the tasks.
fn one_task(standing: &Answered) -> Option<(Tone, String)> {
    let (largest, items) = (standing.items.largest_task_items, standing.items.in_window);
    let tasks = count(standing.items.distinct_tasks as usize, "task");
    let line = format!(
        "{largest} of the {items} items that count are of one task, of {tasks}; items count alike, unless the card has \
         `distinct = true` in its window"
    );
    (largest > 1 && largest * 2 > items).then_some((Tone::Care, line))
}

/// Returns when a tier is reached, and when it is lost to decay.
pub(crate) fn of_certificate(certificate: &Certificate) -> Vec<(Tone, String)> {
    let from = certificate.promotion_from.as_ref();
    let from = from.map(|from| (Tone::Plain, format!("a tier up from {from} on, if it stays earned")));
    let until = certificate.at_risk_until.as_ref().map(|until| {
        (Tone::Care, format!("decay denies the tier: it is lost at {until} without fresh evidence"))
    });
    from.into_iter().chain(until).collect()
}

/// Returns the part of a new subject's score that counts, while that is not all.
pub fn warm_up(standing: &Answered) -> Option<(Tone, String)> {
    let it = standing.warm_up.as_ref().filter(|it| it.factor < 1.0)?;
    Some((Tone::Plain, format!("warm-up: {} of {} tasks seen, so it counts in part", it.seen, it.needed)))
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
    let subjects = answer.standings.subjects.iter().map(|it| it.subject.as_str());
    notes.extend(look_alikes::sentences(subjects.map(|name| (name, answer.look_alikes.of(name)))));
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
