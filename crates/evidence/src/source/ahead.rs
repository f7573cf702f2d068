//! A stream that can be looked at before it is read.

use std::io::{self, BufRead, Read};

use super::fill;

/// Bytes that were looked at come before the rest of the stream.
pub(super) struct LookAhead<R> {
    seen: Vec<u8>,
    /// Number of the bytes seen that have been read.
    used: usize,
    input: R,
}

impl<R: BufRead> LookAhead<R> {
    pub(super) fn new(input: R) -> Self {
        Self { seen: Vec::new(), used: 0, input }
    }

    /// Shows `decide` more and more of what comes, and whether that is all there is, until it knows; none if it does not
    /// know after `most` bytes.
    pub(super) fn look<T>(
        &mut self,
        most: usize,
        decide: impl Fn(&[u8], bool) -> Option<T>,
    ) -> io::Result<Option<T>> {
        loop {
            let unread = self.seen.get(self.used..).unwrap_or_default();
            if let Some(decision) = decide(unread, false) {
                return Ok(Some(decision));
            }
            if unread.len() >= most {
                return Ok(None);
            }
            let more = fill(&mut self.input)?;
            if more.is_empty() {
                return Ok(decide(unread, true));
            }
            self.seen.extend_from_slice(more);
            let count = more.len();
            self.input.consume(count);
        }
    }
}

impl<R: BufRead> Read for LookAhead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for LookAhead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.seen.get(self.used..) {
            Some(unread) if !unread.is_empty() => Ok(unread),
            _ => self.input.fill_buf(),
        }
    }

    fn consume(&mut self, count: usize) {
        if self.used == self.seen.len() {
            return self.input.consume(count);
        }
        self.used += count;
        if self.used >= self.seen.len() {
            // What was looked at may be large, and is not needed again.
            self.seen = Vec::new();
            self.used = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn what_was_looked_at_is_read_after_all() {
        let mut stream = LookAhead::new(BufReader::with_capacity(2, &b"abcdefg"[..]));
        let seen = |enough: usize| move |bytes: &[u8], _: bool| bytes.get(..enough).map(<[u8]>::to_vec);
        assert_eq!(stream.look(100, seen(3)).unwrap().unwrap(), b"abc");
        let mut one = [0];
        stream.read_exact(&mut one).unwrap();
        assert_eq!(stream.look(100, seen(5)).unwrap().unwrap(), b"bcdef");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap();
        assert_eq!((one, rest.as_slice()), (*b"a", &b"bcdefg"[..]));
        assert_eq!(stream.look(100, |bytes, is_end| is_end.then_some(bytes.len())).unwrap(), Some(0));
    }

    #[test]
    fn nothing_is_looked_for_without_end() {
        let mut stream = LookAhead::new(BufReader::with_capacity(1000, io::repeat(b'x')));
        assert_eq!(stream.look(10_000, |_, _| None::<()>).unwrap(), None);
        assert!(stream.seen.len() < 11_000, "{} bytes", stream.seen.len());
    }
}
