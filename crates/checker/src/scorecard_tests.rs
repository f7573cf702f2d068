//! One mistake, one finding: what only follows from a mistake is not said again.

use std::format;
use std::string::String;
use std::vec::Vec;

use crate::check_text;

/// A card in which every part leans on others.
const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "whole"
version = "1.0.0"
title = "A card with every part"
evidence = "facts"
mean = "weighted-sum"
scale = { max = 1000, publish = "floor" }
[facts]
good = { min = 0, max = "all", integer = true }
all = { min = 1, integer = true }
calm = { min = 0, max = 1 }
[let]
share = "good / all"
[[dimension]]
key = "solved"
weight = 0.5
formula = "share"
missing = "withhold"
[[dimension]]
key = "calm"
weight = 1
group = "manner"
missing = "withhold"
[[group]]
key = "manner"
weight = 0.5
[[rule]]
name = "bonus"
when = "share > 0.5"
set = "min(1, score + 0.001)"
[[gate]]
name = "veto"
when = "calm < 0.1"
cap = 300
tier = "low"
[[band]]
name = "poor"
from = 0
[[band]]
name = "fair"
from = 500
[[tier]]
name = "low"
score = 100
coverage = 0.5
mandatory = ["solved"]
[[tier]]
name = "high"
score = 500
coverage = 0.5
mandatory = ["calm"]
"#;

/// Profiles that replace the weights of the dimensions above.
const PROFILES: &str = r#"
[facts.job]
type = "text"
[profiles]
by = "job"
fallback = "usual"
[profiles.weights.usual]
solved = 0.5
calm = 1
[profiles.weights.rare]
solved = 0.5
calm = 1
"#;

fn with_profiles() -> String {
    let card = CARD.replace("weight = 0.5\nformula", "formula").replace("weight = 1\ngroup", "group");
    format!("{card}{PROFILES}")
}

/// Returns what is wrong with `card` when `from` is written `to` in it.
fn errors(card: &str, from: &str, to: &str) -> Vec<String> {
    assert_eq!(card.matches(from).count(), 1, "`{from}` stands in the card once");
    let checked = check_text(&card.replace(from, to), &|_| None);
    assert!(checked.card.is_none(), "`{to}` is no mistake");
    let errors =
        checked.diagnostics.iter().filter(|it| it.severity == karat_core::diagnostic::Severity::Error);
    errors.map(|it| format!("{} {}", it.code, it.message)).collect()
}

