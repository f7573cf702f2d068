//! A checked card to a plan: formulas flattened, equal parts computed once, columns reused.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::compact::compact;
use super::kernel::Values;
use super::{
    BinaryOperator as B, Code, Column, Columns, DimensionPlaces, Instruction, Limits, LoadedMember, MeanItem,
    Places, Register, Rounding, TierLevel, UnaryOperator as U, kernel, load, state,
};
use crate::decay::Loss;
use crate::formula::{Binary, Expr, ExprKind, Formula, Function, Symbol, Unary};
use crate::number::{BILLION, MILLION, UNITS_PER_ONE};
use crate::scorecard::{
    DecayScope, Dimension, EvidenceAge, FactType, Mean, MissingPolicy, Publish, Scorecard,
};

/// Units of a composite in a billionth of a perfect score.
const BILLIONTH_UNITS: f64 = (UNITS_PER_ONE / BILLION) as f64;

impl Code {
    /// Compiles a card for single items: every intermediate result stays, for records and explanations. The card has passed
    /// every check, so nothing can go wrong.
    pub(crate) fn for_items(card: &Scorecard) -> Self {
        Compiler::compile(card, None)
    }

    /// Compiles a card for a table: what is known of the whole table is worked out once, what a table does not show is
    /// computed in one step with what it does, and columns are reused as soon as they are free.
    pub(crate) fn for_table(card: &Scorecard, known: &Known) -> Self {
        compact(&Compiler::compile(card, Some(known)))
    }
}

/// The properties of a whole table that are known before its first row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    /// The bits of facts that have one value in all rows.
    constants: Vec<Option<u64>>,
    /// The bits of the seconds elapsed, where they are the same in all rows.
    elapsed: Option<u64>,
    /// Every member has one weight, in the mean as in the coverage.
    plain: bool,
}

impl Known {
    pub(crate) fn new(columns: &Columns<'_>, weights: &[Vec<(f64, f64)>]) -> Self {
        let constant = |column: &Column<'_>| match column {
            Column::Constant(value) => Some(value.to_bits()),
            Column::Values(_) => None,
        };
        let plain = |row: &Vec<(f64, f64)>| matches!(row[..], [(weight, cover)] if weight == cover);
        let constants = columns.facts.iter().map(constant).collect();
        Self { constants, elapsed: constant(&columns.elapsed_seconds), plain: weights.iter().all(plain) }
    }

    fn constant(&self, fact: usize) -> Option<f64> {
        self.constants.get(fact).copied().flatten().map(f64::from_bits)
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
    /// The known properties of the table; none for single items, of which everything is shown.
    table: Option<&'c Known>,
    instructions: Vec<Instruction>,
    next: Register,
    known: BTreeMap<Key, Register>,
    /// Results that more than one place asks for.
    shared: BTreeSet<Register>,
    constants: BTreeMap<u64, Register>,
    lets: BTreeMap<usize, Register>,
    dimensions: Vec<Option<DimensionPlaces>>,
    elapsed: Option<Register>,
    score: Register,
    composite: Register,
    coverage: Register,
    /// Facts that are loaded, and so checked.
    checked: BTreeSet<usize>,
}

impl<'c> Compiler<'c> {
    fn compile(card: &'c Scorecard, table: Option<&'c Known>) -> Code {
        let mut compiler = Self {
            card,
            table,
            instructions: Vec::new(),
            next: 0,
            known: BTreeMap::new(),
            shared: BTreeSet::new(),
            constants: BTreeMap::new(),
            lets: BTreeMap::new(),
            dimensions: alloc::vec![None; card.dimensions.len()],
            elapsed: None,
            score: 0,
            composite: 0,
            coverage: 0,
            checked: BTreeSet::new(),
        };
        let places = compiler.card();
        let constants = compiler.constants.into_iter().map(|(bits, to)| (to, f64::from_bits(bits))).collect();
        Code { instructions: compiler.instructions, registers: compiler.next as usize, constants, places }
    }

