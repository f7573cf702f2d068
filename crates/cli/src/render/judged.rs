//! The verdicts of a judge as tables, case by case; the check of a challenge.

use std::fmt::Write as _;

use karat::card::CompiledCard;
use karat::text::{clean, count, fit, wrap};
use serde_json::Value;

use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG};

/// Columns of the name of a case.
const NAME: usize = 38;
/// Columns before a reason.
const LEAD: usize = 2;

/// Returns the judge, and a table for each file of the challenge.
pub fn tables(card: &CompiledCard, execution: &Value, width: usize) -> String {
    let mut text = format!("{STRONG}{}{STRONG:#}", clean(&card.name()));
    if !card.title.is_empty() {
        let _ = write!(text, "  {}", clean(&card.title));
    }
    text.push('\n');
    let said = |name: &str| execution.get(name).and_then(Value::as_str);
    if let Some(judge) = execution.get("judge") {
        let _ = writeln!(text, "{FAINT}{}{FAINT:#}", identity(judge));
    }
    for (name, style, words) in
        [("unfit", LOSS, "nothing to run"), ("no_verdict", CARE, "there is no verdict")]
    {
        if let Some(why) = said(name) {
            for line in wrap(&format!("{words}: {}", clean(why)), width) {
                let _ = writeln!(text, "{style}{line}{style:#}");
            }
        }
    }
    for task in execution.get("tasks").and_then(Value::as_array).into_iter().flatten() {
        text.push('\n');
        match task.get("cases").and_then(Value::as_array) {
            Some(cases) => table(&mut text, task, cases, width),
            None => script(&mut text, task),
        }
    }
    text
}

/// Returns a judge in words.
pub fn identity(judge: &Value) -> String {
    let said = |name: &str| clean(judge.get(name).and_then(Value::as_str).unwrap_or("?")).into_owned();
    let digest: String = said("runtime_digest").chars().take("sha256:".len() + 12).collect();
    format!("judge {}, {}, {} {digest}", said("version"), said("engine"), said("runtime"))
}

/// Returns the check of a challenge.
pub fn check(card: &CompiledCard, answer: &Value) -> String {
    let mut text = format!("{STRONG}{}{STRONG:#}  {}\n", clean(&card.name()), clean(&card.title));
    if answer["judge"].is_object() {
        let _ = writeln!(text, "{FAINT}{}{FAINT:#}", identity(&answer["judge"]));
    }
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or_default()).unwrap_or(usize::MAX);
    let listed = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let cases = listed(&answer["cases"]);
    let score = |value: &Value| value.as_f64().map_or_else(|| "no score".to_owned(), shown);
    let failed = listed(&answer["reference"]["failed"]);
    let of_empty = number(&answer["empty"]["noticed_by"]);
    let (style, words) = match failed.len() {
        0 => (GAIN, "passes everything".to_owned()),
        many => (LOSS, format!("fails at {} of {}", many, count(cases.len(), "case"))),
    };
    let _ = writeln!(
        text,
        "\n{}{style}{words}{style:#}, {}",
        fit("reference", 18),
        score(&answer["reference"]["score"])
    );
    for name in failed.iter().filter_map(Value::as_str) {
        let _ = writeln!(text, "{:18}{LOSS}{}{LOSS:#}", "", clean(name));
    }
    let (style, words) = match of_empty {
        0 => (LOSS, "is as good as the reference".to_owned()),
        many => (GAIN, format!("fails at {} of {}", many, count(cases.len(), "case"))),
    };
    let _ = writeln!(
        text,
        "{}{style}{words}{style:#}, {}",
        fit("empty answer", 18),
        score(&answer["empty"]["score"])
    );
    text
}

fn table(text: &mut String, task: &Value, cases: &[Value], width: usize) {
    let file = task.get("file").and_then(Value::as_str).unwrap_or_default();
    let value = task.get("value").and_then(Value::as_f64).unwrap_or_default();
    let passed = task.get("passed").and_then(Value::as_u64).unwrap_or_default();
    let of = match task.get("kind").and_then(Value::as_str) {
        Some("suite") => count(cases.len(), "test"),
        _ => count(cases.len(), "case"),
    };
    let _ =
        writeln!(text, "{STRONG}{}{STRONG:#}  {passed} of {of} passed, value {}", clean(file), shown(value));
    let head = if of.contains("test") { "test" } else { "case" };
    let _ =
        writeln!(text, "{FAINT}{} {:<8} {:>7} {:>15}{FAINT:#}", fit(head, NAME), "verdict", "value", "fuel");
    for case in cases {
        let said = |name: &str| case.get(name).and_then(Value::as_str);
        let verdict = said("verdict").unwrap_or("?");
        let style = match verdict {
            "pass" => GAIN,
            "partial" => CARE,
            _ => LOSS,
        };
        let value = case.get("value").and_then(Value::as_f64).unwrap_or_default();
        let fuel = case.get("fuel").and_then(Value::as_u64).unwrap_or_default();
        let _ = writeln!(
            text,
            "{} {style}{}{style:#} {:>7} {:>15}",
            fit(&clean(said("name").unwrap_or_default()), NAME),
            fit(verdict, 8),
            shown(value),
            grouped(fuel),
        );
        let near = case.get("near_limit").and_then(Value::as_bool).unwrap_or_default();
        let notes = [said("reason"), near.then_some("within 5 % of a limit")];
        for note in notes.into_iter().flatten() {
            for line in wrap(&clean(note), width.saturating_sub(LEAD)) {
                let _ = writeln!(text, "{:LEAD$}{FAINT}{line}{FAINT:#}", "");
            }
        }
    }
}

fn script(text: &mut String, task: &Value) {
    let file = task.get("file").and_then(Value::as_str).unwrap_or_default();
    let fuel = task.get("fuel").and_then(Value::as_u64).unwrap_or_default();
    let _ = writeln!(text, "{STRONG}{}{STRONG:#}  {} fuel", clean(file), grouped(fuel));
    let _ = writeln!(text, "{FAINT}{} {:>8} {:>7}{FAINT:#}", fit("dimension", NAME), "", "points");
    for (name, points) in task.get("scores").and_then(Value::as_object).into_iter().flatten() {
        let points = points.as_f64().unwrap_or_default();
        let _ = writeln!(text, "{} {:>8} {:>7}", fit(&clean(name), NAME), "", shown(points));
    }
}

/// Returns a count with its digits in threes.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with at most three decimals.
fn shown(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
