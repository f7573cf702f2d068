//! Files that are odd in a way that several formats share: marks before the text, other line ends and encodings, nothing at all;
//! archives within archives, with very many members, with names that are equal; XML at its limits.

use std::io::Write as _;
use std::ops::ControlFlow;

use serde_json::{Value, json};

use super::inspect::{Packing, archive};
use super::packed::gzip;
use super::{Options, by_name, read, read_as, refused};
use crate::{IMPORTERS, Input, Item, detect, import};

const HEADER: &str = r#"{"eval": {"task": "t", "model": "m"}}"#;
const SAMPLE: &str = r#"{"id": 1, "epoch": 1, "scores": {"a": {"value": "C"}}}"#;

/// Logs of several lines, or in lines.
const TEXTS: [(&str, &str); 9] = [
    (
        "x.xml",
        "<testsuite name=\"s\">\n<testcase classname=\"c\" name=\"a\" time=\"1\"/>\n<testcase name=\"b\"><failure/></testcase>\n</testsuite>\n",
    ),
    (
        "x.json",
        "{\"eval\": {\"task\": \"t\",\n \"model\": \"m\"},\n \"samples\": [\n{\"id\": 1, \"epoch\": 1, \"scores\": {\"a\": {\"value\": \"C\"}}}\n]}\n",
    ),
    (
        "samples_x.jsonl",
        "{\"doc_id\": 0, \"doc\": {}, \"target\": \"4\", \"arguments\": {}, \"resps\": [[\"4\"]], \"filtered_resps\": [\"4\"], \"metrics\": [\"acc\"], \"acc\": 1.0}\n{\"doc_id\": 1, \"doc\": {}, \"target\": \"4\", \"arguments\": {}, \"resps\": [[\"4\"]], \"filtered_resps\": [\"4\"], \"metrics\": [\"acc\"], \"acc\": 0.0}\n",
    ),
    ("x.csv", "id,model_a,model_b,winner\n1,a,b,model_a\n2,b,a,tie\n"),
    (
        "x.jsonl",
        "{\"id\": 1, \"model_a\": \"a\", \"model_b\": \"b\", \"winner\": \"tie\"}\n\n{\"id\": 2, \"model_a\": \"a\", \"model_b\": \"b\", \"winner\": \"model_b\"}\n",
    ),
    (
        "x.yml",
        "- dirname: 2026-01-01--a\n  test_cases: 225\n  model: M 1\n  pass_rate_1: 20.4\n  pass_rate_2: 35.6\n  total_cost: 4.5\n  seconds_per_case: 2\n",
    ),
    (
        "s.json",
        "{\"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [\n{\"traceId\": \"aa\", \"spanId\": \"1\", \"name\": \"c\", \"startTimeUnixNano\": \"1\", \"endTimeUnixNano\": \"2\",\n \"attributes\": [{\"key\": \"gen_ai.operation.name\", \"value\": {\"stringValue\": \"chat\"}}]}]}]}]}\n",
    ),
    (
        "r.jsonl",
        "{\"promptIdx\": 0, \"testIdx\": 0, \"success\": true, \"score\": 1, \"provider\": \"p\", \"vars\": {}}\n{\"promptIdx\": 0, \"testIdx\": 1, \"success\": false, \"score\": 0, \"provider\": \"p\", \"vars\": {}}\n",
    ),
    (
        "m_samples.jsonl",
        "{\"evaluation_id\": \"e\", \"sample_id\": 1, \"model_id\": \"m\", \"evaluation\": {\"score\": 1}}\n{\"evaluation_id\": \"e\", \"sample_id\": 2, \"model_id\": \"m\", \"evaluation\": {\"score\": 0}}\n",
    ),
];

/// Returns items without the digest of their file.
fn bare(items: Vec<Value>) -> Vec<Value> {
    let without = |mut item: Value| {
        item["source"]["digest"] = Value::Null;
        item
    };
    items.into_iter().map(without).collect()
}

