//! Scoring of one item of evidence into two stored items: the evidence in canonical form, and its record.

use karat::engine::{Engine, Scored};
use karat::error::Error;
use karat_core::facts::{Fact, Item};
use karat_core::scorecard::{FactDeclaration, Scorecard};
use karat_evidence::Note;
use karat_store::{Error as StoreError, Outcome};

use crate::arrival::{self, newest_moment};
use crate::authority::{self, Act, Denied};
use crate::basics::*;
use crate::cards::ScorerPool;
use crate::ids;
use crate::index::NewRow;
use crate::keys::Key;
use crate::memory::Memory;
use crate::problem::{Code, Problem, ProblemPart};
use crate::stored::{self, Trust, is_measured_here};

/// The longest value of the header `Idempotency-Key`.
const IDEMPOTENCY_KEY_MAX_BYTES: usize = 128;

#[derive(Debug)]
pub struct ScoredItem {
    /// The id in the evidence, unique for its subject.
    pub id: String,
    /// The evidence, in canonical form.
    pub evidence: NewItem,
    /// The record.
    pub record: NewItem,
    pub row: NewRow,
    /// Notes that help to read the score.
    pub notes: Vec<Note>,
}

/// A scored item that was sent to the store.
#[derive(Debug)]
pub struct Sent {
    pub evidence: String,
    pub record: String,
    pub digest: Digest,
    /// The record.
    pub content: Vec<u8>,
    /// Notes that help to read the score.
    pub notes: Vec<Note>,
    /// The answer of the store.
    pub outcome: Outcome,
}

impl Sent {
    /// Copies an item that is about to be sent, but for the notes, which are taken.
    pub fn of(scored: &mut ScoredItem) -> Self {
        Self {
            evidence: scored.evidence.id.clone(),
            record: scored.record.id.clone(),
            digest: scored.row.evidence,
            content: scored.record.content.clone(),
            notes: std::mem::take(&mut scored.notes),
            outcome: Err(StoreError::Stopped),
        }
    }

    /// Adds what the store said.
    pub fn with(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }
}

/// The key that sends an item, the moment at which it does, and the memory of the server.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    /// The key.
    pub key: &'a Key,
    /// The moment of the server.
    pub now: Timestamp,
    /// The arena and the workflows, whose items are their own.
    pub memory: &'a Memory,
}

/// The parameters of scoring an item.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    pub pool: &'a ScorerPool,
    /// The time of the verdict, as given.
    pub as_of: Option<WrittenTimestamp<'a>>,
    /// The sender; `None` if it is the server itself, which may state everything.
    pub holder: Option<Holder<'a>>,
    /// The id of the item if it has none; without one, it is refused.
    pub name: Option<&'a str>,
}

