//! The score record of one item (`docs/guide/record.md`).

mod json;

use alloc::vec::Vec;
use core::fmt;

use crate::facts::Item;
use crate::number::{Decimal, Score, plain};
use crate::scorecard::{Publish, Scale, Scorecard};
use crate::weights::OverrideUse;

/// The version of the engine, written into every record.
pub const ENGINE_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The score of one subject and its reasons. Borrows from the card and the evidence item.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// The rule.
    pub card: &'a Scorecard,
    /// The evidence.
    pub item: Item<'a>,
    /// The moment of the verdict, if one was given.
    pub as_of: Option<&'a str>,
    /// The status of a score.
    pub status: RecordStatus,
    /// The score on the grid of 1e-15; none unless `status` is scored.
    pub score: Option<Score>,
    /// The score on the scale of the card.
    pub published: Option<Published>,
    /// The mean before rules and gates.
    pub composite: Option<Score>,
    /// Share of the applicable weight that was measured, in billionths.
    pub coverage: i64,
    /// The lowest and highest score that the missing parts leave possible; none where nothing applies.
    pub bounds: Option<(Published, Published)>,
    /// The weight profile used, for a card with profiles.
    pub profile: Option<ProfileUse<'a>>,
    /// The outcome of the weights given from outside, if any were.
    pub override_use: Option<&'a OverrideUse>,
    /// The dimensions in card order.
    pub dimensions: Vec<DimensionRecord<'a>>,
    /// The groups in card order.
    pub groups: Vec<GroupRecord<'a>>,
    /// The steps that moved the score after the weighted parts were added, in order.
    pub steps: Vec<Step<'a>>,
    /// Rules and gates whose condition was missing or failed.
    pub undecided: Vec<&'a str>,
    /// Gates that held.
    pub gates: Vec<&'a str>,
    /// The band of the published score.
    pub band: Option<&'a str>,
    /// The tier, for a card with tiers.
    pub tier: Option<TierRecord<'a>>,
    /// Warnings for the reader of the number.
    pub warnings: Vec<Warning<'a>>,
    /// The seconds from the time of the item to the moment of the score; NaN where one of the two is not known.
    pub(crate) elapsed_seconds: f64,
}

impl Record<'_> {
    /// Returns the whole seconds from the time of the item to the moment of the score, where both are known.
    pub fn elapsed_seconds(&self) -> Option<i64> {
        (!self.elapsed_seconds.is_nan()).then_some(self.elapsed_seconds as i64)
    }
}

crate::words! {
    /// The status of the score of an item.
    pub enum RecordStatus {
        /// There is one.
        Scored = "scored",
        /// No dimension has a reading, or their weights sum to zero.
        Unscored = "unscored",
        /// A dimension that must be there is not.
        Withheld = "withheld",
    }
}

/// A number on the scale of a card: `value / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published {
    /// The digits.
    pub value: i64,
    /// Decimal places.
    pub places: u32,
}

impl Published {
    /// Returns true if the number is at least `points`.
    pub fn reaches(self, points: Decimal) -> bool {
        let places = self.places.max(6);
        i128::from(self.value) * 10i128.pow(places - self.places)
            >= i128::from(points.millionths()) * 10i128.pow(places - 6)
    }

    /// Returns the nearest double.
    pub fn to_f64(self) -> f64 {
        self.value as f64 / 10u64.pow(self.places) as f64
    }
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&plain(self.value, self.places as usize))
    }
}

impl Scale {
    /// Returns the published form of an exact score.
    pub fn publish(self, score: Score) -> Published {
        match self.publish {
            Publish::Exact => Published { value: score.units(), places: 15 - self.max.ilog10() },
            _ => self.publish_ratio(i128::from(score.units()), i128::from(Score::ONE.units())),
        }
    }

