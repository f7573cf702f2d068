//! The standing of a subject at a time, `karat/standing/2`: enough to compute it again and to see why it is so. Exact
//! numbers are strings.

use karat_core::facts::{Digest, Outcome};
use karat_core::record::{ENGINE_VERSION, Published};
use karat_standing::stand::{
    Change, Counts, DimensionStanding, Point, ScoreInterval, Spread, SubjectStanding,
};
use serde::{Deserialize, Serialize};

use super::basis::OutcomeCounts;
use super::leaderboard::{BackfilledRecords, CorrectedRecords};
use super::review::{Review, ScoreChange, score_history};
use super::tier::{TierStanding, lowest_tiers, tier_name};
use super::weights::WeightsState;
use super::{
    IntervalMethod, IntervalOf, ShareCase, StandingScore, SubjectChange, answer, from_billionths, share,
};
use crate::look_alikes::Alike;
use crate::record::ScorecardReference;
use crate::rows::{Row, Rows};
use crate::standing::Answer;
use crate::standing::notes::late;
use crate::standing::written;

/// The standing of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Standing {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: StandingSchema,
    /// The version of the engine.
    pub engine: String,
    /// The scorecard.
    pub scorecard: ScorecardReference,
    /// The best score of this scorecard; the worst is 0.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub scale: u32,
    /// The time of the standing.
    pub as_of: String,
    /// SHA-256 of the events beside the evaluations; null if there are no events.
    pub events_digest: Option<String>,
    /// The weights from outside; null if there are no proposals.
    #[serde(default)]
    pub weights: Option<WeightsState>,
    /// The basis of the score.
    pub kind: Option<StandingScore>,
    /// The subject.
    pub subject: String,
    /// Its operator, if an event names one.
    pub operator: Option<String>,
    /// The current score; null if there is no score.
    pub score: Option<MomentScore>,
    /// The interval of the score; null for newest values, and with fewer than two tasks.
    pub interval: Option<StandingInterval>,
    /// The score that the interval is of, or why it is missing; null without a score.
    #[serde(default)]
    pub interval_of: Option<IntervalOf>,
    /// The score in points before and after the gate.
    pub gate: Option<GateEffect>,
    /// The official score in points: the current one as it is published, or for a scorecard with reviews the last that was
    /// committed, in whole points. A gate caps it at whole points.
    pub points: Option<f64>,
    /// The score in points that gates, tiers and shares use: the lowest of the official, the held and the current
    /// score.
    pub gating_points: Option<f64>,
    /// The items.
    pub items: StandingItems,
    /// Its records that were corrected, and so do not count; left out if there is no such record, and if no log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedRecords>,
    /// Its records that were backfilled; left out if there is no such record, and if no log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfilled: Option<BackfilledRecords>,
    /// Other subjects with names that look like this one.
    #[serde(flatten)]
    pub alike: Alike,
    /// The items that count now, oldest first.
    pub window: Vec<WindowItem>,
    /// The dimensions, in the order of the scorecard.
    pub dimensions: Vec<StandingDimension>,
    /// The share of the weight that was measured.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub coverage: f64,
    /// The confidence, for a scorecard that has one.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
    /// The number of evaluations, as tiers count them.
    pub evaluations: u64,
    /// The number of days with evaluations.
    pub distinct_days: u64,
    /// The number of runners that do not operate the subject.
    pub independent_runners: u64,
    /// The age of the newest full batch in seconds; null without one.
    pub newest_batch_seconds: Option<i64>,
    /// The incidents that are open.
    pub incidents: Vec<String>,
    /// True if a gate of the newest item says that an incident is open.
    pub incident_gate: bool,
    /// True if the subject is on hold.
    pub on_hold: bool,
    /// Incidents and holds, in order.
    pub changes: Vec<StandingChange>,
    /// The reviews, for a scorecard with reviews.
    pub review: Option<Review>,
    /// The changes of the score, each with its review; null for a scorecard without reviews.
    pub score_history: Option<Vec<ScoreChange>>,
    /// The tier, for a scorecard with tiers.
    pub tier: Option<TierStanding>,
    /// The part of a new subject's score that counts, for a scorecard with a warm-up.
    pub warm_up: Option<WarmUp>,
    /// The share of the whole, for a scorecard with shares.
    pub share: Option<StandingShare>,
    /// The score at each time at which something changed, oldest first.
    pub history: Vec<HistoryPoint>,
}

answer!(Standing, StandingSchema = "karat/standing/2", "a standing");

