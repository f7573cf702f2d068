//! Tables as columns: a million rows through one scorecard, without an object for each.
//!
//! Only evidence of the kinds `facts` and `agent-dimensions` is a table: one row per item, one column per fact, under its name (a
//! nested fact also under its path without the root). A flag that items of the kind need not give has its usual value where it
//! is missing. The buffers stay where they are: values and bits of validity, as Apache Arrow, NumPy and others lay them out.

use std::collections::BTreeMap;

use karat_core::diagnostic::nearest;
use karat_core::evaluate::{self, BrokenRow, FactError, Source};
use karat_core::facts::Usual;
use karat_core::number::Score;
use karat_core::record::RecordStatus;
use karat_core::scorecard::{FactDeclaration, FactType, FieldPath, Scorecard};
use karat_reader::Kind;

use crate::error::{Code, Error, Problem};

/// The largest whole number up to which each is a double.
const WIDE: u64 = 1 << 53;

/// Bits in bytes, the lowest first: those of booleans, or which values are there.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// The number of bits before the first.
    pub start: usize,
}

/// The values of a column, one per row.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Values<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
    I64(&'a [i64]),
    I32(&'a [i32]),
    I16(&'a [i16]),
    I8(&'a [i8]),
    U64(&'a [u64]),
    U32(&'a [u32]),
    U16(&'a [u16]),
    U8(&'a [u8]),
    /// Booleans.
    Bits(Bits<'a>),
    /// Texts.
    Texts(&'a dyn Texts),
    /// A column without a value in any row.
    Missing,
    /// Values of a type that no fact has, with its name.
    Other(&'a str),
}

/// The texts of a column.
pub trait Texts: Sync {
    /// Returns the text of a row, if it has one.
    fn text(&self, row: usize) -> Option<&str>;
}

impl<F: Fn(usize) -> Option<&'static str> + Sync> Texts for F {
    fn text(&self, row: usize) -> Option<&str> {
        self(row)
    }
}

/// A column of a table.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its values.
    pub values: Values<'a>,
    /// The rows that have a value; all if not given.
    pub valid: Option<Bits<'a>>,
}

/// A table.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    /// The number of rows.
    pub rows: usize,
    /// Its columns; only those of facts are read.
    pub fields: &'a [Field<'a>],
    /// The seconds from the time of each item to the moment of its score, NaN where one is not known; only a card with decay reads
    /// them.
    pub elapsed_seconds: Option<&'a [f64]>,
}

/// The settings of an answer about a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// True for the readings of all dimensions and the gates that hold.
    pub has_values: bool,
}

/// The scores of a table, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scored {
    /// The score in units of 1e-15 of a perfect score: a whole number, NaN without one.
    pub units: Vec<f64>,
    /// The coverage in billionths, NaN for a broken row.
    pub coverage: Vec<f64>,
    /// The number of bands that start at or below the published score: 0 for none, else the place of the band plus 1.
    pub band: Vec<u8>,
    /// The number of tiers that are reached.
    pub tier: Vec<u8>,
    /// The rows that break a declaration, in order, each with the first fact that does.
    pub broken: Vec<BrokenRow>,
    /// The reading of each dimension in billionths, NaN without one; empty if not wanted.
    pub readings: Vec<Vec<f64>>,
    /// 1 where a gate holds, for each gate; empty if not wanted.
    pub gates: Vec<Vec<u8>>,
}

impl Scored {
    /// Returns the status of a row; none for a broken one.
    pub fn status(&self, row: usize) -> Option<RecordStatus> {
        // Only a broken row is without coverage.
        let coverage = self.coverage.get(row).copied().unwrap_or(f64::NAN);
        (!coverage.is_nan()).then(|| evaluate::status(self.units.get(row).copied().unwrap_or(f64::NAN)))
    }

    /// Returns the score of a row on the scale of the card; NaN without one.
    pub fn published(&self, card: &Scorecard, row: usize) -> f64 {
        let units = self.units.get(row).copied().unwrap_or(f64::NAN);
        if units.is_nan() { units } else { card.scale.publish(Score::from_units(units as i64)).to_f64() }
    }
}

impl Bits<'_> {
    fn get(self, row: usize) -> bool {
        let place = self.start + row;
        self.bytes.get(place / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1)
    }

    /// Returns the number of rows that there are bits for.
    fn rows(self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.start)
    }
}

/// Calls `$with` with the numbers of a column, whatever type they have.
macro_rules! numbers {
    ($values:expr, $numbers:ident => $with:expr, $else:expr) => {
        match $values {
            Values::F64($numbers) => $with,
            Values::F32($numbers) => $with,
            Values::I64($numbers) => $with,
            Values::I32($numbers) => $with,
            Values::I16($numbers) => $with,
            Values::I8($numbers) => $with,
            Values::U64($numbers) => $with,
            Values::U32($numbers) => $with,
            Values::U16($numbers) => $with,
            Values::U8($numbers) => $with,
            _ => $else,
        }
    };
}

/// A number of a column as a double.
trait AsDouble: Copy {
    fn double(self) -> f64;
}

macro_rules! doubles {
    ($($of:ty)+) => { $(impl AsDouble for $of {
        #[inline(always)]
        #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "one way for all types")]
        fn double(self) -> f64 {
            self as f64
        }
    })+ };
}

doubles!(f64 f32 i64 i32 i16 i8 u64 u32 u16 u8);

fn widen<T: AsDouble>(values: &[T], out: &mut [f64]) {
    for (out, &value) in out.iter_mut().zip(values) {
        *out = value.double();
    }
}

impl<'a> Field<'a> {
    /// Returns the number of rows, where the column has one.
    fn rows(&self) -> Option<usize> {
        match self.values {
            Values::Bits(bits) => Some(bits.rows()),
            values => numbers!(values, numbers => Some(numbers.len()), None),
        }
    }

    fn has(&self, row: usize) -> bool {
        self.valid.is_none_or(|valid| valid.get(row))
    }

    /// Returns the text of a row, of a column of texts.
    fn text(&self, row: usize) -> Option<&'a str> {
        match self.values {
            Values::Texts(texts) if self.has(row) => texts.text(row),
            _ => None,
        }
    }

    /// Returns the number of a row, of a column of numbers.
    fn number(&self, row: usize) -> Option<f64> {
        let number = numbers!(self.values, numbers => numbers.get(row).map(|it| it.double()), None);
        number.filter(|number| self.has(row) && !number.is_nan())
    }

    /// Returns the whole number of a row that is too large for a double, if it is.
    fn wide(&self, row: usize) -> Option<String> {
        let text = match self.values {
            Values::I64(values) => values.get(row).filter(|it| it.unsigned_abs() > WIDE).map(i64::to_string),
            Values::U64(values) => values.get(row).filter(|it| **it > WIDE).map(u64::to_string),
            _ => None,
        };
        text.filter(|_| self.has(row))
    }

    fn has_wide(&self) -> bool {
        match self.values {
            Values::I64(values) => values.iter().any(|it| it.unsigned_abs() > WIDE),
            Values::U64(values) => values.iter().any(|it| *it > WIDE),
            _ => false,
        }
    }

    fn type_name(&self) -> String {
        match self.values {
            Values::Bits(_) => String::from("booleans"),
            Values::Texts(_) => String::from("texts"),
            Values::Missing => String::from("nothing"),
            Values::Other(name) => format!("values of type {name}"),
            _ => String::from("numbers"),
        }
    }
}

/// A column of numbers or booleans that the engine reads a block at a time.
struct Doubles<'a> {
    /// None where the table does not have it.
    field: Option<Field<'a>>,
    /// The value of a row without one, as items of the kind have it.
    usual: Option<UsualOf<'a>>,
    rows: usize,
}

