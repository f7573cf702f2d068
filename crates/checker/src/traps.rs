//! Traps: rules that are sound as arithmetic and still unfair, easy to game, or without effect.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range as Bytes;

use super::cliffs::points;
use super::declared::{Declared, FUEL, fill, formulas, to_grid};
use super::direction::{Direction, Reaches, has_weight};
use super::findings::{Findings, Site, quoted};
use super::roots::{Roots, let_roots, lets_of, roots_of};
use super::shares::Shares;
use super::standing;
use super::tops::Tops;
use karat_core::diagnostic::Code;
use karat_core::formula::{Binary, Expr, ExprKind, Function, Symbol};
use karat_core::number::{BILLION, Score, UNITS_PER_ONE, round};
use karat_core::range::{Interval, Known, Range, evaluate};
use karat_core::scorecard::{FactDeclaration, FactType, MissingPolicy, Reporter, Scorecard};

/// From this share of the weight on, what the subject reports about itself is a finding.
pub(super) const LARGE_SHARE: f64 = 0.25;

/// Finds facts by which the subject can help itself (KC302).
pub(super) fn self_reported(
    card: &Scorecard,
    shares: &[Shares],
    reaches: &Reaches,
    directions: &[(String, Direction)],
    findings: &mut Findings<'_>,
) {
    let roots = let_roots(card);
    let reported = |symbol: &Symbol| match symbol {
        Symbol::Fact(at) => card.facts.get(*at).filter(|fact| fact.from == Reporter::Subject),
        _ => None,
    };
    let mut divides: Vec<&str> = Vec::new();
    for (site, formula) in Site::all(card) {
        formula.expr.walk(&mut |node| {
            let ExprKind::Binary(Binary::Divide, _, by) = &node.kind else { return };
            for fact in roots_of(by, &roots).iter().filter_map(reported) {
                divides.push(&fact.name);
                let message = format!("`{}` divides, and the subject reports it itself", fact.name);
                let help = "divide by what the task or the harness says, or keep it and say why";
                let span = formula.place(&by.span);
                let about = &[&fact.name, site.name(card)];
                findings.warn(Code::SelfReported, span, about, message, "from the subject", help);
            }
        });
    }
    for (at, dimension) in card.dimensions.iter().enumerate() {
        let facts = reaches.facts_of(&formulas(dimension)).into_iter().map(Symbol::Fact);
        let facts: Vec<&FactDeclaration> = facts.filter_map(|fact| reported(&fact)).collect();
        let largest =
            shares.iter().map(|shares| (shares.weight.get(at).copied().unwrap_or(0.0), shares.place()));
        let largest = largest.max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((share, place)) = largest.filter(|(share, _)| *share >= LARGE_SHARE - 1e-12) else {
            continue;
        };
        if facts.iter().all(|fact| divides.contains(&fact.name.as_str())) {
            continue;
        }
        let names: Vec<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
        let about: Vec<&str> = names.iter().copied().chain([dimension.key.as_str()]).collect();
        let much = if card.family.is_some() {
            String::new()
        } else {
            format!(" ({} % of the weight{place})", points(share * 100.0, 100.0))
        };
        let message = format!(
            "`{}`{much} rests on what the subject reports itself: {}",
            dimension.key,
            quoted(&names, ", ")
        );
        let help = "measure it, have it judged, or give it less weight";
        findings.warn(Code::SelfReported, dimension.span.clone(), &about, message, "self-reported", help);
    }
    for (fact, (_, direction)) in card.facts.iter().filter(|fact| fact.kind != FactType::Text).zip(directions)
    {
        let endless = match direction {
            Direction::Up => fact.max.is_infinite() && fact.max_fact.is_none(),
            Direction::Down => fact.min.is_infinite(),
            _ => false,
        };
        if fact.from == Reporter::Subject && fact.kind == FactType::Number && endless {
            let way = if *direction == Direction::Up { "higher" } else { "lower" };
            let message = format!(
                "the subject reports `{}` itself, and the {way} it is the better, without limit",
                fact.name
            );
            let help = "declare a `max`, or let the task set it";
            let span = fact.span.clone();
            findings.warn(Code::SelfReported, span, &[&fact.name], message, "free for the subject", help);
        }
    }
}

