//! Error and power of a gate against regressions, in simulated tasks of which the truth is known.
//!
//! `cargo run --release -p karat-stats --example gate [EXPERIMENTS]` prints a table. In each cell a version is compared with
//! the one before on the same tasks, and the gate fails if the 95 % interval says that the new one is worse. The paired
//! t-test on the same results, one-sided at 2.5 %, is beside it. The standard error of a share of .05 is .005 with 2,000
//! experiments, of .5 it is .011. A test runs a smaller number.

use std::error::Error;

use karat_stats::bootstrap::Plan;
use karat_stats::compare::{Change, paired_bootstrap};
use karat_stats::mean::student_t;
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
}

/// The shapes that are simulated.
pub const SHAPES: [Shape; 4] = [Shape::OneRun, Shape::FiveRuns, Shape::Scores, Shape::Rare];
/// The numbers of tasks.
pub const TASKS: [usize; 4] = [20, 50, 100, 200];
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
}

/// Returns the results of one experiment: the new version loses `loss` at every task on average. Tasks differ in difficulty,
/// and how much the new version loses at each differs too, so that without a loss some tasks get worse and others better.
fn results(random: &mut Random, shape: Shape, tasks: usize, loss: f64) -> Vec<Observation> {
    let mut results = Vec::new();
    for task in 0..tasks {
        // Within 0 and 1 for losses up to .5.
        let (lowest, width) = if shape == Shape::Rare { (0.94, 0.04) } else { (0.6, 0.2) };
        let chance = lowest + width * random.open_unit();
        let moved = chance - loss + width * (random.open_unit() - 0.5);
        for (version, chance) in [(0, chance), (1, moved)] {
            let runs = if shape == Shape::FiveRuns { 5 } else { 1 };
            for _ in 0..runs {
                results.extend(match shape {
                    Shape::OneRun | Shape::FiveRuns | Shape::Rare => {
                        Some(Observation::of_success(version, task, random.open_unit() < chance))
                    }
                    // Uniform around the chance, so the mean is the chance.
                    Shape::Scores => {
                        let share = chance + 0.2 * (random.open_unit() - 0.5);
                        Observation::of_share(version, task, share.clamp(0.0, 1.0))
                    }
                });
            }
        }
    }
    results
}

/// Returns about the standard error of the mean difference of this many tasks of a shape.
fn standard_error(shape: Shape, tasks: usize) -> f64 {
    let variance: f64 = match shape {
        Shape::OneRun => 0.49,
        // More where more are lost, so these losses are seen less often.
        Shape::Rare => 0.08,
        Shape::FiveRuns => 0.49 / 5.0,
        // Two uniform errors and one uniform move, each of width .2.
        Shape::Scores => 3.0 * 0.04 / 12.0,
    };
    (variance / tasks as f64).sqrt()
}

/// Returns whether a paired t-test, one-sided at half of what is outside of the level, sees that the second is worse.
fn t_test(table: &TaskTable) -> Result<bool, Box<dyn Error>> {
    let differences: Vec<f64> = table.between(0, 1).results(0).map(|(_, value)| value as f64 / 1e9).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|it| (it - mean) * (it - mean)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let reach = student_t(differences.len() as u64, LEVEL)?;
    Ok(reach.is_some_and(|reach| mean > reach * error))
}

/// Runs `experiments` with a loss of `steps` standard errors.
///
/// # Errors
/// If the statistics refuse the settings.
pub fn decisions(shape: Shape, tasks: usize, steps: f64, experiments: u32) -> Result<Found, Box<dyn Error>> {
    let loss = steps * standard_error(shape, tasks);
    let mut random = Random::stream(tasks as u64, (steps * 10.0) as u64 + 100 * shape as u64);
    let (mut gate, mut t, mut not_worse) = (0, 0, 0);
    for experiment in 0..experiments {
        let table = TaskTable::new(2, &results(&mut random, shape, tasks, loss))?;
        let plan = Plan { draws: RESAMPLES, seed: experiment.into() };
        let found = paired_bootstrap(&table, 0, 1, plan, LEVEL)?;
        gate += u32::from(found.change(0.0) == Change::Worse);
        not_worse += u32::from(found.change(loss) == Change::NotWorse);
        t += u32::from(t_test(&table)?);
    }
    let share = |count: u32| f64::from(count) / f64::from(experiments);
    Ok(Found { loss, gate: share(gate), t_test: share(t), not_worse: share(not_worse) })
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(2000), |asked| asked.parse())?;
    println!("--fail-if-worse at {LEVEL}, {experiments} experiments a cell");
    println!(
        "{:<9} {:>5} {:>7}  {:>6} {:>6}  {:>9}",
        "results", "tasks", "loss", "fails", "t-test", "not worse"
    );
    for shape in SHAPES {
        for tasks in TASKS {
            for steps in LOSSES {
                let it = decisions(shape, tasks, steps, experiments)?;
                let name = format!("{shape:?}");
                println!(
                    "{name:<9} {tasks:>5} {:>7.4}  {:>6.4} {:>6.4}  {:>9.4}",
                    it.loss, it.gate, it.t_test, it.not_worse
                );
            }
        }
    }
    Ok(())
}
