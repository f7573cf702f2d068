//! `karat verify`: checks that receipts are signed by a log, and that their scores follow from facts and evidence.
//! Needs no network and no database.

use std::io::Write as _;
use std::sync::Arc;

use karat::answers::verification::Verification;
use karat::answers::{CheckOutcome, VerificationStatus};
use karat::ask::Fields;
use karat::card::CompiledCard;
use karat::cards::has_versions;
use karat::document::{self, Document, Verified as Words};
use karat::inputs::Inputs;
use karat::origin::{self, Comparison};
use karat::receipt::{TrustedKeys, Verified, record_checks};
use karat::record::Record;
use karat::verification::Check;
use karat::write::html::checker::{Given, checker};
use karat_store::Kind;
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;

use crate::args::{Cli, GraderArgs, VerifyArgs};
use crate::cmd::rerun;
use crate::progress::Progress;
use crate::{graders, receipt};
use karat_terminal::cards;
use karat_terminal::format::{self, Chosen};
use karat_terminal::input::read_text;
use karat_terminal::output::{Color, Screen, save_page};

/// The inputs that receipts and records are checked against.
pub struct Against<'a> {
    trust: TrustedKeys,
    card: Option<Arc<CompiledCard>>,
    evidence: Option<&'a str>,
    args: &'a VerifyArgs,
    cli: &'a Cli,
}

/// Checks every receipt; the worst one decides the status.
pub fn run(args: &VerifyArgs, cli: &Cli) -> Result<Exit, Failure> {
    if let Some(path) = &args.rerun {
        return rerun::run(args, path, cli);
    }
    let is_stream = |path: &String| path == "-";
    let streams = args.receipts.iter().chain(&args.evidence).filter(|path| is_stream(path)).count();
    let is_read_again = args.receipts.len() > 1 || args.html.is_some();
    let evidence_again = args.evidence.as_ref().is_some_and(is_stream) && is_read_again;
    if streams > 1 || evidence_again {
        let failure = Failure::new("standard input can be read only once");
        return Err(failure.help("give receipts and evidence as files"));
    }
    let against = Against::new(args, args.evidence.as_deref(), cli)?;
    // A missing file is not a finding about a receipt.
    Inputs::new(args.evidence.as_slice())?;
    let mut report = Report::new(args.format.chosen()?, cli.color);
    let mut texts = Vec::new();
    for path in &args.receipts {
        let (text, verified) = against.verified(path)?;
        let about = verified.about();
        let words = Words { file: path, about: about.as_ref(), verified: verified.words() };
        report.add(&verified.answer(path), &verified.checks, words)?;
        texts.push((path.as_str(), text));
    }
    if let Some(path) = &args.html {
        save_page(path, &against.page(&report, &texts)?)?;
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
            Chosen::Json => format::json(answer)?,
            Chosen::Form(_) => {}
            Chosen::Screen => {
                let mut screen = Screen::stdout(self.color);
                write!(screen, "{}", if is_first { "" } else { "\n" })?;
                format::screen(&document, (usize::MAX, ""), &mut screen)?;
            }
        }
        self.documents.push(document);
        Ok(())
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

    /// Returns the page that checks the receipts again in a browser.
    fn page(&self, report: &Report, texts: &[(&str, String)]) -> Result<String, Failure> {
        let args = self.args;
        let read = |path: &String, what| read_text(path, what, Exit::CouldNotRun);
        let key = args.key.as_deref().map(receipt::key).transpose()?.map(|key| key.to_string());
        let rotation =
            args.rotation.iter().map(|path| read(path, "a receipt")).collect::<Result<Vec<_>, _>>()?;
        let witness = args.witness.iter().map(|key| Ok(receipt::witness(key)?.to_string()));
        let witness = witness.collect::<Result<Vec<_>, Failure>>()?;
        let evidence = args.evidence.as_ref().map(|path| read(path, "the evidence")).transpose()?;
        let given = texts.iter().map(|(name, text)| Given {
            name,
            text,
            key: key.as_deref(),
            rotation: &rotation,
            witness: &witness,
            evidence: evidence.as_deref(),
            card_text: self.card.as_ref().map(|card| card.text()),
        });
        let given: Vec<Given<'_>> = given.collect();
        let document = Document::joined(report.documents.clone());
        Ok(checker(&document, &given, karat_browser::PAGE, karat_browser::ENGINE))
    }

    /// Runs all checks on the receipt at `path`, and returns its text, too.
    fn verified(&self, path: &str) -> Result<(String, Verified), Failure> {
        let text = match read_text(path, "a receipt", Exit::VerificationFailed) {
            Ok(text) => text,
            Err(failure) if failure.exit() == Exit::VerificationFailed => {
                let check = Check::new("receipt", CheckOutcome::Failed, failure.to_string());
                return Ok((String::new(), Verified::unread(check)));
            }
            Err(failure) => return Err(failure),
        };
        let verified = Verified::of_receipt(text.as_bytes(), &self.trust, |claim| self.record(claim));
        let kind = verified.receipt.as_ref().map(|receipt| receipt.entry.kind);
        match kind.filter(|kind| *kind != Kind::Record) {
            Some(kind) if self.args.evidence.is_some() || self.args.card.is_some() => {
                let kind = kind.name();
                Err(Failure::new(format!("`{path}` is the receipt of an item of kind `{kind}`"))
                    .help("--evidence and --card go with the receipt of a record: leave them out"))
            }
            _ => Ok((text, verified)),
        }
    }

    /// Returns the checks of a record: its card, its score, its evidence.
    pub fn record(&self, claim: &Record) -> Vec<Check> {
        // An id with several versions means the one that the record names.
        let version = self.args.card.as_deref().filter(|_| self.card.is_none()).and_then(|card| {
            let named = &claim.document().scorecard;
            CompiledCard::released(&if named.id == card { named.name() } else { card.to_owned() }).ok()
        });
        let compared = self.evidence.map(|path| {
            move |card: &Arc<CompiledCard>| {
                let given = (&self.args.fields, &self.args.graders);
                compared(claim, card, path, given, self.cli).map_err(|failure| failure.to_string())
            }
        });
        record_checks(claim, self.card.as_ref().or(version.as_ref()), compared)
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
    let options = graders::options(card.card(), args, fields)?;
    let inputs = Inputs::new(&[path.to_owned()])?;
    Ok(origin::compare(claim, card, &inputs, options, &Progress::new(true, cli))?)
}
