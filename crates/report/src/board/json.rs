//! Leaderboards, comparisons and stress as canonical JSON. Shares and scores are 0 to 1, rounded to a billionth.

use karat_core::facts::Outcome;
use karat_core::record::ENGINE_VERSION;
use karat_stats::bootstrap::Estimate;
use karat_stats::compare::{Difference, Verdict};
use karat_stats::correlation::Correlation;
use karat_stats::outcome::{OutcomeCounts, Policy};
use karat_stats::ranks::{OtherRanking, RankRange};
use karat_stats::robustness::WeightRobustness;
use serde_json::{Map, Value, json};

use super::attempts::AttemptsAt;
use super::pair::Pair;
use super::stress::Stress;
use super::{Board, By, Settings, Unranked};
use crate::rows::Rows;

/// What every answer begins with: its schema, the rules, the items, how it was computed.
pub fn head(schema: &str, rows: &Rows, settings: &Settings) -> Map<String, Value> {
    let cards: Vec<Value> = rows
        .scorers
        .iter()
        .map(|scorer| {
            let card = scorer.card();
            json!({"id": card.id, "version": card.version, "digest": card.digest.to_string()})
        })
        .collect();
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("schema", json!(schema));
    put("engine", json!(ENGINE_VERSION));
    put("scorecards", json!(cards));
    put("scale", json!(rows.scale.max));
    put(
        "items",
        json!({
            "count": rows.rows.len(), "repeated": rows.repeated, "left_out": rows.filtered,
            "digest": rows.digest.to_string()
        }),
    );
    put("level", json!(settings.level));
    put("draws", json!(settings.plan.draws));
    put("seed", json!(settings.plan.seed));
    put("outcomes", policy(settings.policy));
    map
}

/// A leaderboard over all items, or over those of one group.
pub fn board(rows: &Rows, board: &Board, settings: &Settings) -> Map<String, Value> {
    let name = |subject: usize| rows.subjects.get(subject).map_or("", String::as_str);
    let standings: Vec<Value> = board
        .leaderboard
        .rows
        .iter()
        .map(|row| {
            let counts = board.rankings.counts.get(row.subject).copied().unwrap_or_default();
            let profile = board.profiles.get(row.subject).map_or(&[][..], Vec::as_slice);
            let dimensions = rows.dimensions.iter().zip(profile);
            let dimensions: Map<String, Value> = dimensions
                .map(|((key, _), reading)| (key.clone(), reading.as_ref().map_or(Value::Null, estimate)))
                .collect();
            let attempts = board.attempts.get(row.subject).map(|found| &found.by_k);
            json!({
                "subject": name(row.subject),
                "rank": range(row.rank),
                "rank_range": range(row.rank_range),
                "share_first": share(row.share_first),
                "group": row.group,
                "shared_tasks": row.shared_tasks,
                "ahead_on_shared_tasks": row.ahead_on_shared_tasks,
                "score": estimate(&row.estimate),
                "tasks": row.estimate.tasks,
                "items": board.items.get(row.subject),
                "outcomes": counted(counts),
                "dimensions": dimensions,
                "attempts": attempts.map(|all| all.iter().map(attempt).collect::<Vec<_>>()),
            })
        })
        .collect();
    let unranked: Vec<Value> = board
        .unranked
        .iter()
        .map(|&(subject, why)| match why {
            Unranked::Nothing => json!({"subject": name(subject), "tasks": 0}),
            Unranked::FewTasks(tasks) => json!({"subject": name(subject), "tasks": tasks}),
        })
        .collect();
    let others: Vec<Value> = board
        .rankings
        .others
        .iter()
        .map(|(other, ranking)| {
            let mut map = other_ranking(ranking, &name);
            map.insert("outcomes".to_owned(), policy(*other));
            Value::Object(map)
        })
        .collect();
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("group", json!(board.group));
    put(
        "by",
        match settings.by {
            By::Score => json!("score"),
            By::Dimension(at) => json!(rows.dimensions.get(at).map(|(key, _)| key)),
        },
    );
    put("same_tasks", json!(board.leaderboard.same_tasks));
    put("tie_groups", json!(board.leaderboard.groups));
    put("standings", json!(standings));
    put("unranked", json!(unranked));
    put(
        "other_outcomes",
        json!({
            "differ": board.rankings.differ(), "first_differs": board.rankings.first_differs(), "rankings": others
        }),
    );
    map
}

