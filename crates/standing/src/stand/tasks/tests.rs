//! Results of tasks, and properties that always hold.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::lifecycle::TaskStatus;
use karat_core::facts::Digest;

const DAY: i64 = 86_400;
const BANDS: &str =
    r#"band = [{ name = "loss", from = 0 }, { name = "draw", from = 400 }, { name = "win", from = 700 }]"#;
const OUTCOMES: &str = r#"outcomes = { no-verdict = "excluded", stopped = "failure", refused = "success", not-applicable = "excluded" }"#;
const LIFECYCLE: &str = "lifecycle = { period_days = 1, periods = 3, quarantine_periods = 2 }";

fn card(head: &str, section: &str) -> Scorecard {
    let text = format!(
        r#"
schema = "karat/scorecard/1"
id = "trial"
version = "1.0.0"
title = "One dimension"
evidence = "facts"
scale = {{ max = 1000, publish = "half-up" }}
facts = {{ quality = {{ min = 0, max = 1 }} }}
dimension = [{{ key = "quality", weight = 1 }}]
{head}
[standing]
score = "window"
{OUTCOMES}
{section}
"#
    );
    karat_checker::parse(&text, &|_| None).unwrap()
}

/// Returns an attempt; its name says all of it.
fn attempt(
    subject: &'static str,
    at: i64,
    outcome: Option<Outcome>,
    thousandths: Option<i64>,
) -> Item<'static> {
    let id: &'static str = format!("{subject} {at} {outcome:?} {thousandths:?}").leak();
    Item {
        task: "maze",
        time_seconds: Some(at),
        outcome,
        score: thousandths.map(|score| Score::from_billionths(score * 1_000_000)),
        ..Item::new(subject, id, Digest::of(id.as_bytes()))
    }
}

fn at(card: &Scorecard, items: &[Item<'_>], as_of: i64) -> TaskStanding {
    let [task] = tasks(card, items, as_of, 0.95).unwrap().tasks.try_into().unwrap();
    task
}

/// Scores of subjects `a`, `b`, ... on one day, in thousandths.
fn day(number: i64, scores: &[i64]) -> Vec<Item<'static>> {
    let names = ["a", "b", "c", "d", "e"];
    scores.iter().zip(names).map(|(score, name)| attempt(name, number * DAY, None, Some(*score))).collect()
}

#[test]
fn with_bands_the_score_decides_and_without_them_the_outcome() {
    use Outcome::{Failed, NoVerdict, NotApplicable, Refused, Stopped, Succeeded};
    let ended: Vec<Item<'_>> = [
        (Some(Succeeded), Some(399)),
        (Some(Failed), Some(700)),
        (Some(Succeeded), None),
        (None, Some(400)),
        (None, Some(699)),
        (None, None),
        (Some(Stopped), Some(900)),
        (Some(Refused), Some(0)),
        (Some(NoVerdict), Some(900)),
        (Some(NotApplicable), None),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, (outcome, score))| attempt("a", at as i64, outcome, score))
    .collect();
    let section = "calibration = { completed = 1 }";
    let banded = at(&card(BANDS, section), &ended, DAY).results;
    // Won: 700 points, a success without a score, the refusal that counts as one. Drawn: 400 and 699.
    let expected = Results { attempts: 7, completed: 6, won: 3, drawn: 2, excluded: 2, undecided: 1 };
    assert_eq!((banded, banded.lost()), (expected, 1));
    let plain = at(&card("", section), &ended, DAY).results;
    let expected = Results { attempts: 5, completed: 4, won: 3, drawn: 0, excluded: 2, undecided: 3 };
    assert_eq!((plain, plain.lost()), (expected, 1));
}

