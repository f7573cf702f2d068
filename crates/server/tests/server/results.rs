//! Claims about few results, of equal ones, of windows, groups and items without a score, over HTTP and on pages.

use serde_json::{Value, json};

use crate::common::Running;
use crate::numbers::{SOLVED, fill, items, near, row, with_card};

fn board(server: &Running, query: &str) -> Value {
    server.get(&format!("/v1/leaderboards?card=solved@1.0.0{query}")).is(200).json()
}

/// Returns a server with runs: `subject task solved`, one a line.
fn ran(rows: &str) -> Running {
    let server = with_card(SOLVED);
    fill(&server, "solved@1.0.0", &items(rows));
    server
}

/// One task is one result, however often it was tried and whatever else was left out.
#[test]
fn one_task_each_is_an_order_without_any_certainty() {
    let many = "a t1 1\na t2 0\nb t1 0.5\nb t2 0.6\nc t1 0.1\nc t2 0.9\n";
    for (rows, query, boards) in [
        ("a t1 0.9\nb t1 0.6\nc t1 0.1\n", "", 1),
        ("a t1 1\na t1 0.8\na t1 0.9\nb t1 0.5\nb t1 0.7\nc t1 0.1\n", "", 1),
        (many, "&track=t1", 1),
        (many, "&where=task=t1", 1),
        (many, "&group_by=task", 2),
        (many, "&where=task=t1&method=student", 1),
    ] {
        let found = board(&ran(rows), query);
        let all = found["leaderboards"].as_array().unwrap();
        assert_eq!(all.len(), boards, "{rows} {query}");
        for row in all.iter().flat_map(|it| it["rows"].as_array().unwrap()) {
            for member in ["rank_range", "letters", "chance_of_rank_1"] {
                assert_eq!(row[member], Value::Null, "{member}: {rows} {query}");
            }
            assert_eq!(
                (&row["score"]["low"], &row["score"]["high"]),
                (&Value::Null, &Value::Null),
                "{rows} {query}"
            );
        }
    }
}

/// As many shared tasks are enough as a sign test needs: 2 / 2^n is at most 0.2, 0.1, 0.05, 0.01 from 4, 5, 6, 8 on.
#[test]
fn letters_need_as_many_shared_tasks_as_the_level_asks_for() {
    for shared in [3, 4, 5, 6, 7, 8] {
        let row_of = |task: usize| match task {
            task if task < shared => format!("a t{task} 1\nb t{task} 0\n"),
            _ => format!("a own-{task} 1\nb other-{task} 0\n"),
        };
        let server = ran(&(0..8).map(row_of).collect::<String>());
        for (level, enough) in [("0.8", 4), ("0.9", 5), ("0.95", 6), ("0.99", 8)] {
            let found = board(&server, &format!("&level={level}&resamples=400"));
            let letters = ["a", "b"].map(|subject| row(&found, subject)["letters"].clone());
            let few = row(&found, "a")["too_few_shared_tasks"].clone();
            let expected = if shared >= enough {
                ([json!(["a"]), json!(["b"])], json!([]))
            } else {
                ([json!([]), json!([])], json!(["b"]))
            };
            assert_eq!((letters, few), expected, "{shared} shared at {level}");
        }
    }
}

#[test]
fn equal_means_share_their_rank() {
    for (mean, rows) in [
        (
            11.0 / 15.0,
            "a t1 1\na t1 0.2\na t1 0.2\na t2 1\nb t1 0.2\nb t2 1\nb t3 1\nb t4 1\nb t5 0.2\nb t6 1",
        ),
        (1.0 / 3.0, "a t1 1\na t1 0\na t1 0\na t2 0\na t2 0\na t2 1\nb t1 1\nb t2 0\nb t3 0"),
        (0.15, "a t1 0.1\na t1 0.2\na t2 0.3\na t2 0\nb t1 0.15\nb t2 0.15"),
    ] {
        let server = ran(rows);
        for method in ["bootstrap", "student", "census"] {
            let found = board(&server, &format!("&method={method}"));
            for subject in ["a", "b"] {
                let row = row(&found, subject);
                assert_eq!(row["rank"], json!([1, 2]), "{method}: {rows}");
                assert_eq!(
                    row["score"]["mean"].as_f64(),
                    Some((mean * 1e9_f64).round() / 1e9),
                    "{method}: {rows}"
                );
            }
        }
    }
}

