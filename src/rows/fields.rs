//! The fields of items beyond what a scorecard declares: of a table, of nested JSON, of what an import left in an item.
//! Nothing here reaches a score: leaderboards group by them, show their means, and rank by them.

use std::collections::BTreeSet;

use karat_core::diagnostic::nearest;
use karat_core::number::{BILLION, round};
use karat_core::record::Record;
use karat_core::scorecard::Scorecard;
use serde_json::Value;

use super::filter::{declared, is_declared, value};
use super::{NO_MORE, Row, Rows};
use crate::error::{Code, Error};
use crate::text::clean;

/// The most fields that are remembered for an error, and the most that one lists.
const REMEMBERED: usize = 1000;
const LISTED: usize = 40;
/// The deepest member that is listed.
const DEPTH: usize = 6;

/// The fields that were asked for and found, and those that there are.
#[derive(Debug, Default)]
pub(super) struct Fields {
    found: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Fields {
    /// Returns the values of `fields` of an item: of its record, else of the JSON that it was read from.
    pub(super) fn values(
        &mut self,
        fields: &[String],
        record: &Record<'_>,
        subject: &str,
        raw: &[u8],
    ) -> Vec<Option<String>> {
        let mut item = None;
        let mut of = |field: &String| {
            let own = value(record, subject, field);
            if own.is_some() || is_declared(record.card, field) || raw.is_empty() {
                return own;
            }
            let item = item.get_or_insert_with(|| serde_json::from_slice::<Value>(raw).unwrap_or_default());
            let value = member(item, field).and_then(scalar);
            if value.is_some() {
                if !self.found.contains(field) {
                    self.found.insert(field.clone());
                }
            } else if !self.found.contains(field) && self.seen.len() < REMEMBERED {
                note(item, &mut String::new(), 0, &mut self.seen);
            }
            value
        };
        fields.iter().map(&mut of).collect()
    }

    /// Rejects a field that no item has.
    pub(super) fn check<'c>(
        &self,
        field: &str,
        flag: &str,
        cards: impl Iterator<Item = &'c Scorecard> + Clone,
    ) -> Result<(), Error> {
        if self.found.contains(field) || cards.clone().any(|card| is_declared(card, field)) {
            return Ok(());
        }
        Err(unknown(field, flag, declared(cards).into_iter().chain(self.seen.iter().cloned())))
    }

    /// Returns the fields that there are, as far as they were looked for.
    pub(super) fn known(self) -> Vec<String> {
        self.seen.into_iter().collect()
    }
}

/// Returns the error for a field that no item has, with those that there are.
pub(super) fn unknown(field: &str, flag: &str, known: impl Iterator<Item = String>) -> Error {
    let known: BTreeSet<String> = known.collect();
    let error = Error::new(Code::InvalidOption, format!("{flag}: no item has a field `{}`", clean(field)));
    let error = match nearest(field, known.iter().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean `{}`?", clean(near))),
        None => error,
    };
    let more = known.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let names: Vec<String> = known.iter().take(LISTED).map(|name| clean(name).into_owned()).collect();
    error.hint(format!("there are: {}{more}", names.join(", ")))
}

