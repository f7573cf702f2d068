//! The mean over tasks of the means over their trials, as one exact fraction.

use alloc::vec::Vec;

use karat_core::number::round_ratio;

/// The sums of tasks, by their number of trials: a task with the sum `s` of `n` trials adds `s / n`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fractions {
    /// The denominators in rising order, with the sums of all numerators.
    sums: Vec<(u32, i128)>,
    tasks: i128,
}

impl Fractions {
    /// Adds a task.
    pub(crate) fn add(&mut self, sum: i128, trials: u32) {
        self.add_part(sum, trials);
        self.tasks += 1;
    }

    /// Adds a task at which two subjects are compared.
    pub(crate) fn add_difference(&mut self, (sum, trials): (i128, u32), (other, others): (i128, u32)) {
        self.add_part(sum, trials);
        self.add(-other, others);
    }

    fn add_part(&mut self, sum: i128, trials: u32) {
        match self.sums.binary_search_by_key(&trials, |it| it.0) {
            Ok(place) => {
                if let Some(known) = self.sums.get_mut(place) {
                    known.1 += sum;
                }
            }
            Err(place) => self.sums.insert(place, (trials, sum)),
        }
    }

    /// Returns the mean over the tasks, rounded once, ties to even; none without tasks.
    ///
    /// It is exact where the numbers of trials have a common multiple below 2^70, as all up to 50 do together. Beyond, each
    /// sum is cut to 2^-40 of its unit before they are added.
    pub(crate) fn mean(&self) -> Option<i64> {
        if self.tasks == 0 {
            return None;
        }
        let common = self.sums.iter().try_fold(1i128, |common, (trials, _)| {
            let trials = i128::from(*trials);
            common.checked_mul(trials / divisor(common, trials)).filter(|common| *common < 1 << 70)
        });
        let (sum, unit) = match common {
            Some(common) => {
                (self.sums.iter().map(|(trials, sum)| sum * (common / i128::from(*trials))).sum(), common)
            }
            None => (
                self.sums.iter().map(|(trials, sum)| (sum << 40).div_euclid(i128::from(*trials))).sum(),
                1 << 40,
            ),
        };
        let sum: i128 = sum;
        i64::try_from(round_ratio(sum, unit * self.tasks)).ok()
    }
}

/// Returns the greatest common divisor.
fn divisor(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BILLION: i128 = 1_000_000_000;

    fn mean(tasks: &[&[i128]]) -> Option<i64> {
        let mut found = Fractions::default();
        for trials in tasks {
            found.add(trials.iter().sum(), trials.len() as u32);
        }
        found.mean()
    }

    #[test]
    fn equal_means_of_unlike_tasks_are_equal() {
        let [whole, fifth] = [BILLION, BILLION / 5];
        let thirds = mean(&[&[whole, fifth, fifth], &[whole]]);
        let single = mean(&[&[fifth], &[whole], &[whole], &[whole], &[fifth], &[whole]]);
        assert_eq!((thirds, single), (Some(733_333_333), Some(733_333_333)));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn many_numbers_of_trials_are_added_all_the_same() {
        let mut found = Fractions::default();
        // Each task has the mean 1/2; the numbers of trials have no common multiple below 2^70.
        for trials in 1..400u32 {
            found.add(i128::from(trials) * BILLION / 2, trials);
        }
        assert_eq!(found.mean(), Some(500_000_000));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn trials_that_are_repeated_and_tasks_in_another_order_change_nothing(
            tasks in prop::collection::vec(prop::collection::vec(0i128..=BILLION, 1..9), 1..12),
            times in 1usize..5,
        ) {
            let whole: Vec<&[i128]> = tasks.iter().map(Vec::as_slice).collect();
            let expected = mean(&whole);
            let repeated: Vec<Vec<i128>> = tasks.iter().rev().map(|task| task.repeat(times)).collect();
            prop_assert_eq!(mean(&repeated.iter().map(Vec::as_slice).collect::<Vec<_>>()), expected);
            // Every task twice has the same mean, too.
            let twice: Vec<&[i128]> = whole.iter().chain(&whole).copied().collect();
            prop_assert_eq!(mean(&twice), expected);
        }

        #[test]
        fn a_difference_is_that_of_the_means_where_tasks_are_shared(
            pairs in prop::collection::vec((0i128..=BILLION, 1u32..7, 0i128..=BILLION, 1u32..7), 1..20),
        ) {
            let (mut a, mut b, mut difference) = (Fractions::default(), Fractions::default(), Fractions::default());
            for (x, n, y, m) in pairs {
                let (x, y) = ((x * i128::from(n), n), (y * i128::from(m), m));
                a.add(x.0, x.1);
                b.add(y.0, y.1);
                difference.add_difference(x, y);
            }
            let apart = a.mean().unwrap() - b.mean().unwrap() - difference.mean().unwrap();
            prop_assert!(apart.abs() <= 1, "{}", apart);
        }
    }
}
