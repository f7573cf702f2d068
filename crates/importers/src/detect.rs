//! Detection of the tool that wrote a file, by its content.

use super::bytes::json_text;
use super::zip::Archive;
use super::{Fault, Format, ImportError, Input, aider, json};
use std::io::Read as _;

/// Bytes that are looked at.
const HEAD: u64 = 1 << 20;

/// Returns the format of a log; none if it is of no known format, such as evidence for karat itself.
///
/// # Errors
/// If the file cannot be read or unpacked, or is written in UTF-16.
pub fn detect(input: &Input) -> Result<Option<Format>, ImportError> {
    let head = input.head(HEAD).map_err(|error| Fault::unreadable(&error).of(input))?;
    if head.starts_with(b"PK\x03\x04") {
        let archive = Archive::open(input).map_err(|fault| fault.of(input))?;
        let is_log = archive.has("header.json") || archive.has("_journal/start.json");
        return Ok(is_log.then_some(Format::Inspect));
    }
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        let fault = Fault::new("", "UTF-16", "UTF-8");
        return Err(fault.hint("save the file as UTF-8").of(input));
    }
    let found = of_text(&head);
    // Version 1 of mini-SWE-agent wrote a list of messages, as many programs do: its name says more.
    let is_trajectory = [".traj", ".traj.json", ".traj.gz", ".traj.json.gz"];
    if found.is_none() && is_trajectory.iter().any(|end| input.name().ends_with(end)) && is_messages(&head) {
        return Ok(Some(Format::MiniSweAgent));
    }
    Ok(found)
}

/// Refuses a file that is of another format than the one that is asked for. A file that shows no format may be of any; one that
/// shows several is of each.
///
/// # Errors
/// If it shows another format, or cannot be read.
pub fn check(input: &Input, asked: Format) -> Result<(), ImportError> {
    let Some(found) = detect(input)?.filter(|found| *found != asked) else { return Ok(()) };
    let head = input.head(HEAD).map_err(|error| Fault::unreadable(&error).of(input))?;
    let outline = json::outline(head.trim_ascii_start());
    let shows = |(format, marks): &(Format, &[&str])| {
        *format == asked && marks.iter().all(|mark| outline.iter().any(|path| path == mark))
    };
    if MARKS.iter().any(shows) {
        return Ok(());
    }
    let fault = Fault::new("", found.words(), asked.words());
    Err(fault.hint(&format!("leave out the format, or ask for `{found}`")).of(input))
}

fn is_messages(head: &[u8]) -> bool {
    let outline = json::outline(head.trim_ascii_start());
    ["[].role", "[].content"].iter().all(|mark| outline.iter().any(|path| path == mark))
}

/// Returns the format of a stream that begins with these bytes; none if they do not show it.
pub fn recognise(head: &[u8]) -> Option<Format> {
    // Of the archives that karat reads there is one.
    if head.starts_with(b"PK\x03\x04") { Some(Format::Inspect) } else { of_text(head) }
}

/// Returns whether a file begins as OTLP in protobuf: with the one member of its outermost message, which is white space in a
/// text. The length after it may look like a brace; the members within it are bytes that no JSON has.
pub(super) fn is_protobuf(head: &[u8]) -> bool {
    let is_in_no_text = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    head.first() == Some(&b'\n') && head.iter().any(is_in_no_text)
}

fn of_text(head: &[u8]) -> Option<Format> {
    if is_protobuf(head) {
        return Some(Format::Otlp);
    }
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    match text.first() {
        Some(b'<') => xml(text),
        Some(b'{' | b'[') => {
            let mut mended = Vec::new();
            // What cannot be read so is not looked at.
            let _ = json_text(std::io::Cursor::new(text)).read_to_end(&mut mended);
            of_outline(&json::outline(&mended))
        }
        Some(_) if aider::after_rules(text).starts_with(b"- dirname:") => Some(Format::Aider),
        _ => table(text),
    }
}

