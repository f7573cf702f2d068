//! Power and false discovery rate of the search for suspect tasks, in simulated tasks of which some have a wrong key.
//!
//! `cargo run --release -p karat-stats --example suspect_keys [EXPERIMENTS]` prints a table. Subjects have a normal strength and
//! tasks a normal difficulty; each result is passed with the logistic chance of the difference. 5 % of the tasks have a wrong key.
//! `Turned`: the result is turned round, as where the key of a yes-no task is wrong. `OfFour`: a wrong one of four answers is the
//! key, which one of three who fail chooses. `Kinds`: as turned, and half of the tasks ask for another ability, independent of the
//! first. `Noise`: as turned, and half of the tasks are passed by chance alone. `Graded`: as turned, with the mean of four attempts.

use std::error::Error;

use karat_stats::StatisticsError;
use karat_stats::random::Random;
use karat_stats::table::{Observation, TaskTable};
use karat_stats::tasks::{FalseDiscoveryRule, suspects};

const RATE: f64 = 0.1;

/// The kind of wrong keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// The result is turned round.
    Turned,
    /// One of three who fail passes.
    OfFour,
    /// As turned; half of the tasks ask for another ability.
    Kinds,
    /// As turned; half of the tasks are passed by chance alone.
    Noise,
    /// As turned, with four attempts.
    Graded,
}

/// Draws a table, with the tasks whose key is wrong.
fn draw(
    keys: Keys,
    subjects: usize,
    tasks: usize,
    random: &mut Random,
) -> Result<TaskTable, StatisticsError> {
    let abilities: Vec<(f64, f64)> = (0..subjects).map(|_| (random.normal(), random.normal())).collect();
    let mut rows = Vec::new();
    for task in 0..tasks {
        let difficulty = random.normal();
        // The other kind has one ability that has nothing to do with the first.
        let is_other = keys == Keys::Kinds && task % 2 == 1;
        for (subject, &(first, second)) in abilities.iter().enumerate() {
            let ability = if is_other { second } else { first };
            let mut chance = 1.0 / (1.0 + libm::exp(difficulty - ability));
            if keys == Keys::Noise && task % 2 == 1 {
                chance = 1.0 / (1.0 + libm::exp(difficulty));
            }
            if is_wrong(task) {
                chance = (1.0 - chance) / if keys == Keys::OfFour { 3.0 } else { 1.0 };
            }
            let attempts = if keys == Keys::Graded { 4 } else { 1 };
            rows.extend(
                (0..attempts).map(|_| Observation::of_success(subject, task, random.open_unit() < chance)),
            );
        }
    }
    TaskTable::new(subjects, &rows)
}

/// Returns whether a task has a wrong key: one of twenty.
fn is_wrong(task: usize) -> bool {
    task.is_multiple_of(20)
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments: u32 = std::env::args().nth(1).map_or(Ok(25), |asked| asked.parse())?;
    println!("false discovery rate {RATE}, {experiments} experiments a cell\n");
    println!("| keys | subjects | tasks | rule | power | false discovery rate | nothing could be found |");
    println!("|---|---|---|---|---|---|---|");
    for keys in [Keys::Turned, Keys::OfFour, Keys::Kinds, Keys::Noise, Keys::Graded] {
        for subjects in [8, 20, 50] {
            for tasks in [100, 500] {
                for rule in [FalseDiscoveryRule::BenjaminiHochberg, FalseDiscoveryRule::BenjaminiYekutieli] {
                    let mut random = Random::stream(subjects as u64, tasks as u64);
                    let (mut power, mut wrong, mut refused) = (0.0, 0.0, 0);
                    for experiment in 0..experiments {
                        let table = draw(keys, subjects, tasks, &mut random)?;
                        let Ok(found) = suspects(&table, RATE, rule, experiment.into()) else {
                            refused += 1;
                            continue;
                        };
                        let named = found.tests.iter().filter(|it| it.suspect);
                        let (right, all) = named.fold((0.0, 0.0), |(right, all), it| {
                            (right + f64::from(u8::from(is_wrong(it.task))), all + 1.0)
                        });
                        power += right / (tasks / 20) as f64;
                        wrong += if all > 0.0 { (all - right) / all } else { 0.0 };
                    }
                    let count = f64::from(experiments);
                    let (power, wrong) = (power / count, wrong / count);
                    println!(
                        "| {keys:?} | {subjects} | {tasks} | {} | {power:.3} | {wrong:.3} | {refused} |",
                        rule.name()
                    );
                }
            }
        }
    }
    Ok(())
}
