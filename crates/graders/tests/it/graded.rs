//! Each row of `graded.json`: the facts that a grader computes from what is given, or why it refuses it.
//!
//! `KARAT_WRITE_FIXTURES=1 cargo test -p karat-graders --test it graded::` writes `told` again; read the difference.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use karat_evidence::Problems;
use karat_graders::arena::{Attempt, CELLS_MAX, CaseFile, Evaluator};
use karat_graders::execution::Compare;
use karat_graders::quality::{Evidence, Options, Task, TestResults, Tokenizer};
use karat_graders::workflow::{Log, Plan, PlanRules, References, account};
use serde_json::{Value, json};

/// Returns the problems as lines, each with its place.
fn refusal(problems: &Problems) -> Value {
    problems.iter().map(ToString::to_string).collect()
}

fn tasks(given: &Value) -> Result<Value, Problems> {
    let task = Task::load(given["type"].as_str().unwrap(), &given["reference"], Options::default())?;
    let grade = |output: &Value| {
        let evidence = Evidence { output: Some(output), ..Evidence::default() };
        task.grade(&evidence).map_or_else(|problems| refusal(&problems), |grade| grade.detail())
    };
    Ok(given["outputs"].as_array().unwrap().iter().map(grade).collect())
}

fn plans(given: &Value) -> Result<Value, Problems> {
    let references = match given["references"].as_str() {
        Some("noted") => References::Noted,
        Some("unread") => References::Unread,
        _ => References::Refused,
    };
    let names = |list: &Value| Some(serde_json::from_value(list.clone()).unwrap());
    let rules = match given["is_strict"].as_bool() {
        Some(true) => PlanRules {
            steps_max: Some(3),
            declared_retries_max: Some(10),
            subnet_and_action_required: true,
            allowed_subnets: names(&json!(["sn1", "sn4"])),
            references,
        },
        _ => PlanRules {
            allowed_subnets: given.get("allowed").and_then(names),
            references,
            ..PlanRules::default()
        },
    };
    let (plan, notes) = Plan::from_json(given["text"].as_str().unwrap().as_bytes(), &rules)?;
    let tiers: Vec<Vec<&str>> =
        plan.tiers().map(|tier| tier.map(|step| step.id.as_str()).collect()).collect();
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    Ok(json!({"tiers": tiers, "notes": notes}))
}

fn accounts(given: &Value) -> Result<Value, Problems> {
    let rules = PlanRules { references: References::Noted, ..PlanRules::default() };
    let (plan, _) = Plan::from_json(given["plan"].to_string().as_bytes(), &rules)?;
    let (log, _) = Log::from_json(given["log"].to_string().as_bytes(), &plan)?;
    Ok(json!(account(&plan, &log, given["budget_aborted"].as_bool())))
}

const PICKED: [&str; 3] = ["correctness", "completeness", "speed"];

fn parts(given: &Value) -> Result<Value, Problems> {
    let mut options = given["options"].clone();
    options["field"] = json!("f");
    let evaluator = Evaluator::from_json(&json!({"evaluator": {"correctness": [options]}}), &PICKED)?;
    let (submission, ground_truth) = (json!({"f": given["found"]}), json!({"f": given["truth"]}));
    let attempt = Attempt {
        submission: &submission,
        ground_truth: &ground_truth,
        used_seconds: 30.0,
        limit_seconds: 60.0,
        api_calls: Some(9),
    };
    let part = &json!(evaluator.evaluate(&attempt)?)["dimensions"][0]["parts"][0];
    Ok(json!({"value": part["value"], "outcome": part["outcome"]}))
}

fn told(what: &str, given: &Value) -> Value {
    let text = || given["text"].as_str().unwrap();
    let told = match what {
        "report" => TestResults::from_report(text()).map(|results| json!(results)),
        "task" => tasks(given),
        "stems" => Ok(json!(Tokenizer::Reference.tokens(text()).join(" "))),
        "plan" => plans(given),
        "account" => accounts(given),
        "part" => parts(given),
        "cases" => CaseFile::parse(text()).map(|file| json!(file.cases().len())),
        "evaluator" => Evaluator::from_toml(text(), &PICKED).map(|_| json!("an evaluator")),
        "compare" => {
            let compare: Compare = serde_json::from_value(given["compare"].clone()).unwrap();
            match compare.value(&given["found"], &given["expected"], CELLS_MAX) {
                Ok(value) => Ok(json!(value)),
                Err(error) => Ok(json!({"refused": error.to_string()})),
            }
        }
        other => panic!("nothing grades `{other}`"),
    };
    told.unwrap_or_else(|problems| json!({"refused": refusal(&problems)}))
}

#[test]
fn each_row_is_graded_as_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graded.json");
    let mut rows: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for row in rows.as_array_mut().unwrap() {
        let found = told(row["what"].as_str().unwrap(), &row["given"]);
        if row["told"] != found {
            wrong.push(format!("{}: {found:#}", row["name"]));
            row["told"] = found;
        }
    }
    if std::env::var_os("KARAT_WRITE_FIXTURES").is_some() {
        fs::write(&path, format!("{rows:#}\n")).unwrap();
    } else {
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
