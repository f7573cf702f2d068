//! `karat verify`: checks that receipts are signed by a log, and that their scores follow from facts and evidence.
//! Needs no network and no database.

use std::io::Write as _;
use std::sync::Arc;

use karat::answers::verification::{Verification, VerificationSchema, VerifiedEntry, VerifiedLog};
use karat::answers::{ChangedPart, CheckOutcome, ItemKind, VerificationStatus};
use karat::ask::Fields;
use karat::card::CompiledCard;
use karat::cards::has_versions;
use karat::document::{self, Document, Verified as Words};
use karat::inputs::Inputs;
use karat::origin::{self, Comparison};
use karat::receipt::TrustedKeys;
use karat::record::Record;
use karat::text::{clean, short};
use karat::verification::{Check, causes, recomputed, status};
use karat_core::record::ENGINE_VERSION;
use karat_store::{Kind, Receipt};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;

use crate::args::{Cli, GraderArgs, VerifyArgs};
use crate::cmd::rerun;
use crate::progress::Progress;
use crate::{graders, receipt};
use karat_terminal::cards;
use karat_terminal::format::{self, Chosen};
use karat_terminal::input::read_text;
use karat_terminal::output::{Color, Screen};

/// The inputs that receipts and records are checked against.
pub struct Against<'a> {
    trust: TrustedKeys,
    card: Option<Arc<CompiledCard>>,
    evidence: Option<&'a str>,
    args: &'a VerifyArgs,
    cli: &'a Cli,
}

/// A receipt with its checks.
struct Verified {
    receipt: Option<Receipt>,
    claim: Option<Record>,
    checks: Vec<Check>,
}

/// Checks every receipt; the worst one decides the status.
pub fn run(args: &VerifyArgs, cli: &Cli) -> Result<Exit, Failure> {
    if let Some(path) = &args.rerun {
        return rerun::run(args, path, cli);
    }
    let is_stream = |path: &String| path == "-";
    let streams = args.receipts.iter().chain(&args.evidence).filter(|path| is_stream(path)).count();
    let evidence_again = args.evidence.as_ref().is_some_and(is_stream) && args.receipts.len() > 1;
    if streams > 1 || evidence_again {
        let failure = Failure::new("standard input can be read only once");
        return Err(failure.help("give receipts and evidence as files"));
    }
    let against = Against::new(args, args.evidence.as_deref(), cli)?;
    // A missing file is not a finding about a receipt.
    Inputs::new(args.evidence.as_slice())?;
    let mut report = Report::new(args.format.chosen()?, cli.color);
    for path in &args.receipts {
        let verified = against.verified(path)?;
        let (about, checks) = (about(&verified), verified.checks.as_slice());
        let words = Words { file: path, about: about.as_ref(), verified: words(checks) };
        report.add(&answer(path, verified.receipt.as_ref(), checks), checks, words)?;
    }
    report.end()
}

/// The checks of several files, one after the other.
pub struct Report {
    worst: VerificationStatus,
    chosen: Chosen,
    color: Color,
    is_first: bool,
    documents: Vec<Document>,
}

impl Report {
    /// Returns a report without files.
    pub fn new(chosen: Chosen, color: Color) -> Self {
        Self { worst: VerificationStatus::Verified, chosen, color, is_first: true, documents: Vec::new() }
    }

    /// Adds the checks of a file: JSON and a screen have them at once.
    pub fn add(&mut self, answer: &Verification, checks: &[Check], words: Words<'_>) -> Result<(), Failure> {
        self.worst = self.worst.max(answer.status);
        let document = document::verification(checks, words);
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.chosen {
            Chosen::Json => format::json(answer),
            Chosen::Form(_) => {
                self.documents.push(document);
                Ok(())
            }
            Chosen::Screen => {
                let mut screen = Screen::stdout(self.color);
                write!(screen, "{}", if is_first { "" } else { "\n" })?;
                format::screen(&document, (usize::MAX, ""), &mut screen)
            }
        }
    }

    /// Writes what waits, and returns the status of the worst file.
    pub fn end(self) -> Result<Exit, Failure> {
        if let Chosen::Form(form) = self.chosen {
            format::emit(&Document::joined(self.documents), form)?;
        }
        Ok(self.worst.into())
    }
}

