//! `karat compare` from outside: who is ahead, ties, refusals.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Folder, example, karat_reading};
use crate::leaderboard::{CARD, line, parsed, passing, table};

/// Compares `a` with `b` in rows of `subject task outcome solved`.
fn compared(rows: &str, flags: &str) -> Value {
    let arguments = format!("compare a b --card {CARD} {flags}");
    parsed(&karat_reading(&arguments.split_whitespace().collect::<Vec<_>>(), &table(rows)))
}

fn number(answer: &Value, path: &str) -> f64 {
    answer.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

/// `a` passes `both` tasks and `first` more, `b` the same and `second` others, of 30.
fn crossing(both: usize, first: usize, second: usize) -> String {
    let passed_by_second = |task: usize| task < both || (both + first..both + first + second).contains(&task);
    let second = (0..30).map(|task| match passed_by_second(task) {
        true => format!("b t{task:02} succeeded 1\n"),
        false => format!("b t{task:02} failed 0\n"),
    });
    [passing("a", both + first, 30), second.collect()].concat()
}

#[test]
fn the_numbers_are_those_of_the_rows() {
    let found = compared(&crossing(10, 8, 1), "");
    // 18 and 11 of 30.
    let means = (number(&found, "/first/mean"), number(&found, "/second/mean"));
    assert_eq!(means, (60.0, 36.666_666_7));
    // Second minus first, in points.
    assert_eq!(number(&found, "/difference/estimate/mean"), -23.333_333_3);
    let counts = ["worse_tasks", "better_tasks", "only_first_tasks", "only_second_tasks"];
    assert_eq!(counts.map(|name| found["difference"][name].as_u64()), [Some(8), Some(1), Some(0), Some(0)]);
    let passes = ["both", "only_first", "only_second", "neither"].map(|name| found["passes"][name].as_u64());
    assert_eq!(passes, [Some(10), Some(8), Some(1), Some(11)]);
    // Twice the tail at 1 of 9, without half of 1 itself on each side: 2 (1 + 9) / 512 - 9 / 512.
    assert_eq!(number(&found, "/passes/mid_p"), 11.0 / 512.0);
    assert_eq!(
        (&found["passes"]["verdict"], &found["difference"]["verdict"]),
        (&"first-ahead".into(), &"first-ahead".into())
    );
}

#[test]
fn changing_sides_changes_signs() {
    let rows = crossing(5, 6, 2);
    let turned = rows.lines().map(|row| match row.split_at(1) {
        ("a", rest) => format!("b{rest}\n"),
        (_, rest) => format!("a{rest}\n"),
    });
    let (one, other) = (compared(&rows, ""), compared(&turned.collect::<String>(), ""));
    let of = |answer: &Value, name: &str| number(answer, &format!("/difference/estimate/{name}"));
    assert_eq!(
        (of(&one, "mean"), of(&one, "low"), of(&one, "high")),
        (-of(&other, "mean"), -of(&other, "high"), -of(&other, "low"))
    );
    assert_eq!(one["passes"]["mid_p"], other["passes"]["mid_p"]);
}

#[test]
fn what_counts_as_a_pass_is_said() {
    let rows = [
        passing("a", 0, 0),
        (0..8).map(|task| format!("a t{task} failed 0.6\nb t{task} failed 0.4\n")).collect(),
    ]
    .concat();
    let passes = |flags: &str| {
        let found = compared(&rows, flags);
        (found["passes"]["only_first"].as_u64(), found["passes"]["neither"].as_u64())
    };
    assert_eq!((passes(""), passes("--pass 50")), ((Some(0), Some(8)), (Some(8), Some(0))));
    // Tried twice: no table of pairs.
    let twice = [rows.as_str(), "a t0 succeeded 1\n"].concat();
    assert_eq!(compared(&twice, "")["passes"], Value::Null);
}

#[test]
fn two_files_are_two_subjects() {
    let folder = Folder::new();
    let of = |subject: &str| {
        let rows = example("leaderboard/runs.csv");
        let head = rows.lines().next().unwrap_or_default().to_owned();
        let own = rows.lines().filter(|row| row.starts_with(subject)).map(|row| format!("{row}\n"));
        format!("{head}\n{}", own.collect::<String>())
    };
    folder.write("card.toml", &example("cards/task-run.toml"));
    folder.write("before.csv", &of("osprey"));
    folder.write("after.csv", &of("ibis"));
    folder.write("all.csv", &example("leaderboard/runs.csv"));
    let compare =
        |arguments: &[&str]| folder.karat(&[&["compare", "--card", "card.toml"], arguments].concat());
    assert_snapshot!(compare(&["before.csv", "after.csv", "--table"]).screen());
    // The same numbers as by name, with any names of files.
    let (by_file, by_name) =
        (parsed(&compare(&["before.csv", "after.csv"])), parsed(&compare(&["osprey", "ibis", "all.csv"])));
    assert_eq!(by_file["difference"], by_name["difference"]);
    assert_eq!(by_file["first"]["subject"], "before.csv");
    let chosen = parsed(&compare(&[
        "all.csv", "after.csv", "--where", "subject!=heron", "--where", "subject!=kite", "--where",
        "subject!=merlin", "--where", "subject!=osprey",
    ]));
    assert_eq!(number(&chosen, "/difference/estimate/mean"), 0.0);
    for (name, arguments) in [
        ("several", ["all.csv", "after.csv"]),
        ("itself", ["after.csv", "after.csv"]),
        ("misspelt", ["before.csv", "aftr.csv"]),
    ] {
        assert_snapshot!(name, compare(&arguments).screen());
    }
}

#[test]
fn what_is_refused_and_how_it_is_mended() {
    let lines = [
        "compare heron ibs --card CARD RUNS", "compare heron heron --card CARD RUNS",
        "compare heron ibis --card CARD RUNS --where subject=ibis",
        "compare heron ibis --card CARD RUNS --level 0.99",
        "compare heron ibis --card CARD RUNS --pass 1000", "compare heron --card CARD",
        "compare heron ibis RUNS",
    ];
    let told = lines.map(|text| format!("$ karat {text}\n{}", line(text).screen()));
    assert_snapshot!(told.join("\n"));
    let apart = table("a t1 succeeded 1\nb t2 succeeded 1\n");
    assert_snapshot!(karat_reading(&["compare", "a", "b", "--card", CARD], &apart).screen());
}

#[test]
fn long_names_do_not_fill_the_screen() {
    let (first, second) = ("a".repeat(10_000), "b".repeat(10_000));
    let rows = format!("{}{}", passing(&first, 3, 4), passing(&second, 1, 4));
    let run = karat_reading(&["compare", &first, &second, "--card", CARD, "--table"], &table(&rows));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stdout.contains("only by aaa"));
    let stress = karat_reading(&["stress", "-c", CARD, "--table"], &table(&rows)).stdout;
    let runs = line("compare heron ibis --card CARD RUNS --table").stdout;
    for screen in [run.stdout, stress, runs] {
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    }
}

