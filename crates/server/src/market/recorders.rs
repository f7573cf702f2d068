//! Recorders: registered and revoked by administrators.

use std::sync::Arc;

use karat_store::log::VerifyingKey;

use super::{uninterrupted, unknown, write};
use crate::arena::{HARNESS_MAX_BYTES, is_harness};
use crate::flows::{Content, Recorder};
use crate::play::Done;
use crate::problem::{Code, Problem};
use crate::state::{App, Submission};

/// Registers the key of a recorder. Registering the same again changes nothing; a key never changes.
///
/// # Errors
/// If id or key are not valid, or the id is taken by another key or a revoked one, or the key by another recorder.
pub async fn register_recorder(
    app: &Arc<App>,
    sender: &str,
    id: &str,
    key: &str,
) -> Result<Done<Arc<Recorder>>, Problem> {
    let refused = |field: &str, detail: String| Err(Problem::new(Code::BadRequest, detail).at(field));
    if !is_harness(id) {
        let found = id.escape_debug();
        let expected = format!("1 to {HARNESS_MAX_BYTES} letters, digits, dots, hyphens and low lines");
        return refused("$.recorder_id", format!("found `{found}`, expected {expected}"));
    }
    let parsed = match key.parse::<VerifyingKey>() {
        Ok(parsed) => parsed,
        Err(error) => return refused("$.key", error.to_string()),
    };
    let recorder = Recorder {
        recorder_id: id.to_owned(),
        key: key.to_owned(),
        registered_at: app.clock.now().to_string(),
        revoked_at: None,
    };
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    uninterrupted(async move {
        // One for all: two must not get the same key at once.
        let permit = app.memory.flows.recorders.write().await;
        {
            let state = app.memory.flows.state();
            if let Some(known) = state.recorder(&recorder.recorder_id) {
                if known.revoked_at.is_none() && known.key == recorder.key {
                    return Ok(Done { value: known, repeated: true });
                }
                let detail = format!(
                    "there is already a recorder `{}` with another key, or a revoked one: choose another id",
                    known.recorder_id
                );
                return Err(Problem::new(Code::Conflict, detail).at("$.recorder_id"));
            }
            // Who had two ids would be drawn twice. The same key under another name is no other key.
            let is_twin = |known: &&Arc<Recorder>| {
                known.verifying_key().is_some_and(|known| known.is_same_key(&parsed))
            };
            if let Some(twin) = state.recorders().find(is_twin) {
                let detail = format!("the recorder `{}` has this key", twin.recorder_id);
                return Err(Problem::new(Code::Conflict, detail).at("$.key"));
            }
        }
        write(&app, vec![Content::Recorder(recorder.clone())], batch).await?;
        drop(permit);
        Ok(Done { value: Arc::new(recorder), repeated: false })
    })
    .await
}

/// Revokes a recorder: it is drawn no more, and its signatures count no more. What it delivered before stays.
///
/// # Errors
/// If there is no such recorder in force.
pub async fn revoke_recorder(app: &Arc<App>, sender: &str, id: &str) -> Result<(), Problem> {
    let (app, id, batch) = (Arc::clone(app), id.to_owned(), Submission::from_sender(sender));
    uninterrupted(async move {
        let permit = app.memory.flows.recorders.write().await;
        let known = app.memory.flows.state().recorder(&id).filter(|known| known.revoked_at.is_none());
        let known = known.ok_or_else(|| {
            unknown("recorder", &id, "GET /v1/workflows/recorders lists those that are in force")
        })?;
        let revoked = Recorder { revoked_at: Some(app.clock.now().to_string()), ..Recorder::clone(&known) };
        write(&app, vec![Content::Recorder(revoked)], batch).await?;
        drop(permit);
        Ok(())
    })
    .await
}
