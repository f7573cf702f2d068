//! The speed of imports, one core: bytes of a log in a second, from logs in memory that are large by repetition, beside
//! `serde_json` reading the same bytes into a tree of values.
//!
//! Run with `cargo bench -p karat-importers --bench import`; files named after `--` are measured too, where they lie. The
//! best of several rounds is the one that other work on the machine disturbed least.

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::time::Instant;

use karat_importers::{Input, Items, Options, detect, import};
use serde_json::{Value, json};

const ROUNDS: usize = 5;
/// Bytes of each log that is made.
const SIZE: usize = 48 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut logs = vec![
        ("tau-bench.json", tau_bench()),
        ("inspect.json", inspect()),
        ("samples_math.jsonl", lm_eval()),
        ("spans.json", spans()),
        ("report.xml", junit()),
    ];
    let samples = logs.iter().find(|(name, _)| *name == "inspect.json").map(|(_, log)| eval(log));
    logs.extend(samples.transpose()?.map(|archive| ("inspect.eval", archive)));
    for (name, log) in logs {
        measure(name, Input::memory(name, log.clone()), &log)?;
    }
    for path in std::env::args().skip(1).filter(|word| !word.starts_with("--")) {
        measure(&path, Input::file(&path), &std::fs::read(&path)?)?;
    }
    Ok(())
}

fn measure(name: &str, input: Input, bytes: &[u8]) -> Result<(), Box<dyn Error>> {
    let format = detect(&input)?.ok_or("no known format")?;
    let packed = bytes.len() as f64 / 1e6;
    let plain = if input.is_packed() { unpacked(bytes).unwrap_or(packed) } else { packed };
    for items in [Items::Runs, Items::Traces] {
        if items == Items::Traces && !format.has_traces {
            continue;
        }
        let options = Options { items, ..Options::default() };
        let mut count = 0;
        let best = best(|| {
            count = 0;
            let read = import(&input, format, &options, &mut |item| {
                black_box(item.json);
                count += 1;
                ControlFlow::Continue(())
            });
            read.map(drop).map_err(Into::into)
        })?;
        println!(
            "{name:>20}  {items:?}: {:.0} MB/s ({packed:.0} MB as it lies, {plain:.0} MB unpacked at {:.0} MB/s, {count} items)",
            packed / best,
            plain / best
        );
    }
    if serde_json::from_slice::<Value>(bytes).is_ok() {
        let best = best(|| {
            black_box(serde_json::from_slice::<Value>(bytes)?);
            Ok(())
        })?;
        println!("{:>20}  serde_json into a tree: {:.0} MB/s", "", packed / best);
    }
    Ok(())
}

fn best(mut work: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (start, wall) = (processor_seconds(), Instant::now());
        work()?;
        let wall = wall.elapsed().as_secs_f64();
        best = best.min(processor_seconds().zip(start).map_or(wall, |(end, start)| end - start));
    }
    Ok(best)
}

/// Returns the time that this thread has spent on a processor: other programs on the machine do not count.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// Returns the megabytes of the members of an archive, by the sizes that its directory states.
fn unpacked(bytes: &[u8]) -> Option<f64> {
    let archive = rawzip::ZipArchive::from_slice(bytes).ok()?;
    let sizes = archive.entries().filter_map(Result::ok).map(|entry| entry.uncompressed_size_hint());
    Some(sizes.sum::<u64>() as f64 / 1e6)
}

/// A text as models write it: words, numbers, quotes and lines.
fn words(seed: usize, count: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "agent", "reads", "\"order\"", "42", "and", "asks\n", "for", "a", "refund", "of", "19.99",
        "é", "then", "waits", "\\d+",
    ];
    let mut state = seed as u64 | 1;
    let mut text = String::new();
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 60) as usize]);
        text.push(' ');
    }
    text
}

fn filled(before: &str, after: &str, comma: &str, mut element: impl FnMut(usize) -> String) -> Vec<u8> {
    let mut text = before.to_owned();
    for at in 0.. {
        if at > 0 {
            text.push_str(comma);
        }
        text.push_str(&element(at));
        if text.len() > SIZE {
            break;
        }
    }
    text.push_str(after);
    text.into_bytes()
}

