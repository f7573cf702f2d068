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

#[test]
fn dimensions_behind_one_gate_fall_together() {
    let body = pair("when = \"n >= 3\"", "")
        .replace("key = \"a\"\nweight = 0.6", "key = \"a\"\nweight = 0.6\nwhen = \"n>=3\"");
    let cliffs = checked(&body).report.unwrap().cliffs;
    assert_eq!(cliffs.len(), 1);
    assert_eq!((cliffs[0].points, cliffs[0].about.as_slice()), (100.0, ["a".into(), "b".into()].as_slice()));
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
