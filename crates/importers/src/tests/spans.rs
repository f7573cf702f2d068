//! Spans by chance: the same items whatever they are written in, in whatever order, however often.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Items, Options, by_name, read, read_as};
use crate::requests::{Encoding, put_together, take_apart};

/// A span on its way into both encodings.
#[derive(Debug, Clone)]
struct Made {
    trace: u8,
    id: u8,
    parent: Option<u8>,
    name: String,
    times: (u64, u64),
    is_error: bool,
    attributes: Vec<(&'static str, Value)>,
    score: Option<f64>,
}

fn made() -> impl Strategy<Value = Made> {
    let time = || prop_oneof![1 => Just(0u64), 9 => 1_767_225_600_000_000_000..1_767_225_601_000_000_000u64];
    let count = || {
        prop_oneof![
            8 => (0..5000i64).prop_map(Value::from),
            1 => any::<i64>().prop_map(Value::from),
            1 => prop_oneof![Just(0.5), Just(12.0), Just(-3.0), Just(1e300), any::<f64>()]
                .prop_filter("a number of JSON", |it| it.is_finite())
                .prop_map(Value::from),
            1 => "-?[0-9]{1,3}(\\.5)?|many".prop_map(Value::from),
        ]
    };
    let some = |name: &'static str, value: BoxedStrategy<Value>| {
        prop::option::of(value).prop_map(move |it| it.map(|it| (name, it)))
    };
    let one_of = |values: &'static [&'static str]| prop::sample::select(values).prop_map(Value::from).boxed();
    let attributes = (
        some("gen_ai.operation.name", one_of(&["chat", "execute_tool", "invoke_agent", "embeddings"])),
        some("gen_ai.usage.input_tokens", count().boxed()),
        some("gen_ai.usage.completion_tokens", count().boxed()),
        some("llm.token_count.total", count().boxed()),
        some("llm.cost.total", prop_oneof![0.0..1.0f64, -1.0..0.0].prop_map(Value::from).boxed()),
        some("gen_ai.agent.name", one_of(&["a", "b", "ü"])),
        some("gen_ai.request.model", one_of(&["m", "n"])),
        some("gen_ai.completion", ".{0,9}".prop_map(Value::from).boxed()),
        some("openinference.flag", any::<bool>().prop_map(Value::from).boxed()),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i)| [a, b, c, d, e, f, g, h, i].into_iter().flatten().collect());
    (
        (1..3u8, 1..9u8, prop::option::of(0..10u8), "[a-zü ]{0,6}", (time(), time())),
        (any::<bool>(), attributes, prop::option::of(-1.0..2.0f64)),
    )
        .prop_map(|((trace, id, parent, name, times), (is_error, attributes, score))| Made {
            trace,
            id,
            parent,
            name,
            // Most spans end after they began.
            times: if times.0 % 8 > 0 { (times.0.min(times.1), times.0.max(times.1)) } else { times },
            is_error,
            attributes,
            score,
        })
}

/// Returns digits as they come, in capitals for every second place: both are one id.
fn hex(bytes: &[u8], place: usize) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    if place.is_multiple_of(2) { digits } else { digits.to_uppercase() }
}

fn as_json(spans: &[Made]) -> Vec<u8> {
    let pair = |(name, value): (&str, &Value), place: usize| {
        let value = match value {
            Value::String(text) => json!({ "stringValue": text }),
            Value::Bool(flag) => json!({ "boolValue": flag }),
            Value::Number(it) if it.is_f64() => json!({ "doubleValue": it }),
            Value::Number(it) if place.is_multiple_of(2) => json!({ "intValue": it.to_string() }),
            value => json!({ "intValue": value }),
        };
        json!({"key": name, "value": value})
    };
    let one = |(place, span): (usize, &Made)| {
        let attributes: Vec<Value> =
            span.attributes.iter().map(|(name, value)| pair((name, value), place)).collect();
        let time = |time: u64| if place % 3 == 0 { json!(time) } else { json!(time.to_string()) };
        let about: Vec<Value> = score(span).iter().map(|(name, value)| pair((name, value), place)).collect();
        json!({
            "traceId": hex(&[0xa0 | span.trace; 16], place), "spanId": hex(&[0xb0 | span.id; 8], place),
            "parentSpanId": span.parent.map(parent).map_or(String::new(), |id| hex(&id, place + 1)),
            "name": span.name, "startTimeUnixNano": time(span.times.0), "endTimeUnixNano": time(span.times.1),
            "attributes": attributes,
            "status": if span.is_error { json!({"code": if place % 2 == 0 { json!(2) } else { json!("STATUS_CODE_ERROR") }}) } else { json!({}) },
            "events": if about.is_empty() { json!([]) } else { json!([{"name": "gen_ai.evaluation.result", "attributes": about}]) },
        })
    };
    let list: Vec<Value> = spans.iter().enumerate().map(one).collect();
    let service = pair(("service.name", &json!("svc")), 0);
    json!({"resourceSpans": [{"resource": {"attributes": [service]}, "scopeSpans": [{"spans": list}]}]})
        .to_string()
        .into_bytes()
}

