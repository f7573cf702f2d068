//! Factorization of numbers into primes.

use karat_stats::random::Random;
use serde_json::{Value, json};

use super::{Game, Run, Way, below};

/// The numbers of an instance.
const NUMBERS: usize = 12;
/// The random divisors that are tried for each number.
const DRAWS: usize = 300;

pub const GAME: Game = Game {
    slug: "factors",
    title: "Factors",
    briefing: "Each line of `numbers.txt` is a number. Answer with their `factors`: for each one its primes in ascending \
               order with `*` between them, such as `2*2*3`.",
    card: "factors@1.0.0",
    category: "reasoning",
    difficulty: "legendary",
    time_limit_seconds: 90,
    file: "numbers.txt",
    hidden: &[],
    make,
    play,
};

fn make(chance: &mut Random) -> (String, Value) {
    let numbers: Vec<u64> = (0..NUMBERS)
        .map(|place| {
            let most = [100, 10_000, 200_000, 900_000].get(place % 4).copied().unwrap_or(100);
            2 + u64::try_from(below(chance, most)).unwrap_or(0)
        })
        .collect();
    let text = numbers.iter().map(|number| format!("{number}\n")).collect();
    let mut run = Run { steps: 0, limit: u64::MAX, chance: chance.clone(), calls: Vec::new() };
    let factors: Option<Vec<String>> =
        numbers.iter().map(|number| divide(*number, u64::MAX, &mut run)).collect();
    (text, json!({ "factors": factors }))
}

fn play(text: &str, way: Way, run: &mut Run) -> Option<Value> {
    let numbers = text.lines().map(|line| line.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?;
    let factors = numbers.iter().map(|number| match way {
        Way::Careful => divide(*number, u64::MAX, run),
        Way::Greedy => divide(*number, 100, run),
        Way::Hasty => divide(*number, 7, run),
        Way::Random => guess(*number, run),
        Way::Exhaustive => every_divisor(*number, run),
    });
    let factors: Vec<String> = factors.collect::<Option<_>>()?;
    Some(json!({ "factors": factors }))
}

/// Divides by 2, 3 and the neighbours of multiples of 6, up to the root and to `most`; the rest counts as a prime.
fn divide(number: u64, most: u64, run: &mut Run) -> Option<String> {
    let mut rest = number;
    let mut primes = Vec::new();
    let near = (1..).flat_map(|sixth: u64| [6 * sixth - 1, 6 * sixth + 1]);
    for divisor in [2, 3].into_iter().chain(near) {
        if divisor > most || divisor.saturating_mul(divisor) > rest {
            break;
        }
        run.step()?;
        while rest.is_multiple_of(divisor) {
            primes.push(divisor);
            rest /= divisor;
        }
    }
    primes.extend(Some(rest).filter(|rest| *rest > 1));
    Some(written(&primes))
}

/// Divides by random numbers, up to the limit of tries.
fn guess(number: u64, run: &mut Run) -> Option<String> {
    let (mut rest, mut primes) = (number, Vec::new());
    for _ in 0..DRAWS {
        run.step()?;
        let divisor = 2 + u64::try_from(run.below(60)).unwrap_or(0);
        while rest > divisor && rest.is_multiple_of(divisor) {
            primes.push(divisor);
            rest /= divisor;
        }
    }
    primes.push(rest);
    primes.sort_unstable();
    Some(written(&primes))
}

/// Divides by every number up to the rest.
fn every_divisor(number: u64, run: &mut Run) -> Option<String> {
    let (mut rest, mut primes, mut divisor) = (number, Vec::new(), 2);
    while rest > 1 {
        run.step()?;
        if rest.is_multiple_of(divisor) {
            primes.push(divisor);
            rest /= divisor;
        } else {
            divisor += 1;
        }
    }
    Some(written(&primes))
}

fn written(primes: &[u64]) -> String {
    let texts: Vec<String> = primes.iter().map(u64::to_string).collect();
    texts.join("*")
}
