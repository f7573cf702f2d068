//! Scores as a file of columns.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::UInt8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use karat::{CompiledCard, Error};
use karat_core::number::{BILLION, Score};
use karat_core::record::{Record, RecordStatus};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use serde::{Deserialize, Serialize};

use crate::scores::{CARD, DIGEST, FINER};

/// Rows that are written at once.
const ROWS: usize = 1 << 14;
/// Bytes at the beginning and at the end of a file that name the scorecard of scores.
const ENDS: u64 = 1 << 16;
/// The status of an item that was refused.
const BROKEN: &str = "broken";

/// The format of a file of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Parquet.
    Parquet,
    /// The file of Arrow.
    Arrow,
}

impl Format {
    /// Returns the format that the end of a name says.
    pub fn of(path: &str) -> Option<Self> {
        match Path::new(path).extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "parquet" | "pq" => Some(Self::Parquet),
            "arrow" | "feather" | "ipc" => Some(Self::Arrow),
            _ => None,
        }
    }
}

/// A row of scores, on its way from the thread that scores to the file.
#[derive(Default, Serialize, Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    subject: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    task: Option<Cow<'a, str>>,
    published: Option<f64>,
    units: Option<i64>,
    coverage: Option<i64>,
    band: Option<u8>,
    tier: Option<u8>,
    status: u8,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

/// Appends the row of an item for [`Scores`]: of its record, or of the reason why it was refused.
pub fn row(item: Result<&Record<'_>, &Error>, out: &mut Vec<u8>) {
    let row = match item {
        Ok(record) => Row {
            subject: Some(record.item.subject.into()),
            id: Some(record.item.id.into()),
            task: record.item.context.task.map(Cow::from),
            published: record.published.map(|it| it.to_f64()),
            units: record.score.map(|it| it.units()),
            coverage: Some(record.coverage),
            band: place(record.card.bands.iter().map(|it| &it.name), record.band),
            tier: place(
                record.card.tiers.iter().map(|it| &it.name),
                record.tier.as_ref().and_then(|it| it.name),
            ),
            status: record.status as u8,
            reason: None,
        },
        Err(error) => {
            let status = STATUSES.len() as u8;
            Row { status, reason: Some(error.to_string().into()), ..Row::default() }
        }
    };
    // Writing to a vector cannot fail.
    let _ = serde_json::to_writer(&mut *out, &row);
    out.push(b'\n');
}

/// Returns the place of a name among all.
fn place<'n>(mut names: impl Iterator<Item = &'n String>, name: Option<&str>) -> Option<u8> {
    let name = name?;
    names.position(|it| it == name).and_then(|at| u8::try_from(at).ok())
}

fn texts<'r, 't>(rows: &'r [Row<'t>], of: impl Fn(&'r Row<'t>) -> Option<&'r str>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<StringArray>())
}

fn wholes(rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> Option<i64>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Int64Array>())
}

fn doubles(rows: &[Row<'_>], of: impl Fn(&Row<'_>) -> Option<f64>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<Float64Array>())
}

