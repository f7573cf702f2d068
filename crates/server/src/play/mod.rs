//! The actions of the arena: publish, register, enter, submit. Each is written to the log before
//! the answer is sent.
//!
//! * `check`: what is wrong with a challenge; `judge`: an answer becomes evidence, a record and a rating.
//! * `waiting`: answers that wait for the verdict of a judge.

mod check;
mod judge;
mod waiting;

use data_encoding::HEXLOWER;
use karat_graders::arena::MatchGrade;

use crate::arena::{
    Agent, AgentState, ArenaState, Challenge, Content, Draw, Drawn, Match, NAME_MAX_BYTES, NONCE_MAX_BYTES,
    Scored, State, StoredAgent, StoredMatch, Submitted, is_name, is_nonce,
};
use crate::clock::random;
use crate::content::Stored as _;
use crate::flows::milliseconds;
use crate::keys::{KeyRequest, Scope};
use crate::prelude::*;
use judge::{Bench, Ending, blinded, expired, too_late};
pub(crate) use waiting::{judge_waiting, void};

const MATCH_NONCE_DIGITS: usize = 32;

/// The number of hexadecimal digits of the blind of a submission.
const BLIND_DIGITS: usize = 32;

/// An agent that was just registered.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RegisteredAgent)]
pub struct Registered {
    #[serde(flatten)]
    pub agent: Agent,
    /// The commitment to the draw for its first match.
    pub next_commitment: String,
    /// The id of its key.
    pub key_id: String,
    /// The secret of its key. It is shown only here: the server keeps only its hash.
    pub secret: String,
}

/// A match whose answer was taken: scored, waiting for its verdict, or ended without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub game: Match,
    /// The position of its record in the log, once it is scored.
    pub record_position: Option<u64>,
    /// The blind of the digest of the submission; none in matches from before there were blinds.
    pub blind: Option<String>,
}

/// The request to enter a match.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub agent: &'a str,
    pub challenge: &'a str,
    /// True if the agent says that it plays without its memory.
    pub memoryless: bool,
    /// The part of the agent in drawing the instance.
    pub nonce: Option<&'a str>,
}

/// Publishes a challenge. Publishing the same again changes nothing.
pub async fn publish(
    app: &Arc<App>,
    sender: &str,
    challenge: Challenge,
) -> Result<Done<Arc<Challenge>>, Problem> {
    let pool = app.memory.cards().find(&challenge.card).map_err(|problem| problem.at("$.card"))?;
    let named = pool.name();
    if challenge.card != named {
        let found = challenge.card.escape_debug();
        let detail = format!("found `{found}`, expected its version, too: `{named}`");
        return Err(Problem::new(Code::BadRequest, detail).at("$.card"));
    }
    let judge = app.judging.judge();
    let mut challenge =
        app.checked(move || check::check(&challenge, &pool, &*judge).map(|()| challenge)).await?;
    let blind = random::<16>().map_err(|error| Problem::internal(&error))?;
    challenge.blind = Some(HEXLOWER.encode(&blind));
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    uninterrupted(async move {
        let permit = app.memory.arena.permits.take(&challenge.slug).await;
        if let Some(known) = app.memory.arena.state().challenge(&challenge.slug) {
            if challenge.is_same(&known) {
                return Ok(Done { value: known, repeated: true });
            }
            let detail = format!(
                "there is another challenge `{}`, and a challenge never changes: choose another slug",
                known.slug
            );
            return Err(Problem::new(Code::Conflict, detail).at("$.slug"));
        }
        app.append_one(batch.with_all([Content::Challenge(challenge.clone())])?).await?;
        drop(permit);
        Ok(Done { value: Arc::new(challenge), repeated: false })
    })
    .await
}

