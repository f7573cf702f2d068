//! Runs by outcome: a policy says what each outcome counts as, and the other policies show whether the ranking depends on it.
//!
//! A missing verdict is neither a failure nor a success. To count it as one, or to leave it out, is a choice that can
//! decide who is first; here the choice has a name, and the other choices are computed beside it.

use alloc::vec::Vec;

pub use karat_core::outcome::{Outcome, Policy, Treatment};

use super::StatisticsError;
use super::ranks::{OtherRanking, RankRange, ranks};
use super::table::{TaskSum, TaskTable};
use karat_core::number::BILLION;

/// Returns the policies that treat one of the outcomes that `occurs` otherwise and all else alike: the choices that could
/// matter where only these occur. In a fixed order. [`Treatment::Scored`] is tried only where `policy` has it.
pub fn other_policies(policy: Policy, occurs: impl Fn(Outcome) -> bool) -> Vec<Policy> {
    let choices = |outcome: Outcome| {
        let own = policy.treatment(outcome);
        let mut all = alloc::vec![own];
        if occurs(outcome) {
            all.extend(Treatment::WITHOUT_SCORE.into_iter().filter(|&other| other != own));
        }
        all
    };
    let mut others = Vec::new();
    for no_verdict in choices(Outcome::NoVerdict) {
        for stopped in choices(Outcome::Stopped) {
            for not_applicable in choices(Outcome::NotApplicable) {
                for refused in choices(Outcome::Refused) {
                    others.push(Policy { no_verdict, stopped, not_applicable, refused });
                }
            }
        }
    }
    others.retain(|&other| other != policy);
    others
}

/// Number of runs by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "each is named after its outcome")]
pub struct OutcomeCounts {
    /// Runs with a score whose evidence does not say how they ended.
    pub unstated: u64,
    /// Runs that succeeded and have no score; they are in `no_verdict` too.
    pub missing: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub no_verdict: u64,
    pub stopped: u64,
    pub not_applicable: u64,
    pub refused: u64,
}

impl OutcomeCounts {
    /// Counts outcomes.
    pub fn of(outcomes: impl IntoIterator<Item = Outcome>) -> Self {
        let mut counts = Self::default();
        for outcome in outcomes {
            counts.add(outcome, 1);
        }
        counts
    }

    fn add(&mut self, outcome: Outcome, count: u32) {
        *match outcome {
            Outcome::Succeeded => &mut self.succeeded,
            Outcome::Failed => &mut self.failed,
            Outcome::NoVerdict => &mut self.no_verdict,
            Outcome::Stopped => &mut self.stopped,
            Outcome::NotApplicable => &mut self.not_applicable,
            Outcome::Refused => &mut self.refused,
        } += u64::from(count);
    }

    /// Returns how often an outcome occurred.
    pub fn count(self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Succeeded => self.succeeded,
            Outcome::Failed => self.failed,
            Outcome::NoVerdict => self.no_verdict,
            Outcome::Stopped => self.stopped,
            Outcome::NotApplicable => self.not_applicable,
            Outcome::Refused => self.refused,
        }
    }
}

/// One run of a subject at a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The task, as any number.
    pub task: usize,
    /// The outcome, if the evidence states it.
    pub outcome: Option<Outcome>,
    /// The score in billionths, if it has one.
    pub score: Option<i64>,
}

impl Run {
    /// Returns the outcome that counts; none for a score whose outcome is not stated. The only place that decides what
    /// becomes of a run without a score: a failure is one, and counts 0; anything else has no verdict, a success too, since
    /// leaving out a fact must not earn a perfect score.
    pub fn outcome(&self) -> Option<Outcome> {
        match (self.outcome, self.score) {
            (None | Some(Outcome::Succeeded), None) => Some(Outcome::NoVerdict),
            (stated, _) => stated,
        }
    }

    /// Returns whether the run succeeded and its score is missing.
    pub fn is_missing(&self) -> bool {
        self.outcome == Some(Outcome::Succeeded) && self.score.is_none()
    }

    /// Returns what the run counts, in billionths; none if it is left out. A success or failure counts with its score, a
    /// failure without one 0; the other outcomes as the policy says.
    pub fn value(&self, policy: Policy) -> Option<i64> {
        match self.fixed(policy) {
            Some(value) => value,
            None => self.score,
        }
    }

    /// Returns what a run of this outcome counts whatever its score is; none if its score counts.
    fn fixed(&self, policy: Policy) -> Option<Option<i64>> {
        match self.outcome()? {
            Outcome::Succeeded => None,
            Outcome::Failed => self.score.is_none().then_some(Some(0)),
            other => match policy.treatment(other) {
                Treatment::Success => Some(Some(BILLION)),
                Treatment::Failure => Some(Some(0)),
                Treatment::Excluded => Some(None),
                Treatment::Scored => None,
            },
        }
    }
}

