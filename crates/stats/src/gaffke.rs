//! The interval of a mean of values of which only the range is known: Gaffke's bound.
//!
//! The lower end is the quantile of `sum W_i x_i`, where `x` are the values and one more, the worst that can be, and `W` are
//! uniform over all weights that sum to 1 (Gaffke, "Three test statistics for a nonparametric one-sided hypothesis on the mean
//! of a nonnegative variable", Mathematical Methods of Statistics 14, 2005; Learned-Miller and Thomas, "A new confidence
//! interval for the mean of a bounded random variable", arXiv:1905.06208, 2020). Of successes and failures it is the interval of
//! Clopper and Pearson; a value that rises lowers no end; and what was not seen, a rare failure, is never excluded.
//!
//! No number is drawn: weights of that kind are exponential variables over their sum, so the quantile is where
//! `P(sum E_i (x_i - t) <= 0)` reaches the tail. That chance is the integral of the moment generating function along a path
//! through its saddle point (Daniels, "Tail probability approximations", International Statistical Review 55, 1987), taken by
//! the trapezoidal rule with steps that grow, which is right to about 1e-10 of it.

use alloc::vec::Vec;

use super::special::normal_quantile;

/// The step of the trapezoidal rule.
const STEP: f64 = 0.2;
/// The number of nodes that are computed at a time.
const NODES: usize = 8;

/// Equal values, from 0 for the worst to 1 for the best.
#[derive(Debug, Clone, Copy)]
struct Group {
    value: f64,
    weight: f64,
    count: u32,
}

/// Returns the ends of the mean of values from 0 to 1, each with its weight, that leave out `tail` on each side.
pub(super) fn ends(values: impl Iterator<Item = (f64, f64)>, tail: f64) -> (f64, f64) {
    let mut sorted: Vec<(f64, f64)> = values.collect();
    sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut groups: Vec<Group> = Vec::new();
    for (value, weight) in sorted {
        match groups.last_mut() {
            Some(last) if last.value == value && last.weight == weight => last.count += 1,
            _ => groups.push(Group { value, weight, count: 1 }),
        }
    }
    // Where some values weigh more than others, the one that was not seen weighs as much as any.
    let weight = groups.iter().map(|group| group.weight).fold(0.0, f64::max);
    groups.push(Group { value: 0.0, weight, count: 1 });
    let low = low(&groups, tail);
    groups.iter_mut().for_each(|group| group.value = 1.0 - group.value);
    if let Some(unseen) = groups.last_mut() {
        unseen.value = 0.0;
    }
    (low, 1.0 - self::low(&groups, tail))
}

/// Returns the mean below which a share `tail` of all weights lies. The normal quantiles of the chances are nearly a line
/// over the means, so its steps follow the secant, kept within what is known.
fn low(groups: &[Group], tail: f64) -> f64 {
    let most = groups.iter().map(|group| group.value).fold(0.0, f64::max);
    let (all, sum) = groups.iter().fold((0.0, 0.0), |(all, sum), it| {
        let weight = it.weight * f64::from(it.count);
        (all + weight, sum + weight * it.value)
    });
    if most <= 0.0 {
        return 0.0;
    }
    let (mut below, mut above) = (0.0, most);
    let wanted = normal_quantile(tail);
    let center = sum / all;
    let squares: f64 =
        groups.iter().map(|it| f64::from(it.count) * square(it.weight * (it.value - center))).sum();
    let mut at = (center + wanted * libm::sqrt(squares) / all).clamp(0.01 * most, 0.99 * most);
    let mut before: Option<(f64, f64)> = None;
    for _ in 0..100 {
        let found = normal_quantile(chance(groups, at).clamp(1e-300, 1.0 - 1e-15)) - wanted;
        if found > 0.0 {
            above = at
        } else {
            below = at
        }
        let next = match before {
            Some((old, its)) if (its - found).abs() > 1e-14 => at - found * (at - old) / (found - its),
            _ => at - found * libm::sqrt(squares) / all,
        };
        before = Some((at, found));
        if (next - at).abs() < 1e-12 || above - below < 1e-12 {
            return at;
        }
        at = if below < next && next < above { next } else { f64::midpoint(below, above) };
    }
    at
}

fn square(value: f64) -> f64 {
    value * value
}