/// Registers an agent and creates its key.
pub async fn register_agent(
    app: &Arc<App>,
    sender: &str,
    name: &str,
    harness_id: Option<&str>,
) -> Result<Registered, Problem> {
    let refused = |field: &str, detail: String| Err(Problem::new(Code::BadRequest, detail).at(field));
    if !is_name(name) {
        let found = name.escape_debug();
        let expected = format!("3 to {NAME_MAX_BYTES} small letters, digits and hyphens, such as `bee-2`");
        return refused("$.agent_id", format!("found `{found}`, expected {expected}"));
    }
    if harness_id.is_some_and(|it| it.is_empty() || it.len() > 100 || it.chars().any(char::is_control)) {
        return refused("$.harness_id", String::from("expected 1 to 100 bytes, and no control character"));
    }
    let agent = Agent {
        agent_id: name.to_owned(),
        harness_id: harness_id.map(str::to_owned),
        registered_at: app.clock.now().to_string(),
    };
    let random = random::<32>().map_err(|error| Problem::internal(&error))?;
    let request = KeyRequest {
        name: format!("agent {name}"),
        scopes: [Scope::Read, Scope::WriteEvidence].into(),
        subject: Some(name.to_owned()),
        reports: None,
    };
    let made = request.make(random)?;
    let next_draw = draw(app)?;
    let next_commitment = next_draw.commitment(name);
    let content = Content::Agent(StoredAgent { agent: agent.clone(), next_draw: Some(next_draw) });
    let app = Arc::clone(app);
    let key_id = made.key.id.clone();
    let batch = Submission::from_sender(sender);
    uninterrupted(async move {
        let permit = app.memory.arena.permits.take(&agent.agent_id).await;
        if app.memory.arena.state().agent(&agent.agent_id).is_some() {
            let detail = format!(
                "there is already an agent `{}`; choose another name, or ask an administrator for a new key",
                agent.agent_id
            );
            return Err(Problem::new(Code::Conflict, detail).at("$.agent_id"));
        }
        let effect = Effect::Key(made.key.clone(), false);
        let batch = batch.with(made.key.item(false), Some(effect));
        app.append_one(batch.with_all([content])?).await?;
        drop(permit);
        Ok(Registered { agent, next_commitment, secret: made.secret, key_id })
    })
    .await
}

/// Enters an agent into a match, at an instance that is drawn from those it has not played. If it has entered this
/// challenge and not submitted yet, the answer is the same match.
pub async fn enter(app: &Arc<App>, sender: &str, entry: Entry<'_>) -> Result<Done<Arc<Match>>, Problem> {
    if entry.nonce.is_some_and(|nonce| !is_nonce(nonce)) {
        let detail = format!("expected 1 to {NONCE_MAX_BYTES} visible ASCII characters");
        return Err(Problem::new(Code::BadRequest, detail).at("$.nonce"));
    }
    let Entry { agent, challenge, memoryless, nonce } = entry;
    let (app, agent, slug) = (Arc::clone(app), agent.to_owned(), challenge.to_owned());
    let nonce = nonce.map(str::to_owned);
    let batch = Submission::from_sender(sender);
    uninterrupted(async move {
        let permit = app.memory.arena.permits.take(&agent).await;
        // Of a challenge whose instances are for one agent each, no two agents may draw at once.
        let turn = app.memory.arena.entries.take(&slug).await;
        let now = app.clock.now();
        expire(&app, &agent, now).await?;
        let fresh = draw(&app)?;
        let match_nonce = draw(&app)?.digits().chars().take(MATCH_NONCE_DIGITS).collect();
        let stored = {
            let state = app.memory.arena.state();
            let known = state
                .agent(&agent)
                .ok_or_else(|| Problem::unknown("agent", &agent, "an administrator registers agents"))?;
            let challenge = state.challenge(&slug).ok_or_else(|| {
                Problem::unknown("challenge", &slug, "GET /v1/arena/challenges lists them all").at("$.challenge")
            })?;
            if let Some(open) = known.open_match.as_deref().and_then(|id| state.game(id)) {
                if open.challenge == slug {
                    return Ok(Done { value: open, repeated: true });
                }
                let detail = match open.state {
                    State::Submitted(_) => format!(
                        "the answer to the match `{}` waits for its verdict, by which the rating for the next one is known",
                        open.match_id
                    ),
                    _ => format!(
                        "the match `{}` is open until {}: submit it first, or let it expire",
                        open.match_id, open.expires_at
                    ),
                };
                return Err(Problem::new(Code::Conflict, detail).at("$.challenge"));
            }
            let attempt_number = known.attempts.get(&slug).copied().unwrap_or(0).saturating_add(1);
            let match_id = format!("{agent}.{slug}.{attempt_number}");
            let open_draw = known.next_draw.unwrap_or(fresh);
            let drawn = drawn(&state, &challenge, known, &match_id, open_draw, nonce)?;
            let end = now.milliseconds.saturating_add(1000 * i64::from(challenge.time_limit_seconds));
            let mut game = Match {
                match_id,
                agent_id: agent.clone(),
                attempt_number,
                memoryless,
                seed: 0,
                started_at: now.to_string(),
                expires_at: Timestamp { milliseconds: end }.to_string(),
                match_nonce: Some(match_nonce),
                draw: Some(drawn),
                next_commitment: None,
                challenge: slug,
                state: State::Entered,
            };
            game.seed = challenge.instance(&game).map_or(0, |instance| instance.seed);
            StoredMatch { game, open_draw: Some(open_draw), next_draw: None }
        };
        let game = Arc::new(stored.game.clone());
        app.append_one(batch.with_all([Content::Match(Box::new(stored))])?).await?;
        drop((permit, turn));
        Ok(Done { value: game, repeated: false })
    })
    .await
}

