//! Rows as items: a JSON object each, for answers that rest on many items and for evidence that is nested.

use std::io::Write as _;
use std::ops::ControlFlow;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use karat::engine::Wanted;
use karat::json::Visit;
use karat::{Error, Kind, Place, Problem, Timestamp};
use karat_core::scorecard::{FactType, FieldPath};

use crate::column::{text_of, unpacked};

/// The fields of items that are names, whatever they are made of.
const NAMES: [&str; 6] = ["id", "subject", "agent_id", "task", "part", "run"];
/// The end of the name of a column with the age of what a dimension rests on.
const AGE: &str = "_age_seconds";
/// The end of the name of a column that says whether a dimension applies.
const APPLIES: &str = "_applies";
/// The flag that belongs to no dimension.
const INCIDENT: &str = "critical_incident_open";

/// Rows of a data frame as items of evidence, one batch after the other.
#[derive(Debug, Clone, Copy)]
pub struct Items<'a> {
    /// The name of the frame in errors and ids.
    pub name: &'a str,
    /// The facts that the scorecard reads.
    pub wanted: &'a Wanted,
    /// Further columns that hold names.
    pub names: &'a [String],
}

/// The end of a value: written, or missing.
type Written = Result<bool, String>;

/// A column of a batch whose values become members of items.
struct Cells<'a> {
    name: &'a str,
    /// The name as JSON, and the colon.
    key: Vec<u8>,
    form: As,
    /// The column as it is.
    array: &'a ArrayRef,
    /// Of a dictionary or runs the values, and the place of each row among them.
    unpacked: Option<(ArrayRef, Vec<usize>)>,
}

impl Cells<'_> {
    fn value(&self, row: usize, form: As, out: &mut Vec<u8>) -> Written {
        match &self.unpacked {
            Some(_) if self.array.is_null(row) => Ok(false),
            Some((values, places)) => value(values, places.get(row).copied().unwrap_or_default(), form, out),
            None => value(self.array, row, form, out),
        }
    }

    fn bytes(&self, row: usize) -> Option<&[u8]> {
        match &self.unpacked {
            Some(_) if self.array.is_null(row) => None,
            Some((values, places)) => bytes_of(values, places.get(row).copied()?),
            None => bytes_of(self.array, row),
        }
    }
}

