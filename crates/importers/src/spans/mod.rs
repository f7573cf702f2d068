//! Spans of OpenTelemetry: each trace with a span of a model or agent is a run. Success is the result of an evaluation, in an
//! event of a span or in a log record.

mod amount;
mod evaluations;
mod protobuf;
pub mod requests;
mod trace;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::json::{Element, Wanted};
use super::out::Out;
use super::{Importer, Input, Role, Stop, json};
pub(super) use amount::{Amount, circles};
pub use evaluations::Evaluations;
use evaluations::{evaluation, evaluations};
use trace::{Span, Traces};

/// The importer of spans as OTLP in JSON or protobuf, or as Tempo exports them.
pub static OTLP: Importer = Importer {
    name: "otlp",
    words: "a file of OpenTelemetry spans",
    has_traces: true,
    has_scores: true,
    role: Role::Spans,
    marks: &[
        &["resourceSpans[]"],
        &[RECORDS],
        &["trace.resourceSpans[]"],
        &["data.resourceSpans[]"],
        &["batches[].resource"],
    ],
    head: |_| Ok(None),
    begins: is_protobuf,
    read: otlp,
};

pub(super) static JAEGER: Importer = Importer {
    name: "jaeger",
    words: "a file of Jaeger spans",
    has_traces: true,
    has_scores: true,
    role: Role::Spans,
    marks: &[&["data[].traceID", "data[].spans[]"]],
    read: jaeger,
    ..Importer::RUNS
};

/// The importer of spans one by one, as OpenInference and the console exporters of OpenTelemetry write them.
pub(super) static OPENINFERENCE: Importer = Importer {
    name: "openinference",
    words: "a file of OpenTelemetry spans, one by one",
    has_traces: true,
    has_scores: true,
    role: Role::Spans,
    marks: &[
        &["context.trace_id", "context.span_id", "attributes"],
        &["[].context.trace_id", "[].context.span_id", "[].attributes"],
    ],
    read: exported,
    ..Importer::RUNS
};

const RESOURCE: &str = "resource.attributes schemaUrl";
const SPANS: [(&str, &str); 10] = [
    ("resourceSpans[]", RESOURCE),
    ("resourceSpans[].scopeSpans[].spans[]", "."),
    ("resourceSpans[].instrumentationLibrarySpans[].spans[]", "."),
    ("batches[]", RESOURCE),
    ("batches[].scopeSpans[].spans[]", "."),
    ("batches[].instrumentationLibrarySpans[].spans[]", "."),
    ("trace.resourceSpans[]", RESOURCE),
    ("trace.resourceSpans[].scopeSpans[].spans[]", "."),
    ("data.resourceSpans[]", RESOURCE),
    ("data.resourceSpans[].scopeSpans[].spans[]", "."),
];

/// The member that a file of log records has, and the records.
const RECORDS: &str = "resourceLogs[]";
const RECORD: (&str, &str) = ("resourceLogs[].scopeLogs[].logRecords[]", ".");

/// Returns whether a file begins as OTLP in protobuf: with the one member of its outermost message, which is white space in a
/// text. The length after it may look like a brace; the members within it are bytes that no JSON has.
fn is_protobuf(head: &[u8]) -> bool {
    let is_in_no_text = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    head.first() == Some(&b'\n') && head.iter().any(is_in_no_text)
}

/// The receiver of spans, each with its place.
type Take<'a> = dyn FnMut(&str, Span) -> Result<(), Stop> + 'a;

/// Reads OTLP in protobuf or JSON, one request or one on each line, and what Tempo exports.
fn otlp(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut traces = Traces::new(out);
    let head = input.head(1 << 20)?;
    let first = head.trim_ascii_start().first().copied();
    if is_protobuf(&head) || !matches!(first, Some(b'{' | 0xef)) {
        protobuf::read(input, &mut |place, span| traces.add(place, span))?;
    } else {
        requests_of(input, &head, &mut |element| {
            if element.place.starts_with("$.resourceLogs") {
                traces.record(element);
                return Ok(());
            }
            of_otlp(element, &mut |place, span| traces.add(place, span))
        })?;
    }
    traces.end(input, out)
}

