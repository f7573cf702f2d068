//! The reviews of a subject: the member `review` of a standing, and the queue of `GET /v1/reviews`.

use std::collections::BTreeMap;

use karat_standing::review;
use karat_standing::stand::{self, ReviewStanding};
use serde::{Deserialize, Serialize};

use super::{ReviewState, ReviewVerdict, from_billionths};
use crate::standing::written;

/// The reviews of a subject: its official score, a score that is held, and the history of earlier scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Review {
    /// True if a score is held.
    pub under_review: bool,
    /// The official score; null before the first.
    pub official: Option<OfficialScore>,
    /// The score that is held, if any.
    pub held: Option<HeldScore>,
    /// The changes of state of each score, in order.
    pub transitions: Vec<ReviewTransition>,
    /// Decisions that had no effect, with the reason.
    pub refusals: Vec<ReviewRefusal>,
}

/// The official score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OfficialScore {
    /// The score in points.
    pub points: i64,
    /// The time from which it is official.
    pub since: String,
    /// Its dimensions at the moment of the standing, in the order of the scorecard. While a score is held, those of the
    /// standing are parts of that one.
    #[serde(default)]
    pub dimensions: Vec<OfficialDimension>,
    /// The points that the gate takes, 0 or less: with those of the dimensions they add up to the score. Null where dimensions have none.
    #[serde(default)]
    pub gate_points: Option<i64>,
}

/// A dimension of an official score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OfficialDimension {
    /// The dimension.
    pub key: String,
    /// Its weight: that of the scorecard, or of an accepted override.
    pub weight: f64,
    /// The value that is left after decay; null if it was not measured.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub value: Option<f64>,
    /// Its points: the published score before the gate in proportion to weight times value, in whole points by largest remainder.
    /// Null for a mean over a window, as rules and gates of its items are in no dimension.
    pub points: Option<i64>,
}

/// A score that is held until reviewers decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HeldScore {
    /// SHA-256 of the score, its time and its cause, and of the evidence since the official score: a decision names it as `seen`.
    pub digest: String,
    /// The score in points.
    pub points: i64,
    /// The time of the score.
    pub time: String,
    /// The cause of the change, such as `evaluation` or `weights`.
    pub cause: String,
    /// The runner of the evaluation.
    pub runner: String,
    /// The time by which reviewers must decide.
    pub deadline: String,
    /// The lowest score that was held since the last official one.
    pub lowest_points: i64,
    /// Its distance from earlier scores.
    pub flags: SwingFlags,
    /// The approvals so far.
    pub approvals: Vec<ReviewDecision>,
}

/// The distance of a score from earlier scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SwingFlags {
    /// The change from the official score in points; null for the first.
    pub delta: Option<i64>,
    /// True if the change exceeds the limit for one change.
    pub was_anomalous: bool,
    /// True if the change from the lowest or highest score of the last days exceeds its limit.
    pub was_cumulative: bool,
}

/// A decision of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReviewDecision {
    /// The time.
    pub time: String,
    /// The reviewer.
    pub reviewer: String,
    /// The decision.
    pub verdict: ReviewVerdict,
    /// The reason.
    pub reason: String,
    /// Digests of the evidence that the reviewer examined.
    pub evidence: Vec<String>,
}

/// A change of state of a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReviewTransition {
    /// The time.
    pub time: String,
    /// The score in points.
    pub points: i64,
    /// The time of the score.
    pub scored: String,
    /// The cause of the change.
    pub cause: String,
    /// The new state.
    pub state: ReviewState,
    /// Its distance from earlier scores.
    pub flags: SwingFlags,
    /// The decisions on it.
    pub decisions: Vec<ReviewDecision>,
}

