//! `karat rescore`: every record of a store beside the score of the same item by another card. Nothing is written without
//! `--commit`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use karat::answers::rescored::{Mover, Summary};
use karat::card::CompiledCard;
use karat::cards::has_versions;
use karat::document;
use karat::engine::Options;
use karat::error::Error;
use karat::record::Record;
use karat::rescore::{Kept, Rescored, Rescorer};
use karat::rows::problems::Problems;
use karat::text::{clean, count};
use karat::{answers, recompute};
use karat_core::facts::Digest;
use karat_core::scorecard::Scorecard;
use karat_core::timestamp::Timestamp;
use karat_reader::Kind as EvidenceKind;
use karat_server::clock::Clock;
use karat_server::keys::Withdrawal;
use karat_server::rescore::{self, Rescored as Committed};
use karat_server::state::App;
use karat_server::{Options as ServerOptions, folder};
use karat_store::port::Order;
use karat_store::{Item, Kind, Reader, Term};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;

use crate::args::{Cli, RescoreArgs};
use crate::progress::Progress;
use crate::{graders, store};
use karat_terminal::cards::{self, CardText, library};
use karat_terminal::format::{self, Chosen};
use karat_terminal::output::{Screen, lines};

/// The most subjects whose ranks a screen lists.
const RANKS: usize = 10;

/// The contents of a store, read before its records are scored again.
struct Stock {
    reader: Reader,
    /// The number of entries read.
    size: u64,
    /// Positions of evidence, by digest.
    evidence: BTreeMap<Digest, u64>,
    /// The cards in the store.
    cards: Vec<CardText>,
    /// Positions of records that no later one replaces.
    records: Vec<u64>,
    /// The withdrawals of what revoked keys sent.
    withdrawn: Vec<Withdrawal>,
}

/// A store, the new card, and the old ones as they are met.
struct Work<'a> {
    stock: Stock,
    rescorer: Rescorer<'a>,
    /// The id of the cards whose records are scored again.
    of: &'a str,
    subject: Option<&'a str>,
    /// The old cards, ready to score, by digest; `None` for one that is not available.
    old: BTreeMap<Digest, Option<Arc<CompiledCard>>>,
    /// Records of other cards, by id.
    others: BTreeMap<String, u64>,
    /// A kind of evidence among the records that the new card does not read.
    other_kind: Option<String>,
}

impl Stock {
    /// Returns the kind of the evidence behind the first record by a card with this id.
    fn kind_of(&mut self, id: &str) -> Result<Option<EvidenceKind>, Failure> {
        for position in &self.records {
            let item = self.reader.item(*position).map_err(|error| store::refused(&error))?;
            if let Ok(Some(claim)) = Record::parse(&item.content)
                && claim.document().scorecard.id == id
            {
                return Ok(EvidenceKind::from_name(&claim.document().evidence.kind));
            }
        }
        Ok(None)
    }
}

/// Scores all records again.
pub fn run(args: &RescoreArgs, cli: &Cli) -> Result<Exit, Failure> {
    let progress = Progress::of_items(args.no_progress);
    // A name that nothing has is refused before the store is read.
    cards::find(&args.card)?;
    let mut stock = stock(&args.database, args.known_at, &progress)?;
    let named = match stock.kind_of(args.of.as_deref().unwrap_or(&args.card))? {
        Some(kind) if has_versions(&args.card) => cards::named_of_kind(&args.card, kind, cli.color)?,
        _ => args.card.as_str().into(),
    };
    let card = cards::compiled(&named, cli.color)?;
    // The options of graders are read once; they are the same for every scorecard.
    let options = graders::options(card.card(), &args.graders, &Default::default())?;
    let options = |_: &Scorecard| -> Result<Options, Error> { Ok(options.clone()) };
    let rescorer = Rescorer { card: &card, options: &options };
    let mut work = Work {
        of: args.of.as_deref().unwrap_or(&card.card().id),
        subject: args.subject.as_deref(),
        stock,
        rescorer,
        old: BTreeMap::new(),
        others: BTreeMap::new(),
        other_kind: None,
    };
    let chosen = args.format.chosen()?;
    let mut out = lines();
    let mut summary = Summary::new(args.top);
    let mut problems = Problems::default();
    let records = std::mem::take(&mut work.stock.records);
    for (done, position) in (1..).zip(&records) {
        let item = work.stock.reader.item(*position).map_err(|error| store::refused(&error))?;
        match work.record(&item) {
            Ok(None) => {}
            Ok(Some((claim, moved))) => {
                let mover = Mover::new(&item.entry.id, &claim, moved);
                if chosen == Chosen::Json {
                    writeln!(out, "{}", answers::write(&mover.answer()))?;
                }
                summary.see(mover);
            }
            Err(failure) => {
                problems.add(format!("record `{}`: {failure}", clean(&item.entry.id)));
            }
        }
        progress.reached(done, records.len() as u64);
    }
    drop(progress);
    if summary.records == 0 && problems.is_empty() {
        return Err(work.nothing(args));
    }
    let names = (work.of, card.card().name());
    out.flush()?;
    let document = document::rescored(&summary, names.0, &names.1);
    format::show(&summary.answer(names.0, &names.1), &document, chosen, (RANKS, ""), cli.color)?;
    if args.commit {
        commit(args, card.card(), cli)?;
    }
    problems.end("the other records were scored again")?;
    Ok(Exit::Done)
}

