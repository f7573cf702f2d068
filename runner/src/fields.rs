//! Typed access to the tables of a TOML file, with a fault for everything that does not fit.

use std::collections::BTreeMap;
use std::ops::Range;

use karat_core::diagnostic::nearest;
use karat_run::{Fault, quoted};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The faults of a file, as it is read.
pub(crate) struct Report<'t> {
    text: &'t str,
    pub faults: Vec<Fault>,
}

impl<'t> Report<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, faults: Vec::new() }
    }

    pub(crate) fn add(&mut self, at: usize, message: impl Into<String>, hint: impl Into<String>) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() as u64 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u64 + 1;
        self.faults.push(Fault { place: Some((line, column)), message: message.into(), hint: hint.into() });
    }
}

/// One table of the file.
#[derive(Clone)]
pub(crate) struct Fields<'a, 't> {
    table: &'a DeTable<'t>,
    /// Its name in messages: "`[executor.sn1]`".
    what: String,
    /// The first byte of the table, or of its name.
    pub at: usize,
    /// Absent fields that an unknown field was most likely meant to be.
    misspelt: Vec<String>,
}

/// A number and the words for the range that it must be in.
#[derive(Clone, Copy)]
pub(crate) struct Bounds(pub f64, pub f64);

impl<'a, 't> Fields<'a, 't> {
    /// Wraps a table, and reports every field that is not known.
    pub(crate) fn new(
        table: &'a DeTable<'t>,
        what: String,
        at: usize,
        known: &[&str],
        report: &mut Report<'_>,
    ) -> Self {
        let mut misspelt = Vec::new();
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let near = nearest(key.get_ref(), known.iter().copied());
            misspelt.extend(near.filter(|near| !table.contains_key(*near)).map(str::to_owned));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the fields are {}", known.join(", ")),
            };
            report.add(key.span().start, format!("{what} has no field {}", quoted(key.get_ref())), hint);
        }
        Self { table, what, at, misspelt }
    }

    /// Returns the tables in a table of this one, each with its name and the place of the name.
    pub(crate) fn tables(
        &self,
        field: &str,
        report: &mut Report<'_>,
    ) -> Vec<(&'a str, usize, &'a DeTable<'t>)> {
        let Some(tables) = self.table_of(field, report) else { return Vec::new() };
        let mut found = Vec::new();
        for (name, value) in tables {
            match value.get_ref() {
                DeValue::Table(table) => found.push((name.get_ref().as_ref(), name.span().start, table)),
                _ => report.add(value.span().start, format!("`{field}` has tables, `[{field}.NAME]`"), ""),
            }
        }
        found
    }

    /// Returns a table of this one.
    pub(crate) fn table_of(&self, field: &str, report: &mut Report<'_>) -> Option<&'a DeTable<'t>> {
        let value = self.table.get(field)?;
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => self.mismatch(field, value.span(), "a table", report),
        }
    }

    pub(crate) fn place(&self, field: &str) -> usize {
        self.table.get(field).map_or(self.at, |value| value.span().start)
    }

    pub(crate) fn has(&self, field: &str) -> bool {
        self.table.contains_key(field)
    }

    fn mismatch<T>(
        &self,
        field: &str,
        span: Range<usize>,
        expected: &str,
        report: &mut Report<'_>,
    ) -> Option<T> {
        report.add(span.start, format!("`{field}` of {} must be {expected}", self.what), "");
        None
    }

    /// Reports a field that is not there.
    pub(crate) fn required<T>(
        &self,
        field: &str,
        found: Option<T>,
        example: &str,
        report: &mut Report<'_>,
    ) -> Option<T> {
        if found.is_none() && !self.has(field) && !self.misspelt.iter().any(|it| it == field) {
            report.add(
                self.at,
                format!("{} has no `{field}`", self.what),
                format!("add `{field} = {example}`"),
            );
        }
        found
    }

    pub(crate) fn text(&self, field: &str, report: &mut Report<'_>) -> Option<&'a str> {
        let value = self.table.get(field)?;
        match value.get_ref() {
            DeValue::String(text) => Some(text.as_ref()),
            _ => self.mismatch(field, value.span(), "a text", report),
        }
    }

    pub(crate) fn flag(&self, field: &str, report: &mut Report<'_>) -> Option<bool> {
        let value = self.table.get(field)?;
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => self.mismatch(field, value.span(), "`true` or `false`", report),
        }
    }

    pub(crate) fn number(&self, field: &str, bounds: Bounds, report: &mut Report<'_>) -> Option<f64> {
        let value = self.table.get(field)?;
        let number = number_of(value).filter(|number| (bounds.0..=bounds.1).contains(number));
        let expected = || format!("a number from {} to {}", bounds.0, bounds.1);
        number.or_else(|| self.mismatch(field, value.span(), &expected(), report))
    }

    pub(crate) fn count(&self, field: &str, least: u64, most: u64, report: &mut Report<'_>) -> Option<u64> {
        let value = self.table.get(field)?;
        let count = match value.get_ref() {
            DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            _ => None,
        };
        let count = count.filter(|count| (least..=most).contains(count));
        let expected = || format!("a whole number from {least} to {most}");
        count.or_else(|| self.mismatch(field, value.span(), &expected(), report))
    }

    /// Returns the texts of an array, each with its place.
    pub(crate) fn texts(&self, field: &str, report: &mut Report<'_>) -> Option<Vec<(&'a str, usize)>> {
        let value = self.table.get(field)?;
        let DeValue::Array(elements) = value.get_ref() else {
            return self.mismatch(field, value.span(), "an array of texts", report);
        };
        let mut texts = Vec::new();
        for element in elements {
            match element.get_ref() {
                DeValue::String(text) => texts.push((text.as_ref(), element.span().start)),
                _ => return self.mismatch(field, element.span(), "an array of texts", report),
            }
        }
        Some(texts)
    }

    /// Returns the texts of a table by their names, with their places.
    pub(crate) fn texts_by_name(
        &self,
        field: &str,
        report: &mut Report<'_>,
    ) -> BTreeMap<&'a str, (&'a str, usize)> {
        let mut texts = BTreeMap::new();
        for (name, value) in self.table_of(field, report).into_iter().flatten() {
            match value.get_ref() {
                DeValue::String(text) => {
                    texts.insert(name.get_ref().as_ref(), (text.as_ref(), value.span().start));
                }
                _ => {
                    let found: Option<()> = self.mismatch(field, value.span(), "a table of texts", report);
                    debug_assert!(found.is_none());
                }
            }
        }
        texts
    }
}

fn number_of(value: &Spanned<DeValue<'_>>) -> Option<f64> {
    match value.get_ref() {
        DeValue::Integer(digits) => {
            i64::from_str_radix(digits.as_str(), digits.radix()).ok().map(|number| number as f64)
        }
        DeValue::Float(digits) => digits.as_str().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}
