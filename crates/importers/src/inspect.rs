//! Inspect: `.json`, and `.eval`, which is a zip archive of the same texts, packed with deflate or Zstandard.
//!
//! Newer logs keep each message once, in pools; no fact is in a message, so none is read.

use std::collections::BTreeSet;

use karat_core::facts::Outcome;
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Value};

use super::bytes::json_text;
use super::json::{Element, Members, Wanted};
use super::out::{Out, Run};
use super::zip::Archive;
use super::{Fault, Importer, Input, Role, Stop, json};

/// The importer of Inspect: `.eval`, `.json`.
pub(super) static IMPORTER: Importer = Importer {
    name: "inspect",
    words: "an Inspect log",
    role: Role::Try,
    marks: &[&["eval.task", "eval.model"]],
    read,
    ..Importer::RUNS
};

const SAMPLE: &str = "id epoch scores score error limit model_usage total_time started_at completed_at invalidation \
    metadata.karat_task";
const HEADER: &str = "status eval.task eval.model eval.eval_id eval.run_id eval.created eval.metadata.karat eval.scorers \
    results.scores results.total_samples results.completed_samples";

/// Returns the id of the task, which all tries at it have, and the moment of this one.
pub(super) fn task_id(input: &Input) -> Result<Option<(String, Timestamp)>, Stop> {
    let wanted = Wanted::of(&[("", "eval.task_id eval.created"), ("samples[]", "id")]);
    let of = |header: &Members| {
        let created = Timestamp::parse(header.text("eval.created")?).ok()?;
        Some((header.text("eval.task_id")?.to_owned(), created))
    };
    if input.head(4)?.starts_with(b"PK\x03\x04") {
        let archive = Archive::open(input)?;
        let text = json_text(archive.member(header_of(&archive))?)?;
        return Ok(of(&json::read(text, &wanted, &mut |_| Ok(()))?));
    }
    let mut found = None;
    let read = json::read(input.json()?, &wanted, &mut |sample| {
        found = of(sample.before);
        Err(Stop::Enough)
    });
    match read {
        Err(Stop::Enough) => Ok(found),
        other => Ok(of(&other?)),
    }
}

fn header_of(archive: &Archive) -> &'static str {
    if archive.has("header.json") { "header.json" } else { "_journal/start.json" }
}

fn read(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    if let Some(retries) = &out.options.retries
        && let Some((task, created)) = task_id(input)?
        && let Some(later) = retries.later(&task, created)
    {
        out.note(format!("`{}` was tried again in `{later}`, which counts alone", input.name()));
        out.elsewhere("a log whose task was tried again in another that is read");
        return Ok(());
    }
    if input.head(4)?.starts_with(b"PK\x03\x04") {
        return archive(input, out);
    }
    let mut count = 0;
    let wanted = Wanted::of(&[("", HEADER), ("samples[]", SAMPLE)]);
    let header = json::read(input.json()?, &wanted, &mut |sample| {
        count += 1;
        Log::new(sample.before)?.sample(sample, out)
    })?;
    Log::new(&header)?;
    ended(&header, count, out);
    Ok(())
}

fn archive(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let archive = Archive::open(input)?;
    let name = header_of(&archive);
    let in_member = |stop: Stop, name: &str| {
        stop.at(|place| if place.is_empty() { name.to_owned() } else { format!("{name}, {place}") })
    };
    let text = json_text(archive.member(name)?)?;
    let header = json::read(text, &Wanted::of(&[("", HEADER)]), &mut |_| Ok(()));
    let header = header.map_err(|stop| in_member(stop, name))?;
    let log = Log::new(&header).map_err(|stop| in_member(stop, name))?;
    let wanted = Wanted::of(&[("", SAMPLE)]);
    let mut names: Vec<&String> =
        archive.names.iter().filter(|name| name.starts_with("samples/") && name.ends_with(".json")).collect();
    names.sort_unstable();
    for name in &names {
        let text = json_text(archive.member(name)?)?;
        let sample = json::read(text, &wanted, &mut |_| Ok(())).map_err(|stop| in_member(stop, name))?;
        log.sample(&Element { place: name, before: &header, own: &sample, line: &[] }, out)?;
    }
    if name != "header.json" {
        out.note("the log has no end: it is of a run that was broken off, with the samples until then");
    }
    ended(&header, names.len() as u64, out);
    Ok(())
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
    model: &'a str,
    task: &'a str,
    run: String,
    created: Option<&'a str>,
    /// Scorers in the order of the log.
    scorers: Vec<&'a str>,
    /// True if karat wrote it.
    is_own: bool,
}

impl<'a> Log<'a> {
    fn new(header: &'a Members) -> Result<Self, Stop> {
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
        Ok(Self { model, task, run, created, scorers, is_own })
    }

    fn sample(&self, sample: &Element<'_>, out: &mut Out<'_>) -> Result<(), Stop> {
        let own = sample.own;
        let Some(id) = own.name("id") else {
            return Err(Fault::new(sample.place, "a sample without `id`", "the id of each sample").into());
        };
        let epoch = own.name("epoch").unwrap_or_else(|| String::from("1"));
        let mut run = Run {
            subject: self.model.to_owned(),
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
        let is_broken = own.get("error").is_some();
        if is_broken || own.get("invalidation").is_some() {
            run.outcome = Some(Outcome::NoVerdict);
            run.solved = None;
            out.left_out(
                "the score of a sample that ended in an error or was made invalid: it has no verdict",
            );
        } else if run.solved.is_none() && run.outcome.is_none() {
            run.outcome = Some(Outcome::NoVerdict);
            out.left_out("no score of a sample: it has no verdict");
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
                run.solved = value;
                if value.is_none() {
                    out.left_out(format!("a score `{name}` that is not a number"));
                }
            }
            if Some(at) != chosen || value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
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
