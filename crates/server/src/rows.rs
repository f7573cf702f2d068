//! Stored records as the rows that leaderboards and standings are made of.

use std::sync::Arc;

use karat_core::evaluate::Scorer;
use karat_report::failure::Failure;
use karat_report::rows::filter::{Filter, check_field};
use karat_report::rows::{Loader, Rows, Selection};
use karat_stats::StatisticsError;
use karat_stats::outcome::Policy;
use karat_store::Reader;

use crate::cards::Rule;
use crate::problem::{Code, Problem};
use crate::stored::StoredRecord;

/// Most records that are read for one answer. Beyond that only the index is asked.
pub const RECORDS_MAX: usize = 20_000;

/// What is kept of the records that are read.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// What each must meet.
    pub filters: Vec<Filter>,
    /// Fields whose values are kept as labels.
    pub labels: Vec<String>,
}

/// Reads the records at these places, which `rules` made.
///
/// # Errors
/// That there are none, that they cannot be compared, or that the store cannot be read.
pub fn read(
    reader: &mut Reader,
    rules: &[Arc<Rule>],
    positions: &[u64],
    kept: &Kept,
) -> Result<Rows, Problem> {
    for (fields, name) in [
        (kept.filters.iter().map(|filter| &filter.field).collect::<Vec<_>>(), "where"),
        (kept.labels.iter().collect(), "group_by"),
    ] {
        for field in fields {
            check_field(field, name, rules.iter().map(|rule| &rule.card))
                .map_err(|failure| unanswerable(&failure).at(name))?;
        }
    }
    let mut loader = Loader::new(Selection::default()).map_err(|failure| unanswerable(&failure))?;
    for position in positions {
        let item = reader.item(*position)?;
        let damaged = |why: String| Problem::internal(&format!("the record {position}: {why}"));
        let record = StoredRecord::parse(&item.content).map_err(damaged)?;
        if !kept.filters.iter().all(|filter| record.meets(filter)) {
            continue;
        }
        let name = record.card_name();
        let scorer = rules.iter().find(|rule| rule.name() == name).and_then(|rule| rule.scorer.as_ref());
        let scorer: &Scorer = scorer.ok_or_else(|| damaged(format!("there is no scorecard `{name}`")))?;
        let place = loader.scorer(scorer);
        let row = record.row(format!("record {position}"), place, &kept.labels).map_err(damaged)?;
        loader.push(&record.subject, row);
    }
    loader.finish().map_err(|failure| unanswerable(&failure))
}

/// What outcomes count as under a scorecard.
#[must_use]
pub fn policy(rule: &Rule) -> Policy {
    rule.card.standing.as_ref().map_or_else(Policy::default, |standing| standing.outcomes)
}

/// A question that has no answer.
#[must_use]
pub fn unanswerable(failure: &Failure) -> Problem {
    Problem::of_failure(Code::Unanswerable, failure)
}

/// The same, said by the statistics.
#[must_use]
pub fn refused(error: &StatisticsError) -> Problem {
    Problem::new(Code::Unanswerable, error.to_string())
}
