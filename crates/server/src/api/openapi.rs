//! The OpenAPI 3.1 description of the API, generated from the routes. It is committed at `docs/openapi.json`.

use std::sync::OnceLock;

use axum::body::Bytes;
use utoipa::OpenApi;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};

use crate::prelude::*;
use crate::problem::described;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "karat",
        version = "1",
        description = "Evidence in, a deterministic, explained score record out, kept in a log in which every \
                       change is noticed. Errors are `application/problem+json` after RFC 9457 with a stable `code`.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "evidence", description = "Items of evidence in, records out"),
        (name = "records", description = "Scores, and how they add up"),
        (name = "reviews", description = "Decisions of people"),
        (name = "scorecards", description = "The files that say how facts become scores"),
        (name = "arena", description = "Challenges, agents, matches and ratings"),
        (name = "workflows", description = "Tasks, plans, and recordings of their runs"),
        (name = "log", description = "Proofs that items are in the log"),
        (name = "keys", description = "Keys and their scopes"),
        (name = "server", description = "Health and metrics"),
    ),
    // Used only in parameters and problems, from which schemas are not collected.
    components(schemas(Problem, Trust)),
)]
struct Head;

pub(crate) fn head() -> utoipa::openapi::OpenApi {
    let mut head = Head::openapi();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("`karat_` and 52 letters and digits. On loopback, reading needs no key."));
    let mut components = head.components.take().unwrap_or_default();
    components.add_security_scheme("key", SecurityScheme::Http(bearer.build()));
    head.components = Some(components);
    head
}

/// Returns the whole description as JSON, with an end of line.
pub fn json() -> Result<String, Problem> {
    let (_, mut document) = super::routes().split_for_parts();
    let paths = std::mem::take(&mut document.paths.paths);
    // The rest of a path is a parameter like others here.
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.post, &mut item.delete].into_iter().flatten() {
            complete(operation);
            as_bytes(operation);
        }
    }
    let text = serde_json::to_string_pretty(&document).map_err(|error| Problem::internal(&error))?;
    Ok(format!("{text}\n"))
}

/// Adds the answers that come before a handler runs: from the guard, if a key lacks a scope, and if a parameter or a
/// body cannot be read.
fn complete(operation: &mut Operation) {
    let parameters = operation.parameters.as_deref().unwrap_or_default();
    let is_named = parameters.iter().any(|it| it.parameter_in == ParameterIn::Path);
    let has_body = operation.request_body.is_some();
    // No security is stated if reading may need a key; an empty list if nothing does.
    let is_open =
        operation.security.as_ref().is_some_and(|all| all.contains(&SecurityRequirement::default()));
    let given = [
        ("400", !parameters.is_empty() || has_body),
        ("401", !is_open),
        // Also a key for reading may lack the scope.
        ("403", !is_open),
        ("404", is_named),
        ("408", has_body),
        ("413", has_body),
        ("415", has_body),
        ("421", true),
        ("429", true),
        ("503", true),
    ];
    for (status, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        operation.responses.responses.entry(status.to_owned()).or_insert_with(described);
    }
}

/// Describes bytes as a binary string: a client could not use a list of numbers.
fn as_bytes(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && let Some(content) = response.content.get_mut("application/octet-stream")
        {
            let format = SchemaFormat::KnownFormat(KnownFormat::Binary);
            let bytes = ObjectBuilder::new().schema_type(Type::String).format(Some(format));
            content.schema = Some(bytes.build().into());
        }
    }
}

/// Returns this description.
#[utoipa::path(get, operation_id = "read_description", path = "/v1/openapi.json", tag = "server", security(()),
    responses((status = 200, description = "OpenAPI 3.1", content_type = "application/json", body = BTreeMap<String, Value>)))]
pub(crate) async fn document() -> Answer {
    /// The text, written once: it is long, and anyone may ask for it.
    static WRITTEN: OnceLock<Bytes> = OnceLock::new();
    let text = match WRITTEN.get() {
        Some(text) => text.clone(),
        None => {
            let text = Bytes::from(json()?);
            WRITTEN.get_or_init(|| text).clone()
        }
    };
    let mut response = super::bytes(StatusCode::OK, "application/json", Vec::new());
    *response.body_mut() = Body::from(text);
    Ok(response)
}
