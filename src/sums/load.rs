//! Rows of sums, checked and brought together.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::take;
use std::sync::Arc;

use karat_core::diagnostic::nearest;
use karat_core::facts::{Digest, Digester, Outcome};
use karat_core::number::BILLION;
use karat_core::sql::{measured, sums_of_key};
use karat_evidence::names::fault;

use super::{Cell, Measured, OUTCOME, SUBJECT, Sums, TASK, Value};
use crate::answers::leaderboard::SumsUsed;
use crate::ask::Fields;
use crate::card::CompiledCard;
use crate::engine::Wanted;
use crate::error::{Code, Error, Place};
use crate::rows::problems::Problems;
use crate::text::{clean, count, short};

/// The columns that every row has; [`OUTCOME`] and those of values follow.
const REQUIRED: usize = 7;
/// The first column of values.
const VALUES: usize = REQUIRED + 1;
/// The whole numbers from which on a double may stand for another one.
const WIDE: i64 = 1 << 53;

/// Takes rows of sums one by one, in any order. Rows about the same cell are added, so each machine may give those of its part.
pub struct Loader {
    card: Arc<CompiledCard>,
    /// The digest of the card as text.
    digest: String,
    /// The names of the columns, by place.
    columns: Vec<String>,
    places: HashMap<String, usize>,
    /// The names of the row before, with the places of their columns.
    header: Vec<(String, Option<usize>)>,
    seen: Vec<bool>,
    unknown: BTreeSet<String>,
    subjects: Names,
    tasks: Names,
    cells: Vec<Cell>,
    values: Vec<Measured>,
    rows: u64,
    /// The first row without a value in each column that needs one.
    lacking: BTreeMap<usize, String>,
    other_cards: BTreeSet<String>,
    problems: Problems,
}

/// Names by number, in order of appearance.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    all: Vec<String>,
    last: u32,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        // Rows about the same subject are often neighbours.
        if self.all.get(self.last as usize).is_some_and(|last| last == name) {
            return self.last;
        }
        self.last = match self.numbers.get(name) {
            Some(number) => *number,
            None => {
                let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
                self.numbers.insert(name.to_owned(), number);
                self.all.push(name.to_owned());
                number
            }
        };
        self.last
    }

    /// Returns the names in order, and the place there of each number.
    fn in_order(self) -> (Vec<String>, Vec<u32>) {
        let mut names: Vec<(String, usize)> = self.all.into_iter().zip(0..).collect();
        names.sort_unstable();
        let mut places = vec![0; names.len()];
        for ((_, number), place) in names.iter().zip(0u32..) {
            places.iter_mut().skip(*number).take(1).for_each(|it| *it = place);
        }
        (names.into_iter().map(|(name, _)| name).collect(), places)
    }
}

impl Loader {
    /// Creates a loader of sums of scores under a scorecard; the fields name other columns for subjects and tasks.
    pub fn new(card: Arc<CompiledCard>, fields: &Fields) -> Self {
        let named = |field: &Option<String>, usual: &str| field.clone().unwrap_or_else(|| usual.to_owned());
        let (subject, task) = (named(&fields.subject_field, SUBJECT), named(&fields.task_field, TASK));
        let fixed = ["items", "scored", "broken", "sum_score_e9", "card", OUTCOME].map(String::from);
        let values = measured(&card).flat_map(sums_of_key);
        let columns: Vec<String> = [subject, task].into_iter().chain(fixed).chain(values).collect();
        Self {
            digest: card.digest.to_string(),
            card,
            places: columns.iter().cloned().zip(0..).collect(),
            header: Vec::new(),
            seen: vec![false; columns.len()],
            columns,
            unknown: BTreeSet::new(),
            subjects: Names::default(),
            tasks: Names::default(),
            cells: Vec::new(),
            values: Vec::new(),
            rows: 0,
            lacking: BTreeMap::new(),
            other_cards: BTreeSet::new(),
            problems: Problems::default(),
        }
    }

