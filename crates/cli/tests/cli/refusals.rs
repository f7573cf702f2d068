//! Bad input of every kind: a message for the person who must act, the right status, and nothing on standard output.

use std::process::Command;

use crate::common::{Folder, Run, example, finish, karat, karat_reading, program, root};
use insta::assert_snapshot;

/// Scores `text` as a file of JSON lines, in a separate folder.
fn score(card: &str, text: &str) -> Run {
    let folder = Folder::new();
    folder.write("runs.jsonl", text);
    folder.karat(&["score", "--card", card, "runs.jsonl"])
}

/// Returns the screen of a command that refused everything.
fn refused(run: &Run, status: i32) -> String {
    assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{}", run.stderr);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
    run.screen()
}

/// Returns a sound workflow run on one line, with one change.
fn run_with(from: &str, to: &str) -> String {
    let text = example("workflow/closed-gate.json").replace(from, to);
    assert!(text.contains(to), "the example has no `{from}`");
    text.lines().map(str::trim).collect::<String>() + "\n"
}

/// Checks a sound scorecard with one change, in a separate folder.
fn check_with(from: &str, to: &str) -> Run {
    let text = karat(&["card", "new", "mine"]).stdout;
    assert!(text.contains(from), "the starter has no `{from}`");
    let folder = Folder::new();
    folder.write("mine.toml", &text.replace(from, to));
    folder.karat(&["card", "check", "mine.toml"])
}

#[test]
fn a_truncated_item() {
    assert_snapshot!(refused(&score("workflow", "{\"run_id\": \"a\", \"miner_uid\": 3, \"task\": {"), 1));
}

#[test]
fn several_problems_at_once() {
    let text = run_with("\"actual_cost\": 0.01", "\"actual_cost\": -1")
        .replace("\"timeouts\": 1", "\"timeouts\": 0.5");
    assert_snapshot!(refused(&score("workflow", &text), 1));
}

#[test]
fn evidence_nested_ten_thousand_deep() {
    assert_snapshot!(refused(&score("workflow", &"[".repeat(10_000)), 1));
    let object = "{\"a\":".repeat(10_000);
    assert_eq!(score("workflow", &object).status, 1);
}

#[test]
fn the_first_bad_item_stops_and_the_good_ones_before_it_are_whole() {
    let good = run_with("\"timeouts\": 1", "\"timeouts\": 1");
    let run = score("workflow", &format!("{good}{{\"broken\"\n{good}"));
    assert_eq!((run.status, run.stdout.lines().count()), (1, 1));
    assert!(run.stdout.ends_with("}\n"), "{}", run.stdout);
    assert_snapshot!(run.stderr);
}

#[test]
fn keep_going_scores_the_good_and_lists_the_bad() {
    let good = run_with("\"timeouts\": 1", "\"timeouts\": 1");
    let folder = Folder::new();
    folder.write("runs.jsonl", &format!("{good}nonsense\n{good}{}{good}", good.replace("0.65", "6.5")));
    let run = folder.karat(&["score", "--card", "workflow", "--keep-going", "runs.jsonl"]);
    assert_eq!((run.status, run.stdout.lines().count()), (1, 3));
    assert_snapshot!(run.stderr);
}

#[test]
fn an_unknown_card() {
    assert_snapshot!(refused(
        &karat(&["score", "--card", "worklow", "examples/workflow/closed-gate.json"]),
        1
    ));
    assert_snapshot!(refused(&karat(&["card", "show", "workflow@9.0.0"]), 1));
}

#[test]
fn a_file_that_is_not_there() {
    assert_snapshot!(refused(
        &karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.jsn"]),
        1
    ));
}

#[test]
fn a_file_that_is_a_folder() {
    assert_snapshot!(refused(&karat(&["score", "--card", "workflow", "scorecards"]), 1));
    assert_snapshot!(refused(&karat(&["card", "check", "scorecards"]), 1));
}

#[test]
fn empty_input() {
    assert_snapshot!(refused(&karat_reading(&["score", "--card", "workflow"], ""), 1));
    assert_eq!(refused(&score("workflow", "\n\n"), 1).lines().count(), 3);
    let bar = karat_reading(&["score", "--card", "workflow", "--fail-under", "0.5"], "[]");
    assert!(refused(&bar, 1).contains("the array has no item"));
}

