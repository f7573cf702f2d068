//! Folders that lm-eval wrote: whose samples they are, and what of them is `solved`.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::{Importer, Input, Item, Options, Retries, Samples, detect, import};

const FIRST: &str = "2026-01-01T00-00-00.1";
const SECOND: &str = "2026-01-02T00-00-00.1";

/// Imports the files of a folder `run` together, and returns the items as `subject task solved`, and all that is said of them.
fn imported(files: &[(String, String)], score: Option<&str>) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    std::fs::create_dir(&path).unwrap();
    let log = |(name, text): &(String, String)| {
        std::fs::write(path.join(name), text).unwrap();
        let input = Input::file(path.join(name));
        let found = detect(&input).unwrap().expect(name);
        (input, found)
    };
    let logs: Vec<(Input, &'static Importer)> = files.iter().map(log).collect();
    let mut samples = Samples::default();
    logs.iter().for_each(|(log, importer)| samples.add(log, importer).unwrap());
    let options = Options {
        samples: Some(Arc::new(samples)),
        retries: Some(Arc::new(Retries::new(&logs))),
        score: score.map(str::to_owned),
        ..Options::default()
    };
    let (mut items, mut said) = (Vec::new(), Vec::new());
    for (log, importer) in &logs {
        let summary = import(log, importer, &options, &mut |item: Item<'_>| {
            let item: Value = serde_json::from_slice(item.json).unwrap();
            items.push(format!("{} {} {}", item["subject"], item["task"], item["solved"]).replace('"', ""));
            ControlFlow::Continue(())
        });
        let summary = summary.unwrap();
        assert!(summary.items + summary.elsewhere > 0, "{} is a log", log.name());
        said.extend(summary.notes);
        said.extend(summary.left_out.into_iter().map(|(reason, count)| format!("{count} {reason}")));
    }
    (items, said.join("\n").replace(&format!("{}/", path.display()), ""))
}

fn results(name: &str, moment: &str, task: &str, more: &Value) -> (String, String) {
    let mut text = json!({"results": {task: {}}, "configs": {}, "lm_eval_version": "0.4.13", "model_name": "org/m",
        "n-samples": {task: {"effective": 1}}});
    text.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    (format!("{name}_{moment}.json"), text.to_string().replace("\"NaN\"", "NaN"))
}

