//! The arena over HTTP: challenges, public except for the right answers; agents, each with its own key; matches, entered and
//! submitted; ratings.

use axum::http::header::RETRY_AFTER;
use axum::response::IntoResponse as _;
use karat_stats::rating::arena::Arena as Rules;
use serde_json::Map;

use crate::api::{json, stored};
use crate::arena::{
    Agent, ArenaState, By, Career, Challenge, Instance, Match, Point, RatedAgent, Skill, SkillInterval,
    State as MatchState, ranked,
};
use crate::events::{self, Source, Watched};
use crate::params::limit;
use crate::play;
use crate::prelude::*;

/// Ends overdue matches before a read, and asks again for verdicts that are missing. If they cannot be written now, the next request
/// tries again.
pub(crate) async fn freshen(app: &Arc<App>) {
    // The problem is already in the log of the server.
    let _ = play::expire_overdue(app).await;
    let is_any_waiting = app.memory.arena.state().waiting().next().is_some();
    if is_any_waiting {
        let app = Arc::clone(app);
        tokio::spawn(async move { play::judge_waiting(&app).await });
    }
}

/// Returns the first `limit` of `rows`, and true if there are more.
fn cut<T>(rows: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let mut rows: Vec<T> = rows.take(limit.saturating_add(1)).collect();
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    (rows, has_more)
}

/// A challenge as agents see it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownChallenge {
    pub slug: String,
    pub title: String,
    pub briefing: String,
    /// The scorecard, `id@version`.
    pub card: String,
    pub category: String,
    pub difficulty: String,
    /// The rating of the challenge as an opponent, from its difficulty.
    pub opponent_points: i64,
    /// The score from which a match is won.
    pub win_from_points: f64,
    /// The score from which it is drawn.
    pub draw_from_points: f64,
    pub time_limit_seconds: u32,
    pub constraints: Option<Map<String, Value>>,
    /// The form of an answer as JSON Schema: what its scorecard reads.
    #[schema(value_type = BTreeMap<String, Value>)]
    pub answer_schema: Value,
    /// The form that the inputs of all instances share, as JSON Schema; null for a challenge of one instance.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    pub input_schema: Value,
    /// The paths of the files that each instance has; none for a challenge of one instance.
    pub workspace_files: Vec<String>,
    /// An instance for practice with its right answer, if the challenge has one.
    pub practice: Option<Instance>,
    /// The number of instances to play: each agent enters each of them once.
    pub instance_count: usize,
    /// True if an instance is drawn for one agent only.
    pub single_use: bool,
    /// The number of its matches, open ones included.
    pub match_count: usize,
    /// The number of its matches that were scored.
    pub scored_count: usize,
    /// The number of those that were won.
    pub win_count: usize,
    /// The mean score of those, to 3 decimal places; null before the first.
    pub mean_score: Option<f64>,
    /// The best match of each agent, the highest score first, of equal ones the earlier: at most ten.
    pub best: Vec<BestMatch>,
}

/// The best match of an agent at a challenge.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct BestMatch {
    pub agent_id: String,
    pub match_id: String,
    /// The score, 0 to 1000.
    pub score: f64,
}

/// All challenges.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ChallengeList {
    challenges: Vec<ShownChallenge>,
}

/// The most agents with their best match at a challenge.
const BEST: usize = 10;

/// The scores of matches.
#[derive(Default)]
struct Scores {
    all: Vec<f64>,
    win_count: usize,
}

impl Scores {
    fn of<'m>(matches: impl Iterator<Item = &'m Arc<Match>>) -> Self {
        let mut scores = Self::default();
        for game in matches {
            if let MatchState::Scored(scored) = &game.state {
                scores.all.push(scored.score());
                scores.win_count += usize::from(scored.result == "win");
            }
        }
        scores
    }

    fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a count of matches in memory")]
        let mean = self.all.iter().sum::<f64>() / self.all.len() as f64;
        (!self.all.is_empty()).then(|| (mean * 1000.0).round_ties_even() / 1000.0)
    }
}