/// The current score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct MomentScore {
    /// The exact share of the scale, as a fraction: `5/8`.
    pub exact: String,
    /// The score in points, not rounded as the scorecard publishes it.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub value: f64,
    /// The score as the scorecard publishes it, before the gate.
    pub published: Option<f64>,
}

/// The interval of the official score, in points as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StandingInterval {
    /// The lower end, in points.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub low: f64,
    /// The upper end, in points.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub high: f64,
    /// The confidence.
    #[cfg_attr(feature = "schema", schema(exclusive_minimum = 0, exclusive_maximum = 1))]
    pub level: f64,
    /// The method of the interval.
    pub method: IntervalMethod,
    /// The number of tasks.
    pub tasks: u64,
}

/// The effect of the gate on a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GateEffect {
    /// The score in points before the gate.
    pub ungated_points: f64,
    /// The score in points after it.
    pub points: f64,
    /// The tiers that the gate leaves open; null if it closes no tier.
    pub open_tiers: Option<Vec<String>>,
}

/// The items of a standing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StandingItems {
    /// The number of items considered.
    pub given: u64,
    /// The number of items that counted at some time.
    pub seen: u64,
    /// The number of items that count now.
    pub in_window: u64,
    /// The number of tasks of the items that count now; 0 unless the score is the mean over a window. Tasks count alike in a
    /// window that holds everything, and items in any other.
    #[serde(default)]
    pub distinct_tasks: u64,
    /// The number of items of the task that most of them are of; 0 unless the score is the mean over a window.
    #[serde(default)]
    pub largest_task_items: u64,
    /// The number of items that fit into the window, if it has a limit on them.
    pub window_tasks: Option<u32>,
    /// The number of items left out because of their outcome.
    pub excluded: u64,
    /// The items that arrived long after they took place; left out if there is no such item, and if no arrival is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<LateItems>,
    /// The number of items left out because they have no score or no value.
    pub unscored: u64,
    /// The number of items by outcome.
    pub outcomes: OutcomeCounts,
    /// The time of the oldest item that counts.
    pub first: Option<String>,
    /// The time of the newest item that counts.
    pub last: Option<String>,
    /// The ids of the items without a time under a scorecard that follows time or order: the subject has no score for them.
    pub without_time: Vec<String>,
    /// True if items are ordered by id, because no item has a time.
    pub by_id: bool,
    /// SHA-256 over digests and ids of all items, in order.
    pub digest: String,
    /// Things to know of the logs that the items of all subjects are from; left out if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Items that arrived long after they took place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LateItems {
    /// The number of items.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub count: u64,
    /// The number of those that the scorecard leaves out for it.
    pub excluded: u64,
    /// The time after its own from which on an item is late.
    pub after_seconds: u32,
}

impl LateItems {
    /// Returns the late items among those of a standing, if there are any.
    pub(crate) fn of(counts: &Counts) -> Option<Self> {
        let Counts { late: count, late_excluded: excluded, late_after_seconds: after_seconds, .. } = *counts;
        (count > 0).then_some(Self { count, excluded, after_seconds })
    }

    /// Returns a sentence without its end: `3 items arrived more than 7 days after they took place`.
    pub fn sentence(&self) -> String {
        late(self.count, self.excluded, self.after_seconds)
    }
}

/// An item that counts now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WindowItem {
    /// Its id.
    pub id: String,
    /// Its digest.
    pub digest: String,
}

/// A dimension of a standing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StandingDimension {
    /// The dimension.
    pub key: String,
    /// Its weight: that of the scorecard, or of an accepted override.
    pub weight: f64,
    /// True if it applies, by the newest item that says so.
    pub applies: bool,
    /// The measured value; null if nothing was measured.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub measured: Option<f64>,
    /// The value that is left after decay.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub value: Option<f64>,
    /// The points lost to age, exact.
    pub points_lost: Option<String>,
    /// The age of its newest evidence.
    pub age_seconds: Option<i64>,
    /// The number of items within the window that measured it.
    pub items: u64,
    /// The confidence of its value, for a scorecard that has one.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
}

/// An incident or a hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StandingChange {
    /// The time.
    pub time: String,
    /// The kind of change.
    pub event: SubjectChange,
    /// The incident; null for a hold.
    pub incident: Option<String>,
}

/// The part of a new subject's score that counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WarmUp {
    /// The number of tasks seen.
    pub seen: u64,
    /// The number of tasks after which it counts in full.
    pub needed: u32,
    /// The share of the score that counts.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub factor: f64,
}

