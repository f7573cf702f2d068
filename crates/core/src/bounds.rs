//! Bounds: the lowest and highest score that the missing parts leave possible (`docs/guide/scorecard.md`, Bounds).

use alloc::vec::Vec;
use core::cell::RefCell;

use crate::decay::Loss;
use crate::facts::Fact;
use crate::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol};
use crate::number::{BILLION, Score, UNITS_PER_ONE, round};
use crate::plan::{mean_of_points, units};
use crate::range::{Interval, Known, Range, Surroundings, evaluate, evaluate_known};
use crate::record::{Published, Record};
use crate::scorecard::{DecayScope, FactType, Scorecard};
use crate::scorer::Scorer;

/// Returns the lowest and the highest published score that the missing parts leave possible.
pub(crate) fn of(scorer: &Scorer, record: &Record<'_>, profile: usize) -> Option<(Published, Published)> {
    let card = &scorer.card;
    let scale = card.scale;
    // What an age would take if it were known is not a matter of bounds: a warning says that it is not.
    let mut facts = card.facts.iter().zip(record.item.facts).enumerate();
    let any_missing = facts.any(|(at, (declared, fact))| declared.is_missing(fact) && !card.is_age(at));
    let any_unmeasured = record.dimensions.iter().any(|dimension| dimension.status.is_unmeasured());
    let certain = !any_missing && record.undecided.is_empty() && !any_unmeasured;
    if let (true, Some(published)) = (certain, record.published) {
        return Some((published, published));
    }
    let profiles = match &card.profiles {
        Some(profiles) if record.profile.is_some_and(|used| used.asked.is_none()) => 0..profiles.list.len(),
        _ => profile..profile + 1,
    };
    let mut item = ItemRange::new(scorer, record, profiles.len() == 1);
    let mut hull: Option<Interval> = record.score.map(|score| Interval::point(score.units() as f64));
    for profile in profiles {
        if let Some(range) = item.score(scorer, profile) {
            hull = Some(hull.map_or(range, |hull| hull.hull(range)));
        }
    }
    let publish = |units: f64| scale.publish(Score::from_units(units as i64));
    hull.map(|hull| (publish(hull.low), publish(hull.high)))
}

/// The possible readings of a dimension.
#[derive(Clone, Copy)]
struct Outlook {
    /// The interval in billionths.
    range: Interval,
    /// True if there surely is a reading once all facts are there.
    settled: bool,
}

impl Outlook {
    /// Nothing is known, not even that there will be a reading. Leaving a dimension out moves a mean no further than a
    /// reading of 0 or 1 does.
    const OPEN: Self = Self { range: Interval { low: 0.0, high: BILLION as f64 }, settled: false };
}

/// The possible values of a let, and whether it is settled.
type LetOutlook = ((Range, Known), bool);

/// Everything that an item leaves open, as intervals.
struct ItemRange<'a> {
    card: &'a Scorecard,
    facts: &'a [Fact<'a>],
    /// The age of each dimension, where it is known.
    ages: Vec<Option<f64>>,
    /// The outlook of each dimension; `None` if it does not apply.
    readings: Vec<Option<Outlook>>,
    /// Each let once: lets may name one another many times.
    lets: RefCell<Vec<Option<LetOutlook>>>,
    coverage: Interval,
    /// The interval in units of 1e-15.
    composite: Interval,
    score: Interval,
}

impl<'a> ItemRange<'a> {
    fn new(scorer: &'a Scorer, record: &'a Record<'a>, profile_known: bool) -> Self {
        let coverage = record.coverage as f64 / BILLION as f64;
        let mut item = Self {
            card: &scorer.card,
            facts: record.item.facts,
            ages: record.dimensions.iter().map(|it| Some(it.decay?.age_seconds)).collect(),
            readings: alloc::vec![None; record.dimensions.len()],
            lets: RefCell::new(alloc::vec![None; scorer.card.lets.len()]),
            coverage: Interval::point(coverage),
            composite: Interval::point(0.0),
            score: Interval::point(0.0),
        };
        // A dimension that rests on a missing fact is open even where a formula found a way around it.
        let mut open = alloc::vec![false; record.dimensions.len()];
        for &at in &scorer.card.order {
            let Some(dimension) = record.dimensions.get(at) else { continue };
            let needs = scorer.needs.get(at).map_or(&[][..], Vec::as_slice);
            let rests_on_missing = needs.iter().any(|need| match *need {
                Symbol::Fact(fact) => item.fact_is_missing(fact),
                Symbol::Reading(other) => open.get(other).copied().unwrap_or(false),
                _ => false,
            });
            let missing = dimension.status.is_unmeasured();
            let point = dimension.reading.map(|reading| Interval::point(reading as f64));
            let outlook = if missing {
                Some(Outlook::OPEN)
            } else if rests_on_missing {
                item.reading(at, point)
            } else {
                point.map(|range| Outlook { range, settled: true })
            };
            if outlook.is_some_and(|outlook| !outlook.settled) {
                // What is missing or failed is not covered and can only gain; anything else may also be lost.
                let low = if missing && profile_known { item.coverage.low } else { 0.0 };
                item.coverage = Interval { low, high: 1.0 };
            }
            if let (Some(slot), Some(open)) = (item.readings.get_mut(at), open.get_mut(at)) {
                *slot = outlook;
                *open = missing || rests_on_missing;
            }
        }
        item
    }

