//! The scales of scores: the range of all values of a score decides whether each is a share of a task.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::{Importer, Input, Item, Options, once};

/// Most bytes of items that are held back until the range of their scores is known.
const HELD_MAX: usize = 32 << 20;

/// The ranges of scores in logs, by tool and name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scales(BTreeMap<&'static str, BTreeMap<String, (f64, f64)>>);

impl Scales {
    /// Adds the scores of a log that is read together with others. What cannot be read is reported when it is imported.
    pub fn add(&mut self, input: &Input, importer: &'static Importer, options: &Options) {
        let Ok(digest) = input.digest() else { return };
        let take = &mut |_: Item<'_>| ControlFlow::Continue(());
        let (_, seen) = once(input, digest, importer, options, &Self::default(), take);
        for (tool, scores) in seen.0 {
            for (name, (low, high)) in scores {
                self.see(tool, &name, low);
                self.see(tool, &name, high);
            }
        }
    }

    pub(super) fn see(&mut self, tool: &'static str, name: &str, value: f64) {
        let scores = self.0.entry(tool).or_default();
        match scores.get_mut(name) {
            Some((low, high)) => (*low, *high) = (low.min(value), high.max(value)),
            None => drop(scores.insert(name.to_owned(), (value, value))),
        }
    }

    /// Returns the range of a score that is of another scale than 0 to 1.
    pub(super) fn other(&self, tool: &str, name: &str) -> Option<(f64, f64)> {
        self.0.get(tool)?.get(name).copied().filter(is_other)
    }

    /// Returns the names of the scores.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.values().flat_map(|scores| scores.keys().map(String::as_str))
    }

    /// Returns whether a score is of another scale than 0 to 1.
    pub(super) fn has_other(&self) -> bool {
        self.0.values().flat_map(BTreeMap::values).any(is_other)
    }
}

fn is_other((low, high): &(f64, f64)) -> bool {
    *low < 0.0 || *high > 1.0
}

/// Returns the usual scale that a range fits into, else the range itself.
pub(super) fn fitting((low, high): (f64, f64)) -> (f64, f64) {
    const USUAL: [(f64, f64); 5] = [(-1.0, 1.0), (1.0, 5.0), (0.0, 5.0), (0.0, 10.0), (0.0, 100.0)];
    USUAL.into_iter().find(|(least, most)| *least <= low && high <= *most).unwrap_or((low, high))
}

/// The items of a log that are held back, unless they are too many.
#[derive(Default)]
pub(super) struct Held {
    text: Vec<u8>,
    /// The ends of the place and of the JSON of each.
    ends: Vec<(usize, usize)>,
    pub is_cut: bool,
}

impl Held {
    pub(super) fn add(&mut self, item: &Item<'_>) {
        self.is_cut |= self.text.len() + item.place.len() + item.json.len() > HELD_MAX;
        if self.is_cut {
            return *self = Self { is_cut: true, ..Self::default() };
        }
        self.text.extend_from_slice(item.place.as_bytes());
        let place = self.text.len();
        self.text.extend_from_slice(item.json);
        self.ends.push((place, self.text.len()));
    }

    /// Hands all on, until `take` breaks off.
    pub(super) fn hand_on(&self, take: &mut dyn FnMut(Item<'_>) -> ControlFlow<()>) {
        let mut start = 0;
        for (place, end) in &self.ends {
            let text = |from: usize, to: usize| self.text.get(from..to).unwrap_or_default();
            let item = Item {
                place: std::str::from_utf8(text(start, *place)).unwrap_or_default(),
                json: text(*place, *end),
            };
            if take(item).is_break() {
                return;
            }
            start = *end;
        }
    }
}
