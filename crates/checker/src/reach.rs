//! The scores that a card can give over ranges of its facts: means of values that may be there or not, then rules and gates.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::declared::{Declared, Narrowed, fill, to_grid};
use super::direction::may_lack_value;
use super::findings::Site;
use super::shares::sets_of_weights;
use karat_core::formula::{Expr, Formula, Symbol};
use karat_core::mean::Mean;
use karat_core::number::Decimal;
use karat_core::range::{Interval, Known, Range, Surroundings, evaluate, evaluate_known};
use karat_core::scorecard::{Dimension, MissingPolicy, Scorecard};

/// The values of a dimension or group as a mean sees them.
#[derive(Clone, Copy)]
struct Outlook {
    /// The values, and what replaces a missing one.
    range: Interval,
    /// It is in every mean: no low value of it can be left out.
    stays: bool,
    /// Wherever there is a score it is measured, or does not apply.
    is_measured: bool,
}

/// The scores of a card over the ranges of [`Declared`].
pub(super) struct Reach<'d, 'c> {
    pub(super) declared: &'d Declared<'c>,
    /// There is a score at all, as far as missing facts tell.
    pub(super) is_scored: bool,
    composite: Interval,
    coverage: Interval,
    /// The score before each rule, before each gate, and in the end.
    scores: Vec<Interval>,
}

impl<'d, 'c> Reach<'d, 'c> {
    pub(super) fn new(declared: &'d Declared<'c>) -> Self {
        let card = declared.card;
        let mut is_scored = true;
        let mut outlooks: Vec<Option<Outlook>> = Vec::with_capacity(card.dimensions.len());
        for (at, dimension) in card.dimensions.iter().enumerate() {
            let (found, is_withheld) = outlook(declared, at, dimension);
            outlooks.push(found);
            is_scored &= !is_withheld;
        }
        let mut composite = composite(card, &outlooks);
        if card.decay().is_some() {
            composite.low = 0.0;
        }
        let is_measured = |outlook: &Option<Outlook>| outlook.is_some_and(|outlook| outlook.is_measured);
        let least = f64::from(u8::from(outlooks.iter().all(is_measured)));
        let coverage = Interval { low: least, high: 1.0 };
        let mut reach = Self { declared, is_scored, composite, coverage, scores: [composite].into() };
        for (at, rule) in card.rules.iter().enumerate() {
            let before = reach.before(Site::RuleWhen(at));
            let rest = reach.where_not(&rule.when, &before);
            let fired = before.and(&rule.when.expr, true).filter(|_| is_possible(&rule.when, &before));
            let set = fired.as_ref().map(|inside| {
                let set = evaluate(&rule.set.expr, inside).number();
                set.intersect(Interval::UNIT).unwrap_or(Interval::UNIT)
            });
            // A rule without a result leaves the score.
            let kept = fired.filter(|inside| may_lack_value(&rule.set.expr, inside)).map(|_| reach.last());
            let all = [rest, set, kept].into_iter().flatten().reduce(Interval::hull);
            reach.scores.push(all.unwrap_or_else(|| reach.last()));
        }
        for (at, gate) in card.gates.iter().enumerate() {
            let before = reach.before(Site::GateWhen(at));
            let rest = reach.where_not(&gate.when, &before);
            let cap = gate.cap.map_or(1.0, |cap| cap.to_f64() / f64::from(card.scale.max));
            let capped = before.and(&gate.when.expr, true).filter(|_| is_possible(&gate.when, &before));
            let capped = capped.map(|inside| inside.range_of_number(Symbol::Score).min(Interval::point(cap)));
            let all = [rest, capped].into_iter().flatten().reduce(Interval::hull);
            reach.scores.push(all.unwrap_or_else(|| reach.last()));
        }
        reach
    }

    /// Returns the score that the last rule or gate leaves.
    pub(super) fn last(&self) -> Interval {
        self.scores.last().copied().unwrap_or(Interval::UNIT)
    }

    /// Returns what a symbol can be anywhere.
    pub(super) fn anywhere(&self, symbol: Symbol) -> Range {
        match symbol {
            Symbol::Score => Range::Number(self.scores.iter().copied().fold(self.composite, Interval::hull)),
            Symbol::Composite => Range::Number(self.composite),
            _ => self.declared.range(symbol).0,
        }
    }

    /// Returns the surroundings of a formula: rules and gates know what the score can be before them.
    pub(super) fn before(&self, site: Site) -> Narrowed<'d> {
        let stage = match site {
            Site::RuleWhen(at) | Site::Set(at) => at,
            Site::GateWhen(at) => self.declared.card.rules.len() + at,
            _ => return self.declared.plain(),
        };
        let score = self.scores.get(stage).copied().unwrap_or(Interval::UNIT);
        let known =
            [(Symbol::Score, score), (Symbol::Composite, self.composite), (Symbol::Coverage, self.coverage)];
        known
            .into_iter()
            .fold(self.declared.plain(), |inside, (symbol, range)| inside.with(symbol, Range::Number(range)))
    }

    /// Returns what a condition is wherever it is read, if it is always the same.
    pub(super) fn decided(&self, site: Site, condition: &Expr<Symbol>) -> Option<bool> {
        match site {
            Site::RuleWhen(_) | Site::Set(_) | Site::GateWhen(_) => {
                evaluate(condition, &self.before(site)).flag()
            }
            _ => evaluate(condition, self.declared).flag(),
        }
    }

    /// Returns the score where a condition does not hold, or has no value. `None`: it always holds.
    fn where_not(&self, when: &Formula, before: &Narrowed<'_>) -> Option<Interval> {
        if may_lack_value(&when.expr, before) {
            return Some(self.last());
        }
        let is_possible = evaluate(&when.expr, before).flag() != Some(true);
        before
            .and(&when.expr, false)
            .filter(|_| is_possible)
            .map(|inside| inside.range_of_number(Symbol::Score))
    }
}