/// A change of the score of a subject, and what became of it: a row of `score_history` (trust document, "Anomaly detection").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ScoreChange {
    /// The time of the new score.
    pub time: String,
    /// The official score in points before it; null for the first.
    pub before: Option<i64>,
    /// The new score in points.
    pub after: i64,
    /// The cause: `evaluation`, `weights` or `gate`.
    pub cause: String,
    /// True if the change exceeds the limit for one change, 200 points if the scorecard does not say otherwise.
    pub was_anomalous: bool,
    /// True if the change from the lowest or highest score of the last days exceeds its limit.
    pub was_cumulative: bool,
    /// The state of the score under review, so far.
    pub review_state: ReviewState,
    /// The time from which that is so.
    pub since: String,
    /// The decisions on it: by whom, when, and why.
    pub decisions: Vec<ReviewDecision>,
}

/// Returns the changes of the score of a subject, in order.
pub(crate) fn score_history(found: &ReviewStanding) -> Vec<ScoreChange> {
    let mut changes: Vec<(&review::Candidate, ScoreChange)> = Vec::new();
    let mut of_moment: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for line in &found.transitions {
        let (review_state, since) = (line.state, written(line.at_seconds));
        let decisions = line.decisions.iter().map(ReviewDecision::from).collect();
        // A score that was held has a further transition for each later state.
        let of_moment = of_moment.entry(line.candidate.at_seconds).or_default();
        let is_same = |place: &usize| changes.get(*place).is_some_and(|(score, _)| **score == line.candidate);
        let known = of_moment.iter().copied().rev().find(is_same);
        if let Some((_, known)) = known.and_then(|place| changes.get_mut(place)) {
            (known.review_state, known.since, known.decisions) = (review_state, since, decisions);
            continue;
        }
        let change = ScoreChange {
            time: written(line.candidate.at_seconds),
            before: line.flags.delta.map(|delta| line.candidate.points.saturating_sub(delta)),
            after: line.candidate.points,
            cause: line.candidate.cause.clone(),
            was_anomalous: line.flags.was_anomalous,
            was_cumulative: line.flags.was_cumulative,
            review_state,
            since,
            decisions,
        };
        of_moment.push(changes.len());
        changes.push((&line.candidate, change));
    }
    changes.into_iter().map(|(_, change)| change).collect()
}

/// A decision that had no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReviewRefusal {
    /// The line of the events, from 1.
    pub line: Option<u64>,
    /// The reason.
    pub reason: String,
}

/// A subject whose score is held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PendingReview {
    /// The scorecard, `id@version`.
    pub card: String,
    /// The subject.
    pub subject: String,
    /// Its reviews.
    pub review: Review,
}

impl Review {
    /// Returns the reviews of a subject; `lines` are the line numbers of the events.
    pub fn new(found: &ReviewStanding, lines: &[usize]) -> Self {
        let history = &found.history;
        Self {
            under_review: history.is_under_review(),
            official: history.canonical.as_ref().map(|official| OfficialScore {
                points: official.points,
                since: written(official.since_seconds),
                dimensions: found
                    .official
                    .iter()
                    .flat_map(|it| &it.dimensions)
                    .map(OfficialDimension::from)
                    .collect(),
                gate_points: found.official.as_ref().and_then(|it| it.gate_points),
            }),
            held: history.held.as_ref().map(|held| HeldScore {
                digest: held.candidate.digest().to_string(),
                points: held.candidate.points,
                time: written(held.candidate.at_seconds),
                cause: held.candidate.cause.clone(),
                runner: held.candidate.runner.clone(),
                deadline: written(held.deadline_seconds),
                lowest_points: held.lowest_points,
                flags: held.flags.into(),
                approvals: held.approvals.iter().map(ReviewDecision::from).collect(),
            }),
            transitions: found.transitions.iter().map(ReviewTransition::from).collect(),
            refusals: found
                .refusals
                .iter()
                .map(|(place, why)| ReviewRefusal {
                    line: lines.get(*place).map(|&line| line as u64),
                    reason: why.to_string(),
                })
                .collect(),
        }
    }
}

