//! Harnesses: registered and revoked by administrators; and what one signed about a match.

use std::sync::Arc;

use karat_core::timestamp::Timestamp;
use karat_graders::arena::{HarnessStatement, HarnessWord};
use karat_store::log::VerifyingKey;
use serde_json::Value;

use super::{Done, uninterrupted, write};
use crate::arena::{ArenaState, Content, HARNESS_MAX_BYTES, Harness, Match, is_harness};
use crate::problem::{Code, Problem};
use crate::state::{App, Submission};

/// The member of a submission with the statement.
const FIELD: &str = "$.payload.metadata.harness_statement";

/// Registers the key of a harness. Registering the same again changes nothing; a key never changes.
///
/// # Errors
/// If id or key are not valid, or the id is taken by another key or a revoked one.
pub async fn register_harness(
    app: &Arc<App>,
    sender: &str,
    id: &str,
    key: &str,
) -> Result<Done<Arc<Harness>>, Problem> {
    let refused = |field: &str, detail: String| Err(Problem::new(Code::BadRequest, detail).at(field));
    if !is_harness(id) {
        let found = id.escape_debug();
        let expected = format!("1 to {HARNESS_MAX_BYTES} letters, digits, dots, hyphens and low lines");
        return refused("$.harness_id", format!("found `{found}`, expected {expected}"));
    }
    if let Err(error) = key.parse::<VerifyingKey>() {
        return refused("$.key", error.to_string());
    }
    let harness = Harness {
        harness_id: id.to_owned(),
        key: key.to_owned(),
        registered_at: app.clock.now().to_string(),
        revoked_at: None,
    };
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    uninterrupted(async move {
        let permit = app.memory.arena.permits.take(&harness.harness_id).await;
        if let Some(known) = app.memory.arena.state().harness(&harness.harness_id) {
            if known.revoked_at.is_none() && known.key == harness.key {
                return Ok(Done { value: known, repeated: true });
            }
            let detail = format!(
                "there is already a harness `{}` with another key, or a revoked one: choose another id",
                known.harness_id
            );
            return Err(Problem::new(Code::Conflict, detail).at("$.harness_id"));
        }
        write(&app, vec![Content::Harness(harness.clone())], batch).await?;
        drop(permit);
        Ok(Done { value: Arc::new(harness), repeated: false })
    })
    .await
}

/// Revokes the key of a harness: its signatures no longer count, those that were counted stay.
///
/// # Errors
/// If there is no such harness in force.
pub async fn revoke_harness(app: &Arc<App>, sender: &str, id: &str) -> Result<(), Problem> {
    let (app, id, batch) = (Arc::clone(app), id.to_owned(), Submission::from_sender(sender));
    uninterrupted(async move {
        let permit = app.memory.arena.permits.take(&id).await;
        let known = app.memory.arena.state().harness(&id).filter(|known| known.revoked_at.is_none());
        let missing = || Problem::not_found(format!("there is no harness `{}` in force", id.escape_debug()));
        let known = known.ok_or_else(missing)?;
        let revoked = Harness { revoked_at: Some(app.clock.now().to_string()), ..Harness::clone(&known) };
        write(&app, vec![Content::Harness(revoked)], batch).await?;
        drop(permit);
        Ok(())
    })
    .await
}

/// Returns what the harness signed about a match, if the submission, which arrived at `now`, has its statement. The harness is the one that the
/// submission names, or else that of the agent.
///
/// # Errors
/// If there is a statement, and it is not one of a registered harness about this match and this log.
pub(super) fn word_of(
    state: &ArenaState,
    game: &Match,
    agent_harness: Option<&str>,
    payload: &Value,
    now: Timestamp,
) -> Result<Option<HarnessWord>, Problem> {
    let refused = |detail: String| Err(Problem::new(Code::EvidenceRefused, detail).at(FIELD));
    let metadata = payload.get("metadata");
    let member = |name: &str| metadata.and_then(|it| it.get(name));
    let Some(note) = member("harness_statement") else { return Ok(None) };
    let Some(note) = note.as_str() else { return refused(String::from("expected a text: a signed note")) };
    let Some(nonce) = &game.match_nonce else {
        return refused(String::from("this match was entered before there were nonces to sign"));
    };
    let Some(id) = member("harness_id").and_then(Value::as_str).or(agent_harness) else {
        return refused(String::from(
            "expected `harness_id` beside it: neither submission nor agent names one",
        ));
    };
    let Some(key) = state.harness(id).and_then(|harness| harness.key_at(now)) else {
        let hint = "an administrator registers its key with POST /v1/arena/harnesses";
        return refused(format!("there is no harness `{}` with a key in force; {hint}", id.escape_debug()));
    };
    let text = match key.open(note) {
        Ok(text) => text,
        Err(error) => return refused(error.to_string()),
    };
    let steps = member("replay_log").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let answer = payload.get("answer").unwrap_or(&Value::Null);
    match HarnessStatement::of(&game.match_id, nonce, answer, steps).read(text) {
        Ok(word) => Ok(Some(word)),
        Err(error) => refused(error.to_string()),
    }
}