#[test]
fn a_mark_and_other_line_ends_change_nothing() {
    for (name, text) in TEXTS {
        let (format, items, summary) = read(name, text.as_bytes());
        assert!(!items.is_empty(), "{name}");
        let items = bare(items);
        let ended = text.replace('\n', "\r\n");
        for changed in
            [format!("\u{feff}{text}"), ended.clone(), format!("\u{feff}{ended}"), text.trim_end().to_owned()]
        {
            let (other, found, told) = read(name, changed.as_bytes());
            assert_eq!((other, bare(found), &told), (format, items.clone(), &summary), "{name}: {changed:?}");
        }
    }
}

#[test]
fn utf_16_is_refused_whatever_the_format() {
    for (name, text) in TEXTS {
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let bytes: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(order).collect();
            assert_eq!(
                refused(name, &bytes),
                format!("{name}: found UTF-16, expected UTF-8; save the file as UTF-8")
            );
            let (format, ..) = read(name, text.as_bytes());
            let error = read_as(name, &bytes, format, &Options::default());
            assert!(error.is_err_and(|it| it.file == name && !it.found.is_empty()), "{name}");
        }
    }
}

#[test]
fn an_empty_file_has_no_run_in_any_format() {
    for text in ["", "\n", "\u{feff}", " \r\n\t"] {
        assert_eq!(detect(&Input::memory("x", text.as_bytes())), Ok(None), "{text:?}");
        for format in IMPORTERS {
            match read_as("x", text.as_bytes(), format, &Options::default()) {
                Ok((items, _)) => assert!(items.is_empty(), "{format}"),
                Err(error) => assert!(error.file == "x" && !error.expected.is_empty(), "{format}: {error}"),
            }
        }
    }
    assert_eq!(detect(&Input::memory("x.gz", gzip(b""))), Ok(None));
}

#[test]
fn odd_archives_are_read_rightly_or_refused_with_the_member() {
    let inner = archive(&[("header.json", HEADER)], Packing::Deflate);
    let inner = String::from_utf8_lossy(&inner).into_owned();
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);
    let cases: [Case<'_>; 4] = [
        (
            "an archive in the place of a sample",
            &[("header.json", HEADER), ("samples/1_epoch_1.json", &inner)],
            "samples/1_epoch_1.json",
        ),
        ("an archive in the place of the header", &[("header.json", &inner)], "header.json"),
        ("a header that is a list", &[("header.json", "[]")], "header.json"),
        ("an empty header", &[("header.json", "")], "header.json"),
    ];
    for (what, members, place) in cases {
        let error = refused("x.eval", &archive(members, Packing::Deflate));
        assert!(error.starts_with("x.eval: ") && error.contains(place), "{what}: {error}");
    }
    // An archive beside the samples is left alone.
    let beside = archive(
        &[("header.json", HEADER), ("samples/1_epoch_1.json", SAMPLE), ("notes/inner.zip", &inner)],
        Packing::Stored,
    );
    assert_eq!(read("x.eval", &beside).1.len(), 1);
}

#[test]
fn an_archive_of_more_members_than_16_bits_count_is_read() {
    let mut bytes = Vec::new();
    let mut zip = rawzip::ZipArchiveWriter::new(&mut bytes);
    let mut add = |name: &str, text: &str| {
        let (mut entry, config) =
            zip.new_file(name).compression_method(rawzip::CompressionMethod::STORE).start().unwrap();
        let mut writer = config.wrap(&mut entry);
        writer.write_all(text.as_bytes()).unwrap();
        let (_, descriptor) = writer.finish().unwrap();
        entry.finish(descriptor).unwrap();
    };
    add("header.json", HEADER);
    for at in 0..66_000 {
        add(&format!("_journal/{at}"), "");
    }
    add("samples/1_epoch_1.json", SAMPLE);
    zip.finish().unwrap();
    let (_, items, _) = read("x.eval", &bytes);
    assert_eq!((items.len(), &items[0]["solved"]), (1, &json!(1)));
    // One of them less than the directory states.
    let end = (0..bytes.len() - 4).rfind(|at| bytes[*at..].starts_with(b"PK\x06\x06")).unwrap();
    for at in [24, 32] {
        bytes[end + at] ^= 1;
    }
    assert!(refused("x.eval", &bytes).starts_with("x.eval: the archive: "));
}

