//! JSON items: one per line, as documents over many lines, or as the elements of an array.

use std::io::{self, BufRead, Read as _};

use super::ahead::LookAhead;
use super::scanner::Scanner;
use super::{RawItem, SourceError, fill, skip_byte_order_mark};

/// Distance of looking ahead to distinguish a document over many lines from lines of which the first is cut off.
const LOOK_AHEAD: usize = 1 << 20;

pub(super) struct JsonSource<R> {
    input: LookAhead<R>,
    mode: Mode,
    /// Lines that have been taken whole, so the current line is the next.
    lines: u64,
    limit: usize,
    buffer: Vec<u8>,
    /// True if the input is within a line that was too long.
    is_within_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Nothing has been read; lines are certain or not.
    Start {
        lines: bool,
    },
    Lines,
    Documents,
    /// Before the first element of an array, or after another.
    Array {
        first: bool,
    },
    End,
}

/// Result of reading one line.
enum Line {
    End,
    Whole,
    TooLong,
}

impl<R: BufRead> JsonSource<R> {
    pub(super) fn new(input: R, lines: bool, limit: usize) -> Self {
        Self {
            input: LookAhead::new(input),
            mode: Mode::Start { lines },
            lines: 0,
            limit,
            buffer: Vec::new(),
            is_within_line: false,
        }
    }

