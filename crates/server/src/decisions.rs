//! Decisions and other events about subjects and weights, from the log.

use std::collections::HashMap;

use karat::standing::events::{self, Events};
use karat_store::Term;
use karat_store::port::Order;

use crate::basics::*;
use crate::ids;
use crate::memory::Memory;
use crate::problem::Problem;
use crate::rows::unanswerable;

/// The decisions and other events under one scorecard: lines as in a file of events.
#[derive(Debug, Default)]
pub(crate) struct Decisions {
    /// Those about subjects, each with its subject.
    of_subjects: Vec<(String, String)>,
    of_weights: Vec<String>,
}

impl Decisions {
    /// Reads the decisions about one subject or all, and those about weights, under the scorecard `card`, up to the log
    /// size `size`.
    pub(crate) fn read(
        reader: &mut Reader,
        memory: &Memory,
        card: &str,
        subject: Option<&str>,
        size: u64,
    ) -> Result<Self, Problem> {
        let term = match subject {
            Some(subject) => Term::subject(Kind::Review, subject),
            None => Term::kind(Kind::Review),
        };
        let own = format!("{}/", ids::part(card));
        let found = reader.list(term, 0..size, Order::Oldest, usize::MAX)?;
        let own = found.into_iter().filter(|item| item.entry.id.starts_with(&own));
        let line = |item: Item| {
            let line = String::from_utf8_lossy(&item.content).into_owned();
            (item.entry.subject.unwrap_or_default(), line)
        };
        let of_weights = memory.weights().lines(card, size);
        Ok(Self { of_subjects: own.map(line).collect(), of_weights })
    }

    /// Returns the number of decisions about each subject.
    pub(crate) fn counts(&self) -> HashMap<&str, usize> {
        let mut counts = HashMap::new();
        self.of_subjects.iter().for_each(|(subject, _)| *counts.entry(subject.as_str()).or_default() += 1);
        counts
    }

    /// Returns the number of events about weights.
    pub(crate) fn weights(&self) -> usize {
        self.of_weights.len()
    }

    /// Returns the events about the subjects that `is_wanted` and about weights, and after them the line `proposed`.
    pub(crate) fn events(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        proposed: Option<&str>,
    ) -> Result<Events, Problem> {
        let own =
            self.of_subjects.iter().filter(|(subject, _)| is_wanted(subject)).map(|(_, line)| line.as_str());
        let of_weights = self.of_weights.iter().map(String::as_str);
        let lines: Vec<&str> = own.chain(of_weights).chain(proposed).collect();
        if lines.is_empty() {
            return Ok(Events::default());
        }
        events::read_stored("reviews", &lines.join("\n")).map_err(|failure| unanswerable(&failure))
    }
}
