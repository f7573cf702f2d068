//! Tests of the join of trajectories with reports.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::{Importer, Options, import};

fn report(name: &str, resolved: &[&str], unresolved: &[&str]) -> Input {
    let all: Vec<&&str> = resolved.iter().chain(unresolved).collect();
    let text =
        serde_json::json!({"submitted_ids": all, "resolved_ids": resolved, "unresolved_ids": unresolved});
    Input::memory(name, text.to_string().into_bytes())
}

/// Returns a trajectory, of mini-SWE-agent if it names a model.
fn trajectory(name: &str, model: Option<&str>) -> (Input, &'static Importer) {
    let mut log = serde_json::json!({"info": {"exit_status": "submitted"}, "trajectory": []});
    let mut format = Importer::named("swe-agent").unwrap();
    if let Some(model) = model {
        log["info"]["config"]["model"]["model_name"] = model.into();
        log["messages"] = serde_json::json!([{"role": "user", "content": "u"}]);
        format = Importer::named("mini-swe-agent").unwrap();
    }
    (Input::memory(name, log.to_string().into_bytes()), format)
}

/// Returns what became of each trajectory and of each verdict that none took, and what is reported.
fn joined(
    reports: &[Input],
    runs: &[(Input, &'static Importer)],
) -> Result<(Vec<Value>, Vec<String>), ImportError> {
    let mut verdicts = Verdicts::default();
    reports.iter().try_for_each(|report| verdicts.add(report))?;
    let verdicts = Arc::new(verdicts);
    let options = Options { verdicts: Some(Arc::clone(&verdicts)), ..Options::default() };
    let mut solved = Vec::new();
    let format = Importer::named("swe-bench").unwrap();
    let rest = reports.iter().map(|report| (report, &format));
    for (input, format) in runs.iter().map(|(input, format)| (input, format)).chain(rest) {
        import(input, format, &options, &mut |item| {
            let item: Value = serde_json::from_slice(item.json).unwrap();
            solved.push(item["solved"].clone());
            ControlFlow::Continue(())
        })?;
    }
    Ok((solved, verdicts.notes()))
}

#[test]
fn a_report_is_about_the_model_in_its_name() {
    // The name of the report, the model and the folder of the trajectory; whether it takes the verdict, and with a word.
    let cases: [(&str, Option<&str>, &str, Match); 22] = [
        ("honest__model.run.json", Some("honest/model"), "t", Match::Proven),
        ("honest__model.run.json", Some("cheat/model"), "t", Match::Another),
        ("honest__model.run.json", Some("model"), "t", Match::Proven),
        ("honest__model.run.json", Some("Honest/Model"), "t", Match::Proven),
        ("model.run.json", Some("honest/model"), "t", Match::Proven),
        ("model.run.json", Some("model-2"), "t", Match::Another),
        ("gpt-4.1.run.json", Some("gpt-4.1"), "t", Match::Proven),
        ("gpt-4.1.run.json", Some("gpt-4"), "t", Match::Another),
        ("gpt-4.20250101.json", Some("gpt-4"), "t", Match::Proven),
        ("claude-haiku-4.5.claude-haiku-4.5-full.json", Some("claude-haiku-4.5"), "t", Match::Proven),
        ("claude-haiku-4.5.claude-haiku-4.5-full.json", Some("claude-haiku-4"), "t", Match::Another),
        ("m.v1.2.json", Some("m"), "t", Match::Proven),
        ("report.json", Some("m"), "t", Match::Unproven),
        ("swe-bench_verified__test__run.7.json", Some("m"), "t", Match::Unproven),
        ("m.run.json", None, "t", Match::Unproven),
        ("m.run.json", None, "runs/m/x__y-1", Match::Proven),
        ("m.run.json", Some("other"), "runs/m/x__y-1", Match::Proven),
        ("honest__model.run.json", None, "model", Match::Unproven),
        ("default__openai--gpt-5__t-0.00__p-1.00.run.json", Some("openai/gpt-5"), "t", Match::Proven),
        ("default__openai--gpt-5__t-0.00__p-1.00.run.json", Some("openai/gpt-4"), "t", Match::Another),
        ("logs/run/m/x__y-1/report.json", Some("m"), "t", Match::Proven),
        ("logs/run/m/x__y-1/report.json", Some("n"), "t", Match::Another),
    ];
    for (name, model, folder, expected) in cases {
        let report = if name.ends_with("/report.json") {
            Input::memory(name, br#"{"x__y-1": {"resolved": true}}"#.to_vec())
        } else {
            report(name, &["x__y-1"], &[])
        };
        let run = trajectory(&format!("{folder}/x__y-1.traj"), model);
        let (solved, notes) = joined(&[report], &[run]).unwrap();
        let is_taken = solved == [Value::from(1)];
        let says = notes.iter().any(|note| note.contains("its verdicts went to"));
        let found = match (is_taken, says) {
            (true, false) => Match::Proven,
            (true, true) => Match::Unproven,
            (false, _) => Match::Another,
        };
        assert_eq!(found, expected, "{name} {model:?} {folder}: {notes:?}");
        assert_eq!(notes.iter().any(|note| note.contains("without a trajectory")), !is_taken, "{notes:?}");
    }
}

#[test]
fn a_verdict_without_a_trajectory_is_told() {
    let good = report("m.run.json", &["a", "b"], &["c", "d"]);
    let runs = [trajectory("a.traj", Some("m")), trajectory("b.traj", Some("m"))];
    let (solved, notes) = joined(std::slice::from_ref(&good), &runs).unwrap();
    assert_eq!(solved, [1, 1, 0, 0]);
    let told =
        "`m.run.json` has 2 verdicts without a trajectory (2 failed): `c`, `d`; they count as runs of `m`";
    assert_eq!(notes, [told]);
    let (_, notes) = joined(&[good], &[trajectory("a.traj", Some("cheat"))]).unwrap();
    assert_eq!(
        notes,
        [
            "`m.run.json` has 4 verdicts without a trajectory (2 failed, 2 succeeded): `a`, `b`, `c`, `d`; it is \
             about `m`, and there are trajectories of `cheat`"
        ]
    );
    let many: Vec<String> = (0..40).map(|at| format!("x-{at:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (_, notes) =
        joined(&[report("m.r.json", &[], &many)], &[trajectory("x-00.traj", Some("m"))]).unwrap();
    assert!(notes[0].contains("`x-10` and 29 more;"), "{notes:?}");
}

#[test]
fn a_verdict_is_taken_once_and_of_one_model() {
    let one = report("report.json", &["a"], &["b"]);
    let refused = |reports: &[Input], runs: &[(Input, &'static Importer)]| {
        joined(reports, runs).unwrap_err().to_string()
    };
    let twice = [trajectory("x/a.traj", None), trajectory("y/a.traj", None)];
    assert_eq!(
        refused(std::slice::from_ref(&one), &twice),
        "y/a.traj: $.info: found another run of `a` than `x/a.traj`, while `report.json` has one verdict, expected one \
         trajectory for each verdict; import the runs of each report apart"
    );
    let mixed = [trajectory("a.traj", Some("m")), trajectory("b.traj", Some("n"))];
    assert_eq!(
        refused(std::slice::from_ref(&one), &mixed),
        "b.traj: $.info: found a trajectory of `n` beside one of `m`, and `report.json` does not name the model that it \
         is about, expected trajectories of one model; call the report MODEL.RUN.json, or import the runs of each \
         report apart"
    );
    let both = [report("m.1x.json", &["a"], &[]), report("m.2x.json", &[], &["a"])];
    let found = refused(&both, &[trajectory("a.traj", Some("m"))]);
    assert!(found.contains("`a` as succeeded in `m.1x.json`, and as failed in `m.2x.json`"), "{found}");
    // Of each model its own report.
    let both = [report("m.run.json", &["a"], &[]), report("n.run.json", &[], &["a"])];
    let runs = [trajectory("x/a.traj", Some("m")), trajectory("y/a.traj", Some("n"))];
    assert_eq!(joined(&both, &runs).unwrap().0, [1, 0]);
}

proptest! {
    #[test]
    fn each_verdict_is_taken_or_told(
        cells in prop::collection::vec((0usize..3, 0usize..6, any::<bool>(), any::<bool>(), any::<bool>()), 0..24),
        order in any::<prop::sample::Index>(),
    ) {
        let mut table: BTreeMap<(usize, usize), (bool, bool, bool)> = BTreeMap::new();
        table.extend(cells.iter().map(|(model, id, a, b, c)| ((*model, *id), (*a, *b, *c))));
        let ids: Vec<String> = (0..6).map(|id| format!("x__y-{id}")).collect();
        let mut reports: Vec<Input> = (0..3).map(|model| {
            let pick = |wanted: bool| -> Vec<&str> {
                table.iter().filter(|((own, _), (has, is, _))| *own == model && *has && *is == wanted)
                    .map(|((_, id), _)| ids[*id].as_str()).collect()
            };
            report(&format!("org__m{model}.run.json"), &pick(true), &pick(false))
        }).collect();
        let mut runs: Vec<((Input, &'static Importer), Value)> = table.iter().filter(|(_, (_, _, is_run))| *is_run)
            .map(|((model, id), (has, is, _))| {
                let run = trajectory(&format!("r{model}/{}.traj", ids[*id]), Some(&format!("org/m{model}")));
                (run, if *has { Value::from(u8::from(*is)) } else { Value::Null })
            }).collect();
        reports.rotate_left(order.index(3));
        if !runs.is_empty() {
            let at = order.index(runs.len());
            runs.rotate_left(at);
        }
        let (runs, expected): (Vec<_>, Vec<Value>) = runs.into_iter().unzip();
        let (solved, notes) = joined(&reports, &runs).unwrap();
        let (of_runs, rest) = solved.split_at(expected.len());
        prop_assert_eq!(of_runs, &expected[..]);
        // Beside the trajectories of a model, the verdicts that none of them took are runs of it.
        let joined = |model: usize| table.iter().any(|((own, _), (has, _, is_run))| *own == model && *has && *is_run);
        let left = table.iter().filter(|((own, _), (has, _, is_run))| *has && !is_run && joined(*own)).count();
        prop_assert_eq!(rest.len(), left);
        for ((model, id), (has, _, is_run)) in &table {
            let is_told = notes.iter().any(|note| {
                note.starts_with(&format!("`org__m{model}.run.json` has")) && note.contains(&format!("`{}`", ids[*id]))
            });
            prop_assert_eq!(is_told, *has && !is_run);
        }
    }
}
