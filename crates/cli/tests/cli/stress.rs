//! `karat stress` from outside: other weights, other means, what drives a score, what rank 1 depends on.

use insta::assert_snapshot;
use serde_json::Value;

use crate::common::{Folder, numbers};
use crate::leaderboard::{line, parsed};

/// Two dimensions of equal weight.
const CARD_OF_TWO: &str = r#"
schema = "karat/scorecard/1"
id = "two"
version = "1.0.0"
title = "Two"
evidence = "facts"
mean = "weighted-mean"
scale = { max = 100, publish = "half-up", places = 1 }
[facts]
x = { min = 0, max = 1 }
y = { min = 0, max = 1 }
[[dimension]]
key = "x"
weight = 0.5
[[dimension]]
key = "y"
weight = 0.5
"#;

fn stressed(items: &str, flags: &str) -> Value {
    let folder = Folder::new();
    folder.write("two.toml", CARD_OF_TWO);
    folder.write("items.jsonl", items);
    let arguments = format!("stress -c two.toml items.jsonl --draws 400 {flags}");
    parsed(&folder.karat(&arguments.split_whitespace().collect::<Vec<_>>()))
}

fn list<'a>(answer: &'a Value, path: &str) -> &'a [Value] {
    answer.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// `a` is better in `x`, `b` in `y`, and `a` a little more.
const CROSSED: &str = "{\"subject\":\"a\",\"x\":0.9,\"y\":0.5}\n{\"subject\":\"b\",\"x\":0.5,\"y\":0.8}\n";

#[test]
fn ranks_under_other_rules_are_those_computed_by_hand() {
    let found = stressed(CROSSED, "");
    let first_differs = |path: &str, name: &str| -> Vec<(String, bool)> {
        let each = list(&found, path).iter();
        each.map(|it| (it[name].as_str().unwrap_or_default().to_owned(), it["first_differs"] == true))
            .collect()
    };
    // Without x there are 0.5 and 0.8.
    let expected = [("x", true), ("y", false)].map(|(key, differs)| (key.to_owned(), differs));
    assert_eq!(first_differs("/robustness/without_dimension", "dimension"), expected);
    // sqrt(0.45) = 0.671 and sqrt(0.4) = 0.632; 0.643 and 0.615; 0.5 and 0.5, which is shared.
    let means = first_differs("/robustness/other_means", "mean");
    assert_eq!(means.len(), 4, "{means:?}");
    for (mean, differs) in means {
        assert_eq!(differs, mean == "minimum", "{mean}");
    }
}

#[test]
fn a_rank_is_kept_as_often_as_the_weights_allow() {
    let found = stressed(CROSSED, "");
    // `a` is ahead where 0.9 w + 0.5 (1 - w) > 0.5 w + 0.8 (1 - w), that is w > 3/7: 4/7 of all weights.
    let kept = found["robustness"]["weights_any"]["chance_of_same_rank_1"].as_f64().unwrap_or_default();
    assert!(
        (kept - 4.0 / 7.0).abs() < 0.08,
        "{kept}: 400 draws are within 0.08 in all but one of a thousand cases"
    );
    let around = |concentration: &str| {
        let found = stressed(CROSSED, &format!("--concentration {concentration}"));
        found["robustness"]["weights_around"]["chance_of_same_rank_1"].as_f64().unwrap_or_default()
    };
    assert!(around("10000") == 1.0 && around("2") < 0.8, "the closer to the card, the safer");
    let swaps = list(&found, "/robustness/weights_any/swaps");
    assert_eq!((swaps.len(), &swaps[0]["ahead"], &swaps[0]["behind"]), (1, &"a".into(), &"b".into()));
    let ranks = &list(&found, "/robustness/weights_any/subjects")[0]["ranks"];
    let sum: f64 = ranks.as_array().into_iter().flatten().filter_map(|it| it["chance"].as_f64()).sum();
    assert!((sum - 1.0).abs() < 1e-8, "{ranks}");
}

