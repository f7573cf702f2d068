//! Selection of the records for an answer.

use karat::answers::leaderboard::{BackfilledRecords, CorrectedRecords};

use crate::index::Row;
use crate::params::timestamp;
use crate::prelude::*;

/// The selected records, as the parameters of a list name them.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Selection {
    /// Only records of this subject.
    pub subject: Option<String>,
    /// Only records of this scorecard, `id@version` or the id of its latest version; for a family, of its challenges.
    pub card: Option<String>,
    /// Only records of these tasks, separated by commas.
    pub track: Option<String>,
    /// Only records of items that took place at this timestamp or later.
    pub since: Option<String>,
    /// Only records of items that took place before this timestamp.
    pub until: Option<String>,
    /// Only records of at least this trust class.
    pub trust: Option<Trust>,
    /// Only records that came with a request of the key with this id; `server` for those of the server itself.
    pub sender: Option<String>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
    /// Only records with a lower position in the log: `next` of the previous list.
    pub before: Option<u64>,
    /// The largest number of records, 1 to 1000; 50 if not given.
    pub limit: Option<usize>,
}

impl Selection {
    /// Selects the records of a scorecard; for a family, of its challenges.
    pub fn of_card(name: &str) -> Self {
        Self { card: Some(name.to_owned()), ..Self::default() }
    }
}

/// A selection in the numbers of the index.
#[derive(Debug, Clone)]
pub struct Filter {
    subject: Option<u32>,
    cards: Option<BTreeSet<u32>>,
    tasks: Option<BTreeSet<u32>>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    trust: Option<Trust>,
    sender: Option<u32>,
}

impl Filter {
    /// Returns the filter of a selection, with the scorecards that it names.
    pub fn new(
        memory: &Memory,
        index: &Index,
        selection: &Selection,
    ) -> Result<(Self, Vec<Arc<ScorerPool>>), Problem> {
        let pools = selection.card.as_deref().map(|card| pools(memory, card)).transpose()?;
        let numbers =
            |names: &mut dyn Iterator<Item = String>| names.filter_map(|name| index.number(&name)).collect();
        // An unknown name gets a number that none has.
        let number = |name| index.number(name).unwrap_or(u32::MAX);
        let tasks = selection.track.as_deref();
        let filter = Self {
            subject: selection.subject.as_deref().map(number),
            cards: pools.as_ref().map(|pools| numbers(&mut pools.iter().map(|pool| pool.name()))),
            tasks: tasks.map(|track| numbers(&mut track.split(',').map(|task| task.trim().to_owned()))),
            since: timestamp("since", selection.since.as_deref())?,
            until: timestamp("until", selection.until.as_deref())?,
            trust: selection.trust,
            sender: selection.sender.as_deref().map(number),
        };
        Ok((filter, pools.unwrap_or_default()))
    }

    /// Returns true if a record is selected. A record without a time is in no period.
    pub(crate) fn admits(&self, row: &Row) -> bool {
        self.subject.is_none_or(|it| it == row.subject)
            && self.cards.as_ref().is_none_or(|it| it.contains(&row.card))
            && self.tasks.as_ref().is_none_or(|it| row.task.is_some_and(|task| it.contains(&task)))
            && self.sender.is_none_or(|it| row.sender() == Some(it))
            && self.trust.is_none_or(|it| row.trust >= it)
            && self.since.is_none_or(|since| row.time.is_some_and(|time| time >= since))
            && self.until.is_none_or(|until| row.time.is_some_and(|time| time < until))
    }
}

/// Counts beside the scores of a subject: of records that do not count, and of those with another arrival than most.
#[derive(Debug, Clone, Default)]
pub struct Marks {
    pub corrected: Option<CorrectedRecords>,
    pub backfilled: Option<BackfilledRecords>,
}

impl Marks {
    /// Adds those of another subject.
    pub fn add(&mut self, other: &Self) {
        if let Some(other) = other.corrected {
            let all = self.corrected.get_or_insert_default();
            all.count += other.count;
            all.by_own_key += other.by_own_key;
        }
        if let Some(other) = &other.backfilled {
            self.backfilled.get_or_insert_default().add(other);
        }
    }

    pub fn sentences(&self) -> Vec<String> {
        let corrected = self.corrected.iter().map(CorrectedRecords::sentence);
        corrected.chain(self.backfilled.iter().map(BackfilledRecords::sentence)).collect()
    }
}

/// Returns the counts beside the scores of the selected records, by subject.
pub(crate) fn marks(
    app: &App,
    index: &Index,
    selection: &Selection,
    size: u64,
) -> Result<BTreeMap<String, Marks>, Problem> {
    let (filter, _) = Filter::new(&app.memory, index, selection)?;
    let mut found: BTreeMap<u32, Marks> = BTreeMap::new();
    for (row, is_by_own_key) in index.corrected(size).filter(|(row, _)| filter.admits(row)) {
        let of_subject = found.entry(row.subject).or_default().corrected.get_or_insert_default();
        *of_subject = of_subject.and(is_by_own_key);
    }
    for row in index.backfilled(size).filter(|row| filter.admits(row)) {
        let of_subject = found.entry(row.subject).or_default().backfilled.get_or_insert_default();
        of_subject.count += 1;
        of_subject.by.extend(row.sender().map(|sender| index.name(sender).to_owned()));
    }
    Ok(found.into_iter().map(|(subject, found)| (index.name(subject).to_owned(), found)).collect())
}

/// Returns the scorecard with that name, or the challenges of the family with that name.
fn pools(memory: &Memory, card: &str) -> Result<Vec<Arc<ScorerPool>>, Problem> {
    let cards = memory.cards();
    let pool = cards.find_used(card)?;
    if pool.card.family.is_none() {
        return Ok(vec![pool]);
    }
    let family = pool.name();
    Ok(cards.iter().filter(|pool| pool.card.base.as_ref() == Some(&family)).map(Arc::clone).collect())
}

/// Returns the size of the log at a timestamp, or now.
pub async fn size_at(app: &App, known_at: Option<&str>) -> Result<u64, Problem> {
    match timestamp("known_at", known_at)? {
        None => Ok(*app.memory.size().borrow()),
        Some(known_at) => {
            let size = app.read(move |reader| Ok(reader.size_at(known_at)?)).await?;
            // The latest commit may not be in memory yet.
            Ok(size.min(*app.memory.size().borrow()))
        }
    }
}
