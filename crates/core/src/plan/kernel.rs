//! The loops over columns. Each is a plain loop over slices that the compiler turns into vector instructions, on every
//! instruction set to the same bits: no operation depends on its neighbours, nothing is fused or reordered.
//!
//! Whether some row is out of the ordinary is found by counting these rows, in a number as wide as a value: vectors have
//! that at once, while a `bool` must be made narrow in every step.

use super::{BinaryOperator, Limits, Rounding, UnaryOperator, state};
use crate::decay::Loss;
use crate::number::{BILLION, UNITS_PER_ONE, floor, round};

/// One, in billionths.
const COVERED: f64 = BILLION as f64;

/// Returns the state of a result without value: the higher of the operands' states, or `why` if both had values.
#[inline(always)]
fn blame(x: f64, y: f64, why: f64) -> f64 {
    let higher = if x.is_nan() && (!y.is_nan() || x.to_bits() >= y.to_bits()) { x } else { y };
    if higher.is_nan() { higher } else { why }
}

/// Returns `result` if it is a finite number, else why there is no value.
#[inline(always)]
fn settle(result: f64, x: f64, y: f64, why: f64) -> f64 {
    if is_finite(result) { result } else { blame(x, y, why) }
}

#[inline(always)]
#[expect(clippy::eq_op, reason = "an infinity less itself is NaN, and vectors can subtract and compare")]
fn is_finite(x: f64) -> bool {
    x - x == 0.0
}

/// Computes: good where the result is; `otherwise` elsewhere. Blocks in which every row has a value, the usual case, pay for
/// one comparison only: where some result is not good, all are computed once more with care.
#[inline(always)]
fn compute(
    out: &mut [f64],
    x: &[f64],
    y: &[f64],
    operation: impl Fn(f64, f64) -> f64,
    is_good: impl Fn(f64, f64, f64) -> bool,
    otherwise: impl Fn(f64, f64) -> f64,
) {
    let mut bad = 0;
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        let result = operation(x, y);
        *out = result;
        bad += u64::from(!is_good(x, y, result));
    }
    if bad != 0 {
        map2(out, x, y, |x, y| {
            let result = operation(x, y);
            if is_good(x, y, result) { result } else { otherwise(x, y) }
        });
    }
}

/// Arithmetic: good where the result is finite.
#[inline(always)]
fn arithmetic(
    out: &mut [f64],
    x: &[f64],
    y: &[f64],
    operation: impl Fn(f64, f64) -> f64,
    why: impl Fn(f64) -> f64,
) {
    compute(out, x, y, operation, |_, _, result| is_finite(result), |x, y| blame(x, y, why(y)));
}

/// Comparisons, minimum, maximum: good where both operands have a value.
#[inline(always)]
fn comparison(out: &mut [f64], x: &[f64], y: &[f64], operation: impl Fn(f64, f64) -> f64) {
    let is_good = |x: f64, y: f64, _| !(x.is_nan() | y.is_nan());
    compute(out, x, y, operation, is_good, |x, y| blame(x, y, state::MISSING));
}

#[inline(always)]
fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
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
        // Why there is no score does not matter to a formula: it is missing.
        UnaryOperator::FromUnits => {
            map1(out, x, |x| if x.is_nan() { state::MISSING } else { x / UNITS_PER_ONE as f64 })
        }
    }
}

#[inline(always)]
pub(super) fn binary(operator: BinaryOperator, out: &mut [f64], x: &[f64], y: &[f64]) {
    let overflow = |_| state::OVERFLOW;
    match operator {
        BinaryOperator::Add => arithmetic(out, x, y, |x, y| x + y, overflow),
        BinaryOperator::Subtract => arithmetic(out, x, y, |x, y| x - y, overflow),
        BinaryOperator::Multiply => arithmetic(out, x, y, |x, y| x * y, overflow),
        BinaryOperator::Divide => {
            let why = |y| if y == 0.0 { state::DIVISION } else { state::OVERFLOW };
            arithmetic(out, x, y, |x, y| x / y, why);
        }
        BinaryOperator::Min => comparison(out, x, y, |x, y| if y < x { y } else { x }),
        BinaryOperator::Max => comparison(out, x, y, |x, y| if y > x { y } else { x }),
        BinaryOperator::Pow => map2(out, x, y, |x, y| {
            // pow(1, NaN) and pow(NaN, 0) are 1 in libm: a missing operand still makes the result missing.
            if x.is_nan() || y.is_nan() {
                blame(x, y, state::MISSING)
            } else {
                settle(libm::pow(x, y), x, y, if x < 0.0 { state::DOMAIN } else { state::OVERFLOW })
            }
        }),
        BinaryOperator::Less => comparison(out, x, y, |x, y| flag(x < y)),
        BinaryOperator::LessOrEqual => comparison(out, x, y, |x, y| flag(x <= y)),
        BinaryOperator::Greater => comparison(out, x, y, |x, y| flag(x > y)),
        BinaryOperator::GreaterOrEqual => comparison(out, x, y, |x, y| flag(x >= y)),
        BinaryOperator::Equal => comparison(out, x, y, |x, y| flag(x == y)),
        BinaryOperator::NotEqual => comparison(out, x, y, |x, y| flag(x != y)),
        BinaryOperator::And => comparison(out, x, y, |x, y| flag((x == 1.0) & (y == 1.0))),
        BinaryOperator::Or => comparison(out, x, y, |x, y| flag((x == 1.0) | (y == 1.0))),
        BinaryOperator::Coalesce => map2(out, x, y, |x, y| if state::is(x, state::MISSING) { y } else { x }),
        BinaryOperator::Fill => {
            map2(out, x, y, |x, y| if x.is_nan() && !state::is(x, state::NOT_APPLICABLE) { y } else { x })
        }
    }
}