fn tau_bench() -> Vec<u8> {
    filled("[", "]", ",", |at| {
        let call = json!({"id": "c", "type": "function", "function": {"name": "find_order", "arguments": "{\"id\": 7}"}});
        let turns = (0..12).flat_map(|turn| {
            [
                json!({"role": "user", "content": words(at + turn, 30)}),
                json!({"role": "assistant", "content": words(at * 3 + turn, 60), "tool_calls": [call]}),
                json!({"role": "tool", "content": words(at * 7 + turn, 200), "tool_call_id": "c"}),
            ]
        });
        let traj: Vec<Value> = turns.collect();
        let task = json!({"instruction": words(at, 50)});
        json!({"task_id": at, "trial": 0, "reward": 1.0, "info": {"task": task}, "traj": traj}).to_string()
    })
}

fn sample(at: usize) -> Value {
    let messages: Vec<Value> = (0..8)
        .map(|turn| json!({"id": format!("m{turn}"), "role": "assistant", "content": words(at + turn, 150)}))
        .collect();
    let usage = json!({"m/x": {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}});
    json!({"id": at, "epoch": 1, "input": words(at, 60), "target": "a", "messages": messages,
        "scores": {"match": {"value": "C", "answer": words(at, 10)}}, "model_usage": usage, "total_time": 2.5})
}

fn inspect() -> Vec<u8> {
    let head = r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m/x", "eval_id": "e", "created": "2026-01-01T00:00:00Z"}, "samples": ["#;
    filled(head, "]}", ",", |at| sample(at).to_string())
}

fn lm_eval() -> Vec<u8> {
    filled("", "\n", "\n", |at| {
        let text = words(at, 200);
        json!({"doc_id": at, "doc": {"problem": text}, "target": "4", "arguments": {"gen_args_0": {"arg_0": text}},
            "resps": [[text]], "filtered_resps": ["4"], "filter": "none", "metrics": ["exact_match"], "exact_match": 1.0})
        .to_string()
    })
}

fn spans() -> Vec<u8> {
    let head = r#"{"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "bot"}}]}, "scopeSpans": [{"spans": ["#;
    filled(head, "]}]}]}", ",", |at| {
        let text = |key: &str, value: String| json!({"key": key, "value": {"stringValue": value}});
        let attributes = json!([
            text("gen_ai.operation.name", String::from(if at % 2 == 0 { "chat" } else { "execute_tool" })),
            text("gen_ai.request.model", String::from("m")),
            text("gen_ai.output.messages", words(at, 150)),
            {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "100"}},
            {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "10"}},
        ]);
        json!({"traceId": format!("{:032x}", at / 20 + 1), "spanId": format!("{:016x}", at + 1), "name": "chat m",
            "parentSpanId": "", "startTimeUnixNano": (1_700_000_000_000_000_000u64 + at as u64).to_string(),
            "endTimeUnixNano": (1_700_000_001_000_000_000u64 + at as u64).to_string(), "attributes": attributes})
        .to_string()
    })
}

fn junit() -> Vec<u8> {
    filled("<testsuites><testsuite name=\"unit\">", "</testsuite></testsuites>", "\n", |at| {
        let mut text = String::new();
        let _ = write!(text, "<testcase classname=\"a.b\" name=\"case {at}\" time=\"0.25\">");
        text + "<system-out>the order is refunded after a while</system-out></testcase>"
    })
}

/// Packs the samples of a log as Inspect does, each in a separate member, with deflate.
fn eval(log: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let log: Value = serde_json::from_slice(log)?;
    let mut packed = std::io::Cursor::new(Vec::new());
    let mut archive = rawzip::ZipArchiveWriter::new(&mut packed);
    let mut add = |name: &str, value: &Value| -> Result<(), Box<dyn Error>> {
        let (mut entry, config) =
            archive.new_file(name).compression_method(rawzip::CompressionMethod::DEFLATE).start()?;
        let encoder = flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
        let mut writer = config.wrap(encoder);
        writer.write_all(value.to_string().as_bytes())?;
        let (encoder, descriptor) = writer.finish()?;
        encoder.finish()?;
        entry.finish(descriptor)?;
        Ok(())
    };
    let member = |name: &str| log.get(name).cloned().unwrap_or_default();
    let mut header = json!({"version": 2});
    for name in ["status", "eval"] {
        header[name] = member(name);
    }
    add("header.json", &header)?;
    for (at, sample) in member("samples").as_array().into_iter().flatten().enumerate() {
        add(&format!("samples/{at}_epoch_1.json"), sample)?;
    }
    archive.finish()?;
    Ok(packed.into_inner())
}
