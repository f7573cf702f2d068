//! The registration of signers, and its revocation, each kind in its part of the log.

use karat_store::log::VerifyingKey;
use tokio::sync::RwLock;

use crate::basics::*;
use crate::problem::{Code, Problem};
use crate::signers::{Harness, ID, Recorder, Signer, is_id};
use crate::state::{App, Done, Submission, uninterrupted};
use crate::{arena, flows};

/// A kind of signer that this server keeps.
pub trait Registered: Signer {
    /// Returns all of its kind, by id, revoked ones included.
    fn all(app: &App) -> Vec<Arc<Self>>;
    /// Returns the lock for a change: two must not get the same id at once.
    fn turn(app: &App) -> &RwLock<()>;
    fn added_to(self, batch: Submission) -> Result<Submission, Problem>;
}

macro_rules! registered {
    ($type:ident, $content:path, $state:ident) => {
        impl Registered for $type {
            fn all(app: &App) -> Vec<Arc<Self>> {
                app.memory.$state.state().signers().map(Arc::clone).collect()
            }

            fn turn(app: &App) -> &RwLock<()> {
                &app.memory.$state.signers
            }

            fn added_to(self, batch: Submission) -> Result<Submission, Problem> {
                batch.with_all([$content(self)])
            }
        }
    };
}

registered!(Harness, arena::Content::Harness, arena);
registered!(Recorder, flows::Content::Recorder, flows);

/// Registers a signer. Registering the same again changes nothing; a key never changes.
pub async fn register<S: Registered>(
    app: &Arc<App>,
    sender: &str,
    id: &str,
    key: &str,
) -> Result<Done<Arc<S>>, Problem> {
    let field = format!("$.{}_id", S::NAME);
    let refused = |field: &str, detail: String| Err(Problem::new(Code::BadRequest, detail).at(field));
    if !is_id(id) {
        return refused(&field, format!("found `{}`, expected {ID}", id.escape_debug()));
    }
    let parsed = match key.parse::<VerifyingKey>() {
        Ok(parsed) => parsed,
        Err(error) => return refused("$.key", error.to_string()),
    };
    let signer = S::new(id.to_owned(), key.to_owned(), app.clock.now().to_string());
    let (app, batch) = (Arc::clone(app), Submission::from_sender(sender));
    uninterrupted(async move {
        let turn = S::turn(&app).write().await;
        let (id, key, _) = signer.parts();
        for known in S::all(&app) {
            let (known_id, known_key, revoked_at) = known.parts();
            if known_id == id {
                if revoked_at.is_none() && known_key == key {
                    return Ok(Done { value: known, repeated: true });
                }
                let detail = format!(
                    "there is already a {} `{id}` with another key, or a revoked one: choose another id",
                    S::NAME
                );
                return Err(Problem::new(Code::Conflict, detail).at(field));
            }
            // The same key under another name is still the same key.
            let is_twin = || known_key.parse::<VerifyingKey>().is_ok_and(|it| it.is_same_key(&parsed));
            if S::IS_ALONE && is_twin() {
                let detail = format!("the {} `{known_id}` has this key", S::NAME);
                return Err(Problem::new(Code::Conflict, detail).at("$.key"));
            }
        }
        app.append_one(signer.clone().added_to(batch)?).await?;
        drop(turn);
        Ok(Done { value: Arc::new(signer), repeated: false })
    })
    .await
}

/// Revokes a signer: its signatures count no more, and those that were counted stay.
pub(crate) async fn revoke<S: Registered>(app: &Arc<App>, sender: &str, id: &str) -> Result<(), Problem> {
    let (app, id, batch) = (Arc::clone(app), id.to_owned(), Submission::from_sender(sender));
    uninterrupted(async move {
        let turn = S::turn(&app).write().await;
        let is_wanted = |it: &Arc<S>| it.parts().0 == id && it.parts().2.is_none();
        let known = S::all(&app).into_iter().find(is_wanted).ok_or_else(|| {
            Problem::not_found(format!("there is no {} `{}` in force", S::NAME, id.escape_debug()))
        })?;
        let revoked = known.revoked(app.clock.now().to_string());
        app.append_one(revoked.added_to(batch)?).await?;
        drop(turn);
        Ok(())
    })
    .await
}