impl ShownChallenge {
    pub(crate) fn new(app: &App, challenge: &Challenge, state: &ArenaState) -> Self {
        let matches: Vec<&Arc<Match>> =
            state.matches().filter(|game| game.challenge == challenge.slug).collect();
        let scores = Scores::of(matches.iter().copied());
        let mut best: Vec<BestMatch> = Vec::new();
        // The first entered first, so that of equal scores the earlier stays.
        for game in matches.iter().rev() {
            let MatchState::Scored(scored) = &game.state else { continue };
            let new = BestMatch {
                agent_id: game.agent_id.clone(),
                match_id: game.match_id.clone(),
                score: scored.score(),
            };
            match best.iter_mut().find(|it| it.agent_id == new.agent_id) {
                Some(old) if old.score >= new.score => {}
                Some(old) => *old = new,
                None => best.push(new),
            }
        }
        best.sort_by(|one, other| other.score.total_cmp(&one.score));
        best.truncate(BEST);
        let rules = Rules::default();
        let opponent = rules.difficulties.iter().find(|(name, _)| *name == challenge.difficulty);
        let card = app.memory.cards().find(&challenge.card).ok();
        let evaluator = card.as_ref().and_then(|pool| pool.card.evaluator());
        Self {
            slug: challenge.slug.clone(),
            title: challenge.title.clone(),
            briefing: challenge.briefing.clone(),
            card: challenge.card.clone(),
            category: challenge.category.clone(),
            difficulty: challenge.difficulty.clone(),
            opponent_points: opponent.map_or(0, |(_, points)| *points),
            win_from_points: rules.win_from_points,
            draw_from_points: rules.draw_from_points,
            time_limit_seconds: challenge.time_limit_seconds,
            constraints: challenge.constraints.clone(),
            answer_schema: evaluator.map_or_else(|| json!({}), |it| it.answer_schema()),
            input_schema: challenge.input_schema(),
            workspace_files: challenge.shared_files(),
            practice: challenge.practice.clone(),
            instance_count: challenge.instances.len(),
            single_use: challenge.single_use,
            match_count: matches.len(),
            scored_count: scores.all.len(),
            win_count: scores.win_count,
            mean_score: scores.mean(),
            best,
        }
    }
}

/// Lists all challenges, without the right answers.
#[utoipa::path(get, operation_id = "list_challenges", path = "/v1/arena/challenges", tag = "arena", responses(
    (status = 200, body = ChallengeList)))]
pub(crate) async fn list_challenges(Get(app, _): Get) -> Answer {
    freshen(&app).await;
    let challenges = {
        let state = app.memory.arena.state();
        state.challenges().map(|challenge| ShownChallenge::new(&app, challenge, &state)).collect()
    };
    json(StatusCode::OK, &ChallengeList { challenges })
}

/// Returns a challenge, without the right answers.
#[utoipa::path(get, operation_id = "show_challenge", path = "/v1/arena/challenges/{challenge}", tag = "arena", params(
    ("challenge" = String, Path, description = "its slug")), responses((status = 200, body = ShownChallenge)))]
pub(crate) async fn show_challenge(Get(app, _): Get, Named(slug): Named<String>) -> Answer {
    freshen(&app).await;
    let shown = {
        let state = app.memory.arena.state();
        state.challenge(&slug).map(|challenge| ShownChallenge::new(&app, &challenge, &state))
    };
    let missing = || Problem::unknown("challenge", &slug, "");
    json(StatusCode::OK, &shown.ok_or_else(missing)?)
}

/// Publishes a challenge. It never changes; publishing the same again changes nothing.
#[utoipa::path(post, operation_id = "publish_challenge", path = "/v1/arena/challenges", tag = "arena", security(("key" = ["admin"])),
    request_body = Challenge, responses((status = 200, description = "It was already published.", body = ShownChallenge),
    (status = 201, body = ShownChallenge), Absent, Taken))]
pub(crate) async fn publish_challenge(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::PublishChallenge)?.id.clone();
    let challenge: Challenge = body.json(&app).await?;
    let done = play::publish(&app, &sender, challenge).await?;
    let shown = ShownChallenge::new(&app, &done.value, &app.memory.arena.state());
    json(stored(done.repeated), &shown)
}

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

