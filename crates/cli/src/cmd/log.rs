//! `karat log`: shows a store, checks it, writes receipts of its items, and copies it. The database is only read.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use karat::answers::CheckOutcome;
use karat::answers::verification::{CheckedSenders, LogVerification, LogVerificationSchema, ReplayedRecords};
use karat::document::{self, Cell, Column, Document, Kind, Part, Table, Verified};
use karat::text::{Tone, clean, count, short};
use karat::verification::{self, Check};
use karat_core::timestamp::Timestamp;
use karat_evidence::canonical_json;
use karat_server::audit::{Authority, audit};
use karat_server::backfill::Backfill;
use karat_server::cards::Cards;
use karat_server::cosigned::Heads;
use karat_server::folder;
use karat_server::problem::Problem;
use karat_server::replay::{Replay, Replayed};
use karat_store::log::{Checkpoint, VerifyingKey};
use karat_store::port::{Backend as _, Head};
use karat_store::sqlite::Sqlite;
use karat_store::{Audit, Entry, Error, Item, Kind as StoreKind, Reader, sqlite};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use serde_json::{Value, json};

use super::{monitor, rotate, witness};
use crate::args::{Cli, LogBackupArgs, LogReceiptArgs, LogShowArgs, LogVerb, LogVerifyArgs};
use crate::graders::embedder;
use crate::progress::Progress;
use crate::receipt::key;
use crate::store;
use karat_terminal::format::{self, Chosen};
use karat_terminal::input::read_text;
use karat_terminal::output::{lines, replace_own};

/// Most problems that are listed.
const LISTED: usize = 20;
/// The first bytes of a receipt; a file without them is not overwritten by one.
const RECEIPT_MARK: &[u8] = b"{\"checkpoint\":";

/// Runs a command of `karat log`.
pub fn run(verb: &LogVerb, cli: &Cli) -> Result<Exit, Failure> {
    match verb {
        LogVerb::Show(args) => show(args, cli),
        LogVerb::Verify(args) => verify(args, cli),
        LogVerb::Receipt(args) => receipt(args),
        LogVerb::Backup(args) => backup(args, cli),
        LogVerb::Witness(args) => witness::run(args, cli),
        LogVerb::Monitor(args) => monitor::run(args, cli),
        LogVerb::Rotate(args) => rotate::run(args, cli),
    }
}

/// Checks a whole store.
fn verify(args: &LogVerifyArgs, cli: &Cli) -> Result<Exit, Failure> {
    let key = args.key.as_deref().map(key).transpose()?;
    let read = |path: &String| read_text(path, "a checkpoint", Exit::VerificationFailed);
    let heads = args.head.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let database = store::database(&args.database)?;
    let progress = Progress::of_items(args.no_progress);
    let audited = sqlite::verify_watched(&database, key.as_ref(), &heads, &mut |done, all| {
        progress.reached(done, all);
    });
    drop(progress);
    let (audit, found) = match audited {
        Ok(audit) => {
            let found = audit.problems.clone();
            (Some(audit), found)
        }
        Err(Error::Damaged(what)) => (None, vec![what]),
        Err(error) => return Err(store::refused(&error)),
    };
    let mut checks = vec![
        signature(key.as_ref(), audit.as_ref()),
        content(audit.as_ref(), &found),
        elsewhere(heads.len()),
    ];
    let mut records = None;
    if args.replay && found.is_empty() {
        let (check, replayed) = replay(args)?;
        checks.push(check);
        records = Some(replayed);
    }
    let mut senders = None;
    if args.authority && found.is_empty() {
        let (check, counts) = authority(args)?;
        checks.push(check);
        senders = Some(counts);
    }
    // If a problem was found, only the list of problems is shown; the other checks would claim too much.
    let checks = if found.is_empty() { checks } else { checks.into_iter().skip(1).take(1).collect() };
    let checks = checks.as_slice();
    let status = verification::status(checks);
    let answer = LogVerification {
        schema: LogVerificationSchema::V1,
        database: args.database.clone(),
        status,
        entries: audit.as_ref().map(|audit| audit.totals.rows),
        tiles: audit.as_ref().map(|audit| audit.totals.tiles),
        root: audit.as_ref().map(|audit| audit.root.to_string()),
        heads: heads.len() as u64,
        key: key.map(|key| key.to_string()),
        new_key: audit.as_ref().and_then(newest_key),
        records,
        senders,
        problems: found,
    };
    let words = Verified { file: &args.database, about: None, verified: "the whole store is unchanged" };
    let document = document::verification(checks, words);
    format::show(&answer, &document, args.format.chosen()?, (usize::MAX, ""), cli.color)?;
    Ok(status.into())
}

