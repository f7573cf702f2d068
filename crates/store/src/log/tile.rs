//! Tiles: the places of the hashes of a tree, after C2SP `tlog-tiles`.

use std::fmt;
use std::str::FromStr;

use super::Hash;

/// Hashes of a full tile.
pub const TILE_HASHES: u64 = 256;
/// Levels of the tree from one level of tiles to the next: 256 = 2^8.
pub(super) const TILE_HEIGHT: u32 = 8;
/// The longest entry that a bundle of entries can hold: its length is written in two bytes.
pub const BUNDLE_ENTRY_MAX_BYTES: usize = u16::MAX as usize;
/// The highest level of tiles that the format has a path for.
const LEVEL_MAX: u8 = 63;

/// A place for up to 256 hashes that follow each other in one level of the tree. Those of level 0 are hashes of leaves,
/// those of level `n` roots of full tiles of level `n - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// The level, from 0.
    pub level: u8,
    /// The place within its level, from 0.
    pub number: u64,
}

impl Tile {
    /// Returns the number of its hashes in a tree of `size` leaves, 0 to 256.
    pub fn width(self, size: u64) -> u64 {
        let shift = u32::from(self.level) * TILE_HEIGHT;
        let hashes = size.checked_shr(shift).unwrap_or(0);
        hashes.saturating_sub(self.number.saturating_mul(TILE_HASHES)).min(TILE_HASHES)
    }

    /// Returns every tile of a tree of `size` leaves, level by level.
    pub fn of_tree(size: u64) -> impl Iterator<Item = Self> {
        (0..8).flat_map(move |level| {
            let hashes = size >> (u32::from(level) * TILE_HEIGHT);
            (0..hashes.div_ceil(TILE_HASHES)).map(move |number| Self { level, number })
        })
    }
}

/// A path of the format: a tile or a bundle of entries, and the number of its hashes or entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TilePath {
    /// `tile/<level>/<number>[.p/<width>]`.
    Hashes {
        /// The tile.
        tile: Tile,
        /// The number of its hashes, 1 to 256.
        width: u64,
    },
    /// `tile/entries/<number>[.p/<width>]`: the entries below the tile of level 0 with that number.
    Entries {
        /// The number of the tile of level 0.
        number: u64,
        /// The number of entries, 1 to 256.
        width: u64,
    },
}

impl fmt::Display for TilePath {
    /// ```
    /// use karat_store::log::{Tile, TilePath};
    /// let path = TilePath::Hashes { tile: Tile { level: 0, number: 1_234_067 }, width: 5 };
    /// assert_eq!(path.to_string(), "tile/0/x001/x234/067.p/5");
    /// assert_eq!("tile/0/x001/x234/067.p/5".parse(), Ok(path));
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, width) = match self {
            Self::Hashes { tile, width } => {
                write!(f, "tile/{}/", tile.level)?;
                (tile.number, *width)
            }
            Self::Entries { number, width } => {
                f.write_str("tile/entries/")?;
                (*number, *width)
            }
        };
        let mut groups = vec![number % 1000];
        let mut rest = number / 1000;
        while rest > 0 {
            groups.push(rest % 1000);
            rest /= 1000;
        }
        for (left, group) in groups.iter().enumerate().rev() {
            if left > 0 { write!(f, "x{group:03}/")? } else { write!(f, "{group:03}")? }
        }
        if width < TILE_HASHES { write!(f, ".p/{width}") } else { Ok(()) }
    }
}

impl FromStr for TilePath {
    type Err = String;

