use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::random::Random;

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-12
}

/// Returns a subject with `tasks` of `attempts`, of which every `step`-th is labelled; the judge errs at a share.
fn rows(seed: u64, subject: usize, tasks: usize, attempts: usize, step: usize, wrong: f64) -> Vec<Rated> {
    let mut random = Random::new(seed);
    let mut rows = Vec::new();
    for task in 0..tasks {
        let chance = random.open_unit();
        for attempt in 0..attempts {
            let label = f64::from(u8::from(random.open_unit() < chance));
            let verdict = if random.open_unit() < wrong { 1.0 - label } else { label };
            let is_labelled = (task * attempts + attempt).is_multiple_of(step);
            rows.push(Rated { task, subject, label: is_labelled.then_some(label), verdict });
        }
    }
    rows
}

#[test]
fn labels_alone_are_the_mean_of_the_labels() {
    // One attempt a task, all labelled: a share with its score interval, but for the two labels that are added.
    let rows: Vec<Rated> = (0..40)
        .map(|task| Rated { task, subject: 0, label: Some(f64::from(u8::from(task % 4 > 0))), verdict: 0.5 })
        .collect();
    let found = Predicted::new(&rows, 0, Some(0.0), 0.95).unwrap();
    assert!(near(found.mean, 0.75) && found.lambda == 0.0);
    let variance = (40.0 * 0.75 * 0.25 + 0.5) / 1600.0 * 40.0 / 39.0;
    assert!(near(found.standard_error, libm::sqrt(variance)), "{found:?}");
    let tuned = Predicted::new(&rows, 0, None, 0.95).unwrap();
    assert!(near(tuned.mean, 0.75) && tuned.lambda == 0.0, "a judge that says nothing is not used");
    // Nothing is left to choose.
    assert!(near(found.parts.effective_labels(40), 40.0));
}

#[test]
fn a_task_counts_the_same_with_more_attempts() {
    // Two tasks in three have one attempt, the third nine failures; all are labelled.
    let mut rows = Vec::new();
    for task in 0..60 {
        let (attempts, label) = if task % 3 == 0 { (9, 0.0) } else { (1, 1.0) };
        rows.extend((0..attempts).map(|_| Rated { task, subject: 4, label: Some(label), verdict: label }));
    }
    let found = Predicted::new(&rows, 4, None, 0.95).unwrap();
    assert!(near(found.mean, 2.0 / 3.0), "{found:?}");
    assert_eq!((found.labels, found.labelled_tasks, found.parts.items), (220, 60, 220));
}

#[test]
fn independent_items_are_those_of_the_published_method() {
    // With one attempt a task and many labels both are the same but for terms of 1 / labels.
    let rows = rows(3, 0, 40_000, 1, 10, 0.2);
    let labelled: Vec<(f64, f64)> = rows.iter().filter_map(|it| Some((it.label?, it.verdict))).collect();
    let unlabelled: Vec<f64> = rows.iter().filter(|it| it.label.is_none()).map(|it| it.verdict).collect();
    let published = IndependentMean::new(&labelled, &unlabelled, None, 0.95).unwrap();
    let found = Predicted::new(&rows, 0, None, 0.95).unwrap();
    assert!((found.mean - published.mean).abs() < 2e-5, "{found:?} {published:?}");
    assert!((found.standard_error / published.standard_error - 1.0).abs() < 5e-3, "{found:?} {published:?}");
    // All verdicts count there, here those of the unlabelled items.
    assert!((found.lambda * 0.9 / published.lambda - 1.0).abs() < 5e-3, "{found:?} {published:?}");
}

#[test]
fn a_better_judge_is_worth_more_labels() {
    let worth = |wrong| {
        let found = Predicted::new(&rows(5, 0, 300, 4, 4, wrong), 0, None, 0.95).unwrap();
        (found.lambda, found.parts.effective_labels(300), found.standard_error)
    };
    let all = [0.5, 0.35, 0.2, 0.05, 0.0].map(worth);
    assert!(all.is_sorted_by(|a, b| a.0 <= b.0 && a.1 < b.1 && a.2 > b.2), "{all:?}");
    assert!(all.iter().all(|it| it.1 > 299.0 && it.1 < 1200.0), "{all:?}");
}

