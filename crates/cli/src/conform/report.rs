//! What came of all cases: counts by function, and every case that did not pass.

use std::collections::BTreeMap;
use std::io::Write;

use anstyle::Style;
use serde_json::{Value, json};

use super::compare::Difference;
use crate::output::{CARE, FAINT, GAIN, LOSS, STRONG, Screen};
use karat_report::failure::Failure;
use karat_report::text::{clean, fit};

/// Most cases of one sort that are listed.
const LISTED: usize = 1000;
/// Columns of a count.
const COUNT: usize = 7;
/// Characters of a value that is shown.
const SHOWN: usize = 160;

/// How many cases came out which way.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    refused: u64,
    unknown: u64,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.refused += other.refused;
        self.unknown += other.unknown;
    }

    fn columns(self) -> [(&'static str, u64, Style); 4] {
        [
            ("passed", self.passed, GAIN),
            ("failed", self.failed, LOSS),
            ("refused", self.refused, CARE),
            ("unknown", self.unknown, CARE),
        ]
    }
}

/// What came of one case.
#[derive(Debug)]
pub enum Outcome {
    /// The answer is the expected one.
    Passed,
    /// It is not, here.
    Failed(Vec<Difference>),
    /// The input has no answer, for this reason.
    Refused(String),
    /// The engine has no such function.
    Unknown,
}

/// A case that did not pass.
#[derive(Debug)]
struct Finding {
    id: String,
    function: String,
    place: String,
    what: What,
}

#[derive(Debug)]
enum What {
    Differs(Vec<Difference>),
    Refused(String),
}

/// The outcomes so far.
#[derive(Debug, Default)]
pub struct Report {
    /// Functions in the order in which they came up.
    functions: Vec<(String, Counts)>,
    places: BTreeMap<String, usize>,
    failed: Vec<Finding>,
    refused: Vec<Finding>,
    bad_lines: Vec<(String, String)>,
    bad: u64,
}

impl Report {
    /// Takes down a case.
    pub fn case(&mut self, id: &str, function: &str, place: &str, outcome: Outcome) {
        let finding = |what| Finding {
            id: id.to_owned(),
            function: function.to_owned(),
            place: place.to_owned(),
            what,
        };
        let mut counts = Counts::default();
        match outcome {
            Outcome::Passed => counts.passed = 1,
            Outcome::Unknown => counts.unknown = 1,
            Outcome::Failed(differences) => {
                counts.failed = 1;
                if self.failed.len() < LISTED {
                    self.failed.push(finding(What::Differs(differences)));
                }
            }
            Outcome::Refused(reason) => {
                counts.refused = 1;
                if self.refused.len() < LISTED {
                    self.refused.push(finding(What::Refused(reason)));
                }
            }
        }
        let at = *self.places.entry(function.to_owned()).or_insert(self.functions.len());
        match self.functions.get_mut(at) {
            Some((_, sum)) => sum.add(counts),
            None => self.functions.push((function.to_owned(), counts)),
        }
    }

    /// Takes down a line that holds no case.
    pub fn bad_line(&mut self, place: String, reason: String) {
        self.bad += 1;
        if self.bad_lines.len() < LISTED {
            self.bad_lines.push((place, reason));
        }
    }

    /// True when a case passed, none failed, and every line held one. Where nothing passed, nothing was checked: a file
    /// of functions that the engine does not have is no proof of anything.
    pub fn is_clean(&self) -> bool {
        let total = self.total();
        total.passed > 0 && total.failed == 0 && self.bad == 0
    }

    fn total(&self) -> Counts {
        self.functions.iter().fold(Counts::default(), |mut total, (_, counts)| {
            total.add(*counts);
            total
        })
    }

