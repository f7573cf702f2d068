//! A season: six programs play four challenges, round after round, as agents do over HTTP.

use std::sync::Arc;

use karat::Timestamp;
use serde_json::{Value, json};

use crate::NOW;
use crate::programs::{GAMES, Game, PROGRAMS, Played, Program, STEP_MILLISECONDS};
use karat_server::arena::Match;
use karat_server::keys::SERVER;
use karat_server::play;
use karat_server::problem::Problem;
use karat_server::state::App;

/// The time of the first round: 2026-04-27T08:00:00Z.
const FIRST: Timestamp = Timestamp { milliseconds: 1_777_276_800_000 };
const ROUNDS: u32 = 24;
/// 42 hours from round to round.
const PAUSE_MILLISECONDS: i64 = 42 * 3_600_000;
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
    let moments = (0..ROUNDS)
        .map(|round| Timestamp { milliseconds: FIRST.milliseconds + i64::from(round) * PAUSE_MILLISECONDS });
    moments.zip(GAMES.into_iter().cycle()).map(|(moment, game)| Round { moment, game })
}

/// Publishes the challenges and registers the programs.
pub async fn begin(app: &Arc<App>) -> Result<(), Problem> {
    for game in GAMES {
        play::publish(app, SERVER, game.challenge()).await?;
    }
    for program in PROGRAMS {
        play::register(app, SERVER, program.name, Some(program.harness_id)).await?;
    }
    Ok(())
}

/// Lets every program play a round.
pub async fn play(app: &Arc<App>, round: &Round) -> Result<(), Problem> {
    app.clock.put(round.moment);
    play::expire_overdue(app).await?;
    let mut finished: Vec<(Played, &Program, Arc<Match>)> = Vec::new();
    for program in &PROGRAMS {
        let game = play::enter(app, SERVER, program.name, round.game.slug, program.memoryless).await?.value;
        let challenge = app.memory.arena.state().challenge(round.game.slug);
        let instance = challenge.as_ref().and_then(|challenge| challenge.instance(game.attempt_number));
        let played = instance.and_then(|instance| round.game.play(program, instance, game.attempt_number));
        // A program that is still at work at the end of the time limit submits nothing.
        finished.extend(played.map(|played| (played, program, game)));
    }
    finished.sort_by_key(|(played, program, _)| (played.steps, program.name));
    for (played, program, game) in finished {
        let now = after(round.moment, played.steps);
        app.clock.put(now);
        let payload = payload(&played, program, round.moment);
        play::submit(app, SERVER, &game.match_id, payload, now).await?;
    }
    Ok(())
}

/// Leaves two matches open, to be seen right after the start.
pub async fn enter_last(app: &Arc<App>) -> Result<(), Problem> {
    app.clock.put(Timestamp { milliseconds: NOW.milliseconds - LAST_MILLISECONDS });
    play::expire_overdue(app).await?;
    for (program, game) in PROGRAMS.iter().zip(GAMES.iter().skip(2)) {
        play::enter(app, SERVER, program.name, game.slug, program.memoryless).await?;
    }
    Ok(())
}

fn after(start: Timestamp, steps: u64) -> Timestamp {
    let milliseconds = steps.saturating_mul(STEP_MILLISECONDS);
    Timestamp {
        milliseconds: start.milliseconds.saturating_add(i64::try_from(milliseconds).unwrap_or(i64::MAX)),
    }
}

fn payload(played: &Played, program: &Program, start: Timestamp) -> Value {
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
        metadata["replay_log"] = played.calls.iter().map(step).collect();
    }
    json!({ "answer": played.answer, "metadata": metadata })
}