impl Items<'_> {
    /// Hands each row of a batch to `visit`, with `before` rows before it; a row that cannot be an item as the error in its place.
    ///
    /// A batch whose only column has texts or bytes is one of items as JSON; where evidence is nested, so is the only column of
    /// texts, or the one called `item` or `json`.
    pub fn each(&self, batch: &RecordBatch, before: u64, visit: &mut Visit<'_>) -> ControlFlow<()> {
        let schema = batch.schema();
        let columns: Vec<Cells<'_>> = schema
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, array)| self.cells(field.name(), array))
            .collect();
        let is_of_agents = self.wanted.kind == Kind::AgentDimensions;
        let is_flat = is_of_agents && !columns.iter().any(|column| column.name == "dimensions");
        let column =
            |field: &String| FieldPath::parse(field).map_or_else(|_| field.clone(), |it| it.column());
        let flags = self.wanted.facts.iter().filter(|(_, kind)| *kind == FactType::Boolean);
        let rows = Rows {
            columns: &columns,
            facts: self.wanted.facts.iter().map(|(field, _)| field.as_str()).collect(),
            flags: flags.map(|(field, _)| column(field)).collect(),
            is_of_agents,
        };
        let mut place = Place { file: self.name.to_owned(), line: None, nth: 1, is_row: true };
        if let Some(items) = self.items_as_json(&columns) {
            place.is_row = false;
            for row in 0..batch.num_rows() {
                place.line = Some(before + row as u64 + 1);
                let mut problems = Problems(Vec::new());
                match items.bytes(row) {
                    Some(bytes) => visit(&place, Ok(bytes))?,
                    None => {
                        problems.add(items.name, String::from("found nothing, expected an item as JSON"));
                        visit(&place, Err(Error::row(problems.0).at(place.clone())))?;
                    }
                }
            }
            return ControlFlow::Continue(());
        }
        let mut item = Vec::new();
        for row in 0..batch.num_rows() {
            place.line = Some(before + row as u64 + 1);
            item.clear();
            let mut problems = Problems(Vec::new());
            match is_flat {
                true => rows.dimensions(row, &mut item, &mut problems),
                false => rows.object(row, &mut item, &mut problems),
            }
            match problems.0.is_empty() {
                true => visit(&place, Ok(&item))?,
                false => visit(&place, Err(Error::row(problems.0).at(place.clone())))?,
            }
        }
        ControlFlow::Continue(())
    }

    fn cells<'a>(&self, name: &'a str, array: &'a ArrayRef) -> Cells<'a> {
        let mut key = Vec::new();
        string(name, &mut key);
        key.push(b':');
        let is_name = NAMES.contains(&name) || self.names.iter().any(|it| it == name);
        let is = |fact: &str| fact == name || FieldPath::parse(fact).is_ok_and(|path| path.column() == name);
        let is_flag = self.wanted.facts.iter().any(|(fact, kind)| *kind == FactType::Boolean && is(fact));
        let form = match (is_name, is_flag) {
            (true, _) => As::Name,
            (_, true) => As::Flag,
            _ => As::Is,
        };
        Cells { name, key, form, array, unpacked: unpacked(array) }
    }

    /// Returns the column of items as JSON, if there is one.
    fn items_as_json<'c, 'a>(&self, columns: &'c [Cells<'a>]) -> Option<&'c Cells<'a>> {
        let has_texts = |column: &&Cells<'_>| {
            let values = column.unpacked.as_ref().map_or(column.array, |(values, _)| values);
            is_of_bytes(values.data_type())
        };
        let is_item = |column: &&Cells<'_>| {
            let first = (0..column.array.len()).find_map(|row| column.bytes(row));
            first.is_none_or(|bytes| bytes.trim_ascii_start().starts_with(b"{"))
        };
        let mut of_texts = columns.iter().filter(has_texts);
        let only = match (of_texts.next(), of_texts.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        };
        if matches!(self.wanted.kind, Kind::Facts | Kind::AgentDimensions) {
            return only.filter(|_| columns.len() == 1).filter(is_item);
        }
        let named = columns.iter().filter(has_texts).find(|column| ["item", "json"].contains(&column.name));
        named.or(only).filter(is_item)
    }
}

/// The problems of a row, by column.
struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, column: &str, detail: String) {
        self.0.push(Problem { path: column.to_owned(), detail, line: None, column: None });
    }
}

/// The rows of a batch.
struct Rows<'a> {
    columns: &'a [Cells<'a>],
    /// The facts that the scorecard reads.
    facts: Vec<&'a str>,
    /// The columns of those that are booleans, by their paths.
    flags: Vec<String>,
    is_of_agents: bool,
}

