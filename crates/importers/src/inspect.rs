//! Inspect: `.json`, and `.eval`, which is a zip archive of the same texts, packed with deflate or Zstandard.
//!
//! Newer logs keep each message once, in pools; no fact is in a message, so none is read.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Outcome;
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Value};

use super::bytes::json_text;
use super::json::{Element, Members, Wanted};
use super::out::{Out, Run, fact_name};
use super::retries::{Head, Retries};
use super::stated::Stated;
use super::zip::Archive;
use super::{Fault, Importer, Input, Stop, json};

/// The importer of Inspect: `.eval`, `.json`.
pub(super) static IMPORTER: Importer = Importer {
    name: "inspect",
    words: "an Inspect log",
    has_scores: true,
    marks: &[&["eval.task", "eval.model"]],
    head,
    read,
    ..Importer::RUNS
};

const SAMPLE: &str = "id epoch scores score error limit model_usage total_time started_at completed_at invalidation \
    metadata.karat_task";
const HEADER: &str = "status eval.task eval.model eval.eval_id eval.run_id eval.created eval.metadata.karat eval.scorers \
    results.scores results.total_samples results.completed_samples";
const HEAD: &str = "eval.task_id eval.created eval.model eval.task eval.task_args eval.model_args eval.model_generate_config";

/// Returns what a log says before its samples, if it says when it was.
pub(super) fn head(input: &Input) -> Result<Option<Head>, Stop> {
    let mut found = None;
    let read = whole(input, HEAD, "id", &mut |sample| {
        found = Head::of(sample.before);
        Err(Stop::Enough)
    });
    match read {
        Err(Stop::Enough) => Ok(found),
        other => Ok(Head::of(&other?.0)),
    }
}

/// Hands on each sample by id and epoch, and whether it was finished.
pub(super) fn tries(input: &Input, take: &mut dyn FnMut(String, bool)) -> Result<(), Stop> {
    let take = &mut |sample: &Element<'_>| {
        name(sample.own).into_iter().for_each(|name| take(name, is_finished(sample.own)));
        Ok(())
    };
    whole(input, HEAD, "id epoch scores score error invalidation", take).map(drop)
}

/// Returns the name of a sample among those of all tries.
fn name(own: &Members) -> Option<String> {
    Some(format!("{}/{}", own.name("id")?, own.name("epoch").unwrap_or_else(|| String::from("1"))))
}

fn is_finished(own: &Members) -> bool {
    !own.has("error") && !own.has("invalidation") && (own.has("scores") || own.has("score"))
}

impl Head {
    fn of(header: &Members) -> Option<Self> {
        let mut settings = BTreeMap::new();
        for name in ["task_args", "model_args", "model_generate_config"] {
            let own = header.get(&format!("eval.{name}"));
            for (name, value) in own.and_then(Value::as_object).into_iter().flatten() {
                let value = json::name(value).unwrap_or_else(|| value.to_string());
                settings.insert(name.clone(), value);
            }
        }
        Some(Self {
            model: header.text("eval.model")?.to_owned(),
            task: header.text("eval.task")?.to_owned(),
            id: header.text("eval.task_id").map(str::to_owned),
            created: Timestamp::parse(header.text("eval.created")?).ok()?,
            settings,
        })
    }
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let retries = out.options.retries.clone();
    let retries = retries.as_deref().map(|retries| (retries, input.name()));
    if let Some(note) = retries.and_then(|(retries, log)| retries.pooled(log)) {
        out.note(note);
    }
    out.awaits_means();
    let (mut names, mut again, mut repeated) = (BTreeSet::new(), BTreeMap::new(), 0);
    let (header, notes) = whole(input, HEADER, SAMPLE, &mut |sample| {
        let log = Log::new(sample.before, retries)?;
        repeated += u64::from(!names.insert(name(sample.own)));
        log.sample(sample, &mut again, out)
    })?;
    let (count, file) = (names.len() as u64, input.name());
    if repeated > 0 {
        out.contradiction(format!("`{file}` has {repeated} samples of the same id and epoch as another"));
    }
    Log::new(&header, retries)?.state(&header, count, out);
    notes.into_iter().for_each(|note| out.note(note));
    for (later, count) in again {
        out.note(format!("{count} samples of `{file}` were tried again in `{later}`, which counts"));
    }
    ended(&header, count, out);
    Ok(())
}

