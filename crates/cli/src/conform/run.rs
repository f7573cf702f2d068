//! `karat conform`: cases in, and either the verdict on each or the bare answers out.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};

use karat_evidence::ReaderOptions;
use karat_evidence::source::{Layout, Source};
use serde_json::{Map, Value, json};

use super::compare::{TOLERANCE, differences};
use super::report::{Outcome, Report};
use super::{Answer, Functions};
use crate::args::{Cli, ConformArgs};
use crate::evidence::Files;
use crate::output::{LOSS, Screen, is_watched, lines};
use karat_report::exit::Exit;
use karat_report::failure::Failure;
use karat_report::text::clean;

/// Answers every case, and compares or prints the answers.
///
/// With `--emit` every case gives one line in the order of the input: `{"id", "fn", "output"}`, or
/// `{"id", "fn", "refused": "why"}` where the input has no answer or the engine no such function. A line that holds no
/// case is told to standard error with its place, gives no line, and ends the command with status 1 once all others are
/// answered.
pub fn run(args: &ConformArgs, cli: &Cli) -> Result<Exit, Failure> {
    let mut functions = Functions::new(args.embedder.as_deref(), cli.portable, cli.color)?;
    // Before anything is answered: are the files there?
    Files::new(&args.files, cli.color)?;
    if args.emit { emit(args, cli, &mut functions) } else { check(args, cli, &mut functions) }
}

fn emit(args: &ConformArgs, cli: &Cli, functions: &mut Functions) -> Result<Exit, Failure> {
    let mut out = lines();
    let mut exit = Exit::Done;
    each_line(&args.files, &mut |place, bytes| {
        let answered = bytes.and_then(|bytes| {
            let case = Case::parse(bytes)?;
            let (member, value) = match functions.answer(&case.function, &case.input) {
                Answer::Output(output) => ("output", output),
                Answer::Refused(why) => ("refused", why.into()),
                Answer::Unknown => ("refused", format!("unknown function `{}`", case.function).into()),
            };
            // Written out, so that the members stand in the order in which they are documented.
            let (id, function) = (case.id, Value::from(case.function));
            Ok(format!("{{\"id\":{id},\"fn\":{function},\"{member}\":{value}}}"))
        });
        match answered {
            Ok(line) => writeln!(out, "{line}")?,
            Err(reason) => {
                out.flush()?;
                tell(cli, place, &reason)?;
                exit = Exit::CouldNotRun;
            }
        }
        Ok(())
    })?;
    out.flush()?;
    Ok(exit)
}

fn check(args: &ConformArgs, cli: &Cli, functions: &mut Functions) -> Result<Exit, Failure> {
    let mut report = Report::default();
    each_line(&args.files, &mut |place, bytes| {
        let judged = bytes.and_then(|bytes| {
            let case = Case::parse(bytes)?;
            let outcome = case.judge(functions)?;
            Ok((case, outcome))
        });
        match judged {
            Ok((case, outcome)) => report.case(&case.name(), &case.function, place, outcome),
            Err(reason) => {
                tell(cli, place, &reason)?;
                report.bad_line(place.to_owned(), reason);
            }
        }
        Ok(())
    })?;
    if args.table || (!args.json && is_watched()) {
        let mut screen = Screen::stdout(cli.color);
        report.show(&mut screen)?;
        screen.flush()?;
    } else {
        let mut out = lines();
        writeln!(out, "{}", report.as_json())?;
        out.flush()?;
    }
    Ok(if report.is_clean() { Exit::Done } else { Exit::CouldNotRun })
}

fn tell(cli: &Cli, place: &str, reason: &str) -> Result<(), Failure> {
    writeln!(Screen::stderr(cli.color), "{LOSS}error{LOSS:#}: {}: {}", clean(place), clean(reason))?;
    Ok(())
}

/// How far a vector of another implementation of the same model may be off, number by number.
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
            // The parser counts lines in what it was given, which is this one alone.
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

    /// The case of a line that has a text and its vector, and goes by the text.
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

    /// The id as it is shown.
    fn name(&self) -> String {
        const SHOWN: usize = 60;
        let name = self.id.as_str().map_or_else(|| self.id.to_string(), str::to_owned);
        match name.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
            None => name,
        }
    }

    /// What comes of the case; the reason if it says nothing that could be compared.
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

/// What is done with a line, or with the reason why it cannot be read.
type Visit<'v> = dyn FnMut(&str, Result<&[u8], String>) -> Result<(), Failure> + 'v;

/// Hands every line that is not blank to `visit`, with its place.
fn each_line(paths: &[String], visit: &mut Visit<'_>) -> Result<(), Failure> {
    for path in paths {
        if path == "-" {
            lines_of("standard input", io::stdin().lock(), visit)?;
        } else {
            let file = File::open(path).map_err(|error| Failure::reading(path, &error))?;
            lines_of(path, BufReader::with_capacity(1 << 16, file), visit)?;
        }
    }
    Ok(())
}

fn lines_of(name: &str, input: impl BufRead, visit: &mut Visit<'_>) -> Result<(), Failure> {
    let limit = ReaderOptions::default().max_item_bytes;
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
