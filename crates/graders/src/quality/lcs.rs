//! The longest common subsequence of two token lists, 64 tokens at a time.
//!
//! H. Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004. The row of the table of lengths is kept as one
//! bit for each token of the first list; a bit is 0 where the length grows. Exact, in `ceil(first / 64) * second` steps.

use std::collections::BTreeMap;

/// A list of tokens, ready to be compared with others.
#[derive(Debug)]
pub(super) struct Pattern {
    pub tokens: Vec<String>,
    words: usize,
    /// The positions of each distinct token in the list, as a row of bits.
    rows: BTreeMap<String, Vec<u64>>,
}

impl Pattern {
    pub(super) fn new(tokens: Vec<String>) -> Self {
        let words = tokens.len().div_ceil(64);
        let mut rows: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (at, token) in tokens.iter().enumerate() {
            let row = rows.entry(token.clone()).or_insert_with(|| vec![0; words]);
            if let Some(bits) = row.get_mut(at / 64) {
                *bits |= 1 << (at % 64);
            }
        }
        Self { tokens, words, rows }
    }

    fn rows<'a>(&'a self, other: &'a [String]) -> impl Iterator<Item = &'a Vec<u64>> {
        other.iter().filter_map(|token| self.rows.get(token))
    }

    /// Returns the length of the longest common subsequence.
    pub(super) fn common(&self, other: &[String]) -> usize {
        let mut column = vec![u64::MAX; self.words];
        self.rows(other).for_each(|row| advance(&mut column, row));
        // Bits beyond the last token match nothing, so they stay 1.
        column.iter().map(|bits| bits.count_zeros() as usize).sum()
    }

    /// Places in the pattern of one longest common subsequence, ascending; none if the table would need more than
    /// `words_max` words of memory.
    pub(super) fn common_places(&self, other: &[String], words_max: usize) -> Option<Vec<usize>> {
        let known = self.rows(other).count();
        if known.saturating_mul(self.words) > words_max {
            return None;
        }
        let mut table = Vec::with_capacity((known + 1) * self.words);
        let mut column = vec![u64::MAX; self.words];
        table.extend_from_slice(&column);
        for row in self.rows(other) {
            advance(&mut column, row);
            table.extend_from_slice(&column);
        }
        let grows = |row: usize, at: usize| {
            table.get(row * self.words + at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 0)
        };
        let mut places = Vec::new();
        let (mut row, mut at) = (known, self.tokens.len());
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
