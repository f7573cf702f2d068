//! Raw evidence on the command line: observations of graders, alone and in explanations, and evaluators in challenges.

#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::common::{Folder, Run, example, karat, root};

/// Runs a command line without quotes at the root of the repository.
pub fn line(text: &str) -> Run {
    karat(&text.split_whitespace().collect::<Vec<_>>())
}

/// Returns the screen of a command that refused everything.
pub fn refused(run: &Run, status: i32) -> String {
    assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{}", run.stderr);
    run.screen()
}

pub fn done(run: Run) -> String {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    run.stdout
}

/// Returns every line as JSON.
pub fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns a folder with the example traces and an empty cache for their vectors.
pub fn traces() -> Folder {
    let folder = Folder::new();
    folder.write("traces.jsonl", &example("raw/traces.jsonl"));
    done(folder.karat(&["cache", "new", "mine.cache", "--dimension", "4"]));
    folder
}

/// Returns the names of the files in a folder.
pub fn files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap()
}

#[test]
fn a_trace_is_graded_and_the_cache_is_left_as_it_is() {
    let folder = traces();
    let before = bytes(&folder, "mine.cache");
    let arguments = ["grade", "reasoning-trace", "--cache", "mine.cache", "traces.jsonl"];
    let screen = done(folder.karat(&[&arguments[..], &["--table"]].concat()));
    assert!(screen.contains("\nnovelty               0.03999999332428039\n"), "{screen}");
    assert!(screen.contains("    id                       agent-first/kp:trace:raw-first\n"), "{screen}");
    let graded = lines(&done(folder.karat(&arguments)));
    assert_eq!(graded[0]["grading"]["novelty"]["basis"], "nothing_earlier");
    assert_eq!(graded[1]["grading"]["novelty"]["nearest"]["id"], "agent-first/kp:trace:raw-first");
    assert_eq!((files(&folder).len(), bytes(&folder, "mine.cache")), (2, before));
}

#[test]
fn dimensions_of_agents_have_no_grader_and_are_shown() {
    let screen = done(line("grade agent-dimensions --table examples/trust/coverage.jsonl"));
    assert!(screen.contains("\nagent-all-sixteen coverage.jsonl:2\n\nfact "), "{screen}");
    assert!(screen.contains("\naccuracy                       0.92\n"), "{screen}");
    assert!(!screen.contains("Seen"), "{screen}");
    let graded = lines(&done(line("grade agent-dimensions examples/trust/coverage.jsonl")));
    assert!(graded.iter().all(|one| one["grading"].is_null()));
}

#[test]
fn an_agent_is_graded_at_the_moment_that_is_given() {
    let grade = "grade agent-evidence examples/trust/agent.json";
    let graded = lines(&done(line(grade))).remove(0);
    assert!(graded["grading"]["accuracy"]["status"].is_string(), "{graded}");
    let later = lines(&done(line(&format!("{grade} --as-of 2027-01-01T00:00:00Z")))).remove(0);
    let age = |graded: &Value| graded["grading"]["accuracy"]["age_seconds"].as_f64().unwrap();
    // A fact is the age at the time of the newest item, whenever that is asked for.
    assert_eq!(later["facts"]["accuracy_age_seconds"], graded["facts"]["accuracy_age_seconds"]);
    assert!(age(&later) > age(&graded) + 86_400.0, "{later}");
    let screen = done(line(&format!("{grade} --table")));
    assert!(screen.contains("\nSeen by the grader of accuracy\n"), "{screen}");
}

#[test]
fn what_nothing_reads_is_named_after_grading() {
    let folder = Folder::new();
    let text =
        example("raw/workflow.jsonl").replace("\"lint_violations\"", "\"mood\": 1, \"lint_violations\"");
    folder.write("runs.jsonl", &text);
    let run = folder.karat(&["grade", "workflow-run", "runs.jsonl"]);
    assert_eq!((run.status, run.stdout.lines().count()), (0, 3));
    assert_eq!(run.stderr, "note: fields that nothing reads: `$.result.mood` (1)\n");
}

#[test]
fn the_time_of_the_verdict_goes_into_the_grading() {
    let later = done(line("score -c trace --as-of 2026-04-01T00:00:00Z examples/raw/traces.jsonl"));
    assert_eq!(lines(&later)[1]["grading"]["novelty"]["nearest"]["moment"], "2026-04-01T00:00:00Z");
}

