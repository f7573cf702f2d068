//! The fields of items beyond what a scorecard declares: of a table, of nested JSON, of what an import left in an item.
//! Nothing here reaches a score: leaderboards group by them, show their means, and rank by them.

use std::collections::{BTreeMap, BTreeSet};

use karat_core::diagnostic::nearest;
use karat_core::number::{BILLION, round};
use karat_core::scorecard::{FieldPath, Scorecard, Step};
use karat_evidence::cells;
use serde_json::Value;
use serde_json::value::RawValue;

use super::filter::{declared, is_declared};
use super::problems::Problems;
use super::{NO_MORE, Row, Rows};
use crate::error::{Code, Error};
use crate::text::{clean, short};

/// The most fields that are remembered for an error, of as many items; and the most that one lists.
const REMEMBERED: usize = 1000;
const LISTED: usize = 40;
/// The deepest member that is listed.
const DEPTH: usize = 6;

/// The fields that were asked for and found, and those that there are.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    found: BTreeSet<String>,
    seen: BTreeSet<String>,
    /// The number of items whose fields were noted.
    noted: usize,
}

impl Fields {
    /// Returns the values of `fields` of an item under a card: by `own`, of its record, else of the JSON that it was read
    /// from.
    pub(crate) fn values(
        &mut self,
        fields: &[String],
        own: impl Fn(&str) -> Option<String>,
        card: &Scorecard,
        raw: &[u8],
    ) -> Vec<Option<String>> {
        let mut item = None;
        let mut of = |field: &String| {
            let own = own(field);
            if own.is_some() || is_declared(card, field) || raw.is_empty() {
                return own;
            }
            let item = item.get_or_insert_with(|| serde_json::from_slice::<Value>(raw).unwrap_or_default());
            let path = FieldPath::of_field(field);
            let value = member(item, &path).and_then(|found| {
                match found {
                    // A whole number beyond 64 bits is rounded there.
                    Value::Number(number) if number.is_f64() => verbatim(raw, &path),
                    _ => None,
                }
                .or_else(|| scalar(found))
            });
            if value.is_some() {
                if !self.found.contains(field) {
                    self.found.insert(field.clone());
                }
            } else if !self.found.contains(field) && self.seen.len().max(self.noted) < REMEMBERED {
                self.noted += 1;
                note(item, item, &mut Vec::new(), &mut self.seen);
            }
            value
        };
        fields.iter().map(&mut of).collect()
    }

    /// Notes whether an item under a card has a field.
    pub(crate) fn see(&mut self, field: &String, card: &Scorecard, raw: &[u8]) {
        if !self.found.contains(field) {
            drop(self.values(std::slice::from_ref(field), |_| None, card, raw));
        }
    }

    /// Adds what was found in other items.
    pub(crate) fn add(&mut self, other: Self) {
        self.found.extend(other.found);
        self.seen.extend(other.seen);
        self.noted += other.noted;
    }

    /// Rejects a field that no item has.
    pub(crate) fn check<'c>(
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

/// Returns the value of a field of an item, by the one rule of fields; none for null.
fn member<'v>(item: &'v Value, path: &FieldPath) -> Option<&'v Value> {
    let down = |here: &'v Value, step: &Step| match step {
        Step::Member(name) => here.as_object()?.get(name),
        Step::Element(at) => here.as_array()?.get(usize::try_from(*at).ok()?),
    };
    path.find(item, |here, step| down(here, step).filter(|it| !it.is_null()))
}

/// Returns a whole number of an item as it is written, if it has more digits than a double tells apart.
fn verbatim(raw: &[u8], path: &FieldPath) -> Option<String> {
    let root: &RawValue = serde_json::from_slice(raw).ok()?;
    let text = path.find(root, within)?.get();
    text.trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()).then(|| text.to_owned())
}

fn within<'v>(here: &'v RawValue, step: &Step) -> Option<&'v RawValue> {
    match step {
        Step::Member(name) => {
            serde_json::from_str::<BTreeMap<String, &RawValue>>(here.get()).ok()?.get(name).copied()
        }
        Step::Element(at) => {
            serde_json::from_str::<Vec<&RawValue>>(here.get()).ok()?.get(usize::try_from(*at).ok()?).copied()
        }
    }
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

