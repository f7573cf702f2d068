//! Standings: the official scores of subjects at a timestamp, with their tiers and reviews.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode};
use karat::answers::standing::Standing;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::answer as response;
use crate::guard::Caller;
use crate::params::{Named, Params, timestamp};
use crate::problem::Problem;
use crate::select::size_at;
use crate::standing::{INTERVAL, Question, answer};
use crate::state::App;

/// The parameters of a standing.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StandingParams {
    /// The scorecard, with a section `[standing]`.
    #[param(example = "workflow@1.0.0")]
    pub card: String,
    /// The timestamp of the standing; now if not given.
    pub as_of: Option<String>,
    /// The state of knowledge at this timestamp: later records and corrections do not count.
    pub known_at: Option<String>,
}

/// The standings of all subjects of a scorecard.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StandingList {
    /// The timestamp of the standings.
    as_of: String,
    /// The size of the log up to which items count.
    log_size: u64,
    /// One standing for each subject, by name.
    standings: Vec<Standing>,
}

/// Returns the standing of one subject: the line that `karat standing --json` writes.
#[utoipa::path(get, operation_id = "show_standing", path = "/v1/standings/{subject}", tag = "records", params(
    ("subject" = String, Path, description = "who is scored", example = "17"), StandingParams,
), responses(
    (status = 200, description = "`karat/standing/1`", content_type = "application/json", body = Standing),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(subject): Named<String>,
    Params(params): Params<StandingParams>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let missing =
        || Problem::not_found(format!("there is no record of `{}` up to that time", subject.escape_debug()));
    let question = question(&app, &params, Some(subject.clone())).await?;
    let found = answer(&app, question).await?.subjects.into_iter().next().ok_or_else(missing)?;
    Ok(response(StatusCode::OK, &found))
}

/// Lists the standings of all subjects of a scorecard, for up to 20,000 records.
#[utoipa::path(get, operation_id = "list_standings", path = "/v1/standings", tag = "records", params(StandingParams), responses(
    (status = 200, body = StandingList),
    (status = 404, body = Problem, content_type = "application/problem+json"),
    (status = 422, body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Params(params): Params<StandingParams>,
) -> Result<Response<Body>, Problem> {
    caller.may_read()?;
    let question = question(&app, &params, None).await?;
    let (as_of, size) = (question.as_of.to_string(), question.size);
    let standings = answer(&app, question).await?.subjects;
    Ok(response(StatusCode::OK, &StandingList { as_of, log_size: size, standings }))
}

async fn question(app: &App, params: &StandingParams, subject: Option<String>) -> Result<Question, Problem> {
    let pool = app.memory.cards().find(&params.card)?;
    let now = app.clock.now();
    let as_of = timestamp("as_of", params.as_of.as_deref())?.unwrap_or(now);
    let size = size_at(app, params.known_at.as_deref()).await?;
    Ok(Question { pool, subject, as_of, size, interval: INTERVAL, proposed: None })
}
