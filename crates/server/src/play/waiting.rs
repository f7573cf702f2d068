//! Answers that wait for their verdict: what has to be executed is in the log before a judge is asked.
//!
//! A match whose challenge runs code is settled in two steps. First the answer is checked and stored: from then on it was in
//! time. Then a judge runs it, and evidence, record and rating are stored. If the judge is missing or fails there is no
//! verdict, and the match waits: it neither scores 0 nor expires. It is judged again when the agent sends the same answer
//! again, after the next start, and beside reads of the arena; after some tries in vain only after a rest, which grows. If a fault of the challenge is found the match is void, which
//! changes no rating.

use tokio::time::timeout;

use super::judge::Ungraded;
use super::{Answered, Done, bench, draw, ending, same, settle, stored_submission};
use crate::arena::{Content, Match, State, Submitted, VoidCause, Voided};
use crate::prelude::*;

/// Returns the answer about a match that was submitted before and waits: it is judged again, if the submission is the same.
pub(super) async fn repeated(
    app: &Arc<App>,
    game: &Match,
    payload: &Value,
) -> Result<Done<Answered>, Problem> {
    same(app, game, payload).await?;
    let value = verdict(app, &game.match_id).await?;
    Ok(Done { value, repeated: true })
}

/// Returns the answer about a match that ended without a verdict, if the submission is the same.
pub(super) async fn voided(app: &App, game: &Match, payload: &Value) -> Result<Done<Answered>, Problem> {
    let blind = same(app, game, payload).await?.blind;
    let value = Answered { game: game.clone(), record_position: None, blind };
    Ok(Done { value, repeated: true })
}

/// Asks for the verdict on a match that waits, and for no longer than a caller should wait. What is not decided by then goes on.
pub(super) async fn verdict(app: &Arc<App>, id: &str) -> Result<Answered, Problem> {
    let work = uninterrupted(decide(Arc::clone(app), id.to_owned()));
    match timeout(app.options.judge.answer_within, work).await {
        Ok(done) => done,
        Err(_) => still_waiting(app, id).await,
    }
}

/// Judges every match that waits and does not rest, one after the other, unless that is going on or was just tried. The one that was
/// tried least comes first.
pub(crate) async fn judge_waiting(app: &Arc<App>) {
    if app.memory.arena.state().waiting().next().is_none() {
        return;
    }
    let Some(_turn) = app.judging.sweep() else { return };
    let mut tried = BTreeSet::new();
    loop {
        // Looked up each time: what came meanwhile goes before what was tried before.
        let next = {
            let state = app.memory.arena.state();
            app.judging.next_of(state.waiting().filter(|id| !tried.contains(*id)))
        };
        let Some(id) = next else { return };
        tried.insert(id.clone());
        // The log of the server has the reason; the next try may do better.
        let _ = uninterrupted(decide(Arc::clone(app), id)).await;
    }
}

/// Ends a match that waits for its verdict, without one. Its rating does not change.
pub(crate) async fn void(app: &Arc<App>, sender: &str, id: &str) -> Result<Match, Problem> {
    let (app, sender, id) = (Arc::clone(app), sender.to_owned(), id.to_owned());
    uninterrupted(async move {
        let find = || app.memory.arena.state().game(&id);
        let game =
            find().ok_or_else(|| Problem::unknown("match", &id, "GET /v1/arena/matches lists them"))?;
        if let State::Void(_) = game.state {
            return Ok(Match::clone(&game));
        }
        match end(&app, &game, VoidCause::Operator, Submission::from_sender(&sender)).await? {
            Some(ended) => Ok(ended),
            None => {
                let state = find().map_or("gone", |game| game.state.name());
                let detail = format!(
                    "the match `{}` is {state}, and no answer to it waits for a verdict",
                    game.match_id
                );
                Err(Problem::new(Code::Conflict, detail))
            }
        }
    })
    .await
}

