//! Workflows over HTTP: recorders, tasks, plans, recordings.

mod plans;
mod recordings;
mod tasks;

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::signers;
use crate::market;
use crate::state::App;

/// Returns every route of workflows.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(signers::list_recorders, signers::register_recorder))
        .routes(routes!(signers::revoke_recorder))
        .routes(routes!(tasks::list, tasks::post))
        .routes(routes!(tasks::show))
        .routes(routes!(tasks::read_file))
        .routes(routes!(plans::hand_in))
        .routes(routes!(plans::show))
        .routes(routes!(plans::read_file))
        .routes(routes!(recordings::deliver))
        .routes(routes!(recordings::read_file))
}

/// Gives the verdicts that are due before a read. If they cannot be written now, the next request tries again.
async fn freshen(app: &Arc<App>) {
    // The problem is already in the log of the server.
    let _ = market::settle_due(app).await;
}
