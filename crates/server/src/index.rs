//! The fields of every record that lists and leaderboards need, in memory: 80 bytes a record, and each name once. The
//! index is computed from the log; `index_cache` saves it between starts.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use karat_core::facts::Outcome;
use karat_core::number::Score;

use crate::authority::Provenances;
use crate::backfill::Backfill;
use crate::basics::*;
use crate::shared::{Grown, Segments};
use crate::stored::Trust;

#[derive(Debug, Clone)]
pub struct NewRow {
    /// The id of the item.
    pub id: String,
    /// The provenances of the facts that its sender stated.
    pub stated: Provenances,
    pub subject: String,
    /// The scorecard, `id@version`.
    pub card: String,
    /// The task: its name or that of the challenge; `None` if the item is its own task.
    pub task: Option<String>,
    /// The time at which it took place, if given.
    pub time: Option<Timestamp>,
    /// The outcome, if given.
    pub outcome: Option<Outcome>,
    pub score: Option<Score>,
    pub evidence: Digest,
    /// The digest of the id of its evidence in the store: two items may have the same content.
    pub item: Digest,
    pub trust: Trust,
    /// True if it was handed in as history that is old on purpose.
    pub is_backfilled: bool,
    /// True if it is a mean over cases.
    pub is_over_cases: bool,
    pub sender: Option<String>,
}

/// A record in the index; names are numbers for [`Index::name`].
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub position: u64,
    /// The time at which it took place, if given.
    pub time: Option<Timestamp>,
    pub score: Option<Score>,
    pub subject: u32,
    pub card: u32,
    /// The task; `None` if the item is its own task.
    pub task: Option<u32>,
    /// The outcome, if given.
    pub outcome: Option<Outcome>,
    pub trust: Trust,
    /// True if it was handed in as history that is old on purpose.
    pub is_backfilled: bool,
    /// True if it is a mean over cases.
    pub is_over_cases: bool,
    /// The sender, or [`NO_NAME`].
    sender: u32,
    /// The first half of the digest of the id of its evidence.
    item: [u8; 16],
}

impl Row {
    /// Returns the number of the name of its sender, if its entry has one.
    pub fn sender(&self) -> Option<u32> {
        (self.sender != NO_NAME).then_some(self.sender)
    }
}

/// All records, in the order of the log. A copy costs little, see [`crate::shared`].
#[derive(Debug, Default, Clone)]
pub struct Index {
    rows: Segments<Row>,
    names: Names,
    replaced: Corrections,
    /// The withdrawals of what revoked keys sent.
    withdrawn: Vec<Withdrawn>,
    backfilled: u64,
    /// The scorecards, subjects and tasks of the means over cases.
    over_cases: Arc<HashSet<(u32, u32, u32)>>,
    /// While the log is loaded: the records that marks name, by the digest of the id, with the position of the mark.
    marks: HashMap<[u8; 16], u64>,
}

/// A withdrawal of what a key sent from a position on, known from its own position on.
#[derive(Debug, Clone, Copy)]
struct Withdrawn {
    sender: u32,
    from: u64,
    known: u64,
}

/// A correction of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Correction {
    position: u64,
    /// True if a key of the subject itself sent it.
    is_by_own_key: bool,
    /// The sender, or [`NO_NAME`].
    sender: u32,
}

/// Corrected evidence, by the digest of its id, with its correction: in one part for each first byte, so that a change copies
/// one part alone.
#[derive(Debug, Default, Clone)]
struct Corrections(Vec<Arc<BTreeMap<[u8; 16], Correction>>>);

impl Corrections {
    fn get(&self, item: &[u8; 16]) -> Option<&Correction> {
        self.0.get(usize::from(item[0]))?.get(item)
    }

    /// Adds a correction, unless there is one of that evidence.
    fn add(&mut self, item: [u8; 16], correction: Correction) {
        if self.0.is_empty() {
            self.0.resize_with(1 << 8, Arc::default);
        }
        if let Some(part) = self.0.get_mut(usize::from(item[0])) {
            Arc::make_mut(part).entry(item).or_insert(correction);
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8; 16], &Correction)> {
        self.0.iter().flat_map(|part| part.iter())
    }
}

/// Names, each once, with a number.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    places: Grown<u32>,
    list: Segments<Arc<str>>,
}

impl Names {
    pub(crate) fn place(&mut self, name: &str) -> u32 {
        if let Some(place) = self.places.get(name) {
            return place;
        }
        let name: Arc<str> = name.into();
        // Memory runs out before a log has four billion different names.
        let place = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(Arc::clone(&name));
        self.places.insert(name, place);
        place
    }

