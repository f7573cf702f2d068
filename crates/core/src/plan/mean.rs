//! Means over the rows of a block, and facts that go into their sums as they are loaded.

use super::kernel::{COVERED, map1, map2, map3};
use super::prefetch::Prefetch;
use super::{BLOCK, MeanItem, Rows, state};
use crate::number::{MILLION, UNITS_PER_ONE, round};
use crate::scorecard::Mean;

/// One, in units of a score.
const UNITS: f64 = UNITS_PER_ONE as f64;

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
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums<const ROWS: usize = BLOCK> {
    total: Rows<ROWS>,
    weight: Rows<ROWS>,
    covered: Rows<ROWS>,
    applicable: Rows<ROWS>,
    /// The smallest reading with a weight; 0 settles a geometric or harmonic mean.
    smallest: Rows<ROWS>,
    /// 1 where the score is withheld.
    withheld: Rows<ROWS>,
    /// 1 where some member applies.
    applies: Rows<ROWS>,
    /// Readings, with the substitutes of missing ones.
    used: Rows<ROWS>,
}

/// One of four facts that are readings unchanged.
#[derive(Clone, Copy)]
pub(super) struct Loaded<'a> {
    pub fact: &'a [f64],
    pub min: f64,
    pub max: f64,
    pub weight: f64,
}

/// Rows of a part of a block, after which some of the next block is asked for.
pub(super) const PART: usize = 16;

