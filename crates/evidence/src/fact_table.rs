//! Flat objects whose members are facts by name: the user's own measurements, from JSON or a CSV table.

use std::collections::BTreeMap;

use karat_core::facts::{Fact, Outcome};
use karat_core::scorecard::{FieldPath, Step};

use crate::cells;
use crate::json::check::{ANY, Check, Identity, Name};
use crate::json::document::{EXACT, Node, Value};
use crate::names::{self, NameFault};
use karat_core::scorecard::FactType;
use karat_core::timestamp::{Timestamp, TimestampError};

/// The member that says from which place of which file an item was made; it goes into the record.
pub const SOURCE: &str = "source";

/// The members that say what a mean over cases is: a shard of the cases of one run, or a repeat over the same cases.
const ROLES: [&str; 2] = ["part", "run"];

/// The facts that a scorecard declares, by the fields that give them.
#[derive(Debug, Default)]
pub struct Columns {
    /// Sorted by the name of the member of the item.
    columns: Vec<(String, Column)>,
    wanted: usize,
    subject: NameField,
    /// The field that names the task; `task` where none is asked for.
    task: Option<NameField>,
}

#[derive(Debug, Default)]
struct NameField {
    /// Its name as a member of the item.
    column: String,
    /// Its path, if it may be nested.
    path: Option<FieldPath>,
}

impl NameField {
    fn new(field: &str) -> Self {
        let path = FieldPath::of_field(field);
        Self { column: path.column(), path: Some(path).filter(|path| path.steps().len() > 1) }
    }

    /// Returns whether it begins with the member of this name.
    fn is_in(&self, key: &str) -> bool {
        let steps = self.path.as_ref().map(FieldPath::steps);
        matches!(steps, Some([Step::Member(first), ..]) if first == key)
    }

    /// Returns its value, where it is nested.
    fn nested<'a>(&self, root: Node<'a>) -> Option<Node<'a>> {
        let down = |here: Node<'a>, step: &Step| match (step, here.value()) {
            (Step::Member(name), Value::Object) => here.children().find(|it| it.key() == name),
            (Step::Element(at), Value::Array) => here.children().nth(usize::try_from(*at).ok()?),
            _ => None,
        };
        self.path.as_ref()?.reach(root, |here, step| down(here, step).filter(|it| !it.is_null()))
    }
}

/// The value of a member of an item.
#[derive(Debug, Default)]
struct Column {
    /// The fact that it is: type, place in the order of the scorecard.
    fact: Option<(FactType, usize)>,
    below: Vec<Below>,
}

/// A fact that lies in a member of the item, and its path from there.
#[derive(Debug)]
struct Below {
    steps: Vec<Step>,
    fact: (FactType, usize),
}

impl Columns {
    /// Takes facts by name, or by path where that begins with `$`. A nested fact may also be a member of the item itself,
    /// called as its path without the root: so tables have it, which hold no objects.
    pub fn new(wanted: &[(String, FactType)], subject_field: Option<&str>, task_field: Option<&str>) -> Self {
        let mut columns: BTreeMap<String, Column> = BTreeMap::new();
        for (place, (field, fact_type)) in wanted.iter().enumerate() {
            let path = FieldPath::parse(field).ok();
            let name = path.as_ref().map_or_else(|| field.clone(), FieldPath::column);
            columns.entry(name).or_default().fact = Some((*fact_type, place));
            if let Some([Step::Member(first), steps @ ..]) = path.as_ref().map(FieldPath::steps)
                && !steps.is_empty()
            {
                let fact = (*fact_type, place);
                columns.entry(first.clone()).or_default().below.push(Below { steps: steps.to_vec(), fact });
            }
        }
        let columns = columns.into_iter().collect();
        let subject = NameField::new(subject_field.unwrap_or("subject"));
        Self { columns, wanted: wanted.len(), subject, task: task_field.map(NameField::new) }
    }

