//! Loading of scored items: records, which are computed again from their facts, or items that were just scored.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use karat_core::diagnostic::nearest;
use karat_core::facts::Digest;
use karat_core::number::BILLION;
use karat_core::record::{DimensionRecord, ReadingStatus, Record as Scoring};
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;

use super::filter::{Wish, check_field, check_filter, value};
use super::problems::Problems;
use super::{MeasuredValue, Row, Rows, Tasks};
use crate::card::CompiledCard;
use crate::error::{Code, Error};
use crate::recompute::{overridden, recompute};
use crate::record::Record;
use crate::record::document::{DimensionDocument, RecordDocument, on_grid};
use crate::renames::{Rename, Renames};
use crate::text::clean;
use crate::words::ValueStatus;

/// The selection of items and of what is kept of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// The conditions that items must meet.
    pub wish: Wish<'a>,
    /// Fields whose values go into [`Row::labels`].
    pub labels: &'a [String],
    /// Subjects that were renamed.
    pub renames: &'a [Rename],
    /// True if each file is one subject, whatever its items name.
    pub by_file: bool,
}

/// A collector of items as they come in.
#[derive(Default)]
pub struct Loader<'r> {
    selection: Selection<'r>,
    renames: Renames<'r>,
    scorers: Vec<Arc<CompiledCard>>,
    rows: Vec<(String, Row)>,
    /// The subjects of each file, if files are subjects.
    files: BTreeMap<String, BTreeSet<String>>,
    filtered: u64,
}

impl<'r> Loader<'r> {
    /// Creates an empty loader.
    ///
    /// # Errors
    /// If a name has two new names, or a new name is itself renamed.
    pub fn new(selection: Selection<'r>) -> Result<Self, Error> {
        let renames = Renames::new(selection.renames)?;
        let (scorers, rows, files) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ok(Self { selection, renames, scorers, rows, files, filtered: 0 })
    }

    /// Returns the scorer of the record's card, if it was made for an earlier record.
    pub fn known(&self, record: &Record) -> Option<&Arc<CompiledCard>> {
        let digest = record.document().scorecard.digest;
        self.scorers.iter().find(|card| card.card().digest == digest)
    }

    /// Returns the index of a scorer among those used, adding it if it is new.
    pub fn scorer(&mut self, scorer: &Arc<CompiledCard>) -> usize {
        let known = self.scorers.iter().position(|known| known.card().digest == scorer.card().digest);
        known.unwrap_or_else(|| {
            self.scorers.push(Arc::clone(scorer));
            self.scorers.len() - 1
        })
    }

    /// Adds a record, made with `base`, if it follows from its facts.
    pub fn add_record(
        &mut self,
        record: &Record,
        base: &Arc<CompiledCard>,
        is_portable: bool,
        (place, file): (&str, &str),
    ) -> Result<(), Error> {
        let at = self.scorer(base);
        let card = overridden(record, Arc::clone(base))?;
        recompute(record, &card, is_portable, |scoring| self.add(place, file, at, scoring))
    }

    /// Adds an item that was just scored by the scorer with the index `scorer`.
    pub fn add(&mut self, place: &str, file: &str, scorer: usize, record: &Scoring<'_>) {
        self.add_as(record.item.id, place, file, scorer, record);
    }

