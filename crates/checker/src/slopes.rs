//! The steepest place of every dimension in every fact: how far its value can go while one fact moves by a small step.
//!
//! Under several settings of the other facts one of them walks through its range. Where the value moves far between two places,
//! the half in which it moves further is halved again, down to a small step. So what is reported is always reached; a needle
//! between two places may be missed.

use alloc::vec::Vec;

use super::cliffs::is_comparison;
use super::points::{Cone, Hints, Point};
use super::reach::Reach;
use super::roots::{Roots, let_roots, lets_of, roots_of};
use karat_core::formula::{Binary, Expr, ExprKind, Function, Symbol};
use karat_core::range::{Interval, evaluate};
use karat_core::scorecard::FactType;

/// A small step, as a part of the declared range of a fact; of the fact itself where the range has no end.
const SMALL_STEP: f64 = 0.001;
/// A cliff: within a small step the value moves by more than this. A value that takes a hundredth of the range of a fact to
/// go from one end to the other is the steepest that is not a cliff.
const CLIFF_HEIGHT: f64 = 0.1 + 1e-9;
/// The ratio of the step of a count to the steps next to it from which on it is a cliff.
const COUNT_FACTOR: f64 = 10.0;
/// A count that moves a value by less, over all of its range, is not reported.
const COUNT_MATTERS: f64 = 0.05;
/// The numbers of a count that are looked at one by one.
const COUNT_LONG: u32 = 64;

/// Bytes of formulas that are evaluated for one card, and for one fact of one formula.
const BUDGET: usize = 30_000_000;
const BUDGET_OF_ONE: usize = 400_000;
/// Settings of the other facts.
const SETTINGS: u64 = 12;
/// Places of a walk through a range.
const PLACES: u32 = 64;
/// Powers of ten in which a range without an end is walked through, in halves.
const POWERS: i32 = 24;
/// Halvings that find the ends of a steep place.
const HALVINGS: u32 = 60;

/// A place where a value moves far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    /// The fact before and after.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The change of the value, with its sign.
    pub(super) change: f64,
}

impl Place {
    fn height(&self) -> f64 {
        self.change.abs()
    }
}

/// Returns the higher of two places.
fn higher(one: Option<Place>, other: Option<Place>) -> Option<Place> {
    one.into_iter()
        .chain(other)
        .reduce(|one, other| if other.height() > one.height() * (1.0 + 1e-9) { other } else { one })
}

/// The steepest place of one formula in one of its inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steepest {
    pub(super) input: Symbol,
    /// The largest change within a small step.
    pub(super) place: Place,
    /// A change within a small step that is a cliff and no comparison that is looked at by itself.
    pub(super) cliff: Option<Place>,
}

/// Looks for the steepest places, as long as its budget lasts.
pub(super) struct Slopes<'s, 'c> {
    reach: &'s Reach<'s, 'c>,
    hints: Hints,
    roots: Vec<Roots>,
    left: usize,
    /// The formulas that still wait.
    waiting: usize,
}

impl<'s, 'c> Slopes<'s, 'c> {
    /// Prepares for a number of formulas.
    pub(super) fn new(reach: &'s Reach<'s, 'c>, formulas: usize) -> Self {
        let card = reach.declared.card;
        Self {
            reach,
            hints: Hints::new(card),
            roots: let_roots(card),
            left: BUDGET,
            waiting: formulas.max(1),
        }
    }