    /// Returns how many facts are wanted.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns the source that an item states: the digest of a file, and the place in it.
    pub fn source<'a>(&self, root: Node<'a>) -> Option<Node<'a>> {
        if self.subject.column == SOURCE || self.find(SOURCE).is_some() {
            return None;
        }
        root.children().find(|member| member.key() == SOURCE && member.value() == Value::Object)
    }

    /// Returns the field that names the subject.
    pub fn subject_field(&self) -> &str {
        &self.subject.column
    }

    /// Finds the type and place of the fact that a member with that name is.
    pub fn find(&self, name: &str) -> Option<(FactType, usize)> {
        self.column(name)?.fact
    }

    fn column(&self, name: &str) -> Option<&Column> {
        let at = self.columns.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        self.columns.get(at).map(|(_, column)| column)
    }

    /// Reads one object. A name may be both a fact and the subject or the id.
    pub fn read<'a>(&self, root: Node<'a>, check: &mut Check<'_>, facts: &mut Vec<Fact<'a>>) -> Identity<'a> {
        facts.resize(self.wanted, Fact::Missing);
        let mut identity = Identity::default();
        let mut roles = [None, None];
        for member in check.members(root) {
            let key = member.key();
            let is_subject = key == self.subject.column;
            let is_task = self.task.as_ref().is_some_and(|task| key == task.column);
            let is_id = key == "id";
            let column = self.column(key);
            let is_taken = is_subject || column.is_some();
            let is_way = self.subject.is_in(key) || self.task.as_ref().is_some_and(|task| task.is_in(key));
            if key == SOURCE && !is_taken && member.value() == Value::Object {
                continue;
            }
            let is_other_task = key == "task" && self.task.is_some();
            let is_occasion = !is_other_task && occasion(member, is_taken, &mut identity, check)
                || !is_taken && cases(member, &mut identity, check);
            let role = ROLES.iter().position(|name| *name == key);
            if let Some(role) = role.and_then(|at| roles.get_mut(at)).filter(|_| !is_taken && !is_task) {
                // What it is depends on whether there is an `n`.
                *role = Some(member);
                continue;
            }
            if !is_subject && !is_task && !is_way && !is_id && !is_occasion && column.is_none() {
                check.unknown("$", member);
            }
            if member.is_null() {
                continue;
            }
            if is_subject {
                identity.subject = check.name(member);
            }
            if is_task {
                identity.task = check.name(member);
            }
            if is_id {
                identity.id = check.name(member);
            }
            let Some(column) = column else { continue };
            if let Some(fact) = column.fact {
                put(member, fact, check, facts);
            }
            if !column.below.is_empty() {
                let paths: Vec<(&[Step], (FactType, usize))> =
                    column.below.iter().map(|below| (below.steps.as_slice(), below.fact)).collect();
                read_below(member, &paths, &format!("$.{key}"), check, facts);
            }
        }
        let own = [&mut identity.part, &mut identity.run];
        for (node, own) in roles.into_iter().zip(own).filter_map(|(node, own)| Some((node?, own))) {
            if identity.cases.is_none() {
                check.unknown("$", node);
            } else if !node.is_null() {
                *own = check.name(node);
            }
        }
        if let Some(node) = self.subject.nested(root) {
            identity.subject = check.name(node).or(identity.subject);
        }
        if let Some(node) = self.task.as_ref().and_then(|task| task.nested(root)) {
            identity.task = check.name(node).or(identity.task);
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

/// Reads the facts in a value by their paths from there. `path` leads to the value, for the list of unread fields.
fn read_below<'a>(
    node: Node<'a>,
    paths: &[(&[Step], (FactType, usize))],
    path: &str,
    check: &mut Check<'_>,
    facts: &mut [Fact<'a>],
) {
    let is_list = node.value() == Value::Array;
    match node.value() {
        Value::Null => return,
        Value::Array | Value::Object => {}
        _ => {
            let is_object = matches!(paths, [([Step::Member(_), ..], _), ..]);
            let expected = if is_object { "an object" } else { "an array" };
            return check.refuse(node, expected, "a `path` of the scorecard leads into it");
        }
    }
    let mut is_reached = false;
    for (place, child) in node.children().enumerate() {
        let is_here = |step: &Step| match step {
            Step::Member(name) => !is_list && child.key() == name,
            Step::Element(at) => is_list && usize::try_from(*at) == Ok(place),
        };
        let mut deeper = Vec::new();
        let mut is_read = false;
        for (steps, fact) in paths {
            match steps {
                [step] if is_here(step) => {
                    is_read = true;
                    if !child.is_null() {
                        put(child, *fact, check, facts);
                    }
                }
                [step, rest @ ..] if is_here(step) => deeper.push((rest, *fact)),
                _ => {}
            }
        }
        is_reached |= is_read || !deeper.is_empty();
        if !deeper.is_empty() {
            let step = if is_list { format!("[{place}]") } else { format!(".{}", child.key()) };
            read_below(child, &deeper, &format!("{path}{step}"), check, facts);
        } else if !is_read && !is_list {
            check.unknown(path, child);
        }
    }
    let is_kind = |step: &Step| matches!(step, Step::Element(_)) == is_list;
    if !is_reached && !paths.iter().any(|(steps, _)| steps.first().is_some_and(is_kind)) {
        let expected = if is_list { "an object" } else { "an array" };
        check.refuse(node, expected, "a `path` of the scorecard leads into it");
    }
}

/// Reads a fact that no other field of the item gives.
fn put<'a>(
    node: Node<'a>,
    (fact_type, place): (FactType, usize),
    check: &mut Check<'_>,
    facts: &mut [Fact<'a>],
) {
    let Some(fact) = facts.get_mut(place) else { return };
    if *fact != Fact::Missing {
        let hint = "give it nested, or as a field of the item, and not both";
        check.refuse_as(node, "the same fact a second time", "one value", hint);
        return;
    }
    *fact = read_fact(node, fact_type, check);
}

fn read_fact<'a>(node: Node<'a>, fact_type: FactType, check: &mut Check<'_>) -> Fact<'a> {
    let hint = cells::hint(node.value(), fact_type);
    match (fact_type, node.value(), hint) {
        (_, _, Some(hint)) => {
            let expected = match fact_type {
                FactType::Number => "a number",
                FactType::Boolean => "`true` or `false`",
                FactType::Text => "a text",
            };
            check.refuse(node, expected, hint);
            Fact::Missing
        }
        (FactType::Number, ..) => check.number(node, ANY).map_or(Fact::Missing, Fact::Number),
        (FactType::Boolean, Value::Text(text), _) if cells::verdict(text).is_some() => {
            Fact::Flag(cells::verdict(text) == Some(true))
        }
        (FactType::Boolean, ..) => check.flag(node).map_or(Fact::Missing, Fact::Flag),
        (FactType::Text, ..) => check.text(node).map_or(Fact::Missing, Fact::Text),
    }
}
