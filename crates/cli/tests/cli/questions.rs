//! Questions as JSON, as packages in other languages ask them: the documents of the command line, byte for byte.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::ops::ControlFlow;

use karat::card::CompiledCard;
use karat::engine::{Engine, HandedVector, Options, Wanted};
use karat::json::{Failure, Feed, Feeds, Paths, Visit, answer, verified, verify};
use karat::write::{Form, text};
use karat::{Error, Place};
use karat_core::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::common::{Folder, example};

/// A folder with these examples under their own names, and the same as files of a question.
fn files(paths: &[&str]) -> (Folder, Vec<Value>) {
    let folder = Folder::new();
    let files = paths.iter().map(|path| {
        let (name, text) = (path.rsplit('/').next().unwrap_or(path), example(path));
        folder.write(name, &text);
        json!({"name": name, "text": text})
    });
    let files = files.collect();
    (folder, files)
}

fn answered(question: &Value) -> Result<String, String> {
    let answer = answer(question.to_string().as_bytes());
    answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(|error| {
        let failure: Value = serde_json::to_value(Failure::from(&error)).unwrap_or_default();
        assert_eq!(failure["code"], error.code().name());
        error.to_string()
    })
}

/// Checks that the answer to a question, and its document, match a command.
fn same_as(folder: &Folder, question: &Value, feeds: &Feeds<'_>, line: &str) {
    let found = karat::json::answered(question.to_string().as_bytes(), feeds).unwrap();
    let run = folder.line(&format!("{line} --format json"));
    assert!(String::from_utf8(found.json).unwrap() == run.stdout.trim_end(), "{line}: {}", run.stderr);
    let run = folder.line(&format!("{line} --format markdown"));
    assert!(text(Form::Markdown, &found.document).trim_end() == run.stdout.trim_end(), "{line}");
}

/// Lines of a text as a source.
struct Lines<'a> {
    name: &'a str,
    text: &'a str,
}

impl Feed for Lines<'_> {
    fn each(&self, _wanted: &Wanted, visit: &mut Visit<'_>) -> Result<Vec<String>, Error> {
        for (line, item) in (1..).zip(self.text.lines()) {
            let place = Place { file: self.name.to_owned(), line: Some(line), nth: 1, is_row: false };
            if let ControlFlow::Break(()) = visit(&place, Ok(item.as_bytes())) {
                break;
            }
        }
        Ok(Vec::new())
    }
}

#[test]
fn a_source_and_paths_are_answered_as_their_files() {
    let (folder, _) = files(&["standing/agents.jsonl", "import/main.json", "import/pr.json"]);
    folder.write("support-agent.toml", &example("cards/support-agent.toml"));
    let agents = example("standing/agents.jsonl");
    let lines = Lines { name: "agents.jsonl", text: &agents };
    let mut question = json!({"question": "leaderboard", "card_text": example("cards/support-agent.toml"),
        "files": [{"name": "agents.jsonl"}]});
    let line = "leaderboard -c support-agent.toml agents.jsonl";
    same_as(&folder, &question, &Feeds::from([(String::from("agents.jsonl"), &lines as &dyn Feed)]), line);
    assert!(answered(&question).unwrap_err().contains("`agents.jsonl` has no text"));
    question["files"][0]["text"] = agents.as_str().into();
    same_as(&folder, &question, &Feeds::new(), line);

    let [first, second] = ["main.json", "pr.json"].map(|name| folder.path().join(name).display().to_string());
    let [one, other] = [&first, &second].map(|path| Paths::new(std::slice::from_ref(path)).unwrap());
    let feeds = Feeds::from([(first.clone(), &one as &dyn Feed), (second.clone(), &other)]);
    let both = json!([{"name": first}, {"name": second}]);
    let compare = json!({"question": "compare", "files": both,
        "settings": {"card": "run", "first": first, "second": second, "fail_if_worse": 2}});
    same_as(&folder, &compare, &feeds, &format!("compare {first} {second} -c run --fail-if-worse=2"));
    let all = Paths::new(&[folder.path().join("*r*.json").display().to_string(), first.clone()]).unwrap();
    let feeds = Feeds::from([(String::from("logs"), &all as &dyn Feed)]);
    let board = json!({"question": "leaderboard", "files": [{"name": "logs"}], "settings": {"card": "run"}});
    same_as(&folder, &board, &feeds, &format!("leaderboard -c run {second} {first}"));
    let twice = Feeds::from([(first.clone(), &one as &dyn Feed), (second.clone(), &one)]);
    let refused = karat::json::answered(compare.to_string().as_bytes(), &twice).unwrap_err();
    assert!(refused.to_string().contains("two files"), "{refused}");
    assert!(Paths::new(&[String::from("nowhere.jsonl")]).is_err());
}

