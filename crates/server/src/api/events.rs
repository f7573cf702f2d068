//! New records as they are stored.

use axum::response::{IntoResponse as _, Response};

use crate::events::{self, Source};
use crate::prelude::*;
use crate::select::{Filter, Selection, size_at};

/// Streams new records as server-sent events: `event: record`, `id` is the position in the log, `data` the record. With
/// the header `Last-Event-ID` the stream starts after that position, otherwise with the next new record.
#[utoipa::path(get, operation_id = "stream_events", path = "/v1/events", tag = "records", params(
    ("Last-Event-ID" = Option<u64>, Header, description = "the position in the log of the last record that was received"),
    ("subject" = Option<String>, Query, description = "only records of this subject"),
    ("card" = Option<String>, Query, description = "only records of this scorecard"),
    ("track" = Option<String>, Query, description = "only records of these tasks, separated by commas"),
    ("since" = Option<String>, Query, description = "only records of items that took place at this timestamp or later"),
    ("until" = Option<String>, Query, description = "only records of items that took place before this timestamp"),
    ("trust" = Option<crate::stored::Trust>, Query, description = "only records of at least this trust class")), responses(
    (status = 200, content_type = "text/event-stream", body = String), Absent))]
pub(crate) async fn stream(
    Get(app, caller): Get,
    headers: HeaderMap,
    Params(params): Params<Selection>,
) -> Result<Response, Problem> {
    for (name, is_given) in [
        ("known_at", params.known_at.is_some()),
        ("before", params.before.is_some()),
        ("limit", params.limit.is_some()),
    ] {
        if is_given {
            return Err(Problem::parameter(name, "a stream has no such parameter"));
        }
    }
    Filter::new(&app.memory, &app.memory.index(), &params)?;
    let next = match events::after_last(&headers)? {
        Some(next) => next,
        None => size_at(&app, None).await?,
    };
    let source = Source::Records(Box::new(params));
    Ok(events::stream(app, caller, source, next)?.into_response())
}
