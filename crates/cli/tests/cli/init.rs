//! `karat init`: what it writes is used without a refusal on any table, and nothing is written by halves.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::common::{Folder, example};
use crate::project::alone;

fn init(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    let run = alone(folder.path(), &[&["init"][..], arguments].concat());
    (run.status, run.stdout, run.stderr)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_table_becomes_a_scorecard_with_reasons_and_a_project() {
    let folder = Folder::new();
    folder.write("runs.csv", &example("leaderboard/runs.csv"));
    let (status, stdout, stderr) = init(&folder, &["--yes", "runs.csv"]);
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    let card = fs::read_to_string(folder.path().join("scorecard.toml")).unwrap();
    for part in [
        "# seconds: 9.3 to 86.9 in 240 of 240 items; less is better; 95th percentile 77 taken as the worst",
        "solved = { unit = \"1\", min = 0, max = 1, from = \"harness\" }",
        "weight  = 1\nformula = \"solved\"\nmissing = \"withhold\"",
        "weight  = 0              # it stands beside the score and moves nothing\nformula = \"clamp(1 - seconds / worst_seconds, 0, 1)\"",
    ] {
        assert!(card.contains(part), "{part}: {card}");
    }
    insta::assert_snapshot!(fs::read_to_string(folder.path().join("karat.toml")).unwrap(), @r#"
    # Read by `karat check`, and by score, leaderboard, compare and standing where they name no card.

    card     = "scorecard.toml"
    inputs   = ["runs.csv"]
    baseline = "baseline.jsonl"           # written by `karat check --update-baseline`

    [gate]
    fail_if_worse = true    # or points that it may be worse by; with strict = true that must be shown
    # fail_under = 80       # every subject; on = "low" compares the end of its interval
    "#);
    // Every command that it names works.
    let next: Vec<String> = stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("karat "))
        .map(|line| line.split("  ").next().unwrap().to_owned())
        .collect();
    assert_eq!(next.len(), 4, "{stdout}");
    for line in next {
        let run = alone(folder.path(), &line.split(' ').collect::<Vec<_>>());
        assert_eq!(run.status, 0, "{line}: {}", run.stderr);
    }
}

#[test]
fn the_flags_decide_what_the_names_do_not() {
    let folder = Folder::new();
    let rows: String =
        (0..20).map(|at| format!("bot-{},q{at},{},{},{}\n", at % 2, at % 7, 100 - at, at * 3)).collect();
    folder.write("data.csv", &format!("model,question,zing,boing,seed\n{rows}"));
    let (status, _, stderr) = init(&folder, &["--yes", "data.csv"]);
    assert_eq!(status, 1);
    assert!(stderr.contains("there are: boing, zing") && stderr.contains("--higher FIELD"), "{stderr}");
    assert_eq!(names(folder.path()), ["data.csv"]);
    let (status, _, stderr) = init(&folder, &["--yes", "--higher", "zin", "data.csv"]);
    assert!(status == 1 && stderr.contains("did you mean `zing`?"), "{stderr}");
    let (status, stdout, stderr) =
        init(&folder, &["--yes", "--success", "zing", "--lower", "boing", "--fail-under", "10", "data.csv"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.contains("success: zing") && stdout.contains("counts: boing, less"), "{stdout}");
    let project = fs::read_to_string(folder.path().join("karat.toml")).unwrap();
    assert!(project.contains("subject  = \"model\"") && project.contains("fail_under = 10"), "{project}");
    assert_eq!(alone(folder.path(), &["check", "--update-baseline"]).status, 0);
    assert_eq!(alone(folder.path(), &["check"]).status, 0);
}

#[test]
fn fields_that_matter_are_found_among_any_number_of_others() {
    let folder = Folder::new();
    let head: String = (0..1500).map(|at| format!("aa{at},")).collect();
    let cells = "1,2,3,4,5,".repeat(300);
    let rows: String =
        (0..20).map(|at| format!("{cells}bot-{},t{at},{},{at}\n", at % 2, u8::from(at % 3 == 0))).collect();
    folder.write("data.csv", &format!("{head}model,task,solved,zing\n{rows}"));
    let (status, stdout, stderr) = init(&folder, &["--yes", "--lower", "zing", "data.csv"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    for line in [
        "scored: model", "task: task", "success: solved, more", "counts: zing, less",
        "not looked at: 512 fields or more",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    assert_eq!(alone(folder.path(), &["check", "--update-baseline"]).status, 0);
    assert_eq!(alone(folder.path(), &["check"]).status, 0);
}

#[test]
fn values_that_no_measurement_has_are_told() {
    let folder = Folder::new();
    folder.write(
        "data.csv",
        "model,task,solved,cost_usd,latency_ms\na,x,1,1,-5\na,y,0,inf,3\nb,x,1,2,4\nb,y,0,3,9\n",
    );
    let (status, stdout, stderr) = init(&folder, &["--yes", "data.csv"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    for line in [
        "left out: cost_usd: 3 of 4 values are numbers, and `inf` is not",
        "left out: latency_ms: it has values below 0",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    let (status, _, stderr) = init(&folder, &["nowhere.csv", "--force"]);
    assert!(status == 1 && stderr.contains("cannot read `nowhere.csv`"), "{stderr}");
}

#[test]
fn all_is_written_or_nothing_and_what_exists_stays() {
    let folder = Folder::new();
    folder.write("runs.csv", &example("leaderboard/runs.csv"));
    folder.write("karat.toml", "mine\n");
    let (status, _, stderr) = init(&folder, &["--yes", "runs.csv"]);
    assert!(status == 1 && stderr.contains("`karat.toml` exists already"), "{stderr}");
    assert_eq!(names(folder.path()), ["karat.toml", "runs.csv"]);
    let (status, ..) = init(&folder, &["--yes", "--out", "none/card.toml", "--force", "runs.csv"]);
    assert_eq!((status, names(folder.path())), (1, vec!["karat.toml".to_owned(), "runs.csv".to_owned()]));
    assert_eq!(fs::read_to_string(folder.path().join("karat.toml")).unwrap(), "mine\n");
    // The second file cannot be written: the first is put back.
    fs::remove_file(folder.path().join("karat.toml")).unwrap();
    fs::create_dir(folder.path().join("karat.toml")).unwrap();
    let (status, ..) = init(&folder, &["--yes", "--force", "runs.csv"]);
    assert_eq!((status, names(folder.path())), (1, vec!["karat.toml".to_owned(), "runs.csv".to_owned()]));
    fs::remove_dir(folder.path().join("karat.toml")).unwrap();
    let (status, shown, _) = init(&folder, &["--yes", "--dry-run", "runs.csv"]);
    assert!(status == 0 && shown.contains("# karat.toml"), "{shown}");
    assert_eq!(names(folder.path()), ["runs.csv"]);
    assert_eq!(init(&folder, &["--yes", "runs.csv"]).0, 0);
    let (status, _, stderr) = init(&folder, &["--yes", "runs.csv"]);
    assert!(status == 1 && stderr.contains("`scorecard.toml` and `karat.toml` exist already"), "{stderr}");
    assert_eq!(init(&folder, &["--yes", "--force", "runs.csv"]).0, 0);
    let (status, _, stderr) = init(&folder, &["--force", "runs.csv"]);
    assert!(status == 1 && stderr.contains("there is no terminal to ask on"), "{stderr}");
}

#[test]
fn logs_take_the_released_card_and_packed_files_are_looked_into() {
    let folder = Folder::new();
    folder.write("report.json", &example("import/swe-bench.json"));
    let (status, stdout, stderr) = init(&folder, &["--yes", "report.json"]);
    assert_eq!((status, stderr.as_str()), (0, ""), "{stdout}");
    assert!(fs::read_to_string(folder.path().join("karat.toml")).unwrap().contains("card     = \"run\""));
    assert_eq!(names(folder.path()), ["karat.toml", "report.json"]);
    assert_eq!(alone(folder.path(), &["check", "--update-baseline"]).status, 0);
    assert_eq!(alone(folder.path(), &["check"]).status, 0);
    let folder = Folder::new();
    let mut packed =
        GzEncoder::new(fs::File::create(folder.path().join("runs.csv.gz")).unwrap(), Compression::fast());
    packed.write_all(example("leaderboard/runs.csv").as_bytes()).unwrap();
    packed.finish().unwrap();
    assert_eq!(init(&folder, &["--yes"]).0, 0, "the only data of the folder is found");
    let run = alone(folder.path(), &["leaderboard"]);
    folder.write("runs.csv", &example("leaderboard/runs.csv"));
    let plain = alone(folder.path(), &["leaderboard", "-c", "scorecard.toml", "runs.csv"]);
    let (run, plain): (serde_json::Value, serde_json::Value) =
        (serde_json::from_str(&run.stdout).unwrap(), serde_json::from_str(&plain.stdout).unwrap());
    assert_eq!(run["leaderboards"], plain["leaderboards"]);
}

#[test]
fn three_questions_are_asked_on_a_terminal() {
    let folder = Folder::new();
    folder.write("runs.csv", "model,case,solved,zing\na,1,1,5\na,2,0,6\nb,1,1,7\nb,2,1,4\n");
    // A separate terminal, and the answers as a person types them.
    let script = "import os, pty, sys\n\
        answers = [b'nothing\\n', b'\\n', b'zing=sideways\\n', b'zing=lower\\n', b'worse 70\\n']\n\
        pid, terminal = pty.fork()\n\
        if pid == 0: os.execv(sys.argv[1], [sys.argv[1], 'init', 'runs.csv', '--color', 'never'])\n\
        seen = b''\n\
        while True:\n\
        \x20   try: part = os.read(terminal, 4096)\n\
        \x20   except OSError: break\n\
        \x20   if not part: break\n\
        \x20   seen += part\n\
        \x20   if seen.endswith((b'] ', b'none ')):\n\
        \x20       os.write(terminal, answers.pop(0) if answers else b'\\x04')\n\
        print(seen.decode())\n\
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n";
    let run = Command::new("python3")
        .args(["-B", "-c", script, env!("CARGO_BIN_EXE_karat")])
        .current_dir(folder.path())
        .env("TERM", "dumb")
        .output()
        .unwrap();
    let seen = String::from_utf8_lossy(&run.stdout).replace('\r', "");
    assert_eq!(run.status.code(), Some(0), "{seen}");
    for part in [
        "there is no field `nothing`", "What decides success?", "`sideways` is not higher or lower",
        "What stops a release?",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let card = fs::read_to_string(folder.path().join("scorecard.toml")).unwrap();
    assert!(card.contains("key     = \"zing\"") && card.contains("worst_zing"), "{card}");
    let project = fs::read_to_string(folder.path().join("karat.toml")).unwrap();
    assert!(project.contains("fail_under = 70") && project.contains("fail_if_worse = true"), "{project}");
}

/// A cell as tables have it.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (-50i32..2000).prop_map(|number| format!("{}", f64::from(number) / 10.0)),
        4 => (0u8..2).prop_map(|number| number.to_string()),
        2 => proptest::sample::select(vec!["NA", "nan", "", "-", "None", "null"]).prop_map(str::to_owned),
        2 => proptest::sample::select(vec!["yes", "no", "True", "FALSE"]).prop_map(str::to_owned),
        1 => "[a-zé \"',;%$.:-]{0,8}",
        1 => any::<f64>().prop_map(|number| number.to_string()),
        1 => any::<i64>().prop_map(|number| number.to_string()),
    ]
}

fn column() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => proptest::sample::select(vec![
            "solved", "score", "cost_usd", "Latency (ms)", "tokens", "passed", "error rate", "seed", "time", "n", "part", "run",
            "outcome", "task", "case_id", "metrics.accuracy", "if", "and", "domain", "zing", "reward", "$.x", "a\"b",
            "subject2", "best_reward",
        ]).prop_map(str::to_owned),
        1 => "[A-Za-zé_ .$-]{1,6}",
    ]
}

/// Writes a table; cells are quoted where they must be.
fn table(columns: &[String], rows: &[Vec<String>], mark: char) -> String {
    let quoted = |text: &String| {
        if text.contains([mark, '"', '\n']) {
            format!("\"{}\"", text.replace('"', "\"\""))
        } else {
            text.clone()
        }
    };
    let line = |cells: &[String]| cells.iter().map(quoted).collect::<Vec<_>>().join(&mark.to_string()) + "\n";
    let head = [&["model".to_owned()], columns].concat();
    let body = rows
        .iter()
        .enumerate()
        .map(|(at, row)| line(&[&[format!("bot-{}", at % 3)], row.as_slice()].concat()));
    line(&head) + &body.collect::<String>()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_table_is_scored_by_what_is_written_for_it(
        columns in proptest::collection::hash_set(column(), 1..6),
        kinds in proptest::collection::vec(proptest::collection::vec(cell(), 3), 6),
        picks in proptest::collection::vec(proptest::collection::vec(0usize..3, 6), 2..20),
        mark in proptest::sample::select(vec![',', '\t', ';']),
    ) {
        let mut columns: Vec<String> = columns
            .into_iter()
            .map(|name| name.trim().replace([',', ';', '\t'], ""))
            .filter(|name| !name.is_empty() && name != "model" && name != "subject")
            .collect();
        columns.sort();
        columns.dedup();
        // A column has few kinds of cells, so that many columns have a type.
        let rows: Vec<Vec<String>> = picks
            .iter()
            .map(|picks| columns.iter().enumerate().map(|(at, _)| kinds[at % 6][picks[at % 6] % 3].clone()).collect())
            .collect();
        let folder = Folder::new();
        let text = table(&columns, &rows, mark);
        folder.write("data.csv", &text);
        let (status, _, stderr) = init(&folder, &["--yes", "data.csv"]);
        if status != 0 {
            prop_assert!(stderr.starts_with("error: ") && !stderr.contains("no scorecard can be written"), "{}\n{}", stderr, text);
            prop_assert_eq!(names(folder.path()), ["data.csv"]);
            return Ok(());
        }
        let card = fs::read_to_string(folder.path().join("scorecard.toml")).unwrap();
        let checked = alone(folder.path(), &["card", "check", "scorecard.toml"]);
        prop_assert!(checked.status == 0 && checked.stdout.contains(" 0 errors"), "{}\n{}", checked.stdout, text);
        let scored = alone(folder.path(), &["score"]);
        prop_assert_eq!(scored.status, 0, "{}\n{}\n{}", scored.stderr, text, card);
        prop_assert_eq!(scored.stdout.lines().count(), rows.len());
    }
}
