//! Coverage of the intervals of ratings and coefficients where voters like long answers, in simulated votes.
//!
//! `cargo run --release -p karat-stats --example style_coverage [EXPERIMENTS]` prints a table. Each experiment draws votes
//! between twelve competitors of known strengths, with known effects of length and of headers, and takes the intervals at
//! 95 % with and without the covariates. The standard error of a share of .95 over the strengths is at most .01 with 500
//! experiments. A test compares one set of votes with another implementation.

use std::error::Error;

use karat_stats::random::Random;
use karat_stats::rating::bradley_terry::LOGIT_POINTS;
use karat_stats::rating::covariates::{Contrast, Controlled, Covariate};
use karat_stats::rating::{Match, Outcome};

/// The number of competitors. The first is the strongest.
pub const COMPETITORS: usize = 12;
/// The effects of a contrast of 1 on the log-odds: of length, of headers.
pub const EFFECTS: [f64; 2] = [1.2, 0.15];
/// The length of a usual answer of each competitor. The second writes far more than the first.
const LENGTHS: [f64; COMPETITORS] =
    [600.0, 1500.0, 500.0, 900.0, 400.0, 1200.0, 700.0, 800.0, 300.0, 1000.0, 650.0, 450.0];
const LEVEL: f64 = 0.95;

/// Votes with their covariates.
#[derive(Debug, Clone)]
pub struct Votes {
    /// The competitors.
    pub names: Vec<String>,
    /// The votes.
    pub matches: Vec<Match>,
    /// Length and headers.
    pub covariates: [Covariate; 2],
}

/// Returns the true strengths, in logits around 0.
pub fn strengths() -> [f64; COMPETITORS] {
    std::array::from_fn(|at| 1.1 - 0.2 * at as f64)
}

/// Draws votes.
pub fn votes(count: usize, random: &mut Random) -> Votes {
    let strengths = strengths();
    let of = |values: &[f64], at: usize| values.get(at).copied().unwrap_or_default();
    let covariate = |name: &str| Covariate {
        name: name.to_owned(),
        contrast: Contrast::Relative,
        values: Vec::with_capacity(count),
    };
    let (mut matches, mut length, mut headers) =
        (Vec::with_capacity(count), covariate("length"), covariate("headers"));
    for _ in 0..count {
        let first = (COMPETITORS as f64 * random.open_unit()) as usize;
        let step = 1 + ((COMPETITORS - 1) as f64 * random.open_unit()) as usize;
        let second = (first + step) % COMPETITORS;
        let mut written = |at: usize| (of(&LENGTHS, at) * libm::exp(0.5 * random.normal())).round_ties_even();
        let lengths = [written(first), written(second)];
        // Half of all answers have no header.
        let heads =
            lengths.map(|length| (length / 200.0 * (2.0 * random.open_unit() - 1.0)).max(0.0).floor());
        let contrast = |[x, y]: [f64; 2]| if x + y == 0.0 { 0.0 } else { (x - y) / (x + y) };
        let [of_length, of_headers] = EFFECTS;
        let odds = of(&strengths, first) - of(&strengths, second)
            + of_length * contrast(lengths)
            + of_headers * contrast(heads);
        let score = 1.0 / (1.0 + libm::exp(-odds));
        // Draws that leave the expected score as it is.
        let half_drawn = 0.5 * score * (1.0 - score);
        let draw = random.open_unit();
        let outcome = if draw < score - half_drawn {
            Outcome::Win
        } else if draw < score + half_drawn {
            Outcome::Draw
        } else {
            Outcome::Loss
        };
        matches.push(Match { first: first as u32, second: second as u32, outcome });
        length.values.push(Some(lengths));
        headers.values.push(Some(heads));
    }
    let names = (0..COMPETITORS).map(|at| format!("s{at:02}")).collect();
    Votes { names, matches, covariates: [length, headers] }
}

/// Shares of the experiments, and mean half widths.
#[derive(Debug, Clone, Copy, Default)]
pub struct Found {
    /// Strengths inside of their interval, without and with covariates.
    pub strengths: [f64; 2],
    /// Coefficients of a contrast of 1 inside of their interval.
    pub effects: [f64; 2],
    /// Experiments in which the strongest has the first rank, without and with covariates.
    pub first: [f64; 2],
    /// Mean half width of the intervals of the strengths, in points, without and with covariates.
    pub reach: [f64; 2],
}

/// Takes the intervals of `experiments` with `count` votes each.
///
/// # Errors
/// If votes have no fit.
pub fn coverage(count: usize, experiments: u32) -> Result<Found, Box<dyn Error>> {
    let mut random = Random::stream(1, count as u64);
    let (mut found, truth) = (Found::default(), strengths());
    let share = 1.0 / f64::from(experiments);
    for _ in 0..experiments {
        let Votes { names, matches, covariates } = votes(count, &mut random);
        let fitted = Controlled::new(&names, &matches, &covariates)?;
        for (side, which) in [&fitted.without, &fitted.with].into_iter().enumerate() {
            let add = |sums: &mut [f64; 2], value: f64| {
                if let Some(sum) = sums.get_mut(side) {
                    *sum += value * share;
                }
            };
            for (interval, truth) in which.intervals(LEVEL)?.iter().zip(&truth) {
                let inside = (interval.lower..=interval.upper).contains(truth);
                add(&mut found.strengths, f64::from(u8::from(inside)) / COMPETITORS as f64);
                let reach = 0.5 * LOGIT_POINTS * (interval.upper - interval.lower);
                add(&mut found.reach, reach / COMPETITORS as f64);
            }
            let is_first = which.places(LEVEL)?.first().is_some_and(|place| place.competitor == 0);
            add(&mut found.first, f64::from(u8::from(is_first)));
        }
        let effects = found.effects.iter_mut().zip(&fitted.coefficients).zip(EFFECTS);
        for ((inside, coefficient), truth) in effects {
            let interval = coefficient.interval(LEVEL)?;
            let truth = truth * coefficient.deviation;
            *inside += f64::from(u8::from((interval.lower..=interval.upper).contains(&truth))) * share;
        }
    }
    Ok(found)
}

#[expect(clippy::disallowed_methods, reason = "the number of experiments reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let experiments = std::env::args().nth(1).map_or(Ok(1000), |asked| asked.parse())?;
    println!(
        "Intervals at {LEVEL}, {experiments} experiments a row. Shares that hold the truth; ± in points.\n"
    );
    println!(
        "| votes | strengths without | strengths with | length | headers | best is first without | with | ± without | ± with |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for count in [2_000, 20_000] {
        let Found { strengths, effects, first, reach } = coverage(count, experiments)?;
        let shares = [strengths, effects, first].concat();
        let cells: Vec<String> = shares.iter().map(|share| format!("{share:.4}")).collect();
        let reaches: Vec<String> = reach.iter().map(|points| format!("{points:.1}")).collect();
        println!("| {count} | {} | {} |", cells.join(" | "), reaches.join(" | "));
    }
    Ok(())
}
