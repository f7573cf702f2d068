//! Flaky tasks: the outcome changes while nothing changed, and the pass rate that a policy of retries gives.
//!
//! Attempts are grouped by the caller: a group holds the attempts of one subject at one task under one version, in order,
//! however many runs they come from. Attempts of different versions never share a group, so a version that made a
//! task pass is not a change of outcome. Outcomes are passes (true) and failures; a threshold on scores is applied by the caller.
//!
//! A group of `n` attempts has `n - 1` repeats: the first attempt says nothing about change. If a repeat differs from the
//! first attempt with the chance `q`, up to 1/2, no repeat of `n - 1` differs with the chance `(1 - q)^n + q^n`, at most
//! `(1 - q)^(n - 1)`. Of several groups this is at most `(1 - mean q)^repeats` (Jensen's inequality), so repeats may be
//! added up over subjects. `r` repeats without a change bound `q` by `1 - (1 - level)^(1 / r)` (Clopper and Pearson, 1934).
//! Repeats have to be independent: where they are not (a machine that was down for a night), [`Group::few_changes_p`] is low.
//!
//! The chance to see both outcomes in `n` attempts, `1 - (1 - q)^n - q^n` ([`detection`]):
//!
//! | attempts | q = 0.05 | 0.1 | 0.3 | 0.5 |
//! |---|---|---|---|---|
//! | 3 | 0.143 | 0.270 | 0.630 | 0.750 |
//! | 5 | 0.226 | 0.410 | 0.829 | 0.938 |
//! | 10 | 0.401 | 0.651 | 0.972 | 0.998 |

use alloc::vec::Vec;

use super::proportion::Proportion;
use super::{Interval, IntervalMethod, StatisticsError, gaffke, outside};

/// The most attempts of a group whose changes are compared with all orders: the distribution has as many entries.
const MOST_ORDERED: u64 = 1_000_000;

/// The settings by which tasks are judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlakyRule {
    /// The chance of a different outcome that is tolerated, above 0 and below 1/2, such as 0.05.
    pub bound: f64,
    /// The confidence of the intervals and of the bound, such as 0.95.
    pub level: f64,
}

karat_core::words! {
    /// The verdict on a task: whether it has one outcome.
    pub enum FlakyVerdict {
        /// Both outcomes were seen in one group: under one version of one subject.
        Flaky = "flaky",
        /// No outcome changed, in enough repeats to bound the chance of a change.
        Stable = "stable",
        /// No outcome changed, in too few repeats to bound the chance of a change.
        Unknown = "unknown",
    }
}

karat_core::words! {
    /// The proposal for a task.
    pub enum FlakyProposal {
        /// Take it out of the score: it is flaky, and its changes are not shown to be rare.
        Quarantine = "quarantine",
        /// Keep it: it is stable, or its changes are shown to be rarer than the bound.
        Keep = "keep",
        /// Repeat it: no change was seen, in too few repeats.
        Repeat = "repeat",
    }
}

/// The attempts of one subject at a task under one version.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// The passes of the attempts.
    pub passes: Proportion,
    /// The interval of the pass rate, exact.
    pub pass_rate: Interval,
    /// The chance that two attempts differ, `2 p (1 - p)` of the pass rate, 0 to 1/2; none of a single attempt.
    pub change: Option<f64>,
    /// The interval of that chance: what the interval of the pass rate allows.
    pub change_interval: Interval,
    /// The high end, one-sided at the level, of the chance of the rarer outcome, 0 to 1/2.
    pub rare_high: f64,
    /// Attempts that differ from the one before.
    pub changes: u64,
    /// The chance of at most this number of changes if these outcomes came in random order: Wald and Wolfowitz, "On a test whether
    /// two samples are from the same population", Annals of Mathematical Statistics 11 (1940). Low where something
    /// changed once and stayed, such as a version that no one declared. None where all outcomes are equal, or there are more than
    /// 1,000,000 attempts.
    pub few_changes_p: Option<f64>,
}

