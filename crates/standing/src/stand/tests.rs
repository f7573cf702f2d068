//! Results of standings, and properties that always hold.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

mod arrival;
mod fold;
mod ladder;
mod spread;

use super::*;
use crate::certification::TierCause;
use crate::overrides::{OverrideDecision, OverrideEvent, Proposal};
use crate::ratio::Ratio;
use crate::review::{Decision, ReviewState, ReviewVerdict, Seen};
use crate::shares::ShareCase;
use karat_core::facts::{Digest, Outcome};
use karat_core::number::{BILLION, UNITS_PER_ONE};

const DAY: i64 = 86_400;
const WEEK: i64 = 7 * DAY;
const LEVEL: f64 = 0.9;

const HEAD: &str = include_str!("../../tests/two-dimensions.toml");

fn card(section: &str) -> Scorecard {
    karat_checker::parse(&format!("{HEAD}[standing]\n{section}"), &|_| None).unwrap()
}

fn item<'a>(subject: &'a str, id: &'a str, at: i64, thousandths: i64) -> Item<'a> {
    Item {
        time_seconds: Some(at),
        score: Some(Score::from_billionths(thousandths * 1_000_000)),
        coverage: BILLION,
        readings: vec![Reading::fresh(thousandths * 1_000_000); 2],
        ..Item::new(subject, id, Digest::of(format!("{id} {at} {thousandths}").as_bytes()))
    }
}

