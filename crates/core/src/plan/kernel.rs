//! The loops over columns. Each is a plain loop over slices that the compiler turns into vector instructions, on every
//! instruction set to the same bits: no operation depends on its neighbours, nothing is fused or reordered.

use super::{BinaryOperator, Limits, MeanItem, Rounding, TierLevel, UnaryOperator, state};
use crate::number::{BILLION, MILLION, UNITS_PER_ONE, round};
use crate::scorecard::Mean;

/// Rows worked on side by side in a mean.
const LANES: usize = 32;
/// A covered dimension, in billionths.
const COVERED: f64 = BILLION as f64;

/// The state of a result without value: the higher of the operands' states, or `why` if both had values.
#[inline(always)]
fn blame(x: f64, y: f64, why: f64) -> f64 {
    let higher = if x.is_nan() && (!y.is_nan() || x.to_bits() >= y.to_bits()) { x } else { y };
    if higher.is_nan() { higher } else { why }
}

/// `result` if it is a finite number, else why there is none.
#[inline(always)]
fn settle(result: f64, x: f64, y: f64, why: f64) -> f64 {
    if result - result == 0.0 { result } else { blame(x, y, why) }
}

/// The second operand if `second`, else the first; no value if either has none.
#[inline(always)]
fn extreme(x: f64, y: f64, second: bool) -> f64 {
    let taken = if second { y } else { x };
    if x.is_nan() || y.is_nan() { blame(x, y, state::MISSING) } else { taken }
}

#[inline(always)]
fn map1(out: &mut [f64], x: &[f64], f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

#[inline(always)]
fn map2(out: &mut [f64], x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = f(x, y);
    }
}

#[inline(always)]
fn map3(out: &mut [f64], x: &[f64], y: &[f64], z: &[f64], f: impl Fn(f64, f64, f64) -> f64) {
    for (((out, &x), &y), &z) in out.iter_mut().zip(x).zip(y).zip(z) {
        *out = f(x, y, z);
    }
}

/// Copies a fact column, with every NaN and the unknown value as missing. True if some value breaks its declaration.
#[inline(always)]
pub(super) fn load(out: &mut [f64], fact: &[f64], bound: Option<&[f64]>, limits: Limits) -> bool {
    let mut broken = 0u64;
    for (out, &x) in out.iter_mut().zip(fact) {
        let x = if x.is_nan() || x == limits.unknown { state::MISSING } else { x };
        *out = x;
        broken |= u64::from(x < limits.min || x > limits.max || x.abs() == f64::INFINITY);
    }
    if limits.integer {
        for &x in out.iter() {
            broken |= u64::from(!x.is_nan() && x != libm::trunc(x));
        }
    }
    for (&x, &bound) in out.iter().zip(bound.unwrap_or_default()) {
        broken |= u64::from(x > bound);
    }
    broken != 0
}

#[inline(always)]
pub(super) fn unary(operator: UnaryOperator, out: &mut [f64], x: &[f64]) {
    let keep = |x: f64, result: f64| if x.is_nan() { x } else { result };
    match operator {
        UnaryOperator::Negate => map1(out, x, |x| keep(x, -x)),
        UnaryOperator::Not => map1(out, x, |x| keep(x, 1.0 - x)),
        UnaryOperator::Abs => map1(out, x, |x| keep(x, x.abs())),
        UnaryOperator::Floor => map1(out, x, |x| keep(x, libm::floor(x))),
        UnaryOperator::Ceil => map1(out, x, |x| keep(x, libm::ceil(x))),
        UnaryOperator::Sqrt => map1(out, x, |x| settle(libm::sqrt(x), x, x, state::DOMAIN)),
        UnaryOperator::Exp => map1(out, x, |x| settle(libm::exp(x), x, x, state::OVERFLOW)),
        UnaryOperator::Ln => map1(out, x, |x| settle(libm::log(x), x, x, state::DOMAIN)),
        UnaryOperator::Log2 => map1(out, x, |x| settle(libm::log2(x), x, x, state::DOMAIN)),
        UnaryOperator::IsMissing => {
            map1(out, x, |x| if state::is(x, state::MISSING) { 1.0 } else { keep(x, 0.0) })
        }
        UnaryOperator::FromBillionths => map1(out, x, |x| {
            let x = if state::is(x, state::NOT_APPLICABLE) { state::MISSING } else { x };
            keep(x, x / BILLION as f64)
        }),
        UnaryOperator::FromUnits => map1(out, x, |x| keep(x, x / UNITS_PER_ONE as f64)),
    }
}

