//! The time to read one reasoning trace of about two kilobytes (parse, check, canonical form, digest), and the number of
//! lines of such traces that become records in a second, one core, everything included but the file system.
//!
//! Run with `cargo bench -p karat-evidence`. The smallest time of several rounds is the one that other work on the
//! machine disturbed least.

use std::hint::black_box;
use std::time::Instant;

use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::facts::Digest;
use karat_evidence::source::{Layout, Source};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};

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
    lines_to_records(&trace)
}

/// Turns JSON lines into canonical records, as `karat score --json` does.
fn lines_to_records(trace: &str) -> Result<(), Box<dyn std::error::Error>> {
    let card = karat_checker::parse(include_str!("../../../scorecards/trace/1.0.0.toml"), &|_| None)
        .map_err(|refused| format!("{refused:?}"))?;
    let wanted: Vec<(String, FactType)> =
        card.facts.iter().map(|fact| (fact.name.clone(), fact.kind)).collect();
    let scorer = Scorer::new(card).map_err(|refused| refused.to_string())?;
    let mut work = Workspace::new(&scorer);
    let mut reader = Reader::new(Kind::ReasoningTrace, &wanted, ReaderOptions::default())
        .map_err(|unknown| format!("{unknown:?}"))?;
    let lines = format!("{trace}\n").repeat(READS);
    let mut best = f64::INFINITY;
    let mut out = Vec::new();
    for _ in 0..ROUNDS {
        let mut source = Source::new(lines.as_bytes(), Layout::JsonLines, &[], 1 << 20);
        let start = Instant::now();
        let mut records = 0;
        while let Some(item) = source.next_item() {
            let item = item.map_err(|error| error.problem.to_string())?;
            let evidence = reader.read(item.bytes).map_err(|problems| problems.to_string())?;
            let record = scorer
                .score(&mut work, &evidence.item(), &Context::default())
                .map_err(|e| format!("{e:?}"))?;
            out.clear();
            record.write(&mut out);
            records += black_box(&out).len().min(1);
        }
        assert_eq!(records, READS);
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{:>24}: {:.0} lines/s, {} bytes in, {} bytes out",
        "lines to records",
        READS as f64 / best,
        trace.len(),
        out.len()
    );
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

/// Returns a trace with steps like those of the scoring document's example: a thought, then calls and observations in
/// turn.
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
