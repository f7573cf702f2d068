//! Trials: the engine scores chosen facts, and what comes out shows what a card rewards: what the subject says of itself by
//! rules and gates (KC302), what is left out (KC304), and less of something than all of it (KC312).

use alloc::format;
use alloc::vec::Vec;
use core::cell::Cell;

use super::advice;
use super::cliffs::points;
use super::declared::{formulas, limits};
use super::direction::{Direction, Reaches};
use super::findings::{Findings, Site, quoted};
use super::points::{Cone, Hints, Point, span};
use super::tops::Tops;
use super::traps::LARGE_SHARE as LARGE;
use karat_core::diagnostic::Code;
use karat_core::evaluate::{Column, Columns, Scorer, Scores, Workspace};
use karat_core::formula::{Binary, Expr, ExprKind, Function, Symbol};
use karat_core::number::UNITS_PER_ONE;
use karat_core::range::Interval;
use karat_core::scorecard::{FactType, MissingPolicy, Reporter, Scorecard};

/// Settings of the other facts under which a fact is tried.
const SETTINGS: u64 = 16;
/// Parts of the range of a fact that are tried.
const PARTS: u32 = 32;
/// Smaller changes than this part of the scale are not told.
const SMALL: f64 = 0.01;
/// Bytes of formulas that are evaluated for one card.
const BUDGET: usize = 12_000_000;

/// A card, and what to try it with.
pub(super) struct Trials<'t, 'c> {
    card: &'c Scorecard,
    tops: &'t Tops<'t, 'c>,
    directions: &'t [Direction],
    reaches: &'t Reaches,
    hints: Hints,
    cone: Cone,
    /// Bytes of all formulas.
    size: usize,
    left: Cell<usize>,
}

/// The engine for a card or a variant of it.
struct Engine {
    scorer: Scorer,
    work: Workspace,
}

impl Engine {
    /// Compiles a card; `None` for a family, which has no scores.
    fn new(card: Scorecard) -> Option<Self> {
        let scorer = Scorer::new(card).ok()?;
        Some(Self { work: Workspace::new(&scorer), scorer })
    }

    /// Returns the score of each row of facts, 0 to 1.
    fn scores(&mut self, rows: &[Vec<f64>], profile: u32) -> Vec<Option<f64>> {
        let card = self.scorer.card();
        let column = |at: usize| rows.iter().map(|row| row.get(at).copied().unwrap_or(f64::NAN)).collect();
        let columns: Vec<Vec<f64>> = (0..card.facts.len()).map(column).collect();
        let facts: Vec<Column<'_>> = columns.iter().map(|values| Column::Values(values)).collect();
        let profiles = card.profiles.iter().flat_map(|_| rows.iter().map(|_| profile));
        let profiles: Vec<u32> = profiles.collect();
        let (mut score, mut coverage) = (alloc::vec![f64::NAN; rows.len()], alloc::vec![0.0; rows.len()]);
        let (mut band, mut tier) = (alloc::vec![0; rows.len()], alloc::vec![0; rows.len()]);
        let elapsed_seconds = Column::Constant(f64::NAN);
        let columns = Columns { facts: &facts, profiles: &profiles, elapsed_seconds };
        let mut out = Scores::new(&mut score, &mut coverage, &mut band, &mut tier);
        let is_refused = self
            .scorer
            .score_columns(&mut self.work, &columns, &mut out)
            .map_or(true, |broken| !broken.is_empty());
        let scores = score.into_iter().map(|score| score / UNITS_PER_ONE as f64);
        scores.map(|score| Some(score).filter(|score| !score.is_nan() && !is_refused)).collect()
    }
}

impl<'t, 'c> Trials<'t, 'c> {
    pub(super) fn new(tops: &'t Tops<'t, 'c>, directions: &'t [Direction], reaches: &'t Reaches) -> Self {
        let card = tops.reach.declared.card;
        let (hints, cone) = (Hints::new(card), Cone::of_facts(card));
        let size = Site::all(card).map(|(_, formula)| formula.text.len() + 16).sum::<usize>();
        Self {
            card,
            tops,
            directions,
            reaches,
            hints,
            cone,
            size: size + 16 * card.facts.len(),
            left: Cell::new(BUDGET),
        }
    }

