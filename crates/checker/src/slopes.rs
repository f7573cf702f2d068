//! The steepest place of every dimension in every fact: how far its value can go while one fact moves by a small step.
//!
//! Over a box of facts, intervals bound the change within one step. The box with the highest bound is split, and points in it
//! show what is really reached, until nothing higher is left or the budget is spent. So what is reported is always
//! reached, and where the search ends early it may be missed, never invented.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::graph::{Graph, Value};
use super::moved::Moved;
use karat_core::formula::{Expr, Symbol};
use karat_core::range::Interval;
use karat_core::scorecard::Scorecard;

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
/// Settings of the other facts under which a count is looked at.
const COUNT_SETTINGS: u64 = 10;

/// Operations that are computed for one card, and for one fact of one formula.
const BUDGET: usize = 12_000_000;
const BUDGET_OF_ONE: usize = 250_000;
/// An open range of the fact that moves is searched up to here, and from 0 in steps from here on.
const FAR: f64 = 1e12;
const NEAR: f64 = 1e-12;
/// Open ranges of the other facts are searched near their start, where quantities usually lie.
const USUAL: f64 = 20.0;
/// Boxes are split in the other facts down to this part of their range.
const FINEST: f64 = 1.0 / 64.0;
/// Within a small step boxes are split down to this part of it.
const FINEST_STEP: f64 = 1e-6;
/// Boxes after which a search that can find no cliff any more ends.
const ENOUGH: u32 = 48;
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

/// The steepest place of one formula in one of its inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steepest {
    pub(super) input: Symbol,
    /// The largest change within a small step.
    pub(super) place: Place,
    /// The largest change within a small step anywhere, where that is proved.
    pub(super) at_most: Option<f64>,
    /// A change within a small step that is a cliff and no comparison that is looked at by itself.
    pub(super) cliff: Option<Place>,
}

/// Looks for the steepest places, as long as its budget lasts.
pub(super) struct Slopes {
    left: usize,
    /// The formulas that still wait.
    waiting: usize,
}

impl Slopes {
    /// Prepares for a number of formulas.
    pub(super) fn new(formulas: usize) -> Self {
        Self { left: BUDGET, waiting: formulas.max(1) }
    }

    /// Returns the steepest place of a formula in each of its inputs, with everything present; where something replaces
    /// what is missing also without that.
    pub(super) fn of(
        &mut self,
        card: &Scorecard,
        formula: &Expr<Symbol>,
        conditions: &[&Expr<Symbol>],
        opens_readings: bool,
    ) -> Vec<Steepest> {
        let build = |absent| Graph::new(card, formula, conditions, opens_readings, absent);
        let share = self.left / self.waiting;
        self.waiting = self.waiting.saturating_sub(1).max(1);
        let Some(graph) = build(Vec::new()) else { return Vec::new() };
        let mut found = Vec::new();
        let replaceable = graph.replaceable();
        let rounds = if replaceable.is_empty() { 1 } else { 2 };
        self.search(&graph, share / rounds, &mut found);
        if rounds > 1
            && let Some(without) = build(replaceable)
        {
            let mut others = Vec::new();
            self.search(&without, share / rounds, &mut others);
            for other in others {
                match found.iter_mut().find(|known| known.input == other.input) {
                    Some(known) => known.join(other),
                    None => found.push(other),
                }
            }
        }
        found
    }

    fn search(&mut self, graph: &Graph<'_>, share: usize, found: &mut Vec<Steepest>) {
        let moving: Vec<usize> = (0..graph.inputs.len()).filter(|&input| graph.can_move(input)).collect();
        let mut waiting = moving.len();
        let mut share = share;
        for input in moving {
            let Some(&symbol) = graph.inputs.get(input) else { continue };
            // A formula of thousands of operations is looked at in as many inputs as its share lasts for.
            if share < 10 * graph.len() {
                break;
            }
            let each = (share / waiting.max(1)).clamp(10 * graph.len(), BUDGET_OF_ONE.max(10 * graph.len()));
            waiting = waiting.saturating_sub(1);
            let mut search = Search::new(graph, input, each);
            search.run();
            let used = each.saturating_sub(search.left) + graph.len();
            share = share.saturating_sub(used);
            self.left = self.left.saturating_sub(used);
            let Some(place) = search.best else { continue };
            let mut cliff = search.cliff;
            if graph.is_integer(input) {
                let step = search.of_count();
                if step.is_some_and(|step| cliff.is_none_or(|known| step.height() > known.height())) {
                    cliff = step;
                }
            }
            let cliff = cliff.map(|cliff| search.narrowed(cliff));
            found.push(Steepest { input: symbol, place, at_most: search.at_most, cliff });
        }
    }
}