    /// Returns the steepest place of a formula in each of its inputs, with everything present; where something replaces
    /// what is missing also without that.
    pub(super) fn of(
        &mut self,
        formula: &Expr<Symbol>,
        conditions: &[&Expr<Symbol>],
        opens_readings: bool,
    ) -> Vec<Steepest> {
        let card = self.reach.declared.card;
        let all: Vec<&Expr<Symbol>> = conditions.iter().copied().chain([formula]).collect();
        let cone = Cone::new(card, &all, opens_readings);
        let lets = all.iter().flat_map(|formula| lets_of(card, formula)).filter_map(|at| card.lets.get(at));
        let parts: Vec<&Expr<Symbol>> =
            lets.map(|named| &named.formula.expr).chain(all.iter().copied()).flat_map(Expr::parts).collect();
        let own = all.iter().map(|formula| formula.span.len()).sum::<usize>();
        let mut search = Search {
            reach: self.reach,
            cone: &cone,
            formula,
            conditions,
            comparisons: parts.iter().copied().filter(|node| is_comparison(node)).collect(),
            cost: cone.size + own + 8,
            left: 0,
            moving: Symbol::Score,
            is_measured: false,
            best: None,
            cliff: None,
        };
        let replaced = parts.iter().filter_map(|node| match &node.kind {
            ExprKind::Call(Function::Coalesce | Function::IsMissing, operands) => operands.first(),
            _ => None,
        });
        let mut gone: Vec<Symbol> = replaced.flat_map(|operand| roots_of(operand, &self.roots)).collect();
        gone.retain(|symbol| matches!(symbol, Symbol::Fact(_)));
        let share = self.left / self.waiting;
        self.waiting = self.waiting.saturating_sub(1).max(1);
        let moving: Vec<Symbol> = cone.inputs.iter().copied().filter(|input| self.can_move(*input)).collect();
        let each = (share / moving.len().max(1)).clamp(2 * PLACES as usize, BUDGET_OF_ONE);
        let mut found = Vec::new();
        for input in moving {
            // A formula of thousands of operations is looked at in as many inputs as its share lasts for.
            if self.left < 4 * search.cost {
                break;
            }
            (search.moving, search.left) =
                (input, each.max(PLACES as usize * search.cost / 2).min(self.left));
            (search.best, search.cliff) = (None, None);
            search.is_measured = parts.iter().any(|node| self.measures(node, input));
            let before = search.left;
            for sample in 0..SETTINGS {
                let point = Point::draw(self.reach, &cone, sample, &self.hints);
                let is_whole = gone.contains(&input) || sample % 2 == 0;
                search.walk(point, sample, if is_whole { &[] } else { &gone });
                if cone.inputs.len() == 1 || search.left == 0 {
                    break;
                }
            }
            if search.is_count() {
                search.of_count(&self.hints);
            }
            self.left = self.left.saturating_sub(before - search.left);
            found.extend(search.best.map(|place| Steepest { input, place, cliff: search.cliff }));
        }
        found
    }

    /// Returns whether an input is a number with something between its ends.
    fn can_move(&self, input: Symbol) -> bool {
        let facts = &self.reach.declared.card.facts;
        let is_flag = matches!(input, Symbol::Fact(at) if facts.get(at).is_some_and(|fact| fact.kind != FactType::Number));
        let Interval { low, high } = self.reach.anywhere(input).number();
        !is_flag && low < high
    }

    /// Returns whether an input is divided by another, or divides one: what is small then shows in proportion only.
    fn measures(&self, node: &Expr<Symbol>, input: Symbol) -> bool {
        let ExprKind::Binary(Binary::Divide, above, below) = &node.kind else { return false };
        let (above, below) = (roots_of(above, &self.roots), roots_of(below, &self.roots));
        let other = |roots: &[Symbol]| roots.iter().any(|root| *root != input);
        (above.contains(&input) && other(&below)) || (below.contains(&input) && other(&above))
    }
}

/// The search for the steepest place in one input.
struct Search<'f, 's, 'c> {
    reach: &'s Reach<'s, 'c>,
    cone: &'f Cone,
    formula: &'f Expr<Symbol>,
    conditions: &'f [&'f Expr<Symbol>],
    /// Comparisons of the formula itself, its lets and conditions, which are looked at by themselves.
    comparisons: Vec<&'f Expr<Symbol>>,
    cost: usize,
    left: usize,
    moving: Symbol,
    /// The moving input is measured against another, so that only a change in proportion is small.
    is_measured: bool,
    best: Option<Place>,
    cliff: Option<Place>,
}

