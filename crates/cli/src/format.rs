//! The form of an answer: which formats each verb gives, how one is chosen, and where it is written. A format changes
//! how an answer
//! looks and never what it says.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;

use clap::{Args, ValueEnum};
use karat::page::html;
use karat::page::model::Page;
use karat::report::{Report, csv, github, json, junit, markdown};
use karat::text::clean;

use crate::failure::Failure;
use crate::output::{is_watched, lines};

/// The variable that chooses a format where no flag does.
const VARIABLE: &str = "KARAT_FORMAT";
/// The file to which GitHub Actions lets a step add its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    // The screen. Plain comments: documentation would make the help of every verb long.
    Table,
    // One object, or one for each item.
    Json,
    // An object for each row.
    Jsonl,
    Csv,
    Markdown,
    Junit,
    // A summary of the step, and annotations.
    Github,
    // The page of `--html`.
    Html,
}

use Format::{Csv, Github, Html, Json, Jsonl, Junit, Markdown, Table};

/// The formats of each verb. One that is not here has no `--format`.
const GIVES: [(&str, &[Format]); 10] = [
    ("score", &[Table, Json, Jsonl, Csv, Markdown, Junit, Github]),
    ("leaderboard", &[Table, Json, Jsonl, Csv, Markdown, Junit, Github, Html]),
    ("compare", &[Table, Json, Jsonl, Csv, Markdown, Junit, Github, Html]),
    ("check", &[Table, Json, Jsonl, Csv, Markdown, Junit, Github]),
    ("standing", &[Table, Json, Jsonl, Csv, Markdown, Junit, Github, Html]),
    ("standing --tasks", &[Table, Json, Jsonl, Csv, Markdown, Github]),
    ("rate", &[Table, Json, Jsonl, Csv, Markdown, Github, Html]),
    ("stress", &[Table, Json, Jsonl, Csv, Markdown, Github, Html]),
    ("explain", &[Table, Json, Csv, Markdown, Github]),
    ("judge", &[Table, Json, Jsonl, Csv, Markdown, Junit, Github]),
];

/// The flags that choose a format.
#[derive(Debug, Default, Args)]
pub struct FormatArgs {
    /// table, json, csv, markdown, junit, github, html
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
    /// A page for a browser.
    Page,
    /// A report.
    Report(Document),
}

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// An object for each row of the main table.
    Jsonl,
    /// The main table.
    Csv,
    /// All tables.
    Markdown,
    /// The test cases.
    Junit,
    /// A summary and annotations.
    Github,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Table => "table",
            Json => "json",
            Jsonl => "jsonl",
            Csv => "csv",
            Markdown => "markdown",
            Junit => "junit",
            Github => "github",
            Html => "html",
        }
    }

    const fn chosen(self) -> Chosen {
        match self {
            Table => Chosen::Screen,
            Json => Chosen::Json,
            Html => Chosen::Page,
            Jsonl => Chosen::Report(Document::Jsonl),
            Csv => Chosen::Report(Document::Csv),
            Markdown => Chosen::Report(Document::Markdown),
            Junit => Chosen::Report(Document::Junit),
            Github => Chosen::Report(Document::Github),
        }
    }
}

impl FormatArgs {
    /// Returns the format of `verb` that is asked for: by a flag, else by the environment, else the screen on a
    /// terminal and
    /// JSON in a pipe.
    ///
    /// # Errors
    /// If the verb cannot give it, or the environment names none.
    pub fn chosen(&self, verb: &str) -> Result<Chosen, Failure> {
        self.chosen_or(verb, if is_watched() { Chosen::Screen } else { Chosen::Json })
    }

    /// Does the same with another form where none is asked for.
    ///
    /// # Errors
    /// As [`Self::chosen`].
    pub fn chosen_or(&self, verb: &str, usual: Chosen) -> Result<Chosen, Failure> {
        if self.table || self.json {
            return Ok(if self.table { Chosen::Screen } else { Chosen::Json });
        }
        let (format, source) = match (self.format, env::var(VARIABLE)) {
            (Some(format), _) => (format, "--format"),
            (None, Ok(name)) if !name.is_empty() => (named(&name)?, VARIABLE),
            (None, Err(env::VarError::NotUnicode(_))) => return Err(unknown("something that is not UTF-8")),
            _ => return Ok(usual),
        };
        let gives =
            GIVES.iter().find(|(known, _)| *known == verb).map_or(&[Table, Json][..], |(_, gives)| gives);
        if gives.contains(&format) {
            return Ok(format.chosen());
        }
        let failure = Failure::new(format!("{source}: `karat {verb}` has no `{}`", format.name()));
        let names: Vec<&str> = gives.iter().map(|it| it.name()).collect();
        Err(failure.help(format!("it gives: {}", names.join(", "))))
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

/// Writes a report to standard output; for GitHub also to the summary of the step.
pub fn emit(report: &Report, document: Document) -> Result<(), Failure> {
    match document {
        Document::Jsonl => text(&json::lines(&report.main())),
        Document::Csv => text(&csv::sheet(&report.main())),
        Document::Markdown => text(&markdown::report(report, usize::MAX)),
        Document::Junit => text(&junit::report(report)),
        Document::Github => {
            summarise(&github::summary(report))?;
            text(&github::annotations(report))
        }
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

/// Writes a page to standard output: the bytes that `--html` writes to a file.
pub fn page(page: &Page) -> Result<(), Failure> {
    text(&html(page))
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
    fn every_verb_gives_a_screen_and_json_and_every_name_is_its_own() {
        for (verb, gives) in GIVES {
            assert!(gives.starts_with(&[Table, Json]), "{verb}");
        }
        for format in Format::value_variants() {
            assert_eq!(named(format.name()).unwrap(), *format);
            assert_eq!(Format::from_str(format.name(), false), Ok(*format));
        }
    }
}
