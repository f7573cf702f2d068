//! The Merkle log: what a tree is, how it grows, and how anyone checks it. Nothing here reads or writes a file.
//!
//! Hashing follows RFC 9162, section 2.1 (the same as RFC 6962), with SHA-256; tiles and checkpoints follow the
//! C2SP documents `tlog-tiles`, `tlog-checkpoint`, `tlog-cosignature` and `signed-note`.
//!
//! * `tree`: grows leaf by leaf, and says which tiles changed.
//! * `tile`: the places of hashes, by path and by number.
//! * `proof`: proofs out of tiles, and their verification from bytes alone.
//! * `note`: keys, and texts signed with them.
//! * `checkpoint`: the signed head of a tree.
//! * `cosignature`: the word of a witness about such a head.
//! * `rotation`: a change of the key, and all keys of a log.

mod checkpoint;
mod cosignature;
mod note;
mod proof;
mod rotation;
mod tile;
mod tree;

use std::fmt;

use karat_core::json::hexadecimal;
use sha2::{Digest as _, Sha256};

pub use checkpoint::Checkpoint;
pub use cosignature::{Witness, WitnessKey};
pub use note::{NoteError, Signer, VerifyingKey};
pub use proof::{ProofError, consistency, inclusion, root_of, verify_consistency, verify_inclusion};
pub use rotation::{Keys, Rotation};
pub use tile::{BUNDLE_ENTRY_MAX_BYTES, TILE_HASHES, Tile, TilePath, bundle};
pub use tree::Tree;

/// A hash of the tree: of a leaf, of an inner node, or of the whole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The number of its bytes.
    pub const BYTES: usize = 32;

    /// Returns the root of the tree without leaves: the SHA-256 of nothing.
    pub fn of_empty_tree() -> Self {
        Self(Sha256::digest([]).into())
    }

    /// Returns the hash of a leaf: SHA-256 over a zero byte and the entry.
    pub fn of_leaf(entry: &[u8]) -> Self {
        Self(Sha256::new().chain_update([0]).chain_update(entry).finalize().into())
    }

    /// Returns the hash of an inner node: SHA-256 over a one byte and the hashes of both children.
    pub fn of_children(left: Self, right: Self) -> Self {
        let mut bytes = [1; 1 + 2 * Self::BYTES];
        let (_, children) = bytes.split_at_mut(1);
        let (first, second) = children.split_at_mut(Self::BYTES);
        first.copy_from_slice(&left.0);
        second.copy_from_slice(&right.0);
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the hash with these `bytes`, if there are as many as a hash has.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&hexadecimal(&self.0)).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
