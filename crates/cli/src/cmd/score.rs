//! `karat score`: one record per item, streamed.

use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use karat_core::number::Decimal;
use karat_graders::trace::budget::Budget;

use super::listing::{Held, Listing, Order, Summary};
use super::score_rows::{Ending, Rows, Written};
use crate::args::{Cli, ScoreArgs};
use crate::frames;
use crate::gate;
use crate::graders;
use crate::progress::{Progress, tell_notes};
use karat::ask::AsOf;
use karat::ask::weights;
use karat::bulk::{Block, Noticed, in_order};
use karat::card::CompiledCard;
use karat::document::brief;
use karat::engine::{Engine, Options, Scored};
use karat::error::{Error, Place};
use karat::gate::ItemFloor;
use karat::inputs::Inputs;
use karat::text::clean;
use karat::write;
use karat::write::screen::Stream;
use karat_terminal::cards;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::format::Chosen;
use karat_terminal::input::read_text;
use karat_terminal::output::{CARE, Color, LOSS, Screen, lines};

/// Most unread fields and most remarks that are listed.
const LISTED: usize = 20;

/// The most records that wait, in bytes, until an item has the field that a flag names.
const WAITING_MAX: usize = 64 << 20;

/// Scores all evidence given.
pub fn run(args: &ScoreArgs, cli: &Cli) -> Result<Exit, Failure> {
    let inputs = Inputs::new(&args.files)?;
    let card = card(args, &inputs, cli.color)?;
    let options = graders::options(card.card(), &args.graders, &args.fields)?;
    let own = args.budget_ms.map(|limit| Budget { limit: Duration::from_millis(limit.into()) });
    let options = Options { budget: own.or(options.budget), ..options };
    // With an embedder or a cache, each trace counts for the novelty of the next.
    let is_apart = options.embedder.is_none() && options.cache.is_none();
    let workers = if is_apart { workers(args.jobs) } else { 0 };
    let engine = |options| -> Result<Engine, Failure> {
        let mut engine = Engine::new(Arc::clone(&card), options)?;
        engine.set_as_of_written(args.as_of.as_ref().map(AsOf::written));
        drop(engine.take_noticed());
        Ok(engine)
    };
    let has_own = args.brief || args.output.is_some();
    let chosen = if has_own { Chosen::Json } else { args.format.chosen()? };
    let mut columns = match &args.output {
        Some(path) => Some(frames::Columns::new(path, inputs.paths(), &card)?),
        None => None,
    };
    let as_table = chosen == Chosen::Screen;
    let progress = Arc::new(Progress::new(args.no_progress || as_table, cli));
    let screen = as_table.then(|| Screen::stdout(cli.color));
    let width = screen.as_ref().map(|screen| screen.width);
    let rows = match (chosen, args.brief) {
        (_, true) => Rows::Brief,
        _ if columns.is_some() => Rows::Columns,
        (Chosen::Screen, _) => {
            let width = width.unwrap_or(80);
            Rows::Screen(Arc::new(Stream::new(
                &brief::columns(card.card()),
                &brief::widest(card.card()),
                width,
            )))
        }
        (Chosen::Form(write::Form::Csv), _) => Rows::Csv,
        (Chosen::Form(form), _) if form != write::Form::Jsonl => Rows::Document(form),
        _ => Rows::Records,
    };
    let mut printed: Box<dyn Write> = match screen {
        Some(screen) => Box::new(screen),
        None => Box::new(lines()),
    };
    let mut out: &mut dyn Write = match &mut columns {
        Some(columns) => columns,
        None => &mut printed,
    };
    let listing = listing(args);
    let end = Ending { card: Arc::clone(&card), rows: rows.clone(), fail_under: args.fail_under };
    let form = Form { rows, fail_under: args.fail_under, keeps_going: args.keep_going, listing };
    let engines: Result<Vec<Engine>, Failure> = (0..workers).map(|_| engine(options.clone())).collect();
    let workers = engines?.into_iter().map(|mut engine| {
        let form = form.clone();
        move |block: &Block| {
            let part = form.score(block, &mut engine);
            // A vector in a trace begins a cache too.
            engine.cache().is_none().then_some(part)
        }
    });
    let names = [&args.fields.subject_field, &args.fields.task_field];
    // Looks whether any item has the fields that are named: nothing is written before one has.
    let is_named = names.into_iter().any(Option::is_some);
    let mut unsure = is_named.then(|| engine(options.clone())).transpose()?;
    let mut waiting = Vec::new();
    let mut engine = engine(options)?;
    let wanted = engine.wanted();
    let mut total = Part::default();
    let read = in_order(
        workers.collect(),
        |block| form.score(block, &mut engine),
        {
            let progress = Arc::clone(&progress);
            move |intake| inputs.put(&wanted, &*progress, intake)
        },
        |part| {
            let written = match part {
                Some(part) if unsure.is_some() => {
                    let added = total.add(part, &listing, &mut waiting, &progress, cli.color);
                    let is_found = unsure.as_mut().is_none_or(|engine| {
                        engine.set_noticed(std::mem::take(&mut total.noticed));
                        let is_found = engine.refuse_unfound().is_ok();
                        total.noticed = engine.take_noticed();
                        is_found
                    });
                    if is_found || waiting.len() > WAITING_MAX {
                        unsure = None;
                        added.and_then(|()| Ok(out.write_all(&std::mem::take(&mut waiting))?))
                    } else {
                        added
                    }
                }
                Some(part) => total.add(part, &listing, &mut out, &progress, cli.color),
                None => out.flush().map_err(Failure::from),
            };
            match written {
                Ok(()) if total.refused == 0 || args.keep_going => ControlFlow::Continue(()),
                Ok(()) => ControlFlow::Break(Failure::Shown(total.exit())),
                Err(failure) => ControlFlow::Break(failure),
            }
        },
    );
    progress.end();
    match read {
        ControlFlow::Continue(read) => read?,
        ControlFlow::Break(failure) => return Err(failure),
    }
    engine.set_noticed(std::mem::take(&mut total.noticed));
    engine.refuse_unfound()?;
    out.write_all(&waiting)?;
    total.end(&listing, &mut out)?;
    let counts = (&total.summary, total.shown, total.refused);
    end.write(std::mem::take(&mut total.written), counts, &listing, width.unwrap_or(80), &mut out)?;
    out.flush()?;
    if let Some(columns) = columns {
        columns.end()?;
    }
    let exit = total.exit();
    total.remarks.report("more such notes", cli.color)?;
    report_unread(engine.unknown_fields(), |path| engine.meant(path), cli.color)?;
    total.slow.report("more that took too long", cli.color)?;
    if let (Some(path), Some(cache)) = (&args.graders.cache, engine.cache()) {
        graders::save_cache(path, cache)?;
    }
    if total.refused > 0 {
        let others = if total.summary.is_empty() { "nothing was scored" } else { "the others were scored" };
        let message = match total.refused {
            1 => format!("1 item was refused; {others}"),
            many => format!("{many} items were refused; {others}"),
        };
        return Err(Failure::with_exit(exit, message));
    }
    match args.fail_under {
        Some(least) => gate::tell(&total.limit.verdict(least, card.card().scale.max), cli.color),
        None => Ok(Exit::Done),
    }
}

