//! The loops over columns. Each is a plain loop over slices that the compiler turns into vector instructions, on every
//! instruction set to the same bits: no operation depends on its neighbours, nothing is fused or reordered.

use alloc::vec::Vec;

use super::{BinaryOperator, Column, Limits, MeanItem, Rounding, TierLevel, UnaryOperator, state};
use crate::number::{BILLION, MILLION, UNITS_PER_ONE, round};
use crate::scorecard::Mean;

/// All there is, in billionths.
const COVERED: f64 = BILLION as f64;
/// All there is, in units of a score.
const UNITS: f64 = UNITS_PER_ONE as f64;

/// The state of a result without value: the higher of the operands' states, or `why` if both had values.
#[inline(always)]
fn blame(x: f64, y: f64, why: f64) -> f64 {
    let higher = if x.is_nan() && (!y.is_nan() || x.to_bits() >= y.to_bits()) { x } else { y };
    if higher.is_nan() { higher } else { why }
}

/// `result` if it is a finite number, else why there is none.
#[inline(always)]
fn settle(result: f64, x: f64, y: f64, why: f64) -> f64 {
    if is_finite(result) { result } else { blame(x, y, why) }
}

#[inline(always)]
#[expect(
    clippy::eq_op,
    reason = "an infinity less itself is no number, and vectors can subtract and compare"
)]
fn is_finite(x: f64) -> bool {
    x - x == 0.0
}

