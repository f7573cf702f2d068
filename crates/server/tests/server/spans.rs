//! Spans over HTTP: a trace becomes the item that an import of its spans gives, however they were split.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use karat_core::timestamp::Timestamp;
use karat_evidence::ids::joined;
use karat_importers::{Input, Items, OTLP, Options as Choices, import};
use karat_server::Options;
use karat_server::clock::Clock;
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/x-protobuf";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const START: u64 = 1_767_225_600;

/// A span with texts as attributes.
fn span(id: u64, parent: u64, second: u64, attributes: &[(&str, &str)]) -> Value {
    let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
    let attributes: Vec<Value> =
        attributes.iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"traceId": TRACE, "spanId": format!("{id:016x}"), "parentSpanId": parent, "name": "step",
        "startTimeUnixNano": ((START + second) * 1_000_000_000).to_string(),
        "endTimeUnixNano": ((START + second + 1) * 1_000_000_000).to_string(), "attributes": attributes})
}

fn spans() -> Vec<Value> {
    let chat = [("gen_ai.operation.name", "chat"), ("gen_ai.request.model", "m")];
    let tool = [("gen_ai.operation.name", "execute_tool"), ("gen_ai.tool.name", "search")];
    vec![
        span(1, 0, 0, &[("gen_ai.operation.name", "invoke_agent"), ("gen_ai.agent.name", "scout")]),
        span(2, 1, 1, &chat),
        span(3, 1, 2, &tool),
        span(4, 1, 3, &chat),
    ]
}

fn request(spans: &[Value]) -> String {
    let service = json!([{"key": "service.name", "value": {"stringValue": "shop"}}]);
    json!({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [{"spans": spans}]}]})
        .to_string()
}

