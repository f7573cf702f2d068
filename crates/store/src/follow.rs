//! Following a log from outside: whether the head that it shows goes on from one that was kept, through changes of its
//! key. No input or output: the caller brings heads, receipts and tiles.

use crate::log::{
    Checkpoint, Hash, Keys, NoteError, ProofError, Tile, VerifyingKey, consistency, inclusion,
    verify_consistency, verify_inclusion,
};
use crate::receipt::Receipt;

/// The word of a log about itself.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// The checkpoint of its head.
    pub head: &'a str,
    /// The receipts of all changes of its key.
    pub rotations: &'a [Receipt],
}

/// A head that goes on from the one that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    /// The head.
    pub checkpoint: Checkpoint,
    /// The keys of the log so far.
    pub keys: Keys,
    /// The key that signed the head.
    pub key: VerifyingKey,
}

/// The reason why a head was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowError<E> {
    /// The log does not go on from what was kept, or cannot show that it does.
    Departed(Departure),
    /// Something could not be read.
    Unread(E),
}

/// The way in which a log departs from what was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Departure {
    /// The head that was kept is not one of the log: the keys do not belong to it.
    #[error("the head that was kept is not one of this log: {0}")]
    Kept(NoteError),
    /// The head that is shown is not signed as it should be.
    #[error("the head that the log shows: {0}")]
    Shown(NoteError),
    /// A change of the key does not hold.
    #[error("{0}")]
    Rotation(String),
    /// The log is shorter than it was.
    #[error("the log went back: it had {kept} entries, and shows {shown}")]
    WentBack {
        /// The number of entries that it had.
        kept: u64,
        /// The number of entries that it shows.
        shown: u64,
    },
    /// The log has another history.
    #[error("the log does not go on from its head of {kept} entries to that of {shown}: {why}")]
    Forked {
        /// The number of entries that it had.
        kept: u64,
        /// The number of entries that it shows.
        shown: u64,
        /// The step of the proof that failed.
        why: ProofError,
    },
}

/// Checks that the head of a log is signed by the key of its time, and goes on from the head `kept` before, if there is
/// one. `trusted` is any key of the log; `tile` reads the tiles of the tree of the head that is shown.
///
/// # Errors
/// If it does not, or if a tile cannot be read.
pub fn follow<E: From<ProofError>>(
    trusted: &VerifyingKey,
    kept: Option<&str>,
    shown: Shown<'_>,
    mut tile: impl FnMut(Tile) -> Result<Vec<u8>, E>,
) -> Result<Followed, FollowError<E>> {
    let departed = |departure| Err(FollowError::Departed(departure));
    let size = match Checkpoint::claimed(shown.head) {
        Ok((_, checkpoint)) => checkpoint.size,
        Err(error) => return departed(Departure::Shown(error)),
    };
    // Those that the log took in after this head are of a later one.
    let changes = shown.rotations.iter().filter(|receipt| receipt.index < size);
    let changes = changes.map(|receipt| receipt.rotation().map(|change| (receipt, change)));
    let changes = match changes.collect::<Result<Vec<_>, _>>() {
        Ok(changes) => changes,
        Err(problem) => return departed(Departure::Rotation(problem)),
    };
    let (receipts, changes): (Vec<_>, Vec<_>) = changes.into_iter().unzip();
    let keys = match Keys::follow(trusted, &changes) {
        Ok(keys) => keys,
        Err(problem) => return departed(Departure::Rotation(problem)),
    };
    let old = match kept.map(|kept| keys.open(kept)).transpose() {
        Ok(old) => old.map(|(checkpoint, _)| checkpoint),
        Err(error) => return departed(Departure::Kept(error)),
    };
    let (checkpoint, key) = match keys.open(shown.head) {
        Ok((checkpoint, key)) => (checkpoint, key.clone()),
        Err(error) => return departed(Departure::Shown(error)),
    };
    let Checkpoint { size, root } = checkpoint;
    if let Some(old) = old {
        if old.size > size {
            return departed(Departure::WentBack { kept: old.size, shown: size });
        }
        let path = consistency(old.size, size, &mut tile).map_err(FollowError::Unread)?;
        if let Err(why) = verify_consistency(old.size, size, &path, old.root, root) {
            return departed(Departure::Forked { kept: old.size, shown: size, why });
        }
    }
    for receipt in receipts {
        let path = inclusion(receipt.index, size, &mut tile).map_err(FollowError::Unread)?;
        let leaf = Hash::of_leaf(&receipt.entry.to_json());
        if let Err(error) = verify_inclusion(leaf, receipt.index, size, &path, root) {
            let at = receipt.index;
            let problem = format!("the change of the key is not the entry {at} of the log: {error}");
            return departed(Departure::Rotation(problem));
        }
    }
    Ok(Followed { checkpoint, keys, key })
}

/// Checks that a checkpoint of the log, such as one with cosignatures, is one of the history of a head that was followed.
///
/// # Errors
/// If it is not, or if a tile cannot be read.
pub fn is_earlier<E: From<ProofError>>(
    followed: &Followed,
    note: &str,
    tile: impl FnMut(Tile) -> Result<Vec<u8>, E>,
) -> Result<Checkpoint, FollowError<E>> {
    let Checkpoint { size, root } = followed.checkpoint;
    let (earlier, _) =
        followed.keys.open(note).map_err(|error| FollowError::Departed(Departure::Shown(error)))?;
    if earlier.size > size {
        return Err(FollowError::Departed(Departure::WentBack { kept: earlier.size, shown: size }));
    }
    let path = consistency(earlier.size, size, tile).map_err(FollowError::Unread)?;
    match verify_consistency(earlier.size, size, &path, earlier.root, root) {
        Ok(()) => Ok(earlier),
        Err(why) => Err(FollowError::Departed(Departure::Forked { kept: earlier.size, shown: size, why })),
    }
}
