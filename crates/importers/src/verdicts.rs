//! The verdicts of reports of SWE-bench on trajectories: which report is about which run, and what no run took.
//!
//! A trajectory takes a verdict of a report on its instance if both name the same model, or if one of them names none, which
//! is then said. Each verdict is taken once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use karat_core::facts::Outcome;

use super::swe_bench::{instances, is_single};
use super::{Fault, ImportError, Input, Stop};

/// Most names of instances that a note lists.
const LISTED: usize = 10;

/// The verdicts of reports on instances, for trajectories: that something was submitted does not say that it solves the task.
#[derive(Debug, Default)]
pub struct Verdicts {
    reports: Vec<Report>,
    taken: Mutex<Taken>,
}

/// A report, or all reports on single instances of one run.
#[derive(Debug)]
struct Report {
    name: String,
    /// The models that its name may mean; none if it names none.
    models: Vec<Model>,
    by: BTreeMap<String, Outcome>,
}

/// The verdicts that trajectories took.
#[derive(Debug, Default)]
struct Taken {
    /// The trajectory that took a verdict of the report at that place.
    by: BTreeMap<(usize, String), String>,
    /// The models of the trajectories that took verdicts of a report without proof that they are meant; none of one that
    /// names no model.
    unproven: BTreeMap<usize, BTreeMap<Option<String>, u64>>,
    /// The subjects whose trajectories took verdicts of a report.
    subjects: BTreeMap<usize, BTreeSet<String>>,
    /// The models of trajectories on instances of a report about a different model.
    others: BTreeMap<usize, BTreeSet<String>>,
}

/// A name of a model: as it is written, and its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    text: String,
    parts: Vec<String>,
}

/// A trajectory that asks for its verdict.
pub(super) struct Run<'a> {
    /// The names that its instance may have.
    pub names: Vec<&'a str>,
    pub subject: &'a str,
    pub models: Vec<String>,
    pub input: &'a Input,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    Proven,
    Unproven,
    Another,
}

impl Model {
    fn new(text: &str) -> Self {
        let plain = text.to_lowercase().replace(['/', '\\'], "__").replace("--", "__");
        let parts = plain.split("__").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Self { text: text.to_owned(), parts }
    }

    /// Returns whether both may be one: programs write `a/b` as `a__b`, leave the provider out, and put settings around it.
    fn is(&self, report: &Self) -> bool {
        let (own, other) = (&self.parts, &report.parts);
        if own.is_empty() || other.is_empty() {
            return false;
        }
        other.windows(own.len()).any(|part| part == own) || own.ends_with(other)
    }
}

