//! Scores as columns.

use std::sync::Arc;

use arrow_array::types::UInt8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array,
};
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, Schema};
use karat::columns::{Scored, Table, Wanted};
use karat::{Code, Engine, Error};
use karat_core::evaluate::BrokenRow;
use karat_core::number::{MILLION, Score};
use karat_core::record::RecordStatus;
use karat_core::scorecard::Scorecard;

use crate::column::Frame;

/// The columns that an answer may have, in their order.
const COLUMNS: [&str; 9] =
    ["score", "score_e9", FINER, "coverage", "coverage_e9", "band", "tier", "status", "reason"];
/// The column of scores that can lie between two billionths.
pub(crate) const FINER: &str = "score_e15";

/// The names of the scorecard and its digest in the metadata of scores.
pub(crate) const CARD: &str = "karat.scorecard";
pub(crate) const DIGEST: &str = "karat.digest";

/// The columns that are asked for.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Their names; all if the list is empty.
    pub columns: Vec<String>,
    /// True for the readings of all dimensions in billionths (`accuracy_e9`), and which gates hold.
    pub has_values: bool,
}

/// Scores the rows of a frame, in the columns that a scorecard as SQL gives: `score_e15` is there where a score can lie between two
/// billionths, or where it is asked for. A broken row has its reason and no score; those rows are returned beside.
///
/// # Errors
///
/// If the evidence of the scorecard is not a table, if columns do not fit its facts (everything that is wrong), or if there is
/// no such column of an answer.
pub fn score(
    engine: &mut Engine,
    frame: &Frame,
    answer: &Answer,
) -> Result<(RecordBatch, Vec<BrokenRow>), Error> {
    if let Some(unknown) = answer.columns.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
        let message = format!("an answer has no column `{unknown}`");
        return Err(
            Error::new(Code::InvalidOption, message).hint(format!("there are: {}", COLUMNS.join(", ")))
        );
    }
    let fields = frame.fields();
    let table = Table { rows: frame.rows(), fields: &fields, elapsed_seconds: None };
    let scored = engine.score_table(&table, Wanted { has_values: answer.has_values })?;
    let is_whole = engine.card().scorer()?.has_whole_billionths();
    let card = engine.card().card();
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    let is_asked = |name: &&str| match answer.columns.as_slice() {
        [] => *name != FINER || !is_whole,
        names => names.iter().any(|it| it == name),
    };
    for name in COLUMNS.into_iter().filter(is_asked) {
        let (name, column) = match name {
            "score" => (name, doubles((0..frame.rows()).map(|row| scored.published(card, row)).collect())),
            "score_e9" if is_whole => (name, wholes(&scored.units, |units| units / MILLION)),
            "score_e9" => (name, wholes(&scored.units, |units| Score::from_units(units).billionths())),
            FINER => (name, wholes(&scored.units, |units| units)),
            "coverage" => (name, doubles(scored.coverage.iter().map(|it| it / 1e9).collect())),
            "coverage_e9" => (name, wholes(&scored.coverage, |it| it)),
            "band" => (name, named(&scored.band, card.bands.iter().map(|it| it.name.as_str()))),
            "tier" => (name, named(&scored.tier, card.tiers.iter().map(|it| it.name.as_str()))),
            "status" => (name, statuses(&scored)),
            _ => (name, reasons(&scored, frame.rows())),
        };
        columns.push((name.to_owned(), column));
    }
    for (dimension, readings) in card.dimensions.iter().zip(&scored.readings) {
        columns.push((format!("{}_e9", dimension.key), wholes(readings, |it| it)));
    }
    for (gate, holds) in card.gates.iter().zip(&scored.gates) {
        let bits: BooleanBuffer = holds.iter().map(|holds| *holds == 1).collect();
        columns.push((gate.name.clone(), Arc::new(arrow_array::BooleanArray::new(bits, None))));
    }
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, it)| (name, it, true)));
    let batch = batch.and_then(|batch| with_digest(&batch, card));
    let batch = batch.map_err(|error| Error::new(Code::InvalidOption, error.to_string()))?;
    Ok((batch, scored.broken))
}

