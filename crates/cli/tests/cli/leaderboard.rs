//! `karat leaderboard` from outside: its numbers computed a second time, its screens, its refusals.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Run, example, karat, karat_reading};

pub const CARD: &str = "examples/cards/task-run.toml";
pub const RUNS: &str = "examples/leaderboard/runs.csv";

/// Runs a line without quotes at the root of the repository, with `CARD`, `RUNS` in their places and few resamples.
pub fn line(text: &str) -> Run {
    let text = text.replace("CARD", CARD).replace("RUNS", RUNS);
    karat(&text.split_whitespace().chain([]).collect::<Vec<_>>())
}

/// Returns the JSON of a command.
pub fn parsed(run: &Run) -> Value {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns the JSON of a line.
fn answer(text: &str) -> Value {
    parsed(&line(text))
}

/// Ranks rows of `subject,task,id,outcome,solved` with any flags.
pub fn ranked(rows: &str, flags: &str) -> Run {
    let by = if flags.contains("--by") { "" } else { "--by mean" };
    let arguments = format!("leaderboard --card {CARD} {by} {flags}");
    karat_reading(&arguments.split_whitespace().collect::<Vec<_>>(), &table(rows))
}

/// Returns lines `subject task outcome solved` as a table; each line is a separate item.
pub fn table(rows: &str) -> String {
    let rows = rows.lines().map(str::trim).filter(|row| !row.is_empty()).enumerate();
    let rows = rows.map(|(at, row)| {
        let [subject, task, outcome, solved] = row.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
        format!("{subject},{task},{at},{outcome},{}\n", solved.trim_matches('-'))
    });
    format!("subject,task,id,outcome,solved\n{}", rows.collect::<String>())
}

/// `subject` passes the first `passed` of `of` tasks.
pub fn passing(subject: &str, passed: usize, of: usize) -> String {
    let row = |task: usize| match task < passed {
        true => format!("{subject} t{task:02} succeeded 1\n"),
        false => format!("{subject} t{task:02} failed 0\n"),
    };
    (0..of).map(row).collect()
}

pub fn rows_of(board: &Value) -> &Vec<Value> {
    board["rows"].as_array().unwrap()
}

pub fn subjects(answer: &Value) -> Vec<&str> {
    rows_of(&answer["leaderboards"][0]).iter().map(|it| it["subject"].as_str().unwrap()).collect()
}

pub fn standing<'a>(answer: &'a Value, subject: &str) -> &'a Value {
    rows_of(&answer["leaderboards"][0]).iter().find(|it| it["subject"] == subject).unwrap()
}

/// An attempt of the example, read by this test.
struct Attempt {
    subject: String,
    task: String,
    outcome: String,
    domain: String,
    facts: [Option<f64>; 3],
}

impl Attempt {
    fn all() -> Vec<Self> {
        let text = example("leaderboard/runs.csv");
        let attempt = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let [subject, task, outcome, domain] = [0, 1, 4, 5].map(|at| cells[at].to_owned());
            Self { subject, task, outcome, domain, facts: [6, 7, 8].map(|at| cells[at].parse().ok()) }
        };
        text.lines().skip(1).map(attempt).collect()
    }

    /// Returns the values of solved, thrift and speed by the formulas of the card.
    fn readings(&self) -> [Option<f64>; 3] {
        let [solved, cost, seconds] = self.facts;
        let reading = |of: Option<f64>, half: f64| Some(solved? * (1.0 - of? / (of? + half)));
        [solved, reading(cost, 0.1), reading(seconds, 60.0)]
    }

    /// Returns the value that it counts, if any: the weighted mean of the measured dimensions.
    fn value(&self) -> Option<f64> {
        match self.outcome.as_str() {
            "no-verdict" => return None,
            "stopped" | "refused" => return Some(0.0),
            _ => {}
        }
        let measured = || {
            self.readings().into_iter().zip([0.7, 0.2, 0.1]).filter_map(|(it, weight)| Some((it?, weight)))
        };
        Some(measured().map(|(it, weight)| it * weight).sum::<f64>() / measured().map(|it| it.1).sum::<f64>())
    }
}

