//! Stored records as the rows from which leaderboards and standings are computed.

use std::sync::Arc;

use karat::error::{Code as ErrorCode, Error};
use karat::record::Record;
use karat::rows::filter::{Filter, Wish, check_field, check_filter};
use karat::rows::{Arrival, Loader, Rows, Selection};
use karat_stats::StatisticsError;
use karat_store::Reader;

use crate::cards::ScorerPool;
use crate::memory::Memory;
use crate::problem::{Code, Problem};

/// The largest number of records that are read at once.
pub const RECORDS_MAX: usize = 20_000;

/// The options for reading records.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The filters that every record must match.
    pub filters: Vec<Filter>,
    /// Fields whose values are kept as labels.
    pub labels: Vec<String>,
}

/// Reads the records at these positions, which `pools` scored.
///
/// # Errors
/// If there are no records, they cannot be compared, or the store cannot be read.
pub fn read(
    memory: &Memory,
    reader: &mut Reader,
    pools: &[Arc<ScorerPool>],
    positions: &[u64],
    options: &ReadOptions,
) -> Result<Rows, Problem> {
    load(memory, reader, pools, positions, options)?.map_err(|failure| unanswerable(&failure))
}

/// Does the same for a part of the records; `None` if none of them matches.
///
/// # Errors
/// As [`read`].
pub fn read_part(
    memory: &Memory,
    reader: &mut Reader,
    pools: &[Arc<ScorerPool>],
    positions: &[u64],
    options: &ReadOptions,
) -> Result<Option<Rows>, Problem> {
    match load(memory, reader, pools, positions, options)? {
        Ok(rows) => Ok(Some(rows)),
        Err(failure) if failure.code() == ErrorCode::NoItems => Ok(None),
        Err(failure) => Err(unanswerable(&failure)),
    }
}

/// Loads records; the inner error is that of all of them together.
fn load(
    memory: &Memory,
    reader: &mut Reader,
    pools: &[Arc<ScorerPool>],
    positions: &[u64],
    options: &ReadOptions,
) -> Result<Result<Rows, Error>, Problem> {
    let cards = || pools.iter().map(|pool| &**pool.card);
    for filter in &options.filters {
        check_filter(filter, "where", cards()).map_err(|failure| unanswerable(&failure).at("where"))?;
    }
    for label in &options.labels {
        check_field(label, "group_by", cards()).map_err(|failure| unanswerable(&failure).at("group_by"))?;
    }
    let wish = Wish { filters: &options.filters, ..Wish::default() };
    let selection = Selection { wish, labels: &options.labels, ..Selection::default() };
    let mut loader = Loader::new(selection).map_err(|error| unanswerable(&error))?;
    let backfilled = memory.index().backfilled_among(positions);
    for position in positions {
        let item = reader.item(*position)?;
        let damaged = |why: String| Problem::internal(&format!("the record {position}: {why}"));
        let record = Record::parse(&item.content).map_err(|error| damaged(error.to_string()))?;
        let record = record.ok_or_else(|| damaged(String::from("it is not a record")))?;
        let name = record.document().scorecard.name();
        let pool = pools.iter().find(|pool| pool.name() == name);
        let pool = pool.ok_or_else(|| damaged(format!("there is no scorecard `{name}`")))?;
        let scorer = loader.scorer(&pool.card);
        let arrival = Arrival { moment: item.entry.moment, is_backfilled: backfilled.contains(position) };
        loader.add_kept(*position, scorer, record.document(), arrival);
    }
    Ok(loader.finish())
}

/// Returns the problem of a question that has no answer.
#[must_use]
pub fn unanswerable(error: &Error) -> Problem {
    Problem::of_error(Code::Unanswerable, error)
}

/// Returns the problem of statistics that have no answer.
#[must_use]
pub fn refused(error: &StatisticsError) -> Problem {
    Problem::new(Code::Unanswerable, error.to_string())
}