fn at(card: &Scorecard, items: &[Item<'_>], events: &[Event], as_of: i64) -> Standings {
    stand(card, items, events, as_of).unwrap()
}

fn only(card: &Scorecard, items: &[Item<'_>], events: &[Event], as_of: i64) -> SubjectStanding {
    let [subject] = at(card, items, events, as_of).subjects.try_into().unwrap();
    subject
}

fn told(card: &Scorecard, items: &[Item<'_>], events: &[Event]) -> Vec<String> {
    stand(card, items, events, 1000 * DAY).unwrap_err().iter().map(ToString::to_string).collect()
}

fn happens(subject: &str, happening: Happening) -> Event {
    Event::Subject { subject: subject.into(), happening }
}

fn decided(at_seconds: i64, reviewer: &str, verdict: ReviewVerdict) -> Event {
    let (reviewer, reason) = (reviewer.into(), "looked at".into());
    happens(
        "a",
        Happening::Decided(Decision {
            at_seconds,
            reviewer,
            verdict,
            reason,
            seen: Seen::Any,
            evidence: Vec::new(),
        }),
    )
}

fn changed(at_seconds: i64, change: Change) -> Event {
    happens("a", Happening::Changed { at_seconds, change })
}

#[test]
fn the_interval_of_a_window_is_of_its_mean() {
    // Half of the items are of one task: a mean over tasks would lie far below that over items.
    let card = card("score = \"window\"\nwindow = { tasks = 40 }");
    let ids: Vec<String> = (0..40).map(|at| format!("{at:02}")).collect();
    let items: Vec<Item<'_>> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| {
            let (task, points) = if at < 20 { ("often", 1000) } else { (id.as_str(), 200 + at as i64) };
            Item { task, ..item("a", id, at as i64, points) }
        })
        .collect();
    let standings = at(&card, &items, &[], 45);
    let [a] = standings.subjects.try_into().unwrap();
    let ends = a.spread.unwrap().interval(LEVEL).unwrap().unwrap();
    let score = a.score.unwrap().to_f64() * 1000.0;
    assert!(ends.low < score && score < ends.high, "{ends:?}");
}

/// Ninety-nine runs of one task outweigh one of another, which the counts show.
#[test]
fn the_tasks_of_a_window_are_counted_beside_its_items() {
    let ids: Vec<String> = (0..103).map(|id| format!("{id:03}")).collect();
    let of = |at: usize| if at == 60 { ("hard", 0) } else { ("easy", 1000) };
    let items: Vec<Item<'_>> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| Item { task: of(at).0, ..item("a", id, at as i64, of(at).1) })
        .collect();
    let counts = |rules: &str| {
        let counts = only(&card(rules), &items, &[], 1000).counts;
        (counts.in_window, counts.distinct_tasks, counts.largest_task_items)
    };
    assert_eq!(counts("score = \"window\""), (100, 2, 99));
    assert_eq!(counts("score = \"window\"\nwindow = { tasks = 42 }"), (42, 1, 42));
    assert_eq!(counts("score = \"latest\""), (103, 0, 0));
    assert_eq!(counts("score = \"window\"\nwindow = { tasks = 100, distinct = true }"), (2, 2, 1));
}

/// Evidence that only grows older lowers a score step by step; no review holds what time takes, and no later moment raises it.
#[test]
fn a_fall_by_decay_alone_is_not_held() {
    let card = card(
        "score = \"latest\"\ndecay = { grace_days = 0, period_days = 7, points_per_period = 5 }\nreview = { swing_points = 200 }",
    );
    let items = [item("a", "1", 0, 900)];
    let mut before = i64::MAX;
    for week in 0..200 {
        let found = only(&card, &items, &[], week * 7 * DAY);
        let points = found.points.unwrap();
        assert_eq!(points, (900 - 5 * week).max(0), "week {week}");
        assert!(points <= before && !found.review.unwrap().history.is_under_review());
        before = points;
    }
    // A new result that falls as far is a swing, and waits.
    let items = [item("a", "1", 0, 900), item("a", "2", 7 * DAY, 500)];
    let found = only(&card, &items, &[], 7 * DAY);
    assert_eq!((found.points, found.gating_points), (Some(895), Some(500)), "and what is official ages");
}

#[test]
fn the_window_is_the_mean_of_the_last_scores_with_its_interval_by_task() {
    let card = card("score = \"window\"\nwindow = { tasks = 3 }");
    let items = [
        item("a", "1", 10, 100),
        item("a", "2", 20, 400),
        item("a", "3", 30, 500),
        item("a", "4", 40, 900),
        item("a", "5", 50, 0),
        item("b", "1", 10, 1000),
    ];
    let standings = at(&card, &items, &[], 45);
    assert_eq!((standings.after, standings.repeated, standings.by_id), (1, 0, false));
    let [a, b] = standings.subjects.try_into().unwrap();
    assert_eq!((a.score.unwrap().to_string().as_str(), a.points), ("3/5", Some(600)));
    assert_eq!((a.counts.seen, a.counts.in_window, a.counts.window_tasks), (4, 3, Some(3)));
    assert_eq!((a.window, a.span_seconds), (vec![1, 2, 3], Some((20, 40))));
    let spread = a.spread.unwrap();
    assert_eq!(spread.tasks(), 3);
    let ends = spread.interval(LEVEL).unwrap().unwrap();
    assert!(ends.low < 400.0 && ends.high > 800.0, "three tasks show little of others: {ends:?}");
    assert_eq!(b.spread.unwrap().interval(LEVEL), Ok(None), "one task says nothing of others");
    let history: Vec<_> = a.history.iter().map(|point| (point.at_seconds, point.points.unwrap())).collect();
    assert_eq!(history, [(10, 100), (20, 250), (30, 333), (40, 600)]);
}

#[test]
fn runs_of_one_task_make_no_interval() {
    let card = card("score = \"window\"");
    let items = ["1", "2", "3"].map(|id| Item { task: "same", ..item("a", id, 10, 500) });
    assert_eq!(only(&card, &items, &[], 20).spread.unwrap().interval(LEVEL), Ok(None));
}

#[test]
fn each_ending_counts_as_the_card_says() {
    let card = card(
        "score = \"window\"\noutcomes = { no-verdict = \"excluded\", stopped = \"scored\", not-applicable = \"success\", refused = \"failure\" }",
    );
    let ended = |id, thousandths, outcome| Item { outcome, ..item("a", id, 10, thousandths) };
    let items = [
        ended("1", 500, None),
        ended("2", 700, Some(Outcome::Failed)),
        ended("3", 900, Some(Outcome::NoVerdict)),
        ended("4", 300, Some(Outcome::Stopped)),
        ended("5", 0, Some(Outcome::NotApplicable)),
        ended("6", 800, Some(Outcome::Refused)),
        Item { score: None, ..ended("7", 0, Some(Outcome::Succeeded)) },
    ];
    let standing = only(&card, &items, &[], 20);
    assert_eq!(standing.score, Ratio::new(500 + 700 + 300 + 1000, 5000));
    let counts = standing.counts;
    assert_eq!((counts.seen, counts.excluded, counts.unscored, counts.outcome_unstated), (5, 1, 1, 1));
    assert_eq!((counts.outcomes.refused, counts.outcomes.failed, counts.outcomes.stopped), (1, 1, 1));
}

#[test]
fn a_failure_without_a_score_reached_nothing_and_a_success_without_one_is_not_known() {
    let card = card("score = \"window\"");
    let bare = |id, outcome| Item { score: None, outcome: Some(outcome), ..item("a", id, 10, 0) };
    let items = [item("a", "1", 10, 900), bare("2", Outcome::Failed), bare("3", Outcome::Succeeded)];
    let standing = only(&card, &items, &[], 20);
    assert_eq!(standing.score, Ratio::new(900, 2000));
    assert_eq!((standing.counts.seen, standing.counts.unscored), (2, 1));
}

#[test]
fn the_newest_readings_decay_each_by_its_own_age() {
    let card = card("score = \"latest\"\ndecay = {}");
    let one = |id, at, place: usize, thousandths: i64| {
        let mut readings = vec![Reading::Missing; 2];
        readings[place] = Reading::fresh(thousandths * 1_000_000);
        Item { readings, ..item("a", id, at, 0) }
    };
    let items = [one("1", 0, 0, 900), one("2", 0, 1, 500), one("3", 10 * WEEK, 1, 800)];
    let standing = only(&card, &items, &[], 11 * WEEK);
    // accuracy lost ten points, security none.
    assert_eq!(standing.score.unwrap().to_string(), "169/200");
    assert_eq!(standing.points, Some(845));
    let [accuracy, security] = standing.dimensions.try_into().unwrap();
    assert_eq!((accuracy.measured, accuracy.reading), (Some(900_000_000), Some(890_000_000)));
    assert_eq!(accuracy.points_lost.unwrap().to_string(), "10");
    assert_eq!((security.age_seconds, security.items), (Some(WEEK), 2));
    assert_eq!(standing.facts.coverage, BILLION);
}

#[test]
fn what_does_not_apply_leaves_the_coverage_alone() {
    let card = card("score = \"latest\"");
    let says = |second| {
        let readings = vec![Reading::fresh(BILLION / 2), second];
        only(&card, &[Item { readings, ..item("a", "1", 10, 0) }], &[], 20).facts.coverage
    };
    assert_eq!([says(Reading::Missing), says(Reading::NotApplicable)], [BILLION / 2, BILLION]);
    let withdrawn =
        Item { readings: vec![Reading::fresh(0), Reading::NotApplicable], ..item("a", "2", 20, 0) };
    let standing = only(&card, &[item("a", "1", 10, 800), withdrawn], &[], 30);
    assert_eq!((standing.facts.coverage, standing.points), (BILLION, Some(400)), "what was measured stays");
}

#[test]
fn a_swing_is_held_until_it_is_decided_and_gates_see_the_lower() {
    let card = card("score = \"latest\"\nreview = { swing_points = 200, deadline_hours = 72 }");
    let items = [item("a", "1", 0, 800), item("a", "2", DAY, 400)];
    let held = only(&card, &items, &[], 2 * DAY);
    assert_eq!((held.points, held.gating_points), (Some(800), Some(400)));
    let review = held.review.unwrap();
    let states: Vec<_> = review.transitions.iter().map(|line| line.state).collect();
    assert_eq!(states, [ReviewState::Committed, ReviewState::PendingReview]);

    let approved = only(&card, &items, &[decided(2 * DAY, "ann", ReviewVerdict::Approve)], 2 * DAY);
    assert_eq!((approved.points, approved.gating_points), (Some(400), Some(400)));
    let rejected = only(&card, &items, &[decided(2 * DAY, "ann", ReviewVerdict::Reject)], 2 * DAY);
    assert_eq!(rejected.points, Some(800));
    assert_eq!(rejected.gating_points, Some(800), "what was refused is not seen");

    let expired = only(&card, &items, &[], DAY + 72 * 3600 + 1);
    assert_eq!(expired.points, Some(400), "a fall without a decision becomes official");
    let operated = happens("a", Happening::Operated("ann".into()));
    let own = only(&card, &items, &[operated, decided(2 * DAY, "ann", ReviewVerdict::Approve)], 2 * DAY);
    let refusals = own.review.unwrap().refusals;
    assert_eq!(refusals.len(), 1);
    assert_eq!((refusals[0].0, own.points), (1, Some(800)));
}

#[test]
fn a_tier_is_blocked_by_one_condition() {
    let card = card(
        "score = \"latest\"\ntier = [{ name = \"bronze\", score = 400 }, { name = \"gold\", score = 700, evaluations = 3, distinct_days = 2, independent_runners = 1 }]",
    );
    let by = |id, at, runner| Item { runner: Some(runner), ..item("a", id, at, 800) };
    let items = [by("1", 0, "own"), by("2", DAY, "lab"), by("3", DAY + 1, "lab")];
    let operated = [happens("a", Happening::Operated("own".into()))];
    let gold = only(&card, &items, &operated, 2 * DAY).tier.unwrap();
    assert_eq!((gold.name.as_deref(), gold.held), (Some("gold"), 2));
    let bronze = only(&card, &items[..2], &operated, 2 * DAY).tier.unwrap();
    assert_eq!(bronze.name.as_deref(), Some("bronze"));
    let blocker = bronze.earned.single_blocker().unwrap().to_string();
    assert_eq!(blocker, "number of evaluations is 2, needs 3 or more");
    let alone = [by("1", 0, "own"), by("2", DAY, "own"), by("3", DAY, "own")];
    let blocker = only(&card, &alone, &operated, 2 * DAY).tier.unwrap().earned;
    assert_eq!(
        blocker.single_blocker().unwrap().to_string(),
        "number of independent runners is 0, needs 1 or more"
    );
}

#[test]
fn an_incident_closes_what_it_should_and_opens_it_again() {
    let card = card(
        "score = \"latest\"\nreview = {}\ntier = [{ name = \"bronze\", score = 300 }]\n[standing.gate]\ndimension = \"security\"\nstep = [{ below = 0.2, cap = 100 }]\nincident = { gate = \"incident\", cap = 250, tier = \"none\" }",
    );
    let items = [item("a", "1", 0, 800)];
    let open = changed(10, Change::IncidentOpened("i".into()));
    let closed = changed(20, Change::IncidentClosed("i".into()));
    let during = only(&card, &items, core::slice::from_ref(&open), 15);
    assert_eq!((during.gating_points, during.facts.open_tiers), (Some(250), Some(0)));
    assert_eq!((during.points, during.incidents), (Some(800), vec![String::from("i")]));
    let after = only(&card, &items, &[closed, open], 25);
    assert_eq!((after.gating_points, after.tier.unwrap().held), (Some(800), 1));
    let by_gate = Item { gates: vec!["incident"], ..item("a", "2", 5, 800) };
    let items = [item("a", "1", 0, 800), by_gate];
    assert!(only(&card, &items, &[], 6).has_incident_gate);
    assert_eq!(only(&card, &items, &[], 6).gating_points, Some(250));
    let held = only(&card, &items[..1], &[changed(3, Change::Held)], 6);
    assert_eq!((held.tier.unwrap().held, held.gating_points), (0, Some(800)));
    let released = [changed(3, Change::Held), changed(4, Change::Released)];
    assert_eq!(only(&card, &items[..1], &released, 6).tier.unwrap().held, 1);
}

#[test]
fn a_tier_is_confirmed_kept_for_a_while_and_lost() {
    let card = card(
        "score = \"latest\"\ndecay = { points_per_period = 100 }\ncertification = {}\ntier = [{ name = \"gold\", score = 750 }]",
    );
    let items = [item("a", "1", 0, 800), item("a", "2", DAY, 800)];
    let first = only(&card, &items[..1], &[], 0).tier.unwrap();
    let (_, certified) = first.certificate.unwrap();
    assert_eq!((first.held, certified.promotion_from_seconds), (0, Some(DAY)));
    assert_eq!(only(&card, &items, &[], DAY).tier.unwrap().held, 1);
    let risk = only(&card, &items, &[], 3 * WEEK).tier.unwrap();
    assert_eq!((risk.held, risk.earned.reached), (1, 0));
    assert!(risk.certificate.unwrap().1.at_risk_until_seconds.is_some());
    let again = [items[0].clone(), items[1].clone(), item("a", "3", 3 * WEEK, 100)];
    let lost = only(&card, &again, &[], 3 * WEEK).tier.unwrap();
    assert_eq!(lost.changes.last().map(|(_, change)| change.cause), Some(TierCause::Evidence));
}

#[test]
fn shares_are_of_what_gates_see_and_new_subjects_get_a_part() {
    let warm =
        card("score = \"window\"\nwarm_up = { tasks = 4, days = 2 }\nshares = { cap = 0.9, whole = 10 }");
    let items = [item("a", "1", 0, 800), item("b", "1", 0, 800), item("b", "2", 0, 800)];
    let standings = at(&warm, &items, &[], DAY);
    let part: Vec<_> = standings.subjects.iter().map(|it| it.share.unwrap().share.to_string()).collect();
    assert_eq!(part, ["0.333333333333333", "0.666666666666667"]);
    let whole: Vec<_> = standings.subjects.iter().map(|it| it.share.unwrap().whole.unwrap()).collect();
    assert_eq!(whole, [3, 7]);
    assert_eq!(standings.shared.unwrap().case, ShareCase::Proportional);
    assert_eq!(standings.subjects[0].warm_up.unwrap().factor, BILLION / 4);
    let later = at(&warm, &items, &[], 2 * DAY);
    assert_eq!(later.subjects[0].share.unwrap().share.to_string(), "0.5", "the period is over");

    let swings = [item("a", "1", 0, 900), item("b", "1", 0, 900), item("b", "2", 1, 100)];
    let reviewed = card("score = \"latest\"\nreview = {}\nshares = { cap = 0.95 }");
    let held = at(&reviewed, &swings, &[], 2);
    assert_eq!(held.subjects[1].points, Some(900));
    assert_eq!(
        held.subjects[1].share.unwrap().share.to_string(),
        "0.1",
        "a fall that is held counts at once"
    );
}

#[test]
fn weights_that_were_accepted_are_in_force_from_then_on() {
    let card = card("score = \"latest\"\nreview = {}");
    let readings = vec![Reading::fresh(BILLION), Reading::fresh(0)];
    let items = [Item { readings, ..item("a", "1", 0, 0) }];
    let proposed = Proposal {
        id: "p".into(),
        at_seconds: 5,
        proposer: "loop".into(),
        reason: "agreement".into(),
        weights: vec![
            ("accuracy".into(), karat_core::number::Decimal::from_millionths(600_000)),
            ("security".into(), karat_core::number::Decimal::from_millionths(400_000)),
        ],
    };
    let decision = |decider: &str, at_seconds| {
        let (id, reason) = ("p".into(), "reviewed".into());
        Event::Weights(OverrideEvent::Accepted(OverrideDecision {
            id,
            at_seconds,
            decider: decider.into(),
            reason,
        }))
    };
    let events = [decision("loop", 5), decision("ann", 6), Event::Weights(OverrideEvent::Proposed(proposed))];
    let standings = at(&card, &items, &events, 10);
    assert_eq!(standings.subjects[0].points, Some(600));
    assert_eq!(standings.subjects[0].review.as_ref().unwrap().transitions[1].candidate.cause, "weights");
    assert_eq!(standings.override_refusals.len(), 1);
    assert_eq!(standings.override_refusals[0].0, 0);
    assert_eq!(at(&card, &items, &events, 5).subjects[0].points, Some(500));
}

/// A card under which nothing follows from time or order counts items without a time, and tasks alike; under any other a subject
/// of both sorts has no score, and never one of a part.
#[test]
fn items_without_a_time_count_or_their_subject_has_no_score() {
    let of =
        |subject, task, id, time_seconds, points| Item { task, time_seconds, ..item(subject, id, 0, points) };
    let items = [
        of("mixed", "x", "1", Some(10), 1000),
        of("mixed", "y", "2", None, 0),
        of("mixed", "y", "3", Some(20), 100),
        of("timed", "x", "1", Some(10), 500),
        of("timed", "x", "2", Some(90), 0),
        of("untimed", "x", "1", None, 300),
        of("untimed", "y", "2", None, 500),
        of("untimed", "y", "3", None, 700),
    ];
    let points = |section: &str| {
        let found = at(&card(section), &items, &[], 30);
        let points: Vec<_> = found.subjects.iter().map(|it| it.points).collect();
        (points, found.without_time, found.after)
    };
    let plain = "score = \"window\"\nwindow = {}";
    assert_eq!(points(plain), (vec![Some(525), Some(500), Some(450)], vec![], 1));
    let tiers = "\ntier = [{ name = \"low\", score = 1, evaluations = 2 }]";
    assert_eq!(points(&format!("{plain}{tiers}")).0, [Some(525), Some(500), Some(450)]);
    // What counts by number alone has the order of the ids.
    let by_number = (vec![None, Some(500), Some(600)], vec![1], 1);
    assert_eq!(points("score = \"window\"\nwindow = { tasks = 2 }"), by_number);
    let spoilt = (vec![None, Some(500), None], vec![1, 5, 6, 7], 1);
    for section in [
        "score = \"latest\"",
        "score = \"window\"\nwindow = { days = 9 }",
        "score = \"window\"\nwindow = {}\nreview = {}",
        "score = \"window\"\nwindow = {}\nwarm_up = { tasks = 2, days = 3 }",
        "score = \"window\"\nwindow = {}\ntier = [{ name = \"low\", score = 1, distinct_days = 2 }]",
    ] {
        assert_eq!(points(section), spoilt, "{section}");
    }
    // By number and by task they are in order as well, but the newest of a task follows from the ids alone.
    assert_eq!(points("score = \"window\"\nwindow = { distinct = true }").0, [None, Some(500), Some(500)]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Written out: the mean over tasks of the mean of their items, whatever is known of times, in any order.
    #[test]
    fn the_score_of_a_plain_card_is_the_mean_over_tasks(
        rows in prop::collection::vec((0usize..5, 0i64..=1000, prop::option::of(0i64..100), prop::option::of(0i64..200)), 1..90),
        turn in 0usize..90,
    ) {
        let card = card("score = \"window\"\nwindow = {}");
        let ids: Vec<String> = (0..rows.len()).map(|at| format!("{at:03}")).collect();
        let tasks = ["v", "w", "x", "y", "z"];
        let mut items: Vec<Item<'_>> = rows.iter().zip(&ids).map(|((task, points, time_seconds, arrived_seconds), id)| {
            Item { task: tasks[*task], time_seconds: *time_seconds, arrived_seconds: *arrived_seconds, ..item("a", id, 0, *points) }
        }).collect();
        let middle = turn % items.len();
        items.rotate_left(middle);
        let (mut sum, mut count) = (0.0, 0.0);
        for task in 0..5 {
            let own: Vec<f64> = rows.iter().filter(|row| row.0 == task).map(|row| row.1 as f64).collect();
            if !own.is_empty() {
                sum += own.iter().sum::<f64>() / own.len() as f64;
                count += 1.0;
            }
        }
        let found = only(&card, &items, &[], 100);
        let score = found.score.unwrap();
        prop_assert!((score.to_f64() * 1000.0 - sum / count).abs() < 1e-9, "{score} for {}", sum / count);
        prop_assert_eq!(found.counts.in_window, rows.len() as u64);
        let timeless: Vec<Item<'_>> = items.iter().map(|item| Item { time_seconds: None, ..item.clone() }).collect();
        prop_assert_eq!(only(&card, &timeless, &[], 100).score, found.score);
        // The interval follows from the means of the tasks, each once.
        let of_task = |task: usize| {
            let own: Vec<i64> = rows.iter().filter(|row| row.0 == task).map(|row| row.1).collect();
            (!own.is_empty()).then(|| (own.iter().sum::<i64>() as f64 * 1e6 / own.len() as f64, 1.0))
        };
        let expected = karat_stats::estimate::interval((0..5).filter_map(of_task), 0.0, LEVEL).unwrap().unwrap();
        if let Some(ends) = found.spread.unwrap().interval(LEVEL).unwrap() {
            prop_assert!((ends.low - expected.low * 1000.0).abs() < 0.51 && (ends.high - expected.high * 1000.0).abs() < 0.51);
        }
    }
}

