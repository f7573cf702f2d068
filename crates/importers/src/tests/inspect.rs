//! Logs of Inspect, in both containers.

use std::io::Write as _;

use serde_json::json;

use super::{Options, by_name, facts, read, read_as};

const EVAL: &str = r#""version": 2, "status": "success", "eval": {"eval_id": "e1", "run_id": "r", "created": "2026-11-22T08:06:14+00:00", "task": "arith", "model": "org/m", "scorers": [{"name": "match"}, {"name": "judge"}]}"#;
const REST: &str = r#""results": {"total_samples": 9, "completed_samples": 8, "scores": [{"name": "match", "scorer": "match"}, {"name": "judge", "scorer": "judge"}]}, "stats": {"model_usage": {}}"#;

/// Samples of every kind: right, wrong, half, error, limit, a number beyond 1, no score, a dictionary, no usage.
fn samples() -> Vec<String> {
    let sample = |id: &str, rest: &str| {
        format!(
            r#"{{"id": {id}, "epoch": 1, "input": "x", "target": "y", "messages": [{{"role": "user", "content": "\"NaN"}}], {rest}}}"#
        )
    };
    vec![
        sample(
            "\"s1\"",
            r#""scores": {"judge": {"value": "I"}, "match": {"value": "C", "answer": "4"}}, "model_usage": {"org/m": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 9, "input_tokens_cache_read": 2}, "org/judge": {"total_tokens": 1000}}, "total_time": 2.5, "started_at": "2026-11-22T08:06:14+00:00", "completed_at": "2026-11-22T10:06:16.5+02:00""#,
        ),
        sample("2", r#""scores": {"match": {"value": "I"}}"#),
        sample("3", r#""scores": {"match": {"value": "P"}}"#),
        sample("4", r#""scores": {}, "error": {"message": "RuntimeError"}"#),
        sample(
            "5",
            r#""scores": {"match": {"value": "I"}}, "limit": {"type": "message", "limit": 3}, "error": null"#,
        ),
        sample("6", r#""scores": {"match": {"value": 7.5}}"#),
        sample("7", r#""scores": {"match": {"value": NaN}}"#),
        sample("8", r#""scores": {"match": {"value": {"right": true, "style": -Infinity}}}"#),
        sample("9", r#""scores": null"#),
    ]
}

fn as_json() -> String {
    format!("{{{EVAL}, \"samples\": [{}], {REST}}}", samples().join(", "))
}

/// Packing of members.
#[derive(Clone, Copy)]
pub enum Packing {
    Stored,
    Deflate,
    Zstandard,
}

pub fn archive(members: &[(&str, &str)], packing: Packing) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut zip = rawzip::ZipArchiveWriter::new(&mut bytes);
    for (name, text) in members {
        let (packed, method) = match packing {
            Packing::Stored => (text.as_bytes().to_vec(), rawzip::CompressionMethod::STORE),
            Packing::Deflate => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
                encoder.write_all(text.as_bytes()).unwrap();
                (encoder.finish().unwrap(), rawzip::CompressionMethod::DEFLATE)
            }
            Packing::Zstandard => {
                // Several frames, as Inspect writes them for large members.
                let half = text.len() / 2;
                let frames = [&text.as_bytes()[..half], &text.as_bytes()[half..]];
                (frames.map(super::packed::zstandard).concat(), rawzip::CompressionMethod::ZSTD)
            }
        };
        let (mut entry, config) = zip.new_file(name).compression_method(method).start().unwrap();
        let mut writer = config.wrap(Hide { packed: Some(packed), into: &mut entry });
        writer.write_all(text.as_bytes()).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    zip.finish().unwrap();
    bytes
}

/// Takes a text and writes what it was packed to.
struct Hide<W> {
    packed: Option<Vec<u8>>,
    into: W,
}

impl<W: std::io::Write> std::io::Write for Hide<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Some(packed) = self.packed.take() {
            self.into.write_all(&packed)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.into.flush()
    }
}

fn as_archive(packing: Packing) -> Vec<u8> {
    let header = format!("{{{EVAL}, {REST}}}");
    let samples = samples();
    let names: Vec<String> = (1..=samples.len()).map(|at| format!("samples/{at}_epoch_1.json")).collect();
    let mut members = vec![("_journal/start.json", "{}")];
    members.extend(names.iter().map(String::as_str).zip(samples.iter().map(String::as_str)));
    members.push(("header.json", &header));
    archive(&members, packing)
}

#[test]
fn both_containers_and_all_packings_are_the_same_log() {
    let name = "log.json";
    let plain: Vec<String> =
        read(name, as_json().as_bytes()).1.into_iter().map(|item| member(item, name)).collect();
    for packing in [Packing::Stored, Packing::Deflate, Packing::Zstandard] {
        let (format, items, summary) = read("log.eval", &as_archive(packing));
        assert_eq!(format, by_name("inspect"));
        let others: Vec<String> = items.into_iter().map(|item| member(item, "log.eval")).collect();
        assert_eq!(plain, others);
        assert_eq!(summary, read(name, as_json().as_bytes()).2);
    }
}

fn member(item: serde_json::Value, name: &str) -> String {
    let line = facts(by_name("inspect"), name, item);
    line.split_once("  ").unwrap().1.to_owned()
}

#[test]
fn a_log_that_was_cancelled_says_so() {
    let cancelled = as_json().replace("success", "cancelled");
    let (_, _, summary) = read("log.json", cancelled.as_bytes());
    assert!(
        summary.notes.iter().any(|note| note == "the log has the status `cancelled`: it may lack samples")
    );
}

#[test]
fn another_score_can_be_asked_for() {
    let wanted = |name: &str| Options { score: Some(name.to_owned()), ..Options::default() };
    let read =
        |name: &str| read_as("log.json", as_json().as_bytes(), by_name("inspect"), &wanted(name)).unwrap();
    let (items, summary) = read("judge");
    assert_eq!((&items[0]["solved"], &items[0]["score_match"]), (&json!(0), &json!(1)));
    assert_eq!(summary.left_out["no score `judge` of a sample"], 7);
    let (items, _) = read("match.right");
    assert_eq!(items[7]["solved"], 1);
}
