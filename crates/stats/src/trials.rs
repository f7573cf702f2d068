//! Repeated trials of a task: the chance that one of k passes, that all k pass, and the best of k.
//!
//! The estimators are exact: what drawing k of the n trials without replacement gives on average, which is unbiased for k
//! fresh trials. They multiply ratios, so nothing overflows for any n, and take as many steps as the smaller of k and the
//! number of trials that matter.

use alloc::vec::Vec;

use karat_core::number::BILLION;

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

karat_core::words! {
    /// The result at which a subject stops trying a task, as far as its attempts show it.
    pub enum StopsAt {
        /// Good results: the mean over its attempts is too high.
        Success = "success",
        /// Bad results: the mean over its attempts is too low.
        Failure = "failure",
    }
}

/// The attempts of a subject at a task in their order, in billionths; none for one that does not count.
pub type Results = Vec<Option<i64>>;

/// The chance, of each direction, at which the results after which a subject stopped are taken for more than an accident.
const SHOWN: f64 = 0.0005;
/// The chance, with each result as the mean of its task, above which the order of attempts need not be looked at.
const FAR: f64 = 0.3;
/// The chance above which the last results of tasks are like those before them.
const LIKE_OTHERS: f64 = 0.05;

impl StopsAt {
    /// Returns the result at which a subject stops, if its attempts at all of its tasks show that their number depends on
    /// their results: less than one in a thousand of subjects whose numbers do not is found to stop.
    ///
    /// Of the tasks that have a j-th attempt, some have no other after it. If numbers do not depend on results, their j-th results
    /// are drawn from those of all without replacement. Where the order of attempts is not known, each counts as the mean of its
    /// task. Numbers may also follow the difficulty of tasks, without harm: so where the order `is_known`, and the last
    /// results of the tasks could be better than those before them, they must be.
    pub fn new(tasks: &[Results], is_known: bool) -> Option<Self> {
        let leveled: Vec<Results>;
        let tasks = if is_known {
            tasks
        } else {
            leveled = tasks.iter().map(|task| level(task)).collect();
            &leveled
        };
        let places = places(tasks);
        let is_whole = |task: &&Results| task.len() > 1 && task.iter().all(Option::is_some);
        let last = |task: &Results| {
            let mut draws = Draws::default();
            task.iter().flatten().rev().enumerate().for_each(|(at, it)| draws.add((*it).into(), at == 0));
            draws
        };
        let is_like_others = |turned: &dyn Fn(Draws) -> Draws| {
            let own: Vec<Draws> = tasks.iter().filter(is_whole).map(|task| turned(last(task))).collect();
            let best = tasks.iter().filter(is_whole).zip(&own).map(|(task, own)| {
                let each = task.iter().flatten().map(|&value| turned(Draws::of(value)).drawn);
                Draws { drawn: each.max().unwrap_or_default(), ..*own }
            });
            is_known && chance(&best.collect::<Vec<_>>()) <= LIKE_OTHERS && chance(&own) > LIKE_OTHERS
        };
        let is_at = |turned: &dyn Fn(Draws) -> Draws| {
            let places: Vec<Draws> = places.iter().map(|place| turned(*place)).collect();
            chance(&places) <= SHOWN && !is_like_others(turned)
        };
        match (is_at(&|draws| draws), is_at(&Draws::turned)) {
            (true, _) => Some(Self::Success),
            (_, true) => Some(Self::Failure),
            _ => None,
        }
    }

    /// Returns false if a subject is far from stopping at a result, in whatever order its attempts are.
    pub fn is_possible(tasks: &[Results]) -> bool {
        let places = places(&tasks.iter().map(|task| level(task)).collect::<Vec<_>>());
        let turned: Vec<Draws> = places.iter().map(|place| place.turned()).collect();
        chance(&places) <= FAR || chance(&turned) <= FAR
    }
}

