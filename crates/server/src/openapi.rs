//! The description of the API after OpenAPI 3.1, made from the routes themselves. It is committed at `docs/openapi.json`.

use axum::body::Body;
use axum::http::{Response, StatusCode};
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use crate::api;
use crate::problem::Problem;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "karat",
        version = "1",
        description = "Evidence in, a deterministic, explained score record out, kept in a log that nobody can change \
                       unnoticed. Errors are `application/problem+json` after RFC 9457 with a stable `code`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "evidence", description = "Items of evidence in, records out"),
        (name = "records", description = "What was scored, and why"),
        (name = "reviews", description = "What people decide"),
        (name = "scorecards", description = "The rules"),
        (name = "log", description = "Proofs of what is kept"),
        (name = "keys", description = "Who may do what"),
        (name = "server", description = "How the server is"),
    ),
)]
struct Head;

/// What the description begins with.
pub(crate) fn head() -> utoipa::openapi::OpenApi {
    let mut head = Head::openapi();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("`karat_` and 52 letters and digits. On loopback reading needs none."));
    let mut components = head.components.take().unwrap_or_default();
    components.add_security_scheme("key", SecurityScheme::Http(bearer.build()));
    head.components = Some(components);
    head
}

/// The whole description as JSON, with an end of line.
///
/// # Errors
/// None for the routes there are.
pub fn json() -> Result<String, Problem> {
    let (_, document) = api::routes().split_for_parts();
    let text = serde_json::to_string_pretty(&document).map_err(|error| Problem::internal(&error))?;
    Ok(format!("{text}\n"))
}

/// This description.
#[utoipa::path(get, operation_id = "read_description", path = "/v1/openapi.json", tag = "server", responses((status = 200, description = "OpenAPI 3.1")))]
pub(crate) async fn document() -> Result<Response<Body>, Problem> {
    Ok(api::bytes(StatusCode::OK, "application/json", json()?.into_bytes()))
}
