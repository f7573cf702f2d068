//! Every format of logs by the same table: from the files to scores, a leaderboard, a gate, an explanation and a project, in
//! one command each.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;

use karat_core::facts::Digest;
use karat_importers::{Format, Input, Options, check, import};
use serde_json::{Value, json};

use crate::common::Folder;
use crate::project::alone;

/// Tasks of a log.
const TASKS: usize = 12;

/// The source of the verdict on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The log says it.
    Log,
    /// A report beside the log says it.
    Report,
    /// Nothing says it.
    None,
    /// The log has means over tasks.
    Means,
}

fn verdict(format: Format) -> Verdict {
    match format {
        Format::SweAgent | Format::MiniSweAgent => Verdict::Report,
        Format::Langfuse | Format::Atif | Format::Otlp | Format::Jaeger | Format::OpenInference => {
            Verdict::None
        }
        Format::Aider => Verdict::Means,
        _ => Verdict::Log,
    }
}

/// The formats whose items are scored.
fn scored() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| !format.is_matches())
}

fn task(at: usize) -> String {
    format!("t{at:02}")
}

fn trace(at: usize) -> String {
    format!("{:032x}", at + 0xabc0)
}

fn span(at: usize, name: &str) -> String {
    format!("{:015x}{}", at + 0xdef0, if name == "agent" { 1 } else { 2 })
}

