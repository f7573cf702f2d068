//! The scorecard, the items and the confidence that questions share.

use karat_stats::StatisticsError;
use serde::Deserialize;

use super::answer::invalid;
use super::{Items, Sure, level};
use crate::error::{Code, Error};

/// The scorecard, the items and the confidence of a question.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct About {
    /// The scorecard of evidence; records name their own
    #[cfg_attr(feature = "cli", arg(long, short = 'c', value_name = "ID|FILE"))]
    #[cfg_attr(feature = "schema", param(required = true, example = "task-run@1.0.0"))]
    pub card: Option<String>,
    /// The items
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub items: Items,
    /// The confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub sure: Sure,
}

impl About {
    /// The names of its settings.
    pub const SETTINGS: &'static [&'static str] =
        &["card", "subject_field", "task_field", "rename", "where", "since", "until", "as_of", "level"];

    /// Refuses a confidence that no flag takes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let asked = self.sure.confidence.level;
        let read = level(&asked.to_string());
        read.map(|_| ()).map_err(|why| invalid(format!("`level` is `{asked}`: {why}")))
    }
}

/// Returns what was found; none where there is too little for it.
pub(crate) fn few<T>(found: Result<T, StatisticsError>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(StatisticsError::TooFew { .. }) => Ok(None),
        Err(error) => Err(Error::new(Code::InvalidOption, error.to_string())),
    }
}