/// Returns the models that the name of a report, `MODEL.RUN`, may mean: both may have dots in them. A point between digits is
/// part of a version, if there are more points.
fn models(stem: &str) -> Vec<Model> {
    // The service calls its reports by the benchmark and the run.
    if stem.starts_with("swe-bench") && stem.matches("__").count() > 1 {
        return Vec::new();
    }
    let ends: Vec<usize> = stem.match_indices('.').map(|(at, _)| at).collect();
    let is_digit =
        |at: Option<usize>| at.and_then(|at| stem.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    let is_version = |at: &usize| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
    let sure: Vec<usize> = ends.iter().copied().filter(|at| !is_version(at)).collect();
    let ends = if sure.is_empty() { ends } else { sure };
    ends.into_iter().filter_map(|at| stem.get(..at)).filter(|name| !name.is_empty()).map(Model::new).collect()
}

/// Returns the name for all reports on single instances of one run.
fn of_one(input: &Input) -> String {
    let folders = input.name().rsplitn(3, ['/', '\\']).nth(2).unwrap_or_default();
    format!("{folders}/*/report.json")
}

impl Report {
    fn of(&self, run: &Run<'_>) -> Match {
        if self.models.is_empty() {
            return Match::Unproven;
        }
        let folders = run.input.name().rsplit_once(['/', '\\']).map_or("", |(folders, _)| folders);
        let folders = folders.split(['/', '\\']).map(Model::new);
        let stated: Vec<Model> = run.models.iter().map(|name| Model::new(name)).collect();
        // A folder of runs is called as the predictions in it are, word for word.
        let is_folder =
            folders.into_iter().any(|folder| self.models.iter().any(|it| it.parts == folder.parts));
        if is_folder || stated.iter().any(|own| self.models.iter().any(|it| own.is(it))) {
            Match::Proven
        } else if stated.is_empty() {
            Match::Unproven
        } else {
            Match::Another
        }
    }
}

impl Verdicts {
    /// Adds those of a report.
    ///
    /// # Errors
    /// If it cannot be read, or has another verdict on an instance than a report before on the same run.
    pub fn add(&mut self, input: &Input) -> Result<(), ImportError> {
        let (found, total) = match instances(input) {
            Ok(found) => found,
            Err(Stop::Fault(fault)) => return Err(fault.of(input)),
            Err(Stop::Enough) => return Ok(()),
        };
        // It lies in the folder of its instance, in that of its model.
        let is_one = is_single(input, total) && found.keys().map(String::as_str).eq(input.folder());
        let name = if is_one { of_one(input) } else { input.name().to_owned() };
        let known = self.reports.iter().position(|report| is_one && report.name == name);
        let at = known.unwrap_or_else(|| {
            let above = || input.folder_above().map(Model::new).into_iter().collect();
            let models = if is_one { above() } else { models(input.stem()) };
            self.reports.push(Report { name, models, by: BTreeMap::new() });
            self.reports.len() - 1
        });
        let Some(report) = self.reports.get_mut(at) else { return Ok(()) };
        for (id, (outcome, place)) in found {
            if let Some(before) = report.by.insert(id.clone(), outcome)
                && before != outcome
            {
                let found =
                    format!("`{id}` as {}, and as {} in a report before", outcome.name(), before.name());
                let fault = Fault::new(place, found, "one verdict on each instance");
                return Err(fault.hint("import the runs of each report apart").of(input));
            }
        }
        Ok(())
    }

    /// Takes the verdict on a trajectory; none if no report has one on it.
    pub(super) fn take(&self, run: &Run<'_>) -> Result<Option<Outcome>, Stop> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        for name in &run.names {
            let mut of: BTreeMap<bool, Vec<(usize, &Report, Outcome)>> = BTreeMap::new();
            for (at, report) in self.reports.iter().enumerate() {
                let Some(outcome) = report.by.get(*name).copied() else { continue };
                match report.of(run) {
                    Match::Another => taken.others.entry(at).or_default().extend(run.models.first().cloned()),
                    found => of.entry(found == Match::Proven).or_default().push((at, report, outcome)),
                }
            }
            // The last is of those that are proven, if there are any.
            let Some((is_proven, found)) = of.pop_last() else { continue };
            let Some((_, first, outcome)) = found.first().copied() else { continue };
            if let Some((_, report, other)) = found.iter().find(|(_, _, other)| *other != outcome) {
                let found = format!(
                    "`{name}` as {} in `{}`, and as {} in `{}`",
                    outcome.name(),
                    first.name,
                    other.name(),
                    report.name
                );
                let fault = Fault::new("$.info", found, "one verdict on each instance");
                return Err(fault.hint("import the runs of each report apart").into());
            }
            for (at, report, _) in found {
                taken.once(at, report, name, run)?;
                taken.subjects.entry(at).or_default().insert(run.subject.to_owned());
                if !is_proven {
                    taken.unproven(at, report, run)?;
                }
            }
            return Ok(Some(outcome));
        }
        Ok(None)
    }

    /// Returns the subject that a report is about, and the instances whose verdicts its trajectories took, once all were read; none
    /// if trajectories of several subjects took some, or none did.
    pub(super) fn taken(&self, input: &Input) -> Option<(String, BTreeSet<String>)> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let names = [input.name().to_owned(), of_one(input)];
        let at = self.reports.iter().position(|report| names.contains(&report.name))?;
        let own = taken.by.keys().filter(|(report, _)| *report == at).map(|(_, id)| id.clone());
        Some((taken.subject(at)?.to_owned(), own.collect()))
    }

    /// Returns the names of the reports whose verdicts were taken.
    pub fn used(&self) -> Vec<String> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let used: BTreeSet<usize> = taken.by.keys().map(|(at, _)| *at).collect();
        used.into_iter().filter_map(|at| self.reports.get(at)).map(|report| report.name.clone()).collect()
    }

    /// Returns what there is to know about the join, once all trajectories were read.
    pub fn notes(&self) -> Vec<String> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notes = Vec::new();
        for (at, report) in self.reports.iter().enumerate() {
            notes.extend(
                taken
                    .unproven
                    .get(&at)
                    .into_iter()
                    .flatten()
                    .map(|(model, count)| report.unproven(model.as_deref(), *count)),
            );
            notes.extend(
                report.unused(&|id| taken.by.contains_key(&(at, id.to_owned())), taken.others.get(&at)).map(
                    |note| match taken.subject(at) {
                        Some(subject) => format!("{note}; they count as runs of `{subject}`"),
                        None => note,
                    },
                ),
            );
        }
        notes
    }
}

