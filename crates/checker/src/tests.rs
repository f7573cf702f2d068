//! Cards from text, and what the checker says about them.

use std::format;
use std::string::String;
use std::vec::Vec;

use super::*;

/// Returns what is found in a card with the given body after a plain head.
pub(super) fn checked(body: &str) -> Checked {
    let head = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n";
    check_text(&format!("{head}{body}"), &|_| None)
}

/// Returns `KC203 error: message` for each finding.
pub(super) fn said(body: &str) -> Vec<String> {
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let found = checked(body).diagnostics;
    found.iter().map(|it| format!("{} {}: {}", it.code, word(it.severity), it.message)).collect()
}

/// Returns what is found in a card with one dimension of the given formula, over facts of every sort.
pub(super) fn about_formula(formula: &str) -> Vec<String> {
    said(&about_body(formula))
}

fn about_body(formula: &str) -> String {
    format!(
        "[facts]\nunit = {{ min = 0, max = 1 }}\nany = {{ }}\npart = {{ min = 0, max = \"whole\" }}\nwhole = {{ min = 0 }}\n\
         tao = {{ unit = \"TAO\", min = 0 }}\nbudget = {{ unit = \"TAO\", min = 0 }}\nseconds = {{ unit = \"s\", min = 1 }}\n\
         yes = {{ type = \"boolean\" }}\nwords = {{ type = \"text\" }}\n\
         [[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"{formula}\"\nmissing = \"withhold\"\n"
    )
}

/// Returns whether some finding starts with `start`.
fn has(found: &[String], start: &str) -> bool {
    found.iter().any(|it| it.starts_with(start))
}

#[test]
fn types_must_fit() {
    for (formula, message) in [
        ("if(unit, 1, 0)", "`unit` is a number, but a condition is needed here"),
        ("if(yes and 1, 1, 0)", "`1` is a number, but a condition is needed here"),
        ("if(not (yes * 1), 1, 0)", "`(yes * 1)` is a number, but a condition is needed here"),
        ("if(coalesce(yes, 0.5), 1, 0)", "`coalesce(yes, 0.5)` is a number, but a condition is needed here"),
        ("if(words == words, 1, 0)", "`words` is a text, which no formula can read"),
    ] {
        let found = about_formula(formula);
        assert!(has(&found, &format!("KC202 error: {message}")), "{formula}: {found:#?}");
    }
    for formula in
        ["if(yes == (unit > 0.5), 1, 0)", "if(is_missing(tao), 1, 0)", "if(coalesce(yes, true), 1, 0)"]
    {
        assert!(!has(&about_formula(formula), "KC202"), "{formula}");
    }
}