#[test]
fn an_item_that_never_ends() {
    let mut endless = program(&root());
    endless.args(["score", "--card", "workflow", "/dev/zero"]);
    assert!(refused(&finish(&mut endless, ""), 1).contains("a device, which has no end"));
    let mut endless = program(&root());
    endless.args(["score", "--card", "workflow", "-"]).stdin(std::fs::File::open("/dev/zero").unwrap());
    let told = endless.output().unwrap();
    assert!(String::from_utf8_lossy(&told.stderr).contains("an item of more than"), "{told:?}");
}

#[test]
fn a_problem_in_a_row_names_no_column_of_another_text() {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("a.csv", "subject,solved,asked\nbot,x,5\n");
    let screen = refused(&folder.karat(&["score", "--card", "mine.toml", "a.csv"]), 1);
    let hint =
        "for words declare the fact with type = \"text\"; leave the field out where there is no number";
    let end = format!("$.solved: found the text `x`, expected a number; {hint} (line 2)\n");
    assert!(screen.ends_with(&end), "{screen}");
}

#[test]
fn a_table_of_another_sort() {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    let score = |name: &str, table: &str| {
        folder.write(name, table);
        let arguments = ["score", "--card", "mine.toml"];
        let screen = refused(&folder.karat(&[&arguments[..], &[name]].concat()), 1);
        let piped = refused(&finish(program(folder.path()).args(arguments), table), 1);
        assert_eq!(piped, screen.replace(name, "standard input"));
        screen
    };
    let screens = [
        score("a.csv", "subject;solved;asked\nbot;41,5;50\n"),
        score("b.csv", "agent,solved,asked,cost_usd,budget_usd,model,run,date\nbot,41,50,3.2,5,m,1,2\n"),
    ];
    assert_snapshot!(screens.join("\n"), @r"
    exit status 1
    --- errors
    error: a.csv:2: $.solved: found the text `41,5`, expected a number; write it with a point for decimals, and no marks between thousands (line 2)

    exit status 1
    --- errors
    error: b.csv:2: $: found no name among the fields `agent`, `solved`, `asked`, `cost_usd`, `budget_usd`, `model` and 2 more, expected `subject` or an `id`; say who is scored (line 2)
      to take another field for the subject, name it: --subject-field FIELD
    ");
    folder.write("a.tsv", "subject\tsolved\tasked\nbot\t41\t50\n");
    assert_eq!(folder.karat(&["score", "--card", "mine.toml", "a.tsv"]).status, 0);
    let run = folder.karat(&["score", "--card", "mine.toml", "--subject-field", "agent", "b.csv"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[test]
fn a_formula_or_weight_that_cannot_be_read_is_no_matter_of_sums() {
    let formula = check_with("\"solved / asked\"", "\"solved / \"");
    let weight = check_with("weight  = 0.7", "weight  = -0.7");
    for (run, code) in [(formula, "KC201"), (weight, "KC005")] {
        assert_eq!(run.status, 13);
        assert!(run.stdout.contains(code) && run.stdout.contains("refused, 1 error, "), "{}", run.stdout);
    }
}

#[test]
fn a_card_with_more_problems_than_anyone_reads() {
    let text: String = (0..50_000).map(|n| format!("k{n} = 1\n")).collect();
    let run = karat_reading(&["card", "check", "-"], &text);
    assert_eq!(run.status, 13);
    assert!(run.stdout.contains("more problems from here on are not listed"));
    assert!(run.stdout.ends_with("refused, 101 errors, 0 warnings, 0 notes\n"));
}

#[cfg(target_os = "linux")]
#[test]
fn help_that_cannot_be_written_is_not_done() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_karat")).arg("--help").stdout(full).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
}

#[test]
fn a_table_for_a_card_that_reads_documents() {
    let folder = Folder::new();
    folder.write("runs.csv", "run_id,score\na,1\n");
    assert_snapshot!(refused(&folder.karat(&["score", "-c", "workflow", "runs.csv"]), 1));
}

#[test]
fn a_family_is_not_scored() {
    assert_snapshot!(refused(&karat(&["score", "-c", "arena", "examples/arena/timed.jsonl"]), 1));
}

#[test]
fn a_fact_that_the_evidence_does_not_have() {
    let text = karat(&["card", "new", "mine", "--kind", "reasoning-trace"]).stdout;
    let folder = Folder::new();
    folder.write("mine.toml", &text.replace("unique_tool_count", "unique_tools_count"));
    let run = folder.karat(&["card", "check", "mine.toml"]);
    assert_eq!(run.status, 13);
    assert_snapshot!(run.screen());
}

#[test]
fn a_refused_card_scores_nothing() {
    let folder = Folder::new();
    folder.write(
        "mine.toml",
        &karat(&["card", "new", "mine"]).stdout.replace("solved / asked", "solvd / asked"),
    );
    folder.write("a.jsonl", "{\"subject\":\"a\",\"solved\":1,\"asked\":2}\n");
    assert_snapshot!(refused(&folder.karat(&["score", "-c", "mine.toml", "a.jsonl"]), 13));
}

#[test]
fn a_card_that_is_not_toml() {
    let folder = Folder::new();
    folder.write("mine.toml", "id = \"a\nversion = 1");
    let run = folder.karat(&["card", "check", "mine.toml"]);
    assert_eq!(run.status, 13);
    assert_snapshot!(run.screen());
}

#[test]
fn a_card_that_is_not_text() {
    let folder = Folder::new();
    folder.write("item.jsonl", "{\"subject\": \"a\"}\n");
    std::fs::write(folder.path().join("binary.toml"), b"id = \"\xff\"").unwrap();
    folder.write("large.toml", &"#".repeat((16 << 20) + 1));
    for (file, why) in [
        ("binary.toml", "`binary.toml` is not a scorecard: byte 6 is not UTF-8 text"),
        ("large.toml", "`large.toml` is larger than 16777216 bytes, so it is not a scorecard"),
    ] {
        for arguments in [&["card", "check", file][..], &["score", "-c", file, "item.jsonl"]] {
            let screen = refused(&folder.karat(arguments), 13);
            assert!(screen.contains(why), "{screen}");
        }
    }
    // A missing file, or one that cannot be opened, is not refused: it could not be read.
    assert_eq!(folder.karat(&["card", "check", "absent.toml"]).status, 1);
}

#[test]
fn the_same_findings_as_json() {
    let folder = Folder::new();
    folder.write(
        "mine.toml",
        &karat(&["card", "new", "mine"]).stdout.replace("weight  = 0.3", "weight  = 0.45"),
    );
    let run = folder.karat(&["card", "check", "--json", "mine.toml"]);
    assert_eq!(run.status, 13);
    assert_snapshot!(run.screen());
}

#[test]
fn weights_from_outside_that_are_no_weights() {
    let folder = Folder::new();
    folder.write("a.json", r#"{"accuracy": "0.5"}"#);
    folder.write("b.json", "[]");
    folder.write("c.json", "{\"accuracy\": 0.1");
    folder.write("d.json", r#"{"accuracy": 0.1, "accuracy": 0.2}"#);
    folder.write("agents.jsonl", &example("trust/coverage.jsonl"));
    let screens: Vec<String> = ["a.json", "b.json", "c.json", "d.json"]
        .iter()
        .map(|file| refused(&folder.karat(&["score", "-c", "trust", "--override", file, "agents.jsonl"]), 1))
        .collect();
    assert_snapshot!(screens.join("\n"));
    folder.write("w.json", r#"{"success": 0.5}"#);
    assert_snapshot!(refused(
        &folder.karat(&["score", "-c", "workflow", "--override", "w.json", "agents.jsonl"]),
        1
    ));
}

#[test]
fn a_record_that_was_changed() {
    let record = karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    let better = record.replace("\"exact\":0.405,\"published\":0.405", "\"exact\":0.95,\"published\":0.95");
    assert_ne!(record, better);
    assert_snapshot!(refused(&karat_reading(&["explain"], &better), 14));
    let facts = record.replace("\"output_quality\":0.65", "\"output_quality\":0.9");
    assert_snapshot!(refused(&karat_reading(&["explain"], &facts), 14));
    let moment = record.replace("\"as_of\":null", "\"as_of\":\"yesterday\"");
    assert!(
        refused(&karat_reading(&["explain"], &moment), 14)
            .contains("`as_of` is `yesterday`, expected an RFC 3339 timestamp")
    );
}

#[test]
fn a_record_that_its_evidence_does_not_give() {
    let folder = Folder::new();
    let run = example("workflow/closed-gate.json");
    folder.write("run.json", &run);
    folder.write("better.json", &run.replace("\"output_quality\": 0.65", "\"output_quality\": 0.95"));
    let record = |file: &str| folder.karat(&["score", "--card", "workflow", file]).stdout;
    let digest = |record: &str| record.split("sha256:").nth(1).unwrap().get(..64).unwrap().to_owned();
    let (sound, better) = (record("run.json"), record("better.json"));
    // A record of other facts that names the digest of the run: nothing in it contradicts itself.
    folder.write("forged.json", &better.replace(&digest(&better), &digest(&sound)));
    assert_eq!(folder.karat(&["explain", "forged.json"]).status, 0);
    let forged = refused(&folder.karat(&["explain", "forged.json", "--evidence", "run.json"]), 14);
    assert_snapshot!(forged, @r"
    exit status 14
    --- errors
    error: the record of `8` is not what run.json:1 gives
      different: facts and score; the same: subject, id, digest, task and warnings
      facts.output_quality: the record says 0.95, by the evidence it is 0.65
      score.exact: the record says 0.875, by the evidence it is 0.405
      score.published: the record says 0.875, by the evidence it is 0.405
    ");
    // A field that nothing reads still makes another item.
    folder.write("noted.json", &run.replacen('{', "{\"note\": 1,", 1));
    folder.write("record.json", &sound);
    let noted = refused(&folder.karat(&["explain", "record.json", "--evidence", "noted.json"]), 14);
    assert!(
        noted.contains("\n  different: digest; the same: subject, id, task, facts, score and warnings\n"),
        "{noted}"
    );
    // An item of another subject is compared only if it is alone.
    let other = example("workflow/worked-example.json");
    folder.write("other.json", &other);
    let other = refused(&folder.karat(&["explain", "record.json", "--evidence", "other.json"]), 14);
    assert!(
        other.contains("\n  different: subject, id, digest, facts and score; the same: task and warnings\n"),
        "{other}"
    );
    folder.write("others.jsonl", &example("workflow/retries.jsonl"));
    let others = refused(&folder.karat(&["explain", "record.json", "--evidence", "others.jsonl"]), 14);
    assert!(others.contains("`others.jsonl` does not have the evidence of this record of `8`"), "{others}");
}

#[test]
fn a_record_that_cannot_be_compared_with_its_evidence() {
    let record = karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    let compared = |evidence: &str| refused(&karat_reading(&["explain", "--evidence", evidence], &record), 1);
    assert!(compared("-").contains("standard input cannot be both the record and its evidence"));
    assert!(compared("absent.json").contains("cannot read `absent.json`"));
    assert!(compared("examples/trust/coverage.jsonl").contains("is this of that kind?"));
    let file = "examples/workflow/closed-gate.json";
    for card in [&[][..], &["--card", "workflow"]] {
        let screen = refused(&karat(&[&["explain", file, "--evidence", file], card].concat()), 1);
        assert!(screen.contains("this is not a record, so there is nothing to compare"), "{screen}");
    }
}

#[test]
fn a_record_that_was_cut_off() {
    let record = karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    let screen = refused(&karat_reading(&["explain"], record.get(..500).unwrap()), 1);
    assert!(screen.contains("this is not JSON, from its line 1, column 500 on"), "{screen}");
}

#[test]
fn a_record_of_a_version_that_is_not_known() {
    let record = karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    let later = record.replace("karat/record/1", "karat/record/2");
    assert_snapshot!(refused(&karat_reading(&["explain"], &later), 1), @r"
    exit status 1
    --- errors
    error: this is a record of the schema `karat/record/2`, which is not known here
      karat 0.1.0 reads `karat/record/1`
      use a version of karat that reads it: `engine` in the record names its writer
    ");
}

#[test]
fn a_record_that_was_reformatted() {
    let record = karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    assert_snapshot!(refused(&karat_reading(&["explain"], &record.replace("\":", "\": ")), 14));
}

#[test]
fn a_record_of_another_card() {
    let record = karat(&["score", "--card", "workflow", "examples/workflow/closed-gate.json"]).stdout;
    let renamed = record.replace("\"id\":\"workflow\"", "\"id\":\"workflaw\"");
    assert_snapshot!(refused(&karat_reading(&["explain"], &renamed), 1));
    let folder = Folder::new();
    let other = std::fs::read_to_string(root().join("scorecards/workflow/1.0.0.toml")).unwrap();
    folder.write(
        "other.toml",
        &other.replace("weight  = 0.50", "weight  = 0.60").replace("weight  = 0.25", "weight  = 0.15"),
    );
    folder.write("record.json", &record);
    assert_snapshot!(refused(&folder.karat(&["explain", "--card", "other.toml", "record.json"]), 14));
}

#[test]
fn evidence_without_a_card_is_not_explained() {
    assert_snapshot!(refused(&karat(&["explain", "examples/workflow/closed-gate.json"]), 1));
    assert_snapshot!(refused(&karat(&["explain", "-c", "trust", "examples/trust/security.jsonl"]), 1));
    assert_snapshot!(refused(
        &karat(&["explain", "-c", "trust", "--subject", "nobody", "examples/trust/security.jsonl"]),
        1
    ));
}

#[test]
fn cards_for_different_evidence_are_not_compared() {
    assert_snapshot!(refused(
        &karat(&["card", "diff", "workflow", "trust", "examples/trust/security.jsonl"]),
        1
    ));
}

#[test]
fn the_bar_of_a_release() {
    let bar = |points: &str, card: &str, file: &str| {
        karat(&["score", "--table", "--fail-under", points, "-c", card, file]).status
    };
    assert_eq!(bar("0.4", "workflow", "examples/workflow/closed-gate.json"), 0);
    assert_eq!(
        bar("0.405", "workflow", "examples/workflow/closed-gate.json"),
        0,
        "at the bar is not below it"
    );
    assert_eq!(bar("0.405001", "workflow", "examples/workflow/closed-gate.json"), 10);
    assert_eq!(bar("100", "trust", "examples/trust/security.jsonl"), 11, "a gate held");
    assert_eq!(bar("100", "trust", "examples/trust/coverage.jsonl"), 0);
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("runs.jsonl", "{\"subject\": \"a\"}\n");
    let run = folder.karat(&["score", "--table", "-c", "mine.toml", "--fail-under", "1", "runs.jsonl"]);
    assert_eq!(run.status, 12);
    assert_snapshot!(run.screen());
}

#[test]
fn a_command_line_that_is_not_understood() {
    for wrong in
        [&["scor"][..], &["score"], &["score", "-c", "trust", "--fail-under", "many"], &["card"], &[]]
    {
        let run = karat(wrong);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{wrong:?}: {}", run.stderr);
    }
    assert_snapshot!(karat(&["score", "-c", "trust", "--fail-under", "-1"]).screen());
    assert_snapshot!(karat(&["score", "-c", "trust", "--as-of", "yesterday"]).screen());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let program = program(&root()).get_program().to_owned();
    for verb in ["demo", "card show trust", "score -c workflow examples/workflow/retries.jsonl"] {
        let script = format!("\"$KARAT\" {verb} | true; exit \"${{PIPESTATUS[0]}}\"");
        let mut shell = Command::new("bash");
        let run = finish(shell.args(["-c", &script]).env("KARAT", &program).current_dir(root()), "");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{verb}");
    }
}

#[test]
fn a_field_that_may_be_a_misspelt_fact() {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder.write("runs.csv", "subject,solvd,asked,cost_usd,budget_usd\na,41,50,3.2,5\n");
    let run = folder.karat(&["score", "--json", "--card", "mine.toml", "runs.csv"]);
    assert_eq!(run.status, 0);
    assert_snapshot!(run.stderr);
    // A field similar to a fact that is given needs no question.
    folder.write("runs.csv", "subject,solved,solved_1,asked,cost_usd,budget_usd\na,41,40,50,3.2,5\n");
    let run = folder.karat(&["score", "--json", "--card", "mine.toml", "runs.csv"]);
    assert_snapshot!(run.stderr);
}

#[test]
fn evidence_of_another_kind() {
    assert_snapshot!(refused(&score("workflow", "{\"subject\": \"a\", \"solved\": 41}"), 1));
}

#[test]
fn evidence_in_the_place_of_the_card() {
    let run = karat(&["score", "--card", "examples/tests/reports.jsonl", "examples/cards/test-report.toml"]);
    assert_snapshot!(refused(&run, 13));
}
