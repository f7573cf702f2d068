//! Leaderboards of sums: what an engine added up by the query of a card gives the same answers as the items.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;

use karat::ask::{Confidence, Fields, Items, Leaderboard, Sure};
use karat::card::CompiledCard;
use karat::engine::Options;
use karat::error::{Error, Place};
use karat::gate::judge_leaderboard;
use karat::inputs::{Inputs, Silent};
use karat::loaded::Source;
use karat::standing::events::Events;
use karat::sums::{Loader, Sums, Value as Given};
use karat_core::facts::Outcome;
use karat_core::scorecard::FactType;
use karat_stats::outcome::Treatment;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value as Sql;
use serde_json::Value;

use crate::common::{Folder, Run, karat, numbers, root};
use karat::sql::{By, Dialect, Query, query, self_check};

/// Items of a card as texts: subject, task, outcome and facts, empty where they are missing.
struct Drawn {
    card: Arc<CompiledCard>,
    rows: Vec<Vec<String>>,
}

impl Drawn {
    fn new(card: Arc<CompiledCard>, seed: u64, attempts: u64) -> Self {
        let mut next = numbers(seed);
        let mut rows = Vec::new();
        for (subject, task) in (0..5u64).flat_map(|subject| (0..8u64).map(move |task| (subject, task))) {
            for _ in 0..next(attempts + 1) {
                let mut row = vec![format!("s{subject}"), format!("t{task}")];
                let outcome = Outcome::ALL.get(next(9) as usize).map_or("", |outcome| outcome.name());
                row.push(String::from(outcome));
                for fact in &card.facts {
                    let value = match fact.kind {
                        _ if next(7) == 0 || fact.max_fact.is_some() => String::new(),
                        FactType::Boolean => (next(2) == 0).to_string(),
                        FactType::Text => String::from("finance"),
                        FactType::Number => {
                            let (low, high) = (fact.min.max(-50.0), fact.max.min(50.0));
                            let value = low + (high - low) * next(1001) as f64 / 1000.0;
                            if fact.integer { value.floor().to_string() } else { value.to_string() }
                        }
                    };
                    row.push(value);
                }
                rows.push(row);
            }
        }
        Self { card, rows }
    }

    fn names(&self) -> Vec<&str> {
        let facts = self.card.facts.iter().map(|fact| fact.name.as_str());
        ["subject", "task", "outcome"].into_iter().chain(facts).collect()
    }

    /// Returns the answer for the items.
    fn of_items(&self, ask: &Leaderboard) -> Result<Value, Error> {
        let folder = Folder::new();
        let mut table = format!("id,{}\n", self.names().join(","));
        for (id, row) in self.rows.iter().enumerate() {
            writeln!(table, "{id},{}", row.join(",")).unwrap();
        }
        folder.write("items.csv", &table);
        let inputs = Inputs::new(&[folder.path().join("items.csv").to_str().unwrap().to_owned()]).unwrap();
        let items = Items::default();
        let source = Source::new(&items, Some((Arc::clone(&self.card), Options::default())));
        let mut rows = source.load(&inputs, &Silent).unwrap().rows;
        let judged = judge_leaderboard(ask, &Default::default(), &mut rows, &Events::default())?;
        Ok(serde_json::to_value(judged.answer).unwrap())
    }