    /// Reads a path as the format writes it, and no other form of it.
    fn from_str(path: &str) -> Result<Self, String> {
        let refused = || format!("`{path}` is not a path of a tile: expected `tile/LEVEL/NUMBER[.p/WIDTH]`");
        let (level, rest) =
            path.strip_prefix("tile/").and_then(|rest| rest.split_once('/')).ok_or_else(refused)?;
        let (number, width) = match rest.split_once(".p/") {
            Some((number, width)) => (number, width.parse().map_err(|_| refused())?),
            None => (rest, TILE_HASHES),
        };
        let number = number
            .split('/')
            .try_fold(0u64, |sum, group| {
                let group: u64 = group.trim_start_matches('x').parse().ok()?;
                sum.checked_mul(1000)?.checked_add(group)
            })
            .ok_or_else(refused)?;
        let read = match level {
            "entries" => Self::Entries { number, width },
            level => {
                let level = level.parse().ok().filter(|level| *level <= LEVEL_MAX).ok_or_else(refused)?;
                Self::Hashes { tile: Tile { level, number }, width }
            }
        };
        // One spelling for each: what is written back must be what was read, and no tile is empty.
        if width > 0 && read.to_string() == path { Ok(read) } else { Err(refused()) }
    }
}

/// Returns a bundle of entries as the format writes it: each with its length before it in two bytes, the higher first.
/// None if an entry is too long.
pub fn bundle<'a>(entries: impl IntoIterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for entry in entries {
        let length = u16::try_from(entry.len()).ok()?;
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(entry);
    }
    Some(bytes)
}

/// Returns the hash at place `at` of the bytes of a tile.
pub(super) fn hash_at(tile: &[u8], at: u64) -> Option<Hash> {
    let start = usize::try_from(at).ok()?.checked_mul(Hash::BYTES)?;
    Hash::from_bytes(tile.get(start..start.checked_add(Hash::BYTES)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_of_the_specification_has_the_tiles_that_it_says() {
        let tiles: Vec<_> = Tile::of_tree(70_000).collect();
        let of_level = |level| tiles.iter().filter(|tile| tile.level == level).count();
        assert_eq!([of_level(0), of_level(1), of_level(2), of_level(3)], [274, 2, 1, 0]);
        assert_eq!(Tile { level: 1, number: 1 }.width(70_000), 17);
        assert_eq!(Tile { level: 0, number: 0 }.width(256), 256);
        assert_eq!(Tile { level: 1, number: 0 }.width(256), 1);
        assert_eq!(Tile { level: 9, number: 0 }.width(u64::MAX), 0);
        assert_eq!(Tile::of_tree(0).count(), 0);
    }

    #[test]
    fn paths_read_back() {
        for (path, read) in [
            ("tile/0/000", TilePath::Hashes { tile: Tile { level: 0, number: 0 }, width: 256 }),
            (
                "tile/63/x001/000.p/255",
                TilePath::Hashes { tile: Tile { level: 63, number: 1000 }, width: 255 },
            ),
            ("tile/entries/x999/999", TilePath::Entries { number: 999_999, width: 256 }),
        ] {
            assert_eq!(path.parse(), Ok(read));
            assert_eq!(read.to_string(), path);
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for path in [
            "", "tile", "tile/", "tile/0", "tile/0/", "tile/0/0", "tile/0/0000", "tile/00/000",
            "tile/64/000", "tile/0/001/000", "tile/0/x000/001", "tile/0/x001/x000", "tile/0/xx01/000",
            "tile/0/000.p/0", "tile/0/000.p/256", "tile/0/000.p/01", "tile/0/000.p/", "tile/-1/000",
            "tile/entries/+01", "tile/0/x999/x999/x999/x999/x999/x999/x999/999", "tile/0/000/../001",
            "/tile/0/000", "tile/0/000\n",
        ] {
            assert!(path.parse::<TilePath>().is_err(), "{path}");
        }
    }

    #[test]
    fn a_bundle_has_the_length_before_each_entry() {
        assert_eq!(bundle([b"ab".as_slice(), b""]).unwrap(), b"\0\x02ab\0\0");
        assert_eq!(bundle([vec![0; BUNDLE_ENTRY_MAX_BYTES + 1].as_slice()]), None);
    }
}
