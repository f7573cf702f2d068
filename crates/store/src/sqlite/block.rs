//! Blocks: rows that were committed one after the other, packed together. The format is known here alone.
//!
//! Contents are JSON that repeats itself with other numbers, so packed together they take a quarter of the bytes.
//! Bytes that are not written need not be copied, checksummed, carried over and read back: packing takes less time
//! than it saves.
//!
//! A block is one byte that says how it is packed, and then
//!
//! * after a 0, the rows as they are;
//! * after a 1, the number of bytes that the rows take, in four bytes, and those bytes as a block of LZ4.
//!
//! The rows are first a head of 16 bytes for each, then entry and content of each. A head is the moment from which on the
//! row is known in milliseconds, in eight bytes, the length of its entry, in four, and that of its content, in four. All
//! numbers have their highest byte first.

use std::ops::Range;

use crate::item::CONTENT_MAX_BYTES;
use crate::port::Row;
use karat_core::timestamp::Timestamp;

/// The most bytes of rows packed together. Larger blocks are hardly smaller in all, and reading one row takes longer.
const BLOCK_BYTES: usize = 32 << 10;
/// No row takes more: the largest content, and far more than the largest entry.
const ROW_MAX_BYTES: usize = CONTENT_MAX_BYTES + (1 << 20);
/// The most bytes that one byte of LZ4 can expand to.
const LZ4_RATIO_MAX: usize = 255;
const HEAD_BYTES: usize = 16;
const PLAIN: u8 = 0;
const LZ4: u8 = 1;
/// The way and the number of bytes, before what is packed.
const PREFIX_BYTES: usize = 5;

/// Cuts the rows of a commit into what goes into one block each.
pub(super) fn cut(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    let mut bytes = 0;
    rows.chunk_by(move |row, next| {
        bytes += row_bytes(row);
        let fits = bytes + row_bytes(next) <= BLOCK_BYTES;
        if !fits {
            bytes = 0;
        }
        fits
    })
}

fn row_bytes(row: &Row) -> usize {
    HEAD_BYTES + row.entry.len() + row.content.len()
}

/// Packs one block after the other.
#[derive(Default)]
pub(super) struct Packer {
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Packer {
    /// Packs `rows` into a block, or reports that a row is too large for any.
    pub(crate) fn pack(&mut self, rows: &[Row]) -> Result<&[u8], String> {
        let Self { plain, packed } = self;
        plain.clear();
        plain.push(PLAIN);
        for row in rows {
            let Row { position, known, entry, content } = row;
            let [Ok(entry), Ok(content)] = [entry, content].map(|part| u32::try_from(part.len())) else {
                return Err(too_large(*position));
            };
            if row_bytes(row) > ROW_MAX_BYTES {
                return Err(too_large(*position));
            }
            plain.extend(known.milliseconds.to_be_bytes());
            plain.extend(entry.to_be_bytes());
            plain.extend(content.to_be_bytes());
        }
        for Row { entry, content, .. } in rows {
            plain.extend_from_slice(entry);
            plain.extend_from_slice(content);
        }
        let raw = plain.get(1..).unwrap_or_default();
        let most = PREFIX_BYTES + lz4_flex::block::get_maximum_output_size(raw.len());
        packed.resize(packed.len().max(most), 0);
        let length = u32::try_from(raw.len()).ok();
        let smaller = length.zip(packed.split_first_chunk_mut()).and_then(|(length, (prefix, rest))| {
            let [a, b, c, d] = length.to_be_bytes();
            *prefix = [LZ4, a, b, c, d];
            let bytes = PREFIX_BYTES + lz4_flex::block::compress_into(raw, rest).ok()?;
            (bytes < plain.len()).then_some(bytes)
        });
        Ok(smaller.and_then(|bytes| packed.get(..bytes)).unwrap_or(plain))
    }
}

fn too_large(position: u64) -> String {
    format!("the row {position} is larger than {ROW_MAX_BYTES} bytes")
}

/// A row of a block that was read.
pub(super) struct Stored<'a> {
    pub position: u64,
    pub known: Timestamp,
    pub entry: &'a [u8],
    pub content: &'a [u8],
}

