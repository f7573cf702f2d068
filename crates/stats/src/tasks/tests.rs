use proptest::prelude::*;

use super::subset::{SubsetPlan, smallest_subset, split_subjects};
use super::*;
use crate::table::Observation;

/// Returns a table from results in tenths, by subject and task.
fn table(rows: &[&[i64]]) -> TaskTable {
    let cells = rows.iter().enumerate().flat_map(|(subject, row)| {
        row.iter().enumerate().map(move |(task, tenths)| Observation {
            subject,
            task,
            value: tenths * 100_000_000,
        })
    });
    TaskTable::of(rows.len(), cells.collect::<Vec<_>>().into_iter()).unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} {expected}");
}

const ROWS: [&[i64]; 8] = [
    &[10, 10, 10, 0, 10, 10, 10, 3],
    &[10, 10, 10, 0, 10, 10, 10, 5],
    &[10, 10, 0, 0, 10, 10, 5, 10],
    &[10, 0, 10, 0, 10, 10, 0, 0],
    &[10, 10, 0, 10, 10, 0, 5, 2],
    &[10, 0, 0, 10, 10, 0, 0, 4],
    &[10, 0, 0, 10, 10, 0, 0, 1],
    &[0, 0, 0, 10, 10, 0, 0, 0],
];

#[test]
fn correlations_and_tests_of_another_implementation() {
    // numpy 2.4.6: corrcoef of a column with the sum of the others; scipy 1.17.1: permutation_test, pairings, "less", exact.
    let expected = [
        (0, 0.447729677523, 1.000000000000),
        (1, 0.748810159925, 0.985714285714),
        (2, 0.328909371923, 0.803571428571),
        (3, -0.859779234270, 0.014285714286),
        (5, 0.548196981637, 0.914285714286),
        (6, 0.861248253468, 1.000000000000),
        (7, 0.417384676512, 0.847023809524),
    ];
    let items = items(&table(&ROWS), 0.95).unwrap();
    let found = suspects(&table(&ROWS), 0.2, FalseDiscoveryRule::BenjaminiHochberg, 1).unwrap();
    for (task, discrimination, p) in expected {
        near(items[task].discrimination.unwrap(), discrimination);
        let test = found.tests.iter().find(|it| it.task == task).unwrap();
        // Eight different values have 40,320 arrangements, of which some are drawn.
        if task == 7 { assert!((test.p - p).abs() < 0.25) } else { near(test.p, p) }
    }
    assert_eq!((items[4].discrimination, items[4].decides_nothing), (None, true));
    assert_eq!(items.iter().filter(|it| it.decides_nothing).count(), 1);
    near(items[2].difficulty.mean, 0.375);
    assert_eq!(items[2].difficulty.tasks, 8);
    assert!(items[2].difficulty.interval.unwrap().low < 0.375);
    assert!(found.tests.iter().all(|it| it.task != 4 && it.suspect == (it.task == 3)));
}

#[test]
fn too_few_subjects_find_nothing() {
    near(lowest_p(6), 0.05);
    near(lowest_p(8), 1.0 / 70.0);
    near(lowest_p(20), 1.0 / 184_756.0);
    assert_eq!([0.05, 0.049, 1.0 / 70.0, 1e-4].map(subjects_for), [6, 7, 8, 16]);
    // The wrong task of five subjects has 1 of C(5, 2) = 10 arrangements at best, 1 of 5 below a half.
    let few = [ROWS[0], ROWS[1], ROWS[2], ROWS[6], ROWS[7]].map(|row| &row[..6]);
    let error = suspects(&table(&few), 0.05, FalseDiscoveryRule::BenjaminiHochberg, 1).unwrap_err();
    assert_eq!(
        error,
        StatisticsError::TooFew { what: "subjects with different results", found: 5, needed: 8 }
    );
    assert!(suspects(&table(&ROWS[..1]), 0.05, FalseDiscoveryRule::BenjaminiHochberg, 1).is_err());
    assert!(suspects(&table(&ROWS), 0.0, FalseDiscoveryRule::BenjaminiHochberg, 1).is_err());
    // One of two subjects: a correlation would always be 1 or -1.
    assert!(items(&table(&ROWS[..2]), 0.95).unwrap().iter().all(|it| it.discrimination.is_none()));
    assert!(items(&table(&[]), 0.95).unwrap().is_empty() && items(&table(&ROWS), 0.0).is_err());
    let alone = items(&table(&ROWS[..1]), 0.95).unwrap();
    assert!(alone.iter().all(|it| it.difficulty.interval.is_none() && !it.decides_nothing));
}

