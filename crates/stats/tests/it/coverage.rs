//! Intervals contain the true mean as often as they say; `examples/coverage.rs` prints the shares.

use karat_stats::estimate::Estimate;
use karat_stats::table::{Observation, TaskTable};

#[path = "../../examples/coverage.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{SHAPES, coverage};

#[test]
fn intervals_of_few_tasks_are_wide_enough() {
    for shape in SHAPES {
        for tasks in [5, 10, 20] {
            // Of many experiments no cell is below .955: four standard errors of 100 are .08.
            let found = coverage(shape, tasks, 100).unwrap();
            assert!(found.covered >= 0.9, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

/// Of results that are mostly alike one that differs, however little, moves the ends as little: nothing switches.
#[test]
fn a_result_that_is_nearly_alike_changes_an_interval_little() {
    let interval = |count: usize, value: f64, other: f64| {
        let rows = (0..count)
            .filter_map(|task| Observation::of_share(0, task, if task == 0 { other } else { value }));
        let table = TaskTable::new(1, &rows.collect::<Vec<_>>()).unwrap();
        let found = Estimate::new(&table, 0, 0.95).unwrap().interval.unwrap();
        [found.low, found.high].map(|end| (end * 1e4).round() / 1e4)
    };
    for (count, value, other, expected) in [
        (10, 1.0, 1.0, [0.6915, 1.0]),
        (10, 1.0, 0.99, [0.6908, 1.0]),
        (20, 0.9, 0.9, [0.7484, 0.9168]),
        (20, 0.9, 0.85, [0.7463, 0.9151]),
        (20, 0.9, 0.900_000_1, [0.7484, 0.9168]),
    ] {
        assert_eq!(interval(count, value, other), expected, "{count} of {value}, one {other}");
    }
}