fn xml(text: &[u8]) -> Option<Format> {
    let head = String::from_utf8_lossy(text.get(..4096.min(text.len())).unwrap_or_default());
    let roots = ["<testsuites", "<testsuite"];
    roots.iter().any(|root| head.contains(root)).then_some(Format::JUnit)
}

fn table(text: &[u8]) -> Option<Format> {
    let header = text.split(|&byte| byte == b'\n').next()?;
    let header = String::from_utf8_lossy(header);
    let columns: Vec<&str> = header.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
    ["model_a", "model_b", "winner"].iter().all(|name| columns.contains(name)).then_some(Format::Battles)
}

/// Members that all must be there.
const MARKS: &[(Format, &[&str])] = &[
    (Format::Inspect, &["eval.task", "eval.model"]),
    (Format::Promptfoo, &["results.results[]", "results.prompts[]"]),
    (Format::Promptfoo, &["results.results[]", "evalId"]),
    (Format::Promptfoo, &["promptIdx", "testIdx", "success"]),
    (Format::Tau2, &["simulations[].task_id", "info"]),
    (Format::Tau2, &["info.environment_info", "info.agent_info"]),
    (Format::Tau2, &["task_id", "termination_reason", "trial"]),
    (Format::Tau2, &["model_name", "submitting_organization", "results"]),
    (Format::TauBench, &["[].task_id", "[].reward", "[].info"]),
    (Format::SweBench, &["resolved_ids[]", "submitted_ids[]"]),
    (Format::LmEval, &["doc_id", "resps[]", "filtered_resps[]"]),
    (Format::LmEval, &["doc_id", "doc", "target", "arguments"]),
    (Format::LmEval, &["results", "configs", "lm_eval_version"]),
    (Format::EveryEvalEver, &["evaluation_id", "sample_id", "model_id"]),
    (Format::EveryEvalEver, &["evaluation_id", "model_info", "evaluation_results[]"]),
    (Format::SweAgent, &["trajectory[].action", "trajectory[].observation"]),
    (Format::MiniSweAgent, &["trajectory_format", "messages[]"]),
    (Format::MiniSweAgent, &["info.exit_status", "info.model_stats", "messages[]"]),
    (Format::Langfuse, &["trace.id", "trace.projectId", "observations[]"]),
    (Format::Langfuse, &["projectId", "observations[].traceId", "latency"]),
    (Format::Atif, &["session_id", "agent.name", "steps[].source"]),
    (Format::Harbor, &["task_name", "trial_name", "agent_info"]),
    (Format::Harbor, &["results[].task_id", "results[].is_resolved"]),
    (Format::Battles, &["[].model_a", "[].model_b", "[].winner"]),
    (Format::Battles, &["model_a", "model_b", "winner"]),
    (Format::Otlp, &["resourceSpans[]"]),
    (Format::Otlp, &["trace.resourceSpans[]"]),
    (Format::Otlp, &["data.resourceSpans[]"]),
    (Format::Otlp, &["batches[].resource"]),
    (Format::Jaeger, &["data[].traceID", "data[].spans[]"]),
    (Format::OpenInference, &["context.trace_id", "context.span_id", "attributes"]),
    (Format::OpenInference, &["[].context.trace_id", "[].context.span_id", "[].attributes"]),
];

fn of_outline(paths: &[String]) -> Option<Format> {
    if let Some(schema) = paths.iter().find_map(|path| path.strip_prefix("schema_version="))
        && schema.starts_with("ATIF")
    {
        return Some(Format::Atif);
    }
    // The report on one instance has its name for a member.
    let ends = |end: &str| paths.iter().any(|path| path.ends_with(end));
    if ends(".patch_successfully_applied") && ends(".resolved") {
        return Some(Format::SweBench);
    }
    let has = |mark: &&str| paths.iter().any(|path| path == mark);
    MARKS.iter().find(|(_, marks)| marks.iter().all(has)).map(|(format, _)| *format)
}