#[test]
fn the_rule_for_all_dependence_asks_for_more() {
    let p = |rule| suspects(&table(&ROWS), 0.1, rule, 1).map(|it| (it.counted, it.subjects_for_one));
    // One task with a p-value below a half: 0.05 with 6 subjects. All six that could show 0.1: 0.1 / 6 / 2.45 = 0.0068 with 10.
    assert_eq!(p(FalseDiscoveryRule::BenjaminiHochberg), Ok((1, 6)));
    assert_eq!(p(FalseDiscoveryRule::BenjaminiYekutieli), Ok((6, 10)));
    near(harmonic(FalseDiscoveryRule::BenjaminiYekutieli, 3), 11.0 / 6.0);
}

#[test]
fn a_drawn_p_value_is_close_to_the_exact_one() {
    // 16 subjects of which 8 pass: 12,870 arrangements are all looked at, of 17 subjects 24,310 are not.
    let pairs = |count: i64| -> Vec<(i64, i64)> {
        (0..count).map(|at| (i64::from(at * 7 % count < 8), at * at % 23)).collect()
    };
    for count in [17, 18, 19] {
        let pairs = pairs(count);
        let found = arranged(&pairs, 100_000, 3).unwrap();
        let (mut values, rest): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
        let sum = |values: &[i64]| values.iter().zip(&rest).map(|(a, b)| a * b).sum::<i64>();
        let observed = sum(&values);
        values.sort_unstable();
        let (mut all, mut low) = (0.0, 0.0);
        loop {
            all += 1.0;
            low += f64::from(u8::from(sum(&values) <= observed));
            if !advance(&mut values) {
                break;
            }
        }
        // Twenty as low: a relative standard error of 0.22.
        assert!((found.test.p / (low / all) - 1.0).abs() < 0.7, "{count}: {} {}", found.test.p, low / all);
    }
}

#[test]
fn tasks_of_which_one_would_do() {
    let found = redundant(&table(&ROWS), 0.85, 8).unwrap();
    // Column 3 is column 5 turned round: opposed, not redundant.
    assert_eq!(found.identical, Vec::<Vec<usize>>::new());
    let mut rows = ROWS.map(<[i64]>::to_vec);
    rows.iter_mut().for_each(|row| row.extend([row[2], row[4], row[2]]));
    let rows: Vec<&[i64]> = rows.iter().map(Vec::as_slice).collect();
    let found = redundant(&table(&rows), 0.5, 8).unwrap();
    assert_eq!(found.identical, [[2, 8, 10]], "what decides nothing is not in it");
    let near = found.near.unwrap();
    assert!(near.iter().all(|it| it.0 < it.1 && it.1 < 8 && it.2 >= 0.5));
    assert!(near.windows(2).all(|two| two[0].2 >= two[1].2));
    assert!(near.iter().any(|it| (it.0, it.1) == (2, 5)));
    assert!(redundant(&table(&rows), 0.5, 9).is_err() && redundant(&table(&rows), 1.5, 8).is_err());
}

const PLAN: SubsetPlan = SubsetPlan { tau: 0.9, most: 8, level: 0.95, seed: 1 };

/// Returns two runs of the same subjects at 40 tasks, of which 10 spread the subjects.
fn runs() -> [TaskTable; 2] {
    let mut random = Random::new(5);
    [0, 1].map(|_| {
        let mut rows = Vec::new();
        for subject in 0..10 {
            for task in 0..40 {
                let chance = if task < 10 { 0.05 + 0.1 * subject as f64 } else { 0.5 };
                let tries = (0..8).filter(|_| random.open_unit() < chance).count();
                rows.push(Observation { subject, task, value: tries as i64 * 125_000_000 });
            }
        }
        TaskTable::new(10, &rows).unwrap()
    })
}

#[test]
fn a_subset_is_checked_where_it_was_not_found() {
    let [found, checked] = runs();
    let subset = smallest_subset(&found, &checked, PLAN).unwrap().unwrap();
    assert!(subset.tau_found >= 0.9 && subset.tasks.len() <= 5 && subset.of_tasks == 40, "{subset:?}");
    assert!(subset.tau_checked.unwrap() > subset.tau_random.unwrap(), "{subset:?}");
    assert!(subset.width_of_subset > subset.width_of_all, "{subset:?}");
    assert_eq!(smallest_subset(&found, &checked, PLAN).unwrap().unwrap(), subset);
    assert_eq!(smallest_subset(&found, &checked, SubsetPlan { tau: 1.0, most: 1, ..PLAN }), Ok(None));
    let all = smallest_subset(&found, &checked, SubsetPlan { tau: 1.0, most: 40, ..PLAN }).unwrap();
    assert!(all.is_some_and(|it| it.tau_found >= 1.0));
    assert!(smallest_subset(&found, &checked, SubsetPlan { tau: 0.0, ..PLAN }).is_err());
    assert!(smallest_subset(&found, &checked, SubsetPlan { level: 0.0, ..PLAN }).is_err());
    assert!(smallest_subset(&table(&ROWS[..2]), &checked, PLAN).is_err());
}

