//! A checked card to a plan: formulas flattened, equal parts computed once.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{
    BinaryOperator as B, Code, DimensionPlaces, Instruction, Limits, MeanItem, Operation, Places, Register,
    Rounding, TierLevel, UnaryOperator as U, kernel, state,
};
use crate::decay::Loss;
use crate::formula::{Binary, Expr, ExprKind, Function, Symbol, Unary};
use crate::number::{BILLION, MILLION, UNITS_PER_ONE};
use crate::scorecard::{
    DecayScope, Dimension, EvidenceAge, FactType, Mean, MissingPolicy, Publish, Scorecard,
};

/// Units of a composite in a billionth of a perfect score.
const BILLIONTH_UNITS: f64 = (UNITS_PER_ONE / BILLION) as f64;

impl Code {
    /// Compiles a card. Every intermediate result stays, for records and explanations. The card has passed every check, so
    /// nothing can go wrong.
    pub(crate) fn new(card: &Scorecard) -> Self {
        let mut compiler = Compiler {
            card,
            instructions: Vec::new(),
            next: 0,
            known: BTreeMap::new(),
            constants: BTreeMap::new(),
            lets: BTreeMap::new(),
            dimensions: alloc::vec![None; card.dimensions.len()],
            elapsed: None,
            score: 0,
            composite: 0,
            coverage: 0,
        };
        let places = compiler.card();
        let constants = compiler.constants.into_iter().map(|(bits, to)| (to, f64::from_bits(bits))).collect();
        Self { instructions: compiler.instructions, registers: compiler.next as usize, constants, places }
    }
}

/// The identity of a computation.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Load(usize),
    Unary(U, Register),
    Binary(B, Register, Register),
    Select(Register, Register, Register),
}

struct Compiler<'c> {
    card: &'c Scorecard,
    instructions: Vec<Instruction>,
    next: Register,
    known: BTreeMap<Key, Register>,
    constants: BTreeMap<u64, Register>,
    lets: BTreeMap<usize, Register>,
    dimensions: Vec<Option<DimensionPlaces>>,
    elapsed: Option<Register>,
    score: Register,
    composite: Register,
    coverage: Register,
}

impl<'c> Compiler<'c> {
    fn fresh(&mut self) -> Register {
        let register = self.next;
        self.next = self.next.saturating_add(1);
        register
    }

    fn push(&mut self, operation: Operation) -> Register {
        let to = self.fresh();
        self.instructions.push(Instruction { to, operation });
        to
    }

    fn known(&mut self, key: Key, operation: Operation) -> Register {
        if let Some(&register) = self.known.get(&key) {
            return register;
        }
        let to = self.push(operation);
        self.known.insert(key, to);
        to
    }

    fn constant(&mut self, value: f64) -> Register {
        if let Some(&register) = self.constants.get(&value.to_bits()) {
            return register;
        }
        let to = self.fresh();
        self.constants.insert(value.to_bits(), to);
        to
    }

    /// Returns the value of a column that holds one value throughout.
    fn value(&self, register: Register) -> Option<f64> {
        let bits = self.constants.iter().find(|&(_, &known)| known == register)?.0;
        Some(f64::from_bits(*bits))
    }

    fn unary(&mut self, operator: U, x: Register) -> Register {
        if let Some(x) = self.value(x) {
            let mut out = [0.0];
            kernel::unary(operator, &mut out, &[x]);
            return self.constant(out[0]);
        }
        self.known(Key::Unary(operator, x), Operation::Unary { operator, x })
    }

    fn binary(&mut self, operator: B, x: Register, y: Register) -> Register {
        if let (Some(x), Some(y)) = (self.value(x), self.value(y)) {
            let mut out = [0.0];
            kernel::binary(operator, &mut out, &[x], &[y]);
            return self.constant(out[0]);
        }
        self.known(Key::Binary(operator, x, y), Operation::Binary { operator, x, y })
    }

    fn load(&mut self, fact: usize) -> Register {
        let limits = self.limits(fact);
        self.known(Key::Load(fact), Operation::Load { fact, limits })
    }

    fn limits(&self, fact: usize) -> Limits {
        let unknown = |at: usize| self.card.facts.get(at).and_then(|declared| declared.unknown);
        match self.card.facts.get(fact) {
            Some(declared) if declared.kind == FactType::Number => Limits {
                // Infinity is a number to a comparison: a range without ends still refuses it.
                min: declared.min.max(-f64::MAX),
                max: declared.max.min(f64::MAX),
                max_fact: declared.max_fact,
                bound_unknown: declared.max_fact.and_then(unknown).unwrap_or(f64::NAN),
                integer: declared.integer,
                unknown: declared.unknown.unwrap_or(f64::NAN),
            },
            _ => Limits::FLAG,
        }
    }

