//! `karat stress` from outside: other weights, other means, what drives a score, what rank 1 depends on.

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, karat_reading};
use crate::leaderboard::{CARD, line, parsed, passing, table};

/// Two dimensions of equal weight.
const CARD_OF_TWO: &str = r#"
schema = "karat/scorecard/1"
id = "two"
version = "1.0.0"
title = "Two"
evidence = "facts"
mean = "weighted-mean"
scale = { max = 100, publish = "half-up", places = 1 }
[facts]
x = { min = 0, max = 1 }
y = { min = 0, max = 1 }
[[dimension]]
key = "x"
weight = 0.5
[[dimension]]
key = "y"
weight = 0.5
"#;

fn stressed(items: &str, flags: &str) -> Value {
    let folder = Folder::new();
    folder.write("two.toml", CARD_OF_TWO);
    folder.write("items.jsonl", items);
    let arguments = format!("stress two.toml items.jsonl --resamples 400 {flags}");
    parsed(&folder.karat(&arguments.split_whitespace().collect::<Vec<_>>()))
}

fn list<'a>(answer: &'a Value, path: &str) -> &'a [Value] {
    answer.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `a` is better in `x`, `b` in `y`, and `a` a little more.
const CROSSED: &str = "{\"subject\":\"a\",\"x\":0.9,\"y\":0.5}\n{\"subject\":\"b\",\"x\":0.5,\"y\":0.8}\n";

#[test]
fn ranks_under_other_rules_are_those_computed_by_hand() {
    let found = stressed(CROSSED, "");
    let first_differs = |path: &str, name: &str| -> Vec<(String, bool)> {
        let each = list(&found, path).iter();
        each.map(|it| (it[name].as_str().unwrap_or_default().to_owned(), it["first_differs"] == true))
            .collect()
    };
    // Without x there are 0.5 and 0.8.
    let expected = [("x", true), ("y", false)].map(|(key, differs)| (key.to_owned(), differs));
    assert_eq!(first_differs("/robustness/without_dimension", "dimension"), expected);
    // sqrt(0.45) = 0.671 and sqrt(0.4) = 0.632; 0.643 and 0.615; 0.5 and 0.5, which is shared.
    let means = first_differs("/robustness/other_means", "mean");
    assert_eq!(means.len(), 4, "{means:?}");
    for (mean, differs) in means {
        assert_eq!(differs, mean == "minimum", "{mean}");
    }
}

#[test]
fn a_rank_is_kept_as_often_as_the_weights_allow() {
    let found = stressed(CROSSED, "");
    // `a` is ahead where 0.9 w + 0.5 (1 - w) > 0.5 w + 0.8 (1 - w), that is w > 3/7: 4/7 of all weights.
    let kept = found["robustness"]["weights_any"]["chance_of_same_rank_1"].as_f64().unwrap_or_default();
    assert!(
        (kept - 4.0 / 7.0).abs() < 0.08,
        "{kept}: 400 draws are within 0.08 in all but one of a thousand cases"
    );
    let around = |concentration: &str| {
        let found = stressed(CROSSED, &format!("--concentration {concentration}"));
        found["robustness"]["weights_around"]["chance_of_same_rank_1"].as_f64().unwrap_or_default()
    };
    assert!(around("10000") == 1.0 && around("2") < 0.8, "the closer to the card, the safer");
    let swaps = list(&found, "/robustness/weights_any/swaps");
    assert_eq!((swaps.len(), &swaps[0]["ahead"], &swaps[0]["behind"]), (1, &"a".into(), &"b".into()));
    let ranks = &list(&found, "/robustness/weights_any/subjects")[0]["ranks"];
    let sum: f64 = ranks.as_array().into_iter().flatten().filter_map(|it| it["chance"].as_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-8, "{ranks}");
}

#[test]
fn a_subject_ahead_in_everything_keeps_its_rank() {
    let items = "{\"subject\":\"a\",\"x\":0.9,\"y\":0.9}\n{\"subject\":\"b\",\"x\":0.5,\"y\":0.8}\n";
    let found = stressed(items, "");
    assert_eq!(found["robustness"]["weights_any"]["chance_of_same_rank_1"], 1.0);
    assert_eq!(list(&found, "/robustness/weights_any/swaps").len(), 0);
}

#[test]
fn a_dimension_that_changes_no_rank_drives_nothing() {
    let item = |subject: usize| {
        format!("{{\"subject\":\"s{subject}\",\"x\":{},\"y\":0.5}}\n", subject as f64 / 10.0)
    };
    let found = stressed(&(0..10).map(item).collect::<String>(), "");
    let drivers = list(&found, "/robustness/drivers");
    let of = |path: &str| [0, 1].map(|at: usize| drivers.get(at).and_then(|it| it.pointer(path)?.as_f64()));
    assert_eq!((of("/importance"), of("/weight")), ([Some(1.0), Some(0.0)], [Some(0.5), Some(0.5)]));
    assert_eq!(of("/correlation/spearman"), [Some(1.0), None]);
}

#[test]
fn the_fewest_tasks_are_found() {
    // `a` leads by two tasks of ten: without three that only it passed, it is behind.
    let rows = [
        passing("a", 7, 10),
        passing("b", 4, 4),
        "b t09 succeeded 1\n".to_owned(),
        (4..9).map(|task| format!("b t{task:02} failed 0\n")).collect(),
    ]
    .concat();
    let found = parsed(&karat_reading(&["stress", CARD, "--resamples", "100"], &table(&rows)));
    let fewest = &found["robustness"]["fewest_tasks"];
    assert_eq!(
        (&fewest["first"], &fewest["overtaker"], &fewest["is_smallest"]),
        (&"a".into(), &"b".into(), &true.into())
    );
    assert_eq!(
        (fewest["removed"].to_string(), &fewest["tasks"]),
        ("[\"t04\",\"t05\",\"t06\"]".to_owned(), &10.into())
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let run = |seed: &str| line(&format!("stress CARD RUNS --concentration 5 --seed {seed}"));
    assert_eq!(run("1").stdout, run("1").stdout);
    assert_ne!(parsed(&run("1"))["robustness"], parsed(&run("2"))["robustness"]);
    let (alone, beside) =
        (parsed(&line("stress CARD RUNS")), parsed(&line("leaderboard --card CARD RUNS --robustness")));
    assert_eq!(alone["robustness"], beside["leaderboards"][0]["robustness"]);
}

#[test]
fn screens() {
    assert_snapshot!(line("stress CARD RUNS --table").screen());
    assert_snapshot!(line("stress CARD RUNS --table --concentration 5 --where domain=retail").screen());
}

#[test]
fn what_is_refused_and_how_it_is_mended() {
    let lines = [
        "stress CARD RUNS --where subject=heron",
        "stress CARD RUNS --concentration 0",
        "stress task-run RUNS",
        "stress arena RUNS",
        "stress CARD RUNS --where outcome=no-verdict",
        "stress CARD RUNS --level 0.99",
        "stress",
    ];
    let told = lines.map(|text| format!("$ karat {text}\n{}", line(text).screen()));
    assert_snapshot!(told.join("\n"));
}
