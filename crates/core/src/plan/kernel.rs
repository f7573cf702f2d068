//! The loops over columns. Each is a plain loop over slices that the compiler turns into vector instructions, on every
//! instruction set to the same bits: no operation depends on its neighbours, nothing is fused or reordered.
//!
//! Whether some row is out of the ordinary is found by counting these rows, in a number as wide as a value: vectors have
//! that at once, while a `bool` must be made narrow in every step.

use super::{BinaryOperator, Rounding, TierLevel, UnaryOperator, state};
use crate::decay::Loss;
use crate::number::{BILLION, UNITS_PER_ONE, floor, round};

/// One, in billionths.
pub(super) const COVERED: f64 = BILLION as f64;

/// An operand.
#[derive(Clone, Copy)]
pub(super) enum Values<'a> {
    /// A value per row.
    Each(&'a [f64]),
    /// One value for all rows.
    All(f64),
}

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

/// Computes: good where the result is finite; `then` changes what is good. Blocks in which every row has a value, the
/// usual case, pay for one comparison only: where some result is not good, all are computed once more with care.
#[inline(always)]
fn arithmetic(
    out: &mut [f64],
    x: Values<'_>,
    y: Values<'_>,
    operation: impl Fn(f64, f64) -> f64,
    why: impl Fn(f64) -> f64,
    then: impl Fn(f64) -> f64,
) {
    let settle = |x: f64, y: f64, why: f64| {
        let result = operation(x, y);
        if is_finite(result) { then(result) } else { why }
    };
    let careful = |x: f64, y: f64| settle(x, y, blame(x, y, why(y)));
    match (x, y) {
        (Values::Each(x), Values::Each(y)) => {
            let mut bad = 0;
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                let result = operation(x, y);
                *out = then(result);
                bad += u64::from(!is_finite(result));
            }
            if bad != 0 {
                map2(out, x, y, careful);
            }
        }
        (Values::Each(x), Values::All(y)) if !y.is_nan() => {
            map1(out, x, |x| settle(x, y, if x.is_nan() { x } else { why(y) }));
        }
        (Values::All(x), Values::Each(y)) if !x.is_nan() => {
            map1(out, y, |y| settle(x, y, if y.is_nan() { y } else { why(y) }));
        }
        _ => zip(out, x, y, careful),
    }
}

/// Comparisons, minimum, maximum: good where both operands have a value.
#[inline(always)]
fn comparison(out: &mut [f64], x: Values<'_>, y: Values<'_>, operation: impl Fn(f64, f64) -> f64) {
    let careful =
        |x: f64, y: f64| if x.is_nan() || y.is_nan() { blame(x, y, state::MISSING) } else { operation(x, y) };
    match (x, y) {
        (Values::Each(x), Values::Each(y)) => {
            let mut bad = 0;
            for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
                *out = operation(x, y);
                bad += u64::from(x.is_nan() | y.is_nan());
            }
            if bad != 0 {
                map2(out, x, y, careful);
            }
        }
        (Values::Each(x), Values::All(y)) if !y.is_nan() => {
            map1(out, x, |x| if x.is_nan() { x } else { operation(x, y) });
        }
        (Values::All(x), Values::Each(y)) if !x.is_nan() => {
            map1(out, y, |y| if y.is_nan() { y } else { operation(x, y) });
        }
        _ => zip(out, x, y, careful),
    }
}

/// Combines two operands, whatever they are.
#[inline(always)]
fn zip(out: &mut [f64], x: Values<'_>, y: Values<'_>, f: impl Fn(f64, f64) -> f64) {
    match (x, y) {
        (Values::Each(x), Values::Each(y)) => map2(out, x, y, f),
        (Values::Each(x), Values::All(y)) => map1(out, x, |x| f(x, y)),
        (Values::All(x), Values::Each(y)) => map1(out, y, |y| f(x, y)),
        (Values::All(x), Values::All(y)) => out.fill(f(x, y)),
    }
}

#[inline(always)]
fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

#[inline(always)]
pub(super) fn map1(out: &mut [f64], x: &[f64], f: impl Fn(f64) -> f64) {
    for (out, &x) in out.iter_mut().zip(x) {
        *out = f(x);
    }
}

#[inline(always)]
pub(super) fn map2(out: &mut [f64], x: &[f64], y: &[f64], f: impl Fn(f64, f64) -> f64) {
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        *out = f(x, y);
    }
}

