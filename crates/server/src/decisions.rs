//! Decisions and other events about subjects, read from the log.

use std::collections::HashMap;

use karat::standing::events::{self, Events};
use karat_store::port::Order;
use karat_store::{Item, Kind, Reader, Term};

use crate::ids;
use crate::problem::Problem;
use crate::rows::unanswerable;

/// The decisions and other events about subjects under one scorecard: lines as in a file of events, each with its subject.
#[derive(Debug, Default)]
pub(crate) struct Decisions(Vec<(String, String)>);

impl Decisions {
    /// Reads the decisions about one subject or all under the scorecard `card`, up to the log size `size`.
    pub(crate) fn read(
        reader: &mut Reader,
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
        Ok(Self(own.map(line).collect()))
    }

    /// Returns the number of decisions about each subject.
    pub(crate) fn counts(&self) -> HashMap<&str, usize> {
        let mut counts = HashMap::new();
        self.0.iter().for_each(|(subject, _)| *counts.entry(subject.as_str()).or_default() += 1);
        counts
    }

    /// Returns the events about the subjects that `is_wanted`, and after them the line `proposed`.
    pub(crate) fn events(
        &self,
        is_wanted: impl Fn(&str) -> bool,
        proposed: Option<&str>,
    ) -> Result<Events, Problem> {
        let own = self.0.iter().filter(|(subject, _)| is_wanted(subject)).map(|(_, line)| line.as_str());
        let lines: Vec<&str> = own.chain(proposed).collect();
        if lines.is_empty() {
            return Ok(Events::default());
        }
        events::read("reviews", &lines.join("\n")).map_err(|failure| unanswerable(&failure))
    }
}
