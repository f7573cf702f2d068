//! `karat rate --covariates`: ratings of sides that are alike, in every shape of rows, and the reasons for an answer without one.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use serde_json::{Value, json};

use crate::common::{Run, example, karat, karat_reading};

const ANSWERS: &str = "examples/matches/answers.csv";
const BRADLEY_TERRY: [&str; 3] = ["rate", "--system", "bradley-terry"];

/// Rates some text on standard input.
fn reading(flags: &[&str], text: &str) -> Run {
    karat_reading(&[&BRADLEY_TERRY[..], flags].concat(), text)
}

/// Returns the only board of an answer.
fn board(run: &Run) -> Value {
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    found["boards"][0].clone()
}

/// Returns the board of a text.
fn board_of(flags: &[&str], text: &str) -> Value {
    board(&reading(&[&["--json"], flags].concat(), text))
}

fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 2e-6, "{found}, expected {expected}");
}

/// The numbers come from another implementation: Newton's method on the log-likelihood with one strength at 0, in Python.
#[test]
fn a_long_answer_no_longer_makes_a_strong_competitor() {
    let run = karat(&[&BRADLEY_TERRY[..], &["--json", "--covariates", "length,headers", ANSWERS]].concat());
    let board = board(&run);
    for (at, (name, points, rank_without, points_without)) in [
        ("atlas", 1606.068850, 3, 1501.541759),
        ("birch", 1570.632692, 1, 1652.985532),
        ("cobalt", 1506.731343, 2, 1521.327637),
        ("delta", 1424.430248, 5, 1382.155133),
        ("ember", 1392.136867, 4, 1441.989939),
    ]
    .into_iter()
    .enumerate()
    {
        let found = &board["competitors"][at];
        assert_eq!((&found["name"], &found["rank"]), (&name.into(), &(at + 1).into()));
        near(&found["points"], points);
        assert_eq!(found["without_covariates"]["rank"], rank_without);
        near(&found["without_covariates"]["points"], points_without);
    }
    let [length, headers] = [&board["covariates"][0], &board["covariates"][1]];
    near(&length["deviation"], 0.346234);
    near(&length["log_odds"], 0.758622);
    near(&length["points"], 131.786201);
    near(&length["interval"]["low"], 131.786201 - 72.737297);
    near(&length["double_points"], 126.875842);
    near(&headers["interval"]["high"], 0.207289 + 45.597965);
    assert_eq!((&length["matches_without"], &headers["matches_without"]), (&6.into(), &0.into()));
    // Both ratings, and what a competitor won, are of the matches that have both covariates.
    assert_eq!(board["left_out"], json!({"competitors": [], "matches": 0, "matches_without_covariates": 6}));
    let all = |kind: &str| {
        board["competitors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["matches"][kind].as_u64().unwrap())
            .sum::<u64>()
    };
    assert_eq!(all("won") + all("drawn") + all("lost"), 2 * 294);
    near(&board["matches_per_parameter"], 49.0);
    let screen =
        karat(&[&BRADLEY_TERRY[..], &["--table", "--covariates", "length,headers", ANSWERS]].concat());
    for part in [
        "5 competitors, 294 of 300 matches",
        "controlled for `length` and `headers`: ratings of sides that are alike in that",
        "left out, as they lack a covariate: 6 matches",
        "ties half-wins",
    ] {
        assert!(screen.stdout.contains(part), "{part}: {}", screen.stdout);
    }
}

/// Turns the rows of the example into JSON lines with nested values.
fn nested(text: &str) -> String {
    let rows = text.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    let value = |text: &str| if text.is_empty() { Value::Null } else { json!(text.parse::<f64>().unwrap()) };
    let object = |row: Vec<&str>| {
        json!({"model_a": row[0], "model_b": row[1], "winner": row[2],
            "meta": {"tokens": {"a": value(row[3]), "b": value(row[4])}, "other": [1]}, "more": null})
    };
    rows.map(|row| format!("{}\n", object(row))).collect()
}

#[test]
fn one_covariate_in_many_shapes() {
    let text = example("matches/answers.csv");
    let flat =
        text.lines().map(|row| row.rsplitn(3, ',').last().unwrap().to_owned() + "\n").collect::<String>();
    let board = board_of(&["--covariates", "length"], &flat);
    // Columns of other names, also inside of objects.
    let columns =
        "first=model_a,second=model_b,result=winner,first_length=meta.tokens.a,second_length=meta.tokens.b";
    let run = reading(&["--json", "--covariates", "length", "--columns", columns], &nested(&text));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["boards"][0], board);
    run.tells("columns that nothing reads: `meta.other` and `more`");
    // A contrast that was taken before is the difference of two columns.
    let number = |text: &str| text.parse::<f64>().ok();
    let taken = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        let difference = number(cells[3]).zip(number(cells[4])).map(|(x, y)| (x - y).to_string());
        format!("{},{},{},{}\n", cells[0], cells[1], cells[2], difference.unwrap_or_default())
    };
    let own: String = flat.lines().skip(1).map(taken).collect();
    let one = board_of(&["--covariates", "length:difference"], &format!("first,second,result,length\n{own}"));
    let two = board_of(&["--covariates", "length:difference"], &flat);
    assert_eq!((&one["competitors"], &one["covariates"]), (&two["competitors"], &two["covariates"]));
    assert_eq!(
        (&one["covariates"][0]["contrast"], &one["covariates"][0]["double_points"]),
        (&"difference".into(), &Value::Null)
    );
    assert_ne!(two["competitors"], board["competitors"]);
    // Sides and names do not matter, and neither does the order of covariates.
    let turned: String = flat
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<&str> = row.split(',').collect();
            let result = match cells[2] {
                "first" => "second",
                "second" => "first",
                other => other,
            };
            format!("{},{},{result},{},{}\n", cells[1], cells[0], cells[4], cells[3])
        })
        .collect();
    let turned = board_of(
        &["--covariates", "length"],
        &format!("first,second,result,first_length,second_length\n{turned}"),
    );
    assert_eq!(turned["covariates"], board["covariates"]);
}

