//! A stored record with the items that belong to it: its receipt, its evidence scored again, and the files by which it is verified
//! elsewhere.

use std::io::Write as _;

use karat::answers::verification::Verification;
use karat::answers::{ChangedPart, CheckOutcome, VerificationStatus};
use karat::card::CompiledCard;
use karat::error::Error;
use karat::recompute;
use karat::record::Record;
use karat::verification::Check;
use karat_store::Receipt;

use crate::api::records::{Provenance, find, withdrawal};
use crate::keys::Withdrawal;
use crate::prelude::*;
use crate::replay::{Replay, Replayed};
use crate::stored;

/// A stored record, with the items that belong to it.
pub struct RecordData {
    /// The record.
    pub item: Item,
    pub claim: Record,
    pub evidence: Option<Item>,
    pub replaced_by: Option<Item>,
    pub replaces: Option<Item>,
    /// The withdrawal of what its key sent, with its position.
    pub withdrawn: Option<(u64, Withdrawal)>,
    pub(crate) provenance: Provenance,
    pub log_size: u64,
}

impl RecordData {
    /// Reads the record with this id or position in the log.
    pub fn read(app: &App, reader: &mut Reader, wanted: &str) -> Result<Self, Problem> {
        let item = find(reader, Kind::Record, wanted)?;
        let log_size = reader.head()?.size;
        let claim =
            Record::parse(&item.content).map_err(|error| Problem::of_error(Code::Internal, &error))?;
        let claim = claim.ok_or_else(|| Problem::internal(&"a stored record cannot be read as one"))?;
        let evidence = stored::source(reader, &item)?;
        let replaced_by = reader.replacement(Kind::Record, &item.entry.id, log_size)?;
        let replaces = match &item.entry.replaces {
            Some(old) => reader.find(Kind::Record, old, log_size)?,
            None => None,
        };
        let withdrawn = withdrawal(reader, &item, log_size)?;
        let provenance = Provenance::at(app, item.position);
        Ok(Self { item, claim, evidence, replaced_by, replaces, withdrawn, provenance, log_size })
    }

    /// Returns its receipt, by the newest head with cosignatures once one covers it.
    pub(crate) fn receipt(&self, app: &App, reader: &mut Reader) -> Result<Receipt, Problem> {
        let position = self.item.position;
        let head = app.cosigned.heads().newest(1).filter(|head| head.size > position);
        Ok(match head {
            Some(head) => reader.receipt_at(position, head)?,
            None => reader.receipt(position)?,
        })
    }

    /// Returns the scorecard that the record names, as it is known here.
    pub(crate) fn pool(&self, app: &App) -> Result<Arc<ScorerPool>, Problem> {
        app.memory.cards().find(&self.claim.document().scorecard.name())
    }

    /// Returns the card that scored it, with weights from outside if it was given any.
    pub fn card(&self, pool: &ScorerPool) -> Result<Arc<CompiledCard>, Error> {
        recompute::overridden(&self.claim, recompute::base(&self.claim, Some(&pool.card))?)
    }

    /// Scores the evidence again, a trace after those that came before it.
    pub(crate) fn again(
        &self,
        app: &App,
        reader: &mut Reader,
        pool: &ScorerPool,
    ) -> Result<Replayed, Problem> {
        let reading = self.claim.document().cache_reading();
        if reading.as_ref().is_some_and(|reading| reading.embedder.is_some()) {
            // A thousand texts may have to be embedded: too much for a page that anyone may open.
            let says = "a model embedded it and those before it; `karat log verify --replay` does so again";
            return Ok(Replayed::Unknown(says.to_owned()));
        }
        let mut replay = Replay::new(BTreeMap::from([(pool.name(), Arc::clone(&pool.card))]), None);
        if reading.is_some() {
            let before = app.memory.index().positions_of(&pool.name(), 0..self.item.position);
            replay.skip(&pool.name(), before);
        }
        replay.next(reader, &self.item)
    }

    /// Checks that the evidence, read and scored again, gives the record.
    pub(crate) fn evidence_check(&self, replayed: Replayed, is_at_hand: bool) -> Check {
        let lacking = |says: &str| Check::new("evidence", CheckOutcome::Inconclusive, says);
        let Some(evidence) = &self.evidence else { return lacking("it is not stored here") };
        if !is_at_hand {
            return lacking("without its scorecard it cannot be scored");
        }
        match replayed {
            Replayed::Same | Replayed::SameButEngine => {
                let says = format!("{} gives the same facts and score", Digest::of(&evidence.content));
                Check::new("evidence", CheckOutcome::Verified, says)
            }
            Replayed::Different(details) => {
                let check = Check::new("evidence", CheckOutcome::Failed, "it does not give this record");
                check.details(details).because(ChangedPart::Evidence)
            }
            Replayed::Unknown(says) => lacking(&says),
        }
    }
}

