//! Words with a fixed set of values, as answers write them. Each is the word that the engine has for it.

use karat_core::explain::LevelKind as CoreLevel;
use karat_core::facts::Outcome as CoreOutcome;
use karat_core::record::{ReadingStatus as CoreReading, Status as CoreStatus};
use karat_core::scorecard::{Mean as CoreMean, StandingScore as CoreBasis};
use karat_standing::calibration::Difficulty as CoreDifficulty;
use karat_standing::certification::Cause as CoreTierCause;
use karat_standing::lifecycle::TaskStatus as CoreTaskStatus;
use karat_standing::review::{State as CoreReviewState, Verdict as CoreReviewVerdict};
use karat_standing::shares::ShareCase as CoreShareCase;
use karat_stats::Method as CoreMethod;
use karat_stats::compare::Verdict as CoreVerdict;
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
            /// Returns the word as it is written.
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
    /// How a run ended.
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

    /// What an outcome counts as that is neither success nor failure.
    Treatment [CoreTreatment] {
        /// A success.
        Success = "success",
        /// A failure.
        Failure = "failure",
        /// Nothing: the run is left out.
        Excluded = "excluded",
        /// Its score, where scores are compared.
        Scored = "scored",
    }

    /// How the ends of an interval were found.
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

    /// How a leaderboard was computed.
    LeaderboardMethod [] {
        /// Bootstrap resamples of the tasks: intervals, rank ranges, groups that are tied.
        Bootstrap = "bootstrap",
        /// Means, with intervals from the spread of the tasks and Student's t: for very many subjects or records.
        Student = "student",
    }

    /// Which of two subjects is ahead.
    ComparisonVerdict [CoreVerdict] {
        /// The first.
        FirstAhead = "first-ahead",
        /// The second.
        SecondAhead = "second-ahead",
        /// They cannot be told apart.
        NotDistinguishable = "not-distinguishable",
    }

    /// A mean that the composite may be.
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

    /// The items that the score of a standing is made of.
    StandingScore [CoreBasis] {
        /// The mean over a window of items.
        Window = "window",
        /// The newest value of each dimension, after decay.
        Latest = "latest",
    }

    /// What became of a score under review.
    ReviewState [CoreReviewState] {
        /// It became the official score.
        Committed = "committed",
        /// It is held until reviewers decide.
        PendingReview = "pending_review",
        /// Reviewers approved it; it is committed next.
        Approved = "approved",
        /// A reviewer rejected it.
        Rejected = "rejected",
        /// No reviewer decided in time, or it rises again by the runner of an expired one.
        Expired = "expired",
        /// A newer score took its place before reviewers decided.
        Superseded = "superseded",
    }

    /// A decision of a reviewer.
    ReviewVerdict [CoreReviewVerdict] {
        /// The held score becomes the official one.
        Approve = "approve",
        /// It does not.
        Reject = "reject",
    }

    /// An event of a subject beside its evaluations.
    SubjectChange [] {
        /// A critical incident was confirmed.
        IncidentOpened = "incident-opened",
        /// A critical incident was closed.
        IncidentClosed = "incident-closed",
        /// The subject was put on hold: it runs something else than it declares.
        HoldPlaced = "hold-placed",
        /// The hold was lifted.
        HoldLifted = "hold-lifted",
    }

    /// Why the tier of a subject changed.
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

    /// How the whole was shared out.
    ShareCase [CoreShareCase] {
        /// No score is above 0, and all shares are 0.
        NothingToShare = "nothing-to-share",
        /// In proportion to the scores, below the cap.
        Proportional = "proportional",
        /// Some were cut at the cap, and the rest went to the others in proportion.
        Redistributed = "redistributed",
        /// Too few subjects: the cap was raised, and all with a score got the same.
        CapRaised = "cap-raised",
        /// Too few subjects: all with a score are at the cap, and a rest is left.
        RestLeft = "rest-left",
    }

    /// How hard a task is.
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

    /// Whether a task is in use.
    TaskStatus [CoreTaskStatus] {
        /// It is.
        Active = "active",
        /// No subject solves it: it is probably broken. It comes back as soon as one does.
        Quarantined = "quarantined",
        /// Nearly all subjects solve it, or it stayed broken. It does not come back.
        Deprecated = "deprecated",
    }

    /// Where a task that changes is heading.
    TaskTrend [] {
        /// Nearly all subjects solve it.
        Solved = "solved",
        /// No subject solves it.
        Failed = "failed",
    }

    /// Whether a dimension has a value.
    ValueStatus [CoreReading] {
        /// It was measured.
        Scored = "scored",
        /// Its gate is closed, so that it counts as 0.
        Gated = "gated",
        /// It does not apply to the item.
        NotApplicable = "not-applicable",
        /// The evidence does not say.
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
        /// A rule that fired.
        Rule = "rule",
        /// A gate that capped the score.
        Gate = "gate",
    }

    /// What a score can rise to next.
    LevelKind [CoreLevel] {
        /// A named range of the published score.
        Band = "band",
        /// A certified level with conditions of its own.
        Tier = "tier",
    }

    /// How a check ended.
    CheckOutcome [] {
        /// It was verified.
        Verified = "verified",
        /// It failed.
        Failed = "failed",
        /// It could not be made, and without it nothing is verified.
        Inconclusive = "inconclusive",
        /// It was not asked for.
        Skipped = "skipped",
    }

    /// What all checks say together.
    VerificationStatus [] {
        /// Every check that must be verified is.
        Verified = "verified",
        /// No check failed, and one that is needed could not be made.
        Consistent = "consistent",
        /// A check failed.
        Failed = "failed",
    }

    /// What has changed since a record was made.
    ChangedPart [] {
        /// The text: it is not the one that was kept.
        Text = "text",
        /// The scorecard: this is another one than the record was made with.
        Scorecard = "scorecard",
        /// The evidence: this is another item, or its facts are others.
        Evidence = "evidence",
        /// The engine: it makes another record of the same scorecard and the same facts.
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
        /// A decision, or another event of a subject.
        Review = "review",
        /// A key of the API.
        Key = "key",
    }

    /// Whether an item has a score.
    RecordStatus [CoreStatus] {
        /// It has.
        Scored = "scored",
        /// It has none.
        Unscored = "unscored",
        /// The scorecard withholds it.
        Withheld = "withheld",
    }
}
