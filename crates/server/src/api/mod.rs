//! The resources under `/v1`, one file each, and the log at the paths that C2SP names.
//!
//! * `traces`: spans of OpenTelemetry in. `evidence`: items in, one or many; `backfill`: history in; `records`: their scores, with explanations.
//! * `subjects`, `standings`, `leaderboards`: summaries of many records; `questions`: what else the command line asks; `reviews`: decisions of people.
//! * `scorecards`: the cards that score; `weights`: weights from outside for them; `keys`: permissions.
//! * `arena`: challenges, agents, matches and ratings.
//! * `flows`: tasks, plans and recordings of workflows.
//! * `receipts`, `log`: proofs that items are in the log.
//! * `events`: new records as they are stored; `deliveries`: what was sent of them; `health` and `gauges`: health and metrics.

pub(crate) mod arena;
mod backfill;
mod batch;
mod deliveries;
mod events;
mod evidence;
mod flows;
mod gauges;
mod health;
pub(crate) mod keys;
pub(crate) mod leaderboards;
mod log;
pub mod openapi;
pub(crate) mod questions;
mod receipts;
pub(crate) mod records;
pub mod reviews;
mod scorecards;
mod signers;
mod standings;
mod subjects;
mod traces;
mod weights;

use crate::prelude::*;
use serde::Serializer;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(openapi::head())
        .routes(routes!(evidence::send, evidence::show))
        .routes(routes!(traces::send))
        .routes(routes!(backfill::send))
        .routes(routes!(records::list))
        .routes(routes!(records::show))
        .routes(routes!(records::explanation))
        .routes(routes!(subjects::list))
        .routes(routes!(subjects::history))
        .routes(routes!(standings::list))
        .routes(routes!(standings::show))
        .routes(routes!(leaderboards::show))
        .routes(routes!(leaderboards::badge))
        .routes(routes!(questions::judges))
        .routes(routes!(questions::tasks))
        .routes(routes!(questions::trend))
        .routes(routes!(questions::stress))
        .routes(routes!(questions::compare))
        .routes(routes!(questions::grid))
        .routes(routes!(reviews::queue, reviews::decide))
        .routes(routes!(scorecards::list, scorecards::publish))
        .routes(routes!(scorecards::check))
        .routes(routes!(scorecards::show))
        .routes(routes!(scorecards::text))
        .routes(routes!(weights::list, weights::propose))
        .routes(routes!(weights::decide))
        .routes(routes!(receipts::show))
        .routes(routes!(log::about))
        .routes(routes!(log::cosigned))
        .routes(routes!(log::add_cosignatures))
        .routes(routes!(log::rotations))
        .routes(routes!(log::checkpoint))
        .routes(routes!(log::tile))
        .routes(routes!(keys::list, keys::make))
        .routes(routes!(keys::revoke))
        .routes(routes!(keys::withdraw))
        .routes(routes!(arena::list_challenges, arena::publish_challenge))
        .routes(routes!(arena::show_challenge))
        .routes(routes!(arena::register_agent))
        .routes(routes!(arena::show_agent))
        .routes(routes!(signers::list_harnesses, signers::register_harness))
        .routes(routes!(signers::revoke_harness))
        .routes(routes!(arena::list_matches, arena::enter_match))
        .routes(routes!(arena::show_match))
        .routes(routes!(arena::submit_match))
        .routes(routes!(arena::void_match))
        .routes(routes!(arena::list_ratings))
        .routes(routes!(arena::stream_matches))
        .routes(routes!(signers::list_recorders, signers::register_recorder))
        .routes(routes!(signers::revoke_recorder))
        .routes(routes!(flows::list_tasks, flows::post_task))
        .routes(routes!(flows::show_task))
        .routes(routes!(flows::read_task))
        .routes(routes!(flows::hand_in_plan))
        .routes(routes!(flows::show_plan))
        .routes(routes!(flows::read_plan))
        .routes(routes!(flows::deliver_recording))
        .routes(routes!(flows::read_recording))
        .routes(routes!(events::stream))
        .routes(routes!(deliveries::list))
        .routes(routes!(health::health))
        .routes(routes!(health::metrics))
        .routes(routes!(openapi::document))
}

/// Returns the status of something that was stored now, or before.
pub(crate) const fn stored(repeated: bool) -> StatusCode {
    if repeated { StatusCode::OK } else { StatusCode::CREATED }
}

/// Answers that something was done, and with nothing more.
pub(crate) fn done() -> Answer {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// Returns an answer in JSON.
pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Answer {
    let body = serde_json::to_vec(value).map_err(|error| Problem::internal(&error))?;
    Ok(bytes(status, "application/json", body))
}

/// Returns an answer in JSON whose last member, marked with [`later`] in `value`, is JSON that this server wrote, so
/// that it need not be parsed again.
pub(crate) fn json_ending(status: StatusCode, value: &impl Serialize, last: &[u8]) -> Answer {
    let mut body = Vec::with_capacity(1024 + last.len());
    serde_json::to_writer(&mut body, value).map_err(|error| Problem::internal(&error))?;
    let kept = body.strip_suffix(b"null}").map(<[u8]>::len);
    body.truncate(kept.ok_or_else(|| Problem::internal(&"the answer does not end with its last member"))?);
    body.extend_from_slice(last);
    body.push(b'}');
    Ok(bytes(status, "application/json", body))
}

/// Marks a member whose JSON [`json_ending`] appends at the end.
pub(crate) fn later<S: Serializer>(_: &Vec<u8>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_unit()
}

/// Returns an answer of the library as canonical JSON.
pub(crate) fn answered(answer: &impl Serialize) -> String {
    karat::answers::write(answer)
}

pub(crate) fn answer(status: StatusCode, answer: &impl Serialize) -> Response<Body> {
    bytes(status, "application/json", answered(answer).into_bytes())
}

pub(crate) fn bytes(status: StatusCode, media_type: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}
