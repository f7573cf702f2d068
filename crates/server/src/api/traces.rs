//! Spans in, by the OpenTelemetry protocol over HTTP: they are stored at once, and scored once their trace is whole.

use axum::http::header::CONTENT_ENCODING;
use axum::response::IntoResponse as _;
use karat_importers::requests::{Encoding, Part as Group, Parts, response, take_apart};

use super::bytes;
use crate::authority;
use crate::body::{Arrived, expect_encoding, expect_media, too_large};
use crate::collect::items;
use crate::prelude::*;
use crate::problem::PROTOBUF;
use crate::spans::{Content, Part, Whose};

const JSON: &str = "application/json";
/// Bytes of a request, packed or not.
const BYTES_MAX: usize = 16 << 20;
/// Facts that spans give.
const FACTS: [&str; 12] = [
    "step_count", "step_type_count", "thought_count", "tool_step_count", "unique_tool_count",
    "error_recovery_count", "cost_usd", "seconds", "tokens", "calls", "tool_calls", "errors",
];

/// The parameters for spans.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Intake {
    /// The scorecard, `id@version`, that reads `reasoning-trace` or `facts`. An id without a version means the newest one.
    #[serde(default = "trace")]
    #[param(default = "trace", example = "trace@1.0.0")]
    card: String,
    /// The subject of the traces, instead of the one that their spans name; that of the key, if it has one.
    subject: Option<String>,
}

fn trace() -> String {
    String::from("trace")
}

/// Takes spans in OTLP over HTTP, and makes an item of each trace.
///
/// The body is an `ExportTraceServiceRequest` in JSON or protobuf, which may be packed with gzip; the answer is an
/// `ExportTraceServiceResponse` in the same encoding, with `partialSuccess` if spans were refused. After it the spans are stored.
/// A trace becomes an item, with a record, once no spans of it came for 15 seconds, or for two minutes if none is its root.
/// An error of a request in protobuf is a `google.rpc.Status`.
#[utoipa::path(post, operation_id = "send_traces", path = "/v1/traces", tag = "evidence", security(("key" = ["write:evidence"])), params(Intake,
    ("Content-Encoding" = Option<String>, Header, description = "`gzip`, or nothing", example = "gzip")), request_body(content(
    (BTreeMap<String, Value> = "application/json"), (String = "application/x-protobuf"))), responses(
    (status = 200, description = "The spans are stored.", content((BTreeMap<String, Value> = "application/json"),
    (String = "application/x-protobuf"))), Absent))]
pub(crate) async fn send(
    how: Result<Params<Intake>, Problem>,
    Post { app, caller, body }: Post,
) -> Response<Body> {
    let media = body.media_type();
    let taken = match how {
        Ok(Params(how)) => take(&app, &caller, how, body).await,
        Err(problem) => Err(problem),
    };
    match (taken, media.as_str()) {
        (Ok(answer), _) => answer,
        (Err(problem), PROTOBUF) => problem.in_protobuf(),
        (Err(problem), _) => problem.into_response(),
    }
}

async fn take(app: &Arc<App>, caller: &Caller, how: Intake, mut body: Arrived) -> Answer {
    let key = Arc::clone(caller.key(&Act::Send(None))?);
    let pool = app.memory.cards().find(&how.card)?;
    items(&pool)?;
    let subject = how.subject.or_else(|| key.subject.clone());
    expect_media(&body.headers, &[JSON, PROTOBUF])?;
    let encoding = if body.media_type() == JSON { Encoding::Json } else { Encoding::Protobuf };
    // What is packed is unpacked below.
    expect_encoding(&body.headers, &["gzip"])?;
    body.headers.remove(CONTENT_ENCODING);
    // Before the work: a request is large.
    may_send(&key, &pool, subject.as_deref())?;
    let body = body.whole(app, &[JSON, PROTOBUF], BYTES_MAX).await?;
    let taken = app.checked(move || {
        take_apart(&body, encoding, BYTES_MAX as u64)
            .map_err(|error| Problem::new(Code::BadRequest, error.to_string()).at("body"))?
            .ok_or_else(|| too_large(BYTES_MAX))
    });
    let Parts { parts, mut refused, reason } = taken.await?;
    let mut reason = reason.unwrap_or_default();
    if let Some((late, why)) = store(app, &key, &pool, subject, parts).await? {
        refused += late;
        if reason.is_empty() {
            reason = why;
        }
    }
    let media = if encoding == Encoding::Json { JSON } else { PROTOBUF };
    Ok(bytes(StatusCode::OK, media, response(encoding, refused, &reason)))
}

/// Stores the spans of each trace; returns how many came too late, and why.
async fn store(
    app: &Arc<App>,
    key: &Arc<Key>,
    pool: &ScorerPool,
    subject: Option<String>,
    groups: Vec<Group>,
) -> Result<Option<(u64, String)>, Problem> {
    let (app, key, card) = (Arc::clone(app), Arc::clone(key), pool.name());
    uninterrupted(async move {
        let _permit = app.memory.spans.permits.take(&key.id).await;
        let (mut contents, mut late, mut why, mut size) = (Vec::new(), 0, String::new(), 0);
        for group in groups {
            let whose = Whose {
                sender: key.id.clone(),
                card: card.clone(),
                subject: subject.clone(),
                trace: group.trace.clone(),
            };
            if app.memory.spans.is_closed(&whose) {
                late += group.spans;
                why = format!("the trace {} is closed: its spans came too late", group.trace);
                continue;
            }
            size += group.text.len() as u64;
            let request: Value =
                serde_json::from_slice(&group.text).map_err(|error| Problem::internal(&error))?;
            contents.push(Content::Part(Part { whose, has_root: group.has_root, request }));
        }
        if !contents.is_empty() {
            app.memory.spans.room(&key.id, contents.len(), size)?;
            app.append_one(Submission::by(&key).with_all(contents)?).await?;
        }
        Ok((late > 0).then_some((late, why)))
    })
    .await
}

/// Checks that the key may report what spans give, before any is taken.
fn may_send(key: &Key, pool: &ScorerPool, subject: Option<&str>) -> Result<(), Problem> {
    let given = pool.card.facts.iter().filter(|fact| FACTS.contains(&fact.name.as_str()));
    let item = authority::Item {
        subject: subject.or(key.subject.as_deref()).unwrap_or_default(),
        stated: given.map(|fact| fact.from).collect(),
        is_of_arena: false,
        is_of_task: false,
        keeper: None,
    };
    Ok(authority::decide(Some(key), false, &Act::Send(Some(item)))?)
}
