//! The state of every subject of a scorecard, kept between questions: its official score follows from it at any moment,
//! and it has the mean values. [`subjects`](crate::subjects) computes it.

use std::collections::HashMap;

use karat::answers::leaderboard::officials::Officials;
use karat::leaderboard::what_if::MeanValues;
use karat_standing::stand::{Kept, ShareStanding, Shared};

use crate::basics::*;

/// The states of the subjects of each scorecard, by its name.
#[derive(Debug, Default)]
pub(crate) struct Keeper(Mutex<HashMap<String, Arc<Mutex<Card>>>>);

impl Keeper {
    /// Returns the states under a scorecard.
    pub(crate) fn card(&self, name: &str) -> Arc<Mutex<Card>> {
        let mut cards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(cards.entry(name.to_owned()).or_default())
    }
}

/// The states of the subjects of one scorecard.
#[derive(Debug, Default)]
pub(crate) struct Card {
    /// By number in the index.
    pub subjects: BTreeMap<u32, Subject>,
    pub answer: Option<Arc<AllSubjects>>,
}

#[derive(Debug)]
pub(crate) struct Subject {
    pub seen: Seen,
    /// None for a scorecard without standings.
    pub kept: Option<Kept>,
    /// None if no item counts, or for a family of scorecards.
    pub values: Option<Vec<Option<i64>>>,
}

/// The evidence about a subject that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    pub records: usize,
    pub newest: u64,
    /// The number of decisions about it.
    pub decisions: usize,
    /// The number of events about weights under the scorecard.
    pub weights: usize,
    /// The number of withdrawals of what keys sent.
    pub withdrawals: usize,
}

/// The summary of shares of the whole, and the share of each subject by name.
pub(crate) type Shares = (Shared, BTreeMap<String, ShareStanding>);

/// All subjects of a scorecard at a moment.
#[derive(Debug)]
pub(crate) struct AllSubjects {
    /// The size of the log that counts.
    pub size: u64,
    pub as_of: Timestamp,
    /// The official scores; none for a scorecard without standings.
    pub officials: Option<Officials>,
    /// The subjects that have none because their rows over cases cannot be brought together, each with the reason.
    pub left_out: BTreeMap<String, String>,
    /// The shares of the whole, for a scorecard with shares.
    pub shares: Option<Shares>,
    /// The mean values by dimension; none for a family of scorecards.
    pub values: Option<MeanValues>,
}