    /// Returns the names that mark the header of a table.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { columns: self.columns.clone(), ..Wanted::nothing() }
    }

    /// Takes a row of named values. What is wrong with it, [`Self::finish`] says.
    pub fn add(&mut self, place: &Place, row: &[(Cow<'_, str>, Value<'_>)]) {
        self.rows += 1;
        let mut values = vec![&Value::Missing; self.columns.len()];
        for (at, (name, value)) in row.iter().enumerate() {
            let Some(column) = self.column(at, name) else { continue };
            if let Some(slot) = values.get_mut(column) {
                if **slot != Value::Missing {
                    self.refuse(place, column, "found a second time, expected once");
                }
                *slot = value;
            }
        }
        if let Err((column, words)) = self.read(place, &values) {
            self.refuse(place, column, &words);
        }
    }

    /// Adds what keeps a file from being read further.
    pub(super) fn refuse_file(&mut self, words: String) {
        self.problems.add(words);
    }

    fn refuse(&mut self, place: &Place, column: usize, words: &str) {
        let name = self.columns.get(column).map_or("", String::as_str);
        self.problems.add(format!("{place}: `{name}`: {words}"));
    }

    /// Returns the place of a column that is at `at` in its row.
    fn column(&mut self, at: usize, name: &str) -> Option<usize> {
        if let Some((known, column)) = self.header.get(at)
            && known == name
        {
            return *column;
        }
        let column = self.places.get(name).copied();
        match column {
            Some(column) => self.seen.iter_mut().skip(column).take(1).for_each(|it| *it = true),
            None => {
                self.unknown.insert(name.to_owned());
            }
        }
        self.header.truncate(at);
        if self.header.len() == at {
            self.header.push((name.to_owned(), column));
        }
        column
    }

    /// Reads a row, whose values are by column.
    fn read(&mut self, place: &Place, values: &[&Value<'_>]) -> Result<(), (usize, String)> {
        let value = |column: usize| values.get(column).copied().unwrap_or(&Value::Missing);
        let scored = number(value(3)).ok().flatten();
        let mut lacks = false;
        for column in 0..REQUIRED {
            // The sum over no score is NULL.
            if *value(column) == Value::Missing && !(column == 5 && scored == Some(0)) {
                self.lacking.entry(column).or_insert_with(|| place.to_string());
                lacks = true;
            }
        }
        if let Value::Text(text) = value(6)
            && *text != self.digest
        {
            self.other_cards.insert(text.to_string());
        }
        if lacks {
            return Ok(());
        }
        let whole = |column: usize, most: u32, of: &str| match number(value(column)) {
            Ok(found) => match found.map(u32::try_from).unwrap_or(Ok(0)) {
                Ok(found) if found <= most => Ok(found),
                _ => Err((column, expected(found.unwrap_or_default(), 0, most.into(), of))),
            },
            Err(found) => Err((column, format!("found {found}, expected a whole number below 2^63"))),
        };
        let sum = |column: usize, count: u32| match number(value(column)) {
            Ok(found) => match found.unwrap_or_default() {
                found if (0..=BILLION * i64::from(count)).contains(&found) => Ok(found),
                found => {
                    let most = BILLION * i64::from(count);
                    Err((column, expected(found, 0, most, ", a billion for each that is scored")))
                }
            },
            Err(found) => Err((column, format!("found {found}, expected a whole number below 2^63"))),
        };
        let names = [name(value(0)).map_err(|it| (0, it))?, name(value(1)).map_err(|it| (1, it))?];
        let [subject, task] = names;
        let items = whole(2, u32::MAX, "")?;
        if items == 0 {
            return Err((2, String::from("found 0, expected at least 1")));
        }
        let broken = whole(4, items, ", as many as there are items")?;
        let left = items - broken;
        let scored = whole(3, left, ", the items that are not broken")?;
        let total = sum(5, scored)?;
        match value(6) {
            Value::Text(_) => {}
            other => {
                return Err((6, format!("found {}, expected the digest of the scorecard", described(other))));
            }
        }
        let outcome = match value(REQUIRED) {
            Value::Missing => None,
            Value::Text(text) => Some(Outcome::from_name(text).ok_or_else(|| {
                let known = Outcome::ALL.map(Outcome::name).join(", ");
                (REQUIRED, format!("found `{}`, expected one of {known}", short(text)))
            })?),
            other => return Err((REQUIRED, format!("found {}, expected an outcome", described(other)))),
        };
        let mut of_keys = Vec::new();
        if self.seen.get(VALUES..).is_some_and(|seen| seen.contains(&true)) {
            for column in (VALUES..self.columns.len()).step_by(3) {
                for part in [column, column + 2] {
                    if *value(part) == Value::Missing {
                        return Err((
                            part,
                            String::from("found nothing, expected a whole number in every row"),
                        ));
                    }
                }
                let count = whole(column, left, ", the items that are not broken")?;
                let bare = whole(column + 2, left - scored.max(count), ", the items with neither")?;
                of_keys.push(Measured { count, sum: sum(column + 1, count)?, bare });
            }
        }
        let values = self.cells.len();
        // Columns of values that only later rows have are refused at the end.
        self.values.extend(of_keys);
        let [subject, task] = [self.subjects.number(&subject), self.tasks.number(&task)];
        self.cells.push(Cell { subject, task, outcome, items, scored, broken, sum: total, values });
        Ok(())
    }

    /// Brings the rows together.
    ///
    /// # Errors
    /// If there is no row, a column is missing or unknown, the rows are of another scorecard, or a row cannot be right: all of it at once.
    pub fn finish(mut self) -> Result<Sums, Error> {
        let mut problems = take(&mut self.problems);
        let known = |name: &String| nearest(name, self.columns.iter().map(String::as_str)).map(clean);
        for digest in &self.other_cards {
            let digest = Digest::parse(digest).map_or_else(|| short(digest), |digest| digest.to_string());
            problems.add(format!("`card`: found {digest}, expected {} of {}", self.digest, self.card.name()));
        }
        for name in &self.unknown {
            let near = known(name).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            problems.add(format!("the column `{}` is not one of sums{near}", short(name)));
        }
        for (column, place) in &self.lacking {
            let name = self.columns.get(*column).map_or("", String::as_str);
            problems.add(match (self.seen.get(*column), *column) {
                (Some(true), 1) => format!("{place}: `{name}`: found nothing, expected a task: give items without one their ids"),
                (Some(true), _) => format!("{place}: `{name}`: found nothing, expected a value"),
                (_, 0) => format!("there is no column `{name}`; --subject-field names another"),
                (_, 1) => format!("there is no column `{name}`, and without tasks nothing can be compared; --task-field names another, such as one of ids"),
                _ => format!("there is no column `{name}`"),
            });
        }
        let keys = (self.columns.len() - VALUES) / 3;
        let has_values = !self.values.is_empty();
        if has_values && self.values.len() != keys * self.cells.len() && problems.is_empty() {
            problems.add(String::from("some rows have columns of values and some have not"));
        }
        if self.rows == 0 && problems.is_empty() {
            return Err(Error::new(Code::NoItems, "there is no row of sums")
                .hint("expected what the query of `karat card sql --sums subject,task` gives"));
        }
        let (subjects, by_subject) = take(&mut self.subjects).in_order();
        let (tasks, by_task) = take(&mut self.tasks).in_order();
        let place = |places: &[u32], number: u32| places.get(number as usize).copied().unwrap_or_default();
        for cell in &mut self.cells {
            cell.subject = place(&by_subject, cell.subject);
            cell.task = place(&by_task, cell.task);
        }
        // A sort that keeps what is in order takes little time where it is.
        self.cells.sort_by_key(|cell| (cell.subject, cell.task, cell.outcome));
        let keys = if has_values { keys } else { 0 };
        for (one, more) in self.merge(keys) {
            let name =
                |names: &[String], at: u32| names.get(at as usize).map_or_else(String::new, |it| short(it));
            let (subject, task) = (name(&subjects, one.subject), name(&tasks, one.task));
            problems.add(format!(
                "`{subject}` at `{task}`: found {more} items, expected at most {} in a cell",
                u32::MAX
            ));
        }
        problems.end_of("problems with the sums", "the query of `karat card sql --sums` gives such rows")?;
        Ok(self.counted(subjects, tasks, if has_values { keys } else { 0 }))
    }

    /// Adds the cells that are the same to the first of them; returns those that become too large, with their items.
    fn merge(&mut self, keys: usize) -> Vec<(Cell, u64)> {
        let (mut merged, mut too_large): (Vec<Cell>, Vec<(Cell, u64)>) =
            (Vec::with_capacity(self.cells.len()), Vec::new());
        for cell in take(&mut self.cells) {
            let same = merged
                .last_mut()
                .filter(|it| (it.subject, it.task, it.outcome) == (cell.subject, cell.task, cell.outcome));
            let Some(first) = same else {
                merged.push(cell);
                continue;
            };
            let items = u64::from(first.items) + u64::from(cell.items);
            // No number of a cell is above that of its items, and no sum above a billion for each.
            if let Ok(items) = u32::try_from(items) {
                first.items = items;
                first.scored += cell.scored;
                first.broken += cell.broken;
                first.sum += cell.sum;
                for key in 0..keys {
                    let more = self.values.get(cell.values * keys + key).copied().unwrap_or_default();
                    if let Some(it) = self.values.get_mut(first.values * keys + key) {
                        *it = Measured {
                            count: it.count + more.count,
                            sum: it.sum + more.sum,
                            bare: it.bare + more.bare,
                        };
                    }
                }
            } else {
                too_large.push((*first, items));
            }
        }
        self.cells = merged;
        too_large
    }

    /// Counts what there is, and leaves out the subjects with broken items.
    fn counted(self, subjects: Vec<String>, tasks: Vec<String>, keys: usize) -> Sums {
        let mut digest = Digester::default();
        let mut broken: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for cell in &self.cells {
            for name in
                [subjects.get(cell.subject as usize), tasks.get(cell.task as usize)].into_iter().flatten()
            {
                digest.add(&(name.len() as u64).to_le_bytes());
                digest.add(name.as_bytes());
            }
            digest.add(cell.outcome.map_or("", Outcome::name).as_bytes());
            for number in [cell.items, cell.scored, cell.broken] {
                digest.add(&number.to_le_bytes());
            }
            digest.add(&cell.sum.to_le_bytes());
            let values = self.values.iter().skip(cell.values * keys).take(keys);
            values.for_each(|it| {
                digest.add(&[it.count.into(), it.sum, it.bare.into()].map(i64::to_le_bytes).concat())
            });
            if cell.broken > 0 {
                broken.insert(cell.subject, (0, 0));
            }
        }
        let (mut cells, count_before) = (self.cells, broken.len());
        let read = cells.len() as u64;
        if count_before > 0 {
            cells.retain(|cell| match broken.get_mut(&cell.subject) {
                Some((of, all)) => {
                    (*of, *all) = (*of + cell.broken as usize, *all + cell.items as usize);
                    false
                }
                None => true,
            });
        }
        let left_out = broken.iter().filter_map(|(at, (of, all))| {
            let name = subjects.get(*at as usize)?;
            Some((
                name.clone(),
                format!(
                    "{of} of the {} of `{}` {} broken",
                    count(*all, "item"),
                    short(name),
                    if *of == 1 { "is" } else { "are" }
                ),
            ))
        });
        let labels = self.card.dimensions.iter().map(|it| (it.key.clone(), it.label.clone()));
        let labels = labels.chain(self.card.groups.iter().map(|it| (it.key.clone(), it.label.clone())));
        let used = SumsUsed {
            rows: self.rows,
            cells: read,
            digest: digest.end().to_string(),
            broken: broken.values().map(|(of, _)| *of as u64).sum(),
            unscored: cells.iter().map(|cell| u64::from(cell.items - cell.scored)).sum(),
            without: Vec::new(),
        };
        Sums {
            left_out: left_out.collect(),
            dimensions: labels.take(keys).collect(),
            card: self.card,
            subjects,
            tasks,
            cells,
            values: self.values,
            used,
        }
    }
}

