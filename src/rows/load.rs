//! Loading of scored items: records, which are computed again from their facts, or items that were just scored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use karat_core::diagnostic::nearest;
use karat_core::facts::{Digest, Digester, Outcome};
use karat_core::json::{hexadecimal, write_string};
use karat_core::number::{BILLION, Score};
use karat_core::record::{DimensionRecord, Record as Scoring};
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;

use super::fields::Fields;
use super::filter::{Wish, check_filter, value};
use super::names::{Interned, Names};
use super::order::{by_id, put};
use super::parts::{Known, pool};
use super::problems::{Problems, are_copies};
use super::{MeasuredValue, More, NO_MORE, NO_TASK, NONE, Origin, Readings, Row, Rows, Tasks};
use crate::card::CompiledCard;
use crate::error::{Code, Error, Place};
use crate::recompute::{overridden, recompute};
use crate::record::Record;
use crate::record::document::{DimensionDocument, RecordDocument, on_grid};
use crate::renames::{Rename, Renames};
use crate::text::clean;
use crate::trust::Trust;
use crate::words::{DecayMoment, ValueStatus};

/// The selection of items and of what is kept of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Selection<'a> {
    /// The conditions that items must meet.
    pub wish: Wish<'a>,
    /// Fields whose values go into [`Row::labels`].
    pub labels: &'a [String],
    /// Fields whose values each item keeps, if it has them.
    pub kept: &'a [String],
    /// Subjects that were renamed.
    pub renames: &'a [Rename],
    /// True if the same subject in two files is two. Where no file has several, each is named by its file.
    pub by_file: bool,
    /// True if each file is a run: one id in two files is two items, and a subject of several files is one.
    pub by_run: bool,
    /// True if errors name the parameters of a query and not flags: `group_by`, not `--group-by`.
    pub is_query: bool,
    /// Names that stand for files, where several files are one side of a comparison.
    pub sides: &'a [(String, String)],
    /// The side whose items are also kept by themselves, under the own names of their subjects.
    pub alone: Option<&'a str>,
    /// The treatment of a subject whose rows over cases cannot be brought together.
    pub unclear: Unclear,
}

/// The treatment of rows over cases at one task, and of a subject whose rows contradict each other or do not say what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unclear {
    /// All is refused: the one who has the items can say what they are.
    #[default]
    Refused,
    /// It is left out, with the reason: the items of a log stay as they are, and others are to have an answer.
    LeftOut,
    /// The same, also where the parts of a run came to the log at different moments.
    LeftOutOfStandings,
    /// Nothing is brought together: a list of items has each of them.
    Apart,
}

/// The arrival of an item in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The moment of its entry.
    pub moment: Timestamp,
    /// True if it was handed in as history that is old on purpose: it runs on its own time, as in a file.
    pub is_backfilled: bool,
    /// The word it rests on, as far as the log vouches for that.
    pub trust: Trust,
}

impl Arrival {
    /// Returns the times at which an item took place and arrived. One that does not say when it took place counts from when
    /// it arrived.
    fn times(self, time: Option<Timestamp>) -> (i64, i64) {
        let arrived = self.moment.milliseconds;
        (time.map_or(arrived, |time| time.milliseconds), if self.is_backfilled { NONE } else { arrived })
    }
}

/// A collector of items as they come in.
#[derive(Default)]
pub struct Loader<'r> {
    selection: Selection<'r>,
    renames: Renames<'r>,
    scorers: Vec<Arc<CompiledCard>>,
    /// The items, their subjects by the order of first appearance.
    rows: Vec<Row>,
    subjects: Interned,
    names: Names,
    filtered: u64,
    moments: Moments,
    fields: Fields,
    /// The side of the last item: items come file by file.
    side: usize,
    /// The items of the side that is kept by itself, too.
    alone: Option<Box<Self>>,
}

/// The moments of the verdicts of all items.
#[derive(Default)]
enum Moments {
    /// There is no item yet.
    #[default]
    Unknown,
    /// This one, of all items.
    One(String),
    /// Several, or an item has none.
    Several,
}

impl Moments {
    fn add(&mut self, as_of: Option<&str>) {
        *self = match (std::mem::take(self), as_of) {
            (Self::Unknown, Some(as_of)) => Self::One(as_of.to_owned()),
            (Self::One(known), Some(as_of)) if known == as_of => Self::One(known),
            _ => Self::Several,
        };
    }
}