/// Reads the wanted members of a log: hands on each sample with the header before it, and returns the header, and what is odd
/// about an archive.
fn whole(
    input: &Input,
    header: &'static str,
    sample: &'static str,
    take: &mut json::Take<'_>,
) -> Result<(Members, Vec<String>), Stop> {
    if !input.head(4)?.starts_with(b"PK\x03\x04") {
        let wanted = Wanted::of(&[("", header), ("samples[]", sample)]);
        return Ok((json::read(input.json()?, &wanted, take)?, Vec::new()));
    }
    let archive = Archive::open(input)?;
    let read = |name: &str, wanted: &Wanted| {
        let in_member = |place: &str| match place {
            "" => name.to_owned(),
            place => format!("{name}, {place}"),
        };
        let text = json_text(archive.member(name)?).map_err(|error| Stop::from(error).at(in_member))?;
        json::read(text, wanted, &mut |_| Ok(())).map_err(|stop| stop.at(in_member))
    };
    let mut notes = Vec::new();
    if let Some(name) = archive.repeated.first() {
        let count = archive.repeated.len();
        notes.push(format!("{count} members are in the archive twice, as `{name}`: the later one counts"));
    }
    let name = if archive.has("header.json") { "header.json" } else { "_journal/start.json" };
    if name != "header.json" {
        notes.push(
            "the log has no end: it is of a run that was broken off, with the samples until then".into(),
        );
    }
    let header = read(name, &Wanted::of(&[("", header)]))?;
    Log::new(&header, None).map_err(|stop| stop.at(|place| format!("{name}, {place}")))?;
    let wanted = Wanted::of(&[("", sample)]);
    let mut names: Vec<&String> =
        archive.names.iter().filter(|name| name.starts_with("samples/") && name.ends_with(".json")).collect();
    names.sort_unstable();
    for name in names {
        let own = read(name, &wanted)?;
        take(&Element { place: name, before: &header, own: &own, line: &[] })?;
    }
    Ok((header, notes))
}

/// Says what is odd about the log as a whole.
fn ended(header: &Members, count: u64, out: &mut Out<'_>) {
    match header.text("status") {
        None | Some("success") => {}
        Some(status) => out.note(format!("the log has the status `{status}`: it may lack samples")),
    }
    let Some(total) = header.number("results.total_samples") else { return };
    if total > count as f64 {
        let missing = total - count as f64;
        out.left_out_times("a sample that the log counts and does not hold", missing as u64);
    }
}

/// Members that all samples of a log share.
struct Log<'a> {
    /// The logs that are read together, and the name of this one.
    retries: Option<(&'a Retries, &'a str)>,
    model: &'a str,
    subject: String,
    task: &'a str,
    run: String,
    created: Option<&'a str>,
    /// Scorers in the order of the log.
    scorers: Vec<&'a str>,
    /// True if karat wrote it.
    is_own: bool,
}

impl<'a> Log<'a> {
    fn new(header: &'a Members, retries: Option<(&'a Retries, &'a str)>) -> Result<Self, Stop> {
        let (Some(model), Some(task)) = (header.text("eval.model"), header.text("eval.task")) else {
            let fault = Fault::new("$.eval", "no model or no task", "`model` and `task` of the evaluation");
            return Err(fault.hint("they come before the samples in every log that Inspect writes").into());
        };
        let run = match header.text("eval.eval_id") {
            Some(id) => id.to_owned(),
            None => {
                let run = header.text("eval.run_id").or_else(|| header.text("eval.created"));
                format!("{}/{task}", run.unwrap_or("run"))
            }
        };
        let lists = ["results.scores", "eval.scorers"].map(|list| header.get(list).and_then(Value::as_array));
        let scorers = lists.into_iter().flatten().find(|list| !list.is_empty());
        let named = scorers.into_iter().flatten();
        let named = named.filter_map(|it| it.get("scorer").or_else(|| it.get("name"))?.as_str());
        // With several reducers of epochs a scorer is there several times.
        let mut scorers: Vec<&str> = Vec::new();
        named.for_each(|name| {
            if !scorers.contains(&name) {
                scorers.push(name);
            }
        });
        let is_own = header.has("eval.metadata.karat");
        // Of samples that karat wrote, one without a time has none.
        let created = header.text("eval.created").filter(|_| !is_own);
        let subject = retries.and_then(|(retries, log)| retries.subject(log));
        let subject = subject.unwrap_or_else(|| model.to_owned());
        Ok(Self { retries, model, subject, task, run, created, scorers, is_own })
    }

