use std::sync::Arc;

use super::*;
use crate::answers::CheckOutcome;
use crate::answers::basis::Estimate;
use crate::answers::leaderboard::fact::RankedFact;
use crate::answers::leaderboard::{Leaderboard, LeaderboardRow, Settles};
use crate::card::CompiledCard;
use crate::engine::{Engine, Options};
use crate::record::document::BoundsDocument;
use crate::verification::Check;

#[test]
fn a_day_is_written_as_people_do() {
    assert_eq!(day("2026-06-08T12:00:00Z"), "8 June 2026");
    assert_eq!(day("run-7"), "run-7");
    assert_eq!(day("2026-13-08"), "2026-13-08");
}

/// Returns a leaderboard of subjects with their points, letters and the best rank that the runs leave open.
fn board(rows: &[(&str, f64, &[&str], u32)]) -> Leaderboard {
    let score = |points: f64| Estimate {
        mean: points,
        low: Some(points - 10.0),
        high: Some(points + 10.0),
        method: None,
        tasks: 16,
    };
    let rank = |points: f64| {
        let above = rows.iter().filter(|it| it.1 > points).count() as u32;
        [above + 1, above + rows.iter().filter(|it| it.1 == points).count() as u32]
    };
    let row = |&(subject, points, letters, best): &(&str, f64, &[&str], u32)| LeaderboardRow {
        subject: subject.to_owned(),
        rank: rank(points),
        rank_range: Some([best, rows.len() as u32]),
        letters: Some(letters.iter().map(|&letter| letter.to_owned()).collect()),
        score: score(points),
        tasks: 16,
        ..LeaderboardRow::default()
    };
    Leaderboard {
        by: String::from("mean"),
        ranked: rows.len() as u64,
        rows: rows.iter().map(row).collect(),
        ..Leaderboard::default()
    }
}

/// Checks the headline of each leaderboard, and that its sentences are whole ones.
fn check(cases: &[(Leaderboard, &str)]) {
    for (board, expected) in cases {
        let found = leaderboard::one(board, 100);
        assert_eq!(found.text, *expected);
        assert!(!found.text.ends_with('.'));
        assert!(found.lead.iter().all(|line| line.ends_with('.')), "{:?}", found.lead);
    }
}

#[test]
fn a_leader_is_clear_only_if_nothing_ties_with_it() {
    let close: &[&str] = &["a"];
    let both: &[&str] = &["a", "b"];
    let other: &[&str] = &["b"];
    check(&[
        (board(&[]), "Nothing is ranked"),
        (board(&[("ibis", 81.7, close, 1)]), "ibis has 81.7 of 100, and no other to be compared with"),
        (board(&[("ibis", 81.7, close, 1), ("kite", 60.0, other, 2)]), "ibis leads, clear of all others"),
        (
            board(&[("ibis", 81.7, close, 1), ("kite", 76.5, both, 1)]),
            "ibis leads, but kite is too close to call",
        ),
        (
            board(&[("ibis", 81.7, close, 1), ("kite", 76.5, both, 1), ("heron", 70.0, close, 1)]),
            "ibis leads, but kite and heron are too close to call",
        ),
        (
            board(&[("a", 9.0, close, 1), ("b", 8.0, close, 1), ("c", 7.0, close, 1), ("d", 6.0, close, 1)]),
            "a leads, but 3 others are too close to call",
        ),
        (board(&[("ibis", 80.0, close, 1), ("kite", 80.0, close, 1)]), "ibis and kite share the lead"),
        // The runs say that it is not the first, so the score that ranks does not settle it.
        (board(&[("ibis", 81.7, other, 2), ("kite", 60.0, close, 1)]), "ibis leads with 81.7 of 100"),
    ]);
    let long = "a-name-that-nobody-can-read-in-one-breath-and-that-fills-a-line";
    let found = leaderboard::one(&board(&[(long, 81.7, close, 1)]), 100).text;
    assert!(found.chars().count() < 85 && found.starts_with("a-name-"), "{found}");
}

