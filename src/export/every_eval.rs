//! Every Eval Ever: for each subject the samples, one on each line, and a record with their means.

use karat_core::facts::{Digest, Outcome};
use karat_core::record::ENGINE_VERSION;
use serde_json::{Map, Value, json};

use super::{Export, File, Item, file_name, groups, mean, newest};
use crate::answers;

/// The version of both schemas that is written.
const SCHEMA: &str = "0.2.1";

pub(super) fn write(items: &[Item], export: &mut Export) {
    for own in groups(items, 1) {
        let Some(first) = own.first() else { continue };
        let moment = newest(own);
        let evaluation = format!("karat/{}/{moment}", first.subject);
        let mut lines = String::new();
        let mut rows = 0u64;
        for item in own {
            let Some(score) = counted(item) else {
                // The schema has no sample without a score, and 0 is one.
                export.leave_out("an item without a score: a sample has one");
                continue;
            };
            lines.push_str(&answers::write(&sample(item, &evaluation, score)));
            lines.push('\n');
            rows += 1;
        }
        if rows == 0 {
            continue;
        }
        export.items += rows;
        let name = file_name(&[&first.subject]);
        let samples = format!("{name}_samples.jsonl");
        // In the order that readers need: what results are of comes before them.
        let members = [
            ("schema_version", json!(SCHEMA)),
            ("evaluation_id", json!(evaluation)),
            ("retrieved_timestamp", json!(moment.to_string())),
            (
                "source_metadata",
                json!({
                    "source_name": "karat",
                    "source_type": "evaluation_run",
                    "source_organization_name": "unknown",
                    "evaluator_relationship": "other",
                }),
            ),
            ("eval_library", json!({"name": "karat", "version": ENGINE_VERSION})),
            ("model_info", json!({"id": first.subject, "name": first.subject})),
            ("evaluation_results", results(own).into()),
            (
                "detailed_evaluation_results",
                json!({
                    "format": "jsonl",
                    "file_path": samples,
                    "hash_algorithm": "sha256",
                    "checksum": Digest::of(lines.as_bytes()).to_string().trim_start_matches("sha256:"),
                    "total_rows": rows,
                }),
            ),
        ];
        let members = members.map(|(name, value)| format!("\"{name}\":{value}"));
        let text = format!("{{{}}}", members.join(","));
        export.files.push(File { name: format!("{name}.json"), text: format!("{text}\n") });
        export.files.push(File { name: samples, text: lines });
    }
}

/// Returns the score of a sample, 0 for a run that failed or was stopped before it had one, as in the mean of runs.
fn counted(item: &Item) -> Option<f64> {
    item.score.or(matches!(item.outcome, Some(Outcome::Failed | Outcome::Stopped)).then_some(0.0))
}

fn results(own: &[Item]) -> Vec<Value> {
    let of = |items: &[Item]| {
        let (first, score) = (items.first()?, mean(items, counted)?);
        let samples =
            groups(items, 3).filter(|attempts| attempts.iter().any(|it| counted(it).is_some())).count();
        Some(json!({
            "evaluation_name": first.benchmark,
            "evaluation_result_id": first.benchmark,
            "source_data": {"dataset_name": first.benchmark, "source_type": "other"},
            "metric_config": {
                "evaluation_description": format!("the mean over samples, by the scorecard {}", first.scorecard),
                "lower_is_better": false,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "score_details": {"score": answers::share(score), "uncertainty": {"num_samples": samples}},
        }))
    };
    groups(own, 2).filter_map(of).collect()
}

fn sample(item: &Item, evaluation: &str, score: f64) -> Value {
    // Of these the schema has no member; values of its metadata are texts.
    let mut about = Map::new();
    let mut tell = |name: &str, value: Option<String>| {
        about.extend(value.map(|value| (format!("karat_{name}"), Value::from(value))));
    };
    tell("id", Some(item.id.clone()));
    tell("task", item.task.clone());
    tell("time", item.time.map(|time| time.to_string()));
    tell("outcome", item.outcome.map(|outcome| outcome.name().to_owned()));
    tell("tokens", item.tokens.map(|tokens| tokens.to_string()));
    tell("score", item.score.is_none().then(|| String::from("none")));
    tell("record", Some(item.digest.clone()));
    let mut value = json!({
        "schema_version": SCHEMA,
        "evaluation_id": evaluation,
        "model_id": item.subject,
        "evaluation_name": item.benchmark,
        "evaluation_result_id": item.benchmark,
        "sample_id": item.sample,
        "interaction_type": "agentic",
        "input": {"raw": "", "reference": []},
        "output": null,
        "messages": [],
        "answer_attribution": [],
        "evaluation": {"score": score, "is_correct": score >= 1.0},
        "metadata": about,
    });
    let mut performance = Map::new();
    performance.extend(item.seconds.map(|seconds| ("latency_ms".to_owned(), Value::from(seconds * 1000.0))));
    performance.extend(item.cost_usd.map(|cost| ("cost_usd".to_owned(), Value::from(cost))));
    if let Some(members) = value.as_object_mut().filter(|_| !performance.is_empty()) {
        members.insert("performance".to_owned(), performance.into());
    }
    value
}
