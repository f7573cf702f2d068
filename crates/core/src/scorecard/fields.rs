//! Typed access to the tables of a scorecard file, with a diagnostic for everything that does not fit.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::{Code, Diagnostic, Severity, nearest};
use crate::number::{Decimal, DecimalError};

type Spanned<T> = toml::Spanned<T>;

/// A text of the file with its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Text {
    pub value: String,
    pub span: Range<usize>,
}

/// Collects diagnostics while a file is read.
pub(super) struct Report<'t> {
    pub text: &'t str,
    pub found: Vec<Diagnostic>,
    /// Part of the file was refused and left out, so what is absent or does not add up may only follow from that.
    pub is_partial: bool,
}

impl<'t> Report<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, found: Vec::new(), is_partial: false }
    }

    pub(super) fn error(&mut self, code: Code, span: Range<usize>, message: String, help: impl Into<String>) {
        self.add(Severity::Error, code, span, message, help.into());
    }

    /// Reports a value that is not allowed.
    pub(super) fn bad(&mut self, span: Range<usize>, message: String, help: impl Into<String>) {
        self.error(Code::BadValue, span, message, help);
    }

    /// Reports an error about something absent, or about a total: kept back where it may only follow from another
    /// error.
    pub(crate) fn error_if_whole(
        &mut self,
        code: Code,
        span: Range<usize>,
        message: String,
        help: impl Into<String>,
    ) {
        if !self.is_partial {
            self.error(code, span, message, help);
        }
    }

    pub(super) fn warn(&mut self, code: Code, span: Range<usize>, message: String, help: impl Into<String>) {
        self.add(Severity::Warning, code, span, message, help.into());
    }

    fn add(&mut self, severity: Severity, code: Code, span: Range<usize>, message: String, help: String) {
        self.found.push(Diagnostic { code, severity, span, message, label: String::new(), help });
    }

    pub(super) fn failed(&self) -> bool {
        self.found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// One table of the file, whose fields are all known.
#[derive(Clone)]
pub(super) struct Fields<'a, 't> {
    table: &'a DeTable<'t>,
    /// The name of the table in messages: "dimension `cost`".
    what: String,
    pub span: Range<usize>,
    /// Absent fields that an unknown field was most likely meant to be.
    misspelt: Vec<&'static str>,
}

impl<'a, 't> Fields<'a, 't> {
    /// Wraps a table and reports every field that is not in `known`.
    pub(super) fn new(
        table: &'a DeTable<'t>,
        span: Range<usize>,
        what: impl Into<String>,
        known: &[&'static str],
        report: &mut Report<'_>,
    ) -> Self {
        let what = what.into();
        let mut misspelt = Vec::new();
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let near = nearest(key.get_ref(), known.iter().copied());
            misspelt.extend(near.filter(|near| !table.contains_key(*near)));
            let help = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the fields are {}", known.join(", ")),
            };
            let message = format!("{what} has no field `{}`", key.get_ref());
            report.error(Code::UnknownField, key.span(), message, help);
        }
        report.is_partial |= !misspelt.is_empty();
        Self { table, what, span, misspelt }
    }

    fn value(&self, field: &str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.table.get(field)
    }

    /// Returns the value of a field as it is written, whatever its type.
    pub(super) fn raw(&self, field: &str) -> Option<&'a Spanned<DeValue<'t>>> {
        self.value(field)
    }

    pub(super) fn has(&self, field: &str) -> bool {
        self.value(field).is_some()
    }

    /// Returns the place of a field's value, or of the table where the field is absent.
    pub(super) fn place(&self, field: &str) -> Range<usize> {
        self.value(field).map_or_else(|| self.span.clone(), Spanned::span)
    }

    fn mismatch(&self, field: &str, expected: &str, report: &mut Report<'_>) {
        self.mismatch_with(field, expected, String::new(), report);
    }

    fn mismatch_with(&self, field: &str, expected: &str, help: String, report: &mut Report<'_>) {
        if let Some(value) = self.value(field) {
            let found = value.get_ref().type_str();
            let message =
                format!("`{field}` of {} must be {expected}, here is {} {found}", self.what, article(found));
            report.is_partial = true;
            report.error(Code::WrongType, value.span(), message, help);
        }
    }

    pub(super) fn text(&self, field: &str, report: &mut Report<'_>) -> Option<Text> {
        let value = self.value(field)?;
        match value.get_ref().as_str() {
            Some(text) => {
                Some(Text { value: text.to_string(), span: inner_span(report.text, value.span(), text) })
            }
            None => {
                self.mismatch(field, "a text in quotes", report);
                None
            }
        }
    }

    pub(crate) fn text_or_empty(&self, field: &str, report: &mut Report<'_>) -> String {
        self.text(field, report).map_or_else(String::new, |text| text.value)
    }

    pub(super) fn required(&self, field: &str, help: &str, report: &mut Report<'_>) -> Option<Text> {
        if !self.has(field) {
            self.require(field, help, report);
        }
        self.text(field, report).filter(|text| {
            let given = !text.value.trim().is_empty();
            if !given {
                report.bad(text.span.clone(), format!("`{field}` of {} is empty", self.what), help);
            }
            given
        })
    }

    pub(super) fn require(&self, field: &str, help: &str, report: &mut Report<'_>) {
        if !self.has(field) && !self.misspelt.contains(&field) {
            report.error(
                Code::MissingField,
                self.span.clone(),
                format!("{} needs `{field}`", self.what),
                help,
            );
        }
    }

    pub(super) fn flag(&self, field: &str, report: &mut Report<'_>) -> Option<bool> {
        let value = self.value(field)?.get_ref().as_bool();
        if value.is_none() {
            self.mismatch(field, "true or false", report);
        }
        value
    }

    /// Returns a text where the field holds one; other types are for other readers to report.
    pub(crate) fn text_if_text(&self, field: &str, report: &mut Report<'_>) -> Option<Text> {
        if self.value(field)?.get_ref().is_str() { self.text(field, report) } else { None }
    }

    /// Returns a table where the field holds one; other types are for other readers to report.
    pub(crate) fn table_if_table(
        &self,
        field: &str,
        what: &str,
        known: &[&'static str],
        report: &mut Report<'_>,
    ) -> Option<Self> {
        if self.value(field)?.get_ref().is_table() { self.table(field, what, known, report) } else { None }
    }

    /// Returns a finite number as a double, for the range of a fact.
    pub(super) fn number(&self, field: &str, report: &mut Report<'_>) -> Option<f64> {
        let value = self.value(field)?;
        let parsed =
            number_text(value.get_ref()).and_then(|text| text.parse::<f64>().ok()).filter(|x| x.is_finite());
        if parsed.is_none() {
            self.mismatch(field, "a finite number", report);
        }
        parsed
    }

    /// Returns a decimal kept to six places, not negative.
    pub(super) fn decimal(&self, field: &str, report: &mut Report<'_>) -> Option<Decimal> {
        decimal(self.value(field)?, &format!("`{field}` of {}", self.what), report)
    }

    /// Returns a decimal, or the default if the field is absent.
    pub(crate) fn decimal_or(&self, field: &str, default: Decimal, report: &mut Report<'_>) -> Decimal {
        let given = self.decimal(field, report);
        report.is_partial |= given.is_none() && self.has(field);
        given.unwrap_or(default)
    }

    /// Returns a whole number between `low` and `high`.
    pub(super) fn whole(&self, field: &str, low: u32, high: u32, report: &mut Report<'_>) -> Option<u32> {
        whole(self.value(field)?, &format!("`{field}` of {}", self.what), low, high, report)
    }

    /// Reads one of a list of words.
    pub(super) fn word<T: Copy>(
        &self,
        field: &str,
        words: &[(&str, T)],
        report: &mut Report<'_>,
    ) -> Option<T> {
        let text = self.text(field, report)?;
        let found = words.iter().find(|(word, _)| *word == text.value).map(|&(_, value)| value);
        if found.is_none() {
            let names: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            let help = match nearest(&text.value, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => String::new(),
            };
            let message = format!(
                "`{field}` of {} is `{}`, it must be one of {}",
                self.what,
                text.value,
                names.join(", ")
            );
            report.is_partial = true;
            report.bad(text.span, message, help);
        }
        found
    }

    pub(super) fn texts(&self, field: &str, report: &mut Report<'_>) -> Vec<Text> {
        let Some(value) = self.value(field) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            self.mismatch(field, "a list of texts", report);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for element in list {
            match element.get_ref().as_str() {
                Some(text) => texts.push(Text {
                    value: text.to_string(),
                    span: inner_span(report.text, element.span(), text),
                }),
                None => {
                    let message = format!("`{field}` of {} must hold texts only", self.what);
                    report.error(Code::WrongType, element.span(), message, "");
                }
            }
        }
        texts
    }

    pub(super) fn table(
        &self,
        field: &str,
        what: &str,
        known: &[&'static str],
        report: &mut Report<'_>,
    ) -> Option<Self> {
        let table = self.table_value(field, report)?;
        Some(Self::new(table, self.place(field), what, known, report))
    }

    fn table_value(&self, field: &str, report: &mut Report<'_>) -> Option<&'a DeTable<'t>> {
        let table = self.value(field)?.get_ref().as_table();
        if table.is_none() {
            self.mismatch(field, "a table", report);
        }
        table
    }

    /// Returns the entries of a table whose keys are free, in the order of the file.
    pub(super) fn entries(
        &self,
        field: &str,
        report: &mut Report<'_>,
    ) -> Vec<(Text, &'a Spanned<DeValue<'t>>)> {
        self.table_value(field, report).map_or_else(Vec::new, in_file_order)
    }

    /// Returns the tables of an array `[[field]]`.
    pub(super) fn tables(
        &self,
        field: &str,
        most: usize,
        known: &[&'static str],
        report: &mut Report<'_>,
    ) -> Vec<Self> {
        let Some(value) = self.value(field) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            let name = value.get_ref().as_table().and_then(|table| table.keys().next());
            let help = name.map_or_else(String::new, |name| {
                let key = known.first().copied().unwrap_or("name");
                format!("write `[[{field}]]`, and below it {key} = \"{}\"", name.get_ref())
            });
            self.mismatch_with(field, &format!("written as `[[{field}]]`"), help, report);
            return Vec::new();
        };
        if list.len() > most {
            report.error(
                Code::TooLarge,
                value.span(),
                format!("{} entries of `{field}`, at most {most} are allowed", list.len()),
                "",
            );
            return Vec::new();
        }
        let mut tables = Vec::new();
        for element in list {
            match element.get_ref().as_table() {
                Some(table) => {
                    let name =
                        ["key", "name", "code"].iter().find_map(|name| table.get(*name)?.get_ref().as_str());
                    let what = name.map_or_else(|| field.to_string(), |name| format!("{field} `{name}`"));
                    tables.push(Self::new(table, element.span(), what, known, report));
                }
                None => {
                    let message = format!("`{field}` must hold tables: `[[{field}]]`");
                    report.is_partial = true;
                    report.error(Code::WrongType, element.span(), message, "");
                }
            }
        }
        tables
    }
}

/// Returns the entries of a table in the order of the file; the table itself keeps them sorted by key.
pub(super) fn in_file_order<'a, 't>(table: &'a DeTable<'t>) -> Vec<(Text, &'a Spanned<DeValue<'t>>)> {
    let mut entries: Vec<_> = table
        .iter()
        .map(|(key, value)| (Text { value: key.get_ref().to_string(), span: key.span() }, value))
        .collect();
    entries.sort_by_key(|(key, _)| key.span.start);
    entries
}

/// Returns a decimal of the file, not negative, kept to six places.
pub(super) fn decimal(value: &Spanned<DeValue<'_>>, what: &str, report: &mut Report<'_>) -> Option<Decimal> {
    let Some(text) = number_text(value.get_ref()) else {
        let found = value.get_ref().type_str();
        report.error(
            Code::WrongType,
            value.span(),
            format!("{what} must be a number, here is {} {found}", article(found)),
            "",
        );
        return None;
    };
    match Decimal::parse(&text) {
        Ok((decimal, _)) if decimal < Decimal::ZERO => {
            report.bad(value.span(), format!("{what} is negative: {text}"), "it must be 0 or more");
            None
        }
        Ok((decimal, exact)) => {
            if !exact {
                let help = format!("write {decimal}, the value used");
                report.warn(
                    Code::WeightPrecision,
                    value.span(),
                    format!("{what} has more than six places: {text}"),
                    help,
                );
            }
            Some(decimal)
        }
        Err(DecimalError::TooLarge) => {
            report.bad(value.span(), format!("{what} is too large: {text}"), "");
            None
        }
        Err(DecimalError::Malformed) => {
            report.bad(value.span(), format!("{what} is not a finite decimal: {text}"), "write it as 0.25");
            None
        }
    }
}

/// Returns a whole number of the file between `low` and `high`.
pub(super) fn whole(
    value: &Spanned<DeValue<'_>>,
    what: &str,
    low: u32,
    high: u32,
    report: &mut Report<'_>,
) -> Option<u32> {
    let parsed = value
        .get_ref()
        .as_integer()
        .and_then(|whole| u32::from_str_radix(&plain(whole.as_str()), whole.radix()).ok());
    let fits = parsed.filter(|whole| (low..=high).contains(whole));
    if fits.is_none() {
        let message = format!("{what} must be a whole number from {low} to {high}");
        report.is_partial = true;
        report.bad(value.span(), message, "");
    }
    fits
}

/// Returns the text of a number in the file, without underscores and in base ten.
pub(super) fn number_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(whole) if whole.radix() == 10 => Some(plain(whole.as_str())),
        DeValue::Integer(whole) => {
            i64::from_str_radix(&plain(whole.as_str()), whole.radix()).ok().map(|x| x.to_string())
        }
        DeValue::Float(float) => Some(plain(float.as_str())),
        _ => None,
    }
}

fn plain(digits: &str) -> String {
    digits.chars().filter(|&c| c != '_').collect()
}

fn article(noun: &str) -> &'static str {
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

/// Returns the place of a text without its quotes, where the file holds it plainly (no escapes); else the whole value.
pub(super) fn inner_span(file: &str, span: Range<usize>, text: &str) -> Range<usize> {
    let written = file.get(span.clone()).unwrap_or_default();
    match written.find(text) {
        Some(at) if !text.is_empty() && written.len() <= text.len() + 7 => {
            span.start + at..span.start + at + text.len()
        }
        _ => span,
    }
}