/// Loads four readings and adds them to the sums, or begins these: all that a fact needs while it is at hand. True if some
/// value breaks its declaration.
#[inline(always)]
pub(super) fn load_members<const BEGIN: bool>(
    [a, b, c, d]: [&mut [f64]; 4],
    loaded: &[Loaded<'_>; 4],
    sums: &mut Sums,
    prefetch: &mut Prefetch<'_>,
) -> bool {
    let rows = a.len();
    let (Some(total), Some(weight)) = (sums.total.0.get_mut(..rows), sums.weight.0.get_mut(..rows)) else {
        return false;
    };
    // Parts of a length that the compiler knows: the loop over one is nothing but vectors.
    let (a, a_rest) = a.as_chunks_mut::<PART>();
    let (b, b_rest) = b.as_chunks_mut::<PART>();
    let (c, c_rest) = c.as_chunks_mut::<PART>();
    let (d, d_rest) = d.as_chunks_mut::<PART>();
    let (total, total_rest) = total.as_chunks_mut::<PART>();
    let (weight, weight_rest) = weight.as_chunks_mut::<PART>();
    let facts = loaded.map(|loaded| loaded.fact.as_chunks::<PART>());
    let [(p, _), (q, _), (r, _), (s, _)] = facts;
    let facts_rest = facts.map(|(_, rest)| rest);
    let mut broken = false;
    let out = a.iter_mut().zip(b).zip(c.iter_mut().zip(d)).zip(total.iter_mut().zip(weight));
    for ((((a, b), (c, d)), (total, weight)), ((p, q), (r, s))) in
        out.zip(p.iter().zip(q).zip(r.iter().zip(s)))
    {
        prefetch.step();
        broken |= add_loaded::<BEGIN>([a, b, c, d], [p, q, r, s], loaded, total, weight);
    }
    let out_rest = [a_rest, b_rest, c_rest, d_rest];
    broken | add_loaded::<BEGIN>(out_rest, facts_rest, loaded, total_rest, weight_rest)
}

#[inline(always)]
fn add_loaded<const BEGIN: bool>(
    [a, b, c, d]: [&mut [f64]; 4],
    [p, q, r, s]: [&[f64]; 4],
    [w, x, y, z]: &[Loaded<'_>; 4],
    total: &mut [f64],
    weight: &mut [f64],
) -> bool {
    let mut broken = 0;
    let out = a.iter_mut().zip(b).zip(c.iter_mut().zip(d)).zip(total.iter_mut().zip(weight));
    let facts = p.iter().zip(q).zip(r.iter().zip(s));
    for ((((a, b), (c, d)), (total, weight)), ((&p, &q), (&r, &s))) in out.zip(facts) {
        let [p, q, r, s] = [w.take(p), x.take(q), y.take(r), z.take(s)];
        (*a, *b, *c, *d) = (p.reading, q.reading, r.reading, s.reading);
        let term = (p.term + q.term) + (r.term + s.term);
        let count = (p.weight + q.weight) + (r.weight + s.weight);
        (*total, *weight) = if BEGIN { (term, count) } else { (*total + term, *weight + count) };
        broken += u64::from(p.broken | q.broken | r.broken | s.broken);
    }
    broken != 0
}

/// The part of one value.
struct Taken {
    reading: f64,
    term: f64,
    weight: f64,
    broken: bool,
}

impl Loaded<'_> {
    #[inline(always)]
    fn take(&self, x: f64) -> Taken {
        let missing = x.is_nan();
        let reading = round(x * COVERED);
        Taken {
            reading: if missing { state::MISSING } else { reading },
            term: if missing { 0.0 } else { self.weight * reading },
            weight: if missing { 0.0 } else { self.weight },
            broken: (x < self.min) | (x > self.max),
        }
    }
}

/// Computes a mean and its coverage over all rows of a block. `begun` is the weight of plain members that are in the
/// sums already. Every loop runs over rows, so that rows fill the vectors.
#[inline(always)]
pub(super) fn mean<const ROWS: usize>(
    mean: Mean,
    top: bool,
    begun: Option<f64>,
    members: &[Member<'_>],
    sums: &mut Sums<ROWS>,
    composite: &mut [f64],
    coverage: &mut [f64],
) {
    let linear = mean.is_linear();
    // Where all members are plain dimensions and no override is in force, the weight of the readings is the weight covered.
    let mut plain = linear;
    let mut applicable_sum = begun.unwrap_or(0.0);
    let mut always_applies = begun.is_some();
    let mut all = applicable_sum;
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
    let mut columns = Columns::new(sums, composite.len(), begun.is_none(), plain, linear);
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
    let complete = plain && columns.weight.iter().filter(|&&sum| sum != all).count() == 0;
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
    let as_given = mean.takes_weights_as_given();
    match (linear, as_given, top) {
        // Exact, and at most 1, even where a tolerance or an override lets weights sum to more. In a group it becomes a reading.
        (true, true, true) => map1(composite, total, |x| if x > UNITS { UNITS } else { x }),
        (true, true, false) => {
            map1(composite, total, |x| round(if x > UNITS { UNITS } else { x } / MILLION as f64));
        }
        // Terms of whole numbers: readings are in billionths already.
        (true, false, _) => map2(composite, total, weight, |x, sum| round(x / sum)),
        (false, ..) => map3(composite, total, weight, smallest, |x, sum, smallest| {
            round(mean.finish(x, sum, smallest / COVERED) * COVERED)
        }),
    }
    let unit = if top && !as_given { MILLION as f64 } else { 1.0 };
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
    fn new<const ROWS: usize>(
        sums: &'s mut Sums<ROWS>,
        rows: usize,
        begins: bool,
        plain: bool,
        linear: bool,
    ) -> Self {
        #[inline(always)]
        fn cut<const ROWS: usize>(column: &mut Rows<ROWS>, rows: usize, start: Option<f64>) -> &mut [f64] {
            let column = column.0.get_mut(..rows).unwrap_or_default();
            if let Some(start) = start {
                column.fill(start);
            }
            column
        }
        Self {
            total: cut(&mut sums.total, rows, begins.then_some(0.0)),
            weight: cut(&mut sums.weight, rows, begins.then_some(0.0)),
            covered: cut(&mut sums.covered, rows, if plain { None } else { Some(0.0) }),
            applicable: cut(&mut sums.applicable, rows, None),
            smallest: cut(&mut sums.smallest, rows, if linear { None } else { Some(f64::INFINITY) }),
            withheld: cut(&mut sums.withheld, rows, None),
            applies: cut(&mut sums.applies, rows, None),
            used: cut(&mut sums.used, rows, None),
        }
    }

    /// Marks the rows in which a member that must be there is not, or a group that is a member is withheld.
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
        if mean.is_linear() {
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
            *total += mean.term(weight, x / COVERED);
        }
        for ((smallest, &x), (weight, _)) in self.smallest.iter_mut().zip(reading).zip(weights) {
            *smallest = if weight > 0.0 && x < *smallest { x } else { *smallest };
        }
    }
}
