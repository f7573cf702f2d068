//! Cliffs: how far the score can jump where a comparison turns, or where a formula is as steep as if one did.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range as Bytes;

use super::advice;
use super::declared::{Declared, to_grid};
use super::direction::is_same;
use super::findings::{Findings, Site};
use super::reach::Reach;
use super::roots::{Roots, let_roots, lets_of, roots_of};
use super::shares::{Shares, effect_of};
use super::slopes::{Slopes, Steepest};
use super::steps::Steps;
use super::tops::{Tops, any_part};
use super::traps::LARGE_SHARE;
use karat_core::diagnostic::Code;
use karat_core::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol};
use karat_core::range::{Interval, Range, evaluate};
use karat_core::scorecard::{FactType, Rule, Scorecard};

/// Smaller jumps than this part of the scale are reported but not warned of.
const SMALL: f64 = 0.01;
/// Steps in which the effect of a rule is looked at over the whole range of the score.
const STEPS: u32 = 1000;

/// A place where a small change can move the score far.
#[derive(Debug, Clone, PartialEq)]
pub struct Cliff {
    /// The condition as written, or the fact and where it moves.
    pub condition: String,
    /// The dimensions, rule or gate that depend on it.
    pub about: Vec<String>,
    /// The largest jump, in points of the scale.
    pub points: f64,
}

/// The steepest place of a dimension in a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Slope {
    /// The dimension.
    pub dimension: String,
    /// The fact.
    pub fact: String,
    /// The fact before and after a small step: a thousandth of its declared range, or of itself where that is open.
    pub from: f64,
    /// The fact after the step.
    pub to: f64,
    /// The points of the scale by which the score can move.
    pub points: f64,
}

/// A cliff with its place in the file and the names under which it can be kept.
struct Found<'c> {
    formula: &'c Formula,
    part: Bytes<usize>,
    about: Vec<&'c str>,
    size: f64,
    /// The place, if not a condition.
    place: Option<String>,
    help: String,
}

impl<'c> Found<'c> {
    /// Makes one of a condition.
    fn of(formula: &'c Formula, part: &Expr<Symbol>, name: &'c str, size: f64, help: String) -> Self {
        let about = [name].into();
        Self { formula, part: part.span.clone(), about, size: size.min(1.0), place: None, help }
    }
}

/// Finds every cliff, the largest first, and the steepest place of every dimension in every fact.
pub(super) fn check(
    tops: &Tops<'_, '_>,
    shares: &[Shares],
    wrong: &[Site],
    findings: &mut Findings<'_>,
) -> (Vec<Cliff>, Vec<Slope>) {
    let (reach, declared) = (tops.reach, tops.reach.declared);
    let card = declared.card;
    let comparisons: usize = Site::all(card).map(|(_, formula)| comparisons(&formula.expr).len()).sum();
    let mut steps = Steps::new(reach, comparisons);
    let mut found = at_gates_of_dimensions(card, declared, shares, &mut steps);
    found.extend(inside_formulas(card, declared, shares, &mut steps));
    found.extend(at_rules(card, reach, &mut steps));
    found.extend(at_caps(card, tops));
    let (steep, slopes) = on_slopes(card, reach, shares, wrong);
    found.extend(steep);
    found.retain(|cliff| cliff.size > 0.0);
    found.sort_by(|a, b| b.size.total_cmp(&a.size));
    let scale = f64::from(card.scale.max);
    for cliff in found.iter().filter(|cliff| cliff.size > SMALL) {
        let points = points(cliff.size * scale, scale);
        let whole = if card.family.is_some() { " of the dimension's weight" } else { "" };
        let part = cliff.formula.text.get(cliff.part.clone()).unwrap_or(&cliff.formula.text);
        let place = cliff.place.clone().unwrap_or_else(|| format!("`{part}` turns"));
        let message = format!(
            "where {place}, the score can jump by {points} of {scale}{whole} ({})",
            cliff.about.join(", ")
        );
        let help = &cliff.help;
        let span = cliff.formula.place(&cliff.part);
        findings.warn(Code::Cliff, span, &cliff.about, message, &format!("up to {points}"), help);
    }
    let cliffs = found.into_iter().map(|cliff| {
        let condition = || cliff.formula.text.get(cliff.part.clone()).unwrap_or_default().to_string();
        Cliff {
            condition: cliff.place.clone().map_or_else(condition, |place| place.replace('`', "")),
            about: cliff.about.iter().map(ToString::to_string).collect(),
            points: to_grid(cliff.size) * scale,
        }
    });
    (cliffs.collect(), slopes)
}

