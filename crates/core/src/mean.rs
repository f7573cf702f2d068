//! The means by which weighted readings become one number: all that tells one from another.

crate::words! {
    /// A mean that makes the composite.
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Mean {
        WeightedSum = "weighted-sum",
        WeightedMean = "weighted-mean",
        Geometric = "geometric",
        Harmonic = "harmonic",
        Minimum = "minimum",
    }
}

impl Mean {
    /// Returns whether the composite is a sum of weights times readings, so that contributions add up without a step.
    pub const fn is_linear(self) -> bool {
        match self {
            Self::WeightedSum | Self::WeightedMean => true,
            Self::Geometric | Self::Harmonic | Self::Minimum => false,
        }
    }

    /// Returns whether weights count as they are, not divided by the weight of what was measured. They must sum to 1 then.
    pub const fn takes_weights_as_given(self) -> bool {
        match self {
            Self::WeightedSum => true,
            Self::WeightedMean | Self::Geometric | Self::Harmonic | Self::Minimum => false,
        }
    }

    /// Returns whether a reading of 0 makes the composite 0, whatever the others are.
    pub const fn is_zero_with_one_zero(self) -> bool {
        match self {
            Self::WeightedSum | Self::WeightedMean => false,
            Self::Geometric | Self::Harmonic | Self::Minimum => true,
        }
    }

    /// Returns whether readings of different ages can be averaged one by one: the composite is linear, and divides by the
    /// weight measured.
    pub const fn is_weighted_average(self) -> bool {
        self.is_linear() && !self.takes_weights_as_given()
    }

    /// Returns what a reading from 0 to 1 adds to the sum that [`Self::finish`] takes.
    #[inline(always)]
    pub fn term(self, weight: f64, reading: f64) -> f64 {
        match self {
            Self::WeightedSum | Self::WeightedMean => weight * reading,
            Self::Geometric => weight * libm::log(reading),
            Self::Harmonic => weight / reading,
            Self::Minimum => 0.0,
        }
    }

    /// Returns the composite: of the sum of all terms, the sum of their weights (more than 0), and the smallest reading
    /// that has a weight.
    #[inline(always)]
    pub fn finish(self, terms: f64, weights: f64, smallest: f64) -> f64 {
        if self.is_zero_with_one_zero() && smallest == 0.0 {
            return 0.0;
        }
        match self {
            Self::WeightedSum => terms,
            Self::WeightedMean => terms / weights,
            Self::Geometric => libm::exp(terms / weights),
            Self::Harmonic => weights / terms,
            Self::Minimum => smallest,
        }
    }
}