#[inline(always)]
pub(super) fn binary(operator: BinaryOperator, out: &mut [f64], x: &[f64], y: &[f64]) {
    let test = |x: f64, y: f64, holds: bool| {
        let flag = if holds { 1.0 } else { 0.0 };
        if x.is_nan() || y.is_nan() { blame(x, y, state::MISSING) } else { flag }
    };
    match operator {
        BinaryOperator::Add => map2(out, x, y, |x, y| settle(x + y, x, y, state::OVERFLOW)),
        BinaryOperator::Subtract => map2(out, x, y, |x, y| settle(x - y, x, y, state::OVERFLOW)),
        BinaryOperator::Multiply => map2(out, x, y, |x, y| settle(x * y, x, y, state::OVERFLOW)),
        BinaryOperator::Divide => map2(out, x, y, |x, y| {
            let why = if y == 0.0 { state::DIVISION } else { state::OVERFLOW };
            settle(x / y, x, y, why)
        }),
        BinaryOperator::Min => map2(out, x, y, |x, y| extreme(x, y, y < x)),
        BinaryOperator::Max => map2(out, x, y, |x, y| extreme(x, y, y > x)),
        BinaryOperator::Pow => map2(out, x, y, |x, y| {
            // pow(1, NaN) and pow(NaN, 0) are 1 in libm: a missing operand still makes the result missing.
            if x.is_nan() || y.is_nan() {
                blame(x, y, state::MISSING)
            } else {
                let why = if x < 0.0 { state::DOMAIN } else { state::OVERFLOW };
                settle(libm::pow(x, y), x, y, why)
            }
        }),
        BinaryOperator::Less => map2(out, x, y, |x, y| test(x, y, x < y)),
        BinaryOperator::LessOrEqual => map2(out, x, y, |x, y| test(x, y, x <= y)),
        BinaryOperator::Greater => map2(out, x, y, |x, y| test(x, y, x > y)),
        BinaryOperator::GreaterOrEqual => map2(out, x, y, |x, y| test(x, y, x >= y)),
        BinaryOperator::Equal => map2(out, x, y, |x, y| test(x, y, x == y)),
        BinaryOperator::NotEqual => map2(out, x, y, |x, y| test(x, y, x != y)),
        BinaryOperator::And => map2(out, x, y, |x, y| test(x, y, x == 1.0 && y == 1.0)),
        BinaryOperator::Or => map2(out, x, y, |x, y| test(x, y, x == 1.0 || y == 1.0)),
        BinaryOperator::Coalesce => map2(out, x, y, |x, y| if state::is(x, state::MISSING) { y } else { x }),
    }
}

#[inline(always)]
pub(super) fn select(out: &mut [f64], c: &[f64], a: &[f64], b: &[f64]) {
    map3(out, c, a, b, |c, a, b| {
        let taken = if c == 0.0 { b } else { a };
        if c.is_nan() { c } else { taken }
    });
}

/// Values to readings: see `docs/guide/scorecard.md`, Dimensions.
#[inline(always)]
pub(super) fn reading(out: &mut [f64], value: &[f64], when: Option<&[f64]>, applies: Option<&[f64]>) {
    map1(out, value, |x| if x.is_nan() { x } else { round(x * BILLION as f64) });
    if let Some(when) = when {
        for (out, &when) in out.iter_mut().zip(when) {
            *out = if when.is_nan() {
                when
            } else if when == 0.0 {
                0.0
            } else {
                *out
            };
        }
    }
    if let Some(applies) = applies {
        for (out, &applies) in out.iter_mut().zip(applies) {
            *out = if applies.is_nan() {
                applies
            } else if applies == 0.0 {
                state::NOT_APPLICABLE
            } else {
                *out
            };
        }
    }
}

/// The rule, where it fires and has a result.
#[inline(always)]
pub(super) fn rule(out: &mut [f64], when: &[f64], set: &[f64], score: &[f64]) {
    map3(out, when, set, score, |when, set, score| {
        let fires = when == 1.0 && !set.is_nan() && !score.is_nan();
        if fires { round(set * UNITS_PER_ONE as f64) } else { score }
    });
}

