//! Counts how often alarms on the nights of a subject are false, and how soon they see a change.
//!
//! `cargo run --release -p karat-stats --example trend_alarms [lives]`
//!
//! Tasks differ: most nearly always pass or nearly always fail. The same tasks run every night, once each, and the night moves
//! all of them. The alarms of the crate see the results; CUSUM knows the true mean and deviation, which no one does.

use std::error::Error;

use karat_stats::random::Random;
use karat_stats::trend::{Change, ConfidenceSequence, Direction, RankEvidence};

/// The level of all alarms.
const LEVEL: f64 = 0.95;
/// The nights of a life.
const NIGHTS: usize = 200;
/// The night from which on something has changed.
const CHANGE: usize = 30;

/// The change of the chances to pass from a night on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Nothing.
    Same,
    /// They are lower by this much of the scale.
    Step(f64),
    /// They fall by this much of the scale a night.
    Slope(f64),
}

/// The influence that all tasks of a night share.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    /// The deviation of what moves all tasks of a night.
    pub deviation: f64,
    /// The correlation of one night with the next.
    pub correlation: f64,
}

/// The number of a kind of alarm, and the night of its first one.
type Alarm = (usize, Option<usize>);

/// A life of nights.
struct Life {
    tasks: usize,
    /// The results of each night.
    nights: Vec<Vec<bool>>,
    /// The results of a baseline run on each night.
    baselines: Vec<Vec<bool>>,
    /// The mean chance to pass before the change, and the deviation of the score of a night.
    mean: f64,
    deviation: f64,
}

impl Life {
    fn new(random: &mut Random, tasks: usize, effect: Effect, shape: Shape, start: usize) -> Self {
        // A sine gives many chances close to 0 and 1.
        let chances: Vec<f64> = (0..tasks)
            .map(|_| 0.5 + 0.5 * libm::sin((random.open_unit() - 0.5) * core::f64::consts::PI))
            .collect();
        let count = tasks as f64;
        let mean = chances.iter().sum::<f64>() / count;
        let variance = chances.iter().map(|it| it * (1.0 - it)).sum::<f64>() / count / count;
        let deviation = (variance + effect.deviation * effect.deviation).sqrt();
        let mut weather = Random::new(random.next_u64());
        let mut run = |moved: f64| -> Vec<bool> {
            chances.iter().map(|chance| random.open_unit() < chance * (1.0 + moved / mean)).collect()
        };
        let (mut nights, mut baselines, mut state) = (Vec::new(), Vec::new(), weather.normal());
        for night in 0..NIGHTS {
            let since = (night + 1).saturating_sub(start) as f64;
            let moved = match shape {
                Shape::Step(by) if since > 0.0 => -by,
                Shape::Slope(by) => -by * since,
                _ => 0.0,
            };
            nights.push(run(moved + effect.deviation * state));
            // The baseline runs in the same night, under the same effect.
            baselines.push(run(effect.deviation * state));
            let fresh = (1.0 - effect.correlation * effect.correlation).sqrt() * weather.normal();
            state = effect.correlation * state + fresh;
        }
        Self { tasks, nights, baselines, mean, deviation }
    }

    fn score(&self, night: &[bool]) -> f64 {
        night.iter().filter(|passed| **passed).count() as f64 / self.tasks as f64
    }

    fn scores(&self) -> Vec<f64> {
        self.nights.iter().map(|night| self.score(night)).collect()
    }

    /// The alarm of the crate, on one run as the baseline.
    fn ranks(&self, level: f64) -> Option<usize> {
        let mut evidence = RankEvidence::new(1, Direction::Decline);
        self.nights.iter().position(|night| {
            // Orders nights with as many passes by which tasks passed.
            let tie = night.iter().fold(0u64, |tie, it| {
                (tie ^ u64::from(*it)).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
            });
            let passes = night.iter().filter(|passed| **passed).count() as i64;
            evidence.push(passes, tie) >= -libm::log(1.0 - level)
        })
    }

    /// Bets that the mean of values is below a known one, on one side.
    fn bets(
        values: impl Iterator<Item = f64>,
        mean: f64,
        lowest: f64,
    ) -> Result<Option<usize>, Box<dyn Error>> {
        let mut sequence = ConfidenceSequence::new(lowest, 2.0 * LEVEL - 1.0)?;
        for (night, value) in values.enumerate() {
            sequence.push(value)?;
            if sequence.capitals(mean).1 >= 1.0 / (1.0 - LEVEL) {
                return Ok(Some(night));
            }
        }
        Ok(None)
    }

