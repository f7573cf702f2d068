//! The means by which weighted readings become one number.

/// The mean by which weighted readings become one number (`docs/guide/scorecard.md`, The mean).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Mean {
    WeightedSum,
    WeightedMean,
    Geometric,
    Harmonic,
    Minimum,
}

impl Mean {
    /// Every mean.
    pub const ALL: [Self; 5] =
        [Self::WeightedSum, Self::WeightedMean, Self::Geometric, Self::Harmonic, Self::Minimum];

    /// Returns the name as written: `weighted-sum`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::WeightedSum => "weighted-sum",
            Self::WeightedMean => "weighted-mean",
            Self::Geometric => "geometric",
            Self::Harmonic => "harmonic",
            Self::Minimum => "minimum",
        }
    }
}