#[inline(always)]
pub(super) fn cap(out: &mut [f64], when: &[f64], score: &[f64], cap: f64) {
    map2(out, when, score, |when, score| if when == 1.0 && score > cap { cap } else { score });
}

#[inline(always)]
pub(super) fn publish(out: &mut [f64], score: &[f64], rounding: Rounding) {
    // Below 2^51 this is floor: quotients that are not whole are at least 1e-10 away from whole numbers.
    let floor = |x: f64| {
        let near = round(x);
        if near > x { near - 1.0 } else { near }
    };
    let keep = |x: f64, result: f64| if x.is_nan() { x } else { result };
    match rounding {
        Rounding::Exact => out.copy_from_slice(score),
        Rounding::Floor(step) => map1(out, score, |x| keep(x, floor(x / step))),
        Rounding::HalfUp(step) => map1(out, score, |x| keep(x, floor(x / step + 0.5))),
    }
}

#[inline(always)]
pub(super) fn band(out: &mut [f64], published: &[f64], thresholds: &[f64]) {
    out.fill(0.0);
    for &threshold in thresholds {
        for (out, &x) in out.iter_mut().zip(published) {
            *out += if x >= threshold { 1.0 } else { 0.0 };
        }
    }
}

/// One tier: where all lower tiers were reached and its own conditions hold, the count goes up to `level`.
#[inline(always)]
pub(super) fn tier(out: &mut [f64], level: f64, conditions: &TierLevel, published: &[f64], coverage: &[f64]) {
    map3_in_place(out, published, coverage, |reached, published, coverage| {
        let holds =
            reached == level - 1.0 && published >= conditions.published && coverage >= conditions.coverage;
        if holds { level } else { reached }
    });
}

/// Takes the tier away again where a floor is not reached.
#[inline(always)]
pub(super) fn tier_floor(out: &mut [f64], level: f64, reading: &[f64], floor: f64) {
    for (out, &reading) in out.iter_mut().zip(reading) {
        *out = if *out == level && !(reading >= floor) { level - 1.0 } else { *out };
    }
}

#[inline(always)]
pub(super) fn tier_limit(out: &mut [f64], when: &[f64], limit: f64) {
    for (out, &when) in out.iter_mut().zip(when) {
        *out = if when == 1.0 && *out > limit { limit } else { *out };
    }
}

#[inline(always)]
fn map3_in_place(out: &mut [f64], y: &[f64], z: &[f64], f: impl Fn(f64, f64, f64) -> f64) {
    for ((out, &y), &z) in out.iter_mut().zip(y).zip(z) {
        *out = f(*out, y, z);
    }
}

/// One member of a mean, its columns found.
pub(super) struct Member<'a> {
    pub item: MeanItem,
    pub reading: &'a [f64],
    pub coverage: Option<&'a [f64]>,
    /// Weight in the composite and in the coverage, per row or one for all.
    pub weights: MemberWeights<'a>,
}

/// Weights of a member.
pub(super) enum MemberWeights<'a> {
    Uniform(f64, f64),
    /// Per profile, chosen by the profile of each row.
    ByProfile(&'a [(f64, f64)]),
}

/// What a mean writes.
pub(super) struct MeanOutput<'a> {
    pub composite: &'a mut [f64],
    pub coverage: &'a mut [f64],
}

