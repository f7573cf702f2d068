//! Logs that were made to do harm, or that were cut off.

use insta::assert_snapshot;
use proptest::prelude::*;

use super::inspect::{Packing, archive};
use super::packed::{gzip, zstandard};
use super::{Options, by_name, read_as, refused};
use crate::requests::{Encoding, take_apart};
use crate::{IMPORTERS, Input, Items, detect};

const HEADER: &str = r#"{"eval": {"task": "t", "model": "m"}}"#;
const SAMPLE: &str = r#"{"id": 1, "epoch": 1, "scores": {"a": {"value": "C"}}}"#;

fn log() -> Vec<u8> {
    archive(&[("header.json", HEADER), ("samples/1_epoch_1.json", SAMPLE)], Packing::Deflate)
}

#[test]
fn of_two_members_of_a_name_the_later_counts_and_that_is_told() {
    let (name, other) = ("samples/1_epoch_1.json", SAMPLE.replace(r#""C""#, r#""I""#));
    assert_ne!(SAMPLE, other);
    for (samples, solved) in [([SAMPLE, &other], 0), ([&other, SAMPLE], 1)] {
        let [first, later] = samples;
        let twice = archive(&[("header.json", HEADER), (name, first), (name, later)], Packing::Deflate);
        let (items, summary) = read_as("x.eval", &twice, by_name("inspect"), &Options::default()).unwrap();
        assert_eq!(items.iter().map(|item| &item["solved"]).collect::<Vec<_>>(), [solved]);
        assert_eq!(
            summary.notes,
            ["1 members are in the archive twice, as `samples/1_epoch_1.json`: the later one counts"]
        );
    }
}

#[test]
fn an_archive_that_is_cut_off_or_changed_is_refused() {
    let whole = log();
    for end in 4..whole.len() {
        let error = refused("x.eval", &whole[..end]);
        assert!(error.starts_with("x.eval: "), "{end}: {error}");
    }
    // A changed byte is refused, or in a place that says nothing about the runs.
    let (right, _) = read_as("x.eval", &whole, by_name("inspect"), &Options::default()).unwrap();
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x41;
        if let Ok((items, _)) = read_as("x.eval", &changed, by_name("inspect"), &Options::default()) {
            let same = |item: &serde_json::Value| {
                let mut item = item.clone();
                item["source"]["digest"] = "".into();
                item["source"]["place"] = "".into();
                item
            };
            assert!(
                items.is_empty() || items.iter().map(same).eq(right.iter().map(same)),
                "byte {at}: {items:?}"
            );
        }
    }
}

#[test]
fn members_that_share_bytes_are_refused() {
    // The second member points at the bytes of the first: a short archive of many large members.
    let mut zip = archive(
        &[("header.json", HEADER), ("samples/1_epoch_1.json", SAMPLE), ("samples/2_epoch_1.json", SAMPLE)],
        Packing::Stored,
    );
    let directory: Vec<usize> =
        (0..zip.len() - 4).filter(|at| zip[*at..].starts_with(b"PK\x01\x02")).collect();
    let offset: [u8; 4] = zip[directory[1] + 42..directory[1] + 46].try_into().unwrap();
    zip[directory[2] + 42..directory[2] + 46].copy_from_slice(&offset);
    assert_snapshot!(refused("x.eval", &zip), @"x.eval: the archive: found members that share bytes, expected members one after the other");
}

#[test]
fn bombs_are_refused_before_they_unpack() {
    let zeros = " ".repeat(64 << 20);
    let bomb = format!("{{\"eval\": {{\"task\": \"t\", \"model\": \"m\"}}, \"x\": \"{zeros}\"}}");
    for (name, bytes) in [
        ("x.json.gz", gzip(bomb.as_bytes())),
        ("x.json.zst", zstandard(bomb.as_bytes())),
        ("x.eval", archive(&[("header.json", &bomb)], Packing::Deflate)),
    ] {
        let error = read_as(name, &bytes, by_name("inspect"), &Options::default()).unwrap_err().to_string();
        assert!(error.contains("unpacks to more than 500 times its size"), "{name}: {error}");
    }
}

#[test]
fn a_text_without_end_is_refused() {
    let text = format!("{{\"eval\": {{\"task\": \"{}", "x".repeat((64 << 20) + 100_000));
    let error = read_as("x.json", text.as_bytes(), by_name("inspect"), &Options::default()).unwrap_err();
    assert!(error.to_string().contains("a text of more than 64 MiB"), "{error}");
}

#[test]
fn deep_nesting_is_refused_or_passed_over() {
    let deep = |inner: &str, levels: usize| format!("{}{inner}{}", "[".repeat(levels), "]".repeat(levels));
    // Where nothing is wanted, any depth is passed over.
    let ignored = HEADER.replacen('{', &format!("{{\"x\": {}, ", deep("1", 1_000_000)), 1);
    assert!(read_as("x.json", ignored.as_bytes(), by_name("inspect"), &Options::default()).is_ok());
    let wanted =
        format!("{{\"eval\": {{\"task\": \"t\", \"model\": \"m\", \"scorers\": {}}}}}", deep("1", 100_000));
    let error = read_as("x.json", wanted.as_bytes(), by_name("inspect"), &Options::default()).unwrap_err();
    assert_snapshot!(error, @"x.json: $.eval.scorers (line 1, column 200049): found recursion limit exceeded, expected well-formed JSON");
    let xml = format!("<testsuite>{}", "<a>".repeat(1_000_000));
    assert!(refused("x.xml", xml.as_bytes()).contains("open elements"));
    let outline = deep("1", 1_000_000);
    assert_eq!(detect(&Input::memory("x", outline.into_bytes())), Ok(None));
}

#[test]
fn entities_of_xml_are_refused() {
    let bomb = r#"<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;">]><testsuite><testcase name="&lol2;"/></testsuite>"#;
    assert_snapshot!(refused("x.xml", bomb.as_bytes()), @"x.xml: line 1: found a document type, expected a report without one");
}

#[test]
fn a_member_twice_is_refused() {
    let twice = r#"{"eval": {"task": "t", "model": "m", "model": "n"}, "samples": []}"#;
    assert_snapshot!(refused("x.json", twice.as_bytes()), @"x.json: $.eval.model (line 1, column 49): found the member `eval.model` a second time, expected well-formed JSON");
}

#[test]
fn a_log_that_is_cut_off_has_a_place() {
    let text = r#"{"eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "scores": {}}, {"id": 2, "scores": {"a": {"#;
    assert_snapshot!(refused("x.json", text.as_bytes()), @"x.json: $.samples[1].scores (line 1, column 102): found EOF while parsing an object, expected well-formed JSON; the file is cut off: supply all of it");
    let lines =
        "{\"evaluation_id\": \"e\", \"sample_id\": 1, \"model_id\": \"m\"}\n{\"evaluation_id\": \"e\", \"sam";
    assert_snapshot!(refused("x.jsonl", lines.as_bytes()), @"x.jsonl: line 2: found EOF while parsing a string, expected well-formed JSON; the file is cut off: supply all of it");
}

proptest! {
    #[test]
    fn nothing_makes_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), head in 0usize..6, format in 0usize..18, items in kinds()) {
        let heads: [&[u8]; 6] = [b"", b"{", b"PK\x03\x04", b"\x1f\x8b\x08", b"(\xb5/\xfd", b"<testsuite>"];
        let bytes = [heads[head], &bytes].concat();
        let _ = detect(&Input::memory("x", bytes.clone()));
        let _ = read_as("x", &bytes, IMPORTERS[format], &Options { items, ..Options::default() });
    }

    #[test]
    fn any_json_is_read_or_refused(value in json_value(), format in 0usize..18, items in kinds()) {
        let text = value.to_string();
        let _ = detect(&Input::memory("x", text.clone().into_bytes()));
        let _ = read_as("x", text.as_bytes(), IMPORTERS[format], &Options { items, ..Options::default() });
    }

    #[test]
    fn any_bytes_are_a_request_of_spans_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), lengths in prop::collection::vec((0u8..16, any::<u64>()), 0..6)) {
        // Members of messages whose lengths say anything.
        let mut request = Vec::new();
        for (tag, length) in lengths {
            request.push(tag << 3 | 2);
            let mut left = length;
            while left >= 128 {
                request.push(left as u8 | 128);
                left >>= 7;
            }
            request.push(left as u8);
        }
        request.extend(bytes);
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            let _ = take_apart(&request, encoding, 1 << 20);
        }
    }
}

