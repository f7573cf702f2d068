//! Samples of the Language Model Evaluation Harness, one on each line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use karat_core::timestamp::Timestamp;
use serde_json::Value;

use super::json::{Members, Wanted, members};
use super::out::{MEAN, Out, Run, fact_name};
use super::retries::Head;
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
    head,
    read,
    ..Importer::RUNS
};

/// Returns what the results of its run say of a file of samples.
fn head(input: &Input) -> Result<Option<Head>, Stop> {
    let About { is_sums, subject: model, settings, .. } = About::of(input)?;
    let (task, created) = (named(input).0.to_owned(), Timestamp { milliseconds: 0 });
    Ok((!is_sums).then_some(Head { model, task, id: None, created, settings }))
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let about = About::of(input)?;
    if about.is_sums {
        if let Some(samples) = out.options.samples.clone().filter(|samples| samples.have_tasks()) {
            return sums(input, &samples, out);
        }
        let fault = Fault::new("", "sums for each task without their samples", "the samples");
        return Err(fault.hint("run lm_eval with --log_samples and give `samples_*.jsonl`").into());
    }
    if let (Some(why), None) = (&about.alone, &out.options.subject) {
        out.note(why);
    }
    let retries = out.options.retries.clone().unwrap_or_default();
    retries.pooled(input.name()).into_iter().for_each(|note| out.note(note));
    let subject = retries.subject(input.name()).unwrap_or_else(|| about.subject.clone());
    let wanted = Wanted::of(&[("", "doc_id doc_hash filter metrics"), ("", METRICS)]);
    let (task, moment) = named(input);
    let moment = if moment.is_empty() { String::new() } else { format!("/{moment}") };
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    let score = out.options.score.clone();
    let asked = score.as_deref().map(|score| score.split_once(',').unwrap_or((score, "")));
    let filter = asked.map(|(_, filter)| filter).filter(|filter| !filter.is_empty());
    // One document is one task, however many filters its answer went through.
    let mut counted = filter.filter(|filter| has_filter(input, filter)).map(str::to_owned);
    let lacks_filter = filter.is_some() && counted.is_none();
    // The metrics of a row without the one that was asked for, unless another row has it.
    let (mut had, mut is_found) = (None, false);
    json::read_lines(input.json()?, &wanted, &mut |row| {
        let own = row.own;
        let Some(doc) = own.name("doc_id") else {
            return Err(Fault::new(row.place, "a sample without `doc_id`", "the id of the document").into());
        };
        let filter = own.text("filter").unwrap_or("none");
        *rows.entry(filter.to_owned()).or_default() += 1;
        let counted = counted.get_or_insert_with(|| filter.to_owned());
        if counted != filter {
            out.left_out(format!(
                "a sample after the filter `{filter}`: of a document that after `{counted}` counts"
            ));
            return Ok(());
        }
        let listed = own.get("metrics").and_then(Value::as_array);
        let mut metrics: Vec<&str> = match listed {
            // What --predict_only puts in the place of a metric.
            Some(names) => names.iter().filter_map(Value::as_str).filter(|name| *name != "bypass").collect(),
            None => METRICS.split(' ').filter(|name| own.has(name)).collect(),
        };
        metrics
            .extend(asked.map(|(name, _)| name).filter(|name| listed.is_none() && !metrics.contains(name)));
        // A metric of a task may have any name.
        let all = if metrics.iter().all(|name| own.has(name)) {
            None
        } else {
            members(row.line, &Wanted::of(&[("", ".")])).unwrap_or_default().get("").cloned()
        };
        let value = |name: &str| own.get(name).or_else(|| all.as_ref()?.get(name));
        metrics.retain(|name| listed.is_some() || value(name).is_some());
        let is_lower = |name: &str| about.is_higher(name) == Some(false);
        let chosen = match asked {
            Some((name, _)) => Some(name).filter(|name| !lacks_filter && metrics.contains(name)),
            None => metrics.iter().copied().find(|name| !is_lower(name)),
        };
        let solved = chosen.filter(|name| !is_lower(name));
        let names = metrics.join("`, `");
        is_found |= chosen.is_some();
        if metrics.is_empty() {
            out.left_out("`solved` of a sample without a metric, as lm_eval --predict_only leaves it");
        } else if let Some(score) = score.as_ref().filter(|_| chosen.is_none()) {
            out.left_out(format!("`solved` of a sample that has no `{score}`"));
            had.get_or_insert_with(|| format!("`{names}` after the filter `{filter}`"));
        } else if let Some(name) = chosen.or(metrics.first().copied()).filter(|_| solved.is_none()) {
            out.left_out(format!("whether a document was solved: the less `{name}` is, the better"));
        }
        if let Some(name) = chosen.filter(|_| rows.get(filter) == Some(&1)) {
            let value = about.results.get(format!("{name},{filter}"));
            // In the place of NaN is an empty text.
            let is_nan = value.is_some_and(|value| value.as_str() == Some(""));
            let how = is_nan.then_some("the values that are not numbers count there");
            out.states(value.and_then(|it| it.as_f64().or(how.map(|_| f64::NAN))).map(|value| Stated {
                words: format!("`{name},{filter}` of `{task}`"),
                fact: fact_name("score_", name),
                value,
                how: how.map(str::to_owned),
            }));
        }
        let mut run = Run {
            subject: subject.clone(),
            task: Some(format!("{task}/{doc}")),
            id: format!("{}/{task}/{doc}/{filter}{moment}", about.subject),
            ..Run::default()
        };
        for name in &metrics {
            let number = match value(name) {
                Some(Value::Bool(flag)) => Some(f64::from(u8::from(*flag))),
                value => value.and_then(Value::as_f64),
            };
            if number.is_none() {
                let is_of_all = matches!(value(name), Some(Value::Array(_) | Value::Object(_)));
                let alone = if is_of_all { " of the sample alone" } else { "" };
                out.left_out(format!("a metric `{name}` that is not a number{alone}"));
            }
            if Some(*name) == solved {
                (run.solved, run.score) = (number, Some((*name).to_owned()));
            } else {
                run.scored(name, number);
            }
        }
        if let Some(solved) = solved.filter(|_| run.solved.is_some()) {
            if metrics.len() > 1 {
                out.note(format!(
                    "`solved` is the metric `{solved}` of `{names}`; --score NAME takes another"
                ));
            }
            if about.is_higher(solved).is_none() {
                out.note(format!(
                    "nothing says whether more or less of `{solved}` is better: it is taken that more is; if not, --score NAME takes \
                     another metric"
                ));
            }
        }
        out.left_out("no cost, time and tokens: a sample has none");
        out.run(row.place, run)
    })?;
    if let (Some(score), Some(had), false) = (&score, had, is_found) {
        out.note(format!("`{}` has no `{score}`, so `solved` is missing: it has {had}", input.name()));
    }
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

/// Returns whether a file has a sample after a filter. What cannot be read is reported when it is imported.
fn has_filter(input: &Input, filter: &str) -> bool {
    let wanted = Wanted::of(&[("", "filter")]);
    let found = input.json().map(|text| {
        json::read_lines(text, &wanted, &mut |row| match row.own.text("filter").unwrap_or("none") == filter {
            true => Err(Stop::Enough),
            false => Ok(()),
        })
    });
    matches!(found, Ok(Err(Stop::Enough)))
}

/// Passes over the sums of tasks whose samples lie beside them, and names the tasks that have no samples.
fn sums(input: &Input, samples: &Samples, out: &mut Out<'_>) -> Result<(), Stop> {
    let about = json::read(input.json()?, &Wanted::of(&[("", "results group_subtasks")]), &mut |_| Ok(()))?;
    let is_group = |name: &str| {
        let parts = about.get("group_subtasks").and_then(|groups| groups.get(name)).and_then(Value::as_array);
        parts.is_some_and(|parts| !parts.is_empty())
    };
    let mut without = Vec::new();
    for name in about.get("results").and_then(Value::as_object).into_iter().flat_map(|it| it.keys()) {
        if samples.have_task(input, name) || is_group(name) {
            out.elsewhere(MEAN);
        } else {
            out.elsewhere("a mean or sum without its samples");
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

/// Arguments of a model that do not change what it answers, or that its name has.
const OTHERS: [&str; 6] =
    ["revision", "batch_size", "max_batch_size", "device", "num_concurrent", "max_retries"];

struct About {
    subject: String,
    is_sums: bool,
    /// For each metric of the task whether more of it is better, where the results say it.
    higher: Value,
    /// The settings of the run, by name.
    settings: BTreeMap<String, String>,
    /// The reason for which nothing but the samples is known.
    alone: Option<String>,
    /// The number of documents that were asked.
    documents: Option<u64>,
    /// The means of the task, by metric and filter.
    results: Value,
}

impl About {
    /// Takes the model and more from the results of the run, else the name of the folder.
    fn of(input: &Input) -> Result<Self, Stop> {
        let is_sums = Samples::are_outside(input, "configs");
        let (results, why) = if is_sums { (Members::default(), None) } else { results(input)? };
        let (task, _) = named(input);
        let of_task = |name: &str| results.get(name).and_then(|tasks| tasks.get(task));
        let arguments = arguments(results.get("config.model_args"));
        let argument = |name: &str| arguments.get(name).map(String::as_str);
        // A base model with an adapter goes under the name of the adapter.
        let model = results.text("model_name").or(argument("pretrained")).or(argument("model"));
        let folder = input.folder().unwrap_or_else(|| input.stem());
        let model = model.or_else(|| results.text("config.model")).unwrap_or(folder);
        let subject = match argument("revision").filter(|it| *it != "main") {
            Some(revision) => format!("{model}@{revision}"),
            None => model.to_owned(),
        };
        let mut settings = arguments.clone();
        settings.retain(|name, _| !OTHERS.contains(&name.as_str()));
        settings.extend(self::arguments(results.get("config.gen_kwargs")));
        let whole = ["config.model", "fewshot_as_multiturn", "system_instruction_sha", "chat_template_sha"];
        let whole = whole.map(|name| (name, results.get(name)));
        for (name, value) in whole.into_iter().chain(["n-shot", "versions"].map(|name| (name, of_task(name))))
        {
            let name = name.trim_start_matches("config.");
            let of_text = if name.ends_with("_sha") { 8 } else { usize::MAX };
            let value = value.and_then(json::name).map(|value| value.chars().take(of_text).collect());
            settings.extend(value.map(|value| (name.to_owned(), value)));
        }
        Ok(Self {
            is_sums,
            higher: of_task("higher_is_better").cloned().unwrap_or_default(),
            documents: of_task("n-samples").and_then(|it| it.get("effective")?.as_u64()),
            results: of_task("results").cloned().unwrap_or_default(),
            alone: why.map(|why| {
                format!(
                    "{why}, so the samples stand alone: their model is taken to be `{subject}`, the name of the folder; --subject \
                     NAME names it"
                )
            }),
            subject,
            settings,
        })
    }

    /// Returns whether more of a metric is better, if that is known.
    fn is_higher(&self, name: &str) -> Option<bool> {
        let is_known = METRICS.split(' ').any(|metric| metric == name).then_some(true);
        if LOWER.contains(&name) {
            Some(false)
        } else {
            self.higher.get(name).and_then(Value::as_bool).or(is_known)
        }
    }
}

/// Returns arguments by name: those of an object, or of a text such as `a=1,b=2`.
fn arguments(value: Option<&Value>) -> BTreeMap<String, String> {
    let text = |(name, value): (&str, &str)| (name.trim().to_owned(), value.to_owned());
    match value {
        Some(Value::String(all)) => all.split(',').filter_map(|it| it.split_once('=').map(text)).collect(),
        Some(Value::Object(all)) => {
            let value = |value: &Value| json::name(value).unwrap_or_else(|| value.to_string());
            all.iter().map(|(name, it)| (name.clone(), value(it))).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Returns the results of the run that wrote a file of samples, which have its moment in their name too, or why it has no results.
fn results(input: &Input) -> Result<(Members, Option<String>), Stop> {
    let wanted = "model_name config.model_args config.model config.gen_kwargs fewshot_as_multiturn system_instruction_sha \
        chat_template_sha higher_is_better n-samples n-shot versions results";
    let (_, moment) = named(input);
    let end = format!("_{moment}.json");
    let own = input.path().map(|path| path.with_file_name(format!("results{end}")));
    let mut found: Vec<PathBuf> = own.into_iter().filter(|path| Input::is_plain(path)).collect();
    if let Some(path) = input.path().filter(|_| found.is_empty() && !moment.is_empty()) {
        // With a name of a file as the path of its output, the harness begins their name with it.
        let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path());
        let is_of = |path: &PathBuf| {
            let is_named = path.to_string_lossy().ends_with(&end) && Input::is_plain(path);
            is_named && Samples::are_outside(&Input::file(path), "configs")
        };
        found.extend(files.filter(is_of));
        found.sort_unstable();
    }
    let why = match found.as_slice() {
        [one] => match json::read(Input::file(one).json()?, &Wanted::of(&[("", wanted)]), &mut |_| Ok(())) {
            Ok(found) => return Ok((found, None)),
            Err(Stop::Fault(why)) => format!("`{}` cannot be read ({why})", one.display()),
            Err(Stop::Enough) => return Err(Stop::Enough),
        },
        [] if moment.is_empty() => {
            format!("the name of `{}` has no moment, by which its results are found", input.name())
        }
        [] => format!("no results of their run (`*{end}`) lie beside samples"),
        [first, ..] => {
            format!(
                "`{}` and {} more beside samples are results of their moment",
                first.display(),
                found.len() - 1
            )
        }
    };
    Ok((Members::default(), Some(why)))
}

/// Returns the task and the moment in `samples_TASK_MOMENT.jsonl`; the moment is empty without one.
pub(super) fn named(input: &Input) -> (&str, &str) {
    let stem = input.stem();
    let stem = stem.strip_prefix("samples_").unwrap_or(stem);
    let is_moment = |text: &str| text.starts_with("20") && text.contains('T');
    stem.rsplit_once('_').filter(|(_, moment)| is_moment(moment)).unwrap_or((stem, ""))
}
