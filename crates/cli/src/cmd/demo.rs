//! `karat demo`: the four scorecards on small evidence that is built in; needs no files.

use std::io::Write as _;

use std::sync::Arc;

use karat::card::CompiledCard;
use karat::engine::{Engine, Options, Scored};
use karat::error::Place;

use crate::args::Cli;
use crate::cards;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{FAINT, STRONG, Screen};
use crate::render::table::Table;
use crate::render::waterfall::waterfall;

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
            "workflow/worked-example.json",
            "workflow/partial-dag.json",
            "workflow/closed-gate.json",
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
            "trace/same-trace-default.json",
            "trace/same-trace-finance.json",
            "trace/same-trace-code.json",
            "trace/same-trace-medical.json",
            "trace/same-trace-customer-service.json",
            "trace/single-thought.json",
            "trace/error-recovery.json",
            "trace/one-tool.json",
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
    for stop in &TOUR {
        let card = cards::compiled(stop.card, cli.color)?;
        let table = Table::new(card.card(), screen.width);
        writeln!(screen, "{STRONG}{}{STRONG:#}\n", stop.title)?;
        write!(screen, "{}", table.head(card.card()))?;
        each(stop, &card, cli, &mut |scored| table.row(&scored.record, scored.notes()), &mut screen)?;
        writeln!(screen)?;
    }
    let card = cards::compiled(EXPLAINED.card, cli.color)?;
    writeln!(screen, "{STRONG}{}{STRONG:#}\n", EXPLAINED.title)?;
    let width = screen.width;
    each(&EXPLAINED, &card, cli, &mut |scored| waterfall(&scored.record, width), &mut screen)?;
    write!(screen, "\n{FAINT}{}{FAINT:#}\n{NEXT}", "-".repeat(40))?;
    screen.flush()?;
    Ok(Exit::Done)
}

/// Scores the evidence of a stop and writes every record as `show` formats it.
fn each(
    stop: &Stop,
    card: &Arc<CompiledCard>,
    cli: &Cli,
    show: &mut dyn FnMut(&Scored<'_>) -> String,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let options = Options { is_portable: cli.portable, ..Options::default() };
    let mut engine = Engine::new(Arc::clone(card), options)?;
    for path in stop.evidence {
        let missing = || Failure::new(format!("there is no example `{path}`"));
        let text = karat::examples::text(path).ok_or_else(missing)?;
        for (place, item) in items(text) {
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
