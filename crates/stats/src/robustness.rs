//! Robustness of ranks: other weights, a dimension left out, another mean.
//!
//! Nothing here asks whether the readings are sure ([`super::estimate`] does); the readings stay, and the rule moves. OECD
//! and JRC, "Handbook on constructing composite indicators" (2008), step 7.

use alloc::vec::Vec;

use super::composite::{Readings, Tree};
use super::random::Random;
use super::ranks::{OtherRanking, RankRange, RankTally, ranks};
use super::{StatisticsError, outside};
use karat_core::mean::Mean;

/// The largest number of ranks that is kept, and of readings that are weighed: more would take minutes.
const MOST_RANKS: u64 = 20_000_000;
const MOST_READINGS: u64 = 10_000_000_000;

/// The distribution of the random weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightDistribution {
    /// Around the nominal weights, on each level of the tree by itself. The shapes of the Dirichlet distribution are the
    /// weights times `n`, the product of the concentration and the number of members: a weight `w` has the mean `w` and the
    /// deviation `sqrt(w (1 - w) / (n + 1))`. With a concentration of 20 weights move by about a fifth of themselves,
    /// however many they are. A weight of 0 stays 0, and is not a member.
    Around {
        /// The concentration for each member, above 0 and finite.
        concentration: f64,
    },
    /// All weights that sum to 1 on their level alike, whatever the nominal ones are: Dirichlet with the shapes 1.
    Uniform,
}

/// The settings of the random weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightPlan {
    /// The distribution of the weights.
    pub distribution: WeightDistribution,
    /// Number of sets of random weights.
    pub draws: u32,
    /// The seed of the generator.
    pub seed: u64,
}

/// The robustness of a subject's rank.
#[derive(Debug, Clone, PartialEq)]
pub struct SubjectRobustness {
    /// The rank under the nominal weights.
    pub rank: RankRange,
    /// The share of sets of weights under which its best rank stays as in `rank`, 0 to 1.
    pub share_kept: f64,
    /// The share of sets of weights under which no other subject is above it, 0 to 1.
    pub share_first: f64,
    /// The ranks within which it lies under a share `level` of the sets of weights.
    pub rank_range: RankRange,
    /// Every best rank that it has, from the highest, and the share of sets of weights under which it has it.
    pub places: Vec<(u32, f64)>,
}

/// Two subjects that change ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swap {
    /// The subject that is ahead under the nominal weights.
    pub ahead: usize,
    /// The subject that is behind.
    pub behind: usize,
    /// The share of sets of weights under which the second is ahead, above 0.
    pub share: f64,
}

/// Ranks under random weights.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightRobustness {
    /// By subject; none for one that has no composite.
    pub subjects: Vec<Option<SubjectRobustness>>,
    /// Pairs that change ranks under some weights, the most frequent first; among the first [`MOST_PAIRED`] subjects.
    pub swaps: Vec<Swap>,
    /// The share of sets of weights under which the same subjects are first.
    pub share_first_kept: f64,
    /// The confidence of the rank ranges.
    pub level: f64,
    /// The settings of the random weights.
    pub plan: WeightPlan,
}

/// The number of subjects, the first by the nominal weights, whose pairs are watched: pairs grow with the square.
pub const MOST_PAIRED: usize = 200;

