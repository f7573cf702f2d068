//! `karat rate`: screens, JSON, continued seasons, and every problem that matches can have.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use serde_json::Value;

use crate::common::{Folder, Run, karat, karat_reading};

const SEASON: &str = "examples/matches/season.csv";

/// Returns the answer of `karat rate` as JSON.
fn rated(arguments: &[&str]) -> Value {
    let run = karat(&[&["rate", "--json"], arguments].concat());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    serde_json::from_str(&run.stdout).unwrap()
}

/// Rates some text on standard input.
fn reading(arguments: &[&str], text: &str) -> Run {
    karat_reading(&[&["rate"], arguments].concat(), text)
}

fn points(found: &Value) -> Vec<(&str, f64)> {
    let lines = found["boards"][0]["competitors"].as_array().unwrap();
    lines.iter().map(|line| (line["name"].as_str().unwrap(), line["points"].as_f64().unwrap())).collect()
}

#[test]
fn the_json_says_everything_it_rests_on() {
    insta::assert_snapshot!(
        karat(&["rate", "--json", "--system", "elo", "--by", "category", SEASON]).screen()
    );
}

#[test]
fn a_season_in_two_halves_is_the_season() {
    let text = crate::common::example("matches/season.csv");
    let rows: Vec<&str> = text.lines().collect();
    for settings in [["--system", "elo", "--arena"], ["--system", "glicko2", "--set=tau=0.7"]] {
        let folder = Folder::new();
        folder.write("whole.csv", &text);
        folder.write("first.csv", &rows[..31].join("\n"));
        folder.write("second.csv", &[&rows[..1], &rows[31..]].concat().join("\n"));
        let run = |more: &[&str]| {
            let run = folder.karat(&[&["rate", "--json"], &settings[..], more].concat());
            assert_eq!((run.status, run.stderr.as_str()), (0, ""));
            run.stdout
        };
        run(&["--state-out", "whole.json", "whole.csv"]);
        run(&["--state-out", "half.json", "first.csv"]);
        run(&["--state", "half.json", "--state-out", "half.json", "second.csv"]);
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("half.json"), read("whole.json"));

        // A match that has counted is not counted again, and other settings are refused.
        let again =
            folder.karat(&[&["rate"], &settings[..], &["--state", "half.json", "first.csv"]].concat());
        assert_eq!(again.status, 1);
        assert!(again.stderr.contains("which has counted, expected matches by time"), "{}", again.stderr);
        let other = folder.karat(&["rate", "--system", "elo", "--state", "half.json", "second.csv"]);
        assert_eq!(other.status, 1);
        assert!(other.stderr.contains("is not a file of ratings to continue from"), "{}", other.stderr);
    }
}