/// Writes the new records into the log of a server that is stopped.
fn commit(args: &RescoreArgs, card: &Scorecard, cli: &Cli) -> Result<(), Failure> {
    let refused = |error| store::refused(&error);
    let folder = Path::new(&args.database);
    if !folder.is_dir() {
        return Err(Failure::new("`--commit` signs the log, expected the folder of a server, with its key"));
    }
    let (sqlite, signer) = folder::open(folder, None).map_err(refused)?;
    let quiet = &mut |_, _| {};
    let opened =
        App::open(Arc::new(sqlite), signer, ServerOptions::default(), Clock::system(), Some(folder), quiet);
    let (app, _) = opened.map_err(refused)?;
    let (name, publish) = (card.name(), "publish it first: POST /v1/scorecards");
    let published = app.memory.cards().find(&name).map_err(|it| Failure::new(it.detail).help(publish))?;
    if published.card.digest != card.digest {
        return Err(Failure::new(format!(
            "the log has another scorecard `{name}`: a scorecard never changes"
        )));
    }
    let progress = Progress::of_items(args.no_progress);
    let done = rescore::commit(&app, &name, &mut |done, all| progress.reached(done, all));
    drop(progress);
    let Committed { written, present, refused } = done.map_err(|problem| Failure::new(problem.detail))?;
    let mut says =
        vec![format!("{} by `{name}` written, {present} there before", count(written as usize, "record"))];
    says.extend(refused.iter().map(|(item, why)| format!("refused: {}: {}", clean(item), clean(why))));
    let mut screen = Screen::stderr(cli.color);
    says.iter().try_for_each(|line| writeln!(screen, "{line}"))?;
    Ok(screen.show()?)
}

/// Reads through a store once and collects the inputs of the records.
fn stock(database: &str, known_at: Option<Timestamp>, progress: &Progress) -> Result<Stock, Failure> {
    let refused = |error| store::refused(&error);
    let mut reader = store::reader(database)?;
    let size = match known_at {
        None => reader.head().map_err(refused)?.size,
        Some(known_at) => reader.size_at(known_at).map_err(refused)?,
    };
    let (mut evidence, mut cards) = (BTreeMap::new(), Vec::new());
    let mut records: BTreeMap<String, u64> = BTreeMap::new();
    let withdrawn = withdrawals(&mut reader, size).map_err(refused)?;
    store::each(&mut reader, size, &mut |Item { position, entry, content }| {
        let is_withdrawn = withdrawn.iter().any(|it| it.covers(entry.sender.as_deref(), position));
        match entry.kind {
            Kind::Record if is_withdrawn => {}
            Kind::Evidence => {
                evidence.insert(entry.content, position);
            }
            Kind::Record => {
                if let Some(old) = &entry.replaces {
                    records.remove(old);
                }
                records.insert(entry.id, position);
            }
            Kind::Scorecard => {
                let text = String::from_utf8_lossy(&content).into_owned();
                cards.push(CardText { name: entry.id, text });
            }
            Kind::Match
            | Kind::Review
            | Kind::Key
            | Kind::Weights
            | Kind::Workflow
            | Kind::Recording
            | Kind::Spans => {}
        }
        progress.reached(position + 1, size);
        Ok(())
    })?;
    let mut records: Vec<u64> = records.into_values().collect();
    records.sort_unstable();
    Ok(Stock { reader, size, evidence, cards, records, withdrawn })
}

