//! Reports of SWE-bench: which instances were submitted, and which of them resolved.

use std::collections::BTreeMap;

use karat_core::facts::Outcome;
use serde_json::Value;

use super::json::Wanted;
use super::out::{Out, Run};
use super::{Fault, Input, Stop, json};

/// Lists in the order in which the later one wins.
const LISTS: [(&str, Option<Outcome>); 8] = [
    ("submitted_ids", Some(Outcome::NoVerdict)),
    ("pending_ids", Some(Outcome::NoVerdict)),
    ("completed_ids", Some(Outcome::NoVerdict)),
    ("error_ids", Some(Outcome::NoVerdict)),
    ("failed_ids", Some(Outcome::NoVerdict)),
    ("empty_patch_ids", Some(Outcome::Failed)),
    ("unresolved_ids", Some(Outcome::Failed)),
    ("resolved_ids", Some(Outcome::Succeeded)),
];

pub(super) fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let paths: Vec<&str> = LISTS.iter().map(|(name, _)| *name).chain(["total_instances"]).collect();
    let report = json::read(input.json()?, &Wanted::new(&paths), &mut |_| Ok(()))?;
    let mut instances: BTreeMap<&str, (Option<Outcome>, String)> = BTreeMap::new();
    for (name, outcome) in LISTS {
        let Some(list) = report.get(name) else { continue };
        let wrong = |place: String| Stop::from(Fault::new(place, "something else", "a list of ids"));
        let list = list.as_array().ok_or_else(|| wrong(format!("$.{name}")))?;
        for (at, id) in list.iter().enumerate() {
            let place = format!("$.{name}[{at}]");
            let id = id.as_str().ok_or_else(|| wrong(place.clone()))?;
            if name == "resolved_ids"
                && let Some((Some(Outcome::Failed), before)) = instances.get(id)
            {
                let found = format!("`{id}`, which is at {before} too");
                return Err(Fault::new(place, found, "each instance resolved or not").into());
            }
            instances.insert(id, (outcome, place));
        }
    }
    // The file name, `MODEL.RUN.json`, is the only place that names the model.
    let subject = input.stem();
    let count = instances.len();
    for (id, (outcome, place)) in instances {
        let solved = match outcome {
            Some(Outcome::Succeeded) => Some(1.0),
            Some(Outcome::Failed) => Some(0.0),
            _ => {
                out.left_out("no result of an instance whose tests did not run: it has no verdict");
                None
            }
        };
        let run = Run {
            subject: subject.to_owned(),
            task: Some(id.to_owned()),
            id: format!("{subject}/{id}"),
            outcome,
            solved,
            ..Run::default()
        };
        out.run(&place, run)?;
    }
    if let Some(total) = report.get("total_instances").and_then(Value::as_f64) {
        let never = (total - count as f64).max(0.0);
        out.left_out_times("an instance that was never submitted", never as u64);
    }
    out.left_out_times("no cost, time and tokens: the report has none", count as u64);
    Ok(())
}
