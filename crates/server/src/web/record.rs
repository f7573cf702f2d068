//! One record: how its score adds up, the facts behind each part, missing facts, and the proof that it is in the log.

use karat::card::CompiledCard;
use karat::error::Error;
use karat::headline::{self, Headline, capital};
use karat::recompute;
use karat::record::{Record, RecordDocument};
use karat::text::{count, own_name};
use karat_core::explain::nearest_change;
use karat_store::{Entry, Kind, Receipt};

use super::archive::{Files, attached};
use super::keys::meaning;
use super::layout::*;
use super::{breakdown, game};
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
}

pub async fn show(Get(app, caller): Get, Named(wanted): Named<String>) -> Answer {
    let shared = Arc::clone(&app);
    let kept = app.read(move |reader| RecordData::read(&shared, reader, &wanted)).await?;
    let pool = kept.pool(&app)?;
    let heads = app.cosigned.heads().of_witnesses();
    let cosigned = heads.iter().filter(|it| it.size > kept.item.position).count();
    let (title, content) = app.checked(move || page(&kept, &pool, cosigned)).await?;
    Ok(Sheet { title: &title, part: "/leaderboards", caller: Some(&caller) }.answer(content))
}

fn page(kept: &RecordData, pool: &ScorerPool, cosigned: usize) -> Result<(String, Markup), Problem> {
    let document = kept.claim.document();
    let (subject, id) = (document.subject.as_str(), document.evidence.id.as_str());
    let (card, own) = (pool.name(), own_name(subject, id));
    let explained = kept.card(pool).and_then(|card| {
        let scorer = card.scorer()?;
        recompute::recompute(&kept.claim, &card, |record| {
            (headline::record(record), breakdown::record(record, nearest_change(scorer, record).as_ref()))
        })
    });
    let ((told, explained), problem) = match explained {
        Ok(explained) => (explained, None),
        Err(error) => {
            let why = format!(
                "This record cannot be computed again here, so it is not explained: {}",
                in_words(&error)
            );
            let told = Headline { text: format!("A record of {subject} by {card}"), ..Headline::default() };
            ((told, html! {}), Some(why))
        }
    };
    let position = kept.item.position;
    let trail = [("/leaderboards", "Leaderboards"), (&address::subject(subject, Some(&card)), subject)];
    let verify = format!("{}/verify", address::record(position));
    let trust = kept.provenance.trust;
    let marks = [
        (trust >= Trust::Measured, format!("{}: {}", capital(trust.name()), meaning(trust))),
        (true, format!("entry {position} of {} in a signed log", kept.log_size)),
        match cosigned {
            0 => (false, String::from("no witness has cosigned it yet")),
            all => (true, format!("cosigned by {all}, who would notice a change")),
        },
    ];
    let content = html! {
        (above(&trail, html! { span { (own.unwrap_or("record")) } span { (pool.card.title) } }))
        (heading(&[], &told.text, &told.lead.join(" ")))
        (trust_strip(&marks, &verify))
        div.buttons {
            form action=(verify) method="get" { button.go type="submit" { "Verify this record" } }
            a href=(format!("{}/archive", address::record(position))) download { "All that it takes, to check it elsewhere" }
        }
        (notes(problem.as_slice()))
        (corrections(kept))
        div data-answer=(format!("/v1/records/{position}")) { (figures(document)) }
        (explained)
        @if let Some(found) = &document.r#match { (game::graded(found)) }
        (receipt(kept, &card))
        (acts(&[
            (format!("/v1/records/{position}/explanation"), "JSON of the explanation"),
            (format!("/v1/records/{position}"), "JSON of the record"),
        ]))
    };
    Ok((told.text, content))
}

/// Shows the numbers of the record as the API has them.
fn figures(document: &RecordDocument) -> Markup {
    let level = document.tier.as_ref().and_then(|tier| tier.name.as_deref()).or(document.band.as_deref());
    html! {
        dl.figures {
            @if let Some(score) = &document.score {
                div { dt { "score" } dd data-from="/record/score/published" { (score.published) } }
            }
            div { dt { "of the weights measured" } dd { (karat::text::whole_percent(document.coverage)) } }
            @if let Some(level) = level { div { dt { "reaches" } dd { span.stamp { (level) } } } }
        }
    }
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
                p { "This record does not count: what the key " (it.key) " sent since " (words(&it.since)) " was withdrawn by entry " (position) " of the log. Reason: " (it.reason) }
            }
        }
        @if let Some(old) = &kept.replaces {
            p { "It corrects " a href=(address::record(old.position)) { "an earlier record" } "." }
        }
    }
}

fn days(seconds: u64) -> usize {
    usize::try_from(seconds / 86_400).unwrap_or(usize::MAX)
}

/// Shows who sent the record, and the proof that it is in the log.
fn receipt(kept: &RecordData, card: &str) -> Markup {
    let Item { position, entry, .. } = &kept.item;
    let Entry { moment, content, sources, sender, .. } = entry;
    let file = |name: &str| format!("{}/files/{name}", address::record(*position));
    let trust = kept.provenance.trust;
    section(
        "receipt",
        "Who says so, and the proof",
        html! {
            dl.about {
                div { dt { "sent by" } dd {
                    @match sender.as_deref() {
                        Some(SERVER) => "the server itself",
                        Some(key) => { "the key " (key) },
                        None => "not recorded: the entry is of an older log",
                    }
                } }
                div { dt { "trust class" } dd { b { (trust.name()) } ": " (meaning(trust)) } }
                div { dt { "stored" } dd { (words(&moment.to_string())) } }
                @if let Some(late) = kept.provenance.late_seconds(*moment) {
                    div { dt { "late" } dd { "arrived " (count(days(late), "day")) " after it took place" } }
                }
                @if kept.provenance.is_backfilled {
                    div { dt { "backfilled" } dd { "handed in as history by this key; it counts from the time that it states" } }
                }
                div { dt { "scorecard" } dd { a href=(address::scorecard(card)) { (card) } } }
            }
            p {
                "The record is an entry of a log that only grows, and its receipt proves it. "
                a href=(format!("{}/archive", address::record(*position))) download { "One archive" }
                " has all that verification takes, and the command: " code { "karat verify" }
                " checks the same on another machine, without this server."
            }
            details {
                summary { "Its files and digests" }
                p {
                    a href=(file("receipt.json")) download { "Receipt" } ", " a href=(file("record.json")) download { "record" }
                    @if kept.evidence.is_some() { ", " a href=(file("evidence.json")) download { "evidence" } }
                    ", " a href=(file("scorecard.toml")) download { "scorecard" } ", " a href=(file("log.pub")) download { "key of the log" } "."
                }
                p { "Record: " code { (content) } }
                @for source in sources { p { "Evidence: " code { (source) } } }
            }
        },
    )
}

/// Returns a file of the record: receipt, record, evidence, scorecard, or the key that verifies the log.
pub async fn file(Get(app, _): Get, Named((wanted, name)): Named<(String, String)>) -> Answer {
    let (shared, asked) = (Arc::clone(&app), name.clone());
    let read = move |reader: &mut Reader| {
        let kept = RecordData::read(&shared, reader, &wanted)?;
        let files = Files::of(&shared, reader, &kept)?.0.into_iter();
        let found = files.into_iter().find(|(own, ..)| *own == asked);
        found.ok_or_else(|| Problem::not_found("there is no such file of this record"))
    };
    let (_, media_type, content) = app.read(read).await?;
    Ok(attached(media_type, &name, content))
}