#[test]
fn a_digest_has_the_covariates_that_were_asked_for() {
    let digest = |flags: &[&str]| {
        let run = karat(&[&BRADLEY_TERRY[..], &["--json"], flags, &[ANSWERS]].concat());
        serde_json::from_str::<Value>(&run.stdout).unwrap()["boards"][0]["input"]["digest"].clone()
    };
    assert_eq!(digest(&[]), "sha256:e68cf16327d3df3a6930b67834f3efc25d067cf7a7c4517cbf7d9771cf2f07ac");
    assert_eq!(
        digest(&["--covariates", "length"]),
        "sha256:651b6d7dd940afeb6493b4a67a77210d8c28ac7234cf1fde7b8deeaa4cd8f7a7"
    );
    assert_eq!(digest(&["--covariates", "length,headers"]), digest(&["--covariates", "headers,length"]));
    // One id with other covariates is another content, only where they are asked for.
    let text = "id,first,second,result,first_length,second_length\nm,a,b,first,9,4\nm,a,b,first,9,5\nn,b,a,first,2,1\n";
    let run = reading(&["--covariates", "length"], text);
    run.ends(1, "match `m` has another judge, pair, category or covariate than at standard input:2");
    assert_eq!(reading(&["--json"], text).status, 0);
}

#[test]
fn what_covariates_do_not_go_with_is_refused() {
    let text = example("matches/answers.csv");
    for (flags, status, told) in [
        (&["--set", "ties=davidson"][..], 1, "--covariates does not go with ties=davidson"),
        (&["--set", "ties=half-wins,prior=gaussian"], 1, "does not go with prior=gaussian"),
        (&["--bootstrap"], 1, "does not go with --bootstrap"),
        (&["--holdout", "0.2"], 1, "does not go with --holdout"),
        (&["--covariates", "length:relative"], 1, "--covariates names `length` twice"),
        (&["--covariates", "length:log"], 2, "`log` is not a contrast, expected `relative` or `difference`"),
        (&["--covariates", ":difference"], 2, "names no covariate"),
        (
            &["--covariates", "tokens"],
            1,
            "no row has `first_tokens` and `second_tokens` for the covariate `tokens`, expected some of the columns",
        ),
        (
            &["--covariates", "date:difference"],
            1,
            "no row has `first_date` and `second_date`, or `date`, for the covariate",
        ),
        (&["--covariates", "first:difference"], 1, "`first` is `atlas`, expected a number"),
        (&["--columns", "first_lenght=first_headers"], 1, "`first_lenght` is not a field of a match"),
    ] {
        reading(&[&["--covariates", "length"], flags].concat(), &text).ends(status, told);
    }
    let many: Vec<String> = (0..21).map(|at| format!("c{at}")).collect();
    reading(&["--covariates", &many.join(",")], &text)
        .ends(1, "there are 21 covariates, expected at most 20");
    let other = karat_reading(&["rate", "--system", "elo", "--covariates", "length"], &text);
    other.ends(1, "--covariates is for Bradley-Terry, and the system is elo");
    for (values, told) in [
        ("-3,5", "standard input:2: the covariate `x` is -3 and 5, expected numbers from 0"),
        ("NaN,5", "the covariate `x` is NaN and 5"),
        ("inf,5", "the covariate `x` is inf and 5"),
    ] {
        let text = format!("first,second,result,first_x,second_x\na,b,first,{values}\nb,a,first,1,2\n");
        let run = reading(&["--covariates", "x"], &text);
        run.ends(1, told);
    }
    let both = "first,second,result,x,first_x\na,b,first,1,2\n";
    reading(&["--covariates", "x:difference"], both).ends(1, "`x` is there beside a value of one side");
}