/// Finds what a subject earns that does nothing (KC303). Numbers that are not the task's are at their lowest,
/// conditions are false; a dimension with a default earns it by not being measured.
pub(super) fn idle(card: &Scorecard, shares: &[Shares], findings: &mut Findings<'_>) -> Vec<(String, f64)> {
    let ranges = card.facts.iter().map(|fact| {
        let given = matches!(fact.from, Reporter::Task | Reporter::Operator);
        let range = match fact.kind {
            FactType::Number if !given && fact.min.is_finite() => Range::Number(Interval::point(fact.min)),
            FactType::Number => Range::Number(super::declared::limits(card, fact)),
            FactType::Boolean if !given => Range::Flag(Some(false)),
            _ => Range::Flag(None),
        };
        (range, Known::Surely)
    });
    let nothing_done = Declared::over(card, FUEL, ranges.collect());
    let scale = f64::from(card.scale.max);
    let mut earned = Vec::new();
    let roots = let_roots(card);
    for (at, dimension) in card.dimensions.iter().enumerate() {
        let holds = |condition: &Option<karat_core::formula::Formula>| {
            let decision = condition.as_ref().map(|formula| evaluate(&formula.expr, &nothing_done).flag());
            decision.unwrap_or(Some(true)) == Some(true)
        };
        let measured = match nothing_done.values.get(at) {
            Some(value) if holds(&dimension.applies) && holds(&dimension.when) && value.low.is_finite() => {
                value.low.clamp(0.0, 1.0)
            }
            _ => 0.0,
        };
        let default = fill(dimension).unwrap_or(0.0);
        let effect = shares.iter().map(|shares| additive_share(card, shares, at)).fold(0.0, f64::max);
        let reading = measured.max(default);
        if reading * effect <= 1e-9 {
            continue;
        }
        earned.push((dimension.key.clone(), reading * effect * scale));
        let how = if default > measured { "when it is left unmeasured" } else { "when nothing is done" };
        let whole = if card.family.is_some() { " of its weight" } else { "" };
        let help = match achieved(card, &nothing_done, &roots, at) {
            _ if default > measured => {
                String::from("use `missing = \"zero\"` or `\"withhold\"`, or keep it and say why")
            }
            Some(other) => {
                format!("multiply `formula` by what was achieved, such as `{other}`, or keep it and say why")
            }
            None => String::from("multiply `formula` by what was achieved, or keep it and say why"),
        };
        let message = format!(
            "`{}` earns {} of {scale}{whole} {how}",
            dimension.key,
            points(reading * effect * scale, scale)
        );
        findings.warn(Code::Idle, dimension.span.clone(), &[&dimension.key], message, "earned idle", &help);
    }
    earned
}

/// Returns another dimension whose value is 0 where nothing is done, and which rests on facts alone.
fn achieved<'c>(
    card: &'c Scorecard,
    nothing_done: &Declared<'_>,
    roots: &[Roots],
    at: usize,
) -> Option<&'c str> {
    let others = card.dimensions.iter().enumerate().filter(|(other, _)| *other != at);
    let mut idle = others.filter(|(other, dimension)| {
        let is_zero = nothing_done.values.get(*other).is_some_and(|value| value.high <= 0.0);
        let is_fact = |root: &Symbol| matches!(root, Symbol::Fact(_));
        is_zero && formulas(dimension).iter().all(|formula| roots_of(formula, roots).iter().all(is_fact))
    });
    idle.next().map(|(_, dimension)| dimension.key.as_str())
}

/// Returns the share that a dimension adds by itself: none where a low reading elsewhere takes it away.
fn additive_share(card: &Scorecard, shares: &Shares, at: usize) -> f64 {
    let mut means = Vec::from([card.mean]);
    let mut group = card.dimensions.get(at).and_then(|dimension| dimension.group);
    for _ in 0..card.groups.len() {
        let Some(level) = group.and_then(|group| card.groups.get(group)) else { break };
        means.push(level.mean);
        group = level.parent;
    }
    let adds = means.iter().all(|mean| mean.is_linear());
    if adds { shares.weight.get(at).copied().unwrap_or(0.0) } else { 0.0 }
}

