//! The text of a project file from a plan.

use std::fmt::Write as _;

use super::data::Data;
use super::plan::Plan;

/// The file of the baseline.
const BASELINE: &str = "baseline.jsonl";

/// Returns the text of the project file, with `card` as its scorecard.
pub fn text(plan: &Plan<'_>, data: &Data, card: &str) -> String {
    let inputs: Vec<String> = data.given.iter().map(|path| quoted(path)).collect();
    let mut text = format!(
        "# Read by `karat check`, and by score, leaderboard, compare and standing where they name no card.\n\ncard     = {}\n\
         inputs   = [{}]\n",
        quoted(card),
        inputs.join(", ")
    );
    for (key, value) in [("subject", &plan.subject), ("task", &plan.task)] {
        if let Some(field) = value {
            let _ = writeln!(text, "{key:8} = {}", quoted(field));
        }
    }
    if plan.has_baseline() {
        let _ = writeln!(
            text,
            "baseline = {}           # written by `karat check --update-baseline`",
            quoted(BASELINE)
        );
    }
    text.push_str("\n[gate]\n");
    if plan.gate.is_not_worse {
        text.push_str("fail_if_worse = true    # or points that it may be worse by; with strict = true that must be shown\n");
    } else if plan.has_baseline() {
        text.push_str("# fail_if_worse = true\n");
    }
    match plan.gate.floor {
        Some(points) => {
            let _ = writeln!(
                text,
                "fail_under = {points}           # every subject; on = \"low\" compares the end of its interval"
            );
        }
        None => text.push_str(
            "# fail_under = 80       # every subject; on = \"low\" compares the end of its interval\n",
        ),
    }
    text
}

/// Writes a text as TOML reads it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