#[test]
fn a_leader_without_an_interval_is_called_nothing_but_first() {
    let mut found = board(&[("robin", 870.0, &["b"], 2), ("plover", 863.0, &["a"], 1)]);
    for row in &mut found.rows {
        (row.score.low, row.score.high) = (None, None);
    }
    let told = leaderboard::one(&found, 1000);
    assert_eq!(told.text, "robin leads with 870.0 of 1000");
    assert!(!told.is_clear);
    assert!(told.lead.iter().any(|line| line.contains("no interval")), "{:?}", told.lead);
    assert_eq!(possible(&found), "2 subjects by rank");
}

#[test]
fn what_the_tasks_can_settle_is_said_of_the_gap_of_the_first_two() {
    let settles = Settles { gap: Some(27.2), tasks: 16, first: 5.0, tasks_for_first: Some(322) };
    let found = Leaderboard {
        settles: Some(settles),
        ..board(&[("ibis", 81.7, &["a"], 1), ("kite", 76.7, &["a"], 1), ("osprey", 20.0, &["b"], 3)])
    };
    let told = leaderboard::one(&found, 100);
    assert_eq!(
        told.lead,
        [
            "ibis has 81.7 of 100, 5.0 points ahead of kite.",
            "osprey is clearly behind ibis.",
            "16 tasks separate neighbours from 27.2 points on, four times in five and with all pairs compared at once; the 5.0 points \
             between the first two would take about 322 tasks.",
        ]
    );
    assert_eq!(possible(&found), "Only ibis and kite could be first");
}

#[test]
fn who_was_not_compared_is_not_clear_of_others() {
    let none: &[&str] = &[];
    let few = board(&[("ibis", 67.9, none, 1), ("kite", 62.9, none, 1), ("heron", 56.3, none, 1)]);
    let told = leaderboard::one(&few, 100);
    assert_eq!(
        (told.text.as_str(), told.is_clear),
        ("ibis leads with 67.9 of 100, but any of the 3 could be first", false)
    );
    assert_eq!(told.lead, ["ibis has 67.9 of 100, 5.0 points ahead of kite."]);
    // One of them is compared, and the other has too few tasks.
    let half = board(&[("ibis", 67.9, &["a"], 1), ("kite", 62.9, none, 1), ("heron", 6.3, &["b"], 3)]);
    let told = leaderboard::one(&half, 100);
    assert_eq!((told.text.as_str(), told.is_clear), ("ibis leads, but kite is too close to call", false));
}

#[test]
fn what_is_missing_is_told_and_a_fact_has_its_unit() {
    let mut found = board(&[("ibis", 93.9, &["a"], 1), ("kite", 90.1, &["b"], 2)]);
    found.rows[0].bounds = Some(BoundsDocument { low: 37.0, high: 98.1 });
    let told = leaderboard::one(&found, 100).lead;
    let missing = "Some of its evidence is missing: with all of it the score would be 37.0 to 98.1.";
    assert!(told.iter().any(|line| line == missing), "{told:?}");
    let fact =
        RankedFact { name: String::from("cost_usd"), unit: Some(String::from("USD")), lower_is_better: true };
    let rows = board(&[("ibis", 0.02, &["a"], 1), ("kite", 0.01, &["b"], 2)]);
    let told = leaderboard::one(&Leaderboard { by: String::from("cost_usd"), fact: Some(fact), ..rows }, 100);
    assert_eq!(told.lead, ["ibis has 0.02000 USD, 0.01000 USD ahead of kite."]);
}

#[test]
fn groups_are_counted_by_their_leaders() {
    let ibis = board(&[("ibis", 81.7, &["a"], 1), ("kite", 60.0, &["b"], 2)]);
    let kite = board(&[("ibis", 60.0, &["b"], 2), ("kite", 81.7, &["a"], 1)]);
    let of = |boards: &[Leaderboard]| leaderboard::of_groups(boards).text;
    assert_eq!(of(&[ibis.clone(), ibis.clone()]), "ibis leads in all 2 groups");
    assert_eq!(of(&[ibis.clone(), kite.clone(), ibis.clone()]), "ibis leads in 2 of 3 groups, kite in 1");
    let told = [leaderboard_of(&ibis), leaderboard_of(&kite), Headline::new("Nothing is ranked")];
    assert_eq!(boards(&told).text, "3 leaderboards, 2 with a clear leader");
}

