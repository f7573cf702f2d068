//! Facts into columns: copied, checked against their declarations.

use super::kernel::COVERED;
use super::{Column, Limits, state};
use crate::number::round;

/// Copies a column that no declaration is about.
#[inline(always)]
pub(super) fn copy(out: &mut [f64], column: Column<'_>) {
    match column {
        Column::Values(values) => out.iter_mut().zip(values).for_each(|(out, &value)| *out = value),
        Column::Constant(value) => out.fill(value),
    }
}

/// Copies a fact column, with every NaN and the unknown value as missing; `then` is applied to what is left. True if some
/// value breaks its declaration.
///
/// The usual case is one pass with the checks that the declaration asks for and no others, so simple that they may
/// doubt a good value, but never miss a bad one. A block in which some value is in doubt is looked at again, row by row.
#[inline(always)]
fn load_with(
    out: &mut [f64],
    fact: Column<'_>,
    bound: Option<Column<'_>>,
    limits: Limits,
    then: impl Fn(f64) -> f64,
) -> bool {
    let Limits { min, max, unknown, integer, .. } = limits;
    let outside = |x: f64| (x < min) | (x > max);
    // Above this, and below 0, `round` is not for whole numbers.
    let (low, high) = (min.max(0.0), max.min(2_251_799_813_685_248.0));
    let uncounted = |x: f64| (x < low) | (x > high) | (round(x) < x) | (round(x) > x);
    let doubt = match (fact, bound) {
        (Column::Values(fact), None) if unknown.is_nan() && !integer => {
            load_each(out, fact, fact, f64::is_nan, &then, |x, _| outside(x))
        }
        (Column::Values(fact), None) if unknown.is_nan() => {
            load_each(out, fact, fact, f64::is_nan, &then, |x, _| uncounted(x))
        }
        (Column::Values(fact), Some(Column::Values(bound))) if unknown.is_nan() && !integer => {
            load_each(out, fact, bound, f64::is_nan, &then, |x, bound| outside(x) | (x > bound))
        }
        (Column::Values(fact), Some(Column::Values(bound))) if unknown.is_nan() => {
            load_each(out, fact, bound, f64::is_nan, &then, |x, bound| uncounted(x) | (x > bound))
        }
        (Column::Values(fact), bound @ (None | Some(Column::Values(_)))) => {
            let bound = if let Some(Column::Values(bound)) = bound { bound } else { fact };
            let doubtful = |x, bound| outside(x) | (integer & uncounted(x)) | (x > bound);
            load_each(out, fact, bound, |x| x.is_nan() | (x == unknown), &then, doubtful)
        }
        _ => true,
    };
    doubt && load_rows(out, fact, bound, limits, then)
}

/// Passes once over a block: what is missing, what is not, and whether some value is in doubt.
#[inline(always)]
fn load_each(
    out: &mut [f64],
    fact: &[f64],
    bound: &[f64],
    missing: impl Fn(f64) -> bool,
    then: impl Fn(f64) -> f64,
    doubtful: impl Fn(f64, f64) -> bool,
) -> bool {
    let mut doubt = 0;
    for ((out, &x), &bound) in out.iter_mut().zip(fact).zip(bound) {
        *out = if missing(x) { state::MISSING } else { then(x) };
        doubt += u64::from(doubtful(x, bound));
    }
    doubt != 0
}

/// Returns the same with all care.
#[inline(always)]
fn load_rows(
    out: &mut [f64],
    fact: Column<'_>,
    bound: Option<Column<'_>>,
    limits: Limits,
    then: impl Fn(f64) -> f64,
) -> bool {
    let mut broken = false;
    for (row, out) in out.iter_mut().enumerate() {
        let (x, bound) = (fact.row(row), bound.map_or(f64::NAN, |bound| bound.row(row)));
        let missing = x.is_nan() | (x == limits.unknown);
        *out = if missing { state::MISSING } else { then(x) };
        let size = x.abs();
        let fraction = limits.integer & (size < 2_251_799_813_685_248.0) & (round(size) != size);
        let above = (x > bound) & (bound != limits.bound_unknown);
        broken |= !missing & ((x < limits.min) | (x > limits.max) | fraction | above);
    }
    broken
}

/// Returns a fact for formulas.
#[inline(always)]
pub(super) fn load(out: &mut [f64], fact: Column<'_>, bound: Option<Column<'_>>, limits: Limits) -> bool {
    load_with(out, fact, bound, limits, |x| x)
}

/// Returns a fact that is the value of a dimension unchanged: straight to its reading.
#[inline(always)]
pub(super) fn load_reading(
    out: &mut [f64],
    fact: Column<'_>,
    bound: Option<Column<'_>>,
    limits: Limits,
) -> bool {
    load_with(out, fact, bound, limits, |x| round(x * COVERED))
}
