//! Traps of single formats: times, counts, words in the place of numbers, values that a later one replaces.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Options, Summary, by_name, read, read_as};
use crate::{IMPORTERS, Input, Unread, detect};

/// Returns the items under a score.
fn scored(name: &str, bytes: &[u8], score: &str) -> (Vec<Value>, Summary) {
    let format = detect(&Input::memory(name, bytes)).unwrap().expect("a known format");
    let options = Options { score: Some(score.to_owned()), ..Options::default() };
    read_as(name, bytes, format, &options).unwrap()
}

fn has_left_out(summary: &Summary, words: &str) -> bool {
    summary.left_out.keys().any(|reason| reason.contains(words))
}

#[test]
fn times_of_tests_are_read_with_either_comma() {
    for (time, seconds) in [
        ("0,160", Some(0.16)),
        ("0,5", Some(0.5)),
        ("1,5", Some(1.5)),
        ("12,3456", Some(12.3456)),
        ("1234,567", Some(1234.567)),
        (" 2,25 ", Some(2.25)),
        ("1,234.56", Some(1234.56)),
        ("12,345,678", Some(12_345_678.0)),
        ("1,234,567.5", Some(1_234_567.5)),
        ("0.160", Some(0.16)),
        ("1234.5", Some(1234.5)),
        ("1,234", None),
        ("999,000", None),
        ("1.234,56", None),
        ("1,23,456", None),
        ("1,2,3", None),
        ("0,123,456", None),
        ("-0,5", None),
        ("soon", None),
        ("inf", None),
    ] {
        let report = format!(r#"<testsuite><testcase name="a" time="{time}"/></testsuite>"#);
        let (_, items, summary) = read("x.xml", report.as_bytes());
        assert_eq!(items[0].get("seconds").and_then(Value::as_f64), seconds, "{time}");
        assert_eq!(has_left_out(&summary, "in two ways"), seconds.is_none(), "{time}");
    }
}

proptest! {
    /// Of a time with a point, written with a comma, nothing but the time itself is read, or nothing.
    #[test]
    fn a_decimal_comma_is_no_other_number(thousandths in 0..10_000_000u32, digits in 1..=3usize) {
        let time = format!("{:.digits$}", f64::from(thousandths) / 1000.0);
        let report = |time: &str| format!(r#"<testsuite><testcase name="a" time="{time}"/></testsuite>"#);
        let seconds = |time: &str| read("x.xml", report(time).as_bytes()).1[0].get("seconds").cloned();
        let (with_point, with_comma) = (seconds(&time), seconds(&time.replace('.', ",")));
        prop_assert!(with_comma.is_none() || with_comma == with_point, "{}: {:?}", time, with_comma);
        prop_assert!(with_comma.is_some() || (digits == 3 && thousandths >= 1000), "{}", time);
    }
}

#[test]
fn counts_of_failures_may_be_those_of_attempts_but_no_test_may_be_missing() {
    let failed = r#"<testcase name="b"><failure/></testcase>"#;
    let both = r#"<testcase name="b"><failure/><error/></testcase>"#;
    let flaky = r#"<testcase name="b"><flakyFailure/></testcase>"#;
    let rerun = r#"<testcase name="b"><failure/><rerunFailure/><rerunError/></testcase>"#;
    let passed = r#"<testcase name="b"/>"#;
    for (counts, test, note) in [
        (r#"tests="2" failures="1""#, failed, Some(false)),
        (r#"tests="2" failures="1" errors="1""#, failed, Some(true)),
        (r#"tests="2" failures="1" errors="1""#, both, Some(false)),
        (r#"tests="2" failures="3""#, rerun, Some(true)),
        (r#"tests="2" failures="1""#, flaky, Some(true)),
        (r#"tests="1" errors="2""#, failed, Some(true)),
        // The failure may be that of the test that is not there.
        (r#"tests="3" failures="2""#, failed, None),
        (r#"failures="2""#, failed, None),
        (r#"tests="2" failures="1""#, passed, None),
        (r#"tests="2" errors="1""#, passed, None),
    ] {
        let suite = format!(r#"<testsuite name="s" {counts}><testcase name="a"/>{test}</testsuite>"#);
        let whole = format!(r#"<testsuites {counts}>{suite}</testsuites>"#);
        for report in [suite, whole] {
            let found = read_as("x.xml", report.as_bytes(), by_name("junit"), &Options::default());
            let found = found.map(|(items, summary)| {
                assert_eq!(items.len(), 2, "{report}");
                summary.notes.iter().any(|note| note.contains("each test counts once"))
            });
            assert_eq!(found.ok(), note, "{report}");
        }
    }
}

fn score(name: &str, members: Value) -> Value {
    let mut score = json!({"name": name, "observationId": null, "timestamp": "2026-03-01T00:00:00Z"});
    score.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    score
}

fn trace(id: &str, scores: &[Value]) -> Value {
    json!({"id": id, "projectId": "p", "name": "desk", "latency": 2, "observations": [], "scores": scores})
}

#[test]
fn a_score_of_langfuse_is_its_number_or_its_word() {
    for (members, solved, fact) in [
        (json!({"value": 0.5, "dataType": "NUMERIC"}), json!(0.5), json!(0.5)),
        (json!({"value": 1, "dataType": "NUMERIC", "stringValue": null}), json!(1), json!(1)),
        (
            json!({"value": 0, "dataType": "CATEGORICAL", "stringValue": "Passed"}),
            json!(null),
            json!("Passed"),
        ),
        (json!({"value": 1, "dataType": "CATEGORICAL", "stringValue": "wrong"}), json!(null), json!("wrong")),
        (
            json!({"value": 0, "dataType": "CATEGORICAL", "stringValue": "helpful"}),
            json!(null),
            json!("helpful"),
        ),
        (json!({"value": "incorrect", "dataType": "CATEGORICAL"}), json!(null), json!("incorrect")),
        (json!({"value": 1, "dataType": "CATEGORICAL"}), json!(null), json!(null)),
        (json!({"value": 1, "dataType": "BOOLEAN", "stringValue": "True"}), json!(1), json!(1)),
        (json!({"value": 0, "dataType": "BOOLEAN", "stringValue": "False"}), json!(0), json!(0)),
        (json!({"value": null, "dataType": "BOOLEAN", "stringValue": "False"}), json!(0), json!(0)),
        (json!({"value": 0, "stringValue": "correct"}), json!(null), json!("correct")),
        (json!({"value": 0.25}), json!(0.25), json!(0.25)),
    ] {
        let text = trace("t", &[score("v", members.clone())]).to_string();
        let (items, summary) = scored("t.json", text.as_bytes(), "v");
        assert_eq!((&items[0]["solved"], &items[0]["score_v"]), (&solved, &fact), "{members}");
        assert_eq!(has_left_out(&summary, "is a category"), solved.is_null(), "{members}");
    }
}

#[test]
fn of_scores_with_one_name_the_latest_moment_counts() {
    let at = |value: u8, moment: &str| score("v", json!({"value": value, "timestamp": moment}));
    for (first, second) in [
        (at(0, "2026-03-01T00:00:00Z"), at(1, "2026-03-01T00:00:00.500Z")),
        (at(0, "2026-03-01T09:00:00+02:00"), at(1, "2026-03-01T08:00:00Z")),
        (
            score("v", json!({"value": 0, "updatedAt": "2026-03-02T00:00:00Z"})),
            score("v", json!({"value": 1, "updatedAt": "2026-03-03T00:00:00Z"})),
        ),
    ] {
        for scores in [[first.clone(), second.clone()], [second.clone(), first.clone()]] {
            let text = trace("t", &scores).to_string();
            let (items, summary) = scored("t.json", text.as_bytes(), "v");
            assert_eq!(items[0]["solved"], 1, "{text}");
            assert!(has_left_out(&summary, "with the name of a later one"), "{text}");
        }
    }
}

proptest! {
    /// A trace with nothing in it is a run, too, however many are in a file and in whatever form.
    #[test]
    fn traces_of_langfuse_are_the_same_alone_in_a_list_and_on_lines(
        made in prop::collection::vec((0..3usize, prop::option::of(0..=1u8)), 2..8),
    ) {
        let one = |(number, (calls, verdict)): (usize, &(usize, Option<u8>))| {
            let scores: Vec<Value> = verdict.iter().map(|value| score("v", json!({"value": value}))).collect();
            let mut one = trace(&format!("t{number}"), &scores);
            let call = |at| json!({"id": format!("o{at}"), "traceId": "t", "type": "GENERATION", "usageDetails": {"input": 3, "output": 4}});
            one["observations"] = (0..*calls).map(call).collect();
            one
        };
        let traces: Vec<Value> = made.iter().enumerate().map(one).collect();
        let items = |text: String| {
            let (mut items, summary) = scored("t.json", text.as_bytes(), "v");
            items.iter_mut().for_each(|item| drop(item.as_object_mut().unwrap().remove("source")));
            (items, summary.left_out)
        };
        let alone: Vec<Value> = traces.iter().flat_map(|it| items(it.to_string()).0).collect();
        let solved: Vec<Option<u64>> = alone.iter().map(|item| item["solved"].as_u64()).collect();
        prop_assert_eq!(solved, made.iter().map(|(_, verdict)| verdict.map(u64::from)).collect::<Vec<_>>());
        let lines: Vec<String> = traces.iter().map(Value::to_string).collect();
        let wrapped: Vec<Value> =
            traces.iter().map(|it| json!({"trace": it, "observations": it["observations"]})).collect();
        let forms = [json!(traces).to_string(), json!({"data": traces}).to_string(), lines.join("\n"), json!(wrapped).to_string()];
        let told = items(forms[0].clone()).1;
        for form in forms {
            prop_assert_eq!(items(form), (alone.clone(), told.clone()));
        }
    }
}

#[test]
fn a_list_of_traces_with_ids_alone_says_what_it_lacks() {
    let list = json!({"data": [{"id": "t", "projectId": "p", "name": "desk", "latency": 2, "totalCost": 0.5,
        "observations": ["o1", "o2"], "scores": ["s1"]}], "meta": {"page": 1}});
    let (_, items, summary) = read("list.json", list.to_string().as_bytes());
    assert_eq!((&items[0]["cost_usd"], &items[0]["seconds"]), (&json!(0.5), &json!(2)));
    assert!(has_left_out(&summary, "has the id alone"), "{summary:?}");
}

/// Returns a result of promptfoo.
fn result(number: usize, prompt: &str, grading: Value) -> Value {
    let is_passed = grading["pass"] == true;
    json!({"promptIdx": 0, "promptId": prompt, "testIdx": number, "success": is_passed, "score": 0, "failureReason": u8::from(!is_passed),
        "id": format!("{number}-{prompt}"), "provider": {"id": "p"}, "vars": {"n": number}, "gradingResult": grading,
        "prompt": {"label": format!("Say {prompt}")}})
}

#[test]
fn a_judge_without_a_grade_is_no_verdict_unless_another_assertion_failed() {
    let part = |pass: bool, is_ungraded: bool| json!({"pass": pass, "score": 0, "metadata": if is_ungraded { json!({"graderError": true}) } else { json!({}) }});
    let set = |parts: &[Value]| json!({"pass": false, "componentResults": parts});
    for (grading, outcome) in [
        (set(&[part(false, true)]), "no-verdict"),
        (set(&[part(true, false), part(false, true)]), "no-verdict"),
        (set(&[set(&[part(false, true)]), part(true, false)]), "no-verdict"),
        (json!({"pass": false, "metadata": {"graderError": true}}), "no-verdict"),
        (set(&[part(false, false), part(false, true)]), "failed"),
        (set(&[set(&[part(false, true), part(false, false)])]), "failed"),
        (set(&[part(false, false)]), "failed"),
        (json!({"pass": false, "componentResults": []}), "failed"),
        (json!({"pass": false}), "failed"),
        (json!(null), "failed"),
        (json!({"pass": true, "componentResults": [part(false, true)]}), "succeeded"),
    ] {
        let lines = format!("{}\n", result(0, "a", grading.clone()));
        let (_, items, summary) = read("r.jsonl", lines.as_bytes());
        assert_eq!(items[0]["outcome"], outcome, "{grading}");
        assert_eq!(items[0]["solved"].is_null(), outcome == "no-verdict", "{grading}");
        assert_eq!(has_left_out(&summary, "gave no grade"), outcome == "no-verdict", "{grading}");
    }
}

#[test]
fn prompts_are_a_field_of_which_each_has_the_same_tasks() {
    let pass = json!({"pass": true});
    let rows = [("a", 0), ("b", 0), ("a", 1), ("b", 1)];
    let lines: Vec<String> =
        rows.iter().map(|(prompt, test)| result(*test, prompt, pass.clone()).to_string()).collect();
    let (_, items, _) = read("r.jsonl", lines.join("\n").as_bytes());
    let of = |prompt: &str| -> Vec<&Value> {
        items.iter().filter(|item| item["prompt"] == prompt).map(|item| &item["task"]).collect()
    };
    assert_eq!(of("Say a"), of("Say b"));
    assert_eq!(of("Say a").len(), 2);
    assert_ne!(of("Say a")[0], of("Say a")[1]);
}

#[test]
fn a_provider_with_several_settings_is_several_subjects() {
    let rows: Vec<Value> = [(2, true), (0, true), (0, false), (1, true), (2, false), (3, true)]
        .into_iter()
        .enumerate()
        .map(|(test, (column, pass))| {
            let mut row = result(test, if column % 2 == 0 { "a" } else { "b" }, json!({"pass": pass}));
            row["promptIdx"] = json!(column);
            row
        })
        .collect();
    let column = |prompt: &str| json!({"provider": "p", "label": format!("Say {prompt}")});
    let columns = ["a", "b", "a", "b"].map(column);
    let whole = json!({"evalId": "e", "results": {"prompts": &columns, "results": rows}}).to_string();
    let (_, items, summary) = read("r.json", whole.as_bytes());
    let subjects: Vec<&Value> = items.iter().map(|item| &item["subject"]).collect();
    assert_eq!(subjects, ["p #2", "p #1", "p #1", "p #1", "p #2", "p #2"]);
    assert!(summary.notes[0].contains("each is a subject"), "{summary:?}");
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    let bare = json!({"evalId": "e", "results": {"results": rows, "prompts": columns}}).to_string();
    for (name, text) in [("r.jsonl", lines.join("\n")), ("r.json", bare.replacen("prompts", "later", 1))] {
        let (_, items, summary) = read(name, text.as_bytes());
        assert!(items.iter().all(|item| item["subject"] == "p"));
        assert!(summary.notes[0].contains("they count together"), "{summary:?}");
    }
}

#[test]
fn a_report_of_swe_bench_says_what_the_benchmark_itself_counts() {
    let report = |total: u64, submitted: &[&str], errors: &[&str]| {
        json!({"total_instances": total, "submitted_ids": submitted, "resolved_ids": ["a"], "unresolved_ids": ["b"],
            "error_ids": errors, "resolved_instances": 1})
    };
    for (report, items, left_out, note) in [
        (report(2, &["a", "b"], &[]), 2, None, None),
        (report(3, &["a", "b", "c"], &["c"]), 3, None, Some("gives 1 of 3; here 1 of 2 count")),
        (report(5, &["a", "b"], &[]), 2, Some("never submitted"), Some("gives 1 of 5; here 1 of 2 count")),
        // Of a choice of instances all predictions are listed.
        (report(2, &["a", "b", "c", "d"], &[]), 2, Some("is not of the run"), None),
        (report(4, &["a", "b", "c", "d"], &[]), 4, None, Some("gives 1 of 4; here 1 of 2 count")),
    ] {
        let (_, found, summary) = read("m.r.json", report.to_string().as_bytes());
        assert_eq!(found.len(), items, "{report}");
        let told = summary.left_out.keys().find(|it| it.contains("never") || it.contains("not of the run"));
        assert_eq!(
            told.map(String::as_str).is_some_and(|it| it.contains(left_out.unwrap_or("-"))),
            left_out.is_some()
        );
        match note {
            Some(note) => assert!(summary.notes[0].contains(note), "{summary:?}"),
            None => assert_eq!(summary.notes, [""; 0], "{report}"),
        }
    }
}

#[test]
fn agent_and_model_of_terminal_bench_are_those_beside_the_results() {
    let results = json!({"results": [{"id": "1", "trial_name": "t.1", "task_id": "t", "is_resolved": true}]})
        .to_string();
    let (_, alone, _) = read("logs/run-7/results.json", results.as_bytes());
    assert_eq!(alone[0]["subject"], "run-7");
    for (about, subject) in [
        (json!({"agent_name": "heron", "model_name": "m-2", "accuracy": 1}).to_string(), "heron (m-2)"),
        (json!({"agent_name": "heron", "model_name": null}).to_string(), "heron"),
        (json!({"model_name": "m-2"}).to_string(), "run-7"),
        (String::from("{"), "run-7"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run-7");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("results.json"), &results).unwrap();
        std::fs::write(run.join("run_metadata.json"), &about).unwrap();
        let mut found = Vec::new();
        let input = Input::file(run.join("results.json"));
        crate::import(&input, by_name("harbor"), &Options::default(), &mut |item| {
            found.push(serde_json::from_slice::<Value>(item.json).unwrap());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(
            (&found[0]["subject"], &found[0]["id"]),
            (&json!(subject), &json!("run-7/t.1")),
            "{about}"
        );
    }
}

#[test]
fn votes_of_those_who_saw_the_names_are_left_out() {
    for text in [
        "model_a,model_b,winner,anony\nm,n,model_a,True\nm,n,model_b,False\nm,n,tie,\n",
        "{\"model_a\":\"m\",\"model_b\":\"n\",\"winner\":\"model_a\",\"anony\":true}\n{\"model_a\":\"m\",\"model_b\":\"n\",\"winner\":\"model_b\",\"anony\":false}\n{\"model_a\":\"m\",\"model_b\":\"n\",\"winner\":\"tie\"}\n",
    ] {
        let (_, items, summary) = read("b", text.as_bytes());
        let results: Vec<&Value> = items.iter().map(|item| &item["result"]).collect();
        assert_eq!(results, ["first", "draw"]);
        assert!(has_left_out(&summary, "`anony` is false"));
    }
}

#[test]
fn formats_that_are_not_read_are_called_by_their_names() {
    for (text, words) in [
        (r#"{"testCases": [{"name": "c", "metricsData": []}], "testPassed": 1}"#, "DeepEval"),
        (r#"{"testRunData": {"testCases": []}}"#, "DeepEval"),
        (
            "{\"spec\": {\"completion_fns\": [\"m\"], \"eval_name\": \"e\"}}\n{\"run_id\": \"r\"}\n",
            "openai/evals",
        ),
        (r#"{"id": "j", "n_total_trials": 2, "stats": {"n_trials": 2}}"#, "Harbor"),
        (r#"{"run_id": "r", "agent_name": "a", "dataset_name": "d", "accuracy": 0.5}"#, "Terminal-Bench"),
        (r#"{"config": {"agent_name": "a", "benchmark_name": "b"}, "results": {"accuracy": 1}}"#, "HAL"),
        (r#"{"info": {"trace_id": "t", "state": "OK"}, "data": {"spans": []}}"#, "MLflow"),
        (r#"{"info": {"experiment_id": "1"}, "data": {"metrics": []}}"#, "MLflow"),
        (r#"{"columns": ["a"], "data": [["x"]]}"#, "by columns"),
        (r#"{"post": [{"id": "r", "run_type": "llm"}]}"#, "LangSmith"),
        ("{\"id\": \"r\", \"run_type\": \"chain\", \"dotted_order\": \"d\"}\n", "LangSmith"),
        (r#"[{"id": "t", "timestamp": "x", "bookmarked": false}]"#, "Langfuse"),
        (r#"{"data": [{"id": "s", "traceId": "t", "name": "v", "value": 1}], "meta": {}}"#, "Langfuse"),
        ("\"id\",\"bookmarked\",\"sessionId\"\n\"1\",\"false\",\"\"\n", "Langfuse"),
        (r#"{"resourceMetrics": [{"resource": {}}]}"#, "metrics of OpenTelemetry"),
        (r#"{"eval_set_id": "e", "eval_cases": []}"#, "Agent Development Kit"),
        ("{\"accuracy\": 0.5, \"correct_count\": 1, \"total_count\": 2}\n", "BFCL"),
        ("user_input,response,retrieved_contexts,faithfulness\nq,a,[],1\n", "Ragas"),
        ("{\"instance_id\": \"i\", \"model_name_or_path\": \"m\", \"model_patch\": \"\"}\n", "SWE-bench"),
        (r#"[{"name": {"name": "em", "split": "test"}, "sum": 1}]"#, "HELM"),
        (
            "Description,[m] Say {{n}},Status,Score,Named Scores,Grader Reason,Comment\na,b,PASS,1,{},x,\n",
            "table of promptfoo",
        ),
        ("<?xml version=\"1.0\"?>\n<promptfoo><evalId>e</evalId></promptfoo>", "XML of promptfoo"),
        ("<?xml version=\"1.0\"?>\n<TestRun id=\"x\"></TestRun>", "TRX"),
        ("<test-run id=\"2\" testcasecount=\"1\"></test-run>", "NUnit"),
        ("TAP version 14\n1..1\nok 1\n", "TAP"),
        (r#"{"numTotalTests": 1, "testResults": []}"#, "Jest"),
        ("PAR1\u{15}\u{0}", "Parquet"),
        ("evalId: eval-1\nresults:\n  version: 3\n", "YAML of promptfoo"),
        ("{\"pytest_version\": \"9.2.0\", \"$report_type\": \"SessionStart\"}\n", "pytest-reportlog"),
    ] {
        let head = text.as_bytes();
        assert_eq!(detect(&Input::memory("x", head)), Ok(None), "{text}");
        let found = Unread::of(head).expect(text);
        assert!(found.words.contains(words) && !found.advice.is_empty(), "{text}: {}", found.words);
    }
    for own in [
        "", "{}", "subject,solved\na,1\n", r#"{"subject": "a", "task": "t", "solved": 1}"#,
        r#"[{"data": 1}]"#, "a promptfoo,<promptfoo\n", "<html></html>",
        r#"{"run_id": "r", "steps": [], "scores": {"a": 1}}"#,
    ] {
        assert!(Unread::of(own.as_bytes()).is_none(), "{own}");
    }
}

#[test]
fn no_format_that_is_read_is_one_that_is_not() {
    fn below(folder: &std::path::Path, take: &mut dyn FnMut(&std::path::Path)) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { below(&path, take) } else { take(&path) }
        }
    }
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut known = std::collections::BTreeSet::new();
    below(&fixtures, &mut |path| {
        let input = Input::file(path);
        if let Ok(Some(format)) = detect(&input) {
            known.insert(format.name);
            let unread = Unread::of(&input.head(1 << 20).unwrap());
            assert!(unread.is_none(), "{}: {:?}", path.display(), unread);
        }
    });
    assert_eq!(known.len(), IMPORTERS.len());
}