#[test]
fn xml_at_its_limits_is_read_or_refused_with_the_line() {
    let case = |attributes: &str| format!("<testsuite>\n<testcase {attributes}/>\n</testsuite>");
    let long = "x".repeat(3 << 20);
    let many: String = (0..20_000).map(|at| format!("a{at}=\"\" ")).collect();
    for (what, attributes, wanted) in [
        ("a long attribute that nothing reads", format!("other=\"{long}\" name=\"t\""), Ok("t")),
        ("many attributes", format!("{many} name=\"t\""), Ok("t")),
        ("the entities that XML has", String::from("name=\"a &lt; b &#x26; c &#100;\""), Ok("a < b & c d")),
        ("an entity that nothing declares", String::from("name=\"&bomb;\""), Err("line 2")),
        ("a reference to no character", String::from("name=\"&#xFFFFFFFF;\""), Err("line 2")),
        ("an attribute twice", String::from("name=\"a\" name=\"b\""), Err("line 2")),
        ("an attribute without quotes", String::from("name=a"), Err("line 2")),
        ("an attribute without an end", String::from("name=\"a"), Err("line")),
    ] {
        let text = case(&attributes);
        match wanted {
            Ok(task) => assert_eq!(read("x.xml", text.as_bytes()).1[0]["task"], task, "{what}"),
            Err(place) => {
                let error = refused("x.xml", text.as_bytes());
                assert!(error.starts_with("x.xml: ") && error.contains(place), "{what}: {error}");
            }
        }
    }
    // A name of any length is a name, with the digest of what was cut off.
    let (_, items, _) = read("x.xml", case(&format!("name=\"{long}\"")).as_bytes());
    assert!(items[0]["task"].as_str().is_some_and(|task| task.chars().count() <= 200));
}

#[test]
fn tests_whose_names_differ_stay_different_and_deceive_no_terminal() {
    let names = [
        "a b", "a\u{a0}b", "a\u{202e}b", "a\u{200b}b", "ab", "ab\u{feff}", " ab", "a\tb", "\u{2066}",
        "\u{2067}", "a\u{e000}", "a", "a", "a#2", "a#2#",
    ];
    let escaped = |name: &str| name.chars().map(|it| format!("&#{};", u32::from(it))).collect::<String>();
    let cases: String = names.iter().map(|name| format!("<testcase name=\"{}\"/>", escaped(name))).collect();
    let (_, items, summary) = read("x.xml", format!("<testsuite>{cases}</testsuite>").as_bytes());
    let of = |member: &str| -> std::collections::BTreeSet<String> {
        items.iter().map(|item| item[member].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((of("id").len(), of("task").len()), (names.len(), names.len() - 1), "{items:#?}");
    for text in items.iter().flat_map(|item| [&item["id"], &item["task"], &item["source"]["place"]]) {
        assert_eq!(karat_evidence::names::fault(text.as_str().unwrap()), None, "{text}");
    }
    let reason = "characters of a name that cannot be seen, or blanks: the name ends in its digest";
    assert_eq!(summary.left_out[reason], 8, "{items:#?}");
    // Letters that are composed are the same letters.
    let (_, items, summary) =
        read("x.xml", "<testsuite><testcase name=\"Zoe\u{308}\"/></testsuite>".as_bytes());
    assert_eq!((items[0]["task"].as_str(), summary.left_out.get(reason)), (Some("Zo\u{eb}"), None));
}

#[test]
fn what_a_tool_itself_does_not_judge_has_no_verdict() {
    let inspect = br#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m/a", "created": "2026-01-01T00:00:00+00:00", "eval_id": "e"},
      "results": {"total_samples": 2, "completed_samples": 2, "scores": [{"name": "match", "scorer": "match"}, {"name": "graded", "scorer": "graded"}]},
      "samples": [
      {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}, "graded": {"value": "I"}}, "model_usage": {"m/judge": {"total_tokens": 1000}}},
      {"id": 2, "epoch": 1, "scores": {"graded": {"value": "I"}}, "model_usage": {"m/a": {"total_tokens": 7}}}]}"#;
    let (_, items, _) = read("a.json", inspect);
    let of = |item: &Value| (item["solved"].clone(), item["outcome"].clone(), item["tokens"].clone());
    let none = Value::Null;
    assert_eq!(of(&items[0]), (1.into(), "succeeded".into(), none.clone()), "the judge is not the agent");
    assert_eq!(
        of(&items[1]),
        (none.clone(), "no-verdict".into(), 7.into()),
        "the first scorer did not score it"
    );

    let tau2 = br#"{"info": {"agent_info": {"llm": "m", "implementation": "a"}, "environment_info": {"domain_name": "d"}}, "tasks": [],
      "simulations": [{"id": "a", "task_id": "1", "trial": 0, "termination_reason": "context_window_exceeded", "duration": 1.0, "reward_info": {"reward": 0.0}}]}"#;
    let (_, items, summary) = read("results.json", tau2);
    assert_eq!(of(&items[0]), (none.clone(), "no-verdict".into(), none.clone()));
    assert_eq!(summary.left_out["the reward of a run that the program broke off"], 1);

    let sample = br#"{"schema_version": "0.2.2", "evaluation_id": "e", "model_id": "m", "evaluation_name": "n", "sample_id": "s", "interaction_type": "single_turn",
      "error": "timeout of the service", "evaluation": {"score": 0.0, "is_correct": false}}"#;
    let sample: Vec<u8> = sample.iter().copied().filter(|byte| *byte != b'\n').collect();
    let (items, _) =
        read_as("a_samples.jsonl", &sample, by_name("every-eval-ever"), &Options::default()).unwrap();
    assert_eq!(of(&items[0]), (none.clone(), "no-verdict".into(), none));
}

