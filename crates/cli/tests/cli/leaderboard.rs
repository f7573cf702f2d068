//! `karat leaderboard` from outside: its numbers computed a second time, its screens, its refusals.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, Run, example, karat, karat_reading, reference, root};

pub const CARD: &str = "examples/cards/task-run.toml";
pub const RUNS: &str = "examples/leaderboard/runs.csv";

/// Runs a line without quotes at the root of the repository, with `CARD`, `RUNS` in their places and few resamples.
pub fn line(text: &str) -> Run {
    let text = text.replace("CARD", CARD).replace("RUNS", RUNS);
    karat(&text.split_whitespace().chain(["--resamples", "100"]).collect::<Vec<_>>())
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
    let arguments = format!("leaderboard --card {CARD} --resamples 100 {flags}");
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

fn rows_of(board: &Value) -> &Vec<Value> {
    board["rows"].as_array().unwrap()
}

fn subjects(answer: &Value) -> Vec<&str> {
    rows_of(&answer["leaderboards"][0]).iter().map(|it| it["subject"].as_str().unwrap()).collect()
}

fn standing<'a>(answer: &'a Value, subject: &str) -> &'a Value {
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

fn choose(n: u32, k: u32) -> u32 {
    if k > n { 0 } else { (0..k).fold(1, |product, at| product * (n - at) / (at + 1)) }
}

/// Checks a mean that is rounded to a billionth at its tasks, and once more.
#[track_caller]
fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 4e-9, "{found}, expected {expected}");
}

#[test]
fn means_are_those_of_the_rows() {
    let all = Attempt::all();
    let found = answer("leaderboard --card CARD RUNS");
    assert_eq!(subjects(&found).len(), 5);
    let mut expected: Vec<(f64, &str)> = Vec::new();
    for subject in subjects(&found) {
        let own: Vec<&Attempt> = all.iter().filter(|it| it.subject == subject).collect();
        let row = standing(&found, subject);
        let mean = mean_over_tasks(&own, Attempt::value);
        near(&row["score"]["mean"], mean);
        expected.push((mean, subject));
        assert_eq!((row["items"].as_u64(), row["tasks"].as_u64()), (Some(48), Some(16)));
        assert!(
            row["score"]["low"].as_f64().unwrap() < mean && mean < row["score"]["high"].as_f64().unwrap()
        );
        let no_verdict = own.iter().filter(|it| it.outcome == "no-verdict").count();
        assert_eq!(row["outcomes"]["no-verdict"], no_verdict);
    }
    assert!(expected.is_sorted_by(|a, b| a.0 > b.0), "{expected:?}");
    // A value is that of the item; if the outcome counts as a value, so does the dimension.
    let kite: Vec<&Attempt> = all.iter().filter(|it| it.subject == "kite").collect();
    let solved = |it: &Attempt| {
        it.value().map(|value| if it.outcome == "stopped" { value } else { it.facts[0].unwrap() })
    };
    near(&standing(&found, "kite")["dimensions"]["solved"]["mean"], mean_over_tasks(&kite, solved));
}