    /// Returns the name with that number; empty without such a name.
    pub(crate) fn name(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|at| self.list.get(at)).map_or("", |name| name)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        // The numbers are shared with later copies, which may know more names.
        self.places.get(name).filter(|number| (*number as usize) < self.list.len())
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }
}

impl Index {
    /// Adds the record at `position`, which is higher than all earlier ones.
    pub fn add(&mut self, position: u64, new: &NewRow) {
        let row = Row {
            position,
            time: new.time,
            score: new.score,
            subject: self.names.place(&new.subject),
            card: self.names.place(&new.card),
            task: new.task.as_deref().map(|task| self.names.place(task)),
            outcome: new.outcome,
            trust: new.trust,
            is_backfilled: new.is_backfilled,
            is_over_cases: new.is_over_cases,
            sender: new.sender.as_deref().map_or(NO_NAME, |sender| self.names.place(sender)),
            item: half(new.item),
        };
        self.push(row);
    }

    fn push(&mut self, row: Row) {
        self.backfilled += u64::from(row.is_backfilled);
        if let Some(task) = row.task.filter(|_| row.is_over_cases) {
            Arc::make_mut(&mut self.over_cases).insert((row.card, row.subject, task));
        }
        self.rows.push(row);
    }

    /// Notes the records that a mark at `position` names.
    pub fn backfill(&mut self, position: u64, mark: &Backfill) {
        for record in &mark.records {
            self.marks.entry(half(Digest::of(record.as_bytes()))).or_insert(position);
        }
    }

    /// Returns true if a mark before `position` names the record there, which has that id.
    pub(crate) fn is_backfilled(&self, record: &str, position: u64) -> bool {
        let mark = || self.marks.get(&half(Digest::of(record.as_bytes())));
        !self.marks.is_empty() && mark().is_some_and(|mark| *mark < position)
    }

    /// Forgets what marks name, once all records of the log are rows.
    pub(crate) fn forget_marks(&mut self) {
        self.marks = HashMap::new();
    }

    /// Returns the backfilled records up to the log size `size` that count, in order.
    pub(crate) fn backfilled(&self, size: u64) -> impl Iterator<Item = &Row> {
        let all = if self.backfilled == 0 { 0 } else { size };
        self.rows(all).filter(|row| row.is_backfilled)
    }

    /// Returns the record at a position.
    pub fn at(&self, position: u64) -> Option<&Row> {
        let found = self.rows.partition_point(|row| row.position < position);
        self.rows.get(found).filter(|row| row.position == position)
    }

    /// Notes that the evidence whose id has that digest was corrected by the item at `position`, sent by a key of the subject or
    /// by another.
    pub fn replace(&mut self, item: Digest, position: u64, sender: Option<&str>, is_by_own_key: bool) {
        let sender = sender.map_or(NO_NAME, |sender| self.names.place(sender));
        self.replaced.add(half(item), Correction { position, is_by_own_key, sender });
    }

    /// Notes that by the entry at `known` what `sender` sent at `from` or later was withdrawn.
    pub(crate) fn withdraw(&mut self, sender: &str, from: u64, known: u64) {
        let sender = self.names.place(sender);
        self.withdrawn.push(Withdrawn { sender, from, known });
    }

    /// Returns the number of withdrawals up to the log size `size`.
    pub(crate) fn withdrawals(&self, size: u64) -> usize {
        self.withdrawn.iter().filter(|it| it.known < size).count()
    }

    /// Returns true if the entry at `position` by `sender` is withdrawn, up to the log size `size`.
    fn is_withdrawn(&self, sender: u32, position: u64, size: u64) -> bool {
        self.withdrawn.iter().any(|it| it.sender == sender && it.from <= position && it.known < size)
    }

    /// Returns the correction of the item of `row`, up to the log size `size`.
    fn correction(&self, row: &Row, size: u64) -> Option<&Correction> {
        let found = self.replaced.get(&row.item).filter(|it| it.position < size)?;
        (!self.is_withdrawn(found.sender, found.position, size)).then_some(found)
    }

    fn key(&self, (card, subject, task): (&str, &str, &str)) -> Option<(u32, u32, u32)> {
        Some((self.number(card)?, self.number(subject)?, self.number(task)?))
    }

    /// Returns true if there is a mean over cases under that scorecard, of that subject at that task.
    pub(crate) fn has_cases_at(&self, key: (&str, &str, &str)) -> bool {
        !self.over_cases.is_empty() && self.key(key).is_some_and(|key| self.over_cases.contains(&key))
    }

