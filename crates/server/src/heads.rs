//! The bytes of a connection as they arrive: where each request ends, and which heads announce their body in two ways. The
//! HTTP library leaves one of the two announcements out before anyone sees it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The longest head or line that is followed; the HTTP library refuses longer ones itself.
const HELD_BYTES_MAX: usize = 64 << 10;

/// The heads of a connection that were read and not answered yet, in order: true for one with both `Content-Length` and
/// `Transfer-Encoding`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Announced(Arc<Mutex<VecDeque<bool>>>);

impl Announced {
    /// Takes the next head; true if it announces its body in two ways.
    pub fn next_is_ambiguous(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or_default()
    }

    fn push(&self, is_ambiguous: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(is_ambiguous);
    }
}

/// The place in the requests of a connection up to which bytes have arrived.
#[derive(Debug)]
pub(crate) struct Heads {
    place: Place,
    announced: Announced,
}

#[derive(Debug)]
enum Place {
    /// In a head, with its bytes so far.
    Head(Vec<u8>),
    /// In a body; the number of bytes that are to come.
    Body(u64),
    /// In the line with the size of a chunk.
    Size(Vec<u8>),
    /// In a chunk; the number of bytes that are to come, with its end of line.
    Chunk(u64),
    /// In the lines after the last chunk, with the bytes of the last of them.
    Trailer(Vec<u8>),
    /// In something that the HTTP library refuses.
    Lost,
}

impl Heads {
    /// Creates the place at the begin of a connection; heads go to `announced`.
    pub fn new(announced: Announced) -> Self {
        Self { place: Place::Head(Vec::new()), announced }
    }

    /// Returns true if bytes of a body are to come.
    pub fn is_within_body(&self) -> bool {
        !matches!(self.place, Place::Head(_) | Place::Lost)
    }

    /// Goes on over bytes that have arrived.
    pub fn pass(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            let next = match &mut self.place {
                Place::Lost => return,
                Place::Body(left) | Place::Chunk(left) => {
                    let passed = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
                    bytes = bytes.get(passed..).unwrap_or_default();
                    *left -= passed as u64;
                    match (&self.place, passed) {
                        (Place::Body(0), _) => Some(Place::Head(Vec::new())),
                        (Place::Chunk(0), _) => Some(Place::Size(Vec::new())),
                        _ => None,
                    }
                }
                Place::Head(held) | Place::Size(held) | Place::Trailer(held) => {
                    held.push(*first);
                    bytes = rest;
                    match *first {
                        b'\n' => self.line(),
                        _ => (held.len() > HELD_BYTES_MAX).then_some(Place::Lost),
                    }
                }
            };
            if let Some(next) = next {
                self.place = next;
            }
        }
    }

    /// Returns the place after a line that has ended.
    fn line(&mut self) -> Option<Place> {
        match &mut self.place {
            Place::Head(held) => {
                let is_end = held.ends_with(b"\n\n") || held.ends_with(b"\n\r\n");
                let is_blank = held.iter().all(|it| matches!(it, b'\r' | b'\n'));
                match (is_blank, is_end) {
                    // Lines before a head are skipped.
                    (true, _) => Some(Place::Head(Vec::new())),
                    (false, false) => None,
                    (false, true) => {
                        let (next, is_ambiguous) = after(held);
                        self.announced.push(is_ambiguous);
                        Some(next)
                    }
                }
            }
            Place::Size(held) => {
                let size = std::str::from_utf8(held).ok();
                let size = size.and_then(|line| line.split(';').next()).map(str::trim);
                let size = size.and_then(|size| u64::from_str_radix(size, 16).ok());
                Some(match size {
                    Some(0) => Place::Trailer(Vec::new()),
                    Some(size) => Place::Chunk(size.saturating_add(2)),
                    None => Place::Lost,
                })
            }
            Place::Trailer(held) => match held.as_slice() {
                b"\n" | b"\r\n" => Some(Place::Head(Vec::new())),
                _ => Some(Place::Trailer(Vec::new())),
            },
            _ => None,
        }
    }
}

/// Returns what follows a head, and whether the head announces a body in two ways.
fn after(head: &[u8]) -> (Place, bool) {
    let (mut length, mut is_chunked) = (None, false);
    for line in head.split(|it| *it == b'\n').skip(1) {
        let Some(colon) = line.iter().position(|it| *it == b':') else { continue };
        let (name, value) = line.split_at(colon);
        let name = name.trim_ascii();
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            is_chunked = true;
        } else if name.eq_ignore_ascii_case(b"content-length") {
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            length = Some(std::str::from_utf8(value).ok().and_then(|value| value.parse::<u64>().ok()));
        }
    }
    let next = match (is_chunked, length) {
        (true, _) => Place::Size(Vec::new()),
        (false, None | Some(Some(0))) => Place::Head(Vec::new()),
        (false, Some(Some(length))) => Place::Body(length),
        (false, Some(None)) => Place::Lost,
    };
    (next, is_chunked && length.is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
    const LENGTH: &str = "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\n\r\n\r\n";
    const CHUNKED: &str = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                           4;a=b\r\n\r\n\r\n\r\nA\r\n0123456789\r\n0\r\nx: y\r\n\r\n";
    const BOTH: &str =
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nhost: a\r\ncontent-length: 3\r\n\r\n0\r\n\r\n";
    const BARE: &str = "\r\n\nPOST / HTTP/1.1\ncontent-length:2\n\nab";

    fn passed(parts: &[&[u8]]) -> (Vec<bool>, bool) {
        let announced = Announced::default();
        let mut heads = Heads::new(announced.clone());
        parts.iter().for_each(|part| heads.pass(part));
        let found = announced.0.lock().unwrap().iter().copied().collect();
        (found, heads.is_within_body())
    }

    proptest! {
        /// Whatever is sent one after the other, and wherever it is cut, every head is found.
        #[test]
        fn every_head_is_found(kinds in prop::collection::vec(0..5usize, 1..6), cut in any::<prop::sample::Index>()) {
            let all = [(PLAIN, false), (LENGTH, false), (CHUNKED, false), (BOTH, true), (BARE, false)];
            let text: String = kinds.iter().map(|kind| all[*kind].0).collect();
            let expected: Vec<bool> = kinds.iter().map(|kind| all[*kind].1).collect();
            let (one, other) = text.as_bytes().split_at(cut.index(text.len()));
            prop_assert_eq!(passed(&[one, other]), (expected, false));
        }

        #[test]
        fn any_bytes_are_passed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = passed(&[PLAIN.as_bytes(), &bytes, &bytes]);
        }
    }

    #[test]
    fn a_body_that_lacks_bytes_is_known() {
        let head = |rest: &str| format!("POST / HTTP/1.1\r\n{rest}");
        for (rest, expected) in [
            ("content-length: 3\r\n\r\nab", true),
            ("content-length: 3\r\n\r\nabc", false),
            ("content-length: 3\r\n", false),
            ("transfer-encoding: chunked\r\n\r\n", true),
            ("transfer-encoding: chunked\r\n\r\n3\r\nab", true),
            ("transfer-encoding: chunked\r\n\r\n0\r\n", true),
            ("content-length: x\r\n\r\nab", false),
        ] {
            assert_eq!(passed(&[head(rest).as_bytes()]).1, expected, "{rest}");
        }
    }
}
