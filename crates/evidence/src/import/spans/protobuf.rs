//! OTLP in protobuf: the messages of traces, as far as they are read.

use std::io::Read as _;

use prost::Message;
use serde_json::{Map, Value};

use super::super::{Fault, Input, Stop, json};
use super::evaluation;
use super::trace::{Span as Read, Traces};

/// Largest request, in bytes.
const MOST: u64 = 256 << 20;

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(fixed64, tag = "7")]
    start: u64,
    #[prost(fixed64, tag = "8")]
    end: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, repeated, tag = "11")]
    events: Vec<Event>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(string, tag = "2")]
    name: String,
    #[prost(message, repeated, tag = "3")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(bool, tag = "2")]
    Flag(bool),
    #[prost(int64, tag = "3")]
    Whole(i64),
    #[prost(double, tag = "4")]
    Number(f64),
}

pub(super) fn read(input: &Input, traces: &mut Traces) -> Result<(), Stop> {
    let mut bytes = Vec::new();
    input.open()?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Fault::new("", "more than 256 MiB", "a smaller request").into());
    }
    let request = Request::decode(bytes.as_slice())
        .map_err(|error| Fault::new("", error.to_string(), "a request of OTLP in protobuf"))?;
    let mut number = 0u64;
    for part in request.resource_spans {
        let resource = attributes(part.resource.map(|resource| resource.attributes).unwrap_or_default());
        let service = resource.get("service.name").and_then(json::name);
        for span in part.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            number += 1;
            let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let read = Read {
                trace: digits(&span.trace_id),
                id: digits(&span.span_id),
                parent: digits(&span.parent_span_id),
                name: span.name,
                start: (span.start > 0).then(|| span.start.into()),
                end: (span.end > 0).then(|| span.end.into()),
                is_error: span.status.is_some_and(|status| status.code == 2),
                attributes: attributes(span.attributes),
                evaluations: span
                    .events
                    .into_iter()
                    .filter_map(|event| evaluation(&event.name, &attributes(event.attributes)))
                    .collect(),
                service: service.clone(),
            };
            traces.add(&format!("span {number}"), read)?;
        }
    }
    Ok(())
}

fn attributes(list: Vec<KeyValue>) -> Map<String, Value> {
    let pairs = list.into_iter().filter_map(|KeyValue { key, value }| {
        let value = match value?.kind? {
            Kind::Text(text) => text.into(),
            Kind::Flag(flag) => flag.into(),
            Kind::Whole(whole) => whole.into(),
            Kind::Number(number) => number.into(),
        };
        Some((key, value))
    });
    pairs.collect()
}
