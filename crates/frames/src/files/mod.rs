//! Files of Parquet and Arrow: their rows as items, and scores as files.

mod write;

use std::fs::File;
use std::io::BufReader;
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, new_null_array};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use karat::engine::Wanted;
use karat::inputs::frames::{FrameFile, FrameFormat, FrameReader, guarded, set_reader};
use karat::{Code, Error, Place};
use karat_core::scorecard::FactType;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;

use crate::Items;

pub use self::write::{Format, Scores, is_own, row};

/// Rows that are read at once.
const ROWS: usize = 1 << 13;

/// The reader of files of Parquet and Arrow.
struct Files;

/// Lets this program read files of Parquet and Arrow wherever it reads items.
pub fn install() {
    set_reader(&Files);
}

/// Batches of a file, one after the other.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>;

impl FrameReader for Files {
    fn each(
        &self,
        file: File,
        about: &FrameFile<'_>,
        visit: &mut (dyn FnMut(&Place, Result<&[u8], Error>) -> ControlFlow<()> + '_),
    ) -> Result<ControlFlow<()>, Error> {
        let failed = |error: &str| unreadable(about, error);
        // Damaged bytes make these readers panic in places.
        let open = guarded(|| open(file, about.format)).unwrap_or_else(|| Err(damaged()));
        let mut batches = open.map_err(|error| failed(&said(&error)))?;
        let items = Items { name: about.name, wanted: about.wanted, names: &[] };
        let mut before = 0;
        while let Some(batch) = guarded(|| batches.next()).unwrap_or_else(|| Some(Err(damaged()))) {
            let batch = batch.and_then(|batch| with_folders(&batch, about.folders, about.wanted));
            let batch = batch.map_err(|error| failed(&said(&error)))?;
            if items.each(&batch, before, visit).is_break() {
                return Ok(ControlFlow::Break(()));
            }
            before += batch.num_rows() as u64;
        }
        Ok(ControlFlow::Continue(()))
    }
}

fn open(file: File, format: FrameFormat) -> Result<Batches, ArrowError> {
    Ok(match format {
        FrameFormat::Parquet => {
            let reader = |file, is_plain| {
                let options = ArrowReaderOptions::new().with_skip_arrow_metadata(is_plain);
                let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options)?;
                builder.with_batch_size(ROWS).build()
            };
            // The types that a writer had in memory may be ones that this reader lacks; those of the file say the same.
            let as_written = reader(file.try_clone()?, false);
            Box::new(as_written.or_else(|error| reader(file, true).map_err(|_| error))?)
        }
        FrameFormat::Arrow => Box::new(FileReader::try_new(BufReader::new(file), None)?),
        FrameFormat::ArrowStream => Box::new(StreamReader::try_new(BufReader::new(file), None)?),
    })
}

fn damaged() -> ArrowError {
    ArrowError::ParseError(String::from("it is damaged"))
}

/// Returns the words of an error without the name of its type.
fn said(error: &ArrowError) -> String {
    match error {
        ArrowError::ParquetError(text) | ArrowError::ParseError(text) | ArrowError::IpcError(text) => {
            text.clone()
        }
        ArrowError::ExternalError(error) => match error.downcast_ref::<ParquetError>() {
            Some(ParquetError::General(text) | ParquetError::EOF(text) | ParquetError::NYI(text)) => {
                text.clone()
            }
            _ => error.to_string(),
        },
        error => error.to_string(),
    }
}

fn unreadable(about: &FrameFile<'_>, error: &str) -> Error {
    let (name, words) = (about.name, about.format.words());
    Error::new(Code::Unreadable, format!("cannot read `{name}`, {words}: {error}"))
}

/// Adds the columns that folders give. A column of the file itself says it better.
fn with_folders(
    batch: &RecordBatch,
    folders: &[(String, Option<String>)],
    wanted: &Wanted,
) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    let mut fields: Vec<Arc<Field>> = schema.fields().iter().cloned().collect();
    let mut columns = batch.columns().to_vec();
    for (name, value) in folders {
        if fields.iter().any(|field| field.name() == name) {
            continue;
        }
        let wanted = wanted.facts.iter().find(|(fact, _)| fact == name).map(|(_, fact_type)| *fact_type);
        let column = constant(value.as_deref(), wanted, batch.num_rows());
        fields.push(Arc::new(Field::new(name, column.data_type().clone(), true)));
        columns.push(column);
    }
    if columns.len() == batch.num_columns() {
        return Ok(batch.clone());
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

/// Returns a column with one value in all rows, of the type that is wanted of it if the text has one of that.
fn constant(value: Option<&str>, wanted: Option<FactType>, rows: usize) -> ArrayRef {
    let Some(text) = value else { return new_null_array(&DataType::Null, rows) };
    let number = text.parse::<f64>().ok().filter(|it| it.is_finite());
    match (wanted, number, text.parse::<bool>()) {
        (Some(FactType::Number), Some(number), _) => Arc::new(Float64Array::from(vec![number; rows])),
        (Some(FactType::Boolean), _, Ok(flag)) => Arc::new(BooleanArray::from(vec![flag; rows])),
        _ => Arc::new(StringArray::from(vec![text; rows])),
    }
}
