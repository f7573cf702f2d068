//! `karat demo`: a leaderboard, a comparison and a gate, then the four scorecards, on small evidence that is built in; needs
//! no files.

use std::io::Write as _;
use std::sync::Arc;

use karat::Layout;
use karat::answers::comparison::ComparedPair;
use karat::ask::answer::{gaps_of, subject};
use karat::ask::compare::Asked;
use karat::ask::{Compare, Floors, Leaderboard};
use karat::card::CompiledCard;
use karat::document::{self, ComparisonView, LeaderboardView};
use karat::engine::{Engine, Options, Scored};
use karat::error::Place;
use karat::gate::{failed, judge_comparison, judge_leaderboard};
use karat::loaded::Loading;
use karat::rows::{Rows, Selection};
use karat::text::wrap;
use karat_core::number::Decimal;

use super::compare;
use super::score_rows::title;
use crate::args::Cli;
use karat::document::brief;
use karat::write::screen::{self, Stream};
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format;
use karat_terminal::output::{FAINT, LOSS, STRONG, Screen};

/// The scorecard and the runs that are ranked.
const RANKED: (&str, &str) = ("cards/task-run.toml", "leaderboard/runs.csv");

/// The agent in use, and the one that could take its place.
const COMPARED: (&str, &str) = ("ibis", "heron");

/// Most tasks of a list of the comparison.
const TASKS: usize = 3;

/// A table of the tour: what it shows, the scorecard, and the evidence.
struct Stop {
    title: &'static str,
    card: &'static str,
    evidence: &'static [&'static str],
}

const TOUR: [Stop; 4] = [
    Stop {
        title: "Workflow runs: cost and latency count only once the task succeeded",
        card: "workflow",
        evidence: &[
            "workflow/worked-example.json", "workflow/partial-dag.json", "workflow/closed-gate.json",
            "workflow/retries.jsonl",
        ],
    },
    Stop {
        title: "Arena matches: a challenge picks dimensions, the total is a win, a draw or a loss",
        card: "cipher-relay",
        evidence: &["arena/timed.jsonl"],
    },
    Stop {
        title: "Reasoning traces: one trace under five weight profiles, and three rules at work",
        card: "trace",
        evidence: &[
            "trace/same-trace-default.json", "trace/same-trace-finance.json", "trace/same-trace-code.json",
            "trace/same-trace-medical.json", "trace/same-trace-customer-service.json",
            "trace/single-thought.json", "trace/error-recovery.json", "trace/one-tool.json",
        ],
    },
    Stop {
        title: "Agent trust: coverage is shown beside the score, security can veto",
        card: "trust",
        evidence: &["trust/coverage.jsonl", "trust/security.jsonl"],
    },
];

/// The match whose number is explained at the end.
const EXPLAINED: Stop = Stop {
    title: "Why 823? `karat explain` adds it up",
    card: "log-forensics",
    evidence: &["arena/documented-823.json"],
};

/// Commands to try next. A test runs every line that starts with `karat` or `echo`.
pub const NEXT: &str = r#"Now with your own data:

  karat card new my-bot --out my-bot.toml
  echo '{"subject":"bot-7","solved":41,"asked":50,"cost_usd":3.2,"budget_usd":5}' > bots.jsonl
  karat card check my-bot.toml
  karat score --card my-bot.toml bots.jsonl
  karat explain --card my-bot.toml bots.jsonl
"#;