/// Finds means over what is there, so that what is not there cannot lower them (KC304).
pub(super) fn coverage_picking(card: &Scorecard, findings: &mut Findings<'_>) {
    let levels = (0..card.groups.len()).map(Some).chain([None]);
    for level in levels {
        let group = level.and_then(|at| card.groups.get(at));
        let mean = group.map_or(card.mean, |group| group.mean);
        let members: Vec<_> = card
            .dimensions
            .iter()
            .enumerate()
            .filter(|(at, dimension)| dimension.group == level && has_weight(card, *at))
            .map(|(_, dimension)| dimension)
            .collect();
        let free: Vec<_> = members.iter().filter(|it| it.missing == MissingPolicy::Exclude).collect();
        let Some(first) = free.first() else { continue };
        let siblings = members.len() + card.groups.iter().filter(|group| group.parent == level).count();
        if mean.takes_weights_as_given() || siblings < 2 || card.family.is_some() {
            continue;
        }
        let floor = card.tiers.iter().map(|tier| tier.coverage).max().filter(|floor| floor.millionths() > 0);
        let help = match floor {
            Some(_) => {
                "the coverage floors of the tiers limit it for tiers, not for the score: use `missing = \"zero\"` or \
                 `\"withhold\"`, or keep it and say why"
            }
            None => "use `missing = \"zero\"` or `\"withhold\"`, or keep it and say why",
        };
        let span = group.map_or_else(|| first.span.clone(), |group| group.span.clone());
        let mut about: Vec<&str> = free.iter().map(|dimension| dimension.key.as_str()).collect();
        about.extend(group.map(|group| group.key.as_str()));
        let message = format!(
            "leaving out a low reading raises the {} mean: {} of {siblings} readings are excluded where they are missing",
            mean.name().trim_end_matches("-mean"),
            free.len()
        );
        findings.warn(Code::CoveragePicking, span, &about, message, "excluded if missing", help);
    }
}

/// Finds rules and values that replace another (KC305).
pub(super) fn fallbacks(card: &Scorecard, findings: &mut Findings<'_>) {
    if let Some(profiles) = &card.profiles {
        let fallback = profiles.list.get(profiles.fallback).map_or("", |(name, _)| name);
        if let Some(by) = card.facts.get(profiles.by) {
            let message = format!("a `{}` that no profile is named after is scored as `{fallback}`", by.name);
            let help = "the record says when the fallback was used: keep it and say why";
            findings.warn(Code::Fallback, by.span.clone(), &[&by.name], message, "chooses the profile", help);
        }
    }
    for dimension in &card.dimensions {
        if let MissingPolicy::Default(billionths) = dimension.missing {
            let value = points(billionths as f64 / BILLION as f64, 1.0);
            let message = format!("where `{}` is missing it counts as {value}", dimension.key);
            let help = "use `exclude`, `zero` or `withhold`, or keep it and say why";
            let span = dimension.span.clone();
            findings.warn(Code::Fallback, span, &[&dimension.key], message, "default", help);
        }
    }
    for (site, formula) in Site::all(card) {
        formula.expr.walk(&mut |node| {
            let ExprKind::Call(Function::Coalesce, operands) = &node.kind else { return };
            let text = |part: &Expr<Symbol>| formula.text.get(part.span.clone()).unwrap_or_default();
            let [first, second, ..] = operands.as_slice() else { return };
            let message = format!("`{}` is used where `{}` is missing", text(second), text(first));
            let help = "let `missing` of the dimension say what happens, or keep it and say why";
            let names: Vec<&str> = [site.name(card)]
                .into_iter()
                .chain(first.symbols().iter().map(|&symbol| card.symbol_name(symbol)))
                .collect();
            findings.warn(Code::Fallback, formula.place(&node.span), &names, message, "fallback", help);
        });
    }
}

