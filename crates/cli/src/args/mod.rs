//! The command line: verbs, flags, help.

mod badge;
mod check;
mod export;
mod follow;
mod help;
mod import;
mod init;
mod install;
mod many;
pub mod menu;
mod push;
pub mod rate;
mod run;
mod schema;
mod serve;
mod site;
mod standing;
mod store;
pub mod tune;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use karat_core::number::Decimal;
use karat_core::timestamp::Timestamp;
use karat_graders::trace::novelty::Settings;

pub use badge::BadgeArgs;
pub use check::CheckProjectArgs;
pub use export::ExportArgs;
#[cfg(feature = "server")]
pub use follow::{LogMonitorArgs, LogRotateArgs, LogWitnessArgs};
pub use help::HelpArgs;
pub use import::{ImportArgs, ImportKind};
pub use init::InitArgs;
pub use install::{CompletionsArgs, ManArgs};
use karat::ask::moment::{AsOf, moment};
use karat::ask::{Fields, Grid, Judges, Stress, Tasks, Trend, points};
use karat::sql::Dialect;
use karat_terminal::format::FormatArgs;
use karat_terminal::output::Color;
pub use many::{CompareArgs, FormArgs, LeaderboardArgs, PictureArgs, QuestionArgs};
pub use push::PushArgs;
pub use run::RunArgs;
pub use schema::SchemaArgs;
pub use serve::ServeArgs;
#[cfg(feature = "server")]
pub use serve::{Log, ProxyHeader};
pub use site::SiteArgs;
pub use standing::StandingArgs;
#[cfg(feature = "server")]
pub use store::{LogBackupArgs, LogReceiptArgs, LogShowArgs, LogVerifyArgs};
pub use store::{LogVerb, RescoreArgs, VerifyArgs};

/// Scores about AI agents that anyone can check.
#[derive(Debug, Parser)]
#[command(
    name = "karat",
    version,
    about = "Scores about AI agents that anyone can check. New here? Run `karat demo`.",
    max_term_width = 80,
    disable_help_subcommand = true,
    propagate_version = false
)]
pub struct Cli {
    /// Colour: auto, always or never
    #[arg(
        long,
        value_enum,
        default_value_t,
        global = true,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub color: Color,
    /// Let karat.toml name files outside of its folder
    #[arg(long, global = true, hide = true)]
    pub allow_outside: bool,
    /// The command
    #[command(subcommand)]
    pub verb: Verb,
}

/// The command.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Look at your data, and write a scorecard and a project file
    Init(InitArgs),
    /// Judge the runs of a project by its gates
    Check(Box<CheckProjectArgs>),
    /// Read the logs of other tools as evidence
    Import(ImportArgs),
    /// Score evidence: one record per item
    Score(ScoreArgs),
    /// Explain a score, and verify records
    Explain(ExplainArgs),
    /// Rank subjects, with error bars and letters for ties
    Leaderboard(Box<LeaderboardArgs>),
    /// Show official scores: window, decay, review, tier, share
    Standing(StandingArgs),
    /// Say which of two is ahead, and which tasks got worse
    Compare(CompareArgs),
    /// Rate competitors from their matches
    Rate(Box<rate::RateArgs>),
    /// Say how far a ranking depends on its scorecard and single tasks
    #[command(after_help = "\
Random weights lie near those of the card (Dirichlet), or anywhere.

Example:
  karat stress -c examples/cards/task-run.toml \\
    examples/leaderboard/runs.csv")]
    Stress(QuestionArgs<Stress>),
    /// Hold judges against labels of people, and correct their scores
    #[command(after_help = "\
Example:
  karat judges -c examples/cards/judged.toml --label human \\
    --verdict judge --family family examples/labels/answers.jsonl")]
    Judges(QuestionArgs<Judges>),
    /// Look at the tasks: suspect keys, flaky outcomes, what decides
    #[command(after_help = "\
Example:
  karat tasks -c examples/cards/task-run.toml \\
    examples/leaderboard/runs.csv")]
    Tasks(QuestionArgs<Tasks>),
    /// Follow runs over time, with an alarm for every night
    #[command(after_help = "\
Example:
  karat trend -c examples/cards/task-run.toml examples/nightly/runs.csv")]
    Trend(QuestionArgs<Trend>),
    /// Put subjects or runs side by side, task by task
    #[command(after_help = "\
