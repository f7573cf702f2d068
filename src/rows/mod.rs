//! Scored items of many subjects, from records or from evidence: the input of leaderboards, comparisons and standings.
//!
//! `load` collects them, `attempts` puts those at one task in order, `stored` reads them as a server lists them, `filter` selects them, `gaps` notes what they lack. A record counts only if its own facts give
//! it; an item that is given twice counts once, and one id with two contents is an error.

pub mod attempts;
mod fields;
pub mod filter;
pub mod gaps;
mod load;
mod names;
mod order;
pub(crate) mod parts;
pub mod problems;
mod stored;

use crate::words::DecayMoment;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use karat_core::facts::{Digest, Outcome};
use karat_core::number::Score;
use karat_core::scorecard::{Scale, Scorecard};
use karat_core::timestamp::Timestamp;

pub(crate) use fields::Fields;
pub use fields::{FactScale, number};
pub use load::{Arrival, Loader, Selection, Unclear};
pub use stored::StoredRecord;

use self::names::Names;
use crate::card::CompiledCard;
use crate::trust::Trust;

/// The task of an item that is a mean over cases and names no task: the items of all subjects are about the same cases.
pub const ALL_CASES: &str = "(all cases)";

/// The evidence behind a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredValue {
    /// The value before decay, in billionths.
    pub before: i64,
    /// The age that the evidence had at the time of the item.
    pub age_seconds: i64,
}

impl MeasuredValue {
    /// Returns the evidence of a record: its age there is that at the moment of the score, which is `elapsed_seconds` after
    /// the item where both are known.
    fn of_record(before: i64, age_seconds: f64, elapsed_seconds: Option<i64>) -> Self {
        let age_seconds = age_seconds as i64;
        // A time in the future has taken nothing off the age.
        let age_seconds = match elapsed_seconds {
            Some(elapsed) if elapsed < 0 => age_seconds.max(0),
            elapsed => age_seconds - elapsed.unwrap_or_default(),
        };
        Self { before, age_seconds }
    }
}

/// One scored item. There may be millions, so it is small; names are kept by [`Rows`].
#[derive(Debug, Clone)]
pub struct Row {
    /// The subject, as an index into [`Rows::subjects`].
    pub subject: usize,
    /// The digest of the evidence.
    pub digest: Digest,
    /// The outcome, if stated.
    pub outcome: Option<Outcome>,
    /// The word it rests on: of an item of a file, that of its author alone.
    pub trust: Trust,
    /// The scorecard, as an index into [`Rows::scorers`].
    scorer: u16,
    /// The place in the order of arrival, by which names are found.
    arrival: u32,
    /// The stated task, as an index into the names of tasks; [`NO_TASK`] if it states none.
    task: u32,
    /// The share of the applicable weight that was measured, in billionths.
    coverage: u32,
    /// The times at which it took place and arrived, in milliseconds, and the score on its grid; [`NONE`] if it has none.
    time: i64,
    arrived: i64,
    score: i64,
    /// The measured values in billionths, by [`Rows::dimensions`]; [`NONE`] where it has no value.
    readings: Readings,
    /// The parts that few items have.
    more: Option<Box<More>>,
}

/// A number that is not there. No time, score or value is that small.
const NONE: i64 = i64::MIN;
const NO_TASK: u32 = u32::MAX;

/// The values of an item: most scorecards that score millions of items have one dimension.
#[derive(Debug, Clone)]
enum Readings {
    One(i64),
    Several(Box<[i64]>),
}

/// The parts that few items have.
#[derive(Debug, Clone, PartialEq)]
struct More {
    cases: Option<u64>,
    bounds: Option<(f64, f64)>,
    measured: Vec<Option<MeasuredValue>>,
    not_applicable: Vec<String>,
    gates: Vec<String>,
    labels: Vec<Option<String>>,
    kept: Vec<Option<String>>,
    fact: Option<i64>,
    /// Of a mean over cases, the shard of a run and the repeat that it is.
    part: Option<String>,
    run: Option<String>,
    /// Of a run that was put together, the places of its parts in the order of arrival.
    alike: Vec<u32>,
    /// True if those came to a log at different moments.
    is_spread: bool,
}

