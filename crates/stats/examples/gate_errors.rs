//! Error and power of a gate against regressions, in simulated tasks of which the truth is known.
//!
//! `cargo run --release -p karat-stats --example gate_errors [EXPERIMENTS]` prints a table. In each cell a version is compared with
//! the one before on the same tasks, and the gate fails if the 95 % interval says that the new one is worse. The paired
//! t-test on the same results, one-sided at 2.5 %, is beside it. The standard error of a share of .05 is .005 with 2,000
//! experiments, of .5 it is .011. A test runs a smaller number.

use std::error::Error;

use karat_stats::bootstrap::Plan;
use karat_stats::compare::{GateChange, paired_bootstrap};
use karat_stats::mean::student_t;
use karat_stats::power::POWER;
use karat_stats::random::Random;
use karat_stats::table::{Observation, TaskTable};

/// The results of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One run of each version, won or lost.
    OneRun,
    /// Five runs of each version, won or lost.
    FiveRuns,
    /// One score of each version, anywhere from 0 to 1.
    Scores,
    /// One run of each version at easy tasks, of which few are lost.
    Rare,
    /// Scores of which three in five are the same in both versions.
    Ties,
    /// Scores that now and then jump by a lot, up or down.
    Jumps,
    /// One to eight runs of each version that hardly differ within a task: each task is a cluster.
    Clusters,
    /// One run of each version, and as many tasks again that only one of them has, easy for one and hard for the other.
    Unpaired,
}

/// The shapes that are simulated.
pub const SHAPES: [Shape; 8] = [
    Shape::OneRun,
    Shape::FiveRuns,
    Shape::Scores,
    Shape::Rare,
    Shape::Ties,
    Shape::Jumps,
    Shape::Clusters,
    Shape::Unpaired,
];
/// The numbers of tasks.
pub const TASKS: [usize; 7] = [5, 10, 20, 30, 50, 100, 200];
/// Differences as shares of the deviation of a task, for which the number of tasks is planned.
pub const EFFECTS: [f64; 3] = [0.3, 0.5, 0.8];
/// The losses of the new version, as shares of the standard error of a paired difference: none, and two that are seen
/// about half of the time and nearly always.
pub const LOSSES: [f64; 3] = [0.0, 2.0, 3.0];

const LEVEL: f64 = 0.95;
const RESAMPLES: u32 = 1000;

/// The decisions in a cell, as shares of the experiments.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The loss of the new version, 0 to 1.
    pub loss: f64,
    /// The gate failed.
    pub gate: f64,
    /// The paired t-test saw a loss.
    pub t_test: f64,
    /// It was said that the new version is not worse by its true loss, which is wrong.
    pub not_worse: f64,
    /// The paired t-test said so.
    pub t_not_worse: f64,
}

