//! The folder of a server: the store, the secret key of its log, and the public key to verify it.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use karat_store::Error;
use karat_store::log::{Checkpoint, Signer, VerifyingKey};
use karat_store::port::Backend as _;
use karat_store::secret::{Secret, refused, replace};
use karat_store::sqlite::{self, Sqlite};

use crate::basics::*;
use crate::keys::SERVER;
use crate::secret::draw;

/// The store.
pub const STORE: &str = "karat.db";
/// The rows of the index, which can be computed again from the store.
pub const INDEX: &str = "index.cache";
/// The name of the log and the secret key that signs it, in hexadecimal: two lines, readable only by the owner.
pub const SECRET: &str = "log.key";
/// The secret key that replaces it, while that is under way.
pub const NEXT: &str = "log.key-next";
/// The newest heads that witnesses cosigned.
pub const COSIGNED: &str = "log.cosigned";
/// The positions up to which the endpoints of webhooks have all events, and the last deliveries.
pub const DELIVERIES: &str = "webhooks.json";
/// The key that verifies the signatures of the log: `NAME+ID+KEY`.
pub const PUBLIC: &str = "log.pub";

/// Opens the store in `folder`; creates folder, store and key if they do not exist, and completes a change of the key that
/// was interrupted.
///
/// `name` names a new log: a text without blanks or `+`, preferably an address without its scheme. `None` picks a
/// random name.
///
/// # Errors
/// If the folder cannot be written, if it has a store without its key, or if the store cannot be opened.
pub fn open(folder: &Path, name: Option<&str>) -> Result<(Sqlite, Signer), Error> {
    fs::create_dir_all(folder).map_err(|error| refused("make", folder, &error))?;
    let (store, path) = (folder.join(STORE), folder.join(SECRET));
    settle(folder)?;
    let secret = match Secret::read(&path)? {
        Some(secret) => secret,
        None if store.exists() => {
            return Err(Error::Failed(format!(
                "there is a store `{}` without the key that signs it, `{}`; put it back from a copy",
                store.display(),
                path.display()
            )));
        }
        None => {
            let secret = draw(name)?;
            secret.write(&path)?;
            secret
        }
    };
    let signer = secret.signer()?;
    let sqlite = if store.exists() { Sqlite::open(&store)? } else { Sqlite::create(&store)? };
    publish(folder, &signer)?;
    Ok((sqlite, signer))
}

/// Writes the public key, if the file has another or is missing.
fn publish(folder: &Path, signer: &Signer) -> Result<(), Error> {
    let public = folder.join(PUBLIC);
    let text = format!("{}\n", signer.verifying_key());
    if fs::read_to_string(&public).ok().as_deref() == Some(text.as_str()) {
        return Ok(());
    }
    replace(&public, &text, false)
}

/// A change of the key of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// The position of its entry in the log.
    pub position: u64,
    /// The key before.
    pub old: VerifyingKey,
    /// The key from now on.
    pub new: VerifyingKey,
}

/// Replaces the key of the log in `folder` by a new one, which the old one signs into the log, and deletes the secret of
/// the old one. No server may be at work there. If it is interrupted, the log has the one key or the other; [`open`]
/// completes what is committed.
///
/// # Errors
/// If there is no store in `folder`, if a server works with it, or if it cannot be written.
pub fn rotate(folder: &Path, now: Timestamp) -> Result<Rotated, Error> {
    let store = folder.join(STORE);
    if !store.exists() {
        return Err(Error::Missing(store));
    }
    let (sqlite, signer) = open(folder, None)?;
    let old = signer.verifying_key().clone();
    let secret = draw(Some(old.name()))?;
    let new = secret.signer()?;
    let key = new.verifying_key().clone();
    let prepare = || secret.write(&folder.join(NEXT));
    let position =
        karat_store::rotate(&sqlite, (signer, new.clone()), (now, SERVER), prepare, || settle(folder))?;
    publish(folder, &new)?;
    Ok(Rotated { position, old, new: key })
}