/// The attempts at a task are those behind its value: oldest first, and one without a verdict is there without a number.
#[test]
fn a_grid_has_each_attempt_behind_a_value() {
    let folder = Folder::new();
    folder.write(
        "card.toml",
        "schema = \"karat/scorecard/1\"\nid = \"solved\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n\
         scale = { max = 100, publish = \"exact\" }\nfacts = { solved = { min = 0, max = 1 } }\ndimension = [{ key = \"solved\", weight = 1 }]\n",
    );
    let row = |subject: &str, day: u8, outcome: &str, solved: &str| {
        format!("{subject},fix,{subject}{day},2026-01-0{day}T00:00:00Z,{outcome},{solved}\n")
    };
    let rows = [
        row("ant", 3, "succeeded", "1"),
        row("ant", 1, "failed", "0.25"),
        row("ant", 2, "no-verdict", ""),
        row("bee", 2, "succeeded", "0.5"),
    ];
    folder.write(
        "runs.csv",
        &format!(
            "subject,task,id,time,outcome,solved\n{}bee,try,b,2026-01-01T00:00:00Z,failed,0\n",
            rows.concat()
        ),
    );
    let run = folder.line("grid -c card.toml runs.csv --json");
    let found = parsed(&run);
    let told = |task: usize| (&found["tasks"][task]["values"], &found["tasks"][task]["attempts"]);
    assert_eq!(told(0), (&json!([62.5, 50]), &json!([[25, null, 100], [50]])));
    assert_eq!(told(1), (&json!([null, 0]), &json!([[], [0]])));
}
