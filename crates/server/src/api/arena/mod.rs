//! The arena over HTTP: challenges, agents, harnesses, matches, ratings.

mod agents;
mod challenges;
mod matches;
mod ratings;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signers;
use crate::play;
use crate::state::App;

/// Returns every route of the arena.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(challenges::list, challenges::publish))
        .routes(routes!(challenges::show))
        .routes(routes!(agents::register))
        .routes(routes!(agents::show))
        .routes(routes!(signers::list_harnesses, signers::register_harness))
        .routes(routes!(signers::revoke_harness))
        .routes(routes!(matches::list, matches::enter))
        .routes(routes!(matches::show))
        .routes(routes!(matches::submit))
        .routes(routes!(matches::void))
        .routes(routes!(ratings::list))
}

/// Ends overdue matches before a read, and asks again for verdicts that are missing. If they cannot be written now, the next request
/// tries again.
async fn freshen(app: &Arc<App>) {
    // The problem is already in the log of the server.
    let _ = play::expire_overdue(app).await;
    let is_any_waiting = app.memory.arena.state().waiting().next().is_some();
    if is_any_waiting {
        let app = Arc::clone(app);
        tokio::spawn(async move { play::judge_waiting(&app).await });
    }
}

/// Returns the first `limit` of `rows`, and true if there are more.
fn cut<T>(rows: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let mut rows: Vec<T> = rows.take(limit.saturating_add(1)).collect();
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    (rows, has_more)
}
