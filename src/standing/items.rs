//! Conversion of rows to the items of a standing.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::{Item, Reading};

use super::events::Events;
use super::refused;
use crate::error::Error;
use crate::rows::parts::spread;
use crate::rows::{MeasuredValue, Row, Rows};

/// Returns the rows as items, with the runners that events name. Values are put in the order of `card`.
pub fn items<'r>(rows: &'r Rows, card: &Scorecard, events: &'r Events) -> Result<Vec<Item<'r>>, Error> {
    let places: Vec<Option<usize>> =
        card.dimensions.iter().map(|dimension| rows.dimension(&dimension.key)).collect();
    let mut used: BTreeSet<(&str, &str)> = BTreeSet::new();
    let runners: BTreeMap<(&str, &str), &str> = events
        .runners
        .iter()
        .map(|run| ((run.subject.as_str(), run.id.as_str()), run.runner.as_str()))
        .collect();
    let item = |row: &'r Row| {
        let subject = rows.subjects.get(row.subject).map_or("", String::as_str);
        let reading = |(dimension, at): (&karat_core::scorecard::Dimension, &Option<usize>)| match at
            .and_then(|at| row.reading(at))
        {
            Some(reading) => match at.and_then(|at| row.measured(at)) {
                Some(MeasuredValue { before, age_seconds }) => {
                    Reading::Measured { reading: before, age_seconds }
                }
                None => Reading::fresh(reading),
            },
            None if row.not_applicable().contains(&dimension.key) => Reading::NotApplicable,
            None => Reading::Missing,
        };
        let id = rows.id(row);
        used.extend(rows.ids(row).map(|id| (subject, id)));
        Item {
            task: rows.task_name(row),
            time_seconds: row.time().map(Timestamp::seconds),
            arrived_seconds: row.arrived().map(Timestamp::seconds),
            outcome: row.outcome,
            score: row.score(),
            cases: row.cases(),
            coverage: row.coverage(),
            readings: card.dimensions.iter().zip(&places).map(reading).collect(),
            gates: row.gates().iter().map(String::as_str).collect(),
            runner: rows.ids(row).find_map(|id| runners.get(&(subject, id)).copied()),
            ..Item::new(subject, id, row.digest)
        }
    };
    let spread = rows
        .rows
        .iter()
        .filter(|row| row.is_spread())
        .map(|row| spread(&rows.place(row), rows.subject_name(row.subject)));
    let spread: Vec<String> = spread.collect();
    if !spread.is_empty() {
        return Err(refused(&spread));
    }
    let items = rows.rows.iter().map(item).collect();
    let strays: Vec<String> = events
        .runners
        .iter()
        .filter(|run| !used.contains(&(run.subject.as_str(), run.id.as_str())))
        .map(|run| format!("{}: `{}` has no item `{}`", run.place, run.subject, run.id))
        .collect();
    if strays.is_empty() { Ok(items) } else { Err(refused(&strays)) }
}