/// Writes a member of a protobuf message that has bytes.
fn member(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![tag << 3 | 2];
    let mut length = bytes.len();
    while length >= 128 {
        out.push((length & 127) as u8 | 128);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(bytes);
    out
}

fn bytes_of(digits: &Value) -> Vec<u8> {
    let digits = digits.as_str().unwrap();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// The same request in protobuf.
fn in_protobuf(spans: &[Value]) -> Vec<u8> {
    let attribute = |key: &str, value: &str| {
        [member(1, key.as_bytes()), member(2, &member(1, value.as_bytes()))].concat()
    };
    let time = |tag: u8, value: &Value| {
        let nanoseconds: u64 = value.as_str().unwrap().parse().unwrap();
        [vec![tag << 3 | 1], nanoseconds.to_le_bytes().to_vec()].concat()
    };
    let of_span = |span: &Value| {
        let attributes = span["attributes"].as_array().unwrap().iter().flat_map(|it| {
            member(9, &attribute(it["key"].as_str().unwrap(), it["value"]["stringValue"].as_str().unwrap()))
        });
        let own = [
            member(1, &bytes_of(&span["traceId"])),
            member(2, &bytes_of(&span["spanId"])),
            member(4, &bytes_of(&span["parentSpanId"])),
            member(5, b"step"),
            time(7, &span["startTimeUnixNano"]),
            time(8, &span["endTimeUnixNano"]),
        ];
        own.concat().into_iter().chain(attributes).collect::<Vec<u8>>()
    };
    let scope: Vec<u8> = spans.iter().flat_map(|span| member(2, &of_span(span))).collect();
    let resource = member(1, &member(1, &attribute("service.name", "shop")));
    member(1, &[resource, member(2, &scope)].concat())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_774_000_000 + second)
}

fn started(folder: Folder, admin: Option<String>, clock: &Clock) -> Running {
    Running::with_clock("127.0.0.1:0", folder, Options::default(), admin, clock.clone())
}

fn evidence(subject: &str, trace: &str) -> String {
    let id = joined([subject, &format!("kp:trace:{trace}")]);
    format!("/v1/evidence/{}", id.replace('%', "%25").replace('/', "%2F"))
}

/// Waits for an item, which is made within a second or so.
fn wait(server: &Running, path: &str) -> Answer {
    let began = Instant::now();
    loop {
        let answer = server.get(path);
        if answer.status == 200 || began.elapsed() > Duration::from_secs(20) {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns what an import of spans in one file gives, as the server names that file.
fn imported(text: &[u8]) -> Value {
    let input = Input::memory(format!("{TRACE}.otlp.json"), text);
    let choices = Choices { items: Items::Traces, ..Choices::default() };
    let mut found = Value::Null;
    import(&input, &OTLP, &choices, &mut |item| {
        found = serde_json::from_slice(item.json).unwrap();
        ControlFlow::Continue(())
    })
    .unwrap();
    found
}

#[test]
fn a_trace_that_comes_in_parts_is_the_item_of_its_file() {
    let clock = Clock::fixed(at(0));
    let server = started(Folder::new(), None, &clock);
    let all = spans();
    // The last first, a part twice, and one in protobuf.
    let (first, rest) = all.split_at(1);
    let (second, third) = rest.split_at(1);
    let path = "/v1/traces";
    for _ in 0..2 {
        let sent = server.post(path, Some(&server.admin), JSON, request(third));
        assert_eq!((sent.is(200).body.as_str(), sent.header("content-type")), ("{}", Some(JSON)));
    }
    clock.put(at(5));
    let sent = server.post(path, Some(&server.admin), PROTOBUF, in_protobuf(second));
    assert_eq!((sent.is(200).body.as_str(), sent.header("content-type")), ("", Some(PROTOBUF)));
    server.get(&evidence("scout", TRACE)).is(404);
    // What was answered outlives the server.
    let admin = server.admin.clone();
    let server = started(server.stop(), Some(admin), &clock);
    server.post(path, Some(&server.admin), JSON, request(first)).is(200);
    // The root is there, and ten seconds later more may still come.
    clock.put(at(15));
    std::thread::sleep(Duration::from_millis(2500));
    server.get(&evidence("scout", TRACE)).is(404);
    clock.put(at(21));
    let item = wait(&server, &evidence("scout", TRACE));
    let content = item.is(200).at("/content");
    let mut whole = imported(request(&all).as_bytes());
    let mut own = content.clone();
    for item in [&mut whole, &mut own] {
        item["source"] = Value::Null;
    }
    assert_eq!(own, whole);
    assert_eq!(item.at("/sources").as_array().unwrap().len(), 3, "{}", item.body);
    // Its spans in one file have the digest that it names, and give it to the byte.
    let parts = karat_importers::requests::take_apart(
        request(&all).as_bytes(),
        karat_importers::requests::Encoding::Json,
        1 << 20,
    );
    assert_eq!(imported(&parts.unwrap().unwrap().parts[0].text), content);
    let kept = server.get(&format!("/v1/records/{}", item.at("/records/0")));
    let record = kept.is(200).at("/record");
    // What spans say, their times among it, is the word of the sender.
    assert_eq!(
        (kept.at("/trust"), record["evidence"]["time"].as_str()),
        ("claimed".into(), Some("2026-01-01T00:00:00Z"))
    );
    assert_eq!((&record["status"], &record["facts"]["step_count"]), (&"withheld".into(), &3.into()));
    assert_eq!(record["grading"]["source"]["format"], "otlp");
    // A span that comes now is refused, and the answer says so.
    let late = span(9, 1, 9, &[]);
    let sent = server.post(path, Some(&server.admin), JSON, request(&[late]));
    assert_eq!(sent.is(200).at("/partialSuccess/rejectedSpans"), "1");
    assert!(sent.at("/partialSuccess/errorMessage").as_str().unwrap().contains("too late"), "{}", sent.body);
}

#[test]
fn other_encodings_and_cards_give_the_same_run() {
    let clock = Clock::fixed(at(0));
    let server = started(Folder::new(), None, &clock);
    let key = server.key(&json!({"name": "exporter", "scopes": ["write:evidence"]}));
    let packed = gzip(&in_protobuf(&spans()));
    let head = format!(
        "POST /v1/traces?card=run&subject=bee HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {key}\r\ncontent-type: {PROTOBUF}\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        server.address,
        packed.len()
    );
    let answer = server.raw(&[head.as_bytes(), &packed].concat());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    clock.put(at(20));
    let id = joined(["bee", TRACE]).replace('/', "%2F");
    let item = wait(&server, &format!("/v1/evidence/{id}"));
    let content = item.is(200).at("/content");
    assert_eq!(
        (&content["calls"], &content["tool_calls"], &content["seconds"]),
        (&2.into(), &1.into(), &4.into())
    );
}

#[test]
fn what_becomes_no_item_is_in_the_log_with_the_reason() {
    let clock = Clock::fixed(at(0));
    let server = started(Folder::new(), None, &clock);
    let noise = span(7, 0, 0, &[("http.method", "GET")]);
    server.post("/v1/traces", Some(&server.admin), JSON, request(&[noise])).is(200);
    let size = server.get("/v1/log").at("/size").as_u64().unwrap();
    clock.put(at(16));
    let began = Instant::now();
    while server.get("/v1/log").at("/size").as_u64() == Some(size)
        && began.elapsed() < Duration::from_secs(20)
    {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.get("/v1/log").at("/size"), size + 1);
    let late = server.post("/v1/traces", Some(&server.admin), JSON, request(&spans()));
    assert_eq!(late.is(200).at("/partialSuccess/rejectedSpans"), "4");
}

#[test]
fn requests_that_cannot_be_taken_are_refused_in_their_encoding() {
    let server = Running::new();
    let admin = server.admin.as_str();
    let path = "/v1/traces";
    server.post(path, None, JSON, "{}").is_problem(401, "unauthenticated");
    let empty = server.post(path, Some(admin), JSON, "{}");
    assert_eq!(empty.is(200).body, "{}");
    server.post(path, Some(admin), "text/plain", "{}").is_problem(415, "unsupported-media-type");
    server.post(path, Some(admin), JSON, "{\"resourceSpans\": [").is_problem(400, "bad-request");
    server.post("/v1/traces?card=none", Some(admin), JSON, "{}").is_problem(404, "not-found");
    server.post("/v1/traces?card=workflow", Some(admin), JSON, "{}").is_problem(400, "bad-request");
    server.post("/v1/traces?cart=trace", Some(admin), JSON, "{}").is_problem(400, "bad-request");
    let broken = server.post(path, Some(admin), PROTOBUF, [0x0a, 0xff]);
    assert_eq!((broken.status, broken.header("content-type")), (400, Some(PROTOBUF)));
    // A status with the code 3 and a message.
    assert!(broken.body.starts_with("\u{8}\u{3}\u{12}"), "{:?}", broken.body);
    let bomb = gzip(&vec![b' '; 40 << 20]);
    server.post(path, Some(admin), JSON, bomb).is_problem(413, "too-large");
    let twice = gzip(&gzip(&vec![0; 40 << 20]));
    server.post(path, Some(admin), JSON, twice).is_problem(400, "bad-request");
    let large = server.post(path, Some(admin), PROTOBUF, vec![b'a'; (16 << 20) + 1]);
    assert_eq!((large.status, &large.body[..3]), (413, "\u{8}\u{8}\u{12}"));
    for (encoding, status) in [("gzip", 200), ("identity", 200), ("GZIP", 200), ("br", 415), ("zstd", 415)] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {admin}\r\ncontent-type: {JSON}\r\n\
             content-encoding: {encoding}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}",
            server.address
        );
        let answer = server.raw(head.as_bytes());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{encoding}: {answer}");
    }
    let reporter = server.key(&json!({"name": "judge", "scopes": ["write:evidence"], "reports": ["judge"]}));
    server.post(path, Some(&reporter), JSON, request(&spans())).is_problem(403, "forbidden");
    // A key that may not send costs no memory: what the request holds is not looked at.
    server.post(path, Some(&reporter), JSON, gzip(b"no JSON")).is_problem(403, "forbidden");
    let many = (0..100_000).map(|at| format!("{{\"key\":\"k{at}\",\"value\":{{\"intValue\":\"1\"}}}}"));
    let many = many.collect::<Vec<_>>().join(",");
    let wide = request(&[span(1, 0, 0, &[("x", "y")])])
        .replace("\"attributes\":[", &format!("\"attributes\":[{many},"));
    assert!(wide.len() > many.len(), "the attributes are in it");
    let refused = server.post(path, Some(admin), JSON, gzip(wide.as_bytes()));
    assert!(refused.is_problem(400, "bad-request").body.contains("262144 values"), "{}", refused.body);
    let wrong = json!({"traceId": "xyz", "spanId": "1"});
    let partly = server.post(path, Some(admin), JSON, request(&[wrong, span(1, 0, 0, &[])]));
    assert_eq!(partly.is(200).at("/partialSuccess/rejectedSpans"), "1");
}

/// A refusal before the request is looked at is a `google.rpc.Status` too, with the time to wait.
#[test]
fn every_refusal_of_protobuf_is_a_status() {
    let server = Running::new();
    for secret in [None, Some("karat_0000000000000000000000000000000000000000000000000000")] {
        let refused = server.post("/v1/traces", secret, PROTOBUF, in_protobuf(&spans()));
        assert_eq!((refused.status, refused.header("content-type")), (401, Some(PROTOBUF)));
        assert!(refused.body.starts_with("\u{8}\u{10}\u{12}"), "{:?}", refused.body);
        server.post("/v1/traces", secret, JSON, "{}").is_problem(401, "unauthenticated");
    }
    // Of other paths every error is a problem, whatever was sent.
    server.post("/v1/evidence?card=run", None, PROTOBUF, "").is_problem(401, "unauthenticated");
    // More traces than a sender may have open.
    let many: Vec<Value> = (0..4097u64)
        .map(|number| {
            let mut span = span(1, 0, 0, &[]);
            span["traceId"] = format!("{:032x}", number + 1).into();
            span
        })
        .collect();
    let admin = server.admin.as_str();
    let size = server.get("/v1/log").at("/size");
    let refused = server.post("/v1/traces", Some(admin), PROTOBUF, in_protobuf(&many));
    assert_eq!((refused.status, refused.header("content-type")), (429, Some(PROTOBUF)));
    assert_eq!((refused.header("retry-after"), &refused.body[..3]), (Some("15"), "\u{8}\u{8}\u{12}"));
    let refused = server.post("/v1/traces", Some(admin), JSON, request(&many));
    assert_eq!(refused.is_problem(429, "too-many-requests").header("retry-after"), Some("15"));
    // Nothing of them was stored, and fewer of them are.
    assert_eq!(server.get("/v1/log").at("/size"), size);
    server.post("/v1/traces", Some(admin), JSON, request(&many[..100])).is(200);
    assert_eq!(server.get("/v1/log").at("/size").as_u64(), size.as_u64().map(|size| size + 100));
}

/// A sender who knows the id of a trace, and is quicker, neither replaces the item of the other nor keeps it out.
#[test]
fn spans_of_another_sender_take_no_place() {
    let clock = Clock::fixed(at(0));
    let server = started(Folder::new(), None, &clock);
    let names = ["one", "other"];
    let keys = names.map(|name| server.key(&json!({"name": name, "scopes": ["write:evidence"]})));
    let listed = server.get_with("/v1/keys", Some(&server.admin)).at("/keys");
    let id = |name: &str| {
        let key = listed.as_array().unwrap().iter().find(|key| key["name"] == name).unwrap();
        key["id"].as_str().unwrap().to_owned()
    };
    // An item of the id that is kept for the other cannot be sent either.
    let kept = format!("{TRACE}@{}", id("other"));
    let item = json!({"subject": "bee", "id": kept, "solved": 1, "seconds": 1, "cost_usd": 1, "tokens": 1});
    let path = "/v1/evidence?card=run";
    server.post(path, Some(&keys[0]), JSON, item.to_string()).is_problem(403, "forbidden");
    // The first claims that it took longer, and that karat wrote the item of another run.
    let mut claimed = spans();
    claimed[0] = span(1, 0, 0, &[("gen_ai.operation.name", "invoke_agent"), ("karat.id", "run-1")]);
    claimed.push(span(5, 1, 500, &[("gen_ai.operation.name", "chat"), ("gen_ai.request.model", "m")]));
    let path = "/v1/traces?card=run&subject=bee";
    server.post(path, Some(&keys[0]), JSON, request(&claimed)).is(200);
    clock.put(at(20));
    let own =
        |id: &str| format!("/v1/evidence/{}", joined(["bee", id]).replace('%', "%25").replace('/', "%2F"));
    let first = wait(&server, &own(TRACE)).is(200).at("/content");
    assert_eq!((&first["id"], &first["calls"]), (&TRACE.into(), &3.into()));
    server.get(&own("run-1")).is(404);
    server.post(path, Some(&keys[1]), JSON, request(&spans())).is(200);
    clock.put(at(40));
    let second = wait(&server, &own(&kept)).is(200).at("/content");
    assert_eq!((&second["id"], &second["calls"]), (&kept.as_str().into(), &2.into()));
    assert_eq!(server.get(&own(TRACE)).is(200).at("/content"), first);
    // All but the id is what the spans of the second alone give.
    let (mut one, mut other) = (first, second);
    for item in [&mut one, &mut other] {
        for member in ["id", "source", "calls", "seconds"] {
            item.as_object_mut().unwrap().remove(member);
        }
    }
    assert_eq!(one, other);
}