impl Rows<'_> {
    /// Writes a row as a flat object.
    fn object(&self, row: usize, out: &mut Vec<u8>, problems: &mut Problems) {
        out.push(b'{');
        for column in self.columns {
            self.member(column, row, out, problems);
        }
        close(out, b'}');
    }

    /// Writes a member with a comma after it, if it has a value.
    fn member(&self, column: &Cells<'_>, row: usize, out: &mut Vec<u8>, problems: &mut Problems) {
        let (start, name) = (out.len(), column.name);
        out.extend_from_slice(&column.key);
        let written = match column.array.as_struct_opt() {
            Some(_) if column.form != As::Name => self.part(name, column.array, row, out),
            _ => column.value(row, column.form, out),
        };
        match written {
            Ok(true) => out.push(b','),
            Ok(false) => out.truncate(start),
            Err(detail) => {
                out.truncate(start);
                problems.add(name, detail);
            }
        }
    }

    /// Writes the value of a column, or of a part of one: by its path.
    fn part(&self, path: &str, array: &ArrayRef, row: usize, out: &mut Vec<u8>) -> Written {
        let Some(parts) = array.as_struct_opt() else {
            let is_flag = self.flags.iter().any(|flag| flag == path);
            return value(array, row, if is_flag { As::Flag } else { As::Is }, out);
        };
        if array.is_null(row) {
            return Ok(false);
        }
        // There null means something: see the reader of this kind.
        let keeps_null = self.is_of_agents && (path == "dimensions" || path.starts_with("dimensions."));
        out.push(b'{');
        for (field, part) in parts.fields().iter().zip(parts.columns()) {
            let start = out.len();
            string(field.name(), out);
            out.push(b':');
            let written = self.part(&format!("{path}.{}", field.name()), part, row, out);
            match written.map_err(|detail| within(&format!(".{}", field.name()), &detail))? {
                true => out.push(b','),
                false if keeps_null => out.extend_from_slice(b"null,"),
                false => out.truncate(start),
            }
        }
        close(out, b'}');
        Ok(true)
    }

    /// Writes a row of flat facts of an agent as the item that has them in `dimensions`; columns of facts that the scorecard does
    /// not read are left out, as they are where columns are scored.
    fn dimensions(&self, row: usize, out: &mut Vec<u8>, problems: &mut Problems) {
        let vocabulary = Kind::AgentDimensions.vocabulary();
        let is_fact = |name: &str| vocabulary.iter().any(|fact| fact.name == name);
        let column = |name: &str| self.columns.iter().find(|column| column.name == name);
        let read = |name: &str| self.facts.contains(&name).then(|| column(name)).flatten();
        out.push(b'{');
        let top = |name: &str| !is_fact(name) || name == INCIDENT;
        for column in self.columns.iter().filter(|column| top(column.name)) {
            self.member(column, row, out, problems);
        }
        out.extend_from_slice(b"\"dimensions\":{");
        let mut bare = Vec::new();
        for fact in vocabulary.iter().map(|fact| fact.name) {
            if fact.ends_with(AGE) || fact.ends_with(APPLIES) || fact == INCIDENT {
                continue;
            }
            let (score, age, applies) = (fact.to_owned(), format!("{fact}{AGE}"), format!("{fact}{APPLIES}"));
            let [score_text, age_text, applies_text] =
                [(&score, As::Is), (&age, As::Is), (&applies, As::Flag)].map(|(name, form)| {
                    let mut text = Vec::new();
                    let written = read(name).map_or(Ok(false), |column| column.value(row, form, &mut text));
                    written.unwrap_or_else(|detail| {
                        problems.add(name, detail);
                        false
                    });
                    text
                });
            match applies_text.as_slice() {
                // What a dimension that does not apply has is read all the same, to be refused where columns are.
                b"false" => {
                    if !score_text.is_empty() && !is_within(&score_text, 1.0) {
                        problems.add(&score, found(&score_text, "a number from 0 to 1"));
                    }
                    if !age_text.is_empty() && !is_within(&age_text, f64::INFINITY) {
                        problems.add(&age, found(&age_text, "a number not below 0"));
                    }
                    bare.push(fact);
                    continue;
                }
                b"true" | b"" => {}
                other => problems.add(&applies, found(other, "a boolean, or 0 and 1")),
            }
            // Null says of the one that is opted in that it does not apply.
            let is_null = score_text.is_empty();
            if read(&score).is_none() || is_null && !applies_text.is_empty() {
                continue;
            }
            string(fact, out);
            out.extend_from_slice(b":{\"score\":");
            out.extend_from_slice(if is_null { b"null" } else { &score_text });
            if !age_text.is_empty() {
                out.extend_from_slice(b",\"age_seconds\":");
                out.extend_from_slice(&age_text);
            }
            out.extend_from_slice(b"},");
        }
        close(out, b'}');
        if !bare.is_empty() {
            out.extend_from_slice(b",\"not_applicable\":[");
            for fact in bare {
                string(fact, out);
                out.push(b',');
            }
            close(out, b']');
        }
        out.push(b'}');
    }
}

fn found(text: &[u8], expected: &str) -> String {
    format!("found {}, expected {expected}", String::from_utf8_lossy(text))
}

fn is_within(number: &[u8], max: f64) -> bool {
    serde_json::from_slice::<f64>(number).is_ok_and(|number| (0.0..=max).contains(&number))
}

