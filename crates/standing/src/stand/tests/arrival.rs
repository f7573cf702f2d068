//! Items that arrive after they took place: what happens to a subject happens when they arrive.

use super::*;
use crate::review::ReviewState;

const SWINGS: &str = "score = \"latest\"\nreview = {}\nwarm_up = { tasks = 99, days = 30 }\n\
    certification = { confirm_hours = 24 }\ntier = [{ name = \"low\", score = 300, distinct_days = 5 }]\n";

/// Returns a subject at 100 points that creeps up by 25 points every eight days, over 200 days.
fn creeping(ids: &[String], arrived_seconds: Option<i64>) -> Vec<Item<'_>> {
    let step = |(at, id): (i64, &'static str)| item("a", id, at * 8 * DAY, 100 + at * 25);
    let first = step((0, "first"));
    let rest = (1..27)
        .zip(ids)
        .map(|(at, id)| Item { arrived_seconds, ..item("a", id, at * 8 * DAY, (100 + at * 25).min(749)) });
    core::iter::once(first).chain(rest).collect()
}

#[test]
fn what_arrives_at_once_is_one_swing_whatever_its_times() {
    let (card, ids) = (card(SWINGS), ids(&[(0, 0, 0, 0); 26]));
    let files = only(&card, &creeping(&ids, None), &[], 210 * DAY);
    assert_eq!((files.points, files.facts.distinct_days), (Some(749), 27), "as files say it");
    let at_once = only(&card, &creeping(&ids, Some(209 * DAY)), &[], 210 * DAY);
    assert_eq!((at_once.points, at_once.facts.distinct_days), (Some(100), 2));
    let review = at_once.review.unwrap();
    assert_eq!(review.history.held.as_ref().unwrap().candidate.points, 749);
    assert_eq!(review.transitions.last().unwrap().state, ReviewState::PendingReview);
    assert_eq!(at_once.tier.unwrap().held, 0);
    // Asked about a moment before it arrived, all of it is known at that moment.
    let before = only(&card, &creeping(&ids, Some(209 * DAY)), &[], 100 * DAY);
    assert_eq!((before.points, before.facts.distinct_days), (Some(100), 2));
}

#[test]
fn the_age_of_late_evidence_is_its_own_unless_the_card_says_otherwise() {
    let late = Item { arrived_seconds: Some(30 * DAY), ..item("a", "late", 10 * DAY, 600) };
    let on_time = Item { arrived_seconds: Some(20 * DAY), ..item("a", "on time", 20 * DAY, 800) };
    let items = [late, on_time];
    let standing = |late: &str| {
        let found = only(&card(&format!("score = \"latest\"\ndecay = {{}}\n{late}")), &items, &[], 40 * DAY);
        let counts = found.counts;
        (found.dimensions[0].measured, found.dimensions[0].age_seconds, counts.seen, counts.late)
    };
    let newest = (Some(800_000_000), Some(20 * DAY), 2, 1);
    assert_eq!(standing(""), newest);
    assert_eq!(standing("late = { treatment = \"as-stated\" }"), newest);
    let as_arrived = "late = { treatment = \"as-arrived\" }";
    assert_eq!(standing(as_arrived), (Some(600_000_000), Some(10 * DAY), 2, 1));
    assert_eq!(standing("late = { after_days = 20, treatment = \"excluded\" }"), (newest.0, newest.1, 2, 0));
    assert_eq!(standing("late = { after_days = 19, treatment = \"excluded\" }"), (newest.0, newest.1, 1, 1));
}

#[test]
fn late_items_that_do_not_count_are_counted_as_such() {
    let card = card("score = \"window\"\nlate = { treatment = \"excluded\" }");
    let late = |id, outcome| Item { arrived_seconds: Some(30 * DAY), outcome, ..item("a", id, 0, 600) };
    let items = [late("1", None), late("2", Some(Outcome::NotApplicable)), item("a", "3", 0, 800)];
    let counts = only(&card, &items, &[], 40 * DAY).counts;
    assert_eq!((counts.seen, counts.late, counts.late_excluded), (1, 2, 1));
    assert_eq!((counts.excluded, counts.unscored), (1, 0));
}

