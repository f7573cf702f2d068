//! Rows of a CSV table, each as the JSON object with the same content.

use std::io::{self, BufRead, Cursor, Read};

use csv::{ByteRecord, ReaderBuilder, Terminator};
use karat_core::json;

use super::{RawItem, SourceError, skip_byte_order_mark};
use crate::cells;
use crate::fact_table::Columns;
use crate::json::problem::quoted;
use karat_core::scorecard::FactType;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Fact(FactType),
    /// The number of cases behind a row.
    Count,
    Time,
    Text,
}

/// The bytes of a header that is read ahead, and what follows.
type Whole<R> = io::Chain<Cursor<Vec<u8>>, R>;

pub(super) struct RowSource<R> {
    rows: csv::Reader<Limited<Whole<R>>>,
    /// The error of reading ahead.
    failed: Option<io::Error>,
    wanted: Columns,
    limit: usize,
    /// Names (as JSON) and types of the columns, once the header has been read.
    header: Option<Vec<(Vec<u8>, Cell)>>,
    record: ByteRecord,
    object: Vec<u8>,
    rows_seen: bool,
    ended: bool,
}

impl<R: BufRead> RowSource<R> {
    pub(super) fn new(mut input: R, wanted: &[(String, FactType)], limit: usize) -> Self {
        let wanted = Columns::new(wanted, None, None);
        let mut head = Vec::new();
        let failed = read_head(&mut input, &mut head).err();
        let separator = separator(&head, |name| is_known(name, &wanted));
        // Only the line feed ends a row (a carriage return before it is cut off here), so that lines can be counted;
        // the number of cells is checked here too, because a row of a lone carriage return is a blank line.
        let rows = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .delimiter(separator)
            .from_reader(Limited::new(Cursor::new(head).chain(input)));
        Self {
            rows,
            failed,
            wanted,
            limit,
            header: None,
            record: ByteRecord::new(),
            object: Vec::new(),
            rows_seen: false,
            ended: false,
        }
    }