/// Names the scorecard in the schema.
fn with_digest(batch: &RecordBatch, card: &Scorecard) -> Result<RecordBatch, ArrowError> {
    let mut schema = Schema::new(batch.schema().fields().clone());
    schema.metadata.insert(CARD.to_owned(), card.name());
    schema.metadata.insert(DIGEST.to_owned(), card.digest.to_string());
    RecordBatch::try_new(schema.into(), batch.columns().to_vec())
}

/// Returns where numbers are; none if all are.
fn valid(numbers: &[f64]) -> Option<NullBuffer> {
    let has_gap = numbers.iter().any(|number| number.is_nan());
    has_gap.then(|| {
        NullBuffer::new(BooleanBuffer::collect_bool(numbers.len(), |row| {
            numbers.get(row).is_some_and(|number| !number.is_nan())
        }))
    })
}

fn doubles(mut numbers: Vec<f64>) -> ArrayRef {
    let nulls = valid(&numbers);
    if nulls.is_some() {
        numbers.iter_mut().filter(|number| number.is_nan()).for_each(|number| *number = 0.0);
    }
    Arc::new(Float64Array::new(ScalarBuffer::from(numbers), nulls))
}

/// Returns `of` each number, all of which are whole.
fn wholes(numbers: &[f64], of: impl Fn(i64) -> i64) -> ArrayRef {
    // The cast of NaN is 0.
    let wholes: Vec<i64> = numbers.iter().map(|number| of(*number as i64)).collect();
    Arc::new(Int64Array::new(ScalarBuffer::from(wholes), valid(numbers)))
}

/// Returns names by their number, 1 for the first; 0 for no name.
fn named<'n>(numbers: &[u8], names: impl Iterator<Item = &'n str>) -> ArrayRef {
    let nulls = NullBuffer::new(BooleanBuffer::collect_bool(numbers.len(), |row| {
        numbers.get(row).is_some_and(|number| *number > 0)
    }));
    let keys: Vec<u8> = numbers.iter().map(|number| number.saturating_sub(1)).collect();
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return Arc::new(StringArray::new_null(numbers.len()));
    }
    dictionary(keys, Some(nulls).filter(|nulls| nulls.null_count() > 0), names)
}

fn statuses(scored: &Scored) -> ArrayRef {
    let names =
        [RecordStatus::Scored, RecordStatus::Unscored, RecordStatus::Withheld].map(RecordStatus::name);
    let key = |row: usize| match scored.status(row) {
        Some(RecordStatus::Scored) => 0,
        Some(RecordStatus::Unscored) => 1,
        Some(RecordStatus::Withheld) => 2,
        None => 3,
    };
    let keys = (0..scored.units.len()).map(key).collect();
    dictionary(keys, None, names.into_iter().chain(["broken"]).collect())
}

fn dictionary(keys: Vec<u8>, nulls: Option<NullBuffer>, names: Vec<&str>) -> ArrayRef {
    let values: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let keys = UInt8Array::new(ScalarBuffer::from(keys), nulls);
    Arc::new(DictionaryArray::<UInt8Type>::new(keys, values))
}

fn reasons(scored: &Scored, rows: usize) -> ArrayRef {
    let mut reasons: Vec<Option<String>> = vec![None; rows];
    for broken in &scored.broken {
        let error = &broken.error;
        let reason = format!("{}: found {}, expected {}", error.fact, error.found, error.expected);
        reasons.iter_mut().skip(broken.row).take(1).for_each(|it| *it = Some(reason.clone()));
    }
    if scored.broken.is_empty() {
        Arc::new(StringArray::new_null(rows))
    } else {
        Arc::new(StringArray::from(reasons))
    }
}