/// Scores all evidence again and compares the records.
fn replay(args: &LogVerifyArgs) -> Result<(Check, ReplayedRecords), Failure> {
    let embedder = args.embedder.as_deref().map(embedder).transpose()?;
    let mut reader = store::reader(&args.database)?;
    let size = reader.head().map_err(|error| store::refused(&error))?.size;
    let failed = |problem: Problem| Failure::new(problem.detail);
    let cards = Cards::of_store(&mut reader).map_err(failed)?.compiled();
    let mut replay = Replay::new(cards, embedder.map(Arc::new));
    let progress = Progress::of_items(args.no_progress);
    let mut counts = ReplayedRecords::default();
    let mut details = Vec::new();
    let mut again = store::reader(&args.database)?;
    store::each(&mut reader, size, &mut |item| {
        progress.reached(item.position + 1, size);
        if item.entry.kind != StoreKind::Record {
            return Ok(());
        }
        let (count, lines) = match replay.next(&mut again, &item).map_err(failed)? {
            Replayed::Same => (&mut counts.same, Vec::new()),
            Replayed::SameButEngine => (&mut counts.same_but_engine, Vec::new()),
            Replayed::Different(lines) => (&mut counts.different, lines),
            Replayed::Unknown(why) => (&mut counts.unknown, vec![why]),
        };
        *count += 1;
        if !lines.is_empty() && details.len() < LISTED {
            let name = format!("entry {}, `{}`", item.position, short(&item.entry.id));
            details.push(format!("{name}: {}", clean(&lines.join("; "))));
        }
        Ok(())
    })?;
    drop(progress);
    let ReplayedRecords { same, same_but_engine, different, unknown } = counts;
    let sound = count((same + same_but_engine) as usize, "record");
    let check = if different > 0 {
        let wrong = count(different as usize, "record");
        Check::new("records", CheckOutcome::Failed, format!("{wrong} do not follow from their evidence"))
    } else if unknown > 0 {
        let says = format!("{sound} follow from their evidence; {unknown} could not be scored here");
        Check::new("records", CheckOutcome::Inconclusive, says)
    } else {
        let how = if same_but_engine > 0 { "but for the name of the engine" } else { "byte for byte" };
        Check::new("records", CheckOutcome::Verified, format!("{sound} follow from their evidence, {how}"))
    };
    Ok((check.details(details), counts))
}

/// Asks of every entry again whether its sender was in force and allowed.
fn authority(args: &LogVerifyArgs) -> Result<(Check, CheckedSenders), Failure> {
    let failed = |problem: Problem| Failure::new(problem.detail);
    let database = store::database(&args.database)?;
    let mut open = || -> Result<Reader, Problem> { Ok(Reader::new(Sqlite::open(&database)?.reader()?)) };
    let progress = Progress::of_items(args.no_progress);
    let watch = &mut |done, all| progress.reached(done, all);
    let found = audit(&mut store::reader(&args.database)?, &mut open, watch).map_err(failed)?;
    drop(progress);
    let Authority { counts, undecided, problems } = found;
    let shown = |lines: &[String]| -> Vec<String> {
        let more = lines.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("and {more} more"));
        lines.iter().take(LISTED).map(|line| clean(line).into_owned()).chain(more).collect()
    };
    if !problems.is_empty() {
        let says = format!("{} not to be stored", entries_of(counts.refused));
        return Ok((Check::new("senders", CheckOutcome::Failed, says).details(shown(&problems)), counts));
    }
    let says = format!("{} by senders in force and allowed", entries_of(counts.allowed));
    let mut details = Vec::new();
    for (number, what) in [
        (counts.of_server, "by the server itself, which has no key"),
        (counts.without_sender, "without a sender: this log cannot show who it was"),
        (counts.out_of_order, "less than a second out of order: this log cannot show which came first"),
    ] {
        details.extend((number > 0).then(|| format!("{} {what}", entries_of(number))));
    }
    details.extend(shown(&undecided));
    let is_whole = counts.without_sender + counts.out_of_order + counts.undecided == 0;
    let outcome = if is_whole { CheckOutcome::Verified } else { CheckOutcome::Inconclusive };
    Ok((Check::new("senders", outcome, says).details(details), counts))
}

fn entries_of(number: u64) -> String {
    if number == 1 { String::from("1 entry") } else { format!("{number} entries") }
}

