//! Repeated trials of a task: the chance that one of k passes, that all k pass, and the best of k.
//!
//! The estimators are exact: what drawing k of the n trials without replacement gives on average, which is unbiased for k
//! fresh trials. They multiply ratios, so nothing overflows for any n, and take as many steps as the smaller of k and the
//! number of trials that matter.

use super::StatisticsError;

/// Trials of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trials {
    /// Number of trials that passed.
    pub passed: u64,
    /// Number of all trials, `passed` included.
    pub trials: u64,
}

impl Trials {
    /// Returns pass@k: the chance that at least one of `k` trials passes, `1 - C(n - c, k) / C(n, k)`. Chen et al.,
    /// "Evaluating large language models trained on code" (2021), equation 1.
    ///
    /// None if there are fewer than `k` trials, `k` is 0, or more passed than tried. pass@1 is the share that passed.
    pub fn pass_at_k(self, k: u64) -> Option<f64> {
        self.is_enough_for(k).then(|| chance_of_some(self.passed, self.trials, k))
    }

    /// Returns pass^k: the chance that all of `k` trials pass, `C(c, k) / C(n, k)`. Yao et al., "tau-bench" (2024),
    /// equation of section 4.
    ///
    /// None if there are fewer than `k` trials, `k` is 0, or more passed than tried.
    pub fn pass_hat_k(self, k: u64) -> Option<f64> {
        self.is_enough_for(k).then(|| chance_of_none(self.trials - self.passed, self.trials, k))
    }

    fn is_enough_for(self, k: u64) -> bool {
        k > 0 && k <= self.trials && self.passed <= self.trials
    }
}

/// Returns the chance that none of `k` drawn from `all` is among `marked`: `C(all - marked, k) / C(all, k)`.
fn chance_of_none(marked: u64, all: u64, k: u64) -> f64 {
    if marked > all - k {
        return 0.0;
    }
    // The ratio is the same with `marked` and `k` changed about: the shorter product.
    let (steps, other) = (marked.min(k), marked.max(k) as f64);
    let mut chance = 1.0;
    for taken in 0..steps {
        let left = (all - taken) as f64;
        chance *= (left - other) / left;
        if chance <= 0.0 {
            break;
        }
    }
    chance
}

/// Returns one minus [`chance_of_none`], added up so that a small chance keeps its digits.
fn chance_of_some(marked: u64, all: u64, k: u64) -> f64 {
    if marked > all - k {
        return 1.0;
    }
    let (steps, other) = (marked.min(k), marked.max(k) as f64);
    let mut chance = 0.0;
    for taken in 0..steps {
        chance += (1.0 - chance) * (other / (all - taken) as f64);
        if chance >= 1.0 {
            return 1.0;
        }
    }
    chance
}

/// Returns the highest of `k` trials, on average: `sum C(i - 1, k - 1) / C(n, k) x_(i)` over the values in rising order, the
/// mean of the highest order statistic. Dodge et al., "Show your work" (EMNLP 2019), section 3, has the same for draws
/// with replacement.
///
/// `values` in any order. None if there are fewer than `k`, `k` is 0, or one is not a number.
pub fn expected_best_of_k(values: &[f64], k: usize) -> Option<f64> {
    let count = values.len();
    if k == 0 || k > count || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let mut ordered = values.to_vec();
    ordered.sort_unstable_by(|a, b| b.total_cmp(a));
    // The highest is the best of k with chance k / n; each next one is, if those before it were not drawn.
    let mut chance = k as f64 / count as f64;
    let mut best = 0.0;
    for (place, value) in ordered.iter().enumerate().take(count - k + 1) {
        best += chance * value;
        let below = (count - 1 - place) as f64;
        chance *= (below - (k - 1) as f64) / below.max(1.0);
    }
    Some(best)
}

/// The chance that is estimated for each task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// [`Trials::pass_at_k`].
    PassAtK,
    /// [`Trials::pass_hat_k`].
    PassHatK,
}