#[test]
fn the_headline_says_how_often_rank_1_stays_and_what_would_give_it_to_another() {
    let page = line("stress -c CARD RUNS --format html").stdout;
    for told in [
        "<h1>ibis is first by composite, and stays so under all weights near those of the scorecard</h1>",
        "Without solved or by the minimum mean, kite would be first.",
        "Without 3 of 16 tasks, kite would be first by score.",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    // Where weights decide, it says in which share.
    let folder = Folder::new();
    folder.write("two.toml", CARD_OF_TWO);
    folder.write("items.jsonl", CROSSED);
    let page =
        folder.karat(&["stress", "-c", "two.toml", "items.jsonl", "--draws", "400", "--html", "x.html"]);
    assert_eq!(page.status, 0, "{}", page.screen());
    let page = std::fs::read_to_string(folder.path().join("x.html")).unwrap();
    assert!(
        page.contains("a is first by composite, and stays so under ")
            && page.contains("% of the weights near"),
        "{page}"
    );
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let run = |seed: &str| line(&format!("stress -c CARD RUNS --concentration 5 --seed {seed}"));
    assert_eq!(run("1").stdout, run("1").stdout);
    assert_ne!(parsed(&run("1"))["robustness"], parsed(&run("2"))["robustness"]);
    let (alone, beside) =
        (parsed(&line("stress -c CARD RUNS")), parsed(&line("leaderboard --card CARD RUNS --robustness")));
    assert_eq!(alone["robustness"], beside["leaderboards"][0]["robustness"]);
}

#[test]
fn what_is_refused_and_how_it_is_mended() {
    let lines = [
        "stress -c CARD RUNS --where subject=heron", "stress -c CARD RUNS --concentration 0",
        "stress -c task-run RUNS", "stress -c arena RUNS", "stress -c CARD RUNS --where outcome=no-verdict",
        "stress -c CARD RUNS --level 0.99", "stress",
    ];
    let told = lines.map(|text| format!("$ karat {text}\n{}", line(text).screen()));
    assert_snapshot!(told.join("\n"));
}

/// A card of three levels: indicators in themes, themes in pillars, some indicators at higher levels.
fn tree(draw: &mut impl FnMut(u64) -> u64, dimensions: usize) -> String {
    let mut mean = || ["weighted-mean", "geometric", "harmonic", "minimum"][draw(4) as usize];
    let mut card = format!(
        "schema = \"karat/scorecard/1\"\nid = \"tree\"\nversion = \"1.0.0\"\ntitle = \"Tree\"\nevidence = \"facts\"\nmean = \"{}\"\n",
        mean()
    );
    let means: Vec<&str> = (0..6).map(|_| mean()).collect();
    for at in 0..dimensions {
        card += &format!("[facts.i{at}]\nmin = 0\nmax = 1\n");
    }
    for at in 0..dimensions {
        let weight = [0, 1, 2, 3, 5][draw(5) as usize] + u64::from(at <= 6);
        card += &format!("[[dimension]]\nkey = \"i{at}\"\nweight = {weight}\n");
        card += ["", "", "missing = \"zero\"\n", "missing = { default = 0.25 }\n"][draw(4) as usize];
        // The first is at the top, so that there is a composite; each group has a member.
        let group = if at <= 6 { at as u64 } else { draw(7) };
        if group > 0 {
            card += &format!("group = \"g{group}\"\n");
        }
    }
    for (at, mean) in (1..).zip(&means) {
        card += &format!("[[group]]\nkey = \"g{at}\"\nmean = \"{mean}\"\nweight = {}\n", 1 + draw(4));
        if at > 2 {
            card += &format!("group = \"g{}\"\n", 1 + (at % 2));
        }
    }
    card
}

/// Ranks by score are tested: groups keep their means, and gaps are treated as the card says.
#[test]
fn a_tree_of_groups_has_the_composites_of_its_scores() {
    let mut draw = numbers(11);
    let mut compared = 0;
    for round in 0..24 {
        let folder = Folder::new();
        let dimensions = 7 + draw(6) as usize;
        let card = tree(&mut draw, dimensions);
        folder.write("tree.toml", &card);
        let mut items = String::new();
        for subject in 0..12 {
            items += &format!("{{\"subject\": \"s{subject}\", \"id\": \"s{subject}\"");
            for at in 0..dimensions {
                if at == 0 || draw(5) > 0 {
                    items += &format!(", \"i{at}\": {}", draw(101) as f64 / 100.0);
                }
            }
            items += "}\n";
        }
        folder.write("items.jsonl", &items);
        let scored = folder.karat(&["score", "--json", "--card", "tree.toml", "items.jsonl"]);
        assert_eq!(scored.status, 0, "{}\n{card}", scored.stderr);
        let composites: Vec<(String, f64)> = scored
            .stdout
            .lines()
            .map(|record| serde_json::from_str::<Value>(record).unwrap_or_default())
            .map(|it| {
                (it["subject"].as_str().unwrap_or_default().into(), it["composite"].as_f64().unwrap_or(-1.0))
            })
            .collect();
        let found = parsed(&folder.karat(&["stress", "-c", "tree.toml", "items.jsonl", "--draws", "100"]));
        for it in list(&found, "/robustness/weights_around/subjects") {
            let own = composites.iter().find(|(subject, _)| it["subject"] == *subject).map(|it| it.1);
            let composite = it["composite"].as_f64();
            assert!(
                own.zip(composite).is_some_and(|(a, b)| (a - b).abs() < 2e-9),
                "round {round}: {own:?} and {composite:?} of {}\n{card}\n{items}",
                it["subject"]
            );
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared}");
}

/// Two of three indicators are in a group that counts half: left out, the third decides alone.
#[test]
fn groups_are_left_out_and_their_weights_vary() {
    let folder = Folder::new();
    let head = CARD_OF_TWO.replace("[facts]", "[facts]\nz = { min = 0, max = 1 }").replace("0.5", "1");
    let group = "\ngroup = \"g\"\n[[dimension]]\nkey = \"z\"\nweight = 1\ngroup = \"g\"\n[[group]]\nkey = \"g\"\nmean = \"minimum\"\nweight = 1\n";
    folder.write("three.toml", &format!("{}{group}", head.trim_end()));
    let items = "{\"subject\":\"a\",\"x\":0.9,\"y\":0.9,\"z\":0.2}\n{\"subject\":\"b\",\"x\":0.5,\"y\":0.8,\"z\":0.8}\n";
    folder.write("items.jsonl", items);
    let found = parsed(&folder.karat(&["stress", "-c", "three.toml", "items.jsonl", "--draws", "400"]));
    let rank_1: Vec<&Value> = list(&found, "/robustness/weights_around/subjects").iter().collect();
    // a: (0.9 + 0.2) / 2, b: (0.5 + 0.8) / 2.
    assert_eq!((&rank_1[0]["subject"], rank_1[0]["composite"].as_f64()), (&"b".into(), Some(65.0)));
    let without = &list(&found, "/robustness/without_group")[0];
    assert_eq!((&without["group"], &without["first"][0]), (&"g".into(), &"a".into()));
    let any = found.pointer("/robustness/weights_any/chance_of_same_rank_1").and_then(Value::as_f64);
    // b is ahead where 0.5 w + 0.8 (1 - w) > 0.9 w + 0.2 (1 - w): w < 0.6.
    assert!(any.is_some_and(|share| (share - 0.6).abs() < 0.08), "{any:?}");
}