    /// Finds all of it.
    pub(super) fn check(&self, findings: &mut Findings<'_>) {
        self.self_reported(findings);
        self.left_out(findings);
        self.humps(findings);
    }

    /// Returns as many settings as the budget allows for a number of facts, each with every profile: the best one first, then
    /// everything high, low and in the middle, then the same draws each time.
    fn settings(&self, facts: usize) -> Vec<(Point<'_, 'c>, u32)> {
        let profiles = self.card.profiles.as_ref().map_or(1, |profiles| profiles.list.len() as u32);
        let cost = (PARTS as usize + 8) * self.size * facts.max(1) * profiles as usize;
        let count = ((self.left.get() / 4 / cost.max(1)) as u64).min(SETTINGS);
        let setting = |number: u64| {
            let mut point = Point::draw(self.tops.reach, &self.cone, number, &self.hints);
            let is_down = |symbol| matches!(symbol, Symbol::Fact(at) if self.directions.get(at) == Some(&Direction::Down));
            match number {
                0 => point.spread(|symbol| if is_down(symbol) { 0.0 } else { 1.0 }),
                1 => point.spread(|_| 1.0),
                2 => point.spread(|_| 0.0),
                3 => point.spread(|_| 0.5),
                _ => {}
            }
            point.fit();
            point
        };
        (0..count).flat_map(|at| (0..profiles).map(move |profile| (setting(at), profile))).collect()
    }

