//! Keys, for administrators: created, listed, revoked.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;

use super::json;
use crate::authority::{Act, Revoked};
use crate::body::{self, Incoming, expect_media};
use crate::clock::random;
use crate::effect::Effect;
use crate::guard::Caller;
use crate::keys::{Key, KeyRequest, Scope};
use crate::params::Named;
use crate::problem::{Code, Problem};
use crate::state::{App, Submission};

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KnownKey {
    /// The id of the key.
    id: String,
    /// The name of its holder.
    name: String,
    /// The scopes that it grants.
    scopes: Vec<Scope>,
    /// The only subject for which it may act.
    subject: Option<String>,
    /// The provenances of the facts that it may report; empty if it may report all.
    reports: Vec<String>,
}

/// A key that was just created.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MadeKey {
    /// The secret. It is shown only here: the server keeps only its hash.
    secret: String,
    #[serde(flatten)]
    key: KnownKey,
}

/// The keys that are not revoked.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KnownKeys {
    keys: Vec<KnownKey>,
}

impl From<&Key> for KnownKey {
    fn from(key: &Key) -> Self {
        Self {
            id: key.id.clone(),
            name: key.name.clone(),
            scopes: key.scopes.iter().copied().collect(),
            subject: key.subject.clone(),
            reports: key.reports.iter().cloned().collect(),
        }
    }
}

/// Lists the keys that are not revoked, without secrets.
#[utoipa::path(get, operation_id = "list_keys", path = "/v1/keys", tag = "keys", security(("key" = ["admin"])), responses(
    (status = 200, body = KnownKeys),
))]
pub(crate) async fn list(State(app): State<Arc<App>>, caller: Caller) -> Result<Response<Body>, Problem> {
    caller.may(&Act::ReadKeys)?;
    let keys = app.memory.keys().iter().map(|key| KnownKey::from(&**key)).collect();
    json(StatusCode::OK, &KnownKeys { keys })
}

/// Creates a key. Its secret is in the answer and nowhere else.
#[utoipa::path(post, operation_id = "make_key", path = "/v1/keys", tag = "keys", security(("key" = ["admin"])), request_body = KeyRequest, responses(
    (status = 201, body = MadeKey),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn make(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response<Body>, Problem> {
    let maker = Arc::clone(caller.key(&Act::MakeKey)?);
    expect_media(&headers, &["application/json"])?;
    let body =
        Incoming::new(&headers, body, app.options.body_bytes_max, app.options.body_timeout)?.whole().await?;
    let request: KeyRequest = body::json(&body)?;
    if app.memory.keys().iter().any(|key| key.name == request.name) {
        let name = request.name.escape_debug();
        let detail =
            format!("there is already a key named `{name}`; choose another name, or revoke that key first");
        return Err(Problem::new(Code::Conflict, detail).at("$.name"));
    }
    let random = random::<32>().map_err(|error| Problem::internal(&error))?;
    let made = request.make(random)?;
    let effect = Effect::Key(made.key.clone(), false);
    app.append_one(Submission::by(&maker).with(made.key.item(false), Some(effect))).await?;
    json(StatusCode::CREATED, &MadeKey { secret: made.secret, key: KnownKey::from(&made.key) })
}

/// Revokes a key, at once and for good.
#[utoipa::path(delete, operation_id = "revoke_key", path = "/v1/keys/{key}", tag = "keys", security(("key" = ["admin"])), params(
    ("key" = String, Path, description = "the id of the key"),
), responses(
    (status = 204, description = "It was revoked."),
    (status = 409, body = Problem, content_type = "application/problem+json"),
))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<String>,
) -> Result<Response<Body>, Problem> {
    caller.may(&Act::RevokeKey(None))?;
    let (key, is_last) = {
        let keys = app.memory.keys();
        let is_other = |key: &&Arc<Key>| key.id != id && key.allows(Scope::Admin);
        (keys.get(&id), keys.iter().find(is_other).is_none())
    };
    let key =
        key.ok_or_else(|| Problem::not_found(format!("there is no key `{}` in force", id.escape_debug())))?;
    let is_last_admin = is_last && key.allows(Scope::Admin);
    let revoker = caller.key(&Act::RevokeKey(Some(Revoked { is_last_admin })))?;
    let effect = Effect::Key(Key::clone(&key), true);
    app.append_one(Submission::by(revoker).with(key.item(true), Some(effect))).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}
