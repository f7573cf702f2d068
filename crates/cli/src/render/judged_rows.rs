//! The verdicts of a judge as a document: a row and a test case for each case of a challenge.

use karat::card::CompiledCard;
use karat::document::{Case, CaseResult, Cell, Column, Document, Finding, Level, Part, Table};
use karat::estimate::plain;
use karat::number::published;
use karat_core::record::Record;
use serde_json::Value as Json;

use super::judged::identity;

/// Returns the document of what was executed for a match, and of its score.
pub fn document(card: &CompiledCard, record: &Record<'_>, execution: &Json) -> Document {
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for task in execution.get("tasks").and_then(Json::as_array).into_iter().flatten() {
        let file = task.get("file").and_then(Json::as_str).unwrap_or_default();
        for case in task.get("cases").and_then(Json::as_array).into_iter().flatten() {
            let said = |name: &str| case.get(name).and_then(Json::as_str);
            let (name, verdict) = (said("name").unwrap_or_default(), said("verdict").unwrap_or("?"));
            let value = case.get("value").and_then(Json::as_f64);
            let fuel = case.get("fuel").and_then(Json::as_u64);
            rows.push(vec![
                Cell::Text(file.to_owned()),
                Cell::Text(name.to_owned()),
                Cell::Text(verdict.to_owned()),
                Cell::of_number(value, plain),
                fuel.map_or(Cell::Absent, Cell::Count),
                Cell::of_text(said("reason")),
            ]);
            let why =
                said("reason").map_or_else(|| verdict.to_owned(), |reason| format!("{verdict}: {reason}"));
            let result = if verdict == "pass" { CaseResult::Passed } else { CaseResult::Failed(why) };
            cases.push(Case {
                class: file.to_owned(),
                name: name.to_owned(),
                result,
                seconds: None,
                place: None,
                output: Vec::new(),
            });
        }
        // A script gives points by dimension, and no cases.
        for (name, points) in task.get("scores").and_then(Json::as_object).into_iter().flatten() {
            rows.push(vec![
                Cell::Text(file.to_owned()),
                Cell::Text(name.clone()),
                Cell::Text(String::from("points")),
                Cell::of_number(points.as_f64(), plain),
                Cell::Absent,
                Cell::Absent,
            ]);
        }
    }
    let mut findings = Vec::new();
    for (name, level) in [("no_verdict", Level::Warning), ("unfit", Level::Error)] {
        if let Some(why) = execution.get(name).and_then(Json::as_str) {
            findings.push(Finding::new(level, "judge", why));
            cases.push(Case {
                class: String::from("judge"),
                name: name.to_owned(),
                result: CaseResult::Error(why.to_owned()),
                seconds: None,
                place: None,
                output: Vec::new(),
            });
        }
    }
    let failed = cases.iter().filter_map(|case| match &case.result {
        CaseResult::Failed(why) => {
            Some(Finding::new(Level::Error, "judge", format!("{} {}: {why}", case.class, case.name)))
        }
        _ => None,
    });
    findings.extend(failed);
    findings.sort_by_key(|finding| finding.level);
    let score = record.published.map_or_else(|| String::from("no score"), published);
    let columns = vec![
        Column::text("file"),
        Column::name("case"),
        Column::text("verdict"),
        Column::number("value"),
        Column::number("fuel"),
        Column::text("reason"),
    ];
    Document {
        name: "judge",
        title: format!("{} {score} of {}", card.name(), record.card.scale.max),
        lines: execution.get("judge").map(identity).into_iter().collect(),
        parts: vec![Part::Table(Table::new("", columns, rows.into_iter().map(Into::into).collect()))],
        cases,
        findings,
        ..Document::default()
    }
}