/// The share of a subject in the whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StandingShare {
    /// The part of the whole.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub share: f64,
    /// The same as a whole number, for a scorecard that asks for it.
    pub whole: Option<u64>,
    /// The way in which the whole was divided.
    pub case: Option<ShareCase>,
}

/// The score at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HistoryPoint {
    /// The time; null if items have no times.
    pub time: Option<String>,
    /// The score at that time in points, after the gate.
    pub points: Option<f64>,
    /// The official score in points after it.
    pub official: Option<f64>,
    /// The score at that time in points, not rounded.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub score: Option<f64>,
    /// The tier that is held after it, if any.
    pub tier: Option<String>,
}

impl Standing {
    /// Returns the standing of one subject of `answer`.
    pub fn new(answer: &Answer<'_>, standing: &SubjectStanding) -> Self {
        let card = answer.card;
        let of_scale = |share: f64| super::points(share, card.scale.max);
        let rules = card.standing.as_ref();
        let facts = &standing.facts;
        let window = standing.window.iter().filter_map(|place| answer.rows.rows.get(*place));
        let interval = interval(standing.spread.as_ref(), answer.level);
        // A review is of whole points.
        let is_whole = standing.review.is_some();
        let ungated = standing.ungated.filter(|_| !is_whole);
        let is_lowered = standing.gated.zip(ungated).is_some_and(|(gated, it)| gated.lowers(it));
        let of_moment = |point: &Point| {
            point.score.filter(|_| !is_whole && !point.is_lowered).map(|it| it.publish(card.scale))
        };
        let history = standing.history.iter().map(|point| HistoryPoint {
            time: (!standing.is_untimed).then(|| written(point.at_seconds)),
            points: point.points.map(|points| in_points(points, of_moment(point))),
            official: point.canonical.map(|points| in_points(points, of_moment(point))),
            score: point.score.map(|score| of_scale(score.to_f64())),
            tier: point.tier.and_then(|held| tier_name(rules, held)),
        });
        Self {
            schema: StandingSchema::V1,
            engine: ENGINE_VERSION.to_owned(),
            scorecard: ScorecardReference::of(card),
            scale: card.scale.max,
            as_of: answer.as_of.to_string(),
            events_digest: answer.events.digest.map(|digest| digest.to_string()),
            weights: WeightsState::of(&answer.standings.overrides),
            kind: rules.map(|rules| rules.score),
            subject: standing.subject.clone(),
            operator: standing.operator.clone(),
            score: standing.score.map(|score| MomentScore {
                exact: score.to_string(),
                value: of_scale(score.to_f64()),
                published: standing.ungated.map(|published| published.to_f64()),
            }),
            interval: standing.spread.as_ref().zip(interval.0).map(|(spread, found)| StandingInterval {
                low: found.low,
                high: found.high,
                level: answer.level,
                method: found.method,
                tasks: spread.tasks() as u64,
            }),
            interval_of: standing.score.map(|_| interval.1),
            gate: standing.gated.map(|gated| GateEffect {
                ungated_points: in_points(gated.ungated_points, ungated),
                points: in_points(gated.points, ungated.filter(|_| !is_lowered)),
                open_tiers: gated.open_tiers.map(|open| lowest_tiers(rules, open)),
            }),
            points: standing.official_points(),
            gating_points: standing
                .gating_points
                .map(|points| in_points(points, ungated.filter(|_| !is_lowered))),
            items: items(answer, standing),
            corrected: None,
            backfilled: None,
            alike: answer.look_alikes.of(&standing.subject).clone(),
            window: window
                .map(|row| WindowItem { id: answer.rows.id(row).to_owned(), digest: row.digest.to_string() })
                .collect(),
            dimensions: standing.dimensions.iter().map(StandingDimension::from).collect(),
            coverage: from_billionths(facts.coverage),
            confidence: facts.confidence.map(from_billionths),
            evaluations: facts.evaluations,
            distinct_days: facts.distinct_days,
            independent_runners: facts.independent_runners,
            newest_batch_seconds: facts.newest_batch_seconds,
            incidents: standing.incidents.clone(),
            incident_gate: standing.has_incident_gate,
            on_hold: standing.is_on_hold,
            changes: standing.changes.iter().map(|(at, it)| change(*at, it)).collect(),
            review: standing.review.as_ref().map(|found| Review::new(found, &answer.events.lines)),
            score_history: standing.review.as_ref().map(score_history),
            tier: standing.tier.as_ref().map(|found| TierStanding::new(rules, found)),
            warm_up: standing.warm_up.map(|it| WarmUp {
                seen: it.seen,
                needed: it.needed,
                factor: from_billionths(it.factor),
            }),
            share: standing.share.map(|it| StandingShare {
                share: share(it.share.to_f64()),
                whole: it.whole,
                case: answer.standings.shared.map(|shared| shared.case),
            }),
            history: history.collect(),
        }
    }
}