/// Finds steep places that are not comparisons: of dimensions, and of the score that a rule sets.
fn on_slopes<'c>(
    card: &'c Scorecard,
    reach: &Reach<'_, '_>,
    shares: &[Shares],
    wrong: &[Site],
) -> (Vec<Found<'c>>, Vec<Slope>) {
    let mut search = Slopes::new(reach, card.dimensions.len() + card.rules.len());
    let (mut found, mut slopes) = (Vec::new(), Vec::new());
    let scale = f64::from(card.scale.max);
    let mut note = |formula: &'c Formula, name: &'c str, effect: f64, steepest: &Steepest| {
        let Some(cliff) = steepest.cliff else { return };
        let input = steepest.input;
        found.push(Found {
            formula,
            part: formula.expr.span.clone(),
            about: [card.symbol_name(input), name].into(),
            size: (cliff.change.abs() * effect).min(1.0),
            place: Some(advice::place(card, input, &cliff)),
            help: advice::over_more(reach.declared, input, &cliff),
        });
    };
    for (at, dimension) in card.dimensions.iter().enumerate() {
        if wrong.contains(&Site::Value(at)) {
            continue;
        }
        let effect = effect_of(shares, at);
        let conditions = [dimension.applies.as_ref(), dimension.when.as_ref()];
        let conditions: Vec<&Expr<Symbol>> =
            conditions.into_iter().flatten().map(|condition| &condition.expr).collect();
        for steepest in search.of(&dimension.formula.expr, &conditions, true) {
            note(&dimension.formula, &dimension.key, effect, &steepest);
            slopes.push(Slope {
                dimension: dimension.key.clone(),
                fact: card.symbol_name(steepest.input).to_string(),
                from: steepest.place.from,
                to: steepest.place.to,
                points: steepest.place.change.abs() * effect * scale,
            });
        }
    }
    let rules = card.rules.iter().enumerate().filter(|(at, _)| !wrong.contains(&Site::Set(*at)));
    for (_, rule) in rules {
        for steepest in search.of(&rule.set.expr, &[&rule.when.expr], false) {
            note(&rule.set, &rule.name, 1.0, &steepest);
        }
    }
    (found, slopes)
}

/// Returns a number of points for a reader: to a ten-thousandth of the scale.
pub(super) fn points(value: f64, scale: f64) -> String {
    let decimals = (0..4).scan(scale, |rest, _| {
        *rest /= 10.0;
        Some(*rest)
    });
    let decimals = 4 - decimals.take_while(|rest| *rest >= 1.0).count();
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').to_string() }
}

/// Returns whether a part of a formula compares numbers.
pub(super) fn is_comparison(node: &Expr<Symbol>) -> bool {
    matches!(&node.kind, ExprKind::Binary(operator, left, _)
        if operator.is_comparison() && !matches!(left.kind, ExprKind::Flag(_)))
}

/// Returns whether a condition compares numbers, itself or through its lets.
fn compares(card: &Scorecard, condition: &Expr<Symbol>) -> bool {
    any_part(card, condition, &is_comparison)
}

/// Returns the comparisons of numbers in a formula.
fn comparisons(formula: &Expr<Symbol>) -> Vec<&Expr<Symbol>> {
    formula.parts().filter(|node| is_comparison(node)).collect()
}

/// Returns `if(condition, yes, no)`.
fn choice(condition: &Expr<Symbol>, yes: &Expr<Symbol>, no: ExprKind<Symbol>) -> Expr<Symbol> {
    let no = Expr { kind: no, span: 0..1 };
    let span = 0..condition.span.len() + yes.span.len();
    Expr { kind: ExprKind::Call(Function::If, [condition.clone(), yes.clone(), no].into()), span }
}

/// Returns the largest step of `formula` where a comparison of `condition`, or of a let in it, turns. `None` if none was seen to
/// turn.
fn step_at(
    card: &Scorecard,
    condition: &Expr<Symbol>,
    formula: &Expr<Symbol>,
    roots: &[Roots],
    steps: &mut Steps<'_, '_>,
) -> Option<f64> {
    let below = lets_of(card, condition);
    let named = below.iter().filter_map(|&at| card.lets.get(at)).map(|named| &named.formula.expr);
    let mut largest: Option<f64> = None;
    for comparison in named.chain([condition]).flat_map(comparisons) {
        if steps.is_spent() {
            break;
        }
        let moved = roots_of(comparison, roots);
        let step = steps.largest(comparison, &moved, formula);
        largest = step.map_or(largest, |step| Some(largest.map_or(step, |known| known.max(step))));
    }
    largest
}

