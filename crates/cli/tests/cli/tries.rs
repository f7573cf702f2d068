//! Attempts whose number depends on their results: every door says so, and first attempts are right.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use karat::json::answer;
use serde_json::{Value, json};

use crate::common::{Folder, Run};
use crate::serve::Server;

/// The way an item says which attempt it is.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Id,
    Field,
    Time,
    None,
}

/// Returns runs at 64 tasks, each of the eight ways in which three attempts can pass or fail eight times. `honest` makes all three
/// attempts, `retry` stops when it passes, `quitter` when it fails, `chance` after a number that looks random.
fn runs(order: Order) -> String {
    let mut lines = String::new();
    for (subject, task, attempt) in ["honest", "retry", "quitter", "chance"]
        .into_iter()
        .flat_map(|it| (0..64u32).flat_map(move |task| (0..3u32).map(move |attempt| (it, task, attempt))))
    {
        let passes = |attempt: u32| task >> attempt & 1 == 1;
        let is_made = match subject {
            "retry" => !(0..attempt).any(passes),
            "quitter" => (0..attempt).all(passes),
            "chance" => attempt <= task / 8 % 3,
            _ => true,
        };
        if is_made {
            let mut item =
                json!({"subject": subject, "task": format!("t{task}"), "solved": i32::from(passes(attempt))});
            // Ids in another order than the attempts, where those are not numbers.
            item["id"] = json!(format!("{subject}-{task}-{}", ["y", "x", "z"][attempt as usize]));
            match order {
                Order::Id => item["id"] = json!(format!("{subject}/{task}/{}", attempt + 1)),
                Order::Field => item["attempt"] = json!(attempt + 1),
                Order::Time => item["time"] = json!(format!("2026-01-0{}T00:00:00Z", attempt + 1)),
                Order::None => {}
            }
            lines.push_str(&format!("{item}\n"));
        }
    }
    lines
}

fn answered(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| unreadable(run))
}

fn unreadable(run: &Run) -> Value {
    assert_eq!(run.screen(), "", "no JSON");
    Value::Null
}

