//! The two rules as loops written by hand: what an engine without cards would be. Same inputs, same results.
//!
//! Each is written over chunks of rows so that the compiler can use vectors.

use karat_core::evaluate::Scores;

/// Rows worked on together.
const CHUNK: usize = 32;

fn place(names: &[&str], name: &str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or(usize::MAX)
}

#[inline(always)]
fn chunk<'a>(facts: &[&'a [f64]], at: usize, start: usize) -> &'a [f64; CHUNK] {
    facts[at][start..start + CHUNK].try_into().unwrap()
}

#[inline(always)]
fn round(x: f64) -> f64 {
    (x + 4_503_599_627_370_496.0) - 4_503_599_627_370_496.0
}

#[inline(always)]
fn floor(x: f64) -> f64 {
    let near = round(x);
    if near > x { near - 1.0 } else { near }
}

pub(crate) struct TrustPlaces {
    /// Dimension and weight in hundredths. Every dimension applies, and no incident is open.
    dimensions: Vec<(usize, f64)>,
}

const TRUST: [(&str, f64); 16] = [
    ("accuracy", 11.0),
    ("reliability", 10.0),
    ("safety", 9.0),
    ("selfAudit", 7.0),
    ("security", 7.0),
    ("latency", 7.0),
    ("bond", 6.0),
    ("scopeHonesty", 6.0),
    ("memoryQuality", 6.0),
    ("costEfficiency", 5.0),
    ("evalRigor", 5.0),
    ("teamwork", 5.0),
    ("modelCompliance", 4.0),
    ("runtimeCompliance", 4.0),
    ("harnessStability", 4.0),
    ("skillMastery", 4.0),
];
/// Score, coverage, floor of security, then how many of `MANDATORY` with which floor.
const TIERS: [(f64, f64, f64, usize, f64); 4] = [
    (400.0, 0.40, 0.0, 2, 0.30),
    (600.0, 0.60, 0.50, 4, 0.40),
    (750.0, 0.75, 0.65, 7, 0.50),
    (900.0, 0.90, 0.80, 10, 0.60),
];
/// Places in `TRUST`, in the order in which the tiers ask for them.
const MANDATORY: [usize; 10] = [0, 2, 1, 4, 7, 3, 13, 5, 10, 6];

impl TrustPlaces {
    pub(crate) fn new(names: &[&str]) -> Self {
        Self { dimensions: TRUST.map(|(name, weight)| (place(names, name), weight)).to_vec() }
    }
}

pub(crate) fn trust(at: &TrustPlaces, facts: &[&[f64]], out: &mut Scores<'_>) {
    let rows = out.score.len() / CHUNK * CHUNK;
    for start in (0..rows).step_by(CHUNK) {
        let mut bad = false;
        let mut readings = [[0.0; CHUNK]; 16];
        let (mut total, mut covered) = ([0.0; CHUNK], [0.0; CHUNK]);
        for (dimension, &(fact, weight)) in at.dimensions.iter().enumerate() {
            let values = chunk(facts, fact, start);
            for lane in 0..CHUNK {
                bad |= (values[lane] < 0.0) | (values[lane] > 1.0);
                let reading = round(values[lane] * 1e9);
                readings[dimension][lane] = reading;
                let known = !reading.is_nan();
                total[lane] += if known { weight * reading } else { 0.0 };
                covered[lane] += if known { weight } else { 0.0 };
            }
        }
        assert!(!bad, "a fact out of its range");
        for lane in 0..CHUNK {
            let security = readings[4][lane];
            let mut score = round(total[lane] / covered[lane]) * 1e6;
            let coverage = round(covered[lane] * 1e9 / 100.0);
            let mut limit = 4.0;
            if security.is_nan() {
                limit = 1.0;
            }
            if security < 5e8 {
                score = if score > 0.599e15 { 0.599e15 } else { score };
                limit = 1.0;
            }
            if security < 2.5e8 {
                score = if score > 0.399e15 { 0.399e15 } else { score };
                limit = 0.0;
            }
            let published = floor(score / 1e12 + 0.5);
            let mut tier = 0.0;
            let mut open = true;
            for (place, &(points, share, security_floor, count, floor)) in TIERS.iter().enumerate() {
                open &= published >= points && coverage >= share * 1e9;
                open &= security_floor == 0.0 || security >= security_floor * 1e9;
                for &dimension in &MANDATORY[..count] {
                    open &= readings[dimension][lane] >= floor * 1e9;
                }
                tier = if open { (place + 1) as f64 } else { tier };
            }
            let nothing = covered[lane] == 0.0;
            out.score[start + lane] = if nothing { f64::NAN } else { score };
            out.coverage[start + lane] = coverage;
            out.tier[start + lane] = if tier > limit { limit } else { tier } as u8;
            out.band[start + lane] = 0;
        }
    }
    assert_eq!(rows, out.score.len(), "the benchmark takes whole chunks");
}

pub(crate) struct WorkflowPlaces([usize; 11]);

impl WorkflowPlaces {
    pub(crate) fn new(names: &[&str]) -> Self {
        Self(
            [
                "output_quality", "steps_completed", "steps_total", "actual_tao", "max_budget_tao",
                "actual_seconds", "max_latency_seconds", "actual_retries", "declared_retry_budget",
                "timeouts", "hard_failures",
            ]
            .map(|name| place(names, name)),
        )
    }
}

pub(crate) fn workflow(at: &WorkflowPlaces, facts: &[&[f64]], out: &mut Scores<'_>) {
    let rows = out.score.len() / CHUNK * CHUNK;
    for start in (0..rows).step_by(CHUNK) {
        let [quality, done, steps, tao, budget, seconds, limit, retries, declared, timeouts, failures] =
            at.0.map(|at| chunk(facts, at, start));
        let mut bad = false;
        for lane in 0..CHUNK {
            let whole = |x: f64| x >= 0.0 && round(x) == x;
            bad |= !(quality[lane] >= 0.0 && quality[lane] <= 1.0 && done[lane] <= steps[lane]);
            bad |= !(tao[lane] >= 0.0 && budget[lane] >= 0.0 && seconds[lane] >= 0.0 && limit[lane] >= 0.0);
            bad |=
                !(whole(done[lane]) && whole(steps[lane]) && whole(retries[lane]) && whole(declared[lane]));
            bad |= !(whole(timeouts[lane]) && whole(failures[lane]));
            let positive = |x: f64| if x > 0.0 { x } else { 0.0 };
            let ratio = if steps[lane] > 0.0 { done[lane] / steps[lane] } else { 0.0 };
            let success = round(quality[lane] * ratio * 1e9);
            let open = success > 7e8;
            let saved = |used: f64, most: f64| if most > 0.0 { positive(1.0 - used / most) } else { 0.0 };
            let cost = if open { round(saved(tao[lane], budget[lane]) * 1e9) } else { 0.0 };
            let latency = if open { round(saved(seconds[lane], limit[lane]) * 1e9) } else { 0.0 };
            let unplanned = positive(retries[lane] - declared[lane]);
            let penalty = unplanned * 0.1 + timeouts[lane] * 0.2 + failures[lane] * 0.5;
            let reliability = round(positive(1.0 - penalty) * 1e9);
            out.score[start + lane] =
                500_000.0 * success + 250_000.0 * cost + 150_000.0 * latency + 100_000.0 * reliability;
            out.coverage[start + lane] = 1e9;
            out.band[start + lane] = 0;
            out.tier[start + lane] = 0;
        }
        assert!(!bad, "a fact out of its range");
    }
    assert_eq!(rows, out.score.len(), "the benchmark takes whole chunks");
}
