//! Arena matches: dimensions of a challenge, the weighted total, its result, and the last step of a custom scorer.

use karat::card::CompiledCard;
use karat_core::number::Decimal;
use karat_core::scorecard::family::{self, Description, DimensionInfo};
use karat_core::scorecard::{Publish, Scale, Scorecard};
use karat_graders::arena::validate_dimensions;
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::{Judge, all, number};

/// The palette, and a challenge on speed alone.
pub struct Arena {
    palette: Scorecard,
    speed: Judge,
}

impl Arena {
    /// Returns the functions on the palette.
    pub fn new(palette: &Scorecard) -> Result<Self, String> {
        let alone = family::dims(palette, &[(String::from("speed"), Decimal::ONE)], &[]);
        let speed = Judge::new(challenge(palette, &alone)?)?;
        Ok(Self { palette: palette.clone(), speed })
    }

    /// `dims`: the dimensions of a challenge as they are shown.
    pub fn dims(&self, given: &Given<'_>) -> Result<Value, String> {
        let weights =
            given.member("weights")?.elements()?.into_iter().map(|pair| match pair.elements()?.as_slice() {
                [key, weight] => Ok((key.text()?.to_owned(), weight.weight()?)),
                _ => Err(pair.expected("a key and a weight")),
            });
        let weights: Vec<(String, Decimal)> = weights.collect::<Result<_, _>>()?;
        let mut descriptions = Vec::new();
        let overrides = given.member("overrides")?;
        if !overrides.is_null() {
            for (key, other) in overrides.members()? {
                descriptions.push(Description {
                    key: key.to_owned(),
                    label: other.member("label")?.optional_text()?,
                    description: other.member("description")?.optional_text()?,
                    color: other.member("color")?.optional_text()?,
                });
            }
        }
        let dimensions: Vec<Value> = family::dims(&self.palette, &weights, &descriptions)
            .into_iter()
            .map(|info| {
                json!({
                    "key": info.key,
                    "label": info.label,
                    "weight": number(info.weight.to_f64()),
                    "description": info.description,
                    "color": info.color,
                })
            })
            .collect();
        Ok(json!({ "dimensions": dimensions }))
    }

    /// `validate_dimensions`: the check of the dimensions of a challenge, with its problems.
    pub fn validate_dimensions(&self, given: &Given<'_>) -> Result<Value, String> {
        let problems = validate_dimensions(&self.palette, given.member("dimensions")?.value());
        Ok(json!({ "valid": problems.is_empty(), "problems": problems }))
    }

    /// `weighted_total`: a challenge with these dimensions on raw scores of 0 to 1000.
    pub fn weighted_total(&self, given: &Given<'_>) -> Result<Value, String> {
        let weights = given.member("dimensions")?.elements()?.into_iter().map(|dimension| {
            Ok((dimension.member("key")?.text()?.to_owned(), dimension.member("weight")?.weight()?))
        });
        let weights: Vec<(String, Decimal)> = weights.collect::<Result<_, String>>()?;
        let chosen = family::dims(&self.palette, &weights, &[]);
        let mut judge = Judge::new(challenge(&self.palette, &chosen)?)?;
        let mut named = Vec::new();
        let raw = given.member("raw")?;
        for info in &chosen {
            let fact = format!("{}_score", info.key);
            let score = raw.member(&info.key)?.optional_number()?;
            if score.is_some() && !self.palette.facts.iter().any(|declared| declared.name == fact) {
                return Err(format!("`{}` is computed by the arena, it has no raw score", info.key));
            }
            named.push((fact, score));
        }
        let named: Vec<(&str, Option<f64>)> =
            named.iter().map(|(fact, score)| (fact.as_str(), *score)).collect();
        // The parts are points of the same scale as the total, which alone is rounded.
        let points = Scale { publish: Publish::Exact, ..self.palette.scale };
        judge.score_facts(&named, |record| {
            let weighted: Map<String, Value> = record
                .dimensions
                .iter()
                .map(|part| (part.key.to_owned(), number(points.publish(part.contribution).to_f64())))
                .collect();
            json!({
                "weighted": weighted,
                "total": record.published.map(|total| number(total.to_f64())),
                "result": record.band,
            })
        })
    }

    /// `score_to_result`: the band of a total.
    pub fn score_to_result(&self, given: &Given<'_>) -> Result<Value, String> {
        let given = given.member("score")?;
        let (numerator, denominator) = given.fraction()?;
        let scale = self.palette.scale;
        let perfect = denominator * i128::from(scale.max);
        if numerator > perfect {
            return Err(given.expected(format!("a number from 0 to {}", scale.max)));
        }
        let published = scale.publish_ratio(numerator, perfect);
        let band = self.palette.bands.iter().rev().find(|band| published.reaches(band.from));
        Ok(json!({ "result": band.map(|band| band.name.as_str()) }))
    }

    /// `speed_score`: the points for time alone, not rounded. A clock that ran backwards counts as no time.
    pub fn speed_score(&mut self, given: &Given<'_>) -> Result<Value, String> {
        let time = |name: &str| given.member(name)?.number().map(|seconds| Some(seconds.max(0.0)));
        let named =
            [("time_used_seconds", time("elapsed_secs")?), ("time_limit_seconds", time("limit_secs")?)];
        let max = f64::from(self.palette.scale.max);
        self.speed.score_facts(&named, |record| {
            let value = record.dimensions.iter().find_map(|part| part.value);
            json!({ "score": value.map(|value| number(value * max)) })
        })
    }
}

/// `finalize_breakdown`: the last step of a custom scorer. A value that is not a number cannot be finite.
pub fn finalize_breakdown(given: &Given<'_>) -> Result<Value, String> {
    let max_score = given.member("max_score")?.number()?;
    let breakdown: Vec<(String, f64)> = given
        .member("breakdown")?
        .members()?
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.value().as_f64().unwrap_or(f64::NAN)))
        .collect();
    Ok(match karat_reader::finalize_breakdown(&breakdown, max_score) {
        Ok(finished) => {
            let finished: Map<String, Value> =
                finished.into_iter().map(|(key, value)| (key, number(value))).collect();
            json!({ "ok": true, "breakdown": finished })
        }
        Err(problems) => json!({ "ok": false, "problems": all(&problems) }),
    })
}

/// Compiles a challenge.
fn challenge(palette: &Scorecard, chosen: &[DimensionInfo]) -> Result<CompiledCard, String> {
    let card = family::challenge(palette, chosen).map_err(|problems| problems.join("; "))?;
    CompiledCard::new("", card).map_err(|error| error.to_string())
}
