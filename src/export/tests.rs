//! Exports are read back as the same facts; no name breaks a file or leaves the folder.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use karat_importers::{Input, Options, Samples, detect, import};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::engine::Engine;

/// Returns the records of items by the card `run`.
fn records(items: &[Value]) -> Vec<Record> {
    let mut engine = Engine::open("run").unwrap();
    items.iter().map(|item| engine.score(item.to_string().as_bytes()).unwrap()).collect()
}

fn exported(items: &[Value], target: Target) -> Export {
    let mut exporter = Exporter::default();
    records(items).iter().for_each(|record| exporter.add(record).unwrap());
    exporter.end(target)
}

/// Reads the files of an export as `karat import` does.
fn imported(export: &Export) -> Vec<Value> {
    let folder = std::env::temp_dir().join(format!("karat-export-{}-{:p}", std::process::id(), export));
    std::fs::create_dir_all(&folder).unwrap();
    let mut items = Vec::new();
    let mut samples = Samples::default();
    for file in &export.files {
        let path = folder.join(&file.name);
        assert_eq!(path.parent(), Some(folder.as_path()), "{:?} leaves the folder", file.name);
        std::fs::write(&path, &file.text).unwrap();
        let input = Input::file(&path);
        samples.add(&input, detect(&input).unwrap().unwrap()).unwrap();
    }
    let options = Options { samples: Some(Arc::new(samples)), ..Options::default() };
    for file in &export.files {
        let input = Input::file(folder.join(&file.name));
        let format = detect(&input).unwrap().unwrap_or_else(|| panic!("{} is not recognised", file.text));
        import(&input, format, &options, &mut |item| {
            items.push(serde_json::from_slice(item.json).unwrap());
            ControlFlow::Continue(())
        })
        .unwrap_or_else(|error| panic!("{error:?}\n{}", file.text));
    }
    std::fs::remove_dir_all(&folder).unwrap();
    items
}

/// The facts that each format must keep, by subject and attempt.
fn facts(items: &[Value], names: &[&str]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for item in items {
        let kept: Vec<String> = names
            .iter()
            .map(|name| match &item[*name] {
                Value::Number(number) => format!("{:.9}", number.as_f64().unwrap()),
                value => value.to_string(),
            })
            .collect();
        *all.entry(kept.join(" ")).or_default() += 1;
    }
    all
}

fn runs() -> Vec<Value> {
    vec![
        json!({"subject": "org/model-a", "task": "bench/one", "id": "1", "time": "2026-05-01T00:00:00Z", "outcome": "succeeded",
               "solved": 1, "cost_usd": 0.25, "seconds": 12.5, "tokens": 1200}),
        json!({"subject": "org/model-a", "task": "bench/one", "id": "2", "time": "2026-05-01T01:00:00Z", "outcome": "failed",
               "solved": 0, "cost_usd": 0.5, "seconds": 0.125, "tokens": 7}),
        json!({"subject": "org/model-a", "task": "bench/two/deep", "id": "3", "outcome": "stopped", "solved": 0.25, "seconds": 60}),
        json!({"subject": "b", "task": "plain", "id": "4", "solved": 0.5}),
        json!({"subject": "b", "task": "other/x", "id": "5", "outcome": "no-verdict", "time": "2026-05-02T00:00:00Z"}),
    ]
}

#[test]
fn a_round_trip_gives_the_same_facts() {
    let all = ["subject", "outcome", "solved", "cost_usd", "seconds", "tokens", "time"];
    for target in Target::ALL {
        let export = exported(&runs(), target);
        let back = imported(&export);
        let mut given = runs();
        if target == Target::EveryEvalEver {
            given.retain(|item| item["outcome"] != "no-verdict");
            assert_eq!(export.left_out.values().sum::<u64>(), 1);
        }
        assert_eq!(export.items, given.len() as u64, "{target:?}");
        assert_eq!(facts(&back, &all), facts(&given, &all), "{target:?}");
        // A sample of Inspect has a separate id.
        let named: &[&str] = if target == Target::Inspect { &["subject", "task"] } else { &["id", "task"] };
        assert_eq!(facts(&back, named), facts(&given, named), "{target:?}");
    }
}

#[test]
fn the_order_of_records_changes_nothing() {
    let mut turned = runs();
    turned.reverse();
    for target in Target::ALL {
        assert_eq!(exported(&runs(), target), exported(&turned, target), "{target:?}");
    }
}