    /// Returns the published form of the fraction `numerator / denominator` of a perfect score; both not negative, the second
    /// above zero. With [`Publish::Exact`] it is rounded to the grid of scores, ties to even.
    ///
    /// ```
    /// use karat_core::scorecard::{Publish, Scale};
    /// let scale = Scale { max: 1000, publish: Publish::HalfUp, places: 0 };
    /// assert_eq!(scale.publish_ratio(1501, 2000).to_string(), "751");
    /// ```
    pub fn publish_ratio(self, numerator: i128, denominator: i128) -> Published {
        let steps = i128::from(self.max) * 10i128.pow(self.places);
        let value = match self.publish {
            Publish::Exact => {
                let units =
                    crate::number::round_ratio(numerator * i128::from(Score::ONE.units()), denominator);
                return self.publish(Score::from_units(units as i64));
            }
            Publish::Floor => numerator * steps / denominator,
            Publish::HalfUp => (2 * numerator * steps + denominator) / (2 * denominator),
        };
        Published { value: value as i64, places: self.places }
    }
}

/// The weight profile that was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProfileUse<'a> {
    /// The profile.
    pub name: &'a str,
    /// The profile that the evidence asked for, if any.
    pub asked: Option<&'a str>,
    /// True when the fallback stood in.
    pub fallback: bool,
}

/// One dimension in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DimensionRecord<'a> {
    /// The dimension's key.
    pub key: &'a str,
    /// The status.
    pub status: ValueStatus,
    /// The reading used in the mean, in billionths.
    pub reading: Option<i64>,
    /// The value of the formula before it was put on the grid, where there is one.
    pub value: Option<f64>,
    /// Its weight: of the card or profile, or of an accepted override.
    pub weight: Decimal,
    /// Its share of the composite, in billionths; 0 where it has no reading.
    pub effective_weight: i64,
    /// Its part of the composite.
    pub contribution: Score,
    /// The reason why there is no reading, or why it is not what was measured; empty if there is nothing to say.
    pub reason: Reason<'a>,
    /// Its group, if any.
    pub group: Option<&'a str>,
    /// The age of its evidence and the reading before decay, where the card has decay and the age is known.
    pub decay: Option<Decay>,
}

/// One group of dimensions in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupRecord<'a> {
    /// The group's key.
    pub key: &'a str,
    /// The mean of its members, in billionths; none where none of them has a reading, or one that must be there has not.
    pub reading: Option<i64>,
    /// Its weight in its parent.
    pub weight: Decimal,
    /// Its share of the composite, in billionths: those of its dimensions.
    pub effective_weight: i64,
    /// Its part of the composite: those of its dimensions.
    pub contribution: Score,
    /// The group that it is in, if any.
    pub group: Option<&'a str>,
}

/// The decay of a reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// The age of the evidence at the moment of the score; below 0 where a clock runs ahead.
    pub age_seconds: f64,
    /// The reading before decay, in billionths.
    pub before: i64,
}

crate::words! {
    /// The status of the value of a dimension.
    pub enum ValueStatus {
        /// The formula gave a value.
        Scored = "scored",
        /// Its condition is false: the reading is 0.
        Gated = "gated",
        /// It does not apply.
        NotApplicable = "not-applicable",
        /// A needed fact is missing.
        Missing = "missing",
        /// The formula has no result.
        Failed = "failed",
    }
}

impl ValueStatus {
    /// Returns true if there should be a value but it is missing or failed.
    pub(crate) const fn is_unmeasured(self) -> bool {
        matches!(self, Self::Missing | Self::Failed)
    }
}

/// The reason why a dimension has no reading, or not the measured one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason<'a> {
    /// No reason.
    None,
    /// This condition is false.
    ConditionFalse(&'a str),
    /// This fact, or reading, is missing.
    Needs(&'a str),
    /// The formula failed: division by zero, overflow, ...
    Failure(&'static str),
    /// Its evidence is old.
    Decayed(Decay),
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::ConditionFalse(text) => write!(f, "`{text}` is false"),
            Self::Needs(name) => write!(f, "`{name}` is missing"),
            Self::Failure(why) => f.write_str(why),
            Self::Decayed(Decay { age_seconds, before }) => {
                let days = (age_seconds / 86_400.0) as i64;
                let plural = if days == 1 { "" } else { "s" };
                write!(f, "decayed from {} over {days} day{plural}", plain(*before, 9))
            }
        }
    }
}

/// A step after the weighted parts were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step<'a> {
    /// The kind of step.
    pub kind: StepKind,
    /// Name of the mean, rule or gate.
    pub name: &'a str,
    /// The score before.
    pub before: Score,
    /// The score after.
    pub after: Score,
}