/// A mean and its coverage over all rows of a block.
#[inline(always)]
pub(super) fn mean(mean: Mean, top: bool, members: &[Member<'_>], profiles: &[u32], mut out: MeanOutput<'_>) {
    let rows = out.composite.len();
    let bulk = rows - rows % LANES;
    let plain = members.iter().all(|member| {
        member.item.fill.is_nan()
            && !member.item.withhold
            && member.coverage.is_none()
            && matches!(member.weights, MemberWeights::Uniform(..))
    });
    let mut at = 0;
    while at < rows {
        if at < bulk {
            if plain && matches!(mean, Mean::WeightedMean | Mean::WeightedSum) {
                sums::<LANES, true>(mean, top, members, profiles, at, &mut out);
            } else {
                sums::<LANES, false>(mean, top, members, profiles, at, &mut out);
            }
            at += LANES;
        } else {
            sums::<1, false>(mean, top, members, profiles, at, &mut out);
            at += 1;
        }
    }
}

/// `N` rows of a column, from row `at`.
#[inline(always)]
fn lanes<const N: usize>(column: &[f64], at: usize) -> [f64; N] {
    column.get(at..at + N).and_then(|part| part.try_into().ok()).unwrap_or([f64::NAN; N])
}

/// Adds up `N` rows side by side. `PLAIN`: dimensions only, nothing stands in for the missing, one weight for all rows.
#[inline(always)]
fn sums<const N: usize, const PLAIN: bool>(
    mean: Mean,
    top: bool,
    members: &[Member<'_>],
    profiles: &[u32],
    at: usize,
    out: &mut MeanOutput<'_>,
) {
    let mut total = [0.0; N];
    let mut weight_sum = [0.0; N];
    let mut covered = [0.0; N];
    let mut applicable = [0.0; N];
    let mut smallest = [f64::INFINITY; N];
    let mut withheld = [false; N];
    let mut some_apply = [false; N];
    for member in members {
        let readings: [f64; N] = lanes(member.reading, at);
        let mut coverage = [COVERED; N];
        if !PLAIN && let Some(column) = member.coverage {
            coverage = lanes(column, at);
        }
        for lane in 0..N {
            let (weight, cover_weight) = match member.weights {
                MemberWeights::Uniform(weight, cover_weight) => (weight, cover_weight),
                MemberWeights::ByProfile(table) if !PLAIN => {
                    let profile = profiles.get(at + lane).copied().unwrap_or(0);
                    table.get(profile as usize).copied().unwrap_or((0.0, 0.0))
                }
                MemberWeights::ByProfile(_) => (0.0, 0.0),
            };
            let reading = readings[lane];
            let applies = !state::is(reading, state::NOT_APPLICABLE);
            some_apply[lane] |= applies;
            let measured = if member.coverage.is_some() || !reading.is_nan() { coverage[lane] } else { 0.0 };
            applicable[lane] += if applies { cover_weight } else { 0.0 };
            covered[lane] += if applies { cover_weight * measured } else { 0.0 };
            let mut used = reading;
            if !PLAIN {
                used = if reading.is_nan() && applies { member.item.fill } else { reading };
                withheld[lane] |= state::is(reading, state::WITHHELD)
                    || (member.item.withhold && reading.is_nan() && applies);
            }
            let counts = !used.is_nan();
            weight_sum[lane] += if counts { weight } else { 0.0 };
            let term = match mean {
                Mean::WeightedSum | Mean::WeightedMean => weight * used,
                _ if PLAIN => 0.0,
                Mean::Geometric => weight * if counts { libm::log(used / COVERED) } else { 0.0 },
                Mean::Harmonic => weight / (used / COVERED),
                Mean::Minimum => 0.0,
            };
            let term = if !PLAIN && weight == 0.0 { 0.0 } else { term };
            total[lane] += if counts { term } else { 0.0 };
            if !PLAIN {
                smallest[lane] =
                    if counts && weight > 0.0 && used < smallest[lane] { used } else { smallest[lane] };
            }
        }
    }
    let billionths = |value: f64| if top { round(value) * MILLION as f64 } else { round(value) };
    for lane in 0..N {
        let value = match mean {
            // Exact, and at most 1, even where a tolerance lets weights sum to more. In a group it becomes a reading.
            Mean::WeightedSum if top && total[lane] > UNITS_PER_ONE as f64 => UNITS_PER_ONE as f64,
            Mean::WeightedSum if top => total[lane],
            Mean::WeightedSum => round(total[lane] / MILLION as f64),
            Mean::WeightedMean => billionths(total[lane] / weight_sum[lane]),
            Mean::Geometric | Mean::Harmonic if smallest[lane] == 0.0 => 0.0,
            Mean::Geometric => billionths(libm::exp(total[lane] / weight_sum[lane]) * COVERED),
            Mean::Harmonic => billionths(weight_sum[lane] / total[lane] * COVERED),
            Mean::Minimum => billionths(smallest[lane]),
        };
        let nothing = if some_apply[lane] { state::MISSING } else { state::NOT_APPLICABLE };
        let value = if weight_sum[lane] == 0.0 { nothing } else { value };
        let value = if withheld[lane] { state::WITHHELD } else { value };
        if let Some(slot) = out.composite.get_mut(at + lane) {
            *slot = value;
        }
        if let Some(slot) = out.coverage.get_mut(at + lane) {
            *slot = if applicable[lane] == 0.0 { 0.0 } else { round(covered[lane] / applicable[lane]) };
        }
    }
}
