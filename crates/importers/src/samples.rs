//! Files of single samples among others: of these the means or sums beside them are not counted a second time.

use std::collections::{BTreeMap, BTreeSet};

use super::json::{self, Wanted};
use super::{ImportError, Importer, Input, Role, Stop, lm_eval};

/// Adds the samples of a file.
pub type AddSamples = fn(&mut Samples, &Input) -> Result<(), ImportError>;

/// The samples in some files, for the files of means and sums among these.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Of each evaluation of Every Eval Ever the names of its results, and the number of samples.
    evaluations: BTreeMap<String, (BTreeSet<String>, u64)>,
    /// Tasks of lm-eval, each with the moment of its run, by folder.
    tasks: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl Samples {
    /// Returns whether a file has means or sums, whose samples may be in files beside it: whether it has this member.
    pub fn are_outside(input: &Input, sums: &str) -> bool {
        input.head(1 << 20).is_ok_and(|head| json::outline(&head).iter().any(|path| path == sums))
    }

    /// Adds the samples of a file; none if it is of an importer without [samples](Role::Samples), or has means or sums.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, input: &Input, importer: &Importer) -> Result<(), ImportError> {
        let Role::Samples { sums, add } = importer.role else { return Ok(()) };
        if Self::are_outside(input, sums) {
            return Ok(());
        }
        add(self, input)
    }

    /// Adds the task of a file of lm-eval.
    pub(super) fn add_task(&mut self, input: &Input) -> Result<(), ImportError> {
        let (task, moment) = lm_eval::named(input);
        self.tasks.entry(folder(input).to_owned()).or_default().insert((task.to_owned(), moment.to_owned()));
        Ok(())
    }

    pub(super) fn add_evaluation(&mut self, input: &Input) -> Result<(), ImportError> {
        match self.evaluation(input) {
            Err(Stop::Fault(fault)) => Err(fault.of(input)),
            Ok(()) | Err(Stop::Enough) => Ok(()),
        }
    }

    fn evaluation(&mut self, input: &Input) -> Result<(), Stop> {
        let wanted = Wanted::of(&[("", "evaluation_id evaluation_name evaluation_result_id")]);
        json::read_lines(input.json()?, &wanted, &mut |row| {
            if let Some(id) = row.own.text("evaluation_id") {
                let (names, count) = self.evaluations.entry(id.to_owned()).or_default();
                *count += 1;
                let own = ["evaluation_name", "evaluation_result_id"].map(|name| row.own.text(name));
                for name in own.into_iter().flatten() {
                    if !names.contains(name) {
                        names.insert(name.to_owned());
                    }
                }
            }
            Ok(())
        })
    }

    pub(super) fn has(&self, evaluation: &str, names: &[Option<&str>]) -> bool {
        let Some((own, _)) = self.evaluations.get(evaluation) else { return false };
        names.iter().flatten().any(|name| own.contains(*name))
    }

    pub(super) fn of(&self, evaluation: &str) -> u64 {
        self.evaluations.get(evaluation).map_or(0, |(_, count)| *count)
    }

    /// Returns whether there are samples of lm-eval.
    pub(super) fn have_tasks(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Returns whether the samples of a task lie beside the results of a run: those of its moment, where both names have one.
    pub(super) fn have_task(&self, input: &Input, task: &str) -> bool {
        let (_, moment) = lm_eval::named(input);
        let is_of = |own: &str| own == moment || own.is_empty() || moment.is_empty();
        self.tasks
            .get(folder(input))
            .is_some_and(|own| own.iter().any(|(name, own)| name == task && is_of(own)))
    }
}

fn folder(input: &Input) -> &str {
    input.name().rsplit_once(['/', '\\']).map_or("", |(folder, _)| folder)
}
