//! The records that a page is about, as rows of what many records say. The log vouches for their bytes, so nothing is
//! computed again.

use std::sync::Arc;

use karat_report::page::model::{Cell, Figure, Kind, Table};
use karat_report::rows::filter::{self, Wish};
use karat_report::rows::{Loader, Rows, Selection};

use super::address;
use crate::api::records::Filter;
use crate::cards::Rule;
use crate::problem::{Code, Problem};
use crate::state::App;
use crate::stored::StoredRecord;

/// Most records that a page looks at: the newest ones.
pub const MOST: usize = 20_000;

/// Which records are wanted.
#[derive(Debug, Default)]
pub struct Wanted {
    /// What the index knows of them.
    pub filter: Filter,
    /// What else must be so.
    pub conditions: Vec<filter::Filter>,
    /// The fields whose values are kept.
    pub labels: Vec<String>,
}

/// What was found.
#[derive(Debug)]
pub struct Found {
    /// The rows; none where there is no record.
    pub rows: Option<Rows>,
    /// Older records that were not looked at.
    pub unread: usize,
    /// The size of the log that was looked at.
    pub log_size: u64,
}

/// Reads the records under `rule` that are wanted.
///
/// # Errors
/// That a filter asks for what cannot be, or that the store cannot be read.
pub async fn rows(app: &Arc<App>, rule: &Arc<Rule>, wanted: Wanted) -> Result<Found, Problem> {
    let log_size = *app.memory.size().borrow();
    let Wanted { mut filter, conditions, labels } = wanted;
    filter.card = Some(rule.name());
    let (positions, unread) = positions(app, &filter, log_size)?;
    let rule = Arc::clone(rule);
    let rows = app
        .read(move |reader| {
            let Some(scorer) = &rule.scorer else { return Ok(None) };
            let wish = Wish { filters: &conditions, ..Wish::default() };
            let failed = |failure| Problem::of_failure(Code::BadRequest, &failure);
            let mut loader =
                Loader::new(Selection { wish, labels: &labels, ..Selection::default() }).map_err(failed)?;
            let at = loader.scorer(scorer);
            for position in positions {
                let item = reader.item(position)?;
                let told = |why: String| Problem::internal(&format!("the entry {position}: {why}"));
                let record = StoredRecord::parse(&item.content).map_err(told)?;
                let row = record.row(position.to_string(), at, &labels).map_err(told)?;
                let is_wanted = conditions.iter().all(|it| it.is_met(record.value(&it.field).as_deref()));
                loader.add_row(&record.subject, row, is_wanted);
            }
            if loader.is_empty() { Ok(None) } else { loader.finish().map(Some).map_err(failed) }
        })
        .await?;
    Ok(Found { rows, unread, log_size })
}

/// The newest records that are wanted, and how many older ones there are.
fn positions(app: &App, filter: &Filter, log_size: u64) -> Result<(Vec<u64>, usize), Problem> {
    let index = app.memory.index();
    let Some(wish) = crate::api::records::Wish::new(app, &index, filter)? else { return Ok((Vec::new(), 0)) };
    let mut wanted = index.rows(log_size).rev().filter(|row| wish.admits(row)).map(|row| row.position);
    let positions: Vec<u64> = wanted.by_ref().take(MOST).collect();
    Ok((positions, wanted.count()))
}

/// The scorecards that have records, each with how many: those with most first.
pub fn used_cards(app: &App) -> Vec<(Arc<Rule>, usize)> {
    let index = app.memory.index();
    let mut counts = vec![0usize; index.names()];
    for row in index.rows(u64::MAX) {
        let place = usize::try_from(row.card).unwrap_or(usize::MAX);
        counts.iter_mut().skip(place).take(1).for_each(|count| *count += 1);
    }
    let cards = app.memory.cards();
    let count = |rule: &Arc<Rule>| {
        let place = index.number(&rule.name()).and_then(|number| usize::try_from(number).ok())?;
        Some((Arc::clone(rule), *counts.get(place)?)).filter(|(_, count)| *count > 0)
    };
    let mut used: Vec<_> = cards.iter().filter_map(count).collect();
    used.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    used
}

/// The same table with the names of subjects leading to their pages.
pub fn linked(mut table: Table, card: &str) -> Figure {
    let names = table.columns.iter().position(|column| column.kind == Kind::Name);
    for row in &mut table.rows {
        let cell = names.and_then(|at| row.cells.get_mut(at));
        if let Some(cell) = cell
            && let Cell::Text(name) = &*cell
        {
            let address = address::subject(name, Some(card));
            *cell = Cell::Link(name.clone(), address);
        }
    }
    Figure::Table(table)
}
