//! Scored items of many subjects, collected to rank them.

use std::sync::Arc;

use karat_stats::StatisticsError;

use crate::answers::leaderboard::LeaderboardAnswer;
use crate::answers::leaderboard::method::{Page, answer, method_of_size, rank};
use crate::card::CompiledCard;
use crate::engine::Scored;
use crate::error::{Code, Error, Place};
use crate::leaderboard::Settings;
use crate::recompute::base;
use crate::record::Record;
use crate::rows::{Loader, Rows};

/// Scored items, by one scorecard or by the challenges of one family.
#[derive(Default)]
pub struct Items {
    loader: Loader<'static>,
}

impl Items {
    /// Creates an empty collection.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item that `card` scored just now. An id that is added twice counts once; an item without an id is another one
    /// at each place.
    pub fn add(&mut self, card: &Arc<CompiledCard>, place: &Place, scored: &Scored<'_>) {
        let scorer = self.loader.scorer(card);
        let (item, name) = (&scored.record.item, place.name());
        let id = if item.id == item.digest.to_string() { name.as_str() } else { item.id };
        self.loader.add_as(id, place, scorer, &scored.record);
    }

    /// Adds a record after computing it again from its own facts.
    ///
    /// # Errors
    ///
    /// If the record is not what its facts give, or its scorecard does not come with karat.
    pub fn add_record(&mut self, place: &Place, record: &Record) -> Result<(), Error> {
        let card = base(record, self.loader.known(record))?;
        self.loader.add_record(record, &card, place, None)
    }

    /// Ranks the subjects by score: means of tasks with 95 % intervals, ranks that are shared where they should be, and
    /// letters for ties. The method depends on the size, and the answer names it.
    ///
    /// # Errors
    ///
    /// If there are no items, two items have one id and differ, or no subject has a score.
    pub fn leaderboard(self) -> Result<LeaderboardAnswer, Error> {
        let rows: Rows = self.loader.finish()?;
        let settings = Settings::usual(&rows);
        let method = method_of_size(rows.subjects.len(), rows.rows.len());
        let all: Vec<usize> = (0..rows.rows.len()).collect();
        let refused = |error: StatisticsError| Error::new(Code::NoItems, error.to_string());
        let ranked = rank(&rows, &all, None, method, &settings, Page::ALL).map_err(refused)?;
        let basis = crate::answers::basis::Basis::new(&rows, &settings);
        Ok(answer(basis, method, None, vec![ranked.leaderboard], Page::ALL))
    }
}
