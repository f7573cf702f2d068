//! The content of `karat serve --demo`: the examples through their scorecards, a season of matches between small programs
//! that really run, and a workflow, all through the code that serves requests. Times are fixed, so it is the same everywhere.
//!
//! * `evidence`: the examples, in the order of time; `events`: the decisions of reviewers meanwhile.
//! * `season`: the matches; [`programs`]: the players and their games.
//! * [`crossing`]: a task whose plans were executed and recorded before, and are replayed.
//! * [`judged`]: what a judge said about the answers that are executed, so that the demo needs none.

pub mod crossing;
mod events;
mod evidence;
pub mod judged;
pub mod programs;
mod season;

use std::sync::Arc;

use karat::Timestamp;
use karat_graders::execution::Judge;
use karat_store::Error;

use karat_server::problem::Problem;
use karat_server::state::App;

pub use evidence::BEGINNING;
use judged::Judged;

/// A moment after all others.
const END: Timestamp = Timestamp { milliseconds: i64::MAX };

/// The time at which the clock of the demo starts: 2026-06-08T12:00:00Z.
pub const NOW: Timestamp = Timestamp { milliseconds: 1_780_920_000_000 };

/// Fills an empty store. The clock must be stopped; afterwards it runs on from [`NOW`]. Answers that have to be executed were
/// judged before; whatever is played afterwards is judged by the judges of the server.
///
/// # Errors
/// If something cannot be written.
pub fn fill(app: &Arc<App>) -> Result<(), Error> {
    let judged = Judged::of_season().map_err(Error::Failed)?;
    fill_by(app, Arc::new(judged))
}

/// Fills an empty store as [`fill`] does, with this judge.
///
/// # Errors
/// If something cannot be written.
pub fn fill_by(app: &Arc<App>, judge: Arc<dyn Judge>) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("the demo cannot be prepared: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let told = |problem: Problem| Error::Failed(format!("the demo cannot be prepared: {}", problem.detail));
    app.judging.answer_by(Some(judge));
    let played = runtime.block_on(play(app));
    app.judging.answer_by(None);
    played.map_err(told)?;
    app.clock.put(NOW);
    app.clock.run();
    Ok(())
}

/// Adds evidence and matches, in the order of time.
async fn play(app: &Arc<App>) -> Result<(), Problem> {
    app.clock.put(BEGINNING);
    evidence::publish(app).await?;
    season::begin(app).await?;
    let mut rounds = season::rounds().peekable();
    let mut events = events::events().peekable();
    let mut has_crossed = false;
    for (moment, batches) in evidence::days(app).await? {
        // The time of a log does not fall, so what happened comes in its order.
        loop {
            let next_round = rounds.peek().map_or(END, |round| round.moment);
            if let Some(happened) = events.next_if(|it| it.moment <= moment.min(next_round)) {
                events::happen(app, happened).await?;
            } else if let Some(round) = rounds.next_if(|round| round.moment <= moment) {
                season::play(app, &round).await?;
            } else {
                break;
            }
        }
        if moment > crossing::POSTED && !std::mem::replace(&mut has_crossed, true) {
            crossing::play(app).await?;
        }
        app.clock.put(moment);
        for outcome in app.append(batches).await? {
            outcome.map_err(Problem::from)?;
        }
    }
    for round in rounds {
        season::play(app, &round).await?;
    }
    season::enter_last(app).await
}