static NO_MORE: More = More {
    cases: None,
    bounds: None,
    measured: Vec::new(),
    not_applicable: Vec::new(),
    gates: Vec::new(),
    labels: Vec::new(),
    kept: Vec::new(),
    fact: None,
    part: None,
    run: None,
    alike: Vec::new(),
    is_spread: false,
};

fn stated(number: i64) -> Option<i64> {
    (number != NONE).then_some(number)
}

impl Readings {
    /// Creates the values of an item in `count` dimensions and groups.
    fn new(count: usize, mut values: impl Iterator<Item = Option<i64>>) -> Self {
        let number = |value: Option<i64>| value.unwrap_or(NONE);
        if count == 1 {
            return Self::One(number(values.next().flatten()));
        }
        let mut all = Vec::with_capacity(count);
        all.extend(values.map(number));
        Self::Several(all.into())
    }

    fn all(&self) -> &[i64] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }

    fn get(&self, at: usize) -> Option<i64> {
        self.all().get(at).copied().and_then(stated)
    }
}

impl Row {
    fn more(&self) -> &More {
        self.more.as_deref().unwrap_or(&NO_MORE)
    }

    /// Returns the index of its scorecard in [`Rows::scorers`].
    pub fn scorer(&self) -> usize {
        self.scorer.into()
    }

    /// Returns the time of the item, if stated.
    pub fn time(&self) -> Option<Timestamp> {
        stated(self.time).map(|milliseconds| Timestamp { milliseconds })
    }

    /// Returns the time at which a log received it, if known and its history runs on that.
    pub(crate) fn arrived(&self) -> Option<Timestamp> {
        stated(self.arrived).map(|milliseconds| Timestamp { milliseconds })
    }

    /// Returns the score, if there is one.
    pub fn score(&self) -> Option<Score> {
        stated(self.score).map(Score::from_units)
    }

    /// Returns the number of cases that its values are means over, if stated.
    pub fn cases(&self) -> Option<u64> {
        self.more().cases
    }

    /// Returns the lowest and the highest possible score as shares of the scale, where a part of it is missing.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.more().bounds
    }

    /// Returns the share of the applicable weight that was measured, in billionths.
    pub fn coverage(&self) -> i64 {
        self.coverage.into()
    }

    /// Returns the measured value of the dimension with this index, in billionths. A default is not a measured value.
    pub fn reading(&self, dimension: usize) -> Option<i64> {
        self.readings.get(dimension)
    }

    /// Returns the evidence behind that value, of a scorecard with decay.
    pub fn measured(&self, dimension: usize) -> Option<MeasuredValue> {
        self.more().measured.get(dimension).copied().flatten()
    }

    /// Returns the dimensions that do not apply to it.
    pub(crate) fn not_applicable(&self) -> &[String] {
        &self.more().not_applicable
    }

    /// Returns the gates that held.
    pub fn gates(&self) -> &[String] {
        &self.more().gates
    }

    /// Returns the values of the requested fields, in that order.
    pub fn labels(&self) -> &[Option<String>] {
        &self.more().labels
    }

    /// Returns the value of the kept field with this index in [`Selection::kept`].
    pub fn kept(&self, at: usize) -> Option<&str> {
        self.more().kept.get(at)?.as_deref()
    }

    /// Returns true if it is a run whose parts came to a log at different moments.
    pub(crate) fn is_spread(&self) -> bool {
        self.more().is_spread
    }

    /// Returns the place of its fact between the worst and the best of all, in billionths, once one was chosen to rank by.
    pub fn fact(&self) -> Option<i64> {
        self.more().fact
    }
}

/// The group of the items that have no value of the field.
pub(crate) const NO_LABEL: &str = "(none)";

/// The tasks of all items.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    /// The names, in order.
    pub names: Vec<String>,
    /// The task of each row, as an index into `names`.
    pub of_rows: Vec<usize>,
}