/// Puts the secret of a change that is committed in its place. One that was prepared and not committed is left: it signs
/// nothing, and the next change overwrites it.
fn settle(folder: &Path) -> Result<(), Error> {
    let (store, next) = (folder.join(STORE), folder.join(NEXT));
    let Some(secret) = Secret::read(&next)? else { return Ok(()) };
    let signer = secret.signer()?;
    let head = Sqlite::open(&store).and_then(|store| Reader::new(store.reader()?).head());
    let is_committed = match head {
        Ok(head) => Checkpoint::open(&head.checkpoint, signer.verifying_key()).is_ok(),
        // A store of an older version has no such change, and a missing one none at all.
        Err(Error::Older(_) | Error::Missing(_)) => false,
        Err(error) => return Err(error),
    };
    if !is_committed {
        return Ok(());
    }
    let rename = || {
        fs::rename(&next, folder.join(SECRET))?;
        File::open(folder)?.sync_all()
    };
    match rename() {
        // Another process completed it in this moment.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(|error| refused("complete the change of the key", &next, &error)),
    }
}

/// Copies the folder with the store at `store` to `target`, from which a server can be started. A server may write to
/// the store meanwhile; the copy is of one moment. `target` is created, or is an empty folder, and appears only when
/// complete.
///
/// The key that signs the log is copied only if `with_secret` is set: anyone who can read it can sign another log.
///
/// # Errors
/// If there is something at `target`, the store cannot be read, or the copy cannot be written. Then `target` is
/// unchanged.
pub fn back_up(store: &Path, target: &Path, with_secret: bool) -> Result<(), Error> {
    let target: PathBuf = target.components().collect(); // without a trailing slash
    let (Some(name), Some(parent)) = (target.file_name(), target.parent()) else {
        return Err(Error::Failed(format!("`{}` cannot be the name of a new folder", target.display())));
    };
    let is_free = match fs::read_dir(&target) {
        Ok(mut files) => files.next().is_none(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    };
    if !is_free {
        return Err(Error::Exists(target));
    }
    let mut draft = name.to_owned();
    draft.push("-draft");
    let draft = parent.join(draft);
    fs::create_dir(&draft).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Error::Failed(format!(
            "`{}` is of a backup that is being made or was stopped; remove it if none is being made",
            draft.display()
        )),
        _ => refused("make", &draft, &error),
    })?;
    let made = copy_into(&draft, store, with_secret).and_then(|()| {
        // Makes room if it is an empty folder; it may also not exist.
        let _ = fs::remove_dir(&target);
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let rename = || {
            File::open(&draft)?.sync_all()?;
            fs::rename(&draft, &target)?;
            File::open(parent)?.sync_all()
        };
        rename().map_err(|error| refused("make", &target, &error))
    });
    if made.is_err() {
        let _ = fs::remove_dir_all(&draft);
    }
    made
}

fn copy_into(draft: &Path, store: &Path, with_secret: bool) -> Result<(), Error> {
    let folder = store.parent().unwrap_or(Path::new(""));
    // Before the store, so that the copy of the store has every head that is cosigned in the copy, and every entry told of.
    for name in [COSIGNED, DELIVERIES] {
        let _ = fs::copy(folder.join(name), draft.join(name));
    }
    sqlite::copy(store, &draft.join(STORE))?;
    // The start of a server checks which part of it is valid for the copy, and computes the rest.
    let _ = fs::copy(folder.join(INDEX), draft.join(INDEX));
    for (name, is_secret) in [(PUBLIC, false), (SECRET, true)] {
        let (from, to) = (folder.join(name), draft.join(name));
        match fs::read_to_string(&from) {
            _ if is_secret && !with_secret => {}
            Ok(text) => replace(&to, &text, is_secret)?,
            Err(error) if error.kind() == ErrorKind::NotFound && !is_secret => {}
            Err(error) => return Err(refused("read", &from, &error)),
        }
    }
    Ok(())
}
