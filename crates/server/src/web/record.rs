//! One record: how its score adds up, the facts behind each part, missing facts, and the proof that it is in the log.

use axum::http::header::CONTENT_DISPOSITION;
use karat::card::CompiledCard;
use karat::error::Error;
use karat::recompute;
use karat::record::Record;
use karat::text::{count, own_name};
use karat_core::explain::nearest_change;
use karat_store::Entry;
use karat_store::Kind;

use super::layout::*;
use super::{breakdown, game};
use crate::api::bytes;
use crate::api::records::{Provenance, find, withdrawal};
use crate::keys::{SERVER, Withdrawal};
use crate::prelude::*;

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
        let document = claim.document();
        let id = ids::evidence(&document.subject, &document.evidence.id);
        let evidence = reader.find(Kind::Evidence, &id, log_size)?;
        let evidence = evidence.filter(|evidence| item.entry.sources.contains(&evidence.entry.content));
        let replaced_by = reader.replacement(Kind::Record, &item.entry.id, log_size)?;
        let replaces = match &item.entry.replaces {
            Some(old) => reader.find(Kind::Record, old, log_size)?,
            None => None,
        };
        let withdrawn = withdrawal(reader, &item, log_size)?;
        let provenance = Provenance::at(app, item.position);
        Ok(Self { item, claim, evidence, replaced_by, replaces, withdrawn, provenance, log_size })
    }

    /// Returns the scorecard that the record names, as it is known here.
    pub(crate) fn pool(&self, app: &App) -> Result<Arc<ScorerPool>, Problem> {
        app.memory.cards().find(&self.claim.document().scorecard.name())
    }

    /// Returns the card that scored it, with weights from outside if it was given any.
    pub fn card(&self, pool: &ScorerPool) -> Result<Arc<CompiledCard>, Error> {
        recompute::overridden(&self.claim, recompute::base(&self.claim, Some(&pool.card))?)
    }
}

pub async fn show(Get(app, caller): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let kept = app.read(move |reader| RecordData::read(&shared, reader, &wanted)).await?;
    let pool = kept.pool(&app)?;
    let (title, content) = app.checked(move || page(&kept, &pool)).await?;
    Ok(Sheet { title: &title, part: "/", caller: Some(&caller) }.answer(content))
}

fn page(kept: &RecordData, pool: &ScorerPool) -> Result<(String, Markup), Problem> {
    let document = kept.claim.document();
    let (subject, id) = (document.subject.as_str(), document.evidence.id.as_str());
    let card = pool.name();
    let title = match own_name(subject, id) {
        Some(id) => format!("{subject}, {id}"),
        None => subject.to_owned(),
    };
    let explained = kept.card(pool).and_then(|card| {
        let scorer = card.scorer()?;
        recompute::recompute(&kept.claim, &card, |record| {
            breakdown::record(record, nearest_change(scorer, record).as_ref())
        })
    });
    let content = html! {
        (heading(
            &[("/", "Leaderboard"), (&address::subject(subject, Some(&card)), subject)],
            &title,
            &pool.card.title,
        ))
        (corrections(kept))
        @match explained {
            Ok(explained) => (explained),
            Err(error) => {
                div.notes role="note" {
                    p { "This record cannot be computed again here, so it is not explained: " (in_words(&error)) }
                }
            }
        }
        @if let Some(found) = &document.r#match { (game::graded(found)) }
        (receipt(kept, &card))
    };
    Ok((title, content))
}

fn in_words(error: &Error) -> String {
    Problem::of_error(Code::Internal, error).detail
}

fn corrections(kept: &RecordData) -> Markup {
    html! {
        @if let Some(new) = &kept.replaced_by {
            div.notes role="note" {
                p { "This record was corrected: " a href=(address::record(new.position)) { "the correction" } " counts in its place." }
            }
        }
        @if let Some((position, it)) = &kept.withdrawn {
            div.notes role="note" {
                p { "This record does not count: what the key " (it.key) " sent since " time { (it.since) } " was withdrawn by entry " (position) " of the log. Reason: " (it.reason) }
            }
        }
        @if let Some(old) = &kept.replaces {
            p { "It corrects " a href=(address::record(old.position)) { "an earlier record" } "." }
        }
    }
}