impl Tasks {
    /// Returns the number by which comparisons turn a task, from its name alone.
    pub(crate) fn key(&self, task: usize) -> u64 {
        self.names.get(task).map_or(0, |name| karat_stats::table::key(name))
    }
}

/// The origin of a subject of which there is one in each file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: String,
    /// The name of the subject in it.
    pub subject: String,
}

/// Scored items under one scorecard, or under challenges of one family.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The scorecards, by name.
    pub scorers: Vec<Arc<CompiledCard>>,
    /// The scale of all scorecards.
    pub scale: Scale,
    /// Key and label of all dimensions and groups.
    pub dimensions: Vec<(String, String)>,
    /// The subjects, in order of their names.
    pub subjects: Vec<String>,
    /// The subjects whose rows over cases cannot be brought together, each with the reason; they have no items here.
    pub left_out: BTreeMap<String, String>,
    /// The file and the own name of each subject, if the same subject in two files is two; else empty.
    pub origins: Vec<Origin>,
    /// The items by subject, time and id.
    pub rows: Vec<Row>,
    /// The tasks of the items.
    pub tasks: Tasks,
    names: Names,
    /// The number of items that were given again with the same content.
    pub repeated: u64,
    /// The number of items that the filters left out, and later attempts where only the first ones count.
    pub filtered: u64,
    /// True if only the first attempt of each subject at each task is there.
    pub is_of_firsts: bool,
    /// Things to know of the logs that they are from.
    pub notes: Vec<String>,
    /// The moment to which the items are decayed; none for scorecards without decay.
    pub decay: Option<DecayMoment>,
    /// SHA-256 over scorecards, digests and ids of all items: equal for equal input in any order.
    pub digest: Digest,
    /// The fields whose values the items keep.
    kept: Vec<String>,
    /// The fields that items have, as far as they were looked for.
    fields: Vec<String>,
    /// The fact that is ranked, if [`Rows::rank_by`] chose one.
    fact: Option<FactScale>,
}

impl Rows {
    /// Returns the scorecard, if there is only one.
    pub fn only_card(&self) -> Option<&Scorecard> {
        match self.scorers.as_slice() {
            [only] => Some(only.card()),
            _ => None,
        }
    }

    /// Returns the same with the items at these indices alone.
    pub(crate) fn only(&self, kept: &[usize]) -> Self {
        let mut only = self.clone();
        only.filtered += (self.rows.len() - kept.len()) as u64;
        only.rows = kept.iter().filter_map(|at| self.rows.get(*at).cloned()).collect();
        only.tasks.of_rows = kept.iter().filter_map(|at| self.tasks.of_rows.get(*at).copied()).collect();
        only
    }

    /// Returns the same with the items under other names of their subjects, given for each item.
    pub(crate) fn renamed(&self, names: &[String]) -> Self {
        let subjects: BTreeSet<&String> = names.iter().collect();
        let subjects: Vec<String> = subjects.into_iter().cloned().collect();
        let own = |at: usize| names.get(at).and_then(|name| subjects.binary_search(name).ok());
        let mut order: Vec<(usize, usize)> =
            (0..self.rows.len()).filter_map(|at| Some((own(at)?, at))).collect();
        order.sort_by_key(|(subject, at)| (*subject, self.rows.get(*at).and_then(Row::time)));
        let kept: Vec<usize> = order.iter().map(|(_, at)| *at).collect();
        let mut renamed = Self { origins: Vec::new(), ..self.only(&kept) };
        renamed.rows.iter_mut().zip(&order).for_each(|(row, (subject, _))| row.subject = *subject);
        renamed.subjects = subjects;
        renamed
    }

    /// Returns the same with one subject for all files of its name.
    fn of_whole_subjects(mut self) -> Self {
        let names: Vec<String> =
            self.rows.iter().map(|row| self.subject_name(row.subject).to_owned()).collect();
        let whole =
            |name: String| load::origin(&name).map_or(name, |of| format!("{} in {}", of.subject, of.file));
        self.left_out =
            std::mem::take(&mut self.left_out).into_iter().map(|(name, why)| (whole(name), why)).collect();
        self.renamed(&names)
    }

