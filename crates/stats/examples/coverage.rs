//! Coverage of intervals: how often the interval of a mean contains the true one, in simulated tasks.
//!
//! `cargo run --release -p karat-stats --example coverage [EXPERIMENTS]` prints a table. Each cell draws tasks of which the
//! true mean is known, takes the interval of the subject at 95 %, and counts. The standard error of a share of .95 is .005
//! with 2,000 experiments. A test runs a smaller number.

use std::error::Error;

use karat_stats::estimate::interval;
use karat_stats::random::Random;

/// The origin of the results of a task. Numbers are the chance to win a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// One run, won or lost.
    One(f64),
    /// Four runs of tasks that are alike.
    Four(f64),
    /// One to eight runs of tasks that are half easy, half hard; each task counts as one.
    Unequal(f64),
    /// The same, but each run counts as one.
    Weighed(f64),
    /// One run, and thirty at one task of ten, alike within a task; each run counts as one.
    Heavy(f64),
    /// Three tasks of four have .9, the others .85.
    Graded,
    /// A score from .8 to 1, such as of cost and speed, and 0 where the run is lost.
    Times(f64),
    /// .9 or .95, and 0 at one task of 25.
    Rubric,
    /// Most values a little above 0, and few far above: exponential.
    Gains,
    /// Most values a little below 1, and few far below.
    Losses,
}

/// The shapes that are simulated.
pub const SHAPES: [Shape; 26] = [
    Shape::One(0.02),
    Shape::One(0.5),
    Shape::One(0.9),
    Shape::One(0.98),
    Shape::Four(0.02),
    Shape::Four(0.5),
    Shape::Four(0.9),
    Shape::Four(0.98),
    Shape::Unequal(0.02),
    Shape::Unequal(0.5),
    Shape::Unequal(0.9),
    Shape::Unequal(0.98),
    Shape::Weighed(0.02),
    Shape::Weighed(0.5),
    Shape::Weighed(0.9),
    Shape::Weighed(0.98),
    Shape::Heavy(0.02),
    Shape::Heavy(0.5),
    Shape::Heavy(0.9),
    Shape::Heavy(0.98),
    Shape::Graded,
    Shape::Times(0.9),
    Shape::Times(0.96),
    Shape::Rubric,
    Shape::Gains,
    Shape::Losses,
];
/// The numbers of tasks.
pub const TASKS: [usize; 5] = [5, 10, 20, 40, 100];

const LEVEL: f64 = 0.95;
/// The mean of exponential values before those above 1 are cut to 1.
const SCALE: f64 = 0.1;

impl Shape {
    /// Returns the true mean.
    fn mean(self) -> f64 {
        match self {
            Self::One(p) | Self::Four(p) | Self::Unequal(p) | Self::Weighed(p) | Self::Heavy(p) => p,
            Self::Graded => 0.8875,
            Self::Times(p) => 0.9 * p,
            Self::Rubric => 0.96 * 0.925,
            Self::Gains => SCALE * (1.0 - libm::exp(-1.0 / SCALE)),
            Self::Losses => 1.0 - Self::Gains.mean(),
        }
    }

    /// Draws the results of a task.
    fn task(self, random: &mut Random) -> Vec<f64> {
        let toss = |random: &mut Random, p| f64::from(u8::from(random.open_unit() < p));
        let runs = |random: &mut Random, count, p| (0..count).map(|_| toss(random, p)).collect();
        match self {
            Self::One(p) => runs(random, 1, p),
            Self::Four(p) => runs(random, 4, p),
            Self::Unequal(p) | Self::Weighed(p) => {
                let swing = p.min(1.0 - p) * (2.0 * toss(random, 0.5) - 1.0);
                let count = 1 + (8.0 * random.open_unit()) as usize;
                runs(random, count, p + swing)
            }
            Self::Heavy(p) => {
                let count = if toss(random, 0.1) > 0.0 { 30 } else { 1 };
                vec![toss(random, p); count]
            }
            Self::Graded => vec![0.9 - 0.05 * toss(random, 0.25)],
            Self::Times(p) => vec![toss(random, p) * (0.8 + 0.2 * random.open_unit())],
            Self::Rubric => vec![toss(random, 0.96) * (0.9 + 0.05 * toss(random, 0.5))],
            Self::Gains => vec![(-SCALE * libm::log(random.open_unit())).min(1.0)],
            Self::Losses => vec![1.0 - (-SCALE * libm::log(random.open_unit())).min(1.0)],
        }
    }
}

/// The intervals of a cell.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The share that contains the true mean.
    pub covered: f64,
    /// Their mean width.
    pub width: f64,
}

/// Takes the intervals of `experiments`.
///
/// # Errors
/// If the statistics refuse the settings.
pub fn coverage(shape: Shape, tasks: usize, experiments: u32) -> Result<Found, Box<dyn Error>> {
    let mut random = Random::stream(tasks as u64, shape.mean().to_bits());
    let (mut covered, mut width) = (0, 0.0);
    for _ in 0..experiments {
        let results: Vec<Vec<f64>> = (0..tasks).map(|_| shape.task(&mut random)).collect();
        // The mean of a task in billionths, and its weight.
        let of_task = |values: &Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let is_weighed = matches!(shape, Shape::Weighed(_) | Shape::Heavy(_));
            ((mean * 1e9).round_ties_even(), if is_weighed { values.len() as f64 } else { 1.0 })
        };
        // What has no interval covers nothing. The ends are rounded to billionths.
        if let Some(it) = interval(results.iter().map(of_task), 0.0, LEVEL)? {
            let mean = shape.mean();
            covered += u32::from(it.low <= mean + 1e-9 && it.high >= mean - 1e-9);
            width += it.high - it.low;
        }
    }
    let count = f64::from(experiments);
    Ok(Found { covered: f64::from(covered) / count, width: width / count })
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(2000), |asked| asked.parse())?;
    println!("coverage of intervals at {LEVEL} and their width, {experiments} experiments a cell");
    let header: Vec<String> = TASKS.iter().map(|tasks| format!("{tasks:>11} tasks")).collect();
    println!("{:<14}{}", "results", header.concat());
    for shape in SHAPES {
        print!("{:<14}", format!("{shape:?}"));
        for tasks in TASKS {
            let found = coverage(shape, tasks, experiments)?;
            print!("   {:6.4} {:7.4}", found.covered, found.width);
        }
        println!();
    }
    Ok(())
}