/// An agent with its ratings, titles and matches.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ShownAgent {
    #[serde(flatten)]
    pub agent: Agent,
    pub career: Career,
    /// The skill under Glicko-2.
    pub skill: Skill,
    /// Its place among all agents by skill; null before its first match.
    pub place: Option<Place>,
    /// The titles that it has, the highest first.
    pub titles: Vec<String>,
    /// The match that it may submit.
    pub open_match: Option<String>,
    /// The commitment to the draw for its next match; null while a match is open, and before the first match of an agent that was
    /// registered before there were any.
    pub next_commitment: Option<String>,
    /// Its matches at each challenge.
    pub challenges: Vec<AtChallenge>,
    /// The rating after each match, in the order in which they ended.
    pub history: Vec<Point>,
}

/// The place of an agent among all by skill.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AgentPlace)]
pub(crate) struct Place {
    /// The rank from 1.
    pub rank: usize,
    /// The best and the worst rank among agents whose intervals overlap.
    pub rank_range: [usize; 2],
    /// The number of agents that have a rank.
    pub ranked: usize,
    /// Two standard deviations to each side of the skill in full.
    pub interval: SkillInterval,
}

/// The matches of an agent at a challenge.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AgentAtChallenge)]
pub(crate) struct AtChallenge {
    pub challenge: String,
    pub category: String,
    /// The number of matches, open ones included.
    pub match_count: usize,
    /// The number of those that were scored.
    pub scored_count: usize,
    /// The number of those that were won.
    pub win_count: usize,
    /// The best score, 0 to 1000; null before the first.
    pub best_score: Option<f64>,
    /// The mean score, to 3 decimal places; null before the first.
    pub mean_score: Option<f64>,
}

impl ShownAgent {
    /// Returns the agent with that name.
    pub(crate) fn named(state: &ArenaState, name: &str) -> Result<Self, Problem> {
        let known = state.agent(name).ok_or_else(|| Problem::unknown("agent", name, ""))?.clone();
        let rows = ranked(state, By::Skill, None, 0);
        let own = rows.iter().find(|row| row.agent_id == name);
        let challenges =
            state.challenges().filter(|it| known.attempts.contains_key(&it.slug)).map(|challenge| {
                let is_own = |game: &&Arc<Match>| game.agent_id == name && game.challenge == challenge.slug;
                let scores = Scores::of(state.matches().filter(is_own));
                AtChallenge {
                    challenge: challenge.slug.clone(),
                    category: challenge.category.clone(),
                    match_count: state.matches().filter(is_own).count(),
                    scored_count: scores.all.len(),
                    win_count: scores.win_count,
                    best_score: scores.all.iter().copied().reduce(f64::max),
                    mean_score: scores.mean(),
                }
            });
        Ok(Self {
            place: own.and_then(|row| {
                Some(Place {
                    rank: row.rank,
                    rank_range: row.rank_range?,
                    ranked: rows.len(),
                    interval: row.interval,
                })
            }),
            challenges: challenges.collect(),
            next_commitment: known.next_commitment(),
            skill: state.skill(name),
            agent: known.agent,
            career: known.career,
            titles: known.titles,
            open_match: known.open_match,
            history: known.history,
        })
    }
}

/// Registers an agent. The secret of its key is in the answer and nowhere else.
#[utoipa::path(post, operation_id = "register_agent", path = "/v1/arena/agents", tag = "arena", security(("key" = ["admin"])), request_body = NewAgent,
    responses((status = 201, body = play::Registered), Taken))]
pub(crate) async fn register_agent(Post { app, caller, body }: Post) -> Answer {
    let sender = caller.key(&Act::RegisterAgent)?.id.clone();
    let new: NewAgent = body.json(&app).await?;
    let made = play::register_agent(&app, &sender, &new.agent_id, new.harness_id.as_deref()).await?;
    json(StatusCode::CREATED, &made)
}

/// Returns an agent: its ratings, its titles, its rating after each match.
#[utoipa::path(get, operation_id = "show_agent", path = "/v1/arena/agents/{agent}", tag = "arena", params(
    ("agent" = String, Path, description = "its name")), responses((status = 200, body = ShownAgent)))]
