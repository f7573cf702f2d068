//! Tests of the readers, on small logs that were made for them in the newest form of each format.

mod again;
mod evaluations;
mod formats;
mod hostile;
mod inspect;
mod lm_eval;
mod odd;
mod packed;
mod readers;
mod spans;
mod stated;
mod steps;
mod traces;
mod whole;

use std::ops::ControlFlow;

use serde_json::Value;

use karat_reader::{Kind, Reader, ReaderOptions};

use super::{ImportError, Importer, Input, Items, Options, Summary, detect, import};

/// Returns the items of a log under the format that is found.
fn read(name: &str, bytes: &[u8]) -> (&'static Importer, Vec<Value>, Summary) {
    let format = detect(&Input::memory(name, bytes)).unwrap().expect("a known format");
    let (items, summary) = read_as(name, bytes, format, &Options::default()).unwrap();
    (format, items, summary)
}

/// Returns the importer of that name.
fn by_name(name: &str) -> &'static Importer {
    Importer::named(name).unwrap()
}

fn read_as(
    name: &str,
    bytes: &[u8],
    format: &'static Importer,
    options: &Options,
) -> Result<(Vec<Value>, Summary), ImportError> {
    let input = Input::memory(name, bytes);
    let mut items: Vec<Value> = Vec::new();
    let kind = if options.items == Items::Traces { Kind::ReasoningTrace } else { Kind::Facts };
    let mut reader = Reader::new(kind, &[], ReaderOptions::default()).unwrap();
    let summary = import(&input, format, options, &mut |item| {
        let evidence = reader.read(item.json);
        assert!(format.is_matches() || evidence.is_ok(), "{format}: {}", evidence.unwrap_err());
        items.push(serde_json::from_slice(item.json).unwrap());
        ControlFlow::Continue(())
    })?;
    assert_eq!(summary.items, items.len() as u64);
    Ok((items, summary))
}

/// Returns the members of an item without its source, which is checked.
fn facts(format: &'static Importer, name: &str, mut item: Value) -> String {
    let source = item.as_object_mut().unwrap().remove("source").unwrap();
    assert_eq!((&source["format"], &source["file"]), (&format.name.into(), &name.into()));
    assert!(source["digest"].as_str().unwrap().starts_with("sha256:"));
    format!("{}  {item}", source["place"].as_str().unwrap())
}

/// Returns a file of the fixtures.
fn fixture(path: &str) -> Vec<u8> {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    std::fs::read(fixtures.join(path)).unwrap()
}

/// Returns the error of a log that is refused.
fn refused(name: &str, bytes: &[u8]) -> String {
    let input = Input::memory(name, bytes);
    match detect(&input) {
        Err(error) => error.to_string(),
        Ok(None) => String::from("no known format"),
        Ok(Some(format)) => {
            read_as(name, bytes, format, &Options::default()).expect_err("a refusal").to_string()
        }
    }
}