/// The value of a flag that is not given.
#[derive(Clone, Copy)]
enum UsualOf<'a> {
    Flag(bool),
    /// True where this column has a value.
    Given(Field<'a>),
}

impl std::fmt::Debug for Doubles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} rows of `{}`", self.rows, self.field.map_or("", |field| field.name))
    }
}

impl Source for Doubles<'_> {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, start: usize, out: &mut [f64]) {
        let end = start + out.len();
        match self.field.map_or(Values::Missing, |field| field.values) {
            Values::Bits(bits) => {
                for (row, out) in (start..).zip(out.iter_mut()) {
                    *out = f64::from(u8::from(bits.get(row)));
                }
            }
            values => numbers!(
                values,
                numbers => widen(numbers.get(start..end).unwrap_or_default(), out),
                out.fill(f64::NAN)
            ),
        }
        if let Some(valid) = self.field.and_then(|field| field.valid) {
            mask(valid, start, out);
        }
        let Some(usual) = self.usual else { return };
        for (row, out) in (start..).zip(out.iter_mut()).filter(|(_, out)| out.is_nan()) {
            let flag = match usual {
                UsualOf::Flag(flag) => flag,
                UsualOf::Given(other) => other.number(row).is_some(),
            };
            *out = f64::from(u8::from(flag));
        }
    }
}