/// Judges a match that waits, and settles it. Where there is no verdict, it goes on waiting.
async fn decide(app: Arc<App>, id: String) -> Result<Answered, Problem> {
    let Some(_turn) = app.judging.begin(&id) else { return still_waiting(&app, &id).await };
    let find = || app.memory.arena.state().game(&id).ok_or_else(|| Problem::unknown("match", &id, ""));
    let game = find()?;
    let State::Submitted(_) = game.state else { return still_waiting(&app, &id).await };
    if !app.judging.is_rested(&id) {
        return still_waiting(&app, &id).await;
    }
    let (submitted, sender) = stored_submission(&app, &game).await?;
    let Submitted { submitted_at, payload, blind } = submitted;
    let arrived = Timestamp::parse(&submitted_at).map_err(|error| Problem::internal(&error))?;
    let bench = bench(&app, &game, payload, blind.unwrap_or_default(), arrived)?;
    let judge = app.judging.judge();
    let graded = app.checked(move || Ok((bench.grade(Some(&*judge)), bench))).await?;
    let has_verdict = matches!(&graded.0, Ok(grade) if grade.evaluation.no_verdict().is_none());
    app.judging.tried(&id, has_verdict || matches!(&graded.0, Err(Ungraded::Challenge(_))));
    let (grade, bench) = match graded {
        (Ok(grade), bench) => (grade, bench),
        (Err(Ungraded::Submission(problem)), _) => {
            // It was checked before it was stored.
            return Err(Problem::internal(&problem.detail));
        }
        (Err(Ungraded::Challenge(why)), _) => {
            tracing::error!(%why, match_id = %id, "a fault of the challenge was found: the match is void");
            end(&app, &game, VoidCause::Challenge, Submission::of_server()).await?;
            return still_waiting(&app, &id).await;
        }
    };
    if let Some(why) = grade.evaluation.no_verdict() {
        tracing::warn!(%why, match_id = %id, "there is no verdict on an answer: it waits");
        return still_waiting(&app, &id).await;
    }
    let permit = app.memory.arena.permits.take(&game.agent_id).await;
    // It may have been ended while it was judged.
    let State::Submitted(_) = find()?.state else {
        drop(permit);
        return still_waiting(&app, &id).await;
    };
    let ending = ending(&app, &game.agent_id, &sender, true)?;
    let answered = settle(&app, bench, grade, ending).await?;
    drop(permit);
    Ok(answered)
}

/// Returns a match as it is now, with the blind of its submission.
async fn still_waiting(app: &App, id: &str) -> Result<Answered, Problem> {
    let game = app.memory.arena.state().game(id).ok_or_else(|| Problem::unknown("match", id, ""))?;
    let (submitted, _) = stored_submission(app, &game).await?;
    if let State::Scored(scored) = &game.state {
        // It was settled in between.
        return super::repeated(app, &game, scored, &submitted.payload).await.map(|done| done.value);
    }
    Ok(Answered { game: Match::clone(&game), record_position: None, blind: submitted.blind })
}

/// Ends a match without a verdict, if it still waits for one.
async fn end(app: &App, game: &Match, cause: VoidCause, batch: Submission) -> Result<Option<Match>, Problem> {
    let _permit = app.memory.arena.permits.take(&game.agent_id).await;
    let next = draw(app)?;
    let ended = {
        let state = app.memory.arena.state();
        let now = state.game(&game.match_id);
        let Some((now, agent)) = now.zip(state.agent(&game.agent_id)) else { return Ok(None) };
        let State::Submitted(submitted) = &now.state else { return Ok(None) };
        let submitted_at = submitted.submitted_at.clone();
        let void = Voided { submitted_at, voided_at: app.clock.now().to_string(), cause };
        now.ended(State::Void(void), agent.open_draw, next)
    };
    let game = ended.game.clone();
    app.append_one(batch.with_all([Content::Match(Box::new(ended))])?).await?;
    Ok(Some(game))
}