/// Returns the mean over tasks of the means of `value` over their attempts.
fn mean_over_tasks(attempts: &[&Attempt], value: impl Fn(&Attempt) -> Option<f64>) -> f64 {
    let mut tasks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for it in attempts {
        tasks.entry(&it.task).or_default().extend(value(it));
    }
    let means = tasks.values().filter(|it| !it.is_empty()).map(|it| it.iter().sum::<f64>() / it.len() as f64);
    let means: Vec<f64> = means.collect();
    means.iter().sum::<f64>() / means.len() as f64
}

/// Checks a mean that is rounded to a billionth at its tasks, and once more.
#[track_caller]
pub fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 4e-9, "{found}, expected {expected}");
}

/// Checks the points of such a mean on a scale to 100.
pub fn in_points(found: &Value, share: f64) {
    assert!((found.as_f64().unwrap() - 100.0 * share).abs() < 4e-7, "{found}, expected 100 times {share}");
}

#[test]
fn means_are_those_of_the_rows() {
    let all = Attempt::all();
    let found = answer("leaderboard --card CARD RUNS --by mean");
    assert_eq!(subjects(&found).len(), 5);
    let mut expected: Vec<(f64, &str)> = Vec::new();
    for subject in subjects(&found) {
        let own: Vec<&Attempt> = all.iter().filter(|it| it.subject == subject).collect();
        let row = standing(&found, subject);
        let mean = mean_over_tasks(&own, Attempt::value);
        in_points(&row["score"]["mean"], mean);
        assert_eq!(row["mean"], row["score"]);
        expected.push((mean, subject));
        assert_eq!((row["items"].as_u64(), row["tasks"].as_u64()), (Some(48), Some(16)));
        assert!(
            row["score"]["low"].as_f64().unwrap() < 100.0 * mean
                && 100.0 * mean < row["score"]["high"].as_f64().unwrap()
        );
        let no_verdict = own.iter().filter(|it| it.outcome == "no-verdict").count();
        assert_eq!(row["outcomes"]["no-verdict"], no_verdict);
    }
    assert!(expected.is_sorted_by(|a, b| a.0 > b.0), "{expected:?}");
    // An item counts with its value; if the outcome counts as a value, so does the dimension.
    let kite: Vec<&Attempt> = all.iter().filter(|it| it.subject == "kite").collect();
    let solved = |it: &Attempt| {
        it.value().map(|value| if it.outcome == "stopped" { value } else { it.facts[0].unwrap() })
    };
    near(&standing(&found, "kite")["dimensions"]["solved"]["mean"], mean_over_tasks(&kite, solved));
}

#[test]
fn a_pass_is_what_the_flag_says() {
    // Half credit is below a pass from 60 points on, and above one from 30 on.
    let one = |flags: &str| parsed(&ranked("a t1 failed 0.5\na t2 failed 0.4", flags));
    let pass =
        |flags: &str| one(flags)["leaderboards"][0]["rows"][0]["attempts"][0]["pass_hat"]["mean"].as_f64();
    assert_eq!(
        ["", "--pass 60", "--pass 50", "--pass 30"].map(|it| pass(&format!("--attempts 1 {it}"))),
        [Some(0.0), Some(0.0), Some(0.5), Some(1.0)]
    );
}

/// `a` passes 8 of 8 and has two without a verdict, `b` passes 9 of 10.
fn with_two_verdicts_missing() -> String {
    let open = "a t08 no-verdict -\na t09 no-verdict -\n";
    [passing("a", 8, 8), open.to_owned(), passing("b", 9, 10)].concat()
}

