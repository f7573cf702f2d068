//! Requests of bounded size, cut from a stream of items.
//!
//! The server names a line without an id by the key of the request and the number of the line. So that such an item has the
//! name that it has here, `runs.csv:17`, it has the same line in the request, behind empty lines, which count for nothing.

use karat::error::Place;

/// Most bytes and items of a request; a server takes 64 MiB and 100,000 lines.
const BYTES_MAX: usize = 4 << 20;
const ITEMS_MAX: usize = 5000;
/// The last line that an item can have.
const LINE_MAX: u64 = 90_000;

/// The media types that a server reads.
const LINES: &str = "application/x-ndjson";
const ONE: &str = "application/json";

/// A request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Parcel {
    /// The body.
    pub body: Vec<u8>,
    /// The name for what has none.
    pub key: Option<String>,
    /// The places of the items, each with its line in the body.
    pub places: Vec<(u64, String)>,
    /// True for a single item that is sent by itself.
    pub is_one: bool,
    /// The lines of the body.
    pub lines: u64,
}

impl Parcel {
    /// Returns the media type.
    pub fn media(&self) -> &'static str {
        if self.is_one { ONE } else { LINES }
    }
}

/// A request that is being filled.
#[derive(Debug, Default)]
pub struct Packer {
    open: Parcel,
}

impl Packer {
    /// Adds an item, and returns the requests that are complete. `name` is the file that names an item without an id; none
    /// for an item with one.
    pub fn add(&mut self, place: &Place, name: Option<&str>, item: &[u8]) -> Vec<Parcel> {
        let shown = place.to_string();
        let Some(name) = name else {
            let full = if self.open.key.is_none() { None } else { self.take() };
            return full.into_iter().chain(self.put(self.open.lines + 1, item, shown)).collect();
        };
        let line = place.line.filter(|line| *line <= LINE_MAX && place.nth == 1);
        let Some(line) = line else {
            let named = Place { file: name.to_owned(), ..place.clone() };
            let (body, key) = (item.to_vec(), Some(named.name()));
            let one = Parcel { body, key, places: vec![(1, shown)], is_one: true, lines: 1 };
            return self.take().into_iter().chain([one]).collect();
        };
        let fits = self.open.key.as_deref() == Some(name) && self.open.lines < line;
        let full = if fits { None } else { self.take() };
        self.open.key = Some(name.to_owned());
        full.into_iter().chain(self.put(line, item, shown)).collect()
    }

    /// Returns what is left.
    pub fn take(&mut self) -> Option<Parcel> {
        let parcel = std::mem::take(&mut self.open);
        (!parcel.places.is_empty()).then_some(parcel)
    }

    fn put(&mut self, line: u64, item: &[u8], shown: String) -> Option<Parcel> {
        while self.open.lines + 1 < line {
            self.open.body.push(b'\n');
            self.open.lines += 1;
        }
        // An item that was written over several lines is one line here: its strings have no line ends of themselves.
        self.open
            .body
            .extend(item.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }));
        self.open.body.push(b'\n');
        self.open.lines += 1;
        self.open.places.push((line, shown));
        let is_full = self.open.body.len() >= BYTES_MAX || self.open.places.len() >= ITEMS_MAX;
        if is_full { self.take() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(file: &str, line: u64, nth: u64) -> Place {
        Place { file: file.to_owned(), line: Some(line), nth, is_row: false }
    }

    /// Returns the names that a server gives: one for each line that is not empty.
    fn names(parcel: &Parcel) -> Vec<(Option<String>, Vec<u8>)> {
        if parcel.is_one {
            return vec![(parcel.key.clone(), parcel.body.clone())];
        }
        let lines = parcel.body.split(|byte| *byte == b'\n').zip(1u64..).filter(|(line, _)| !line.is_empty());
        lines
            .map(|(line, number)| (parcel.key.as_ref().map(|key| format!("{key}:{number}")), line.to_vec()))
            .collect()
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_every_item_has_the_name_of_its_place(
            items in prop::collection::vec((0..2usize, 1..100_000u64, 1..3u64, any::<bool>()), 1..60)
        ) {
            let mut packer = Packer::default();
            let (mut sent, mut expected) = (Vec::new(), Vec::new());
            for (file, line, nth, has_id) in items {
                let file = ["a.csv", "b.csv"][file];
                let place = place(file, line, nth);
                let body = format!("{{\"n\": \"{}\"}}", place.name()).into_bytes();
                expected.push(((!has_id).then(|| place.name()), body.clone()));
                sent.extend(packer.add(&place, (!has_id).then_some(file), &body));
            }
            sent.extend(packer.take());
            let mut found = Vec::new();
            for parcel in &sent {
                prop_assert_eq!(parcel.places.len(), names(parcel).len());
                // What stands beside an item with an id gets no name.
                for ((line, place), (name, body)) in parcel.places.iter().zip(names(parcel)) {
                    prop_assert!(*line >= 1 && String::from_utf8(body.clone()).unwrap().contains(place.as_str()));
                    found.push((name, body));
                }
                prop_assert!(parcel.lines < 100_000);
            }
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_request_is_bounded() {
        let mut packer = Packer::default();
        let item = vec![b'x'; 1 << 20];
        let sizes: Vec<usize> = (1..=9)
            .flat_map(|line| packer.add(&place("a", line, 1), None, &item))
            .map(|parcel| parcel.places.len())
            .collect();
        assert_eq!(sizes, [4, 4]);
        assert_eq!(packer.take().map(|parcel| parcel.places.len()), Some(1));
        let full = (1..=5000).flat_map(|line| packer.add(&place("a", line, 1), None, b"{}")).count();
        assert_eq!((full, packer.take()), (1, None));
    }
}