    /// Returns the positions of the newest records that count by scorecard, subject and task, at most `most` of each, without those
    /// of the evidence `sent`; and which of that is there.
    pub(crate) fn at_tasks<'k>(
        &self,
        keys: &BTreeSet<Task<'k>>,
        sent: &BTreeSet<Digest>,
        most: usize,
    ) -> (BTreeMap<Task<'k>, Vec<u64>>, BTreeSet<Digest>) {
        let numbers: HashMap<_, _> = keys.iter().filter_map(|key| Some((self.key(*key)?, *key))).collect();
        let sent: BTreeMap<[u8; 16], Digest> = sent.iter().map(|item| (half(*item), *item)).collect();
        let (mut found, mut there) = (BTreeMap::<_, Vec<u64>>::new(), BTreeSet::new());
        let all = if numbers.is_empty() { 0 } else { self.rows.len() };
        for row in self.rows.range(0..all).rev() {
            let key = row.task.and_then(|task| numbers.get(&(row.card, row.subject, task)));
            match (key, sent.get(&row.item)) {
                (Some(_), Some(item)) => _ = there.insert(*item),
                (Some(key), None) if self.counts(row, u64::MAX) => {
                    let own = found.entry(*key).or_default();
                    own.extend((own.len() < most).then_some(row.position));
                }
                _ => {}
            }
        }
        (found, there)
    }

    /// Returns the records up to the log size `size` that were corrected by then, in order, each with true if a key of its
    /// subject corrected it.
    pub(crate) fn corrected(&self, size: u64) -> impl Iterator<Item = (&Row, bool)> {
        let all = if self.replaced.0.is_empty() { 0 } else { size };
        self.rows.range(0..self.rows_until(all)).filter_map(move |row| {
            let correction = self.correction(row, size)?;
            (!self.is_withdrawn(row.sender, row.position, size)).then_some((row, correction.is_by_own_key))
        })
    }

    /// Returns the records up to the log size `size` that were not corrected or withdrawn by then, in order.
    pub fn rows(&self, size: u64) -> impl DoubleEndedIterator<Item = &Row> + Clone {
        let all_count = self.replaced.0.is_empty() && self.withdrawn.is_empty();
        self.rows.range(0..self.rows_until(size)).filter(move |row| all_count || self.counts(row, size))
    }

    /// Returns the number of rows in a log of that `size`.
    fn rows_until(&self, size: u64) -> usize {
        self.rows.partition_point(|row| row.position < size)
    }

    fn counts(&self, row: &Row, size: u64) -> bool {
        self.correction(row, size).is_none() && !self.is_withdrawn(row.sender, row.position, size)
    }

    /// Returns the same records from the position `start`.
    pub fn from(&self, start: u64, size: u64) -> impl Iterator<Item = &Row> {
        self.rows.range(self.rows_until(start)..self.rows_until(size))
    }

    /// Returns the positions of the records of a scorecard, corrected ones included, at positions within `range`.
    pub(crate) fn positions_of(&self, card: &str, range: Range<u64>) -> Vec<u64> {
        let Some(card) = self.number(card) else { return Vec::new() };
        self.from(range.start, range.end).filter(|row| row.card == card).map(|row| row.position).collect()
    }

    /// Encodes the first `limit` rows at positions within `range`, and the corrections of evidence there; also returns
    /// the part of the range that they cover.
    pub(crate) fn encode(&self, range: Range<u64>, limit: usize) -> (Range<u64>, Vec<u8>) {
        let Range { start, mut end } = range;
        let first = self.rows_until(start);
        if let Some(beyond) = self.rows.get(first + limit) {
            end = end.min(beyond.position);
        }
        let rows = first..self.rows_until(end).max(first);
        let (mut places, mut names) = (HashMap::new(), Vec::new());
        let mut place = |number: u32| {
            *places.entry(number).or_insert_with(|| {
                names.push(number);
                names.len() as u32 - 1
            })
        };
        let mut encoded = Encoder(Vec::with_capacity(ROW_BYTES * rows.len()));
        for row in self.rows.range(rows.clone()) {
            encoded.row(row, &mut place);
        }
        let replaced = self.replaced.iter().filter(|(_, it)| (start..end).contains(&it.position));
        let mut placed = |sender| if sender == NO_NAME { NO_NAME } else { place(sender) };
        let replaced: Vec<_> = replaced.map(|(item, it)| (item, it, placed(it.sender))).collect();
        let mut out = Encoder(Vec::with_capacity(encoded.0.len() + 64 * names.len() + 29 * replaced.len()));
        out.count(names.len());
        for name in names {
            let name = self.name(name);
            out.count(name.len());
            out.0.extend_from_slice(name.as_bytes());
        }
        out.count(rows.len());
        out.0.append(&mut encoded.0);
        for (item, Correction { position, is_by_own_key, .. }, sender) in replaced {
            out.0.extend_from_slice(item);
            out.0.extend_from_slice(&position.to_be_bytes());
            out.0.push(u8::from(*is_by_own_key));
            out.0.extend_from_slice(&sender.to_be_bytes());
        }
        (start..end, out.0)
    }

    /// Adds the rows that [`Self::encode`] wrote. Returns `None`, and adds no row, if `bytes` are not such rows, or one
    /// is not within `range`.
    pub(crate) fn decode(&mut self, range: Range<u64>, bytes: &[u8]) -> Option<()> {
        let mut decoder = Decoder(bytes);
        let names = (0..decoder.count()?)
            .map(|_| {
                let length = usize::try_from(decoder.count()?).ok()?;
                std::str::from_utf8(decoder.bytes(length)?).ok()
            })
            .collect::<Option<Vec<_>>>()?;
        let numbers: Vec<u32> = names.into_iter().map(|name| self.names.place(name)).collect();
        let rows = (0..decoder.count()?).map(|_| decoder.row(&numbers)).collect::<Option<Vec<_>>>()?;
        let (replaced, rest) = decoder.0.as_chunks::<29>();
        let replaced = replaced.iter().map(|bytes| {
            let (evidence, rest) = bytes.split_first_chunk()?;
            let (position, own) = rest.split_first_chunk()?;
            let (own, sender) = own.split_first()?;
            let sender = u32::from_be_bytes(sender.try_into().ok()?);
            let correction = Correction {
                position: u64::from_be_bytes(*position),
                is_by_own_key: *own == 1,
                sender: if sender == NO_NAME {
                    NO_NAME
                } else {
                    *numbers.get(usize::try_from(sender).ok()?)?
                },
            };
            Some((*evidence, correction))
        });
        let replaced = replaced.collect::<Option<Vec<([u8; 16], Correction)>>>()?;
        let positions = rows.iter().map(|row| row.position).chain(replaced.iter().map(|(_, it)| it.position));
        if !rest.is_empty() || !positions.clone().all(|at| range.contains(&at)) {
            return None;
        }
        if !rows.is_sorted_by(|row, next| row.position < next.position) {
            return None;
        }
        rows.into_iter().for_each(|row| self.push(row));
        for (evidence, correction) in replaced {
            self.replaced.add(evidence, correction);
        }
        Some(())
    }

    /// Returns the position after that of the last record.
    pub(crate) fn end(&self) -> u64 {
        self.rows.len().checked_sub(1).and_then(|last| self.rows.get(last)).map_or(0, |row| row.position + 1)
    }

    /// Returns the number of records, corrected ones included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn names(&self) -> usize {
        self.names.len()
    }

    pub fn number(&self, name: &str) -> Option<u32> {
        self.names.number(name)
    }

    pub fn name(&self, number: u32) -> &str {
        self.names.name(number)
    }
}