pub(crate) async fn show_agent(Get(app, _): Get, Named(name): Named<String>) -> Answer {
    freshen(&app).await;
    json(StatusCode::OK, &ShownAgent::named(&app.memory.arena.state(), &name)?)
}

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
pub(crate) struct WhichMatches {
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
    request_body = MatchRequest, responses((status = 200, description = "It was entered before.", body = EnteredMatch),
    (status = 201, body = EnteredMatch), Absent, Taken))]
pub(crate) async fn enter_match(Post { app, caller, body }: Post) -> Answer {
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
pub(crate) async fn submit_match(Named(id): Named<String>, Post { app, caller, body }: Post) -> Answer {
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
    params(("match" = String, Path, description = "the id of the match")), responses((status = 200, body = Match), Absent, Taken,
    ))]
pub(crate) async fn void_match(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<String>,
) -> Answer {
    let sender = caller.key(&Act::VoidMatch)?.id.clone();
    json(StatusCode::OK, &play::void(&app, &sender, &id).await?)
}

/// Lists matches, the last entered first.
#[utoipa::path(get, operation_id = "list_matches", path = "/v1/arena/matches", tag = "arena", params(WhichMatches), responses(
    (status = 200, body = MatchList)))]
pub(crate) async fn list_matches(Get(app, _): Get, Params(which): Params<WhichMatches>) -> Answer {
    let limit = limit(which.limit, 100, 1000)?;
    if let Some(state) = which.state.as_deref().filter(|state| !STATES.contains(state)) {
        let found = state.escape_debug();
        let expected = STATES.join(", ");
        refuse!(BadRequest at "state", "found `{found}`, expected one of {expected}");
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
    ("match" = String, Path, description = "its id")), responses((status = 200, body = Match)))]
pub(crate) async fn show_match(Get(app, _): Get, Named(id): Named<String>) -> Answer {
    freshen(&app).await;
    let game = app.memory.arena.state().game(&id);
    let game = game.ok_or_else(|| Problem::unknown("match", &id, ""))?;
    json(StatusCode::OK, &*game)
}

/// Streams changes of matches as server-sent events: `event: match`, `id` is the number of the change, `data` the match as it is now.
/// With the header `Last-Event-ID` the stream starts after that change, otherwise with the next one.
#[utoipa::path(get, operation_id = "stream_matches", path = "/v1/arena/events", tag = "arena", params(Watched,
    ("Last-Event-ID" = Option<u64>, Header, description = "the number of the last change that was received")), responses(
    (status = 200, content_type = "text/event-stream", body = String), Absent))]
pub(crate) async fn stream_matches(
    Get(app, caller): Get,
    headers: HeaderMap,
    Params(watched): Params<Watched>,
) -> Answer {
    let state = app.memory.arena.state();
    if let Some(name) = watched.agent.as_ref().filter(|name| state.agent(name).is_none()) {
        return Err(Problem::unknown("agent", name, ""));
    }
    if let Some(slug) = watched.challenge.as_ref().filter(|slug| state.challenge(slug).is_none()) {
        return Err(Problem::unknown("challenge", slug, ""));
    }
    let next = events::after_last(&headers)?.unwrap_or(state.change_count() as u64);
    Ok(events::stream(app, caller, Source::Matches(watched), next)?.into_response())
}

/// The parameters of the table.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WhichRatings {
    /// `rating`, the default, or `skill`, which has no categories.
    #[param(inline)]
    by: Option<By>,
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

/// Lists agents by rating, overall or in a category, or by skill with the ranks that its deviation allows.
#[utoipa::path(get, operation_id = "list_ratings", path = "/v1/arena/ratings", tag = "arena", params(WhichRatings), responses(
    (status = 200, body = RatingList)))]
pub(crate) async fn list_ratings(Get(app, _): Get, Params(which): Params<WhichRatings>) -> Answer {
    let limit = limit(which.limit, 100, 1000)?;
    let by = which.by.unwrap_or_default();
    if by == By::Skill && which.category.is_some() {
        refuse!(BadRequest at "by", "found `skill` with a category, expected `rating`: skill is over all categories");
    }
    freshen(&app).await;
    let state = app.memory.arena.state();
    let rows = ranked(&state, by, which.category.as_deref(), which.matches_min.unwrap_or(0));
    let (ratings, has_more) = cut(rows.into_iter(), limit);
    json(StatusCode::OK, &RatingList { category: which.category, ratings, has_more })
}
