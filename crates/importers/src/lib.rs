//! Logs and reports of other tools, read into items of kind `facts`: what a run was, how it ended, what it took; or of
//! kind `reasoning-trace`: the steps of a run.
//!
//! An [`Importer`] is a line of [`IMPORTERS`] and its file. [`detect`] says which tool wrote a file, by its content; [`import`] reads it as it comes, and hands on one item for each
//! run. The facts have the same names whichever tool measured them: `solved`, `cost_usd`, `seconds`, `tokens`, so that
//! results of different tools can stand side by side. What a log does not say is missing; what is left out is in the
//! [`Summary`], with counts and reasons. Each item names its source: the digest of the file, and the place in it.
//!
//! ```
//! use std::ops::ControlFlow;
//! use karat_importers::{Input, Options, detect, import};
//!
//! let report = r#"<testsuite name="unit"><testcase name="adds" time="0.5"/></testsuite>"#;
//! let input = Input::memory("bot-7.xml", report.as_bytes().to_vec());
//! let importer = detect(&input)?.unwrap();
//! assert_eq!(importer.name, "junit");
//! let mut items = Vec::new();
//! let summary = import(&input, importer, &Options::default(), &mut |item| {
//!     items.push(String::from_utf8_lossy(item.json).into_owned());
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(summary.items, 1);
//! assert!(items[0].contains(r#""solved":1"#));
//! # Ok::<(), karat_importers::ImportError>(())
//! ```

mod aider;
mod atif;
mod battles;
mod bytes;
mod detect;
mod every_eval;
mod harbor;
mod importer;
mod inspect;
mod json;
mod junit;
mod langfuse;
mod lm_eval;
mod out;
mod promptfoo;
mod retries;
mod samples;
mod scales;
mod scan;
mod spans;
mod stated;
mod steps;
mod swe_agent;
mod swe_bench;
mod tau;
mod unread;
mod verdicts;
mod zip;

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

pub use bytes::{Input, unpack};
pub use detect::{check, detect, recognise};
pub use importer::{Importer, Role};
pub use out::Summary;
pub use retries::Retries;
pub use samples::Samples;
pub use scales::Scales;
pub use spans::{Evaluations, OTLP, requests};
pub use unread::Unread;
pub use verdicts::Verdicts;

use karat_core::facts::Digest;
use out::Out;
use scales::Held;

/// Every importer. A file that fits several is one of the first of them.
pub static IMPORTERS: &[&Importer] = &[
    &atif::IMPORTER,
    &inspect::IMPORTER,
    &promptfoo::IMPORTER,
    &tau::TAU_2,
    &tau::TAU_BENCH,
    &swe_bench::IMPORTER,
    &lm_eval::IMPORTER,
    &every_eval::IMPORTER,
    &swe_agent::SWE_AGENT,
    &swe_agent::MINI_SWE_AGENT,
    &langfuse::IMPORTER,
    &harbor::IMPORTER,
    &battles::IMPORTER,
    &OTLP,
    &spans::JAEGER,
    &spans::OPENINFERENCE,
    &junit::IMPORTER,
    &aider::IMPORTER,
];

/// The kind of the items that are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Items {
    /// Items of kind `facts`: what a run came to.
    #[default]
    Runs,
    /// Items of kind `reasoning-trace`: the steps of a run. Importers that [have traces](Importer::has_traces) give them.
    Traces,
}

/// Choices of an import.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The kind of the items.
    pub items: Items,
    /// The domain of the tasks, which no log names: for traces.
    pub domain: Option<String>,
    /// Verdicts on the instances that trajectories are of.
    pub verdicts: Option<Arc<Verdicts>>,
    /// The names of the reports of SWE-bench that are read too, `MODEL.RUN`: those on single instances of the run are not counted.
    pub reports: Arc<BTreeSet<String>>,
    /// The samples in files that are read too, whose means and sums are not counted.
    pub samples: Option<Arc<Samples>>,
    /// The logs that are read too, of which some may be tries at one task.
    pub retries: Option<Arc<Retries>>,
    /// The ranges of the scores in all logs that are read; none if this one is alone.
    pub scales: Option<Arc<Scales>>,
    /// The results of evaluations that log records have, for traces in other files.
    pub evaluations: Option<Arc<Evaluations>>,
    /// The subject of every item, instead of the one that the log names.
    pub subject: Option<String>,
    /// The score that says whether a run solved its task, where a log has several.
    pub score: Option<String>,
}