impl Steepest {
    fn join(&mut self, other: Self) {
        if other.place.height() > self.place.height() {
            self.place = other.place;
        }
        self.at_most = self.at_most.zip(other.at_most).map(|(a, b)| a.max(b));
        let height = |cliff: &Option<Place>| cliff.map_or(0.0, |cliff| cliff.height());
        if height(&other.cliff) > height(&self.cliff) {
            self.cliff = other.cliff;
        }
    }
}

/// A box of inputs that is still to be looked at.
struct Candidate {
    upper: f64,
    within: Vec<Interval>,
    /// Both ends of a step lie in the box; otherwise only its start does.
    is_inner: bool,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.upper.total_cmp(&other.upper)
    }
}

/// The search for the steepest place in one input.
struct Search<'g, 'c> {
    graph: &'g Graph<'c>,
    moving: usize,
    left: usize,
    /// The moving input is measured against another, so that only a change in proportion is small.
    is_measured: bool,
    best: Option<Place>,
    cliff: Option<Place>,
    at_most: Option<f64>,
    /// The setting of the inputs at the cliff.
    setting: Vec<f64>,
    ranges: Vec<Moved>,
    before: Vec<Value>,
    after: Vec<Value>,
    between: Vec<Value>,
}

impl<'g, 'c> Search<'g, 'c> {
    fn new(graph: &'g Graph<'c>, moving: usize, budget: usize) -> Self {
        Self {
            graph,
            moving,
            left: budget,
            is_measured: graph.is_measured(moving),
            best: None,
            cliff: None,
            at_most: None,
            setting: Vec::new(),
            ranges: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            between: Vec::new(),
        }
    }

    fn run(&mut self) {
        let inputs = 0..self.graph.inputs.len();
        let within: Vec<Interval> = inputs
            .map(|input| match self.graph.declared(input) {
                declared if self.graph.is_absent(input) => Interval::point(declared.low),
                declared => searched(declared, if input == self.moving { FAR } else { USUAL }),
            })
            .collect();
        let mut waiting = BinaryHeap::new();
        self.look(within, false, &mut waiting);
        // What is bounded but can not be split further.
        let mut settled: f64 = 0.0;
        for turn in 0_u32.. {
            let Some(next) = waiting.pop() else { break };
            let best = self.best.map_or(0.0, |place| place.height());
            let cliff = self.cliff.map_or(0.0, |place| place.height());
            let is_best = next.upper <= best * 1.001 + 1e-12;
            let is_no_cliff = next.upper <= CLIFF_HEIGHT || next.upper <= cliff * 1.001;
            let is_enough = turn >= ENOUGH && is_no_cliff;
            if self.left == 0 || (is_no_cliff && is_best) || is_enough {
                let outer = waiting.iter().chain([&next]).filter(|candidate| !candidate.is_inner);
                settled = outer.fold(settled, |most, candidate| most.max(candidate.upper));
                break;
            }
            match self.split(&next) {
                Some(halves) => {
                    halves.into_iter().for_each(|half| self.look(half, next.is_inner, &mut waiting))
                }
                None if next.is_inner => {}
                None => {
                    settled = settled.max(next.upper);
                    // A notch shows neither before nor after a step, but between.
                    if !is_no_cliff && !self.graph.is_integer(self.moving) {
                        self.look(self.reached(&next.within), true, &mut waiting);
                    }
                }
            }
        }
        let is_closed = (0..self.graph.inputs.len()).all(|input| {
            let declared = self.graph.declared(input);
            declared.low.is_finite() && declared.high.is_finite()
        });
        let best = self.best.map_or(0.0, |place| place.height());
        self.at_most = is_closed.then_some(settled.max(best));
    }

