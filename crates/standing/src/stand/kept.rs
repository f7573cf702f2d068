//! The state of a subject after all its items and events, from which its standing follows at any later moment without them.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::fold::Fold;
use super::input::{Counted, Event, Item, StandError, order};
use super::replay::Run;
use super::series::{Series, View, Weights};
use super::value::SubjectStanding;
use super::weights;
use karat_core::scorecard::Scorecard;

/// The fold over the log of one subject.
#[derive(Debug, Clone)]
pub struct Kept {
    fold: Fold,
    weights: Arc<Weights>,
    /// The moment of the newest item or event; the last of all where items have no time.
    last_seconds: i64,
    /// The first moment at which something else counts, as far as it is known.
    until_seconds: Option<i64>,
}

/// Returns the state of every subject after the items and events up to `as_of_seconds`, by name.
///
/// # Errors
/// As [`stand`](super::stand).
pub fn keep(
    card: &Scorecard,
    items: &[Item<'_>],
    events: &[Event],
    as_of_seconds: i64,
) -> Result<Vec<Kept>, Vec<StandError>> {
    let Some(rules) = &card.standing else { return Err(alloc::vec![StandError::NoSection(card.name())]) };
    let ordered = order(card, rules, items, events, as_of_seconds)?;
    let (_, weights, _) = weights(card, &ordered);
    let weights = Arc::new(weights);
    let view = View { card, rules, weights: &weights, has_ladder: false };
    let times = items.iter().filter_map(|item| item.time_seconds);
    let later = times.chain(events.iter().filter_map(Event::at_seconds)).filter(|at| *at > as_of_seconds);
    let next_seconds = later.min().filter(|_| !ordered.by_id);
    let mut kept = Vec::new();
    for (subject, own) in &ordered.subjects {
        let mut run = Run::new(view, subject, own, as_of_seconds);
        let moments = run.moments();
        let last_seconds = moments.last().copied().unwrap_or(i64::MIN);
        // Without a past that counts, the last moment takes in all of it.
        let has_past = rules.review.is_some() || rules.certification.is_some();
        let taken = moments.into_iter().filter(|at| has_past || *at == last_seconds);
        taken.for_each(|at| run.step(at));
        run.sum_up(as_of_seconds, Series::conclusion);
        // Later on, what arrives after this moment will have become known.
        let is_ahead = |item: &Counted<'_>| item.entered_seconds > as_of_seconds;
        let ahead = own.items.iter().any(is_ahead).then_some(i64::MIN);
        let leaves = run.fold.evidence.iter().filter_map(|summary| summary.until_seconds);
        let until_seconds = leaves.chain(next_seconds).chain(ahead).min();
        kept.push(Kept {
            fold: run.fold.without_past(),
            weights: Arc::clone(&weights),
            last_seconds: if own.is_untimed { i64::MAX } else { last_seconds },
            until_seconds,
        });
    }
    Ok(kept)
}

impl Kept {
    /// Returns the subject.
    pub fn subject(&self) -> &str {
        &self.fold.subject
    }

    /// Returns the standing at a later moment, without its items and past. None if something else may count by
    /// then, or the moment is not later than the newest item and event: then it takes the items.
    pub fn at(&self, card: &Scorecard, as_of_seconds: i64) -> Option<SubjectStanding> {
        let rules = card.standing.as_ref()?;
        if as_of_seconds <= self.last_seconds
            || self.until_seconds.is_some_and(|until| until <= as_of_seconds)
        {
            return None;
        }
        let view = View { card, rules, weights: &self.weights, has_ladder: false };
        Some(self.fold.clone().read(view, as_of_seconds, None))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use alloc::vec;

    use karat_core::facts::Digest;
    use karat_core::number::{BILLION, Decimal, Score};
    use proptest::prelude::*;

    use super::*;
    use crate::overrides::{OverrideDecision, OverrideEvent, Proposal};
    use crate::review::{Decision, ReviewVerdict, Seen};
    use crate::stand::{Change, Happening, Reading, stand};

    const DAY: i64 = 86_400;
    const TASKS: [&str; 4] = ["w", "x", "y", "z"];
    const LATE: [&str; 3] = [
        "", "late = { after_days = 2, treatment = \"as-arrived\" }",
        "late = { after_days = 4, treatment = \"excluded\" }",
    ];
    const SECTIONS: [&str; 5] = [
        "score = \"window\"\nwindow = { tasks = 3 }\nwarm_up = { tasks = 4, days = 20 }\nshares = { cap = 0.5 }",
        "score = \"window\"\nwindow = { days = 9 }",
        "score = \"window\"\nwindow = { tasks = 2, distinct = true }\nwarm_up = { tasks = 3 }\nreview = { swing_points = 60 }",
        "score = \"latest\"\ndecay = { points_per_period = 40 }\nreview = { swing_points = 60, deadline_hours = 30 }",
        "score = \"latest\"\nreview = { swing_points = 60 }\nconfidence = { items = 3 }\ncertification = { confirm_hours = 24, \
         promotion_days = 3, at_risk_days = 2, silence_days = 9 }\ndecay = {}\nbatch_evaluations = 2\ntier = [{ name = \"low\", \
         score = 300, evaluations = 2 }, { name = \"high\", score = 600, evaluations = 2, newest_batch_days = 4 }]\ngate = { dimension = \"security\", \
         step = [{ below = 0.3, cap = 399 }], incident = { gate = \"incident\", cap = 299 } }",
    ];

    fn card(section: &str) -> Scorecard {
        let text = format!(
            "schema = \"karat/scorecard/1\"\nid = \"agent\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n\
             scale = {{ max = 1000, publish = \"half-up\" }}\noverride = {{ tolerance = 0.001 }}\n\
             facts = {{ accuracy = {{ min = 0, max = 1 }}, security = {{ min = 0, max = 1 }}, open = {{ type = \"boolean\" }} }}\n\
             dimension = [{{ key = \"accuracy\", weight = 0.5 }}, {{ key = \"security\", weight = 0.5 }}]\n\
             gate = [{{ name = \"incident\", when = \"open\", cap = 300 }}]\n[standing]\n{section}"
        );
        karat_checker::parse(&text, &|_| None).unwrap_or_else(|found| panic!("{section}: {found:?}"))
    }

    /// Returns the standing without what is not kept.
    fn bare(standing: SubjectStanding) -> SubjectStanding {
        let mut tier = standing.tier;
        tier.iter_mut().for_each(|tier| (tier.changes, tier.ladder) = Default::default());
        let mut review = standing.review;
        if let Some(review) = &mut review {
            review.transitions.clear();
            review.refusals.clear();
        }
        SubjectStanding {
            counts: Default::default(),
            window: Vec::new(),
            items: Vec::new(),
            span_seconds: None,
            changes: Vec::new(),
            history: Vec::new(),
            share: None,
            tier,
            review,
            ..standing
        }
    }

    type Drawn = (i64, Option<i64>, Option<i64>, bool, Option<i64>);

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_later_standing_is_that_of_all_items(
            rows in prop::collection::vec((0i64..30, prop::option::of(0..=BILLION), prop::option::of(0..=BILLION), prop::bool::weighted(0.1), prop::option::of(-1i64..10)), 1..12),
            events in prop::collection::vec((0i64..30, 0u8..8), 0..6),
            (kept_at, later) in (0i64..40, 0i64..40),
            section in 0..SECTIONS.len(),
            late in 0..LATE.len(),
        ) {
            let card = card(&format!("{}\n{}", LATE[late], SECTIONS[section]));
            let ids: Vec<String> = (0..rows.len()).map(|at| format!("{at:02}")).collect();
            let arrived = |day: i64, delay: i64| (day + delay) * DAY + 1000;
            let item = |((day, accuracy, security, is_open, delay), id): (&Drawn, &'_ String)| {
                let reading = |value: &Option<i64>| value.map_or(Reading::Missing, Reading::fresh);
                let arrived = delay.map(|delay| arrived(*day, delay));
                let readings = vec![reading(accuracy), reading(security)];
                (*day, arrived, readings, accuracy.or(*security), *is_open, id.clone())
            };
            let drawn: Vec<_> = rows.iter().zip(&ids).map(item).collect();
            let items: Vec<Item<'_>> = drawn.iter().map(|(day, arrived, readings, score, is_open, id)| Item {
                time_seconds: Some(day * DAY),
                arrived_seconds: *arrived,
                score: score.map(Score::from_billionths),
                coverage: BILLION,
                readings: readings.clone(),
                gates: if *is_open { vec!["incident"] } else { Vec::new() },
                task: TASKS[*day as usize % TASKS.len()],
                ..Item::new(if id.ends_with('3') { "b" } else { "a" }, id, Digest::of(id.as_bytes()))
            }).collect();
            let weights = |(at, (day, kind)): (usize, &(i64, u8))| {
                let at_seconds = day * DAY + 3600;
                let decision = |id: usize| OverrideDecision {
                    id: format!("w{id}"), at_seconds, decider: "ann".into(), reason: "seen".into()
                };
                let share = Decimal::from_millionths(100_000 * (at as i64 + 1));
                let rest = Decimal::from_millionths(1_000_000 - share.millionths());
                let weights = vec![("accuracy".into(), share), ("security".into(), rest)];
                let proposal = Proposal {
                    id: format!("w{at}"), at_seconds, proposer: "loop".into(), reason: "better".into(), weights
                };
                let events = match kind {
                    5 | 6 => vec![OverrideEvent::Proposed(proposal), OverrideEvent::Accepted(decision(at))],
                    7 => (0..at).map(|id| OverrideEvent::Revoked(decision(id))).collect(),
                    _ => Vec::new(),
                };
                events.into_iter().map(Event::Weights)
            };
            let of_weights: Vec<Event> = events.iter().enumerate().flat_map(weights).collect();
            let event = |(at, (day, kind)): (usize, &(i64, u8))| {
                let at_seconds = day * DAY + 3600;
                let decided = |verdict| {
                    let (reviewer, reason) = (format!("r{at}"), "seen".into());
                    Happening::Decided(Decision { at_seconds, reviewer, verdict, reason, seen: Seen::Any, evidence: Vec::new() })
                };
                let happening = match kind {
                    0 => decided(ReviewVerdict::Approve),
                    1 => decided(ReviewVerdict::Reject),
                    2 => Happening::Changed { at_seconds, change: Change::IncidentOpened("i".into()) },
                    3 => Happening::Changed { at_seconds, change: Change::IncidentClosed("i".into()) },
                    _ => Happening::Changed { at_seconds, change: Change::Held },
                };
                Event::Subject { subject: "a".into(), happening }
            };
            let has_a = items.iter().any(|item| item.subject == "a");
            let of_subject = events.iter().enumerate().filter(|(_, (_, kind))| has_a && *kind < 5).map(event);
            let events: Vec<Event> = of_subject.chain(of_weights).collect();
            let kept = keep(&card, &items, &events, kept_at * DAY).unwrap();
            let at = (kept_at + later) * DAY;
            let all = stand(&card, &items, &events, at).unwrap().subjects;
            for kept in &kept {
                let whole = all.iter().find(|it| it.subject == kept.subject()).unwrap().clone();
                match kept.at(&card, at) {
                    Some(found) => prop_assert_eq!(bare(found), bare(whole)),
                    None => prop_assert!(
                        items.iter().any(|item| item.time_seconds.max(item.arrived_seconds) >= Some(kept_at * DAY))
                            || !events.is_empty()
                            || section == 1,
                        "nothing else counts by then"
                    ),
                }
            }
            // What lies in the past never changes again.
            let settled = keep(&card, &items, &events, 51 * DAY).unwrap();
            for kept in &settled {
                prop_assert!(kept.at(&card, 52 * DAY).is_some());
                prop_assert!(kept.at(&card, kept.last_seconds).is_none());
            }
        }
    }
}