/// Chooses one of two operands; none where it is not known which.
#[inline(always)]
pub(super) fn select(out: &mut [f64], c: &[f64], a: &[f64], b: &[f64]) {
    map3(out, c, a, b, |c, a, b| {
        let taken = if c == 0.0 { b } else { a };
        if c.is_nan() { c } else { taken }
    });
}

/// Values to readings, behind a condition (false makes them 0), where they apply: see `docs/guide/scorecard.md`, Dimensions.
#[inline(always)]
pub(super) fn reading(out: &mut [f64], value: &[f64], when: Option<&[f64]>, applies: Option<&[f64]>) {
    map1(out, value, |x| if x.is_nan() { x } else { round(x * COVERED) });
    for (condition, otherwise) in [(when, 0.0), (applies, state::NOT_APPLICABLE)] {
        for (out, &holds) in out.iter_mut().zip(condition.unwrap_or_default()) {
            let reading = if holds == 0.0 { otherwise } else { *out };
            *out = if holds.is_nan() { holds } else { reading };
        }
    }
}

/// Adds what has elapsed to the age that was stated, as far as they are known. A time in the future takes nothing off an age.
#[inline(always)]
pub(super) fn age(out: &mut [f64], stated: &[f64], elapsed: &[f64]) {
    map2(out, stated, elapsed, |stated, elapsed| {
        let sum = if elapsed > 0.0 { stated + elapsed } else { stated };
        if stated.is_nan() { elapsed } else { sum }
    });
}

/// Keeps the lower age, of what has a reading.
#[inline(always)]
pub(super) fn newer(out: &mut [f64], reading: &[f64], age: &[f64]) {
    for ((newest, &reading), &age) in out.iter_mut().zip(reading).zip(age) {
        let is_newer = !reading.is_nan() && !age.is_nan() && (newest.is_nan() || age < *newest);
        *newest = if is_newer { age } else { *newest };
    }
}

/// Takes from readings what they have lost; where the age is not known, nothing.
#[inline(always)]
pub(super) fn decay(out: &mut [f64], value: &[f64], age: &[f64], loss: Loss) {
    map2(
        out,
        value,
        age,
        |value, age| {
            if value.is_nan() | age.is_nan() { value } else { loss.left(value, age) }
        },
    );
}

/// Applies the rule, where it fires and has a result.
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

/// Takes a fact column that was read, with every NaN and the unknown value as missing; `bound` is the column that bounds it. True
/// if some value breaks its declaration.
#[inline(always)]
pub(super) fn load(out: &mut [f64], bound: Option<&[f64]>, limits: Limits) -> bool {
    let Limits { min, max, unknown, bound_unknown, integer, .. } = limits;
    let mut broken = 0;
    if let Some(bound) = bound {
        for (&x, &bound) in out.iter().zip(bound) {
            broken += u64::from((x > bound) & (bound != bound_unknown) & (x != unknown));
        }
    }
    for out in out {
        let x = *out;
        let missing = x.is_nan() | (x == unknown);
        let size = x.abs();
        // Above this, `round` is not for whole numbers, and every number is one.
        let fraction = integer & (size < 2_251_799_813_685_248.0) & (round(size) != size);
        broken += u64::from(!missing & ((x < min) | (x > max) | fraction));
        *out = if missing { state::MISSING } else { x };
    }
    broken != 0
}
