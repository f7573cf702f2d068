//! A season: six programs play six challenges, round after round, as agents do over HTTP.

use std::sync::Arc;

use karat::Timestamp;
use serde_json::{Value, json};

use crate::NOW;
use crate::programs::{GAMES, Game, JUDGED, PROGRAMS, Played, Program, STEP_MILLISECONDS};
use karat_graders::arena::{HarnessStatement, HarnessWord, chain};
use karat_server::arena::Match;
use karat_server::keys::SERVER;
use karat_server::play;
use karat_server::problem::Problem;
use karat_server::registry::register;
use karat_server::signers::Harness;
use karat_server::state::App;
use karat_store::log::Signer;

/// The time of the first round: 2026-04-27T08:00:00Z.
const FIRST: Timestamp = Timestamp { milliseconds: 1_777_276_800_000 };
const ROUNDS: u32 = 24;
/// The harness that runs the programs.
const HARNESS: &str = "loop-2";
/// 42 hours from round to round.
const PAUSE_MILLISECONDS: i64 = 42 * 3_600_000;
/// Rounds of games whose answers are executed: one after each five others, half way to the next.
const JUDGED_ROUNDS: u32 = 4;
const JUDGED_EVERY: u32 = 5;
/// The time from the entry of the last matches to the start of the demo.
const LAST_MILLISECONDS: i64 = 2000;

/// A challenge that all play at the same time.
pub struct Round {
    /// The time at which it begins.
    pub moment: Timestamp,
    game: Game,
}

/// Returns all rounds, in the order of time.
pub fn rounds() -> impl Iterator<Item = Round> {
    let after = |pauses: u32| FIRST.milliseconds + i64::from(pauses) * PAUSE_MILLISECONDS;
    let moments = (0..ROUNDS).map(after).zip(GAMES.into_iter().cycle());
    let judged = (1..=JUDGED_ROUNDS).map(|round| after(round * JUDGED_EVERY) - PAUSE_MILLISECONDS / 2);
    let mut rounds: Vec<Round> = moments
        .chain(judged.zip(JUDGED.into_iter().cycle()))
        .map(|(milliseconds, game)| Round { moment: Timestamp { milliseconds }, game })
        .collect();
    rounds.sort_by_key(|round| round.moment);
    rounds.into_iter()
}

/// Publishes the challenges and registers the programs.
pub async fn begin(app: &Arc<App>) -> Result<(), Problem> {
    for game in GAMES.into_iter().chain(JUDGED) {
        play::publish(app, SERVER, game.challenge()).await?;
    }
    let key = harness()?.verifying_key().to_string();
    register::<Harness>(app, SERVER, HARNESS, &key).await?;
    for program in PROGRAMS {
        play::register_agent(app, SERVER, program.name, Some(program.harness_id)).await?;
    }
    Ok(())
}

/// Lets every program play a round.
pub async fn play(app: &Arc<App>, round: &Round) -> Result<(), Problem> {
    app.clock.put(round.moment);
    play::expire_overdue(app).await?;
    let mut finished: Vec<(Played, &Program, Arc<Match>)> = Vec::new();
    for program in &PROGRAMS {
        let game = enter(app, program, round.game).await?;
        let challenge = app.memory.arena.state().challenge(round.game.slug);
        let instance = challenge.as_ref().and_then(|challenge| challenge.instance(&game));
        let played = instance.and_then(|instance| round.game.play(program, instance, game.attempt_number));
        // A program that is still at work at the end of the time limit submits nothing.
        finished.extend(played.map(|played| (played, program, game)));
    }
    finished.sort_by_key(|(played, program, _)| (played.steps, program.name));
    for (played, program, game) in finished {
        let now = after(round.moment, played.steps);
        app.clock.put(now);
        let payload = payload(&played, program, &game, round.moment)?;
        play::submit(app, SERVER, &game.match_id, payload, now).await?;
    }
    Ok(())
}

/// Leaves two matches open, to be seen right after the start.
pub async fn enter_last(app: &Arc<App>) -> Result<(), Problem> {
    app.clock.put(Timestamp { milliseconds: NOW.milliseconds - LAST_MILLISECONDS });
    play::expire_overdue(app).await?;
    for (program, game) in PROGRAMS.iter().zip(GAMES.iter().skip(2)) {
        enter(app, program, *game).await?;
    }
    Ok(())
}

async fn enter(app: &Arc<App>, program: &Program, game: Game) -> Result<Arc<Match>, Problem> {
    let Program { name, memoryless, .. } = *program;
    let entry = play::Entry { agent: name, challenge: game.slug, memoryless, nonce: None };
    Ok(play::enter(app, SERVER, entry).await?.value)
}

/// Returns the key with which the harness of the programs signs. It is known to all, as everything of the demo.
fn harness() -> Result<Signer, Problem> {
    Signer::new(HARNESS, &[7; 32]).map_err(|error| Problem::internal(&error))
}

fn after(start: Timestamp, steps: u64) -> Timestamp {
    let milliseconds = steps.saturating_mul(STEP_MILLISECONDS);
    Timestamp {
        milliseconds: start.milliseconds.saturating_add(i64::try_from(milliseconds).unwrap_or(i64::MAX)),
    }
}

fn payload(played: &Played, program: &Program, game: &Match, start: Timestamp) -> Result<Value, Problem> {
    let nonce = game.match_nonce.as_deref().unwrap_or_default();
    let mut metadata = json!({ "harness_id": program.plays_with });
    if program.hands_in_log {
        let step = |call: &crate::programs::Call| {
            json!({
                "type": "tool_call",
                "ts": after(start, call.step).to_string(),
                "tool": call.tool,
                "input": call.input,
                "output": call.output,
                "duration_ms": STEP_MILLISECONDS,
            })
        };
        let log = chain(nonce, played.calls.iter().map(step).collect());
        // The harness of these programs clears their memory, and says so.
        if program.memoryless {
            let statement = HarnessStatement::of(&game.match_id, nonce, &played.answer, &log);
            let note = harness()?.sign(&statement.text(HarnessWord { memoryless: true }));
            metadata["harness_statement"] = note.map_err(|error| Problem::internal(&error))?.into();
        }
        metadata["replay_log"] = log.into();
    }
    Ok(json!({ "answer": played.answer, "metadata": metadata }))
}
