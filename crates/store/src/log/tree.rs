//! A tree that grows: its right edge in memory, and which tiles each leaf changed.

use std::collections::BTreeSet;

use super::tile::{TILE_HASHES, TILE_HEIGHT, Tile};
use super::{Hash, ProofError};

/// The right edge of a tree: enough to add leaves and to know the root, some tens of kilobytes whatever the size.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    size: u64,
    /// Roots of the full subtrees, one for each bit of the size that is set, the largest first.
    peaks: Vec<Hash>,
    /// The bytes of the last tile of each level, where it is not full.
    edge: Vec<Vec<u8>>,
    /// The tiles that changed since they were last taken; those that got full in the meantime with their bytes.
    full: Vec<(Tile, Vec<u8>)>,
    partial: BTreeSet<u8>,
}

impl Tree {
    /// Loads the tree of `size` leaves whose tiles `read` gives.
    ///
    /// # Errors
    /// If `read` fails, or if a tile is shorter than a tree of that size needs.
    pub fn load<E: From<ProofError>>(
        size: u64,
        mut read: impl FnMut(Tile) -> Result<Vec<u8>, E>,
    ) -> Result<Self, E> {
        let mut tree = Self { size, ..Self::default() };
        let mut levels = Vec::new();
        for level in 0..8u8 {
            let hashes = size >> (u32::from(level) * TILE_HEIGHT);
            if hashes == 0 {
                break;
            }
            let width = usize::try_from(hashes % TILE_HASHES).unwrap_or(0) * Hash::BYTES;
            let tile = Tile { level, number: hashes / TILE_HASHES };
            let mut bytes = if width == 0 { Vec::new() } else { read(tile)? };
            if bytes.len() < width {
                return Err(ProofError::TileTooShort(tile).into());
            }
            bytes.truncate(width);
            levels.push(bytes);
        }
        // From the highest level down, so that the largest subtree comes first.
        for bytes in levels.iter().rev() {
            let mut peaks = Vec::new();
            for (at, hash) in bytes.chunks_exact(Hash::BYTES).filter_map(Hash::from_bytes).enumerate() {
                push_peak(&mut peaks, at as u64, hash, |_, _| {});
            }
            tree.peaks.extend(peaks);
        }
        tree.edge = levels;
        Ok(tree)
    }

    /// Returns the number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hash of the whole tree.
    pub fn root(&self) -> Hash {
        let root = self.peaks.iter().rev().copied().reduce(|right, left| Hash::of_children(left, right));
        root.unwrap_or_else(Hash::of_empty_tree)
    }

    /// Adds a leaf. Takes the time of two hashes on average, whatever the size.
    pub fn append(&mut self, leaf: Hash) {
        let (edge, full, partial) = (&mut self.edge, &mut self.full, &mut self.partial);
        push_peak(&mut self.peaks, self.size, leaf, |height, hash| {
            if height % TILE_HEIGHT != 0 {
                return;
            }
            let level = height / TILE_HEIGHT;
            let place = level as usize;
            if edge.len() <= place {
                edge.resize_with(place + 1, Vec::new);
            }
            let level = level as u8;
            let Some(bytes) = edge.get_mut(place) else { return };
            bytes.extend_from_slice(&hash.0);
            if bytes.len() == TILE_HASHES as usize * Hash::BYTES {
                let number = (self.size >> (u32::from(level) * TILE_HEIGHT)) / TILE_HASHES;
                full.push((Tile { level, number }, std::mem::take(bytes)));
                partial.remove(&level);
            } else {
                partial.insert(level);
            }
        });
        self.size += 1;
    }

    /// Returns the tiles that changed since the last call, each with all its hashes, in the order of levels and
    /// numbers.
    pub(crate) fn take_changed(&mut self) -> Vec<(Tile, Vec<u8>)> {
        let mut changed = std::mem::take(&mut self.full);
        for level in std::mem::take(&mut self.partial) {
            let number = (self.size >> (u32::from(level) * TILE_HEIGHT)) / TILE_HASHES;
            if let Some(bytes) = self.edge.get(usize::from(level)) {
                changed.push((Tile { level, number }, bytes.clone()));
            }
        }
        changed.sort_unstable_by_key(|(tile, _)| *tile);
        changed
    }
}

/// Puts a leaf at place `at` behind the roots of full subtrees in `peaks`, joining equal ones; `node` hears of every full
/// subtree that came to be, with its height.
fn push_peak(peaks: &mut Vec<Hash>, at: u64, leaf: Hash, mut node: impl FnMut(u32, Hash)) {
    node(0, leaf);
    let mut hash = leaf;
    for height in 0..at.trailing_ones() {
        let Some(left) = peaks.pop() else { break };
        hash = Hash::of_children(left, hash);
        node(height + 1, hash);
    }
    peaks.push(hash);
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Computes the root by the definition of RFC 9162, section 2.1.1, word by word.
    pub fn definition(leaves: &[Vec<u8>]) -> Hash {
        match leaves {
            [] => Hash::of_empty_tree(),
            [leaf] => Hash::of_leaf(leaf),
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                Hash::of_children(definition(left), definition(right))
            }
        }
    }

    pub fn leaves(count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|at| format!("entry {at}").into_bytes()).collect()
    }

    /// The eight entries and their roots by size that the implementations of Certificate Transparency are tested with.
    #[test]
    fn published_roots() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut tree = Tree::default();
        assert_eq!(tree.root().to_string(), roots[0]);
        for (leaf, root) in leaves.iter().zip(&roots[1..]) {
            tree.append(Hash::of_leaf(leaf));
            assert_eq!(tree.root().to_string(), *root);
        }
    }

    #[test]
    fn every_root_is_that_of_the_definition() {
        let leaves = leaves(600);
        let mut tree = Tree::default();
        for (at, leaf) in leaves.iter().enumerate() {
            assert_eq!(tree.root(), definition(&leaves[..at]), "{at}");
            tree.append(Hash::of_leaf(leaf));
        }
    }

    #[test]
    fn a_tree_loaded_from_its_tiles_goes_on_as_if_it_had_never_stopped() {
        let mut stored: BTreeMap<Tile, Vec<u8>> = BTreeMap::new();
        let mut whole = Tree::default();
        for round in 0..70_000u64 {
            if matches!(round, 0..=3 | 255..=257 | 511 | 513 | 65_535..=65_537 | 69_999) {
                stored.extend(whole.take_changed());
                let loaded = Tree::load(round, |tile| {
                    Ok::<_, ProofError>(stored.get(&tile).cloned().unwrap_or_default())
                });
                let loaded = loaded.unwrap();
                assert_eq!((loaded.size(), loaded.root()), (round, whole.root()));
                whole = loaded;
            }
            whole.append(Hash::of_leaf(&round.to_be_bytes()));
        }
        stored.extend(whole.take_changed());
        assert_eq!(stored.keys().copied().collect::<Vec<_>>(), Tile::of_tree(70_000).collect::<Vec<_>>());
        for (tile, bytes) in &stored {
            assert_eq!(bytes.len() as u64, tile.width(70_000) * Hash::BYTES as u64, "{tile:?}");
        }
    }

    #[test]
    fn a_tile_too_short_is_refused() {
        let short = Tree::load(3, |_| Ok::<_, ProofError>(vec![0; 64]));
        assert_eq!(short.unwrap_err(), ProofError::TileTooShort(Tile { level: 0, number: 0 }));
    }
}
