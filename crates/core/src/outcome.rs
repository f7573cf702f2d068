//! Treatment of runs by how they ended: the choice that decides which of them count, and as what.

pub use crate::facts::Outcome;

/// What an outcome counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Treatment {
    /// A success.
    Success,
    /// A failure.
    Failure,
    /// Nothing: the run is left out.
    Excluded,
    /// What it scored, where scores are compared. Where only endings are, the run is left out: a score is no success.
    Scored,
}

impl Treatment {
    /// The treatments that need no score: the other choices that are tried where one might matter.
    pub const ALL: [Self; 3] = [Self::Success, Self::Failure, Self::Excluded];

    /// As written: `excluded`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Excluded => "excluded",
            Self::Scored => "scored",
        }
    }
}

/// What each outcome counts as that is neither success nor failure.
///
/// ```
/// use karat_core::outcome::{Outcome, Policy, Treatment};
/// assert_eq!(Policy::default().treatment(Outcome::NoVerdict), Treatment::Excluded);
/// assert_eq!(Policy::default().treatment(Outcome::Stopped), Treatment::Failure);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Policy {
    /// What [`Outcome::NoVerdict`] counts as.
    pub no_verdict: Treatment,
    /// What [`Outcome::Stopped`] counts as.
    pub stopped: Treatment,
    /// What [`Outcome::NotApplicable`] counts as.
    pub not_applicable: Treatment,
    /// What [`Outcome::Refused`] counts as.
    pub refused: Treatment,
}

impl Default for Policy {
    /// What is not the subject's doing is left out, the rest is a failure.
    fn default() -> Self {
        use Treatment::{Excluded, Failure};
        Self { no_verdict: Excluded, stopped: Failure, not_applicable: Excluded, refused: Failure }
    }
}

impl Policy {
    /// What an outcome counts as.
    #[must_use]
    pub fn treatment(self, outcome: Outcome) -> Treatment {
        match outcome {
            Outcome::Succeeded => Treatment::Success,
            Outcome::Failed => Treatment::Failure,
            Outcome::NoVerdict => self.no_verdict,
            Outcome::Stopped => self.stopped,
            Outcome::NotApplicable => self.not_applicable,
            Outcome::Refused => self.refused,
        }
    }
}
