//! The document of the explanation of one score: its parts in the order in which they add up, and what would change it.

use karat_core::explain::Change;
use karat_core::number::{Score, UNITS_PER_ONE};
use karat_core::record::Record;
use serde_json::Value;

use super::{Case, CaseResult, Cell, Column, Document, Finding, Kind, Level, Part, Table, Total, grading};
use crate::answers::{from_billionths, points};
use crate::explanation::words::{blockers, cautions, dimension_note, gap, next_step, note, rounding};
use crate::explanation::{GroupRow, Part as PartOfScore, Row, groups as groups_of, kind_of, open, rows};
use crate::number::{Points, billionths, cut, published};
use crate::record::MatchAnswer;
use crate::text::{Tone, clean, list, own_name};

/// The members of `grading` that an answer of the arena has.
const FINDINGS: [&str; 3] = ["constraint_violations", "harness_warning", "submission_warnings"];

/// The checks that a record passed before it is explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// It was made just now, from the evidence.
    Scored {
        /// True if the evidence was made from a log just now.
        is_from_log: bool,
    },
    /// It follows from its own facts.
    Verified,
    /// It follows from its facts, and its evidence has them, at this place.
    FromEvidence(String),
}

/// Returns the document of an explanation, with what graders saw and the checks that the record passed.
pub fn explanation(record: &Record<'_>, change: Option<&Change<'_>>, proof: &Proof) -> Document {
    let mut document = account(record, change);
    // It is canonical JSON: the reader of the evidence or of the record wrote it.
    let mut seen: Option<Value> = record.item.grading.and_then(|seen| serde_json::from_str(seen).ok());
    if let Some(found) = MatchAnswer::of(record) {
        document.parts.push(Part::Heading(String::from("Breakdown")));
        document.parts.push(Part::Table(breakdown(&found)));
        document.note(Tone::Care, found.sentences());
        if let Some(Value::Object(members)) = &mut seen {
            members.retain(|name, _| !FINDINGS.contains(&name.as_str()));
        }
    }
    let is_read = matches!(proof, Proof::Scored { is_from_log: true });
    document.parts.extend(seen.iter().flat_map(|seen| grading(seen, is_read)));
    document.parts.push(Part::Heading(String::from("Record")));
    let verified = "verified: the score follows from the facts in the record";
    let whose = match proof {
        Proof::Scored { .. } => None,
        // Subject, evidence and time are taken from the record: no fact can prove them.
        Proof::Verified => Some(String::from("whose facts they are, only the evidence shows")),
        Proof::FromEvidence(place) => Some(format!("those of the evidence: {} gives the same", clean(place))),
    };
    document.note(Tone::Good, whose.into_iter().flat_map(|whose| [verified.to_owned(), whose]));
    document.note(Tone::Plain, [record.digest().to_string()]);
    document
}

/// Returns the account of a score: its parts, what is missing, and the change that would reach the next level.
pub fn account(record: &Record<'_>, change: Option<&Change<'_>>) -> Document {
    let item = &record.item;
    let profile = record.profile.map_or_else(String::new, |profile| format!(", profile {}", profile.name));
    let mut document = Document {
        name: "explain",
        title: title(record),
        lines: vec![format!("{}, {}{profile}", record.card.name(), record.card.mean.name())],
        cases: vec![case(record)],
        findings: record
            .gates
            .iter()
            .map(|gate| Finding::new(Level::Warning, "gate", format!("the gate {gate} holds")))
            .collect(),
        about: vec![
            (format!("scorecard {}", record.card.name()), record.card.digest.to_string()),
            (String::from("evidence"), item.digest.to_string()),
        ],
        ..Document::default()
    };
    let sum = parts(record);
    let inexact = sum.caption.split_once("; ").map(|(_, note)| note.to_owned());
    document.parts.push(Part::Table(sum));
    document.note(Tone::Plain, rounding(record).into_iter().chain(inexact));
    if record.score.is_none() {
        let open = open(record).filter_map(|it| Some(format!("{}: {}", it.key, dimension_note(it, record)?)));
        document.note(Tone::Plain, open);
    }
    if let Some(groups) = groups(record) {
        document.parts.push(Part::Heading(String::from("Groups")));
        document.parts.push(Part::Table(groups));
    }
    if let Some(line) = gap(record) {
        document.parts.push(Part::Heading(String::from("Missing")));
        document.note(Tone::Care, [line]);
    }
    if let Some(next) = record.tier.as_ref().and_then(|tier| tier.next) {
        document.parts.push(Part::Heading(format!("Not {next} yet")));
    }
    document.note(Tone::Care, blockers(record).chain(cautions(record)));
    if let Some(line) = next_step(record, change) {
        document.parts.push(Part::Heading(String::from("Nearest")));
        document.note(Tone::Good, [line]);
    }
    document
}

fn title(record: &Record<'_>) -> String {
    let item = &record.item;
    let id = own_name(item.subject, item.id).map_or_else(String::new, |id| format!(" {id}"));
    let score = match record.published {
        Some(number) => format!("{} of {}", published(number), record.card.scale.max),
        None => record.status.name().to_owned(),
    };
    let band = record.band.map_or_else(String::new, |band| format!(", band {band}"));
    let tier = record.tier.as_ref().map(|tier| format!(", tier {}", tier.name.unwrap_or("none")));
    let coverage = cut(record.coverage, 7, 1);
    format!("{}{id}: {score}{band}{}, coverage {coverage}%", item.subject, tier.unwrap_or_default())
}