#[test]
fn a_budget_changes_no_byte_where_no_text_is_embedded() {
    let score = "score -c trace examples/raw/traces.jsonl examples/raw/traces.jsonl --keep-going";
    let [hasty, patient] = ["1", "1000000"].map(|limit| line(&format!("{score} --budget-ms {limit}")));
    assert_eq!((hasty.status, &hasty.stdout), (patient.status, &patient.stdout));
    assert!(!patient.stderr.contains("took"), "{}", patient.stderr);
    assert_eq!(line(&format!("{score} --budget-ms 0")).status, 2);
}

#[test]
fn an_explanation_shows_what_was_seen() {
    let screen = done(line("explain --table -c incident-review examples/raw/match.json"));
    assert!(screen.contains("\nSeen by the grader of evaluation\n"), "{screen}");
    let folder = traces();
    let score = ["score", "-c", "trace", "--cache", "mine.cache", "traces.jsonl"];
    fs::copy(folder.path().join("mine.cache"), folder.path().join("old.cache")).unwrap();
    folder.write("record.json", done(folder.karat(&score)).lines().nth(1).unwrap());
    // From the record alone, and from its evidence with the earlier cache.
    let against = |cache: &str| {
        folder.karat(&["explain", "--table", "record.json", "--evidence", "traces.jsonl", "--cache", cache])
    };
    for screen in [done(folder.karat(&["explain", "--table", "record.json"])), done(against("old.cache"))] {
        assert!(screen.contains("    id                       agent-first/kp:trace:raw-first\n"), "{screen}");
    }
    assert!(
        done(against("old.cache")).contains("\n  those of the evidence: traces.jsonl:2 gives the same\n")
    );
    // With the later cache the score is the same, and the observations differ.
    let screen = refused(&against("mine.cache"), 14);
    assert!(
        screen.contains("different: grading; the same: subject, id, digest, time, facts, score and warnings"),
        "{screen}"
    );
    assert!(
        screen.contains("\n  a novelty is read against a cache: give --cache as it was before the record")
    );
}