#[test]
fn without_any_time_the_ids_are_the_order() {
    let timeless = |id, thousandths| Item { time_seconds: None, ..item("a", id, 0, thousandths) };
    let items = [timeless("2", 200), timeless("1", 100), timeless("3", 600)];
    let window = card("score = \"window\"\nwindow = { tasks = 2 }");
    let standings = at(&window, &items, &[], i64::MIN);
    assert!(standings.by_id);
    assert_eq!((standings.subjects[0].points, standings.subjects[0].span_seconds), (Some(400), None));
    let told_of = |section| told(&card(section), &items, &[]);
    assert_eq!(
        told_of("score = \"latest\""),
        [
            "no item says when it took place, and `score = \"latest\"` of the card needs to know; give the items a `time` such as 2026-01-31T12:00:00Z"
        ]
    );
    assert!(told_of("score = \"window\"\nwindow = { days = 3 }")[0].contains("`window.days`"));
}

#[test]
fn all_that_is_wrong_is_told() {
    let card = card("score = \"window\"");
    let items = [item("ann", "1", 0, 1), item("ann", "1", 0, 2), item("bo", "2", 0, 3)];
    let events = [
        happens("an", Happening::Operated("x".into())),
        happens("bo", Happening::Operated("x".into())),
        happens("bo", Happening::Operated("y".into())),
    ];
    let told = told(&card, &items, &events);
    assert_eq!(told.len(), 3, "{told:#?}");
    assert!(told[0].starts_with("`1` of `ann` is there with two contents, sha256:"));
    assert_eq!(told[1], "`bo` is operated by `x` and by `y`, expected one of them");
    assert_eq!(told[2], "there is no item of `an`; did you mean `ann`?");

    let none = karat_checker::parse(HEAD, &|_| None).unwrap();
    let errors = stand(&none, &items, &[], 0).unwrap_err();
    assert!(errors[0].to_string().starts_with("`agent@1.0.0` does not say what becomes of many scores"));
}