#[test]
fn the_first_task_of_a_subset_is_the_best_of_all() {
    let rows: [&[i64]; 4] = [&[10, 10, 9], &[10, 7, 5], &[0, 5, 7], &[10, 1, 0]];
    let found = smallest_subset(&table(&rows), &table(&rows), PLAN).unwrap().unwrap();
    assert_eq!((found.tasks, found.tau_found, found.tau_checked), (alloc::vec![1], 1.0, Some(1.0)));
}

#[test]
fn halves_of_subjects_span_the_range() {
    let (first, second) = split_subjects(&table(&ROWS)).unwrap();
    let subjects = |half: &TaskTable| (0..8).filter(|&it| half.tasks_of(it) > 0).collect::<Vec<_>>();
    let (own, other) = (subjects(&first), subjects(&second));
    assert_eq!((own.len(), other.len()), (4, 4));
    assert!(own.iter().all(|it| !other.contains(it)));
    assert_eq!(first.results(own[0]).collect::<Vec<_>>(), table(&ROWS).results(own[0]).collect::<Vec<_>>());
    assert!(own.contains(&7), "the weakest is in the first half");
    assert!(split_subjects(&table(&ROWS[..5])).is_err());
    let subset = smallest_subset(&first, &second, PLAN).unwrap().unwrap();
    assert!(subset.tau_checked.is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn p_values_are_those_of_all_orders(pairs in prop::collection::vec((0i64..3, 0i64..5), 3..7)) {
        let found = arranged(&pairs, 1000, 1).unwrap();
        // All n! orders by Heap's algorithm, without regard to equal values.
        let mut values: Vec<i64> = pairs.iter().map(|it| it.0).collect();
        let sum = |values: &[i64]| values.iter().zip(&pairs).map(|(a, b)| a * b.1).sum::<i64>();
        let observed = sum(&values);
        let mut sums = alloc::vec![observed];
        let mut state = alloc::vec![0; values.len()];
        let mut at = 1;
        while at < values.len() {
            if state[at] < at {
                values.swap(if at % 2 == 0 { 0 } else { state[at] }, at);
                sums.push(sum(&values));
                state[at] += 1;
                at = 1;
            } else {
                state[at] = 0;
                at += 1;
            }
        }
        let share = |bound: i64| sums.iter().filter(|&&it| it <= bound).count() as f64 / sums.len() as f64;
        prop_assert!((found.test.p - share(observed)).abs() < 1e-12);
        prop_assert!((found.test.lowest - share(*sums.iter().min().unwrap())).abs() < 1e-12);
        prop_assert!(found.test.lowest <= found.test.p);
        let attained = sums.iter().map(|&it| share(it)).filter(|&it| it <= 0.5).fold(0.0, f64::max);
        prop_assert!((found.reach - attained).abs() < 1e-12);
    }

    #[test]
    fn names_and_order_of_tasks_change_nothing(rows in prop::collection::vec(prop::collection::vec(0i64..3, 5), 6..9)) {
        let cells = |name: fn(usize) -> usize| -> Vec<Observation> {
            rows.iter().enumerate().flat_map(|(subject, row)| row.iter().enumerate().map(move |(task, value)| {
                Observation { subject, task: name(task), value: value * 500_000_000 }
            })).collect()
        };
        let of = |cells: Vec<Observation>| items(&TaskTable::new(rows.len(), &cells).unwrap(), 0.9).unwrap();
        let (own, other) = (of(cells(|task| task)), of(cells(|task| 1_000_000 - 7 * task)));
        for (one, two) in own.iter().zip(other.iter().rev()) {
            prop_assert_eq!(one.task, (1_000_000 - two.task) / 7);
            prop_assert_eq!(one.difficulty, two.difficulty);
            prop_assert_eq!(one.discrimination.map(f64::to_bits), two.discrimination.map(f64::to_bits));
        }
    }
}