Example:
  karat grid -c examples/cards/task-run.toml examples/leaderboard/runs.csv")]
    Grid(QuestionArgs<Grid>),
    /// Find weights that predict an outcome, and propose them
    Tune(Box<tune::TuneArgs>),
    /// List, show, check, start and compare scorecards
    #[command(subcommand, after_help = "Example:\n  karat card show workflow")]
    Card(CardVerb),
    /// Show the facts of evidence, and the observations of graders
    Grade(GradeArgs),
    /// Show or start a cache of the vectors of traces
    #[command(subcommand, after_help = "Example:\n  karat cache show examples/raw/traces.cache")]
    Cache(CacheVerb),
    /// Run a workflow plan and record it, or replay a recording
    Run(Box<RunArgs>),
    /// Run submitted code against the cases of a challenge
    #[command(disable_help_flag = true)]
    Judge(JudgeArgs),
    /// Check receipts: signature, proof, score, evidence
    Verify(VerifyArgs),
    /// Show and check the log of a store, take receipts from it
    #[command(
        subcommand,
        after_help = "Example:\n  karat log verify scores.db --key examples/receipt/log.key"
    )]
    Log(LogVerb),
    /// Score a store again with another scorecard, and compare
    Rescore(RescoreArgs),
    /// Serve scores over HTTP: an API, a page, a log that proves them
    Serve(ServeArgs),
    /// Write scored items for Every Eval Ever, Inspect, OpenTelemetry
    Export(ExportArgs),
    /// Write a leaderboard as a static site, for any web server
    Site(Box<SiteArgs>),
    /// Draw the score of a subject in one line, for a README
    Badge(Box<BadgeArgs>),
    /// Score the built-in examples; needs no files
    #[command(after_help = "Example:\n  karat demo")]
    Demo,
    /// Explain a topic or a command; alone it lists the topics
    Help(HelpArgs),
    /// Send items to a server
    Push(PushArgs),
    /// Print JSON Schemas: of scorecards, records, answers
    Schema(SchemaArgs),
    /// Print the completions for a shell
    #[command(hide = true)]
    Completions(CompletionsArgs),
    /// Write man pages
    #[command(hide = true)]
    Man(ManArgs),
}

/// The evidence to score, and the settings for it.
#[derive(Debug, Args)]
#[command(
    after_help = "A field that a flag names is looked for in the first 64 MiB of records before\nany is written: one that no item has is refused.\n\nExamples:\n  karat score -c workflow examples/workflow/*.json*\n  karat score -c examples/cards/test-report.toml examples/tests/reports.jsonl"
)]
pub struct ScoreArgs {
    /// The scorecard: a released id (`workflow`, `workflow@1.0.0`) or a file
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// The fields of an item that name something
    #[command(flatten)]
    pub fields: Fields,
    /// A JSON file of weights by dimension, for a card that accepts them
    #[arg(long = "override", value_name = "FILE")]
    pub override_file: Option<String>,
    /// The time of the verdict, such as 2026-01-31T12:00:00Z; goes into the records
    #[arg(long, value_name = "TIME")]
    pub as_of: Option<AsOf>,
    /// The inputs of graders
    #[command(flatten)]
    pub graders: GraderArgs,
    /// Slower items are named (traces: 100)
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    pub budget_ms: Option<u32>,
    /// Threads that score; as many as cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Fail when a published score is below POINTS
    #[arg(long, value_name = "POINTS", value_parser = points, allow_negative_numbers = true)]
    pub fail_under: Option<Decimal>,
    /// Show `failed` items alone; all are scored
    #[arg(long, value_name = "WHICH", value_parser = ["failed"], hide_possible_values = true)]
    pub only: Option<String>,
    /// Rows by score, worst (low first) or subject
    #[arg(long, value_name = "KEY", value_parser = ["score", "worst", "subject"], hide_possible_values = true)]
    pub sort: Option<String>,
    /// Show the first N items alone; all are scored
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Short records, without the facts
    #[arg(long, conflicts_with_all = ["format", "table"])]
    pub brief: bool,
    /// Write scores as columns to x.parquet or x.arrow
    #[arg(long, short = 'o', value_name = "FILE", conflicts_with_all = ["format", "table", "brief"])]
    pub output: Option<String>,
    /// Score the good items, then list the bad ones
    #[arg(long)]
    pub keep_going: bool,
    /// No progress bar
    #[arg(long)]
    pub no_progress: bool,
    /// Evidence; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// The inputs of graders besides evidence.
#[derive(Debug, Default, Args)]
pub struct GraderArgs {
    /// The folder of the model that reads traces
    #[arg(long, value_name = "DIR")]
    pub embedder: Option<String>,
    /// The cache of earlier traces; `score` adds to it
    #[arg(long, value_name = "FILE")]
    pub cache: Option<String>,
    /// The program that runs submitted code
    #[arg(long, value_name = "PATH")]
    pub judge: Option<PathBuf>,
    /// Embed with the instructions that every processor has
    #[arg(long, hide = true)]
    pub portable: bool,
}

/// The evidence to grade.
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is scored, and a cache is left as it is. KIND is workflow-run, match,
reasoning-trace, agent-dimensions or agent-evidence.

Examples:
  karat grade workflow-run examples/raw/workflow.jsonl
  karat grade match --card incident-review examples/raw/match.json")]
pub struct GradeArgs {
    /// The kind of evidence
    #[arg(value_name = "KIND")]
    pub kind: String,
    /// The challenge whose evaluator grades matches
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// The inputs of graders
    #[command(flatten)]
    pub graders: GraderArgs,
    /// The time of the verdict, such as 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub as_of: Option<Timestamp>,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
    /// Evidence; `-` or none reads standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
}

/// The arguments of `karat judge`, which `karat-runner` reads.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Arguments of `karat-runner judge`; `karat judge --help` lists them
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Work on caches of vectors.
#[derive(Debug, Subcommand)]
pub enum CacheVerb {
    /// Show the contents of a cache
    Show(CacheShowArgs),
    /// Write an empty cache
    New(CacheNewArgs),
}

/// `karat cache show`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  karat cache show examples/raw/traces.cache")]
pub struct CacheShowArgs {
    /// The cache
    #[arg(value_name = "FILE")]
    pub file: String,
    /// The format; a screen has the newest entries
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `karat cache new`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  karat cache new traces.cache --ttl 1h")]
pub struct CacheNewArgs {
    /// The file to write; an existing file is never overwritten
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Its settings
    #[command(flatten)]
    pub settings: CacheArgs,
}

/// The settings of a cache of vectors.
#[derive(Debug, Args)]
pub struct CacheArgs {
    /// Most vectors in a cache; the oldest goes (1000)
    #[arg(long, value_name = "N", default_value_t = 1000, hide_default_value = true)]
    pub capacity: u64,
    /// Numbers of a vector (384)
    #[arg(long, value_name = "N", default_value_t = 384, hide_default_value = true, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub dimension: u32,
    /// Time that a vector counts: 90s, 1h, 30d (for ever)
    #[arg(long, value_name = "TIME", value_parser = milliseconds)]
    pub ttl: Option<u64>,
}

impl CacheArgs {
    /// Returns the settings.
    pub fn settings(&self) -> Settings {
        Settings { capacity: self.capacity, dimension: self.dimension as usize, ttl_milliseconds: self.ttl }
    }
}

/// Reads a span of time: a whole number of milliseconds, or one with a unit.
fn milliseconds(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, u64); 6] =
        [("ms", 1), ("s", 1000), ("min", 60_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
    let digits = text.trim_end_matches(|it: char| !it.is_ascii_digit());
    let unit = text.strip_prefix(digits).unwrap_or_default().trim();
    let of_unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, length)| *length);
    let length = if unit.is_empty() { Some(1) } else { of_unit };
    let number = digits.bytes().all(|it| it.is_ascii_digit()).then(|| digits.parse::<u64>().ok()).flatten();
    number.zip(length).and_then(|(number, length)| number.checked_mul(length)).ok_or_else(|| {
        String::from("expected a whole number of milliseconds, or one with ms, s, m, h or d, such as 1h")
    })
}

