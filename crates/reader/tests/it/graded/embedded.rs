//! Traces whose text is embedded, with the published model. Where its files are not there, `embedder.rs` beside this folder
//! says so, and fails where `CI` is set.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_reader::{Graders, Kind, Reader, Watch};
use serde_json::{Value, json};

use super::{example, read, reader};

fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("KARAT_EMBEDDER") {
        return folder.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cache"));
    cache.join("karat-ci/embedder")
}

fn embedder() -> Option<Arc<Embedder>> {
    static EMBEDDER: OnceLock<Option<Arc<Embedder>>> = OnceLock::new();
    let load = || {
        let folder = folder();
        folder.is_dir().then(|| Arc::new(Embedder::load(&folder).unwrap()))
    };
    EMBEDDER.get_or_init(load).clone()
}

fn with(embedder: &Arc<Embedder>, dimension: usize) -> Reader {
    let cache = VectorCache::new(Settings { dimension, ..Settings::default() }).unwrap();
    let embedder = Some(Arc::clone(embedder));
    reader(Kind::ReasoningTrace, Graders { embedder, cache: Some(cache), ..Graders::default() })
}

/// Returns the example traces without their vectors.
fn texts() -> Vec<Value> {
    let mut items = example("traces.jsonl");
    for item in &mut items {
        item.as_object_mut().unwrap().remove("vector").unwrap();
    }
    items
}

#[test]
fn an_embedded_trace_says_what_embedded_it() {
    let Some(embedder) = embedder() else { return };
    let mut reader = with(&embedder, Embedder::DIMENSION);
    let [first, alike, other]: [_; 3] = texts()
        .iter()
        .map(|item| read(&mut reader, &item.to_string()).unwrap())
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert_eq!(first.facts["novelty"], 0.5);
    assert_eq!(first.grading["embedding"]["truncated"], false);
    assert!(first.grading["embedding"]["embedder"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(alike.grading["novelty"]["nearest"]["id"], "agent-first/kp:trace:raw-first");
    let novelty = |read: &super::Read| read.facts["novelty"].as_f64().unwrap();
    assert!(novelty(&alike) < 0.1 && novelty(&other) > 0.3, "{alike:?} {other:?}");
}

/// A watch with time for some layers of the model.
struct Layers(u32);

impl Watch for Layers {
    fn ended(&mut self, _: &'static str) {}

    fn has_time(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

#[test]
fn a_text_that_takes_too_long_has_no_novelty_and_says_why() {
    let Some(embedder) = embedder() else { return };
    let mut reader = with(&embedder, Embedder::DIMENSION);
    let texts: Vec<String> = texts().iter().map(Value::to_string).collect();
    // It is asked once before the first layer and once after each of the six.
    for layers in [1, 2, 7] {
        let evidence = reader.read_watched(None, texts[0].as_bytes(), &mut Layers(layers)).unwrap();
        let item = evidence.item();
        let grading: Value = serde_json::from_str(item.grading.unwrap()).unwrap();
        assert_eq!(grading["novelty"]["basis"], "budget_exceeded", "{layers}");
        assert_eq!(grading["novelty"]["stored"], false);
        let digest = embedder.digest().to_string();
        assert_eq!(grading["embedding"], json!({"embedder": digest}));
    }
    assert!(reader.graders().cache.as_ref().unwrap().is_empty());
    let evidence = reader.read_watched(None, texts[0].as_bytes(), &mut Layers(8)).unwrap();
    assert!(evidence.item().grading.unwrap().contains("nothing_earlier"));
}

#[test]
fn portable_instructions_give_the_same_grading_and_cache() {
    let Some(embedder) = embedder() else { return };
    let portable = Arc::new(Embedder::load(&folder()).unwrap().portable());
    let [mut ours, mut theirs] = [&embedder, &portable].map(|embedder| with(embedder, Embedder::DIMENSION));
    for item in texts() {
        let text = item.to_string();
        assert_eq!(read(&mut ours, &text), read(&mut theirs, &text));
    }
    let saved = |reader: &mut Reader| reader.graders().cache.as_ref().unwrap().save();
    assert_eq!(saved(&mut ours), saved(&mut theirs));
}

#[test]
fn a_blank_text_has_nothing_to_compare() {
    let Some(embedder) = embedder() else { return };
    let mut reader = with(&embedder, Embedder::DIMENSION);
    let mut item = texts().remove(0);
    item["task"]["objective"] = json!(" \u{200b}");
    item["steps"] = json!([{"step_id": 0, "type": "thought", "content": ""}]);
    let seen = read(&mut reader, &item.to_string()).unwrap();
    assert_eq!(seen.facts["novelty"], Value::Null);
    assert_eq!(seen.grading["novelty"]["basis"], "no_vector");
    assert!(seen.grading["embedding"].is_object());
    assert!(reader.graders().cache.as_ref().unwrap().is_empty());
}

/// The item has no vector, so no problem may point at one.
#[test]
fn a_cache_of_another_embedder_is_refused() {
    let Some(embedder) = embedder() else { return };
    let mut reader = with(&embedder, 4);
    let problem = read(&mut reader, &texts().remove(0).to_string()).unwrap_err();
    assert!(
        problem.starts_with("$: found 384 numbers, expected 4 numbers, the dimension of the cache"),
        "{problem}"
    );
}

/// Or else the subject would choose what it is compared by.
#[test]
fn a_vector_of_the_trace_gives_way_to_the_embedder() {
    let Some(embedder) = embedder() else { return };
    let mut reader = with(&embedder, Embedder::DIMENSION);
    let mut item = texts().remove(0);
    let plain = read(&mut with(&embedder, Embedder::DIMENSION), &item.to_string()).unwrap();
    item["vector"] = json!([1, 0]);
    let seen = read(&mut reader, &item.to_string()).unwrap();
    assert_eq!((&seen.facts, &seen.grading), (&plain.facts, &plain.grading));
    assert_eq!(seen.notes, ["$.vector: not used: the embedder reads the text"]);
}