fn is_possible(when: &Formula, before: &Narrowed<'_>) -> bool {
    let (found, known) = evaluate_known(&when.expr, before);
    found.flag() != Some(false) && known != Known::Never
}

/// Returns what a mean sees of a dimension, if it can be in one, and whether there is no score as it is surely missing.
fn outlook(declared: &Declared<'_>, at: usize, dimension: &Dimension) -> (Option<Outlook>, bool) {
    let everywhere = declared.plain();
    let of = |condition: &Option<Formula>| {
        let found = condition.as_ref().map(|formula| (evaluate_known(&formula.expr, &everywhere), formula));
        let lacks = found.as_ref().is_some_and(|(_, formula)| may_lack_value(&formula.expr, &everywhere));
        let (flag, known) =
            found.map_or((Some(true), Known::Surely), |((range, known), _)| (range.flag(), known));
        (flag, known == Known::Never, lacks)
    };
    let ((applies, no_applies, lacks_applies), (when, no_when, lacks_when)) =
        (of(&dimension.applies), of(&dimension.when));
    let inside = declared.scored(dimension);
    let lacks_value = inside.as_ref().is_some_and(|inside| may_lack_value(&dimension.formula.expr, inside));
    let no_value =
        inside.is_none_or(|inside| evaluate_known(&dimension.formula.expr, &inside).1 == Known::Never);
    let may_miss = lacks_value || lacks_applies || lacks_when;
    // Where its gate is closed it is 0, whatever its formula is.
    let gated = Some(Interval::point(0.0)).filter(|_| when != Some(true) && !no_when && !no_applies);
    let is_missing = no_applies || no_when || no_value;
    let value = declared.values.get(at).filter(|_| !is_missing && when != Some(false));
    let value = value.map(|value| Interval { low: to_grid(value.low), high: to_grid(value.high) });
    let fill = fill(dimension).filter(|_| may_miss).map(Interval::point);
    let is_left_out = may_miss && dimension.missing == MissingPolicy::Exclude;
    let range = [value, gated, fill].into_iter().flatten().reduce(Interval::hull);
    let withholds = dimension.missing == MissingPolicy::Withhold;
    let found = range.filter(|_| applies != Some(false) || lacks_applies).map(|range| Outlook {
        range,
        stays: applies == Some(true) && !is_left_out,
        is_measured: !may_miss || withholds,
    });
    let applies_surely = no_applies || applies == Some(true) && !lacks_applies;
    (found, withholds && applies_surely && range.is_none())
}

/// Returns what the mean of the top level can be under any of the weights of a card.
fn composite(card: &Scorecard, outlooks: &[Option<Outlook>]) -> Interval {
    let all = outlooks
        .iter()
        .flatten()
        .map(|outlook| outlook.range)
        .reduce(Interval::hull)
        .unwrap_or(Interval::UNIT);
    if card.override_policy.is_some() || card.family.is_some() {
        // Weights from outside may take any dimension alone.
        return if card.mean.takes_weights_as_given() { Interval::UNIT } else { all };
    }
    let means = sets_of_weights(card).into_iter().map(|(_, weights)| under(card, &weights, outlooks));
    means.reduce(Interval::hull).unwrap_or(all)
}

fn under(card: &Scorecard, weights: &[Decimal], outlooks: &[Option<Outlook>]) -> Interval {
    let mut levels: BTreeMap<Option<usize>, Vec<(f64, Outlook)>> = BTreeMap::new();
    for ((dimension, weight), outlook) in card.dimensions.iter().zip(weights).zip(outlooks) {
        let members = levels.entry(dimension.group).or_default();
        members.extend(outlook.map(|outlook| (weight.to_f64(), outlook)));
    }
    // A parent comes before its members.
    for (at, group) in card.groups.iter().enumerate().rev() {
        let of_group = mean_of(group.mean, levels.get(&Some(at)).map_or(&[], Vec::as_slice));
        levels.entry(group.parent).or_default().push((group.weight.to_f64(), of_group));
    }
    mean_of(card.mean, levels.get(&None).map_or(&[], Vec::as_slice)).range
}

/// Returns the lowest and the highest mean: what need not stay is left out wherever that moves the mean further.
fn mean_of(mean: Mean, members: &[(f64, Outlook)]) -> Outlook {
    let counted = || members.iter().filter(|(weight, _)| *weight > 0.0);
    let is_sum = mean.takes_weights_as_given();
    let end = |sign: f64| {
        let mut parts: Vec<(f64, f64, bool)> = counted()
            .map(|(weight, Outlook { range, stays, .. })| match (sign > 0.0, is_sum && !stays) {
                // What is left out of a sum adds nothing.
                (false, true) => (*weight, 0.0, true),
                (true, _) => (*weight, range.high, is_sum || *stays),
                (false, false) => (*weight, range.low, *stays),
            })
            .collect();
        parts.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| (sign * b.1).total_cmp(&(sign * a.1))));
        let (mut terms, mut weights, mut smallest) = (0.0, 0.0, f64::INFINITY);
        let mut found: Option<f64> = None;
        for (weight, value, stays) in parts {
            if stays || found.is_none_or(|known| sign * (value - known) > 0.0) {
                (terms, weights) = (terms + mean.term(weight, value), weights + weight);
                smallest = value.min(smallest);
                found = Some(mean.finish(terms, weights, smallest));
            }
        }
        found.unwrap_or(0.0).clamp(0.0, 1.0)
    };
    Outlook {
        range: Interval { low: end(-1.0), high: end(1.0) },
        stays: counted().any(|(_, outlook)| outlook.stays),
        is_measured: true,
    }
}