/// The record or evidence to explain.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  karat explain -c log-forensics examples/arena/documented-823.json\n  karat explain -c trust@1.1.0 examples/trust/agent.json\n  karat score -c workflow examples/workflow/closed-gate.json | karat explain"
)]
pub struct ExplainArgs {
    /// A record, or evidence to score first; `-` is standard input
    #[arg(value_name = "RECORD|EVIDENCE", default_value = "-")]
    pub file: String,
    /// The scorecard: a released id or a file; a record names its own
    #[arg(long, short = 'c', value_name = "ID|FILE")]
    pub card: Option<String>,
    /// Compare the record with its evidence, in FILE
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<String>,
    /// The inputs of graders, to grade that evidence again
    #[command(flatten)]
    pub graders: GraderArgs,
    /// The subject, if the file has several
    #[arg(long, short = 's', value_name = "NAME")]
    pub subject: Option<String>,
    /// The item, if the file has several: its id, or file and line, such as `runs.csv:17`
    #[arg(long, short = 'i', value_name = "ID")]
    pub item: Option<String>,
    /// The fields of an item that name something
    #[command(flatten)]
    pub fields: Fields,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Work on scorecards.
#[derive(Debug, Subcommand)]
pub enum CardVerb {
    /// List the scorecards that come with karat
    List(ListArgs),
    /// Show a scorecard in full
    Show(ShowArgs),
    /// List everything in scorecards that is wrong or a trap
    Check(CheckArgs),
    /// Write a commented scorecard to start from
    New(NewArgs),
    /// Score evidence under two scorecards and say who moves, and why
    Diff(DiffArgs),
    /// Print a scorecard as a query, for tables that lie in another engine
    Sql(SqlArgs),
}

/// `karat card list`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  karat card list")]
pub struct ListArgs {
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `karat card show`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  karat card show workflow\n  karat card show trust --toml")]
pub struct ShowArgs {
    /// A released id or a file
    #[arg(value_name = "ID|FILE")]
    pub card: String,
    /// The file itself
    #[arg(long)]
    pub toml: bool,
}

/// `karat card sql`
#[derive(Debug, Args)]
#[command(
    after_help = "A column of the table is looked for under the name of each fact; `--without`\nsays which are not there. The scores are karat's to the last digit: let\n`--self-check` prove it once.\n\nExamples:\n  karat card sql trust@1.0.0 --dialect duckdb --table agents --keep agent\n  karat card sql trust@1.0.0 --dialect duckdb --self-check 1000 > check.sql"
)]
pub struct SqlArgs {
    /// A released id or a file
    #[arg(value_name = "ID|FILE")]
    pub card: String,
    /// The dialect of the engine
    #[arg(long, value_name = "DIALECT", value_parser = Dialect::ALL.map(Dialect::name))]
    pub dialect: String,
    /// The table: its name, or a call such as read_parquet('runs.parquet')
    #[arg(long, value_name = "TABLE", required_unless_present = "self_check")]
    pub table: Option<String>,
    /// Facts that the table has no column for
    #[arg(long, value_name = "FACT,...", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Columns that stay beside the scores
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',', conflicts_with = "sums")]
    pub keep: Vec<String>,
    /// Columns that say which rows are one item; rows with equal facts count once, others not at all
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub unique: Vec<String>,
    /// The column of the seconds from an item's time to the moment of the score, for a card with decay
    #[arg(long, value_name = "COLUMN")]
    pub elapsed_seconds: Option<String>,
    /// The values of all dimensions as well, and which gates hold
    #[arg(long)]
    pub values: bool,
    /// Add up by these columns, for `karat leaderboard --from`
    #[arg(long, value_name = "SUBJECT[,TASK[,OUTCOME]]", value_delimiter = ',', num_args = 1)]
    pub sums: Vec<String>,
    /// Print a query that brings this number of rows and counts those that the engine scores otherwise: 0 is right
    #[arg(
        long,
        value_name = "ROWS",
        conflicts_with_all = ["table", "without", "keep", "unique", "elapsed_seconds", "values", "sums"]
    )]
    pub self_check: Option<usize>,
}