    fn fact_is_missing(&self, fact: usize) -> bool {
        let given = self.facts.get(fact).unwrap_or(&Fact::Missing);
        self.card.facts.get(fact).is_none_or(|declared| declared.is_missing(given))
    }

    /// Returns the outlook of a dimension that rests on something missing and still has a reading (`point`) or does not apply.
    fn reading(&self, at: usize, point: Option<Interval>) -> Option<Outlook> {
        let dimension = self.card.dimensions.get(at)?;
        let truth = |formula: &Option<Formula>| match formula {
            Some(formula) => (evaluate(&formula.expr, self).flag(), self.is_settled(&formula.expr)),
            None => (Some(true), true),
        };
        let applies = truth(&dimension.applies);
        if point.is_none() && applies.0 == Some(false) {
            return None;
        }
        let (open, when_settled) = truth(&dimension.when);
        let value_counts = open != Some(false);
        if applies != (Some(true), true)
            || !when_settled
            || (value_counts && !self.is_settled(&dimension.formula.expr))
        {
            return Some(Outlook::OPEN);
        }
        let grid = |value: f64| round(value * BILLION as f64);
        let value = value_counts.then(|| {
            let value = within_unit(evaluate(&dimension.formula.expr, self));
            // What is still to come may be as old, or of now.
            let rule = self.card.decay().filter(|rule| rule.scope == DecayScope::Dimension);
            let age = self.ages.get(at).copied().flatten();
            let low = match rule.zip(age) {
                Some((rule, age)) => Loss::new(rule, 1.0).left(grid(value.low), age),
                None => grid(value.low),
            };
            Interval { low, high: grid(value.high) }
        });
        let zero = (open != Some(true)).then_some(Interval::point(0.0));
        let range = [value, zero, point].into_iter().flatten().reduce(Interval::hull)?;
        Some(Outlook { range, settled: true })
    }

    /// Returns whether a formula surely has a value once all facts are there. Overflow is left aside.
    fn is_settled(&self, expr: &Expr<Symbol>) -> bool {
        match &expr.kind {
            ExprKind::Name(Symbol::Reading(at)) => {
                self.readings.get(*at).copied().flatten().is_some_and(|outlook| outlook.settled)
            }
            ExprKind::Name(Symbol::Let(at)) => self.of_let(*at).is_some_and(|(_, settled)| settled),
            ExprKind::Call(Function::If, arguments) => {
                let [condition, yes, no] = arguments.as_slice() else { return false };
                let decision = evaluate(condition, self).flag();
                self.is_settled(condition)
                    && (decision == Some(false) || self.is_settled(yes))
                    && (decision == Some(true) || self.is_settled(no))
            }
            ExprKind::Call(Function::Coalesce, arguments) => {
                for argument in arguments {
                    if !self.is_settled(argument) {
                        return false;
                    }
                    if evaluate_known(argument, self).1 == Known::Surely {
                        break;
                    }
                }
                true
            }
            _ => expr.operands().all(|operand| self.is_settled(operand)) && self.always_has_result(expr),
        }
    }

    /// Returns whether an operation has a result for all of its operands.
    fn always_has_result(&self, expr: &Expr<Symbol>) -> bool {
        let number = |operand: &Expr<Symbol>| evaluate(operand, self).number();
        match &expr.kind {
            ExprKind::Binary(Binary::Divide, _, by) => !number(by).contains(0.0),
            ExprKind::Call(function, arguments) => match (function, arguments.as_slice()) {
                (Function::Sqrt, [x]) => number(x).low >= 0.0,
                (Function::Ln | Function::Log2, [x]) => number(x).low > 0.0,
                (Function::Pow, [base, exponent]) => {
                    let low = number(base).low;
                    low > 0.0 || (low >= 0.0 && number(exponent).low >= 0.0)
                }
                _ => true,
            },
            _ => true,
        }
    }

    fn of_let(&self, at: usize) -> Option<LetOutlook> {
        if let Some(found) = self.lets.borrow().get(at).copied().flatten() {
            return Some(found);
        }
        let formula = &self.card.lets.get(at)?.formula.expr;
        let found = (evaluate_known(formula, self), self.is_settled(formula));
        if let Some(slot) = self.lets.borrow_mut().get_mut(at) {
            *slot = Some(found);
        }
        Some(found)
    }