#[test]
fn a_window_that_is_mostly_one_task_counts_its_tasks() {
    for (runs, points, tasks, largest) in [
        (vec![("easy", 99, 1.0), ("hard", 1, 0.0)], 0.99, 2, 99),
        (vec![("easy", 2, 1.0), ("hard", 1, 0.1)], 0.7, 2, 2),
        (vec![("easy", 2, 1.0), ("hard", 1, 0.1), ("odd", 1, 0.5)], 0.65, 3, 2),
    ] {
        let server = with_card(&format!("{SOLVED}[standing]\nscore = \"window\"\n"));
        let runs = runs
            .into_iter()
            .flat_map(|(task, number, solved)| (0..number).map(move |_| format!("a {task} {solved}\n")));
        fill(&server, "solved@1.0.0", &items(&runs.collect::<String>()));
        let found = server.get("/v1/standings/a?card=solved@1.0.0").is(200).json();
        near(&found["points"], points);
        let items = &found["items"];
        assert_eq!(
            (&items["distinct_tasks"], &items["largest_task_items"]),
            (&tasks.into(), &largest.into())
        );
    }
}

#[test]
fn points_are_on_the_scale_of_the_card() {
    for (scale, points) in [
        ("{ max = 1, publish = \"exact\" }", 0.92),
        ("{ max = 10, publish = \"half-up\", places = 1 }", 9.2),
        ("{ max = 1000, publish = \"half-up\" }", 920.0),
    ] {
        let server = with_card(&format!("scale = {scale}\n{SOLVED}[standing]\nscore = \"window\"\n"));
        fill(&server, "solved@1.0.0", &items("a t1 0.92\nb t1 0.31\n"));
        let found = server.get("/v1/standings/a?card=solved@1.0.0").is(200).json();
        assert_eq!(
            (found["points"].as_f64(), found["score"]["published"].as_f64()),
            (Some(points), Some(points))
        );
        assert_eq!(row(&board(&server, ""), "a")["official"]["points"].as_f64(), Some(points));
    }
}

