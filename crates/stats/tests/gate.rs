//! A gate against regressions is seldom wrong, and sees what a paired t-test sees; `examples/gate.rs` prints the shares.

#[path = "../examples/gate.rs"]
#[expect(dead_code, reason = "the program around the simulation")]
mod simulation;

use simulation::{SHAPES, Shape, decisions};

#[test]
fn a_gate_seldom_fails_without_a_loss() {
    for shape in SHAPES {
        for tasks in [20, 50] {
            let found = decisions(shape, tasks, 0.0, 300).unwrap();
            // Four standard errors above .025 are .061.
            assert!(found.gate <= 0.06, "{shape:?}, {tasks} tasks: {found:?}");
        }
    }
}

#[test]
fn a_gate_sees_what_a_t_test_sees_and_does_not_pass_what_is_worse() {
    for shape in [Shape::OneRun, Shape::FiveRuns, Shape::Scores] {
        for steps in [2.0, 3.0] {
            let found = decisions(shape, 50, steps, 300).unwrap();
            assert!(found.gate > 0.35 && (found.gate - found.t_test).abs() <= 0.03, "{shape:?}: {found:?}");
            assert!(found.not_worse <= 0.06, "{shape:?}: {found:?}");
        }
    }
}
