//! Time of the statistics of a leaderboard: 1000 tasks, 10 subjects, 1000 draws.
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
use karat_stats::bootstrap::{Draws, Ends, Plan};
use karat_stats::composite::{Readings, Tree};
use karat_stats::influence::fewest_tasks;
use karat_stats::leaderboard::Leaderboard;
use karat_stats::random::Random;
use karat_stats::robustness::{WeightDistribution, WeightPlan, under_drawn_weights};
use karat_stats::table::{Observation, TaskTable};

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
    println!("{tasks} tasks, {SUBJECTS} subjects, {draws} draws, one thread, best of {rounds}");
    let table = time("table", rounds, || TaskTable::new(SUBJECTS, &observations).unwrap());
    let gaps: Vec<Observation> =
        observations.iter().enumerate().filter(|it| it.0 % 9 > 0).map(|it| *it.1).collect();
    let gaps = TaskTable::new(SUBJECTS, &gaps).unwrap();
    let plan = Plan { draws, seed: 1 };
    let drawn = time("bootstrap", rounds, || Draws::new(&table, plan).unwrap());
    time("bootstrap, a ninth of the results missing", rounds, || Draws::new(&gaps, plan).unwrap());
    let board = |ends| Leaderboard::new(&drawn, 0.95, ends).unwrap();
    time("leaderboard from the draws, with letters", rounds, || board(Ends::BiasCorrectedAccelerated));
    for row in board(Ends::BiasCorrectedAccelerated).rows {
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
    // Sixty subjects with the same tasks, and with a ninth of the results missing, so that no two share the same ones.
    let observations: Vec<Observation> = (0..60)
        .flat_map(|subject| (0..tasks).map(move |task| (subject, task)))
        .map(|(subject, task)| {
            Observation::of_success(subject, task, random.open_unit() < 0.5 + subject as f64 / 180.0)
        })
        .collect();
    for (name, step) in [("60 subjects", usize::MAX), ("60 subjects, a ninth missing", 9)] {
        let rows: Vec<Observation> =
            observations.iter().enumerate().filter(|it| (it.0 + 1) % step > 0).map(|it| *it.1).collect();
        let table = TaskTable::new(60, &rows).unwrap();
        let drawn = time(&format!("bootstrap, {name}"), rounds, || Draws::new(&table, plan).unwrap());
        let board = time(&format!("leaderboard from the draws, {name}"), rounds, || {
            Leaderboard::new(&drawn, 0.95, Ends::BiasCorrectedAccelerated).unwrap()
        });
        println!("  {:?} letters", board.letters);
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