    /// Steps 4 to 6 over intervals; none where nothing applies.
    fn score(&mut self, scorer: &Scorer, profile: usize) -> Option<Interval> {
        let mean = |end: fn(Interval) -> f64| {
            let reading = |at: usize| Some(end(self.readings.get(at).copied().flatten()?.range));
            mean_of_points(&scorer.card, &scorer.weighting, profile, &reading)
        };
        let (low, high) = (mean(|range| range.low)?, mean(|range| range.high)?);
        let rule = self.card.decay().filter(|rule| rule.scope == DecayScope::Composite);
        let newest = self.ages.iter().flatten().copied().reduce(f64::min);
        let low = match rule.zip(newest) {
            Some((rule, age)) => Loss::new(rule, (UNITS_PER_ONE / BILLION) as f64).left(low, age),
            None => low,
        };
        self.composite = Interval { low, high };
        self.score = self.composite;
        for rule in &self.card.rules {
            let fires = evaluate(&rule.when.expr, self).flag();
            if fires == Some(false) {
                continue;
            }
            let set = within_unit(evaluate(&rule.set.expr, self));
            let grid = |value: f64| round(value * UNITS_PER_ONE as f64);
            let set = Interval { low: grid(set.low), high: grid(set.high) };
            let surely =
                fires == Some(true) && self.is_settled(&rule.when.expr) && self.is_settled(&rule.set.expr);
            self.score = if surely { set } else { self.score.hull(set) };
        }
        for gate in &self.card.gates {
            let Some(cap) = gate.cap else { continue };
            let cap = units(cap.millionths(), self.card.scale.max);
            let holds = evaluate(&gate.when.expr, self).flag();
            if holds == Some(false) {
                continue;
            }
            self.score.low = self.score.low.min(cap);
            if holds == Some(true) && self.is_settled(&gate.when.expr) {
                self.score.high = self.score.high.min(cap);
            }
        }
        Some(self.score)
    }
}

/// Returns the part of a value within 0..1; all of 0..1 if that is empty, which no card that passed the checks allows.
fn within_unit(value: Range) -> Interval {
    value.number().intersect(Interval::UNIT).unwrap_or(Interval::UNIT)
}

impl Surroundings for ItemRange<'_> {
    fn range(&self, symbol: Symbol) -> (Range, Known) {
        let scaled =
            |interval: Interval, by: f64| Interval { low: interval.low / by, high: interval.high / by };
        match symbol {
            Symbol::Fact(at) => {
                let declared = self.card.facts.get(at);
                match self.facts.get(at) {
                    _ if self.fact_is_missing(at) => (self.declared(at), Known::Perhaps),
                    Some(Fact::Number(value)) => (Range::Number(Interval::point(*value)), Known::Surely),
                    Some(Fact::Flag(flag)) => (Range::Flag(Some(*flag)), Known::Surely),
                    _ if declared.is_some_and(|fact| fact.kind == FactType::Boolean) => {
                        (Range::Flag(None), Known::Perhaps)
                    }
                    _ => (Range::Number(Interval::EVERYTHING), Known::Perhaps),
                }
            }
            Symbol::Let(at) => match self.of_let(at) {
                Some((outlook, _)) => outlook,
                None => (Range::Number(Interval::EVERYTHING), Known::Perhaps),
            },
            Symbol::Reading(at) => match self.readings.get(at).copied().flatten() {
                Some(Outlook { range, .. }) => {
                    let known = if range.low >= range.high { Known::Surely } else { Known::Perhaps };
                    (Range::Number(scaled(range, BILLION as f64)), known)
                }
                None => (Range::Number(Interval::UNIT), Known::Perhaps),
            },
            Symbol::Score => (Range::Number(scaled(self.score, UNITS_PER_ONE as f64)), Known::Surely),
            Symbol::Composite => (Range::Number(scaled(self.composite, UNITS_PER_ONE as f64)), Known::Surely),
            Symbol::Coverage => (Range::Number(self.coverage), Known::Surely),
        }
    }

    fn is_part(&self, part: Symbol, whole: Symbol) -> bool {
        match (part, whole) {
            (Symbol::Fact(part), Symbol::Fact(whole)) => {
                self.card.facts.get(part).is_some_and(|fact| fact.min == 0.0 && fact.max_fact == Some(whole))
            }
            _ => false,
        }
    }
}

impl ItemRange<'_> {
    /// Returns the declared range of a fact, cut at the fact that bounds it where that one is known.
    fn declared(&self, at: usize) -> Range {
        let Some(declared) = self.card.facts.get(at) else { return Range::Number(Interval::EVERYTHING) };
        if declared.kind == FactType::Boolean {
            return Range::Flag(None);
        }
        let bound = declared.max_fact.map_or(f64::INFINITY, |other| match self.facts.get(other) {
            Some(Fact::Number(value)) if !self.fact_is_missing(other) => *value,
            _ => self.card.facts.get(other).map_or(f64::INFINITY, |other| other.max),
        });
        let high = declared.max.min(bound);
        Range::Number(Interval { low: declared.min, high: high.max(declared.min) })
    }
}