impl Taken {
    /// Returns the only subject whose trajectories took verdicts of a report.
    fn subject(&self, at: usize) -> Option<&str> {
        let subjects = self.subjects.get(&at)?;
        subjects.first().filter(|_| subjects.len() == 1).map(String::as_str)
    }

    /// Takes a verdict, if no other trajectory has it.
    fn once(&mut self, at: usize, report: &Report, name: &str, run: &Run<'_>) -> Result<(), Stop> {
        let own = run.input.name();
        let before = self.by.entry((at, name.to_owned())).or_insert_with(|| own.to_owned());
        if before == own {
            return Ok(());
        }
        let found =
            format!("another run of `{name}` than `{before}`, while `{}` has one verdict", report.name);
        let fault = Fault::new("$.info", found, "one trajectory for each verdict");
        Err(fault.hint("import the runs of each report apart").into())
    }

    /// Notes that it is not proven that a report means this run; it cannot mean those of two models.
    fn unproven(&mut self, at: usize, report: &Report, run: &Run<'_>) -> Result<(), Stop> {
        let models = self.unproven.entry(at).or_default();
        let own = run.models.first().cloned();
        *models.entry(own.clone()).or_default() += 1;
        let mut named = models.keys().flatten().filter(|name| Some(*name) != own.as_ref());
        let (Some(own), Some(other)) = (&own, named.next()) else { return Ok(()) };
        let found = format!(
            "a trajectory of `{own}` beside one of `{other}`, and `{}` does not name the model that it is about",
            report.name
        );
        let fault = Fault::new("$.info", found, "trajectories of one model");
        Err(fault.hint("call the report MODEL.RUN.json, or import the runs of each report apart").into())
    }
}

impl Report {
    fn unproven(&self, model: Option<&str>, count: u64) -> String {
        let (name, of) = (&self.name, self.models.last().map(|model| &model.text));
        let trajectories = if count == 1 { "1 trajectory" } else { &format!("{count} trajectories") };
        match (model, of) {
            (Some(model), _) => {
                format!("`{name}` does not name its model; its verdicts went to {trajectories} of `{model}`")
            }
            (None, Some(of)) => format!(
                "`{name}` is about runs of `{of}`; its verdicts went to {trajectories} without the name of a model"
            ),
            (None, None) => {
                format!("`{name}` names no model; its verdicts went to {trajectories} without one")
            }
        }
    }

    /// Returns the verdicts that no trajectory took, in words.
    fn unused(&self, is_taken: &dyn Fn(&str) -> bool, others: Option<&BTreeSet<String>>) -> Option<String> {
        let left: Vec<(&String, &Outcome)> = self.by.iter().filter(|(id, _)| !is_taken(id)).collect();
        if left.is_empty() {
            return None;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        left.iter().for_each(|(_, outcome)| *counts.entry(outcome.name()).or_default() += 1);
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let shown: Vec<String> = left.iter().take(LISTED).map(|(id, _)| format!("`{id}`")).collect();
        let more = left.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let verdicts = if left.len() == 1 { "1 verdict" } else { &format!("{} verdicts", left.len()) };
        let why = others.zip(self.models.last()).map(|(others, own)| {
            let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
            format!("; it is about `{}`, and there are trajectories of {}", own.text, others.join(", "))
        });
        Some(format!(
            "`{}` has {verdicts} without a trajectory ({}): {}{more}{}",
            self.name,
            counts.join(", "),
            shown.join(", "),
            why.unwrap_or_default()
        ))
    }
}

#[cfg(test)]
mod tests;