/// Reads requests in JSON, one or one on each line, as the collector writes them, and hands on spans and log records.
fn requests_of(input: &Input, head: &[u8], take: &mut json::Take<'_>) -> Result<(), Stop> {
    let wanted = Wanted::of(&[&SPANS[..], &[RECORD]].concat());
    if !json::is_lines(head) {
        return json::read(input.json()?, &wanted, take).map(drop);
    }
    json::parts(
        input.json()?,
        |_| true,
        |place, line| {
            let read = json::read(line, &wanted, take);
            read.map(drop).map_err(|stop| stop.at(|within| format!("{place}, {within}")))
        },
    )
}

fn of_otlp(element: &Element<'_>, take: &mut Take<'_>) -> Result<(), Stop> {
    let Some(span) = element.own.get("") else { return Ok(()) };
    let text = |name: &str| span.get(name).and_then(Value::as_str).unwrap_or_default();
    let resource = attributes(element.before.get("resource.attributes"));
    let status = span.get("status").and_then(|status| status.get("code"));
    let is_error = matches!(status.and_then(Value::as_u64), Some(2))
        || matches!(status.and_then(Value::as_str), Some("STATUS_CODE_ERROR"));
    take(
        element.place,
        Span {
            trace: text("traceId").to_owned(),
            id: text("spanId").to_owned(),
            parent: text("parentSpanId").to_owned(),
            name: text("name").to_owned(),
            start: nanoseconds(span.get("startTimeUnixNano")),
            end: nanoseconds(span.get("endTimeUnixNano")),
            is_error,
            attributes: attributes(span.get("attributes")),
            evaluations: evaluations(span.get("events"), |event| {
                (
                    event.get("name").cloned(),
                    nanoseconds(event.get("timeUnixNano")),
                    attributes(event.get("attributes")),
                )
            }),
            service: resource.get("service.name").and_then(json::name),
        },
    )
}

/// Returns a moment; 0 means that it is not known.
fn nanoseconds(value: Option<&Value>) -> Option<i128> {
    whole(value?).filter(|time| (1..=u64::MAX.into()).contains(time))
}

/// Returns a whole number, which JSON of protobuf has as a text or a number, also with a point or an exponent.
fn whole(value: &Value) -> Option<i128> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let exact =
        || text.parse::<f64>().ok().filter(|it| it.fract() == 0.0 && it.abs() < 1e20).map(|it| it as i128);
    text.parse().ok().or_else(exact)
}

fn attributes(list: Option<&Value>) -> Map<String, Value> {
    let list = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|pair| Some((pair.get("key")?.as_str()?.to_owned(), typed(pair.get("value")?)?)))
        .collect()
}

/// Returns a value as protobuf would have it.
fn typed(value: &Value) -> Option<Value> {
    let get = |name: &str| value.get(name).filter(|value| !value.is_null());
    if let Some(double) = get("doubleValue") {
        let text = || double.as_str()?.parse().ok();
        return double.as_f64().or_else(text).filter(|it| it.is_finite()).map(Value::from);
    }
    if let Some(number) = get("intValue") {
        return i64::try_from(whole(number)?).ok().map(Value::from);
    }
    get("stringValue")
        .filter(|it| it.is_string())
        .or_else(|| get("boolValue").filter(|it| it.is_boolean()))
        .cloned()
}

