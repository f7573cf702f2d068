//! Flat objects whose members are facts by name: the user's own measurements, from JSON or a CSV table.

use karat_core::facts::{Fact, Outcome};

use crate::json::check::{ANY, Check, Identity, Name};
use crate::json::document::{EXACT, Node, Value};
use crate::names::{self, NameFault};
use crate::vocabulary::FactType;
use karat_core::timestamp::{Timestamp, TimestampError};

/// The member that says from which place of which file an item was made; it goes into the record.
pub(crate) const SOURCE: &str = "source";

/// The facts that a scorecard declares, by name.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Sorted by name: name, type, place in the order of the scorecard.
    columns: Vec<(String, FactType, usize)>,
    subject_field: String,
}

impl Columns {
    pub(crate) fn new(wanted: &[(String, FactType)], subject_field: &str) -> Self {
        let places = wanted.iter().enumerate();
        let mut columns: Vec<_> =
            places.map(|(at, (name, fact_type))| (name.clone(), *fact_type, at)).collect();
        columns.sort_unstable();
        Self { columns, subject_field: subject_field.to_owned() }
    }

    /// Returns how many facts are wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.columns.len()
    }

    /// Returns the source that an item states: the digest of a file, and the place in it.
    pub(crate) fn source<'a>(&self, root: Node<'a>) -> Option<Node<'a>> {
        if self.subject_field == SOURCE || self.find(SOURCE).is_some() {
            return None;
        }
        root.children().find(|member| member.key() == SOURCE && member.value() == Value::Object)
    }

    /// Returns the field that names the subject.
    pub(crate) fn subject_field(&self) -> &str {
        &self.subject_field
    }

    /// Finds the type and place of the fact with that name.
    pub(crate) fn find(&self, name: &str) -> Option<(FactType, usize)> {
        let at = self.columns.binary_search_by(|(known, ..)| known.as_str().cmp(name)).ok()?;
        self.columns.get(at).map(|&(_, fact_type, place)| (fact_type, place))
    }

    /// Reads one object. A name may be both a fact and the subject or the id.
    pub(crate) fn read<'a>(
        &self,
        root: Node<'a>,
        check: &mut Check<'_>,
        facts: &mut Vec<Fact<'a>>,
    ) -> Identity<'a> {
        facts.resize(self.columns.len(), Fact::Missing);
        let mut identity = Identity::default();
        for member in check.members(root) {
            let key = member.key();
            let is_subject = key == self.subject_field;
            let is_id = key == "id";
            let column = self.find(key);
            let is_taken = is_subject || column.is_some();
            if key == SOURCE && !is_taken && member.value() == Value::Object {
                continue;
            }
            let is_occasion = occasion(member, is_taken, &mut identity, check)
                || !is_taken && cases(member, &mut identity, check);
            if !is_subject && !is_id && !is_occasion && column.is_none() {
                check.unknown("$", member);
            }
            if member.is_null() {
                continue;
            }
            if is_subject {
                identity.subject = check.name(member);
            }
            if is_id {
                identity.id = check.name(member);
            }
            if let Some((fact_type, place)) = column
                && let Some(fact) = facts.get_mut(place)
            {
                *fact = read_fact(member, fact_type, check);
            }
        }
        identity
    }
}

/// Reads a member that says when, at what, or how it ended, and returns whether it is one. Where the name `is_taken`, by a
/// fact of the card or by the subject, it may hold something else; else something else is refused, as it would be missed.
fn occasion<'a>(
    member: Node<'a>,
    is_taken: bool,
    identity: &mut Identity<'a>,
    check: &mut Check<'_>,
) -> bool {
    const HINT: &str = "a column of another meaning needs another name";
    let (key, value) = (member.key(), member.value());
    match (key, value) {
        ("time" | "task" | "outcome", Value::Null) => {}
        ("time", _) => {
            let text = if let Value::Text(text) = value { Ok(text) } else { Err(TimestampError::Form) };
            match text.and_then(Timestamp::parse) {
                Ok(time) => identity.time = Some(time),
                Err(_) if is_taken => return false,
                Err(error) => check.refuse(member, error.expected(), format!("{}; {HINT}", error.hint())),
            }
        }
        ("outcome", _) => match value {
            Value::Text(text) if is_taken && Outcome::from_name(text).is_none() => return false,
            Value::Text(_) => identity.outcome = check.outcome(member),
            _ if is_taken => return false,
            _ => drop(check.outcome(member)),
        },
        ("task", Value::Text(text)) => match names::fault(text) {
            None => identity.task = Some(Name::Text(text)),
            Some(_) if is_taken => return false,
            Some(NameFault { expected, hint }) => check.refuse(member, expected, format!("{hint}; {HINT}")),
        },
        ("task", Value::Number(number)) if number.fract() == 0.0 && number.abs() < EXACT => {
            identity.task = Some(Name::Number(number));
        }
        ("task", _) if is_taken => return false,
        ("task", _) => check.refuse(member, "a name, or a whole number", HINT),
        _ => return false,
    }
    true
}

/// Returns whether a member is the number of cases behind the row, `n`; a fact of that name is not. Any other number is
/// refused, because the row would look like a single result.
fn cases<'a>(member: Node<'a>, identity: &mut Identity<'a>, check: &mut Check<'_>) -> bool {
    if member.key() != "n" {
        return false;
    }
    let is_count = |number: &f64| *number >= 1.0 && number.fract() == 0.0 && *number < EXACT;
    let found = match member.value() {
        Value::Null => return true,
        Value::Number(number) => Some(number),
        _ => None,
    };
    identity.cases = found.filter(is_count).map(|number| number as u64);
    if identity.cases.is_none() {
        let hint = "`n` is the number of cases behind the row; give it another name if it is something else";
        check.refuse(member, "a whole number from 1 on", hint);
    }
    true
}

fn read_fact<'a>(node: Node<'a>, fact_type: FactType, check: &mut Check<'_>) -> Fact<'a> {
    match fact_type {
        FactType::Number => check.number(node, ANY).map_or(Fact::Missing, Fact::Number),
        FactType::Boolean => check.flag(node).map_or(Fact::Missing, Fact::Flag),
        FactType::Text => check.text(node).map_or(Fact::Missing, Fact::Text),
    }
}
