//! Trials: the engine scores chosen facts, and what comes out shows what a card rewards: what the subject says of itself by
//! rules and gates (KC302), what is left out (KC304), and less of something than all of it (KC312).

use alloc::format;

use alloc::vec::Vec;

use super::advice;
use super::cliffs::points;
use super::direction::{Direction, Reaches};
use super::findings::{Findings, Site};
use super::points::Hints;
use super::roots::{let_roots, roots_of};
use super::tops::Tops;
use super::traps::LARGE_SHARE as LARGE;
use karat_core::diagnostic::Code;
use karat_core::evaluate::{Column, Columns, Scorer, Scores, Workspace};
use karat_core::formula::{Binary, Expr, ExprKind, Function, Symbol};
use karat_core::number::UNITS_PER_ONE;
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
    directions: &'t [Direction],
    reaches: &'t Reaches,
    hints: Hints,
    /// Bytes of all formulas.
    size: usize,
    left: usize,
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
        let width = self.scorer.card().facts.len();
        let column = |at: usize| rows.iter().map(|row| row.get(at).copied().unwrap_or(f64::NAN)).collect();
        let columns: Vec<Vec<f64>> = (0..width).map(column).collect();
        let facts: Vec<Column<'_>> = columns.iter().map(|values| Column::Values(values)).collect();
        let (mut score, mut coverage) = (alloc::vec![f64::NAN; rows.len()], alloc::vec![0.0; rows.len()]);
        let (mut band, mut tier) = (alloc::vec![0; rows.len()], alloc::vec![0; rows.len()]);
        let profiles = self.scorer.card().profiles.iter().flat_map(|_| rows.iter().map(|_| profile));
        let profiles: Vec<u32> = profiles.collect();
        let columns =
            Columns { facts: &facts, profiles: &profiles, elapsed_seconds: Column::Constant(f64::NAN) };
        let mut out = Scores { score: &mut score, coverage: &mut coverage, band: &mut band, tier: &mut tier };
        if self.scorer.score_columns(&mut self.work, &columns, &mut out).is_err() {
            return Vec::new();
        }
        score
            .into_iter()
            .map(|score| Some(score / UNITS_PER_ONE as f64).filter(|score| !score.is_nan()))
            .collect()
    }
}

impl<'t, 'c> Trials<'t, 'c> {
    pub(super) fn new(card: &'c Scorecard, directions: &'t [Direction], reaches: &'t Reaches) -> Self {
        let size = Site::all(card).map(|(_, formula)| formula.text.len() + 16).sum::<usize>()
            + 16 * card.facts.len();
        Self { card, directions, reaches, hints: Hints::new(card), size, left: BUDGET }
    }

    /// Finds all of it.
    pub(super) fn check(mut self, tops: &Tops<'_, '_>, findings: &mut Findings<'_>) {
        self.self_reported(tops, findings);
        self.left_out(findings);
        self.humps(findings);
    }

    /// Returns as many settings as the budget allows for a number of facts, each with every profile.
    fn settings(&self, facts: usize) -> Vec<(Vec<f64>, u32)> {
        let profiles = self.card.profiles.as_ref().map_or(1, |profiles| profiles.list.len() as u32);
        let cost = (PARTS as usize + 8) * self.size * facts.max(1) * profiles as usize;
        let count = ((self.left / 4 / cost.max(1)) as u64).min(SETTINGS);
        (0..count).flat_map(|at| (0..profiles).map(move |profile| (self.setting(at), profile))).collect()
    }

    /// Returns every fact at some place of its range: the best ones first, then the same draws each time.
    fn setting(&self, number: u64) -> Vec<f64> {
        let mut dice = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1;
        let mut roll = move || {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            dice >> 33
        };
        let mut row: Vec<f64> = (0..self.card.facts.len())
            .map(|at| {
                let (part, other) = (roll() % 5, roll());
                let part = match (number, self.directions.get(at)) {
                    (0, Some(Direction::Down)) | (2, _) => 0.0,
                    (0 | 1, _) => 1.0,
                    (3, _) => 0.5,
                    _ => part as f64 / 4.0,
                };
                let thresholds = self.hints.thresholds(Symbol::Fact(at));
                let drawn =
                    thresholds.get(other as usize % (2 * thresholds.len()).max(1)).filter(|_| number > 3);
                drawn.map_or_else(|| self.value(at, part), |value| self.within(at, *value))
            })
            .collect();
        self.fit(&mut row);
        row
    }

