//! The document of reasoning traces.

use std::time::{Duration, Instant};

use karat::card::CompiledCard;
use karat::engine::{Engine, Options};
use karat_core::facts::{Digest, Fact, Item, ItemContext};
use serde_json::{Value, json};

use super::{alike, published, record, records, refusal, value};
use crate::common::{Folder, numbers};

/// The weights of each domain: complexity, novelty, tool diversity, outcome.
const PROFILES: [(&str, [f64; 4]); 5] = [
    ("default", [0.25, 0.35, 0.15, 0.25]),
    ("finance", [0.20, 0.25, 0.10, 0.45]),
    ("code", [0.20, 0.30, 0.30, 0.20]),
    ("medical", [0.15, 0.20, 0.10, 0.55]),
    ("customer_service", [0.20, 0.30, 0.20, 0.30]),
];
const KEYS: [&str; 4] = ["complexity", "novelty", "tool_diversity", "outcome_confidence"];

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

fn rules(record: &Value) -> Vec<&str> {
    record["steps"].as_array().unwrap().iter().filter_map(|step| step["name"].as_str()).collect()
}

const MIXED: [&str; 5] = ["thought", "tool_call:search", "observation", "tool_call:compare", "observation"];

#[test]
fn each_domain_has_the_weights_of_the_table() {
    let card = CompiledCard::released("trace").unwrap();
    let keys: Vec<&str> = card.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
    assert_eq!(keys, KEYS);
    let profiles = card.profiles.as_ref().unwrap();
    let found: Vec<(&str, Vec<f64>)> = profiles
        .list
        .iter()
        .map(|(domain, weights)| (domain.as_str(), weights.iter().map(|weight| weight.to_f64()).collect()))
        .collect();
    assert_eq!(found, PROFILES.map(|(domain, weights)| (domain, weights.to_vec())));
    assert_eq!(profiles.list[profiles.fallback].0, "default");
    assert_eq!(PROFILES[4].1[1], PROFILES[4].1[3], "novelty and outcome in customer service");
    for (domain, weights) in PROFILES {
        assert!(alike(weights.iter().sum(), 1.0), "{domain}");
        // The rationale: what weighs most where.
        let by = |at: usize| PROFILES.iter().max_by(|a, b| a.1[at].total_cmp(&b.1[at])).unwrap().0;
        assert_eq!((by(2), by(3)), ("code", "medical"));
        if matches!(domain, "finance" | "medical") {
            assert_eq!(weights[3], weights.iter().copied().fold(0.0, f64::max));
        }
    }
}

#[test]
fn a_score_is_the_sum_of_four_values_by_the_weights_of_the_domain() {
    for (domain, weights) in PROFILES {
        for (kinds, success, confidence) in [
            (&MIXED[..], true, 0.92),
            (&MIXED[..], false, 0.4),
            (&["thought", "thought"][..], true, 0.0),
            (&["thought", "error_recovery", "tool_call:a", "tool_call:b"][..], true, 1.0),
        ] {
            for novelty in [0.0, 0.31, 1.0] {
                let mut trace = trace(domain, kinds, success, confidence);
                trace["novelty"] = json!(novelty);
                let record = record("trace", &trace);
                let values = KEYS.map(|key| value(&record, key).unwrap());
                assert!(values.iter().all(|value| (0.0..=1.0).contains(value)), "{values:?}");
                assert_eq!(values[1], novelty);
                let sum: f64 = values.iter().zip(weights).map(|(value, weight)| value * weight).sum();
                assert!(alike(published(&record), sum), "{domain}: {} {sum}", published(&record));
                assert_eq!(record["profile"]["name"], domain);
            }
        }
    }
}

#[test]
fn the_trace_of_the_document_is_read_and_its_score_is_near_the_one_it_names() {
    let mut trace: Value =
        serde_json::from_str(&crate::common::example("trace/finance-document.json")).unwrap();
    assert_eq!(value(&record("trace", &trace), "outcome_confidence"), Some(0.92));
    // With a novelty of 0.724 it is the 0.78 of the document; with none, half of novelty.
    assert_eq!(published(&record("trace", &trace)), 0.724);
    trace["novelty"] = json!(0.724);
    assert_eq!(published(&record("trace", &trace)), 0.78);
}