/// Runs the tour.
pub fn run(cli: &Cli) -> Result<Exit, Failure> {
    let mut screen = Screen::stdout(cli.color);
    decide(&mut screen)?;
    for stop in &TOUR {
        let card = cards::compiled(stop.card, cli.color)?;
        let table = Stream::new(&brief::columns(card.card()), &brief::widest(card.card()), screen.width);
        writeln!(screen, "{STRONG}{}{STRONG:#}\n", stop.title)?;
        write!(screen, "{}{}", title(card.card()), table.head())?;
        let row = &mut |scored: &Scored<'_>| table.row(&brief::row(&scored.record, scored.notes()));
        each(stop, &card, row, &mut screen)?;
        writeln!(screen)?;
    }
    let card = cards::compiled(EXPLAINED.card, cli.color)?;
    writeln!(screen, "{STRONG}{}{STRONG:#}\n", EXPLAINED.title)?;
    let layout = screen::Layout { width: screen.width, most: usize::MAX, all: "" };
    let account =
        &mut |scored: &Scored<'_>| screen::document(&document::account(&scored.record, None), layout);
    each(&EXPLAINED, &card, account, &mut screen)?;
    write!(screen, "\n{FAINT}{}{FAINT:#}\n{NEXT}", "-".repeat(40))?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// Ranks agents, compares two of them, and asks whether one may take the place of the other.
fn decide(screen: &mut Screen) -> Result<(), Failure> {
    let mut rows = ranked()?;
    writeln!(screen, "{STRONG}Who leads? Agents that share a letter are tied{STRONG:#}\n")?;
    let board =
        judge_leaderboard(&Leaderboard::default(), &Floors::default(), &mut rows, &Default::default())?;
    let gaps = gaps_of(&rows, board.settings.by);
    let view = LeaderboardView {
        failing: &board.failing,
        dimensions: &rows.dimensions,
        gaps: &gaps,
        figures: Vec::new(),
    };
    format::screen(&document::leaderboard(&board.answer, view), (usize::MAX, ""), screen)?;
    let (first, second) = COMPARED;
    writeln!(screen, "\n{STRONG}Would it be worse with {second} in place of {first}?{STRONG:#}\n")?;
    let ask = Compare {
        first: first.to_owned(),
        second: second.to_owned(),
        fail_if_worse: Some(Decimal::ZERO),
        ..Compare::default()
    };
    let pair = Asked::Pair((subject(&rows, first)?, subject(&rows, second)?));
    let answer = ask.answer(&rows, pair)?;
    let failed = |pair: &ComparedPair| failed(pair, rows.scale.max);
    let view =
        ComparisonView { dimensions: &rows.dimensions, gaps: &[], failed: &failed, is_listed: &|_| true };
    format::screen(&document::comparison(&answer, &view), (TASKS, compare::ALL), screen)?;
    writeln!(screen, "\n{STRONG}May it be released? The gate `--fail-if-worse` says{STRONG:#}\n")?;
    for line in judge_comparison(&answer, Decimal::ZERO, rows.scale).lines() {
        for part in wrap(&format!("failed: {line}"), screen.width) {
            writeln!(screen, "{LOSS}{part}{LOSS:#}")?;
        }
    }
    Ok(writeln!(screen)?)
}

/// Scores the runs that are ranked.
fn ranked() -> Result<Rows, Failure> {
    let (card, runs) = RANKED;
    let card = Arc::new(CompiledCard::parse(example(card)?)?);
    let mut loading = Loading::new(Selection::default(), Some((card, Options::default())), None)?;
    loading.read(runs, example(runs)?.as_bytes(), Layout::Csv)?;
    Ok(loading.finish()?.rows)
}

/// Returns the text of an example.
fn example(path: &str) -> Result<&'static str, Failure> {
    karat::examples::text(path).ok_or_else(|| Failure::new(format!("there is no example `{path}`")))
}

/// Scores the evidence of a stop and writes every record as `show` formats it.
fn each(
    stop: &Stop,
    card: &Arc<CompiledCard>,
    show: &mut dyn FnMut(&Scored<'_>) -> String,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let mut engine = Engine::new(Arc::clone(card), Options::default())?;
    for path in stop.evidence {
        for (place, item) in items(example(path)?) {
            let place = Place { file: stop.card.to_owned(), line: Some(place), nth: 1, is_row: false };
            let shown =
                engine.visit(item.as_bytes(), |scored| show(scored)).map_err(|error| error.at(place))?;
            write!(screen, "{shown}")?;
        }
    }
    Ok(())
}

/// Returns one item per line, or the whole text if it is one item over several lines.
fn items(text: &'static str) -> impl Iterator<Item = (u64, &'static str)> {
    let is_lines = text.lines().next().is_some_and(|line| line.trim_end().ends_with('}'));
    let pieces = if is_lines { text.lines().collect() } else { vec![text] };
    (1u64..).zip(pieces).filter(|(_, piece)| !piece.trim().is_empty())
}
