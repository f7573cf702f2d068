//! A checked scorecard: what is scored, and how. Built by [`Scorecard::read`]; `karat_checker` refuses what cannot score.
//!
//! `source` reads the TOML, `resolve` binds names and formulas, `family` builds challenges, `canonical` gives the digest;
//! the checks that need arithmetic over ranges live in `karat_checker`.

mod canonical;
pub mod family;
mod fields;
mod parse;
mod path;
mod resolve;
mod source;
mod standing;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

pub use canonical::canonical_json;
pub use parse::Library;
pub use path::{FieldPath, PathError, Step};
pub use standing::{
    CalibrationRules, CalibrationStep, CertificationRules, ConfidenceRule, DecayRule, DecayScope, Difficulty,
    FreshnessRule, GateStep, LateRules, LateTreatment, LifecycleRules, Periods, ReviewRules, SecurityGate,
    SharePolicy, ShareRules, Standing, StandingGate, StandingScore, TaskLifecycle, TierRule, TooFew,
    WEEK_SECONDS, WarmUp, WholeShares, WindowLimits,
};

use crate::facts::{Digest, Fact};
use crate::formula::Formula;
pub use crate::mean::Mean;
use crate::number::Decimal;

/// A scorecard that has passed every check of structure. Its formulas are resolved, its decimals exact.
#[derive(Debug, Clone)]
pub struct Scorecard {
    /// Name of the rule: lower-case letters, digits, hyphens.
    pub id: String,
    /// Version of the rule, as `major.minor.patch`.
    pub version: String,
    /// A line for people.
    pub title: String,
    /// The place of publication of the scorecard; may be empty.
    pub source: String,
    /// A paragraph for people; may be empty.
    pub about: String,
    /// The kind of evidence whose reader supplies the facts.
    pub evidence: String,
    /// The family that this card is a challenge of: `arena@1.0.0`.
    pub base: Option<String>,
    /// A palette for challenges; such a card is not scored itself.
    pub family: Option<Family>,
    /// The mean of the dimensions of the top level.
    pub mean: Mean,
    /// The published scale.
    pub scale: Scale,
    /// The sum that the weights of the top level must have, if there is one.
    pub weight_sum: Option<WeightSum>,
    /// The facts that the evidence must or may supply.
    pub facts: Vec<FactDeclaration>,
    /// Named numbers, which formulas hold as numbers.
    pub constants: Vec<Constant>,
    /// Places of the facts, sorted by name.
    pub facts_by_name: Vec<usize>,
    /// Named intermediate formulas; each only names lets before it.
    pub lets: Vec<Let>,
    /// The dimensions, in the order of the file.
    pub dimensions: Vec<Dimension>,
    /// Dimension places in an order in which each only needs readings before it.
    pub order: Vec<usize>,
    /// Nested groups of dimensions; a parent comes before its members.
    pub groups: Vec<Group>,
    /// Weight profiles chosen by a text fact.
    pub profiles: Option<Profiles>,
    /// The policy on weights from outside.
    pub override_policy: Option<OverridePolicy>,
    /// Ordered adjustments of the score.
    pub rules: Vec<Rule>,
    /// Caps and tier blocks.
    pub gates: Vec<Gate>,
    /// Named ranges of the published score, lowest first.
    pub bands: Vec<Band>,
    /// Certified levels, lowest first.
    pub tiers: Vec<Tier>,
    /// The settings of standings, the scores of a subject over time.
    pub standing: Option<Standing>,
    /// The tables `evaluator`, `format`, `submission`, `limits` and `jury`, which graders of evidence read, as one object of canonical
    /// JSON. The engine does not look into it; the digest covers it.
    pub evaluator: Option<String>,
    /// Warnings kept by choice.
    pub keeps: Vec<Keep>,
    /// SHA-256 over the canonical form; comments, white space and key order do not matter.
    pub digest: Digest,
}

/// The published scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// Points of a perfect score: 1, 10, 100, 1000 or 10000.
    pub max: u32,
    /// The rounding of the published number.
    pub publish: Publish,
    /// Decimals of the published number, for `floor` and `half-up`; 0 to 6.
    pub places: u32,
}

crate::words! {
    /// The rounding of the published number.
    pub enum Publish {
        /// Unchanged.
        Exact = "exact",
        /// Rounded down.
        Floor = "floor",
        /// Rounded to the nearest, halves up.
        HalfUp = "half-up",
    }
}

/// The sum that weights must have: `|sum - target| <= tolerance`, exact and inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightSum {
    /// The sum.
    pub target: Decimal,
    /// The largest deviation.
    pub tolerance: Decimal,
}

