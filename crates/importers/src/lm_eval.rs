//! Samples of the Language Model Evaluation Harness, one on each line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::json::{Members, Wanted, members};
use super::out::{MEAN, Out, Run, fact_name};
use super::stated::Stated;
use super::{Fault, Importer, Input, Role, Samples, Stop, json};

/// The importer of samples of the Language Model Evaluation Harness.
pub(super) static IMPORTER: Importer = Importer {
    name: "lm-eval",
    words: "a file of samples of lm-eval",
    has_scores: true,
    role: Role::Samples { sums: "configs", add: Samples::add_task },
    marks: &[
        &["doc_id", "resps[]", "filtered_resps[]"],
        &["doc_id", "doc", "target", "arguments"],
        &["results", "configs", "lm_eval_version"],
    ],
    read,
    ..Importer::RUNS
};

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let about = about(input, out)?;
    if about.is_sums {
        if let Some(tasks) = out.options.samples.as_ref().and_then(|samples| samples.beside(input)) {
            return sums(input, tasks, out);
        }
        let fault = Fault::new("", "sums for each task without their samples", "the samples");
        return Err(fault.hint("run lm_eval with --log_samples and give `samples_*.jsonl`").into());
    }
    let wanted = Wanted::of(&[("", "doc_id doc_hash filter metrics"), ("", METRICS)]);
    let task = task(input);
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    let mut counted = None;
    json::read_lines(input.json()?, &wanted, &mut |row| {
        let own = row.own;
        let Some(doc) = own.name("doc_id") else {
            return Err(Fault::new(row.place, "a sample without `doc_id`", "the id of the document").into());
        };
        let filter = own.text("filter").unwrap_or("none");
        *rows.entry(filter.to_owned()).or_default() += 1;
        let metrics: Vec<&str> = match own.get("metrics").and_then(Value::as_array) {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => METRICS.split(' ').filter(|name| own.has(name)).collect(),
        };
        let asked = out.options.score.clone();
        let asked = asked.as_deref().map(|name| name.split_once(',').unwrap_or((name, "")));
        let wanted = asked.map(|(name, _)| name.to_owned());
        // One document is one task, however many filters its answer went through.
        let counted = counted.get_or_insert_with(|| match asked {
            Some((_, asked)) if !asked.is_empty() => asked.to_owned(),
            _ => filter.to_owned(),
        });
        if counted != filter {
            out.left_out(format!(
                "a sample after the filter `{filter}`: of a document that after `{counted}` counts"
            ));
            return Ok(());
        }
        let is_lower = |name: &str| about.lower.iter().any(|lower| lower == name);
        let chosen = wanted.as_deref().or_else(|| metrics.iter().copied().find(|name| !is_lower(name)));
        if let Some(name) = chosen.or_else(|| metrics.first().copied()).filter(|name| is_lower(name)) {
            out.left_out(format!("whether a document was solved: the less `{name}` is, the better"));
        }
        if let Some(name) = chosen.filter(|_| rows.get(filter) == Some(&1)) {
            let value = about.results.as_ref().and_then(|own| own.get(format!("{name},{filter}"))?.as_f64());
            out.states(value.map(|value| Stated {
                words: format!("`{name},{filter}` of `{task}`"),
                fact: fact_name("score_", name),
                value,
                how: None,
            }));
        }
        let mut run = Run {
            subject: about.subject.clone(),
            task: Some(format!("{task}/{doc}")),
            id: format!("{}/{task}/{doc}/{filter}{}", about.subject, about.moment),
            ..Run::default()
        };
        // A metric of a task may have any name.
        let all: Value = if metrics.iter().all(|name| own.has(name)) {
            Value::Null
        } else {
            let all = members(row.line, &Wanted::of(&[("", ".")])).unwrap_or_default();
            all.get("").cloned().unwrap_or_default()
        };
        for name in &metrics {
            let value = own.get(name).or_else(|| all.get(name)).and_then(|value| match value {
                Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
                value => value.as_f64(),
            });
            if Some(*name) == chosen && value.is_none() {
                out.left_out(format!("a metric `{name}` that is not a number of the sample alone"));
            }
            if Some(*name) == chosen && !is_lower(name) {
                (run.solved, run.score) = (value, Some((*name).to_owned()));
            } else {
                run.scored(name, value);
            }
        }
        if metrics.len() > 1
            && let Some(chosen) = chosen
        {
            let names = metrics.join("`, `");
            out.note(format!("`solved` is the metric `{chosen}` of `{names}`; --score NAME takes another"));
        }
        out.left_out("no cost, time and tokens: a sample has none");
        out.run(row.place, run)
    })?;
    if rows.len() > 1
        && let Some(counted) = &counted
    {
        let names = rows.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        out.note(format!(
            "`{}` has each document after the filters {names}: that after `{counted}` counts; `karat import --score METRIC,FILTER` \
             takes another",
            input.name()
        ));
    }
    // A row for each document after each filter.
    let least = rows.values().min().copied().unwrap_or_default();
    if let Some(stated) = about.documents.filter(|stated| *stated > least) {
        let (name, there) = (input.name(), if least == 1 { "1 is" } else { &format!("{least} are") });
        out.note(format!("`{name}` lacks documents: {there} there of {stated} that the results count"));
    }
    Ok(())
}

