use proptest::prelude::*;

use super::*;

const PLAN: FrontPlan = FrontPlan { draws: 500, seed: 1 };

fn row(subject: usize, task: usize, quality: f64, cost: f64) -> CostRow {
    CostRow { subject, task, quality: Some((quality * 1e9) as i64), cost: Some(cost) }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
}

#[test]
fn costs_that_are_missing_do_not_make_what_is_solved_cheap() {
    // Ten tasks at 0.1, nine solved; the cost of five is known.
    let rows: Vec<CostRow> = (0..10)
        .map(|task| CostRow {
            cost: (task < 5).then_some(0.1),
            ..row(0, task, f64::from(u8::from(task != 2)), 0.0)
        })
        .collect();
    let found = Costs::new(1, &rows).unwrap().cost_per_solved(0, 0.95).unwrap();
    near(found.cost.unwrap(), 0.5 / 4.0);
    assert_eq!((found.tasks, found.share_with_both), (5, 0.5));
}

#[test]
fn the_interval_of_another_implementation() {
    // numpy 2.4.6, scipy 1.17.1.
    let costs = [0.4, 1.1, 0.2, 3.0, 0.7, 0.9, 2.2, 0.5];
    let solved = [1.0, 1.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0];
    let rows: Vec<CostRow> = (0..8).map(|task| row(0, task, solved[task], costs[task])).collect();
    let found = Costs::new(1, &rows).unwrap().cost_per_solved(0, 0.95).unwrap();
    near(found.cost.unwrap(), 9.0 / 5.5);
    let interval = found.interval.unwrap();
    near(interval.low, 0.472381545404);
    near(interval.high, 7.611073056445);
    assert_eq!(interval.method, IntervalMethod::LogRatio);
}

#[test]
fn what_is_not_solved_has_no_cost() {
    let of = |rows: &[CostRow]| Costs::new(2, rows).unwrap().cost_per_solved(0, 0.95);
    let nothing = of(&[row(0, 0, 0.0, 1.0), row(0, 1, 0.0, 2.0)]).unwrap();
    assert_eq!((nothing.cost, nothing.interval, nothing.tasks), (None, None, 2));
    let once = of(&[row(0, 0, 1.0, 1.0)]).unwrap();
    assert_eq!((once.cost, once.interval), (Some(1.0), None));
    let free = of(&[row(0, 0, 1.0, 0.0), row(0, 1, 1.0, 0.0)]).unwrap();
    assert_eq!((free.cost, free.interval), (Some(0.0), None));
    let unknown = of(&[CostRow { cost: None, ..row(0, 0, 1.0, 0.0) }]).unwrap();
    assert_eq!((unknown.cost, unknown.tasks, unknown.share_with_both), (None, 0, 0.0));
    assert!(of(&[row(1, 0, 1.0, 1.0)]).is_err());
    assert!(Costs::new(1, &[row(0, 0, 1.0, 1.0)]).unwrap().cost_per_solved(0, 1.0).is_err());
}

#[test]
fn rows_that_cannot_be_used_are_named() {
    let error = |rows: &[CostRow]| alloc::format!("{}", Costs::new(1, rows).unwrap_err());
    assert_eq!(
        error(&[row(1, 0, 1.0, 1.0)]),
        "row 0: the subject is 1, expected a place in the list of subjects"
    );
    assert_eq!(
        error(&[row(0, 0, 1.1, 1.0)]),
        "row 0: the quality is 1100000000, expected billionths from 0 to 1000000000"
    );
    assert_eq!(error(&[row(0, 0, 1.0, -2.0)]), "row 0: the cost is -2, expected a finite number from 0 on");
    assert!(Costs::new(1, &[row(0, 0, 1.0, f64::NAN)]).is_err());
    assert_eq!(
        error(&[row(0, 3, 1.0, 1.0), row(0, 3, 1.0, 1.0)]),
        "rows 0 and 1 are both the same task of one subject; keep one of them"
    );
}