/// Draws the instance of a match. If there was no commitment to the draw, as for agents that were registered before there were
/// any, the match says so.
fn drawn(
    state: &ArenaState,
    challenge: &Challenge,
    agent: &AgentState,
    match_id: &str,
    draw: Draw,
    agent_nonce: Option<String>,
) -> Result<Drawn, Problem> {
    let name = &agent.agent.agent_id;
    let unused = state.unused(challenge, agent);
    let place = draw.place(match_id, agent_nonce.as_deref(), unused.len());
    let Some(instance) = place.and_then(|place| unused.get(place)) else {
        let count = challenge.count();
        let whose = match challenge.single_use {
            true => String::from("each is for one agent only, and agents"),
            false => format!("each is rated once per agent, and `{name}`"),
        };
        let detail = format!(
            "`{}` has {count} instances: {whose} entered all of them; an administrator publishes a challenge with new \
             instances under another slug",
            challenge.slug
        );
        return Err(Problem::new(Code::Conflict, detail).at("$.challenge"));
    };
    Ok(Drawn {
        commitment: draw.commitment(name),
        committed_before: agent.next_draw.is_some(),
        agent_nonce,
        instance: *instance,
        among: u32::try_from(unused.len()).unwrap_or(u32::MAX),
        draw: None,
    })
}

fn draw(app: &App) -> Result<Draw, Problem> {
    app.clock.draw().map(Draw::new).map_err(|error| Problem::internal(&error))
}

