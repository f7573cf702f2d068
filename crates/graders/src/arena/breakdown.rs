//! The score of a match from the scores of its dimensions, as the arena shows it.

use std::collections::BTreeMap;

use karat_core::number::round;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A total and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Breakdown {
    /// The parts, in the order of the weights.
    pub dimensions: Vec<WeightedScore>,
    /// Their sum in points, neither capped nor rounded.
    pub sum: f64,
    /// The sum, at most the highest score, rounded down to a whole point.
    pub total: f64,
}

/// One part of a total.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WeightedScore {
    /// Key of the dimension.
    #[serde(skip)]
    pub dimension: String,
    /// Its score, 0 to 1000; 0 without one.
    pub score: f64,
    /// Its share of the total.
    pub weight: f64,
    /// `score * weight`, not rounded.
    pub weighted: f64,
}

/// Sums how far below a whole number of points are that number: what doubles lose in a sum is far less.
const NEAR_WHOLE: f64 = 1e-6;

/// Weighs the scores of the dimensions (Scoring, "How Scoring Works" and "Score Breakdown"): `total = sum of score * weight`,
/// at most `max_score`, rounded down as in the document's own example, where 823.5 is shown as 823. A sum that misses a whole
/// number by less than a millionth is that number. A dimension without a score scores 0; scores that are not weighed do not
/// count.
pub fn breakdown(weights: &[(String, f64)], scores: &BTreeMap<&str, f64>, max_score: f64) -> Breakdown {
    let dimensions: Vec<WeightedScore> = weights
        .iter()
        .map(|(dimension, weight)| {
            let score = scores.get(dimension.as_str()).copied().unwrap_or_default();
            WeightedScore { dimension: dimension.clone(), score, weight: *weight, weighted: score * weight }
        })
        .collect();
    let sum = dimensions.iter().fold(0.0, |sum, part| sum + part.weighted);
    let whole = round(sum);
    let total = if (sum - whole).abs() < NEAR_WHOLE { whole } else { sum.floor() };
    Breakdown { dimensions, sum, total: total.min(max_score.floor()) }
}

impl Breakdown {
    /// Returns it as in the response of the arena: `{"score", "score_breakdown": {DIMENSION: {"score", "weight",
    /// "weighted"}}}`.
    pub fn detail(&self) -> Value {
        let parts: Map<String, Value> =
            self.dimensions.iter().map(|part| (part.dimension.clone(), json!(part))).collect();
        json!({ "score": self.total, "score_breakdown": parts })
    }
}

/// Points of a dimension as evidence gives them: on the grid of readings, a millionth of a point, and rounded up to it, so that a
/// total that is whole as a fraction (a third of 750 and more of the kind) does not fall below it on the way.
pub(super) fn evidence_score(points: f64) -> f64 {
    // What doubles lose is taken away before, so that 83 stays 83.
    let billionths = round(points * 1e9);
    (billionths / 1000.0).ceil() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(parts: &[(&str, f64, f64)]) -> f64 {
        let weights: Vec<_> = parts.iter().map(|(key, weight, _)| ((*key).to_owned(), *weight)).collect();
        breakdown(&weights, &parts.iter().map(|(key, _, score)| (*key, *score)).collect(), 1000.0).total
    }

    #[test]
    fn parts_are_not_rounded() {
        // Rounded parts would be 350 and 350, and a win.
        assert_eq!(total(&[("correctness", 0.5, 699.0), ("speed", 0.5, 699.0)]), 699.0);
        assert_eq!(total(&[("correctness", 0.5, 699.999), ("speed", 0.5, 699.999)]), 699.0);
        // What doubles lose is not lost: both sums are 700 in decimals.
        assert_eq!(
            total(&[("correctness", 0.1, 700.0), ("speed", 0.2, 700.0), ("analysis", 0.7, 700.0)]),
            700.0
        );
        assert_eq!(total(&[("correctness", 0.3, 250.0 / 3.0), ("speed", 0.7, 100.0)]), 95.0);
    }

    #[test]
    fn evidence_is_rounded_up_to_the_grid() {
        assert_eq!(evidence_score(250.0 / 3.0), 83.333_334);
        assert_eq!(evidence_score(83.000_000_000_000_01), 83.0);
        assert_eq!([evidence_score(0.0), evidence_score(1000.0)], [0.0, 1000.0]);
    }

    #[test]
    fn the_total_is_capped_and_tells_its_parts() {
        assert_eq!(total(&[("correctness", 0.6, 1000.0), ("speed", 0.4009, 1000.0)]), 1000.0);
        let weights = [("speed".to_owned(), 1.0)];
        let alone = breakdown(&weights, &BTreeMap::from([("methodology", 9.0)]), 1000.0);
        let expected = json!({"score": 0.0, "score_breakdown": {"speed": {"score": 0.0, "weight": 1.0, "weighted": 0.0}}});
        assert_eq!(alone.detail(), expected);
    }
}
