//! The document of the explanation of one score.

use super::{Case, CaseResult, Cell, Column, Document, Finding, Level, Part, Table};
use crate::answers::explanation::Explanation;
use crate::answers::points;
use crate::estimate::{Writing, plain, tenth_percent, whole_percent};
use crate::text::list;

/// Returns the document of an explanation: a row for each part of the score, in the order in which they add up.
#[must_use]
pub fn explanation(answer: &Explanation) -> Document {
    let record = &answer.record;
    let max = record.scale.max;
    let writing = Writing::of(max);
    let score = record.score.as_ref().map_or_else(|| String::from("no score"), |it| plain(it.published));
    let badge = record.tier.as_ref().and_then(|it| it.name.clone()).or_else(|| record.band.clone());
    let badge = badge.map_or_else(String::new, |badge| format!(", {badge}"));
    let number = |share: f64| Cell::Number(points(share, max), writing.number(share));
    let signed = |share: f64| Cell::Number(points(share, max), writing.signed(share));
    let rows = answer.rows.iter().map(|row| {
        let note = match (&row.when, &row.status) {
            (Some(when), _) => Some(when.clone()),
            (None, Some(status)) if row.value.is_none() => Some(status.name().to_owned()),
            _ => None,
        };
        vec![
            Cell::Text(row.name.clone()),
            Cell::Text(row.kind.name().to_owned()),
            Cell::of_number(row.value, plain),
            Cell::of_number(row.share, tenth_percent),
            signed(row.change),
            number(row.after),
            Cell::of_text(note),
        ]
    });
    let mut findings: Vec<Finding> = record
        .gates
        .iter()
        .map(|gate| Finding::new(Level::Warning, "gate", format!("the gate {gate} holds")))
        .collect();
    let missing = answer.missing.iter().map(|it| format!("{} has no value: {}", it.key, it.reason));
    findings.extend(missing.map(|text| Finding::new(Level::Warning, "missing", text)));
    findings.extend(answer.change.as_ref().map(|change| {
        let from = change.from.map_or_else(String::new, |from| format!(" from {}", plain(from)));
        let text = format!(
            "raise {}{from} to {} for {}, {} {}",
            change.name,
            plain(change.to),
            plain(change.published),
            change.kind.name(),
            change.reaches
        );
        Finding::new(Level::Notice, "nearest", text)
    }));
    let verified = match (answer.verified, answer.from_evidence) {
        (_, Some(true)) => {
            "verified: the score follows from the facts in the record, and they are those of the evidence"
        }
        (Some(true), _) => "verified: the score follows from the facts in the record",
        _ => "scored just now",
    };
    let columns = vec![
        Column::name("part"),
        Column::text("kind").hidden(),
        Column::number("value"),
        Column::number("share"),
        Column::number("points"),
        Column::number("total"),
        Column::text("note"),
    ];
    // A score that a gate holds is one to look at; without a score nothing is decided.
    let result = match (&record.score, record.gates.as_slice()) {
        (None, _) => CaseResult::Error(String::from("there is no score")),
        (Some(_), []) => CaseResult::Passed,
        (Some(_), gates) => CaseResult::Failed(format!("held by {}", list(gates))),
    };
    let case = Case {
        class: record.subject.clone(),
        name: record.evidence.id.clone(),
        result,
        seconds: None,
        place: None,
        output: vec![format!("score {score} of {max}")],
    };
    let rows = rows.map(Into::into).collect();
    Document {
        name: "explain",
        title: format!("{} {score} of {max}{badge}", record.subject),
        lines: vec![
            format!("{}, item {}", record.scorecard.name(), record.evidence.id),
            format!("coverage {}; {verified}", whole_percent(record.coverage)),
            format!("record {}", answer.digest),
        ],
        parts: vec![Part::Table(Table::new("", columns, rows))],
        cases: vec![case],
        findings,
        ..Document::default()
    }
}
