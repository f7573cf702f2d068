//! `karat score`: one record per item, streamed.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use karat_core::number::Decimal;
use karat_core::record::Record as Scoring;
use karat_evidence::grade::trace::budget::{Budget, Overrun};
use karat_evidence::{Kind, Note};

use crate::args::{AsOf, Cli, ScoreArgs};
use crate::cards;
use crate::evidence::{Files, Flow};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::graders;
use crate::input::read_text;
use crate::output::{CARE, Color, LOSS, Screen, is_watched, lines};
use crate::progress::Progress;
use crate::render::table::Table;
use karat::card::CompiledCard;
use karat::engine::{Engine, Options, Scored, kind};
use karat::error::{Error, Place};
use karat::text::clean;
use karat::weights::weights;

/// Most unread fields and most remarks that are listed.
const LISTED: usize = 20;

/// Scores all evidence given.
pub fn run(args: &ScoreArgs, cli: &Cli) -> Result<Exit, Failure> {
    let card = card(args, cli.color)?;
    let options = graders::options(card.card(), &args.graders, args.subject_field.as_deref(), cli.portable)?;
    let budget = budget(args, kind(card.card())?);
    let mut engine = Engine::new(Arc::clone(&card), Options { budget, ..options })?;
    engine.set_as_of_written(args.as_of.as_ref().map(AsOf::written));
    let files = Files::new(&args.files, cli.color)?;
    let as_table = args.table || (!args.json && is_watched());
    let progress = Progress::new(files.bytes(), args.no_progress || as_table);
    let mut sink: Box<dyn Sink> =
        if as_table { Box::new(Rows::new(&card, cli.color)) } else { Box::new(Lines::new()) };
    let mut limit = FailUnder::new(args.fail_under);
    let mut remarks = Remarks::new(as_table);
    let mut slow = Slow::default();
    let mut refused = 0u64;
    let wanted = engine.wanted();
    files.each(&wanted, &progress, &mut |place, bytes| {
        let outcome = bytes.and_then(|bytes| {
            engine.visit_at(place, bytes, |scored| {
                limit.see(&scored.record);
                remarks.see(place, scored.notes());
                sink.record(scored)
            })
        });
        slow.see(place, engine.overrun());
        match outcome {
            Ok(written) => written?,
            Err(error) if args.keep_going => {
                refused += 1;
                sink.flush()?;
                progress.aside(|| tell(error, cli.color))?;
            }
            Err(error) => {
                sink.flush()?;
                progress.aside(|| tell(error, cli.color))?;
                return Err(Failure::Shown(Exit::CouldNotRun));
            }
        }
        Ok(Flow::Continue)
    })?;
    drop(progress);
    sink.flush()?;
    remarks.report(cli.color)?;
    report_unread(engine.unknown_fields(), |path| engine.meant(path), cli.color)?;
    slow.report(cli.color)?;
    if let (Some(path), Some(cache)) = (&args.graders.cache, engine.cache()) {
        graders::save_cache(path, cache)?;
    }
    if refused > 0 {
        return Err(Failure::new(match refused {
            1 => String::from("1 item was refused; the others were scored"),
            many => format!("{many} items were refused; the others were scored"),
        }));
    }
    Ok(limit.exit())
}

/// Returns the time limit of an item: from the command line, else from the document of traces.
fn budget(args: &ScoreArgs, kind: Kind) -> Option<Budget> {
    match args.budget_ms {
        Some(limit) => Some(Budget { limit: Duration::from_millis(limit.into()) }),
        None => (kind == Kind::ReasoningTrace).then(Budget::default),
    }
}

/// The items over the time limit. No score depends on it.
#[derive(Default)]
struct Slow {
    first: Vec<(String, Overrun)>,
    more: u64,
}

impl Slow {
    fn see(&mut self, place: &Place, overrun: Option<Overrun>) {
        let Some(overrun) = overrun else { return };
        if self.first.len() < LISTED {
            self.first.push((place.to_string(), overrun));
        } else {
            self.more += 1;
        }
    }

    fn report(&self, color: Color) -> Result<(), Failure> {
        let mut screen = Screen::stderr(color);
        for (place, overrun) in &self.first {
            writeln!(screen, "{CARE}note{CARE:#}: {}: {overrun}", clean(place))?;
        }
        if self.more > 0 {
            writeln!(screen, "{CARE}note{CARE:#}: and {} more that took too long", self.more)?;
        }
        Ok(())
    }
}

/// Returns the scorecard, with the override if one is given.
fn card(args: &ScoreArgs, color: Color) -> Result<Arc<CompiledCard>, Failure> {
    let card = cards::compiled(&args.card, color)?;
    let Some(path) = &args.override_file else { return Ok(card) };
    let text = read_text(path, "a JSON object of weights", Exit::CouldNotRun)?;
    let given =
        weights(&text).map_err(|problem| Failure::new(format!("`{path}`: {problem}")).help(OVERRIDE))?;
    Ok(Arc::new(card.with_override(&given)?))
}