    /// Returns the whole card, in the order that `evaluate` states.
    fn card(&mut self) -> Places {
        let card = self.card;
        let dimensions: Vec<DimensionPlaces> =
            (0..card.dimensions.len()).map(|at| self.dimension(at)).collect();
        let mut groups: Vec<(Register, Register)> = alloc::vec![(0, 0); card.groups.len()];
        for at in (0..card.groups.len()).rev() {
            let mean = card.groups.get(at).map_or(card.mean, |group| group.mean);
            let result = self.mean(mean, Some(at), &dimensions, &groups);
            if let Some(slot) = groups.get_mut(at) {
                *slot = result;
            }
        }
        let (mean, coverage) = self.mean(card.mean, None, &dimensions, &groups);
        let aged = self.newest(&dimensions).map(|age| (mean, age));
        let composite = aged.map_or(mean, |(mean, age)| self.decay(mean, age, BILLIONTH_UNITS));
        (self.composite, self.coverage, self.score) = (composite, coverage, composite);
        let rules = card.rules.iter().map(|rule| {
            let (when, set) = (self.formula(&rule.when.expr), self.formula(&rule.set.expr));
            self.score = self.push(Operation::Rule { when, set, score: self.score });
            (when, set, self.score)
        });
        let rules = rules.collect();
        let gates: Vec<(Register, Register)> = card
            .gates
            .iter()
            .map(|gate| {
                let when = self.formula(&gate.when.expr);
                if let Some(cap) = gate.cap {
                    let cap = units(cap.millionths(), card.scale.max);
                    self.score = self.push(Operation::Cap { when, cap, score: self.score });
                }
                (when, self.score)
            })
            .collect();
        let published = self.publish();
        let band = self.band(published);
        let tier = self.tiers(&dimensions, &gates, published);
        // Every number is loaded, so that every number is checked, whether a formula reads it or not.
        for (fact, _) in card.facts.iter().enumerate().filter(|(_, fact)| fact.kind != FactType::Text) {
            self.load(fact);
        }
        let groups = groups.into_iter().map(|(reading, _)| reading).collect();
        let lets = (0..card.lets.len()).map(|at| self.lets.get(&at).copied()).collect();
        Places {
            lets,
            dimensions,
            groups,
            aged,
            composite,
            coverage,
            rules,
            gates,
            score: self.score,
            published,
            band,
            tier,
        }
    }

    fn dimension(&mut self, at: usize) -> DimensionPlaces {
        if let Some(Some(places)) = self.dimensions.get(at) {
            return *places;
        }
        let card = self.card;
        let Some(dimension) = card.dimensions.get(at) else { return DimensionPlaces::default() };
        let applies = dimension.applies.as_ref().map(|formula| self.formula(&formula.expr));
        let when = dimension.when.as_ref().map(|formula| self.formula(&formula.expr));
        let value = self.formula(&dimension.formula.expr);
        let reading = self.push(Operation::Reading { value, when, applies });
        let places = DimensionPlaces { value, when, applies, measured: reading, age: None, reading };
        let places = match (self.age(dimension.age), card.decay()) {
            (Some(age), Some(rule)) if rule.scope == DecayScope::Dimension => {
                let reading = self.decay(places.measured, age, 1.0);
                DimensionPlaces { age: Some(age), reading, ..places }
            }
            (age, _) => DimensionPlaces { age, ..places },
        };
        if let Some(slot) = self.dimensions.get_mut(at) {
            *slot = Some(places);
        }
        places
    }

    /// Returns the age of evidence at the moment of the score; none for a card without decay, and for what is always of now.
    fn age(&mut self, age: EvidenceAge) -> Option<Register> {
        self.card.decay()?;
        let stated = match age {
            EvidenceAge::OfItem => None,
            EvidenceAge::Fact(fact) => Some(self.load(fact)),
            EvidenceAge::Now => return None,
        };
        let elapsed = self.elapsed.unwrap_or_else(|| self.push(Operation::Elapsed));
        self.elapsed = Some(elapsed);
        Some(stated.map_or(elapsed, |stated| self.push(Operation::Age { stated, elapsed })))
    }

