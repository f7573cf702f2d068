//! Claims about few results, of equal ones, of windows and of items without a score, with numbers worked out by hand.

use serde_json::{Value, json};

use crate::leaderboard::{in_points, near, passing, rows_of, standing};
use crate::numbers::{SOLVED, asked, folder, lines};

/// Returns rows of solved tasks: `subject task solved`, one a line.
fn table(rows: &str) -> String {
    let rows = rows.lines().map(|row| row.split_whitespace().collect::<Vec<_>>().join(",") + "\n");
    format!("subject,task,solved\n{}", rows.collect::<String>())
}

/// One task is one result, however often it was tried and whatever else was left out.
#[test]
fn one_task_each_is_an_order_without_any_certainty() {
    let often = "a t1 1\na t1 0.8\na t1 0.9\nb t1 0.5\nb t1 0.7\nc t1 0.1\n";
    let many = "a t1 1\na t2 0\nb t1 0.5\nb t2 0.6\nc t1 0.1\nc t2 0.9\n";
    for (rows, flags, boards) in [
        ("a t1 0.9\nb t1 0.6\nc t1 0.1\n", "", 1),
        ("a t1 0.9\nb t2 0.6\nc t3 0.1\n", "", 1),
        (often, "", 1),
        (often, "--min-tasks 1", 1),
        (many, "--where task=t1", 1),
        (many, "--where task!=t2", 1),
        (many, "--group-by task", 2),
    ] {
        let folder = folder("rows.csv", &table(rows));
        let found = asked(&folder, &format!("leaderboard --json -c solved.toml {flags} rows.csv"));
        let all = found["leaderboards"].as_array().unwrap();
        assert_eq!(all.len(), boards, "{rows}");
        for row in all.iter().flat_map(rows_of) {
            for member in ["rank_range", "letters", "chance_of_rank_1"] {
                assert_eq!(row[member], Value::Null, "{member}: {rows} {flags}");
            }
            for place in [&row["score"], &row["dimensions"]["solved"]] {
                assert_eq!(
                    (&place["low"], &place["high"], &place["method"]),
                    (&Value::Null, &Value::Null, &Value::Null)
                );
                assert_eq!(place["tasks"], 1);
            }
        }
    }
    // With `n` a result is over cases. A single case that was solved can be from 1 / (1 + z * z) = 0.206549 on, by Wilson.
    let folder = folder("rows.csv", "subject,task,solved,n\na,t1,1,1\nb,t1,0.5,1000\n");
    let found = asked(&folder, "leaderboard --json -c solved.toml rows.csv");
    let score = &standing(&found, "a")["score"];
    assert!((score["low"].as_f64().unwrap() - 0.206_549).abs() < 1e-6 && score["high"] == 1, "{score}");
    assert_eq!(
        (&standing(&found, "a")["letters"], &standing(&found, "b")["letters"]),
        (&json!(["a"]), &json!(["a"]))
    );
}

/// As many shared tasks are enough as a sign test needs: 2 / 2^n is at most 0.2, 0.1, 0.05, 0.01 from 4, 5, 6, 8 on.
#[test]
fn letters_and_comparisons_agree_on_how_many_tasks_are_enough() {
    for (level, enough) in [("0.8", 4), ("0.9", 5), ("0.95", 6), ("0.99", 8)] {
        for (tasks, verdict) in [(enough - 1, "too-few-shared-tasks"), (enough, "first-ahead")] {
            // Beside the shared tasks each has others, which count in its mean and in no comparison.
            let row = |task: usize| match task {
                0..8 if task < tasks => format!("a t{task} 1\nb t{task} 0\n"),
                0..8 => format!("a own-{task} 1\nb other-{task} 0\n"),
                _ => String::new(),
            };
            let folder = folder("rows.csv", &table(&(0..8).map(row).collect::<String>()));
            let settings = format!("-c solved.toml --level {level} --resamples 400 rows.csv");
            let compared = asked(&folder, &format!("compare a b {settings}"));
            assert_eq!(compared["difference"]["verdict"], verdict, "{level} {tasks}");
            let found = asked(&folder, &format!("leaderboard {settings}"));
            let (a, b) = (standing(&found, "a"), standing(&found, "b"));
            let (few, letters) = match verdict {
                "first-ahead" => (json!([]), [json!(["a"]), json!(["b"])]),
                _ => (json!(["b"]), [json!([]), json!([])]),
            };
            assert_eq!(a["too_few_shared_tasks"], few, "{level} {tasks}");
            assert_eq!([&a["letters"], &b["letters"]], [&letters[0], &letters[1]], "{level} {tasks}");
        }
    }
}