    /// Looks for the night from which on no mean of the scores is left.
    fn empty(&self) -> Result<Option<usize>, Box<dyn Error>> {
        let mut sequence = ConfidenceSequence::new(0.0, LEVEL)?;
        for (night, score) in self.scores().into_iter().enumerate() {
            if sequence.push(score)?.is_none() {
                return Ok(Some(night));
            }
        }
        Ok(None)
    }

    /// A one-sided paired t-test over tasks of each night against the first one.
    fn t_test(&self) -> Option<usize> {
        let first = self.nights.first()?;
        let reach = if self.tasks == 50 { 1.676_551 } else { 1.652_547 };
        self.nights.iter().position(|night| {
            let count = self.tasks as f64;
            let pairs =
                first.iter().zip(night).map(|(a, b)| f64::from(u8::from(*a)) - f64::from(u8::from(*b)));
            let (sum, squares) = pairs.fold((0.0, 0.0), |(sum, squares), it| (sum + it, squares + it * it));
            let variance = (squares - sum * sum / count) / (count - 1.0);
            sum / count > reach * (variance / count).sqrt()
        })
    }

    /// The lower CUSUM with allowance 1/2 against a mean.
    fn cusum(&self, mean: f64, limit: f64, from: usize) -> Option<usize> {
        let mut sum = 0.0f64;
        let mut seen = self.scores().into_iter().skip(from);
        let found = seen.position(|score| {
            sum = (sum + (mean - score) / self.deviation - 0.5).max(0.0);
            sum >= limit
        });
        found.map(|night| night + from)
    }

    fn first_mean(&self, nights: usize) -> f64 {
        self.scores().iter().take(nights).sum::<f64>() / nights as f64
    }
}

/// The limit of a CUSUM with allowance 1/2 at which 5 % of 2,000 lives of 200 normal nights have an alarm.
fn cusum_limit() -> f64 {
    let mut random = Random::new(11);
    let mut highest: Vec<f64> = (0..2000)
        .map(|_| {
            let (mut sum, mut most) = (0.0f64, 0.0f64);
            for _ in 0..NIGHTS {
                sum = (sum + random.normal() - 0.5).max(0.0);
                most = most.max(sum);
            }
            most
        })
        .collect();
    highest.sort_by(f64::total_cmp);
    highest.get(1900).copied().unwrap_or(f64::NAN)
}

fn share(found: &[Option<usize>], before: usize) -> f64 {
    100.0 * found.iter().flatten().filter(|night| **night < before).count() as f64 / found.len() as f64
}

/// Writes the share that sees the change after it happened, and the middle delay in nights of all lives.
fn seen(found: &[Option<usize>], start: usize) -> String {
    let after: Vec<&usize> = found.iter().flatten().filter(|night| **night >= start).collect();
    let mut delays: Vec<usize> = after.iter().map(|night| **night + 1 - start).collect();
    delays.sort_unstable();
    let power = 100.0 * delays.len() as f64 / found.len() as f64;
    let middle = delays.get(found.len() / 2).map_or("-".into(), |it| it.to_string());
    format!("{power:.0} % / {middle}")
}

fn name(effect: Effect) -> String {
    match (effect.deviation, effect.correlation) {
        (0.0, _) => "none".into(),
        (by, 0.0) => format!("{:.0} points", by * 100.0),
        (by, of) => format!("{:.0} points, correlation {of}", by * 100.0),
    }
}

const NONE: Effect = Effect { deviation: 0.0, correlation: 0.0 };
const POINT: Effect = Effect { deviation: 0.01, correlation: 0.0 };