/// Returns the newest key of a log that has changed its key.
fn newest_key(audit: &Audit) -> Option<String> {
    audit.rotations.last().map(|(_, change)| change.new.to_string())
}

fn signature(key: Option<&VerifyingKey>, audit: Option<&Audit>) -> Check {
    let changes = audit.map_or(0, |audit| audit.rotations.len());
    let newest = audit.and_then(newest_key);
    match (key, newest) {
        (Some(key), Some(newest)) if key.to_string() != newest => {
            let says =
                format!("the head is signed by the key that followed that key, {}", count(changes, "change"));
            Check::new("signature", CheckOutcome::Verified, says).details(vec![clean(&newest).into_owned()])
        }
        (Some(_), _) => Check::new("signature", CheckOutcome::Verified, "the head is signed by that key"),
        (None, _) => {
            let says = "not checked: without the key of the log, anyone may have signed the head";
            Check::new("signature", CheckOutcome::Inconclusive, says)
                .details(vec![String::from("give the public key of the log with --key")])
        }
    }
}

fn content(audit: Option<&Audit>, found: &[String]) -> Check {
    if let ([], Some(audit)) = (found, audit) {
        let (rows, tiles) = (audit.totals.rows, audit.totals.tiles);
        let tiles = if tiles == 1 { String::from("1 tile") } else { format!("{tiles} tiles") };
        let says = format!("{rows} entries and {tiles} of hashes are unchanged");
        let details = vec![format!("root {}", audit.root)];
        return Check::new("content", CheckOutcome::Verified, says).details(details);
    }
    let mut details: Vec<String> = found.iter().take(LISTED).map(|line| clean(line).into_owned()).collect();
    match found.len().saturating_sub(LISTED) {
        0 => {}
        more => details.push(format!("and {more} more")),
    }
    Check::new("content", CheckOutcome::Failed, "it was changed since it was written").details(details)
}

fn elsewhere(heads: usize) -> Check {
    match heads {
        0 => Check::new(
            "history",
            CheckOutcome::Skipped,
            "not compared with a head that was kept elsewhere: --head",
        ),
        1 => Check::new("history", CheckOutcome::Verified, "it extends the head that was kept elsewhere"),
        _ => Check::new("history", CheckOutcome::Verified, "it extends all heads that were kept elsewhere"),
    }
}

