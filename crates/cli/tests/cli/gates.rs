//! Gates from outside: what fails, with which status and which line; the tasks that changed, all of them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Folder, example, karat};
use crate::leaderboard::{CARD, RUNS, passing, table};

const BASE: &str = "examples/compare/base.csv";
const NEW: &str = "examples/compare/new.csv";

/// Compares the tables `base` and `new`, rows of `subject task outcome solved`; returns status, answer and standard error.
fn compared(base: &str, new: &str, flags: &str) -> (i32, Value, String) {
    let folder = Folder::new();
    folder.write("card.toml", &example("cards/task-run.toml"));
    folder.write("base.csv", &table(base));
    folder.write("new.csv", &table(new));
    let line = format!("compare base.csv new.csv --card card.toml {flags}");
    let run = folder.karat(&line.split_whitespace().collect::<Vec<_>>());
    (run.status, serde_json::from_str(&run.stdout).unwrap_or_default(), run.stderr)
}

fn names(answer: &Value, list: &str) -> BTreeSet<String> {
    let all = answer["changes"][list].as_array().into_iter().flatten();
    all.filter_map(|it| it["task"].as_str().map(str::to_owned)).collect()
}

#[test]
fn each_subject_of_two_files_is_compared_with_itself() {
    let run = karat(&["compare", BASE, NEW, "-c", CARD, "--fail-if-worse", "--json"]);
    assert_eq!(run.status, 16);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["schema"], "karat/comparisons/2");
    let subjects = answer["comparisons"].as_array().unwrap().iter();
    let found: Vec<_> =
        subjects.map(|it| (it["first"]["subject"].as_str(), it["gate"]["finding"].as_str())).collect();
    assert_eq!(found, [(Some("heron"), Some("open")), (Some("ibis"), Some("worse"))]);
    assert_eq!((&answer["only_first"][0], &answer["only_second"][0]), (&"kite".into(), &"wren".into()));
    // Two under one gate: each at 97.5 %.
    assert_eq!(answer["comparisons"][1]["gate"]["level"], 0.975);
    assert_eq!(run.stderr.lines().count(), 2, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("inconclusive: `kite` is only in the first, so nothing of it is shown; status 12")
    );
    for part in
        ["failed: `ibis` is worse than before by 22.2 points over 28 tasks", "97.5% interval", "status 16"]
    {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    // One subject has the same numbers in a comparison by itself.
    let alone = karat(&["compare", BASE, NEW, "-c", CARD, "--where", "subject=ibis", "--json"]);
    let alone: Value = serde_json::from_str(&alone.stdout).unwrap();
    for member in ["dimensions", "passes", "changes", "power"] {
        assert_eq!(alone[member], answer["comparisons"][1][member], "{member}");
    }
    // By itself it needs no more than 95 %.
    assert_eq!(
        (&alone["difference"]["level"], &answer["comparisons"][1]["difference"]["level"]),
        (&0.95.into(), &0.975.into())
    );
    assert_eq!(alone["gate"], Value::Null);
}