/// Scores the submission of its agent to a match, which arrived at `now`. The same submission again gets the same answer. Where code
/// has to run, the submission is stored first; while there is no verdict on it, the answer says so.
pub async fn submit(
    app: &Arc<App>,
    sender: &str,
    id: &str,
    payload: Value,
    now: Timestamp,
) -> Result<Done<Answered>, Problem> {
    let (app, sender, id) = (Arc::clone(app), sender.to_owned(), id.to_owned());
    uninterrupted(async move {
        let find = || app.memory.arena.state().game(&id);
        let entered =
            find().ok_or_else(|| Problem::unknown("match", &id, "POST /v1/arena/matches enters one"))?;
        let agent = entered.agent_id.clone();
        let permit = app.memory.arena.permits.take(&agent).await;
        let game = find().unwrap_or(entered);
        match &game.state {
            State::Entered => {}
            State::Scored(scored) => return repeated(&app, &game, scored, &payload).await,
            State::Submitted(_) => {
                drop(permit);
                return waiting::repeated(&app, &game, &payload).await;
            }
            State::Expired(_) => return Err(too_late(&game)),
            State::Void(_) => return waiting::voided(&app, &game, &payload).await,
        }
        if milliseconds(&game.expires_at) < now.milliseconds {
            expire(&app, &agent, now).await?;
            return Err(too_late(&game));
        }
        let blind = draw(&app)?.digits().chars().take(BLIND_DIGITS).collect();
        let bench = bench(&app, &game, payload, blind, now)?;
        let runs_code = bench.evaluator.runs_code();
        // What has to be executed waits for it in the log: from here on neither a judge nor a restart costs the agent anything.
        let (bench, grade) =
            app.checked(move || bench.grade(None).map(|it| (bench, it)).map_err(Problem::from)).await?;
        let ending = ending(&app, &agent, &sender, false)?;
        if runs_code {
            let submitted = bench.submitted(ending.draws.0);
            app.append_one(Submission::from_sender(&sender).with_all([submitted])?).await?;
            drop(permit);
            let value = waiting::verdict(&app, &game.match_id).await?;
            return Ok(Done { value, repeated: false });
        }
        let value = settle(&app, bench, grade, ending).await?;
        drop(permit);
        Ok(Done { value, repeated: false })
    })
    .await
}

/// Ends the matches whose time limit has passed, so that they are shown as expired.
pub async fn expire_overdue(app: &Arc<App>) -> Result<(), Problem> {
    let now = app.clock.now();
    let overdue = app.memory.arena.state().overdue(now.milliseconds);
    if overdue.is_empty() {
        return Ok(());
    }
    let app = Arc::clone(app);
    uninterrupted(async move {
        for agent in overdue {
            let permit = app.memory.arena.permits.take(&agent).await;
            expire(&app, &agent, now).await?;
            drop(permit);
        }
        Ok(())
    })
    .await
}

/// Ends the match of `agent` if it expired before `now`. The caller has the permit.
async fn expire(app: &App, agent: &str, now: Timestamp) -> Result<(), Problem> {
    let next = draw(app)?;
    let ended = {
        let state = app.memory.arena.state();
        let known = state.agent(agent);
        let open = known.and_then(|known| state.game(known.open_match.as_deref()?));
        let Some((known, game)) = known.zip(open) else { return Ok(()) };
        // An answer that waits for its verdict came in time.
        if game.state != State::Entered || now.milliseconds <= milliseconds(&game.expires_at) {
            return Ok(());
        }
        let Some(challenge) = state.challenge(&game.challenge) else { return Ok(()) };
        expired(&game, &challenge, &known.career, (known.open_draw, next))?
    };
    let batch = Submission::of_server().with_all([Content::Match(Box::new(ended))])?;
    app.append_one(batch).await.map(drop)
}

/// Returns what grading a submission needs, which arrived at `now`.
fn bench(
    app: &App,
    game: &Arc<Match>,
    payload: Value,
    blind: String,
    now: Timestamp,
) -> Result<Bench, Problem> {
    let missing = |what: &str| Problem::internal(&format!("match `{}` has no {what}", game.match_id));
    let (challenge, harness_id, harness) = {
        let state = app.memory.arena.state();
        let known = state.agent(&game.agent_id).ok_or_else(|| missing("agent"))?;
        let challenge = state.challenge(&game.challenge).ok_or_else(|| missing("challenge"))?;
        let harness_id = known.agent.harness_id.clone();
        let harness = judge::word_of(&state, game, harness_id.as_deref(), &payload, now)?;
        (challenge, harness_id, harness)
    };
    let pool = app.memory.scorer(&challenge.card)?;
    let evaluator = pool.card.evaluator().ok_or_else(|| missing("evaluator"))?;
    let evaluator = challenge.with_files(evaluator).map_err(|_| missing("files that fit"))?;
    // If the clock was set back, the answer must still not come before the entry.
    let now = Timestamp { milliseconds: now.milliseconds.max(milliseconds(&game.started_at)) }.to_string();
    let game = Arc::clone(game);
    Ok(Bench { challenge, pool, evaluator, game, harness_id, harness, payload, blind, now })
}

