//! The headlines of standings: where a subject stands, what holds it there, and what the next tier needs.

use super::{Headline, counted, day, name};
use crate::answers::review::ReviewTransition;
use crate::answers::standing::Standing;
use crate::answers::{IntervalOf, ReviewState};
use crate::estimate::{Writing, percent, plain};

/// The most requirements of a tier that are listed.
const NAMED: usize = 3;

/// Returns the headline of the standings of several subjects; of one its own.
pub fn standings(all: &[Standing]) -> Headline {
    let [first, ..] = all else { return Headline::new("No subject has a standing") };
    if all.len() == 1 {
        return standing(first);
    }
    let scored = all.iter().filter(|it| it.points.is_some()).count();
    let held = all.iter().filter(|it| it.review.as_ref().is_some_and(|it| it.held.is_some())).count();
    let text = format!("{scored} of {} have an official score", counted(all.len() as u64, "subject"));
    let waiting = match held {
        0 => String::new(),
        1 => String::from("One has a newer score that waits for a decision"),
        held => format!("{held} have a newer score that waits for a decision"),
    };
    Headline::new(text).and([waiting])
}

/// Returns the headline of a standing.
pub fn standing(it: &Standing) -> Headline {
    let own = name(&it.subject);
    let Some(points) = it.points else {
        return Headline::new(format!("{own} has no official score yet")).and(next(it));
    };
    let points = plain(points);
    let review = it.review.as_ref();
    let tier = it.tier.as_ref().and_then(|tier| tier.held.as_deref());
    let text = if it.on_hold {
        format!("{own} is on hold at {points}")
    } else if let Some(held) = review.and_then(|it| it.held.as_ref()) {
        let change = if held.flags.delta.is_some_and(|by| by < 0) { "fall" } else { "rise" };
        format!("{own} keeps {points} while a {change} to {} is reviewed", held.points)
    } else if let Some(line) = rejected(it) {
        let change = if line.flags.delta.is_some_and(|by| by < 0) { "fall" } else { "jump" };
        format!("{own} stands at {points}: its {change} to {} was rejected", line.points)
    } else if it.incident_gate || !it.incidents.is_empty() {
        format!("{own} stands at {points}, with an incident open")
    } else if let Some(gate) = it.gate.as_ref().filter(|gate| gate.points < gate.ungated_points) {
        format!("{own} stands at {points}: a gate caps {}", plain(gate.ungated_points))
    } else if let Some(tier) = tier {
        format!("{own} holds {tier} with {points} of {}", it.scale)
    } else {
        format!("{own} stands at {points} of {}", it.scale)
    };
    Headline::new(text).and(reason(it)).and(until(it)).and(sure(it)).and(gating(it)).and(next(it))
}

/// Says which score decides tiers, if it is not the official one.
fn gating(it: &Standing) -> Option<String> {
    let points = it.gating_points.filter(|points| it.tier.is_some() && it.points != Some(*points))?;
    Some(format!("Tiers use {}, the lowest of its official, held and current scores", plain(points)))
}

/// Returns the newest score that was not accepted at once, if a reviewer rejected it and nothing came after.
fn rejected(it: &Standing) -> Option<&ReviewTransition> {
    let last = it.review.as_ref()?.transitions.last()?;
    (last.state == ReviewState::Rejected).then_some(last)
}

/// Says who rejected it, and why.
fn reason(it: &Standing) -> Option<String> {
    let decision = rejected(it)?.decisions.last()?;
    Some(format!("{} on {}: {}", name(&decision.reviewer), day(&decision.time), decision.reason))
}

/// Says when a score that is held stops waiting.
fn until(it: &Standing) -> Option<String> {
    let held = it.review.as_ref()?.held.as_ref()?;
    Some(format!("A reviewer has until {} to decide", day(&held.deadline)))
}

/// Says how sure the score is.
fn sure(it: &Standing) -> Option<String> {
    let Some(found) = &it.interval else {
        return it
            .interval_of
            .and_then(IntervalOf::without)
            .map(|why| format!("There is no interval: {why}"));
    };
    let whose = if it.interval_of == Some(IntervalOf::Candidate) { ", of the newer score" } else { "" };
    let ends = Writing::points(it.scale).ends(Some((found.low, found.high)));
    let of = counted(found.tasks, "task");
    Some(format!("{} interval {ends} over {of}{whose}", percent(found.level)))
}

/// Says what the next tier needs.
fn next(it: &Standing) -> Option<String> {
    let tier = it.tier.as_ref()?;
    let next = tier.next.as_ref();
    match (next, tier.missing.as_slice()) {
        (None, _) => Some(String::from("There is no higher tier")),
        (Some(_), []) => None,
        (Some(next), [only]) => Some(format!("One thing is in the way of {next}: {}", only.text)),
        (Some(next), all) => {
            let listed: Vec<&str> = all.iter().take(NAMED).map(|it| it.text.as_str()).collect();
            let more = if all.len() > NAMED { ", first of all" } else { "" };
            Some(format!("{} things are in the way of {next}{more}: {}", all.len(), listed.join("; ")))
        }
    }
}
