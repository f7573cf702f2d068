//! Standings of subjects, from their records and the decisions in the log about them.

use karat::answers::standing::Standing;
use karat::ask::Confidence;
use karat::rows::Unclear;
use karat::standing::{Answer, items, refused};
use karat_core::scorecard;
use karat_standing::stand::{SubjectStanding, stand};

use crate::decisions::Decisions;
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
    /// The number of lines of events that count; the last is the proposed one.
    pub events: usize,
}

pub async fn answer(app: &Arc<App>, question: Question) -> Result<Standings, Problem> {
    let lines = |answer: &Answer<'_>, shown: &[SubjectStanding]| Standings {
        subjects: shown.iter().map(|it| Standing::new(answer, it)).collect(),
        left_out: answer.rows.left_out.clone(),
        events: answer.events.lines.last().copied().unwrap_or_default(),
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
    let asked = question.clone();
    let selected = app.indexed(move |app, index| select(app, index, &asked));
    let (positions, pools) = selected.await?;
    let read = {
        let question = question.clone();
        let shared = Arc::clone(app);
        app.read(move |reader| {
            let options = ReadOptions { unclear: Unclear::LeftOutOfStandings, ..ReadOptions::default() };
            let rows = rows::read(&shared.memory, reader, &pools, &positions, &options)?;
            // Of several subjects the others have their standings.
            if question.subjects.len() == 1 || rows.rows.is_empty() {
                rows::refuse_left_out(&rows)?;
            }
            let Question { pool, subjects, size, proposed, .. } = &question;
            let only = match subjects.as_slice() {
                [only] => Some(only.as_str()),
                _ => None,
            };
            let decisions = Decisions::read(reader, &shared.memory, &pool.name(), only, *size)?;
            let events = decisions.events(|name| rows.subject(name).is_some(), proposed.as_deref())?;
            let names = rows.subjects.iter().map(String::as_str);
            let look_alikes = shared.memory.looks.of(&shared.memory.index(), names, *size);
            Ok((rows, events, look_alikes))
        })
    };
    let (rows, events, look_alikes) = read.await?;
    app.checked(move || {
        let Question { pool, as_of, .. } = question;
        let card = &pool.card;
        let items = items::items(&rows, card, &events).map_err(|failure| unanswerable(&failure))?;
        let mut standings = stand(card, &items, &events.events, as_of.seconds())
            .map_err(|errors| unanswerable(&refused(&errors)))?;
        if let Some((shared, each)) = &shares {
            standings.shared = Some(*shared);
            for standing in &mut standings.subjects {
                standing.share = each.get(&standing.subject).copied();
            }
        }
        let answer = Answer {
            card,
            rows: &rows,
            standings: &standings,
            as_of,
            level: Confidence::default().level,
            events: &events,
            look_alikes: &look_alikes,
        };
        Ok(tell(&answer, &standings.subjects))
    })
    .await
}

/// Returns the rules for standings of a scorecard.
pub fn rules(pool: &ScorerPool) -> Result<&scorecard::Standing, Problem> {
    pool.card.standing.as_ref().ok_or_else(|| {
        let name = pool.card.name();
        let detail = format!("`{name}` has no section `[standing]`, so there are no standings under it");
        Problem::new(Code::Unanswerable, detail).at("card")
    })
}

fn select(
    app: &App,
    index: &Index,
    question: &Question,
) -> Result<(Vec<u64>, Vec<Arc<ScorerPool>>), Problem> {
    let name = question.pool.name();
    let (filter, pools) = Filter::new(app, index, &Selection::of_card(&name))?;
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