/// The finding on a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Flakiness {
    /// Its groups, in the order given; those without attempts left out.
    pub groups: Vec<Group>,
    /// Number of groups with both outcomes.
    pub flaky_groups: usize,
    /// Number of attempts after the first of their group.
    pub repeats: u64,
    /// The high end, one-sided at the level, of the mean chance of a different outcome, weighted by repeats; none where an
    /// outcome changed, or nothing was repeated.
    pub change_high: Option<f64>,
    /// Number of further repeats without a change that would show it to be stable; none where an outcome changed.
    pub repeats_left: Option<u64>,
    /// The verdict.
    pub verdict: FlakyVerdict,
    /// The proposal.
    pub proposal: FlakyProposal,
}

impl FlakyRule {
    /// Returns the error on a setting that is out of range, or the share of cases outside of the level.
    fn outside(self) -> Result<f64, StatisticsError> {
        let outside = outside(self.level)?;
        if self.bound > 0.0 && self.bound < 0.5 {
            return Ok(outside);
        }
        Err(StatisticsError::Level { found: self.bound })
    }

    /// Returns how many repeats without a change show the chance of a different outcome to be below the bound: 59 for 0.05
    /// at 0.95. With the first attempt that is one equal outcome more.
    ///
    /// # Errors
    /// If the bound is not between 0 and 1/2, or the level not between 0 and 1.
    pub fn repeats_needed(self) -> Result<u64, StatisticsError> {
        Ok(repeats(self.bound, self.outside()?))
    }

    /// Returns how many equal outcomes in a row bring a task back that was flaky, where every streak since the quarantine has
    /// been looked at and `broken` of them ended in a change: 73, 95, 108, ... for 0.05 at 0.95.
    ///
    /// Who waits long enough sees any streak, so each is asked for more: streak `i` (from 0) has the share
    /// `1 / ((i + 1) (i + 2))` of what is outside of the level, and these add up to 1. So a task that changes at least as often
    /// as the bound comes back with a chance outside of the level at most, however long it is watched.
    ///
    /// # Errors
    /// If the bound is not between 0 and 1/2, or the level not between 0 and 1.
    pub fn streak_needed(self, broken: u64) -> Result<u64, StatisticsError> {
        let at = broken as f64;
        Ok(repeats(self.bound, self.outside()? / ((at + 1.0) * (at + 2.0))).saturating_add(1))
    }

