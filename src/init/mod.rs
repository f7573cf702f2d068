//! A scorecard and a project file from data, with the reasons in comments: `karat init`.
//!
//! [`Data`] looks at every item, [`Plan`] says which field is what, by the names and values of the fields and by a
//! [`Question`], and writes both files. Where a person is at hand, [`Prompt`]s change the plan.
//!
//! ```
//! use karat::init::{Data, Plan, Question};
//! use karat::Layout;
//!
//! let question = Question::default();
//! let mut data = Data::new(vec!["runs.csv".into()], &question);
//! let table = &include_bytes!("../../examples/leaderboard/runs.csv")[..];
//! data.add_items("runs.csv", Layout::Csv, || Ok(table))?;
//! let plan = Plan::new(&data, &question)?;
//! assert!(plan.card()?.unwrap().contains("key     = \"solved\""));
//! assert!(plan.project("scorecard.toml").contains("fail_if_worse = true"));
//! # Ok::<(), karat::Error>(())
//! ```

mod card;
mod data;
mod plan;
mod project;
mod prompt;
mod values;

use karat_core::number::Decimal;

use crate::error::{Code, Error};
pub use data::Data;
pub use plan::Plan;
pub use prompt::Prompt;

/// Facts about the data that the person who asks for the files knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
pub struct Question {
    /// The field that names who is scored
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub subject: Option<String>,
    /// The field that names what was attempted
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub task: Option<String>,
    /// The field that decides success
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub success: Option<String>,
    /// A field that counts, more is better; repeatable
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub higher: Vec<String>,
    /// A field that counts, less is better; repeatable
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub lower: Vec<String>,
    /// A field that does not count; repeatable
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub without: Vec<String>,
    /// The gate: every score at least POINTS, of 100
    #[cfg_attr(feature = "cli", arg(long, value_name = "POINTS", value_parser = crate::ask::points))]
    pub fail_under: Option<Decimal>,
}

impl Question {
    /// Returns the fields that it names.
    fn fields(&self) -> impl Iterator<Item = &str> {
        let lists = [&self.higher, &self.lower, &self.without].into_iter().flatten();
        lists.chain(&self.subject).chain(&self.task).chain(&self.success).map(String::as_str)
    }
}

/// Returns the refusal of data, or of a question about it.
fn refused(message: impl Into<String>) -> Error {
    Error::new(Code::InvalidOption, message)
}