    pub(super) fn next_item(&mut self) -> Option<Result<RawItem<'_>, SourceError>> {
        if self.ended {
            return None;
        }
        match self.next_row() {
            Ok(Some(line)) => Some(Ok(RawItem { line, bytes: &self.object })),
            Ok(None) => {
                self.ended = true;
                None
            }
            Err(error) => {
                self.ended = !error.resumable;
                Some(Err(error))
            }
        }
    }

    fn next_row(&mut self) -> Result<Option<u64>, SourceError> {
        if let Some(error) = self.failed.take() {
            return Err(SourceError::unreadable(1, &error));
        }
        if self.header.is_none() {
            skip_byte_order_mark(&mut self.rows.get_mut().input)?;
            let mut line = self.read_record()?;
            // The line in which Excel writes what separates the columns.
            if line.is_some() && matches!(self.record.get(0), Some(cell) if cell.eq_ignore_ascii_case(SEP)) {
                line = self.read_record()?;
            }
            let line = line.ok_or_else(|| SourceError::empty("the file is empty"))?;
            self.header = Some(self.read_header(line)?);
        }
        let Some(line) = self.read_record()? else {
            return if self.rows_seen {
                Ok(None)
            } else {
                Err(SourceError::empty("the file has no row but the header"))
            };
        };
        self.rows_seen = true;
        let header = self.header.as_deref().unwrap_or_default();
        if self.record.len() != header.len() {
            let found = format!("{} in the row", count(self.record.len()));
            let expected = format!("{} as in the header", count(header.len()));
            let hint = "put a text with commas in double quotes";
            return Err(SourceError::skipped(line, found, expected, hint));
        }
        self.object.clear();
        self.object.push(b'{');
        for ((name, cell), bytes) in header.iter().zip(cells(&self.record)) {
            let Ok(text) = std::str::from_utf8(bytes) else {
                let found =
                    format!("bytes that are not UTF-8 in the column {}", String::from_utf8_lossy(name));
                return Err(SourceError::skipped(line, found, "text in UTF-8", "save the file as UTF-8"));
            };
            if is_missing(text, *cell) {
                continue;
            }
            if self.object.len() > 1 {
                self.object.push(b',');
            }
            self.object.extend_from_slice(name);
            self.object.push(b':');
            write_cell(&mut self.object, text, *cell);
        }
        self.object.push(b'}');
        Ok(Some(line))
    }

    fn read_header(&self, line: u64) -> Result<Vec<(Vec<u8>, Cell)>, SourceError> {
        let mut header = Vec::new();
        for (at, bytes) in cells(&self.record).enumerate() {
            let refuse = |found: String, hint: &str| {
                Err(SourceError::fatal(line, found, "a different name for each column", hint))
            };
            let Ok(name) = std::str::from_utf8(bytes).map(str::trim) else {
                return refuse("bytes that are not UTF-8 in the header".to_owned(), "save the file as UTF-8");
            };
            // As data frames write the numbers or names of their rows.
            let is_index = name.is_empty() && at == 0 && self.record.len() > 1;
            let has_index = || cells(&self.record).any(|cell| cell.trim_ascii() == b"index");
            let name = match name {
                _ if !is_index => name,
                _ if has_index() => "Unnamed: 0",
                _ => "index",
            };
            if name.is_empty() {
                return refuse(format!("no name for column {}", at + 1), "name it in the first row");
            }
            let mut written = Vec::new();
            json::write_string(&mut written, name);
            if header.iter().any(|(other, _)| *other == written) {
                return refuse(format!("the column {} a second time", quoted(name)), "remove one of them");
            }
            let cell = match self.wanted.find(name) {
                Some((fact_type, _)) => Cell::Fact(fact_type),
                None if name == "n" => Cell::Count,
                None if name == "time" => Cell::Time,
                None => Cell::Text,
            };
            header.push((written, cell));
        }
        Ok(header)
    }

    /// Reads the next record that is not blank, and says in which line it begins.
    fn read_record(&mut self) -> Result<Option<u64>, SourceError> {
        loop {
            // The parser reads ahead by its own buffer, so a record may take that much beyond the limit.
            self.rows.get_mut().left = (self.limit as u64).saturating_add(1 << 16);
            match self.rows.read_byte_record(&mut self.record) {
                Ok(false) => return Ok(None),
                Ok(true) => {}
                Err(error) => return Err(explain(&error, self.rows.position().line())),
            }
            let line = self.first_line();
            if self.record.as_slice().len() > self.limit {
                return Err(SourceError::too_long(line, self.limit));
            }
            if self.rows.get_ref().has_open_quote() {
                let hint = "close it; a double quote within a text is written twice";
                return Err(SourceError::fatal(line, "a double quote that is not closed", "its end", hint));
            }
            if self.record.as_slice() != b"\r" {
                return Ok(Some(line));
            }
        }
    }

    /// Returns the line in which the record begins, from the line after it: the parser's own count does not know of the
    /// blank lines before a record.
    fn first_line(&self) -> u64 {
        let after = self.rows.position();
        let input = self.rows.get_ref();
        let is_last_line_open = after.byte() == input.total && input.last != b'\n';
        let inside = self.record.as_slice().iter().filter(|&&byte| byte == b'\n').count() as u64;
        after.line().saturating_sub(inside + u64::from(!is_last_line_open))
    }
}

/// Most bytes of a header that is read ahead.
const HEAD_MAX: u64 = 1 << 20;

/// Reads the first line that is not blank, and the blank ones before it.
fn read_head(input: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<()> {
    let mut input = input.take(HEAD_MAX);
    while head.trim_ascii().is_empty() && input.read_until(b'\n', head)? > 0 {}
    Ok(())
}

/// The beginning of a first line that says what separates the columns: `sep=;`.
const SEP: &[u8] = b"sep=";

/// Returns what separates the columns of a header: what it says, else the first mark with which one of its names is known, else
/// the one that separates most.
fn separator(head: &[u8], is_known: impl Fn(&str) -> bool) -> u8 {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if let Some((start, [mark, ..])) = head.trim_ascii_start().split_at_checked(SEP.len())
        && start.eq_ignore_ascii_case(SEP)
        && super::SEPARATORS.contains(mark)
    {
        return *mark;
    }
    let head = String::from_utf8_lossy(head);
    let known = |mark: &u8| head.split(char::from(*mark)).any(|name| is_known(name.trim().trim_matches('"')));
    let count = |mark: &u8| {
        let mut is_quoted = false;
        let marks = head.bytes().filter(|byte| {
            is_quoted ^= *byte == b'"';
            byte == mark && !is_quoted
        });
        marks.count()
    };
    // Of several that separate as many, the first.
    let most = || super::SEPARATORS.into_iter().rev().max_by_key(count).unwrap_or(b',');
    super::SEPARATORS.into_iter().find(known).unwrap_or_else(most)
}

fn is_known(name: &str, wanted: &Columns) -> bool {
    matches!(name, "subject" | "id") || wanted.find(name).is_some()
}

fn count(cells: usize) -> String {
    if cells == 1 { "1 cell".to_owned() } else { format!("{cells} cells") }
}

/// Returns the cells of a record; the carriage return before the line feed belongs to none of them.
fn cells(record: &ByteRecord) -> impl Iterator<Item = &[u8]> {
    let last = record.len().saturating_sub(1);
    let cut = move |(at, cell): (usize, _)| {
        let cell: &[u8] = cell;
        if at == last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell }
    };
    record.iter().enumerate().map(cut)
}