#[test]
fn every_question_has_the_document_of_its_command() {
    let card = example("cards/task-run.toml");
    let same = |paths: &[&str], mut question: Value, line: &str| {
        let (folder, given) = files(paths);
        folder.write("task-run.toml", question["card_text"].as_str().unwrap_or_default());
        question["files"] = given.into();
        same_as(&folder, &question, &Feeds::new(), line);
        let found = karat::json::answered(question.to_string().as_bytes(), &Feeds::new()).unwrap();
        assert!(answer(question.to_string().as_bytes()).unwrap() == found.json, "{line}");
    };
    same(
        &["leaderboard/runs.csv"],
        json!({"question": "leaderboard", "card_text": card, "settings": {"attempts": 2, "with": "tiers",
            "where": ["task!=none"], "sort": "low"}}),
        "leaderboard --card task-run.toml --attempts 2 --with tiers --where task!=none --sort low runs.csv",
    );
    same(
        &["leaderboard/runs.csv"],
        json!({"question": "leaderboard", "card_text": card, "settings": {"cost": "cost_usd", "group_by": "domain"}}),
        "leaderboard --card task-run.toml --cost cost_usd --group-by domain runs.csv",
    );
    same(
        &["compare/base.csv", "compare/new.csv"],
        json!({"question": "compare", "card_text": card, "settings": {"first": "base.csv", "second": "new.csv",
            "fail_if_worse": 2, "strict": true, "pass": "50"}}),
        "compare base.csv new.csv --card task-run.toml --fail-if-worse 2 --strict --pass 50",
    );
    same(
        &["leaderboard/runs.csv"],
        json!({"question": "compare", "card_text": card, "settings": {"first": "heron", "second": "kite"}}),
        "compare heron kite --card task-run.toml runs.csv",
    );
    for system in ["elo", "glicko2", "weng-lin", "bradley-terry"] {
        same(
            &["matches/season.csv"],
            json!({"question": "rate", "settings": {"system": system, "holdout": 0.2, "skip": ["void"]}}),
            &format!("rate --system {system} --holdout 0.2 --skip void season.csv"),
        );
    }
    same(
        &["matches/answers.csv"],
        json!({"question": "rate", "settings": {"system": "bradley-terry",
            "covariates": ["length", "headers:difference"]}}),
        "rate --system bradley-terry --covariates length,headers:difference answers.csv",
    );
    let at = "2026-06-01T00:00:00Z";
    for (more, flags) in
        [(json!({}), ""), (json!({"subject": "heron", "level": 0.9}), " --subject heron --level 0.9")]
    {
        let mut settings = json!({"as_of": at});
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        same(
            &["leaderboard/runs.csv"],
            json!({"question": "standing", "card_text": card, "settings": settings}),
            &format!("standing --card task-run.toml --as-of {at} runs.csv{flags}"),
        );
    }
    for (settings, flags) in [
        (json!({"draws": 200}), "--draws 200"),
        (json!({"concentration": 5, "seed": 7, "draws": 100}), "--concentration 5 --seed 7 --draws 100"),
    ] {
        same(
            &["leaderboard/runs.csv"],
            json!({"question": "stress", "card_text": card, "settings": settings}),
            &format!("stress -c task-run.toml runs.csv {flags}"),
        );
    }
    for (settings, flags) in [
        (json!({"rate": 0.1, "pass": 50}), "--rate 0.1 --pass 50"),
        (
            json!({"version": "domain", "level": "0.9", "where": "task!=air-01"}),
            "--version domain --level 0.9 --where task!=air-01",
        ),
    ] {
        same(
            &["leaderboard/runs.csv"],
            json!({"question": "tasks", "card_text": card, "settings": settings}),
            &format!("tasks --card task-run.toml runs.csv {flags}"),
        );
    }
    let labels = json!({"label": "human", "verdict": "judge", "family": "family", "bias_by": ["length"]});
    same(
        &["labels/answers.jsonl"],
        json!({"question": "judges", "card_text": example("cards/judged.toml"), "settings": labels}),
        "judges --card task-run.toml --label human --verdict judge --family family --bias-by length answers.jsonl",
    );
}

