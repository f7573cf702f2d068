//! Inspect: a log in JSON for each subject and benchmark, with a sample for each item and its scores. What was said
//! in a run
//! is in no record, so inputs and messages are empty.

use karat_core::facts::{Digest, Outcome};
use karat_core::record::ENGINE_VERSION;
use karat_core::timestamp::Timestamp;
use serde_json::{Map, Value, json};

use super::{Export, File, Item, file_name, groups, mean};

/// The name of the score of a sample.
const SCORER: &str = "solved";

pub(super) fn write(items: &[Item], export: &mut Export) {
    for own in groups(items, 2) {
        let Some(first) = own.first() else { continue };
        let text = log(first, own, export);
        export.items += own.len() as u64;
        let name = format!("{}.json", file_name(&[&first.benchmark, &first.subject]));
        export.files.push(File { name, text: format!("{text}\n") });
    }
}

/// Returns a time as Inspect writes it; where none is known, the first that there is.
fn written(time: Option<Timestamp>) -> String {
    time.unwrap_or(Timestamp { milliseconds: 0 }).to_string()
}

fn log(first: &Item, own: &[Item], export: &mut Export) -> String {
    let ids: String = own.iter().map(|item| format!("{}\n", item.digest)).collect();
    let digest = Digest::of(ids.as_bytes()).to_string();
    let id = digest.get(7..29).unwrap_or_default();
    let times = || own.iter().filter_map(|item| item.time);
    let (begun, ended) = (written(times().min()), written(times().max()));
    let samples = groups(own, 3).count();
    let epochs = own.iter().map(|item| item.attempt).max().unwrap_or(1);
    let sample_ids: Vec<&String> = groups(own, 3).filter_map(|it| Some(&it.first()?.sample)).collect();
    let score = mean(own, |item| item.score);
    let metrics = score.map(|score| json!({"mean": {"name": "mean", "value": score, "params": {}}}));
    let scored = own.iter().filter(|item| item.score.is_some()).count();
    // Readers of a log take its members in this order: what samples are of comes before them.
    let head = [
        ("version", json!(2)),
        ("status", json!("success")),
        (
            "eval",
            json!({
                "eval_id": id,
                "run_id": id,
                "task_id": id,
                "created": begun,
                "task": first.benchmark,
                "task_version": 0,
                "task_attribs": {},
                "task_args": {},
                "model": first.subject,
                "model_args": {},
                "dataset": {"name": first.benchmark, "samples": samples, "sample_ids": sample_ids},
                "config": {"epochs": epochs},
                "metadata": {"karat": ENGINE_VERSION, "scorecard": first.scorecard},
                "packages": {},
            }),
        ),
        ("plan", json!({"name": "plan", "steps": []})),
        (
            "results",
            json!({
                "total_samples": own.len(),
                "completed_samples": own.len(),
                "scores": [{
                    "name": SCORER,
                    "scorer": SCORER,
                    "scored_samples": scored,
                    "unscored_samples": own.len() - scored,
                    "params": {},
                    "metrics": metrics.unwrap_or_else(|| json!({})),
                }],
            }),
        ),
        ("stats", json!({"started_at": begun, "completed_at": ended, "model_usage": {}})),
        ("samples", Value::Array(own.iter().map(|item| sample(item, export)).collect())),
    ];
    let members = head.map(|(name, value)| format!("\"{name}\":{value}"));
    format!("{{{}}}", members.join(","))
}

fn sample(item: &Item, export: &mut Export) -> Value {
    let mut scores = Map::new();
    let value = |score: f64| json!({"value": score, "answer": null, "explanation": null, "metadata": {}});
    scores.extend(item.score.map(|score| (SCORER.to_owned(), value(score))));
    let name = |own: &str| if own == SCORER { format!("{SCORER}_score") } else { own.to_owned() };
    scores.extend(item.scores.iter().map(|(own, score)| (name(own), value(*score))));
    let mut found = json!({
        "id": item.sample,
        "epoch": item.attempt,
        "input": "",
        "target": "",
        "messages": [],
        "output": {"model": item.subject, "choices": []},
        "scores": scores,
        "metadata": {"karat_id": item.id, "karat_record": item.digest, "karat_task": item.task},
        "store": {},
        "events": [],
        "attachments": {},
    });
    let Some(members) = found.as_object_mut() else { return found };
    let mut put = |name: &str, value: Option<Value>| {
        members.extend(value.map(|value| (name.to_owned(), value)));
    };
    put("started_at", item.time.map(|time| time.to_string().into()));
    put("completed_at", item.time.map(|time| time.to_string().into()));
    put("total_time", item.seconds.map(Value::from));
    let usage = (item.tokens.is_some() || item.cost_usd.is_some()).then(|| {
        let mut usage = Map::new();
        let whole = item.tokens.filter(|tokens| tokens.fract() == 0.0 && *tokens < 9e15);
        usage.extend(whole.map(|tokens| ("total_tokens".to_owned(), Value::from(tokens as u64))));
        usage.extend(item.cost_usd.map(|cost| ("total_cost".to_owned(), Value::from(cost))));
        json!({item.subject.as_str(): usage})
    });
    put("model_usage", usage);
    match item.outcome {
        Some(Outcome::NoVerdict) => put(
            "error",
            Some(json!({
                "message": "no verdict", "traceback": "", "traceback_ansi": "",
            })),
        ),
        Some(Outcome::Stopped) => put("limit", Some(json!({"type": "custom", "limit": 0.0}))),
        Some(Outcome::NotApplicable | Outcome::Refused) => {
            export.leave_out("the outcome `not-applicable` or `refused`: a sample of Inspect cannot hold it");
        }
        Some(Outcome::Succeeded | Outcome::Failed) | None => {}
    }
    found
}