/// Exactly equal means, whatever their tasks and attempts, share a rank: no rounding on the way makes one the first.
#[test]
fn equal_means_share_their_rank() {
    for (mean, a, b) in [
        (
            11.0 / 15.0,
            "a t1 1\na t1 0.2\na t1 0.2\na t2 1",
            "b t1 0.2\nb t2 1\nb t3 1\nb t4 1\nb t5 0.2\nb t6 1",
        ),
        (1.0 / 3.0, "a t1 1\na t1 0\na t1 0\na t2 0\na t2 0\na t2 1", "b t1 1\nb t2 0\nb t3 0"),
        (
            2.0 / 7.0,
            "a t1 1\na t1 0\na t1 0\na t1 0\na t1 0\na t1 0\na t1 1",
            "b t1 1\nb t2 1\nb t3 0\nb t4 0\nb t5 0\nb t6 0\nb t7 0",
        ),
        (0.15, "a t1 0.1\na t1 0.2\na t2 0.3\na t2 0", "b t1 0.15\nb t2 0.15"),
        // (1/3 + 1/6) / 2 and 1/4.
        (
            0.25,
            "a t1 1\na t1 0\na t1 0\na t2 1\na t2 0\na t2 0\na t2 0\na t2 0\na t2 0",
            "b t1 0.25\nb t2 0.25",
        ),
    ] {
        let rows = table(&format!("{a}\n{b}\n"));
        let folder = folder("rows.csv", &rows);
        for method in ["bootstrap", "student", "census"] {
            let found =
                asked(&folder, &format!("leaderboard --json --method {method} -c solved.toml rows.csv"));
            for subject in ["a", "b"] {
                let row = standing(&found, subject);
                assert_eq!(row["rank"], json!([1, 2]), "{method}: {rows}");
                // Rounded once.
                assert_eq!(
                    row["score"]["mean"].as_f64(),
                    Some((mean * 1e9_f64).round() / 1e9),
                    "{method}: {rows}"
                );
            }
        }
        let stressed = asked(&folder, "stress solved.toml rows.csv --resamples 100");
        let all = stressed["robustness"]["weights_around"]["subjects"].as_array().unwrap();
        assert_eq!(all[0]["composite"], all[1]["composite"], "{rows}");
    }
}

/// Items of a window count alike. Where one task has more than half of them, a note says so.
#[test]
fn a_window_that_is_mostly_one_task_says_so() {
    let runs = |task: &str, number: usize, solved: f64| -> Vec<String> {
        (0..number).map(|at| format!("a,{task}-{at},{task},2026-01-01T00:00:00Z,{solved}\n")).collect()
    };
    let said = "items that count are of one task";
    for (rows, points, tasks, largest, is_said) in [
        ([runs("easy", 99, 1.0), runs("hard", 1, 0.0)].concat(), 0.99, 2, 99, true),
        ([runs("easy", 2, 1.0), runs("hard", 1, 0.1)].concat(), 0.7, 2, 2, true),
        ([runs("easy", 2, 1.0), runs("hard", 2, 0.1)].concat(), 0.55, 2, 2, false),
        ([runs("easy", 2, 1.0), runs("hard", 1, 0.1), runs("odd", 1, 0.5)].concat(), 0.65, 3, 2, false),
        // Without a task each item is a separate one.
        (runs("", 3, 0.5), 0.5, 3, 1, false),
    ] {
        let folder = folder("rows.csv", &format!("subject,id,task,time,solved\n{}", rows.concat()));
        let words = "-c window.toml --as-of 2026-02-01T00:00:00Z rows.csv";
        let found = asked(&folder, &format!("standing --json {words}"));
        near(&found["points"], points);
        let items = &found["items"];
        assert_eq!(
            (&items["distinct_tasks"], &items["largest_task_items"]),
            (&tasks.into(), &largest.into())
        );
        let words = format!("standing --table {words}");
        let screen = folder.karat(&words.split_whitespace().collect::<Vec<_>>()).stdout;
        assert_eq!(screen.contains(said), is_said, "{screen}");
    }
}

