//! Words with a fixed set of values, as answers write them.

pub use karat_core::explain::LevelKind;
pub use karat_core::facts::Outcome;
pub use karat_core::mean::Mean;
pub use karat_core::outcome::Treatment;
pub use karat_core::record::{RecordStatus, ValueStatus};
pub use karat_core::scorecard::{Difficulty, StandingScore};
pub use karat_graders::arena::Voucher;
pub use karat_standing::certification::TierCause;
pub use karat_standing::lifecycle::TaskStatus;
pub use karat_standing::overrides::ProposalStatus;
pub use karat_standing::review::{ReviewState, ReviewVerdict};
pub use karat_standing::shares::ShareCase;
pub use karat_stats::IntervalMethod;
pub use karat_stats::compare::{ComparisonVerdict, GateChange};
pub use karat_stats::trials::StopsAt;
pub use karat_store::ItemKind;

karat_core::words! {
    /// The change of a task from one subject to another.
    pub enum TaskChangeKind {
        /// With one attempt each, it passed and does not any more.
        PassLost = "pass-lost",
        /// With one attempt each, it passes and did not.
        PassGained = "pass-gained",
        /// Its score, or the mean of its attempts, fell.
        Fell = "fell",
        /// Its score, or the mean of its attempts, rose.
        Rose = "rose",
    }

    /// The method of a leaderboard.
    pub enum LeaderboardMethod {
        /// Each pair of subjects is compared: intervals, rank ranges, letters for ties.
        Pairs = "pairs",
        /// Means with their intervals: for many subjects or records.
        Means = "means",
        /// Means alone: the items are all there are, so that nothing is estimated.
        Census = "census",
    }

    /// The score that an interval is of, or the reason why it is missing.
    pub enum IntervalOf {
        /// The official score.
        Official = "official",
        /// The score of the moment, as reviews decide what is official.
        Candidate = "candidate",
        /// None: one task does not show how far tasks lie apart.
        FewTasks = "few-tasks",
        /// None: the newest values are not a mean over tasks.
        NewestValues = "newest-values",
    }
}

impl IntervalOf {
    /// Returns why there is no interval, in words; none if there is one.
    pub fn without(self) -> Option<&'static str> {
        match self {
            Self::Official | Self::Candidate => None,
            Self::FewTasks => Some("one task does not show how far tasks lie apart"),
            Self::NewestValues => Some("the newest values are not a mean over tasks"),
        }
    }
}

karat_core::words! {
    /// The moment to which the evidence behind the mean of runs is decayed.
    pub enum DecayMoment {
        /// One moment for all items.
        AsOf = "as-of",
        /// The own moment of each item, so that an old item counts as much as on its first day.
        Own = "own",
    }

    /// A level between the mean of the runs of a subject and its official score.
    pub enum BridgeStep {
        /// The mean of its runs.
        Runs = "runs",
        /// The mean over the window of the scorecard, in which items count alike.
        Window = "window",
        /// The mean over a window in which each task counts once, by its newest item.
        Tasks = "tasks",
        /// The composite of the newest values, before decay.
        Newest = "newest",
        /// The rest after the loss with the age of the evidence.
        Decay = "decay",
        /// The score as the scorecard publishes it.
        Rounding = "rounding",
        /// The score after the gate.
        Gate = "gate",
        /// The last score that was committed; a newer one is held for review or was rejected.
        Review = "review",
    }

    /// The reason for which a subject has no rank.
    pub enum UnrankedReason {
        /// None of its items counts.
        NothingCounts = "nothing-counts",
        /// It has fewer tasks than required.
        TooFewTasks = "too-few-tasks",
        /// It has no official score at this moment.
        NoOfficialScore = "no-official-score",
        /// Items of it have no time, and its official score follows time or order.
        WithoutTime = "without-time",
        /// Its rows over cases at a task do not say what they are, or contradict each other.
        UnclearRows = "unclear-rows",
        /// Items of it are broken: they break a declaration of the scorecard.
        BrokenItems = "broken-items",
    }

    /// The origin of a choice.
    pub enum ChoiceSource {
        /// The scorecard states it.
        Scorecard = "scorecard",
        /// Nothing states it: it is the default.
        Default = "default",
        /// The request: a flag of the command line.
        Request = "request",
    }

    /// An event of a subject beside its evaluations.
    pub enum SubjectChange {
        /// A critical incident was confirmed.
        IncidentOpened = "incident-opened",
        /// A critical incident was closed.
        IncidentClosed = "incident-closed",
        /// The subject was put on hold because it runs something other than it declares.
        HoldPlaced = "hold-placed",
        /// The hold was lifted.
        HoldLifted = "hold-lifted",
    }

    /// The direction in which the status of a task is changing.
    pub enum TaskTrend {
        /// Nearly all subjects solve it.
        Solved = "solved",
        /// No subject solves it.
        Failed = "failed",
    }

    /// A part of a score.
    pub enum ExplanationKind {
        /// A weighted value.
        Dimension = "dimension",
        /// The step from the weighted arithmetic mean to the mean of the scorecard.
        Mean = "mean",
        /// The loss of the composite with the age of its newest evidence.
        Decay = "decay",
        /// A rule that fired.
        Rule = "rule",
        /// A gate that capped the score.
        Gate = "gate",
    }

    /// The result of a check.
    pub enum CheckOutcome {
        /// It was verified.
        Verified = "verified",
        /// It failed.
        Failed = "failed",
        /// It could not be made, but is required for verification.
        Inconclusive = "inconclusive",
        /// It was not requested.
        Skipped = "skipped",
    }

    /// The result of all checks together.
    pub enum VerificationStatus {
        /// Every required check is verified.
        Verified = "verified",
        /// No check failed, but a required one could not be made.
        Consistent = "consistent",
        /// A check failed.
        Failed = "failed",
    }

    /// A part that has changed since a record was made.
    pub enum ChangedPart {
        /// The text: it differs from the one that was kept.
        Text = "text",
        /// The scorecard: it differs from the one that made the record.
        Scorecard = "scorecard",
        /// The evidence: it is a different item, or its facts differ.
        Evidence = "evidence",
        /// The engine: it makes a different record from the same scorecard and facts.
        Engine = "engine",
    }

    /// A decision on a proposal of weights from outside.
    pub enum WeightsVerdict {
        /// Its weights come into force.
        Accept = "accept",
        /// Its weights do not come into force.
        Refuse = "refuse",
        /// Its weights, which are in force, end; those of the scorecard are in force again.
        Revoke = "revoke",
    }
}
