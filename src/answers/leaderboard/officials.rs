//! The official score of every subject of a leaderboard, and how it follows from the mean of its runs.

use std::collections::BTreeSet;

use karat_core::record::Published;
use karat_core::scorecard::{Scorecard, StandingScore};
use karat_core::timestamp::Timestamp;
use karat_standing::ratio::Ratio;
use karat_standing::stand::{Spread, SubjectStanding, is_plain, stand_in_brief};

use karat_stats::ranks::{RankRange, ranks};

use super::official::BridgeLevel;
use crate::answers::standing::without_time;
use crate::answers::weights::WeightsInForce;
use crate::answers::{BridgeStep, share};
use crate::error::Error;
use crate::rows::Rows;
use crate::standing::events::Events;
use crate::standing::{items, refused};

/// The official scores of the subjects of a scorecard at a moment.
#[derive(Debug, Clone)]
pub struct Officials {
    /// The moment; none if no item has a time.
    pub as_of: Option<Timestamp>,
    /// The weights from outside in force at the moment; none while those of the scorecard are.
    pub weights: Option<WeightsInForce>,
    /// The best score of the scorecard.
    pub scale: u32,
    /// The dimensions of the scorecard.
    pub dimensions: Vec<String>,
    /// The subjects that have items up to the moment, by name.
    pub subjects: Vec<(String, Option<OfficialScore>)>,
    /// The subjects that have no score because items of them have no time.
    pub untimed: BTreeSet<String>,
}

/// The official score of a subject.
#[derive(Debug, Clone, PartialEq)]
pub struct OfficialScore {
    /// The score in points.
    pub points: f64,
    /// The tasks that it rests on; none for the newest readings.
    pub spread: Option<Spread>,
    /// Its values by dimension of the scorecard, in billionths; none where it is the mean of the runs, whose values are theirs.
    pub values: Option<Vec<Option<i64>>>,
    /// The levels after the mean of the runs, in order; the last one is the official score.
    pub levels: Vec<BridgeLevel>,
    /// The tier that is held, if any.
    pub tier: Option<String>,
    /// True while a newer score is held for review.
    pub is_under_review: bool,
}

impl Officials {
    /// Returns the official scores of the subjects of `rows` under `card` at `as_of`, with the decisions in `events`.
    ///
    /// # Errors
    /// If the scorecard has no section `[standing]`, or there are no standings.
    pub fn new(rows: &Rows, card: &Scorecard, events: &Events, as_of: Timestamp) -> Result<Self, Error> {
        let items = items::items(rows, card, events)?;
        let standings = stand_in_brief(card, &items, &events.events, as_of.seconds())
            .map_err(|errors| refused(&errors))?;
        let subject = |it: &SubjectStanding| (it.subject.clone(), OfficialScore::new(card, it));
        Ok(Self {
            as_of: Some(as_of).filter(|_| !standings.by_id),
            weights: WeightsInForce::of(&standings.overrides),
            scale: card.scale.max,
            dimensions: card.dimensions.iter().map(|it| it.key.clone()).collect(),
            subjects: standings.subjects.iter().map(subject).collect(),
            untimed: without_time(rows, &standings.without_time).map(|(name, _)| name.to_owned()).collect(),
        })
    }

    /// Returns the ranks of the subjects, in their order; none without an official score.
    pub fn ranks(&self) -> Vec<Option<RankRange>> {
        let order = |(_, score): &(String, Option<OfficialScore>)| score.as_ref().map(OfficialScore::order);
        ranks(&self.subjects.iter().map(order).collect::<Vec<_>>())
    }
}

impl OfficialScore {
    /// Returns a number in the order of the points: the bits of doubles from 0 on are in their order.
    pub(super) fn order(&self) -> i64 {
        self.points.max(0.0).to_bits().cast_signed()
    }

    /// Returns the official score of a standing; none without one.
    pub fn new(card: &Scorecard, standing: &SubjectStanding) -> Option<Self> {
        let points = standing.official_points()?;
        let scale = f64::from(card.scale.max);
        let mean = match &card.standing {
            Some(rules) if rules.score == StandingScore::Latest => BridgeStep::Newest,
            Some(rules) if rules.window.is_distinct => BridgeStep::Tasks,
            _ => BridgeStep::Window,
        };
        let in_points = |score: Ratio| score.to_f64() * scale;
        let gated = standing.gated.filter(|gated| standing.ungated.is_some_and(|it| gated.lowers(it)));
        let levels = [
            (mean, standing.undecayed_score.or(standing.score).map(in_points)),
            (BridgeStep::Decay, standing.score.map(in_points)),
            (BridgeStep::Rounding, standing.ungated.map(Published::to_f64)),
            (BridgeStep::Gate, gated.map(|gated| gated.points as f64)),
            (BridgeStep::Review, Some(points)),
        ];
        let levels = levels.into_iter().filter_map(|(step, points)| {
            let points = share(points?);
            Some(BridgeLevel { step, points })
        });
        let mut levels: Vec<BridgeLevel> = levels.collect();
        levels.dedup_by(|next, last| next.points == last.points);
        let reviewed = standing.review.as_ref().and_then(|it| it.official.as_ref());
        let values = || match reviewed {
            Some(official) => official.dimensions.iter().map(|it| it.reading).collect(),
            None => standing.dimensions.iter().map(|it| it.reading).collect(),
        };
        let is_own = card.standing.as_ref().is_some_and(|rules| !is_plain(rules));
        Some(Self {
            points,
            values: is_own.then(values),
            spread: standing.spread.clone(),
            levels,
            tier: standing.tier.as_ref().and_then(|tier| tier.name.clone()),
            is_under_review: standing.review.as_ref().is_some_and(|it| it.history.is_under_review()),
        })
    }
}