/// Prices that are partly known: what is paid is divided by what is solved for it, and no more.
#[test]
fn a_solved_task_costs_what_is_paid_where_prices_are_known() {
    let folder = Folder::new();
    folder.write("task-run.toml", &example("cards/task-run.toml"));
    let mut rows = String::from("subject,task,outcome,solved,cost_usd\n");
    for task in 0..20 {
        // Half of the runs of `a` have no price; all of `b` have one, which is half of the other.
        let price = if task % 2 == 0 { "0.10" } else { "" };
        let solved = usize::from(task < 18);
        let outcome = if solved == 1 { "succeeded" } else { "failed" };
        rows.push_str(&format!(
            "a,t{task:02},{outcome},{solved},{price}\nb,t{task:02},{outcome},{solved},0.05\n"
        ));
    }
    folder.write("runs.csv", &rows);
    let line = "leaderboard --card task-run.toml --cost cost_usd runs.csv";
    let run = folder.line(&format!("{line} --format json"));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let cost = &found["leaderboards"][0]["cost"];
    assert_eq!(
        (&cost["tasks"], &cost["tasks_left_out"], &cost["unit"]),
        (&json!(10), &json!(10), &json!("USD")),
        "{cost}"
    );
    let of =
        |name: &str| cost["subjects"].as_array().unwrap().iter().find(|it| it["subject"] == name).unwrap();
    let (a, b) = (of("a"), of("b"));
    // Ten runs with a price, nine of them solved; twenty of the other, eighteen solved.
    let per = |it: &Value| it["per_solved"]["value"].clone();
    assert_eq!((per(a), per(b)), (json!(0.111111111), json!(0.055555556)), "{cost}");
    assert_eq!((&a["share_with_cost"], &b["share_with_cost"]), (&json!(0.5), &json!(1)));
    assert_eq!((&a["on_front"], &b["on_front"]), (&json!(false), &json!(true)));
    let screen = folder.line(&format!("{line} --format table")).stdout;
    assert!(screen.contains("costs are known in part of `a`"), "{screen}");
    let debts: Vec<String> = rows
        .lines()
        .zip(0..)
        .map(|(row, at)| format!("{row},{}", if at == 0 { "debt" } else { "-1" }))
        .collect();
    folder.write("debts.csv", &debts.join("\n"));
    let run = folder.line("leaderboard --card task-run.toml --cost debt debts.csv");
    assert!(run.status == 1 && run.stderr.contains("expected a cost"), "{}", run.screen());
    let run = folder.line(&line.replace("cost_usd", "cost_eur"));
    assert!(run.status == 1 && run.stderr.contains("did you mean `cost_usd`?"), "{}", run.screen());
}

