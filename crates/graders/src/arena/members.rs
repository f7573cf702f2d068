//! Typed access to the members of a JSON object: what does not fit becomes a problem with its path.

use serde_json::{Map, Value};

use super::primitives::described;
use karat_evidence::json::document::EXACT;
use karat_evidence::json::locate;
use karat_evidence::json::problem::{Problem, Problems, nearest, quoted};

/// An object and its place.
#[derive(Debug, Clone)]
pub(crate) struct Members<'a> {
    map: &'a Map<String, Value>,
    path: String,
    /// True if `null` reads as if the member were not there.
    null_is_absent: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Member<'a> {
    pub value: &'a Value,
    pub path: String,
}

impl<'a> Members<'a> {
    /// Reads the members of `value`, which must be an object.
    pub fn of(value: &'a Value, path: &str, problems: &mut Problems) -> Option<Self> {
        let map = value.as_object();
        if map.is_none() {
            problems.refuse(path, described(value), "an object", "");
        }
        map.map(|map| Self { map, path: path.to_owned(), null_is_absent: false })
    }

    /// Returns the same, with `null` for what is not known, as records write it.
    pub(crate) fn with_nulls(self) -> Self {
        Self { null_is_absent: true, ..self }
    }

    /// Returns the object itself.
    pub fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn path_of(&self, name: &str) -> String {
        let mut path = self.path.clone();
        locate::push_member(&mut path, name);
        path
    }

    /// Returns every member, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Member<'a>)> {
        self.map.iter().map(|(name, value)| (name.as_str(), Member { value, path: self.path_of(name) }))
    }

    /// Returns a member, if it exists.
    pub fn get(&self, name: &str) -> Option<Member<'a>> {
        let value = self.map.get(name).filter(|value| !(self.null_is_absent && value.is_null()))?;
        Some(Member { value, path: self.path_of(name) })
    }

    /// Reads a member that must be there.
    pub fn require(&self, name: &str, expected: &str, problems: &mut Problems) -> Option<Member<'a>> {
        let member = self.get(name);
        if member.is_none() {
            problems.refuse(self.path_of(name), "nothing", expected, "");
        }
        member
    }

    pub(crate) fn refuse_unknown(&self, known: &[&str], problems: &mut Problems) {
        for name in self.map.keys().filter(|name| !known.contains(&name.as_str())) {
            // Looking for the nearest name takes time, which only a problem that will be listed is worth.
            problems.add(|| {
                let hint = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "leave it out".to_owned(),
                };
                let expected = format!("one of {}", known.join(", "));
                Problem::at(self.path_of(name), quoted(name), &expected, &hint)
            });
        }
    }
}

impl<'a> Member<'a> {
    /// Refuses the value.
    pub fn refuse(&self, expected: &str, hint: &str, problems: &mut Problems) {
        problems.refuse(&self.path, described(self.value), expected, hint);
    }

    /// Reads an object.
    pub fn members(&self, problems: &mut Problems) -> Option<Members<'a>> {
        Members::of(self.value, &self.path, problems)
    }

    /// Reads the elements of an array.
    pub fn elements(&self, problems: &mut Problems) -> Option<Vec<Self>> {
        let elements = self.value.as_array();
        if elements.is_none() {
            self.refuse("an array", "", problems);
        }
        let place = |(at, value)| Self { value, path: format!("{}[{at}]", self.path) };
        elements.map(|elements| elements.iter().enumerate().map(place).collect())
    }

    /// Reads a text.
    pub fn text(&self, problems: &mut Problems) -> Option<&'a str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.refuse("a text", "", problems);
        }
        text
    }

    /// Texts.
    pub fn texts(&self, problems: &mut Problems) -> Option<Vec<String>> {
        let elements = self.elements(problems)?;
        Some(elements.iter().filter_map(|element| element.text(problems).map(str::to_owned)).collect())
    }

    /// Reads `true` or `false`.
    pub fn flag(&self, problems: &mut Problems) -> Option<bool> {
        let flag = self.value.as_bool();
        if flag.is_none() {
            self.refuse("`true` or `false`", "", problems);
        }
        flag
    }

    /// Reads a number within a range; `expected` says which.
    pub fn number(&self, min: f64, max: f64, expected: &str, problems: &mut Problems) -> Option<f64> {
        let number = self.value.as_f64().filter(|number| (min..=max).contains(number));
        if number.is_none() {
            self.refuse(expected, "", problems);
        }
        number
    }

    /// Reads a whole number from `min` on.
    pub fn count(&self, min: f64, problems: &mut Problems) -> Option<u64> {
        let expected = if min > 0.0 { "a whole number above 0" } else { "a whole number not below 0" };
        let number = self.number(min, EXACT, expected, problems)?;
        if number.trunc() != number {
            self.refuse(expected, "", problems);
            return None;
        }
        Some(number as u64)
    }
}

/// Returns the same problems with their lines and columns, where `place` knows them.
pub(crate) fn located(problems: &Problems, place: impl Fn(&str) -> Option<(u64, u64)>) -> Problems {
    let mut located = Problems::default();
    for problem in problems {
        let (line, column) = place(&problem.path).unzip();
        located.add(|| Problem { line, column, ..problem.clone() });
    }
    // What was only counted stays counted.
    for _ in problems.iter().len()..problems.len() {
        located.add(|| Problem::at("", String::new(), "", ""));
    }
    located
}