/// Returns what is wrong with a part of a value, with the path of the part.
fn within(step: &str, detail: &str) -> String {
    match detail.starts_with(['.', '[']) {
        true => format!("{step}{detail}"),
        false => format!("{step}: {detail}"),
    }
}

/// The form that a value takes.
#[derive(Clone, Copy, PartialEq)]
enum As {
    /// Its own.
    Is,
    /// A text, of whole numbers as well.
    Name,
    /// A boolean, of 0 and 1 as well.
    Flag,
}

/// Ends an object or a list, whose last comma goes.
fn close(out: &mut Vec<u8>, end: u8) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(end);
}

fn string(text: &str, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(out, text);
}

fn is_of_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
    matches!(data_type, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
}

/// Returns the bytes of a row of an array of texts or bytes.
fn bytes_of(array: &ArrayRef, row: usize) -> Option<&[u8]> {
    if row >= array.len() || array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(array.as_binary_view().value(row)),
        _ => text_of(array, row).map(str::as_bytes),
    }
}

/// Appends the value of a row as JSON; nothing, where it has none.
fn value(array: &ArrayRef, row: usize, form: As, out: &mut Vec<u8>) -> Written {
    if array.is_null(row) {
        return Ok(false);
    }
    macro_rules! whole {
        ($of:ty) => {
            whole(i128::from(array.as_primitive::<$of>().value(row)), form, out)
        };
    }
    macro_rules! moment {
        ($of:ty, $per_second:expr, $zone:expr) => {
            moment(array.as_primitive::<$of>().value(row), $per_second, $zone.is_some(), out)
        };
    }
    match array.data_type() {
        DataType::Null => Ok(false),
        DataType::Boolean => {
            out.extend_from_slice(if array.as_boolean().value(row) { b"true" } else { b"false" });
            Ok(true)
        }
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float16 => double(array.as_primitive::<Float16Type>().value(row).to_f64(), form, out),
        DataType::Float32 => double(array.as_primitive::<Float32Type>().value(row).into(), form, out),
        DataType::Float64 => double(array.as_primitive::<Float64Type>().value(row), form, out),
        DataType::Decimal32(precision, scale) => {
            decimal::<Decimal32Type>(array, row, (*precision, *scale), form, out)
        }
        DataType::Decimal64(precision, scale) => {
            decimal::<Decimal64Type>(array, row, (*precision, *scale), form, out)
        }
        DataType::Decimal128(precision, scale) => {
            decimal::<Decimal128Type>(array, row, (*precision, *scale), form, out)
        }
        DataType::Decimal256(precision, scale) => {
            decimal::<Decimal256Type>(array, row, (*precision, *scale), form, out)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            string(text_of(array, row).unwrap_or_default(), out);
            Ok(true)
        }
        DataType::Timestamp(TimeUnit::Second, zone) => moment!(TimestampSecondType, 1, zone),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => moment!(TimestampMillisecondType, 1_000, zone),
        DataType::Timestamp(TimeUnit::Microsecond, zone) => {
            moment!(TimestampMicrosecondType, 1_000_000, zone)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
            moment!(TimestampNanosecondType, 1_000_000_000, zone)
        }
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => match unpacked(&array.slice(row, 1)) {
            Some((values, places)) => value(&values, places.first().copied().unwrap_or_default(), form, out),
            None => Err(other(array)),
        },
        DataType::Struct(_) => structure(array, row, out),
        DataType::List(_) => list(&array.as_list::<i32>().value(row), out),
        DataType::LargeList(_) => list(&array.as_list::<i64>().value(row), out),
        DataType::FixedSizeList(..) => list(&array.as_fixed_size_list().value(row), out),
        DataType::ListView(_) => list(&array.as_list_view::<i32>().value(row), out),
        DataType::LargeListView(_) => list(&array.as_list_view::<i64>().value(row), out),
        DataType::Map(..) => map(&array.as_map().value(row), out),
        _ => Err(other(array)),
    }
}

fn other(array: &ArrayRef) -> String {
    format!("found a value of type {}, which evidence does not have", array.data_type())
}