/// One item that was read.
#[derive(Debug, Clone, Copy)]
pub struct Item<'a> {
    /// The place in the file: `$.samples[3]`, `line 4`, `samples/7_epoch_1.json`.
    pub place: &'a str,
    /// The item, as JSON.
    pub json: &'a [u8],
}

/// A log that cannot be read: where, what was found, what was expected, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// The name of the file.
    pub file: String,
    /// The place in it; empty for all of it.
    pub place: String,
    /// The finding.
    pub found: String,
    /// The expectation.
    pub expected: String,
    /// Advice; empty if the expectation says everything.
    pub hint: String,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "found {}, expected {}", self.found, self.expected)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

impl Error for ImportError {}

/// The same before the file is known.
type Fault = ImportError;

impl Fault {
    fn new(place: impl Into<String>, found: impl Into<String>, expected: &str) -> Self {
        let (place, found, expected) = (place.into(), found.into(), expected.to_owned());
        Self { file: String::new(), place, found, expected, hint: String::new() }
    }

    fn hint(self, hint: &str) -> Self {
        Self { hint: hint.to_owned(), ..self }
    }

    fn of(self, input: &Input) -> ImportError {
        Self { file: input.name().to_owned(), ..self }
    }

    fn unreadable(error: &io::Error) -> Self {
        Self::new("", error.to_string(), "a file that can be read")
    }
}

/// The reason to read no further.
#[derive(Debug)]
enum Stop {
    Fault(Box<Fault>),
    Enough,
}

impl Stop {
    /// Returns the same with another place, which `of` makes from this one.
    fn at(self, of: impl FnOnce(&str) -> String) -> Self {
        match self {
            Self::Fault(fault) => Fault { place: of(&fault.place), ..*fault }.into(),
            Self::Enough => Self::Enough,
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Fault::unreadable(&error).into()
    }
}

/// Reads a log by an importer, and hands each item to `take` until it breaks off.
///
/// # Errors
/// If the log cannot be read, or is not of that format; what came before was handed on.
pub fn import(
    input: &Input,
    importer: &'static Importer,
    options: &Options,
    take: &mut dyn FnMut(Item<'_>) -> ControlFlow<()>,
) -> Result<Summary, ImportError> {
    let digest = input.digest().map_err(|error| Fault::unreadable(&error).of(input))?;
    if options.items == Items::Traces && !importer.has_traces {
        let fault = Fault::new("", importer.words, "a log with the steps of an agent");
        return Err(fault.hint("it has runs, for cards of facts").of(input));
    }
    if let Some(scales) = &options.scales {
        return once(input, digest, importer, options, scales, take).0;
    }
    if !importer.has_scores {
        return once(input, digest, importer, options, &Scales::default(), take).0;
    }
    // One value can show that none of the score is a share, so nothing is handed on before all were seen.
    let mut held = Held::default();
    let (read, seen) = once(input, digest, importer, options, &Scales::default(), &mut |item| {
        held.add(&item);
        ControlFlow::Continue(())
    });
    if held.is_cut || seen.has_other() {
        drop(held);
        return once(input, digest, importer, options, &seen, take).0;
    }
    held.hand_on(take);
    read
}

/// Reads a log whose scores are of these scales; returns the ranges that it has, too.
fn once(
    input: &Input,
    digest: Digest,
    importer: &'static Importer,
    options: &Options,
    scales: &Scales,
    take: &mut dyn FnMut(Item<'_>) -> ControlFlow<()>,
) -> (Result<Summary, ImportError>, Scales) {
    let mut out = Out::new(input, digest, importer, options, scales, take);
    let read = (importer.read)(input, &mut out);
    let (summary, seen) = out.end();
    match read {
        Ok(()) | Err(Stop::Enough) => (Ok(summary), seen),
        Err(Stop::Fault(fault)) => (Err(fault.of(input)), seen),
    }
}

#[cfg(test)]
mod tests;