/// A question with too few items has no number for an answer, and a wrong label is refused by its place.
#[test]
fn tasks_and_judges_need_enough_and_labels_are_verdicts() {
    let folder = Folder::new();
    folder.write("judged.toml", &example("cards/judged.toml"));
    let row = |subject: &str, task: &str, rest: &str| {
        format!("{{\"subject\": \"{subject}\", \"task\": \"{task}\", \"judge\": true{rest}}}\n")
    };
    folder.write("one.jsonl", &(row("a", "t1", "") + &row("a", "t2", ", \"human\": \"pass\"")));
    let run = folder.line("tasks --card judged.toml one.jsonl");
    assert_eq!(run.status, 12, "{}", run.screen());
    assert!(run.stderr.contains("says nothing about the tasks"), "{}", run.stderr);
    let run = folder.line("judges --card judged.toml --label human one.jsonl --format json");
    assert_eq!(run.status, 0, "{}", run.screen());
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let judge = &found["judges"][0];
    assert_eq!((&judge["verdict"], &judge["labelled"]), (&json!("score"), &json!(1)), "{found}");
    assert!(judge["accuracy"].is_null() && judge["agreement"]["kappa"].is_null(), "{found}");
    let subject = &judge["subjects"][0];
    assert!(
        subject["corrected"].is_null() && subject["reason"].as_str().unwrap().contains("too few"),
        "{found}"
    );
    folder.write(
        "wrong.jsonl",
        &(row("a", "t1", ", \"human\": 7") + &row("a", "t2", ", \"human\": \"maybe\"")),
    );
    let run = folder.line("judges --card judged.toml --label human wrong.jsonl");
    assert_eq!(run.status, 1, "{}", run.screen());
    for wanted in ["wrong.jsonl:1", "wrong.jsonl:2", "`maybe`", "pass or fail, or a number from 0 to 1"] {
        assert!(run.stderr.contains(wanted), "{wanted}: {}", run.stderr);
    }
    let run = folder.line("judges --card judged.toml --label hman one.jsonl");
    assert!(run.status == 1 && run.stderr.contains("did you mean `human`?"), "{}", run.screen());
    let run = folder.line("judges --card judged.toml --label human --where task=t1 one.jsonl");
    assert!(run.status != 0 && run.stdout.is_empty(), "{}", run.screen());
    // Labels that are numbers pass from 50 points on a scale to 100.
    let numbers: String = (0..30)
        .map(|at| row("a", &format!("t{at}"), &format!(", \"human\": {}", f64::from(at % 3) / 2.0)))
        .collect();
    folder.write("numbers.jsonl", &numbers);
    let run = folder.line("judges --card judged.toml --label human numbers.jsonl --format table");
    assert!(run.stdout.contains("--pass POINTS"), "{}", run.screen());
    let run = folder.line("judges --card judged.toml --label human numbers.jsonl --pass 50 --format json");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["pass"], 0.5);
    assert_eq!(found["judges"][0]["accuracy"]["accuracy"]["value"], 0.666666667, "{found}");
}

#[test]
fn tasks_have_a_standing_and_events_are_the_text_of_their_file() {
    let (folder, given) = files(&["standing/practice.csv", "cards/practice.toml"]);
    let at = "2026-06-09T00:00:00Z";
    let question = json!({"question": "standing", "card_text": example("cards/practice.toml"),
        "settings": {"as_of": at, "tasks": true}, "files": [given[0]]});
    let line = format!("standing --tasks -c practice.toml --as-of {at} practice.csv");
    same_as(&folder, &question, &Feeds::new(), &line);

    let (folder, _) = files(&["standing/agents.jsonl", "standing/events.jsonl", "cards/support-agent.toml"]);
    let mut question = json!({"question": "standing", "card_text": example("cards/support-agent.toml"),
        "settings": {"as_of": "2026-03-10T00:00:00Z", "events_text": example("standing/events.jsonl")},
        "files": [{"name": "agents.jsonl", "text": example("standing/agents.jsonl")}]});
    let line =
        "standing -c support-agent.toml --as-of 2026-03-10T00:00:00Z --events events.jsonl agents.jsonl";
    same_as(&folder, &question, &Feeds::new(), line);
    question["settings"]["events_text"] = json!("\n{}");
    assert!(answered(&question).unwrap_err().contains("events:2: "));
    question["settings"]["events"] = json!("events.jsonl");
    assert!(answered(&question).unwrap_err().contains("events.jsonl:2: "));
}

