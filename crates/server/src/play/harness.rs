//! The statement of a harness about a match.

use karat_core::timestamp::Timestamp;
use karat_graders::arena::{HarnessStatement, HarnessWord};
use serde_json::Value;

use crate::arena::{ArenaState, Match};
use crate::problem::{Code, Problem};

/// The member of a submission with the statement.
const FIELD: &str = "$.payload.metadata.harness_statement";

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