#[test]
fn a_difficulty_stands_with_the_counts_that_led_to_it() {
    let card = card(BANDS, "calibration = { completed = 4 }");
    let won = |at| attempt("a", at, None, Some(800));
    let three: Vec<Item<'_>> = (0..3).map(won).collect();
    let found = at(&card, &three, DAY);
    let calibrated = found.calibrated.unwrap();
    assert_eq!((calibrated.difficulty, calibrated.completed_missing), (None, 1));
    let mut four = three;
    four.push(attempt("b", 3, None, Some(100)));
    four.push(attempt("b", 4, Some(Outcome::Stopped), None));
    let found = at(&card, &four, DAY);
    assert_eq!(
        (found.subjects, found.won.of, found.completed.of),
        (2, Proportion::new(3, 4).unwrap(), Proportion::new(4, 5).unwrap())
    );
    // 3 of 4 won, 4 of 5 completed: the second keeps it from being for newcomers, from the fifth attempt on.
    let calibrated = found.calibrated.unwrap();
    assert_eq!(calibrated.difficulty, Some(Difficulty::Contender));
    assert_eq!(calibrated.changes, [(3, Difficulty::Newcomer), (4, Difficulty::Contender)]);
    assert_eq!(found.won.interval, Some(Proportion::new(3, 4).unwrap().wilson(0.95).unwrap()));
    assert_eq!(found.life, None, "the card has no lifecycle");
}

#[test]
fn a_margin_needs_times() {
    let card = card(BANDS, "calibration = { completed = 2, margin = 0.2 }");
    // Two won, then two lost: half is below 0.65, by less than the margin.
    let mut items: Vec<Item<'_>> = (0..2).map(|at| attempt("a", at, None, Some(900))).collect();
    items.extend((2..4).map(|at| attempt("a", at, None, Some(0))));
    let kept = at(&card, &items, DAY).calibrated.unwrap();
    assert_eq!(kept.difficulty, Some(Difficulty::Newcomer));
    for item in &mut items {
        item.time_seconds = None;
    }
    let together = at(&card, &items, DAY).calibrated.unwrap();
    assert_eq!((together.difficulty, together.changes), (Some(Difficulty::Contender), vec![]));
}

#[test]
fn a_subject_counts_once_a_period_however_often_it_tries() {
    let card = card("", LIFECYCLE);
    let mut items = day(0, &[100, 950, 960, 970]);
    // Its hundred attempts make no majority, and its mean is what counts.
    items.extend((1..100).map(|at| attempt("a", at, None, Some(100))));
    items.push(attempt("b", 5, None, Some(840)));
    let life = at(&card, &items, DAY).life.unwrap();
    let [first] = life.periods.as_slice() else { panic!("{life:?}") };
    assert_eq!((first.outcome.scores, first.outcome.solved, first.outcome.failed), (4, 2, 0));
}

#[test]
fn a_period_is_judged_when_it_is_over() {
    let card = card("", LIFECYCLE);
    let items: Vec<Item<'_>> = (0..3).flat_map(|number| day(number, &[950, 950])).collect();
    let before = at(&card, &items, 3 * DAY - 1).life.unwrap();
    assert_eq!((before.life.status, before.periods.len()), (TaskStatus::Active, 2));
    let running = before.running.unwrap();
    assert_eq!((running.start_seconds, running.outcome.after), (2 * DAY, TaskStatus::Deprecated));
    let ahead = Ahead { status: TaskStatus::Deprecated, periods: 1, is_solved: true };
    assert_eq!(before.ahead, Some(ahead));
    let after = at(&card, &items, 3 * DAY).life.unwrap();
    assert_eq!((after.life.status, after.running, after.ahead), (TaskStatus::Deprecated, None, None));
}

#[test]
fn days_without_scores_are_skipped_and_days_before_1970_are_days() {
    let card = card("", LIFECYCLE);
    let items = [day(-2, &[50]), day(3, &[0]), day(9, &[0]), day(10, &[0])].concat();
    let life = at(&card, &items, 11 * DAY).life.unwrap();
    let after: Vec<(i64, TaskStatus)> =
        life.periods.iter().map(|it| (it.start_seconds / DAY, it.outcome.after)).collect();
    use TaskStatus::{Active, Quarantined};
    assert_eq!(after, [(-2, Active), (3, Active), (9, Quarantined), (10, Quarantined)]);
    let ahead = Ahead { status: TaskStatus::Deprecated, periods: 1, is_solved: false };
    assert_eq!(life.ahead, Some(ahead));
}

