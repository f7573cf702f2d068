//! A gate against regressions is seldom wrong, sees what a paired t-test sees, and needs the tasks that are said to be
//! needed; `examples/gate_errors.rs` prints the shares.

#[path = "../../examples/gate_errors.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{SHAPES, Shape, decisions, planned};

const EXPERIMENTS: u32 = 300;

#[test]
fn a_gate_seldom_fails_without_a_loss() {
    for shape in SHAPES {
        for tasks in [5, 10, 20, 30, 50] {
            let found = decisions(shape, tasks, 0.0, EXPERIMENTS).unwrap();
            // Four standard errors above .025 are .061.
            assert!(found.gate <= 0.06, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

#[test]
fn a_gate_sees_what_a_t_test_sees_and_does_not_pass_what_is_worse() {
    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Rare) {
        for steps in [2.0, 3.0] {
            let found = decisions(shape, 50, steps, EXPERIMENTS).unwrap();
            assert!(found.gate > 0.35 && found.gate >= found.t_test - 0.03, "{shape:?}: {found:?}");
        }
    }
}

/// A strict gate is wrong where it lets a version pass that is worse by exactly the margin.
#[test]
fn a_strict_gate_seldom_passes_what_is_worse_by_the_margin() {
    for shape in SHAPES {
        for (tasks, steps) in [(5, 2.0), (10, 2.0), (30, 2.0), (50, 3.0)] {
            let found = decisions(shape, tasks, steps, EXPERIMENTS).unwrap();
            assert!(found.not_worse <= 0.06, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

/// Six tasks at least must be shared and differ, so fewer show nothing, and a strict gate lets nothing pass.
#[test]
fn of_five_tasks_nothing_is_shown() {
    for shape in SHAPES {
        for steps in [0.0, 3.0] {
            let found = decisions(shape, 5, steps, 50).unwrap();
            assert_eq!((found.gate, found.not_worse), (0.0, 0.0), "{shape:?}");
        }
    }
}

#[test]
fn as_many_tasks_as_are_said_to_be_needed_are_enough_four_times_in_five() {
    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Rare) {
        for effect in [0.3, 0.5] {
            let found = planned(shape, effect, EXPERIMENTS).unwrap();
            // Three standard errors of 300 experiments are .07, and the formula is for tasks that spread as the normal
            // distribution: of 1,000 experiments the shares are .73 to .88.
            for share in [found.seen, found.not_worse] {
                assert!((0.68..=0.93).contains(&share), "{shape:?} {effect}: {found:?}");
            }
        }
    }
}
