//! The resources under `/v1`, one file each, and the log at the paths that C2SP names.
//!
//! * `evidence`: items in, one or many; `records`: what they were scored, and why.
//! * `subjects`, `standings`, `leaderboards`: what many records say; `reviews`: what people decide.
//! * `scorecards`, `keys`: what scores, and who may do what.
//! * `receipts`, `log`: proofs of what is kept.
//! * `events`: new records as they come; `health`: how the server is.

pub mod batch;
pub mod events;
pub mod evidence;
pub mod health;
pub mod keys;
pub mod leaderboards;
pub mod log;
pub mod receipts;
pub mod records;
pub mod reviews;
pub mod scorecards;
pub mod standings;
pub mod subjects;

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::{Response, StatusCode};
use karat_evidence::Moment;
use serde::Serialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::openapi;
use crate::problem::Problem;
use crate::state::App;

/// Every route, with its description.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(openapi::head())
        .routes(routes!(evidence::send, evidence::show))
        .routes(routes!(records::list))
        .routes(routes!(records::show))
        .routes(routes!(records::explanation))
        .routes(routes!(subjects::list))
        .routes(routes!(subjects::history))
        .routes(routes!(standings::list))
        .routes(routes!(standings::show))
        .routes(routes!(leaderboards::show))
        .routes(routes!(reviews::queue, reviews::decide))
        .routes(routes!(scorecards::list, scorecards::publish))
        .routes(routes!(scorecards::check))
        .routes(routes!(scorecards::show))
        .routes(routes!(scorecards::text))
        .routes(routes!(receipts::show))
        .routes(routes!(log::about))
        .routes(routes!(log::checkpoint))
        .routes(routes!(log::tile))
        .routes(routes!(keys::list, keys::make))
        .routes(routes!(keys::revoke))
        .routes(routes!(events::stream))
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::document))
}

/// An answer in JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Result<Response<Body>, Problem> {
    let body = serde_json::to_vec(value).map_err(|error| Problem::internal(&error))?;
    Ok(bytes(status, "application/json", body))
}

/// An answer of some media type.
pub(crate) fn bytes(status: StatusCode, media_type: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A moment of the log, as people read it.
pub(crate) fn written(moment: karat_store::Moment) -> String {
    Moment { milliseconds: moment.0 }.to_string()
}