/// Runs of a subject at a task with one outcome, added up: all that means and ranks take from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSum {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The task, as any number.
    pub task: usize,
    /// The outcome of all of them, if the evidence states it.
    pub outcome: Option<Outcome>,
    /// The number of runs.
    pub runs: u32,
    /// The number of those that have a score.
    pub scored: u32,
    /// The sum of their scores in billionths.
    pub sum: i64,
}

impl From<Run> for RunSum {
    fn from(run: Run) -> Self {
        let Run { subject, task, outcome, score } = run;
        let scored = u32::from(score.is_some());
        Self { subject, task, outcome, runs: 1, scored, sum: score.unwrap_or_default() }
    }
}

impl RunSum {
    /// Returns those with a score and those without as one run each, with their numbers, if there are any.
    fn parts(&self) -> impl Iterator<Item = (Run, u32)> {
        let run = |score| Run { subject: self.subject, task: self.task, outcome: self.outcome, score };
        let parts = [(run(Some(self.sum)), self.scored), (run(None), self.runs.saturating_sub(self.scored))];
        parts.into_iter().filter(|(_, count)| *count > 0)
    }

    /// Returns the outcomes that count, as [`Run::outcome`] says.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.parts().filter_map(|(run, _)| run.outcome())
    }

    /// Returns the sum of what the runs count, and of how many: the sum of [`Run::value`] over them.
    pub fn counted(&self, policy: Policy) -> TaskSum {
        let (mut sum, mut trials) = (0, 0);
        for (run, count) in self.parts() {
            let value = match run.fixed(policy) {
                Some(value) => value.map(|value| value * i64::from(count)),
                None => run.score,
            };
            if let Some(value) = value {
                (sum, trials) = (sum + value, trials + count);
            }
        }
        TaskSum { subject: self.subject, task: self.task, sum, trials }
    }
}

/// Returns the results by subject and task under a policy. The runs are computed on the way, several times, and never held
/// all at once.
///
/// # Errors
/// If [`TaskTable::of_sums`] fails.
pub fn table_of(
    subjects: usize,
    runs: impl Iterator<Item = impl Into<RunSum>> + Clone,
    policy: Policy,
) -> Result<TaskTable, StatisticsError> {
    TaskTable::of_sums(subjects, runs.map(|runs| runs.into().counted(policy)))
}

/// The ranking under a policy, and under others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyRankings {
    /// The outcomes of the runs of each subject.
    pub counts: Vec<OutcomeCounts>,
    /// The policy in force.
    pub policy: Policy,
    /// The means over tasks under it, in billionths; `None` for a subject without items that count.
    pub means: Vec<Option<i64>>,
    /// The ranks under it.
    pub ranks: Vec<Option<RankRange>>,
    /// The others, in the order given.
    pub others: Vec<(Policy, OtherRanking)>,
}

impl PolicyRankings {
    /// Ranks subjects by their mean over tasks under `policy`, and under each of `others`. The runs are computed on the way,
    /// several times, and never held all at once.
    ///
    /// # Errors
    /// If a run names no subject, or there are too many tasks.
    pub fn of(
        subjects: usize,
        runs: impl Iterator<Item = impl Into<RunSum>> + Clone,
        policy: Policy,
        others: &[Policy],
    ) -> Result<Self, StatisticsError> {
        let runs = runs.map(Into::into);
        let means = |policy| {
            let table = table_of(subjects, runs.clone(), policy)?;
            Ok::<_, StatisticsError>((0..subjects).map(|subject| table.mean(subject)).collect::<Vec<_>>())
        };
        // A subject that does not exist is an error even where the policy leaves its run out.
        let mut counts = alloc::vec![OutcomeCounts::default(); subjects];
        for (row, run) in runs.clone().enumerate() {
            let Some(counts) = counts.get_mut(run.subject) else {
                let found = i64::try_from(run.subject).unwrap_or(i64::MAX);
                let expected = "a place in the list of subjects";
                return Err(StatisticsError::Row { row, part: "subject", found, expected });
            };
            for (run, count) in run.parts() {
                match run.outcome() {
                    Some(outcome) => counts.add(outcome, count),
                    None => counts.unstated += u64::from(count),
                }
                counts.missing += u64::from(count) * u64::from(run.is_missing());
            }
        }
        let nominal = means(policy)?;
        let ranked = ranks(&nominal);
        let others =
            others.iter().map(|&other| Ok((other, OtherRanking::new(&ranked, ranks(&means(other)?)))));
        let others = others.collect::<Result<Vec<_>, StatisticsError>>()?;
        Ok(Self { counts, policy, means: nominal, ranks: ranked, others })
    }

    /// Returns whether any of the other policies changes a rank.
    pub fn differ(&self) -> bool {
        self.others.iter().any(|(_, other)| !other.moved.is_empty())
    }

