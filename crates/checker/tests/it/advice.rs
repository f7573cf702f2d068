//! The advice of a message passes the check: every hint is followed to the letter, and the finding is gone, without a new one.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use karat_checker::check_text;
use karat_core::diagnostic::{Code, Diagnostic, Severity};

use serde_json::Value;

use crate::diagnostics::{GUIDE, examples};

const HEAD: &str = "schema = \"karat/scorecard/1\"\nid = \"t\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\nscale = { max = 100 }\n";

const ADVICE: &str = include_str!("../advice.json");

/// A card with something wrong, and how its hint is followed.
struct Case {
    code: String,
    card: String,
    /// Words of the message that is meant.
    message: String,
    /// The replacements in the card; `{0}`, `{1}` are the parts of the hint in backticks.
    edits: Vec<[String; 2]>,
}

impl Case {
    fn means(&self, found: &Diagnostic) -> bool {
        self.code == found.code.as_str() && found.message.contains(&self.message)
    }
}

fn all() -> Vec<Case> {
    let advice: Value = serde_json::from_str(ADVICE).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (head, end) = (text(&advice["head"]), text(&advice["end"]));
    let case = |case: &Value| {
        let card = text(&case["card"]);
        let card = if card.starts_with("schema") { card } else { format!("{head}{card}{end}") };
        let edit = |edit: &Value| [text(&edit[0]), text(&edit[1])];
        let edits = case["edits"].as_array().unwrap().iter().map(edit).collect();
        Case { code: text(&case["code"]), card, message: text(&case["says"]), edits }
    };
    advice["cases"].as_array().unwrap().iter().map(case).collect()
}

fn found(card: &str) -> Vec<Diagnostic> {
    let mut found = check_text(card, &|_| None).diagnostics;
    found.retain(|it| it.severity != Severity::Note);
    found
}

/// Returns the parts of a hint in backticks.
fn parts(help: &str) -> Vec<&str> {
    help.split('`').skip(1).step_by(2).collect()
}

/// Returns the words of a hint without what belongs to the card at hand.
fn shape(help: &str) -> String {
    help.split('`').step_by(2).collect::<Vec<_>>().join("_")
}

/// Follows the hint of a finding.
fn mended(case: &Case, help: &str) -> String {
    let parts = parts(help);
    let mut card = case.card.clone();
    for [from, to] in &case.edits {
        assert!(card.contains(from), "{from} is not in\n{card}");
        let filled = parts
            .iter()
            .enumerate()
            .fold(to.to_string(), |text, (at, part)| text.replace(&format!("{{{at}}}"), part));
        card = card.replacen(from, &filled, 1);
    }
    let constants: Vec<&str> = parts.iter().filter(|part| part.contains("= { value")).copied().collect();
    if !constants.is_empty() && !card.contains(constants[0]) {
        let place = if card.contains("[const]\n") { "[const]\n" } else { "[[dimension]]" };
        let head = if place == "[const]\n" { place.to_string() } else { String::from("[const]\n") };
        let rest = if place == "[const]\n" { "" } else { place };
        card = card.replacen(place, &format!("{head}{}\n{rest}", constants.join("\n")), 1);
    }
    card
}

#[test]
fn what_a_message_advises_passes_the_check() {
    let mut problems = Vec::new();
    for case in all() {
        let before = found(&case.card);
        let meant = before.iter().find(|it| case.means(it));
        let Some(meant) = meant else {
            problems.push(format!("{} is not found in\n{}\n{before:#?}", case.code, case.card));
            continue;
        };
        let card = mended(&case, &meant.help);
        for after in found(&card) {
            let is_same = after.code == meant.code && after.message == meant.message;
            let is_new = !before.iter().any(|known| known.code == after.code);
            if after.severity == Severity::Error || is_same || is_new {
                problems.push(format!("`{}` leads to {}: {}\n{card}", meant.help, after.code, after.message));
            }
        }
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn no_hint_is_left_untried() {
    let cases = all();
    let tried: Vec<String> = cases
        .iter()
        .flat_map(|case| found(&case.card).into_iter().filter(|it| case.means(it)).map(|it| shape(&it.help)))
        .collect();
    let examples = examples(GUIDE).into_iter().map(|(example, _)| {
        let facts =
            if example.contains("[facts]") { "" } else { "[facts]\nquality = { min = 0, max = 1 }\n" };
        let dimension = "[[dimension]]\nkey = \"quality\"\nweight = 1\nmissing = \"withhold\"\n";
        let dimension = if example.contains("[[dimension]]") { "" } else { dimension };
        format!("{}{example}\n{facts}{dimension}", HEAD.replace("scale = { max = 100 }\n", ""))
    });
    let cards = examples.chain(cases.iter().map(|case| case.card.clone()));
    let is_formula =
        |it: &Diagnostic| it.code.as_str() > "KC201" && it.code != Code::Arguments && it.code != Code::Cycle;
    let mut untried: Vec<String> = cards
        .flat_map(|card| found(&card))
        // A hint without a text to take over proposes no formula.
        .filter(|it| it.help.contains('`'))
        .filter(|it| is_formula(it) && !tried.contains(&shape(&it.help)))
        .map(|it| format!("{}: {}", it.code, it.help))
        .collect();
    untried.sort();
    untried.dedup();
    assert!(untried.is_empty(), "{untried:#?}");
}
