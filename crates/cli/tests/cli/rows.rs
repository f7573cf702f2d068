//! Items of leaderboards: in any order, as records or evidence, once each, and only if they belong together.

use insta::assert_snapshot;

use crate::common::{Folder, example, karat, karat_reading};
use crate::leaderboard::{CARD, RUNS, line, parsed};

#[test]
fn order_does_not_matter_and_records_are_as_good_as_evidence() {
    let text = example("leaderboard/runs.csv");
    let (head, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().rev().collect();
    let folder = Folder::new();
    for (name, part) in [("one.csv", &rows[..100]), ("two.csv", &rows[100..])] {
        folder.write(name, &format!("{head}\n{}\n", part.join("\n")));
    }
    let [one, two] = ["one.csv", "two.csv"].map(|name| folder.path().join(name).display().to_string());
    let flags = "leaderboard --card CARD --attempts 3 --robustness";
    let expected = line(&format!("{flags} RUNS"));
    assert_eq!(expected.status, 0);
    for files in [format!("{one} {two}"), format!("{two} {one}")] {
        assert_eq!(line(&format!("{flags} {files}")).stdout, expected.stdout);
    }
    let records = karat(&["score", "--card", CARD, RUNS]);
    folder.write("records.jsonl", &records.stdout);
    let records = folder.path().join("records.jsonl").display().to_string();
    assert_eq!(line(&format!("{flags} {records}")).stdout, expected.stdout);
    // An item given twice counts once, in any form, and is reported.
    let twice = line(&format!("{flags} {records} RUNS"));
    let mut again = parsed(&twice);
    assert_eq!((again["items"]["count"].take(), again["items"]["repeated"].take()), (240.into(), 240.into()));
    let mut once = parsed(&expected);
    assert_eq!((once["items"]["count"].take(), once["items"]["repeated"].take()), (240.into(), 0.into()));
    assert_eq!(again, once);
    let screen = line(&format!("leaderboard --card CARD --table RUNS {records}")).stdout;
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("240 items given again, which count once"), "{screen}");
}

#[test]
fn challenges_of_a_family_are_one_board() {
    let score = |card: &str, file: &str| karat(&["score", "--card", card, file]).stdout;
    let review = score("incident-review", "examples/arena/documented-823.json");
    let forensics = score("log-forensics", "examples/arena/timed.jsonl");
    let run = karat_reading(&["leaderboard", "--table"], &format!("{review}{forensics}"));
    assert_snapshot!(run.screen());
    let other_way = karat_reading(&["leaderboard", "--table"], &format!("{forensics}{review}"));
    assert_eq!(other_way.stdout, run.stdout);
    let workflow = score("workflow", "examples/workflow/closed-gate.json");
    assert_snapshot!(karat_reading(&["leaderboard"], &format!("{review}{workflow}")).screen());
    assert_snapshot!(
        karat_reading(&["leaderboard", "--robustness"], &format!("{review}{forensics}")).screen()
    );
}

#[test]
fn a_false_record_is_refused() {
    let records = karat(&["score", "--card", "workflow", "examples/workflow/retries.jsonl"]).stdout;
    let false_records = records.replace("\"exact\":0.", "\"exact\":0.1");
    assert_ne!(records, false_records);
    assert_snapshot!(karat_reading(&["leaderboard"], &false_records).screen());
}

#[test]
fn a_card_that_is_not_at_hand_is_missed_once() {
    let records = karat(&["score", "--card", CARD, RUNS]).stdout;
    assert_snapshot!(karat_reading(&["leaderboard"], &records).screen());
    let run = karat_reading(&["leaderboard", "--card", CARD], &records);
    assert_eq!(parsed(&run)["items"]["count"], 240);
    // All records are by another card than the one given.
    let run = karat_reading(&["leaderboard", "--card", "trace"], &records);
    assert_eq!(run.status, 14);
    assert!(
        run.stderr.contains("240 items are refused") && run.stderr.contains("and 220 more"),
        "{}",
        run.stderr
    );
}

#[test]
fn one_id_with_two_contents_is_refused() {
    let rows = "subject,task,id,outcome,solved\na,t1,1,succeeded,1\na,t2,2,failed,0\na,t1,1,failed,0\n";
    assert_snapshot!(karat_reading(&["leaderboard", "--card", CARD], rows).screen());
    // The same facts, but of another task.
    let other_task = "subject,task,id,outcome,solved\na,t1,1,succeeded,1\na,t2,1,succeeded,1\n";
    let run = karat_reading(&["leaderboard", "--card", CARD], other_task);
    run.ends(1, "that differ");
}

#[test]
fn a_subject_renamed_half_way_is_one() {
    let flags = "leaderboard --card CARD --table";
    let text = example("leaderboard/runs.csv");
    let folder = Folder::new();
    // From the second attempt on, ibis has another name.
    let later: Vec<String> = text
        .lines()
        .map(|line| match line.split(',').nth(2).is_some_and(|id| id.ends_with("-2") || id.ends_with("-3")) {
            true => line.replacen("ibis,", "sacred-ibis,", 1),
            false => line.to_owned(),
        })
        .collect();
    folder.write("later.csv", &later.join("\n"));
    let file = folder.path().join("later.csv").display().to_string();
    let known = line(&format!("{flags} RUNS"));
    assert_ne!(line(&format!("{flags} {file}")).stdout, known.stdout);
    assert_eq!(line(&format!("{flags} --rename sacred-ibis=ibis {file}")).stdout, known.stdout);
    let chosen = line(&format!("{flags} --rename sacred-ibis=ibis --where subject=ibis {file}"));
    assert!(chosen.stdout.contains("48 items of 1 subject"), "{}", chosen.stdout);
    for (wrong, why) in [
        ("--rename scared-ibis=ibis", "did you mean `sacred-ibis`?"),
        ("--rename a=b --rename a=c", "gives `a` two new names"),
        ("--rename a=b --rename b=c", "and on from there"),
    ] {
        let refused = line(&format!("{flags} {wrong} {file}"));
        assert_eq!((refused.status, refused.stdout.as_str()), (1, ""), "{wrong}");
        assert!(refused.stderr.contains(why), "{wrong}: {}", refused.stderr);
    }
}
