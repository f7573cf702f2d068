//! Agent dimensions: weights, overrides, the composite over what is covered, and the published scale.

use karat::card::CompiledCard;
use karat_core::evaluate::Scorer;
use karat_core::number::Decimal;
use karat_core::record::ValueStatus;
use karat_core::scorecard::{Scorecard, WeightSum};
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::{Judge, number, score};

/// `weights_guard`: the sum of the weights given, and whether the card accepts it.
pub fn weights_guard(trust: &Judge, given: &Given<'_>) -> Result<Value, String> {
    let given = given.member("weights")?;
    let sum = karat_core::number::sum(given.exact_weights()?.into_iter().map(|(_, weight)| weight));
    let sum = sum.ok_or_else(|| given.expected("weights that can be added up"))?;
    let guard = trust.card().weight_sum;
    Ok(json!({ "sum": sum.to_string(), "ok": guard.is_none_or(|guard: WeightSum| guard.accepts(sum)) }))
}

/// `effective_weights`: what becomes of weights from outside.
pub fn effective_weights(trust: &Judge, given: &Given<'_>) -> Result<Value, String> {
    let given = given.member("override")?;
    let card = trust.card();
    if given.is_null() {
        let base: Vec<Decimal> = card.dimensions.iter().map(|dimension| dimension.weight).collect();
        let sum = karat_core::number::sum(base.iter().copied()).unwrap_or_default();
        return Ok(
            json!({ "outcome": "none", "merged_sum": sum.to_string(), "effective": by_name(card, &base) }),
        );
    }
    let card_with = overridden(trust, &given)?;
    let used =
        card_with.scorer().ok().and_then(Scorer::override_use).ok_or_else(|| given.expected("weights"))?;
    Ok(json!({
        "outcome": used.outcome(),
        "merged_sum": used.merged_sum.to_string(),
        "effective": by_name(card, &used.effective),
        "reason": used.reason,
    }))
}

/// `composite_covered`: the mean over the measured dimensions. Weights in the input replace those of the card,
/// as an override does.
pub fn composite_covered(trust: &mut Judge, given: &Given<'_>) -> Result<Value, String> {
    let mut dimensions = Map::new();
    for (name, value) in given.member("dimensions")?.members()? {
        dimensions.insert(name.to_owned(), value.optional_number()?.map_or(Value::Null, number));
    }
    let weights = given.member("weights")?;
    let weighted = if weights.is_null() { None } else { Some(overridden(trust, &weights)?) };
    let refusal = weighted
        .as_ref()
        .and_then(|card| card.scorer().ok()?.override_use())
        .and_then(|used| used.reason.clone());
    if let Some(reason) = refusal {
        return Err(reason);
    }
    let item = json!({ "subject": "case", "dimensions": dimensions });
    trust.read_and_score(&item, weighted, |record| {
        let covered = || record.dimensions.iter().filter(|part| part.status == ValueStatus::Scored);
        let weight = karat_core::number::sum(covered().map(|part| part.weight)).unwrap_or_default();
        json!({
            "covered": covered().map(|part| part.key).collect::<Vec<_>>(),
            "covered_count": covered().count(),
            "covered_weight": weight.to_string(),
            "composite": record.composite.map(|composite| composite.to_string()),
            "composite_f64": score(record.composite),
        })
    })
}

/// `to_thousand`: a composite as it is published.
pub fn to_thousand(trust: &Judge, given: &Given<'_>) -> Result<Value, String> {
    let given = given.member("composite")?;
    let (numerator, denominator) = given.fraction()?;
    if numerator > denominator {
        return Err(given.expected("a number from 0 to 1"));
    }
    let published = trust.card().scale.publish_ratio(numerator, denominator);
    Ok(json!({ "score": number(published.to_f64()) }))
}

/// Returns the scorer under weights from outside.
fn overridden(trust: &Judge, given: &Given<'_>) -> Result<CompiledCard, String> {
    trust.card().with_override(&given.exact_weights()?).map_err(|refusal| refusal.message().to_owned())
}

fn by_name(card: &Scorecard, weights: &[Decimal]) -> Map<String, Value> {
    let names = card.dimensions.iter().map(|dimension| dimension.key.clone());
    names.zip(weights.iter().map(|weight| weight.to_string().into())).collect()
}
