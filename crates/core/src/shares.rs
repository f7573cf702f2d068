//! Contributions: the composite shared out among the dimensions, to the last unit.

use alloc::vec::Vec;

use crate::number::{BILLION, Decimal, MILLION, Score, apportion, round_ratio};
use crate::record::DimensionRecord;
use crate::scorer::Scorer;
use crate::weights::members_of;

/// Writes contribution and effective weight into each dimension; gives the weighted arithmetic mean (or sum) that the
/// contributions add up to, if there is a score.
pub(crate) fn share_out(
    scorer: &Scorer,
    profile: usize,
    scored: bool,
    dimensions: &mut [DimensionRecord<'_>],
    group_reading: &dyn Fn(usize) -> f64,
) -> Option<Score> {
    if !scored {
        return None;
    }
    let sharing = Sharing { scorer, profile, group_reading };
    let members = sharing.members(None, dimensions);
    let weight: i128 = members.iter().map(|member| i128::from(member.weight)).sum();
    let parts: Vec<i128> = members.iter().map(Member::part).collect();
    let sum: i128 = parts.iter().sum();
    if scorer.card.mean.takes_weights_as_given() {
        for (member, &part) in members.iter().zip(&parts) {
            sharing.give(member, part as i64, member.weight * 1000, 1, dimensions);
        }
        return Some(Score::from_units(sum as i64));
    }
    let total = round_ratio(sum, weight.max(1)) as i64;
    let shares = apportion(total, &parts, weight);
    let weights = effective(BILLION, &members);
    for ((member, share), weight) in members.iter().zip(shares).zip(weights) {
        sharing.give(member, share * MILLION, weight, MILLION, dimensions);
    }
    Some(Score::from_billionths(total))
}

struct Sharing<'s> {
    scorer: &'s Scorer,
    profile: usize,
    group_reading: &'s dyn Fn(usize) -> f64,
}

/// A member of a mean that has a reading.
struct Member {
    /// Its place: dimensions first, then groups.
    at: usize,
    /// Millionths.
    weight: i64,
    /// Billionths.
    reading: i64,
}

impl Member {
    fn part(&self) -> i128 {
        i128::from(self.weight) * i128::from(self.reading)
    }
}

/// Shares `total` billionths of weight out by the weights of the members.
fn effective(total: i64, members: &[Member]) -> Vec<i64> {
    let sum: i128 = members.iter().map(|member| i128::from(member.weight)).sum();
    let parts: Vec<i128> =
        members.iter().map(|member| i128::from(member.weight) * i128::from(total)).collect();
    apportion(total, &parts, sum)
}

impl Sharing<'_> {
    fn members(&self, node: Option<usize>, dimensions: &[DimensionRecord<'_>]) -> Vec<Member> {
        let count = dimensions.len();
        members_of(&self.scorer.card, node)
            .filter_map(|at| {
                let reading = match dimensions.get(at) {
                    Some(dimension) => dimension.reading,
                    None => Some((self.group_reading)(at - count)).filter(|k| !k.is_nan()).map(|k| k as i64),
                };
                let weight = self.scorer.weighting.weight(at, self.profile).millionths();
                reading.map(|reading| Member { at, weight, reading })
            })
            .collect()
    }

    /// Gives a member its share of the composite, on a grid of `unit`, and of the weight; a group shares it out in turn.
    fn give(
        &self,
        member: &Member,
        share: i64,
        weight: i64,
        unit: i64,
        dimensions: &mut [DimensionRecord<'_>],
    ) {
        let count = dimensions.len();
        if let Some(dimension) = dimensions.get_mut(member.at) {
            dimension.contribution = Score::from_units(share);
            dimension.effective_weight = weight;
            return;
        }
        let members = self.members(Some(member.at - count), dimensions);
        let units = share / unit;
        // In units of their common divisor the weights have at most 23 bits, readings 30, `units` 50: far below 2^127.
        let divisor = i128::from(crate::number::common_unit(
            members.iter().map(|member| Decimal::from_millionths(member.weight)),
        ));
        let parts: Vec<i128> = members.iter().map(|member| member.part() / divisor).collect();
        let sum: i128 = parts.iter().sum();
        let parts: Vec<i128> = parts.iter().map(|part| part * i128::from(units)).collect();
        let shares = apportion(units, &parts, sum);
        for ((member, share), weight) in members.iter().zip(shares).zip(effective(weight, &members)) {
            self.give(member, share * unit, weight, unit, dimensions);
        }
    }
}