fn listing(args: &ScoreArgs) -> Listing {
    let order = args.sort.as_deref().map(|key| match key {
        "score" => Order::Best,
        "worst" => Order::Worst,
        _ => Order::Subject,
    });
    let most = args.limit.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
    Listing { order, most, only_failed: args.only.is_some() }
}

/// Returns the number of threads that score besides this one: none if one is enough, else one for each core.
fn workers(jobs: Option<u16>) -> usize {
    match jobs.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from) {
        1 => 0,
        many => many,
    }
}

/// The form of the report on items.
#[derive(Clone)]
struct Form {
    rows: Rows,
    fail_under: Option<Decimal>,
    keeps_going: bool,
    listing: Listing,
}

impl Form {
    /// Scores the items of a block, up to the first that stops.
    fn score(&self, block: &Block, engine: &mut Engine) -> Part {
        let mut part = Part::default();
        let _ = block.each(|place, bytes| {
            let scored = bytes.and_then(|bytes| {
                let scored = engine.visit_at(place, bytes, |scored| self.write(place, scored, &mut part));
                part.slow.see(place, engine.overrun());
                scored
            });
            let Err(error) = scored else { return ControlFlow::Continue(()) };
            if let Rows::Columns = self.rows {
                frames::row(Err(&error), &mut part.text);
            }
            part.errors.push((part.text.len(), error));
            if self.keeps_going { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        part.noticed = engine.take_noticed();
        part
    }

    fn write(&self, place: &Place, scored: &Scored<'_>, part: &mut Part) {
        let record = &scored.record;
        if let Some(points) = self.fail_under {
            part.limit.see(place, record, points);
        }
        part.summary.see(record);
        if !matches!(self.rows, Rows::Screen(_)) {
            part.remarks.see(place, scored.notes());
        }
        if !self.listing.shows(record, self.fail_under) {
            return;
        }
        part.shown += 1;
        let mut own = Vec::new();
        let text = if self.listing.holds() { &mut own } else { &mut part.text };
        let written = self.rows.write(place, scored, self.fail_under, text);
        if part.head.is_none() {
            part.head = self.rows.head(record.card);
        }
        if self.listing.holds() {
            part.held.push(Listing::hold(record, own, written));
        } else {
            part.written.extend(written);
        }
    }
}

/// The report on some items, one after the other.
#[derive(Default)]
struct Part {
    /// The head of the table, if there is a row.
    head: Option<String>,
    /// The records, as JSON or rows.
    text: Vec<u8>,
    /// The parts of a document.
    written: Vec<Written>,
    /// The items that wait for their place in the order.
    held: Vec<Held>,
    /// The number of items in the output.
    shown: u64,
    summary: Summary,
    /// The refusals, each with its place in the text.
    errors: Vec<(usize, Error)>,
    refused: u64,
    /// The status of the worst refusal: what is wrong with a scorecard is wrong with more than an item.
    exit: Option<Exit>,
    limit: ItemFloor,
    /// Remarks of readers, for output without a line for them: records have none.
    remarks: Notes,
    /// The items over the time limit.
    slow: Notes,
    noticed: Noticed,
}

impl Part {
    /// Writes the records and refusals of the next items, and keeps the notes for the end.
    fn add(
        &mut self,
        next: Self,
        listing: &Listing,
        out: &mut dyn Write,
        progress: &Progress,
        color: Color,
    ) -> Result<(), Failure> {
        let ends = next.errors.into_iter().map(|(end, error)| (end, Some(error)));
        let mut start = 0;
        for (end, error) in ends.chain([(next.text.len(), None)]) {
            let text = next.text.get(start..end).unwrap_or_default();
            start = end;
            let has_rows = !text.is_empty() || !next.held.is_empty();
            if let Some(head) = next.head.as_ref().filter(|_| self.head.is_none() && has_rows) {
                out.write_all(head.as_bytes())?;
                self.head = Some(head.clone());
            }
            out.write_all(text)?;
            if let Some(error) = error {
                self.refused += 1;
                let failure = Failure::from(error);
                if self.exit() == Exit::CouldNotRun {
                    self.exit = Some(failure.exit());
                }
                out.flush()?;
                progress.aside(|| tell(failure, color))?;
            }
        }
        listing.add(&mut self.held, next.held);
        self.written.extend(next.written);
        self.shown += next.shown;
        self.summary.add(next.summary);
        self.limit.add(next.limit);
        self.remarks.add(next.remarks);
        self.slow.add(next.slow);
        self.noticed.add(next.noticed);
        Ok(())
    }

    fn exit(&self) -> Exit {
        self.exit.unwrap_or(Exit::CouldNotRun)
    }

    /// Writes the items that waited for the end.
    fn end(&mut self, listing: &Listing, out: &mut dyn Write) -> Result<(), Failure> {
        if !listing.holds() {
            return Ok(());
        }
        let held = listing.end(std::mem::take(&mut self.held));
        self.shown = held.len() as u64;
        for held in held {
            out.write_all(&held.text)?;
            self.written.extend(held.written);
        }
        Ok(())
    }
}

/// Notes on items for the end, the first of them in full.
#[derive(Default)]
struct Notes {
    first: Vec<String>,
    more: u64,
}

impl Notes {
    fn see(&mut self, place: &Place, notes: impl IntoIterator<Item: std::fmt::Display>) {
        for note in notes {
            if self.first.len() < LISTED {
                self.first.push(format!("{place}: {note}"));
            } else {
                self.more += 1;
            }
        }
    }

    fn add(&mut self, next: Self) {
        let room = LISTED.saturating_sub(self.first.len());
        self.more += next.more + next.first.len().saturating_sub(room) as u64;
        self.first.extend(next.first.into_iter().take(room));
    }

    /// Says them; `others` is what those are that are not listed.
    fn report(mut self, others: &str, color: Color) -> Result<(), Failure> {
        if self.more > 0 {
            self.first.push(format!("and {} {others}", self.more));
        }
        Ok(tell_notes(&self.first, &mut Screen::stderr(color))?)
    }
}

/// Returns the scorecard, with the override if one is given.
fn card(args: &ScoreArgs, inputs: &Inputs, color: Color) -> Result<Arc<CompiledCard>, Failure> {
    let wanted = args.card.as_deref().unwrap_or_default();
    let card = cards::for_inputs(wanted, inputs, color)?;
    let Some(path) = &args.override_file else { return Ok(card) };
    let text = read_text(path, "a JSON object of weights", Exit::CouldNotRun)?;
    let given =
        weights(&text).map_err(|problem| Failure::new(format!("`{path}`: {problem}")).help(OVERRIDE))?;
    let card = card.with_override(&given)?;
    // It is in every record too, which few read in a pipe.
    if let Some(refused) = card.scorer()?.override_use().filter(|it| !it.applied) {
        let (why, used) = (refused.reason.as_deref().unwrap_or_default(), "the card's own are used");
        writeln!(
            Screen::stderr(color),
            "{CARE}warning{CARE:#}: `{path}` is refused, {used}: {}",
            clean(why)
        )?;
    }
    Ok(Arc::new(card))
}

const OVERRIDE: &str = "expected an object of weights by dimension: {\"accuracy\": 0.12, \"safety\": 0.08}";

fn tell(failure: Failure, color: Color) -> Result<(), Failure> {
    writeln!(Screen::stderr(color), "{LOSS}error{LOSS:#}: {failure}")?;
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
