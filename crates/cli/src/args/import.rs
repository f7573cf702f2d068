//! `karat import`: its flags and help.

use clap::{Args, ValueEnum};
use karat_importers::IMPORTERS;

/// The kind of the items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ImportKind {
    /// Results of a run, of kind `facts`.
    #[default]
    Facts,
    /// The steps of a run, of kind `reasoning-trace`.
    Trace,
}

/// The logs to import.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub struct ImportArgs {
    /// Kind of the items: facts or trace
    #[arg(long = "as", value_enum, default_value_t, value_name = "KIND", hide_possible_values = true)]
    pub kind: ImportKind,
    /// The domain of the tasks, for traces
    #[arg(long, value_name = "NAME")]
    pub domain: Option<String>,
    /// The format, instead of the one found
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// The subject of every item, instead of the one named
    #[arg(long, value_name = "NAME")]
    pub subject: Option<String>,
    /// The score that says whether a task was solved
    #[arg(long, value_name = "NAME")]
    pub score: Option<String>,
    /// Refuse files that state a number which does not follow from their items
    #[arg(long)]
    pub strict: bool,
    /// No summary of what was left out
    #[arg(long)]
    pub quiet: bool,
    /// Files, folders and patterns; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// Returns what stands below the flags: the formats, and examples.
fn after_help() -> String {
    let all = IMPORTERS.iter().map(|importer| importer.name);
    let with_traces = IMPORTERS.iter().filter(|importer| importer.has_traces).map(|importer| importer.name);
    let formats = filled(&format!(
        "FORMAT is found by what a file holds: {}. Files may be packed with gzip or Zstandard. Standard error says what \
         is left out. `score`, `leaderboard`, `compare` and `standing` take such files too. Traces are made of {}.",
        all.collect::<Vec<_>>().join(", "),
        with_traces.collect::<Vec<_>>().join(", "),
    ));
    formats
        + "\n\nExamples:
  karat import --quiet --as trace examples/import/fix-17.traj
  karat import --quiet --subject bot-7 examples/import/report.xml
  karat import --quiet examples/import/swe-bench.json | karat score -c run"
}

/// Breaks a paragraph into lines of at most 79 characters.
fn filled(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| line.len() + word.len() < 79) {
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}