#[test]
fn other_choices_for_outcomes_are_other_rankings() {
    let rows = with_two_verdicts_missing();
    let found = parsed(&ranked(&rows, ""));
    assert_eq!(subjects(&found), ["a", "b"]);
    in_points(&standing(&found, "a")["score"]["mean"], 1.0);
    let others = found["leaderboards"][0]["other_outcomes"]["rankings"].as_array().unwrap();
    let first_differs: BTreeMap<&str, bool> = others
        .iter()
        .map(|it| (it["outcomes"]["no-verdict"].as_str().unwrap(), it["first_differs"].as_bool().unwrap()))
        .collect();
    // As failures they leave 8 of 10, below 9 of 10; as successes they leave 10 of 10.
    assert_eq!(first_differs, BTreeMap::from([("failure", true), ("success", false)]));
    assert_eq!(found["leaderboards"][0]["other_outcomes"]["first_differs"], true);
    let counted = parsed(&ranked(&rows, "--count no-verdict=failure"));
    assert_eq!(
        (subjects(&counted), &counted["outcomes"]["no-verdict"]),
        (vec!["b", "a"], &Value::from("failure"))
    );
    in_points(&standing(&counted, "a")["score"]["mean"], 0.8);
    // Scored as it is: half credit.
    let scored = parsed(&ranked("a t1 stopped 0.5", "--count stopped=scored"));
    in_points(&standing(&scored, "a")["score"]["mean"], 0.5);
    assert_snapshot!(ranked(&rows, "--table").screen());
}

#[test]
fn items_are_chosen() {
    let all = Attempt::all();
    let airline: Vec<&Attempt> =
        all.iter().filter(|it| it.subject == "ibis" && it.domain == "airline").collect();
    let found = answer("leaderboard --card CARD RUNS --where domain=airline");
    in_points(&standing(&found, "ibis")["score"]["mean"], mean_over_tasks(&airline, Attempt::value));
    assert_eq!(
        (found["items"]["count"].as_u64(), found["items"]["left_out"].as_u64()),
        (Some(120), Some(120))
    );
    let count = |flags: &str| {
        answer(&format!("leaderboard --card CARD RUNS {flags}"))["items"]["count"].as_u64().unwrap()
    };
    assert_eq!(count("--where domain=airline --where subject!=ibis"), 96);
    assert_eq!(count("--where outcome=refused"), 1);
    let costing = |cost: Option<f64>| all.iter().filter(|it| it.facts[1] == cost).count() as u64;
    assert_eq!(count("--where cost_usd=0.09490"), costing(Some(0.0949)), "a number, however it is written");
    assert_eq!(count("--where cost_usd="), costing(None));
    assert!(costing(Some(0.0949)) > 0 && costing(None) > 0);
    // The first item is of 00:07, the next of 00:14: from on, and before.
    let (from, before) = (count("--since 2026-05-01T00:14:00Z"), count("--until 2026-05-01T00:14:00Z"));
    assert_eq!((from, before), (239, 1));
    assert_eq!(count("--since 2026-05-01T02:14:00+02:00"), 239, "moments, not texts");
}