impl WeightSum {
    /// Returns true if `sum` is within the tolerance of the target: exact, and inclusive at the boundary.
    ///
    /// ```
    /// use karat_core::{number::Decimal, scorecard::WeightSum};
    /// let guard = WeightSum { target: Decimal::ONE, tolerance: Decimal::from_millionths(1_000) };
    /// assert!(guard.accepts(Decimal::from_millionths(999_000)));
    /// assert!(!guard.accepts(Decimal::from_millionths(1_001_001)));
    /// ```
    pub fn accepts(self, sum: Decimal) -> bool {
        sum.millionths().abs_diff(self.target.millionths()) <= self.tolerance.millionths().unsigned_abs()
    }

    /// Returns whether it accepts a sum of the weights of a challenge: exact, or off by less than the tolerance.
    pub fn accepts_below(self, sum: Decimal) -> bool {
        sum == self.target
            || sum.millionths().abs_diff(self.target.millionths())
                < self.tolerance.millionths().unsigned_abs()
    }
}

/// One measurement that the card reads from evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct FactDeclaration {
    /// Its name.
    pub name: String,
    /// The field of an item that gives it, where that is not the one of its name.
    pub path: Option<FieldPath>,
    /// Number, boolean or text.
    pub kind: FactType,
    /// Unit; `1`, `count` and `ratio` are dimensionless.
    pub unit: String,
    /// The card states the unit; otherwise it is `1` for lack of another.
    pub has_unit: bool,
    /// Smallest value, inclusive; minus infinity if none.
    pub min: f64,
    /// Largest value, inclusive; infinity if none.
    pub max: f64,
    /// The fact that bounds this one from above.
    pub max_fact: Option<usize>,
    /// Whole numbers only.
    pub integer: bool,
    /// The number that means "not measured".
    pub unknown: Option<f64>,
    /// The reporter.
    pub from: Reporter,
    /// A line for people; may be empty.
    pub about: String,
    /// Its name in the file.
    pub span: Range<usize>,
}

impl FactDeclaration {
    /// Returns the field of an item that gives it: its name, or its path, which begins with `$`.
    pub fn field(&self) -> String {
        self.path.as_ref().map_or_else(|| self.name.clone(), ToString::to_string)
    }

    /// Returns true if `fact` says nothing: it was not given, or is the number that means "not measured".
    pub fn is_missing(&self, fact: &Fact<'_>) -> bool {
        match fact {
            Fact::Missing => true,
            Fact::Number(value) => self.unknown == Some(*value),
            Fact::Flag(_) | Fact::Text(_) => false,
        }
    }
}

crate::words! {
    /// The type of a fact.
    #[expect(missing_docs, reason = "the names say it")]
    pub enum FactType {
        Number = "number",
        Boolean = "boolean",
        Text = "text",
    }

    /// The party that reports a fact.
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Reporter {
        Unstated = "unstated",
        Harness = "harness",
        Task = "task",
        Subject = "subject",
        Judge = "judge",
        Operator = "operator",
        ThirdParty = "third-party",
    }
}

impl Reporter {
    /// Every reporter that can be written.
    pub const STATED: [Self; 6] =
        [Self::Harness, Self::Task, Self::Subject, Self::Judge, Self::Operator, Self::ThirdParty];
}

/// A named number.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// The number; true is 1, false is 0.
    pub value: f64,
    /// Its unit; without one it takes the unit of what it meets, like a number in a formula.
    pub unit: Option<String>,
    /// A line for people; may be empty.
    pub about: String,
    /// Its name in the file.
    pub span: Range<usize>,
}

/// A named intermediate formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Let {
    /// Its name.
    pub name: String,
    /// Its formula.
    pub formula: Formula,
}

/// One thing that is scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Dimension {
    /// Its name.
    pub key: String,
    /// The name shown to people; the key if not given.
    pub label: String,
    /// The description shown to people; may be empty.
    pub description: String,
    /// The color it is shown in; may be empty.
    pub color: String,
    /// Share of the mean; profiles replace it.
    pub weight: Decimal,
    /// The formula of the value, 0..1.
    pub formula: Formula,
    /// False makes the reading 0, status `gated`.
    pub when: Option<Formula>,
    /// False takes the dimension out, status `not-applicable`.
    pub applies: Option<Formula>,
    /// The treatment of a missing reading.
    pub missing: MissingPolicy,
    /// The group it belongs to; the top level if none.
    pub group: Option<usize>,
    /// The age of its evidence, for a card with decay.
    pub age: EvidenceAge,
    /// Its key in the file.
    pub span: Range<usize>,
    /// Its weight in the file (the key if it has no weight).
    pub weight_span: Range<usize>,
}

/// The age of the evidence for a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceAge {
    /// The age of the item.
    OfItem,
    /// The age of the item, and the seconds that this fact says the evidence had at the time of the item.
    Fact(usize),
    /// None: the reading is one of now, whatever the item is.
    Now,
}

