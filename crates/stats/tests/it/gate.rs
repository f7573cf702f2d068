//! A gate against regressions is seldom wrong, sees what a paired t-test sees, and needs the tasks that are said to be
//! needed; `examples/gate_errors.rs` prints the shares.

#[path = "../../examples/gate_errors.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{SHAPES, Shape, decisions, planned, standard_error};

const EXPERIMENTS: u32 = 300;

/// Four standard errors of a share of .025 in 300 experiments are .036.
#[test]
fn a_gate_seldom_fails_without_a_loss() {
    for shape in SHAPES {
        for tasks in [5, 10, 20, 50] {
            let found = decisions(shape, tasks, 0.0, EXPERIMENTS).unwrap();
            // Of few great gains the t-test fails as often.
            let most = f64::max(0.061, found.t_worse + 0.02);
            assert!(found.worse <= most && found.better <= 0.12, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

#[test]
fn a_gate_sees_what_a_t_test_sees_from_twenty_tasks_on() {
    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Rare) {
        for tasks in [20, 50] {
            let found = decisions(shape, tasks, 3.0 * standard_error(shape, tasks), EXPERIMENTS).unwrap();
            assert!(found.worse >= found.t_worse - 0.06, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

/// A strict gate is wrong where it lets a version pass that is worse by exactly the margin.
#[test]
fn a_strict_gate_seldom_passes_what_is_worse_by_the_margin() {
    for shape in SHAPES {
        for tasks in [5, 10, 30] {
            let loss = 2.0 * standard_error(shape, tasks);
            let found = decisions(shape, tasks, loss, EXPERIMENTS).unwrap();
            assert!(found.not_worse <= 0.061, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

#[test]
fn as_many_tasks_as_are_said_to_be_needed_are_enough_four_times_in_five() {
    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Rare) {
        for effect in [0.5, 0.8] {
            let found = planned(shape, effect, 200).unwrap();
            assert!((0.6..=0.95).contains(&found.seen), "{shape:?} {effect}: {found:?}");
        }
    }
}