impl Search<'_, '_, '_> {
    fn is_count(&self) -> bool {
        self.reach.declared.is_integer(self.moving)
    }

    /// Returns the value with the moving input at a place, if it counts there and has one.
    fn value(&mut self, point: &mut Point<'_, '_>, at: f64) -> Option<f64> {
        self.left = self.left.saturating_sub(self.cost);
        point.set(self.moving, at);
        let counts =
            self.conditions.iter().all(|condition| point.value(condition).is_some_and(|holds| holds > 0.5));
        point.value(self.formula).filter(|_| counts).map(|value| value.clamp(0.0, 1.0))
    }

    /// Returns which comparisons hold at a place.
    fn sides(&mut self, point: &mut Point<'_, '_>, at: f64) -> Vec<Option<bool>> {
        self.left = self.left.saturating_sub(self.cost);
        point.set(self.moving, at);
        self.comparisons.iter().map(|comparison| evaluate(comparison, point).flag()).collect()
    }

    /// Walks through the range of the moving input.
    fn walk(&mut self, mut point: Point<'_, '_>, sample: u64, gone: &[Symbol]) {
        gone.iter().for_each(|symbol| point.forget(*symbol));
        // The middle first, then everything high, then low; last everything high but small wholes.
        let part = [0.5, 1.0, 0.0, 1.0].get(sample as usize).copied();
        part.into_iter().for_each(|part| point.spread(|_| part));
        let wholes = self.reach.declared.card.facts.iter().filter_map(|fact| fact.max_fact).map(Symbol::Fact);
        let wholes = wholes.filter(|whole| sample == 3 && self.reach.declared.is_integer(*whole));
        wholes.for_each(|whole| point.set(whole, self.reach.anywhere(whole).number().low.max(1.0)));
        point.set(self.moving, point.limits(self.moving).high.min(1e12));
        point.fit();
        let limits = point.limits(self.moving);
        let places = self.places(limits);
        let mut before: Option<(f64, f64)> = None;
        for at in places {
            if self.left == 0 {
                return;
            }
            let found = self.value(&mut point, at).map(|value| (at, value));
            if let (Some((a, from)), Some((b, to))) = (before, found) {
                let most = (to - from).abs();
                let steep = most * (self.step(b) / (b - a)).min(1.0);
                if most > CLIFF_HEIGHT || steep > self.best.map_or(0.0, |best| best.height()) {
                    self.zoom(&mut point, (a, from), (b, to));
                }
            }
            before = found;
            self.try_step(&mut point, at);
        }
    }

    /// Returns the places of a walk, lowest first.
    fn places(&self, Interval { low, high }: Interval) -> Vec<f64> {
        let fewer = (self.left / self.cost / 4).clamp(8, PLACES as usize) as u32;
        let mut places: Vec<f64> = if low.is_finite() && high.is_finite() {
            (0..=fewer).map(|part| low + (high - low) * f64::from(part) / f64::from(fewer)).collect()
        } else {
            let sizes = (-POWERS..=POWERS).map(|half| libm::pow(10.0, f64::from(half) / 2.0));
            let sides: &[f64] = match (low.is_finite(), high.is_finite()) {
                (true, _) => &[1.0],
                (_, true) => &[-1.0],
                _ => &[-1.0, 1.0],
            };
            let start = if low.is_finite() { low } else { high.min(0.0) };
            let start = if start.is_finite() { start } else { 0.0 };
            sizes.flat_map(|size| sides.iter().map(move |side| start + side * size)).chain([start]).collect()
        };
        if self.is_count() {
            places.iter_mut().for_each(|at| *at = libm::floor(*at));
        }
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// Halves the way between two places, always where the value moves further, down to a small step.
    fn zoom(&mut self, point: &mut Point<'_, '_>, mut from: (f64, f64), mut to: (f64, f64)) {
        for _ in 0..HALVINGS {
            if to.0 - from.0 <= self.step(to.0) || self.left == 0 {
                break;
            }
            // Numbers of unlike size have their middle in size.
            let middle = if from.0 > 0.0 && to.0 > 4.0 * from.0 {
                libm::sqrt(from.0 * to.0)
            } else {
                from.0 + (to.0 - from.0) / 2.0
            };
            let middle = if self.is_count() { libm::floor(middle) } else { middle };
            if middle <= from.0 || middle >= to.0 {
                break;
            }
            let Some(value) = self.value(point, middle) else { break };
            let is_first = (value - from.1).abs() >= (to.1 - value).abs();
            *(if is_first { &mut to } else { &mut from }) = (middle, value);
        }
        self.try_step(point, from.0);
        let middle = from.0 + (to.0 - from.0) / 2.0;
        let mut shift = self.step(middle) / 2.0;
        self.try_step(point, middle - shift);
        for _ in 0..6 {
            shift /= 2.0;
            let around = self.best.map_or(middle, |best| best.from);
            [around - shift, around + shift].into_iter().for_each(|at| self.try_step(point, at));
        }
    }

    /// Returns a small step at a value of the moving input.
    fn step(&self, at: f64) -> f64 {
        let Interval { low, high } = self.reach.anywhere(self.moving).number();
        let size = match (low.is_finite(), high.is_finite()) {
            (true, true) => high - low,
            (true, false) => at.abs().max((at - low).abs()),
            (false, true) => at.abs().max((high - at).abs()),
            (false, false) => at.abs().max(1.0),
        };
        let size = if self.is_measured { size.min(at.abs()) } else { size };
        let step = size * SMALL_STEP;
        if self.is_count() { libm::floor(step).max(1.0) } else { step }
    }

    /// Looks at a small step from a place on.
    fn try_step(&mut self, point: &mut Point<'_, '_>, at: f64) {
        let Interval { low, high } = point.limits(self.moving);
        let step = self.step(at);
        let from = at.min(high - step).max(low);
        let from = if self.is_count() { libm::floor(from) } else { from };
        let to = (from + step).min(high);
        if to <= from {
            return;
        }
        let (Some(a), Some(b)) = (self.value(point, from), self.value(point, to)) else { return };
        self.best = higher(self.best, Some(Place { from, to, change: b - a }));
        // Steps of a count from one number to the next are looked at by themselves.
        if (b - a).abs() <= CLIFF_HEIGHT || (self.is_count() && to - from <= 1.0) {
            return;
        }
        let (before, after) = (self.sides(point, from), self.sides(point, to));
        if before == after {
            self.note(point, from, to);
            return;
        }
        // A comparison turns within the step: both sides of it are looked at.
        let (mut low, mut high) = (from, to);
        for _ in 0..HALVINGS {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high || self.left == 0 {
                break;
            }
            *(if self.sides(point, middle) == before { &mut low } else { &mut high }) = middle;
        }
        for (from, to) in [(from, low), (high, to)] {
            if self.sides(point, from) == self.sides(point, to) {
                self.note(point, from, to);
            }
        }
    }

    /// Notes a cliff: the shortest part of a steep place that has nearly all of its height.
    fn note(&mut self, point: &mut Point<'_, '_>, from: f64, to: f64) {
        let (Some(first), Some(last)) = (self.value(point, from), self.value(point, to)) else { return };
        let place = Place { from, to, change: last - first };
        let is_known = self.cliff.is_some_and(|cliff| cliff.height() >= place.height());
        if is_known || place.height() <= CLIFF_HEIGHT {
            return;
        }
        let (mut from, mut end, mut to) = (from, to, to);
        if !self.is_count() {
            for _ in 0..HALVINGS {
                let middle = from + (end - from) / 2.0;
                let is_high =
                    self.value(point, middle).is_some_and(|it| (last - it).abs() >= 0.998 * place.height());
                *(if is_high { &mut from } else { &mut end }) = middle;
            }
            let first = self.value(point, from).unwrap_or(first);
            let mut start = from;
            for _ in 0..HALVINGS {
                let middle = start + (to - start) / 2.0;
                let is_high =
                    self.value(point, middle).is_some_and(|it| (it - first).abs() >= 0.996 * place.height());
                *(if is_high { &mut to } else { &mut start }) = middle;
            }
        }
        self.cliff = Some(Place { from, to, ..place });
    }

    /// Notes the step of a count that is a cliff under every setting of the other inputs under which the count matters: a part of a
    /// small whole also makes large steps, but as large ones as its whole lets it.
    fn of_count(&mut self, hints: &Hints) {
        let mut highest = None;
        for sample in 0..SETTINGS {
            let mut point = Point::draw(self.reach, self.cone, sample, hints);
            let all = self.reach.anywhere(self.moving).number();
            let first = if all.low.is_finite() { all.low } else { all.high.min(32.0) - 64.0 };
            point.set(self.moving, first);
            point.fit();
            let limits = point.limits(self.moving);
            let first = first.max(limits.low.min(first + f64::from(COUNT_LONG)));
            let mut values: Vec<(f64, Option<f64>, bool)> = Vec::new();
            let mut before = Vec::new();
            for at in
                (0..=COUNT_LONG).map(|steps| first + f64::from(steps)).take_while(|at| *at <= limits.high)
            {
                let sides = self.sides(&mut point, at);
                values.push((at, self.value(&mut point, at), values.is_empty() || sides == before));
                before = sides;
            }
            match steepest_count(&values) {
                Count::Mute => {}
                Count::Smooth => return,
                Count::Step(place) => highest = higher(highest, Some(place)),
            }
            if self.cone.inputs.len() == 1 {
                break;
            }
        }
        self.cliff = higher(self.cliff, highest);
    }
}