/// Returns the item as a test case: a score that a gate holds is one to look at; without a score nothing is decided.
fn case(record: &Record<'_>) -> Case {
    let result = match (record.score, record.gates.as_slice()) {
        (None, _) => CaseResult::Error(String::from("there is no score")),
        (Some(_), []) => CaseResult::Passed,
        (Some(_), gates) => CaseResult::Failed(format!("held by {}", list(gates))),
    };
    let score = record.published.map_or_else(|| String::from("no score"), published);
    Case {
        class: record.item.subject.to_owned(),
        name: record.item.id.to_owned(),
        result,
        seconds: None,
        place: None,
        output: vec![format!("score {score} of {}", record.card.scale.max)],
    }
}

/// Returns the parts of a score, each with the total after it.
fn parts(record: &Record<'_>) -> Table {
    let rows = rows(record);
    let shown = Points::new(record.card.scale, rows.iter().map(|row| row.after));
    let max = record.card.scale.max;
    let place = |score: Score| points(score.units() as f64 / UNITS_PER_ONE as f64, max);
    let row = |row: &Row<'_>| {
        let (before, after) = (shown.shown(row.before), shown.shown(row.after));
        let dimension = match row.part {
            PartOfScore::Dimension(dimension) => Some(dimension),
            _ => None,
        };
        let has_value = dimension.is_none_or(|it| it.reading.is_some());
        let value = dimension.and_then(|it| it.reading);
        let share = dimension.filter(|_| has_value).map(|it| it.effective_weight);
        let change = points(row.after.minus(row.before).to_f64(), max);
        let cells = vec![
            Cell::text(row.name),
            Cell::text(kind_of(&row.part).name()),
            value.map_or(Cell::Absent, |it| Cell::Number(from_billionths(it), billionths(it))),
            share.map_or(Cell::Absent, |it| Cell::Number(from_billionths(it), format!("{}%", cut(it, 7, 1)))),
            if has_value { Cell::Number(change, shown.signed(after - before)) } else { Cell::Absent },
            Cell::Total(Total {
                before: place(row.before),
                after: place(row.after),
                is_step: dimension.is_none(),
                shown: shown.text(after),
            }),
            Cell::Notes(note(row, record).into_iter().collect()),
        ];
        cells.into()
    };
    let columns = vec![
        Column::name("part"),
        Column::text("kind").hidden(),
        Column::number("value"),
        Column::number("share"),
        Column::number("points"),
        Column::new("total", Kind::Total(max)),
        Column::new("note", Kind::Notes),
    ];
    let exact = if shown.exact {
        ""
    } else {
        "; amounts are cut so that they add up as shown, the record has them exactly"
    };
    let caption = format!("Value times share of the weights is the contribution of a dimension{exact}");
    let is_detail = record.score.is_none();
    Table { is_titled: true, is_detail, ..Table::new(caption, columns, rows.iter().map(row).collect()) }
}

/// Returns the values of groups, each below the group that it is in.
fn groups(record: &Record<'_>) -> Option<Table> {
    let groups = groups_of(record);
    let shown = Points::new(record.card.scale, groups.iter().map(|it| it.group.contribution));
    let max = record.card.scale.max;
    let row = |GroupRow { name, depth, group }: &GroupRow<'_>| {
        let share = group.effective_weight;
        let cells = vec![
            Cell::Text(format!("{}{name}", "\u{2003}".repeat(*depth))),
            group.reading.map_or(Cell::Absent, |it| Cell::Number(from_billionths(it), billionths(it))),
            Cell::Number(from_billionths(share), format!("{}%", cut(share, 7, 1))),
            Cell::Number(
                points(group.contribution.to_f64(), max),
                shown.signed(shown.shown(group.contribution)),
            ),
        ];
        cells.into()
    };
    let columns = vec![
        Column::name("group"),
        Column::number("value"),
        Column::number("share"),
        Column::number("points"),
    ];
    let caption = "The mean of each group, and the contribution of its dimensions";
    let table = Table::new(caption, columns, groups.iter().map(row).collect());
    (!groups.is_empty()).then_some(Table { is_titled: true, ..table })
}

/// Returns the breakdown of a match in points, as the arena has it.
pub fn breakdown(answer: &MatchAnswer) -> Table {
    let rows = answer.score_breakdown.iter().map(|(key, found)| {
        let number = |it: &dyn ToString, value: f64| Cell::Number(value, it.to_string());
        vec![
            Cell::text(key),
            number(&found.score, found.score),
            number(&found.weight, found.weight),
            number(&found.weighted, found.weighted),
        ]
        .into()
    });
    let columns = vec![
        Column::name("key"),
        Column::number("score"),
        Column::number("weight"),
        Column::number("weighted"),
    ];
    let total = answer
        .score
        .map_or_else(|| String::from("there is no total"), |total| format!("the total is {total}"));
    Table::new(format!("score times weight, not rounded; {total}"), columns, rows.collect())
}