#[test]
fn who_is_far_better_dominates_in_most_resamples() {
    let rows: Vec<CostRow> = (0..60)
        .flat_map(|task| {
            let hard = 0.005 * task as f64;
            let quality = |least: f64| least - hard;
            [
                row(0, task, quality(0.9), 1.0),
                row(1, task, quality(0.4), 2.0),
                row(2, task, quality(0.4), 2.0),
                row(4, task, 0.0, 0.5),
            ]
        })
        .collect();
    let found = Costs::new(5, &rows).unwrap().front(PLAN).unwrap();
    let row = |subject: usize| found.subjects[subject].unwrap();
    assert_eq!([0, 1, 2, 4].map(|it| row(it).on_front), [true, false, false, true]);
    assert_eq!([0, 1, 2, 4].map(|it| row(it).share), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(found.subjects[3], None);
    let certain: Vec<_> =
        found.pairs.iter().filter(|it| it.holds).map(|it| (it.better, it.worse, it.share)).collect();
    assert_eq!(certain, [(0, 1, 1.0), (0, 2, 1.0)], "equal subjects do not dominate each other");
    // Equal ones differ at the task that was not seen, either way in a quarter of the resamples.
    let other: Vec<_> = found.pairs.iter().filter(|it| !it.holds).collect();
    assert_eq!(other.iter().map(|it| (it.better, it.worse)).collect::<Vec<_>>(), [(1, 2), (2, 1)]);
    assert!(other.iter().all(|it| (it.share - 0.25).abs() < 0.07), "{other:?}");
    assert_eq!((found.tasks, found.tasks_left_out), (60, 0));
    near(row(1).cost, 2.0);
}

#[test]
fn few_tasks_that_both_solve_decide_nothing() {
    let share = |tasks| {
        let rows: Vec<CostRow> =
            (0..tasks).flat_map(|task| [row(0, task, 1.0, 1.0), row(1, task, 1.0, 3.0)]).collect();
        let found = Costs::new(2, &rows).unwrap().front(PLAN).unwrap();
        found.pairs[0].share
    };
    assert!((share(20) - 0.75).abs() < 0.06 && (share(200) - 0.75).abs() < 0.06);
}

#[test]
fn tasks_without_a_cost_of_one_count_for_no_one() {
    let mut rows: Vec<CostRow> =
        (0..6).flat_map(|task| [row(0, task, 1.0, 1.0), row(1, task, 0.5, 2.0)]).collect();
    rows[0].cost = None;
    rows[3].quality = None;
    let costs = Costs::new(3, &rows).unwrap();
    let found = costs.front(PLAN).unwrap();
    assert_eq!((found.tasks, found.tasks_left_out, found.subjects[2]), (4, 2, None));
    assert!(costs.front(FrontPlan { draws: 0, ..PLAN }).is_err());
    assert!(costs.front(FrontPlan { draws: u32::MAX, ..PLAN }).is_err());
    assert!(Costs::new(3, &rows[..4]).unwrap().front(PLAN).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn the_front_of_all_pairs_compared(
        values in prop::collection::vec((0u8..4, 0u8..4), 8..40), subjects in 2usize..5,
    ) {
        let tasks = values.len() / subjects;
        let at = |subject: usize, task: usize| values[subject * tasks + task];
        let rows: Vec<CostRow> = (0..subjects).flat_map(|subject| (0..tasks).map(move |task| (subject, task)))
            .map(|(subject, task)| row(subject, task, f64::from(at(subject, task).0) / 4.0, f64::from(at(subject, task).1)))
            .rev().collect();
        let costs = Costs::new(subjects, &rows).unwrap();
        let found = costs.front(FrontPlan { draws: 50, seed: 3 }).unwrap();
        let total = |subject: usize| (0..tasks).fold((0u32, 0u32), |sum, task| {
            (sum.0 + u32::from(at(subject, task).0), sum.1 + u32::from(at(subject, task).1))
        });
        for subject in 0..subjects {
            let (quality, cost) = total(subject);
            let is_dominated = (0..subjects).map(total).any(|it| {
                (it.0 > quality && it.1 <= cost) || (it.0 == quality && it.1 < cost)
            });
            let own = found.subjects[subject].unwrap();
            prop_assert_eq!(own.on_front, !is_dominated);
            prop_assert!((0.0..=1.0).contains(&own.share));
            let per_solved = costs.cost_per_solved(subject, 0.95).unwrap();
            if let (Some(cost), Some(interval)) = (per_solved.cost, per_solved.interval) {
                prop_assert!(interval.low <= cost && cost <= interval.high);
            }
        }
        for pair in &found.pairs {
            let opposite = found.pairs.iter().find(|it| (it.better, it.worse) == (pair.worse, pair.better));
            prop_assert!(pair.share + opposite.map_or(0.0, |it| it.share) <= 1.0 + 1e-12);
            prop_assert!(found.subjects[pair.worse].unwrap().share <= 1.0 - pair.share + 1e-12);
        }
        // In another unit of cost nothing changes.
        let dearer: Vec<CostRow> = rows.iter().map(|it| CostRow { cost: it.cost.map(|cost| 64.0 * cost), ..*it }).collect();
        let other = Costs::new(subjects, &dearer).unwrap().front(FrontPlan { draws: 50, seed: 3 }).unwrap();
        prop_assert_eq!(&other.pairs, &found.pairs);
    }
}
