//! The type checker for rules: what a card gets wrong, and what in it is unfair or easy to game
//! (`docs/guide/diagnostics.md`).
//!
//! Everything rests on intervals: `range` evaluates a formula over the ranges that the facts declare.

#![no_std]
#![warn(unreachable_pub)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod advice;
mod cliffs;
mod clock;
mod declared;
mod direction;
mod findings;
mod one_sided;
mod points;
mod promises;
mod reach;
mod readings;
mod roots;
mod shares;
mod slopes;
mod standing;
mod steps;
mod tops;
mod traps;
mod trials;
mod types;

use alloc::string::String;
use alloc::vec::Vec;

pub use self::cliffs::{Cliff, Slope};
use self::declared::Declared;
pub use self::direction::Direction;
use self::direction::Reaches;
use self::findings::Findings;
use self::reach::Reach;
pub use self::tops::Top;
use self::tops::Tops;
use self::trials::Trials;
use karat_core::diagnostic::{Diagnostic, Severity};
use karat_core::range::Interval;
use karat_core::scorecard::{FactType, Library, Scorecard};

/// Everything that is to say about a card file.
#[derive(Debug)]
pub struct Checked {
    /// The card, if nothing is wrong with it; warnings do not refuse it.
    pub card: Option<Scorecard>,
    /// All findings, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// The proofs of the checker, where the file could be read as a card.
    pub report: Option<Report>,
}

/// The proofs of the checker about a card.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Every dimension and what its value can be.
    pub readings: Vec<(String, Interval)>,
    /// Every number and condition among the facts, and how the score moves when it grows.
    pub directions: Vec<(String, Direction)>,
    /// The points at which a small change can move the score far, the largest first.
    pub cliffs: Vec<Cliff>,
    /// The steepest place of every dimension in every fact.
    pub slopes: Vec<Slope>,
    /// Dimensions that earn points for doing nothing, and how many points of the scale.
    pub idle: Vec<(String, f64)>,
    /// The highest score, 0 to 1.
    pub top: Top,
}

/// Reads and checks a card. `library` gives the text of the family that a challenge names as its base.
///
/// # Errors
/// If there are errors: all of them, in the order of the file. Warnings refuse no card.
///
/// ```
/// let card = karat_checker::parse(
///     r#"
///     schema = "karat/scorecard/1"
///     id = "solved"
///     version = "1.0.0"
///     title = "Share of tasks solved"
///     evidence = "facts"
///     [facts]
///     solved = { min = 0, max = "asked", integer = true }
///     asked = { min = 1, integer = true }
///     [[dimension]]
///     key = "success"
///     weight = 1
///     formula = "solved / asked"
///     "#,
///     &|_| None,
/// );
/// assert_eq!(card.unwrap().name(), "solved@1.0.0");
/// ```
pub fn parse(text: &str, library: Library<'_>) -> Result<Scorecard, Vec<Diagnostic>> {
    let (card, mut found) = Scorecard::read(text, library);
    // Traps refuse no card, and to look for them takes longer than everything else.
    found.extend(card.iter().flat_map(|card| proved(card).finish()));
    found.retain(|diagnostic| diagnostic.severity == Severity::Error);
    found.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end, diagnostic.code));
    card.filter(|_| found.is_empty()).ok_or(found)
}

/// Checks what a card can be refused for: types, units and ranges.
fn proved(card: &Scorecard) -> Findings<'_> {
    let mut findings = Findings::new(card);
    let wrong = types::check(card, &mut findings);
    readings::check(card, &Declared::with(card, |_| false), &wrong, &mut findings);
    findings
}

/// Reads and checks the text of a card.
pub fn check_text(text: &str, library: Library<'_>) -> Checked {
    let (card, mut diagnostics) = Scorecard::read(text, library);
    let mut report = None;
    if let Some(card) = &card {
        let (found, proved) = check(card);
        diagnostics.extend(found);
        report = Some(proved);
    }
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, diagnostic.span.end, diagnostic.code));
    let refused = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Checked { card: card.filter(|_| !refused), diagnostics, report }
}

/// Checks a card whose structure is sound: types, units, ranges, traps. Findings are in the order of the file.
pub fn check(card: &Scorecard) -> (Vec<Diagnostic>, Report) {
    let mut findings = Findings::new(card);
    let wrong = types::check(card, &mut findings);
    let declared = Declared::with(card, |_| false);
    readings::check(card, &declared, &wrong, &mut findings);
    let is_sound = !findings.has_errors();
    let directions = direction::directions(card, &Declared::with(card, |_| true));
    let mut named = directions.iter();
    let texts = card.facts.iter().map(|fact| fact.kind == FactType::Text);
    let ways = texts.map(|is_text| if is_text { None } else { named.next() });
    let ways: Vec<Direction> = ways.map(|way| way.map_or(Direction::Flat, |(_, way)| *way)).collect();
    let (shares, reaches) = (shares::all(card), Reaches::new(card));
    let needed = tops::needed_for_a_score(card, &reaches);
    let scored = Declared::with(card, |at| needed.contains(&at));
    let reach = Reach::new(&scored);
    let tops = Tops::new(&reach, &reaches, &ways);
    let (cliffs, slopes) = cliffs::check(&tops, &shares, &wrong, &mut findings);
    cliffs::strict_thresholds(card, &mut findings);
    traps::self_reported(card, &shares, &reaches, &directions, &mut findings);
    let idle = traps::idle(card, &shares, &mut findings);
    traps::coverage_picking(card, &mut findings);
    traps::fallbacks(card, &mut findings);
    traps::never_matters(&tops, &mut findings);
    standing::never_matters(card, &mut findings);
    standing::small_steps(card, &mut findings);
    clock::check(card, &mut findings);
    types::check_unstated(card, &wrong, &mut findings);
    one_sided::check(card, &mut findings);
    promises::out_of_reach(card, &tops, &mut findings);
    promises::counted_twice(card, &reaches, &shares, &mut findings);
    // Only a card without errors can be tried.
    if is_sound {
        Trials::new(&tops, &ways, &reaches).check(&mut findings);
    }
    traps::unused(card, &mut findings);
    let values = card.dimensions.iter().zip(&declared.values);
    let readings = values.map(|(dimension, value)| (dimension.key.clone(), *value)).collect();
    (findings.finish(), Report { readings, directions, cliffs, slopes, idle, top: tops.of_score() })
}

#[cfg(test)]
mod range_tests;
#[cfg(test)]
mod standing_tests;
#[cfg(test)]
mod tests;
