//! The facts, values and lets that a formula rests on, through other lets.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use karat_core::formula::{Expr, Symbol};
use karat_core::scorecard::Scorecard;

/// A set of facts, values of dimensions and names of the score: a bit for each.
#[derive(Clone)]
pub(super) struct Roots {
    words: Vec<u64>,
    facts: usize,
    dimensions: usize,
}

impl Roots {
    pub(super) fn none(card: &Scorecard) -> Self {
        let (facts, dimensions) = (card.facts.len(), card.dimensions.len());
        Self { words: alloc::vec![0; (facts + dimensions + 3).div_ceil(64)], facts, dimensions }
    }

    /// Returns the bit of a symbol; lets have none.
    fn bit(&self, symbol: Symbol) -> Option<usize> {
        let verdicts = self.facts + self.dimensions;
        match symbol {
            Symbol::Fact(at) => Some(at),
            Symbol::Reading(at) => Some(self.facts + at),
            Symbol::Score => Some(verdicts),
            Symbol::Composite => Some(verdicts + 1),
            Symbol::Coverage => Some(verdicts + 2),
            Symbol::Let(_) => None,
        }
    }

    fn symbol(&self, bit: usize) -> Symbol {
        match (bit.checked_sub(self.facts), bit.checked_sub(self.facts + self.dimensions)) {
            (None, _) => Symbol::Fact(bit),
            (Some(at), None) => Symbol::Reading(at),
            (_, Some(0)) => Symbol::Score,
            (_, Some(1)) => Symbol::Composite,
            (_, Some(_)) => Symbol::Coverage,
        }
    }

    pub(super) fn insert(&mut self, symbol: Symbol) {
        if let Some(bit) = self.bit(symbol)
            && let Some(word) = self.words.get_mut(bit / 64)
        {
            *word |= 1 << (bit % 64);
        }
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    pub(super) fn contains(&self, symbol: Symbol) -> bool {
        let word = |bit: usize| self.words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1);
        self.bit(symbol).is_some_and(word)
    }

    /// Returns whether there is anything but facts.
    pub(super) fn reads_values(&self) -> bool {
        let from = self.facts / 64;
        let words = self.words.iter().enumerate().skip(from);
        words.into_iter().any(|(place, word)| {
            let word = if place == from { word >> (self.facts % 64) } else { *word };
            word != 0
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Symbol> {
        let bits = self.words.iter().enumerate().flat_map(|(place, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * 64 + bit)
        });
        bits.map(|bit| self.symbol(bit))
    }
}

/// Returns for every let the facts and the readings that it rests on, through other lets.
pub(super) fn let_roots(card: &Scorecard) -> Vec<Roots> {
    let mut roots: Vec<Roots> = Vec::with_capacity(card.lets.len());
    for named in &card.lets {
        let mut found = Roots::none(card);
        for symbol in names(&named.formula.expr) {
            match symbol {
                // A let only names lets before it.
                Symbol::Let(at) => roots.get(at).into_iter().for_each(|below| found.extend(below)),
                other => found.insert(other),
            }
        }
        roots.push(found);
    }
    roots
}

/// Returns the facts and readings that a formula rests on, through lets: facts first, in the order of the card.
pub(super) fn roots_of(expr: &Expr<Symbol>, lets: &[Roots]) -> Vec<Symbol> {
    let (mut own, mut below): (Vec<Symbol>, Option<Roots>) = (Vec::new(), None);
    for symbol in names(expr) {
        match (symbol, &mut below) {
            (Symbol::Let(at), None) => below = lets.get(at).cloned(),
            (Symbol::Let(at), Some(below)) => lets.get(at).into_iter().for_each(|roots| below.extend(roots)),
            (other, _) => own.push(other),
        }
    }
    match below {
        None => own,
        Some(mut roots) => {
            own.iter().for_each(|&symbol| roots.insert(symbol));
            roots.iter().collect()
        }
    }
}

/// Returns the names in a formula, each once.
fn names(expr: &Expr<Symbol>) -> BTreeSet<Symbol> {
    expr.symbols().into_iter().collect()
}

/// Returns the lets that a formula rests on, through other lets, lowest first.
pub(super) fn lets_of(card: &Scorecard, expr: &Expr<Symbol>) -> Vec<usize> {
    let mut needed: Vec<bool> = card.lets.iter().map(|_| false).collect();
    let mark = |expr: &Expr<Symbol>, needed: &mut Vec<bool>| {
        for symbol in expr.symbols() {
            if let Symbol::Let(at) = symbol {
                needed.get_mut(at).into_iter().for_each(|slot| *slot = true);
            }
        }
    };
    mark(expr, &mut needed);
    // A let only names lets before it.
    for (at, named) in card.lets.iter().enumerate().rev() {
        if needed.get(at) == Some(&true) {
            mark(&named.formula.expr, &mut needed);
        }
    }
    (0..needed.len()).filter(|&at| needed.get(at) == Some(&true)).collect()
}
