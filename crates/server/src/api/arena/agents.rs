//! Agents: registered by administrators, each with its own key.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::freshen;
use crate::api::json;
use crate::arena::{Agent, Career, Point, Skill};
use crate::authority::Act;
use crate::params::{Answer, Get, Named, Post};
use crate::play;
use crate::problem::{Problem, Taken};

/// The request to register an agent.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAgent {
    /// Its name, and the subject of its records: 3 to 40 small letters, digits and hyphens.
    #[schema(example = "bee")]
    agent_id: String,
    /// The harness that it plays with; a submission that names another gets a warning.
    #[serde(default)]
    harness_id: Option<String>,
}

/// An agent that was just registered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RegisteredAgent {
    #[serde(flatten)]
    agent: Agent,
    /// The commitment to the draw for its first match.
    next_commitment: String,
    /// The id of its key.
    key_id: String,
    /// The secret of its key. It is shown only here: the server keeps only its hash.
    secret: String,
}

/// An agent with its ratings, titles and matches.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownAgent {
    #[serde(flatten)]
    agent: Agent,
    career: Career,
    /// The skill under Glicko-2.
    skill: Skill,
    /// The titles that it has, the highest first.
    titles: Vec<String>,
    /// The match that it may submit.
    open_match: Option<String>,
    /// The commitment to the draw for its next match; null while a match is open, and before the first match of an agent that was
    /// registered before there were any.
    next_commitment: Option<String>,
    /// The rating after each match, in the order in which they ended.
    history: Vec<Point>,
}

/// Registers an agent. The secret of its key is in the answer and nowhere else.
#[utoipa::path(post, operation_id = "register_agent", path = "/v1/arena/agents", tag = "arena", security(("key" = ["admin"])), request_body = NewAgent,
    responses(
        (status = 201, body = RegisteredAgent),
        Taken,
    ))]
pub(crate) async fn register(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::RegisterAgent)?.id.clone();
    let new: NewAgent = body.json(&app).await?;
    let made = play::register_agent(&app, &sender, &new.agent_id, new.harness_id.as_deref()).await?;
    let shown = RegisteredAgent {
        agent: made.agent,
        next_commitment: made.next_commitment,
        key_id: made.key_id,
        secret: made.secret,
    };
    json(StatusCode::CREATED, &shown)
}

/// Returns an agent: its ratings, its titles, its rating after each match.
#[utoipa::path(get, operation_id = "show_agent", path = "/v1/arena/agents/{agent}", tag = "arena", params(
    ("agent" = String, Path, description = "its name"),
), responses(
    (status = 200, body = ShownAgent),
))]
pub(crate) async fn show(Get(app, _): Get, Named(name): Named<String>) -> Answer {
    freshen(&app).await;
    let known = {
        let state = app.memory.arena.state();
        state.agent(&name).map(|known| (known.clone(), state.skill(&name)))
    };
    let (known, skill) =
        known.ok_or_else(|| Problem::not_found(format!("there is no agent `{}`", name.escape_debug())))?;
    let shown = ShownAgent {
        next_commitment: known.next_commitment(),
        skill,
        agent: known.agent,
        career: known.career,
        titles: known.titles,
        open_match: known.open_match,
        history: known.history,
    };
    json(StatusCode::OK, &shown)
}