#[test]
fn what_is_excluded_is_no_score_of_a_period_and_what_is_a_failure_is_zero() {
    let card = card("", LIFECYCLE);
    let items = [
        attempt("a", 0, Some(Outcome::NoVerdict), Some(950)),
        attempt("b", 0, Some(Outcome::Stopped), Some(950)),
    ];
    let life = at(&card, &items, DAY).life.unwrap();
    assert_eq!((life.periods[0].outcome.scores, life.periods[0].outcome.failed), (1, 1));
    let none = at(&card, &items[..1], DAY).life.unwrap();
    assert_eq!((none.periods, none.life), (vec![], TaskLife::default()));
}

#[test]
fn without_times_there_is_no_life_and_with_some_the_others_are_left_out() {
    let card = card("", LIFECYCLE);
    let mut items = [day(0, &[950]), day(1, &[940])].concat();
    items[0].time_seconds = None;
    assert_eq!(tasks(&card, &items, 9 * DAY, 0.95).unwrap().without_time, [0]);
    items[1].time_seconds = None;
    let found = tasks(&card, &items, 0, 0.95).unwrap();
    assert!(found.by_id && found.tasks[0].life.is_none());
}

#[test]
fn what_cannot_be_answered_is_said() {
    let told = |card: &Scorecard, level| {
        let errors = tasks(card, &day(0, &[900]), DAY, level).unwrap_err();
        errors.iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    let [none] = told(&card("", ""), 0.95).try_into().unwrap();
    assert!(none.contains("expected `calibration` or `lifecycle` in its section `[standing]`"), "{none}");
    assert_eq!(told(&card(BANDS, "calibration = { completed = 1 }"), 1.5).len(), 1);
    let empty = tasks(&card("", LIFECYCLE), &[], 0, 0.95).unwrap();
    assert!(empty.tasks.is_empty() && !empty.by_id);
}

fn attempts() -> impl Strategy<Value = Vec<Item<'static>>> {
    let outcome = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Outcome::Stopped)),
        1 => Just(Some(Outcome::NoVerdict)),
    ];
    let one = (0..3usize, 0..6 * DAY, outcome, 0..=1000i64);
    prop::collection::vec(one, 0..40).prop_map(|all| {
        let item = |(who, at, outcome, score)| attempt(["a", "b", "c"][who], at, outcome, Some(score));
        all.into_iter().map(item).collect()
    })
}

proptest! {
    #[test]
    fn order_of_arrival_changes_nothing(items in attempts(), turn in 0..40usize) {
        let card = card(BANDS, &format!("{LIFECYCLE}\ncalibration = {{ completed = 5, margin = 0.05 }}"));
        let named = |items: &[Item<'_>]| {
            let found = tasks(&card, items, 5 * DAY, 0.95).unwrap();
            let ids: Vec<Vec<String>> = found.tasks.iter()
                .map(|task| task.items.iter().map(|at| items[*at].id.to_string()).collect()).collect();
            let rest = found.tasks.into_iter().map(|task| TaskStanding { items: vec![], ..task });
            (ids, rest.collect::<Vec<_>>(), found.after, found.repeated)
        };
        let mut turned = items.clone();
        turned.reverse();
        turned.rotate_left(turn.min(items.len()));
        prop_assert_eq!(named(&items), named(&turned));
    }

    #[test]
    fn more_wins_never_make_a_task_harder(items in attempts(), which in 0..40usize, margin in 0..10u32) {
        let card = card(BANDS, &format!("calibration = {{ completed = 5, margin = 0.0{margin} }}"));
        let hard = |items: &[Item<'_>]| {
            let found = tasks(&card, items, 6 * DAY, 0.95).unwrap();
            found.tasks.first().and_then(|task| task.calibrated.as_ref()?.difficulty)
        };
        let mut better = items.clone();
        if let Some(item) = better.get_mut(which).filter(|item| item.outcome.is_none()) {
            item.score = Some(Score::ONE);
        }
        prop_assert!(hard(&better) <= hard(&items));
    }
}