fn kinds() -> impl Strategy<Value = Items> {
    prop_oneof![Just(Items::Runs), Just(Items::Traces)]
}

#[test]
fn logs_that_are_cut_off_anywhere_are_read_or_refused() {
    let tau2 = r#"{"info": {"agent_info": {"llm": "m"}}, "simulations": [{"task_id": "7", "reward_info": {"reward": 0}, "messages": [{"role": "user", "content": "a\u00e9\"b"}]}]}"#;
    let spans = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "startTimeUnixNano": "1", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}]}]}]}]}"#;
    let logs = [
        (by_name("swe-agent"), include_str!("../../../../examples/import/fix-17.traj")),
        (by_name("swe-bench"), include_str!("../../../../examples/import/swe-bench.json")),
        (by_name("junit"), include_str!("../../../../examples/import/report.xml")),
        (by_name("tau2"), tau2),
        (by_name("otlp"), spans),
    ];
    for (format, log) in logs {
        let log = log.trim_end().as_bytes();
        for items in [Items::Runs, Items::Traces] {
            let options = Options { items, ..Options::default() };
            if items == Items::Traces && !format.has_traces {
                continue;
            }
            assert!(read_as("x", log, format, &options).is_ok(), "{format}");
            for end in 0..log.len() {
                // Of a report in XML only what comes after its last element may be missing.
                if let Err(error) = read_as("x", &log[..end], format, &options) {
                    assert_eq!(error.file, "x", "{format} {end}");
                } else {
                    assert!(format == by_name("junit") || end == 0, "{format}: {end} of {}", log.len());
                }
            }
        }
    }
}

