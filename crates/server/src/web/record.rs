//! One record: how its score adds up, the facts behind each part, missing facts, and the proof that it is in the log.

use karat::headline::{self, Headline};
use karat::recompute;
use karat::record::RecordDocument;
use karat::text::{count, own_name};
use karat_core::explain::nearest_change;
use karat_store::Entry;

use super::archive::attached;
use super::keys::{meaning, vouched};
use super::layout::*;
use super::{breakdown, game};
use crate::keys::SERVER;
use crate::prelude::*;
use crate::record::{Files, RecordData};

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
            let why = Problem::of_error(Code::Internal, &error).detail;
            let why = format!("This record cannot be computed again here, so it is not explained: {why}");
            let told = Headline { text: format!("A record of {subject} by {card}"), ..Headline::default() };
            ((told, html! {}), Some(why))
        }
    };
    let position = kept.item.position;
    let page = address::record(position);
    let trail = [("/leaderboards", "Leaderboards"), (&address::subject(subject, Some(&card)), subject)];
    let verify = format!("{page}/verify");
    let place = (true, format!("entry {position} of {} in a signed log", kept.log_size));
    let marks = [vouched(kept.provenance.trust), place, witnessed(cosigned, "it")];
    let content = html! {
        (above(&trail, html! { span { (own.unwrap_or("record")) } span { (pool.card.title) } }))
        (heading(&[], &told.text, &told.lead.join(" ")))
        (trust_strip(&marks, &verify))
        div.buttons { form action=(verify) method="get" { button.go type="submit" { "Verify this record" } } }
        (notes(problem.as_slice()))
        (corrections(kept))
        div data-answer=(format!("/v1{page}")) { (figures(document)) }
        (explained)
        @if let Some(found) = &document.r#match { (game::graded(found)) }
        (receipt(kept, &card))
        (acts(&[(format!("/v1{page}/explanation"), "JSON of the explanation"), (format!("/v1{page}"), "JSON of the record")]))
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
            @if let Some(level) = level { div { dt { "alone in the range of" } dd { span.stamp { (level) } } } }
        }
    }
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

/// Shows who sent the record, and the proof that it is in the log.
fn receipt(kept: &RecordData, card: &str) -> Markup {
    let Item { position, entry, .. } = &kept.item;
    let Entry { moment, content, sources, sender, .. } = entry;
    let file = |name: &str| format!("{}/files/{name}", address::record(*position));
    let trust = kept.provenance.trust;
    let late = kept.provenance.late_seconds(*moment);
    let late = late.map(|seconds| usize::try_from(seconds / 86_400).unwrap_or(usize::MAX));
    let proof = html! {
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
            @if let Some(days) = late { div { dt { "late" } dd { "arrived " (count(days, "day")) " after it took place" } } }
            @if kept.provenance.is_backfilled {
                div { dt { "backfilled" } dd { "handed in as history by this key; it counts from the time that it states" } }
            }
            div { dt { "scorecard" } dd { a href=(address::scorecard(card)) { (card) } } }
        }
        p {
            "The record is an entry of a log that only grows, and its receipt proves it. "
            a href=(format!("{}/archive", address::record(*position))) download { "One archive" }
            " has all that it takes to check it on another machine, without this server, and the command."
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
    };
    section("receipt", "Who says so, and the proof", proof)
}

/// Returns a file of the record: receipt, record, evidence, scorecard, or the key that verifies the log.
pub async fn file(Get(app, _): Get, Named((wanted, name)): Named<(String, String)>) -> Answer {
    let shared = Arc::clone(&app);
    let read = move |reader: &mut Reader| {
        let kept = RecordData::read(&shared, reader, &wanted)?;
        let found = Files::of(&shared, reader, &kept)?.0.into_iter().find(|(own, ..)| *own == name);
        found.ok_or_else(|| Problem::not_found("there is no such file of this record"))
    };
    let (name, media_type, content) = app.read(read).await?;
    Ok(attached(media_type, &name, content))
}
