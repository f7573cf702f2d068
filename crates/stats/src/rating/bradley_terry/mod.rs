//! Bradley-Terry with ties: strengths from all matches at once, by maximum likelihood or with a prior, with intervals.
//!
//! - `counts`: matches counted by pair, so that the order of rows cannot matter
//! - `graph`: whether the comparisons hold together, and who only wins or only loses where they do not
//! - `fit`, `equations`: the strengths, by Newton's method and conjugate gradients; `error`: why they do not exist
//! - `sandwich`, `bootstrap`: intervals; with a prior, `sandwich` has those of the posterior
//!
//! ```
//! use karat_stats::rating::bradley_terry::Counts;
//! use karat_stats::rating::{BradleyTerry, Match, Outcome};
//!
//! let names = ["ann", "bob"].map(String::from);
//! let found = |outcome| Match { first: 0, second: 1, outcome };
//! let matches = [found(Outcome::Win), found(Outcome::Win), found(Outcome::Win), found(Outcome::Loss)];
//! let counts = Counts::new(&names, &matches).unwrap();
//! let fit = BradleyTerry::default().fit(&counts).unwrap();
//! assert!((fit.expected(0, 1).unwrap() - 0.75).abs() < 1e-12);
//! ```

mod bootstrap;
mod counts;
mod equations;
mod error;
mod fit;
mod graph;
mod sandwich;

pub use bootstrap::{Bootstrap, BootstrapError, Resamples};
pub use counts::{Counts, CountsError, PairCount};
pub(in crate::rating) use equations::dot;
pub use error::{FitError, Separation};
pub use fit::{BradleyTerry, Fit, Gaussian, Interval, LOGIT_POINTS, Prediction, Ties};
pub(in crate::rating) use sandwich::Matrix;
pub use sandwich::{Covariance, SandwichError, normal_deviations};

#[cfg(test)]
mod tests;
