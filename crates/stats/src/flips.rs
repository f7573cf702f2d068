//! The paired permutation test: how likely a mean difference is if each task were as likely to differ the other way round.
//!
//! Fisher, "The design of experiments" (1935), 21, and Pitman (1937), with half of the weight of what is exactly as extreme, the
//! mid-p of Lancaster, "Significance tests in discrete distributions", JASA 56 (1961). Of one success or failure a task it is
//! McNemar's test in its mid-p form. A difference that rises raises no chance of its being below.
//!
//! Up to 20 tasks all signs are looked at. Of more, a task is turned or not by the parity of the bits that a number for a turn
//! has in common with a number of the task, from a hash of its name: a million turns that form a group, so that the test keeps
//! its level (Hemerik and Goeman, "Exact testing with random permutations", TEST 27, 2018). Where none of them lies further out
//! than what was found, the chance is smaller than a million turns can show, and a bound over all signs takes their place: else
//! many pairs that are judged together could not be separated by any evidence. Other tasks, their order and the number of
//! subjects play no part.
//!
//! A mean difference of `shift` is tested by what is left of the differences, and the interval of the mean holds all
//! shifts that the test does not reject (Hartigan, "Using subsample values as typical values", JASA 64, 1969): so the interval
//! and the verdict cannot differ.

use alloc::vec::Vec;

use karat_core::number::BILLION;

/// The number of tasks in each half of which all signs are looked at.
const EXACT: usize = 10;
/// The multiple of a billionth in which a mean of up to 16 attempts is a whole number.
pub(super) const PARTS: i64 = 720_720;
/// The most tasks whose differences are added up in such parts without leaving 64 bits.
const MOST_IN_PARTS: usize = 4_000;

/// The difference at a task: a number that belongs to the task, and the difference in billionths times [`PARTS`].
pub(super) type TaskDifference = (u64, i128);

/// The sums of the differences of the tasks that are turned, and their numbers, for each turn of a half of the tasks.
type Half = Vec<(i64, i64)>;

/// The turns of differences at tasks.
#[derive(Debug, Clone)]
pub(super) struct Flips {
    halves: [Half; 2],
    /// The number of parts in a billionth.
    parts: i64,
    /// The differences in rising order; empty where all signs are looked at.
    differences: Vec<i64>,
}

impl Flips {
    pub(super) fn new(differences: &[TaskDifference]) -> Self {
        let count = differences.len();
        let parts = if count <= MOST_IN_PARTS { PARTS } else { 1 };
        let value = |difference: i128| {
            let rounded = if parts == 1 {
                karat_core::number::round_ratio(difference, PARTS.into())
            } else {
                difference
            };
            i64::try_from(rounded).unwrap_or_default()
        };
        let mut turned = [alloc::vec![(0, 0); 1 << EXACT], alloc::vec![(0, 0); 1 << EXACT]];
        let bits = |half: usize| if count <= 2 * EXACT { (count + 1 - half) / 2 } else { EXACT };
        for (at, &(key, difference)) in differences.iter().enumerate() {
            let (half, turns) = if count <= 2 * EXACT {
                (usize::from(at >= bits(0)), 1 << (at % bits(0).max(1)))
            } else {
                (usize::from(key >> 63 == 1), 1 + ((key >> 8) % ((1 << EXACT) - 1)) as usize)
            };
            if let Some(slot) = turned.get_mut(half).and_then(|half| half.get_mut(turns)) {
                slot.0 += value(difference);
                slot.1 += 1;
            }
        }
        let mut values = Vec::new();
        if count > 2 * EXACT {
            values.extend(differences.iter().map(|it| value(it.1)));
            values.sort_unstable();
        }
        let [mut first, mut second] = turned;
        for (half, list) in [&mut first, &mut second].into_iter().enumerate() {
            list.truncate(1 << bits(half));
            turn(list);
        }
        Self { halves: [first, second], parts, differences: values }
    }

    /// Returns the chance of a mean at least as far above `shift`, in billionths, as the one that was found, if the differences
    /// spread evenly around it. It rises with the shift. How far one below `least`, from either end, lies below it is not said.
    pub(super) fn chance(&self, shift: i64, least: f64) -> f64 {
        self.chance_in(shift, least, &mut Default::default())
    }

    /// Returns the lowest and the highest mean, in billionths, of which neither is rejected with a chance of `tail` on its side.
    pub(super) fn ends(&self, tail: f64) -> (i64, i64) {
        let low = self.first(tail, |chance| chance > tail);
        (low, self.first(tail, |chance| 1.0 - chance <= tail) - 1)
    }

