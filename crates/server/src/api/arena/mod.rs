//! The arena over HTTP: challenges, agents, matches, ratings.

mod agents;
mod challenges;
mod matches;
mod ratings;

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderMap;
use serde::de::DeserializeOwned;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::body::{Incoming, expect_media};
use crate::play;
use crate::problem::Problem;
use crate::state::App;

/// Returns every route of the arena.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(challenges::list, challenges::publish))
        .routes(routes!(challenges::show))
        .routes(routes!(agents::register))
        .routes(routes!(agents::show))
        .routes(routes!(matches::list, matches::enter))
        .routes(routes!(matches::show))
        .routes(routes!(matches::submit))
        .routes(routes!(ratings::list))
}

/// Reads a body in JSON.
async fn read<T: DeserializeOwned>(app: &App, headers: &HeaderMap, body: Body) -> Result<T, Problem> {
    expect_media(headers, &["application/json"])?;
    let body =
        Incoming::new(headers, body, app.options.body_bytes_max, app.options.body_timeout)?.whole().await?;
    app.metrics.received(body.len() as u64);
    crate::body::json(&body)
}

/// Ends overdue matches before a read. If they cannot be written now, the next request tries again.
async fn freshen(app: &Arc<App>) {
    // The problem is already in the log of the server.
    let _ = play::expire_overdue(app).await;
}

/// Returns the first `limit` of `rows`, and true if there are more.
fn cut<T>(rows: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let mut rows: Vec<T> = rows.take(limit.saturating_add(1)).collect();
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    (rows, has_more)
}
