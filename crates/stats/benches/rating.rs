//! Matches per second of the rating systems, and the seconds that Bradley-Terry takes from raw rows.
//!
//! One thread, best of several rounds over the same matches. A fingerprint of the results is printed, so that a fast wrong
//! answer shows.
#![expect(clippy::unwrap_used, reason = "a benchmark may stop")]
#![expect(clippy::disallowed_types, reason = "it reads a clock")]
#![expect(clippy::disallowed_methods, reason = "it reads its arguments")]
#![expect(clippy::print_stdout, reason = "it is a program")]

use std::hint::black_box;
use std::time::Instant;

use karat_stats::rating::bradley_terry::{Bootstrap, Counts, Ties};
use karat_stats::rating::{BradleyTerry, Elo, Glicko2, Match, Outcome, System, WengLin, rate};

const ROWS: usize = 1_000_000;
const COMPETITORS: usize = 130;
/// Of a hundred matches, this many end in a draw.
const DRAWN: u64 = 15;
const BOOTSTRAP_ROUNDS: u64 = 100;
const ROUNDS: usize = 5;

fn main() {
    // A run under `cargo test` only asks whether it works.
    let few = std::env::args().any(|argument| argument == "--test");
    let rows = if few { 20_000 } else { ROWS };
    let matches = matches(rows);
    println!("{rows} matches of {COMPETITORS} competitors, one thread, best of {ROUNDS} rounds");
    // A name as argument chooses one.
    let names: Vec<String> = std::env::args().skip(1).filter(|given| !given.starts_with('-')).collect();
    let chosen = |name: &str| names.is_empty() || names.iter().any(|given| given == name);
    if chosen("elo") {
        let engine = online("elo", &Elo::default(), &matches);
        online("elo of the arena", &Elo::ARENA, &matches);
        let (seconds, points) = best(|| elo_by_hand(black_box(&matches)));
        let by_hand = told("elo by hand, the platform's powf", seconds, rows, points);
        println!("  ratio to the loop by hand: {:.2}", engine / by_hand);
    }
    if chosen("glicko2") {
        online("glicko-2", &Glicko2::default(), &matches);
    }
    if chosen("weng-lin") {
        online("weng-lin", &WengLin::default(), &matches);
    }
    if chosen("bradley-terry") {
        for (name, ties) in [("davidson", Ties::Davidson), ("half wins", Ties::HalfWins)] {
            batch(name, BradleyTerry { ties, prior: None }, &matches);
        }
        let model = BradleyTerry { ties: Ties::HalfWins, prior: None };
        let (newton, strengths) = best(|| strengths(model, black_box(&matches)));
        let (seconds, (by_hand, steps)) = best(|| minorise(black_box(&matches), &strengths));
        let apart = by_hand.iter().zip(&strengths).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!(
            "  by hand: {steps} steps of minorisation (Hunter 2004) to within {apart:.0e} {:>8.2} ms, ratio {:.1}",
            seconds * 1e3,
            seconds / newton
        );
    }
}

/// Rates by Elo as first written down: doubles, `powf` of the platform, whose last bit differs between machines.
fn elo_by_hand(matches: &[Match]) -> Vec<f64> {
    let mut points = vec![1500.0_f64; COMPETITORS];
    for played in matches {
        let (first, second) = (played.first as usize, played.second as usize);
        let expected = 1.0 / (1.0 + 10.0_f64.powf((points[second] - points[first]) / 400.0));
        let score = match played.outcome {
            Outcome::Win => 1.0,
            Outcome::Draw => 0.5,
            Outcome::Loss => 0.0,
        };
        let change = 32.0 * (score - expected);
        points[first] += change;
        points[second] -= change;
    }
    points
}

fn strengths(model: BradleyTerry, matches: &[Match]) -> Vec<f64> {
    let names: Vec<String> = (0..COMPETITORS).map(|at| format!("competitor {at}")).collect();
    model.fit(&Counts::new(&names, matches).unwrap()).unwrap().strengths
}

/// Runs the usual iteration for Bradley-Terry: strengths from wins over expected meetings, until they are as near to
/// `known` as a hundred-thousandth of a logit.
fn minorise(matches: &[Match], known: &[f64]) -> (Vec<f64>, u32) {
    let mut wins = vec![0.0; COMPETITORS];
    let mut met = vec![0.0; COMPETITORS * COMPETITORS];
    for played in matches {
        let (first, second) = (played.first as usize, played.second as usize);
        let score = match played.outcome {
            Outcome::Win => 1.0,
            Outcome::Draw => 0.5,
            Outcome::Loss => 0.0,
        };
        wins[first] += score;
        wins[second] += 1.0 - score;
        met[first * COMPETITORS + second] += 1.0;
        met[second * COMPETITORS + first] += 1.0;
    }
    let mut strength = vec![1.0_f64; COMPETITORS];
    for step in 1.. {
        let next: Vec<f64> = (0..COMPETITORS)
            .map(|own| {
                let row = met.iter().skip(own * COMPETITORS).zip(&strength);
                let expected: f64 = row.map(|(met, other)| met / (strength[own] + other)).sum();
                wins[own] / expected
            })
            .collect();
        strength = next;
        let logits: Vec<f64> = strength.iter().map(|strength| libm::log(*strength)).collect();
        let mean = logits.iter().sum::<f64>() / COMPETITORS as f64;
        let centred: Vec<f64> = logits.iter().map(|logit| logit - mean).collect();
        if step == 10_000 || centred.iter().zip(known).all(|(a, b)| (a - b).abs() < 1e-5) {
            return (centred, step);
        }
    }
    unreachable!("the loop ends at 10,000 steps")
}

