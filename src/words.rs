//! Words with a fixed set of values, as answers write them. They are the words of the engine.

use karat_core::explain::LevelKind as CoreLevel;
use karat_core::facts::Outcome as CoreOutcome;
use karat_core::record::{ReadingStatus as CoreReading, Status as CoreStatus};
use karat_core::scorecard::{Mean as CoreMean, StandingScore as CoreBasis};
use karat_graders::arena::Voucher as CoreVoucher;
use karat_standing::calibration::Difficulty as CoreDifficulty;
use karat_standing::certification::Cause as CoreTierCause;
use karat_standing::lifecycle::TaskStatus as CoreTaskStatus;
use karat_standing::overrides::ProposalStatus as CoreProposalStatus;
use karat_standing::review::{State as CoreReviewState, Verdict as CoreReviewVerdict};
use karat_standing::shares::ShareCase as CoreShareCase;
use karat_stats::Method as CoreMethod;
use karat_stats::compare::{Change as CoreChange, Verdict as CoreVerdict};
use karat_stats::outcome::Treatment as CoreTreatment;
use serde::{Deserialize, Serialize};

/// Defines enums of words; the brackets name the type of the engine that has the same variants.
macro_rules! words {
    () => {};
    (@enum [$($doc:tt)*] $name:ident { $($(#[$about:meta])* $variant:ident = $word:tt,)+ }) => {
        $($doc)*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        pub enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Returns the word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// Returns the value of a word.
            #[must_use]
            pub fn from_name(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
    (@from $name:ident $core:ident { $($(#[$about:meta])* $variant:ident = $word:tt,)+ }) => {
        impl From<$core> for $name {
            fn from(found: $core) -> Self {
                match found { $($core::$variant => Self::$variant,)+ }
            }
        }
    };
    ($(#[$doc:meta])* $name:ident [$($core:ident)?] $body:tt $($rest:tt)*) => {
        words!(@enum [$(#[$doc])*] $name $body);
        $(words!(@from $name $core $body);)?
        words!($($rest)*);
    };
}

words! {
    /// The voucher of a match as verified, or as memoryless.
    Voucher [CoreVoucher] {
        /// The item states it.
        Claimed = "claimed",
        /// The log was checked against the nonce of the match.
        Checked = "checked",
        /// A harness signed it.
        Harness = "harness",
    }

    /// The outcome of a run.
    Outcome [CoreOutcome] {
        /// The task was solved.
        Succeeded = "succeeded",
        /// The task was not solved.
        Failed = "failed",
        /// There is no verdict because the instrument failed.
        NoVerdict = "no-verdict",
        /// The run was cancelled, or stopped at a limit.
        Stopped = "stopped",
        /// The task does not apply to the subject.
        NotApplicable = "not-applicable",
        /// The subject refused the task.
        Refused = "refused",
    }

    /// The treatment of an outcome that is neither success nor failure.
    Treatment [CoreTreatment] {
        /// A success.
        Success = "success",
        /// A failure.
        Failure = "failure",
        /// Nothing: the run is left out.
        Excluded = "excluded",
        /// Its score, if scores are compared.
        Scored = "scored",
    }

    /// The method of an interval.
    IntervalMethod [CoreMethod] {
        /// Wilson's score interval of a share.
        Wilson = "wilson",
        /// The exact interval of a share.
        ClopperPearson = "clopper-pearson",
        /// Quantiles of the bootstrap resamples.
        Percentile = "percentile",
        /// Quantiles of the bootstrap resamples, corrected for bias and skew.
        BiasCorrectedAccelerated = "bias-corrected-accelerated",
        /// The spread of the values and Student's t.
        Student = "student",
    }

    /// The change of a task from one subject to another.
    TaskChangeKind [] {
        /// With one attempt each, it passed and does not any more.
        PassLost = "pass-lost",
        /// With one attempt each, it passes and did not.
        PassGained = "pass-gained",
        /// Its score, or the mean of its attempts, fell.
        Fell = "fell",
        /// Its score, or the mean of its attempts, rose.
        Rose = "rose",
    }

    /// The finding of a gate on a second subject against a first.
    GateChange [CoreChange] {
        /// It is worse by more than the margin.
        Worse = "worse",
        /// It is not worse by the margin.
        NotWorse = "not-worse",
        /// Neither is shown.
        Open = "open",
    }

    /// The method of a leaderboard.
    LeaderboardMethod [] {
        /// Bootstrap resamples of the tasks: intervals, rank ranges, letters for ties.
        Bootstrap = "bootstrap",
        /// Means, with intervals from the spread of the tasks and Student's t: for many subjects or records.
        Student = "student",
        /// Means alone: the items are all there are, so that nothing is estimated.
        Census = "census",
    }

    /// The moment to which the evidence behind the mean of runs is decayed.
    DecayMoment [] {
        /// One moment for all items.
        AsOf = "as-of",
        /// The own moment of each item, so that an old item counts as much as on its first day.
        Own = "own",
    }

    /// A level between the mean of the runs of a subject and its official score.
    BridgeStep [] {
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
    UnrankedReason [] {
        /// None of its items counts.
        NothingCounts = "nothing-counts",
        /// It has fewer tasks than required.
        TooFewTasks = "too-few-tasks",
        /// It has no official score at this moment.
        NoOfficialScore = "no-official-score",
    }

    /// The origin of a choice.
    ChoiceSource [] {
        /// The scorecard states it.
        Scorecard = "scorecard",
        /// Nothing states it: it is the default.
        Default = "default",
        /// The request: a flag of the command line.
        Request = "request",
    }

    /// The result of comparing two subjects.
    ComparisonVerdict [CoreVerdict] {
        /// The first.
        FirstAhead = "first-ahead",
        /// The second.
        SecondAhead = "second-ahead",
        /// The evidence does not separate them.
        NotDistinguishable = "not-distinguishable",
        /// They share too few tasks for any result to separate them.
        TooFewSharedTasks = "too-few-shared-tasks",
    }

    /// A mean that makes the composite.
    Mean [CoreMean] {
        /// The weighted sum.
        WeightedSum = "weighted-sum",
        /// The weighted arithmetic mean.
        WeightedMean = "weighted-mean",
        /// The weighted geometric mean.
        Geometric = "geometric",
        /// The weighted harmonic mean.
        Harmonic = "harmonic",
        /// The lowest value.
        Minimum = "minimum",
    }

    /// The basis of the score of a standing.
    StandingScore [CoreBasis] {
        /// The mean over a window of items.
        Window = "window",
        /// The newest value of each dimension, after decay.
        Latest = "latest",
    }

    /// The state of a score under review.
    ReviewState [CoreReviewState] {
        /// It became the official score.
        Committed = "committed",
        /// It is held until reviewers decide.
        PendingReview = "pending_review",
        /// Reviewers approved it; it is committed next.
        Approved = "approved",
        /// A reviewer rejected it.
        Rejected = "rejected",
        /// No reviewer decided in time, or the score rises again by the runner of an expired one.
        Expired = "expired",
        /// A newer score replaced it before reviewers decided.
        Superseded = "superseded",
    }

    /// A decision of a reviewer.
    ReviewVerdict [CoreReviewVerdict] {
        /// The held score becomes the official one.
        Approve = "approve",
        /// The held score is dropped.
        Reject = "reject",
    }

    /// An event of a subject beside its evaluations.
    SubjectChange [] {
        /// A critical incident was confirmed.
        IncidentOpened = "incident-opened",
        /// A critical incident was closed.
        IncidentClosed = "incident-closed",
        /// The subject was put on hold because it runs something other than it declares.
        HoldPlaced = "hold-placed",
        /// The hold was lifted.
        HoldLifted = "hold-lifted",
    }

    /// The cause of a change of tier.
    TierCause [CoreTierCause] {
        /// The next tier was earned for long enough.
        Promotion = "promotion",
        /// A gate capped the score.
        Gate = "gate",
        /// New evidence lowered the score.
        Evidence = "evidence",
        /// Age lowered the score for too long.
        Decay = "decay",
        /// There was no new evidence for too long.
        Silence = "silence",
    }

    /// The way in which the whole was divided.
    ShareCase [CoreShareCase] {
        /// No score is above 0, and all shares are 0.
        NothingToShare = "nothing-to-share",
        /// In proportion to the scores, below the cap.
        Proportional = "proportional",
        /// Some were cut at the cap, and the rest went to the others in proportion.
        Redistributed = "redistributed",
        /// Too few subjects: the cap was raised, and all with a score got the same.
        CapRaised = "cap-raised",
        /// Too few subjects: all with a score are at the cap, and a remainder is left.
        RestLeft = "rest-left",
    }

    /// The difficulty of a task.
    Difficulty [CoreDifficulty] {
        /// The easiest.
        Newcomer = "newcomer",
        /// Harder.
        Contender = "contender",
        /// Harder still.
        Veteran = "veteran",
        /// The hardest.
        Legendary = "legendary",
    }

    /// The status of a task.
    TaskStatus [CoreTaskStatus] {
        /// It is in use.
        Active = "active",
        /// No subject solves it: it is probably broken. It comes back as soon as one does.
        Quarantined = "quarantined",
        /// Nearly all subjects solve it, or it stayed broken. It does not come back.
        Deprecated = "deprecated",
    }

    /// The direction in which the status of a task is changing.
    TaskTrend [] {
        /// Nearly all subjects solve it.
        Solved = "solved",
        /// No subject solves it.
        Failed = "failed",
    }

    /// The status of the value of a dimension.
    ValueStatus [CoreReading] {
        /// It was measured.
        Scored = "scored",
        /// Its gate is closed, so it counts as 0.
        Gated = "gated",
        /// It does not apply to the item.
        NotApplicable = "not-applicable",
        /// The evidence does not give it.
        Missing = "missing",
        /// Its formula has no value for these facts.
        Failed = "failed",
    }

    /// A part of a score.
    ExplanationKind [] {
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

    /// The next level that a score can reach.
    LevelKind [CoreLevel] {
        /// A named range of the published score.
        Band = "band",
        /// A certified level with its own conditions.
        Tier = "tier",
    }

    /// The result of a check.
    CheckOutcome [] {
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
    VerificationStatus [] {
        /// Every required check is verified.
        Verified = "verified",
        /// No check failed, but a required one could not be made.
        Consistent = "consistent",
        /// A check failed.
        Failed = "failed",
    }

    /// A part that has changed since a record was made.
    ChangedPart [] {
        /// The text: it differs from the one that was kept.
        Text = "text",
        /// The scorecard: it differs from the one that made the record.
        Scorecard = "scorecard",
        /// The evidence: it is a different item, or its facts differ.
        Evidence = "evidence",
        /// The engine: it makes a different record from the same scorecard and facts.
        Engine = "engine",
    }

    /// A kind of item in the log.
    ItemKind [] {
        /// An item of evidence.
        Evidence = "evidence",
        /// A score record.
        Record = "record",
        /// A scorecard.
        Scorecard = "scorecard",
        /// A challenge, an agent, or a state of a match.
        Match = "match",
        /// A decision, or another event about a subject.
        Review = "review",
        /// An API key.
        Key = "key",
        /// A proposal of weights from outside, or a decision on it.
        Weights = "weights",
        /// A recorder, a task, a plan, what a recorder delivered, or a verdict.
        Workflow = "workflow",
        /// The recording of a run.
        Recording = "recording",
        /// Spans of a trace, or its end.
        Spans = "spans",
    }

    /// The status of a proposal of weights from outside.
    ProposalStatus [CoreProposalStatus] {
        /// It waits for a decision.
        Proposed = "proposed",
        /// Its weights are in force.
        Accepted = "accepted",
        /// The check or someone refused it.
        Refused = "refused",
        /// Its weights were in force until those of another proposal were.
        Replaced = "replaced",
        /// Its weights were in force until someone revoked them.
        Revoked = "revoked",
    }

    /// A decision on a proposal of weights from outside.
    WeightsVerdict [] {
        /// Its weights come into force.
        Accept = "accept",
        /// Its weights do not come into force.
        Refuse = "refuse",
        /// Its weights, which are in force, end; those of the scorecard are in force again.
        Revoke = "revoke",
    }

    /// The status of the score of an item.
    RecordStatus [CoreStatus] {
        /// It has a score.
        Scored = "scored",
        /// It has no score.
        Unscored = "unscored",
        /// The scorecard withholds it.
        Withheld = "withheld",
    }
}
