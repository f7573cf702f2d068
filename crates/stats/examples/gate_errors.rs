//! Error and power of a gate against regressions, in simulated tasks of which the truth is known.
//!
//! `cargo run --release -p karat-stats --example gate_errors [EXPERIMENTS]` prints a table. In each cell a version is compared with
//! the one before on the same tasks, at 95 %: whether the new one is worse, or better, and whether it is shown not to be worse by
//! as much as it is. The paired t-test on the same results is beside it. The standard error of a share of .05 is .005 with 2,000
//! experiments, of .5 it is .011. A test runs a smaller number.

use std::error::Error;

use karat_stats::cases::Cases;
use karat_stats::compare::{Difference, Differences, GateChange};
use karat_stats::power::POWER;
use karat_stats::random::Random;
use karat_stats::table::{Observation, TaskTable};

/// The results of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One run of each version, won or lost.
    OneRun,
    /// Four runs of each version, won or lost.
    FourRuns,
    /// One score of each version, anywhere from 0 to 1.
    Scores,
    /// One run of each version at easy tasks, of which few are lost.
    Rare,
    /// One run of each version, of which the first loses one in 50.
    Good,
    /// Scores of which three in five are the same in both versions.
    Ties,
    /// Scores that now and then jump by a lot, up or down.
    Jumps,
    /// One to eight runs of each version that hardly differ within a task: each task is a cluster.
    Clusters,
    /// One run of each version, and as many tasks again that only one of them has, easy for one and hard for the other.
    Unpaired,
    /// Most tasks a little worse, and few much better: exponential.
    Gains,
    /// Most tasks a little better, and few much worse.
    Losses,
}

/// The shapes that are simulated.
pub const SHAPES: [Shape; 11] = [
    Shape::OneRun,
    Shape::FourRuns,
    Shape::Scores,
    Shape::Rare,
    Shape::Good,
    Shape::Ties,
    Shape::Jumps,
    Shape::Clusters,
    Shape::Unpaired,
    Shape::Gains,
    Shape::Losses,
];
/// The numbers of tasks.
pub const TASKS: [usize; 7] = [5, 10, 20, 30, 50, 100, 200];
/// Differences as shares of the deviation of a task, for which the number of tasks is planned.
pub const EFFECTS: [f64; 3] = [0.3, 0.5, 0.8];
/// The losses of the new version, as shares of the standard error of a paired difference: none, and two that are seen
/// about half of the time and nearly always.
pub const STEPS: [f64; 3] = [0.0, 2.0, 3.0];

const LEVEL: f64 = 0.95;
const TAIL: f64 = (1.0 - LEVEL) / 2.0;

/// The decisions in a cell, as shares of the experiments.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The gate failed: the new version is worse.
    pub worse: f64,
    /// The new version is better.
    pub better: f64,
    /// The paired t-test saw that it is worse.
    pub t_worse: f64,
    /// The paired t-test saw that it is better.
    pub t_better: f64,
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
        let (lowest, width) = match shape {
            Shape::Rare => (0.94, 0.04),
            Shape::Good => (0.98, 0.0),
            _ => (0.6, 0.2),
        };
        let chance = lowest + width * random.open_unit();
        let share = |version, value: f64| Observation::of_share(version, task, value.clamp(0.0, 1.0));
        // Uniform around 0.
        let mut around = |width: f64| width * (random.open_unit() - 0.5);
        match shape {
            Shape::OneRun | Shape::FourRuns | Shape::Rare | Shape::Good | Shape::Unpaired => {
                let moved = chance - loss + around(width);
                let runs = if shape == Shape::FourRuns { 4 } else { 1 };
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
            Shape::Gains | Shape::Losses => {
                let skewed = 0.1 * (-libm::log(random.open_unit()) - 1.0);
                let (first, moved) = if shape == Shape::Gains { (0.3, skewed) } else { (0.8, -skewed) };
                results.extend([share(0, first), share(1, first - loss + moved)].into_iter().flatten());
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
        Shape::Good => 0.04,
        Shape::FourRuns => 0.49 / 4.0,
        // Two uniform errors and one uniform move, each of width .2.
        Shape::Scores => 3.0 * 0.04 / 12.0,
        Shape::Ties => 0.4 * 2.0 * 0.04 / 12.0,
        Shape::Jumps => 0.1 * 0.09 + 2.0 * 0.01 / 12.0,
        Shape::Clusters => 0.16 / 12.0,
        Shape::Gains | Shape::Losses => 0.01,
    };
    variance.sqrt()
}

/// Returns about the standard error of the mean difference of this many tasks of a shape.
pub fn standard_error(shape: Shape, tasks: usize) -> f64 {
    deviation(shape) / (tasks as f64).sqrt()
}

/// Returns how many standard errors the interval of Student's t reaches to either side, from the tables.
fn reach(tasks: usize) -> f64 {
    let known = [
        (4, 3.182_446),
        (5, 2.776_445),
        (10, 2.262_157),
        (20, 2.093_024),
        (30, 2.045_230),
        (50, 2.009_575),
        (100, 1.984_217),
        (200, 1.971_957),
    ];
    known.into_iter().find(|it| it.0 == tasks).map_or(f64::NAN, |it| it.1)
}

/// Returns whether a paired t-test sees that the second is worse, that it is better, and that it is not worse by `margin`.
fn t_test(table: &TaskTable, margin: f64) -> [bool; 3] {
    let differences: Vec<f64> = table.between(0, 1).results(0).map(|(_, value)| value as f64 / 1e9).collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|it| (it - mean) * (it - mean)).sum();
    let width = reach(differences.len()) * (squares / (count - 1.0) / count).sqrt();
    [mean > width, mean < -width, mean + width < margin]
}