/// Draws weights and ranks the subjects under each.
///
/// The share of a swap is the chance, under this distribution of weights, that someone who prefers other weights would order
/// the two the other way round; it is not the probability that the nominal order is wrong.
///
/// # Errors
/// If the weights do not fit the readings, if no sets of weights are asked for or too many, or if `level` or the
/// concentration is out of range.
pub fn under_drawn_weights(
    readings: &Readings,
    tree: &Tree,
    plan: WeightPlan,
    level: f64,
) -> Result<WeightRobustness, StatisticsError> {
    let tail = outside(level)? / 2.0;
    let nominal = tree.shares(readings)?;
    if plan.draws == 0 {
        return Err(StatisticsError::Draws { found: 0, needed: 1 });
    }
    let subjects = readings.subjects() as u64;
    let cells = subjects.saturating_mul(readings.dimensions() as u64);
    for (what, each, most) in [
        ("subjects times sets of weights", subjects, MOST_RANKS),
        ("readings times sets of weights", cells, MOST_READINGS),
    ] {
        let found = u64::from(plan.draws).saturating_mul(each);
        if found > most {
            return Err(StatisticsError::TooMany { what, found, most });
        }
    }
    if let WeightDistribution::Around { concentration: found } = plan.distribution
        && !(found > 0.0 && found.is_finite())
    {
        return Err(StatisticsError::Concentration { found });
    }
    let levels: Vec<Level> =
        tree.levels().into_iter().map(|members| Level::new(members, &nominal, plan.distribution)).collect();
    let composites = readings.composites(tree, &nominal);
    let ranked = ranks(&composites);
    let mut pairs = Pairs::new(&composites, &ranked);
    let mut tallies = alloc::vec![RankTally::default(); readings.subjects()];
    let mut first_kept = 0u32;
    let mut random = Random::new(plan.seed);
    let mut drawn = alloc::vec![0.0; nominal.len()];
    for _ in 0..plan.draws {
        levels.iter().for_each(|level| level.draw(&mut random, &mut drawn));
        let composites = readings.composites(tree, &drawn);
        let other = OtherRanking::new(&ranked, ranks(&composites));
        first_kept += u32::from(!other.first_differs);
        pairs.watch(&composites);
        for (tally, rank) in tallies.iter_mut().zip(other.ranks) {
            if let Some(rank) = rank {
                tally.add(rank);
            }
        }
    }
    let draws = f64::from(plan.draws);
    let subjects = ranked.into_iter().zip(tallies).map(|(rank, tally)| {
        let rank = rank?;
        Some(SubjectRobustness {
            rank,
            share_kept: f64::from(tally.count(rank.best)) / draws,
            share_first: f64::from(tally.count(1)) / draws,
            places: tally
                .places()
                .into_iter()
                .map(|(place, count)| (place, f64::from(count) / draws))
                .collect(),
            rank_range: tally.range(tail)?,
        })
    });
    let subjects = subjects.collect();
    let share_first_kept = f64::from(first_kept) / draws;
    Ok(WeightRobustness { subjects, swaps: pairs.swaps(draws), share_first_kept, level, plan })
}

/// The members of a mean, whose weights are drawn together.
struct Level {
    members: Vec<usize>,
    shapes: Vec<f64>,
}

impl Level {
    fn new(members: Vec<usize>, nominal: &[f64], distribution: WeightDistribution) -> Self {
        let weight = |at: &usize| nominal.get(*at).copied().unwrap_or_default();
        let count = members.iter().filter(|at| weight(at) > 0.0).count() as f64;
        let shape = |at: &usize| match distribution {
            WeightDistribution::Uniform => 1.0,
            WeightDistribution::Around { concentration } => concentration * count * weight(at),
        };
        Self { shapes: members.iter().map(shape).collect(), members }
    }

    fn draw(&self, random: &mut Random, weights: &mut [f64]) {
        if self.shapes.iter().all(|shape| *shape == 0.0) {
            return;
        }
        let mut drawn = alloc::vec![0.0; self.shapes.len()];
        random.dirichlet(&self.shapes, &mut drawn);
        for (&at, drawn) in self.members.iter().zip(drawn) {
            if let Some(weight) = weights.get_mut(at) {
                *weight = drawn;
            }
        }
    }
}

/// Number of times that each pair of the first subjects changed ranks.
struct Pairs {
    /// The watched subjects, the first by the nominal weights first.
    order: Vec<usize>,
    /// Pairs that are apart under the nominal weights: their indices in `order`, and how often they changed.
    counts: Vec<(usize, usize, u32)>,
}

impl Pairs {
    fn new(composites: &[Option<i64>], ranked: &[Option<RankRange>]) -> Self {
        let mut order: Vec<usize> =
            (0..ranked.len()).filter(|&it| ranked.get(it).is_some_and(Option::is_some)).collect();
        order.sort_by_key(|&it| ranked.get(it));
        order.truncate(MOST_PAIRED);
        let value = |place: usize| order.get(place).and_then(|&it| composites.get(it));
        let later = |ahead: usize| (ahead + 1..order.len()).map(move |behind| (ahead, behind, 0));
        let mut counts: Vec<(usize, usize, u32)> = (0..order.len()).flat_map(later).collect();
        counts.retain(|&(ahead, behind, _)| value(ahead) > value(behind));
        Self { order, counts }
    }