    /// Returns a box with everything that a step from it reaches.
    fn reached(&self, within: &[Interval]) -> Vec<Interval> {
        let mut reached = within.to_vec();
        if let Some(range) = reached.get_mut(self.moving) {
            range.high = (range.high + self.step(range.high)).min(self.graph.declared(self.moving).high);
        }
        reached
    }

    /// Bounds the change over a box, and tries points in it.
    fn look(&mut self, within: Vec<Interval>, is_inner: bool, waiting: &mut BinaryHeap<Candidate>) {
        let Some(&range) = within.get(self.moving) else { return };
        self.left = self.left.saturating_sub(3 * self.graph.len());
        let moved = if is_inner {
            self.graph.over(&within, self.moving, range.high - range.low, &mut self.ranges)
        } else {
            let step = self.step(range.low).max(self.step(range.high));
            self.graph.over(&self.reached(&within), self.moving, step, &mut self.ranges)
        };
        let upper = moved.change.low.abs().max(moved.change.high.abs());
        let steps = if is_inner {
            (range.low, range.high)
        } else {
            self.step_around(middle(range, is_open(self.graph.declared(self.moving))))
        };
        let parts: &[f64] = if upper <= 1e-12 { &[0.5] } else { &[0.5, 1.0, 0.0] };
        for part in parts {
            let point = self.point(&within, *part);
            self.try_step(point, steps);
        }
        if upper > 1e-12 {
            waiting.push(Candidate { upper, within, is_inner });
        }
    }

    /// Returns a small step around `at`, within the declared range.
    fn step_around(&self, at: f64) -> (f64, f64) {
        let declared = self.graph.declared(self.moving);
        let step = self.step(at);
        let from = (at - step / 2.0).min(declared.high - step).max(declared.low);
        let from = if self.graph.is_integer(self.moving) { libm::floor(from) } else { from };
        (from, (from + step).min(declared.high))
    }

    /// Returns a small step at a value of the moving input.
    fn step(&self, at: f64) -> f64 {
        let declared = self.graph.declared(self.moving);
        let size = match (declared.low.is_finite(), declared.high.is_finite()) {
            (true, true) => declared.high - declared.low,
            (true, false) => at.abs().max((at - declared.low).abs()),
            (false, true) => at.abs().max((declared.high - at).abs()),
            (false, false) => at.abs().max(1.0),
        };
        let size = if self.is_measured { size.min(at.abs()) } else { size };
        let step = size * SMALL_STEP;
        if self.graph.is_integer(self.moving) { libm::floor(step).max(1.0) } else { step }
    }

    /// Returns a setting of all inputs within a box: `part` of the way from the lowest to the highest.
    fn point(&self, within: &[Interval], part: f64) -> Vec<f64> {
        let chosen = within.iter().enumerate().map(|(input, range)| {
            let value = if part <= 0.0 {
                range.low
            } else if part >= 1.0 {
                range.high
            } else {
                middle(*range, is_open(self.graph.declared(input)))
            };
            if self.graph.is_integer(input) { libm::floor(value) } else { value }
        });
        chosen.collect()
    }

    /// Looks at a step, if the card allows it.
    fn try_step(&mut self, mut point: Vec<f64>, (from, to): (f64, f64)) {
        if to <= from || !self.fit(&mut point, from, to) {
            return;
        }
        self.left = self.left.saturating_sub(2 * self.graph.len());
        self.compute(&mut point, from, to);
        let (a, b) = (self.graph.result(&self.before), self.graph.result(&self.after));
        if let (Some(a), Some(b)) = (a, b) {
            let place = Place { from, to, change: b - a };
            if self.best.is_none_or(|best| place.height() > best.height()) {
                self.best = Some(place);
            }
        }
        // Steps of a count from one number to the next are looked at by themselves.
        if self.graph.is_integer(self.moving) && to - from <= 1.0 {
            return;
        }
        if self.graph.is_same_side(&self.before, &self.after) {
            if let (Some(a), Some(b)) = (a, b) {
                self.note(&point, Place { from, to, change: b - a });
            }
        } else {
            self.beside_the_turn(&mut point, from, to);
        }
    }