/// Runs `experiments` with a loss.
///
/// # Errors
/// If the statistics refuse the settings.
pub fn decisions(shape: Shape, tasks: usize, loss: f64, experiments: u32) -> Result<Found, Box<dyn Error>> {
    let mut random = Random::stream(tasks as u64, (loss * 1e6) as u64 + 10_000_000 * shape as u64);
    let mut counts = [0u32; 6];
    for _ in 0..experiments {
        let (table, found) = compared(&results(&mut random, shape, tasks, loss))?;
        let chance = found.chance(0.0)?;
        let is_not_worse = found.bound(LEVEL)?.is_some_and(|it| it.high < loss);
        let [t_worse, t_better, t_not_worse] = t_test(&table, loss);
        let seen = [chance <= TAIL, 1.0 - chance <= TAIL, t_worse, t_better, is_not_worse, t_not_worse];
        counts.iter_mut().zip(seen).for_each(|(count, is_seen)| *count += u32::from(is_seen));
    }
    let [worse, better, t_worse, t_better, not_worse, t_not_worse] =
        counts.map(|count| f64::from(count) / f64::from(experiments));
    Ok(Found { worse, better, t_worse, t_better, not_worse, t_not_worse })
}

fn compared(results: &[Observation]) -> Result<(TaskTable, Differences), Box<dyn Error>> {
    let table = TaskTable::new(2, results)?;
    let differences = Differences::new(&table, &Cases::default(), 0, 1).ok_or("no task is shared")?;
    Ok((table, differences))
}

/// The outcome of plans for a number of tasks.
#[derive(Debug, Clone, Copy)]
pub struct Planned {
    /// The number of tasks that was said to be needed.
    pub tasks: usize,
    /// The share of experiments in which that number shows the loss that was planned for.
    pub seen: f64,
    /// The number that was said to be needed to show that versions that are alike are not worse by that size.
    pub alike: usize,
    /// The share in which that number shows it.
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
    let mut many = |there| -> Result<Difference, Box<dyn Error>> {
        Ok(compared(&results(&mut random, shape, 4000, there))?.1.compare(LEVEL)?)
    };
    let tasks = many(loss)?.tasks_needed(loss, LEVEL, POWER)?.unwrap_or_default() as usize;
    let alike = many(0.0)?.tasks_not_worse(loss, LEVEL, POWER)?.unwrap_or_default() as usize;
    let (mut seen, mut not_worse) = (0, 0);
    for _ in 0..experiments {
        let change = |results: &[Observation], margin| -> Result<GateChange, Box<dyn Error>> {
            Ok(compared(results)?.1.change(margin, LEVEL, LEVEL)?)
        };
        let lost = change(&results(&mut random, shape, tasks, loss), 0.0)?;
        seen += u32::from(lost == GateChange::Worse);
        let same = change(&results(&mut random, shape, alike, 0.0), loss)?;
        not_worse += u32::from(same == GateChange::NotWorse);
    }
    let share = |count: u32| f64::from(count) / f64::from(experiments);
    Ok(Planned { tasks, seen: share(seen), alike, not_worse: share(not_worse) })
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(2000), |asked| asked.parse())?;
    println!("comparisons at {LEVEL}, {experiments} experiments a cell; t: the paired t-test");
    println!("results   tasks    loss   worse      t  better      t  not worse      t");
    let cell = |shape, tasks, loss| -> Result<(), Box<dyn Error>> {
        let it = decisions(shape, tasks, loss, experiments)?;
        println!(
            "{:<9} {tasks:>5} {loss:>7.4}  {:>6.4} {:>6.4}  {:>6.4} {:>6.4}     {:>6.4} {:>6.4}",
            format!("{shape:?}"),
            it.worse,
            it.t_worse,
            it.better,
            it.t_better,
            it.not_worse,
            it.t_not_worse
        );
        Ok(())
    };
    for shape in SHAPES {
        for tasks in TASKS {
            for steps in STEPS {
                cell(shape, tasks, steps * standard_error(shape, tasks))?;
            }
        }
    }
    // From .98 to .94.
    for tasks in TASKS {
        cell(Shape::Good, tasks, 0.04)?;
    }
    println!("\ntasks that are said to be needed, and how often they are enough ({POWER} is meant)");
    println!("results   effect tasks    seen  tasks  not worse");
    for shape in SHAPES.into_iter().filter(|it| !matches!(it, Shape::Rare | Shape::Good)) {
        for effect in EFFECTS {
            let it = planned(shape, effect, experiments)?;
            let name = format!("{shape:?}");
            println!(
                "{name:<9} {effect:>6} {:>5}  {:>6.4}  {:>5}  {:>9.4}",
                it.tasks, it.seen, it.alike, it.not_worse
            );
        }
    }
    Ok(())
}