/// The effect of a dimension without a reading on the mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingPolicy {
    /// Left out of the mean.
    Exclude,
    /// Counts as 0.
    Zero,
    /// Counts as this many billionths.
    Default(i64),
    /// Withholds the score.
    Withhold,
}

/// A nested group of dimensions, which counts as one in its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name.
    pub key: String,
    /// The name shown to people; the key if not given.
    pub label: String,
    /// Share in its parent.
    pub weight: Decimal,
    /// The mean of its members.
    pub mean: Mean,
    /// The group it belongs to; the top level if none.
    pub parent: Option<usize>,
    /// Its key in the file.
    pub span: Range<usize>,
}

/// Weight profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Profiles {
    /// The text fact that chooses.
    pub by: usize,
    /// The profile used when nothing matches.
    pub fallback: usize,
    /// Name and weights (in the order of the dimensions) of each, in the order of the file.
    pub list: Vec<(String, Vec<Decimal>)>,
}

/// A card that accepts partial weights from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverridePolicy {
    /// The largest deviation of the merged sum from 1, inclusive.
    pub tolerance: Decimal,
}

/// An ordered adjustment of the score.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The condition under which it fires.
    pub when: Formula,
    /// The new score.
    pub set: Formula,
    /// Its name in the file.
    pub span: Range<usize>,
}

/// A cap on the score, a block on tiers, or both.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Its name.
    pub name: String,
    /// The condition under which it caps.
    pub when: Formula,
    /// The most points of the scale.
    pub cap: Option<Decimal>,
    /// The number of tiers, from the lowest, that stay open.
    pub tier_limit: Option<usize>,
    /// Its name in the file.
    pub span: Range<usize>,
}

/// A named range of the published score, up to the next band.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Its name.
    pub name: String,
    /// Lower end in points, inclusive.
    pub from: Decimal,
    /// Its name in the file.
    pub span: Range<usize>,
}

/// A certified level with its own conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Published score at least.
    pub score: Decimal,
    /// Coverage at least.
    pub coverage: Decimal,
    /// Dimensions that must be measured, those of the lower tiers included, with the floor of each in billionths.
    pub floors: Vec<(usize, i64)>,
    /// Its name in the file.
    pub span: Range<usize>,
}

/// A palette that challenges choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Fewest dimensions a challenge picks.
    pub pick_min: usize,
    /// Most dimensions a challenge picks.
    pub pick_max: usize,
    /// Dimensions that may be added and are not counted.
    pub extra: Vec<usize>,
}

/// A warning that the card keeps by choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// The code of the warning.
    pub code: String,
    /// The dimension, rule, gate, fact or let that is meant; empty for all.
    pub at: String,
    /// The reason why it stays.
    pub why: String,
    /// Its place in the file.
    pub span: Range<usize>,
}

impl Scorecard {
    /// Returns whether a fact is the age of the evidence for some dimension.
    pub fn is_age(&self, fact: usize) -> bool {
        self.dimensions.iter().any(|dimension| dimension.age == EvidenceAge::Fact(fact))
    }

    /// Returns the decay of readings with the age of their evidence, if the card has one.
    pub fn decay(&self) -> Option<DecayRule> {
        self.standing.as_ref()?.decay
    }

    /// Returns `id@version`.
    pub fn name(&self) -> String {
        [self.id.as_str(), "@", &self.version].concat()
    }

    /// Returns the name that a symbol has in the file.
    pub fn symbol_name(&self, symbol: crate::formula::Symbol) -> &str {
        use crate::formula::Symbol;
        match symbol {
            Symbol::Fact(at) => self.facts.get(at).map_or("", |fact| &fact.name),
            Symbol::Let(at) => self.lets.get(at).map_or("", |named| &named.name),
            Symbol::Reading(at) => self.dimensions.get(at).map_or("", |dimension| &dimension.key),
            Symbol::Score => "score",
            Symbol::Composite => "composite",
            Symbol::Coverage => "coverage",
        }
    }

    /// Returns every formula of the card.
    pub(super) fn formulas_mut(&mut self) -> impl Iterator<Item = &mut Formula> {
        let lets = self.lets.iter_mut().map(|named| &mut named.formula);
        let dimensions = self
            .dimensions
            .iter_mut()
            .flat_map(|dimension| {
                [Some(&mut dimension.formula), dimension.when.as_mut(), dimension.applies.as_mut()]
            })
            .flatten();
        let rules = self.rules.iter_mut().flat_map(|rule| [&mut rule.when, &mut rule.set]);
        let gates = self.gates.iter_mut().map(|gate| &mut gate.when);
        lets.chain(dimensions).chain(rules).chain(gates)
    }
}
