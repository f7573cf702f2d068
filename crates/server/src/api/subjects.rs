//! Subjects: the list of those with records, and the history of one.

use std::ops::Range;

use karat::answers::Outcome;
use karat::look_alikes::Alike;
use karat::record::Record;

use super::json;
use crate::params::limit;
use crate::prelude::*;
use crate::select::{Filter, Selection, size_at};

/// The default number of entries in a list.
const USUAL: usize = 100;
/// The largest number of entries in a list.
const MOST: usize = 1000;

/// The parameters of the list of subjects.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SubjectParams {
    /// Only subjects with records of this scorecard; for a family, of its challenges.
    pub card: Option<String>,
    /// Only subjects whose names come after this one: `next` of the previous list.
    pub after: Option<String>,
    /// The largest number of subjects, 1 to 1000; 100 if not given.
    pub limit: Option<usize>,
}

/// Subjects in the order of their names.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SubjectList {
    subjects: Vec<SubjectSummary>,
    /// The value of `after` for the next list; null at the end.
    next: Option<String>,
}

/// A subject with records.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SubjectSummary {
    name: String,
    /// The number of its records, without corrected ones.
    records: u64,
    /// The position of the latest of them in the log.
    latest: u64,
    #[serde(flatten)]
    alike: Alike,
}

/// Lists subjects in the order of their names.
#[utoipa::path(get, operation_id = "list_subjects", path = "/v1/subjects", tag = "records", params(SubjectParams), responses(
    (status = 200, body = SubjectList), Absent))]
pub(crate) async fn list(Get(app, _): Get, Params(params): Params<SubjectParams>) -> Answer {
    let limit = limit(params.limit, USUAL, MOST)?;
    let subjects = app.indexed(move |app, index| {
        let selection = Selection { card: params.card, ..Selection::default() };
        let (filter, _) = Filter::new(&app.memory, index, &selection)?;
        let mut found: Vec<(u64, u64)> = vec![(0, 0); index.names()];
        for row in index.rows(u64::MAX).filter(|row| filter.admits(row)) {
            let place = usize::try_from(row.subject).ok().and_then(|at| found.get_mut(at));
            if let Some((records, latest)) = place {
                (*records, *latest) = (*records + 1, row.position);
            }
        }
        let after = params.after.as_deref().unwrap_or_default();
        let all = (0u32..).zip(found).filter(|(_, (records, _))| *records > 0);
        let mut all: Vec<(&str, (u64, u64))> =
            all.map(|(number, of)| (index.name(number), of)).filter(|(name, _)| *name > after).collect();
        let has_more = all.len() > limit;
        if has_more {
            all.select_nth_unstable(limit);
            all.truncate(limit);
        }
        all.sort_unstable();
        let next = all.last().filter(|_| has_more).map(|(name, _)| (*name).to_owned());
        let mut looks = app.memory.looks.of(index, all.iter().map(|(name, _)| *name), u64::MAX);
        let subjects = all.into_iter().map(|(name, (records, latest))| SubjectSummary {
            name: name.to_owned(),
            records,
            latest,
            alike: looks.take(name),
        });
        Ok(SubjectList { subjects: subjects.collect(), next })
    });
    json(StatusCode::OK, &subjects.await?)
}

/// The parameters of a history.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HistoryParams {
    /// Only records of this scorecard, `id@version` or the id of its latest version.
    pub card: Option<String>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
    /// The first position in the log: `next` of the previous part.
    pub from: Option<u64>,
    /// The largest number of records, 1 to 1000; 100 if not given.
    pub limit: Option<usize>,
}

/// All records of a subject, in the order in which they were stored.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SubjectHistory {
    /// The size of the log up to which items count.
    log_size: u64,
    #[serde(flatten)]
    alike: Alike,
    entries: Vec<HistoryEntry>,
    /// The value of `from` for the next part; null at the end.
    next: Option<u64>,
}