impl From<&stand::OfficialDimension> for OfficialDimension {
    fn from(part: &stand::OfficialDimension) -> Self {
        Self {
            key: part.key.clone(),
            weight: part.weight.to_f64(),
            value: part.reading.map(from_billionths),
            points: part.points,
        }
    }
}

impl From<review::Flags> for SwingFlags {
    fn from(flags: review::Flags) -> Self {
        let review::Flags { delta, was_anomalous, was_cumulative } = flags;
        Self { delta, was_anomalous, was_cumulative }
    }
}

impl From<&review::Decision> for ReviewDecision {
    fn from(decision: &review::Decision) -> Self {
        Self {
            time: written(decision.at_seconds),
            reviewer: decision.reviewer.clone(),
            verdict: decision.verdict,
            reason: decision.reason.clone(),
            evidence: decision.evidence.clone(),
        }
    }
}

impl From<&review::Transition> for ReviewTransition {
    fn from(line: &review::Transition) -> Self {
        Self {
            time: written(line.at_seconds),
            points: line.candidate.points,
            scored: written(line.candidate.at_seconds),
            cause: line.candidate.cause.clone(),
            state: line.state,
            flags: line.flags.into(),
            decisions: line.decisions.iter().map(ReviewDecision::from).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_core::facts::Digest;
    use karat_standing::review::{
        Basis, Candidate, Decision, Event, History, ReviewRules, ReviewVerdict, Seen,
    };

    use super::*;

    /// A first score, a swing that two reviewers let through, a small step, a swing that expires.
    #[test]
    fn each_score_is_one_row_with_what_became_of_it() {
        let rules = ReviewRules { approvals: 2, ..ReviewRules::default() };
        let scored = |at_seconds, points| {
            let (runner, cause) = (String::from("lab"), String::from("evaluation"));
            let (evidence, basis) = (Digest::of(b""), Basis::default());
            Event::Scored(Candidate {
                at_seconds,
                points,
                is_into_top: false,
                runner,
                cause,
                evidence,
                basis,
            })
        };
        let approved = |at_seconds, reviewer: &str| {
            let (reviewer, reason) = (reviewer.to_owned(), String::from("seen"));
            Event::Decided(Decision {
                at_seconds,
                reviewer,
                verdict: ReviewVerdict::Approve,
                reason,
                seen: Seen::Any,
                evidence: vec![],
            })
        };
        let hour = 3600;
        let events = [
            scored(0, 500),
            scored(hour, 720),
            approved(2 * hour, "ann"),
            approved(3 * hour, "ben"),
            scored(4 * hour, 710),
            scored(5 * hour, 950),
            Event::Passed { at_seconds: 1000 * hour },
        ];
        let mut found = ReviewStanding {
            history: History::new(String::new()),
            transitions: Vec::new(),
            refusals: Vec::new(),
            official: None,
        };
        for event in events {
            let (history, outcome) = found.history.next(&rules, event);
            found.history = history;
            found.transitions.extend(outcome.transitions);
        }
        let rows: Vec<_> = score_history(&found)
            .into_iter()
            .map(|it| {
                let by: Vec<String> = it.decisions.iter().map(|it| it.reviewer.clone()).collect();
                (it.before, it.after, it.was_anomalous, it.review_state, it.since, by.join(" "))
            })
            .collect();
        let row = |before, after, flagged, state, since: &str, by: &str| {
            (before, after, flagged, state, since.to_owned(), by.to_owned())
        };
        assert_eq!(
            rows,
            [
                row(None, 500, false, ReviewState::Committed, "1970-01-01T00:00:00Z", ""),
                row(Some(500), 720, true, ReviewState::Committed, "1970-01-01T03:00:00Z", "ann ben"),
                row(Some(720), 710, false, ReviewState::Committed, "1970-01-01T04:00:00Z", ""),
                row(Some(710), 950, true, ReviewState::Expired, "1970-01-04T05:00:00Z", ""),
            ]
        );
    }
}
