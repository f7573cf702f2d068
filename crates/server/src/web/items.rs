//! The records that a page is about, the scorecards with records, tables with links, and the fields of forms and queries.

use karat::rows::{Row, Rows, Unclear};

use super::layout::*;
use crate::body::Arrived;
use crate::params::not_a_timestamp;
use crate::prelude::*;
use crate::rows::{self, RECORDS_MAX, ReadOptions};
use crate::select::{Filter, Selection};

#[derive(Debug)]
pub struct Found {
    /// The rows; `None` if there is no record.
    pub rows: Option<Rows>,
    /// The same with the parts of runs brought together, if there are rows over cases.
    pub together: Option<Rows>,
    /// The number of older records that were not read.
    pub unread: usize,
}

/// Reads the newest records of a scorecard, of one subject or of all.
pub async fn rows(app: &Arc<App>, card: &str, subject: Option<&str>) -> Result<Found, Problem> {
    let (card, subject) = (card.to_owned(), subject.map(str::to_owned));
    let selected = app.indexed(move |app, index| {
        let selection = Selection { subject, ..Selection::of_card(&card) };
        let (filter, pools) = Filter::new(&app.memory, index, &selection)?;
        let mut found = index.rows(u64::MAX).rev().filter(|row| filter.admits(row)).map(|row| row.position);
        let positions: Vec<u64> = found.by_ref().take(RECORDS_MAX).collect();
        Ok((positions, found.count(), pools))
    });
    let (positions, unread, pools) = selected.await?;
    if positions.is_empty() {
        return Ok(Found { rows: None, together: None, unread });
    }
    let memory = Arc::clone(&app.memory);
    let read = move |reader: &mut Reader| {
        let mut read = |unclear| {
            let options = ReadOptions { unclear, ..ReadOptions::default() };
            rows::read(&memory, reader, &pools, &positions, &options)
        };
        let rows = read(Unclear::Apart)?;
        let has_cases = rows.rows.iter().any(|row| row.cases().is_some());
        Ok((rows, if has_cases { Some(read(Unclear::LeftOut)?) } else { None }))
    };
    let (rows, together) = app.read(read).await?;
    Ok(Found { rows: Some(rows), together, unread })
}

/// Returns the position in the log of the record that a row was read from.
pub fn position(rows: &Rows, row: &Row) -> u64 {
    rows.place(row).rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Returns the scorecards that have records, each with their number, the largest first.
pub(crate) async fn used_cards(app: &Arc<App>) -> Result<Vec<(Arc<ScorerPool>, usize)>, Problem> {
    app.indexed(|app, index| {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        index.rows(u64::MAX).for_each(|row| *counts.entry(row.card).or_default() += 1);
        let cards = app.memory.cards();
        let of =
            |pool: &Arc<ScorerPool>| Some((Arc::clone(pool), *counts.get(&index.number(&pool.name())?)?));
        let mut used: Vec<_> = cards.iter().filter_map(of).collect();
        used.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Ok(used)
    })
    .await
}

/// Returns the table with the names of subjects as links to their pages.
pub(crate) fn linked(mut table: Table, card: &str) -> Table {
    table.link(|name| Some(address::subject(name, Some(card))));
    table
}

const BYTES_MAX: usize = 64 << 10;

/// Reads the fields of a form; of a name that is given twice, the last value counts.
pub async fn read(app: &App, body: Arrived) -> Result<BTreeMap<String, String>, Problem> {
    let bytes = body.whole(app, &["application/x-www-form-urlencoded"], BYTES_MAX).await?;
    Ok(form_urlencoded::parse(&bytes).into_owned().collect())
}

/// Returns the value of a query field; `None` if it is empty.
pub fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

/// Reads the timestamp in a field: in full, or a day as browsers write it, which means its start.
pub fn timestamp(name: &str, text: Option<&str>) -> Result<Option<Timestamp>, Problem> {
    let read = |text| Timestamp::parse_lenient(text).map_err(|error| not_a_timestamp(name, text, error));
    given(text).map(read).transpose()
}