#[test]
fn nothing_at_all_is_no_standing_and_no_error() {
    let card = card("score = \"window\"\nshares = {}");
    let none = at(&card, &[], &[], 0);
    assert!(none.subjects.is_empty() && none.shared.unwrap().case == ShareCase::NothingToShare);
    let excluded = Item { outcome: Some(Outcome::NoVerdict), ..item("a", "1", 0, 900) };
    let standing = only(&card, &[excluded], &[], 1);
    assert_eq!((standing.score, standing.points, standing.counts.excluded), (None, None, 1));
    assert_eq!(standing.share.unwrap().share, Score::ZERO);
}

const FULL: &str = "score = \"latest\"\ndecay = {}\nreview = {}\nconfidence = {}\ncertification = {}\nshares = { cap = 0.6 }\nwarm_up = { tasks = 3 }\ntier = [{ name = \"bronze\", score = 300 }, { name = \"gold\", score = 700, evaluations = 3, confidence = 0.1 }]\n[standing.gate]\ndimension = \"security\"\nstep = [{ below = 0.3, cap = 250, tier = \"none\" }]\n";

/// Subject, day, and two readings in thousandths.
type Row = (u8, i64, i64, i64);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0u8..3, 0i64..30, 0i64..=1000, 0i64..=1000), 1..14)
}

