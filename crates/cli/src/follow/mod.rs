//! Logs that are followed from outside, in a database or at the address of a server, and what a follower keeps of them.
//!
//! * `server`: requests to a server.

pub mod server;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use karat::text::clean;
use karat_core::facts::Digest;
use karat_evidence::canonical_json;
use karat_server::folder;
use karat_store::follow::{FollowError, Followed, Shown, follow, is_earlier};
use karat_store::log::{Checkpoint, ProofError, Tile, TilePath, VerifyingKey};
use karat_store::secret::replace;
use karat_store::{Reader, Receipt};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::KeyFile;
use crate::{receipt, store};
use karat_terminal::exit::Exit;
use karat_terminal::failure::Failure;
use karat_terminal::input::read_text;
use server::Server;

/// A log that is followed.
pub struct Log {
    /// Its name on the command line.
    pub name: String,
    source: Source,
}

enum Source {
    Database { reader: Box<Reader>, path: PathBuf },
    Server(Server),
}

/// Something that could not be read of a log.
struct Unread(Failure);

impl From<ProofError> for Unread {
    fn from(error: ProofError) -> Self {
        Self(Failure::new(format!("the tiles of the log do not match its head: {error}")))
    }
}

/// The head of a log, with the changes of its key.
pub struct Word {
    /// The checkpoint.
    pub head: String,
    rotations: Vec<Receipt>,
}

impl Log {
    /// Opens the log that `name` names: an address that begins with `http://` or `https://`, or a database.
    pub fn open(name: &str, key: KeyFile<'_>) -> Result<Self, Failure> {
        let source = if name.contains("://") {
            Source::Server(Server::new(name, key)?)
        } else {
            if key.path.is_some() {
                return Err(Failure::new("--api-key goes with the address of a server"));
            }
            Source::Database { path: store::database(name)?, reader: Box::new(store::reader(name)?) }
        };
        Ok(Self { name: name.to_owned(), source })
    }

    /// Returns the key that the log names itself, which nothing vouches for.
    pub fn key(&mut self) -> Result<VerifyingKey, Failure> {
        match &self.source {
            Source::Server(server) => server.key(),
            Source::Database { path, .. } => {
                receipt::key(&path.with_file_name(folder::PUBLIC).display().to_string())
            }
        }
    }

    /// Reads the head and the changes of the key.
    pub fn word(&mut self) -> Result<Word, Failure> {
        match &mut self.source {
            Source::Server(server) => {
                // In this order, so that no change before the head is missed.
                let head = server.head()?;
                Ok(Word { head, rotations: server.rotations()? })
            }
            Source::Database { reader, .. } => {
                let refused = |error| store::refused(&error);
                let head = reader.head().map_err(refused)?;
                let found = reader.rotations(head.size).map_err(refused)?;
                let receipts =
                    found.into_iter().map(|(position, _)| reader.receipt_at(position, head.clone()));
                let rotations = receipts.collect::<Result<_, _>>().map_err(refused)?;
                Ok(Word { head: head.checkpoint, rotations })
            }
        }
    }

    /// Checks that the log goes on from the head `kept`.
    pub fn follow(
        &mut self,
        trusted: &VerifyingKey,
        kept: Option<&str>,
        word: &Word,
    ) -> Result<Followed, Failure> {
        let size = Checkpoint::claimed(&word.head).map_or(0, |(_, head)| head.size);
        let shown = Shown { head: &word.head, rotations: &word.rotations };
        follow(trusted, kept, shown, |tile| self.tile(tile, size)).map_err(departed)
    }

    /// Reads the newest head that at least one witness cosigned, and checks that it is one of this log.
    pub fn cosigned(&mut self, followed: &Followed) -> Result<String, Failure> {
        let note = match &self.source {
            Source::Server(server) => server.cosigned()?,
            Source::Database { path, reader: _ } => {
                let path = path.with_file_name(folder::COSIGNED);
                let key = followed.key.clone();
                let mut reader = store::reader(&self.name)?;
                let heads = karat_server::cosigned::Heads::read(&path, None, &key, &mut reader);
                let found = heads.map_err(|error| store::refused(&error))?.newest(1);
                found.map(|head| head.checkpoint)
            }
        };
        let none = "no witness cosigned a head of this log so far";
        let note = note.ok_or_else(|| Failure::with_exit(Exit::VerificationFailed, none))?;
        let size = followed.checkpoint.size;
        is_earlier(followed, &note, |tile| self.tile(tile, size)).map_err(departed)?;
        Ok(note)
    }

