//! Matches: entered, submitted, listed.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{cut, freshen};
use crate::api::{json, stored};
use crate::arena::{Match, State as MatchState};
use crate::authority::Act;
use crate::guard::Caller;
use crate::params::{Answer, Get, Named, Params, Post, limit};
use crate::play;
use crate::problem::{Absent, Expired, Problem, Taken, Unfit};
use crate::state::App;

/// The states of a match.
const STATES: [&str; 5] = ["entered", "submitted", "scored", "expired", "void"];

/// The seconds after which to ask again for a verdict.
const RETRY_SECONDS: u32 = 30;

/// The request to enter a match.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MatchRequest {
    /// The slug of the challenge.
    #[schema(example = "maze")]
    challenge: String,
    /// True if the agent plays without its memory: a claim. What counts is what its harness signs.
    #[serde(default)]
    memoryless: bool,
    /// Anything that the server cannot foretell, 1 to 64 visible ASCII characters: it takes part in drawing the instance.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64)]
    nonce: Option<String>,
}

/// A match that was entered, with what the agent needs to play it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EnteredMatch {
    #[serde(flatten)]
    game: Match,
    /// True if the agent had already entered it.
    repeated: bool,
    /// The briefing: the task in words.
    briefing: String,
    time_limit_seconds: u32,
    /// The input of the task.
    input: Value,
    /// The files that the agent may read.
    workspace_files: BTreeMap<String, String>,
    /// The path for the answer.
    submission: String,
}

/// The answer to a match.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct MatchSubmission {
    /// The answer, one member per field.
    #[schema(value_type = BTreeMap<String, Value>)]
    answer: Value,
    /// `harness_id`, `replay_log`, `harness_statement` and more.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    metadata: Value,
}

/// A scored match: its score, the findings on the answer, and the change of the rating.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ScoredMatch {
    #[serde(flatten)]
    game: Match,
    /// The random digits in the digest of the submission: with them the agent can show what it sent. Null in matches from before
    /// there were any.
    blind: Option<String>,
    /// The position of the record in the log.
    record_position: u64,
    /// The path of the receipt of the record.
    receipt: String,
}

/// A match whose answer was taken and has no score: it waits for its verdict, or ended without one.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnscoredMatch {
    #[serde(flatten)]
    game: Match,
    /// The random digits in the digest of the submission: with them the agent can show what it sent.
    blind: Option<String>,
}

/// The parameters of the list of matches.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// Only matches of this agent.
    agent: Option<String>,
    /// Only matches of this challenge.
    challenge: Option<String>,
    /// Only matches in this state: `entered`, `submitted`, `scored`, `expired` or `void`.
    state: Option<String>,
    /// The largest number of matches, 1 to 1000; 100 if not given.
    limit: Option<usize>,
}

/// Matches, the last entered first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MatchList {
    matches: Vec<Match>,
    /// True if there are more.
    has_more: bool,
}

/// Enters a match and starts the clock, at an instance drawn from those that the agent has not entered yet. An agent has one
/// open match at a time: entering the same challenge again gives the same match.
#[utoipa::path(post, operation_id = "enter_match", path = "/v1/arena/matches", tag = "arena", security(("key" = ["write:evidence"])),
    request_body = MatchRequest,
    responses(
        (status = 200, description = "It was entered before.", body = EnteredMatch),
        (status = 201, body = EnteredMatch),
        Absent, Taken,
    ))]
pub(crate) async fn enter(Post { app, caller, body }: Post) -> Answer {
    let key = Arc::clone(caller.key(&Act::Play(None))?);
    let agent = key.subject.clone().unwrap_or_default();
    let entry: MatchRequest = body.json(&app).await?;
    let MatchRequest { challenge, memoryless, nonce } = &entry;
    let asked = play::Entry { agent: &agent, challenge, memoryless: *memoryless, nonce: nonce.as_deref() };
    let done = play::enter(&app, &key.id, asked).await?;
    let game = Match::clone(&done.value);
    let challenge = app.memory.arena.state().challenge(&game.challenge);
    let instance = challenge.as_ref().and_then(|challenge| challenge.instance(&game));
    let shown = EnteredMatch {
        repeated: done.repeated,
        briefing: challenge.as_ref().map(|challenge| challenge.briefing.clone()).unwrap_or_default(),
        time_limit_seconds: challenge.as_ref().map_or(0, |challenge| challenge.time_limit_seconds),
        input: instance.map(|instance| instance.input.clone()).unwrap_or_default(),
        workspace_files: instance.map(|instance| instance.workspace_files.clone()).unwrap_or_default(),
        submission: format!("/v1/arena/matches/{}/submission", game.match_id),
        game,
    };
    json(stored(done.repeated), &shown)
}

