//! Reasoning traces: the score of a trace whose likeness to earlier ones is known.

use karat_core::record::StepKind;
use karat_graders::trace::embedder::Embedder;
use karat_reader::embedding_text;
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::{Judge, all, number, reading, score};

/// `evaluate`: values, profile, composite, the rules that fired, the score, and the text that novelty is based on.
///
/// The trace is read as evidence is. Only the harness states novelty: a claim of the trace itself is dropped, and one
/// less the highest similarity is used instead, or nothing if there was nothing to compare with.
pub fn evaluate(trace: &mut Judge, given: &Given<'_>) -> Result<Value, String> {
    let unit = given.member("trace")?;
    let mut item = match unit.value() {
        Value::Object(members) => members.clone(),
        _ => return Err(unit.expected("an object")),
    };
    item.remove("novelty");
    item.remove("vector");
    if let Some(similarity) = given.member("max_similarity")?.optional_number()? {
        item.insert("novelty".into(), number(1.0 - similarity.clamp(0.0, 1.0)));
    }
    let item = Value::Object(item);
    let text = embedding_text(item.to_string().as_bytes()).map_err(|problems| all(&problems))?;
    trace.read_and_score(&item, None, |record| {
        let mut output: Map<String, Value> =
            record.dimensions.iter().map(|part| (part.key.to_owned(), reading(part))).collect();
        let rules = record.steps.iter().filter(|step| step.kind == StepKind::Rule).map(|step| step.name);
        output.insert("score".into(), score(record.score));
        output.insert("composite".into(), score(record.composite));
        output.insert("profile".into(), json!(record.profile.map(|profile| profile.name)));
        output.insert("rules".into(), rules.collect());
        output.insert("embedding_text".into(), text.into());
        Value::Object(output)
    })
}

/// `embedding`: the vector of a text, and how many tokens were read.
pub fn embedding(embedder: Option<&Embedder>, given: &Given<'_>) -> Result<Value, String> {
    let text = given.member("text")?.text()?;
    let embedder = embedder.ok_or("there is no embedder: give the folder of its model with --embedder")?;
    let embedding = embedder.embed(text).map_err(|problems| all(&problems))?;
    Ok(json!({"tokens": embedding.tokens, "embedding": embedding.vector}))
}