#[test]
fn one_match_in_many_shapes() {
    let by_result = "white,black,score,when\nann,bob,1-0,2026-01-01\n";
    let by_goals = "home,away,home_goals,away_goals,when\nann,bob,3,1,2026-01-01\n";
    let by_column = "model_a,model_b,winner,when\nann,bob,model_a,1767225600\n";
    let by_winner = "{\"winner\": \"ann\", \"loser\": \"bob\", \"time\": \"2026-01-01T00:00:00Z\"}\n";
    let old_name = "first,second,result,time\nanne,bob,anne,2026-01-01 00:00:00\n";
    let shapes = [
        (by_result, vec!["--columns", "first=white,second=black,result=score,time=when"]),
        (
            by_goals,
            vec![
                "--columns",
                "first=home,second=away,first_score=home_goals,second_score=away_goals,time=when",
            ],
        ),
        (by_column, vec!["--columns", "first=model_a,second=model_b,time=when"]),
        (by_winner, vec![]),
        (old_name, vec!["--rename", "anne=ann"]),
    ];
    let mut digests = Vec::new();
    for (text, flags) in &shapes {
        let run = reading(&[&["--json", "--system", "elo"], &flags[..]].concat(), text);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{text}");
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(points(&found), [("ann", 1516.0), ("bob", 1484.0)], "{text}");
        digests.push(found["boards"][0]["input"]["digest"].clone());
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn results_that_mean_no_match_are_counted() {
    let text = "first,second,result\na,b,first\nb,a,abandoned\na,b,\n";
    let run = reading(&["--json", "--system", "elo", "--skip", "abandoned", "--skip", ""], text);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&found["skipped_rows"], &found["boards"][0]["input"]["matches"]), (&2.into(), &1.into()));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let text = "id,first,second,result,time\n\
                a,ann,bob,maybe,2026-01-01\n\
                b,ann,ann,first,2026-01-01\n\
                c,,bob,first,2026-01-01\n\
                d,ann,bob,,2026-01-01\n\
                e,ann,bob,first,soon\n\
                f,ann,bob\n\
                g,ann,bob,first,\n\
                h,ann,bob,first,2026-01-01\n";
    insta::assert_snapshot!(reading(&["--system", "elo"], text).screen());
    let many: String = (0..40).map(|_| "ann,ann,first\n").collect();
    let run = reading(&["--system", "elo"], &format!("first,second,result\n{many}"));
    assert_eq!(run.status, 1);
    assert!(
        run.stderr.starts_with("error: 40 problems") && run.stderr.ends_with("  and 20 more\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_largest_part_says_who_is_left_out() {
    let text = "first,second,result\na,b,1-0\nb,a,1-0\nc,a,1-0\nd,e,1-0\n";
    let run = reading(&["--json", "--system", "bradley-terry", "--component", "largest"], text);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let left_out = &found["boards"][0]["left_out"];
    assert_eq!(
        (&left_out["competitors"], &left_out["matches"]),
        (&serde_json::json!(["c", "d", "e"]), &2.into())
    );
    assert_eq!(points(&found), [("a", 1500.0), ("b", 1500.0)]);
    // The heading has the matches that the ratings rest on.
    let table = reading(&["--table", "--system", "bradley-terry", "--component", "largest"], text);
    assert!(table.stdout.contains("2 competitors, 2 of 4 matches"), "{}", table.stdout);
}

#[test]
fn a_bootstrap_is_seeded() {
    let flags = ["--system", "bradley-terry", "--bootstrap", "--resamples", "200", SEASON];
    let (one, same) = (rated(&flags), rated(&flags));
    let other = rated(&[&flags[..], &["--seed", "2"]].concat());
    assert_eq!(one, same);
    assert_eq!((&one["seed"], &one["resamples"]), (&1.into(), &200.into()));
    let interval = |found: &Value| found["boards"][0]["competitors"][0]["interval"].clone();
    assert_ne!(interval(&one), interval(&other));
    assert_eq!(points(&one), points(&other));
}

/// Each vote given four times over: the same votes, and no more evidence.
#[test]
fn votes_on_one_pair_are_drawn_together() {
    let votes = crate::common::example("matches/votes.jsonl");
    let again = |copy: u32| votes.replace("\"id\": \"v", &format!("\"id\": \"c{copy}-v"));
    let fourfold: String = (0..4).map(again).collect();
    let width = |text: &str, flags: &[&str]| {
        let flags = [&["--json", "--system", "bradley-terry", "--judge", "judge"], flags].concat();
        let found: Value = serde_json::from_str(&reading(&flags, text).stdout).unwrap();
        let interval = &found["boards"][0]["competitors"][0]["interval"];
        interval["high"].as_f64().unwrap() - interval["low"].as_f64().unwrap()
    };
    assert!(width(&fourfold, &[]) < 0.6 * width(&votes, &[]));
    let pairs = &["--bootstrap", "--resamples", "400"];
    let share = width(&fourfold, pairs) / width(&votes, pairs);
    assert!((share - 1.0).abs() < 0.05, "{share}");
}

#[test]
fn predictions_are_of_the_same_matches() {
    for system in ["elo", "glicko2", "weng-lin", "bradley-terry"] {
        let found = rated(&["--system", system, "--holdout", "0.25", SEASON]);
        let holdout = &found["boards"][0]["holdout"];
        assert_eq!((&holdout["trained_matches"], &holdout["predicted_matches"]), (&45.into(), &15.into()));
        let forecasts = holdout["forecasts"].as_array().unwrap();
        let names: Vec<&str> = forecasts.iter().map(|it| it["name"].as_str().unwrap()).collect();
        let expected =
            if system == "elo" { vec!["base-rate", "elo"] } else { vec!["base-rate", "elo", system] };
        assert_eq!(names, expected);
        assert!(forecasts.iter().all(|it| it["log_loss"].as_f64().unwrap() > 0.0));
        let elo = forecasts[1]["log_loss"].as_f64().unwrap();
        for it in forecasts.iter().filter(|it| it["name"] != "elo") {
            let beside = &it["beside_elo"];
            let difference = it["log_loss"].as_f64().unwrap() - elo;
            assert!((beside["log_loss"].as_f64().unwrap() - difference).abs() < 2e-6, "{it}");
            assert!(beside["low"].as_f64() < beside["log_loss"].as_f64(), "{it}");
        }
    }
}

#[test]
fn a_prior_rates_any_pool_and_says_what_it_rests_on() {
    let sparse =
        "first,second,result\nann,bob,first\nann,bob,first\ncid,dan,first\ndan,cid,first\ncid,dan,draw\n";
    let plain = reading(&["--json", "--system", "bradley-terry"], sparse);
    assert_eq!(plain.status, 1);
    assert!(plain.stderr.contains("--set prior=gaussian and the other systems rate"), "{}", plain.stderr);
    let of = |flags: &[&str]| {
        let run = reading(&[&["--json", "--system", "bradley-terry"], flags].concat(), sparse);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        serde_json::from_str::<Value>(&run.stdout).unwrap()
    };
    let found = of(&["--set", "prior=gaussian"]);
    let settings = &found["settings"];
    assert_eq!((&settings["prior"], &settings["prior_deviation"]), (&"gaussian".into(), &350.into()));
    assert_eq!(found["intervals"], "posterior");
    let board = &found["boards"][0];
    assert_eq!((&board["parts"], &board["one_sided"]), (&2.into(), &Value::Array(Vec::new())));
    let names: Vec<&str> = points(&found).iter().map(|(name, _)| *name).collect();
    assert_eq!((names[0], names[3]), ("ann", "bob"));
    let mean = points(&found).iter().map(|(_, points)| points).sum::<f64>() / 4.0;
    assert!((mean - 1500.0).abs() < 1e-6, "{mean}");

    let bootstrap = of(&["--set", "prior=gaussian", "--bootstrap", "--resamples", "100"]);
    assert_eq!(bootstrap["boards"][0]["resamples_without_fit"], 0);
    assert_eq!(bootstrap["boards"][0]["one_sided"], serde_json::json!(["ann", "bob"]));
    assert_eq!(points(&bootstrap), points(&found));
    let narrow = of(&["--set", "prior_deviation=50"]);
    assert_eq!(narrow["settings"]["prior"], "gaussian");
    assert!(points(&narrow)[0].1 < points(&found)[0].1);

    let flags = ["--system", "bradley-terry", "--set=prior=gaussian", "--bootstrap", "--resamples=100"];
    let screen = reading(&[&["--table"], &flags[..]].concat(), sparse).screen().replace('\n', " ");
    for part in [
        "prior gaussian, prior_deviation 350",
        "with a deviation of 350 points. That is worth 0.99 draws",
        "no match connects 2 parts of the pool: only the prior compares their ratings",
        "their intervals are too narrow: `ann` and `bob`",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    for (settings, why) in [
        ("prior=none,prior_deviation=9", "`prior_deviation` is given and `prior` is `none`"),
        ("prior_deviation=0", "`prior_deviation` is `0`, expected a number from 1 to 10000"),
        ("prior=flat", "`prior` is `flat`, expected `none` or `gaussian`"),
    ] {
        let run = reading(&["--system", "bradley-terry", "--set", settings], sparse);
        run.ends(1, why);
    }
}

#[test]
fn forecasts_that_are_worse_than_no_ratings_are_called_so() {
    // The stronger side of the first matches loses all later ones.
    let mut text = String::from("first,second,result\n");
    text.push_str(&"ann,bob,first\nbob,ann,second\nann,bob,first\nann,bob,second\n".repeat(5));
    text.push_str(&"ann,bob,second\nbob,ann,first\n".repeat(5));
    let folder = Folder::new();
    folder.write("matches.csv", &text);
    let flags =
        ["rate", "--system", "bradley-terry", "--holdout", "0.333", "--html", "page.html", "matches.csv"];
    let run = folder.karat(&[&flags[..], &["--json"]].concat());
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let holdout = &found["boards"][0]["holdout"];
    let own = &holdout["forecasts"][2];
    assert_eq!(own["worse_than"], serde_json::json!(["base-rate", "coin"]));
    assert!(
        own["log_loss"].as_f64().unwrap() > 1.0 && own["beside_base_rate"]["low"].as_f64().unwrap() > 0.0
    );
    let warning = holdout["warnings"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(warning.starts_with("bradley-terry predicts these matches worse (1."), "{warning}");
    assert!(
        warning.contains("than the base rate (0.") && warning.ends_with("; do not predict with it"),
        "{warning}"
    );
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    let screen = folder.karat(&[&flags[..], &["--table"]].concat()).screen();
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line(&page).contains(warning) && one_line(&screen).contains(warning), "{screen}");
    // Where ratings help, nothing is said.
    let found = rated(&["--system", "glicko2", "--holdout", "0.2", SEASON]);
    assert_eq!(found["boards"][0]["holdout"]["warnings"], Value::Array(Vec::new()));
}