/// Dimensions behind the same gate open together.
fn at_gates_of_dimensions<'c>(
    card: &'c Scorecard,
    declared: &Declared<'_>,
    shares: &[Shares],
    steps: &mut Steps<'_, '_>,
) -> Vec<Found<'c>> {
    let roots = let_roots(card);
    let mut gates: Vec<(&'c Formula, Vec<usize>)> = Vec::new();
    for (at, dimension) in card.dimensions.iter().enumerate() {
        let Some(when) = dimension.when.as_ref().filter(|when| compares(card, &when.expr)) else { continue };
        match gates.iter_mut().find(|(known, _)| is_same(&known.expr, &when.expr)) {
            Some((_, members)) => members.push(at),
            None => gates.push((when, [at].into())),
        }
    }
    let mut size = |when: &Formula, members: &[usize]| {
        let high = |at: usize| declared.values.get(at).map_or(1.0, |value| value.high.clamp(0.0, 1.0));
        let parts: Vec<(usize, f64)> = members
            .iter()
            .filter_map(|&at| Some((at, card.dimensions.get(at)?)))
            .map(|(at, dimension)| {
                let gated = choice(&when.expr, &dimension.formula.expr, ExprKind::Number(0.0));
                let step = step_at(card, &when.expr, &gated, &roots, steps);
                (at, step.map_or_else(|| high(at), |step| step.min(1.0)))
            })
            .collect();
        let jump = |shares: &Shares| {
            let part = |(at, step): &(usize, f64)| shares.effect.get(*at).map_or(0.0, |effect| effect * step);
            parts.iter().map(part).sum::<f64>().min(1.0)
        };
        shares.iter().map(jump).fold(0.0, f64::max)
    };
    let found = gates.into_iter().map(|(formula, members)| {
        let about = members.iter().filter_map(|&at| card.dimensions.get(at)).map(|it| it.key.as_str());
        let help = advice::for_gate(declared, &formula.expr);
        let found = Found::of(formula, &formula.expr, "", size(formula, &members), help);
        Found { about: about.collect(), ..found }
    });
    found.collect()
}

/// Steps of `if` inside the formulas of dimensions.
fn inside_formulas<'c>(
    card: &'c Scorecard,
    declared: &Declared<'_>,
    shares: &[Shares],
    steps: &mut Steps<'_, '_>,
) -> Vec<Found<'c>> {
    let mut found = Vec::new();
    let roots = let_roots(card);
    for (at, dimension) in card.dimensions.iter().enumerate() {
        let effect = effect_of(shares, at);
        let lets = lets_of(card, &dimension.formula.expr);
        let formulas = lets.iter().filter_map(|&at| card.lets.get(at)).map(|named| &named.formula);
        for formula in formulas.chain([&dimension.formula]) {
            for (condition, arguments) in conditions(&formula.expr) {
                if steps.is_spent() {
                    return found;
                }
                let moved = roots_of(condition, &roots);
                let step = steps.largest(condition, &moved, &dimension.formula.expr);
                if step.is_none_or(|step| step <= 0.0) {
                    continue;
                }
                let help = advice::for_choice(declared, formula, condition, arguments);
                let size = step.unwrap_or(0.0) * effect;
                found.push(Found::of(formula, condition, &dimension.key, size, help));
            }
        }
    }
    found
}

/// Returns the comparisons in the conditions of `if`, except those that only keep a division from failing, each with the
/// arguments of its `if`.
fn conditions(formula: &Expr<Symbol>) -> Vec<(&Expr<Symbol>, &[Expr<Symbol>])> {
    let mut found = Vec::new();
    formula.walk(&mut |node| {
        if let ExprKind::Call(Function::If, arguments) = &node.kind
            && let [condition, branches @ ..] = arguments.as_slice()
        {
            let open = comparisons(condition).into_iter().filter(|it| !guards_division(it, branches));
            found.extend(open.map(|comparison| (comparison, arguments.as_slice())));
        }
    });
    found
}

/// Returns whether a comparison with 0 guards a division by what it compares.
fn guards_division(comparison: &Expr<Symbol>, branches: &[Expr<Symbol>]) -> bool {
    let ExprKind::Binary(_, left, right) = &comparison.kind else { return false };
    let is_zero = |side: &Expr<Symbol>| matches!(side.kind, ExprKind::Number(value) if value.abs() <= 0.0);
    let side = match (is_zero(left), is_zero(right)) {
        (false, true) => left,
        (true, false) => right,
        _ => return false,
    };
    branches
        .iter()
        .flat_map(Expr::parts)
        .any(|node| matches!(&node.kind, ExprKind::Binary(Binary::Divide, _, by) if is_same(by, side)))
}