/// Fills a column with `quick`, and if some result is not `good`, once more with `careful`: blocks in which every row has a
/// value, the usual case, pay for one comparison only.
#[inline(always)]
fn settled(
    out: &mut [f64],
    x: &[f64],
    y: &[f64],
    quick: impl Fn(f64, f64) -> f64,
    good: impl Fn(f64, f64, f64) -> bool,
    careful: impl Fn(f64, f64) -> f64,
) {
    let mut bad = false;
    for ((out, &x), &y) in out.iter_mut().zip(x).zip(y) {
        let result = quick(x, y);
        *out = result;
        bad |= !good(result, x, y);
    }
    if bad {
        map2(out, x, y, careful);
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
    let careful = |x: f64, y: f64| settle(operation(x, y), x, y, why(y));
    settled(out, x, y, &operation, |result, _, _| is_finite(result), careful);
}

/// Comparisons, minimum, maximum: good where both operands have a value.
#[inline(always)]
fn comparison(out: &mut [f64], x: &[f64], y: &[f64], operation: impl Fn(f64, f64) -> f64) {
    let careful =
        |x: f64, y: f64| if x.is_nan() || y.is_nan() { blame(x, y, state::MISSING) } else { operation(x, y) };
    settled(out, x, y, &operation, |_, x, y| !(x.is_nan() | y.is_nan()), careful);
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

/// Copies a fact column, with every NaN and the unknown value as missing; `then` is applied to what is left. True if some
/// value breaks its declaration.
#[inline(always)]
fn load_with(
    out: &mut [f64],
    fact: Column<'_>,
    bound: Option<Column<'_>>,
    limits: Limits,
    then: impl Fn(f64) -> f64,
) -> bool {
    // Infinity is a number to a comparison: a range without ends still refuses it.
    let (min, max) = (limits.min.max(-f64::MAX), limits.max.min(f64::MAX));
    let mut broken = false;
    match fact {
        Column::Values(fact) if limits.unknown.is_nan() => {
            for (out, &x) in out.iter_mut().zip(fact) {
                *out = if x.is_nan() { state::MISSING } else { then(x) };
                broken |= (x < min) | (x > max);
            }
        }
        Column::Values(fact) => {
            for (out, &x) in out.iter_mut().zip(fact) {
                let missing = x.is_nan() | (x == limits.unknown);
                *out = if missing { state::MISSING } else { then(x) };
                broken |= ((x < min) | (x > max)) & !missing;
            }
        }
        Column::Constant(x) => {
            let missing = x.is_nan() | (x == limits.unknown);
            out.fill(if missing { state::MISSING } else { then(x) });
            broken |= ((x < min) | (x > max)) & !missing;
        }
    }
    if limits.integer {
        let fraction = |x: f64| {
            let size = x.abs();
            (size < 2_251_799_813_685_248.0) & (round(size) != size) & (x != limits.unknown)
        };
        match fact {
            Column::Values(fact) => broken |= fact.iter().fold(false, |some, &x| some | fraction(x)),
            Column::Constant(x) => broken |= fraction(x),
        }
    }
    let above = |x: f64, bound: f64| (x > bound) & (x != limits.unknown) & (bound != limits.bound_unknown);
    match (fact, bound) {
        (_, None) => {}
        (Column::Values(fact), Some(Column::Values(bound))) => {
            for (&x, &bound) in fact.iter().zip(bound) {
                broken |= above(x, bound);
            }
        }
        (Column::Values(fact), Some(Column::Constant(bound))) => {
            broken |= fact.iter().fold(false, |some, &x| some | above(x, bound));
        }
        (Column::Constant(x), Some(Column::Values(bound))) => {
            broken |= bound.iter().fold(false, |some, &bound| some | above(x, bound));
        }
        (Column::Constant(x), Some(Column::Constant(bound))) => broken |= above(x, bound),
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
            arithmetic(out, x, y, |x, y| x / y, |y| if y == 0.0 { state::DIVISION } else { state::OVERFLOW });
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

#[inline(always)]
pub(super) fn select(out: &mut [f64], c: &[f64], a: &[f64], b: &[f64]) {
    map3(out, c, a, b, |c, a, b| {
        let taken = if c == 0.0 { b } else { a };
        if c.is_nan() { c } else { taken }
    });
}

/// Values to readings: see `docs/guide/scorecard.md`, Dimensions.
#[inline(always)]
pub(super) fn reading(out: &mut [f64], value: &[f64]) {
    map1(out, value, |x| if x.is_nan() { x } else { round(x * BILLION as f64) });
}

/// Readings behind a condition: false makes them 0.
#[inline(always)]
pub(super) fn gate(out: &mut [f64], when: &[f64]) {
    for (out, &when) in out.iter_mut().zip(when) {
        let open = if when == 0.0 { 0.0 } else { *out };
        *out = if when.is_nan() { when } else { open };
    }
}

/// Readings that may not apply.
#[inline(always)]
pub(super) fn apply(out: &mut [f64], applies: &[f64]) {
    for (out, &applies) in out.iter_mut().zip(applies) {
        let there = if applies == 0.0 { state::NOT_APPLICABLE } else { *out };
        *out = if applies.is_nan() { applies } else { there };
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

/// One tier: where all lower tiers were reached and its score and coverage are there, the count goes up to `level`.
#[inline(always)]
pub(super) fn tier(out: &mut [f64], level: f64, conditions: &TierLevel, published: &[f64], coverage: &[f64]) {
    for ((out, &published), &coverage) in out.iter_mut().zip(published).zip(coverage) {
        let holds =
            (*out == level - 1.0) & (published >= conditions.published) & (coverage >= conditions.coverage);
        *out = if holds { level } else { *out };
    }
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

/// Whether some row has reached `level`: if none has, its floors and all higher tiers need no look.
#[inline(always)]
pub(super) fn some_reach(column: &[f64], level: f64) -> bool {
    column.iter().fold(false, |some, &reached| some | (reached == level))
}

#[inline(always)]
pub(super) fn tier_limit(out: &mut [f64], when: &[f64], limit: f64) {
    for (out, &when) in out.iter_mut().zip(when) {
        *out = if when == 1.0 && *out > limit { limit } else { *out };
    }
}

/// One member of a mean, its columns found.
pub(super) struct Member<'a> {
    pub item: MeanItem,
    pub reading: &'a [f64],
    pub coverage: Option<&'a [f64]>,
    /// Weight in the composite and in the coverage, for all rows or by the profile of each.
    pub weights: MemberWeights<'a>,
}

/// Weights of a member.
#[derive(Clone, Copy)]
pub(super) enum MemberWeights<'a> {
    Uniform(f64, f64),
    ByProfile(&'a [(f64, f64)], &'a [u32]),
}

/// Sums of a mean over the rows of a block, kept from block to block so that none is allocated.
#[derive(Debug, Clone)]
pub(crate) struct Sums {
    total: Vec<f64>,
    weight: Vec<f64>,
    covered: Vec<f64>,
    applicable: Vec<f64>,
    /// The smallest reading with a weight; 0 settles a geometric or harmonic mean.
    smallest: Vec<f64>,
    /// 1 where the score is withheld.
    withheld: Vec<f64>,
    /// 1 where some member applies.
    applies: Vec<f64>,
    /// Readings with what stands in for missing ones.
    used: Vec<f64>,
}

impl Sums {
    pub(crate) fn new(rows: usize) -> Self {
        let column = || alloc::vec![0.0; rows];
        Self {
            total: column(),
            weight: column(),
            covered: column(),
            applicable: column(),
            smallest: column(),
            withheld: column(),
            applies: column(),
            used: column(),
        }
    }
}

/// A mean and its coverage over all rows of a block. Every loop runs over rows, so that rows fill the vectors.
#[inline(always)]
pub(super) fn mean(
    mean: Mean,
    top: bool,
    members: &[Member<'_>],
    sums: &mut Sums,
    composite: &mut [f64],
    coverage: &mut [f64],
) {
    let linear = matches!(mean, Mean::WeightedSum | Mean::WeightedMean);
    // Where all members are plain dimensions and no override is in force, the weight of the readings is the weight covered.
    let mut plain = linear;
    let mut applicable_sum = 0.0;
    let mut always_applies = false;
    let mut all = 0.0;
    for member in members {
        let item = &member.item;
        let own = matches!(member.weights, MemberWeights::Uniform(weight, cover) if weight == cover);
        plain &= own && item.fill.is_nan() && member.coverage.is_none();
        if !item.optional
            && let MemberWeights::Uniform(_, cover) = member.weights
        {
            applicable_sum += cover;
            always_applies = true;
        }
        if let MemberWeights::Uniform(weight, _) = member.weights {
            // A member without weight would not be missed in the sum.
            all += if weight == 0.0 { f64::NAN } else { weight };
        }
    }
    let mut columns = Columns::new(sums, composite.len(), plain, linear);
    // Most members always apply: then one number serves all rows.
    let serves_all =
        |member: &Member<'_>| !member.item.optional && matches!(member.weights, MemberWeights::Uniform(..));
    let all_apply = always_applies && members.iter().all(serves_all);
    if !all_apply {
        columns.applicable.fill(applicable_sum);
        columns.applies.fill(if always_applies { 1.0 } else { 0.0 });
    }
    let mut rest = members;
    while plain && let Some((four, others)) = rest.split_first_chunk::<4>() {
        if four.iter().any(|member| member.item.optional) {
            break;
        }
        columns.add_four(four);
        rest = others;
    }
    for member in rest {
        match member.weights {
            MemberWeights::Uniform(weight, cover) => {
                let weights = core::iter::repeat((weight, cover));
                columns.add(mean, plain, true, member, weights);
            }
            MemberWeights::ByProfile(table, profiles) => {
                let weights = profiles
                    .iter()
                    .map(|&profile| table.get(profile as usize).copied().unwrap_or((0.0, 0.0)));
                columns.add(mean, plain, false, member, weights);
            }
        }
    }
    // Where every member is there in every row, nothing can be withheld.
    let complete = plain && columns.weight.iter().fold(true, |complete, &sum| complete & (sum == all));
    let withholds = |member: &Member<'_>| member.item.withhold || member.coverage.is_some();
    let may_withhold = !complete && members.iter().any(withholds);
    if may_withhold {
        columns.withheld.fill(0.0);
        for member in members {
            if withholds(member) {
                columns.withhold(member);
            }
        }
    }
    let Columns { total, weight, covered, applicable, smallest, withheld, applies, .. } = columns;
    match mean {
        // Exact, and at most 1, even where a tolerance or an override lets weights sum to more. In a group it becomes a reading.
        Mean::WeightedSum if top => map1(composite, total, |x| if x > UNITS { UNITS } else { x }),
        Mean::WeightedSum => {
            map1(composite, total, |x| round(if x > UNITS { UNITS } else { x } / MILLION as f64))
        }
        Mean::WeightedMean => map2(composite, total, weight, |x, sum| round(x / sum)),
        Mean::Geometric => map3(composite, total, weight, smallest, |x, sum, smallest| {
            if smallest == 0.0 { 0.0 } else { round(libm::exp(x / sum) * COVERED) }
        }),
        Mean::Harmonic => map3(composite, total, weight, smallest, |x, sum, smallest| {
            if smallest == 0.0 { 0.0 } else { round(sum / x * COVERED) }
        }),
        Mean::Minimum => composite.copy_from_slice(smallest),
    }
    let unit = if top && mean != Mean::WeightedSum { MILLION as f64 } else { 1.0 };
    if all_apply {
        for (out, &weight) in composite.iter_mut().zip(&*weight) {
            *out = if weight == 0.0 { state::MISSING } else { *out * unit };
        }
    } else {
        for ((out, &weight), &applies) in composite.iter_mut().zip(&*weight).zip(&*applies) {
            let nothing = if applies == 0.0 { state::NOT_APPLICABLE } else { state::MISSING };
            *out = if weight == 0.0 { nothing } else { *out * unit };
        }
    }
    if may_withhold {
        for (out, &withheld) in composite.iter_mut().zip(&*withheld) {
            *out = if withheld == 0.0 { *out } else { state::WITHHELD };
        }
    }
    let share = |x: f64, sum: f64| if sum == 0.0 { 0.0 } else { round(x / sum) };
    match (plain, all_apply) {
        (true, true) => map1(coverage, weight, |x| share(x * COVERED, applicable_sum)),
        (true, false) => map2(coverage, weight, applicable, |x, sum| share(x * COVERED, sum)),
        (false, true) => map1(coverage, covered, |x| share(x, applicable_sum)),
        (false, false) => map2(coverage, covered, applicable, share),
    }
}

/// The columns of [`Sums`], cut to the rows of a block.
struct Columns<'s> {
    total: &'s mut [f64],
    weight: &'s mut [f64],
    covered: &'s mut [f64],
    applicable: &'s mut [f64],
    smallest: &'s mut [f64],
    withheld: &'s mut [f64],
    applies: &'s mut [f64],
    used: &'s mut [f64],
}

impl<'s> Columns<'s> {
    #[inline(always)]
    fn new(sums: &'s mut Sums, rows: usize, plain: bool, linear: bool) -> Self {
        #[inline(always)]
        fn cut(column: &mut [f64], rows: usize, start: Option<f64>) -> &mut [f64] {
            let column = column.get_mut(..rows).unwrap_or_default();
            if let Some(start) = start {
                column.fill(start);
            }
            column
        }
        Self {
            total: cut(&mut sums.total, rows, Some(0.0)),
            weight: cut(&mut sums.weight, rows, Some(0.0)),
            covered: cut(&mut sums.covered, rows, if plain { None } else { Some(0.0) }),
            applicable: cut(&mut sums.applicable, rows, None),
            smallest: cut(&mut sums.smallest, rows, if linear { None } else { Some(f64::INFINITY) }),
            withheld: cut(&mut sums.withheld, rows, None),
            applies: cut(&mut sums.applies, rows, None),
            used: cut(&mut sums.used, rows, None),
        }
    }

    /// Marks the rows in which a member that must be there is not, or a group of its own is withheld.
    #[inline(always)]
    fn withhold(&mut self, member: &Member<'_>) {
        for (withheld, &x) in self.withheld.iter_mut().zip(member.reading) {
            let absent = member.item.withhold & x.is_nan() & !state::is(x, state::NOT_APPLICABLE);
            *withheld = if absent | state::is(x, state::WITHHELD) { 1.0 } else { *withheld };
        }
    }

    /// Adds four plain members at once: sums of whole numbers are exact in any order.
    #[inline(always)]
    fn add_four(&mut self, [a, b, c, d]: &[Member<'_>; 4]) {
        let weight = |member: &Member<'_>| match member.weights {
            MemberWeights::Uniform(weight, _) => weight,
            MemberWeights::ByProfile(..) => 0.0,
        };
        let weights = [weight(a), weight(b), weight(c), weight(d)];
        let readings = a.reading.iter().zip(b.reading).zip(c.reading.iter().zip(d.reading));
        let rows = self.total.iter_mut().zip(self.weight.iter_mut()).zip(readings);
        for ((total, sum), ((&a, &b), (&c, &d))) in rows {
            let term = |x: f64, weight: f64| if x.is_nan() { 0.0 } else { weight * x };
            let count = |x: f64, weight: f64| if x.is_nan() { 0.0 } else { weight };
            let [wa, wb, wc, wd] = weights;
            *total += (term(a, wa) + term(b, wb)) + (term(c, wc) + term(d, wd));
            *sum += (count(a, wa) + count(b, wb)) + (count(c, wc) + count(d, wd));
        }
    }

    /// Adds one member, with its weights in composite and coverage row by row.
    #[inline(always)]
    fn add(
        &mut self,
        mean: Mean,
        plain: bool,
        uniform: bool,
        member: &Member<'_>,
        weights: impl Iterator<Item = (f64, f64)> + Clone,
    ) {
        let (item, mut reading) = (&member.item, member.reading);
        if item.optional || !uniform {
            let rows =
                self.applicable.iter_mut().zip(self.applies.iter_mut()).zip(reading).zip(weights.clone());
            for (((applicable, applies), &x), (_, cover)) in rows {
                let there = !state::is(x, state::NOT_APPLICABLE);
                *applicable += if there { cover } else { 0.0 };
                *applies = if there { 1.0 } else { *applies };
            }
        }
        if let Some(coverage) = member.coverage {
            for (((covered, &x), &part), (_, cover)) in
                self.covered.iter_mut().zip(reading).zip(coverage).zip(weights.clone())
            {
                *covered += if state::is(x, state::NOT_APPLICABLE) { 0.0 } else { cover * part };
            }
        } else if !plain {
            for ((covered, &x), (_, cover)) in self.covered.iter_mut().zip(reading).zip(weights.clone()) {
                *covered += if x.is_nan() { 0.0 } else { cover * COVERED };
            }
        }
        if !item.fill.is_nan() {
            map1(self.used, reading, |x| {
                if x.is_nan() & !state::is(x, state::NOT_APPLICABLE) { item.fill } else { x }
            });
            reading = self.used;
        }
        let rows = self.total.iter_mut().zip(self.weight.iter_mut()).zip(reading).zip(weights.clone());
        if matches!(mean, Mean::WeightedSum | Mean::WeightedMean) {
            for (((total, sum), &x), (weight, _)) in rows {
                *total += if x.is_nan() { 0.0 } else { weight * x };
                *sum += if x.is_nan() { 0.0 } else { weight };
            }
            return;
        }
        for (((total, sum), &x), (weight, _)) in rows {
            if x.is_nan() || weight == 0.0 {
                continue;
            }
            *sum += weight;
            *total += match mean {
                Mean::Geometric => weight * libm::log(x / COVERED),
                Mean::Harmonic => weight / (x / COVERED),
                _ => 0.0,
            };
        }
        for ((smallest, &x), (weight, _)) in self.smallest.iter_mut().zip(reading).zip(weights) {
            *smallest = if weight > 0.0 && x < *smallest { x } else { *smallest };
        }
    }
}
