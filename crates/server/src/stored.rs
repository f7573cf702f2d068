//! Parts of stored records that only a server needs: the task of an item, and how far its record is to be trusted. The log
//! guarantees the bytes of a record, so nothing is computed again.

use karat::record::RecordDocument;
use karat::rows::ALL_CASES;
pub use karat::trust::Trust;
use karat_core::scorecard::{Reporter, Scorecard};
use karat_store::Error;
use serde_json::value::RawValue;

use crate::basics::*;
use crate::problem::Problem;

/// The name of the fact of a trace that a server measures by its own embedder.
const NOVELTY: &str = "novelty";

/// Returns the task of a record: its name, that of the challenge or that of all cases; `None` if the item is its own task.
pub fn task(record: &RecordDocument, card: &Scorecard) -> Option<String> {
    task_of(record.evidence.task.as_deref(), record.evidence.n, card).map(str::to_owned)
}

/// Returns the same of an item that states a task and a number of cases, or does not.
pub fn task_of<'a>(task: Option<&'a str>, cases: Option<u64>, card: &'a Scorecard) -> Option<&'a str> {
    let challenge = card.base.is_some().then_some(card.id.as_str());
    task.or(challenge).or(cases.map(|_| ALL_CASES))
}

/// Returns true if the fact with that name was measured by this server and not stated: the novelty of a trace that it
/// embedded.
pub(crate) fn is_measured_here(card: &Scorecard, fact: &str, is_embedded: bool) -> bool {
    is_embedded && fact == NOVELTY && card.evidence == karat_reader::Kind::ReasoningTrace.name()
}

/// Returns the provenances of the facts of a record that its sender stated.
pub(crate) fn stated(record: &RecordDocument, card: &Scorecard) -> impl Iterator<Item = Reporter> {
    let is_embedded = record.is_embedded();
    let stated =
        move |name: &str| record.facts.contains_key(name) && !is_measured_here(card, name, is_embedded);
    card.facts.iter().filter(move |fact| stated(&fact.name)).map(|fact| fact.from)
}

/// Returns the trust class of a record that was not graded here, whose sender may state facts up to the class `ceiling`.
pub fn trust(record: &RecordDocument, card: &Scorecard, ceiling: Trust) -> Trust {
    Trust::of(stated(record, card)).min(ceiling)
}

/// Returns the item of evidence of a record, as it was sent; `None` if the log has none.
pub(crate) fn source(reader: &mut Reader, record: &Item) -> Result<Option<Item>, Problem> {
    let is_source =
        |item: &Item| item.entry.kind == Kind::Evidence && record.entry.sources.contains(&item.entry.content);
    // Both came in one submission, the evidence first.
    if let Some(before) = record.position.checked_sub(1) {
        let item = reader.item(before)?;
        if is_source(&item) {
            return Ok(Some(item));
        }
    }
    // The name of a scorecard has no `/`.
    let id = record.entry.id.rsplit_once('/').map(|(evidence, _)| evidence);
    let found = id.map(|id| reader.find(Kind::Evidence, id, record.position)).transpose()?;
    Ok(found.flatten().filter(is_source))
}

/// Returns stored JSON unchanged.
pub(crate) fn raw(content: Vec<u8>) -> Result<Box<RawValue>, Problem> {
    let damaged = |error: &dyn std::fmt::Display| Problem::from(Error::Damaged(format!("a record: {error}")));
    let text = String::from_utf8(content).map_err(|error| damaged(&error))?;
    RawValue::from_string(text).map_err(|error| damaged(&error))
}