/// Returns all results and those after which there is no other, for each place in which some end and others do not.
fn places(tasks: &[Results]) -> Vec<Draws> {
    let most = tasks.iter().map(Vec::len).max().unwrap_or_default();
    let mut places = alloc::vec![Draws::default(); most.saturating_sub(1)];
    for task in tasks {
        for (place, (at, value)) in places.iter_mut().zip(task.iter().enumerate()) {
            if let Some(value) = value {
                place.add((*value).into(), at + 1 == task.len());
            }
        }
    }
    places
}

/// Returns as many results, each the mean of those that count; none where none does.
fn level(task: &[Option<i64>]) -> Results {
    let (mut sum, mut count) = (0, 0);
    task.iter().flatten().for_each(|value| (sum, count) = (sum + i128::from(*value), count + 1));
    let mean = (count > 0).then(|| karat_core::number::round_ratio(sum, count));
    alloc::vec![mean.and_then(|mean| i64::try_from(mean).ok()); task.len()]
}

/// Values in billionths of which some are drawn without replacement.
#[derive(Debug, Clone, Copy, Default)]
struct Draws {
    sum: i128,
    count: u64,
    drawn: i128,
    drawn_count: u64,
}

impl Draws {
    fn of(value: i64) -> Self {
        Self { sum: value.into(), count: 1, drawn: value.into(), drawn_count: 1 }
    }

    fn add(&mut self, value: i128, is_drawn: bool) {
        self.sum += value;
        self.count += 1;
        if is_drawn {
            self.drawn += value;
            self.drawn_count += 1;
        }
    }

    /// Returns the same of what is missing to 1.
    fn turned(self) -> Self {
        let missing = |sum: i128, count: u64| i128::from(count) * i128::from(BILLION) - sum;
        let (sum, drawn) = (missing(self.sum, self.count), missing(self.drawn, self.drawn_count));
        Self { sum, drawn, ..self }
    }

    /// Returns the logarithm of a bound on `E exp(rate (X - x))` for the sum of the drawn, of which `x` was found.
    fn bound(&self, rate: f64) -> f64 {
        let part = |sum: i128| sum as f64 / BILLION as f64;
        let (count, drawn_count) = (self.count as f64, self.drawn_count as f64);
        let (mean, left_count) = (part(self.sum) / count.max(1.0), count - drawn_count);
        let grown = |share: f64| libm::log1p(share * libm::expm1(rate));
        // A sum of values that are drawn exceeds by as much as what the others lack.
        let others = rate * (part(self.sum) - left_count) + left_count * grown(1.0 - mean);
        (drawn_count * grown(mean)).min(others) - rate * part(self.drawn)
    }
}

