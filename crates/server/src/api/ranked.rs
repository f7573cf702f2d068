//! Leaderboards of more records or subjects than tasks are drawn anew for: out of the index alone, page by page.

use std::sync::Arc;

use karat_core::number::Score;
use karat_core::record::ENGINE_VERSION;
use karat_evidence::canonical_json;
use karat_report::board::json::share;
use serde_json::{Map, Value, json};

use super::leaderboards::{BoardParams, DRAWN_MAX, LEVEL};
use crate::cards::Rule;
use crate::params::limit;
use crate::problem::{Code, Problem};
use crate::quick::{Counted, Place, Quick};
use crate::rows::{RECORDS_MAX, policy, refused};
use crate::select::Wish;
use crate::state::App;

/// Standings on a page, if nothing else is asked for.
const USUAL: usize = 100;
/// Most standings on a page.
const MOST: usize = 1000;

/// A part of a large board.
pub struct Ranked {
    /// Its places, each with the name of the subject.
    pub places: Vec<(String, Place)>,
    /// How many subjects the whole board has.
    pub subjects: usize,
    /// What it is of: one scorecard, or the challenges of a family.
    pub rules: Vec<Arc<Rule>>,
}

/// At most `limit` places after the first `skip`, as of the first `size` entries of the log.
///
/// # Errors
/// What is wrong with the parameters.
pub async fn ranked(
    app: &Arc<App>,
    params: &BoardParams,
    size: u64,
    skip: usize,
    limit: usize,
) -> Result<Ranked, Problem> {
    let (shared, params) = (Arc::clone(app), params.clone());
    app.checked(move || {
        // The index is let go while subjects are ranked, so that commits do not wait for it.
        let (rules, counted) = {
            let index = shared.memory.index();
            let (wish, rules) = Wish::new(&shared, &index, &params.wanted())?;
            let policy = rules.first().map(|rule| policy(rule)).unwrap_or_default();
            let rows = index.rows(size).filter(|row| wish.admits(row));
            (rules, Counted::of(rows, index.names(), policy))
        };
        let quick = Quick::new(counted, params.min_tasks.unwrap_or(1), params.level.unwrap_or(LEVEL));
        let quick = quick.map_err(|error| refused(&error))?;
        let places = quick.places(skip, limit);
        let index = shared.memory.index();
        let named = places.into_iter().map(|place| (index.name(place.standing.subject).to_owned(), place));
        Ok(Ranked { places: named.collect(), subjects: quick.len(), rules })
    })
    .await
}

/// The answer to who asks for the board.
///
/// # Errors
/// What is wrong with the parameters; that it is asked for what only small boards have.
pub(super) async fn answer(app: &Arc<App>, params: BoardParams, size: u64) -> Result<String, Problem> {
    let only_small = [
        ("where", params.condition.is_some()),
        ("group_by", params.group_by.is_some()),
        ("by", params.by.as_deref().is_some_and(|by| by != "score")),
        ("draws", params.draws.is_some()),
    ];
    if let Some((name, _)) = only_small.into_iter().find(|(_, is_given)| *is_given) {
        return Err(too_large().at(name));
    }
    let skip = params.skip.unwrap_or(0);
    let Ranked { places, subjects, rules } =
        ranked(app, &params, size, skip, limit(params.limit, USUAL, MOST)?).await?;
    let cards: Vec<Value> = rules
        .iter()
        .map(|rule| {
            let card = &rule.card;
            json!({"id": card.id, "version": card.version, "digest": card.digest.to_string()})
        })
        .collect();
    let standings: Vec<Value> = places.iter().map(|(name, place)| standing(name, place)).collect();
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("schema", json!("karat/leaderboard/1"));
    put("engine", json!(ENGINE_VERSION));
    put("scorecards", json!(cards));
    put("scale", json!(rules.first().map(|rule| rule.card.scale.max)));
    put("level", json!(params.level.unwrap_or(LEVEL)));
    put("draws", Value::Null);
    put("log_size", json!(size));
    put("subjects", json!(subjects));
    put("next", json!(Some(skip + standings.len()).filter(|next| *next < subjects)));
    put("boards", json!([{"group": null, "by": "score", "standings": standings}]));
    Ok(canonical_json(&Value::Object(map)))
}

fn too_large() -> Problem {
    Problem::new(
        Code::Unanswerable,
        format!(
            "a board with this is of at most {DRAWN_MAX} subjects and {RECORDS_MAX} records; narrow it with track, since, until or trust"
        ),
    )
}

fn standing(name: &str, place: &Place) -> Value {
    let Place { standing, rank, rank_range, interval } = place;
    json!({
        "subject": name,
        "rank": [rank.0, rank.1],
        "rank_range": [rank_range.0, rank_range.1],
        "score": {
            "mean": share(Score::from_billionths(standing.mean).to_f64()),
            "low": interval.map(|it| share(it.low)),
            "high": interval.map(|it| share(it.high)),
            "method": interval.map(|it| it.method.name()),
            "tasks": standing.tasks,
        },
        "tasks": standing.tasks,
        "items": standing.items,
    })
}