#[test]
fn a_record_keeps_what_was_seen_and_the_evidence_shows_if_it_was() {
    let folder = Folder::new();
    let runs = example("raw/workflow.jsonl");
    let run = runs.lines().nth(2).unwrap();
    folder.write("run.json", run);
    let record = done(folder.karat(&["score", "-c", "workflow", "run.json"]));
    let explain = |record: &str, evidence: &str| {
        folder.write("record.json", record);
        folder.karat(&["explain", "--table", "record.json", "--evidence", evidence])
    };
    assert!(done(explain(&record, "run.json")).contains("those of the evidence: run.json:1 gives the same"));

    // Another criterion that is met as well: only the observations differ.
    folder.write("changed.json", &run.replace("\"text\": \"booked\"", "\"text\": \"status\""));
    let screen = refused(&explain(&record, "changed.json"), 14);
    assert_snapshot!(screen, @r#"
    exit status 14
    --- errors
    error: the record of `23` is not what changed.json:1 gives
      different: digest and grading; the same: subject, id, task, facts, score and warnings
      evidence.digest: the record says "sha256:[digest]…, by the evidence it is "sha256:[digest]…
      grading.quality.criteria[0].wanted: the record says "booked", by the evidence it is "status"
    "#);

    // Observations do not reach the score, so a record that was changed there still follows from its facts.
    let tampered = record.replace("\"wanted\":\"booked\"", "\"wanted\":\"anything\"");
    assert_ne!(tampered, record);
    folder.write("tampered.json", &tampered);
    let alone = done(folder.karat(&["explain", "--table", "tampered.json"]));
    assert!(alone.contains("whose facts they are, only the evidence shows"), "{alone}");
    let screen = refused(&explain(&tampered, "run.json"), 14);
    assert!(
        screen.contains("different: grading; the same: subject, id, digest, task, facts, score and warnings"),
        "{screen}"
    );
    let start = record.find("\"grading\":{").unwrap();
    let end = record.find(",\"mean\":").unwrap();
    let without = |grading: &str| format!("{}\"grading\":{grading}{}", &record[..start], &record[end..]);
    let screen = refused(&explain(&without("null"), "run.json"), 14);
    assert!(screen.contains("  grading: the record says null, by the evidence it is {"), "{screen}");
    let screen = refused(&explain(&without("\"all is well\""), "run.json"), 14);
    assert!(screen.contains("this is not a sound record: `grading` is not an object"), "{screen}");
}

/// Returns the findings of code KC005 on the challenge with one change.
fn checked(from: &str, to: &str) -> String {
    let text = fs::read_to_string(root().join("scorecards/arena/challenges/incident-review.toml")).unwrap();
    assert!(text.contains(from), "the challenge has no `{from}`");
    let folder = Folder::new();
    folder.write("mine.toml", &text.replacen(from, to, 1));
    let run = folder.karat(&["card", "check", "mine.toml"]);
    assert_eq!(run.status, 13, "{}", run.screen());
    let findings = run.stdout.split("\n\n").filter(|finding| finding.starts_with("error[KC005]"));
    findings.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn a_fault_of_an_evaluator_has_its_line() {
    assert_snapshot!(checked("primitive = \"exact_match\"", "primitive = \"exact_mach\""), @r#"
    error[KC005]: `evaluator.correctness[0].primitive`: found the text `exact_mach`, expected one of exact_match, exact_match_ratio, numeric_tolerance, fuzzy_string, set_overlap, coverage_ratio, time_decay, api_call_efficiency, tests, script
      --> mine.toml:23:13
       |
    23 | primitive = "exact_mach"
       |             ^
       |
       = help: did you mean `exact_match`?
    "#);
    assert_snapshot!(checked("[[evaluator.speed]]", "[[evaluator.precision]]"), @r"
    error[KC005]: `evaluator.precision`: found an array of 1, expected a dimension that the challenge picks: correctness, methodology, speed, completeness
      --> mine.toml:42:1
       |
    42 | [[evaluator.precision]]
       | ^
    ");
    let several = checked("tolerance = 5", "tolerance = -5\ntolerence = 5");
    assert!(several.contains("mine.toml:31:13") && several.contains("mine.toml:32:13"), "{several}");
    assert!(several.contains("did you mean `tolerance`?"), "{several}");
    let dimension = checked("summary = [\"methodology\"]", "summary = [\"analysis\"]");
    assert!(dimension.contains("`format.dimensions.summary[0]`: found the text `analysis`"), "{dimension}");
}

#[test]
fn tables_for_graders_are_of_one_kind_of_evidence() {
    let evaluator = "[[evaluator.success]]\nprimitive = \"exact_match\"\nfield = \"a\"";
    for (card, tables, says) in [
        ("workflow/1.0.0.toml", evaluator, "of kind `workflow-run` is not graded by a table `evaluator`"),
        ("workflow/1.0.0.toml", "[format]\nrequired_strings = [\"a\"]", "is not graded by a table `format`"),
        (
            "workflow/1.0.0.toml", "# no [evaluator] here\n[ evaluator ]",
            "is not graded by a table `evaluator`",
        ),
        (
            "trust/1.0.0.toml", "[jury]\nseats = \"model\"",
            "of kind `agent-dimensions` is not graded by a table `jury`",
        ),
        ("trust/1.1.0.toml", evaluator, "of kind `agent-evidence` is not graded by a table `evaluator`"),
        (
            "trust/1.1.0.toml",
            "[jury]\nseats = \"judge\"",
            "$.jury.seats: found \"judge\", expected \"verdict\" or \"model\"",
        ),
        (
            "arena/challenges/log-forensics.toml", "[jury]\nseats = \"model\"",
            "of kind `match` is not graded by a table `jury`",
        ),
    ] {
        let text = fs::read_to_string(root().join("scorecards").join(card)).unwrap();
        let folder = Folder::new();
        let header = if text.contains("\n[facts]") { "[facts]" } else { "[dims]" };
        let at = text.lines().position(|line| line == header).unwrap();
        folder
            .write("mine.toml", &text.replacen(&format!("\n{header}"), &format!("\n{tables}\n{header}"), 1));
        let run = folder.karat(&["card", "check", "mine.toml"]);
        assert_eq!(run.status, 13, "{}", run.stdout);
        let line = at + 1 + usize::from(tables.starts_with('#'));
        let place = format!("--> mine.toml:{line}:1\n");
        assert!(run.stdout.contains(says) && run.stdout.contains(&place), "{says} {place}{}", run.stdout);
    }
}

/// "The top and bottom 20 % of jury scores", also of judges with one model; seats for models are what a card may ask for.
#[test]
fn a_card_says_whether_the_models_of_a_jury_have_one_seat() {
    let check = |at: usize| json!({"id": format!("c{at}"), "category": "task", "task": format!("t{at}"), "method": "jury"});
    let verdict = |at: usize, (judge, score): (usize, u8)| {
        json!({"id": format!("v{at}-{judge}"), "check": format!("c{at}"), "judge": format!("j{judge}"), "score": score,
            "provider": (["north", "south"][judge / 4]), "model": (["m", "n"][judge / 4])})
    };
    let scores = [80, 82, 84, 86, 0];
    let verdicts: Vec<Value> = (0..10)
        .flat_map(|at| scores.into_iter().enumerate().map(move |of_judge| (at, of_judge)))
        .map(|(at, of_judge)| verdict(at, of_judge))
        .collect();
    let agent = json!({"agent_id": "a", "id": "e", "evaluations": [{
        "id": "e1", "time": "2026-05-01T00:00:00Z", "runner": {"id": "lab", "independence": "third-party"},
        "checks": (0..10).map(check).collect::<Vec<_>>()}], "verdicts": verdicts});
    let folder = Folder::new();
    folder.write("agent.json", &agent.to_string());
    let text = fs::read_to_string(root().join("scorecards/trust/1.1.0.toml")).unwrap();
    let own = text.replacen("\n[facts]", "\n[jury]\nseats = \"model\"\n[facts]", 1);
    folder.write("own.toml", &own.replacen("id       = \"trust\"", "id       = \"own\"", 1));
    let panel = |card: &str| {
        let run = folder.karat(&["score", "-c", card, "agent.json"]);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
        record["grading"]["panels"]["c0"].clone()
    };
    let of_scores = panel("trust");
    assert_eq!(
        [&of_scores["seats"], &of_scores["median"], &of_scores["weight"]],
        [&json!(5), &json!(82), &json!(1)]
    );
    let of_models = panel("own.toml");
    assert_eq!(
        [&of_models["seats"], &of_models["median"], &of_models["weight"]],
        [&json!(2), &json!(41.5), &json!(0)]
    );
}

/// Returns the folder of the model, as `crates/graders/tests/it/embedder.rs` finds it, which also reports a missing one.
fn model() -> Option<String> {
    let cache = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cache"));
        cache.join("karat-ci/embedder")
    };
    let folder = std::env::var_os("KARAT_EMBEDDER").map_or_else(cache, PathBuf::from);
    folder.is_dir().then(|| folder.to_string_lossy().into_owned())
}

#[test]
fn texts_are_embedded_alike_everywhere_and_the_record_names_the_model() {
    let Some(model) = model() else { return };
    let folder = Folder::new();
    let texts: Vec<String> = lines(&example("raw/traces.jsonl"))
        .into_iter()
        .take(2)
        .map(|mut trace| {
            trace.as_object_mut().unwrap().remove("vector").unwrap();
            trace.to_string()
        })
        .collect();
    folder.write("texts.jsonl", &texts.join("\n"));
    let score = |cache: &str, more: &[&str]| {
        done(folder.karat(&["cache", "new", cache]));
        let run = folder.karat(
            &[&["score", "-c", "trace", "--embedder", &model, "--cache", cache, "texts.jsonl"], more]
                .concat(),
        );
        assert_eq!(run.status, 0, "{}", run.stderr);
        run
    };
    let ours = score("a.cache", &["--budget-ms", "1000000"]);
    let portable = score("b.cache", &["--portable", "--budget-ms", "1000000"]);
    assert_eq!(ours.stdout, portable.stdout);
    assert_eq!(bytes(&folder, "a.cache"), bytes(&folder, "b.cache"));
    let record = ours.stdout.lines().next().unwrap();
    assert!(record.contains("\"grading\":{\"embedding\":{\"embedder\":\"sha256:"), "{record}");
    // Grading again without the model reports that it is missing.
    folder.write("record.json", record);
    done(folder.karat(&["cache", "new", "before.cache"]));
    let run =
        folder.karat(&["explain", "record.json", "--evidence", "texts.jsonl", "--cache", "before.cache"]);
    let screen = refused(&run, 12);
    assert!(screen.contains("a model embedded its text, which is not given"), "{screen}");
    assert!(screen.contains("--embedder if a model embedded the text"), "{screen}");

    // Time decides no byte: what takes longer is named.
    let hasty = score("c.cache", &["--budget-ms", "1"]);
    assert!(hasty.stderr.contains("ms of the 1.0 ms allowed"), "{}", hasty.stderr);
    assert_eq!((&hasty.stdout, bytes(&folder, "c.cache")), (&ours.stdout, bytes(&folder, "a.cache")));
    done(folder.karat(&["cache", "new", "empty.cache"]));
    let explain =
        ["explain", "--table", "record.json", "--evidence", "texts.jsonl", "--cache", "empty.cache"];
    let screen = done(folder.karat(&[&explain[..], &["--embedder", &model]].concat()));
    assert!(screen.contains("those of the evidence: texts.jsonl:1 gives the same"), "{screen}");
}