/// The rows of matches between two competitors with the values of `x` and `y`.
fn pairs(rows: &str) -> String {
    format!("first,second,result,first_x,second_x,first_y,second_y\n{rows}")
}

#[test]
fn without_an_effect_there_is_a_sentence_and_no_number() {
    for (rows, covariates, told) in [
        (
            "a,b,first,1,1,,\nb,a,first,2,2,,\n",
            "x",
            "the covariate `x` is the same for both sides of every match",
        ),
        (
            "a,b,first,1,2,2,4\nb,a,first,2,1,4,2\na,b,draw,1,3,2,6\nb,a,draw,1,3,2,6\n",
            "x,y",
            "the covariate `y` follows from who met whom or from the other covariates",
        ),
        ("a,b,first,2,1,,\na,b,second,1,2,,\n", "x", "the covariate `x` separates wins from losses"),
        ("a,b,first,2,,,\nb,a,first,,1,,\n", "x", "no match has all covariates: of 2, `x` is missing in 2"),
    ] {
        let run = reading(&["--covariates", covariates], &pairs(rows));
        run.ends(12, told);
        assert_eq!(run.stdout, "", "{rows}");
    }
    // The matches that are left have no fit, which is said as without covariates.
    let rows = "a,b,first,2,1,,\na,b,first,1,1,,\nb,a,first,,1,,\n";
    reading(&["--covariates", "x"], &pairs(rows)).ends(1, "never lost a point: `a`");
}

#[test]
fn few_matches_and_parts_are_told() {
    let few = "a,b,first,2,1,,\nb,a,first,3,2,,\na,b,second,1,4,,\nb,a,second,2,3,,\na,b,first,1,2,,\n";
    let screen = reading(&["--table", "--covariates", "x"], &pairs(few)).screen();
    assert!(screen.contains("2.5 matches for each strength and covariate, expected ten or more"), "{screen}");
    let parts = format!("{few}c,a,first,2,1,,\nc,a,first,,1,,\na,b,first,,1,,\n");
    let flags = ["--json", "--component", "largest", "--covariates", "x"];
    let left = reading(&flags, &pairs(&parts));
    let found: Value = serde_json::from_str(&left.stdout).unwrap();
    let expected = json!({"competitors": ["c"], "matches": 2, "matches_without_covariates": 1});
    assert_eq!(found["boards"][0]["left_out"], expected);
    // Each category has its own effects.
    let text = pairs(few).replace(",,\n", ",1,1\n").replace("first_y,second_y", "category,same");
    let text = format!("{text}{}", few.replace(",,\n", ",2,1\n"));
    let run = reading(&["--json", "--covariates", "x", "--by", "category"], &text);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let effect = |at: usize| found["boards"][at]["covariates"][0].clone();
    assert!(effect(0).is_object() && effect(0) == effect(1), "{found}");
}

#[test]
fn columns_that_may_be_covariates_are_told() {
    let run = karat(&[&BRADLEY_TERRY[..], &["--json", ANSWERS]].concat());
    run.ends(0, "numbers of both sides can be controlled for: --covariates headers,length");
    let run = karat(&[&BRADLEY_TERRY[..], &["--json", "--covariates", "length", ANSWERS]].concat());
    assert!(!run.stderr.contains("controlled for"), "{}", run.stderr);
}