/// Returns the interval of a score at a confidence, and what it is of.
pub(crate) fn interval(spread: Option<&Spread>, level: f64) -> (Option<ScoreInterval>, IntervalOf) {
    let Some(spread) = spread else { return (None, IntervalOf::NewestValues) };
    match spread.interval(level).ok().flatten() {
        None => (None, IntervalOf::FewTasks),
        found if spread.is_candidate => (found, IntervalOf::Candidate),
        found => (found, IntervalOf::Official),
    }
}

/// Returns whole points, or the score as it is published if those are its points.
fn in_points(points: i64, published: Option<Published>) -> f64 {
    let whole = |it: &Published| it.value.div_euclid(10i64.saturating_pow(it.places));
    published.filter(|it| whole(it) == points).map_or(points as f64, Published::to_f64)
}

fn items(answer: &Answer<'_>, standing: &SubjectStanding) -> StandingItems {
    let counts = &standing.counts;
    let mut outcomes = OutcomeCounts::from(counts.outcomes);
    outcomes.unstated = counts.outcome_unstated;
    let is_missing = |row: &&Row| row.outcome == Some(Outcome::Succeeded) && row.score().is_none();
    let own = standing.items.iter().filter_map(|place| answer.rows.rows.get(*place));
    outcomes.missing = own.filter(is_missing).count() as u64;
    outcomes.succeeded -= outcomes.missing;
    outcomes.no_verdict += outcomes.missing;
    StandingItems {
        given: standing.items.len() as u64,
        seen: counts.seen,
        in_window: counts.in_window,
        distinct_tasks: counts.distinct_tasks,
        largest_task_items: counts.largest_task_items,
        window_tasks: counts.window_tasks,
        excluded: counts.excluded,
        late: LateItems::of(counts),
        unscored: counts.unscored,
        outcomes,
        first: standing.span_seconds.map(|(first, _)| written(first)),
        last: standing.span_seconds.map(|(_, last)| written(last)),
        without_time: without_time(answer.rows, &answer.standings.without_time)
            .filter(|(subject, _)| *subject == standing.subject)
            .map(|(_, id)| id.to_owned())
            .collect(),
        by_id: answer.standings.by_id,
        digest: items_digest(answer.rows, &standing.items).to_string(),
        notes: answer.rows.notes.clone(),
    }
}

/// Returns the subject and the id of each of these items.
pub(crate) fn without_time<'r>(
    rows: &'r Rows,
    places: &'r [usize],
) -> impl Iterator<Item = (&'r str, &'r str)> {
    let found = places.iter().filter_map(|place| rows.rows.get(*place));
    found.map(|row| (rows.subject_name(row.subject), rows.id(row)))
}

/// Returns the digest over all items considered, in their order: lines of digest, blank and id as a JSON string.
pub(super) fn items_digest(rows: &Rows, places: &[usize]) -> Digest {
    let mut lines = Vec::new();
    for row in places.iter().filter_map(|place| rows.rows.get(*place)) {
        lines.extend_from_slice(row.digest.to_string().as_bytes());
        lines.push(b' ');
        karat_core::json::write_string(&mut lines, rows.id(row));
        lines.push(b'\n');
    }
    Digest::of(&lines)
}

impl From<&DimensionStanding> for StandingDimension {
    fn from(part: &DimensionStanding) -> Self {
        Self {
            key: part.key.clone(),
            weight: part.weight.to_f64(),
            applies: part.applies,
            measured: part.measured.map(from_billionths),
            value: part.reading.map(from_billionths),
            points_lost: part.points_lost.map(|lost| lost.to_string()),
            age_seconds: part.age_seconds,
            items: part.items,
            confidence: part.confidence.map(from_billionths),
        }
    }
}

fn change(at_seconds: i64, change: &Change) -> StandingChange {
    let (event, incident) = match change {
        Change::IncidentOpened(id) => (SubjectChange::IncidentOpened, Some(id)),
        Change::IncidentClosed(id) => (SubjectChange::IncidentClosed, Some(id)),
        Change::Held => (SubjectChange::HoldPlaced, None),
        Change::Released => (SubjectChange::HoldLifted, None),
    };
    StandingChange { time: written(at_seconds), event, incident: incident.cloned() }
}
