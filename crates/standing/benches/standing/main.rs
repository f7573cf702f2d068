//! Rows per second of rolling means over columns of scores, against a loop written by hand for that one thing.
//!
//! Ten thousand subjects of a thousand tasks each, the columns of the subjects one after another; and one subject of all the
//! tasks. One thread. Every figure is the best of several rounds over the same columns, in the same run; the sums of all
//! means are compared, so that a fast wrong answer shows.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]
#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "it reads a clock and its arguments"
)]
#![expect(clippy::print_stdout, reason = "it is a program")]

mod by_hand;

use core::num::NonZeroU32;
use std::hint::black_box;
use std::time::Instant;

use karat_core::number::Score;
use karat_standing::rolling::RollingMean;

const ROWS: usize = 10_000_000;
const TASKS_OF_A_SUBJECT: usize = 1000;
const WINDOW: u32 = 100;
/// Rounds, of which the best counts, and passes in each: a clock of the system may go in steps of milliseconds.
const ROUNDS: usize = 5;
const PASSES: usize = 4;

fn main() {
    // A run under `cargo test` only asks whether it works.
    let rows = if std::env::args().any(|argument| argument == "--test") { 20_000 } else { ROWS };
    println!("{rows} rows, window of {WINDOW}, one thread, best of {ROUNDS} rounds of {PASSES} passes");
    let scores: Vec<Score> = (0..rows).map(score_at).collect();
    compare("subjects of 1000 tasks", &scores, TASKS_OF_A_SUBJECT);
    compare("one subject", &scores, rows);
}

/// Returns a score of nine places from a counter-based generator: the same everywhere.
fn score_at(at: usize) -> Score {
    let mut x = (at as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    Score::from_billionths(((x ^ (x >> 31)) % 1_000_000_001) as i64)
}

fn compare(name: &str, scores: &[Score], rows_of_a_subject: usize) {
    println!("{name}");
    let mut means = vec![Score::from_units(1); scores.len()];
    let rolling = RollingMean::new(NonZeroU32::new(WINDOW).unwrap());
    let ours = measure("rolling means, exact", scores.len(), || {
        let subjects = scores.chunks(rows_of_a_subject).zip(means.chunks_mut(rows_of_a_subject));
        subjects.for_each(|(scores, means)| rolling.column(black_box(scores), means).unwrap());
    });
    let sum = checksum(&means);
    means.fill(Score::from_units(1));
    let exact = measure("loop by hand, exact, one division a row", scores.len(), || {
        by_hand::subjects(black_box(scores), rows_of_a_subject, WINDOW as usize, &mut means);
    });
    assert_eq!(sum, checksum(&means), "the loop by hand gives other means");
    let doubles: Vec<f64> = scores.iter().map(|score| score.to_f64()).collect();
    let mut out = vec![1.0; doubles.len()];
    let floating = measure("loop by hand, doubles, which drift", scores.len(), || {
        by_hand::doubles(black_box(&doubles), rows_of_a_subject, WINDOW as usize, &mut out);
    });
    black_box(&out);
    println!("  ratio to the loops by hand: {:.2} (exact), {:.2} (doubles)", ours / exact, ours / floating);
}

/// Sums whole numbers, so the sum does not depend on its order.
fn checksum(means: &[Score]) -> i128 {
    means.iter().map(|mean| i128::from(mean.units())).sum()
}

/// Returns the time that this thread has spent on a processor: other programs on the machine do not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Prints millions of rows per second; gives it back.
fn measure(name: &str, rows: usize, mut pass: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (start, wall) = (processor_seconds(), Instant::now());
        (0..PASSES).for_each(|_| pass());
        let wall = wall.elapsed().as_secs_f64();
        best = best.min(processor_seconds().zip(start).map_or(wall, |(end, start)| end - start));
    }
    let rate = (rows * PASSES) as f64 / best / 1e6;
    println!("  {name:<44} {rate:>8.1} M rows/s");
    rate
}
