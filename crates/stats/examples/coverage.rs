//! Coverage of intervals: how often the interval of a leaderboard contains the true mean, in simulated tasks.
//!
//! `cargo run --release -p karat-stats --example coverage [EXPERIMENTS]` prints a table. Each cell draws tasks of which the
//! true mean is known, takes the interval of the subject at 95 %, and counts. The standard error of a share of .95 is .005
//! with 2,000 experiments. A test runs a smaller number.

use std::error::Error;

use karat_stats::bootstrap::{Draws, Ends, Plan};
use karat_stats::student::{StudentRanking, TaskValues};
use karat_stats::table::{Observation, TaskTable};

/// The origin of the results of a task; each has the true mean `p`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One run, won with probability `p`.
    OneRun,
    /// Five runs, each won with probability `p`.
    FiveRuns,
    /// Five runs of tasks that are half easy, half hard: each run is won with the probability of its task.
    Unlike,
}

/// The intervals that leaderboards have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intervals {
    /// Of bootstrap resamples of tasks, corrected for bias and skew: of leaderboards.
    Corrected,
    /// The quantiles of bootstrap resamples: of differences and windows.
    Quantiles,
    /// Of Student's t, for many subjects or records.
    Student,
}

/// The shapes that are simulated.
pub const SHAPES: [Shape; 3] = [Shape::OneRun, Shape::FiveRuns, Shape::Unlike];
/// The numbers of tasks.
pub const TASKS: [usize; 3] = [10, 30, 100];
/// The true means.
pub const MEANS: [f64; 3] = [0.02, 0.5, 0.9];

const LEVEL: f64 = 0.95;
const RESAMPLES: u32 = 1000;
const BILLION: f64 = 1e9;

/// A sequence of numbers from 0 to below 1 (SplitMix64), the same on every machine.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn results(&mut self, shape: Shape, tasks: usize, mean: f64) -> Vec<Observation> {
        let mut results = Vec::new();
        let swing = mean.min(1.0 - mean);
        for task in 0..tasks {
            let (runs, chance) = match shape {
                Shape::OneRun => (1, mean),
                Shape::FiveRuns => (5, mean),
                Shape::Unlike if self.next() < 0.5 => (5, mean - swing),
                Shape::Unlike => (5, mean + swing),
            };
            results.extend((0..runs).map(|_| Observation::of_success(0, task, self.next() < chance)));
        }
        results
    }
}

/// Returns the share of `experiments` in which the interval contains the true mean.
///
/// # Errors
/// If the statistics refuse the settings.
pub fn coverage(
    intervals: Intervals,
    shape: Shape,
    tasks: usize,
    mean: f64,
    experiments: u32,
) -> Result<f64, Box<dyn Error>> {
    let mut random = Uniform(tasks as u64 ^ mean.to_bits() ^ shape as u64);
    let mut covered = 0;
    for experiment in 0..experiments {
        let results = random.results(shape, tasks, mean);
        let ends = match intervals {
            Intervals::Corrected | Intervals::Quantiles => {
                let ends = if intervals == Intervals::Quantiles {
                    Ends::Percentile
                } else {
                    Ends::BiasCorrectedAccelerated
                };
                let table = TaskTable::new(1, &results)?;
                let plan = Plan { draws: RESAMPLES, seed: experiment.into() };
                Draws::new(&table, plan)?.estimate(0, LEVEL, ends)?.interval
            }
            Intervals::Student => {
                let values = results.iter().map(|it| (0, Some(it.task as u32), it.value));
                let ranking = StudentRanking::new(TaskValues::new(values, 1), 1, LEVEL)?;
                ranking.rows(0, 1).first().and_then(|row| row.interval)
            }
        };
        // What has no interval covers nothing. The ends are rounded to billionths.
        let contains =
            ends.is_some_and(|it| it.low <= mean + 1.0 / BILLION && it.high >= mean - 1.0 / BILLION);
        covered += u32::from(contains);
    }
    Ok(f64::from(covered) / f64::from(experiments))
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(2000), |asked| asked.parse())?;
    println!("coverage of intervals at {LEVEL}, {experiments} experiments a cell");
    for intervals in [Intervals::Corrected, Intervals::Quantiles, Intervals::Student] {
        let header: Vec<String> = MEANS.iter().map(|mean| format!("{mean:>7}")).collect();
        println!("\n{:<18}{}", format!("{intervals:?}"), header.concat());
        for shape in SHAPES {
            for tasks in TASKS {
                print!("{:<10}{tasks:>4} of  ", format!("{shape:?}"));
                for mean in MEANS {
                    print!("{:7.4}", coverage(intervals, shape, tasks, mean, experiments)?);
                }
                println!();
            }
        }
    }
    Ok(())
}