/// Points and differences are on the scale of the card, and shares are rounded, not cut.
#[test]
fn numbers_are_shown_on_the_scale_of_the_card() {
    let rows =
        "subject,id,task,time,solved\na,1,t,2026-01-01T00:00:00Z,0.92\nb,2,t,2026-01-01T00:00:00Z,0.31\n";
    let pairs: String = (0..6).map(|task| format!("a t{task} 0.741\nb t{task} 0.711\n")).collect();
    for (scale, points, difference) in [
        ("{ max = 1, publish = \"exact\" }", 0.92, ["0.741", "0.711", "-0.030"]),
        ("{ max = 10, publish = \"half-up\", places = 1 }", 9.2, ["7.4", "7.1", "-0.3"]),
        ("{ max = 100, publish = \"half-up\", places = 1 }", 92.0, ["74.1", "71.1", "-3.0"]),
        ("{ max = 1000, publish = \"half-up\" }", 920.0, ["741", "711", "-30"]),
    ] {
        let folder = folder("rows.csv", rows);
        let card = std::fs::read_to_string(folder.path().join("window.toml")).unwrap();
        folder.write("window.toml", &format!("scale = {scale}\n{card}"));
        folder.write("pairs.csv", &table(&pairs));
        let found =
            &lines(&folder, "standing --json -c window.toml --as-of 2026-02-01T00:00:00Z rows.csv")[0];
        assert_eq!(
            (found["points"].as_f64(), found["score"]["published"].as_f64()),
            (Some(points), Some(points))
        );
        let screen = folder.karat(&["compare", "a", "b", "--table", "-c", "window.toml", "pairs.csv"]).stdout;
        let numbers: Vec<&str> = screen.split_whitespace().collect();
        for shown in difference {
            assert!(numbers.iter().any(|it| it.starts_with(shown)), "{shown}: {screen}");
        }
    }
    // 1 of 60 is 1.67 %, 1 of 7 is 14.29 %, 1 of 3000 is less than 0.1 %.
    for (subjects, shown) in [(60, " 1.7%"), (7, "14.3%"), (8, "12.5%"), (3000, "<0.1%")] {
        let rows: String =
            (0..subjects).map(|at| format!("s{at:04},{at},2026-01-01T00:00:00Z,0.5\n")).collect();
        let folder = folder("rows.csv", &format!("subject,id,time,solved\n{rows}"));
        let card = std::fs::read_to_string(folder.path().join("window.toml")).unwrap();
        folder.write("window.toml", &format!("{card}shares = {{ cap = 0.5 }}\n"));
        let words =
            ["standing", "--table", "-c", "window.toml", "--as-of", "2026-02-01T00:00:00Z", "rows.csv"];
        let screen = folder.karat(&words).stdout;
        assert_eq!(
            screen.matches(shown).count(),
            subjects,
            "{shown}: {}",
            screen.get(..500).unwrap_or(&screen)
        );
    }
}

/// A success that leaves its score out earns nothing by that: not on a leaderboard, in a comparison or in a standing.
#[test]
fn a_success_without_a_score_counts_nowhere() {
    let rows = "subject,id,task,time,outcome,solved\n".to_owned()
        + "a,1,t1,2026-01-01T00:00:00Z,succeeded,0.4\na,2,t2,2026-01-02T00:00:00Z,succeeded,\n"
        + "b,3,t1,2026-01-01T00:00:00Z,succeeded,0.5\nb,4,t2,2026-01-02T00:00:00Z,failed,\n"
        + "c,5,t1,2026-01-01T00:00:00Z,succeeded,\n";
    let folder = folder("rows.csv", &rows);
    for method in ["bootstrap", "student", "census"] {
        let found = asked(
            &folder,
            &format!("leaderboard --json --by mean --method {method} -c window.toml rows.csv"),
        );
        near(&standing(&found, "a")["score"]["mean"], 0.4);
        // A failure is a failure, with a score or without.
        near(&standing(&found, "b")["score"]["mean"], 0.25);
        assert!(rows_of(&found["leaderboards"][0]).iter().all(|row| row["subject"] != "c"), "{method}");
    }
    let compared = asked(&folder, "compare a b --json --resamples 100 -c solved.toml rows.csv");
    assert_eq!(compared["difference"]["estimate"]["tasks"], 1);
    near(&compared["difference"]["estimate"]["mean"], 0.1);
    let standings = lines(&folder, "standing --json -c window.toml --as-of 2026-02-01T00:00:00Z rows.csv");
    let of = |subject: &str| standings.iter().find(|it| it["subject"] == subject).unwrap();
    assert_eq!((of("a")["points"].as_f64(), of("c")["points"].as_f64()), (Some(0.4), None));
}

