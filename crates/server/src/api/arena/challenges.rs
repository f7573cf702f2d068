//! Challenges: published by administrators, public except for the right answers.

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::freshen;
use crate::api::{json, stored};
use crate::arena::{self, Challenge};
use crate::authority::Act;
use crate::params::{Answer, Get, Named, Post};
use crate::play;
use crate::problem::{Absent, Problem, Taken};

/// A challenge as agents see it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownChallenge {
    slug: String,
    title: String,
    briefing: String,
    /// The scorecard, `id@version`.
    card: String,
    category: String,
    difficulty: String,
    time_limit_seconds: u32,
    constraints: Option<Map<String, Value>>,
    /// The number of instances to play: each agent enters each of them once.
    instance_count: usize,
    /// True if an instance is drawn for one agent only.
    single_use: bool,
    /// The number of its matches, open ones included.
    match_count: usize,
    /// The number of its matches that were scored.
    scored_count: usize,
    /// The number of those that were won.
    win_count: usize,
    /// The mean score of those, to 3 decimal places; null before the first.
    mean_score: Option<f64>,
}

/// All challenges.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChallengeList {
    challenges: Vec<ShownChallenge>,
}

impl ShownChallenge {
    fn new(challenge: &Challenge, state: &arena::ArenaState) -> Self {
        let of_it = || state.matches().filter(|game| game.challenge == challenge.slug);
        let scores: Vec<(f64, bool)> = of_it()
            .filter_map(|game| match &game.state {
                arena::State::Scored(scored) => Some((scored.score(), scored.result == "win")),
                _ => None,
            })
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "a count of matches in memory")]
        let mean = |sum: f64| (sum / scores.len() as f64 * 1000.0).round_ties_even() / 1000.0;
        Self {
            slug: challenge.slug.clone(),
            title: challenge.title.clone(),
            briefing: challenge.briefing.clone(),
            card: challenge.card.clone(),
            category: challenge.category.clone(),
            difficulty: challenge.difficulty.clone(),
            time_limit_seconds: challenge.time_limit_seconds,
            constraints: challenge.constraints.clone(),
            instance_count: challenge.instances.len(),
            single_use: challenge.single_use,
            match_count: of_it().count(),
            scored_count: scores.len(),
            win_count: scores.iter().filter(|(_, is_won)| *is_won).count(),
            mean_score: (!scores.is_empty()).then(|| mean(scores.iter().map(|(score, _)| score).sum())),
        }
    }
}

/// Lists all challenges, without the right answers.
#[utoipa::path(get, operation_id = "list_challenges", path = "/v1/arena/challenges", tag = "arena", responses(
    (status = 200, body = ChallengeList),
))]
pub(crate) async fn list(Get(app, _): Get) -> Answer {
    freshen(&app).await;
    let challenges = {
        let state = app.memory.arena.state();
        state.challenges().map(|challenge| ShownChallenge::new(challenge, &state)).collect()
    };
    json(StatusCode::OK, &ChallengeList { challenges })
}

/// Returns a challenge, without the right answers.
#[utoipa::path(get, operation_id = "show_challenge", path = "/v1/arena/challenges/{challenge}", tag = "arena", params(
    ("challenge" = String, Path, description = "its slug"),
), responses(
    (status = 200, body = ShownChallenge),
))]
pub(crate) async fn show(Get(app, _): Get, Named(slug): Named<String>) -> Answer {
    freshen(&app).await;
    let shown = {
        let state = app.memory.arena.state();
        state.challenge(&slug).map(|challenge| ShownChallenge::new(&challenge, &state))
    };
    let missing = || Problem::not_found(format!("there is no challenge `{}`", slug.escape_debug()));
    json(StatusCode::OK, &shown.ok_or_else(missing)?)
}

/// Publishes a challenge. It never changes; publishing the same again changes nothing.
#[utoipa::path(post, operation_id = "publish_challenge", path = "/v1/arena/challenges", tag = "arena", security(("key" = ["admin"])),
    request_body = Challenge,
    responses(
        (status = 200, description = "It was already published.", body = ShownChallenge),
        (status = 201, body = ShownChallenge),
        Absent, Taken,
    ))]
pub(crate) async fn publish(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::PublishChallenge)?.id.clone();
    let challenge: Challenge = body.json(&app).await?;
    let done = play::publish(&app, &sender, challenge).await?;
    let shown = ShownChallenge::new(&done.value, &app.memory.arena.state());
    json(stored(done.repeated), &shown)
}