/// Two subjects side by side.
pub fn pair(rows: &Rows, pair: &Pair) -> Map<String, Value> {
    let name = |subject: usize| rows.subjects.get(subject).map_or("", String::as_str);
    let dimensions = rows.dimensions.iter().zip(&pair.dimensions);
    let dimensions: Map<String, Value> = dimensions
        .map(|((key, _), found)| (key.clone(), found.as_ref().map_or(Value::Null, difference)))
        .collect();
    let passes = pair.passes.as_ref().map(|passes| {
        let pairs = passes.pairs;
        json!({
            "both": pairs.both, "only_first": pairs.only_first, "only_second": pairs.only_second,
            "neither": pairs.neither, "mid_p": share(passes.mid_p), "verdict": verdict(passes.verdict)
        })
    });
    let [first, second] = pair.means.map(|mean| mean.map(share));
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("first", json!({"subject": name(pair.first), "mean": first}));
    put("second", json!({"subject": name(pair.second), "mean": second}));
    put("difference", difference(&pair.score));
    put("dimensions", Value::Object(dimensions));
    put("passes", json!(passes));
    map
}

/// How much the ranks hang on the rule.
pub fn stress(rows: &Rows, stress: &Stress) -> Value {
    let subject =
        |at: usize| stress.subjects.get(at).and_then(|&it| rows.subjects.get(it)).map_or("", String::as_str);
    let key = |at: usize| {
        stress.dimensions.get(at).and_then(|&it| rows.dimensions.get(it)).map_or("", |(key, _)| key.as_str())
    };
    let weights = |found: &WeightRobustness| {
        let subjects: Vec<Value> = found
            .subjects
            .iter()
            .enumerate()
            .filter_map(|(at, it)| {
                let it = it.as_ref()?;
                let places: Vec<Value> =
                    it.places.iter().map(|(place, part)| json!([place, share(*part)])).collect();
                Some(json!({
                    "subject": subject(at), "rank": range(it.rank), "share_kept": share(it.share_kept),
                    "share_first": share(it.share_first), "rank_range": range(it.rank_range), "places": places
                }))
            })
            .collect();
        let swaps: Vec<Value> = found
            .swaps
            .iter()
            .map(|swap| json!({"ahead": subject(swap.ahead), "behind": subject(swap.behind), "share": share(swap.share)}))
            .collect();
        json!({"share_first_kept": share(found.share_first_kept), "subjects": subjects, "swaps": swaps})
    };
    let without: Vec<Value> = stress
        .without
        .iter()
        .enumerate()
        .map(|(at, ranking)| {
            let mut map = other_ranking(ranking, &subject);
            map.insert("dimension".to_owned(), json!(key(at)));
            Value::Object(map)
        })
        .collect();
    let means: Vec<Value> = stress
        .means
        .iter()
        .map(|(mean, ranking)| {
            let mut map = other_ranking(ranking, &subject);
            map.insert("mean".to_owned(), json!(mean.name()));
            Value::Object(map)
        })
        .collect();
    let drivers: Vec<Value> = stress
        .drivers
        .iter()
        .enumerate()
        .map(|(at, driver)| {
            json!({
                "dimension": key(at), "weight": share(driver.weight), "importance": driver.importance.map(share),
                "variance_share": driver.variance_share.map(share), "correlation": correlation(&driver.correlation)
            })
        })
        .collect();
    let correlations: Vec<Value> = stress
        .correlations
        .iter()
        .map(|(one, other, found)| {
            json!({"dimensions": [key(*one), key(*other)], "correlation": correlation(found)})
        })
        .collect();
    let influence = stress.influence.as_ref().map(|(found, tasks)| {
        let name = |subject: usize| rows.subjects.get(subject).map_or("", String::as_str);
        json!({
            "first": name(found.first), "overtaker": name(found.overtaker), "removed": tasks, "tasks": found.items,
            "is_smallest": found.is_smallest
        })
    });
    json!({
        "weights_around": weights(&stress.around),
        "weights_any": weights(&stress.uniform),
        "without_dimension": without,
        "other_means": means,
        "drivers": drivers,
        "correlations": correlations,
        "fewest_tasks": influence,
    })
}