#[test]
fn the_difference_is_that_of_the_means() {
    let mut both = rows(8, 0, 120, 3, 3, 0.2);
    both.extend(rows(8, 1, 120, 3, 4, 0.3));
    let of = |subject| Predicted::new(&both, subject, None, 0.95).unwrap();
    let found = PredictedDifference::new(&both, (0, 1), None, 0.95).unwrap();
    assert!(near(found.mean, of(0).mean - of(1).mean) && found.tasks == 120);
    let back = PredictedDifference::new(&both, (1, 0), None, 0.95).unwrap();
    assert!(near(found.mean, -back.mean) && near(found.interval.low, -back.interval.high));
    assert!(found.interval.low < found.mean && found.mean < found.interval.high);
    // The same tasks with the same results: they have them in common.
    let apart = libm::hypot(of(0).standard_error, of(1).standard_error);
    assert!(found.standard_error < apart, "{found:?} {apart}");
    // A task that only one has plays no part.
    both.push(Rated { task: 999, subject: 1, label: Some(1.0), verdict: 1.0 });
    assert_eq!(PredictedDifference::new(&both, (0, 1), None, 0.95).unwrap(), found);
}

#[test]
fn a_planned_number_of_labels_has_the_width() {
    let parts = Parts { items: 2000, of_tasks: 0.0004, with_judge: 0.1, labels_only: 0.25 };
    let found = parts.labels_for_half_width(0.06, 0.95).unwrap();
    for (labels, part) in [(found.with_judge, 0.1), (found.labels_only, 0.25)] {
        let labels = labels.unwrap() as f64;
        let half = 1.959_963_985 * libm::sqrt(parts.of_tasks + part * (1.0 / (labels - 1.92) - 1.0 / 2000.0));
        assert!(half <= 0.06 && half > 0.0595, "{half}");
    }
    assert!(found.with_judge < found.labels_only);
    // Below what the tasks leave open no label helps.
    let narrow = parts.labels_for_half_width(0.039, 0.95).unwrap();
    assert_eq!(narrow, LabelsNeeded { with_judge: None, labels_only: None });
    let gap = parts.labels_for_gap(0.1, 0.95, 0.8).unwrap();
    assert_eq!(gap, parts.labels_for_gap(-0.1, 0.95, 0.8).unwrap());
    let width =
        parts.labels_for_half_width(0.1 * 1.959_963_985 / (1.959_963_985 + 0.841_621_234), 0.95).unwrap();
    assert_eq!(gap, width);
    assert!(parts.labels_for_gap(0.1, 0.95, 1.0).is_err() && parts.labels_for_half_width(0.1, 0.0).is_err());
    assert_eq!(parts.labels_for_gap(0.0, 0.95, 0.8).unwrap().with_judge, None);
    // 1 / (1 / 2000 + 0.4 (1 / 100 - 1 / 2000)).
    assert!((parts.effective_labels(100) - 1.0 / 0.0043).abs() < 1e-9);
    assert!((parts.effective_labels(5000) - 2000.0).abs() < 1e-9);
}

#[test]
fn a_judge_that_was_never_wrong_may_still_be() {
    let all_pass: Vec<Rated> = (0..200)
        .map(|task| Rated { task, subject: 0, label: (task < 30).then_some(1.0), verdict: 1.0 })
        .collect();
    let found = Predicted::new(&all_pass, 0, None, 0.95).unwrap();
    assert!(near(found.mean, 1.0) && found.interval.high == 1.0);
    // Clopper and Pearson of 30 of 30: 0.884.
    assert!(found.interval.low < 0.884 && found.interval.low > 0.6, "{found:?}");
    assert_eq!(found.imbalance, 0.0);
}

#[test]
fn labels_of_the_best_only_are_seen() {
    let mut rows = rows(11, 0, 200, 4, 1, 0.1);
    assert!(Predicted::new(&rows, 0, None, 0.95).unwrap().imbalance.abs() < 1e-6);
    rows.iter_mut().enumerate().for_each(|(at, it)| {
        if it.verdict < 0.5 && at % 3 > 0 {
            it.label = None;
        }
    });
    assert!(Predicted::new(&rows, 0, None, 0.95).unwrap().imbalance > 3.0);
}