/// Returns the results of one experiment: the new version loses `loss` at every task on average. Tasks differ in difficulty,
/// and how much the new version loses at each differs too, so that without a loss some tasks get worse and others better.
fn results(random: &mut Random, shape: Shape, tasks: usize, loss: f64) -> Vec<Observation> {
    let mut results = Vec::new();
    for task in 0..tasks {
        // Within 0 and 1 for losses up to .5.
        let (lowest, width) = if shape == Shape::Rare { (0.94, 0.04) } else { (0.6, 0.2) };
        let chance = lowest + width * random.open_unit();
        let share = |version, value: f64| Observation::of_share(version, task, value.clamp(0.0, 1.0));
        // Uniform around 0.
        let mut around = |width: f64| width * (random.open_unit() - 0.5);
        match shape {
            Shape::OneRun | Shape::FiveRuns | Shape::Rare | Shape::Unpaired => {
                let moved = chance - loss + around(width);
                let runs = if shape == Shape::FiveRuns { 5 } else { 1 };
                for (version, chance) in [(0, chance), (1, moved)] {
                    let mut success = |task, chance| {
                        results.push(Observation::of_success(version, task, around(1.0) + 0.5 < chance));
                    };
                    (0..runs).for_each(|_| success(task, chance));
                    if shape == Shape::Unpaired {
                        success(tasks * (version + 1) + task, if version == 0 { 0.95 } else { 0.2 });
                    }
                }
            }
            Shape::Scores => {
                let moved = chance - loss + around(width);
                results.extend(
                    [share(0, chance + around(0.2)), share(1, moved + around(0.2))].into_iter().flatten(),
                );
            }
            Shape::Ties => {
                let first = chance + around(0.2);
                let is_tied = around(1.0) < 0.1;
                let second = if is_tied { first } else { chance - loss / 0.4 + around(0.2) };
                results.extend([share(0, first), share(1, second)].into_iter().flatten());
            }
            Shape::Jumps => {
                let jump = if around(1.0) < -0.4 { 0.3 } else { 0.0 };
                let jump = if around(1.0) < 0.0 { jump } else { -jump };
                let second = 0.5 + jump - loss + around(0.1);
                results.extend([share(0, 0.5 + around(0.1)), share(1, second)].into_iter().flatten());
            }
            Shape::Clusters => {
                for (version, value) in [(0, chance), (1, chance - loss + around(0.4))] {
                    for _ in 0..=task % 8 {
                        results.extend(share(version, value + around(0.02)));
                    }
                }
            }
        }
    }
    results
}

/// Returns about the deviation of the difference of a task of a shape.
fn deviation(shape: Shape) -> f64 {
    let variance: f64 = match shape {
        Shape::OneRun | Shape::Unpaired => 0.49,
        // More where more are lost, so these losses are seen less often.
        Shape::Rare => 0.08,
        Shape::FiveRuns => 0.49 / 5.0,
        // Two uniform errors and one uniform move, each of width .2.
        Shape::Scores => 3.0 * 0.04 / 12.0,
        Shape::Ties => 0.4 * 2.0 * 0.04 / 12.0,
        Shape::Jumps => 0.1 * 0.09 + 2.0 * 0.01 / 12.0,
        Shape::Clusters => 0.16 / 12.0,
    };
    variance.sqrt()
}

/// Returns about the standard error of the mean difference of this many tasks of a shape.
fn standard_error(shape: Shape, tasks: usize) -> f64 {
    deviation(shape) / (tasks as f64).sqrt()
}

/// Returns whether a paired t-test, one-sided at half of what is outside of the level, sees that the second is worse, and
/// whether it sees that it is not worse by `margin`.
fn t_test(table: &TaskTable, margin: f64) -> Result<(bool, bool), Box<dyn Error>> {
    let differences: Vec<f64> = table.between(0, 1).results(0).map(|(_, value)| value as f64 / 1e9).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|it| (it - mean) * (it - mean)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let reach = student_t(differences.len() as u64, LEVEL)?;
    let seen = reach.map(|reach| (mean > reach * error, mean + reach * error < margin));
    Ok(seen.unwrap_or_default())
}

/// Runs `experiments` with a loss of `steps` standard errors.
///
/// # Errors
/// If the statistics refuse the settings.
pub fn decisions(shape: Shape, tasks: usize, steps: f64, experiments: u32) -> Result<Found, Box<dyn Error>> {
    let loss = steps * standard_error(shape, tasks);
    let mut random = Random::stream(tasks as u64, (steps * 10.0) as u64 + 100 * shape as u64);
    let (mut gate, mut t, mut not_worse, mut t_not_worse) = (0, 0, 0, 0);
    for experiment in 0..experiments {
        let table = TaskTable::new(2, &results(&mut random, shape, tasks, loss))?;
        let plan = Plan { draws: RESAMPLES, seed: experiment.into() };
        let found = paired_bootstrap(&table, 0, 1, plan, LEVEL)?;
        gate += u32::from(found.change(0.0) == GateChange::Worse);
        not_worse += u32::from(found.change(loss) == GateChange::NotWorse);
        let (is_worse, is_not_worse) = t_test(&table, loss)?;
        (t, t_not_worse) = (t + u32::from(is_worse), t_not_worse + u32::from(is_not_worse));
    }
    let share = |count: u32| f64::from(count) / f64::from(experiments);
    Ok(Found {
        loss,
        gate: share(gate),
        t_test: share(t),
        not_worse: share(not_worse),
        t_not_worse: share(t_not_worse),
    })
}

