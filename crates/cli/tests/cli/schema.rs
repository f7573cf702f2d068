//! The schemas that karat gives: what it writes satisfies them, and a scorecard that one refuses the reader refuses, too.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use karat::cards::{CardText, check};
use karat_core::diagnostic::{Code, Severity};
use karat_reader::{Kind, Reader, ReaderOptions};
use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use crate::common::{Folder, example, karat, karat_reading, root};
#[cfg(unix)]
use crate::serve::Server;

fn schema(name: &str) -> Value {
    let run = karat(&["schema", name]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn validator(schema: &Value) -> Validator {
    jsonschema::meta::validate(schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    jsonschema::validator_for(schema).unwrap()
}

/// Returns a file of TOML as JSON.
fn as_json(table: &DeTable<'_>) -> Value {
    fn value(written: &DeValue<'_>) -> Value {
        let plain = |text: &str| text.replace('_', "");
        match written {
            DeValue::String(text) => json!(text),
            DeValue::Integer(whole) => {
                json!(i64::from_str_radix(&plain(whole.as_str()), whole.radix()).unwrap())
            }
            DeValue::Float(float) => json!(plain(float.as_str()).parse::<f64>().unwrap()),
            DeValue::Boolean(flag) => json!(flag),
            DeValue::Datetime(moment) => json!(moment.to_string()),
            DeValue::Array(list) => list.iter().map(|element| value(element.get_ref())).collect(),
            DeValue::Table(table) => as_json(table),
        }
    }
    let entries = table.iter().map(|(key, written)| (key.get_ref().to_string(), value(written.get_ref())));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// Returns JSON as a file of TOML, each value in the line of its key.
fn as_toml(card: &Value) -> String {
    let members = card.as_object().unwrap().iter();
    members.map(|(key, member)| format!("{} = {}\n", json!(key), written(member))).collect()
}

/// Returns JSON as a value of TOML. Texts escape alike in both, but for the delete character, which no card has.
fn written(value: &Value) -> String {
    match value {
        Value::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| format!("{} = {}", json!(key), written(member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns every scorecard of the repository.
fn cards() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|end| end == "toml") {
                let text = fs::read_to_string(&path).unwrap();
                if text.lines().any(|line| line.starts_with("schema ")) {
                    found.push((path, text));
                }
            }
        }
    }
    let mut found = Vec::new();
    for folder in ["scorecards", "examples", "crates/cli/src/cmd/card/starter"] {
        walk(&root().join(folder), &mut found);
    }
    found.sort();
    assert!(found.len() >= 25, "{}", found.len());
    found
}

fn read(text: &str) -> Value {
    as_json(DeTable::parse(text).unwrap().get_ref())
}

/// Returns the errors of the reader of scorecards.
fn errors(card: &Value) -> Vec<Code> {
    let checked = check(&CardText { name: "card.toml".into(), text: as_toml(card) });
    let errors = checked.diagnostics.into_iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| found.code).collect()
}

#[test]
fn every_scorecard_satisfies_the_schema() {
    let validator = validator(&schema("card"));
    for (path, text) in cards() {
        // Names of a starter are filled in by the command.
        let card = read(&text.replace("@ID@", "starter"));
        let found: Vec<String> = validator.iter_errors(&card).map(|error| error.to_string()).collect();
        assert_eq!(found, Vec::<String>::new(), "{}", path.display());
        // The writer of this test keeps what a card says.
        assert_eq!(read(&as_toml(&card)), card, "{}", path.display());
    }
}

/// Tables whose keys are free.
const FREE: [&str; 9] =
    ["facts", "const", "let", "dims", "describe", "evaluator", "require", "items_by", "weights"];

/// Returns a place as the schema sees it: one for all elements of a list, and for all entries of a table with free keys.
fn kind(place: &str) -> String {
    let mut kind = String::new();
    let mut above = "";
    for part in place.split('/').skip(1) {
        let is_any = FREE.contains(&above) || part.bytes().all(|byte| byte.is_ascii_digit());
        kind.push('/');
        kind.push_str(if is_any { "*" } else { part });
        above = part;
    }
    kind
}

/// Hands every card with one change of one value to `see`, with the place of the change; places of a kind that is in `seen`
/// are left out.
fn changed(card: &Value, seen: &mut BTreeSet<String>, see: &mut dyn FnMut(&Value, &str)) {
    let others = [
        json!(""),
        json!("zzz"),
        json!(-1),
        json!(0),
        json!(2.5),
        json!(10_001),
        json!(1e15),
        json!(true),
        json!([]),
        json!({}),
        json!({"zzz": 1}),
        json!([{"zzz": 1}]),
    ];
    let mut places = vec![String::new()];
    let mut at = 0;
    while at < places.len() {
        let place = places[at].clone();
        let value = card.pointer(&place).unwrap();
        let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
        match value {
            Value::Object(members) => {
                places.extend(members.keys().map(|key| format!("{place}/{}", escaped(key))))
            }
            Value::Array(list) => places.extend((0..list.len()).map(|index| format!("{place}/{index}"))),
            _ => {}
        }
        at += 1;
    }
    places.retain(|place| seen.insert(kind(place)) || place.is_empty());
    for place in places.iter().skip(1) {
        for other in &others {
            let mut card = card.clone();
            *card.pointer_mut(place).unwrap() = other.clone();
            see(&card, place);
        }
        let (above, key) = place.rsplit_once('/').unwrap();
        let mut less = card.clone();
        if let Some(members) = less.pointer_mut(above).unwrap().as_object_mut() {
            members.remove(&key.replace("~1", "/").replace("~0", "~"));
            see(&less, place);
        }
    }
    for place in &places {
        let mut more = card.clone();
        if let Some(members) = more.pointer_mut(place).unwrap().as_object_mut() {
            members.insert("zzz".into(), json!(1));
            see(&more, place);
        }
    }
}

/// Parts of a card whose tables the graders of evidence read: the schema says little about them.
const GRADERS: [&str; 4] = ["/evaluator", "/format", "/submission", "/limits"];

#[test]
fn schema_and_reader_refuse_the_same_forms() {
    let validator = validator(&schema("card"));
    let (mut refused, mut formal, mut seen) = (0, 0, BTreeSet::new());
    for (path, text) in cards() {
        let card = read(&text.replace("@ID@", "starter"));
        changed(&card, &mut seen, &mut |changed, place| {
            let shown = || {
                let found: Vec<String> = validator
                    .iter_errors(changed)
                    .map(|it| format!("{}: {it}", it.instance_path()))
                    .collect();
                format!("{} {place}\n{}\n{found:?}", path.display(), as_toml(changed))
            };
            let is_valid = validator.is_valid(changed);
            let errors = errors(changed);
            // No false alarm in an editor: what the schema refuses the reader refuses.
            assert!(is_valid || !errors.is_empty(), "refused by the schema alone: {}", shown());
            refused += usize::from(!is_valid);
            let is_formal = |code: &Code| matches!(code, Code::UnknownField | Code::WrongType);
            if errors.iter().any(is_formal) && !GRADERS.iter().any(|part| place.starts_with(part)) {
                formal += 1;
                assert!(!is_valid, "of the wrong form, and not by the schema: {}\n{errors:?}", shown());
            }
        });
    }
    assert!(seen.len() > 120 && refused > 1000 && formal > 500, "{} {refused} {formal}", seen.len());
}

/// Checks that every line of an output satisfies its schema, and that the schema refuses another value in most members.
pub fn satisfies(name: &str, output: &str) {
    let validator = validator(&schema(name));
    let lines: Vec<&str> = output.lines().collect();
    assert!(!lines.is_empty(), "{name} wrote nothing");
    for line in lines {
        let value: Value = serde_json::from_str(line).unwrap();
        let found: Vec<String> =
            validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert_eq!(found, Vec::<String>::new(), "{name}: {line}");
        // A schema that takes anything says nothing.
        let value = if value.is_array() { value[0].clone() } else { value };
        let members = value.as_object().unwrap();
        let is_list = line.starts_with('[');
        let refused = members.keys().filter(|key| {
            let mut other = members.clone();
            other.insert((*key).clone(), json!({"zzz": [1]}));
            let other = Value::Object(other);
            !validator.is_valid(&if is_list { json!([other]) } else { other })
        });
        // Evidence may have fields that no reader knows.
        assert!(name.starts_with("evidence-") || refused.count() * 2 > members.len(), "{name}");
    }
}

/// Every command that gives JSON, with the schemas of its answers.
const COMMANDS: [(&str, &[&str]); 30] = [
    ("cache show", &["cache"]),
    ("card check", &["card-check"]),
    ("card diff", &["card-diff"]),
    ("card list", &["card-list"]),
    ("check", &["check"]),
    ("compare", &["compare", "compare-files"]),
    ("explain", &["explanation", "standing"]),
    ("grade", &["grade"]),
    ("grid", &["grid"]),
    ("judge", &["record", "judge-check"]),
    ("judge doctor", &["judge-doctor"]),
    ("judges", &["judges"]),
    ("leaderboard", &["leaderboard"]),
    ("log backup", &["log-backup"]),
    ("log monitor", &["log-look"]),
    ("log rotate", &["log-rotation"]),
    ("log show", &["log", "log-entry"]),
    ("log verify", &["log-verify"]),
    ("push", &["push"]),
    ("rate", &["rating"]),
    ("rescore", &["rescore", "rescore-summary"]),
    ("run", &["evidence-workflow-run"]),
    ("score", &["record", "brief"]),
    ("serve", &["serve"]),
    ("standing", &["standing", "task"]),
    ("stress", &["stress"]),
    ("tasks", &["tasks"]),
    ("trend", &["trend"]),
    ("tune", &["tune"]),
    ("verify", &["verify"]),
];

/// A new answer cannot be missed: the shell completions have every command with its flags.
#[test]
fn every_command_that_gives_json_names_its_schemas_and_every_schema_has_a_command() {
    let script = karat(&["completions", "bash"]).stdout;
    let mut found = BTreeSet::new();
    let mut command = String::new();
    for line in script.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("karat__").and_then(|it| it.strip_suffix(')')) {
            let name = name.replace("subcmd__", "").replace("__", " ");
            command = name;
        } else if let Some(flags) = line.strip_prefix("opts=") {
            let mut flags = flags.trim_matches('"').split_whitespace();
            let is_json = flags.any(|flag| matches!(flag, "--json" | "--format"));
            // An import has the formats of what it reads.
            if is_json && !matches!(command.as_str(), "import" | "") && !command.starts_with("help") {
                found.insert(command.clone());
            }
        }
    }
    // `karat-runner` has their flags, and its tests their schemas.
    found.extend(["judge", "judge doctor"].map(str::to_owned));
    let all = || COMMANDS.iter();
    let known: BTreeSet<String> = all().map(|(command, _)| (*command).to_owned()).collect();
    assert_eq!(found, known);
    let list = karat(&["schema"]).stdout;
    let listed: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| {
            *name != "card" && (!name.starts_with("evidence-") || *name == "evidence-workflow-run")
        })
        .collect();
    let named: BTreeSet<&str> = all().flat_map(|(_, schemas)| schemas.iter().copied()).collect();
    assert_eq!(listed, named);
}

#[test]
fn what_karat_writes_satisfies_its_schema() {
    let runs = ["-c", "examples/cards/task-run.toml", "examples/leaderboard/runs.csv"];
    let with = |verb: &[&str]| karat(&[verb, &runs[..]].concat()).stdout;
    let records = karat(&["score", "-c", "trust", "examples/trust/security.jsonl"]).stdout;
    let (base, new) = ("examples/compare/base.csv", "examples/compare/new.csv");
    let agents = [
        "standing", "-c", "examples/cards/support-agent.toml", "--as-of", "2026-03-10", "--events",
        "examples/standing/events.jsonl", "examples/standing/agents.jsonl",
    ];
    let tasks = [
        "standing", "--tasks", "-c", "examples/cards/practice.toml", "--as-of", "2026-06-09",
        "examples/standing/practice.csv",
    ];
    let receipt = ["verify", "examples/receipt/receipt.json", "--key", "examples/receipt/log.key", "--json"];
    let says = |line: &str| karat(&line.split_whitespace().collect::<Vec<_>>()).stdout;
    let folder = Folder::new();
    let cache = folder.path().join("own.cache").display().to_string();
    assert_eq!(karat(&["cache", "new", &cache, "--dimension", "4", "--capacity", "9"]).status, 0);
    let outputs = [
        ("record", format!("{records}{}", with(&["score"]))),
        ("brief", with(&["score", "--brief"])),
        ("explanation", karat_reading(&["explain", "--json"], records.lines().next().unwrap()).stdout),
        ("leaderboard", with(&["leaderboard", "--attempts", "2", "--robustness"])),
        (
            "leaderboard",
            with(&["leaderboard", "--census", "--group-by", "domain", "--with", "cost_usd,gates"]),
        ),
        ("leaderboard", with(&["leaderboard", "--by", "cost_usd:asc"])),
        ("tasks", with(&["tasks"])),
        ("trend", with(&["trend"])),
        ("grid", with(&["grid"])),
        ("judges", says("judges -c examples/cards/judged.toml --label human examples/labels/answers.jsonl")),
        ("compare", with(&["compare", "heron", "ibis", "--fail-if-worse", "50"])),
        ("compare-files", karat(&["compare", base, new, "-c", "examples/cards/task-run.toml"]).stdout),
        ("check", says("check --json --project examples/project/karat.toml")),
        ("standing", karat(&agents).stdout),
        ("task", karat(&tasks).stdout),
        ("stress", says("stress -c examples/cards/task-run.toml examples/leaderboard/runs.csv")),
        (
            "tune",
            says(
                "tune --json -c examples/tune/desk.toml --wins examples/tune/wins.csv examples/tune/runs.csv --as-of 2026-06-01",
            ),
        ),
        ("verify", karat(&receipt).stdout),
        ("rating", says("rate --system elo examples/matches/season.csv --holdout 0.3")),
        ("rating", says("rate --system glicko2 examples/matches/season.csv")),
        ("rating", says("rate --system bradley-terry --bootstrap examples/matches/season.csv")),
        ("rating", says("rate --system bradley-terry --judge judge examples/matches/votes.jsonl")),
        (
            "rating",
            says("rate --system bradley-terry --covariates length,headers examples/matches/answers.csv"),
        ),
        ("rating", says("rate --system weng-lin examples/matches/season.csv")),
        ("rating", says("rate --system elo --arena examples/matches/arena.csv")),
        ("card-list", says("card list --json")),
        (
            "card-check",
            says("card check --json trust workflow examples/cards/task-run.toml examples/tune/desk.toml"),
        ),
        ("card-diff", says("card diff --json log-forensics cipher-relay examples/arena/documented-823.json")),
        ("grade", says("grade --json workflow-run examples/raw/workflow.jsonl")),
        ("grade", says("grade --json match --card incident-review examples/raw/match.json")),
        ("grade", says("grade --json reasoning-trace examples/raw/traces.jsonl")),
        ("grade", says("grade --json agent-evidence examples/trust/agent.json")),
        ("cache", says("cache show --json examples/raw/traces.cache")),
        ("cache", karat(&["cache", "show", "--json", &cache]).stdout),
        (
            "evidence-workflow-run",
            says(
                "run --json examples/run/plan.json --task examples/run/task.json --replay examples/run/recording.jsonl",
            ),
        ),
    ];
    for (name, output) in outputs {
        satisfies(name, &output);
    }
    // A card that is refused, and checks without a gate or with one that fails.
    folder.write("wrong.toml", "schema = \"karat/scorecard/1\"\nid = 5\n");
    satisfies("card-check", &folder.karat(&["card", "check", "--json", "wrong.toml"]).stdout);
    for name in ["base", "new"] {
        folder.write(&format!("{name}.csv"), &example(&format!("compare/{name}.csv")));
    }
    folder.write("card.toml", &example("cards/task-run.toml"));
    for (gates, status) in [("", 0), ("[gate]\nfail_if_worse = true\nfail_under = 60\n", 16)] {
        for baseline in ["base.csv", "none.jsonl"] {
            let project =
                format!("card = \"card.toml\"\ninputs = \"new.csv\"\nbaseline = \"{baseline}\"\n{gates}");
            folder.write("karat.toml", &project);
            let run = folder.karat(&["check", "--format", "json"]);
            assert_eq!(
                run.status,
                if baseline == "base.csv" { status } else { status.min(10) },
                "{}",
                run.stderr
            );
            satisfies("check", &run.stdout);
        }
    }
}

/// The answers that need a server or its log.
#[cfg(unix)]
#[test]
fn what_karat_writes_about_a_log_satisfies_its_schema() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores", "--json"]);
    satisfies("serve", &server.started.to_string());
    let (address, key) =
        (format!("http://{}", server.address()), server.started["admin_key"].as_str().unwrap());
    folder.write("key.txt", key);
    folder.write("runs.jsonl", &example("trust/security.jsonl"));
    folder.write("wrong.jsonl", "{\"agent_id\": 5}\n");
    let push = ["push", "--json", "-c", "trust@1.0.0", "--to", &address, "--key-file", "key.txt"];
    satisfies("push", &folder.karat(&[&push[..], &["runs.jsonl"]].concat()).stdout);
    satisfies("push", &folder.karat(&[&push[..], &["wrong.jsonl"]].concat()).stdout);
    for _ in 0..2 {
        let look = ["log", "monitor", &address, "--once", "--json", "--state", "state.json"];
        satisfies("log-look", &folder.karat(&look).stdout);
    }
    let (_, rest) = server.end("TERM");
    satisfies("serve", &rest);
    let database = "scores/karat.db";
    let shown = folder.karat(&["log", "show", "--json", database]).stdout;
    satisfies("log", &shown);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let sender = shown["senders"].as_object().unwrap().keys().next().unwrap();
    satisfies("log-entry", &folder.karat(&["log", "show", "--json", "--sender", sender, database]).stdout);
    let verify = ["log", "verify", "--json", database, "--key", "scores/log.pub"];
    satisfies("log-verify", &folder.karat(&verify).stdout);
    satisfies(
        "log-backup",
        &folder.karat(&["log", "backup", "--json", "scores", "copy", "--with-key"]).stdout,
    );
    folder.write("stricter.toml", &example("receipt/stricter.toml"));
    crate::store::season_file(folder.path());
    let rescore = ["rescore", "--json", "scores.db", "--card", "stricter.toml", "--of", "workflow"];
    let rescored = folder.karat(&rescore).stdout;
    let (lines, summary) = rescored.trim_end().rsplit_once('\n').unwrap();
    satisfies("rescore", lines);
    satisfies("rescore-summary", summary);
    satisfies("log-rotation", &folder.karat(&["log", "rotate", "--json", "copy"]).stdout);
}

