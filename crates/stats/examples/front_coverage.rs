//! Calibration of the shares of the Pareto front, and how often the interval of the cost of a solved task contains the true one, in
//! simulated tasks of which the truth is known.
//!
//! `cargo run --release -p karat-stats --example front_coverage [EXPERIMENTS]` prints two tables. The first: of the subjects with a
//! share of a range, those that are on the true front; and of the pairs in which one dominates in at least 0.95 of the resamples,
//! those in which it truly does; and of the pairs in which it does not, those with such a share. The second: coverage at 0.95, with its widths as logarithms.

use std::error::Error;

use karat_stats::front::{CostRow, Costs, FrontPlan};
use karat_stats::random::Random;

const TASKS: [usize; 3] = [20, 50, 200];
const LEVEL: f64 = 0.95;
/// The number of subjects that are compared.
const SUBJECTS: usize = 5;
/// Points of the grid over which the true quality is averaged.
const GRID: u32 = 200;
/// Lower ends of the ranges of shares.
const RANGES: [f64; 7] = [0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99];

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-x))
}

/// The true means of a subject, by which results are drawn.
#[derive(Debug, Clone, Copy)]
struct Truth {
    strength: f64,
    quality: f64,
    cost: f64,
}

impl Truth {
    /// Draws a subject: stronger ones are dearer, more or less.
    fn draw(center: f64, random: &mut Random) -> Self {
        let strength = center + 0.6 * random.normal();
        // Difficulties are uniform from -2 to 2.
        let at = |point: u32| logistic(strength - 2.0 + 4.0 * (f64::from(point) + 0.5) / f64::from(GRID));
        let quality = (0..GRID).map(at).sum::<f64>() / f64::from(GRID);
        Self { strength, quality, cost: libm::exp(0.3 * (strength - center) + 0.3 * random.normal()) }
    }

    fn dominates(&self, other: &Self) -> bool {
        self.quality > other.quality && self.cost < other.cost
    }
}

/// Draws results and costs; hard tasks are dearer for all.
fn draw(truths: &[Truth], tasks: usize, random: &mut Random) -> Vec<CostRow> {
    let mut rows = Vec::new();
    for task in 0..tasks {
        let hard = random.open_unit();
        let size = 0.5 * random.normal();
        for (subject, truth) in truths.iter().enumerate() {
            let solved = random.open_unit() < logistic(truth.strength + 2.0 - 4.0 * hard);
            // Log-normal with the mean of the truth: the variances of the parts are 0.25, 0.25.
            let cost = truth.cost * libm::exp(size + 0.5 * random.normal() - 0.25);
            let quality = Some(i64::from(solved) * 1_000_000_000);
            rows.push(CostRow { subject, task, quality, cost: Some(cost) });
        }
    }
    rows
}

fn shares(experiments: u32) -> Result<(), Box<dyn Error>> {
    let ranges: Vec<String> = RANGES.iter().map(|from| format!(" from {from} |")).collect();
    println!("| solve rate | tasks |{} pairs from 0.95 | false pairs from 0.95 |", ranges.concat());
    println!("|---|---|{}---|---|", "---|".repeat(RANGES.len()));
    for (name, center) in [("0.5", 0.0), ("0.9", 2.6)] {
        for tasks in TASKS {
            let mut random = Random::stream(1, tasks as u64);
            let mut counts = [(0u32, 0u32); RANGES.len()];
            let (mut true_pairs, mut pairs, mut false_pairs) = (0u32, 0u32, 0u32);
            for _ in 0..experiments {
                let truths: Vec<Truth> = (0..SUBJECTS).map(|_| Truth::draw(center, &mut random)).collect();
                let costs = Costs::new(SUBJECTS, &draw(&truths, tasks, &mut random))?;
                let front = costs.front(FrontPlan { draws: 400, seed: random.next_u64() })?;
                for (truth, found) in truths.iter().zip(&front.subjects) {
                    let on_front = !truths.iter().any(|other| other.dominates(truth));
                    let share = found.map_or(0.0, |it| it.share);
                    let range =
                        RANGES.iter().rposition(|from| share >= *from).and_then(|at| counts.get_mut(at));
                    if let Some((right, all)) = range {
                        *right += u32::from(on_front);
                        *all += 1;
                    }
                }
                for truth in &truths {
                    // With itself, too.
                    let others = truths.iter().filter(|other| !truth.dominates(other)).count();
                    false_pairs += others.saturating_sub(1) as u32;
                }
                for pair in front.pairs.iter().filter(|pair| pair.share >= LEVEL) {
                    pairs += 1;
                    if let (Some(better), Some(worse)) = (truths.get(pair.better), truths.get(pair.worse)) {
                        true_pairs += u32::from(better.dominates(worse));
                    }
                }
            }
            let cells =
                counts.map(|(right, all)| format!(" {:.3} of {all} |", f64::from(right) / f64::from(all)));
            let of_pairs = f64::from(true_pairs) / f64::from(pairs);
            let of_false = f64::from(pairs - true_pairs) / f64::from(false_pairs);
            println!("| {name} | {tasks} |{} {of_pairs:.3} of {pairs} | {of_false:.4} |", cells.concat());
        }
    }
    Ok(())
}

/// The distribution of costs: its name, the deviation of the logarithm (0 for exponential), and what a failure costs more.
const SHAPES: [(&str, f64, f64); 6] = [
    ("exponential", 0.0, 1.0),
    ("log-normal 0.5", 0.5, 1.0),
    ("log-normal 0.5, failures 3 times", 0.5, 3.0),
    ("log-normal 1", 1.0, 1.0),
    ("log-normal 1, failures 2 times", 1.0, 2.0),
    ("log-normal 1.5", 1.5, 1.0),
];

fn coverage(experiments: u32) -> Result<(), Box<dyn Error>> {
    println!("| costs | solve rate | 20 tasks | 50 tasks | 200 tasks |");
    println!("|---|---|---|---|---|");
    for (name, deviation, failure) in SHAPES {
        for rate in [0.2, 0.5, 0.7, 0.9] {
            print!("| {name} | {rate} |");
            for tasks in TASKS {
                let mut random = Random::stream(2, tasks as u64);
                let truth = libm::exp(deviation * deviation / 2.0) * (rate + failure * (1.0 - rate)) / rate;
                let (mut covered, mut width, mut known) = (0u32, 0.0, 0u32);
                for _ in 0..experiments {
                    let mut row = |task| {
                        let solved = random.open_unit() < rate;
                        let cost = if deviation > 0.0 {
                            libm::exp(deviation * random.normal())
                        } else {
                            -libm::log(random.open_unit())
                        };
                        let cost = Some(cost * if solved { 1.0 } else { failure });
                        CostRow { subject: 0, task, quality: Some(i64::from(solved) * 1_000_000_000), cost }
                    };
                    let rows: Vec<CostRow> = (0..tasks).map(&mut row).collect();
                    let found = Costs::new(1, &rows)?.cost_per_solved(0, LEVEL)?;
                    if let Some(it) = found.interval {
                        covered += u32::from(it.low <= truth && truth <= it.high);
                        width += libm::log(it.high / it.low);
                        known += 1;
                    }
                }
                print!(" {:.3} ({:.2}) |", f64::from(covered) / f64::from(known), width / f64::from(known));
            }
            println!();
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(1000), |asked| asked.parse())?;
    println!("{experiments} experiments a cell\n");
    shares(experiments)?;
    println!();
    coverage(2 * experiments)
}
