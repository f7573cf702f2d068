//! Profiles of data: what fields its items have, of which types, in which ranges, and which of them can be names.
//!
//! Nothing is guessed here: a field is a number if every value that it has is one for the reader. Memory is
//! bounded whatever the data; the same items in the same order give the same profile.
//!
//! ```
//! use karat_evidence::profile::{Profile, Shape};
//!
//! let mut profile = Profile::default();
//! profile.add(br#"{"subject": "bot", "cost": "0.5", "solved": "yes"}"#, true)?;
//! profile.add(br#"{"subject": "bot", "cost": "NA", "solved": "no"}"#, true)?;
//! let shapes: Vec<Shape> = profile.fields().iter().map(|field| field.shape()).collect();
//! assert_eq!(shapes, [Shape::Number, Shape::Boolean, Shape::Text]);
//! assert_eq!((profile.fields()[0].present(), profile.fields()[0].range()), (1, Some((0.5, 0.5))));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod sample;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Outcome;
use karat_core::scorecard::FieldPath;
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Number, Value};

use crate::cells;
use crate::json::document::EXACT;
use crate::names;
use sample::Sample;

/// Most fields that are looked at, and most of those beyond them whose names are wanted; the others are counted.
const FIELDS_MAX: usize = 512;
const WANTED_MAX: usize = 128;
/// Most different values of a field that are kept, and most bytes of one.
const VALUES_MAX: usize = 256;
const VALUE_BYTES_MAX: usize = 64;

/// Profile of the items of some data.
#[derive(Debug, Default)]
pub struct Profile {
    items: u64,
    /// Names in lower case for which there is room in any case.
    wanted: BTreeSet<String>,
    fields: Vec<Field>,
    places: BTreeMap<Vec<String>, usize>,
    left_out: BTreeSet<Vec<String>>,
}

/// One field, and the values that it has.
#[derive(Debug)]
pub struct Field {
    path: FieldPath,
    /// The number of members on the way to it.
    depth: usize,
    counts: Counts,
    low: f64,
    high: f64,
    sample: Sample,
    values: BTreeSet<String>,
    has_more_values: bool,
}

/// Counts of the values of a field.
#[derive(Debug, Default)]
struct Counts {
    /// Cells of tables, with those that say that there is no value.
    cells: u64,
    missing_cells: u64,
    /// Texts of JSON, and its numbers and truth values.
    texts: u64,
    plain: u64,
    numbers: u64,
    wholes: u64,
    /// Values that can be read as true or false.
    flags: u64,
    /// Values that are neither number nor truth value nor text, and those that a double cannot hold.
    others: u64,
    objects: u64,
    names: u64,
    times: u64,
    outcomes: u64,
    cases: u64,
}

/// The type that a field can be declared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// It has no value.
    Empty,
    /// Numbers alone.
    Number,
    /// True and false alone.
    Boolean,
    /// Texts alone.
    Text,
    /// None: values of several types, or of one that no fact has.
    Mixed,
}

