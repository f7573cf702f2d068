//! The score of a moment: the steps from measured dimensions of different ages to one published number, in the order of the
//! trust document, section 5.
//!
//! 1. **Weights**: of the card, or of an accepted override.
//! 2. **Decay** of each dimension by the age of its evidence, and the mean over those that were measured.
//! 3. **Publish** on the scale of the card.
//! 4. **Gate**: cap, and tiers that stay open.
//! 5. **Swing** against the official score.
//!
//! What follows takes the past into account: [`review`](super::review), [`tiers`](super::tiers),
//! [`certification`](super::certification).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::decay::{Aged, DecayError, DecayRule, Decayed, decay_dimensions};
use super::gate::{self, GateFacts, Gated, SecurityGate};
use super::review::{ReviewRules, Swing, swing};
use karat_core::diagnostic::nearest;
use karat_core::record::Published;
use karat_core::scorecard::Scorecard;
use karat_core::weights::OverrideUse;

/// A measured dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Its undecayed reading, in billionths.
    pub reading: i64,
    /// The age of its evidence; below zero where a clock runs ahead.
    pub age_seconds: i64,
}

/// The settings of a score at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerdictRules<'a> {
    /// The decay with age.
    pub decay: DecayRule,
    /// The gate, and the dimension that it looks at.
    pub gate: Option<(&'a SecurityGate, &'a str)>,
    /// A change of more points than this is a swing.
    pub swing_points: u32,
}

impl Default for VerdictRules<'_> {
    fn default() -> Self {
        let swing_points = ReviewRules::default().swing_points;
        Self { decay: DecayRule::default(), gate: None, swing_points }
    }
}

/// The state of a subject at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Situation {
    /// The dimensions that were measured.
    pub measured: BTreeMap<String, Measured>,
    /// The official score in points, if there is one.
    pub canonical_points: Option<i64>,
    /// True if a confirmed critical incident is open.
    pub has_critical_incident: bool,
    /// True if the subject is on hold.
    pub is_on_hold: bool,
}

/// The score of a moment and how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Each dimension after decay, and the exact mean.
    pub decayed: Decayed,
    /// The published score before the gate; none where nothing is covered.
    pub ungated: Option<Published>,
    /// The score in whole points, rounded down where the card publishes parts of them, and what the gate left of it.
    pub gated: Option<Gated>,
    /// The change against the official score.
    pub swing: Option<Swing>,
}

/// The reason why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerdictError {
    /// The card has no such dimension.
    #[error("the card has no dimension `{key}`{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The dimension as given.
        key: String,
        /// The one that was most likely meant.
        nearest: Option<String>,
    },
    /// The mean of the card is not one weighted mean over all dimensions, so their ages cannot be taken one by one.
    #[error("the card has {0}, expected one weighted mean over all dimensions")]
    Shape(
        /// The part of the card: its mean, groups or profiles.
        String,
    ),
    /// The readings or weights are invalid.
    #[error(transparent)]
    Decay(DecayError),
}

pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| alloc::format!("; did you mean `{nearest}`?"))
}

