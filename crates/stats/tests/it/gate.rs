//! A gate against regressions is seldom wrong, sees what a paired t-test sees, and needs the tasks that are said to be
//! needed; `examples/gate_errors.rs` prints the shares.

use karat_stats::cases::Cases;
use karat_stats::compare::{Differences, GateChange};
use karat_stats::table::{Observation, TaskTable};

#[path = "../../examples/gate_errors.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{SHAPES, Shape, decisions, planned, standard_error};

const EXPERIMENTS: u32 = 120;

/// By the shape, the number of tasks and the loss in standard errors. Skewed differences are seen too often at one side and too
/// seldom at the other, as by the t-test; of tasks of which hardly any is lost the t-test sees more.
#[test]
fn a_gate_is_seldom_wrong_and_sees_what_a_t_test_sees() {
    for shape in SHAPES {
        let is_skewed = matches!(shape, Shape::Gains | Shape::Losses);
        let is_rare = matches!(shape, Shape::Rare | Shape::Good);
        for (tasks, steps) in [(5, 0.0), (10, 0.0), (20, 0.0), (50, 0.0), (10, 2.0), (20, 2.0), (50, 3.0)] {
            let loss = steps * standard_error(shape, tasks);
            let found = decisions(shape, tasks, loss, EXPERIMENTS).unwrap();
            let wrong = found.worse + found.better;
            // Four standard errors of a share of .05 in 120 experiments are .08.
            let most = if is_skewed { found.t_worse + found.t_better + 0.03 } else { 0.1 };
            assert!(steps > 0.0 || wrong <= most, "{shape:?}, {tasks} tasks: {found:?}");
            let is_seen = found.worse > 0.3 && found.worse >= found.t_worse - 0.05;
            assert!(is_seen || steps == 0.0 || tasks < 20 || is_rare, "{shape:?}, {tasks} tasks: {found:?}");
            assert!(found.not_worse <= 0.06, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

/// A few tasks, each of another size, differ by the toss of a coin: of all tosses as many are called a difference as should be.
/// Half of the weight of the toss itself lets five and six tasks err in two of 32.
#[test]
fn of_all_tosses_of_signs_as_many_are_called_a_difference_as_the_level_allows() {
    for (tasks, wrong) in [(1, 0), (4, 0), (5, 2), (6, 4), (7, 6), (8, 12), (9, 26), (10, 52)] {
        let toss = |signs: u32| {
            let size = |task: u32| f64::from(1 << task) / 2048.0;
            let losses = (0..tasks).map(|task| if signs >> task & 1 == 1 { size(task) } else { -size(task) });
            let chance = compared(tasks as usize, &losses.collect::<Vec<_>>()).chance(0.0).unwrap();
            chance <= 0.025 || 1.0 - chance <= 0.025
        };
        assert_eq!((0..1 << tasks).filter(|signs| toss(*signs)).count(), wrong, "{tasks} tasks");
    }
}

/// From .98 to .94, worse by exactly the margin: intervals of what was seen let up to 47 % pass.
#[test]
fn a_strict_gate_does_not_exclude_what_was_not_seen() {
    for tasks in [10, 20, 30, 50] {
        let found = decisions(Shape::Good, tasks, 0.04, EXPERIMENTS).unwrap();
        assert!(found.not_worse <= 0.025, "{tasks} tasks: {found:?}");
    }
}

#[test]
fn as_many_tasks_as_are_said_to_be_needed_are_enough_four_times_in_five() {
    for shape in SHAPES.into_iter().filter(|shape| !matches!(shape, Shape::Rare | Shape::Good)) {
        let found = planned(shape, 0.5, EXPERIMENTS).unwrap();
        // Four standard errors of 120 experiments are .15, and the formula is for tasks that spread as the normal distribution.
        for share in [found.seen, found.not_worse] {
            assert!((0.65..=0.95).contains(&share), "{shape:?}: {found:?}");
        }
    }
}

/// The differences of a version that loses `losses` of `count` tasks, the others being equal.
#[expect(clippy::unwrap_used, reason = "a test that cannot go on must fail")]
fn compared(count: usize, losses: &[f64]) -> Differences {
    let rows = (0..count).flat_map(|task| {
        let lost = losses.get(task).copied().unwrap_or(0.0);
        [Observation::of_share(0, task, 0.5), Observation::of_share(1, task, 0.5 - lost)]
    });
    let table = TaskTable::new(2, &rows.flatten().collect::<Vec<_>>()).unwrap();
    Differences::new(&table, &Cases::default(), 0, 1).unwrap()
}

/// A constant loss is the strongest evidence; and the better the new version, the milder the finding.
#[test]
fn losses_that_are_mostly_alike_are_judged_as_what_they_are() {
    for (name, count, losses, finding, interval) in [
        ("all by 10", 20, vec![0.1; 20], "worse", (0.1, 0.1)),
        ("one better by 5", 20, [vec![0.1; 19], vec![-0.05]].concat(), "worse", (0.0786, 0.1)),
        ("one equal", 20, vec![0.1; 19], "worse", (0.0857, 0.1)),
        ("one by a little less", 20, [vec![0.1; 19], vec![0.099_999_999]].concat(), "worse", (0.1, 0.1)),
        ("one better, others equal", 20, vec![-0.05], "open", (-0.0071, 0.0)),
        ("all equal", 20, vec![], "open", (0.0, 0.0)),
        ("six by 1", 20, vec![0.01; 6], "worse", (0.001, 0.005)),
        ("five of ten lost", 10, vec![0.4; 5], "worse", (0.0, 0.4)),
    ] {
        let differences = compared(count, &losses);
        let found = differences.compare(0.95).unwrap();
        let ends = found.estimate.interval.unwrap();
        let round = |end: f64| (end * 1e4).round() / 1e4;
        let change = differences.change(0.0, 0.95, 0.95).unwrap();
        assert_eq!(
            (change.name(), round(ends.low), round(ends.high)),
            (finding, interval.0, interval.1),
            "{name}"
        );
        assert_eq!(ends.low > 0.0, change == GateChange::Worse, "{name}");
        // Less than is needed to exclude what was not seen.
        assert_ne!(differences.change(0.05, 0.95, 0.95).unwrap(), GateChange::NotWorse, "{name}");
    }
}