    /// Returns the age of the newest evidence, for a card whose composite decays as a whole.
    fn newest(&mut self, dimensions: &[DimensionPlaces]) -> Option<Register> {
        self.card.decay().filter(|rule| rule.scope == DecayScope::Composite)?;
        let mut items: Vec<(Register, Register)> = Vec::new();
        for places in dimensions {
            let Some(age) = places.age else { continue };
            // What a gate makes 0 was not measured: it has no age.
            let age = places.when.map_or(age, |c| {
                let b = self.constant(state::MISSING);
                self.known(Key::Select(c, age, b), Operation::Select { c, a: age, b })
            });
            items.push((places.measured, age));
        }
        (!items.is_empty()).then(|| self.push(Operation::Newest { items }))
    }

    /// Returns what age leaves of a value of which `units` make a billionth of a perfect score.
    fn decay(&mut self, value: Register, age: Register, units: f64) -> Register {
        let loss = Loss::new(self.card.decay().unwrap_or_default(), units);
        self.push(Operation::Decay { value, age, loss })
    }

    fn mean(
        &mut self,
        mean: Mean,
        node: Option<usize>,
        dimensions: &[DimensionPlaces],
        groups: &[(Register, Register)],
    ) -> (Register, Register) {
        let card = self.card;
        let leaves = card.dimensions.iter().zip(dimensions).enumerate();
        let leaves = leaves.filter(|(_, (dimension, _))| dimension.group == node).map(
            |(weight, (dimension, places))| MeanItem {
                reading: places.reading,
                coverage: None,
                fill: fill(dimension),
                withhold: dimension.missing == MissingPolicy::Withhold,
                weight,
            },
        );
        let nested = card.groups.iter().zip(groups).enumerate();
        let nested =
            nested.filter(|(_, (group, _))| group.parent == node).map(|(at, (_, &(reading, coverage)))| {
                MeanItem {
                    reading,
                    coverage: Some(coverage),
                    fill: f64::NAN,
                    withhold: false,
                    weight: card.dimensions.len() + at,
                }
            });
        let (coverage, items) = (self.fresh(), leaves.chain(nested).collect());
        (self.push(Operation::Mean { mean, top: node.is_none(), items, coverage }), coverage)
    }

    fn publish(&mut self) -> Register {
        let scale = self.card.scale;
        let step = UNITS_PER_ONE as f64 / (f64::from(scale.max) * 10u64.pow(scale.places) as f64);
        let rounding = match scale.publish {
            Publish::Exact => Rounding::Exact,
            Publish::Floor => Rounding::Floor(step),
            Publish::HalfUp => Rounding::HalfUp(step),
        };
        self.push(Operation::Publish { rounding, score: self.score })
    }

    fn band(&mut self, published: Register) -> Register {
        let bands = &self.card.bands;
        if bands.is_empty() {
            return self.constant(0.0);
        }
        let thresholds = bands.iter().map(|band| self.digits(band.from.millionths())).collect();
        self.push(Operation::Band { thresholds, published })
    }

    /// Points of the scale in published digits.
    fn digits(&self, millionths: i64) -> f64 {
        let scale = self.card.scale;
        match scale.publish {
            Publish::Exact => units(millionths, scale.max),
            _ => (millionths / (MILLION / 10i64.pow(scale.places))) as f64,
        }
    }

    fn tiers(
        &mut self,
        dimensions: &[DimensionPlaces],
        gates: &[(Register, Register)],
        published: Register,
    ) -> Register {
        let card = self.card;
        if card.tiers.is_empty() {
            return self.constant(0.0);
        }
        let tiers = card
            .tiers
            .iter()
            .map(|tier| TierLevel {
                published: self.digits(tier.score.millionths()),
                coverage: (tier.coverage.millionths() * 1000) as f64,
                floors: tier
                    .floors
                    .iter()
                    .filter_map(|&(at, floor)| Some((dimensions.get(at)?.reading, floor as f64)))
                    .collect(),
            })
            .collect();
        let limits = card.gates.iter().zip(gates);
        let gates: Vec<(Register, f64)> =
            limits.filter_map(|(gate, &(when, _))| Some((when, gate.tier_limit? as f64))).collect();
        self.push(Operation::Tiers { tiers, gates, published, coverage: self.coverage })
    }

