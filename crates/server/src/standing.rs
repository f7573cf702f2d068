//! Standings of subjects, from their records and the decisions in the log about them.

use karat::answers::review::Review;
use karat::answers::standing::Standing;
use karat::ask::Confidence;
use karat::look_alikes::LookAlikes;
use karat::rows::{Rows, Unclear};
use karat::standing::events::Events;
use karat::standing::{Answer, items, refused};
use karat_core::scorecard;
use karat_standing::review::Refusal;
use karat_standing::stand::{SubjectStanding, stand};

use crate::cost;
use crate::decisions::Decisions;
use crate::kept::Shares;
use crate::prelude::*;
use crate::rows::{self, ReadOptions, unanswerable};
use crate::select::{Filter, Marks, Selection, marks};
use crate::subjects::all_subjects;

#[derive(Debug, Clone)]
pub struct Question {
    /// The scorecard; for a family, its section counts for all challenges.
    pub pool: Arc<ScorerPool>,
    pub subjects: Vec<String>,
    pub as_of: Timestamp,
    /// The size of the log up to which items count.
    pub size: u64,
    /// A line of events that is not in the log, to see its effect.
    pub proposed: Option<String>,
}

impl Question {
    /// Returns the question for the standings of `subjects`,.
    pub fn new(pool: Arc<ScorerPool>, subjects: Vec<String>, as_of: Timestamp, size: u64) -> Self {
        Self { pool, subjects, as_of, size, proposed: None }
    }
}

#[derive(Debug)]
pub struct Standings {
    pub subjects: Vec<Standing>,
    /// The subjects without one because their rows over cases cannot be brought together, each with the reason.
    pub left_out: BTreeMap<String, String>,
}

pub async fn answer(app: &Arc<App>, question: Question) -> Result<Standings, Problem> {
    let lines = |answer: &Answer<'_>, shown: &[SubjectStanding]| Standings {
        subjects: shown.iter().map(|it| Standing::new(answer, it)).collect(),
        left_out: answer.rows.left_out.clone(),
    };
    let (name, size) = (question.pool.name(), question.size);
    let mut found = answered(app, question, lines).await?;
    let counted = app.indexed(move |app, index| marks(app, index, &Selection::of_card(&name), size));
    let mut counted = counted.await?;
    for standing in &mut found.subjects {
        let Marks { corrected, backfilled } = counted.remove(&standing.subject).unwrap_or_default();
        (standing.corrected, standing.backfilled) = (corrected, backfilled);
    }
    Ok(found)
}

/// Computes the standings and passes them to `tell`, whose result it returns.
pub async fn answered<T: Send + 'static>(
    app: &Arc<App>,
    question: Question,
    tell: impl FnOnce(&Answer<'_>, &[SubjectStanding]) -> T + Send + 'static,
) -> Result<T, Problem> {
    let rules = rules(&question.pool)?;
    // Shares are parts of a total, so they need all subjects. A proposed decision is not about them.
    let shares = match rules.shares {
        Some(_) if question.proposed.is_none() => {
            let all = all_subjects(app, &question.pool, question.as_of, question.size).await?;
            all.shares.clone()
        }
        _ => None,
    };
    let (asked, shared) = (question.clone(), Arc::clone(app));
    let basis = app.read(move |reader| read(&shared.memory, reader, &asked)).await?;
    app.checked(move || stood(&question, &basis, shares.as_ref(), tell)).await
}

/// Returns why the line of events that a question proposes would be refused, if it would; and the review that follows.
pub(crate) fn refusal(
    memory: &Memory,
    reader: &mut Reader,
    question: &Question,
) -> Result<(Option<String>, Option<Review>), Problem> {
    // A decision is on the score that was seen: of several on one, the first is the decision.
    let seen = question.proposed.as_deref().and_then(|line| serde_json::from_str::<Value>(line).ok());
    if let Some(seen) = seen.as_ref().and_then(|line| line.get("seen")?.as_str()) {
        let (_, before) = refusal(memory, reader, &Question { proposed: None, ..question.clone() })?;
        let refused = match before.and_then(|review| review.held) {
            None => Some(Refusal::NothingHeld),
            Some(held) if held.digest == seen => None,
            Some(held) => Some(Digest::parse(&held.digest).map_or(Refusal::NothingHeld, Refusal::OtherScore)),
        };
        if let Some(why) = refused {
            return Ok((Some(why.to_string()), None));
        }
    }
    let basis = read(memory, reader, question)?;
    stood(question, &basis, None, |answer: &Answer<'_>, shown: &[SubjectStanding]| {
        let place = answer.events.lines.last().map(|place| *place as u64);
        let review = shown.first().and_then(|it| Standing::new(answer, it).review);
        let refusals = review.iter().flat_map(|review| &review.refusals);
        let refusal = refusals.into_iter().find(|it| it.line == place).map(|it| it.reason.clone());
        (refusal, review)
    })
}