fn described(value: &Value<'_>) -> String {
    match value {
        Value::Missing => String::from("nothing"),
        Value::Text(text) => format!("`{}`", short(text)),
        Value::Whole(number) => number.to_string(),
        Value::Other(words) => words.clone(),
    }
}

fn expected(found: i64, least: i64, most: i64, of: &str) -> String {
    format!("found {found}, expected {least} to {most}{of}")
}

/// Returns a whole number, or what was found in its place; none of nothing.
fn number(value: &Value<'_>) -> Result<Option<i64>, String> {
    match value {
        Value::Missing => Ok(None),
        Value::Whole(number) => Ok(Some(*number)),
        Value::Text(text) => {
            let text = text.trim();
            // As data frames write whole numbers beside missing ones: exact below 2^53.
            let (whole, limit) = match text.split_once('.') {
                Some((whole, rest)) if rest.bytes().all(|digit| digit == b'0') => (whole, WIDE),
                _ => (text, i64::MAX),
            };
            let number = whole.parse::<i64>().ok().filter(|number| number.unsigned_abs() < limit as u64);
            number.map(Some).ok_or_else(|| described(value))
        }
        Value::Other(_) => Err(described(value)),
    }
}

/// Returns the name of a subject or task: a text, or a whole number.
fn name<'v>(value: &'v Value<'_>) -> Result<Cow<'v, str>, String> {
    match value {
        Value::Text(text) => match fault(text) {
            None => Ok(Cow::Borrowed(text)),
            Some(fault) => {
                Err(format!("found {}, expected {}; {}", described(value), fault.expected, fault.hint))
            }
        },
        Value::Whole(number) => Ok(Cow::Owned(number.to_string())),
        Value::Missing | Value::Other(_) => Err(format!("found {}, expected a name", described(value))),
    }
}