const ROW_BYTES: usize = 59;
/// Scorecard, subject and task.
type Task<'k> = (&'k str, &'k str, &'k str);

/// The number that means no task or no sender.
const NO_NAME: u32 = u32::MAX;

/// An encoder of numbers and rows, the highest byte of each number first.
struct Encoder(Vec<u8>);

impl Encoder {
    fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u32).to_be_bytes());
    }

    fn row(&mut self, row: &Row, place: &mut impl FnMut(u32) -> u32) {
        let time = row.time.map_or(0, |time| time.milliseconds);
        let score = row.score.map_or(0, Score::units);
        let names = [place(row.subject), place(row.card), row.task.map_or(NO_NAME, &mut *place)];
        let sender = if row.sender == NO_NAME { NO_NAME } else { place(row.sender) };
        let outcome = row.outcome.and_then(|it| Outcome::ALL.iter().position(|other| *other == it));
        let out = &mut self.0;
        out.extend_from_slice(&row.position.to_be_bytes());
        out.extend_from_slice(&time.to_be_bytes());
        out.extend_from_slice(&score.to_be_bytes());
        for name in names.into_iter().chain([sender]) {
            out.extend_from_slice(&name.to_be_bytes());
        }
        let flags = [row.time.is_some(), row.score.is_some(), row.is_backfilled, row.is_over_cases];
        out.push(flags.iter().enumerate().map(|(at, flag)| u8::from(*flag) << at).sum());
        out.push(outcome.map_or(u8::MAX, |at| at as u8));
        out.push(row.trust as u8);
        out.extend_from_slice(&row.item);
    }
}