/// Matches between competitors of strengths that lie evenly, from a counter-based generator: the same everywhere.
fn matches(rows: usize) -> Vec<Match> {
    let draw = |at: usize, purpose: u64| {
        let mut x = (at as u64 * 4 + purpose).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    let one = |at: usize| {
        let first = draw(at, 0) % COMPETITORS as u64;
        let second = (first + 1 + draw(at, 1) % (COMPETITORS as u64 - 1)) % COMPETITORS as u64;
        let difference = (first as f64 - second as f64) * (3.0 / COMPETITORS as f64);
        let uniform = (draw(at, 2) >> 11) as f64 / 9_007_199_254_740_992.0;
        let outcome = if draw(at, 3) % 100 < DRAWN {
            Outcome::Draw
        } else if uniform < 1.0 / (1.0 + libm::exp(-difference)) {
            Outcome::Win
        } else {
            Outcome::Loss
        };
        Match { first: first as u32, second: second as u32, outcome }
    };
    (0..rows).map(one).collect()
}

/// Returns processor seconds if the system has them: the machine may be doing other things.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Returns the fewest seconds that `run` took, and its result. A round is as many passes as make a quarter of a second:
/// a clock of the system may go in steps of milliseconds.
fn best<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut time = |passes: u32| {
        let (start, wall) = (processor_seconds(), Instant::now());
        for _ in 1..passes {
            black_box(run());
        }
        let result = black_box(run());
        let wall = wall.elapsed().as_secs_f64();
        let seconds = processor_seconds().zip(start).map_or(wall, |(end, start)| end - start);
        (seconds / f64::from(passes), result)
    };
    let first = Instant::now();
    let mut best = time(1);
    let passes = (0.25 / first.elapsed().as_secs_f64()).ceil().clamp(1.0, 1e4) as u32;
    best.0 = f64::INFINITY;
    for _ in 0..ROUNDS {
        let next = time(passes);
        if next.0 < best.0 {
            best = next;
        }
    }
    best
}

fn fingerprint(values: impl IntoIterator<Item = f64>) -> u64 {
    values.into_iter().fold(0, |sum: u64, value| sum.rotate_left(7).wrapping_mul(3) ^ value.to_bits())
}

/// Says what was measured; the rate.
fn told(name: &str, seconds: f64, rows: usize, points: impl IntoIterator<Item = f64>) -> f64 {
    let rate = rows as f64 / seconds / 1e6;
    println!("  {name:<32} {rate:>8.1} M matches/s  {:016x}", fingerprint(points));
    rate
}

fn online<S: System>(name: &str, system: &S, matches: &[Match]) -> f64 {
    let (seconds, ratings) = best(|| {
        let mut ratings = vec![system.initial(); COMPETITORS];
        rate(system, &mut ratings, black_box(matches)).unwrap();
        ratings
    });
    told(name, seconds, matches.len(), ratings.iter().map(|rating| system.points(rating)))
}

fn batch(name: &str, model: BradleyTerry, matches: &[Match]) {
    let names: Vec<String> = (0..COMPETITORS).map(|at| format!("competitor {at}")).collect();
    let show = |what: &str, seconds: f64, bits: u64| {
        println!("  {:<32} {:>8.2} ms           {bits:016x}", format!("{name}, {what}"), seconds * 1e3);
    };
    let (seconds, (counts, fit)) = best(|| {
        let counts = Counts::new(&names, black_box(matches)).unwrap();
        let fit = model.fit(&counts).unwrap();
        (counts, fit)
    });
    show("rows to strengths", seconds, fingerprint(fit.strengths.iter().copied()));
    let (seconds, intervals) = best(|| fit.covariance(&counts).unwrap().intervals(&fit, 0.95).unwrap());
    show("sandwich", seconds, fingerprint(intervals.iter().map(|interval| interval.upper)));
    let bootstrap = Bootstrap { seed: 1, rounds: 0..BOOTSTRAP_ROUNDS };
    let (seconds, intervals) = best(|| {
        let counts = Counts::new(&names, black_box(matches)).unwrap();
        let fit = model.fit(&counts).unwrap();
        model.resample(&counts, &fit, &bootstrap).unwrap().intervals(0.95).unwrap()
    });
    let bits = fingerprint(intervals.iter().map(|interval| interval.upper));
    show(&format!("rows to {BOOTSTRAP_ROUNDS} rounds"), seconds, bits);
}