impl Profile {
    /// Makes an empty profile that has room for fields of these names however many others come before them, in any case of letters.
    pub fn wanting<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self { wanted: names.into_iter().map(str::to_ascii_lowercase).collect(), ..Self::default() }
    }

    /// Adds an item, a JSON object. The values of a row of a table are texts, which are numbers and truth values if the reader
    /// would read them so.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn add(&mut self, item: &[u8], is_row: bool) -> Result<(), serde_json::Error> {
        let members: Map<String, Value> = serde_json::from_slice(item)?;
        self.items += 1;
        self.members(&mut Vec::new(), &members, is_row);
        Ok(())
    }

    /// Returns the number of items.
    pub fn items(&self) -> u64 {
        self.items
    }

    /// Returns the number of fields that were not looked at, because there are too many or their names cannot be written.
    pub fn left_out(&self) -> usize {
        self.left_out.len()
    }

    /// Returns whether all fields that were left out are counted: of many, only the first are.
    pub fn is_left_out_whole(&self) -> bool {
        self.left_out.len() < FIELDS_MAX
    }

    /// Returns the fields in the order of the items in which they first appear, those of an item by name, also those that only lead to others.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the fields that a path finds in every item: on the way to them there are objects alone, and no other field is
    /// called as they are.
    pub fn reachable(&self) -> Vec<&Field> {
        let mut columns: BTreeMap<String, usize> = BTreeMap::new();
        for field in &self.fields {
            *columns.entry(field.path.column()).or_default() += 1;
        }
        let is_sound = |key: &Vec<String>| {
            (1..key.len()).all(|length| {
                let way = key.get(..length).and_then(|way| self.places.get(way));
                way.and_then(|at| self.fields.get(*at)).is_some_and(Field::is_object)
            })
        };
        let mut found: Vec<(usize, &Field)> = self
            .places
            .iter()
            .filter(|(key, _)| is_sound(key))
            .filter_map(|(_, at)| Some((*at, self.fields.get(*at)?)))
            .filter(|(_, field)| !field.is_object() && columns.get(&field.path.column()) == Some(&1))
            .collect();
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, field)| field).collect()
    }

    fn members(&mut self, way: &mut Vec<String>, members: &Map<String, Value>, is_row: bool) {
        // The order of a map depends on how serde_json was built.
        let in_order: BTreeMap<_, _> = members.iter().collect();
        for (name, value) in in_order {
            way.push(name.clone());
            if let Some(at) = self.place(way)
                && let Some(field) = self.fields.get_mut(at)
            {
                field.add(value, is_row);
                if let Value::Object(inner) = value {
                    self.members(way, inner, is_row);
                }
            }
            way.pop();
        }
    }

    fn place(&mut self, way: &[String]) -> Option<usize> {
        if let Some(at) = self.places.get(way) {
            return Some(*at);
        }
        let is_wanted = |path: &FieldPath| {
            let names = [path.column(), path.to_string(), way.last().cloned().unwrap_or_default()];
            names.iter().any(|name| self.wanted.contains(&name.to_ascii_lowercase()))
        };
        let path = FieldPath::of_members(way).filter(|path| match self.fields.len() {
            ..FIELDS_MAX => true,
            count => count < FIELDS_MAX + WANTED_MAX && is_wanted(path),
        });
        let Some(path) = path else {
            if self.left_out.len() < FIELDS_MAX {
                self.left_out.insert(way.to_vec());
            }
            return None;
        };
        self.fields.push(Field::new(path, way.len()));
        self.places.insert(way.to_vec(), self.fields.len() - 1);
        Some(self.fields.len() - 1)
    }
}

