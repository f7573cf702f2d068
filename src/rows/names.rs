//! The names of items: ids, places and tasks of millions, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

use super::{ALL_CASES, NO_TASK, Row};
use crate::card::CompiledCard;
use crate::error::Place;

/// Names that come again and again, by the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub(super) struct Interned {
    names: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
    last: u32,
}

impl Interned {
    /// Returns the index of a name.
    pub(super) fn index(&mut self, name: &str) -> u32 {
        // Items of one subject or task often come together.
        if self.get(self.last) == Some(name) {
            return self.last;
        }
        self.last = match self.places.get(name) {
            Some(known) => *known,
            None => {
                let (name, next) = (Arc::<str>::from(name), self.names.len() as u32);
                self.names.push(Arc::clone(&name));
                self.places.insert(name, next);
                next
            }
        };
        self.last
    }

    pub(super) fn get(&self, index: u32) -> Option<&str> {
        self.names.get(index as usize).map(|name| &**name)
    }

    pub(super) fn all(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }
}

/// The names of all items; those of one are found by its order of arrival.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// All ids, one after the other, and where each ends.
    ids: String,
    id_ends: Vec<usize>,
    /// Each place as a text and the number after it.
    places: Vec<(u32, u32)>,
    heads: Interned,
    pub(super) tasks: Interned,
}

/// The number of a place that has none.
const NO_NUMBER: u32 = u32::MAX;

impl Names {
    /// Adds an item at a line of a file; returns its place in the order of arrival.
    pub(super) fn add(&mut self, id: &str, place: &Place) -> u32 {
        let known =
            self.heads.get(self.heads.last).filter(|head| head.strip_suffix(':') == Some(&place.file));
        let line = place.line.filter(|_| place.nth == 1);
        let number = line.and_then(|line| u32::try_from(line).ok()).filter(|it| *it != NO_NUMBER);
        let spot = match (known, number) {
            (Some(_), Some(number)) => (self.heads.last, number),
            (None, Some(number)) => (self.heads.index(&format!("{}:", place.file)), number),
            (_, None) => (self.heads.index(&place.to_string()), NO_NUMBER),
        };
        self.push(id, spot)
    }

    /// Adds an item at a place with that name.
    pub(super) fn add_named(&mut self, id: &str, place: &str) -> u32 {
        let spot = (self.heads.index(place), NO_NUMBER);
        self.push(id, spot)
    }

    /// Adds an item at a place that ends with a number.
    pub(super) fn add_numbered(&mut self, id: &str, head: &str, number: u64) -> u32 {
        let spot = match u32::try_from(number) {
            Ok(number) if number != NO_NUMBER => (self.heads.index(head), number),
            _ => (self.heads.index(&format!("{head}{number}")), NO_NUMBER),
        };
        self.push(id, spot)
    }

    fn push(&mut self, id: &str, spot: (u32, u32)) -> u32 {
        self.ids.push_str(id);
        self.id_ends.push(self.ids.len());
        self.places.push(spot);
        (self.places.len() - 1) as u32
    }

    /// Returns the number of items.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn id_at(&self, arrival: usize) -> &str {
        let start = arrival.checked_sub(1).and_then(|before| self.id_ends.get(before)).copied();
        let end = self.id_ends.get(arrival).copied();
        end.and_then(|end| self.ids.get(start.unwrap_or_default()..end)).unwrap_or_default()
    }

    pub(super) fn id(&self, row: &Row) -> &str {
        self.id_at(row.arrival as usize)
    }

    pub(super) fn task(&self, row: &Row) -> Option<&str> {
        if row.task == NO_TASK { None } else { self.tasks.get(row.task) }
    }

    pub(super) fn place(&self, row: &Row) -> String {
        let Some(&(head, number)) = self.places.get(row.arrival as usize) else { return String::new() };
        let head = self.heads.get(head).unwrap_or_default();
        if number == NO_NUMBER { head.to_owned() } else { format!("{head}{number}") }
    }

    /// Returns the file of an item and its line; without one the place is all there is.
    pub(super) fn file_and_line(&self, row: &Row) -> (&str, Option<u64>) {
        let Some(&(head, number)) = self.places.get(row.arrival as usize) else { return ("", None) };
        let head = self.heads.get(head).unwrap_or_default();
        match head.strip_suffix(':') {
            Some(file) if number != NO_NUMBER => (file, Some(number.into())),
            _ => (head, (number != NO_NUMBER).then_some(number.into())),
        }
    }

    pub(super) fn task_name<'r>(&'r self, row: &Row, scorers: &'r [Arc<CompiledCard>]) -> &'r str {
        let challenge = || {
            let card = scorers.get(row.scorer()).map(|card| card.card()).filter(|card| card.base.is_some());
            card.map(|card| card.id.as_str())
        };
        let all_cases = || row.cases().map(|_| ALL_CASES);
        self.task(row).or_else(challenge).or_else(all_cases).unwrap_or_else(|| self.id(row))
    }
}