#[test]
fn every_schema_is_listed_and_one_that_is_not_there_is_answered_with_the_nearest() {
    let list = karat(&["schema"]).stdout;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.len() >= 15, "{list}");
    for name in names {
        validator(&schema(name));
    }
    let run = karat(&["schema", "leaderbord"]);
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("did you mean `leaderboard`?"), "{}", run.stderr);
}

/// The comment of `karat help editors` is one that the reader of scorecards passes over.
#[test]
fn a_card_that_names_its_schema_is_read() {
    let folder = Folder::new();
    let text = fs::read_to_string(root().join("examples/cards/test-report.toml")).unwrap();
    folder.write("card.toml", &format!("#:schema ./scorecard.schema.json\n{text}"));
    assert_eq!(folder.karat(&["card", "check", "card.toml"]).status, 0);
}

/// Items of every kind, from the examples: the kind, the file, and what the reader needs.
const EVIDENCE: [(&str, &[&str]); 6] = [
    (
        "workflow-run",
        &[
            "workflow/worked-example.json", "workflow/retries.jsonl", "raw/workflow.jsonl",
            "run/evidence.json",
        ],
    ),
    ("match", &["arena/documented-823.json", "arena/timed.jsonl", "raw/match.json"]),
    ("reasoning-trace", &["trace/finance-document.json"]),
    ("agent-dimensions", &["trust/coverage.jsonl", "trust/security.jsonl"]),
    ("agent-evidence", &["trust/agent.json"]),
    ("facts", &["tests/reports.jsonl"]),
];