    /// Returns whether any of the other policies puts others first.
    pub fn first_differs(&self) -> bool {
        self.others.iter().any(|(_, other)| other.first_differs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(
        subjects: usize,
        runs: &[Run],
        policy: Policy,
        others: &[Policy],
    ) -> Result<PolicyRankings, StatisticsError> {
        PolicyRankings::of(subjects, runs.iter().copied(), policy, others)
    }

    fn of_outcome(subject: usize, task: usize, outcome: Outcome) -> Run {
        Run { subject, task, outcome: Some(outcome), score: None }
    }

    fn runs(subject: usize, outcomes: &[(Outcome, usize)]) -> Vec<Run> {
        let each = outcomes.iter().flat_map(|&(outcome, count)| core::iter::repeat_n(outcome, count));
        let score = |outcome| (outcome == Outcome::Succeeded).then_some(BILLION);
        each.enumerate().map(|(task, it)| Run { score: score(it), ..of_outcome(subject, task, it) }).collect()
    }

    #[test]
    fn a_choice_about_missing_verdicts_can_decide_who_is_first() {
        use Outcome::{Failed, NoVerdict, Succeeded};
        let mut all = runs(0, &[(Succeeded, 70), (Failed, 10), (NoVerdict, 20)]);
        all.extend(runs(1, &[(Succeeded, 75), (Failed, 25)]));
        let others = other_policies(Policy::default(), |_| true);
        let found = ranked(3, &all, Policy::default(), &others).unwrap();
        assert_eq!(found.means, [Some(875_000_000), Some(750_000_000), None]);
        assert!(found.differ() && found.first_differs());
        assert_eq!(found.ranks[2], None, "no results, no place");
        assert_eq!(found.counts[0].no_verdict, 20);
        let failing: Vec<&(Policy, OtherRanking)> =
            found.others.iter().filter(|(policy, _)| policy.no_verdict == Treatment::Failure).collect();
        assert!(failing.iter().all(|(_, other)| other.first_differs && other.moved == [0, 1]));
        // What does not occur decides nothing.
        let stopped = Policy { stopped: Treatment::Excluded, ..Policy::default() };
        assert!(!ranked(3, &all, Policy::default(), &[stopped]).unwrap().differ());
    }

    #[test]
    fn a_subject_of_which_all_is_left_out_has_no_place() {
        let all = runs(0, &[(Outcome::NoVerdict, 5)]);
        let found = ranked(1, &all, Policy::default(), &[]).unwrap();
        assert_eq!((found.means[0], found.ranks[0], found.counts[0].no_verdict), (None, None, 5));
        let stray = of_outcome(4, 0, Outcome::NoVerdict);
        assert!(ranked(1, &[stray], Policy::default(), &[]).is_err(), "though it is left out");
    }

    #[test]
    fn scores_count_beside_outcomes() {
        let scored = |task, outcome, score| Run { subject: 0, task, outcome, score: Some(score) };
        let all = [
            scored(0, None, 600_000_000),
            scored(1, Some(Outcome::Succeeded), 900_000_000),
            scored(2, Some(Outcome::Stopped), 500_000_000),
            Run { outcome: None, ..of_outcome(0, 3, Outcome::Failed) },
        ];
        let policy = Policy { stopped: Treatment::Scored, ..Policy::default() };
        let others = other_policies(policy, |outcome| outcome == Outcome::NoVerdict);
        assert_eq!(others.len(), 2, "a failure, a success");
        let found = ranked(1, &all, policy, &others).unwrap();
        let counts = OutcomeCounts {
            unstated: 1,
            succeeded: 1,
            stopped: 1,
            no_verdict: 1,
            ..OutcomeCounts::default()
        };
        assert_eq!(found.counts[0], counts);
        assert_eq!(found.means, [Some(666_666_667)], "without a score and an outcome there is no verdict");
        let means = ranked(1, &all, Policy::default(), &[]).unwrap().means;
        assert_eq!(means, [Some(500_000_000)], "stopped is a failure");
    }

    #[test]
    fn a_success_without_a_score_has_no_verdict_and_a_failure_without_one_is_a_failure() {
        let bare: Vec<Run> = Outcome::ALL.iter().map(|&outcome| of_outcome(0, 0, outcome)).collect();
        for run in &bare {
            let stated = run.outcome.unwrap();
            let is_success = stated == Outcome::Succeeded;
            let counted = if is_success { Outcome::NoVerdict } else { stated };
            assert_eq!((run.outcome(), run.is_missing()), (Some(counted), is_success));
            for policy in other_policies(Policy::default(), |_| true) {
                let expected = match policy.treatment(counted) {
                    Treatment::Success => Some(BILLION),
                    Treatment::Failure => Some(0),
                    Treatment::Excluded | Treatment::Scored => None,
                };
                assert_eq!(run.value(policy), expected, "{stated:?} {policy:?}");
            }
        }
        let found = ranked(1, &bare, Policy::default(), &[]).unwrap().counts[0];
        assert_eq!((found.missing, found.succeeded, found.no_verdict), (1, 0, 2));
    }
}