/// Returns the member of an item at a path: `channel`, `metrics.cost`, `$.metrics.cost`, `steps[0].tool`. A name with
/// a dot is tried as it is first.
fn member<'v>(item: &'v Value, path: &str) -> Option<&'v Value> {
    if let Some(found) = item.get(path) {
        return Some(found);
    }
    let path = path.strip_prefix("$.").unwrap_or(path);
    let mut at = item;
    let mut rest = path;
    while !rest.is_empty() {
        // The longest name that there is, as names may have dots.
        let ends = rest.match_indices(['.', '[']).map(|(end, _)| end).chain([rest.len()]).collect::<Vec<_>>();
        let step = ends.into_iter().rev().find_map(|end| Some((at.get(rest.get(..end)?)?, rest.get(end..)?)));
        (at, rest) = step?;
        while let Some((number, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']')) {
            (at, rest) = (at.get(number.parse::<usize>().ok()?)?, after);
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Some(at)
}

/// Returns the text of a value that is neither an object nor a list; none for null.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Notes the paths of the values in an item.
fn note(value: &Value, path: &mut String, depth: usize, seen: &mut BTreeSet<String>) {
    if let Value::Object(members) = value {
        for (name, value) in members.iter().filter(|_| depth < DEPTH) {
            let length = path.len();
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
            note(value, path, depth + 1, seen);
            path.truncate(length);
        }
    } else if scalar(value).is_some() && seen.len() < REMEMBERED {
        seen.insert(path.clone());
    }
}

/// Returns the number that a value is: as written, or 1 and 0 for true and false.
#[must_use]
pub fn number(value: &str) -> Option<f64> {
    match value {
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => text.trim().parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// The fact that is ranked, and the ends of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct FactScale {
    /// Its name.
    pub name: String,
    /// Its unit, if the scorecard states one.
    pub(crate) unit: Option<String>,
    pub(crate) lower_is_better: bool,
    worst: f64,
    best: f64,
}

impl FactScale {
    /// Returns the place of a value between the worst and the best, in billionths.
    fn place(&self, value: f64) -> i64 {
        let range = self.best - self.worst;
        let share = if range == 0.0 { 1.0 } else { (value - self.worst) / range };
        round(share * BILLION as f64) as i64
    }

    /// Returns the value at a place, without the digits that a place does not have.
    pub(crate) fn value(&self, share: f64) -> f64 {
        let range = self.best - self.worst;
        let mut digits = 1.0;
        while digits * range.abs() < 1e8 && digits < 1e15 && range != 0.0 {
            digits *= 10.0;
        }
        let value = self.worst + range * share;
        let rounded = round(value * digits) / digits;
        if rounded.is_finite() && range != 0.0 { rounded } else { value }
    }
}

impl Rows {
    /// Returns the fact that is ranked.
    #[must_use]
    pub fn ranked_fact(&self) -> Option<&FactScale> {
        self.fact.as_ref()
    }

    /// Returns the index of a kept field that an item states.
    #[must_use]
    pub fn kept_field(&self, field: &str) -> Option<usize> {
        let at = self.kept.iter().position(|known| known == field)?;
        self.rows.iter().any(|row| row.kept(at).is_some()).then_some(at)
    }

    /// Returns the error for a field that no item has.
    #[must_use]
    pub fn unknown_field(&self, field: &str, flag: &str) -> Error {
        let cards = self.scorers.iter().map(|scorer| scorer.card());
        unknown(field, flag, declared(cards).into_iter().chain(self.fields.iter().cloned()))
    }

    /// Returns the numbers of a kept field, an item each.
    ///
    /// # Errors
    /// If no item has the field, or one has something else than a number there.
    pub fn numbers(&self, field: &str, flag: &str) -> Result<Vec<Option<f64>>, Error> {
        let at = self.kept_field(field).ok_or_else(|| self.unknown_field(field, flag))?;
        let number_of = |row: &Row| match row.kept(at) {
            None => Ok(None),
            Some(text) => number(text).map(Some).ok_or_else(|| {
                let message = format!(
                    "{flag}: `{}` is `{}` at {}, expected a number",
                    clean(field),
                    clean(text),
                    clean(&self.place(row))
                );
                Error::new(Code::InvalidOption, message)
                    .hint("a leaderboard for each value of a text: --group-by")
            }),
        };
        self.rows.iter().map(number_of).collect()
    }

    /// Chooses the fact to rank by: each item gets its place between the worst and the best value of all.
    ///
    /// # Errors
    /// If no item has the field, or one has something else than a number there.
    pub fn rank_by(&mut self, field: &str, lower_is_better: bool, flag: &str) -> Result<(), Error> {
        let numbers = self.numbers(field, flag)?;
        let (low, high) = numbers
            .iter()
            .flatten()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(*it), high.max(*it)));
        let (worst, best) = if lower_is_better { (high, low) } else { (low, high) };
        let facts = self.scorers.iter().flat_map(|scorer| &scorer.card().facts);
        let unit =
            facts.filter(|fact| fact.name == field && fact.has_unit).map(|fact| fact.unit.clone()).next();
        let scale = FactScale { name: field.to_owned(), unit, lower_is_better, worst, best };
        for (row, number) in self.rows.iter_mut().zip(numbers) {
            let fact = number.map(|number| scale.place(number));
            if fact.is_some() {
                row.more.get_or_insert_with(|| Box::new(NO_MORE.clone())).fact = fact;
            }
        }
        self.fact = Some(scale);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_is_found_by_its_path_also_where_names_have_dots() {
        let item = json!({"a.b": 1, "a": {"b": 2, "c.d": {"e": 3}, "l": [{"x": 4}, 5]}, "n": null});
        let found = |path: &str| member(&item, path).and_then(scalar);
        for (path, expected) in [
            ("a.b", Some("1")),
            ("$.a.b", Some("1")),
            ("a.c.d.e", Some("3")),
            ("a.l[0].x", Some("4")),
            ("a.l[1]", Some("5")),
            ("a.l[2]", None),
            ("a", None),
            ("n", None),
            ("a.b.c", None),
            ("", None),
            ("[", None),
            ("a.l[", None),
        ] {
            assert_eq!(found(path).as_deref(), expected, "{path}");
        }
        let mut seen = BTreeSet::new();
        note(&item, &mut String::new(), 0, &mut seen);
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["a.b", "a.c.d.e"]);
    }

    proptest! {
        #[test]
        fn a_value_comes_back_from_its_place(low in -1e6..1e6_f64, range in 1e-6..1e6_f64, share in 0.0..=1.0_f64, lower: bool) {
            let (worst, best) = if lower { (low + range, low) } else { (low, low + range) };
            let scale = FactScale { name: String::new(), unit: None, lower_is_better: lower, worst, best };
            let value = worst + (best - worst) * share;
            let place = scale.place(value);
            prop_assert!((0..=BILLION).contains(&place));
            let back = scale.value(place as f64 / 1e9);
            prop_assert!((back - value).abs() <= range * 2e-8 + value.abs() * 1e-12, "{} {}", value, back);
        }

        #[test]
        fn no_path_makes_it_panic(path in ".{0,20}") {
            let item = json!({"a": {"b": [1, {"c": 2}]}});
            let _ = member(&item, &path);
        }
    }
}
