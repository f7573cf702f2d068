//! Bradley-Terry with covariates: strengths of competitors beside the effect of what else differs between the two sides
//! of a match, such as the lengths of their answers.
//!
//! The first competitor `a` of a match wins against `b` with the log-odds `s_a - s_b + sum_k beta_k z_k`. The contrast of
//! covariate `k` is `(x_a - x_b) / (x_a + x_b)` or `x_a - x_b`, and `z_k` is the contrast over its standard deviation
//! (Li, Angelopoulos and Chiang, "Does style matter? Disentangling style and substance in Chatbot Arena", LMSYS 2024;
//! Bradley-Terry with variables of the pair: Springall, "Response surface fitting using a generalization of the
//! Bradley-Terry paired comparison model", Applied Statistics 22, 1973). A draw is half a win and half a loss.
//!
//! - The deviation is around 0, not around the mean: which of two is named first must not matter. So a covariate that
//!   is 1 for the first side and 0 for the second is the advantage of the first.
//! - Strengths belong to sides that are alike in all covariates.
//! - There is no penalty. Where the likelihood has no maximum there is an error.
//! - A match without all covariates is in neither fit, so that both are of the same matches.
//! - Matches are sorted and equal ones counted, so the order of matches changes no bit.
//! - It is an association: a covariate takes away what stronger competitors also do for a good reason.

mod cells;

use alloc::string::String;
use alloc::vec::Vec;

use super::bradley_terry::{
    BradleyTerry, Counts, CountsError, Covariance, Fit, FitError, Interval, LOGIT_POINTS, SandwichError,
    Ties, normal_deviations,
};
use super::outcome::Match;
use super::places::{Place, places};
use super::system::check;
use cells::Cells;

karat_core::words! {
    /// The contrast of a covariate's two values, `x` of the first competitor and `y` of the second.
    pub enum Contrast {
        /// `(x - y) / (x + y)`, from -1 to 1; 0 where both are 0. For counts and lengths.
        Relative = "relative",
        /// `x - y`.
        Difference = "difference",
    }
}

impl Contrast {
    /// Returns the contrast; none unless it and its square are numbers that a double holds, and of values from 0 if it is
    /// relative.
    pub fn of(self, [x, y]: [f64; 2]) -> Option<f64> {
        let found = match self {
            Self::Relative if x < 0.0 || y < 0.0 => return None,
            Self::Relative if x == 0.0 && y == 0.0 => 0.0,
            Self::Relative => (x - y) / (x + y),
            Self::Difference => x - y,
        };
        let is_held = found == 0.0 || (1e-100..=1e100).contains(&found.abs());
        (is_held && (x + y).is_finite()).then_some(found)
    }
}

/// Values that matches have for both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariate {
    /// Its name.
    pub name: String,
    /// The comparison of the two values of a match.
    pub contrast: Contrast,
    /// The values of the first and second competitor, one pair for each match; `None` if one is missing.
    pub values: Vec<Option<[f64; 2]>>,
}

/// The strengths with and without covariates, from the same matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Controlled {
    /// Number of matches of both fits.
    pub matches: u64,
    /// Number of matches that lack a covariate and are in neither fit.
    pub left_out: u64,
    /// The fit without covariates.
    pub without: Fitted,
    /// The fit with them.
    pub with: Fitted,
    /// The coefficients, in the order of the covariates.
    pub coefficients: Vec<Coefficient>,
}

/// A fit with its covariances.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The strengths, in logits around 0. With covariates, its predictions are of sides that are alike in all of them.
    pub fit: Fit,
    /// The covariances of the strengths: the sandwich estimator, of matches that are independent.
    pub covariance: Covariance,
}

/// The effect of a covariate.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// The name of the covariate.
    pub name: String,
    /// The effect of one standard deviation of the contrast on the log-odds of the first side.
    pub logits: f64,
    /// The standard error of `logits`: the sandwich estimator, with `deviation` as given.
    pub standard_error: f64,
    /// The standard deviation around 0 of the contrast, over the matches of the fits.
    pub deviation: f64,
    /// Number of matches that lack this covariate.
    pub missing: u64,
}

/// The reason why there is no fit with covariates.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CovariatesError {
    /// The matches cannot be counted.
    #[error(transparent)]
    Counts(CountsError),
    /// The matches that have all covariates have no fit even without them.
    #[error(transparent)]
    Fit(FitError),
    /// There are no covariances.
    #[error(transparent)]
    Sandwich(SandwichError),
    /// There is no covariate.
    #[error("there is no covariate, expected at least one")]
    NoCovariate,
    /// A covariate has not one pair of values for each match.
    #[error("the covariate `{name}` has {found} values, expected one for each of {expected} matches")]
    Values {
        /// The covariate.
        name: String,
        /// Number of values.
        found: usize,
        /// Number of matches.
        expected: usize,
    },
    /// Values that have no contrast.
    #[error("match {place}: the covariate `{name}` is {} and {}, expected finite numbers of a usual size, from 0 if relative", .found[0], .found[1])]
    Value {
        /// The covariate.
        name: String,
        /// Place of the match, from 0.
        place: usize,
        /// The values.
        found: [f64; 2],
    },
    /// The two sides of every match have the same value.
    #[error("the covariate `{name}` is the same for both sides of every match; leave it out")]
    Constant {
        /// The covariate.
        name: String,
    },
    /// A covariate says nothing that the competitors or other covariates do not.
    #[error(
        "the covariate `{name}` follows from who met whom or from the other covariates, so its effect has no value; \
         leave it out"
    )]
    Collinear {
        /// The covariate.
        name: String,
    },
    /// The parameters say without an error how some matches ended, so that the likelihood grows with an effect for ever.
    #[error(
        "the covariate `{name}` separates wins from losses, so its effect has no largest likelihood; leave it out, \
         or add matches"
    )]
    Separated {
        /// The covariate of the largest effect.
        name: String,
    },
}