const fn meaning(trust: Trust) -> &'static str {
    match trust {
        Trust::Claimed => {
            "it rests on the word of a key that does not say for whom it speaks, or of the subject"
        }
        Trust::Judged => "it rests on the word of a judge or a third party",
        Trust::Measured => "the key of a harness or a task reported all of it",
        Trust::Graded => "this server graded it",
    }
}

fn days(seconds: u64) -> usize {
    usize::try_from(seconds / 86_400).unwrap_or(usize::MAX)
}

/// Shows the proof that the record is in the log, with everything to check it elsewhere.
fn receipt(kept: &RecordData, card: &str) -> Markup {
    let Item { position, entry, .. } = &kept.item;
    let Entry { moment, content, sources, sender, .. } = entry;
    let file = |name: &str| format!("{}/files/{name}", address::record(*position));
    section(
        "receipt",
        "Receipt",
        html! {
            p { "The record is entry " b { (position) } " of a log of " (kept.log_size) " entries that only grows. The receipt proves it." }
            form action=(format!("{}/verify", address::record(*position))) method="get" {
                button.go type="submit" { "Verify this record" }
            }
            dl.about {
                div { dt { "stored" } dd { time { (moment.to_string()) } } }
                div {
                    dt { "sent by" }
                    dd {
                        @match sender.as_deref() {
                            Some(SERVER) => "the server itself",
                            Some(key) => { "the key " (key) },
                            None => "not recorded: the entry is of an older log",
                        }
                    }
                }
                div { dt { "trust class" } dd { b { (kept.provenance.trust.name()) } ": " (meaning(kept.provenance.trust)) } }
                @if let Some(late) = kept.provenance.late_seconds(*moment) {
                    div { dt { "late" } dd { "arrived " (count(days(late), "day")) " after it took place" } }
                }
                @if kept.provenance.is_backfilled {
                    div { dt { "backfilled" } dd { "handed in as history by this key; it counts from the time that it states" } }
                }
                div { dt { "scorecard" } dd { a href=(address::scorecard(card)) { (card) } } }
                div { dt { "digest of the record" } dd { (content) } }
                @for source in sources { div { dt { "digest of the evidence" } dd { (source) } } }
            }
            p {
                "Download: " a href=(file("receipt.json")) download { "receipt" } ", "
                a href=(file("record.json")) download { "record" }
                @if kept.evidence.is_some() { ", " a href=(file("evidence.json")) download { "evidence" } }
                ", " a href=(file("log.pub")) download { "key of the log" }
                ". With them " code { "karat verify" } " checks the same on another machine, without this server."
            }
        },
    )
}

/// Returns a file of the record: receipt, record, evidence, scorecard, or the key that verifies the log.
pub async fn file(Get(app, _): Get, Named((wanted, name)): Named<(String, String)>) -> Answer {
    let key = format!("{}\n", app.log_key());
    let (shared, asked) = (Arc::clone(&app), name.clone());
    let (media_type, content) = app
        .read(move |reader| {
            let kept = RecordData::read(&shared, reader, &wanted)?;
            let missing = || Problem::not_found("there is no such file of this record");
            Ok(match asked.as_str() {
                "receipt.json" => ("application/json", reader.receipt(kept.item.position)?.to_json()),
                "record.json" => ("application/json", kept.item.content),
                "evidence.json" => ("application/json", kept.evidence.ok_or_else(missing)?.content),
                "scorecard.toml" => {
                    let text = kept.pool(&shared)?.card.text().to_owned();
                    ("application/toml; charset=utf-8", text.into_bytes())
                }
                "log.pub" => ("text/plain; charset=utf-8", key.into_bytes()),
                _ => return Err(missing()),
            })
        })
        .await?;
    let mut response = bytes(StatusCode::OK, media_type, content);
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let disposition = disposition.map_err(|error| Problem::internal(&error))?;
    response.headers_mut().insert(CONTENT_DISPOSITION, disposition);
    Ok(response)
}
