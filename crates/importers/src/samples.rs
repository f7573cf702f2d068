//! Files of single samples among others: of these the means or sums beside them are not counted a second time.

use std::collections::{BTreeMap, BTreeSet};

use super::json::{self, Wanted};
use super::{Format, ImportError, Input, Stop, lm_eval};

/// The samples in some files, for the files of means and sums among these.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Of each evaluation of Every Eval Ever the names of its results, and the number of samples.
    evaluations: BTreeMap<String, (BTreeSet<String>, u64)>,
    /// Tasks of lm-eval, by folder.
    tasks: BTreeMap<String, BTreeSet<String>>,
}

impl Samples {
    /// Returns whether a file has means or sums, whose samples may be in files beside it.
    pub fn are_outside(input: &Input, format: Format) -> bool {
        let mark = match format {
            Format::EveryEvalEver => "evaluation_results[]",
            Format::LmEval => "configs",
            _ => return false,
        };
        input.head(1 << 20).is_ok_and(|head| json::outline(&head).iter().any(|path| path == mark))
    }

    /// Adds those of a file; none if it has no samples.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn add(&mut self, input: &Input, format: Format) -> Result<(), ImportError> {
        if Self::are_outside(input, format) {
            return Ok(());
        }
        match format {
            Format::EveryEvalEver => match self.evaluation(input) {
                Err(Stop::Fault(fault)) => return Err(fault.of(input)),
                Ok(()) | Err(Stop::Enough) => {}
            },
            Format::LmEval => {
                let tasks = self.tasks.entry(folder(input).to_owned()).or_default();
                tasks.insert(lm_eval::task(input));
            }
            _ => {}
        }
        Ok(())
    }

    fn evaluation(&mut self, input: &Input) -> Result<(), Stop> {
        let wanted = Wanted::new(&["evaluation_id", "evaluation_name", "evaluation_result_id"]);
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

    /// Returns whether there are samples of a result.
    pub(super) fn has(&self, evaluation: &str, names: &[Option<&str>]) -> bool {
        let Some((own, _)) = self.evaluations.get(evaluation) else { return false };
        names.iter().flatten().any(|name| own.contains(*name))
    }

    /// Returns the number of samples of an evaluation.
    pub(super) fn of(&self, evaluation: &str) -> u64 {
        self.evaluations.get(evaluation).map_or(0, |(_, count)| *count)
    }

    /// Returns the tasks whose samples lie beside a file, if any lie there.
    pub(super) fn beside(&self, input: &Input) -> Option<&BTreeSet<String>> {
        self.tasks.get(folder(input))
    }
}

fn folder(input: &Input) -> &str {
    input.name().rsplit_once(['/', '\\']).map_or("", |(folder, _)| folder)
}