    /// Takes the means that the log states of its scores.
    fn state(&self, header: &Members, count: u64, out: &mut Out<'_>) {
        let total = header.number("results.total_samples").filter(|total| *total > count as f64);
        let held = total.map(|total| format!("it holds {count} of {total} samples"));
        for score in header.get("results.scores").and_then(Value::as_array).into_iter().flatten() {
            let text = |name: &str| score.get(name).and_then(Value::as_str);
            let (Some(name), metrics) = (text("name"), score.get("metrics").and_then(Value::as_object))
            else {
                continue;
            };
            let scorer = text("scorer").filter(|scorer| *scorer != name);
            let name = scorer.map_or_else(|| name.to_owned(), |scorer| format!("{scorer}.{name}"));
            let reducer = text("reducer").filter(|it| *it != "mean");
            for metric in ["accuracy", "mean"] {
                let value = metrics.and_then(|metrics| metrics.get(metric)?.get("value")?.as_f64());
                out.states(value.map(|value| Stated {
                    words: format!("the {metric} of `{name}`"),
                    fact: fact_name("score_", &name),
                    value,
                    how: held.clone().or_else(|| {
                        reducer.map(|reducer| format!("its attempts at a sample are reduced by `{reducer}`"))
                    }),
                }));
            }
        }
    }

    fn sample(
        &self,
        sample: &Element<'_>,
        again: &mut BTreeMap<String, u64>,
        out: &mut Out<'_>,
    ) -> Result<(), Stop> {
        let own = sample.own;
        let Some(id) = own.name("id") else {
            return Err(Fault::new(sample.place, "a sample without `id`", "the id of each sample").into());
        };
        let epoch = own.name("epoch").unwrap_or_else(|| String::from("1"));
        let mut run = Run {
            subject: self.subject.clone(),
            task: Some(match own.text("metadata.karat_task").filter(|_| self.is_own) {
                Some(task) => task.to_owned(),
                None => format!("{}/{id}", self.task),
            }),
            id: format!("{}/{id}/{epoch}", self.run),
            time: ["completed_at", "started_at"]
                .into_iter()
                .find_map(|name| own.text(name))
                .or(self.created)
                .map(str::to_owned),
            seconds: own.number("total_time"),
            is_own: self.is_own,
            ..Run::default()
        };
        if own.get("limit").is_some() {
            run.outcome = Some(Outcome::Stopped);
        }
        self.usage(own, &mut run, out);
        self.scores(own, &mut run, out);
        let mut without = None;
        if own.get("error").is_some() || own.get("invalidation").is_some() {
            out.unjudged(&run);
            run.outcome = Some(Outcome::NoVerdict);
            (run.solved, run.score) = (None, None);
            without =
                Some("the score of a sample that ended in an error or was made invalid: it has no verdict");
        } else if run.solved.is_none() && run.outcome.is_none() {
            run.outcome = Some(Outcome::NoVerdict);
            without = Some("no score of a sample: it has no verdict");
        }
        let later = self.retries.and_then(|(retries, log)| retries.later(log, &name(own)?, is_finished(own)));
        if let Some(later) = later {
            *again.entry(later.to_owned()).or_default() += 1;
            out.elsewhere("a sample that was tried again in a later log");
            out.accounted(run);
            return Ok(());
        }
        if let Some(reason) = without {
            out.left_out(reason);
        }
        out.run(sample.place, run)
    }