/// Makes values NaN that are not there, eight rows at a time where the bits of eight are in one byte.
fn mask(valid: Bits<'_>, start: usize, out: &mut [f64]) {
    let first = valid.start + start;
    if !first.is_multiple_of(8) {
        for (row, out) in (start..).zip(out.iter_mut()) {
            *out = if valid.get(row) { *out } else { f64::NAN };
        }
        return;
    }
    for (eight, byte) in out.chunks_mut(8).zip(valid.bytes.iter().skip(first / 8)) {
        if *byte != 0xff {
            for (bit, out) in eight.iter_mut().enumerate() {
                *out = if byte >> bit & 1 == 1 { *out } else { f64::NAN };
            }
        }
    }
}

/// Checks that evidence of the card is a table.
///
/// # Errors
///
/// If it is of another kind than `facts` and `agent-dimensions`.
pub(crate) fn expect_table(card: &Scorecard) -> Result<(), Error> {
    if matches!(Kind::from_name(&card.evidence), Some(Kind::Facts | Kind::AgentDimensions)) {
        return Ok(());
    }
    let message =
        format!("`{}` reads evidence of kind `{}`, which is not a table", card.name(), card.evidence);
    let hint = "score it item by item, with `karat score` or the packages of other languages";
    Err(Error::new(Code::OtherKind, message).hint(hint))
}

/// Columns of a table by the facts of a card, checked.
pub(crate) struct Resolved<'a> {
    /// One per fact; none for a fact that the table does not have, or that is a text.
    doubles: Vec<Option<Doubles<'a>>>,
    pub profiles: Vec<u32>,
    rows: usize,
}