#[test]
fn files_without_a_common_subject_are_refused_with_their_names() {
    let folder = Folder::new();
    folder.write("card.toml", &example("cards/task-run.toml"));
    folder.write("one.csv", &table(&[passing("a", 3, 7), passing("b", 3, 7)].concat()));
    folder.write("two.csv", &table(&[passing("c", 3, 7), passing("d", 3, 7)].concat()));
    let run = folder.karat(&["compare", "one.csv", "two.csv", "-c", "card.toml"]);
    assert_eq!(run.status, 1);
    for part in ["share no subject", "`one.csv` has `a` and `b`", "`two.csv` has `c` and `d`", "--rename"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let renamed = ["compare", "one.csv", "two.csv", "-c", "card.toml", "--rename", "a=c", "--json"];
    let answer: Value = serde_json::from_str(&folder.karat(&renamed).stdout).unwrap();
    assert_eq!(answer["comparisons"].as_array().map(Vec::len), Some(1));
    assert_eq!((&answer["only_first"][0], &answer["only_second"][0]), (&"b".into(), &"d".into()));
}

#[test]
fn a_gate_fails_on_what_the_interval_says_and_strict_on_what_it_does_not_say() {
    let (all, lost) = (passing("a", 40, 40), passing("a", 28, 40));
    let cases = [
        // 30 points worse, by 17 to 45.
        (&all, &lost, "", 0),
        (&all, &lost, "--fail-if-worse", 16),
        (&all, &lost, "--fail-if-worse 5", 16),
        (&all, &lost, "--fail-if-worse=30", 0),
        (&all, &lost, "--fail-if-worse 30 --strict", 12),
        (&all, &lost, "--fail-if-worse 60 --strict", 0),
        (&lost, &all, "--fail-if-worse --strict", 0),
        // Nothing changed: by at most 8.9 points with 40 tasks.
        (&all, &all, "--fail-if-worse", 0),
        (&all, &all, "--fail-if-worse 5 --strict", 12),
        (&all, &all, "--fail-if-worse 12 --strict", 0),
    ];
    for (base, new, flags, status) in cases {
        let (found, answer, stderr) = compared(base, new, &format!("{flags} --count stopped=failure"));
        assert_eq!(found, status, "{flags}: {stderr}");
        assert_eq!(stderr.lines().count(), usize::from(status > 0), "{flags}: {stderr}");
        assert!(status == 0 || stderr.trim_end().ends_with(&format!("status {status}")), "{stderr}");
        assert_eq!(answer["gate"].is_null(), flags.is_empty());
        assert!(answer["gate"].is_null() || answer["gate"]["passed"] == (status == 0));
    }
    // Four tasks say nothing, however bad.
    let (few, none) = (passing("a", 4, 4), passing("a", 0, 4));
    assert_eq!(compared(&few, &none, "--fail-if-worse").0, 0);
    let (status, _, stderr) = compared(&few, &none, "--fail-if-worse 5 --strict");
    assert!(status == 12 && stderr.contains("share 4 tasks, too few"), "{stderr}");
    for wrong in ["--strict", "--fail-if-worse 101", "--fail-if-worse=-1", "--fail-if-worse much"] {
        assert!([1, 2].contains(&compared(&few, &none, wrong).0), "{wrong}");
    }
}

/// A run could pass by leaving out the tasks that it lost.
#[test]
fn tasks_and_subjects_that_are_gone_are_named_and_pass_no_strict_gate() {
    let base = passing("a", 40, 40);
    let strict = "--fail-if-worse 20 --strict";
    let ended = |outcome: &str| -> String {
        let lost = |task: usize| format!("a t{task:02} {outcome} -\n");
        passing("a", 30, 30) + &(30..40).map(lost).collect::<String>()
    };
    for new in [passing("a", 30, 30), ended("no-verdict"), ended("succeeded")] {
        let (status, answer, stderr) = compared(&base, &new, strict);
        assert_eq!((status, stderr.lines().count()), (12, 1), "{stderr}");
        assert!(
            stderr.contains("10 tasks of 40 of ") && stderr.contains("that counts: `t30`, `t31`"),
            "{stderr}"
        );
        assert_eq!(answer["changes"]["missing"].as_array().map(Vec::len), Some(10));
        assert_eq!(answer["gate"]["passed"], false);
        // Ten that all failed would be a loss of 25 points: a gate decides as if they had, too.
        let (status, answer, stderr) = compared(&base, &new, "--fail-if-worse 5");
        assert!(status == 12 && stderr.contains("10 results that it lacks"), "{stderr}");
        assert_eq!(
            (&answer["gate"]["passed"], &answer["gate"]["missing_results"]),
            (&false.into(), &10.into())
        );
        let (status, answer, stderr) = compared(&base, &new, "--fail-if-worse 60");
        assert!(status == 0 && stderr.starts_with("warning: 10 tasks of 40"), "{stderr}");
        assert_eq!(
            (&answer["gate"]["passed"], &answer["gate"]["results_needed"]),
            (&true.into(), &Value::Null)
        );
        let (status, _, stderr) = compared(&base, &new, "");
        assert_eq!((status, stderr.as_str()), (0, ""));
    }
    // Of a gate that is undecided anyway, too.
    let (status, _, stderr) =
        compared(&passing("a", 20, 40), &passing("a", 16, 30), "--fail-if-worse 1 --strict");
    assert_eq!((status, stderr.lines().count()), (12, 1), "{stderr}");
    assert!(stderr.contains("is not worse") && stderr.contains("; 10 tasks of 40 of "), "{stderr}");
    // More attempts at the others hide nothing.
    let attempts = passing("a", 30, 30).repeat(5);
    let (status, _, stderr) = compared(&base, &attempts, strict);
    assert!(status == 12 && stderr.contains("10 tasks of 40 of "), "{stderr}");
    // A gate does not fail because there are more tasks than before.
    assert_eq!(compared(&passing("a", 30, 30), &base, strict).0, 0);
    let two = [base.clone(), passing("b", 0, 40)].concat();
    let renamed = [base.clone(), passing("c", 40, 40), passing("d", 0, 40)].concat();
    let (status, _, stderr) = compared(&two, &renamed, strict);
    assert!(
        status == 12 && stderr.contains("`b` is only in the first, so nothing of it is shown"),
        "{stderr}"
    );
    let (status, _, stderr) = compared(&two, &renamed, "--fail-if-worse 12");
    assert!(status == 12 && stderr.starts_with("inconclusive: `b` is only in the first"), "{stderr}");
}

/// On a scale to 100, 0.8 is not 80 %.
#[test]
fn a_share_in_place_of_points_is_told_by_every_gate() {
    let folder = Folder::new();
    folder.write("card.toml", &example("cards/task-run.toml"));
    folder.write("new.csv", &example("compare/new.csv"));
    folder.write("base.csv", &example("compare/base.csv"));
    let of_project = |gate: &str| {
        let head = "card = \"card.toml\"\ninputs = [\"new.csv\"]\nbaseline = \"base.csv\"\n";
        folder.write("karat.toml", &format!("{head}as_of = \"2026-12-31\"\n{gate}"));
    };
    let floor =
        "warning: a floor of 0.8 is almost nothing on a scale from 0 to 100; for that share of it give 80\n";
    let margin =
        "warning: a margin of 0.02 is almost nothing on a scale from 0 to 100; for that share of it give 2\n";
    let given = "-c card.toml new.csv --fail-under";
    for (line, gate, expected) in [
        (format!("score {given} 0.8"), "", floor),
        (format!("leaderboard {given} 0.8"), "", floor),
        (format!("standing --as-of 2026-12-31 {given} 0.8"), "", floor),
        (String::from("compare base.csv new.csv -c card.toml --fail-if-worse 0.02"), "", margin),
        (String::from("check"), "[gate]\nfail_under = 0.8\n", floor),
        (String::from("check"), "[gate]\nfail_if_worse = 0.02\n", margin),
        (String::from("check"), "[gate.items]\nfail_under = 0.8\n", floor),
        (String::from("check"), "[gate.standing]\nfail_under = 0.8\n", floor),
    ] {
        of_project(gate);
        let run = folder.karat(&line.split_whitespace().collect::<Vec<_>>());
        assert!(run.stderr.contains(expected), "{line} {gate}: {}", run.stderr);
        if line == "check" {
            let run = folder.karat(&["check", "--format", "json"]);
            let answer: Value = serde_json::from_str(&run.stdout).unwrap();
            let note = expected.trim_start_matches("warning: ").trim_end();
            assert!(
                answer["notes"].as_array().unwrap().contains(&note.into()),
                "{gate}: {}",
                answer["notes"]
            );
        }
    }
    for line in [format!("score {given} 2"), format!("score {given} 0"), format!("leaderboard {given} 80")] {
        let run = folder.karat(&line.split_whitespace().collect::<Vec<_>>());
        assert!(!run.stderr.contains("almost nothing"), "{line}: {}", run.stderr);
    }
}

#[test]
fn warnings_are_in_every_form() {
    let folder = Folder::new();
    folder.write("card.toml", &example("cards/task-run.toml"));
    let both = |a: String, b: String| table(&[a, b].concat());
    folder.write("base.csv", &both(passing("a", 40, 40), passing("b", 9, 40) + &passing("d", 9, 40)));
    folder.write("new.csv", &both(passing("a", 30, 30), passing("d", 9, 40)));
    let project =
        "card = \"card.toml\"\ninputs = [\"new.csv\"]\nbaseline = \"base.csv\"\n[gate]\nfail_if_worse = 30\n";
    folder.write("karat.toml", project);
    for form in ["table", "json", "markdown", "junit", "github"] {
        for line in [
            format!("check --format {form}"),
            format!("compare base.csv new.csv -c card.toml --fail-if-worse 30 --format {form}"),
        ] {
            let run = folder.karat(&line.split_whitespace().collect::<Vec<_>>());
            assert_eq!(run.status, 12, "{line}: {}", run.stderr);
            assert!(run.stderr.contains("10 tasks of 40") && run.stderr.contains("`b` is only in"), "{line}");
            let said = run.stdout;
            let has_tasks = said.contains("t30") && said.contains("t31");
            assert!(has_tasks || form == "table", "{line}: {said}");
            assert!(said.contains("only in") || said.contains("only_first"), "{line}: {said}");
        }
    }
}

#[test]
fn a_tie_says_how_many_tasks_it_would_take() {
    let base = passing("a", 20, 40);
    let (_, answer, stderr) = compared(&base, &passing("a", 19, 40), "--fail-if-worse 2 --strict");
    let power = &answer["power"];
    // One of 40 differs: by 2.5 points on average, with a deviation of 15.8. (1.96 + 0.84)^2 15.8^2 / 2.5^2 + 1.92.
    assert_eq!(power["power"], 0.8);
    assert!((power["spread"].as_f64().unwrap() - 15.811_4).abs() < 2.0, "{power}");
    assert!(power["tasks_needed"].as_u64().is_some_and(|tasks| (200..600).contains(&tasks)), "{power}");
    let needed = answer["gate"]["tasks_needed"].as_u64().unwrap();
    assert!(stderr.contains(&format!("it takes about {needed} tasks")), "{stderr}");
}

#[test]
fn attempts_at_a_task_are_told_from_noise_where_they_can_be() {
    let attempts = |task: &str, passed: usize, of: usize| -> String {
        (0..of)
            .map(|at| format!("a {task} {}\n", if at < passed { "succeeded 1" } else { "failed 0" }))
            .collect()
    };
    let others: String = (0..8).map(|task| attempts(&format!("same{task}"), 5, 10)).collect();
    let base =
        [attempts("gone", 10, 10), attempts("less", 6, 10), attempts("few", 3, 3), others.clone()].concat();
    let new = [attempts("gone", 0, 10), attempts("less", 5, 10), attempts("few", 0, 3), others].concat();
    let (_, answer, _) = compared(&base, &new, "");
    let noise = |task: &str| {
        let all = answer["changes"]["regressed"].as_array().unwrap();
        let found = all.iter().find(|it| it["task"] == task).unwrap();
        (found["change"].clone(), found["outside_noise"].clone(), found["p"].as_f64().unwrap())
    };
    assert_eq!((noise("gone").0, noise("gone").1), ("fell".into(), true.into()));
    assert!((noise("gone").2 - 2.0 / 184_756.0).abs() < 1e-8);
    assert_eq!(noise("less").1, Value::Bool(false));
    assert_eq!((noise("few").1, noise("few").2), (Value::Null, 0.1));
    assert_eq!((&answer["changes"]["same"], &answer["changes"]["tested"]), (&8.into(), &10.into()));
}

#[test]
fn items_behind_a_change_are_where_the_answer_says() {
    let (_, answer, _) = compared(&passing("a", 9, 12), &passing("a", 8, 12), "");
    let change = &answer["changes"]["regressed"][0];
    assert_eq!((&change["task"], &change["change"]), (&"t08".into(), &"pass-lost".into()));
    let place = |side: &str| {
        let item = &change[side]["items"][0];
        (item["file"].clone(), item["line"].clone(), item["id"].clone(), item["outcome"].clone())
    };
    // The head is line 1.
    assert_eq!(place("first"), ("base.csv".into(), 10.into(), "8".into(), "succeeded".into()));
    assert_eq!(place("second"), ("new.csv".into(), 10.into(), "8".into(), "failed".into()));
}

#[test]
fn the_lists_are_complete() {
    for seed in 1..9u64 {
        let mut state = seed;
        let mut next = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        // Not tried, failed or passed, each by both; one task that both have, so that there is something to compare.
        let mut result = || [None, Some(false), Some(true)].into_iter().nth(next(3) as usize).flatten();
        let both = (Some(true), Some(true));
        let results: Vec<_> = (0..10 * seed).map(|_| (result(), result())).chain([both]).zip(0..).collect();
        let row = |task: u64, passed: bool| {
            format!("a t{task} {}\n", if passed { "succeeded 1" } else { "failed 0" })
        };
        let base: String =
            results.iter().filter_map(|((first, _), task)| Some(row(*task, (*first)?))).collect();
        let new: String =
            results.iter().filter_map(|((_, second), task)| Some(row(*task, (*second)?))).collect();
        let expected = |wanted: (Option<bool>, Option<bool>)| -> BTreeSet<String> {
            results.iter().filter(|(it, _)| *it == wanted).map(|(_, task)| format!("t{task}")).collect()
        };
        let (_, answer, stderr) = compared(&base, &new, "");
        assert!(answer.is_object(), "{stderr}");
        assert_eq!(names(&answer, "regressed"), expected((Some(true), Some(false))), "{seed}");
        assert_eq!(names(&answer, "fixed"), expected((Some(false), Some(true))), "{seed}");
        let same = expected(both).len() + expected((Some(false), Some(false))).len();
        assert_eq!(answer["changes"]["same"], same, "{seed}");
    }
}

#[test]
fn every_ranked_subject_must_reach_the_floor() {
    let cases = [
        ("--fail-under 48", 0, 0),
        ("--fail-under 50", 10, 1),
        ("--fail-under 75", 10, 3),
        ("--fail-under 75 --subject ibis --subject kite", 0, 0),
        ("--fail-under 75 --subject ibis --on low", 10, 1),
        ("--fail-under 60 --subject ibis --on low", 0, 0),
        ("--fail-under-dimension solved=0.5 --fail-under speed=0.1", 0, 0),
        ("--fail-under-dimension solved=1 --subject ibis", 10, 1),
        // Neither has an interval.
        ("--fail-under 1 --census --on low --subject ibis", 12, 1),
        ("--fail-under 1 --min-tasks 17 --subject ibis", 12, 1),
    ];
    for (flags, status, lines) in cases {
        let line = format!("leaderboard -c {CARD} {RUNS} --by mean --json {flags}");
        let run = karat(&line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(
            (run.status, run.stderr.lines().filter(|it| !it.starts_with(' ')).count()),
            (status, lines),
            "{flags}: {}",
            run.stderr
        );
        if status >= 10 && lines > 0 && !run.stderr.starts_with("error") {
            assert!(
                run.stderr.lines().all(|line| line.ends_with(&format!("; status {status}"))),
                "{}",
                run.stderr
            );
        }
    }
    for (wrong, said) in [
        ("--fail-under solvd=0.9", "did you mean `solved`?"),
        ("--fail-under 101", "the scale of the scorecard ends at 100"),
        ("--fail-under 50 --by solved", "give the dimension"),
        ("--fail-under 50 --subject ibs", "did you mean `ibis`?"),
        ("--fail-under-dimension 0.9", "such as safety=0.99"),
        ("--fail-under safety=99", "0 to 1"),
    ] {
        let line = format!("leaderboard -c {CARD} {RUNS} {wrong}");
        let run = karat(&line.split_whitespace().collect::<Vec<_>>());
        assert!([1, 2].contains(&run.status) && run.stderr.contains(said), "{wrong}: {}", run.stderr);
    }
}

#[test]
fn a_table_of_scores_can_be_cut_and_ends_with_its_counts() {
    let line = |flags: &str| {
        let line = format!("score -c {CARD} {NEW} {flags}");
        karat(&line.split_whitespace().collect::<Vec<_>>())
    };
    let ids = |flags: &str| -> Vec<String> {
        let text = line(flags).stdout;
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|it| it["evidence"]["id"].as_str().unwrap().to_owned()).collect()
    };
    let all = ids("--jobs 1");
    assert_eq!((all.len(), ids("--sort subject")), (84, all.clone()), "the file is in that order");
    let failed = ids("--only failed");
    assert_eq!(failed.len(), 22);
    assert_eq!(ids("--only failed --limit 3 --jobs 2"), failed[..3]);
    let best = ids("--sort score");
    assert_eq!(ids("--sort score --limit 5"), best[..5]);
    let scores = line("--json").stdout;
    let scores = scores.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let below =
        scores.filter(|it| it["score"]["published"].as_f64().is_some_and(|points| points < 81.0)).count();
    assert_eq!(ids("--only failed --fail-under 81").len(), below);
    assert!(below > 22, "{below}");
    let end = line("--table --limit 2 --fail-under 50");
    assert_eq!(end.status, 10);
    for part in ["84 items: mean 61.7, 0.0 to 89.0", "shown: 2 of 84", "22 failed and 62 succeeded"] {
        assert!(end.stdout.contains(part), "{part}: {}", end.stdout);
    }
    assert_eq!(
        end.stderr,
        "failed: `heron` (examples/compare/new.csv:8) has 0, below 50; in all 22 items below; status 10\n"
    );
}
