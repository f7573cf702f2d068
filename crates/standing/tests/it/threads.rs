//! Work that is split over threads gives the same bits as on one.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;
use std::thread;

use karat_stats::random::Random;
use karat_stats::rating::bradley_terry::{Bootstrap, BradleyTerry, Counts, Resamples};
use karat_stats::rating::{Match, Outcome};

fn below(random: &mut Random, bound: u64) -> u64 {
    random.below(bound.try_into().unwrap())
}

#[test]
fn rounds_of_the_bootstrap() {
    let names: Vec<String> = (0..8).map(|name| format!("competitor {name}")).collect();
    let mut random = Random::new(5);
    let matches: Vec<Match> = (0..4000)
        .map(|_| {
            let first = below(&mut random, 8) as u32;
            let second = (first + 1 + below(&mut random, 7) as u32) % 8;
            let outcome = match below(&mut random, 9) + u64::from(first) {
                0..5 => Outcome::Loss,
                5..7 => Outcome::Draw,
                _ => Outcome::Win,
            };
            Match { first, second, outcome }
        })
        .collect();
    let counts = Counts::new(&names, &matches).unwrap();
    let model = BradleyTerry::default();
    let fit = model.fit(&counts).unwrap();
    let rounds = |rounds: Range<u64>| model.resample(&counts, &fit, &Bootstrap { seed: 3, rounds }).unwrap();
    let alone: Resamples = rounds(0..60);
    let together = thread::scope(|scope| {
        let halves = [0..30, 30..60].map(|half| scope.spawn(|| rounds(half)));
        let [first, second] = halves.map(|half| half.join().unwrap());
        first.followed_by(second)
    });
    assert_eq!(together, alone);
    let bits = |found: &Resamples| found.strengths.concat().into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(&together), bits(&alone));
}
