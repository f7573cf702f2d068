//! `[facts]` of a scorecard: what it reads from evidence, and from which fields.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::super::fields::{Fields, Report};
use super::super::{FactType, FieldPath, PathError, Reporter};
use super::{Draft, DraftFact, check_name, limited};
use crate::diagnostic::Code;

/// Reads the declarations of facts.
pub(super) fn read(card: &Fields<'_, '_>) -> Vec<DraftFact> {
    const FIELDS: &[&str] = &["path", "type", "unit", "min", "max", "integer", "unknown", "from", "about"];
    let mut facts = Vec::new();
    for (name, value) in limited(card.entries("facts"), "facts", card.report) {
        let Some(table) = value.get_ref().as_table() else {
            let message = format!("fact `{}` must be a table", name.value);
            card.report.leave_out();
            card.report.error(
                Code::WrongType,
                value.span(),
                message,
                format!("{} = {{ unit = \"s\", min = 0 }}", name.value),
            );
            continue;
        };
        check_name(&name, card.report);
        let fact =
            Fields::new(table, name.span.clone(), format!("fact `{}`", name.value), FIELDS, card.report);
        let types = [("number", FactType::Number), ("boolean", FactType::Boolean), ("text", FactType::Text)];
        let kind = fact.word("type", &types).unwrap_or(FactType::Number);
        if kind != FactType::Number {
            for field in ["unit", "min", "max", "integer", "unknown"] {
                if fact.has(field) {
                    card.report.bad(fact.place(field), format!("only a number has `{field}`"), "");
                }
            }
        }
        let max_fact = fact.text_if_text("max");
        let min = fact.number("min").unwrap_or(f64::NEG_INFINITY);
        let max = if max_fact.is_some() { None } else { fact.number("max") }.unwrap_or(f64::INFINITY);
        if min > max {
            card.report.bad(
                fact.place("min"),
                format!("fact `{}`: min {min} is above max {max}", name.value),
                "",
            );
        }
        facts.push(DraftFact {
            path: read_path(&fact, &name.value, &facts),
            kind,
            unit: fact.text("unit").map(|unit| unit.value),
            min,
            max,
            max_fact,
            integer: fact.flag("integer").unwrap_or(false),
            unknown: fact.number("unknown"),
            from: fact
                .word("from", &Reporter::STATED.map(|from| (from.name(), from)))
                .unwrap_or(Reporter::Unstated),
            about: fact.text_or_empty("about"),
            name,
        });
    }
    facts
}

/// Reads the path of a fact; two facts do not have the same field.
fn read_path(fact: &Fields<'_, '_>, name: &str, before: &[DraftFact]) -> Option<FieldPath> {
    let written = fact.text("path");
    let path = written.as_ref().and_then(|text| match FieldPath::parse(&text.value) {
        Ok(path) => Some(path),
        Err(PathError { at, expected }) => {
            let found = text.value.get(at..).filter(|rest| !rest.is_empty());
            let found = found.map_or_else(|| "the end".to_string(), |rest| format!("`{rest}`"));
            let message = format!("`path` of fact `{name}` is `{}`", text.value);
            let help = format!("found {found}, expected {expected}; paths look like $.metrics.cost");
            fact.report.bad(text.span.clone(), message, help);
            None
        }
    });
    let field = |name: &str, path: &Option<FieldPath>| {
        path.as_ref().map_or_else(|| name.to_string(), FieldPath::column)
    };
    let own = field(name, &path);
    if let Some(other) = before.iter().find(|other| field(&other.name.value, &other.path) == own) {
        let message = format!("the facts `{}` and `{name}` have the same field `{own}`", other.name.value);
        fact.report.error(
            Code::DuplicateName,
            fact.place("path"),
            message,
            "formulas may use one fact as often as they like",
        );
    }
    path
}

/// Refuses paths where the names of facts are fixed.
pub(super) fn check_paths(draft: &Draft, report: &Report<'_>) {
    let Some(kind) = draft.evidence.as_ref().filter(|kind| kind.value != "facts") else { return };
    for fact in draft.facts.iter().filter(|fact| fact.path.is_some()) {
        let (name, kind) = (&fact.name.value, &kind.value);
        let message = format!("fact `{name}` has a `path`, which facts of kind `{kind}` have not");
        report.bad(fact.name.span.clone(), message, "leave it out: a reader makes these facts");
    }
}
