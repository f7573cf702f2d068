//! Workflow runs: the log, and the output of every type of task.

use karat_reader::{Graders, Kind};
use serde_json::{Value, json};

use super::{Read, example, read, reader};

fn run(item: &Value) -> Result<Read, String> {
    read(&mut reader(Kind::WorkflowRun, Graders::default()), &item.to_string())
}

fn quality(item: &Value) -> f64 {
    run(item).unwrap().facts["output_quality"].as_f64().unwrap()
}

/// Makes a run given by totals, with a type of task, a reference and an output.
fn told(task_type: &str, reference: Value, output: Value) -> Value {
    json!({
        "run_id": "r-1",
        "task": {"task_type": task_type, "reference": reference},
        "result": {"steps_completed": 1, "total_steps": 1, "final_output": output},
    })
}

fn code(tests: Value) -> Value {
    let mut item = told("code", Value::Null, json!({"artifacts": {"code": "x = 1"}}));
    item["result"]["tests"] = tests;
    item["result"]["lint_violations"] = json!(0);
    item
}

#[test]
fn a_log_gives_the_facts_and_says_what_it_saw() {
    let logged = example("workflow.jsonl").remove(0);
    let seen = run(&logged).unwrap();
    let totals = [
        ("steps_completed", json!(2.0)),
        ("steps_total", json!(2.0)),
        ("actual_seconds", json!(21.0)),
        ("actual_retries", json!(1.0)),
        ("timeouts", json!(1.0)),
        ("hard_failures", json!(0.0)),
        ("budget_aborted", json!(false)),
    ];
    for (name, value) in totals {
        assert_eq!(seen.facts[name], value, "{name}");
    }
    assert_eq!(seen.grading["log"]["seen"]["certain_timeouts"], 1);
    assert_eq!(seen.grading["log"]["steps"][0]["id"], "search");
    assert_eq!(seen.grading["quality"]["task_type"], "rag");
    let mut names: Vec<_> = seen.grading.as_object().unwrap().keys().collect();
    names.sort();
    assert_eq!(names, ["log", "quality"]);
}

#[test]
fn totals_that_contradict_the_log_are_refused_with_both() {
    let mut logged = example("workflow.jsonl").remove(0);
    logged["result"]["actual_latency"] = json!(20);
    let problem = run(&logged).unwrap_err();
    assert!(problem.starts_with("$.result.actual_latency: found "), "{problem}");
    assert!(problem.contains("20") && problem.contains("21"), "{problem}");
    logged["result"]["actual_latency"] = json!(21);
    assert_eq!(run(&logged).unwrap().facts["actual_seconds"], 21.0);
}

#[test]
fn totals_alone_are_graded_by_nobody() {
    let given =
        json!({"run_id": "r-1", "output_quality": 0.5, "result": {"steps_completed": 1, "total_steps": 1}});
    let seen = run(&given).unwrap();
    assert_eq!((&seen.facts["output_quality"], &seen.grading), (&json!(0.5), &Value::Null));
}

#[test]
fn code_is_graded_by_the_report_of_its_tests() {
    let junit = "<testsuite tests='4'><testcase name='a'/><testcase name='b'/><testcase name='c'/>\
                 <testcase name='d'><failure/></testcase></testsuite>";
    let trx = "<TestRun><Results><UnitTestResult testName='a' outcome='Passed'/>\
               <UnitTestResult testName='b' outcome='Passed'/><UnitTestResult testName='c' outcome='Passed'/>\
               <UnitTestResult testName='d' outcome='Failed'/></Results></TestRun>";
    let tap = "TAP version 13\n1..4\nok 1\nok 2\nok 3\nnot ok 4 - d\n";
    for tests in [json!(junit), json!(trx), json!(tap), json!({"passed": 3, "failed": 1})] {
        let seen = run(&code(tests.clone())).unwrap();
        // 0.7 x 3/4 + 0.3 x 1
        let quality = seen.facts["output_quality"].as_f64().unwrap();
        assert!((quality - 0.825).abs() < 1e-12, "{tests}: {quality}");
        assert_eq!(seen.grading["quality"]["pass_rate"], 0.75, "{tests}");
        assert_eq!(seen.grading["quality"]["tests"]["failed"], 1, "{tests}");
    }
}