/// Reads what Jaeger exports: times in microseconds, attributes as tags, services beside the spans.
fn jaeger(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    let mut services: BTreeMap<(String, String), String> = BTreeMap::new();
    json::read(input.json()?, &Wanted::of(&[("data[]", "traceID processes")]), &mut |trace| {
        let id = trace.own.text("traceID").unwrap_or_default();
        for (process, about) in trace.own.get("processes").and_then(Value::as_object).into_iter().flatten() {
            if let Some(service) = about.get("serviceName").and_then(Value::as_str) {
                services.insert((id.to_owned(), process.clone()), service.to_owned());
            }
        }
        Ok(())
    })?;
    let mut traces = Traces::new(out);
    json::read(input.json()?, &Wanted::of(&[("data[].spans[]", ".")]), &mut |element| {
        let Some(span) = element.own.get("") else { return Ok(()) };
        let text = |name: &str| span.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let microseconds = |name: &str| span.get(name).and_then(Value::as_i64).map(i128::from);
        let tags = span.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let pairs = |list: &[Value]| -> Map<String, Value> {
            list.iter()
                .filter_map(|tag| Some((tag.get("key")?.as_str()?.to_owned(), tag.get("value")?.clone())))
                .collect()
        };
        let attributes = pairs(tags);
        let trace = text("traceID");
        let start = microseconds("startTime").filter(|start| *start > 0).map(|start| start * 1000);
        let references = span.get("references").and_then(Value::as_array);
        // `FOLLOWS_FROM` is a link, and no parent.
        let is_child = |it: &&Value| it.get("refType").and_then(Value::as_str) != Some("FOLLOWS_FROM");
        let parent = references.and_then(|list| list.iter().find(is_child)?.get("spanID")?.as_str());
        let parent = parent.unwrap_or_default();
        let is_error = attributes.get("error").and_then(Value::as_bool) == Some(true);
        let service = services.get(&(trace.clone(), text("processID"))).cloned();
        traces.add(
            element.place,
            Span {
                name: text("operationName"),
                id: text("spanID"),
                parent: parent.to_owned(),
                start,
                end: start.zip(microseconds("duration")).map(|(start, long)| start + long * 1000),
                is_error,
                attributes,
                evaluations: evaluations(span.get("logs"), |log| {
                    let time =
                        log.get("timestamp").and_then(Value::as_i64).map(|time| i128::from(time) * 1000);
                    let fields = log.get("fields").and_then(Value::as_array).map(Vec::as_slice);
                    let about = pairs(fields.unwrap_or_default());
                    (about.get("event").cloned(), time, about)
                }),
                service,
                trace,
            },
        )
    })?;
    traces.end(input, out)
}

/// Reads spans one by one, as the exporters to a console and OpenInference write them.
fn exported(input: &Input, out: &mut Out<'_>) -> Result<(), Stop> {
    const SPAN: &str = "name context.trace_id context.span_id parent_id start_time end_time status_code status.status_code \
        attributes events resource.attributes";
    let mut traces = Traces::new(out);
    json::read_objects(input, SPAN, &mut |element| {
        let own = element.own;
        let object = |name: &str| own.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        let at =
            |name: &str| own.text(name).and_then(|text| karat_core::timestamp::parse_nanoseconds(text).ok());
        let status = own.text("status_code").or_else(|| own.text("status.status_code"));
        let trace = own.text("context.trace_id").unwrap_or_default();
        traces.add(
            element.place,
            Span {
                trace: trace.to_owned(),
                name: own.text("name").unwrap_or_default().to_owned(),
                id: own.text("context.span_id").unwrap_or_default().to_owned(),
                parent: own.text("parent_id").unwrap_or_default().to_owned(),
                start: at("start_time"),
                end: at("end_time"),
                is_error: status.is_some_and(|status| status.ends_with("ERROR")),
                attributes: object("attributes"),
                evaluations: evaluations(own.get("events"), |event| {
                    let time = event.get("timestamp").and_then(Value::as_str);
                    let time = time.and_then(|text| karat_core::timestamp::parse_nanoseconds(text).ok());
                    let about = event.get("attributes").and_then(Value::as_object).cloned();
                    (event.get("name").cloned(), time, about.unwrap_or_default())
                }),
                service: object("resource.attributes").get("service.name").and_then(json::name),
            },
        )
    })?;
    traces.end(input, out)
}
