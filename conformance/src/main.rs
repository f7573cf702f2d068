//! Runs published cases against the engine: `cargo run -p karat-conformance -- vectors/trust.jsonl`.
//!
//! A case is a line `{"id", "fn", "input", "expected"}`. [`Functions`] answers it with the functions that score
//! evidence everywhere else, and the answers are either compared (`compare`) or printed as they are.

mod arena;
mod compare;
mod functions;
mod given;
mod graders;
mod judge;
mod report;
mod standing;
mod trace;
mod trust;
mod workflow;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;
use compare::{TOLERANCE, differences};
use functions::Functions;
use judge::Answer;
use karat_evidence::json::parse::Limits;
use karat_evidence::source::{Layout, Source};
use report::{Outcome, Report};
use serde_json::{Map, Value, json};

/// Checks the engine against cases that say what the answer is
///
/// A case is one line {"id", "fn", "input", "expected"}. Numbers may differ by 2e-9, or by its "tolerance". A case
/// that is refused or unknown did not pass and is counted separately. The status is 1 if a case failed, a line has no
/// case, or no case passed. Lines {"text", "tokens", "embedding"} need --embedder.
#[derive(Debug, Parser)]
struct Arguments {
    /// Print {"id", "fn", "output"|"refused"} and compare nothing
    #[arg(long, conflicts_with = "json")]
    emit: bool,
    /// The folder of the model that reads traces
    #[arg(long, value_name = "DIR")]
    embedder: Option<String>,
    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Use no instruction beyond those that every processor of its kind has
    #[arg(long)]
    portable: bool,
    /// Cases, one JSON object per line; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = Functions::new(arguments.embedder.as_deref(), arguments.portable).and_then(|mut functions| {
        let run =
            if arguments.emit { emit(&arguments, &mut functions) } else { check(&arguments, &mut functions) };
        match run {
            // The program that reads the answers has stopped reading.
            Err(Stop::Writing(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
            Err(Stop::Writing(error)) => Err(error.to_string()),
            Err(Stop::Reading(message)) => Err(message),
            Ok(is_clean) => Ok(is_clean),
        }
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            tell(&message);
            ExitCode::FAILURE
        }
    }
}

