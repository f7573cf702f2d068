//! The program with files of Parquet and Arrow.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the program in the folder of files of other writers.
fn karat(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
    command.args(arguments).stdin(Stdio::null());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../frames/tests/files"));
    command
}

fn printed(arguments: &[&str]) -> String {
    let output = karat(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = karat(arguments);
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// Every command that reads items answers with the same bytes, whatever the form of the items.
#[test]
fn answers_are_those_of_the_same_items_as_lines() {
    let questions: [&[&str]; 4] = [
        &["score", "-c", "points.toml", "--json"],
        &["leaderboard", "-c", "points.toml", "--json"],
        &["compare", "-c", "points.toml", "--json", "agent-a", "agent-b"],
        &["stress", "-c", "points.toml", "--json"],
    ];
    for question in questions {
        // Items are named with their file.
        let of = |file: &str| printed(&[question, &[file]].concat()).replace(file, "FILE");
        let lines = of("items.jsonl");
        for file in ["polars.parquet", "duckdb.parquet", "pyarrow-views.arrow", "polars.arrows"] {
            assert_eq!(of(file), lines, "{question:?} {file}");
        }
    }
    let output = command(&["score", "-c", "points.toml", "--json"])
        .stdin(
            fs::File::open(
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../frames/tests/files/polars.parquet"),
            )
            .unwrap(),
        )
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        printed(&["score", "-c", "points.toml", "--json", "items.jsonl"])
    );
}

#[test]
fn matches_are_rated() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("matches.csv");
    fs::write(
        &table,
        "model_a,model_b,winner\none,two,model_a\ntwo,three,tie\nthree,one,model_b\none,three,model_a\n",
    )
    .unwrap();
    let of = |file: &str| {
        printed(&[
            "rate", "--system", "elo", "--columns", "first=model_a,second=model_b,result=winner", "--json",
            file,
        ])
    };
    assert_eq!(of("polars-matches.parquet"), of(table.to_str().unwrap()));
}

/// The same item in two files counts once; another under its id is refused.
#[test]
fn items_of_two_files_are_told_apart() {
    let once = printed(&["leaderboard", "-c", "points.toml", "--json", "polars.parquet"]);
    let twice = printed(&["leaderboard", "-c", "points.toml", "--json", "polars.parquet", "duckdb.parquet"]);
    let board = |text: &str| {
        let answer: serde_json::Value = serde_json::from_str(text).unwrap();
        (answer["leaderboards"].clone(), answer["repeated"].clone())
    };
    assert_eq!(board(&once).0, board(&twice).0);
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.jsonl");
    fs::write(&other, "{\"id\": \"103\", \"subject\": \"agent-a\", \"points\": 0.5}\n").unwrap();
    let refused = refused(&["leaderboard", "-c", "points.toml", "polars.parquet", other.to_str().unwrap()]);
    assert!(refused.contains("two items `103`") && refused.contains("polars.parquet:4"), "{refused}");
}

#[test]
fn scores_are_a_file_or_none() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["scores.parquet", "scores.arrow"] {
        let path = folder.path().join(name);
        let path = path.to_str().unwrap();
        for _ in 0..2 {
            assert_eq!(printed(&["score", "-c", "points.toml", "-o", path, "polars.parquet"]), "");
        }
        let bytes = fs::read(path).unwrap();
        assert!(bytes.starts_with(b"PAR1") || bytes.starts_with(b"ARROW1"));
        fs::remove_file(path).unwrap();
        // The third item is refused: nothing is left of those before.
        let broken = folder.path().join("broken.jsonl");
        fs::write(
            &broken,
            "{\"subject\": \"a\", \"points\": 1}\n".repeat(2) + "{\"subject\": \"a\", \"points\": 2}\n",
        )
        .unwrap();
        let broken = broken.to_str().unwrap();
        assert!(refused(&["score", "-c", "points.toml", "-o", path, broken]).contains("broken.jsonl:3"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
        refused(&["score", "-c", "points.toml", "--keep-going", "-o", path, broken]);
        assert!(fs::metadata(path).unwrap().len() > 0);
        fs::remove_file(path).unwrap();
    }
    let own = folder.path().join("own.parquet");
    let own = own.to_str().unwrap();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../frames/tests/files/polars.parquet"), own)
        .unwrap();
    let before = fs::read(own).unwrap();
    assert!(refused(&["score", "-c", "points.toml", "-o", own, "items.jsonl"]).contains("not overwritten"));
    assert_eq!(fs::read(own).unwrap(), before);
    assert!(
        refused(&["score", "-c", "points.toml", "-o", "scores.csv", "items.jsonl"])
            .contains("says no format")
    );
}