/// Returns how far the score jumps where a rule begins to fire: on a comparison either way, on a condition alone by a large
/// bonus.
fn at_rules<'c>(card: &'c Scorecard, reach: &Reach<'_, '_>, steps: &mut Steps<'_, '_>) -> Vec<Found<'c>> {
    let mut found = Vec::new();
    let roots = let_roots(card);
    for (at, rule) in card.rules.iter().enumerate() {
        let Some((lifts, lowers)) = most_by_rule(reach, at, rule) else { continue };
        let is_compared = compares(card, &rule.when.expr);
        let size = if is_compared {
            let applied = choice(&rule.when.expr, &rule.set.expr, ExprKind::Name(Symbol::Score));
            step_at(card, &rule.when.expr, &applied, &roots, steps).unwrap_or(lifts.max(lowers))
        } else {
            Some(lifts).filter(|lifts| *lifts > LARGE_SHARE + 1e-9).unwrap_or(0.0)
        };
        let less =
            format!("let it lift by less: `set = \"min(1, score + {LARGE_SHARE})\"`, or keep it and say why");
        let help = if is_compared { advice::for_rule(reach.declared, rule) } else { less };
        found.push(Found::of(&rule.when, &rule.when.expr, &rule.name, size, help));
    }
    found
}

/// Returns the most by which a rule lifts and lowers the score where it fires. `None` if it never does.
fn most_by_rule(reach: &Reach<'_, '_>, at: usize, rule: &Rule) -> Option<(f64, f64)> {
    let inside = reach.before(Site::RuleWhen(at)).and(&rule.when.expr, true)?;
    evaluate(&rule.when.expr, &reach.before(Site::RuleWhen(at)))
        .flag()
        .is_none_or(|holds| holds)
        .then_some(())?;
    let scores = inside.range_of_number(Symbol::Score);
    let (mut lifts, mut lowers): (f64, f64) = (0.0, 0.0);
    for step in 0..=STEPS {
        let score = scores.low + (scores.high - scores.low) * f64::from(step) / f64::from(STEPS);
        let at = inside.with(Symbol::Score, Range::Number(Interval::point(score)));
        let set = evaluate(&rule.set.expr, &at).number();
        (lifts, lowers) = (lifts.max(set.high - score), lowers.max(score - set.low));
    }
    Some((lifts, lowers))
}

/// Returns what a cap takes from the highest score.
fn at_caps<'c>(card: &'c Scorecard, tops: &Tops<'_, '_>) -> Vec<Found<'c>> {
    let capped = card.gates.iter().enumerate().filter(|(_, gate)| compares(card, &gate.when.expr));
    capped
        .filter_map(|(at, gate)| {
            let cap = gate.cap?.to_f64() / f64::from(card.scale.max);
            let highest = tops.where_holds(Site::GateWhen(at), &gate.when.expr)?.at_most;
            let help = advice::for_cap(tops.reach.declared, gate, cap);
            Some(Found::of(&gate.when, &gate.when.expr, &gate.name, highest - cap, help))
        })
        .collect()
}

/// Finds strict comparisons of something continuous with a threshold that belongs to neither side by nature.
pub(super) fn strict_thresholds(card: &Scorecard, findings: &mut Findings<'_>) {
    for (site, formula) in Site::all(card) {
        for comparison in comparisons(&formula.expr) {
            let (value, threshold) = match &comparison.kind {
                ExprKind::Binary(Binary::Greater, left, right) => (left, right),
                ExprKind::Binary(Binary::Less, left, right) => (right, left),
                _ => continue,
            };
            let Some(limit) = threshold.literal() else { continue };
            // Above nothing at all is a question, not a threshold; whole numbers have a next one.
            if limit.abs() <= 0.0 || is_whole(card, value) {
                continue;
            }
            let text = |part: &Expr<Symbol>| formula.text.get(part.span.clone()).unwrap_or_default();
            let symbols = value.symbols();
            let mut about: Vec<&str> = symbols.iter().map(|&symbol| card.symbol_name(symbol)).collect();
            about.push(site.name(card));
            let message =
                format!("`{}` of exactly {} counts as below the threshold", text(value), text(threshold));
            let help = "write `>=` if the threshold itself should pass";
            let span = formula.place(&comparison.span);
            findings.warn(Code::StrictThreshold, span, &about, message, "strict", help);
        }
    }
}

fn is_whole(card: &Scorecard, value: &Expr<Symbol>) -> bool {
    let lets = lets_of(card, value).into_iter().filter_map(|at| card.lets.get(at));
    let all = lets.map(|named| &named.formula.expr).chain([value]);
    all.flat_map(Expr::parts).all(|node| match &node.kind {
        ExprKind::Name(Symbol::Fact(at)) => {
            card.facts.get(*at).is_some_and(|fact| fact.integer || fact.kind != FactType::Number)
        }
        ExprKind::Name(symbol) => matches!(symbol, Symbol::Let(_)),
        ExprKind::Number(number) => libm::floor(*number) >= *number,
        ExprKind::Binary(operator, ..) => *operator != Binary::Divide,
        ExprKind::Call(function, _) => {
            use Function::{Exp, Ln, Log2, Pow, Sqrt};
            !matches!(function, Sqrt | Exp | Ln | Log2 | Pow)
        }
        _ => true,
    })
}