impl How<'_> {
    /// Scores the item in `bytes`.
    pub fn score(&self, bytes: &[u8]) -> Result<ScoredItem, Problem> {
        self.pool.with_engine(self.as_of, |engine| Ok(self.score_by(engine, bytes, Ok::<_, Refused>)?))
    }

    /// Scores the item in `bytes` by an engine and hands it to `then`; what that refuses leaves nothing in the engine.
    pub fn score_by<T, E: From<Error> + From<Refused>>(
        &self,
        engine: &mut Engine,
        bytes: &[u8],
        then: impl FnOnce(ScoredItem) -> Result<T, E>,
    ) -> Result<T, E> {
        engine.try_visit_named(self.name, bytes, |scored| then(self.keep(scored)?))
    }

    fn keep(&self, scored: &Scored<'_>) -> Result<ScoredItem, Refused> {
        let (item, card) = (&scored.record.item, scored.record.card);
        if self.name.is_none() && item.id.starts_with("sha256:") && item.id == item.digest.to_string() {
            return Err(Refused::Nameless);
        }
        let is_embedded = scored.is_embedded();
        if let Some(holder) = self.holder {
            self.check(holder, card, item, is_embedded).map_err(Refused::Because)?;
            let newest = || newest_moment(card, item, scored.evidence());
            arrival::check(holder.now, item.context.time, self.as_of, newest).map_err(Refused::Because)?;
        }
        let mut content = Vec::with_capacity(2048);
        scored.write(&mut content);
        let new = |kind, id, sources, content: Vec<u8>| {
            let subject = Some(item.subject.to_owned());
            NewItem { subject, sources, ..NewItem::new(kind, id, content) }
        };
        let name = card.name();
        let id = ids::evidence(item.subject, item.id);
        let evidence = Digest::of(id.as_bytes());
        let stated = stated(card, item, is_embedded).map(|(fact, _)| fact.from);
        let ceiling = self.holder.map_or(Trust::Measured, |holder| Trust::ceiling(&holder.key.reports));
        Ok(ScoredItem {
            id: item.id.to_owned(),
            record: new(Kind::Record, ids::record(&id, &name), vec![item.digest], content),
            evidence: new(Kind::Evidence, id, Vec::new(), scored.evidence().to_vec()),
            row: NewRow {
                subject: item.subject.to_owned(),
                card: name,
                task: stored::task_of(item.context.task, item.context.cases, card).map(str::to_owned),
                time: item.context.time,
                outcome: item.context.outcome,
                score: scored.record.score,
                evidence: item.digest,
                item: evidence,
                trust: Trust::of(stated).min(ceiling),
                is_backfilled: false,
                is_over_cases: item.context.cases.is_some(),
                sender: None,
            },
            notes: scored.notes().to_vec(),
        })
    }

    fn check(
        &self,
        Holder { key, memory, .. }: Holder<'_>,
        card: &Scorecard,
        item: &Item<'_>,
        is_embedded: bool,
    ) -> Result<(), Problem> {
        let given = stated(card, item, is_embedded);
        let has_evaluator = self.pool.card.evaluator().is_some();
        let asked = Act::Send(Some(authority::Item {
            subject: item.subject,
            stated: given.clone().map(|(fact, _)| fact.from).collect(),
            is_of_arena: authority::is_match_id(item.subject, item.id)
                || has_evaluator && memory.arena.state().has_card(&card.name()),
            // Under the id of a recording stands the evidence of its run, and would no more if another item came first.
            is_of_task: memory.flows.state().is_delivered(item.id)
                || card.evidence == karat_reader::Kind::WorkflowRun.name()
                    && item.context.task.is_some_and(|task| memory.flows.state().like(task).is_some()),
            keeper: authority::trace_keeper(item.id),
        }));
        let Err(denied) = authority::decide(Some(key), false, &asked) else { return Ok(()) };
        let Denied::Facts(provenances) = denied else { return Err(denied.into()) };
        let parts: Vec<ProblemPart> = given
            .filter(|(fact, _)| provenances.contains(fact.from))
            .map(|(fact, _)| {
                let detail = format!("`{}` says it comes from `{}`", card.name(), fact.from.name());
                ProblemPart::new(format!("facts.{}", fact.name), detail)
            })
            .collect();
        let first = parts.first().and_then(|part| part.field.clone()).unwrap_or_default();
        Err(Problem::from(denied).at(first).with_parts(parts))
    }
}

/// Returns the facts that the sender stated.
fn stated<'a>(
    card: &'a Scorecard,
    item: &'a Item<'a>,
    is_embedded: bool,
) -> impl Iterator<Item = (&'a FactDeclaration, &'a Fact<'a>)> + Clone {
    let given = card.facts.iter().zip(item.facts);
    given.filter(move |(fact, given)| {
        !fact.is_missing(given) && !is_measured_here(card, &fact.name, is_embedded)
    })
}

const NAMELESS: &str = "the item has no id, so it cannot be known whether it was sent twice or happened twice: \
                        give it an id, or send the header `Idempotency-Key`, whose value becomes its id";

/// The reason why an item is refused.
#[derive(Debug)]
pub enum Refused {
    /// Faults of the item.
    Evidence(Error),
    /// A problem for which the item is not at fault.
    Because(Problem),
    /// It has no id.
    Nameless,
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Evidence(error) => Self::of_error(Code::EvidenceRefused, &error),
            Refused::Because(problem) => problem,
            Refused::Nameless => Self::new(Code::EvidenceRefused, NAMELESS),
        }
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Evidence(error)
    }
}

/// Returns the value of the header `Idempotency-Key`, with or without quotation marks: the id of an item without one.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(given) = headers.get("idempotency-key") else { return Ok(None) };
    let text = given.to_str().unwrap_or_default().trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    if !(1..=IDEMPOTENCY_KEY_MAX_BYTES).contains(&text.len()) || !text.bytes().all(|it| it.is_ascii_graphic())
    {
        let expected = format!("1 to {IDEMPOTENCY_KEY_MAX_BYTES} visible ASCII characters without spaces");
        return Err(Problem::parameter(
            "Idempotency-Key",
            format!("found another text, expected {expected}"),
        ));
    }
    Ok(Some(text.to_owned()))
}
