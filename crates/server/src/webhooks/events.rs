//! The events of a part of the log, for one endpoint: a function of the log, so that they are the same after a restart.

use std::ops::Range;

use axum::http::Uri;
use karat::answers::review::ReviewTransition;
use karat::answers::standing::Standing;
use karat::answers::trend::SubjectTrend;
use karat::answers::{ReviewState, TierCause, ValueStatus};
use karat::ask::Trend;
use karat::record::Record;
use karat_store::Term;
use karat_store::port::Order;
use serde_json::Map;

use super::file::{Endpoint, Watch, Webhooks};
use crate::address;
use crate::api::questions::{asked_at, read as read_query};
use crate::prelude::*;
use crate::standing::{Question, of_one};

/// An event that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// The same in every attempt, and of no other event of any log.
    pub id: String,
    pub kind: &'static str,
    /// The position of the entry that it is of.
    pub position: u64,
    pub body: String,
}

/// A subject under a scorecard, whose standing some entries may have changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Touched {
    card: String,
    subject: String,
}

/// A part of the log and the endpoint that receives its events.
pub(super) struct Part<'p> {
    pub app: &'p Arc<App>,
    pub to: &'p Endpoint,
    pub hooks: &'p Webhooks,
    pub range: Range<u64>,
}

impl Part<'_> {
    /// Returns the events in the order of the log.
    pub(super) async fn events(&self) -> Result<Vec<Event>, Problem> {
        let (records, touched) = self.entries().await?;
        let mut events = Vec::new();
        if self.wants("gate.failed") {
            events.extend(self.gates(records.iter().map(|(position, ..)| *position).collect()).await?);
        }
        if ["score.held", "review.decided", "tier.lost"].iter().any(|kind| self.wants(kind)) {
            for (whose, position) in touched {
                events.extend(self.standing(whose, position).await?);
            }
        }
        if self.wants("trend.alarm") && !records.is_empty() {
            for watch in &self.hooks.watches {
                events.extend(self.trend(watch, &records).await?);
            }
        }
        events.sort_by(|one, other| {
            (one.position, one.kind, &one.id).cmp(&(other.position, other.kind, &other.id))
        });
        Ok(events)
    }

    fn wants(&self, kind: &str) -> bool {
        self.to.events.contains(kind)
    }

    fn admits(&self, card: &str, subject: &str) -> bool {
        let is_card =
            |wanted: &str| wanted == card || card.split_once('@').is_some_and(|(id, _)| id == wanted);
        self.to.card.as_deref().is_none_or(is_card)
            && self.to.subject.as_deref().is_none_or(|it| it == subject)
    }

    /// Returns the records of the part with scorecard and subject, as far as the endpoint hears of them; and whose standing its
    /// entries touch, each with the last of those entries.
    async fn entries(&self) -> Result<(Vec<(u64, Touched)>, BTreeMap<Touched, u64>), Problem> {
        let (memory, range) = (&self.app.memory, self.range.clone());
        let mut records = Vec::new();
        let mut touched = BTreeMap::new();
        {
            let (index, cards) = (memory.index(), memory.cards());
            for row in index.from(range.start, range.end) {
                let (card, subject) = (index.name(row.card), index.name(row.subject).to_owned());
                let base = cards.find(card).ok().and_then(|pool| pool.card.base.clone());
                for card in [Some(card.to_owned()), base].into_iter().flatten() {
                    if self.admits(&card, &subject) {
                        touched.insert(Touched { card, subject: subject.clone() }, row.position);
                    }
                }
                if self.admits(card, &subject) {
                    records.push((row.position, Touched { card: card.to_owned(), subject }));
                }
            }
        }
        let reviews = self.app.read(move |reader| {
            Ok(reader.list(Term::kind(Kind::Review), range, Order::Oldest, usize::MAX)?)
        });
        for item in reviews.await? {
            let card = item.entry.id.split('/').next().unwrap_or_default().to_owned();
            let subject = item.entry.subject.unwrap_or_default();
            if self.admits(&card, &subject) {
                let last = touched.entry(Touched { card, subject }).or_default();
                *last = (*last).max(item.position);
            }
        }
        touched.retain(|whose, _| {
            memory.cards().find(&whose.card).is_ok_and(|pool| pool.card.standing.is_some())
        });
        Ok((records, touched))
    }

    /// Makes an event, whose id is a digest of the log and of all that it says.
    fn event(
        &self,
        kind: &'static str,
        (position, moment): (u64, Timestamp),
        whose: &Touched,
        more: Value,
    ) -> Event {
        let log = self.app.log_key();
        let log = log.split('+').next().unwrap_or_default();
        let mut data = json!({
            "log": log, "position": position, "card": whose.card, "subject": whose.subject,
            "subject_page": format!("{}{}", self.hooks.site, address::subject(&whose.subject, Some(&whose.card))),
        });
        if let (Some(data), Value::Object(more)) = (data.as_object_mut(), more) {
            data.extend(more);
        }
        let body = canonical_json(&json!({"type": kind, "timestamp": moment.to_string(), "data": data}));
        let digest = Digest::of(format!("karat/event/1\n{log}\n{body}").as_bytes()).to_string();
        let id = digest.trim_start_matches("sha256:").chars().take(32).collect::<String>();
        Event { id: format!("evt_{id}"), kind, position, body }
    }

    /// Returns an event for each record in which a gate held: of the scorecard, or of a dimension.
    async fn gates(&self, positions: Vec<u64>) -> Result<Vec<Event>, Problem> {
        let items = self.app.read(move |reader| {
            positions.into_iter().map(|at| Ok(reader.item(at)?)).collect::<Result<Vec<Item>, Problem>>()
        });
        let mut events = Vec::new();
        for item in items.await? {
            let Ok(Some(record)) = Record::parse(&item.content) else { continue };
            let record = record.document();
            let closed = record.dimensions.iter().filter(|it| it.status == ValueStatus::Gated);
            let dimensions: Vec<&str> = closed.map(|it| it.key.as_str()).collect();
            if record.gates.is_empty() && dimensions.is_empty() {
                continue;
            }
            let whose = Touched { card: record.scorecard.name(), subject: record.subject.clone() };
            let more = json!({
                "gates": record.gates, "dimensions": dimensions, "score": record.score.map(|it| it.published),
                "evidence": record.evidence.id, "record": format!("{}{}", self.hooks.site, address::record(item.position)),
            });
            events.push(self.event("gate.failed", (item.position, item.entry.moment), &whose, more));
        }
        Ok(events)
    }

    /// Returns what became of a subject's standing between its last entry before the part and that at `position`.
    async fn standing(&self, whose: Touched, position: u64) -> Result<Vec<Event>, Problem> {
        let (app, range, wanted) = (Arc::clone(self.app), self.range.clone(), whose.clone());
        let found = self.app.read(move |reader| {
            let pool = app.memory.cards().find(&wanted.card)?;
            let before = {
                let index = app.memory.index();
                let subject = index.number(&wanted.subject);
                let (all, card) = (app.memory.cards(), &wanted.card);
                let own = all.iter().filter(|it| it.name() == *card || it.card.base.as_ref() == Some(card));
                let cards: BTreeSet<u32> = own.filter_map(|it| index.number(&it.name())).collect();
                let mut rows = index.rows(range.start).rev();
                rows.find(|row| Some(row.subject) == subject && cards.contains(&row.card))
                    .map(|row| row.position)
            };
            let mut at = |entry: u64, size: u64| -> Result<_, Problem> {
                let moment = reader.item(entry)?.entry.moment;
                let question = Question::new(Arc::clone(&pool), vec![wanted.subject.clone()], moment, size);
                Ok((answered(of_one(&app.memory, reader, &question))?.flatten(), moment))
            };
            let before = before.map(|entry| at(entry, range.start)).transpose()?;
            let (after, moment) = at(position, range.end)?;
            let rules = pool.card.standing.iter().flat_map(|rules| &rules.tiers);
            let tiers: Vec<String> = rules.map(|tier| tier.name.clone()).collect();
            Ok((before.and_then(|(standing, _)| standing), after, moment, tiers))
        });
        let (before, after, moment, tiers) = found.await?;
        let Some(after) = after else { return Ok(Vec::new()) };
        let mut told = told(before.as_ref(), &after, &tiers);
        told.retain(|(kind, _)| self.wants(kind));
        Ok(told.into_iter().map(|(kind, it)| self.event(kind, (position, moment), &whose, it)).collect())
    }

    /// Returns an alarm for each subject that has one after the part and had none before.
    async fn trend(&self, watch: &Watch, records: &[(u64, Touched)]) -> Result<Vec<Event>, Problem> {
        let uri: Uri =
            format!("/v1/trend?{}", watch.query).parse().map_err(|error| Problem::internal(&error))?;
        let (asked, of_log, _) = read_query::<Trend>(&uri)?;
        let card = self.app.memory.cards().find_used(asked.about.card.as_deref().unwrap_or_default());
        let Ok(card) = card.map(|pool| pool.name()) else { return Ok(Vec::new()) };
        let Some(last) = records.iter().rfind(|(_, it)| it.card == card) else { return Ok(Vec::new()) };
        let alarms = async |size| {
            let found = answered(asked_at(self.app, asked.clone(), of_log.clone(), size).await)?;
            let subjects = found.into_iter().flat_map(|made| made.answer.subjects);
            Ok::<_, Problem>(subjects.filter(|it| it.alarm.is_some()).collect::<Vec<SubjectTrend>>())
        };
        let (before, after) = (alarms(self.range.start).await?, alarms(self.range.end).await?);
        let mut events = Vec::new();
        for it in after.iter().filter(|it| before.iter().all(|other| other.subject != it.subject)) {
            if !self.admits(&card, &it.subject) {
                continue;
            }
            let of_subject = records.iter().rfind(|(_, of)| of.card == card && of.subject == it.subject);
            let position = of_subject.unwrap_or(last).0;
            let moment = self.app.read(move |reader| Ok(reader.item(position)?.entry.moment)).await?;
            let more = json!({
                "watch": watch.name, "run": it.alarm, "first": it.change.as_ref().map(|it| &it.first),
                "before": it.change.as_ref().map(|it| it.before), "after": it.change.as_ref().map(|it| it.after),
                "trend": format!("{}/trend?{}", self.hooks.site, watch.query),
            });
            let whose = Touched { card: card.clone(), subject: it.subject.clone() };
            events.push(self.event("trend.alarm", (position, moment), &whose, more));
        }
        Ok(events)
    }
}