    /// Returns the values at which a fact is tried, lowest first, and the facts with each; alone it stays between its parts and its
    /// whole.
    fn tried(&self, at: usize, point: &Point<'_, '_>, is_alone: bool) -> (Vec<f64>, Vec<Vec<f64>>) {
        let fact = Symbol::Fact(at);
        let limits = point.limits(fact);
        let limits = if is_alone { limits } else { Interval { low: f64::NEG_INFINITY, ..limits } };
        let mut values = Vec::from([0.0, 1.0]);
        if self.card.facts.get(at).is_some_and(|fact| fact.kind == FactType::Number) {
            let thresholds = self.hints.thresholds(fact);
            let far = thresholds.iter().fold(20.0_f64, |far, at| far.max(2.0 * at.abs()));
            let (low, high) = span(self.tops.reach, fact, far).unwrap_or((0.0, 1.0));
            let parts = (0..=PARTS).map(|part| low + (high - low) * f64::from(part) / f64::from(PARTS));
            let beside = thresholds.iter().flat_map(|value| [value.next_down(), *value, value.next_up()]);
            values = parts.chain(beside).collect();
            let is_whole = self.tops.reach.declared.is_integer(fact);
            values.iter_mut().filter(|_| is_whole).for_each(|value| *value = libm::floor(*value));
            values.retain(|value| *value >= low && *value <= high && limits.contains(*value));
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        let rows = self.rows(at, point, &values);
        (values, rows)
    }

    /// Returns the facts with each value of one of them; what is a part of it is lowered to it.
    fn rows(&self, at: usize, point: &Point<'_, '_>, values: &[f64]) -> Vec<Vec<f64>> {
        self.left.set(self.left.get().saturating_sub(values.len() * self.size));
        let facts = 0..self.card.facts.len();
        let row = |value: &f64| {
            let mut point = point.clone();
            point.set(Symbol::Fact(at), *value);
            point.fit();
            facts.clone().map(|at| point.fact(at)).collect()
        };
        values.iter().map(row).collect()
    }

    /// Finds rules and gates that move the score far on the word of the subject (KC302).
    fn self_reported(&self, findings: &mut Findings<'_>) {
        let card = self.card;
        let rules = card.rules.iter().enumerate().map(|(at, rule)| {
            (Site::RuleWhen(at), &rule.name, &rule.span, Vec::from([&rule.when.expr, &rule.set.expr]))
        });
        let gates = card.gates.iter().enumerate().filter(|(_, gate)| gate.cap.is_some());
        let gates = gates
            .map(|(at, gate)| (Site::GateWhen(at), &gate.name, &gate.span, Vec::from([&gate.when.expr])));
        for (site, name, span, parts) in rules.chain(gates) {
            let facts = self.reported_in(&parts);
            if facts.is_empty() {
                continue;
            }
            let mut without = card.clone();
            match site {
                Site::GateWhen(at) => drop(without.gates.remove(at)),
                Site::RuleWhen(at) => drop(without.rules.remove(at)),
                _ => {}
            }
            let Some((mut with, mut without)) = Engine::new(card.clone()).zip(Engine::new(without)) else {
                return;
            };
            let (mut lifts, mut lowers): (f64, f64) = (0.0, 0.0);
            for &fact in &facts {
                for (point, profile) in self.settings(2 * facts.len()) {
                    let (_, rows) = self.tried(fact, &point, false);
                    let scores = with.scores(&rows, profile).into_iter().zip(without.scores(&rows, profile));
                    for (with, without) in scores {
                        let moved = with.zip(without).map_or(0.0, |(with, without)| with - without);
                        (lifts, lowers) = (lifts.max(moved), lowers.max(-moved));
                    }
                }
            }
            let moved = lifts.max(lowers);
            if moved <= LARGE + 1e-9 {
                continue;
            }
            let scale = f64::from(card.scale.max);
            let (way, less) = match site {
                Site::GateWhen(_) => {
                    let least = (self.tops.of_score().at_most - LARGE).max(0.0);
                    ("lower", format!("raise `cap = {}`", points(least * scale, scale)))
                }
                _ if lifts >= lowers => ("lift", format!("write `set = \"min(1, score + {LARGE})\"`")),
                _ => ("lower", format!("write `set = \"max(0, score - {LARGE})\"`")),
            };
            let names: Vec<&str> = facts.iter().map(|&at| card.symbol_name(Symbol::Fact(at))).collect();
            let list = quoted(&names, ", ");
            let moved = points(moved * scale, scale);
            let message = format!(
                "`{name}` can {way} the score by {moved} of {scale} on what the subject reports itself: {list}"
            );
            let help =
                format!("measure it or have it judged, or let it move less: {less}, or keep it and say why");
            // A word about the same facts in a dimension counts for it.
            let also = card
                .dimensions
                .iter()
                .filter(|it| self.reported_in(&formulas(it)).iter().any(|at| facts.contains(at)))
                .map(|it| it.key.as_str());
            let about: Vec<&str> = names.into_iter().chain([name.as_str()]).chain(also).collect();
            findings.warn(Code::SelfReported, span.clone(), &about, message, "self-reported", &help);
        }
    }

    /// Returns the facts from the subject that formulas rest on, through lets and dimensions.
    fn reported_in(&self, formulas: &[&Expr<Symbol>]) -> Vec<usize> {
        let reported =
            |&at: &usize| self.card.facts.get(at).is_some_and(|fact| fact.from == Reporter::Subject);
        self.reaches.facts_of(formulas).into_iter().filter(reported).collect()
    }

    /// Returns the facts below some parts of all formulas: the operands that `of` picks.
    fn below(&self, of: &dyn Fn(&'c Expr<Symbol>) -> Option<&'c Expr<Symbol>>) -> Vec<usize> {
        let parts = Site::all(self.card).flat_map(|(_, formula)| formula.expr.parts());
        parts.filter_map(of).flat_map(|operand| self.reaches.facts_of(&[operand])).collect()
    }

    /// Finds facts that raise the score where they are left out (KC304). What `missing` of a dimension and `coalesce` do about
    /// them is reported by itself.
    fn left_out(&self, findings: &mut Findings<'_>) {
        let card = self.card;
        let mut asked = self.below(&|node| match &node.kind {
            ExprKind::Call(Function::IsMissing, operands) => operands.first(),
            _ => None,
        });
        let given = [Reporter::Task, Reporter::Operator];
        asked.retain(|&at| card.facts.get(at).is_some_and(|fact| !given.contains(&fact.from)));
        let gates = card.gates.iter().filter(|gate| gate.cap.is_some()).map(|gate| &gate.when.expr);
        let rules = card.rules.iter().flat_map(|rule| [&rule.when.expr, &rule.set.expr]);
        let mut tried = self.reported_in(&rules.chain(gates).collect::<Vec<_>>());
        tried.extend(&asked);
        tried.sort_unstable();
        tried.dedup();
        let mut strict = card.clone();
        let kept = strict.dimensions.iter_mut().filter(|dimension| dimension.missing != MissingPolicy::Zero);
        kept.for_each(|dimension| dimension.missing = MissingPolicy::Withhold);
        let Some(mut engine) = Engine::new(strict).filter(|_| !tried.is_empty()) else { return };
        for &at in &tried {
            let mut gain: f64 = 0.0;
            for (point, profile) in self.settings(tried.len()) {
                let (_, mut rows) = self.tried(at, &point, true);
                rows.extend(self.rows(at, &point, &[f64::NAN]));
                let mut scores = engine.scores(&rows, profile);
                let without = scores.pop().flatten();
                let lowest = scores.into_iter().flatten().reduce(f64::min);
                gain = without.zip(lowest).map_or(gain, |(without, lowest)| gain.max(without - lowest));
            }
            let least = if asked.contains(&at) { SMALL } else { LARGE };
            let Some(fact) = card.facts.get(at).filter(|_| gain > least + 1e-9) else { continue };
            let sites = Site::all(card).filter(|(site, formula)| {
                !matches!(site, Site::Let(_)) && self.reaches.facts_of(&[&formula.expr]).contains(&at)
            });
            let sites: Vec<(Site, &str)> = sites.map(|(site, _)| (site, site.name(card))).collect();
            let name = &fact.name;
            let verdict = |(site, _): &&(Site, &str)| matches!(site, Site::RuleWhen(_) | Site::GateWhen(_));
            let help = match sites.iter().find(verdict).filter(|_| !asked.contains(&at)) {
                Some((site, of)) => {
                    let kind = if matches!(site, Site::GateWhen(_)) { "gate" } else { "rule" };
                    format!(
                        "add a {kind} like `{of}` with `when = \"is_missing({name})\"`, or keep it and say why"
                    )
                }
                None => format!(
                    "do without `is_missing({name})`, and say with `missing = \"zero\"` or `\"withhold\"` what a missing value \
                     costs, or keep it and say why"
                ),
            };
            let scale = f64::from(card.scale.max);
            let about: Vec<&str> = sites.iter().map(|(_, of)| *of).chain([name.as_str()]).collect();
            let gain = points(gain * scale, scale);
            let message = format!("leaving out `{name}` can raise the score by {gain} of {scale}");
            findings.warn(Code::CoveragePicking, fact.span.clone(), &about, message, "better untold", &help);
        }
    }

    /// Finds facts of a limited range of which the score wants some, but not more or less (KC312). A difference may be best at 0, and
    /// what something is divided by is a reference.
    fn humps(&self, findings: &mut Findings<'_>) {
        let card = self.card;
        let divisors = self.below(&|node| match &node.kind {
            ExprKind::Binary(Binary::Divide, _, by) => Some(by),
            _ => None,
        });
        let is_tried = |&at: &usize| {
            let is_limited = card.facts.get(at).is_some_and(|fact| {
                let range = limits(card, fact);
                let has_top = range.high.is_finite() || fact.max_fact.is_some();
                fact.kind == FactType::Number && range.low >= 0.0 && has_top
            });
            is_limited && self.directions.get(at) == Some(&Direction::Both) && !divisors.contains(&at)
        };
        let tried: Vec<usize> = (0..card.facts.len()).filter(is_tried).collect();
        let bare = Scorecard { rules: Vec::new(), gates: Vec::new(), ..card.clone() };
        let engines = Engine::new(card.clone()).zip(Engine::new(bare)).filter(|_| !tried.is_empty());
        let Some((mut engine, mut bare)) = engines else { return };
        for &at in &tried {
            let mut most: Option<(Turn, bool)> = None;
            for (point, profile) in self.settings(tried.len()) {
                let (mut values, mut rows) = self.tried(at, &point, true);
                // Around the turn the values are tried more closely.
                for _ in 0..3 {
                    let Some(turn) = Turn::of(&values, &engine.scores(&rows, profile)) else { break };
                    let is_verdict = Turn::of(&values, &bare.scores(&rows, profile)).is_none();
                    values = turn.between(card.facts.get(at).is_some_and(|fact| fact.integer), &values);
                    rows = self.rows(at, &point, &values);
                    if most.as_ref().is_none_or(|(known, _)| turn.size >= known.size) {
                        most = Some((turn, is_verdict));
                    }
                }
            }
            let Some(((turn, is_verdict), fact)) = most.zip(card.facts.get(at)) else { continue };
            let (name, scale, range) = (&fact.name, f64::from(card.scale.max), limits(card, fact));
            let place = advice::number(turn.at, (range.high.min(1e6) - range.low) * 1e-3);
            let (one, other, function) =
                if turn.is_peak { ("rises", "falls", "min") } else { ("falls", "rises", "max") };
            let message = format!(
                "the score {one} with `{name}` up to {place} and {other} again by {} of {scale} beyond it",
                points(turn.size * scale, scale)
            );
            let help = if is_verdict {
                format!("let the rules and gates go one way with `{name}`, or keep it and say why")
            } else {
                format!("write `{function}({name}, {place})` in place of `{name}`, or keep it and say why")
            };
            let readers = Site::all(card).filter(|(_, it)| self.reaches.facts_of(&[&it.expr]).contains(&at));
            let about: Vec<&str> = readers.map(|(site, _)| site.name(card)).chain([name.as_str()]).collect();
            findings.warn(Code::Hump, fact.span.clone(), &about, message, "better, then worse", &help);
        }
    }
}

/// A place at which the score goes one way before it and the other way after it.
struct Turn {
    at: f64,
    is_peak: bool,
    /// The smaller of the two ways.
    size: f64,
    place: usize,
}

impl Turn {
    /// Returns the largest turn of some scores that is not small.
    fn of(values: &[f64], scores: &[Option<f64>]) -> Option<Self> {
        let mut most: Option<Self> = None;
        for is_peak in [true, false] {
            let sign = if is_peak { 1.0 } else { -1.0 };
            let lowest =
                |part: &[Option<f64>]| part.iter().flatten().map(|score| sign * score).reduce(f64::min);
            for (place, (value, score)) in values.iter().zip(scores).enumerate() {
                let (before, after) = scores.split_at(place.min(scores.len()));
                let Some((score, (before, after))) = score.zip(lowest(before).zip(lowest(after))) else {
                    continue;
                };
                let size = (sign * score - before).min(sign * score - after);
                if size > most.as_ref().map_or(SMALL, |known| known.size + 1e-12) {
                    most = Some(Self { at: *value, is_peak, size, place });
                }
            }
        }
        most
    }

    /// Returns the same values with more of them around the turn.
    fn between(&self, is_whole: bool, values: &[f64]) -> Vec<f64> {
        let beside = |place: usize| values.get(place).copied().unwrap_or(self.at);
        let (low, high) = (beside(self.place.wrapping_sub(1)), beside(self.place + 1));
        let parts = (0..=PARTS).map(|part| low + (high - low) * f64::from(part) / f64::from(PARTS));
        let mut all: Vec<f64> = values.iter().copied().chain(parts.filter(|_| !is_whole)).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}