/// At least 2 / (1 - level) - 1 resamples, which is also what every refusal asks for.
#[test]
fn the_fewest_resamples_of_a_level_are_enough_for_every_question() {
    let rows = [passing("a", 6, 8), passing("b", 3, 8)].concat();
    let rows: String = rows
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>())
        .map(|cells| format!("{} {} {}\n", cells[0], cells[1], cells[3]))
        .collect();
    let folder = folder("rows.csv", &table(&rows));
    for (level, fewest) in [("0.8", 9), ("0.9", 19), ("0.95", 39), ("0.98", 99), ("0.99", 199)] {
        for words in ["leaderboard -c solved.toml", "compare a b -c solved.toml", "stress solved.toml"] {
            let run = |resamples: u32| {
                let words = format!("{words} --json rows.csv --level {level} --resamples {resamples}");
                folder.karat(&words.split_whitespace().collect::<Vec<_>>())
            };
            assert_eq!(run(fewest).status, 0, "{words} {level}: {}", run(fewest).stderr);
            let said = format!(
                "{} resamples are too few for this confidence, expected {fewest} or more",
                fewest - 1
            );
            let refused = run(fewest - 1);
            assert!(
                refused.status == 1 && refused.stderr.contains(&said),
                "{words} {level}: {}",
                refused.stderr
            );
        }
    }
}

/// One official score: leaderboard, standing, screens and page say the same, whatever moved it.
#[test]
fn a_subject_has_one_official_score_on_every_screen() {
    let december = |day: u32, solved: f64| format!("ann,{day},2026-12-{day:02}T00:00:00Z,{solved}\n");
    for (rules, rows, mean, official) in [
        // A mean of 40 is below half, where the gate caps at 30.
        (
            "score = \"window\"\ngate = { dimension = \"solved\", step = [{ below = 0.5, cap = 30 }] }",
            [december(1, 0.3), december(2, 0.5)],
            0.4,
            30.0,
        ),
        // The newest value, of a week ago, which costs half a point of a hundred; not the mean of both, 31 and 7 days old.
        (
            "score = \"latest\"\ndecay = { grace_days = 0, points_per_period = 5 }",
            [december(1, 0.9), december(25, 0.5)],
            (0.9 - 31.0 / 1400.0 + 0.5 - 7.0 / 1400.0) / 2.0,
            49.5,
        ),
        // A fall of 80 points two days ago waits for a review.
        (
            "score = \"latest\"\nreview = { swing_points = 20, cumulative_points = 30 }",
            [december(1, 0.9), december(30, 0.1)],
            0.5,
            90.0,
        ),
        ("score = \"window\"\nwindow = { tasks = 1 }", [december(1, 0.0), december(3, 0.8)], 0.4, 80.0),
    ] {
        let folder = folder("rows.csv", &format!("subject,id,time,solved\n{}", rows.concat()));
        let scale = "scale = { max = 100, publish = \"half-up\", places = 1 }";
        folder.write("card.toml", &format!("{scale}\n{SOLVED}[standing]\n{rules}\n"));
        let words = "-c card.toml --as-of 2027-01-01T00:00:00Z rows.csv";
        let shown = |verb: &str| {
            folder.karat(&format!("{verb} {words}").split_whitespace().collect::<Vec<_>>()).stdout
        };
        let found = asked(&folder, &format!("leaderboard --json {words}"));
        let row = standing(&found, "ann");
        in_points(&row["mean"]["mean"], mean);
        assert_eq!(row["official"]["points"].as_f64(), Some(official), "{rules}: {row}");
        let stands = &lines(&folder, &format!("standing --json {words}"))[0];
        assert_eq!(stands["points"], row["official"]["points"], "{rules}");
        folder.write("stands.jsonl", &stands.to_string());
        let line = format!("ann: {official} of 100");
        for screen in [
            shown("standing --table --subject ann"),
            folder.karat(&["explain", "--table", "-s", "ann", "stands.jsonl"]).stdout,
        ] {
            assert!(screen.starts_with(&line), "{rules}: {screen}");
        }
        assert!(shown("leaderboard --table").contains(&format!(" {official:.1} ")), "{rules}");
        shown("standing --html page.html");
        let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
        assert!(page.contains(&format!("official score: {official:.1} at the end")), "{rules}: {page}");
    }
}