/// Returns the bytes of the parent: 0 means the id of only zeros, so that the span has no parent.
fn parent(id: u8) -> [u8; 8] {
    [if id == 0 { 0 } else { 0xb0 | id }; 8]
}

fn score(span: &Made) -> Vec<(&'static str, Value)> {
    let pair =
        |it| [("gen_ai.evaluation.name", json!("solved")), ("gen_ai.evaluation.score.value", json!(it))];
    span.score.map(pair).into_iter().flatten().collect()
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    varint(&mut out, bytes.len() as u64);
    [&out, bytes].concat()
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        out.push((number & 127) as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

fn as_protobuf(spans: &[Made]) -> Vec<u8> {
    let fixed = |number: u8, bits: u64| [&[number << 3 | 1][..], &bits.to_le_bytes()].concat();
    let pair = |number: u8, name: &str, value: &Value| {
        let value = match value {
            Value::String(text) => field(1, text.as_bytes()),
            Value::Bool(flag) => vec![2 << 3, u8::from(*flag)],
            Value::Number(it) if it.is_f64() => fixed(4, it.as_f64().unwrap().to_bits()),
            value => {
                let mut out = vec![3 << 3];
                varint(&mut out, value.as_i64().unwrap().cast_unsigned());
                out
            }
        };
        field(number, &[field(1, name.as_bytes()), field(2, &value)].concat())
    };
    let one = |span: &Made| {
        let mut out = [field(1, &[0xa0 | span.trace; 16]), field(2, &[0xb0 | span.id; 8])].concat();
        out.extend(span.parent.map(|id| field(4, &parent(id))).unwrap_or_default());
        out.extend(field(5, span.name.as_bytes()));
        out.extend([fixed(7, span.times.0), fixed(8, span.times.1)].concat());
        out.extend(span.attributes.iter().flat_map(|(name, value)| pair(9, name, value)));
        let about: Vec<u8> = score(span).iter().flat_map(|(name, value)| pair(3, name, value)).collect();
        if !about.is_empty() {
            out.extend(field(11, &[field(2, b"gen_ai.evaluation.result"), about].concat()));
        }
        out.extend(field(15, if span.is_error { &[3 << 3, 2] } else { &[] }));
        field(2, &out)
    };
    let list: Vec<u8> = spans.iter().flat_map(one).collect();
    field(1, &[field(1, &pair(1, "service.name", &json!("svc"))), field(2, &list)].concat())
}

/// Returns the items without their source, and what was left out of them.
fn told(name: &str, bytes: &[u8], items: Items) -> (Vec<Value>, Vec<(String, u64)>) {
    let options = Options { items, ..Options::default() };
    let (mut items, summary) = read_as(name, bytes, by_name("otlp"), &options).unwrap();
    for item in &mut items {
        item.as_object_mut().unwrap().remove("source");
    }
    let left_out =
        summary.left_out.into_iter().filter(|(reason, _)| reason != "a span that was there before");
    (items, left_out.collect())
}

proptest! {
    #[test]
    fn spans_give_the_same_items_in_any_encoding_and_order(
        spans in prop::collection::vec(made(), 1..9),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        order in any::<u64>(),
    ) {
        // Spans with one id differ only where another test says so.
        let mut spans = spans;
        let mut known = std::collections::BTreeSet::new();
        spans.retain(|span| known.insert((span.trace, span.id)));
        let mut others = spans.clone();
        others.extend(again.iter().map(|index| index.get(&spans).clone()));
        others.sort_by_key(|span| (u64::from(span.id) + 1).wrapping_mul(order | 1).rotate_left(17));
        for items in [Items::Runs, Items::Traces] {
            let first = told("t.json", &as_json(&spans), items);
            for (name, bytes) in [
                ("t.json", as_json(&others)),
                ("t.pb", as_protobuf(&spans)),
                ("t.pb", as_protobuf(&others)),
            ] {
                prop_assert_eq!(&told(name, &bytes, items), &first, "{} {:?}", name, items);
            }
            // What a server keeps of a request says the same, unless another trace shows the scale of a score.
            if spans.iter().filter_map(|span| span.score).any(|score| !(0.0..=1.0).contains(&score)) {
                continue;
            }
            for (encoding, bytes) in [
                (Encoding::Json, as_json(&others)),
                (Encoding::Protobuf, as_protobuf(&others)),
            ] {
                let parts = take_apart(&bytes, encoding, 1 << 24).unwrap().unwrap().parts;
                let texts = parts.iter().map(|part| put_together([part.text.as_slice(), &part.text]).unwrap());
                let mut kept: Vec<Value> = texts.flat_map(|text| told("t.json", &text, items).0).collect();
                let mut given = first.0.clone();
                for all in [&mut kept, &mut given] {
                    all.sort_by_key(|item| item["id"].to_string());
                }
                prop_assert_eq!(kept, given, "{:?} {:?}", encoding, items);
            }
        }
    }

    #[test]
    fn calls_are_counted_once_however_they_lie_within_one_another(
        parents in prop::collection::vec(prop::option::of(1..12u8), 1..9),
    ) {
        let call = |(id, parent): (u8, &Option<u8>)| Made {
            trace: 1, id, parent: *parent, name: String::new(), times: (1, 2), is_error: false, score: None,
            attributes: vec![("gen_ai.operation.name", json!("chat")), ("gen_ai.usage.input_tokens", json!(1u64 << id))],
        };
        let spans: Vec<Made> = (1..).zip(&parents).map(call).collect();
        // Of those that are within another one, the innermost count; in a circle all stand alone.
        let above = |id: u8| parents.get(usize::from(id) - 1).copied().flatten();
        let in_circle = |id: u8| {
            let mut at = above(id);
            for _ in 0..12 {
                match at {
                    Some(it) if it == id => return true,
                    it => at = it.and_then(above),
                }
            }
            false
        };
        let outer = |id: u8| (1..).zip(&parents).any(|(it, parent)| *parent == Some(id) && !in_circle(it));
        let counted: Vec<u8> = (1..=parents.len() as u8).filter(|id| !outer(*id)).collect();
        let (items, left_out) = told("t.json", &as_json(&spans), Items::Runs);
        prop_assert_eq!(&items[0]["calls"], &json!(counted.len()));
        prop_assert_eq!(&items[0]["tokens"], &json!(counted.iter().map(|id| 1u64 << id).sum::<u64>()));
        let circles = (1..=parents.len() as u8).filter(|id| in_circle(*id)).count() as u64;
        let said = left_out.iter().find(|(reason, _)| reason.starts_with("the parent of a span that is within itself"));
        prop_assert_eq!(said.map_or(0, |(_, count)| *count), circles);
    }
}

/// Returns what a span of a call with these members comes to, and what was left out of it.
fn call(times: (u64, u64), attributes: &[(&'static str, Value)]) -> (Value, String) {
    let other = |id: u8, times, attributes| Made {
        trace: 1,
        id,
        parent: None,
        name: String::from("x"),
        times,
        is_error: false,
        attributes,
        score: None,
    };
    let ten = vec![
        ("gen_ai.operation.name", json!("chat")),
        ("gen_ai.usage.input_tokens", json!(10)),
        ("llm.cost.total", json!(1.5)),
    ];
    let spans = [other(1, (1, 2), ten), other(2, times, attributes.to_vec())];
    let (items, left_out) = told("t.json", &as_json(&spans), Items::Runs);
    let reasons: Vec<&str> = left_out.iter().map(|(reason, _)| reason.as_str()).collect();
    (items[0].clone(), reasons.join("; "))
}

#[test]
fn what_cannot_be_is_missing_and_told() {
    let tokens = |value: Value| call((1, 2), &[("gen_ai.usage.output_tokens", value)]);
    for (value, expected) in [
        (json!(5), json!(15)),
        (json!("5"), json!(15)),
        (json!(5.0), json!(15)),
        (json!(0), json!(10)),
        (json!(-5), json!(null)),
        (json!(-990), json!(null)),
        (json!(0.5), json!(null)),
        (json!(i64::MAX), json!(null)),
        (json!((1u64 << 53) - 1), json!(null)),
        (json!("many"), json!(null)),
    ] {
        let (item, reasons) = tokens(value.clone());
        assert_eq!(item["tokens"], expected, "{value}");
        assert_eq!(reasons.contains("whose number of tokens is not a count"), expected.is_null(), "{value}");
    }
    for (value, expected) in
        [(json!(0.5), json!(2)), (json!(-0.5), json!(null)), (json!("free"), json!(null))]
    {
        let (item, reasons) = call((1, 2), &[("gen_ai.usage.cost", value.clone())]);
        assert_eq!(item["cost_usd"], expected, "{value}");
        assert_eq!(reasons.contains("whose cost is not an amount"), expected.is_null(), "{value}");
    }
    for (times, seconds, reason) in [
        ((1, 1_000_000_001), json!(1), ""),
        ((0, 0), json!(1e-9), ""),
        ((5, 3), json!(null), "the time of a trace with a span that ends before it begins"),
    ] {
        let (item, reasons) = call(times, &[]);
        assert_eq!(item["seconds"], seconds, "{times:?}");
        assert!(reasons.contains(reason) && reasons.contains("the time") != reason.is_empty(), "{reasons}");
    }
}

#[test]
fn a_span_without_times_has_no_duration() {
    for spans in ["\"0\"", "0", "null", "\"x\"", "-5", "\"-5\"", "1.5"] {
        let text = format!(
            r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{{"traceId": "aa", "spanId": "1", "startTimeUnixNano": {spans}, "endTimeUnixNano": {spans}, "attributes": [{{"key": "gen_ai.operation.name", "value": {{"stringValue": "chat"}}}}]}}]}}]}}]}}"#
        );
        let (_, items, summary) = read("t.json", text.as_bytes());
        assert_eq!((&items[0]["seconds"], &items[0]["time"]), (&json!(null), &json!(null)), "{spans}");
        assert_eq!(summary.left_out["the time of a trace: no span says when it began and ended"], 1);
    }
}