/// Checks every row: what is replaced by what, and how the one finding begins.
fn each_is_one_finding(card: &str, rows: &[(&str, &str, &str)]) {
    let wrong = |&(from, to, expected): &(&str, &str, &str)| {
        let found = errors(card, from, to);
        let is_one = found.len() == 1 && found.iter().all(|it| it.starts_with(expected));
        (!is_one).then(|| format!("{to}, expected {expected}: {found:#?}"))
    };
    let wrong: Vec<String> = rows.iter().filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_cards_are_right() {
    for card in [CARD, &with_profiles()] {
        let checked = check_text(card, &|_| None);
        assert!(checked.card.is_some(), "{:#?}", checked.diagnostics);
    }
}

#[test]
fn one_mistake_is_one_finding() {
    let told = [
        // Refused formulas and conditions leave weights, groups and tiers as they are.
        (
            "formula = \"share\"",
            "formula = \"shore\"",
            "KC102 there is no fact, constant, let or dimension `shore`",
        ),
        ("formula = \"share\"", "formula = \"share +\"", "KC201"),
        ("\"good / all\"", "\"good / \"", "KC201"),
        ("\"good / all\"", "1", "KC004 let `share` must be a formula in quotes"),
        ("weight = 1\ngroup", "formula = \"rash\"\nweight = 1\ngroup", "KC102"),
        // A weight that is misspelt or refused is not missed, and nothing is summed up without it.
        ("weight = 0.5\nformula", "wieght = 0.5\nformula", "KC002 dimension `solved` has no field `wieght`"),
        (
            "weight = 0.5\nformula",
            "weight = -0.5\nformula",
            "KC005 `weight` of dimension `solved` is negative",
        ),
        ("weight = 0.5\nformula", "weight = \"0.5\"\nformula", "KC004 `weight` of dimension `solved`"),
        ("weight = 0.5\nformula", "formula", "KC003 dimension `solved` needs `weight`"),
        ("weight = 0.5\n[[rule]]", "wieght = 0.5\n[[rule]]", "KC002 group `manner` has no field `wieght`"),
        ("weight = 0.5\n[[rule]]", "weight = -0.5\n[[rule]]", "KC005 `weight` of group `manner` is negative"),
        ("weight = 0.5\n[[rule]]", "weight = 0.4\n[[rule]]", "KC103 the weights sum to 0.9"),
        // A group with a member too few is not also empty or out of sum.
        ("group = \"manner\"", "group = \"manners\"", "KC102 there is no group `manners`"),
        ("key = \"calm\"\n", "", "KC003 dimension needs `key`"),
        ("key = \"manner\"\n", "", "KC003 group needs `key`"),
        // Points are not held against a scale that was refused.
        ("scale = { max = 1000, publish = \"floor\" }", "scale = 1000", "KC004 `scale` of a scorecard"),
        ("max = 1000", "max = \"1000\"", "KC005 `max` of scale must be a whole number"),
        ("scale =", "scael =", "KC002 a scorecard has no field `scael`"),
        ("mean = \"weighted-sum\"", "mean = \"weighted-some\"", "KC005 `mean` of a scorecard"),
        // The entries of lists that were refused are not unknown.
        ("[facts]", "[fact]", "KC002 a scorecard has no field `fact`"),
        ("calm = { min = 0, max = 1 }", "calm = 1", "KC004 fact `calm` must be a table"),
        ("name = \"low\"\nscore", "score", "KC003 tier needs `name`"),
        (
            "name = \"poor\"\nfrom = 0",
            "name = \"poor\"\nfrom = -1",
            "KC005 `from` of band `poor` is negative",
        ),
        ("score = 500", "score = -500", "KC005 `score` of tier `high` is negative"),
        ("evidence =", "evidense =", "KC002 a scorecard has no field `evidense`"),
        ("max = \"all\"", "max = \"good\"", "KC005 fact `good` cannot be its own `max`"),
    ];
    each_is_one_finding(CARD, &told);
}

#[test]
fn one_mistake_about_profiles_is_one_finding() {
    let card = with_profiles();
    let told = [
        ("by = \"job\"", "by = \"jab\"", "KC102 there is no text fact `jab`"),
        ("by = \"job\"\n", "", "KC003 profiles needs `by`"),
        ("fallback = \"usual\"", "fallback = \"casual\"", "KC102 there is no profile `casual`"),
        (
            "formula = \"share\"",
            "formula = \"shore\"",
            "KC102 there is no fact, constant, let or dimension `shore`",
        ),
        (
            "[profiles.weights.rare]\nsolved",
            "[profiles.weights.rare]\nsolid",
            "KC102 there is no dimension `solid`",
        ),
        ("[profiles.weights.rare]\nsolved = 0.5", "[profiles.weights.rare]\nsolved = -1", "KC005"),
        (
            "[profiles.weights.rare]\nsolved = 0.5\n",
            "[profiles.weights.rare]\n",
            "KC108 profile `rare` has no weight for `solved`",
        ),
        (
            "[profiles.weights.rare]\nsolved = 0.5",
            "[profiles.weights.rare]\nsolved = 0.4",
            "KC103 the weights of profile `rare` sum to 0.9",
        ),
    ];
    each_is_one_finding(&card, &told);
}

#[test]
fn two_mistakes_are_two_findings() {
    let card = CARD.replace("formula = \"share\"", "formula = \"shore\"");
    let found = errors(&card, "weight = 0.5\n[[rule]]", "weight = 0.4\n[[rule]]");
    assert_eq!(found.len(), 2, "{found:#?}");
    let card = CARD.replace("weight = 1\n", "weight = -1\n");
    let found = errors(&card, "when = \"share > 0.5\"", "when = \"shore > 0.5\"");
    assert_eq!(found.len(), 2, "{found:#?}");
}