    fn fresh(&mut self) -> Register {
        let register = self.next;
        self.next = self.next.saturating_add(1);
        register
    }

    fn known(&mut self, key: Key, instruction: impl FnOnce(Register) -> Instruction) -> Register {
        if let Some(&register) = self.known.get(&key) {
            self.shared.insert(register);
            return register;
        }
        let to = self.fresh();
        self.known.insert(key, to);
        self.instructions.push(instruction(to));
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

    /// Returns true for a condition that is true in every row of a table.
    fn is_always(&self, condition: Register) -> bool {
        self.table.is_some() && self.value(condition) == Some(1.0)
    }

    /// Returns true for a condition that is true in no row of a table.
    fn is_never(&self, condition: Register) -> bool {
        self.table.is_some() && self.value(condition).is_some_and(|value| value != 1.0)
    }

    fn unary(&mut self, operator: U, x: Register) -> Register {
        if let Some(x) = self.value(x) {
            let mut out = [0.0];
            kernel::unary(operator, &mut out, &[x]);
            return self.constant(out[0]);
        }
        self.known(Key::Unary(operator, x), |to| Instruction::Unary { operator, x, to })
    }

    fn binary(&mut self, operator: B, x: Register, y: Register) -> Register {
        if let (Some(x), Some(y)) = (self.value(x), self.value(y)) {
            let mut out = [0.0];
            kernel::binary(operator, &mut out, Values::All(x), Values::All(y));
            return self.constant(out[0]);
        }
        if let (B::Max | B::Min, Some(limit)) = (operator, self.value(x))
            && let Some(to) = self.limit_last(operator, limit, y)
        {
            return to;
        }
        self.known(Key::Binary(operator, x, y), |to| Instruction::Binary { operator, x, y, to })
    }

    /// Takes `max(limit, x)` or `min(limit, x)` into the arithmetic that has just given `x`, if nothing else asks for that.
    fn limit_last(&mut self, operator: B, limit: f64, result: Register) -> Option<Register> {
        self.table?;
        if limit.is_nan() || self.shared.contains(&result) || self.lets.values().any(|&named| named == result)
        {
            return None;
        }
        let last = self.instructions.last_mut()?;
        let (arithmetic, x, y, low, high) = match *last {
            Instruction::Binary { operator, x, y, to } if operator.is_arithmetic() && to == result => {
                (operator, x, y, f64::NEG_INFINITY, f64::INFINITY)
            }
            Instruction::Within { operator, x, y, low, high, to }
                if high == f64::INFINITY && to == result =>
            {
                (operator, x, y, low, high)
            }
            _ => return None,
        };
        let (low, high) = match operator {
            B::Max if low == f64::NEG_INFINITY => (limit, high),
            B::Min => (low, limit),
            _ => return None,
        };
        *last = Instruction::Within { operator: arithmetic, x, y, low, high, to: result };
        self.known.retain(|_, register| *register != result);
        Some(result)
    }

    fn load(&mut self, fact: usize) -> Register {
        let limits = self.limits(fact);
        self.checked.insert(fact);
        if let Some(value) = self.given(fact) {
            return self.constant(value);
        }
        self.known(Key::Load(fact), |to| Instruction::Load { fact, limits, to })
    }

    /// Returns the value of a fact that is the same in every row and keeps its declaration: no row needs to ask again.
    fn given(&self, fact: usize) -> Option<f64> {
        let value = self.table?.constant(fact)?;
        let (limits, mut out) = (self.limits(fact), [0.0]);
        let keeps = limits.max_fact.is_none() && !load::load(&mut out, Column::Constant(value), None, limits);
        keeps.then_some(out[0])
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
            let to = self.fresh();
            self.instructions.push(Instruction::Rule { when, set, score: self.score, to });
            self.score = to;
            (when, set, to)
        });
        let rules = rules.collect();
        let gates: Vec<(Register, Register)> = card
            .gates
            .iter()
            .map(|gate| {
                let when = self.formula(&gate.when.expr);
                if let Some(cap) = gate.cap.filter(|_| !self.is_never(when)) {
                    let to = self.fresh();
                    let cap = units(cap.millionths(), card.scale.max);
                    self.instructions.push(Instruction::Cap { when, cap, score: self.score, to });
                    self.score = to;
                }
                (when, self.score)
            })
            .collect();
        let published = self.publish();
        let band = self.band(published);
        let tier = self.tiers(&dimensions, &gates, published);
        // Every number is loaded, so that every number is checked, whether a formula reads it or not.
        for (fact, _) in card.facts.iter().enumerate().filter(|(_, fact)| fact.kind != FactType::Text) {
            if !self.checked.contains(&fact) {
                self.load(fact);
            }
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
        // A condition that is always true is left out.
        let condition = |compiler: &mut Self, formula: Option<&Formula>| {
            let register = compiler.formula(&formula?.expr);
            (!compiler.is_always(register)).then_some(register)
        };
        let applies = condition(self, dimension.applies.as_ref());
        let when = condition(self, dimension.when.as_ref());
        let bare = self.table.is_some() && when.is_none() && applies.is_none();
        let places = match dimension.formula.expr.kind {
            // A table needs no value apart from the reading; an item shows both.
            ExprKind::Name(Symbol::Fact(fact)) if bare && self.given(fact).is_none() => {
                let (limits, to) = (self.limits(fact), self.fresh());
                self.checked.insert(fact);
                self.instructions.push(Instruction::LoadReading { fact, limits, to });
                DimensionPlaces { value: to, when, applies, measured: to, age: None, reading: to }
            }
            _ => {
                let (value, to) = (self.formula(&dimension.formula.expr), self.fresh());
                self.instructions.push(Instruction::Reading { value, when, applies, to });
                DimensionPlaces { value, when, applies, measured: to, age: None, reading: to }
            }
        };
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

    /// Returns the age of evidence at the moment of the score; none for a card without decay, for what is always of now, and
    /// where no row of a table has one.
    fn age(&mut self, age: EvidenceAge) -> Option<Register> {
        self.card.decay()?;
        let stated = match age {
            EvidenceAge::OfItem => None,
            EvidenceAge::Fact(fact) => Some(self.load(fact)),
            EvidenceAge::Now => return None,
        };
        let elapsed = self.elapsed();
        let unknown = |compiler: &Self, age: Register| {
            compiler.table.is_some() && compiler.value(age).is_some_and(f64::is_nan)
        };
        match stated.filter(|&stated| !unknown(self, stated)) {
            None => (!unknown(self, elapsed)).then_some(elapsed),
            Some(stated) if unknown(self, elapsed) => Some(stated),
            Some(stated) => {
                let to = self.fresh();
                self.instructions.push(Instruction::Age { stated, elapsed, to });
                Some(to)
            }
        }
    }

    fn elapsed(&mut self) -> Register {
        if let Some(register) = self.elapsed {
            return register;
        }
        let register = match self.table.and_then(|table| table.elapsed) {
            Some(bits) => self.constant(f64::from_bits(bits)),
            None => {
                let to = self.fresh();
                self.instructions.push(Instruction::Elapsed { to });
                to
            }
        };
        *self.elapsed.insert(register)
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
                self.known(Key::Select(c, age, b), |to| Instruction::Select { c, a: age, b, to })
            });
            items.push((places.measured, age));
        }
        (!items.is_empty()).then(|| {
            let to = self.fresh();
            self.instructions.push(Instruction::Newest { items, to });
            to
        })
    }

    /// Returns what age leaves of a value of which `units` make a billionth of a perfect score.
    fn decay(&mut self, value: Register, age: Register, units: f64) -> Register {
        let loss = Loss::new(self.card.decay().unwrap_or_default(), units);
        let to = self.fresh();
        self.instructions.push(Instruction::Decay { value, age, loss, to });
        to
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
                optional: places.applies.is_some(),
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
                    optional: true,
                    weight: card.dimensions.len() + at,
                }
            });
        let mut items: Vec<MeanItem> = leaves.chain(nested).collect();
        if mean.is_linear() {
            // Sums of whole numbers are exact in any order; members that always apply are added four at a time.
            items.sort_by_key(|item| item.optional);
        }
        let begun = self.load_members(mean, &mut items);
        let (to, coverage) = (self.fresh(), self.fresh());
        self.instructions.push(Instruction::Mean { mean, top: node.is_none(), items, begun, to, coverage });
        (to, coverage)
    }

    /// Loads facts that are readings unchanged and adds them to the sums of a mean in one step, four at a time. Moves
    /// these members to the front and returns their number.
    fn load_members(&mut self, mean: Mean, items: &mut [MeanItem]) -> usize {
        let plain = |item: &MeanItem| item.fill.is_nan() && item.coverage.is_none();
        if !self.table.is_some_and(|table| table.plain) || !mean.is_linear() || !items.iter().all(plain) {
            return 0;
        }
        // By register: facts that are loaded as readings, and read by nothing so far.
        let mut loaded: BTreeMap<Register, (usize, Limits)> = BTreeMap::new();
        for instruction in &mut self.instructions {
            if let Instruction::LoadReading { fact, limits, to } = *instruction {
                if limits.is_range() && self.table.is_some_and(|table| table.constant(fact).is_none()) {
                    loaded.insert(to, (fact, limits));
                }
            } else {
                instruction.visit(&mut |register, writes| {
                    if !writes {
                        loaded.remove(register);
                    }
                });
            }
        }
        let fits = |item: &MeanItem| !item.optional && !item.withhold && loaded.contains_key(&item.reading);
        items.sort_by_key(|item| !fits(item));
        let (fours, _) = items.as_chunks::<4>();
        let fours = fours.iter().filter(|four| four.iter().all(fits)).copied();
        let fours: Vec<[MeanItem; 4]> = fours.collect();
        for (place, four) in fours.iter().enumerate() {
            let members = four.map(|item| {
                let (fact, limits) = loaded.get(&item.reading).copied().unwrap_or((usize::MAX, Limits::FLAG));
                LoadedMember { fact, min: limits.min, max: limits.max, weight: item.weight, to: item.reading }
            });
            let targets = members.map(|member| member.to);
            self.instructions.retain(
                |instruction| !matches!(instruction, Instruction::LoadReading { to, .. } if targets.contains(to)),
            );
            self.instructions.push(Instruction::LoadMembers { members, first: place == 0 });
        }
        4 * fours.len()
    }

    fn publish(&mut self) -> Register {
        let scale = self.card.scale;
        let step = UNITS_PER_ONE as f64 / (f64::from(scale.max) * 10u64.pow(scale.places) as f64);
        let rounding = match scale.publish {
            Publish::Exact => Rounding::Exact,
            Publish::Floor => Rounding::Floor(step),
            Publish::HalfUp => Rounding::HalfUp(step),
        };
        let to = self.fresh();
        self.instructions.push(Instruction::Publish { rounding, score: self.score, to });
        to
    }

    fn band(&mut self, published: Register) -> Register {
        let bands = &self.card.bands;
        if bands.is_empty() {
            return self.constant(0.0);
        }
        let thresholds = bands.iter().map(|band| self.digits(band.from.millionths())).collect();
        let to = self.fresh();
        self.instructions.push(Instruction::Band { thresholds, published, to });
        to
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
        let gates = gates.into_iter().filter(|&(when, _)| !self.is_never(when)).collect();
        let to = self.fresh();
        self.instructions.push(Instruction::Tiers { tiers, gates, published, coverage: self.coverage, to });
        to
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
            (Function::If, &[c, a, b]) => {
                self.known(Key::Select(c, a, b), |to| Instruction::Select { c, a, b, to })
            }
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
fn fill(dimension: &Dimension) -> f64 {
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
