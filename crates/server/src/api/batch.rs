//! Many items in one body, as JSON lines: read as they arrive, scored in parts, answered line by line.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode};
use karat_store::{Error, Outcome};
use serde::Serialize;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use super::evidence::{Scoring, earlier, submission};
use super::json;
use crate::body::{Incoming, line_too_long};
use crate::keys::Key;
use crate::params::written_timestamp;
use crate::problem::{Code, Problem, conflict};
use crate::scoring::{Holder, How, Sent, Shown};
use crate::state::App;
use crate::traces::queue::Line;

/// The media type of a batch.
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

/// A part of a batch on its way into the store. A line that is refused before has its problem.
enum BatchPart {
    /// Items that were scored from themselves alone, and are being stored.
    Apart {
        lines: Vec<(u64, Result<Shown, Problem>)>,
        /// One outcome for each line that could be scored, or the reason why nothing was sent to the writer.
        outcomes: Result<oneshot::Receiver<Vec<Outcome>>, Problem>,
    },
    /// Traces that are being scored in order.
    Queued { lines: Vec<(u64, Result<(), Problem>)>, sent: oneshot::Receiver<Vec<Result<Sent, Problem>>> },
}

impl BatchPart {
    /// Waits until all is stored, and returns the result of each line.
    async fn results(self) -> Result<Vec<(u64, Result<Sent, Problem>)>, Problem> {
        let stopped = |_| Problem::from(Error::Stopped);
        let no_answer = || Err(Problem::from(Error::Stopped));
        match self {
            Self::Queued { lines, sent } => {
                let mut sent = sent.await.map_err(stopped)?.into_iter();
                let mut next = |()| sent.next().unwrap_or_else(no_answer);
                Ok(lines.into_iter().map(|(line, queued)| (line, queued.and_then(&mut next))).collect())
            }
            Self::Apart { lines, outcomes } => {
                let mut outcomes = match outcomes {
                    Ok(receiver) => Ok(receiver.await.map_err(stopped)?.into_iter()),
                    Err(problem) => Err(problem),
                };
                let mut next = || match &mut outcomes {
                    Ok(outcomes) => Ok(outcomes.next().unwrap_or(Err(Error::Stopped))),
                    Err(problem) => Err(problem.clone()),
                };
                let mut sent = |shown: Shown| next().map(|outcome| shown.sent(outcome));
                Ok(lines.into_iter().map(|(line, scored)| (line, scored.and_then(&mut sent))).collect())
            }
        }
    }
}

/// Scores every line of a body.
pub(crate) async fn send(
    app: &Arc<App>,
    key: Arc<Key>,
    how: Scoring,
    name: Option<String>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response<Body>, Problem> {
    if how.replaces.is_some() {
        return Err(Problem::parameter("replaces", "a batch corrects nothing: send corrections one by one"));
    }
    let options = &app.options;
    let mut body = Incoming::new(headers, body, options.batch_bytes_max, options.body_timeout)?;
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
        if let Some(before) = waiting.replace(part) {
            settle(app, before, &mut answer).await?;
        }
        if next > options.batch_lines_max + 1 {
            let most = options.batch_lines_max;
            break Err(Problem::new(
                Code::TooLarge,
                format!("a batch has at most {most} lines; send it in parts"),
            ));
        }
    };
    if let Some(last) = waiting {
        settle(app, last, &mut answer).await?;
    }
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

/// Scores some lines and sends them to the writer.
async fn part(
    app: &Arc<App>,
    key: &Arc<Key>,
    how: &Scoring,
    name: Option<&str>,
    lines: Vec<u8>,
    first: u64,
) -> Result<BatchPart, Problem> {
    let as_of = how.as_of.clone();
    written_timestamp("as_of", as_of.as_deref())?;
    let (line_max, name) = (app.options.body_bytes_max, name.map(str::to_owned));
    let head = numbered(&lines, first).next().map_or(&[][..], |(_, bytes)| bytes);
    let pool = app.memory.cards().find_for(&how.card, head)?;
    if let Some(queue) = app.traces.queue(&pool) {
        let (mut numbers, mut queued) = (Vec::new(), Vec::new());
        for (line, bytes) in numbered(&lines, first) {
            let is_fit = bytes.len() <= line_max;
            if is_fit {
                let name = name.as_ref().map(|name| format!("{name}:{line}"));
                queued.push(Line { name, bytes: bytes.to_vec(), replaces: None });
            }
            numbers.push((line, if is_fit { Ok(()) } else { Err(line_too_long(line_max)) }));
        }
        let sent = queue.push(app, &pool, Arc::clone(key), as_of, queued);
        return Ok(BatchPart::Queued { lines: numbers, sent });
    }
    let (shared, key, card) = (Arc::clone(app), Arc::clone(key), how.card.clone());
    let scored = app.checked(move || {
        let as_of = written_timestamp("as_of", as_of.as_deref())?;
        let (mut results, mut submissions) = (Vec::new(), Vec::new());
        for (line, bytes) in numbered(&lines, first) {
            let name = name.as_ref().map(|name| format!("{name}:{line}"));
            let scored = if bytes.len() > line_max {
                Err(line_too_long(line_max))
            } else {
                let pool = shared.memory.cards().find_for(&card, bytes)?;
                match shared.traces.queue(&pool) {
                    None => {
                        let pool = shared.memory.weights().scorer(&pool);
                        let holder = Some(Holder { key: &key, arena: &shared.memory.arena });
                        How { pool: &pool, as_of, holder, name: name.as_deref() }.score(bytes)
                    }
                    // They are scored in the order of the log, and the others of this part apart from it.
                    Some(_) => Err(Problem::new(
                        Code::EvidenceRefused,
                        "a trace among other evidence: send traces in a batch of their own",
                    )),
                }
            };
            let result = scored.map(|mut scored| {
                let shown = Shown::take(&mut scored);
                submissions.push(submission(&key.id, scored, None));
                shown
            });
            results.push((line, result));
        }
        Ok((results, submissions))
    });
    let (lines, submissions) = scored.await?;
    Ok(BatchPart::Apart { lines, outcomes: app.submit(submissions) })
}

/// Returns the lines that are not blank, with their numbers, of which the first is `first`.
fn numbered(lines: &[u8], first: u64) -> impl Iterator<Item = (u64, &[u8])> {
    let all = (first..).zip(lines.split(|byte| *byte == b'\n'));
    all.filter(|(_, bytes)| !bytes.trim_ascii().is_empty())
}

/// Waits for the writer and adds the result of each line.
async fn settle(app: &App, part: BatchPart, answer: &mut BatchAnswer) -> Result<(), Problem> {
    for (line, result) in part.results().await? {
        let Sent { shown, outcome } = match result {
            Ok(sent) => sent,
            Err(problem) => {
                answer.refused(line, problem);
                continue;
            }
        };
        let accepted = match outcome {
            Ok(accepted) => Ok(accepted),
            Err(Error::Refused(refusals)) => {
                match earlier(app, &refusals, &shown.evidence, shown.digest).await? {
                    Some((accepted, _)) => Ok(accepted),
                    None => Err(conflict(&refusals)),
                }
            }
            Err(error) => Err(error.into()),
        };
        match accepted.as_deref() {
            Ok([evidence, record]) => {
                answer.kept(line, shown.record, record.position, evidence.repeated && record.repeated);
            }
            Ok(_) => return Err(Problem::internal(&"the store did not answer for every item")),
            Err(problem) => answer.refused(line, problem.clone()),
        }
    }
    Ok(())
}
