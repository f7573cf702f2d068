//! Weights that predict an outcome, `karat/tune/1`.

use std::collections::BTreeMap;

use karat_core::facts::Digest;
use karat_core::number::Decimal;
use karat_core::record::ENGINE_VERSION;
use karat_core::scorecard::Scorecard;
use serde::{Deserialize, Serialize};

use super::basis::ItemsUsed;
use super::{answer, share};
use crate::record::ScorecardReference;
use crate::rows::Rows;
use crate::tune::{Settings, Tuning};

/// The weights found, what they gain on cases that they have not seen, and the proposal if they gain anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tune {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: TuneSchema,
    /// The version of the engine.
    pub engine: String,
    /// The scorecard whose weights are compared.
    pub scorecard: ScorecardReference,
    /// The items.
    pub items: ItemsUsed,
    /// The field that is predicted; null for pairs.
    pub outcome: Option<String>,
    /// The clusters that are in one part as a whole: `task`, `subject`, `item` or `pair`.
    pub unit: String,
    /// The measure: `concordance`, the share of pairs in the right order.
    pub measure: String,
    /// The confidence of intervals.
    pub level: f64,
    /// Resamples of held-out clusters, for the gain.
    pub resamples: u32,
    /// Resamples with a fit each, for the weights.
    pub refits: u32,
    /// The seed of the split and of the resamples.
    pub seed: u64,
    /// The share of the clusters that is held out, as asked for.
    pub holdout: f64,
    /// The cases that weights were found on.
    pub learned: TunePart,
    /// The cases that judged them.
    pub held_out: TunePart,
    /// Cases that are left out, without an outcome or a value.
    pub left_out: u64,
    /// Held-out pairs with different outcomes, behind the concordance.
    pub compared_pairs: u64,
    /// The concordance of the card's own weights.
    pub own_concordance: f64,
    /// The concordance of the weights found.
    pub tuned_concordance: f64,
    /// The second less the first.
    pub gain: TuneEstimate,
    /// The weights by dimension, in the order of the card.
    pub dimensions: Vec<TunedWeight>,
    /// The proposal; null if the interval of the gain contains 0 or less.
    pub proposal: Option<TuneProposal>,
}

answer!(Tune, TuneSchema = "karat/tune/1", "tuned weights");

/// The cases of one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TunePart {
    /// Cases.
    pub cases: u64,
    /// Clusters.
    pub clusters: u64,
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TuneEstimate {
    /// The estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The weight of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TunedWeight {
    /// The dimension.
    pub key: String,
    /// The weight of the card.
    pub own: f64,
    /// The weight found, on a grid of a thousandth.
    pub tuned: f64,
    /// The weight before it was put on the grid, with its interval.
    pub fitted: TuneEstimate,
}

/// Weights to propose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TuneProposal {
    /// The id of the proposal: it follows from scorecard, items, weights and seed.
    pub id: String,
    /// The reason, in words.
    pub reason: String,
    /// The weights that change, by dimension: an override of the card.
    pub weights: BTreeMap<String, f64>,
}

impl Tune {
    /// Returns the answer. `outcome` is the field that is predicted, if it is one.
    pub fn new(
        rows: &Rows,
        card: &Scorecard,
        found: &Tuning,
        outcome: Option<&str>,
        settings: &Settings,
    ) -> Self {
        let tuned = &found.tuned;
        let estimate = |it: &karat_stats::tune::Estimate| TuneEstimate {
            estimate: share(it.point),
            low: share(it.low),
            high: share(it.high),
        };
        let part = |part: karat_stats::tune::Part| TunePart {
            cases: part.cases as u64,
            clusters: part.clusters as u64,
        };
        let weights = found.own.iter().zip(&tuned.weights).zip(&tuned.intervals);
        let dimension = |(dimension, ((own, tuned), fitted)): (
            &karat_core::scorecard::Dimension,
            ((&Decimal, &Decimal), _),
        )| {
            TunedWeight {
                key: dimension.key.clone(),
                own: weight(*own),
                tuned: weight(*tuned),
                fitted: estimate(fitted),
            }
        };
        let mut answer = Self {
            schema: TuneSchema::V1,
            engine: ENGINE_VERSION.to_owned(),
            scorecard: ScorecardReference::of(card),
            items: ItemsUsed::of(rows),
            outcome: outcome.map(str::to_owned),
            unit: found.unit.name().to_owned(),
            measure: String::from("concordance"),
            level: settings.level,
            resamples: settings.resamples,
            refits: settings.refits,
            seed: settings.seed,
            holdout: settings.holdout,
            learned: part(tuned.learned),
            held_out: part(tuned.held_out),
            left_out: found.left_out + tuned.without_composite as u64,
            compared_pairs: tuned.compared,
            own_concordance: share(tuned.own),
            tuned_concordance: share(tuned.tuned),
            gain: estimate(&tuned.gain),
            dimensions: card.dimensions.iter().zip(weights).map(dimension).collect(),
            proposal: None,
        };
        if found.proposes() {
            let weights: BTreeMap<String, f64> =
                found.changes(card).into_iter().map(|(key, found)| (key, weight(found))).collect();
            let reason = answer.reason();
            let named = (&answer.scorecard, &answer.items, &weights, &reason);
            let digest = Digest::of(super::write(&named).as_bytes()).to_string();
            let id = digest.strip_prefix("sha256:").and_then(|hex| hex.get(..12)).unwrap_or_default();
            answer.proposal = Some(TuneProposal { id: format!("tune-{id}"), reason, weights });
        }
        answer
    }

    /// Returns the gain in one sentence.
    pub fn reason(&self) -> String {
        let what = self.outcome.as_ref().map_or_else(|| String::from("pairs"), |field| format!("`{field}`"));
        format!(
            "concordance with {what} on held-out cases in {} clusters ({}): {:.3} under the own weights, {:.3} under \
             these; gain {:+.3}, {:+.3} to {:+.3} at {}; seed {}",
            self.held_out.clusters,
            self.unit,
            self.own_concordance,
            self.tuned_concordance,
            self.gain.estimate,
            self.gain.low,
            self.gain.high,
            crate::estimate::percent(self.level),
            self.seed
        )
    }
}

/// Returns a weight as a number.
fn weight(weight: Decimal) -> f64 {
    weight.millionths() as f64 / 1e6
}
