//! Cards as queries: the engine at hand answers as karat does. Others are asked by `scripts/check-sql`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
use std::fs;
use std::path::PathBuf;

use karat::card::CompiledCard;
use karat::sql::{By, Dialect, Query, query, self_check};
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::common::{Folder, karat, root};

/// Returns every card whose evidence is a table, and which has no function that differs between engines.
fn cards() -> Vec<CompiledCard> {
    let mut paths: Vec<PathBuf> = ["examples/cards", "vectors/cards", "scorecards/run", "scorecards/trust"]
        .iter()
        .flat_map(|folder| fs::read_dir(root().join(folder)).unwrap())
        .map(|it| it.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .collect();
    paths.sort();
    let cards = paths.iter().map(|path| CompiledCard::from_file(path).unwrap());
    cards.filter(|card| self_check(card, Dialect::Sqlite, 1).is_ok()).collect()
}

/// Counts the rows that differ, with an SQLite that has its mathematical functions.
fn count(text: &str) -> rusqlite::Result<i64> {
    let connection = Connection::open_in_memory()?;
    let is_pure = FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("SQRT", 1, is_pure, |call| Ok(call.get::<Option<f64>>(0)?.map(f64::sqrt)))?;
    connection.query_row(text, [], |row| row.get(0))
}

#[test]
fn every_card_that_is_a_query_gives_the_same_scores_there() {
    let cards = cards();
    assert!(cards.len() > 55, "only {}", cards.len());
    for card in &cards {
        let text = self_check(card, Dialect::Sqlite, 800).unwrap();
        assert_eq!(count(&text), Ok(0), "{} {}", card.name(), card.title);
    }
}

/// A check that cannot fail proves nothing.
#[test]
fn the_check_finds_a_query_that_differs_by_little() {
    let card = CompiledCard::open("trust@1.0.0").unwrap();
    let text = self_check(&card, Dialect::Sqlite, 2000).unwrap();
    assert_eq!(count(&text), Ok(0));
    for (place, other) in [
        ("CAST(4503599627370496 AS REAL)", "CAST(4503599627370497 AS REAL)"),
        ("CAST(1000000000 AS REAL)", "CAST(1000000001 AS REAL)"),
        ("> CAST(1 AS REAL)", ">= CAST(1 AS REAL)"),
        ("COALESCE(", "IFNULL(1.01 * "),
        ("IS NULL THEN", "IS NOT NULL THEN"),
        ("+ CAST(0.5 AS REAL)", "+ CAST(0.4999 AS REAL)"),
        ("WHEN 1 THEN", "WHEN 2 THEN"),
    ] {
        let (rows, rest) = text.split_once("\nscores AS (").unwrap();
        let (scores, comparison) = rest.split_once("\nSELECT COUNT(CASE").unwrap();
        assert!(scores.contains(place), "{place} is not in the query");
        let changed = scores.replace(place, other);
        let found = count(&format!("{rows}\nscores AS ({changed}\nSELECT COUNT(CASE{comparison}"));
        assert!(found.as_ref().is_ok_and(|differ| *differ > 0), "{place} -> {other}: {found:?}");
    }
}

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "sql"
version = "1.0.0"
title = "Names and values that are traps"
evidence = "facts"
scale = { max = 100, publish = "half-up" }

[facts]
order = { min = 0, max = 1 }
"select\"" = { min = 0 }
steps = { min = 0, max = 50, integer = true }
ready = { type = "boolean" }

[[dimension]]
key = "order"
formula = "order"
weight = 0.5

[[dimension]]
key = "steps"
formula = "1 - steps / 50"
applies = "ready"
weight = 0.5
"#;

/// Runs a query over rows of a table `runs`, and returns the columns of each as texts.
fn answered(card: &CompiledCard, asked: &Query<'_>, by: Option<By<'_>>, rows: &str) -> Vec<Vec<String>> {
    let connection = Connection::open_in_memory().unwrap();
    let table = r#"CREATE TABLE runs (who, task, id, "order", steps, ready)"#;
    connection.execute_batch(&format!("{table}; INSERT INTO runs VALUES {rows}")).unwrap();
    let text = query(card, Dialect::Sqlite, asked, by).unwrap();
    let mut statement = connection.prepare(&text).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns).map(|at| Ok(format!("{:?}", row.get::<_, rusqlite::types::Value>(at)?))).collect()
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

fn traps() -> CompiledCard {
    CompiledCard::parse(&CARD.replace("\"select\\\"\" = { min = 0 }\n", "")).unwrap()
}

#[test]
fn broken_rows_are_marked_and_the_others_are_scored() {
    let keep = [String::from("id")];
    let asked = Query { table: "runs", keep: &keep, ..Query::default() };
    let rows = "('a', 't', 1, 0.5, 25, 1), ('a', 't', 2, 1.5, 25, 1), ('a', 't', 3, 'none', 25, 1), ('a', 't', 4, 0.5, 2.5, 1), \
        ('a', 't', 5, 0.5, 25, 2), ('a', 't', 6, NULL, NULL, NULL), ('a', 't', 7, 0.25, NULL, 0), ('a', 't', 8, 9e999, 1, 1)";
    let found = answered(&traps(), &asked, None, rows);
    let texts: Vec<String> =
        found.iter().map(|row| format!("{} {} {} {}", row[0], row[2], row[7], row[8])).collect();
    assert_eq!(
        texts,
        [
            r#"Integer(1) Integer(500000000) Text("scored") Null"#,
            r#"Integer(2) Null Text("broken") Text("order: expected at most 1")"#,
            r#"Integer(3) Null Text("broken") Text("order: expected a number")"#,
            r#"Integer(4) Null Text("broken") Text("steps: expected a whole number")"#,
            r#"Integer(5) Null Text("broken") Text("ready: expected true or false")"#,
            r#"Integer(6) Null Text("unscored") Null"#,
            r#"Integer(7) Integer(250000000) Text("scored") Null"#,
            r#"Integer(8) Null Text("broken") Text("order: expected at most 1")"#,
        ]
    );
}

#[test]
fn an_item_counts_once_and_not_at_all_where_its_rows_differ() {
    let unique = ["who", "id"].map(String::from);
    let asked = Query { table: "runs", unique: &unique, ..Query::default() };
    let rows = "('a', 't', 1, 0.5, 25, 1), ('a', 't', 1, 0.5, 25, 1), ('a', 'u', 2, 1, 0, 1), ('a', 'u', 2, 1, 10, 1), \
        ('b', 't', 1, 0.1, NULL, 0), ('b', 't', 1, 0.1, 3, 0)";
    let found =
        answered(&traps(), &asked, Some(By { subject: "who", task: Some("task"), outcome: None }), rows);
    let card = format!("Text({:?})", traps().digest.to_string());
    assert!(found.iter().all(|row| row.last() == Some(&card)));
    let texts: Vec<String> = found.iter().map(|row| row[..6].join(" ")).collect();
    assert_eq!(
        texts,
        [
            r#"Text("a") Text("t") Integer(1) Integer(1) Integer(0) Integer(500000000)"#,
            r#"Text("a") Text("u") Integer(1) Integer(0) Integer(1) Null"#,
            r#"Text("b") Text("t") Integer(1) Integer(0) Integer(1) Null"#,
        ]
    );
}

#[test]
fn names_are_quoted_as_each_engine_wants_them() {
    let card = CompiledCard::parse(CARD);
    // No card has a fact of this name; a column that stays may have any.
    assert!(card.is_err());
    let keep = [String::from("a\"b`c\\d")];
    let asked = Query { table: "lake.runs", keep: &keep, ..Query::default() };
    for (dialect, column, table) in [
        (Dialect::DuckDb, r#""a""b`c\d""#, r#""lake"."runs""#),
        (Dialect::Postgres, r#""a""b`c\d""#, r#""lake"."runs""#),
        (Dialect::Sqlite, r#""a""b`c\d""#, r#""lake"."runs""#),
        (Dialect::Snowflake, r#""a""b`c\d""#, r#""lake"."runs""#),
        (Dialect::Spark, "`a\"b``c\\d`", "`lake`.`runs`"),
        (Dialect::ClickHouse, "`a\"b\\`c\\\\d`", "`lake`.`runs`"),
        (Dialect::BigQuery, "`a\"b\\`c\\\\d`", "`lake`.`runs`"),
    ] {
        let text = query(&traps(), dialect, &asked, None).unwrap();
        assert!(text.contains(&format!("t.{column} AS")), "{text}");
        assert!(text.contains(&format!("FROM {table} AS t")), "{text}");
    }
}

#[test]
fn what_is_no_query_is_refused_by_name() {
    let folder = Folder::new();
    folder.write(
        "exp.toml",
        &CARD.replace("\"select\\\"\" = { min = 0 }\n", "").replace("1 - steps / 50", "exp(0 - steps)"),
    );
    let duck = ["--dialect", "duckdb", "--table", "t"];
    let refused = |card: &str, more: &[&str], told: &str| {
        let run = folder.karat(&[&["card", "sql", card], duck.as_slice(), more].concat());
        run.ends(1, told);
    };
    refused("workflow@1.1.0", &[], "kind `workflow-run`, which is not a table");
    refused("exp.toml", &[], "`sql@1.0.0` computes with `exp`, whose last digits differ between engines");
    refused("trust@1.0.0", &["--without", "acuracy"], "did you mean `accuracy`?");
    refused("trust@1.0.0", &["--keep", "tier"], "two columns of the result would be called `tier`");
    refused("run", &["--elapsed-seconds", "age"], "`run@1.0.0` has no decay");
    refused("run", &["--sums", "a,b,c,d"], "found 4 columns");
    let run = karat(&["card", "sql", "run", "--dialect", "oracle", "--table", "t"]);
    run.ends(2, "duckdb, postgres, sqlite, clickhouse, spark, bigquery, snowflake");
    let run = karat(&["card", "sql", "run", "--dialect", "sqlite"]);
    run.ends(2, "--table");
}