    /// Returns the value at a part of the way through the range of a fact.
    fn value(&self, at: usize, part: f64) -> f64 {
        let Some(fact) = self.card.facts.get(at) else { return f64::NAN };
        if fact.kind != FactType::Number {
            return if fact.kind == FactType::Text { f64::NAN } else { libm::round(part) };
        }
        let (low, high) = self.ends(at);
        self.within(at, low + (high - low) * part)
    }

    /// Returns the ends of the range in which a number is tried.
    fn ends(&self, at: usize) -> (f64, f64) {
        let Some(fact) = self.card.facts.get(at) else { return (0.0, 0.0) };
        let range = super::declared::limits(self.card, fact);
        let far =
            self.hints.thresholds(Symbol::Fact(at)).iter().fold(20.0_f64, |far, at| far.max(2.0 * at.abs()));
        let low = if range.low.is_finite() { range.low } else { range.high.min(far) - 2.0 * far };
        (low, if range.high.is_finite() { range.high } else { low + far })
    }

    fn within(&self, at: usize, value: f64) -> f64 {
        let Some(fact) = self.card.facts.get(at) else { return value };
        let (low, high) = self.ends(at);
        let value = if fact.integer { libm::floor(value) } else { value };
        if fact.kind == FactType::Number { value.clamp(low, high) } else { value }
    }

    /// Lowers every part to its whole.
    fn fit(&self, row: &mut [f64]) {
        for _ in 0..2 {
            for (at, fact) in self.card.facts.iter().enumerate() {
                let whole = fact.max_fact.and_then(|whole| row.get(whole)).copied();
                if let (Some(whole), Some(slot)) = (whole, row.get_mut(at).filter(|slot| !slot.is_nan())) {
                    *slot = slot.min(whole);
                }
            }
        }
    }

    /// Returns the values at which a fact is tried, lowest first; alone it stays above its parts.
    fn values(&self, at: usize, row: &[f64], is_alone: bool) -> Vec<f64> {
        let Some(fact) = self.card.facts.get(at) else { return Vec::new() };
        if fact.kind == FactType::Boolean {
            return Vec::from([0.0, 1.0]);
        }
        let most = fact.max_fact.and_then(|whole| row.get(whole)).copied().unwrap_or(f64::INFINITY);
        let parts = (0..=PARTS).map(|part| self.value(at, f64::from(part) / f64::from(PARTS)).min(most));
        let beside = |value: &f64| {
            [value.next_down(), *value, value.next_up()].map(|it| self.within(at, it).min(most))
        };
        let mut values: Vec<f64> =
            parts.chain(self.hints.thresholds(Symbol::Fact(at)).iter().flat_map(beside)).collect();
        let parts = self
            .card
            .facts
            .iter()
            .zip(row)
            .filter(|(fact, _)| fact.max_fact == Some(at))
            .map(|(_, value)| *value);
        let least = parts.fold(f64::NEG_INFINITY, f64::max);
        values.retain(|value| !is_alone || *value >= least);
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    }

    /// Returns the row with each value of a fact, its parts lowered to it.
    fn rows(&self, row: &[f64], at: usize, values: &[f64]) -> Vec<Vec<f64>> {
        let with = |value: &f64| {
            let mut row = row.to_vec();
            row.get_mut(at).into_iter().for_each(|slot| *slot = *value);
            self.fit(&mut row);
            row
        };
        values.iter().map(with).collect()
    }

