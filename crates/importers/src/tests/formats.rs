//! One small log of each format.

use insta::assert_snapshot;

use super::{Options, facts, read, read_as, refused, told};
use crate::Format;

#[test]
fn names_lead_back_to_their_format() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    assert_eq!(Format::from_name("Inspect"), None);
}

#[test]
fn evidence_of_karat_is_no_log() {
    for text in [
        "",
        "{}",
        "[]",
        "7",
        r#"{"subject": "a", "solved": 1, "task": "t"}"#,
        "subject,solved\na,1\n",
        "{\"task_id\": 1, \"reward\": 1}\n",
        "- a\n- b\n",
        "<html></html>",
        "\u{0}\u{0}",
        r#"{"schema": "karat/record/2", "subject": "a"}"#,
    ] {
        assert_eq!(refused("x", text.as_bytes()), "no known format", "{text}");
    }
}

#[test]
fn tests_of_junit() {
    let report = r#"<?xml version="1.0"?>
<testsuites tests="5"><testsuite name="unit" tests="5">
 <testcase classname="math" name="adds" time="1,000.5"/>
 <testcase classname="math" name="divides" time="0.1"><failure message="no">1</failure></testcase>
 <testcase classname="math" name="crashes"><error/></testcase>
 <testcase classname="math" name="later" time="0"><skipped/></testcase>
 <testcase classname="math" name="adds" time="2"/>
</testsuite></testsuites>"#;
    assert_snapshot!(told("logs/bot-7.xml", report.as_bytes()), @r#"
    junit
    line 3, test `math.adds`  {"id":"bot-7/math.adds","outcome":"succeeded","seconds":1000.5,"solved":1,"subject":"bot-7","task":"math.adds"}
    line 4, test `math.divides`  {"id":"bot-7/math.divides","outcome":"failed","seconds":0.1,"solved":0,"subject":"bot-7","task":"math.divides"}
    line 5, test `math.crashes`  {"id":"bot-7/math.crashes","outcome":"no-verdict","subject":"bot-7","task":"math.crashes"}
    line 6, test `math.later`  {"id":"bot-7/math.later","outcome":"not-applicable","seconds":0,"subject":"bot-7","task":"math.later"}
    line 7, test `math.adds`  {"id":"bot-7/math.adds#2","outcome":"succeeded","seconds":2,"solved":1,"subject":"bot-7","task":"math.adds"}
    1 no result of a test that ended in an error: it has no verdict
    1 no result of a test that was skipped: it does not apply
    1 no time of a test
    "#);
}

#[test]
fn samples_of_lm_eval() {
    let lines = concat!(
        r#"{"doc_id": 0, "doc": {"q": 1}, "target": "A", "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"], "filter": "none", "metrics": ["acc", "acc_norm"], "doc_hash": "h", "acc": 1.0, "acc_norm": 0.0}"#,
        "\n",
        r#"{"doc_id": 1, "doc": {"q": 2}, "target": "A", "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"], "filter": "strict", "metrics": ["my_own"], "doc_hash": "h", "my_own": 0.25}"#,
        "\n",
        r#"{"doc_id": 1, "doc": {"q": 2}, "target": "A", "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"], "filter": "loose", "metrics": ["my_own"], "doc_hash": "h", "my_own": NaN}"#,
        "\n",
        r#"{"doc_id": 2, "doc": {"q": 2}, "target": "A", "arguments": {}, "resps": [["x"]], "filtered_resps": ["x"], "filter": "none", "metrics": ["ppl"], "doc_hash": "h", "ppl": [-1.5, 3]}"#,
        "\n",
    );
    assert_snapshot!(told("org__model/samples_sums_2026-01-21T03-44-18.458309.jsonl", lines.as_bytes()), @r#"
    lm-eval
    line 1  {"id":"org__model/sums/0/none/2026-01-21T03-44-18.458309","outcome":"succeeded","score_acc_norm":0,"solved":1,"subject":"org__model","task":"sums/0"}
    line 2  {"id":"org__model/sums/1/strict/2026-01-21T03-44-18.458309","solved":0.25,"subject":"org__model","task":"sums/strict/1"}
    line 3  {"id":"org__model/sums/1/loose/2026-01-21T03-44-18.458309","subject":"org__model","task":"sums/loose/1"}
    line 4  {"id":"org__model/sums/2/none/2026-01-21T03-44-18.458309","subject":"org__model","task":"sums/2"}
    1 a metric `my_own` that is no number of the sample alone
    1 a metric `ppl` that is no number of the sample alone
    4 no cost, time and tokens: a sample has none
    note: `solved` is the metric `acc` of `acc`, `acc_norm`; --score NAME takes another
    "#);
    let wanted = Options { score: Some(String::from("acc_norm")), ..Options::default() };
    let (items, _) = read_as("m/samples_x.jsonl", lines.as_bytes(), Format::LmEval, &wanted).unwrap();
    assert_eq!(items[0]["solved"], 0);
    assert_snapshot!(refused("results.json", br#"{"results": {}, "configs": {}, "lm_eval_version": "0.4.9"}"#), @"results.json: found sums for each task without their samples, expected the samples; run lm_eval with --log_samples and give `samples_*.jsonl`");
}

#[test]
fn results_of_tau_bench() {
    let log = r#"[
      {"task_id": 0, "reward": 1.0, "info": {"task": {}}, "traj": [{"role": "user"}], "trial": 0},
      {"task_id": 0, "reward": 0.9999999, "info": {}, "traj": [], "trial": 1},
      {"task_id": 0, "reward": 0.0, "info": {"error": "timeout of the service", "traceback": ""}, "traj": [], "trial": 2},
      {"task_id": 1, "reward": 0.0, "info": {}, "traj": [], "trial": 0},
      {"task_id": 1, "reward": null, "info": {}, "traj": [], "trial": 1}
    ]"#;
    assert_snapshot!(told("gpt-4o-airline.json", log.as_bytes()), @r#"
    tau-bench
    $[0]  {"id":"gpt-4o-airline/0/0","outcome":"succeeded","solved":1,"subject":"gpt-4o-airline","task":"0"}
    $[1]  {"id":"gpt-4o-airline/0/1","outcome":"succeeded","solved":1,"subject":"gpt-4o-airline","task":"0"}
    $[2]  {"id":"gpt-4o-airline/0/2","outcome":"no-verdict","subject":"gpt-4o-airline","task":"0"}
    $[3]  {"id":"gpt-4o-airline/1/0","outcome":"failed","solved":0,"subject":"gpt-4o-airline","task":"1"}
    $[4]  {"id":"gpt-4o-airline/1/1","outcome":"no-verdict","subject":"gpt-4o-airline","task":"1"}
    5 no cost, time and tokens of the agent: the log has only the cost of the simulated user
    1 no reward of a run: it has no verdict
    1 the reward of 0 of a run that ended in an error of the program
    "#);
}

#[test]
fn results_of_tau2() {
    let log = r#"{"timestamp": "2026-01-01T00:00:00", "info": {"num_trials": 2, "agent_info": {"implementation": "llm_agent", "llm": "gpt-5"}, "environment_info": {"domain_name": "retail", "policy": "p"}}, "tasks": [],
     "simulations": [
      {"id": "a", "task_id": "3", "trial": 0, "start_time": "2026-01-01T00:00:00Z", "duration": 12.5, "termination_reason": "user_stop", "agent_cost": 0.02, "user_cost": 0.5, "reward_info": {"reward": 1.0}, "messages": [{"cost": 9}]},
      {"id": "b", "task_id": "3", "trial": 1, "start_time": "2026-01-01T00:00:00", "duration": 1, "termination_reason": "max_steps", "agent_cost": 0, "reward_info": {"reward": 0.0}},
      {"id": "c", "task_id": "4", "trial": 0, "termination_reason": "infrastructure_error", "agent_cost": null, "reward_info": {"reward": 0.0}},
      {"id": "d", "task_id": "4", "trial": 1, "termination_reason": "agent_stop"}
     ]}"#;
    assert_snapshot!(told("results.json", log.as_bytes()), @r#"
    tau2
    $.simulations[0]  {"cost_usd":0.02,"id":"a","outcome":"succeeded","seconds":12.5,"solved":1,"subject":"gpt-5","task":"retail/3","time":"2026-01-01T00:00:00Z"}
    $.simulations[1]  {"id":"b","outcome":"stopped","seconds":1,"solved":0,"subject":"gpt-5","task":"retail/3"}
    $.simulations[2]  {"id":"c","outcome":"no-verdict","subject":"gpt-5","task":"retail/4"}
    $.simulations[3]  {"id":"d","outcome":"no-verdict","subject":"gpt-5","task":"retail/4"}
    1 a cost of 0, which means that it is not known
    1 a time without date, seconds or zone
    1 no reward of a run: it has no verdict
    1 the reward of a run that the program broke off
    "#);
    let entry = r#"{"model_name": "M", "submitting_organization": "O", "results": {"airline": null, "retail": {"pass_1": 68.1, "pass_2": 50, "pass_3": null, "cost": 0.0}}}"#;
    assert_snapshot!(told("m.json", entry.as_bytes()), @r#"
    tau2
    $.results.retail  {"id":"m/retail","pass_2":0.5,"solved":0.681,"subject":"M","task":"retail"}
    1 a cost of 0, which means that it is not known
    1 a domain without a share of tasks passed at the first try
    1 no results of single tasks: an entry has their share
    "#);
}

#[test]
fn reports_of_swe_bench() {
    let report = r#"{"total_instances": 10, "submitted_instances": 5, "completed_ids": ["a", "b"], "incomplete_ids": ["x"], "empty_patch_ids": ["c"],
      "submitted_ids": ["a", "b", "c", "d", "e"], "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["d"], "schema_version": 2}"#;
    assert_snapshot!(told("model-1.run.json", report.as_bytes()), @r#"
    swe-bench
    $.resolved_ids[0]  {"id":"model-1.run/a","outcome":"succeeded","solved":1,"subject":"model-1.run","task":"a"}
    $.unresolved_ids[0]  {"id":"model-1.run/b","outcome":"failed","solved":0,"subject":"model-1.run","task":"b"}
    $.empty_patch_ids[0]  {"id":"model-1.run/c","outcome":"failed","solved":0,"subject":"model-1.run","task":"c"}
    $.error_ids[0]  {"id":"model-1.run/d","outcome":"no-verdict","subject":"model-1.run","task":"d"}
    $.submitted_ids[4]  {"id":"model-1.run/e","outcome":"no-verdict","subject":"model-1.run","task":"e"}
    5 an instance that was never submitted
    5 no cost, time and tokens: the report has none
    2 no result of an instance whose tests did not run: it has no verdict
    "#);
    assert_snapshot!(refused("x.json", br#"{"submitted_ids": ["a"], "resolved_ids": ["a"], "unresolved_ids": ["a"]}"#), @"x.json: $.resolved_ids[0]: found `a`, which is at $.unresolved_ids[0] too, expected each instance resolved or not");
    assert_snapshot!(refused("x.json", br#"{"submitted_ids": [7], "resolved_ids": []}"#), @"x.json: $.submitted_ids[0]: found something else, expected a list of ids");
}

#[test]
fn results_of_promptfoo() {
    let row = |rest: &str| {
        format!(
            r#"{{"promptIdx": 0, "promptId": "0123456789", "provider": {{"id": "p", "label": "bot"}}, "vars": {{"n": "1"}}, "testCase": {{"description": "one"}}, {rest}}}"#
        )
    };
    let rows = [
        row(
            r#""testIdx": 0, "success": true, "score": 0.6, "failureReason": 0, "latencyMs": 1500, "cost": 0.01, "response": {"output": "x", "tokenUsage": {"total": 7}}, "namedScores": {"Right wording": 0.5}, "gradingResult": {"tokensUsed": {"total": 99}}"#,
        ),
        row(
            r#""testIdx": 1, "success": false, "score": 0, "failureReason": 1, "error": "Expected 4", "latencyMs": 3, "cost": 0, "response": {"cached": true, "tokenUsage": {"total": 7}}, "namedScores": {}"#,
        ),
        row(
            r#""testIdx": 2, "success": false, "score": 0, "failureReason": 2, "error": "crash", "latencyMs": 3, "cost": 0, "tokenUsage": {"total": 0}, "namedScores": {}"#,
        ),
    ];
    let whole = format!(
        r#"{{"evalId": "eval-1", "results": {{"version": 3, "timestamp": "2026-11-22T08:05:37.638Z", "prompts": [{{"id": "x"}}], "results": [{}], "stats": {{"successes": 1}}}}, "config": {{}}}}"#,
        rows.join(",")
    );
    assert_snapshot!(told("results.json", whole.as_bytes()), @r#"
    promptfoo
    $.results.results[0]  {"cost_usd":0.01,"id":"eval-1/0/0","outcome":"succeeded","score":0.6,"score_right_wording":0.5,"seconds":1.5,"solved":1,"subject":"bot","task":"one {\"n\":\"1\"} 01234567","time":"2026-11-22T08:05:37.638Z","tokens":7}
    $.results.results[1]  {"id":"eval-1/1/0","outcome":"failed","score":0,"solved":0,"subject":"bot","task":"one {\"n\":\"1\"} 01234567","time":"2026-11-22T08:05:37.638Z","tokens":7}
    $.results.results[2]  {"id":"eval-1/2/0","outcome":"no-verdict","seconds":0.003,"subject":"bot","task":"one {\"n\":\"1\"} 01234567","time":"2026-11-22T08:05:37.638Z"}
    1 a cost of 0, which means that it is not known
    1 a number of tokens of 0, which means that it is not known
    1 the score of 0 of a test that ended in an error: it has no verdict
    1 the time and cost of an answer that came from a cache
    "#);
    let (format, items, _) = read("results.json", whole.as_bytes());
    let (_, lines, _) = read("rows.jsonl", (rows.join("\n") + "\n").as_bytes());
    assert_eq!(lines.len(), items.len());
    for (line, item) in lines.into_iter().zip(items) {
        assert_eq!((&line["solved"], &line["tokens"]), (&item["solved"], &item["tokens"]));
        assert!(facts(format, "rows.jsonl", line).contains("rows/"));
    }
}

#[test]
fn leaderboards_of_aider() {
    let list = "- dirname: 2026-01-01--a\n  test_cases: 225\n  model: M 1\n  edit_format: diff\n  pass_rate_1: 20.4\n  pass_rate_2: 35.6\n  total_cost: 4.5\n  seconds_per_case: 2\n\n# b\n- dirname: 2026-01-01--b\n  test_cases: 10\n  model: M 2\n  pass_rate_1: 100\n  total_cost: 0.0000\n";
    let rule = "\u{2500}".repeat(20);
    let printed = list.replace("# b\n", "").replace(
        "\n- dirname",
        &format!("\ncosts: $0.02/test-case\n{rule} tmp.benchmarks/b {rule}\n- dirname"),
    );
    let printed = format!("{rule} tmp.benchmarks/a {rule}\n{printed}");
    assert_eq!(read("stats.txt", printed.as_bytes()).1.len(), read("board.yml", list.as_bytes()).1.len());
    assert_snapshot!(told("board.yml", list.as_bytes()), @r#"
    aider
    line 1  {"cost_usd":0.02,"id":"2026-01-01--a","n":225,"pass_rate_1":20.4,"pass_rate_2":35.6,"seconds":2,"seconds_per_case":2,"solved":0.356,"subject":"M 1 (diff)","test_cases":225,"total_cost":4.5}
    line 11  {"id":"2026-01-01--b","n":10,"pass_rate_1":100,"subject":"M 2","test_cases":10,"total_cost":0}
    1 a cost of 0, which means that it is not known
    2 no results of single cases: a record has their sum
    1 no share solved within two tries
    "#);
    for (broken, place) in [
        ("- dirname: a\n  x: 1\n  nested:\n    y: 2\n", "line 4"),
        ("- dirname: a\n  x: 1\n  x: 2\n", "line 3"),
        ("- dirname: a\n  x: 1\n", "line 1"),
        ("- dirname: a\n  &a: *a\n", "line 2"),
    ] {
        let error = refused("board.yml", broken.as_bytes());
        assert!(error.starts_with(&format!("board.yml: {place}: ")), "{error}");
    }
}

#[test]
fn samples_and_records_of_every_eval_ever() {
    let samples = concat!(
        r#"{"schema_version": "0.3.0", "evaluation_id": "e/1", "model_id": "org/m", "evaluation_name": "arc", "sample_id": "7", "evaluation": {"score": 1.0, "is_correct": true}, "token_usage": {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17}, "performance": {"latency_ms": 250}}"#,
        "\n",
        r#"{"schema_version": "0.3.0", "evaluation_id": "e/1", "model_id": "org/m", "evaluation_name": "arc", "sample_id": "8", "evaluation": {"score": 7.5, "is_correct": false}}"#,
        "\n",
        r#"{"schema_version": "0.3.0", "evaluation_id": "e/1", "model_id": "org/m", "evaluation_name": "arc", "sample_id": "9", "evaluation": {"score": 7.5}}"#,
        "\n",
    );
    assert_snapshot!(told("x_samples.jsonl", samples.as_bytes()), @r#"
    every-eval-ever
    line 1  {"id":"e/1/arc/7","outcome":"succeeded","score":1,"seconds":0.25,"solved":1,"subject":"org/m","task":"arc/7","tokens":17}
    line 2  {"id":"e/1/arc/8","outcome":"failed","score":7.5,"solved":0,"subject":"org/m","task":"arc/8"}
    line 3  {"id":"e/1/arc/9","score":7.5,"subject":"org/m","task":"arc/9"}
    1 no score of a sample as a share of its task
    "#);
    let record = r#"{"schema_version": "0.3.0", "evaluation_id": "e/1", "model_info": {"name": "m", "id": "org/m"}, "evaluation_results": [
      {"evaluation_name": "arc", "metric_config": {"lower_is_better": true, "min_score": 0, "max_score": 100}, "score_details": {"score": 25, "uncertainty": {"num_samples": 400}}},
      {"evaluation_name": "free", "metric_config": {}, "score_details": {"score": 3}}],
      "detailed_evaluation_results": {"file_path": "data/x_samples.jsonl"}}"#;
    assert_snapshot!(told("x.json", record.as_bytes()), @r#"
    every-eval-ever
    $.evaluation_results[0]  {"id":"e/1/arc","n":400,"score":25,"solved":0.75,"subject":"org/m","task":"arc"}
    $.evaluation_results[1]  {"id":"e/1/free","score":3,"subject":"org/m","task":"free"}
    1 a score without the ends of its scale
    2 no results of single samples: a record has their mean
    note: the record has means only; its samples are in `x_samples.jsonl`, which has tasks and intervals
    "#);
}

#[test]
fn battles() {
    let table = "model_a,model_b,winner,judge,language\na,b,model_a,j1,English\na,b,tie (bothbad),,\nb,c,tie,j2,\nc,a,model_b,j2,\nc,c,tie,j2,\nc,a,,j2,\n";
    assert_snapshot!(told("battles.csv", table.as_bytes()), @r#"
    battles
    line 2  {"category":"English","first":"a","id":"battles.csv:line 2","judge":"j1","result":"first","second":"b"}
    line 3  {"first":"a","id":"battles.csv:line 3","result":"draw","second":"b"}
    line 4  {"first":"b","id":"battles.csv:line 4","judge":"j2","result":"draw","second":"c"}
    line 5  {"first":"c","id":"battles.csv:line 5","judge":"j2","result":"second","second":"a"}
    1 a battle of a model against itself
    1 a battle without a vote
    note: votes that both answers are bad count as draws, as at LMArena
    "#);
    let lines = "{\"id\": \"q1\", \"model_a\": \"a\", \"model_b\": \"b\", \"winner\": \"both_bad\", \"evaluation_session_id\": \"s\"}\n{\"id\": \"q2\", \"model_a\": \"a\", \"model_b\": \"b\", \"winner\": \"a\"}\n";
    assert_snapshot!(refused("b.jsonl", lines.as_bytes()), @"b.jsonl: line 2: found `a` as `winner`, expected model_a, model_b, tie, tie (bothbad) or both_bad");
    assert_snapshot!(refused("b.csv", b"model_a,model_b,winner\na,b\n"), @"b.csv: line 2: found CSV error: record 1 (line: 2, byte: 23): found record with 2 fields, but the previous record has 3 fields, expected a row with a cell for each column");
}
