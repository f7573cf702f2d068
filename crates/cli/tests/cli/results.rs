//! Claims about few results, of equal ones, of windows and of items without a score, with numbers worked out by hand.

use serde_json::{Value, json};

use crate::leaderboard::{in_points, near, rows_of, standing};
use crate::numbers::{SOLVED, asked, folder, lines};

/// Returns rows of solved tasks: `subject task solved`, one a line.
fn table(rows: &str) -> String {
    let rows = rows.lines().map(|row| row.split_whitespace().collect::<Vec<_>>().join(",") + "\n");
    format!("subject,task,solved\n{}", rows.collect::<String>())
}

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

#[test]
fn every_door_asks_what_rows_over_cases_are_and_takes_parts_for_their_run() {
    let head = "subject,id,task,time,solved,n,part\nb,x,t,2026-01-01T00:00:00Z,0.81,1000,\n";
    let rows = |one: &str, other: &str| {
        let time = "2026-01-01T00:00:00Z";
        format!("{head}a,1,t,{time},1,10,{one}\na,2,t,{time},0.8,990,{other}\n")
    };
    let of = folder("rows.csv", &rows("1", "2"));
    let gates = "card = \"solved.toml\"\ninputs = [\"rows.csv\"]\n[gate]\nfail_under = 0.801\n";
    of.write("karat.toml", gates);
    let doors = [
        "leaderboard --json -c solved.toml rows.csv",
        "compare a b --json -c solved.toml rows.csv",
        "check --json",
        "standing --json -c window.toml --as-of 2026-02-01T00:00:00Z rows.csv",
        "stress -c solved.toml --json --subject-field subject rows.csv",
    ];
    for line in doors {
        let found = of.line(line);
        assert_eq!(found.status, 0, "{line}: {}", found.stderr);
        assert!(found.stdout.contains("0.802"), "{line}: {}", found.stdout);
    }
    // A mean over cases is not an attempt, and does not pass.
    let screen = of.line("compare a b --table -c solved.toml rows.csv").stdout;
    assert!(screen.contains("- to -"), "{screen}");
    of.write("rows.csv", &rows("", ""));
    for line in doors {
        of.line(line).ends(1, "`a` has 2 rows at `t` that do not all say what they are: rows.csv:3 (`n` 10)");
    }
}

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
    // In a window that holds everything tasks count alike.
    let rows = [runs("easy", 9, 1.0), runs("hard", 1, 0.0)].concat().concat();
    let folder = folder("rows.csv", &format!("subject,id,task,time,solved\n{rows}"));
    folder.write("plain.toml", &format!("{SOLVED}[standing]\nscore = \"window\"\nwindow = {{}}\n"));
    let screen = folder.line("standing --table -c plain.toml --as-of 2026-02-01T00:00:00Z rows.csv").stdout;
    assert!(screen.contains("0.500") && !screen.contains(said), "{screen}");
}

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

#[test]
fn a_success_without_a_score_counts_nowhere() {
    let rows = "subject,id,task,time,outcome,solved\n".to_owned()
        + "a,1,t1,2026-01-01T00:00:00Z,succeeded,0.4\na,2,t2,2026-01-02T00:00:00Z,succeeded,\n"
        + "b,3,t1,2026-01-01T00:00:00Z,succeeded,0.5\nb,4,t2,2026-01-02T00:00:00Z,failed,\n"
        + "c,5,t1,2026-01-01T00:00:00Z,succeeded,\n";
    let folder = folder("rows.csv", &rows);
    for method in ["pairs", "means", "census"] {
        let found = asked(
            &folder,
            &format!("leaderboard --json --by mean --method {method} -c window.toml rows.csv"),
        );
        near(&standing(&found, "a")["score"]["mean"], 0.4);
        // A failure is a failure, with a score or without.
        near(&standing(&found, "b")["score"]["mean"], 0.25);
        assert!(rows_of(&found["leaderboards"][0]).iter().all(|row| row["subject"] != "c"), "{method}");
    }
    let compared = asked(&folder, "compare a b --json -c solved.toml rows.csv");
    assert_eq!(compared["difference"]["estimate"]["tasks"], 1);
    near(&compared["difference"]["estimate"]["mean"], 0.1);
    let standings = lines(&folder, "standing --json -c window.toml --as-of 2026-02-01T00:00:00Z rows.csv");
    let of = |subject: &str| standings.iter().find(|it| it["subject"] == subject).unwrap();
    assert_eq!((of("a")["points"].as_f64(), of("c")["points"].as_f64()), (Some(0.4), None));
}

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