#[test]
fn a_record_of_means_is_that_of_its_samples() {
    let export = exported(&runs(), Target::EveryEvalEver);
    let record =
        export.files.iter().find(|file| file.name.starts_with("org-model-a") && file.name.ends_with(".json"));
    let record: Value = serde_json::from_str(&record.unwrap().text).unwrap();
    // The mean over samples: one was tried twice.
    assert_eq!(record["evaluation_results"][0]["score_details"]["score"], 0.375);
    let samples = record["detailed_evaluation_results"]["file_path"].as_str().unwrap();
    let file = export.files.iter().find(|file| file.name == samples).unwrap();
    let digest = Digest::of(file.text.as_bytes()).to_string();
    assert_eq!(
        digest,
        format!("sha256:{}", record["detailed_evaluation_results"]["checksum"].as_str().unwrap())
    );
    assert_eq!(file.text.lines().count(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn names_of_files_stay_in_the_folder_and_apart(one in ".{0,40}", other in ".{0,40}") {
        let names = [file_name(&[&one]), file_name(&[&other])];
        for name in &names {
            prop_assert!(!name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']), "{name:?}");
        }
        prop_assert!((names[0] == names[1]) == (one == other), "{names:?}");
    }

    #[test]
    fn a_round_trip_keeps_scores_and_outcomes(
        cells in prop::collection::vec((0usize..2, 0usize..4, prop::option::of(0u8..=4), 0usize..4), 1..20),
    ) {
        let outcomes = [None, Some("succeeded"), Some("failed"), Some("stopped")];
        let items: Vec<Value> = cells.iter().enumerate().map(|(at, (subject, task, score, outcome))| {
            let mut item = json!({"subject": format!("s{subject}"), "task": format!("b/{task}"), "id": at.to_string()});
            if let Some(score) = score {
                item["solved"] = json!(f64::from(*score) / 4.0);
            }
            if let Some(outcome) = outcomes[*outcome] {
                item["outcome"] = json!(outcome);
            }
            item
        }).collect();
        let given: Vec<Value> = items.iter().filter(|item| {
            !item["solved"].is_null() || ["failed", "stopped"].contains(&item["outcome"].as_str().unwrap_or_default())
        }).cloned().collect();
        let export = exported(&items, Target::EveryEvalEver);
        let back = imported(&export);
        prop_assert_eq!(back.len(), given.len());
        let score = |item: &Value| item["solved"].as_f64().map_or("none".to_owned(), |it| it.to_string());
        let all = |items: &[Value]| -> BTreeMap<String, String> {
            items.iter().map(|it| (it["id"].to_string(), format!("{} {}", it["subject"], score(it)))).collect()
        };
        prop_assert_eq!(all(&back), all(&given));
        for item in given.iter().filter(|item| !item["outcome"].is_null()) {
            let own = back.iter().find(|it| it["id"] == item["id"]).unwrap();
            prop_assert_eq!(&own["outcome"], &item["outcome"]);
        }
        for file in export.files.iter().filter(|file| file.name.ends_with(".json")) {
            let record: Value = serde_json::from_str(&file.text).unwrap();
            let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for item in given.iter().filter(|item| item["subject"] == record["model_info"]["id"]) {
                tasks.entry(item["task"].as_str().unwrap()).or_default().push(item["solved"].as_f64().unwrap_or(0.0));
            }
            let details = &record["evaluation_results"][0]["score_details"];
            prop_assert_eq!(&details["uncertainty"]["num_samples"], &json!(tasks.len()));
            let means = tasks.values().map(|own| own.iter().sum::<f64>() / own.len() as f64).sum::<f64>();
            prop_assert!((details["score"].as_f64().unwrap() - means / tasks.len() as f64).abs() < 1e-9);
        }
    }

    #[test]
    fn no_name_breaks_an_export(subject in "[-a-z/.\"\\\\<>{}: ]{1,20}[a-z]", sample in "[a-z/.\"\\\\{}: ]{0,10}[a-z]") {
        let item = json!({"subject": format!("a{subject}"), "task": format!("t{sample}"), "id": "1", "solved": 0.5});
        // A name that the reader of evidence refuses is not a subject.
        let mut engine = Engine::open("run").unwrap();
        prop_assume!(engine.score(item.to_string().as_bytes()).is_ok());
        for target in Target::ALL {
            let back = imported(&exported(std::slice::from_ref(&item), target));
            prop_assert_eq!(back.len(), 1);
            prop_assert_eq!(&back[0]["solved"], &json!(0.5));
        }
    }
}
