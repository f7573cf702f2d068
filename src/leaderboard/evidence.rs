//! The evidence of a leaderboard: items, or sums of items that another engine added up.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::scorecard::Scale;
use karat_stats::StatisticsError;
use karat_stats::cases::{CaseResult, Cases};
use karat_stats::outcome::{Policy, Run, RunSum};
use karat_stats::table::{Observation, TaskSum};
use karat_stats::trials::StopsAt;

use super::attempts::{self, AttemptsOf};
use super::{By, NO_ATTEMPTS, Settings, bounds, cases_of_dimension, is_measured, reading, run};
use crate::rows::gaps::gaps;
use crate::rows::{Row, Rows};

/// The names of what is ranked.
pub trait Named {
    /// Returns the subjects, in order of their names.
    fn subjects(&self) -> &[String];
    /// Returns key and label of all dimensions and groups.
    fn dimensions(&self) -> &[(String, String)];
    /// Returns the scale of all scorecards.
    fn scale(&self) -> Scale;
    /// Returns what is lacking, in sentences.
    fn gaps(&self) -> Vec<String>;

    /// Returns the name of the subject with this index; empty if there is no such subject.
    fn subject_name(&self, at: usize) -> &str {
        self.subjects().get(at).map_or("", String::as_str)
    }

    /// Returns the fact that is ranked, if one was chosen.
    fn fact(&self) -> Option<&str> {
        None
    }

    /// Returns the index of a dimension or group.
    fn dimension(&self, key: &str) -> Option<usize> {
        self.dimensions().iter().position(|(known, _)| known == key)
    }
}

impl Named for Rows {
    fn subjects(&self) -> &[String] {
        &self.subjects
    }

    fn dimensions(&self) -> &[(String, String)] {
        &self.dimensions
    }

    fn scale(&self) -> Scale {
        self.scale
    }

    fn gaps(&self) -> Vec<String> {
        gaps(self)
    }

    fn subject_name(&self, at: usize) -> &str {
        Self::subject_name(self, at)
    }

    fn fact(&self) -> Option<&str> {
        self.ranked_fact().map(|fact| fact.name.as_str())
    }
}

/// The results that are ranked. What sums do not have is empty unless an implementation says otherwise.
pub(crate) trait Evidence {
    /// The names of subjects and dimensions.
    type Names: Named;

    /// Returns the names.
    fn names(&self) -> &Self::Names;
    /// Returns the number of items of each subject.
    fn items(&self) -> Vec<usize>;
    /// Returns the runs that have a value to rank by.
    fn runs(&self, by: By) -> impl Iterator<Item = RunSum> + Clone;
    /// Returns the values of a dimension that count.
    fn values(&self, dimension: usize, policy: Policy) -> impl Iterator<Item = TaskSum> + Clone;
    /// Returns the number by which comparisons turn a task, from its name alone.
    fn key(&self, task: usize) -> u64;
    /// Returns the subjects all of whose results that count are means over cases.
    fn cases(&self, _settings: &Settings) -> Cases {
        Cases::default()
    }

    /// Does the same for a dimension.
    fn cases_of(&self, _dimension: usize, _policy: Policy) -> Cases {
        Cases::default()
    }

    /// Returns the bounds of the subjects that are wanted.
    fn bounds(&self, _settings: &Settings, _wanted: &BTreeSet<usize>) -> BTreeMap<usize, (f64, f64)> {
        BTreeMap::new()
    }

    /// Returns the subjects whose attempts stop at a result.
    fn stopping(&self, _settings: &Settings) -> BTreeMap<usize, StopsAt> {
        BTreeMap::new()
    }

    /// Returns the chances of repeated attempts of the subjects that are ranked, if they are asked for.
    ///
    /// # Errors
    /// If there is no attempt.
    fn attempts(
        &self,
        _settings: &Settings,
        _stopping: &BTreeMap<usize, StopsAt>,
        _is_ranked: impl Fn(usize) -> bool,
    ) -> Result<Vec<AttemptsOf>, StatisticsError> {
        Ok(Vec::new())
    }
}

/// Some of the items of `rows`, by their indices.
pub(crate) struct Items<'r> {
    /// All items.
    pub rows: &'r Rows,
    /// The indices.
    pub items: &'r [usize],
}

impl<'r> Items<'r> {
    /// Returns the items with their tasks. There may be millions, so they are looked at where they are.
    fn taken(&self) -> impl Iterator<Item = (&'r Row, usize)> + Clone {
        let rows = self.rows;
        self.items.iter().filter_map(|&at| Some((rows.rows.get(at)?, *rows.tasks.of_rows.get(at)?)))
    }

    /// Returns the runs that have a value to rank by, each with its cases.
    fn measured(&self, by: By) -> impl Iterator<Item = (Run, Option<u64>)> + Clone {
        let measured = self.taken().filter(move |(row, _)| is_measured(row, by));
        measured.map(move |(row, task)| (run(row, task, by), row.cases()))
    }
}

impl Evidence for Items<'_> {
    type Names = Rows;

    fn names(&self) -> &Rows {
        self.rows
    }

    fn items(&self) -> Vec<usize> {
        let mut counts = vec![0; self.rows.subjects.len()];
        self.taken().for_each(|(row, _)| counts.iter_mut().skip(row.subject).take(1).for_each(|it| *it += 1));
        counts
    }

    fn runs(&self, by: By) -> impl Iterator<Item = RunSum> + Clone {
        self.measured(by).map(|(run, _)| run.into())
    }

    fn values(&self, dimension: usize, policy: Policy) -> impl Iterator<Item = TaskSum> + Clone {
        self.taken().filter_map(move |(row, task)| {
            let value = reading(row, dimension, policy)?;
            Some(Observation { subject: row.subject, task, value }.into())
        })
    }

    fn key(&self, task: usize) -> u64 {
        self.rows.tasks.key(task)
    }

    fn cases(&self, settings: &Settings) -> Cases {
        let Settings { by, policy, .. } = *settings;
        let result = |(run, cases): (Run, Option<u64>)| {
            Some(CaseResult { subject: run.subject, task: run.task, value: run.value(policy)?, cases })
        };
        Cases::new(self.measured(by).filter_map(result))
    }

    fn cases_of(&self, dimension: usize, policy: Policy) -> Cases {
        cases_of_dimension(self.taken(), dimension, policy)
    }

    fn bounds(&self, settings: &Settings, wanted: &BTreeSet<usize>) -> BTreeMap<usize, (f64, f64)> {
        bounds(self.taken(), settings, |subject| wanted.contains(&subject))
    }

    fn stopping(&self, settings: &Settings) -> BTreeMap<usize, StopsAt> {
        attempts::stopping(self.rows, self.items, settings)
    }

    fn attempts(
        &self,
        settings: &Settings,
        stopping: &BTreeMap<usize, StopsAt>,
        is_ranked: impl Fn(usize) -> bool,
    ) -> Result<Vec<AttemptsOf>, StatisticsError> {
        let Some(wanted) = settings.attempts else { return Ok(Vec::new()) };
        // A mean over cases does not count as an attempt.
        let single = self.measured(settings.by).filter(|(_, cases)| cases.is_none());
        let attempts: Vec<Run> = single.map(|(run, _)| run).filter(|run| is_ranked(run.subject)).collect();
        if attempts.is_empty() {
            return Err(NO_ATTEMPTS);
        }
        attempts::of(self.rows.subjects.len(), &attempts, wanted, stopping, settings)
    }
}