    /// Finds rules and gates that move the score far on the word of the subject (KC302).
    fn self_reported(&mut self, tops: &Tops<'_, '_>, findings: &mut Findings<'_>) {
        let card = self.card;
        let rules = card.rules.iter().enumerate().map(|(at, rule)| {
            (Site::RuleWhen(at), &rule.name, &rule.span, Vec::from([&rule.when.expr, &rule.set.expr]))
        });
        let gates = card.gates.iter().enumerate().filter(|(_, gate)| gate.cap.is_some());
        let gates = gates
            .map(|(at, gate)| (Site::GateWhen(at), &gate.name, &gate.span, Vec::from([&gate.when.expr])));
        for (site, name, span, formulas) in rules.chain(gates).collect::<Vec<_>>() {
            let facts = self.reported_in(&formulas);
            if facts.is_empty() {
                continue;
            }
            let mut without = card.clone();
            match site {
                Site::GateWhen(at) => drop(without.gates.remove(at)),
                Site::RuleWhen(at) => drop(without.rules.remove(at)),
                _ => {}
            }
            let (Some(mut with), Some(mut without)) = (Engine::new(card.clone()), Engine::new(without))
            else {
                return;
            };
            let (mut lifts, mut lowers): (f64, f64) = (0.0, 0.0);
            for (row, profile) in self.settings(2 * facts.len()) {
                for &fact in &facts {
                    let rows = self.rows(&row, fact, &self.values(fact, &row, false));
                    self.left = self.left.saturating_sub(2 * rows.len() * self.size);
                    for (with, without) in
                        with.scores(&rows, profile).into_iter().zip(without.scores(&rows, profile))
                    {
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
            let names: Vec<&str> = facts.iter().map(|&at| card.symbol_name(Symbol::Fact(at))).collect();
            let list = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let less = match site {
                Site::GateWhen(_) => {
                    let least = tops.of_score().at_most - LARGE;
                    format!("raise `cap = {}`", points(least.max(0.0) * scale, scale))
                }
                _ if lifts >= lowers => format!("write `set = \"min(1, score + {LARGE})\"`"),
                _ => format!("write `set = \"max(0, score - {LARGE})\"`"),
            };
            let about: Vec<&str> = names.iter().copied().chain([name.as_str()]).collect();
            let way = if lifts >= lowers { "can lift" } else { "can lower" };
            findings.warn(
                Code::SelfReported,
                span.clone(),
                &about,
                format!(
                    "`{name}` {way} the score by {} of {scale} on what the subject reports itself: {list}",
                    points(moved * scale, scale)
                ),
                "on the word of the subject",
                &format!("measure it or have it judged, or let it move less: {less}, or keep it and say why"),
            );
        }
    }

    /// Returns the facts from the subject that formulas rest on, through lets and dimensions.
    fn reported_in(&self, formulas: &[&Expr<Symbol>]) -> Vec<usize> {
        let reported =
            |&at: &usize| self.card.facts.get(at).is_some_and(|fact| fact.from == Reporter::Subject);
        self.reaches.facts_of(formulas).into_iter().filter(reported).collect()
    }

    /// Finds facts that raise the score where they are left out (KC304). What `missing` of a dimension and `coalesce` do about
    /// them is told by itself.
    fn left_out(&mut self, findings: &mut Findings<'_>) {
        let card = self.card;
        let lets = let_roots(card);
        let mut asked: Vec<usize> = Vec::new();
        for (_, formula) in Site::all(card) {
            formula.expr.walk(&mut |node| {
                if let ExprKind::Call(Function::IsMissing, operands) = &node.kind {
                    let below = operands.iter().flat_map(|operand| self.reaches.facts_of(&[operand]));
                    asked.extend(below.filter(|&at| {
                        let from = card.facts.get(at).map(|fact| fact.from);
                        !matches!(from, Some(Reporter::Task | Reporter::Operator))
                    }));
                }
            });
        }
        let verdicts: Vec<&Expr<Symbol>> = (card.rules.iter())
            .flat_map(|rule| [&rule.when.expr, &rule.set.expr])
            .chain(card.gates.iter().filter(|gate| gate.cap.is_some()).map(|gate| &gate.when.expr))
            .collect();
        asked.extend(self.reported_in(&verdicts));
        asked.sort_unstable();
        asked.dedup();
        let mut strict = card.clone();
        for dimension in &mut strict.dimensions {
            if dimension.missing != MissingPolicy::Zero {
                dimension.missing = MissingPolicy::Withhold;
            }
        }
        let Some(mut engine) = Some(asked.len()).filter(|&len| len > 0).and_then(|_| Engine::new(strict))
        else {
            return;
        };
        let settings = self.settings(asked.len());
        for &fact in &asked {
            let mut gain: f64 = 0.0;
            for (row, profile) in settings.clone() {
                let mut values = self.values(fact, &row, true);
                values.push(f64::NAN);
                let rows = self.rows(&row, fact, &values);
                self.left = self.left.saturating_sub(rows.len() * self.size);
                let mut scores = engine.scores(&rows, profile);
                let without = scores.pop().flatten();
                let lowest = scores.into_iter().flatten().reduce(f64::min);
                gain = without.zip(lowest).map_or(gain, |(without, lowest)| gain.max(without - lowest));
            }
            if gain <= SMALL {
                continue;
            }
            let sites = Site::all(card).filter(|(site, formula)| {
                !matches!(site, Site::Let(_)) && self.reaches.facts_of(&[&formula.expr]).contains(&fact)
            });
            let sites: Vec<(Site, &str)> = sites.map(|(site, _)| (site, site.name(card))).collect();
            let name = card.symbol_name(Symbol::Fact(fact));
            let is_asked = Site::all(card).any(|(_, formula)| {
                formula.expr.parts().any(|node| {
                    matches!(&node.kind, ExprKind::Call(Function::IsMissing, operands)
                    if operands.iter().any(|operand| roots_of(operand, &lets).contains(&Symbol::Fact(fact))))
                })
            });
            let help = match sites
                .iter()
                .find(|(site, _)| matches!(site, Site::RuleWhen(_) | Site::GateWhen(_)))
            {
                Some((site, of)) if !is_asked => {
                    let kind = if matches!(site, Site::GateWhen(_)) { "gate" } else { "rule" };
                    format!(
                        "add a {kind} like `{of}` with `when = \"is_missing({name})\"`, or keep it and say why"
                    )
                }
                _ => format!(
                    "do without `is_missing({name})`, and say with `missing = \"zero\"` or `\"withhold\"` what a missing value costs, or \
                     keep it and say why"
                ),
            };
            let scale = f64::from(card.scale.max);
            let about: Vec<&str> = sites.iter().map(|(_, of)| *of).chain([name]).collect();
            let message = format!(
                "leaving out `{name}` can raise the score by {} of {scale}",
                points(gain * scale, scale)
            );
            let span = card.facts.get(fact).map(|fact| fact.span.clone()).unwrap_or_default();
            findings.warn(Code::CoveragePicking, span, &about, message, "better untold", &help);
        }
    }

    /// Finds facts of a limited range of which the score wants some, but not more or less (KC312). A difference may be best at 0, and
    /// what something is divided by is a reference.
    fn humps(&mut self, findings: &mut Findings<'_>) {
        let card = self.card;
        let mut divisors: Vec<usize> = Vec::new();
        for (_, formula) in Site::all(card) {
            formula.expr.walk(&mut |node| {
                if let ExprKind::Binary(Binary::Divide, _, by) = &node.kind {
                    divisors.extend(self.reaches.facts_of(&[by]));
                }
            });
        }
        let is_tried = |at: &usize| {
            card.facts.get(*at).is_some_and(|fact| {
                let range = super::declared::limits(card, fact);
                let is_limited = range.low >= 0.0 && (range.high.is_finite() || fact.max_fact.is_some());
                fact.kind == FactType::Number && is_limited
            }) && self.directions.get(*at) == Some(&Direction::Both)
                && !divisors.contains(at)
        };
        let tried: Vec<usize> = (0..card.facts.len()).filter(is_tried).collect();
        let Some(mut engine) =
            Some(tried.len()).filter(|&len| len > 0).and_then(|_| Engine::new(card.clone()))
        else {
            return;
        };
        let settings = self.settings(tried.len());
        for &fact in &tried {
            let mut most: Option<(Turn, Vec<f64>, Vec<Vec<f64>>, u32)> = None;
            for (row, profile) in settings.clone() {
                let mut values = self.values(fact, &row, true);
                // Around the turn the values are tried more closely.
                for _ in 0..3 {
                    let rows = self.rows(&row, fact, &values);
                    self.left = self.left.saturating_sub(rows.len() * self.size);
                    let scores = engine.scores(&rows, profile);
                    let Some(turn) = Turn::of(&values, &scores) else { break };
                    let is_integer = card.facts.get(fact).is_some_and(|fact| fact.integer);
                    let closer = turn.between(is_integer, &values);
                    let tried = core::mem::replace(&mut values, closer);
                    if most.as_ref().is_none_or(|(known, ..)| turn.size >= known.size) {
                        most = Some((turn, tried, rows, profile));
                    }
                }
            }
            let Some((turn, values, rows, profile)) = most else { continue };
            let bare = Scorecard { rules: Vec::new(), gates: Vec::new(), ..card.clone() };
            let bare = Engine::new(bare).map(|mut bare| bare.scores(&rows, profile));
            let is_verdict = bare.and_then(|scores| Turn::of(&values, &scores)).is_none();
            let name = card.symbol_name(Symbol::Fact(fact));
            let scale = f64::from(card.scale.max);
            let (low, high) = self.ends(fact);
            let at = advice::number(turn.at, (high - low) * 1e-3);
            let (one, other, function) =
                if turn.is_peak { ("rises", "falls", "min") } else { ("falls", "rises", "max") };
            let readers = Site::all(card).filter(|(_, formula)| {
                roots_of(&formula.expr, &let_roots(card)).contains(&Symbol::Fact(fact))
            });
            let about: Vec<&str> = readers.map(|(site, _)| site.name(card)).chain([name]).collect();
            findings.warn(
                Code::Hump,
                card.facts.get(fact).map(|fact| fact.span.clone()).unwrap_or_default(),
                &about,
                format!(
                    "the score {one} with `{name}` up to {at} and {other} again by {} of {scale} beyond it",
                    points(turn.size * scale, scale)
                ),
                "more is better, then worse",
                &if is_verdict {
                    format!("let the rules and gates go one way with `{name}`, or keep it and say why")
                } else {
                    format!("write `{function}({name}, {at})` in place of `{name}`, or keep it and say why")
                },
            );
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
    /// Returns the largest turn of some scores.
    fn of(values: &[f64], scores: &[Option<f64>]) -> Option<Self> {
        let mut most: Option<Self> = None;
        for is_peak in [true, false] {
            let sign = if is_peak { 1.0 } else { -1.0 };
            let lowest =
                |part: &[Option<f64>]| part.iter().flatten().map(|score| sign * score).reduce(f64::min);
            for (place, (value, score)) in values.iter().zip(scores).enumerate() {
                let (Some(score), Some((before, after))) = (score, scores.split_at_checked(place)) else {
                    continue;
                };
                let Some((before, after)) = lowest(before).zip(lowest(after)) else { continue };
                let size = (sign * score - before).min(sign * score - after);
                if size > most.as_ref().map_or(SMALL, |known| known.size + 1e-12) {
                    most = Some(Self { at: *value, is_peak, size, place });
                }
            }
        }
        most
    }

    /// Returns the same values with more of them around the turn.
    fn between(&self, is_integer: bool, values: &[f64]) -> Vec<f64> {
        let beside = |place: usize| values.get(place).copied();
        let (low, high) = (self.place.checked_sub(1).and_then(beside), beside(self.place + 1));
        let (low, high) = (low.unwrap_or(self.at), high.unwrap_or(self.at));
        let parts = (0..=PARTS).map(|part| low + (high - low) * f64::from(part) / f64::from(PARTS));
        let mut all: Vec<f64> = values.iter().copied().chain(parts.filter(|_| !is_integer)).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }
}
