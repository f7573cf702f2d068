//! The folder of a server: the store, the secret key of its log, and the public key to verify it.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use karat_store::Error;
use karat_store::log::Signer;
use karat_store::sqlite::{self, Sqlite};

use crate::clock::random;

/// The store.
pub const STORE: &str = "karat.db";
/// The rows of the index, which can be computed again from the store.
pub const INDEX: &str = "index.cache";
/// The name of the log and the secret key that signs it, in hexadecimal: two lines, readable only by the owner.
pub const SECRET: &str = "log.key";
/// The key that verifies the signatures of the log: `NAME+ID+KEY`.
pub const PUBLIC: &str = "log.pub";

/// Opens the store in `folder`; creates folder, store and key if they do not exist.
///
/// `name` names a new log: a text without blanks or `+`, preferably an address without its scheme. `None` picks a
/// random name.
///
/// # Errors
/// If the folder cannot be written, if it has a store without its key, or if the store cannot be opened.
pub fn open(folder: &Path, name: Option<&str>) -> Result<(Sqlite, Signer), Error> {
    fs::create_dir_all(folder).map_err(|error| refused("make", folder, &error))?;
    let (store, secret) = (folder.join(STORE), folder.join(SECRET));
    let signer = match signer(&secret)? {
        Some(signer) => signer,
        None if store.exists() => {
            return Err(Error::Failed(format!(
                "there is a store `{}` without the key that signs it, `{}`; put it back from a copy",
                store.display(),
                secret.display()
            )));
        }
        None => make_secret(folder, &secret, name)?,
    };
    let sqlite = if store.exists() { Sqlite::open(&store)? } else { Sqlite::create(&store)? };
    let public = folder.join(PUBLIC);
    let text = format!("{}\n", signer.verifying_key());
    if fs::read_to_string(&public).ok().as_deref() != Some(text.as_str()) {
        replace(folder, &public, &text, false).map_err(|error| refused("write", &public, &error))?;
    }
    Ok((sqlite, signer))
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
    sqlite::copy(store, &draft.join(STORE))?;
    // The start of a server checks which part of it is valid for the copy, and computes the rest.
    let _ = fs::copy(folder.join(INDEX), draft.join(INDEX));
    for (name, is_secret) in [(PUBLIC, false), (SECRET, true)] {
        let (from, to) = (folder.join(name), draft.join(name));
        match fs::read_to_string(&from) {
            _ if is_secret && !with_secret => {}
            Ok(text) => {
                replace(draft, &to, &text, is_secret).map_err(|error| refused("write", &to, &error))?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound && !is_secret => {}
            Err(error) => return Err(refused("read", &from, &error)),
        }
    }
    Ok(())
}

/// Returns the error of a file or folder that could not be read, created or written.
fn refused(what: &str, path: &Path, error: &std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Error::ReadOnly(path.to_owned()),
        ErrorKind::StorageFull => Error::Full(path.to_owned()),
        _ => Error::Failed(format!("cannot {what} `{}`: {error}", path.display())),
    }
}

/// Reads a key that signs, as [`SECRET`] has it. None if there is no such file.
///
/// # Errors
/// If the file cannot be read, or is not a key.
pub fn signer(path: &Path) -> Result<Option<Signer>, Error> {
    let Some(text) = read_secret(path).map_err(|error| refused("read", path, &error))? else {
        return Ok(None);
    };
    signer_of(&text).map(Some).ok_or_else(|| {
        Error::Failed(format!(
            "`{}` is not the key of a log: expected a line with its name and one with 64 hexadecimal digits",
            path.display()
        ))
    })
}

fn read_secret(path: &Path) -> std::io::Result<Option<String>> {
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(4096).read_to_string(&mut text)) {
        Ok(_) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn signer_of(text: &str) -> Option<Signer> {
    let mut lines = text.lines();
    let (name, digits) = (lines.next()?, lines.next()?.as_bytes());
    let mut secret = [0u8; 32];
    if digits.len() != 2 * secret.len() || lines.next().is_some() {
        return None;
    }
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Signer::new(name, &secret).ok()
}

fn make_secret(folder: &Path, path: &Path, name: Option<&str>) -> Result<Signer, Error> {
    let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let secret = random::<32>().map_err(Error::Failed)?;
    let name = match name {
        Some(name) => name.to_owned(),
        None => format!("karat.local/{}", hexadecimal(&random::<4>().map_err(Error::Failed)?)),
    };
    let signer = Signer::new(&name, &secret)?;
    replace(folder, path, &format!("{name}\n{}\n", hexadecimal(&secret)), true)
        .map_err(|error| refused("write", path, &error))?;
    Ok(signer)
}

/// Writes a file so that at every moment it is missing, the old one or the new one, but never partial.
fn replace(folder: &Path, path: &Path, text: &str, is_secret: bool) -> std::io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push("-new");
    let draft = PathBuf::from(name);
    // A draft left by a process that was stopped.
    let _ = fs::remove_file(&draft);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if is_secret { 0o600 } else { 0o644 });
    let written = options.open(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        File::open(folder)?.sync_all()
    });
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}