/// Returns the chance that the weighted mean is at most `at`.
fn chance(groups: &[Group], at: f64) -> f64 {
    let mut parts: Vec<(f64, u32)> =
        groups.iter().map(|group| (group.weight * (group.value - at), group.count)).collect();
    if parts.iter().map(|&(part, count)| f64::from(count) * part).sum::<f64>() >= 0.0 {
        return lower_tail(&parts);
    }
    parts.iter_mut().for_each(|part| part.0 = -part.0);
    1.0 - lower_tail(&parts)
}

/// Returns the chance that the sum of exponential variables, each times a part, is at most 0, where 0 lies below its mean.
fn lower_tail(parts: &[(f64, u32)]) -> f64 {
    let lowest = parts.iter().map(|part| part.0).fold(0.0, f64::min);
    if lowest >= 0.0 {
        return 0.0;
    }
    let saddle = saddle(parts, lowest);
    let height: f64 =
        parts.iter().map(|&(part, count)| f64::from(count) * libm::log(1.0 - saddle * part)).sum();
    // Relative to its height at the saddle point the integrand is the reciprocal of a product of `1 - z b`, of which one is
    // the pole.
    let slopes: Vec<(f64, u32)> = parts
        .iter()
        .map(|&(part, count)| (part / (1.0 - saddle * part), count))
        .chain([(-1.0 / saddle, 1)])
        .collect();
    let (mut squares, mut cubes) = (0.0, 0.0);
    for &(slope, count) in &slopes {
        squares += f64::from(count) * square(slope);
        cubes += f64::from(count) * square(slope) * slope;
    }
    let (width, bend) = (1.0 / libm::sqrt(squares), cubes / (3.0 * squares));
    let mut sum = 0.5;
    for first in (1u32..400).step_by(NODES) {
        let steps: [f64; NODES] = core::array::from_fn(|node| STEP * f64::from(first + node as u32));
        let heights = steps.map(|step| libm::sinh(step) * width);
        // The path of steepest descent, kept from lying down.
        let reach = heights.map(|y| bend * y * y / (1.0 + libm::fabs(bend) * y));
        let (real, imaginary) = product(&slopes, (&reach, &heights));
        let mut is_over = true;
        for node in 0..NODES {
            let bent = libm::fabs(bend) * heights[node];
            let turn = bend * heights[node] * (2.0 + bent) / square(1.0 + bent);
            let size = square(real[node]) + square(imaginary[node]);
            let step = libm::cosh(steps[node]);
            if size.is_finite() {
                sum += step * (real[node] - turn * imaginary[node]) / size;
                is_over = step * (1.0 + libm::fabs(turn)) < 1e-13 * libm::sqrt(size);
            }
        }
        if is_over {
            break;
        }
    }
    libm::exp(-height) / -saddle * sum * STEP * width / core::f64::consts::PI
}

/// Returns the point below 0 at which the moment generating function over `-s` is lowest, by Newton's method kept within what
/// is known. `lowest` is the lowest part, below 0.
fn saddle(parts: &[(f64, u32)], lowest: f64) -> f64 {
    // As a share of the way to the pole of the lowest part.
    let (mut near, mut far) = (0.0, 1.0);
    let mut share = 0.5;
    for _ in 0..200 {
        let at = share / lowest;
        let (mut slope, mut bend) = (-1.0 / at, 1.0 / square(at));
        for &(part, count) in parts {
            let term = part / (1.0 - at * part);
            slope += f64::from(count) * term;
            bend += f64::from(count) * square(term);
        }
        if slope < 0.0 {
            far = share
        } else {
            near = share
        }
        let next = (at - slope / bend) * lowest;
        let next = if near < next && next < far { next } else { f64::midpoint(near, far) };
        let is_settled = (next - share).abs() <= 1e-7 * next.min(1.0 - next);
        share = next;
        if is_settled {
            break;
        }
    }
    share / lowest
}

/// Returns the product of `1 - z b` over all slopes `b` with their counts, at each `z`.
fn product(slopes: &[(f64, u32)], (reach, heights): (&[f64; NODES], &[f64; NODES])) -> Complex {
    let (mut real, mut imaginary) = ([1.0; NODES], [0.0; NODES]);
    for &(slope, count) in slopes {
        let mut power = (reach.map(|re| 1.0 - re * slope), heights.map(|im| -im * slope));
        let mut left = count;
        loop {
            if left % 2 == 1 {
                (real, imaginary) = times(&(real, imaginary), &power);
            }
            left /= 2;
            if left == 0 {
                break;
            }
            power = times(&power, &power);
        }
    }
    (real, imaginary)
}

type Complex = ([f64; NODES], [f64; NODES]);