/// The outcome of plans for a number of tasks.
#[derive(Debug, Clone, Copy)]
pub struct Planned {
    /// The number of tasks that was said to be needed.
    pub tasks: usize,
    /// The share of experiments in which that number shows the loss that was planned for.
    pub seen: f64,
    /// The share in which that number shows that versions that are alike are not worse by that size.
    pub not_worse: f64,
}

/// Plans for a loss of `effect` deviations, by the number of tasks that is said to be needed, and counts how often that number shows it.
///
/// # Errors
/// If the statistics refuse the settings, or no number of tasks is enough.
pub fn planned(shape: Shape, effect: f64, experiments: u32) -> Result<Planned, Box<dyn Error>> {
    let mut random = Random::stream(7, (effect * 10.0) as u64 + 100 * shape as u64);
    let loss = effect * deviation(shape);
    // Planned with very many tasks, with the loss and without.
    let mut needed = |there| -> Result<usize, Box<dyn Error>> {
        let table = TaskTable::new(2, &results(&mut random, shape, 4000, there))?;
        let many = paired_bootstrap(&table, 0, 1, Plan { draws: RESAMPLES, seed: 1 }, LEVEL)?;
        Ok(many.tasks_needed(loss, LEVEL, POWER)?.unwrap_or_default() as usize)
    };
    let (tasks, alike) = (needed(loss)?, needed(0.0)?);
    let (mut seen, mut not_worse) = (0, 0);
    for experiment in 0..experiments {
        let plan = Plan { draws: RESAMPLES, seed: experiment.into() };
        let table = TaskTable::new(2, &results(&mut random, shape, tasks, loss))?;
        seen += u32::from(paired_bootstrap(&table, 0, 1, plan, LEVEL)?.change(0.0) == GateChange::Worse);
        let table = TaskTable::new(2, &results(&mut random, shape, alike, 0.0))?;
        not_worse +=
            u32::from(paired_bootstrap(&table, 0, 1, plan, LEVEL)?.change(loss) == GateChange::NotWorse);
    }
    let share = |count: u32| f64::from(count) / f64::from(experiments);
    Ok(Planned { tasks, seen: share(seen), not_worse: share(not_worse) })
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(2000), |asked| asked.parse())?;
    println!("--fail-if-worse at {LEVEL}, {experiments} experiments a cell");
    println!(
        "{:<9} {:>5} {:>7}  {:>6} {:>6}  {:>9} {:>6}",
        "results", "tasks", "loss", "fails", "t-test", "not worse", "t-test"
    );
    for shape in SHAPES {
        for tasks in TASKS {
            for steps in LOSSES {
                let it = decisions(shape, tasks, steps, experiments)?;
                let name = format!("{shape:?}");
                println!(
                    "{name:<9} {tasks:>5} {:>7.4}  {:>6.4} {:>6.4}  {:>9.4} {:>6.4}",
                    it.loss, it.gate, it.t_test, it.not_worse, it.t_not_worse
                );
            }
        }
    }
    println!("\ntasks that are said to be needed, and how often they are enough ({POWER} is meant)");
    println!("{:<9} {:>6} {:>5}  {:>6}  {:>9}", "results", "effect", "tasks", "seen", "not worse");
    for shape in SHAPES.into_iter().filter(|shape| *shape != Shape::Rare) {
        for effect in EFFECTS {
            let it = planned(shape, effect, experiments)?;
            let name = format!("{shape:?}");
            println!("{name:<9} {effect:>6} {:>5}  {:>6.4}  {:>9.4}", it.tasks, it.seen, it.not_worse);
        }
    }
    Ok(())
}
