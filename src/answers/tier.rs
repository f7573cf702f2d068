//! The tier of a subject: the member `tier` of a standing.

use karat_core::scorecard;
use karat_standing::certification::{Certificate as CoreCertificate, Certified};
use karat_standing::stand::TierHeld;
use karat_standing::tiers::{Condition, Requirement, Rung};
use serde::{Deserialize, Serialize};

use super::{TierCause, from_billionths};
use crate::standing::written;

/// The tier of a subject, and what the next one needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TierStanding {
    /// The tier that is held, if any.
    pub held: Option<String>,
    /// The tier that is currently earned, if any.
    pub earned: Option<String>,
    /// The next tier; null at the highest.
    pub next: Option<String>,
    /// The requirements of the next tier that the subject does not meet.
    pub missing: Vec<MissingRequirement>,
    /// The missing requirement, if there is exactly one.
    pub single_blocker: Option<String>,
    /// Every tier with everything that it asks, in the order of the scorecard, the lowest first.
    #[serde(default)]
    pub ladder: Vec<TierRung>,
    /// The certificate, for a scorecard with certification.
    pub certificate: Option<Certificate>,
    /// Every change of the tier that is held.
    pub changes: Vec<TierChange>,
}

/// A requirement of the next tier that is not met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MissingRequirement {
    /// `score`, `coverage`, `evaluations`, `distinct_days`, `confidence`, `independent_runners`, `newest_batch_seconds`,
    /// `gate`, or the key of a dimension.
    pub requirement: String,
    /// The value that the tier needs.
    pub needed: f64,
    /// The value that was found; null if nothing was found.
    pub found: Option<f64>,
    /// The same as a sentence.
    pub text: String,
}

/// A tier of the scorecard with everything that it asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TierRung {
    /// The tier.
    pub tier: String,
    /// True if everything is met that it and every lower tier asks, so that it is earned. A certificate may hold another one.
    pub is_met: bool,
    /// Everything that it asks itself.
    pub requirements: Vec<TierRequirement>,
}

/// A requirement of a tier, met or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TierRequirement {
    /// `score`, `coverage`, `evaluations`, `distinct_days`, `confidence`, `independent_runners`, `newest_batch_seconds`,
    /// `gate`, or the key of a dimension.
    pub requirement: String,
    /// The value that the tier needs: the least, or of `newest_batch_seconds` the most.
    pub needed: f64,
    /// The value that was found; null if nothing was found.
    pub found: Option<f64>,
    /// True if it is met.
    pub is_met: bool,
    /// The moment from which it is not met any more if nothing happens until then. Null if it is not met now, if time alone does
    /// not change it, and if that moment is not known: it lies behind one at which an item leaves the window, or items have a
    /// time before the standing and arrived after it.
    pub until: Option<String>,
    /// The same as a sentence.
    pub text: String,
}

/// The certificate of a tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Certificate {
    /// The time at which the tier was reached.
    pub promoted: Option<String>,
    /// The time since which a higher tier is earned.
    pub rising_since: Option<String>,
    /// The time since which decay denies the tier.
    pub at_risk_since: Option<String>,
    /// The number of tiers lost because there was no new evidence.
    pub lost_to_silence: u64,
    /// The time at which the next tier is reached, if it stays earned.
    pub promotion_from: Option<String>,
    /// The time at which the tier is lost to decay.
    pub at_risk_until: Option<String>,
}

/// A change of the tier that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TierChange {
    /// The time.
    pub time: String,
    /// The tier before, if any.
    pub from: Option<String>,
    /// The tier after, if any.
    pub to: Option<String>,
    /// The cause.
    pub cause: TierCause,
}

impl TierStanding {
    /// Returns the tier of a subject under the rules of its scorecard.
    pub(super) fn new(rules: Option<&scorecard::Standing>, found: &TierHeld) -> Self {
        let changes = found.changes.iter().map(|(at, change)| TierChange {
            time: written(*at),
            from: tier_name(rules, change.from),
            to: tier_name(rules, change.to),
            cause: change.cause,
        });
        Self {
            held: found.name.clone(),
            earned: found.earned.name.clone(),
            next: found.earned.next.clone(),
            missing: found.earned.missing.iter().map(MissingRequirement::from).collect(),
            single_blocker: found.earned.single_blocker().map(ToString::to_string),
            ladder: found.ladder.iter().map(TierRung::from).collect(),
            certificate: found.certificate.as_ref().map(|(held, shown)| certificate(held, shown)),
            changes: changes.collect(),
        }
    }
}

fn certificate(held: &CoreCertificate, shown: &Certified) -> Certificate {
    Certificate {
        promoted: held.promoted_seconds.map(written),
        rising_since: held.rising_since_seconds.map(written),
        at_risk_since: held.at_risk_since_seconds.map(written),
        lost_to_silence: held.lost_to_silence as u64,
        promotion_from: shown.promotion_from_seconds.map(written),
        at_risk_until: shown.at_risk_until_seconds.map(written),
    }
}

impl From<&Condition> for MissingRequirement {
    fn from(condition: &Condition) -> Self {
        let (requirement, is_share) = match &condition.requirement {
            Requirement::Points => ("score", false),
            Requirement::Coverage => ("coverage", true),
            Requirement::Dimension(key) => (key.as_str(), true),
            Requirement::Evaluations => ("evaluations", false),
            Requirement::DistinctDays => ("distinct_days", false),
            Requirement::Confidence => ("confidence", true),
            Requirement::IndependentRunners => ("independent_runners", false),
            Requirement::Freshness => ("newest_batch_seconds", false),
            Requirement::Gate => ("gate", false),
        };
        let number = |value: i64| if is_share { from_billionths(value) } else { value as f64 };
        Self {
            requirement: requirement.to_owned(),
            needed: number(condition.needed),
            found: condition.found.map(number),
            text: condition.to_string(),
        }
    }
}

impl From<&Rung> for TierRung {
    fn from(rung: &Rung) -> Self {
        let requirement = |(condition, until_seconds): &(Condition, Option<i64>)| {
            let MissingRequirement { requirement, needed, found, text } = condition.into();
            let (is_met, until) = (condition.is_met, until_seconds.map(written));
            TierRequirement { requirement, needed, found, is_met, until, text }
        };
        Self {
            tier: rung.name.clone(),
            is_met: rung.is_reached,
            requirements: rung.conditions.iter().map(requirement).collect(),
        }
    }
}

/// Returns the names of the lowest `open` tiers.
pub(super) fn lowest_tiers(rules: Option<&scorecard::Standing>, open: usize) -> Vec<String> {
    rules.into_iter().flat_map(|rules| rules.tiers.iter().take(open)).map(|tier| tier.name.clone()).collect()
}

/// Returns the name of the highest of the lowest `held` tiers.
pub(super) fn tier_name(rules: Option<&scorecard::Standing>, held: usize) -> Option<String> {
    held.checked_sub(1).and_then(|at| rules?.tiers.get(at)).map(|tier| tier.name.clone())
}