impl Fitted {
    /// Returns the intervals of the strengths, in logits, each with the given confidence separately.
    ///
    /// # Errors
    /// If the confidence is not between 0 and 1: [`SandwichError`].
    pub fn intervals(&self, confidence: f64) -> Result<Vec<Interval>, SandwichError> {
        self.covariance.intervals(&self.fit, confidence)
    }

    /// Returns the ranks; two competitors are separated if 0 is outside the interval of their difference.
    ///
    /// # Errors
    /// If the confidence is not between 0 and 1: [`SandwichError`].
    pub fn places(&self, confidence: f64) -> Result<Vec<Place>, SandwichError> {
        let deviations =
            normal_deviations(confidence).ok_or(SandwichError::Confidence { found: confidence })?;
        let strength = |at: usize| self.fit.strengths.get(at);
        let told_apart = |above: usize, below: usize| {
            let error =
                self.covariance.difference_error(u32::try_from(above).ok()?, u32::try_from(below).ok()?);
            Some(strength(above)? - strength(below)? > deviations * error?)
        };
        Ok(places(&self.fit.strengths, |above, below| told_apart(above, below) == Some(true)))
    }
}

impl Coefficient {
    /// Returns the effect of one standard deviation of the contrast, in points.
    pub fn points(&self) -> f64 {
        LOGIT_POINTS * self.logits
    }

    /// Returns the normal interval of `logits`.
    ///
    /// # Errors
    /// If the confidence is not between 0 and 1: [`SandwichError`].
    pub fn interval(&self, confidence: f64) -> Result<Interval, SandwichError> {
        let deviations =
            normal_deviations(confidence).ok_or(SandwichError::Confidence { found: confidence })?;
        let reach = deviations * self.standard_error;
        Ok(Interval { lower: self.logits - reach, upper: self.logits + reach })
    }
}

impl Controlled {
    /// Fits `matches` between the competitors called `names`, without and with covariates. Time goes with the matches,
    /// and with the cube of the competitors.
    ///
    /// # Errors
    /// If the matches have no fit without covariates, or the effect of a covariate has no value: [`CovariatesError`].
    pub fn new(
        names: &[String],
        matches: &[Match],
        covariates: &[Covariate],
    ) -> Result<Self, CovariatesError> {
        check(matches, names.len()).map_err(|error| CovariatesError::Counts(CountsError::Match(error)))?;
        let (used, contrasts) = complete(matches, covariates)?;
        let counts = Counts::new(names, &used).map_err(CovariatesError::Counts)?;
        let model = BradleyTerry { ties: Ties::HalfWins, prior: None };
        let fit = model.fit(&counts).map_err(CovariatesError::Fit)?;
        let covariance = fit.covariance(&counts).map_err(CovariatesError::Sandwich)?;
        let without = Fitted { fit, covariance };
        let (cells, deviations) = Cells::new(&used, &contrasts, covariates)?;
        let (point, steps) = cells.climb(&without.fit, covariates)?;
        let covariance =
            cells.covariance(&point).ok_or(CovariatesError::Sandwich(SandwichError::Singular))?;
        let competitors = names.len();
        let coefficient = |(at, (covariate, (&logits, &deviation))): (usize, (&Covariate, (&f64, &f64)))| {
            let variance = covariance.row(competitors + at)?.get(competitors + at)?;
            let missing = covariate.values.iter().filter(|values| values.is_none()).count() as u64;
            let standard_error = libm::sqrt(variance.max(0.0));
            Some(Coefficient { name: covariate.name.clone(), logits, standard_error, deviation, missing })
        };
        let effects = covariates.iter().zip(point.coefficients.iter().zip(&deviations)).enumerate();
        Ok(Self {
            matches: used.len() as u64,
            left_out: (matches.len() - used.len()) as u64,
            coefficients: effects.filter_map(coefficient).collect(),
            with: Fitted {
                covariance: Covariance::new(&covariance, competitors),
                fit: Fit { strengths: point.strengths, steps, ..without.fit },
            },
            without,
        })
    }
}

/// Returns the matches that have all covariates, seen from the side of the lower place, and their contrasts, match by match.
fn complete(matches: &[Match], covariates: &[Covariate]) -> Result<(Vec<Match>, Vec<f64>), CovariatesError> {
    if covariates.is_empty() {
        return Err(CovariatesError::NoCovariate);
    }
    for Covariate { name, values, .. } in covariates {
        if values.len() != matches.len() {
            let (name, found, expected) = (name.clone(), values.len(), matches.len());
            return Err(CovariatesError::Values { name, found, expected });
        }
    }
    let (mut used, mut contrasts) = (Vec::with_capacity(matches.len()), Vec::new());
    contrasts.reserve(matches.len().saturating_mul(covariates.len()));
    for (place, &found) in matches.iter().enumerate() {
        let start = contrasts.len();
        let turn = found.first > found.second;
        for Covariate { name, contrast, values } in covariates {
            let Some(&Some(found)) = values.get(place) else { continue };
            let value = contrast.of(found);
            let value = value.ok_or_else(|| CovariatesError::Value { name: name.clone(), place, found })?;
            // Not a negative zero, which would be sorted apart.
            contrasts.push(if turn { -value } else { value } + 0.0);
        }
        if contrasts.len() - start < covariates.len() {
            contrasts.truncate(start);
            continue;
        }
        let Match { first, second, outcome } = found;
        used.push(if turn {
            Match { first: second, second: first, outcome: outcome.opposite() }
        } else {
            found
        });
    }
    Ok((used, contrasts))
}

#[cfg(test)]
mod tests;
