//! Facts into columns: copied, checked against their declarations.

use super::kernel::COVERED;
use super::{Column, Limits, state};
use crate::number::round;

/// Copies a fact column, with every NaN and the unknown value as missing; `then` is applied to what is left. True if some
/// value breaks its declaration. One pass, with the checks that the declaration asks for and no others.
#[inline(always)]
fn load_with(
    out: &mut [f64],
    fact: Column<'_>,
    bound: Option<Column<'_>>,
    limits: Limits,
    then: impl Fn(f64) -> f64,
) -> bool {
    let Limits { min, max, unknown, bound_unknown, .. } = limits;
    let outside = |x: f64| (x < min) | (x > max);
    let fraction = |x: f64| {
        let size = x.abs();
        (size < 2_251_799_813_685_248.0) & (round(size) != size)
    };
    let above = |x: f64, bound: f64| (x > bound) & (bound != bound_unknown);
    match (fact, bound) {
        (Column::Values(fact), None) if unknown.is_nan() && !limits.integer => {
            load_each(out, fact, fact, then, |x, _| outside(x))
        }
        (Column::Values(fact), None) if unknown.is_nan() => {
            load_each(out, fact, fact, then, |x, _| outside(x) | fraction(x))
        }
        (Column::Values(fact), Some(Column::Values(bound))) if unknown.is_nan() && !limits.integer => {
            load_each(out, fact, bound, then, |x, bound| outside(x) | above(x, bound))
        }
        (Column::Values(fact), Some(Column::Values(bound))) if unknown.is_nan() => {
            load_each(out, fact, bound, then, |x, bound| outside(x) | fraction(x) | above(x, bound))
        }
        (fact, bound) => {
            // What is rare is done row by row.
            let mut broken = false;
            for (row, out) in out.iter_mut().enumerate() {
                let (x, bound) = (fact.row(row), bound.map_or(f64::NAN, |bound| bound.row(row)));
                let missing = x.is_nan() | (x == unknown);
                *out = if missing { state::MISSING } else { then(x) };
                broken |= !missing & (outside(x) | (limits.integer & fraction(x)) | above(x, bound));
            }
            broken
        }
    }
}

#[inline(always)]
fn load_each(
    out: &mut [f64],
    fact: &[f64],
    bound: &[f64],
    then: impl Fn(f64) -> f64,
    wrong: impl Fn(f64, f64) -> bool,
) -> bool {
    let mut broken = false;
    for ((out, &x), &bound) in out.iter_mut().zip(fact).zip(bound) {
        *out = if x.is_nan() { state::MISSING } else { then(x) };
        broken |= wrong(x, bound);
    }
    broken
}

/// A fact for formulas.
#[inline(always)]
pub(super) fn load(out: &mut [f64], fact: Column<'_>, bound: Option<Column<'_>>, limits: Limits) -> bool {
    load_with(out, fact, bound, limits, |x| x)
}

/// A fact that is the value of a dimension as it stands: straight to its reading.
#[inline(always)]
pub(super) fn load_reading(
    out: &mut [f64],
    fact: Column<'_>,
    bound: Option<Column<'_>>,
    limits: Limits,
) -> bool {
    load_with(out, fact, bound, limits, |x| round(x * COVERED))
}
