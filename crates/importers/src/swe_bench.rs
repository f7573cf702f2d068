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

/// Says which instances in the folder of a model have no report: what ran their tests broke off, or the patch did not apply.
fn without_report(input: &Input, out: &mut Out<'_>) -> Option<()> {
    let of_model = input.path()?.parent()?.parent()?;
    let mut without = Vec::new();
    for instance in std::fs::read_dir(of_model).ok()?.flatten() {
        let has = |name: &str| instance.path().join(name).metadata().is_ok_and(|file| file.len() > 0);
        if !has("report.json") && instance.path().join("run_instance.log").exists() {
            without.push(format!("`{}`", instance.file_name().to_string_lossy()));
        }
    }
    without.sort();
    if let Some(first) = without.first() {
        let (folder, count) = (of_model.display(), without.len());
        out.note(format!(
            "`{folder}` has no report on {count} of its instances, the first {first}: they are not counted, and the report of the \
             run, MODEL.RUN.json, says how they ended"
        ));
    }
    Some(())
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
    // The file name, `MODEL.RUN.json`, is the only place that names the model; of one instance, the folder above its own, which
    // lies in that of the run.
    let (mut subject, mut folders) = (input.stem(), input.stem().to_owned());
    if is_single(input, total)
        && let Some(model) = input.folder_above()
    {
        let run = input.part(3).unwrap_or_default();
        if of_run.is_none() && out.options.reports.contains(&format!("{model}.{run}")) {
            instances.iter().for_each(|_| out.elsewhere("a verdict that the report of the run has too"));
            return Ok(());
        }
        without_report(input, out);
        let is_named = input.part(4) == Some("run_evaluation");
        (subject, folders) = (model, if is_named { format!("{run}/{model}") } else { model.to_owned() });
    }
    if let Some(of_run) = &of_run {
        (subject, folders) = (of_run, of_run.clone());
    }
    if let Some(total) = total.filter(|_| of_run.is_none()) {
        // With a choice of instances, a report lists all predictions as submitted.
        let is_bare = |(_, place): &(Outcome, String)| place.starts_with("$.submitted_ids");
        let bare = instances.values().filter(|it| is_bare(it)).count();
        if bare > 0 && instances.len() as f64 == total + bare as f64 {
            instances.retain(|_, it| !is_bare(it));
            out.left_out_times("an instance that was submitted and is not of the run", bare as u64);
        }
    }
    let count = instances.len();
    let wanted: Vec<_> = LISTS.iter().flat_map(|(list, name, _)| [("", *list), ("", *name)]).collect();
    let report = json::read(input.json()?, &Wanted::of(&wanted), &mut |_| Ok(()))?;
    for (list, name, _) in LISTS.iter().filter(|_| of_run.is_none()) {
        let Some(ids) = report.get(list).and_then(Value::as_array) else { continue };
        let ids: BTreeSet<_> = ids.iter().filter_map(Value::as_str).collect();
        out.states_count(&format!("`{name}`"), report.number(name), ids.len());
    }
    let of = |wanted: Outcome| instances.values().filter(|(own, _)| *own == wanted).count();
    let (resolved, judged) = (of(Outcome::Succeeded), of(Outcome::Succeeded) + of(Outcome::Failed));
    let all = total.filter(|total| *total > count as f64).unwrap_or(count as f64);
    if of_run.is_none() && all > judged as f64 && !is_single(input, total) {
        out.note(format!(
            "`{}`: SWE-bench counts an instance without a verdict as not resolved, which gives {resolved} of {all}; here {resolved} \
             of {judged} count. An error can be the fault of a patch that does not apply: `--count no-verdict=failure`",
            input.name()
        ));
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
            id: format!("{folders}/{id}"),
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