/// The steps of a count under one setting.
enum Count {
    /// It hardly moves the value.
    Mute,
    /// It moves the value without a cliff.
    Smooth,
    Step(Place),
}

/// Finds the highest step that rises above those next to it; steps where a comparison turns are looked at by themselves.
fn steepest_count(values: &[(f64, Option<f64>, bool)]) -> Count {
    let known = || values.iter().filter_map(|(_, value, _)| *value);
    let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    if high - low < COUNT_MATTERS || high.is_infinite() {
        return Count::Mute;
    }
    let steps: Vec<Option<Place>> = values
        .array_windows()
        .map(|[(from, a, _), (to, b, same)]| {
            let change = (*a).zip(*b).map(|(a, b)| b - a).filter(|_| *same)?;
            Some(Place { from: *from, to: *to, change })
        })
        .collect();
    // A count of two numbers is a condition.
    if steps.len() < 2 {
        return Count::Smooth;
    }
    let height = |at: usize| steps.get(at).copied().flatten().map_or(0.0, |place| place.height());
    let cliffs = steps.iter().enumerate().filter_map(|(at, place)| {
        let beside = height(at + 1).max(at.checked_sub(1).map_or(0.0, height));
        place.filter(|place| place.height() > CLIFF_HEIGHT && place.height() >= COUNT_FACTOR * beside)
    });
    cliffs.fold(None, |one, other| higher(one, Some(other))).map_or(Count::Smooth, Count::Step)
}