fn items<'a>(rows: &'a [Row], ids: &'a [String]) -> Vec<Item<'a>> {
    let make = |(at, (subject, day, accuracy, security)): (usize, &Row)| Item {
        score: Some(Score::from_billionths((accuracy + security) * 500_000)),
        readings: vec![Reading::fresh(accuracy * 1_000_000), Reading::fresh(security * 1_000_000)],
        ..item(["a", "b", "c"][usize::from(*subject)], &ids[at], day * DAY, 0)
    };
    rows.iter().enumerate().map(make).collect()
}

fn ids(rows: &[Row]) -> Vec<String> {
    (0..rows.len()).map(|at| at.to_string()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_item_leaves_alone_what_it_does_not_measure(
        rows in prop::collection::vec((0i64..400, prop::option::of((0..=BILLION, 0i64..400))), 1..8),
        added in (0i64..400, 0..=BILLION),
        later in 0i64..400,
    ) {
        let card = card(&FULL.replace("review = {}\n", ""));
        let ids: Vec<String> = (0..=rows.len()).map(|at| at.to_string()).collect();
        let mut items: Vec<Item<'_>> = rows.iter().zip(&ids).map(|((day, accuracy), id)| {
            let accuracy = accuracy.map_or(Reading::Missing, |(reading, age)| Reading::Measured { reading, age_seconds: age * DAY });
            Item { readings: vec![accuracy, Reading::fresh(BILLION / 2)], ..item("a", id, day * DAY, 500) }
        }).collect();
        let look = |items: &[Item<'_>]| only(&card, items, &[], (400 + later) * DAY).dimensions[0].clone();
        let before = look(&items);
        let other = vec![Reading::Missing, Reading::fresh(added.1)];
        items.push(Item { readings: other, ..item("a", &ids[rows.len()], added.0 * DAY, 500) });
        prop_assert_eq!(look(&items), before);
    }
}