impl<'r> Loader<'r> {
    /// Creates an empty loader.
    ///
    /// # Errors
    /// If a name has two new names, or a new name is itself renamed.
    pub fn new(selection: Selection<'r>) -> Result<Self, Error> {
        let renames = Renames::new(selection.renames)?;
        let alone = match selection.alone {
            Some(_) => {
                let selection =
                    Selection { by_file: false, by_run: false, sides: &[], alone: None, ..selection };
                Some(Box::new(Self::new(selection)?))
            }
            None => None,
        };
        Ok(Self { selection, renames, alone, ..Self::default() })
    }

    /// Names the scorecard of evidence, before the first item.
    pub fn given(&mut self, scorer: &Arc<CompiledCard>) {
        self.scorer(scorer);
        self.alone.iter_mut().for_each(|alone| alone.given(scorer));
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

    /// Adds a record, made with `base`, if it follows from its facts. Of a record of a log, `arrival` says when it came there.
    pub fn add_record(
        &mut self,
        record: &Record,
        base: &Arc<CompiledCard>,
        place: &Place,
        arrival: Option<Arrival>,
    ) -> Result<(), Error> {
        let at = self.scorer(base);
        let card = overridden(record, Arc::clone(base))?;
        let raw = record.as_bytes();
        recompute(record, &card, |scoring| {
            self.put(scoring.item.id, place, at, scoring, raw, arrival);
        })
    }

    /// Adds an item that was just scored by the scorer with the index `scorer`, with the JSON it was read from, which has fields that the
    /// scorecard does not declare.
    pub fn add_from(&mut self, place: &Place, scorer: usize, record: &Scoring<'_>, raw: &[u8]) {
        self.put(record.item.id, place, scorer, record, raw, None);
    }

    fn put(
        &mut self,
        id: &str,
        place: &Place,
        scorer: usize,
        record: &Scoring<'_>,
        raw: &[u8],
        arrival: Option<Arrival>,
    ) {
        let kept_alone = self.selection.alone;
        if kept_alone.is_some()
            && kept_alone == Some(self.side(&place.file))
            && let Some((alone, card)) = self.alone.as_mut().zip(self.scorers.get(scorer))
        {
            let scorer = alone.scorer(card);
            alone.put(id, place, scorer, record, raw, arrival);
        }
        let item = &record.item;
        let time = item.context.time;
        let subject = self.renames.apply(item.subject);
        if !self.selection.wish.admits(record, subject, time) {
            self.filtered += 1;
            return;
        }
        // In the order of its card; `finish` brings all cards together.
        let measured = |dimension: &DimensionRecord<'_>| {
            matches!(dimension.status, ValueStatus::Scored | ValueStatus::Gated)
        };
        let readings = record.dimensions.iter().map(|it| it.reading.filter(|_| measured(it)));
        let readings = readings.chain(record.groups.iter().map(|group| group.reading));
        let elapsed_seconds = record.elapsed_seconds();
        let aged = |it: &DimensionRecord<'_>| {
            let decay = it.decay?;
            Some(MeasuredValue::of_record(decay.before, decay.age_seconds, elapsed_seconds))
        };
        let has_decay = record.card.decay().is_some();
        let bare = record.dimensions.iter().filter(|it| it.status == ValueStatus::NotApplicable);
        let own = |field: &str| value(record, subject, field);
        let more = More {
            cases: item.context.cases,
            part: item.context.part.map(str::to_owned),
            run: item.context.run.map(str::to_owned),
            bounds: record.bounds.filter(|(low, high)| low != high).and_then(|(low, high)| {
                let max = f64::from(record.card.scale.max);
                possible(low.to_f64() / max, high.to_f64() / max)
            }),
            measured: if has_decay { record.dimensions.iter().map(aged).collect() } else { Vec::new() },
            not_applicable: bare.map(|it| it.key.to_owned()).collect(),
            gates: record.gates.iter().map(|gate| (*gate).to_owned()).collect(),
            labels: self.fields.values(self.selection.labels, own, record.card, raw),
            kept: self.fields.values(self.selection.kept, own, record.card, raw),
            ..NO_MORE.clone()
        };
        self.moments.add(record.as_of);
        let of_file = self.is_by_file().then(|| format!("{}{IN_FILE}{subject}", self.side(&place.file)));
        let own_time = time.map_or(NONE, |time| time.milliseconds);
        let (time, arrived) = arrival.map_or((own_time, NONE), |arrival| arrival.times(time));
        let row = Row {
            subject: self.subjects.index(of_file.as_deref().unwrap_or(subject)) as usize,
            digest: item.digest,
            outcome: item.context.outcome,
            trust: arrival.map_or(Trust::Claimed, |arrival| arrival.trust),
            scorer: short(scorer),
            arrival: self.names.add(id, place),
            task: item.context.task.map_or(NO_TASK, |task| self.names.tasks.index(task)),
            coverage: coverage(record.coverage),
            time,
            arrived,
            score: record.score.map_or(NONE, Score::units),
            readings: Readings::new(record.dimensions.len() + record.groups.len(), readings),
            more: (more != NO_MORE).then(|| Box::new(more)),
        };
        push(&mut self.rows, row);
    }

    /// Returns the name that stands for a file, which may be a place in a log: `run.eval: samples/7`.
    fn side<'f>(&mut self, file: &'f str) -> &'f str
    where
        'r: 'f,
    {
        let sides = self.selection.sides;
        let is_of = |(path, _): &&(String, String)| {
            file.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        };
        if !sides.get(self.side).is_some_and(|it| is_of(&it)) {
            self.side = sides.iter().position(|it| is_of(&it)).unwrap_or(usize::MAX);
        }
        sides.get(self.side).map_or_else(|| file_of(file), |(_, side)| side)
    }

    /// Returns whether a subject has its file in its name, until all are there.
    const fn is_by_file(&self) -> bool {
        self.selection.by_file || self.selection.by_run
    }

    /// Adds the record at `position` of a store, or one on its way there, without computing it again: its log vouches for the bytes. `scorer` is the
    /// index of its scorecard as [`Loader::scorer`] returned it, and `raw` the evidence, or nothing where only declared
    /// fields are asked for. Of the selection, only fields and filters apply.
    pub fn add_kept(
        &mut self,
        position: Option<u64>,
        scorer: usize,
        document: &RecordDocument,
        arrival: Arrival,
        raw: &[u8],
    ) {
        let Some(card) = self.scorers.get(scorer).map(Arc::clone) else { return };
        if !self.selection.wish.filters.iter().all(|filter| filter.is_met(document)) {
            self.filtered += 1;
            return;
        }
        self.moments.add(document.as_of.as_deref());
        let measured = |it: &DimensionDocument| matches!(it.status, ValueStatus::Scored | ValueStatus::Gated);
        let share = |value: f64| on_grid(value, BILLION as f64);
        let readings = document.dimensions.iter().map(|it| it.reading.filter(|_| measured(it)).map(share));
        let readings = readings.chain(document.groups.iter().map(|group| group.reading.map(share)));
        let elapsed_seconds = document.elapsed_seconds();
        let aged = |it: &DimensionDocument| {
            let decay = it.decay?;
            Some(MeasuredValue::of_record(share(decay.before), decay.age_seconds, elapsed_seconds))
        };
        let has_decay = document.dimensions.iter().any(|it| it.decay.is_some());
        let bare = document.dimensions.iter().filter(|it| it.status == ValueStatus::NotApplicable);
        let evidence = &document.evidence;
        let own = |field: &str| document.value(field);
        let more = More {
            cases: evidence.n,
            part: evidence.part.clone(),
            run: evidence.run.clone(),
            bounds: document.bounds.and_then(|it| {
                let max = f64::from(card.card().scale.max);
                possible(it.low / max, it.high / max)
            }),
            measured: if has_decay { document.dimensions.iter().map(aged).collect() } else { Vec::new() },
            not_applicable: bare.map(|it| it.key.clone()).collect(),
            gates: document.gates.clone(),
            labels: self.fields.values(self.selection.labels, own, card.card(), raw),
            kept: self.fields.values(self.selection.kept, own, card.card(), raw),
            ..NO_MORE.clone()
        };
        let (time, arrived) = arrival.times(document.time());
        let row = Row {
            subject: self.subjects.index(&document.subject) as usize,
            digest: evidence.digest,
            outcome: evidence.outcome,
            trust: arrival.trust,
            scorer: short(scorer),
            arrival: match position {
                Some(position) => self.names.add_numbered(&evidence.id, "record ", position),
                None => self.names.add_named(&evidence.id, &format!("item `{}`", clean(&evidence.id))),
            },
            task: evidence.task.as_ref().map_or(NO_TASK, |task| self.names.tasks.index(task)),
            coverage: coverage(share(document.coverage)),
            time,
            arrived,
            score: document.score().map_or(NONE, Score::units),
            readings: Readings::new(document.dimensions.len() + document.groups.len(), readings),
            more: (more != NO_MORE).then(|| Box::new(more)),
        };
        push(&mut self.rows, row);
    }

    /// Returns the items of both sides, and before them those of the side that is kept by itself.
    ///
    /// # Errors
    /// If either has no item, or items that are not for each other.
    pub(crate) fn finish_sides(mut self) -> Result<(Option<Rows>, Rows), Error> {
        let alone = self.alone.take().map(|alone| alone.finish()).transpose()?;
        Ok((alone, self.finish()?))
    }

    /// Sorts the items and removes repeated ones; the order in which they came does not matter.
    pub fn finish(mut self) -> Result<Rows, Error> {
        self.check()?;
        let order = self.order_scorers();
        let dimensions = self.dimensions();
        let mut places: Vec<Option<Vec<Option<usize>>>> = Vec::new();
        for card in &self.scorers {
            let own: Vec<&str> = values(card.card()).map(|(key, _)| key).collect();
            let of_all = dimensions.iter().map(|(key, _)| own.iter().position(|known| known == key));
            let of_all: Vec<Option<usize>> = of_all.collect();
            // Most often all have the same, in the same order.
            let is_same = own.len() == of_all.len() && of_all.iter().copied().eq((0..own.len()).map(Some));
            places.push((!is_same).then_some(of_all));
        }
        let names = self.subject_names();
        let mut subjects: Vec<(String, usize)> = names.into_iter().zip(0..).collect();
        subjects.sort_unstable();
        let mut ranks = vec![0; subjects.len()];
        for (rank, (_, at)) in subjects.iter().enumerate() {
            ranks.iter_mut().skip(*at).take(1).for_each(|it| *it = rank);
        }
        let mut subjects: Vec<String> = subjects.into_iter().map(|(name, _)| name).collect();
        for row in &mut self.rows {
            row.subject = ranks.get(row.subject).copied().unwrap_or_default();
            row.scorer = short(order.get(row.scorer()).copied().unwrap_or_default());
            let Some(Some(places)) = places.get(row.scorer()) else { continue };
            let readings = places.iter().map(|at| at.and_then(|at| row.readings.get(at)));
            row.readings = Readings::new(places.len(), readings);
            if let Some(more) = &mut row.more
                && !more.measured.is_empty()
            {
                let own = |at: &Option<usize>| at.and_then(|at| more.measured.get(at).copied().flatten());
                more.measured = places.iter().map(own).collect();
            }
        }
        let mut order = by_id(&self.rows, &self.names, subjects.len());
        let repeated = self.deduplicate(&mut order, &subjects)?;
        let digest = self.digest(&order, &subjects);
        let known = Known {
            names: &self.names,
            scorers: &self.scorers,
            subjects: subjects.iter().map(|name| self.own_name(name)).collect(),
            unclear: self.selection.unclear,
        };
        let unclear = pool(&mut self.rows, &mut order, &known)?;
        let mut left_out = BTreeMap::new();
        if !unclear.is_empty() {
            let mut numbers = Vec::with_capacity(subjects.len());
            let mut stay = Vec::new();
            for (at, name) in subjects.into_iter().enumerate() {
                numbers.push(stay.len());
                match unclear.get(&at) {
                    Some(why) => _ = left_out.insert(name, why.clone()),
                    None => stay.push(name),
                }
            }
            subjects = stay;
            order.retain(|at| {
                self.rows.get(*at as usize).is_some_and(|row| !unclear.contains_key(&row.subject))
            });
            self.rows
                .iter_mut()
                .for_each(|row| row.subject = numbers.get(row.subject).copied().unwrap_or_default());
        }
        // What is left of one subject is in order of the ids.
        order.sort_by_cached_key(|at| self.rows.get(*at as usize).map(|row| (row.subject, row.time)));
        put(&mut self.rows, &mut order);
        drop(order);
        let Some(scale) = self.scorers.first().map(|scorer| scorer.card().scale) else {
            return Err(nothing());
        };
        let has_decay = self.scorers.iter().any(|scorer| scorer.card().decay().is_some());
        let is_of_one = matches!(self.moments, Moments::One(_));
        let decay = has_decay.then_some(if is_of_one { DecayMoment::AsOf } else { DecayMoment::Own });
        let (is_by_file, is_by_run) = (self.is_by_file(), self.selection.by_run);
        let kept = self.selection.kept.to_vec();
        let Self { scorers, filtered, rows, names, fields, .. } = self;
        let tasks = Tasks::new(&rows, &names, &scorers);
        let origins =
            if is_by_file { subjects.iter().map_while(|name| origin(name)).collect() } else { Vec::new() };
        let rows = Rows {
            scorers,
            scale,
            dimensions,
            subjects,
            left_out,
            origins,
            rows,
            tasks,
            names,
            repeated,
            filtered,
            is_of_firsts: false,
            notes: Vec::new(),
            decay,
            digest,
            kept,
            fields: fields.known(),
            fact: None,
        };
        Ok(if is_by_run { rows.of_whole_subjects() } else { rows })
    }

    /// Rejects scorecards that cannot be compared, fields that no item has, and empty input.
    fn check(&self) -> Result<(), Error> {
        if self.scorers.len() > MOST_CARDS || self.rows.len() > MOST_ROWS {
            let message =
                format!("there are more than {MOST_ROWS} items, or more than {MOST_CARDS} scorecards");
            return Err(Error::new(Code::InvalidOption, message).hint("select some of them"));
        }
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
            return Err(match nearest(old, self.subjects.all()) {
                Some(near) => failure.hint(format!("did you mean `{}`?", clean(near))),
                None => failure,
            });
        }
        for filter in self.selection.wish.filters {
            check_filter(filter, "--where", cards())?;
        }
        for field in self.selection.labels {
            self.fields.check(
                field,
                if self.selection.is_query { "group_by" } else { "--group-by" },
                cards(),
            )?;
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

    /// Returns the names of the subjects: those of their files where each has one.
    fn subject_names(&self) -> Vec<String> {
        let origins: Option<Vec<Origin>> = self.subjects.all().map(origin).collect();
        let files = |all: &[Origin]| all.iter().map(|it| it.file.clone()).collect::<BTreeSet<String>>().len();
        let is_named = self.selection.by_file && !self.selection.by_run;
        match origins.filter(|all| is_named && files(all) == all.len()) {
            Some(all) => all.into_iter().map(|it| it.file).collect(),
            None => self.subjects.all().map(str::to_owned).collect(),
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
        for (key, label) in self.scorers.iter().flat_map(|scorer| values(scorer.card())) {
            if all.iter().all(|(known, _)| known != key) {
                all.push((key.to_owned(), label.to_owned()));
            }
        }
        all
    }

    /// Returns the name of a subject without that of its file.
    fn own_name<'n>(&self, name: &'n str) -> &'n str {
        let of_file = name.split_once(IN_FILE).filter(|_| self.is_by_file());
        of_file.map_or(name, |(_, own)| own)
    }

    /// Keeps each item once in `order`, which is by subject and id; returns the number of repeated items.
    fn deduplicate(&self, order: &mut Vec<u32>, subjects: &[String]) -> Result<u64, Error> {
        let (rows, names) = (&self.rows, &self.names);
        let (mut problems, mut copy) = (Problems::default(), None);
        let before = order.len();
        order.dedup_by(|next, kept| {
            let (Some(next), Some(kept)) = (rows.get(*next as usize), rows.get(*kept as usize)) else {
                return false;
            };
            let is_same = (next.subject, next.scorer) == (kept.subject, kept.scorer)
                && names.id(next) == names.id(kept);
            if is_same && content(next) != content(kept) {
                let subject = clean(subjects.get(kept.subject).map_or("", |name| self.own_name(name)));
                let id = clean(names.id(kept));
                let mut places = [names.place(kept), names.place(next)];
                places.sort();
                let [one, other] = places;
                // The place in a log comes after the name of its file.
                let file = |place: &str| place.split_once(": ").map(|(file, _)| file.to_owned());
                copy.get_or_insert_with(|| {
                    file(&one).zip(file(&other)).filter(|(one, other)| are_copies(one, other))
                });
                problems.add(format!("`{subject}` has two items `{id}` that differ: {one} and {other}"));
            }
            is_same
        });
        if let Some(Some((one, other))) = copy {
            let message = format!("`{}` is a copy of `{}`", clean(&other), clean(&one));
            return Err(Error::new(Code::EvidenceRefused, message).hint("give one of the two"));
        }
        problems.end("remove one of the two, or give it its own id")?;
        Ok((before - order.len()) as u64)
    }

    /// Returns the digest over the identity of all items, in their order: lines of the digests of scorecard and evidence, and
    /// subject and id as JSON strings.
    fn digest(&self, order: &[u32], subjects: &[String]) -> Digest {
        let cards: Vec<String> = self.scorers.iter().map(|it| it.card().digest.to_string()).collect();
        let mut digester = Digester::default();
        let mut text = Vec::with_capacity(2 * DIGESTED);
        let (mut subject, mut of_subject) = (None, Vec::new());
        for row in order.iter().filter_map(|at| self.rows.get(*at as usize)) {
            if subject != Some(row.subject) {
                subject = Some(row.subject);
                of_subject.clear();
                write_string(&mut of_subject, subjects.get(row.subject).map_or("", String::as_str));
            }
            text.extend_from_slice(cards.get(row.scorer()).map_or(&[], |card| card.as_bytes()));
            text.extend_from_slice(b" sha256:");
            text.extend_from_slice(&hexadecimal(&row.digest.0));
            text.push(b' ');
            text.extend_from_slice(&of_subject);
            text.push(b' ');
            write_string(&mut text, self.names.id(row));
            text.push(b'\n');
            if text.len() >= DIGESTED {
                digester.add(&text);
                text.clear();
            }
        }
        digester.add(&text);
        digester.end()
    }
}

