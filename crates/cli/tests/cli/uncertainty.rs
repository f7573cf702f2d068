//! The words of a leaderboard about few results, of ties, and of items without a score.

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, Run, example, karat_reading};
use crate::leaderboard::{CARD, in_points, parsed, rows_of, standing, table};

/// Runs of one result each, with `n` and without.
fn results(n: &str) -> String {
    let row = |(at, solved): (usize, &str)| format!("{},{solved}{n}\n", ["a", "b", "c", "d"][at]);
    let rows: String = ["0.9", "0.87", "0.5", "0.5"].into_iter().enumerate().map(row).collect();
    format!("subject,solved{}\n{rows}", if n.is_empty() { "" } else { ",n" })
}

fn of_results(n: &str, flags: &str) -> Run {
    let arguments = format!("leaderboard --card {CARD} --by mean {flags}");
    karat_reading(&arguments.split_whitespace().collect::<Vec<_>>(), &results(n))
}

#[test]
fn a_result_over_cases_has_an_interval_and_a_census_has_none() {
    let found = parsed(&of_results(",225", ""));
    let row = standing(&found, "a");
    // Wilson's interval of 0.9 of 225 cases, by hand: (0.9 + z^2/450 -+ z sqrt(0.09/225 + z^2/202500)) / (1 + z^2/225).
    let (z, share, cases) = (1.959_963_984_540_054_f64, 0.9, 225.0);
    let centre = share + z * z / (2.0 * cases);
    let spread = z * (share * (1.0 - share) / cases + z * z / (4.0 * cases * cases)).sqrt();
    in_points(&row["score"]["low"], (centre - spread) / (1.0 + z * z / cases));
    in_points(&row["score"]["high"], (centre + spread) / (1.0 + z * z / cases));
    assert_eq!((&row["score"]["method"], &row["cases"]), (&"wilson".into(), &225.into()));
    assert_eq!(
        (&row["letters"], &row["rank_range"]),
        (&serde_json::json!(["a"]), &serde_json::json!([1, 2]))
    );
    assert_eq!(standing(&found, "c")["letters"], serde_json::json!(["b"]));
    // Ten thousand cases each tell the first two apart; the third and the fourth are the same.
    let many = parsed(&of_results(",10000", ""));
    let letters: Vec<&Value> =
        rows_of(&many["leaderboards"][0]).iter().map(|row| &row["letters"][0]).collect();
    assert_eq!(letters, ["a", "b", "c", "c"]);
    assert_snapshot!(of_results(",225", "--table").screen());
    let student = parsed(&of_results(",225", "--method means"));
    assert_eq!(standing(&student, "a")["score"], row["score"]);
    // The record has the number of cases, and gives the same leaderboard.
    let scored = karat_reading(&["score", "-c", CARD], &results(",225"));
    assert!(scored.stdout.contains(r#""kind":"facts","n":225,"outcome":null"#), "{}", scored.stdout);
    let again = parsed(&karat_reading(&["leaderboard", "-c", CARD, "--by", "mean"], &scored.stdout));
    assert_eq!(again["leaderboards"], found["leaderboards"]);

    for n in ["", ",225"] {
        let census = parsed(&of_results(n, "--census"));
        assert_eq!(census["method"], "census");
        for (row, other) in rows_of(&census["leaderboards"][0]).iter().zip(rows_of(&found["leaderboards"][0]))
        {
            assert_eq!((&row["rank"], &row["score"]["mean"]), (&other["rank"], &other["score"]["mean"]));
            for member in ["rank_range", "chance_of_rank_1", "letters"] {
                assert_eq!(row[member], Value::Null, "{member}");
            }
            assert_eq!(
                (&row["score"]["low"], &row["dimensions"]["solved"]["low"]),
                (&Value::Null, &Value::Null)
            );
        }
    }
    assert_snapshot!(of_results("", "--census --table").screen());
}

#[test]
fn the_origin_of_each_choice_for_outcomes_is_named() {
    let rows = "a t1 stopped 0.5\na t2 refused 0.5\na t3 succeeded 1\n";
    let screen = |flags: &str, card: &str| {
        let folder = Folder::new();
        folder.write("card.toml", card);
        folder.write("runs.csv", &table(rows));
        let arguments = format!("leaderboard -c card.toml {flags} runs.csv");
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let json = parsed(&folder.karat(&arguments));
        let table = folder.karat(&[&arguments[..], &["--table"]].concat());
        (table.stdout.split_whitespace().collect::<Vec<_>>().join(" "), json["outcome_sources"].clone())
    };
    let card = example("cards/task-run.toml");
    let (text, sources) = screen("", &card);
    assert!(text.contains("1 refused (failure), as the scorecard says"), "{text}");
    assert_eq!(sources["stopped"], "scorecard");
    let (text, sources) = screen("--count stopped=scored", &card);
    assert!(
        text.contains("1 stopped (scored, by --count) and 1 refused (failure, as the scorecard says"),
        "{text}"
    );
    assert_eq!((&sources["stopped"], &sources["refused"]), (&"request".into(), &"scorecard".into()));
    let stated = "outcomes = { no-verdict = \"excluded\", stopped = \"failure\", not-applicable = \"excluded\", refused = \"failure\" }";
    let (text, sources) = screen("", &card.replace(stated, "outcomes = { stopped = \"failure\" }"));
    assert!(
        text.contains("1 stopped (failure, as the scorecard says) and 1 refused (failure, by default)"),
        "{text}"
    );
    assert_eq!((&sources["stopped"], &sources["refused"]), (&"scorecard".into(), &"default".into()));
}