/// Passes over the sums of tasks whose samples lie beside them, and names the tasks that have no samples.
fn sums(input: &Input, tasks: &BTreeSet<String>, out: &mut Out<'_>) -> Result<(), Stop> {
    let about = json::read(input.json()?, &Wanted::of(&[("", "results group_subtasks")]), &mut |_| Ok(()))?;
    let is_group = |name: &str| {
        let parts = about.get("group_subtasks").and_then(|groups| groups.get(name)).and_then(Value::as_array);
        parts.is_some_and(|parts| !parts.is_empty())
    };
    let mut without = Vec::new();
    for name in about.get("results").and_then(Value::as_object).into_iter().flat_map(|it| it.keys()) {
        if tasks.contains(name) || is_group(name) {
            out.elsewhere(MEAN);
        } else {
            without.push(format!("`{name}`"));
        }
    }
    if !without.is_empty() {
        out.note(format!("`{}` has sums without samples of {}", input.name(), without.join(", ")));
    }
    Ok(())
}

/// Metrics of the harness that are a number for each sample.
const METRICS: &str = "exact_match acc acc_norm acc_mutual_info acc_bytes pass@1 pass_at_1 f1 em mc1 mc2 score rouge1 rouge2 \
    rougeL prompt_level_strict_acc prompt_level_loose_acc contains likelihood_diff";

/// Metrics that are the better the less they are, in every task.
const LOWER: [&str; 1] = ["likelihood_diff"];

struct About {
    subject: String,
    is_sums: bool,
    /// Metrics that are the better the less they are.
    lower: Vec<String>,
    /// The moment in the names of the files of one run, after a slash; empty without one.
    moment: String,
    /// The number of documents that were asked.
    documents: Option<u64>,
    /// The means of the task, by metric and filter.
    results: Option<Value>,
}

/// Returns the model: from the results of the same moment in the same folder, else the name of the folder.
fn about(input: &Input, out: &mut Out<'_>) -> Result<About, Stop> {
    let wanted =
        "model_name config.model_args config.model lm_eval_version higher_is_better n-samples results";
    let wanted = Wanted::of(&[("", wanted)]);
    let mut lower = LOWER.map(str::to_owned).to_vec();
    let folder = input.folder().unwrap_or_else(|| input.stem()).to_owned();
    let own = input.head(1 << 20)?;
    let is_sums = json::outline(&own).iter().any(|path| path == "configs");
    let moment = input.stem().rsplit('_').next().unwrap_or_default();
    let own_moment = if is_moment(moment) { format!("/{moment}") } else { String::new() };
    let beside = input.path().map(|path| path.with_file_name(format!("results_{moment}.json")));
    let mut results = Members::default();
    if let Some(beside) = beside.filter(|path| path.is_file() && !is_sums) {
        let name = beside.display().to_string();
        match json::read(Input::file(beside).json()?, &wanted, &mut |_| Ok(())) {
            Ok(found) => results = found,
            Err(Stop::Fault(why)) => {
                out.note(format!("`{name}` cannot be read, so the samples stand alone: {why}"))
            }
            Err(Stop::Enough) => return Err(Stop::Enough),
        }
    }
    let task = task(input);
    let documents = results.get("n-samples").and_then(|tasks| tasks.get(&task)?.get("effective")?.as_u64());
    let stated = results.get("higher_is_better").and_then(|tasks| tasks.get(&task)?.as_object());
    let lower_here = stated.into_iter().flatten().filter(|(_, is_higher)| is_higher.as_bool() == Some(false));
    lower.extend(lower_here.map(|(name, _)| name.clone()));
    let argument = |name: &str| match results.get("config.model_args")? {
        Value::String(text) => text.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')),
        arguments => arguments.get(name)?.as_str(),
    };
    let arguments = argument("pretrained").or_else(|| argument("model"));
    // A base model with an adapter goes under the name of the adapter.
    let model = results.text("model_name").or(arguments).or_else(|| results.text("config.model"));
    let revision = argument("revision").filter(|it| *it != "main");
    let subject = match (model.unwrap_or(&folder), revision) {
        (model, Some(revision)) => format!("{model}@{revision}"),
        (model, None) => model.to_owned(),
    };
    let results = results.get("results").and_then(|tasks| tasks.get(&task)).cloned();
    Ok(About { subject, is_sums, lower, moment: own_moment, documents, results })
}

/// Returns the task in `samples_TASK_MOMENT.jsonl`.
pub(super) fn task(input: &Input) -> String {
    let stem = input.stem();
    let stem = stem.strip_prefix("samples_").unwrap_or(stem);
    match stem.rsplit_once('_') {
        Some((task, moment)) if is_moment(moment) => task.to_owned(),
        _ => stem.to_owned(),
    }
}

fn is_moment(text: &str) -> bool {
    text.starts_with("20") && text.contains('T')
}
