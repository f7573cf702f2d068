//! The reports of the answers about one thing: the explanation of a score, and the dependence of a ranking on its scorecard.

use super::leaderboard::{cards, items};
use super::{Column, Finding, Level, Report, Sheet, Value};
use crate::answers::explanation::Explanation;
use crate::answers::stress::Stress;
use crate::answers::stress::words::{effect, other_choices, rank_1};
use crate::estimate::{Writing, plain, ranks, tenth_percent, whole_percent};

/// Returns the report of an explanation: a row for each part of the score, in the order in which they add up.
#[must_use]
pub fn explanation(answer: &Explanation) -> Report {
    let record = &answer.record;
    let max = record.scale.max;
    let writing = Writing::of(max);
    let score = record.score.as_ref().map_or_else(|| String::from("no score"), |it| plain(it.published));
    let badge = record.tier.as_ref().and_then(|it| it.name.clone()).or_else(|| record.band.clone());
    let badge = badge.map_or_else(String::new, |badge| format!(", {badge}"));
    let number =
        |share: f64| Value::Number(super::leaderboard::points(share, max.into()), writing.number(share));
    let signed =
        |share: f64| Value::Number(super::leaderboard::points(share, max.into()), writing.signed(share));
    let rows = answer.rows.iter().map(|row| {
        let note = match (&row.when, &row.status) {
            (Some(when), _) => Some(when.clone()),
            (None, Some(status)) if row.value.is_none() => Some(status.name().to_owned()),
            _ => None,
        };
        vec![
            Value::Text(row.name.clone()),
            Value::Text(row.kind.name().to_owned()),
            Value::of_number(row.value, plain),
            Value::of_number(row.share, tenth_percent),
            signed(row.change),
            number(row.after),
            Value::of_text(note),
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
        Column::text("part"),
        Column::text("kind").hidden(),
        Column::number("value"),
        Column::number("share"),
        Column::number("points"),
        Column::number("total"),
        Column::text("note"),
    ];
    Report {
        title: format!("{} {score} of {max}{badge}", record.subject),
        lines: vec![
            format!("{}, item {}", record.scorecard.name(), record.evidence.id),
            format!("coverage {}; {verified}", whole_percent(record.coverage)),
            format!("record {}", answer.digest),
        ],
        sheets: vec![Sheet { caption: String::new(), columns, rows: rows.collect() }],
        cases: Vec::new(),
        findings,
    }
}

/// Returns the report of a stress test: how often each subject keeps its rank, what other choices change, what drives the score.
#[must_use]
pub fn stress(answer: &Stress) -> Report {
    let found = &answer.robustness;
    let subjects = found.weights_around.subjects.iter().map(|it| {
        let any = found.weights_any.subjects.iter().find(|other| other.subject == it.subject);
        let writing = Writing::of(answer.basis.scale);
        let composite = it.composite.map(|share| {
            Value::Number(super::leaderboard::points(share, answer.basis.scale.into()), writing.number(share))
        });
        vec![
            Value::Count(it.rank[0].into()),
            Value::Text(it.subject.clone()),
            composite.unwrap_or(Value::Absent),
            Value::of_number(Some(it.chance_of_same_rank), whole_percent),
            Value::of_number(Some(it.chance_of_rank_1), whole_percent),
            Value::Text(ranks(it.rank_range)),
            Value::of_number(any.map(|it| it.chance_of_rank_1), whole_percent),
        ]
    });
    let columns = vec![
        Column::number("rank"),
        Column::text("subject"),
        Column::number("composite"),
        Column::number("chance_of_same_rank"),
        Column::number("chance_of_rank_1"),
        Column::text("rank_range"),
        Column::number("chance_of_rank_1_any_weights"),
    ];
    let subjects = Sheet { caption: String::from("Under random weights"), columns, rows: subjects.collect() };
    let choices = other_choices(found)
        .filter(|(_, choice)| !choice.moved.is_empty())
        .map(|(label, choice)| vec![Value::Text(label), Value::Text(effect(choice))]);
    let choices = Sheet {
        caption: String::from("Other choices"),
        columns: vec![Column::text("choice"), Column::text("effect")],
        rows: choices.collect(),
    };
    let drivers = found.drivers.iter().map(|it| {
        vec![
            Value::Text(it.dimension.clone()),
            Value::of_number(Some(it.weight), whole_percent),
            Value::of_number(it.importance, whole_percent),
            Value::of_number(it.correlation.spearman, |rho| format!("{rho:+.2}")),
        ]
    });
    let drivers = Sheet {
        caption: String::from("What drives the score"),
        columns: vec![
            Column::text("dimension"),
            Column::number("weight"),
            Column::number("drives"),
            Column::number("rank_correlation"),
        ],
        rows: drivers.collect(),
    };
    let findings =
        rank_1(found).into_iter().map(|line| Finding::new(Level::Notice, "stress", format!("rank 1 {line}")));
    Report {
        title: format!("{}: how far ranks depend on the scorecard", cards(&answer.basis)),
        lines: vec![items(&answer.basis, true)],
        sheets: vec![subjects, choices, drivers],
        cases: Vec::new(),
        findings: findings.collect(),
    }
}
