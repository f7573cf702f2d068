//! The tiers of a subject with everything that they ask, and the moment at which time alone takes each of them.

use alloc::vec;
use alloc::vec::Vec;

use super::fold::Fold;
use super::series::View;
use crate::review::Event;
use crate::tiers::{Requirement, Rung, TierFacts, ladder};

/// The last second of the year 9999: later moments are not written.
const END_SECONDS: i64 = 253_402_300_799;

/// The events so far, and the first and last moment at which nothing else has.
struct Stretch<'f> {
    fold: &'f Fold,
    from_seconds: i64,
    to_seconds: i64,
}

impl Fold {
    /// Returns every tier with what it asks of `facts`, those of a moment up to which time has passed. Without `is_known` there
    /// are items that will become known later, so nothing is said of what lies ahead.
    pub(super) fn ladder(
        &self,
        view: View<'_>,
        at_seconds: i64,
        facts: &TierFacts,
        is_known: bool,
    ) -> Vec<Rung> {
        let mut rungs = ladder(&view.rules.tiers, facts);
        if !is_known || at_seconds >= END_SECONDS {
            return rungs;
        }
        let deadline_seconds = self.history.held.as_ref().map(|held| held.deadline_seconds);
        // Without another event, a deadline is all that can happen.
        let after = deadline_seconds.map(|deadline| {
            let mut after = self.clone();
            after.happen(view, Event::Passed { at_seconds: deadline.saturating_add(1) }, None);
            after
        });
        let to_seconds = deadline_seconds.unwrap_or(END_SECONDS);
        let mut stretches = vec![Stretch { fold: self, from_seconds: at_seconds, to_seconds }];
        stretches.extend(after.as_ref().map(|fold| Stretch {
            fold,
            from_seconds: to_seconds.saturating_add(1),
            to_seconds: END_SECONDS,
        }));
        // Once an item leaves the window, what is known of those that stay is not enough.
        let leaves = self.evidence.iter().filter_map(|summary| summary.until_seconds).min();
        let of_window = leaves.map_or(END_SECONDS, |leaves| leaves.saturating_sub(1).max(at_seconds));
        for (is_of_window, end_seconds) in [(true, of_window), (false, END_SECONDS)] {
            let mut open: Vec<(usize, usize)> = Vec::new();
            for (rung, at) in rungs.iter().zip(0..) {
                let asked = rung.conditions.iter().zip(0..);
                let own = asked
                    .filter(|((it, _), _)| it.is_met && is_of_window == rests_on_window(&it.requirement));
                open.extend(own.map(|(_, place)| (at, place)));
            }
            for stretch in &stretches {
                let ahead = Ahead { view, fold: stretch.fold };
                let (from, to) = (stretch.from_seconds, stretch.to_seconds.min(end_seconds));
                if open.is_empty() || from > to {
                    break;
                }
                let (met, lost) = ahead.split(from, open);
                lost.iter().for_each(|place| lapse(&mut rungs, *place, from));
                let (met, lost) = ahead.split(to, met);
                ahead.narrow(from, to, lost, &mut rungs);
                open = met;
            }
        }
        rungs
    }
}

/// A state that time alone changes.
struct Ahead<'v> {
    view: View<'v>,
    fold: &'v Fold,
}

/// Conditions by the places of tier and condition.
type Places = Vec<(usize, usize)>;

impl Ahead<'_> {
    /// Divides conditions into those that are met at a moment and the others.
    fn split(&self, at_seconds: i64, places: Places) -> (Places, Places) {
        if places.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let rungs = ladder(&self.view.rules.tiers, &self.fold.facts(self.view, at_seconds));
        let is_met = |(rung, place): &(usize, usize)| {
            rungs.get(*rung).and_then(|rung| rung.conditions.get(*place)).is_some_and(|(it, _)| it.is_met)
        };
        places.into_iter().partition(is_met)
    }

    /// Finds the first moment without each of these conditions: they are met at `from` and not at `to`, and time gives nothing
    /// back.
    fn narrow(&self, from: i64, to: i64, places: Places, rungs: &mut [Rung]) {
        if places.is_empty() {
            return;
        }
        if to - from <= 1 {
            places.iter().for_each(|place| lapse(rungs, *place, to));
            return;
        }
        let middle = from + (to - from) / 2;
        let (later, earlier) = self.split(middle, places);
        self.narrow(from, middle, earlier, rungs);
        self.narrow(middle, to, later, rungs);
    }
}

fn lapse(rungs: &mut [Rung], (rung, place): (usize, usize), at_seconds: i64) {
    if let Some((_, until)) = rungs.get_mut(rung).and_then(|rung| rung.conditions.get_mut(place)) {
        *until = Some(at_seconds);
    }
}

/// Returns true if what is found follows from the items in the window, and not from all that are known.
const fn rests_on_window(requirement: &Requirement) -> bool {
    !matches!(
        requirement,
        Requirement::Evaluations
            | Requirement::DistinctDays
            | Requirement::IndependentRunners
            | Requirement::Freshness
    )
}
