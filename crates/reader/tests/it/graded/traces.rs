//! Novelty: given, or read against a cache by a vector in the evidence.

use karat_graders::trace::novelty::{Settings, VectorCache};
use karat_reader::{Graders, Kind, Reader};
use serde_json::{Value, json};

use super::{Read, example, read, reader};

/// Returns a trace of that id with a vector, at `minute` minutes past nine.
fn trace(id: &str, minute: u32, vector: Value) -> Value {
    let mut item = example("traces.jsonl").remove(0);
    item["id"] = json!(format!("kp:trace:{id}"));
    item["metadata"]["created_at"] = json!(format!("2026-03-18T09:{minute:02}:00Z"));
    item["vector"] = vector;
    item
}

/// Returns the same without a vector.
fn plain(id: &str, minute: u32) -> Value {
    let mut item = trace(id, minute, Value::Null);
    item.as_object_mut().unwrap().remove("vector").unwrap();
    item
}

fn cache(settings: Settings) -> Reader {
    let cache = VectorCache::new(Settings { dimension: 2, ..settings }).unwrap();
    reader(Kind::ReasoningTrace, Graders { cache: Some(cache), ..Graders::default() })
}

fn fresh() -> Reader {
    cache(Settings::default())
}

fn look(reader: &mut Reader, item: &Value) -> Result<Read, String> {
    read(reader, &item.to_string())
}

fn saved(reader: &mut Reader) -> Vec<u8> {
    reader.graders().cache.as_ref().unwrap().save()
}

fn ids(reader: &mut Reader) -> Vec<String> {
    reader
        .graders()
        .cache
        .as_ref()
        .unwrap()
        .entries()
        .map(|entry| entry.id.replace("agent-first/kp:trace:", ""))
        .collect()
}

#[test]
fn without_anything_to_go_by_novelty_is_missing_and_says_why() {
    let mut reader = reader(Kind::ReasoningTrace, Graders::default());
    let seen = look(&mut reader, &plain("a", 0)).unwrap();
    assert_eq!(
        (&seen.facts["novelty"], &seen.grading),
        (&Value::Null, &json!({"novelty": {"basis": "no_embedder"}}))
    );
    let mut given = plain("a", 0);
    given["novelty"] = json!(0.7);
    let seen = look(&mut reader, &given).unwrap();
    assert_eq!((&seen.facts["novelty"], &seen.grading), (&json!(0.7), &Value::Null));
    assert!(reader.graders().cache.is_none());
}

#[test]
fn a_vector_is_read_against_what_came_before() {
    let mut reader = fresh();
    let empty = reader.graders().cache.as_ref().unwrap().digest().to_string();
    let first = look(&mut reader, &trace("a", 0, json!([1, 0]))).unwrap();
    assert_eq!(first.facts["novelty"], 0.5, "the first of all");
    assert_eq!(first.grading["novelty"]["basis"], "nothing_earlier");
    assert_eq!(first.grading["novelty"]["cache"], empty);
    let second = look(&mut reader, &trace("b", 1, json!([3, 4]))).unwrap();
    assert_eq!(second.facts["novelty"], 0.4);
    let nearest =
        json!({"id": "agent-first/kp:trace:a", "moment": "2026-03-18T09:00:00Z", "similarity": 0.6});
    assert_eq!(second.grading["novelty"]["nearest"], nearest);
    // What points away is as new as what has nothing in common.
    assert_eq!(look(&mut reader, &trace("c", 2, json!([-4, -3]))).unwrap().facts["novelty"], 1.0);
    assert_eq!(ids(&mut reader), ["a", "b", "c"]);
}

#[test]
fn the_same_trace_again_is_as_new_as_it_was() {
    let mut reader = fresh();
    look(&mut reader, &trace("a", 0, json!([1, 0]))).unwrap();
    let before = look(&mut reader, &trace("b", 1, json!([3, 4]))).unwrap();
    let held = saved(&mut reader);
    look(&mut reader, &trace("c", 2, json!([3, 4]))).unwrap();
    let again = look(&mut reader, &trace("b", 1, json!([3, 4]))).unwrap();
    assert_eq!(again.facts, before.facts);
    assert_eq!(again.grading["novelty"]["repeat"], true);
    assert_eq!(ids(&mut reader), ["a", "b", "c"]);
    assert_ne!(saved(&mut reader), held);
    // Another trace with the same vector is not new at all, nor is one of another subject under the same id.
    assert_eq!(look(&mut reader, &trace("d", 3, json!([6, 8]))).unwrap().facts["novelty"], 0.0);
    let mut thief = trace("b", 4, json!([3, 4]));
    thief["metadata"]["agent_id"] = json!("thief");
    let seen = look(&mut reader, &thief).unwrap();
    assert_eq!((&seen.facts["novelty"], &seen.grading["novelty"]["repeat"]), (&json!(0.0), &json!(false)));
}