/// Returns all that does not depend on the places of the items given.
fn without_places(mut standings: Standings) -> Standings {
    for subject in &mut standings.subjects {
        subject.window.clear();
        subject.items.clear();
    }
    standings
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_repetition_change_nothing(rows in rows(), turn in 0usize..14, twice in 0usize..14) {
        let ids = ids(&rows);
        let given = items(&rows, &ids);
        let card = card(FULL);
        let expected = without_places(at(&card, &given, &[], 31 * DAY));
        let mut other = given.clone();
        other.rotate_left(turn % given.len());
        other.reverse();
        other.push(given[twice % given.len()].clone());
        let found = without_places(at(&card, &other, &[], 31 * DAY));
        prop_assert_eq!(found.repeated, 1);
        prop_assert_eq!(Standings { repeated: 0, ..found }, expected);
    }

    #[test]
    fn a_held_swing_never_raises_what_gates_see(rows in rows()) {
        let ids = ids(&rows);
        let given = items(&rows, &ids);
        let plain = card(&FULL.replace("review = {}\n", ""));
        let reviewed = card(FULL);
        let last = 31 * DAY;
        for (with, without) in at(&reviewed, &given, &[], last).subjects.iter().zip(at(&plain, &given, &[], last).subjects) {
            prop_assert!(with.gating_points <= without.gating_points);
            prop_assert!(with.gating_points <= with.points, "nor above the canonical score");
        }
    }

    #[test]
    fn shares_follow_what_gates_see(rows in rows()) {
        let ids = ids(&rows);
        let given = items(&rows, &ids);
        let standings = at(&card(FULL), &given, &[], 31 * DAY);
        let all: i64 = standings.subjects.iter().map(|it| it.share.unwrap().share.units()).sum();
        let nothing = standings.shared.unwrap().case == ShareCase::NothingToShare;
        prop_assert_eq!(all, if nothing { 0 } else { UNITS_PER_ONE });
        for a in &standings.subjects {
            for b in &standings.subjects {
                let is_less = a.shared_score(1000) < b.shared_score(1000);
                prop_assert!(!is_less || a.share.unwrap().share <= b.share.unwrap().share);
            }
        }
    }

    #[test]
    fn a_better_reading_or_another_evaluation_never_costs_a_tier(rows in rows(), better in 0i64..=500) {
        let section = FULL.replace("review = {}\n", "").replace("certification = {}\n", "");
        let card = card(&section);
        let own: Vec<Row> = rows.iter().map(|row| Row::from((0, row.1, row.2, row.3))).collect();
        let names = ids(&own);
        let tier = |rows: &[Row]| only(&card, &items(rows, &names), &[], 31 * DAY).tier.unwrap().held;
        let raised: Vec<Row> =
            own.iter().map(|row| (0, row.1, (row.2 + better).min(1000), (row.3 + better).min(1000))).collect();
        prop_assert!(tier(&raised) >= tier(&own));
        // The newest reading again, on an earlier day: one more evaluation of the same.
        let newest = own.iter().enumerate().max_by_key(|(at, row)| (row.1, at.to_string())).unwrap().1;
        let mut more = own.clone();
        more.push((0, 0, newest.2, newest.3));
        let all = ids(&more);
        let with_more = only(&card, &items(&more, &all), &[], 31 * DAY).tier.unwrap().held;
        if own.iter().any(|row| row.1 > 0) {
            prop_assert!(with_more >= tier(&own));
        }
    }

    #[test]
    fn runs_that_were_repeated_do_not_count(rows in rows(), tasks in 1u32..4, kinds in 1usize..5) {
        let ids = ids(&rows);
        let mut given = items(&rows, &ids);
        const NAMES: [&str; 4] = ["w", "x", "y", "z"];
        given.iter_mut().enumerate().for_each(|(at, item)| item.task = NAMES[at * 7 % 11 % kinds]);
        let rules = format!("window = {{ tasks = {tasks}, days = 9, distinct = true }}");
        let card = card(&format!("score = \"window\"\nwarm_up = {{ tasks = 3 }}\n{rules}"));
        let mut newest: Vec<Item<'_>> = given.clone();
        newest.sort_by_key(|item| (item.time_seconds, item.id));
        let kept = |at: usize| newest[at + 1..].iter().all(|later| (later.subject, later.task) != (newest[at].subject, newest[at].task));
        let newest: Vec<Item<'_>> = (0..newest.len()).filter(|at| kept(*at)).map(|at| newest[at].clone()).collect();
        let all = at(&card, &given, &[], 31 * DAY).subjects;
        let alone = at(&card, &newest, &[], 31 * DAY).subjects;
        for (all, alone) in all.iter().zip(&alone) {
            prop_assert_eq!(all.score, alone.score);
            prop_assert_eq!(all.warm_up.as_ref().map(|it| it.seen), alone.warm_up.as_ref().map(|it| it.seen));
            prop_assert_eq!(&all.spread, &alone.spread);
            prop_assert_eq!(all.counts.distinct_tasks, all.counts.in_window);
        }
    }
}