#[inline(always)]
pub(super) fn map3(out: &mut [f64], x: &[f64], y: &[f64], z: &[f64], f: impl Fn(f64, f64, f64) -> f64) {
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
pub(super) fn binary(operator: BinaryOperator, out: &mut [f64], x: Values<'_>, y: Values<'_>) {
    match operator {
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::Multiply
        | BinaryOperator::Divide => {
            calculate(operator, out, x, y, |result| result);
        }
        BinaryOperator::Min => comparison(out, x, y, |x, y| if y < x { y } else { x }),
        BinaryOperator::Max => comparison(out, x, y, |x, y| if y > x { y } else { x }),
        BinaryOperator::Pow => zip(out, x, y, |x, y| {
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
        BinaryOperator::Coalesce => zip(out, x, y, |x, y| if state::is(x, state::MISSING) { y } else { x }),
        BinaryOperator::Fill => {
            zip(out, x, y, |x, y| if x.is_nan() && !state::is(x, state::NOT_APPLICABLE) { y } else { x })
        }
    }
}

/// Returns the four operations of arithmetic.
#[inline(always)]
fn calculate(
    operator: BinaryOperator,
    out: &mut [f64],
    x: Values<'_>,
    y: Values<'_>,
    then: impl Fn(f64) -> f64,
) {
    let overflow = |_| state::OVERFLOW;
    match operator {
        BinaryOperator::Add => arithmetic(out, x, y, |x, y| x + y, overflow, then),
        BinaryOperator::Subtract => arithmetic(out, x, y, |x, y| x - y, overflow, then),
        BinaryOperator::Multiply => arithmetic(out, x, y, |x, y| x * y, overflow, then),
        _ => {
            let why = |y| if y == 0.0 { state::DIVISION } else { state::OVERFLOW };
            arithmetic(out, x, y, |x, y| x / y, why, then);
        }
    }
}

/// Computes, and then keeps at least `low`, at most `high`: `min(high, max(low, result))`.
#[inline(always)]
pub(super) fn within(
    operator: BinaryOperator,
    out: &mut [f64],
    x: Values<'_>,
    y: Values<'_>,
    low: f64,
    high: f64,
) {
    calculate(operator, out, x, y, |result| {
        let raised = if result > low { result } else { low };
        if raised < high { raised } else { high }
    });
}

#[inline(always)]
pub(super) fn select(out: &mut [f64], c: &[f64], a: Values<'_>, b: Values<'_>) {
    choose(out, c, a, b, |c, a, b| if c == 0.0 { b } else { a });
}

/// Chooses by a comparison, in one step with it.
#[inline(always)]
pub(super) fn select_above(out: &mut [f64], x: &[f64], limit: f64, a: Values<'_>, b: Values<'_>) {
    choose(out, x, a, b, |x, a, b| if x > limit { a } else { b });
}

/// Chooses one of two operands; none where it is not known which.
#[inline(always)]
fn choose(out: &mut [f64], by: &[f64], a: Values<'_>, b: Values<'_>, choice: impl Fn(f64, f64, f64) -> f64) {
    let choose = |by: f64, a: f64, b: f64| {
        let taken = choice(by, a, b);
        if by.is_nan() { by } else { taken }
    };
    match (a, b) {
        (Values::Each(a), Values::Each(b)) => map3(out, by, a, b, choose),
        (Values::Each(a), Values::All(b)) => map2(out, by, a, |by, a| choose(by, a, b)),
        (Values::All(a), Values::Each(b)) => map2(out, by, b, |by, b| choose(by, a, b)),
        (Values::All(a), Values::All(b)) => map1(out, by, |by| choose(by, a, b)),
    }
}

/// Values to readings, behind a condition (false makes them 0), where they apply: see `docs/guide/scorecard.md`, Dimensions.
#[inline(always)]
pub(super) fn reading(out: &mut [f64], value: &[f64], when: Option<&[f64]>, applies: Option<&[f64]>) {
    let reading = |x: f64| if x.is_nan() { x } else { round(x * COVERED) };
    let gated = |x: f64, when: f64| {
        let open = if when == 0.0 { 0.0 } else { reading(x) };
        if when.is_nan() { when } else { open }
    };
    let there = |reading: f64, applies: f64| {
        let there = if applies == 0.0 { state::NOT_APPLICABLE } else { reading };
        if applies.is_nan() { applies } else { there }
    };
    match (when, applies) {
        (None, None) => map1(out, value, reading),
        (Some(when), None) => map2(out, value, when, gated),
        (None, Some(applies)) => map2(out, value, applies, |x, applies| there(reading(x), applies)),
        (Some(when), Some(applies)) => {
            map3(out, value, when, applies, |x, when, applies| there(gated(x, when), applies));
        }
    }
}

/// Adds what has elapsed to the age that was stated, as far as they are known. A time in the future takes nothing off an age.
#[inline(always)]
pub(super) fn age(out: &mut [f64], stated: Values<'_>, elapsed: Values<'_>) {
    zip(out, stated, elapsed, |stated, elapsed| {
        let sum = if elapsed > 0.0 { stated + elapsed } else { stated };
        if stated.is_nan() { elapsed } else { sum }
    });
}

/// Keeps the lower age, of what has a reading.
#[inline(always)]
pub(super) fn newer(out: &mut [f64], reading: &[f64], age: Values<'_>) {
    let lower = |newest: f64, reading: f64, age: f64| {
        let is_newer = !reading.is_nan() && !age.is_nan() && (newest.is_nan() || age < newest);
        if is_newer { age } else { newest }
    };
    match age {
        Values::Each(age) => {
            for ((out, &reading), &age) in out.iter_mut().zip(reading).zip(age) {
                *out = lower(*out, reading, age);
            }
        }
        Values::All(age) => {
            for (out, &reading) in out.iter_mut().zip(reading) {
                *out = lower(*out, reading, age);
            }
        }
    }
}

/// Takes from readings what they have lost; where the age is not known, nothing.
#[inline(always)]
pub(super) fn decay(out: &mut [f64], value: &[f64], age: Values<'_>, loss: Loss) {
    // Loops of which the compiler knows what is the same in all rows: a vector would compute both sides of a choice, and
    // a division is not faster in a wide one.
    match loss.form() {
        (false, true) => decay_each(out, value, age, loss.in_form((false, true))),
        (false, false) => decay_each(out, value, age, loss.in_form((false, false))),
        (true, true) => decay_each(out, value, age, loss.in_form((true, true))),
        (true, false) => decay_each(out, value, age, loss.in_form((true, false))),
    }
}

#[inline(always)]
fn decay_each(out: &mut [f64], value: &[f64], age: Values<'_>, loss: Loss) {
    zip(out, Values::Each(value), age, |value, age| {
        let left = loss.left(value, age);
        if value.is_nan() | age.is_nan() { value } else { left }
    });
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

/// Applies one tier: where all lower tiers were reached and its score and coverage are there, the count goes up to
/// `level`. Returns false if that is nowhere: then its floors and all higher tiers need no look.
#[inline(always)]
pub(super) fn tier(
    out: &mut [f64],
    level: f64,
    conditions: &TierLevel,
    published: &[f64],
    coverage: &[f64],
) -> bool {
    let mut some = 0;
    for ((out, &published), &coverage) in out.iter_mut().zip(published).zip(coverage) {
        let holds =
            (*out == level - 1.0) & (published >= conditions.published) & (coverage >= conditions.coverage);
        *out = if holds { level } else { *out };
        some += u64::from(holds);
    }
    some != 0
}

/// Takes the tier away again where one of four floors is not reached.
#[inline(always)]
pub(super) fn tier_floors(out: &mut [f64], level: f64, [a, b, c, d]: [(&[f64], f64); 4]) {
    let readings = a.0.iter().zip(b.0).zip(c.0.iter().zip(d.0));
    for (out, ((&w, &x), (&y, &z))) in out.iter_mut().zip(readings) {
        let reached = (w >= a.1) & (x >= b.1) & (y >= c.1) & (z >= d.1);
        *out = if (*out == level) & !reached { level - 1.0 } else { *out };
    }
}

#[inline(always)]
pub(super) fn tier_limit(out: &mut [f64], when: &[f64], limit: f64) {
    for (out, &when) in out.iter_mut().zip(when) {
        *out = if when == 1.0 && *out > limit { limit } else { *out };
    }
}

/// Hands the results of a block over.
#[inline(always)]
pub(super) fn hand_over(out: &mut [f64], column: &[f64]) {
    for (out, &x) in out.iter_mut().zip(column) {
        *out = x;
    }
}

/// Hands counts below 256 over as bytes: the last bits once 2^52 is added, which vectors do faster than a conversion.
#[inline(always)]
pub(super) fn hand_over_counts(out: &mut [u8], counts: Values<'_>) {
    let small = |count: f64| (count + 4_503_599_627_370_496.0).to_bits() as u8;
    match counts {
        Values::All(count) => out.fill(small(count)),
        Values::Each(counts) => out.iter_mut().zip(counts).for_each(|(out, &count)| *out = small(count)),
    }
}