/// Returns the items of a file.
fn items(text: &str) -> Vec<Value> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().map(Result::unwrap).collect()
}

#[test]
fn items_of_every_kind_satisfy_their_schema_and_what_it_refuses_the_reader_refuses() {
    let mut alone = Vec::new();
    for (name, files) in EVIDENCE {
        let kind = Kind::from_name(name).unwrap();
        let described = schema(&format!("evidence-{name}"));
        let validator = validator(&described);
        let mut seen = BTreeSet::new();
        let mut refused = 0;
        for file in files {
            let text = fs::read_to_string(root().join("examples").join(file)).unwrap();
            for item in items(&text) {
                let found: Vec<String> =
                    validator.iter_errors(&item).map(|it| format!("{}: {it}", it.instance_path())).collect();
                assert_eq!(found, Vec::<String>::new(), "{file}");
                changed(&item, &mut seen, &mut |changed, place| {
                    if validator.is_valid(changed) {
                        return;
                    }
                    refused += 1;
                    let mut reader = Reader::new(kind, &[], ReaderOptions::default()).unwrap();
                    let text = changed.to_string();
                    if reader.read(text.as_bytes()).is_ok() {
                        let why = validator.iter_errors(changed).map(|it| it.to_string()).collect::<Vec<_>>();
                        alone.push(format!("{file} {place}: {why:?}"));
                    }
                });
            }
        }
        assert!(refused > if name == "facts" { 1 } else { 50 }, "{name}: {refused}");
    }
    // No false alarm of who checks evidence before it is sent.
    assert_eq!(alone, Vec::<String>::new(), "refused by the schema alone");
}