/// The files of a record by name, with their media types.
pub(crate) struct Files(pub Vec<(String, &'static str, Vec<u8>)>);

impl Files {
    pub(crate) fn of(app: &App, reader: &mut Reader, kept: &RecordData) -> Result<Self, Problem> {
        const JSON: &str = "application/json";
        let key = format!("{}\n", app.log_key()).into_bytes();
        let card = kept.pool(app)?.card.text().as_bytes().to_vec();
        let mut files = vec![
            (String::from("receipt.json"), JSON, kept.receipt(app, reader)?.to_json()),
            (String::from("log.pub"), "text/plain; charset=utf-8", key),
            (String::from("record.json"), JSON, kept.item.content.clone()),
            (String::from("scorecard.toml"), "application/toml; charset=utf-8", card),
        ];
        files
            .extend(kept.evidence.iter().map(|it| (String::from("evidence.json"), JSON, it.content.clone())));
        let head = reader.head()?;
        for (place, (at, _)) in reader.rotations(head.size)?.into_iter().enumerate() {
            let receipt = reader.receipt_at(at, head.clone())?.to_json();
            files.push((format!("rotation-{}.json", place + 1), JSON, receipt));
        }
        Ok(Self(files))
    }

    fn text(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|(own, ..)| own == name);
        found.map(|(.., content)| String::from_utf8_lossy(content).into_owned())
    }

    /// Checks them as `karat verify` does, with the evidence or without it.
    fn verified(&self, has_evidence: bool, has_card: bool) -> Option<Verification> {
        let rotations = self.0.iter().filter(|(name, ..)| name.starts_with("rotation-"));
        let question = json!({
            "text": self.text("receipt.json"),
            "key": self.text("log.pub"),
            "rotation": rotations.map(|(name, ..)| self.text(name)).collect::<Vec<_>>(),
            "evidence": self.text("evidence.json").filter(|_| has_evidence),
            "card_text": self.text("scorecard.toml").filter(|_| has_card),
        });
        let answer = karat::json::verify(question.to_string().as_bytes()).ok()?;
        serde_json::from_slice(&answer).ok()
    }

    /// Returns the text beside them: the command that verifies, and what it cannot check.
    pub(crate) fn readme(&self, is_released: bool) -> String {
        let has_evidence = self.text("evidence.json").is_some();
        let whole = self.verified(has_evidence, !is_released);
        let is_whole = whole.as_ref().is_some_and(|it| it.status == VerificationStatus::Verified);
        let mut command = String::from("karat verify receipt.json --key log.pub");
        for (name, ..) in self.0.iter().filter(|(name, ..)| name.starts_with("rotation-")) {
            command.push_str(&format!(" --rotation {name}"));
        }
        if has_evidence && is_whole {
            command.push_str(" --evidence evidence.json");
        }
        if !is_released {
            command.push_str(" --card scorecard.toml");
        }
        let lacking = whole.into_iter().flat_map(|it| it.checks);
        let lacking =
            lacking.filter(|it| it.outcome == CheckOutcome::Inconclusive && has_evidence && !is_whole);
        let lacking: String =
            lacking.map(|it| format!("\nThe {} is not compared: {}.\n", it.name, it.says)).collect();
        format!(
            "One score, and all that it takes to check it without the server that it is from:\n\n    {command}\n{lacking}\n\
             It checks that the log signed the receipt, that nothing was changed since, and that the score follows. The key\n\
             came with the archive: compare it with what the operator of the log publishes elsewhere.\n"
        )
    }

    pub(crate) fn zipped(&self, readme: &str) -> Result<Vec<u8>, rawzip::Error> {
        let mut archive = rawzip::ZipArchiveWriter::new(Vec::new());
        let all = self.0.iter().map(|(name, _, content)| (name.as_str(), content.as_slice()));
        for (name, content) in std::iter::once(("README.txt", readme.as_bytes())).chain(all) {
            let (mut entry, config) =
                archive.new_file(name).compression_method(rawzip::CompressionMethod::STORE).start()?;
            let mut writer = config.wrap(&mut entry);
            writer.write_all(content)?;
            let (_, descriptor) = writer.finish()?;
            entry.finish(descriptor)?;
        }
        archive.finish()
    }
}