impl<'a> Resolved<'a> {
    /// Finds the column of each fact.
    ///
    /// # Errors
    ///
    /// If the evidence of the card is not a table, or this table is not one of its evidence: everything that is wrong.
    pub fn new(card: &Scorecard, table: &Table<'a>) -> Result<Self, Error> {
        expect_table(card)?;
        let mut problems = Vec::new();
        let mut wrong = |name: &str, detail: String| {
            problems.push(Problem { path: name.to_owned(), detail, line: None, column: None });
        };
        let mut fields: BTreeMap<&str, Field<'a>> = BTreeMap::new();
        for field in table.fields {
            if fields.insert(field.name, *field).is_some() {
                wrong(field.name, String::from("found two columns of this name, expected one"));
            }
            let valid = field.valid.map(Bits::rows);
            let is_short =
                |rows: usize, is_bits: bool| if is_bits { rows < table.rows } else { rows != table.rows };
            let is_bits = matches!(field.values, Values::Bits(_));
            if field.rows().is_some_and(|rows| is_short(rows, is_bits))
                || valid.is_some_and(|rows| is_short(rows, true))
            {
                wrong(field.name, format!("found another number of rows, expected {}", table.rows));
            }
        }
        let mut doubles = Vec::with_capacity(card.facts.len());
        let kind = Kind::from_name(&card.evidence);
        for fact in &card.facts {
            // A nested fact may be called as its path without the root, as in other tables.
            let column = fact.path.as_ref().map(FieldPath::column).filter(|column| *column != fact.name);
            let nested = column.as_deref().and_then(|column| fields.get(column));
            let field = match (fields.get(fact.name.as_str()), nested) {
                (Some(_), Some(nested)) => {
                    wrong(&fact.name, format!("found `{}` as well, which is the same fact", nested.name));
                    None
                }
                (named, nested) => named.or(nested).copied(),
            };
            let usual = kind.and_then(|kind| kind.usual(&fact.name)).map(|usual| match usual {
                Usual::Flag(flag) => UsualOf::Flag(flag),
                Usual::WhereGiven(other) => {
                    fields.get(other).map_or(UsualOf::Flag(true), |other| UsualOf::Given(*other))
                }
            });
            let rows = table.rows;
            let Some(field) = field.filter(|field| !matches!(field.values, Values::Missing)) else {
                doubles.push(usual.map(|usual| Doubles { field: None, usual: Some(usual), rows }));
                continue;
            };
            let is_number = numbers!(field.values, _numbers => true, false);
            let (fits, expected) = match fact.kind {
                FactType::Number => (is_number, "numbers"),
                FactType::Boolean => {
                    (is_number || matches!(field.values, Values::Bits(_)), "booleans, or 0 and 1")
                }
                FactType::Text => (matches!(field.values, Values::Texts(_)), "texts"),
            };
            if !fits {
                wrong(&fact.name, format!("found {}, expected {expected}", field.type_name()));
            }
            let is_text = fact.kind == FactType::Text;
            doubles.push((!is_text).then_some(Doubles { field: Some(field), usual, rows }));
        }
        if table.elapsed_seconds.is_some_and(|elapsed| elapsed.len() != table.rows) {
            wrong("elapsed_seconds", format!("found another number of rows, expected {}", table.rows));
        }
        // A name that is nearly that of a fact which the table lacks is hardly another column.
        let lacking =
            || card.facts.iter().map(|fact| fact.name.as_str()).filter(|name| !fields.contains_key(name));
        let is_of = |fact: &FactDeclaration, name: &str| {
            fact.name == name || fact.path.as_ref().is_some_and(|path| path.column() == name)
        };
        let others = fields.keys().filter(|name| !card.facts.iter().any(|fact| is_of(fact, name)));
        let near: Vec<String> = others
            .filter_map(|name| nearest(name, lacking()).map(|near| format!("is `{name}` the fact `{near}`?")))
            .collect();
        if !card.facts.iter().any(|fact| fields.keys().any(|name| is_of(fact, name))) {
            let names: Vec<&str> = card.facts.iter().map(|fact| fact.name.as_str()).take(8).collect();
            wrong("", format!("found no column of a fact, expected some of: {}", names.join(", ")));
        }
        if !problems.is_empty() {
            return Err(Error::table(problems).hints_from(near));
        }
        let profiles = match &card.profiles {
            None => Vec::new(),
            Some(profiles) => {
                let by = card.facts.get(profiles.by);
                let asked = by.and_then(|by| fields.iter().find(|(name, _)| is_of(by, name)));
                let of = |row: usize| {
                    let name = asked.and_then(|(_, field)| field.text(row));
                    let found = profiles.list.iter().position(|(known, _)| Some(known.as_str()) == name);
                    found.unwrap_or(profiles.fallback) as u32
                };
                (0..table.rows).map(of).collect()
            }
        };
        Ok(Self { doubles, profiles, rows: table.rows })
    }

