//! How long it takes to read one reasoning trace of about two kilobytes: parse, check, canonical form, digest.
//!
//! Run with `cargo bench -p karat-evidence`. The smallest time of several rounds is the one that other work on the
//! machine disturbed least.

use std::hint::black_box;
use std::time::Instant;

use karat_core::facts::Digest;
use karat_evidence::source::{Layout, Source};
use karat_evidence::{FactType, Kind, Reader, ReaderOptions};

const ROUNDS: usize = 15;
const READS: usize = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trace = trace(11);
    println!("trace of {} bytes", trace.len());
    let wanted: Vec<(String, FactType)> =
        Kind::ReasoningTrace.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
    let mut reader = Reader::new(Kind::ReasoningTrace, &wanted, ReaderOptions::default())
        .map_err(|unknown| format!("{unknown:?}"))?;

    report("read", || {
        black_box(reader.read(black_box(trace.as_bytes())).map(|evidence| evidence.item().digest).ok());
    });
    report("of which SHA-256", || {
        black_box(Digest::of(black_box(trace.as_bytes())));
    });
    report("serde_json::Value alone", || {
        black_box(serde_json::from_slice::<serde_json::Value>(black_box(trace.as_bytes())).ok());
    });

    let lines = format!("{trace}\n").repeat(READS);
    let array = format!("[{}]", vec![trace.as_str(); READS].join(","));
    for (name, text) in [("line from a stream", lines), ("element of an array", array)] {
        let times = (0..3).map(|_| {
            let mut source = Source::new(text.as_bytes(), Layout::Auto, &[], 1 << 20);
            let start = Instant::now();
            while let Some(item) = source.next_item() {
                black_box(item.map(|item| item.bytes.len()).ok());
            }
            start.elapsed().as_nanos() / READS as u128
        });
        println!("{name:>24}: {} ns", times.min().unwrap_or_default());
    }
    Ok(())
}

fn report(name: &str, mut work: impl FnMut()) {
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        for _ in 0..READS {
            work();
        }
        start.elapsed().as_nanos() / READS as u128
    });
    println!("{name:>24}: {} ns", times.min().unwrap_or_default());
}

/// A trace with steps like those of the scoring document's example: a thought, then calls and observations in turn.
fn trace(steps: usize) -> String {
    let step = |at: usize| match at % 4 {
        1 | 3 => format!(
            r#"{{"step_id":{at},"type":"tool_call","tool":{{"name":"financial_data_api_{}"}},"input":{{"ticker":"TSM","quarter":"Q4"}},"latency_ms":{}.25}}"#,
            at % 3,
            at * 7
        ),
        _ => format!(
            r#"{{"step_id":{at},"type":"{}","content":"Revenue $26.3B, up 14.3% on the year before; gross margin 57.9%, above the average of the industry"}}"#,
            if at == 0 { "thought" } else { "observation" }
        ),
    };
    let steps: Vec<String> = (0..steps).map(step).collect();
    format!(
        r#"{{"@context":"https://knowledgepulse.dev/schema/v1","@type":"ReasoningTrace","id":"kp:trace:finance-demo-001","metadata":{{"created_at":"2026-03-14T00:20:00.000Z","agent_id":"kp:agent:demo","task_domain":"finance","success":true,"quality_score":0,"visibility":"network","privacy_level":"aggregated"}},"task":{{"objective":"Analyze the earnings report of the last quarter"}},"steps":[{}],"outcome":{{"result_summary":"Strong performance driven by demand","confidence":0.92}}}}"#,
        steps.join(",")
    )
}
