//! Treatment of runs by how they ended: the choice that decides which of them count, and as what.

pub use crate::facts::Outcome;

crate::words! {
    /// The treatment of an outcome that is neither success nor failure.
    pub enum Treatment {
        /// A success.
        Success = "success",
        /// A failure.
        Failure = "failure",
        /// Left out.
        Excluded = "excluded",
        /// Its score, where scores are compared. Where only outcomes are, the run is left out: a score is not a success.
        Scored = "scored",
    }
}

impl Treatment {
    /// The treatments that need no score: the other choices that are tried where one might matter.
    pub const WITHOUT_SCORE: [Self; 3] = [Self::Success, Self::Failure, Self::Excluded];
}

/// The treatment of each outcome that is neither success nor failure.
///
/// ```
/// use karat_core::outcome::{Outcome, Policy, Treatment};
/// assert_eq!(Policy::default().treatment(Outcome::NoVerdict), Treatment::Excluded);
/// assert_eq!(Policy::default().treatment(Outcome::Stopped), Treatment::Failure);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Policy {
    /// The treatment of [`Outcome::NoVerdict`].
    pub no_verdict: Treatment,
    /// The treatment of [`Outcome::Stopped`].
    pub stopped: Treatment,
    /// The treatment of [`Outcome::NotApplicable`].
    pub not_applicable: Treatment,
    /// The treatment of [`Outcome::Refused`].
    pub refused: Treatment,
}

impl Default for Policy {
    /// Leaves out what is not the subject's doing; the rest is a failure.
    fn default() -> Self {
        use Treatment::{Excluded, Failure};
        Self { no_verdict: Excluded, stopped: Failure, not_applicable: Excluded, refused: Failure }
    }
}

impl Policy {
    /// Returns the treatment of an outcome.
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