impl Field {
    fn new(path: FieldPath, depth: usize) -> Self {
        Self {
            path,
            depth,
            counts: Counts::default(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            sample: Sample::default(),
            values: BTreeSet::new(),
            has_more_values: false,
        }
    }

    fn add(&mut self, value: &Value, is_row: bool) {
        match value {
            Value::Null => {}
            Value::Object(_) => self.counts.objects += 1,
            Value::Array(_) => self.counts.others += 1,
            Value::Bool(flag) => {
                self.counts.flags += 1;
                self.counts.plain += 1;
                self.keep(if *flag { "true" } else { "false" });
            }
            Value::Number(number) => self.number(number),
            Value::String(text) if is_row => self.cell(text),
            Value::String(text) => {
                self.counts.texts += 1;
                self.counts.flags += u64::from(cells::verdict(text).is_some());
                self.named(text);
                self.keep(text);
            }
        }
    }

    fn cell(&mut self, text: &str) {
        self.counts.cells += 1;
        if cells::is_missing(text) {
            self.counts.missing_cells += 1;
        } else {
            if let Some(number) = cells::number(text) {
                self.measured(number);
            }
            self.counts.flags += u64::from(cells::flag(text).is_some());
        }
        self.named(text);
        self.keep(text);
    }

    fn number(&mut self, number: &Number) {
        let is_written_whole = number.is_i64() || number.is_u64();
        match number.as_f64().filter(|value| value.is_finite()) {
            Some(value) if value.abs() < EXACT || !is_written_whole && value.fract() != 0.0 => {
                self.measured(value);
                self.counts.plain += 1;
                self.counts.names += u64::from(value.fract() == 0.0 && value >= 0.0);
                self.keep(&value.to_string());
            }
            _ => self.counts.others += 1,
        }
    }

    fn measured(&mut self, number: f64) {
        // Adding zero turns -0 into 0.
        let number = number + 0.0;
        self.counts.numbers += 1;
        self.counts.wholes += u64::from(number.fract() == 0.0);
        self.counts.cases += u64::from(number.fract() == 0.0 && (1.0..EXACT).contains(&number));
        self.low = self.low.min(number);
        self.high = self.high.max(number);
        self.sample.add(number);
    }

    fn named(&mut self, text: &str) {
        self.counts.names += u64::from(names::fault(text).is_none());
        self.counts.times += u64::from(Timestamp::parse(text).is_ok());
        self.counts.outcomes += u64::from(Outcome::from_name(text).is_some());
    }

    fn keep(&mut self, value: &str) {
        if self.values.contains(value) {
            return;
        }
        if self.values.len() < VALUES_MAX && value.len() <= VALUE_BYTES_MAX {
            self.values.insert(value.to_owned());
        } else {
            self.has_more_values = true;
        }
    }

    /// Returns the number of items in which it stands, also as the word for no value.
    pub fn given(&self) -> u64 {
        let Counts { cells, texts, plain, others, .. } = self.counts;
        cells + texts + plain + others
    }

    /// Returns whether it only leads to others.
    pub fn is_object(&self) -> bool {
        self.counts.objects > 0 && self.given() == 0
    }

    /// Returns its path.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// Returns whether it lies in another field.
    pub fn is_nested(&self) -> bool {
        self.depth > 1
    }

    /// Returns the number of items that have a value of it.
    pub fn present(&self) -> u64 {
        match self.shape() {
            Shape::Text => self.given(),
            _ => self.given() - self.counts.missing_cells,
        }
    }

    /// Returns the type that it can be declared with.
    pub fn shape(&self) -> Shape {
        let Counts { cells, missing_cells, texts, numbers, flags, others, objects, .. } = self.counts;
        let given = self.given() - missing_cells;
        if others + objects > 0 {
            Shape::Mixed
        } else if self.given() == 0 || cells > 0 && texts == 0 && given == 0 {
            Shape::Empty
        } else if texts == 0 && numbers == given {
            Shape::Number
        } else if flags == given {
            Shape::Boolean
        } else if texts + cells == self.given() {
            Shape::Text
        } else {
            Shape::Mixed
        }
    }

    /// Returns how many of its values are numbers, or texts in a row that the reader takes for numbers.
    pub fn numbers(&self) -> u64 {
        self.counts.numbers
    }

    /// Returns the smallest and the largest number.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.counts.numbers > 0).then_some((self.low, self.high))
    }

    /// Returns whether all of its numbers are whole.
    pub fn is_whole(&self) -> bool {
        self.counts.wholes == self.counts.numbers
    }

    /// Returns the smallest number at or below which this share of the numbers lies, of a sample where there are many.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.sample.quantile(share)
    }

    /// Returns the different values, and whether there are more.
    pub fn values(&self) -> (&BTreeSet<String>, bool) {
        (&self.values, self.has_more_values)
    }

    /// Returns whether all of its values can be names.
    pub fn are_names(&self) -> bool {
        self.counts.names == self.given() && self.counts.objects == 0
    }

    /// Returns whether all of its values are timestamps; cells for no value count as missing.
    pub fn are_times(&self) -> bool {
        self.counts.times == self.given() - self.counts.missing_cells && self.counts.objects == 0
    }

    /// Returns whether all of its values say how an item ended.
    pub fn are_outcomes(&self) -> bool {
        self.counts.outcomes == self.given() && self.counts.objects == 0
    }

    /// Returns whether all of its values are numbers of cases.
    pub fn are_cases(&self) -> bool {
        let Counts { missing_cells, cases, objects, .. } = self.counts;
        cases == self.given() - missing_cells && objects == 0
    }
}