/// Returns the file of a place, which may be one in a log: `run.eval: samples/7`.
pub(super) fn file_of(place: &str) -> &str {
    place.split_once(": ").map_or(place, |(file, _)| file)
}

/// The sign between a file and the subject in it. No path of a file has it.
const IN_FILE: char = '\0';

/// Returns the file and the own name of a subject that is one of a file.
pub(super) fn origin(name: &str) -> Option<Origin> {
    let (file, subject) = name.split_once(IN_FILE)?;
    Some(Origin { file: file.to_owned(), subject: subject.to_owned() })
}

/// Adds an item. The room grows by four, as the pages of each earlier one are touched in vain; those ahead are not.
fn push(rows: &mut Vec<Row>, row: Row) {
    if rows.len() == rows.capacity() {
        rows.reserve(3 * rows.len().max(1));
    }
    rows.push(row);
}

/// Bytes that are digested at once.
const DIGESTED: usize = 1 << 14;
/// The most scorecards and items, which have short numbers.
const MOST_CARDS: usize = u16::MAX as usize;
const MOST_ROWS: usize = u32::MAX as usize - 1;

/// Returns the number of a scorecard; more than [`MOST_CARDS`] are refused.
fn short(scorer: usize) -> u16 {
    u16::try_from(scorer).unwrap_or(u16::MAX)
}

fn coverage(billionths: i64) -> u32 {
    u32::try_from(billionths.clamp(0, BILLION)).unwrap_or_default()
}

/// Returns the parts that must be equal if one id is given twice. The digest has all of the evidence.
fn content(row: &Row) -> (Digest, i64, i64, u32, Option<Outcome>, Option<u64>) {
    (row.digest, row.score, row.time, row.task, row.outcome, row.cases())
}

/// Returns the keys and labels of what items have values of: the dimensions of a card, then its groups.
fn values(card: &Scorecard) -> impl Iterator<Item = (&str, &str)> {
    let dimensions = card.dimensions.iter().map(|it| (it.key.as_str(), it.label.as_str()));
    dimensions.chain(card.groups.iter().map(|it| (it.key.as_str(), it.label.as_str())))
}

/// Returns the bounds of a score; none where nothing is missing, so that they are the score.
fn possible(low: f64, high: f64) -> Option<(f64, f64)> {
    (low < high).then_some((low, high))
}

fn nothing() -> Error {
    Error::new(Code::NothingCounts, "there are no items").hint("give records, or evidence with a scorecard")
}