fn false_alarms(lives: usize, limit: f64) -> Result<(), Box<dyn Error>> {
    println!("\nLives in which nothing changes with a false alarm, % of {lives} (bets: of {})\n", lives / 10);
    println!(
        "| tasks | effect of a night | ranks | by night 100 | bets on a known mean | bets on pairs | no mean left | bets on one run | t-test by night 100 | by 200 | CUSUM, true mean | mean of 20 nights | one run |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let row = |of: f64| Effect { deviation: 0.01, correlation: of };
    let far = Effect { deviation: 0.05, correlation: 0.0 };
    let effects = [NONE, POINT, far, row(0.8)];
    for (tasks, effects) in [(50, &effects[..2]), (200, &effects[..])] {
        for &effect in effects {
            let mut random = Random::stream(1, tasks as u64);
            let mut found: [Vec<Option<usize>>; 9] = Default::default();
            for life in 0..lives {
                let life_of = Life::new(&mut random, tasks, effect, Shape::Same, NIGHTS);
                let mut all = vec![
                    (0, life_of.ranks(LEVEL)),
                    (5, life_of.t_test()),
                    (6, life_of.cusum(life_of.mean, limit, 0)),
                    (7, life_of.cusum(life_of.first_mean(20), limit, 20)),
                    (8, life_of.cusum(life_of.first_mean(1), limit, 1)),
                ];
                if life % 10 == 0 {
                    all.extend(bets(&life_of)?);
                    all.push((4, Life::bets(life_of.scores().into_iter(), life_of.first_mean(1), 0.0)?));
                }
                for (kind, night) in all {
                    found.get_mut(kind).ok_or("kind")?.push(night);
                }
            }
            let [ranks, known, pairs, empty, one, t, cusum, of_20, of_1] = &found;
            println!(
                "| {tasks} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                name(effect),
                share(ranks, NIGHTS),
                share(ranks, 100),
                share(known, NIGHTS),
                share(pairs, NIGHTS),
                share(empty, NIGHTS),
                share(one, NIGHTS),
                share(t, 100),
                share(t, NIGHTS),
                share(cusum, NIGHTS),
                share(of_20, NIGHTS),
                share(of_1, NIGHTS)
            );
        }
    }
    Ok(())
}

/// Returns the alarms that bet: on a known mean, on pairs with a fresh run of the baseline, and where no mean is left.
fn bets(life: &Life) -> Result<Vec<Alarm>, Box<dyn Error>> {
    let pairs =
        life.nights.iter().zip(&life.baselines).map(|(own, other)| life.score(own) - life.score(other));
    Ok(vec![
        (1, Life::bets(life.scores().into_iter(), life.mean, 0.0)?),
        (2, Life::bets(pairs, 0.0, -1.0)?),
        (3, life.empty()?),
    ])
}

fn power(lives: usize, limit: f64) -> Result<(), Box<dyn Error>> {
    println!(
        "\nLives of {NIGHTS} nights in which the change is seen, and the middle delay in nights, of {lives} lives;"
    );
    println!(
        "plausible: those in which the first night after the change is among the plausible ones, and how many these are\n"
    );
    println!(
        "| tasks | effect of a night | change | from night | ranks | bets on a known mean | bets on pairs | no mean left | CUSUM, true mean | plausible | nights |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let shapes = [
        ("2 points a week", Shape::Slope(0.02 / 7.0)),
        ("5 points", Shape::Step(0.05)),
        ("10 points", Shape::Step(0.1)),
    ];
    let row = |tasks, effect, (words, shape), start| -> Result<(), Box<dyn Error>> {
        let mut random = Random::stream(2, tasks as u64);
        let mut found: [Vec<Option<usize>>; 5] = Default::default();
        let (mut held, mut width) = (0, 0);
        for _ in 0..lives {
            let life = Life::new(&mut random, tasks, effect, shape, start);
            let mut all = bets(&life)?;
            all.extend([(0, life.ranks(LEVEL)), (4, life.cusum(life.mean, limit, 0))]);
            for (kind, night) in all {
                found.get_mut(kind).ok_or("kind")?.push(night);
            }
            let scores: Vec<(usize, f64)> = life.scores().into_iter().enumerate().collect();
            if let Some(change) = Change::find(&scores, 1, Direction::Decline, LEVEL)? {
                held += usize::from(change.plausible.contains(&start));
                width += change.plausible.len();
            }
        }
        let (held, width) = (held as f64 / lives as f64, width as f64 / lives as f64);
        let plausible = if matches!(shape, Shape::Step(_)) {
            format!("{:.0} % | {width:.1}", held * 100.0)
        } else {
            "- | -".into()
        };
        let cells: Vec<String> = found.iter().map(|it| seen(it, start)).collect();
        println!("| {tasks} | {} | {words} | {start} | {} | {plausible} |", name(effect), cells.join(" | "));
        Ok(())
    };
    for tasks in [50, 200] {
        for effect in [NONE, POINT] {
            for shape in shapes {
                row(tasks, effect, shape, CHANGE)?;
            }
        }
        for (shape, start) in shapes.into_iter().flat_map(|shape| [(shape, 10), (shape, 100)]) {
            row(tasks, POINT, shape, start)?;
        }
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "the number of lives reaches no score")]
fn main() -> Result<(), Box<dyn Error>> {
    let lives = std::env::args().nth(1).map_or(Ok(2000), |asked| asked.parse())?;
    let limit = cusum_limit();
    println!("Alarms at {LEVEL}; CUSUM with allowance 1/2 and limit {limit:.2}");
    false_alarms(lives, limit)?;
    power(lives / 20, limit)
}
