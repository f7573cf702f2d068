//! Published runs of real agents, imported and scored as a person would do it. Where the tool that wrote a file reports a number,
//! ours must be equal.
//!
//! The data is not part of the repository. It is looked for in the folder that `KARAT_REAL_DATA` names, else beside the
//! workspace.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{karat, karat_reading, root};

/// Returns the folder of one set of published data.
pub fn data(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("KARAT_REAL_DATA").map_or_else(|| root().join("../shared/real"), PathBuf::from);
    let path = folder.join(name);
    let hint = "KARAT_REAL_DATA may name the folder that holds it";
    assert!(path.is_dir(), "there is no `{}`: {hint}", path.display());
    path
}

/// Returns the files whose names have this ending, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.display().to_string().ends_with(ending)).collect();
    found.sort();
    found
}

/// Scores the runs of files as traces; with a domain, through an import that states it.
fn traces(files: &[PathBuf], domain: Option<&str>) -> Vec<Value> {
    let paths: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let score = ["score", "--json", "--card", "trace"];
    let run = match domain {
        None => karat(&[&score[..], &paths].concat()),
        Some(domain) => {
            let import = ["import", "--quiet", "--as", "trace", "--domain", domain];
            let imported = karat(&[&import[..], &paths].concat());
            assert_eq!((imported.status, imported.stderr.as_str()), (0, ""));
            karat_reading(&score, &imported.stdout)
        }
    };
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the lowest and highest score that the missing facts leave open.
fn bounds(record: &Value) -> [f64; 2] {
    ["low", "high"].map(|end| record["bounds"][end].as_f64().unwrap())
}

fn published_score(record: &Value) -> f64 {
    record["score"]["published"].as_f64().unwrap_or_else(|| panic!("no score: {record}"))
}

fn dimension<'a>(record: &'a Value, key: &str) -> &'a Value {
    record["dimensions"].as_array().unwrap().iter().find(|it| it["key"] == key).unwrap()
}

fn id(record: &Value) -> &str {
    record["evidence"]["id"].as_str().unwrap()
}

/// Returns subjects and scores, best first.
fn ranking(records: &[Value]) -> Vec<(&str, f64)> {
    let mut ranking: Vec<(&str, f64)> =
        records.iter().map(|it| (it["subject"].as_str().unwrap(), published_score(it))).collect();
    ranking.sort_by(|one, other| other.1.total_cmp(&one.1));
    ranking
}

const AIDER: &str = "examples/cards/aider.toml";

