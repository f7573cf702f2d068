//! The tables of a challenge file, which is TOML.

use super::{Evaluator, read};
use crate::execution::FileReader;
use karat_evidence::json::problem::Problems;
use karat_evidence::json::toml;

/// The tables of a challenge file that a scorecard does not have.
const TABLES: [&str; 4] = ["evaluator", "format", "submission", "limits"];

pub(super) fn read(
    text: &str,
    picked: &[&str],
    files: Option<FileReader<'_>>,
) -> Result<Evaluator, Problems> {
    // A value that JSON does not have is `null` here, which fits nowhere.
    let tables = toml::read(text, |key| TABLES.contains(&key), &mut Problems::default())?;
    read::read(&tables, picked, files).map_err(|problems| toml::located(text, &problems))
}