#[test]
fn a_link_of_jaeger_is_no_parent() {
    let span = |id: &str, references: &str| {
        format!(
            r#"{{"traceID": "aa", "spanID": "{id}", "operationName": "chat", "references": [{references}], "startTime": 1700000000000000, "duration": 5, "processID": "p",
              "tags": [{{"key": "gen_ai.operation.name", "type": "string", "value": "chat"}}, {{"key": "gen_ai.usage.input_tokens", "type": "int64", "value": 100}}, {{"key": "gen_ai.usage.output_tokens", "type": "int64", "value": 10}}]}}"#
        )
    };
    let link = r#"{"refType": "FOLLOWS_FROM", "traceID": "aa", "spanID": "1"}"#;
    let log = format!(
        r#"{{"data": [{{"traceID": "aa", "spans": [{}, {}], "processes": {{"p": {{"serviceName": "s"}}}}}}]}}"#,
        span("1", ""),
        span("2", link)
    );
    let (_, items, _) = read("jaeger.json", log.as_bytes());
    assert_eq!((items[0]["tokens"].as_u64(), items[0]["calls"].as_u64()), (Some(220), Some(2)));
}

#[test]
fn a_verdict_counts_although_the_run_was_stopped() {
    let log = |value: &str| {
        let sample = format!(
            r#"{{"id": 1, "epoch": 1, "scores": {{"a": {{"value": {value}}}}}, "limit": {{"type": "message", "limit": 5}}}}"#
        );
        let text = HEADER.strip_suffix('}').unwrap().to_owned() + ", \"samples\": [" + &sample + "]}";
        let (items, _) = read_as("a.json", text.as_bytes(), by_name("inspect"), &Options::default()).unwrap();
        (items[0]["solved"].clone(), items[0]["outcome"].clone())
    };
    assert_eq!(log("\"C\""), (json!(1), json!("succeeded")));
    assert_eq!(log("\"P\""), (json!(0.5), json!(null)));
    assert_eq!(log("\"I\""), (json!(0), json!("stopped")));
    assert_eq!(log("null"), (json!(null), json!("stopped")));
}

