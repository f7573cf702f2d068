//! Stored records as the rows from which leaderboards and standings are computed.

use std::collections::HashSet;

use karat::error::{Code as ErrorCode, Error};
use karat::record::Record;
use karat::rows::filter::{Filter, Wish, check_filter, is_declared};
use karat::rows::{Arrival, Loader, Rows, Selection, Unclear};
use karat_stats::StatisticsError;

use crate::basics::*;
use crate::cards::ScorerPool;
use crate::cost;
use crate::keys::SERVER;
use crate::memory::Memory;
use crate::problem::{Code, Problem, refuse};
use crate::stored::{Trust, source};

/// The largest number of records that are read at once.
pub const RECORDS_MAX: usize = 20_000;

/// The most bytes of evidence that are read for one answer.
const EVIDENCE_MAX: usize = 64 << 20;

/// The options for reading records.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The filters that every record must match.
    pub filters: Vec<Filter>,
    /// Fields by whose values the records are grouped.
    pub labels: Vec<String>,
    /// Fields whose values each record keeps.
    pub kept: Vec<String>,
    /// The treatment of subjects whose rows over cases cannot be brought together: the items of a log stay as they are, and one
    /// subject must not take the answer from all others.
    pub unclear: Unclear,
}

impl ReadOptions {
    /// Returns true if a field is not in every record, so that evidence is read for it.
    pub(crate) fn needs_evidence(&self, pools: &[Arc<ScorerPool>]) -> bool {
        let is_known = |field: &String| pools.iter().all(|pool| is_declared(&pool.card, field));
        !self.labels.iter().chain(&self.kept).all(is_known)
    }
}

/// Reads the records at these positions, which `pools` scored.
pub fn read(
    memory: &Memory,
    reader: &mut Reader,
    pools: &[Arc<ScorerPool>],
    positions: &[u64],
    options: &ReadOptions,
) -> Result<Rows, Problem> {
    load(memory, reader, pools, positions, options)?.map_err(|failure| refused_rows(&failure))
}

/// Does the same for a part of the records; `None` if none of them matches.
pub(crate) fn read_part(
    memory: &Memory,
    reader: &mut Reader,
    pools: &[Arc<ScorerPool>],
    positions: &[u64],
    options: &ReadOptions,
) -> Result<Option<Rows>, Problem> {
    match load(memory, reader, pools, positions, options)? {
        Ok(rows) => Ok(Some(rows)),
        Err(failure) if matches!(failure.code(), ErrorCode::NoItems | ErrorCode::NothingCounts) => Ok(None),
        Err(failure) => Err(refused_rows(&failure)),
    }
}

/// Returns the problem of records that cannot be ranked; one about a parameter begins with its name.
fn refused_rows(failure: &Error) -> Problem {
    let problem = unanswerable(failure);
    if failure.message().starts_with("group_by: ") { problem.at("group_by") } else { problem }
}

/// Loads records; the inner error is about all of them together.
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
    let wish = Wish { filters: &options.filters, ..Wish::default() };
    let selection = Selection {
        wish,
        labels: &options.labels,
        kept: &options.kept,
        is_query: true,
        unclear: options.unclear,
        ..Selection::default()
    };
    let (needs_evidence, mut read) = (options.needs_evidence(pools), 0);
    let mut loader = Loader::new(selection).map_err(|error| unanswerable(&error))?;
    let marks: BTreeMap<u64, (bool, Trust)> = {
        let index = memory.index();
        let mark = |at: &u64| index.at(*at).map(|row| (*at, (row.is_backfilled, row.trust)));
        positions.iter().filter_map(mark).collect()
    };
    cost::records(positions.len());
    for position in positions {
        let item = reader.item(*position)?;
        let damaged = |why: String| Problem::internal(&format!("the record {position}: {why}"));
        let record = Record::parse(&item.content).map_err(|error| damaged(error.to_string()))?;
        let record = record.ok_or_else(|| damaged(String::from("it is not a record")))?;
        let name = record.document().scorecard.name();
        let pool = pools.iter().find(|pool| pool.name() == name);
        let pool = pool.ok_or_else(|| damaged(format!("there is no scorecard `{name}`")))?;
        let scorer = loader.scorer(&pool.card);
        // What the server scored again arrived with its evidence.
        let is_of_server = item.entry.sender.as_deref() == Some(SERVER);
        let source = if needs_evidence || is_of_server { source(reader, &item)? } else { None };
        let origin = source.as_ref().filter(|_| is_of_server).unwrap_or(&item);
        let (is_backfilled, trust) = marks.get(position).copied().unwrap_or((false, Trust::Claimed));
        let arrival = Arrival { moment: origin.entry.moment, is_backfilled, trust };
        let evidence = source.map_or_else(Vec::new, |item| item.content);
        read += evidence.len();
        if read > EVIDENCE_MAX {
            let most = EVIDENCE_MAX >> 20;
            refuse!(
                Unanswerable,
                "fields that the scorecard does not declare are looked for in at most {most} MiB of evidence; narrow the leaderboard with track, since, until, trust or where"
            );
        }
        loader.add_kept(Some(*position), scorer, record.document(), arrival, &evidence);
    }
    Ok(loader.finish())
}

/// Returns the positions that are read at once: the rows over cases of a subject at a task in one part, before all others.
pub(crate) fn parts(
    over_cases: &BTreeMap<(u32, Option<u32>), Vec<u64>>,
    positions: Option<&[u64]>,
) -> Vec<Vec<u64>> {
    let mut parts: Vec<Vec<u64>> = Vec::new();
    for own in over_cases.values() {
        match parts.last_mut().filter(|part| part.len() + own.len() <= RECORDS_MAX) {
            Some(part) => part.extend(own),
            None => parts.push(own.clone()),
        }
    }
    let taken: HashSet<u64> = parts.iter().flatten().copied().collect();
    let rest = positions.unwrap_or_default().iter().filter(|it| !taken.contains(it)).copied();
    let rest: Vec<u64> = rest.collect();
    parts.extend(rest.chunks(RECORDS_MAX).map(<[u64]>::to_vec));
    parts
}

/// Refuses a question about subjects that are left out, with the reasons.
pub(crate) fn refuse_left_out(rows: &Rows) -> Result<(), Problem> {
    let all: Vec<&str> = rows.left_out.values().map(String::as_str).collect();
    if all.is_empty() { Ok(()) } else { Err(Problem::new(Code::Unanswerable, all.join("; "))) }
}

/// Returns the problem of a question that has no answer.
pub(crate) fn unanswerable(error: &Error) -> Problem {
    Problem::of_error(Code::Unanswerable, error)
}

/// Returns the problem of statistics that have no answer.
pub fn refused(error: &StatisticsError) -> Problem {
    Problem::new(Code::Unanswerable, error.to_string())
}