/// Notes the fields of an item, each by a name that finds it.
fn note<'v>(item: &'v Value, here: &'v Value, way: &mut Vec<String>, seen: &mut BTreeSet<String>) {
    if let Value::Object(members) = here {
        for (name, value) in members {
            if way.len() == DEPTH {
                break;
            }
            way.push(name.clone());
            note(item, value, way, seen);
            way.pop();
        }
    } else if scalar(here).is_some() && seen.len() < REMEMBERED {
        let path = FieldPath::of_members(way);
        let names = path.iter().flat_map(|path| [path.column(), path.to_string()]);
        let mut leading = names.filter(|name| {
            member(item, &FieldPath::of_field(name)).is_some_and(|found| std::ptr::eq(found, here))
        });
        seen.extend(leading.next());
    }
}

/// Returns the number that a value is: as written, or 1 and 0 for true and false.
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
    pub(crate) fn ranked_fact(&self) -> Option<&FactScale> {
        self.fact.as_ref()
    }

    /// Returns the index of a kept field that an item states.
    pub(crate) fn kept_field(&self, field: &str) -> Option<usize> {
        let at = self.kept.iter().position(|known| known == field)?;
        self.rows.iter().any(|row| row.kept(at).is_some()).then_some(at)
    }

    /// Returns the error for a field that no item has.
    pub(crate) fn unknown_field(&self, field: &str, flag: &str) -> Error {
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
                Error::new(Code::InvalidOption, message).hint("group by it for a leaderboard of each value")
            }),
        };
        self.rows.iter().map(number_of).collect()
    }

    /// Returns the values of a kept field, an item each.
    ///
    /// # Errors
    /// If no item has the field.
    pub(crate) fn texts(&self, field: &str, flag: &str) -> Result<Vec<Option<&str>>, Error> {
        let at = self.kept_field(field).ok_or_else(|| self.unknown_field(field, flag))?;
        Ok(self.rows.iter().map(|row| row.kept(at)).collect())
    }

    /// Returns the verdicts in a kept field, an item each, as shares: a word such as `pass`, true and false, or a number from 0 to 1.
    ///
    /// # Errors
    /// If no item has the field, or some have something else there: all of them.
    pub(crate) fn shares(&self, field: &str, flag: &str) -> Result<Vec<Option<f64>>, Error> {
        let texts = self.texts(field, flag)?;
        let mut problems = Problems::default();
        let mut share = |(text, row): (Option<&str>, &Row)| {
            let text = text.filter(|text| !cells::is_missing(text))?;
            let flag = cells::flag(text).map(f64::from);
            let number = || cells::number(text).filter(|number| (0.0..=1.0).contains(number));
            let found = flag.or_else(number);
            if found.is_none() {
                let (place, field, text) = (self.place(row), clean(field), short(text));
                problems.add(format!(
                    "{place}: `{field}` is `{text}`, expected pass or fail, or a number from 0 to 1"
                ));
            }
            found
        };
        let shares = texts.into_iter().zip(&self.rows).map(&mut share).collect();
        problems.end("correct them, or name another field")?;
        Ok(shares)
    }

    /// Chooses the fact to rank by: each item gets its place between the worst and the best value of all.
    ///
    /// # Errors
    /// If no item has the field, or one has something else than a number there.
    pub(crate) fn rank_by(&mut self, field: &str, lower_is_better: bool, flag: &str) -> Result<(), Error> {
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
    use karat_core::facts::Fact;
    use karat_reader::{FactType, Kind, Reader, ReaderOptions};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_member_is_found_by_its_path() {
        let item = json!({"a.b": 1, "a": {"b": 2, "c.d": {"e": 3}, "l": [{"x": 4}, 5]}, "f.g": 6, "n": null});
        let found = |field: &str| member(&item, &FieldPath::of_field(field)).and_then(scalar);
        for (field, expected) in [
            ("a.b", Some("2")),
            ("$.a.b", Some("2")),
            ("$[\"a.b\"]", Some("1")),
            ("f.g", Some("6")),
            ("$.f.g", Some("6")),
            ("a[\"c.d\"].e", Some("3")),
            ("a.c.d.e", None),
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
            assert_eq!(found(field).as_deref(), expected, "{field}");
        }
        let mut seen = BTreeSet::new();
        note(&item, &item, &mut Vec::new(), &mut seen);
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["$[\"a.b\"]", "a.b", "a[\"c.d\"].e", "f.g"]);
    }

    #[test]
    fn whole_numbers_of_any_length_stay_apart() {
        let of = |text: &str, field: &str| verbatim(text.as_bytes(), &FieldPath::of_field(field));
        let long = "{\"a\": {\"b\": [0, 123456789012345678901234567891]}, \"c\": -123456789012345678901234567892, \"d\": 1.50}";
        assert_eq!(of(long, "a.b[1]").as_deref(), Some("123456789012345678901234567891"));
        assert_eq!(of(long, "c").as_deref(), Some("-123456789012345678901234567892"));
        assert_eq!(of(long, "d"), None);
        assert_eq!(of(long, "a.b[2]"), None);
    }

    /// Returns objects in objects with names that look like paths, quotes and brackets, and with any others.
    fn nested() -> impl Strategy<Value = Value> {
        let name = || prop_oneof!["[ab.\\[\\]\"'$\\\\0é ]{0,4}", "[^\\x00-\\x1f\\x7f-\\x9f]{0,5}"];
        let leaf = (0..1_000_000).prop_map(|number| json!(number));
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop::collection::btree_map(name(), inner, 1..4).prop_map(|members| json!(members))
        })
    }

    /// Returns the way to every value other than an object.
    fn ways(value: &Value, way: &mut Vec<String>, all: &mut Vec<(Vec<String>, Value)>) {
        match value {
            Value::Object(members) => members.iter().for_each(|(name, value)| {
                way.push(name.clone());
                ways(value, way, all);
                way.pop();
            }),
            value => all.push((way.clone(), value.clone())),
        }
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
        fn every_field_has_a_name_that_finds_it_and_readers_of_facts_find_the_same(item in nested()) {
            prop_assume!(item.is_object());
            let mut seen = BTreeSet::new();
            note(&item, &item, &mut Vec::new(), &mut seen);
            let mut all = Vec::new();
            ways(&item, &mut Vec::new(), &mut all);
            all.retain(|(way, _)| way.len() <= DEPTH);
            prop_assert_eq!(seen.len(), all.len());
            let found = |path: &FieldPath| member(&item, path).and_then(scalar);
            for (way, value) in all {
                let path = FieldPath::of_members(&way).unwrap();
                prop_assert_eq!(found(&path), scalar(&value));
                prop_assert_eq!(found(&FieldPath::of_field(&path.to_string())), scalar(&value));
            }
            // The reader of facts declares the same field: it finds the same, or refuses an item that has it twice.
            for name in &seen {
                let path = FieldPath::of_field(name);
                let wanted = [(path.to_string(), FactType::Number)];
                let options = ReaderOptions { subject_field: Some(String::from("who is it")), ..ReaderOptions::default() };
                let mut reader = Reader::new(Kind::Facts, &wanted, options).unwrap();
                let mut item = item.clone();
                let members = item.as_object_mut().unwrap();
                ["id", "n", "time", "task", "outcome", "who is it"].iter().for_each(|name| drop(members.remove(*name)));
                members.insert(String::from("who is it"), json!("someone"));
                let text = item.to_string();
                let Ok(read) = reader.read(text.as_bytes()) else { continue };
                let expected = member(&item, &path).and_then(Value::as_f64).map_or(Fact::Missing, Fact::Number);
                prop_assert_eq!(read.item().facts, [expected]);
            }
        }

        #[test]
        fn no_path_makes_it_panic(field in ".{0,20}") {
            let item = json!({"a": {"b": [1, {"c": 2}]}});
            let _ = member(&item, &FieldPath::of_field(&field));
        }
    }
}