#[test]
fn a_gate_judges_as_the_project_of_the_same_settings() {
    let (folder, files) = files(&["compare/base.csv", "compare/new.csv"]);
    folder.write("task-run.toml", &example("cards/task-run.toml"));
    let gate = "[gate]\nfail_under = 0.5\nfail_if_worse = 2\ndimensions = { thrift = 0.25 }\n";
    let top = "card = \"task-run.toml\"\ninputs = [\"new.csv\"]\nbaseline = [\"base.csv\"]\n";
    folder.write("karat.toml", &format!("{top}{gate}"));
    let run = folder.line("check --format json");
    let mut expected: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    let question = json!({
        "question": "gate", "card_text": example("cards/task-run.toml"), "files": [files[1]], "baseline": [files[0]],
        "settings": {"gate": {"fail_under": 0.5, "fail_if_worse": 2, "dimensions": {"thrift": 0.25}}},
    });
    let mut found: Value = serde_json::from_str(&answered(&question).unwrap()).unwrap();
    let shown = karat::json::answered(question.to_string().as_bytes(), &Feeds::new()).unwrap();
    assert!(shown.document.title.starts_with("karat check: "), "{}", shown.document.title);
    assert!(!shown.document.findings.is_empty() && shown.document.cases.len() > 2);
    // The words name the file of the baseline, and notes are the command's own.
    for answer in [&mut found, &mut expected] {
        answer["notes"].take();
        let gates = answer["gates"].as_array_mut().unwrap();
        assert_eq!(gates.len(), 2);
        gates.iter_mut().for_each(|gate| drop(gate["gate"].take()));
    }
    assert!(found == expected, "{found:#}");
}

#[test]
fn what_is_wrong_with_a_question_is_said() {
    let ask = |question: &str, settings: Value| {
        answered(&json!({"question": question, "settings": settings, "files": [{"name": "a.jsonl", "text": "{}"}]}))
            .unwrap_err()
    };
    assert!(ask("leaderboards", json!({})).contains("leaderboard, compare"));
    assert!(ask("leaderboard", json!({"cards": "trust"})).contains("did you mean `card`?"));
    assert!(ask("leaderboard", json!({"card": "trust", "draws": "many"})).contains("many"));
    assert!(ask("leaderboard", json!({"card": "trust", "pass": 1})).contains("`pass` needs `attempts`"));
    assert!(ask("leaderboard", json!({"card": "nope"})).contains("nope"));
    assert!(ask("compare", json!({"first": "a", "second": "b", "strict": true})).contains("fail_if_worse"));
    assert!(
        ask("compare", json!({"first": "a", "second": "b", "fail_if_worse": -1})).contains("not negative")
    );
    assert!(ask("rate", json!({"system": "chess"})).contains("glicko2"));
    assert!(ask("rate", json!({"system": "elo", "sets": "k=2"})).contains("did you mean `set`?"));
    assert!(ask("leaderboard", json!({"card": "trust", "level": 2})).contains("`level` is `2`"));
    assert!(ask("leaderboard", json!({"card": "trust", "attempts": 0})).contains("1 to 100"));
    assert!(ask("leaderboard", json!({"card": "trust", "draws": 0})).contains("1 to 1,000,000"));
    assert!(ask("rate", json!({"system": "elo", "resamples": 5_000_000})).contains("1 to 1,000,000"));
    assert!(ask("standing", json!({"card": "trust", "moment": "x"})).contains("as_of"));
    assert!(ask("standing", json!({"card": "trust"})).contains("needs a moment"));
    let at = "2026-01-01T00:00:00Z";
    assert!(ask("standing", json!({"as_of": at, "events": "e.jsonl"})).contains("`events_text`"));
    assert!(ask("standing", json!({"as_of": at, "events_text": 1})).contains("expected the text"));
    assert!(
        ask("standing", json!({"as_of": at, "tasks": true, "subject": "a"})).contains("`tasks` goes with")
    );
    assert!(ask("stress", json!({"card": "trust", "draw": 1})).contains("did you mean `draws`?"));
    assert!(ask("stress", json!({"card": "trust", "draws": 0})).contains("1 to 1,000,000"));
    assert!(ask("stress", json!({"card": "trust", "concentration": 0})).contains("above 0"));
    assert!(ask("stress", json!({})).contains("needs a scorecard"));
    assert!(ask("gate", json!({"card": "trust", "inputs": ["x"]})).contains("`inputs` names files"));
    assert!(ask("gate", json!({"card": "trust", "gates": {}})).contains("gate"));
    assert!(answered(&json!({"question": "rate"})).unwrap_err().contains("files"));
    let twice = json!({"question": "leaderboard", "settings": {"card": "trust"},
        "files": [{"name": "a", "text": ""}, {"name": "a", "text": ""}]});
    assert!(answered(&twice).unwrap_err().contains("two files"));
}