fn explain(error: &csv::Error, line: u64) -> SourceError {
    match error.kind() {
        csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            let found = "a row that is longer than the limit";
            let hint = "close the double quotes that it opens, or leave out what is not scored";
            SourceError::fatal(line, found, "a shorter row", hint)
        }
        csv::ErrorKind::Io(error) => SourceError::unreadable(line, error),
        _ => SourceError::fatal(line, format!("an error: {error}"), "a CSV table", ""),
    }
}

/// Writes a cell as the JSON value of its column's type. What does not fit stays a text: the reader says what is wrong.
fn write_cell(out: &mut Vec<u8>, text: &str, cell: Cell) {
    match cell {
        Cell::Fact(FactType::Number) | Cell::Count => match cells::decimal(text) {
            Some(_) => write_decimal(out, text.trim()),
            None => json::write_string(out, text),
        },
        Cell::Fact(FactType::Boolean) => match cells::flag(text) {
            Some(true) => out.extend_from_slice(b"true"),
            Some(false) => out.extend_from_slice(b"false"),
            None => json::write_string(out, text),
        },
        Cell::Fact(FactType::Text) | Cell::Time | Cell::Text => json::write_string(out, text),
    }
}

/// Returns whether a cell says that there is no value. A text may be called `None`.
fn is_missing(text: &str, cell: Cell) -> bool {
    match cell {
        Cell::Fact(FactType::Text) | Cell::Text => text.is_empty(),
        Cell::Fact(FactType::Number | FactType::Boolean) | Cell::Count | Cell::Time => {
            cells::is_missing(text)
        }
    }
}

/// Writes a decimal number with its own digits, which the reader checks. JSON has no plus, no zeros in front, and a digit on
/// both sides of the point.
fn write_decimal(out: &mut Vec<u8>, text: &str) {
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
    out.extend(sign.bytes().filter(|&sign| sign == b'-'));
    let digits = digits.trim_start_matches('0');
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        out.push(b'0');
    }
    let (whole, rest) = digits.split_at(digits.find('.').map_or(digits.len(), |point| point + 1));
    out.extend_from_slice(whole.as_bytes());
    if whole.ends_with('.') && !rest.starts_with(|c: char| c.is_ascii_digit()) {
        out.push(b'0');
    }
    out.extend_from_slice(rest.as_bytes());
}

/// A stream that fails when one record asks for too many bytes, such as after a quote that is never closed.
struct Limited<R> {
    input: R,
    /// Number of bytes that the record being read may still take.
    left: u64,
    total: u64,
    last: u8,
    has_odd_quotes: bool,
    has_ended: bool,
}

impl<R> Limited<R> {
    fn new(input: R) -> Self {
        Self { input, left: 0, total: 0, last: b'\n', has_odd_quotes: false, has_ended: false }
    }

    /// Returns whether the last record goes on to the end of the stream because of a quote: the parser does not report
    /// it.
    fn has_open_quote(&self) -> bool {
        self.has_ended && self.has_odd_quotes
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let allowed = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.input.read(buffer.get_mut(..allowed).unwrap_or_default())?;
        self.left -= read as u64;
        self.total += read as u64;
        self.has_ended = read == 0 && allowed > 0;
        let bytes = buffer.get(..read).unwrap_or_default();
        self.has_odd_quotes ^= bytes.iter().filter(|&&byte| byte == b'"').count() % 2 == 1;
        self.last = read.checked_sub(1).and_then(|last| buffer.get(last).copied()).unwrap_or(self.last);
        Ok(read)
    }
}