    /// Returns the rows that SQLite gives for the items in `parts` tables, each added up by itself.
    fn added_up(&self, has_values: bool, parts: usize) -> (Vec<String>, Vec<Vec<Sql>>) {
        let asked = Query { table: "items", has_values, ..Query::default() };
        let by = By { subject: "subject", task: Some("task"), outcome: Some("outcome") };
        let text = query(&self.card, Dialect::Sqlite, &asked, Some(by)).unwrap();
        let literal = |(at, text): (usize, &String)| match (at, text.as_str()) {
            (_, "") => String::from("NULL"),
            (0..3, text) | (_, text @ "finance") => format!("'{text}'"),
            (_, text @ ("true" | "false")) => text.to_uppercase(),
            (_, text) => format!("{:e}", text.parse::<f64>().unwrap()),
        };
        let (mut names, mut all) = (Vec::new(), Vec::new());
        for part in 0..parts {
            let rows = self.rows.iter().skip(part).step_by(parts);
            let rows = rows.map(|row| {
                format!("({})", row.iter().enumerate().map(literal).collect::<Vec<_>>().join(","))
            });
            let columns = self.names().map_quoted();
            let connection = Connection::open_in_memory().unwrap();
            connection
                .create_scalar_function("SQRT", 1, FunctionFlags::SQLITE_DETERMINISTIC, |call| {
                    Ok(call.get::<Option<f64>>(0)?.map(f64::sqrt))
                })
                .unwrap();
            let rows: Vec<String> = rows.collect();
            let table =
                format!("CREATE TABLE items ({columns}); INSERT INTO items VALUES {}", rows.join(","));
            connection.execute_batch(&table).unwrap();
            let mut statement = connection.prepare(&text).unwrap();
            names = statement.column_names().map(String::from).collect();
            let count = names.len();
            let found = statement.query_map([], |row| (0..count).map(|at| row.get(at)).collect()).unwrap();
            all.extend(found.map(Result::unwrap));
        }
        (names, all)
    }

    fn sums(&self, has_values: bool, parts: usize) -> Sums {
        let (names, rows) = self.added_up(has_values, parts);
        let mut loader = Loader::new(Arc::clone(&self.card), &Fields::default());
        for row in rows {
            let value = |value: Sql| match value {
                Sql::Null => Given::Missing,
                Sql::Integer(number) => Given::Whole(number),
                Sql::Text(text) => Given::Text(text.into()),
                other => panic!("{other:?}"),
            };
            let row: Vec<_> =
                names.iter().zip(row).map(|(name, it)| (name.as_str().into(), value(it))).collect();
            loader.add(&place(), &row);
        }
        loader.finish().unwrap()
    }
}

trait Quoted {
    fn map_quoted(self) -> String;
}

impl Quoted for Vec<&str> {
    fn map_quoted(self) -> String {
        self.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",")
    }
}

fn place() -> Place {
    Place { file: String::from("sums"), line: None, nth: 1, is_row: true }
}

/// Takes away what sums do not tell, and what says so.
fn told(mut answer: Value) -> Value {
    answer.as_object_mut().unwrap().remove("sums");
    answer["decay"] = Value::Null;
    for name in ["digest", "repeated", "left_out"] {
        answer["items"][name] = Value::Null;
    }
    for row in answer["leaderboards"][0]["rows"].as_array_mut().unwrap() {
        row["bounds"] = Value::Null;
        row.as_object_mut().unwrap().remove("attempts_stop_at");
    }
    answer
}

