//! Plans, event logs, references, moments.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use karat_evidence::Problems;
use karat_graders::workflow::{
    Budget, Log, LogTime, Plan, PlanRules, RESOLVED_BYTES_MAX, References, StepResult, Totals, account,
    dry_run, jump, resolve, settle, warm_up,
};
use serde_json::{Value, json};

use super::{HALF_PAIRS, SCRIPTS, deep, deep_texts, ends, numbers, ten_megabytes};

const MANY: usize = 100_000;

fn plan(text: &str) -> Result<Plan, Problems> {
    Plan::from_json(text.as_bytes(), &PlanRules::default()).map(|(plan, _)| plan)
}

fn nodes(ids: impl Iterator<Item = usize>) -> String {
    ids.map(|id| format!(r#"{{"id":"{id}"}}"#)).collect::<Vec<_>>().join(",")
}

fn edges(edges: impl Iterator<Item = (usize, usize)>) -> String {
    edges.map(|(from, to)| format!(r#"{{"from":"{from}","to":"{to}"}}"#)).collect::<Vec<_>>().join(",")
}

fn graph(ids: impl Iterator<Item = usize>, of: impl Iterator<Item = (usize, usize)>) -> String {
    format!(r#"{{"nodes":[{}],"edges":[{}]}}"#, nodes(ids), edges(of))
}

#[test]
fn a_hundred_thousand_nodes_in_a_row_with_a_cycle_at_the_end() {
    ends(|| {
        let chain = (1..MANY).map(|to| (to - 1, to));
        let row = plan(&graph(0..MANY, chain.clone())).unwrap();
        assert_eq!(row.tiers().count(), MANY);
        let back = chain.chain([(MANY - 1, MANY - 3)]);
        let refused = plan(&graph(0..MANY, back)).unwrap_err();
        assert_eq!(refused.len(), 1);
        assert!(refused.to_string().contains("`99997` -> `99998` -> `99999` -> `99997`"), "{refused}");
        let around = (0..MANY).map(|from| (from, (from + 1) % MANY));
        let refused = plan(&graph(0..MANY, around)).unwrap_err().to_string();
        assert!(refused.contains("more)") && refused.len() < 1000, "{refused}");
    });
}

#[test]
fn graphs_of_the_worst_forms() {
    const LESS: usize = 30_000;
    for (edges, is_plan) in [
        ((1..MANY).map(|from| (from, 0)).collect::<Vec<_>>(), true),
        ((1..MANY).map(|to| (0, to)).collect(), true),
        ((1..LESS).flat_map(|at| [(at, 0), (0, at)]).collect(), false),
        ((0..LESS).map(|from| (from, from ^ 1)).collect(), false),
        (vec![(0, 1); LESS], true),
        ((0..LESS).map(|at| (at, at)).collect(), false),
        ((0..LESS).map(|at| (at, at + MANY)).collect(), false),
        (numbers().zip(numbers().skip(1)).take(LESS).map(|(a, b)| (a % LESS, b % LESS)).collect(), false),
    ] {
        ends(move || {
            let nodes = if is_plan { MANY } else { LESS };
            let outcome = plan(&graph(0..nodes, edges.into_iter()));
            assert_eq!(outcome.is_ok(), is_plan);
            if let Err(problems) = outcome {
                assert!(problems.to_string().len() < 200_000);
            }
        });
    }
}

#[test]
fn ids_that_stand_a_hundred_thousand_times() {
    ends(|| {
        let refused = plan(&graph((0..MANY).map(|_| 7), std::iter::empty())).unwrap_err();
        assert_eq!(refused.len(), MANY - 1);
        let keys = r#""a":1,"#.repeat(MANY);
        assert!(plan(&format!(r#"{{{keys}"nodes":[{{"id":"a"}}]}}"#)).unwrap_err().len() >= MANY - 1);
        let handling: String =
            (0..MANY).map(|at| format!(r#""{at}":{{"retry_count":9007199254740991}},"#)).collect();
        let text = format!(r#"{{"error_handling":{{{handling}"z":null}},"nodes":[{{"id":"a"}}]}}"#);
        assert_eq!(plan(&text).unwrap().declared_retry_budget(), u64::MAX, "the sum stops there");
    });
}

#[test]
fn references_in_a_hundred_thousand_steps() {
    let with_references = |of: fn(usize) -> usize, edges: String| {
        let steps: Vec<String> = (0..MANY / 2)
            .map(|at| format!(r#"{{"id":"{at}","params":["${{{}.output.text}}"]}}"#, of(at)))
            .collect();
        format!(r#"{{"nodes":[{}],"edges":[{edges}]}}"#, steps.join(","))
    };
    ends(move || {
        // A row of steps, each of which refers to the first, to the one before, to itself, to one that is not there.
        let row = edges((1..MANY / 2).map(|to| (to - 1, to)));
        let noted = PlanRules { references: References::Noted, ..PlanRules::default() };
        let first: fn(usize) -> usize = |_| 0;
        for of in [first, |at| at.saturating_sub(1), |at| at, |at| at + MANY] {
            let text = with_references(of, row.clone());
            let (plan, notes) = Plan::from_json(text.as_bytes(), &noted).unwrap();
            assert!(notes.len() <= Problems::LISTED);
            let run = dry_run(&plan, &Budget::default());
            assert_eq!(run.steps_completed + run.hard_failures, run.steps_total);
            let log = Log::from_json(b"[]", &plan).unwrap().0;
            assert_eq!(account(&plan, &log, None).hard_failures, run.hard_failures);
        }
    });
    ends(move || {
        // No edges, so nothing lies before anything, and the answers are not worth a walk for each.
        let text = with_references(|at| (at + 1) % (MANY / 2), String::new());
        assert_eq!(plan(&text).unwrap_err().len(), MANY / 2);
    });
}

#[test]
fn long_texts_of_references() {
    for piece in ["${", "${a.output.", "${a.output.text}", "$${{", "${a.output.text${", "${é.output.text}}"]
    {
        ends(move || {
            let text = json!({"nodes": [{"id": "b", "params": {"p": piece.repeat(300_000)}}]}).to_string();
            let noted = PlanRules { references: References::Noted, ..PlanRules::default() };
            let (plan, notes) = Plan::from_json(text.as_bytes(), &noted).unwrap();
            assert_eq!(plan.steps().len(), 1);
            assert!(notes.len() <= Problems::LISTED);
        });
    }
}

#[test]
fn what_is_put_in_has_a_limit() {
    let results = |output: Value| -> BTreeMap<String, StepResult> {
        [("a".to_owned(), StepResult { is_success: true, output })].into()
    };
    ends(move || {
        let whole = results(json!({"text": ten_megabytes("x")}));
        let twice = json!("${a.output.text}${a.output.text}");
        assert!(resolve(twice, &whole).unwrap_err().to_string().contains("16 MiB"));
        // A short text that asks very often for a long one, or for one that has to be written out first.
        let often = json!("${a.output.o}".repeat(700_000));
        for long in
            [json!(ten_megabytes("x")), json!(vec![0; 1_000_000]), json!({"long enough": [[[]], 1e300]})]
        {
            assert!(resolve(often.clone(), &results(json!({"o": long}))).is_err());
        }
        let resolved = resolve(often, &results(json!({"o": [1e22, true]}))).unwrap();
        assert_eq!(resolved.as_str().map(str::len), Some(700_000 * "[1e+22, True]".len()));
        assert!(RESOLVED_BYTES_MAX > 700_000 * "[1e+22, True]".len());
    });
}

#[test]
fn parameters_are_deep() {
    ends(|| {
        let output = json!({"b": "found"});
        let results = BTreeMap::from([("a".to_owned(), StepResult { is_success: true, output })]);
        let params = deep(json!("${a.output.b}"), None);
        let resolved = ManuallyDrop::new(resolve(params, &results).unwrap());
        let mut bottom = &*resolved;
        while let Some(inner) = bottom.get(0) {
            bottom = inner;
        }
        assert_eq!(bottom, "found");
    });
}

#[test]
fn json_that_is_deep_or_no_text() {
    for text in deep_texts() {
        assert!(ends({
            let text = text.clone();
            move || plan(&text).is_err()
        }));
        let inside = format!(r#"{{"nodes":[{{"id":"a","params":{text}}}]}}"#);
        assert!(ends(move || plan(&inside).is_err()));
    }
    for half in HALF_PAIRS {
        for text in [
            format!(r#"{{"nodes":[{{"id":{half}}}]}}"#),
            format!(r#"{{"nodes":[{{"id":"a",{half}:1}}]}}"#),
            format!(r#"{{"nodes":[{{"id":"a","params":{half}}}]}}"#),
        ] {
            assert!(plan(&text).is_err(), "{text}");
        }
    }
}

#[test]
fn ids_in_every_script_and_of_ten_megabytes() {
    for script in SCRIPTS.into_iter().filter(|script| !script.trim().is_empty()) {
        let text = json!({"nodes": [{"id": script}, {"id": "b"}], "edges": [{"from": script, "to": "b"}],
                          "error_handling": {script: {"retry_count": 1}}});
        let plan = plan(&text.to_string()).unwrap();
        let log = json!([{"step": script, "outcome": "success"}]).to_string();
        let log = Log::from_json(log.as_bytes(), &plan).unwrap().0;
        assert_eq!(account(&plan, &log, None).steps_completed, 1, "{script:?}");
    }
    ends(|| {
        let id = ten_megabytes("क");
        let text =
            json!({"nodes": [{"id": id}, {"id": id}], "edges": [{"from": "x", "to": "y"}]}).to_string();
        let refused = plan(&text).unwrap_err().to_string();
        assert!(refused.len() < 2000, "ids are cut in messages");
        // Which of a hundred steps was meant is asked a hundred times.
        let edges = vec![json!({"from": "É".repeat(50_000), "to": "0"}); 100];
        let text = format!(r#"{{"nodes":[{}],"edges":{}}}"#, nodes(0..100), json!(edges));
        assert_eq!(plan(&text).unwrap_err().len(), 100);
    });
}

/// Returns a log of this many attempts at the steps of a plan, numbered, in reverse order.
fn attempts(count: usize, steps: usize) -> String {
    let mut records: Vec<String> = (0..count)
        .map(|at| {
            let (step, number) = (at % steps, at / steps + 1);
            let outcome = if at + steps >= count { "success" } else { ["failed", "timeout"][number % 2] };
            format!(r#"{{"step":"{step}","attempt":{number},"cost":0.001,"outcome":"{outcome}"}}"#)
        })
        .collect();
    records.reverse();
    format!("[{}]", records.join(","))
}

#[test]
fn logs_of_a_hundred_thousand_attempts() {
    for steps in [1, 10, MANY] {
        ends(move || {
            let plan = plan(&graph(0..steps, std::iter::empty())).unwrap();
            let log = Log::from_json(attempts(MANY, steps).as_bytes(), &plan).unwrap().0;
            let (run, _, contradictions) = settle(&plan, &log, &Totals::default());
            assert!(contradictions.is_empty());
            assert_eq!(run.steps_completed, Some(steps as u64));
            assert_eq!(run.actual_retries, Some((MANY - steps) as u64));
            assert!((run.actual_tao.unwrap() - 100.0).abs() < 1e-6);
        });
    }
    ends(|| {
        let plan = plan(&graph(0..10, std::iter::empty())).unwrap();
        let refused = |text: &str| Log::from_json(text.as_bytes(), &plan).unwrap_err();
        let same = vec![r#"{"step":"0","attempt":1,"outcome":"failed"}"#; MANY].join(",");
        assert!(refused(&format!("[{same}]")).len() >= MANY - 1);
        let unknown = vec![r#"{"step":"nearly a step","outcome":"succes"}"#; MANY].join(",");
        assert_eq!(refused(&format!("[{unknown}]")).len(), 2 * MANY);
        let costly = vec![r#"{"step":"0","outcome":"failed","cost":1e308}"#; 1000].join(",");
        assert!(refused(&format!("[{costly}]")).to_string().contains("beyond what a double holds"));
        assert!(!refused(r#"[{"step":"0","attempt":9007199254740991,"outcome":"failed"}]"#).is_empty());
    });
}

#[test]
fn moments_of_every_age_and_zone() {
    let moment = |text: &str| LogTime::parse(text);
    for text in [
        "+275760-09-13T00:00:00.000Z", "275760-09-13T00:00:00Z", "-000001-01-01T00:00:00Z",
        "2016-12-31T23:59:60Z", "2016-12-31T23:59:59.Z", "2016-12-31T24:00:00Z", "2023-02-29T00:00:00Z",
        "2026-03-18T09:30:00", "2026-03-18T09:30:00+24:00", "2026-03-18T09:30:00 +01:00",
        "２０２６-03-18T09:30:00Z", "2026-03-18T09:30:00\u{2212}01:00", "2026-03-18t09:30:00z", "",
        "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
    ] {
        assert!(moment(text).is_err(), "{text:?}");
    }
    let [first, last] = ["0000-01-01T23:59:00+23:59", "9999-12-31T00:00:59.999999999-23:59"].map(moment);
    assert_eq!(last.unwrap().seconds_since(first.unwrap()), 315_569_520_000.0);
    let zones =
        ["2026-03-18T09:30:00Z", "2026-03-18T15:15:00+05:45", "2026-03-17T21:30:00-12:00"].map(moment);
    assert!(zones.iter().all(|zone| zone.is_ok() && *zone == zones[0]));
    // No clock measures so finely; the digits are read all the same.
    let fine = ends(|| LogTime::parse(&format!("1970-01-01T00:00:00.{}Z", "1".repeat(10_000_000))));
    assert_eq!(fine, moment("1970-01-01T00:00:00.111111111Z"));

    let plan = plan(r#"{"nodes":[{"id":"a"},{"id":"b"}],"error_handling":{"a":{"timeout_seconds":1.7976931348623157e308}}}"#).unwrap();
    let log = br#"[{"step":"a","outcome":"success","start":"0000-01-01T23:59:00+23:59","end":"9999-12-31T00:00:59-23:59"},
        {"step":"b","outcome":"failed","start":"2026-03-18T09:30:00Z","end":"2026-03-18T09:30:00.000000001Z"}]"#;
    let run = account(&plan, &Log::from_json(log, &plan).unwrap().0, None);
    assert_eq!((run.actual_seconds, run.timeouts), (Some(315_569_519_999.0), Some(0)));
}

#[test]
fn numbers_that_are_none() {
    let plan = plan(r#"{"nodes":[{"id":"a"}]}"#).unwrap();
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, -f64::MIN_POSITIVE] {
        assert!(warm_up(number, 1, 1, 2).is_err());
        assert!(jump(&[number; 3], 0.5).is_err() && jump(&[0.5; 3], number).is_err());
        let budget = Budget { max_budget_tao: Some(number), total_estimated_cost_tao: Some(number) };
        assert!(dry_run(&plan, &budget).actual_tao.is_finite());
    }
    assert!(ends(|| jump(&vec![2.0; 1_000_000], 2.0)).is_err());
    for literal in ["1e999", "-1e999", "NaN", "Infinity", "1e-400", "0x10", "01", "9".repeat(1000).as_str()] {
        let text = format!(r#"{{"nodes":[{{"id":"a","estimated_cost":{literal}}}]}}"#);
        let is_small = literal == "1e-400";
        assert_eq!(Plan::from_json(text.as_bytes(), &PlanRules::default()).is_ok(), is_small, "{literal}");
    }
}
