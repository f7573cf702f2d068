//! Many items in one body, as JSON lines: read as they arrive, scored in parts, answered line by line.

use karat::rows::Arrival;
use karat_store::{Error, Outcome};
use tokio::sync::oneshot;

use super::evidence::Scoring;
use super::json;
use crate::body::{Arrived, line_too_long};
use crate::over_cases;
use crate::params::written_timestamp;
use crate::prelude::*;
use crate::scoring::{Holder, ScoredItem, Sent};
use crate::sending::submission;
use crate::traces::queue::Line;

pub(crate) const MEDIA: &str = "application/x-ndjson";
/// Bytes of lines that make a part: it is scored and stored while the next lines arrive.
const PART_BYTES: usize = 1 << 20;

/// The largest number of problems that are listed over all lines; beyond it, lines are only counted.
const LISTED: usize = 10_000;

/// The results of the lines of a batch.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct BatchAnswer {
    /// Lines that are stored and are new.
    accepted: u64,
    /// Lines that were already stored.
    repeated: u64,
    /// Lines that are not stored.
    refused: u64,
    /// The result of each line, in order; blank lines are left out.
    items: Vec<BatchLine>,
    #[serde(skip)]
    listed: usize,
}

/// The result of one line.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BatchLine {
    /// The line number in the body, from 1.
    line: u64,
    /// The HTTP status: 201 for a new item, 200 for one that was already stored, else that of its problem.
    status: u16,
    /// The id of the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    /// The position of the record in the log.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    /// The reason why it is not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Problem>,
}

impl BatchAnswer {
    fn kept(&mut self, line: u64, record: String, position: u64, repeated: bool) {
        let count = if repeated { &mut self.repeated } else { &mut self.accepted };
        *count += 1;
        let status = if repeated { StatusCode::OK } else { StatusCode::CREATED }.as_u16();
        self.items.push(BatchLine {
            line,
            status,
            record: Some(record),
            position: Some(position),
            problem: None,
        });
    }

    fn refused(&mut self, line: u64, mut problem: Problem) {
        self.refused += 1;
        self.listed += problem.problems.len();
        if self.listed > LISTED {
            problem.problems = Vec::new();
        }
        let status = problem.status().as_u16();
        self.items.push(BatchLine { line, status, record: None, position: None, problem: Some(problem) });
    }
}

/// A part of a batch on its way into the store.
struct BatchPart {
    /// The lines, each with its way, or the problem for which it is refused.
    lines: Vec<(u64, Result<Way, Problem>)>,
    /// One outcome for each item that was scored from itself alone, or the reason why none was sent to the writer.
    outcomes: Result<oneshot::Receiver<Vec<Outcome>>, Problem>,
    /// The results of the traces, which are scored in order; none if there is no trace.
    sent: Option<oneshot::Receiver<Vec<Result<Sent, Problem>>>>,
}

/// The way of a line into the store.
enum Way {
    /// It was scored from itself alone.
    Apart(Sent),
    /// It is a trace, and waits for those before it.
    Queued,
}

impl BatchPart {
    /// Waits until all is stored, and returns the result of each line.
    async fn results(self) -> Result<Vec<(u64, Result<Sent, Problem>)>, Problem> {
        let stopped = |_| Problem::from(Error::Stopped);
        let mut sent = match self.sent {
            None => Vec::new(),
            Some(sent) => sent.await.map_err(stopped)?,
        }
        .into_iter();
        let mut outcomes = match self.outcomes {
            Ok(receiver) => Ok(receiver.await.map_err(stopped)?.into_iter()),
            Err(problem) => Err(problem),
        };
        let mut result = |way| match (way, &mut outcomes) {
            (Way::Queued, _) => sent.next().unwrap_or_else(|| Err(Error::Stopped.into())),
            (Way::Apart(sent), Ok(outcomes)) => Ok(sent.with(outcomes.next().unwrap_or(Err(Error::Stopped)))),
            (Way::Apart(_), Err(problem)) => Err(problem.clone()),
        };
        Ok(self.lines.into_iter().map(|(line, way)| (line, way.and_then(&mut result))).collect())
    }
}

pub(crate) async fn send(
    app: &Arc<App>,
    key: Arc<Key>,
    how: Scoring,
    name: Option<String>,
    body: Arrived,
) -> Answer {
    if how.replaces.is_some() {
        refuse!(BadRequest at "replaces", "a batch corrects nothing: send corrections one by one");
    }
    let options = &app.options;
    let mut body = body.incoming(app, options.batch_bytes_max)?;
    let mut answer = BatchAnswer::default();
    let mut waiting: Option<BatchPart> = None;
    let mut next = 1;
    let ended = loop {
        let lines = match body.lines(PART_BYTES, options.body_bytes_max).await {
            Ok(lines) if lines.is_empty() => break Ok(()),
            Ok(lines) => lines,
            Err(problem) => break Err(problem),
        };
        let first = next;
        next += lines.iter().filter(|byte| **byte == b'\n').count() as u64;
        let part = part(app, &key, &how, name.as_deref(), lines, first).await?;
        // The writer works on one part while the next one is read and scored.
        if let Some(before) = waiting.replace(part)
            && let Some(revoked) = settle(app, before, &mut answer).await?
        {
            break Err(revoked);
        }
        if next > options.batch_lines_max + 1 {
            let most = options.batch_lines_max;
            break Err(Problem::new(
                Code::TooLarge,
                format!("a batch has at most {most} lines; send it in parts"),
            ));
        }
    };
    let ended = match waiting {
        Some(last) => settle(app, last, &mut answer).await?.map_or(ended, Err),
        None => ended,
    };
    app.metrics.received(body.received() as u64);
    app.metrics.items(answer.accepted, answer.repeated, answer.refused);
    match ended {
        Ok(()) => json(StatusCode::OK, &answer),
        Err(mut problem) => {
            let kept = answer.accepted + answer.repeated;
            let detail = "lines before that are stored; sending the same again changes nothing";
            problem.detail = format!("{}; {kept} {detail}", problem.detail);
            Err(problem)
        }
    }
}