/// An estimate averaged over tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct OverTasks {
    /// Number of trials that were drawn.
    pub k: u64,
    /// The mean over the tasks that count, 0 to 1; `None` without such a task.
    pub mean: Option<f64>,
    /// Tasks with `k` trials or more: those that count.
    pub tasks: usize,
    /// Tasks with fewer trials. They are left out, because their chance cannot be estimated without bias.
    pub tasks_with_too_few_trials: usize,
    /// Trials of the tasks that count.
    pub trials: u64,
}

/// Returns pass@k or pass^k over many tasks, each with the same weight, as tau-bench reports them.
///
/// For an interval give the values of the tasks to [`super::estimate::interval`].
///
/// # Errors
/// If more passed than tried at a task, or `k` is 0.
pub fn over_tasks(tasks: &[Trials], k: u64, estimator: Estimator) -> Result<OverTasks, StatisticsError> {
    if k == 0 {
        return Err(StatisticsError::TooFew { what: "trials to draw", found: 0, needed: 1 });
    }
    let mut all = OverTasks { k, mean: None, tasks: 0, tasks_with_too_few_trials: 0, trials: 0 };
    let mut sum = 0.0;
    for (row, task) in tasks.iter().enumerate() {
        if task.passed > task.trials {
            let found = i64::try_from(task.passed).unwrap_or(i64::MAX);
            let expected = "no more than the number of trials";
            return Err(StatisticsError::Row { row, part: "number that passed", found, expected });
        }
        let chance = match estimator {
            Estimator::PassAtK => task.pass_at_k(k),
            Estimator::PassHatK => task.pass_hat_k(k),
        };
        match chance {
            Some(chance) => {
                sum += chance;
                all.tasks += 1;
                all.trials = all.trials.saturating_add(task.trials);
            }
            None => all.tasks_with_too_few_trials += 1,
        }
    }
    all.mean = (all.tasks > 0).then(|| sum / all.tasks as f64);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn millions_of_trials_neither_overflow_nor_lose_digits() {
        let half = Trials { passed: 500_000, trials: 1_000_000 };
        let near = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 1e-9;
        assert!(near(half.pass_hat_k(1), 0.5));
        assert!(near(half.pass_hat_k(2), 0.5 * 499_999.0 / 999_999.0));
        assert_eq!(half.pass_at_k(500_001), Some(1.0));
        assert_eq!(half.pass_hat_k(500_001), Some(0.0));
        let rare = Trials { passed: 1, trials: 1_000_000 };
        assert_eq!(rare.pass_at_k(1), Some(1e-6), "no digit is lost");
        assert!(near(rare.pass_at_k(1000), 1e-3));
        assert!(near(Trials { passed: u64::MAX - 1, trials: u64::MAX }.pass_hat_k(2), 1.0));
        assert_eq!(half.pass_at_k(250_000), Some(1.0));
    }

    #[test]
    fn no_trials_no_chance() {
        for (passed, trials, k) in [(0, 0, 1), (1, 1, 0), (2, 1, 1), (3, 3, 4)] {
            let task = Trials { passed, trials };
            assert_eq!((task.pass_at_k(k), task.pass_hat_k(k)), (None, None));
        }
        let nothing = over_tasks(&[], 1, Estimator::PassAtK).unwrap();
        assert_eq!((nothing.mean, nothing.tasks), (None, 0));
        let refused = over_tasks(&[Trials { passed: 2, trials: 1 }], 1, Estimator::PassAtK).unwrap_err();
        assert!(alloc::format!("{refused}").starts_with("row 0: the number that passed is 2"));
        assert!(over_tasks(&[], 0, Estimator::PassHatK).is_err());
        assert_eq!(expected_best_of_k(&[], 1), None);
        assert_eq!(expected_best_of_k(&[f64::NAN], 1), None);
    }
}
