//! Requests of the OpenTelemetry protocol as they arrive over HTTP: taken apart into the spans of each trace, which are put
//! together again once all are there.
//!
//! The texts of both are OTLP in JSON with what an import reads, and nothing else: times, names, and the attributes of agents.
//! The order in which spans came, and how they were split over requests, leaves no mark on what they are put together to.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use serde_json::{Map, Value, json};

use super::super::json as walk;
use super::super::json::Wanted;
use super::super::{Fault, ImportError, Input, Stop};
use super::evaluations::{EVENT, Evaluation};
use super::trace::Span;
use super::{SPANS, of_otlp, protobuf};

/// Beginnings of the names of attributes that an import reads.
const READ: [&str; 8] =
    ["gen_ai.", "llm.", "openinference.", "input.value", "output.value", "tool.", "tool_call.", "agent.name"];
const SPANS_MAX: u64 = 100_000;

/// The encoding of a request and of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// JSON.
    Json,
    /// Protocol buffers.
    Protobuf,
}

/// The spans of one trace in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The id of the trace: 32 hexadecimal digits.
    pub trace: String,
    /// The number of spans.
    pub spans: u64,
    /// True if one of them has no parent.
    pub has_root: bool,
    /// The spans, as OTLP in JSON.
    pub text: Vec<u8>,
}

/// A request that was taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts {
    /// The traces, by id.
    pub parts: Vec<Part>,
    /// The number of spans that were refused.
    pub refused: u64,
    /// The reason of the first of them.
    pub reason: Option<String>,
}

/// Takes a request apart, which may be packed with gzip; none if it has more than `most` bytes unpacked.
///
/// # Errors
/// If it is not a request in that encoding.
pub fn take_apart(body: &[u8], encoding: Encoding, most: u64) -> Result<Option<Parts>, ImportError> {
    let packed = Input::memory("the request", body);
    let mut plain = Vec::new();
    let read = packed.open().and_then(|input| input.take(most.saturating_add(1)).read_to_end(&mut plain));
    read.map_err(|error| Fault::unreadable(&error).of(&packed))?;
    let input = Input::memory("the request", plain);
    if input.len().unwrap_or(u64::MAX) > most {
        return Ok(None);
    }
    let mut traces: BTreeMap<String, Vec<Span>> = BTreeMap::new();
    let (mut refused, mut reason, mut count) = (0, None, 0u64);
    let mut take = |place: &str, mut span: Span| {
        count += 1;
        let wrong = if count > SPANS_MAX {
            Some(format!("more than {SPANS_MAX} spans in a request"))
        } else if !is_id(&span.trace, 32) {
            Some(format!("{place}: a trace id that is not 16 bytes, or only zeros"))
        } else if !is_id(&span.id, 16) {
            Some(format!("{place}: a span id that is not 8 bytes, or only zeros"))
        } else {
            None
        };
        if wrong.is_some() {
            refused += 1;
            reason = reason.take().or(wrong);
            return Ok(());
        }
        span.normalise();
        if !is_id(&span.parent, 16) {
            span.parent.clear();
        }
        span.attributes.retain(|name, _| READ.iter().any(|start| name.starts_with(start)));
        traces.entry(span.trace.clone()).or_default().push(span);
        Ok(())
    };
    let read = match encoding {
        Encoding::Protobuf => protobuf::read(&input, &mut take),
        Encoding::Json => input.json().map_err(Stop::from).and_then(|text| {
            walk::read(text, &Wanted::of(&SPANS), &mut |span| of_otlp(span, &mut take)).map(drop)
        }),
    };
    if let Err(Stop::Fault(fault)) = read {
        return Err(fault.of(&input));
    }
    let part = |(trace, spans): (String, Vec<Span>)| {
        let has_root = spans.iter().any(|span| span.parent.is_empty());
        Part { trace, spans: spans.len() as u64, has_root, text: written(spans) }
    };
    Ok(Some(Parts { parts: traces.into_iter().map(part).collect(), refused, reason }))
}

fn is_id(text: &str, length: usize) -> bool {
    text.len() == length
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte != b'0')
}

/// Puts the spans of a trace together, whose texts [`take_apart`] made: each span once, in the order of time.
///
/// # Errors
/// If a text is another one.
pub fn put_together<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, ImportError> {
    let mut spans = Vec::new();
    for text in texts {
        let input = Input::memory("spans", text);
        let read = walk::read(text, &Wanted::of(&SPANS), &mut |element| {
            of_otlp(element, &mut |_, span| {
                spans.push(span);
                Ok(())
            })
        });
        if let Err(Stop::Fault(fault)) = read {
            return Err(fault.of(&input));
        }
    }
    Ok(written(spans))
}

