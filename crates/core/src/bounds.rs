//! What the missing parts could still make of a score (`docs/guide/scorecard.md`, Bounds).

use alloc::vec::Vec;

use crate::check::range::{Interval, Known, Range, Surroundings, evaluate};
use crate::evaluate::Scorer;
use crate::facts::Fact;
use crate::formula::{Formula, Symbol};
use crate::number::{BILLION, MILLION, Score, UNITS_PER_ONE, round};
use crate::plan::mean_of_point;
use crate::record::{Published, ReadingStatus, Record};
use crate::scorecard::{FactType, Scorecard};

/// The lowest and the highest published score that the missing parts leave possible.
pub(crate) fn of(scorer: &Scorer, record: &Record<'_>, profile: usize) -> Option<(Published, Published)> {
    let card = &scorer.card;
    let scale = card.scale;
    let unknown = |dimension: &crate::record::DimensionRecord<'_>| {
        matches!(dimension.status, ReadingStatus::Missing | ReadingStatus::Failed)
    };
    let any_missing = card.facts.iter().zip(record.item.facts).any(|(declared, fact)| match fact {
        Fact::Missing => true,
        Fact::Number(value) => declared.unknown == Some(*value),
        _ => false,
    });
    let certain = !any_missing && record.undecided.is_empty() && !record.dimensions.iter().any(unknown);
    if let (true, Some(published)) = (certain, record.published) {
        return Some((published, published));
    }
    let profiles: Vec<usize> = match &card.profiles {
        Some(profiles) if record.profile.is_some_and(|used| used.asked.is_none()) => {
            (0..profiles.list.len()).collect()
        }
        _ => alloc::vec![profile],
    };
    let mut item = ItemRange::new(scorer, record);
    let mut hull: Option<Interval> = record.score.map(|score| Interval::point(score.units() as f64));
    for profile in profiles {
        if let Some(range) = item.score(scorer, profile) {
            hull = Some(hull.map_or(range, |hull| hull.hull(range)));
        }
    }
    let publish = |units: f64| scale.publish(Score::from_units(units as i64));
    hull.map(|hull| (publish(hull.low), publish(hull.high)))
}

/// Everything that an item leaves open, as intervals.
struct ItemRange<'a> {
    card: &'a Scorecard,
    facts: &'a [Fact<'a>],
    /// By dimension: its reading as an interval of billionths, none where it does not apply.
    readings: Vec<Option<Interval>>,
    coverage: Interval,
    /// Units of 1e-15.
    composite: Interval,
    score: Interval,
}

impl<'a> ItemRange<'a> {
    fn new(scorer: &'a Scorer, record: &'a Record<'a>) -> Self {
        let coverage = record.coverage as f64 / BILLION as f64;
        let unit = Interval { low: 0.0, high: BILLION as f64 };
        let mut item = Self {
            card: &scorer.card,
            facts: record.item.facts,
            readings: alloc::vec![None; record.dimensions.len()],
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
            let missing = matches!(dimension.status, ReadingStatus::Missing | ReadingStatus::Failed);
            let point = dimension.reading.map(|reading| Interval::point(reading as f64));
            let range = if missing {
                Some(unit)
            } else if rests_on_missing {
                let range = item.reading(at).map_or(unit, |range| range);
                Some(point.map_or(range, |point| point.hull(range)))
            } else {
                point
            };
            if missing {
                item.coverage.high = 1.0;
            }
            if let (Some(slot), Some(open)) = (item.readings.get_mut(at), open.get_mut(at)) {
                *slot = range;
                *open = missing || rests_on_missing;
            }
        }
        item
    }

    fn fact_is_missing(&self, fact: usize) -> bool {
        match self.facts.get(fact) {
            Some(Fact::Number(value)) => {
                self.card.facts.get(fact).is_some_and(|declared| declared.unknown == Some(*value))
            }
            Some(Fact::Missing) | None => true,
            Some(_) => false,
        }
    }