/// Finds what always or never happens (KC307).
pub(super) fn never_matters(tops: &Tops<'_, '_>, findings: &mut Findings<'_>) {
    let card = tops.reach.declared.card;
    for (site, formula) in Site::all(card) {
        let whole = matches!(site, Site::When(_) | Site::Applies(_) | Site::RuleWhen(_) | Site::GateWhen(_));
        if let Some(always) = Some(&formula.expr).filter(|_| whole).and_then(|it| tops.constant(site, it)) {
            constant(card, always, site, formula, &formula.expr, findings);
        }
        formula.expr.walk(&mut |node| {
            if let ExprKind::Call(Function::If, arguments) = &node.kind
                && let Some(condition) = arguments.first()
                && let Some(always) = tops.reach.decided(site, condition)
            {
                constant(card, always, site, formula, condition, findings);
            }
        });
    }
    let scale = f64::from(card.scale.max);
    let mut warn = |span: &Bytes<usize>, name: &str, message: String, label: &str, help: String| {
        findings.warn(Code::NeverMatters, span.clone(), &[name], message, label, &help);
    };
    // Advice is not rounded up to what is out of reach again.
    let below = |top: f64| points(libm::floor(top * 1e4 + 1e-6) * 1e-4 * scale, scale);
    let none_above = |top: f64| format!("no score is above {}", points(top * scale, scale));
    for (at, gate) in card.gates.iter().enumerate() {
        let blocks = gate.tier_limit.is_some_and(|limit| limit < card.tiers.len());
        let Some(top) = tops.where_holds(Site::GateWhen(at), &gate.when.expr) else { continue };
        if !blocks && gate.cap.is_none_or(|cap| cap.to_f64() >= (top.at_most - 1e-6) * scale) {
            let message =
                format!("`{}` takes nothing away: where it holds {}", gate.name, none_above(top.at_most));
            let help =
                format!("take a `cap` below {}, or remove the gate", points(top.at_most * scale, scale));
            warn(&gate.span, &gate.name, message, "no effect", help);
        }
    }
    let top = tops.of_score().at_most;
    let units = round((top + 1e-9).min(1.0) * UNITS_PER_ONE as f64) as i64;
    let published = card.scale.publish(Score::from_units(units));
    let published = published.value as f64 / libm::pow(10.0, f64::from(published.places));
    for band in card.bands.iter().filter(|band| band.from.to_f64() > published) {
        let message = format!("`{}` is never reached: {}", band.name, none_above(top));
        let help = format!("lower it to `from = {}` or less, or remove it", below(top));
        warn(&band.span, &band.name, message, "out of reach", help);
    }
    // Of a tier: the floors in billionths by the place of the dimension, the score and the coverage in billionths.
    let out_of_reach = |floors: &[(usize, i64)], score: f64, coverage: i64, score_at_most: f64| {
        let highest = |at: usize| tops.of_dimension(at).map_or(0.0, |top| top.at_most);
        let low = floors.iter().find(|(at, floor)| *floor as f64 / BILLION as f64 > to_grid(highest(*at)));
        let name = |at: usize| card.dimensions.get(at).map_or("", |dimension| &dimension.key);
        match low {
            Some((at, _)) => Some((
                format!("`{}` cannot reach its floor", name(*at)),
                format!("a floor of `{}`", libm::floor(highest(*at) * 1e6) / 1e6),
            )),
            None if score > score_at_most => Some((none_above(top), format!("`score = {}`", below(top)))),
            None if coverage > BILLION => {
                Some(("no coverage is above 1".to_string(), "`coverage = 1`".to_string()))
            }
            None => None,
        }
    };
    let never = |name: &str, why: &str| format!("`{name}` is never reached: {why}");
    let less = |ask: &str| format!("ask for {ask} or less, or remove it");
    for tier in &card.tiers {
        let coverage = tier.coverage.millionths() * 1_000;
        if let Some((why, ask)) = out_of_reach(&tier.floors, tier.score.to_f64(), coverage, published) {
            warn(&tier.span, &tier.name, never(&tier.name, &why), "out of reach", less(&ask));
        }
    }
    if let Some(standing) = &card.standing {
        for tier in &standing.tiers {
            let place = |key: &str| card.dimensions.iter().position(|dimension| dimension.key == key);
            let floors: Vec<_> =
                tier.floors.iter().filter_map(|(key, floor)| Some((place(key)?, *floor))).collect();
            // A standing is published in whole points.
            let (score, at_most) = (tier.points as f64, libm::ceil(published));
            if let Some((why, ask)) = out_of_reach(&floors, score, tier.coverage, at_most) {
                warn(&standing.span, &tier.name, never(&tier.name, &why), "out of reach", less(&ask));
            }
        }
    }
    let named: BTreeSet<Symbol> = Site::all(card).flat_map(|(_, formula)| formula.expr.symbols()).collect();
    for (at, dimension) in card.dimensions.iter().enumerate().filter(|(at, _)| !has_weight(card, *at)) {
        let read = named.contains(&Symbol::Reading(at));
        let asked = card.tiers.iter().any(|tier| tier.floors.iter().any(|(floor, _)| *floor == at));
        if !read && !asked && !standing::reads(card, &dimension.key) {
            let message =
                format!("`{}` has no weight, and no formula, tier or standing reads it", dimension.key);
            let help = "give it a weight, or remove it";
            let span = dimension.weight_span.clone();
            findings.warn(Code::NeverMatters, span, &[&dimension.key], message, "no effect", help);
        }
    }
}