/// Returns the withdrawals of items that revoked keys sent.
fn withdrawals(reader: &mut Reader, size: u64) -> Result<Vec<Withdrawal>, karat_store::Error> {
    let states = reader.list(Term::kind(Kind::Key), 0..size, Order::Oldest, usize::MAX)?;
    Ok(states.iter().filter_map(|item| Withdrawal::parse(&item.content)).collect())
}

impl Work<'_> {
    /// Returns the record in `item` and its new score; `None` if it is not to be scored again.
    fn record(&mut self, item: &Item) -> Result<Option<(Record, Rescored)>, Failure> {
        if self.subject.is_some() && item.entry.subject.as_deref() != self.subject {
            return Ok(None);
        }
        let Some(claim) = Record::parse(&item.content)? else {
            return Err(Failure::new("its content is not a record of karat"));
        };
        let document = claim.document();
        let card = document.scorecard.id.as_str();
        if card != self.of {
            *self.others.entry(card.to_owned()).or_default() += 1;
            return Ok(None);
        }
        let kind = document.evidence.kind.as_str();
        if kind != self.rescorer.card.card().evidence {
            self.other_kind.get_or_insert_with(|| kind.to_owned());
            return Ok(None);
        }
        let digest = document.scorecard.digest;
        if !self.old.contains_key(&digest) {
            let kept = self.kept_card(digest);
            let base = recompute::base(&claim, kept.as_ref());
            self.old.insert(digest, base.ok());
        }
        let Some(Some(old)) = self.old.get(&digest) else {
            let message = "its scorecard is neither in the store nor one that comes with karat";
            return Err(
                Failure::new(message).help(format!("{}, {digest}", clean(&document.scorecard.name())))
            );
        };
        let own = self.stock.evidence.get(&document.evidence.digest).copied();
        let reader = &mut self.stock.reader;
        let refused = |error| store::refused(&error);
        let own = own.map(|position| reader.item(position)).transpose().map_err(refused)?;
        let mut corrected: Option<Item> = None;
        while let Some(last) = corrected.as_ref().or(own.as_ref()) {
            let next =
                reader.replacement(Kind::Evidence, &last.entry.id, self.stock.size).map_err(refused)?;
            // A correction that was withdrawn corrects nothing.
            let is_withdrawn = |item: &Item| {
                let sender = item.entry.sender.as_deref();
                self.stock.withdrawn.iter().any(|it| it.covers(sender, item.position))
            };
            match next.filter(|item| item.position > last.position && !is_withdrawn(item)) {
                Some(next) => corrected = Some(next),
                None => break,
            }
        }
        let kept = Kept {
            own: own.as_ref().map(|item| item.content.as_slice()),
            corrected: corrected.as_ref().map(|item| item.content.as_slice()),
        };
        let moved = self.rescorer.rescore(&claim, old, kept)?;
        Ok(Some((claim, moved)))
    }

    /// Returns the card with that digest, if it was kept and can be used.
    fn kept_card(&self, digest: Digest) -> Option<Arc<CompiledCard>> {
        // The digest of a card covers its contents, not its file.
        let sound = self.stock.cards.iter().filter_map(|card| CompiledCard::checked(card, &library).ok());
        sound.into_iter().find(|card| card.card().digest == digest).map(Arc::new)
    }

    /// Returns the reason why no record was scored again.
    fn nothing(&self, args: &RescoreArgs) -> Failure {
        if let Some(kind) = &self.other_kind {
            let card = self.rescorer.card.card();
            let (of, kind) = (clean(self.of), clean(kind));
            let reads = format!("`{}` reads evidence of kind `{}`", card.name(), card.evidence);
            return Failure::new(format!("{reads}, and the records by `{of}` are of kind `{kind}`"))
                .help("only a card for the same kind of evidence can score them again");
        }
        let when = args.known_at.map_or_else(String::new, |at| format!(" at {at}"));
        let who = self.subject.map_or_else(String::new, |name| format!(" of `{}`", clean(name)));
        let message = format!("`{}` has no record{who} by `{}`{when}", args.database, clean(self.of));
        let others: Vec<String> =
            self.others.iter().map(|(id, records)| format!("`{}` ({records})", clean(id))).collect();
        if others.is_empty() {
            return Failure::new(message);
        }
        Failure::new(message)
            .help(format!("there are records by {}", others.join(", ")))
            .help("to score those by the new card: --of ID")
    }
}