    /// Adds such an item under the id `id`.
    pub(crate) fn add_as(&mut self, id: &str, place: &str, file: &str, scorer: usize, record: &Scoring<'_>) {
        let item = &record.item;
        let time = item.context.time;
        let subject = self.renames.apply(item.subject);
        if !self.selection.wish.admits(record, subject, time) {
            self.filtered += 1;
            return;
        }
        // In the order of its card; `finish` brings all cards together.
        let measured = |dimension: &DimensionRecord<'_>| {
            matches!(dimension.status, ReadingStatus::Scored | ReadingStatus::Gated)
        };
        let readings = record.dimensions.iter().map(|it| it.reading.filter(|_| measured(it))).collect();
        let elapsed_seconds = record.elapsed_seconds();
        let aged = |it: &DimensionRecord<'_>| {
            let decay = it.decay?;
            Some(MeasuredValue::of_record(decay.before, decay.age_seconds, elapsed_seconds))
        };
        let has_decay = record.card.decay().is_some();
        let row = Row {
            place: place.to_owned(),
            subject: 0,
            id: id.to_owned(),
            task: item.context.task.map(str::to_owned),
            time,
            outcome: item.context.outcome,
            cases: item.context.cases,
            digest: item.digest,
            scorer,
            score: record.score,
            bounds: record.bounds.and_then(|(low, high)| {
                let max = f64::from(record.card.scale.max);
                possible(low.to_f64() / max, high.to_f64() / max)
            }),
            coverage: record.coverage,
            readings,
            measured: if has_decay { record.dimensions.iter().map(aged).collect() } else { Vec::new() },
            not_applicable: record
                .dimensions
                .iter()
                .filter(|it| it.status == ReadingStatus::NotApplicable)
                .map(|it| it.key.to_owned())
                .collect(),
            gates: record.gates.iter().map(|gate| (*gate).to_owned()).collect(),
            labels: self.selection.labels.iter().map(|field| value(record, subject, field)).collect(),
        };
        if self.selection.by_file {
            self.files.entry(file.to_owned()).or_default().insert(subject.to_owned());
        }
        let subject = if self.selection.by_file { file } else { subject };
        self.push(subject, row);
    }

    /// Adds a record without computing it again: it comes from a store whose log vouches for its bytes. `scorer` is the
    /// index of its scorecard as [`Loader::scorer`] returned it. An item without a time has that at which it `arrived`. Of
    /// the selection, only fields and filters apply.
    pub fn add_kept(&mut self, place: &str, scorer: usize, document: &RecordDocument, arrived: Timestamp) {
        if !self.selection.wish.filters.iter().all(|filter| filter.is_met(document)) {
            self.filtered += 1;
            return;
        }
        let measured = |it: &DimensionDocument| matches!(it.status, ValueStatus::Scored | ValueStatus::Gated);
        let share = |value: f64| on_grid(value, BILLION as f64);
        let readings =
            document.dimensions.iter().map(|it| it.reading.filter(|_| measured(it)).map(share)).collect();
        let elapsed_seconds = document.elapsed_seconds();
        let aged = |it: &DimensionDocument| {
            let decay = it.decay?;
            Some(MeasuredValue::of_record(share(decay.before), decay.age_seconds, elapsed_seconds))
        };
        let has_decay = document.dimensions.iter().any(|it| it.decay.is_some());
        let bare = document.dimensions.iter().filter(|it| it.status == ValueStatus::NotApplicable);
        let row = Row {
            place: place.to_owned(),
            subject: 0,
            id: document.evidence.id.clone(),
            task: document.evidence.task.clone(),
            time: document.time().or(Some(arrived)),
            outcome: document.evidence.outcome,
            cases: document.evidence.n,
            digest: document.evidence.digest,
            scorer,
            score: document.score(),
            bounds: document.bounds.and_then(|it| {
                let max = f64::from(self.scorers.get(scorer)?.card().scale.max);
                possible(it.low / max, it.high / max)
            }),
            coverage: share(document.coverage),
            readings,
            measured: if has_decay { document.dimensions.iter().map(aged).collect() } else { Vec::new() },
            not_applicable: bare.map(|it| it.key.clone()).collect(),
            gates: document.gates.clone(),
            labels: self.selection.labels.iter().map(|field| document.value(field)).collect(),
        };
        self.push(&document.subject, row);
    }

    fn push(&mut self, subject: &str, row: Row) {
        self.rows.push((subject.to_owned(), row));
    }

    /// Sorts the items and removes repeated ones; the order in which they came does not matter.
    pub fn finish(mut self) -> Result<Rows, Error> {
        self.check()?;
        let order = self.order_scorers();
        let dimensions = self.dimensions();
        for (_, row) in &mut self.rows {
            row.scorer = order.get(row.scorer).copied().unwrap_or_default();
            let card = self.scorers.get(row.scorer).map(|card| card.card());
            let own: Vec<&str> =
                card.into_iter().flat_map(|card| &card.dimensions).map(|it| it.key.as_str()).collect();
            let places = dimensions.iter().map(|(key, _)| own.iter().position(|known| known == key));
            let places: Vec<Option<usize>> = places.collect();
            row.readings = in_order(&places, &row.readings);
            if !row.measured.is_empty() {
                row.measured = in_order(&places, &row.measured);
            }
        }
        let repeated = self.deduplicate()?;
        let digest = self.digest();
        let mut subjects: Vec<String> = self.rows.iter().map(|(subject, _)| subject.clone()).collect();
        subjects.dedup();
        let places: BTreeMap<&str, usize> =
            subjects.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let mut rows = Vec::with_capacity(self.rows.len());
        for (subject, row) in self.rows {
            rows.push(Row { subject: places.get(subject.as_str()).copied().unwrap_or_default(), ..row });
        }
        rows.sort_by(|a, b| (a.subject, a.time, &a.id, a.scorer).cmp(&(b.subject, b.time, &b.id, b.scorer)));
        let Some(scale) = self.scorers.first().map(|scorer| scorer.card().scale) else {
            return Err(nothing());
        };
        let (scorers, filtered) = (self.scorers, self.filtered);
        let tasks = Tasks::new(&rows, &scorers);
        Ok(Rows { scorers, scale, dimensions, subjects, rows, tasks, repeated, filtered, digest })
    }

    /// Rejects scorecards that cannot be compared, fields that no item has, and empty input.
    fn check(&self) -> Result<(), Error> {
        let cards = || self.scorers.iter().map(|card| card.card());
        let Some(first) = cards().next() else { return Err(nothing()) };
        let is_foreign = |card: &&Scorecard| {
            card.digest != first.digest && (card.base.is_none() || card.base != first.base)
        };
        if let Some(other) = cards().find(is_foreign) {
            let message = format!(
                "these are records of two scorecards, `{}` and `{}`, whose scores cannot be compared",
                first.name(),
                other.name()
            );
            return Err(Error::new(Code::InvalidOption, message)
                .hint("give the records of one scorecard, or of challenges of one family"));
        }
        if let Some(old) = self.renames.unfound().next() {
            let failure = Error::new(
                Code::InvalidOption,
                format!("no item is of `{}`, which --rename gives a new name", clean(old)),
            );
            let known = self.rows.iter().map(|(subject, _)| subject.as_str());
            return Err(match nearest(old, known) {
                Some(near) => failure.hint(format!("did you mean `{}`?", clean(near))),
                None => failure,
            });
        }
        for filter in self.selection.wish.filters {
            check_filter(filter, "--where", cards())?;
        }
        for field in self.selection.labels {
            check_field(field, "--group-by", cards())?;
        }
        if let Some((file, subjects)) = self.files.iter().find(|(_, subjects)| subjects.len() > 1) {
            let message = format!("`{}` is about {} subjects, expected one", clean(file), subjects.len());
            let first: Vec<&str> = subjects.iter().take(2).map(String::as_str).collect();
            return Err(Error::new(Code::InvalidOption, message)
                .hint("choose one with --where subject=NAME")
                .hint(format!("or compare two of them: karat compare {} {}", first.join(" "), clean(file))));
        }
        match (self.rows.is_empty(), self.filtered) {
            (false, _) => Ok(()),
            (true, 0) => Err(nothing()),
            (true, filtered) => {
                Err(Error::new(Code::NoItems, format!("none of the {filtered} items matches the filters"))
                    .hint("check `where`, `since` and `until`"))
            }
        }
    }

    /// Sorts the scorers by name; returns the new index of each.
    fn order_scorers(&mut self) -> Vec<usize> {
        let mut by_name: Vec<usize> = (0..self.scorers.len()).collect();
        let key = |at: &usize| self.scorers.get(*at).map(|it| (it.card().name(), it.card().digest));
        by_name.sort_by_key(key);
        let mut order = vec![0; by_name.len()];
        for (new, old) in by_name.iter().enumerate() {
            if let Some(place) = order.get_mut(*old) {
                *place = new;
            }
        }
        self.scorers = by_name.iter().filter_map(|at| self.scorers.get(*at).cloned()).collect();
        order
    }

    /// Returns key and label of the dimensions of all cards, in order of first use.
    fn dimensions(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = Vec::new();
        for dimension in self.scorers.iter().flat_map(|scorer| &scorer.card().dimensions) {
            if all.iter().all(|(key, _)| *key != dimension.key) {
                all.push((dimension.key.clone(), dimension.label.clone()));
            }
        }
        all
    }

    /// Sorts the items by subject and id, and keeps each once; returns the number of repeated items.
    fn deduplicate(&mut self) -> Result<u64, Error> {
        self.rows.sort_by(|(a_subject, a), (b_subject, b)| {
            let left = (a_subject, &a.id, a.scorer, a.digest, &a.place);
            left.cmp(&(b_subject, &b.id, b.scorer, b.digest, &b.place))
        });
        let mut problems = Problems::default();
        let before = self.rows.len();
        self.rows.dedup_by(|(next_subject, next), (subject, kept)| {
            let is_same = (&*next_subject, &next.id, next.scorer) == (&*subject, &kept.id, kept.scorer);
            if is_same && next.content() != kept.content() {
                let (subject, id) = (clean(subject), clean(&kept.id));
                let mut places = [&kept.place, &next.place];
                places.sort();
                let [one, other] = places;
                problems.add(format!("`{subject}` has two items `{id}` that differ: {one} and {other}"));
            }
            is_same
        });
        problems.end("remove one of the two, or give it its own id")?;
        Ok((before - self.rows.len()) as u64)
    }

    /// Returns the digest over the identity of all items, in their order.
    fn digest(&self) -> Digest {
        let cards: Vec<Digest> = self.scorers.iter().map(|scorer| scorer.card().digest).collect();
        let mut all = String::new();
        for (subject, row) in &self.rows {
            let card = cards.get(row.scorer).copied().unwrap_or(row.digest);
            // Writing to a string cannot fail.
            let _ = writeln!(all, "{card} {} {subject:?} {:?}", row.digest, row.id);
        }
        Digest::of(all.as_bytes())
    }
}

/// Returns the bounds of a score; none where nothing is missing, so that they are the score.
fn possible(low: f64, high: f64) -> Option<(f64, f64)> {
    (low < high).then_some((low, high))
}

fn nothing() -> Error {
    Error::new(Code::NoItems, "there are no items").hint("give records, or evidence with a scorecard")
}

/// Returns the values at these places; none where there is no place.
fn in_order<T: Copy>(places: &[Option<usize>], values: &[Option<T>]) -> Vec<Option<T>> {
    places.iter().map(|place| place.and_then(|place| values.get(place).copied().flatten())).collect()
}