/// Returns an answer; none where nothing counts, or what counts cannot be put together.
fn answered<T>(found: Result<T, Problem>) -> Result<Option<T>, Problem> {
    match found {
        Err(problem) if matches!(problem.code, Code::NotFound | Code::Unanswerable) => Ok(None),
        found => found.map(Some),
    }
}

/// Returns what a standing has that the one before does not have.
fn told(before: Option<&Standing>, after: &Standing, tiers: &[String]) -> Vec<(&'static str, Value)> {
    let mut told = Vec::new();
    let before_review = before.and_then(|it| it.review.as_ref());
    if let Some(review) = &after.review {
        // The decisions on a score come later.
        let key = |it: &ReviewTransition| (it.time.clone(), it.scored.clone(), it.points, it.state);
        let known: Vec<_> = before_review.iter().flat_map(|it| &it.transitions).map(key).collect();
        for it in review.transitions.iter().filter(|it| !known.contains(&key(it))) {
            let held = review.held.as_ref().filter(|held| held.time == it.scored && held.points == it.points);
            let data = json!({
                "score": it.points, "score_time": it.scored, "cause": it.cause, "state": it.state,
                "official": review.official.as_ref().map(|it| it.points),
                "digest": held.map(|it| &it.digest), "deadline": held.map(|it| &it.deadline),
            });
            match it.state {
                ReviewState::PendingReview => told.push(("score.held", data)),
                ReviewState::Committed | ReviewState::Superseded => {}
                _ => told.push(("review.decided", data)),
            }
        }
    }
    let known = before.map(|before| falls(before, tiers)).unwrap_or_default();
    for mut fall in falls(after, tiers).into_iter().filter(|it| !known.contains(it)) {
        fall.insert(String::from("score"), json!(after.points));
        told.push(("tier.lost", Value::Object(fall)));
    }
    told
}

/// Returns every fall of the tier of a subject: by its certificate, or else by its history.
fn falls(standing: &Standing, tiers: &[String]) -> Vec<Map<String, Value>> {
    let fall = |from: &Option<String>, to: &Option<String>, cause: Option<TierCause>, time: Option<&str>| {
        let members =
            [("from", json!(from)), ("to", json!(to)), ("cause", json!(cause)), ("time", json!(time))];
        members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
    };
    let Some(tier) = &standing.tier else { return Vec::new() };
    if tier.certificate.is_some() {
        let changes = tier.changes.iter().filter(|it| it.cause != TierCause::Promotion);
        return changes.map(|it| fall(&it.from, &it.to, Some(it.cause), Some(&it.time))).collect();
    }
    let rank = |held: &Option<String>| tiers.iter().position(|it| Some(it) == held.as_ref());
    let pairs = standing.history.iter().zip(standing.history.iter().skip(1));
    let falls = pairs.filter(|(old, new)| rank(&new.tier) < rank(&old.tier));
    falls.map(|(old, new)| fall(&old.tier, &new.tier, None, new.time.as_deref())).collect()
}
