//! Which terms are certainly not stored: a filter in memory, so that a new id is not looked for in a table far larger than
//! the memory. It may take a term for stored that is not; then the table is asked, as it is without a filter.

use crate::item::Term;

/// 32 MiB, ten bits for each of 27 million postings. Beyond that it errs more and more often, and takes no more memory.
const BLOCKS: usize = 1 << 19;

/// A Bloom filter in blocks of a cache line, with one bit of each word of its block for a term (the split block of F. Putze,
/// P. Sanders and J. Singler, "Cache-, hash- and space-efficient Bloom filters", 2007).
pub(super) struct Filter {
    blocks: Vec<[u64; 8]>,
    /// It has the terms of the table up to this one, and those beyond that were added.
    swept: Swept,
}

/// How far the terms of the table that were there before are in the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Swept {
    /// None are.
    Nothing,
    /// Those up to this one, in the order of the table.
    UpTo(Term),
    /// All are.
    All,
}

impl Default for Filter {
    fn default() -> Self {
        Self { blocks: vec![[0; 8]; BLOCKS], swept: Swept::Nothing }
    }
}

impl Filter {
    /// How far the terms of the table are in it.
    pub fn swept(&self) -> Swept {
        self.swept
    }

    /// Adds the next terms of the table, which are in its order and `all` that were left.
    pub fn sweep(&mut self, terms: &[Term], all: bool) {
        terms.iter().for_each(|term| self.add(*term));
        self.swept = match terms.last() {
            _ if all => Swept::All,
            Some(last) => Swept::UpTo(*last),
            None => self.swept,
        };
    }

    /// Adds a term.
    pub fn add(&mut self, term: Term) {
        let (block, bits) = place(term);
        let words = self.blocks.get_mut(block).into_iter().flatten();
        words.zip(bits).for_each(|(word, bit)| *word |= bit);
    }

    /// Whether `term` may be stored.
    pub fn may_have(&self, term: Term) -> bool {
        let known = match self.swept {
            Swept::Nothing => false,
            Swept::UpTo(last) => term <= last,
            Swept::All => true,
        };
        let (block, bits) = place(term);
        let mut words = self.blocks.get(block).into_iter().flatten().zip(bits);
        !known || words.all(|(word, bit)| word & bit != 0)
    }
}

/// The block of a term and its bit in each word. A term is a hash, so its own bits do.
fn place(Term(bytes): Term) -> (usize, [u64; 8]) {
    let bits = u128::from_be_bytes(bytes);
    let block = (bits % BLOCKS as u128) as usize;
    (block, std::array::from_fn(|word| 1 << ((bits >> (64 + 6 * word)) & 63)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Kind;

    fn term(number: u32) -> Term {
        Term::id(Kind::Evidence, &number.to_string())
    }

    #[test]
    fn what_was_added_is_never_missed_and_little_else_is_taken_for_it() {
        let mut filter = Filter::default();
        filter.sweep(&[], true);
        (0..100_000).for_each(|number| filter.add(term(number)));
        assert!((0..100_000).all(|number| filter.may_have(term(number))));
        let wrong = (100_000..200_000).filter(|number| filter.may_have(term(*number))).count();
        assert!(wrong < 10, "{wrong}");
    }

    #[test]
    fn nothing_is_ruled_out_before_it_was_swept() {
        let mut filter = Filter::default();
        let mut terms: Vec<Term> = (0..100).map(term).collect();
        terms.sort();
        assert!(terms.iter().all(|term| filter.may_have(*term)));
        filter.sweep(&terms[..40], false);
        assert_eq!(filter.swept(), Swept::UpTo(terms[39]));
        assert!(terms.iter().all(|term| filter.may_have(*term)));
        filter.sweep(&terms[40..50], true);
        assert_eq!(terms.iter().filter(|term| filter.may_have(**term)).count(), 50);
    }
}