/// The reason to stop before the last case.
enum Stop {
    Reading(String),
    Writing(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

/// Prints one line per case in the order of the input: `{"id", "fn", "output"}`, or `{"id", "fn", "refused": "why"}`
/// if the input has no answer or the engine no such function. Returns true if every line has a case.
fn emit(arguments: &Arguments, functions: &mut Functions) -> Result<bool, Stop> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut is_clean = true;
    each_line(&arguments.files, &mut |place, bytes| {
        let answered = bytes.and_then(|bytes| {
            let case = Case::parse(bytes)?;
            let (member, value) = match functions.answer(&case.function, &case.input) {
                Answer::Output(output) => ("output", output),
                Answer::Refused(why) => ("refused", why.into()),
                Answer::Unknown => ("refused", format!("unknown function `{}`", case.function).into()),
            };
            // Written by hand, so that the members are in the documented order.
            let (id, function) = (case.id, Value::from(case.function));
            Ok(format!("{{\"id\":{id},\"fn\":{function},\"{member}\":{value}}}"))
        });
        match answered {
            Ok(line) => writeln!(out, "{line}")?,
            Err(reason) => {
                out.flush()?;
                tell(&format!("{place}: {reason}"));
                is_clean = false;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(is_clean)
}

/// Compares the answers with the expected ones, and prints the outcomes. Returns true if all agree.
fn check(arguments: &Arguments, functions: &mut Functions) -> Result<bool, Stop> {
    let mut report = Report::default();
    each_line(&arguments.files, &mut |place, bytes| {
        let judged = bytes.and_then(|bytes| {
            let case = Case::parse(bytes)?;
            let outcome = case.judge(functions)?;
            Ok((case, outcome))
        });
        match judged {
            Ok((case, outcome)) => report.case(&case.name(), &case.function, place, outcome),
            Err(reason) => {
                tell(&format!("{place}: {reason}"));
                report.bad_line(place.to_owned(), reason);
            }
        }
        Ok(())
    })?;
    let mut out = BufWriter::new(io::stdout().lock());
    if arguments.json {
        writeln!(out, "{}", report.as_json())?;
    } else {
        report.show(&mut out)?;
    }
    out.flush()?;
    Ok(report.is_clean())
}

fn tell(message: &str) {
    // If standard error is closed, the status still shows it.
    let _ = writeln!(io::stderr(), "error: {message}");
}

/// The tolerance for each number of a vector by another implementation of the same model.
const EMBEDDING_TOLERANCE: f64 = 1e-4;

/// One case.
struct Case {
    id: Value,
    function: String,
    input: Value,
    expected: Option<Value>,
    tolerance: Option<Value>,
}

impl Case {
    fn parse(line: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(line).map_err(|error| {
            let (text, column) = (error.to_string(), error.column());
            // The parser counts lines of its input, which is this one alone.
            let reason = text.split(" at line ").next().unwrap_or_default();
            format!("this is not JSON: {reason}, at column {column}")
        })?;
        let Value::Object(mut members) = value else {
            return Err(String::from("expected an object with `id`, `fn` and `input`"));
        };
        if let (Some(text), false) = (members.get("text"), members.contains_key("fn")) {
            return Ok(Self::of_embedding(text.clone(), members));
        }
        let id = members.remove("id").filter(|id| id.is_string() || id.is_number());
        let function = members.remove("fn").and_then(|name| name.as_str().map(str::to_owned));
        match (id, function) {
            (Some(id), Some(function)) => Ok(Self {
                id,
                function,
                input: members.remove("input").unwrap_or_default(),
                expected: members.remove("expected"),
                tolerance: members.remove("tolerance"),
            }),
            (None, Some(_)) => Err(String::from("`id` is not given, expected a text")),
            (Some(_), None) => Err(String::from("`fn` is not given, expected the name of a function")),
            (None, None) => Err(String::from("`id` and `fn` are not given, expected texts")),
        }
    }

    /// Returns the case of a line that has a text and its vector, named by the text.
    fn of_embedding(text: Value, mut expected: Map<String, Value>) -> Self {
        expected.remove("text");
        Self {
            id: text.clone(),
            function: String::from("embedding"),
            input: json!({"text": text}),
            tolerance: expected.remove("tolerance").or(Some(EMBEDDING_TOLERANCE.into())),
            expected: Some(expected.into()),
        }
    }

    /// Returns the id as it is shown.
    fn name(&self) -> String {
        const SHOWN: usize = 60;
        let name = self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned);
        match name.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
            None => name,
        }
    }

    /// Returns the outcome of the case, or the reason why nothing can be compared.
    fn judge(&self, functions: &mut Functions) -> Result<Outcome, String> {
        let output = match functions.answer(&self.function, &self.input) {
            Answer::Output(output) => output,
            Answer::Refused(why) => return Ok(Outcome::Refused(why)),
            Answer::Unknown => return Ok(Outcome::Unknown),
        };
        let expected = self.expected.as_ref().ok_or("`expected` is not given; --emit needs none")?;
        let tolerance = match &self.tolerance {
            None => TOLERANCE,
            Some(given) => given
                .as_f64()
                .filter(|tolerance| *tolerance >= 0.0)
                .ok_or_else(|| format!("`tolerance` is `{given}`, expected a number not below 0"))?,
        };
        let differences = differences(expected, &output, tolerance);
        Ok(if differences.is_empty() { Outcome::Passed } else { Outcome::Failed(differences) })
    }
}

/// The function that takes each line, or the reason why it cannot be read.
type Visit<'v> = dyn FnMut(&str, Result<&[u8], String>) -> Result<(), Stop> + 'v;

/// Hands every line that is not blank to `visit`, with its place.
fn each_line(paths: &[String], visit: &mut Visit<'_>) -> Result<(), Stop> {
    for path in paths {
        if path == "-" {
            lines_of("standard input", io::stdin().lock(), visit)?;
        } else {
            let file =
                File::open(path).map_err(|error| Stop::Reading(format!("cannot read `{path}`: {error}")))?;
            lines_of(path, BufReader::with_capacity(1 << 16, file), visit)?;
        }
    }
    Ok(())
}

fn lines_of(name: &str, input: impl BufRead, visit: &mut Visit<'_>) -> Result<(), Stop> {
    let limit = Limits::default().max_bytes;
    let mut source = Source::new(input, Layout::JsonLines, &[], limit);
    while let Some(line) = source.next_item() {
        match line {
            Ok(line) => visit(&format!("{name}:{}", line.line), Ok(line.bytes))?,
            Err(error) => {
                let place =
                    error.problem.line.map_or_else(|| name.to_owned(), |line| format!("{name}:{line}"));
                let problem = &error.problem;
                visit(&place, Err(format!("found {}, expected {}", problem.found, problem.expected)))?;
                if !error.resumable {
                    break;
                }
            }
        }
    }
    Ok(())
}
