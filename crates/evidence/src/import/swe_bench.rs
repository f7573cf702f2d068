//! Reports of SWE-bench: which instances were submitted, and which of them resolved.

use std::collections::BTreeMap;

use karat_core::facts::Outcome;
use serde_json::Value;

use super::json::Wanted;
use super::out::{Out, Run};
use super::{Fault, ImportError, Input, Stop, json};

/// Lists in the order in which the later one wins.
const LISTS: [(&str, Outcome); 8] = [
    ("submitted_ids", Outcome::NoVerdict),
    ("pending_ids", Outcome::NoVerdict),
    ("completed_ids", Outcome::NoVerdict),
    ("error_ids", Outcome::NoVerdict),
    ("failed_ids", Outcome::NoVerdict),
    ("empty_patch_ids", Outcome::Failed),
    ("unresolved_ids", Outcome::Failed),
    ("resolved_ids", Outcome::Succeeded),
];

/// The verdicts of reports on instances, for trajectories: that something was submitted does not say that it solves the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdicts {
    by: BTreeMap<String, Outcome>,
}

impl Verdicts {
    /// Adds those of a report.
    ///
    /// # Errors
    /// If it cannot be read, or has another verdict on an instance than a report before.
    pub fn add(&mut self, report: &Input) -> Result<(), ImportError> {
        let found = match instances(report) {
            Ok((found, _)) => found,
            Err(Stop::Fault(fault)) => return Err(fault.of(report)),
            Err(Stop::Enough) => return Ok(()),
        };
        for (id, (outcome, place)) in found {
            if let Some(before) = self.by.insert(id.clone(), outcome)
                && before != outcome
            {
                let found =
                    format!("`{id}` as {}, and as {} in a report before", outcome.name(), before.name());
                let fault = Fault::new(place, found, "one verdict on each instance");
                return Err(fault.hint("import the runs of each report apart").of(report));
            }
        }
        Ok(())
    }

    /// Returns the verdict on an instance.
    pub(super) fn on(&self, id: &str) -> Option<Outcome> {
        self.by.get(id).copied()
    }
}

type Instances = BTreeMap<String, (Outcome, String)>;

/// Returns the verdict on each instance of a report, with its place, and the number of all instances if the report has it.
fn instances(input: &Input) -> Result<(Instances, Option<f64>), Stop> {
    let paths: Vec<&str> = LISTS.iter().map(|(name, _)| *name).chain(["total_instances"]).collect();
    let report = json::read(input.json()?, &Wanted::new(&paths), &mut |_| Ok(()))?;
    if report.is_empty() {
        return Ok((single(input)?, None));
    }
    let mut instances: Instances = BTreeMap::new();
    for (name, outcome) in LISTS {
        let Some(list) = report.get(name) else { continue };
        let wrong = |place: String| Stop::from(Fault::new(place, "something else", "a list of ids"));
        let list = list.as_array().ok_or_else(|| wrong(format!("$.{name}")))?;
        for (at, id) in list.iter().enumerate() {
            let place = format!("$.{name}[{at}]");
            let id = id.as_str().ok_or_else(|| wrong(place.clone()))?;
            if name == "resolved_ids"
                && let Some((Outcome::Failed, before)) = instances.get(id)
            {
                let found = format!("`{id}`, which is at {before} too");
                return Err(Fault::new(place, found, "each instance resolved or not").into());
            }
            instances.insert(id.to_owned(), (outcome, place));
        }
    }
    Ok((instances, report.number("total_instances")))
}

/// Reads the report on one instance, which lies in the folder of that instance.
fn single(input: &Input) -> Result<Instances, Stop> {
    let report = json::read(input.json()?, &Wanted::new(&[""]), &mut |_| Ok(()))?;
    let mut instances = BTreeMap::new();
    for (id, about) in report.get("").and_then(Value::as_object).into_iter().flatten() {
        let outcome = match about.get("resolved").and_then(Value::as_bool) {
            Some(true) => Outcome::Succeeded,
            Some(false) => Outcome::Failed,
            None => Outcome::NoVerdict,
        };
        instances.insert(id.clone(), (outcome, format!("$.{id}")));
    }
    Ok(instances)
}

pub(super) fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let (instances, total) = instances(input)?;
    let is_single = total.is_none() && input.stem() == "report";
    // The file name, `MODEL.RUN.json`, is the only place that names the model; of one instance, the folder above its own.
    let subject = if is_single { input.folder_above().unwrap_or_else(|| input.stem()) } else { input.stem() };
    let count = instances.len();
    for (id, (outcome, place)) in instances {
        let solved = match outcome {
            Outcome::Succeeded => Some(1.0),
            Outcome::Failed => Some(0.0),
            _ => {
                out.left_out("no result of an instance whose tests did not run: it has no verdict");
                None
            }
        };
        let run = Run {
            subject: subject.to_owned(),
            id: format!("{subject}/{id}"),
            task: Some(id),
            outcome: Some(outcome),
            solved,
            ..Run::default()
        };
        out.run(&place, run)?;
    }
    if let Some(total) = total {
        let never = (total - count as f64).max(0.0);
        out.left_out_times("an instance that was never submitted", never as u64);
    }
    out.left_out_times("no cost, time and tokens: the report has none", count as u64);
    Ok(())
}