    /// Returns the columns as the engine reads them.
    pub fn columns(&self) -> Vec<evaluate::Column<'_>> {
        fn column<'d>(doubles: Option<&'d Doubles<'_>>) -> evaluate::Column<'d> {
            match doubles {
                None => evaluate::Column::Constant(f64::NAN),
                Some(Doubles {
                    field: Some(Field { values: Values::F64(values), valid: None, .. }),
                    usual: None,
                    ..
                }) => evaluate::Column::Values(values),
                Some(source) => evaluate::Column::Source(source),
            }
        }
        self.doubles.iter().map(|doubles| column(doubles.as_ref())).collect()
    }

    /// Adds the rows with a whole number that is too large for a double, which are broken as well.
    pub fn add_wide(&self, card: &Scorecard, scored: &mut Scored) {
        let mut found: BTreeMap<usize, FactError> = BTreeMap::new();
        for (fact, doubles) in card.facts.iter().zip(&self.doubles) {
            let Some(field) = doubles.as_ref().and_then(|it| it.field).filter(Field::has_wide) else {
                continue;
            };
            for row in 0..self.rows {
                if let Some(number) = field.wide(row) {
                    let expected = String::from("at most 2^53");
                    found.entry(row).or_insert(FactError {
                        fact: fact.name.clone(),
                        found: number,
                        expected,
                    });
                }
            }
        }
        let numbers = [&mut scored.units, &mut scored.coverage].into_iter().chain(&mut scored.readings);
        for column in numbers {
            found.keys().for_each(|row| column.iter_mut().skip(*row).take(1).for_each(|it| *it = f64::NAN));
        }
        let counts = [&mut scored.band, &mut scored.tier].into_iter().chain(&mut scored.gates);
        for column in counts {
            found.keys().for_each(|row| column.iter_mut().skip(*row).take(1).for_each(|it| *it = 0));
        }
        if !found.is_empty() {
            scored.broken.retain(|it| !found.contains_key(&it.row));
            scored.broken.extend(found.into_iter().map(|(row, error)| BrokenRow { row, error }));
            scored.broken.sort_by_key(|it| it.row);
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_stats::random::Random;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::card::CompiledCard;
    use crate::engine::{Engine, Options};

    const CARD: &str = r#"
        schema = "karat/scorecard/1"
        id = "columns"
        version = "1.0.0"
        title = "Columns of every type"
        evidence = "facts"

        [facts]
        share = { min = 0, max = 1 }
        narrow = { min = 0, max = 1 }
        steps = { min = 0, max = "limit", integer = true }
        limit = { min = 0, integer = true }
        solved = { type = "boolean" }
        domain = { type = "text" }

        [profiles]
        by = "domain"
        fallback = "any"

        [profiles.weights.any]
        share = 0.4
        narrow = 0.3
        steps = 0.2
        solved = 0.1

        [profiles.weights.code]
        share = 0.1
        narrow = 0.1
        steps = 0.4
        solved = 0.4

        [[dimension]]
        key = "share"
        formula = "share"

        [[dimension]]
        key = "narrow"
        formula = "narrow"
        missing = "zero"

        [[dimension]]
        key = "steps"
        formula = "1 - clamp(steps / max(limit, 1), 0, 1)"

        [[dimension]]
        key = "solved"
        formula = "if(solved, 1, 0)"
    "#;

    /// The bits of `flags`, after `start` others.
    fn bits(flags: &[bool], start: usize) -> Vec<u8> {
        let mut bytes = vec![0xa5; (flags.len() + start).div_ceil(8)];
        for (place, flag) in (start..).zip(flags) {
            bytes[place / 8] = bytes[place / 8] & !(1 << (place % 8)) | u8::from(*flag) << (place % 8);
        }
        bytes
    }

    #[test]
    fn a_table_gives_what_its_rows_give_as_items() {
        const ROWS: usize = 1003;
        let card = CompiledCard::parse(CARD).unwrap();
        let mut engine = Engine::new(card, Options::default()).unwrap();
        let mut random = Random::new(7);
        for start in [0, 1, 8, 13] {
            let mut one_in = |count: u64| random.next_u64().is_multiple_of(count);
            let there: Vec<Vec<bool>> = (0..6).map(|_| (0..ROWS).map(|_| !one_in(5)).collect()).collect();
            let solved: Vec<bool> = (0..ROWS).map(|_| one_in(2)).collect();
            let domains: Vec<&str> = (0..ROWS).map(|_| if one_in(2) { "code" } else { "law" }).collect();
            let share: Vec<f64> = (0..ROWS)
                .map(|row| if row % 50 == 9 { f64::NAN } else { random.open_unit() * 1.05 })
                .collect();
            let narrow: Vec<f32> = (0..ROWS).map(|_| random.open_unit() as f32).collect();
            let steps: Vec<u16> = (0..ROWS).map(|_| (random.next_u64() % 40) as u16).collect();
            let limit: Vec<i64> = (0..ROWS)
                .map(|row| if row % 101 == 5 { (1 << 53) + 1 } else { (random.next_u64() % 60) as i64 - 1 })
                .collect();
            let valid: Vec<Vec<u8>> = there.iter().map(|there| bits(there, start)).collect();
            let flags = bits(&solved, 3);
            let text = |row: usize| domains.get(row).copied();
            let fields = [
                ("share", Values::F64(&share)),
                ("narrow", Values::F32(&narrow)),
                ("steps", Values::U16(&steps)),
                ("limit", Values::I64(&limit)),
                ("solved", Values::Bits(Bits { bytes: &flags, start: 3 })),
                ("domain", Values::Texts(&text)),
            ];
            let fields: Vec<Field<'_>> = fields
                .into_iter()
                .zip(&valid)
                .map(|((name, values), bytes)| Field { name, values, valid: Some(Bits { bytes, start }) })
                .collect();
            let table = Table { rows: ROWS, fields: &fields, elapsed_seconds: None };
            let scored = engine.score_table(&table, Wanted { has_values: true }).unwrap();
            let (mut broken, mut without) = (0, 0);
            for row in 0..ROWS {
                let values = [
                    json!(share[row]),
                    json!(f64::from(narrow[row])),
                    json!(steps[row]),
                    json!(limit[row]),
                    json!(solved[row]),
                    json!(domains[row]),
                ];
                let mut item = Map::from_iter([(String::from("subject"), json!("bot"))]);
                for ((field, value), there) in fields.iter().zip(values).zip(&there) {
                    if there[row] && value != Value::Null {
                        item.insert(field.name.to_owned(), value);
                    }
                }
                let record = engine.score_value(&item);
                let found = scored.broken.iter().find(|it| it.row == row);
                match (record, scored.status(row)) {
                    (Err(_), None) => {
                        assert!(found.is_some(), "{row}");
                        broken += 1;
                    }
                    (Ok(record), Some(status)) => {
                        let document = record.document();
                        assert_eq!((document.status, found), (status, None), "{row} {item:?}");
                        let units = scored.units[row];
                        let score = document.score.as_ref().map(|score| score.published);
                        let own = (!units.is_nan()).then(|| scored.published(engine.card(), row));
                        assert_eq!(own, score, "{row} {item:?}");
                        without += usize::from(units.is_nan());
                        let readings: Vec<f64> =
                            scored.readings.iter().map(|readings| readings[row]).collect();
                        let expected = document.dimensions.iter().map(|it| it.reading);
                        for (own, expected) in readings.iter().zip(expected) {
                            assert_eq!((!own.is_nan()).then(|| own / 1e9), expected, "{row}");
                        }
                    }
                    (record, status) => panic!("{row} {item:?}: {record:?}, {status:?}"),
                }
            }
            assert!(broken > 50 && without == 0, "{broken} {without}");
        }
    }

    #[test]
    fn all_that_is_wrong_with_a_table_is_said_at_once() {
        let mut engine = Engine::open("trust@1.0.0").unwrap();
        let text = |_: usize| Some("0.5");
        let field = |name, values| Field { name, values, valid: None };
        let fields = [
            field("accuracy", Values::Texts(&text)),
            field("safety", Values::F64(&[0.5, 0.5, 0.5])),
            field("bond_applies", Values::Other("list")),
            field("latency", Values::F64(&[0.5, 0.5])),
            field("latency", Values::F64(&[0.5, 0.5])),
            field("relibility", Values::F64(&[0.5, 0.5])),
        ];
        let table = Table { rows: 2, fields: &fields, elapsed_seconds: Some(&[1.0]) };
        let error = engine.score_table(&table, Wanted::default()).unwrap_err();
        let told: Vec<String> = error.problems().iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "safety: found another number of rows, expected 2",
                "latency: found two columns of this name, expected one",
                "accuracy: found texts, expected numbers",
                "bond_applies: found values of type list, expected booleans, or 0 and 1",
                "elapsed_seconds: found another number of rows, expected 2",
            ]
        );
        assert_eq!(error.hints(), ["is `relibility` the fact `reliability`?"]);
        let none = Table { rows: 2, fields: &[field("a", Values::Missing)], elapsed_seconds: None };
        let error = engine.score_table(&none, Wanted::default()).unwrap_err();
        assert!(
            error.problems()[0].detail.starts_with("found no column of a fact, expected some of: accuracy")
        );
        let mut runs = Engine::open("workflow@1.1.0").unwrap();
        assert_eq!(runs.score_table(&none, Wanted::default()).unwrap_err().code(), Code::OtherKind);
    }
}