    fn usage(&self, own: &Members, run: &mut Run, out: &mut Out<'_>) {
        let Some(usage) = own.get("model_usage").and_then(Value::as_object) else { return };
        let tokens = |usage: &Value| {
            let of = |name: &str| usage.get(name).and_then(Value::as_f64);
            of("total_tokens").or_else(|| Some(of("input_tokens")? + of("output_tokens")?))
        };
        let cost = |usage: &Value| usage.get("total_cost").and_then(Value::as_f64);
        if let Some(model) = usage.get(self.model) {
            (run.tokens, run.cost_usd) = (tokens(model), cost(model));
            let reason = "tokens of other models than the one evaluated, such as judges";
            out.left_out_times(reason, usage.len() as u64 - 1);
        } else if self.model != "none/none" {
            // The answers came from a cache, say: what was counted is of judges.
            out.left_out_times(
                "tokens of other models than the one evaluated, such as judges",
                usage.len() as u64,
            );
        } else if !usage.is_empty() {
            // Inspect's name for no model: the agent chose its models itself.
            run.tokens = usage.values().map(tokens).sum();
            run.cost_usd = usage.values().map(cost).sum();
        }
    }

    /// Takes the score that says whether the task was solved, and keeps the others under their names.
    fn scores(&self, own: &Members, run: &mut Run, out: &mut Out<'_>) {
        let single = own.get("score").map(|score| Map::from_iter([("score".to_owned(), score.clone())]));
        let Some(scores) = own.get("scores").and_then(Value::as_object).or(single.as_ref()) else { return };
        let mut values: Vec<(String, Option<f64>)> = Vec::new();
        let known: BTreeSet<&str> = self.scorers.iter().copied().collect();
        let first = self.scorers.iter().filter(|name| scores.contains_key(**name)).copied();
        let rest = scores.keys().map(String::as_str).filter(|name| !known.contains(name));
        for name in first.chain(rest) {
            let value = scores.get(name).and_then(|score| score.get("value"));
            match value {
                Some(Value::Object(parts)) => {
                    let parts = parts.iter().map(|(part, value)| (format!("{name}.{part}"), number(value)));
                    values.extend(parts);
                }
                value => values.push((name.to_owned(), value.and_then(number))),
            }
        }
        let chosen = match &out.options.score {
            Some(wanted) => {
                let found = values.iter().position(|(name, _)| name == wanted);
                if found.is_none() {
                    out.left_out(format!("no score `{wanted}` of a sample"));
                }
                found
            }
            // A sample that the first scorer of the log did not score is not in its accuracy either.
            None => match self.scorers.first() {
                Some(scorer) if scores.keys().any(|name| known.contains(name.as_str())) => {
                    let of_first = |name: &str| {
                        name.strip_prefix(scorer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                    };
                    values.iter().position(|(name, _)| of_first(name))
                }
                _ => (!values.is_empty()).then_some(0),
            },
        };
        if values.len() > 1
            && let Some((name, _)) = chosen.and_then(|at| values.get(at))
        {
            let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).take(8).collect();
            let names = names.join("`, `");
            out.note(format!("`solved` is the score `{name}` of `{names}`; --score NAME takes another"));
        }
        for (at, (name, value)) in values.into_iter().enumerate().take(64) {
            if Some(at) == chosen {
                (run.solved, run.score) = (value, Some(name.clone()));
                if value.is_none() {
                    out.left_out(format!("a score `{name}` that is not a number"));
                }
            }
            if Some(at) != chosen {
                run.scored(&name, value);
            }
        }
    }
}

/// Returns a score as a number, as Inspect itself does for its metrics.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::Bool(flag) => Some(f64::from(u8::from(*flag))),
        Value::String(text) => match text.as_str() {
            "C" => Some(1.0),
            "P" => Some(0.5),
            "I" | "N" => Some(0.0),
            text => match text.to_ascii_lowercase().as_str() {
                "yes" | "true" => Some(1.0),
                "no" | "false" => Some(0.0),
                text => text.parse().ok().filter(|number: &f64| number.is_finite()),
            },
        },
        _ => None,
    }
}
