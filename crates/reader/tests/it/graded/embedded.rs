//! Traces whose text is embedded, with the published model. Where its files are not there, `embedder.rs` beside this folder
//! says so, and fails where `CI` is set.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use karat_graders::trace::embedder::Embedder;
use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_reader::{Graders, Kind, Reader};
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

/// Padding changes how much of a text is read, and never whether: no copy gets the novelty of what could not be
/// compared, and each is there for the next one.
#[test]
fn padding_does_not_escape_the_comparison() {
    let Some(embedder) = embedder() else { return };
    let short = texts().remove(0);
    let content = short["steps"][0]["content"].as_str().unwrap().to_owned();
    let with = |text: String| {
        let mut item = short.clone();
        item["steps"][0]["content"] = text.into();
        item
    };
    // More tokens than the model reads.
    let long = with(format!("{content} {}", "the harbour is closed by ice until the spring ".repeat(100)));
    let long_text = long["steps"][0]["content"].as_str().unwrap().to_owned();
    let words = "unrelated words about a garden of roses and bees ".repeat(2000);
    for (case, original, padded, most) in [
        ("blanks", &short, format!("{}{content}\u{200b}", " \n\t".repeat(30_000)), 1e-6),
        ("words behind a long text", &long, format!("{long_text} {words}"), 1e-6),
        ("a long text twice", &long, format!("{long_text} {long_text}"), 1e-6),
        // As much of them as the model reads makes another text.
        ("words behind a short text", &short, format!("{content} {words}"), 1.0),
        ("words before a short text", &short, format!("{words} {content}"), 1.0),
    ] {
        let mut reader = self::with(&embedder, Embedder::DIMENSION);
        let first = read(&mut reader, &original.to_string()).unwrap();
        assert_eq!(first.grading["novelty"]["basis"], "nothing_earlier", "{case}");
        for (copy, most) in [("kp:trace:copy", most), ("kp:trace:copy-of-copy", 1e-6)] {
            let mut item = with(padded.clone());
            item["id"] = copy.into();
            let seen = read(&mut reader, &item.to_string()).unwrap();
            let basis = &seen.grading["novelty"];
            assert_eq!(
                (&basis["basis"], &basis["stored"]),
                (&json!("compared"), &json!(true)),
                "{case} {copy}"
            );
            let novelty = seen.facts["novelty"].as_f64().unwrap();
            assert!(novelty <= most, "{case}, {copy}: {novelty}");
            assert_eq!(seen.grading["embedding"]["truncated"], case != "blanks", "{case}");
        }
    }
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