#[test]
fn the_domains_order_one_sure_trace_as_the_document_shows() {
    // Sure of its outcome, and with few tools for its length.
    let mut kinds = ["thought"; 16];
    (kinds[1], kinds[2], kinds[3]) = ("tool_call:a", "tool_call:b", "observation");
    let mut scores = PROFILES.map(|(domain, _)| {
        let mut trace = trace(domain, &kinds, true, 0.95);
        trace["novelty"] = json!(0.6);
        (published(&record("trace", &trace)), domain)
    });
    scores.sort_by(|a, b| b.0.total_cmp(&a.0));
    let shown = ["medical", "finance", "customer_service", "default", "code"];
    assert_eq!(scores.map(|(_, domain)| domain), shown, "{scores:?}");
    assert!(scores.windows(2).all(|pair| pair[0].0 > pair[1].0), "{scores:?}");
}

#[test]
fn an_unknown_domain_has_the_default_weights_and_is_no_error() {
    let known = record("trace", &trace("default", &MIXED, true, 0.8));
    for domain in ["astrology", "Finance", ""] {
        let record = record("trace", &trace(domain, &MIXED, true, 0.8));
        assert_eq!(record["score"], known["score"], "{domain}");
        assert_eq!(record["profile"]["name"], "default");
        assert_eq!(record["profile"]["fallback"], true);
    }
}

#[test]
fn a_single_thought_is_a_tenth_whatever_else_it_is() {
    for (domain, confidence) in [("default", 1.0), ("medical", 1.0), ("code", 0.0)] {
        let lone = record("trace", &trace(domain, &["thought"], true, confidence));
        assert_eq!((published(&lone), rules(&lone)), (0.1, vec!["single_step"]));
    }
    // One step of another type, and two thoughts, are not.
    for kinds in [&["observation"][..], &["thought", "thought"]] {
        assert_eq!(rules(&record("trace", &trace("default", kinds, true, 0.9))), [""; 0]);
    }
}

#[test]
fn more_than_two_recoveries_and_success_add_a_tenth_up_to_one() {
    let four = ["error_recovery", "error_recovery", "error_recovery", "thought"];
    let better = record("trace", &trace("default", &four, true, 0.9));
    assert_eq!(rules(&better), ["error_recovery"]);
    assert!(alike(published(&better), better["composite"].as_f64().unwrap() + 0.1));
    for (kinds, success) in [(&four[1..], true), (&four[..], false)] {
        assert_eq!(rules(&record("trace", &trace("default", kinds, success, 0.9))), [""; 0]);
    }
    let mut kinds = vec!["error_recovery"; 14];
    kinds.extend(["thought", "observation", "tool_call:a", "tool_call:b", "tool_call:c", "tool_call:d"]);
    kinds.extend(["tool_call:e", "tool_call:f", "tool_call:g", "tool_call:h"]);
    let mut best = trace("default", &kinds, true, 1.0);
    best["novelty"] = json!(1);
    let best = record("trace", &best);
    assert_eq!((published(&best), best["composite"].as_f64().unwrap() > 0.9), (1.0, true));
}

#[test]
fn one_tool_alone_takes_a_tenth_down_to_nothing() {
    for (kinds, is_hit) in [
        (&["tool_call:a", "thought"][..], true),
        (&["tool_call:a", "observation:a"], true),
        (&["tool_call:a", "tool_call:b"], false),
        (&["thought", "observation"], false),
    ] {
        let record = record("trace", &trace("default", kinds, true, 0.9));
        let (score, composite) = (published(&record), record["composite"].as_f64().unwrap());
        assert_eq!(rules(&record) == ["zero_diversity"], is_hit, "{kinds:?}");
        assert!(alike(score, if is_hit { composite - 0.1 } else { composite }), "{kinds:?}");
    }
    // A lone thought with a tool: a tenth, and that tenth taken off.
    let lone = record("trace", &trace("default", &["thought:a"], true, 0.9));
    assert_eq!((published(&lone), rules(&lone)), (0.0, vec!["single_step", "zero_diversity"]));
}