/// A summary of a record.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HistoryEntry {
    id: String,
    /// The position in the log.
    position: u64,
    /// The time at which it was received.
    moment: String,
    /// The scorecard.
    card: String,
    /// The time at which the evidence took place, if given.
    time: Option<String>,
    task: Option<String>,
    #[schema(value_type = Option<Outcome>)]
    outcome: Option<&'static str>,
    /// The score, a share from 0 to 1, or null.
    #[schema(minimum = 0, maximum = 1)]
    score: Option<f64>,
    /// The id of the key that sent it, or `server`; null if the entry has none, as those of older logs.
    sender: Option<String>,
    /// The record that this one corrects.
    replaces: Option<String>,
    /// The record that corrected this one.
    replaced_by: Option<String>,
}

/// Returns the history of a subject: every record, corrected ones included.
#[utoipa::path(get, operation_id = "show_history", path = "/v1/subjects/{subject}/history", tag = "records", params(
    ("subject" = String, Path, description = "who is scored", example = "17"), HistoryParams), responses(
    (status = 200, body = SubjectHistory)))]
pub(crate) async fn history(
    Get(app, _): Get,
    Named(subject): Named<String>,
    Params(params): Params<HistoryParams>,
) -> Answer {
    let limit = limit(params.limit, USUAL, MOST)?;
    let log_size = size_at(&app, params.known_at.as_deref()).await?;
    let card = params.card.as_deref().map(|card| app.memory.cards().find_used(card)).transpose()?;
    let card = card.map(|pool| pool.name());
    let positions = app.indexed(move |app, index| {
        let places = params.from.unwrap_or(0)..log_size;
        let positions = places_of(index, &subject, card.as_deref(), places, limit + 1);
        if positions.is_empty() && params.from.is_none() {
            let subject = subject.escape_debug();
            return Err(Problem::not_found(format!(
                "there is no such record of `{subject}` up to that time"
            )));
        }
        let looks = app.memory.looks.of(index, [subject.as_str()], log_size);
        Ok((positions, looks.of(&subject).clone()))
    });
    let (mut positions, alike) = positions.await?;
    let next = positions.get(limit).copied();
    positions.truncate(limit);
    let entries = app.read(move |reader| {
        let entries = positions.into_iter().map(|position| {
            let item = reader.item(position)?;
            let replaced_by = reader.replacement(Kind::Record, &item.entry.id, log_size)?;
            entry(item, replaced_by.map(|item| item.entry.id))
        });
        entries.collect::<Result<_, _>>()
    });
    json(StatusCode::OK, &SubjectHistory { log_size, alike, entries: entries.await?, next })
}

/// Returns the first `limit` positions in `range` at which the log has a record of `subject`, of one scorecard or of
/// all.
fn places_of(index: &Index, subject: &str, card: Option<&str>, range: Range<u64>, limit: usize) -> Vec<u64> {
    let Some(subject) = index.number(subject) else { return Vec::new() };
    // A card without records has no number: use one that no card has.
    let card = card.map(|card| index.number(card).unwrap_or(u32::MAX));
    let rows = index.from(range.start, range.end);
    let wanted = rows.filter(|row| row.subject == subject && card.is_none_or(|card| row.card == card));
    wanted.map(|row| row.position).take(limit).collect()
}

fn entry(item: Item, replaced_by: Option<String>) -> Result<HistoryEntry, Problem> {
    let Item { position, entry, content } = item;
    let record = Record::parse(&content).map_err(|error| Problem::internal(&error))?;
    let record = record.ok_or_else(|| Problem::internal(&"a stored record cannot be read as one"))?;
    let record = record.document();
    Ok(HistoryEntry {
        id: entry.id,
        position,
        moment: entry.moment.to_string(),
        card: record.scorecard.name(),
        time: record.time().map(|time| time.to_string()),
        task: record.value("task"),
        outcome: record.evidence.outcome.map(|outcome| outcome.name()),
        score: record.score().map(|score| score.to_f64()),
        sender: entry.sender,
        replaces: entry.replaces,
        replaced_by,
    })
}
