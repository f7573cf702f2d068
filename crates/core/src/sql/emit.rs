//! Instructions of a plan as columns of a query: the same arithmetic in the same order, so that the results have the same bits.
//!
//! A value that is not there is NULL. The reason matters in three places (`is_missing`, `coalesce` and the weights of a mean), and only
//! there it is written out: see [`Value::fails`] and [`Value::lacks`].

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::dialect::Dialect;
use crate::decay::Loss;
use crate::number::{BILLION, MILLION, UNITS_PER_ONE};
use crate::plan::{
    BinaryOperator as B, Code, Instruction, Limits, MeanItem, Operation, Register, Rounding,
    UnaryOperator as U,
};
use crate::range::Interval;
use crate::scorecard::Mean;
use crate::weights::Weighting;

/// From here on, `x + TWO_TO_52` has no digits behind the point: see [`crate::number::round`].
const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
/// Half of the powers of two that a double has above one.
const HALF_OF_POWERS: i32 = 512;
/// An age in seconds beyond which nothing is left of a reading, whatever it loses in a period.
const AGE_MAX_SECONDS: f64 = 9e18;
/// More billionths than a reading has.
const NO_READING: f64 = 2e9;

/// A value of each row.
#[derive(Debug, Clone)]
pub(super) struct Value {
    /// Its column, or a constant.
    pub text: String,
    /// The number of selections that come before the one in which it can be read.
    pub level: usize,
    /// The numbers that it can be.
    range: Interval,
    /// True if it may be NULL.
    is_nullable: bool,
    /// The condition under which it is not missing, but failed; none if it cannot fail. Only where something asks.
    fails: Option<String>,
    /// The condition under which a reading does not apply; none if it always does.
    lacks: Option<String>,
    /// The condition under which a mean is withheld.
    pub is_withheld: Option<String>,
}

/// Columns that depend on each other, in as many selections as it takes.
#[derive(Debug)]
pub(super) struct Emitter<'a> {
    pub dialect: Dialect,
    weighting: &'a Weighting,
    /// The profile of a row by its place in the card; none if every row has the same.
    profile: Option<&'a Value>,
    /// The raw facts, by their places.
    facts: &'a BTreeMap<usize, Value>,
    elapsed_seconds: Option<&'a Value>,
    /// The columns of each selection: name and expression.
    pub levels: Vec<Vec<(String, String)>>,
    values: BTreeMap<Register, Value>,
    /// The registers of which it matters whether they failed.
    asked: BTreeSet<Register>,
    columns: usize,
}

/// The function or operation of an instruction whose results are not the same bits in every engine.
pub(super) fn inexact(code: &Code) -> Option<&'static str> {
    code.instructions.iter().find_map(|instruction| match &instruction.operation {
        Operation::Unary { operator: U::Exp, .. } => Some("exp"),
        Operation::Unary { operator: U::Ln, .. } => Some("ln"),
        Operation::Unary { operator: U::Log2, .. } => Some("log2"),
        Operation::Binary { operator: B::Pow, .. } => Some("pow"),
        Operation::Mean { mean: Mean::Geometric, .. } => Some("geometric"),
        _ => None,
    })
}

