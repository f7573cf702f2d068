//! `docs/guide/diagnostics.md` runs: every code is there, its wrong example causes it, its right example does not.

use karat_checker::check_text;
use karat_core::diagnostic::{Code, Diagnostic, Severity};

/// The page with an example for every code.
pub const GUIDE: &str = include_str!("../../../../docs/guide/diagnostics.md");

/// Returns the examples in a part of the page: a card that causes the code, and the same without the cause.
pub fn examples(text: &str) -> Vec<(String, String)> {
    let blocks = text.split("```diff\n").skip(1).filter_map(|rest| rest.split("```").next());
    let with = |block: &str, sign: char| -> String {
        let lines = block.lines().filter_map(|line| line.strip_prefix([' ', sign]));
        lines.map(|line| format!("{line}\n")).collect()
    };
    blocks.map(|block| (with(block, '-'), with(block, '+'))).collect()
}

/// Returns the section of a code, without its heading; empty if it has no section.
fn section(code: Code) -> &'static str {
    let heading = format!("### {code} {}\n", code.about());
    let rest = GUIDE.split_once(&heading).map_or("", |(_, rest)| rest);
    rest.split("\n### ").next().unwrap_or(rest)
}

/// Returns the card of an example, with a head before it, and after it the parts that it does not give itself.
fn card(example: &str) -> String {
    let mut card = String::from(
        "schema = \"karat/scorecard/1\"\nid = \"example\"\nversion = \"1.0.0\"\ntitle = \"Example\"\n",
    );
    let is_challenge = example.contains("base =");
    if !is_challenge {
        card += "evidence = \"facts\"\n";
    }
    card += example;
    if !example.contains("[facts]") && !is_challenge {
        card += "\n[facts]\nquality = { min = 0, max = 1 }\n";
    }
    if !example.contains("[[dimension]]") && !is_challenge {
        card += "\n[[dimension]]\nkey = \"quality\"\nweight = 1\nmissing = \"withhold\"\n";
    }
    card
}

fn found(example: &str) -> Vec<Diagnostic> {
    check_text(&card(example), &|_| None).diagnostics
}

#[test]
fn every_code_has_examples_that_are_right_about_it() {
    let mut problems = Vec::new();
    for &code in Code::ALL.iter().filter(|&&code| code != Code::TooLarge) {
        let examples = examples(section(code));
        if examples.is_empty() {
            problems.push(format!("{code}: no example under `{}`", code.about()));
        }
        for (wrong, right) in examples {
            let (wrong, right) = (found(&wrong), found(&right));
            if !wrong.iter().any(|it| it.code == code) {
                problems.push(format!("{code}: a wrong example gives {wrong:#?}"));
            }
            if right.iter().any(|it| it.code == code || it.severity == Severity::Error) {
                problems.push(format!("{code}: a right example gives {right:#?}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(GUIDE.matches("\n### ").count(), Code::ALL.len(), "a section without a code");
}

#[test]
fn a_card_that_is_too_large_is_refused() {
    assert!(!section(Code::TooLarge).is_empty());
    let found = found(&format!("# {}\n", "x".repeat(1 << 20)));
    assert!(found.iter().any(|it| it.code == Code::TooLarge), "{found:#?}");
}

#[test]
fn every_finding_says_where_and_most_say_how_to_mend_it() {
    let codes = Code::ALL.iter().filter(|&&code| code != Code::TooLarge);
    for (example, _) in codes.flat_map(|&code| examples(section(code))) {
        let text = card(&example);
        for it in found(&example) {
            assert!(
                text.get(it.span.clone()).is_some(),
                "{}: {:?} is no place in the file",
                it.code,
                it.span
            );
            assert!(!it.message.is_empty() && !it.message.contains('\n'), "{}: {}", it.code, it.message);
            assert!(!it.message.ends_with('.') && !it.help.ends_with("; "), "{}: {}", it.code, it.message);
            let is_formula = it.code.as_str() >= "KC202" && it.code != Code::Arguments;
            assert!(!is_formula || !it.help.is_empty(), "{} has no help: {}", it.code, it.message);
        }
    }
}