    fn symbol(&mut self, symbol: Symbol) -> Register {
        match symbol {
            Symbol::Fact(fact) => self.load(fact),
            Symbol::Let(at) => {
                if let Some(&register) = self.lets.get(&at) {
                    return register;
                }
                let card = self.card;
                let register = card.lets.get(at).map_or(0, |named| self.formula(&named.formula.expr));
                self.lets.insert(at, register);
                register
            }
            Symbol::Reading(at) => {
                let mut reading = self.dimension(at).reading;
                let fill = self.card.dimensions.get(at).map_or(f64::NAN, fill);
                if !fill.is_nan() {
                    let fill = self.constant(fill);
                    reading = self.binary(B::Fill, reading, fill);
                }
                self.unary(U::FromBillionths, reading)
            }
            Symbol::Score => self.unary(U::FromUnits, self.score),
            Symbol::Composite => self.unary(U::FromUnits, self.composite),
            Symbol::Coverage => self.unary(U::FromBillionths, self.coverage),
        }
    }

    fn formula(&mut self, expr: &Expr<Symbol>) -> Register {
        match &expr.kind {
            ExprKind::Number(value) => self.constant(*value),
            ExprKind::Flag(value) => self.constant(f64::from(u8::from(*value))),
            ExprKind::Name(symbol) => self.symbol(*symbol),
            ExprKind::Unary(operator, x) => {
                let x = self.formula(x);
                self.unary(if *operator == Unary::Negate { U::Negate } else { U::Not }, x)
            }
            ExprKind::Binary(operator, x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                self.binary(binary(*operator), x, y)
            }
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expr<Symbol>]) -> Register {
        let registers: Vec<Register> = arguments.iter().map(|argument| self.formula(argument)).collect();
        let fold = |compiler: &mut Self, operator: B| {
            let mut registers = registers.iter().copied();
            let first = registers.next().unwrap_or(0);
            registers.fold(first, |x, y| compiler.binary(operator, x, y))
        };
        let first = registers.first().copied().unwrap_or(0);
        match (function, registers.as_slice()) {
            (Function::If, &[c, a, b]) => self.known(Key::Select(c, a, b), Operation::Select { c, a, b }),
            (Function::Clamp, &[x, low, high]) => {
                let raised = self.binary(B::Max, x, low);
                self.binary(B::Min, raised, high)
            }
            (Function::Pow, &[x, y]) => self.binary(B::Pow, x, y),
            (Function::Min, _) => fold(self, B::Min),
            (Function::Max, _) => fold(self, B::Max),
            // From the right, so that a failed operand counts only when its turn comes.
            (Function::Coalesce, _) => {
                let mut reversed = registers.iter().rev().copied();
                let last = reversed.next().unwrap_or(0);
                reversed.fold(last, |rest, x| self.binary(B::Coalesce, x, rest))
            }
            (Function::Abs, _) => self.unary(U::Abs, first),
            (Function::Floor, _) => self.unary(U::Floor, first),
            (Function::Ceil, _) => self.unary(U::Ceil, first),
            (Function::Sqrt, _) => self.unary(U::Sqrt, first),
            (Function::Exp, _) => self.unary(U::Exp, first),
            (Function::Ln, _) => self.unary(U::Ln, first),
            (Function::Log2, _) => self.unary(U::Log2, first),
            (Function::IsMissing, _) => self.unary(U::IsMissing, first),
            // The parser counts arguments, so these do not occur.
            (Function::If | Function::Clamp | Function::Pow, _) => self.constant(state::MISSING),
        }
    }
}

/// Returns the reading used for a dimension that is missing or failed, in billionths; NaN for nothing.
pub(crate) fn fill(dimension: &Dimension) -> f64 {
    match dimension.missing {
        MissingPolicy::Zero => 0.0,
        MissingPolicy::Default(billionths) => billionths as f64,
        MissingPolicy::Exclude | MissingPolicy::Withhold => f64::NAN,
    }
}

fn binary(operator: Binary) -> B {
    match operator {
        Binary::Add => B::Add,
        Binary::Subtract => B::Subtract,
        Binary::Multiply => B::Multiply,
        Binary::Divide => B::Divide,
        Binary::Less => B::Less,
        Binary::LessOrEqual => B::LessOrEqual,
        Binary::Greater => B::Greater,
        Binary::GreaterOrEqual => B::GreaterOrEqual,
        Binary::Equal => B::Equal,
        Binary::NotEqual => B::NotEqual,
        Binary::And => B::And,
        Binary::Or => B::Or,
    }
}

/// Points of a scale, in millionths, as units of 1e-15 of a perfect score.
pub(crate) fn units(millionths: i64, max: u32) -> f64 {
    (i128::from(millionths) * i128::from(UNITS_PER_ONE / MILLION) / i128::from(max)) as f64
}