impl<'a> Emitter<'a> {
    pub(super) fn new(
        dialect: Dialect,
        code: &Code,
        weighting: &'a Weighting,
        (profile, facts, elapsed_seconds): (Option<&'a Value>, &'a BTreeMap<usize, Value>, Option<&'a Value>),
    ) -> Self {
        let constant = |&(register, value): &(Register, f64)| {
            let text = dialect.number(value);
            (register, Value { is_nullable: value.is_nan(), ..Value::new(text, 0, point(value)) })
        };
        Self {
            dialect,
            weighting,
            profile,
            facts,
            elapsed_seconds,
            levels: Vec::new(),
            values: code.constants.iter().map(constant).collect(),
            asked: asked(code),
            columns: 0,
        }
    }

    /// Adds a column that reads others which are all there after `level` selections; returns it.
    pub(super) fn column(&mut self, level: usize, expression: String) -> Value {
        let name = self.dialect.identifier(&format!("k{}", self.columns));
        self.columns += 1;
        while self.levels.len() <= level {
            self.levels.push(Vec::new());
        }
        if let Some(columns) = self.levels.get_mut(level) {
            columns.push((name.clone(), expression));
        }
        Value::new(name, level + 1, Interval::EVERYTHING)
    }

    /// Returns the value of a register.
    pub(super) fn value(&self, register: Register) -> Value {
        self.values.get(&register).cloned().unwrap_or_else(|| self.none())
    }

    fn none(&self) -> Value {
        Value::new(self.number(f64::NAN), 0, Interval::EVERYTHING).or_null()
    }

    pub(super) fn number(&self, value: f64) -> String {
        self.dialect.number(value)
    }

    fn flag(&self, condition: &str, negation: &str) -> String {
        let [one, zero] = [1.0, 0.0].map(|it| self.number(it));
        format!("CASE WHEN {condition} THEN {one} WHEN {negation} THEN {zero} END")
    }

    pub(super) fn round(&self, x: &str) -> String {
        let two = self.number(TWO_TO_52);
        format!("({x} + {two}) - {two}")
    }

    /// Returns the largest whole number at or below a column that is not negative.
    fn floor(&self, x: &str) -> String {
        let near = self.round(x);
        format!("CASE WHEN {near} > {x} THEN {near} - 1 ELSE {near} END")
    }

    /// Adds the columns of an instruction.
    pub(super) fn instruction(&mut self, instruction: &Instruction) {
        let (to, is_asked) = (instruction.to, self.asked.contains(&instruction.to));
        let value = match &instruction.operation {
            Operation::Load { fact, limits } => self.load(*fact, *limits),
            Operation::Unary { operator, x } => self.unary(*operator, &self.value(*x)),
            Operation::Binary { operator, x, y } => self.binary(*operator, &self.value(*x), &self.value(*y)),
            Operation::Select { c, a, b } => self.select(&self.value(*c), &self.value(*a), &self.value(*b)),
            Operation::Reading { value, when, applies } => {
                let (when, applies) = (when.map(|it| self.value(it)), applies.map(|it| self.value(it)));
                self.reading(&self.value(*value), when.as_ref(), applies.as_ref())
            }
            Operation::Elapsed => self.elapsed_seconds.cloned().unwrap_or_else(|| self.none()),
            Operation::Age { stated, elapsed } => self.age(&self.value(*stated), &self.value(*elapsed)),
            Operation::Newest { items } => self.newest(items),
            Operation::Decay { value, age, loss } => {
                let (value, age) = (self.value(*value), self.value(*age));
                self.decay(&value, &age, *loss)
            }
            Operation::Mean { mean, top, items, coverage } => {
                let (composite, covered) = self.mean(*mean, *top, items);
                self.values.insert(*coverage, covered);
                composite
            }
            Operation::Rule { when, set, score } => {
                let (when, set, score) = (self.value(*when), self.value(*set), self.value(*score));
                let rounded = self.round(&format!("{} * {}", set.text, self.number(UNITS_PER_ONE as f64)));
                let (w, s, x) = (&when.text, &set.text, &score.text);
                let text = format!(
                    "CASE WHEN {w} = 1 AND {s} IS NOT NULL AND {x} IS NOT NULL THEN {rounded} ELSE {x} END"
                );
                self.nullable(&[&when, &set, &score], text)
            }
            Operation::Cap { when, cap, score } => {
                let (when, score) = (self.value(*when), self.value(*score));
                let (w, x, cap) = (&when.text, &score.text, self.number(*cap));
                let text = format!("CASE WHEN {w} = 1 AND {x} > {cap} THEN {cap} ELSE {x} END");
                self.nullable(&[&when, &score], text)
            }
            Operation::Publish { rounding, score } => self.publish(*rounding, &self.value(*score)),
            Operation::Band { thresholds, published } => {
                let x = self.value(*published);
                let reached = thresholds.iter().enumerate().rev();
                let cases = reached.map(|(place, least)| {
                    format!("WHEN {} >= {} THEN {}", x.text, self.number(*least), place + 1)
                });
                let cases: Vec<String> = cases.collect();
                self.nullable(&[&x], format!("CASE {} ELSE 0 END", cases.join(" ")))
            }
            Operation::Tiers { tiers, gates, published, coverage } => {
                let (published, coverage) = (self.value(*published), self.value(*coverage));
                let mut read = alloc::vec![published.clone(), coverage.clone()];
                let mut met: Vec<String> = Vec::new();
                let mut cases: Vec<String> = Vec::new();
                for (place, tier) in tiers.iter().enumerate() {
                    met.push(format!("{} >= {}", published.text, self.number(tier.published)));
                    met.push(format!("{} >= {}", coverage.text, self.number(tier.coverage)));
                    for &(reading, floor) in &tier.floors {
                        let reading = self.value(reading);
                        met.push(format!("{} >= {}", reading.text, self.number(floor)));
                        read.push(reading);
                    }
                    cases.push(format!("WHEN {} THEN {}", met.join(" AND "), place + 1));
                }
                cases.reverse();
                let read: Vec<&Value> = read.iter().collect();
                let mut tier = self.nullable(&read, format!("CASE {} ELSE 0 END", cases.join(" ")));
                for &(when, limit) in gates {
                    let when = self.value(when);
                    let (w, x, limit) = (&when.text, &tier.text, limit as u64);
                    let text = format!("CASE WHEN {w} = 1 AND {x} > {limit} THEN {limit} ELSE {x} END");
                    tier = self.nullable(&[&when, &tier], text);
                }
                tier
            }
        };
        let value = match value.fails.clone().filter(|_| is_asked && value.level > 0) {
            // The condition reads what this selection reads; later ones read it as a column.
            Some(fails) => {
                let known = self.column(value.level - 1, format!("CASE WHEN {fails} THEN 1 ELSE 0 END"));
                Value { fails: Some(format!("{} = 1", known.text)), ..value }
            }
            None => Value { fails: None, ..value },
        };
        self.values.insert(to, value);
    }

    /// Adds a column that may be NULL and does not fail.
    fn nullable(&mut self, read: &[&Value], text: String) -> Value {
        let level = read.iter().map(|value| value.level).max().unwrap_or(0);
        Value { is_nullable: true, ..self.column(level, text) }
    }

    fn load(&mut self, fact: usize, limits: Limits) -> Value {
        let checked = self.facts.get(&fact).cloned().unwrap_or_else(|| self.none());
        Value { range: Interval { low: limits.min, high: limits.max }, ..checked }
    }

    fn unary(&mut self, operator: U, x: &Value) -> Value {
        let t = &x.text;
        let [one, billion] = [1.0, BILLION as f64].map(|it| self.number(it));
        let (text, range, fails) = match operator {
            U::Negate => {
                (format!("-{t}"), Interval { low: -x.range.high, high: -x.range.low }, x.fails.clone())
            }
            U::Not => (format!("{one} - {t}"), Interval::UNIT, x.fails.clone()),
            U::Abs => (format!("ABS({t})"), x.range.abs(), x.fails.clone()),
            U::Floor => (self.dialect.floor(t), x.range.map(libm::floor), x.fails.clone()),
            U::Ceil => {
                let floor = self.dialect.floor(&format!("(-{t})"));
                (format!("-({floor})"), x.range.map(libm::ceil), x.fails.clone())
            }
            U::Sqrt => {
                let below = (x.range.low < 0.0).then(|| format!("{t} < 0"));
                let text = format!("CASE WHEN {t} >= 0 THEN SQRT({t}) END");
                (text, x.range.map(|end| libm::sqrt(end.max(0.0))), any([x.fails.clone(), below]))
            }
            U::IsMissing => {
                let none = x.fails.as_ref().map_or(String::new(), |fails| format!("WHEN {fails} THEN NULL "));
                let zero = self.number(0.0);
                (
                    format!("CASE {none}WHEN {t} IS NULL THEN {one} ELSE {zero} END"),
                    Interval::UNIT,
                    x.fails.clone(),
                )
            }
            U::FromBillionths => (format!("{t} / {billion}"), Interval::UNIT, x.fails.clone()),
            U::FromUnits => (format!("{t} / {}", self.number(UNITS_PER_ONE as f64)), Interval::UNIT, None),
            // Refused before.
            U::Exp | U::Ln | U::Log2 => (self.number(f64::NAN), Interval::EVERYTHING, None),
        };
        let is_nullable = match operator {
            U::IsMissing => fails.is_some(),
            U::Sqrt => x.is_nullable || x.range.low < 0.0,
            _ => x.is_nullable,
        };
        Value { range, fails, is_nullable, ..self.column(x.level, text) }
    }

    fn binary(&mut self, operator: B, x: &Value, y: &Value) -> Value {
        let (a, b, level) = (&x.text, &y.text, x.level.max(y.level));
        let failed = any([x.fails.clone(), y.fails.clone()]);
        let compared = |symbol: &str, negation: &str| {
            self.flag(&format!("{a} {symbol} {b}"), &format!("{a} {negation} {b}"))
        };
        let (text, range, fails) = match operator {
            B::Add | B::Subtract | B::Multiply | B::Divide => return self.arithmetic(operator, x, y),
            B::Min => {
                let text = format!("CASE WHEN {b} < {a} THEN {b} WHEN {b} IS NOT NULL THEN {a} END");
                (text, x.range.min(y.range), failed)
            }
            B::Max => {
                let text = format!("CASE WHEN {b} > {a} THEN {b} WHEN {b} IS NOT NULL THEN {a} END");
                (text, x.range.max(y.range), failed)
            }
            B::Less => (compared("<", ">="), Interval::UNIT, failed),
            B::LessOrEqual => (compared("<=", ">"), Interval::UNIT, failed),
            B::Greater => (compared(">", "<="), Interval::UNIT, failed),
            B::GreaterOrEqual => (compared(">=", "<"), Interval::UNIT, failed),
            B::Equal => (compared("=", "<>"), Interval::UNIT, failed),
            B::NotEqual => (compared("<>", "="), Interval::UNIT, failed),
            B::And => (self.flag(&format!("{a} = 1 AND {b} = 1"), &there(a, b)), Interval::UNIT, failed),
            B::Or => {
                let holds = format!("({a} = 1 OR {b} = 1) AND {}", there(a, b));
                (self.flag(&holds, &there(a, b)), Interval::UNIT, failed)
            }
            B::Coalesce => {
                let text = match &x.fails {
                    None => format!("COALESCE({a}, {b})"),
                    Some(fails) => format!("CASE WHEN {a} IS NULL AND NOT ({fails}) THEN {b} ELSE {a} END"),
                };
                let turn = y.fails.as_ref().map(|fails| match &x.fails {
                    None => format!("({a} IS NULL AND ({fails}))"),
                    Some(own) => format!("({a} IS NULL AND NOT ({own}) AND ({fails}))"),
                });
                let is_nullable = x.fails.is_some() || x.is_nullable && y.is_nullable;
                let range = x.range.hull(y.range);
                let fails = any([x.fails.clone(), turn]);
                return Value { range, fails, is_nullable, ..self.column(level, text) };
            }
            B::Fill => {
                let text = match &x.lacks {
                    None => format!("COALESCE({a}, {b})"),
                    Some(lacks) => format!("CASE WHEN {lacks} THEN NULL ELSE COALESCE({a}, {b}) END"),
                };
                let range = x.range.hull(y.range);
                return Value { range, is_nullable: x.lacks.is_some(), ..self.column(level, text) };
            }
            // Refused before.
            B::Pow => (self.number(f64::NAN), Interval::EVERYTHING, None),
        };
        Value { range, fails, is_nullable: x.is_nullable || y.is_nullable, ..self.column(level, text) }
    }

    /// Arithmetic: where the result would be infinite, or the divisor is zero, it fails.
    fn arithmetic(&mut self, operator: B, x: &Value, y: &Value) -> Value {
        let (a, b) = (&x.text, &y.text);
        let [small, large] =
            [-HALF_OF_POWERS, HALF_OF_POWERS].map(|power| self.number(libm::ldexp(1.0, power)));
        let half = self.number(0.5);
        // Computed on smaller numbers: equal, but for a power of two, to what is asked about. Only where neither is so small that
        // nothing would be left of it, which some engines call an error.
        let (symbol, range, is_small) = match operator {
            B::Add | B::Subtract => {
                let symbol = if operator == B::Add { "+" } else { "-" };
                let range = if operator == B::Add { x.range.plus(y.range) } else { x.range.minus(y.range) };
                let most = self.number(libm::ldexp(1.0, 1023));
                (symbol, range, format!("ABS({a} * {half} {symbol} {b} * {half}) < {most}"))
            }
            B::Multiply => {
                let scaled = format!("ABS(({a} * {small}) * ({b} * {small})) < 1");
                let is_small =
                    format!("CASE WHEN ABS({a}) <= 1 OR ABS({b}) <= 1 THEN 1 = 1 ELSE {scaled} END");
                ("*", x.range.multiply(y.range), is_small)
            }
            _ => {
                let scaled = format!("ABS(({a} * {small}) / NULLIF({b}, 0)) < {large}");
                let is_small = format!("CASE WHEN ABS({b}) >= 1 THEN 1 = 1 ELSE {scaled} END");
                ("/", x.range.divide(y.range), is_small)
            }
        };
        let is_by_zero = operator == B::Divide && y.range.contains(0.0);
        let divisor = if is_by_zero { format!("NULLIF({b}, 0)") } else { b.clone() };
        let result = format!("{a} {symbol} {divisor}");
        let may_overflow = !(range.low > -f64::MAX && range.high < f64::MAX);
        let text = if may_overflow { format!("CASE WHEN {is_small} THEN {result} END") } else { result };
        let none = match (may_overflow, is_by_zero) {
            (true, true) => Some(format!("({} AND ({b} = 0 OR NOT ({is_small})))", there(a, b))),
            (true, false) => Some(format!("({} AND NOT ({is_small}))", there(a, b))),
            (false, true) => Some(format!("({} AND {b} = 0)", there(a, b))),
            (false, false) => None,
        };
        let is_nullable = x.is_nullable || y.is_nullable || none.is_some();
        let range = range.intersect(Interval { low: -f64::MAX, high: f64::MAX }).unwrap_or(range);
        let fails = any([x.fails.clone(), y.fails.clone(), none]);
        Value { range, fails, is_nullable, ..self.column(x.level.max(y.level), text) }
    }

    fn select(&mut self, c: &Value, a: &Value, b: &Value) -> Value {
        let (is, yes, no) = (&c.text, &a.text, &b.text);
        let text = format!("CASE WHEN {is} = 0 THEN {no} WHEN {is} IS NOT NULL THEN {yes} END");
        let branch = |value: &Value, symbol: &str| {
            value.fails.as_ref().map(|fails| format!("({is} {symbol} 0 AND ({fails}))"))
        };
        let fails = any([c.fails.clone(), branch(a, "<>"), branch(b, "=")]);
        let level = c.level.max(a.level).max(b.level);
        let is_nullable = c.is_nullable || a.is_nullable || b.is_nullable;
        Value { range: a.range.hull(b.range), fails, is_nullable, ..self.column(level, text) }
    }

    fn reading(&mut self, value: &Value, when: Option<&Value>, applies: Option<&Value>) -> Value {
        let mut text = self.round(&format!("{} * {}", value.text, self.number(BILLION as f64)));
        let mut fails = value.fails.clone();
        let (mut level, mut is_nullable, mut lacks) = (value.level, value.is_nullable, None);
        for (condition, is_applies) in [(when, false), (applies, true)] {
            let Some(condition) = condition else { continue };
            let c = &condition.text;
            let otherwise = if is_applies { String::from("NULL") } else { self.number(0.0) };
            text = format!("CASE WHEN {c} = 0 THEN {otherwise} WHEN {c} IS NOT NULL THEN {text} END");
            fails = any([condition.fails.clone(), fails.map(|fails| format!("({c} <> 0 AND ({fails}))"))]);
            level = level.max(condition.level);
            is_nullable |= condition.is_nullable | is_applies;
            lacks = is_applies.then(|| format!("COALESCE({c}, 1) = 0"));
        }
        let range = Interval { low: 0.0, high: BILLION as f64 };
        Value { range, fails, lacks, is_nullable, ..self.column(level, text) }
    }

    fn age(&mut self, stated: &Value, elapsed: &Value) -> Value {
        if self.elapsed_seconds.is_none() {
            return stated.clone();
        }
        let (s, e) = (&stated.text, &elapsed.text);
        let text = format!("CASE WHEN {s} IS NULL THEN {e} WHEN {e} > 0 THEN {s} + {e} ELSE {s} END");
        self.nullable(&[stated, elapsed], text)
    }

    fn newest(&mut self, items: &[(Register, Register)]) -> Value {
        let mut newest: Option<Value> = None;
        for &(reading, age) in items {
            let (reading, age) = (self.value(reading), self.value(age));
            let (r, a) = (&reading.text, &age.text);
            let own = self.nullable(&[&reading, &age], format!("CASE WHEN {r} IS NOT NULL THEN {a} END"));
            newest = Some(match newest {
                None => own,
                Some(known) => {
                    let (x, y) = (&known.text, &own.text);
                    self.nullable(
                        &[&known, &own],
                        format!("CASE WHEN {x} IS NULL OR {y} < {x} THEN {y} ELSE {x} END"),
                    )
                }
            });
        }
        newest.unwrap_or_else(|| self.none())
    }

    fn decay(&mut self, value: &Value, age: &Value, loss: Loss) -> Value {
        let (v, a) = (&value.text, &age.text);
        let grace = self.number(loss.grace_seconds);
        let (zero, most) = (self.number(0.0), self.number(AGE_MAX_SECONDS));
        let beyond = format!(
            "CASE WHEN {a} > {most} THEN {most} WHEN {a} - {grace} > 0 THEN {a} - {grace} WHEN {a} IS NOT NULL THEN {zero} END"
        );
        let beyond = self.nullable(&[age], beyond);
        let [per, period, units] =
            [loss.per_period, loss.period_seconds, loss.units].map(|it| self.number(it));
        let lost = if loss.is_whole {
            let periods = self.nullable(&[&beyond], format!("{} / {period}", beyond.text));
            self.nullable(&[&periods], format!("({}) * {per}", self.floor(&periods.text)))
        } else {
            self.nullable(&[&beyond], format!("{} * {per} / {period}", beyond.text))
        };
        let left = self.nullable(&[value, &lost], format!("{v} / {units} - {}", lost.text));
        let l = &left.text;
        let rounded = self.round(l);
        let text =
            format!("CASE WHEN {l} IS NULL THEN {v} WHEN {l} > 0 THEN ({rounded}) * {units} ELSE {zero} END");
        let decayed = self.nullable(&[value, &left], text);
        let Value { range, fails, lacks, is_nullable, is_withheld, .. } = value.clone();
        Value { range, fails, lacks, is_nullable, is_withheld, ..decayed }
    }

    fn publish(&mut self, rounding: Rounding, score: &Value) -> Value {
        let x = &score.text;
        let (step, half) = match rounding {
            Rounding::Exact => return score.clone(),
            Rounding::Floor(step) => (step, None),
            Rounding::HalfUp(step) => (step, Some(0.5)),
        };
        let half = half.map_or(String::new(), |half| format!(" + {}", self.number(half)));
        let near = self.nullable(&[score], format!("{x} / {}{half}", self.number(step)));
        self.nullable(&[&near], self.floor(&near.text))
    }

    /// Returns the two weights of a member of a mean: in the composite, and in the coverage.
    fn weights(&self, member: usize) -> [(String, bool); 2] {
        let table = self.weighting.table.get(member).map_or(&[][..], Vec::as_slice);
        let first = table.first().copied().unwrap_or_default();
        let of = |pick: fn(&(f64, f64)) -> f64| match self.profile {
            Some(profile) if table.iter().any(|weights| pick(weights) != pick(&first)) => {
                let cases = table.iter().enumerate();
                let cases =
                    cases.map(|(place, weights)| format!("WHEN {place} THEN {}", self.number(pick(weights))));
                let cases: Vec<String> = cases.collect();
                (format!("(CASE {} {} END)", profile.text, cases.join(" ")), true)
            }
            _ => (self.number(pick(&first)), pick(&first) != 0.0),
        };
        [of(|weights| weights.0), of(|weights| weights.1)]
    }

    /// Returns a reading, or the one that stands for it where it is missing.
    pub(super) fn filled(&self, reading: &Value, fill: f64) -> String {
        let r = &reading.text;
        match (fill.is_nan(), &reading.lacks) {
            (true, _) => r.clone(),
            (false, None) => format!("COALESCE({r}, {})", self.number(fill)),
            (false, Some(lacks)) => {
                format!("(CASE WHEN {lacks} THEN NULL ELSE COALESCE({r}, {}) END)", self.number(fill))
            }
        }
    }

    /// Returns a mean and its coverage: [`crate::plan`], `mean_of_row`, term by term.
    fn mean(&mut self, mean: Mean, top: bool, items: &[MeanItem]) -> (Value, Value) {
        let (mut totals, mut sums, mut smallest) = (Vec::new(), Vec::new(), Vec::new());
        let (mut covered, mut applicable, mut withheld, mut lacking) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut level = self.profile.map_or(0, |profile| profile.level);
        let [zero, billion, none] = [0.0, BILLION as f64, NO_READING].map(|it| self.number(it));
        for item in items {
            let reading = self.value(item.reading);
            let r = &reading.text;
            let [(weight, has_weight), (cover, has_cover)] = self.weights(item.weight);
            level = level.max(reading.level);
            let unless_lacking = |text: String, otherwise: &str| match &reading.lacks {
                Some(lacks) => format!("CASE WHEN {lacks} THEN {otherwise} ELSE {text} END"),
                None => text,
            };
            let counted = self.filled(&reading, item.fill);
            if has_weight {
                let is_partial = reading.is_nullable && (item.fill.is_nan() || reading.lacks.is_some());
                sums.push(match is_partial {
                    true => format!("CASE WHEN {counted} IS NULL THEN {zero} ELSE {weight} END"),
                    false => weight.clone(),
                });
                let term = match mean {
                    Mean::Harmonic => {
                        format!(
                            "CASE WHEN {counted} > 0 THEN {weight} / ({counted} / {billion}) ELSE {zero} END"
                        )
                    }
                    _ if is_partial => format!("COALESCE({weight} * {counted}, {zero})"),
                    _ => format!("{weight} * {counted}"),
                };
                totals.push(term);
                smallest.push(format!(
                    "CASE WHEN {weight} = 0 OR {counted} IS NULL THEN {none} ELSE {counted} END"
                ));
            }
            if has_cover {
                applicable.push(unless_lacking(cover.clone(), &zero));
                covered.push(match item.coverage.map(|coverage| self.value(coverage)) {
                    Some(coverage) => {
                        level = level.max(coverage.level);
                        unless_lacking(format!("{cover} * {}", coverage.text), &zero)
                    }
                    None if reading.is_nullable => {
                        format!("CASE WHEN {r} IS NULL THEN {zero} ELSE {cover} * {billion} END")
                    }
                    None => format!("{cover} * {billion}"),
                });
            }
            if item.withhold && reading.is_nullable {
                let is_out =
                    reading.lacks.as_ref().map_or(String::new(), |lacks| format!(" AND NOT ({lacks})"));
                withheld.push(format!("({r} IS NULL{is_out})"));
            }
            withheld.extend(reading.is_withheld.clone());
            lacking.push(reading.lacks.clone());
        }
        let sum_of = |emitter: &mut Self, terms: Vec<String>| {
            let text = if terms.is_empty() { zero.clone() } else { terms.join(" + ") };
            emitter.column(level, text)
        };
        let [total, sum] = [totals, sums].map(|terms| sum_of(self, terms));
        let [covered, applicable] = [covered, applicable].map(|terms| sum_of(self, terms));
        let smallest = (!mean.is_linear() && !smallest.is_empty()).then(|| {
            let text = self.dialect.least(&smallest);
            self.column(level, text)
        });
        let condition = |emitter: &mut Self, all: Vec<String>, word: &str| {
            (!all.is_empty()).then(|| {
                let text = format!("CASE WHEN {} THEN 1 ELSE 0 END", all.join(word));
                format!("{} = 1", emitter.column(level, text).text)
            })
        };
        let is_withheld = condition(self, withheld, " OR ");
        let lacking: Option<Vec<String>> = lacking.into_iter().collect();
        let lacks = condition(self, lacking.unwrap_or_default(), " AND ");
        let (t, s, units) = (&total.text, &sum.text, self.number(UNITS_PER_ONE as f64));
        let unit = if top { format!(" * {}", self.number(MILLION as f64)) } else { String::new() };
        let finished = match (mean.is_linear(), mean.takes_weights_as_given(), top) {
            (true, true, true) => format!("CASE WHEN {t} > {units} THEN {units} ELSE {t} END"),
            (true, true, false) => {
                let million = self.number(MILLION as f64);
                let most = format!("(CASE WHEN {t} > {units} THEN {units} ELSE {t} END) / {million}");
                self.round(&most)
            }
            (true, false, _) => format!("({}){unit}", self.round(&format!("{t} / NULLIF({s}, 0)"))),
            (false, ..) => {
                let least = smallest.as_ref().map_or(zero.clone(), |it| it.text.clone());
                let result = match mean {
                    Mean::Harmonic => format!("{s} / NULLIF({t}, 0)"),
                    _ => format!("{least} / {billion}"),
                };
                let rounded = self.round(&format!("({result}) * {billion}"));
                format!("CASE WHEN {least} = 0 THEN {zero} ELSE ({rounded}){unit} END")
            }
        };
        let held = is_withheld.as_ref().map_or(String::new(), |held| format!("WHEN {held} THEN NULL "));
        let text = format!("CASE {held}WHEN {s} = 0 THEN NULL ELSE {finished} END");
        let high = if top { UNITS_PER_ONE as f64 } else { BILLION as f64 };
        let composite = Value {
            is_nullable: true,
            range: Interval { low: 0.0, high },
            lacks,
            is_withheld,
            ..self.column(level + 1, text)
        };
        let (c, a) = (&covered.text, &applicable.text);
        let covered = self.round(&format!("{c} / NULLIF({a}, 0)"));
        let coverage = self.column(level + 1, format!("CASE WHEN {a} = 0 THEN {zero} ELSE {covered} END"));
        (composite, Value { range: Interval { low: 0.0, high: BILLION as f64 }, ..coverage })
    }
}

impl Value {
    pub(super) fn new(text: String, level: usize, range: Interval) -> Self {
        Self { text, level, range, is_nullable: false, fails: None, lacks: None, is_withheld: None }
    }