/// Makes the files of a log in which these tasks are solved: names and texts.
fn files(format: Format, solved: &[bool]) -> Vec<(String, String)> {
    let all = || solved.iter().copied().enumerate();
    let one = |name: &str, text: Value| vec![(name.to_owned(), text.to_string())];
    let lines = |name: &str, line: &dyn Fn(usize, bool) -> Value| {
        let lines: Vec<String> = all().map(|(at, is_solved)| line(at, is_solved).to_string()).collect();
        vec![(name.to_owned(), lines.join("\n") + "\n")]
    };
    let list = |element: &dyn Fn(usize, bool) -> Value| -> Vec<Value> {
        all().map(|(at, is_solved)| element(at, is_solved)).collect()
    };
    let each = |name: &dyn Fn(usize) -> String, text: &dyn Fn(usize) -> Value| {
        all().map(|(at, _)| (name(at), text(at).to_string())).collect()
    };
    let share = |is_solved: bool| if is_solved { 1.0 } else { 0.0 };
    let tokens = |at: usize| 100 + 7 * at;
    match format {
        Format::Inspect => one(
            "run.json",
            json!({"version": 2, "status": "success",
                "eval": {"eval_id": "e", "task": "sums", "model": "org/m", "created": "2026-11-22T08:06:14+00:00"},
                "samples": list(&|at, is_solved| json!({"id": task(at), "epoch": 1, "total_time": at + 1,
                    "scores": {"match": {"value": if is_solved { "C" } else { "I" }}},
                    "model_usage": {"org/m": {"total_tokens": tokens(at)}}}))}),
        ),
        Format::JUnit => {
            let cases: Vec<String> = all()
                .map(|(at, is_solved)| {
                    let inner = if is_solved { "" } else { "<failure message=\"no\"/>" };
                    format!("<testcase classname=\"c\" name=\"{}\" time=\"{}\">{inner}</testcase>\n", task(at), at + 1)
                })
                .collect();
            vec![("bot.xml".to_owned(), format!("<testsuite name=\"s\">\n{}</testsuite>\n", cases.concat()))]
        }
        Format::LmEval => lines("org__m/samples_sums_2026-01-21T03-44-18.458309.jsonl", &|at, is_solved| {
            json!({"doc_id": at, "doc": {"q": task(at)}, "target": "4", "arguments": {}, "resps": [["4"]],
                "filtered_resps": ["4"], "filter": "none", "metrics": ["exact_match"], "exact_match": share(is_solved)})
        }),
        Format::TauBench => one(
            "bot.json",
            list(&|at, is_solved| json!({"task_id": task(at), "trial": 0, "reward": share(is_solved),
                "info": {"task": {"instruction": "do"}}, "traj": messages()}))
            .into(),
        ),
        Format::Tau2 => one(
            "results.json",
            json!({"info": {"agent_info": {"implementation": "llm_agent", "llm": "m"},
                "environment_info": {"domain_name": "retail"}}, "tasks": [],
                "simulations": list(&|at, is_solved| json!({"id": format!("s-{}", task(at)), "task_id": task(at), "trial": 0,
                    "duration": at + 1, "agent_cost": 0.01 * (at + 1) as f64, "termination_reason": "user_stop",
                    "reward_info": {"reward": share(is_solved)}, "messages": messages()}))}),
        ),
        Format::SweBench => one("bot.json", report(solved)),
        Format::Promptfoo => one(
            "results.json",
            json!({"evalId": "e", "results": {"version": 3, "timestamp": "2026-11-22T08:05:37.638Z", "prompts": [{}],
                "results": list(&|at, is_solved| json!({"promptIdx": 0, "testIdx": at, "success": is_solved,
                    "score": share(is_solved), "failureReason": u8::from(!is_solved), "latencyMs": 10 * (at + 1),
                    "cost": 0.001 * (at + 1) as f64, "provider": {"id": "p"}, "vars": {}, "testCase": {"description": task(at)},
                    "tokenUsage": {"total": tokens(at)}}))}}),
        ),
        Format::Aider => {
            let rate = 100.0 * solved.iter().filter(|it| **it).count() as f64 / solved.len() as f64;
            let row = |name: &str, rate: f64| {
                format!("- dirname: d-{name}\n  test_cases: 225\n  model: {name}\n  pass_rate_1: 1\n  pass_rate_2: {rate:.1}\n  total_cost: 4.5\n  seconds_per_case: 2\n")
            };
            vec![("polyglot_leaderboard.yml".to_owned(), row("t00", rate) + "\n" + &row("t11", 50.0))]
        }
        Format::EveryEvalEver => lines("m_samples.jsonl", &|at, is_solved| {
            json!({"schema_version": "0.3.0", "evaluation_id": "e", "model_id": "org/m", "evaluation_name": "sums",
                "sample_id": task(at), "evaluation": {"score": share(is_solved), "is_correct": is_solved},
                "token_usage": {"total_tokens": tokens(at)}, "performance": {"latency_ms": at + 1}})
        }),
        Format::SweAgent => each(&|at| format!("{}.traj", task(at)), &|at| {
            json!({"environment": task(at), "trajectory": [{"action": "ls", "observation": "a.py", "thought": "look"}],
                "history": [{"role": "user", "content": "mend it"}],
                "info": {"exit_status": "submitted", "model_stats": {"instance_cost": 0.1 * (at + 1) as f64,
                    "tokens_sent": tokens(at), "tokens_received": 10, "api_calls": 1}}})
        }),
        Format::MiniSweAgent => each(&|at| format!("{}.traj.json", task(at)), &|at| {
            json!({"info": {"exit_status": "Submitted", "config": {"model": {"model_name": "org/m"}},
                    "model_stats": {"instance_cost": 0.1 * (at + 1) as f64, "api_calls": 1}},
                "messages": [{"role": "user", "content": task(at)},
                    {"role": "assistant", "content": "look", "extra": {"actions": [{"command": "ls"}], "timestamp": 1_795_334_577 + at}}],
                "trajectory_format": "mini-swe-agent-1.1"})
        }),
        Format::Langfuse => each(&|at| format!("{}.json", task(at)), &|at| {
            json!({"trace": {"id": task(at), "projectId": "p", "name": "bot", "timestamp": "2026-06-11T14:01:32.598Z",
                    "latency": at + 1, "scores": [{"name": "correctness", "value": 1, "observationId": null}]},
                "observations": [{"id": "o", "traceId": task(at), "type": "GENERATION", "name": "call", "level": "DEFAULT",
                    "output": "done", "startTime": "2026-06-11T14:01:32.600Z", "usageDetails": {"total": tokens(at)}, "totalCost": 0.001 * (at + 1) as f64}]})
        }),
        Format::Atif => each(&|at| format!("{}.json", task(at)), &|at| {
            json!({"schema_version": "ATIF-v1.7", "session_id": task(at), "agent": {"name": "bot", "version": "1"}, "steps": [
                {"step_id": 1, "timestamp": "2026-01-05T00:00:01Z", "source": "user", "message": "do"},
                {"step_id": 2, "timestamp": format!("2026-01-05T00:00:{:02}Z", at + 2), "source": "agent", "message": "done",
                    "metrics": {"prompt_tokens": tokens(at), "completion_tokens": 10}}]})
        }),
        Format::Harbor => all()
            .map(|(at, is_solved)| {
                let text = json!({"id": format!("u-{}", task(at)), "task_name": task(at), "trial_name": format!("{}__1", task(at)),
                    "agent_info": {"name": "bot"}, "agent_result": {"n_input_tokens": tokens(at), "n_output_tokens": 10, "cost_usd": 0.1},
                    "verifier_result": {"rewards": {"reward": share(is_solved)}}});
                (format!("{}/result.json", task(at)), text.to_string())
            })
            .chain(all().map(|(at, _)| {
                let way = json!({"schema_version": "ATIF-v1.7", "session_id": task(at), "agent": {"name": "bot"},
                    "steps": [{"source": "agent", "message": "done"}]});
                (format!("{}/agent/trajectory.json", task(at)), way.to_string())
            }))
            .collect(),
        Format::Battles => {
            let rows: Vec<String> =
                all().map(|(at, is_solved)| format!("{},x,y,model_{}\n", task(at), if is_solved { 'a' } else { 'b' })).collect();
            vec![("battles.csv".to_owned(), format!("id,model_a,model_b,winner\n{}", rows.concat()))]
        }
        Format::Otlp => {
            let spans = all().flat_map(|(at, _)| {
                let attribute = |key: &str, value: Value| json!({"key": key, "value": value});
                let one = |name: &str, parent: Value, end: usize, attributes: Value| {
                    json!({"traceId": trace(at), "spanId": span(at, name), "parentSpanId": parent, "name": name,
                        "startTimeUnixNano": "1767225600000000000", "endTimeUnixNano": (1_767_225_600_000_000_000_u64 + end as u64 * 1_000_000).to_string(),
                        "attributes": attributes})
                };
                [
                    one("agent", "".into(), 20 * (at + 1), json!([attribute("gen_ai.operation.name", json!({"stringValue": "invoke_agent"})),
                        attribute("gen_ai.agent.name", json!({"stringValue": "bot"}))])),
                    one("chat", span(at, "agent").into(), 10 * (at + 1), json!([attribute("gen_ai.operation.name", json!({"stringValue": "chat"})),
                        attribute("gen_ai.usage.input_tokens", json!({"intValue": tokens(at).to_string()})),
                        attribute("gen_ai.usage.output_tokens", json!({"intValue": "5"}))])),
                ]
            });
            let spans: Vec<Value> = spans.collect();
            one("spans.json", json!({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": spans}]}]}))
        }
        Format::Jaeger => {
            let traces = list(&|at, _| {
                json!({"traceID": trace(at), "processes": {"p1": {"serviceName": "bot"}}, "spans": [
                    {"traceID": trace(at), "spanID": span(at, "chat"), "operationName": "chat", "references": [], "processID": "p1",
                        "startTime": 1_771_237_881_000_000_u64, "duration": 1000 * (at + 1), "tags": [
                            {"key": "gen_ai.operation.name", "type": "string", "value": "chat"},
                            {"key": "gen_ai.usage.input_tokens", "type": "int64", "value": tokens(at)},
                            {"key": "gen_ai.usage.output_tokens", "type": "int64", "value": 5}]}]})
            });
            one("traces.json", json!({"data": traces}))
        }
        Format::OpenInference => lines("spans.jsonl", &|at, _| {
            json!({"name": "llm", "context": {"trace_id": trace(at), "span_id": span(at, "chat")}, "parent_id": null,
                "start_time": "2026-01-01T00:00:00Z", "end_time": format!("2026-01-01T00:00:{:02}Z", at + 1),
                "status": {"status_code": "UNSET"}, "attributes": {"openinference.span.kind": "LLM",
                    "llm.token_count.prompt": tokens(at), "llm.token_count.completion": 1}})
        }),
    }
}

/// Messages of a run in the form of OpenAI.
fn messages() -> Value {
    json!([{"role": "user", "content": "help"},
        {"role": "assistant", "content": "so", "tool_calls": [{"id": "c", "function": {"name": "find", "arguments": "{}"}}]},
        {"role": "tool", "content": "found", "tool_call_id": "c"}])
}

fn report(solved: &[bool]) -> Value {
    let ids = |wanted: bool| -> Vec<String> {
        (0..solved.len()).filter(|at| solved[*at] == wanted).map(task).collect()
    };
    let all: Vec<String> = (0..solved.len()).map(task).collect();
    json!({"submitted_ids": all, "resolved_ids": ids(true), "unresolved_ids": ids(false), "error_ids": [],
        "empty_patch_ids": [], "total_instances": solved.len()})
}

/// Writes the files of a log into a folder of that name, and returns their names; the report for trajectories comes last.
fn write(folder: &Folder, name: &str, format: Format, solved: &[bool]) -> Vec<String> {
    let mut files = files(format, solved);
    if verdict(format) == Verdict::Report {
        files.push((String::from("report.json"), report(solved).to_string()));
    }
    let mut names = Vec::new();
    for (file, text) in files {
        let path = folder.path().join(name).join(&file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        names.push(format!("{name}/{file}"));
    }
    names
}

/// Every second task is lost.
fn half() -> Vec<bool> {
    (0..TASKS).map(|at| at % 2 == 0).collect()
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_format_comes_from_a_file_to_scores_and_a_leaderboard() {
    for format in scored() {
        let folder = Folder::new();
        write(&folder, "run", format, &half());
        let score = alone(folder.path(), &["score", "--json", "--card", "run", "run"]);
        assert_eq!(score.status, 0, "{format}: {}", score.stderr);
        // Of what else a log says no more than that nothing reads it.
        let is_note = |line: &str| {
            line.starts_with("note: fields that nothing reads: ") || line.contains("its verdicts went to 12 ")
        };
        let left_out = alone(folder.path(), &["import", "run"]).stderr;
        let is_note = |line: &str| is_note(line) || left_out.lines().any(|it| it == line);
        assert!(score.stderr.lines().all(is_note), "{format}: {}", score.stderr);
        let found = records(&score.stdout);
        let scores: Vec<Option<f64>> = found.iter().map(|record| record["composite"].as_f64()).collect();
        let wanted: Vec<Option<f64>> = match verdict(format) {
            Verdict::Log | Verdict::Report => {
                half().iter().map(|it| Some(if *it { 1.0 } else { 0.0 })).collect()
            }
            Verdict::None => vec![None; TASKS],
            Verdict::Means => vec![Some(0.5), Some(0.5)],
        };
        assert_eq!(scores, wanted, "{format}");
        let board = alone(folder.path(), &["leaderboard", "--json", "--card", "run", "run"]);
        if verdict(format) == Verdict::None {
            // Nothing says what was solved, so nothing is ranked by it.
            assert_eq!(board.status, 1, "{format}: {}", board.stdout);
            assert!(board.stderr.contains("no item has a value of `solved`"), "{format}: {}", board.stderr);
            continue;
        }
        assert_eq!(board.status, 0, "{format}: {}", board.stderr);
        let board: Value = serde_json::from_str(&board.stdout).unwrap();
        let row = &board["leaderboards"][0]["rows"][0];
        match verdict(format) {
            Verdict::Log | Verdict::Report => {
                assert_eq!(row["score"]["mean"].as_f64(), Some(0.5), "{format}: {row}");
                assert_eq!(row["tasks"], TASKS, "{format}");
            }
            Verdict::None | Verdict::Means => {
                assert_eq!(row["score"]["mean"].as_f64(), Some(0.5), "{format}: {row}")
            }
        }
    }
}

/// A format that is asked for and is not there gives an error that says so, never items.
#[test]
fn a_format_that_a_file_is_not_of_is_refused() {
    let folder = Folder::new();
    let mut wrong = Vec::new();
    for own in Format::ALL {
        let file = write(&folder, own.name(), own, &half()).swap_remove(0);
        let input = Input::file(folder.path().join(&file));
        assert_eq!(check(&input, own), Ok(()), "{own}");
        for asked in Format::ALL.into_iter().filter(|asked| *asked != own) {
            match check(&input, asked) {
                Ok(()) => wrong.push(format!("{own} as {asked}")),
                Err(error) => assert!(error.to_string().contains(own.words()), "{error}"),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What shows no format is refused by the readers themselves.
    let none = [
        r#"{"a": {"resolved_by": 1}}"#,
        r#"{"total": 3}"#,
        r#"[{"x": 1}]"#,
        "{}",
        "[]",
        "1\n2\n",
        "a,b\n1,2\n",
        "- a: 1\n",
    ];
    for (at, text) in none.iter().enumerate() {
        let input = Input::memory(format!("{at}.json"), text.as_bytes());
        for asked in Format::ALL {
            let read = import(&input, asked, &Options::default(), &mut |item| {
                panic!("{asked} made {} of {text}", String::from_utf8_lossy(item.json));
            });
            assert!(read.is_err() || read.is_ok_and(|summary| summary.items == 0));
        }
    }
}

#[test]
fn each_format_is_compared_and_stops_what_became_worse() {
    for format in scored().filter(|format| matches!(verdict(*format), Verdict::Log | Verdict::Report)) {
        let folder = Folder::new();
        write(&folder, "base", format, &[true; TASKS]);
        write(&folder, "new", format, &half());
        let compare = |first: &str, second: &str| {
            alone(
                folder.path(),
                &["compare", "--json", "--card", "run", "--fail-if-worse", "--", first, second],
            )
        };
        let worse = compare("base", "new");
        assert_eq!(worse.status, 16, "{format}: {}{}", worse.stdout, worse.stderr);
        let answer: Value = serde_json::from_str(&worse.stdout).unwrap();
        let text = answer.to_string();
        let lost: Vec<usize> = (0..TASKS).filter(|at| !half()[*at]).collect();
        let listed = answer["changes"]["regressed"].as_array();
        assert_eq!(listed.map(Vec::len), Some(lost.len()), "{format}: {text}");
        let better = compare("new", "base");
        assert_eq!(better.status, 0, "{format}: {}", better.stderr);
        let floor = |points: &str| {
            alone(folder.path(), &["leaderboard", "--json", "--card", "run", "--fail-under", points, "new"])
        };
        assert_eq!((floor("49").status, floor("51").status), (0, 10), "{format}");
    }
}

/// Returns the text of the place in a file that an item names.
fn at_place(file: &str, place: &str) -> String {
    if let Some(rest) = place.strip_prefix("line ") {
        let number: usize = rest.split(|it: char| !it.is_ascii_digit()).next().unwrap().parse().unwrap();
        // A record of Aider has several lines.
        return file.lines().skip(number - 1).take(3).collect::<Vec<_>>().join("\n");
    }
    let text: Value = serde_json::from_str(file).unwrap();
    let mut value = &text;
    for step in place.strip_prefix('$').unwrap().split(['.', '[']).filter(|step| !step.is_empty()) {
        value = match step.strip_suffix(']') {
            Some(number) => &value[number.parse::<usize>().unwrap()],
            None => &value[step],
        };
    }
    assert!(!value.is_null(), "{place}");
    value.to_string()
}

#[test]
fn each_explanation_names_the_file_and_the_place_in_it() {
    for format in scored() {
        let folder = Folder::new();
        let mut names = write(&folder, "run", format, &half());
        if verdict(format) == Verdict::Report {
            names.pop();
        }
        for kind in ["facts", "trace"] {
            if kind == "trace" && !format.has_traces() {
                continue;
            }
            let card = if kind == "facts" { "run" } else { "trace" };
            let name = names.iter().rfind(|name| !name.contains("/agent/")).unwrap();
            let imported = alone(folder.path(), &["import", "--quiet", "--as", kind, name]);
            assert_eq!(imported.status, 0, "{format}: {}", imported.stderr);
            let items = records(&imported.stdout);
            for item in [items.first(), items.last()].into_iter().flatten() {
                let id = item["id"].as_str().unwrap();
                let shown = alone(folder.path(), &["explain", "--table", "--card", card, name, "--item", id]);
                assert_eq!(shown.status, 0, "{format} {id}: {}", shown.stderr);
                let source = shown.stdout.split("\nSource\n").nth(1).unwrap_or_default();
                let place = item["source"]["place"].as_str().unwrap();
                let bytes = fs::read(folder.path().join(name)).unwrap();
                let wanted = format!("{name}, {place}\nread as {}\n{}\n", format.name(), Digest::of(&bytes));
                // Long lines are broken.
                let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat(source).starts_with(flat(&wanted).trim()), "{format}: {source}{wanted}");
                // What lies there is about this item.
                let text = at_place(&String::from_utf8(bytes).unwrap(), place);
                let mark = match format {
                    Format::Otlp | Format::Jaeger | Format::OpenInference => {
                        id.rsplit(':').next().unwrap().to_owned()
                    }
                    Format::SweAgent | Format::MiniSweAgent => String::from("ubmitted"),
                    Format::Langfuse | Format::Atif => id.rsplit(':').next().unwrap().to_owned(),
                    Format::Aider => item["subject"].as_str().unwrap().to_owned(),
                    Format::LmEval => {
                        format!("\"doc_id\":{}", item["task"].as_str().unwrap().rsplit('/').next().unwrap())
                    }
                    _ => {
                        let named = item["task"].as_str().or_else(|| item["task"]["id"].as_str()).unwrap();
                        named.split_whitespace().next().unwrap().rsplit(['/', '.']).next().unwrap().to_owned()
                    }
                };
                assert!(text.contains(&mark), "{format}: `{mark}` at {place}: {text}");
            }
        }
    }
}

#[test]
fn each_format_becomes_a_project_whose_check_works() {
    for format in scored() {
        let folder = Folder::new();
        write(&folder, "run", format, &half());
        let init = alone(folder.path(), &["init", "--yes", "run"]);
        assert_eq!((init.status, init.stderr.as_str()), (0, ""), "{format}: {}", init.stdout);
        let next: Vec<String> = init
            .stdout
            .lines()
            .filter_map(|line| line.trim().strip_prefix("karat "))
            .map(|line| line.split("  ").next().unwrap().to_owned())
            .collect();
        assert_eq!(next.last().map(String::as_str), Some("check"), "{format}");
        for line in next {
            let run = alone(folder.path(), &line.split(' ').collect::<Vec<_>>());
            assert_eq!(run.status, 0, "{format}: {line}: {}{}", run.stdout, run.stderr);
        }
        let board = alone(folder.path(), &["leaderboard", "--json"]);
        let board: Value = serde_json::from_str(&board.stdout).unwrap();
        let mean = board["leaderboards"][0]["rows"][0]["score"]["mean"].as_f64();
        assert!(mean.is_some(), "{format}: the scorecard scores nothing: {board}");
    }
    let folder = Folder::new();
    write(&folder, "run", Format::Battles, &half());
    let init = alone(folder.path(), &["init", "--yes", "run"]);
    assert!(init.status == 1 && init.stderr.contains("karat rate run/battles.csv"), "{}", init.stderr);
    let rate = alone(folder.path(), &["rate", "--json", "--system", "elo", "run/battles.csv"]);
    assert_eq!((rate.status, rate.stderr.as_str()), (0, ""));
}
