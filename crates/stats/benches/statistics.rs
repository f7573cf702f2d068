//! Time of the statistics of a leaderboard of 1000 tasks and 10 subjects, of intervals and comparisons, and of all pairs.
//!
//! One thread; every figure is the best of several rounds, and what is computed is printed, so that a fast wrong answer
//! shows.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it reads a clock and its arguments"
)]
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::time::Instant;

use karat_core::mean::Mean;
use karat_core::number::Decimal;
use karat_stats::cases::Cases;
use karat_stats::compare::compare;
use karat_stats::composite::{Readings, Tree};
use karat_stats::estimate::Estimate;
use karat_stats::influence::fewest_tasks;
use karat_stats::leaderboard::Leaderboard;
use karat_stats::random::Random;
use karat_stats::robustness::{WeightDistribution, WeightPlan, under_drawn_weights};
use karat_stats::table::{Observation, TaskTable};
use karat_stats::verdicts::Verdicts;

const SUBJECTS: usize = 10;
const DIMENSIONS: usize = 6;

fn main() {
    // A run under `cargo test` only asks whether it works.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (tasks, draws, rounds) = if is_test { (50, 100, 1) } else { (1000, 1000, 7) };
    let mut random = Random::new(1);
    let mut observations = Vec::new();
    for subject in 0..SUBJECTS {
        let skill = 0.5 + subject as f64 / 30.0;
        for task in 0..tasks {
            observations.push(Observation::of_success(subject, task, random.open_unit() < skill));
        }
    }
    println!("{tasks} tasks, {SUBJECTS} subjects, {draws} draws of weights, one thread, best of {rounds}");
    let table = time("table", rounds, || TaskTable::new(SUBJECTS, &observations).unwrap());
    let board = |table: &TaskTable| Leaderboard::new(table, &Cases::default(), 0.95).unwrap();
    for row in time("leaderboard, with letters", rounds, || board(&table)).rows {
        let (interval, ranks) = (row.estimate.interval.unwrap(), row.rank_range.unwrap());
        println!(
            "  subject {} {:.3} [{:.3}, {:.3}] ranks {} to {} letters {:?}",
            row.subject,
            row.estimate.mean,
            interval.low,
            interval.high,
            ranks.best,
            ranks.worst,
            row.letters.unwrap_or_default()
        );
    }
    // Values that all differ.
    let graded = |random: &mut Random, subjects: usize, tasks: usize| {
        let cells = (0..subjects).flat_map(|subject| (0..tasks).map(move |task| (subject, task)));
        let rows: Vec<Observation> = cells
            .filter_map(|(subject, task)| {
                let value = 0.6 * random.open_unit() + 0.3 * (subject as f64 / subjects as f64);
                Observation::of_share(subject, task, value)
            })
            .collect();
        TaskTable::new(subjects, &rows).unwrap()
    };
    for tasks in [20, 100, 1000] {
        let table = graded(&mut random, 2, tasks);
        let name = format!("interval of a mean of {tasks} values");
        let found = time(&name, rounds, || Estimate::new(&table, 0, 0.95).unwrap());
        println!("  {:?}", found.interval.map(|it| (it.low, it.high)));
        let name = format!("comparison with interval, {tasks} tasks");
        let found = time(&name, rounds, || compare(&table, 0, 1, 0.95).unwrap());
        println!("  p {:.4} {:?}", found.p, found.estimate.interval.map(|it| (it.low, it.high)));
    }
    for subjects in if is_test { vec![5] } else { vec![20, 60, 200] } {
        let table = graded(&mut random, subjects, 100);
        let all: Vec<usize> = (0..subjects).collect();
        let name = format!("verdicts of {subjects} subjects, 100 tasks");
        let found = time(&name, if subjects > 100 { 1 } else { rounds }, || {
            Verdicts::new(&table, &Cases::default(), &all, 0.95).unwrap().unwrap()
        });
        println!("  {}", found.between(0, subjects - 1).name());
    }
    let influence = time("influence", rounds, || fewest_tasks(&table).unwrap());
    println!("  {:?} tasks", influence.map(|found| found.removed.len()));
    let rows: Vec<[Option<i64>; DIMENSIONS]> =
        (0..SUBJECTS).map(|_| core::array::from_fn(|_| Some((random.open_unit() * 1e9) as i64))).collect();
    let readings = Readings::new(&rows).unwrap();
    let weights = [Decimal::ONE; DIMENSIONS];
    let distribution = WeightDistribution::Around { concentration: 20.0 };
    let plan = WeightPlan { distribution, draws, seed: 1 };
    for mean in [Mean::WeightedMean, Mean::Geometric] {
        let tree = Tree::flat(mean, &weights);
        let name = format!("ranks under drawn weights, {DIMENSIONS} dimensions, {}", mean.name());
        let found = time(&name, rounds, || under_drawn_weights(&readings, &tree, plan, 0.95).unwrap());
        println!("  first kept in {:.3}", found.share_first_kept);
    }
}

fn time<T>(name: &str, rounds: usize, mut run: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = run();
    for _ in 0..rounds {
        let start = Instant::now();
        result = std::hint::black_box(run());
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name}: {:.2} ms", best * 1e3);
    result
}
