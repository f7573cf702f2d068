//! Logs of Inspect that are tries at one task: a later one has again what an earlier one finished.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;

use super::{Input, inspect};

/// The newest log of each task, among files that are read together.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Retries {
    /// The moment and name of the newest log, by the id that Inspect gives a task and its tries.
    newest: BTreeMap<String, (Timestamp, String)>,
}

impl Retries {
    /// Adds a log. One that cannot be read is reported when it is imported.
    pub fn add(&mut self, input: &Input) {
        let Ok(Some((task, created))) = inspect::task_id(input) else { return };
        let (newest, name) = self.newest.entry(task).or_insert_with(|| (created, input.name().to_owned()));
        if created > *newest {
            (*newest, *name) = (created, input.name().to_owned());
        }
    }

    /// Returns the later log of the same task, if there is one. Of two of the same moment neither is later.
    pub(super) fn later(&self, task: &str, created: Timestamp) -> Option<&str> {
        let (newest, name) = self.newest.get(task)?;
        (*newest > created).then_some(name)
    }
}