/// An item without a time is left out and named: the others of its subject count, and other subjects are as before.
#[test]
fn items_without_a_time_are_left_out_and_named() {
    let timed = |id: u32, subject: &str, day: u32, solved: f64| {
        format!("{subject},{id},2026-01-{day:02}T00:00:00Z,{solved}\n")
    };
    let bare = |id: u32, subject: &str, solved: f64| format!("{subject},{id},,{solved}\n");
    for (rows, points, left_out) in [
        (vec![timed(1, "a", 1, 0.5), timed(2, "b", 2, 0.7)], vec![("a", 0.5), ("b", 0.7)], 0),
        (
            vec![timed(1, "a", 1, 0.5), bare(2, "a", 0.9), timed(3, "b", 2, 0.7)],
            vec![("a", 0.5), ("b", 0.7)],
            1,
        ),
        (vec![bare(1, "a", 0.9), timed(2, "b", 2, 0.7), bare(3, "b", 0.1)], vec![("b", 0.7)], 2),
        // Where none has a time, the ids are the order, and all count.
        (vec![bare(1, "a", 0.5), bare(2, "a", 0.9), bare(3, "b", 0.7)], vec![("a", 0.7), ("b", 0.7)], 0),
    ] {
        let folder = folder("rows.csv", &format!("subject,id,time,solved\n{}", rows.concat()));
        let words = "-c window.toml --as-of 2026-02-01T00:00:00Z rows.csv";
        let standings = lines(&folder, &format!("standing --json {words}"));
        let found: Vec<(&str, f64)> = standings
            .iter()
            .map(|it| (it["subject"].as_str().unwrap(), it["points"].as_f64().unwrap()))
            .collect();
        assert_eq!(found, points, "{rows:?}");
        let words = format!("standing --table {words}");
        let screen = folder.karat(&words.split_whitespace().collect::<Vec<_>>()).stdout;
        let is_said = screen.contains(&format!("left out for want of a time: {left_out} item"));
        assert_eq!(is_said, left_out > 0, "{rows:?}: {screen}");
    }
}

/// More rows than are resampled: means, selections and standings are of all of them.
#[test]
fn very_many_rows_are_whole() {
    let many = 20_500;
    // Only the newest four of the busy subject are solved, in tasks 1 to 4 of five.
    let rows: String = (0..many)
        .map(|at| {
            let time = format!("2026-05-01T{:02}:{:02}:{:02}Z", at / 3600, at / 60 % 60, at % 60);
            format!("busy,{at},t{},{time},{}\n", at % 5, u32::from(at + 4 >= many))
        })
        .collect();
    let folder = folder(
        "rows.csv",
        &format!("subject,id,task,time,solved\n{rows}idle,x,t1,2026-05-01T00:00:00Z,0.5\n"),
    );
    folder
        .write("window.toml", &format!("{SOLVED}[standing]\nscore = \"window\"\nwindow = {{ tasks = 8 }}\n"));
    let of = |words: &str| asked(&folder, &format!("leaderboard --json -c window.toml {words} rows.csv"));
    // 4 of the last 8; 4 of all; 1 of the 4,100 of a task.
    for (words, busy) in [
        ("", 0.5),
        ("--by mean", 4.0 / 20_500.0),
        ("--where task=t1", 1.0 / 4100.0),
        ("--where task=t0", 0.0),
    ] {
        near(&standing(&of(words), "busy")["score"]["mean"], busy);
    }
    near(&standing(&of("--where task=t1"), "idle")["score"]["mean"], 0.5);
    let words = "standing --json -c window.toml --as-of 2026-06-01T00:00:00Z --subject busy rows.csv";
    near(&asked(&folder, words)["points"], 0.5);
}
