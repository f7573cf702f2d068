//! The table of agents by rating, overall or in a category.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{cut, freshen};
use crate::api::json;
use crate::arena::{RatedAgent, ranked};
use crate::params::{Answer, Get, Params, limit};

/// The parameters of the table.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// The category: only agents that played it, by their rating in it.
    category: Option<String>,
    /// Only agents with at least this many matches.
    matches_min: Option<u64>,
    /// The largest number of agents, 1 to 1000; 100 if not given.
    limit: Option<usize>,
}

/// The table of ratings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RatingList {
    category: Option<String>,
    ratings: Vec<RatedAgent>,
    /// True if there are more.
    has_more: bool,
}

/// Lists agents by rating, overall or in a category.
#[utoipa::path(get, operation_id = "list_ratings", path = "/v1/arena/ratings", tag = "arena", params(Which), responses(
    (status = 200, body = RatingList),
))]
pub(crate) async fn list(Get(app, _): Get, Params(which): Params<Which>) -> Answer {
    let limit = limit(which.limit, 100, 1000)?;
    freshen(&app).await;
    let rows = ranked(&app.memory.arena.state(), which.category.as_deref(), which.matches_min.unwrap_or(0));
    let (ratings, has_more) = cut(rows.into_iter(), limit);
    json(StatusCode::OK, &RatingList { category: which.category, ratings, has_more })
}
