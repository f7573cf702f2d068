//! All that verification of one record takes, in one file: unpacked, one command checks it without this server.

use std::io::Write as _;

use axum::http::header::CONTENT_DISPOSITION;
use karat::answers::verification::Verification;
use karat::answers::{CheckOutcome, VerificationStatus};

use super::record::RecordData;
use crate::api::bytes;
use crate::prelude::*;

/// The files of a record by name, with their media types.
pub(crate) struct Files(pub Vec<(String, &'static str, Vec<u8>)>);

impl Files {
    pub(crate) fn of(app: &App, reader: &mut Reader, kept: &RecordData) -> Result<Self, Problem> {
        const JSON: &str = "application/json";
        let mut files = vec![
            (String::from("receipt.json"), JSON, kept.receipt(app, reader)?.to_json()),
            (
                String::from("log.pub"),
                "text/plain; charset=utf-8",
                format!("{}\n", app.log_key()).into_bytes(),
            ),
            (String::from("record.json"), JSON, kept.item.content.clone()),
            (
                String::from("scorecard.toml"),
                "application/toml; charset=utf-8",
                kept.pool(app)?.card.text().as_bytes().to_vec(),
            ),
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
    fn readme(&self, is_released: bool) -> String {
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

    fn zipped(&self, readme: &str) -> Result<Vec<u8>, rawzip::Error> {
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

/// Returns the archive of a record.
pub async fn show(Get(app, _): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let read = move |reader: &mut Reader| {
        let kept = RecordData::read(&shared, reader, &wanted)?;
        let is_released = kept.pool(&shared)?.card.is_released();
        Ok((kept.item.position, is_released, Files::of(&shared, reader, &kept)?))
    };
    let (position, is_released, files) = app.read(read).await?;
    let packed = move || {
        let packed = files.zipped(&files.readme(is_released));
        packed.map_err(|error| Problem::internal(&error))
    };
    let packed = app.checked(packed).await?;
    Ok(attached("application/zip", &format!("karat-record-{position}.zip"), packed))
}

/// Answers with a file that a browser saves.
pub(crate) fn attached(media_type: &'static str, name: &str, content: Vec<u8>) -> Response<Body> {
    let mut response = bytes(StatusCode::OK, media_type, content);
    if let Ok(disposition) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    }
    response
}