fn whole(number: i128, form: As, out: &mut Vec<u8>) -> Written {
    let written = match (form, number) {
        (As::Flag, 0) => write!(out, "false"),
        (As::Flag, 1) => write!(out, "true"),
        (As::Name, _) => write!(out, "\"{number}\""),
        _ if number.unsigned_abs() > 1 << 53 => {
            return Err(format!("found {number}, expected a whole number that a double holds: at most 2^53"));
        }
        _ => write!(out, "{number}"),
    };
    written.map(|()| true).map_err(|error| error.to_string())
}

fn double(number: f64, form: As, out: &mut Vec<u8>) -> Written {
    match (form, number) {
        (_, number) if number.is_nan() => return Ok(false),
        (As::Flag, 0.0) => out.extend_from_slice(b"false"),
        (As::Flag, 1.0) => out.extend_from_slice(b"true"),
        (As::Name, number) => {
            return Err(format!("found the number {number}, expected a name: cast the column to text"));
        }
        (_, number) if number.is_infinite() => return Err(String::from("found infinity, expected a number")),
        // Writing to a vector cannot fail.
        _ => _ = serde_json::to_writer(out, &number),
    }
    Ok(true)
}

fn decimal<T: DecimalType>(
    array: &ArrayRef,
    row: usize,
    (precision, scale): (u8, i8),
    form: As,
    out: &mut Vec<u8>,
) -> Written {
    let text = T::format_decimal(array.as_primitive::<T>().value(row), precision, scale);
    match form {
        As::Name => string(&text, out),
        As::Flag => match text.parse() {
            Ok(0.0) => out.extend_from_slice(b"false"),
            Ok(1.0) => out.extend_from_slice(b"true"),
            _ => out.extend_from_slice(text.as_bytes()),
        },
        As::Is => out.extend_from_slice(text.as_bytes()),
    }
    Ok(true)
}

/// Appends a moment; one without a zone is of an unknown place.
fn moment(at: i64, per_second: i64, has_zone: bool, out: &mut Vec<u8>) -> Written {
    if !has_zone {
        return Err(String::from("found a time without a zone: say which, such as UTC"));
    }
    let (seconds, part) = (at.div_euclid(per_second), at.rem_euclid(per_second));
    let Some(milliseconds) = seconds.checked_mul(1000) else {
        return Err(String::from("found a time out of range"));
    };
    let text = Timestamp { milliseconds }.to_string();
    let digits = per_second.ilog10() as usize;
    let text = match part {
        0 => text,
        part => {
            let part = format!("{part:0digits$}");
            text.replace('Z', &format!(".{}Z", part.trim_end_matches('0')))
        }
    };
    string(&text, out);
    Ok(true)
}

fn structure(array: &ArrayRef, row: usize, out: &mut Vec<u8>) -> Written {
    let parts = array.as_struct();
    out.push(b'{');
    for (field, part) in parts.fields().iter().zip(parts.columns()) {
        let start = out.len();
        string(field.name(), out);
        out.push(b':');
        let written = value(part, row, As::Is, out);
        match written.map_err(|detail| within(&format!(".{}", field.name()), &detail))? {
            true => out.push(b','),
            false => out.truncate(start),
        }
    }
    close(out, b'}');
    Ok(true)
}

fn list(values: &ArrayRef, out: &mut Vec<u8>) -> Written {
    out.push(b'[');
    for at in 0..values.len() {
        if !value(values, at, As::Is, out).map_err(|detail| within(&format!("[{at}]"), &detail))? {
            out.extend_from_slice(b"null");
        }
        out.push(b',');
    }
    close(out, b']');
    Ok(true)
}

fn map(entries: &arrow_array::StructArray, out: &mut Vec<u8>) -> Written {
    let (Some(keys), Some(values)) = (entries.columns().first(), entries.columns().get(1)) else {
        return Ok(false);
    };
    out.push(b'{');
    for at in 0..entries.len() {
        let Some(key) = text_of(keys, at) else {
            return Err(String::from("found a map whose keys are not texts"));
        };
        string(key, out);
        out.push(b':');
        if !value(values, at, As::Is, out).map_err(|detail| within(&format!("[{key:?}]"), &detail))? {
            out.extend_from_slice(b"null");
        }
        out.push(b',');
    }
    close(out, b'}');
    Ok(true)
}