fn cards() -> Vec<Arc<CompiledCard>> {
    let mut paths: Vec<_> = ["examples/cards", "vectors/cards"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap())
        .map(|it| it.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .collect();
    paths.sort();
    let cards = paths.iter().map(|path| Arc::new(CompiledCard::from_file(path).unwrap()));
    cards.filter(|card| card.evidence == "facts" && self_check(card, Dialect::Sqlite, 1).is_ok()).collect()
}

fn ask(text: &str) -> Leaderboard {
    serde_json::from_str(text).unwrap()
}

/// Every mean, policy, rule, gate and group; several attempts, outcomes, gaps.
#[test]
fn sums_give_the_leaderboard_of_the_items() {
    let cards = cards();
    assert!(cards.len() > 40, "only {}", cards.len());
    let (mut compared, mut refused) = (0, 0);
    for (seed, card) in (1u64..).zip(&cards) {
        let drawn = Drawn::new(Arc::clone(card), seed, 1 + seed % 3);
        let sums = drawn.sums(true, 1);
        let keys: Vec<&str> = karat_core::sql::measured(card).collect();
        let key = keys[seed as usize % keys.len()];
        let counts = vec![(Outcome::NoVerdict, Treatment::Failure), (Outcome::Stopped, Treatment::Scored)];
        let counted = Sure { counts, confidence: Confidence { level: 0.8 } };
        let mean = || ask(r#"{"by":"mean"}"#);
        for ask in [
            mean(),
            ask(r#"{"by":"mean","method":"means","min_tasks":3}"#),
            ask(r#"{"by":"mean","method":"census","sort":"subject"}"#),
            ask(&format!(r#"{{"by":"{key}"}}"#)),
            ask(&format!(r#"{{"by":"{key}","method":"means"}}"#)),
            Leaderboard { sure: counted.clone(), ..mean() },
            Leaderboard { by: Some(key.to_owned()), sure: counted, ..mean() },
        ] {
            match (drawn.of_items(&ask), sums.leaderboard(&ask)) {
                (Ok(of_items), Ok(of_sums)) => {
                    compared += 1;
                    assert_eq!(
                        told(of_items),
                        told(serde_json::to_value(of_sums).unwrap()),
                        "{} {ask:?}",
                        card.name()
                    );
                }
                (Err(of_items), Err(of_sums)) => {
                    refused += 1;
                    assert_eq!(of_items.code(), of_sums.code(), "{of_items} {of_sums}");
                }
                (of_items, of_sums) => panic!("{}: {of_items:?} {of_sums:?}", card.name()),
            }
        }
    }
    assert!(compared > 20 * refused.max(1), "{compared} compared, {refused} refused");
}

#[test]
fn rows_of_several_machines_add_up_to_those_of_one() {
    let drawn = Drawn::new(Arc::clone(&cards()[0]), 7, 4);
    let answers = [1, 2, 7].map(|parts| {
        let mut answer = drawn.sums(true, parts).leaderboard(&ask(r#"{"by":"mean"}"#)).unwrap();
        answer.sums.as_mut().unwrap().rows = 0;
        answer
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

const CARD: &str = "examples/cards/task-run.toml";
const COLUMNS: &str = "subject,task,outcome,items,scored,broken,sum_score_e9,card";

/// Ranks rows of [`COLUMNS`] but the last, which is the digest of the card.
fn ranked(rows: &str, flags: &[&str]) -> Run {
    let card = root().join(CARD);
    let digest = CompiledCard::from_file(&card).unwrap().digest;
    let folder = Folder::new();
    let rows: String = rows.split_whitespace().map(|row| format!("{row},{digest}\n")).collect();
    folder.write("sums.csv", &format!("{COLUMNS}\n{rows}"));
    folder.karat(&[&["leaderboard", "-c", card.to_str().unwrap(), "--from", "sums.csv"], flags].concat())
}

#[test]
fn the_example_gives_what_its_items_give() {
    let answer = |from: &[&str]| {
        let run = karat(&[&["leaderboard", "-c", CARD, "--by", "mean"], from].concat());
        told(serde_json::from_str(&run.stdout).unwrap())
    };
    let of_sums = answer(&["--from", "examples/leaderboard/sums/sums.csv"]);
    assert_eq!(answer(&["examples/leaderboard/runs.csv"]), of_sums);
}

#[test]
fn what_cannot_be_right_is_refused_all_at_once() {
    let run = ranked(
        "a,t1,,1,2,0,5 a,t2,,-1,0,0, a,t3,won,1,1,0,5 a,t4,,1,1,0,1000000001 a,t5,,1,1,0,0.5 a,,,1,1,0,5 ,t6,,1,1,0,5 \
         a,t7,,1,1,0, a,t8,,0,0,0, a,t9,,9223372036854775808,1,0,5 a,t9,,1,1,2,5",
        &[],
    );
    run.ends(1, "11 problems with the sums");
    for told in [
        "sums.csv:2: `scored`: found 2, expected 0 to 1, the items that are not broken",
        "sums.csv:3: `items`: found -1",
        "sums.csv:4: `outcome`: found `won`, expected one of succeeded",
        "sums.csv:5: `sum_score_e9`: found 1000000001, expected 0 to 1000000000",
        "sums.csv:6: `sum_score_e9`: found `0.5`, expected a whole number",
        "sums.csv:7: `task`: found nothing",
        "sums.csv:8: `subject`: found nothing",
        "sums.csv:9: `sum_score_e9`: found nothing",
        "sums.csv:10: `items`: found 0",
        "sums.csv:11: `items`: found `9223372036854775808`, expected a whole number below 2^63",
        "sums.csv:12: `broken`: found 2",
    ] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
    let large = "a,t,,3000000000,3000000000,0,3000000000000000000";
    ranked(&format!("{large} {large}"), &[]).ends(1, "`a` at `t`: found 6000000000 items");
    let folder = Folder::new();
    let card = root().join(CARD);
    let refused = |name: &str, text: &str, told: &[&str]| {
        folder.write(name, text);
        let run = folder.karat(&["leaderboard", "-c", card.to_str().unwrap(), "--from", name]);
        for told in told {
            run.ends(1, told);
        }
    };
    let other = "subject,item,scored,broken,sum_score_e9,card\na,1,1,0,5,sha256:00\n";
    let told = [
        "`item` is not one of sums; did you mean `items`?", "no column `items`",
        "without tasks nothing can be compared",
    ];
    refused("other.csv", other, &told);
    refused("other.csv", other, &["`card`: found sha256:00, expected sha256:"]);
    refused("empty.csv", "", &["the file is empty"]);
    refused("x.parquet", "PAR1", &["x.parquet"]);
}

#[test]
fn what_sums_do_not_tell_is_refused_by_name_or_said() {
    let rows = "a,t,,2,2,0,1500000000 a,u,,1,1,0,1 b,t,,1,1,0,3 b,u,,1,1,0,4 b,u,failed,1,0,0, c,t,,3,1,2,5";
    let flags =
        ["--attempts", "3", "--with", "cost_usd", "--where", "task=t", "--group-by", "task", "--robustness"];
    ranked(rows, &flags).ends(1, "what --where, --group-by, --with, --attempts and --robustness ask for");
    ranked(rows, &["--by", "cost_usd:asc"]).ends(1, "--by with a fact");
    ranked(rows, &["--by", "solved"]).ends(1, "the sums have no values of dimensions");
    ranked(rows, &["--by", "official"]).ends(1, "what --by official asks for");
    let run = ranked(rows, &["--table"]);
    for told in [
        "from sums: 6 rows about 6 cells; they do not tell how many cases an item is a",
        "2 items more are broken: subjects with broken items are left out",
        "2 of the 3 items of `c` are broken",
        "by the mean of runs and not by official score: sums have no times of items",
        "5 of 6 items without a known outcome: counted by score",
        "1 of 6 items without a score",
    ] {
        assert!(run.stdout.contains(told), "{told}: {}", run.stdout);
    }
    let answer: Value = serde_json::from_str(&ranked(rows, &["--json"]).stdout).unwrap();
    assert_eq!((&answer["sums"]["broken"], &answer["sums"]["unscored"]), (&2.into(), &1.into()));
    assert_eq!(answer["leaderboards"][0]["unranked"][0]["why"], "broken-items");
}

/// One billionth in sums that no double holds.
#[test]
fn sums_beyond_2_to_the_53_are_exact() {
    let means = |sum: i64| {
        let run = ranked(&format!("a,t,,20000000,20000000,0,{sum} a,u,,1,1,0,0"), &["--json"]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        answer["leaderboards"][0]["rows"][0]["score"]["mean"].as_f64().unwrap()
    };
    // Half of a billionth, to even, and just above it.
    let tie = 20_000_000 * 500_000_001;
    assert!(tie > 1 << 53);
    assert_eq!((means(tie), means(tie + 1)), (25.0, 25.000_000_1));
}
