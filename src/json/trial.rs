//! Weights on trial.

use std::collections::BTreeMap;

use karat_core::scorecard::Scorecard;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ask::answer::invalid;
use crate::cards::library;
use crate::document::what_if;
use crate::error::Error;
use crate::write::html::cells;

/// Weights on trial, as JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trying {
    /// The weights by name, as a form has them.
    asked: BTreeMap<String, String>,
    given: GivenSubjects,
}

/// The subjects of a scorecard with its text: what the page of a server asks [`what_if()`] about.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenSubjects {
    /// The text of the scorecard.
    pub card: String,
    /// The subjects.
    pub subjects: what_if::Subjects,
}

/// Ranks subjects by other weights: a sentence in parts, and the cells of its tables.
///
/// # Errors
/// If the question has another form, or a weight is not one.
pub fn what_if(question: &[u8]) -> Result<Vec<u8>, Error> {
    let trying: Trying = serde_json::from_slice(question).map_err(|error| invalid(error.to_string()))?;
    // Graders that are not built in rank nothing, so the card need not score here.
    let card = Scorecard::read(&trying.given.card, &library).0;
    let card = card.ok_or_else(|| invalid("this is not a scorecard"))?;
    let wanted = what_if::asked_weights(&card, &trying.asked)
        .map_err(|(name, detail)| invalid(format!("`{name}`: {detail}")))?;
    let answer = match what_if::what_if(&trying.given.subjects, &card, &wanted) {
        Ok(tried) => json!({
            "sentence": tried.sentence, "ranking": cells(&tried.ranking), "shares": cells(&tried.shares),
        }),
        Err(why) => json!({"refused": why.to_string()}),
    };
    Ok(answer.to_string().into_bytes())
}