/// Scores some lines and sends them to the writer; of traces, to those that wait.
async fn part(
    app: &Arc<App>,
    key: &Arc<Key>,
    how: &Scoring,
    name: Option<&str>,
    lines: Vec<u8>,
    first: u64,
) -> Result<BatchPart, Problem> {
    let (line_max, name) = (app.options.body_bytes_max, name.map(str::to_owned));
    let (shared, own, card, as_of) = (Arc::clone(app), Arc::clone(key), how.card.clone(), how.as_of.clone());
    let scored = app.checked(move || {
        let as_of = written_timestamp("as_of", as_of.as_deref())?;
        let (mut ways, mut apart, mut traces) = (Vec::new(), Vec::new(), Vec::new());
        let (mut queue, now) = (None, shared.clock.now());
        for (line, bytes) in numbered(&lines, first) {
            let name = name.as_ref().map(|name| format!("{name}:{line}"));
            if bytes.len() > line_max {
                ways.push((line, Err(line_too_long(line_max))));
                continue;
            }
            // Each line may be of another kind, which another version of the card takes.
            let pool = shared.memory.cards().find_for(&card, bytes)?;
            if let Some(found) = shared.traces.queue(&pool) {
                queue.get_or_insert((found, pool));
                traces.push(Line { name, bytes: bytes.to_vec(), replaces: None, sources: Vec::new() });
                ways.push((line, Ok(Way::Queued)));
                continue;
            }
            let pool = shared.memory.weights().scorer(&pool);
            let holder = Some(Holder { key: &own, now, memory: &shared.memory });
            let scored = How { pool: &pool, as_of, holder, name: name.as_deref() }.score(bytes);
            let way = scored.map(|mut scored| {
                let sent = Sent::of(&mut scored);
                apart.push((ways.len(), scored));
                Way::Apart(sent)
            });
            ways.push((line, way));
        }
        let items: Vec<&ScoredItem> = apart.iter().map(|(_, scored)| scored).collect();
        let concerned = over_cases::concerned(&shared.memory, &items);
        let mut refused = BTreeMap::new();
        if !concerned.is_empty() {
            let arrival = Arrival { moment: now, is_backfilled: false, trust: Trust::Claimed };
            let mut reader = shared.reader()?;
            refused = over_cases::refused(&shared.memory, &mut reader, &items, &concerned, (None, arrival))?;
        }
        let mut submissions = Vec::with_capacity(apart.len());
        for (place, (at, scored)) in apart.into_iter().enumerate() {
            match (refused.remove(&place), ways.get_mut(at)) {
                (Some(problem), Some((_, way))) => *way = Err(problem),
                _ => submissions.push(submission(&own.id, scored, None)),
            }
        }
        Ok((ways, submissions, queue.map(|(queue, pool)| (queue, pool, traces))))
    });
    let (lines, submissions, queued) = scored.await?;
    let sent = queued
        .map(|(queue, pool, traces)| queue.push(app, &pool, Arc::clone(key), how.as_of.clone(), traces));
    Ok(BatchPart { lines, outcomes: app.submit(submissions), sent })
}

/// Returns the lines that are not blank, with their numbers, of which the first is `first`.
pub(crate) fn numbered(lines: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let all = (first..).zip(lines.split(|byte| *byte == b'\n'));
    all.filter(|(_, bytes)| !bytes.trim_ascii().is_empty())
}

/// Waits for the writer and adds the result of each line; returns the problem if the key is no longer in force.
async fn settle(app: &App, part: BatchPart, answer: &mut BatchAnswer) -> Result<Option<Problem>, Problem> {
    let mut revoked = None;
    for (line, result) in part.results().await? {
        let stored = match result {
            Ok(mut sent) => sent.stored(app).await.map(|stored| (sent.record, stored)),
            Err(problem) => Err(problem),
        };
        match stored {
            Ok((id, (evidence, record))) => {
                answer.kept(line, id, record.position, evidence.repeated && record.repeated);
            }
            Err(problem) => {
                if problem.code == Code::Unauthenticated {
                    revoked = Some(problem.clone());
                }
                answer.refused(line, problem);
            }
        }
    }
    Ok(revoked)
}