    /// Sends a cosigned head to the server.
    pub fn send(&self, note: &str) -> Result<(), Failure> {
        match &self.source {
            Source::Server(server) => server.send(note),
            Source::Database { .. } => Err(Failure::new("cosignatures need a server")
                .help("name its address, or send the output to it later")),
        }
    }

    /// Returns true if it is at an address.
    pub fn is_server(&self) -> bool {
        matches!(self.source, Source::Server(_))
    }

    fn tile(&mut self, tile: Tile, size: u64) -> Result<Vec<u8>, Unread> {
        let path = TilePath::Hashes { tile, width: tile.width(size).max(1) };
        let found = match &mut self.source {
            Source::Server(server) => server.tile(&path).map(Some),
            Source::Database { reader, .. } => reader.resource(path).map_err(|error| store::refused(&error)),
        };
        let lacking = || Failure::new(format!("the log has no `{path}`, which its head needs"));
        found.and_then(|found| found.ok_or_else(lacking)).map_err(Unread)
    }
}

fn departed(error: FollowError<Unread>) -> Failure {
    match error {
        FollowError::Departed(departure) => {
            Failure::with_exit(Exit::VerificationFailed, clean(&departure.to_string()).into_owned())
        }
        FollowError::Unread(Unread(failure)) => failure,
    }
}

/// A file in which a follower keeps what it knows; no other process may work with it.
pub struct State {
    path: PathBuf,
    _lock: File,
}

impl State {
    /// Takes the right to work with the file at `path`, which need not exist.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let mut name = path.as_os_str().to_owned();
        name.push("-lock");
        let shown = path.display().to_string();
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&name);
        let lock = file.map_err(|error| Failure::writing(&shown, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                Err(Failure::new(format!("another process works with `{shown}`")))
            }
            Err(TryLockError::Error(error)) => Err(Failure::writing(&shown, &error)),
        }
    }

    /// Reads what is kept; none if there is no file.
    pub fn read<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        let path = self.path.display().to_string();
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            _ => {}
        }
        let text = read_text(&path, "the state", Exit::CouldNotRun)?;
        serde_json::from_str(&text).map(Some).map_err(|error| {
            Failure::new(format!("`{path}` is not what this command keeps: {error}"))
                .help("put it back from a copy: without it a log that went back is not noticed")
        })
    }

    /// Replaces what is kept, so that it survives a loss of power.
    pub fn write(&self, kept: &impl Serialize) -> Result<(), Failure> {
        let value = serde_json::to_value(kept).map_err(|error| Failure::new(error.to_string()))?;
        replace(&self.path, &(canonical_json(&value) + "\n"), false).map_err(|error| store::refused(&error))
    }
}

/// Writes two heads that contradict each other into files beside `state`, or in the current folder: each can be checked by
/// anyone with the key of the log. Returns `failure` with their names.
pub fn with_evidence(failure: Failure, state: Option<&Path>, kept: Option<&str>, shown: &str) -> Failure {
    if failure.exit() != Exit::VerificationFailed {
        return failure;
    }
    let folder = state.and_then(Path::parent).unwrap_or(Path::new(""));
    let files = kept.map(|kept| ("kept", kept)).into_iter().chain([("shown", shown)]);
    files.fold(failure, |failure, (what, note)| {
        let digest = Digest::of(note.as_bytes()).to_string();
        let digest = digest.trim_start_matches("sha256:").get(..16).unwrap_or_default();
        let path = folder.join(format!("head-{what}-{digest}.txt"));
        let path_name = path.display();
        match replace(&path, note, false) {
            Ok(()) => {
                failure.help(format!("the head that was {what} is in `{path_name}`: keep it, it is signed"))
            }
            Err(error) => failure.help(format!("the head that was {what} could not be saved: {error}")),
        }
    })
}
