//! Parsing: from the text of a file to a checked scorecard.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use toml::de::DeTable;

use super::fields::Report;
use super::{Scorecard, canonical, resolve, source};
use crate::diagnostic::{Code, Diagnostic, Severity};

/// Largest scorecard file, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Most findings that are kept; a file with more is not a scorecard, and no one reads them all.
const MOST_FINDINGS: usize = 100;

/// Gives the text of a released card by name (`arena@1.0.0`), for cards with a base.
pub type Library<'l> = &'l dyn Fn(&str) -> Option<String>;

impl Scorecard {
    /// Reads a card as far as its structure: what needs arithmetic over ranges is left to `karat_checker::parse`, which refuses
    /// a card that cannot score. `library` gives the text of the family that a challenge names as its base.
    pub fn read(text: &str, library: Library<'_>) -> (Option<Self>, Vec<Diagnostic>) {
        let report = Report::new(text);
        let card = read(text, library, &report, true);
        report
            .found()
            .sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end, diagnostic.code));
        if card.is_none() && report.found().len() > MOST_FINDINGS {
            let left_out = report.found().split_off(MOST_FINDINGS);
            let span = left_out.first().map_or(0..0, |first| first.span.clone());
            let message = format!("{} more problems from here on are not listed", left_out.len());
            report.error(Code::TooLarge, span, message, "fix those above first");
        }
        (card, report.into_found())
    }
}

fn read(text: &str, library: Library<'_>, report: &Report<'_>, may_have_base: bool) -> Option<Scorecard> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, at most {MAX_BYTES} are allowed", text.len());
        report.error(Code::TooLarge, 0..0, message, "");
        return None;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in &errors {
            let span = error.span().unwrap_or(0..0);
            report.error(Code::Syntax, span, error.message().replace('\n', ", "), "");
        }
        return None;
    }
    let table = table.into_inner();
    let draft = source::read(&table, report);
    // Lists that are too long are left out whole: nothing more can be said of such a card.
    if report.found().iter().any(|diagnostic| diagnostic.code == Code::TooLarge) {
        return None;
    }
    let Some(base_name) = draft.base.clone() else {
        return resolve::resolve(draft, canonical::digest(&table, None), report);
    };
    if !may_have_base {
        report.error(Code::UnknownBase, base_name.span, "a base cannot have a base itself".to_string(), "");
        return None;
    }
    let Some(base_text) = library(&base_name.value) else {
        let message = format!("there is no scorecard `{}`", base_name.value);
        report.error(Code::UnknownBase, base_name.span, message, "name a released family: `arena@1.0.0`");
        return None;
    };
    let base_report = Report::new(&base_text);
    let base = read(&base_text, library, &base_report, false);
    let Some(base) = base else {
        let found = base_report.found();
        let first = found.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        let why = first.map_or_else(String::new, |first| format!(": {}", first.message));
        report.error(
            Code::UnknownBase,
            base_name.span,
            format!("the base `{}` has errors{why}", base_name.value),
            "",
        );
        return None;
    };
    let digest = canonical::digest(&table, Some(base.digest));
    resolve::resolve_challenge(draft, &base, digest, report)
}