impl<'a> Against<'a> {
    /// Reads keys and scorecard; the evidence of records is in the file `evidence`.
    pub fn new(args: &'a VerifyArgs, evidence: Option<&'a str>, cli: &'a Cli) -> Result<Self, Failure> {
        Ok(Self {
            trust: receipt::trust(args.key.as_deref(), &args.rotation, &args.witness)?,
            card: match args.card.as_deref() {
                Some(card) if !has_versions(card) => Some(cards::compiled(card, cli.color)?),
                _ => None,
            },
            evidence,
            args,
            cli,
        })
    }

    /// Runs all checks on the receipt at `path`.
    fn verified(&self, path: &str) -> Result<Verified, Failure> {
        let unread = |check: Check| Verified { receipt: None, claim: None, checks: vec![check] };
        let text = match read_text(path, "a receipt", Exit::VerificationFailed) {
            Ok(text) => text,
            Err(failure) if failure.exit() == Exit::VerificationFailed => {
                return Ok(unread(Check::new("receipt", CheckOutcome::Failed, failure.to_string())));
            }
            Err(failure) => return Err(failure),
        };
        let receipt = match Receipt::parse(text.as_bytes()) {
            Ok(receipt) => receipt,
            Err(problem) => {
                let check = Check::new("receipt", CheckOutcome::Failed, clean(&problem).into_owned());
                let help = format!("expected `karat/receipt/1`; karat {ENGINE_VERSION} reads no other");
                return Ok(unread(check.details(vec![help])));
            }
        };
        let mut checks = karat::receipt::checks(&receipt, &self.trust);
        let mut claim = None;
        if receipt.entry.kind == Kind::Record {
            match Record::parse(receipt.content.as_bytes()) {
                Ok(Some(found)) => {
                    checks.extend(self.record(&found));
                    claim = Some(found);
                }
                Ok(None) => {
                    checks.push(Check::new(
                        "score",
                        CheckOutcome::Failed,
                        "its content is not a record of karat",
                    ));
                }
                Err(failure) => checks.push(Check::failed("score", CheckOutcome::Failed, &failure)),
            }
        } else if self.args.evidence.is_some() || self.args.card.is_some() {
            let kind = receipt.entry.kind.name();
            return Err(Failure::new(format!("`{path}` is the receipt of an item of kind `{kind}`"))
                .help("--evidence and --card go with the receipt of a record: leave them out"));
        }
        Ok(Verified { receipt: Some(receipt), claim, checks })
    }

    /// Returns the checks of a record: its card, its score, its evidence.
    pub fn record(&self, claim: &Record) -> Vec<Check> {
        // An id with several versions means the one that the record names.
        let version = self.args.card.as_deref().filter(|_| self.card.is_none()).and_then(|card| {
            let named = &claim.document().scorecard;
            CompiledCard::released(&if named.id == card { named.name() } else { card.to_owned() }).ok()
        });
        let found = recomputed(claim, self.card.as_ref().or(version.as_ref()));
        let mut checks = found.checks;
        checks.push(match (self.evidence, &found.card) {
            (None, _) => {
                let says = "not compared: whose facts they are, only the evidence shows";
                Check::new("evidence", CheckOutcome::Skipped, says)
            }
            (Some(_), None) => {
                let says = "without its scorecard it cannot be scored";
                Check::new("evidence", CheckOutcome::Inconclusive, says)
            }
            (Some(path), Some(card)) => {
                let given = (&self.args.fields, &self.args.graders);
                match compared(claim, card, path, given, self.cli) {
                    Ok(comparison) => evidence(claim, comparison),
                    Err(failure) => Check::of_lines("evidence", CheckOutcome::Failed, &failure.to_string()),
                }
            }
        });
        checks
    }
}

/// Compares a record with its evidence at `path`, with the fields that name something and the inputs of graders.
pub fn compared(
    claim: &Record,
    card: &Arc<CompiledCard>,
    path: &str,
    (fields, args): (&Fields, &GraderArgs),
    cli: &Cli,
) -> Result<Comparison, Failure> {
    if let Some(lacking) = origin::lacking(claim, args.cache.is_some(), args.embedder.is_some()) {
        return Ok(lacking);
    }
    let options = graders::options(card.card(), args, fields, cli.portable)?;
    let inputs = Inputs::new(&[path.to_owned()])?;
    Ok(origin::compare(claim, card, &inputs, options, &Progress::new(true, cli))?)
}

