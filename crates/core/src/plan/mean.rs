//! Means over weighted readings, row by row: in a plan, and of given readings for the bounds of one item.

use alloc::vec::Vec;

use super::{BLOCK, state};
use crate::number::{BILLION, MILLION, UNITS_PER_ONE, round};
use crate::scorecard::{Mean, Scorecard};
use crate::weights::{Weighting, members_of};

/// One, in billionths.
const COVERED: f64 = BILLION as f64;
/// One, in units of a score.
const UNITS: f64 = UNITS_PER_ONE as f64;

/// One member of a mean, in one row.
pub(super) struct Member {
    /// Its reading in billionths, or why it has no reading.
    pub reading: f64,
    /// Coverage of a group; a dimension is covered or not.
    pub coverage: Option<f64>,
    /// The reading that replaces a missing one, in billionths; NaN for none.
    pub fill: f64,
    /// Withhold the score when missing.
    pub withhold: bool,
    /// Weight in the composite and in the coverage.
    pub weights: (f64, f64),
}

/// Returns a mean and its coverage. A linear mean sums whole numbers, which is exact in any order.
#[inline(always)]
pub(super) fn mean_of_row(mean: Mean, top: bool, members: impl Iterator<Item = Member>) -> (f64, f64) {
    let (mut total, mut sum, mut smallest) = (0.0, 0.0, f64::INFINITY);
    let (mut covered, mut applicable) = (0.0, 0.0);
    let (mut applies, mut withheld) = (false, false);
    let linear = mean.is_linear();
    for member in members {
        let (mut x, (weight, cover)) = (member.reading, member.weights);
        if !x.is_nan() {
            covered += cover * member.coverage.unwrap_or(COVERED);
        } else if state::is(x, state::NOT_APPLICABLE) {
            continue;
        } else {
            withheld |= member.withhold | state::is(x, state::WITHHELD);
            covered += cover * member.coverage.unwrap_or(0.0);
            x = member.fill;
        }
        applies = true;
        applicable += cover;
        if x.is_nan() || weight == 0.0 {
            continue;
        }
        sum += weight;
        total += if linear { weight * x } else { mean.term(weight, x / COVERED) };
        smallest = if x < smallest { x } else { smallest };
    }
    let composite = composite(mean, top, (withheld, applies), (total, sum), smallest);
    (composite, if applicable == 0.0 { 0.0 } else { round(covered / applicable) })
}

/// Returns a mean of its sums, or why it has no value.
#[inline(always)]
fn composite(
    mean: Mean,
    top: bool,
    (withheld, applies): (bool, bool),
    (total, sum): (f64, f64),
    smallest: f64,
) -> f64 {
    let linear = mean.is_linear();
    let as_given = mean.takes_weights_as_given();
    if withheld {
        state::WITHHELD
    } else if sum == 0.0 {
        if applies { state::MISSING } else { state::NOT_APPLICABLE }
    } else {
        // At most 1, even where a tolerance or an override lets weights sum to more.
        let most = if total > UNITS { UNITS } else { total };
        match (linear, as_given, top) {
            // Exact: in a group it becomes a reading.
            (true, true, true) => most,
            (true, true, false) => round(most / MILLION as f64),
            // Terms of whole numbers: readings are in billionths already.
            (true, false, _) => round(total / sum) * unit(top),
            (false, ..) => round(mean.finish(total, sum, smallest / COVERED) * COVERED) * unit(top),
        }
    }
}

/// One member of a mean over a block.
pub(super) struct MemberColumn<'a> {
    /// As those of a [`Member`], a value for each row.
    pub reading: &'a [f64],
    pub coverage: Option<&'a [f64]>,
    pub fill: f64,
    pub withhold: bool,
    pub weights: (f64, f64),
}

/// The sums of a linear mean, for each row of a block.
struct Sums {
    total: [f64; BLOCK],
    sum: [f64; BLOCK],
    covered: [f64; BLOCK],
    applicable: [f64; BLOCK],
    /// The number of members that apply, and of those that withhold the score: as wide as a value.
    applies: [u64; BLOCK],
    withheld: [u64; BLOCK],
}