fn leaderboard_of(board: &Leaderboard) -> Headline {
    leaderboard::one(board, 100)
}

#[test]
fn a_score_says_what_cost_most_or_holds_it_down() {
    let card = CompiledCard::parse(include_str!("../../examples/cards/support-agent.toml")).unwrap();
    let card = Arc::new(card);
    let told = |values: &str| {
        let item = format!(r#"{{"subject": "bee", "id": "r1", "time": "2026-06-08T12:00:00Z", {values}}}"#);
        let mut engine = Engine::new(Arc::clone(&card), Options::default()).unwrap();
        let Headline { text, lead, .. } =
            engine.visit(item.as_bytes(), |scored| record(&scored.record)).unwrap();
        format!("{text}. {}", lead.join(" "))
    };
    let all = r#""accuracy": 0.85, "safety": 0.9, "patience": 0.55"#;
    let [clear, held, full, partly, none] = [
        &format!("{all}, \"incident_open\": false"),
        &format!("{all}, \"incident_open\": true"),
        r#""accuracy": 1, "safety": 1, "patience": 1, "incident_open": false"#,
        r#""accuracy": 0.5, "incident_open": false"#,
        r#""incident_open": false"#,
    ]
    .map(told);
    assert_eq!(
        clear,
        "805 of 1000: most was lost on patience, 90 points. Accuracy 425 of 500, safety 270 of 300 and patience 110 of 200 \
         points."
    );
    assert_eq!(
        held,
        "399: it would be 805, but the gate “incident open” holds. Accuracy 425 of 500, safety 270 of 300 and patience 110 of 200 \
         points. The gate “incident open” takes it from 805 to 399."
    );
    assert_eq!(
        full,
        "1000 of 1000: nothing was lost. Accuracy 500 of 500, safety 300 of 300 and patience 200 of 200 points."
    );
    assert_eq!(
        partly,
        "500 of 1000: most was lost on accuracy, 500 points. Not measured: safety and patience: with all evidence the score would \
         be 250 to 750."
    );
    assert_eq!(
        none,
        "bee has no score: too little was measured. Not measured: accuracy, safety and patience: with all evidence the score would \
         be 0 to 1000."
    );
}

#[test]
fn a_verdict_says_no_more_than_its_checks() {
    let check = |outcome| Check::new("evidence", outcome, "it is so");
    let told =
        |outcome| verification(&[Check::new("score", CheckOutcome::Verified, "x"), check(outcome)]).text;
    assert_eq!(told(CheckOutcome::Verified), "Genuine, by the key of this server");
    assert_eq!(told(CheckOutcome::Inconclusive), "Nothing contradicts it, but evidence was not checked");
    assert_eq!(told(CheckOutcome::Failed), "Not genuine: a check failed");
}

#[test]
fn a_problem_is_told_by_its_field() {
    let says = |field: Option<&str>, detail: &str| {
        let Told { finding, lead, .. } = problem("Bad Request", detail, field);
        format!("{finding} | {lead}")
    };
    for (field, detail, expected) in [
        (
            Some("min_tasks"),
            "found `abc`, expected a whole number of 1 or more",
            "`min_tasks` must be a whole number of 1 or more | It is `abc`.",
        ),
        (Some("query"), "page: invalid digit found in string", "`page` must be a whole number | "),
        (
            Some("query"),
            "unknown field `crad`, expected one of `card`, `page`; did you mean `card`?",
            "This page takes no `crad` | It takes `card`, `page`. Did you mean `card`?",
        ),
        (
            None,
            "this needs a key with the scope `review`: `Authorization: Bearer karat_...`",
            "This needs a key with the scope `review` | ",
        ),
        (
            None,
            "the key is not known here: expected `Authorization: Bearer karat_...` with a key",
            "The key is not known here | ",
        ),
        (Some("path"), "there is no record `9`; the log has 3", "There is no record `9` | The log has 3."),
    ] {
        assert_eq!(says(field, detail), expected);
    }
}