    /// Returns how much memory the items take.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.buffer.capacity()
    }

    pub(super) fn next_item(&mut self) -> Option<Result<RawItem<'_>, SourceError>> {
        let next = match self.mode {
            Mode::Start { lines } => self.start(lines),
            Mode::Lines => self.next_line(),
            Mode::Documents => self.next_document(),
            Mode::Array { first } => self.next_element(first),
            Mode::End => Ok(None),
        };
        match next {
            Ok(Some(line)) => Some(Ok(RawItem { line, bytes: self.buffer.trim_ascii() })),
            Ok(None) => {
                self.mode = Mode::End;
                None
            }
            Err(error) => {
                if !error.resumable {
                    self.mode = Mode::End;
                }
                Some(Err(error))
            }
        }
    }

    /// Finds out how the items are laid out, and reads the first.
    fn start(&mut self, lines: bool) -> Result<Option<u64>, SourceError> {
        skip_byte_order_mark(&mut self.input)?;
        match self.skip_blanks()? {
            None => Err(SourceError::empty("the file is empty")),
            Some(b'[') if !lines => {
                self.input.consume(1);
                self.mode = Mode::Array { first: true };
                self.next_element(true)
            }
            Some(_) => {
                self.mode = Mode::Lines;
                let line = self.lines + 1;
                match self.read_line()? {
                    Line::TooLong => return Err(SourceError::too_long(line, self.limit)),
                    Line::End | Line::Whole => {}
                }
                let mut scanner = Scanner::default();
                let is_whole = scanner.feed(&self.buffer).is_some();
                // A document over many lines breaks its first line after a bracket or a comma.
                let is_open = matches!(self.buffer.trim_ascii_end().last(), Some(b'{' | b'[' | b','));
                if !lines && !is_whole && is_open && !self.lines_follow()? {
                    self.mode = Mode::Documents;
                    return self.finish_value(scanner, line).map(Some);
                }
                Ok(Some(line))
            }
        }
    }

    /// Returns whether what comes can only be items on separate lines.
    fn lines_follow(&mut self) -> Result<bool, SourceError> {
        let follow = self.input.look(LOOK_AHEAD, are_lines);
        let failed = |error: io::Error| SourceError::unreadable(self.lines + 1, &error);
        Ok(follow.map_err(failed)?.unwrap_or(false))
    }

    fn next_line(&mut self) -> Result<Option<u64>, SourceError> {
        loop {
            let line = self.lines + 1;
            match self.read_line()? {
                Line::End => return Ok(None),
                Line::TooLong => return Err(SourceError::too_long(line, self.limit)),
                Line::Whole if self.buffer.trim_ascii().is_empty() => {}
                Line::Whole => return Ok(Some(line)),
            }
        }
    }

    fn next_document(&mut self) -> Result<Option<u64>, SourceError> {
        if self.skip_blanks()?.is_none() {
            return Ok(None);
        }
        let line = self.lines + 1;
        self.buffer.clear();
        self.finish_value(Scanner::default(), line).map(Some)
    }

    fn next_element(&mut self, is_first: bool) -> Result<Option<u64>, SourceError> {
        let mut next = self.skip_blanks()?;
        if next == Some(b']') {
            self.input.consume(1);
            return match self.skip_blanks()? {
                None if is_first => Err(SourceError::empty("the array has no item")),
                None => Ok(None),
                Some(byte) => Err(self.unexpected(byte, "the end of the file after the array")),
            };
        }
        if !is_first {
            match next {
                Some(b',') => self.input.consume(1),
                Some(byte) => return Err(self.unexpected(byte, "`,` or `]` between the items of the array")),
                None => return Err(self.cut_off()),
            }
            next = self.skip_blanks()?;
        }
        match next {
            Some(byte @ (b',' | b']')) => return Err(self.unexpected(byte, "an item")),
            None => return Err(self.cut_off()),
            Some(_) => {}
        }
        self.mode = Mode::Array { first: false };
        let line = self.lines + 1;
        self.buffer.clear();
        self.finish_value(Scanner::default(), line).map(Some)
    }

    /// Reads on until the value ends; what is beyond the limit is passed over.
    fn finish_value(&mut self, mut scanner: Scanner, line: u64) -> Result<u64, SourceError> {
        let mut is_too_long = false;
        loop {
            let (used, is_done) = {
                let bytes =
                    fill(&mut self.input).map_err(|error| SourceError::unreadable(self.lines + 1, &error))?;
                if bytes.is_empty() {
                    if scanner.may_end_here() {
                        break;
                    }
                    let expected = "the rest of the item that begins here";
                    let hint = "the file is cut off: supply all of it";
                    return Err(SourceError::fatal(line, "the end of the file", expected, hint));
                }
                let end = scanner.feed(bytes);
                let used = end.unwrap_or(bytes.len());
                let bytes = bytes.get(..used).unwrap_or_default();
                self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
                is_too_long |= self.buffer.len() + used > self.limit;
                if !is_too_long {
                    self.buffer.extend_from_slice(bytes);
                }
                (used, end.is_some())
            };
            self.input.consume(used);
            if is_done {
                break;
            }
        }
        if is_too_long { Err(SourceError::too_long(line, self.limit)) } else { Ok(line) }
    }

    /// Reads one line into the buffer; of one that is too long, no more than the limit is ever held. The rest of that
    /// is passed over only when the next line is read: it may never end.
    fn read_line(&mut self) -> Result<Line, SourceError> {
        self.buffer.clear();
        let failed = |line: u64| move |error: io::Error| SourceError::unreadable(line, &error);
        let line = self.lines + 1;
        while self.is_within_line {
            let bytes = fill(&mut self.input).map_err(failed(self.lines))?;
            let newline = bytes.iter().position(|&byte| byte == b'\n');
            let used = newline.map_or(bytes.len(), |at| at + 1);
            self.is_within_line = newline.is_none() && !bytes.is_empty();
            self.input.consume(used);
        }
        // Room for the line break that does not count as part of the item.
        let allowed = (self.limit as u64).saturating_add(2);
        let read =
            self.input.by_ref().take(allowed).read_until(b'\n', &mut self.buffer).map_err(failed(line))?;
        if read == 0 {
            return Ok(Line::End);
        }
        self.lines += 1;
        if self.buffer.last() != Some(&b'\n') && read as u64 == allowed {
            self.is_within_line = true;
            return Ok(Line::TooLong);
        }
        let is_too_long = self.buffer.trim_ascii().len() > self.limit;
        Ok(if is_too_long { Line::TooLong } else { Line::Whole })
    }

    /// Skips white space and shows the byte after it.
    fn skip_blanks(&mut self) -> Result<Option<u8>, SourceError> {
        loop {
            let bytes =
                fill(&mut self.input).map_err(|error| SourceError::unreadable(self.lines + 1, &error))?;
            let blanks = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = bytes.get(blanks).copied();
            let is_end = bytes.is_empty();
            self.lines += bytes.iter().take(blanks).filter(|&&byte| byte == b'\n').count() as u64;
            self.input.consume(blanks);
            if next.is_some() || is_end {
                return Ok(next);
            }
        }
    }

    fn unexpected(&self, byte: u8, expected: &str) -> SourceError {
        let found = crate::json::problem::quoted(&char::from(byte).to_string());
        SourceError::fatal(self.lines + 1, found, expected, "")
    }

    fn cut_off(&self) -> SourceError {
        let expected = "`]` at the end of the array";
        let hint = "the file is cut off: supply all of it";
        SourceError::fatal(self.lines + 1, "the end of the file", expected, hint)
    }
}

/// Returns whether `bytes`, which come after an open bracket or a comma, are a whole object on its own line, and
/// then the end or another object: no document goes on so. None if it takes more to know; `is_end` says that there is no more.
fn are_lines(bytes: &[u8], is_end: bool) -> Option<bool> {
    let bytes = bytes.trim_ascii_start();
    if bytes.first().is_some_and(|&byte| byte != b'{') {
        return Some(false);
    }
    let (line, rest) = match bytes.iter().position(|&byte| byte == b'\n') {
        Some(at) => bytes.split_at(at),
        None if is_end => (bytes, &[][..]),
        None => return None,
    };
    let line = line.trim_ascii_end();
    if line.is_empty() || Scanner::default().feed(line) != Some(line.len()) {
        return Some(false);
    }
    match rest.trim_ascii_start().first() {
        Some(&byte) => Some(byte == b'{'),
        None => is_end.then_some(true),
    }
}