#[test]
fn the_three_rules_run_in_order_each_on_the_result_before() {
    let kinds = ["tool_call:a", "error_recovery", "error_recovery", "error_recovery"];
    let record = record("trace", &trace("default", &kinds, true, 1.0));
    assert_eq!(rules(&record), ["error_recovery", "zero_diversity"]);
    assert!(alike(published(&record), record["composite"].as_f64().unwrap()));
    let card = CompiledCard::released("trace").unwrap();
    let names: Vec<&str> = card.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["single_step", "error_recovery", "zero_diversity"]);
}

/// Returns the novelty of traces with these vectors and times, scored one after the other with a cache.
fn novelties(options: &[&str], vectors: &[(&str, [f64; 2])]) -> Vec<f64> {
    let folder = Folder::new();
    let new = [&["cache", "new", "traces.cache", "--dimension", "2"], options].concat();
    assert_eq!(folder.karat(&new).status, 0);
    let mut found = Vec::new();
    for (at, (time, vector)) in vectors.iter().enumerate() {
        let mut trace = trace("default", &MIXED, true, 0.9);
        trace["id"] = json!(format!("kp:trace:{at}"));
        trace["metadata"]["created_at"] = json!(time);
        trace["vector"] = json!(vector);
        folder.write("trace.json", &trace.to_string());
        let run = folder.karat(&["score", "-c", "trace", "--cache", "traces.cache", "trace.json"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        found.push(value(&serde_json::from_str(&run.stdout).unwrap(), "novelty").unwrap());
    }
    found
}

const NINE: &str = "2026-02-24T09:00:00Z";

#[test]
fn novelty_is_half_first_then_falls_with_what_is_alike() {
    let found =
        novelties(&[], &[(NINE, [1.0, 0.0]), (NINE, [0.0, 1.0]), (NINE, [1.0, 0.0]), (NINE, [1.0, 0.2])]);
    assert_eq!(found[..3], [0.5, 1.0, 0.0]);
    assert!(found[3] > 0.0 && found[3] < 0.1, "{found:?}");
    // Without a vector nothing can be compared.
    assert_eq!(value(&record("trace", &trace("default", &MIXED, true, 0.9)), "novelty"), Some(0.5));
}

#[test]
fn a_topic_is_new_again_after_the_time_to_live() {
    let at = |time| (time, [1.0, 0.0]);
    let within = [at(NINE), at("2026-02-24T09:59:59Z"), at("2026-02-24T10:59:58Z")];
    assert_eq!(novelties(&["--ttl", "3600000"], &within), [0.5, 0.0, 0.0]);
    let after = [at(NINE), at("2026-02-24T10:00:01Z")];
    assert_eq!(novelties(&["--ttl", "3600000"], &after), [0.5, 0.5]);
    assert_eq!(novelties(&["--ttl", "2h"], &after), [0.5, 0.0]);
}

#[test]
fn a_full_cache_forgets_the_oldest() {
    let found =
        novelties(&["--capacity", "1"], &[(NINE, [1.0, 0.0]), (NINE, [0.0, 1.0]), (NINE, [1.0, 0.0])]);
    assert_eq!(found, [0.5, 1.0, 1.0]);
}

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

#[test]
fn every_score_is_from_nothing_to_one_and_what_is_no_trace_is_refused() {
    let mut kinds = Vec::new();
    for at in 0..20 {
        let kind = ["thought", "tool_call:a", "observation", "error_recovery", "tool_call:b"][at * 7 % 5];
        kinds.push(kind);
        for record in records("trace", &[trace("code", &kinds, at % 2 == 0, at as f64 / 19.0)]) {
            assert!((0.0..=1.0).contains(&published(&record)));
        }
    }
    assert!(refusal("trace", &trace("code", &[], true, 0.5)).contains("$.steps"));
    assert!(refusal("trace", &trace("code", &["thought"], true, 1.5)).contains("$.outcome.confidence"));
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