/// Returns the advice for a condition that compares what is at most 1 with a number of percent.
fn percent_hint(card: &Scorecard, condition: &Expr<Symbol>) -> Option<String> {
    let ExprKind::Binary(_, left, right) = &condition.kind else { return None };
    let (symbol, percent) = match (&left.kind, &right.kind) {
        (ExprKind::Name(symbol), ExprKind::Number(number))
        | (ExprKind::Number(number), ExprKind::Name(symbol)) => (symbol, *number),
        _ => return None,
    };
    let is_share = match symbol {
        Symbol::Fact(at) => card.facts.get(*at).is_some_and(|fact| fact.min >= 0.0 && fact.max == 1.0),
        Symbol::Reading(_) => true,
        _ => false,
    };
    (is_share && percent > 1.0 && percent <= 100.0)
        .then(|| format!("it is a share from 0 to 1: {percent} % is {}", percent / 100.0))
}

fn constant(
    card: &Scorecard,
    always: bool,
    site: Site,
    formula: &karat_core::formula::Formula,
    condition: &Expr<Symbol>,
    findings: &mut Findings<'_>,
) {
    let text = formula.text.get(condition.span.clone()).unwrap_or_default();
    let message = format!("`{text}` is always {always} over the declared ranges");
    let help = percent_hint(card, condition).unwrap_or_else(|| {
        let whole = condition.span == formula.expr.span && !always;
        let rest = if whole { "remove what it decides" } else { "write the branch alone" };
        format!("correct the condition or the ranges of its facts, or {rest}")
    });
    let label = if always { "always true" } else { "always false" };
    let span = formula.place(&condition.span);
    findings.warn(Code::NeverMatters, span, &[site.name(card)], message, label, &help);
}

/// Finds facts, constants and lets that nothing reads (KC208). A challenge takes them from its base.
pub(super) fn unused(card: &Scorecard, findings: &mut Findings<'_>) {
    if card.base.is_some() {
        return;
    }
    let mut lets: BTreeSet<usize> = BTreeSet::new();
    let mut symbols: BTreeSet<Symbol> = BTreeSet::new();
    for (_, formula) in Site::all(card).filter(|(site, _)| !matches!(site, Site::Let(_))) {
        symbols.extend(formula.expr.symbols());
        lets.extend(lets_of(card, &formula.expr));
    }
    for (at, named) in card.lets.iter().enumerate() {
        if lets.contains(&at) {
            symbols.extend(named.formula.expr.symbols());
        } else {
            let message = format!("nothing reads the let `{}`", named.name);
            let help = "remove it";
            let span = named.formula.span.clone();
            findings.warn(Code::Unused, span, &[&named.name], message, "unused", help);
        }
    }
    let named: BTreeSet<usize> =
        Site::all(card).flat_map(|(_, formula)| formula.constants.iter().map(|(_, at)| *at)).collect();
    for (_, constant) in card.constants.iter().enumerate().filter(|(at, _)| !named.contains(at)) {
        let message = format!("no formula names the constant `{}`", constant.name);
        let help = "remove it, or name it in a formula";
        findings.warn(Code::Unused, constant.span.clone(), &[&constant.name], message, "unused", help);
    }
    let wholes: BTreeSet<usize> = card.facts.iter().filter_map(|fact| fact.max_fact).collect();
    for (at, fact) in card.facts.iter().enumerate() {
        let bounds = wholes.contains(&at);
        let chooses = card.profiles.as_ref().is_some_and(|profiles| profiles.by == at);
        if !bounds && !chooses && !card.is_age(at) && !symbols.contains(&Symbol::Fact(at)) {
            let message = format!("nothing reads the fact `{}`", fact.name);
            let help = "remove it; evidence may hold more than a card reads";
            findings.warn(Code::Unused, fact.span.clone(), &[&fact.name], message, "unused", help);
        }
    }
}
