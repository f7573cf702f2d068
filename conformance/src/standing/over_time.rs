//! Cases about windows, decay, swings, shares, calibration.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use karat_core::facts::Digest;
use karat_core::number::{Decimal, Score, round};
use karat_core::scorecard::{Scorecard, WindowLimits};
use karat_core::weights::OverrideUse;
use karat_standing::calibration::{self, CalibrationRules, Difficulty, PlayedMatch};
use karat_standing::decay::{self, DecayRule, Periods};
use karat_standing::lifecycle::{LifecycleRules, TaskLife};
use karat_standing::ratio::Ratio;
use karat_standing::review::{ReviewRules, swing};
use karat_standing::shares::{ShareRules, is_due, shares, sixteen_bit_shares};
use karat_standing::stand::{Item, stand};
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::{all, number, score};

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "workflow.window" => window(given),
        "weights.cap" => capped(given, "weights"),
        "weights.proportional_cap" => capped(given, "means"),
        "weights.quantise" => quantise(given),
        "weights.due" => due(given),
        "lifecycle.run" => lifecycle(given),
        "calibrate_difficulty" => difficulty(given),
        "calibrate_from_matches" => calibrate(given),
        "anomaly_flag" => anomaly(given),
        "score_pipeline" => pipeline(given),
        _ => decay(name.strip_prefix("decay_")?, given)?,
    })
}

/// `workflow.window`: the standing of one subject by its last scores, oldest first.
fn window(given: &Given<'_>) -> Result<Value, String> {
    let tasks = given.member("window_size")?;
    let tasks = NonZeroU32::new(tasks.count()?).ok_or_else(|| tasks.expected("a number above 0"))?;
    let mut card = crate::judge::released(crate::judge::WORKFLOW).map(|card| Scorecard::clone(&card))?;
    if let Some(standing) = &mut card.standing {
        standing.window = WindowLimits { tasks: Some(tasks), ..standing.window };
    }
    let scores = grid_list(&given.member("scores")?)?;
    let ids: Vec<String> = (0..scores.len()).map(|at| format!("{at:09}")).collect();
    let items = ids.iter().zip(&scores).enumerate().map(|(at, (id, &score))| Item {
        time_seconds: Some(at as i64),
        score: Some(score),
        ..Item::new("case", id, Digest::of(id.as_bytes()))
    });
    let standings = stand(&card, &items.collect::<Vec<_>>(), &[], i64::MAX).map_err(all)?;
    let subject = standings.subjects.first();
    let mean = subject.and_then(|subject| subject.score).map_or(0.0, Ratio::to_f64);
    let in_window = subject.map_or(0, |subject| subject.counts.in_window);
    Ok(json!({ "count": in_window, "tasks_seen": scores.len(), "mean": number(mean) }))
}

/// `weights.cap` and `weights.proportional_cap`: shares below a cap, from weights or means, which differ only by name:
/// weights that sum to 1 are in proportion to themselves.
fn capped(given: &Given<'_>, scores: &str) -> Result<Value, String> {
    let rules = ShareRules { cap: given.member("cap")?.weight()?, ..ShareRules::default() };
    let shared = shares(&grid_list(&given.member(scores)?)?, &rules).map_err(all)?;
    let weights: Vec<Value> = shared.shares.iter().map(|&share| score(Some(share))).collect();
    Ok(json!({ "weights": weights, "capped": shared.capped, "unassigned": score(Some(shared.unassigned)) }))
}

/// `weights.quantise`: shares of sixteen bits, without those that are zero.
fn quantise(given: &Given<'_>) -> Result<Value, String> {
    let uids = given.member("uids")?.elements()?;
    let weights = given.member("weights")?;
    let values = sixteen_bit_shares(&grid_list(&weights)?).map_err(all)?;
    if uids.len() != values.len() {
        return Err(weights.expected(format!("as many weights as uids: {}", uids.len())));
    }
    let kept = uids.iter().zip(values).filter(|(_, value)| *value > 0);
    let (uids, values): (Vec<&Value>, Vec<u16>) = kept.map(|(uid, value)| (uid.value(), value)).unzip();
    Ok(json!({ "uids": uids, "values": values }))
}

/// `weights.due`: true if weights are due.
fn due(given: &Given<'_>) -> Result<Value, String> {
    let block = |name: &str| given.member(name)?.count();
    let (tempo, limit) = (block("tempo")?, block("weights_rate_limit")?);
    Ok(json!({ "due": is_due(block("current_block")?, block("last_set_block")?, tempo, limit) }))
}