    fn watch(&mut self, composites: &[Option<i64>]) {
        let drawn: Vec<Option<i64>> =
            self.order.iter().map(|&subject| composites.get(subject).copied().flatten()).collect();
        for (ahead, behind, count) in &mut self.counts {
            let (ahead, behind) =
                (drawn.get(*ahead).copied().flatten(), drawn.get(*behind).copied().flatten());
            *count += u32::from(ahead.zip(behind).is_some_and(|(ahead, behind)| behind > ahead));
        }
    }

    fn swaps(mut self, draws: f64) -> Vec<Swap> {
        self.counts.retain(|pair| pair.2 > 0);
        self.counts.sort_by_key(|&(ahead, behind, count)| (core::cmp::Reverse(count), ahead, behind));
        let named = |place: usize| self.order.get(place).copied();
        let swap = |&(ahead, behind, count): &(usize, usize, u32)| {
            Some(Swap { ahead: named(ahead)?, behind: named(behind)?, share: f64::from(count) / draws })
        };
        self.counts.iter().filter_map(swap).collect()
    }
}

/// Returns the ranks without each member of `tree` in turn, dimensions and groups; the other weights of its level count the
/// more.
///
/// # Errors
/// If the weights do not fit the readings.
pub fn without_each_member(readings: &Readings, tree: &Tree) -> Result<Vec<OtherRanking>, StatisticsError> {
    let nominal = tree.shares(readings)?;
    let ranked = ranks(&readings.composites(tree, &nominal));
    let levels = tree.levels();
    let without = |left_out: usize| {
        let mut kept = nominal.clone();
        kept.get_mut(left_out).into_iter().for_each(|weight| *weight = 0.0);
        let level = levels.iter().find(|members| members.contains(&left_out)).map_or(&[][..], Vec::as_slice);
        let sum: f64 = level.iter().filter_map(|&at| kept.get(at)).sum();
        // Only a weighted sum sees the difference: it would fall for all subjects, though not by the same.
        for &at in level.iter().filter(|_| sum > 0.0) {
            kept.get_mut(at).into_iter().for_each(|weight| *weight /= sum);
        }
        OtherRanking::new(&ranked, ranks(&readings.composites(tree, &kept)))
    };
    Ok((0..nominal.len()).map(without).collect())
}

/// Returns the ranks under each other mean on all levels, with the same weights.
///
/// # Errors
/// If the weights do not fit the readings.
pub fn under_other_means(
    readings: &Readings,
    tree: &Tree,
) -> Result<Vec<(Mean, OtherRanking)>, StatisticsError> {
    let nominal = tree.shares(readings)?;
    let ranked = ranks(&readings.composites(tree, &nominal));
    let others = Mean::ALL.into_iter().map(|mean| (mean, tree.with_mean(mean)));
    let others = others.filter(|(_, other)| other != tree);
    let ranking = |other| OtherRanking::new(&ranked, ranks(&readings.composites(&other, &nominal)));
    Ok(others.map(|(mean, other)| (mean, ranking(other))).collect())
}

#[cfg(test)]
mod tests {
    use karat_core::number::Decimal;

    use super::*;

    fn readings(rows: &[&[i64]]) -> Readings {
        let rows: Vec<Vec<Option<i64>>> =
            rows.iter().map(|row| row.iter().map(|&percent| Some(percent * 10_000_000)).collect()).collect();
        Readings::new(&rows).unwrap()
    }

    fn tree(mean: Mean, percent: &[i64]) -> Tree {
        let weights: Vec<Decimal> =
            percent.iter().map(|&percent| Decimal::from_millionths(percent * 10_000)).collect();
        Tree::flat(mean, &weights)
    }

    const AROUND: WeightPlan =
        WeightPlan { distribution: WeightDistribution::Around { concentration: 25.0 }, draws: 400, seed: 3 };

    #[test]
    fn who_is_best_everywhere_stays_first() {
        let rows = readings(&[&[50, 60, 70], &[90, 91, 92], &[60, 59, 40]]);
        for distribution in [AROUND.distribution, WeightDistribution::Uniform] {
            let plan = WeightPlan { distribution, ..AROUND };
            let found =
                under_drawn_weights(&rows, &tree(Mean::WeightedMean, &[50, 30, 20]), plan, 0.95).unwrap();
            assert_eq!(found.subjects[1].as_ref().unwrap().share_kept, 1.0);
            assert_eq!(found.subjects[1].as_ref().unwrap().places, [(1, 1.0)]);
            assert_eq!((found.share_first_kept, found.plan), (1.0, plan));
            assert!(found.swaps.iter().all(|swap| swap.ahead != 1 && swap.share > 0.0));
        }
    }