#[test]
fn a_report_that_is_none_is_refused_where_it_stands() {
    for (tests, expected) in [
        (json!("3 passed"), "$.result.tests: found no plan"),
        (
            json!("<testsuite tests='1'>\n<testcase name='a'/>\n</testsuit>"),
            "$.result.tests (line 3 of the report): found ",
        ),
        (
            json!("<testsuite tests='1'><testcase name='a'/><testcase name='b'/></testsuite>"),
            "$.result.tests",
        ),
        (json!("1..1\nok 1\nok 2\n"), "$.result.tests"),
        (json!({"passed": 0, "failed": 0}), "$.result.tests: found no test that ran"),
        (json!({"passed": 1}), "$.result.tests.failed: found nothing"),
        (json!({"passed": -1, "failed": 0}), "$.result.tests.passed: found `-1`"),
        (
            json!(3),
            "$.result.tests: found `3`, expected a report as the runner wrote it, or an object of `passed` and `failed`",
        ),
    ] {
        let problem = run(&code(tests.clone())).unwrap_err();
        assert!(problem.starts_with(expected), "{tests}: {problem}");
        assert!(problem.lines().count() == 1 && problem.contains(" (line 1, column "), "{tests}: {problem}");
    }
}

#[test]
fn texts_are_compared_by_either_tokeniser() {
    let reference =
        |tokenizer: &str| json!({"reference_answer": "Flüsse graben Täler", "tokenizer": tokenizer});
    let output = json!({"text": "Flüsse graben Höhlen"});
    // The reference tokeniser cuts at what is not ASCII: fl sse graben t ler, against fl sse graben h hlen.
    assert!((quality(&told("rag", reference("reference"), output.clone())) - 0.6).abs() < 1e-12);
    let unicode = run(&told("RAG ", reference("unicode"), output)).unwrap();
    assert!((unicode.facts["output_quality"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(unicode.grading["quality"]["tokenizer"], "unicode");
    assert_eq!(unicode.grading["quality"]["missing"], json!(["täler"]));
}

#[test]
fn a_quality_that_is_given_must_be_that_of_the_output() {
    let mut item = told("rag", json!({"reference_answer": "a b"}), json!({"text": "a b"}));
    item["output_quality"] = json!(1);
    assert_eq!(run(&item).unwrap().grading["quality"]["quality"], 1);
    // Readings are whole billionths: less than that is not a contradiction, and the output counts.
    item["output_quality"] = json!(0.999_999_999_5);
    assert_eq!(quality(&item), 1.0);
    item["output_quality"] = json!(0.25);
    let problem = run(&item).unwrap_err();
    let expected = "$.output_quality: found 0.25, where the output is worth 1, expected the quality of the output; leave `output_quality` out (line 1, ";
    assert!(problem.starts_with(expected), "{problem}");
}

#[test]
fn what_a_grader_refuses_has_the_path_of_the_item() {
    let rag = |reference: Value, output: Value| told("rag", reference, output);
    let text = json!({"text": "a"});
    let checklist = json!([{"type": "keyword", "text": ""}, {"type": "regex", "pattern": "("}]);
    for (item, paths) in [
        (rag(json!({"reference_answer": " "}), text.clone()), &["$.task.reference.reference_answer"][..]),
        (rag(json!("a b"), text.clone()), &["$.task.reference"]),
        (
            rag(json!({"reference_answer": "a", "tokenizer": "words"}), text.clone()),
            &["$.task.reference.tokenizer"],
        ),
        (rag(json!({"reference_answer": "a"}), json!({"text": 3})), &["$.result.final_output.text"]),
        (rag(json!({"reference_answer": "a"}), json!([])), &["$.result.final_output"]),
        (
            told("agent", json!({"goal_checklist": checklist}), text.clone()),
            &["$.task.reference.goal_checklist[0].text", "$.task.reference.goal_checklist[1].pattern"],
        ),
        (told("data_transform", json!({}), text.clone()), &["$.task.reference.expected_output"]),
        (
            told("data_transform", json!({"expected_output": 1, "schema": {"type": "strin"}}), text.clone()),
            &["$.task.reference.schema"],
        ),
        (told("code", json!({"graded_by": "vibes"}), text), &["$.task.reference.graded_by"]),
        (
            told("code", json!({"graded_by": "patterns"}), json!({"artifacts": {"code": 3}})),
            &["$.result.final_output.artifacts.code"],
        ),
    ] {
        let problems = run(&item).unwrap_err();
        let found: Vec<_> = problems.lines().filter_map(|line| Some(line.split_once(": found")?.0)).collect();
        assert_eq!(found, paths, "{problems}");
    }
    // Where the reference is in the item itself, so is the path.
    let outside = json!({
        "run_id": "r-1", "task_type": "rag", "reference": {"reference_answer": 7},
        "result": {"steps_completed": 1, "total_steps": 1, "final_output": {"text": "a"}},
    });
    let problem = run(&outside).unwrap_err();
    assert!(problem.starts_with("$.reference.reference_answer: found `7`"), "{problem}");
}

/// The digest is over sorted members: what they say must not depend on which comes first.
#[test]
fn what_is_told_twice_must_be_told_alike() {
    let reader = || reader(Kind::WorkflowRun, Graders::default());
    let rag = told("rag", json!({"reference_answer": "a b"}), json!({"text": "a b"})).to_string();
    let inside = rag.strip_prefix('{').unwrap();
    for (twice, path) in [
        (r#""task_type": "code""#, "$.task.task_type"),
        (r#""reference": {"reference_answer": "z"}"#, "$.task.reference"),
    ] {
        let first = read(&mut reader(), &format!("{{{twice}, {inside}")).unwrap_err();
        assert!(first.starts_with(&format!("{path}: found another ")), "{first}");
        let last =
            read(&mut reader(), &format!("{}, {twice}}}", rag.strip_suffix('}').unwrap())).unwrap_err();
        assert!(last.contains("expected the same in both places; give it once"), "{last}");
    }
    let alike = format!(r#"{{"task_type": "rag", "reference": {{"reference_answer": "a b"}}, {inside}"#);
    assert_eq!(read(&mut reader(), &alike).unwrap().facts["output_quality"], 1.0);
}

#[test]
fn subnets_are_allowed_once() {
    let mut item = json!({
        "run_id": "r-1", "output_quality": 0.5,
        "task": {"constraints": {"allowed_subnets": ["SN1"]}},
        "workflow_plan": {"nodes": [{"id": "a", "subnet": "SN9", "action": "go"}]},
        "result": {"steps_completed": 1},
    });
    let problem = run(&item).unwrap_err();
    assert!(problem.starts_with("$.workflow_plan.nodes[0].subnet: found `SN9`"), "{problem}");
    for others in [json!([]), json!(["SN9"])] {
        item["constraints"] = json!({"allowed_subnets": others});
        let problem = run(&item).unwrap_err();
        assert!(problem.contains("$.task.constraints.allowed_subnets: found another list"), "{problem}");
    }
    item["constraints"] = json!({"allowed_subnets": ["SN1"]});
    item["workflow_plan"]["nodes"][0]["subnet"] = json!("SN1");
    assert_eq!(run(&item).unwrap().notes, [""; 0]);
    for everything in [json!([]), Value::Null] {
        item["constraints"] = json!({"allowed_subnets": everything});
        item["task"] = json!({});
        item["workflow_plan"]["nodes"][0]["subnet"] = json!("SN9");
        run(&item).unwrap();
    }
    item["constraints"] = json!({"allowed_subnets": "SN9"});
    assert!(run(&item).unwrap_err().starts_with("$.constraints.allowed_subnets: found the text `SN9`"));
}

#[test]
fn whole_numbers_of_outputs_are_told_apart() {
    let graded = |expected: &str, output: &str| {
        let item =
            told("data_transform", json!({"expected_output": {"id": "EXPECTED"}}), json!({"text": output}));
        let text = item.to_string().replace("\"EXPECTED\"", expected);
        read(&mut reader(Kind::WorkflowRun, Graders::default()), &text)
            .map(|read| read.facts["output_quality"].clone())
    };
    for (expected, output, quality) in [
        ("9007199254740992", "9007199254740992", 1.0),
        ("9007199254740992", "9007199254740993", 0.0),
        ("9007199254740992", "9.007199254740992e15", 1.0),
        ("1795794098088241200", "1795794098088241200", 1.0),
        ("1795794098088241200", "1795794098088241123", 0.0),
        ("1.7957940980882412e18", "1.7957940980882412e18", 1.0),
        ("1e20", "100000000000000000000", 1.0),
        ("1e20", "100000000000000000001", 0.0),
    ] {
        let found = graded(expected, &format!("{{\"id\": {output}}}"));
        assert_eq!(found, Ok(json!(quality)), "{expected} {output}");
    }
    let refused = graded("1795794098088241123", "{}").unwrap_err();
    assert!(
        refused.contains("$.task.reference.expected_output.id: found `1795794098088241123`"),
        "{refused}"
    );
    let mut item = told("data_transform", json!({"expected_output": 1}), json!({"text": "1"}));
    item["result"]["final_output"]["artifacts"] = json!({"metadata": {"id": 9_007_199_254_740_993_i64}});
    let refused = run(&item).unwrap_err();
    assert!(
        refused.contains("$.result.final_output.artifacts.metadata.id: found `9007199254740993`"),
        "{refused}"
    );
}
