//! The times and sizes that the document of reasoning traces states.

use std::time::{Duration, Instant};

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use serde_json::{Value, json};

use crate::common::{Folder, numbers};

/// A step: a type, with a tool after a colon.
fn steps(kinds: &[&str]) -> Value {
    let step = |(at, kind): (usize, &&str)| {
        let (kind, tool) = kind.split_once(':').map_or((*kind, None), |(kind, tool)| (kind, Some(tool)));
        let mut step = json!({"step_id": at, "type": kind, "content": "text"});
        if let Some(tool) = tool {
            step["tool"] = json!({"name": tool});
        }
        step
    };
    kinds.iter().enumerate().map(step).collect()
}

fn trace(domain: &str, kinds: &[&str], success: bool, confidence: f64) -> Value {
    json!({
        "@context": "https://knowledgepulse.dev/schema/v1", "@type": "ReasoningTrace", "id": "kp:trace:one",
        "metadata": {"created_at": "2026-02-24T09:00:00Z", "task_domain": domain, "success": success,
            "quality_score": 0, "visibility": "network", "privacy_level": "aggregated"},
        "task": {"objective": "find out"}, "steps": steps(kinds),
        "outcome": {"result_summary": "found", "confidence": confidence},
    })
}

const MIXED: [&str; 5] = ["thought", "tool_call:search", "observation", "tool_call:compare", "observation"];

#[test]
fn a_cache_has_the_size_of_the_document_unless_told_otherwise() {
    let folder = Folder::new();
    assert_eq!(folder.karat(&["cache", "new", "a.cache", "--ttl", "3600000"]).status, 0);
    let shown: Value = serde_json::from_str(&folder.karat(&["cache", "show", "a.cache"]).stdout).unwrap();
    assert_eq!([&shown["capacity"], &shown["dimension"], &shown["ttl_milliseconds"]], [1000, 384, 3_600_000]);
}

#[test]
fn traces_have_a_hundred_milliseconds_and_slower_ones_are_named() {
    let folder = Folder::new();
    // Of the size of a trace, and so large that it cannot be read in a millisecond.
    folder.write("usual.json", &trace("default", &MIXED, true, 0.9).to_string());
    folder.write("large.json", &trace("default", &["thought"; 40_000], true, 0.9).to_string());
    let timed = |words: &[&str]| folder.karat(&[&["score", "-c", "trace"], words].concat());
    // A machine that is very busy may keep one of them waiting.
    let is_in_time = |_| timed(&["usual.json"]).stderr.is_empty();
    assert!((0..5).any(is_in_time), "{}", timed(&["usual.json"]).stderr);
    let (slow, patient) =
        (timed(&["--budget-ms", "1", "large.json"]), timed(&["--budget-ms", "600000", "large.json"]));
    slow.ends(0, "of the 1.0 ms allowed");
    assert_eq!((slow.stdout, patient.stderr.as_str()), (patient.stdout, ""));
    let help = folder.karat(&["score", "--help"]).stdout;
    assert!(help.contains("(traces: 100)"), "{help}");
}

/// Returns how many of some traces took longer than a time.
fn slower(folder: &Folder, budget: &str, words: &[&str]) -> (usize, usize) {
    let run = folder.karat(&[&["score", "-c", "trace", "--budget-ms", budget], words].concat());
    assert_eq!(run.status, 0, "{}", run.stderr);
    // Notes beyond the first are counted in the last.
    let more =
        run.stderr.lines().find_map(|line| line.strip_prefix("note: and ")?.split(' ').next()?.parse().ok());
    let named = run.stderr.lines().filter(|line| line.contains(" ms allowed")).count();
    (named + more.unwrap_or(0usize), run.stdout.lines().count())
}

#[test]
fn a_trace_without_an_embedder_takes_less_than_a_millisecond() {
    let folder = Folder::new();
    let line = trace("finance", &MIXED, true, 0.92).to_string();
    folder.write("traces.jsonl", &vec![line; 300].join("\n"));
    // A busy machine may slow some of them, never all.
    let (slow, all) = slower(&folder, "1", &["traces.jsonl"]);
    assert!(all == 300 && slow < 270, "{slow} of {all}");
}

#[test]
fn a_full_cache_is_searched_within_the_budget() {
    let folder = Folder::new();
    assert_eq!(folder.karat(&["cache", "new", "traces.cache"]).status, 0);
    let mut next = numbers(5);
    let lines: Vec<String> = (0..1_100)
        .map(|at| {
            let mut trace = trace("default", &MIXED, true, 0.9);
            trace["id"] = json!(format!("kp:trace:{at}"));
            trace["vector"] = (0..384).map(|_| next(2_001) as f64 / 1_000.0 - 1.0).collect();
            trace.to_string()
        })
        .collect();
    folder.write("traces.jsonl", &lines.join("\n"));
    let (slow, all) = slower(&folder, "100", &["--cache", "traces.cache", "traces.jsonl"]);
    assert!(all == 1_100 && slow < 110, "{slow} of {all}");
    let shown: Value =
        serde_json::from_str(&folder.karat(&["cache", "show", "traces.cache"]).stdout).unwrap();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 1_000);
}

/// The composite and its rules, from facts: arithmetic alone.
#[test]
fn a_composite_and_its_rules_take_less_than_a_tenth_of_a_millisecond() {
    let card = CompiledCard::released("trace").unwrap();
    let facts: Vec<Fact<'_>> = card
        .facts
        .iter()
        .map(|fact| match fact.name.as_str() {
            "success" => Fact::Flag(true),
            "task_domain" => Fact::Text("finance"),
            "confidence" | "novelty" => Fact::Number(0.9),
            "error_recovery_count" => Fact::Number(3.0),
            _ => Fact::Number(4.0),
        })
        .collect();
    let mut engine = Engine::new(std::sync::Arc::clone(&card), Options::default()).unwrap();
    let item = Item {
        subject: "s",
        id: "i",
        context: ItemContext::default(),
        digest: Digest::of(b""),
        facts: &facts,
        grading: None,
        suspicions: &[],
    };
    let quickest = (0..500).map(|_| {
        let start = Instant::now();
        let rules = engine.visit_item(&item, |record| record.steps.len()).unwrap();
        assert_eq!(rules, 1);
        start.elapsed()
    });
    let quickest = quickest.min().unwrap();
    assert!(quickest < Duration::from_micros(100), "{quickest:?}");
}
