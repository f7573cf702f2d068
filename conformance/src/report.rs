//! The outcomes of all cases: counts by function, and every case that did not pass.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Value, json};

use crate::compare::Difference;

/// Most cases of one sort that are listed.
const LISTED: usize = 1000;
/// Columns of a count.
const COUNT: usize = 7;
/// Characters of a value that is shown.
const SHOWN: usize = 160;

/// Counts of cases by outcome.
#[derive(Debug, Clone, Copy, Default, Serialize)]
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

    fn columns(self) -> [(&'static str, u64); 4] {
        [
            ("passed", self.passed),
            ("failed", self.failed),
            ("refused", self.refused),
            ("unknown", self.unknown),
        ]
    }
}

/// The outcome of one case.
#[derive(Debug)]
pub enum Outcome {
    /// The answer is the expected one.
    Passed,
    /// The answer differs from the expected one, in these places.
    Failed(Vec<Difference>),
    /// The input has no answer, for this reason.
    Refused(String),
    /// The engine has no such function.
    Unknown,
}

/// The outcomes of the cases of a function.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(rename = "fn")]
    function: &'a str,
    #[serde(flatten)]
    counts: Counts,
}

/// A case that did not pass.
#[derive(Debug, Serialize)]
struct Finding {
    id: String,
    #[serde(rename = "fn")]
    function: String,
    place: String,
    #[serde(flatten)]
    what: What,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Differences(Vec<Difference>),
    Reason(String),
}

/// The outcomes so far.
#[derive(Debug, Default)]
pub struct Report {
    /// Functions in the order of their first case.
    functions: Vec<(String, Counts)>,
    places: BTreeMap<String, usize>,
    failed: Vec<Finding>,
    refused: Vec<Finding>,
    bad_lines: Vec<(String, String)>,
    bad: u64,
}

impl Report {
    /// Counts a case.
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
                    self.failed.push(finding(What::Differences(differences)));
                }
            }
            Outcome::Refused(reason) => {
                counts.refused = 1;
                if self.refused.len() < LISTED {
                    self.refused.push(finding(What::Reason(reason)));
                }
            }
        }
        let at = *self.places.entry(function.to_owned()).or_insert(self.functions.len());
        match self.functions.get_mut(at) {
            Some((_, sum)) => sum.add(counts),
            None => self.functions.push((function.to_owned(), counts)),
        }
    }

    /// Counts a line without a case.
    pub fn bad_line(&mut self, place: String, reason: String) {
        self.bad += 1;
        if self.bad_lines.len() < LISTED {
            self.bad_lines.push((place, reason));
        }
    }

    /// True when a case passed, none failed, and every line held one. Where nothing passed, nothing was checked: a file
    /// of functions that the engine does not have is not proof of anything.
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

    /// Writes the table of functions, and below it every case that failed or was refused.
    pub fn show(&self, out: &mut impl Write) -> io::Result<()> {
        let names = self.functions.iter().map(|(name, _)| name.chars().count());
        let width = names.max().unwrap_or(0).max("function".len());
        let heads: String =
            Counts::default().columns().iter().map(|(head, _)| format!("  {head:>COUNT$}")).collect();
        writeln!(out, "{:width$}{heads}", "function")?;
        for (name, counts) in &self.functions {
            writeln!(out, "{name:width$}{}", row(*counts))?;
        }
        let total = self.total();
        writeln!(out, "{:width$}{}", "total", row(total))?;
        list(out, "failed", &self.failed, total.failed)?;
        list(out, "refused", &self.refused, total.refused)?;
        if self.bad > 0 {
            let lines = if self.bad == 1 { "line has" } else { "lines have" };
            writeln!(out, "\n{} {lines} no case", self.bad)?;
        }
        if total.passed == 0 {
            writeln!(out, "\nno case passed, so nothing was checked")?;
        }
        Ok(())
    }

    /// Returns the same as one JSON object.
    pub fn as_json(&self) -> Value {
        let rows = self.functions.iter().map(|(function, counts)| Row { function, counts: *counts });
        let problem = |(place, reason): &(String, String)| json!({ "place": place, "reason": reason });
        let Counts { passed, failed, refused, unknown } = self.total();
        json!({
            "passed": passed,
            "failed": failed,
            "refused": refused,
            "unknown": unknown,
            "functions": rows.collect::<Vec<_>>(),
            "failures": self.failed,
            "refusals": self.refused,
            "bad_lines": self.bad,
            "problems": self.bad_lines.iter().map(problem).collect::<Vec<_>>(),
        })
    }
}

fn row(counts: Counts) -> String {
    let column = |(_, count)| match count {
        0 => format!("  {:>COUNT$}", "-"),
        _ => format!("  {count:>COUNT$}"),
    };
    counts.columns().into_iter().map(column).collect()
}

fn list(out: &mut impl Write, word: &str, findings: &[Finding], count: u64) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for Finding { id, function, place, what } in findings {
        writeln!(out, "{word} {id} ({function}) {place}")?;
        match what {
            What::Reason(reason) => writeln!(out, "  {reason}")?,
            What::Differences(differences) => {
                for difference in differences {
                    let found = difference.found.as_ref().map_or_else(|| String::from("nothing"), short);
                    writeln!(
                        out,
                        "  {}: expected {}, found {found}",
                        difference.path,
                        short(&difference.expected)
                    )?;
                }
            }
        }
    }
    let more = count.saturating_sub(findings.len() as u64);
    if more > 0 {
        writeln!(out, "and {more} more {word}")?;
    }
    Ok(())
}

/// Returns a value in few characters.
pub fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}