#[test]
fn a_condition_is_1_or_0_where_a_number_is_needed() {
    for (formula, low, high) in [
        ("yes", 0.0, 1.0),
        ("not yes", 0.0, 1.0),
        ("true", 1.0, 1.0),
        ("0.5 * yes + 0.25 * (unit > 0.5)", 0.0, 0.75),
        ("clamp(yes - unit, 0, 1)", 0.0, 1.0),
        ("if(unit > 0.5, yes, 0.5)", 0.0, 1.0),
        ("if(yes == 1, 0.25, 0.5)", 0.25, 0.5),
        ("if(yes < 0.5, 0.25, 0.5)", 0.25, 0.5),
        ("min(yes, 0.5)", 0.0, 0.5),
        ("coalesce(yes, 0.5)", 0.0, 1.0),
        ("pow(0.5, yes)", 0.5, 1.0),
        ("clamp(tao * yes / max(1, budget), 0, 1)", 0.0, 1.0),
    ] {
        let body = about_body(formula);
        let found = checked(&body);
        let errors: Vec<_> = found.diagnostics.iter().filter(|it| it.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{formula}: {errors:#?}");
        let readings = found.report.unwrap().readings;
        assert_eq!(readings[0].1, Interval { low, high }, "{formula}");
    }
    assert!(has(&about_formula("clamp(yes + tao, 0, 1)"), "KC203 error: no unit and TAO cannot be added"));
}

#[test]
fn units_must_fit() {
    for (formula, message) in [
        ("clamp((tao + seconds) / budget, 0, 1)", "TAO and s cannot be added"),
        ("if(tao < seconds, 1, 0)", "TAO and s cannot be compared"),
        ("clamp(tao, 0, 1)", "the value is in TAO, but a score has no unit"),
        ("clamp(tao * budget / seconds, 0, 1)", "the value is in TAO^2 s^-1, but a score has no unit"),
        ("clamp(sqrt(tao), 0, 1)", "the value is in TAO^0.5, but a score has no unit"),
        ("exp(-tao)", "`exp` takes a number without a unit, not TAO"),
        ("clamp(unit + tao, 0, 1)", "no unit and TAO cannot be added"),
    ] {
        let found = about_formula(formula);
        assert!(has(&found, &format!("KC203 error: {message}")), "{formula}: {found:#?}");
    }
    for formula in [
        "if(tao > 3, 1, 0)",
        "clamp(1 - max(tao, 1) / max(budget, 1), 0, 1)",
        "clamp(sqrt(tao * budget) / max(1, budget), 0, 1)",
        "if(seconds * tao < 5 * tao * seconds, 1, 0)",
    ] {
        assert!(!has(&about_formula(formula), "KC203"), "{formula}: {:#?}", about_formula(formula));
    }
}

#[test]
fn a_value_must_stay_within_0_and_1() {
    for formula in
        ["any", "unit + 0.1", "unit - 0.1", "unit / 0.5", "whole / (1 + whole)", "if(yes, unit, 2)"]
    {
        let found = about_formula(formula);
        assert!(has(&found, "KC205 error: the value of `d` is not proved"), "{formula}: {found:#?}");
    }
    for formula in [
        "unit",
        "1 - unit",
        "clamp(any, 0, 1)",
        "if(whole > 0, part / whole, 0)",
        "if(budget > 0, max(0, 1 - tao / budget), 0)",
        "if(any >= 0 and any <= 1, any, 0)",
        "if(not (any < 0 or any > 1), any, 0)",
        "if(any > 1, 1 / any, 0.5)",
        "0.1 * unit + 0.2 * unit + 0.7 * unit",
        "exp(-whole)",
    ] {
        let found = about_formula(formula);
        assert!(!has(&found, "KC205"), "{formula}: {found:#?}");
    }
}

#[test]
fn the_message_of_an_unproved_value_names_what_was_found() {
    let checked = checked(
        "[facts]\nx = { min = 0, max = 3 }\n[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"x / 2\"\n",
    );
    let found = checked.diagnostics.iter().find(|it| it.severity == Severity::Error).unwrap();
    assert_eq!(found.label, "0 to 1.5");
    assert!(found.help.contains("clamp(..., 0, 1)"), "{}", found.help);
    assert!(checked.card.is_none());
}

#[test]
fn what_may_have_no_value_is_told() {
    for (formula, part) in [
        ("clamp(1 / whole, 0, 1)", "`whole` is 0"),
        ("clamp(sqrt(any), 0, 1)", "`any` is negative"),
        ("clamp(ln(unit), 0, 1)", "`unit` is 0 or less"),
        ("clamp(pow(any, 2), 0, 1)", "`any` is 0 or less"),
        ("if(whole >= 0, part / whole, 0)", "`whole` is 0"),
    ] {
        let found = about_formula(formula);
        assert!(
            found.iter().any(|it| it.starts_with("KC207 warning") && it.ends_with(part)),
            "{formula}: {found:#?}"
        );
    }
    for formula in [
        "clamp(1 / seconds / seconds * tao / max(budget, 1) * seconds * seconds, 0, 1)",
        "if(whole != 0, part / whole, 0)",
        "if(whole == 0, 0, part / whole)",
        "if(unit > 0, clamp(ln(unit), 0, 1), 0)",
        "clamp(sqrt(whole), 0, 1)",
    ] {
        assert!(!has(&about_formula(formula), "KC207"), "{formula}: {:#?}", about_formula(formula));
    }
}

#[test]
fn a_let_is_guarded_where_it_is_used() {
    let body = |formula: &str| {
        format!(
            "[facts]\na = {{ min = 0, max = \"b\" }}\nb = {{ min = 0 }}\n[let]\nshare = \"a / b\"\nany = \"b > 0\"\n\
             [[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"{formula}\"\n"
        )
    };
    assert!(!has(&said(&body("if(b > 0, share, 0)")), "KC207"));
    assert!(!has(&said(&body("if(any, share, 0)")), "KC207"), "a condition is looked up through its let");
    assert!(has(&said(&body("share")), "KC207 warning: `a / b` has no value where `b` is 0"));
}

#[test]
fn a_rule_must_keep_the_score_within_0_and_1() {
    let rule = |set: &str| {
        said(&format!(
            "[facts]\nd = {{ min = 0, max = 1 }}\n[[dimension]]\nkey = \"d\"\nweight = 1\n\
             [[rule]]\nname = \"r\"\nwhen = \"score <= 0.5\"\nset = \"{set}\"\n"
        ))
    };
    assert!(has(&rule("score + 0.6"), "KC205 error: the score set by `r` is not proved"));
    assert!(!has(&rule("score + 0.5"), "KC205"), "its condition bounds the score");
}

#[test]
fn deep_nesting_stays_quick() {
    let mut nested = String::from("unit");
    for _ in 0..60 {
        nested = format!("if({nested}>0,1,0)");
    }
    about_formula(&nested);
    let long = std::iter::repeat_n("unit", 400).collect::<Vec<_>>();
    assert!(has(&about_formula(&long.join("+")), "KC205"));
    assert!(!has(&about_formula(&long.join("*")), "KC205"));
    let mut body = String::from("[facts]\nx = { min = 0, max = 1 }\n[let]\nl0 = \"x\"\n");
    for level in 1..200 {
        let below = level - 1;
        body += &format!("l{level} = \"if(l{below} > 0.5, l{below} + l{below} - l{below}, l{below} / 2)\"\n");
    }
    body += "[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"clamp(l199, 0, 1)\"\n";
    assert!(checked(&body).card.is_some());
}

/// Returns a card with two facts and two dimensions, the second as given.
fn pair(second: &str, rest: &str) -> String {
    format!(
        "mean = \"weighted-sum\"\nscale = {{ max = 100 }}\n[facts]\na = {{ min = 0, max = 1 }}\nb = {{ min = 0, max = 1 }}\n\
         n = {{ min = 0, integer = true }}\n\
         [[dimension]]\nkey = \"a\"\nweight = 0.6\n[[dimension]]\nkey = \"b\"\nweight = 0.4\n{second}\n{rest}"
    )
}

/// Returns the cliffs of a card: condition and points.
fn cliffs(body: &str) -> Vec<(String, f64)> {
    let cliffs = checked(body).report.unwrap().cliffs;
    cliffs.into_iter().map(|cliff| (cliff.condition, cliff.points)).collect()
}

fn near(found: &[(String, f64)], expected: &[(&str, f64)]) -> bool {
    found.len() == expected.len()
        && found.iter().zip(expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6)
}

#[test]
fn cliffs_have_their_size() {
    for (second, rest, expected) in [
        ("when = \"a > 0.7\"", "", [("a > 0.7", 40.0)].as_slice()),
        ("when = \"a > 0.7\"\nformula = \"b / 2\"", "", &[("a > 0.7", 20.0)]),
        ("formula = \"b * if(n > 2, 1, 0.5)\"", "", &[("n > 2", 20.0)]),
        ("formula = \"if(b >= 0.25, 1, 0.25)\"", "", &[("b >= 0.25", 30.0)]),
        // A kink is not a cliff, and neither is the slope of a count.
        ("formula = \"if(b >= 0.5, 1, b * 2)\"", "", &[]),
        ("formula = \"if(n >= 10, 1, n / 10)\"", "", &[]),
        // Nor a guard against a division by zero.
        ("formula = \"if(n > 0, 1 / n, 0)\"", "", &[]),
        ("", "[[rule]]\nname = \"r\"\nwhen = \"n > 2\"\nset = \"min(1, score + 0.1)\"", &[("n > 2", 10.0)]),
        ("", "[[rule]]\nname = \"r\"\nwhen = \"score >= 0.9\"\nset = \"1\"", &[("score >= 0.9", 10.0)]),
        ("", "[[rule]]\nname = \"r\"\nwhen = \"n == 1\"\nset = \"0.1\"", &[("n == 1", 90.0)]),
        ("", "[[gate]]\nname = \"g\"\nwhen = \"b < 0.25\"\ncap = 40", &[("b < 0.25", 60.0)]),
        ("", "[[gate]]\nname = \"g\"\nwhen = \"is_missing(b)\"\ncap = 40", &[]),
    ] {
        let found = cliffs(&pair(second, rest));
        assert!(near(&found, expected), "{second}{rest}: {found:?}");
    }
}

#[test]
fn dimensions_behind_one_gate_fall_together() {
    let body = pair("when = \"n >= 3\"", "")
        .replace("key = \"a\"\nweight = 0.6", "key = \"a\"\nweight = 0.6\nwhen = \"n>=3\"");
    let cliffs = checked(&body).report.unwrap().cliffs;
    assert_eq!(cliffs.len(), 1);
    assert_eq!((cliffs[0].points, cliffs[0].about.as_slice()), (100.0, ["a".into(), "b".into()].as_slice()));
}

#[test]
fn strict_thresholds_are_told_where_values_are_continuous() {
    let rule = |when: &str| {
        said(&pair("", &format!("[[rule]]\nname = \"r\"\nwhen = \"{when}\"\nset = \"min(1, score + 0.1)\"")))
    };
    for strict in ["a > 0.7", "0.7 < a", "score > 0.5", "n / 3 > 1"] {
        assert!(has(&rule(strict), "KC306 warning"), "{strict}");
    }
    for fine in ["a >= 0.7", "n > 2", "a > 0", "a < 0.7", "n + 1 > 2"] {
        assert!(!has(&rule(fine), "KC306"), "{fine}");
    }
}

#[test]
fn what_never_matters_is_told() {
    for (second, rest, expected) in [
        ("when = \"a >= 0\"", "", "KC307 warning: `a >= 0` is always true"),
        ("formula = \"if(n < 0, 1, b)\"", "", "KC307 warning: `n < 0` is always false"),
        (
            "",
            "[[gate]]\nname = \"g\"\nwhen = \"a < 0.5\"\ncap = 100",
            "KC307 warning: `g` takes nothing away",
        ),
        (
            "formula = \"b / 2\"",
            "[[tier]]\nname = \"t\"\nrequire = { b = 0.6 }\nscore = 50",
            "KC307 warning: `t` is never reached: `b` cannot reach its floor",
        ),
    ] {
        let found = said(&pair(second, rest));
        assert!(has(&found, expected), "{second}{rest}: {found:#?}");
    }
    assert!(!has(&said(&pair("", "")), "KC307"));
}

#[test]
fn a_keep_turns_a_warning_into_a_note_and_must_have_one() {
    let keep = |code: &str, at: &str| {
        said(&pair(
            "when = \"a >= 0.7\"",
            &format!("[[keep]]\ncode = \"{code}\"\nat = \"{at}\"\nwhy = \"because\""),
        ))
    };
    assert!(has(&keep("KC301", "b"), "KC301 note"));
    let other = keep("KC301", "a");
    assert!(
        has(&other, "KC301 warning") && has(&other, "KC208 warning: there is no warning KC301 at `a`"),
        "{other:#?}"
    );
    assert!(has(&keep("KC308", "b"), "KC308 note: `b` depends on more than the evidence item"));
    assert!(!has(&keep("KC308", "b"), "KC208 warning: there is no warning"));
}

#[test]
fn the_largest_card_is_checked_in_seconds() {
    // Lists of 256, formulas of 2048 bytes, each reading every earlier one it has room for.
    let mut body = String::from("mean = \"weighted-mean\"\n[facts]\n");
    for at in 0..256 {
        body += &format!("f{at} = {{ min = 0, from = \"subject\" }}\n");
    }
    body += "[let]\n";
    for at in 0..256 {
        let mut formula = format!("f{at}");
        let mut below = at;
        while formula.len() < 1900 && below > 0 {
            below -= 1;
            formula = format!("{formula} + if(l{below} > f{below}, l{below} / f{at}, f{below})");
        }
        body += &format!("l{at} = \"{formula}\"\n");
    }
    for at in 0..256 {
        let mut formula = String::from("f0");
        for level in 0..60 {
            formula = format!("if({formula}>l{},l{},f{at})", (at + level) % 256, level);
        }
        body += &format!(
            "[[dimension]]\nkey = \"d{at}\"\nweight = 1\nformula = \"clamp({formula}, 0, 1)\"\nwhen = \"l{at} > 3\"\n"
        );
    }
    assert!(body.len() < 1 << 20, "{}", body.len());
    let checked = checked(&body);
    assert!(
        checked.card.is_some(),
        "{:?}",
        checked.diagnostics.iter().find(|it| it.severity == Severity::Error)
    );
}
