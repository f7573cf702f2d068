//! The text of a project file from a plan.

use std::fmt::Write as _;

use super::plan::Plan;

/// The file of the baseline.
const BASELINE: &str = "baseline.jsonl";

/// Returns the text of the project file, with `card` as its scorecard.
pub(super) fn text(plan: &Plan<'_>, card: &str) -> String {
    let inputs: Vec<String> = plan.data.given.iter().map(|path| quoted(path)).collect();
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
    if plan.has_task {
        let file = quoted(BASELINE);
        let _ = writeln!(text, "baseline = {file}           # written by `karat check --update-baseline`");
    }
    text.push_str("\n[gate]\n");
    if plan.gate.is_not_worse {
        text.push_str("fail_if_worse = true    # or points that it may be worse by; with strict = true that must be shown\n");
    } else if plan.has_task {
        text.push_str("# fail_if_worse = true\n");
    }
    let (mark, points) = match plan.gate.floor {
        Some(points) => ("", points.to_string()),
        None => ("# ", String::from("80")),
    };
    let pad = if mark.is_empty() { "    " } else { "" };
    let _ = writeln!(
        text,
        "{mark}fail_under = {points}       {pad}# every subject; on = \"low\" compares the end of its interval"
    );
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