/// Computes linear means and their coverages, member by member instead of row by row: each row has the same operations in the same
/// order as in [`mean_of_row`], and nothing depends on which members are there, so that vectors can do it.
#[inline(always)]
pub(super) fn means_of_block<'a>(
    (mean, top): (Mean, bool),
    members: impl Iterator<Item = MemberColumn<'a>>,
    out: &mut [f64],
    coverages: &mut [f64],
) {
    const NONE: [f64; BLOCK] = [0.0; BLOCK];
    let (applies, withheld) = ([0; BLOCK], [0; BLOCK]);
    let mut sums = Sums { total: NONE, sum: NONE, covered: NONE, applicable: NONE, applies, withheld };
    for member in members {
        sums.add(&member);
    }
    let Sums { total, sum, covered, applicable, applies, withheld } = &sums;
    let marks = withheld.iter().zip(applies);
    for ((((out, &total), &sum), (&withheld, &applies)), (coverage, (&covered, &applicable))) in out
        .iter_mut()
        .zip(total)
        .zip(sum)
        .zip(marks)
        .zip(coverages.iter_mut().zip(covered.iter().zip(applicable)))
    {
        *out = composite(mean, top, (withheld != 0, applies != 0), (total, sum), f64::INFINITY);
        *coverage = if applicable == 0.0 { 0.0 } else { round(covered / applicable) };
    }
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, member: &MemberColumn<'_>) {
        let (weight, cover) = member.weights;
        let fill = if weight == 0.0 { f64::NAN } else { member.fill };
        for (&reading, (total, sum)) in member.reading.iter().zip(self.total.iter_mut().zip(&mut self.sum)) {
            let is_out = state::is(reading, state::NOT_APPLICABLE);
            let x = if reading.is_nan() { fill } else { reading };
            let counts = !(x.is_nan() | is_out);
            *total += if counts { weight * x } else { 0.0 };
            *sum += if counts { weight } else { 0.0 };
        }
        for (&reading, (applicable, applies)) in
            member.reading.iter().zip(self.applicable.iter_mut().zip(&mut self.applies))
        {
            let is_out = state::is(reading, state::NOT_APPLICABLE);
            *applicable += if is_out { 0.0 } else { cover };
            *applies += u64::from(!is_out);
        }
        match member.coverage {
            None => {
                let whole = cover * COVERED;
                for (&reading, covered) in member.reading.iter().zip(&mut self.covered) {
                    *covered += if reading.is_nan() { 0.0 } else { whole };
                }
            }
            Some(coverage) => {
                for ((&reading, &coverage), covered) in
                    member.reading.iter().zip(coverage).zip(&mut self.covered)
                {
                    let is_out = state::is(reading, state::NOT_APPLICABLE);
                    *covered += if is_out { 0.0 } else { cover * coverage };
                }
            }
        }
        let holds = u64::from(member.withhold);
        for (&reading, withheld) in member.reading.iter().zip(&mut self.withheld) {
            let is_missing = reading.is_nan() & !state::is(reading, state::NOT_APPLICABLE);
            *withheld += u64::from(is_missing) & (holds | u64::from(state::is(reading, state::WITHHELD)));
        }
    }
}

/// Returns the units of the top level, or billionths, in a billionth.
#[inline(always)]
fn unit(top: bool) -> f64 {
    if top { MILLION as f64 } else { 1.0 }
}

/// Returns the composite, in units of 1e-15, of the readings (in billionths) that `reading` gives, if there is one.
pub(crate) fn mean_of_points(
    card: &Scorecard,
    weighting: &Weighting,
    profile: usize,
    reading: &dyn Fn(usize) -> Option<f64>,
) -> Option<f64> {
    let dimensions = card.dimensions.len();
    let readings = (0..dimensions).map(|at| reading(at).unwrap_or(state::NOT_APPLICABLE));
    let mut values: Vec<f64> = readings.chain(card.groups.iter().map(|_| state::NOT_APPLICABLE)).collect();
    for at in (0..card.groups.len()).rev() {
        let (mean, _) = mean_of_node(card, weighting, profile, Some(at), &values);
        if let Some(slot) = values.get_mut(dimensions + at) {
            *slot = mean;
        }
    }
    Some(mean_of_node(card, weighting, profile, None, &values).0).filter(|mean| !mean.is_nan())
}

fn mean_of_node(
    card: &Scorecard,
    weighting: &Weighting,
    profile: usize,
    node: Option<usize>,
    values: &[f64],
) -> (f64, f64) {
    let mean = node.and_then(|at| card.groups.get(at)).map_or(card.mean, |group| group.mean);
    let members = members_of(card, node).map(|at| Member {
        reading: values.get(at).copied().unwrap_or(f64::NAN),
        coverage: None,
        fill: f64::NAN,
        withhold: false,
        weights: weighting.table.get(at).and_then(|row| row.get(profile)).copied().unwrap_or_default(),
    });
    mean_of_row(mean, node.is_none(), members)
}