/// Returns a bound on the chance that the drawn are together as good as found, all draws being independent: Chernoff (1952), with
/// Hoeffding's inequalities for values within a range and for draws without replacement (JASA 58, 1963, theorem 4).
fn chance(draws: &[Draws]) -> f64 {
    let mut best = 0.0f64;
    let mut rate = 10.0;
    while rate > 1e-3 {
        best = best.min(draws.iter().map(|it| it.bound(rate)).sum());
        rate *= 0.7;
    }
    libm::exp(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

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
        assert_eq!(expected_best_of_k(&[], 1), None);
        assert_eq!(expected_best_of_k(&[f64::NAN], 1), None);
    }

    /// Returns the attempts at `tasks` tasks that pass with a chance of `p` for a thousand, at most `most` each; `goes_on` says
    /// whether another follows a result.
    fn tried(
        random: &mut Random,
        (tasks, p, most): (usize, u64, usize),
        goes_on: &dyn Fn(&mut Random, usize, usize, bool) -> bool,
    ) -> Vec<Results> {
        let task = |task: usize, random: &mut Random| {
            let mut results = Results::new();
            while results.len() < most {
                let passes = random.next_u64() % 1000 < p;
                results.push(Some(i64::from(passes) * BILLION));
                if !goes_on(random, task, results.len(), passes) {
                    break;
                }
            }
            results
        };
        (0..tasks).map(|at| task(at, random)).collect()
    }

    #[test]
    fn attempts_that_stop_at_a_result_are_found_and_no_others() {
        type Rule = dyn Fn(&mut Random, usize, usize, bool) -> bool;
        type Row<'r> = (&'r Rule, Option<StopsAt>, usize, usize, u64, usize);
        let at_success: &Rule = &|_, _, _, passes| !passes;
        let at_failure: &Rule = &|_, _, _, passes| passes;
        let often_at_success: &Rule = &|random, _, _, passes| !passes || random.next_u64() % 10 < 2;
        let always: &Rule = &|_, _, _, _| true;
        let by_chance: &Rule = &|random, _, _, _| random.next_u64() % 2 == 0;
        let by_task: &Rule = &|_, task, tried, _| tried <= task % 3;
        let rarely: &Rule = &|random, _, _, _| random.next_u64() % 10 > 0;
        let one_more: &Rule = &|_, task, tried, _| tried < 2 || task == 0;
        // The chance for a thousand that is asked for; of those that do not stop at a result it is the most.
        let table: [Row<'_>; 10] = [
            (at_success, Some(StopsAt::Success), 995, 300, 500, 3),
            (at_success, Some(StopsAt::Success), 995, 60, 500, 3),
            (at_success, Some(StopsAt::Success), 995, 60, 500, 2),
            (at_success, Some(StopsAt::Success), 990, 60, 200, 5),
            (at_success, Some(StopsAt::Success), 990, 100, 900, 3),
            (at_success, Some(StopsAt::Success), 900, 20, 500, 3),
            (often_at_success, Some(StopsAt::Success), 990, 300, 500, 3),
            (at_failure, Some(StopsAt::Failure), 995, 300, 500, 3),
            (at_failure, Some(StopsAt::Failure), 995, 60, 500, 3),
            (at_failure, Some(StopsAt::Failure), 900, 20, 500, 3),
        ];
        let mut random = Random::new(7);
        for (rule, expected, least, tasks, p, most) in table {
            let all = (0..400).map(|_| tried(&mut random, (tasks, p, most), rule));
            let is_found =
                |tasks: &Vec<Results>| StopsAt::is_possible(tasks) && StopsAt::new(tasks, true) == expected;
            let found = all.filter(is_found).count();
            assert!(found * 1000 >= least * 400, "{expected:?} {tasks} {p} {most}: {found} of 400");
        }
        for (name, rule) in [
            ("always", always),
            ("by chance", by_chance),
            ("by task", by_task),
            ("rarely", rarely),
            ("one more", one_more),
        ] {
            for (tasks, p, most) in [(12, 500, 3), (60, 500, 3), (60, 900, 2), (300, 100, 3), (300, 980, 5)] {
                let all = (0..1000).map(|_| tried(&mut random, (tasks, p, most), rule));
                let found = all.filter(|tasks| StopsAt::new(tasks, false).is_some()).count();
                assert!(found <= 1, "{name} {tasks} {p} {most}: {found} of 1000");
            }
        }
    }

    #[test]
    fn numbers_that_follow_the_difficulty_of_tasks_are_no_stopping() {
        let mut random = Random::new(3);
        let mut found = 0;
        for _ in 0..400 {
            let once: &dyn Fn(&mut Random, usize, usize, bool) -> bool = &|_, _, _, _| true;
            let mut tasks = tried(&mut random, (40, 950, 1), once);
            tasks.extend(tried(&mut random, (60, 300, 4), once));
            found += usize::from(StopsAt::new(&tasks, true).is_some());
        }
        assert!(found <= 20, "{found} of 400: five in a hundred of the last results look better by chance");
        // Graded results, tried again until one is good; and one that does not count.
        let graded: Vec<Results> = (0..60)
            .map(|task| {
                let values = [300 + task, 450 + task, 900].map(|share| Some(share * 1_000_000));
                values.into_iter().skip(task as usize % 3).collect()
            })
            .collect();
        assert_eq!(StopsAt::new(&graded, true), Some(StopsAt::Success));
        let without: Vec<Results> = graded.iter().map(|task| task.iter().map(|_| None).collect()).collect();
        assert_eq!((StopsAt::new(&without, true), StopsAt::new(&[], true)), (None, None));
    }
}