/// `lifecycle.run`: the status of every task after each period.
fn lifecycle(given: &Given<'_>) -> Result<Value, String> {
    let rules = LifecycleRules::default();
    let periods = given.member("tempos")?.elements()?;
    let mut tasks = BTreeMap::new();
    for period in &periods {
        tasks.extend(period.members()?.into_iter().map(|(task, _)| (task, TaskLife::default())));
    }
    let mut after = Vec::new();
    for period in &periods {
        for (task, scores) in period.members()? {
            let scores = grid_list(&scores)?;
            tasks.entry(task).and_modify(|life| *life = life.next(&rules, &scores).0);
        }
        let names = tasks.iter().map(|(task, life)| ((*task).to_owned(), life.status.name().into()));
        after.push(names.collect::<Map<String, Value>>());
    }
    Ok(json!({ "status_after_each_tempo": after }))
}

/// `calibrate_difficulty`: the difficulty that rates mean.
fn difficulty(given: &Given<'_>) -> Result<Value, String> {
    let (win, completion) = (given.member("win_rate")?.weight()?, given.member("completion_rate")?.weight()?);
    let sample: u64 = given.member("sample_size")?.count()?;
    let found = calibration::difficulty(&CalibrationRules::default(), win, completion, sample, None);
    Ok(json!({ "difficulty": found.map(Difficulty::name) }))
}

/// `calibrate_from_matches`: the difficulty that matches show, and the rates behind it.
fn calibrate(given: &Given<'_>) -> Result<Value, String> {
    let mut matches = Vec::new();
    for played in given.member("matches")?.elements()? {
        let (points, duration) = (played.member("score")?, played.member("duration_secs")?);
        matches.push(PlayedMatch {
            is_completed: played.member("status")?.text()? == "completed",
            is_win: played.member("result")?.optional_text()?.as_deref() == Some("win"),
            points: points.optional_number()?.map(|_| points.whole()).transpose()?,
            duration_seconds: duration.optional_number()?.map(|_| duration.weight()).transpose()?,
        });
    }
    let limit = given.member("time_limit_secs")?.weight()?;
    let found = calibration::calibrate(&CalibrationRules::default(), &matches, limit, None);
    Ok(json!({
        "difficulty": found.difficulty.map(Difficulty::name),
        "completion_rate": number(found.completion_rate.to_f64()),
        "win_rate": number(found.win_rate.to_f64()),
        "median_score": found.median_points.unwrap_or_default(),
        "time_utilization": number(found.time_utilization.unwrap_or_default().to_f64()),
        "sample_size": found.completed,
        "matches": found.matches,
        "wins": found.wins,
    }))
}

/// `anomaly_flag`: true if a change is a swing.
fn anomaly(given: &Given<'_>) -> Result<Value, String> {
    let found = swing(previous(given)?, given.member("next")?.whole()?, ReviewRules::default().swing_points);
    Ok(json!({ "delta": found.delta, "was_anomalous": found.was_anomalous }))
}

fn previous(given: &Given<'_>) -> Result<Option<i64>, String> {
    let previous = given.member("previous")?;
    if previous.is_null() { Ok(None) } else { previous.whole().map(Some) }
}

/// Returns the answer of a function named `decay_...`: each is a setting of one formula. `None` for other names.
fn decay(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    let rule = |periods, point_billionths| DecayRule { periods, point_billionths, ..DecayRule::default() };
    let (exact, whole) = (rule(Periods::Exact, 1_000_000), rule(Periods::Whole, 1_000_000));
    Some(match name {
        "points_fractional_weeks" => points(exact, given),
        "points_whole_weeks" => points(whole, given),
        "composite_fractional_weeks" => composite(exact, given),
        "composite_whole_weeks" => composite(whole, given),
        "per_dimension_fractional_1000" => dimensions(exact, given),
        "per_dimension_whole_1000" => dimensions(whole, given),
        "per_dimension_fractional_100" => dimensions(rule(Periods::Exact, 10_000_000), given),
        "per_dimension_whole_100" => dimensions(rule(Periods::Whole, 10_000_000), given),
        _ => return None,
    })
}

fn points(rule: DecayRule, given: &Given<'_>) -> Result<Value, String> {
    let points = decay::lost_points(rule, given.member("age_seconds")?.whole()?);
    Ok(json!({ "points": exactly(points), "points_f64": number(points.to_f64()) }))
}

fn composite(rule: DecayRule, given: &Given<'_>) -> Result<Value, String> {
    let (numerator, denominator) = given.member("composite_1000")?.fraction()?;
    let undecayed = Ratio::new(numerator, denominator * 1000).unwrap_or(Ratio::ZERO).score();
    let left = decay::decay_composite(rule, undecayed, given.member("age_seconds")?.whole()?);
    Ok(Value::Object(thousandfold(Some(left))))
}