    /// The table of functions, and below it every case that failed or was refused.
    pub fn show(&self, screen: &mut Screen) -> Result<(), Failure> {
        let names = self.functions.iter().map(|(name, _)| clean(name).chars().count());
        let room = screen.width.saturating_sub(4 * (COUNT + 2)).max(12);
        let width = names.max().unwrap_or(0).clamp("function".len(), room);
        let heads: String =
            Counts::default().columns().iter().map(|(head, ..)| format!("  {head:>COUNT$}")).collect();
        writeln!(screen, "{FAINT}{}{heads}{FAINT:#}", fit("function", width))?;
        for (name, counts) in &self.functions {
            writeln!(screen, "{}{}", fit(name, width), row(*counts))?;
        }
        writeln!(screen, "{STRONG}{}{STRONG:#}{}", fit("total", width), row(self.total()))?;
        let total = self.total();
        list(screen, ("failed", LOSS), &self.failed, total.failed)?;
        list(screen, ("refused", CARE), &self.refused, total.refused)?;
        if self.bad > 0 {
            let lines = if self.bad == 1 { "line holds" } else { "lines hold" };
            writeln!(screen, "\n{LOSS}{} {lines} no case{LOSS:#}", self.bad)?;
        }
        if total.passed == 0 {
            writeln!(screen, "\n{LOSS}no case passed, so nothing was checked{LOSS:#}")?;
        }
        Ok(())
    }

    /// The same as one JSON object.
    pub fn as_json(&self) -> Value {
        let counts = |counts: Counts| -> serde_json::Map<String, Value> {
            counts.columns().into_iter().map(|(head, count, _)| (head.to_owned(), count.into())).collect()
        };
        let functions: Vec<Value> = self
            .functions
            .iter()
            .map(|(name, sums)| {
                let mut row = counts(*sums);
                row.insert("fn".into(), name.as_str().into());
                Value::Object(row)
            })
            .collect();
        let finding = |finding: &Finding| {
            let Finding { id, function, place, what } = finding;
            match what {
                What::Differs(list) => {
                    let list: Vec<Value> = list.iter().map(difference).collect();
                    json!({ "id": id, "fn": function, "place": place, "differences": list })
                }
                What::Refused(reason) => {
                    json!({ "id": id, "fn": function, "place": place, "reason": reason })
                }
            }
        };
        let problems =
            self.bad_lines.iter().map(|(place, reason)| json!({ "place": place, "reason": reason }));
        let mut summary = counts(self.total());
        summary.insert("functions".into(), functions.into());
        summary.insert("failures".into(), self.failed.iter().map(finding).collect());
        summary.insert("refusals".into(), self.refused.iter().map(finding).collect());
        summary.insert("bad_lines".into(), self.bad.into());
        summary.insert("problems".into(), problems.collect());
        Value::Object(summary)
    }
}

/// What was found is left out where there was nothing.
fn difference(difference: &Difference) -> Value {
    let Difference { path, expected, found } = difference;
    match found {
        Some(found) => json!({ "path": path, "expected": expected, "found": found }),
        None => json!({ "path": path, "expected": expected }),
    }
}

fn row(counts: Counts) -> String {
    let column = |(_, count, style): (&str, u64, Style)| match count {
        0 => format!("  {FAINT}{:>COUNT$}{FAINT:#}", "-"),
        _ => format!("  {style}{count:>COUNT$}{style:#}"),
    };
    counts.columns().into_iter().map(column).collect()
}

fn list(
    screen: &mut Screen,
    (word, style): (&str, Style),
    findings: &[Finding],
    count: u64,
) -> Result<(), Failure> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(screen)?;
    for finding in findings {
        let (id, function, place) = (clean(&finding.id), clean(&finding.function), clean(&finding.place));
        writeln!(
            screen,
            "{style}{word}{style:#} {STRONG}{id}{STRONG:#} ({function}) {FAINT}{place}{FAINT:#}"
        )?;
        match &finding.what {
            What::Refused(reason) => writeln!(screen, "  {}", clean(reason))?,
            What::Differs(differences) => {
                for difference in differences {
                    let found = difference.found.as_ref().map_or_else(|| String::from("nothing"), short);
                    let (path, expected) = (clean(&difference.path), short(&difference.expected));
                    writeln!(screen, "  {path}: expected {expected}, found {found}")?;
                }
            }
        }
    }
    let more = count.saturating_sub(findings.len() as u64);
    if more > 0 {
        writeln!(screen, "and {more} more {word}")?;
    }
    Ok(())
}

/// A value in few characters.
pub fn short(value: &Value) -> String {
    let text = value.to_string();
    let text = clean(&text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.into_owned(),
    }
}
