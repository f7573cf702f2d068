//! What `karat serve --demo` shows: the examples through their scorecards, and a season of matches between small programs
//! that really run, all of it through the code that requests go through. Moments are fixed, so it is the same everywhere.
//!
//! * `evidence`: the examples, in the order of time; `happenings`: what reviewers said meanwhile.
//! * `season`: the matches; [`programs`]: who plays, and what.

mod evidence;
mod happenings;
pub mod programs;
mod season;

use std::sync::Arc;

use karat_store::{Error, Moment};

use karat_server::problem::Problem;
use karat_server::state::App;

/// The moment at which the demo begins to run: 2026-06-08T12:00:00Z.
pub const NOW: Moment = Moment(1_780_920_000_000);

/// Fills an empty store. The clock, which must be one that stands still, runs on from [`NOW`] afterwards.
///
/// # Errors
/// That something cannot be written.
pub fn fill(app: &Arc<App>) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::Failed(format!("the demo cannot be prepared: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let told = |problem: Problem| Error::Failed(format!("the demo cannot be prepared: {}", problem.detail));
    runtime.block_on(play(app)).map_err(told)?;
    app.clock.put(NOW);
    app.clock.run();
    Ok(())
}

/// Evidence and matches, in the order of time.
async fn play(app: &Arc<App>) -> Result<(), Problem> {
    app.clock.put(evidence::BEGINNING);
    evidence::publish(app).await?;
    season::begin(app).await?;
    let mut rounds = season::rounds().peekable();
    let mut happenings = happenings::happenings().peekable();
    for (moment, batches) in evidence::days(app).await? {
        while let Some(round) = rounds.next_if(|round| round.moment <= moment) {
            season::play(app, &round).await?;
        }
        while let Some(happened) = happenings.next_if(|happened| happened.moment <= moment) {
            happenings::happen(app, happened).await?;
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
