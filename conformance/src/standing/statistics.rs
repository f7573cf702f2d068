//! Cases about estimates over many runs.

use std::collections::BTreeMap;

use karat_core::number::Decimal;
use karat_stats::attempts::{
    Attempt, Attempts, Eligible, TrackMethod, Trend, enough, score_trend, track_score,
};
use karat_stats::distribution::{ChallengeStatistics, Entry, Summary};
use karat_stats::proportion::Proportion;
use serde_json::{Map, Value, json};

use crate::given::Given;
use crate::judge::number;

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    Some(match name {
        "benchmark_metrics" => benchmark_metrics(given),
        "challenge_stats" => challenge_stats(given),
        "score_trend" => trend(given),
        "track_score" => track(given),
        _ => return None,
    })
}

/// `benchmark_metrics`: statistics of the first attempts of each subject.
fn benchmark_metrics(given: &Given<'_>) -> Result<Value, String> {
    let mut subjects = BTreeMap::new();
    let attempts = given.member("matches")?.elements()?.into_iter().map(|it| {
        let next = subjects.len();
        Ok(Attempt {
            subject: *subjects.entry(it.member("agent")?.text()?).or_insert(next),
            number: it.member("attempt")?.count()?,
            points: it.member("score")?.count()?,
            won: it.member("result")?.text()? == "win",
        })
    });
    let attempts: Vec<Attempt> = attempts.collect::<Result<_, String>>()?;
    let attempts = Attempts::new(&attempts).map_err(|error| error.to_string())?;
    let pass_hat = |k| {
        let share = attempts.pass_hat_first_k(k);
        decimal(enough(share.thousandths(), share.trials()))
    };
    let best_of = |k| {
        let best = attempts.best_of_first_k(k, Eligible::Any);
        decimal(enough(best.mean(), best.count))
    };
    let curve: Vec<Value> = attempts.learning_curve(3).iter().map(|mean| decimal(mean.mean())).collect();
    Ok(json!({
        "pass_at_1": rate(attempts.pass_at_1()),
        "pass_k_3": pass_hat(3),
        "pass_k_5": pass_hat(5),
        "best_of_3": best_of(3),
        "best_of_5": best_of(5),
        "learning_curve": curve,
        "agents_sampled": attempts.subjects(),
    }))
}

/// `challenge_stats`: statistics of the attempts at a challenge.
fn challenge_stats(given: &Given<'_>) -> Result<Value, String> {
    let entries = given.member("matches")?.elements()?.into_iter().map(|it| {
        let (points, duration) = (it.member("score")?, it.member("duration_secs")?);
        Ok(Entry {
            attempt: it.member("attempt")?.count()?,
            completed: it.member("status")?.text()? == "completed",
            won: it.member("result")?.optional_text()?.as_deref() == Some("win"),
            points: if points.is_null() { None } else { Some(points.count()?) },
            duration_seconds: if duration.is_null() { None } else { Some(duration.weight()?) },
        })
    });
    let statistics = ChallengeStatistics::of(&entries.collect::<Result<Vec<_>, String>>()?);
    let points =
        |part: fn(Summary) -> u32| statistics.points.map_or(Value::Null, |all| Value::from(part(all)));
    let by_attempt: Map<String, Value> = statistics
        .by_attempt
        .iter()
        .map(|(attempt, all)| {
            let row = json!({ "mean": number(all.mean.to_f64()), "median": all.median, "count": all.count });
            (attempt.to_string(), row)
        })
        .collect();
    Ok(json!({
        "total_attempts": statistics.completion.trials(),
        "completed_count": statistics.completion.successes(),
        "completion_rate": rate(statistics.completion),
        "median_score": points(|all| all.median),
        "mean_score": decimal(statistics.points.map(|all| all.mean)),
        "score_p25": points(|all| all.first_quartile),
        "score_p75": points(|all| all.third_quartile),
        "win_rate": rate(statistics.wins),
        "avg_duration_secs": decimal(statistics.mean_duration_seconds),
        "score_by_attempt_number": by_attempt,
    }))
}

/// `score_trend`: the trend of the last scores.
fn trend(given: &Given<'_>) -> Result<Value, String> {
    let scores = given.member("recent_scores")?.elements()?;
    let scores: Vec<Decimal> = scores.iter().map(Given::weight).collect::<Result<_, _>>()?;
    let name = score_trend(&scores).map(Trend::name);
    Ok(json!({ "trend": name }))
}

/// `track_score`: the score over a list of challenges.
fn track(given: &Given<'_>) -> Result<Value, String> {
    let best = given.member("best_scores")?.members()?;
    let best: Vec<Decimal> = best.iter().map(|(_, points)| points.weight()).collect::<Result<_, _>>()?;
    let method = given.member("method")?;
    let method = match method.text()? {
        "sum" => TrackMethod::Sum,
        "average" => TrackMethod::Average,
        "min" => TrackMethod::Min,
        _ => return Err(method.expected("`sum`, `average` or `min`")),
    };
    Ok(json!({ "score": number(track_score(best, method)) }))
}

fn rate(share: Proportion) -> Value {
    decimal(share.thousandths())
}

fn decimal(value: Option<Decimal>) -> Value {
    value.map_or(Value::Null, |value| number(value.to_f64()))
}