    /// The reading of a dimension whose facts are partly missing, in billionths; none if it can only not apply.
    fn reading(&self, at: usize) -> Option<Interval> {
        let dimension = self.card.dimensions.get(at)?;
        let truth = |formula: &Option<Formula>| match formula {
            Some(formula) => evaluate(&formula.expr, self).flag(),
            None => Some(true),
        };
        let zero = Interval::point(0.0);
        let value = evaluate(&dimension.formula.expr, self)
            .number()
            .intersect(Interval::UNIT)
            .unwrap_or(Interval::UNIT);
        let grid = |value: f64| round(value * BILLION as f64);
        let value = Interval { low: grid(value.low), high: grid(value.high) };
        let open = match truth(&dimension.when) {
            Some(true) => value,
            Some(false) => zero,
            None => value.hull(zero),
        };
        match truth(&dimension.applies) {
            Some(true) => Some(open),
            // Leaving a dimension out moves a mean no further than a reading of 0 or 1 does.
            _ => None,
        }
    }

    /// Steps 4 to 6 over intervals; none where nothing applies.
    fn score(&mut self, scorer: &Scorer, profile: usize) -> Option<Interval> {
        let end = |high: bool| {
            mean_of_point(scorer, profile, &|dimension| {
                let range = self.readings.get(dimension).copied().flatten()?;
                Some(if high { range.high } else { range.low })
            })
        };
        self.composite = Interval { low: end(false)?, high: end(true)? };
        self.score = self.composite;
        for rule in &self.card.rules {
            let fires = evaluate(&rule.when.expr, self).flag();
            let set = || {
                let value = evaluate(&rule.set.expr, self)
                    .number()
                    .intersect(Interval::UNIT)
                    .unwrap_or(Interval::UNIT);
                let grid = |value: f64| round(value * UNITS_PER_ONE as f64);
                Interval { low: grid(value.low), high: grid(value.high) }
            };
            self.score = match fires {
                Some(true) => set(),
                Some(false) => self.score,
                None => self.score.hull(set()),
            };
        }
        for gate in &self.card.gates {
            let Some(cap) = gate.cap else { continue };
            let cap = (cap.millionths() * (UNITS_PER_ONE / MILLION) / i64::from(self.card.scale.max)) as f64;
            match evaluate(&gate.when.expr, self).flag() {
                Some(true) => {
                    self.score = Interval { low: self.score.low.min(cap), high: self.score.high.min(cap) }
                }
                Some(false) => {}
                None => self.score.low = self.score.low.min(cap),
            }
        }
        Some(self.score)
    }
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
            Symbol::Let(at) => match self.card.lets.get(at) {
                Some(named) => crate::check::range::evaluate_known(&named.formula.expr, self),
                None => (Range::Number(Interval::EVERYTHING), Known::Perhaps),
            },
            Symbol::Reading(at) => match self.readings.get(at).copied().flatten() {
                Some(range) if range.low >= range.high => {
                    (Range::Number(scaled(range, BILLION as f64)), Known::Surely)
                }
                Some(range) => (Range::Number(scaled(range, BILLION as f64)), Known::Perhaps),
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
    /// The declared range of a fact, cut at the fact that bounds it where that one is known.
    fn declared(&self, at: usize) -> Range {
        let Some(declared) = self.card.facts.get(at) else { return Range::Number(Interval::EVERYTHING) };
        if declared.kind == FactType::Boolean {
            return Range::Flag(None);
        }
        let bound = declared.max_fact.and_then(|other| match self.facts.get(other) {
            Some(Fact::Number(value)) if !self.fact_is_missing(other) => Some(*value),
            _ => None,
        });
        let high = bound.map_or(declared.max, |bound| declared.max.min(bound));
        Range::Number(Interval { low: declared.min, high: high.max(declared.min) })
    }
}
