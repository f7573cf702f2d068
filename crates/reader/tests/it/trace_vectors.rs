//! The shared vectors of the trace system: the formulas of its document over our facts.

use std::fs;
use std::path::Path;

use karat_core::facts::Fact;
use karat_reader::{FactType, Kind, Reader, ReaderOptions, embedding_text};
use serde_json::Value;

/// The formulas of the trace document for complexity, tool diversity and outcome confidence over our facts.
#[test]
fn the_trace_vectors_follow_from_the_facts() {
    let vectors =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/trace.jsonl")).unwrap();
    let names = [
        ("step_count", FactType::Number),
        ("step_type_count", FactType::Number),
        ("error_recovery_count", FactType::Number),
        ("unique_tool_count", FactType::Number),
        ("confidence", FactType::Number),
        ("success", FactType::Boolean),
    ]
    .map(|(name, fact_type)| (name.to_owned(), fact_type));
    let mut reader = Reader::new(Kind::ReasoningTrace, &names, ReaderOptions::default()).unwrap();
    let (mut scored, mut refused) = (0, 0);
    for line in vectors.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["fn"] != "evaluate" {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let trace = case["input"]["trace"].to_string();
        let expected = &case["expected"];
        assert_eq!(
            embedding_text(trace.as_bytes()).unwrap(),
            expected["embedding_text"].as_str().unwrap(),
            "{id}"
        );

        let is_invalid = case["tags"].as_array().unwrap().iter().any(|tag| tag == "schema_invalid");
        let read = reader.read(trace.as_bytes());
        if is_invalid {
            assert!(read.is_err(), "{id} is against the schema");
            refused += 1;
            continue;
        }
        let read = read.unwrap_or_else(|problems| panic!("{id}: {problems}"));
        let [
            Fact::Number(n),
            Fact::Number(k),
            Fact::Number(e),
            Fact::Number(u),
            Fact::Number(confidence),
            Fact::Flag(success),
        ] = *read.item().facts
        else {
            panic!("{id}: a fact is missing")
        };
        let complexity = f64::min(1.0, k / 4.0 * 0.5 + if e > 0.0 { 0.3 } else { 0.0 } + n / 20.0 * 0.2);
        let diversity = f64::min(1.0, u / n * 3.0);
        let outcome = confidence * if success { 1.0 } else { 0.3 };
        for (value, name) in
            [(complexity, "complexity"), (diversity, "tool_diversity"), (outcome, "outcome_confidence")]
        {
            assert!((value - expected[name].as_f64().unwrap()).abs() < 1e-12, "{id}: {name}");
        }
        scored += 1;
    }
    assert_eq!((scored, refused), (39, 3));
    assert_eq!(reader.unknown_fields().count(), 0);
}