/// Sections under which the items that arrived are one score, whatever the order of their times.
const ORDERLESS: [&str; 2] = [
    "score = \"window\"\nreview = { swing_points = 120 }\nwarm_up = { tasks = 99, days = 9 }\n\
     certification = { confirm_hours = 24, promotion_days = 3 }\n\
     tier = [{ name = \"low\", score = 200, distinct_days = 2 }, { name = \"high\", score = 500, distinct_days = 3 }]",
    "score = \"window\"\nlate = { after_days = 3, treatment = \"as-arrived\" }\nshares = { cap = 0.5 }",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_date_in_the_past_wins_nothing(
        rows in prop::collection::vec((0i64..12, 0i64..400, 0i64..=1000), 1..14),
        more_days in 0i64..12,
    ) {
        let ids: Vec<String> = (0..rows.len()).map(|at| at.to_string()).collect();
        let make = |is_dated_back: bool| -> Vec<Item<'_>> {
            let one = |((arrival, days, points), id): (&(i64, i64, i64), &'static str)| {
                let arrived = arrival * DAY;
                let time = if is_dated_back { arrived - days * 3600 * 6 } else { arrived };
                let digest = Digest::of(format!("{arrival} {points}").as_bytes());
                Item { digest, arrived_seconds: Some(arrived), ..item("a", id, time, *points) }
            };
            let named = rows.iter().zip(&ids);
            named.map(|(row, id)| Item { id, task: id, ..one((row, "")) }).collect()
        };
        let (back, on_time) = (make(true), make(false));
        let as_of = (12 + more_days) * DAY;
        for section in ORDERLESS {
            let card = card(section);
            let [one, two] = [&back, &on_time].map(|items| only(&card, items, &[], as_of));
            prop_assert_eq!((one.points, one.gating_points, &one.warm_up), (two.points, two.gating_points, &two.warm_up));
            prop_assert_eq!((&one.review, &one.history), (&two.review, &two.history));
            prop_assert_eq!(one.facts.distinct_days, two.facts.distinct_days);
            let tier = |it: &SubjectStanding| {
                it.tier.as_ref().map(|tier| (tier.held, tier.changes.clone(), tier.certificate.clone().map(|it| it.0)))
            };
            prop_assert_eq!(tier(&one), tier(&two));
        }
        let card = card(SWINGS);
        let one = only(&card, &back, &[], as_of);
        let days: alloc::collections::BTreeSet<i64> = rows.iter().map(|row| row.0).collect();
        prop_assert!(one.facts.distinct_days <= days.len() as u64);
        let moments = |it: &SubjectStanding| it.review.as_ref().unwrap().transitions.len();
        prop_assert!(one.history.len() <= rows.len() * 2 + 1 && moments(&one) <= rows.len() * 4);
        // Nothing was decided, so that whatever is above the limit was held.
        let limit = i64::from(card.standing.as_ref().unwrap().review.unwrap().swing_points);
        for [before, after] in one.history.array_windows() {
            let rise = after.canonical.zip(before.canonical).map_or(0, |(after, before)| after - before);
            prop_assert!(rise <= limit, "a rise by {rise} that was not held");
        }
        let first = rows.iter().map(|row| row.0 * DAY).min().unwrap();
        let tier = one.tier.unwrap();
        prop_assert!(tier.changes.iter().all(|(at, _)| *at >= first + DAY), "{:?}", tier.changes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn at_every_moment_the_score_is_that_of_what_had_arrived(
        rows in prop::collection::vec((0i64..20, prop::option::of(0i64..12), 0i64..=1000, 0usize..4), 1..16),
        (most, days, is_distinct, is_as_arrived) in (1usize..6, 1i64..15, any::<bool>(), any::<bool>()),
        as_of in 15i64..40,
    ) {
        let late = if is_as_arrived { "late = { after_days = 3, treatment = \"as-arrived\" }" } else { "" };
        let card = card(&format!(
            "score = \"window\"\nwindow = {{ tasks = {most}, days = {days}, distinct = {is_distinct} }}\n{late}"
        ));
        let ids: Vec<String> = (0..rows.len()).map(|at| format!("{at:02}")).collect();
        let items: Vec<Item<'_>> = rows.iter().zip(&ids).map(|((day, delay, points, task), id)| Item {
            arrived_seconds: delay.map(|delay| (day + delay) * DAY),
            task: ["w", "x", "y", "z"][*task],
            ..item("a", id, day * DAY, *points)
        }).collect();
        let as_of = as_of * DAY;
        let Some(found) = at(&card, &items, &[], as_of).subjects.pop() else { return Ok(()) };
        // The same, written out: what had arrived by then, oldest first, as old as it is.
        let entered = |item: &Item<'_>| {
            let time = item.time_seconds.unwrap();
            item.arrived_seconds.map_or(time, |arrived| arrived.min(as_of).max(time))
        };
        let aged = |item: &Item<'_>| {
            let time = item.time_seconds.unwrap();
            let is_late = item.arrived_seconds.is_some_and(|arrived| arrived - time > 3 * DAY);
            if is_late && is_as_arrived { entered(item) } else { time }
        };
        let arrived = |item: &Item<'_>| item.arrived_seconds.max(item.time_seconds).unwrap();
        let expected = |moment: i64, known_from: &dyn Fn(&Item<'_>) -> i64| {
            let mut known: Vec<&Item<'_>> = items.iter().filter(|item| known_from(item) <= moment).collect();
            known.sort_by_key(|item| (aged(item), item.id));
            if is_distinct {
                let all = known.clone();
                known.retain(|item| all.iter().rfind(|other| other.task == item.task).unwrap().id == item.id);
            }
            known.retain(|item| moment - aged(item) < days * DAY);
            let counted = &known[known.len().saturating_sub(most)..];
            let sum: i128 = counted.iter().map(|item| i128::from(item.score.unwrap().units())).sum();
            Ratio::new(sum, counted.len() as i128 * i128::from(UNITS_PER_ONE))
        };
        for point in &found.history {
            prop_assert_eq!(point.score, expected(point.at_seconds, &arrived), "at {}", point.at_seconds);
        }
        // Asked about the past, what arrived later is read, and nothing happened by it.
        prop_assert_eq!(found.score, expected(as_of, &entered));
        let moments: alloc::collections::BTreeSet<i64> = items.iter().map(arrived).collect();
        let told: Vec<i64> = found.history.iter().map(|point| point.at_seconds).collect();
        let passed: Vec<i64> = moments.into_iter().filter(|moment| *moment <= as_of).collect();
        prop_assert_eq!(told, passed);
    }
}