/// Returns what settling the match of an agent needs now.
fn ending(app: &App, agent: &str, sender: &str, is_stored: bool) -> Result<Ending, Problem> {
    let next = draw(app)?;
    let state = app.memory.arena.state();
    let known =
        state.agent(agent).ok_or_else(|| Problem::internal(&format!("there is no agent `{agent}`")))?;
    let draws = (known.open_draw, next);
    Ok(Ending { career: known.career.clone(), draws, sender: sender.to_owned(), is_stored })
}

/// Scores and settles a graded submission, and stores everything.
async fn settle(app: &App, bench: Bench, grade: MatchGrade, ending: Ending) -> Result<Answered, Problem> {
    let game = Arc::clone(&bench.game);
    let judged = app.checked(move || bench.settle(grade, ending)).await?;
    let accepted = app.append_one(judged.submission).await.map_err(|problem| taken(&game, problem))?;
    let position = accepted.get(judged.record_place).map(|record| record.position);
    let missing = || Problem::internal(&"the store did not answer for every item");
    let record_position = Some(position.ok_or_else(missing)?);
    Ok(Answered { game: judged.game, record_position, blind: Some(judged.blind) })
}

/// Returns the problem of a match whose id was given to another item before ids were kept for the arena. The digests of a conflict
/// would tell the scores of an answer that may be sent again.
fn taken(game: &Match, problem: Problem) -> Problem {
    if problem.code != Code::Conflict {
        return problem;
    }
    let id = game.match_id.escape_debug();
    let detail =
        format!("there is evidence `{id}` from before the arena, so this match has no score: let it expire");
    Problem::new(Code::Conflict, detail)
}

/// Returns the earlier answer, if the same was submitted again.
async fn repeated(
    app: &App,
    game: &Match,
    scored: &Scored,
    payload: &Value,
) -> Result<Done<Answered>, Problem> {
    let missing = || Problem::internal(&"a scored match has no record");
    let record = app.find(Kind::Record, scored.record.clone()).await?.ok_or_else(missing)?;
    let blind = same(app, game, payload).await?.blind;
    let value = Answered { game: game.clone(), record_position: Some(record.position), blind };
    Ok(Done { value, repeated: true })
}

/// Returns the submission to a match as it was stored, with the key that sent it.
async fn stored_submission(app: &App, game: &Match) -> Result<(Submitted, String), Problem> {
    let id = game.in_state(State::Submitted(Submitted::default())).item_id();
    let missing = || Problem::internal(&"a submitted match has no submission");
    let item = app.find(Kind::Match, id).await?.ok_or_else(missing)?;
    let stored = Content::parse(&item.content).map_err(|error| Problem::internal(&error))?;
    match stored {
        Content::Match(stored) => match stored.game.state {
            State::Submitted(submitted) => Ok((submitted, item.entry.sender.unwrap_or_default())),
            _ => Err(Problem::internal(&"a submission is another state of a match")),
        },
        _ => Err(Problem::internal(&"a submission is not a state of a match")),
    }
}

/// Returns the stored submission, if it is the same as this one.
async fn same(app: &App, game: &Match, payload: &Value) -> Result<Submitted, Problem> {
    let (submitted, _) = stored_submission(app, game).await?;
    if canonical_json(payload) != canonical_json(&submitted.payload) {
        let detail = format!("the match `{}` was submitted before, with another answer", game.match_id);
        let [stored, given] =
            [&submitted.payload, payload].map(|payload| blinded(payload, submitted.blind.as_deref()));
        return Err(Problem::new(Code::Conflict, detail).with_digests(stored, given));
    }
    Ok(submitted)
}