fn names(
    rows: &[Row<'_>],
    of: impl Fn(&Row<'_>) -> Option<u8>,
    names: &[String],
) -> Result<ArrayRef, ArrowError> {
    if names.is_empty() {
        return Ok(Arc::new(StringArray::new_null(rows.len())));
    }
    let keys: UInt8Array = rows.iter().map(of).collect();
    let names = Arc::new(StringArray::from_iter_values(names));
    Ok(Arc::new(DictionaryArray::<UInt8Type>::try_new(keys, names)?))
}

const STATUSES: [RecordStatus; 3] = [RecordStatus::Scored, RecordStatus::Unscored, RecordStatus::Withheld];

enum Writer {
    Parquet(Box<ArrowWriter<File>>),
    Arrow(Box<FileWriter<File>>),
}

/// A file of scores as it grows: it takes the lines of [`row`]. The file has no name, so that nothing is left of a run that fails.
pub struct Scores {
    writer: Writer,
    schema: SchemaRef,
    /// True if no score can lie between two billionths.
    is_whole: bool,
    bands: Vec<String>,
    tiers: Vec<String>,
    lines: Vec<u8>,
    waiting: usize,
}

impl Scores {
    /// Begins a file beside `path`.
    ///
    /// # Errors
    /// If it cannot be written, or the scorecard cannot score.
    pub fn new(path: &str, format: Format, card: &CompiledCard) -> io::Result<Self> {
        let folder = Path::new(path).parent().filter(|it| !it.as_os_str().is_empty());
        let file = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let is_whole = card.scorer().map_err(io::Error::other)?.has_whole_billionths();
        let card = card.card();
        let (bands, tiers) = (
            card.bands.iter().map(|it| it.name.clone()).collect::<Vec<_>>(),
            card.tiers.iter().map(|it| it.name.clone()).collect::<Vec<_>>(),
        );
        let names = || DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
        let named = |names_of: &[String]| if names_of.is_empty() { DataType::Utf8 } else { names() };
        let fields = [
            ("subject", DataType::Utf8),
            ("id", DataType::Utf8),
            ("task", DataType::Utf8),
            ("score", DataType::Float64),
            ("score_e9", DataType::Int64),
            (FINER, DataType::Int64),
            ("coverage", DataType::Float64),
            ("coverage_e9", DataType::Int64),
            ("band", named(&bands)),
            ("tier", named(&tiers)),
            ("status", names()),
            ("reason", DataType::Utf8),
        ];
        let fields = fields.into_iter().filter(|(name, _)| *name != FINER || !is_whole);
        let fields: Vec<Field> = fields.map(|(name, it)| Field::new(name, it, true)).collect();
        let mut schema = Schema::new(fields);
        schema.metadata.insert(CARD.to_owned(), card.name());
        schema.metadata.insert(DIGEST.to_owned(), card.digest.to_string());
        let schema = Arc::new(schema);
        let writer = writer(file, format, &schema).map_err(io::Error::other)?;
        Ok(Self { writer, schema, is_whole, bands, tiers, lines: Vec::new(), waiting: 0 })
    }

    fn write_rows(&mut self) -> Result<(), ArrowError> {
        let lines = std::mem::take(&mut self.lines);
        self.waiting = 0;
        let rows: Result<Vec<Row<'_>>, _> = lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(serde_json::from_slice)
            .collect();
        let rows = rows.map_err(|error| ArrowError::ParseError(error.to_string()))?;
        let statuses: Vec<String> =
            STATUSES.iter().map(|it| it.name()).chain([BROKEN]).map(str::to_owned).collect();
        let finer = (!self.is_whole).then(|| wholes(&rows, |row| row.units));
        let mut columns = vec![
            texts(&rows, |row| row.subject.as_deref()),
            texts(&rows, |row| row.id.as_deref()),
            texts(&rows, |row| row.task.as_deref()),
            doubles(&rows, |row| row.published),
            wholes(&rows, |row| Some(Score::from_units(row.units?).billionths())),
            doubles(&rows, |row| row.coverage.map(|it| it as f64 / BILLION as f64)),
            wholes(&rows, |row| row.coverage),
            names(&rows, |row| row.band, &self.bands)?,
            names(&rows, |row| row.tier, &self.tiers)?,
            names(&rows, |row| Some(row.status), &statuses)?,
            texts(&rows, |row| row.reason.as_deref()),
        ];
        // Beside the one in billionths.
        columns.splice(5..5, finer);
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        match &mut self.writer {
            Writer::Parquet(writer) => writer.write(&batch).map_err(ArrowError::from),
            Writer::Arrow(writer) => writer.write(&batch),
        }
    }

    /// Ends the file and returns it, at its beginning.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn end(mut self) -> io::Result<File> {
        self.write_rows().map_err(io::Error::other)?;
        let mut file = match self.writer {
            Writer::Parquet(writer) => writer.into_inner().map_err(io::Error::other)?,
            Writer::Arrow(writer) => writer.into_inner().map_err(io::Error::other)?,
        };
        file.rewind()?;
        Ok(file)
    }
}

impl Write for Scores {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.lines.extend_from_slice(lines);
        self.waiting += lines.iter().filter(|byte| **byte == b'\n').count();
        if self.waiting >= ROWS && self.lines.ends_with(b"\n") {
            self.write_rows().map_err(io::Error::other)?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn writer(file: File, format: Format, schema: &SchemaRef) -> Result<Writer, ArrowError> {
    Ok(match format {
        Format::Parquet => {
            // Where readers of Parquet look for it; that of Arrow is encoded.
            let known = schema.metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
            let mut properties = WriterProperties::builder()
                .set_key_value_metadata(Some(known.collect()))
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_dictionary_enabled(true);
            // Nearly each has its own value: a dictionary is larger and slower.
            for name in ["id", "score", "coverage", "reason"] {
                properties = properties.set_column_dictionary_enabled(ColumnPath::from(name), false);
            }
            for name in ["score_e9", FINER, "coverage_e9"] {
                properties = properties
                    .set_column_dictionary_enabled(ColumnPath::from(name), false)
                    .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
            }
            let writer = ArrowWriter::try_new(file, Arc::clone(schema), Some(properties.build()))?;
            Writer::Parquet(Box::new(writer))
        }
        Format::Arrow => {
            let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD))?;
            Writer::Arrow(Box::new(FileWriter::try_new_with_options(file, schema, options)?))
        }
    })
}

/// Returns whether a file may be replaced: it does not exist, or it has scores that karat wrote.
pub fn is_own(path: &str) -> bool {
    let Ok(mut file) = File::open(path) else { return !Path::new(path).exists() };
    let mut ends = Vec::new();
    let length = file.metadata().map_or(0, |about| about.len());
    let read = (&file).take(ENDS).read_to_end(&mut ends).and_then(|_| {
        file.seek(SeekFrom::Start(length.saturating_sub(ENDS)))?;
        (&file).take(ENDS).read_to_end(&mut ends)
    });
    read.is_ok() && (length == 0 || ends.windows(DIGEST.len()).any(|part| part == DIGEST.as_bytes()))
}
