//! Standings of subjects, from their records and the decisions in the log about them.

use std::borrow::Cow;
use std::sync::Arc;

use karat::answers::standing::Standing;
use karat::standing::events::{self, Events};
use karat::standing::{Answer, items, refused};
use karat_core::timestamp::Timestamp;
use karat_standing::stand::{Interval, SubjectStanding, stand};
use karat_stats::bootstrap::Plan;
use karat_store::port::Order;
use karat_store::{Kind, Reader, Term};

use crate::cards::ScorerPool;
use crate::ids;
use crate::index::Index;
use crate::problem::{Code, Problem};
use crate::rows::{self, RECORDS_MAX, ReadOptions, unanswerable};
use crate::select::{Filter, Selection};
use crate::state::App;

/// A question for standings.
#[derive(Debug, Clone)]
pub struct Question {
    /// The scorecard; for a family, its section counts for all challenges.
    pub pool: Arc<ScorerPool>,
    /// One subject, or all.
    pub subject: Option<String>,
    /// The timestamp of the standing.
    pub as_of: Timestamp,
    /// The size of the log up to which items count.
    pub size: u64,
    /// The plan of the intervals.
    pub interval: Interval,
    /// A line of events that is not in the log, to see its effect.
    pub proposed: Option<String>,
}

/// The standings that answer a question.
#[derive(Debug)]
pub struct Standings {
    /// The standings, in the order of the subjects.
    pub subjects: Vec<Standing>,
    /// The number of lines of events that count; the last is the proposed one.
    pub events: usize,
}

/// The default plan of intervals, the same as on the command line.
pub const INTERVAL: Interval = Interval { plan: Plan { draws: 1000, seed: 1 }, level: 0.95 };

/// Computes the standings of the subjects of the question.
///
/// # Errors
/// If the scorecard has no section `[standing]`, or there are no records, or too many.
pub async fn answer(app: &Arc<App>, question: Question) -> Result<Standings, Problem> {
    let lines = |answer: &Answer<'_>, shown: &[SubjectStanding]| Standings {
        subjects: shown.iter().map(|it| Standing::new(answer, it)).collect(),
        events: answer.events.lines.last().copied().unwrap_or_default(),
    };
    answered(app, question, lines).await
}

/// Computes the standings and passes them to `tell`, whose result it returns.
///
/// # Errors
/// As [`answer`].
pub async fn answered<T: Send + 'static>(
    app: &Arc<App>,
    question: Question,
    tell: impl FnOnce(&Answer<'_>, &[SubjectStanding]) -> T + Send + 'static,
) -> Result<T, Problem> {
    let card = &question.pool.card;
    let Some(rules) = &card.standing else {
        let detail =
            format!("`{}` has no section `[standing]`, so there are no standings under it", card.name());
        return Err(Problem::new(Code::Unanswerable, detail).at("card"));
    };
    // Shares are parts of a total, so they need all subjects.
    let alone = question.subject.clone().filter(|_| rules.shares.is_none());
    let (asked, of) = (question.clone(), alone.clone());
    let selected = app.indexed(move |app, index| select(app, index, &asked, of.as_deref()));
    let (positions, pools) = selected.await?;
    let read = {
        let question = question.clone();
        app.read(move |reader| {
            let rows = rows::read(reader, &pools, &positions, &ReadOptions::default())?;
            let events = decisions(reader, &question, alone.as_deref())?;
            Ok((rows, events))
        })
    };
    let (rows, events) = read.await?;
    app.checked(move || {
        let Question { pool, subject, as_of, interval, .. } = question;
        let card = &pool.card;
        let items = items::items(&rows, card, &events).map_err(|failure| unanswerable(&failure))?;
        let standings = stand(card, &items, &events.events, as_of.seconds(), interval)
            .map_err(|errors| unanswerable(&refused(&errors)))?;
        let answer = Answer { card, rows: &rows, standings: &standings, as_of, interval, events: &events };
        let all = standings.subjects.as_slice();
        let shown = match subject.as_deref() {
            None => all,
            Some(name) => match all.iter().position(|it| it.subject == name) {
                Some(at) => all.get(at..=at).unwrap_or_default(),
                None => &[],
            },
        };
        Ok(tell(&answer, shown))
    })
    .await
}

fn select(
    app: &App,
    index: &Index,
    question: &Question,
    subject: Option<&str>,
) -> Result<(Vec<u64>, Vec<Arc<ScorerPool>>), Problem> {
    let name = question.pool.name();
    let selection = Selection { subject, card: Some(&name), ..Selection::default() };
    let (filter, pools) = Filter::new(app, index, &selection)?;
    let rows = index.rows(question.size).filter(|row| filter.admits(row));
    let positions: Vec<u64> = rows.take(RECORDS_MAX + 1).map(|row| row.position).collect();
    match positions.len() {
        0 => Err(Problem::not_found(match subject {
            Some(subject) => format!("there is no record of `{}` under `{name}`", subject.escape_debug()),
            None => format!("there is no record under `{name}`"),
        })),
        count if count > RECORDS_MAX => {
            let detail =
                format!("standings are computed from at most {RECORDS_MAX} records; ask for one subject");
            Err(Problem::new(Code::Unanswerable, detail))
        }
        _ => Ok((positions, pools)),
    }
}

/// Reads the decisions about one subject or all under a scorecard, as a file of events.
fn decisions(reader: &mut Reader, question: &Question, subject: Option<&str>) -> Result<Events, Problem> {
    let term = match subject {
        Some(subject) => Term::subject(Kind::Review, subject),
        None => Term::kind(Kind::Review),
    };
    let own = format!("{}/", ids::part(&question.pool.name()));
    let found = reader.list(term, 0..question.size, Order::Oldest, usize::MAX)?;
    let own = found.iter().filter(|item| item.entry.id.starts_with(&own));
    let mut lines: Vec<Cow<'_, str>> = own.map(|item| String::from_utf8_lossy(&item.content)).collect();
    lines.extend(question.proposed.as_deref().map(Cow::Borrowed));
    if lines.is_empty() {
        return Ok(Events::default());
    }
    events::read("reviews", &lines.join("\n")).map_err(|failure| unanswerable(&failure))
}
