//! The exercises of `examples/judge`, and their answers.

use std::collections::{BTreeMap, BTreeSet};

use karat_graders::arena::{Attempt, Evaluation, Evaluator, Judging};
use karat_graders::execution::Judge;
use serde_json::{Value, json};

use super::{base64, examples, read, text};

/// Those whose answers are Python.
pub const PYTHON: [&str; 7] =
    ["free-slots", "formula", "spread", "roll-call", "pell", "sensor-log", "vending"];
/// Those whose answers are JavaScript.
pub const JAVASCRIPT: [&str; 1] = ["newest"];
/// Those whose answers are modules.
pub const MODULES: [&str; 2] = ["shifts", "till"];
/// Those whose answers are routes.
pub const ROUTES: [&str; 1] = ["maze"];

/// Returns the folders of all exercises.
pub fn all() -> BTreeSet<String> {
    let folders = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap());
    folders
        .filter(|entry| entry.path().join("challenge.toml").exists())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// Returns the names of the wrong answers: those of their sources.
pub fn wrong(folder: &str) -> Vec<String> {
    let files = std::fs::read_dir(examples().join(folder)).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let stems = names.filter_map(|name| Some(name.split_once('.')?.0.to_owned()));
    stems.filter(|stem| stem.starts_with("wrong-")).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns what evaluates an exercise.
pub fn evaluator(folder: &str) -> Evaluator {
    let files =
        |file: &str| std::fs::read(examples().join(folder).join(file)).map_err(|error| error.to_string());
    let dimensions = ["correctness", "completeness", "speed"];
    Evaluator::from_toml_with(&text(&format!("{folder}/challenge.toml")), &dimensions, &files).unwrap()
}

fn answer(folder: &str, stem: &str, evaluator: &Evaluator) -> Value {
    if ROUTES.contains(&folder) {
        return serde_json::from_slice(&read(&format!("{folder}/{stem}.json"))).unwrap();
    }
    let (runtime, paths) = evaluator.submission().unwrap();
    let file = match runtime {
        "wasm" => base64(&read(&format!("{folder}/{stem}.wasm"))),
        "javascript" => text(&format!("{folder}/{stem}.js")),
        _ => text(&format!("{folder}/{stem}.py")),
    };
    evaluator.answer_of(&BTreeMap::from([(paths[0].to_owned(), file)]))
}

/// Evaluates an answer by a judge.
pub fn evaluate(folder: &str, stem: &str, judge: &dyn Judge) -> Evaluation {
    let evaluator = evaluator(folder);
    let maze: Vec<String> = text("maze/maze.txt").lines().map(str::to_owned).collect();
    let attempt = Attempt {
        submission: &answer(folder, stem, &evaluator),
        ground_truth: &json!({ "maze": maze }),
        used_seconds: 0.0,
        limit_seconds: 60.0,
        api_calls: None,
    };
    let judging = Judging { judge: Some(judge), seed: 7, rest: Some(&json!({})) };
    evaluator
        .evaluate_by(&attempt, &judging)
        .unwrap_or_else(|problems| panic!("{folder}, {stem}: {problems}"))
}