    #[test]
    fn close_ranks_swap_more_the_wider_the_weights() {
        let rows = readings(&[&[80, 40], &[45, 74]]);
        let share = |concentration| {
            let plan = WeightPlan { distribution: WeightDistribution::Around { concentration }, ..AROUND };
            let found = under_drawn_weights(&rows, &tree(Mean::WeightedMean, &[50, 50]), plan, 0.9).unwrap();
            let kept = found.subjects[0].as_ref().unwrap().share_kept;
            assert!((kept + found.swaps[0].share - 1.0).abs() < 1e-12, "two subjects, no tie");
            assert_eq!(found.subjects[1].as_ref().unwrap().rank_range, RankRange { best: 1, worst: 2 });
            found.swaps[0].share
        };
        // They change where the first weight is below 34/69: just below its mean.
        assert!(share(2.5) > 0.4 && share(50.0) > 0.35 && share(50.0) < 0.5);
    }

    #[test]
    fn ties_and_missing_readings() {
        let rows =
            Readings::new(&[[Some(5), Some(5)], [Some(5), Some(5)], [None, None], [Some(4), None]]).unwrap();
        let found = under_drawn_weights(&rows, &tree(Mean::WeightedMean, &[50, 50]), AROUND, 0.95).unwrap();
        assert_eq!(found.subjects[0], found.subjects[1]);
        assert_eq!(found.subjects[0].as_ref().unwrap().rank_range, RankRange { best: 1, worst: 2 });
        assert!(found.subjects[2].is_none() && found.swaps.is_empty());
        assert_eq!(found.subjects[3].as_ref().unwrap().share_kept, 1.0);
    }

    #[test]
    fn other_rules_say_what_moves() {
        let rows = readings(&[&[100, 1], &[50, 48]]);
        let half = [50, 50];
        let means = under_other_means(&rows, &tree(Mean::WeightedMean, &half)).unwrap();
        let moved: Vec<(Mean, bool)> =
            means.iter().map(|(mean, other)| (*mean, other.first_differs)).collect();
        let expected = [
            (Mean::WeightedSum, false),
            (Mean::Geometric, true),
            (Mean::Harmonic, true),
            (Mean::Minimum, true),
        ];
        assert_eq!(moved, expected);
        let without = without_each_member(&rows, &tree(Mean::WeightedSum, &half)).unwrap();
        assert_eq!(without.iter().map(|other| other.first_differs).collect::<Vec<_>>(), [true, false]);
        // Without its only dimension a subject has no composite.
        let alone = without_each_member(&readings(&[&[1], &[2]]), &tree(Mean::WeightedMean, &[100])).unwrap();
        assert_eq!(alone[0].ranks, [None, None]);
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let rows = readings(&[&[1, 2]]);
        let half = [50, 50];
        let of = |percent: &[i64], plan, level| {
            under_drawn_weights(&rows, &tree(Mean::Geometric, percent), plan, level)
        };
        assert!(of(&half, AROUND, 0.95).is_ok());
        assert!(of(&half, WeightPlan { draws: 0, ..AROUND }, 0.95).is_err());
        assert!(of(&half, AROUND, 1.5).is_err());
        assert!(of(&[100], AROUND, 0.95).is_err());
        for concentration in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let plan = WeightPlan { distribution: WeightDistribution::Around { concentration }, ..AROUND };
            assert!(matches!(of(&half, plan, 0.95), Err(StatisticsError::Concentration { .. })));
        }
        assert!(of(&half, WeightPlan { draws: u32::MAX, ..AROUND }, 0.95).is_err());
    }

    #[test]
    fn pairs_are_watched_among_the_first() {
        let many: Vec<[Option<i64>; 2]> = (0..300).map(|it| [Some(1000 - it), Some(it)]).collect();
        let rows = Readings::new(&many).unwrap();
        let plan = WeightPlan { draws: 20, distribution: WeightDistribution::Uniform, seed: 1 };
        let found = under_drawn_weights(&rows, &tree(Mean::WeightedMean, &[60, 40]), plan, 0.5).unwrap();
        assert!(found.swaps.iter().all(|swap| swap.ahead < swap.behind && swap.behind < MOST_PAIRED));
        assert!(found.swaps.is_sorted_by(|a, b| a.share >= b.share) && !found.swaps.is_empty());
    }
}