/// A number rounded to a billionth; none if it is not finite.
pub fn share(value: f64) -> Value {
    json!((value * 1e9).round() / 1e9)
}

fn estimate(found: &Estimate) -> Value {
    let interval = &found.interval;
    json!({
        "mean": share(found.mean), "low": share(interval.low), "high": share(interval.high),
        "method": interval.method.name(), "tasks": found.tasks
    })
}

fn difference(found: &Difference) -> Value {
    json!({
        "estimate": estimate(&found.estimate), "first_ahead_tasks": found.first_ahead_tasks,
        "second_ahead_tasks": found.second_ahead_tasks, "only_first_tasks": found.only_first_tasks,
        "only_second_tasks": found.only_second_tasks, "enough_tasks": found.enough_tasks,
        "verdict": verdict(found.verdict)
    })
}

fn verdict(found: Verdict) -> &'static str {
    match found {
        Verdict::FirstAhead => "first-ahead",
        Verdict::SecondAhead => "second-ahead",
        Verdict::NotDistinguishable => "not-distinguishable",
    }
}

fn attempt(found: &AttemptsAt) -> Value {
    let of = |estimate_of: &Option<Estimate>| estimate_of.as_ref().map_or(Value::Null, estimate);
    json!({
        "k": found.k, "tasks": found.tasks, "tasks_left_out": found.tasks_left_out,
        "pass_at": of(&found.pass_at), "pass_hat": of(&found.pass_hat), "best_of": of(&found.best_of)
    })
}

fn correlation(found: &Correlation) -> Value {
    json!({
        "pairs": found.pairs, "pearson": found.pearson.map(share), "spearman": found.spearman.map(share),
        "kendall": found.kendall.map(share)
    })
}

fn other_ranking<'n>(ranking: &OtherRanking, name: &dyn Fn(usize) -> &'n str) -> Map<String, Value> {
    let moved: Vec<Value> = ranking
        .moved
        .iter()
        .map(|&at| {
            let rank = ranking.ranks.get(at).copied().flatten();
            json!({"subject": name(at), "rank": rank.map(range)})
        })
        .collect();
    let mut map = Map::new();
    map.insert("first_differs".to_owned(), json!(ranking.first_differs));
    map.insert("moved".to_owned(), json!(moved));
    map
}

fn range(range: RankRange) -> Value {
    json!([range.best, range.worst])
}

fn policy(policy: Policy) -> Value {
    let uncertain = [Outcome::NoVerdict, Outcome::Stopped, Outcome::NotApplicable, Outcome::Refused];
    uncertain
        .into_iter()
        .map(|it| (it.name().to_owned(), json!(policy.treatment(it).name())))
        .collect::<Map<_, _>>()
        .into()
}

fn counted(counts: OutcomeCounts) -> Value {
    let mut map: Map<String, Value> =
        Outcome::ALL.into_iter().map(|it| (it.name().to_owned(), json!(counts.count(it)))).collect();
    map.insert("unstated".to_owned(), json!(counts.unstated));
    Value::Object(map)
}