const OVERRIDE: &str = "expected an object of weights by dimension: {\"accuracy\": 0.12, \"safety\": 0.08}";

fn tell(error: Error, color: Color) -> Result<(), Failure> {
    writeln!(Screen::stderr(color), "{LOSS}error{LOSS:#}: {}", Failure::from(error))?;
    Ok(())
}

/// Reports once the fields of the evidence that nothing read, and the facts they may be `meant` for.
pub(super) fn report_unread<'a>(
    unread: impl Iterator<Item = (&'a str, u64)>,
    meant: impl Fn(&str) -> Option<&'a str>,
    color: Color,
) -> Result<(), Failure> {
    let unread: Vec<(&str, u64)> = unread.collect();
    if unread.is_empty() {
        return Ok(());
    }
    let mut screen = Screen::stderr(color);
    let more = unread.len().saturating_sub(LISTED);
    let names: Vec<String> =
        unread.iter().take(LISTED).map(|(path, count)| format!("`{}` ({count})", clean(path))).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    writeln!(screen, "{CARE}note{CARE:#}: fields that nothing reads: {}{more}", names.join(", "))?;
    for (path, _) in &unread {
        if let Some(fact) = meant(path) {
            writeln!(screen, "  no item gives `{fact}`: is `{}` meant?", clean(path))?;
        }
    }
    Ok(())
}

/// Remarks of readers about items, for output without a line for them: records have none.
struct Remarks {
    ignored: bool,
    first: Vec<String>,
    more: u64,
}

impl Remarks {
    fn new(ignored: bool) -> Self {
        Self { ignored, first: Vec::new(), more: 0 }
    }

    fn see(&mut self, place: &Place, notes: &[Note]) {
        for note in notes.iter().filter(|_| !self.ignored) {
            if self.first.len() < LISTED {
                self.first.push(format!("{place}: {note}"));
            } else {
                self.more += 1;
            }
        }
    }

    fn report(&self, color: Color) -> Result<(), Failure> {
        let mut screen = Screen::stderr(color);
        for remark in &self.first {
            writeln!(screen, "{CARE}note{CARE:#}: {}", clean(remark))?;
        }
        if self.more > 0 {
            writeln!(screen, "{CARE}note{CARE:#}: and {} more such notes", self.more)?;
        }
        Ok(())
    }
}

/// The output for records.
trait Sink {
    fn record(&mut self, scored: &Scored<'_>) -> Result<(), Failure>;
    fn flush(&mut self) -> Result<(), Failure>;
}

/// One canonical JSON record per line.
struct Lines {
    out: std::io::BufWriter<std::io::StdoutLock<'static>>,
    line: Vec<u8>,
}

impl Lines {
    fn new() -> Self {
        Self { out: lines(), line: Vec::with_capacity(4096) }
    }
}

impl Sink for Lines {
    fn record(&mut self, scored: &Scored<'_>) -> Result<(), Failure> {
        self.line.clear();
        scored.write(&mut self.line);
        self.line.push(b'\n');
        Ok(self.out.write_all(&self.line)?)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}

/// Rows of a table, shown as they come.
struct Rows {
    screen: Screen,
    table: Table,
    has_head: bool,
}

impl Rows {
    fn new(card: &CompiledCard, color: Color) -> Self {
        let screen = Screen::stdout(color);
        let table = Table::new(card.card(), screen.width);
        Self { screen, table, has_head: false }
    }
}

impl Sink for Rows {
    fn record(&mut self, scored: &Scored<'_>) -> Result<(), Failure> {
        let record = &scored.record;
        if !std::mem::replace(&mut self.has_head, true) {
            write!(self.screen, "{}", self.table.head(record.card))?;
        }
        write!(self.screen, "{}", self.table.row(record, scored.notes()))?;
        Ok(self.screen.show()?)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.screen.flush()?)
    }
}

/// The findings of `--fail-under`. The exit status is that of the gravest case.
struct FailUnder {
    points: Option<Decimal>,
    blocked: bool,
    below: bool,
    inconclusive: bool,
}

impl FailUnder {
    fn new(points: Option<Decimal>) -> Self {
        Self { points, blocked: false, below: false, inconclusive: false }
    }

    fn see(&mut self, record: &Scoring<'_>) {
        let Some(points) = self.points else { return };
        self.blocked |= !record.gates.is_empty();
        match record.published {
            Some(published) => self.below |= !published.reaches(points),
            None => self.inconclusive = true,
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self { blocked: true, .. } => Exit::Blocked,
            Self { below: true, .. } => Exit::BelowBar,
            Self { inconclusive: true, .. } => Exit::Inconclusive,
            _ => Exit::Done,
        }
    }
}
