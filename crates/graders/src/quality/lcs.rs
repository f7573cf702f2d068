//! The longest common subsequence of two token lists, 64 tokens at a time.
//!
//! H. Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004. The row of the table of lengths is kept as one
//! bit for each token of the first list; a bit is 0 where the length grows. Exact, in `ceil(first / 64) * second` steps.

use std::collections::BTreeMap;

use super::tokens::{Token, Tokens};

/// A list of tokens, ready to be compared with others.
#[derive(Debug)]
pub(super) struct Pattern {
    tokens: Tokens,
    words: usize,
    index: Index,
    /// The positions of each distinct token in the list, as a row of bits.
    rows: Vec<u64>,
}

impl Pattern {
    pub(super) fn new(tokens: Tokens) -> Self {
        let words = tokens.len().div_ceil(64);
        let mut index = Index::new(tokens.len());
        let mut rows = Vec::with_capacity(tokens.len() * words);
        for (at, token) in tokens.iter().enumerate() {
            let row = index.add(&tokens, at, token);
            if rows.len() < (row + 1) * words {
                rows.resize((row + 1) * words, 0);
            }
            if let Some(bits) = rows.get_mut(row * words + at / 64) {
                *bits |= 1 << (at % 64);
            }
        }
        Self { tokens, words, index, rows }
    }

    pub(super) fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// Returns the length of the longest common subsequence.
    pub(super) fn common(&self, other: &Tokens) -> usize {
        match self.words {
            0 => 0,
            1 => self.common_in::<1>(other),
            2 => self.common_in::<2>(other),
            3 => self.common_in::<3>(other),
            4 => self.common_in::<4>(other),
            _ => {
                let mut column = vec![u64::MAX; self.words];
                for row in other.iter().filter_map(|token| self.row(other, token)) {
                    advance(&mut column, row);
                }
                zeros(&column)
            }
        }
    }

    /// Does the same with the column in registers.
    fn common_in<const WORDS: usize>(&self, other: &Tokens) -> usize {
        let mut column = [u64::MAX; WORDS];
        for row in other.iter().filter_map(|token| self.row(other, token)?.first_chunk::<WORDS>()) {
            advance(&mut column, row);
        }
        zeros(&column)
    }

    /// Places in the pattern of one longest common subsequence, ascending; none if the table would need more than
    /// `words_max` words of memory.
    pub(super) fn common_places(&self, other: &Tokens, words_max: usize) -> Option<Vec<usize>> {
        let known: Vec<&[u64]> = other.iter().filter_map(|token| self.row(other, token)).collect();
        if known.len().saturating_mul(self.words) > words_max {
            return None;
        }
        let mut table = Vec::with_capacity((known.len() + 1) * self.words);
        let mut column = vec![u64::MAX; self.words];
        table.extend_from_slice(&column);
        for row in &known {
            advance(&mut column, row);
            table.extend_from_slice(&column);
        }
        let grows = |row: usize, at: usize| {
            table.get(row * self.words + at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 0)
        };
        let mut places = Vec::new();
        let mut row = known.len();
        let mut at = self.tokens.len();
        while row > 0 && at > 0 {
            if !grows(row, at - 1) {
                at -= 1;
            } else if grows(row - 1, at - 1) {
                row -= 1;
            } else {
                row -= 1;
                at -= 1;
                places.push(at);
            }
        }
        places.reverse();
        Some(places)
    }

    #[inline(always)]
    fn row(&self, others: &Tokens, other: Token) -> Option<&[u64]> {
        let row = self.index.find(&self.tokens, others, other)?;
        self.rows.get(row * self.words..(row + 1) * self.words)
    }
}

/// Takes one token of the other list: `column + (column & row) | column & !row`.
fn advance(column: &mut [u64], row: &[u64]) {
    let mut carry = false;
    for (column, row) in column.iter_mut().zip(row) {
        let sum;
        (sum, carry) = column.carrying_add(*column & row, carry);
        *column = sum | (*column & !row);
    }
}

/// Bits beyond the last token match nothing, so they stay 1.
fn zeros(column: &[u64]) -> usize {
    column.iter().map(|bits| bits.count_zeros() as usize).sum()
}

/// Map from tokens to rows.
#[derive(Debug)]
enum Index {
    /// A table for short lists: open addressing, at most half full. It is never iterated, so its order is not seen.
    Hashed { slots: Vec<Slot>, rows: u32 },
    /// A tree for long lists, in which tokens made to collide would cost quadratic time.
    Sorted(BTreeMap<Vec<u8>, u32>),
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// No token has the key 0, which means a free slot.
    key: u64,
    row: u32,
    /// A place of the token in the list.
    at: u32,
}

const HASHED_MAX: usize = 2048;

impl Index {
    fn new(tokens: usize) -> Self {
        if tokens > HASHED_MAX {
            return Self::Sorted(BTreeMap::new());
        }
        Self::Hashed {
            slots: vec![Slot { key: 0, row: 0, at: 0 }; (2 * tokens).next_power_of_two()],
            rows: 0,
        }
    }

    /// Returns the row of the token at this place of the list; a new one if it has none yet.
    fn add(&mut self, tokens: &Tokens, at: usize, token: Token) -> usize {
        let row = match self {
            Self::Hashed { slots, rows } => {
                let place = place(slots, tokens, tokens, token);
                let Some(slot) = slots.get_mut(place) else { return 0 };
                if slot.key == 0 {
                    *slot = Slot { key: token.key, row: *rows, at: at as u32 };
                    *rows += 1;
                }
                slot.row
            }
            Self::Sorted(rows) => {
                let next = rows.len() as u32;
                *rows.entry(tokens.bytes(token).to_vec()).or_insert(next)
            }
        };
        row as usize
    }

    #[inline(always)]
    fn find(&self, tokens: &Tokens, others: &Tokens, other: Token) -> Option<usize> {
        let row = match self {
            Self::Hashed { slots, .. } => {
                let slot = slots.get(place(slots, tokens, others, other))?;
                if slot.key == 0 {
                    return None;
                }
                slot.row
            }
            Self::Sorted(rows) => *rows.get(others.bytes(other))?,
        };
        Some(row as usize)
    }
}

#[inline(always)]
fn place(slots: &[Slot], tokens: &Tokens, others: &Tokens, other: Token) -> usize {
    let mask = slots.len().wrapping_sub(1);
    let mut place = (other.key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
    while let Some(slot) = slots.get(place) {
        let is_same =
            || tokens.get(slot.at as usize).is_some_and(|token| tokens.is_same(token, others, other));
        if slot.key == 0 || slot.key == other.key && (other.has_bytes_in_key() || is_same()) {
            break;
        }
        place = (place + 1) & mask;
    }
    place
}