/// A success that leaves its score out earns nothing by that; a failure is a failure.
#[test]
fn a_success_without_a_score_counts_nowhere() {
    let server = with_card(&format!("{SOLVED}[standing]\nscore = \"window\"\n"));
    let lines = [
        json!({"id": "1", "subject": "a", "task": "t1", "outcome": "succeeded", "solved": 0.4}),
        json!({"id": "2", "subject": "a", "task": "t2", "outcome": "succeeded"}),
        json!({"id": "3", "subject": "b", "task": "t1", "outcome": "succeeded", "solved": 0.5}),
        json!({"id": "4", "subject": "b", "task": "t2", "outcome": "failed"}),
        json!({"id": "5", "subject": "c", "task": "t1", "outcome": "succeeded"}),
    ];
    fill(&server, "solved@1.0.0", &lines.map(|line| line.to_string()).join("\n"));
    for method in ["bootstrap", "student", "census"] {
        let found = board(&server, &format!("&by=mean&method={method}"));
        near(&row(&found, "a")["score"]["mean"], 0.4);
        near(&row(&found, "b")["score"]["mean"], 0.25);
        let rows = found["leaderboards"][0]["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| row["subject"] != "c"), "{method}");
    }
    let points = |subject: &str| {
        server.get(&format!("/v1/standings/{subject}?card=solved@1.0.0")).is(200).at("/points")
    };
    near(&points("a"), 0.4);
    assert_eq!(points("c"), Value::Null);
}

/// The choices of a card for outcomes come before the defaults, and the answer names where each choice is from.
#[test]
fn the_origin_of_each_choice_for_outcomes_is_named() {
    let defaults = json!({"no-verdict": "excluded", "stopped": "failure", "not-applicable": "excluded", "refused": "failure"});
    for (stated, of) in [
        ("", vec![]),
        ("outcomes = { stopped = \"scored\" }\n", vec![("stopped", "scored")]),
        (
            "outcomes = { refused = \"excluded\", no-verdict = \"failure\" }\n",
            vec![("refused", "excluded"), ("no-verdict", "failure")],
        ),
    ] {
        let server = with_card(&format!("{SOLVED}[standing]\nscore = \"window\"\n{stated}"));
        let lines = [("1", "stopped", 0.5), ("2", "refused", 0.5), ("3", "succeeded", 1.0)]
            .map(|(id, outcome, solved)| json!({"id": id, "subject": "a", "task": id, "outcome": outcome, "solved": solved}));
        fill(&server, "solved@1.0.0", &lines.map(|line| line.to_string()).join("\n"));
        let found = board(&server, "");
        for (outcome, usual) in defaults.as_object().unwrap() {
            let own = of.iter().find(|(name, _)| name == outcome);
            let (treatment, source) =
                own.map_or((usual.clone(), "default"), |own| (json!(own.1), "scorecard"));
            assert_eq!(
                (&found["outcomes"][outcome], &found["outcome_sources"][outcome]),
                (&treatment, &json!(source)),
                "{stated}"
            );
        }
        // (0 + 0 + 1) / 3; 0.5 scored, 0 and 1; 0 and 1.
        let mean = if of.is_empty() { 1.0 / 3.0 } else { 0.5 };
        near(&row(&found, "a")["mean"]["mean"], mean);
    }
}

#[test]
fn the_fewest_resamples_of_a_level_are_enough() {
    let server = ran("a t1 1\na t2 0\na t3 1\nb t1 0\nb t2 0\nb t3 1\n");
    for (level, fewest) in [("0.8", 9), ("0.9", 19), ("0.95", 39), ("0.98", 99), ("0.99", 199)] {
        let ask = |resamples: u32| {
            server.get(&format!("/v1/leaderboards?card=solved@1.0.0&level={level}&resamples={resamples}"))
        };
        ask(fewest).is(200);
        let refused = ask(fewest - 1);
        let said =
            format!("{} resamples are too few for this confidence, expected {fewest} or more", fewest - 1);
        assert!(refused.is(422).body.contains(&said), "{level}: {}", refused.body);
    }
}

/// More records of one subject than are read at once: it has a standing, and every selection is of all of them.
#[test]
fn a_subject_with_very_many_records_is_whole_at_every_door() {
    let server = with_card(&format!("{SOLVED}[standing]\nscore = \"window\"\nwindow = {{ tasks = 4 }}\n"));
    let many = 20_500;
    // The newest four are 1, 1, 0, 1 and the others 0; a second subject has one.
    let line = |at: u64| {
        let (day, second) = (1 + at / 86_400, at % 86_400);
        let time =
            format!("2026-05-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
        let solved = u64::from(at + 4 >= many && at + 2 != many);
        format!(r#"{{"id":"{at}","subject":"busy","task":"t{}","time":"{time}","solved":{solved}}}"#, at % 5)
    };
    fill(&server, "solved@1.0.0", &(0..many).map(|at| line(at) + "\n").collect::<String>());
    fill(
        &server,
        "solved@1.0.0",
        r#"{"id":"1","subject":"idle","task":"t1","time":"2026-05-01T00:00:00Z","solved":0.5}"#,
    );
    let busy = server.get("/v1/standings/busy?card=solved@1.0.0").is(200).json();
    near(&busy["points"], 0.75);
    assert_eq!(busy["items"]["given"], many);
    let found = board(&server, "");
    assert_eq!(
        (&found["items"]["count"], &found["leaderboards"][0]["by"]),
        (&(many + 1).into(), &"official".into())
    );
    near(&row(&found, "busy")["score"]["mean"], 0.75);
    near(&row(&found, "idle")["score"]["mean"], 0.5);
    // Task t1 is 4,100 of the items, of which the last but three is solved.
    let one_task = board(&server, "&where=task=t1");
    near(&row(&one_task, "busy")["score"]["mean"], 1.0 / 4100.0);
    assert_eq!(row(&one_task, "idle")["score"]["mean"], 0.5);
    let page = server.get("/subjects/busy");
    assert!(page.is(200).body.contains("0.750") && !page.body.contains("no standing"), "{}", page.body);
}

/// The mean of a group is its own on trial as well: what a page says of other weights is worked out on the tree.
#[test]
fn other_weights_are_tried_on_the_tree_of_groups() {
    let card = r#"
schema = "karat/scorecard/1"
id = "tree"
version = "1.0.0"
title = "A group that is as good as its worst"
evidence = "facts"
facts = { x = { min = 0, max = 1 }, y = { min = 0, max = 1 }, z = { min = 0, max = 1 } }
dimension = [{ key = "x", weight = 1 }, { key = "y", weight = 1, group = "g" }, { key = "z", weight = 1, group = "g" }]
group = [{ key = "g", mean = "minimum", weight = 1 }]
"#;
    let server = with_card(card);
    let lines = [
        json!({"id": "1", "subject": "ann", "x": 0.9, "y": 0.9, "z": 0.2}),
        json!({"id": "2", "subject": "bob", "x": 0.5, "y": 0.8, "z": 0.8}),
        json!({"id": "3", "subject": "cy", "x": 0.4, "y": 0.75}),
    ];
    fill(&server, "tree@1.0.0", &lines.map(|line| line.to_string()).join("\n"));
    // 0.55, 0.65, 0.575; with x three times as heavy 0.725, 0.575, 0.4875. The weights of y and z change no minimum.
    for (query, order, first) in [
        ("", ["bob", "cy", "ann"], "No rank changes"),
        ("?w.y=5&w.z=0.1", ["bob", "cy", "ann"], "No rank changes"),
        ("?w.x=3", ["ann", "bob", "cy"], "would have rank 1"),
    ] {
        let page = server.get(&format!("/scorecards/tree@1.0.0/what-if{query}"));
        assert!(page.is(200).body.contains(first), "{query}: {}", page.body);
        let table = page.body.split("<tbody>").nth(1).unwrap();
        let places = order.map(|subject| table.find(&format!(">{subject}<")));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{query}: {table}");
    }
    let found = server.get("/v1/leaderboards?card=tree@1.0.0").is(200).json();
    for (subject, mean) in [("ann", 0.55), ("bob", 0.65), ("cy", 0.575)] {
        near(&row(&found, subject)["score"]["mean"], mean);
    }
}

/// One official score: the leaderboard, the standing and both of their pages say the same, whatever moved it.
#[test]
fn a_subject_has_one_official_score_at_every_door() {
    let december = |day: u32, solved: f64| {
        json!({"id": format!("{day}"), "subject": "ann", "time": format!("2026-12-{day:02}T00:00:00Z"), "solved": solved}).to_string()
    };
    for (standing, lines, mean, official) in [
        // A mean of 40 is below half, where the gate caps at 30.
        (
            "score = \"window\"\ngate = { dimension = \"solved\", step = [{ below = 0.5, cap = 30 }] }",
            vec![december(1, 0.3), december(2, 0.5)],
            0.4,
            30.0,
        ),
        // The newest value, of a week ago, which costs half a point of a hundred; not the mean of both.
        (
            "score = \"latest\"\ndecay = { grace_days = 0, points_per_period = 5 }",
            vec![december(1, 0.9), december(25, 0.5)],
            0.7,
            49.5,
        ),
        // A fall of 80 points two days ago waits for a review.
        (
            "score = \"latest\"\nreview = { swing_points = 20, cumulative_points = 30 }",
            vec![december(1, 0.9), december(30, 0.1)],
            0.5,
            90.0,
        ),
        // The last two of three: 0.4 and 0.8.
        (
            "score = \"window\"\nwindow = { tasks = 2 }",
            vec![december(1, 0.0), december(2, 0.4), december(3, 0.8)],
            0.4,
            60.0,
        ),
    ] {
        let scale = "scale = { max = 100, publish = \"half-up\", places = 1 }";
        let server = with_card(&format!("{scale}\n{SOLVED}[standing]\n{standing}\n"));
        // History on purpose: what came together now would be one score.
        let path = "/v1/backfill?card=solved@1.0.0&reason=moved";
        server.post(path, Some(&server.admin), "application/x-ndjson", lines.join("\n")).is(201);
        let found = board(&server, "");
        let row = row(&found, "ann");
        near(&row["mean"]["mean"], mean * 100.0);
        assert_eq!(row["official"]["points"].as_f64(), Some(official), "{standing}: {row}");
        near(&row["score"]["mean"], official);
        let last = row["official"]["bridge"].as_array().unwrap().last().unwrap()["points"].clone();
        assert_eq!(last, row["official"]["points"], "the steps lead there");
        let stands = server.get("/v1/standings/ann?card=solved@1.0.0").is(200).json();
        assert_eq!(stands["points"], row["official"]["points"], "{standing}");
        assert_eq!(server.get("/v1/standings?card=solved@1.0.0").at("/standings/0"), stands);
        let of_board = server.get("/?card=solved@1.0.0").is(200).body.clone();
        assert!(of_board.contains(&format!("{official:.1}")), "{standing}: {of_board}");
        let of_subject = server.get("/subjects/ann").is(200).body.clone();
        assert!(
            [format!("{official:.1} <small>"), format!("{official} <small>")]
                .iter()
                .any(|it| of_subject.contains(it)),
            "{standing}: {of_subject}"
        );
        assert!(
            of_subject.contains(&format!("official score: {official:.1} at the end")),
            "{standing}: {of_subject}"
        );
    }
}