/// Writes spans as OTLP in JSON: by service, and then in the order of time.
fn written(mut spans: Vec<Span>) -> Vec<u8> {
    // Of spans with one id the first in this order stays, whichever came first.
    spans.sort_by_cached_key(|span| (span.start, span.id.clone(), span.end, of_span(span).to_string()));
    let mut known = BTreeSet::new();
    spans.retain(|span| known.insert(span.id.clone()));
    let mut services: BTreeMap<Option<&str>, Vec<Value>> = BTreeMap::new();
    for span in &spans {
        services.entry(span.service.as_deref()).or_default().push(of_span(span));
    }
    let resource = |(service, spans): (Option<&str>, Vec<Value>)| {
        let attributes: Vec<Value> =
            service.map(|name| attribute("service.name", &name.into())).into_iter().collect();
        json!({"resource": {"attributes": attributes}, "scopeSpans": [{"spans": spans}]})
    };
    let resources: Vec<Value> = services.into_iter().map(resource).collect();
    json!({ "resourceSpans": resources }).to_string().into_bytes()
}

fn of_span(span: &Span) -> Value {
    let mut members = Map::new();
    let texts = [
        ("traceId", &span.trace),
        ("spanId", &span.id),
        ("parentSpanId", &span.parent),
        ("name", &span.name),
    ];
    for (name, text) in texts {
        members.insert(name.into(), text.as_str().into());
    }
    for (name, time) in [("startTimeUnixNano", span.start), ("endTimeUnixNano", span.end)] {
        if let Some(time) = time {
            members.insert(name.into(), time.to_string().into());
        }
    }
    if span.is_error {
        members.insert("status".into(), json!({"code": 2}));
    }
    let attributes = span.attributes.iter().map(|(name, value)| attribute(name, value));
    members.insert("attributes".into(), attributes.collect());
    if !span.evaluations.is_empty() {
        members.insert("events".into(), span.evaluations.iter().map(event).collect());
    }
    members.into()
}

/// Returns the event of the result of an evaluation.
fn event(evaluation: &Evaluation) -> Value {
    let name = attribute("gen_ai.evaluation.name", &evaluation.name.as_str().into());
    let score = evaluation.value.map(|value| attribute("gen_ai.evaluation.score.value", &json!(value)));
    let attributes: Vec<Value> = std::iter::once(name).chain(score).collect();
    let mut event = json!({"name": EVENT, "attributes": attributes});
    if let (Some(time), Some(members)) = (evaluation.time, event.as_object_mut()) {
        members.insert("timeUnixNano".into(), time.to_string().into());
    }
    event
}

fn attribute(name: &str, value: &Value) -> Value {
    let value = match value {
        Value::Bool(flag) => json!({ "boolValue": flag }),
        Value::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
        Value::Number(number) => json!({ "intValue": number.to_string() }),
        Value::String(text) => json!({ "stringValue": text }),
        other => json!({ "stringValue": other.to_string() }),
    };
    json!({"key": name, "value": value})
}

/// Returns the answer to a request of which that many spans were refused.
pub fn response(encoding: Encoding, refused: u64, reason: &str) -> Vec<u8> {
    let is_whole = refused == 0 && reason.is_empty();
    match encoding {
        Encoding::Protobuf => {
            let (mut partial, mut out) = (Vec::new(), Vec::new());
            if !is_whole {
                protobuf::write_member(&mut partial, 1, refused);
                protobuf::write_bytes(&mut partial, 2, reason.as_bytes());
                protobuf::write_bytes(&mut out, 1, &partial);
            }
            out
        }
        Encoding::Json if is_whole => b"{}".to_vec(),
        // Of 64 bits, so a text in JSON.
        Encoding::Json => {
            let partial = json!({"rejectedSpans": refused.to_string(), "errorMessage": reason});
            json!({ "partialSuccess": partial }).to_string().into_bytes()
        }
    }
}

/// Returns a `google.rpc.Status` in protobuf, the body of every answer that is an error.
pub fn status(code: u8, message: &str) -> Vec<u8> {
    let mut out = Vec::new();
    protobuf::write_member(&mut out, 1, code.into());
    protobuf::write_bytes(&mut out, 2, message.as_bytes());
    out
}
