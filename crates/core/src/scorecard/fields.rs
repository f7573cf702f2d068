//! Typed access to the tables of a scorecard file, with a diagnostic for everything that does not fit.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell, RefMut};
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
    found: RefCell<Vec<Diagnostic>>,
    /// Part of the file was refused and left out, so what is absent or does not add up may only follow from that.
    is_partial: Cell<bool>,
}

impl<'t> Report<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, found: RefCell::default(), is_partial: Cell::new(false) }
    }

    pub(super) fn error(&self, code: Code, span: Range<usize>, message: String, help: impl Into<String>) {
        self.add(Severity::Error, code, span, message, help.into());
    }

    /// Reports a value that is not allowed.
    pub(super) fn bad(&self, span: Range<usize>, message: String, help: impl Into<String>) {
        self.error(Code::BadValue, span, message, help);
    }

    /// Reports an error about something absent, or about a total: kept back where it may only follow from another
    /// error.
    pub(crate) fn error_if_whole(
        &self,
        code: Code,
        span: Range<usize>,
        message: String,
        help: impl Into<String>,
    ) {
        if !self.is_partial() {
            self.error(code, span, message, help);
        }
    }

    pub(super) fn warn(&self, code: Code, span: Range<usize>, message: String, help: impl Into<String>) {
        self.add(Severity::Warning, code, span, message, help.into());
    }

    fn add(&self, severity: Severity, code: Code, span: Range<usize>, message: String, help: String) {
        self.found.borrow_mut().push(Diagnostic {
            code,
            severity,
            span,
            message,
            label: String::new(),
            help,
        });
    }

    /// Notes that a part of the file was refused and left out.
    pub(super) fn leave_out(&self) {
        self.is_partial.set(true);
    }

    pub(super) fn is_partial(&self) -> bool {
        self.is_partial.get()
    }

    pub(super) fn into_found(self) -> Vec<Diagnostic> {
        self.found.into_inner()
    }

    /// Returns the findings so far.
    pub(super) fn found(&self) -> RefMut<'_, Vec<Diagnostic>> {
        self.found.borrow_mut()
    }

    pub(super) fn failed(&self) -> bool {
        self.found.borrow().iter().any(|diagnostic| diagnostic.severity == Severity::Error)
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
    pub report: &'a Report<'a>,
}