#[test]
fn numbers_and_texts_that_nothing_holds_are_refused() {
    let log = |reward: &str| format!(r#"[{{"task_id": 1, "trial": 0, "reward": {reward}, "info": {{}}}}]"#);
    let read = |text: &[u8]| read_as("x.json", text, by_name("tau-bench"), &Options::default());
    assert!(read(log("1e999").as_bytes()).unwrap_err().found.contains("number out of range"));
    let (items, _) = read(log("NaN").as_bytes()).unwrap();
    assert_eq!(items[0]["outcome"], "no-verdict");
    let mut broken = log("1").into_bytes();
    broken.splice(2..2, *b"\"a\xff\": 1, ");
    assert!(read(&broken).is_err());
    // The largest integer is a number, and no reward of a task.
    let (items, _) = read(log("18446744073709551615").as_bytes()).unwrap();
    assert_eq!(items[0]["solved"], serde_json::Value::Null);
}

#[test]
fn an_archive_that_lies_about_its_sizes_is_refused() {
    let whole = log();
    let directory = (0..whole.len() - 4).rfind(|at| whole[*at..].starts_with(b"PK\x01\x02")).unwrap();
    let end = (0..whole.len() - 4).rfind(|at| whole[*at..].starts_with(b"PK\x05\x06")).unwrap();
    let mut harmless = 0;
    for (at, bytes) in [
        (directory + 20, &[0xff; 4][..]),
        (directory + 24, &[0xff; 4]),
        (directory + 24, &[0xff, 0xff, 0xff, 0x7f]),
        (directory + 42, &[0xff; 4]),
        (end + 8, &[0xff; 4]),
        (end + 12, &[0xff; 4]),
        (end + 16, &[0xff; 4]),
        (end + 10, &[0, 0]),
    ] {
        let mut changed = whole.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        // A number that nothing is read by may be anything.
        match read_as("x.eval", &changed, by_name("inspect"), &Options::default()) {
            Err(error) => assert!(error.file == "x.eval" && !error.found.is_empty(), "{at}: {error}"),
            Ok((items, _)) => {
                assert_eq!(items[0]["solved"], 1, "{at}");
                harmless += 1;
            }
        }
    }
    assert!(harmless <= 2, "{harmless} lies change nothing");
}

/// Any JSON with the names that the readers look for.
fn json_value() -> impl Strategy<Value = serde_json::Value> {
    const NAMES: [&str; 40] = [
        "eval", "task", "model", "samples", "id", "scores", "value", "epoch", "results", "success",
        "provider", "info", "simulations", "task_id", "reward", "reward_info", "trial", "resolved_ids",
        "submitted_ids", "trajectory", "exit_status", "model_stats", "messages", "trace", "observations",
        "steps", "agent", "name", "metrics", "resourceSpans", "scopeSpans", "spans", "traceId", "attributes",
        "data", "context", "trace_id", "doc_id", "model_a", "winner",
    ];
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        ".{0,6}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..6).prop_map(|members| {
                serde_json::Value::Object(
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}
