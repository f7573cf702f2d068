//! Reports of SWE-bench: which instances were submitted, and which of them resolved.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Outcome;
use serde_json::Value;

use super::json::Wanted;
use super::out::{Out, Run};
use super::{Fault, Importer, Input, Role, Stop, json};

pub(super) static IMPORTER: Importer = Importer {
    name: "swe-bench",
    words: "a report of SWE-bench",
    role: Role::Report,
    marks: &[&["*.patch_successfully_applied", "*.resolved"], &["resolved_ids[]", "submitted_ids[]"]],
    read,
    ..Importer::RUNS
};

/// Lists in the order in which the later one wins, each with the number that a report states of it.
const LISTS: [(&str, &str, Outcome); 8] = [
    ("submitted_ids", "submitted_instances", Outcome::NoVerdict),
    ("pending_ids", "pending_instances", Outcome::NoVerdict),
    ("completed_ids", "completed_instances", Outcome::NoVerdict),
    ("error_ids", "error_instances", Outcome::NoVerdict),
    ("failed_ids", "failed_instances", Outcome::NoVerdict),
    ("empty_patch_ids", "empty_patch_instances", Outcome::Failed),
    ("unresolved_ids", "unresolved_instances", Outcome::Failed),
    ("resolved_ids", "resolved_instances", Outcome::Succeeded),
];

pub(super) type Instances = BTreeMap<String, (Outcome, String)>;

/// Returns the verdict on each instance of a report, with its place, and the number of all instances if the report has it.
pub(super) fn instances(input: &Input) -> Result<(Instances, Option<f64>), Stop> {
    let wanted: Vec<_> = LISTS.iter().map(|(it, ..)| ("", *it)).chain([("", "total_instances")]).collect();
    let report = json::read(input.json()?, &Wanted::of(&wanted), &mut |_| Ok(()))?;
    if report.is_empty() {
        return Ok((single(input)?, None));
    }
    if !report.has("resolved_ids") {
        return Err(Fault::new("$", "no `resolved_ids`", "a report of SWE-bench").into());
    }
    let mut instances: Instances = BTreeMap::new();
    for (name, _, outcome) in LISTS {
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

/// Returns the lists of instances that the report itself doubts, with their lengths.
fn doubtful(input: &Input) -> Result<Vec<(&'static str, usize)>, Stop> {
    const DOUBTED: [&str; 2] = ["infra_failure_ids", "ambiguous_failure_ids"];
    let report = json::read(input.json()?, &Wanted::of(&DOUBTED.map(|name| ("", name))), &mut |_| Ok(()))?;
    let length = |name: &str| report.get(name).and_then(Value::as_array).map_or(0, Vec::len);
    Ok(DOUBTED.map(|name| (name, length(name))).into_iter().filter(|(_, count)| *count > 0).collect())
}

/// Reads the report on one instance, which lies in the folder of that instance.
fn single(input: &Input) -> Result<Instances, Stop> {
    let report = json::read(input.json()?, &Wanted::of(&[("", ".")]), &mut |_| Ok(()))?;
    let wrong = |place: String, found: &str| {
        let fault = Fault::new(place, found, "a report of SWE-bench");
        fault.hint("it has lists as `resolved_ids`, or of one instance by its name whether it is `resolved`")
    };
    let mut instances = BTreeMap::new();
    for (id, about) in report.get("").and_then(Value::as_object).into_iter().flatten() {
        let flag = |name: &str| about.get(name).and_then(Value::as_bool);
        let outcome = match flag("resolved") {
            Some(true) => Outcome::Succeeded,
            Some(false) => Outcome::Failed,
            None if flag("patch_exists").is_some() => Outcome::NoVerdict,
            None => return Err(wrong(format!("$.{id}"), "no `resolved` and no `patch_exists`").into()),
        };
        instances.insert(id.clone(), (outcome, format!("$.{id}")));
    }
    if instances.is_empty() { Err(wrong(String::from("$"), "no instance").into()) } else { Ok(instances) }
}

/// Returns whether it is the report on one instance, in the folder of that.
pub(super) fn is_single(input: &Input, total: Option<f64>) -> bool {
    total.is_none() && input.stem() == "report"
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let (mut instances, total) = instances(input)?;
    let of_run = match &out.options.verdicts {
        Some(_) if out.wants_steps() => return Ok(()),
        // Beside trajectories it has those verdicts that none of them took.
        Some(verdicts) => {
            let Some((subject, taken)) = verdicts.taken(input) else { return Ok(()) };
            instances.retain(|id, _| !taken.contains(id));
            Some(subject)
        }
        None => None,
    };
    for (name, count) in doubtful(input)? {
        out.note(format!(
            "`{}` names {count} instances in `{name}`: SWE-bench counts them as it judged them, and so does karat",
            input.name()
        ));
    }
    // The file name, `MODEL.RUN.json`, is the only place that names the model; of one instance, the folder above its own.
    let subject = if is_single(input, total) {
        input.folder_above().unwrap_or_else(|| input.stem())
    } else {
        input.stem()
    };
    let subject = of_run.as_deref().unwrap_or(subject);
    let count = instances.len();
    let wanted: Vec<_> = LISTS.iter().flat_map(|(list, name, _)| [("", *list), ("", *name)]).collect();
    let report = json::read(input.json()?, &Wanted::of(&wanted), &mut |_| Ok(()))?;
    for (list, name, _) in LISTS.iter().filter(|_| of_run.is_none()) {
        let Some(ids) = report.get(list).and_then(Value::as_array) else { continue };
        let ids: BTreeSet<_> = ids.iter().filter_map(Value::as_str).collect();
        out.states_count(&format!("`{name}`"), report.number(name), ids.len());
    }
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
    if let Some(total) = total.filter(|_| of_run.is_none()) {
        let never = (total - count as f64).max(0.0);
        out.left_out_times("an instance that was never submitted", never as u64);
    }
    out.left_out_times("no cost, time and tokens: the report has none", count as u64);
    Ok(())
}
