//! Notes on standings that rest on answers, in sentences.

use karat_core::scorecard::{Standing, StandingScore};

use karat_standing::shares::ShareCase;

use super::weights::{WeightsInForce, WeightsState};
use crate::look_alikes;
use crate::rows::gaps::gaps;
use crate::standing::Answer;
use crate::standing::notes::{percent, untimed};
use crate::text::{clean, count};

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