fn aider(name: &str) -> Vec<Value> {
    let file = data("aider-leaderboards").join(name);
    let run = karat(&["score", "--json", "--card", AIDER, &file.display().to_string()]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_polyglot_leaderboard_of_aider() {
    let records = aider("polyglot_leaderboard.yml");
    assert_eq!(records.len(), 35);
    let ranking = ranking(&records);
    let top = [("gpt-5 (high) (diff)", 73.5), ("gpt-5 (low) (diff)", 72.8), ("o3 (diff)", 69.1)];
    assert_eq!(ranking[..3], top);
    assert_eq!(ranking[34], ("Qwen2.5-Coder-32B-Instruct (diff)", 18.5));
    // 12.9 cents and 194 s per case: 60 % of 88, 15 % of 91.6, 15 % of 88 * 0.1 / 0.2293, 10 % of 88 * 30 / 224.
    let best = records.iter().find(|it| it["subject"] == "gpt-5 (high) (diff)").unwrap();
    let by_hand =
        0.6 * 88.0 + 0.15 * 91.6 + 0.15 * 88.0 * 0.1 / (0.1 + 29.0829 / 225.0) + 0.1 * 88.0 * 30.0 / 224.0;
    assert!((published_score(best) - by_hand).abs() <= 0.05, "{by_hand}");
}

#[test]
fn the_edit_leaderboard_of_aider() {
    let records = aider("edit_leaderboard.yml");
    assert_eq!(records.len(), 49);
    let ranking = ranking(&records);
    assert_eq!(ranking[0], ("claude-3-5-sonnet-20241022 (diff)", 83.1));
    assert_eq!(ranking[48], ("ollama/granite3-dense:8b (whole)", 29.3));
}

#[test]
fn runs_with_a_single_try_are_withheld() {
    let records = aider("refactor_leaderboard.yml");
    assert_eq!(records.len(), 7);
    for record in &records {
        assert_eq!((&record["status"], &record["score"]), (&"withheld".into(), &Value::Null), "{record}");
        assert_eq!(dimension(record, "solved")["status"], "missing");
        assert!(record["bounds"]["low"].as_f64() < record["bounds"]["high"].as_f64());
    }
}

#[test]
fn a_price_that_was_not_known_is_never_free() {
    let mut unpriced = 0;
    for name in ["polyglot_leaderboard.yml", "edit_leaderboard.yml"] {
        let records = aider(name);
        for record in &records {
            let cost = dimension(record, "cost");
            if record["facts"]["total_cost"].as_f64().is_some_and(|cost| cost > 0.0) {
                assert_eq!((&cost["status"], &record["coverage"]), (&"scored".into(), &1.into()), "{record}");
                continue;
            }
            unpriced += 1;
            assert_eq!((&cost["status"], &cost["reading"]), (&"missing".into(), &Value::Null), "{record}");
            assert_eq!(record["coverage"].as_f64(), Some(0.85));
            // The price carries 15 points, all of them open.
            let ends = ["low", "high"].map(|end| record["bounds"][end].as_f64().unwrap());
            assert!(ends[0] < published_score(record) && published_score(record) < ends[1], "{record}");
            assert!((ends[1] - ends[0] - 15.0).abs() < 0.11, "{record}");
        }
    }
    assert_eq!(unpriced, 46);
}

#[test]
fn trajectories_of_swe_agent() {
    let folder = data("swe-agent-trajectories");
    let files: Vec<PathBuf> = files(&folder, ".traj")
        .into_iter()
        .filter(|path| !path.display().to_string().contains("mini"))
        .collect();
    let records = traces(&files, Some("code"));
    let facts = |record: &Value| {
        ["step_count", "error_recovery_count", "unique_tool_count"]
            .map(|name| record["facts"][name].as_u64().unwrap())
    };
    // The scores if they had succeeded and had said that they were half sure.
    let found: Vec<(&str, [u64; 3], bool)> = records
        .iter()
        .zip([0.5328823528, 0.73, 0.653, 0.675, 0.507142857])
        .map(|(record, supposed)| {
            // What they handed in may be right or wrong, and they do not say how sure they were.
            assert_eq!((&record["status"], &record["score"]), (&"withheld".into(), &Value::Null));
            assert_eq!(dimension(record, "outcome_confidence")["status"], "missing");
            assert_eq!(record["profile"]["name"], "code");
            let [low, high] = bounds(record);
            let (_, name) = id(record).split_once('/').unwrap();
            (name.split("__").next().unwrap(), facts(record), low <= supposed && supposed <= high)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("crypto", [51, 0, 6], true),
            ("gpt4", [35, 3, 7], true),
            ("human_thought", [14, 0, 5], true),
            ("replay", [32, 1, 8], true),
            ("web", [63, 0, 4], true),
        ]
    );
    // Directly, without a domain, other weights apply and the same facts.
    let direct = traces(&files, None);
    assert_eq!(direct.iter().map(facts).collect::<Vec<_>>(), records.iter().map(facts).collect::<Vec<_>>());
    assert!(direct.iter().all(|record| record["grading"]["source"]["format"] == "swe-agent"));
}

#[test]
fn runs_of_tau_bench() {
    let folder = data("tau-bench");
    let records = traces(&files(&folder, ".json"), Some("customer_service"));
    let (solved, failed): (Vec<&Value>, Vec<&Value>) =
        records.iter().partition(|record| record["facts"]["success"] == true);
    assert_eq!((solved.len(), failed.len()), (49, 51));
    assert!(failed.iter().all(|record| record["facts"]["success"] == false));
    // Of an agent that had said it was sure if it succeeded, and unsure if not.
    let of = |name: &str| records.iter().find(|record| id(record).ends_with(name)).unwrap();
    for (name, supposed) in
        [("airline/0/0", 0.405), ("airline/20/1", 0.7357142858), ("airline/22/3", 0.1945789474)]
    {
        let [low, high] = bounds(of(name));
        assert!(low <= supposed && supposed <= high, "{name}: {low} to {high}");
    }
    let steps = |name: &str| of(name)["facts"]["step_count"].as_u64().unwrap();
    assert!(records.iter().all(|record| record["evidence"]["task"].is_string()), "attempts stay together");
    assert!(steps("airline/0/0") > 1);
}

fn choose(n: u64, k: u64) -> u64 {
    if k > n { 0 } else { (0..k).fold(1, |product, at| product * (n - at) / (at + 1)) }
}

#[test]
fn attempts_of_tau_bench_are_the_exact_estimators() {
    let folder = data("tau-bench");
    let file = folder.join("gpt-4o-airline.json");
    let path = file.display().to_string();
    let board = karat(&["leaderboard", "--json", "--card", "run", "--attempts", "4", &path]);
    assert_eq!((board.status, board.stderr.lines().next()), (0, Some("left out:")));
    let board: Value = serde_json::from_str(&board.stdout).unwrap();
    let row = &board["leaderboards"][0]["rows"][0];
    assert_eq!((&row["tasks"], &row["items"]), (&25.into(), &100.into()));
    // From the file itself: how many of the four trials of each task have the reward 1.
    let trials: Vec<Value> = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let mut tasks: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    for trial in &trials {
        let [passed, tried] = tasks.entry(trial["task_id"].as_u64().unwrap()).or_default();
        *passed += u64::from(trial["reward"].as_f64() == Some(1.0));
        *tried += 1;
    }
    assert!(tasks.len() == 25 && tasks.values().all(|it| it[1] == 4));
    for k in 1..=4 {
        // Over one denominator, the tasks times C(4, k), these are whole numbers.
        let whole = tasks.len() as u64 * choose(4, k);
        let hat: u64 = tasks.values().map(|it| choose(it[0], k)).sum();
        let at: u64 = tasks.values().map(|it| choose(4, k) - choose(4 - it[0], k)).sum();
        let found = |name: &str| row["attempts"][k as usize - 1][name]["mean"].as_f64().unwrap();
        for (name, part) in [("pass_hat", hat), ("pass_at", at)] {
            // The share of a task is rounded to a billionth, and so is the mean.
            assert!(
                (found(name) - part as f64 / whole as f64).abs() <= 1e-9,
                "{name} {k}: {part} of {whole}"
            );
        }
    }
    let means =
        |name: &str| [0, 1, 2, 3].map(|at: usize| row["attempts"][at][name]["mean"].as_f64().unwrap());
    assert_eq!(means("pass_hat"), [0.49, 0.386666667, 0.34, 0.32]);
    assert_eq!(means("pass_at"), [0.49, 0.593333333, 0.65, 0.68]);
}

/// Imports a file or folder of published data.
fn imported(folder: &str, name: &str) -> Vec<Value> {
    let path = data(folder).join(name).display().to_string();
    let run = karat(&["import", "--quiet", &path]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{path}");
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sum(items: &[Value], name: &str) -> f64 {
    items.iter().filter_map(|item| item[name].as_f64()).sum()
}

fn ended(items: &[Value], outcome: &str) -> usize {
    items.iter().filter(|item| item["outcome"] == outcome).count()
}

/// Returns the mean over tasks of the mean of their attempts, and its standard error: what Inspect and lm-eval call accuracy and
/// `stderr`.
fn accuracy(items: &[Value]) -> (f64, f64) {
    let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for item in items {
        if let Some(solved) = item["solved"].as_f64() {
            tasks.entry(item["task"].as_str().unwrap()).or_default().push(solved);
        }
    }
    let means: Vec<f64> = tasks.values().map(|all| all.iter().sum::<f64>() / all.len() as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|it| (it - mean) * (it - mean)).sum();
    (mean, if means.len() < 2 { 0.0 } else { (squares / (count - 1.0) / count).sqrt() })
}

#[test]
fn accuracies_errors_and_tokens_of_inspect_are_those_it_reports() {
    for (folder, name, accuracy_of_inspect, error_of_inspect, tokens) in [
        ("inspect-json-everyeval", "data_arc_qwen.json", 1.0 / 3.0, 0.333_333_333_333_333_37, 885.0),
        ("every-eval-ever/inspect", "data_arc_sonnet.json", 1.0, 0.0, 1380.0),
        (
            "inspect-logs-zstd/native-0.3.285",
            "2026-11-22T08-06-14-00-00_arith_SqYSLET9sknvjgHJNzQocK.eval",
            0.6,
            0.187_082_869_338_697_06,
            279.0,
        ),
        (
            "inspect-logs-zstd/native-0.3.285",
            "2026-11-22T08-06-16-00-00_arith-limit_6avdj4PFSmAvTGUbtyBjHG.eval",
            0.0,
            0.0,
            0.0,
        ),
        (
            "inspect-logs-zstd/original",
            "2025-09-23T08-09-58-04-00_popularity_DN2wbX2ZvACsBpjwptzBRo.eval",
            0.63,
            0.048_523_658_709_390_974,
            6155.0,
        ),
        ("inspect-logs-zstd/original", "small.eval", 1.0, 0.0, 278_361.0),
    ] {
        let items = imported(folder, name);
        let (mean, error) = accuracy(&items);
        assert!((mean - accuracy_of_inspect).abs() < 1e-12, "{name}: {mean}");
        assert!((error - error_of_inspect).abs() < 1e-12, "{name}: {error}");
        assert_eq!(sum(&items, "tokens"), tokens, "{name}");
    }
    let items = imported("inspect-logs-zstd/native-0.3.285", "*arith_*");
    assert_eq!((ended(&items, "succeeded"), ended(&items, "failed"), ended(&items, "no-verdict")), (6, 3, 1));
}

#[test]
fn a_log_of_inspect_is_the_same_in_the_old_and_the_new_container() {
    let folder = data("inspect-logs-zstd");
    for file in files(&folder.join("original"), ".eval") {
        let name = file.file_name().unwrap().to_str().unwrap();
        let [old, new] = ["original", "zstd-converted"].map(|form| {
            let mut items = imported(&format!("inspect-logs-zstd/{form}"), name);
            items.iter_mut().for_each(|item| item["source"] = Value::Null);
            items
        });
        assert_eq!(old, new, "{name}");
    }
}

#[test]
fn resolved_instances_of_swe_bench_are_those_it_counts() {
    for (name, submitted, resolved) in [
        ("claude-haiku-4-5-20251001.validation-baseline-eval.json", 40, 25.0),
        ("claude-haiku-4.5.claude-haiku-4.5-full.json", 20, 20.0),
        ("sb-cli-reports/swe-bench_verified__test__polydev_v3_30tasks.json", 30, 26.0),
    ] {
        let items = imported("swe-bench-reports", name);
        assert_eq!((items.len(), sum(&items, "solved")), (submitted, resolved), "{name}");
    }
}

#[test]
fn results_of_promptfoo_are_those_it_counts() {
    let items = imported("promptfoo", "results.json");
    let of =
        |name: &str| items.iter().filter(|item| item["subject"] == name).cloned().collect::<Vec<Value>>();
    for (name, passed, failed, broken) in [("model-a", 16, 0, 4), ("model-b", 12, 4, 4)] {
        let items = of(name);
        let found = ["succeeded", "failed", "no-verdict"].map(|outcome| ended(&items, outcome));
        assert_eq!(found, [passed, failed, broken], "{name}");
    }
    assert!((sum(&items, "cost_usd") - 0.04).abs() < 1e-12 && sum(&of("model-b"), "cost_usd") == 0.0);
    assert_eq!(sum(&items, "tokens"), 1048.0);
}

#[test]
fn samples_of_lm_eval_are_those_of_its_metric() {
    let name = "samples_math_perturbed_full_2026-01-21T03-44-18.458309.jsonl";
    let items = imported("lm-eval-harness", name);
    assert_eq!((items.len(), accuracy(&items)), (10, (0.0, 0.0)));
    assert!(items.iter().all(|item| item["subject"].as_str().unwrap().starts_with("RylanSchaeffer/")));
}

#[test]
fn spans_are_the_same_in_each_form() {
    for (folder, name) in [
        ("otlp-protobuf", "genai.otlp.json"),
        ("otlp-protobuf", "genai.otlp.pb"),
        ("otlp-protobuf", "genai.console.jsonl"),
    ] {
        let items = imported(folder, name);
        let facts = ["tokens", "seconds", "calls", "tool_calls", "errors"]
            .map(|fact| items[0][fact].as_f64().unwrap());
        assert_eq!((items.len(), facts), (1, [375.0, 4.2, 2.0, 1.0, 1.0]), "{name}");
        assert_eq!(items[0]["outcome"], Value::Null);
    }
    // Two spans, one within the other, state the tokens of one call.
    let items = imported("otel-genai-traces", "k8s.jaeger.json");
    assert_eq!((sum(&items, "tokens"), sum(&items, "calls")), (2342.0, 1.0));
}

#[test]
fn every_other_published_log_is_read_or_says_why_not() {
    for (folder, items) in [
        ("langfuse-traces", 10),
        ("swe-agent-trajectories", 6),
        ("mini-swe-agent-v2", 2),
        ("tau2-results", 1),
    ] {
        let found = imported(folder, "");
        assert_eq!(found.len(), items, "{folder}");
        assert!(found.iter().all(|item| item["solved"].is_null()), "{folder}: none of them knows success");
    }
    let found = imported("junit-xml", "");
    assert_eq!(found.len(), 842);
    let folder = data("lm-eval-harness");
    let sums = files(&folder, ".json").remove(0).display().to_string();
    let refused = karat(&["import", &sums]);
    assert!(refused.status == 1 && refused.stderr.contains("--log_samples"), "{}", refused.stderr);
}
