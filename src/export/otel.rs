//! OpenTelemetry: OTLP in JSON, a trace with one span for each item, and on it an event `gen_ai.evaluation.result` for each score.

use karat_core::facts::Digest;
use karat_core::record::ENGINE_VERSION;
use serde_json::{Value, json};

use super::{Export, File, Item};

pub(super) fn write(items: &[Item], export: &mut Export) {
    let spans: Vec<Value> = items.iter().map(span).collect();
    export.items += items.len() as u64;
    let request = json!({
        "resourceSpans": [{
            "resource": {"attributes": [text("service.name", "karat")]},
            "scopeSpans": [{"scope": {"name": "karat", "version": ENGINE_VERSION}, "spans": spans}],
        }],
    });
    export.files.push(File { name: String::from("evaluations.otlp.json"), text: format!("{request}\n") });
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn number(key: &str, value: f64) -> Value {
    json!({"key": key, "value": {"doubleValue": value}})
}

fn span(item: &Item) -> Value {
    // Ids are made from the record, so that a second export is the same trace.
    let digest = Digest::of(format!("{}\0{}", item.digest, item.id).as_bytes()).to_string();
    let part = |from: usize, to: usize| digest.get(7 + from..7 + to).unwrap_or_default().to_owned();
    let start = item.time.map_or(0, |time| i128::from(time.milliseconds) * 1_000_000);
    let long = item.seconds.map_or(0, |seconds| (seconds * 1e9).round() as i128);
    let mut attributes = vec![
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.agent.name", &item.subject),
        text("karat.id", &item.id),
        text("karat.record", &item.digest),
        text("karat.scorecard", &item.scorecard),
    ];
    attributes.extend(item.has_task.then(|| text("karat.task", &item.task())));
    attributes.extend(item.outcome.map(|outcome| text("karat.outcome", outcome.name())));
    attributes.extend(item.seconds.map(|seconds| number("karat.seconds", seconds)));
    attributes.extend(item.tokens.map(|tokens| number("llm.token_count.total", tokens)));
    attributes.extend(item.cost_usd.map(|cost| number("gen_ai.usage.cost", cost)));
    let own = item.score.map(|score| ("solved".to_owned(), score));
    let event = |(name, score): (String, f64)| {
        let label = item.outcome.map(|outcome| text("gen_ai.evaluation.score.label", outcome.name()));
        let attributes =
            [text("gen_ai.evaluation.name", &name), number("gen_ai.evaluation.score.value", score)];
        json!({
            "timeUnixNano": (start + long).to_string(),
            "name": "gen_ai.evaluation.result",
            "attributes": attributes.into_iter().chain(label).collect::<Vec<_>>(),
        })
    };
    json!({
        "traceId": part(0, 32),
        "spanId": part(32, 48),
        "name": format!("invoke_agent {}", item.subject),
        "kind": 1,
        "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": (start + long).to_string(),
        "attributes": attributes,
        "events": own.into_iter().chain(item.scores.iter().cloned()).map(event).collect::<Vec<_>>(),
    })
}