    fn compute(&mut self, point: &mut [f64], from: f64, to: f64) {
        if let Some(slot) = point.get_mut(self.moving) {
            *slot = from;
        }
        self.graph.compute(point, &mut self.before);
        if let Some(slot) = point.get_mut(self.moving) {
            *slot = to;
        }
        self.graph.compute(point, &mut self.after);
    }

    fn note(&mut self, point: &[f64], place: Place) {
        if place.height() > CLIFF_HEIGHT && self.cliff.is_none_or(|cliff| place.height() > cliff.height()) {
            self.cliff = Some(place);
            self.setting = point.to_vec();
        }
    }

    /// Looks at both sides of a comparison that turns within a step.
    fn beside_the_turn(&mut self, point: &mut [f64], from: f64, to: f64) {
        let (mut low, mut high) = (from, to);
        for _ in 0..HALVINGS {
            let middle = low + (high - low) / 2.0;
            if middle <= low || middle >= high || self.left == 0 {
                break;
            }
            self.left = self.left.saturating_sub(self.graph.len());
            if let Some(slot) = point.get_mut(self.moving) {
                *slot = middle;
            }
            self.graph.compute(point, &mut self.between);
            if self.graph.is_same_side(&self.before, &self.between) {
                low = middle;
            } else {
                high = middle;
            }
        }
        for (from, to) in [(from, low), (high, to)] {
            self.compute(point, from, to);
            if self.graph.is_same_side(&self.before, &self.after)
                && let (Some(a), Some(b)) = (self.graph.result(&self.before), self.graph.result(&self.after))
            {
                self.note(point, Place { from, to, change: b - a });
            }
        }
    }

    /// Changes a setting so that no part exceeds its whole; false if that cannot be.
    fn fit(&self, point: &mut [f64], from: f64, to: f64) -> bool {
        let moving = self.moving;
        if let Some(bound) = self.graph.bound_of(moving) {
            let limit = self.graph.declared(bound).high;
            match point.get_mut(bound) {
                Some(slot) if to <= limit => *slot = slot.max(to),
                _ => return false,
            }
        }
        let highest = |point: &[f64], input: usize| {
            let bound = self.graph.bound_of(input)?;
            if bound == moving { Some(from) } else { point.get(bound).copied() }
        };
        // A part may be a whole itself.
        for _ in 0..3 {
            for input in (0..point.len()).filter(|&input| input != moving) {
                let Some(most) = highest(point, input) else { continue };
                if most < self.graph.declared(input).low {
                    return false;
                }
                if let Some(slot) = point.get_mut(input) {
                    *slot = slot.min(most);
                }
            }
        }
        true
    }

    /// Splits a box where it is widest. `None` if it is as small as it needs to be.
    fn split(&self, candidate: &Candidate) -> Option<[Vec<Interval>; 2]> {
        let within = &candidate.within;
        let finest = if candidate.is_inner { FINEST_STEP } else { 0.25 };
        let mut widest: Option<(usize, f64)> = None;
        for (input, range) in within.iter().enumerate() {
            let declared = self.graph.declared(input);
            let width = width(*range, declared);
            let is_splittable = if self.graph.is_integer(input) {
                range.high - range.low >= 1.0
            } else if input == self.moving {
                range.high - range.low > self.step(range.high) * finest
            } else {
                width > FINEST
            };
            let weight = if candidate.is_inner && input == self.moving { 2.0 } else { width };
            if is_splittable && widest.is_none_or(|(_, most)| weight > most) {
                widest = Some((input, weight));
            }
        }
        let (input, _) = widest?;
        let range = within.get(input)?;
        let [low, high] = halves(*range, self.graph.declared(input), self.graph.is_integer(input));
        let with = |half: Interval| {
            let mut parts = within.clone();
            parts.get_mut(input).into_iter().for_each(|slot| *slot = half);
            parts
        };
        Some([with(low), with(high)])
    }

