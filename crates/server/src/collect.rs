//! The end of a trace: its spans are put together, imported as `karat import` does, and scored like evidence that was sent.

use std::ops::ControlFlow;

use karat::engine::kind;
use karat_importers::{Input, Items, OTLP, Options, import, requests};
use karat_reader::Kind;
use karat_store::{Error, Kind as Stored};

use crate::authority::kept_id;
use crate::prelude::*;
use crate::scoring::Sent;
use crate::sending::send;
use crate::spans::{Closed, Content, Whose};
use crate::traces::queue::Line;

/// Closes every trace whose time has come.
pub(crate) async fn close_due(app: &Arc<App>) -> Result<(), Problem> {
    let mut failed = None;
    for whose in app.memory.spans.due(app.clock.now()) {
        let shared = Arc::clone(app);
        // Runs to the end, so that no request gets the permit before memory is updated.
        let closed = uninterrupted(async move {
            let _permit = shared.memory.spans.permits.take(&whose.sender).await;
            close(&shared, &whose).await
        });
        // One that cannot be closed does not hold up the others.
        if let Err(problem) = closed.await {
            failed.get_or_insert(problem);
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Closes traces when they are due, for as long as the server runs.
pub(crate) async fn close_on_time(app: Arc<App>) {
    const LOOK: Duration = Duration::from_secs(1);
    const AFTER_FAILURE: Duration = Duration::from_secs(10);
    loop {
        let pause = if close_due(&app).await.is_ok() { LOOK } else { AFTER_FAILURE };
        tokio::time::sleep(pause).await;
    }
}

/// Closes a trace, if it is open and due. The caller has the permit.
async fn close(app: &Arc<App>, whose: &Whose) -> Result<(), Problem> {
    let Some(open) = app.memory.spans.open(whose).filter(|open| open.due() <= app.clock.now().milliseconds)
    else {
        return Ok(());
    };
    let (texts, digests) = parts(app, open.parts).await?;
    let made = make(app, whose, texts, &digests).await;
    let (evidence, reason) = match made {
        Ok(evidence) => (Some(evidence), None),
        // It is tried again: the trace is not at fault.
        Err(problem) if matches!(problem.code, Code::Busy | Code::Internal | Code::StorageFull) => {
            return Err(problem);
        }
        Err(problem) => (None, Some(problem.detail)),
    };
    app.metrics.items(evidence.is_some().into(), 0, reason.is_some().into());
    if let Some(reason) = &reason {
        tracing::info!(trace = whose.trace, sender = whose.sender, reason, "a trace became no item");
    }
    let parts = digests.iter().map(ToString::to_string).collect();
    let content = Content::Closed(Closed { whose: whose.clone(), parts, evidence, reason });
    app.append_one(Submission::of_server().with_all([content])?).await.map(drop)
}

/// Returns the spans of a trace out of the store, each part as OTLP in JSON, and the digests of the items.
async fn parts(app: &App, ids: Vec<String>) -> Result<(Vec<Vec<u8>>, Vec<Digest>), Problem> {
    app.read(move |reader| {
        let size = reader.head()?.size;
        let (mut texts, mut digests) = (Vec::new(), Vec::new());
        for id in ids {
            let found = reader.find(Stored::Spans, &id, size)?;
            let item = found.ok_or_else(|| Problem::internal(&"spans are not in the store"))?;
            let content: Content =
                serde_json::from_slice(&item.content).map_err(|error| Problem::internal(&error))?;
            if let Content::Part(part) = content {
                texts.push(part.request.to_string().into_bytes());
                digests.push(item.entry.content);
            }
        }
        Ok((texts, digests))
    })
    .await
}

/// Makes an item of a trace, scores and stores it, and returns its id.
async fn make(
    app: &Arc<App>,
    whose: &Whose,
    texts: Vec<Vec<u8>>,
    sources: &[Digest],
) -> Result<String, Problem> {
    let key = {
        let keys = app.memory.keys();
        keys.get(&whose.sender).filter(|_| !keys.is_revoked(&whose.sender))
    };
    let key = key.ok_or_else(|| Problem::new(Code::Forbidden, "the key of the sender was revoked"))?;
    let pool = app.memory.cards().find(&whose.card)?;
    let own = whose.clone();
    let items = items(&pool)?;
    let bytes = app.checked(move || item(&own, items, &texts)).await?;
    match enter(app, &pool, &key, &bytes, sources).await? {
        // A sender that knows the id of a trace may send an item of that id first: it takes the place of no other.
        Err((Stands::OfOther, _)) => {
            let kept = under_kept_id(&bytes, &key.id).map_err(|error| Problem::internal(&error))?;
            enter(app, &pool, &key, &kept, sources).await?
        }
        entered => entered,
    }
    .map_err(|(_, problem)| problem)
}

/// The item that the store has under an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// The item, with a record.
    Same,
    /// Another item, or nothing.
    Other,
    /// Another item, of another sender.
    OfOther,
}

/// Scores an item and stores it; returns its id, or the item that is there already.
async fn enter(
    app: &Arc<App>,
    pool: &Arc<ScorerPool>,
    key: &Arc<Key>,
    bytes: &[u8],
    sources: &[Digest],
) -> Result<Result<String, (Stands, Problem)>, Problem> {
    let line = Line { name: None, bytes: bytes.to_vec(), replaces: None, sources: sources.to_vec() };
    let sent = send(app, pool, Arc::clone(key), None, line).await?;
    match &sent.outcome {
        Ok(_) => Ok(Ok(sent.evidence)),
        Err(Error::Refused(refusals)) => Ok(match stands(app, &sent, &key.id).await? {
            // What was scored before, as of another moment, is that item.
            Stands::Same => Ok(sent.evidence),
            stands => Err((stands, crate::problem::conflict(refusals))),
        }),
        Err(error) => Err(error.clone().into()),
    }
}

/// Returns what the store has under the id of an item of a sender.
async fn stands(app: &App, sent: &Sent, sender: &str) -> Result<Stands, Problem> {
    let (evidence, record, digest) = (sent.evidence.clone(), sent.record.clone(), sent.digest);
    let sender = sender.to_owned();
    app.read(move |reader| {
        let size = reader.head()?.size;
        Ok(match reader.find(Stored::Evidence, &evidence, size)? {
            Some(item) if item.entry.content == digest => {
                let has_record = reader.find(Stored::Record, &record, size)?.is_some();
                if has_record { Stands::Same } else { Stands::Other }
            }
            Some(item) if item.entry.sender.as_ref() != Some(&sender) => Stands::OfOther,
            _ => Stands::Other,
        })
    })
    .await
}

/// Returns an item of a key under the id that is kept for it.
fn under_kept_id(bytes: &[u8], key: &str) -> Result<Vec<u8>, serde_json::Error> {
    let mut item: BTreeMap<String, Value> = serde_json::from_slice(bytes)?;
    let own = item.get("id").and_then(Value::as_str).unwrap_or_default();
    let kept = kept_id(own, key);
    item.insert(String::from("id"), kept.into());
    serde_json::to_vec(&item)
}

/// Returns what a card reads of a trace.
pub(crate) fn items(pool: &ScorerPool) -> Result<Items, Problem> {
    match kind(&pool.card) {
        Ok(Kind::ReasoningTrace) => Ok(Items::Traces),
        Ok(Kind::Facts) => Ok(Items::Runs),
        _ => {
            let detail = format!(
                "`{}` reads `{}`, and spans give `reasoning-trace` or `facts`",
                pool.name(),
                pool.card.evidence
            );
            Err(Problem::parameter("card", detail))
        }
    }
}

fn item(whose: &Whose, items: Items, texts: &[Vec<u8>]) -> Result<Vec<u8>, Problem> {
    let refused =
        |error: karat_importers::ImportError| Problem::new(Code::EvidenceRefused, error.to_string());
    let text = requests::put_together(texts.iter().map(Vec::as_slice)).map_err(refused)?;
    let input = Input::memory(format!("{}.otlp.json", whose.trace), text);
    let options = Options { items, subject: whose.subject.clone(), ..Options::default() };
    let mut found = None;
    let summary = import(&input, &OTLP, &options, &mut |item| {
        found = Some(item.json.to_vec());
        ControlFlow::Break(())
    })
    .map_err(refused)?;
    found.ok_or_else(|| {
        let reasons: Vec<&str> = summary.left_out.keys().map(String::as_str).collect();
        Problem::new(Code::EvidenceRefused, format!("no item: {}", reasons.join("; ")))
    })
}
