//! Raw evidence through a reader with graders: the facts, what was seen, and what is refused. `workflow` has runs and their
//! outputs, `matches` matches as they were played, `execution` those whose
//! challenge runs what was submitted, `traces` novelty and its cache, `embedded` the model.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cards;
mod embedded;
mod execution;
mod matches;
mod traces;
mod workflow;

use karat_core::facts::Fact;
use karat_reader::{Graders, Kind, Reader, ReaderOptions};
use serde_json::{Map, Value};

/// One item that was read.
#[derive(Debug, PartialEq)]
struct Read {
    facts: Map<String, Value>,
    grading: Value,
    notes: Vec<String>,
    suspicions: Vec<String>,
    digest: String,
}

/// Makes a reader that takes every fact of its kind.
fn reader(kind: Kind, graders: Graders) -> Reader {
    let wanted: Vec<_> =
        kind.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
    Reader::new(kind, &wanted, ReaderOptions::default()).unwrap().with_graders(graders)
}

/// Reads an item; or the problems, one line each.
fn read(reader: &mut Reader, text: &str) -> Result<Read, String> {
    let vocabulary = reader.kind().vocabulary();
    let evidence = reader.read(text.as_bytes()).map_err(|problems| problems.to_string())?;
    let item = evidence.item();
    let fact = |fact: &Fact<'_>| match fact {
        Fact::Missing => Value::Null,
        Fact::Number(number) => (*number).into(),
        Fact::Flag(flag) => (*flag).into(),
        Fact::Text(text) => (*text).into(),
    };
    let facts = vocabulary.iter().zip(item.facts);
    Ok(Read {
        facts: facts.map(|(spec, value)| (spec.name.to_owned(), fact(value))).collect(),
        grading: item.grading.map_or(Value::Null, |seen| serde_json::from_str(seen).unwrap()),
        notes: evidence.notes().iter().map(ToString::to_string).collect(),
        suspicions: item.suspicions.to_vec(),
        digest: item.digest.to_string(),
    })
}

/// Returns the items of a raw example.
fn example(name: &str) -> Vec<Value> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/raw").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::Deserializer::from_str(&text).into_iter().map(Result::unwrap).collect()
}