    /// Returns the same value, which may be NULL.
    pub(super) fn or_null(self) -> Self {
        Self { is_nullable: true, ..self }
    }
}

/// Returns the registers of which it matters whether they failed: what `is_missing` and `coalesce` read, and what that rests on.
fn asked(code: &Code) -> BTreeSet<Register> {
    let mut asked = BTreeSet::new();
    for Instruction { to, operation } in code.instructions.iter().rev() {
        let is_asked = asked.contains(to);
        match operation {
            Operation::Unary { operator: U::IsMissing, x } => asked.extend([*x]),
            Operation::Binary { operator: B::Coalesce, x, y } => {
                asked.extend([*x]);
                asked.extend(is_asked.then_some(*y));
            }
            Operation::Unary { operator, x } if is_asked && *operator != U::FromUnits => asked.extend([*x]),
            Operation::Binary { operator, x, y } if is_asked && *operator != B::Fill => {
                asked.extend([*x, *y])
            }
            Operation::Select { c, a, b } if is_asked => asked.extend([*c, *a, *b]),
            Operation::Reading { value, when, applies } if is_asked => {
                asked.extend([*value].into_iter().chain(*when).chain(*applies));
            }
            Operation::Decay { value, .. } if is_asked => asked.extend([*value]),
            _ => {}
        }
    }
    asked
}

fn any(conditions: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    conditions.into_iter().flatten().reduce(|all, next| format!("{all} OR {next}"))
}

fn there(x: &str, y: &str) -> String {
    format!("{x} IS NOT NULL AND {y} IS NOT NULL")
}

/// Returns the interval of a constant; of a missing one, no number is known.
fn point(value: f64) -> Interval {
    if value.is_nan() { Interval::EVERYTHING } else { Interval::point(value) }
}