#[test]
fn without_enough_there_is_no_answer() {
    let few = rows(1, 0, 19, 4, 1, 0.1);
    let refusal =
        StatisticsError::TooFew { what: "tasks with a label of the subject", found: 19, needed: 20 };
    assert_eq!(Predicted::new(&few, 0, None, 0.95), Err(refusal.clone()));
    assert_eq!(PredictedDifference::new(&few, (0, 0), None, 0.95), Err(refusal));
    assert!(Predicted::new(&few, 7, None, 0.95).is_err());
    let mut enough = rows(1, 0, 20, 4, 1, 0.1);
    assert!(Predicted::new(&enough, 0, None, 0.95).is_ok());
    assert_eq!(Predicted::new(&enough, 0, None, 1.0), Err(StatisticsError::Level { found: 1.0 }));
    assert!(Predicted::new(&enough, 0, Some(1.5), 0.95).is_err());
    enough[5].verdict = 7.0;
    let found = Predicted::new(&enough, 0, None, 0.95);
    let expected = "a share from 0 to 1";
    assert_eq!(found, Err(StatisticsError::Value { row: 5, part: "verdict", found: 7.0, expected }));
    enough[5] = Rated { label: Some(f64::NAN), verdict: 1.0, ..enough[5] };
    assert!(Predicted::new(&enough, 0, None, 0.95).is_err());
    assert!(IndependentMean::new(&[(1.0, 1.0)], &[1.0, 0.0], None, 0.95).is_err());
    assert!(IndependentMean::new(&[(1.0, 1.0), (0.0, f64::NAN)], &[1.0, 0.0], None, 0.95).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_does_not_matter_and_ends_are_shares(seed in 0u64..1000, step in 1usize..6, wrong in 0.0f64..1.0) {
        let mut rows = rows(seed, 0, 40, 3, step, wrong);
        let found = Predicted::new(&rows, 0, None, 0.9);
        rows.reverse();
        let back = Predicted::new(&rows, 0, None, 0.9);
        if let (Ok(found), Ok(back)) = (&found, &back) {
            prop_assert!((found.mean - back.mean).abs() < 1e-12);
            prop_assert!((found.standard_error - back.standard_error).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&found.lambda));
            prop_assert!(0.0 <= found.interval.low && found.interval.low <= found.mean);
            prop_assert!(found.mean <= found.interval.high && found.interval.high <= 1.0);
            prop_assert!(found.parts.of_tasks > 0.0 && found.parts.with_judge > 0.0);
        }
        prop_assert_eq!(found.is_ok(), back.is_ok());
    }

    #[test]
    fn tuning_is_the_least_variance(seed in 0u64..1000, wrong in 0.0f64..0.6, other in 0.0f64..1.0) {
        let rows = rows(seed, 0, 50, 4, 3, wrong);
        let tasks = Tasks::new(&rows, 0).unwrap();
        let tuned = Linear::new(&tasks, None).unwrap();
        prop_assert!(tuned.variance(tuned.lambda) <= tuned.variance(other) * (1.0 + 1e-12));
    }
}

#[test]
fn the_digits_of_the_reference_implementation() {
    // ppi-python 0.2.3: ppi_mean_pointestimate and ppi_mean_ci, at 1 - alpha.
    let value = |at: usize| ((at * 37 + 11) % 101) as f64 / 100.0;
    let verdict = |at: usize| (0.7 * value(at) + 0.3 * value(at + 50)).min(1.0);
    let labelled: Vec<(f64, f64)> = (0..30).map(|at| (value(at), verdict(at))).collect();
    let unlabelled: Vec<f64> = (30..230).map(verdict).collect();
    for (lambda, mean, low, high) in [
        (None, 0.49490500000000004, 0.43817772088853035, 0.5516322791114697),
        (Some(1.0), 0.49490500000000004, 0.43817772088853035, 0.5516322791114697),
        (Some(0.0), 0.49233333333333335, 0.3880689667564227, 0.596597699910244),
    ] {
        let found = IndependentMean::new(&labelled, &unlabelled, lambda, 0.95).unwrap();
        assert!(near(found.mean, mean), "{found:?}");
        assert!(near(found.interval.low, low) && near(found.interval.high, high), "{found:?}");
    }
    let number = |is: bool| f64::from(u8::from(is));
    let label = |at: usize| number(!at.is_multiple_of(3));
    let right: Vec<(f64, f64)> =
        (0..60).map(|at| (label(at), if at % 7 == 0 { 1.0 - label(at) } else { label(at) })).collect();
    let wrong: Vec<(f64, f64)> = (0..60).map(|at| (label(at), 1.0 - label(at))).collect();
    let unlabelled: Vec<f64> = (0..500).map(|at| number(at % 5 < 3)).collect();
    for (labelled, mean, low, high) in [
        (right, 0.6570243514662086, 0.5801687268768307, 0.7338799760555865),
        (wrong, 0.6666666666666666, 0.5665640627471656, 0.7667692705861676),
    ] {
        let found = IndependentMean::new(&labelled, &unlabelled, None, 0.9).unwrap();
        assert!(near(found.mean, mean), "{found:?}");
        assert!(near(found.interval.low, low) && near(found.interval.high, high), "{found:?}");
        assert!(found.lambda < 1.0);
    }
}