/// A decoder of the bytes that an [`Encoder`] wrote.
struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn part<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        self.bytes(LENGTH)?.try_into().ok()
    }

    fn count(&mut self) -> Option<u32> {
        self.part().map(u32::from_be_bytes)
    }

    fn row(&mut self, numbers: &[u32]) -> Option<Row> {
        let position = self.part().map(u64::from_be_bytes)?;
        let milliseconds = self.part().map(i64::from_be_bytes)?;
        let units = self.part().map(i64::from_be_bytes)?;
        let [subject, card, task, sender] = [self.count()?, self.count()?, self.count()?, self.count()?];
        let [given, outcome, trust] = self.part()?;
        let number = |place: u32| numbers.get(usize::try_from(place).ok()?).copied();
        Some(Row {
            position,
            time: (given & 1 != 0).then_some(Timestamp { milliseconds }),
            score: (given & 2 != 0).then_some(Score::from_units(units)),
            subject: number(subject)?,
            card: number(card)?,
            task: if task == NO_NAME { None } else { Some(number(task)?) },
            outcome: match outcome {
                u8::MAX => None,
                at => Some(*Outcome::ALL.get(usize::from(at))?),
            },
            trust: Trust::ALL.into_iter().find(|it| *it as u8 == trust)?,
            is_backfilled: given & 4 != 0,
            is_over_cases: given & 8 != 0,
            sender: if sender == NO_NAME { NO_NAME } else { number(sender)? },
            item: self.part()?,
        })
    }
}

fn half(digest: Digest) -> [u8; 16] {
    let mut half = [0; 16];
    half.iter_mut().zip(digest.0).for_each(|(to, from)| *to = from);
    half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(subject: &str, evidence: &[u8]) -> NewRow {
        NewRow {
            id: String::new(),
            stated: Provenances::default(),
            subject: subject.to_owned(),
            card: "c@1.0.0".to_owned(),
            task: None,
            time: None,
            outcome: None,
            score: None,
            evidence: Digest::of(b""),
            item: Digest::of(evidence),
            trust: Trust::Measured,
            is_backfilled: false,
            is_over_cases: false,
            sender: None,
        }
    }

    #[test]
    fn corrections_count_from_where_they_stand() {
        let mut index = Index::default();
        index.add(1, &row("a", b"old"));
        index.add(3, &row("a", b"new"));
        index.replace(Digest::of(b"old"), 2, None, true);
        // The same evidence under another card, scored after it was corrected.
        index.add(5, &row("a", b"old"));
        let positions = |size| index.rows(size).map(|row| row.position).collect::<Vec<_>>();
        assert_eq!((positions(2), positions(3), positions(9)), (vec![1], vec![], vec![3]));
        let corrected =
            |size| index.corrected(size).map(|(row, own)| (row.position, own)).collect::<Vec<_>>();
        assert_eq!((corrected(2), corrected(9)), (vec![], vec![(1, true), (5, true)]));
        assert_eq!(index.from(2, 9).map(|row| row.position).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn what_is_withdrawn_does_not_count_and_corrects_nothing() {
        let mut index = Index::default();
        let by =
            |sender: &str, evidence: &[u8]| NewRow { sender: Some(sender.to_owned()), ..row("a", evidence) };
        index.add(1, &by("good", b"old"));
        index.add(2, &by("leaked", b"before"));
        index.replace(Digest::of(b"old"), 3, Some("leaked"), false);
        index.add(4, &by("leaked", b"new"));
        index.replace(Digest::of(b"before"), 5, Some("good"), false);
        index.add(6, &by("good", b"after"));
        index.withdraw("leaked", 3, 7);
        let positions = |size| index.rows(size).map(|row| row.position).collect::<Vec<_>>();
        assert_eq!((positions(7), positions(8)), (vec![4, 6], vec![1, 6]));
        let corrected = |size| index.corrected(size).map(|(row, _)| row.position).collect::<Vec<_>>();
        assert_eq!((corrected(7), corrected(8)), (vec![1, 2], vec![2]));
        assert_eq!((index.withdrawals(7), index.withdrawals(8)), (0, 1));
    }

    #[test]
    fn a_record_takes_80_bytes() {
        assert_eq!(size_of::<Row>(), 80);
    }
}