/// Returns the check for the comparison of a record with its evidence.
fn evidence(claim: &Record, comparison: Comparison) -> Check {
    match comparison {
        Comparison::Same(place) => {
            let says = format!("{} gives the same digest, facts and score", clean(&place));
            Check::new("evidence", CheckOutcome::Verified, says)
        }
        Comparison::Different { place, is_other, lines } => {
            // The same item by another engine: its graders may find other facts.
            let is_engine = !is_other && claim.document().engine != ENGINE_VERSION;
            let changed = if is_engine { ChangedPart::Engine } else { ChangedPart::Evidence };
            let says = format!("{} does not give this record", clean(&place));
            Check::new("evidence", CheckOutcome::Failed, says).details(lines).because(changed)
        }
        Comparison::Absent(lines) => {
            let check =
                Check::new("evidence", CheckOutcome::Failed, "the evidence of this record is missing");
            check.details(lines).because(ChangedPart::Evidence)
        }
        Comparison::Lacking { what, help } => {
            Check::new("evidence", CheckOutcome::Inconclusive, what).details(help)
        }
    }
}

/// Returns the words for a receipt whose checks all pass.
fn words(checks: &[Check]) -> &'static str {
    let has = |name| {
        checks.iter().any(|check| check.shown.name == name && check.shown.outcome == CheckOutcome::Verified)
    };
    match (has("score"), has("evidence")) {
        (false, _) => "it was kept as given here",
        (true, false) => "it was kept as given here, and the score follows from the facts in the record",
        (true, true) => "it was kept as given here, and the score follows from the evidence",
    }
}

/// Returns the item of the receipt and its log, for people: two lines.
fn about(verified: &Verified) -> Option<(String, String)> {
    let receipt = verified.receipt.as_ref()?;
    let entry = &receipt.entry;
    let mut what = format!("{} `{}`", entry.kind.name(), short(&entry.id));
    let card = verified.claim.as_ref().map(|claim| claim.document().scorecard.name());
    if let (Some(subject), Some(card)) = (&entry.subject, card) {
        what = format!("record of {} by {}", short(subject), short(&card));
    }
    let moment = entry.moment;
    let log = match karat::receipt::claimed(receipt) {
        Some((name, head)) => {
            format!("entry {} of {} in the log {}", receipt.index, head.size, short(name))
        }
        None => format!("entry {} of a log", receipt.index),
    };
    let sender = match &entry.sender {
        Some(sender) => format!(" by {}", short(sender)),
        None => String::from(", sender not recorded"),
    };
    Some((what, format!("{log}, handed in {moment}{sender}")))
}

/// Returns the answer of `karat verify` about one file.
pub fn answer(path: &str, receipt: Option<&Receipt>, checks: &[Check]) -> Verification {
    let log = receipt.and_then(karat::receipt::claimed);
    Verification {
        schema: VerificationSchema::V1,
        file: path.to_owned(),
        status: status(checks),
        checks: checks.iter().map(|check| check.shown.clone()).collect(),
        changed: causes(checks),
        entry: receipt.map(|receipt| VerifiedEntry {
            id: receipt.entry.id.clone(),
            index: receipt.index,
            kind: kind(receipt.entry.kind),
            moment: receipt.entry.moment.to_string(),
            sender: receipt.entry.sender.clone(),
            subject: receipt.entry.subject.clone(),
        }),
        log: log.map(|(name, head)| VerifiedLog {
            name: name.to_owned(),
            root: head.root.to_string(),
            size: head.size,
        }),
    }
}

const fn kind(kind: Kind) -> ItemKind {
    match kind {
        Kind::Evidence => ItemKind::Evidence,
        Kind::Record => ItemKind::Record,
        Kind::Scorecard => ItemKind::Scorecard,
        Kind::Match => ItemKind::Match,
        Kind::Review => ItemKind::Review,
        Kind::Key => ItemKind::Key,
        Kind::Weights => ItemKind::Weights,
        Kind::Workflow => ItemKind::Workflow,
        Kind::Recording => ItemKind::Recording,
        Kind::Spans => ItemKind::Spans,
    }
}
