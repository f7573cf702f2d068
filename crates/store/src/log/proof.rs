//! Proofs that an entry is in a tree and that one tree goes on from another: made from tiles, verified from bytes alone.

use std::collections::BTreeMap;

use super::Hash;
use super::tile::{TILE_HASHES, TILE_HEIGHT, Tile, hash_at};

/// The reason why there is no proof, or why a proof is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The tree has no leaf at that place.
    #[error("a tree of {size} leaves has none with the index {index}")]
    NoSuchLeaf {
        /// The place asked for.
        index: u64,
        /// The number of leaves of the tree.
        size: u64,
    },
    /// A tree cannot go on from a larger one.
    #[error("a tree of {new} leaves cannot go on from one of {old}")]
    Backwards {
        /// The size of the older tree.
        old: u64,
        /// The size of the newer tree.
        new: u64,
    },
    /// The proof has too many or too few hashes for its place and size.
    #[error("the proof has not as many hashes as its place in the tree asks for")]
    WrongLength,
    /// The proof leads to another root.
    #[error("the proof leads to the root {found}, expected {expected}")]
    WrongRoot {
        /// The root that it should lead to.
        expected: Hash,
        /// The root that it leads to.
        found: Hash,
    },
    /// A tile has fewer hashes than the tree says.
    #[error("the tile {} of level {} has too few hashes", .0.number, .0.level)]
    TileTooShort(Tile),
}

