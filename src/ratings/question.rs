//! The question: which matches, and by which system they are rated.

use std::collections::BTreeSet;

use karat_stats::rating::bradley_terry::Ties;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::invalid;
use super::matches::{Columns, Covariate};
use super::system::System;
use crate::ask::{list, names, text};
use crate::error::Error;
use crate::renames::Rename;
use crate::text::clean;

/// Most covariates.
const MOST_COVARIATES: usize = 20;

/// Competitors to rate from their matches.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Question {
    /// elo, glicko2, weng-lin or bradley-terry
    #[cfg_attr(feature = "cli", arg(long, value_enum, hide_possible_values = true, value_name = "NAME"))]
    pub system: SystemName,
    /// Other names of columns: first=home,id=date+home
    #[serde(deserialize_with = "one")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "MAP", default_value = "", hide_default_value = true)
    )]
    pub columns: Columns,
    /// Settings of the system: k=24, tau=0.5, prior=gaussian
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "LIST", default_value = "", hide_default_value = true)
    )]
    pub set: String,
    /// The arena's Elo, with its bonus at challenges
    #[cfg_attr(feature = "cli", arg(long))]
    pub arena: bool,
    /// Predict the last SHARE of the matches, such as 0.2
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE"))]
    pub holdout: Option<f64>,
    /// Ratings for each value of a column
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLUMN"))]
    pub by: Option<String>,
    /// Compare who decided; rate what people decided
    #[cfg_attr(feature = "cli", arg(long, value_name = "COLUMN"))]
    pub judge: Option<String>,
    /// Its entry for people
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "NAME", default_value = "people", requires = "judge")
    )]
    pub people: String,
    /// Another name for a competitor; repeatable
    #[serde(deserialize_with = "list")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "OLD=NEW"))]
    pub rename: Vec<Rename>,
    /// A result that means no match; repeatable
    #[serde(deserialize_with = "list")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "RESULT"))]
    pub skip: Vec<String>,
    /// Bradley-Terry of all, or largest part
    #[cfg_attr(
        feature = "cli",
        arg(long, value_enum, default_value_t, hide_possible_values = true, value_name = "PART")
    )]
    pub component: Component,
    /// Control for lengths, dates: length,date:difference
    #[serde(deserialize_with = "covariates")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST", value_delimiter = ','))]
    pub covariates: Vec<Covariate>,
    /// Bradley-Terry: intervals by resamples
    #[cfg_attr(feature = "cli", arg(long))]
    pub bootstrap: bool,
    /// Bootstrap resamples
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1000, requires = "bootstrap", value_parser = clap::value_parser!(u64).range(1..=1_000_000)))]
    pub resamples: u64,
    /// The seed of the resamples
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", default_value_t = 1, requires = "bootstrap"))]
    pub seed: u64,
    /// Confidence of intervals and groups
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = 0.95))]
    pub level: f64,
}

karat_core::words! {
    /// The rating systems by name.
    #[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
    pub enum SystemName {
        /// Elo.
        Elo = "elo",
        /// Glicko-2.
        Glicko2 = "glicko2",
        /// Weng and Lin's.
        WengLin = "weng-lin",
        /// Bradley-Terry with ties.
        BradleyTerry = "bradley-terry",
    }
}

/// The competitors that Bradley-Terry rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Component {
    /// All of them, or an error if some cannot be compared.
    #[default]
    All,
    /// The largest group whose members can be compared with each other.
    Largest,
}

impl Default for Question {
    fn default() -> Self {
        Self::new(SystemName::Elo)
    }
}

fn one<'de, D: Deserializer<'de>>(source: D) -> Result<Columns, D::Error> {
    text(source).map(Option::unwrap_or_default)
}

fn covariates<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Covariate>, D::Error> {
    names(source)?.iter().map(|text| text.parse().map_err(D::Error::custom)).collect()
}

impl Question {
    /// Returns the question for ratings of all matches by a system with its usual settings.
    pub fn new(system: SystemName) -> Self {
        Self {
            system,
            columns: Columns::default(),
            set: String::new(),
            arena: false,
            holdout: None,
            by: None,
            judge: None,
            people: String::from("people"),
            rename: Vec::new(),
            skip: Vec::new(),
            component: Component::All,
            covariates: Vec::new(),
            bootstrap: false,
            resamples: 1000,
            seed: 1,
            level: 0.95,
        }
    }

    /// Returns the system, if the parts of the question go together. `is_kept` is true if the ratings come from a file,
    /// or become one.
    ///
    /// # Errors
    /// If they do not, or a setting is wrong.
    pub(super) fn system(&self, is_kept: bool) -> Result<System, Error> {
        let system = System::new(self)?;
        let is_batch = self.system == SystemName::BradleyTerry;
        if is_batch && is_kept {
            return Err(invalid("Bradley-Terry looks at all matches at once and keeps no state")
                .hint("leave out --state and --state-out, and give all matches each time"));
        }
        if matches!(system, System::Glicko2(_, Some(_))) && is_kept {
            return Err(invalid("--state and --state-out go match by match, and period_days is set")
                .hint("leave out one of them"));
        }
        let name = self.system.name();
        if self.bootstrap && !is_batch {
            let message = format!(
                "--bootstrap is for Bradley-Terry, whose result does not depend on the order of matches; that of {name} does"
            );
            return Err(invalid(message).hint("glicko2 and weng-lin have their own intervals"));
        }
        if self.component != Component::All && !is_batch {
            return Err(invalid(format!("--component is for Bradley-Terry; {name} rates every competitor")));
        }
        if !self.covariates.is_empty() {
            self.check_covariates(&system)?;
        }
        for (flag, share) in [("--level", Some(self.level)), ("--holdout", self.holdout)] {
            if let Some(share) = share.filter(|share| !(*share > 0.0 && *share < 1.0)) {
                return Err(invalid(format!("{flag} is `{share}`, expected a share between 0 and 1")));
            }
        }
        Ok(system)
    }

    fn check_covariates(&self, system: &System) -> Result<(), Error> {
        let System::BradleyTerry(model, _) = system else {
            let name = self.system.name();
            return Err(invalid(format!("--covariates is for Bradley-Terry, and the system is {name}"))
                .hint("use it with --system bradley-terry"));
        };
        let others = [
            (model.ties != Ties::HalfWins, "ties=davidson", "a draw is half a win beside covariates"),
            (model.prior.is_some(), "prior=gaussian", "a prior pulls strengths, and effects with them"),
            (self.bootstrap, "--bootstrap", "the intervals come from the sandwich estimator"),
            (
                self.holdout.is_some(),
                "--holdout",
                "such ratings are of sides that are alike, and matches are not",
            ),
        ];
        if let Some((_, what, hint)) = others.into_iter().find(|(is_given, ..)| *is_given) {
            return Err(invalid(format!("--covariates does not go with {what}")).hint(hint));
        }
        let count = self.covariates.len();
        if count > MOST_COVARIATES {
            return Err(invalid(format!("there are {count} covariates, expected at most {MOST_COVARIATES}")));
        }
        let mut known = BTreeSet::new();
        match self.covariates.iter().find(|it| !known.insert(&it.name)) {
            Some(twice) => Err(invalid(format!("--covariates names `{}` twice", clean(&twice.name)))),
            None => Ok(()),
        }
    }

    /// Checks that the parts of the question go together, before any match is read. `is_kept` is true if the ratings
    /// come from a file, or become one.
    ///
    /// # Errors
    /// If they do not, or a setting is wrong.
    pub fn check(&self, is_kept: bool) -> Result<(), Error> {
        self.system(is_kept).map(drop)
    }
}