/// `karat card check`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  karat card check examples/cards/test-report.toml\n  karat card new my-bot | karat card check -"
)]
pub struct CheckArgs {
    /// Scorecard files, or released ids
    #[arg(value_name = "FILE", required = true)]
    pub cards: Vec<String>,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `karat card new`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  karat card new my-bot\n  karat card new my-flow --kind workflow-run\n  karat card new my-task --base arena --dims correctness=0.6,speed=0.4"
)]
pub struct NewArgs {
    /// Its name: lower-case letters, digits, hyphens; starts with a letter
    pub id: String,
    /// Its evidence: facts, workflow-run, match, reasoning-trace, agent-dimensions or agent-evidence
    #[arg(long, value_name = "KIND", default_value = "facts")]
    pub kind: String,
    /// A challenge that runs code: a folder with card, hidden cases, reference
    #[arg(long, conflicts_with_all = ["kind", "base"])]
    pub challenge: bool,
    /// The language of what is submitted: python or javascript
    #[arg(long, value_name = "NAME", requires = "challenge", default_value = "python", value_parser = ["python", "javascript"], hide_possible_values = true)]
    pub language: String,
    /// A challenge of this family
    #[arg(long, value_name = "ID|FILE", conflicts_with = "kind", requires = "dims")]
    pub base: Option<String>,
    /// Its dimensions: correctness=0.6,speed=0.4
    #[arg(long, value_name = "LIST", requires = "base")]
    pub dims: Option<String>,
    /// Another description; repeatable
    #[arg(long, value_name = "KEY=TEXT", requires = "base")]
    pub describe: Vec<String>,
    /// Another label; repeatable
    #[arg(long, value_name = "KEY=TEXT", requires = "base")]
    pub label: Vec<String>,
    /// Another of the five colors; repeatable
    #[arg(long, value_name = "KEY=COLOR", requires = "base")]
    pub dim_color: Vec<String>,
    /// The file to write; standard output if not given. Of --challenge the folder
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
}

/// `karat card diff`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  karat card diff log-forensics cipher-relay examples/arena/*.json*")]
pub struct DiffArgs {
    /// The scorecard before: a released id or a file
    #[arg(value_name = "CARD_A")]
    pub before: String,
    /// The scorecard after
    #[arg(value_name = "CARD_B")]
    pub after: String,
    /// Evidence
    #[arg(value_name = "EVIDENCE", required = true)]
    pub files: Vec<String>,
    /// The fields of an item that name something
    #[command(flatten)]
    pub fields: Fields,
    /// Number of movers to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// The format
    #[command(flatten)]
    pub format: FormatArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