/// Returns subject, mean in points and the result at which its attempts stop.
fn rows(answer: &Value) -> Vec<(String, f64, Option<String>)> {
    let row = |row: &Value| {
        let stops = row["attempts_stop_at"].as_str().map(str::to_owned);
        (row["subject"].as_str().unwrap().to_owned(), row["mean"]["mean"].as_f64().unwrap(), stops)
    };
    let mut rows: Vec<_> = answer["leaderboards"][0]["rows"].as_array().unwrap().iter().map(row).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

#[test]
fn attempts_that_stop_at_a_result_are_told_and_first_ones_are_right() {
    let folder = Folder::new();
    for order in [Order::Id, Order::Field, Order::Time, Order::None] {
        folder.write("runs.jsonl", &runs(order));
        let board = answered(&folder.line("leaderboard -c run runs.jsonl --format json"));
        let found = rows(&board);
        let expected = [
            ("chance", 50.0, None),
            ("honest", 50.0, None),
            ("quitter", 100.0 / 3.0, Some("failure")),
            ("retry", 200.0 / 3.0, Some("success")),
        ];
        for ((subject, mean, stops), (name, points, at)) in found.iter().zip(expected) {
            assert_eq!((subject.as_str(), stops.as_deref()), (name, at));
            assert!((mean - points).abs() < if name == "chance" { 5.0 } else { 1e-6 }, "{name}: {mean}");
        }
        // The larger method says the same, and so does the headline.
        let means = answered(&folder.line("leaderboard -c run runs.jsonl --method means --format json"));
        assert_eq!(rows(&means), found);
        let shown = folder.line("leaderboard -c run runs.jsonl --format markdown").stdout.replace("\\`", "`");
        let told =
            "attempts of `retry` stop at success, as their numbers show: its mean over attempts is too high";
        assert!(shown.contains(told) && shown.contains("`quitter` stop at failure"), "{shown}");
        assert!(!shown.contains("of `honest`"), "{shown}");
        // No formula of a fixed number of attempts holds.
        let several = answered(&folder.line("leaderboard -c run runs.jsonl --attempts 2 --format json"));
        for row in several["leaderboards"][0]["rows"].as_array().unwrap() {
            let is_fixed = ["honest", "chance"].contains(&row["subject"].as_str().unwrap());
            for at in row["attempts"].as_array().unwrap() {
                for value in ["pass_at", "pass_hat", "best_of"] {
                    assert_eq!(at[value].is_object(), is_fixed, "{row}");
                }
            }
        }
        let shown = folder
            .line("leaderboard -c run runs.jsonl --attempts 2 --format markdown")
            .stdout
            .replace("\\`", "`");
        assert!(shown.contains("no chances of several attempts of `retry` and `quitter`"), "{shown}");
        // Two that are alike.
        let gate = "compare retry honest -c run runs.jsonl --fail-if-worse --format json";
        let failing = folder.line(gate);
        assert_eq!(failing.status, 16, "{}", failing.stderr);
        let pair = answered(&failing);
        assert_eq!(
            (&pair["first"]["attempts_stop_at"], &pair["second"]["attempts_stop_at"]),
            (&json!("success"), &Value::Null)
        );
        let first = folder.line(&format!("{gate} --attempts first"));
        let firsts = folder.line("leaderboard -c run runs.jsonl --attempts first --format json");
        if order == Order::None {
            for refused in [&first, &firsts] {
                refused.ends(1, "is the first is not known");
                refused.tells("the number of its attempt: `attempt`");
            }
            continue;
        }
        assert_eq!(
            (first.status, answered(&first)["difference"]["estimate"]["mean"].as_f64()),
            (0, Some(0.0))
        );
        let firsts = answered(&firsts);
        let items = &firsts["items"];
        assert_eq!((&items["count"], &items["first_attempts"]), (&json!(256), &json!(true)));
        assert_eq!((&firsts["leaderboards"][0]["by"], rows(&firsts).len()), (&json!("official"), 4));
        for row in firsts["leaderboards"][0]["rows"].as_array().unwrap() {
            assert_eq!((&row["official"]["points"], &row["attempts_stop_at"]), (&json!(50), &Value::Null));
        }
        let files = json!([{"name": "runs.jsonl", "text": runs(order)}]);
        for (question, mut settings, line) in [
            ("leaderboard", json!({"attempts": "first"}), "leaderboard --attempts first"),
            ("leaderboard", json!({"attempts": 2}), "leaderboard --attempts 2"),
            (
                "compare",
                json!({"first": "retry", "second": "honest", "attempts": "first"}),
                "compare retry honest --attempts first",
            ),
        ] {
            settings["card"] = json!("run");
            let asked = json!({"question": question, "settings": settings, "files": files});
            let of_library = answer(asked.to_string().as_bytes()).unwrap();
            let of_program = folder.line(&format!("{line} -c run runs.jsonl --format json")).stdout;
            assert_eq!(String::from_utf8(of_library).unwrap(), of_program.trim_end(), "{line}");
        }
    }
}

#[test]
fn a_gate_and_a_card_with_more_than_a_mean_know_first_attempts() {
    let folder = Folder::new();
    let of = |name: &str| {
        let own = runs(Order::Id).lines().filter(|line| line.contains(name)).collect::<Vec<_>>().join("\n");
        own.replace(name, "agent")
    };
    folder.write("before.jsonl", &of("retry"));
    folder.write("after.jsonl", &of("honest"));
    let check = |gate: &str| {
        let head = "card = \"run\"\ninputs = [\"after.jsonl\"]\nbaseline = \"before.jsonl\"\n[gate]\n";
        folder.write("karat.toml", &format!("{head}fail_if_worse = 2\n{gate}"));
        folder.karat(&["check"])
    };
    assert_eq!(check("").status, 16);
    let first = check("attempts = \"first\"\n[gate.items]\nfail_under = 0\n");
    assert_eq!(first.status, 0, "{}", first.screen());
    assert!(check("attempts = \"last\"\n").stderr.contains("`attempts` is `last`"));
    let both = folder.line("compare before.jsonl after.jsonl -c run --format markdown").stdout;
    assert!(both.contains("attempts of \\`before.jsonl\\` stop at success"), "{both}");

    // The last three tasks: another number than the mean.
    let window = |tasks: &str| format!("[standing]\nscore = \"window\"\nwindow = {{ {tasks} }}\n");
    let card = |standing: &str| {
        let head = "schema = \"karat/scorecard/1\"\nid = \"own\"\nversion = \"0.1.0\"\ntitle = \"Own\"\nevidence = \"facts\"\n\
            mean = \"weighted-mean\"\nscale = { max = 100, publish = \"half-up\", places = 1 }\n[facts]\n\
            solved = { unit = \"1\", min = 0, max = 1, from = \"harness\" }\n[[dimension]]\nkey = \"solved\"\nweight = 1\n\
            formula = \"solved\"\nmissing = \"withhold\"\n";
        folder.write("card.toml", &format!("{head}{standing}"));
        folder.write("runs.jsonl", &runs(Order::Time));
        let board =
            answered(&folder.line("leaderboard -c card.toml runs.jsonl --attempts first --format json"));
        board["leaderboards"][0].clone()
    };
    assert_eq!(card(&window(""))["by"], "official");
    let windowed = card(&window("tasks = 3"));
    assert_eq!(windowed["by"], "mean");
    assert!(windowed["without_official"].as_str().unwrap().contains("the first of each task counts alone"));
}

#[test]
fn the_server_tells_attempts_that_stop_as_the_command_line_does() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    let text = runs(Order::Id);
    let (status, told) = server.post("application/x-ndjson", "/v1/evidence?card=run", &text);
    assert!((200..300).contains(&status), "{told}");
    let (status, board) = server.ask("GET", "/v1/leaderboards?card=run", "");
    assert_eq!(status, 200, "{board}");
    folder.write("runs.jsonl", &text);
    let of_program = answered(&folder.line("leaderboard -c run runs.jsonl --format json"));
    assert_eq!(rows(&serde_json::from_str(&board).unwrap()), rows(&of_program));
}