/// Lists the entries that one key sent, in the order of the log.
fn sent(args: &LogShowArgs, cli: &Cli, sender: &str) -> Result<Exit, Failure> {
    let mut reader = store::reader(&args.database)?;
    let size = reader.head().map_err(|error| store::refused(&error))?.size;
    let chosen = args.format.chosen()?;
    let (mut out, mut rows) = (lines(), Vec::new());
    store::each(&mut reader, size, &mut |Item { position, entry, .. }| {
        if entry.sender.as_deref() != Some(sender) {
            return Ok(());
        }
        let Entry { kind, id, subject, replaces, moment, .. } = entry;
        if chosen == Chosen::Json {
            let line = canonical_json(&json!({
                "id": id,
                "kind": kind.name(),
                "moment": moment.to_string(),
                "position": position,
                "replaces": replaces,
                "schema": "karat/log-entry/1",
                "sender": sender,
                "subject": subject,
            }));
            return Ok(writeln!(out, "{line}")?);
        }
        let kind = Cell::text(kind.name());
        let cells = vec![Cell::Count(position), Cell::text(moment.to_string()), kind, Cell::text(id)];
        rows.push(cells.into());
        Ok(())
    })?;
    out.flush()?;
    if chosen == Chosen::Json {
        return Ok(Exit::Done);
    }
    let columns = vec![
        Column::number("position"),
        Column::text("time"),
        Column::text("kind"),
        Column::new("id", Kind::Sentence),
    ];
    let document = Document {
        name: "log",
        title: format!("{}: sent by {sender}", args.database),
        lines: vec![format!("{} of {size} entries", rows.len())],
        parts: vec![Part::Table(Table::new("", columns, rows))],
        ..Document::default()
    };
    format::show(&(), &document, chosen, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}

/// Writes the head of a store, then every entry as it is hashed, with its content.
fn entries(reader: &mut Reader, head: &Head) -> Result<Exit, Failure> {
    let mut out = lines();
    writeln!(
        out,
        "{}",
        canonical_json(&json!({"checkpoint": head.checkpoint, "schema": "karat/log-entries/1"}))
    )?;
    store::each(reader, head.size, &mut |item| {
        let entry = String::from_utf8_lossy(&item.entry.to_json()).into_owned();
        let content = String::from_utf8_lossy(&item.content).into_owned();
        Ok(writeln!(out, "{}", canonical_json(&json!({"content": content, "entry": entry})))?)
    })?;
    out.flush()?;
    Ok(Exit::Done)
}

/// Shows the contents of a store.
fn show(args: &LogShowArgs, cli: &Cli) -> Result<Exit, Failure> {
    if let Some(sender) = &args.sender {
        return sent(args, cli, sender);
    }
    let mut reader = store::reader(&args.database)?;
    let head = reader.head().map_err(|error| store::refused(&error))?;
    if args.entries {
        return entries(&mut reader, &head);
    }
    let claimed = Checkpoint::claimed(&head.checkpoint);
    let (name, root) = claimed
        .map(|(name, head)| (name, head.root))
        .map_err(|error| store::refused(&Error::Damaged(format!("the head of the log: {error}"))))?;
    let mut kinds: BTreeMap<StoreKind, (u64, u64)> =
        StoreKind::ALL.into_iter().map(|kind| (kind, (0, 0))).collect();
    let mut senders: BTreeMap<Option<String>, u64> = BTreeMap::new();
    let mut moments: Option<(Timestamp, Timestamp)> = None;
    let mut backfilled: Vec<(Timestamp, Backfill)> = Vec::new();
    let progress = Progress::of_items(args.no_progress);
    store::each(&mut reader, head.size, &mut |item| {
        let counts = kinds.entry(item.entry.kind).or_default();
        counts.0 += 1;
        counts.1 += u64::from(item.entry.replaces.is_some());
        *senders.entry(item.entry.sender).or_default() += 1;
        let at = item.entry.moment;
        let mark = (item.entry.kind == StoreKind::Key).then(|| Backfill::parse(&item.content)).flatten();
        backfilled.extend(mark.map(|mark| (at, mark)));
        moments = Some(moments.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
        progress.reached(item.position + 1, head.size);
        Ok(())
    })?;
    drop(progress);
    let unnamed = senders.remove(&None).unwrap_or(0);
    let named: BTreeMap<String, u64> =
        senders.into_iter().filter_map(|(sender, all)| Some((sender?, all))).collect();
    let (first, last) = moments.map(|(first, last)| (first.to_string(), last.to_string())).unzip();
    let counts: serde_json::Map<String, Value> =
        kinds.iter().map(|(kind, (all, _))| (kind.name().to_owned(), json!(all))).collect();
    let mut answer = json!({
        "checkpoint": head.checkpoint,
        "database": args.database,
        "entries": head.size,
        "first": first,
        "kinds": counts,
        "last": last,
        "name": name,
        "root": root.to_string(),
        "schema": "karat/log/1",
        "senders": named,
        "without_sender": unnamed,
    });
    if !backfilled.is_empty() {
        let one = |(at, mark): &(Timestamp, Backfill)| json!({"key": mark.key, "moment": at.to_string(), "reason": mark.reason, "records": mark.records});
        answer["backfilled"] = backfilled.iter().map(one).collect();
    }
    let mut document = Document {
        name: "log",
        title: format!("{}: {name}", args.database),
        lines: vec![format!("{} entries, root {root}", head.size)],
        ..Document::default()
    };
    document.lines.extend(first.zip(last).map(|(first, last)| format!("{first} to {last}")));
    let kinds = kinds.into_iter().filter(|(_, (all, _))| *all > 0);
    let row = |(kind, (all, corrections)): (StoreKind, (u64, u64))| {
        vec![Cell::text(kind.name()), Cell::Count(all), Cell::Count(corrections)].into()
    };
    let columns = vec![Column::name("kind"), Column::number("entries"), Column::number("replacements")];
    document.parts.push(Part::Table(Table::new("", columns, kinds.map(row).collect())));
    if !named.is_empty() {
        let nameless = (unnamed > 0).then_some(("not recorded", unnamed));
        let senders = named.iter().map(|(sender, all)| (sender.as_str(), *all)).chain(nameless);
        let rows = senders.map(|(sender, all)| vec![Cell::text(sender), Cell::Count(all)].into());
        let columns = vec![Column::name("sender"), Column::number("entries")];
        document.parts.push(Part::Table(Table::new("", columns, rows.collect())));
    }
    document.note(
        Tone::Care,
        backfilled.iter().map(|(at, mark)| {
            let records = count(mark.records.len(), "record");
            format!("{at}: {records} backfilled by {}: {}", mark.key, mark.reason)
        }),
    );
    format::show(&answer, &document, args.format.chosen()?, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}

/// Writes the receipt of one item.
fn receipt(args: &LogReceiptArgs) -> Result<Exit, Failure> {
    let Some(kind) = StoreKind::from_name(&args.kind) else {
        let names: Vec<&str> = StoreKind::ALL.into_iter().map(StoreKind::name).collect();
        let failure = Failure::new(format!("there is no kind `{}` of items", clean(&args.kind)));
        return Err(failure.help(format!("there are: {}", names.join(", "))));
    };
    let refused = |error| store::refused(&error);
    let mut reader = store::reader(&args.database)?;
    let size = reader.head().map_err(refused)?.size;
    let mut found = reader.find(kind, &args.id, size).map_err(refused)?;
    if let (None, Some(position)) = (&found, args.id.parse().ok().filter(|position| *position < size)) {
        found = Some(reader.item(position).map_err(refused)?).filter(|item| item.entry.kind == kind);
    }
    let Some(item) = found else {
        return Err(Failure::new(format!(
            "`{}` has no {kind} with the id or at position `{}`",
            args.database,
            clean(&args.id)
        ))
        .help("the id of a record is SUBJECT/EVIDENCE/CARD@VERSION"));
    };
    let receipt = match args.witnesses {
        None => reader.receipt(item.position),
        Some(witnesses) => {
            let head = cosigned(args, &mut reader, witnesses.into())?;
            if head.size <= item.position {
                let message = format!(
                    "the newest head with that many cosignatures has {} entries, and the item is entry {}",
                    head.size, item.position
                );
                return Err(Failure::new(message).help("try again once the witnesses have seen it"));
            }
            reader.receipt_at(item.position, head)
        }
    };
    let mut bytes = receipt.map_err(refused)?.to_json();
    bytes.push(b'\n');
    match &args.out {
        Some(path) => replace_own(path, &bytes, RECEIPT_MARK, "a receipt")?,
        None => {
            let mut out = lines();
            out.write_all(&bytes)?;
            out.flush()?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the newest head that this many witnesses cosigned, from the file beside the database.
fn cosigned(args: &LogReceiptArgs, reader: &mut Reader, witnesses: usize) -> Result<Head, Failure> {
    let folder = store::database(&args.database)?;
    let own = key(&folder.with_file_name(folder::PUBLIC).display().to_string())?;
    let heads = Heads::read(&folder.with_file_name(folder::COSIGNED), None, &own, reader);
    let found = heads.map_err(|error| store::refused(&error))?.newest(witnesses);
    found.ok_or_else(|| {
        let many = count(witnesses, "witness").replace("witnesss", "witnesses");
        Failure::new(format!("no head in `{}` was cosigned by {many}", clean(&args.database)))
            .help("`karat serve --witness KEY` names a witness, `karat log witness --send` cosigns")
    })
}

/// Copies a store with the other files that a server needs.
fn backup(args: &LogBackupArgs, cli: &Cli) -> Result<Exit, Failure> {
    let database = store::database(&args.database)?;
    folder::back_up(&database, &args.folder, args.with_key).map_err(|error| match error {
        Error::Exists(path) => Failure::new(format!("`{}` is not empty", path.display()))
            .help("name a new folder, or an empty one"),
        error => store::refused(&error),
    })?;
    let copy = args.folder.display().to_string();
    let mut reader = store::reader(&copy)?;
    let head = reader.head().map_err(|error| store::refused(&error))?;
    let root = reader.root(head.size).map_err(|error| store::refused(&error))?.to_string();
    let answer = json!({
        "copy": copy,
        "database": args.database,
        "entries": head.size,
        "root": root,
        "schema": "karat/log-backup/1",
        "with_key": args.with_key,
    });
    let key =
        if args.with_key { "copied: keep the copy where no one else can read it" } else { "not copied" };
    let entry = |name: &str, text: String| document::Entry { depth: 0, name: name.to_owned(), text };
    let list = vec![
        entry("entries", head.size.to_string()),
        entry("root", root),
        entry(folder::SECRET, key.to_owned()),
    ];
    let document = Document {
        name: "log",
        title: format!("{copy}: a copy of {}", args.database),
        parts: vec![Part::List(list)],
        ..Document::default()
    };
    format::show(&answer, &document, args.format.chosen()?, (usize::MAX, ""), cli.color)?;
    Ok(Exit::Done)
}