    /// Returns the files that items are of, in the order in which they came.
    pub(crate) fn files(&self) -> Vec<&str> {
        let mut first: BTreeMap<&str, u32> = BTreeMap::new();
        for row in &self.rows {
            let at = first.entry(self.file(row)).or_insert(u32::MAX);
            *at = row.arrival.min(*at);
        }
        let mut files: Vec<(u32, &str)> = first.into_iter().map(|(file, at)| (at, file)).collect();
        files.sort_unstable();
        files.into_iter().map(|(_, file)| file).collect()
    }

    /// Returns the file of an item.
    pub(crate) fn file(&self, row: &Row) -> &str {
        load::file_of(self.file_and_line(row).0)
    }

    /// Returns the time of the newest item; none if no item has a time.
    pub fn newest(&self) -> Option<Timestamp> {
        self.rows.iter().filter_map(Row::time).max()
    }

    /// Returns the index of a dimension.
    pub fn dimension(&self, key: &str) -> Option<usize> {
        self.dimensions.iter().position(|(known, _)| known == key)
    }

    /// Returns the number of items that succeeded or failed but have no score.
    pub(crate) fn without_score(&self) -> usize {
        let is_bare = |row: &&Row| {
            row.score == NONE && matches!(row.outcome, Some(Outcome::Succeeded | Outcome::Failed))
        };
        self.rows.iter().filter(is_bare).count()
    }

    /// Groups items by their first label: each value with the indices of its items, in order of the values. Without
    /// labels, all items are one group.
    pub fn groups(&self) -> Vec<(Option<&str>, Vec<usize>)> {
        let mut groups: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.rows.iter().enumerate() {
            let value = row.labels().first().map(|label| label.as_deref().unwrap_or(NO_LABEL));
            groups.entry(value).or_default().push(at);
        }
        groups.into_iter().collect()
    }

    /// Returns the subject and the task of each row over cases.
    pub fn means_over_cases(&self) -> impl Iterator<Item = (String, String)> {
        let means = self.rows.iter().filter(|row| row.cases().is_some());
        means.map(|row| (self.subject_name(row.subject).to_owned(), self.task_name(row).to_owned()))
    }

    /// Returns the ids of the items behind a row: its own, or those of the parts that were pooled into it.
    pub(crate) fn ids<'r>(&'r self, row: &'r Row) -> impl Iterator<Item = &'r str> {
        let alike = row.more().alike.iter().map(|at| self.names.id_at(*at as usize));
        std::iter::once(self.id(row)).chain(alike)
    }

    /// Returns the own id of an item.
    pub fn id(&self, row: &Row) -> &str {
        self.names.id(row)
    }

    /// Returns the task that an item states, if it does.
    pub fn stated_task(&self, row: &Row) -> Option<&str> {
        self.names.task(row)
    }

    /// Returns the file and line of an item, or where else it comes from.
    pub fn place(&self, row: &Row) -> String {
        self.names.place(row)
    }

    /// Returns the file of an item and its line; where it has no line, its place alone.
    pub(crate) fn file_and_line(&self, row: &Row) -> (&str, Option<u64>) {
        self.names.file_and_line(row)
    }

    /// Returns the name of the task of an item: as stated, else that of the challenge, else for a mean over cases that of all
    /// its cases, else the id of the item.
    pub(crate) fn task_name(&self, row: &Row) -> &str {
        self.names.task_name(row, &self.scorers)
    }

    /// Returns the name of the subject with this index; empty if there is no such subject.
    pub(crate) fn subject_name(&self, at: usize) -> &str {
        let own = self.origins.get(at).map(|origin| &origin.subject);
        own.or_else(|| self.subjects.get(at)).map_or("", String::as_str)
    }

    /// Returns the index of a subject.
    pub fn subject(&self, name: &str) -> Option<usize> {
        self.subjects.binary_search_by(|known| known.as_str().cmp(name)).ok()
    }
}
