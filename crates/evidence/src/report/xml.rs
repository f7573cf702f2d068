//! Elements of an XML report, one at a time: no document type, no custom entities, exactly one root.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::problem;
use crate::json::locate::line_and_column;
use crate::json::problem::{Problems, quoted};

/// A report and how far it is read.
pub(super) struct Elements<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    depth: usize,
    has_root: bool,
    /// The element opened last was empty, so its end comes next.
    is_closing: bool,
}

/// A step on the way through the elements.
pub(super) enum Step<'a> {
    Open(Element<'a>),
    Close,
}

pub(super) struct Element<'a> {
    tag: BytesStart<'a>,
    text: &'a str,
    at: usize,
}

impl<'a> Elements<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        Self { text, reader: Reader::from_str(text), depth: 0, has_root: false, is_closing: false }
    }

    /// Reads the next beginning or end of an element; none at the end of a whole document.
    pub(super) fn next(&mut self) -> Result<Option<Step<'a>>, Problems> {
        if std::mem::take(&mut self.is_closing) {
            return Ok(Some(Step::Close));
        }
        loop {
            let at = self.position();
            let event = self.reader.read_event();
            let event =
                event.map_err(|error| self.refuse(self.position(), error.to_string(), "well-formed XML"))?;
            let (tag, is_empty) = match event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    return Ok(Some(Step::Close));
                }
                Event::DocType(_) => {
                    return Err(self.refuse(at, "a document type", "a report without one"));
                }
                Event::Eof if self.depth > 0 => {
                    let found = format!("the end of the report in {} open elements", self.depth);
                    return Err(self.refuse(at, found, "a whole report"));
                }
                Event::Eof if !self.has_root => {
                    return Err(self.refuse(at, "no element", "an XML report"));
                }
                Event::Eof => return Ok(None),
                Event::Text(text) if self.depth == 0 && !text.trim_ascii().is_empty() => {
                    return Err(self.refuse(at, "text outside the root element", "well-formed XML"));
                }
                _ => continue,
            };
            if self.depth == 0 && self.has_root {
                return Err(self.refuse(at, "a second root element", "one"));
            }
            self.has_root = true;
            self.is_closing = is_empty;
            self.depth += usize::from(!is_empty);
            return Ok(Some(Step::Open(Element { tag, text: self.text, at })));
        }
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX).min(self.text.len())
    }

    fn refuse(&self, at: usize, found: impl Into<String>, expected: &str) -> Problems {
        problem(found, expected, Some(line_and_column(self.text, at).0))
    }
}

impl Element<'_> {
    pub(super) fn name(&self) -> &str {
        let name = self.tag.name().into_inner();
        name.rsplit_once(':').map_or(name, |(_, local)| local)
    }

    /// Returns the byte at which it begins.
    pub(super) fn place(&self) -> usize {
        self.at
    }

    pub(super) fn attribute(&self, name: &str) -> Result<Option<String>, Problems> {
        let mut value = None;
        // The check for duplicates takes quadratic time; those that are read are looked for here.
        for attribute in self.tag.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| self.refuse(error.to_string(), "well-formed XML"))?;
            if attribute.key.into_inner() != name {
                continue;
            }
            let text = attribute
                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                .map_err(|error| self.refuse(error.to_string(), "well-formed XML"))?;
            if value.replace(text.into_owned()).is_some() {
                return Err(self.refuse(format!("`{name}` twice"), "an attribute once"));
            }
        }
        Ok(value)
    }

    /// Returns the value of an attribute that is a count.
    pub(super) fn count(&self, name: &str) -> Result<Option<u64>, Problems> {
        let Some(text) = self.attribute(name)?.filter(|text| !text.trim().is_empty()) else {
            return Ok(None);
        };
        // Some runners group digits.
        let digits: String = text.trim().chars().filter(|&c| c != ',').collect();
        let refuse = |_| self.refuse(format!("{} as `{name}`", quoted(&text)), "a whole number");
        digits.parse().map(Some).map_err(refuse)
    }

    pub(super) fn refuse(&self, found: impl Into<String>, expected: &str) -> Problems {
        problem(found, expected, Some(line_and_column(self.text, self.at).0))
    }
}
