//! Intervals contain the true mean at least as often as they say; `examples/coverage.rs` prints the shares.

#[path = "../../examples/coverage.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{SHAPES, coverage};

#[test]
fn intervals_of_few_tasks_are_wide_enough_for_every_shape() {
    for shape in SHAPES {
        for tasks in [5, 10, 40] {
            // Four standard errors of a share of 0.975 in 200 experiments are 0.044.
            let found = coverage(shape, tasks, 200).unwrap();
            assert!(found.covered >= 0.93, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}