/// Submits the answer, once and in time. Sending the same again gets the same result; another answer is refused. Where code has to
/// run, the answer may wait for its verdict: it was in time then, and neither scores 0 nor expires.
#[utoipa::path(post, operation_id = "submit_match", path = "/v1/arena/matches/{match}/submission", tag = "arena",
    security(("key" = ["write:evidence"])), params(("match" = String, Path, description = "the id of the match")),
    request_body = MatchSubmission,
    responses(
        (status = 200, description = "It was submitted before.", body = ScoredMatch),
        (status = 201, body = ScoredMatch),
        (status = 202, description = "It waits for its verdict (`submitted`): send the same again. Or it ended without one (`void`), because of \
            a fault of the challenge: the rating is unchanged.", body = UnscoredMatch),
        Taken, Expired, Unfit,
    ))]
pub(crate) async fn submit(Named(id): Named<String>, Post { app, caller, body }: Post) -> Answer {
    caller.may(&Act::Play(None))?;
    let payload: Value = body.json(&app).await?;
    let game = app.memory.arena.state().game(&id);
    let key = caller.key(&Act::Play(game.as_ref().map(|game| game.agent_id.as_str())))?;
    // An answer is in time if all of it has arrived in time.
    let now = app.clock.now();
    let done = play::submit(&app, &key.id, &id, payload, now).await?;
    let Some(record_position) = done.value.record_position else {
        let shown = UnscoredMatch { game: done.value.game, blind: done.value.blind };
        let is_waiting = matches!(shown.game.state, MatchState::Submitted(_));
        let mut response = json(StatusCode::ACCEPTED, &shown)?;
        if is_waiting {
            response.headers_mut().insert(RETRY_AFTER, RETRY_SECONDS.into());
        }
        return Ok(response);
    };
    let shown = ScoredMatch {
        game: done.value.game,
        blind: done.value.blind,
        record_position,
        receipt: format!("/v1/receipts/{record_position}"),
    };
    json(stored(done.repeated), &shown)
}

/// Ends a match whose answer waits for a verdict, without one: for a challenge that no judge can run. The rating of the agent does not
/// change, and it may enter the next match.
#[utoipa::path(post, operation_id = "void_match", path = "/v1/arena/matches/{match}/void", tag = "arena", security(("key" = ["admin"])),
    params(("match" = String, Path, description = "the id of the match")),
    responses(
        (status = 200, body = Match),
        Absent, Taken,
    ))]
pub(crate) async fn void(State(app): State<Arc<App>>, caller: Caller, Named(id): Named<String>) -> Answer {
    let sender = caller.key(&Act::VoidMatch)?.id.clone();
    json(StatusCode::OK, &play::void(&app, &sender, &id).await?)
}

/// Lists matches, the last entered first.
#[utoipa::path(get, operation_id = "list_matches", path = "/v1/arena/matches", tag = "arena", params(Which), responses(
    (status = 200, body = MatchList),
))]
pub(crate) async fn list(Get(app, _): Get, Params(which): Params<Which>) -> Answer {
    let limit = limit(which.limit, 100, 1000)?;
    if let Some(state) = which.state.as_deref().filter(|state| !STATES.contains(state)) {
        let found = state.escape_debug();
        let expected = STATES.join(", ");
        return Err(Problem::parameter("state", format!("found `{found}`, expected one of {expected}")));
    }
    freshen(&app).await;
    let is = |wanted: &Option<String>, found: &str| wanted.as_deref().is_none_or(|wanted| wanted == found);
    let (matches, has_more) = {
        let state = app.memory.arena.state();
        let found = state.matches().filter(|game| {
            is(&which.agent, &game.agent_id)
                && is(&which.challenge, &game.challenge)
                && is(&which.state, game.state.name())
        });
        cut(found.map(|game| Match::clone(game)), limit)
    };
    json(StatusCode::OK, &MatchList { matches, has_more })
}

/// Returns a match.
#[utoipa::path(get, operation_id = "show_match", path = "/v1/arena/matches/{match}", tag = "arena", params(
    ("match" = String, Path, description = "its id"),
), responses(
    (status = 200, body = Match),
))]
pub(crate) async fn show(Get(app, _): Get, Named(id): Named<String>) -> Answer {
    freshen(&app).await;
    let game = app.memory.arena.state().game(&id);
    let game =
        game.ok_or_else(|| Problem::not_found(format!("there is no match `{}`", id.escape_debug())))?;
    json(StatusCode::OK, &*game)
}