    /// Returns whether a task comes back after these outcomes since its quarantine, in order, by [`Self::streak_needed`]: at
    /// any time that it could have, not only at the end.
    ///
    /// # Errors
    /// If the bound is not between 0 and 1/2, or the level not between 0 and 1.
    pub fn comes_back(self, since: &[bool]) -> Result<bool, StatisticsError> {
        let streaks = since.chunk_by(|a, b| a == b);
        for (broken, streak) in (0u64..).zip(streaks) {
            if streak.len() as u64 >= self.streak_needed(broken)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the finding on a task.
    ///
    /// # Errors
    /// If the bound is not between 0 and 1/2, the level not between 0 and 1, or there are no attempts.
    ///
    /// ```
    /// use karat_stats::flaky::{FlakyRule, FlakyVerdict};
    /// let rule = FlakyRule { bound: 0.05, level: 0.95 };
    /// let verdict = |groups: &[&[bool]]| rule.judge(groups).map(|found| found.verdict);
    /// assert_eq!(verdict(&[&[true, true], &[false, true]])?, FlakyVerdict::Flaky);
    /// assert_eq!(verdict(&[&[true; 31], &[false; 30]])?, FlakyVerdict::Stable);
    /// assert_eq!(verdict(&[&[true; 10]])?, FlakyVerdict::Unknown);
    /// # Ok::<(), karat_stats::StatisticsError>(())
    /// ```
    pub fn judge<G: AsRef<[bool]>>(self, groups: &[G]) -> Result<Flakiness, StatisticsError> {
        let outside = self.outside()?;
        let found = groups.iter().map(AsRef::as_ref).filter(|outcomes| !outcomes.is_empty());
        let groups: Vec<Group> = found.map(|outcomes| Group::new(outcomes, self.level, outside)).collect();
        if groups.is_empty() {
            return Err(StatisticsError::TooFew { what: "attempts at the task", found: 0, needed: 1 });
        }
        let repeats: u64 = groups.iter().map(|group| group.passes.trials() - 1).sum();
        let flaky = || groups.iter().filter(|group| group.changes > 0);
        let needed = self.repeats_needed()?;
        let verdict = match flaky().count() {
            0 if repeats >= needed => FlakyVerdict::Stable,
            0 => FlakyVerdict::Unknown,
            _ => FlakyVerdict::Flaky,
        };
        let is_same = verdict != FlakyVerdict::Flaky;
        let proposal = match verdict {
            FlakyVerdict::Unknown => FlakyProposal::Repeat,
            _ if flaky().all(|group| group.rare_high < self.bound) => FlakyProposal::Keep,
            _ => FlakyProposal::Quarantine,
        };
        Ok(Flakiness {
            flaky_groups: flaky().count(),
            repeats,
            change_high: (is_same && repeats > 0)
                .then(|| -libm::expm1(libm::log(outside) / repeats as f64))
                .map(|high| high.min(0.5)),
            repeats_left: is_same.then(|| needed.saturating_sub(repeats)),
            verdict,
            proposal,
            groups,
        })
    }
}

impl Group {
    /// Counts outcomes, of which there is one at least.
    fn new(outcomes: &[bool], level: f64, outside: f64) -> Self {
        let passes = Proportion::of(outcomes.iter().copied());
        let (low, high) = exact_ends(passes, outside / 2.0);
        let differing = |p: f64| 2.0 * p * (1.0 - p);
        let change_high = if low <= 0.5 && high >= 0.5 { 0.5 } else { differing(low).max(differing(high)) };
        let changes = outcomes.windows(2).filter(|pair| pair.first() != pair.last()).count() as u64;
        let interval = |low, high| Interval { low, high, level, method: IntervalMethod::ClopperPearson };
        let (one_low, one_high) = exact_ends(passes, outside);
        Self {
            passes,
            pass_rate: interval(low, high),
            change: passes.share().map(differing).filter(|_| passes.trials() > 1),
            change_interval: interval(differing(low).min(differing(high)), change_high),
            rare_high: one_high.min(1.0 - one_low).min(0.5),
            changes,
            few_changes_p: few_changes_p(passes, changes),
        }
    }
}

/// Returns the ends of the exact interval of a share that leave out `tail` on each side (Clopper and Pearson, Biometrika 26,
/// 1934): Gaffke's bound is that where each value is 0 or 1.
fn exact_ends(share: Proportion, tail: f64) -> (f64, f64) {
    let failures = share.trials().saturating_sub(share.successes());
    let values = [(1.0, share.successes()), (0.0, failures)];
    gaffke::ends(values.into_iter().flat_map(|(value, count)| (0..count).map(move |_| (value, 1.0))), tail)
}

/// Returns the least number of repeats of which none differs with at most the chance `outside`, if each does with `bound`.
fn repeats(bound: f64, outside: f64) -> u64 {
    // Where it is a whole number, the quotient may be a rounding above it.
    libm::ceil(libm::log(outside) / libm::log1p(-bound) - 1e-9).max(1.0) as u64
}

/// Returns the chance of at most this number of changes over all orders of the outcomes.
fn few_changes_p(passes: Proportion, changes: u64) -> Option<f64> {
    let (own, other) = (passes.successes(), passes.trials() - passes.successes());
    if own == 0 || other == 0 || passes.trials() > MOST_ORDERED {
        return None;
    }
    let log_choose = |count: u64, taken: u64| {
        let log_factorial = |number: u64| libm::lgamma(number as f64 + 1.0);
        log_factorial(count) - log_factorial(taken) - log_factorial(count - taken)
    };
    // `changes` are one fewer than the runs. Of an even number of runs each outcome has half, and either is first; of an
    // odd number the first outcome has one more.
    let ways = |runs: u64| {
        let split = |first: u64, second: u64| {
            let is_possible = first <= own && second <= other && first > 0 && second > 0;
            let ways = || log_choose(own - 1, first - 1) + log_choose(other - 1, second - 1);
            if is_possible { libm::exp(ways() - log_choose(own + other, own)) } else { 0.0 }
        };
        let half = runs / 2;
        if runs.is_multiple_of(2) {
            2.0 * split(half, half)
        } else {
            split(half + 1, half) + split(half, half + 1)
        }
    };
    Some((2..=changes + 1).map(ways).sum::<f64>().min(1.0))
}

/// Returns the chance to see both outcomes in a number of attempts, each of which is the rarer outcome with the chance
/// `rarer`; none if that is not from 0 to 1.
pub fn detection(rarer: f64, attempts: u32) -> Option<f64> {
    let power = |base: f64| libm::pow(base, f64::from(attempts));
    let is_seen = || (1.0 - power(1.0 - rarer) - power(rarer)).max(0.0);
    (0.0..=1.0).contains(&rarer).then(|| if attempts == 0 { 0.0 } else { is_seen() })
}

/// Pass rates at the first attempt, and by the policy "a task passes if any of its first k attempts does".
#[derive(Debug, Clone, PartialEq)]
pub struct Retries {
    /// Tasks that pass at the first attempt, of those that count.
    pub first: Proportion,
    /// Tasks that pass by the policy, of the same.
    pub policy: Proportion,
    /// The tasks that pass only by a retry, by their index: the policy's gain.
    pub only_by_retry: Vec<usize>,
    /// The tasks that do not count, by their index: no attempt passed, and there were fewer than k.
    pub unfinished: Vec<usize>,
}

impl Retries {
    /// Compares the first attempt with the policy of `k` attempts. `tasks` are the outcomes of each task in order; those after
    /// the first pass may be missing, as where the policy itself was at work. The first failure of an unfinished
    /// task does not count either, so that both rates are over the same tasks.
    ///
    /// # Errors
    /// If no task counts.
    pub fn new<G: AsRef<[bool]>>(tasks: &[G], k: usize) -> Result<Self, StatisticsError> {
        let (mut first, mut policy) = (Vec::new(), Vec::new());
        let (mut only_by_retry, mut unfinished) = (Vec::new(), Vec::new());
        for (task, outcomes) in tasks.iter().enumerate() {
            let outcomes = outcomes.as_ref();
            let passes = outcomes.iter().take(k).any(|&passed| passed);
            if !passes && outcomes.len() < k.max(1) {
                unfinished.push(task);
                continue;
            }
            let at_first = outcomes.first().is_some_and(|&passed| passed && k > 0);
            if passes && !at_first {
                only_by_retry.push(task);
            }
            first.push(at_first);
            policy.push(passes);
        }
        if first.is_empty() || k == 0 {
            return Err(StatisticsError::TooFew { what: "tasks with k attempts", found: 0, needed: 1 });
        }
        let (first, policy) = (Proportion::of(first), Proportion::of(policy));
        Ok(Self { first, policy, only_by_retry, unfinished })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RULE: FlakyRule = FlakyRule { bound: 0.05, level: 0.95 };

    fn outcomes(pattern: &str) -> Vec<bool> {
        pattern.bytes().map(|byte| byte == b'P').collect()
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn exact_intervals_of_another_implementation() {
        // statsmodels 0.15.0: proportion_confint(count, n, 0.05, "beta").
        for (passes, attempts, low, high) in [
            (0, 10, 0.000000000000, 0.308497107819),
            (1, 10, 0.002528578544, 0.445016117028),
            (3, 5, 0.146632799635, 0.947255049474),
            (7, 30, 0.099337864958, 0.422836522978),
            (50, 50, 0.928878263536, 1.000000000000),
            (999, 1000, 0.994441075720, 0.999974682513),
        ] {
            let group = Group::new(
                &[alloc::vec![true; passes], alloc::vec![false; attempts - passes]].concat(),
                0.95,
                1.0 - 0.95,
            );
            near(group.pass_rate.low, low);
            near(group.pass_rate.high, high);
        }
    }

    #[test]
    fn orders_counted_by_hand() {
        let p = |pattern: &str| Group::new(&outcomes(pattern), 0.95, 0.05).few_changes_p;
        // Of the six orders of two and two, PPFF and FFPP have one change, PFFP and FPPF two.
        near(p("PPFF").unwrap(), 2.0 / 6.0);
        near(p("PFFP").unwrap(), 4.0 / 6.0);
        near(p("PFPF").unwrap(), 1.0);
        near(p("PPPPPFFFFF").unwrap(), 2.0 / 252.0);
        assert_eq!(p("PPPP"), None);
    }

    #[test]
    fn repeats_that_are_needed() {
        assert_eq!(RULE.repeats_needed(), Ok(59), "log 0.05 / log 0.95 = 58.4");
        assert_eq!(FlakyRule { bound: 0.01, ..RULE }.repeats_needed(), Ok(299));
        let streaks: Vec<u64> = (0..3).map(|broken| RULE.streak_needed(broken).unwrap()).collect();
        assert_eq!(streaks, [73, 95, 108]);
        for rule in [
            FlakyRule { bound: 0.5, ..RULE },
            FlakyRule { bound: 0.0, ..RULE },
            FlakyRule { level: 1.0, ..RULE },
        ] {
            assert!(rule.repeats_needed().is_err() && rule.judge(&[[true]]).is_err());
        }
    }

    #[test]
    fn one_attempt_each_of_many_subjects_shows_nothing() {
        let groups = alloc::vec![[true]; 500];
        let found = RULE.judge(&groups).unwrap();
        assert_eq!((found.verdict, found.proposal), (FlakyVerdict::Unknown, FlakyProposal::Repeat));
        assert_eq!((found.repeats, found.repeats_left, found.change_high), (0, Some(59), None));
        assert_eq!(found.groups[0].change, None);
        assert!(RULE.judge::<[bool; 0]>(&[[], []]).is_err());
    }

    #[test]
    fn different_outcomes_of_different_versions_are_no_flip() {
        let found = RULE.judge(&[outcomes("PPP"), outcomes("FFF"), outcomes("")]).unwrap();
        assert_eq!((found.verdict, found.flaky_groups, found.repeats), (FlakyVerdict::Unknown, 0, 4));
        near(found.change_high.unwrap(), 0.5);
        let found = RULE.judge(&[outcomes("PPP"), outcomes("FPF")]).unwrap();
        assert_eq!((found.verdict, found.flaky_groups), (FlakyVerdict::Flaky, 1));
        assert_eq!((found.proposal, found.repeats_left), (FlakyProposal::Quarantine, None));
        near(found.groups[1].change.unwrap(), 4.0 / 9.0);
        assert_eq!((found.groups[1].changes, found.groups[1].change_interval.high), (2, 0.5));
    }

    #[test]
    fn changes_that_are_shown_to_be_rare_are_kept() {
        // One of 93 is the most that bounds a share below 0.05 at 0.95 (tables of success runs); one of 92 does not.
        for (attempts, proposal) in [(93, FlakyProposal::Keep), (92, FlakyProposal::Quarantine)] {
            let mut group = alloc::vec![true; attempts];
            group[40] = false;
            let found = RULE.judge(&[group]).unwrap();
            assert_eq!((found.verdict, found.proposal), (FlakyVerdict::Flaky, proposal));
        }
    }

    #[test]
    fn who_waits_gets_back_what_is_flaky_no_more_often_than_said() {
        let mut random = crate::random::Random::new(1);
        let mut back = 0;
        for _ in 0..2000 {
            let since: Vec<bool> = (0..3000).map(|_| random.open_unit() >= RULE.bound).collect();
            back += u32::from(RULE.comes_back(&since).unwrap());
        }
        // 5 % and three standard errors.
        assert!(back <= 130, "{back}");
        assert!(back >= 20, "{back}: the rule can be met at all");
        assert!(
            RULE.comes_back(&alloc::vec![true; 73]).unwrap()
                && !RULE.comes_back(&alloc::vec![true; 72]).unwrap()
        );
        let broken = [alloc::vec![true; 72], alloc::vec![false; 94]].concat();
        assert!(!RULE.comes_back(&broken).unwrap());
    }

    #[test]
    fn the_table_of_detection() {
        let table = [(3, [0.1425, 0.27, 0.63, 0.75]), (5, [0.226_218_75, 0.4095, 0.8295, 0.9375])];
        for (attempts, row) in table {
            for (rarer, expected) in [0.05, 0.1, 0.3, 0.5].into_iter().zip(row) {
                near(detection(rarer, attempts).unwrap(), expected);
            }
        }
        near(detection(0.3, 10).unwrap(), 0.971_746_570_2);
        assert_eq!(
            (detection(0.0, 5), detection(0.5, 1), detection(0.5, 0)),
            (Some(0.0), Some(0.0), Some(0.0))
        );
        assert_eq!((detection(1.1, 5), detection(f64::NAN, 5)), (None, None));
    }

    #[test]
    fn what_retries_gain() {
        let tasks = ["P", "FP", "FFP", "FFFP", "F", "FFF", "PFF", ""].map(outcomes);
        let found = Retries::new(&tasks, 3).unwrap();
        assert_eq!((found.first.successes(), found.policy.successes(), found.policy.trials()), (2, 4, 6));
        assert_eq!((found.only_by_retry, found.unfinished), (alloc::vec![1, 2], alloc::vec![4, 7]));
        let once = Retries::new(&tasks, 1).unwrap();
        assert_eq!((once.first, once.only_by_retry.len(), once.unfinished), (once.policy, 0, alloc::vec![7]));
        assert!(Retries::new(&tasks, 0).is_err() && Retries::new(&[outcomes("F")], 2).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn orders_are_counted_as_if_all_were_looked_at(group in prop::collection::vec(prop::bool::ANY, 2..10)) {
            let changes = |bits: u32| (1..group.len()).filter(|at| (bits >> at ^ bits >> (at - 1)) & 1 == 1).count();
            let bits = group.iter().rev().fold(0, |bits, &passed| bits << 1 | u32::from(passed));
            let same = (0..1 << group.len()).filter(|other: &u32| other.count_ones() == bits.count_ones());
            let few = same.clone().filter(|&other| changes(other) <= changes(bits)).count() as f64;
            let found = Group::new(&group, 0.95, 0.05);
            prop_assert_eq!(found.changes as usize, changes(bits));
            if let Some(p) = found.few_changes_p {
                prop_assert!((p - few / same.count() as f64).abs() < 1e-9);
            }
            let change = found.change.unwrap();
            let interval = found.change_interval;
            prop_assert!(interval.low <= change + 1e-12 && change <= interval.high + 1e-12 && interval.high <= 0.5);
            // Passes and failures play the same part.
            let turned: Vec<bool> = group.iter().map(|passed| !passed).collect();
            let turned = Group::new(&turned, 0.95, 0.05);
            prop_assert!((turned.change_interval.low - interval.low).abs() < 1e-9);
            prop_assert!((turned.rare_high - found.rare_high).abs() < 1e-9);
        }
    }
}
