//! Cards from text, and what the checker says about them.

use std::format;
use std::string::String;
use std::vec::Vec;

use super::*;

/// What is found in a card with the given body after a plain head.
pub(super) fn checked(body: &str) -> Checked {
    let head = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n";
    check_text(&format!("{head}{body}"), &|_| None)
}

/// `KC203 error: message`, one for each finding.
pub(super) fn said(body: &str) -> Vec<String> {
    let word = |severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let found = checked(body).diagnostics;
    found.iter().map(|it| format!("{} {}: {}", it.code, word(it.severity), it.message)).collect()
}

/// What is found in a card with one dimension of the given formula, over facts of every sort.
pub(super) fn about_formula(formula: &str) -> Vec<String> {
    said(&format!(
        "[facts]\nunit = {{ min = 0, max = 1 }}\nany = {{ }}\npart = {{ min = 0, max = \"whole\" }}\nwhole = {{ min = 0 }}\n\
         tao = {{ unit = \"TAO\", min = 0 }}\nbudget = {{ unit = \"TAO\", min = 0 }}\nseconds = {{ unit = \"s\", min = 1 }}\n\
         yes = {{ type = \"boolean\" }}\nwords = {{ type = \"text\" }}\n\
         [[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"{formula}\"\nmissing = \"withhold\"\n"
    ))
}

/// Whether some finding starts with `start`.
fn has(found: &[String], start: &str) -> bool {
    found.iter().any(|it| it.starts_with(start))
}

#[test]
fn types_must_fit() {
    for (formula, message) in [
        ("clamp(yes, 0, 1)", "`yes` is a condition, but a number is needed here"),
        ("if(unit, 1, 0)", "`unit` is a number, but a condition is needed here"),
        ("if(yes and 1, 1, 0)", "`1` is a number, but a condition is needed here"),
        ("if(yes == 1, 1, 0)", "`1` is a number, but a condition is needed here"),
        ("if(yes, yes, 0)", "`0` is a number, but a condition is needed here"),
        ("yes", "`yes` is a condition, but a number is needed here"),
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
    let mut body = String::from("[facts]\nx = { min = 0, max = 1 }\n[let]\nl0 = \"x\"\n");
    for level in 1..200 {
        let below = level - 1;
        body += &format!("l{level} = \"if(l{below} > 0.5, l{below} + l{below} - l{below}, l{below} / 2)\"\n");
    }
    body += "[[dimension]]\nkey = \"d\"\nweight = 1\nformula = \"clamp(l199, 0, 1)\"\n";
    assert!(checked(&body).card.is_some());
}
