//! The form of an answer: how a format is chosen, and where it is written. A format changes how an answer looks and
//! never what it says, and every command that takes `--format` gives all of them.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;

use clap::{Args, ValueEnum};
use karat::answers;
use karat::document::Document;
use karat::text::clean;
use karat::write::{self, Form, github};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Color, Screen, is_watched, lines, page};

/// The variable that chooses a format where no flag does.
const VARIABLE: &str = "KARAT_FORMAT";
/// The file to which GitHub Actions lets a step add its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

karat_core::words! {
    /// A format.
    #[derive(ValueEnum)]
    #[expect(missing_docs, reason = "documentation would make the help of every verb long")]
    pub enum Format {
        // The screen.
        Table = "table",
        // One object, or one for each item.
        Json = "json",
        // An object for each row.
        Jsonl = "jsonl",
        Csv = "csv",
        Markdown = "markdown",
        Junit = "junit",
        // A summary of the step, and annotations.
        Github = "github",
        // The page of `--html`.
        Html = "html",
    }
}

use Format::{Csv, Github, Html, Json, Jsonl, Junit, Markdown, Table};

/// The flags that choose a format.
#[derive(Debug, Clone, Default, Args)]
pub struct FormatArgs {
    /// table json jsonl csv markdown junit github html
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        hide_possible_values = true,
        conflicts_with_all = ["json", "table"]
    )]
    pub format: Option<Format>,
    /// The same as `--format json`, the default in a pipe
    #[arg(long, conflicts_with = "table", hide = true)]
    pub json: bool,
    /// The same as `--format table`, the default on a terminal
    #[arg(long, hide = true)]
    pub table: bool,
}

/// The format to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The screen.
    Screen,
    /// JSON as the answer has it.
    Json,
    /// Another form of the document.
    Form(Form),
}

impl Format {
    const fn chosen(self) -> Chosen {
        match self {
            Table => Chosen::Screen,
            Json => Chosen::Json,
            Jsonl => Chosen::Form(Form::Jsonl),
            Csv => Chosen::Form(Form::Csv),
            Markdown => Chosen::Form(Form::Markdown),
            Junit => Chosen::Form(Form::Junit),
            Github => Chosen::Form(Form::Github),
            Html => Chosen::Form(Form::Html),
        }
    }
}

impl FormatArgs {
    /// Returns the format that is asked for: by a flag, else by the environment, else the screen on a terminal and JSON in
    /// a pipe.
    ///
    /// # Errors
    /// If the environment names none.
    pub fn chosen(&self) -> Result<Chosen, Failure> {
        self.chosen_or(if is_watched() { Chosen::Screen } else { Chosen::Json })
    }

    /// Does the same with another form where none is asked for.
    ///
    /// # Errors
    /// As [`Self::chosen`].
    pub fn chosen_or(&self, usual: Chosen) -> Result<Chosen, Failure> {
        if self.table || self.json {
            return Ok(if self.table { Chosen::Screen } else { Chosen::Json });
        }
        match (self.format, env::var(VARIABLE)) {
            (Some(format), _) => Ok(format.chosen()),
            (None, Ok(name)) if !name.is_empty() => Ok(named(&name)?.chosen()),
            (None, Err(env::VarError::NotUnicode(_))) => Err(unknown("something that is not UTF-8")),
            _ => Ok(usual),
        }
    }
}

fn named(name: &str) -> Result<Format, Failure> {
    Format::value_variants().iter().copied().find(|it| it.name() == name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = Format::value_variants().iter().map(|it| it.name()).collect();
    Failure::new(format!("{VARIABLE}: there is no format `{}`", clean(name)))
        .help(format!("there are: {}", names.join(", ")))
}

/// Writes an answer in the format that was chosen; a screen has the first `list` rows of a list, and says `all` below.
pub fn show(
    answer: &impl Serialize,
    document: &Document,
    chosen: Chosen,
    (list, all): (usize, &str),
    color: Color,
) -> Result<(), Failure> {
    match chosen {
        Chosen::Json => json(answer),
        Chosen::Form(form) => emit(document, form),
        Chosen::Screen => screen(document, (list, all), &mut Screen::stdout(color)),
    }
}

/// Writes the screen of a document.
pub fn screen(document: &Document, (list, all): (usize, &str), out: &mut Screen) -> Result<(), Failure> {
    let layout = write::screen::Layout { width: out.width, most: list, all };
    write!(out, "{}", write::screen::document(document, layout))?;
    Ok(out.flush()?)
}

/// Writes an answer as one line of JSON.
pub fn json(answer: &impl Serialize) -> Result<(), Failure> {
    let mut out = lines();
    writeln!(out, "{}", answers::write(answer))?;
    Ok(out.flush()?)
}

/// Writes a document to standard output; for GitHub also to the summary of the step.
pub fn emit(document: &Document, form: Form) -> Result<(), Failure> {
    if form == Form::Github {
        summarise(&github::summary(document))?;
    }
    match form {
        Form::Html => text(&page(document)),
        _ => text(&write::text(form, document)),
    }
}

/// Adds Markdown to the summary of the step, if there is one.
fn summarise(summary: &str) -> Result<(), Failure> {
    let Some(path) = env::var_os(SUMMARY).filter(|path| !path.is_empty()) else { return Ok(()) };
    let written = OpenOptions::new().append(true).create(true).open(&path);
    written
        .and_then(|mut file| file.write_all(summary.as_bytes()))
        .map_err(|error| Failure::writing(&path.to_string_lossy(), &error))
}

/// Writes a text. A terminal gets no sign that could steer it.
pub fn text(text: &str) -> Result<(), Failure> {
    let mut out = lines();
    if is_watched() {
        for line in text.split_inclusive('\n') {
            let end = if line.ends_with('\n') { "\n" } else { "" };
            let line = line.trim_end_matches(['\n', '\r']);
            out.write_all(clean(line).as_bytes())?;
            out.write_all(end.as_bytes())?;
        }
    } else {
        out.write_all(text.as_bytes())?;
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::value_variants() {
            assert_eq!(named(format.name()).unwrap(), *format);
            assert_eq!(Format::from_str(format.name(), false), Ok(*format));
        }
    }
}