#[test]
fn a_metric_that_is_better_when_lower_solves_nothing() {
    let row = |metrics: &str, values: &str| {
        let line = format!(
            r#"{{"doc_id": 0, "doc_hash": "x", "filter": "none", "metrics": [{metrics}], {values}}}"#
        );
        let (items, summary) =
            read_as("samples_t.jsonl", line.as_bytes(), by_name("lm-eval"), &Options::default()).unwrap();
        (items[0]["solved"].clone(), items[0]["score_likelihood_diff"].clone(), summary.left_out.len())
    };
    assert_eq!(row(r#""likelihood_diff""#, r#""likelihood_diff": 0.5"#).0, json!(null));
    assert_eq!(
        row(r#""likelihood_diff", "acc""#, r#""likelihood_diff": 0.5, "acc": 1.0"#),
        (json!(1), json!(0.5), 1)
    );
}

#[test]
fn tokens_of_a_half_are_no_sum() {
    let atif = |step: &str| {
        let text = format!(
            r#"{{"schema_version": "ATIF-v1.5", "session_id": "s", "agent": {{"name": "a", "version": "1"}},
              "steps": [{{"step_id": 1, "source": "agent", "message": "x", "metrics": {{"prompt_tokens": 100, "completion_tokens": 10}}}}, {step}]}}"#
        );
        let (_, items, _) = read("trajectory.json", text.as_bytes());
        (items[0]["tokens"].clone(), items[0]["id"].clone())
    };
    let step = |more: &str| format!(r#"{{"step_id": 2, "source": "agent", "message": "y", {more}}}"#);
    assert_eq!(atif(&step(r#""metrics": {"prompt_tokens": 5}"#)).0, json!(null));
    assert_eq!(
        atif(&step(r#""metrics": {"prompt_tokens": 5, "completion_tokens": 2}"#)),
        (json!(117), json!("s"))
    );
    let copied =
        step(r#""is_copied_context": true, "metrics": {"prompt_tokens": 5, "completion_tokens": 2}"#);
    assert_eq!(atif(&copied), (json!(110), json!("s/trajectory")));

    let span = r#"{"name": "llm", "context": {"trace_id": "t", "span_id": "1"}, "parent_id": null, "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z",
      "attributes": {"openinference.span.kind": "LLM", "llm.token_count.prompt": 100, "llm.token_count.total": 150}}"#;
    let span = span.replace('\n', "");
    let (_, items, _) = read("spans.jsonl", span.as_bytes());
    assert_eq!(items[0]["tokens"], json!(150));
}

#[test]
fn documents_that_a_file_of_lm_eval_lost_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let moment = "2026-01-21T03-44-18.458309";
    let results =
        r#"{"model_name": "m", "n-samples": {"t": {"original": 9, "effective": 3}}, "configs": {}}"#;
    std::fs::write(folder.path().join(format!("results_{moment}.json")), results).unwrap();
    let notes = |rows: &[(u32, &str)]| {
        let row = |(doc, filter): &(u32, &str)| {
            format!(
                r#"{{"doc_id": {doc}, "doc_hash": "x", "filter": "{filter}", "metrics": ["acc"], "acc": 1.0}}"#
            )
        };
        let path = folder.path().join(format!("samples_t_{moment}.jsonl"));
        std::fs::write(&path, rows.iter().map(row).collect::<Vec<_>>().join("\n")).unwrap();
        let mut take = |_: Item<'_>| ControlFlow::Continue(());
        let summary = import(&Input::file(path), by_name("lm-eval"), &Options::default(), &mut take).unwrap();
        let notes = summary
            .notes
            .into_iter()
            .filter_map(|it| it.split_once("lacks documents: ").map(|it| it.1.to_owned()));
        notes.collect::<Vec<_>>()
    };
    assert_eq!(notes(&[(0, "none"), (1, "none"), (2, "none")]), Vec::<String>::new());
    assert_eq!(notes(&[(0, "none"), (2, "none")]), ["2 are there of 3 that the results count"]);
    let filtered = [(0, "a"), (0, "b"), (1, "a"), (2, "a"), (2, "b"), (1, "b")];
    assert_eq!(notes(&filtered), Vec::<String>::new());
    assert_eq!(notes(&filtered[..5]), ["2 are there of 3 that the results count"]);
}