#[test]
fn attempts_are_the_exact_fractions() {
    let found = answer("leaderboard --card CARD RUNS --attempts 4");
    let all = Attempt::all();
    for subject in subjects(&found) {
        let mut tasks: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for it in all.iter().filter(|it| it.subject == subject && it.outcome != "no-verdict") {
            let (passed, tried) = tasks.entry(&it.task).or_default();
            *passed += u32::from(it.outcome == "succeeded");
            *tried += 1;
        }
        for k in 1..=4 {
            let at = &standing(&found, subject)["attempts"][k as usize - 1];
            let enough: Vec<(u32, u32)> = tasks.values().copied().filter(|it| it.1 >= k).collect();
            assert_eq!((at["k"].as_u64(), at["tasks"].as_u64()), (Some(k.into()), Some(enough.len() as u64)));
            assert_eq!(at["tasks_left_out"], tasks.len() - enough.len());
            if enough.is_empty() {
                assert_eq!((&at["pass_hat"], &at["pass_at"]), (&Value::Null, &Value::Null));
                continue;
            }
            let mean = |share: &dyn Fn(u32, u32) -> f64| {
                enough.iter().map(|it| share(it.0, it.1)).sum::<f64>() / enough.len() as f64
            };
            let of = |count: u32, tried: u32| f64::from(choose(count, k)) / f64::from(choose(tried, k));
            near(&at["pass_hat"]["mean"], mean(&|passed, tried| of(passed, tried)));
            near(&at["pass_at"]["mean"], mean(&|passed, tried| 1.0 - of(tried - passed, tried)));
        }
    }
    // Half credit is below a pass from 60 points on, and above one from 30 on.
    let one = |flags: &str| parsed(&ranked("a t1 failed 0.5\na t2 failed 0.4", flags));
    let pass =
        |flags: &str| one(flags)["leaderboards"][0]["rows"][0]["attempts"][0]["pass_hat"]["mean"].as_f64();
    assert_eq!(
        ["", "--pass 60", "--pass 50", "--pass 30"].map(|it| pass(&format!("--attempts 1 {it}"))),
        [Some(0.0), Some(0.0), Some(0.5), Some(1.0)]
    );
}

