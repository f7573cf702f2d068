//! Flat objects whose members are facts by name: the user's own measurements, from JSON or a CSV table.

use karat_core::facts::Fact;

use crate::Moment;
use crate::check::{ANY, Check, Identity};
use crate::document::{Node, Value};
use crate::kind::FactType;

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

    /// How many facts are wanted.
    pub(crate) fn wanted(&self) -> usize {
        self.columns.len()
    }

    /// The field that names the subject.
    pub(crate) fn subject_field(&self) -> &str {
        &self.subject_field
    }

    /// The type and place of the fact with that name.
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
            // A column of that name may hold something else; then it is a fact like any other, or unread.
            let time = if key == "time" { moment(member) } else { None };
            identity.time = identity.time.or(time);
            if !is_subject && !is_id && time.is_none() && column.is_none() {
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

fn moment(node: Node<'_>) -> Option<Moment> {
    match node.value() {
        Value::Text(text) => Moment::parse(text),
        _ => None,
    }
}

fn read_fact<'a>(node: Node<'a>, fact_type: FactType, check: &mut Check<'_>) -> Fact<'a> {
    match fact_type {
        FactType::Number => check.number(node, ANY).map_or(Fact::Missing, Fact::Number),
        FactType::Boolean => check.flag(node).map_or(Fact::Missing, Fact::Flag),
        FactType::Text => check.text(node).map_or(Fact::Missing, Fact::Text),
    }
}