/// Returns a file of one document, after each filter, with these metrics.
fn samples(moment: &str, task: &str, filters: &[&str], metrics: &Value) -> (String, String) {
    let row = |filter: &&str| {
        let names: Vec<&String> = metrics.as_object().unwrap().keys().collect();
        let mut row = json!({"doc_id": 0, "doc": {}, "target": "", "arguments": {}, "filter": filter, "metrics": names});
        row.as_object_mut().unwrap().extend(metrics.as_object().unwrap().clone());
        row.to_string().replace("\"NaN\"", "NaN")
    };
    (format!("samples_{task}_{moment}.jsonl"), filters.iter().map(row).collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_results_of_a_run_are_those_of_its_moment_whatever_their_name() {
    let none = json!({});
    let toxic = json!({"higher_is_better": {"t": {"tox": false}}});
    let [acc, tox] = ["acc", "tox"].map(|name| samples(FIRST, "t", &["none"], &json!({name: 1})));
    let of = |name: &str, more: &Value| results(name, FIRST, "t", more);
    let other = results("y", SECOND, "t", &json!({"model_name": "org/n"}));
    for (files, item, told, untold) in [
        (vec![acc.clone(), of("results", &none)], "org/m t/0 1", "", "stand alone"),
        (vec![acc.clone(), of("x", &none), other.clone()], "org/m t/0 1", "", "stand alone"),
        (
            vec![tox.clone(), of("x", &toxic)],
            "org/m t/0 null",
            "the less `tox` is, the better",
            "stand alone",
        ),
        (
            vec![acc.clone(), other],
            "run t/0 1",
            "no results of their run (`*_2026-01-01T00-00-00.1.json`) lie beside samples, so the samples stand alone: their model is \
             taken to be `run`",
            "nothing says",
        ),
        (
            vec![acc, of("x", &none), of("y", &none)],
            "run t/0 1",
            "`x_2026-01-01T00-00-00.1.json` and 1 more beside samples are results of their moment",
            "nothing says",
        ),
        (vec![tox], "run t/0 1", "nothing says whether more or less of `tox` is better", "the better"),
    ] {
        let (items, said) = imported(&files, None);
        assert_eq!(items, [item], "{files:?}");
        assert!(said.contains(told) && !said.contains(untold), "{files:?}: {said}");
    }
}

#[test]
fn runs_with_other_settings_are_of_other_subjects() {
    let run = |moment: &str, more: &Value| {
        [samples(moment, "t", &["none"], &json!({"acc": 1})), results("results", moment, "t", more)]
    };
    let none = json!({});
    for (more, subjects) in [
        (json!({"n-shot": {"t": 5}}), ["org/m", "org/m (n-shot=5)"]),
        (json!({"n-shot": {"u": 5}}), ["org/m", "org/m"]),
        (
            json!({"config": {"model_args": "pretrained=org/m,load_in_4bit=True,device=cuda:1"}}),
            ["org/m", "org/m (load_in_4bit=True, pretrained=org/m)"],
        ),
        (json!({"config": {"gen_kwargs": {"temperature": 0.5}}}), ["org/m", "org/m (temperature=0.5)"]),
        (json!({"chat_template_sha": "0123456789abcdef"}), ["org/m", "org/m (chat_template_sha=01234567)"]),
        (
            json!({"config": {"limit": 1, "batch_size": 4}, "system_instruction_sha": null}),
            ["org/m", "org/m"],
        ),
    ] {
        let files = [run(FIRST, &none), run(SECOND, &more)].concat();
        let (items, said) = imported(&files, None);
        assert_eq!(items, subjects.map(|subject| format!("{subject} t/0 1")), "{more}");
        let is_pooled = said.contains("are separate evaluations of `t` by `org/m`, which count together");
        assert_eq!(is_pooled, subjects[0] == subjects[1], "{said}");
    }
}

#[test]
fn what_solved_is_and_why_it_is_missing_is_said_of_each_file() {
    let both = json!({"acc": 1, "acc_norm": 0});
    let lower = json!({"acc": 1, "ppl": 0.5});
    let of = |metrics: &Value, filters: &[&str]| samples(FIRST, "t", filters, metrics);
    let is_norm = "`solved` is the metric `acc_norm` of `acc`, `acc_norm`";
    let less = "whether a document was solved: the less `ppl` is, the better";
    for (file, score, solved, told, untold) in [
        (of(&both, &["none"]), Some("acc_norm"), "0", is_norm, "has no `"),
        (
            of(&json!({"acc": 1}), &["none"]),
            Some("acc_norm"),
            "null",
            "`samples_t_2026-01-01T00-00-00.1.jsonl` has no `acc_norm`, so `solved` is missing: it has `acc` after the filter `none`",
            "`solved` is the metric",
        ),
        (of(&both, &["a", "b"]), Some("acc_norm,b"), "0", "1 a sample after the filter `a`", "has no `"),
        (
            of(&both, &["a"]),
            Some("acc_norm,b"),
            "null",
            "1 `solved` of a sample that has no `acc_norm,b`",
            is_norm,
        ),
        (of(&lower, &["none"]), Some("ppl"), "null", less, "`solved` is"),
        (of(&lower, &["none"]), None, "1", "`solved` is the metric `acc` of `acc`, `ppl`", less),
        (
            of(&json!({}), &["none"]),
            Some("acc"),
            "null",
            "1 `solved` of a sample without a metric",
            "has no `",
        ),
        (
            of(&json!({"bypass": null}), &["none"]),
            None,
            "null",
            "1 `solved` of a sample without a metric",
            "bypass",
        ),
        (
            of(&json!({"acc": "NaN"}), &["none"]),
            None,
            "null",
            "1 a metric `acc` that is not a number\n",
            "alone",
        ),
        (
            of(&json!({"acc": 1, "mcc": [0, 1]}), &["none"]),
            None,
            "1",
            "1 a metric `mcc` that is not a number of the sample alone",
            "has no `",
        ),
    ] {
        let about = results("results", FIRST, "t", &json!({"higher_is_better": {"t": {"ppl": false}}}));
        let (items, said) = imported(&[file.clone(), about], score);
        assert_eq!(items, [format!("org/m t/0 {solved}")], "{file:?} {score:?}");
        assert!(said.contains(told) && !said.contains(untold), "{file:?} {score:?}: {said}");
    }
    let two = json!({"results": {"t": {"acc,none": "NaN"}, "u": {}}});
    let file = |moment: &str, task: &str| samples(moment, task, &["none"], &json!({"acc": 1}));
    let (_, said) = imported(&[file(FIRST, "t"), results("results", FIRST, "t", &two)], None);
    assert!(said.contains("states NaN as `acc,none` of `t`; its items give 1 over 1"), "{said}");
    // Samples of another run do not belong to these sums.
    for (moment, without) in [(FIRST, "without samples of `u`"), (SECOND, "without samples of `t`, `u`")] {
        let (_, said) = imported(&[file(FIRST, "t"), results("results", moment, "t", &two)], None);
        assert!(said.contains(without), "{said}");
    }
}