crate::words! {
    /// The kinds of steps.
    pub enum StepKind {
        /// From the weighted arithmetic mean to the mean of the card.
        Mean = "mean",
        /// Decay of the composite as a whole.
        Decay = "decay",
        /// A rule that fired.
        Rule = "rule",
        /// A cap that bit.
        Gate = "gate",
    }
}

/// The tier in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierRecord<'a> {
    /// The tier reached.
    pub name: Option<&'a str>,
    /// The next higher one.
    pub next: Option<&'a str>,
    /// The requirements of the next one that are not met.
    pub blocked_by: Vec<Blocker<'a>>,
}

/// A condition of a tier that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocker<'a> {
    /// The requirement.
    pub condition: Condition<'a>,
    /// The least that is needed.
    pub needed: Decimal,
    /// The value found; none if it was not measured.
    pub found: Option<Published>,
}

/// A requirement of a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition<'a> {
    /// A published score.
    Score,
    /// A coverage.
    Coverage,
    /// A reading of this dimension.
    Dimension(&'a str),
    /// This gate must not apply.
    Gate(&'a str),
}

impl fmt::Display for Condition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Score => f.write_str("score"),
            Self::Coverage => f.write_str("coverage"),
            Self::Dimension(key) => f.write_str(key),
            Self::Gate(name) => write!(f, "gate {name}"),
        }
    }
}

/// Something a reader of the number should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning<'a> {
    /// No profile has this name; the fallback is used instead.
    ProfileFallback {
        /// The profile that the evidence asked for.
        asked: Option<&'a str>,
        /// The profile used.
        used: &'a str,
    },
    /// The override was refused; the base weights apply.
    OverrideRejected,
    /// A dimension was not measured and this policy value took its place.
    DefaultUsed {
        /// The dimension.
        dimension: &'a str,
    },
    /// A condition could not be decided, so the rule or gate did not act.
    Undecided {
        /// The rule or gate.
        name: &'a str,
    },
    /// The card has decay, and the age of some evidence is not known.
    NotDecayed {
        /// Number of measured dimensions without an age.
        without: usize,
        /// Number of measured dimensions.
        measured: usize,
    },
    /// The evidence says something that can be so and hardly is.
    Suspicion {
        /// JSON path and sentence.
        message: &'a str,
    },
    /// An accepted override takes most of the weight from a dimension that a tier relies on.
    WeakMandatory {
        /// The dimension.
        dimension: &'a str,
    },
}

impl Warning<'_> {
    /// The code of a suspicion, by which it is found in a record that is read back.
    pub const SUSPICION: &'static str = "suspicious-evidence";

    /// Returns a stable name.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::ProfileFallback { .. } => "profile-fallback",
            Self::OverrideRejected => "override-rejected",
            Self::DefaultUsed { .. } => "default-used",
            Self::Undecided { .. } => "undecided",
            Self::NotDecayed { .. } => "not-decayed",
            Self::Suspicion { .. } => Self::SUSPICION,
            Self::WeakMandatory { .. } => "weak-mandatory",
        }
    }
}

impl fmt::Display for Warning<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ProfileFallback { asked: Some(asked), used } => {
                write!(f, "there is no profile `{asked}`: `{used}` was used")
            }
            Self::ProfileFallback { asked: None, used } => {
                write!(f, "no profile was named: `{used}` was used")
            }
            Self::OverrideRejected => {
                f.write_str("the weights given from outside were refused: the card's own were used")
            }
            Self::DefaultUsed { dimension } => {
                write!(f, "`{dimension}` was not measured: the card's default was used")
            }
            Self::Undecided { name } => {
                write!(f, "`{name}` could not be decided, as something it needs is missing")
            }
            Self::NotDecayed { without, measured } if without == measured => {
                f.write_str("not decayed: no age given")
            }
            Self::NotDecayed { without, measured } => {
                write!(f, "{without} of {measured} measured dimensions not decayed: no age given")
            }
            Self::Suspicion { message } => f.write_str(message),
            Self::WeakMandatory { dimension } => {
                write!(
                    f,
                    "the weights given from outside nearly silence `{dimension}`, which a tier relies on"
                )
            }
        }
    }
}