impl<'a, 't> Fields<'a, 't> {
    /// Wraps a table and reports every field that is not in `known`.
    pub(super) fn new(
        table: &'a DeTable<'t>,
        span: Range<usize>,
        what: impl Into<String>,
        known: &[&'static str],
        report: &'a Report<'a>,
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
        if !misspelt.is_empty() {
            report.leave_out();
        }
        Self { table, what, span, misspelt, report }
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

    fn mismatch(&self, field: &str, expected: &str) {
        self.mismatch_with(field, expected, String::new());
    }

    fn mismatch_with(&self, field: &str, expected: &str, help: String) {
        if let Some(value) = self.value(field) {
            let found = value.get_ref().type_str();
            let message =
                format!("`{field}` of {} must be {expected}, here is {} {found}", self.what, article(found));
            self.report.leave_out();
            self.report.error(Code::WrongType, value.span(), message, help);
        }
    }

    pub(super) fn text(&self, field: &str) -> Option<Text> {
        let value = self.value(field)?;
        match value.get_ref().as_str() {
            Some(text) => {
                Some(Text { value: text.to_string(), span: inner_span(self.report.text, value.span(), text) })
            }
            None => {
                self.mismatch(field, "a text in quotes");
                None
            }
        }
    }

    pub(crate) fn text_or_empty(&self, field: &str) -> String {
        self.text(field).map_or_else(String::new, |text| text.value)
    }

    pub(super) fn required(&self, field: &str, help: &str) -> Option<Text> {
        if !self.has(field) {
            self.require(field, help);
        }
        self.text(field).filter(|text| {
            let given = !text.value.trim().is_empty();
            if !given {
                self.report.bad(text.span.clone(), format!("`{field}` of {} is empty", self.what), help);
            }
            given
        })
    }

    pub(super) fn require(&self, field: &str, help: &str) {
        if !self.has(field) && !self.misspelt.contains(&field) {
            self.report.error(
                Code::MissingField,
                self.span.clone(),
                format!("{} needs `{field}`", self.what),
                help,
            );
        }
    }

    pub(super) fn flag(&self, field: &str) -> Option<bool> {
        let value = self.value(field)?.get_ref().as_bool();
        if value.is_none() {
            self.mismatch(field, "true or false");
        }
        value
    }

    /// Returns a text where the field holds one; other types are for other readers to report.
    pub(crate) fn text_if_text(&self, field: &str) -> Option<Text> {
        if self.value(field)?.get_ref().is_str() { self.text(field) } else { None }
    }

    /// Returns a table where the field holds one; other types are for other readers to report.
    pub(crate) fn table_if_table(&self, field: &str, what: &str, known: &[&'static str]) -> Option<Self> {
        if self.value(field)?.get_ref().is_table() { self.table(field, what, known) } else { None }
    }

    /// Returns a finite number as a double, for the range of a fact.
    pub(super) fn number(&self, field: &str) -> Option<f64> {
        let value = self.value(field)?;
        let parsed =
            number_text(value.get_ref()).and_then(|text| text.parse::<f64>().ok()).filter(|x| x.is_finite());
        if parsed.is_none() {
            self.mismatch(field, "a finite number");
        }
        parsed
    }

    /// Returns a decimal kept to six places, not negative.
    pub(super) fn decimal(&self, field: &str) -> Option<Decimal> {
        decimal(self.value(field)?, &format!("`{field}` of {}", self.what), self.report)
    }

    /// Returns a decimal, or the default if the field is absent.
    pub(crate) fn decimal_or(&self, field: &str, default: Decimal) -> Decimal {
        let given = self.decimal(field);
        if given.is_none() && self.has(field) {
            self.report.leave_out();
        }
        given.unwrap_or(default)
    }

    /// Returns a whole number between `low` and `high`.
    pub(super) fn whole(&self, field: &str, low: u32, high: u32) -> Option<u32> {
        whole(self.value(field)?, &format!("`{field}` of {}", self.what), low, high, self.report)
    }

    /// Reads one of a list of words.
    pub(super) fn word<T: Copy>(&self, field: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(field)?;
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
            self.report.leave_out();
            self.report.bad(text.span, message, help);
        }
        found
    }

    pub(super) fn texts(&self, field: &str) -> Vec<Text> {
        let Some(value) = self.value(field) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            self.mismatch(field, "a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for element in list {
            match element.get_ref().as_str() {
                Some(text) => texts.push(Text {
                    value: text.to_string(),
                    span: inner_span(self.report.text, element.span(), text),
                }),
                None => {
                    let message = format!("`{field}` of {} must hold texts only", self.what);
                    self.report.error(Code::WrongType, element.span(), message, "");
                }
            }
        }
        texts
    }

    pub(super) fn table(&self, field: &str, what: &str, known: &[&'static str]) -> Option<Self> {
        let table = self.table_value(field)?;
        Some(Self::new(table, self.place(field), what, known, self.report))
    }

    fn table_value(&self, field: &str) -> Option<&'a DeTable<'t>> {
        let table = self.value(field)?.get_ref().as_table();
        if table.is_none() {
            self.mismatch(field, "a table");
        }
        table
    }

    /// Returns the entries of a table whose keys are free, in the order of the file.
    pub(super) fn entries(&self, field: &str) -> Vec<(Text, &'a Spanned<DeValue<'t>>)> {
        self.table_value(field).map_or_else(Vec::new, in_file_order)
    }

    /// Returns the tables of an array `[[field]]`.
    pub(super) fn tables(&self, field: &str, most: usize, known: &[&'static str]) -> Vec<Self> {
        let Some(value) = self.value(field) else { return Vec::new() };
        let Some(list) = value.get_ref().as_array() else {
            let name = value.get_ref().as_table().and_then(|table| table.keys().next());
            let help = name.map_or_else(String::new, |name| {
                let key = known.first().copied().unwrap_or("name");
                format!("write `[[{field}]]`, and below it {key} = \"{}\"", name.get_ref())
            });
            self.mismatch_with(field, &format!("written as `[[{field}]]`"), help);
            return Vec::new();
        };
        if list.len() > most {
            self.report.error(
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
                    tables.push(Self::new(table, element.span(), what, known, self.report));
                }
                None => {
                    let message = format!("`{field}` must hold tables: `[[{field}]]`");
                    self.report.leave_out();
                    self.report.error(Code::WrongType, element.span(), message, "");
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
pub(super) fn decimal(value: &Spanned<DeValue<'_>>, what: &str, report: &Report<'_>) -> Option<Decimal> {
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
    report: &Report<'_>,
) -> Option<u32> {
    let parsed = value
        .get_ref()
        .as_integer()
        .and_then(|whole| u32::from_str_radix(&plain(whole.as_str()), whole.radix()).ok());
    let fits = parsed.filter(|whole| (low..=high).contains(whole));
    if fits.is_none() {
        let message = format!("{what} must be a whole number from {low} to {high}");
        report.leave_out();
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
