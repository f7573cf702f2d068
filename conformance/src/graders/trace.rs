//! Cases about reasoning traces: the novelty cache, the embedder, votes.

use karat_core::timestamp::Timestamp;
use karat_graders::trace::eigentrust::{Options, eigentrust, votes};
use karat_graders::trace::novelty::{Settings, VectorCache, VectorError, value, vector};
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::number;

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "cache" => cache(given),
        "eigentrust" => trust(given),
        _ => return None,
    })
}

/// `cache`: the contents and findings of a cache by operation. Only `advance` moves the moment, and expired entries
/// are removed before anything is counted or compared.
fn cache(given: &Given<'_>) -> Result<Value, String> {
    let defaults = Settings::default();
    let whole = |name| given.member(name).and_then(|member| optional_whole(&member));
    let settings = Settings {
        capacity: whole("max_elements")?.unwrap_or(defaults.capacity),
        dimension: whole("dimensions")?.map_or(defaults.dimension, |count| count as usize),
        ttl_milliseconds: whole("ttl_ms")?,
    };
    let mut cache = VectorCache::new(settings).map_err(|problems| problems.to_string())?;
    let mut moment = Timestamp { milliseconds: 0 };
    let mut results = Vec::new();
    for operation in given.member("ops")?.elements()? {
        let name = operation.member("op")?;
        let mut result = Map::new();
        match name.text()? {
            "advance" => {
                let ms = operation.member("ms")?;
                let milliseconds = optional_whole(&ms)?.ok_or_else(|| ms.expected("a whole number"))?;
                moment.milliseconds = moment.milliseconds.saturating_add_unsigned(milliseconds);
            }
            "add" => {
                let added = cache.insert("", &numbers(&operation)?, moment);
                result.extend(added.err().map(refused).transpose()?);
            }
            "query" => {
                cache.expire(moment);
                match cache.nearest(&numbers(&operation)?) {
                    Ok(best) => {
                        let similarity = best.map(|best| best.similarity);
                        result.insert("similarity".into(), number(similarity.unwrap_or(0.0)));
                        result.insert("novelty".into(), number(value(similarity)));
                    }
                    Err(wrong) => result.extend([refused(wrong)?]),
                }
            }
            "evict" => {}
            "clear" => cache.clear(),
            _ => return Err(name.expected("`add`, `query`, `advance`, `evict` or `clear`")),
        }
        cache.expire(moment);
        result.insert("size".into(), cache.len().into());
        results.push(Value::Object(result));
    }
    Ok(json!({ "results": results }))
}

/// Returns the name in the cases for a vector that was refused.
fn refused(wrong: VectorError) -> Result<(String, Value), String> {
    match wrong {
        VectorError::Dimension { .. } => Ok(("error".into(), "dimension_mismatch".into())),
        VectorError::NotFinite { .. } | VectorError::Earlier { .. } => Err(wrong.to_string()),
    }
}

fn numbers(operation: &Given<'_>) -> Result<Vec<f32>, String> {
    vector(operation.member("vector")?.value(), "vector").map_err(|problems| problems.to_string())
}

/// `eigentrust`: with the options of the case.
fn trust(given: &Given<'_>) -> Result<Value, String> {
    let list = given.member("votes")?;
    let votes = votes(list.value(), "votes").map_err(|problems| problems.to_string())?;
    let mut options = Options::default();
    let config = given.member("config")?;
    if !config.is_null() {
        options.alpha = config.member("alpha")?.optional_number()?.unwrap_or(options.alpha);
        options.epsilon = config.member("epsilon")?.optional_number()?.unwrap_or(options.epsilon);
        if let Some(max) = optional_whole(&config.member("maxIterations")?)? {
            options.iterations_max = u32::try_from(max).unwrap_or(u32::MAX);
        }
    }
    let trust = eigentrust(&votes, &options).map_err(|problems| problems.to_string())?;
    let scores: Vec<Value> =
        trust.scores.iter().map(|(agent, score)| json!([agent, number(*score)])).collect();
    Ok(json!({ "scores": scores, "iterations": trust.iterations, "converged": trust.is_converged }))
}

/// Returns a whole number not below 0, if there is one.
fn optional_whole(given: &Given<'_>) -> Result<Option<u64>, String> {
    match given.value() {
        Value::Null => Ok(None),
        Value::Number(number)
            if number.as_f64().is_some_and(|number| number >= 0.0 && number.trunc() == number) =>
        {
            Ok(number.as_u64().or_else(|| number.as_f64().map(|number| number as u64)))
        }
        _ => Err(given.expected("a whole number not below 0")),
    }
}