#[test]
fn a_refused_trace_leaves_the_cache_as_it_was() {
    let mut reader = cache(Settings { ttl_milliseconds: Some(60_000), ..Settings::default() });
    look(&mut reader, &trace("a", 5, json!([1, 0]))).unwrap();
    let before = saved(&mut reader);
    let changed = |pointer: &str, value: Value| {
        let mut item = trace("b", 9, json!([0, 1]));
        *item.pointer_mut(pointer).unwrap() = value;
        item
    };
    for (item, expected) in [
        (
            trace("b", 4, json!([0, 1])),
            "$.vector: found a vector of 2026-03-18T09:04:00Z, expected one not before",
        ),
        (trace("b", 9, json!([0, 1, 2])), "$.vector: found 3 numbers, expected 2 numbers"),
        (trace("b", 9, json!([])), "$.vector: found 0 numbers, expected 2 numbers"),
        (trace("b", 9, json!({"0": 1})), "$.vector: found an object"),
        (trace("b", 9, Value::Null), "$.vector: found null"),
        (trace("b", 9, json!([0, "1"])), "$.vector[1]: found `1`"),
        (trace("b", 9, json!([0, 1e39])), "$.vector[1]: found 1e+39"),
        (changed("/outcome/confidence", json!(1.5)), "$.outcome.confidence: found `1.5`"),
        (changed("/id", json!("b")), "$.id: found the text `b`"),
        (changed("/metadata/created_at", json!("today")), "$.metadata.created_at: found the text `today`"),
        (changed("/steps", json!([])), "$.steps: found no steps"),
    ] {
        let problem = look(&mut reader, &item).unwrap_err();
        assert!(problem.starts_with(expected) && problem.lines().count() == 1, "{problem}");
        assert_eq!(saved(&mut reader), before, "{problem}");
    }
    let twice =
        trace("b", 9, json!([0, 1])).to_string().replacen('{', r#"{"novelty": 0.1, "novelty": 0.2, "#, 1);
    assert!(read(&mut reader, &twice).unwrap_err().contains("the key a second time"));
    assert_eq!(saved(&mut reader), before);
}

#[test]
fn a_claim_gives_way_to_what_is_read_with_a_note() {
    let mut reader = fresh();
    let mut item = trace("a", 0, json!([1, 0]));
    item["novelty"] = json!(0.9);
    let seen = look(&mut reader, &item).unwrap();
    assert_eq!(seen.facts["novelty"], 0.5);
    assert_eq!(seen.notes, ["$.novelty: the trace says 0.9, by its vector it is 0.5"]);
    item["novelty"] = json!(0.5);
    assert_eq!(look(&mut reader, &item).unwrap().notes, [""; 0]);
}

/// Otherwise a trace without a vector, or with one without direction, could choose how new it is.
#[test]
fn a_claim_counts_for_nothing_where_vectors_are_compared() {
    let mut reader = fresh();
    for mut item in [plain("a", 0), trace("b", 1, json!([0, 0]))] {
        item["novelty"] = json!(1);
        let seen = look(&mut reader, &item).unwrap();
        assert_eq!(seen.facts["novelty"], Value::Null);
        let basis = seen.grading["novelty"]["basis"].as_str().unwrap();
        assert!(["no_vector", "zero_vector"].contains(&basis), "{basis}");
        let note = "$.novelty: the trace says 1, it has no vector that says so, so it is missing";
        assert_eq!(seen.notes, [note]);
    }
    assert_eq!(ids(&mut reader), [""; 0]);
    // Without anything to compare with, the claim is all there is: who compares elsewhere hands it in.
    let mut item = plain("a", 0);
    item["novelty"] = json!(0.9);
    let seen = look(&mut super::reader(Kind::ReasoningTrace, Graders::default()), &item).unwrap();
    assert_eq!((&seen.facts["novelty"], &seen.grading), (&json!(0.9), &Value::Null));
}

#[test]
fn the_first_vector_begins_a_cache_of_its_length() {
    let mut reader = reader(Kind::ReasoningTrace, Graders::default());
    let problem = look(&mut reader, &trace("a", 0, json!([]))).unwrap_err();
    assert!(
        problem.starts_with("$.vector: found 0 numbers, expected 1 to 65536 numbers (line 1, "),
        "{problem}"
    );
    assert_eq!(look(&mut reader, &trace("a", 0, json!([1, 0, 0]))).unwrap().facts["novelty"], 0.5);
    let settings = reader.graders().cache.as_ref().unwrap().settings();
    assert_eq!((settings.dimension, settings.capacity), (3, 1000));
    let problem = look(&mut reader, &trace("b", 1, json!([1, 0]))).unwrap_err();
    assert!(problem.starts_with("$.vector: found 2 numbers, expected 3 numbers"), "{problem}");
    // From now on there is something to read against, also for what has no vector.
    let seen = look(&mut reader, &plain("c", 2)).unwrap();
    assert_eq!(seen.grading["novelty"]["basis"], "no_vector");
}

#[test]
fn what_the_caller_refuses_leaves_nothing_in_the_cache() {
    let mut reader = fresh();
    look(&mut reader, &trace("a", 0, json!([1, 0]))).unwrap();
    let before = saved(&mut reader);
    look(&mut reader, &trace("b", 1, json!([0, 1]))).unwrap();
    reader.refuse_last();
    assert_eq!(saved(&mut reader), before);
    look(&mut reader, &trace("c", 2, json!([0, 1]))).unwrap();
    assert_eq!(ids(&mut reader), ["a", "c"]);
}