    /// Returns the step of a count that is a cliff under every setting of the other inputs under which the count matters: a
    /// part of a small whole also makes large steps, but as large ones as its whole lets it.
    fn of_count(&mut self) -> Option<Place> {
        let declared = self.graph.declared(self.moving);
        let first = if declared.low.is_finite() { declared.low } else { declared.high.min(32.0) - 64.0 };
        let last = declared.high.min(first + f64::from(COUNT_LONG));
        let settings = if self.graph.inputs.len() > 1 { COUNT_SETTINGS } else { 1 };
        let mut highest: Option<(Place, Vec<f64>)> = None;
        for setting in 0..settings {
            let mut point = self.drawn(setting);
            let mut values: Vec<(f64, Option<f64>, bool)> = Vec::new();
            let mut at = first;
            while at <= last {
                let mut fitting = point.clone();
                if !self.fit(&mut fitting, at, at) {
                    break;
                }
                // The others stay as they are, or the step would not be of the count alone.
                if values.is_empty() {
                    point.clone_from(&fitting);
                } else if (0..point.len())
                    .any(|input| input != self.moving && fitting.get(input) != point.get(input))
                {
                    break;
                }
                if let Some(slot) = fitting.get_mut(self.moving) {
                    *slot = at;
                }
                self.graph.compute(&fitting, &mut self.after);
                let same = values.is_empty() || self.graph.is_same_side(&self.before, &self.after);
                values.push((at, self.graph.result(&self.after), same));
                core::mem::swap(&mut self.before, &mut self.after);
                at += 1.0;
            }
            let place = match steepest_count(&values) {
                Count::Mute => continue,
                Count::Smooth => return None,
                Count::Step(place) => place,
            };
            if highest.as_ref().is_none_or(|(known, _)| place.height() > known.height()) {
                highest = Some((place, point));
            }
        }
        let (place, point) = highest?;
        self.setting = point;
        Some(place)
    }

    /// Returns a repeatable setting of the inputs.
    fn drawn(&self, setting: u64) -> Vec<f64> {
        let mut dice = setting.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
        let mut roll = || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            dice >> 33
        };
        let values = (0..self.graph.inputs.len()).map(|input| {
            let declared = self.graph.declared(input);
            let chosen = roll();
            let value = if declared.low.is_finite() && declared.high.is_finite() {
                declared.low + (declared.high - declared.low) * (chosen % 5) as f64 / 4.0
            } else {
                let start = if declared.low.is_finite() { declared.low } else { declared.high.min(0.0) };
                let away = [1.0, 3.0, 10.0, 40.0, 1000.0].get((chosen % 5) as usize).copied().unwrap_or(1.0);
                if declared.low.is_finite() { start + away } else { start - away }
            };
            if self.graph.is_integer(input) { libm::floor(value) } else { value }
        });
        values.collect()
    }

    /// Returns the shortest part of a steep place that has nearly all of its height.
    fn narrowed(&mut self, place: Place) -> Place {
        if self.graph.is_integer(self.moving) {
            return place;
        }
        let mut point = core::mem::take(&mut self.setting);
        let mut value = |search: &mut Self, at: f64| {
            if let Some(slot) = point.get_mut(search.moving) {
                *slot = at;
            }
            search.graph.compute(&point, &mut search.between);
            search.graph.result(&search.between)
        };
        let (mut from, mut to) = (place.from, place.to);
        let Some(last) = value(self, to) else { return place };
        let mut end = to;
        for _ in 0..HALVINGS {
            let middle = from + (end - from) / 2.0;
            let is_high = value(self, middle).is_some_and(|it| (last - it).abs() >= 0.998 * place.height());
            if is_high { from = middle } else { end = middle }
        }
        let Some(first) = value(self, from) else { return place };
        let mut start = from;
        for _ in 0..HALVINGS {
            let middle = start + (to - start) / 2.0;
            let is_high = value(self, middle).is_some_and(|it| (it - first).abs() >= 0.996 * place.height());
            if is_high { to = middle } else { start = middle }
        }
        Place { from, to, ..place }
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
    let steps: Vec<(f64, f64, Option<f64>)> = values
        .windows(2)
        .filter_map(|pair| match pair {
            [(from, a, _), (to, b, same)] => {
                let change = (*a).zip(*b).map(|(a, b)| b - a);
                Some((*from, *to, change.filter(|_| *same)))
            }
            _ => None,
        })
        .collect();
    // A count of two numbers is a condition.
    if steps.len() < 2 {
        return Count::Smooth;
    }
    let height = |at: Option<usize>| {
        let step = at.and_then(|at| steps.get(at));
        step.and_then(|(.., change)| *change).map_or(0.0, f64::abs)
    };
    let mut highest: Option<Place> = None;
    for (at, (from, to, change)) in steps.iter().enumerate() {
        let Some(change) = *change else { continue };
        let beside = height(at.checked_sub(1)).max(height(Some(at + 1)));
        let is_cliff = change.abs() > CLIFF_HEIGHT && change.abs() >= COUNT_FACTOR * beside;
        if is_cliff && highest.is_none_or(|known| change.abs() > known.height()) {
            highest = Some(Place { from: *from, to: *to, change });
        }
    }
    highest.map_or(Count::Smooth, Count::Step)
}

