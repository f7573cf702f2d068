//! `karat score`: one record per item, streamed.

use std::io::Write;
use std::time::Duration;

use karat_core::evaluate::Scorer;
use karat_core::number::Decimal;
use karat_core::record::Record;
use karat_evidence::grade::trace::budget::Budget;
use karat_evidence::{Kind, Note};

use crate::args::{AsOf, Cli, ScoreArgs};
use crate::cards;
use crate::evidence::{Files, Flow};
use crate::graders;
use crate::input::read_text;
use crate::output::{CARE, Color, LOSS, Screen, is_watched, lines};
use crate::progress::Progress;
use crate::render::table::Table;
use karat_report::claim::weights;
use karat_report::exit::Exit;
use karat_report::failure::Failure;
use karat_report::session::{Place, Refusal, Session};
use karat_report::text::clean;

/// Most fields that are listed as unread, and most remarks.
const LISTED: usize = 20;

/// Scores everything that is given.
pub fn run(args: &ScoreArgs, cli: &Cli) -> Result<Exit, Failure> {
    let scorer = scorer(args, cli.color)?;
    let graders = graders::of_card(
        scorer.card(),
        &args.graders,
        args.as_of.as_ref().map(|as_of| as_of.at),
        cli.portable,
    )?;
    let mut session = Session::new(&scorer, args.subject_field.as_deref(), graders, cli.portable)?;
    if let Some(budget) = budget(args, session.wanted().kind) {
        session = session.with_budget(budget);
    }
    let files = Files::new(&args.files, cli.color)?;
    let as_table = args.table || (!args.json && is_watched());
    let progress = Progress::new(files.bytes(), args.no_progress || as_table);
    let mut sink: Box<dyn Sink> =
        if as_table { Box::new(Rows::new(&scorer, cli.color)) } else { Box::new(Lines::new()) };
    let mut limit = FailUnder::new(args.fail_under);
    let mut remarks = Remarks::new(as_table);
    let mut refused = 0u64;
    let wanted = session.wanted();
    files.each(&wanted, &progress, &mut |place, bytes| {
        let outcome =
            session.score(&place, bytes, args.as_of.as_ref().map(AsOf::written), |record, notes| {
                limit.see(record);
                remarks.see(&place, notes);
                sink.record(record, notes)
            });
        match outcome {
            Ok(written) => written?,
            Err(refusal) if args.keep_going => {
                refused += 1;
                sink.flush()?;
                progress.aside(|| tell(&refusal, cli.color))?;
            }
            Err(refusal) => {
                sink.flush()?;
                progress.aside(|| tell(&refusal, cli.color))?;
                return Err(Failure::Told(Exit::CouldNotRun));
            }
        }
        Ok(Flow::Continue)
    })?;
    drop(progress);
    sink.flush()?;
    remarks.report(cli.color)?;
    report_unread(session.unknown_fields(), |path| session.meant(path), cli.color)?;
    report_overruns(&session, cli.color)?;
    if let (Some(path), Some(cache)) = (&args.graders.cache, session.cache()) {
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

/// How long an item may take: what the command line says, else what the document of traces says for them.
fn budget(args: &ScoreArgs, kind: Kind) -> Option<Budget> {
    match args.budget_ms {
        Some(limit) => Some(Budget { limit: Duration::from_millis(limit.into()) }),
        None => (kind == Kind::ReasoningTrace).then(Budget::default),
    }
}

/// Says which items took longer than they may. No score depends on it.
fn report_overruns(session: &Session<'_>, color: Color) -> Result<(), Failure> {
    let Some(overruns) = session.overruns() else { return Ok(()) };
    let mut screen = Screen::stderr(color);
    for (place, overrun) in overruns.listed() {
        writeln!(screen, "{CARE}note{CARE:#}: {}: {overrun}", clean(place))?;
    }
    if overruns.unlisted() > 0 {
        writeln!(screen, "{CARE}note{CARE:#}: and {} more that took too long", overruns.unlisted())?;
    }
    Ok(())
}

/// The scorer, with the weights from outside if some are given.
fn scorer(args: &ScoreArgs, color: Color) -> Result<Scorer, Failure> {
    let scorer = cards::scorer(&args.card, color)?;
    let Some(path) = &args.override_file else { return Ok(scorer) };
    let text = read_text(path, "a JSON object of weights", Exit::CouldNotRun)?;
    let given =
        weights(&text).map_err(|problem| Failure::new(format!("`{path}`: {problem}")).help(OVERRIDE))?;
    scorer.with_override(&given).map_err(|refusal| {
        Failure::new(refusal.to_string())
            .help("leave out --override, or use a card with an [override] section")
    })
}

const OVERRIDE: &str = "expected an object of weights by dimension: {\"accuracy\": 0.12, \"safety\": 0.08}";

fn tell(refusal: &Refusal, color: Color) -> Result<(), Failure> {
    writeln!(Screen::stderr(color), "{LOSS}error{LOSS:#}: {refusal}")?;
    Ok(())
}

/// Says once which fields of the evidence nobody read, and which facts they may be `meant` for.
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

/// What readers remark about items, where no table has a line for it: a record has none.
struct Remarks {
    ignored: bool,
    first: Vec<String>,
    more: u64,
}

impl Remarks {
    fn new(ignored: bool) -> Self {
        Self { ignored, first: Vec::new(), more: 0 }
    }

    fn see(&mut self, place: &Place<'_>, notes: &[Note]) {
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

/// Where records go.
trait Sink {
    fn record(&mut self, record: &Record<'_>, notes: &[Note]) -> Result<(), Failure>;
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
    fn record(&mut self, record: &Record<'_>, _: &[Note]) -> Result<(), Failure> {
        self.line.clear();
        record.write(&mut self.line);
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
    fn new(scorer: &Scorer, color: Color) -> Self {
        let screen = Screen::stdout(color);
        let table = Table::new(scorer.card(), screen.width);
        Self { screen, table, has_head: false }
    }
}

impl Sink for Rows {
    fn record(&mut self, record: &Record<'_>, notes: &[Note]) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.has_head, true) {
            write!(self.screen, "{}", self.table.head(record.card))?;
        }
        write!(self.screen, "{}", self.table.row(record, notes))?;
        Ok(self.screen.show()?)
    }

    fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.screen.flush()?)
    }
}

/// What `--fail-under` has seen. The exit status is that of the gravest case.
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

    fn see(&mut self, record: &Record<'_>) {
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
