//! The sites of formulas in a card, and the findings about them.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use karat_core::diagnostic::{Code, Diagnostic, Severity};
use karat_core::formula::Formula;
use karat_core::scorecard::Scorecard;

/// The place of a formula in the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Site {
    Let(usize),
    Applies(usize),
    When(usize),
    Value(usize),
    RuleWhen(usize),
    Set(usize),
    GateWhen(usize),
}

impl Site {
    /// Returns every formula of the card: lets first, each before those that read it.
    pub(super) fn all(card: &Scorecard) -> impl Iterator<Item = (Self, &Formula)> {
        let lets = card.lets.iter().enumerate().map(|(at, named)| (Self::Let(at), &named.formula));
        let dimensions = card.dimensions.iter().enumerate().flat_map(|(at, dimension)| {
            let applies = dimension.applies.as_ref().map(|formula| (Self::Applies(at), formula));
            let when = dimension.when.as_ref().map(|formula| (Self::When(at), formula));
            applies.into_iter().chain(when).chain([(Self::Value(at), &dimension.formula)])
        });
        let rules = card
            .rules
            .iter()
            .enumerate()
            .flat_map(|(at, rule)| [(Self::RuleWhen(at), &rule.when), (Self::Set(at), &rule.set)]);
        let gates = card.gates.iter().enumerate().map(|(at, gate)| (Self::GateWhen(at), &gate.when));
        lets.chain(dimensions).chain(rules).chain(gates)
    }

    /// Returns the name of the let, dimension, rule or gate.
    pub(super) fn name(self, card: &Scorecard) -> &str {
        match self {
            Self::Let(at) => card.lets.get(at).map_or("", |named| &named.name),
            Self::Applies(at) | Self::When(at) | Self::Value(at) => {
                card.dimensions.get(at).map_or("", |dimension| &dimension.key)
            }
            Self::RuleWhen(at) | Self::Set(at) => card.rules.get(at).map_or("", |rule| &rule.name),
            Self::GateWhen(at) => card.gates.get(at).map_or("", |gate| &gate.name),
        }
    }
}

/// Returns names for a reader.
pub(super) fn quoted(names: &[&str], between: &str) -> String {
    names.iter().map(|name| alloc::format!("`{name}`")).collect::<Vec<_>>().join(between)
}

/// A diagnostic and the names by which a `[[keep]]` can mean it.
struct Finding {
    diagnostic: Diagnostic,
    about: Vec<String>,
}

/// The findings so far.
pub(super) struct Findings<'a> {
    card: &'a Scorecard,
    found: Vec<Finding>,
}

impl<'a> Findings<'a> {
    pub(super) fn new(card: &'a Scorecard) -> Self {
        Self { card, found: Vec::new() }
    }

    pub(super) fn error(&mut self, code: Code, span: Range<usize>, message: String, label: &str, help: &str) {
        let (label, help) = (label.to_string(), help.to_string());
        let diagnostic = Diagnostic { code, severity: Severity::Error, span, message, label, help };
        self.found.push(Finding { diagnostic, about: Vec::new() });
    }

    /// Adds a warning; `about` are the dimensions, rules, gates, facts and lets that it concerns.
    pub(super) fn warn(
        &mut self,
        code: Code,
        span: Range<usize>,
        about: &[&str],
        message: String,
        label: &str,
        help: &str,
    ) {
        let (label, help) = (label.to_string(), help.to_string());
        let diagnostic = Diagnostic { code, severity: Severity::Warning, span, message, label, help };
        let about = about.iter().map(ToString::to_string).collect();
        self.found.push(Finding { diagnostic, about });
    }

    /// Returns whether the card is refused.
    pub(super) fn has_errors(&self) -> bool {
        self.found.iter().any(|finding| finding.diagnostic.severity == Severity::Error)
    }

    /// Applies the card's `[[keep]]` entries and gives everything in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        for keep in &self.card.keeps {
            let mut used = false;
            for finding in &mut self.found {
                let meant = keep.at.is_empty() || finding.about.contains(&keep.at);
                if meant
                    && finding.diagnostic.code.as_str() == keep.code
                    && finding.diagnostic.severity != Severity::Error
                {
                    used = true;
                    let kept_already = finding.diagnostic.severity == Severity::Note;
                    finding.diagnostic.severity = Severity::Note;
                    finding.diagnostic.help = if kept_already {
                        alloc::format!("{} {}", finding.diagnostic.help, keep.why)
                    } else {
                        alloc::format!("kept: {}", keep.why)
                    };
                }
            }
            // What depends on more than the item cannot be seen in a card: there the author's word is all there is.
            if keep.code == Code::HiddenState.as_str() {
                let what = if keep.at.is_empty() { "the evidence" } else { &keep.at };
                self.found.push(Finding {
                    diagnostic: Diagnostic {
                        code: Code::HiddenState,
                        severity: Severity::Note,
                        span: keep.span.clone(),
                        message: alloc::format!("`{what}` depends on more than the evidence item"),
                        label: String::new(),
                        help: alloc::format!("kept: {}", keep.why),
                    },
                    about: Vec::new(),
                });
            } else if !used && self.card.base.is_none() {
                let place =
                    if keep.at.is_empty() { String::new() } else { alloc::format!(" at `{}`", keep.at) };
                self.warn(
                    Code::Unused,
                    keep.span.clone(),
                    &[],
                    alloc::format!("there is no warning {}{place} to keep", keep.code),
                    "keeps nothing",
                    "remove it, or correct its `code` or `at`",
                );
            }
        }
        let mut diagnostics: Vec<Diagnostic> =
            self.found.into_iter().map(|finding| finding.diagnostic).collect();
        diagnostics.sort_by(|a, b| {
            let key = |it: &Diagnostic| (it.span.start, it.span.end, it.code);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        diagnostics.dedup();
        diagnostics
    }
}