/// A block that was read; at first one without rows.
#[derive(Default)]
pub(super) struct Block {
    positions: Range<u64>,
    /// Heads, entries and contents of as many rows as there are positions; all lengths agree with it.
    plain: Vec<u8>,
}

impl Block {
    /// Reads the block of `rows` rows from the row `first` on, in place of the one before; or returns what is wrong,
    /// and has no rows. No more memory is taken than a sound block of that length may need.
    pub(crate) fn unpack(&mut self, first: u64, rows: u64, packed: &[u8]) -> Result<(), String> {
        self.positions = 0..0;
        let sound = first.checked_add(rows).filter(|_| self.fill(packed) && self.has_rows(rows));
        let end = sound.ok_or_else(|| format!("the block of the rows from {first} on cannot be read"))?;
        self.positions = first..end;
        Ok(())
    }

    /// Takes over the bytes of the rows; whether they can be read.
    fn fill(&mut self, packed: &[u8]) -> bool {
        self.plain.clear();
        let Some((&way, rest)) = packed.split_first() else { return false };
        match way {
            PLAIN => self.plain.extend_from_slice(rest),
            LZ4 => {
                let Some((length, rest)) = rest.split_first_chunk() else { return false };
                let length = u32::from_be_bytes(*length) as usize;
                if length > rest.len().saturating_mul(LZ4_RATIO_MAX) || length > ROW_MAX_BYTES {
                    return false;
                }
                self.plain.resize(length, 0);
                return lz4_flex::block::decompress_into(rest, &mut self.plain)
                    .is_ok_and(|bytes| bytes == length);
            }
            _ => return false,
        }
        true
    }

    /// Returns whether the bytes are this many rows.
    fn has_rows(&self, rows: u64) -> bool {
        let heads = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(HEAD_BYTES));
        let Some((heads, bodies)) = heads.and_then(|bytes| self.plain.split_at_checked(bytes)) else {
            return false;
        };
        // No more of them than memory has bytes, so the sum is right.
        let lengths = heads.chunks_exact(HEAD_BYTES).map(head).map(|(_, entry, content)| entry + content);
        lengths.sum::<u64>() == bodies.len() as u64
    }

    /// Returns whether it takes more memory than most blocks do, as that of a large row does.
    pub fn is_large(&self) -> bool {
        self.plain.capacity() > 2 * BLOCK_BYTES
    }

    /// Returns the positions of its rows.
    pub fn positions(&self) -> Range<u64> {
        self.positions.clone()
    }

    /// Returns those of its rows that are at `positions`.
    pub fn rows(&self, positions: &Range<u64>) -> impl Iterator<Item = Stored<'_>> {
        let Range { start, end } = self.positions;
        let count = usize::try_from(end - start).unwrap_or(0);
        let (heads, mut bodies) = self.plain.split_at_checked(count * HEAD_BYTES).unwrap_or_default();
        let stored = heads.chunks_exact(HEAD_BYTES).zip(start..).map_while(move |(bytes, position)| {
            let (known, entry, content) = head(bytes);
            let mut next = |length| {
                let (part, rest) = bodies.split_at_checked(usize::try_from(length).ok()?)?;
                bodies = rest;
                Some(part)
            };
            Some(Stored { position, known, entry: next(entry)?, content: next(content)? })
        });
        let skipped = positions.start.saturating_sub(start).min(end - start);
        let taken = positions.end.min(end).saturating_sub(start + skipped);
        let [skipped, taken] = [skipped, taken].map(|rows| usize::try_from(rows).unwrap_or(usize::MAX));
        stored.skip(skipped).take(taken)
    }
}