/// Returns the standing of the one subject of a question, without its share of the whole.
pub(crate) fn of_one(
    memory: &Memory,
    reader: &mut Reader,
    question: &Question,
) -> Result<Option<Standing>, Problem> {
    let basis = read(memory, reader, question)?;
    stood(question, &basis, None, |answer: &Answer<'_>, shown: &[SubjectStanding]| {
        shown.first().map(|it| Standing::new(answer, it))
    })
}

/// The rows, events and names that standings rest on.
type Basis = (Rows, Events, LookAlikes);

fn read(memory: &Memory, reader: &mut Reader, question: &Question) -> Result<Basis, Problem> {
    let Question { pool, subjects, size, proposed, .. } = question;
    let (positions, pools) = select(memory, question)?;
    let options = ReadOptions { unclear: Unclear::LeftOutOfStandings, ..ReadOptions::default() };
    let rows = rows::read(memory, reader, &pools, &positions, &options)?;
    // Of several subjects the others have their standings.
    if subjects.len() == 1 || rows.rows.is_empty() {
        rows::refuse_left_out(&rows)?;
    }
    let only = match subjects.as_slice() {
        [only] => Some(only.as_str()),
        _ => None,
    };
    let decisions = Decisions::read(reader, memory, &pool.name(), only, *size)?;
    let events = decisions.events(|name| rows.subject(name).is_some(), proposed.as_deref())?;
    let names = rows.subjects.iter().map(String::as_str);
    let look_alikes = memory.looks.of(&memory.index(), names, *size);
    Ok((rows, events, look_alikes))
}

fn stood<T>(
    question: &Question,
    (rows, events, look_alikes): &Basis,
    shares: Option<&Shares>,
    tell: impl FnOnce(&Answer<'_>, &[SubjectStanding]) -> T,
) -> Result<T, Problem> {
    let (card, as_of) = (&question.pool.card, question.as_of);
    let items = items::items(rows, card, events).map_err(|failure| unanswerable(&failure))?;
    let mut standings = stand(card, &items, &events.events, as_of.seconds())
        .map_err(|errors| unanswerable(&refused(&errors)))?;
    if let Some((shared, each)) = shares {
        standings.shared = Some(*shared);
        for standing in &mut standings.subjects {
            standing.share = each.get(&standing.subject).copied();
        }
    }
    let level = Confidence::default().level;
    let answer = Answer { card, rows, standings: &standings, as_of, level, events, look_alikes };
    Ok(tell(&answer, &standings.subjects))
}

/// Returns the rules for standings of a scorecard.
pub fn rules(pool: &ScorerPool) -> Result<&scorecard::Standing, Problem> {
    pool.card.standing.as_ref().ok_or_else(|| {
        let name = pool.card.name();
        let detail = format!("`{name}` has no section `[standing]`, so there are no standings under it");
        Problem::new(Code::Unanswerable, detail).at("card")
    })
}

fn select(memory: &Memory, question: &Question) -> Result<(Vec<u64>, Vec<Arc<ScorerPool>>), Problem> {
    let (name, index) = (question.pool.name(), memory.index());
    cost::rows(index.len());
    let (filter, pools) = Filter::new(memory, &index, &Selection::of_card(&name))?;
    let subjects: BTreeSet<u32> = question.subjects.iter().filter_map(|name| index.number(name)).collect();
    let rows = index.rows(question.size).filter(|row| subjects.contains(&row.subject) && filter.admits(row));
    let positions: Vec<u64> = rows.map(|row| row.position).collect();
    if positions.is_empty() {
        let names: Vec<String> =
            question.subjects.iter().map(|it| format!("`{}`", it.escape_debug())).collect();
        return Err(Problem::not_found(format!("there is no record of {} under `{name}`", names.join(", "))));
    }
    Ok((positions, pools))
}