fn dimensions(rule: DecayRule, given: &Given<'_>) -> Result<Value, String> {
    Ok(Value::Object(thousandfold(decayed(&trust_card()?, None, rule, given)?.0)))
}

/// `score_pipeline`: weights, decay, mean, published score, swing.
fn pipeline(given: &Given<'_>) -> Result<Value, String> {
    let card = trust_card()?;
    let weights = given.member("override")?;
    let used = if weights.is_null() {
        None
    } else {
        Some(OverrideUse::new(&card, &weights.exact_weights()?).map_err(|refusal| refusal.to_string())?)
    };
    let (composite, covered) = decayed(&card, used.as_ref(), DecayRule::default(), given)?;
    let points = composite.map(|it| it.publish(card.scale)).map(|it| it.value / 10i64.pow(it.places));
    let limit_points = ReviewRules::default().swing_points;
    let previous = previous(given)?;
    let swing = points.map(|points| swing(previous, points, limit_points));
    let mut answer = thousandfold(composite);
    answer.insert("weights_outcome".into(), used.as_ref().map_or("none", OverrideUse::outcome).into());
    answer.insert("covered_weight".into(), covered.to_string().into());
    answer.insert("score".into(), json!(points));
    answer.insert("delta".into(), json!(swing.and_then(|swing| swing.delta)));
    let was_anomalous = swing.is_some_and(|swing| swing.was_anomalous);
    answer.insert("was_anomalous".into(), was_anomalous.into());
    Ok(Value::Object(answer))
}

fn trust_card() -> Result<Scorecard, String> {
    crate::judge::released(crate::judge::TRUST).map(|card| Scorecard::clone(&card))
}

/// Returns the mean of the dimensions of the input after decay, and the weight of those that are measured. The cases have no gate.
fn decayed(
    card: &Scorecard,
    weights: Option<&OverrideUse>,
    rule: DecayRule,
    given: &Given<'_>,
) -> Result<(Option<Ratio>, Decimal), String> {
    let mut measured = BTreeMap::new();
    for (key, found) in given.member("dimensions")?.members()? {
        if !found.is_null() {
            let (numerator, denominator) = found.member("score")?.fraction()?;
            let reading = Ratio::new(numerator, denominator).unwrap_or(Ratio::ZERO).billionths();
            measured.insert(key.to_owned(), (reading, found.member("age_seconds")?.whole()?));
        }
    }
    let aged = card.dimensions.iter().enumerate().map(|(at, dimension)| {
        let weight = weights.and_then(|used| used.effective.get(at)).copied().unwrap_or(dimension.weight);
        (weight, measured.remove(&dimension.key))
    });
    let aged: Vec<_> = aged.collect();
    let covered = aged.iter().filter(|(_, measured)| measured.is_some());
    let covered = Decimal::from_millionths(covered.map(|(weight, _)| weight.millionths()).sum());
    match measured.keys().next() {
        Some(unknown) => Err(format!("the card has no dimension `{unknown}`")),
        None => Ok((decay::decay_dimensions(rule, &aged).0, covered)),
    }
}

/// Returns a composite on the scale of 1000.
fn thousandfold(composite: Option<Ratio>) -> Map<String, Value> {
    let points = composite.and_then(|value| Ratio::new(value.numerator() * 1000, value.denominator()));
    let mut answer = Map::new();
    answer.insert("composite_1000".into(), points.map_or(Value::Null, exactly));
    answer.insert("composite_1000_f64".into(), points.map_or(Value::Null, |points| number(points.to_f64())));
    answer
}

/// Returns a fraction as a text; a whole one as a number.
fn exactly(ratio: Ratio) -> Value {
    match i64::try_from(ratio.numerator()) {
        Ok(whole) if ratio.denominator() == 1 => whole.into(),
        _ => ratio.to_string().into(),
    }
}

fn grid_list(given: &Given<'_>) -> Result<Vec<Score>, String> {
    given.elements()?.iter().map(grid).collect()
}

/// Returns a number from 0 on, on the grid of scores.
fn grid(given: &Given<'_>) -> Result<Score, String> {
    let value = given.number()?;
    // Doubles far below the grid have more digits than fractions may.
    if (0.0..1.0).contains(&value) {
        return Ok(Score::from_units(round(value * Score::ONE.units() as f64) as i64));
    }
    let (numerator, denominator) = given.fraction()?;
    let score = Ratio::new(numerator, denominator).unwrap_or(Ratio::ZERO).score();
    if score.units() == i64::MAX {
        Err(given.expected("a number that the grid of scores holds"))
    } else {
        Ok(score)
    }
}