/// Returns the moment from which on a row is known, and the lengths of its entry and content.
fn head(bytes: &[u8]) -> (Timestamp, u64, u64) {
    let number = |start, end| {
        bytes
            .get(start..end)
            .unwrap_or_default()
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    (Timestamp { milliseconds: number(0, 8).cast_signed() }, number(8, 12), number(12, 16))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn unpacked(block: &Block, positions: Range<u64>) -> Vec<Row> {
        let row = |Stored { position, known, entry, content }: Stored<'_>| Row {
            position,
            known,
            entry: entry.to_vec(),
            content: content.to_vec(),
        };
        block.rows(&positions).map(row).collect()
    }

    /// Contents that repeat themselves, and some that do not.
    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let noise = proptest::collection::vec(any::<u8>(), 0..300);
        let row = (any::<i64>(), noise.clone(), noise, prop_oneof![Just(1), Just(20), Just(400)]);
        (0..u64::MAX / 2, proptest::collection::vec(row, 1..40)).prop_map(|(first, rows)| {
            let row =
                |((known, entry, content, times), position): ((i64, Vec<u8>, Vec<u8>, usize), u64)| Row {
                    position,
                    known: Timestamp { milliseconds: known },
                    entry,
                    content: content.repeat(times),
                };
            rows.into_iter().zip(first..).map(row).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn rows_come_out_as_they_went_in(rows in rows(), start in 0u64..50, end in 0u64..50) {
            let (mut packer, mut block, mut back) = (Packer::default(), Block::default(), Vec::new());
            let first = rows[0].position;
            let range = first + start..first + end;
            let mut part = Vec::new();
            for rows in cut(&rows) {
                let plain_bytes: usize = rows.iter().map(row_bytes).sum();
                prop_assert!(rows.len() == 1 || plain_bytes <= BLOCK_BYTES);
                let packed = packer.pack(rows).unwrap();
                prop_assert!(packed.len() <= 1 + plain_bytes);
                block.unpack(rows[0].position, rows.len() as u64, packed).unwrap();
                back.extend(unpacked(&block, 0..u64::MAX));
                part.extend(unpacked(&block, range.clone()));
            }
            prop_assert_eq!(&back, &rows);
            back.retain(|row| range.contains(&row.position));
            prop_assert_eq!(part, back);
        }

        #[test]
        fn damaged_blocks_are_refused_or_read(
            rows in rows(),
            hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            cut_at in any::<prop::sample::Index>(),
        ) {
            let mut packed = Packer::default().pack(&rows).unwrap().to_vec();
            for (at, byte) in hits {
                *at.get_mut(&mut packed) = byte;
            }
            let mut block = Block::default();
            if block.unpack(7, rows.len() as u64, &packed).is_ok() {
                prop_assert_eq!(unpacked(&block, 0..u64::MAX).len(), rows.len());
            }
            let shorter = &packed[..cut_at.index(packed.len())];
            if block.unpack(7, rows.len() as u64, shorter).is_err() {
                prop_assert!(unpacked(&block, 0..u64::MAX).is_empty());
            }
        }
    }

    #[test]
    fn claims_are_checked_before_memory_is_taken() {
        let mut block = Block::default();
        let claims = |length: u32, rest: &[u8]| [&[LZ4][..], &length.to_be_bytes(), rest].concat();
        for (rows, packed) in [
            (0, vec![]),
            (0, vec![2]),
            (0, vec![LZ4, 0, 0]),
            (1, claims(u32::MAX, &[0xff; 100])),
            (1, claims(100, &[0])),
            (1, claims(16, &[0xf0, 1])),
            (u64::MAX, vec![PLAIN]),
            (u64::MAX / 16 + 2, vec![PLAIN]),
            (1, vec![PLAIN; 16]),
            (1, [vec![PLAIN; 9], vec![0xff; 8], vec![7; 100]].concat()),
            (2, vec![PLAIN; 17]),
        ] {
            assert!(block.unpack(0, rows, &packed).is_err(), "{rows} {packed:?}");
            assert!(block.plain.capacity() < 1 << 16);
        }
        assert!(block.unpack(u64::MAX, 1, &[PLAIN; 17]).is_err());
        assert_eq!(block.unpack(0, 1, &[PLAIN; 17]), Ok(()));
        assert_eq!(block.rows(&(0..9)).count(), 1);
    }

    #[test]
    fn what_does_not_get_smaller_is_left_as_it_is() {
        let noise: Vec<u8> =
            (0..50u64).flat_map(|at| karat_core::facts::Digest::of(&at.to_be_bytes()).0).collect();
        let row =
            |content| Row { position: 0, known: Timestamp { milliseconds: -1 }, entry: Vec::new(), content };
        let mut packer = Packer::default();
        assert_eq!(packer.pack(&[row(noise.clone())]).unwrap().len(), 17 + noise.len());
        assert!(packer.pack(&[row(noise.repeat(2))]).unwrap().len() < 2 * noise.len());
    }
}
