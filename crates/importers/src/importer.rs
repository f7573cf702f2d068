//! The interface of an importer.

use std::fmt;

use super::out::Out;
use super::retries::Head;
use super::samples::AddSamples;
use super::{IMPORTERS, Input, Stop};

/// An importer: a tool whose logs or reports can be read, by what they are known, and how they are read.
pub struct Importer {
    /// The name, as it is asked for.
    pub name: &'static str,
    /// The words for a file of it: `an Inspect log`.
    pub words: &'static str,
    /// True if a log has the steps of an agent, so that reasoning traces can be made of it.
    pub has_traces: bool,
    /// True if its scores may be of any scale.
    pub has_scores: bool,
    /// The part that its files have beside other files.
    pub role: Role,
    /// Members of JSON that only its files have: all of one of these lists. A `*` before or after stands for anything.
    pub(super) marks: &'static [&'static [&'static str]],
    /// Returns whether a text other than JSON begins as its files do.
    pub(super) begins: fn(&[u8]) -> bool,
    /// Returns what a log says of its evaluation, beside others of the same task, see [`Retries`](super::Retries).
    pub(super) head: fn(&Input) -> Result<Option<Head>, Stop>,
    /// Reads a file, and hands on its runs.
    pub(super) read: fn(&Input, &mut Out<'_>) -> Result<(), Stop>,
}

/// The part of a file among others that are read together.
#[derive(Debug, Clone, Copy)]
pub enum Role {
    /// It has runs, whatever else is read.
    Runs,
    /// It has matches, for ratings.
    Matches,
    /// It is a trajectory on an instance of SWE-bench, whose verdict a report has.
    Trajectory,
    /// It has the verdicts on trajectories, see [`Verdicts`](super::Verdicts).
    Report,
    /// It has spans, or results of evaluations of those in other files, see [`Evaluations`](super::Evaluations).
    Spans,
    /// It is a trial in a folder, with the trajectory of the same run below it.
    Trial,
    /// It has single samples, or sums over them, see [`Samples`](super::Samples).
    Samples {
        /// The member that a file of sums has.
        sums: &'static str,
        /// Adds the samples of a file.
        add: AddSamples,
    },
}

impl Importer {
    pub(super) const RUNS: Self = Self {
        name: "",
        words: "",
        has_traces: false,
        has_scores: false,
        role: Role::Runs,
        marks: &[],
        begins: |_| false,
        head: |_| Ok(None),
        read: |_, _| Ok(()),
    };

    /// Returns the importer with that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        IMPORTERS.iter().copied().find(|importer| importer.name == name)
    }

    /// Returns whether the items are matches, for ratings; else they are runs.
    pub fn is_matches(&self) -> bool {
        matches!(self.role, Role::Matches)
    }

    /// Returns whether members of JSON, as paths, show a file of it.
    pub(super) fn is_shown_by(&self, paths: &[String]) -> bool {
        let is = |mark: &str, path: &str| match (mark.strip_prefix('*'), mark.strip_suffix('*')) {
            (Some(end), _) => path.ends_with(end),
            (None, Some(start)) => path.starts_with(start),
            (None, None) => path == mark,
        };
        self.marks.iter().any(|marks| marks.iter().all(|mark| paths.iter().any(|path| is(mark, path))))
    }
}

impl PartialEq for Importer {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Importer {}

impl fmt::Debug for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Importer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
