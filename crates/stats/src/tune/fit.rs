//! Logistic regression with coefficients that are not negative.
//!
//! Newton's method: the log-loss is replaced by its second-order expansion, which is minimised over the allowed
//! coefficients by coordinate descent (Friedman, Hastie and Tibshirani, Journal of Statistical Software 33, 2010), and a
//! step that does not lower the log-loss is halved. A weak prior keeps the coefficients finite where the outcome can be
//! predicted without error, and keeps them in the proportions of the own weights where cases say nothing.

use alloc::vec;
use alloc::vec::Vec;

/// One case of the regression.
pub(super) struct Row {
    /// The values by dimension, or the differences of two.
    pub(super) features: Vec<f64>,
    /// The outcome, from 0 to 1.
    pub(super) outcome: f64,
    /// 1 if the model has an intercept here, 0 for a difference, whose sign has no preferred side.
    pub(super) intercept: f64,
}

/// The deviation of the prior: of the sum of the coefficients, of each of them around its part of that sum, and of the
/// intercept. From the worst to the best value, odds then seldom change by more than e^20.
const PRIOR_DEVIATION: f64 = 10.0;
/// Steps of Newton's method, and sweeps over the coefficients in each.
const STEPS: u32 = 50;
const SWEEPS: u32 = 200;
/// A step, or a sweep, that moves no coefficient by more is the last.
const LAST_STEP: f64 = 1e-9;
/// A sum of coefficients below this has no proportions.
const NOTHING: f64 = 1e-9;

/// Returns the coefficients as shares of their sum: the weights. `counts` is how often each row counts, `own` the shares
/// around which the prior lies, which are returned if the rows say nothing.
pub(super) fn fit(rows: &[Row], counts: &[f64], own: &[f64]) -> Vec<f64> {
    let size = own.len() + 1;
    let mut point = vec![0.0; size];
    let mut loss = log_loss(rows, counts, own, &point);
    for _ in 0..STEPS {
        let (gradient, slopes) = expansion(rows, counts, own, &point);
        let step = best_step(&gradient, &slopes, &point);
        let length = step.iter().fold(0.0, |most: f64, part| most.max(part.abs()));
        if length < LAST_STEP {
            break;
        }
        let mut share = 1.0;
        let moved = |share: f64| -> Vec<f64> {
            let moved = point.iter().zip(&step).map(|(part, step)| part + share * step);
            moved.enumerate().map(|(at, part)| if at < own.len() { part.max(0.0) } else { part }).collect()
        };
        let mut next = moved(share);
        let mut lower = log_loss(rows, counts, own, &next);
        while lower > loss && share > 1e-6 {
            share *= 0.5;
            next = moved(share);
            lower = log_loss(rows, counts, own, &next);
        }
        if lower >= loss {
            break;
        }
        (point, loss) = (next, lower);
    }
    point.truncate(own.len());
    let sum: f64 = point.iter().sum();
    if sum < NOTHING { own.to_vec() } else { point.iter().map(|part| part / sum).collect() }
}

/// Returns the sum of the products of a row and the coefficients.
fn linear(row: &Row, point: &[f64]) -> f64 {
    let products = row.features.iter().zip(point).map(|(feature, part)| feature * part);
    products.sum::<f64>() + row.intercept * point.last().copied().unwrap_or(0.0)
}

/// Returns how far each coefficient is from its part of their sum, then that sum, then the intercept: all that the prior
/// expects near 0.
fn strays(own: &[f64], point: &[f64]) -> Vec<f64> {
    let sum: f64 = point.iter().take(own.len()).sum();
    let apart = point.iter().zip(own).map(|(part, share)| part - share * sum);
    apart.chain([sum, point.last().copied().unwrap_or(0.0)]).collect()
}