/// Returns the part of a declared range that is searched; an open one up to `far`.
fn searched(declared: Interval, far: f64) -> Interval {
    match (declared.low.is_finite(), declared.high.is_finite()) {
        (true, true) => declared,
        (true, false) => Interval { low: declared.low, high: declared.low + far },
        (false, true) => Interval { low: declared.high - far, high: declared.high },
        (false, false) => Interval { low: -far, high: far },
    }
}

/// Returns whether a range has an open end, so that its size is not a measure.
fn is_open(declared: Interval) -> bool {
    declared.low.is_infinite() || declared.high.is_infinite()
}

/// Returns the middle of a range; of an open one the middle in size.
fn middle(range: Interval, is_open: bool) -> f64 {
    let mean = range.low + (range.high - range.low) / 2.0;
    if !is_open || range.low.is_sign_negative() != range.high.is_sign_negative() && range.low < 0.0 {
        return mean;
    }
    let least = if range.low.abs().min(range.high.abs()) <= 0.0 { NEAR } else { 0.0 };
    let size = libm::sqrt(range.low.abs().max(least) * range.high.abs().max(least));
    let size = if range.high <= 0.0 { -size } else { size };
    size.clamp(range.low, range.high)
}

/// Returns the width of a range as a part of the declared range; of an open one by size.
fn width(range: Interval, declared: Interval) -> f64 {
    if range.high <= range.low {
        return 0.0;
    }
    if !is_open(declared) {
        return (range.high - range.low) / (declared.high - declared.low);
    }
    if range.contains(0.0) {
        return 1.0;
    }
    let ratio = libm::log(range.low.abs() / range.high.abs()).abs();
    ratio / libm::log(FAR / NEAR)
}

/// Returns the two halves of a range.
fn halves(range: Interval, declared: Interval, is_integer: bool) -> [Interval; 2] {
    let Interval { low, high } = range;
    if is_integer {
        let middle = libm::floor(middle(range, is_open(declared))).clamp(low, high - 1.0);
        return [Interval { low, high: middle }, Interval { low: middle + 1.0, high }];
    }
    if is_open(declared) && low < 0.0 && high > 0.0 {
        return [Interval { low, high: 0.0 }, Interval { low: 0.0, high }];
    }
    if is_open(declared) && (0.0..NEAR).contains(&low) && high > NEAR {
        return [Interval { low, high: NEAR }, Interval { low: NEAR, high }];
    }
    if is_open(declared) && high <= 0.0 && high > -NEAR && low < -NEAR {
        return [Interval { low, high: -NEAR }, Interval { low: -NEAR, high }];
    }
    let middle = middle(range, is_open(declared));
    [Interval { low, high: middle }, Interval { low: middle, high }]
}