#[test]
fn rows_are_ranked_and_sorted() {
    let by = |flags: &str| {
        subjects(&answer(&format!("leaderboard --card CARD RUNS {flags}")))
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let ranks = by("");
    assert_eq!(by("--sort subject"), ["heron", "ibis", "kite", "merlin", "osprey"]);
    let found = answer("leaderboard --card CARD RUNS --by thrift");
    let falls = |path: &str| {
        rows_of(&found["leaderboards"][0])
            .iter()
            .map(|it| it.pointer(path).unwrap().as_f64().unwrap())
            .collect::<Vec<_>>()
            .is_sorted_by(|a, b| a >= b)
    };
    assert!(falls("/score/mean") && falls("/dimensions/thrift/mean"));
    assert_eq!(found["leaderboards"][0]["by"], "thrift");
    // A success at an unknown price has no value for thrift.
    let free = parsed(&ranked("a t1 succeeded 1\nb t1 failed 0.5\n", "--by solved"));
    near(&standing(&free, "b")["score"]["mean"], 0.5);
    let unknown = ranked("a t1 succeeded 1\n", "--by thrift");
    unknown.ends(12, "with a score that counts");
    for row in rows_of(&found["leaderboards"][0]) {
        assert_eq!(row["score"], row["dimensions"]["thrift"]);
    }
    let found = answer("leaderboard --card CARD RUNS --sort low");
    let lows: Vec<f64> =
        rows_of(&found["leaderboards"][0]).iter().map(|it| it["score"]["low"].as_f64().unwrap()).collect();
    assert!(lows.is_sorted_by(|a, b| a >= b));
    assert_eq!(by("--sort thrift"), by("--by thrift"));
    assert_eq!(by("--sort tasks"), ranks, "all have 16");
}

#[test]
fn what_is_refused_and_how_it_is_mended() {
    let lines = [
        "leaderboard --card CARD RUNS --by solvd",
        "leaderboard --card CARD RUNS --sort thrft",
        "leaderboard --card CARD RUNS --where domian=airline",
        "leaderboard --card CARD RUNS --group-by outcom",
        "leaderboard --card CARD RUNS --where domain=airlin",
        "leaderboard --card CARD RUNS --where domain",
        "leaderboard --card CARD RUNS --level 0.99",
        "leaderboard --card CARD RUNS --level 95",
        "leaderboard --card CARD RUNS --seed one",
        "leaderboard --card CARD RUNS --attempts 0",
        "leaderboard --card CARD RUNS --attempts 2 --pass 101",
        "leaderboard --card CARD RUNS --count failed=success",
        "leaderboard --card CARD RUNS --count stopped=nothing",
        "leaderboard --card CARD RUNS --min-tasks 17",
        "leaderboard --card CARD RUNS --where outcome=no-verdict",
        "leaderboard --card CARD RUNS --where outcome=no-verdict --group-by domain",
        "leaderboard --card CARD RUNS --since yesterday",
        "leaderboard RUNS",
        "leaderboard --card CARD",
    ];
    let told = lines.map(|text| format!("$ karat {text}\n{}", line(text).screen()));
    assert_snapshot!(told.join("\n"));
    assert_eq!(karat(&["leaderboard", "--card", CARD, RUNS, "--level", "95"]).status, 2);
}

#[test]
fn columns_with_other_names_are_told() {
    let told = |from: &str, to: &str| {
        let runs = example("leaderboard/runs.csv").replacen(from, to, 1);
        let run = karat_reading(&["leaderboard", "--card", CARD, "--table"], &runs);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let notes = run.stdout.lines().skip(2).take_while(|line| !line.is_empty());
        notes.map(str::trim).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told("seconds", "seconds"), "");
    assert_eq!(told("cost_usd", "cost"), "no item has a value of `thrift`");
    let all = "no item has a value of `solved`, `thrift` and `speed`";
    let bare = "231 items succeeded or failed without a score: a failure counts 0, a success has no verdict and is missing";
    assert_eq!(told("solved", "solvd"), format!("{all} {bare}"));
    let alone = "every item is its own subject; --subject-field says which field names the subject";
    assert_eq!(told("subject", "agent"), alone);
    let runs = example("leaderboard/runs.csv").replace(",succeeded,", ",success,");
    let run = karat_reading(&["leaderboard", "--card", CARD, "--table"], &runs);
    assert!(run.status != 0 && run.stderr.contains("$.outcome: found the text `success`"), "{}", run.stderr);
    // If nothing is left to rank, the refusal says so.
    let matches = karat(&["leaderboard", "--card", CARD, "examples/matches/season.csv"]);
    assert_eq!(matches.status, 12);
    assert!(matches.stderr.contains(all) && matches.stderr.contains("--subject-field"), "{}", matches.stderr);
}

#[test]
fn no_bound_on_the_rows_is_all_rows() {
    let all = line("leaderboard --card CARD RUNS --table --attempts 2").stdout;
    assert_eq!(line("leaderboard --card CARD RUNS --table --attempts 2 --top 0").stdout, all);
    assert!(all.contains("osprey"));
}