/// Returns the proof that the leaf `index` is in the tree of `size` leaves, from the sibling of the leaf up (RFC 9162,
/// section 2.1.3.1). `read` gives the bytes of a tile, which may have more hashes than a tree of that size.
///
/// # Errors
/// If `read` fails, if there is no such leaf, or if a tile is too short.
pub fn inclusion<E: From<ProofError>>(
    index: u64,
    size: u64,
    read: impl FnMut(Tile) -> Result<Vec<u8>, E>,
) -> Result<Vec<Hash>, E> {
    if index >= size {
        return Err(ProofError::NoSuchLeaf { index, size }.into());
    }
    let mut nodes = Nodes::new(read);
    let (mut start, mut end) = (0, size);
    let mut path = Vec::new();
    while end - start > 1 {
        let middle = start + half(end - start);
        if index < middle {
            path.push(nodes.root(middle, end)?);
            end = middle;
        } else {
            path.push(nodes.root(start, middle)?);
            start = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// Returns the proof that the tree of `new` leaves goes on from the tree of its first `old` leaves (RFC 9162, section
/// 2.1.4.1). Empty if `old` is 0 or both are the same.
///
/// # Errors
/// If `read` fails, if `old` is larger, or if a tile is too short.
pub fn consistency<E: From<ProofError>>(
    old: u64,
    new: u64,
    read: impl FnMut(Tile) -> Result<Vec<u8>, E>,
) -> Result<Vec<Hash>, E> {
    if old > new {
        return Err(ProofError::Backwards { old, new }.into());
    }
    if old == 0 || old == new {
        return Ok(Vec::new());
    }
    let mut nodes = Nodes::new(read);
    let (mut start, mut end) = (0, new);
    let mut path = Vec::new();
    while end != old {
        let middle = start + half(end - start);
        if old <= middle {
            path.push(nodes.root(middle, end)?);
            end = middle;
        } else {
            path.push(nodes.root(start, middle)?);
            start = middle;
        }
    }
    // The verifier knows the root of the old tree, but not that of a subtree of it.
    if start > 0 {
        path.push(nodes.root(start, end)?);
    }
    path.reverse();
    Ok(path)
}

/// Returns the root of the tree of the first `size` leaves.
///
/// # Errors
/// If `read` fails, or if a tile is too short.
pub fn root_of<E: From<ProofError>>(
    size: u64,
    read: impl FnMut(Tile) -> Result<Vec<u8>, E>,
) -> Result<Hash, E> {
    if size == 0 { Ok(Hash::of_empty_tree()) } else { Nodes::new(read).root(0, size) }
}

/// Checks that `leaf` is at place `index` of the tree of `size` leaves whose root is `root` (RFC 9162, section 2.1.3.2).
///
/// # Errors
/// If `path` does not prove it; the error says why.
pub fn verify_inclusion(
    leaf: Hash,
    index: u64,
    size: u64,
    path: &[Hash],
    root: Hash,
) -> Result<(), ProofError> {
    if index >= size {
        return Err(ProofError::NoSuchLeaf { index, size });
    }
    let (mut node, mut last) = (index, size - 1);
    let mut found = leaf;
    for &sibling in path {
        if last == 0 {
            return Err(ProofError::WrongLength);
        }
        if node & 1 == 1 || node == last {
            found = Hash::of_children(sibling, found);
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            found = Hash::of_children(found, sibling);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    if last != 0 {
        return Err(ProofError::WrongLength);
    }
    same_root(root, found)
}

/// Checks that the tree of `new` leaves with the root `new_root` goes on from the tree of `old` leaves with the root
/// `old_root` (RFC 9162, section 2.1.4.2). Every tree goes on from the empty one.
///
/// # Errors
/// If `path` does not prove it; the error says why.
pub fn verify_consistency(
    old: u64,
    new: u64,
    path: &[Hash],
    old_root: Hash,
    new_root: Hash,
) -> Result<(), ProofError> {
    if old > new {
        return Err(ProofError::Backwards { old, new });
    }
    if old == 0 || old == new {
        if !path.is_empty() {
            return Err(ProofError::WrongLength);
        }
        return same_root(if old == 0 { Hash::of_empty_tree() } else { new_root }, old_root);
    }
    // A full old tree is a subtree of the new one, and its root begins the path unsaid.
    let first = old.is_power_of_two().then_some(&old_root);
    let mut hashes = first.into_iter().chain(path);
    let start = *hashes.next().ok_or(ProofError::WrongLength)?;
    let trailing = (old - 1).trailing_ones();
    let (mut node, mut last) = ((old - 1) >> trailing, (new - 1) >> trailing);
    let (mut old_found, mut new_found) = (start, start);
    for &sibling in hashes {
        if last == 0 {
            return Err(ProofError::WrongLength);
        }
        if node & 1 == 1 || node == last {
            old_found = Hash::of_children(sibling, old_found);
            new_found = Hash::of_children(sibling, new_found);
            while node & 1 == 0 && node != 0 {
                (node, last) = (node >> 1, last >> 1);
            }
        } else {
            new_found = Hash::of_children(new_found, sibling);
        }
        (node, last) = (node >> 1, last >> 1);
    }
    if last != 0 {
        return Err(ProofError::WrongLength);
    }
    same_root(old_root, old_found)?;
    same_root(new_root, new_found)
}

fn same_root(expected: Hash, found: Hash) -> Result<(), ProofError> {
    if expected == found { Ok(()) } else { Err(ProofError::WrongRoot { expected, found }) }
}

/// Returns the largest power of two below `leaves`, which are at least two.
fn half(leaves: u64) -> u64 {
    1 << (u64::BITS - 1 - (leaves - 1).leading_zeros())
}

/// Inner nodes of a tree, worked out from its tiles; each tile is read once.
struct Nodes<R> {
    read: R,
    tiles: BTreeMap<Tile, Vec<u8>>,
}

impl<E: From<ProofError>, R: FnMut(Tile) -> Result<Vec<u8>, E>> Nodes<R> {
    fn new(read: R) -> Self {
        Self { read, tiles: BTreeMap::new() }
    }

    /// Returns the root of the subtree over the leaves `start..end`, of which there is at least one. A subtree that is
    /// not full lies at the right edge, so the depth is at most 64.
    fn root(&mut self, start: u64, end: u64) -> Result<Hash, E> {
        let leaves = end - start;
        if leaves.is_power_of_two() {
            return self.full(leaves.trailing_zeros(), start);
        }
        let middle = start + half(leaves);
        let left = self.root(start, middle)?;
        let right = self.root(middle, end)?;
        Ok(Hash::of_children(left, right))
    }

    /// Returns the root of the full subtree of `2^height` leaves from the leaf `start` on.
    fn full(&mut self, height: u32, start: u64) -> Result<Hash, E> {
        let (level, within) = (height / TILE_HEIGHT, height % TILE_HEIGHT);
        let first = start >> (level * TILE_HEIGHT);
        let tile = Tile { level: level as u8, number: first / TILE_HASHES };
        let bytes = match self.tiles.entry(tile) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => entry.insert((self.read)(tile)?),
        };
        let first = first % TILE_HASHES;
        let hashes: Option<Vec<Hash>> = (first..first + (1 << within)).map(|at| hash_at(bytes, at)).collect();
        let mut hashes = hashes.ok_or(ProofError::TileTooShort(tile))?;
        while hashes.len() > 1 {
            hashes = hashes
                .chunks_exact(2)
                .filter_map(|pair| match pair {
                    [left, right] => Some(Hash::of_children(*left, *right)),
                    _ => None,
                })
                .collect();
        }
        Ok(hashes.first().copied().ok_or(ProofError::TileTooShort(tile))?)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tree::Tree;
    use super::super::tree::tests::{definition, leaves};
    use super::*;

    /// Returns every tile of the tree of these leaves.
    fn tiles(leaves: &[Vec<u8>]) -> BTreeMap<Tile, Vec<u8>> {
        let mut tree = Tree::default();
        leaves.iter().for_each(|leaf| tree.append(Hash::of_leaf(leaf)));
        tree.take_changed().into_iter().collect()
    }

    fn reader(tiles: &BTreeMap<Tile, Vec<u8>>) -> impl FnMut(Tile) -> Result<Vec<u8>, ProofError> {
        |tile| Ok(tiles.get(&tile).cloned().unwrap_or_default())
    }

    /// All sizes of a small tree, and those around the ends of a tile and of its halves.
    fn sizes() -> impl Iterator<Item = u64> + Clone {
        (1..=66).chain(126..=130).chain(254..=260).chain([300])
    }

    #[test]
    fn every_leaf_of_a_tree_is_proven_and_no_other_place_is() {
        let leaves = leaves(300);
        let tiles = tiles(&leaves);
        for size in sizes() {
            let root = root_of(size, reader(&tiles)).unwrap();
            assert_eq!(root, definition(&leaves[..size as usize]));
            for index in 0..size {
                let path = inclusion(index, size, reader(&tiles)).unwrap();
                let leaf = Hash::of_leaf(&leaves[index as usize]);
                assert_eq!(verify_inclusion(leaf, index, size, &path, root), Ok(()), "{index} of {size}");
                let elsewhere = verify_inclusion(leaf, (index + 1) % size, size, &path, root);
                assert!(size == 1 || elsewhere.is_err(), "{index} of {size}");
            }
        }
    }

    #[test]
    fn a_tree_goes_on_from_every_smaller_one() {
        let leaves = leaves(300);
        let tiles = tiles(&leaves);
        let roots: Vec<Hash> = (0..=300).map(|size| root_of(size, reader(&tiles)).unwrap()).collect();
        for new in sizes() {
            for old in 0..=new {
                let path = consistency(old, new, reader(&tiles)).unwrap();
                let (old_root, new_root) = (roots[old as usize], roots[new as usize]);
                assert_eq!(verify_consistency(old, new, &path, old_root, new_root), Ok(()), "{old} {new}");
                assert!(verify_consistency(old, new, &path, Hash([7; 32]), new_root).is_err());
                if old > 0 {
                    assert!(verify_consistency(old, new, &path, old_root, Hash([7; 32])).is_err());
                }
            }
        }
    }

    #[test]
    fn the_roots_of_large_trees_are_the_same_by_both_ways() {
        let leaves = leaves(66_000);
        let tiles = tiles(&leaves);
        for size in [65_535, 65_536, 65_537, 66_000] {
            assert_eq!(root_of(size as u64, reader(&tiles)).unwrap(), definition(&leaves[..size]));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_changed_proof_proves_nothing(size in 2u64..2000, at: u64, flip: u16, drop: bool) {
            let leaves = leaves(size as usize);
            let tiles = tiles(&leaves);
            let index = at % size;
            let root = root_of(size, reader(&tiles)).unwrap();
            let leaf = Hash::of_leaf(&leaves[index as usize]);
            let mut path = inclusion(index, size, reader(&tiles)).unwrap();
            prop_assert_eq!(verify_inclusion(leaf, index, size, &path, root), Ok(()));
            if drop {
                path.pop();
            } else {
                let bit = usize::from(flip) % (path.len() * 256);
                path[bit / 256].0[bit % 256 / 8] ^= 1 << (bit % 8);
            }
            prop_assert!(verify_inclusion(leaf, index, size, &path, root).is_err());
            path.push(root);
            prop_assert!(verify_inclusion(leaf, index, size, &path, root).is_err());
        }

        #[test]
        fn a_changed_past_is_no_past(old in 1u64..1000, more in 1u64..1000, at: u64) {
            let new = old + more;
            let mut leaves = leaves(new as usize);
            let before = tiles(&leaves);
            let old_root = root_of(old, reader(&before)).unwrap();
            leaves[(at % old) as usize].push(b'!');
            let after = tiles(&leaves);
            let new_root = root_of(new, reader(&after)).unwrap();
            let path = consistency(old, new, reader(&after)).unwrap();
            prop_assert!(verify_consistency(old, new, &path, old_root, new_root).is_err());
        }

        #[test]
        fn hostile_proofs_end(index: u64, size: u64, old: u64, count in 0usize..200) {
            let path = vec![Hash([1; 32]); count];
            prop_assert!(verify_inclusion(Hash([2; 32]), index, size, &path, Hash([3; 32])).is_err());
            prop_assert!(verify_consistency(old, size, &path, Hash([2; 32]), Hash([3; 32])).is_err());
        }
    }

    #[test]
    fn what_is_not_there_is_not_proven() {
        let none = |_| Ok::<_, ProofError>(Vec::new());
        assert_eq!(inclusion(3, 3, none), Err(ProofError::NoSuchLeaf { index: 3, size: 3 }));
        assert_eq!(consistency(4, 3, none), Err(ProofError::Backwards { old: 4, new: 3 }));
        assert_eq!(inclusion(0, 3, none), Err(ProofError::TileTooShort(Tile { level: 0, number: 0 })));
    }
}