/// Returns the score of a subject at a moment, by a card whose mean is one weighted mean over its dimensions. Rules
/// and gates of the card belong to single items: here `rules` has the gate.
///
/// # Errors
/// If there are problems: every [`VerdictError`].
pub fn verdict(
    card: &Scorecard,
    weights: Option<&OverrideUse>,
    situation: &Situation,
    rules: &VerdictRules<'_>,
) -> Result<Verdict, Vec<VerdictError>> {
    let keys = || card.dimensions.iter().map(|dimension| dimension.key.as_str());
    let mut errors: Vec<VerdictError> = shape(card).map(VerdictError::Shape).into_iter().collect();
    for key in situation.measured.keys().filter(|key| !keys().any(|known| known == *key)) {
        let nearest = nearest(key, keys()).map(String::from);
        errors.push(VerdictError::Unknown { key: key.clone(), nearest });
    }
    let aged = card.dimensions.iter().enumerate().map(|(at, dimension)| Aged {
        key: dimension.key.clone(),
        weight: weights.and_then(|used| used.effective.get(at)).copied().unwrap_or(dimension.weight),
        measured: situation.measured.get(&dimension.key).map(|found| (found.reading, found.age_seconds)),
    });
    let decayed = decay_dimensions(rules.decay, &aged.collect::<Vec<_>>());
    let decayed = match decayed {
        Ok(decayed) if errors.is_empty() => decayed,
        Ok(_) => return Err(errors),
        Err(wrong) => {
            errors.extend(wrong.into_iter().map(VerdictError::Decay));
            return Err(errors);
        }
    };
    let ungated = decayed.composite.map(|composite| composite.publish(card.scale));
    let gated = ungated.map(|published| {
        let points = published.value.div_euclid(10i64.pow(published.places));
        let open = Gated { ungated_points: points, points, open_tiers: None };
        rules.gate.map_or(open, |(gate, dimension)| {
            let reading = decayed.dimensions.iter().find(|part| part.key == dimension);
            let facts = GateFacts {
                reading: reading.and_then(|part| part.reading),
                has_critical_incident: situation.has_critical_incident,
                is_on_hold: situation.is_on_hold,
            };
            gate::apply(gate, points, &facts)
        })
    });
    let swing = gated.map(|gated| swing(situation.canonical_points, gated.points, rules.swing_points));
    Ok(Verdict { decayed, ungated, gated, swing })
}

/// Returns what keeps a card from being one weighted mean.
fn shape(card: &Scorecard) -> Option<String> {
    if !card.mean.is_weighted_average() {
        Some(format!("the mean `{}`", card.mean.name()))
    } else if let Some(group) = card.groups.first() {
        Some(format!("the group `{}`", group.key))
    } else {
        card.profiles.as_ref().map(|_| String::from("weight profiles"))
    }
}

#[cfg(test)]
mod tests {
    use karat_core::mean::Mean;

    use super::*;
    use alloc::string::ToString;

    fn trust() -> Scorecard {
        karat_checker::parse(include_str!("../../../scorecards/trust/1.0.0.toml"), &|_| None).unwrap()
    }

    fn situation(measured: &[(&str, i64)]) -> Situation {
        let fresh = |&(key, reading): &(&str, i64)| (key.into(), Measured { reading, age_seconds: 0 });
        Situation { measured: measured.iter().map(fresh).collect(), ..Situation::default() }
    }

    #[test]
    fn the_gate_sees_the_decayed_reading_and_the_swing_the_gated_score() {
        let gate = SecurityGate::default();
        let rules = VerdictRules { gate: Some((&gate, "security")), ..VerdictRules::default() };
        let mut now = situation(&[("accuracy", 1_000_000_000), ("security", 501_000_000)]);
        now.canonical_points = Some(800);
        let fresh = verdict(&trust(), None, &now, &rules).unwrap();
        assert_eq!(fresh.gated.unwrap().open_tiers, None);
        now.measured.insert("security".into(), Measured { reading: 501_000_000, age_seconds: 3 * 604_800 });
        let aged = verdict(&trust(), None, &now, &rules).unwrap();
        assert_eq!(aged.ungated.unwrap().to_string(), "805");
        assert_eq!(aged.gated.unwrap(), Gated { ungated_points: 805, points: 599, open_tiers: Some(1) });
        assert_eq!(aged.swing.unwrap(), Swing { delta: Some(-201), was_anomalous: true });
    }

    #[test]
    fn nothing_measured_is_no_score() {
        let none = verdict(&trust(), None, &Situation::default(), &VerdictRules::default()).unwrap();
        assert_eq!((none.ungated, none.gated, none.swing), (None, None, None));
    }

    #[test]
    fn all_that_is_wrong_is_told() {
        let wrong = situation(&[("acuracy", 5), ("safety", -1), ("zzz", 1)]);
        let card = Scorecard { mean: Mean::Geometric, ..trust() };
        let errors = verdict(&card, None, &wrong, &VerdictRules::default()).unwrap_err();
        let told: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "the card has the mean `geometric`, expected one weighted mean over all dimensions",
                "the card has no dimension `acuracy`; did you mean `accuracy`?",
                "the card has no dimension `zzz`",
                "`safety` is -1 billionths, expected 0 to 1000000000",
            ]
        );
    }
}