#[test]
fn those_who_cannot_be_told_apart_share_a_letter() {
    // By a test of signs five tasks that differ show nothing at 95 %, 2/32, and six do, 2/64.
    let letters = |second: usize| {
        let rows =
            [passing("first", 20, 20), passing("second", second, 20), passing("third", 0, 20)].concat();
        let found = parsed(&ranked(&rows, ""));
        let all = rows_of(&found["leaderboards"][0]).iter();
        all.map(|it| it["letters"].as_array().unwrap()[0].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!((letters(15), letters(14)), ("aab".to_owned(), "abc".to_owned()));
    let tied =
        parsed(&ranked(&[passing("a", 10, 20), passing("b", 10, 20), passing("c", 10, 20)].concat(), ""));
    for row in rows_of(&tied["leaderboards"][0]) {
        assert_eq!(
            (&row["rank"], &row["rank_range"]),
            (&serde_json::json!([1, 3]), &serde_json::json!([1, 3]))
        );
    }
    assert_eq!(tied["leaderboards"][0]["letters"], 1);
    // Its mean is higher, as it left the hard tasks out; on those that both have it is behind.
    let skipped = [
        (0..12).map(|task| format!("lazy t{task:02} failed 0.{}\n", 6 + task % 2)).collect(),
        passing("keen", 12, 24),
    ]
    .concat();
    let found = parsed(&ranked(&skipped, ""));
    assert_eq!(
        (subjects(&found), &found["leaderboards"][0]["same_tasks"]),
        (vec!["lazy", "keen"], &Value::Bool(false))
    );
    assert_eq!(standing(&found, "keen")["ahead_of"], serde_json::json!(["lazy"]));
    assert_eq!(standing(&found, "lazy")["ahead_of"], serde_json::json!([]));
}

/// Every pair of a leaderboard has the verdict of `karat compare`, and a second implementation gives the same letters.
#[test]
fn letters_are_those_of_all_comparisons() {
    // Some have all tasks, some a part of them, and two share too few.
    let mut rows: String =
        example("leaderboard/runs.csv").lines().skip(1).map(|row| format!("{row}\n")).collect();
    for (new, of, has) in [("crane", "ibis", "air-"), ("dove", "kite", "shop-"), ("egret", "heron", "-0")] {
        let own =
            |row: &&str| row.starts_with(of) && row.split(',').nth(1).is_some_and(|task| task.contains(has));
        let text = example("leaderboard/runs.csv");
        let copied: String =
            text.lines().filter(own).map(|row| format!("{}\n", row.replacen(of, new, 1))).collect();
        rows.push_str(&copied);
    }
    let head = example("leaderboard/runs.csv").lines().next().unwrap().to_owned();
    let folder = Folder::new();
    folder.write("card.toml", &example("cards/task-run.toml"));
    folder.write("runs.csv", &format!("{head}\n{rows}"));
    let karat = |first: &[&str]| {
        parsed(&folder.karat(&[first, &["-c", "card.toml", "--resamples", "200", "runs.csv"]].concat()))
    };
    let found = karat(&["leaderboard"]);
    let names = subjects(&found);
    assert_eq!(names.len(), 8);
    let mut verdicts: BTreeMap<(&str, &str), String> = BTreeMap::new();
    for (at, first) in names.iter().enumerate() {
        for second in names.iter().skip(at + 1) {
            let arguments = ["compare", first, second];
            let run = folder
                .karat(&[&arguments[..], &["-c", "card.toml", "--resamples", "200", "runs.csv"]].concat());
            // Without a shared task there is nothing to compare.
            let verdict = match run.status {
                0 => parsed(&run)["difference"]["verdict"].as_str().unwrap().to_owned(),
                _ => String::from("too-few-shared-tasks"),
            };
            verdicts.insert((first, second), verdict);
        }
    }
    let kinds: BTreeSet<&str> = verdicts.values().map(String::as_str).collect();
    assert_eq!(kinds.len(), 3, "tied, ahead, and too few: {kinds:?}");
    let of = |name: &str, key: &str| -> BTreeSet<String> {
        let all = standing(&found, name)[key].as_array().unwrap();
        all.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    for ((first, second), verdict) in &verdicts {
        let shares = of(first, "letters").intersection(&of(second, "letters")).count() > 0;
        assert_eq!(shares, verdict == "not-distinguishable", "{first} {second}: {verdict}");
        let is_few = verdict == "too-few-shared-tasks";
        for (one, other) in [(first, second), (second, first)] {
            assert_eq!(of(one, "too_few_shared_tasks").contains(*other), is_few, "{one} {other}");
        }
        assert_eq!(of(second, "ahead_of").contains(*first), verdict == "second-ahead");
    }
    let Some(model) = reference("letters.py") else { return };
    let pairs: Vec<Value> = verdicts.iter().map(|((a, b), it)| serde_json::json!([a, b, it])).collect();
    let input = serde_json::json!({ "subjects": names, "pairs": pairs }).to_string();
    let letters: BTreeMap<String, BTreeSet<String>> = serde_json::from_str(&model(&input)).unwrap();
    for name in &names {
        assert_eq!(letters[*name], of(name, "letters"), "{name}");
    }
}

/// Runs of one result each, with `n` and without.
fn results(n: &str) -> String {
    let row = |(at, solved): (usize, &str)| format!("{},{solved}{n}\n", ["a", "b", "c", "d"][at]);
    let rows: String = ["0.9", "0.87", "0.5", "0.5"].into_iter().enumerate().map(row).collect();
    format!("subject,solved{}\n{rows}", if n.is_empty() { "" } else { ",n" })
}

fn of_results(n: &str, flags: &str) -> Run {
    let arguments = format!("leaderboard --card {CARD} --resamples 100 {flags}");
    karat_reading(&arguments.split_whitespace().collect::<Vec<_>>(), &results(n))
}

#[test]
fn one_result_each_is_an_order_without_any_certainty() {
    let found = parsed(&of_results("", ""));
    let ranks: Vec<&Value> = rows_of(&found["leaderboards"][0]).iter().map(|row| &row["rank"]).collect();
    assert_eq!(
        ranks,
        [
            &serde_json::json!([1, 1]),
            &serde_json::json!([2, 2]),
            &serde_json::json!([3, 4]),
            &serde_json::json!([3, 4])
        ]
    );
    for row in rows_of(&found["leaderboards"][0]) {
        for member in ["rank_range", "chance_of_rank_1", "letters", "cases"] {
            assert_eq!(row[member], Value::Null, "{member}");
        }
        for end in ["low", "high", "method"] {
            assert_eq!((&row["score"][end], &row["dimensions"]["solved"][end]), (&Value::Null, &Value::Null));
        }
        // Price and time are missing, so the score may lie within its bounds.
        let bound = |end: &str| row["bounds"][end].as_f64().unwrap();
        let mean = row["score"]["mean"].as_f64().unwrap();
        assert!(bound("low") < mean && mean < bound("high"));
    }
    assert_snapshot!(of_results("", "--table").screen());
    // A sound subject beside it loses its certainty, and not its letter.
    let beside = parsed(&ranked(
        &[passing("a", 20, 20), passing("b", 0, 20), "c t00 succeeded 1\n".into()].concat(),
        "",
    ));
    for (name, range, letters) in [("a", serde_json::json!([1, 2]), true), ("c", Value::Null, false)] {
        assert_eq!(
            (&standing(&beside, name)["rank_range"], standing(&beside, name)["letters"].is_array()),
            (&range, letters)
        );
        assert_eq!(standing(&beside, name)["chance_of_rank_1"], Value::Null);
    }
}

#[test]
fn a_result_over_cases_has_an_interval_and_a_census_has_none() {
    let found = parsed(&of_results(",225", ""));
    let row = standing(&found, "a");
    // Wilson's interval of 0.9 of 225 cases, by hand: (0.9 + z^2/450 -+ z sqrt(0.09/225 + z^2/202500)) / (1 + z^2/225).
    let (z, share, cases) = (1.959_963_984_540_054_f64, 0.9, 225.0);
    let centre = share + z * z / (2.0 * cases);
    let spread = z * (share * (1.0 - share) / cases + z * z / (4.0 * cases * cases)).sqrt();
    near(&row["score"]["low"], (centre - spread) / (1.0 + z * z / cases));
    near(&row["score"]["high"], (centre + spread) / (1.0 + z * z / cases));
    assert_eq!((&row["score"]["method"], &row["cases"]), (&"wilson".into(), &225.into()));
    assert_eq!(
        (&row["letters"], &row["rank_range"]),
        (&serde_json::json!(["a"]), &serde_json::json!([1, 2]))
    );
    assert_eq!(standing(&found, "c")["letters"], serde_json::json!(["b"]));
    // Ten thousand cases each tell the first two apart; the third and the fourth are the same.
    let many = parsed(&of_results(",10000", ""));
    let letters: Vec<&Value> =
        rows_of(&many["leaderboards"][0]).iter().map(|row| &row["letters"][0]).collect();
    assert_eq!(letters, ["a", "b", "c", "c"]);
    assert_snapshot!(of_results(",225", "--table").screen());
    let student = parsed(&of_results(",225", "--method student"));
    assert_eq!(standing(&student, "a")["score"], row["score"]);
    // The record has the number of cases, and gives the same leaderboard.
    let scored = karat_reading(&["score", "-c", CARD], &results(",225"));
    assert!(scored.stdout.contains(r#""kind":"facts","n":225,"outcome":null"#), "{}", scored.stdout);
    let again = parsed(&karat_reading(&["leaderboard", "-c", CARD, "--resamples", "100"], &scored.stdout));
    assert_eq!(again["leaderboards"], found["leaderboards"]);

    for n in ["", ",225"] {
        let census = parsed(&of_results(n, "--census"));
        assert_eq!((&census["method"], &census["resamples"]), (&"census".into(), &Value::Null));
        for (row, other) in rows_of(&census["leaderboards"][0]).iter().zip(rows_of(&found["leaderboards"][0]))
        {
            assert_eq!((&row["rank"], &row["score"]["mean"]), (&other["rank"], &other["score"]["mean"]));
            for member in ["rank_range", "chance_of_rank_1", "letters"] {
                assert_eq!(row[member], Value::Null, "{member}");
            }
            assert_eq!(
                (&row["score"]["low"], &row["dimensions"]["solved"]["low"]),
                (&Value::Null, &Value::Null)
            );
        }
    }
    assert_snapshot!(of_results("", "--census --table").screen());
}

/// What becomes of an item that ended without a score is said on the screen, in the guide and in JSON.
#[test]
fn a_success_without_a_score_is_missing_and_a_failure_without_one_counts_nothing() {
    let rows = "a t1 succeeded 1\na t2 succeeded -\na t3 failed -\na t4 succeeded 0.5\n";
    let found = parsed(&ranked(rows, ""));
    // 1, 0 and 0.5; the success without a score is not among them.
    near(&standing(&found, "a")["score"]["mean"], 0.5);
    let outcomes = &standing(&found, "a")["outcomes"];
    let counts =
        ["succeeded", "failed", "no-verdict", "missing"].map(|name| outcomes[name].as_u64().unwrap());
    assert_eq!((counts, standing(&found, "a")["tasks"].as_u64()), ([2, 1, 1, 1], Some(3)));
    let screen = ranked(rows, "--table").stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "a failure counts 0, a success has no verdict and is missing",
        "1 item succeeded without a score, so missing beside the mean, of `a`",
        "1 no-verdict (excluded)",
    ] {
        assert!(screen.contains(said), "{said}: {screen}");
    }
    let guide = fs::read_to_string(root().join("docs/guide/leaderboards.md")).unwrap();
    let guide = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in
        ["a failure counts 0, and a success has no verdict and is missing", "| `outcomes` | items by outcome"]
    {
        assert!(guide.contains(said), "{said}");
    }
    // Whatever is chosen for no verdict, a success without a score never counts as one by itself.
    let chosen = |choice: &str| {
        let found = parsed(&ranked(rows, &format!("--count no-verdict={choice}")));
        standing(&found, "a")["score"]["mean"].as_f64().unwrap()
    };
    assert_eq!(["excluded", "scored", "failure", "success"].map(chosen), [0.5, 0.5, 0.375, 0.625]);
}

#[test]
fn the_origin_of_each_choice_for_outcomes_is_named() {
    let rows = "a t1 stopped 0.5\na t2 refused 0.5\na t3 succeeded 1\n";
    let screen = |flags: &str, card: &str| {
        let folder = Folder::new();
        folder.write("card.toml", card);
        folder.write("runs.csv", &table(rows));
        let arguments = format!("leaderboard -c card.toml --resamples 100 {flags} runs.csv");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let json = parsed(&folder.karat(&arguments));
        let table = folder.karat(&[&arguments[..], &["--table"]].concat());
        (table.stdout.split_whitespace().collect::<Vec<_>>().join(" "), json["outcome_sources"].clone())
    };
    let card = example("cards/task-run.toml");
    let (text, sources) = screen("", &card);
    assert!(text.contains("the treatment is from [standing].outcomes of the card"), "{text}");
    assert_eq!(sources["stopped"], "scorecard");
    let (text, sources) = screen("--count stopped=scored", &card);
    assert!(
        text.contains("1 stopped (scored, from --count) and 1 refused (failure, from [standing].outcomes"),
        "{text}"
    );
    assert_eq!((&sources["stopped"], &sources["refused"]), (&"request".into(), &"scorecard".into()));
    let stated = "outcomes = { no-verdict = \"excluded\", stopped = \"failure\", not-applicable = \"excluded\", refused = \"failure\" }";
    let (text, sources) = screen("", &card.replace(stated, "outcomes = { stopped = \"failure\" }"));
    assert!(
        text.contains(
            "1 stopped (failure, from [standing].outcomes of the card) and 1 refused (failure, the default)"
        ),
        "{text}"
    );
    assert_eq!((&sources["stopped"], &sources["refused"]), (&"scorecard".into(), &"default".into()));
}

#[test]
fn too_few_resamples_are_counted_as_they_were_asked_for() {
    // The second has two of eight tasks, so one resample in ten has none of them.
    let rows = [passing("a", 8, 8), passing("b", 1, 2)].concat();
    let arguments = |resamples: &str| {
        let text = format!("leaderboard --card {CARD} --resamples {resamples}");
        karat_reading(&text.split_whitespace().collect::<Vec<_>>(), &table(&rows))
    };
    assert_snapshot!(arguments("39").screen());
    assert!(
        arguments("38").stderr.contains("38 resamples are too few for this confidence, expected 39 or more")
    );
    let more: Vec<u32> = arguments("39")
        .stderr
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|it| it.parse().ok())
        .collect();
    assert_eq!(arguments("80").status, 0, "{more:?}");
    // Where all have all tasks, 39 are enough.
    let whole = [passing("a", 8, 8), passing("b", 1, 8)].concat();
    let text = format!("leaderboard --card {CARD} --resamples 39");
    assert_eq!(karat_reading(&text.split_whitespace().collect::<Vec<_>>(), &table(&whole)).status, 0);
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
    near(&standing(&found, "a")["score"]["mean"], 1.0);
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
    near(&standing(&counted, "a")["score"]["mean"], 0.8);
    // Scored as it is: half credit.
    let scored = parsed(&ranked("a t1 stopped 0.5", "--count stopped=scored"));
    near(&standing(&scored, "a")["score"]["mean"], 0.5);
    assert_snapshot!(ranked(&rows, "--table").screen());
}

#[test]
fn items_are_chosen() {
    let all = Attempt::all();
    let airline: Vec<&Attempt> =
        all.iter().filter(|it| it.subject == "ibis" && it.domain == "airline").collect();
    let found = answer("leaderboard --card CARD RUNS --where domain=airline");
    near(&standing(&found, "ibis")["score"]["mean"], mean_over_tasks(&airline, Attempt::value));
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
fn each_value_of_a_field_has_a_board() {
    let found = answer("leaderboard --card CARD RUNS --group-by domain");
    let boards = found["leaderboards"].as_array().unwrap();
    let groups: Vec<&str> = boards.iter().map(|it| it["group"].as_str().unwrap()).collect();
    assert_eq!(
        (groups, &found["group_by"]),
        (vec!["domain = airline", "domain = retail"], &Value::from("domain"))
    );
    let alone = answer("leaderboard --card CARD RUNS --where domain=retail");
    assert_eq!(boards[1]["rows"], alone["leaderboards"][0]["rows"]);
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
    assert!(unknown.status == 1 && unknown.stderr.contains("with a score that counts"), "{}", unknown.stderr);
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
fn few_tasks_have_no_rank_and_are_named() {
    let rows = [passing("a", 5, 9), passing("b", 3, 3), "c t00 no-verdict -\n".to_owned()].concat();
    let found = parsed(&ranked(&rows, "--min-tasks 4"));
    assert_eq!(subjects(&found), ["a"]);
    let unranked = serde_json::json!([{"subject": "b", "tasks": 3}, {"subject": "c", "tasks": 0}]);
    assert_eq!(found["leaderboards"][0]["unranked"], unranked);
    assert_snapshot!(ranked(&rows, "--min-tasks 4 --table").screen());
}

#[test]
fn one_subject_all_alike_is_not_certain() {
    let found = parsed(&ranked(&passing("a", 20, 20), ""));
    let score = &found["leaderboards"][0]["rows"][0]["score"];
    // Clopper-Pearson at 20 of 20: the share at which all twenty pass in 0.025 of all cases.
    let all_twenty = (0..20).fold(1.0, |product, _| product * score["low"].as_f64().unwrap());
    assert!((all_twenty - 0.025).abs() < 1e-8, "{score}");
    assert_eq!((score["high"].as_f64(), score["method"].as_str()), (Some(1.0), Some("clopper-pearson")));
}

#[test]
fn three_hundred_subjects() {
    let rows: String = (0..300).map(|who| passing(&format!("s{who:03}"), who % 10, 9)).collect();
    let found = parsed(&ranked(&rows, ""));
    assert_eq!(subjects(&found).iter().collect::<BTreeSet<_>>().len(), 300);
    let screen = ranked(&rows, "--table --top 3").stdout;
    assert!(screen.contains("\nand 297 more\n") && screen.lines().count() < 20, "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
}

#[test]
fn names_cannot_steer_the_terminal() {
    let item = |subject: &str, task: &str| {
        format!("{{\"subject\":\"{subject}\",\"task\":\"{task}\",\"solved\":1}}\n")
    };
    let items = [
        item("\\u001b[31mred", "\\u001b[2J"),
        item("plain\\u202e", "t"),
        item("語の名前が長い長い長い長い長い長い長い長い", "t"),
    ];
    let run =
        |verb: &[&str]| karat_reading(&[verb, &["--table", "--resamples", "100"]].concat(), &items.concat());
    for verb in [
        &["leaderboard", "--card", CARD, "--group-by", "subject", "--robustness", "--attempts", "2"][..],
        &["leaderboard", "--card", CARD],
        &["stress", CARD],
    ] {
        let run = run(verb);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(!run.stdout.contains(['\u{1b}', '\u{202e}']), "{}", run.stdout);
    }
    let refused = run(&["compare", "\u{1b}[31mre", "b", "--card", CARD]);
    assert!(refused.status == 1 && !refused.stderr.contains('\u{1b}'), "{}", refused.stderr);
}

#[test]
fn screens() {
    assert_snapshot!(line("leaderboard --card CARD RUNS --table").screen());
    assert_snapshot!(
        line("leaderboard --card CARD RUNS --table --group-by domain --top 2 --level 0.9").screen()
    );
    assert_snapshot!(
        line("leaderboard --card CARD RUNS --table --attempts 6 --where subject!=heron --by solved").screen()
    );
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
    assert_eq!(karat(&["leaderboard", "--card", CARD, RUNS, "--resamples", "0"]).status, 2);
}

#[test]
fn columns_with_other_names_are_told() {
    let told = |from: &str, to: &str| {
        let runs = example("leaderboard/runs.csv").replacen(from, to, 1);
        let run = karat_reading(&["leaderboard", "--card", CARD, "--table", "--resamples", "100"], &runs);
        assert_eq!(run.status, 0, "{}", run.stderr);
        run.stdout
            .lines()
            .skip(2)
            .take_while(|line| !line.trim_start().starts_with("rank"))
            .collect::<String>()
    };
    assert_eq!(told("seconds", "seconds"), "");
    assert_eq!(told("cost_usd", "cost"), "no item has a value of `thrift`");
    let all = "no item has a value of `solved`, `thrift` and `speed`";
    let bare = "231 items succeeded or failed without a score: a failure counts 0, a success hasno verdict and is missing";
    assert_eq!(told("solved", "solvd"), format!("{all}{bare}"));
    let alone = "every item is its own subject; --subject-field says which field names thesubject";
    assert_eq!(told("subject", "agent"), alone);
    let words = "163 of 240 items without a known outcome: counted by score";
    let runs = example("leaderboard/runs.csv").replace(",succeeded,", ",success,");
    let run = karat_reading(&["leaderboard", "--card", CARD, "--table", "--resamples", "100"], &runs);
    assert_eq!(run.stdout.lines().nth(2), Some(words), "{}", run.stdout);
    // If nothing is left to rank, the refusal says so.
    let matches = karat(&["leaderboard", "--card", CARD, "examples/matches/season.csv"]);
    assert_eq!(matches.status, 1);
    assert!(matches.stderr.contains(all) && matches.stderr.contains("--subject-field"), "{}", matches.stderr);
}

#[test]
fn no_bound_on_the_rows_is_all_rows() {
    let all = line("leaderboard --card CARD RUNS --table --attempts 2").stdout;
    assert_eq!(line("leaderboard --card CARD RUNS --table --attempts 2 --top 0").stdout, all);
    assert!(all.contains("osprey"));
}