#[test]
fn other_words_under_one_id_are_told() {
    let span = |count: u64, id: &str| {
        format!(
            r#"{{"traceId": "AA", "spanId": "{id}", "attributes": [{{"key": "gen_ai.operation.name", "value": {{"stringValue": "chat"}}}}, {{"key": "gen_ai.usage.input_tokens", "value": {{"intValue": "{count}"}}}}]}}"#
        )
    };
    let text = |spans: &[String]| {
        format!(r#"{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{}]}}]}}]}}"#, spans.join(","))
    };
    let log = text(&[span(5, "b1"), span(5, "B1"), span(999, "b1")]);
    let (_, items, summary) = read("t.json", log.as_bytes());
    assert_eq!(
        (&items[0]["id"], &items[0]["calls"], &items[0]["tokens"]),
        (&json!("aa"), &json!(1), &json!(5))
    );
    assert_eq!(summary.left_out["a span that was there before"], 1);
    assert_eq!(summary.left_out["a span with the id of one before that says something else"], 1);
}

#[test]
fn observations_of_langfuse_count_once_and_for_what_they_can_be() {
    let observation = |id: &str, parent: &str, tokens: &str| {
        format!(
            r#"{{"id": "{id}", "parentObservationId": "{parent}", "type": "GENERATION", "output": "o", "usageDetails": {{"input": {tokens}}}, "totalCost": 0.5}}"#
        )
    };
    let log = |list: &[String]| {
        format!(r#"{{"trace": {{"id": "t", "name": "n"}}, "observations": [{}]}}"#, list.join(","))
    };
    let of = |list: &[String], items: Items| {
        let options = Options { items, ..Options::default() };
        let (mut items, summary) =
            read_as("t.json", log(list).as_bytes(), by_name("langfuse"), &options).unwrap();
        (items.remove(0), summary.left_out)
    };
    let twice = [observation("a", "", "7"), observation("b", "a", "8"), observation("a", "", "7")];
    let (item, left_out) = of(&twice, Items::Runs);
    assert_eq!((&item["tokens"], &item["cost_usd"]), (&json!(15), &json!(1)));
    assert_eq!(left_out["an observation that was there before"], 1);
    for bad in ["-7", "0.5", "1e300", "\"x\""] {
        let (item, left_out) = of(&[observation("a", "", "7"), observation("b", "", bad)], Items::Runs);
        let reason = "the tokens of a trace with an observation whose number of tokens is not a count";
        assert_eq!((&item["tokens"], left_out.get(reason)), (&json!(null), Some(&1)), "{bad}");
    }
    let (item, left_out) = of(&[observation("a", "b", "7"), observation("b", "a", "8")], Items::Traces);
    assert_eq!(item["steps"].as_array().unwrap().len(), 2);
    assert!(left_out.keys().any(|reason| reason.starts_with("the parent of an observation")), "{left_out:?}");
}