fn times(a: &Complex, b: &Complex) -> Complex {
    (
        core::array::from_fn(|at| a.0[at] * b.0[at] - a.1[at] * b.1[at]),
        core::array::from_fn(|at| a.0[at] * b.1[at] + a.1[at] * b.0[at]),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::special::binomial_mass;
    use super::*;

    fn of(values: &[f64], tail: f64) -> (f64, f64) {
        ends(values.iter().map(|&value| (value, 1.0)), tail)
    }

    #[test]
    fn successes_and_failures_have_the_exact_interval_of_their_share() {
        for (won, tasks) in
            [(1u32, 2u32), (2, 2), (0, 3), (5, 5), (17, 20), (20, 20), (96, 100), (1, 400), (700, 1000)]
        {
            // Clopper and Pearson, 1934: at its ends, what was seen or more, and what was seen or less, have the chance `tail`.
            let mass = |won: u32, share| binomial_mass(won.into(), tasks.into(), share);
            let more = |share| (won..=tasks).map(|it| mass(it, share)).sum::<f64>();
            let less = |share| (0..=won).map(|it| mass(it, share)).sum::<f64>();
            for level in [0.5, 0.9, 0.95, 0.999] {
                let values: Vec<f64> = (0..tasks).map(|task| f64::from(u8::from(task < won))).collect();
                let tail = (1.0 - level) / 2.0;
                let (low, high) = of(&values, tail);
                let is_low = (more(low - 2e-9)..more(low + 2e-9)).contains(&tail);
                assert!(if won == 0 { low == 0.0 } else { is_low }, "{won} of {tasks} {level}: {low}");
                let is_high = (less(high + 2e-9)..less(high - 2e-9)).contains(&tail);
                assert!(if won == tasks { high == 1.0 } else { is_high }, "{won} of {tasks} {level}: {high}");
            }
        }
    }

    /// From a million draws of the weights (NumPy), up to about 0.001.
    #[test]
    fn graded_values_have_the_ends_of_drawn_weights() {
        let alike = [0.9; 20];
        let mut one_less = alike;
        one_less[0] = 0.85;
        let rubric: Vec<f64> =
            (0..25).map(|task| if task == 0 { 0.0 } else { 0.9 + 0.05 * f64::from(task % 2) }).collect();
        for (values, low, high) in [
            (&alike[..], 0.7490, 0.9169),
            (&one_less, 0.7463, 0.9153),
            (&rubric, 0.7370, 0.9312),
            (&[0.2, 0.7], 0.0593, 0.9225),
        ] {
            let found = of(values, 0.025);
            assert!((found.0 - low).abs() < 2e-3 && (found.1 - high).abs() < 2e-3, "{found:?} {low} {high}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Values of every size, equal ones and neighbours: where a quadrature could miss something.
        #[test]
        fn a_value_that_rises_lowers_no_end_and_the_mean_lies_within(
            values in prop::collection::vec(prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0, 0.899..0.9, 0.0..1e-6], 2..40),
            rise in prop_oneof![Just(1.0), 0.0..1.0, 0.0..1e-6],
            level in prop::sample::select(alloc::vec![0.5, 0.9, 0.95, 0.999, 0.999_99]),
        ) {
            let tail = (1.0 - level) / 2.0;
            let before = of(&values, tail);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            prop_assert!(0.0 <= before.0 && before.0 <= mean && mean <= before.1 && before.1 <= 1.0, "{before:?} {mean}");
            let mut more = values;
            more[0] += (1.0 - more[0]) * rise;
            let after = of(&more, tail);
            prop_assert!(after.0 >= before.0 - 1e-9 && after.1 >= before.1 - 1e-9, "{before:?} {after:?}");
            let wider = of(&more, tail / 2.0);
            prop_assert!(wider.0 <= after.0 + 1e-9 && after.1 <= wider.1 + 1e-9);
        }

        /// The number of values of each kind is all that counts.
        #[test]
        fn equal_values_are_counted_as_they_are_listed(value in 0.0f64..1.0, other in 0.0f64..1.0, count in 1usize..30) {
            let mut listed = alloc::vec![value; count];
            listed.push(other);
            let nearly: Vec<f64> = listed.iter().enumerate().map(|(at, it)| it + at as f64 * 1e-15).collect();
            let (a, b) = (of(&listed, 0.025), of(&nearly, 0.025));
            prop_assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9, "{a:?} {b:?}");
        }
    }
}