    /// Returns the lowest shift at which the chance `is_reached`; one more than the highest that can be if none is.
    fn first(&self, tail: f64, is_reached: impl Fn(f64) -> bool) -> i64 {
        let mut rests = Default::default();
        let (mut low, mut high) = (-BILLION, BILLION + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_reached(self.chance_in(middle, tail, &mut rests)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// Returns [`Self::chance`], using memory that is there.
    fn chance_in(&self, shift: i64, least: f64, rests: &mut [Vec<i64>; 2]) -> f64 {
        for (rests, half) in rests.iter_mut().zip(&self.halves) {
            rests.clear();
            rests.extend(half.iter().map(|&(sum, count)| sum - count * shift * self.parts));
            rests.sort_unstable();
        }
        let [first, second] = rests;
        let (mut below, mut equal) = (0, 0);
        let (mut under, mut up_to) = (second.len(), second.len());
        for own in first.iter() {
            let is_in = |at: usize, most: i64| at > 0 && second.get(at - 1).is_some_and(|it| *it > most);
            while is_in(up_to, -own) {
                up_to -= 1;
            }
            while under > up_to || is_in(under, -own - 1) {
                under -= 1;
            }
            below += under;
            equal += up_to - under;
        }
        let all = first.len() * second.len();
        let chance = (below as f64 + equal as f64 / 2.0) / all as f64;
        if below == 0 && chance > least {
            chance.min(self.most(shift, 1.0))
        } else if below + equal == all && 1.0 - chance > least {
            chance.max(1.0 - self.most(shift, -1.0))
        } else {
            chance
        }
    }

    /// Returns what the chance over all signs cannot exceed, of a mean as far above `shift`, or below it with a `sign` of -1:
    /// Chernoff, "A measure of asymptotic efficiency for tests of a hypothesis", Annals of Mathematical Statistics 23 (1952). The
    /// product over all differences of `(1 + exp(-2 s d)) / 2` falls with each of them, at every `s` and so at the best one.
    fn most(&self, shift: i64, sign: f64) -> f64 {
        let rests = || self.differences.iter().map(|it| sign * (it - shift * self.parts) as f64);
        let largest = rests().fold(1.0, |most, it| f64::max(most, it.abs()));
        let falls =
            |s: f64| rests().map(|it| it / (1.0 + libm::exp(2.0 * s / largest * it))).sum::<f64>() > 0.0;
        let (mut low, mut high) = (-12.0, 40.0);
        for _ in 0..32 {
            let middle = f64::midpoint(low, high);
            if falls(libm::exp2(middle)) { low = middle } else { high = middle }
        }
        let s = libm::exp2(low) / largest;
        rests().map(|it| f64::midpoint(1.0, libm::exp(-2.0 * s * it))).product()
    }
}

/// Returns the sums over the tasks that each turn turns from those by the number of a task: the transform of Walsh and
/// Hadamard.
fn turn(list: &mut [(i64, i64)]) {
    let mut step = 1;
    while step < list.len() {
        for block in list.chunks_exact_mut(2 * step) {
            let (left, right) = block.split_at_mut(step);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = ((a.0 + b.0, a.1 + b.1), (a.0 - b.0, a.1 - b.1));
            }
        }
        step *= 2;
    }
    let (sum, count) = list.first().copied().unwrap_or_default();
    list.iter_mut().for_each(|it| *it = ((sum - it.0) / 2, (count - it.1) / 2));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compare::Pairs;
    use super::*;

    fn of(differences: &[i64]) -> Flips {
        let key = |task: usize| crate::table::key(&alloc::format!("task {task}"));
        let all: Vec<TaskDifference> = differences
            .iter()
            .enumerate()
            .map(|(task, it)| (key(task), i128::from(*it) * i128::from(PARTS)))
            .collect();
        Flips::new(&all)
    }

    /// Looks at every turn.
    fn by_hand(differences: &[i64], shift: i64) -> f64 {
        let turned = |turn: usize| -> i64 {
            differences
                .iter()
                .enumerate()
                .map(|(at, it)| if turn >> at & 1 == 1 { it - shift } else { 0 })
                .sum()
        };
        let count = |is_meant: fn(i64) -> bool| {
            (0..1 << differences.len()).filter(|turn| is_meant(turned(*turn))).count()
        };
        (count(|sum| sum < 0) as f64 + count(|sum| sum == 0) as f64 / 2.0) / (1 << differences.len()) as f64
    }

    #[test]
    fn the_strongest_evidence_and_none() {
        // Twenty tasks that are all ahead by 10 of 100: one turn of 2^20 is as extreme.
        let same = of(&[100_000_000; 20]);
        assert_eq!(same.chance(0, 0.0), 0.5 / f64::from(1u32 << 20));
        assert_eq!(same.ends(0.025), (100_000_000, 100_000_000));
        assert_eq!((of(&[0; 30]).chance(0, 0.0), of(&[0; 30]).ends(0.025)), (0.5, (0, 0)));
        // Four tasks cannot reach a level of 5 %: the mean may be anything.
        assert_eq!(of(&[1, 2, 3, 4]).ends(0.025), (-BILLION, BILLION));
    }

    #[test]
    fn of_more_tasks_than_all_are_looked_at_of_the_chance_is_near() {
        for (ahead, behind, even) in [(12, 4, 30), (30, 18, 100), (60, 40, 900), (9, 0, 2000)] {
            let pairs = Pairs { only_first: ahead, only_second: behind, ..Pairs::default() };
            let differences: Vec<i64> = [(ahead, BILLION), (behind, -BILLION), (even, 0)]
                .into_iter()
                .flat_map(|(count, value)| core::iter::repeat_n(value, count as usize))
                .collect();
            let (found, exact) = (2.0 * of(&differences).chance(0, 0.0), pairs.mid_p());
            assert!((found / exact - 1.0).abs() < 0.25, "{ahead} {behind} {even}: {found} {exact}");
        }
    }

    /// A million turns show no chance below 2^-21, and 20,000 pairs at 99 % ask for less.
    #[test]
    fn chances_that_are_too_small_for_the_turns_are_bounded_by_all_signs() {
        let found = of(&[BILLION; 40]);
        assert_eq!(found.chance(0, 0.0), libm::ldexp(1.0, -40));
        assert_eq!(1.0 - found.chance(BILLION + 1, 0.0), libm::ldexp(1.0, -40));
        let tail = libm::ldexp(1.0, -30);
        assert_eq!(found.ends(tail), (BILLION, BILLION));
        for behind in 0..8 {
            let pairs = Pairs { only_first: 60 - behind, only_second: behind, ..Pairs::default() };
            let differences: Vec<i64> =
                (0..60).map(|task| if task < behind { -BILLION } else { BILLION }).collect();
            let (found, exact) = (2.0 * of(&differences).chance(0, 0.0), pairs.exact_p());
            assert!(exact <= found * (1.0 + 1e-9) && found < 8.0 * exact, "{behind}: {found} {exact}");
        }
    }

    /// Of few tasks mostly, for which all is fast, and of more than 20.
    fn some(difference: impl Strategy<Value = i64> + Clone) -> impl Strategy<Value = Vec<i64>> {
        let of = |sizes| prop::collection::vec(difference.clone(), sizes);
        prop_oneof![4 => of(1..13), 1 => of(13..60)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

        #[test]
        fn every_turn_is_counted_up_to_twenty_tasks(
            differences in prop::collection::vec(prop_oneof![Just(0), Just(5), -9i64..9], 1..11),
            shift in -9i64..9,
        ) {
            prop_assert_eq!(of(&differences).chance(shift, 0.0), by_hand(&differences, shift));
        }

        /// At every number of tasks: a better result makes it less likely that there is nothing, the two sides mirror each
        /// other, and a shift lies outside of the interval exactly if it is rejected.
        #[test]
        fn a_better_result_is_no_weaker_evidence_and_interval_and_test_agree(
            differences in some(prop_oneof![Just(0), Just(250_000_000), -BILLION..=BILLION]),
            rise in 0..=BILLION,
            at in any::<prop::sample::Index>(),
            shift in prop_oneof![Just(0), -300_000_000i64..300_000_000],
            tail in prop::sample::select(alloc::vec![0.025, 0.05, 0.2, 0.001]),
        ) {
            let before = of(&differences);
            let mirrored = of(&differences.iter().map(|it| -it).collect::<Vec<_>>());
            prop_assert!((before.chance(shift, 0.0) + mirrored.chance(-shift, 0.0) - 1.0).abs() < 1e-12);
            let (low, high) = before.ends(tail);
            prop_assert_eq!(mirrored.ends(tail), (-high, -low));
            prop_assert_eq!(shift < low, before.chance(shift, 0.0) <= tail);
            prop_assert_eq!(shift > high, 1.0 - before.chance(shift, 0.0) <= tail);
            let mut more = differences;
            let it = at.get(&more).checked_add(rise).unwrap().min(BILLION);
            let place = at.index(more.len());
            more[place] = it;
            let after = of(&more);
            prop_assert!(after.chance(shift, 0.0) <= before.chance(shift, 0.0) * (1.0 + 1e-12));
            let ends = after.ends(tail);
            prop_assert!(ends.0 >= low && ends.1 >= high);
        }
    }
}