#[test]
fn a_receipt_and_a_record_are_checked_as_by_the_command() {
    let (folder, _) = files(&["receipt/receipt.json"]);
    let check = |question: Value| -> Value {
        serde_json::from_slice(&verify(question.to_string().as_bytes()).unwrap()).unwrap()
    };
    let receipt = example("receipt/receipt.json");
    let run = folder.line("verify receipt.json --format json");
    let expected: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    let question = json!({"text": receipt, "name": "receipt.json"});
    let found = verified(question.to_string().as_bytes()).unwrap();
    let shown = folder.line("verify receipt.json --format markdown").stdout;
    assert_eq!(text(Form::Markdown, &found.document).trim_end(), shown.trim_end());
    assert_eq!(serde_json::from_slice::<Value>(&found.json).unwrap(), expected);
    assert_eq!(check(question), expected);
    let read: Value = serde_json::from_str(&receipt).unwrap();
    let record = read["content"].as_str().unwrap();
    let found = check(json!({"text": record}));
    assert_eq!(found["status"], "consistent", "no log signed it");
    let broken =
        check(json!({"text": record.replacen("\"subject\":\"", "\"subject\":\"x", 1), "evidence": "{}"}));
    assert_eq!(broken["status"], "failed", "{broken}");
    assert!(verify(json!({"text": receipt, "key": "none"}).to_string().as_bytes()).is_err());
}

#[test]
fn a_vector_that_is_handed_over_counts_for_one_trace_and_names_its_model() {
    let trace = example("trace/same-trace-default.json");
    let card = CompiledCard::released("trace").unwrap();
    let moment = Timestamp::parse("2026-03-01T00:00:00Z").ok();
    let scored = |observes: bool, vectors: &[Vec<f32>]| -> Vec<(Option<f64>, Value)> {
        let options = Options { observes, as_of: moment, ..Options::default() };
        let mut engine = Engine::new(card.clone(), options).unwrap();
        let each = |vector: &Vec<f32>| {
            engine.set_vector(Some(HandedVector { model: String::from("m"), vector: vector.clone() }));
            let record: Value =
                serde_json::from_str(engine.score(trace.as_bytes()).unwrap().as_str()).unwrap();
            (record["dimensions"][1]["reading"].as_f64(), record["grading"].clone())
        };
        vectors.iter().map(each).collect()
    };
    let once = vec![1.0, 0.0, 0.5];
    // The same id is the same observation; or each is a separate one, and the second was seen before.
    let again = scored(false, &[once.clone(), once.clone()]);
    assert_eq!([again[0].0, again[1].0], [Some(0.5), Some(0.5)]);
    let observed = scored(true, &[once.clone(), once.clone(), vec![-0.5, 0.0, 1.0]]);
    assert_eq!([observed[0].0, observed[1].0, observed[2].0], [Some(0.5), Some(0.0), Some(1.0)]);
    assert_eq!(observed[0].1["embedding"], json!({"model": "m"}));
    // It counts for one item alone.
    let mut engine = Engine::new(card, Options { as_of: moment, ..Options::default() }).unwrap();
    engine.set_vector(Some(HandedVector { model: String::from("m"), vector: once }));
    assert!(engine.score(b"{}").is_err());
    let next: Value = serde_json::from_str(engine.score(trace.as_bytes()).unwrap().as_str()).unwrap();
    assert_eq!(next["grading"]["embedding"], Value::Null);
    let foreign = Engine::new(
        CompiledCard::released("trust").unwrap(),
        Options { observes: true, ..Options::default() },
    );
    assert!(foreign.unwrap_err().to_string().contains("`observes`"));
}
