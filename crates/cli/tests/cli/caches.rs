//! Caches of vectors on the command line: started, shown, filled by scoring, and unchanged if an item is refused.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, example, root};
use crate::graders::{bytes, done, files, line, lines, refused, traces};

#[test]
fn a_new_cache_overwrites_nothing() {
    let folder = traces();
    done(folder.karat(&["score", "-c", "trace", "--cache", "mine.cache", "traces.jsonl"]));
    let before = bytes(&folder, "mine.cache");
    assert_snapshot!(refused(&folder.karat(&["cache", "new", "mine.cache"]), 1), @r"
    exit status 1
    --- errors
    error: `mine.cache` exists already
      remove it first, or choose another name
    ");
    assert_eq!(bytes(&folder, "mine.cache"), before);
    for dimension in ["0", "65537", "-1"] {
        let run = folder.karat(&["cache", "new", "other.cache", "--dimension", dimension]);
        assert_eq!(run.status, 2, "{}", run.screen());
    }
    assert_eq!(files(&folder), ["mine.cache", "traces.jsonl"]);
}

#[test]
fn a_cache_is_shown() {
    assert_snapshot!(done(line("cache show --table examples/raw/traces.cache")), @r"
    3 vectors of 1000, 4 numbers each, kept for ever
    sha256:4ae4e6489efbb76f5a66689c58688970bb5c167caa57bdc317117d916546d025

    id                              moment
    agent-first/kp:trace:raw-first  2026-03-18T09:00:00Z
    agent-alike/kp:trace:raw-alike  2026-03-18T09:05:00Z
    agent-other/kp:trace:raw-other  2026-03-18T09:09:00Z
    ");
    let shown = lines(&done(line("cache show examples/raw/traces.cache"))).remove(0);
    assert_eq!(shown["entries"][2]["id"], "agent-other/kp:trace:raw-other");
    assert_eq!((&shown["capacity"], &shown["ttl_milliseconds"]), (&1000.into(), &Value::Null));
    let folder = Folder::new();
    done(folder.karat(&["cache", "new", "new.cache", "--ttl", "24h", "--capacity", "7"]));
    let screen = done(folder.karat(&["cache", "show", "--table", "new.cache"]));
    assert!(screen.starts_with("0 vectors of 7, 384 numbers each, kept 1 day\n"), "{screen}");
    assert!(screen.ends_with("  Traces go in as they are scored: karat score -c trace --cache FILE TRACE\n"));
    let times = [
        ("3600000", 3_600_000u64, "1 hour"),
        ("1h", 3_600_000, "1 hour"),
        ("90s", 90_000, "90 seconds"),
        ("15m", 900_000, "15 minutes"),
        ("15 min", 900_000, "15 minutes"),
        ("30d", 2_592_000_000, "30 days"),
        ("1500ms", 1500, "1500 ms"),
        ("0", 0, "0 ms"),
    ];
    for (at, (ttl, milliseconds, shown)) in times.into_iter().enumerate() {
        let name = format!("{at}.cache");
        done(folder.karat(&["cache", "new", &name, "--ttl", ttl]));
        let line = lines(&done(folder.karat(&["cache", "show", &name]))).remove(0);
        assert_eq!(line["ttl_milliseconds"], milliseconds, "{ttl}");
        let screen = done(folder.karat(&["cache", "show", "--table", &name]));
        assert!(screen.contains(&format!("kept {shown}\n")), "{ttl}: {screen}");
    }
    for ttl in ["", "h", "1.5h", "-1", "1w", "1 h 5", "99999999999999999999", "300000000000000000d"] {
        let refused = folder.karat(&["cache", "new", "refused.cache", "--ttl", ttl]);
        assert_eq!(refused.status, 2, "{ttl}: {}", refused.screen());
        assert!(!folder.path().join("refused.cache").exists());
    }
}

#[test]
fn a_broken_cache_says_where_and_an_absent_one_how_to_begin() {
    let folder = Folder::new();
    let sound = fs::read(root().join("examples/raw/traces.cache")).unwrap();
    let mut changed = sound.clone();
    changed[100] ^= 1;
    for (broken, where_) in [
        (&sound[..sound.len() - 1], "byte "),
        (b"{}", "byte 0: found `{}`, expected `karat vectors 2"),
        (b"", "byte 0: "),
        (&changed[..], "byte "),
    ] {
        fs::write(folder.path().join("broken.cache"), broken).unwrap();
        let screen = refused(&folder.karat(&["cache", "show", "broken.cache"]), 1);
        let says = format!("error: `broken.cache` is not a sound cache of vectors: {where_}");
        assert!(screen.contains(&says), "{screen}");
    }
    assert_snapshot!(refused(&folder.karat(&["cache", "show", "absent.cache"]), 1), @r"
    exit status 1
    --- errors
    error: cannot read `absent.cache`: there is no such file
      check the spelling; paths are relative to the current folder
      to start with an empty one: karat cache new absent.cache
    ");
}

#[test]
fn scoring_twice_with_a_cache_gives_the_same_scores_and_file() {
    let folder = traces();
    let arguments = ["score", "-c", "trace", "--cache", "mine.cache", "traces.jsonl"];
    let empty = bytes(&folder, "mine.cache");
    let first = lines(&done(folder.karat(&arguments)));
    let filled = bytes(&folder, "mine.cache");
    assert_ne!(empty, filled);
    assert_eq!(filled, fs::read(root().join("examples/raw/traces.cache")).unwrap());
    let second = lines(&done(folder.karat(&arguments)));
    assert_eq!(bytes(&folder, "mine.cache"), filled);
    for (first, second) in first.iter().zip(&second) {
        assert_eq!((&first["score"], &first["facts"]), (&second["score"], &second["facts"]));
        assert_eq!(second["grading"]["novelty"]["repeat"], true);
    }
    assert_eq!(files(&folder), ["mine.cache", "traces.jsonl"]);
}

#[test]
fn a_record_read_against_a_cache_is_compared_with_its_evidence_only_with_that_cache() {
    let folder = traces();
    fs::copy(folder.path().join("mine.cache"), folder.path().join("before.cache")).unwrap();
    let scored = done(folder.karat(&["score", "-c", "trace", "--cache", "mine.cache", "traces.jsonl"]));
    folder.write("record.json", scored.lines().next().unwrap());
    let explain = |more: &[&str]| {
        folder.karat(&[&["explain", "record.json", "--evidence", "traces.jsonl"], more].concat())
    };
    let without = explain(&[]);
    assert_eq!((without.status, without.stdout.as_str()), (12, ""), "{}", without.stderr);
    assert!(without.stderr.contains("cannot be compared: its novelty was read against a cache of vectors"));
    assert!(without.stderr.contains("give --cache as it was before the record"));
    assert_eq!(explain(&["--cache", "before.cache"]).status, 0);
    let other = explain(&["--cache", "mine.cache"]);
    assert_eq!(other.status, 14, "{}", other.stderr);
}

#[test]
fn a_refused_item_leaves_the_cache_as_it_was() {
    let folder = traces();
    let before = bytes(&folder, "mine.cache");
    let traces = example("raw/traces.jsonl");
    let bad = traces.replacen("\"confidence\": 0.9", "\"confidence\": 1.9", 3);
    folder.write("bad.jsonl", &bad);
    folder.write("half.jsonl", &traces.replace("[0.6, 0.8, 0, 0]", "[0.6, 0.8, 0]"));
    // A name that another file may have.
    folder.write("mine.cache.new", "mine");
    let score =
        |more: &[&str]| folder.karat(&[&["score", "-c", "trace", "--cache", "mine.cache"], more].concat());
    assert_eq!(score(&["bad.jsonl"]).status, 1);
    assert_eq!(score(&["--keep-going", "bad.jsonl"]).status, 1);
    // The first item was scored, but the command did not finish.
    let half = score(&["half.jsonl"]);
    assert_eq!((half.status, half.stdout.lines().count()), (1, 1));
    assert_eq!(bytes(&folder, "mine.cache"), before);
    // With --keep-going the scored items are kept, and only those.
    let rest = score(&["--keep-going", "half.jsonl"]);
    assert_eq!((rest.status, rest.stdout.lines().count()), (1, 2));
    let shown = lines(&done(folder.karat(&["cache", "show", "mine.cache"]))).remove(0);
    let ids: Vec<_> = shown["entries"].as_array().unwrap().iter().map(|entry| entry["id"].clone()).collect();
    assert_eq!(ids, ["agent-first/kp:trace:raw-first", "agent-other/kp:trace:raw-other"]);
    assert_eq!(files(&folder), ["bad.jsonl", "half.jsonl", "mine.cache", "mine.cache.new", "traces.jsonl"]);
    assert_eq!(bytes(&folder, "mine.cache.new"), b"mine");
}