fn log_loss(rows: &[Row], counts: &[f64], own: &[f64], point: &[f64]) -> f64 {
    let mut loss = 0.0;
    for (row, count) in rows.iter().zip(counts).filter(|(_, count)| **count > 0.0) {
        let linear = linear(row, point);
        // ln (1 + e^x) - y x, without overflow.
        let rest = linear.max(0.0) + libm::log1p(libm::exp(-linear.abs()));
        loss += count * (rest - row.outcome * linear);
    }
    let squares: f64 = strays(own, point).iter().map(|stray| stray * stray).sum();
    loss + 0.5 * squares / (PRIOR_DEVIATION * PRIOR_DEVIATION)
}

/// Returns the gradient and the slopes of the log-loss with the prior, the slopes row by row.
fn expansion(rows: &[Row], counts: &[f64], own: &[f64], point: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let size = point.len();
    let (mut gradient, mut slopes) = (vec![0.0; size], vec![vec![0.0; size]; size]);
    let mut parts = vec![0.0; size];
    for (row, count) in rows.iter().zip(counts).filter(|(_, count)| **count > 0.0) {
        let chance = 1.0 / (1.0 + libm::exp(-linear(row, point)));
        let (pull, bend) = (count * (chance - row.outcome), count * chance * (1.0 - chance));
        for (part, value) in parts.iter_mut().zip(row.features.iter().chain([&row.intercept])) {
            *part = *value;
        }
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| **part != 0.0) {
            if let (Some(gradient), Some(slopes)) = (gradient.get_mut(at), slopes.get_mut(at)) {
                *gradient += pull * part;
                let bent = bend * part;
                for (slope, other) in slopes.iter_mut().zip(&parts) {
                    *slope += bent * other;
                }
            }
        }
    }
    let precision = 1.0 / (PRIOR_DEVIATION * PRIOR_DEVIATION);
    let strays = strays(own, point);
    // The sum of strays times shares: what moving one coefficient does to the strays of all.
    let shared: f64 = strays.iter().zip(own).map(|(stray, share)| stray * share).sum();
    let squares: f64 = own.iter().map(|share| share * share).sum();
    let sum = strays.get(own.len()).copied().unwrap_or(0.0);
    for at in 0..own.len() {
        let (stray, share) = (strays.get(at).copied().unwrap_or(0.0), own.get(at).copied().unwrap_or(0.0));
        if let Some(gradient) = gradient.get_mut(at) {
            *gradient += precision * (stray - shared + sum);
        }
        for (other, other_share) in own.iter().enumerate() {
            if let Some(slope) = slopes.get_mut(at).and_then(|slopes| slopes.get_mut(other)) {
                *slope +=
                    precision * (f64::from(u8::from(at == other)) - share - other_share + squares + 1.0);
            }
        }
    }
    if let (Some(gradient), Some(slope)) =
        (gradient.last_mut(), slopes.last_mut().and_then(|slopes| slopes.last_mut()))
    {
        *gradient += precision * point.last().copied().unwrap_or(0.0);
        *slope += precision;
    }
    (gradient, slopes)
}

/// Returns the step to the lowest point of the expansion where no coefficient but the intercept is negative.
fn best_step(gradient: &[f64], slopes: &[Vec<f64>], point: &[f64]) -> Vec<f64> {
    let mut step = vec![0.0; point.len()];
    let mut rest = gradient.to_vec();
    for _ in 0..SWEEPS {
        let mut longest: f64 = 0.0;
        for at in 0..point.len() {
            let (Some(slopes), Some(pull)) = (slopes.get(at), rest.get(at).copied()) else { continue };
            let bend = slopes.get(at).copied().unwrap_or(0.0);
            let (Some(start), Some(own)) = (point.get(at), step.get_mut(at)) else { continue };
            if bend <= 0.0 {
                continue;
            }
            let mut wanted = *own - pull / bend;
            if at + 1 < point.len() {
                wanted = wanted.max(-start);
            }
            let moved = wanted - *own;
            *own = wanted;
            longest = longest.max(moved.abs());
            for (rest, slope) in rest.iter_mut().zip(slopes) {
                *rest += moved * slope;
            }
        }
        if longest < LAST_STEP {
            break;
        }
    }
    step
}
