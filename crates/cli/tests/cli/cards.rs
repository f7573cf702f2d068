//! The cards of the examples; those that are released have their own guard in the core.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, example, karat, karat_reading, root};

#[test]
fn the_checker_warns_of_nothing_that_an_example_card_leaves_unanswered() {
    let cards: Vec<_> =
        fs::read_dir(root().join("examples/cards")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(cards.len() >= 2, "only {cards:?}");
    for card in cards {
        let run = karat(&["card", "check", &card.display().to_string()]);
        let silent = run.stdout.contains("usable, 0 errors, 0 warnings");
        assert!(run.status == 0 && silent, "{}\n{}{}", card.display(), run.stderr, run.stdout);
    }
}

/// Without a time limit no time is short: a clock that shows 0 must not override the speed that the arena gives.
#[test]
fn a_match_without_a_limit_has_the_speed_it_states() {
    let match_of = |speed: &str, time: &str| {
        format!(r#"{{"match_id": "m", "agent_id": "a", "scores": {{"correctness": 900{speed}}}{time}}}"#)
    };
    let speed = |stated: &str, time: &str| {
        let item = match_of(stated, time);
        let run = karat_reading(&["score", "-c", "cipher-relay", "--json"], &item);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
        record["dimensions"][1]["reading"].clone()
    };
    let stated = r#", "speed": 300"#;
    assert_eq!(speed(stated, r#", "time_used_secs": 0"#), 0.3);
    assert_eq!(speed("", r#", "time_used_secs": 0, "time_limit_secs": 600"#), 1);
    assert_eq!(speed("", r#", "time_used_secs": 150, "time_limit_secs": 600"#), 0.75);
    assert_eq!(speed("", r#", "time_used_secs": 600, "time_limit_secs": 600"#), 0);
    // A stated speed that the times contradict is refused.
    let contradicted = match_of(stated, r#", "time_used_secs": 0, "time_limit_secs": 600"#);
    let run = karat_reading(&["score", "-c", "cipher-relay", "--json"], &contradicted);
    assert!(run.status != 0 && run.stderr.contains("$.scores.speed: found 300"), "{}", run.stderr);
}

#[test]
fn what_becomes_of_late_items_is_checked_and_shown() {
    let card = example("cards/support-agent.toml");
    let with = |late: &str| {
        let folder = Folder::new();
        folder.write("card.toml", &card.replace("[standing]\n", &format!("[standing]\n{late}\n")));
        let path = folder.path().join("card.toml");
        let path = path.to_str().unwrap();
        (karat(&["card", "check", path]), karat(&["card", "show", path]).stdout)
    };
    let (_, usual) = with("");
    for (late, says) in [
        (
            "treatment = \"as-arrived\"",
            "items that arrive more than 7 days after their time are as old as if",
        ),
        (
            "after_days = 1, treatment = \"excluded\"",
            "items that arrive more than 1 day after their time do not count",
        ),
        ("after_days = 9", "items that arrive more than 9 days after their time are as old as they say"),
    ] {
        let (checked, shown) = with(&format!("late = {{ {late} }}"));
        assert_eq!(checked.status, 0, "{}", checked.stdout);
        let words: Vec<&str> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains(says) && !usual.contains("arrive more than"), "{shown}");
    }
    let (wrong, _) = with("late = { treatment = \"ignored\" }");
    assert!(
        wrong.status != 0 && wrong.screen().contains("as-stated, as-arrived, excluded"),
        "{}",
        wrong.screen()
    );
}

#[test]
fn the_files_of_every_exercise_are_those_of_its_card() {
    let folders = fs::read_dir(root().join("examples/judge")).unwrap().map(|it| it.unwrap().path());
    let cards: Vec<_> = folders.map(|it| it.join("challenge.toml")).filter(|it| it.exists()).collect();
    assert!(cards.len() >= 10, "only {cards:?}");
    for card in cards {
        let run = karat(&["card", "check", &card.display().to_string()]);
        assert_eq!(run.status, 0, "{}\n{}{}", card.display(), run.stderr, run.stdout);
    }
}

#[test]
fn a_new_challenge_may_be_in_another_language() {
    let folder = Folder::new();
    let out = folder.path().join("run").display().to_string();
    let made = karat(&["card", "new", "run", "--challenge", "--language", "javascript", "--out", &out]);
    assert!(
        made.status == 0 && made.stdout.contains("/reference.js (hidden)"),
        "{}{}",
        made.stdout,
        made.stderr
    );
    let card = folder.path().join("run/challenge.toml").display().to_string();
    let sound = karat(&["card", "check", &card]);
    assert!(sound.status == 0 && sound.stdout.contains("usable, 0 errors, 0 warnings"), "{}", sound.stdout);
    assert!(fs::read_to_string(&card).unwrap().contains("runtime = \"javascript\""));
    assert_eq!(karat(&["card", "new", "run", "--challenge", "--language", "cobol"]).status, 2);
    assert_eq!(karat(&["card", "new", "run", "--language", "javascript"]).status, 2);
}

/// The files of `--challenge` are sound as they are, and a change of the hidden cases is refused with the digest to paste.
#[test]
fn a_new_challenge_that_runs_code_is_valid_at_once() {
    let folder = Folder::new();
    let path = |name: &str| folder.path().join("maze").join(name).display().to_string();
    let out = folder.path().join("maze").display().to_string();
    let new = || karat(&["card", "new", "maze", "--challenge", "--out", &out]);
    let made = new();
    assert!(made.status == 0 && made.stdout.contains("karat card check"), "{}{}", made.stdout, made.stderr);
    let card = path("challenge.toml");
    let check = || karat(&["card", "check", &card]);
    let sound = check();
    assert!(sound.status == 0 && sound.stdout.contains("usable, 0 errors, 0 warnings"), "{}", sound.stdout);
    assert!(fs::read_to_string(path("reference.py")).unwrap().contains("def longest_run"));
    let again = new();
    assert!(again.status != 0 && again.stderr.contains("exists already"), "{}", again.stderr);

    let cases = fs::read_to_string(path("cases.toml")).unwrap();
    fs::write(path("cases.toml"), cases.replace("expect = 3", "expect = 4")).unwrap();
    let changed = check();
    assert_eq!(changed.status, 13, "{}", changed.stdout);
    let digest = changed.stdout.split("digest = \"").nth(1).and_then(|rest| rest.get(..71)).unwrap();
    let text = fs::read_to_string(&card).unwrap();
    let line = text.lines().find(|line| line.starts_with("digest")).unwrap();
    fs::write(&card, text.replace(line, &format!("digest = \"{digest}\""))).unwrap();
    assert_eq!(check().status, 0, "{}", check().stdout);

    fs::write(path("cases.toml"), cases.replace("args   = [[4, 4, 4]]", "args   = 4")).unwrap();
    let broken = check();
    assert!(
        broken.stdout.contains("line 8") && broken.stdout.contains("`$.case[0].args`"),
        "{}",
        broken.stdout
    );
    fs::remove_file(path("cases.toml")).unwrap();
    assert!(check().stdout.contains("cannot be read"), "{}", check().stdout);
    // Without its files a card can be read, and matches that need them are refused.
    assert_eq!(karat(&["card", "show", &card]).status, 0);
    let played = r#"{"match_id": "m", "agent_id": "a", "attempt_number": 1, "memoryless": false, "ground_truth": {},
        "started_at": "2026-03-01T12:00:00Z", "submitted_at": "2026-03-01T12:00:30Z", "time_limit_secs": 60,
        "payload": {"answer": {"code": ""}}}"#;
    let refused = karat_reading(&["score", "-c", &card], &played.replace('\n', " "));
    assert!(refused.status != 0 && refused.stderr.contains("cannot be read"), "{}", refused.stderr);
    assert!(refused.stderr.contains(digest), "{}", refused.stderr);
}

#[test]
fn a_kind_of_evidence_that_nothing_reads_is_refused() {
    let folder = Folder::new();
    for kind in ["inspect", "Facts", "workflow", ""] {
        folder.write(
            "card.toml",
            &format!(
                "schema = \"karat/scorecard/1\"\nid = \"a\"\nversion = \"1.0.0\"\ntitle = \"A\"\nevidence = \"{kind}\"\n\
                 [facts]\nq = {{ unit = \"1\", min = 0, max = 1 }}\n\
                 [[dimension]]\nkey = \"s\"\nweight = 1\nmissing = \"withhold\"\nformula = \"q\"\n"
            ),
        );
        let run = folder.karat(&["card", "check", "card.toml"]);
        let told = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.status, 13, "{kind}: {told}");
        assert!(told.contains(&format!("there is no kind of evidence `{kind}`")), "{kind}: {told}");
    }
}
