//! A card ready to score: its plan, its weights, and what each dimension needs.

use alloc::string::String;
use alloc::vec::Vec;

use crate::facts::Item;
use crate::formula::{Expr, Symbol};
use crate::number::Decimal;
use crate::plan::Code;
use crate::scorecard::Scorecard;
use crate::timestamp::WrittenTimestamp;
use crate::weights::{NoOverride, OverrideUse, Weighting};

/// A card ready to score, compiled once.
#[derive(Debug, Clone)]
pub struct Scorer {
    pub(crate) card: Scorecard,
    pub(crate) plan: Code,
    pub(crate) weighting: Weighting,
    pub(crate) override_use: Option<OverrideUse>,
    /// The needs of each dimension, lets opened: to name what is missing.
    pub(crate) needs: Vec<Vec<Symbol>>,
}

/// A family is a palette: its challenges are scored, not the family itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is a family of challenges: name one of its challenges")]
pub struct NotScoreable(
    /// The family.
    pub String,
);

/// The inputs besides the evidence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The time of the verdict; its text is written into the record.
    pub as_of: Option<WrittenTimestamp<'a>>,
}

impl Context<'_> {
    /// Returns the whole seconds from the time of an item to the moment of its score; NaN where one of the two is not known.
    pub(crate) fn elapsed_seconds(&self, item: &Item<'_>) -> f64 {
        let seconds = self.as_of.zip(item.context.time);
        seconds.map_or(f64::NAN, |(as_of, time)| (as_of.at.seconds() - time.seconds()) as f64)
    }
}

impl Scorer {
    /// Compiles a card.
    ///
    /// # Errors
    /// If the card is a family: [`NotScoreable`].
    pub fn new(card: Scorecard) -> Result<Self, NotScoreable> {
        if card.family.is_some() {
            return Err(NotScoreable(card.name()));
        }
        let needs = (0..card.dimensions.len()).map(|at| needs(&card, at)).collect();
        Ok(Self {
            plan: Code::new(&card),
            weighting: Weighting::new(&card, None),
            override_use: None,
            needs,
            card,
        })
    }

    /// Returns the same card under weights from outside. [`Scorer::override_use`] and every record say whether they
    /// were accepted.
    ///
    /// # Errors
    /// If the card does not take overrides: [`NoOverride`].
    pub fn with_override(&self, given: &[(String, Decimal)]) -> Result<Self, NoOverride> {
        let used = OverrideUse::new(&self.card, given)?;
        let weighting = Weighting::new(&self.card, Some(&used.effective));
        Ok(Self { weighting, override_use: Some(used), ..self.clone() })
    }

    /// Returns the card.
    pub const fn card(&self) -> &Scorecard {
        &self.card
    }

    /// Returns what became of the weights from outside, if any were given.
    pub const fn override_use(&self) -> Option<&OverrideUse> {
        self.override_use.as_ref()
    }
}

/// Returns what a dimension reads, lets opened: `applies` first, then `when`, then the formula.
fn needs(card: &Scorecard, dimension: usize) -> Vec<Symbol> {
    let mut found = Vec::new();
    let Some(dimension) = card.dimensions.get(dimension) else { return found };
    let formulas = [dimension.applies.as_ref(), dimension.when.as_ref(), Some(&dimension.formula)];
    for formula in formulas.into_iter().flatten() {
        open(card, &formula.expr, &mut found);
    }
    found
}

fn open(card: &Scorecard, expr: &Expr<Symbol>, found: &mut Vec<Symbol>) {
    for symbol in expr.symbols() {
        if found.contains(&symbol) {
            continue;
        }
        found.push(symbol);
        if let Symbol::Let(at) = symbol
            && let Some(named) = card.lets.get(at)
        {
            open(card, &named.formula.expr, found);
        }
    }
}
