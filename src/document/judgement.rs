//! The document of what a judge executed: a row and a test case for each case of a challenge, then the account of the
//! score.

use karat_core::explain::Change;
use karat_core::record::Record;
use serde_json::Value as Json;

use super::{Case, CaseResult, Cell, Column, Document, Finding, Kind, Level, Part, Row, Table, account};
use crate::estimate::plain;
use crate::text::{Tone, count};

/// Returns the document of what was executed for a match, and of its score.
pub fn judgement(record: &Record<'_>, execution: &Json, change: Option<&Change<'_>>) -> Document {
    let (account, mut cases, mut findings) = (account(record, change), Vec::new(), Vec::new());
    let mut document = Document {
        name: "judge",
        title: format!("{}: {}", record.card.name(), account.title),
        lines: execution.get("judge").map(identity).into_iter().chain(account.lines).collect(),
        about: account.about,
        ..Document::default()
    };
    for (name, words, level) in
        [("no_verdict", "there is no verdict", Level::Warning), ("unfit", "nothing to run", Level::Error)]
    {
        let Some(why) = said(execution, name) else { continue };
        let tone = if level == Level::Error { Tone::Bad } else { Tone::Care };
        document.note(tone, [format!("{words}: {why}")]);
        cases.push(case("judge", name, CaseResult::Error(why.to_owned())));
    }
    for task in execution.get("tasks").and_then(Json::as_array).into_iter().flatten() {
        let table = task_table(task, &mut cases);
        document.parts.push(Part::Table(table));
    }
    findings.extend(cases.iter().filter_map(|case| match &case.result {
        CaseResult::Failed(why) => {
            Some(Finding::new(Level::Error, "judge", format!("{} {}: {why}", case.class, case.name)))
        }
        _ => None,
    }));
    document.parts.push(Part::Heading(String::from("Score")));
    document.parts.extend(account.parts);
    Document { cases, findings, ..document }
}

/// Returns a judge in words.
pub fn identity(judge: &Json) -> String {
    let said = |name: &str| said(judge, name).unwrap_or("?");
    let digest: String = said("runtime_digest").chars().take("sha256:".len() + 12).collect();
    format!("judge {}, {}, {} {digest}", said("version"), said("engine"), said("runtime"))
}

fn said<'v>(value: &'v Json, name: &str) -> Option<&'v str> {
    value.get(name).and_then(Json::as_str)
}

fn case(class: &str, name: &str, result: CaseResult) -> Case {
    Case {
        class: class.to_owned(),
        name: name.to_owned(),
        result,
        seconds: None,
        place: None,
        output: Vec::new(),
    }
}

/// Returns the cases of one file, or the points that its script gave by dimension.
fn task_table(task: &Json, all: &mut Vec<Case>) -> Table {
    let file = said(task, "file").unwrap_or_default();
    let listed = task.get("cases").and_then(Json::as_array);
    let mut rows: Vec<Row> = Vec::new();
    for found in listed.into_iter().flatten() {
        let (name, verdict) =
            (said(found, "name").unwrap_or_default(), said(found, "verdict").unwrap_or("?"));
        let reason = said(found, "reason");
        let is_near = found.get("near_limit").and_then(Json::as_bool).unwrap_or_default();
        let notes = [reason, is_near.then_some("within 5 % of a limit")].into_iter().flatten();
        let fuel = found.get("fuel").and_then(Json::as_u64);
        rows.push(
            vec![
                Cell::text(file),
                Cell::text(name),
                verdict_cell(verdict),
                Cell::of_number(found.get("value").and_then(Json::as_f64), plain),
                fuel.map_or(Cell::Absent, Cell::Count),
                Cell::Notes(notes.map(|note| (Tone::Plain, note.to_owned())).collect()),
            ]
            .into(),
        );
        let why = reason.map_or_else(|| verdict.to_owned(), |reason| format!("{verdict}: {reason}"));
        let result = if verdict == "pass" { CaseResult::Passed } else { CaseResult::Failed(why) };
        all.push(case(file, name, result));
    }
    for (name, points) in task.get("scores").and_then(Json::as_object).into_iter().flatten() {
        let points = Cell::of_number(points.as_f64(), plain);
        let row =
            [Cell::text(file), Cell::text(name), Cell::text("points"), points, Cell::Absent, Cell::Absent];
        rows.push(row.to_vec().into());
    }
    let columns = vec![
        Column::text("file").hidden(),
        Column::name("case"),
        Column::text("verdict"),
        Column::number("value"),
        Column::number("fuel"),
        Column::new("reason", Kind::Notes),
    ];
    Table::new(caption(task, listed.map(Vec::len)), columns, rows)
}

/// Returns a verdict in the colour of its tone.
fn verdict_cell(verdict: &str) -> Cell {
    match verdict {
        "pass" => Cell::Mark(Tone::Good, "pass", "pass"),
        "partial" => Cell::Mark(Tone::Care, "partial", "partial"),
        "fail" => Cell::Mark(Tone::Bad, "fail", "fail"),
        other => Cell::text(other),
    }
}

/// Returns the file, and how many of its cases passed; of a script the fuel that it used.
fn caption(task: &Json, cases: Option<usize>) -> String {
    let file = said(task, "file").unwrap_or_default();
    let number = |name: &str| task.get(name).and_then(Json::as_u64).unwrap_or_default();
    let Some(cases) = cases else { return format!("{file}: {} fuel", number("fuel")) };
    let of = count(cases, if said(task, "kind") == Some("suite") { "test" } else { "case" });
    let value = task.get("value").and_then(Json::as_f64).unwrap_or_default();
    format!("{file}: {} of {of} passed, value {}", number("passed"), plain(value))
}
