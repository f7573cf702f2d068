//! Answers of `karat_stats` in the words of the model's cases.

use karat_stats::attempts::{Attempt, Attempts, Eligible, MeanPoints, enough};
use karat_stats::cases::Cases;
use karat_stats::compare::{Differences, NOTHING_SHARED, Pairs};
use karat_stats::estimate::interval;
use karat_stats::proportion::Proportion;
use karat_stats::ranks::ranks;
use karat_stats::table::{Observation, TaskTable, key};
use karat_stats::trials::{Trials, expected_best_of_k};
use karat_stats::verdicts::Verdicts;
use karat_stats::{Interval, StatisticsError};
use serde_json::{Value, json};

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn small(value: &Value) -> u32 {
    u32::try_from(count(value)).unwrap()
}

fn refused(error: &StatisticsError) -> Value {
    let why = match error {
        StatisticsError::Level { .. } => "level",
        StatisticsError::TooFew { .. } => "too few",
        StatisticsError::Row { .. } => "row",
        other => panic!("{other}"),
    };
    json!({ "refused": why })
}

pub fn trials(given: &Value) -> Value {
    let trials = Trials { passed: count(&given["passed"]), trials: count(&given["trials"]) };
    let k = count(&given["k"]);
    json!([trials.pass_at_k(k), trials.pass_hat_k(k)])
}

pub fn best_of_k(given: &Value) -> Value {
    let values = given["values"].as_array().unwrap().iter();
    let values: Vec<f64> = values.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect();
    json!(expected_best_of_k(&values, small(&given["k"]) as usize))
}

pub fn attempts(given: &Value) -> Value {
    let attempt = |it: &Value| Attempt {
        subject: small(&it[0]) as usize,
        number: small(&it[1]),
        points: small(&it[2]),
        won: it[3].as_bool().unwrap(),
    };
    let attempts: Vec<Attempt> = given["attempts"].as_array().unwrap().iter().map(attempt).collect();
    let Ok(attempts) = Attempts::new(&attempts) else { return json!({ "refused": "attempts" }) };
    let k = small(&given["k"]);
    let rate =
        |it: Proportion| json!([it.successes(), it.trials(), it.thousandths().map(|rate| rate.millionths())]);
    let mean = |it: MeanPoints| json!([it.sum, it.count, it.mean().map(|mean| mean.millionths())]);
    let clean = attempts.pass_hat_first_k(k);
    let curve = attempts.learning_curve(u16::try_from(count(&given["curve"])).unwrap());
    json!({
        "subjects": attempts.subjects(),
        "pass_at_1": rate(attempts.pass_at_1()),
        "pass_hat_first_k": rate(clean),
        "shown": enough(clean.thousandths(), clean.trials()).map(|rate| rate.millionths()),
        "best_of_all": mean(attempts.best_of_first_k(k, Eligible::All)),
        "best_of_any": mean(attempts.best_of_first_k(k, Eligible::Any)),
        "learning_curve": curve.into_iter().map(mean).collect::<Vec<_>>(),
    })
}

pub fn intervals(given: &Value) -> Value {
    let found = Proportion::new(count(&given["successes"]), count(&given["trials"])).unwrap();
    match found.wilson(given["level"].as_f64().unwrap()) {
        Ok(wilson) => json!([wilson.low, wilson.high]),
        Err(error) => refused(&error),
    }
}

pub fn mcnemar(given: &Value) -> Value {
    // Tasks at which both did the same must not matter.
    let pairs = Pairs {
        both: 5,
        only_first: count(&given["only_first"]),
        only_second: count(&given["only_second"]),
        neither: 2,
    };
    match pairs.verdict(given["level"].as_f64().unwrap()) {
        Ok(verdict) => {
            json!({ "mid_p": pairs.mid_p(), "exact_p": pairs.exact_p(), "verdict": verdict.name() })
        }
        Err(error) => refused(&error),
    }
}

pub fn ranks_of(given: &Value) -> Value {
    let values: Vec<Option<i64>> =
        given["values"].as_array().unwrap().iter().map(|value| value.as_i64()).collect();
    let places = ranks(&values).into_iter().map(|rank| rank.map(|rank| json!([rank.best, rank.worst])));
    json!(places.collect::<Vec<_>>())
}

pub fn means(given: &Value) -> Value {
    let values = given["values"].as_array().unwrap().iter();
    let values = values.map(|it| (it[0].as_f64().unwrap(), it[1].as_f64().unwrap()));
    match interval(values, given["lowest"].as_f64().unwrap(), given["level"].as_f64().unwrap()) {
        Ok(found) => ends(found),
        Err(error) => refused(&error),
    }
}

fn ends(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |it| json!([it.low, it.high]))
}

/// The results of several subjects at tasks, which have names.
fn table(given: &Value, subjects: usize) -> TaskTable {
    let tasks = given["tasks"].as_object().unwrap();
    let mut rows = Vec::new();
    for (task, results) in tasks.values().enumerate() {
        for (subject, values) in results.as_array().unwrap().iter().enumerate() {
            let values = values.as_array().unwrap().iter().map(|value| value.as_i64().unwrap());
            rows.extend(values.map(|value| Observation { subject, task, value }));
        }
    }
    let names: Vec<&String> = tasks.keys().collect();
    TaskTable::new(subjects, &rows).unwrap().named(|task| key(names[task]))
}

pub fn comparisons(given: &Value) -> Value {
    let level = given["level"].as_f64().unwrap();
    let margin = given["margin"].as_f64().unwrap() / 1e9;
    let found =
        Differences::new(&table(given, 2), &Cases::default(), 0, 1).ok_or(NOTHING_SHARED).and_then(|it| {
            let found = it.compare(level)?;
            Ok(json!({
                "mean": found.estimate.mean,
                "p": found.p,
                "verdict": found.verdict.name(),
                "interval": ends(found.estimate.interval),
                "bound": ends(it.bound(level)?),
                "change": it.change(margin, level, level)?.name(),
            }))
        });
    found.unwrap_or_else(|error| refused(&error))
}

pub fn boards(given: &Value) -> Value {
    let count = given["subjects"].as_u64().unwrap() as usize;
    let all: Vec<usize> = (0..count).collect();
    match Verdicts::new(&table(given, count), &Cases::default(), &all, given["level"].as_f64().unwrap()) {
        Ok(found) => {
            let found = found.unwrap();
            let pairs = all.iter().flat_map(|&a| (a + 1..count).map(move |b| (a, b)));
            json!(pairs.map(|(a, b)| found.between(a, b).name()).collect::<Vec<_>>())
        }
        Err(error) => refused(&error),
    }
}
